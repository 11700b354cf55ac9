//===- IndexScore.cpp - Scores of the keys of an index --------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OpHelpers.h"

#include "dsv4/Dialect/RecordLayout.h"

#include "mlir/Support/DebugStringHelper.h"

using namespace mlir;
using namespace dsv4;

#define GET_OP_CLASSES
#include "DSV4ScoreOps.cpp.inc"

void IndexScoreOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getScores(), "scores");
}

//===----------------------------------------------------------------------===//
// Formats
//===----------------------------------------------------------------------===//

namespace {

/// Elements of a key or of a query, and the scales that a format has of them.
struct KeyFormat {
  StringRef name;
  Type element, scale;
  int64_t group; ///< Elements of a scale; 0: a scale per key.
};

/// The formats of keys; the first one of an element is that of queries, too.
SmallVector<KeyFormat> getKeyFormats(MLIRContext *context) {
  Type fp8 = Float8E4M3FNType::get(context);
  Type fp4 = Float4E2M1FNType::get(context);
  return {{"e4m3", fp8, Float32Type::get(context), 0},
          {"mxfp4", fp4, Float8E8M0FNUType::get(context), 32},
          {"nvfp4", fp4, fp8, 16},
          {"bf16", BFloat16Type::get(context), Type(), 0}};
}

/// The format of such elements and scales, or nothing.
std::optional<KeyFormat> findFormat(Type element, Type scale) {
  for (const KeyFormat &format : getKeyFormats(element.getContext()))
    if (format.element == element && format.scale == scale)
      return format;
  return std::nullopt;
}

ShapedType getShaped(Value value) { return cast<ShapedType>(value.getType()); }

bool hasShape(Value value, ArrayRef<int64_t> shape) {
  ShapedType type = getShaped(value);
  return type.hasRank() && compatible(type.getShape(), shape);
}

/// The same, with extents that are constants from axis `first` on.
bool hasRow(Value value, ArrayRef<int64_t> shape, size_t first) {
  return fitsShape(getShaped(value), shape, first);
}

} // namespace

FieldAttr IndexScoreOp::getKeyField() {
  FieldAttr found;
  for (FieldAttr field :
       cast<CacheType>(getCache().getType()).getRecord().getFields())
    if (field.isData()) {
      if (found)
        return {};
      found = field;
    }
  return found;
}

FieldAttr IndexScoreOp::getKeyScaleField() {
  SmallVector<FieldAttr> scales = cast<CacheType>(getCache().getType())
                                      .getRecord()
                                      .getScalesOf(getKeyField().getName());
  return scales.size() == 1 ? scales.front() : FieldAttr();
}

StringRef IndexScoreOp::getQueryFormat() {
  Type element = getShaped(getQueries()).getElementType();
  for (const KeyFormat &format : getKeyFormats(getContext()))
    if (format.element == element)
      return format.name;
  return "";
}

StringRef IndexScoreOp::getKeyFormat() {
  Type element, scale;
  if (getCache()) {
    FieldAttr field = getKeyField(), scales = getKeyScaleField();
    element = field.getElement();
    scale = scales ? scales.getElement() : Type();
  } else {
    element = getShaped(getKeys()).getElementType();
    scale =
        getKeyScales() ? getShaped(getKeyScales()).getElementType() : Type();
  }
  auto format = findFormat(element, scale);
  return format ? format->name : "";
}

//===----------------------------------------------------------------------===//
// RowwiseOpInterface, RowLayoutOpInterface, FusionOpInterface
//===----------------------------------------------------------------------===//

/// Queries have an axis of heads.
Value IndexScoreOp::getRowOperand() { return getWeights(); }
bool IndexScoreOp::acceptsProducer(OpOperand &) { return false; }
SmallVector<RowSegment> IndexScoreOp::getRowSegments() { return {}; }
bool IndexScoreOp::skipsRows() { return getKeepRest(); }

CooperativeWork IndexScoreOp::getCooperativeWork() {
  CooperativeWork work;
  work.kind = ScoreAttr::name;
  return work;
}

SmallVector<Access> IndexScoreOp::getProvidedAccesses(OpResult) {
  // A row in registers, or in tiles, has a constant extent. Elements of tiles
  // are f32, and others would be selected from as they are before rounding.
  if (getShaped(getOut()).isDynamicDim(1) ||
      !getShaped(getOut()).getElementType().isF32())
    return {};
  return {Access::tile()};
}

std::string IndexScoreOp::getAccessNote(Access) {
  if (getShaped(getOut()).isDynamicDim(1))
    return "its rows have any number of columns: expected a constant one";
  if (!getShaped(getOut()).getElementType().isF32())
    return "its scores are rounded to " +
           debugString(getShaped(getOut()).getElementType()) +
           ": expected f32, or a destination in memory";
  return "its threads compute rows tile by tile";
}

ResultContract IndexScoreOp::getContract(OpOperand &destination) {
  return &destination == &getOutMutable() ? ResultContract::bounded()
                                          : ResultContract::exact();
}

SmallVector<std::pair<TensorAxis, TensorAxis>> IndexScoreOp::getTiedAxes() {
  SmallVector<std::pair<TensorAxis, TensorAxis>> pairs;
  Value rows = getWeights();
  Value lengths = getNextN() ? Value() : Value(getLengths());
  bool isTableOfRows =
      getPageTable() && !getIndptr() && !getRequests() && !getNextN();
  for (Value value :
       {Value(getQueries()), Value(getScales()), Value(getOut()), lengths,
        Value(getStarts()), Value(getEnds()), Value(getRequests()),
        isTableOfRows ? Value(getPageTable()) : Value()})
    if (value)
      tieAxes(rows, value, 1, pairs);
  if (getKeyScales())
    tieAxes(getKeys(), getKeyScales(), 1, pairs);
  return pairs;
}

//===----------------------------------------------------------------------===//
// Verifier
//===----------------------------------------------------------------------===//

namespace {

/// Checks the clauses of one op.
class ScoreVerifier {
public:
  explicit ScoreVerifier(IndexScoreOp op) : op(op) {}
  LogicalResult verify();

private:
  InFlightDiagnostic refuse(StringRef clause) {
    return op.emitOpError() << "index_score_" << clause << ": ";
  }
  LogicalResult verifyQueries();
  LogicalResult verifyCache();
  LogicalResult verifyKeys();
  LogicalResult verifyPages();
  LogicalResult verifyLimits();
  LogicalResult verifyNextN();
  LogicalResult verifyTransforms();
  LogicalResult verifyOut();

  IndexScoreOp op;
  int64_t rows = 0, heads = 0, dim = 0;
};

} // namespace

/// Clauses c1 to c3.
LogicalResult ScoreVerifier::verifyQueries() {
  auto type = getShaped(op.getQueries());
  bool isQuery = type.hasRank() && type.getRank() == 3;
  if (isQuery) {
    rows = type.getDimSize(0);
    heads = type.getDimSize(1);
    dim = type.getDimSize(2);
  }
  if (!isQuery || heads < 1 || heads > IndexScoreOp::kMaxHeads || dim < 32 ||
      dim > IndexScoreOp::kMaxDim || dim % 32 != 0)
    return refuse("c1") << "expected 'queries' of shape [rows, heads, dim] "
                           "with 1 to "
                        << IndexScoreOp::kMaxHeads
                        << " heads and a dim of 32 to " << IndexScoreOp::kMaxDim
                        << ", a multiple of 32, got " << type;
  bool isFP4 = isa<Float4E2M1FNType>(type.getElementType());
  if (bool(op.getScales()) != isFP4)
    return refuse("c2") << "expected 'scales' with 'queries' of f4E2M1FN, and "
                           "with no others, got 'queries' "
                        << type;
  SmallVector<int64_t> scales = {rows, heads, dim / 32};
  if (isFP4 && !hasRow(op.getScales(), scales, 1))
    return refuse("c2") << "expected 'scales' of shape " << formatShape(scales)
                        << ", one for 32 elements, got "
                        << op.getScales().getType();
  SmallVector<int64_t> weights = {rows, heads};
  if (!hasRow(op.getWeights(), weights, 1))
    return refuse("c3") << "expected 'weights' of shape "
                        << formatShape(weights) << ", got "
                        << op.getWeights().getType();
  return success();
}

/// Clause c4.
LogicalResult ScoreVerifier::verifyCache() {
  if (bool(op.getCache()) == bool(op.getKeys()))
    return refuse("c4") << "expected one of 'cache' and 'keys', got "
                        << (op.getKeys() ? "both" : "none");
  if (!op.getCache())
    return success();
  FieldAttr field = op.getKeyField();
  if (!field || field.getExtent() != dim)
    return refuse("c4") << "expected a record with one field of data, of "
                        << dim << " elements, got " << op.getCache().getType();
  size_t count = cast<CacheType>(op.getCache().getType())
                     .getRecord()
                     .getScalesOf(field.getName())
                     .size();
  FieldAttr scales = op.getKeyScaleField();
  auto format = count > 1 ? std::nullopt
                          : findFormat(field.getElement(),
                                       scales ? scales.getElement() : Type());
  bool isKey = format && !field.getHighFirst();
  if (isKey && scales) {
    int64_t group = scales.getGroup() == FieldAttr::kPerRow
                        ? 0
                        : static_cast<int64_t>(scales.getGroup());
    isKey = group == format->group && scales.getInterleave() == 1;
  }
  if (isKey)
    return success();
  return refuse("c4") << "expected keys of f8E4M3FN with an f32 scale per row, "
                         "of f4E2M1FN with an f8E8M0FNU scale per 32 or an "
                         "f8E4M3FN one per 16, not 'high_first' and not "
                         "interleaved, or of bf16, got "
                      << op.getCache().getType();
}

/// Clause c5.
LogicalResult ScoreVerifier::verifyKeys() {
  if (!op.getKeys()) {
    if (!op.getKeyScales())
      return success();
    return refuse("c5") << "a cache has its own scales: expected no "
                           "'key_scales' with 'cache'";
  }
  SmallVector<int64_t> keys = {ShapedType::kDynamic, dim};
  if (!hasRow(op.getKeys(), keys, 1))
    return refuse("c5") << "expected 'keys' of shape [keys, " << dim
                        << "], got " << op.getKeys().getType();
  auto type = getShaped(op.getKeys());
  Value scales = op.getKeyScales();
  auto format =
      findFormat(type.getElementType(),
                 scales ? getShaped(scales).getElementType() : Type());
  if (!format) {
    InFlightDiagnostic error = refuse("c5");
    error << "expected 'key_scales' of f32 with 'keys' of f8E4M3FN, of "
             "f8E8M0FNU or f8E4M3FN with f4E2M1FN, and none with bf16, got ";
    if (scales)
      error << scales.getType();
    else
      error << "none";
    return error << " with " << type;
  }
  SmallVector<int64_t> shape = {type.getDimSize(0)};
  if (format->group)
    shape.push_back(dim / format->group);
  if (scales && !hasRow(scales, shape, 1))
    return refuse("c5") << "expected 'key_scales' of shape "
                        << formatShape(shape) << ", got " << scales.getType();
  return success();
}

/// Clauses c6 and c7.
LogicalResult ScoreVerifier::verifyPages() {
  Value table = op.getPageTable();
  if (bool(table) != bool(op.getCache()))
    return refuse("c6") << (table ? "'keys' are in order: expected no 'pages'"
                                  : "expected 'pages' with a 'cache'");
  if (!table && (op.getIndptr() || op.getRequests()))
    return refuse("c7") << "expected 'pages' with '"
                        << (op.getIndptr() ? "indptr" : "requests") << "'";
  if (!table)
    return success();
  if (op.getIndptr() && !hasShape(op.getIndptr(), ShapedType::kDynamic))
    return refuse("c7") << "expected 'indptr' of shape [requests + 1], got "
                        << op.getIndptr().getType();
  if (op.getRequests() && !hasShape(op.getRequests(), rows))
    return refuse("c7") << "expected 'requests' of shape " << formatShape(rows)
                        << ", got " << op.getRequests().getType();
  bool ofRequests = op.getRequests() || op.getNextN();
  SmallVector<int64_t> shape(op.getIndptr() ? 1 : 2, ShapedType::kDynamic);
  if (!op.getIndptr() && !ofRequests)
    shape.front() = rows;
  if (hasShape(table, shape))
    return success();
  return refuse("c6") << "expected 'pages' of shape "
                      << (op.getIndptr() ? "[pages], with 'indptr'"
                          : ofRequests   ? "[requests, pages]"
                                         : "[rows, pages]")
                      << ", got " << table.getType();
}

/// Clause c10.
LogicalResult ScoreVerifier::verifyNextN() {
  if (!op.getNextNAttr())
    return success();
  int64_t nextN = op.getNextNAttr().getInt();
  if (nextN < 1 || nextN > IndexScoreOp::kMaxNextN)
    return refuse("c10") << "expected a 'next_n' between 1 and "
                         << IndexScoreOp::kMaxNextN << ", got " << nextN;
  if (!op.getLengths() || op.getEnds())
    return refuse("c10") << "expected 'lengths', one per request, and no "
                            "'ends' with 'next_n'";
  if (!hasShape(op.getLengths(), ShapedType::kDynamic))
    return refuse("c10") << "expected 'lengths' of shape [requests], got "
                         << op.getLengths().getType();
  int64_t requests = getShaped(op.getLengths()).getDimSize(0);
  if (ShapedType::isDynamic(rows) || ShapedType::isDynamic(requests) ||
      rows == requests * nextN)
    return success();
  return refuse("c10") << "expected " << nextN << " rows of 'queries' for each "
                       << "of " << requests << " 'lengths', got " << rows
                       << " rows";
}

/// Clauses c8 and c9.
LogicalResult ScoreVerifier::verifyLimits() {
  if (op.getLengths() && op.getEnds() && !op.getNextN())
    return refuse("c8") << "expected 'lengths' or 'ends' of the rows, got both";
  const std::pair<StringRef, Value> perRow[] = {
      {"lengths", op.getNextN() ? Value() : Value(op.getLengths())},
      {"ends", op.getEnds()},
      {"starts", op.getStarts()}};
  for (auto [name, value] : perRow)
    if (value && !hasShape(value, rows))
      return refuse("c8") << "expected '" << name << "' of shape "
                          << formatShape(rows) << ", got " << value.getType();
  IntegerAttr ratio = op.getRatioAttr();
  if (!ratio)
    return success();
  if (!op.getLengths())
    return refuse("c9") << "expected 'lengths', which hold positions then, "
                           "with a 'ratio'";
  if (ratio.getInt() < 1 || ratio.getInt() > INT32_MAX)
    return refuse("c9") << "expected a 'ratio' between 1 and 2^31 - 1, got "
                        << ratio.getInt();
  return success();
}

/// Clause c11.
LogicalResult ScoreVerifier::verifyTransforms() {
  auto queries = op.getQueryTransformsAttr(), keys = op.getKeyTransformsAttr();
  const std::pair<StringRef, ArrayAttr> sides[] = {
      {"query_transforms", queries}, {"key_transforms", keys}};
  for (auto [name, transforms] : sides) {
    if (!transforms)
      continue;
    SmallVector<StringRef> left = {"rope", "hadamard"};
    for (Attribute transform : transforms) {
      StringRef text = cast<StringAttr>(transform).getValue();
      auto *at = llvm::find(left, text);
      if (at == left.end())
        return refuse("c11") << "expected '" << name
                             << "' of \"rope\" and \"hadamard\", at most once "
                                "each and in this order, got "
                             << transforms;
      left.erase(left.begin(), at + 1);
    }
  }
  auto count = [](ArrayAttr transforms) {
    return transforms ? transforms.size() : 0;
  };
  if (count(queries) == count(keys) && (count(queries) == 0 || queries == keys))
    return success();
  auto show = [](InFlightDiagnostic &error, ArrayAttr transforms) {
    if (transforms)
      error << transforms;
    else
      error << "[]";
  };
  InFlightDiagnostic error = refuse("c11");
  error << "queries and keys must have gone through the same: got "
           "'query_transforms' of ";
  show(error, queries);
  error << " and 'key_transforms' of ";
  show(error, keys);
  return error;
}

/// Clause c12.
LogicalResult ScoreVerifier::verifyOut() {
  auto type = getShaped(op.getOut());
  if (type.hasRank() && type.getRank() == 2 &&
      compatible(type.getShape().take_front(), rows) &&
      type.getDimSize(1) <= IndexScoreOp::kMaxColumns)
    return success();
  return refuse("c12") << "expected 'outs' of shape [rows, N] with the rows "
                          "of 'queries' and an N of at most "
                       << IndexScoreOp::kMaxColumns << ", got " << type;
}

LogicalResult ScoreVerifier::verify() {
  return failure(failed(verifyQueries()) || failed(verifyCache()) ||
                 failed(verifyKeys()) || failed(verifyPages()) ||
                 failed(verifyNextN()) || failed(verifyLimits()) ||
                 failed(verifyTransforms()) || failed(verifyOut()));
}

LogicalResult IndexScoreOp::verify() { return ScoreVerifier(*this).verify(); }
