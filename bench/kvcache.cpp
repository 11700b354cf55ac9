//===- kvcache.cpp - How long the calls of a cache manager take -----------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Prints one line per figure: the smallest of some rounds, on one thread. The
// caches are those of V4-Flash; nothing touches their memory. An argument
// chooses one of list, decode, eviction and hit.
//
//===----------------------------------------------------------------------===//

#include "dsv4-kvcache/FreeList.h"
#include "dsv4-kvcache/Manager.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <numeric>

using namespace dsv4::kv;

static Schema makeFlash() {
  std::string ratios = "0, 0";
  for (int layer = 2; layer < 43; ++layer)
    ratios += layer % 2 ? ", 128" : ", 4";
  return readConfig(R"({"num_hidden_layers": 43, "num_nextn_predict_layers": 1,
    "head_dim": 512, "max_position_embeddings": 1048576,
    "compress_ratios": [)" +
                    ratios + ", 0]}")
      .take();
}

static void require(const Status &status) {
  if (status)
    return;
  std::fprintf(stderr, "kvcache: %s\n", status.message().c_str());
  std::exit(1);
}

static std::unique_ptr<Manager> makeManager(int32_t blocks,
                                            int32_t maxCheckpoints = 256) {
  ManagerOptions options;
  options.geometry.maxTokens = 1 << 20;
  options.geometry.maxCheckpoints = maxCheckpoints;
  const Schema schema = makeFlash();
  const int64_t bytes =
      Geometry::make(schema, options.geometry)->getPoolBytes(blocks);
  auto made = Manager::make(schema, bytes, options);
  require(made.status());
  return made.take();
}

template <typename Body>
static double measure(Body body) {
  const auto begin = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double, std::nano>(
             std::chrono::steady_clock::now() - begin)
      .count();
}

static void print(const char *what, double value, const char *unit) {
  std::printf("%-60s %10.2f %s\n", what, value, unit);
}

/// A decode step of 256 sequences, each at another position.
static void benchDecode() {
  std::unique_ptr<Manager> manager = makeManager(16384);
  std::vector<StepRequest> requests;
  std::vector<CommitRequest> commits;
  const int32_t token = 1;
  StepPlan plan;
  for (int32_t number = 0; number < 256; ++number) {
    const std::vector<int32_t> prompt(1000 + 37 * number, number);
    AdmitRequest request;
    request.tokens = prompt;
    auto made = manager->admit(request);
    require(made.status());
    const StepLayout *chunk = *manager->getLayout({8192, 1});
    for (size_t at = 0; at < prompt.size();) {
      const int32_t tokens = *manager->getChunk(made->id, 8192);
      const StepRequest part{made->id, tokens};
      require(manager->plan({&part, 1}, *chunk, plan));
      const CommitRequest whole{made->id, tokens, {}};
      require(manager->commit({&whole, 1}));
      require(manager->retire(plan.step));
      at += tokens;
    }
    requests.push_back({made->id, 1});
    commits.push_back({made->id, 1, {&token, 1}});
  }
  const StepLayout *layout = *manager->getLayout({256, 256});
  double best = 1e9, sum = 0, bytes = 0, cells = 0;
  constexpr int kSteps = 4000;
  for (int number = 0; number < kSteps; ++number) {
    const double time = measure([&] {
      require(manager->plan(requests, *layout, plan));
      require(manager->commit(commits));
      require(manager->retire(plan.step));
    });
    best = std::min(best, time);
    sum += time;
    bytes += plan.uploadBytes;
    cells += plan.changedCells;
  }
  print("decode step of 256, plan + commit + retire: smallest", best / 1e3,
        "us");
  print("  mean of 4000 steps", sum / kSteps / 1e3, "us");
  print("  upload", bytes / kSteps, "bytes");
  print("  changed cells", cells / kSteps, "");
}

static void benchFreeList() {
  FreeList list(100001);
  for (int32_t number = 1; number <= 100000; ++number)
    list.giveBack(number);
  double best = 1e9;
  for (int round = 0; round < 10; ++round)
    best = std::min(best, measure([&] {
                            for (int number = 0; number < 1000000; ++number)
                              list.giveBack(list.take());
                          }) / 2e6);
  print("take or give a number", best, "ns");
}

/// Prompts of 64 blocks with 100,000 cached ones, none of them found: each
/// block is looked for, taken from another and indexed.
static void benchEviction() {
  std::unique_ptr<Manager> manager = makeManager(100000);
  std::vector<int32_t> prompt(64 * 256 + 1);
  StepPlan plan;
  const StepLayout *layout = *manager->getLayout({8192, 1});
  double admission = 0, steps = 0;
  constexpr int kWarm = 1600, kMeasured = 200;
  for (int number = 0; number < kWarm + kMeasured; ++number) {
    std::iota(prompt.begin(), prompt.end(), number * 100000);
    const std::vector<Key> keys = manager->makeKeys(prompt);
    AdmitRequest request;
    request.tokens = prompt;
    request.keys = keys;
    SequenceId id;
    const double first = measure([&] {
      auto made = manager->admit(request);
      require(made.status());
      id = made->id;
    });
    const double rest = measure([&] {
      for (size_t at = 0; at < prompt.size();) {
        const int32_t tokens = *manager->getChunk(id, 8192);
        const StepRequest part{id, tokens};
        require(manager->plan({&part, 1}, *layout, plan));
        const CommitRequest whole{id, tokens, {}};
        require(manager->commit({&whole, 1}));
        require(manager->retire(plan.step));
        at += tokens;
      }
      require(manager->release(id));
      require(manager->retire(plan.step));
    });
    if (number >= kWarm)
      admission += first, steps += rest;
  }
  print("miss of 64 blocks at 100,000 cached: admission, per block",
        admission / kMeasured / 64, "ns");
  print("  prefill in chunks of 8192 and release, per block",
        steps / kMeasured / 64, "ns");
}

static void benchLongHit() {
  std::unique_ptr<Manager> manager = makeManager(9000);
  std::vector<int32_t> prompt((1 << 20) - 100);
  std::iota(prompt.begin(), prompt.end(), 0);
  const std::vector<Key> keys = manager->makeKeys(prompt);
  double hashing = 1e18;
  for (int round = 0; round < 3; ++round)
    hashing =
        std::min(hashing, measure([&] { (void)manager->makeKeys(prompt); }));
  print("hashing", prompt.size() / hashing * 1e3, "M tokens/s");
  StepPlan plan;
  AdmitRequest request;
  request.tokens = prompt;
  request.keys = keys;
  const StepLayout *layout = *manager->getLayout({8192, 1});
  double best = 1e18;
  for (int round = 0; round < 6; ++round) {
    SequenceId id;
    const double time = measure([&] {
      auto made = manager->admit(request);
      require(made.status());
      id = made->id;
    });
    if (round) {
      best = std::min(best, time);
      if (*manager->getLength(id) != (1 << 20) - 256)
        std::exit((std::fprintf(stderr, "kvcache: no hit\n"), 1));
    }
    for (int64_t at = *manager->getLength(id);
         at < static_cast<int64_t>(prompt.size());) {
      const int32_t tokens = *manager->getChunk(id, 8192);
      const StepRequest part{id, tokens};
      require(manager->plan({&part, 1}, *layout, plan));
      const CommitRequest whole{id, tokens, {}};
      require(manager->commit({&whole, 1}));
      require(manager->retire(plan.step));
      at += tokens;
    }
    require(manager->release(id));
    require(manager->retire(plan.step));
  }
  print("hit of 1,048,320 tokens, keys known", best / 1e3, "us");
}

int main(int count, char **arguments) {
  struct {
    std::string_view name;
    void (*run)();
  } const all[] = {{"list", benchFreeList},
                   {"decode", benchDecode},
                   {"eviction", benchEviction},
                   {"hit", benchLongHit}};
  for (const auto &each : all)
    if (count < 2 || each.name == arguments[1])
      each.run();
  return 0;
}
