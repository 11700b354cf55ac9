//===- dsv4-compile.cpp - A program as an entry for the runtime -----------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiles the text of a program to an entry, the file that libdsv4.so loads,
// and what it runs for dsv4_compile(). Needs no device.
//
//   dsv4-compile topk.mlir --target=cuda --arch=sm_90a -o topk.dsv4
//
// --version says what it finds on this machine.
//
// Exit status: 0, 1 for what the caller can mend, 3 for what the machine lacks,
// 4 for a compile that took too long.
//
//===----------------------------------------------------------------------===//

#include "dsv4-runtime/Entry.h"
#include "dsv4-runtime/FileIO.h"
#include "dsv4/JIT/JIT.h"
#include "dsv4/JIT/NVRTC.h"
#include "dsv4/Support/Files.h"
#include "dsv4/Support/ParseProgram.h"
#include "dsv4/Support/Version.h"
#include "dsv4/Support/Watchdog.h"
#include "dsv4/Target/CUDA/Prelude.h"
#include "dsv4/Target/Host/HostCompiler.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/WithColor.h"

#include <cstdio>
#include <cstdlib>
#include <set>

namespace cl = llvm::cl;
using dsv4::rt::Code;
using dsv4::rt::Status;

static cl::OptionCategory category("dsv4-compile options");
static cl::opt<std::string> file(cl::Positional, cl::Required,
                                 cl::desc("FILE.mlir, or - for standard input"),
                                 cl::cat(category));
static cl::opt<std::string> output("o", cl::Required, cl::value_desc("FILE"),
                                   cl::desc("the entry, or - for standard "
                                            "output"),
                                   cl::cat(category));
static cl::opt<std::string>
    target("target", cl::desc("cuda or host (no default)"), cl::cat(category));
static cl::opt<std::string>
    arch("arch", cl::init("sm_90a"),
         cl::desc("architecture (sm_90a); on the host it selects schedules"),
         cl::cat(category));
static cl::opt<std::string> entry("entry", cl::desc("function to compile"),
                                  cl::cat(category));
static cl::opt<std::string> name("name", cl::cat(category),
                                 cl::desc("of the program, for messages"));
static cl::list<std::string>
    dims("dim", cl::value_desc("NAME=N"), cl::cat(category),
         cl::desc("extent of an exact dim, or bound of a bucket"));
static cl::opt<std::string> schedule("schedule", cl::cat(category),
                                     cl::desc("#dsv4.schedule<...>"));
static cl::opt<std::string> table("schedule-table", cl::cat(category),
                                  cl::desc("schedule table file (JSON)"));
static cl::opt<std::string>
    cacheDirectory("cache-dir", cl::cat(category), cl::value_desc("DIR"),
                   cl::desc("disk cache (default: the user's)"));
static cl::opt<bool> noCache("no-cache", cl::desc("without a disk cache"),
                             cl::cat(category));

static cl::opt<unsigned>
    deadline("deadline", cl::cat(category), cl::init(10 * 60 * 1000),
             cl::value_desc("MS"),
             cl::desc("milliseconds after which it gives up (default: 10 "
                      "minutes; 0: never)"));
static cl::opt<int>
    caller("caller", cl::cat(category), cl::value_desc("PID"),
           cl::desc("the process that runs it, and with which it ends"));
static cl::opt<int>
    reportFile("report-file", cl::cat(category), cl::value_desc("FD"),
               cl::init(-1),
               cl::desc("descriptor for a report in lines: hit, waited, "
                        "passed-by, cache DIR, warning TEXT"));

static cl::opt<bool> emitKernels("emit-kernels", cl::cat(category),
                                 cl::desc("write the kernels alone, without "
                                          "the device library that they call"));
static cl::opt<bool> emitSource("emit-source", cl::cat(category),
                                cl::desc("write the source of the kernels, "
                                         "not an entry"));
static cl::opt<bool>
    emitPlan("emit-plan", cl::cat(category),
             cl::desc("write as JSON how kernels are launched, "
                      "and how ops became kernels, not an "
                      "entry"));

static int fail(const Status &status) {
  // Standard error may have come to its end, too; its stream aborts then.
  dsv4::rt::WriteSignals signals;
  llvm::WithColor::error(llvm::errs(), "dsv4-compile")
      << status.message() << "\n";
  llvm::errs().clear_error();
  return status.code() == Code::Unavailable ? 3 : 1;
}

static Status invalid(const std::string &message) {
  return Status(Code::InvalidArgument, message);
}

/// Reads NAME=N entries.
static Status readDims(std::map<std::string, int64_t> &extents) {
  for (const std::string &item : dims) {
    auto [dim, text] = llvm::StringRef(item).split('=');
    int64_t extent;
    if (dim.empty() || text.getAsInteger(10, extent) || extent < 0)
      return invalid("--dim '" + item + "': expected NAME=N");
    if (!extents.try_emplace(dim.str(), extent).second)
      return invalid("--dim: '" + dim.str() + "' is given twice");
  }
  return Status();
}

static Status write(llvm::StringRef bytes) {
  return output == "-" ? dsv4::writeStandardOutput(bytes)
                       : dsv4::writeFile(output, bytes);
}

/// Writes the source of all kernels, alone or after the device library that
/// they call: nvcc takes that as it is. Nothing is compiled, nor cached.
static Status writeSource(const std::string &text,
                          const std::string &sourceName,
                          const dsv4::CompileOptions &options) {
  auto emitted = dsv4::emitProgram(text, sourceName, options, target, arch);
  if (!emitted)
    return emitted.status();
  std::string kernels;
  std::set<std::string> headers;
  for (const auto &[text, needed] :
       llvm::zip(emitted->texts, emitted->headers)) {
    kernels += text;
    headers.insert(needed.begin(), needed.end());
  }
  if (emitKernels)
    return write(kernels);
  return write(dsv4::rt::selfContained({headers.begin(), headers.end()},
                                       kernels, emitted->deviceFiles));
}

static llvm::json::Array toJSON(const std::vector<std::string> &texts) {
  return llvm::json::Array(texts);
}

/// Writes how the program is launched, and how its ops became kernels. Nothing
/// is compiled, nor cached.
static Status writePlan(const std::string &text, const std::string &sourceName,
                        const dsv4::CompileOptions &options) {
  dsv4::FusionDecisions decisions;
  auto emitted = dsv4::emitProgram(text, sourceName, options, target, arch,
                                   dsv4::ListingForm::None, &decisions);
  if (!emitted)
    return emitted.status();
  std::string bytes;
  llvm::raw_string_ostream os(bytes);
  llvm::json::OStream json(os);
  json.object([&] {
    json.attributeBegin("program");
    json.rawValue(emitted->info.toJSON());
    json.attributeEnd();
    json.attributeArray("formed", [&] {
      for (const dsv4::FormedKernel &kernel : decisions.kernels)
        json.value(
            llvm::json::Object{{"symbol", kernel.symbol},
                               {"ops", toJSON(kernel.ops)},
                               {"unfused", toJSON(kernel.unfusedReasons)}});
    });
    json.attribute("launches", toJSON(decisions.launches));
  });
  os << "\n";
  return write(bytes);
}

/// Writes a line for --report-file. Its reader can do without.
static void report(const std::string &word, const std::string &text = "") {
  if (reportFile < 0)
    return;
  dsv4::rt::WriteSignals signals;
  (void)dsv4::rt::writeAll(
      reportFile,
      word + (text.empty() ? "" : " " + dsv4::rt::toOneLine(text)) + "\n");
}

/// Compiles the program, or takes it from the cache, and writes its entry.
static Status compile(const std::string &text, const std::string &sourceName,
                      const dsv4::CompileOptions &options) {
  dsv4::rt::DiskCacheOptions cacheOptions;
  cacheOptions.root = cacheDirectory;
  cacheOptions.memoryOnly = noCache;
  cacheOptions.warn = [](const std::string &message) {
    if (reportFile >= 0)
      report("warning", message);
    else
      llvm::WithColor::warning(llvm::errs(), "dsv4-compile") << message << "\n";
  };
  if (!noCache)
    report("cache", cacheDirectory.empty() ? dsv4::rt::DiskCache::defaultRoot()
                                           : cacheDirectory);
  dsv4::rt::DiskCache cache(std::move(cacheOptions));
  dsv4::CompileReport did;
  auto program = dsv4::compileProgram(text, sourceName, options, target, arch,
                                      cache, &did);
  if (did.waited)
    report("waited");
  if (did.passedBy)
    report("passed-by");
  if (!program)
    return program.status();
  if (did.origin == dsv4::CompileReport::Origin::Disk)
    report("hit");
  return write(dsv4::rt::serialize(*program, did.key));
}

/// What the messages call the program.
static std::string getSourceName() {
  if (!name.empty())
    return name;
  return file == "-" ? std::string("program") : file;
}

static dsv4::Watchdog::Options getWatch() {
  dsv4::Watchdog::Options watch;
  watch.caller = std::max<int>(caller, 0);
  watch.deadline = std::chrono::milliseconds(unsigned(deadline));
  watch.message = "dsv4-compile: error: program '" + getSourceName() +
                  "' was not compiled within " + std::to_string(deadline) +
                  " ms: simplify it, or give a longer --deadline\n";
  watch.missing = "dsv4-compile: error: there is no process " +
                  std::to_string(caller) +
                  ", which --caller names: it has ended, or runs in another "
                  "PID namespace, which must be that of the compiler\n";
  watch.status = 4;
  return watch;
}

static Status run() {
  if (target != "cuda" && target != "host")
    return invalid("--target is '" + target + "', expected 'cuda' or 'host'");
  dsv4::CompileOptions options;
  options.entry = entry;
  options.schedule = schedule;
  options.table = table;
  if (Status status = readDims(options.dims); !status)
    return status;
  auto text = dsv4::readFile(file, dsv4::kMaxProgramBytes);
  if (!text)
    return text.status();
  const std::string sourceName = getSourceName();
  if (!options.dims.empty()) {
    // Extents of run-time dims may be given, too.
    auto extents = dsv4::getCompileDims(*text, sourceName, options);
    if (!extents)
      return extents.status();
    options.dims = extents.take();
  }
  if (emitSource || emitKernels)
    return writeSource(*text, sourceName, options);
  if (emitPlan)
    return writePlan(*text, sourceName, options);
  return compile(*text, sourceName, options);
}

static std::string toText(int version) {
  return std::to_string(version / 1000) + "." +
         std::to_string(version % 1000 / 10);
}

/// What it compiles kernels with.
static void printCompilers(llvm::raw_ostream &out) {
  if (auto nvrtc = dsv4::jit::NVRTC::get())
    out << "NVRTC       " << toText((*nvrtc)->version()) << ": "
        << dsv4::jit::NVRTC::libraryPath() << "\n";
  else
    out << "NVRTC       none: " << nvrtc.status().message() << "\n";
  if (auto host = dsv4::rt::findHostCompiler())
    out << "C++         " << llvm::join(*host, " ") << "\n";
  else
    out << "C++         none: " << host.status().message() << "\n";
}

/// Removes the options of LLVM's and MLIR's libraries, which are for their
/// developers: what this tool takes does not change with them.
static void keepOwnOptions() {
  std::vector<cl::Option *> foreign;
  for (const auto &entry : cl::getRegisteredOptions())
    if (llvm::none_of(entry.second->Categories, [](cl::OptionCategory *each) {
          return each == &category || each->getName() == "Generic Options";
        }))
      foreign.push_back(entry.second);
  for (cl::Option *option : foreign)
    option->removeArgument();
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  llvm::install_bad_alloc_error_handler([](void *, const char *, bool) {
    // Nothing that allocates.
    std::fputs("dsv4-compile: error: out of memory\n", stderr);
    std::_Exit(3);
  });
  for (int i = 1; i < argc; ++i)
    if (std::string clean = dsv4::rt::toOneLine(argv[i]); clean != argv[i])
      return fail(invalid("argument " + std::to_string(i) +
                          " has control characters: " + clean));
  keepOwnOptions();
  dsv4::setVersionPrinter("dsv4-compile", printCompilers);
  cl::ParseCommandLineOptions(
      argc, argv, "dsv4-compile: compile a program for libdsv4.so\n");
  dsv4::Watchdog watchdog(getWatch());
  if (Status status = run(); !status)
    return fail(status);
  return 0;
}
