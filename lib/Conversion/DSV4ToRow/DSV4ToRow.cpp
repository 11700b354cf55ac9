//===- DSV4ToRow.cpp - Kernels to row programs ------------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// Every row-wise op of a kernel emits its row through RowLoweringInterface.
// This pass adds the loop over rows and the stores. Afterwards buffer, extent
// and row_count are the only dsv4 ops of the kernel.
//
//===----------------------------------------------------------------------===//

#include "ScaleLayout.h"

#include "dsv4/Conversion/RowContext.h"
#include "dsv4/Dialect/DSV4/BufferStrides.h"
#include "dsv4/Dialect/DSV4/IterationSpace.h"
#include "dsv4/Passes.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;
using namespace dsv4;

namespace dsv4 {
#define GEN_PASS_DEF_CONVERTDSV4TOROW
#include "dsv4/Passes.h.inc"
} // namespace dsv4

/// The argument of a kernel's body that result `index` is written to.
static BlockArgument getDestination(KernelOp kernel, unsigned index) {
  BlockArgument destination;
  for (BlockArgument candidate : kernel.getBody().getArguments())
    if (kernel.getInputs()[candidate.getArgNumber()] ==
        kernel.getTiedInput(index))
      destination = candidate;
  return destination;
}

/// A segment of a row as its destination has it: row programs compute indices
/// as i32.
static Value toStored(RowContext &row, Value segment, Type element) {
  auto type = cast<VectorType>(segment.getType());
  if (!type.getElementType().isInteger(32))
    return segment;
  VectorType stored = VectorType::get(type.getShape(), element);
  if (element.isInteger(64))
    return arith::ExtSIOp::create(row.getBuilder(), row.getLoc(), stored,
                                  segment);
  if (element.isInteger(16))
    return arith::TruncIOp::create(row.getBuilder(), row.getLoc(), stored,
                                   segment);
  return segment;
}

/// Stores one row of a result, whose values stand for `group` elements of the
/// row each, into its destination.
static void storeRow(RowContext &row, Value destination,
                     const RowValue &segments, int64_t group) {
  OpBuilder &b = row.getBuilder();
  Value buffer = row.getBuffer(destination);
  auto memref = cast<MemRefType>(buffer.getType());
  auto tensor = cast<RankedTensorType>(destination.getType());
  if (!isa<VectorType>(segments.front().getType())) {
    // Single numbers, one after another.
    Value start = row.getRowOffset(destination, "row_start");
    for (auto [i, value] : llvm::enumerate(segments)) {
      Value stored = value;
      if (value.getType().isInteger(1))
        stored = arith::ExtUIOp::create(b, row.getLoc(),
                                        memref.getElementType(), value);
      memref::StoreOp::create(b, row.getLoc(), stored, buffer,
                              ValueRange{row.add(start, row.constant(i))});
    }
    return;
  }
  if (group != 1) {
    // A tensor of scales per row has no axis for them.
    int64_t values =
        cast<VectorType>(segments.front().getType()).getNumElements();
    int64_t alignment =
        std::gcd<int64_t>(16, values * memref.getElementTypeBitWidth() / 8);
    if (tensor.getRank() > row.getSpaceRank())
      alignment = row.getRowAlignment(destination, alignment);
    row::WriteOp::create(b, row.getLoc(), segments.front(), buffer,
                         row.getRowOffset(destination, "scales_start"), group,
                         alignment);
    return;
  }
  // Nor has one of a scale for a row of one element.
  bool hasAxis = tensor.getRank() > row.getSpaceRank();
  int64_t bits = getElementBits(tensor.getElementType());
  int64_t cell = memref.getElementTypeBitWidth();
  int64_t extent = hasAxis ? tensor.getShape().back() : 1;
  Value start = row.getRowOffset(destination, "row_start");
  int64_t offset = 0, rowAlignment = std::gcd<int64_t>(16, extent * bits / 8);
  if (hasAxis)
    rowAlignment = row.getRowAlignment(destination, rowAlignment);
  for (Value segment : segments) {
    segment = toStored(row, segment, memref.getElementType());
    int64_t alignment = std::gcd(rowAlignment, offset * bits / 8);
    row::WriteOp::create(b, row.getLoc(), segment, buffer,
                         row.add(start, row.constant(offset * bits / cell)),
                         /*group=*/1, alignment);
    offset += cast<VectorType>(segment.getType()).getNumElements();
  }
}

/// Where the results of an op are stored, if not everywhere.
using StoreConditions = llvm::MapVector<Operation *, Value>;

/// Stores the rows of the results of a kernel.
static LogicalResult storeResults(RowContext &row, KernelOp kernel,
                                  const StoreConditions &conditions) {
  auto yield = cast<YieldOp>(kernel.getBody().front().getTerminator());
  OpBuilder &b = row.getBuilder();
  llvm::DenseMap<Operation *, scf::IfOp> guards;
  for (auto [i, value] : llvm::enumerate(yield.getValues())) {
    if (row.lookupRow(value).empty())
      continue;
    auto result = cast<OpResult>(value);
    auto producer = cast<RowLayoutOpInterface>(result.getOwner());
    OpBuilder::InsertionGuard saved(b);
    if (Value condition = conditions.lookup(producer)) {
      scf::IfOp &guard = guards[producer];
      if (!guard)
        guard = scf::IfOp::create(b, row.getLoc(), condition);
      b.setInsertionPoint(guard.thenBlock()->getTerminator());
    }
    unsigned number = result.getResultNumber();
    int64_t group = producer.getResultGroup(number);
    Value destination = getDestination(kernel, i);
    ScaleLayout layout = producer.getResultLayout(number);
    if (layout == ScaleLayout::RowMajor)
      storeRow(row, destination, row.lookupRow(value), group);
    else if (failed(storeScales(row, destination, row.lookupRow(value).front(),
                                group, layout)))
      return failure();
  }
  return success();
}

/// "dsv4.paged_gather of 64 x v4_584 to bf16", for every op of a kernel.
static std::string summarize(ArrayRef<RowwiseOpInterface> ops) {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::interleaveComma(ops, os, [&](RowwiseOpInterface op) {
    os << op->getName().getStringRef() << " of ";
    Type source = op->getOperand(0).getType();
    if (auto cache = dyn_cast<CacheType>(source)) {
      StringRef known = cache.getRecord().getKnownName();
      os << cache.getPage() << " x "
         << (known.empty() ? StringRef("record") : known);
    } else {
      os << getElementTypeOrSelf(source);
    }
    if (op->getNumResults())
      os << " to " << getElementTypeOrSelf(op->getResult(0));
  });
  return text;
}

/// Whether two iteration spaces can be one: of what another kernel computes
/// names are not known.
static bool mayAgree(ArrayRef<std::string> a, ArrayRef<std::string> b) {
  return a.size() == b.size() && llvm::all_of(llvm::zip(a, b), [](auto pair) {
           auto &[x, y] = pair;
           return x == y || x == "?" || y == "?";
         });
}

/// Whether the rows of `op` are those of a destination that nothing outside of
/// the kernel has: of what the kernel makes them for.
static bool hasRowsOfOthers(KernelOp kernel, RowwiseOpInterface op) {
  auto source = dyn_cast<BlockArgument>(getRowSource(op));
  return source && source == op.getRowOperand() &&
         !isa<BlockArgument>(kernel.getInputs()[source.getArgNumber()]);
}

/// Whether one of `ops` reads a destination of `op`.
static bool overwritesWhatIsRead(Operation *op,
                                 ArrayRef<RowwiseOpInterface> ops) {
  return llvm::any_of(ops, [&](Operation *reader) {
    return llvm::any_of(reader->getOpOperands(), [&](OpOperand &operand) {
      auto styled = dyn_cast<DestinationStyleOpInterface>(reader);
      return (!styled || !styled.isDpsInit(&operand)) &&
             llvm::is_contained(
                 cast<DestinationStyleOpInterface>(op).getDpsInits(),
                 operand.get());
    });
  });
}

/// Refuses what a kernel that computes parts of rows would leave out, or
/// compute from the wrong part.
static LogicalResult verifyParts(KernelOp kernel,
                                 ArrayRef<RowwiseOpInterface> ops) {
  Operation *selecting = getSelectingOp(kernel);
  for (RowwiseOpInterface op : ops) {
    if (isa<SelectionOpInterface>(*op) && op != selecting)
      return op->emitOpError() << "is the second op of its kernel that selects "
                                  "elements of rows: a kernel has one";
    bool isPart =
        selecting ? op != selecting && !isOfRanks(op) : isReadByIndex(op);
    Operation *source = op.getRowOperand().getDefiningOp();
    if (selecting && isPart && takesStatistics(op) && source)
      return op->emitOpError()
             << "needs statistics of whole rows, of which '"
             << source->getName()
             << "' computes only parts here: put that into a kernel of its own";
    bool isStored = isPart && isYielded(op);
    if (isStored && !(selecting && holdsRowsOf(selecting, op)))
      return op->emitOpError()
             << "computes only the parts of its rows that an op of the kernel "
                "consumes: do not yield them from the kernel";
    if (isStored && overwritesWhatIsRead(op, ops))
      return op->emitOpError()
             << "stores rows of which the kernel reads parts again: give it a "
                "destination that no op of the kernel reads";
    for (OpOperand &operand : op->getOpOperands()) {
      if (selecting || !readsByIndex(operand))
        continue;
      auto producer = operand.get().getDefiningOp<RowwiseOpInterface>();
      for (; producer;
           producer =
               producer.getRowOperand().getDefiningOp<RowwiseOpInterface>())
        if (!providesElements(producer))
          return op->emitOpError()
                 << "reads single elements of rows that '"
                 << producer->getName()
                 << "' computes as a whole: put that into a kernel of its own";
    }
  }
  return success();
}

/// Refuses to take rows from an op that may leave them as they are in memory.
static LogicalResult verifySkippedRows(ArrayRef<RowwiseOpInterface> ops) {
  for (RowwiseOpInterface op : ops)
    for (OpOperand &operand : op->getOpOperands())
      if (auto producer = operand.get().getDefiningOp<RowwiseOpInterface>();
          producer && producer.skipsRows())
        return op->emitOpError() << "takes rows of '" << producer->getName()
                                 << "', which leaves some of them as they are "
                                    "in memory: put that "
                                    "into a kernel of its own";
  return success();
}

/// Refuses kernels whose ops have different iteration spaces, or results
/// without a destination.
static LogicalResult verifyKernel(KernelOp kernel,
                                  ArrayRef<RowwiseOpInterface> ops) {
  Block &body = kernel.getBody().front();
  for (Operation &op : body.without_terminator())
    if (!isa<RowwiseOpInterface, RowLoweringInterface>(op) ||
        !isa<RowLoweringInterface>(op))
      return op.emitOpError()
             << "has no row lowering: implement RowLoweringInterface, or "
                "attach a model of it as the files in RowLowerings.h do";
  if (ops.empty())
    return kernel.emitOpError() << "holds no row-wise op";
  BlockArgument rowSource = getRowArgument(kernel);
  if (!rowSource)
    return kernel.emitOpError() << "does not get its rows from an operand";
  SmallVector<std::string> space = hasRowsOfNumbers(ops.front())
                                       ? describeIterationSpace(ops.front())
                                       : describeIterationSpace(rowSource);
  for (RowwiseOpInterface op : ops)
    if (!hasRowsOfOthers(kernel, op) &&
        !mayAgree(describeIterationSpace(op), space))
      return op->emitOpError() << "kernel_c4: has another iteration space than "
                                  "the first op of its kernel";
  if (llvm::count_if(ops, [](RowwiseOpInterface op) {
        return op.getCooperativeWork().rows != 0;
      }) > 1)
    return kernel.emitOpError()
           << "holds two block-cooperative ops, and a kernel can have only one";
  if (failed(verifyParts(kernel, ops)) || failed(verifySkippedRows(ops)))
    return failure();
  for (unsigned i = 0; i < body.getTerminator()->getNumOperands(); ++i)
    if (!kernel.getTiedInput(i))
      return kernel.emitOpError()
             << "result " << i << " has no destination among the operands";
  return success();
}

/// Refuses what needs the elements of a tensor to follow each other, where they
/// have a stride: element by element, lowerings ask for it.
static LogicalResult checkElementStrides(RowContext &row, KernelOp kernel) {
  for (auto buffer : kernel.getBody().front().getOps<BufferOp>()) {
    auto tensor = dyn_cast<RankedTensorType>(buffer.getSource().getType());
    if (!tensor ||
        !hasElementStride(tensor, row.getStrides(buffer.getSource())))
      continue;
    for (Operation *user : buffer.getMemory().getUsers())
      if (!isa<memref::LoadOp>(user))
        return user->emitError()
               << "'" << user->getName() << "' needs the elements of '"
               << row.getName(buffer.getSource())
               << "' to follow each other: remove the stride of its only axis "
                  "from 'dsv4.strides'";
  }
  return success();
}

/// Lowers one kernel in place.
static LogicalResult lowerKernel(KernelOp kernel) {
  Block &body = kernel.getBody().front();
  auto yield = cast<YieldOp>(body.getTerminator());
  SmallVector<RowwiseOpInterface> ops(body.getOps<RowwiseOpInterface>());
  if (failed(verifyKernel(kernel, ops)))
    return failure();

  Location loc = stripNames(ops.front().getLoc());
  OpBuilder outside(&body, Block::iterator(ops.front()));
  BlockArgument rowSource = getRowArgument(kernel);
  kernel->setAttr(DSV4Dialect::kSummaryAttr,
                  outside.getStringAttr(summarize(ops)));
  setRowsOf(kernel, {rowSource.getArgNumber(), getSpaceRank(kernel)});
  int64_t max = boundRows(kernel);
  Value count = hasRowsOfNumbers(ops.front())
                    ? outside.createOrFold<ExtentOp>(loc, rowSource, 0, 0, max)
                    : outside.createOrFold<RowCountOp>(loc, rowSource, max);
  auto forall = scf::ForallOp::create(
      outside, loc, ArrayRef<OpFoldResult>{count}, ValueRange{}, std::nullopt);
  outside.setInsertionPoint(forall);
  OpBuilder inside = OpBuilder::atBlockTerminator(forall.getBody());
  forall.getInductionVar(0).setLoc(named(loc, "row"));
  RowContext row(kernel, outside, inside, loc, forall.getInductionVar(0));

  StoreConditions conditions;
  for (RowwiseOpInterface op : ops) {
    row.setLoc(stripNames(op.getLoc()));
    auto lowering = cast<RowLoweringInterface>(op.getOperation());
    auto results = lowering.buildRow(row);
    if (failed(results))
      return op->emitOpError() << "cannot be lowered to a row program";
    for (auto [result, segments] : llvm::zip_equal(op->getResults(), *results))
      row.setRow(result, segments);
    if (Value condition = row.takeStoreCondition())
      conditions[op] = condition;
  }
  if (failed(storeResults(row, kernel, conditions)) ||
      failed(checkElementStrides(row, kernel)))
    return failure();

  // The kernel writes its destinations now; its results are those operands.
  for (auto [i, result] : llvm::enumerate(kernel.getOutputs()))
    result.replaceAllUsesWith(kernel.getTiedInput(i));
  yield.getValuesMutable().clear();
  for (RowwiseOpInterface op : llvm::reverse(ops))
    op->erase();
  OpBuilder builder(kernel);
  OperationState state(kernel.getLoc(), KernelOp::getOperationName());
  state.addOperands(kernel.getInputs());
  state.addAttributes(kernel->getAttrs());
  Region *region = state.addRegion();
  region->takeBody(kernel.getBody());
  builder.create(state);
  kernel.erase();
  return success();
}

namespace {
struct ConvertDSV4ToRow : dsv4::impl::ConvertDSV4ToRowBase<ConvertDSV4ToRow> {
  void runOnOperation() override {
    SmallVector<KernelOp> kernels(getOperation().getOps<KernelOp>());
    for (KernelOp kernel : kernels)
      if (failed(lowerKernel(kernel)))
        return signalPassFailure();
  }
};
} // namespace
