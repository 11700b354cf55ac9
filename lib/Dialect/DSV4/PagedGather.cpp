//===- PagedGather.cpp - dsv4.paged_gather --------------------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OpHelpers.h"

#include "dsv4/Dialect/RecordLayout.h"

using namespace mlir;
using namespace dsv4;

//===----------------------------------------------------------------------===//
// What it reads and writes
//===----------------------------------------------------------------------===//

MutableOperandRange PagedGatherOp::getDpsInitsMutable() {
  // All destinations are the last operands, one after the other.
  constexpr unsigned out = 12;
  unsigned begin = getODSOperandIndexAndLength(out).first;
  return MutableOperandRange(*this, begin, getNumOperands() - begin);
}

void PagedGatherOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  if (getRows())
    setName(getRows(), "rows");
  for (auto [field, result] : llvm::zip(getCopiedFields(), getGathered()))
    setName(result, field.getName());
  if (getValid())
    setName(getValid(), "valid");
}

int64_t PagedGatherOp::getRowRank() {
  if (!isRagged())
    return cast<ShapedType>(getIndices().getType()).getRank();
  return hasFlatRows() ? 1 : 2;
}

SmallVector<FieldAttr> PagedGatherOp::getCopiedFields() {
  SmallVector<FieldAttr> fields;
  if (!getFields().empty())
    for (FieldAttr field : getCache().getType().getRecord().getFields())
      if (field.getGroup() != FieldAttr::kPerTensor)
        fields.push_back(field);
  return fields;
}

bool PagedGatherOp::skipsRows() { return isRagged(); }

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

Value PagedGatherOp::getRowOperand() {
  if (getOut())
    return getOut();
  // Data has an axis for its elements.
  for (auto [field, operand] : llvm::zip(getCopiedFields(), getFields()))
    if (field.isData())
      return operand;
  return getFields().front();
}

SmallVector<RowSegment> PagedGatherOp::getRowSegments() {
  SmallVector<RowSegment> segments;
  for (FieldAttr field : getCache().getType().getRecord().getFields())
    if (field.isData())
      segments.push_back(
          {field.getExtent(), getElementBits(field.getElement())});
  return segments;
}

SmallVector<ScaleGroup> PagedGatherOp::getScaleGroups() {
  SmallVector<ScaleGroup> groups;
  for (FieldAttr field : getCache().getType().getRecord().getFields())
    if (field.isScale() && field.getGroup() > 0)
      groups.push_back(
          {field.getGroup(), getOut() ? field.getInterleave() : 1});
  return groups;
}

int64_t PagedGatherOp::getResultGroup(unsigned index) {
  SmallVector<FieldAttr> fields = getCopiedFields();
  if (index >= fields.size() || fields[index].isData())
    return 1;
  FieldAttr field = fields[index];
  // One lane writes what all of them have.
  if (field.isMetadata())
    return RecordAttr::kMaxRowExtent;
  if (field.getGroup() > 0)
    return field.getGroup();
  RecordAttr record = getCache().getType().getRecord();
  return record.getField(field.getScales().getValue()).getExtent();
}

bool PagedGatherOp::acceptsProducer(OpOperand &) { return false; }

SmallVector<Access> PagedGatherOp::getProvidedAccesses(OpResult) {
  return getOut() ? SmallVector<Access>{Access::row()} : SmallVector<Access>();
}

std::string PagedGatherOp::getAccessNote(Access) {
  return getOut() ? "" : "it copies stored fields to memory";
}

SmallVector<std::pair<TensorAxis, TensorAxis>> PagedGatherOp::getTiedAxes() {
  SmallVector<std::pair<TensorAxis, TensorAxis>> pairs;
  int64_t rank = getRowRank();
  Value rows = isRagged() ? getRowOperand() : getIndices();
  for (Value destination : getDpsInits())
    if (destination != rows)
      tieAxes(rows, destination, rank, pairs);
  if (getRequests())
    tieAxes(rows, getRequests(), 1, pairs);
  if (isRagged()) {
    Value perRequest = hasFlatRows() ? getRowStarts() : rows;
    for (Value operand : {getSeqLens(), getGatherLens()})
      if (perRequest && operand)
        tieAxes(perRequest, operand, 1, pairs);
    if (!hasFlatRows() && !getIndptr())
      tieAxes(rows, getPageTable(), 1, pairs);
    return pairs;
  }
  // Axes of tokens.
  int64_t tokens = getRequests() ? 1 : rank - 1;
  if (getLengths() && !hasLengthsPerRequest())
    tieAxes(rows, getLengths(), tokens, pairs);
  if (getIndptr())
    return pairs;
  if (hasLengthsPerRequest())
    tieAxes(getLengths(), getPageTable(), 1, pairs);
  if (getPageTable() && !getRequests())
    tieAxes(rows, getPageTable(), tokens, pairs);
  return pairs;
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

namespace {

/// Checks the clauses of one gather.
class GatherVerifier {
public:
  explicit GatherVerifier(PagedGatherOp op) : op(op) {}
  LogicalResult verify();

private:
  LogicalResult verifyRowOperands();
  LogicalResult verifyRaggedOperands();
  LogicalResult verifyOffset();
  LogicalResult verifyBytes();
  LogicalResult verifyDestinations();
  LogicalResult verifyFields();
  LogicalResult verifyMask();
  LogicalResult verifyPageTable();
  LogicalResult verifyIndptr();
  LogicalResult verifyRequests();
  LogicalResult verifyLengths();

  static ShapedType getType(Value value) {
    return value ? cast<ShapedType>(value.getType()) : ShapedType();
  }
  static bool hasShape(ShapedType type, ArrayRef<int64_t> shape) {
    return type.hasRank() && compatible(type.getShape(), shape);
  }

  PagedGatherOp op;
  /// Those of the iteration space, and all but the last of them unless
  /// every row is a token.
  SmallVector<int64_t> rows, tokens;
};

} // namespace

/// Clause paged_gather_c1.
LogicalResult GatherVerifier::verifyRowOperands() {
  if (op.isRagged()) {
    if (bool(op.getCuSeqLens()) != bool(op.getSeqLens()))
      return success();
    return op.emitOpError()
           << "paged_gather_c1: expected one of 'indices', 'cu_seq_lens' and "
              "'seq_lens', which say what the rows are, got "
           << (op.getSeqLens() ? "the last two" : "none");
  }
  auto indices = getType(op.getIndices());
  if (!indices.hasRank() || indices.getRank() < 1 || indices.getRank() > 2)
    return op.emitOpError() << "paged_gather_c1: expected 'indices' of rank 1 "
                               "or 2, got "
                            << indices;
  rows = llvm::to_vector(indices.getShape());
  tokens = rows;
  if (indices.getRank() == 2 || !op.getRequests())
    tokens.pop_back();
  return success();
}

/// Clause paged_gather_c9.
LogicalResult GatherVerifier::verifyRaggedOperands() {
  const std::pair<StringRef, Value> operands[] = {
      {"cu_seq_lens", op.getCuSeqLens()},
      {"row_starts", op.getRowStarts()},
      {"seq_lens", op.getSeqLens()},
      {"gather_lens", op.getGatherLens()},
      {"seq_starts", op.getSeqStarts()}};
  for (auto [name, value] : operands) {
    if (!value)
      continue;
    if (!op.isRagged())
      return op.emitOpError() << "paged_gather_c9: has 'indices', so expected "
                                 "no '"
                              << name << "'";
    auto type = getType(value);
    if (!type.hasRank() || type.getRank() != 1)
      return op.emitOpError()
             << "paged_gather_c9: expected '" << name
             << "' of rank 1, an element per request, got " << type;
  }
  const std::tuple<StringRef, Value, StringRef, Value> needs[] = {
      {"row_starts", op.getRowStarts(), "seq_lens", op.getSeqLens()},
      {"gather_lens", op.getGatherLens(), "seq_lens", op.getSeqLens()},
      {"seq_starts", op.getSeqStarts(), "cu_seq_lens", op.getCuSeqLens()}};
  for (auto [name, value, other, needed] : needs)
    if (value && !needed)
      return op.emitOpError()
             << "paged_gather_c9: '" << name << "' need '" << other << "'";
  return verifyOffset();
}

LogicalResult GatherVerifier::verifyOffset() {
  if (!op.getOffset() && !op.getRowOffset())
    return success();
  if (!op.isRagged() || op.hasFlatRows())
    return op.emitOpError() << "paged_gather_c9: 'offset' is for rows "
                               "[requests, rows], of 'seq_lens' alone";
  if (op.getOffset() && op.getRowOffset())
    return op.emitOpError() << "paged_gather_c9: expected one 'offset', a "
                               "number or an operand, got both";
  if (op.getRowOffset()) {
    auto type = getType(op.getRowOffset());
    if (fitsShape(type, {1}, /*tied=*/0))
      return success();
    return op.emitOpError()
           << "paged_gather_c9: expected 'offset' of shape [1], got " << type;
  }
  if (int64_t offset = *op.getOffset(); offset < 0 || offset > INT32_MAX)
    return op.emitOpError() << "paged_gather_c9: expected an 'offset' between "
                               "0 and 2^31 - 1, got "
                            << offset;
  return success();
}

/// Clause paged_gather_c10.
LogicalResult GatherVerifier::verifyBytes() {
  if (!op.getInBytes())
    return success();
  if (op.isRagged())
    return op.emitOpError() << "paged_gather_c10: 'in_bytes' says what "
                               "'indices' count, which are not given";
  if (op.getPageTable() || op.getLengths())
    return op.emitOpError()
           << "paged_gather_c10: indices 'in_bytes' are no positions of "
              "requests: expected no 'pages' and no 'lengths'";
  return success();
}

/// Clauses paged_gather_c2 and c7.
LogicalResult GatherVerifier::verifyDestinations() {
  if (bool(op.getOut()) == !op.getFields().empty())
    return op.emitOpError()
           << "paged_gather_c7: expected one of 'outs', for "
              "decoded rows, and 'fields', for stored ones, got "
           << (op.getOut() ? "both" : "none");
  if (!op.getOut())
    return verifyFields();
  auto out = getType(op.getOut());
  if (op.isRagged() && out.hasRank() && out.getRank() == op.getRowRank() + 1)
    rows = llvm::to_vector(out.getShape().drop_back());
  SmallVector<int64_t> shape = rows;
  shape.push_back(op.getCache().getType().getRecord().getRowExtent());
  if (out.hasRank() && out.getRank() == op.getRowRank() + 1 &&
      compatible(out.getShape(), shape) &&
      !ShapedType::isDynamic(out.getShape().back()))
    return success();
  InFlightDiagnostic error = op.emitOpError() << "paged_gather_c2: ";
  if (!op.isRagged())
    error << "expected 'outs' of the shape of 'indices' and";
  else
    error << "expected 'outs' of rows "
          << (op.hasFlatRows() ? "[rows]" : "[requests, rows]") << " and";
  return error << " a last extent of " << shape.back() << ", got " << out;
}

LogicalResult GatherVerifier::verifyFields() {
  SmallVector<FieldAttr> fields = op.getCopiedFields();
  if (op.getFields().size() != fields.size())
    return op.emitOpError()
           << "paged_gather_c7: expected " << fields.size()
           << " 'fields', one for every field of the record that is not 'per "
              "tensor', got "
           << op.getFields().size();
  if (op.isRagged())
    if (auto type = getType(op.getRowOperand()); type.hasRank())
      rows = llvm::to_vector(type.getShape().take_front(op.getRowRank()));
  for (auto [field, operand] : llvm::zip(fields, op.getFields())) {
    auto type = getType(operand);
    SmallVector<int64_t> shape = rows;
    bool isOne = field.getExtent() == 1 && !field.isData();
    if (static_cast<int64_t>(rows.size()) == op.getRowRank() &&
        type.getElementType() == field.getElement()) {
      if (isOne && hasShape(type, shape))
        continue;
      shape.push_back(field.getExtent());
      if (hasShape(type, shape) &&
          !ShapedType::isDynamic(type.getShape().back()))
        continue;
    }
    return op.emitOpError()
           << "paged_gather_c7: expected field '" << field.getName() << "' of "
           << field.getElement() << " with "
           << (op.isRagged()
                   ? op.hasFlatRows() ? "axes [rows]" : "axes [requests, rows]"
                   : "the shape of 'indices'")
           << " and a last extent of " << field.getExtent() << ", got " << type;
  }
  return success();
}

/// Clause paged_gather_c3.
LogicalResult GatherVerifier::verifyPageTable() {
  auto type = getType(op.getPageTable());
  if (op.isRagged()) {
    if (op.getIndptr() && type)
      return success();
    bool good = type && type.hasRank() && type.getRank() == 2;
    if (good && !op.hasFlatRows())
      good = compatible(type.getShape().take_front(), rows[0]);
    if (good)
      return success();
    InFlightDiagnostic error =
        op.emitOpError() << "paged_gather_c3: expected 'pages' of shape "
                            "[requests, pages], or 'indptr' beside a list of "
                            "pages, got ";
    return type ? error << type : error << "none";
  }
  if (!type || op.getIndptr())
    return success();
  bool perToken = op.getRowRank() == 2;
  int64_t rank = op.getRequests() ? 2 : op.getRowRank();
  bool good = type.hasRank() && type.getRank() == rank;
  if (good && perToken && !op.getRequests())
    good = compatible(type.getShape().take_front(), rows[0]);
  if (good)
    return success();
  return op.emitOpError() << "paged_gather_c3: expected 'pages' of the rank "
                             "of 'indices', of rank 2 with one row per token "
                             "(with 'requests', one per request), got "
                          << type;
}

/// Clause paged_gather_c8.
LogicalResult GatherVerifier::verifyIndptr() {
  if (!op.getIndptr())
    return success();
  auto type = getType(op.getIndptr()), pages = getType(op.getPageTable());
  if (!type.hasRank() || type.getRank() != 1 || !pages || !pages.hasRank() ||
      pages.getRank() != 1)
    return op.emitOpError() << "paged_gather_c8: expected 'indptr' of shape "
                               "[requests + 1] beside 'pages' of rank 1, got "
                            << type;
  if (op.isRagged() || op.getRequests() || op.getRowRank() == 2)
    return success();
  return op.emitOpError() << "paged_gather_c8: 'indptr' needs the request of "
                             "each index: give 'requests', or 'indices' of "
                             "shape [tokens, k]";
}

/// Clause paged_gather_c4.
LogicalResult GatherVerifier::verifyRequests() {
  if (!op.getRequests())
    return success();
  auto type = getType(op.getRequests()), table = getType(op.getPageTable());
  if (op.isRagged()) {
    if (op.hasFlatRows() && hasShape(type, rows))
      return success();
    return op.emitOpError() << "paged_gather_c4: expected 'requests' of shape "
                               "[rows] beside 'cu_seq_lens' or 'row_starts', "
                               "got "
                            << type;
  }
  bool hasTable =
      op.getIndptr() || (table && table.hasRank() && table.getRank() == 2);
  if (hasTable && hasShape(type, rows[0]))
    return success();
  return op.emitOpError() << "paged_gather_c4: expected 'requests' of shape "
                             "[tokens] beside a page table of rank 2, got "
                          << type;
}

/// Clause paged_gather_c5.
LogicalResult GatherVerifier::verifyLengths() {
  if (!op.getLengths()) {
    if (!op.getLengthsPer())
      return success();
    return op.emitOpError()
           << "paged_gather_c5: 'per "
           << stringifyLengthsPer(*op.getLengthsPer()) << "' needs 'lengths'";
  }
  auto type = getType(op.getLengths());
  if (op.isRagged())
    return op.emitOpError() << "paged_gather_c5: expected no 'lengths': those "
                               "of the requests follow from the operands that "
                               "say which rows they have";
  if (op.hasLengthsPerRequest()) {
    if (!op.getRequests())
      return op.emitOpError() << "paged_gather_c5: 'lengths per request' need "
                                 "'requests', the request of each token";
    int64_t requests = op.getIndptr()
                           ? ShapedType::kDynamic
                           : getType(op.getPageTable()).getDimSize(0);
    if (hasShape(type, requests))
      return success();
    return op.emitOpError()
           << "paged_gather_c5: expected 'lengths per request' of shape "
           << formatShape(requests) << ", one per row of 'pages', got " << type;
  }
  if (hasShape(type, tokens))
    return success();
  InFlightDiagnostic error = op.emitOpError()
                             << "paged_gather_c5: expected 'lengths' of shape "
                             << formatShape(tokens)
                             << (tokens.empty() ? "" : ", one per token")
                             << ", got " << type;
  if (op.getRequests())
    error << "; lengths of requests are 'lengths per request'";
  return error;
}

/// Clause paged_gather_c6.
LogicalResult GatherVerifier::verifyMask() {
  auto type = getType(op.getMask());
  if (!type || hasShape(type, rows))
    return success();
  return op.emitOpError() << "paged_gather_c6: expected 'mask' of "
                          << (op.isRagged() ? "shape " + formatShape(rows)
                                            : "the shape of 'indices'")
                          << ", got " << type;
}

LogicalResult GatherVerifier::verify() {
  if (failed(verifyRowOperands()) || failed(verifyRaggedOperands()) ||
      failed(verifyDestinations()) || failed(verifyPageTable()) ||
      failed(verifyIndptr()) || failed(verifyRequests()) ||
      failed(verifyLengths()) || failed(verifyBytes()))
    return failure();
  return verifyMask();
}

LogicalResult PagedGatherOp::verify() { return GatherVerifier(*this).verify(); }
