//===- ElementMapTest.cpp - Which thread holds which element --------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsv4/Transforms/ElementMap.h"

#include "gtest/gtest.h"

#include <array>
#include <map>
#include <vector>

using namespace dsv4;

namespace {

/// Blocks, warps, lanes, vector. Schedules give the rows of a kernel one warp
/// or a part of it; a row of several warps, or of a cluster of two blocks, is a
/// map like any other.
constexpr ElementMap kOneLane = {1, 1, 1, 4}, kHalfWarp = {1, 1, 16, 4},
                     kWarp = {1, 1, 32, 4}, kWarps = {1, 4, 32, 4},
                     kCluster = {2, 1, 32, 4}, kWarpsOfCluster = {2, 4, 32, 4};
constexpr ElementMap kMaps[] = {kOneLane, kHalfWarp, kWarp,
                                kWarps,   kCluster,  kWarpsOfCluster};
/// Some are made of whole steps of all maps, the others have a masked tail.
constexpr int64_t kRows[] = {1024, 7168, 128, 700, 1536, 4};

/// Calls `visit` with every position of a row, elements beyond its end
/// included.
template <typename Visit>
void forEachPosition(const ElementMap &map, int64_t row, Visit visit) {
  ElementPosition at;
  for (at.step = 0; at.step < map.getSteps(row); ++at.step)
    for (at.block = 0; at.block < map.blocks; ++at.block)
      for (at.warp = 0; at.warp < map.warps; ++at.warp)
        for (at.lane = 0; at.lane < map.lanes; ++at.lane)
          for (at.vector = 0; at.vector < map.vector; ++at.vector)
            visit(at);
}

auto asTuple(const ElementPosition &at) {
  return std::make_tuple(at.step, at.block, at.warp, at.lane, at.vector);
}

TEST(ElementMap, EachElementIsOwnedOnce) {
  for (const ElementMap &map : kMaps)
    for (int64_t row : kRows) {
      std::vector<int> owners(map.getSteps(row) * map.getStep());
      forEachPosition(map, row, [&](const ElementPosition &at) {
        int64_t element = map.getElement(at);
        ++owners.at(element);
        EXPECT_EQ(asTuple(map.locate(element)), asTuple(at));
      });
      EXPECT_GE(static_cast<int64_t>(owners.size()), row);
      EXPECT_LT(static_cast<int64_t>(owners.size()), row + map.getStep());
      for (int count : owners)
        EXPECT_EQ(count, 1);
    }
}

TEST(ElementMap, NeighboursFillVectorsThenLanesWarpsBlocksAndSteps) {
  const ElementMap &map = kWarpsOfCluster;
  EXPECT_EQ(asTuple(map.locate(3)), std::make_tuple(0, 0, 0, 0, 3));
  EXPECT_EQ(asTuple(map.locate(4)), std::make_tuple(0, 0, 0, 1, 0));
  EXPECT_EQ(asTuple(map.locate(128)), std::make_tuple(0, 0, 1, 0, 0));
  EXPECT_EQ(asTuple(map.locate(512)), std::make_tuple(0, 1, 0, 0, 0));
  EXPECT_EQ(asTuple(map.locate(1024)), std::make_tuple(1, 0, 0, 0, 0));
}

TEST(ElementMap, TheFirstThreadsHaveAVectorInTheLastStep) {
  for (const ElementMap &map : kMaps)
    for (int64_t row : kRows) {
      std::vector<int64_t> vectors(map.getThreads());
      forEachPosition(map, row, [&](const ElementPosition &at) {
        if (at.vector == 0 && map.getElement(at) < row)
          ++vectors.at(map.getThread(at));
      });
      int64_t steps = map.getSteps(row);
      for (int64_t thread = 0; thread < map.getThreads(); ++thread)
        EXPECT_EQ(vectors[thread],
                  thread < map.getLastThreads(row) ? steps : steps - 1);
      EXPECT_EQ(map.isUneven(row), map.getLastThreads(row) < map.getThreads());
    }
}

TEST(ElementMap, ValuesOfSeveralElementsAreFoundByTheirStrides) {
  constexpr int64_t kRow = 4096;
  for (const ElementMap &map : kMaps)
    for (int64_t group = 1; group < map.getStep(); group *= 2) {
      ASSERT_FALSE(map.isHeldByAll(kRow, group));
      ValueStrides strides = map.getStrides(group);
      std::vector<int> owners(kRow / group);
      forEachPosition(map, kRow, [&](const ElementPosition &at) {
        int64_t thread = map.getThread(at);
        int64_t value = thread / strides.holders * strides.thread +
                        at.step * strides.step + at.vector / group;
        EXPECT_EQ(value, map.getElement(at) / group);
        bool isFirst = at.vector % std::min(group, map.vector) == 0;
        if (isFirst && thread % strides.holders == 0)
          ++owners.at(value);
      });
      for (int count : owners)
        EXPECT_EQ(count, 1);
    }
}

TEST(ElementMap, ValuesOfWholeStepsAreHeldByAll) {
  EXPECT_FALSE(kWarps.isHeldByAll(1024, 256));
  EXPECT_TRUE(kWarps.isHeldByAll(1024, 512));
  EXPECT_TRUE(kWarps.isHeldByAll(256, 256));
}

TEST(ElementMap, GroupsAreSpreadOverTheAxesThatTheyNeed) {
  using Axes = llvm::SmallVector<ThreadAxis, 3>;
  const ElementMap &map = kWarpsOfCluster;
  EXPECT_EQ(map.getSpreadAxes(4), Axes());
  EXPECT_EQ(map.getSpreadAxes(8), Axes({ThreadAxis::Lane}));
  EXPECT_EQ(map.getSpreadAxes(128), Axes({ThreadAxis::Lane}));
  EXPECT_EQ(map.getSpreadAxes(256), Axes({ThreadAxis::Lane, ThreadAxis::Warp}));
  EXPECT_EQ(map.getSpreadAxes(1024),
            Axes({ThreadAxis::Lane, ThreadAxis::Warp, ThreadAxis::Block}));
  EXPECT_EQ(kCluster.getSpreadAxes(1024),
            Axes({ThreadAxis::Lane, ThreadAxis::Block}));
  EXPECT_EQ(kOneLane.getSpreadAxes(1024), Axes());
}

/// Sums as trees: equal numbers are equal trees. Elements are numbers from 0
/// on.
class Trees {
public:
  /// What is added to nothing.
  static constexpr int kAbsent = -1;

  int pair(int left, int right) {
    if (left == kAbsent || right == kAbsent)
      return std::max(left, right);
    return sums.try_emplace({left, right}, 1000000 + sums.size()).first->second;
  }
  /// Neighbours into one, an odd one out as it is, until one is left.
  int fold(std::vector<int> values) {
    while (values.size() > 1) {
      std::vector<int> next;
      for (size_t i = 0; i < values.size(); i += 2)
        next.push_back(i + 1 < values.size() ? pair(values[i], values[i + 1])
                                             : values[i]);
      values = next;
    }
    return values.front();
  }
  /// The sum of a row: of vectors, of what is spread over threads axis by axis,
  /// and then of steps.
  int reduce(const ElementMap &map, int64_t row);

private:
  std::map<std::pair<int, int>, int> sums;
};

int Trees::reduce(const ElementMap &map, int64_t row) {
  // By step, block, warp and lane.
  std::map<std::array<int64_t, 4>, std::vector<int>> values;
  forEachPosition(map, row, [&](const ElementPosition &at) {
    int64_t element = map.getElement(at);
    values[{at.step, at.block, at.warp, at.lane}].push_back(
        element < row ? static_cast<int>(element) : kAbsent);
  });
  auto foldAxis = [&](size_t axis) {
    std::map<std::array<int64_t, 4>, std::vector<int>> next;
    for (auto &[at, several] : values) {
      std::array<int64_t, 4> to = at;
      to[axis] = 0;
      next[to].push_back(fold(several));
    }
    values = next;
  };
  for (ThreadAxis axis : map.getSpreadAxes(map.getSteps(row) * map.getStep()))
    foldAxis(axis == ThreadAxis::Lane ? 3 : axis == ThreadAxis::Warp ? 2 : 1);
  foldAxis(0);
  EXPECT_EQ(values.size(), 1u);
  return fold(values.begin()->second);
}

TEST(ElementMap, TheReductionTreeIsThatOfOneWarp) {
  Trees trees;
  for (int64_t row : kRows) {
    int expected = trees.reduce(kWarp, row);
    for (const ElementMap &map : kMaps)
      EXPECT_EQ(trees.reduce(map, row), expected)
          << row << " elements by " << map.blocks << " x " << map.warps << " x "
          << map.lanes;
  }
}

TEST(ElementMap, TreesDifferWhereThePairsDo) {
  Trees trees;
  EXPECT_NE(trees.reduce({1, 1, 32, 3}, 768), trees.reduce(kWarp, 768));
  EXPECT_EQ(trees.reduce({1, 1, 32, 8}, 768), trees.reduce(kWarp, 768));
}

TEST(ElementMap, ThreadsOfBlocksAreWarpsAndLanes) {
  ElementMap block = ElementMap::ofThreads(512, 2);
  EXPECT_EQ(block.blocks, 1);
  EXPECT_EQ(block.warps, 16);
  EXPECT_EQ(block.lanes, 32);
  ElementMap cluster = ElementMap::ofThreads(512, 2, /*blocks=*/2);
  EXPECT_EQ(cluster.blocks, 2);
  EXPECT_EQ(cluster.warps, 8);
  EXPECT_EQ(cluster.lanes, 32);
  ElementMap odd = ElementMap::ofThreads(48, 2);
  EXPECT_EQ(odd.warps, 3);
  EXPECT_EQ(odd.lanes, 16);
  ElementMap few = ElementMap::ofThreads(8, 4);
  EXPECT_EQ(few.warps, 1);
  EXPECT_EQ(few.getStep(), 32);
}

} // namespace
