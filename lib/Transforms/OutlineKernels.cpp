//===- OutlineKernels.cpp - Kernels to gpu.module and gpu.func --*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LaunchPlanning.h"

#include "dsv4/Dialect/DSV4/IterationSpace.h"
#include "dsv4/Passes.h"
#include "dsv4/Support/Identifiers.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace dsv4;

namespace dsv4 {
#define GEN_PASS_DEF_OUTLINEKERNELS
#include "dsv4/Passes.h.inc"
} // namespace dsv4

namespace {

/// One parameter of the kernel: what a buffer, extent, stride or row_count op
/// gives for an argument of the function, or the workspace.
struct Parameter {
  Operation *source; ///< The first op in the kernel that asks for it.
  unsigned argument; ///< Of the function; a workspace has none.
  std::string identity;
  std::string name;
  int64_t min = 0, max = -1; ///< Bounds of an integer parameter.
};

class Outliner {
public:
  Outliner(func::FuncOp func, KernelOp kernel, StringRef arch,
           SymbolTable &moduleSymbols, llvm::StringSet<> &kernelNames)
      : func(func), kernel(kernel), arch(arch), moduleSymbols(moduleSymbols),
        kernelNames(kernelNames) {}

  LogicalResult run();

private:
  /// Gathers the parameters, buffers first, each in the order of arguments.
  LogicalResult collect();
  std::string nameOf(Operation *op, unsigned argument);
  gpu::GPUFuncOp buildFunction();
  LogicalResult buildLaunch(gpu::GPUFuncOp callee, const PlannedGrid &grid,
                            const rt::PlanNames &names);
  ArrayAttr buildHeader();
  ArrayAttr buildHeaderOfParts(ArrayAttr parts);

  func::FuncOp func;
  KernelOp kernel;
  StringRef arch;
  SymbolTable &moduleSymbols;
  /// Of all kernels of the module: they are functions of one source.
  llvm::StringSet<> &kernelNames;
  SmallVector<Parameter> parameters;
  /// Parameter of every op of the kernel that asks for one.
  llvm::DenseMap<Operation *, unsigned> parameterOf;
  /// The argument whose rows are counted. A kernel of several parts counts
  /// those of several.
  std::optional<unsigned> countedArgument;
  bool countsOneRowSpace = true;
};

} // namespace

std::string Outliner::nameOf(Operation *op, unsigned argument) {
  if (isa<WorkspaceOp>(op))
    return "workspace";
  std::string name = getArgumentName(func, argument);
  if (auto buffer = dyn_cast<BufferOp>(op))
    return buffer.getField() ? name + "_" + buffer.getField()->str() : name;
  if (auto stride = dyn_cast<StrideOp>(op)) {
    auto tensor = dyn_cast<RankedTensorType>(stride.getSource().getType());
    if (tensor)
      return name + "_stride" +
             (tensor.getRank() == 2 ? ""
                                    : "_" + std::to_string(stride.getAxis()));
    return name + (stride.getField() ? "_" + stride.getField()->str() : "") +
           "_page_stride";
  }
  if (auto count = dyn_cast<RowCountOp>(op)) {
    std::string what = count.getPer() > 1 ? "blocks" : "rows";
    return countsOneRowSpace ? what : name + "_" + what;
  }
  auto extent = cast<ExtentOp>(op);
  if (isa<CacheType>(extent.getSource().getType()))
    return name + "_pages";
  StringRef dim = getDimName(func, argument, extent.getAxis());
  if (dim.empty())
    return name + "_" + std::to_string(extent.getAxis());
  // An argument may have the name of a dim.
  for (unsigned i = 0; i < func.getNumArguments(); ++i)
    if (getArgumentName(func, i) == dim)
      return (dim + "_extent").str();
  return dim.str();
}

/// What makes two requests one parameter: the kind, the argument, and the field
/// or axis; a named dim is one whatever argument it is read from.
static std::string identify(Operation *op, unsigned argument,
                            func::FuncOp func) {
  if (auto count = dyn_cast<RowCountOp>(op))
    return llvm::formatv("rows {0} per {1}", argument, count.getPer());
  std::string place = std::to_string(argument);
  if (auto buffer = dyn_cast<BufferOp>(op))
    return "buffer " + place + " " + buffer.getField().value_or("").str();
  if (auto stride = dyn_cast<StrideOp>(op))
    return "stride " + place + " " + std::to_string(stride.getAxis()) + " " +
           stride.getField().value_or("").str();
  auto extent = cast<ExtentOp>(op);
  if (isa<RankedTensorType>(extent.getSource().getType()))
    if (StringRef dim = getDimName(func, argument, extent.getAxis());
        !dim.empty())
      return "dim " + dim.str();
  return "extent " + place + " " + std::to_string(extent.getAxis());
}

/// Says why `given` is not memory that a launch has. The user did not write
/// `op`, which asks for it, but knows its location.
static void explainNoArgument(Operation *op, Value given, KernelOp kernel) {
  Operation *producer = given.getDefiningOp();
  auto kernels = kernel->getParentOfType<func::FuncOp>().getOps<KernelOp>();
  // A destination of one kernel for another is such a tensor, too.
  bool isEmpty = isa_and_present<tensor::EmptyOp>(producer);
  if (producer && !isa<KernelOp>(producer) &&
      (!isEmpty || llvm::hasSingleElement(kernels))) {
    emitError(producer->getLoc())
        << "kernel '" << kernel.getSymName() << "' uses the result of '"
        << producer->getName()
        << "', which no kernel computes; pass it as a function argument";
    return;
  }
  InFlightDiagnostic error =
      emitError(op->getLoc())
      << "kernel '" << kernel.getSymName()
      << "' exchanges this value with another kernel through memory; make the "
         "destination that holds it a function argument";
  StringRef lead = ". Why they are not one kernel: ";
  for (KernelOp other : kernels)
    if (ArrayAttr reasons = other.getUnfusedReasonsAttr())
      for (StringRef reason : reasons.getAsValueRange<StringAttr>()) {
        error << lead << reason;
        lead = "; ";
      }
}

/// The index of a buffer among those of its argument.
static unsigned getFieldIndex(Operation *op) {
  auto buffer = dyn_cast<BufferOp>(op);
  if (!buffer || !buffer.getField())
    return 0;
  auto fields =
      cast<CacheType>(buffer.getSource().getType()).getRecord().getFields();
  for (auto [i, field] : llvm::enumerate(fields))
    if (field.getName() == *buffer.getField())
      return i + 1;
  return 0;
}

LogicalResult Outliner::collect() {
  SmallVector<Parameter> found;
  SmallVector<std::pair<Operation *, unsigned>> asked;
  WalkResult result = kernel.getBody().walk([&](Operation *op) {
    if (!isParameter(op))
      return WalkResult::advance();
    if (isa<WorkspaceOp>(op)) {
      if (llvm::any_of(found, [](const Parameter &parameter) {
            return isa<WorkspaceOp>(parameter.source);
          })) {
        op->emitOpError() << "is the second of its kernel, and a launch has "
                             "one workspace: use the result of the first";
        return WalkResult::interrupt();
      }
      asked.push_back({op, found.size()});
      found.push_back({op, 0, "workspace", ""});
      return WalkResult::advance();
    }
    auto inner = dyn_cast<BlockArgument>(op->getOperand(0));
    Value given =
        inner ? kernel.getInputs()[inner.getArgNumber()] : op->getOperand(0);
    auto outer = dyn_cast<BlockArgument>(given);
    if (!outer) {
      explainNoArgument(op, given, kernel);
      return WalkResult::interrupt();
    }
    unsigned argument = outer.getArgNumber();
    std::string identity = identify(op, argument, func);
    int64_t min = 0, max = -1;
    if (auto extent = dyn_cast<ExtentOp>(op)) {
      min = extent.getMin();
      max = extent.getMax();
    }
    if (isa<StrideOp>(op))
      max = INT32_MAX;
    for (auto [i, parameter] : llvm::enumerate(found))
      if (parameter.identity == identity) {
        parameter.min = std::max(parameter.min, min);
        asked.push_back({op, i});
        return WalkResult::advance();
      }
    if (auto count = dyn_cast<RowCountOp>(op)) {
      max = count.getMax();
      countsOneRowSpace &= !countedArgument || *countedArgument == argument;
      countedArgument = argument;
    }
    asked.push_back({op, found.size()});
    found.push_back({op, argument, identity, "", min, max});
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();
  for (Parameter &parameter : found)
    parameter.name = nameOf(parameter.source, parameter.argument);

  SmallVector<unsigned> order =
      llvm::to_vector(llvm::seq<unsigned>(0, found.size()));
  auto getPlace = [&](unsigned i) {
    Operation *source = found[i].source;
    int kind = isa<BufferOp>(source) ? 0 : isa<WorkspaceOp>(source) ? 2 : 1;
    return std::make_tuple(kind, found[i].argument, getFieldIndex(source));
  };
  llvm::stable_sort(
      order, [&](unsigned a, unsigned b) { return getPlace(a) < getPlace(b); });
  SmallVector<unsigned> position(found.size());
  for (auto [place, index] : llvm::enumerate(order)) {
    position[index] = place;
    parameters.push_back(found[index]);
  }
  for (auto [op, index] : asked)
    parameterOf[op] = position[index];
  return success();
}

/// "tokens = ?, topk = 512": every named dim of the function, once.
static std::string describeDims(func::FuncOp func) {
  llvm::MapVector<StringRef, std::string> dims;
  for (unsigned i = 0; i < func.getNumArguments(); ++i)
    if (auto tensor = dyn_cast<RankedTensorType>(func.getArgumentTypes()[i]))
      for (int64_t axis = 0; axis < tensor.getRank(); ++axis)
        if (StringRef name = getDimName(func, i, axis); !name.empty()) {
          std::string text = tensor.isDynamicDim(axis)
                                 ? "?"
                                 : std::to_string(tensor.getDimSize(axis));
          int64_t bound = getDimBound(func, i, axis);
          if (tensor.isDynamicDim(axis) && bound != INT32_MAX)
            text = "<= " + std::to_string(bound);
          int64_t multiple = getDimMultiple(func, i, axis);
          if (tensor.isDynamicDim(axis) && multiple > 1)
            text += " (a multiple of " + std::to_string(multiple) + ")";
          dims.insert({name, text});
        }
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::interleaveComma(dims, os, [&](const auto &dim) {
    os << dim.first << (StringRef(dim.second).starts_with("<=") ? " " : " = ")
       << dim.second;
  });
  return text.empty() ? "no named dims" : text;
}

ArrayAttr Outliner::buildHeader() {
  Builder b(func.getContext());
  if (auto parts = kernel->getAttrOfType<ArrayAttr>(DSV4Dialect::kPartsAttr))
    return buildHeaderOfParts(parts);
  std::string line =
      (arch + ": " +
       kernel.getScheduleAttr().describe(cuda::getSharedBytes(kernel)))
          .str();
  auto summary = kernel->getAttrOfType<StringAttr>(DSV4Dialect::kSummaryAttr);
  return b.getArrayAttr(
      {summary ? summary : b.getStringAttr(kernel.getSymName()),
       b.getStringAttr(describeDims(func)), b.getStringAttr(line)});
}

/// Two lines per part, and one for the dims.
ArrayAttr Outliner::buildHeaderOfParts(ArrayAttr parts) {
  SmallVector<std::string> lines;
  for (auto [i, part] : llvm::enumerate(parts.getAsRange<DictionaryAttr>())) {
    lines.push_back(llvm::formatv("part {0} of {1}: {2}", i + 1, parts.size(),
                                  part.getAs<StringAttr>("summary").strref()));
    lines.push_back(llvm::formatv(
        "  {0}: {1}", arch, part.getAs<ScheduleAttr>("schedule").describe()));
  }
  lines.push_back(describeDims(func));
  return Builder(func.getContext())
      .getStrArrayAttr(SmallVector<StringRef>(lines.begin(), lines.end()));
}

/// The schedule that is kept for people: that of each part, if there are some.
static Attribute getKeptSchedule(KernelOp kernel) {
  auto parts = kernel->getAttrOfType<ArrayAttr>(DSV4Dialect::kPartsAttr);
  if (!parts)
    return kernel.getScheduleAttr();
  return ArrayAttr::get(kernel.getContext(),
                        llvm::map_to_vector(parts.getAsRange<DictionaryAttr>(),
                                            [](DictionaryAttr part) {
                                              return part.get("schedule");
                                            }));
}

gpu::GPUFuncOp Outliner::buildFunction() {
  MLIRContext *context = func.getContext();
  OpBuilder b(context);
  Location loc = kernel.getLoc();
  b.setInsertionPoint(func);
  std::string name =
      uniqueIdentifier(kernel.getSymName(), [&](StringRef candidate) {
        return !kernelNames.insert(candidate).second;
      });
  auto module = gpu::GPUModuleOp::create(b, loc, name + "_module");
  // Another name, if a function or module of this one has it.
  moduleSymbols.insert(module, b.getInsertionPoint());
  module->setAttr(cuda::CUDADialect::kTargetAttr,
                  cuda::TargetAttr::get(context, arch));

  SmallVector<Type> types;
  for (const Parameter &parameter : parameters)
    types.push_back(parameter.max >= 0
                        ? b.getI32Type()
                        : parameter.source->getResult(0).getType());
  b.setInsertionPointToStart(module.getBody());
  auto callee =
      gpu::GPUFuncOp::create(b, loc, name, b.getFunctionType(types, {}));
  callee->setAttr(gpu::GPUDialect::getKernelFuncAttrName(), b.getUnitAttr());
  ScheduleAttr schedule = kernel.getScheduleAttr();
  callee.setKnownBlockSizeAttr(b.getDenseI32ArrayAttr(
      {static_cast<int32_t>(schedule.getThreads()), 1, 1}));
  callee->setAttr(cuda::CUDADialect::kHeaderAttr, buildHeader());
  callee->setAttr(DSV4Dialect::kScheduleAttr, getKeptSchedule(kernel));
  if (schedule.getMinBlocks())
    callee->setAttr(cuda::CUDADialect::kMinBlocksAttr,
                    b.getI64IntegerAttr(schedule.getMinBlocks()));
  if (schedule.getCluster() > 1)
    callee->setAttr(cuda::CUDADialect::kClusterAttr,
                    b.getI64IntegerAttr(schedule.getCluster()));

  Block &entry = callee.getBody().front();
  for (auto [i, parameter] : llvm::enumerate(parameters)) {
    entry.getArgument(i).setLoc(
        NameLoc::get(b.getStringAttr(parameter.name), loc));
    if (parameter.max >= 0)
      callee.setArgAttr(i, cuda::CUDADialect::kRangeAttr,
                        b.getDenseI64ArrayAttr({parameter.min, parameter.max}));
  }
  // Extents fit 32 bits: the runtime refuses others.
  b.setInsertionPointToStart(&entry);
  SmallVector<Value> values;
  for (BlockArgument arg : entry.getArguments())
    values.push_back(
        arg.getType().isInteger(32)
            ? arith::IndexCastOp::create(b, loc, b.getIndexType(), arg)
                  .getResult()
            : arg);
  Block &body = kernel.getBody().front();
  body.getTerminator()->erase();
  for (Operation &op : llvm::make_early_inc_range(body)) {
    if (isParameter(&op)) {
      op.getResult(0).replaceAllUsesWith(values[parameterOf.lookup(&op)]);
      continue;
    }
    op.moveBefore(&entry, entry.end());
  }
  b.setInsertionPointToEnd(&entry);
  gpu::ReturnOp::create(b, loc);
  return callee;
}

LogicalResult Outliner::buildLaunch(gpu::GPUFuncOp callee,
                                    const PlannedGrid &grid,
                                    const rt::PlanNames &names) {
  RowsOf rowsOf = getRowsOf(kernel);
  Value rowsTensor = kernel.getInputs()[rowsOf.operand];
  SmallVector<PlannedParameter> planned;
  for (auto [parameter, value] :
       llvm::zip_equal(parameters, callee.getArguments()))
    planned.push_back({parameter.source, parameter.argument, value});
  auto plan = planLaunch(func, kernel.getScheduleAttr(), arch, rowsTensor,
                         rowsOf.axes, grid, planned, names);
  if (!plan) {
    explainNoArgument(kernel, rowsTensor, kernel);
    return failure();
  }
  plan->sharedBytes = cuda::getSharedBytes(callee);
  OpBuilder b(kernel);
  auto module = callee->getParentOfType<gpu::GPUModuleOp>();
  auto symbol = SymbolRefAttr::get(
      module.getNameAttr(), {FlatSymbolRefAttr::get(callee.getOperation())});
  LaunchOp::create(b, kernel.getLoc(), symbol, *plan, names);
  return success();
}

LogicalResult Outliner::run() {
  const rt::PlanNames names = getPlanNames(func);
  // What only the grid asks for is no parameter.
  FailureOr<PlannedGrid> grid = planGrid(func, kernel, names);
  if (failed(grid) || failed(collect()))
    return failure();
  gpu::GPUFuncOp callee = buildFunction();
  if (failed(buildLaunch(callee, *grid, names)))
    return failure();
  kernel.erase();
  return success();
}

/// A lowered function launches kernels and returns their destinations: nothing
/// else in it would ever be executed.
static LogicalResult checkHost(func::FuncOp func) {
  if (func.isExternal() || func.getOps<LaunchOp>().empty())
    return success();
  // What only a fused intermediate or a slice needed: its destination, and the
  // extents.
  for (Operation &op :
       llvm::make_early_inc_range(llvm::reverse(func.getBody().front())))
    if (isa<tensor::EmptyOp, tensor::DimOp, arith::ConstantOp,
            arith::IndexCastOp, arith::CeilDivUIOp, arith::AddIOp,
            arith::MulIOp>(op) &&
        isOpTriviallyDead(&op))
      op.erase();
  for (Operation &op : func.getBody().front())
    if (!isa<LaunchOp, func::ReturnOp>(op))
      return op.emitOpError()
             << "is not part of a kernel and cannot be launched";
  for (Value value : func.getBody().front().getTerminator()->getOperands())
    if (!isa<BlockArgument>(value))
      return func.emitError() << "returns a value that is not a destination";
  return success();
}

namespace {
struct OutlineKernels : dsv4::impl::OutlineKernelsBase<OutlineKernels> {
  using OutlineKernelsBase::OutlineKernelsBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto emitError = [&] { return module.emitError(); };
    if (!cuda::TargetAttr::getChecked(emitError, &getContext(),
                                      StringRef(arch)))
      return signalPassFailure();
    SymbolTable symbols(module);
    llvm::StringSet<> kernelNames;
    module.walk(
        [&](gpu::GPUFuncOp func) { kernelNames.insert(func.getName()); });
    for (func::FuncOp func : llvm::to_vector(module.getOps<func::FuncOp>()))
      for (KernelOp kernel : llvm::to_vector(func.getOps<KernelOp>())) {
        if (!kernel.getScheduleAttr()) {
          kernel.emitOpError() << "has no schedule; run dsv4-select-schedule";
          return signalPassFailure();
        }
        if (!kernel->hasAttr(DSV4Dialect::kRowsOfAttr)) {
          kernel.emitOpError() << "is not lowered; run convert-dsv4-to-row";
          return signalPassFailure();
        }
        if (std::string why = explainArch(kernel.getScheduleAttr(), arch,
                                          cuda::getSharedBytes(kernel));
            !why.empty()) {
          kernel.emitOpError() << why;
          return signalPassFailure();
        }
        if (failed(Outliner(func, kernel, arch, symbols, kernelNames).run()))
          return signalPassFailure();
      }
    for (func::FuncOp func : module.getOps<func::FuncOp>())
      if (failed(checkHost(func)))
        return signalPassFailure();
    module->setAttr(gpu::GPUDialect::getContainerModuleAttrName(),
                    UnitAttr::get(&getContext()));
  }
};
} // namespace
