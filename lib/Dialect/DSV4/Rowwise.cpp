//===- Rowwise.cpp - What passes ask of row-wise ops ----------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsv4/Dialect/DSV4/IterationSpace.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace dsv4;

LogicalResult dsv4::verifyRowwise(Operation *op) {
  if (isa<RowLayoutOpInterface>(op) && isa<FusionOpInterface>(op))
    return success();
  return op->emitOpError()
         << "has RowwiseOpInterface: expected RowLayoutOpInterface and "
            "FusionOpInterface, too";
}

//===----------------------------------------------------------------------===//
// Iteration spaces
//===----------------------------------------------------------------------===//

Value dsv4::getRowSource(RowwiseOpInterface op) {
  Value source = op.getRowOperand();
  while (auto producer =
             dyn_cast_if_present<RowwiseOpInterface>(source.getDefiningOp()))
    source = producer.getRowOperand();
  return source;
}

BlockArgument dsv4::getRowArgument(KernelOp kernel) {
  BlockArgument first;
  auto isGiven = [&](BlockArgument argument) {
    return argument &&
           isa<BlockArgument>(kernel.getInputs()[argument.getArgNumber()]);
  };
  auto ops = kernel.getBody().front().getOps<RowwiseOpInterface>();
  for (RowwiseOpInterface op : ops) {
    auto source = dyn_cast<BlockArgument>(getRowSource(op));
    if (isGiven(source))
      return source;
    if (!first)
      first = source;
  }
  // Rows of what is in no memory are counted by a destination that is.
  for (RowwiseOpInterface op : ops)
    if (auto stored = dyn_cast<DestinationStyleOpInterface>(op.getOperation()))
      for (Value init : stored.getDpsInits()) {
        auto destination = dyn_cast<BlockArgument>(init);
        auto type = dyn_cast<RankedTensorType>(init.getType());
        // An extent that is exact is constant in arguments only.
        if (type && isGiven(destination) && type.getRank() > 0 &&
            succeeded(verifyCompatibleShape(type.getShape().drop_back(),
                                            op.getIterationSpace())))
          return destination;
      }
  return first;
}

BlockArgument dsv4::getFunctionArgument(KernelOp kernel,
                                        BlockArgument argument) {
  Value given = kernel.getInputs()[argument.getArgNumber()];
  while (auto result = dyn_cast_if_present<OpResult>(given)) {
    auto producer = dyn_cast<KernelOp>(result.getOwner());
    if (!producer)
      return {};
    given = producer.getTiedInput(result.getResultNumber());
  }
  return dyn_cast_if_present<BlockArgument>(given);
}

int64_t dsv4::getSpaceRank(KernelOp kernel) {
  auto op = *kernel.getBody().front().getOps<RowwiseOpInterface>().begin();
  return cast<ShapedType>(getRowSource(op).getType()).getRank() -
         (hasRowsOfNumbers(op) ? 0 : 1);
}

int64_t dsv4::boundRows(KernelOp kernel) {
  BlockArgument source = getRowArgument(kernel);
  if (!source)
    return INT32_MAX;
  auto tensor = cast<RankedTensorType>(source.getType());
  BlockArgument arg = getFunctionArgument(kernel, source);
  int64_t rows = 1, axes = getSpaceRank(kernel);
  for (int64_t axis = 0; axis < axes; ++axis) {
    int64_t extent = tensor.getDimSize(axis);
    if (tensor.isDynamicDim(axis))
      extent = arg ? getDimBound(arg.getOwner()->getParentOp(),
                                 arg.getArgNumber(), axis)
                   : INT32_MAX;
    if (llvm::MulOverflow(rows, extent, rows) || rows > INT32_MAX)
      return INT32_MAX;
  }
  return rows;
}

SmallVector<int64_t> dsv4::getDefaultIterationSpace(Operation *op) {
  auto rowwise = cast<RowwiseOpInterface>(op);
  ArrayRef<int64_t> shape =
      cast<ShapedType>(getRowSource(rowwise).getType()).getShape();
  return llvm::to_vector(hasRowsOfNumbers(rowwise) ? shape : shape.drop_back());
}

/// Constants, names of dims, or "?" of the first axes.
static SmallVector<std::string> describeAxes(Value rowSource, int64_t axes) {
  Value given = rowSource;
  if (auto inner = dyn_cast<BlockArgument>(rowSource))
    if (auto kernel = dyn_cast<KernelOp>(inner.getOwner()->getParentOp()))
      given = kernel.getInputs()[inner.getArgNumber()];
  auto argument = dyn_cast<BlockArgument>(given);
  SmallVector<std::string> space;
  ArrayRef<int64_t> shape = cast<ShapedType>(rowSource.getType()).getShape();
  for (auto [axis, extent] : llvm::enumerate(shape.take_front(axes))) {
    StringRef name;
    if (ShapedType::isDynamic(extent) && argument)
      name = getDimName(argument.getOwner()->getParentOp(),
                        argument.getArgNumber(), axis);
    if (!ShapedType::isDynamic(extent))
      space.push_back(std::to_string(extent));
    else
      space.push_back(name.empty() ? "?" : name.str());
  }
  return space;
}

SmallVector<std::string> dsv4::describeIterationSpace(Value rowSource) {
  return describeAxes(rowSource,
                      cast<ShapedType>(rowSource.getType()).getRank() - 1);
}

SmallVector<std::string> dsv4::describeIterationSpace(RowwiseOpInterface op) {
  Value source = getRowSource(op);
  return hasRowsOfNumbers(op)
             ? describeAxes(source,
                            cast<ShapedType>(source.getType()).getRank())
             : describeIterationSpace(source);
}

// Rows have all axes but the last, or as many as the second number says.
RowsOf dsv4::getRowsOf(KernelOp kernel) {
  Attribute rows = kernel->getAttr(DSV4Dialect::kRowsOfAttr);
  if (auto both = dyn_cast<DenseI64ArrayAttr>(rows))
    return {static_cast<unsigned>(both[0]), both[1]};
  auto operand =
      static_cast<unsigned>(cast<IntegerAttr>(rows).getValue().getZExtValue());
  Type type = kernel.getInputs()[operand].getType();
  return {operand, cast<RankedTensorType>(type).getRank() - 1};
}

void dsv4::setRowsOf(KernelOp kernel, RowsOf rows) {
  Builder b(kernel.getContext());
  Type type = kernel.getInputs()[rows.operand].getType();
  bool isUsual = rows.axes == cast<RankedTensorType>(type).getRank() - 1;
  kernel->setAttr(DSV4Dialect::kRowsOfAttr,
                  isUsual ? Attribute(b.getI64IntegerAttr(rows.operand))
                          : b.getDenseI64ArrayAttr({rows.operand, rows.axes}));
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

/// How the first result of `op` can be accessed.
static SmallVector<Access> getAccesses(RowwiseOpInterface op) {
  if (op->getNumResults() == 0)
    return {};
  return cast<FusionOpInterface>(*op).getProvidedAccesses(op->getResult(0));
}

/// Whether the user of `operand` can take it in accesses of `kind`.
static bool demands(OpOperand &operand, Access::Kind kind) {
  auto user = dyn_cast<RowwiseOpInterface>(operand.getOwner());
  return user && user.acceptsProducer(operand) &&
         llvm::any_of(
             cast<FusionOpInterface>(*user).getDemandedAccesses(operand,
                                                                Access::row()),
             [&](const Access &access) { return access.kind == kind; });
}

bool dsv4::isOfRanks(RowwiseOpInterface op) {
  return llvm::any_of(op->getOpOperands(), [&](OpOperand &operand) {
    auto producer = operand.get().getDefiningOp<RowwiseOpInterface>();
    return producer && isa<SelectionOpInterface>(*producer) &&
           operand.get() == producer->getResult(0) &&
           demands(operand, Access::Kind::Ranks);
  });
}

bool dsv4::holdsRowsOf(Operation *selecting, RowwiseOpInterface op) {
  auto holds = [&](OpResult result) {
    ArrayRef<int64_t> shape = cast<ShapedType>(result.getType()).getShape();
    return llvm::any_of(selecting->getOpOperands(), [&](OpOperand &operand) {
      return cast<RowwiseOpInterface>(selecting).acceptsProducer(operand) &&
             llvm::any_of(
                 cast<FusionOpInterface>(selecting).getDemandedAccesses(
                     operand, Access::row()),
                 [&](const Access &access) {
                   return !shape.empty() && access.holdsRowOf(shape.back());
                 });
    });
  };
  return cast<RowLayoutOpInterface>(*op).allowsMaskedTail() &&
         llvm::all_of(op->getResults(), holds);
}

bool dsv4::isYielded(RowwiseOpInterface op) {
  return llvm::any_of(op->getUsers(),
                      [](Operation *user) { return isa<YieldOp>(user); });
}

bool dsv4::readsByIndex(OpOperand &operand) {
  return demands(operand, Access::Kind::Elements);
}

bool dsv4::providesElements(RowwiseOpInterface op) {
  return llvm::any_of(getAccesses(op),
                      [](const Access &access) { return access.isElements(); });
}

bool dsv4::takesStatistics(RowwiseOpInterface op) {
  return llvm::any_of(getAccesses(op), [](const Access &access) {
    return !access.isRow() && !access.isRanks() && access.statistics != 0;
  });
}

int64_t dsv4::getColumnUnit(RowwiseOpInterface op) {
  for (const Access &access : getAccesses(op))
    if (access.isColumns())
      return access.unit;
  return 0;
}

bool dsv4::isReadByIndex(RowwiseOpInterface op) {
  return providesElements(op) &&
         llvm::all_of(op->getResult(0).getUses(), readsByIndex);
}

bool dsv4::holdsFragments(RowwiseOpInterface op) {
  return !isReadByIndex(op) || takesStatistics(op);
}
