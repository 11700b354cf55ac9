//===- AppendTest.cpp - Entries an append writes, byte by byte ------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InterpreterFixture.h"

#include <climits>
#include <set>

using namespace dsv4;
using namespace dsv4::reference;

namespace {

class AppendTest : public InterpreterFixture {};

/// An append of one bf16 value into pages of `page` entries.
std::pair<std::string, std::string> append(int page, const std::string &how,
                                           const std::string &operands = "",
                                           const std::string &more = "") {
  std::string cache = "!dsv4.cache<" + std::to_string(page) +
                      " x <[<\"v\" : 1 x bf16 in row>]>>";
  return {"%c: " + cache + ", %i: tensor<?xi32>, %v: tensor<?x1xbf16>" +
              operands,
          "dsv4.paged_append %c[%i] " + how + more +
              " fields(%v : tensor<?x1xbf16>) : " + cache + ", tensor<?xi32>"};
}
const std::string kLengths = " lengths(%l : tensor<?xi32>)";

TEST_F(AppendTest, Slots) {
  for (const char *unique : {"", "unique"}) {
    auto [arguments, body] = append(2, unique);
    parse(arguments, body);
    bytes({2, 4}, 8, 0xEE);
    bind<int32_t>({7}, {3, -1, 0, 4, 3, INT_MIN, INT_MAX});
    bind<uint16_t>({7, 1}, {1, 2, 3, 4, 5, 6, 7});
    run();
    EXPECT_EQ(read<uint16_t>(0), (std::vector<uint16_t>{3, 0xEEEE, 0xEEEE, 5}));
  }
}

TEST_F(AppendTest, RingWithoutRequests) {
  auto [arguments, body] = append(2, "ring 4", ", %l: tensor<?xi32>", kLengths);
  parse(arguments, body);
  bytes({5, 4}, 20, 0xEE); // Two rings and half of a third.
  bind<int32_t>({3}, {6, 4, 11});
  bind<uint16_t>({3, 1}, {1, 2, 3});
  bind<int32_t>({3}, {7, 9, 12}); // 4 has left the ring: 9 - 4 is 5.
  run();
  std::vector<uint16_t> expected(10, 0xEEEE);
  expected[2] = 1;
  EXPECT_EQ(read<uint16_t>(0), expected); // 2 * 4 + 3 is beyond the pool.
}

TEST_F(AppendTest, MoreTokensThanTheRingHolds) {
  auto [arguments, body] =
      append(4, "ring 4 requests(%r : tensor<?xi32>)",
             ", %r: tensor<?xi32>, %l: tensor<?xi32>", kLengths);
  for (bool backwards : {false, true}) {
    parse(arguments, body);
    bytes({2, 8}, 16, 0xEE);
    std::vector<int32_t> positions, requests;
    std::vector<uint16_t> values;
    for (int i = 0; i < 9; ++i) {
      positions.push_back(backwards ? 10 - i : 2 + i);
      values.push_back(positions.back());
      requests.push_back(1);
    }
    // Requests that there are not, and one without positions.
    for (int request : {-1, 2, INT_MAX, 0}) {
      positions.push_back(request == 0 ? -1 : 3);
      values.push_back(99);
      requests.push_back(request);
    }
    bind<int32_t>({13}, positions);
    bind<uint16_t>({13, 1}, values);
    bind<int32_t>({13}, requests);
    bind<int32_t>({2}, {0, 11});
    run();
    EXPECT_EQ(read<uint16_t>(0), (std::vector<uint16_t>{0xEEEE, 0xEEEE, 0xEEEE,
                                                        0xEEEE, 8, 9, 10, 7}));
    // The same launch again writes the same.
    auto bytesBefore = inputs.bytes;
    run();
    EXPECT_EQ(inputs.bytes, bytesBefore);
  }
}

TEST_F(AppendTest, PageTable) {
  auto [arguments, body] = append(
      2, "ring 4 requests(%r : tensor<?xi32>) pages(%t : tensor<?x?xi32>)",
      ", %r: tensor<?xi32>, %t: tensor<?x?xi32>, %l: tensor<?xi32>", kLengths);
  parse(arguments, body);
  bytes({3, 4}, 12, 0xEE);
  bind<int32_t>({6}, {4, 7, 5, 6, 4, 5});
  bind<uint16_t>({6, 1}, {1, 2, 3, 4, 5, 6});
  bind<int32_t>({6}, {0, 0, 1, 1, 2, 2});
  // Of request 1 one page is missing, of request 2 one is beyond the pool.
  bind<int32_t>({3, 2}, {2, 0, -1, 1, 3, INT_MAX});
  bind<int32_t>({3}, {8, 8, 8});
  run();
  EXPECT_EQ(read<uint16_t>(0),
            (std::vector<uint16_t>{0xEEEE, 2, 4, 0xEEEE, 1, 0xEEEE}));
  // A table of one page for a ring of two.
  inputs.shapes[4] = {3, 1};
  inputs.bytes[4].resize(12);
  poke<int32_t>(4, 0, 0);
  bytes({}, 0);
  inputs.bytes.pop_back(), inputs.shapes.pop_back();
  run();
  EXPECT_EQ(read<uint16_t>(0)[0], 1);
}

TEST_F(AppendTest, LengthsPerToken) {
  auto [arguments, body] = append(
      2, "ring 4 requests(%r : tensor<?xi32>) pages(%t : tensor<?x?xi32>)",
      ", %r: tensor<?xi32>, %t: tensor<?x?xi32>, %l: tensor<?xi32>",
      " lengths per token(%l : tensor<?xi32>)");
  parse(arguments, body);
  bytes({3, 4}, 12, 0xEE);
  bind<int32_t>({4}, {4, 7, 3, 4});
  bind<uint16_t>({4, 1}, {1, 2, 3, 4});
  // Two requests, and one that there is not.
  bind<int32_t>({4}, {0, 0, 0, 2});
  bind<int32_t>({2, 2}, {2, 0, -1, 1});
  // Position 3 is no longer in the ring of a request of 8.
  bind<int32_t>({4}, {8, 8, 8, 8});
  run();
  EXPECT_EQ(read<uint16_t>(0),
            (std::vector<uint16_t>{0xEEEE, 2, 0xEEEE, 0xEEEE, 1, 0xEEEE}));
}

TEST_F(AppendTest, RingWithinAPage) {
  auto [arguments, body] = append(
      4, "ring 2 requests(%r : tensor<?xi32>) pages(%t : tensor<?x?xi32>)",
      ", %r: tensor<?xi32>, %t: tensor<?x?xi32>, %l: tensor<?xi32>", kLengths);
  parse(arguments, body);
  bytes({2, 8}, 16, 0xEE);
  bind<int32_t>({2}, {4, 5});
  bind<uint16_t>({2, 1}, {1, 2});
  bind<int32_t>({2}, {0, 0});
  bind<int32_t>({1, 1}, {1});
  bind<int32_t>({1}, {6});
  run();
  EXPECT_EQ(read<uint16_t>(0),
            (std::vector<uint16_t>{0xEEEE, 0xEEEE, 0xEEEE, 0xEEEE, 1, 2, 0xEEEE,
                                   0xEEEE}));
}

/// An append of all fields of `record`, each of its own operand, with slots.
std::pair<std::string, std::string> appendFields(const std::string &record,
                                                 int page,
                                                 const std::string &types,
                                                 const std::string &columns) {
  std::string cache =
      "!dsv4.cache<" + std::to_string(page) + " x <" + record + ">>";
  std::string arguments, operands;
  size_t begin = 0;
  for (unsigned i = 0; begin < types.size(); ++i) {
    size_t end = types.find(';', begin);
    std::string name = "%f" + std::to_string(i);
    arguments += ", " + name + ": " + types.substr(begin, end - begin);
    operands += (i ? ", " : "") + name;
    begin = end + 1;
  }
  std::string list = types.substr(0, types.size() - 1);
  for (char &c : list)
    c = c == ';' ? ',' : c;
  return {"%c: " + cache + ", %i: tensor<?xi32>" + arguments,
          "dsv4.paged_append %c[%i] fields(" + operands + " : " + list + ") " +
              columns + " : " + cache + ", tensor<?xi32>"};
}

TEST_F(AppendTest, V4_584ClearsItsEighthFactor) {
  auto [arguments, body] =
      appendFields("v4_584", 2,
                   "tensor<?x448xf8E4M3FN>;tensor<?x512xbf16>;"
                   "tensor<?x7xf8E8M0FNU>;",
                   "columns [0, 448, 0]");
  parse(arguments, body);
  bytes({1, 1728}, 1728, 0xEE);
  bind<int32_t>({1}, {1});
  bytes({1, 448}, 448, 0x11);
  bytes({1, 512}, 1024, 0x22);
  poke<uint16_t>(3, 2 * 448, 0x3333, 64);
  bytes({1, 7}, 7, 0x44);
  run();
  std::vector<uint8_t> expected(1728, 0xEE);
  std::fill_n(expected.begin() + 576, 448, 0x11);
  std::fill_n(expected.begin() + 576 + 448, 128, 0x33);
  std::fill_n(expected.begin() + 1152 + 8, 7, 0x44);
  expected[1152 + 15] = 0;
  EXPECT_EQ(read<uint8_t>(0), expected);
}

TEST_F(AppendTest, Nvfp4_352InterleavesItsScales) {
  auto [arguments, body] =
      appendFields("nvfp4_352", 1,
                   "tensor<?x512xf4E2M1FN>;tensor<?x64xf8E4M3FN>;"
                   "tensor<?x32xf8E4M3FN>;",
                   "");
  parse(arguments, body);
  bytes({1, 352}, 352, 0xEE);
  bind<int32_t>({1}, {0});
  bytes({1, 256}, 256, 0x21);
  bytes({1, 64}, 64, 0x33);
  std::vector<uint8_t> scales;
  for (uint8_t i = 0; i < 32; ++i)
    scales.push_back(i);
  bind<uint8_t>({1, 32}, scales);
  run();
  auto entry = read<uint8_t>(0);
  EXPECT_EQ(entry[0], 0x21);
  EXPECT_EQ(entry[256], 0x33);
  for (unsigned i = 0; i < 32; ++i)
    EXPECT_EQ(entry[320 + 8 * (i & 3) + (i >> 2)], i);
}

TEST_F(AppendTest, CustomRecord) {
  // Nibbles high first, padding that fills no power of two, an array, and a
  // scale per tensor, which is not written.
  auto [arguments, body] = appendFields(
      "[<\"a\" : 4 x i4 in row pad 1 high_first>,"
      " <\"b\" : 2 x f32 in array>,"
      " <\"s\" : 1 x bf16 in tail scales \"a\" per row pad 2>,"
      " <\"t\" : 1 x f32 in array scales \"a\" per tensor>],"
      " align 4",
      2, "tensor<?x6xi4>;tensor<?x2xf32>;tensor<?xbf16>;", "columns [2, 0, 0]");
  parse(arguments, body);
  bytes({1, 16}, 16, 0xEE); // Rows of 3 bytes, tails of 4.
  bytes({1, 2, 8}, 16, 0xEE);
  bytes({4}, 4, 0xEE);
  bind<int32_t>({1}, {1});
  bind<uint8_t>({1, 3}, {0x99, 0x21, 0x43}); // Columns 2 to 5: 1, 2, 3, 4.
  bind<uint32_t>({1, 2}, {0x11111111, 0xFF800001});
  bind<uint16_t>({1}, {0x5566});
  run();
  EXPECT_EQ(
      read<uint8_t>(0),
      (std::vector<uint8_t>{0xEE, 0xEE, 0xEE, 0x12, 0x34, 0xEE, 0xEE, 0xEE,
                            0xEE, 0xEE, 0x66, 0x55, 0, 0, 0xEE, 0xEE}));
  EXPECT_EQ(read<uint32_t>(1), (std::vector<uint32_t>{0xEEEEEEEE, 0xEEEEEEEE,
                                                      0x11111111, 0xFF800001}));
  EXPECT_EQ(read<uint32_t>(2)[0], 0xEEEEEEEEu);
}

TEST_F(AppendTest, WhatWasWrittenIsGathered) {
  std::string cache = "!dsv4.cache<2 x <[<\"v\" : 1 x bf16 in row>]>>";
  auto [arguments, body] = append(2, "");
  parse(arguments + ", %o: tensor<?x1xbf16>",
        body +
            "\n%g = dsv4.paged_gather %c[%i] outs(%o : tensor<?x1xbf16>) : " +
            cache + ", tensor<?xi32>");
  bytes({1, 4}, 4, 0xEE);
  bind<int32_t>({2}, {1, 5});
  bind<uint16_t>({2, 1}, {7, 8});
  bytes({2, 1}, 4, 0xAB);
  run();
  EXPECT_EQ(read<uint16_t>(3), (std::vector<uint16_t>{7, 0}));
  auto signature = readSignature(func);
  ASSERT_TRUE(signature.ok());
  EXPECT_TRUE(signature->bindings[0].written && signature->holdsInput[0]);
  EXPECT_FALSE(signature->bindings[1].written);
  EXPECT_TRUE(signature->bindings[3].written && !signature->holdsInput[3]);
}

//===----------------------------------------------------------------------===//
// Random inputs
//===----------------------------------------------------------------------===//

TEST_F(AppendTest, RandomRingsDoNotRace) {
  auto [arguments, body] = append(
      4, "ring 8 requests(%r : tensor<?xi32>) pages(%t : tensor<?x?xi32>)",
      ", %r: tensor<?xi32>, %t: tensor<?x?xi32>, %l: tensor<?xi32>", kLengths);
  parse(arguments, body);
  std::map<std::string, int64_t> dims = {
      {"arg0.pages", 20}, {"arg1.0", 100}, {"arg2.0", 100}, {"arg3.0", 100},
      {"arg4.0", 8},      {"arg4.1", 3},   {"arg5.0", 8}};
  unsigned kept = 0, left = 0;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    inputs = makeRandomInputs(func, dims, seed).take();
    EXPECT_EQ(inputs.bytes, makeRandomInputs(func, dims, seed)->bytes);
    auto positions = read<int32_t>(1), requests = read<int32_t>(3),
         table = read<int32_t>(4), lengths = read<int32_t>(5);
    std::set<int32_t> pages;
    for (int32_t page : table)
      EXPECT_TRUE(page < 0 || page >= 20 || pages.insert(page).second);
    std::set<std::pair<int32_t, int32_t>> slots;
    for (size_t i = 0; i < positions.size(); ++i) {
      int32_t request = requests[i], position = positions[i];
      if (request < 0 || request >= 8 || position < 0)
        continue;
      EXPECT_LT(position, lengths[request]);
      bool inRing = position >= lengths[request] - 8;
      ++(inRing ? kept : left);
      EXPECT_TRUE(!inRing || slots.insert({request, position % 8}).second);
    }
    run();
  }
  EXPECT_GT(kept, 400u);
  EXPECT_GT(left, 100u);
}

TEST_F(AppendTest, RandomSlots) {
  for (bool unique : {false, true}) {
    auto [arguments, body] = append(4, unique ? "unique" : "");
    parse(arguments, body);
    std::map<std::string, int64_t> dims = {
        {"arg0.pages", 10}, {"arg1.0", 60}, {"arg2.0", 60}};
    inputs = makeRandomInputs(func, dims, 3).take();
    std::multiset<int32_t> slots;
    for (int32_t slot : read<int32_t>(1))
      if (slot >= 0 && slot < 40)
        slots.insert(slot);
    std::set<int32_t> distinct(slots.begin(), slots.end());
    EXPECT_GT(distinct.size(), 25u);
    EXPECT_EQ(distinct.size() == slots.size(), unique);
    run();
  }
}

} // namespace
