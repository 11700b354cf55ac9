//===- IndexScoreTest.cpp - Scores of keys by hand ------------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InterpreterFixture.h"

#include <cmath>
#include <limits>

using namespace dsv4;
using namespace dsv4::reference;

namespace {

constexpr float kNone = -std::numeric_limits<float>::infinity();
constexpr uint8_t kOne = 0x38, kTwo = 0x40, kMinusOne = 0xB8, kNaN = 0x7F;

class IndexScoreTest : public InterpreterFixture {
protected:
  /// Two heads of 64 elements in FP8, of which few are not 0, for one row.
  void bindQueries() {
    bytes({1, 2, 64}, 128);
    poke(0, 0, kOne);       // q(0, 0) = 1
    poke(0, 63, kTwo);      // q(0, 63) = 2
    poke(0, 64, kMinusOne); // q(1, 0) = -1
    bind<float>({1, 2}, {3, -5});
  }
  /// Four keys (1, 0, ...) with scales 1 to 4.
  void bindKeys() {
    bytes({4, 64}, 256);
    for (int key = 0; key < 4; ++key)
      poke(2, key * 64, kOne);
    bind<float>({4}, {1, 2, 3, 4});
  }
};

TEST_F(IndexScoreTest, KeysInOrder) {
  parse("%q: tensor<1x2x64xf8E4M3FN>, %w: tensor<1x2xf32>, "
        "%k: tensor<4x64xf8E4M3FN>, %s: tensor<4xf32>, %o: tensor<1x6xf32>",
        "%r = dsv4.index_score %q weights(%w : tensor<1x2xf32>)"
        " keys(%k : tensor<4x64xf8E4M3FN>) key_scales(%s : tensor<4xf32>)"
        " outs(%o : tensor<1x6xf32>) : tensor<1x2x64xf8E4M3FN>");
  bindQueries();
  bytes({4, 64}, 256);
  poke(2, 0, kTwo);          // Key 0: (2, 0, ...).
  poke(2, 64, kMinusOne);    // Key 1: (-1, ..., 1).
  poke(2, 64 + 63, kOne);    //
  poke(2, 3 * 64 + 7, kNaN); // Key 2: zeros. Key 3: a NaN.
  bind<float>({4}, {0.5f, 4, 2, 1});
  bytes({1, 6}, 24, 0xAB);
  run();
  std::vector<float> scores = read<float>(4);
  // Head 0: 2, head 1: -2, of which relu makes 0.
  EXPECT_EQ(scores[0], 0.5f * (3 * 2));
  // Head 0: -1 + 2, head 1: 1.
  EXPECT_EQ(scores[1], 4.0f * (3 * 1 - 5 * 1));
  EXPECT_EQ(scores[2], 0);
  EXPECT_TRUE(std::isnan(scores[3]));
  EXPECT_EQ(scores[4], kNone);
  EXPECT_EQ(scores[5], kNone);
}

TEST_F(IndexScoreTest, ColumnsWithoutKeysAreKept) {
  parse("%q: tensor<1x2x64xf8E4M3FN>, %w: tensor<1x2xf32>, "
        "%k: tensor<4x64xf8E4M3FN>, %s: tensor<4xf32>, %n: tensor<1xi32>, "
        "%o: tensor<1x4xf32>",
        "%r = dsv4.index_score %q weights(%w : tensor<1x2xf32>)"
        " keys(%k : tensor<4x64xf8E4M3FN>) key_scales(%s : tensor<4xf32>)"
        " lengths(%n : tensor<1xi32>) keep_rest"
        " outs(%o : tensor<1x4xf32>) : tensor<1x2x64xf8E4M3FN>");
  bindQueries();
  bindKeys();
  bind<int32_t>({1}, {2});
  bind<float>({1, 4}, {10, 20, 30, 40});
  run();
  EXPECT_EQ(read<float>(5), (std::vector<float>{3, 6, 30, 40}));
}

TEST_F(IndexScoreTest, RangesOfKeys) {
  parse("%q: tensor<1x2x64xf8E4M3FN>, %w: tensor<1x2xf32>, "
        "%k: tensor<4x64xf8E4M3FN>, %s: tensor<4xf32>, %b: tensor<1xi32>, "
        "%e: tensor<1xi32>, %o: tensor<1x3xf32>",
        "%r = dsv4.index_score %q weights(%w : tensor<1x2xf32>)"
        " keys(%k : tensor<4x64xf8E4M3FN>) key_scales(%s : tensor<4xf32>)"
        " starts(%b : tensor<1xi32>) ends(%e : tensor<1xi32>)"
        " outs(%o : tensor<1x3xf32>) : tensor<1x2x64xf8E4M3FN>");
  bindQueries();
  bindKeys();
  bind<int32_t>({1}, {2});
  bind<int32_t>({1}, {9});
  bytes({1, 3}, 12, 0xAB);
  run();
  EXPECT_EQ(read<float>(6), (std::vector<float>{9, 12, kNone}));
  poke(4, 0, int32_t(1));
  poke(5, 0, int32_t(2));
  run();
  EXPECT_EQ(read<float>(6), (std::vector<float>{6, kNone, kNone}));
  poke(4, 0, int32_t(-1));
  run();
  EXPECT_EQ(read<float>(6), (std::vector<float>{kNone, kNone, kNone}));
}

TEST_F(IndexScoreTest, PagesOfMXFP4) {
  parse("%q: tensor<2x1x64xbf16>, %w: tensor<2x1xf32>, "
        "%c: !dsv4.cache<2 x <[<\"k\" : 64 x f4E2M1FN in row>, "
        "<\"s\" : 2 x f8E8M0FNU in tail scales \"k\" per 32>]>>, "
        "%t: tensor<1x2xi32>, %n: tensor<1xi32>, %o: tensor<2x5xf32>",
        "%r = dsv4.index_score %q weights(%w : tensor<2x1xf32>)"
        " cache(%c : !dsv4.cache<2 x <[<\"k\" : 64 x f4E2M1FN in row>, "
        "<\"s\" : 2 x f8E8M0FNU in tail scales \"k\" per 32>]>>)"
        " pages(%t : tensor<1x2xi32>) lengths(%n : tensor<1xi32>) next_n 2"
        " outs(%o : tensor<2x5xf32>) : tensor<2x1x64xbf16>");
  bytes({2, 1, 64}, 256);
  poke(0, 0, uint16_t(0x3F80));            // Row 0: (1, 0, ...).
  poke(0, 128 + 2 * 32, uint16_t(0x4040)); // Row 1: 3 at element 32.
  bind<float>({2, 1}, {1, -1});
  // A page: two keys of 32 bytes, then two scales for each.
  bytes({2, 68}, 136);
  poke(2, 68, uint8_t(0x42));      // Page 1, key 0: 1 (2), then 2 (4).
  poke(2, 68 + 16, uint8_t(0x03)); // Element 32: 1.5 (3).
  poke(2, 68 + 64, uint8_t(128));  // 2^1 and 2^-1.
  poke(2, 68 + 65, uint8_t(126));
  bind<int32_t>({1, 2}, {1, -1});
  bind<int32_t>({1}, {4});
  bytes({2, 5}, 40, 0xAB);
  run();
  // Row 0 has a key less than row 1; the second page is none.
  EXPECT_EQ(read<float>(5),
            (std::vector<float>{2, 0, kNone, kNone, kNone, -2.25f, 0, kNone,
                                kNone, kNone}));
}

} // namespace
