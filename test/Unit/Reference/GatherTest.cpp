//===- GatherTest.cpp - Stored fields and ragged requests -----------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InterpreterFixture.h"

#include <climits>

using namespace dsv4;
using namespace dsv4::reference;

namespace {

/// Entries of two bytes, the second of which a gather need not look at. Page p
/// of two entries has the bytes 16 p, x, 16 p + 1, x.
class GatherTest : public InterpreterFixture {
protected:
  void parseGather(const std::string &arguments, const std::string &rows,
                   const std::string &shape) {
    const std::string out = "tensor<" + shape + "x1xf8E4M3FN>";
    const std::string scale = "tensor<" + shape + "xf8E4M3FN>";
    parse("%c: " + cache + arguments + ", %o: " + out + ", %s: " + scale,
          "%r:2 = dsv4.paged_gather %c" + rows + " fields(%o, %s : " + out +
              ", " + scale + ") : " + cache);
  }
  void bindPages(int64_t pages) {
    std::vector<uint8_t> pool;
    for (int64_t page = 0; page < pages; ++page)
      for (int64_t slot = 0; slot < 2; ++slot) {
        pool.push_back(16 * page + slot);
        pool.push_back(0x3C);
      }
    bind<uint8_t>({pages, 4}, pool);
  }
  /// Both destinations, filled with 0xAB, then run; the first one.
  std::vector<uint8_t> gather(std::vector<int64_t> rows) {
    unsigned first = inputs.bytes.size();
    size_t count = 1;
    for (int64_t extent : rows)
      count *= extent;
    std::vector<int64_t> withAxis = rows;
    withAxis.push_back(1);
    bytes(withAxis, count, 0xAB);
    bytes(rows, count, 0xAB);
    run();
    auto scales = read<uint8_t>(first + 1);
    auto values = read<uint8_t>(first);
    for (size_t i = 0; i < count; ++i)
      EXPECT_EQ(scales[i], values[i] == 0xAB ? 0xAB
                           : values[i] == 0  ? 0
                                             : 0x3C)
          << "row " << i;
    return values;
  }

  const std::string cache =
      "!dsv4.cache<2 x <[<\"v\" : 1 x f8E4M3FN in row>,"
      " <\"s\" : 1 x f8E4M3FN in row scales \"v\" per row>]>>";
};

constexpr uint8_t kOld = 0xAB;

using Bytes = std::vector<uint8_t>;

TEST_F(GatherTest, RowsOfCumulativeLengths) {
  parseGather(", %t: tensor<?x?xi32>, %n: tensor<?xi32>",
              " pages(%t : tensor<?x?xi32>) cu_seq_lens(%n : tensor<?xi32>)",
              "?");
  bindPages(5);
  // Request 3 has no page for its third position.
  bind<int32_t>({4, 1}, {4, 3, 2, 1});
  bind<int32_t>({5}, {0, 1, 1, 3, 6});
  EXPECT_EQ(gather({8}), (Bytes{0x40, 0x20, 0x21, 0x10, 0x11, 0, kOld, kOld}));
}

TEST_F(GatherTest, NumbersThatDoNotAscend) {
  parseGather(", %t: tensor<?x?xi32>, %n: tensor<?xi32>",
              " pages(%t : tensor<?x?xi32>) cu_seq_lens(%n : tensor<?xi32>)",
              "?");
  bindPages(5);
  bind<int32_t>({3, 1}, {1, 2, 3});
  // Rows 0 to 2 are before element 1, so they are for request 0, which has one
  // page. Row 3 is not before elements 1 and 2: request 2, from 0 up to 4.
  bind<int32_t>({4}, {0, 3, -7, 4});
  EXPECT_EQ(gather({6}), (Bytes{0x10, 0x11, 0, 0, kOld, kOld}));
  inputs = {};
  bindPages(5);
  bind<int32_t>({3, 1}, {1, 2, 3});
  bind<int32_t>({4}, {INT_MIN, INT_MAX, INT_MIN, INT_MAX});
  EXPECT_EQ(gather({2}), (Bytes{0x10, 0x11}));
}

TEST_F(GatherTest, NoRequests) {
  parseGather(", %t: tensor<?x?xi32>, %n: tensor<?xi32>",
              " pages(%t : tensor<?x?xi32>) cu_seq_lens(%n : tensor<?xi32>)",
              "?");
  for (int64_t count : {0, 1}) {
    inputs = {};
    bindPages(1);
    bind<int32_t>({0, 1}, {});
    bind<int32_t>({count}, std::vector<int32_t>(count));
    EXPECT_EQ(gather({2}), (Bytes{kOld, kOld}));
  }
}

TEST_F(GatherTest, GivenRequestsAndFirstPositions) {
  parseGather(", %t: tensor<?x?xi32>, %q: tensor<?xi32>, %n: tensor<?xi32>, "
              "%b: tensor<?xi32>",
              " pages(%t : tensor<?x?xi32>) requests(%q : tensor<?xi32>)"
              " cu_seq_lens(%n : tensor<?xi32>) seq_starts(%b : tensor<?xi32>)",
              "?");
  bindPages(5);
  bind<int32_t>({2, 2}, {1, 2, 3, 4});
  bind<int32_t>({6}, {0, 0, 1, 1, 2, -1});
  bind<int32_t>({3}, {0, 2, 4});
  bind<int32_t>({2}, {1, -5});
  EXPECT_EQ(gather({6}), (Bytes{0x11, 0x20, 0x30, 0x31, kOld, kOld}));
}

TEST_F(GatherTest, RowsFromGivenStarts) {
  parseGather(", %t: tensor<?x?xi32>, %b: tensor<?xi32>, %n: tensor<?xi32>",
              " pages(%t : tensor<?x?xi32>) row_starts(%b : tensor<?xi32>)"
              " seq_lens(%n : tensor<?xi32>)",
              "?");
  bindPages(5);
  bind<int32_t>({2, 2}, {1, 2, 3, 4});
  bind<int32_t>({2}, {1, 4});
  bind<int32_t>({2}, {2, 1});
  EXPECT_EQ(gather({6}), (Bytes{kOld, 0x10, 0x11, kOld, 0x30, kOld}));
}

TEST_F(GatherTest, LastPositions) {
  parseGather(", %t: tensor<?x?xi32>, %n: tensor<?xi32>, %g: tensor<?xi32>",
              " pages(%t : tensor<?x?xi32>) seq_lens(%n : tensor<?xi32>)"
              " gather_lens(%g : tensor<?xi32>) offset 1",
              "?x?");
  bindPages(5);
  bind<int32_t>({5, 2}, {0, 1, 1, 2, 2, 3, 3, 4, 4, 0});
  // All but one; more than there are; none; a negative number; more than rows.
  bind<int32_t>({5}, {3, 1, 2, -4, 4});
  bind<int32_t>({5}, {2, 9, -1, 2, 4});
  EXPECT_EQ(gather({5, 3}),
            (Bytes{kOld, 0x01, 0x10, kOld, 0x10, kOld, kOld, kOld, kOld, kOld,
                   kOld, kOld, kOld, 0x40, 0x41}));
}

TEST_F(GatherTest, LastPositionsFromAGivenRow) {
  parseGather(", %t: tensor<?x?xi32>, %n: tensor<?xi32>, %a: tensor<1xi64>",
              " pages(%t : tensor<?x?xi32>) seq_lens(%n : tensor<?xi32>)"
              " offset(%a : tensor<1xi64>)",
              "?x?");
  // None, one, all rows, a negative number, and one that i32 does not hold.
  const std::pair<int64_t, Bytes> cases[] = {
      {0, {0x10, 0x11, 0x20}},
      {1, {kOld, 0x10, 0x11}},
      {3, {kOld, kOld, kOld}},
      {-7, {0x10, 0x11, 0x20}},
      {int64_t(1) << 32, {kOld, kOld, kOld}}};
  for (const auto &[offset, rows] : cases) {
    inputs = {};
    bindPages(5);
    bind<int32_t>({1, 2}, {1, 2});
    bind<int32_t>({1}, {4});
    bind<int64_t>({1}, {offset});
    EXPECT_EQ(gather({1, 3}), rows) << offset;
  }
}

TEST_F(GatherTest, SlotsInBytes) {
  // A page has two rows of a and pad, of 8 bytes each, then two of s.
  const std::string cache =
      "!dsv4.cache<2 x <[<\"s\" : 1 x f32 in tail>, <\"a\" : 4 x "
      "f8E4M3FN in row pad 4>]>>";
  parse(
      "%c: " + cache +
          ", %i: tensor<?xi64>, %s: tensor<?x1xf32>, %a: tensor<?x4xf8E4M3FN>",
      "%r:2 = dsv4.paged_gather %c[%i] in_bytes fields(%s, %a : "
      "tensor<?x1xf32>, tensor<?x4xf8E4M3FN>) : " +
          cache + ", tensor<?xi64>");
  std::vector<uint8_t> bytes(48);
  for (unsigned i = 0; i < bytes.size(); ++i)
    bytes[i] = uint8_t(i);
  bind<uint8_t>({2, 24}, bytes);
  // Scales of slots 0 and 1 of page 0, and 1 of page 1; before and between
  // them, beyond the pool, a negative offset, one whose low half is good.
  bind<int64_t>({8}, {16, 20, 44, 12, 18, 64, -4, (int64_t(1) << 32) + 16});
  this->bytes({8, 1}, 32, 0xAB);
  this->bytes({8, 4}, 32, 0xAB);
  run();
  std::vector<uint8_t> scales(32), elements(32);
  const std::tuple<unsigned, unsigned, unsigned> valid[] = {
      {0, 16, 0}, {1, 20, 8}, {2, 44, 32}};
  for (auto [row, scale, element] : valid)
    for (unsigned i = 0; i < 4; ++i) {
      scales[row * 4 + i] = uint8_t(scale + i);
      elements[row * 4 + i] = uint8_t(element + i);
    }
  EXPECT_EQ(read<uint8_t>(2), scales);
  EXPECT_EQ(read<uint8_t>(3), elements);
}

TEST_F(GatherTest, PagesInAList) {
  parseGather(", %p: tensor<?xi32>, %d: tensor<?xi32>, %n: tensor<?xi32>",
              " pages(%p : tensor<?xi32>) indptr(%d : tensor<?xi32>)"
              " cu_seq_lens(%n : tensor<?xi32>)",
              "?");
  bindPages(5);
  bind<int32_t>({3}, {4, 2, 1});
  // One page, no page, a negative beginning, pages beyond the list, and a
  // request that is not there.
  bind<int32_t>({5}, {0, 1, -1, 2, 9});
  bind<int32_t>({6}, {0, 3, 4, 5, 8, 9});
  EXPECT_EQ(gather({9}), (Bytes{0x40, 0x41, 0, 0, 0, 0x10, 0x11, 0, 0}));
}

TEST_F(GatherTest, BytesAsTheyAreStored) {
  const std::string cache =
      "!dsv4.cache<1 x <[<\"v\" : 8 x f4E2M1FN in row high_first>, <\"s\" : 4 "
      "x f8E4M3FN in row scales \"v\" per 2 interleave 2 pad 4>, <\"all\" : 1 "
      "x f32 in array scales \"v\" per tensor>]>>";
  parse("%c: " + cache +
            ", %i: tensor<?xi32>, %v: tensor<?x8xf4E2M1FN>, %s: "
            "tensor<?x4xf8E4M3FN>",
        "%r:2 = dsv4.paged_gather %c[%i] fields(%v, %s : "
        "tensor<?x8xf4E2M1FN>, tensor<?x4xf8E4M3FN>) : " +
            cache + ", tensor<?xi32>");
  bind<uint8_t>({1, 12}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  bytes({4}, 4, 0);
  bind<int32_t>({2}, {0, 1});
  bytes({2, 4}, 8, kOld);
  bytes({2, 4}, 8, kOld);
  run();
  EXPECT_EQ(read<uint8_t>(3), (Bytes{1, 2, 3, 4, 0, 0, 0, 0}));
  EXPECT_EQ(read<uint8_t>(4), (Bytes{5, 6, 7, 8, 0, 0, 0, 0}));
}

} // namespace
