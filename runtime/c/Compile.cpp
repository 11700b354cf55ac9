//===- Compile.cpp - Programs from their text -----------------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The compiler is an executable and not a part of this library. It holds MLIR
// and LLVM, whose symbols must not meet those of torch or triton in one
// process; it is ten times as large as the runtime; and its mistakes end a
// child, not an engine.
//
//===----------------------------------------------------------------------===//

#include "Child.h"
#include "Handles.h"
#include "Structs.h"

#include <algorithm>
#include <chrono>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

using namespace dsv4::c;
namespace rt = dsv4::rt;
using dsv4::rt::Driver;

static constexpr uint32_t DefaultTimeout = 10 * 60 * 1000;
/// How much later, in milliseconds, the compiler's own deadline is.
static constexpr uint32_t DeadlineGrace = 1000;
/// What the compiler takes.
static constexpr size_t MaxText = size_t(1) << 20;

//===----------------------------------------------------------------------===//
// Where the compiler is
//===----------------------------------------------------------------------===//

static bool canRun(const std::string &path) {
  return ::access(path.c_str(), X_OK) == 0;
}

/// The file of this process's program, or "".
static std::string ownProgram() {
  char path[PATH_MAX];
  const ssize_t size = ::readlink("/proc/self/exe", path, sizeof(path));
  return size > 0 ? std::string(path, size_t(size)) : "";
}

/// The directory of this library, or of the program that it is linked into.
static std::string ownDirectory() {
  Dl_info info;
  struct link_map *map = nullptr;
  if (!::dladdr1(reinterpret_cast<void *>(&dsv4_version), &info,
                 reinterpret_cast<void **>(&map), RTLD_DL_LINKMAP) ||
      !map || !map->l_name)
    return "";
  // Only the program has no name; that of its first argument may be anything.
  const std::string path = *map->l_name ? map->l_name : ownProgram();
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos)
    return path.empty() ? "" : ".";
  return path.substr(0, slash);
}

static Result<std::string> findCompiler(const RuntimeState &runtime) {
  std::string given = runtime.compiler;
  const char *how = "the option 'compiler'";
  if (given.empty())
    if (const char *variable = ::secure_getenv("DSV4_COMPILER")) {
      given = variable;
      how = "$DSV4_COMPILER";
    }
  auto missing = [](const std::string &message) {
    return Status(Code::Unavailable, message).about("compiler.missing");
  };
  if (!given.empty()) {
    if (canRun(given))
      return given;
    return missing("there is no compiler '" + given + "', which " + how +
                   " names: " + std::strerror(errno));
  }
  const std::string directory = ownDirectory();
  for (const char *folder : {"/", "/../bin/", "/../libexec/dsv4/"})
    if (std::string path = directory + folder + "dsv4-compile"; canRun(path))
      return path;
  return missing("there is no compiler: expected 'dsv4-compile' in '" +
                 directory +
                 "' or in ../bin of it: install dsv4's tools, set "
                 "DSV4_COMPILER, or open an entry that was compiled elsewhere");
}

//===----------------------------------------------------------------------===//
// Its arguments
//===----------------------------------------------------------------------===//

extern char **environ;

/// The environment of the compiler: this process's, with the runtime's choices.
static std::vector<std::string> makeEnvironment(const RuntimeState &runtime) {
  std::vector<std::string> out;
  std::string libraries = runtime.nvrtcPath;
  constexpr std::string_view pathName = "LD_LIBRARY_PATH=";
  // A tool that is preloaded here was not made for the compiler.
  constexpr std::string_view preload = "LD_PRELOAD=";
  for (char **each = environ; each && *each; ++each) {
    const std::string_view text = *each;
    if (text.substr(0, preload.size()) == preload)
      continue;
    if (text.substr(0, pathName.size()) == pathName && !libraries.empty()) {
      // An empty one would name the current directory.
      if (text.size() > pathName.size())
        libraries += ":" + std::string(text.substr(pathName.size()));
      continue;
    }
    out.emplace_back(text);
  }
  if (!libraries.empty())
    out.push_back(std::string(pathName) + libraries);
  return out;
}

/// The target and architecture to compile for.
static Status chooseTarget(const dsv4_compile_options &options,
                           std::string &target, std::string &arch) {
  if (options.arch)
    arch = options.arch;
  switch (options.target) {
  case DSV4_TARGET_HOST:
    target = "host";
    return Status();
  case DSV4_TARGET_CUDA:
  case DSV4_TARGET_AUTO:
    break;
  default:
    return invalid("option.target",
                   "target is " + std::to_string(options.target) +
                       ", expected DSV4_TARGET_AUTO, _CUDA or _HOST");
  }
  target = "cuda";
  const bool isAuto = options.target == DSV4_TARGET_AUTO;
  if (!isAuto && !arch.empty())
    return Status();
  Result<Driver *> driver = Driver::get();
  if (!driver) {
    target = "host";
    return isAuto ? Status() : driver.status();
  }
  Result<rt::DeviceInfo> device = (*driver)->device(options.device_id);
  if (!device)
    return device.status();
  if (arch.empty())
    arch = device->arch;
  return Status();
}

static Status makeArguments(const RuntimeState &runtime,
                            const dsv4_compile_options &options,
                            std::vector<std::string> &arguments) {
  std::string target, arch;
  if (Status status = chooseTarget(options, target, arch); !status)
    return status;
  arguments = {"-", "-o", "-", "--target=" + target};
  if (!arch.empty())
    arguments.push_back("--arch=" + arch);
  auto add = [&](const char *name, const char *value) {
    if (value && *value)
      arguments.push_back(std::string(name) + value);
  };
  add("--entry=", options.entry);
  add("--schedule=", options.schedule);
  add("--name=", options.source_name);
  if (options.dim_count && (!options.dim_names || !options.dim_values))
    return isNull(options.dim_names ? "dim_values" : "dim_names");
  if (options.dim_count > rt::MaxDims)
    return invalid("option.dims", "there are " +
                                      std::to_string(options.dim_count) +
                                      " dims, expected at most " +
                                      std::to_string(rt::MaxDims));
  for (uint32_t i = 0; i < options.dim_count; ++i) {
    if (!options.dim_names[i])
      return isNull("dim_names");
    if (options.dim_values[i] < 0)
      return invalid("option.dims", std::string("dim '") +
                                        options.dim_names[i] + "' is " +
                                        std::to_string(options.dim_values[i]) +
                                        ", expected 0 or more");
    arguments.push_back(std::string("--dim=") + options.dim_names[i] + "=" +
                        std::to_string(options.dim_values[i]));
  }
  if (runtime.cacheDirectory)
    arguments.push_back(runtime.cacheDirectory->empty()
                            ? "--no-cache"
                            : "--cache-dir=" + *runtime.cacheDirectory);
  return Status();
}

//===----------------------------------------------------------------------===//
// Compiling
//===----------------------------------------------------------------------===//

/// What messages call the program.
static std::string nameOf(const dsv4_compile_options &options) {
  for (const char *name : {options.source_name, options.entry})
    if (name && *name)
      return "program '" + std::string(name) + "'";
  return "the program";
}

/// What went wrong, of a compiler that gave no entry. Exit status 3 is for what
/// the machine lacks, and 4 for the compiler's own deadline.
static Status explain(const ChildResult &result,
                      const dsv4_compile_options &options, uint32_t timeout) {
  constexpr int lacksSomething = 3, tookTooLong = 4;
  if (result.stopped)
    return Status(Code::CompileFailed,
                  nameOf(options) + " was not compiled: should_stop() ended it")
        .about("compile.stopped");
  if (result.timedOut)
    return Status(Code::CompileFailed,
                  nameOf(options) + " was not compiled within " +
                      std::to_string(timeout) +
                      " ms: the compiler was killed; simplify the program, or "
                      "give a longer timeout_ms")
        .about("compile.timeout");
  std::string text = result.errors;
  constexpr std::string_view prefix = "dsv4-compile: error: ";
  if (text.compare(0, prefix.size(), prefix) == 0)
    text.erase(0, prefix.size());
  while (!text.empty() && text.back() == '\n')
    text.pop_back();
  if (result.signal)
    return Status(Code::CompileFailed, "the compiler ended by signal " +
                                           std::to_string(result.signal) +
                                           (text.empty() ? "" : ": " + text))
        .about("compile.crashed");
  if (text.empty())
    text = "the compiler gave no entry, and exit status " +
           std::to_string(result.exit);
  if (result.exit == lacksSomething)
    return Status(Code::Unavailable, text).about("compile.unavailable");
  if (result.exit == tookTooLong)
    return Status(Code::CompileFailed, text).about("compile.timeout");
  return Status(Code::CompileFailed, text).about("compile.failed");
}

static Status checkAllowed(const RuntimeState &runtime,
                           const dsv4_compile_options &options) {
  const std::string program = nameOf(options);
  if (runtime.frozen.load(std::memory_order_relaxed))
    return runtime.notPrepared(
        "compile.frozen", program + " is to be compiled, and the runtime is "
                                    "frozen: compile it before dsv4_freeze()");
  if (!options.check_stream)
    return Status();
  Result<Driver *> driver = Driver::get();
  if (!driver)
    return driver.status();
  Result<bool> capturing = (*driver)->isCapturing(options.stream);
  if (!capturing)
    return capturing.status();
  if (*capturing)
    return runtime.notPrepared("compile.capturing",
                               program +
                                   " is to be compiled, and the stream "
                                   "captures: compile it before the capture");
  return Status();
}

/// How the compiler came by the program.
struct Report {
  bool isHit = false, waited = false, passedBy = false;
  std::string directory; ///< Of the disk cache.
  std::vector<std::string> warnings;
};

/// Reads the lines that the compiler wrote, each a word and a text. A script
/// that stands in for it may write none.
static Report readReport(std::string_view text) {
  Report report;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const size_t space = std::min(line.find(' '), line.size());
    const std::string_view word = line.substr(0, space);
    const std::string rest(line.substr(std::min(space + 1, line.size())));
    report.isHit |= word == "hit";
    report.waited |= word == "waited";
    report.passedBy |= word == "passed-by";
    if (word == "cache")
      report.directory = rest;
    if (word == "warning")
      report.warnings.push_back(rest);
  }
  return report;
}

static void note(const RuntimeState &runtime, const Report &report) {
  runtime.counters.waits += report.waited;
  runtime.counters.passedBy += report.passedBy;
  for (const std::string &warning : report.warnings)
    runtime.raise(DSV4_EVENT_CACHE_WARNING, warning, -1, 0, 0,
                  report.directory.c_str());
}

static Result<std::shared_ptr<ProgramState>>
compile(std::shared_ptr<RuntimeState> runtime, std::string_view text,
        const dsv4_compile_options &options, bool &isHit) {
  if (Status status = checkAllowed(*runtime, options); !status)
    return status;
  Child child;
  if (Status status = makeArguments(*runtime, options, child.arguments);
      !status)
    return status;
  Result<std::string> compiler = findCompiler(*runtime);
  if (!compiler)
    return compiler.status();
  child.executable = compiler.take();
  child.input = text;
  child.environment = makeEnvironment(*runtime);
  child.timeout = options.timeout_ms ? options.timeout_ms : DefaultTimeout;
  if (options.should_stop)
    child.shouldStop = [&options] {
      return options.should_stop(options.stop_user) != 0;
    };
  // For when this process cannot end it: it is killed, or stopped.
  child.arguments.push_back("--caller=" + std::to_string(::getpid()));
  child.arguments.push_back(
      "--deadline=" +
      std::to_string(std::min<uint64_t>(uint64_t(child.timeout) + DeadlineGrace,
                                        UINT32_MAX)));
  child.arguments.push_back("--report-file=" + std::to_string(ReportFile));
  Result<ChildResult> result = run(child);
  if (!result)
    return result.status();
  const Report report = readReport(result->report);
  note(*runtime, report);
  isHit = report.isHit;
  // The status may be unknown, and an entry proves itself.
  if (result->output.empty() || result->exit > 0 || result->signal)
    return explain(*result, options, child.timeout);
  if (!result->errors.empty())
    runtime->raise(DSV4_EVENT_WARNING, rt::toOneLine(result->errors));
  auto program = openProgram(runtime, std::move(result->output));
  if (!program)
    return Status(Code::CompileFailed,
                  "the compiler '" + child.executable +
                      "' is of another version than this library: " +
                      program.status().message())
        .about("compile.version");
  return program;
}

dsv4_status dsv4_compile(dsv4_runtime *runtime, const char *text, size_t count,
                         const dsv4_compile_options *options,
                         dsv4_program **program, dsv4_error **error) {
  if (program)
    *program = nullptr;
  return guarded(error, scopeOf(runtime), [&]() -> Status {
    if (!runtime || !text || !program)
      return isNull(!runtime ? "runtime" : !text ? "text" : "program");
    dsv4_compile_options given = {};
    if (options)
      if (Status status = readStruct(options, "dsv4_compile_options", given);
          !status)
        return status;
    for (uint8_t reserved : given.reserved)
      if (Status status = checkReserved(reserved, "dsv4_compile_options");
          !status)
        return status;
    const size_t length = count == SIZE_MAX ? std::strlen(text) : count;
    if (length > MaxText)
      return invalid("text.size", "the program has " + std::to_string(length) +
                                      " bytes, expected at most 1 MB");
    RuntimeState &state = *runtime->state;
    const auto begin = std::chrono::steady_clock::now();
    bool isHit = false;
    auto made = compile(runtime->state, {text, length}, given, isHit);
    const std::chrono::duration<double, std::milli> passed =
        std::chrono::steady_clock::now() - begin;
    if (!made) {
      if (made.status().code() != Code::NotPrepared) {
        ++state.counters.compileFailures;
        state.raise(DSV4_EVENT_COMPILE_FAILED, made.status().message());
      }
      return made.status();
    }
    ++(isHit ? state.counters.diskHits : state.counters.compiles);
    state.raise(isHit ? DSV4_EVENT_DISK_HIT : DSV4_EVENT_COMPILED,
                (*made)->info().name, -1, 0, passed.count());
    *program = new dsv4_program{made.take()};
    return Status();
  });
}
