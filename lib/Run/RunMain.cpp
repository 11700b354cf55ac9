//===- RunMain.cpp - The command line of dsv4-run -------------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsv4/Run/Run.h"
#include "dsv4/Support/Files.h"
#include "dsv4/Support/Version.h"

#include "dsv4-runtime/FileIO.h"

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/StringSaver.h"
#include "llvm/Support/WithColor.h"

#include <cstdio>
#include <cstdlib>
#include <limits>
#include <set>

namespace cl = llvm::cl;

static cl::OptionCategory category("dsv4-run options");
static cl::opt<std::string> file(cl::Positional, cl::desc("FILE.mlir"),
                                 cl::Required, cl::cat(category));
static cl::opt<std::string> entry("entry", cl::desc("function to run"),
                                  cl::cat(category));
static cl::opt<dsv4::TargetKind> target(
    "target", cl::desc("where to run"), cl::cat(category),
    cl::values(clEnumValN(dsv4::TargetKind::Auto, "auto",
                          "GPU if there is one"),
               clEnumValN(dsv4::TargetKind::Cuda, "cuda", "GPU"),
               clEnumValN(dsv4::TargetKind::Host, "host", "system compiler")),
    cl::init(dsv4::TargetKind::Auto));
static cl::opt<std::string> arch("arch", cl::desc("architecture (sm_90a)"),
                                 cl::cat(category));
static cl::list<std::string> dims("dim", cl::desc("extent of a named dim"),
                                  cl::value_desc("NAME=N"), cl::cat(category));
static cl::list<std::string> inputs("input", cl::desc("argument from a file"),
                                    cl::value_desc("ARG=FILE.npy"),
                                    cl::cat(category));
static cl::list<std::string> outputs("output", cl::desc("result to a file"),
                                     cl::value_desc("RES=FILE.npy"),
                                     cl::cat(category));
static cl::opt<std::string>
    inputDirectory("inputs", cl::value_desc("DIR"), cl::cat(category),
                   cl::desc("arguments from the files ARG.npy of a folder"));
static cl::opt<std::string>
    outputDirectory("outputs", cl::value_desc("DIR"), cl::cat(category),
                    cl::desc("all results to files RES.npy in a folder"));
// Numbers are read here, so that what is wrong with one is said as elsewhere.
static cl::opt<std::string>
    randomSeed("random", cl::value_desc("SEED"),
               cl::desc("random data for other arguments"), cl::cat(category));
static cl::opt<bool> valid("valid", cl::cat(category),
                           cl::desc("random indices, slots and lengths are all "
                                    "valid (default: some are out of range)"));
static cl::opt<bool> check("check", cl::desc("compare with the oracle"),
                           cl::cat(category));
static cl::opt<bool>
    checks("checks", cl::cat(category),
           cl::desc("kernels report the entries that they skip (GPU only)"));
static cl::opt<bool>
    lineInfo("line-info", cl::cat(category),
             cl::desc("tools of CUDA name lines of kernels (GPU only)"));
static cl::opt<std::string> repeat("repeat", cl::value_desc("N"),
                                   cl::desc("timed launches"),
                                   cl::cat(category));
static cl::opt<std::string>
    launches("launches", cl::value_desc("N"), cl::cat(category),
             cl::desc("launches whose results must have equal bits"));
static cl::opt<std::string>
    deadline("deadline", cl::value_desc("MS"), cl::cat(category),
             cl::desc("milliseconds that the compile may take (default: 10 "
                      "minutes; 0: any)"));
static cl::opt<std::string> emit("emit", cl::value_desc("DIR"),
                                 cl::desc("write the program at every level"),
                                 cl::cat(category));
static cl::opt<bool>
    selfContained("self-contained", cl::cat(category),
                  cl::desc("with --emit: kernels that include no file"));
static cl::opt<bool> json("json", cl::desc("print one JSON object"),
                          cl::cat(category));
static cl::opt<std::string> schedule("schedule", cl::cat(category),
                                     cl::desc("#dsv4.schedule<...>"));
static cl::opt<std::string> table("schedule-table", cl::cat(category),
                                  cl::desc("schedule table file (JSON)"));
static cl::opt<bool> commands("commands", cl::cat(category),
                              cl::desc("run the command lines that standard "
                                       "input has, one per line"));
static cl::opt<std::string>
    threadOrder("thread-order", cl::cat(category), cl::init("forward"),
                cl::desc("host target: forward, reverse or random:SEED"));

static int fail(const std::string &message) {
  // Standard error may have come to its end, too; its stream aborts then.
  dsv4::rt::WriteSignals signals;
  llvm::WithColor::error(llvm::errs(), "dsv4-run") << message << "\n";
  llvm::errs().clear_error();
  return 1;
}

/// Reads `text`, all of it, into `number`; else says what is wrong with it as
/// the value of `flag`.
template <typename T>
static std::string read(llvm::StringRef text, const std::string &flag,
                        T &number) {
  if (!text.getAsInteger(10, number) && !(number < 0))
    return "";
  return flag + "': expected a number from 0 to " +
         std::to_string(std::numeric_limits<T>::max());
}

/// Splits NAME=VALUE entries of option `flag` into `map`.
static std::string split(const cl::list<std::string> &list, const char *flag,
                         std::map<std::string, std::string> &map) {
  for (const std::string &item : list) {
    auto [name, value] = llvm::StringRef(item).split('=');
    if (name.empty() || value.empty())
      return std::string("--") + flag + " '" + item + "': expected NAME=VALUE";
    if (!map.try_emplace(name.str(), value.str()).second)
      return std::string("--") + flag + ": '" + name.str() + "' is given twice";
  }
  return "";
}

/// Runs what one command line says; returns the exit status.
static int
runCommandLine(int argc, const char *const *argv,
               const std::vector<dsv4::DialectExtension> &extensions) {
  // LLVM's command line repeats in its errors what it was given.
  for (int i = 1; i < argc; ++i)
    if (std::string clean = dsv4::rt::toOneLine(argv[i]); clean != argv[i])
      return fail("argument " + std::to_string(i) +
                  " has control characters: " + clean);
  cl::ParseCommandLineOptions(
      argc, argv, "dsv4-run: compile, run, check and time a dsv4 program\n");
  if (commands)
    return fail("--commands: expected no other option, and no file");
  for (const cl::Option *option :
       {static_cast<cl::Option *>(&entry), static_cast<cl::Option *>(&target),
        static_cast<cl::Option *>(&arch),
        static_cast<cl::Option *>(&randomSeed),
        static_cast<cl::Option *>(&repeat),
        static_cast<cl::Option *>(&launches), static_cast<cl::Option *>(&emit),
        static_cast<cl::Option *>(&deadline),
        static_cast<cl::Option *>(&schedule), static_cast<cl::Option *>(&table),
        static_cast<cl::Option *>(&threadOrder),
        static_cast<cl::Option *>(&inputDirectory),
        static_cast<cl::Option *>(&outputDirectory)})
    if (option->getNumOccurrences() > 1)
      return fail("--" + option->ArgStr.str() + " is given twice");
  dsv4::RunOptions options;
  std::map<std::string, std::string> extents;
  for (const std::string &error :
       {split(dims, "dim", extents), split(inputs, "input", options.inputs),
        split(outputs, "output", options.outputs)})
    if (!error.empty())
      return fail(error);
  for (const auto &[name, value] : extents) {
    std::string flag = "--dim '" + name + "=" + value;
    if (std::string error = read(value, flag, options.compile.dims[name]);
        !error.empty())
      return fail(error);
  }
  options.file = file;
  options.compile.entry = entry;
  options.compile.schedule = schedule;
  options.compile.table = table;
  options.session.target = target;
  options.session.arch = arch;
  options.session.threadOrder = threadOrder;
  // Every launch would say the same again.
  options.session.cache.warn =
      [said = std::set<std::string>()](const std::string &message) mutable {
        if (said.insert(message).second)
          llvm::WithColor::warning(llvm::errs(), "dsv4-run") << message << "\n";
      };
  options.session.warn = options.session.cache.warn;
  options.compile.checks = checks;
  options.compile.lineInfo = lineInfo;
  options.compile.extensions = extensions;
  std::string error;
  if (randomSeed.getNumOccurrences())
    error = read(randomSeed, "--random '" + randomSeed,
                 options.randomSeed.emplace());
  if (repeat.getNumOccurrences() && error.empty())
    error = read(repeat, "--repeat '" + repeat, options.repeat);
  if (launches.getNumOccurrences() && error.empty())
    error = read(launches, "--launches '" + launches, options.launches);
  if (deadline.getNumOccurrences() && error.empty())
    error = read(deadline, "--deadline '" + deadline, options.deadline);
  if (!error.empty())
    return fail(error);
  if (selfContained && emit.empty())
    return fail("--self-contained: expected --emit=DIR beside it");
  options.check = check;
  options.validIndices = valid;
  options.emitDirectory = emit;
  options.selfContained = selfContained;
  options.inputDirectory = inputDirectory;
  options.outputDirectory = outputDirectory;
  auto result = dsv4::run(options);
  if (!result)
    return fail(result.status().message());
  if (auto written = dsv4::writeStandardOutput(json ? formatJSON(*result)
                                                    : formatTable(*result));
      !written)
    return fail("the result: " + written.message());
  return result->mismatch.empty() && result->launchMismatch.empty() ? 0 : 2;
}

/// Runs every command line of standard input in this process, which sets up a
/// GPU once. After the output of each follows a line with its exit status.
static int runCommands(const char *name,
                       const std::vector<dsv4::DialectExtension> &extensions) {
  char *line = nullptr;
  size_t capacity = 0;
  for (ssize_t size; (size = ::getline(&line, &capacity, stdin)) > 0;) {
    llvm::BumpPtrAllocator allocator;
    llvm::StringSaver saver(allocator);
    llvm::SmallVector<const char *> arguments{name};
    cl::TokenizeGNUCommandLine({line, size_t(size)}, saver, arguments);
    cl::ResetAllOptionOccurrences();
    int status = runCommandLine(arguments.size(), arguments.data(), extensions);
    if (auto written = dsv4::writeStandardOutput("dsv4-run: end " +
                                                 std::to_string(status) + "\n");
        !written)
      return fail("the result: " + written.message());
  }
  std::free(line);
  return 0;
}

int dsv4::runMain(int argc, char **argv,
                  const std::vector<DialectExtension> &extensions) {
  llvm::InitLLVM init(argc, argv);
  llvm::install_bad_alloc_error_handler([](void *, const char *, bool) {
    // Nothing that allocates.
    std::fputs("dsv4-run: error: out of memory\n", stderr);
    std::_Exit(1);
  });
  dsv4::setVersionPrinter(llvm::sys::path::filename(argv[0]));
  cl::HideUnrelatedOptions(category);
  if (argc == 2 && llvm::StringRef(argv[1]) == "--commands")
    return runCommands(argv[0], extensions);
  return runCommandLine(argc, argv, extensions);
}
