//===- Topk.cpp - The best elements of rows -------------------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OpHelpers.h"

#include "dsv4/Dialect/RecordLayout.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace dsv4;

int64_t TopkOp::getPlaces() {
  return cast<ShapedType>(getIndices().getType()).getShape().back();
}

Value TopkOp::getSlots() {
  return getPageTable() ? Value(getOuts().back()) : Value();
}

Value TopkOp::getValues() {
  size_t others = getPageTable() ? 2 : 1;
  return getOuts().size() > others ? Value(getOuts()[1]) : Value();
}

void TopkOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  auto name = [&](Value destination, StringRef text) {
    if (destination)
      setName(getTiedOpResult(&*llvm::find_if(
                  getOutsMutable(),
                  [&](OpOperand &out) { return out.get() == destination; })),
              text);
  };
  name(getIndices(), "indices");
  name(getValues(), "values");
  name(getSlots(), "slots");
}

//===----------------------------------------------------------------------===//
// RowwiseOpInterface
//===----------------------------------------------------------------------===//

Value TopkOp::getRowOperand() { return getScores(); }
SmallVector<RowPiece> TopkOp::getRowPieces() { return {}; }
SmallVector<RowGroup> TopkOp::getRowGroups() { return {}; }
bool TopkOp::isStoredToo() { return true; }
Selection TopkOp::getSelection() {
  // Where a sum with a bias decides, the element itself is not kept.
  return {getPlaces(), getScores(), kMostColumns, bool(getGroups()),
          getBias() && getValues()};
}
bool TopkOp::acceptsRow(OpOperand &operand) {
  return &operand == &getScoresMutable();
}

ResultContract TopkOp::getContract(OpOperand &) {
  // Bounds of groups are not known.
  return getGroups() || getResultContract(getScores()).isExact()
             ? ResultContract::exact()
             : ResultContract::selection();
}
bool TopkOp::acceptsBounds(OpOperand &operand) {
  return &operand == &getScoresMutable() && !getGroups();
}

SmallVector<std::pair<TensorAxis, TensorAxis>> TopkOp::getTiedAxes() {
  SmallVector<std::pair<TensorAxis, TensorAxis>> pairs;
  int64_t rank = cast<ShapedType>(getScores().getType()).getRank() - 1;
  for (Value out : getOuts())
    tieAxes(getScores(), out, rank, pairs);
  if (getLengths())
    tieAxes(getScores(), getLengths(), rank, pairs);
  if (getBias())
    pairs.push_back({{getScores(), rank}, {getBias(), 0}});
  if (getRequests())
    tieAxes(getScores(), getRequests(), rank, pairs);
  else if (getPageTable() && rank == 1)
    tieAxes(getScores(), getPageTable(), 1, pairs);
  return pairs;
}

int64_t dsv4::boundColumns(KernelOp kernel, Selection selection) {
  auto type = cast<RankedTensorType>(selection.scores.getType());
  int64_t axis = type.getRank() - 1;
  if (!type.isDynamicDim(axis))
    return type.getDimSize(axis);
  auto inner = dyn_cast<BlockArgument>(selection.scores);
  auto arg =
      inner ? dyn_cast<BlockArgument>(kernel.getInputs()[inner.getArgNumber()])
            : BlockArgument();
  return arg ? getDimBound(arg.getOwner()->getParentOp(), arg.getArgNumber(),
                           axis)
             : INT32_MAX;
}

std::string dsv4::explainWarp(RowwiseOpInterface op) {
  if (isOfPlaces(op))
    return llvm::formatv("row_schedule_c9: a row of '{0}' is made of the "
                         "places of a selection, which only the lanes of a "
                         "warp have together; expected 'select = warp'",
                         op->getName());
  if (op.getSelection().groups)
    return "row_schedule_c9: groups of a row are chosen by the lanes of a "
           "warp; expected 'select = warp'";
  return "";
}

std::string dsv4::explainMisfitOfColumns(RowScheduleAttr schedule,
                                         RowwiseOpInterface op) {
  int64_t vector = schedule.getVector();
  if (schedule.getSelect() != SelectAlgorithm::Warp)
    if (std::string why = explainWarp(op); !why.empty())
      return why;
  if (isOfPlaces(op))
    return "";
  if (Selection selection = op.getSelection(); selection.places) {
    auto type = cast<RankedTensorType>(selection.scores.getType());
    int64_t bits = getElementBits(type.getElementType());
    if (vector * bits > 128)
      return llvm::formatv("row_schedule_c9: a chunk of {0} elements of {1} "
                           "bits is more than 16 bytes; expected a 'vector' "
                           "of at most {2}",
                           vector, bits, 128 / bits);
    int64_t columns = type.getShape().back();
    if (!ShapedType::isDynamic(columns) && columns % vector != 0)
      return llvm::formatv("row_schedule_c9: chunks of {0} elements do not "
                           "make up the {1} of a row; expected a 'vector' "
                           "that divides {1}",
                           vector, columns);
    if (schedule.getSelect() == SelectAlgorithm::Stream ||
        schedule.getSelect() == SelectAlgorithm::Grid)
      return "";
    auto kernel = op->getParentOfType<KernelOp>();
    int64_t most = boundColumns(kernel, selection);
    if (schedule.getSelect() == SelectAlgorithm::Warp) {
      int64_t held = llvm::divideCeil(most, 32 * vector) * vector;
      if (selection.places <= kMostPlacesOfWarp && held <= kMostHeldOfRow)
        return "";
      return llvm::formatv("row_schedule_c9: a warp selects at most {0} "
                           "elements from at most {1}, got {2} from {3}",
                           kMostPlacesOfWarp, kMostColumnsOfWarp,
                           selection.places, most);
    }
    int64_t threads = schedule.getThreads() * schedule.getCluster();
    int64_t held = llvm::divideCeil(most, threads * vector) * vector;
    if (held > kMostHeldOfRow)
      return llvm::formatv(
          "row_schedule_c9: with 'select = block' {0} x {1} threads have a row "
          "in registers, {2} elements at most, and it can have {3}; expected "
          "more 'threads', a larger 'cluster', 'select = "
          "stream', or columns that are known to be fewer (constant, or by "
          "policy 'bucket')",
          schedule.getCluster(), schedule.getThreads(),
          threads * kMostHeldOfRow,
          most == INT32_MAX ? std::string("any number") : std::to_string(most));
    return "";
  }
  if (op.takesRowNumbers() && schedule.getSelect() != SelectAlgorithm::Warp)
    return llvm::formatv("row_schedule_c9: '{0}' takes numbers of whole rows, "
                         "which only the lanes of a warp find; expected "
                         "'select = warp'",
                         op->getName());
  int64_t unit = op.getColumnUnit();
  if (unit == 0)
    return llvm::formatv("row_schedule_c9: a row of '{0}' is not computed in "
                         "chunks of columns",
                         op->getName());
  if (vector % unit != 0)
    return llvm::formatv("row_schedule_c9: a chunk of {0} elements is not made "
                         "of the {1} that belong together",
                         vector, unit);
  for (RowPiece piece : op.getRowPieces())
    if (piece.extent % vector != 0)
      return llvm::formatv("row_schedule_c9: chunks of {0} elements do not "
                           "make up the {1} of a row",
                           vector, piece.extent);
  for (RowGroup group : op.getRowGroups())
    if (group.extent % vector != 0 && vector % group.extent != 0)
      return llvm::formatv(
          "row_schedule_c9: groups of {0} elements do not match chunks of {1}",
          group.extent, vector);
  return "";
}

//===----------------------------------------------------------------------===//
// Verifier
//===----------------------------------------------------------------------===//

/// Clause topk_c2.
static LogicalResult verifyDestinations(TopkOp op) {
  auto scores = cast<RankedTensorType>(op.getScores().getType());
  ArrayRef<int64_t> rows = scores.getShape().drop_back();
  StringRef hint = op.getPageTable() ? "" : "; 'slots' of i32 need 'pages'";
  size_t most = op.getPageTable() ? 3 : 2, least = op.getPageTable() ? 2 : 1;
  if (op.getOuts().size() < least || op.getOuts().size() > most)
    return op.emitOpError()
           << "topk_c2: expected destinations of 'indices', 'values' if they "
              "are wanted"
           << (op.getPageTable() ? ", and 'slots'" : "") << ", got "
           << op.getOuts().size() << hint;
  int64_t places = ShapedType::kDynamic;
  for (Value out : op.getOuts()) {
    auto type = dyn_cast<RankedTensorType>(out.getType());
    bool first = ShapedType::isDynamic(places);
    if (type && first && type.getRank() > 0)
      places = type.getShape().back();
    StringRef name = out == op.getIndices() ? "indices"
                     : out == op.getSlots() ? "slots"
                                            : "values";
    if (!type || type.getRank() != scores.getRank() ||
        !compatible(type.getShape().drop_back(), rows) ||
        type.getShape().back() != places || places < 1 ||
        places > TopkOp::kMostPlaces)
      return op.emitOpError()
             << "topk_c2: expected '" << name
             << "' of the shape of 'scores' with a constant last extent k "
                "between 1 and "
             << TopkOp::kMostPlaces << ", the same of all destinations, got "
             << out.getType();
    bool isValues = name == "values";
    if (isValues ? type.getElementType() != scores.getElementType() &&
                       !type.getElementType().isF32()
                 : !type.getElementType().isInteger(32))
      return op.emitOpError()
             << "topk_c2: expected '" << name << "' of "
             << (isValues ? "the element type of 'scores' or f32" : "i32")
             << ", got " << type
             << (type.getElementType().isInteger(32) ? hint : "");
  }
  return success();
}

/// Clause topk_c8.
static LogicalResult verifyGroups(TopkOp op) {
  if (!op.getGroups() && !op.getKeep() && !op.getBy())
    return success();
  if (!op.getGroups() || !op.getKeep() || !op.getBy())
    return op.emitOpError()
           << "topk_c8: expected 'groups', 'keep' and 'by' together";
  int64_t groups = *op.getGroups(), keep = *op.getKeep(), by = *op.getBy();
  int64_t columns =
      cast<RankedTensorType>(op.getScores().getType()).getShape().back();
  if (ShapedType::isDynamic(columns) || columns > kMostColumnsOfWarp ||
      op.getPlaces() > kMostPlacesOfWarp)
    return op.emitOpError()
           << "topk_c8: expected 'scores' with a constant last extent of at "
              "most "
           << kMostColumnsOfWarp << " and k of at most " << kMostPlacesOfWarp
           << " with 'groups', got " << op.getScores().getType() << " and "
           << op.getPlaces();
  if (groups < 1 || groups > TopkOp::kMostGroups || columns % groups != 0)
    return op.emitOpError() << "topk_c8: expected between 1 and "
                            << TopkOp::kMostGroups << " 'groups' that divide "
                            << columns << " elements, got " << groups;
  if (keep < 1 || keep > groups)
    return op.emitOpError() << "topk_c8: expected to 'keep' between 1 and "
                            << groups << " groups, got " << keep;
  if (by < 1 || by > columns / groups)
    return op.emitOpError()
           << "topk_c8: expected groups to be kept 'by' between 1 and "
           << columns / groups << " elements each, got " << by;
  return success();
}

/// Whether it is positive, and no larger than numbers of a tensor.
static bool isCount(IntegerAttr number) {
  return number.getInt() > 0 && number.getInt() <= INT32_MAX;
}

LogicalResult TopkOp::verify() {
  auto scores = dyn_cast<RankedTensorType>(getScores().getType());
  if (!scores || scores.getRank() < 1 || scores.getShape().back() == 0 ||
      scores.getShape().back() > kMostColumns)
    return emitOpError() << "topk_c1: expected 'scores' of rank at least 1 "
                            "with between 1 and "
                         << kMostColumns << " elements a row, got "
                         << getScores().getType();
  // Ahead of the destinations, which depend on it.
  if (bool(getPageAttr()) != bool(getPageTable()) ||
      (getPageAttr() && !isCount(getPageAttr()))) {
    InFlightDiagnostic error = emitOpError();
    error << "topk_c5: expected a 'page' between 1 and 2^31 - 1 with 'pages', "
             "and none without them, got ";
    if (getPageAttr())
      return error << getPageAttr().getInt();
    return error << "none";
  }
  if (getRequests() && !getPageTable())
    return emitOpError() << "topk_c6: 'requests' are rows of a page table, and "
                            "there are no 'pages'";
  if (failed(verifyDestinations(*this)))
    return failure();
  if (failed(verifyGroups(*this)))
    return failure();
  ArrayRef<int64_t> rows = scores.getShape().drop_back();
  auto verifyPerRow = [&](Value value, StringRef clause, StringRef name) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type || !compatible(type.getShape(), rows))
      return emitOpError() << clause << ": expected '" << name << "' of shape "
                           << formatShape(rows) << ", got " << value.getType();
    return InFlightDiagnostic();
  };
  if (getLengths() && failed(verifyPerRow(getLengths(), "topk_c3", "lengths")))
    return failure();
  if (getRatioAttr() && !getLengths())
    return emitOpError() << "topk_c7: expected 'lengths' with a 'ratio', which "
                            "are positions then";
  if (getRatioAttr() && !isCount(getRatioAttr()))
    return emitOpError() << "topk_c7: expected a 'ratio' between 1 and 2^31 - "
                            "1, got "
                         << getRatioAttr().getInt();
  if (getBias()) {
    auto type = dyn_cast<RankedTensorType>(getBias().getType());
    if (!type || !compatible(type.getShape(), scores.getShape().take_back()))
      return emitOpError() << "topk_c4: expected 'bias' of shape "
                           << formatShape(scores.getShape().take_back())
                           << ", got " << getBias().getType();
  }
  if (Value table = getPageTable()) {
    auto type = dyn_cast<RankedTensorType>(table.getType());
    if (!type || type.getRank() != 2 ||
        (!getRequests() && rows.size() == 1 &&
         !compatible(type.getShape().take_front(), rows)))
      return emitOpError() << "topk_c5: expected 'pages' of shape "
                           << (getRequests() ? "[requests, pages]"
                                             : "[rows, pages]")
                           << ", got " << table.getType();
  }
  if (getRequests() &&
      failed(verifyPerRow(getRequests(), "topk_c6", "requests")))
    return failure();
  return success();
}
