//===- Slices.cpp - Slices of arguments are views ---------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A slice of an argument needs no copy: it is memory that the caller has, with
// other strides and another first element. So it becomes an argument that no
// caller passes. Passes treat it as any other; the launch plan adds the offset.
//
//===----------------------------------------------------------------------===//

#include "dsv4/Signature.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;
using namespace dsv4;

/// In bytes, of arguments and of accesses.
static constexpr int64_t kMaxAlign = 16;

/// Of ops that compute an offset: operands may share values, so the time is
/// exponential in it.
static constexpr unsigned kMaxIndexDepth = 8;

namespace {

/// The elements of an argument that a slice has.
struct Slice {
  BlockArgument whole;
  /// Of `whole`: those that the slice has, in order.
  SmallVector<int64_t> axes;
  /// In elements, along every axis of `whole`.
  SmallVector<rt::Expression> offsets;
};

/// Reads slices of the arguments of a function.
class SliceReader {
public:
  explicit SliceReader(func::FuncOp func)
      : func(func), names(getPlanNames(func)) {}

  /// What `op` takes; an error if that is not memory which a launch addresses.
  FailureOr<Slice> read(tensor::ExtractSliceOp op);
  /// Extent `axis` of what `op` takes: a constant, or a name; nothing if it is
  /// no dim of an argument.
  struct Extent {
    int64_t constant = ShapedType::kDynamic;
    std::string dim;
  };
  std::optional<Extent> findExtent(tensor::ExtractSliceOp op, int64_t axis);
  const rt::PlanNames &getNames() const { return names; }

private:
  InFlightDiagnostic refuse(tensor::ExtractSliceOp op, Value whole);
  FailureOr<Slice> readSource(tensor::ExtractSliceOp op);
  LogicalResult checkUses(tensor::ExtractSliceOp op, BlockArgument whole);
  LogicalResult checkBounds(tensor::ExtractSliceOp op, int64_t axis,
                            const rt::Expression &offset);
  LogicalResult checkLastAxis(tensor::ExtractSliceOp op, const Slice &slice);
  std::optional<rt::Expression> readIndex(OpFoldResult index, unsigned depth);
  std::optional<rt::Expression> readExtent(Value tensor, int64_t axis,
                                           unsigned depth);

  func::FuncOp func;
  rt::PlanNames names;
};

} // namespace

SmallVector<int64_t> dsv4::getKeptAxes(tensor::ExtractSliceOp op) {
  llvm::SmallBitVector dropped = op.getDroppedDims();
  SmallVector<int64_t> axes;
  for (int64_t axis = 0; axis < op.getSourceType().getRank(); ++axis)
    if (!dropped.test(axis))
      axes.push_back(axis);
  return axes;
}

//===----------------------------------------------------------------------===//
// Extents and offsets
//===----------------------------------------------------------------------===//

std::optional<rt::Expression>
SliceReader::readExtent(Value tensor, int64_t axis, unsigned depth) {
  auto type = dyn_cast<RankedTensorType>(tensor.getType());
  if (!type || axis < 0 || axis >= type.getRank())
    return std::nullopt;
  if (!type.isDynamicDim(axis))
    return rt::Expression(type.getDimSize(axis));
  if (auto argument = dyn_cast<BlockArgument>(tensor)) {
    if (argument.getOwner() != &func.front())
      return std::nullopt;
    auto found = llvm::find(names.extents,
                            getExtentName(func, argument.getArgNumber(), axis));
    return rt::Expression::extent(found - names.extents.begin());
  }
  Operation *op = tensor.getDefiningOp();
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
    return readIndex(slice.getMixedSizes()[getKeptAxes(slice)[axis]], depth);
  if (auto empty = dyn_cast<tensor::EmptyOp>(op))
    return readIndex(empty.getMixedSizes()[axis], depth);
  if (auto styled = dyn_cast<DestinationStyleOpInterface>(op))
    return readExtent(styled.getTiedOpOperand(cast<OpResult>(tensor))->get(),
                      axis, depth);
  return std::nullopt;
}

std::optional<rt::Expression> SliceReader::readIndex(OpFoldResult index,
                                                     unsigned depth) {
  using rt::Expression;
  if (std::optional<int64_t> constant = getConstantIntValue(index))
    return *constant < 0 ? std::nullopt : std::optional<Expression>(*constant);
  Operation *op = cast<Value>(index).getDefiningOp();
  if (!op || depth == kMaxIndexDepth)
    return std::nullopt;
  if (auto dim = dyn_cast<tensor::DimOp>(op)) {
    std::optional<int64_t> axis = dim.getConstantIndex();
    return axis ? readExtent(dim.getSource(), *axis, depth + 1) : std::nullopt;
  }
  if (!isa<arith::AddIOp, arith::MulIOp>(op))
    return std::nullopt;
  auto lhs = readIndex(op->getOperand(0), depth + 1);
  auto rhs = readIndex(op->getOperand(1), depth + 1);
  if (!lhs || !rhs)
    return std::nullopt;
  Expression result = isa<arith::AddIOp>(op) ? *lhs + *rhs : *lhs * *rhs;
  return result.explainInvalid(names.extents.size()).empty()
             ? std::optional<Expression>(result)
             : std::nullopt;
}

std::optional<SliceReader::Extent>
SliceReader::findExtent(tensor::ExtractSliceOp op, int64_t axis) {
  auto extent = readExtent(op.getResult(), axis, 0);
  if (!extent)
    return std::nullopt;
  if (extent->isConstant())
    return Extent{extent->getConstant(), ""};
  std::string dim = extent->print(names);
  if (!llvm::is_contained(names.extents, dim))
    return std::nullopt;
  return Extent{ShapedType::kDynamic, dim};
}

//===----------------------------------------------------------------------===//
// What can be a view
//===----------------------------------------------------------------------===//

/// Begins an error that ends with what is wrong.
InFlightDiagnostic SliceReader::refuse(tensor::ExtractSliceOp op, Value whole) {
  InFlightDiagnostic error = op->emitOpError() << "takes a slice";
  if (auto arg = dyn_cast<BlockArgument>(whole);
      arg && arg.getOwner() == &func.front())
    error << " of argument '" << getArgumentName(func, arg.getArgNumber())
          << "'";
  return error;
}

static bool isDestination(OpOperand &use) {
  if (auto kernel = dyn_cast<KernelOp>(use.getOwner()))
    return llvm::any_of(llvm::seq(kernel.getNumResults()), [&](unsigned i) {
      return kernel.getTiedInput(i) == use.get();
    });
  auto styled = dyn_cast<DestinationStyleOpInterface>(use.getOwner());
  return styled && styled.isDpsInit(&use);
}

LogicalResult SliceReader::checkUses(tensor::ExtractSliceOp op,
                                     BlockArgument whole) {
  constexpr StringLiteral advice = ": make the slice an argument of its own, "
                                   "with 'dsv4.strides'";
  for (OpOperand &use : whole.getUses())
    if (isDestination(use))
      return refuse(op, whole) << ", which is the destination of '"
                               << use.getOwner()->getName() << "'" << advice;
  for (OpOperand &use : op->getUses()) {
    if (isDestination(use))
      return refuse(op, whole)
             << " as the destination of '" << use.getOwner()->getName()
             << "', expected one that is read" << advice;
    if (isa<func::ReturnOp>(use.getOwner()))
      return refuse(op, whole) << " and returns it, expected one that an op "
                                  "reads: return the result of an op";
  }
  return success();
}

LogicalResult SliceReader::checkBounds(tensor::ExtractSliceOp op, int64_t axis,
                                       const rt::Expression &offset) {
  auto size = readIndex(op.getMixedSizes()[axis], 0);
  auto extent = readExtent(op.getSource(), axis, 0);
  if (!size || !size->isConstant() || !offset.isConstant() || !extent ||
      !extent->isConstant()) {
    // A launch compares ends with the extents of arguments.
    bool isWhole = size && extent && offset.isConstant(0) && *size == *extent;
    if (isWhole || isa<BlockArgument>(op.getSource()))
      return success();
    return refuse(op, op.getSource())
           << " of a slice, and its end along axis " << axis
           << " is not known to be within it; expected constants, or all of "
              "the axis: take the slice of the argument";
  }
  int64_t end;
  if (!llvm::AddOverflow(offset.getConstant(), size->getConstant(), end) &&
      end <= extent->getConstant())
    return success();
  return refuse(op, op.getSource())
         << " that begins at " << offset.getConstant() << " and has "
         << size->getConstant() << " elements along axis " << axis
         << ", expected an end of at most " << extent->getConstant()
         << ": take fewer elements, or pass a larger argument";
}

/// Bytes from one index of axis `axis` of an argument to the next; dynamic if
/// only a launch has the number.
static int64_t getStrideBytes(func::FuncOp func, unsigned argument,
                              int64_t axis) {
  auto type = cast<RankedTensorType>(func.getArgument(argument).getType());
  int64_t bits = type.getElementTypeBitWidth();
  int64_t rank = type.getRank();
  StridesAttr strides = getStrides(func, argument);
  if (strides && axis < rank - 1)
    return strides.getStrides()[axis];
  // An i1 is a byte; two elements of 4 bits are one.
  int64_t span = bits == 4 ? bits : std::max<int64_t>(bits, 8);
  while (++axis < rank)
    if (type.isDynamicDim(axis) ||
        llvm::MulOverflow(span, type.getDimSize(axis), span))
      return ShapedType::kDynamic;
  return span / 8 > INT32_MAX ? ShapedType::kDynamic : span / 8;
}

LogicalResult SliceReader::checkLastAxis(tensor::ExtractSliceOp op,
                                         const Slice &slice) {
  auto type = cast<RankedTensorType>(slice.whole.getType());
  int64_t last = type.getRank() - 1;
  int64_t bits = type.getElementTypeBitWidth();
  unsigned argument = slice.whole.getArgNumber();
  if (slice.axes.back() != last &&
      getStrideBytes(func, argument, slice.axes.back()) !=
          getStrideBytes(func, argument, last))
    return refuse(op, slice.whole)
           << " without axis " << last
           << ", expected elements that follow each other along the last axis "
              "of the result: keep axis "
           << last << ", or pass the slice as a contiguous argument";
  const rt::Expression &offset = slice.offsets[last];
  if (bits == 4 && (!offset.isConstant() || offset.getConstant() % 2 != 0))
    return refuse(op, slice.whole)
           << " that may begin within a byte, as axis " << last
           << " has two elements of 4 bits per byte: expected a constant, even "
              "offset";
  return success();
}

FailureOr<Slice> SliceReader::readSource(tensor::ExtractSliceOp op) {
  if (auto inner = op.getSource().getDefiningOp<tensor::ExtractSliceOp>())
    return read(inner);
  auto argument = dyn_cast<BlockArgument>(op.getSource());
  if (!argument || argument.getOwner() != &func.front()) {
    op->emitOpError() << "takes a slice of what is no argument of the "
                         "function, expected memory that a launch is given: "
                         "make the whole tensor an argument";
    return failure();
  }
  Slice slice{argument, {}, {}};
  for (int64_t axis = 0; axis < op.getSourceType().getRank(); ++axis) {
    slice.axes.push_back(axis);
    slice.offsets.push_back(0);
  }
  return slice;
}

FailureOr<Slice> SliceReader::read(tensor::ExtractSliceOp op) {
  FailureOr<Slice> slice = readSource(op);
  if (failed(slice) || failed(checkUses(op, slice->whole)))
    return failure();
  SmallVector<int64_t> kept = getKeptAxes(op), axes;
  if (kept.empty()) {
    refuse(op, slice->whole) << " without axes, expected one at least: keep an "
                                "axis of one element";
    return failure();
  }
  for (int64_t axis = 0; axis < op.getSourceType().getRank(); ++axis) {
    if (!isConstantIntValue(op.getMixedStrides()[axis], 1)) {
      refuse(op, slice->whole)
          << " with steps along axis " << axis
          << ", expected steps of 1: make the slice an argument of its own, "
             "with 'dsv4.strides'";
      return failure();
    }
    auto offset = readIndex(op.getMixedOffsets()[axis], 0);
    if (!offset) {
      refuse(op, slice->whole)
          << " at an offset along axis " << axis
          << " that no launch plan can have; expected constants, 'tensor.dim' "
             "of arguments, and sums and products of them";
      return failure();
    }
    if (failed(checkBounds(op, axis, *offset)))
      return failure();
    rt::Expression &whole = slice->offsets[slice->axes[axis]];
    whole = whole + *offset;
  }
  for (auto [axis, of] : llvm::enumerate(kept)) {
    axes.push_back(slice->axes[of]);
    if (!findExtent(op, axis)) {
      refuse(op, slice->whole)
          << " whose extent " << axis
          << " is no dim of an argument; expected a constant, or 'tensor.dim' "
             "of an argument";
      return failure();
    }
  }
  slice->axes = axes;
  if (failed(checkLastAxis(op, *slice)))
    return failure();
  return slice;
}

LogicalResult dsv4::refuseViews(func::FuncOp func) {
  for (unsigned i = 0; i < func.getNumArguments(); ++i)
    if (getView(func, i))
      return func.emitError()
             << "argument '" << getArgumentName(func, i)
             << "' has 'dsv4.view', which only passes write: take the slice "
                "with 'tensor.extract_slice'";
  return success();
}

LogicalResult dsv4::checkSlices(func::FuncOp func) {
  SliceReader reader(func);
  WalkResult result = func.walk([&](Operation *op) {
    if (op->use_empty())
      return WalkResult::advance();
    LogicalResult good = success();
    if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
      good = reader.read(slice);
    } else if (auto insert = dyn_cast<tensor::InsertSliceOp>(op)) {
      InFlightDiagnostic error = op->emitOpError() << "overwrites a slice";
      if (auto arg = dyn_cast<BlockArgument>(insert.getDest());
          arg && arg.getOwner() == &func.front())
        error << " of argument '" << getArgumentName(func, arg.getArgNumber())
              << "'";
      good = error << ", but kernels write whole arguments: make the slice an "
                      "argument of its own, with 'dsv4.strides'";
    }
    return failed(good) ? WalkResult::interrupt() : WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

/// The alignment in bytes of addresses that differ by an axis of an argument,
/// but the last.
static int64_t getStrideAlign(func::FuncOp func, unsigned argument,
                              int64_t axis) {
  auto type = cast<RankedTensorType>(func.getArgument(argument).getType());
  int64_t bytes = getStrideBytes(func, argument, axis);
  if (!ShapedType::isDynamic(bytes))
    return std::gcd(bytes, kMaxAlign);
  if (StridesAttr strides = getStrides(func, argument))
    return strides.getAlign();
  // The product of the extents after it; in bits, as a byte may have two
  // elements.
  constexpr int64_t max = 8 * kMaxAlign;
  int64_t bits = type.getElementTypeBitWidth();
  int64_t align = bits == 4 ? bits : std::max<int64_t>(bits, 8);
  while (++axis < type.getRank()) {
    int64_t divisor = type.isDynamicDim(axis)
                          ? getDimMultiple(func, argument, axis)
                          : type.getDimSize(axis);
    align = std::gcd(max, align * std::gcd(max, divisor));
  }
  return align / 8;
}

/// Where the rows of a slice are, and the alignment of its first element.
static StridesAttr getStridesOf(func::FuncOp func, const Slice &slice) {
  unsigned argument = slice.whole.getArgNumber();
  int64_t last = slice.offsets.size() - 1, align = kMaxAlign;
  if (StridesAttr strides = getStrides(func, argument))
    align = strides.getAlign();
  for (int64_t axis = 0; axis < last; ++axis)
    if (llvm::is_contained(slice.axes, axis) ||
        !slice.offsets[axis].isConstant(0))
      align = std::gcd(align, getStrideAlign(func, argument, axis));
  int64_t bits =
      cast<RankedTensorType>(slice.whole.getType()).getElementTypeBitWidth();
  const rt::Expression &offset = slice.offsets[last];
  int64_t count = offset.isConstant() ? offset.getConstant() : 1;
  // Of 4 bits, the count is even.
  align = std::gcd(align, bits == 4 ? count / 2
                                    : count * std::max<int64_t>(bits / 8, 1));
  SmallVector<int64_t> strides;
  for (int64_t axis : ArrayRef(slice.axes).drop_back())
    strides.push_back(getStrideBytes(func, argument, axis));
  return StridesAttr::get(func.getContext(), strides, align);
}

/// A name that no argument of `func` has.
static std::string makeName(func::FuncOp func, unsigned whole) {
  std::string stem = getArgumentName(func, whole) + "_slice", name = stem;
  auto isTaken = [&](unsigned i) { return getArgumentName(func, i) == name; };
  for (unsigned number = 1;
       llvm::any_of(llvm::seq(func.getNumArguments()), isTaken); ++number)
    name = stem + "_" + std::to_string(number);
  return name;
}

/// The argument that is this slice already, or null. Slices of two lengths
/// differ in their dims alone.
static BlockArgument findView(func::FuncOp func, ViewAttr view, Type type,
                              ArrayAttr dims) {
  for (BlockArgument argument : func.getArguments()) {
    unsigned index = argument.getArgNumber();
    if (argument.getType() == type && getView(func, index) == view &&
        func.getArgAttr(index, DSV4Dialect::kDimsAttr) == dims)
      return argument;
  }
  return {};
}

/// The argument that is what `op` takes.
static FailureOr<BlockArgument> makeView(func::FuncOp func,
                                         tensor::ExtractSliceOp op) {
  SliceReader reader(func);
  FailureOr<Slice> slice = reader.read(op);
  if (failed(slice))
    return failure();
  Builder b(func.getContext());
  SmallVector<StringAttr> offsets;
  for (const rt::Expression &offset : slice->offsets)
    offsets.push_back(b.getStringAttr(offset.print(reader.getNames())));
  unsigned whole = slice->whole.getArgNumber();
  auto view = ViewAttr::get(func.getContext(), whole, slice->axes, offsets);
  SmallVector<int64_t> shape;
  SmallVector<Attribute> dims;
  for (int64_t axis = 0; axis < op.getType().getRank(); ++axis) {
    SliceReader::Extent extent = *reader.findExtent(op, axis);
    shape.push_back(extent.constant);
    dims.push_back(b.getStringAttr(extent.dim));
  }
  auto type = RankedTensorType::get(shape, op.getType().getElementType());
  if (BlockArgument known = findView(func, view, type, b.getArrayAttr(dims)))
    return known;
  NamedAttrList attributes;
  attributes.set(DSV4Dialect::kNameAttr,
                 b.getStringAttr(makeName(func, whole)));
  attributes.set(DSV4Dialect::kDimsAttr, b.getArrayAttr(dims));
  attributes.set(DSV4Dialect::kStridesAttr, getStridesOf(func, *slice));
  attributes.set(DSV4Dialect::kViewAttr, view);
  unsigned index = func.getNumArguments();
  if (failed(func.insertArgument(index, type,
                                 attributes.getDictionary(func.getContext()),
                                 op.getLoc())))
    return failure();
  return func.getArgument(index);
}

/// Asks for the extents of `op` where its sizes come from. What is left of its
/// uses reads elements.
static void replaceExtents(tensor::ExtractSliceOp op) {
  SmallVector<int64_t> kept = getKeptAxes(op);
  for (Operation *user : llvm::make_early_inc_range(op->getUsers())) {
    auto dim = dyn_cast<tensor::DimOp>(user);
    std::optional<int64_t> axis = dim ? dim.getConstantIndex() : std::nullopt;
    if (!axis || *axis < 0 || *axis >= op.getType().getRank())
      continue;
    OpBuilder b(dim);
    dim.replaceAllUsesWith(getValueOrCreateConstantIndexOp(
        b, dim.getLoc(), op.getMixedSizes()[kept[*axis]]));
    dim.erase();
  }
}

LogicalResult dsv4::makeViews(func::FuncOp func) {
  SmallVector<tensor::ExtractSliceOp> slices(
      func.front().getOps<tensor::ExtractSliceOp>());
  for (tensor::ExtractSliceOp op : slices) {
    replaceExtents(op);
    // A slice of a slice is one of the argument.
    if (llvm::all_of(op->getUsers(), llvm::IsaPred<tensor::ExtractSliceOp>))
      continue;
    FailureOr<BlockArgument> view = makeView(func, op);
    if (failed(view))
      return failure();
    // Types of results follow those of arguments.
    op.getResult().replaceUsesWithIf(*view, [](OpOperand &use) {
      return !isa<tensor::ExtractSliceOp>(use.getOwner());
    });
  }
  for (tensor::ExtractSliceOp op : llvm::reverse(slices))
    if (op->use_empty())
      op->erase();
  return success();
}
