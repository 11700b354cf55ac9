//===- ManagerTest.cpp - The calls of a manager, one by one ---------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ShadowPool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

using namespace dsv4;
using namespace dsv4::kv;

//===----------------------------------------------------------------------===//
// Allocations
//===----------------------------------------------------------------------===//

static thread_local int64_t allocations = 0;

// Not inlined: compilers would warn that malloc() and delete do not belong
// together.
[[gnu::noinline]] void *operator new(size_t bytes) {
  ++allocations;
  if (void *memory = std::malloc(bytes ? bytes : 1))
    return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void *memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void *memory, size_t) noexcept {
  std::free(memory);
}

namespace {

class ManagerTest : public testing::Test {
protected:
  /// A manager of the small schema with so many blocks.
  void make(int32_t blocks = 40) {
    const Schema schema = makeSmallSchema();
    const int64_t bytes =
        Geometry::make(schema, options.geometry)->getPoolBytes(blocks);
    Result<std::unique_ptr<Manager>> made =
        Manager::make(schema, bytes, options);
    ASSERT_TRUE(made) << made.status().message();
    manager = made.take();
  }

  Admission admit(int32_t tokens, int32_t token = 0) {
    const std::vector<int32_t> prompt(tokens, token);
    AdmitRequest request;
    request.tokens = prompt;
    const Result<Admission> made = manager->admit(request);
    EXPECT_TRUE(made) << made.status().message();
    return *made;
  }

  Status plan(std::initializer_list<StepRequest> requests) {
    const std::vector<StepRequest> all(requests);
    return manager->plan(all, **manager->getLayout({40, 6}), step);
  }

  /// Plans and commits the whole prompt of a sequence.
  void prefill(SequenceId id, int64_t prompt) {
    for (int64_t at = *manager->getLength(id); at < prompt;) {
      const int32_t tokens = *manager->getChunk(
          id, static_cast<int32_t>(std::min<int64_t>(40, prompt - at)));
      ASSERT_TRUE(plan({{id, tokens}}));
      commit(id, tokens);
      at += tokens;
    }
  }

  void commit(SequenceId id, int32_t accepted, int32_t token = 0) {
    const std::vector<int32_t> tokens(accepted, token);
    const CommitRequest request{id, accepted, tokens};
    const Status status = manager->commit({&request, 1});
    EXPECT_TRUE(status) << status.message();
  }

  std::string commitId(SequenceId id, int32_t accepted, size_t ids) {
    const std::vector<int32_t> tokens(ids);
    const CommitRequest request{id, accepted, tokens};
    return manager->commit({&request, 1}).id();
  }

  void TearDown() override {
    if (manager) {
      EXPECT_EQ(manager->check(), "");
    }
  }

  ManagerOptions options = makeSmallOptions();
  std::unique_ptr<Manager> manager;
  StepPlan step;
};

} // namespace

//===----------------------------------------------------------------------===//
// Hits
//===----------------------------------------------------------------------===//

TEST_F(ManagerTest, HitsEndAtCheckpoints) {
  make();
  const Admission first = admit(70);
  EXPECT_EQ(first.cachedTokens, 0);
  prefill(first.id, 70);
  // The end of the prompt's last full block has a checkpoint.
  const Admission second = admit(70);
  EXPECT_EQ(second.cachedTokens, 64);
  // One token is left to compute, and the block before has none.
  EXPECT_EQ(admit(64).cachedTokens, 0);
  ASSERT_TRUE(manager->release(first.id));
  ASSERT_TRUE(manager->retire(step.step));
  EXPECT_EQ(admit(100).cachedTokens, 64);
  EXPECT_EQ(admit(100, 1).cachedTokens, 0);
}

TEST_F(ManagerTest, SaltsKeepApart) {
  make();
  const std::vector<int32_t> prompt(40, 5);
  const std::byte salts[] = {std::byte{1}, std::byte{2}};
  AdmitRequest request;
  request.tokens = prompt;
  request.salt = {salts, 1};
  const Result<Admission> first = manager->admit(request);
  ASSERT_TRUE(first);
  prefill(first->id, 40);
  EXPECT_EQ(manager->admit(request)->cachedTokens, 32);
  request.salt = {salts + 1, 1};
  EXPECT_EQ(manager->admit(request)->cachedTokens, 0);
}

TEST_F(ManagerTest, FlushForgets) {
  make();
  const Admission first = admit(70);
  prefill(first.id, 70);
  manager->flush();
  EXPECT_EQ(admit(70).cachedTokens, 0);
  // It goes on.
  EXPECT_TRUE(plan({{first.id, 1}}));
}

TEST_F(ManagerTest, DivergenceGetsACheckpoint) {
  options.checkpoints.endOfPrompt = options.checkpoints.newest = false;
  options.checkpoints.every = 32;
  make();
  std::vector<int32_t> prompt(100, 0);
  const Admission first = admit(100);
  prefill(first.id, 100);
  // Another leaves it after 80 tokens: the checkpoint before is at 64.
  std::fill(prompt.begin() + 80, prompt.end(), 1);
  AdmitRequest request;
  request.tokens = prompt;
  const Result<Admission> second = manager->admit(request);
  EXPECT_EQ(second->cachedTokens, 64);
  EXPECT_EQ(*manager->getChunk(second->id, 36), 16);
  prefill(second->id, 100);
  std::fill(prompt.begin() + 80, prompt.end(), 2);
  EXPECT_EQ(manager->admit(request)->cachedTokens, 80);
}

TEST_F(ManagerTest, MultiTurnHitsTheNewestBlock) {
  make();
  const Admission first = admit(20);
  prefill(first.id, 20);
  for (int32_t token = 0; token < 60; ++token) {
    ASSERT_TRUE(plan({{first.id, 1}}));
    commit(first.id, 1);
  }
  ASSERT_TRUE(manager->release(first.id));
  ASSERT_TRUE(manager->retire(step.step));
  EXPECT_EQ(admit(90).cachedTokens, 80);
}

TEST_F(ManagerTest, StepsUnderWayLoseNoCheckpoint) {
  options.geometry.overlap = 1;
  make();
  // The second part overwrites the rings before the first one is committed.
  const Admission first = admit(96);
  ASSERT_TRUE(plan({{first.id, 40}}));
  ASSERT_TRUE(plan({{first.id, 40}}));
  commit(first.id, 40);
  ASSERT_TRUE(plan({{first.id, 16}}));
  commit(first.id, 40);
  commit(first.id, 16);
  EXPECT_EQ(admit(96).cachedTokens, 80);
}

TEST_F(ManagerTest, KeysInAWrongOrderFindNothing) {
  make();
  const Admission first = admit(70);
  prefill(first.id, 70);
  const std::vector<int32_t> prompt(70, 0);
  std::vector<Key> keys = manager->makeKeys(prompt);
  std::rotate(keys.begin(), keys.begin() + 1, keys.end());
  AdmitRequest request;
  request.tokens = prompt;
  request.keys = keys;
  EXPECT_EQ(manager->admit(request)->cachedTokens, 0);
}

TEST_F(ManagerTest, WhatAnotherHadIsFoundAfterItsEnd) {
  make();
  // Both compute the same tokens: the blocks of the first are found.
  const Admission first = admit(70), second = admit(70);
  prefill(first.id, 70);
  prefill(second.id, 70);
  ASSERT_TRUE(manager->release(first.id));
  ASSERT_TRUE(manager->retire(step.step));
  manager->flush();
  ASSERT_TRUE(manager->release(second.id));
  ASSERT_TRUE(manager->retire(step.step));
  EXPECT_EQ(manager->countCachedBlocks(), 4);
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

TEST_F(ManagerTest, RefusesOptions) {
  for (int64_t every : {int64_t{-1}, int64_t{1} << 40}) {
    options.checkpoints.every = every;
    const Result<std::unique_ptr<Manager>> made =
        Manager::make(makeSmallSchema(), 1 << 24, options);
    ASSERT_FALSE(made);
    EXPECT_STREQ(made.status().id(), "manager.every");
  }
}

TEST_F(ManagerTest, RefusesLayoutsOfOthers) {
  make();
  const std::unique_ptr<Manager> other = std::move(manager);
  const StepLayout *layout = *other->getLayout({40, 6});
  make();
  const StepRequest part{admit(20).id, 1};
  EXPECT_STREQ(manager->plan({&part, 1}, *layout, step).id(), "plan.layout");
}

TEST_F(ManagerTest, LateRetirementsAreSafe) {
  options.geometry.maxCheckpoints = 200;
  make(/*blocks=*/200);
  bool isRefused = false;
  for (int32_t turn = 0; turn < 100 && !isRefused; ++turn) {
    const std::vector<int32_t> prompt(200, turn);
    AdmitRequest request;
    request.tokens = prompt;
    const Result<Admission> made = manager->admit(request);
    if (!made) {
      EXPECT_STREQ(made.status().id(), "admit.slots");
      ASSERT_TRUE(manager->retire(step.step));
      continue;
    }
    // Pages that a sequence leaves stay until its steps are retired.
    for (int64_t at = 0; at < 200 && !isRefused; at += 40) {
      const Status status = plan({{made->id, 40}});
      isRefused = !status;
      if (isRefused)
        EXPECT_STREQ(status.id(), "plan.window_pages");
      else
        commit(made->id, 40);
      ASSERT_EQ(manager->check(), "");
    }
    ASSERT_TRUE(manager->release(made->id));
  }
}

TEST_F(ManagerTest, RefusesSequencesThatAreNone) {
  make();
  const Admission admitted = admit(20);
  ASSERT_TRUE(manager->release(admitted.id));
  EXPECT_STREQ(manager->release(admitted.id).id(), "sequence.ended");
  EXPECT_STREQ(plan({{admitted.id, 1}}).id(), "sequence.ended");
  EXPECT_STREQ(manager->fork(admitted.id).status().id(), "sequence.ended");
  EXPECT_STREQ(manager->release({0}).id(), "sequence.foreign");
  EXPECT_STREQ(manager->release({~uint64_t{0}}).id(), "sequence.foreign");
  // The slot has a new sequence: the old name does not mean it.
  for (int32_t number = 0; number < 6; ++number)
    admit(20);
  EXPECT_STREQ(manager->release(admitted.id).id(), "sequence.ended");
  const std::unique_ptr<Manager> one = std::move(manager);
  make();
  EXPECT_STREQ(one->release(admit(20).id).id(), "sequence.foreign");
}

TEST_F(ManagerTest, RefusesAdmissions) {
  make();
  const std::vector<int32_t> prompt(300);
  const auto idOf = [&](size_t tokens, int64_t most, size_t keys = 0) {
    const std::vector<Key> given(keys);
    AdmitRequest request;
    request.tokens = std::span(prompt).first(tokens);
    request.maxTokens = most;
    request.keys = given;
    const Result<Admission> made = manager->admit(request);
    return made ? std::string("none") : made.status().id();
  };
  EXPECT_EQ(idOf(0, 10), "admit.tokens");
  EXPECT_EQ(idOf(20, 19), "admit.max_tokens");
  EXPECT_EQ(idOf(20, 257), "admit.max_tokens");
  EXPECT_EQ(idOf(300, 0), "admit.max_tokens");
  EXPECT_EQ(idOf(40, 50, 3), "admit.keys");
  for (int32_t number = 0; number < 6; ++number)
    EXPECT_EQ(idOf(40, 50), "none");
  EXPECT_EQ(idOf(40, 50), "admit.slots");
}

TEST_F(ManagerTest, RefusesSteps) {
  options.geometry.overlap = 1;
  make();
  const Admission first = admit(100);
  EXPECT_STREQ(plan({{first.id, 0}}).id(), "plan.tokens");
  EXPECT_STREQ(plan({{first.id, 41}}).id(), "plan.tokens");
  EXPECT_STREQ(plan({{first.id, 1}, {first.id, 1}}).id(), "plan.twice");
  EXPECT_EQ(commitId(first.id, 1, 1), "commit.step");
  ASSERT_TRUE(plan({{first.id, 40}}));
  EXPECT_EQ(commitId(first.id, 39, 39), "commit.chunk");
  EXPECT_EQ(commitId(first.id, 41, 41), "commit.accepted");
  EXPECT_EQ(commitId(first.id, -1, 0), "commit.accepted");
  EXPECT_STREQ(manager->rollback(first.id).id(), "rollback.chunk");
  EXPECT_STREQ(manager->fork(first.id).status().id(), "fork.planned");
  ASSERT_TRUE(plan({{first.id, 2}}));
  EXPECT_STREQ(plan({{first.id, 2}}).id(), "plan.overlap");
  EXPECT_EQ(commitId(first.id, 40, 7), "commit.tokens");
  commit(first.id, 40);
  EXPECT_STREQ(plan({{first.id, 40}}).id(), "plan.chunk");
  commit(first.id, 2);
  EXPECT_EQ(*manager->getLength(first.id), 42);
  EXPECT_STREQ(manager->retire(3).id(), "retire.step");
  EXPECT_STREQ(manager->retire(-1).id(), "retire.step");
}

TEST_F(ManagerTest, TokensBeyondThePromptAreNeeded) {
  make();
  const Admission first = admit(10);
  ASSERT_TRUE(plan({{first.id, 10}}));
  EXPECT_EQ(commitId(first.id, 10, 0), "");
  ASSERT_TRUE(plan({{first.id, 1}}));
  EXPECT_EQ(commitId(first.id, 1, 0), "commit.tokens");
  EXPECT_EQ(commitId(first.id, 1, 1), "");
}

TEST_F(ManagerTest, NothingHappensIfBlocksLack) {
  make(/*blocks=*/16);
  const Admission first = admit(200), second = admit(200, 1);
  prefill(first.id, 200);
  prefill(second.id, 40);
  const int32_t before = manager->countFreeBlocks();
  EXPECT_STREQ(plan({{first.id, 1}, {second.id, 30}}).id(), "plan.blocks");
  EXPECT_EQ(step.lacking, std::vector<int32_t>{1});
  EXPECT_EQ(manager->countFreeBlocks(), before);
  EXPECT_EQ(*manager->getLength(second.id), 40);
  ASSERT_TRUE(manager->preempt(first.id));
  ASSERT_TRUE(manager->retire(step.step));
  EXPECT_TRUE(plan({{second.id, 30}}));
}

TEST_F(ManagerTest, ReservedStepsDoNotFail) {
  options.reserve = true;
  make(/*blocks=*/16);
  admit(200, 1);
  const std::vector<int32_t> prompt(20, 2);
  AdmitRequest request;
  request.tokens = prompt;
  const Result<Admission> more = manager->admit(request);
  ASSERT_FALSE(more);
  EXPECT_STREQ(more.status().id(), "admit.blocks");
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

TEST_F(ManagerTest, WhatStepsReadIsNotGivenAway) {
  make();
  const Admission first = admit(30);
  prefill(first.id, 30);
  const int32_t block = manager->getPageTable()[first.slot * 16];
  ASSERT_TRUE(plan({{first.id, 1}}));
  ASSERT_TRUE(manager->release(first.id));
  // The step may still run: its slot and its blocks are nobody else's.
  for (int32_t number = 0; number < 5; ++number)
    EXPECT_NE(admit(30, 9).slot, first.slot);
  EXPECT_EQ(manager->getPageTable()[first.slot * 16], block);
  ASSERT_TRUE(manager->retire(step.step));
  EXPECT_EQ(manager->getPageTable()[first.slot * 16], -1);
  EXPECT_EQ(admit(30, 9).slot, first.slot);
}

TEST_F(ManagerTest, LayoutsOfAShapeStay) {
  make();
  const StepLayout *layout = *manager->getLayout({8, 4});
  EXPECT_EQ(*manager->getLayout({8, 4}), layout);
  EXPECT_NE(*manager->getLayout({9, 4}), layout);
  EXPECT_STREQ(manager->getLayout({0, 4}).status().id(), "layout.tokens");
  EXPECT_STREQ(manager->getLayout({41, 4}).status().id(), "layout.tokens");
  EXPECT_STREQ(manager->getLayout({8, 7}).status().id(), "layout.requests");
}

TEST_F(ManagerTest, RanksAgree) {
  make();
  const std::unique_ptr<Manager> first = std::move(manager);
  make();
  const std::vector<int32_t> prompt(50, 3);
  AdmitRequest request;
  request.tokens = prompt;
  StepPlan steps[2];
  for (int32_t turn = 0; turn < 3; ++turn) {
    Manager *ranks[] = {first.get(), manager.get()};
    for (int32_t rank = 0; rank < 2; ++rank) {
      const Result<Admission> made = ranks[rank]->admit(request);
      ASSERT_TRUE(made);
      const StepRequest part{made->id, 2};
      ASSERT_TRUE(ranks[rank]->plan(
          {&part, 1}, **ranks[rank]->getLayout({4, 1}), steps[rank]));
    }
    ASSERT_EQ(steps[0].uploadBytes, steps[1].uploadBytes);
    EXPECT_EQ(std::memcmp(steps[0].host, steps[1].host, steps[0].uploadBytes),
              0);
  }
  EXPECT_TRUE(std::equal(manager->getPageTable().begin(),
                         manager->getPageTable().end(),
                         first->getPageTable().begin()));
}

TEST_F(ManagerTest, StepsTakeNoMemory) {
  options.geometry.overlap = 1;
  make();
  std::vector<StepRequest> requests;
  std::vector<CommitRequest> commits;
  const int32_t tokens[3] = {};
  for (int32_t number = 0; number < 6; ++number) {
    requests.push_back({admit(20, number).id, 3});
    commits.push_back({requests.back().id, 3, tokens});
  }
  const StepLayout &layout = **manager->getLayout({40, 6});
  ASSERT_TRUE(manager->plan(requests, layout, step));
  ASSERT_TRUE(manager->commit(commits));
  const int64_t before = allocations;
  for (int32_t turn = 0; turn < 20; ++turn) {
    const bool isRight = manager->plan(requests, layout, step).ok() &&
                         manager->commit(commits).ok() &&
                         manager->retire(step.step).ok();
    ASSERT_TRUE(isRight);
  }
  EXPECT_EQ(allocations, before);
}
