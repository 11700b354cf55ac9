//===- OpHelpers.cpp - What verifiers of several ops share ----------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OpHelpers.h"

#include "dsv4/Dialect/RecordLayout.h"

using namespace mlir;
using namespace dsv4;

std::string dsv4::formatShape(ArrayRef<int64_t> shape) {
  std::string text = "[";
  llvm::raw_string_ostream os(text);
  llvm::interleaveComma(shape, os, [&](int64_t extent) {
    if (ShapedType::isDynamic(extent))
      os << "?";
    else
      os << extent;
  });
  return text + "]";
}

void dsv4::tieAxes(Value a, Value b, int64_t count,
                   SmallVectorImpl<std::pair<TensorAxis, TensorAxis>> &pairs) {
  for (int64_t axis = 0; axis < count; ++axis)
    pairs.push_back({{a, axis}, {b, axis}});
}

FailureOr<SmallVector<int64_t>> dsv4::getScaleShape(ArrayRef<int64_t> data,
                                                    ScaleAttr level) {
  if (level.getGroup() == FieldAttr::kPerTensor)
    return SmallVector<int64_t>{1};
  SmallVector<int64_t> shape = llvm::to_vector(data.drop_back());
  if (level.getGroup() == FieldAttr::kPerRow)
    return shape;
  if (data.back() % level.getGroup() != 0)
    return failure();
  shape.push_back(data.back() / level.getGroup());
  return shape;
}

bool dsv4::hasRows(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getRank() >= 1 &&
         !ShapedType::isDynamic(tensor.getShape().back()) &&
         tensor.getShape().back() >= 1 &&
         tensor.getShape().back() <= RecordAttr::kMaxRowExtent;
}

int64_t dsv4::getRowExtent(Value value) {
  return cast<ShapedType>(value.getType()).getShape().back();
}

SmallVector<RowSegment> dsv4::getOneSegment(Value value) {
  return {{getRowExtent(value),
           getElementBits(getElementTypeOrSelf(value.getType()))}};
}

SmallVector<std::pair<TensorAxis, TensorAxis>> dsv4::tieRows(Value x,
                                                             Value out) {
  SmallVector<std::pair<TensorAxis, TensorAxis>> pairs;
  tieAxes(x, out, cast<ShapedType>(x.getType()).getRank() - 1, pairs);
  return pairs;
}

LogicalResult dsv4::verifyRows(Operation *op, Value x, Value out,
                               StringRef inputClause, StringRef outputClause,
                               int64_t count) {
  if (!hasRows(x.getType()))
    return op->emitOpError()
           << inputClause
           << ": expected 'x' of rank >= 1 with a constant last extent between "
              "1 and "
           << RecordAttr::kMaxRowExtent << ", got " << x.getType();
  auto to = dyn_cast<RankedTensorType>(out.getType());
  SmallVector<int64_t> shape =
      llvm::to_vector(cast<RankedTensorType>(x.getType()).getShape());
  bool isPart = count && count != shape.back();
  if (isPart)
    shape.back() = count;
  if (to && compatible(to.getShape(), shape) &&
      !ShapedType::isDynamic(to.getShape().back()))
    return success();
  InFlightDiagnostic error = op->emitOpError()
                             << outputClause
                             << ": expected 'outs' of the shape of 'x'";
  if (isPart)
    error << " with " << count << " columns";
  return error << ", got " << out.getType();
}

LogicalResult dsv4::verifyPositions(Operation *op, Value x, Value positions,
                                    StringRef clause) {
  auto type = dyn_cast<RankedTensorType>(positions.getType());
  ArrayRef<int64_t> rows = cast<ShapedType>(x.getType()).getShape().drop_back();
  size_t rank = type ? type.getRank() : 0;
  if (type && rank <= rows.size() && (rank > 0 || rows.empty()) &&
      compatible(type.getShape(), rows.take_front(rank)))
    return success();
  return op->emitOpError() << clause
                           << ": expected 'positions' of the shape of 'x' "
                              "without its last axis, or without more of its "
                              "last axes, got "
                           << positions.getType();
}

std::pair<int64_t, int64_t>
dsv4::getColumns(std::optional<ArrayRef<int64_t>> columns, Value value) {
  if (columns)
    return {(*columns)[0], (*columns)[1]};
  return {0, getRowExtent(value)};
}

LogicalResult dsv4::verifyColumns(Operation *op, DenseI64ArrayAttr columns,
                                  Value x, StringRef clause) {
  if (!columns)
    return success();
  int64_t extent = getRowExtent(x);
  if (columns.size() != 2 || columns[0] < 0 || columns[1] < 1)
    return op->emitOpError() << clause
                             << ": expected the first column and a "
                                "positive number of columns of "
                             << extent << ", got " << columns;
  if (columns[1] <= extent && columns[0] <= extent - columns[1])
    return success();
  return op->emitOpError() << clause << ": expected columns within the "
                           << extent << " of a row, got " << columns[1]
                           << " columns from column " << columns[0] << " on";
}

LogicalResult dsv4::verifyHasRows(Operation *op, Value value, StringRef clause,
                                  StringRef name) {
  if (hasRows(value.getType()))
    return success();
  return op->emitOpError()
         << clause << ": expected '" << name
         << "' of rank >= 1 with a constant last extent between 1 and "
         << RecordAttr::kMaxRowExtent << ", got " << value.getType();
}

LogicalResult dsv4::verifyShape(Operation *op, Value value,
                                ArrayRef<int64_t> shape, StringRef clause,
                                StringRef name) {
  RankedTensorType type = getTensor(value);
  if (type && type.getRank() == static_cast<int64_t>(shape.size()) &&
      compatible(type.getShape(), shape) &&
      (shape.empty() || type.isDynamicDim(type.getRank() - 1) ==
                            ShapedType::isDynamic(shape.back())))
    return success();
  return op->emitOpError() << clause << ": expected '" << name << "' of shape "
                           << formatShape(shape) << ", got " << value.getType();
}

/// Whether the name of an attribute begins after `text`, a dictionary up to
/// there.
static bool beginsName(StringRef text) {
  int depth = 0;
  for (char c : text)
    depth += StringRef("{[(<").contains(c) - StringRef("}])>").contains(c);
  text = text.rtrim();
  return depth == 1 && (text.ends_with("{") || text.ends_with(","));
}

ParseResult dsv4::parseDict(OpAsmParser &parser, NamedAttrList &attributes,
                            StringRef names, ArrayRef<StringRef>) {
  const char *start = parser.getCurrentLocation().getPointer();
  if (succeeded(parser.parseOptionalAttrDict(attributes)))
    return success();
  // MLIR completes no names of attributes. If an editor asks where one begins,
  // the parser still stands there, and completes what it is given.
  StringRef text(start, parser.getCurrentLocation().getPointer() - start);
  StringRef name;
  SmallVector<StringRef> known;
  names.split(known, ' ');
  if (beginsName(text))
    (void)parser.parseOptionalKeyword(&name, known);
  return failure();
}
