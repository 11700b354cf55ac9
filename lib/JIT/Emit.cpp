//===- Emit.cpp - From program text to kernel texts and a launch plan -*- C++
//-*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsv4/InitAll.h"
#include "dsv4/JIT/JIT.h"
#include "dsv4/Signature.h"
#include "dsv4/Support/Diagnostics.h"
#include "dsv4/Support/ParseProgram.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"

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

} // namespace

/// One parameter of a launch, traced back to the function's arguments.
static rt::Parameter traceParameter(Value operand, const Signature &signature) {
  using Kind = rt::Parameter::Kind;
  if (auto cast = operand.getDefiningOp<arith::IndexCastOp>())
    operand = cast.getIn();
  Operation *op = operand.getDefiningOp();
  if (isa<WorkspaceOp>(op))
    return {Kind::Workspace, 0};
  unsigned argument = cast<BlockArgument>(op->getOperand(0)).getArgNumber();
  if (auto buffer = dyn_cast<BufferOp>(op))
    return {Kind::Buffer, static_cast<int>(signature.getBinding(
                              argument, buffer.getField().value_or("")))};
  if (auto extent = dyn_cast<ExtentOp>(op))
    return {Kind::Int32, signature.getExtent(argument, extent.getAxis()).dim};
  return {Kind::Rows, 0};
}

/// The launches of a lowered function, in order.
static void planLaunches(ModuleOp module, func::FuncOp func,
                         const Signature &signature, rt::ProgramInfo &info) {
  for (auto launch : func.getOps<gpu::LaunchFuncOp>()) {
    auto callee = module.lookupSymbol<gpu::GPUFuncOp>(launch.getKernel());
    rt::KernelInfo kernel;
    kernel.symbol = callee.getName().str();
    auto schedule =
        callee->getAttrOfType<RowScheduleAttr>(DSV4Dialect::kScheduleAttr);
    llvm::raw_string_ostream(kernel.schedule) << schedule;
    kernel.threads = (*callee.getKnownBlockSize())[0];
    kernel.rowsPerBlock = schedule.getRowsPerBlock();
    kernel.cluster = schedule.getCluster();
    if (Value bytes = launch.getDynamicSharedMemorySize())
      kernel.sharedBytes = getConstantIntValue(bytes).value_or(0);
    kernel.parts = schedule.getParts();
    // No driver takes it below sm_90, where a wait is nothing anyway.
    kernel.programmaticLaunch =
        schedule.getPdl() && cuda::getArchNumber(info.arch) >= 90;
    Value blocks = launch.getGridSizeX();
    if (auto product = blocks.getDefiningOp<arith::MulIOp>())
      blocks = product.getLhs();
    auto grid = blocks.getDefiningOp<arith::CeilDivUIOp>();
    auto rows = grid.getLhs().getDefiningOp<RowCountOp>();
    unsigned argument = cast<BlockArgument>(rows.getSource()).getArgNumber();
    int64_t rank = cast<RankedTensorType>(rows.getSource().getType()).getRank();
    for (int64_t axis = 0; axis < rank - 1; ++axis)
      kernel.rows.push_back(signature.getExtent(argument, axis));
    for (Value operand : launch.getKernelOperands()) {
      kernel.parameters.push_back(traceParameter(operand, signature));
      if (auto workspace = operand.getDefiningOp<WorkspaceOp>())
        kernel.workspaceBytesPerRow = workspace.getBytes();
    }
    info.kernels.push_back(std::move(kernel));
  }
}

/// Visits what accesses `memory`, also where it is one of two.
static void visitAccesses(Value memory, function_ref<void(Operation *)> visit) {
  for (Operation *user : memory.getUsers())
    if (isa<cuda::BytesOp, arith::SelectOp>(user))
      visitAccesses(user->getResult(0), visit);
    else
      visit(user);
}

/// What the kernels do with each binding: whether they write it, and how it
/// must be aligned. Vector accesses count on 16 bytes, scalar ones on their own
/// size.
static void describeUse(ModuleOp module, func::FuncOp func,
                        const Signature &signature, rt::ProgramInfo &info) {
  for (rt::Binding &binding : info.bindings)
    binding.alignment = 1;
  func.walk([&](gpu::LaunchFuncOp launch) {
    auto callee = module.lookupSymbol<gpu::GPUFuncOp>(launch.getKernel());
    for (auto [i, operand] : llvm::enumerate(launch.getKernelOperands())) {
      auto memory = dyn_cast<MemRefType>(operand.getType());
      if (!memory || operand.getDefiningOp<WorkspaceOp>())
        continue;
      rt::Binding &binding =
          info.bindings[traceParameter(operand, signature).index];
      visitAccesses(callee.getArgument(i), [&](Operation *user) {
        auto load = dyn_cast<cuda::LoadOp>(user);
        auto store = dyn_cast<cuda::StoreOp>(user);
        // A load of a part promises no more than that of an element.
        Type value = load    ? load.getType()
                     : store ? store.getValue().getType()
                             : memory.getElementType();
        // A vector of one element is accessed as that, but for the lanes of a
        // warp together.
        auto vector = dyn_cast<VectorType>(value);
        bool isStaged = load && load.getStaged();
        if (vector && vector.getNumElements() == 1 && !isStaged)
          value = vector.getElementType();
        uint32_t bytes = isa<VectorType>(value)
                             ? 16
                             : std::max(value.getIntOrFloatBitWidth() / 8, 1u);
        binding.alignment = std::max(binding.alignment, bytes);
        binding.written |= store != nullptr;
      });
    }
  });
}

/// The files of the device library that a kernel calls. Element types are in
/// core.cuh.
static std::vector<std::string> getHeaders(gpu::GPUModuleOp unit) {
  std::set<std::string> headers = {"core/core.cuh", "core/memory.cuh"};
  unit.walk([&](Operation *op) {
    if (auto call = dyn_cast<cuda::DeviceCallOpInterface>(op))
      headers.insert(call.getHeader().str());
    if (isa<arith::ExtFOp, arith::TruncFOp, arith::SIToFPOp>(op))
      headers.insert("rows/convert.cuh");
    if (isa<arith::MaximumFOp>(op))
      headers.insert("rows/gate.cuh");
    // Operators with a number, parts of rows.
    if (isa<math::SqrtOp, vector::InterleaveOp, vector::DeinterleaveOp>(op))
      headers.insert("rows/rows.cuh");
  });
  return {headers.begin(), headers.end()};
}

/// Prints every kernel as a translation unit of its own.
static LogicalResult printKernels(ModuleOp module, func::FuncOp func,
                                  EmittedProgram &emitted, bool wantListing) {
  bool isOnlyOne = emitted.info.kernels.size() == 1;
  for (auto launch : func.getOps<gpu::LaunchFuncOp>()) {
    auto unit =
        module.lookupSymbol<gpu::GPUModuleOp>(launch.getKernelModuleName());
    std::string text, listed;
    llvm::raw_string_ostream os(text), listedStream(listed);
    if (failed(translateToCUDA(unit, os, {/*lineDirectives=*/true})))
      return failure();
    emitted.texts.push_back(text);
    emitted.headers.push_back(getHeaders(unit));
    if (!wantListing)
      continue;
    if (failed(translateToCUDA(unit, listedStream)))
      return failure();
    std::string name =
        isOnlyOne ? "kernel" : launch.getKernelName().getValue().str();
    emitted.listing.files.push_back({name + ".cu", listed});
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

/// The most ops of a program: passes recurse along chains of them, and take
/// time in their square.
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
      op->emitOpError() << "cannot be part of a program: write the ops of the "
                           "called function in its place";
      return WalkResult::interrupt();
    }
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
  return selectDims(program.func, options.dims);
}

rt::Result<EmittedProgram>
dsv4::emitProgram(const std::string &source, const std::string &sourceName,
                  const CompileOptions &options, const std::string &target,
                  const std::string &arch, bool wantListing) {
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
  if (wantListing) {
    auto recorder = std::make_unique<Recorder>(module, emitted.listing);
    recorder->record("input");
    manager.addInstrumentation(std::move(recorder));
  }
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
  planLaunches(module, func, *signature, emitted.info);
  describeUse(module, func, *signature, emitted.info);
  if (failed(printKernels(module, func, emitted, wantListing)))
    return program.error->status(rt::Code::CompileFailed);
  return emitted;
}
