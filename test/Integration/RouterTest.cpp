//===- RouterTest.cpp - Routers, against the oracle -----------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// gate, topk, route_weights and lookup, alone and as one kernel, bit for bit
// against the oracle, and rows made by hand that routers have got wrong.
//
//===----------------------------------------------------------------------===//

#include "CompiledProgram.h"
#include "Routers.h"

#include "llvm/ADT/bit.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

using namespace dsv4;
using namespace dsv4::test;
using reference::Codes;
using reference::InputSet;

namespace {

std::vector<Shape> getShapes(int64_t experts, int64_t most = 200) {
  std::vector<Shape> shapes;
  for (int64_t tokens : {int64_t(0), int64_t(1), int64_t(5),
                         std::min<int64_t>(1 + 60000 / experts, most)})
    for (Codes codes : {Codes::All, Codes::Finite})
      shapes.push_back({{{"tokens", tokens}}, codes});
  return shapes;
}

/// Checks one program and that it has as many kernels as it should.
std::string checkRouter(Sessions &sessions, const Router &router, uint64_t seed,
                        const std::string &schedule = "") {
  CompiledProgram program(sessions, router.getText(), schedule);
  std::string wrong = program.compile();
  if (wrong.empty() && program.getKernelCount() != 1)
    wrong = "has " + std::to_string(program.getKernelCount()) + " kernels";
  std::vector<Shape> shapes = getShapes(router.experts);
  if (router.hash)
    for (Shape &shape : shapes)
      shape.dims["words"] = 50;
  if (wrong.empty())
    wrong = checkShapes(program, shapes, seed);
  return wrong.empty() ? "" : router.getName() + ": " + wrong;
}

TEST(RouterTest, OneKernel) {
  Sessions sessions;
  Jobs jobs;
  std::mt19937_64 random(getSeed());
  std::vector<Router> all = thin(getKnownRouters());
  for (unsigned i = 0; i < 24 * getScale(); ++i)
    all.push_back(Router::draw(random));
  for (const Router &router : all)
    jobs.push_back([&, seed = getSeed() * 1000 + jobs.size()] {
      return checkRouter(sessions, router, seed);
    });
  runAndCount(jobs);
}

TEST(RouterTest, Schedules) {
  // The result does not depend on how many rows a block has, nor on the
  // vectors.
  Sessions sessions;
  Jobs jobs;
  Router router;
  router.experts = 160;
  router.bias = router.renormalize = true;
  for (int threads : {32, 96, 256, 1024})
    for (int vector : {1, 2, 4})
      jobs.push_back([&, threads, vector] {
        return checkRouter(
            sessions, router, getSeed(),
            "#dsv4.schedule<threads = " + std::to_string(threads) +
                ", parts = [#dsv4.select<algorithm = warp, vector = " +
                std::to_string(vector) + ">]>");
      });
  runAndCount(jobs);
}

TEST(RouterTest, UnequalShares) {
  // Whatever the lanes, of which some have a vector less, or none.
  Sessions sessions;
  Jobs jobs;
  for (int lanes : {1, 2, 8, 32})
    for (int vector : {1, 2, 4}) {
      std::string schedule =
          "#dsv4.schedule<threads = 64, parts = [#dsv4.rows<lanes = " +
          std::to_string(lanes) + ", vector = " + std::to_string(vector) +
          ">]>";
      for (int64_t width : {4, 20, 36, 148, 1020}) {
        // So many elements of a lane take long to compile.
        if (width > 64 * lanes)
          continue;
        for (const char *function : {"sigmoid", "softmax"})
          jobs.push_back([&, schedule, width, function] {
            return checkText(sessions, "gate",
                             getGateText(width, function, "bf16"),
                             getShapes(width), getSeed(), schedule);
          });
        if (width > 32)
          continue;
        for (const char *function : {"sigmoid", "softmax"})
          jobs.push_back([&, schedule, width, function] {
            Router router;
            router.hash = router.renormalize = true;
            router.function = function;
            router.experts = 52;
            router.k = width;
            return checkRouter(sessions, router, getSeed(), schedule);
          });
      }
    }
  runAndCount(jobs);
}

TEST(RouterTest, Alone) {
  Sessions sessions;
  Jobs jobs;
  for (int64_t experts : {1, 7, 31, 144, 256, 257, 384, 1021})
    for (const char *function : {"sqrt_softplus", "sigmoid", "softmax"})
      for (const char *element : {"f32", "bf16"})
        jobs.push_back([&, experts, function, element] {
          return checkText(sessions, "gate",
                           getGateText(experts, function, element),
                           getShapes(experts), getSeed());
        });
  for (int64_t places : {1, 3, 6, 8, 31, 100})
    for (const char *how :
         {"", "renormalize", "renormalize scale 2.5", "scale 0.5", "uniform",
          "nan zero", "renormalize scale 2.5 nan zero"})
      jobs.push_back([&, places, how] {
        return checkText(sessions, "route_weights",
                         getRouteWeightsText(144, places, how), getShapes(144),
                         getSeed());
      });
  for (int64_t places : {1, 6, 7, 32})
    jobs.push_back([&, places] {
      std::vector<Shape> shapes = getShapes(places);
      for (size_t i = 0; i < shapes.size(); ++i)
        shapes[i].dims["words"] = i % 3 * 40;
      return checkText(sessions, "lookup", getLookupText(places), shapes,
                       getSeed());
    });
  runAndCount(jobs);
}

//===----------------------------------------------------------------------===//
// Rows made by hand
//===----------------------------------------------------------------------===//

class RouterRows : public ::testing::Test {
protected:
  /// Routes one row of logits; the experts and weights of its places.
  void route(const Router &router, const std::vector<float> &logits,
             const std::vector<float> &bias) {
    CompiledProgram program(sessions, router.getText());
    ASSERT_EQ(program.compile(), "");
    auto made = program.makeInputs({{"tokens", 1}}, 1, Codes::Finite);
    ASSERT_TRUE(bool(made)) << made.status().message();
    InputSet set = made.take();
    put(set, program.find("logits"), 0, logits.data(), logits.size());
    if (router.bias)
      put(set, program.find("bias"), 0, bias.data(), bias.size());
    rt::Status status = program.launch(set);
    ASSERT_TRUE(bool(status)) << status.message();
    experts.resize(router.k);
    weights.resize(router.k);
    std::memcpy(experts.data(), set.bytes[program.find("experts")].data(),
                router.k * 4);
    std::memcpy(weights.data(), set.bytes[program.find("weights")].data(),
                router.k * 4);
  }

  /// Scores that are the bias, as those of the logits vanish.
  void routeByBias(const std::vector<float> &bias, int64_t places) {
    Router router;
    router.experts = bias.size();
    router.k = places;
    router.bias = true;
    route(router, std::vector<float>(bias.size(), -1000.0f), bias);
  }

  static double score(double x) { return std::sqrt(std::log1p(std::exp(x))); }

  Sessions sessions;
  std::vector<int32_t> experts;
  std::vector<float> weights;
};

TEST_F(RouterRows, LogitsThatAnUnstableSoftplusLoses) {
  Router router;
  router.experts = 144;
  router.renormalize = true;
  router.scale = 2.5f;
  std::vector<float> logits(144);
  for (int i = 0; i < 144; ++i)
    logits[i] = -17.0f - float(i * 37 % 144) * 0.5f;
  route(router, logits, {});
  double sum = 0;
  for (int32_t expert : experts)
    sum += score(logits[expert]);
  for (int place = 0; place < 6; ++place) {
    EXPECT_EQ(logits[experts[place]], -17.0f - 0.5f * float(place));
    EXPECT_NEAR(weights[place], 2.5 * score(logits[experts[place]]) / sum,
                1e-5);
  }
}

TEST_F(RouterRows, BiasChoosesAndDoesNotWeigh) {
  Router router;
  router.experts = 256;
  router.bias = router.renormalize = true;
  router.scale = 1.5f;
  std::vector<float> logits(256, 1.0f), bias(256, 0.0f);
  for (int i = 0; i < 6; ++i) {
    logits[40 * i + 3] = -100;
    bias[40 * i + 3] = 1e4f - float(i);
  }
  logits[3] = 2;
  route(router, logits, bias);
  for (int place = 0; place < 6; ++place)
    EXPECT_EQ(experts[place], 40 * place + 3);
  // The others have scores of about 2e-22.
  EXPECT_NEAR(weights[0], 1.5, 1e-5);
  for (int place = 1; place < 6; ++place) {
    EXPECT_GT(weights[place], 0.0f);
    EXPECT_LT(weights[place], 1e-20f);
  }
}

TEST_F(RouterRows, TiesGoToTheLowestIndex) {
  Router router;
  router.experts = 384;
  router.renormalize = true;
  std::vector<float> logits(384, 0.25f);
  route(router, logits, {});
  EXPECT_EQ(experts, (std::vector<int32_t>{0, 1, 2, 3, 4, 5}));
  for (float weight : weights)
    EXPECT_NEAR(weight, 1.0 / 6, 1e-6);
  // Many of one lane, some of others.
  for (int i : {200, 201, 202, 203, 329, 128, 7})
    logits[i] = 3;
  route(router, logits, {});
  EXPECT_EQ(experts, (std::vector<int32_t>{7, 128, 200, 201, 202, 203}));
}

TEST_F(RouterRows, LastBitsCount) {
  for (int64_t places : {6, 16}) {
    std::vector<float> bias(256);
    for (int i = 0; i < 256; ++i)
      bias[i] = 1.0f + std::ldexp(float(i * 37 % 256), -23);
    routeByBias(bias, places);
    for (int place = 0; place < places; ++place)
      EXPECT_EQ(experts[place] * 37 % 256, 255 - place);
  }
}

// Lanes have vectors of four, 128 columns apart.
TEST_F(RouterRows, BestOfOneLane) {
  for (int64_t places : {6, 16, 32}) {
    std::vector<float> bias(384);
    for (int i = 0; i < 384; ++i)
      bias[i] = float(i * 149 % 384) / 1024;
    // Four, then what another lane has, then eight.
    std::vector<int32_t> best = {23, 20, 21, 22, 100};
    for (int32_t other : {276, 277, 151, 150, 149, 148, 278, 279})
      best.push_back(other);
    for (size_t i = 0; i < best.size(); ++i)
      bias[best[i]] = 100.0f - float(i);
    std::vector<int32_t> order(384);
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(),
              [&](int a, int b) { return bias[a] > bias[b]; });
    order.resize(places);
    routeByBias(bias, places);
    EXPECT_EQ(experts, order);
  }
}

TEST_F(RouterRows, QuotientsAreRoundedOnce) {
  const float infinity = std::numeric_limits<float>::infinity();
  const float least = std::ldexp(1.0f, -149);
  // The second one is added to the first, or lost.
  const float pairs[][2] = {
      {least, 1.5f},        {3 * least, 2.0f}, {5 * least, 2.0f},
      {7 * least, 3.0f},    {1.0f, 3.0f},      {1.17549435e-38f, 1e30f},
      {3e38f, 1e38f},       {3e38f, 3e38f},    {0.0f, 3.0f},
      {-0.0f, 5.0f},        {1.0f, infinity},  {infinity, 1.0f},
      {-1.0f, 1e-38f},      {3.0f, 4.0f},      {3.0f, 10.0f},
      {3.0f, 23.0f},        {53.0f, 3.0f},     {0.1f, 1.3f},
      {16777215.0f, 1e-3f}, {least, least}};
  CompiledProgram program(sessions, getRouteWeightsText(2, 2, "renormalize"));
  ASSERT_EQ(program.compile(), "");
  const int64_t count = std::size(pairs);
  auto made = program.makeInputs({{"tokens", count}}, 1, Codes::Finite);
  ASSERT_TRUE(bool(made)) << made.status().message();
  InputSet set = made.take();
  const std::vector<int32_t> both = {0, 1};
  for (int64_t row = 0; row < count; ++row) {
    put(set, program.find("scores"), row * 2, pairs[row], 2);
    put(set, program.find("indices"), row * 2, both.data(), 2);
  }
  rt::Status status = program.launch(set);
  ASSERT_TRUE(bool(status)) << status.message();
  std::vector<float> found(count * 2);
  std::memcpy(found.data(), set.bytes[program.find("out")].data(), count * 8);
  for (int64_t i = 0; i < count * 2; ++i) {
    const float *pair = pairs[i / 2];
    const float sum = std::max(pair[0] + pair[1], 1.17549435e-38f);
    const float expected = pair[i % 2] / sum;
    if (std::isnan(expected))
      EXPECT_TRUE(std::isnan(found[i])) << i;
    else
      EXPECT_EQ(llvm::bit_cast<uint32_t>(found[i]),
                llvm::bit_cast<uint32_t>(expected))
          << i << ": " << found[i] << " is not " << expected;
  }
}

TEST_F(RouterRows, NaNComesLast) {
  Router router;
  router.experts = 7;
  router.k = 6;
  const float none = std::nanf("");
  route(router, {none, 1, none, 2, -INFINITY, none, 3}, {});
  EXPECT_EQ(experts, (std::vector<int32_t>{6, 3, 1, 4, 0, 2}));
  EXPECT_EQ(weights[3], 0.0f);
  EXPECT_TRUE(std::isnan(weights[4]));
}

TEST_F(RouterRows, KAboveExperts) {
  Router router;
  router.experts = 3;
  router.k = 5;
  router.renormalize = true;
  route(router, {0, 0, 0}, {});
  EXPECT_EQ(experts, (std::vector<int32_t>{0, 1, 2, -1, -1}));
  for (int place = 0; place < 5; ++place)
    EXPECT_NEAR(weights[place], place < 3 ? 1.0 / 3 : 0, 1e-6);
}

} // namespace
