//===- OpHelpers.h - What verifiers of several ops share --------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_LIB_DIALECT_OPHELPERS_H
#define DSV4_LIB_DIALECT_OPHELPERS_H

#include "dsv4/Dialect/DSV4.h"

#include "mlir/IR/TypeUtilities.h"

namespace dsv4 {

/// Extents agree where both are known.
inline bool compatible(llvm::ArrayRef<int64_t> a, llvm::ArrayRef<int64_t> b) {
  return mlir::succeeded(mlir::verifyCompatibleShape(a, b));
}

/// The same, and what is a number in `shape` is one in `type` from axis `tied`
/// on: no launch compares the extent with it. Axes before it are tied.
inline bool fitsShape(mlir::ShapedType type, llvm::ArrayRef<int64_t> shape,
                      size_t tied) {
  if (!type.hasRank() || !compatible(type.getShape(), shape))
    return false;
  for (size_t axis = tied; axis < shape.size(); ++axis)
    if (type.isDynamicDim(axis) && !mlir::ShapedType::isDynamic(shape[axis]))
      return false;
  return true;
}

/// "[?, 448]".
std::string formatShape(llvm::ArrayRef<int64_t> shape);

/// Ties the first `count` axes of two tensors.
void tieAxes(mlir::Value a, mlir::Value b, int64_t count,
             llvm::SmallVectorImpl<std::pair<TensorAxis, TensorAxis>> &pairs);

/// Shape of the scales of `level` for data of shape `data`; fails where the
/// group does not divide the row.
mlir::FailureOr<llvm::SmallVector<int64_t>>
getScaleShape(llvm::ArrayRef<int64_t> data, ScaleAttr level);

/// The shape and the type of elements of the tensor with the scales of one
/// level, whose row-major one has `shape`. R, its extent of rows, is dynamic.
std::pair<llvm::SmallVector<int64_t>, mlir::Type>
getScaleTensor(ScaleLayout layout, llvm::ArrayRef<int64_t> shape,
               mlir::Type element);

/// Clause `clause`: whether scales of `format` for rows of `values`, the
/// operand of that name, have such a layout.
llvm::LogicalResult verifyScaleLayout(mlir::Operation *op, ScaleLayout layout,
                                      FormatAttr format, mlir::Value values,
                                      llvm::StringRef name,
                                      llvm::StringRef clause);

/// Clause `clause`: a constant R of a tensor of scales is one of whole blocks.
llvm::LogicalResult verifyScaleBlocks(mlir::Operation *op, ScaleLayout layout,
                                      mlir::Value scales,
                                      llvm::StringRef clause);

/// Adds the bound of the rows of `scales` in `layout`: at least those of
/// `values`.
void addScaleBound(ScaleLayout layout, mlir::Value scales, mlir::Value values,
                   llvm::SmallVectorImpl<AxisBound> &bounds);

/// The type of a value, if it is a tensor with a rank.
inline mlir::RankedTensorType getTensor(mlir::Value value) {
  return llvm::dyn_cast<mlir::RankedTensorType>(value.getType());
}
/// Clause `clause`: `value` has rows of constant extent.
llvm::LogicalResult verifyHasRows(mlir::Operation *op, mlir::Value value,
                                  llvm::StringRef clause, llvm::StringRef name);
/// Clause `clause`: `value` has the given shape.
llvm::LogicalResult verifyShape(mlir::Operation *op, mlir::Value value,
                                llvm::ArrayRef<int64_t> shape,
                                llvm::StringRef clause, llvm::StringRef name);

/// Clause `clause`: `validRows`, where it is given, is one number.
llvm::LogicalResult verifyValidRows(mlir::Operation *op, mlir::Value validRows,
                                    llvm::StringRef clause);

/// The one segment of a row of `value`.
llvm::SmallVector<RowSegment> getOneSegment(mlir::Value value);

/// Axes of `x` and of a destination of the same rows.
llvm::SmallVector<std::pair<TensorAxis, TensorAxis>> tieRows(mlir::Value x,
                                                             mlir::Value out);

/// Clauses `inputClause` of 'x' and `outputClause` of 'outs', of ops that turn
/// rows into rows of `count` elements, or of as many as 'x' has.
mlir::LogicalResult verifyRows(mlir::Operation *op, mlir::Value x,
                               mlir::Value out, llvm::StringRef inputClause,
                               llvm::StringRef outputClause, int64_t count = 0);

/// Clause `clause`: 'positions' has leading axes of 'x', one or more of those
/// before the last.
mlir::LogicalResult verifyPositions(mlir::Operation *op, mlir::Value x,
                                    mlir::Value positions,
                                    llvm::StringRef clause);

/// Columns [begin, count] of a row of `value`: those of the attribute, or all.
std::pair<int64_t, int64_t>
getColumns(std::optional<llvm::ArrayRef<int64_t>> columns, mlir::Value value);

/// Clause `clause`: columns are within the rows of 'x'.
mlir::LogicalResult verifyColumns(mlir::Operation *op,
                                  mlir::DenseI64ArrayAttr columns,
                                  mlir::Value x, llvm::StringRef clause);

/// A number as f32, if it is written without a type: as f64, then.
inline mlir::FloatAttr toF32(mlir::FloatAttr number) {
  if (!number.getType().isF64())
    return number;
  return mlir::FloatAttr::get(mlir::Float32Type::get(number.getContext()),
                              number.getValueAsDouble());
}

/// Whether `type` has rows: rank >= 1 and a constant last extent between 1 and
/// RecordAttr::kMaxRowExtent.
bool hasRows(mlir::Type type);

/// The elements of a row of a value that has rows.
int64_t getRowExtent(mlir::Value value);

//===----------------------------------------------------------------------===//
// Shared syntax: results have the types of the destinations, so the text does
// not repeat them.
//===----------------------------------------------------------------------===//

inline mlir::ParseResult
parseTiedVariadic(mlir::OpAsmParser &, llvm::ArrayRef<mlir::Type> destinations,
                  llvm::SmallVectorImpl<mlir::Type> &results) {
  llvm::append_range(results, destinations);
  return mlir::success();
}
inline void printTiedVariadic(mlir::OpAsmPrinter &, mlir::Operation *,
                              mlir::TypeRange, mlir::TypeRange) {}

inline mlir::ParseResult parseTiedResult(mlir::OpAsmParser &,
                                         mlir::Type destination,
                                         mlir::Type &result) {
  result = destination;
  return mlir::success();
}
inline void printTiedResult(mlir::OpAsmPrinter &, mlir::Operation *, mlir::Type,
                            mlir::Type) {}

/// A number of f32, with or without its type.
inline mlir::ParseResult parseF32(mlir::OpAsmParser &parser,
                                  mlir::FloatAttr &number) {
  mlir::Type f32 = parser.getBuilder().getF32Type(), type = f32;
  llvm::SMLoc start = parser.getCurrentLocation();
  llvm::StringRef keyword;
  if (mlir::succeeded(parser.parseOptionalKeyword(&keyword)))
    return parser.emitError(start, "expected a finite number of f32, such as "
                                   "1.5 or 1.5 : f32, got '")
           << keyword << "'";
  if (parser.parseAttribute(number, f32))
    return mlir::failure();
  llvm::SMLoc loc = parser.getCurrentLocation();
  if (mlir::succeeded(parser.parseOptionalColon()) && parser.parseType(type))
    return mlir::failure();
  if (type != f32)
    return parser.emitError(loc, "expected f32, got ") << type;
  return mlir::success();
}
inline void printF32(mlir::OpAsmPrinter &printer, mlir::Operation *,
                     mlir::FloatAttr number) {
  printer.printAttributeWithoutType(number);
}

/// Attributes. An editor completes those of `names`, which spaces separate.
/// `elided` ones are printed elsewhere.
mlir::ParseResult parseDict(mlir::OpAsmParser &parser,
                            mlir::NamedAttrList &attributes,
                            llvm::StringRef names,
                            llvm::ArrayRef<llvm::StringRef> elided = {});
inline void printDict(mlir::OpAsmPrinter &printer, mlir::Operation *,
                      mlir::DictionaryAttr attributes, llvm::StringRef,
                      llvm::ArrayRef<llvm::StringRef> elided = {}) {
  printer.printOptionalAttrDict(attributes.getValue(), elided);
}

/// The same, where the one `name` is a number of f32, with or without its type.
inline mlir::ParseResult
parseF32Dict(mlir::OpAsmParser &parser, mlir::NamedAttrList &attributes,
             llvm::StringRef name,
             llvm::ArrayRef<llvm::StringRef> elided = {}) {
  llvm::SMLoc loc = parser.getCurrentLocation();
  if (parseDict(parser, attributes, name, elided))
    return mlir::failure();
  mlir::Attribute given = attributes.get(name);
  if (!given)
    return mlir::success();
  auto number = llvm::dyn_cast<mlir::FloatAttr>(given);
  if (number)
    number = toF32(number);
  if (!number || !number.getType().isF32())
    return parser.emitError(loc, "expected '")
           << name << "' to be a number of f32, such as 1.5 or 1.5 : f32, got "
           << given;
  attributes.set(name, number);
  return mlir::success();
}
inline void printF32Dict(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                         mlir::DictionaryAttr attributes, llvm::StringRef name,
                         llvm::ArrayRef<llvm::StringRef> elided = {}) {
  printDict(printer, op, attributes, name, elided);
}

/// `offset`, a number or an operand with its type in parentheses.
inline mlir::ParseResult
parseRowOffset(mlir::OpAsmParser &parser, mlir::IntegerAttr &offset,
               std::optional<mlir::OpAsmParser::UnresolvedOperand> &operand,
               mlir::Type &type) {
  if (mlir::failed(parser.parseOptionalKeyword("offset")))
    return mlir::success();
  if (mlir::failed(parser.parseOptionalLParen()))
    return parser.parseAttribute(offset, parser.getBuilder().getI64Type());
  operand.emplace();
  return mlir::failure(parser.parseOperand(*operand) ||
                       parser.parseColonType(type) || parser.parseRParen());
}
inline void printRowOffset(mlir::OpAsmPrinter &printer, mlir::Operation *,
                           mlir::IntegerAttr offset, mlir::Value operand,
                           mlir::Type type) {
  if (offset)
    printer << " offset " << offset.getInt();
  if (operand)
    printer << " offset(" << operand << " : " << type << ")";
}

/// `keyword`, after the `clauses` that may come before it, or nothing if it is
/// empty. An error says which there are, because one stands where none can.
inline mlir::ParseResult parseClause(mlir::OpAsmParser &parser,
                                     llvm::StringRef keyword,
                                     llvm::StringRef clauses) {
  if (!keyword.empty() && mlir::succeeded(parser.parseOptionalKeyword(keyword)))
    return mlir::success();
  llvm::SMLoc loc = parser.getCurrentLocation();
  llvm::StringRef found;
  if (mlir::failed(parser.parseOptionalKeyword(&found))) {
    if (keyword.empty())
      return mlir::success();
    return parser.emitError(loc, "expected '") << keyword << "'";
  }
  llvm::SmallVector<llvm::StringRef> known;
  clauses.split(known, ' ');
  mlir::InFlightDiagnostic error = parser.emitError(loc);
  if (!keyword.empty())
    error << "expected '" << keyword << "', ";
  if (llvm::is_contained(known, found))
    error << "'" << found << "' is out of order, or given twice";
  else
    error << "there is no clause '" << found << "'";
  error << "; the clauses are, in order: ";
  llvm::interleaveComma(known, error);
  return error;
}
inline void printClause(mlir::OpAsmPrinter &printer, mlir::Operation *,
                        llvm::StringRef keyword, llvm::StringRef) {
  printer << keyword;
}

/// The results of all destinations of an op.
inline mlir::ParseResult
parseTiedDestinations(mlir::OpAsmParser &, mlir::Type out,
                      llvm::ArrayRef<mlir::Type> fields, mlir::Type mask,
                      llvm::SmallVectorImpl<mlir::Type> &results) {
  if (out)
    results.push_back(out);
  llvm::append_range(results, fields);
  if (mask)
    results.push_back(mask);
  return mlir::success();
}
inline void printTiedDestinations(mlir::OpAsmPrinter &, mlir::Operation *,
                                  mlir::Type, mlir::TypeRange, mlir::Type,
                                  mlir::TypeRange) {}

} // namespace dsv4

#endif // DSV4_LIB_DIALECT_OPHELPERS_H
