//===- KnownRecords.cpp - The records of public engines -------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsv4-layout/Record.h"

#include <utility>

using namespace dsv4::layout;

namespace {

constexpr auto Row = Placement::Row, Tail = Placement::Tail,
               Array = Placement::Array;
constexpr auto I4 = ElementType::I4, F4E2M1FN = ElementType::F4E2M1FN,
               F8E4M3FN = ElementType::F8E4M3FN,
               F8E8M0FNU = ElementType::F8E8M0FNU, BF16 = ElementType::BF16,
               F32 = ElementType::F32;
constexpr int64_t PerRow = Field::kPerRow, PerTensor = Field::kPerTensor;

/// A field of the table below: `Field` without what no known record sets, and
/// without memory of its own.
struct FieldEntry {
  std::string_view name;
  int64_t extent;
  ElementType element;
  Placement placement;
  std::string_view scales = "";
  int64_t group = 0;
  int64_t pad = 0;
  int64_t interleave = 1;
};

struct RecordEntry {
  std::string_view name;
  FieldEntry fields[4]; ///< An unused one has no name.
  int64_t align;
};

/// Every record that the field stores. A field is given as name, elements, type
/// and placement; a scale also with what it scales and its group.
constexpr RecordEntry kRecordEntries[] = {
    // V3.2 fp8_ds_mla, FlashMLA V32_FP8Sparse.
    {"v32_656",
     {{"nope", 512, F8E4M3FN, Row},
      {"nope_scale", 4, F32, Row, "nope", 128},
      {"rope", 64, BF16, Row}},
     1},
    // V4, FlashMLA MODEL1_FP8Sparse: seven scales and one unused byte.
    {"v4_584",
     {{"nope", 448, F8E4M3FN, Row},
      {"rope", 64, BF16, Row},
      {"nope_scale", 7, F8E8M0FNU, Tail, "nope", 64, /*pad=*/1}},
     576},
    {"v41_528",
     {{"kv", 512, F8E4M3FN, Row}, {"kv_scale", 16, F8E8M0FNU, Tail, "kv", 32}},
     512},
    {"v41_fp4_288",
     {{"kv", 512, F4E2M1FN, Row}, {"kv_scale", 32, F8E4M3FN, Tail, "kv", 16}},
     256},
    // FlashMLA and vLLM 0.33 from 2026-09-30 on: the scales of an entry follow
    // its values. Pages have the size of the two records above.
    {"v41_interleaved_528",
     {{"kv", 512, F8E4M3FN, Row}, {"kv_scale", 16, F8E8M0FNU, Row, "kv", 32}},
     1},
    {"v41_fp4_interleaved_288",
     {{"kv", 512, F4E2M1FN, Row}, {"kv_scale", 32, F8E4M3FN, Row, "kv", 16}},
     1},
    {"nvfp4_384",
     {{"nope", 448, F4E2M1FN, Row},
      {"rope", 64, BF16, Row},
      {"nope_scale", 28, F8E4M3FN, Row, "nope", 16, /*pad=*/4}},
     1},
    {"mxfp4_368",
     {{"nope", 448, F4E2M1FN, Row},
      {"nope_scale", 14, F8E8M0FNU, Row, "nope", 32, /*pad=*/2},
      {"rope", 64, BF16, Row}},
     1},
    {"int4_368",
     {{"nope", 448, I4, Row},
      {"nope_scale", 14, F8E4M3FN, Row, "nope", 32, /*pad=*/2},
      {"rope", 64, BF16, Row}},
     1},
    {"int4_384",
     {{"nope", 448, I4, Row},
      {"nope_scale", 14, F8E4M3FN, Row, "nope", 32, /*pad=*/18},
      {"rope", 64, BF16, Row}},
     1},
    {"packed_fp4_384",
     {{"nope", 448, F4E2M1FN, Row},
      {"nope_scale", 28, F8E4M3FN, Row, "nope", 16, /*pad=*/4},
      {"rope", 64, BF16, Row}},
     1},
    // vLLM nvfp4_ds_mla: rope is E4M3 without scales; scale s is stored at
    // 8 * (s mod 4) + s / 4.
    {"nvfp4_352",
     {{"nope", 512, F4E2M1FN, Row},
      {"rope", 64, F8E4M3FN, Row},
      {"nope_scale", 32, F8E4M3FN, Row, "nope", 16, /*pad=*/0,
       /*interleave=*/4}},
     1},
    // NVFP4 row of 512 with its rope part in bf16 and one fp32 scale for the
    // latent; sizes are published, the order of the parts is inferred.
    {"nvfp4_432",
     {{"nope", 512, F4E2M1FN, Row},
      {"nope_scale", 32, F8E4M3FN, Row, "nope", 16},
      {"rope", 64, BF16, Row},
      {"latent_scale", 1, F32, Row, "nope", PerRow, /*pad=*/12}},
     1},
    {"nvfp4_380",
     {{"nope", 448, F4E2M1FN, Row},
      {"nope_scale", 28, F8E4M3FN, Row, "nope", 16},
      {"rope", 64, BF16, Row}},
     1},
    {"bf16_1024", {{"kv", 512, BF16, Row}}, 1},
    {"fp8_512",
     {{"kv", 512, F8E4M3FN, Row}, {"kv_scale", 1, F32, Array, "kv", PerTensor}},
     1},
    {"nvfp4_arrays_288",
     {{"kv", 512, F4E2M1FN, Array},
      {"kv_scale", 32, F8E4M3FN, Array, "kv", 16},
      {"global_scale", 1, F32, Array, "kv", PerTensor}},
     1},
    // Three arrays, one fp32 scale per entry.
    {"seed_580",
     {{"nope", 448, F8E4M3FN, Array},
      {"rope", 64, BF16, Array},
      {"inv_scale", 1, F32, Array, "nope", PerRow}},
     1},
    {"seed_292",
     {{"kv", 512, F4E2M1FN, Array},
      {"kv_scale", 32, F8E4M3FN, Array, "kv", 16},
      {"global_scale", 1, F32, Array, "kv", PerRow}},
     1},
    // Indexer keys.
    {"index_fp8_132",
     {{"key", 128, F8E4M3FN, Row}, {"key_scale", 1, F32, Tail, "key", PerRow}},
     1},
    {"index_mxfp4_68",
     {{"key", 128, F4E2M1FN, Row},
      {"key_scale", 4, F8E8M0FNU, Tail, "key", 32}},
     1},
};

struct KnownRecord {
  std::string_view name;
  Record record;
};

} // namespace

static Record toRecord(const RecordEntry &entry) {
  Record record;
  record.align = entry.align;
  for (const FieldEntry &from : entry.fields) {
    if (from.name.empty())
      break;
    Field field;
    field.name = from.name;
    field.extent = from.extent;
    field.element = from.element;
    field.placement = from.placement;
    field.scales = from.scales;
    field.group = from.group;
    field.pad = from.pad;
    field.interleave = from.interleave;
    record.fields.push_back(std::move(field));
  }
  return record;
}

static const std::vector<KnownRecord> &getKnownRecords() {
  static const std::vector<KnownRecord> records = [] {
    std::vector<KnownRecord> all;
    for (const RecordEntry &entry : kRecordEntries)
      all.push_back({entry.name, toRecord(entry)});
    return all;
  }();
  return records;
}

const Record *dsv4::layout::findKnownRecord(std::string_view name) {
  for (const KnownRecord &known : getKnownRecords())
    if (known.name == name)
      return &known.record;
  return nullptr;
}

const std::vector<std::string_view> &dsv4::layout::getKnownRecordNames() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> all;
    for (const KnownRecord &known : getKnownRecords())
      all.push_back(known.name);
    return all;
  }();
  return names;
}
