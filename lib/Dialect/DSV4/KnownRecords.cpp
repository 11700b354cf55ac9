//===- KnownRecords.cpp - The records of public engines -*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// Every record the field stores, by name. docs/Records.md says who uses which.
//
//===----------------------------------------------------------------------===//

#include "dsv4/Dialect/DSV4.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace dsv4;

namespace {

enum class Element { E2M1, E4M3, E8M0, I4, BF16, F32 };

/// One field, in the words of FieldAttr.
struct KnownField {
  StringLiteral name;
  int64_t extent;
  Element element;
  Placement placement;
  StringLiteral scales = "";
  int64_t group = 0;
  int64_t pad = 0;
  int64_t interleave = 1;
};

struct KnownRecord {
  StringLiteral name;
  int64_t align;
  ArrayRef<KnownField> fields;
};

constexpr Placement Row = Placement::Row, Tail = Placement::Tail,
                    Array = Placement::Array;
constexpr int64_t PerRow = FieldAttr::kPerRow,
                  PerTensor = FieldAttr::kPerTensor;

// V3.2 fp8_ds_mla, FlashMLA V32_FP8Sparse.
const KnownField v32_656[] = {{"nope", 512, Element::E4M3, Row},
                              {"nope_scale", 4, Element::F32, Row, "nope", 128},
                              {"rope", 64, Element::BF16, Row}};
// V4, FlashMLA MODEL1_FP8Sparse: seven factors and one unused byte.
const KnownField v4_584[] = {
    {"nope", 448, Element::E4M3, Row},
    {"rope", 64, Element::BF16, Row},
    {"nope_scale", 7, Element::E8M0, Tail, "nope", 64, /*pad=*/1}};
const KnownField v41_528[] = {{"kv", 512, Element::E4M3, Row},
                              {"kv_scale", 16, Element::E8M0, Tail, "kv", 32}};
const KnownField v41_fp4_288[] = {
    {"kv", 512, Element::E2M1, Row},
    {"kv_scale", 32, Element::E4M3, Tail, "kv", 16}};
const KnownField nvfp4_384[] = {
    {"nope", 448, Element::E2M1, Row},
    {"rope", 64, Element::BF16, Row},
    {"nope_scale", 28, Element::E4M3, Row, "nope", 16, /*pad=*/4}};
const KnownField mxfp4_368[] = {
    {"nope", 448, Element::E2M1, Row},
    {"nope_scale", 14, Element::E8M0, Row, "nope", 32, /*pad=*/2},
    {"rope", 64, Element::BF16, Row}};
const KnownField int4_368[] = {
    {"nope", 448, Element::I4, Row},
    {"nope_scale", 14, Element::E4M3, Row, "nope", 32, /*pad=*/2},
    {"rope", 64, Element::BF16, Row}};
const KnownField int4_384[] = {
    {"nope", 448, Element::I4, Row},
    {"nope_scale", 14, Element::E4M3, Row, "nope", 32, /*pad=*/18},
    {"rope", 64, Element::BF16, Row}};
const KnownField packed_fp4_384[] = {
    {"nope", 448, Element::E2M1, Row},
    {"nope_scale", 28, Element::E4M3, Row, "nope", 16, /*pad=*/4},
    {"rope", 64, Element::BF16, Row}};
// vLLM nvfp4_ds_mla: rope is E4M3 without factors; factor s is stored at
// 8 * (s mod 4) + s / 4.
const KnownField nvfp4_352[] = {{"nope", 512, Element::E2M1, Row},
                                {"rope", 64, Element::E4M3, Row},
                                {"nope_scale", 32, Element::E4M3, Row, "nope",
                                 16, /*pad=*/0,
                                 /*interleave=*/4}};
// NVFP4 row of 512 with its rope part in bf16 and one fp32 factor for the
// latent; sizes are published, the order of the parts is inferred.
const KnownField nvfp4_432[] = {
    {"nope", 512, Element::E2M1, Row},
    {"nope_scale", 32, Element::E4M3, Row, "nope", 16},
    {"rope", 64, Element::BF16, Row},
    {"latent_scale", 1, Element::F32, Row, "nope", PerRow, /*pad=*/12}};
const KnownField nvfp4_380[] = {
    {"nope", 448, Element::E2M1, Row},
    {"nope_scale", 28, Element::E4M3, Row, "nope", 16},
    {"rope", 64, Element::BF16, Row}};
const KnownField bf16_1024[] = {{"kv", 512, Element::BF16, Row}};
const KnownField fp8_512[] = {
    {"kv", 512, Element::E4M3, Row},
    {"kv_scale", 1, Element::F32, Array, "kv", PerTensor}};
const KnownField nvfp4_arrays_288[] = {
    {"kv", 512, Element::E2M1, Array},
    {"kv_scale", 32, Element::E4M3, Array, "kv", 16},
    {"global_scale", 1, Element::F32, Array, "kv", PerTensor}};
// Three arrays, one fp32 factor an entry.
const KnownField seed_580[] = {
    {"nope", 448, Element::E4M3, Array},
    {"rope", 64, Element::BF16, Array},
    {"inv_scale", 1, Element::F32, Array, "nope", PerRow}};
const KnownField seed_292[] = {
    {"kv", 512, Element::E2M1, Array},
    {"kv_scale", 32, Element::E4M3, Array, "kv", 16},
    {"global_scale", 1, Element::F32, Array, "kv", PerRow}};
// Indexer keys.
const KnownField index_fp8_132[] = {
    {"key", 128, Element::E4M3, Row},
    {"key_scale", 1, Element::F32, Tail, "key", PerRow}};
const KnownField index_mxfp4_68[] = {
    {"key", 128, Element::E2M1, Row},
    {"key_scale", 4, Element::E8M0, Tail, "key", 32}};

const KnownRecord knownRecords[] = {
    {"v32_656", 1, v32_656},
    {"v4_584", 576, v4_584},
    {"v41_528", 512, v41_528},
    {"v41_fp4_288", 256, v41_fp4_288},
    {"nvfp4_384", 1, nvfp4_384},
    {"mxfp4_368", 1, mxfp4_368},
    {"int4_368", 1, int4_368},
    {"int4_384", 1, int4_384},
    {"packed_fp4_384", 1, packed_fp4_384},
    {"nvfp4_352", 1, nvfp4_352},
    {"nvfp4_432", 1, nvfp4_432},
    {"nvfp4_380", 1, nvfp4_380},
    {"bf16_1024", 1, bf16_1024},
    {"fp8_512", 1, fp8_512},
    {"nvfp4_arrays_288", 1, nvfp4_arrays_288},
    {"seed_580", 1, seed_580},
    {"seed_292", 1, seed_292},
    {"index_fp8_132", 1, index_fp8_132},
    {"index_mxfp4_68", 1, index_mxfp4_68},
};

Type getType(MLIRContext *context, Element element) {
  switch (element) {
  case Element::E2M1:
    return Float4E2M1FNType::get(context);
  case Element::E4M3:
    return Float8E4M3FNType::get(context);
  case Element::E8M0:
    return Float8E8M0FNUType::get(context);
  case Element::I4:
    return IntegerType::get(context, 4);
  case Element::BF16:
    return BFloat16Type::get(context);
  case Element::F32:
    return Float32Type::get(context);
  }
  llvm_unreachable("unknown element");
}

RecordAttr build(MLIRContext *context, const KnownRecord &record) {
  SmallVector<FieldAttr> fields;
  for (const KnownField &field : record.fields)
    fields.push_back(FieldAttr::get(
        context, field.name, field.extent, getType(context, field.element),
        field.placement,
        field.scales.empty() ? StringAttr()
                             : StringAttr::get(context, field.scales),
        field.group, field.interleave, /*offset=*/-1, field.pad,
        /*highFirst=*/false));
  return RecordAttr::get(context, fields, record.align);
}

} // namespace

RecordAttr RecordAttr::getKnown(MLIRContext *context, StringRef name) {
  for (const KnownRecord &record : knownRecords)
    if (record.name == name)
      return build(context, record);
  return {};
}

ArrayRef<StringLiteral> RecordAttr::getKnownNames() {
  static const SmallVector<StringLiteral> names = llvm::map_to_vector(
      knownRecords, [](const KnownRecord &record) { return record.name; });
  return names;
}

StringRef RecordAttr::getKnownName() const {
  for (const KnownRecord &record : knownRecords)
    if (record.fields.size() == getFields().size() &&
        record.align == getAlign() &&
        record.fields.front().name == getFields().front().getName() &&
        build(getContext(), record) == *this)
      return record.name;
  return {};
}
