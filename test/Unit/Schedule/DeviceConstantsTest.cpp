//===- DeviceConstantsTest.cpp - Limits and the device library ------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The compiler and the device library each say what a function takes: the one
// refuses schedules, the other does not compile. Here they are compared.
//
//===----------------------------------------------------------------------===//

#include "dsv4/Dialect/DSV4.h"
#include "dsv4/Target/CUDA/Prelude.h"

#include "gtest/gtest.h"

#include <regex>

using namespace dsv4;

/// The number that `pattern` captures in a file of the device library, or -1.
static int64_t find(const char *file, const std::string &pattern) {
  std::string text(rt::deviceLibrary(file));
  EXPECT_FALSE(text.empty()) << "no file " << file;
  std::smatch match;
  std::regex regex(pattern, std::regex::ECMAScript | std::regex::icase);
  return std::regex_search(text, match, regex) ? std::stoll(match[1].str())
                                               : -1;
}

/// The beginning of an assertion, up to what is looked for.
static const std::string kAssert = R"(static_assert\([^;]*?)";

TEST(DeviceConstants, Windows) {
  EXPECT_EQ(find("window/window_reduce.cuh", R"(many_windows = (\d+))"),
            limits::kManyWindows);
  EXPECT_EQ(
      find("window/window_reduce.cuh", R"(all_blocks = \(\w+ \+ 7\) / (\d+))"),
      limits::kWindowBlockRows);
  EXPECT_EQ(find("window/window_reduce.cuh", R"(fitting =\s+\((\d+) - )"),
            limits::kStaticSharedBytes);
  EXPECT_EQ(find("window/window_reduce.cuh", R"(address_bytes = (\d+))"),
            limits::kWindowAddressBytes);
  EXPECT_EQ(find("window/window_reduce_online.cuh", R"(group_rows = (\d+))"),
            limits::kSegmentGroupRows);
}

TEST(DeviceConstants, SelectionsOfABlock) {
  const char *file = "select/topk.cuh";
  EXPECT_EQ(find(file, kAssert + R"(\bthreads >= (\d+))"),
            limits::kMinSelectThreads);
  EXPECT_EQ(find(file, kAssert + R"(\bthreads <= (\d+))"), limits::kMaxThreads);
  EXPECT_EQ(find(file, kAssert + R"(\bvectors <= (\d+))"),
            limits::kMaxSelectItems);
  EXPECT_EQ(find(file, kAssert + R"(\bk <= (\d+))"), TopkOp::kMaxK);
}

TEST(DeviceConstants, SelectionsOfACluster) {
  for (const char *file : {"select/topk_spread.cuh", "select/topk_cluster.cuh"})
    EXPECT_EQ(find(file, kAssert + R"(\b(?:size|cluster) <= (\d+))"),
              limits::kMaxCluster)
        << file;
}

TEST(DeviceConstants, SelectionsOfAGrid) {
  const char *file = "select/topk_grid.cuh";
  EXPECT_EQ(find(file, kAssert + R"(\b(?:parts|blocks) >= (\d+))"),
            limits::kMinGridBlocks);
  EXPECT_EQ(find(file, kAssert + R"(\b(?:parts|blocks) <= (\d+))"),
            limits::kMaxGridBlocks);
}

TEST(DeviceConstants, SelectionsOfAWarp) {
  EXPECT_EQ(find("select/topk_warp.cuh", kAssert + R"(\bk <= (\d+))"),
            limits::kMaxWarpK);
  EXPECT_EQ(find("select/topk_warp.cuh", kAssert + R"(\bvectors <= (\d+))"),
            limits::kMaxSelectItems);
  EXPECT_EQ(find("select/topk_groups.cuh", kAssert + R"(\bgroups <= (\d+))"),
            limits::kMaxWarpGroups);
}
