//===- RandomDataTest.cpp - Random elements of every format ---------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsv4/Reference/Numerics.h"

#include <cmath>
#include <cstring>
#include <set>
#include <vector>

#include "gtest/gtest.h"

using namespace dsv4::reference;

TEST(RandomData, KnownSequence) {
  // The published outputs of SplitMix64 for this seed.
  Random random(1234567);
  EXPECT_EQ(random.next(), 6457827717110365317u);
  EXPECT_EQ(random.next(), 3203168211198807973u);
  EXPECT_EQ(random.next(), 9817491932198370423u);
}

TEST(RandomData, BelowAndUnitStayInRange) {
  Random random(5);
  std::set<uint64_t> seen;
  for (int i = 0; i < 1000; ++i) {
    seen.insert(random.below(7));
    double unit = random.unit();
    ASSERT_TRUE(unit >= 0 && unit < 1);
  }
  EXPECT_EQ(seen, (std::set<uint64_t>{0, 1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(random.below(1), 0u);
}

TEST(RandomData, SameSeedSameBytes) {
  Random a(6), b(6), c(7);
  auto first = randomElements(Format::E4M3FN, 100, a);
  EXPECT_EQ(first, randomElements(Format::E4M3FN, 100, b));
  EXPECT_NE(first, randomElements(Format::E4M3FN, 100, c));
  // Written down, so that a change of generator or packing is seen.
  Random d(1234567);
  EXPECT_EQ(randomElements(Format::F16, 2, d),
            (std::vector<uint8_t>{0x9E, 0x59, 0x73, 0x2C}));
}

TEST(RandomData, ElementsAreOfTheAllowedCodes) {
  Random random(8);
  for (Format format : {Format::E5M2, Format::E4M3FN, Format::E8M0FNU}) {
    std::set<uint8_t> all, noNaN, finite;
    for (uint8_t code : randomElements(format, 20000, random, Codes::All))
      all.insert(code);
    for (uint8_t code : randomElements(format, 20000, random, Codes::NoNaN))
      noNaN.insert(code);
    for (uint8_t code : randomElements(format, 20000, random))
      finite.insert(code);
    size_t infinities = format == Format::E5M2 ? 2 : 0;
    size_t nans = format == Format::E5M2 ? 6 : format == Format::E4M3FN ? 2 : 1;
    EXPECT_EQ(all.size(), 256u);
    EXPECT_EQ(noNaN.size(), 256 - nans);
    EXPECT_EQ(finite.size(), 256 - nans - infinities);
    for (uint8_t code : finite)
      EXPECT_TRUE(std::isfinite(decode(format, code)));
  }
}

TEST(RandomData, Packing) {
  Random random(9);
  auto nibbles = randomElements(Format::E2M1, 4001, random);
  ASSERT_EQ(nibbles.size(), 2001u);
  EXPECT_EQ(nibbles.back() >> 4, 0);
  std::set<int> low, high;
  for (uint8_t byte : nibbles) {
    low.insert(byte & 0xF);
    high.insert(byte >> 4);
  }
  EXPECT_EQ(low.size(), 16u);
  EXPECT_EQ(high.size(), 16u);
  EXPECT_EQ(randomElements(Format::BF16, 3, random).size(), 6u);
  EXPECT_EQ(randomElements(Format::F32, 3, random).size(), 12u);
  EXPECT_TRUE(randomElements(Format::Int4, 0, random).empty());
}

TEST(RandomData, RealsStayWithinTheLimit) {
  Random random(10);
  auto bytes = randomReals(Format::BF16, 5000, random, 4);
  double least = 0, max = 0;
  for (size_t i = 0; i < bytes.size(); i += 2) {
    double value = decodeBF16(uint16_t(bytes[i] | bytes[i + 1] << 8));
    least = std::min(least, value);
    max = std::max(max, value);
  }
  EXPECT_GE(least, -4.0);
  EXPECT_LT(least, -3.9);
  EXPECT_LE(max, 4.0);
  EXPECT_GT(max, 3.9);
}

TEST(RandomData, ScalesAreInRange) {
  Random random(11);
  std::set<uint8_t> codes;
  for (uint8_t code : randomScales(Format::E8M0FNU, 1000, random))
    codes.insert(code);
  EXPECT_EQ(codes.size(), 13u);
  EXPECT_EQ(*codes.begin(), 127 - 6);
  EXPECT_EQ(*codes.rbegin(), 127 + 6);
  for (uint8_t code : randomScales(Format::E4M3FN, 1000, random, -3, 2)) {
    EXPECT_GE(decodeE4M3FN(code), 0.125);
    EXPECT_LE(decodeE4M3FN(code), 4.0);
  }
  // Cut to the format's own range: positive, finite.
  for (Format format : {Format::E4M3FN, Format::E8M0FNU, Format::E5M2})
    for (uint8_t code : randomScales(format, 5000, random, -1000, 1000)) {
      EXPECT_GT(decode(format, code), 0);
      EXPECT_TRUE(std::isfinite(decode(format, code)));
    }
  auto wide = randomScales(Format::F32, 1000, random);
  for (size_t i = 0; i < wide.size(); i += 4) {
    uint32_t code;
    std::memcpy(&code, &wide[i], 4);
    EXPECT_GE(decodeF32(code), 0x1p-6);
    EXPECT_LE(decodeF32(code), 0x1p6);
  }
}
