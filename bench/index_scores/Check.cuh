//===- Check.cuh - Comparisons of scores with the reference -----*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How one config is checked. Checks.cuh lists what is checked.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Inputs.h"
#include "Kernels.cuh"

namespace index_scores {

/// Blocks of a launch: as many as an H200 has multiprocessors, whatever the
/// GPU, and few, each with many groups.
constexpr int kManyBlocks = 132;
/// Columns of the output beyond those of the problem. Nothing is stored there.
constexpr int kScoresBeyond = 5;
constexpr unsigned char kPoison = 0x5A;

struct Tally {
  int ran = 0, failed = 0;
  // The largest relative errors, of exact configs in [1].
  double worst[2] = {0, 0};

  void add(bool passed, const std::string &text) {
    ++ran;
    failed += !passed;
    printf("%s %s\n", passed ? "ok  " : "FAIL", text.c_str());
    fflush(stdout);
  }
};
inline Tally tally;

/// A problem in memory of the GPU.
class DeviceProblem {
public:
  DeviceProblem(const Problem &of, const Pages &pages)
      : pool(pages.pool), table(pages.table), queries(of.headPayloads),
        queryScales(of.headScales), weights(of.weights), limits(of.limits),
        scores((size_t)of.rows() * (of.columns + kScoresBeyond)),
        chosen((size_t)of.rows() * kSelected),
        chosenValues((size_t)of.rows() * kSelected) {
    scores.fill(kPoison);
    operands = {pool.get(),    pages.stride,
                table.get(),   pages.tableWidth,
                queries.get(), queryScales.get(),
                weights.get(), limits.get(),
                scores.get(),  of.columns + kScoresBeyond,
                of.groups,     of.columns,
                chosen.get(),  chosenValues.get()};
  }

private:
  DeviceArray<uint8_t> pool;
  DeviceArray<int> table;
  DeviceArray<uint8_t> queries;
  DeviceArray<uint32_t> queryScales;
  DeviceArray<float> weights;
  DeviceArray<int> limits;

public:
  DeviceArray<float> scores;
  DeviceArray<int> chosen;
  DeviceArray<float> chosenValues;
  Operands operands;
};

//===----------------------------------------------------------------------===//
// Scores
//===----------------------------------------------------------------------===//

/// Compares scores, and keeps how far they are from the reference.
template <typename Config>
class Comparison {
public:
  Comparison(const Problem &problem, const Pages &pages,
             const Reference &reference, bool exact)
      : problem(problem), pages(pages), reference(reference), exact(exact) {
    memset(&poison, kPoison, sizeof(poison));
  }

  /// Prints the first wrong scores.
  void compare(const std::vector<float> &scores, const std::string &name) {
    const int stride = problem.columns + kScoresBeyond;
    for (int row = 0; row < problem.rows(); ++row)
      for (int column = 0; column < stride; ++column) {
        const float got = scores[(size_t)row * stride + column];
        Reference::Score want{-INFINITY, 0};
        if (isRight(got, row, column, want) || ++wrong > 3)
          continue;
        printf("  %s: row %d column %d (limit %d): got %g, expected %g "
               "(magnitude %g)\n",
               name.c_str(), row, column, problem.limits[row], got, want.value,
               want.magnitude);
      }
  }
  std::string summary() const {
    char text[100];
    snprintf(text, sizeof(text), "wrong %d, worst %.2e, rms %.2e", wrong, worst,
             std::sqrt(squares / std::max<size_t>(count, 1)));
    return text;
  }

  int wrong = 0;
  double worst = 0;

private:
  bool isRight(float got, int row, int column, Reference::Score &want) {
    if (column >= std::min(problem.limits[row], problem.columns)) {
      if (Config::filled && column < problem.columns)
        return got == -INFINITY;
      return memcmp(&got, &poison, sizeof(got)) == 0;
    }
    if (!pages.has(row / problem.queries, column))
      return got == -INFINITY;
    want = reference.score(row, column);
    if (std::isnan(want.value))
      return std::isnan(got);
    if (exact)
      return got == want.value;
    const double error = std::fabs(got - want.value);
    // Near to the largest float, one that is rounded up is infinite.
    if (std::fabs(want.value) > 3.3e38 && std::isinf(got))
      return (got > 0) == (want.value > 0);
    // Relative errors of scores near to denormal floats are of no interest.
    if (want.magnitude > 1e-35) {
      const double relative = error / want.magnitude;
      worst = std::max(worst, relative);
      squares += relative * relative;
      ++count;
    }
    constexpr double bound = Config::exact ? 2e-6 : 4e-4;
    constexpr double denormal = 1e-44;
    return error <= bound * want.magnitude + denormal;
  }

  const Problem &problem;
  const Pages &pages;
  const Reference &reference;
  const bool exact;
  float poison;
  double squares = 0;
  size_t count = 0;
};

/// One check. Returns the scores.
template <typename Config>
std::vector<float> checkScores(const Problem &problem, const Pages &pages,
                               const Reference &reference, int blocks,
                               Data data) {
  DeviceProblem device(problem, pages);
  launchScores<Config>(device.operands, blocks);
  const std::vector<float> scores = device.scores.read();
  Comparison<Config> comparison(problem, pages, reference,
                                data == Data::integers);
  const std::string name =
      describe<Config>() + ", " + std::to_string(problem.groups) + "x" +
      std::to_string(problem.columns) + " " + nameOf(data) + ", " +
      std::to_string(blocks) + " blocks";
  comparison.compare(scores, name);
  double &worst = tally.worst[Config::exact];
  worst = std::max(worst, comparison.worst);
  tally.add(comparison.wrong == 0, name + ": " + comparison.summary());
  return scores;
}

/// Five checks of a config.
template <typename Config>
void checkConfig(int groups, int columns, PageOptions options = {}) {
  for (Data data : {Data::integers, Data::random, Data::hostile}) {
    const Problem problem = makeProblem<Config>(groups, columns, data,
                                                options.seed + (unsigned)data);
    const Pages pages = makePages<Config>(problem, options);
    const Reference reference(problem);
    checkScores<Config>(problem, pages, reference, kManyBlocks, data);
    // How steps are cut does not depend on the data.
    if (data != Data::integers)
      continue;
    for (int blocks : {3, 1})
      checkScores<Config>(problem, pages, reference, blocks, data);
  }
}

/// Three checks: the scores of both configs, and that they have equal bits.
template <typename Config, typename Other>
void checkSameBits(unsigned seed) {
  const Problem problem = makeProblem<Config>(7, 1000, Data::random, seed);
  const Reference reference(problem);
  const auto scores =
      checkScores<Config>(problem, makePages<Config>(problem, {5}), reference,
                          kManyBlocks, Data::random);
  const auto others = checkScores<Other>(
      problem, makePages<Other>(problem, {6}), reference, 17, Data::random);
  const bool same =
      memcmp(scores.data(), others.data(), scores.size() * sizeof(float)) == 0;
  tally.add(same, describe<Config>() + " and " + describe<Other>() +
                      (same ? ": equal bits" : ": bits differ"));
}

/// Three checks: the scores of two problems, and that those of keys which both
/// have are equal. Every other key of the second has far larger scales, and
/// elements of queries are so small that sums are near to the smallest f16.
template <typename Config>
void checkNeighbours(unsigned seed) {
  Problem problem = makeProblem<Config>(7, 1000, Data::random, seed);
  for (uint8_t &code : problem.headPayloads)
    code &= 0x87;
  std::vector<float> scores[2];
  for (std::vector<float> &of : scores) {
    const Reference reference(problem);
    of = checkScores<Config>(problem, makePages<Config>(problem, {seed}),
                             reference, kManyBlocks, Data::random);
    for (size_t key = 1; key < problem.keyCount(); key += 2)
      problem.scales[key] = 0x8C8C8C8C;
  }
  const int stride = problem.columns + kScoresBeyond;
  int wrong = 0;
  for (int row = 0; row < problem.rows(); ++row)
    for (int column = 0; column < problem.columns; column += 2)
      wrong += memcmp(&scores[0][(size_t)row * stride + column],
                      &scores[1][(size_t)row * stride + column], 4) != 0;
  tally.add(wrong == 0, describe<Config>() + " beside other keys: wrong " +
                            std::to_string(wrong));
}

/// Two checks, with exact scores: small weights beside a large one of a head
/// that adds nothing, and large ones beside infinity.
template <typename Config>
void checkWeights(unsigned seed) {
  for (bool isInfinite : {false, true}) {
    Problem problem = makeProblem<Config>(7, 500, Data::integers, seed);
    for (size_t head = 0; head < problem.headCount(); ++head) {
      float &weight = problem.weights[head];
      weight *= isInfinite ? 0x1p31f : 0x1p-25f;
      if (head % Config::heads != 0)
        continue;
      weight = isInfinite ? INFINITY : 1;
      if (!isInfinite)
        memset(&problem.headPayloads[head * problem.headBytes()], 0,
               problem.headBytes());
    }
    const Reference reference(problem);
    checkScores<Config>(problem, makePages<Config>(problem, {seed}), reference,
                        kManyBlocks, Data::integers);
  }
}

//===----------------------------------------------------------------------===//
// Selections
//===----------------------------------------------------------------------===//

/// The kSelected largest of `count` scores in the order of columns, the first
/// of equal ones; -1 for what is not there.
inline std::vector<int> selectLargest(const float *scores, int count) {
  std::vector<int> columns(std::max(count, 0));
  for (size_t i = 0; i < columns.size(); ++i)
    columns[i] = (int)i;
  std::stable_sort(columns.begin(), columns.end(),
                   [&](int a, int b) { return scores[a] > scores[b]; });
  if (columns.size() > kSelected)
    columns.resize(kSelected);
  std::sort(columns.begin(), columns.end());
  columns.resize(kSelected, -1);
  return columns;
}

/// The elements that differ from a selection of the stored scores.
inline int countWrongSelections(const Problem &problem,
                                const std::vector<float> &scores, int columns,
                                const DeviceProblem &device) {
  const std::vector<int> chosen = device.chosen.read();
  const std::vector<float> values = device.chosenValues.read();
  int wrong = 0;
  for (int row = 0; row < problem.rows(); ++row) {
    const float *rowScores = &scores[(size_t)row * (columns + kScoresBeyond)];
    const auto expected = selectLargest(rowScores, problem.limits[row]);
    for (int rank = 0; rank < kSelected; ++rank) {
      const size_t at = (size_t)row * kSelected + rank;
      const int column = expected[rank];
      wrong += chosen[at] != column ||
               (column >= 0 && values[at] != rowScores[column]);
    }
  }
  return wrong;
}

/// Six checks, for two kinds of data: the scores, and that selections from
/// tiles equal one of the stored scores.
template <typename Config>
void checkSelection(int groups, int columns, unsigned seed) {
  for (Data data : {Data::random, Data::integers}) {
    const Problem problem = makeProblem<Config>(groups, columns, data, seed);
    const Pages pages = makePages<Config>(problem, {seed, 9});
    const Reference reference(problem);
    const std::vector<float> scores =
        checkScores<Config>(problem, pages, reference, kManyBlocks, data);
    for (bool isResident : {false, true}) {
      DeviceProblem device(problem, pages);
      if (isResident)
        launchResident<Config>(device.operands);
      else
        launchSelection<Config>(device.operands);
      const int wrong = countWrongSelections(problem, scores, columns, device);
      tally.add(wrong == 0, std::string(isResident ? "resident " : "") +
                                "selection of " + describe<Config>() + ", " +
                                nameOf(data) + ": wrong " +
                                std::to_string(wrong));
    }
  }
}

} // namespace index_scores
