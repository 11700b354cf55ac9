//===- GridTest.cpp - Grids, blocks and clusters of several axes ----------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HostTesting.h"

#include <vector>

using namespace dsv4::rt;
using namespace dsv4::rt::test;

namespace {

/// Every thread adds 1 to the element that its indices name, and says what it
/// takes for the shape of the launch.
constexpr const char *visit =
    "extern \"C\" __global__ void visit(int *out, unsigned *shape) {\n"
    "  const unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + "
    "blockDim.y * threadIdx.z);\n"
    "  const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y "
    "* blockIdx.z);\n"
    "  const unsigned threads = blockDim.x * blockDim.y * blockDim.z;\n"
    "  out[block * threads + thread] += 1;\n"
    "  shape[0] = gridDim.x; shape[1] = gridDim.y; shape[2] = gridDim.z;\n"
    "  shape[3] = blockDim.x; shape[4] = blockDim.y; shape[5] = blockDim.z;\n"
    "}\n";

/// Warps are made of threads along x first: every lane says what lane the warp
/// has it for.
constexpr const char *lanes =
    "extern \"C\" __global__ void lanes(int *out) {\n"
    "  const unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + "
    "blockDim.y * threadIdx.z);\n"
    "  __shared__ int sum;\n"
    "  if (thread == 0)\n"
    "    sum = 0;\n"
    "  __syncthreads();\n"
    "  if (__activemask() == 1u << thread % 32)\n"
    "    atomicAdd(&sum, 1);\n"
    "  __syncthreads();\n"
    "  out[thread] = __shfl_sync(0xFFFFFFFFu, (int)thread, 5) * 1000 + sum;\n"
    "}\n";

/// The first thread of each block writes its number to all blocks of its
/// cluster.
constexpr const char *clusters =
    "extern \"C\" __global__ void clusters(int *out) {\n"
    "  using namespace dsv4;\n"
    "  __shared__ unsigned word;\n"
    "  const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y "
    "* blockIdx.z);\n"
    "  word = block;\n"
    "  cluster_arrive<8>();\n"
    "  cluster_wait<8>();\n"
    "  for (int rank = 0; rank < 8; ++rank)\n"
    "    out[block * 8 + rank] = (int)ld_cluster_4(&word, rank);\n"
    "  cluster_arrive<8>();\n"
    "  cluster_wait<8>();\n"
    "}\n";

} // namespace

TEST(Grid, EveryThreadOnceInEveryOrder) {
  auto kernel = loadKernel(visit, "visit");
  ASSERT_TRUE(kernel);
  for (const ThreadSchedule &schedule : schedules()) {
    kernel->setSchedule(schedule);
    for (auto [grid, block] : {std::pair(Dim3(5, 3, 2), Dim3(4, 2, 3)),
                               std::pair(Dim3(1, 7), Dim3(33)),
                               std::pair(Dim3(1, 1, 9), Dim3(1, 1, 64)),
                               std::pair(Dim3(2), Dim3(2, 512))}) {
      std::vector<int> out(grid.count() * block.count());
      unsigned shape[6];
      Status status = launch(*kernel, grid, block, 0, out.data(), &shape[0]);
      ASSERT_TRUE(status.ok()) << status.message();
      EXPECT_EQ(out, std::vector<int>(out.size(), 1)) << toString(schedule);
      for (unsigned axis = 0; axis < 3; ++axis) {
        EXPECT_EQ(shape[axis], grid[axis]);
        EXPECT_EQ(shape[3 + axis], block[axis]);
      }
    }
  }
}

TEST(Grid, WarpsOfBlocksOfSeveralAxes) {
  auto kernel = loadKernel(lanes, "lanes");
  ASSERT_TRUE(kernel);
  for (Dim3 block : {Dim3(96), Dim3(8, 12), Dim3(4, 8, 3)}) {
    std::vector<int> out(96);
    Status status = launch(*kernel, 1, block, 0, out.data());
    ASSERT_TRUE(status.ok()) << status.message();
    for (int thread = 0; thread < 96; ++thread)
      EXPECT_EQ(out[thread], (thread / 32 * 32 + 5) * 1000 + 96);
  }
}

/// Blocks of a cluster are neighbours along each axis, numbered along x first.
TEST(Grid, ClustersOfSeveralAxes) {
  const Dim3 cluster(2, 2, 2), grid(4, 2, 6);
  auto kernel = loadKernel(clusters, "clusters", cluster);
  ASSERT_TRUE(kernel);
  for (const ThreadSchedule &schedule : schedules()) {
    kernel->setSchedule(schedule);
    std::vector<int> out(grid.count() * 8, -1);
    Status status = launch(*kernel, grid, 1, 0, out.data());
    ASSERT_TRUE(status.ok()) << status.message();
    for (unsigned z = 0; z < grid.z; ++z)
      for (unsigned y = 0; y < grid.y; ++y)
        for (unsigned x = 0; x < grid.x; ++x)
          for (unsigned rank = 0; rank < 8; ++rank) {
            const unsigned otherX = x / 2 * 2 + rank % 2,
                           otherY = y / 2 * 2 + rank / 2 % 2,
                           otherZ = z / 2 * 2 + rank / 4;
            const unsigned block = x + grid.x * (y + grid.y * z);
            EXPECT_EQ(out[block * 8 + rank],
                      int(otherX + grid.x * (otherY + grid.y * otherZ)));
          }
  }
}

TEST(Grid, ShapesThatAreRefused) {
  auto kernel = loadKernel(clusters, "clusters", Dim3(2, 4));
  ASSERT_TRUE(kernel);
  auto error = [&](Dim3 grid, Dim3 block) {
    Status status = launch(*kernel, grid, block, 0, (int *)nullptr);
    EXPECT_EQ(status.code(), Code::InvalidArgument);
    return status.message();
  };
  const std::string who = "kernel 'clusters': ";
  EXPECT_EQ(error(Dim3(2, 65536), 1),
            who + "65536 blocks along y: expected at most 65535");
  EXPECT_EQ(error(Dim3(2, 4, 65536), 1),
            who + "65536 blocks along z: expected at most 65535");
  EXPECT_EQ(error(Dim3(2, 6), 1), who + "6 blocks along y: expected a multiple "
                                        "of the 4 of a cluster");
  EXPECT_EQ(error(Dim3(2, 4), Dim3(1, 1, 65)),
            who + "65 threads per block along z: expected 1 to 64");
  EXPECT_EQ(error(Dim3(2, 4), Dim3(32, 33)),
            who + "1056 threads per block: expected 1 to 1024");
  EXPECT_TRUE(launch(*kernel, Dim3(2, 0), 1, 0, (int *)nullptr).ok());
}

/// Who fails is said by indices where numbers would not say it.
TEST(Grid, FailuresNameIndices) {
  auto kernel = loadKernel("extern \"C\" __global__ void fails(int *out) {\n"
                           "  if (blockIdx.y == 2 && threadIdx.y == 1)\n"
                           "    atomicAdd((int *)((char *)out + 2), 1);\n"
                           "}\n",
                           "fails");
  ASSERT_TRUE(kernel);
  int out[2];
  Status status = launch(*kernel, Dim3(2, 3), Dim3(4, 2), 0, &out[0]);
  const std::string who = "kernel 'fails': block (0, 2, 0), thread (0, 1, 0): ";
  EXPECT_EQ(status.message().substr(0, who.size()), who);
}
