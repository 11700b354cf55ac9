//===- DSV4Attrs.cpp - Records, formats, policies ---------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OpHelpers.h"
#include "RecordConversion.h"

#include "dsv4/Dialect/DSV4.h"
#include "dsv4/Dialect/RecordLayout.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace dsv4;

//===----------------------------------------------------------------------===//
// Shared pieces of syntax
//===----------------------------------------------------------------------===//

/// strides ::= (stride (`,` stride)*)?, stride ::= integer | `?`
static ParseResult parseStrideList(AsmParser &parser,
                                   SmallVector<int64_t> &strides) {
  do {
    int64_t stride = ShapedType::kDynamic;
    if (failed(parser.parseOptionalQuestion())) {
      OptionalParseResult parsed = parser.parseOptionalInteger(stride);
      if (!parsed.has_value() && strides.empty())
        return success();
      if (!parsed.has_value())
        return parser.emitError(parser.getCurrentLocation(),
                                "expected '?' or a number of bytes");
      if (failed(*parsed))
        return failure();
    }
    strides.push_back(stride);
  } while (succeeded(parser.parseOptionalComma()));
  return success();
}

static void printStrideList(AsmPrinter &printer, ArrayRef<int64_t> strides) {
  llvm::interleaveComma(strides, printer, [&](int64_t stride) {
    if (ShapedType::isDynamic(stride))
      printer << '?';
    else
      printer << stride;
  });
}

/// group ::= integer | `row` | `tensor`
static ParseResult parseGroup(AsmParser &parser, int64_t &group) {
  int64_t value = 0;
  OptionalParseResult integer = parser.parseOptionalInteger(value);
  if (integer.has_value()) {
    if (failed(*integer))
      return failure();
    if (value <= 0)
      return parser.emitError(parser.getCurrentLocation(),
                              "format_c2: expected a positive group, got ")
             << value;
    group = value;
    return success();
  }
  if (succeeded(parser.parseOptionalKeyword("row"))) {
    group = FieldAttr::kPerRow;
    return success();
  }
  if (succeeded(parser.parseOptionalKeyword("tensor"))) {
    group = FieldAttr::kPerTensor;
    return success();
  }
  return parser.emitError(parser.getCurrentLocation(),
                          "expected a number of elements, 'row' or 'tensor' "
                          "after 'per'");
}

static void printGroup(AsmPrinter &printer, int64_t group) {
  if (group == FieldAttr::kPerRow)
    printer << "row";
  else if (group == FieldAttr::kPerTensor)
    printer << "tensor";
  else
    printer << group;
}

/// format-tail ::= (`,` `[` (scale (`,` scale)*)? `]`)? (`,` `high_first`)?
static ParseResult parseFormatTail(AsmParser &parser,
                                   SmallVector<ScaleAttr> &scales,
                                   bool &highFirst) {
  highFirst = false;
  bool sawScales = false;
  while (succeeded(parser.parseOptionalComma())) {
    if (!sawScales && succeeded(parser.parseOptionalLSquare())) {
      sawScales = true;
      if (succeeded(parser.parseOptionalRSquare()))
        continue;
      do {
        scales.push_back({});
        if (parser.parseCustomAttributeWithFallback(scales.back()))
          return failure();
      } while (succeeded(parser.parseOptionalComma()));
      if (parser.parseRSquare())
        return failure();
      continue;
    }
    highFirst = true;
    return parser.parseKeyword("high_first");
  }
  return success();
}

static void printFormatTail(AsmPrinter &printer, ArrayRef<ScaleAttr> scales,
                            bool highFirst) {
  if (!scales.empty()) {
    printer << ", [";
    llvm::interleaveComma(scales, printer, [&](ScaleAttr scale) {
      printer.printStrippedAttrOrType(scale);
    });
    printer << ']';
  }
  if (highFirst)
    printer << ", high_first";
}

/// field-tail ::= (`scales` string `per` group)? (`interleave` int)? (`at`
/// int)?
///                (`pad` int)? `high_first`?
static ParseResult parseFieldTail(AsmParser &parser, StringAttr &scales,
                                  int64_t &group, int64_t &interleave,
                                  int64_t &offset, int64_t &pad,
                                  bool &highFirst) {
  scales = StringAttr();
  group = 0;
  interleave = 1;
  offset = -1;
  pad = 0;
  highFirst = false;
  if (succeeded(parser.parseOptionalKeyword("scales"))) {
    std::string target;
    if (parser.parseString(&target) || parser.parseKeyword("per") ||
        parseGroup(parser, group))
      return failure();
    scales = StringAttr::get(parser.getContext(), target);
  }
  auto integer = [&](StringRef keyword, int64_t &value) -> ParseResult {
    if (failed(parser.parseOptionalKeyword(keyword)))
      return success();
    return parser.parseInteger(value);
  };
  if (integer("interleave", interleave) || integer("at", offset) ||
      integer("pad", pad))
    return failure();
  highFirst = succeeded(parser.parseOptionalKeyword("high_first"));
  return success();
}

static void printFieldTail(AsmPrinter &printer, StringAttr scales,
                           int64_t group, int64_t interleave, int64_t offset,
                           int64_t pad, bool highFirst) {
  if (scales) {
    printer << " scales " << scales << " per ";
    printGroup(printer, group);
  }
  if (interleave != 1)
    printer << " interleave " << interleave;
  if (offset >= 0)
    printer << " at " << offset;
  if (pad)
    printer << " pad " << pad;
  if (highFirst)
    printer << " high_first";
}

/// record-body ::= name | `[` field (`,` field)* `]` (`,` `align` int)?
static ParseResult parseRecordBody(AsmParser &parser,
                                   SmallVector<FieldAttr> &fields,
                                   int64_t &align) {
  align = 1;
  StringRef name;
  SMLoc loc = parser.getCurrentLocation();
  // Given to the parser, because an editor completes them.
  auto names = llvm::to_vector_of<StringRef>(layout::getKnownRecordNames());
  if (succeeded(parser.parseOptionalKeyword(&name, names))) {
    RecordAttr known = RecordAttr::getKnown(parser.getContext(), name);
    fields = llvm::to_vector(known.getFields());
    align = known.getAlign();
    return success();
  }
  if (succeeded(parser.parseOptionalKeyword(&name))) {
    InFlightDiagnostic diag = parser.emitError(loc, "no record is known as '")
                              << name << "'; known are ";
    llvm::interleaveComma(names, diag);
    return diag;
  }
  fields.clear();
  if (parser.parseCommaSeparatedList(
          AsmParser::Delimiter::Square, [&]() -> ParseResult {
            fields.push_back({});
            return parser.parseCustomAttributeWithFallback(fields.back());
          }))
    return failure();
  if (succeeded(parser.parseOptionalComma()))
    return failure(parser.parseKeyword("align") || parser.parseInteger(align));
  return success();
}

static void printRecordBody(AsmPrinter &printer, ArrayRef<FieldAttr> fields,
                            int64_t align) {
  printer << '[';
  llvm::interleaveComma(fields, printer, [&](FieldAttr field) {
    printer.printStrippedAttrOrType(field);
  });
  printer << ']';
  if (align != 1)
    printer << ", align " << align;
}

/// A number of f32, with or without its type.
static FailureOr<FloatAttr> parseF32Parameter(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  Attribute given;
  if (parser.parseAttribute(given))
    return failure();
  StringRef text(loc.getPointer(),
                 parser.getCurrentLocation().getPointer() - loc.getPointer());
  auto number = dyn_cast<FloatAttr>(given);
  // `1e-10` is an integer and what follows it.
  if (!number)
    return parser.emitError(loc, "expected a number of f32 with a point, such "
                                 "as 1.0e-10, got ")
           << given;
  // As written: the parser has rounded a number with a type.
  StringRef digits = text.take_while(
      [](char c) { return llvm::isDigit(c) || c == '.' || c == '-'; });
  if (toF32(number).getValue().isZero() && !text.starts_with("0x") &&
      digits.find_first_of("123456789") != StringRef::npos)
    return parser.emitError(loc,
                            "expected a number that is not 0 as an f32, or "
                            "0.0, got ")
           << text.rtrim();
  return toF32(number);
}

/// parts ::= array attribute. An error in one of them is said once.
static ParseResult parseParts(AsmParser &parser, ArrayAttr &parts) {
  return parser.parseAttribute(parts);
}

static void printParts(AsmPrinter &printer, ArrayAttr parts) {
  printer << parts;
}

#include "DSV4Enums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "DSV4Attrs.cpp.inc"

void DSV4Dialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "DSV4Attrs.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// FieldAttr
//===----------------------------------------------------------------------===//

int64_t FieldAttr::getByteSize() const {
  return llvm::divideCeil(getExtent() * getElementBits(getElement()), 8);
}

LogicalResult FieldAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                StringRef name, int64_t extent, Type element,
                                Placement placement, StringAttr scales,
                                int64_t group, int64_t interleave,
                                int64_t offset, int64_t pad, bool highFirst) {
  auto type = toElementType(element);
  if (!type)
    return emitError() << "expected field '" << name << "' to hold "
                       << layout::describeElements(static_cast<bool>(scales))
                       << ", got " << element;
  if (scales && scales.empty())
    return emitError() << "record_c2: '" << name
                       << "' scales a field without a name";
  std::string why = layout::explainInvalid(
      {name.str(), extent, *type, toPlacement(placement),
       scales ? scales.str() : "", group, pad, interleave, offset, highFirst});
  return why.empty() ? success() : emitError() << why;
}

//===----------------------------------------------------------------------===//
// RecordAttr
//===----------------------------------------------------------------------===//

FieldAttr RecordAttr::getField(StringRef name) const {
  for (FieldAttr field : getFields())
    if (field.getName() == name)
      return field;
  return {};
}

SmallVector<FieldAttr> RecordAttr::getScalesOf(StringRef name) const {
  SmallVector<FieldAttr> scales;
  for (FieldAttr field : getFields())
    if (field.isScale() && field.getScales().getValue() == name)
      scales.push_back(field);
  return scales;
}

int64_t RecordAttr::getRowExtent() const {
  int64_t extent = 0;
  for (FieldAttr field : getFields())
    if (field.isData())
      extent += field.getExtent();
  return extent;
}

LogicalResult RecordAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 ArrayRef<FieldAttr> fields, int64_t align) {
  // Before a list of any length is copied.
  if (fields.size() > layout::Record::kMaxFields)
    return emitError() << "record_c8: expected at most "
                       << layout::Record::kMaxFields << " fields, got "
                       << fields.size();
  std::string why = layout::explainInvalid(toRecord(fields, align));
  return why.empty() ? success() : emitError() << why;
}

//===----------------------------------------------------------------------===//
// FormatAttr, PolicyAttr
//===----------------------------------------------------------------------===//

LogicalResult FormatAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 Type element, ArrayRef<ScaleAttr> scales,
                                 bool highFirst) {
  auto type = toElementType(element);
  if (!type || !layout::isDataType(*type))
    return emitError() << "format_c1: expected elements of type f4E2M1FN, i4, "
                          "f8E4M3FN, bf16, f16 or f32, got "
                       << element;
  if (highFirst && getElementBits(element) != 4)
    return emitError() << "format_c3: expected only elements of 4 bits to be "
                          "high_first, got "
                       << element;
  for (ScaleAttr scale : scales) {
    auto scaleType = toElementType(scale.getElement());
    if (!scaleType || !layout::isScaleType(*scaleType))
      return emitError() << "format_c1: expected scales of type f8E8M0FNU, "
                            "f8E4M3FN, bf16, f16 or f32, got "
                         << scale.getElement();
  }
  return success();
}

LogicalResult PolicyAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 PolicyKind kind, int64_t multiple) {
  if (multiple < 1 || multiple > 4096 || !llvm::isPowerOf2_64(multiple) ||
      (multiple > 1 && kind == PolicyKind::Exact))
    return emitError() << "policy_c1: expected 'multiple' to be a power of two "
                          "between 1 and 4096, and 1 with 'exact', got "
                       << multiple;
  return success();
}

//===----------------------------------------------------------------------===//
// Strides
//===----------------------------------------------------------------------===//

LogicalResult StridesAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                  ArrayRef<int64_t> strides, int64_t align) {
  if (align < 1 || align > 16 || !llvm::isPowerOf2_64(align))
    return emitError() << "strides_c1: expected 'align' to be a power of two "
                          "between 1 and 16, got "
                       << align;
  for (int64_t stride : strides)
    if (!ShapedType::isDynamic(stride) &&
        (stride < 0 || stride > INT32_MAX || stride % align != 0))
      return emitError() << "strides_c2: expected strides of '?', or of 0 to "
                            "2^31 - 1 bytes in multiples of "
                         << align << " (of 'align'), got " << stride;
  return success();
}

//===----------------------------------------------------------------------===//
// Quantisation recipes
//===----------------------------------------------------------------------===//

LogicalResult
QuantizerAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                      FloatAttr floor, FloorKind, Quotient, ScaleRounding,
                      Quotient, Ties, bool) {
  APFloat value = floor.getValue();
  if (!floor.getType().isF32() || !value.isFinite() || value.isNegative())
    return emitError() << "quantizer_c1: expected a floor of f32 that is 0 or "
                          "positive and finite, got "
                       << floor;
  return success();
}

std::string QuantizerAttr::explainMisfit(Type element, Type scaleType) const {
  bool fp4 = isa<Float4E2M1FNType>(element);
  if (!fp4 && (getTies() == Ties::Down || getDropNegativeZero()))
    return "quantizer_c2: only f4E2M1FN elements have 'ties = down' or "
           "'drop_negative_zero'";
  bool good = isa<Float8E8M0FNUType>(scaleType)
                  ? getRounding() == ScaleRounding::UpPow2
              : isa<Float8E4M3FNType>(scaleType)
                  ? getRounding() != ScaleRounding::UpPow2
                  : getRounding() != ScaleRounding::Up;
  if (good)
    return "";
  std::string text;
  llvm::raw_string_ostream(text)
      << "quantizer_c3: scales of " << scaleType << " are not rounded '"
      << stringifyScaleRounding(getRounding()) << "'";
  return text;
}
