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

#include "dsv4/Dialect/RecordLayout.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"

#include <array>
#include <set>

using namespace mlir;
using namespace dsv4;

namespace {

constexpr std::array<int64_t, 5> pageSizes = {1, 2, 32, 64, 128};

enum class In { Row, Tail, Array, Tensor };

struct Field {
  const char *name;
  In place;
  int64_t offset; ///< Within the row or the tail of an entry.
  int64_t bytes;  ///< Without padding.
  /// Known alignment for each of pageSizes.
  std::array<int64_t, 5> alignment;
};

struct Record {
  const char *name;
  int64_t recordBytes, rowBytes, tailBytes, rowExtent;
  /// For each of pageSizes.
  std::array<int64_t, 5> pageBytes;
  std::vector<Field> fields;
};

constexpr std::array<int64_t, 5> always(int64_t alignment) {
  return {alignment, alignment, alignment, alignment, alignment};
}

const Record records[] = {
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
    // n x 576 of data, then n x 8 of factors, padded to a multiple of 576.
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
    // The same with 18 unused bytes behind the factors.
    {"int4_384",
     384,
     384,
     0,
     512,
     {384, 768, 12288, 24576, 49152},
     {{"nope", In::Row, 0, 224, always(16)},
      {"nope_scale", In::Row, 224, 14, always(16)},
      {"rope", In::Row, 256, 128, always(16)}}},
    // 224 + 32 (28 factors) + 128.
    {"packed_fp4_384",
     384,
     384,
     0,
     512,
     {384, 768, 12288, 24576, 49152},
     {{"nope", In::Row, 0, 224, always(16)},
      {"nope_scale", In::Row, 224, 28, always(16)},
      {"rope", In::Row, 256, 128, always(16)}}},
    // 256 + 64 E4M3 + 32 factors.
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

class RecordLayoutTest : public ::testing::Test {
protected:
  RecordLayoutTest() { context.loadDialect<DSV4Dialect>(); }

  RecordAttr known(StringRef name) {
    return RecordAttr::getKnown(&context, name);
  }
  FieldAttr field(StringRef name, int64_t extent, Type element,
                  Placement placement, int64_t offset = -1, int64_t pad = 0) {
    return FieldAttr::get(&context, name, extent, element, placement,
                          StringAttr(), /*group=*/0, /*interleave=*/1, offset,
                          pad, /*highFirst=*/false);
  }

  MLIRContext context;
};

/// Byte of an entry, in 64 bits throughout.
int64_t at(RecordLayout::Position position, int64_t page, int64_t slot) {
  return position.base + page * position.pageStride +
         slot * position.slotStride;
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

TEST_F(RecordLayoutTest, TableNamesEveryKnownRecord) {
  std::set<std::string> here, known;
  for (const Record &record : records)
    here.insert(record.name);
  for (StringRef name : RecordAttr::getKnownNames())
    known.insert(name.str());
  EXPECT_EQ(here, known);
}

TEST_F(RecordLayoutTest, NamesRoundTrip) {
  for (StringRef name : RecordAttr::getKnownNames()) {
    RecordAttr record = known(name);
    ASSERT_TRUE(record) << name.str();
    EXPECT_EQ(record.getKnownName().str(), name.str());
  }
  EXPECT_FALSE(known("v5_1"));
  EXPECT_FALSE(known(""));
}

TEST_F(RecordLayoutTest, SlightlyDifferentRecordHasNoName) {
  RecordAttr record = known("v4_584");
  EXPECT_EQ(RecordAttr::get(&context, record.getFields(), 64).getKnownName(),
            "");
  EXPECT_EQ(RecordAttr::get(&context, record.getFields().drop_back(), 576)
                .getKnownName(),
            "");
}

TEST_F(RecordLayoutTest, RecordBytes) {
  for (const Record &record : records)
    for (int64_t page : pageSizes) {
      SCOPED_TRACE(std::string(record.name) + ", page " + std::to_string(page));
      RecordLayout layout(known(record.name), page);
      EXPECT_EQ(layout.getRecordBytes(), record.recordBytes);
      EXPECT_EQ(layout.getRowBytes(), record.rowBytes);
      EXPECT_EQ(layout.getTailBytes(), record.tailBytes);
      EXPECT_EQ(layout.hasPages(), record.rowBytes != 0);
    }
}

TEST_F(RecordLayoutTest, NamesEndInTheirBytes) {
  for (const Record &record : records) {
    std::string name = record.name;
    EXPECT_EQ(std::stoll(name.substr(name.rfind('_') + 1)), record.recordBytes)
        << name;
  }
}

TEST_F(RecordLayoutTest, RowExtent) {
  for (const Record &record : records)
    EXPECT_EQ(known(record.name).getRowExtent(), record.rowExtent)
        << record.name;
}

TEST_F(RecordLayoutTest, PageBytes) {
  for (const Record &record : records)
    for (auto [page, bytes] : llvm::zip(pageSizes, record.pageBytes))
      EXPECT_EQ(RecordLayout(known(record.name), page).getPageBytes(), bytes)
          << record.name << ", page " << page;
}

TEST_F(RecordLayoutTest, FieldPositions) {
  for (const Record &record : records) {
    RecordAttr attr = known(record.name);
    ASSERT_EQ(attr.getFields().size(), record.fields.size()) << record.name;
    for (auto [p, page] : llvm::enumerate(pageSizes)) {
      RecordLayout layout(attr, page);
      for (auto [i, expected] : llvm::enumerate(record.fields)) {
        SCOPED_TRACE(std::string(record.name) + "." + expected.name +
                     ", page " + std::to_string(page));
        FieldAttr field = attr.getFields()[i];
        EXPECT_EQ(field.getName().str(), expected.name);
        EXPECT_EQ(field.getByteSize(), expected.bytes);
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
        // By attribute as by index.
        EXPECT_EQ(layout.getPosition(field).base, position.base);
        EXPECT_EQ(layout.getPosition(field).alignment, position.alignment);
      }
    }
  }
}

/// An alignment is a promise: it holds for every entry of the first pages.
TEST_F(RecordLayoutTest, AlignmentHoldsInEveryEntry) {
  for (const Record &record : records)
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
TEST_F(RecordLayoutTest, FieldsOfAPageAreDisjoint) {
  for (const Record &record : records)
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

TEST_F(RecordLayoutTest, PageOf64OfV4) {
  // 64 * 576 = 36864 of data, 64 * 8 = 512 of factors, 37376 padded to 65 *
  // 576.
  RecordAttr record = known("v4_584");
  RecordLayout layout(record, 64);
  EXPECT_EQ(layout.getPageBytes(), 37440);
  auto scale = layout.getPosition(record.getField("nope_scale"));
  EXPECT_EQ(scale.base, 36864);
  EXPECT_EQ(at(scale, 0, 63), 37368);
  EXPECT_EQ(at(scale, 1, 0), 74304);
  auto rope = layout.getPosition(record.getField("rope"));
  EXPECT_EQ(at(rope, 2, 5), 2 * 37440 + 5 * 576 + 448);
}

TEST_F(RecordLayoutTest, IndexerPageOfV41) {
  // DeepGEMM wants 512-byte strides; 128 * 68 = 17 * 512 has one by itself.
  EXPECT_EQ(RecordLayout(known("index_mxfp4_68"), 128).getPageBytes(),
            17 * 512);
}

TEST_F(RecordLayoutTest, OffsetsBeyond2GiB) {
  static_assert(
      std::is_same_v<decltype(RecordLayout::Position::base), int64_t>);
  RecordAttr v4 = known("v4_584");
  RecordLayout layout(v4, 64);
  // Page 57359 is the first to begin behind 2^31: 57358 * 37440 = 2147483520.
  EXPECT_EQ(at(layout.getPosition(v4.getField("nope")), 57359, 0), 2147520960);
  EXPECT_EQ(at(layout.getPosition(v4.getField("nope_scale")), 57359, 63),
            2147558328);
  EXPECT_EQ(at(layout.getPosition(v4.getField("rope")), 1000000, 1),
            37440000000 + 576 + 448);
  // The largest page number there is.
  EXPECT_EQ(at(layout.getPosition(v4.getField("nope")), 2147483647, 0),
            80401787743680);
  RecordAttr seed = known("seed_580");
  RecordLayout arrays(seed, 64);
  EXPECT_EQ(at(arrays.getPosition(seed.getField("nope")), 74899, 0),
            2147504128);
  EXPECT_EQ(at(arrays.getPosition(seed.getField("inv_scale")), 10000000, 63),
            2560000252);
}

//===----------------------------------------------------------------------===//
// Records that are not in the table
//===----------------------------------------------------------------------===//

TEST_F(RecordLayoutTest, ExplicitOffsetAndPadding) {
  Type bf16 = BFloat16Type::get(&context), f8 = Float8E4M3FNType::get(&context);
  FieldAttr fields[] = {field("a", 8, bf16, Placement::Row, /*offset=*/32),
                        field("b", 4, f8, Placement::Row, -1, /*pad=*/12),
                        field("c", 32, f8, Placement::Row, /*offset=*/0)};
  EXPECT_EQ(getFieldOffsets(fields), (SmallVector<int64_t>{32, 48, 0}));
  RecordLayout layout(RecordAttr::get(&context, fields, 128), 3);
  EXPECT_EQ(layout.getRowBytes(), 64);
  EXPECT_EQ(layout.getPageBytes(), 256);
  EXPECT_EQ(layout.getPosition(1u).base, 48);
}

TEST_F(RecordLayoutTest, FieldsGoOnBehindTheFurthest) {
  Type f8 = Float8E4M3FNType::get(&context);
  FieldAttr fields[] = {field("far", 16, f8, Placement::Row, /*offset=*/64),
                        field("near", 16, f8, Placement::Row, /*offset=*/0),
                        field("next", 16, f8, Placement::Row)};
  EXPECT_EQ(getFieldOffsets(fields), (SmallVector<int64_t>{64, 0, 80}));
}

TEST_F(RecordLayoutTest, PlacementsAreCountedApart) {
  Type f8 = Float8E4M3FNType::get(&context);
  FieldAttr fields[] = {field("row", 16, f8, Placement::Row),
                        field("tail", 32, f8, Placement::Tail),
                        field("array", 64, f8, Placement::Array),
                        field("row2", 16, f8, Placement::Row),
                        field("tail2", 32, f8, Placement::Tail)};
  EXPECT_EQ(getFieldOffsets(fields), (SmallVector<int64_t>{0, 0, 0, 16, 32}));
  RecordLayout layout(RecordAttr::get(&context, fields, 1), 10);
  EXPECT_EQ(layout.getRecordBytes(), 32 + 64 + 64);
  EXPECT_EQ(layout.getPosition(4u).base, 10 * 32 + 32);
}

TEST_F(RecordLayoutTest, FactorsKeepTheirOrder) {
  RecordAttr record = known("nvfp4_432");
  SmallVector<FieldAttr> scales = record.getScalesOf("nope");
  ASSERT_EQ(scales.size(), 2u);
  EXPECT_EQ(scales[0].getName(), "nope_scale");
  EXPECT_EQ(scales[0].getGroup(), 16);
  EXPECT_EQ(scales[1].getName(), "latent_scale");
  EXPECT_EQ(scales[1].getGroup(), FieldAttr::kPerRow);
  EXPECT_TRUE(record.getScalesOf("rope").empty());
  EXPECT_FALSE(record.getField("nothing"));
}

TEST_F(RecordLayoutTest, InterleavedFactors) {
  // Factor s of 32 is stored at 8 * (s mod 4) + s / 4.
  FieldAttr scale = known("nvfp4_352").getField("nope_scale");
  EXPECT_EQ(scale.getInterleave(), 4);
  EXPECT_EQ(scale.getExtent() / scale.getInterleave(), 8);
}

} // namespace
