//===- AccessTest.cpp - How rows are accessed -----------------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsv4/Dialect/Access.h"

#include "gtest/gtest.h"

using namespace dsv4;

namespace {

TEST(Access, KindsDoNotStandForEachOther) {
  Access all[] = {Access::row(), Access::columns(1), Access::elements(),
                  Access::ranks(), Access::tile(8, 64)};
  for (const Access &provided : all)
    for (const Access &demanded : all)
      EXPECT_EQ(provided.satisfies(demanded), provided.kind == demanded.kind);
}

TEST(Access, ColumnsAreComputedInUnits) {
  EXPECT_TRUE(Access::columns(2).satisfies(Access::columns(0)));
  EXPECT_TRUE(Access::columns(2).satisfies(Access::columns(4)));
  EXPECT_TRUE(Access::columns(1).satisfies(Access::columns(1)));
  EXPECT_FALSE(Access::columns(2).satisfies(Access::columns(1)));
  EXPECT_FALSE(Access::columns(2).satisfies(Access::columns(3)));
}

TEST(Access, TilesHaveOneShape) {
  EXPECT_TRUE(Access::tile(8, 64).satisfies(Access::tile(8, 64)));
  EXPECT_FALSE(Access::tile(8, 64).satisfies(Access::tile(16, 64)));
  EXPECT_FALSE(Access::tile(8, 64).satisfies(Access::tile(8, 32)));
}

TEST(Access, StatisticsAreOfRowsThatThreadsCanFindThemOf) {
  Access softmax = Access::columns(1).withStatistics(64);
  EXPECT_FALSE(softmax.satisfies(Access::columns(1)));
  EXPECT_TRUE(softmax.hasFormOf(Access::columns(1)));
  EXPECT_TRUE(softmax.satisfies(Access::columns(1).withStatistics(64)));
  EXPECT_FALSE(softmax.satisfies(Access::columns(1).withStatistics(63)));
  EXPECT_TRUE(Access::elements().withStatistics(1 << 20).satisfies(
      Access::elements().withStatistics(Access::kAnyRow)));
}

TEST(Access, RowsAndRanksAreHeldByThreadsThatFindStatistics) {
  EXPECT_TRUE(Access::row().satisfies(Access::row().withStatistics(0)));
  EXPECT_TRUE(Access::ranks().withStatistics(1024).satisfies(Access::ranks()));
}

} // namespace
