//===- CompareSelectionTest.cpp - A selection from bounded scores ---------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsv4/Reference/Compare.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

using namespace dsv4::reference;
using Order = SelectionOracle::Order;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// One row that selects `k` of `keys`.
SelectionOracle makeRow(int64_t k, std::vector<BoundedValue> keys,
                        Order order = Order::Unordered) {
  SelectionOracle oracle;
  oracle.k = k;
  oracle.columns = keys.size();
  oracle.order = order;
  oracle.counts = {int64_t(keys.size())};
  oracle.keys = std::move(keys);
  return oracle;
}

std::string check(const SelectionOracle &oracle, std::vector<int32_t> indices) {
  int64_t shape[] = {int64_t(oracle.counts.size()), oracle.k};
  return compareSelection({"chosen", shape}, indices, oracle);
}

std::vector<BoundedValue> bound(std::vector<double> exact, double bound) {
  std::vector<BoundedValue> keys;
  for (double value : exact)
    keys.push_back({value, bound});
  return keys;
}

//===----------------------------------------------------------------------===//
// The set
//===----------------------------------------------------------------------===//

TEST(CompareSelection, TakesTheBest) {
  SelectionOracle oracle = makeRow(2, bound({1, 5, 3, 4}, 0.25));
  EXPECT_EQ(check(oracle, {1, 3}), "");
  EXPECT_EQ(check(oracle, {3, 1}), "");
  EXPECT_EQ(check(oracle, {1, 2}),
            "'chosen' differs in 1 of 1 rows, first at [0, 1]: got index 2 "
            "with score 3 ± 0.25, expected index 3 with score 4 ± 0.25, which "
            "is left out");
  EXPECT_NE(check(oracle, {0, 1}), "");
}

TEST(CompareSelection, WhatTheBoundsLeaveOpen) {
  // 3 and 3.5 may be either way round, 2 may not be above 3.5.
  SelectionOracle oracle = makeRow(1, bound({3, 3.5, 2}, 0.5));
  EXPECT_EQ(check(oracle, {0}), "");
  EXPECT_EQ(check(oracle, {1}), "");
  EXPECT_NE(check(oracle, {2}), "");
}

TEST(CompareSelection, TouchingBoundsAreOpen) {
  SelectionOracle oracle = makeRow(1, bound({3, 4}, 0.5));
  EXPECT_EQ(check(oracle, {0}), "");
  oracle.keys[0].bound = 0.4999;
  EXPECT_NE(check(oracle, {0}), "");
  // One that is exact and one that reaches it.
  oracle.keys = {{3, 0}, {4, 1}};
  EXPECT_EQ(check(oracle, {0}), "");
  oracle.keys = {{3, 1}, {4, 0}};
  EXPECT_EQ(check(oracle, {0}), "");
}

TEST(CompareSelection, EachElementHasItsOwnBound) {
  SelectionOracle oracle = makeRow(2, {{10, 0}, {5, 3}, {7, 0.5}, {1, 0}});
  EXPECT_EQ(check(oracle, {0, 2}), "");
  EXPECT_EQ(check(oracle, {0, 1}), "");
  EXPECT_NE(check(oracle, {1, 2}), "");
  EXPECT_NE(check(oracle, {0, 3}), "");
}

TEST(CompareSelection, ExactScoresAreComparedExactly) {
  // Ties: the lower index wins.
  SelectionOracle oracle = makeRow(2, bound({1, 2, 2, 2, 0}, 0));
  EXPECT_EQ(check(oracle, {1, 2}), "");
  EXPECT_EQ(check(oracle, {2, 1}), "");
  for (std::vector<int32_t> wrong :
       {std::vector<int32_t>{1, 3}, {2, 3}, {0, 1}, {1, 4}})
    EXPECT_NE(check(oracle, wrong), "") << wrong[0] << " " << wrong[1];
  // +0 and -0 are equal, too.
  oracle = makeRow(1, bound({-0.0, 0.0}, 0));
  EXPECT_EQ(check(oracle, {0}), "");
  EXPECT_NE(check(oracle, {1}), "");
}

TEST(CompareSelection, TiesHigh) {
  SelectionOracle oracle = makeRow(2, bound({1, 2, 2, 2, 0}, 0), Order::Sorted);
  oracle.tiesHigh = true;
  EXPECT_EQ(check(oracle, {3, 2}), "");
  for (std::vector<int32_t> wrong :
       {std::vector<int32_t>{2, 3}, {1, 2}, {3, 1}, {3, 0}})
    EXPECT_NE(check(oracle, wrong), "") << wrong[0] << " " << wrong[1];
  oracle.keys = bound({kNaN, 0, kNaN, kNaN, -1}, 0);
  oracle.k = 3;
  EXPECT_EQ(check(oracle, {1, 4, 3}), "");
  EXPECT_NE(check(oracle, {1, 4, 0}), "");
}

TEST(CompareSelection, NaNFirst) {
  const double infinity = std::numeric_limits<double>::infinity();
  SelectionOracle oracle =
      makeRow(3, bound({1, kNaN, infinity, kNaN, -infinity}, 0), Order::Sorted);
  oracle.nanFirst = true;
  EXPECT_EQ(check(oracle, {1, 3, 2}), "");
  for (std::vector<int32_t> wrong :
       {std::vector<int32_t>{2, 1, 3}, {3, 1, 2}, {1, 2, 3}, {1, 3, 0}})
    EXPECT_NE(check(oracle, wrong), "") << wrong[0] << " " << wrong[1];
  // Before the smallest, too.
  oracle.smallest = true;
  EXPECT_EQ(check(oracle, {1, 3, 4}), "");
  EXPECT_NE(check(oracle, {4, 1, 3}), "");
  // What is not known may be a NaN, and need not be.
  oracle.keys[2].bound = infinity;
  EXPECT_EQ(check(oracle, {1, 3, 2}), "");
  EXPECT_EQ(check(oracle, {2, 1, 3}), "");
  EXPECT_NE(check(oracle, {4, 1, 3}), "");
}

TEST(CompareSelection, OffsetsOfStoredIndices) {
  SelectionOracle oracle = makeRow(2, bound({1, 5}, 0));
  oracle.counts = {2, 2, 1};
  oracle.offsets = {100, INT32_MAX, -7};
  std::vector<int32_t> stored = {101, 100, INT32_MIN, INT32_MAX, -7, -1};
  removeOffsets(stored, oracle);
  EXPECT_EQ(stored, (std::vector<int32_t>{1, 0, 1, 0, 0, -1}));
}

TEST(CompareSelection, ExactTiesAmongBoundedOnes) {
  // 1 and 2 are exact and equal; 0 reaches them.
  SelectionOracle oracle = makeRow(2, {{1, 1}, {2, 0}, {2, 0}});
  EXPECT_EQ(check(oracle, {0, 1}), "");
  EXPECT_EQ(check(oracle, {1, 2}), "");
  EXPECT_NE(check(oracle, {0, 2}), "");
}

TEST(CompareSelection, Smallest) {
  SelectionOracle oracle = makeRow(1, bound({1, 5, 1.5}, 0.25));
  oracle.smallest = true;
  EXPECT_EQ(check(oracle, {0}), "");
  EXPECT_EQ(check(oracle, {2}), "");
  EXPECT_NE(check(oracle, {1}), "");
  oracle.keys = bound({1, 5, 1}, 0);
  EXPECT_EQ(check(oracle, {0}), "");
  EXPECT_NE(check(oracle, {2}), "");
}

TEST(CompareSelection, NaNComesAfterEveryNumber) {
  SelectionOracle oracle = makeRow(2, {{kNaN, 0.5}, {-kInfinity, 0}, {1, 0.5}});
  EXPECT_EQ(check(oracle, {1, 2}), "");
  EXPECT_NE(check(oracle, {0, 2}), "");
  EXPECT_NE(check(oracle, {0, 1}), "");
  // Of two NaNs the lower index, also with `smallest`.
  for (bool smallest : {false, true}) {
    oracle = makeRow(2, {{kNaN, 0}, {kInfinity, 0}, {kNaN, 0}});
    oracle.smallest = smallest;
    EXPECT_EQ(check(oracle, {0, 1}), "");
    EXPECT_NE(check(oracle, {1, 2}), "");
  }
  // It is chosen before there is padding.
  EXPECT_NE(check(makeRow(2, {{kNaN, 0}, {1, 0}}), {1, -1}), "");
  EXPECT_EQ(check(makeRow(2, {{kNaN, 0}, {1, 0}}), {0, 1}), "");
}

TEST(CompareSelection, Infinities) {
  SelectionOracle oracle =
      makeRow(1, {{kInfinity, 0.5}, {1, 0.5}, {-kInfinity, 0.5}});
  EXPECT_EQ(check(oracle, {0}), "");
  EXPECT_NE(check(oracle, {1}), "");
  EXPECT_NE(check(oracle, {2}), "");
}

TEST(CompareSelection, ScoresThatNothingIsKnownOf) {
  SelectionOracle oracle =
      makeRow(1, {{0, kInfinity}, {1, 0}, {2, 0}, {kNaN, 0}});
  EXPECT_EQ(check(oracle, {0}), "");
  EXPECT_EQ(check(oracle, {2}), "");
  EXPECT_NE(check(oracle, {1}), "");
  EXPECT_NE(check(oracle, {3}), "");
}

//===----------------------------------------------------------------------===//
// Indices and padding
//===----------------------------------------------------------------------===//

TEST(CompareSelection, IndicesAreUnique) {
  EXPECT_EQ(check(makeRow(3, bound({1, 5, 3, 4}, 9)), {1, 3, 1}),
            "'chosen' differs in 1 of 1 rows, first at [0, 2]: got index 1 "
            "again, which is at rank 0; expected each once");
}

TEST(CompareSelection, IndicesAreInRange) {
  SelectionOracle oracle = makeRow(1, bound({1, 5, 3, 4}, 9));
  EXPECT_EQ(check(oracle, {4}),
            "'chosen' differs in 1 of 1 rows, first at [0, 0]: got index 4, "
            "expected one of the 4 elements of the row");
  for (int32_t wrong : {-1, -2, 5, std::numeric_limits<int32_t>::min(),
                        std::numeric_limits<int32_t>::max()})
    EXPECT_NE(check(oracle, {wrong}), "") << wrong;
  // In the columns, but beyond the length of the row.
  oracle.counts = {2};
  EXPECT_EQ(check(oracle, {1}), "");
  EXPECT_NE(check(oracle, {2}), "");
}

TEST(CompareSelection, ShortRowsArePadded) {
  SelectionOracle oracle = makeRow(4, bound({1, 5, 3, 4}, 9));
  oracle.counts = {2};
  EXPECT_EQ(check(oracle, {0, 1, -1, -1}), "");
  EXPECT_EQ(check(oracle, {0, 1, 2, -1}),
            "'chosen' differs in 1 of 1 rows, first at [0, 2]: got index 2, "
            "expected padding (-1): the row has 2 elements");
  EXPECT_NE(check(oracle, {0, 1, -1, -2}), "");
  EXPECT_NE(check(oracle, {0, -1, -1, -1}), "");
  EXPECT_NE(check(oracle, {-1, 0, 1, -1}), "");
  EXPECT_NE(check(oracle, {0, 1, -1, 0}), "");
  for (int64_t empty : {0, -3}) {
    oracle.counts = {empty};
    EXPECT_EQ(check(oracle, {-1, -1, -1, -1}), "");
    EXPECT_NE(check(oracle, {0, -1, -1, -1}), "");
  }
  // More than there are columns.
  oracle.counts = {100};
  EXPECT_EQ(check(oracle, {0, 1, 2, 3}), "");
}

TEST(CompareSelection, RowsSelectedWholeHaveAnOrder) {
  SelectionOracle oracle = makeRow(3, bound({1, 5, 3}, 9));
  EXPECT_EQ(check(oracle, {0, 1, 2}), "");
  EXPECT_EQ(check(oracle, {1, 0, 2}),
            "'chosen' differs in 1 of 1 rows, first at [0, 1]: got index 0 "
            "after index 1, expected ascending indices");
  // A row of which one element is left out has none.
  oracle.k = 2;
  EXPECT_EQ(check(oracle, {1, 0}), "");
}

TEST(CompareSelection, RowsAreOnTheirOwn) {
  SelectionOracle oracle;
  oracle.k = 1;
  oracle.columns = 2;
  oracle.counts = {2, 2, 2};
  oracle.keys = bound({1, 2, 2, 1, 1, 2}, 0);
  EXPECT_EQ(check(oracle, {1, 0, 1}), "");
  EXPECT_EQ(check(oracle, {1, 1, 0}),
            "'chosen' differs in 2 of 3 rows, first at [1, 0]: got index 1 "
            "with score 1 ± 0, expected index 0 with score 2 ± 0, which is "
            "left out");
  oracle.counts = {};
  oracle.keys = {};
  EXPECT_EQ(check(oracle, {}), "");
}

TEST(CompareSelection, SizesMustFit) {
  SelectionOracle oracle = makeRow(2, bound({1, 2, 3}, 0));
  EXPECT_NE(check(oracle, {2}), "");
  EXPECT_NE(check(oracle, {2, 1, 0}), "");
  oracle.keys.pop_back();
  EXPECT_NE(check(oracle, {1, 0}), "");
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

TEST(CompareSelection, Sorted) {
  SelectionOracle oracle = makeRow(3, bound({1, 5, 3, 4}, 0.25), Order::Sorted);
  EXPECT_EQ(check(oracle, {1, 3, 2}), "");
  EXPECT_EQ(check(oracle, {1, 2, 3}),
            "'chosen' differs in 1 of 1 rows, first at [0, 2]: got index 3 "
            "with score 4 ± 0.25, expected it before index 2 with score 3 ± "
            "0.25 at rank 1");
  EXPECT_NE(check(oracle, {3, 1, 2}), "");
  // Within the bounds two may change places.
  oracle.keys = bound({1, 5, 3, 4}, 0.5);
  EXPECT_EQ(check(oracle, {1, 2, 3}), "");
  EXPECT_EQ(check(oracle, {3, 1, 2}), "");
  EXPECT_NE(check(oracle, {2, 3, 1}), "");
}

TEST(CompareSelection, SortedOverMoreThanNeighbours) {
  // Each neighbour is open, the first and the last are not.
  SelectionOracle oracle = makeRow(3, bound({1, 2, 3}, 0.75), Order::Sorted);
  EXPECT_EQ(check(oracle, {2, 1, 0}), "");
  EXPECT_EQ(check(oracle, {1, 2, 0}), "");
  EXPECT_NE(check(oracle, {0, 1, 2}), "");
}

TEST(CompareSelection, SortedExactly) {
  SelectionOracle oracle = makeRow(3, bound({2, 5, 2, kNaN}, 0), Order::Sorted);
  EXPECT_EQ(check(oracle, {1, 0, 2}), "");
  EXPECT_NE(check(oracle, {1, 2, 0}), "");
  oracle.k = 4;
  EXPECT_EQ(check(oracle, {1, 0, 2, 3}), "");
  EXPECT_NE(check(oracle, {1, 0, 3, 2}), "");
}

TEST(CompareSelection, IndexAscending) {
  SelectionOracle oracle =
      makeRow(3, bound({1, 5, 3, 4}, 0.25), Order::IndexAscending);
  EXPECT_EQ(check(oracle, {1, 2, 3}), "");
  EXPECT_EQ(check(oracle, {1, 3, 2}),
            "'chosen' differs in 1 of 1 rows, first at [0, 2]: got index 2 "
            "after index 3, expected ascending indices");
}

/// Every answer for every small input: exact scores accept the one right set in
/// the one right order, and nothing else.
TEST(CompareSelection, ExactScoresLeaveOneAnswer) {
  constexpr int columns = 4, k = 2;
  const double values[] = {0, 1, kNaN};
  for (int input = 0; input < 81; ++input) {
    std::vector<double> keys;
    for (int i = 0, rest = input; i < columns; ++i, rest /= 3)
      keys.push_back(values[rest % 3]);
    std::vector<int32_t> order(columns);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
      if (std::isnan(keys[a]) || std::isnan(keys[b]))
        return !std::isnan(keys[a]) && std::isnan(keys[b]);
      return keys[a] > keys[b];
    });
    SelectionOracle oracle = makeRow(k, bound(keys, 0), Order::Sorted);
    for (int32_t a = -1; a <= columns; ++a)
      for (int32_t b = -1; b <= columns; ++b)
        EXPECT_EQ(check(oracle, {a, b}).empty(), a == order[0] && b == order[1])
            << input << ": " << a << " " << b;
  }
}

//===----------------------------------------------------------------------===//
// What belongs to the indices
//===----------------------------------------------------------------------===//

template <typename T>
std::vector<char> pack(std::vector<T> elements) {
  std::vector<char> bytes(elements.size() * sizeof(T));
  std::memcpy(bytes.data(), elements.data(), bytes.size());
  return bytes;
}

TEST(CompareSelectedValues, AreThoseOfTheIndices) {
  SelectionOracle oracle = makeRow(3, bound({1, 5, 3, 4}, 0.5));
  oracle.counts = {2};
  int64_t shape[] = {1, 3};
  auto compare = [&](std::vector<float> values) {
    return compareSelectedValues({"values", shape}, Format::F32,
                                 pack<float>(values), {1, 0, -1}, oracle);
  };
  float last = -std::numeric_limits<float>::infinity();
  EXPECT_EQ(compare({5, 1, last}), "");
  EXPECT_EQ(compare({5.5, 0.5, last}), "");
  EXPECT_EQ(compare({1, 5, last}),
            "'values' differs in 2 of 3 elements, first at [0, 0]: got 1, "
            "expected 5 ± 0.5");
  EXPECT_NE(compare({5, 1, 0}), "");
  EXPECT_NE(compare({5, 1, -last}), "");
  oracle.smallest = true;
  EXPECT_EQ(compare({5, 1, -last}), "");
  EXPECT_NE(compare({5, 1, last}), "");
}

TEST(CompareSelectedValues, AreScoresWithoutTheBias) {
  SelectionOracle oracle = makeRow(1, bound({10, 20}, 0));
  oracle.scores = bound({1, 2}, 0.25);
  int64_t shape[] = {1, 1};
  EXPECT_EQ(compareSelectedValues({"values", shape}, Format::BF16,
                                  pack<uint16_t>({0x4000}), {1}, oracle),
            "");
  EXPECT_NE(compareSelectedValues({"values", shape}, Format::BF16,
                                  pack<uint16_t>({0x41A0}), {1}, oracle),
            "");
  EXPECT_EQ(compareSelectedValues({"values", shape}, Format::BF16,
                                  pack<uint16_t>({0x4000}), {2}, oracle),
            "'values' at [0, 0] belongs to index 2, which is not between -1 "
            "and 1");
}

TEST(CompareSelectedSlots, AreThoseOfTheIndices) {
  SelectionOracle oracle = makeRow(3, bound({1, 5, 3}, 0.5));
  oracle.slots = {64, -1, 128};
  int64_t shape[] = {1, 3};
  auto compare = [&](std::vector<int32_t> slots,
                     std::vector<int32_t> indices = {2, 1, -1}) {
    return compareSelectedSlots({"slots", shape}, pack<int32_t>(slots), indices,
                                oracle);
  };
  EXPECT_EQ(compare({128, -1, -1}), "");
  EXPECT_EQ(compare({128, 64, -1}, {2, 0, -1}), "");
  EXPECT_EQ(compare({128, -1, 0}),
            "'slots' differs in 1 of 3 elements, first at [0, 2]: got "
            "0x00000000, expected 0xffffffff");
  EXPECT_NE(compare({64, -1, -1}), "");
  oracle.slots.clear();
  EXPECT_NE(compare({128, -1, -1}), "");
}

} // namespace
