//===- RandomTest.cpp - Long lives of many sequences ----------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Random calls against a model that knows the tokens of every sequence, and a
// pool whose entries are hashes of tokens. Prompts are drawn from a small tree,
// so that prefixes are found, diverge and are evicted.
// DSV4_KV_OPERATIONS says how many calls each seed makes.
//
//===----------------------------------------------------------------------===//

#include "ShadowPool.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

using namespace dsv4;
using namespace dsv4::kv;

namespace {

/// A sequence as the model knows it.
struct Known {
  SequenceId id;
  int32_t slot = 0;
  TokenLine line; ///< Steps under way included.
  std::vector<int32_t> prompt;
  int64_t length = 0, maxTokens = 0;
  std::vector<int32_t> flights;
};

class Driver {
public:
  Driver(uint64_t seed, const ManagerOptions &options, int64_t blocks,
         bool hcaOnline)
      : random(seed), options(options) {
    const Schema schema = makeSmallSchema(hcaOnline);
    const Geometry geometry = Geometry::make(schema, options.geometry).take();
    manager =
        Manager::make(schema, geometry.getPoolBytes(blocks), options).take();
    pool = std::make_unique<ShadowPool>(*manager);
  }

  /// Makes one call, and says what is wrong afterwards.
  std::string act() {
    switch (draw(12)) {
    case 0:
    case 1:
      admit();
      break;
    case 2:
      if (draw(4) == 0)
        fork();
      break;
    case 3:
      end();
      break;
    case 4:
      if (draw(2))
        rollback();
      break;
    case 5:
      if (draw(40) == 0)
        manager->flush();
      break;
    case 6:
    case 7:
      commit();
      break;
    default:
      step();
    }
    if (!wrong.empty())
      return wrong;
    return manager->check();
  }

  const Manager &get() const { return *manager; }

private:
  int32_t draw(int32_t below) {
    return std::uniform_int_distribution<int32_t>(0, below - 1)(random);
  }
  void require(const Status &status) {
    if (!status && wrong.empty())
      wrong = status.message();
  }

  void admit() {
    Known known;
    // Whole blocks of one of two tokens, then anything.
    const int32_t blocks = draw(6);
    const int32_t tail = blocks && !draw(3) ? 0 : 1 + draw(24);
    for (int32_t block = 0; block < blocks; ++block) {
      const int32_t token = draw(2);
      for (int32_t at = 0; at < 16; ++at)
        known.prompt.push_back(token);
    }
    for (int32_t at = 0; at < tail; ++at)
      known.prompt.push_back(draw(10) ? 0 : draw(3));
    known.maxTokens = std::min<int64_t>(256, known.prompt.size() + draw(120));
    AdmitRequest request;
    request.tokens = known.prompt;
    request.maxTokens = known.maxTokens;
    std::vector<Key> keys;
    if (draw(2)) {
      keys = manager->makeKeys(known.prompt);
      request.keys = keys;
    }
    const Result<Admission> made = manager->admit(request);
    if (!made) {
      if (made.status().code() != rt::Code::Unavailable)
        require(made.status());
      return;
    }
    if (made->cachedTokens >= static_cast<int64_t>(known.prompt.size()))
      wrong = "no token is left to compute";
    known.id = made->id;
    known.slot = made->slot;
    known.length = made->cachedTokens;
    for (int64_t at = 0; at < known.length; ++at)
      known.line.push(known.prompt[at]);
    live.push_back(std::move(known));
  }

  void fork() {
    if (live.empty())
      return;
    const Known &parent = live[draw(live.size())];
    const Result<Admission> made = manager->fork(parent.id);
    if (!parent.flights.empty()) {
      if (made || std::string_view(made.status().id()) != "fork.planned")
        wrong = "a fork under way";
      return;
    }
    if (!made) {
      if (made.status().code() != rt::Code::Unavailable)
        require(made.status());
      return;
    }
    Known child = parent;
    child.id = made->id;
    child.slot = made->slot;
    live.push_back(std::move(child));
  }

  void end() {
    if (live.empty() || draw(3))
      return;
    const int32_t number = draw(live.size());
    const SequenceId id = live[number].id;
    require(draw(2) ? manager->release(id) : manager->preempt(id));
    if (manager->release(id))
      wrong = "released twice";
    live.erase(live.begin() + number);
  }

  void rollback() {
    if (live.empty())
      return;
    Known &known = live[draw(live.size())];
    bool hasChunk = false;
    for (int32_t tokens : known.flights)
      hasChunk |= tokens > options.geometry.maxDraftTokens;
    const Status status = manager->rollback(known.id);
    if (status.ok() == hasChunk)
      wrong = "rollback: " + status.message();
    if (!status)
      return;
    known.flights.clear();
    known.line.resize(known.length);
  }

  /// A step of some sequences.
  void step() {
    std::vector<StepRequest> requests;
    std::vector<Known *> parts;
    std::map<int32_t, const TokenLine *> lines;
    int32_t budget = 1 + draw(options.geometry.maxStepTokens);
    for (Known &known : live)
      if (draw(3) && budget > 0)
        if (const int32_t tokens = choose(known, budget)) {
          requests.push_back({known.id, tokens});
          parts.push_back(&known);
          budget -= tokens;
        }
    if (requests.empty())
      return;
    int32_t tokens = 0;
    for (const StepRequest &each : requests)
      tokens += each.tokens;
    const StepShape shape{
        std::min(tokens + draw(3), options.geometry.maxStepTokens),
        std::min<int32_t>(requests.size() + draw(2),
                          options.geometry.maxSequences)};
    const StepLayout &layout = **manager->getLayout(shape);
    const Status status = manager->plan(requests, layout, plan);
    if (!status) {
      if (std::string_view(status.id()) == "plan.window_pages")
        wrong = status.message();
      else if (std::string_view(status.id()) != "plan.blocks")
        require(status);
      else if (options.reserve)
        wrong = "a reserved step lacks blocks";
      else
        require(manager->release(live[plan.lacking[0]].id)),
            live.erase(live.begin() + plan.lacking[0]);
      return;
    }
    for (size_t number = 0; number < parts.size(); ++number) {
      Known &known = *parts[number];
      for (int32_t token = 0; token < requests[number].tokens; ++token) {
        const size_t at = known.line.size();
        known.line.push(at < known.prompt.size() ? known.prompt[at] : draw(3));
      }
      known.flights.push_back(requests[number].tokens);
      lines[known.slot] = &known.line;
    }
    if (std::string why = pool->run(plan, lines); !why.empty())
      wrong = "step " + std::to_string(plan.step) + ": " + why;
    // Every step but the newest ones has finished.
    retired = std::max<int64_t>(retired,
                                plan.step - draw(2 + options.geometry.overlap));
    require(manager->retire(retired));
  }

  /// How many tokens to give a sequence, or none.
  int32_t choose(const Known &known, int32_t budget) {
    if (static_cast<int32_t>(known.flights.size()) > options.geometry.overlap)
      return 0;
    const int64_t at = known.line.size();
    const int64_t rest = known.maxTokens - at;
    bool hasDrafts = false;
    for (int32_t tokens : known.flights)
      hasDrafts |= tokens <= options.geometry.maxDraftTokens;
    if (rest <= 0)
      return 0;
    const int64_t prompt = static_cast<int64_t>(known.prompt.size()) - at;
    int64_t tokens = 1 + draw(options.geometry.maxDraftTokens);
    if (prompt > 0 && !hasDrafts)
      tokens = draw(2) ? *manager->getChunk(known.id, budget)
                       : 1 + draw(std::min<int64_t>(prompt, budget));
    return static_cast<int32_t>(
        std::min({tokens, rest, static_cast<int64_t>(budget)}));
  }

  void commit() {
    std::vector<CommitRequest> requests;
    for (Known &known : live) {
      if (known.flights.empty() || !draw(4))
        continue;
      const int32_t tokens = known.flights[0];
      const bool isChunk = tokens > options.geometry.maxDraftTokens;
      int32_t accepted = isChunk || draw(2) ? tokens : draw(tokens + 1);
      // Tokens of a prompt are not refused.
      if (known.length < static_cast<int64_t>(known.prompt.size()))
        accepted = tokens;
      requests.push_back(
          {known.id, accepted, known.line.get(known.length, accepted)});
      known.length += accepted;
      if (accepted == tokens) {
        known.flights.erase(known.flights.begin());
      } else {
        known.flights.clear();
        known.line.resize(known.length);
      }
    }
    require(manager->commit(requests));
  }

  std::mt19937_64 random;
  const ManagerOptions options;
  std::unique_ptr<Manager> manager;
  std::unique_ptr<ShadowPool> pool;
  std::vector<Known> live;
  StepPlan plan;
  int64_t retired = 0;
  std::string wrong;
};

/// What is varied: drafts, overlap, reservation, and HCA's state.
class RandomLives : public testing::TestWithParam<int> {};

} // namespace

static int64_t countOperations() {
  const char *text = std::getenv("DSV4_KV_OPERATIONS");
  return text ? std::atoll(text) : 20000;
}

TEST_P(RandomLives, AreRight) {
  const int number = GetParam();
  ManagerOptions options = makeSmallOptions();
  options.geometry.overlap = number % 2;
  options.geometry.maxDraftTokens = 1 + number / 2 % 4;
  options.reserve = number / 8 % 2;
  const bool hcaOnline = number / 16 % 2 == 0;
  Driver driver(number, options, /*blocks=*/16 + 16 * (number % 3), hcaOnline);
  for (int64_t at = 0; at < countOperations(); ++at) {
    const std::string why = driver.act();
    ASSERT_EQ(why, "") << "seed " << number << ", call " << at;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomLives, testing::Range(0, 32));

/// The lives above are of use if they come by everything that can happen.
TEST(RandomLivesTest, SeeEverything) {
  ManagerCounters sum;
  for (int seed = 0; seed < 8; ++seed) {
    Driver driver(seed, makeSmallOptions(), /*blocks=*/24, /*hcaOnline=*/true);
    for (int64_t at = 0; at < 2000; ++at)
      ASSERT_EQ(driver.act(), "") << "seed " << seed << ", call " << at;
    const ManagerCounters &counters = driver.get().getCounters();
    sum.cachedTokens += counters.cachedTokens;
    sum.evictedBlocks += counters.evictedBlocks;
    sum.evictedCheckpoints += counters.evictedCheckpoints;
  }
  EXPECT_GT(sum.cachedTokens, 1000);
  EXPECT_GT(sum.evictedBlocks, 100);
  EXPECT_GT(sum.evictedCheckpoints, 100);
}
