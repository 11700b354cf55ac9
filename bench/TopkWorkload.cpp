//===- TopkWorkload.cpp - Selections of the best elements of rows ---------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Workloads.h"

#include "llvm/ADT/bit.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/FormatVariadic.h"

#include <limits>
#include <random>

using namespace dsv4;
using namespace dsv4::bench;

// Buckets, as an engine would have them: the bounds are what schedules are
// chosen by, and rows are padded. {0}: k; {1} and {2}: starts of rows, and the
// clause that takes them.
static const char topkText[] = R"(
func.func @topk(
    %scores: tensor<?x?xf32> {{dsv4.name = "scores", dsv4.dims = ["rows", "columns"]},{1}
    %indices: tensor<?x{0}xi32> {{dsv4.name = "indices", dsv4.dims = ["rows", ""]})
    -> tensor<?x{0}xi32>
    attributes {{dsv4.policies = {{rows = #dsv4.policy<bucket>,
                                 columns = #dsv4.policy<bucket, multiple = 4>}} {{
  %chosen = dsv4.topk %scores{2} outs(%indices : tensor<?x{0}xi32>) : tensor<?x?xf32>
  return %chosen : tensor<?x{0}xi32>
}
)";

static std::string getText(const TopkJob &of) {
  if (!of.starts)
    return llvm::formatv(topkText, of.places, "", "");
  return llvm::formatv(
      topkText, of.places,
      "\n    %starts: tensor<?xi32> {dsv4.name = \"starts\", dsv4.dims = "
      "[\"rows\"]},",
      " starts(%starts : tensor<?xi32>)");
}

std::string TopkJob::getName() const {
  static const char *const suffixes[] = {"",        "_ascending", "_equal",
                                         "_bucket", "_specials",  "_masked"};
  return llvm::formatv("topk_{0}{1}{2}", rows,
                       suffixes[static_cast<unsigned>(scores)],
                       starts ? "_starts" : "");
}

/// One in 2048 is +infinity, as many are numbers, fewer in all than are
/// selected; the others NaN, -infinity, zeros and denormal numbers of both
/// signs.
static float getSpecial(uint64_t random) {
  const uint32_t sign = random >> 63 << 31;
  switch (random % 2048) {
  case 0:
    return std::numeric_limits<float>::infinity();
  case 1:
    return llvm::bit_cast<float>(0x3F000000 | uint32_t(random >> 40));
  }
  switch (random >> 16 & 3) {
  case 0:
    return std::numeric_limits<float>::quiet_NaN();
  case 1:
    return -std::numeric_limits<float>::infinity();
  case 2:
    return llvm::bit_cast<float>(sign);
  default:
    return llvm::bit_cast<float>(sign | uint32_t(random >> 20 & 0x7FFFFF));
  }
}

/// One row of adversarial scores.
static std::vector<float> makeHardRow(const TopkJob &of) {
  std::vector<float> row(of.columns);
  std::mt19937_64 random;
  for (int64_t i = 0; i < of.columns; ++i)
    switch (of.scores) {
    case TopkJob::Scores::Ascending:
      row[i] = i;
      break;
    case TopkJob::Scores::Bucket:
      // Sign, exponent and the first bits of the mantissa are the same.
      row[i] =
          llvm::bit_cast<float>(0x3F800000u + uint32_t(i) * 2654435761u % 4096);
      break;
    case TopkJob::Scores::Equal:
      row[i] = 1.5f;
      break;
    case TopkJob::Scores::Specials:
      row[i] = getSpecial(random());
      break;
    case TopkJob::Scores::Masked:
      // As with a causal mask: fewer scores than are wanted.
      row[i] = i < 100 ? float(i * 37 % 101)
                       : -std::numeric_limits<float>::infinity();
      break;
    case TopkJob::Scores::Normal:
      llvm_unreachable("not adversarial");
    }
  return row;
}

/// Starts within the first vectors of rows, few of them at the begin of one: so
/// the rows have nearly as many elements as without starts.
static std::vector<int32_t> makeStarts(const TopkJob &of) {
  std::vector<int32_t> starts(of.rows);
  for (int64_t row = 0; row < of.rows; ++row)
    starts[row] = 1 + row % 7;
  return starts;
}

namespace {

/// Launches of as many rows, in turn, of one tensor.
class Topk : public Workload {
public:
  Topk(Device &device, const TopkJob &of);
  int64_t rows(int64_t) const override { return of.rows; }
  unsigned slices(int64_t) const override { return launchesOfData; }
  Arguments arguments(int64_t size, unsigned slice) override;
  Excerpt extract(int64_t size, unsigned slice,
                  const std::vector<int64_t> &rows) override;

private:
  /// More than is left of it in the cache when a graph is replayed, and four
  /// launches at least.
  static constexpr int64_t inputBytes = int64_t(256) << 20;

  void fillWithHardRow();
  char *scoresOf(int64_t row) const { return scores.at(row * of.columns * 4); }
  char *indicesOf(int64_t row) const { return indices.at(row * of.places * 4); }

  const TopkJob of;
  const int64_t launchesOfData;
  Memory scores, indices;
  Memory starts; ///< Of the rows of a launch.
};

} // namespace

Topk::Topk(Device &device, const TopkJob &of)
    : Workload(device, of.getName(), llvm::formatv("k{0}", of.places),
               getText(of)),
      of(of), launchesOfData(std::max<int64_t>(
                  inputBytes / (of.rows * of.columns * 4), 4)),
      scores(device.allocate(launchesOfData * of.rows * of.columns * 4)),
      indices(device.allocate(launchesOfData * of.rows * of.places * 4)),
      starts(device.allocate(of.rows * 4)) {
  if (of.scores == TopkJob::Scores::Normal)
    device.fillNormal(scores);
  else
    fillWithHardRow();
  const std::vector<int32_t> begins = makeStarts(of);
  device.upload(starts, begins.data());
  device.finish();
  options.dims = {{"rows", of.rows}, {"columns", of.columns}};
  bytesPerRow = (of.columns + of.places) * 4;
  poolBytes = scores.size();
  maxLaunches = std::max<int64_t>(launchesOfData, maxLaunches);
  compileCosts = of.compileCosts;
  compileName = llvm::formatv("topk_{0} x {1}", of.rows, of.columns);
}

void Topk::fillWithHardRow() {
  const std::vector<float> row = makeHardRow(of);
  const size_t bytes = row.size() * 4;
  Memory first = device.allocate(bytes);
  device.upload(first, row.data());
  for (size_t at = 0; at < scores.size(); at += bytes)
    check(device.driver.copyOnDevice(scores.at(at), first.at(), bytes,
                                     device.stream));
  device.finish();
}

Arguments Topk::arguments(int64_t size, unsigned slice) {
  const int64_t first = slice * of.rows;
  Arguments arguments;
  arguments.add(scoresOf(first), {of.rows, size});
  if (of.starts)
    arguments.add(starts.at(), {of.rows});
  arguments.add(indicesOf(first), {of.rows, of.places});
  return arguments;
}

Excerpt Topk::extract(int64_t size, unsigned slice,
                      const std::vector<int64_t> &rows) {
  const int64_t first = slice * of.rows, count = rows.size();
  const size_t rowBytes = size * 4, resultBytes = of.places * 4;
  const size_t binding = of.starts ? 2 : 1;
  Excerpt excerpt;
  std::vector<char> from;
  for (int64_t i = 0; i < count; ++i) {
    llvm::append_range(from, download(scoresOf(first + rows[i]), rowBytes));
    excerpt.results.push_back(
        {binding, i * resultBytes, indicesOf(first + rows[i]), resultBytes});
  }
  excerpt.add(std::move(from), {count, size});
  if (of.starts) {
    std::vector<char> chosen;
    for (int64_t row : rows)
      llvm::append_range(chosen, download(starts.at(row * 4), 4));
    excerpt.add(std::move(chosen), {count});
  }
  excerpt.add(std::vector<char>(count * resultBytes), {count, of.places});
  return excerpt;
}

std::unique_ptr<Workload> bench::makeTopk(Device &device, const TopkJob &of) {
  return std::make_unique<Topk>(device, of);
}
