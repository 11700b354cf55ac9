//===- PagedAppend.cpp - dsv4.paged_append --------------------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OpHelpers.h"

#include "dsv4/Dialect/RecordLayout.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace dsv4;

SmallVector<FieldAttr> PagedAppendOp::getWrittenFields() {
  SmallVector<FieldAttr> fields;
  for (FieldAttr field : getCache().getType().getRecord().getFields())
    if (field.getGroup() != FieldAttr::kPerTensor)
      fields.push_back(field);
  return fields;
}

int64_t PagedAppendOp::getColumn(unsigned index) {
  auto columns = getColumns();
  return columns ? (*columns)[index] : 0;
}

Value PagedAppendOp::getRowOperand() {
  for (Value field : getFields())
    if (cast<RankedTensorType>(field.getType()).getRank() == 2)
      return field;
  return getFields().front();
}

SmallVector<RowSegment> PagedAppendOp::getRowSegments() {
  SmallVector<RowSegment> segments;
  for (auto [i, field] : llvm::enumerate(getWrittenFields())) {
    if (!field.isData())
      continue;
    if (int64_t column = getColumn(i))
      segments.push_back({column, 16});
    segments.push_back({field.getExtent(), getElementBits(field.getElement())});
  }
  return segments;
}

SmallVector<ScaleGroup> PagedAppendOp::getScaleGroups() {
  SmallVector<ScaleGroup> groups;
  for (FieldAttr field : getWrittenFields())
    if (field.isScale() && field.getGroup() > 0)
      groups.push_back({field.getGroup(), field.getInterleave()});
  return groups;
}

bool PagedAppendOp::acceptsProducer(OpOperand &operand) {
  return llvm::is_contained(getFields(), operand.get());
}

SmallVector<std::pair<TensorAxis, TensorAxis>> PagedAppendOp::getTiedAxes() {
  SmallVector<std::pair<TensorAxis, TensorAxis>> pairs;
  for (Value field : getFields())
    tieAxes(getIndices(), field, 1, pairs);
  if (getRequests())
    tieAxes(getIndices(), getRequests(), 1, pairs);
  if (getLengths() && hasLengthsPerToken())
    tieAxes(getIndices(), getLengths(), 1, pairs);
  // Without 'requests' every token is a request.
  if (getPageTable() && !getRequests())
    tieAxes(getIndices(), getPageTable(), 1, pairs);
  else if (getPageTable() && getLengths() && !hasLengthsPerToken())
    tieAxes(getLengths(), getPageTable(), 1, pairs);
  return pairs;
}

/// Clause paged_append_c2.
static LogicalResult verifyFields(PagedAppendOp op) {
  SmallVector<FieldAttr> fields = op.getWrittenFields();
  if (op.getFields().size() != fields.size())
    return op.emitOpError()
           << "paged_append_c2: expected " << fields.size()
           << " field operands, one for every field of the record that is not "
              "per tensor, got "
           << op.getFields().size();
  auto tokens = cast<RankedTensorType>(op.getIndices().getType()).getShape();
  for (auto [i, field, operand] : llvm::enumerate(fields, op.getFields())) {
    auto type = cast<RankedTensorType>(operand.getType());
    int64_t column = op.getColumn(i);
    bool scalar = type.getRank() == 1 && column == 0 &&
                  (field.getGroup() == FieldAttr::kPerRow ||
                   (field.isMetadata() && field.getExtent() == 1));
    if (type.getElementType() != field.getElement() || type.getRank() < 1 ||
        !compatible(type.getShape().take_front(), tokens) ||
        !(scalar || (type.getRank() == 2 && hasRows(type) &&
                     column <= type.getDimSize(1) - field.getExtent())))
      return op.emitOpError()
             << "paged_append_c2: expected field operand " << i << " ('"
             << field.getName() << "') of " << field.getElement()
             << " and shape [tokens, n], with " << field.getExtent()
             << " columns from " << column << " on, got " << type;
    if (getElementBits(field.getElement()) == 4 &&
        (column % 2 != 0 || type.getDimSize(1) % 2 != 0))
      return op.emitOpError()
             << "paged_append_c2: expected field operand " << i << " ('"
             << field.getName()
             << "') of 4-bit elements to have an even last extent and first "
                "column, got "
             << type << " from column " << column << " on";
  }
  return success();
}

/// Clause paged_append_c6.
static LogicalResult verifyWidths(PagedAppendOp op) {
  if (op.getColumns())
    return success();
  for (auto [i, field, operand] :
       llvm::enumerate(op.getWrittenFields(), op.getFields())) {
    auto type = cast<RankedTensorType>(operand.getType());
    if (type.getRank() == 2 && type.getDimSize(1) > field.getExtent())
      return op.emitOpError()
             << "paged_append_c6: field operand " << i << " ('"
             << field.getName() << "') has " << type.getDimSize(1)
             << " columns and its field " << field.getExtent()
             << ": list in 'columns' the first column of every field operand "
                "that is stored";
  }
  return success();
}

/// Clause paged_append_c8.
static LogicalResult verifyIndptr(PagedAppendOp op) {
  Value indptr = op.getIndptr();
  if (!indptr)
    return success();
  auto type = dyn_cast<RankedTensorType>(indptr.getType());
  if (!type || type.getRank() != 1)
    return op.emitOpError()
           << "paged_append_c8: expected 'indptr' of shape [requests + 1], got "
           << indptr.getType();
  if (!op.getPageTable() || !op.getRequests() || op.getRing())
    return op.emitOpError() << "paged_append_c8: 'indptr' divides up the pages "
                               "of requests: expected 'pages' and 'requests' "
                               "and no 'ring' with it";
  return success();
}

/// Clauses paged_append_c3 and c4: operands per token and per request.
static LogicalResult verifyRequests(PagedAppendOp op, int64_t tokens) {
  auto hasShape = [](Value value, ArrayRef<int64_t> shape) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return type && compatible(type.getShape(), shape);
  };
  Value lengths = op.getLengths(), requests = op.getRequests();
  if (requests && !hasShape(requests, {tokens}))
    return op.emitOpError() << "paged_append_c4: expected 'requests' of the "
                               "shape of 'indices', got "
                            << requests.getType();
  if (!lengths && op.getLengthsPer())
    return op.emitOpError()
           << "paged_append_c3: 'per "
           << stringifyLengthsPer(*op.getLengthsPer()) << "' needs 'lengths'";
  // Without 'requests' every token is a request.
  int64_t count = requests ? ShapedType::kDynamic : tokens;
  bool perToken = op.hasLengthsPerToken();
  SmallVector<int64_t> shape = {perToken ? tokens : count};
  if (lengths && !hasShape(lengths, shape))
    return op.emitOpError()
           << "paged_append_c3: expected 'lengths' of shape "
           << formatShape(shape) << ", one per "
           << (perToken ? "token" : "request") << ", got " << lengths.getType();
  if (lengths && !(perToken && requests) && ShapedType::isDynamic(count))
    count = cast<RankedTensorType>(lengths.getType()).getDimSize(0);
  shape = {count, ShapedType::kDynamic};
  if (op.getIndptr())
    shape = {ShapedType::kDynamic};
  if (op.getPageTable() && !hasShape(op.getPageTable(), shape)) {
    InFlightDiagnostic error = op.emitOpError()
                               << "paged_append_c4: expected 'pages' of shape "
                               << formatShape(shape) << ", got "
                               << op.getPageTable().getType();
    if (lengths && !perToken && requests)
      error << "; lengths of tokens are 'lengths per token'";
    return error;
  }
  return success();
}

LogicalResult PagedAppendOp::verify() {
  auto indices = dyn_cast<RankedTensorType>(getIndices().getType());
  if (!indices || indices.getRank() != 1)
    return emitOpError()
           << "paged_append_c1: expected 'indices' of rank 1, got "
           << getIndices().getType();
  if (auto columns = getColumns())
    if (columns->size() != getFields().size() ||
        llvm::any_of(*columns, [](int64_t column) { return column < 0; }))
      return emitOpError() << "paged_append_c5: expected one column >= 0 for "
                              "each of the "
                           << getFields().size() << " field operands, got "
                           << getColumnsAttr();
  if (failed(verifyFields(*this)) || failed(verifyWidths(*this)))
    return failure();
  int64_t page = getCache().getType().getPage();
  if (auto ring = getRing()) {
    int64_t length = *ring;
    if (length < 1 || length > INT32_MAX ||
        (length % page != 0 && page % length != 0))
      return emitOpError()
             << "paged_append_c3: expected the length of a ring to be below "
                "2^31 and a multiple or a divisor of the "
             << page << " entries of a page, got " << length;
    if (!getLengths())
      return emitOpError()
             << "paged_append_c3: expected 'lengths' with a 'ring'";
  } else if (getLengths() || (getRequests() && !getPageTable())) {
    return emitOpError() << "paged_append_c3: 'lengths' describe a ring, and "
                            "'requests' a ring or 'pages': add 'ring' or "
                            "remove them";
  } else if (getPageTable() && !getUnique()) {
    return emitOpError()
           << "paged_append_c7: expected 'unique' with 'pages' and no 'ring': "
              "tokens of a launch must have different positions";
  }
  if (getInBytes() && (getRing() || getPageTable() || !getUnique()))
    return emitOpError()
           << "paged_append_c9: expected 'unique' with indices 'in_bytes', and "
              "no 'pages' and no 'ring', which take positions";
  if (failed(verifyIndptr(*this)))
    return failure();
  return verifyRequests(*this, indices.getDimSize(0));
}
