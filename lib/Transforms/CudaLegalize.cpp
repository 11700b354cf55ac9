//===- CudaLegalize.cpp - Rewrite or reject what CUDA C++ cannot say ------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsv4/Passes.h"

#include "mlir/Analysis/DataFlow/ConstantPropagationAnalysis.h"
#include "mlir/Analysis/DataFlow/DeadCodeAnalysis.h"
#include "mlir/Analysis/DataFlow/IntegerRangeAnalysis.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace dsv4;

namespace dsv4 {
#define GEN_PASS_DEF_CUDALEGALIZE
#include "dsv4/Passes.h.inc"
} // namespace dsv4

namespace {

/// Integer ranges that start from the declared bounds of kernel parameters.
class ParameterRangeAnalysis : public dataflow::IntegerRangeAnalysis {
public:
  using IntegerRangeAnalysis::IntegerRangeAnalysis;

  void setToEntryState(dataflow::IntegerValueRangeLattice *lattice) override {
    if (auto arg = dyn_cast<BlockArgument>(lattice->getAnchor()))
      if (auto func = dyn_cast<gpu::GPUFuncOp>(arg.getOwner()->getParentOp()))
        if (auto range = func.getArgAttrOfType<DenseI64ArrayAttr>(
                arg.getArgNumber(), cuda::CUDADialect::kRangeAttr)) {
          unsigned width = ConstantIntRanges::getStorageBitwidth(arg.getType());
          auto bounds = ConstantIntRanges::fromSigned(
              APInt(width, range[0], true), APInt(width, range[1], true));
          propagateIfChanged(lattice, lattice->join(IntegerValueRange(bounds)));
          return;
        }
    IntegerRangeAnalysis::setToEntryState(lattice);
  }

  /// The base class visits the arguments of a region once, which may be before
  /// it knows the operands, such as results of an scf.if.
  void visitNonControlFlowArguments(
      Operation *op, const RegionSuccessor &successor,
      ArrayRef<dataflow::IntegerValueRangeLattice *> lattices,
      unsigned firstIndex) override {
    if (Region *region = successor.getSuccessor())
      for (Value operand : op->getOperands())
        (void)getLatticeElementFor(getProgramPointBefore(&region->front()),
                                   operand);
    IntegerRangeAnalysis::visitNonControlFlowArguments(op, successor, lattices,
                                                       firstIndex);
  }
};

/// Gives index values a width and memory accesses a pointer and an offset.
class Legalizer {
public:
  Legalizer(gpu::GPUFuncOp func, DataFlowSolver &solver)
      : func(func), solver(solver), b(func) {}

  LogicalResult run();

private:
  /// 32 if every value fits a signed 32-bit integer, else 64; 64 for what is in
  /// `wide`.
  unsigned widthOf(Value value);
  bool isNotNegative(Value value);
  /// Whether the division `op` may be, and should be, unsigned.
  bool isUnsignedDivision(Operation *op);
  /// The integer that stands for `value`, of `width` bits. An index of unknown
  /// origin is an error, which run() returns, and gives 0.
  Value as(Value value, unsigned width);
  Type integer(unsigned width) { return b.getIntegerType(width); }

  LogicalResult visit(Operation *op);
  LogicalResult visitArith(Operation *op);
  void visitCompare(arith::CmpIOp op);
  void visitCast(Operation *op);
  void visitId(Operation *op);
  void visitConstant(cuda::ConstantOp op);
  LogicalResult visitMemory(Operation *op);
  void visitLoop(scf::ForOp loop);
  void visitCall(Operation *op);
  void visitArguments(Region &region);
  /// The integer of an offset of a memory access by `op`.
  Value getOffset(Operation *op, Value index);

  gpu::GPUFuncOp func;
  DataFlowSolver &solver;
  OpBuilder b;
  llvm::DenseMap<Value, Value> integers;
  /// Named numbers, which the kernel begins with.
  llvm::DenseMap<std::pair<Attribute, Attribute>, Value> constants;
  Operation *lastConstant = nullptr;
  /// What depends on an index of OffsetSum::WideIndex.
  llvm::DenseSet<Value> wide;
  SmallVector<Operation *> dead;
  /// Arguments of regions that were replaced by integers.
  SmallVector<BlockArgument> deadArguments;
  /// Whether the kernel waits for the previous kernel.
  bool waits = false;
  bool hasUnknownIndex = false;
};

} // namespace

static const ConstantIntRanges *lookupRange(DataFlowSolver &solver,
                                            Value value) {
  auto *lattice = solver.lookupState<dataflow::IntegerValueRangeLattice>(value);
  if (!lattice || lattice->getValue().isUninitialized())
    return nullptr;
  return &lattice->getValue().getValue();
}

/// Whether an op is of the way out: of cuda, or a call of another dialect.
static bool isOfCUDA(Operation *op) {
  return isa_and_present<cuda::CUDADialect>(op->getDialect()) ||
         isa<cuda::DeviceCallOpInterface>(op);
}

unsigned Legalizer::widthOf(Value value) {
  if (wide.contains(value))
    return 64;
  const ConstantIntRanges *range = lookupRange(solver, value);
  if (range && range->smin().isSignedIntN(32) && range->smax().isSignedIntN(32))
    return 32;
  return 64;
}

bool Legalizer::isNotNegative(Value value) {
  const ConstantIntRanges *range = lookupRange(solver, value);
  return range && range->smin().isNonNegative();
}

Value Legalizer::as(Value value, unsigned width) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return arith::ConstantIntOp::create(b, value.getLoc(),
                                        constant.getSExtValue(), width);
  // Emission form has integers already.
  Value found = value.getType().isIndex() ? integers.lookup(value) : value;
  if (!found) {
    emitError(value.getLoc()) << "has no CUDA spelling: an index that no op of "
                                 "the kernel computes";
    hasUnknownIndex = true;
    return arith::ConstantIntOp::create(b, value.getLoc(), 0, width);
  }
  unsigned have = found.getType().getIntOrFloatBitWidth();
  if (have < width)
    return arith::ExtSIOp::create(b, b.getUnknownLoc(), integer(width), found);
  if (have > width)
    return arith::TruncIOp::create(b, b.getUnknownLoc(), integer(width), found);
  return found;
}

bool Legalizer::isUnsignedDivision(Operation *op) {
  // One instruction multiplies two signed factors to 64 bits. It takes three
  // more if the compiler knows of one that it is unsigned.
  auto isWideProduct = [&](Operation *user) {
    return isa<arith::MulIOp>(user) && widthOf(user->getResult(0)) == 64 &&
           llvm::none_of(user->getOperands(), [](Value factor) {
             return matchPattern(factor, m_Constant());
           });
  };
  return llvm::all_of(op->getOperands(),
                      [&](Value v) { return isNotNegative(v); }) &&
         llvm::none_of(op->getResult(0).getUsers(), isWideProduct);
}

LogicalResult Legalizer::visitArith(Operation *op) {
  Value result = op->getResult(0);
  unsigned width = widthOf(result), compute = width;
  StringRef name = op->getName().getStringRef();
  if (isa<arith::DivUIOp, arith::RemUIOp, arith::DivSIOp, arith::RemSIOp>(op)) {
    if (isa<arith::DivUIOp, arith::RemUIOp>(op) &&
        !llvm::all_of(op->getOperands(),
                      [&](Value v) { return isNotNegative(v); }))
      return op->emitOpError() << "has no spelling: an operand may be negative";
    bool isDivision = isa<arith::DivUIOp, arith::DivSIOp>(op);
    if (isUnsignedDivision(op))
      name = isDivision ? "arith.divui" : "arith.remui";
    else
      name = isDivision ? "arith.divsi" : "arith.remsi";
  }
  bool isSelect = isa<arith::SelectOp>(op);
  // A result may be narrow where its operands are not.
  for (Value operand : op->getOperands())
    if (operand.getType().isIndex())
      compute = std::max(compute, widthOf(operand));
  SmallVector<Value> operands;
  for (auto [i, operand] : llvm::enumerate(op->getOperands()))
    operands.push_back(isSelect && i == 0 ? operand : as(operand, compute));
  Operation *integerOp =
      b.create(op->getLoc(), b.getStringAttr(name), operands, integer(compute));
  Value value = integerOp->getResult(0);
  if (compute != width)
    value = arith::TruncIOp::create(b, op->getLoc(), integer(width), value);
  integers[result] = value;
  dead.push_back(op);
  return success();
}

void Legalizer::visitCompare(arith::CmpIOp op) {
  unsigned width = std::max(widthOf(op.getLhs()), widthOf(op.getRhs()));
  Value value =
      arith::CmpIOp::create(b, op.getLoc(), op.getPredicate(),
                            as(op.getLhs(), width), as(op.getRhs(), width));
  op.getResult().replaceAllUsesWith(value);
  dead.push_back(op);
}

void Legalizer::visitCast(Operation *op) {
  Value from = op->getOperand(0), to = op->getResult(0);
  if (to.getType().isIndex()) {
    integers[to] = from;
  } else {
    Value value = as(from, to.getType().getIntOrFloatBitWidth());
    to.replaceAllUsesWith(value);
  }
  dead.push_back(op);
}

void Legalizer::visitId(Operation *op) {
  // The builtin itself stays; a cast stands for its value as an integer.
  integers[op->getResult(0)] = arith::IndexCastOp::create(
      b, op->getLoc(), integer(widthOf(op->getResult(0))), op->getResult(0));
}

void Legalizer::visitConstant(cuda::ConstantOp op) {
  Value &constant = constants[{op.getNameAttr(), op.getValueAttr()}];
  if (!constant) {
    OpBuilder::InsertionGuard guard(b);
    if (lastConstant)
      b.setInsertionPointAfter(lastConstant);
    else
      b.setInsertionPointToStart(&func.getBody().front());
    auto value = static_cast<int64_t>(op.getValue());
    lastConstant = cuda::ConstantOp::create(
        b, op.getLoc(), integer(value == static_cast<int32_t>(value) ? 32 : 64),
        op.getNameAttr(), op.getValueAttr());
    constant = lastConstant->getResult(0);
  }
  integers[op.getResult()] = constant;
  dead.push_back(op);
}

Value Legalizer::getOffset(Operation *op, Value index) {
  auto owner = dyn_cast<cuda::IndexWidthOpInterface>(op->getParentOp());
  auto sum = index.getDefiningOp<arith::AddIOp>();
  if (!sum || !owner ||
      owner.getOffsetSum(*op->getParentRegion()) != cuda::OffsetSum::Wide)
    return as(index, widthOf(index));
  return arith::AddIOp::create(b, sum.getLoc(), as(sum.getLhs(), 64),
                               as(sum.getRhs(), 64));
}

void Legalizer::visitLoop(scf::ForOp loop) {
  unsigned width =
      std::max(widthOf(loop.getInductionVar()), widthOf(loop.getUpperBound()));
  for (OpOperand &bound : loop->getOpOperands().take_front(3))
    bound.set(as(bound.get(), width));
  Block *body = loop.getBody();
  auto index = cast<BlockArgument>(loop.getInductionVar());
  integers[index] = body->insertArgument(index.getArgNumber(), integer(width),
                                         index.getLoc());
  deadArguments.push_back(index);
}

LogicalResult Legalizer::visitMemory(Operation *op) {
  auto memory = llvm::find_if(op->getOperandTypes(), llvm::IsaPred<MemRefType>);
  if (cast<MemRefType>(*memory).getRank() != 1)
    return op->emitOpError() << "accesses memory of type " << *memory
                             << ": expected a memref of rank 1";
  auto offset = [&](Value index) { return as(index, widthOf(index)); };
  if (auto load = dyn_cast<memref::LoadOp>(op)) {
    auto value =
        cuda::LoadOp::create(b, op->getLoc(), load.getType(), load.getMemref(),
                             offset(load.getIndices()[0]), Value(), Value());
    value.setOrdered(waits);
    load.getResult().replaceAllUsesWith(value);
  } else {
    auto store = cast<memref::StoreOp>(op);
    cuda::StoreOp::create(b, op->getLoc(), store.getValueToStore(),
                          store.getMemref(), offset(store.getIndices()[0]),
                          Value());
  }
  dead.push_back(op);
  return success();
}

void Legalizer::visitArguments(Region &region) {
  Block &block = region.front();
  SmallVector<BlockArgument> indices;
  for (BlockArgument argument : block.getArguments())
    if (argument.getType().isIndex())
      indices.push_back(argument);
  auto owner = dyn_cast<cuda::IndexWidthOpInterface>(region.getParentOp());
  if (owner && !indices.empty() &&
      owner.getOffsetSum(region) == cuda::OffsetSum::WideIndex)
    wide.insert(indices.front());
  for (BlockArgument index : indices) {
    integers[index] = block.insertArgument(
        index.getArgNumber(), integer(widthOf(index)), index.getLoc());
    deadArguments.push_back(index);
  }
}

void Legalizer::visitCall(Operation *op) {
  auto widths = dyn_cast<cuda::IndexWidthOpInterface>(op);
  for (OpOperand &operand : op->getOpOperands()) {
    Value index = operand.get();
    if (index.getType().isIndex())
      operand.set(widths && widths.isInt32(operand) ? as(index, 32)
                                                    : getOffset(op, index));
  }
  for (Region &region : op->getRegions())
    if (!region.empty())
      visitArguments(region);
}

LogicalResult Legalizer::visit(Operation *op) {
  auto isIndex = [](Type type) { return type.isIndex(); };
  b.setInsertionPoint(op);
  if (llvm::any_of(op->getOperands(),
                   [&](Value operand) { return wide.contains(operand); }))
    wide.insert_range(op->getResults());
  if (auto constant = dyn_cast<cuda::ConstantOp>(op);
      constant && isIndex(constant.getType())) {
    visitConstant(constant);
    return success();
  }
  if (auto bounded = dyn_cast<cuda::BoundedOp>(op)) {
    integers[bounded.getResult()] =
        as(bounded.getValue(), widthOf(bounded.getResult()));
    dead.push_back(op);
    return success();
  }
  if (isOfCUDA(op)) {
    visitCall(op);
    return success();
  }
  if (isa<memref::LoadOp, memref::StoreOp>(op))
    return visitMemory(op);
  if (auto loop = dyn_cast<scf::ForOp>(op);
      loop && isIndex(loop.getInductionVar().getType())) {
    visitLoop(loop);
    return success();
  }
  if (llvm::none_of(op->getOperandTypes(), isIndex) &&
      llvm::none_of(op->getResultTypes(), isIndex))
    return success();
  if (matchPattern(op, m_Constant())) {
    dead.push_back(op);
    return success();
  }
  if (isa<gpu::ThreadIdOp, gpu::BlockIdOp, gpu::GridDimOp>(op)) {
    b.setInsertionPointAfter(op);
    visitId(op);
    return success();
  }
  if (isa<arith::IndexCastUIOp>(op) && !isNotNegative(op->getOperand(0)))
    return op->emitOpError() << "has no spelling: the operand may be negative";
  if (isa<arith::IndexCastOp, arith::IndexCastUIOp>(op)) {
    visitCast(op);
    return success();
  }
  if (auto compare = dyn_cast<arith::CmpIOp>(op)) {
    visitCompare(compare);
    return success();
  }
  if (isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::DivSIOp,
          arith::DivUIOp, arith::RemSIOp, arith::RemUIOp, arith::MinSIOp,
          arith::MaxSIOp, arith::SelectOp>(op))
    return visitArith(op);
  return op->emitOpError() << "has no CUDA spelling on index values";
}

LogicalResult Legalizer::run() {
  SmallVector<Operation *> ops;
  func.getBody().walk<WalkOrder::PreOrder>(
      [&](Operation *op) { ops.push_back(op); });
  waits = llvm::any_of(ops, [](Operation *op) {
    auto call = dyn_cast<cuda::DeviceCallOpInterface>(op);
    return call && call.waitsForPreviousKernel();
  });
  for (Operation *op : ops)
    if (failed(visit(op)))
      return failure();
  if (hasUnknownIndex)
    return failure();
  for (Operation *op : llvm::reverse(dead))
    op->erase();
  for (BlockArgument argument : deadArguments)
    argument.getOwner()->eraseArgument(argument.getArgNumber());
  return success();
}

/// Whether the printer has a spelling for ops of this kind. All ops of cuda
/// have one, and all device calls.
static bool hasSpelling(Operation *op) {
  return isOfCUDA(op) ||
         isa<arith::AddFOp, arith::AddIOp, arith::AndIOp, arith::CmpIOp,
             arith::ConstantOp, arith::DivFOp, arith::DivSIOp, arith::DivUIOp,
             arith::ExtFOp, arith::ExtSIOp, arith::ExtUIOp, arith::IndexCastOp,
             arith::MaximumFOp, arith::MaxNumFOp, arith::MaxSIOp,
             arith::MinNumFOp, arith::MinSIOp, arith::MulFOp, arith::MulIOp,
             arith::OrIOp, arith::RemSIOp, arith::RemUIOp, arith::SelectOp,
             arith::SIToFPOp, arith::SubFOp, arith::SubIOp, arith::TruncFOp,
             arith::TruncIOp, arith::XOrIOp>(op) ||
         isa<gpu::BlockIdOp, gpu::GridDimOp, gpu::ReturnOp, gpu::ThreadIdOp,
             math::SqrtOp, scf::ForOp, scf::IfOp, scf::YieldOp,
             vector::ExtractOp, vector::ExtractStridedSliceOp,
             vector::InterleaveOp>(op);
}

/// The types that integer arithmetic has in C++: others are stored only.
static bool isNumber(Type type) {
  return type.isInteger(32) || type.isInteger(64);
}

/// Whether C++ computes what `op`, one of arith on integers, says of its types.
static bool hasIntegers(Operation *op) {
  Type type = op->getOperand(0).getType(), to = op->getResult(0).getType();
  bool isTile = isa<VectorType>(type);
  Type from = getElementTypeOrSelf(type), element = getElementTypeOrSelf(to);
  if (isa<arith::ExtSIOp>(op))
    return isTile ? (from.isInteger(16) && isNumber(element)) ||
                        (from.isInteger(32) && element.isInteger(64))
                  : type.isInteger(8) || isNumber(type);
  if (isa<arith::ExtUIOp>(op))
    return type.isInteger(1) || type.isInteger(8);
  if (isa<arith::TruncIOp>(op))
    return isTile ? from.isInteger(32) && element.isInteger(16)
                  : isNumber(type) && (to.isInteger(8) || to.isInteger(16) ||
                                       to.isInteger(32));
  if (isa<arith::MinSIOp, arith::MaxSIOp>(op))
    return isNumber(type) || (isTile && from.isInteger(32));
  if (auto compare = dyn_cast<arith::CmpIOp>(op);
      compare && (type.isInteger(1) || type.isInteger(8)))
    return compare.getPredicate() == arith::CmpIPredicate::eq ||
           compare.getPredicate() == arith::CmpIPredicate::ne;
  if (isa<arith::AndIOp, arith::OrIOp, arith::XOrIOp>(op))
    return isNumber(type) || type.isInteger(1) || type.isInteger(8);
  return isNumber(type);
}

/// The same of floats: numbers of f32, and conversions from and to others.
static bool hasFloats(Operation *op) {
  Type type = op->getOperand(0).getType(), to = op->getResult(0).getType();
  bool isTile = isa<VectorType>(type);
  Type from = getElementTypeOrSelf(type), element = getElementTypeOrSelf(to);
  if (isa<arith::SIToFPOp>(op))
    return isTile && from.isInteger(4) && element.isF32();
  if (isa<arith::TruncFOp>(op))
    return from.isF32() && (element.isBF16() || element.isF16());
  if (isa<arith::ExtFOp>(op))
    return isTile || !isa<Float4E2M1FNType>(from);
  if (isa<arith::MaximumFOp, math::SqrtOp, vector::InterleaveOp>(op) && !isTile)
    return false;
  return from.isF32();
}

/// Whether an op with a spelling has one for its types.
static bool hasSpelledTypes(Operation *op) {
  if (isa<arith::SelectOp>(op))
    return op->getOperand(0).getType().isInteger(1);
  if (isa<arith::AddIOp, arith::AndIOp, arith::CmpIOp, arith::DivSIOp,
          arith::DivUIOp, arith::ExtSIOp, arith::ExtUIOp, arith::MaxSIOp,
          arith::MinSIOp, arith::MulIOp, arith::OrIOp, arith::RemSIOp,
          arith::RemUIOp, arith::SubIOp, arith::TruncIOp, arith::XOrIOp>(op))
    return hasIntegers(op);
  if (isa<arith::AddFOp, arith::DivFOp, arith::ExtFOp, arith::MaximumFOp,
          arith::MaxNumFOp, arith::MinNumFOp, arith::MulFOp, arith::SIToFPOp,
          arith::SubFOp, arith::TruncFOp, math::SqrtOp, vector::InterleaveOp>(
          op))
    return hasFloats(op);
  return true;
}

static LogicalResult verifySpelling(Operation *op) {
  if (!hasSpelling(op))
    return op->emitOpError() << "has no CUDA spelling";
  if (hasSpelledTypes(op))
    return success();
  InFlightDiagnostic error = op->emitOpError();
  error << "has no CUDA spelling of " << op->getOperand(0).getType();
  if (op->getResult(0).getType() != op->getOperand(0).getType())
    error << " to " << op->getResult(0).getType();
  return error;
}

namespace {
struct CudaLegalize : dsv4::impl::CudaLegalizeBase<CudaLegalize> {
  void runOnOperation() override {
    for (gpu::GPUFuncOp func : getOperation().getOps<gpu::GPUFuncOp>()) {
      DataFlowSolver solver(DataFlowConfig().setInterprocedural(false));
      solver.load<dataflow::DeadCodeAnalysis>();
      solver.load<dataflow::SparseConstantPropagation>();
      solver.load<ParameterRangeAnalysis>();
      if (failed(solver.initializeAndRun(func)) ||
          failed(Legalizer(func, solver).run()))
        return signalPassFailure();
      WalkResult result =
          func.getBody().walk<WalkOrder::PreOrder>([](Operation *op) {
            return failed(verifySpelling(op)) ? WalkResult::interrupt()
                                              : WalkResult::advance();
          });
      if (result.wasInterrupted())
        return signalPassFailure();
    }
  }
};
} // namespace
