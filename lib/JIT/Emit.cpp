//===- Emit.cpp - From program text to kernels and a launch plan ----------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsv4/Dialect/DSV4/KernelOps.h"
#include "dsv4/InitAll.h"
#include "dsv4/JIT/JIT.h"
#include "dsv4/Signature.h"
#include "dsv4/Support/Diagnostics.h"
#include "dsv4/Support/ParseProgram.h"
#include "dsv4/Target/CUDA/Prelude.h"
#include "dsv4/Target/CUDA/TranslateToCUDA.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/Remarks.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"

#include <set>

using namespace mlir;
using namespace dsv4;

namespace {

/// Writes down the module after every pass that changes it.
struct Recorder : PassInstrumentation {
  Recorder(ModuleOp module, Listing &listing)
      : module(module), listing(listing) {}

  void record(StringRef name) {
    std::string text;
    llvm::raw_string_ostream os(text);
    // The last level carries its names as locations, so that dsv4-translate can
    // print it.
    OpPrintingFlags flags;
    if (name == "cuda-prepare-for-emission")
      flags.enableDebugInfo();
    module->print(os, flags.printNameLocAsPrefix());
    os << "\n";
    // Clean-ups are listed only where they did something.
    bool isCleanUp = name == "cse" || name == "canonicalize";
    if (isCleanUp && !listing.files.empty() &&
        listing.files.back().second == text)
      return;
    listing.files.push_back(
        {llvm::formatv("{0:D2}-{1}.mlir", listing.files.size(), name).str(),
         text});
  }

  void runAfterPass(Pass *pass, Operation *) override {
    if (!pass->getArgument().empty())
      record(pass->getArgument());
  }

  ModuleOp module;
  Listing &listing;
};

/// Writes down which ops each kernel has.
struct KernelRecorder : PassInstrumentation {
  explicit KernelRecorder(FusionDecisions &decisions) : decisions(decisions) {}

  void runAfterPass(Pass *pass, Operation *op) override {
    if (pass->getArgument() != "dsv4-form-kernels")
      return;
    op->walk([&](KernelOp kernel) {
      FormedKernel formed;
      formed.symbol = kernel.getSymName().str();
      for (Operation &each : kernel.getBody().front().without_terminator())
        formed.ops.push_back(each.getName().getStringRef().str());
      if (ArrayAttr reasons = kernel.getUnfusedReasonsAttr())
        for (auto reason : reasons.getAsRange<StringAttr>())
          formed.unfusedReasons.push_back(reason.str());
      decisions.kernels.push_back(std::move(formed));
    });
  }

  FusionDecisions &decisions;
};

/// Writes down which kernels share a launch.
struct LaunchRecorder : remark::detail::MLIRRemarkStreamerBase {
  explicit LaunchRecorder(FusionDecisions &decisions) : decisions(decisions) {}

  void streamOptimizationRemark(const remark::detail::Remark &remark) override {
    std::string text;
    for (const remark::detail::Remark::Arg &arg : remark.getArgs())
      text += arg.val;
    decisions.launches.push_back(std::move(text));
  }

  FusionDecisions &decisions;
};

} // namespace

/// Lets the passes write down what they decide.
static LogicalResult recordDecisions(PassManager &manager,
                                     FusionDecisions &decisions) {
  manager.addInstrumentation(std::make_unique<KernelRecorder>(decisions));
  remark::RemarkCategories categories;
  categories.passed = categories.missed = "dsv4-merge-kernels";
  return remark::enableOptimizationRemarks(
      *manager.getContext(), std::make_unique<LaunchRecorder>(decisions),
      std::make_unique<remark::RemarkEmittingPolicyAll>(), categories);
}

/// Writes down the launches of a lowered function, in order.
static rt::Status serializeLaunches(ModuleOp module, func::FuncOp func,
                                    rt::ProgramInfo &info) {
  const rt::PlanNames names = info.planNames();
  for (auto launch : func.getOps<LaunchOp>()) {
    auto callee = module.lookupSymbol<gpu::GPUFuncOp>(launch.getKernel());
    rt::KernelInfo kernel;
    kernel.symbol = callee.getName().str();
    llvm::raw_string_ostream(kernel.schedule)
        << callee->getAttr(DSV4Dialect::kScheduleAttr);
    auto plan = launch.getPlan(names);
    if (!plan)
      return rt::Status(rt::Code::CompileFailed,
                        "kernel '" + kernel.symbol +
                            "': " + plan.status().message());
    kernel.plan = plan.take();
    for (const rt::Parameter &parameter : kernel.plan.parameters)
      if (parameter.writes)
        info.bindings[parameter.binding].written = true;
    info.kernels.push_back(std::move(kernel));
  }
  return rt::Status();
}

/// Whether each kernel has the files that it calls.
static rt::Status checkHeaders(const EmittedProgram &emitted) {
  auto isThere = [&](const std::string &header) {
    return !rt::deviceLibrary(header).empty() ||
           llvm::any_of(emitted.deviceFiles, [&](const rt::DeviceFile &file) {
             return file.name == header;
           });
  };
  for (auto [kernel, headers] :
       llvm::zip_equal(emitted.info.kernels, emitted.headers))
    for (const std::string &header : headers)
      if (!isThere(header))
        return rt::Status(rt::Code::InvalidArgument,
                          "kernel '" + kernel.symbol +
                              "' calls functions of '" + header +
                              "', a file that neither the device library nor "
                              "an extension has: add it to 'deviceFiles' of "
                              "the extension");
  return rt::Status();
}

/// The file of a listing that its kernels include.
static constexpr char libraryName[] = "device_library.cuh";

/// Adds the kernels to the listing, and the parts of the device library that
/// they call: in one file that they include, or in each.
static LogicalResult listKernels(ModuleOp module, func::FuncOp func,
                                 EmittedProgram &emitted, ListingForm form) {
  bool isOnlyOne = emitted.info.kernels.size() == 1;
  std::set<std::string> needed;
  for (auto launch : func.getOps<LaunchOp>()) {
    SymbolRefAttr symbol = launch.getKernel();
    auto source = translateKernel(
        module.lookupSymbol<gpu::GPUModuleOp>(symbol.getRootReference()));
    if (failed(source))
      return failure();
    std::string name =
        isOnlyOne ? "kernel" : symbol.getLeafReference().getValue().str();
    std::string text = form == ListingForm::SelfContained
                           ? rt::selfContained(source->headers, source->text,
                                               emitted.deviceFiles)
                           : llvm::formatv("#include \"{0}\"\n\n{1}",
                                           libraryName, source->text)
                                 .str();
    emitted.listing.files.push_back({name + ".cu", std::move(text)});
    needed.insert(source->headers.begin(), source->headers.end());
  }
  if (form == ListingForm::Including)
    emitted.listing.files.push_back(
        {libraryName,
         rt::libraryFile({needed.begin(), needed.end()}, emitted.deviceFiles)});
  return success();
}

/// Prints every kernel as a translation unit of its own.
static LogicalResult printKernels(ModuleOp module, func::FuncOp func,
                                  EmittedProgram &emitted) {
  for (auto launch : func.getOps<LaunchOp>()) {
    SymbolRefAttr symbol = launch.getKernel();
    auto unit =
        module.lookupSymbol<gpu::GPUModuleOp>(symbol.getRootReference());
    auto source = translateKernel(unit, {/*lineDirectives=*/true});
    if (failed(source))
      return failure();
    emitted.texts.push_back(std::move(source->text));
    emitted.headers.push_back(std::move(source->headers));
  }
  return success();
}

namespace {
/// The text of a program as IR, and the function of it to compile.
struct ParsedProgram {
  rt::Status parse(const std::string &source, const std::string &sourceName,
                   const CompileOptions &options);

  DialectRegistry registry;
  std::unique_ptr<MLIRContext> context;
  std::unique_ptr<FirstError> error;
  OwningOpRef<ModuleOp> module;
  func::FuncOp func;
};
} // namespace

/// The maximum number of ops of a program: passes recurse along chains of them,
/// and take time in their square.
static constexpr unsigned kMaxOps = 1024;

/// Whether a program consists of what a model says, in `dialects`. Memory that
/// a stranger's row program or kernel addresses is not checked by anybody, so
/// the levels below are for the tools.
static LogicalResult checkLevel(ModuleOp module,
                                const llvm::StringSet<> &dialects) {
  unsigned count = 0;
  WalkResult result = module.walk([&](Operation *op) {
    if (!dialects.contains(op->getName().getDialectNamespace())) {
      op->emitOpError() << "cannot be part of a program: expected ops of dsv4, "
                           "func, arith and tensor";
      return WalkResult::interrupt();
    }
    // Other functions are dropped once the entry is found.
    if (isa<func::FuncDialect>(op->getDialect()) &&
        !isa<func::FuncOp, func::ReturnOp>(op)) {
      op->emitOpError() << "cannot be part of a program: inline the called "
                           "function";
      return WalkResult::interrupt();
    }
    if (auto func = dyn_cast<func::FuncOp>(op);
        func && failed(refuseViews(func)))
      return WalkResult::interrupt();
    return ++count > kMaxOps ? WalkResult::interrupt() : WalkResult::advance();
  });
  if (count > kMaxOps)
    return module.emitError()
           << "the program has more than " << kMaxOps << " ops";
  return failure(result.wasInterrupted());
}

rt::Status ParsedProgram::parse(const std::string &source,
                                const std::string &sourceName,
                                const CompileOptions &options) {
  registerAllDialects(registry);
  for (const dsv4::DialectExtension &extension : options.extensions)
    if (extension.identity.empty() || !extension.registerDialects)
      return rt::Status{rt::Code::InvalidArgument,
                        "an extension needs an identity and a function that "
                        "registers its dialects"};
  llvm::StringSet<> dialects = {"builtin", "func", "arith", "tensor", "dsv4"};
  for (const dsv4::DialectExtension &extension : options.extensions) {
    DialectRegistry own;
    extension.registerDialects(own);
    for (StringRef name : own.getDialectNames())
      dialects.insert(name);
    own.appendTo(registry);
  }
  context =
      std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  error = std::make_unique<FirstError>(context.get());
  module = parseProgram(source, sourceName, context.get());
  if (!module || failed(checkLevel(*module, dialects)))
    return error->status(rt::Code::InvalidArgument);
  auto entry = findEntry(*module, options.entry);
  if (!entry)
    return entry.status();
  func = *entry;
  return rt::Status();
}

rt::Result<std::map<std::string, int64_t>>
dsv4::getCompileDims(const std::string &source, const std::string &sourceName,
                     const CompileOptions &options) {
  ParsedProgram program;
  if (rt::Status status = program.parse(source, sourceName, options); !status)
    return status;
  std::map<std::string, int64_t> selected =
      selectDims(program.func, options.dims);
  // The program is not compiled from here, so it may change.
  if (failed(unifyDims(program.func)))
    return program.error->status(rt::Code::CompileFailed);
  auto signature = getSignature(program.func);
  if (failed(signature))
    return program.error->status(rt::Code::CompileFailed);
  if (rt::Status status = checkDims(program.func, *signature, options.dims);
      !status)
    return status;
  return selected;
}

rt::Result<EmittedProgram>
dsv4::emitProgram(const std::string &source, const std::string &sourceName,
                  const CompileOptions &options, const std::string &target,
                  const std::string &arch, ListingForm form,
                  FusionDecisions *decisions) {
  ParsedProgram program;
  if (rt::Status status = program.parse(source, sourceName, options); !status)
    return status;
  ModuleOp module = *program.module;
  func::FuncOp func = program.func;
  // Other functions are not part of this program.
  for (auto other : llvm::make_early_inc_range(module.getOps<func::FuncOp>()))
    if (other != func)
      other.erase();

  EmittedProgram emitted;
  LowerToCUDAOptions pipeline;
  for (const auto &[name, extent] : options.dims)
    pipeline.dims.push_back(name + "=" + std::to_string(extent));
  pipeline.arch = arch;
  pipeline.schedule = options.schedule;
  pipeline.table = options.table;
  PassManager manager(program.context.get());
  if (form != ListingForm::None) {
    auto recorder = std::make_unique<Recorder>(module, emitted.listing);
    recorder->record("input");
    manager.addInstrumentation(std::move(recorder));
  }
  if (decisions && failed(recordDecisions(manager, *decisions)))
    return program.error->status(rt::Code::CompileFailed);
  buildLowerToCUDAPipeline(manager, pipeline);
  if (failed(manager.run(module)))
    return program.error->status(rt::Code::CompileFailed);

  auto signature = getSignature(func);
  if (failed(signature))
    return program.error->status(rt::Code::CompileFailed);
  emitted.info.name = func.getName().str();
  emitted.info.target = target;
  emitted.info.arch = arch;
  emitted.info.bindings = signature->bindings;
  emitted.info.dims = signature->dims;
  if (rt::Status status = serializeLaunches(module, func, emitted.info);
      !status)
    return status;
  for (const DialectExtension &extension : options.extensions)
    llvm::append_range(emitted.deviceFiles, extension.deviceFiles);
  if (failed(printKernels(module, func, emitted)) ||
      (form != ListingForm::None &&
       failed(listKernels(module, func, emitted, form))))
    return program.error->status(rt::Code::CompileFailed);
  if (rt::Status status = checkHeaders(emitted); !status)
    return status;
  return emitted;
}
