//===- RecordLayoutTest.cpp - Where the bytes of every known record are ---===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every number here was written by hand from the published layouts, none was
// computed by the code under test.
//
//===----------------------------------------------------------------------===//

#include "dsv4-layout/RecordLayout.h"

#include "gtest/gtest.h"

#include <array>
#include <set>

using namespace dsv4::layout;

namespace {

constexpr std::array<int64_t, 5> pageSizes = {1, 2, 32, 64, 128};

enum class In { Row, Tail, Array, Tensor };

struct ExpectedField {
  const char *name;
  In place;
  int64_t offset; ///< Within the row or the tail of an entry.
  int64_t bytes;  ///< Without padding.
  /// Known alignment for each of pageSizes.
  std::array<int64_t, 5> alignment;
};

struct ExpectedRecord {
  const char *name;
  int64_t recordBytes, rowBytes, tailBytes, rowExtent;
  /// For each of pageSizes.
  std::array<int64_t, 5> pageBytes;
  std::vector<ExpectedField> fields;
};

constexpr std::array<int64_t, 5> always(int64_t alignment) {
  return {alignment, alignment, alignment, alignment, alignment};
}

const ExpectedRecord records[] = {
    // 512 E4M3, 4 fp32, 64 bf16, interleaved: 512 + 16 + 128.
    {"v32_656",
     656,
     656,
     0,
     576,
     {656, 1312, 20992, 41984, 83968},
     {{"nope", In::Row, 0, 512, always(16)},
      {"nope_scale", In::Row, 512, 16, always(16)},
      {"rope", In::Row, 528, 128, always(16)}}},
    // n x 576 of data, then n x 8 of scales, padded to a multiple of 576.
    {"v4_584",
     584,
     576,
     8,
     512,
     {1152, 1728, 19008, 37440, 74880},
     {{"nope", In::Row, 0, 448, always(16)},
      {"rope", In::Row, 448, 128, always(16)},
      {"nope_scale", In::Tail, 0, 7, {16, 8, 8, 8, 8}}}},
    // n x 512, then n x 16, padded to a multiple of 512.
    {"v41_528",
     528,
     512,
     16,
     512,
     {1024, 1536, 16896, 33792, 67584},
     {{"kv", In::Row, 0, 512, always(16)},
      {"kv_scale", In::Tail, 0, 16, always(16)}}},
    // n x 256, then n x 32, padded to a multiple of 256.
    {"v41_fp4_288",
     288,
     256,
     32,
     512,
     {512, 768, 9216, 18432, 36864},
     {{"kv", In::Row, 0, 256, always(16)},
      {"kv_scale", In::Tail, 0, 32, always(16)}}},
    // n x (512 + 16), without padding: a page of 64 is that of v41_528.
    {"v41_interleaved_528",
     528,
     528,
     0,
     512,
     {528, 1056, 16896, 33792, 67584},
     {{"kv", In::Row, 0, 512, always(16)},
      {"kv_scale", In::Row, 512, 16, always(16)}}},
    // n x (256 + 32), without padding: a page of 64 is that of v41_fp4_288.
    {"v41_fp4_interleaved_288",
     288,
     288,
     0,
     512,
     {288, 576, 9216, 18432, 36864},
     {{"kv", In::Row, 0, 256, always(16)},
      {"kv_scale", In::Row, 256, 32, always(16)}}},
    // 224 + 128 + 28 and 4 unused.
    {"nvfp4_384",
     384,
     384,
     0,
     512,
     {384, 768, 12288, 24576, 49152},
     {{"nope", In::Row, 0, 224, always(16)},
      {"rope", In::Row, 224, 128, always(16)},
      {"nope_scale", In::Row, 352, 28, always(16)}}},
    // 224 + 14 and 2 unused + 128.
    {"mxfp4_368",
     368,
     368,
     0,
     512,
     {368, 736, 11776, 23552, 47104},
     {{"nope", In::Row, 0, 224, always(16)},
      {"nope_scale", In::Row, 224, 14, always(16)},
      {"rope", In::Row, 240, 128, always(16)}}},
    {"int4_368",
     368,
     368,
     0,
     512,
     {368, 736, 11776, 23552, 47104},
     {{"nope", In::Row, 0, 224, always(16)},
      {"nope_scale", In::Row, 224, 14, always(16)},
      {"rope", In::Row, 240, 128, always(16)}}},
    // The same with 18 unused bytes after the scales.
    {"int4_384",
     384,
     384,
     0,
     512,
     {384, 768, 12288, 24576, 49152},
     {{"nope", In::Row, 0, 224, always(16)},
      {"nope_scale", In::Row, 224, 14, always(16)},
      {"rope", In::Row, 256, 128, always(16)}}},
    // 224 + 32 (28 scales) + 128.
    {"packed_fp4_384",
     384,
     384,
     0,
     512,
     {384, 768, 12288, 24576, 49152},
     {{"nope", In::Row, 0, 224, always(16)},
      {"nope_scale", In::Row, 224, 28, always(16)},
      {"rope", In::Row, 256, 128, always(16)}}},
    // 256 + 64 E4M3 + 32 scales.
    {"nvfp4_352",
     352,
     352,
     0,
     576,
     {352, 704, 11264, 22528, 45056},
     {{"nope", In::Row, 0, 256, always(16)},
      {"rope", In::Row, 256, 64, always(16)},
      {"nope_scale", In::Row, 320, 32, always(16)}}},
    // 256 + 32 + 128 + 4 and 12 unused.
    {"nvfp4_432",
     432,
     432,
     0,
     576,
     {432, 864, 13824, 27648, 55296},
     {{"nope", In::Row, 0, 256, always(16)},
      {"nope_scale", In::Row, 256, 32, always(16)},
      {"rope", In::Row, 288, 128, always(16)},
      {"latent_scale", In::Row, 416, 4, always(16)}}},
    // 224 + 28 + 128: a multiple of 4 and of no more.
    {"nvfp4_380",
     380,
     380,
     0,
     512,
     {380, 760, 12160, 24320, 48640},
     {{"nope", In::Row, 0, 224, always(4)},
      {"nope_scale", In::Row, 224, 28, always(4)},
      {"rope", In::Row, 252, 128, always(4)}}},
    {"bf16_1024",
     1024,
     1024,
     0,
     512,
     {1024, 2048, 32768, 65536, 131072},
     {{"kv", In::Row, 0, 1024, always(16)}}},
    {"fp8_512",
     512,
     512,
     0,
     512,
     {512, 1024, 16384, 32768, 65536},
     {{"kv", In::Row, 0, 512, always(16)},
      {"kv_scale", In::Tensor, 0, 4, always(16)}}},
    {"nvfp4_arrays_288",
     288,
     0,
     0,
     512,
     {0, 0, 0, 0, 0},
     {{"kv", In::Array, 0, 256, always(16)},
      {"kv_scale", In::Array, 0, 32, always(16)},
      {"global_scale", In::Tensor, 0, 4, always(16)}}},
    {"seed_580",
     580,
     0,
     0,
     512,
     {0, 0, 0, 0, 0},
     {{"nope", In::Array, 0, 448, always(16)},
      {"rope", In::Array, 0, 128, always(16)},
      {"inv_scale", In::Array, 0, 4, always(4)}}},
    {"seed_292",
     292,
     0,
     0,
     512,
     {0, 0, 0, 0, 0},
     {{"kv", In::Array, 0, 256, always(16)},
      {"kv_scale", In::Array, 0, 32, always(16)},
      {"global_scale", In::Array, 0, 4, always(4)}}},
    // n x 128, then n x 4, without padding: small pages are not 16 aligned.
    {"index_fp8_132",
     132,
     128,
     4,
     128,
     {132, 264, 4224, 8448, 16896},
     {{"key", In::Row, 0, 128, {4, 8, 16, 16, 16}},
      {"key_scale", In::Tail, 0, 4, always(4)}}},
    // n x 64, then n x 4.
    {"index_mxfp4_68",
     68,
     64,
     4,
     128,
     {68, 136, 2176, 4352, 8704},
     {{"key", In::Row, 0, 64, {4, 8, 16, 16, 16}},
      {"key_scale", In::Tail, 0, 4, always(4)}}},
};

const Record &known(std::string_view name) {
  const Record *record = findKnownRecord(name);
  EXPECT_NE(record, nullptr) << name;
  static const Record none;
  return record ? *record : none;
}

Field makeField(const char *name, int64_t extent, ElementType element,
                Placement placement, int64_t offset = -1, int64_t pad = 0) {
  Field field;
  field.name = name;
  field.extent = extent;
  field.element = element;
  field.placement = placement;
  field.offset = offset;
  field.pad = pad;
  return field;
}

/// Position of the field `name`.
RecordLayout::Position find(const Record &record, int64_t page,
                            const std::string &name) {
  RecordLayout layout(record, page);
  for (size_t i = 0; i < record.fields.size(); ++i)
    if (record.fields[i].name == name)
      return layout.getPosition(i);
  ADD_FAILURE() << "no field " << name;
  return {};
}

/// Byte of an entry, in 64 bits throughout.
int64_t at(RecordLayout::Position position, int64_t page, int64_t slot) {
  return position.base + page * position.pageStride +
         slot * position.slotStride;
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

TEST(RecordLayoutTest, TableNamesEveryKnownRecord) {
  std::set<std::string> here, known;
  for (const ExpectedRecord &record : records)
    here.insert(record.name);
  for (std::string_view name : getKnownRecordNames())
    known.insert(std::string(name));
  EXPECT_EQ(here, known);
}

TEST(RecordLayoutTest, KnownRecordsAreValid) {
  for (std::string_view name : getKnownRecordNames()) {
    for (const Field &field : known(name).fields)
      EXPECT_EQ(explainInvalid(field), "") << name;
    EXPECT_EQ(explainInvalid(known(name)), "") << name;
    for (int64_t page : pageSizes)
      EXPECT_EQ(explainInvalid(known(name), page), "") << name;
  }
  EXPECT_EQ(findKnownRecord("v5_1"), nullptr);
  EXPECT_EQ(findKnownRecord(""), nullptr);
}

TEST(RecordLayoutTest, RecordBytes) {
  for (const ExpectedRecord &record : records)
    for (int64_t page : pageSizes) {
      SCOPED_TRACE(std::string(record.name) + ", page " + std::to_string(page));
      RecordLayout layout(known(record.name), page);
      EXPECT_EQ(layout.getRecordBytes(), record.recordBytes);
      EXPECT_EQ(layout.getRowBytes(), record.rowBytes);
      EXPECT_EQ(layout.getTailBytes(), record.tailBytes);
      EXPECT_EQ(layout.hasPages(), record.rowBytes != 0);
    }
}

TEST(RecordLayoutTest, NamesEndInTheirBytes) {
  for (const ExpectedRecord &record : records) {
    std::string name = record.name;
    EXPECT_EQ(std::stoll(name.substr(name.rfind('_') + 1)), record.recordBytes)
        << name;
  }
}

TEST(RecordLayoutTest, RowExtent) {
  for (const ExpectedRecord &record : records) {
    int64_t extent = 0;
    for (const Field &field : known(record.name).fields)
      extent += field.isData() ? field.extent : 0;
    EXPECT_EQ(extent, record.rowExtent) << record.name;
  }
}

TEST(RecordLayoutTest, PageBytes) {
  for (const ExpectedRecord &record : records)
    for (size_t p = 0; p < pageSizes.size(); ++p)
      EXPECT_EQ(RecordLayout(known(record.name), pageSizes[p]).getPageBytes(),
                record.pageBytes[p])
          << record.name << ", page " << pageSizes[p];
}

TEST(RecordLayoutTest, FieldPositions) {
  for (const ExpectedRecord &record : records) {
    const std::vector<Field> &fields = known(record.name).fields;
    ASSERT_EQ(fields.size(), record.fields.size()) << record.name;
    for (size_t p = 0; p < pageSizes.size(); ++p) {
      int64_t page = pageSizes[p];
      RecordLayout layout(known(record.name), page);
      for (size_t i = 0; i < fields.size(); ++i) {
        const ExpectedField &expected = record.fields[i];
        SCOPED_TRACE(std::string(record.name) + "." + expected.name +
                     ", page " + std::to_string(page));
        EXPECT_EQ(fields[i].name, expected.name);
        EXPECT_EQ(fields[i].getByteSize(), expected.bytes);
        RecordLayout::Position position = layout.getPosition(i);
        EXPECT_EQ(position.alignment, expected.alignment[p]);
        EXPECT_EQ(position.inArray,
                  expected.place == In::Array || expected.place == In::Tensor);
        switch (expected.place) {
        case In::Row:
          EXPECT_EQ(position.base, expected.offset);
          EXPECT_EQ(position.slotStride, record.rowBytes);
          EXPECT_EQ(position.pageStride, record.pageBytes[p]);
          break;
        case In::Tail:
          EXPECT_EQ(position.base, page * record.rowBytes + expected.offset);
          EXPECT_EQ(position.slotStride, record.tailBytes);
          EXPECT_EQ(position.pageStride, record.pageBytes[p]);
          break;
        case In::Array:
          EXPECT_EQ(position.base, 0);
          EXPECT_EQ(position.slotStride, expected.bytes);
          EXPECT_EQ(position.pageStride, page * expected.bytes);
          break;
        case In::Tensor:
          EXPECT_EQ(position.base, 0);
          EXPECT_EQ(position.slotStride, 0);
          EXPECT_EQ(position.pageStride, 0);
          break;
        }
      }
    }
  }
}

/// An alignment is a promise: it holds for every entry of the first pages.
TEST(RecordLayoutTest, AlignmentHoldsInEveryEntry) {
  for (const ExpectedRecord &record : records)
    for (int64_t page : pageSizes) {
      RecordLayout layout(known(record.name), page);
      for (unsigned i = 0; i < record.fields.size(); ++i) {
        RecordLayout::Position position = layout.getPosition(i);
        for (int64_t p = 0; p < 4; ++p)
          for (int64_t slot = 0; slot < page; ++slot)
            ASSERT_EQ(at(position, p, slot) % position.alignment, 0)
                << record.name << "." << record.fields[i].name << " page " << p
                << " of " << page << ", slot " << slot;
      }
    }
}

/// No two bytes of a page have two owners, and none lies outside.
TEST(RecordLayoutTest, FieldsOfAPageAreDisjoint) {
  for (const ExpectedRecord &record : records)
    for (int64_t page : pageSizes) {
      RecordLayout layout(known(record.name), page);
      std::vector<bool> owned(layout.getPageBytes());
      for (unsigned i = 0; i < record.fields.size(); ++i) {
        RecordLayout::Position position = layout.getPosition(i);
        if (position.inArray)
          continue;
        for (int64_t slot = 0; slot < page; ++slot)
          for (int64_t byte = 0; byte < record.fields[i].bytes; ++byte) {
            int64_t where = at(position, 0, slot) + byte;
            ASSERT_LT(where, layout.getPageBytes()) << record.name;
            ASSERT_FALSE(owned[where]) << record.name << " byte " << where;
            owned[where] = true;
          }
      }
    }
}

//===----------------------------------------------------------------------===//
// Single numbers worth naming
//===----------------------------------------------------------------------===//

TEST(RecordLayoutTest, PageOf64OfV4) {
  // 64 * 576 = 36864 of data, 64 * 8 = 512 of scales, 37376 padded to 65 *
  // 576.
  const Record &record = known("v4_584");
  EXPECT_EQ(RecordLayout(record, 64).getPageBytes(), 37440);
  auto scale = find(record, 64, "nope_scale");
  EXPECT_EQ(scale.base, 36864);
  EXPECT_EQ(at(scale, 0, 63), 37368);
  EXPECT_EQ(at(scale, 1, 0), 74304);
  auto rope = find(record, 64, "rope");
  EXPECT_EQ(at(rope, 2, 5), 2 * 37440 + 5 * 576 + 448);
}

TEST(RecordLayoutTest, IndexerPageOfV41) {
  // DeepGEMM wants 512-byte strides; 128 * 68 = 17 * 512 has one by itself.
  EXPECT_EQ(RecordLayout(known("index_mxfp4_68"), 128).getPageBytes(),
            17 * 512);
}

TEST(RecordLayoutTest, OffsetsBeyond2GiB) {
  static_assert(
      std::is_same_v<decltype(RecordLayout::Position::base), int64_t>);
  const Record &v4 = known("v4_584");
  // Page 57359 is the first to begin after 2^31: 57358 * 37440 = 2147483520.
  EXPECT_EQ(at(find(v4, 64, "nope"), 57359, 0), 2147520960);
  EXPECT_EQ(at(find(v4, 64, "nope_scale"), 57359, 63), 2147558328);
  EXPECT_EQ(at(find(v4, 64, "rope"), 1000000, 1), 37440000000 + 576 + 448);
  // The largest page number there is.
  EXPECT_EQ(at(find(v4, 64, "nope"), 2147483647, 0), 80401787743680);
  const Record &seed = known("seed_580");
  EXPECT_EQ(at(find(seed, 64, "nope"), 74899, 0), 2147504128);
  EXPECT_EQ(at(find(seed, 64, "inv_scale"), 10000000, 63), 2560000252);
}

//===----------------------------------------------------------------------===//
// Records that are not in the table
//===----------------------------------------------------------------------===//

TEST(RecordLayoutTest, ExplicitOffsetAndPadding) {
  Record record{
      {makeField("a", 8, ElementType::BF16, Placement::Row, /*offset=*/32),
       makeField("b", 4, ElementType::F8E4M3FN, Placement::Row, -1, /*pad=*/12),
       makeField("c", 32, ElementType::F8E4M3FN, Placement::Row, /*offset=*/0)},
      1};
  EXPECT_EQ(getFieldOffsets(record), (std::vector<int64_t>{32, 48, 0}));
  record.align = 128;
  RecordLayout layout(record, 3);
  EXPECT_EQ(layout.getRowBytes(), 64);
  EXPECT_EQ(layout.getPageBytes(), 256);
  EXPECT_EQ(layout.getPosition(1).base, 48);
}

TEST(RecordLayoutTest, FieldsFollowTheFurthest) {
  Record record{{makeField("far", 16, ElementType::F8E4M3FN, Placement::Row,
                           /*offset=*/64),
                 makeField("near", 16, ElementType::F8E4M3FN, Placement::Row,
                           /*offset=*/0),
                 makeField("next", 16, ElementType::F8E4M3FN, Placement::Row)},
                1};
  EXPECT_EQ(getFieldOffsets(record), (std::vector<int64_t>{64, 0, 80}));
}

TEST(RecordLayoutTest, PlacementsAreIndependent) {
  Record record{
      {makeField("row", 16, ElementType::F8E4M3FN, Placement::Row),
       makeField("tail", 32, ElementType::F8E4M3FN, Placement::Tail),
       makeField("array", 64, ElementType::F8E4M3FN, Placement::Array),
       makeField("row2", 16, ElementType::F8E4M3FN, Placement::Row),
       makeField("tail2", 32, ElementType::F8E4M3FN, Placement::Tail)},
      1};
  EXPECT_EQ(getFieldOffsets(record), (std::vector<int64_t>{0, 0, 0, 16, 32}));
  RecordLayout layout(record, 10);
  EXPECT_EQ(layout.getRecordBytes(), 32 + 64 + 64);
  EXPECT_EQ(layout.getPosition(4).base, 10 * 32 + 32);
}

//===----------------------------------------------------------------------===//
// Invalid records
//===----------------------------------------------------------------------===//

Field makeScale(const char *name, int64_t extent, const char *of,
                int64_t group) {
  Field field = makeField(name, extent, ElementType::F32, Placement::Row);
  field.scales = of;
  field.group = group;
  return field;
}

TEST(RecordLayoutTest, InvalidRecords) {
  auto f8 = [](const char *name, int64_t extent, int64_t offset = -1) {
    return makeField(name, extent, ElementType::F8E4M3FN, Placement::Row,
                     offset);
  };
  auto explain = [](std::vector<Field> fields) {
    return explainInvalid(Record{std::move(fields), 1});
  };
  EXPECT_EQ(explain({f8("a", 8), f8("a", 8)}),
            "record_c1: two fields are named 'a'");
  EXPECT_EQ(explain({}), "record_c1: a record needs a data field");
  EXPECT_EQ(explain({makeScale("s", 1, "a", 8), f8("a", 8)}),
            "record_c2: 's' scales 'a', which is not an earlier data field");
  EXPECT_EQ(explain({f8("a", 8), makeScale("s", 1, "a", 3)}),
            "record_c3: the group 3 of scale 's' does not divide the extent 8 "
            "of field 'a'");
  EXPECT_EQ(explain({f8("a", 8), makeScale("s", 3, "a", 4)}),
            "record_c3: scale 's' has 3 elements, field 'a' has 2 groups");
  EXPECT_EQ(explain({f8("a", 8), f8("b", 8, 7)}),
            "record_c4: fields 'a' and 'b' overlap");
  EXPECT_EQ(explain({f8("a", 2), makeScale("s", 1, "a", 2)}),
            "record_c5: field 's' starts at byte 2, which is not a multiple of "
            "its element size 4");
  EXPECT_EQ(explain({makeField("a", 3, ElementType::F4E2M1FN, Placement::Row)}),
            "record_c6: 4-bit field 'a' has an odd extent 3");
  EXPECT_EQ(explain({f8("a", 65536), f8("b", 1)}),
            "record_c7: a row has at most 65536 values, got 65537");
  EXPECT_EQ(explain(std::vector<Field>(65, f8("a", 1))),
            "record_c8: expected at most 64 fields, got 65");
  EXPECT_EQ(explainInvalid(Record{{f8("a", 8)}, 0}),
            "expected a page alignment between 1 and 2^20, got 0");
}

TEST(RecordLayoutTest, InvalidPages) {
  const Record &v4 = known("v4_584");
  EXPECT_EQ(explainInvalid(v4, 0),
            "cache_c1: expected between 1 and 2^20 entries per page, got 0");
  Record wide{{makeField("a", 65536, ElementType::F32, Placement::Row)}, 1};
  EXPECT_EQ(explainInvalid(wide, 1 << 13),
            "cache_c1: expected less than 2^31 bytes per page, got 2147483648");
  Record odd{{makeField("a", 1, ElementType::F8E4M3FN, Placement::Row, 4),
              makeField("b", 1, ElementType::F32, Placement::Row, 0)},
             1};
  EXPECT_EQ(explainInvalid(odd, 2),
            "cache_c2: field 'b' is not aligned to its element size 4 in every "
            "entry (row 5, tail 0, page 10 bytes)");
}

/// The largest record that is valid: its bytes are far from 2^63.
TEST(RecordLayoutTest, LargestRecord) {
  std::vector<Field> fields = {
      makeField("a", 65536, ElementType::F32, Placement::Row)};
  for (int i = 1; i < 64; ++i)
    fields.push_back(makeField(("m" + std::to_string(i)).c_str(), 64,
                               ElementType::I32, Placement::Tail, -1, 1 << 20));
  Record record{fields, 1 << 20};
  EXPECT_EQ(explainInvalid(record), "");
  EXPECT_GT(RecordLayout(record, RecordLayout::kMaxPage).getPageBytes(), 0);
}

} // namespace
