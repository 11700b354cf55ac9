//===- Topk.cpp - The best elements of rows -------------------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OpHelpers.h"

#include "dsv4/Dialect/RecordLayout.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace dsv4;

#define GET_OP_CLASSES
#include "DSV4SelectOps.cpp.inc"

int64_t TopkOp::getRanks() {
  return cast<ShapedType>(getIndices().getType()).getShape().back();
}
int64_t TopkOp::getK() { return getRanks() - getSharedCount(); }

Value TopkOp::getTokenExpertIndices() {
  return getTokenExperts() ? Value(getOuts().back()) : Value();
}

Value TopkOp::getSlots() {
  if (!getPageTable())
    return {};
  return getOuts()[getOuts().size() - (getTokenExperts() ? 2 : 1)];
}

Value TopkOp::getValues() {
  size_t others = 1 + bool(getPageTable()) + getTokenExperts();
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
  name(getTokenExpertIndices(), "token_experts");
}

//===----------------------------------------------------------------------===//
// RowwiseOpInterface, RowLayoutOpInterface, FusionOpInterface
//===----------------------------------------------------------------------===//

Value TopkOp::getRowOperand() { return getScores(); }
SmallVector<RowSegment> TopkOp::getRowSegments() { return {}; }
CooperativeWork TopkOp::getCooperativeWork() {
  CooperativeWork work;
  work.kind = SelectAttr::name;
  work.source = getScores();
  work.elements = kMaxColumns;
  return work;
}
Selection TopkOp::getSelection() {
  return {getK(), static_cast<int64_t>(getGroups().value_or(0)),
          getSharedCount()};
}
bool TopkOp::acceptsProducer(OpOperand &operand) {
  return &operand == &getScoresMutable();
}

/// Whether one warp can select, so that its lanes have the ranks.
static bool fitsWarp(TopkOp op) {
  int64_t columns =
      cast<ShapedType>(op.getScores().getType()).getShape().back();
  return !ShapedType::isDynamic(columns) &&
         columns <= limits::kMaxWarpColumns &&
         op.getRanks() <= limits::kMaxWarpK;
}

/// Whether the chosen elements are computed again, one by one: where a sum with
/// a bias decides, the element itself is not kept.
static bool recomputes(TopkOp op) { return op.getBias() && op.getValues(); }

/// Whether the indices are numbers of columns.
static bool countsColumns(TopkOp op) {
  return !op.getStarts() && !op.getOffsets();
}

SmallVector<Access> TopkOp::getDemandedAccesses(OpOperand &, Access access) {
  bool again = recomputes(*this);
  // Lanes that have whole rows have them from the first column on.
  bool ofWholeRows = fitsWarp(*this) && !getStarts();
  SmallVector<Access> demanded = {
      Access::columns(again ? 1 : 0)
          .withStatistics(ofWholeRows ? limits::kMaxWarpColumns : 0)};
  // Elements of a tile are gone once they are consumed, and a row of it has no
  // lanes of its own, and begins at the first column.
  if (access.isRow() && !again && !getGroups() && !getStarts() && !getShared())
    demanded.push_back(Access::tile());
  return demanded;
}

SmallVector<Access> TopkOp::getProvidedAccesses(OpResult result) {
  // Only the indices are available, and those of columns.
  if (result.getResultNumber() != 0 || !fitsWarp(*this) ||
      !countsColumns(*this))
    return {};
  return {Access::ranks().withStatistics(limits::kMaxWarpColumns)};
}

std::string TopkOp::getAccessNote(Access access) {
  bool ofStatistics = access.isColumns() && access.statistics != 0;
  if (access.isRanks() && !countsColumns(*this))
    return "with 'starts' or 'offsets' its indices are not those of columns";
  if ((ofStatistics || access.isTile()) && getStarts())
    return "with 'starts' its rows do not begin at the first column";
  if (access.isRanks() && fitsWarp(*this))
    return "only the indices of a selection can be used in its kernel";
  if ((ofStatistics || access.isRanks()) && !fitsWarp(*this))
    return llvm::formatv("only one-warp selections support that (k <= {0}, "
                         "from at most {1} elements)",
                         limits::kMaxWarpK, limits::kMaxWarpColumns);
  if (access.isRow())
    return "no thread holds a row of a selection's results";
  if (access.unit == 1 && recomputes(*this))
    return "with 'bias' and 'values' it recomputes the chosen elements one by "
           "one";
  return "";
}

bool TopkOp::isAlsoStored() { return true; }

ResultContract TopkOp::getContract(OpOperand &destination) {
  // Bounds of groups are not known.
  return destination.get() == getTokenExpertIndices() || getGroups() ||
                 getShared() || getResultContract(getScores()).isExact()
             ? ResultContract::exact()
             : ResultContract::selection();
}
bool TopkOp::acceptsBounds(OpOperand &operand) {
  return &operand == &getScoresMutable() && !getGroups() && !getShared();
}

SmallVector<std::pair<TensorAxis, TensorAxis>> TopkOp::getTiedAxes() {
  SmallVector<std::pair<TensorAxis, TensorAxis>> pairs;
  int64_t rank = cast<ShapedType>(getScores().getType()).getRank() - 1;
  for (Value out : getOuts())
    tieAxes(getScores(), out, rank, pairs);
  // Of a request, lengths have no row.
  Value lengths = getNextN() ? Value() : Value(getLengths());
  for (Value value :
       {lengths, Value(getStarts()), Value(getEnds()), Value(getOffsets()),
        Value(getPadding()), Value(getPageStarts()), Value(getOtherRows())})
    if (value)
      tieAxes(getScores(), value, rank, pairs);
  for (Value bias : {getBias(), getOtherBias()})
    if (bias)
      pairs.push_back({{getScores(), rank}, {bias, 0}});
  if (getRequests())
    tieAxes(getScores(), getRequests(), rank, pairs);
  else if (getPageTable() && !getCuSeqLens() && rank == 1)
    tieAxes(getScores(), getPageTable(), 1, pairs);
  return pairs;
}

//===----------------------------------------------------------------------===//
// Verifier
//===----------------------------------------------------------------------===//

/// Whether indices of that type can be a result (DSV4_IndexResults).
static bool isIndexResult(Type element) {
  return element.isSignlessInteger(32) || element.isSignlessInteger(64) ||
         element.isUnsignedInteger(32);
}

/// Clause topk_c2.
static LogicalResult verifyDestinations(TopkOp op) {
  auto scores = cast<RankedTensorType>(op.getScores().getType());
  ArrayRef<int64_t> rows = scores.getShape().drop_back();
  StringRef hint = op.getPageTable() ? "" : "; 'slots' need 'pages'";
  size_t min = 1 + bool(op.getPageTable()) + op.getTokenExperts();
  if (op.getOuts().size() < min || op.getOuts().size() > min + 1)
    return op.emitOpError()
           << (op.getTokenExperts() ? "topk_c15" : "topk_c2")
           << ": expected destinations of 'indices', optionally 'values'"
           << (op.getPageTable() ? ", and 'slots'" : "")
           << (op.getTokenExperts() ? ", and 'token_experts'" : "") << ", got "
           << op.getOuts().size() << hint;
  int64_t k = ShapedType::kDynamic;
  for (Value out : op.getOuts()) {
    auto type = dyn_cast<RankedTensorType>(out.getType());
    bool first = ShapedType::isDynamic(k);
    if (type && first && type.getRank() > 0)
      k = type.getShape().back();
    StringRef name = out == op.getIndices()              ? "indices"
                     : out == op.getSlots()              ? "slots"
                     : out == op.getTokenExpertIndices() ? "token_experts"
                                                         : "values";
    if (!type || type.getRank() != scores.getRank() ||
        !compatible(type.getShape().drop_back(), rows) ||
        type.getShape().back() != k || k < 1 || k > TopkOp::kMaxK)
      return op.emitOpError()
             << "topk_c2: expected '" << name
             << "' of the shape of 'scores' with a constant last extent k "
                "between 1 and "
             << TopkOp::kMaxK << ", the same of all destinations, got "
             << out.getType();
    bool isValues = name == "values";
    if (isValues ? type.getElementType() != scores.getElementType() &&
                       !type.getElementType().isF32()
                 : !isIndexResult(type.getElementType()))
      return op.emitOpError()
             << "topk_c2: expected '" << name << "' of "
             << (isValues ? "the element type of 'scores' or f32"
                          : "i32, i64 or ui32")
             << ", got " << type
             << (isIndexResult(type.getElementType()) ? hint : "");
  }
  return success();
}

/// Clause topk_c13.
static LogicalResult verifyShared(TopkOp op) {
  if (!op.getSharedAttr())
    return success();
  int64_t shared = op.getSharedAttr().getInt(), ranks = op.getRanks();
  if (shared < 1 || shared > TopkOp::kMaxShared || shared >= ranks)
    return op.emitOpError() << "topk_c13: expected 'shared' between 1 and "
                            << std::min<int64_t>(TopkOp::kMaxShared, ranks - 1)
                            << ", fewer than the " << ranks
                            << " columns of 'indices', got " << shared;
  if (cast<RankedTensorType>(op.getScores().getType()).getShape().back() < 0)
    return op.emitOpError()
           << "topk_c13: shared experts follow the N of a row: expected "
              "'scores' of a constant last extent with 'shared', got "
           << op.getScores().getType();
  if (op.getPageTable())
    return op.emitOpError() << "topk_c13: shared experts have no slots: remove "
                               "'pages' or 'shared'";
  if (op.getStarts() || op.getOffsets())
    return op.emitOpError()
           << "topk_c13: shared experts are numbers of columns: remove '"
           << (op.getStarts() ? "starts" : "offsets") << "' or 'shared'";
  return success();
}

/// Clause topk_c4. The mask of another bias is one of rows.
static LogicalResult verifyBias(TopkOp op) {
  ArrayRef<int64_t> columns =
      cast<RankedTensorType>(op.getScores().getType()).getShape().take_back();
  const std::pair<Value, StringRef> biases[] = {
      {op.getBias(), "bias"}, {op.getOtherBias(), "other_bias"}};
  for (auto [bias, name] : biases) {
    if (!bias)
      continue;
    auto type = dyn_cast<RankedTensorType>(bias.getType());
    if (!type || !compatible(type.getShape(), columns))
      return op.emitOpError()
             << "topk_c4: expected '" << name << "' of shape "
             << formatShape(columns) << ", got " << bias.getType();
  }
  if (op.getOtherBias() && !op.getBias())
    return op.emitOpError() << "topk_c4: 'other_bias' is for some rows: "
                               "expected 'bias', which the others have";
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
  if (ShapedType::isDynamic(columns))
    return op.emitOpError() << "topk_c8: expected 'scores' with a constant "
                               "last extent with 'groups', got "
                            << op.getScores().getType();
  if (groups < 1 || columns % groups != 0)
    return op.emitOpError() << "topk_c8: expected a positive number of "
                               "'groups' that divides "
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

/// Clause topk_c9, and those of `ties high`.
static LogicalResult verifyStarts(TopkOp op) {
  if (op.getStarts() && (op.getBias() || op.getGroups()))
    return op.emitOpError()
           << "topk_c9: expected no '" << (op.getBias() ? "bias" : "groups")
           << "' with 'starts': it belongs to columns, and indices count from "
              "the start";
  if (op.getTiesHigh() && op.getGroups())
    return op.emitOpError() << "topk_c12: expected no 'groups' with 'ties "
                               "high': of equal groups the lower one is kept";
  return success();
}

/// Clauses topk_c3 and topk_c10: what ends the rows.
static LogicalResult verifyEnds(TopkOp op) {
  auto scores = cast<RankedTensorType>(op.getScores().getType());
  if (op.getLengths() && op.getEnds())
    return op.emitOpError()
           << "topk_c3: expected 'lengths' or 'ends' of the rows, got both";
  auto nextN = op.getNextN();
  if (!nextN)
    return success();
  auto lengths = op.getLengths()
                     ? dyn_cast<RankedTensorType>(op.getLengths().getType())
                     : RankedTensorType();
  if (!lengths || lengths.getRank() != 1 || scores.getRank() != 2)
    return op.emitOpError() << "topk_c10: expected 'lengths' of shape "
                               "[requests] and 'scores' of shape [rows, N] "
                               "with 'next_n'";
  auto rows = static_cast<int64_t>(*nextN);
  if (rows < 1 || rows > TopkOp::kMaxNextN)
    return op.emitOpError() << "topk_c10: expected a 'next_n' between 1 and "
                            << TopkOp::kMaxNextN << ", got " << rows;
  if (!ShapedType::isDynamic(scores.getDimSize(0)) &&
      !ShapedType::isDynamic(lengths.getDimSize(0)) &&
      scores.getDimSize(0) != lengths.getDimSize(0) * rows)
    return op.emitOpError()
           << "topk_c10: expected " << rows << " rows of 'scores' for each of "
           << lengths.getDimSize(0) << " 'lengths', got "
           << scores.getDimSize(0) << " rows";
  return success();
}

/// Clauses topk_c6, topk_c16 and topk_c17: what needs a page table.
static LogicalResult verifyTableUses(TopkOp op) {
  if (op.getRequests() && !op.getPageTable())
    return op.emitOpError() << "topk_c6: 'requests' name rows of a page table: "
                               "expected 'pages' with 'requests'";
  if (op.getPageStarts() && !op.getPageTable())
    return op.emitOpError()
           << "topk_c17: 'page_starts' are columns of a page table: expected "
              "'pages' with 'page_starts'";
  Value starts = op.getCuSeqLens();
  if (!starts)
    return success();
  if (!op.getPageTable())
    return op.emitOpError()
           << "topk_c16: 'cu_seq_lens' find rows of a page table: expected "
              "'pages' with 'cu_seq_lens'";
  if (op.getRequests())
    return op.emitOpError() << "topk_c16: the request of a row is found in "
                               "'cu_seq_lens': remove 'requests'";
  auto type = dyn_cast<RankedTensorType>(starts.getType());
  auto scores = cast<RankedTensorType>(op.getScores().getType());
  if (!type || type.getRank() != 1 || scores.getRank() != 2)
    return op.emitOpError() << "topk_c16: expected 'cu_seq_lens' of shape "
                               "[requests + 1] and 'scores' of shape [rows, "
                               "N], got "
                            << starts.getType() << " and " << scores;
  return success();
}

/// Clause topk_c5: the shape of the page table.
static LogicalResult verifyTable(TopkOp op) {
  Value table = op.getPageTable();
  if (!table)
    return success();
  auto scores = cast<RankedTensorType>(op.getScores().getType());
  ArrayRef<int64_t> rows = scores.getShape().drop_back();
  auto type = dyn_cast<RankedTensorType>(table.getType());
  bool ofRequests = op.hasTableOfRequests();
  if (type && type.getRank() == 2 &&
      (ofRequests || rows.size() != 1 ||
       compatible(type.getShape().take_front(), rows)))
    return success();
  return op.emitOpError() << "topk_c5: expected 'pages' of shape "
                          << (ofRequests ? "[requests, pages]"
                                         : "[rows, pages]")
                          << ", got " << table.getType();
}

/// The value that `value` is outside of kernels, or in the kernel that computes
/// it. IR that is not verified yet may go in circles.
static Value traceThroughKernels(Value value) {
  constexpr unsigned kMaxSteps = 256;
  for (unsigned step = 0; value && step < kMaxSteps; ++step) {
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      auto kernel = dyn_cast<KernelOp>(argument.getOwner()->getParentOp());
      unsigned number = argument.getArgNumber();
      if (!kernel || number >= kernel.getInputs().size())
        return value;
      value = kernel.getInputs()[number];
      continue;
    }
    auto kernel = value.getDefiningOp<KernelOp>();
    if (!kernel || !kernel.getBody().hasOneBlock())
      return value;
    Block &body = kernel.getBody().front();
    auto yield = body.empty() ? YieldOp() : dyn_cast<YieldOp>(body.back());
    unsigned number = cast<OpResult>(value).getResultNumber();
    if (!yield || number >= yield->getNumOperands())
      return value;
    value = yield->getOperand(number);
  }
  return value;
}

/// Clause topk_c18: a selection reads only what the scores have.
static LogicalResult verifyKeptScores(TopkOp op) {
  auto scores =
      traceThroughKernels(op.getScores()).getDefiningOp<IndexScoreOp>();
  if (!scores || !scores.getKeepRest())
    return success();
  // A row has fewer keys than its length says where its start is not a key.
  if (scores.getStarts() || op.getStarts())
    return op.emitOpError()
           << "topk_c18: 'scores' with 'keep_rest' are not written where a row "
              "has no key: expected no 'starts' in '"
           << (op.getStarts() ? op->getName() : scores->getName()) << "'";
  if (!scores.getLengths() && !scores.getEnds())
    return success();
  const std::tuple<StringRef, Value, Value> limits[] = {
      {"lengths", scores.getLengths(), op.getLengths()},
      {"ends", scores.getEnds(), op.getEnds()}};
  for (auto [name, written, read] : limits)
    if (traceThroughKernels(written) != traceThroughKernels(read))
      return op.emitOpError()
             << "topk_c18: 'scores' with 'keep_rest' are not written from the "
                "end of a row on: expected the '"
             << name << "' of 'dsv4.index_score', got "
             << (read ? "others" : "none");
  // Without `next_n` a ratio is of positions, with it of lengths.
  auto countFrom = [](auto op) {
    bool ofPositions = op.getRatio() && !op.getNextN();
    return std::pair<bool, int64_t>(ofPositions, op.getRatio().value_or(1));
  };
  const std::tuple<StringRef, std::pair<bool, int64_t>,
                   std::pair<bool, int64_t>>
      counts[] = {{"ratio", countFrom(scores), countFrom(op)},
                  {"next_n",
                   {false, scores.getNextN().value_or(1)},
                   {false, op.getNextN().value_or(1)}}};
  for (auto [name, written, read] : counts)
    if (written != read)
      return op.emitOpError()
             << "topk_c18: 'scores' with 'keep_rest' are not written from the "
                "end of a row on: expected the '"
             << name << "' of 'dsv4.index_score'";
  return success();
}

/// Whether it is positive, and no larger than numbers of a tensor.
static bool isCount(IntegerAttr number) {
  return number.getInt() > 0 && number.getInt() <= INT32_MAX;
}

LogicalResult TopkOp::verify() {
  auto scores = dyn_cast<RankedTensorType>(getScores().getType());
  if (!scores || scores.getRank() < 1 || scores.getShape().back() == 0 ||
      scores.getShape().back() > kMaxColumns)
    return emitOpError() << "topk_c1: expected 'scores' of rank at least 1 "
                            "with between 1 and "
                         << kMaxColumns << " elements per row, got "
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
  if (failed(verifyTableUses(*this)) || failed(verifyDestinations(*this)))
    return failure();
  if (failed(verifyGroups(*this)) || failed(verifyStarts(*this)) ||
      failed(verifyEnds(*this)) || failed(verifyShared(*this)))
    return failure();
  ArrayRef<int64_t> rows = scores.getShape().drop_back();
  auto verifyPerRow = [&](Value value, StringRef clause, StringRef name) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type || !compatible(type.getShape(), rows))
      return emitOpError() << clause << ": expected '" << name << "' of shape "
                           << formatShape(rows) << ", got " << value.getType();
    return InFlightDiagnostic();
  };
  Value lengths = getNextN() ? Value() : Value(getLengths());
  const std::tuple<Value, StringRef, StringRef> perRow[] = {
      {lengths, "topk_c3", "lengths"},
      {getStarts(), "topk_c3", "starts"},
      {getEnds(), "topk_c3", "ends"},
      {getOffsets(), "topk_c11", "offsets"},
      {getPageStarts(), "topk_c17", "page_starts"},
      {getPadding(), "topk_c14", "padding"},
      {getOtherRows(), "topk_c4", "other_bias"}};
  for (auto [value, clause, name] : perRow)
    if (value && failed(verifyPerRow(value, clause, name)))
      return failure();
  if (failed(verifyValidRows(*this, getValidRows(), "topk_c14")))
    return failure();
  if (getRatioAttr() && !getLengths())
    return emitOpError() << "topk_c7: expected 'lengths', which hold positions "
                            "then, with a 'ratio'";
  if (getRatioAttr() && !isCount(getRatioAttr()))
    return emitOpError() << "topk_c7: expected a 'ratio' between 1 and 2^31 - "
                            "1, got "
                         << getRatioAttr().getInt();
  if (failed(verifyBias(*this)))
    return failure();
  if (failed(verifyTable(*this)))
    return failure();
  if (getRequests() &&
      failed(verifyPerRow(getRequests(), "topk_c6", "requests")))
    return failure();
  return verifyKeptScores(*this);
}
