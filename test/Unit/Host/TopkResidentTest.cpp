//===- TopkResidentTest.cpp - Selections from scores of a cluster ---------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TopkTesting.h"

using namespace dsv4::rt;
using namespace dsv4::rt::test;

namespace {

// What a selection is beside the default.
enum : unsigned {
  Smallest = 1,
  TiesHigh = 2,
  Biased = 4,
  TwoVectors = 8,
  OneRow = 16,
  NaNFirst = 32
};

struct Selection {
  int k;
  std::string order;
  int cluster;
  unsigned flags;

  bool is(unsigned flag) const { return flags & flag; }
  int getVectors() const { return is(TwoVectors) ? 2 : 1; }
  /// Of a block or cluster.
  int getRows() const { return is(OneRow) ? 1 : 4; }
};

constexpr int threads = 128;

/// As much as the kernel says of a selection.
std::string getText(const Selection &selection) {
  const auto define = [](const char *name, const std::string &value) {
    return std::string("#define ") + name + " " + value + "\n";
  };
  const auto flag = [](bool value) { return value ? "true" : "false"; };
  return define("K", std::to_string(selection.k)) +
         define("ORDER", selection.order) +
         define("CLUSTER", std::to_string(selection.cluster)) +
         define("ROWS", std::to_string(selection.getRows())) +
         define("VECTORS", std::to_string(selection.getVectors())) +
         define("LARGEST", flag(!selection.is(Smallest))) +
         define("TIES_HIGH", flag(selection.is(TiesHigh))) +
         define("NAN_FIRST", flag(selection.is(NaNFirst))) +
         define("BIASED", flag(selection.is(Biased))) +
         readKernel("topk-resident.cu");
}

/// Runs the kernel for one table of scores in each of `orders` of threads.
void checkScores(HostKernel &kernel, const Selection &selection,
                 const std::vector<ThreadSchedule> &orders,
                 const std::vector<float> &scores,
                 const std::vector<float> &bias, const std::vector<int> &limits,
                 int columns) {
  const int rows = int(limits.size()), k = selection.k;
  std::vector<float> selected = scores;
  if (selection.is(Biased))
    for (size_t i = 0; i < selected.size(); ++i)
      selected[i] += bias[i % columns];
  std::vector<Chosen> expected;
  for (int row = 0; row < rows; ++row)
    expected.push_back(
        choose(selected.data() + row * columns, std::max(limits[row], 0), k,
               !selection.is(Smallest), selection.order != "sorted",
               selection.is(TiesHigh), selection.is(NaNFirst)));
  const int each = selection.getRows();
  const int clusters = (rows + each - 1) / each;
  for (ThreadSchedule schedule : orders) {
    kernel.setSchedule(schedule);
    std::vector<int> indices(rows * k, -7);
    std::vector<float> values(rows * k, -7.0f);
    int failures = 0;
    Status status =
        launch(kernel, clusters * selection.cluster, threads, 0,
               (const void *)scores.data(), (const void *)bias.data(),
               (const void *)limits.data(), (void *)indices.data(),
               (void *)values.data(), (void *)&failures, rows, columns);
    ASSERT_TRUE(status.ok()) << status.message();
    ASSERT_EQ(failures, 0) << "parts or elements that cannot be";
    for (int row = 0; row < rows; ++row) {
      SCOPED_TRACE("row " + std::to_string(row) + " of " +
                   std::to_string(columns));
      expectChosen(indices.data() + row * k, values.data() + row * k,
                   expected[row], selection.order != "unordered");
      if (testing::Test::HasFailure())
        return;
    }
  }
}

/// Columns of one block, of several, as many as fit, and parts that end within
/// a tile. The rows of a cluster have different limits. The third cluster of
/// four rows has one, and no elements.
void check(int k, const std::string &order, int cluster, unsigned flags = 0) {
  const Selection selection = {k, order, cluster, flags};
  SCOPED_TRACE("k = " + std::to_string(k) + ", " + order + ", clusters of " +
               std::to_string(cluster));
  auto kernel = loadKernel(getText(selection), "select_resident", cluster);
  ASSERT_TRUE(kernel);
  std::mt19937 random(k);
  const int rows = 9;
  const int room = 4 * threads * selection.getVectors() * cluster;
  for (int columns : {1, 17, 129, 333, room / 2 + 130, room - 1, room}) {
    const std::vector<int> limits = {columns,     0,       columns / 2, 1, -3,
                                     columns - 1, columns, columns,     -1};
    const auto bias = makeScores(Values::Random, 1, columns, random);
    for (Values kind : {Values::Random, Values::FewDifferent, Values::Equal,
                        Values::Special, Values::Ascending, Values::LastBits,
                        Values::BelowBin, Values::Large}) {
      SCOPED_TRACE("values " + std::to_string(int(kind)));
      const auto scores = makeScores(kind, rows, columns, random);
      // What the values are changes where threads wait little.
      std::vector<ThreadSchedule> orders = schedules();
      if (kind != Values::Random)
        orders.resize(3);
      checkScores(*kernel, selection, orders, scores, bias, limits, columns);
      if (testing::Test::HasFailure())
        return;
    }
  }
}

} // namespace

TEST(TopkResident, OneBlock) {
  check(1, "sorted", 1);
  check(20, "unordered", 1, Smallest);
  check(33, "sorted", 1, OneRow);
  check(155, "index_ascending", 1, TwoVectors);
}
TEST(TopkResident, Clusters) {
  check(20, "sorted", 2);
  check(512, "index_ascending", 2, TwoVectors);
  check(33, "sorted", 3);
  check(155, "unordered", 4);
  check(20, "index_ascending", 2, OneRow | Biased);
  check(20, "sorted", 16);
}
TEST(TopkResident, Smallest) {
  check(33, "unordered", 2, Smallest);
  check(20, "sorted", 4, Smallest);
}
TEST(TopkResident, TiesHigh) {
  check(20, "sorted", 1, TiesHigh);
  check(33, "index_ascending", 2, TiesHigh);
  check(155, "unordered", 4, TiesHigh | Smallest);
}
// What is selected from is made of what the source brings.
TEST(TopkResident, Biased) {
  check(20, "sorted", 1, Biased);
  check(155, "index_ascending", 2, Biased);
  check(33, "unordered", 4, Biased);
}
TEST(TopkResident, NaNFirst) {
  check(20, "sorted", 1, NaNFirst);
  check(155, "index_ascending", 1, NaNFirst | TwoVectors | Smallest);
  check(33, "sorted", 3, NaNFirst | TiesHigh);
  check(155, "unordered", 4, NaNFirst | Smallest);
  check(20, "index_ascending", 2, NaNFirst | Biased);
}
