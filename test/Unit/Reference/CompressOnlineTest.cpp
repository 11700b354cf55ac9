//===- CompressOnlineTest.cpp - Windows token by token --------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CompressFixture.h"

#include "dsv4/Testing/RandomInputs.h"

#include <climits>
#include <map>
#include <random>
#include <set>

using namespace dsv4;
using namespace dsv4::reference;

namespace {

class CompressOnlineTest : public CompressFixture {
protected:
  using Segment = std::array<int32_t, 5>;
  using Segments = std::vector<Segment>;

  static std::string getState(int page, int channels,
                              const std::string &where = "row") {
    std::string rest = std::to_string(channels) + " x f32 in " + where + ">";
    return "!dsv4.cache<" + std::to_string(page) + " x <[<\"m\" : " + rest +
           ", <\"s\" : " + rest + ", <\"a\" : " + rest + "]>>";
  }

  /// Arguments: values, scores, plan, destination, state.
  void parseOnline(int window, int channels, int page, const More &more = {},
                   const std::string &where = "row") {
    std::string columns = std::to_string(channels) + "x";
    std::string x = "tensor<?x" + columns + more.type + ">",
                out = "tensor<?x" + columns + more.result + ">",
                state = getState(page, channels, where);
    parse("%v: " + x + ", %s: " + x + ", %p: tensor<?x5xi32>, %o: " + out +
              ", %c: " + state + more.arguments,
          "%r = dsv4.compress %v, %s window " + std::to_string(window) +
              " algorithm online plan(%p : tensor<?x5xi32>)" + more.operands +
              " state(%c : " + state + ") outs(%o : " + out + ") : " + x +
              ", " + x);
  }
  void bindSegments(int channels, const Floats &values, const Floats &scores,
                    const Segments &segments) {
    inputs = {};
    int64_t tokens = int64_t(values.size()) / channels;
    bind<float>({tokens, channels}, values);
    bind<float>({tokens, channels}, scores);
    std::vector<int32_t> flat;
    for (auto &segment : segments)
      flat.insert(flat.end(), segment.begin(), segment.end());
    bind<int32_t>({int64_t(segments.size()), 5}, flat);
    bytes({int64_t(segments.size()), channels}, segments.size() * channels * 4,
          0xAB);
  }

  /// Scores and values in one segment, of one channel; what is left of them.
  Floats merge(const Floats &scores, const Floats &values,
               const Floats &before = {-kInfinity, 0, 0}) {
    int32_t count = int32_t(values.size());
    parseOnline(100, 1, 1);
    bindSegments(1, values, scores, {{1, count, 0, 0, 1}});
    bind<float>({2, 12}, {before[0], before[1], before[2], 0, 0, 0});
    run();
    Floats state = read<float>(4);
    return Floats(state.begin() + 3, state.end());
  }
};

//===----------------------------------------------------------------------===//
// Merging
//===----------------------------------------------------------------------===//

TEST_F(CompressOnlineTest, OneToken) {
  EXPECT_EQ(merge({3}, {-7}), (Floats{3, 1, -7}));
  EXPECT_EQ(merge({-kInfinity}, {5}), (Floats{-kInfinity, 0, 0}));
}

TEST_F(CompressOnlineTest, TokensByHand) {
  volatile float e = expF32(-1.5f);
  // A smaller score, and a larger one.
  volatile float product = e * 5, sum = 1 + e, weighted = 3 + product;
  EXPECT_EQ(merge({0.5f, -1}, {3, 5}), (Floats{0.5f, sum, weighted}));
  volatile float scaled = 5 * e;
  weighted = scaled + 3;
  sum = e + 1;
  EXPECT_EQ(merge({-1, 0.5f}, {5, 3}), (Floats{0.5f, sum, weighted}));
  // The state counts as it is, whatever led to it.
  EXPECT_EQ(merge({2}, {10}, {2, 7, -3}), (Floats{2, 8, 7}));
  EXPECT_EQ(merge({90}, {10}, {2, 7, -3}), (Floats{90, 1, 10}));
  EXPECT_EQ(merge({-90}, {10}, {2, 7, -3}), (Floats{2, 7, -3}));
}

TEST_F(CompressOnlineTest, TokensWithoutWeight) {
  EXPECT_EQ(merge({-kInfinity, 1, -kInfinity}, {9, 4, 9}), (Floats{1, 1, 4}));
  // 0 times infinity.
  Floats left = merge({1, -kInfinity}, {4, kInfinity});
  EXPECT_EQ(left[1], 1);
  EXPECT_TRUE(std::isnan(left[2]));
}

TEST_F(CompressOnlineTest, NaNStays) {
  auto isNaN = [](Floats left) {
    for (float x : {left[1], left[2]}) {
      uint32_t bits;
      std::memcpy(&bits, &x, 4);
      if (bits != 0x7FFFFFFFu)
        return false;
    }
    return true;
  };
  for (float bad : {kNaN, kInfinity})
    for (int at = 0; at < 3; ++at) {
      Floats scores = {0, 1, 2};
      scores[at] = bad;
      EXPECT_TRUE(isNaN(merge(scores, {1, 1, 1}))) << bad << " at " << at;
      EXPECT_TRUE(isNaN(merge({0, 1}, {1, 1}, {bad, 1, 1})));
    }
  for (int at = 0; at < 3; ++at) {
    Floats values = {1, 2, 3};
    values[at] = kNaN;
    Floats left = merge({0, 1, 2}, values);
    EXPECT_TRUE(std::isnan(left[2]));
    EXPECT_FALSE(std::isnan(left[1]));
  }
  EXPECT_TRUE(std::isnan(merge({kNaN}, {0})[0]));
  EXPECT_EQ(merge({kInfinity}, {0})[0], kInfinity);
}

TEST_F(CompressOnlineTest, SignOfTheMaximum) {
  EXPECT_FALSE(std::signbit(merge({-0.0f, 0.0f}, {1, 1})[0]));
  EXPECT_FALSE(std::signbit(merge({0.0f, -0.0f}, {1, 1})[0]));
  EXPECT_TRUE(std::signbit(merge({-0.0f, -0.0f}, {1, 1})[0]));
}

TEST_F(CompressOnlineTest, NearASoftmaxInDoublePrecision) {
  std::mt19937_64 random(5);
  std::normal_distribution<float> normal;
  const int channels = 16;
  for (int window : {1, 2, 9, 128, 1024})
    for (float spread : {0.1f, 1.0f, 20.0f}) {
      Floats values, scores;
      for (int i = 0; i < window * channels; ++i) {
        values.push_back(normal(random));
        scores.push_back(spread * normal(random));
      }
      parseOnline(window, channels, 1);
      bindSegments(channels, values, scores, {{0, window, 0, -1, -1}});
      bytes({0, 12 * channels}, 0);
      run();
      Floats pooled = read<float>(3);
      for (int c = 0; c < channels; ++c) {
        double max = -INFINITY, sum = 0, weighted = 0, size = 0;
        for (int r = 0; r < window; ++r)
          max = std::max<double>(max, scores[r * channels + c]);
        for (int r = 0; r < window; ++r) {
          double e = std::exp(scores[r * channels + c] - max);
          sum += e;
          weighted += e * values[r * channels + c];
          size += e * std::fabs(values[r * channels + c]);
        }
        // Each merge rounds three times.
        EXPECT_NEAR(pooled[c], weighted / sum,
                    (3e-6 + 2e-7 * window) * size / sum)
            << window << " " << spread;
      }
    }
}

//===----------------------------------------------------------------------===//
// Segments
//===----------------------------------------------------------------------===//

TEST_F(CompressOnlineTest, ThroughTheState) {
  parseOnline(4, 1, 2);
  // Positions 3 to 9 of a request: an end, a whole window, a beginning.
  bindSegments(1, {1, 2, 3, 4, 5, 6, 7}, Floats(7, 0),
               {{3, 1, 0, 4, 4}, {4, 4, 1, 4, 4}, {8, 2, 5, 4, 1}});
  Floats state(18, kOther);
  state[12] = 0, state[13] = 3, state[14] = 27; // Entry 4.
  bind<float>({3, 6 * 4}, state);
  run();
  EXPECT_EQ(read<float>(3), (Floats{7, 3.5f, 0}));
  Floats expected = state;
  expected[3] = 0, expected[4] = 2, expected[5] = 13; // Entry 1.
  EXPECT_EQ(read<float>(4), expected);
}

TEST_F(CompressOnlineTest, InArrays) {
  parseOnline(4, 2, 2, {}, "array");
  bindSegments(2, {1, 2, 3, 4}, {0, 0, 0, 0},
               {{2, 2, 0, 3, 0}, {1, 1, 1, 3, 1}});
  Floats none(8, kOther), max = none, sum = none, acc = none;
  max[6] = max[7] = 0;
  sum[6] = sum[7] = 2;
  acc[6] = 8, acc[7] = 10;
  bind<float>({2, 2, 8}, max);
  bind<float>({2, 2, 8}, sum);
  bind<float>({2, 2, 8}, acc);
  run();
  EXPECT_EQ(read<float>(3), (Floats{3, 4, 0, 0}));
  acc[2] = 11, acc[3] = 14;
  EXPECT_EQ(read<float>(6), acc);
  EXPECT_EQ(read<float>(5)[2], 3);
  EXPECT_EQ(read<float>(4)[2], 0);
}

TEST_F(CompressOnlineTest, BiasOfThePlace) {
  parseOnline(4, 1, 1,
              {", %b: tensor<4x1xf32>", " bias(%b : tensor<4x1xf32>)"});
  for (int place : {0, 1, 2}) {
    bindSegments(1, {5, 7}, {-1, -1}, {{8 + place, 2, 0, -1, 0}});
    bytes({1, 12}, 12, 0);
    bind<float>({4, 1}, {0, 1000, 2000, 3000});
    run();
    // Of two tokens the second has all the weight.
    EXPECT_EQ(read<float>(4)[0], place == 2 ? 0 : 1000 * (place + 1) - 1);
    EXPECT_EQ(read<float>(3)[0], place == 2 ? 7 : 0);
  }
}

TEST_F(CompressOnlineTest, EntriesThatAreNotThere) {
  parseOnline(4, 1, 2);
  Segments segments;
  for (int32_t entry : {-1, 4, 5, INT_MIN, INT_MAX})
    segments.push_back({1, 1, 0, entry, entry});
  segments.push_back({3, 1, 0, 4, 0}); // Nothing before it.
  segments.push_back({4, 1, 0, 3, 3}); // What was there is not read.
  bindSegments(1, {8}, {0}, segments);
  Floats state(12, 50);
  bind<float>({2, 24}, state);
  run();
  EXPECT_EQ(read<float>(3), (Floats{0, 0, 0, 0, 0, 8, 0}));
  state[9] = 0, state[10] = 1, state[11] = 8;
  EXPECT_EQ(read<float>(4), state);
}

TEST_F(CompressOnlineTest, WhatIsNoSegment) {
  constexpr int max = CompressOp::kMaxPosition;
  parseOnline(4, 1, 1);
  const Segments segments = {
      {-1, 1, 0, 0, 1},      {INT_MIN, 4, 0, 0, 1}, {max + 1, 1, 0, 0, 1},
      {INT_MAX, 1, 0, 0, 1}, {1, 0, 0, 0, 1},       {1, -3, 0, 0, 1},
      {1, INT_MIN, 0, 0, 1}, {1, 1, -1, 0, 1},      {1, INT_MAX, INT_MIN, 0, 1},
      {1, 1, 2, 0, 1},       {1, 1, INT_MAX, 0, 1}};
  bindSegments(1, {1, 2}, {0, 0}, segments);
  Floats state(6, 50);
  bind<float>({2, 12}, state);
  run();
  EXPECT_EQ(read<float>(3), Floats(segments.size(), 0));
  EXPECT_EQ(read<float>(4), state);
  // The last position is one.
  bindSegments(1, {1, 2}, {0, 0}, {{max, 1, 1, 0, 1}});
  bind<float>({2, 12}, state);
  run();
  EXPECT_EQ(read<float>(4)[4], 1);
}

TEST_F(CompressOnlineTest, NoMoreTokensThanThereAre) {
  parseOnline(4, 1, 1);
  // Of the window, and of the values.
  bindSegments(1, {1, 2, 3, 4, 5, 6}, Floats(6, 0),
               {{2, 100, 0, -1, 0}, {0, INT_MAX, 3, -1, 1}, {3, 5, 5, -1, -1}});
  Floats state(6, 50);
  bind<float>({2, 12}, state);
  run();
  EXPECT_EQ(read<float>(3), (Floats{1.5f, 0, 6}));
  EXPECT_EQ(read<float>(4), (Floats{50, 50, 50, 0, 3, 15}));
}

TEST_F(CompressOnlineTest, BF16) {
  parseOnline(2, 1, 1, {"", "", "bf16", "bf16"});
  bind<uint16_t>({2, 1}, {0x4040, 0x3F81}); // 3, 1 + 2^-7.
  bind<uint16_t>({2, 1}, {0, 0});
  bind<int32_t>({2, 5}, {0, 2, 0, -1, -1, 0, 1, 1, -1, 0});
  bytes({2, 1}, 4, 0xAB);
  bytes({1, 12}, 12, 0xAB);
  run();
  EXPECT_EQ(read<uint16_t>(3), (std::vector<uint16_t>{0x4000, 0}));
  EXPECT_EQ(read<float>(4), (Floats{0, 1, 1.0078125f}));
}

// All cuts of a window give the same bits.
TEST_F(CompressOnlineTest, HoweverCut) {
  const int window = 11, channels = 3;
  std::mt19937_64 random(3);
  std::normal_distribution<float> normal;
  Floats values, scores;
  for (int i = 0; i < window * channels; ++i) {
    values.push_back(normal(random));
    scores.push_back(4 * normal(random));
  }
  scores[channels] = -kInfinity;
  scores[3 * channels + 1] = kNaN;
  std::vector<uint32_t> whole;
  for (unsigned cuts = 0; cuts < 1u << (window - 1); cuts += 7) {
    parseOnline(window, channels, 1);
    Floats state(3 * channels, kOther);
    std::vector<uint32_t> entry;
    for (int from = 0, to; from < window; from = to) {
      for (to = from + 1; to < window && !(cuts >> (to - 1) & 1); ++to)
        ;
      bindSegments(channels, values, scores,
                   {{window + from, to - from, from, 0, 0}});
      bind<float>({1, 12 * channels}, state);
      run();
      state = read<float>(4);
      entry = read<uint32_t>(3);
    }
    if (cuts == 0)
      whole = entry;
    ASSERT_EQ(entry, whole) << cuts;
  }
  EXPECT_EQ(whole[1], 0x7FFFFFFFu);
}

//===----------------------------------------------------------------------===//
// Random segments
//===----------------------------------------------------------------------===//

// They keep the promises of a caller, and are of every kind.
TEST_F(CompressOnlineTest, RandomSegments) {
  std::map<std::string, int> seen;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    parseOnline(4, 1, 2);
    auto set = makeRandomInputs(func,
                                {{"arg0.0", 30},
                                 {"arg1.0", 30},
                                 {"arg2.0", 40},
                                 {"arg3.0", 40},
                                 {"arg4.pages", 20}},
                                seed, Codes::All);
    ASSERT_TRUE(set) << set.status().message();
    inputs = set.take();
    std::vector<int32_t> plan = read<int32_t>(2);
    std::multiset<int32_t> readEntries, written;
    for (size_t i = 0; i < plan.size(); i += 5) {
      int64_t position = plan[i], count = plan[i + 1], token = plan[i + 2],
              from = plan[i + 3], to = plan[i + 4];
      if (position < 0 || position > CompressOp::kMaxPosition || token < 0 ||
          count <= 0 || token >= 30) {
        ++seen["no segment"];
        continue;
      }
      count = std::min({count, 4 - position % 4, 30 - token});
      bool ends = position % 4 + count == 4, begins = position % 4 == 0;
      bool reads = !begins && from >= 0 && from < 40;
      bool writes = !ends && to >= 0 && to < 40;
      ++seen[begins ? ends ? "whole" : "begins" : ends ? "ends" : "between"];
      if (reads)
        readEntries.insert(from);
      if (writes)
        written.insert(to);
      if (reads && writes)
        ++seen[from == to ? "in place" : "elsewhere"];
      if (!begins && !reads)
        ++seen[from < 0 ? "from nothing" : "from beyond the pool"];
      if (!ends && !writes)
        ++seen[to < 0 ? "not kept" : "to beyond the pool"];
      // Nobody else's entry.
      for (size_t j = 0; writes && j < plan.size(); j += 5)
        EXPECT_FALSE(i != j && plan[j + 3] == to && plan[j] % 4 > 0 &&
                     plan[j] <= CompressOp::kMaxPosition)
            << seed;
    }
    for (int32_t entry : written)
      EXPECT_EQ(written.count(entry), 1u) << seed;
  }
  for (const char *kind :
       {"no segment", "whole", "begins", "ends", "between", "in place",
        "elsewhere", "from nothing", "from beyond the pool", "not kept",
        "to beyond the pool"})
    EXPECT_GT(seen[kind], 5) << kind;
}

} // namespace
