//===- CudaLegalize.cpp - Rewrite or reject what CUDA C++ cannot say -*- C++
//-*-===//
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
#include "llvm/ADT/StringSet.h"

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
};

/// Gives index values a width and memory accesses a pointer and an offset.
class Legalizer {
public:
  Legalizer(gpu::GPUFuncOp func, DataFlowSolver &solver)
      : func(func), solver(solver), b(func) {}

  LogicalResult run();

private:
  /// 32 if every value fits a signed 32-bit integer, else 64; 64 for what
  /// depends on the row of a piece.
  unsigned widthOf(Value value);
  bool isNotNegative(Value value);
  /// The integer that stands for `value`, of `width` bits. An index of unknown
  /// origin is an error, which run() returns, and gives 0.
  Value as(Value value, unsigned width);
  Type integer(unsigned width) { return b.getIntegerType(width); }

  LogicalResult visit(Operation *op);
  LogicalResult visitArith(Operation *op);
  void visitCompare(arith::CmpIOp op);
  void visitCast(Operation *op);
  void visitId(Operation *op);
  void visitMemory(Operation *op);
  Value offsetOfMember(Value index);

  gpu::GPUFuncOp func;
  DataFlowSolver &solver;
  OpBuilder b;
  llvm::DenseMap<Value, Value> integers;
  /// What depends on the row of a piece. Rows are counted by a loop: sums of 64
  /// bits leave what is constant in them to the instructions.
  llvm::DenseSet<Value> ofPieceRow;
  SmallVector<Operation *> dead;
  /// Whether the kernel waits for its predecessors.
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

unsigned Legalizer::widthOf(Value value) {
  if (ofPieceRow.contains(value))
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

LogicalResult Legalizer::visitArith(Operation *op) {
  Value result = op->getResult(0);
  unsigned width = widthOf(result), compute = width;
  StringRef name = op->getName().getStringRef();
  if (isa<arith::DivUIOp, arith::RemUIOp>(op)) {
    if (!llvm::all_of(op->getOperands(),
                      [&](Value v) { return isNotNegative(v); }))
      return op->emitOpError() << "has no spelling: an operand may be negative";
    name = isa<arith::DivUIOp>(op) ? "arith.divsi" : "arith.remsi";
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

/// Whether the access is one of many, for a member of a window each.
static bool isOfMember(cuda::LoadOp load) {
  return isa<cuda::PoolOp, cuda::PoolWindowOp>(load->getParentOp()) &&
         load->getParentRegion()->getNumArguments() == 2;
}

Value Legalizer::offsetOfMember(Value index) {
  auto sum = index.getDefiningOp<arith::AddIOp>();
  if (!sum)
    return as(index, widthOf(index));
  // Members are unrolled, so all but the lane is a constant: a sum of 64 bits
  // leaves it to the instruction, where a narrow one costs two others.
  return arith::AddIOp::create(b, sum.getLoc(), as(sum.getLhs(), 64),
                               as(sum.getRhs(), 64));
}

void Legalizer::visitMemory(Operation *op) {
  auto offset = [&](Value index) { return as(index, widthOf(index)); };
  // Of columns, or of chunks of them.
  auto count = [&](Value index) {
    return index.getType().isIndex() ? as(index, 32) : index;
  };
  if (auto load = dyn_cast<memref::LoadOp>(op)) {
    auto value =
        cuda::LoadOp::create(b, op->getLoc(), load.getType(), load.getMemref(),
                             offset(load.getIndices()[0]), Value(), Value());
    value.setOrdered(waits);
    load.getResult().replaceAllUsesWith(value);
    dead.push_back(op);
  } else if (auto store = dyn_cast<memref::StoreOp>(op)) {
    cuda::StoreOp::create(b, op->getLoc(), store.getValueToStore(),
                          store.getMemref(), offset(store.getIndices()[0]),
                          Value());
    dead.push_back(op);
  } else if (auto inPool = dyn_cast<cuda::InPoolOp>(op)) {
    inPool.getPageMutable().assign(offset(inPool.getPage()));
    inPool.getPagesMutable().assign(as(inPool.getPages(), 32));
  } else if (auto last = dyn_cast<cuda::IsLastOp>(op)) {
    // Both are int32: the runtime refuses other extents.
    last.getAtMutable().assign(as(last.getAt(), 32));
    last.getCountMutable().assign(as(last.getCount(), 32));
  } else if (auto part = dyn_cast<cuda::LoadPartOp>(op)) {
    // What is left of a row is int32 where its extent is.
    part.getOffsetMutable().assign(offset(part.getOffset()));
    part.getLeftMutable().assign(as(part.getLeft(), 32));
  } else if (auto gather = dyn_cast<cuda::GatherOp>(op)) {
    gather.getOffsetMutable().assign(offset(gather.getOffset()));
  } else if (auto prefetch = dyn_cast<cuda::PrefetchOp>(op)) {
    prefetch.getOffsetMutable().assign(offset(prefetch.getOffset()));
  } else if (auto load = dyn_cast<cuda::LoadOp>(op)) {
    if (load.getOffset().getType().isIndex())
      load.getOffsetMutable().assign(isOfMember(load)
                                         ? offsetOfMember(load.getOffset())
                                         : offset(load.getOffset()));
    if (load.getChunks())
      load.getChunksMutable().assign(count(load.getChunks()));
  } else if (auto store = dyn_cast<cuda::StoreOp>(op)) {
    if (store.getOffset().getType().isIndex())
      store.getOffsetMutable().assign(offset(store.getOffset()));
    if (store.getChunks())
      store.getChunksMutable().assign(count(store.getChunks()));
  } else if (auto keep = dyn_cast<cuda::KeepChunksOp>(op)) {
    keep.getChunksMutable().assign(count(keep.getChunks()));
  } else if (auto columns = dyn_cast<cuda::ColumnsOp>(op)) {
    columns.getColumnMutable().assign(count(columns.getColumn()));
  }
}

LogicalResult Legalizer::visit(Operation *op) {
  auto isIndex = [](Type type) { return type.isIndex(); };
  b.setInsertionPoint(op);
  if (auto piece = dyn_cast<cuda::PoolPieceOp>(op))
    ofPieceRow.insert(piece.getMember().getArgument(0));
  if (llvm::any_of(op->getOperands(),
                   [&](Value operand) { return ofPieceRow.contains(operand); }))
    ofPieceRow.insert_range(op->getResults());
  if (isa<cuda::PoolOp, cuda::PoolWindowOp, cuda::PoolOnlineOp,
          cuda::PoolPieceOp, cuda::SelectOp>(op)) {
    // The arguments stay; casts stand for their values as integers.
    for (OpOperand &operand : op->getOpOperands())
      if (isIndex(operand.get().getType()))
        operand.set(as(operand.get(), 32));
    for (Region &inner : op->getRegions())
      for (BlockArgument index : inner.getArguments()) {
        if (!isIndex(index.getType()))
          continue;
        b.setInsertionPointToStart(&inner.front());
        integers[index] = arith::IndexCastOp::create(
            b, index.getLoc(), integer(widthOf(index)), index);
      }
    return success();
  }
  if (isa<memref::LoadOp, memref::StoreOp, cuda::LoadOp, cuda::StoreOp,
          cuda::LoadPartOp, cuda::GatherOp, cuda::IsLastOp, cuda::InPoolOp,
          cuda::PrefetchOp, cuda::KeepChunksOp, cuda::ColumnsOp>(op)) {
    visitMemory(op);
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
  waits = llvm::any_of(ops, llvm::IsaPred<cuda::WaitForPredecessorsOp>);
  for (Operation *op : ops)
    if (failed(visit(op)))
      return failure();
  if (hasUnknownIndex)
    return failure();
  for (Operation *op : llvm::reverse(dead))
    op->erase();
  return success();
}

/// Every op the printer has a spelling for.
static bool hasSpelling(Operation *op) {
  static const llvm::StringSet<> names = {"arith.addf",
                                          "arith.addi",
                                          "arith.andi",
                                          "arith.cmpi",
                                          "arith.constant",
                                          "arith.divf",
                                          "arith.divsi",
                                          "arith.extf",
                                          "arith.extsi",
                                          "arith.extui",
                                          "arith.index_cast",
                                          "arith.maximumf",
                                          "arith.maxnumf",
                                          "arith.maxsi",
                                          "arith.minnumf",
                                          "arith.minsi",
                                          "arith.mulf",
                                          "arith.muli",
                                          "arith.ori",
                                          "arith.remsi",
                                          "arith.select",
                                          "arith.sitofp",
                                          "arith.subf",
                                          "arith.subi",
                                          "arith.truncf",
                                          "arith.trunci",
                                          "arith.xori",
                                          "cuda.activation",
                                          "cuda.alternate",
                                          "cuda.dequantize",
                                          "cuda.encode",
                                          "cuda.expand",
                                          "cuda.gather",
                                          "cuda.hadamard",
                                          "cuda.is_last",
                                          "cuda.join",
                                          "cuda.keep_chunks",
                                          "cuda.load",
                                          "cuda.load_part",
                                          "cuda.in_pool",
                                          "cuda.one_nan",
                                          "cuda.bytes",
                                          "cuda.columns",
                                          "cuda.pad",
                                          "cuda.place_sum",
                                          "cuda.pool",
                                          "cuda.pool_online",
                                          "cuda.pool_piece",
                                          "cuda.pool_row",
                                          "cuda.pool_window",
                                          "cuda.pool_yield",
                                          "cuda.prefetch",
                                          "cuda.quantize",
                                          "cuda.reduce",
                                          "cuda.select",
                                          "cuda.select_yield",
                                          "cuda.steps",
                                          "cuda.store",
                                          "cuda.swap_nibbles",
                                          "cuda.where_valid",
                                          "cuda.launch_successors",
                                          "cuda.wait_for_predecessors",
                                          "gpu.block_id",
                                          "gpu.grid_dim",
                                          "gpu.return",
                                          "gpu.thread_id",
                                          "math.sqrt",
                                          "scf.if",
                                          "scf.yield",
                                          "vector.extract",
                                          "vector.extract_strided_slice",
                                          "vector.interleave"};
  return names.contains(op->getName().getStringRef());
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
            if (hasSpelling(op))
              return WalkResult::advance();
            op->emitOpError() << "has no CUDA spelling";
            return WalkResult::interrupt();
          });
      if (result.wasInterrupted())
        return signalPassFailure();
    }
  }
};
} // namespace
