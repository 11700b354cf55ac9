//===- CompareTest.cpp - exact, ulp n, bounded ----------------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsv4/Reference/Compare.h"

#include "gtest/gtest.h"

#include <cmath>
#include <cstring>
#include <limits>

using namespace dsv4::reference;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// Elements as they lie in memory.
template <typename T>
std::vector<char> pack(std::vector<T> elements) {
  std::vector<char> bytes(elements.size() * sizeof(T));
  std::memcpy(bytes.data(), elements.data(), bytes.size());
  return bytes;
}

constexpr int64_t kShape[] = {2, 3};
const Destination kOut = {"out", kShape};

//===----------------------------------------------------------------------===//
// exact
//===----------------------------------------------------------------------===//

TEST(CompareExact, TakesTheSameBytesOnly) {
  std::vector<char> expected = pack<uint16_t>({1, 2, 3, 4, 0x7FC0, 6});
  EXPECT_EQ(compareExact(kOut, expected, expected, 2), "");
  std::vector<char> got = pack<uint16_t>({1, 2, 3, 4, 0x7FC1, 7});
  EXPECT_EQ(compareExact(kOut, got, expected, 2),
            "'out' differs in 2 of 6 elements, first at [1, 1]: got 0x7fc1, "
            "expected 0x7fc0");
}

TEST(CompareExact, EveryBitOfEveryByteCounts) {
  std::vector<char> expected = pack<uint32_t>({0, 1, 2, 3, 4, 5});
  for (size_t bit = 0; bit < 8 * expected.size(); ++bit) {
    std::vector<char> got = expected;
    got[bit / 8] ^= 1 << bit % 8;
    EXPECT_NE(compareExact(kOut, got, expected, 4), "") << bit;
  }
}

TEST(CompareExact, SignsOfZeroDiffer) {
  std::vector<char> expected = pack<float>({0, 0, 0, 0, 0, 0});
  EXPECT_NE(
      compareExact(kOut, pack<float>({0, 0, 0, 0, 0, -0.0f}), expected, 4), "");
}

TEST(CompareExact, SizesMustFit) {
  std::vector<char> expected = pack<uint16_t>({1, 2, 3, 4, 5, 6});
  EXPECT_EQ(compareExact(kOut, pack<uint16_t>({1, 2, 3, 4, 5}), expected, 2),
            "'out' has 10 bytes, expected 12");
}

TEST(CompareExact, ScalarsAndNoElements) {
  EXPECT_EQ(compareExact({"s", {}}, pack<int32_t>({1}), pack<int32_t>({2}), 4),
            "'s' differs in 1 of 1 elements, first at []: got 0x00000001, "
            "expected 0x00000002");
  constexpr int64_t none[] = {0, 512};
  EXPECT_EQ(compareExact({"none", none}, {}, {}, 2), "");
}

//===----------------------------------------------------------------------===//
// ulp n
//===----------------------------------------------------------------------===//

TEST(CountUlps, Neighbours) {
  EXPECT_EQ(countUlps(Format::F32, 0x3F800000, 0x3F800000), 0u);
  EXPECT_EQ(countUlps(Format::F32, 0x3F800000, 0x3F800001), 1u);
  // Over a power of two, where the distance of values doubles.
  EXPECT_EQ(countUlps(Format::F32, 0x3F7FFFFF, 0x3F800001), 2u);
  EXPECT_EQ(countUlps(Format::BF16, 0x3F80, 0x3F7F), 1u);
  EXPECT_EQ(countUlps(Format::F16, 0x3C00, 0x3C05), 5u);
  EXPECT_EQ(countUlps(Format::E4M3FN, 0x38, 0x37), 1u);
  EXPECT_EQ(countUlps(Format::E5M2, 0x3C, 0x3E), 2u);
  EXPECT_EQ(countUlps(Format::E8M0FNU, 0, 254), 254u);
  EXPECT_EQ(countUlps(Format::E2M1, 0x1, 0x9), 2u);
}

TEST(CountUlps, SignsOfZeroAreOneValue) {
  EXPECT_EQ(countUlps(Format::F32, 0, 0x80000000), 0u);
  EXPECT_EQ(countUlps(Format::F32, 0x80000001, 0), 1u);
  EXPECT_EQ(countUlps(Format::F32, 0x80000001, 1), 2u);
  EXPECT_EQ(countUlps(Format::E4M3FN, 0x80, 0), 0u);
}

TEST(CountUlps, FromTheLargestOfOneSignToTheOther) {
  EXPECT_EQ(countUlps(Format::F32, 0xFF800000, 0x7F800000), 2 * 0x7F800000ull);
}

TEST(CountUlps, InfinityIsBeyondTheLargest) {
  EXPECT_EQ(countUlps(Format::F32, 0x7F7FFFFF, 0x7F800000), 1u);
  EXPECT_EQ(countUlps(Format::BF16, 0xFF80, 0xFF7F), 1u);
}

TEST(CountUlps, NaNIsNaNOnly) {
  EXPECT_EQ(countUlps(Format::F32, 0x7FC00000, 0xFFFFFFFF), 0u);
  EXPECT_EQ(countUlps(Format::F32, 0x7FC00000, 0x7F800000), std::nullopt);
  EXPECT_EQ(countUlps(Format::F32, 0, 0x7F800001), std::nullopt);
  EXPECT_EQ(countUlps(Format::E4M3FN, 0x7F, 0xFF), 0u);
  EXPECT_EQ(countUlps(Format::E4M3FN, 0x7E, 0x7F), std::nullopt);
  EXPECT_EQ(countUlps(Format::E8M0FNU, 0xFE, 0xFF), std::nullopt);
}

/// Each format: the next value is 1 away, the distance is symmetric.
TEST(CountUlps, EveryPairOfNeighboursOfSmallFormats) {
  for (Format format : {Format::BF16, Format::F16, Format::E5M2, Format::E4M3FN,
                        Format::E8M0FNU, Format::E2M1}) {
    for (uint32_t code = 0; code < largestFinite(format); ++code) {
      ASSERT_LT(decode(format, code), decode(format, code + 1));
      ASSERT_EQ(countUlps(format, code, code + 1), 1u) << code;
      ASSERT_EQ(countUlps(format, code + 1, code), 1u) << code;
    }
  }
}

TEST(CompareUlps, UpToTheCount) {
  std::vector<char> expected = pack<float>({1, 2, 3, 4, 5, 6});
  auto move = [&](int steps) {
    std::vector<char> got = expected;
    uint32_t code;
    std::memcpy(&code, &got[16], 4);
    code += steps;
    std::memcpy(&got[16], &code, 4);
    return got;
  };
  for (int steps : {-2, -1, 0, 1, 2})
    EXPECT_EQ(compareUlps(kOut, Format::F32, move(steps), expected, 2), "");
  for (int steps : {-3, 3})
    EXPECT_NE(compareUlps(kOut, Format::F32, move(steps), expected, 2), "");
  EXPECT_EQ(compareUlps(kOut, Format::F32, move(3), expected, 2),
            "'out' differs in 1 of 6 elements, first at [1, 1]: got 5.00000143 "
            "(0x40a00003), expected 5 (0x40a00000) within 2 ulp; it is 3 ulp "
            "away");
  EXPECT_NE(compareUlps(kOut, Format::F32, move(1), expected, 0), "");
}

TEST(CompareUlps, NaNSaysNoDistance) {
  std::vector<char> expected = pack<uint16_t>({1, 2, 3, 4, 5, 0x3F80});
  EXPECT_EQ(compareUlps(kOut, Format::BF16,
                        pack<uint16_t>({1, 2, 3, 4, 5, 0x7FFF}), expected,
                        ~uint64_t(0)),
            "'out' differs in 1 of 6 elements, first at [1, 2]: got NaN "
            "(0x7fff), expected 1 (0x3f80) within 18446744073709551615 ulp");
}

TEST(CompareUlps, PairsOfABytes) {
  constexpr int64_t shape[] = {1, 6};
  // 0, 1, 2, 3, 4, 5 and 0, 1, 2, 3, 4, 7.
  std::vector<char> expected = {0x10, 0x32, 0x54}, got = {0x10, 0x32, 0x74};
  EXPECT_EQ(compareUlps({"q", shape}, Format::E2M1, got, expected, 2), "");
  EXPECT_EQ(compareUlps({"q", shape}, Format::E2M1, got, expected, 1),
            "'q' differs in 1 of 6 elements, first at [0, 5]: got 6 (0x7), "
            "expected 3 (0x5) within 1 ulp; it is 2 ulp away");
  EXPECT_EQ(
      compareUlps({"q", shape}, Format::E2M1, {got.data(), 2}, expected, 1),
      "'q' has 2 bytes, expected 3");
}

//===----------------------------------------------------------------------===//
// bounded
//===----------------------------------------------------------------------===//

TEST(IsWithin, TheBoundItselfIsIn) {
  EXPECT_TRUE(isWithin(Format::F32, 1.5, {1, 0.5}));
  EXPECT_TRUE(isWithin(Format::F32, 0.5, {1, 0.5}));
  EXPECT_FALSE(isWithin(Format::F32, std::nextafter(1.5f, 2.0f), {1, 0.5}));
  EXPECT_FALSE(isWithin(Format::F32, std::nextafter(0.5f, 0.0f), {1, 0.5}));
}

TEST(IsWithin, NoBoundMeansEqual) {
  EXPECT_TRUE(isWithin(Format::F32, 1, {1, 0}));
  EXPECT_FALSE(isWithin(Format::F32, std::nextafter(1.0f, 2.0f), {1, 0}));
  EXPECT_TRUE(isWithin(Format::F32, -0.0, {0, 0}));
  EXPECT_TRUE(isWithin(Format::F32, 0, {-0.0, 0}));
}

TEST(IsWithin, NaNIsNaNOnly) {
  EXPECT_TRUE(isWithin(Format::F32, kNaN, {kNaN, 1}));
  EXPECT_FALSE(isWithin(Format::F32, 1, {kNaN, 1}));
  EXPECT_FALSE(isWithin(Format::F32, kInfinity, {kNaN, 1}));
  EXPECT_FALSE(isWithin(Format::F32, kNaN, {1, 1e30}));
  EXPECT_FALSE(isWithin(Format::F32, kNaN, {kInfinity, 0}));
}

TEST(IsWithin, InfinityIsTheSameInfinity) {
  EXPECT_TRUE(isWithin(Format::F32, kInfinity, {kInfinity, 1}));
  EXPECT_FALSE(isWithin(Format::F32, -kInfinity, {kInfinity, 1}));
  EXPECT_FALSE(isWithin(Format::F32, 3e38, {kInfinity, 1}));
  EXPECT_FALSE(isWithin(Format::F32, kInfinity, {1, 1}));
}

TEST(IsWithin, OverflowWithinTheBound) {
  double largest = std::numeric_limits<float>::max();
  double half = std::ldexp(1.0, 103); // Half a step of the largest fp32.
  EXPECT_TRUE(isWithin(Format::F32, kInfinity, {largest, half}));
  EXPECT_FALSE(isWithin(Format::F32, kInfinity, {largest, half / 2}));
  EXPECT_FALSE(isWithin(Format::F32, -kInfinity, {largest, half}));
  EXPECT_TRUE(isWithin(Format::F32, -kInfinity, {-largest, half}));
  // What saturates never becomes infinite.
  EXPECT_FALSE(isWithin(Format::E5M2, kInfinity, {57344, 1e6}));
}

TEST(IsWithin, BoundsThatAreNone) {
  EXPECT_FALSE(isWithin(Format::F32, 1, {1, -1}));
  EXPECT_FALSE(isWithin(Format::F32, 1, {1, kNaN}));
  EXPECT_TRUE(isWithin(Format::F32, 1e30, {1, kInfinity}));
  EXPECT_TRUE(isWithin(Format::F32, kNaN, {1, kInfinity}));
}

TEST(CompareBounded, NamesTheFirst) {
  std::vector<BoundedValue> expected(6, BoundedValue{1, 0.25});
  EXPECT_EQ(compareBounded(kOut, Format::F32,
                           pack<float>({1, 1.25, 0.75, 1, 1, 1}), expected),
            "");
  EXPECT_EQ(compareBounded(kOut, Format::F32,
                           pack<float>({1, 1.25, 0.75, 1.5, 1, NAN}), expected),
            "'out' differs in 2 of 6 elements, first at [1, 0]: got 1.5, "
            "expected 1 ± 0.25");
}

TEST(CompareBounded, OtherFormats) {
  constexpr int64_t shape[] = {3};
  std::vector<BoundedValue> expected = {{1, 0}, {2, 0.125}, {-4, 0}};
  EXPECT_EQ(compareBounded({"b", shape}, Format::BF16,
                           pack<uint16_t>({0x3F80, 0x4008, 0xC080}), expected),
            "");
  EXPECT_NE(compareBounded({"b", shape}, Format::BF16,
                           pack<uint16_t>({0x3F80, 0x4009, 0xC080}), expected),
            "");
  EXPECT_EQ(compareBounded({"b", shape}, Format::E4M3FN,
                           pack<uint8_t>({0x38, 0x40, 0xC8}), expected),
            "");
  EXPECT_NE(compareBounded({"b", shape}, Format::E4M3FN,
                           pack<uint8_t>({0x38, 0x40, 0xC9}), expected),
            "");
}

TEST(CompareBounded, EveryElementHasABound) {
  std::vector<BoundedValue> few(5);
  EXPECT_EQ(
      compareBounded(kOut, Format::F32, pack<float>({0, 0, 0, 0, 0, 0}), few),
      "'out' has 6 elements, but the oracle bounds 5");
  EXPECT_EQ(compareBounded(kOut, Format::F32, pack<float>({0}), few),
            "'out' has 4 bytes, expected 24");
}

} // namespace
