//===- DSV4Attrs.cpp - Records, formats, schedules -*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

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
  if (succeeded(parser.parseOptionalKeyword(&name))) {
    RecordAttr known = RecordAttr::getKnown(parser.getContext(), name);
    if (!known) {
      InFlightDiagnostic diag = parser.emitError(loc, "no record is known as '")
                                << name << "'; known are ";
      llvm::interleaveComma(RecordAttr::getKnownNames(), diag);
      return diag;
    }
    fields = llvm::to_vector(known.getFields());
    align = known.getAlign();
    return success();
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

int64_t dsv4::getElementBits(Type type) { return type.getIntOrFloatBitWidth(); }

int64_t FieldAttr::getByteSize() const {
  return llvm::divideCeil(getExtent() * getElementBits(getElement()), 8);
}

static bool isDataElement(Type type) {
  return type.isF32() ||
         isa<Float4E2M1FNType, Float8E4M3FNType, BFloat16Type>(type) ||
         type.isSignlessInteger(4);
}

static bool isFactorElement(Type type) {
  return isa<Float8E8M0FNUType, Float8E4M3FNType, BFloat16Type, Float32Type>(
      type);
}

LogicalResult FieldAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                StringRef name, int64_t extent, Type element,
                                Placement placement, StringAttr scales,
                                int64_t group, int64_t interleave,
                                int64_t offset, int64_t pad, bool highFirst) {
  auto isWord = [](char c) { return llvm::isAlnum(c) || c == '_'; };
  if (name.empty() || llvm::isDigit(name.front()) ||
      !llvm::all_of(name, isWord))
    return emitError()
           << "expected the name of a field to be an identifier, got '" << name
           << "'";
  if (extent <= 0 || extent > RecordAttr::kMaxRowExtent)
    return emitError() << "expected field '" << name
                       << "' to have between 1 and "
                       << RecordAttr::kMaxRowExtent << " elements, got "
                       << extent;
  if (scales ? !isFactorElement(element)
             : !isDataElement(element) && !element.isSignlessInteger(32))
    return emitError() << "expected field '" << name << "' to hold "
                       << (scales
                               ? "f8E8M0FNU, f8E4M3FN, bf16 or f32 factors"
                               : "f4E2M1FN, i4, f8E4M3FN, bf16 or f32 values, "
                                 "or i32 metadata")
                       << ", got " << element;
  if (highFirst && getElementBits(element) != 4)
    return emitError() << "format_c3: expected only elements of 4 bits to be "
                          "high_first, not field '"
                       << name << "'";
  if (element.isSignlessInteger(32) && extent > 64)
    return emitError() << "expected metadata field '" << name
                       << "' to have at most 64 elements, got " << extent;
  if (!scales && interleave != 1)
    return emitError() << "expected only factors to be interleaved, not field '"
                       << name << "'";
  if (interleave <= 0 || extent % interleave != 0)
    return emitError() << "expected the interleave of field '" << name
                       << "' to divide its extent " << extent << ", got "
                       << interleave;
  constexpr int64_t maxBytes = 1 << 20;
  if (offset < -1 || pad < 0 || offset > maxBytes || pad > maxBytes)
    return emitError() << "expected the offset and padding of field '" << name
                       << "' between 0 and 2^20";
  if (placement == Placement::Array && (offset != -1 || pad != 0))
    return emitError() << "expected array field '" << name
                       << "' to have neither offset nor padding";
  if (group == kPerTensor && placement != Placement::Array)
    return emitError() << "expected the factor '" << name
                       << "' per tensor to be in an array";
  return success();
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

/// Verifies clause record_c2 and record_c3 of one factor.
static LogicalResult verifyFactor(function_ref<InFlightDiagnostic()> emitError,
                                  FieldAttr factor,
                                  ArrayRef<FieldAttr> earlier) {
  const auto *target = llvm::find_if(earlier, [&](FieldAttr field) {
    return field.getName() == factor.getScales().getValue();
  });
  if (target == earlier.end() || !target->isData())
    return emitError() << "record_c2: factor '" << factor.getName()
                       << "' scales " << factor.getScales()
                       << ", which is not an earlier data field";
  int64_t group = factor.getGroup();
  int64_t groups = 1;
  if (group > 0) {
    if (target->getExtent() % group != 0)
      return emitError() << "record_c3: the group " << group << " of factor '"
                         << factor.getName() << "' does not divide the extent "
                         << target->getExtent() << " of field '"
                         << target->getName() << "'";
    groups = target->getExtent() / group;
  }
  if (factor.getExtent() != groups)
    return emitError() << "record_c3: factor '" << factor.getName() << "' has "
                       << factor.getExtent() << " elements, field '"
                       << target->getName() << "' has " << groups
                       << (groups == 1 ? " group" : " groups");
  return success();
}

LogicalResult RecordAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 ArrayRef<FieldAttr> fields, int64_t align) {
  if (align <= 0 || align > (1 << 20))
    return emitError() << "expected a page alignment between 1 and 2^20, got "
                       << align;
  int64_t row = 0;
  for (FieldAttr field : fields)
    row += field.isData() ? field.getExtent() : 0;
  if (row > kMaxRowExtent)
    return emitError() << "record_c7: a row has at most " << kMaxRowExtent
                       << " values, got " << row;
  if (llvm::none_of(fields, [](FieldAttr field) { return field.isData(); }))
    return emitError() << "record_c1: a record needs a data field";
  SmallVector<int64_t> offsets = getFieldOffsets(fields);
  for (auto [i, field] : llvm::enumerate(fields)) {
    if (field.isScale() &&
        failed(verifyFactor(emitError, field, fields.take_front(i))))
      return failure();
    int64_t bits = getElementBits(field.getElement());
    if (bits < 8 && field.getExtent() % 2 != 0)
      return emitError() << "record_c6: 4-bit field '" << field.getName()
                         << "' has an odd extent " << field.getExtent();
    if (bits > 8 && offsets[i] % (bits / 8) != 0)
      return emitError() << "record_c5: field '" << field.getName()
                         << "' starts at byte " << offsets[i]
                         << ", which is not a multiple of its element size "
                         << bits / 8;
    for (unsigned j = 0; j < i; ++j) {
      FieldAttr other = fields[j];
      if (other.getName() == field.getName())
        return emitError() << "record_c1: two fields are named '"
                           << field.getName() << "'";
      if (other.getPlacement() == field.getPlacement() &&
          field.getPlacement() != Placement::Array &&
          offsets[i] < offsets[j] + other.getByteSize() &&
          offsets[j] < offsets[i] + field.getByteSize())
        return emitError() << "record_c4: fields '" << other.getName()
                           << "' and '" << field.getName() << "' overlap";
    }
  }
  return success();
}

//===----------------------------------------------------------------------===//
// FormatAttr, RowScheduleAttr
//===----------------------------------------------------------------------===//

LogicalResult FormatAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 Type element, ArrayRef<ScaleAttr> scales,
                                 bool highFirst) {
  if (!isDataElement(element))
    return emitError() << "format_c1: expected elements of type f4E2M1FN, i4, "
                          "f8E4M3FN, bf16 or f32, got "
                       << element;
  if (highFirst && getElementBits(element) != 4)
    return emitError() << "format_c3: expected only elements of 4 bits to be "
                          "high_first, got "
                       << element;
  for (ScaleAttr scale : scales)
    if (!isFactorElement(scale.getElement()))
      return emitError() << "format_c1: expected factors of type f8E8M0FNU, "
                            "f8E4M3FN, bf16 or f32, got "
                         << scale.getElement();
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

LogicalResult
RowScheduleAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                        int64_t threads, int64_t lanes, int64_t vector,
                        int64_t blocks, LoadPolicy load, StorePolicy store,
                        bool, int64_t team, int64_t rows, int64_t cluster,
                        SelectAlgorithm select, int64_t chunks, int64_t parts) {
  if (threads < 32 || threads > 1024 || threads % 32 != 0)
    return emitError()
           << "row_schedule_c1: expected 'threads' to be a multiple "
              "of 32 between 32 and 1024, got "
           << threads;
  if (lanes < 1 || lanes > 32 || !llvm::isPowerOf2_64(lanes))
    return emitError() << "row_schedule_c2: expected 'lanes' to be a power of "
                          "two between 1 and 32, got "
                       << lanes;
  if (vector < 1 || vector > 32 || !llvm::isPowerOf2_64(vector))
    return emitError() << "row_schedule_c3: expected 'vector' to be a power of "
                          "two between 1 and 32, got "
                       << vector;
  if (blocks < 0 || blocks > 32 || blocks * threads > 2048)
    return emitError() << "row_schedule_c5: expected 'blocks' between 0 and 32 "
                          "and at most 2048 threads in them, got "
                       << blocks << " of " << threads << " threads";
  if (team < 0 || team > 8 || (team & (team - 1)) != 0)
    return emitError()
           << "row_schedule_c6: expected 'team' to be 0, 1, 2, 4 or 8, got "
           << team;
  if (rows < 0 || (rows > 0 && team == 0) || rows > threads / lanes)
    return emitError() << "row_schedule_c7: expected 'rows' of a 'team' whose "
                          "lanes are among its threads, got "
                       << rows;
  bool streams = select == SelectAlgorithm::Stream;
  bool isShared = streams || select == SelectAlgorithm::Block;
  int64_t mostBlocks = isShared ? 16 : team != 0 ? 8 : 1;
  if (mostBlocks == 1 && cluster != 1)
    return emitError() << "row_schedule_c8: expected 'cluster' to be 1 where "
                          "there is no 'team' and 'select' is not 'block' or "
                          "'stream', got "
                       << cluster;
  // Selections divide a row among any number of blocks.
  if (cluster < 1 || cluster > mostBlocks ||
      (!isShared && !llvm::isPowerOf2_64(cluster)))
    return emitError() << "row_schedule_c8: expected 'cluster' to be "
                       << (isShared ? "" : "a power of two ")
                       << "between 1 and " << mostBlocks << ", got " << cluster;
  if (select != SelectAlgorithm::None && (team != 0 || rows != 0))
    return emitError() << "row_schedule_c9: expected no 'team' and 'rows' with "
                          "'select', got "
                       << team << " and " << rows;
  bool takesRounds = streams || select == SelectAlgorithm::Grid;
  if (chunks < 1 || chunks > 16 || (chunks > 1 && !takesRounds) ||
      (takesRounds && chunks * vector > kMostHeldOfRow))
    return emitError() << "row_schedule_c9: expected 'chunks' between 1 and 16 "
                          "and at most "
                       << kMostHeldOfRow
                       << " elements in them, and 1 without 'select = stream' "
                          "or 'grid', got "
                       << chunks;
  if (select != SelectAlgorithm::None && select != SelectAlgorithm::Warp &&
      (threads < 64 || !llvm::isPowerOf2_64(threads)))
    return emitError() << "row_schedule_c9: expected 'threads' that select to "
                          "be a power of two from 64 on, got "
                       << threads;
  bool isGrid = select == SelectAlgorithm::Grid;
  if (parts < (isGrid ? 2 : 1) || parts > (isGrid ? 256 : 1) ||
      !llvm::isPowerOf2_64(parts))
    return emitError() << "row_schedule_c10: expected 'parts' to be a power of "
                          "two between 2 and 256 with 'select = grid', else "
                          "1, got "
                       << parts;
  return success();
}

//===----------------------------------------------------------------------===//
// Quantisation rules
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

std::string QuantizerAttr::explainMisfit(Type element, Type factor) const {
  bool fp4 = isa<Float4E2M1FNType>(element);
  if (!fp4 && (getTies() == Ties::Down || getDropNegativeZero()))
    return "quantizer_c2: only f4E2M1FN elements have 'ties = down' or "
           "'drop_negative_zero'";
  bool good =
      isa<Float8E8M0FNUType>(factor)  ? getRounding() == ScaleRounding::UpPow2
      : isa<Float8E4M3FNType>(factor) ? getRounding() != ScaleRounding::UpPow2
                                      : getRounding() != ScaleRounding::Up;
  if (good)
    return "";
  std::string text;
  llvm::raw_string_ostream(text)
      << "quantizer_c3: factors of " << factor << " are not rounded '"
      << stringifyScaleRounding(getRounding()) << "'";
  return text;
}
