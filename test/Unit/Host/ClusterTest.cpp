//===- ClusterTest.cpp - Blocks that share their shared memory ------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HostTesting.h"
#include "host/Sanitizers.h"

#include <cstdint>
#include <fstream>
#include <functional>
#include <string>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#include <vector>

using namespace dsv4::rt;
using namespace dsv4::rt::test;

namespace {

constexpr unsigned cluster = 4;

/// A kernel of clusters of four blocks; `rank` is that of the block, `t` its
/// thread. `place(value)` is into `places[t]` of the first block.
std::string inClusters(const std::string &body) {
  return "extern \"C\" __global__ void __cluster_dims__(4, 1, 1) f(int *out) "
         "{\n"
         "  using namespace dsv4;\n"
         "  __shared__ unsigned word, words[64];\n"
         "  __shared__ unsigned long long places[64];\n"
         "  const int t = threadIdx.x, rank = cluster_rank<4>();\n"
         "  auto place = [&](unsigned value) {\n"
         "    unsigned next[2] = {(unsigned)t, 0};\n"
         "    place_cluster_8(places, next, 0, 1, 1, value, 0);\n"
         "  };\n" +
         body + "}\n";
}

std::string failureOf(const std::string &body, uint64_t grid = cluster,
                      uint32_t threads = 32) {
  auto kernel = loadKernel(inClusters(body), "f", cluster);
  if (!kernel)
    return "";
  std::vector<int> out(grid * threads, -1);
  Status status = launch(*kernel, grid, threads, 0, out.data());
  EXPECT_FALSE(status.ok());
  // Nothing of the failure is left over.
  EXPECT_EQ(launch(*kernel, grid, threads, 0, out.data()).message(),
            status.message());
  return status.message();
}

/// Runs `body` in every order of threads; `check` is told what is in `out`, an
/// element for every thread.
void runInEveryOrder(const std::string &body, uint64_t grid, uint32_t threads,
                     const std::function<void(const std::vector<int> &)> &check,
                     size_t sharedBytes = 0) {
  auto kernel = loadKernel(inClusters(body), "f", cluster);
  ASSERT_TRUE(kernel);
  for (const ThreadSchedule &schedule : schedules()) {
    kernel->setSchedule(schedule);
    std::vector<int> out(grid * threads, -1);
    Status status = launch(*kernel, grid, threads, sharedBytes, out.data());
    ASSERT_TRUE(status.ok()) << status.message();
    check(out);
  }
}

} // namespace

// Every block reads what all have, and all write into the first one.
TEST(Cluster, MemoryOfOtherBlocksInEveryOrder) {
  runInEveryOrder("  if (t == 0)\n"
                  "    word = blockIdx.x * 100;\n"
                  "  places[t] = 0;\n"
                  "  cluster_arrive<4>();\n"
                  "  cluster_wait<4>();\n"
                  "  int sum = 0;\n"
                  "  for (int i = 0; i < 4; ++i)\n"
                  "    sum += ld_cluster_4(&word, i);\n"
                  "  if (t / 16 == rank)\n"
                  "    place(sum + t);\n"
                  "  cluster_arrive<4>();\n"
                  "  cluster_wait<4>();\n"
                  "  out[blockIdx.x * 64 + t] = (int)places[t];\n",
                  12, 64, [](const std::vector<int> &out) {
                    for (int block = 0; block < 12; ++block)
                      for (int t = 0; t < 64; ++t) {
                        const int first = block / 4 * 4;
                        EXPECT_EQ(out[block * 64 + t],
                                  block == first ? (4 * first + 6) * 100 + t
                                                 : 0);
                      }
                  });
}

// A pointer to the first block's memory, made before that may be accessed, in
// dynamic shared memory, too; places are given out by each block for itself.
TEST(Cluster, PointersAndPlaces) {
  runInEveryOrder(
      "  unsigned *row = (unsigned *)dynamic_shared();\n"
      "  __shared__ unsigned next[2];\n"
      "  __shared__ unsigned long long list[4];\n"
      "  unsigned *first = in_first_block<4>(row + rank);\n"
      "  row[t] = 7;\n"
      "  next[0] = next[1] = rank;\n"
      "  cluster_arrive_relaxed<4>();\n"
      "  cluster_wait<4>();\n"
      "  if (t == 0)\n"
      "    *first = 10 + rank;\n"
      "  if (t == 1)\n"
      "    place_cluster_8(list, next, 1, 1, 2, rank, 50);\n"
      "  if (t == 2)\n"
      "    place_cluster_8(list, next, 2, 1, 2, rank, 51);\n"
      "  cluster_arrive<4>();\n"
      "  cluster_wait<4>();\n"
      "  out[blockIdx.x * 8 + t] = t < 4 ? row[t] :\n"
      "      rank == 0 ? (int)(list[t - 4] >> 32) : next[1] - rank;\n",
      4, 8,
      [](const std::vector<int> &out) {
        EXPECT_EQ(out, (std::vector<int>{10, 11, 12, 13, 50, 50, 50, 50, //
                                         7,  7,  7,  7,  1,  1,  1,  1,  //
                                         7,  7,  7,  7,  1,  1,  1,  1,  //
                                         7,  7,  7,  7,  1,  1,  1,  1}));
      },
      8 * sizeof(unsigned));
}

// Who has ended is not waited for, and variables are fresh in every cluster.
TEST(Cluster, BlocksThatEnd) {
  runInEveryOrder("  out[blockIdx.x * 32 + t] = word;\n"
                  "  word = 5;\n"
                  "  if (rank == 1 || t == 3)\n"
                  "    return;\n"
                  "  cluster_arrive<4>();\n"
                  "  if (rank == 2)\n"
                  "    return;\n"
                  "  cluster_wait<4>();\n"
                  "  cluster_arrive<4>();\n"
                  "  cluster_wait<4>();\n"
                  "  out[blockIdx.x * 32 + t] += 1;\n",
                  8, 32, [](const std::vector<int> &out) {
                    for (int block = 0; block < 8; ++block) {
                      // The first thread of a block finds what nobody has
                      // written.
                      int fresh = 0;
                      for (int t = 0; t < 32; ++t) {
                        const int rank = block % 4;
                        const int waited = (rank == 0 || rank == 3) && t != 3;
                        const int found = out[block * 32 + t] - waited;
                        fresh += found == 0x7F7F7F7F;
                        EXPECT_TRUE(found == 0x7F7F7F7F || found == 5) << found;
                      }
                      EXPECT_EQ(fresh, 1);
                    }
                  });
}

// Pointers are not seen when they are used, so what they do too early or too
// late is undone.
TEST(Cluster, PointersToBlocksThatDoNotRun) {
  auto kernel = loadKernel(
      inClusters("  unsigned *first = in_first_block<4>(&words[rank]);\n"
                 "  if (rank != 0 && t == 0)\n"
                 "    *first = 42;\n"
                 "  cluster_arrive<4>();\n"
                 "  cluster_wait<4>();\n"
                 "  if (t == 0)\n"
                 "    out[blockIdx.x] = rank == 0 ? words[3] : 0;\n"
                 "  if (rank == 0) {\n"
                 "    words[t] = 7;\n"
                 "    return;\n"
                 "  }\n"
                 "  cluster_arrive<4>();\n"
                 "  cluster_wait<4>();\n"
                 "  if (t == 0)\n"
                 "    out[blockIdx.x] = *first;\n"),
      "f", cluster);
  ASSERT_TRUE(kernel);
  kernel->setSchedule({ThreadOrder::Reverse, 0});
  std::vector<int> out(4, -1);
  Status status = launch(*kernel, 4, 32, 0, out.data());
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(out, std::vector<int>(4, 0x7F7F7F7F));
}

// What a thread writes to its own block's memory needs no fence for all of
// memory; what one that ends has written to another's is not asked of the next
// cluster.
TEST(Cluster, ArrivalsThatShowTheOwnMemory) {
  runInEveryOrder("  cluster_arrive_own<4>();\n"
                  "  cluster_wait<4>();\n"
                  "  words[t] = 10 * rank;\n"
                  "  if (rank == 0)\n"
                  "    place(1);\n"
                  "  cluster_arrive_own<4>();\n"
                  "  cluster_wait<4>();\n"
                  "  out[blockIdx.x * 32 + t] =\n"
                  "      ld_cluster_4(&words[t], 3 - rank);\n"
                  "  cluster_arrive_own<4>();\n"
                  "  cluster_wait<4>();\n"
                  "  if (rank != 0) {\n"
                  "    place(1);\n"
                  "    return;\n"
                  "  }\n"
                  "  cluster_arrive_own<4>();\n"
                  "  cluster_wait<4>();\n",
                  8, 32, [](const std::vector<int> &out) {
                    for (int i = 0; i < 8 * 32; ++i)
                      EXPECT_EQ(out[i], 10 * (3 - i / 32 % 4));
                  });
}

// Without the barrier a block finds what was there before.
TEST(Cluster, AMissingBarrierShows) {
  auto kernel = loadKernel(inClusters("  cluster_arrive<4>();\n"
                                      "  cluster_wait<4>();\n"
                                      "  word = rank;\n"
                                      "  out[blockIdx.x * 32 + t] =\n"
                                      "      ld_cluster_4(&word, 3 - rank);\n"
                                      "  cluster_arrive<4>();\n"
                                      "  cluster_wait<4>();\n"),
                           "f", cluster);
  ASSERT_TRUE(kernel);
  std::vector<int> out(4 * 32, -1);
  ASSERT_TRUE(launch(*kernel, 4, 32, 0, out.data()).ok());
  // The last block goes on first.
  EXPECT_EQ(out[3 * 32], 0x7F7F7F7F);
}

TEST(Cluster, WrongUse) {
  EXPECT_EQ(failureOf("  cluster_wait<4>();\n"),
            "kernel 'f': block 0, thread 0: waits for a barrier of its cluster "
            "at which it has not arrived");
  EXPECT_EQ(failureOf("  cluster_arrive<4>();\n  cluster_arrive<4>();\n"),
            "kernel 'f': block 0, thread 0: arrives at a barrier of its "
            "cluster, and has not waited for the one before");
  for (std::string how : {"own", "relaxed"})
    EXPECT_EQ(failureOf("  cluster_arrive<4>();\n"
                        "  cluster_wait<4>();\n"
                        "  if (rank == 1 && t == 0)\n"
                        "    place(1);\n"
                        "  cluster_arrive_" +
                        how + "<4>();\n  cluster_wait<4>();\n"),
              "kernel 'f': block 1, thread 0: arrives at a barrier of its "
              "cluster that does not show what it wrote to another block's "
              "memory");
  EXPECT_EQ(failureOf("  ld_cluster_4(&word, 1);\n"),
            "kernel 'f': block 0, thread 0: accesses shared memory of block 1 "
            "of its cluster, which may not have started: wait for a barrier of "
            "the cluster first");
  EXPECT_EQ(failureOf("  ld_cluster_4(&word, 4);\n"),
            "kernel 'f': block 0, thread 0: accesses shared memory of block 4 "
            "of its cluster, which does not exist");
  EXPECT_EQ(failureOf("  unsigned own = 0;\n  ld_cluster_4(&own, 0);\n"),
            "kernel 'f': block 0, thread 0: accesses shared memory of block 0 "
            "of its cluster at an address that is not of shared memory");
  EXPECT_EQ(failureOf("  cluster_arrive<4>();\n"
                      "  cluster_wait<4>();\n"
                      "  if (rank == 1)\n"
                      "    ld_cluster_4(&word, 0);\n"),
            "kernel 'f': block 1, thread 0: accesses shared memory of block 0 "
            "of its cluster, which has ended");
}

TEST(Cluster, KernelLoadedWithoutClusters) {
  auto kernel = loadKernel(inClusters("  cluster_arrive<4>();\n"), "f");
  ASSERT_TRUE(kernel);
  EXPECT_EQ(launch(*kernel, 4, 1, 0, nullptr).message(),
            "kernel 'f': block 0, thread 0: arrives at a barrier of its "
            "cluster, but was loaded as a kernel without clusters");
}

TEST(Cluster, BarrierThatSomeNeverReach) {
  EXPECT_EQ(failureOf("  if (rank == 2 && t < 3)\n"
                      "    for (;;)\n"
                      "      __syncthreads();\n"
                      "  cluster_arrive<4>();\n"
                      "  cluster_wait<4>();\n"),
            "kernel 'f': block 2, thread 0: waits at __syncthreads for 32 "
            "threads, of which 3 are there; thread 3 waits at a barrier of its "
            "cluster");
  EXPECT_EQ(failureOf("  cluster_arrive<4>();\n"
                      "  cluster_wait<4>();\n",
                      6),
            "kernel 'f': 6 blocks: expected a multiple of the 4 of a cluster");
}

namespace {

std::unique_ptr<HostKernel> loadLargestCluster() {
  return loadKernel(
      "extern \"C\" __global__ void __cluster_dims__(16, 1, 1) f(int *out) {\n"
      "  using namespace dsv4;\n"
      "  __shared__ unsigned word;\n"
      "  if (threadIdx.x == 0)\n"
      "    word = blockIdx.x;\n"
      "  cluster_arrive<16>();\n"
      "  cluster_wait<16>();\n"
      "  out[blockIdx.x * 1024 + threadIdx.x] =\n"
      "      ld_cluster_4(&word, threadIdx.x % 16);\n"
      "  cluster_arrive<16>();\n"
      "  cluster_wait<16>();\n"
      "}\n",
      "f", 16);
}

void runLargestCluster(HostKernel &kernel) {
  std::vector<int> out(32 * 1024, -1);
  Status status = launch(kernel, 32, 1024, 0, out.data());
  ASSERT_TRUE(status.ok()) << status.message();
  for (int i = 0; i < 32 * 1024; ++i)
    EXPECT_EQ(out[i], i / (16 * 1024) * 16 + i % 16);
}

} // namespace

// As many threads as a cluster can have: more stacks than stay for later.
TEST(Cluster, LargestCluster) {
  auto kernel = loadLargestCluster();
  ASSERT_TRUE(kernel);
  runLargestCluster(*kernel);
  runLargestCluster(*kernel);
}

TEST(Cluster, MoreStacksThanThereAreAddresses) {
  if (addressSanitizerIsOn)
    GTEST_SKIP() << "a sanitized process has no limit of addresses";
  auto kernel = loadLargestCluster();
  ASSERT_TRUE(kernel);
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
  uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  rlimit tight = before;
  tight.rlim_cur = pages * sysconf(_SC_PAGESIZE) + (uint64_t(1) << 30);
  ASSERT_EQ(setrlimit(RLIMIT_AS, &tight), 0);
  std::vector<int> out(16 * 1024, -1);
  Status status = launch(*kernel, 16, 1024, 0, out.data());
  EXPECT_EQ(setrlimit(RLIMIT_AS, &before), 0);
  EXPECT_EQ(status.code(), Code::LaunchFailed);
  EXPECT_NE(status.message().find("no addresses for its stack of 4 MiB: 16 x "
                                  "1024 threads are there at once (see ulimit "
                                  "-v and vm.max_map_count)"),
            std::string::npos)
      << status.message();
  runLargestCluster(*kernel);
}

TEST(Cluster, MoreStacksThanThereAreMappings) {
  uint64_t limit = 0;
  std::ifstream("/proc/sys/vm/max_map_count") >> limit;
  if (addressSanitizerIsOn || limit == 0 || limit > 200000)
    GTEST_SKIP() << "no limit that is soon reached";
  auto kernel = loadLargestCluster();
  ASSERT_TRUE(kernel);
  uint64_t used = 0;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);)
    ++used;
  ASSERT_LT(used + 8000, limit);
  // Pages that may be read in turns are segments of their own.
  const size_t pages = limit - used - 4000, page = sysconf(_SC_PAGESIZE);
  char *begin = static_cast<char *>(mmap(nullptr, pages * page, PROT_NONE,
                                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(begin, MAP_FAILED);
  for (size_t i = 1; i < pages; i += 2)
    ASSERT_EQ(mprotect(begin + i * page, page, PROT_READ), 0);
  std::vector<int> out(16 * 1024, -1);
  Status status = launch(*kernel, 16, 1024, 0, out.data());
  munmap(begin, pages * page);
  EXPECT_EQ(status.code(), Code::LaunchFailed);
  EXPECT_NE(status.message().find("no addresses for its stack"),
            std::string::npos)
      << status.message();
  runLargestCluster(*kernel);
}
