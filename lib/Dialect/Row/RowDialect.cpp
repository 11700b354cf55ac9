//===- RowDialect.cpp - The row dialect -----------------------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsv4/Dialect/Row.h"

#include "mlir/IR/Builders.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace dsv4;
using namespace dsv4::row;

#include "RowDialect.cpp.inc"
#include "RowEnums.cpp.inc"
#include "RowInterfaces.cpp.inc"

#define GET_OP_CLASSES
#include "RowElementOps.cpp.inc"
#define GET_OP_CLASSES
#include "RowWindowOps.cpp.inc"
#define GET_OP_CLASSES
#include "RowSelectOps.cpp.inc"

void RowDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "RowElementOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "RowWindowOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "RowSelectOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "RowScoreOps.cpp.inc"
      >();
}

void ConstantOp::inferResultRanges(ArrayRef<ConstantIntRanges>,
                                   SetIntRangeFn setRange) {
  setRange(getResult(), ConstantIntRanges::constant(
                            APInt(IndexType::kInternalStorageBitWidth,
                                  getValue(), /*isSigned=*/true)));
}

//===----------------------------------------------------------------------===//
// Access
//===----------------------------------------------------------------------===//

/// Whether memory of `base` can hold elements of `type`.
static bool holds(Type base, Type type) {
  Type element = cast<MemRefType>(base).getElementType();
  return element.isInteger(8) || element == type;
}

static bool isAlignment(int64_t align) {
  return align > 0 && llvm::isPowerOf2_64(align);
}

LogicalResult ReadOp::verify() {
  VectorType type = getValue().getType();
  if (!getStride() && !holds(getBase().getType(), type.getElementType()))
    return emitOpError() << "read_c1: expected memory of i8 or of "
                         << type.getElementType() << ", got "
                         << getBase().getType();
  int64_t multiple = getMultiple(), interleave = getInterleave();
  if (!isAlignment(getAlign()) || multiple < 1 || interleave < 1)
    return emitOpError() << "read_c2: expected a power of two as 'align' and a "
                            "positive 'multiple' and 'interleave', got "
                         << getAlign() << ", " << multiple << " and "
                         << interleave;
  if (getExtent() % interleave != 0)
    return emitOpError() << "read_c3: expected the interleave to divide the "
                            "extent "
                         << getExtent() << ", got " << interleave;
  int64_t readable = getReadable();
  if (readable != 0 && readable < getExtent())
    return emitOpError() << "read_c4: expected 'readable' to be 0 or at least "
                         << getExtent() << ", got " << readable;
  unsigned bits = type.getElementTypeBitWidth();
  if (getStride() &&
      (interleave > 1 || getLength() || (bits != 8 && bits != 32)))
    return emitOpError() << "read_c5: expected elements of 8 or 32 bits, not "
                            "interleaved and without a 'length', with a "
                            "'stride', got "
                         << type << " with an 'interleave' of " << interleave;
  if (static_cast<int64_t>(getRun()) < 1)
    return emitOpError() << "read_c5: expected a positive 'run', got "
                         << static_cast<int64_t>(getRun());
  return success();
}

LogicalResult WriteOp::verify() {
  Type element = getValue().getType().getElementType();
  if (!getStride() && !holds(getBase().getType(), element))
    return emitOpError() << "write_c1: expected memory of i8 or of " << element
                         << ", got " << getBase().getType();
  int64_t group = getGroup(), interleave = getInterleave(), pad = getPad();
  if (!isAlignment(getAlign()) || group < 1 || interleave < 1 || pad < 0)
    return emitOpError() << "write_c2: expected a power of two as 'align', a "
                            "positive group and 'interleave', and no negative "
                            "'pad', got "
                         << getAlign() << ", " << group << ", " << interleave
                         << " and " << pad;
  int64_t extent = getValue().getType().getNumElements();
  if (extent % interleave != 0)
    return emitOpError() << "write_c3: expected the interleave to divide the "
                            "extent "
                         << extent << ", got " << interleave;
  unsigned bits = element.getIntOrFloatBitWidth();
  if (getStride() && (interleave > 1 || (bits != 8 && bits != 32)))
    return emitOpError() << "write_c4: expected values of 8 or 32 bits, not "
                            "interleaved, with a 'stride', got "
                         << element << " with an 'interleave' of "
                         << interleave;
  if (static_cast<int64_t>(getRun()) < 1)
    return emitOpError() << "write_c4: expected a positive 'run', got "
                         << static_cast<int64_t>(getRun());
  return success();
}

LogicalResult GatherElementsOp::verify() {
  VectorType elements = getElements().getType();
  if (elements.getElementType() != getRow().getType().getElementType() ||
      elements.getShape() != getIndices().getType().getShape())
    return emitOpError() << "gather_elements_c1: expected one "
                         << getRow().getType().getElementType()
                         << " per index, got " << elements;
  return success();
}

//===----------------------------------------------------------------------===//
// Element by element
//===----------------------------------------------------------------------===//

LogicalResult row::SwapNibblesOp::verify() {
  auto type = cast<VectorType>(getSource().getType());
  if (type.getElementTypeBitWidth() != 4 || type.getShape().back() % 2 != 0)
    return emitOpError() << "swap_nibbles_c1: expected an even number of "
                            "elements of 4 bits, got "
                         << type;
  return success();
}

LogicalResult row::EncodeOp::verify() {
  Type element = cast<VectorType>(getPayload().getType()).getElementType();
  bool e8m0 = isa<Float8E8M0FNUType>(element);
  bool e2m1 = isa<Float4E2M1FNType>(element);
  if (!e8m0 && !e2m1 && !isa<Float8E4M3FNType>(element))
    return emitOpError() << "encode_c1: expected a payload of f8E4M3FN, "
                            "f4E2M1FN or f8E8M0FNU, got "
                         << element;
  if ((e8m0 && !getUp()) || (e2m1 && getUp()))
    return emitOpError() << "encode_c1: " << element << " is "
                         << (e8m0 ? "only rounded up: add 'up'"
                                  : "never rounded up: remove 'up'");
  if (!e2m1 && (getTiesDown() || getDropNegativeZero()))
    return emitOpError()
           << "encode_c2: " << element
           << " has neither 'ties_down' nor 'drop_negative_zero': remove them";
  return success();
}

//===----------------------------------------------------------------------===//
// Of a whole row
//===----------------------------------------------------------------------===//

LogicalResult row::ExpandOp::verify() {
  VectorType scales = getScales().getType(), result = getRow().getType();
  if (scales.getElementType() != result.getElementType())
    return emitOpError() << "expand_c1: element types differ: " << scales
                         << " and " << result;
  if (result.getNumElements() % scales.getNumElements() != 0)
    return emitOpError() << "expand_c2: expected the extent of the scales to "
                            "divide "
                         << result.getNumElements() << ", got "
                         << scales.getNumElements();
  return success();
}

LogicalResult row::ReduceOp::verify() {
  int64_t extent = getSource().getType().getNumElements(), group = getGroup();
  if (group < 1 || extent % group != 0 ||
      getReduced().getType().getNumElements() != extent / group)
    return emitOpError()
           << "reduce_c1: expected a group that divides the " << extent
           << " elements of the row, and one value per group, got groups of "
           << group << " and " << getReduced().getType();
  return success();
}

LogicalResult row::HadamardOp::verify() {
  int64_t extent = getSource().getType().getNumElements();
  if (!llvm::isPowerOf2_64(extent))
    return emitOpError() << "hadamard_c1: expected a power of two of elements, "
                            "got "
                         << extent;
  return success();
}

LogicalResult row::JoinOp::verify() {
  VectorType first = getFirst().getType(), second = getSecond().getType();
  auto expected =
      VectorType::get({first.getNumElements() + second.getNumElements()},
                      first.getElementType());
  if (first.getElementType() != second.getElementType() ||
      getJoined().getType() != expected)
    return emitOpError() << "join_c1: joining " << first << " and " << second
                         << " does not give " << getJoined().getType();
  return success();
}

//===----------------------------------------------------------------------===//
// Selection
//===----------------------------------------------------------------------===//

LogicalResult row::SelectOp::verify() {
  int64_t k = getK(), extent = getScores().getType().getNumElements();
  int64_t padding = getPadding();
  if (k < 1 || k > kMaxK || padding < 0 ||
      getValues().getType().getNumElements() != getRanks())
    return emitOpError() << "select_c1: expected results of one extent from "
                         << padding + 1 << " to " << kMaxK + padding << ", got "
                         << getIndices().getType() << " and "
                         << getValues().getType();
  int64_t groups = getGroups(), keep = getKeep(), by = getBy();
  if (groups < 1 || groups > kMaxGroups || extent % groups != 0 || keep < 1 ||
      keep > groups || by < 1 || by > extent / groups)
    return emitOpError() << "select_c2: expected at most " << kMaxGroups
                         << " groups that divide the row, of which some are "
                            "kept, by some of their elements, got "
                         << groups << ", " << keep << " and " << by;
  if (groups > 1 && (getStart() || getTiesHigh()))
    return emitOpError() << "select_c3: expected one group with "
                         << (getStart() ? "a 'start'" : "'ties high'")
                         << ", got " << groups;
  return success();
}

LogicalResult NarrowOp::verify() {
  if (getSaturate() && isa<VectorType>(getSource().getType()))
    return emitOpError() << "narrow_c1: expected a scalar with 'saturate', got "
                         << getSource().getType();
  return success();
}

LogicalResult row::WhereValidOp::verify() {
  if (!getElementTypeOrSelf(getValues()).isF32() && !getOtherwise().isPosZero())
    return emitOpError() << "where_valid_c1: expected no 'otherwise' for "
                            "values of i32, got "
                         << getOtherwiseAttr();
  return success();
}

LogicalResult MapOp::verifyRegions() {
  VectorType type = getMapped().getType();
  auto yield = dyn_cast<row::YieldOp>(getBody().front().getTerminator());
  if (getBody().getArgumentTypes() != TypeRange{IndexType::get(getContext())} ||
      !yield || yield.getOperandTypes() != TypeRange{type.getElementType()} ||
      type.getShape() != getIndices().getType().getShape())
    return emitOpError() << "map_c1: expected a region of one index that ends "
                            "in 'row.yield' of one "
                         << type.getElementType() << " per index";
  return success();
}

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

/// What a region of one member gives, or null where it is not one.
static VectorType getMemberRow(Region &region) {
  auto index = IndexType::get(region.getContext());
  if (region.empty() || region.getArgumentTypes() != TypeRange{index})
    return {};
  auto yield = dyn_cast<row::YieldOp>(region.front().getTerminator());
  return yield && yield.getNumOperands() == 1
             ? dyn_cast<VectorType>(yield.getOperand(0).getType())
             : VectorType();
}

WindowOp WindowReduceOp::getWindow() {
  return cast<WindowOp>(getBody().front().getTerminator());
}

LogicalResult WindowReduceOp::verify() {
  if (static_cast<int64_t>(getMembers()) < 1)
    return emitOpError() << "window_reduce_c2: expected a positive number of "
                            "members, got "
                         << static_cast<int64_t>(getMembers());
  return success();
}

LogicalResult WindowReduceOp::verifyRegions() {
  auto window = dyn_cast<WindowOp>(getBody().front().getTerminator());
  if (!window || getBody().getNumArguments() != 0 ||
      getMemberRow(window.getScores()) != getReduced().getType())
    return emitOpError() << "window_reduce_c1: expected a body that ends in "
                            "'row.window' of rows of "
                         << getReduced().getType();
  if (!getOffsets().empty() &&
      getMemberRow(getOffsets()) != getReduced().getType())
    return emitOpError() << "window_reduce_c3: expected offsets of a member "
                            "that end in 'row.yield' of "
                         << getReduced().getType();
  return success();
}

LogicalResult WindowOp::verifyRegions() {
  VectorType scores = getMemberRow(getScores());
  auto row = dyn_cast<WindowRowOp>(getAny().front().getTerminator());
  if (!scores || !row ||
      getAny().getArgumentTypes() != TypeRange{IndexType::get(getContext())})
    return emitOpError() << "window_c1: expected regions of a member, of which "
                            "two end in 'row.yield' of a row and the last in "
                            "'row.window_row'";
  if (getMemberRow(getValues()) != scores ||
      row.getScores().getType() != scores ||
      row.getValues().getType() != scores)
    return emitOpError() << "window_c2: expected scores and values of one type";
  return success();
}

WindowSegmentOp WindowReduceOnlineOp::getSegment() {
  return cast<WindowSegmentOp>(getBody().front().getTerminator());
}

LogicalResult WindowReduceOnlineOp::verify() {
  if (static_cast<int64_t>(getMembers()) < 1)
    return emitOpError() << "window_reduce_online_c2: expected a positive "
                            "number of members, got "
                         << static_cast<int64_t>(getMembers());
  return success();
}

LogicalResult WindowReduceOnlineOp::verifyRegions() {
  auto segment = dyn_cast<WindowSegmentOp>(getBody().front().getTerminator());
  auto isOfRow = [&](Type type) { return type == getReduced().getType(); };
  if (!segment || getBody().getNumArguments() != 0 ||
      !llvm::all_of(segment.getEnd().getArgumentTypes(), isOfRow))
    return emitOpError() << "window_reduce_online_c1: expected a body that "
                            "ends in 'row.window_segment' of rows of "
                         << getReduced().getType();
  return success();
}

LogicalResult WindowSegmentOp::verifyRegions() {
  auto typesOf = [](Region &region) {
    auto yield = dyn_cast<row::YieldOp>(region.front().getTerminator());
    return yield ? SmallVector<Type>(yield.getOperandTypes())
                 : SmallVector<Type>();
  };
  SmallVector<Type> sums = typesOf(getBegin()), loaded = typesOf(getMember());
  auto isLoadedRow = [&](Type type) {
    auto row = dyn_cast<VectorType>(type);
    return row && row.getShape() == cast<VectorType>(sums.front()).getShape();
  };
  auto isSum = [](Type type) {
    auto row = dyn_cast<VectorType>(type);
    return row && row.getElementType().isF32();
  };
  bool good = getBegin().getNumArguments() == 0 && sums.size() == 3 &&
              llvm::all_of(sums, isSum) && llvm::all_equal(sums) &&
              getMember().getArgumentTypes() ==
                  TypeRange{IndexType::get(getContext())} &&
              (loaded.size() == 2 || loaded.size() == 3) &&
              llvm::all_of(loaded, isLoadedRow) && loaded[0] == loaded[1] &&
              getEnd().getArgumentTypes() == TypeRange(sums) &&
              isa<row::YieldOp>(getEnd().front().getTerminator());
  if (!good)
    return emitOpError()
           << "window_segment_c1: expected regions of nothing, a member and "
              "three rows, of which the first gives three rows of f32 and the "
              "second scores and values of one type, and maybe offsets";
  return success();
}
