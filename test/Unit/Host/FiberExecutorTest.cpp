//===- FiberExecutorTest.cpp - Barriers, collectives and orders -----------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HostTesting.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <thread>
#include <vector>

using namespace dsv4::rt;
using namespace dsv4::rt::test;

namespace {

/// Each thread t of one block stores body's `result` of type int in out[t].
std::string perThread(const std::string &body) {
  return "extern \"C\" __global__ void per_thread(int *out) {\n"
         "  const int t = threadIdx.x;\n"
         "  int result = 0;\n" +
         body +
         "  out[t] = result;\n"
         "}\n";
}

std::vector<int> runPerThread(HostKernel &kernel, uint32_t threads) {
  std::vector<int> out(threads, -1);
  Status status = launch(kernel, 1, threads, 0, out.data());
  EXPECT_TRUE(status.ok()) << status.message();
  return out;
}

/// What a launch of one block of `threads` threads fails with.
std::string failureOf(const std::string &body, uint32_t threads) {
  auto kernel = loadKernel(perThread(body), "per_thread");
  if (!kernel)
    return "";
  std::vector<int> out(threads, -1);
  Status status = launch(*kernel, 1, threads, 0, out.data());
  EXPECT_EQ(status.code(), Code::LaunchFailed);
  // Nothing of the failure is left over.
  Status again = launch(*kernel, 1, threads, 0, out.data());
  EXPECT_EQ(again.message(), status.message());
  const std::string who = "kernel 'per_thread': block 0, ";
  EXPECT_EQ(status.message().substr(0, who.size()), who);
  return status.message().substr(who.size());
}

// A tree over shared memory, one barrier a level, as many blocks as there are
// rows.
constexpr const char *blockSum =
    "extern \"C\" __global__ void block_sum(const int *in, int *out) {\n"
    "  __shared__ int partial[256];\n"
    "  const int t = threadIdx.x;\n"
    "  partial[t] = in[blockIdx.x * blockDim.x + t];\n"
    "  __syncthreads();\n"
    "  for (int half = blockDim.x / 2; half > 0; half /= 2) {\n"
    "    if (t < half)\n"
    "      partial[t] += partial[t + half];\n"
    "    __syncthreads();\n"
    "  }\n"
    "  if (t == 0)\n"
    "    out[blockIdx.x] = partial[0];\n"
    "}\n";

} // namespace

TEST(FiberExecutor, BlockReductionInEveryOrder) {
  auto kernel = loadKernel(blockSum, "block_sum");
  ASSERT_TRUE(kernel);
  std::vector<int> in(5 * 256);
  std::iota(in.begin(), in.end(), 1);
  for (const ThreadSchedule &schedule : schedules()) {
    kernel->setSchedule(schedule);
    for (uint32_t threads : {1, 2, 64, 128, 256}) {
      std::vector<int> out(5, -1);
      Status status = launch(*kernel, 5, threads, 0, in.data(), out.data());
      ASSERT_TRUE(status.ok()) << status.message();
      for (uint32_t block = 0; block < 5; ++block)
        EXPECT_EQ(out[block],
                  std::accumulate(in.begin() + block * threads,
                                  in.begin() + (block + 1) * threads, 0))
            << toString(schedule) << " " << threads;
    }
  }
}

// Right when the threads happen to run from the first to the last.
TEST(FiberExecutor, AMissingBarrierShowsInAnotherOrder) {
  const std::string write = "  __shared__ int row[128];\n"
                            "  row[t] = 3 * t;\n";
  const std::string read = "  result = t ? row[t - 1] : 0;\n";
  std::vector<int> expected(128);
  for (int t = 1; t < 128; ++t)
    expected[t] = 3 * (t - 1);

  auto correct = loadKernel(perThread(write + "  __syncthreads();\n" + read),
                            "per_thread");
  auto missing = loadKernel(perThread(write + read), "per_thread");
  ASSERT_TRUE(correct && missing);
  for (const ThreadSchedule &schedule : schedules()) {
    correct->setSchedule(schedule);
    missing->setSchedule(schedule);
    EXPECT_EQ(runPerThread(*correct, 128), expected) << toString(schedule);
    const bool hidden = schedule.order == ThreadOrder::Forward;
    EXPECT_EQ(runPerThread(*missing, 128) == expected, hidden)
        << toString(schedule);
  }
}

// Between warps, which a GPU does not run in step either.
TEST(FiberExecutor, AMissingBarrierBetweenWarpsShows) {
  auto kernel = loadKernel(
      perThread("  __shared__ int sums[4];\n"
                "  int sum = t;\n"
                "  for (int lanes = 16; lanes > 0; lanes /= 2)\n"
                "    sum += __shfl_xor_sync(0xFFFFFFFFu, sum, lanes);\n"
                "  if (t % 32 == 0)\n"
                "    sums[t / 32] = sum;\n"
                "  for (int warp = 0; warp < 4; ++warp)\n"
                "    result += sums[warp] & 0xFFFF;\n"),
      "per_thread");
  ASSERT_TRUE(kernel);
  const std::vector<int> expected(128, 127 * 128 / 2);
  std::set<std::vector<int>> seen;
  for (const ThreadSchedule &schedule : schedules()) {
    kernel->setSchedule(schedule);
    seen.insert(runPerThread(*kernel, 128));
  }
  EXPECT_GT(seen.size(), 2u);
  EXPECT_EQ(seen.count(expected), 0u);
}

TEST(FiberExecutor, SharedMemoryDoesNotOutliveABlock) {
  auto kernel = loadKernel("extern \"C\" __global__ void keep(int *out) {\n"
                           "  __shared__ int word;\n"
                           "  out[blockIdx.x] = word;\n"
                           "  word = 42;\n"
                           "}\n",
                           "keep");
  ASSERT_TRUE(kernel);
  std::vector<int> out(2);
  ASSERT_TRUE(launch(*kernel, 2, 1, 0, out.data()).ok());
  EXPECT_EQ(out, std::vector<int>(2, 0x7F7F7F7F));
}

// Where the variables of the device library are.
TEST(FiberExecutor, SharedMemoryOfTemplatesDoesNotOutliveABlock) {
  auto kernel = loadKernel("template <typename T> T *word() {\n"
                           "  __shared__ T word;\n"
                           "  return &word;\n"
                           "}\n"
                           "extern \"C\" __global__ void keep(int *out) {\n"
                           "  out[blockIdx.x] = *word<int>();\n"
                           "  *word<int>() = 42;\n"
                           "}\n",
                           "keep");
  ASSERT_TRUE(kernel);
  std::vector<int> out(2);
  ASSERT_TRUE(launch(*kernel, 2, 1, 0, out.data()).ok());
  EXPECT_EQ(out, std::vector<int>(2, 0x7F7F7F7F));
}

TEST(FiberExecutor, DynamicSharedMemory) {
  auto kernel = loadKernel(
      perThread("  int *row = (int *)dsv4_host::state.dynamicShared;\n"
                "  row[t] = t;\n"
                "  __syncthreads();\n"
                "  result = row[63 - t] + (int)((size_t)row % 128);\n"),
      "per_thread");
  ASSERT_TRUE(kernel);
  std::vector<int> out(64);
  ASSERT_TRUE(launch(*kernel, 1, 64, 64 * sizeof(int), out.data()).ok());
  for (int t = 0; t < 64; ++t)
    EXPECT_EQ(out[t], 63 - t);
}

TEST(FiberExecutor, OrderOfBlocksAndThreads) {
  auto kernel = loadKernel(
      "extern \"C\" __global__ void order(int *count, int *out) {\n"
      "  out[atomicAdd(count, 1)] = blockIdx.x * 100 + threadIdx.x;\n"
      "}\n",
      "order");
  ASSERT_TRUE(kernel);
  const auto run = [&](const ThreadSchedule &schedule) {
    kernel->setSchedule(schedule);
    int count = 0;
    std::vector<int> out(7 * 100);
    EXPECT_TRUE(launch(*kernel, 7, 100, 0, &count, out.data()).ok());
    EXPECT_EQ(count, 700);
    return out;
  };
  std::vector<int> forward(700);
  std::iota(forward.begin(), forward.end(), 0);
  EXPECT_EQ(run({ThreadOrder::Forward, 0}), forward);
  const std::vector<int> reverse(forward.rbegin(), forward.rend());
  EXPECT_EQ(run({ThreadOrder::Reverse, 0}), reverse);

  std::set<std::vector<int>> seen;
  for (uint64_t seed = 0; seed < 10; ++seed) {
    std::vector<int> random = run({ThreadOrder::Random, seed});
    EXPECT_EQ(run({ThreadOrder::Random, seed}), random);
    seen.insert(random);
    std::sort(random.begin(), random.end());
    EXPECT_EQ(random, forward);
  }
  EXPECT_EQ(seen.size(), 10u);
}

TEST(FiberExecutor, Shuffles) {
  struct Case {
    const char *call;
    int (*expected)(int lane);
  };
  const Case cases[] = {
      {"__shfl_xor_sync(0xFFFFFFFFu, t, 5)", [](int l) { return l ^ 5; }},
      {"__shfl_xor_sync(0xFFFFFFFFu, t, 9, 8)",
       [](int l) { return (l & 8) ? l ^ 9 : l; }},
      {"__shfl_sync(0xFFFFFFFFu, t, 35)", [](int) { return 3; }},
      {"__shfl_sync(0xFFFFFFFFu, t, 3, 8)",
       [](int l) { return l / 8 * 8 + 3; }},
      {"__shfl_up_sync(0xFFFFFFFFu, t, 1)",
       [](int l) { return l ? l - 1 : 0; }},
      {"__shfl_up_sync(0xFFFFFFFFu, t, 2, 4)",
       [](int l) { return l % 4 < 2 ? l : l - 2; }},
      {"__shfl_down_sync(0xFFFFFFFFu, t, 3)",
       [](int l) { return l + 3 < 32 ? l + 3 : l; }},
      {"__shfl_down_sync(0xFFFFFFFFu, t, 1, 2)",
       [](int l) { return l % 2 ? l : l + 1; }},
      {"(int)__shfl_xor_sync(0xFFFFFFFFu, 0.5f * t, 1) * 2",
       [](int l) { return (int)(0.5f * (l ^ 1)) * 2; }},
      {"(int)(__shfl_sync(0xFFFFFFFFu, (long long)t << 40, 7) >> 40)",
       [](int) { return 7; }},
  };
  for (const Case &test : cases) {
    auto kernel =
        loadKernel(perThread("  result = " + std::string(test.call) + ";\n"),
                   "per_thread");
    ASSERT_TRUE(kernel);
    for (const ThreadSchedule &schedule : schedules()) {
      kernel->setSchedule(schedule);
      const std::vector<int> out = runPerThread(*kernel, 32);
      for (int lane = 0; lane < 32; ++lane)
        EXPECT_EQ(out[lane], test.expected(lane)) << test.call << " " << lane;
    }
  }
}

TEST(FiberExecutor, VotesAndReductions) {
  auto kernel = loadKernel(
      perThread(
          "  const unsigned all = 0xFFFFFFFFu;\n"
          "  int bad = 0;\n"
          "  bad |= (__ballot_sync(all, t % 32 < 5) != 31) << 0;\n"
          "  bad |= (__any_sync(all, t % 32 == 9) == 0) << 1;\n"
          "  bad |= (__any_sync(all, 0) != 0) << 2;\n"
          "  bad |= (__all_sync(all, t >= 0) == 0) << 3;\n"
          "  bad |= (__all_sync(all, t % 32 != 31) != 0) << 4;\n"
          "  bad |= (__reduce_max_sync(all, t - 100) != t / 32 * 32 + 31 - "
          "100) << 5;\n"
          "  bad |= (__reduce_min_sync(all, (unsigned)t) != t / 32 * 32) << "
          "6;\n"
          "  bad |= (__reduce_add_sync(all, 2) != 64) << 7;\n"
          "  bad |= (__reduce_or_sync(all, 1u << t % 32) != all) << 8;\n"
          "  bad |= (__reduce_and_sync(all, ~(1u << t % 32)) != 0) << 9;\n"
          "  bad |= (__reduce_xor_sync(all, 3u) != 0) << 10;\n"
          "  bad |= (__match_any_sync(all, t % 4) != 0x11111111u << t % 4) << "
          "11;\n"
          "  bad |= (__syncthreads_count(t % 2) != blockDim.x / 2) << 12;\n"
          "  bad |= (__syncthreads_or(t == 7) == 0) << 13;\n"
          "  bad |= (__syncthreads_and(t != 7) != 0) << 14;\n"
          "  result = bad;\n"),
      "per_thread");
  ASSERT_TRUE(kernel);
  for (const ThreadSchedule &schedule : schedules()) {
    kernel->setSchedule(schedule);
    for (uint32_t threads : {32, 128, 1024})
      EXPECT_EQ(runPerThread(*kernel, threads), std::vector<int>(threads, 0))
          << toString(schedule);
  }
}

// Half warps at different collectives, and a lane that runs ahead of those that
// have not yet read what it brought.
TEST(FiberExecutor, PartialMasks) {
  auto kernel = loadKernel(
      perThread("  const unsigned half = t % 32 < 16 ? 0xFFFFu : 0xFFFF0000u;\n"
                "  if (t % 32 < 16)\n"
                "    result = __shfl_xor_sync(half, t, 1);\n"
                "  else\n"
                "    result = __popc(__ballot_sync(half, t % 2));\n"
                "  result += 100 * __shfl_sync(0xFFFFFFFFu, t, 0);\n"
                "  if (t % 32 == 0)\n"
                "    __shfl_sync(1u, 77, 0);\n"),
      "per_thread");
  ASSERT_TRUE(kernel);
  for (const ThreadSchedule &schedule : schedules()) {
    kernel->setSchedule(schedule);
    const std::vector<int> out = runPerThread(*kernel, 64);
    for (int t = 0; t < 64; ++t)
      EXPECT_EQ(out[t], (t % 32 < 16 ? t ^ 1 : 8) + 100 * (t / 32 * 32))
          << toString(schedule);
  }
}

TEST(FiberExecutor, LanesThatEndedAreNotWaitedFor) {
  auto kernel = loadKernel(
      perThread("  out[t] = -2;\n"
                "  if (t % 2)\n"
                "    return;\n"
                "  __syncwarp();\n"
                "  result = __popc(__ballot_sync(0xFFFFFFFFu, 1));\n"),
      "per_thread");
  ASSERT_TRUE(kernel);
  for (const ThreadSchedule &schedule : schedules()) {
    kernel->setSchedule(schedule);
    // The second warp has only 16 lanes to begin with.
    const std::vector<int> out = runPerThread(*kernel, 48);
    for (int t = 0; t < 48; ++t)
      EXPECT_EQ(out[t], t % 2 ? -2 : t < 32 ? 16 : 8) << toString(schedule);
  }
}

TEST(FiberExecutor, BarrierThatSomeThreadsNeverReach) {
  EXPECT_EQ(failureOf("  if (t < 64)\n    __syncthreads();\n", 128),
            "thread 0: waits at __syncthreads for 128 threads, of which 64 are "
            "there; thread 64 has ended");
  EXPECT_EQ(failureOf("  if (t == 5)\n    return;\n  __syncthreads();\n", 32),
            "thread 0: waits at __syncthreads for 32 threads, of which 31 are "
            "there; thread 5 has ended");
  EXPECT_EQ(failureOf("  if (t < 32)\n    __syncthreads();\n"
                      "  else if (t > 32)\n    __syncwarp();\n"
                      "  else\n    __ballot_sync(1u, 1), __syncthreads();\n",
                      64),
            "thread 0: waits at __syncthreads for 64 threads, of which 33 are "
            "there; thread 33 waits at __syncwarp with mask 0xFFFFFFFF");
  EXPECT_EQ(failureOf("  if (t < 3)\n    __syncthreads();\n"
                      "  else\n    __syncthreads_or(1);\n",
                      4),
            "thread 3: waits at __syncthreads_or for 4 threads; thread 0 waits "
            "at the same barrier in __syncthreads for 4");
}

TEST(FiberExecutor, CollectiveThatSomeLanesNeverReach) {
  EXPECT_EQ(failureOf("  if (t < 16)\n"
                      "    result = __shfl_xor_sync(0xFFFFFFFFu, t, 1);\n"
                      "  else\n"
                      "    __syncthreads();\n",
                      32),
            "thread 0: waits at __shfl_xor_sync with mask 0xFFFFFFFF for lane "
            "16; thread 16 waits at __syncthreads");
  EXPECT_EQ(failureOf("  if (t % 2)\n"
                      "    result = __shfl_xor_sync(0xFFFFFFFFu, t, 2);\n"
                      "  else\n"
                      "    result = __ballot_sync(0xFFFFFFFFu, 1);\n",
                      32),
            "thread 0: waits at __ballot_sync with mask 0xFFFFFFFF for lane 1; "
            "thread 1 waits at __shfl_xor_sync with mask 0xFFFFFFFF");
  EXPECT_EQ(failureOf("  __syncwarp(t ? 0xFFFFFFFFu : 0xFFFFu);\n", 32),
            "thread 0: waits at __syncwarp with mask 0x0000FFFF for lane 1; "
            "thread 1 waits at __syncwarp with mask 0xFFFFFFFF");
}

TEST(FiberExecutor, CollectiveOfTheWrongLanes) {
  EXPECT_EQ(failureOf("  result = __ballot_sync(0xFFFEu, 1);\n", 32),
            "thread 0: __ballot_sync with mask 0x0000FFFE, which lacks the "
            "caller's own lane 0");
  EXPECT_EQ(failureOf("  if (t == 9)\n    return;\n"
                      "  result = __shfl_sync(0xFFFFFFFFu, t, 9);\n",
                      32),
            "thread 0: __shfl_sync reads lane 9, which takes no part in it");
  EXPECT_EQ(failureOf("  result = __shfl_down_sync(0xFFFFFFFFu, t, 8);\n", 24),
            "thread 16: __shfl_down_sync reads lane 24, which takes no part in "
            "it");
}

TEST(FiberExecutor, Atomics) {
  auto kernel = loadKernel(
      "extern \"C\" __global__ void atomics(int *i, unsigned *u, float *f,\n"
      "                                    unsigned long long *l) {\n"
      "  const int t = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  atomicAdd(&i[0], 1);\n"
      "  atomicMax(&i[1], t);\n"
      "  atomicMin(&i[2], -t);\n"
      "  atomicOr(&u[0], 1u << t % 32);\n"
      "  atomicAnd(&u[1], ~(1u << t % 32));\n"
      "  atomicXor(&u[2], t);\n"
      "  atomicSub(&u[3], 1);\n"
      "  if (t == 3)\n"
      "    u[5] = atomicExch(&u[4], 9u);\n"
      "  atomicAdd(f, 0.5f);\n"
      "  while (true) {\n"
      "    const unsigned long long old = *l;\n"
      "    if (atomicCAS(l, old, old + t) == old)\n"
      "      break;\n"
      "  }\n"
      "}\n",
      "atomics");
  ASSERT_TRUE(kernel);
  int i[3] = {};
  unsigned u[6] = {0, ~0u, 0, 64, 5, 0};
  float f = 0;
  unsigned long long l = 0;
  ASSERT_TRUE(launch(*kernel, 2, 32, 0, (int *)i, (unsigned *)u, &f, &l).ok());
  EXPECT_EQ(i[0], 64);
  EXPECT_EQ(i[1], 63);
  EXPECT_EQ(i[2], -63);
  EXPECT_EQ(u[0], ~0u);
  EXPECT_EQ(u[1], 0u);
  EXPECT_EQ(u[2], 0u);
  EXPECT_EQ(u[3], 0u);
  EXPECT_EQ(u[4], 9u);
  EXPECT_EQ(u[5], 5u);
  EXPECT_EQ(f, 32.0f);
  EXPECT_EQ(l, 64ull * 63 / 2);
}

TEST(FiberExecutor, SanitizersSeeOverruns) {
  if (!HostCompileOptions::defaultSanitize())
    GTEST_SKIP() << "no sanitized build";
  auto global = loadKernel(perThread("  result = out[t + 1];\n"), "per_thread");
  auto shared = loadKernel(perThread("  __shared__ int row[32];\n"
                                     "  int *at = row + t;\n"
                                     "  at[1] = t;\n"),
                           "per_thread");
  auto dynamic = loadKernel(
      perThread("  ((char *)dsv4_host::state.dynamicShared)[t] = 1;"),
      "per_thread");
  ASSERT_TRUE(global && shared && dynamic);
  std::vector<int> out(32);
  EXPECT_DEATH((void)launch(*global, 1, 32, 0, out.data()),
               "heap-buffer-overflow(.|\n)*kernel.cu:4");
#ifndef __clang__
  EXPECT_DEATH((void)launch(*shared, 1, 32, 0, out.data()),
               "global-buffer-overflow(.|\n)*kernel.cu:6|"
               "kernel.cu:6:[0-9]+: runtime error: store to address");
#endif
  EXPECT_DEATH((void)launch(*dynamic, 1, 32, 31, out.data()),
               "heap-buffer-overflow");
}

// Two system threads on one module wait for each other; on two modules they do
// not disturb each other.
TEST(FiberExecutor, LaunchesFromSeveralSystemThreads) {
  auto first = loadKernel(blockSum, "block_sum");
  auto second = loadKernel(blockSum, "block_sum");
  ASSERT_TRUE(first && second);
  const std::vector<int> in(4 * 128, 3);
  const auto work = [&](HostKernel *kernel) {
    for (int i = 0; i < 20; ++i) {
      std::vector<int> out(4);
      Status status = launch(*kernel, 4, 128, 0, in.data(), out.data());
      EXPECT_TRUE(status.ok()) << status.message();
      EXPECT_EQ(out, std::vector<int>(4, 384));
    }
  };
  std::vector<std::thread> threads;
  for (HostKernel *kernel : {first.get(), first.get(), second.get()})
    threads.emplace_back(work, kernel);
  for (std::thread &thread : threads)
    thread.join();
}
