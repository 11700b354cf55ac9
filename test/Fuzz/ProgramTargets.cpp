//===- ProgramTargets.cpp - Damaged programs ------------------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// pipeline: texts of any level go through the JIT's front, the whole pipeline
// or one pass; there is source that a C++ compiler takes, or an error of one
// line. check: what compiles for the host runs there and matches the oracle,
// with a drawn schedule and order of threads.
//
//===----------------------------------------------------------------------===//

#include "Fuzz.h"

#include "dsv4/InitAll.h"
#include "dsv4/Pipelines/Pipelines.h"
#include "dsv4/Run/Run.h"
#include "dsv4/Signature.h"
#include "dsv4/Support/Diagnostics.h"
#include "dsv4/Support/ParseProgram.h"
#include "dsv4/Target/CUDA/Prelude.h"
#include "dsv4/Target/Host/HostCompiler.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/StringExtras.h"

#include <sys/mman.h>
#include <unistd.h>

using namespace dsv4;
using namespace dsv4::fuzz;
using namespace mlir;

/// One emitted program in so many is compiled for the host.
static constexpr unsigned kCompileEach = 16;
/// Bytes of arguments that a program to run may have.
static constexpr int64_t kMaxBytes = int64_t(32) << 20;

/// The same for the same text, on every run.
static uint64_t hashOf(llvm::StringRef text) {
  uint64_t hash = 1469598103934665603u;
  for (unsigned char c : text)
    hash = (hash ^ c) * 1099511628211u;
  return hash ^ hash >> 29;
}

static std::vector<std::string> makeNoSeeds(std::mt19937_64 &) { return {}; }

//===----------------------------------------------------------------------===//
// pipeline
//===----------------------------------------------------------------------===//

/// As the JIT does it, to source that a compiler takes.
static Outcome emit(llvm::StringRef text, uint64_t hash) {
  static constexpr const char *archs[] = {"sm_90a", "sm_80", "sm_100a",
                                          "sm_120a"};
  CompileOptions options;
  if (text.contains("exact") || text.contains("bucket"))
    options.dims = {{"k", 3}, {"topk", 8}, {"tokens", 16}, {"entries", 4}};
  auto emitted = emitProgram(
      text.str(), "mutant.mlir", options, "cuda", archs[hash / 64 % 4],
      hash % 8 == 0 ? ListingForm::Including : ListingForm::None);
  if (!emitted)
    return refusedWith(emitted.status().message());
  if (emitted->texts.size() != emitted->info.kernels.size())
    return broken("not one source per kernel");
  for (size_t i = 0; i < emitted->texts.size(); ++i) {
    if (emitted->texts[i].empty())
      return broken("an empty source");
    if (hash / 8 % kCompileEach != 0)
      continue;
    alarm(kCompilerSeconds);
    auto image = rt::compileHost(
        rt::hostPrelude(emitted->headers[i]) + emitted->texts[i] +
        rt::hostEpilogue(emitted->info.kernels[i].symbol));
    if (!image)
      return broken("emitted source does not compile: " +
                    image.status().message());
  }
  return accepted();
}

/// As the tools do it: IR of any level, and the whole pipeline or one pass.
static Outcome transform(llvm::StringRef text, uint64_t hash) {
  static const bool registered = [] {
    registerAllPasses();
    return true;
  }();
  (void)registered;
  static constexpr const char *passes[] = {
      "func.func(dsv4-specialize)",
      "func.func(dsv4-form-kernels)",
      "func.func(dsv4-select-schedule)",
      "func.func(convert-dsv4-to-row)",
      "func.func(dsv4-distribute-rows)",
      "func.func(dsv4-merge-kernels)",
      "dsv4-outline-kernels",
      "gpu.module(cuda-form-device-calls)",
      "gpu.module(cuda-legalize)",
      "gpu.module(cuda-prepare-for-emission)"};
  DialectRegistry registry;
  registerAllDialects(registry);
  registerCUDATranslations(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  FirstError error(&context);
  OwningOpRef<ModuleOp> module = parseProgram(text, "mutant.mlir", &context);
  if (!module)
    return refusedWith(error.status(rt::Code::InvalidArgument).message());
  PassManager manager(&context);
  if (hash / 4 % 2) {
    buildLowerToCUDAPipeline(manager, LowerToCUDAOptions());
  } else {
    uint64_t rest = hash / 8;
    for (unsigned i = 0; i < 6 && rest % 16 < std::size(passes);
         ++i, rest /= 16)
      if (failed(parsePassPipeline(passes[rest % 16], manager)))
        return broken("no such pass");
  }
  std::string source;
  llvm::raw_string_ostream os(source);
  if (failed(manager.run(*module)) || failed(translateToCUDA(*module, os)))
    return refusedWith(error.status(rt::Code::CompileFailed).message());
  return source.empty() ? broken("an empty source") : accepted();
}

static Outcome runPipeline(llvm::StringRef text) {
  uint64_t hash = hashOf(text);
  return hash % 4 == 0 ? transform(text, hash) : emit(text, hash);
}

const Target dsv4::fuzz::pipelineTarget = {
    "pipeline", "damaged programs through the compiler", true, makeNoSeeds,
    runPipeline};

//===----------------------------------------------------------------------===//
// check
//===----------------------------------------------------------------------===//

/// A file in memory.
class MemoryFile {
public:
  explicit MemoryFile(llvm::StringRef text)
      : descriptor(memfd_create("mutant", MFD_CLOEXEC)) {
    if (descriptor >= 0 &&
        write(descriptor, text.data(), text.size()) != ssize_t(text.size()))
      descriptor = -1;
  }
  ~MemoryFile() { close(descriptor); }
  std::string path() const {
    return "/proc/self/fd/" + std::to_string(descriptor);
  }

private:
  int descriptor;
};

/// Small extents for all dims of a program; none where it has none or would
/// take much memory.
static std::optional<std::map<std::string, int64_t>>
drawDims(llvm::StringRef text, std::mt19937_64 &random) {
  DialectRegistry registry;
  registerAllDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  FirstError error(&context);
  OwningOpRef<ModuleOp> module = parseProgram(text, "mutant.mlir", &context);
  if (!module)
    return std::nullopt;
  auto func = findEntry(*module, "");
  if (!func || failed(unifyDims(*func)))
    return std::nullopt;
  auto signature = getSignature(*func);
  if (failed(signature))
    return std::nullopt;
  std::map<std::string, int64_t> dims;
  for (const rt::Dim &dim : signature->dims)
    dims[dim.name] = std::min<int64_t>(random() % 40, dim.max) *
                     (dim.multiple < 64 ? dim.multiple : 1);
  for (const rt::Binding &binding : signature->bindings) {
    int64_t bytes = 8;
    for (const rt::Extent &extent : binding.shape) {
      int64_t value = extent.dim < 0 ? extent.constant
                                     : dims[signature->dims[extent.dim].name];
      if (llvm::MulOverflow(bytes, value, bytes) || bytes > kMaxBytes)
        return std::nullopt;
    }
  }
  return dims;
}

/// Schedules fit some programs and not others: both are of interest.
static std::string drawSchedule(std::mt19937_64 &random) {
  auto power = [&](unsigned most) {
    return std::to_string(1u << random() % (most + 1));
  };
  std::string text = "#dsv4.schedule<threads = " + power(10);
  if (random() % 2)
    text += ", pdl = true";
  return text + ", parts = [#dsv4.rows<lanes = " + power(5) +
         ", vector = " + power(4) + ">]>";
}

static Outcome runCheck(llvm::StringRef text) {
  std::mt19937_64 random(hashOf(text));
  auto dims = drawDims(text, random);
  if (!dims)
    return refused();
  MemoryFile file(text);
  RunOptions options;
  options.file = file.path();
  options.compile.dims = *dims;
  options.session.target = runsOnGPU() ? TargetKind::Cuda : TargetKind::Host;
  options.session.cache.memoryOnly = true;
  options.session.threadOrder =
      random() % 2 ? "reverse" : "random:" + std::to_string(random() % 1000);
  if (random() % 4 == 0)
    options.compile.schedule = drawSchedule(random);
  std::vector<std::string> warnings;
  options.session.warn = [&](const std::string &line) {
    warnings.push_back(line);
  };
  options.randomSeed = random() % 1000;
  options.check = true;
  alarm(kCompilerSeconds);
  auto result = run(options);
  // The limit of the driver leaves few addresses for the stacks of threads.
  bool isLaunch = !result && result.status().code() == rt::Code::LaunchFailed &&
                  result.status().message().find(
                      "no addresses for its stack") == std::string::npos;
  if (isLaunch)
    return broken(result.status().message());
  if (!result)
    return refusedWith(result.status().message());
  if (result->mismatch.empty())
    return accepted();
  // What a program promises not to be given may differ, and is said.
  for (const std::string &line : warnings)
    if (result->mismatch.find("; " + line) != std::string::npos)
      return accepted();
  return broken(result->mismatch + " (" + options.session.threadOrder + " " +
                options.compile.schedule + ")");
}

const Target dsv4::fuzz::checkTarget = {
    "check", "damaged programs against the oracle, on the host or a GPU", true,
    makeNoSeeds, runCheck};
