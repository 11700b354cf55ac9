//===- CompressStateTest.cpp - Where tokens of a window are ---------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CompressFixture.h"

#include <algorithm>
#include <climits>
#include <cmath>
#include <set>

using namespace dsv4;
using namespace dsv4::reference;

namespace {
class CompressStateTest : public CompressFixture {};

//===----------------------------------------------------------------------===//
// The state
//===----------------------------------------------------------------------===//

/// Entries of one column each, value and score.
Floats makeState(int entries,
                 std::initializer_list<std::pair<int, float>> values) {
  Floats state(2 * entries, kOther);
  for (int i = 0; i < entries; ++i)
    state[2 * i + 1] = 0;
  for (auto [entry, value] : values)
    state[2 * entry] = value;
  return state;
}

TEST_F(CompressStateTest, Ring) {
  for (int page : {1, 2, 4, 8}) {
    std::string type = cache(page, 1);
    parseCompress(4, false, 1,
                  {", %c: " + type, " state(%c : " + type + ") ring 4"});
    // Positions 4, 5 of request 1 are its slots 0, 1; of request 0, 10 and 11
    // are slots 2, 3, and 8 and 9 have been there, 12 is in the launch.
    bindLaunch(1, {30, 40, 16}, {0, 0, 0},
               {{4, 1, 6, 0}, {8, 0, 12, 2}, {9, 0, 12, 2}}, 1);
    bind<float>(
        {8 / page, page * 8},
        makeState(8, {{0, 1}, {1, 3}, {2, 5}, {3, 7}, {4, 10}, {5, 20}}));
    run();
    EXPECT_EQ(read<float>(3), (Floats{25, 4, 7.75f})) << page;
  }
}

TEST_F(CompressStateTest, Pages) {
  std::string type = cache(2, 1);
  parseCompress(4, false, 1,
                {", %c: " + type + ", %t: tensor<?x?xi32>",
                 " state(%c : " + type + ") pages(%t : tensor<?x?xi32>)"});
  // Request 1 has positions 0, 1 in page 3, 2, 3 in page 0, 4, 5 in page 1.
  bindLaunch(1, {60}, {0},
             {{0, 1, 6, 0}, {2, 1, 6, 0}, {3, 1, 6, 0}, {4, 1, 6, 0}}, 1);
  bind<float>({4, 16},
              makeState(8, {{6, 1}, {7, 3}, {0, 5}, {1, 7}, {2, 9}, {3, 11}}));
  bind<int32_t>({2, 3}, {2, 2, 2, 3, 0, 1});
  run();
  // The last row of the third is 7, which is neither here nor there.
  EXPECT_EQ(read<float>(3), (Floats{4, 8, 21.75f, 80.0f / 3}));
}

TEST_F(CompressStateTest, PagesThatAreNotThere) {
  std::string type = cache(2, 1);
  parseCompress(2, false, 1,
                {", %c: " + type + ", %t: tensor<?x?xi32>",
                 " state(%c : " + type + ") pages(%t : tensor<?x?xi32>)"});
  Plan plan;
  // Position w is of the state and w + 1 of the launch.
  for (int request : {0, 1, 2, -1, 3, INT_MIN, INT_MAX})
    plan.push_back({1, request, 2, 0});
  plan.push_back({3, 2, 4, 0}); // Column 1.
  plan.push_back({5, 2, 6, 0}); // Column 2: there is none.
  constexpr int max = CompressOp::kMaxPosition;
  plan.push_back({max, 2, max, 0}); // Its position is the first row's.
  plan.push_back({max - 1, 2, max, 0});
  plan.push_back({max + 1, 2, max + 1, 0}); // Beyond all positions.
  bindLaunch(1, {10}, {0}, plan, 1);
  bind<float>({2, 16}, makeState(4, {{3, 20}}));
  bind<int32_t>({3, 2}, {-1, 1, 2, 1, 1, 1});
  run();
  EXPECT_EQ(read<float>(3),
            (Floats{10, 10, 15, 10, 10, 10, 10, 15, 10, 10, 10, 0}));
}

TEST_F(CompressStateTest, RingInPages) {
  std::string type = cache(2, 1);
  parseCompress(
      4, false, 1,
      {", %c: " + type + ", %t: tensor<?x?xi32>",
       " state(%c : " + type + ") ring 4 pages(%t : tensor<?x?xi32>)"});
  // Positions 4, 5 are slots 0, 1, in page 2 of request 1; 6 is slot 2, which
  // is in page 0.
  bindLaunch(1, {70}, {0}, {{4, 1, 7, 0}, {4, 0, 7, 0}, {4, 2, 7, 0}}, 1);
  bind<float>({3, 16}, makeState(6, {{4, 40}, {5, 50}, {0, 60}}));
  bind<int32_t>({3, 2}, {2, -1, 2, 0, 3, 0});
  run();
  EXPECT_EQ(read<float>(3), (Floats{55, 160.0f / 3, 65}));
  // A table of one column has no place for slot 2 of request 1.
  inputs.shapes[5] = {3, 1};
  inputs.bytes[5].resize(12);
  poke<int32_t>(5, 4, 2);
  run();
  EXPECT_EQ(read<float>(3)[0], 160.0f / 3);
}

TEST_F(CompressStateTest, RingWithinAPage) {
  std::string type = cache(8, 1);
  parseCompress(
      4, false, 1,
      {", %c: " + type + ", %t: tensor<?x?xi32>",
       " state(%c : " + type + ") ring 4 pages(%t : tensor<?x?xi32>)"});
  bindLaunch(1, {70}, {0}, {{4, 0, 7, 0}}, 1);
  bind<float>({2, 64}, makeState(16, {{8, 40}, {9, 50}, {10, 60}}));
  bind<int32_t>({1, 1}, {1});
  run();
  EXPECT_EQ(read<float>(3), (Floats{55}));
}

TEST_F(CompressStateTest, BiasedState) {
  std::string type = cache(2, 1);
  for (bool biased : {false, true}) {
    parseCompress(2, false, 1,
                  {", %c: " + type + ", %b: tensor<2x1xf32>",
                   " bias(%b : tensor<2x1xf32>) state(%c : " + type +
                       ") ring 2" + (biased ? " biased" : "")});
    // Position 2 is of the state. With its bias it is alone, without it has the
    // score of the other.
    bindLaunch(1, {10}, {1}, {{2, 0, 3, 0}}, 1);
    bind<float>({1, 16}, makeState(2, {{0, 20}}));
    poke<float>(4, 4, 4.0f);
    bind<float>({2, 1}, {1000, 3});
    run();
    EXPECT_EQ(read<float>(3)[0], biased ? 15 : 20);
  }
}

TEST_F(CompressStateTest, StateInArrays) {
  std::string type = cache(2, 2, "array");
  parseCompress(2, true, 1,
                {", %c: " + type, " state(%c : " + type + ") ring 4"});
  // Positions 2, 3 (first column), 4 (second) of request 1 are its slots 2, 3,
  // 0.
  bindLaunch(2, {kOther, 80}, {kOther, 0}, {{4, 1, 5, 0}}, 1);
  Floats values(16, kOther), scores(16, kOther);
  values[2 * 6] = 20, values[2 * 7] = 40, values[2 * 4 + 1] = 60;
  scores[2 * 6] = scores[2 * 7] = scores[2 * 4 + 1] = 0;
  bind<float>({4, 2, 8}, values);
  bind<float>({4, 2, 8}, scores);
  run();
  EXPECT_EQ(read<float>(3), (Floats{50}));
}

TEST_F(CompressStateTest, BF16) {
  std::string type = cache(2, 1, "row", "bf16");
  parseCompress(
      2, false, 1,
      {", %c: " + type, " state(%c : " + type + ") ring 2", "bf16", "bf16"});
  bind<uint16_t>({2, 1}, {0x4040, 0x3F80}); // 3, 1.
  bind<uint16_t>({2, 1}, {0, 0});
  bindPlan({{0, 0, 0, 0}, {2, 0, 3, 0}, {2, 0, 2, 2}});
  bytes({3, 1}, 6, 0xAB);
  bind<uint16_t>({1, 8}, {0x3F81, 0, 0, 0}); // 1 + 2^-7, whatever follows.
  run();
  // (3 + 1 + 2^-7) / 2 is halfway between 2 and 2 + 2^-6, up to 2^-8.
  EXPECT_EQ(read<uint16_t>(3), (std::vector<uint16_t>{0x4000, 0x4000, 0}));
  // A result of fp32 is not rounded again.
  parseCompress(2, false, 1, {"", "", "bf16", "f32"});
  bind<uint16_t>({2, 1}, {0x4040, 0x3F81});
  bind<uint16_t>({2, 1}, {0, 0});
  bindPlan({{0, 0, 0, 0}});
  bytes({1, 1}, 4, 0xAB);
  run();
  EXPECT_EQ(read<float>(3)[0], 2.00390625f);
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

TEST_F(CompressStateTest, VoidEntries) {
  parseCompress(2, false, 2);
  bindLaunch(2, {1, 2, 3, 4}, Floats(4, 0),
             {{-1, 0, 0, 0},
              {INT_MIN, 0, INT_MIN, 0},
              {0, 0, 0, 0},
              {-1, 0, -1, 0},
              {0, 0, 2, 0},
              {2, 0, 0, 0},
              {INT_MAX, 0, 0, 0},
              {INT_MAX, 0, INT_MIN, INT_MAX},
              {0, 0, INT_MAX, INT_MIN}},
             2);
  run();
  Floats expected(18, 0);
  expected[4] = 2, expected[5] = 3;
  EXPECT_EQ(read<float>(3), expected);
  for (uint32_t code : {read<uint32_t>(3)[0], read<uint32_t>(3)[12]})
    EXPECT_EQ(code, 0u);
}

TEST_F(CompressStateTest, NothingAtAll) {
  parseCompress(2, false, 2);
  bindLaunch(2, {}, {}, {{0, 0, 0, 0}}, 2);
  run();
  EXPECT_EQ(read<float>(3), (Floats{0, 0}));
  inputs = {};
  bindLaunch(2, {1, 2}, {1, 2}, {}, 2);
  run();
}

TEST_F(CompressStateTest, TokensOutsideTheLaunch) {
  // Rows 0, 1 of the window are rows `token` + 0, 1 of values.
  EXPECT_EQ(pool(2, {10, 20}, {0, 0},
                 {{0, 0, 0, -1},
                  {0, 0, 0, 1},
                  {0, 0, 0, 2},
                  {0, 0, 0, -2},
                  {0, 0, 0, INT_MAX},
                  {0, 0, 0, INT_MIN},
                  // Positions from far below 0 on.
                  {4, 0, -3, -7},
                  {INT_MAX, 0, INT_MIN, INT_MIN},
                  {int(CompressOp::kMaxPosition) - 1, 0,
                   int(CompressOp::kMaxPosition), 1}}),
            (Floats{10, 20, 0, 0, 0, 0, 15, 0, 20}));
  // 2^31 - 1 + 2^31 - 2^31 is the last of so many rows.
  EXPECT_EQ(pool(2, {10, 20}, {0, 0}, {{0, 0, INT_MIN, INT_MIN}}),
            (Floats{15}));
}

TEST_F(CompressStateTest, RequestsOutsideTheState) {
  std::string type = cache(2, 1);
  parseCompress(2, false, 1,
                {", %c: " + type, " state(%c : " + type + ") ring 2"});
  bindLaunch(1, {10}, {0},
             {{0, 0, 1, 0},
              {0, 1, 1, 0},
              {0, 2, 1, 0},
              {0, -1, 1, 0},
              {0, INT_MIN, 1, 0},
              {0, INT_MAX, 1, 0},
              {0, INT_MAX, 0, -1}},
             1);
  bind<float>({2, 16}, makeState(4, {{0, 20}, {2, 40}}));
  run();
  // A request without a state has its tokens of the launch still.
  EXPECT_EQ(read<float>(3), (Floats{15, 25, 10, 10, 10, 10, 10}));
}

TEST_F(CompressStateTest, LongestRing) {
  // Requests times the ring is more than 2^31.
  std::string type = cache(1, 1);
  parseCompress(2, false, 1,
                {", %c: " + type, " state(%c : " + type + ") ring 2147483647"});
  bindLaunch(1, {10}, {0},
             {{0, INT_MAX, 1, 0},
              {0, 2, 1, 0},
              {int(CompressOp::kMaxPosition) - 1, 0,
               int(CompressOp::kMaxPosition), 0}},
             1);
  bind<float>({1, 8}, makeState(1, {{0, 20}}));
  run();
  EXPECT_EQ(read<float>(3), (Floats{10, 10, 10}));
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

/// An append of all tokens to the state, after the op has read it.
TEST_F(CompressStateTest, AnyLaunchesGiveTheSameEntries) {
  const int window = 4, channels = 3, columns = 6, total = 44;
  std::string type = cache(4, columns), x = "tensor<?x6xf32>";
  More more{", %c: " + type + ", %b: tensor<4x6xf32>, %i: tensor<?xi32>," +
                " %q: tensor<?xi32>, %l: tensor<?xi32>",
            " bias(%b : tensor<4x6xf32>) state(%c : " + type + ") ring 8"};
  more.after = "dsv4.paged_append %c[%i] ring 8 requests(%q : tensor<?xi32>)"
               " lengths(%l : tensor<?xi32>) fields(%v, %s : " +
               x + ", " + x + ") : " + type + ", tensor<?xi32>";
  parseCompress(window, true, channels, more);

  Random random(3);
  Floats values, scores, bias;
  for (int i = 0; i < total * columns; ++i) {
    values.push_back(float(random.unit() - 0.5));
    scores.push_back(float(6 * random.unit()));
  }
  for (int i = 0; i < window * columns; ++i)
    bias.push_back(float(random.unit()));
  Floats expected;
  const int one[] = {1}, four[] = {4}, some[] = {7, 1, 12, 3, 2, 9},
            all[] = {total};
  for (llvm::ArrayRef<int> lengths :
       {llvm::ArrayRef(all), llvm::ArrayRef(one), llvm::ArrayRef(four),
        llvm::ArrayRef(some)}) {
    Floats entries;
    std::vector<char> state(4 * 4 * columns * 8, char(0xFF)); // NaN.
    for (int begin = 0, i = 0; begin < total; ++i) {
      int end = std::min(begin + lengths[i % lengths.size()], total);
      Plan plan;
      for (int w = 0; w + window <= end; w += window)
        if (w + window > begin)
          plan.push_back({w, 1, begin, 0});
      inputs = {};
      bindLaunch(columns,
                 {&values[begin * columns], values.data() + end * columns},
                 {&scores[begin * columns], scores.data() + end * columns},
                 plan, channels);
      bind<char>({4, 4 * columns * 8}, state);
      bind<float>({window, columns}, bias);
      std::vector<int32_t> positions;
      for (int t = begin; t < end; ++t)
        positions.push_back(t);
      bind<int32_t>({end - begin}, positions);
      bind<int32_t>({end - begin}, std::vector<int32_t>(end - begin, 1));
      bind<int32_t>({2}, {0, end});
      run();
      Floats pooled = read<float>(3);
      entries.insert(entries.end(), pooled.begin(), pooled.end());
      state = inputs.bytes[4];
      begin = end;
    }
    if (expected.empty())
      expected = entries;
    ASSERT_EQ(entries.size(), size_t(total / window * channels));
    EXPECT_EQ(entries, expected) << lengths.size();
  }
  // All of it by the definition: entry 5, channel 2.
  Floats rowScores, rowValues;
  for (int t = 16; t < 24; ++t) {
    int column = t < 20 ? 2 : 5;
    volatile float score =
        scores[t * columns + column] + bias[t % 4 * columns + column];
    rowScores.push_back(float(score));
    rowValues.push_back(values[t * columns + column]);
  }
  Sums sums = poolRows(rowValues.data(), rowScores.data(), 8);
  EXPECT_EQ(expected[5 * channels + 2], sums.weighted / sums.sum);
}

TEST_F(CompressStateTest, SignatureOfAState) {
  std::string type = cache(2, 1);
  parseCompress(2, false, 1,
                {", %c: " + type, " state(%c : " + type + ") ring 2"});
  auto signature = readSignature(func);
  ASSERT_TRUE(signature.ok());
  EXPECT_TRUE(signature->bindings[3].written && !signature->holdsInput[3]);
  EXPECT_FALSE(signature->bindings[4].written);
}

TEST_F(CompressStateTest, ShapesThatDoNotFit) {
  parseCompress(2, false, 1);
  bindLaunch(1, {1, 2}, {1, 2}, {{0, 0, 0, 0}}, 1);
  inputs.shapes[1] = {1, 1};
  EXPECT_EQ(error(), "dsv4.compress: expected 'scores', binding 'arg1', of "
                     "shape [2, 1], got [1, 1]");
  inputs.shapes[1] = {2, 1};
  inputs.shapes[3] = {2, 1};
  EXPECT_EQ(error(), "dsv4.compress: expected 'outs', binding 'arg3', of shape "
                     "[1, 1], got [2, 1]");
}

//===----------------------------------------------------------------------===//
// Random inputs
//===----------------------------------------------------------------------===//

TEST_F(CompressStateTest, RandomPlans) {
  std::string type = cache(4, 8);
  parseCompress(4, true, 4,
                {", %c: " + type + ", %t: tensor<?x?xi32>, %b: tensor<4x8xf32>",
                 " bias(%b : tensor<4x8xf32>) state(%c : " + type +
                     ") ring 8 pages(%t : tensor<?x?xi32>)"});
  std::map<std::string, int64_t> dims = {
      {"arg0.0", 100},    {"arg1.0", 100}, {"arg2.0", 40}, {"arg3.0", 40},
      {"arg4.pages", 20}, {"arg5.0", 10},  {"arg5.1", 2}};
  unsigned inLaunch = 0, mixed = 0, first = 0, empty = 0, numbers = 0,
           other = 0;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    inputs = makeRandomInputs(func, dims, seed).take();
    EXPECT_EQ(inputs.bytes, makeRandomInputs(func, dims, seed)->bytes);
    for (unsigned binding : {4, 6})
      for (float number : read<float>(binding))
        EXPECT_LE(std::fabs(number), 4);
    auto plan = read<int32_t>(2), table = read<int32_t>(5);
    for (size_t i = 0; i < plan.size(); i += 4) {
      int64_t w = plan[i], position = plan[i + 2], last = w + 3;
      int64_t token = plan[i + 3] + last - position;
      bool good = w >= 0 && w % 4 == 0 && plan[i + 1] >= 0 &&
                  plan[i + 1] < 10 && position >= 0 && plan[i + 3] >= 0 &&
                  last >= position && token < 100;
      if (!good) {
        ++other;
        continue;
      }
      first += w == 0;
      ++(w - 4 >= position ? inLaunch : mixed);
    }
    run();
    for (float number : read<float>(3)) {
      empty += number == 0;
      numbers += std::isfinite(number);
    }
  }
  EXPECT_GT(inLaunch, 50u);
  EXPECT_GT(mixed, 250u);
  EXPECT_GT(first, 100u);
  EXPECT_GT(other, 200u);
  EXPECT_LT(other, 400u);
  EXPECT_GT(empty, 100u);
  EXPECT_GT(numbers, 2400u); // Of 3200.
}

TEST_F(CompressStateTest, RandomOfEveryKind) {
  std::string row = cache(4, 2, "row", "bf16"),
              array = cache(4, 2, "array", "bf16");
  const std::pair<std::string, std::string> states[] = {
      {"", ""},
      {", %c: " + row, " state(%c : " + row + ") ring 4"},
      {", %c: " + array + ", %t: tensor<?x?xi32>",
       " state(%c : " + array + ") pages(%t : tensor<?x?xi32>)"}};
  for (auto &[arguments, operands] : states)
    for (Codes codes : {Codes::Finite, Codes::NoNaN, Codes::All})
      for (int64_t tokens : {0, 1, 37})
        for (int64_t entries : {0, 1, 50}) {
          parseCompress(3, false, 2, {arguments, operands, "bf16", "bf16"});
          std::map<std::string, int64_t> dims = {
              {"arg0.0", tokens},  {"arg1.0", tokens},     {"arg2.0", entries},
              {"arg3.0", entries}, {"arg4.pages", tokens}, {"arg5.0", entries},
              {"arg5.1", 2}};
          auto made = makeRandomInputs(func, dims, 5, codes);
          ASSERT_TRUE(made.ok()) << made.status().message();
          inputs = made.take();
          bool nan = false;
          for (unsigned binding : {0, 1})
            for (uint16_t code : read<uint16_t>(binding))
              nan |= std::isnan(decodeBF16(code));
          EXPECT_FALSE(nan && codes != Codes::All);
          EXPECT_TRUE(nan || codes != Codes::All || tokens < 37);
          run();
        }
}

TEST_F(CompressStateTest, RandomTableOfAnAppendDoesNotRace) {
  std::string type = cache(4, 1), x = "tensor<?x1xf32>";
  More more{", %c: " + type + ", %t: tensor<?x?xi32>, %i: tensor<?xi32>," +
                " %l: tensor<?xi32>",
            " state(%c : " + type + ") ring 8 pages(%t : tensor<?x?xi32>)"};
  more.after = "dsv4.paged_append %c[%i] ring 8 pages(%t : tensor<?x?xi32>)"
               " lengths(%l : tensor<?xi32>) fields(%v, %s : " +
               x + ", " + x + ") : " + type + ", tensor<?xi32>";
  parseCompress(4, false, 1, more);
  std::map<std::string, int64_t> dims = {
      {"arg0.0", 20}, {"arg1.0", 20},     {"arg2.0", 20},
      {"arg3.0", 20}, {"arg4.pages", 50}, {"arg5.0", 20},
      {"arg5.1", 2},  {"arg6.0", 20},     {"arg7.0", 20}};
  auto made = makeRandomInputs(func, dims, 1);
  ASSERT_TRUE(made.ok()) << made.status().message();
  inputs = made.take();
  std::set<int32_t> pages;
  for (int32_t page : read<int32_t>(5))
    EXPECT_TRUE(page < 0 || page >= 50 || pages.insert(page).second);
  EXPECT_GT(pages.size(), 30u);
  run();
}

} // namespace
