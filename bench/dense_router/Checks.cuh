//===- Checks.cuh - What is checked -----------------------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Logits against the reference; bits of logits and of whole routers against
// those of other batches, schedules and kernels; and choices against a
// selection on the host.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Problem.cuh"

#include <algorithm>
#include <numeric>

namespace dense_router {

/// Of a logit, relative to the sum of the magnitudes of its products.
constexpr double kBound = 1e-6;

struct Tally {
  int ran = 0, failed = 0;
  double worst = 0;

  void add(bool passed, const std::string &text) {
    ++ran;
    failed += !passed;
    printf("%s %s\n", passed ? "ok  " : "FAIL", text.c_str());
    fflush(stdout);
  }
};
inline Tally tally;

template <typename Config>
std::string nameOf(const Problem<Config> &of) {
  return describe<Config>() + ", " + std::to_string(of.rows) + " rows of " +
         nameOf(of.data);
}

//===----------------------------------------------------------------------===//
// Logits
//===----------------------------------------------------------------------===//

inline bool isRight(float got, const Reference &want, Data data) {
  if (std::isnan(want.value) || std::isinf(want.value))
    return std::isnan(want.value) ? std::isnan(got) : got == want.value;
  if (data == Data::integers)
    return got == want.value;
  const double error = std::fabs(got - want.value);
  if (want.magnitude > 0)
    tally.worst = std::max(tally.worst, error / want.magnitude);
  return error <= kBound * want.magnitude;
}

template <typename Config>
void compareLogits(const Problem<Config> &of, const std::vector<float> &logits,
                   const std::vector<Reference> &reference,
                   const std::string &name) {
  int wrong = 0;
  for (size_t i = 0; i < logits.size(); ++i)
    if (!isRight(logits[i], reference[i], of.data) && ++wrong <= 3)
      printf("  row %zu expert %zu: got %.9g, expected %.9g (magnitude %g)\n",
             i / Config::experts, i % Config::experts, logits[i],
             reference[i].value, reference[i].magnitude);
  tally.add(wrong == 0,
            nameOf(of) + ", " + name + ": wrong " + std::to_string(wrong));
}

/// The logits of router_tiles(), against the reference.
template <typename Config, typename Schedule = Config>
std::vector<float> checkTiles(Problem<Config> &of,
                              const std::vector<Reference> &reference) {
  of.poison();
  launchTiles(of.template operands<Schedule>(0, of.rows));
  const std::vector<float> logits = of.logits.read();
  compareLogits(of, logits, reference, "tiles");
  return logits;
}

__global__ void addWords(const unsigned *words, size_t count, unsigned *found) {
  for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < count;
       i += (size_t)gridDim.x * blockDim.x)
    if (words[i] != 0)
      atomicAdd(found, 1u);
}
/// The words that are not zero.
inline int countWords(const DeviceArray<unsigned> &in) {
  DeviceArray<unsigned> found(1);
  found.fill(0);
  addWords<<<countMultiprocessors(), 1024>>>(in.get(), in.size(), found.get());
  checkCuda(cudaGetLastError(), "the words of a workspace");
  return (int)found.read()[0];
}

/// The logits of router_rows() have the bits of those of other kernels, in
/// batches of any size, and leave the workspace zero. Bits that are NaN may
/// differ.
template <typename Schedule, typename Config>
void checkRows(Problem<Config> &of, const std::vector<float> &expected) {
  std::vector<int> batches = {1, 7, of.rows};
  int wrong = 0, ran = 0;
  for (int count : batches)
    for (int first : {0, of.rows / 2 - 1, of.rows - count}) {
      if (first < 0 || first + count > of.rows ||
          !of.template hasRoomFor<Schedule>(count))
        continue;
      ++ran;
      of.poison();
      launchRows(storeRows<Schedule>,
                 of.template operands<Schedule>(first, count));
      const std::vector<float> logits = of.logits.read();
      for (size_t i = 0; i < (size_t)count * Config::experts; ++i) {
        const float want = expected[(size_t)first * Config::experts + i];
        if (bitsOf(logits[i]) == bitsOf(want) ||
            (std::isnan(logits[i]) && std::isnan(want)))
          continue;
        if (++wrong <= 3)
          printf("  %d rows from %d, row %zu expert %zu: got %.9g, expected "
                 "%.9g\n",
                 count, first, i / Config::experts, i % Config::experts,
                 logits[i], want);
      }
    }
  wrong += countWords(of.workspace);
  tally.add(wrong == 0 && ran > 0,
            nameOf(of) + ", " + describeSchedule<Schedule>() + ": " +
                std::to_string(ran) + " batches, wrong " +
                std::to_string(wrong));
}

//===----------------------------------------------------------------------===//
// Routers
//===----------------------------------------------------------------------===//

inline double scoreOf(Gate gate, double logit, double largest, double sum) {
  if (gate == Gate::sigmoid)
    return 1 / (1 + std::exp(-logit));
  if (gate == Gate::sqrtSoftplus)
    return std::sqrt(std::log1p(std::exp(logit)));
  return std::exp(logit - largest) / sum;
}

/// Whether the chosen experts are the best by score + bias, in order, and have
/// the right weights: up to what fp32 rounds.
template <typename Config>
bool isRightChoice(const float *logits, const float *bias, const int *experts,
                   const float *weights) {
  constexpr int k = Config::k;
  const double largest = *std::max_element(logits, logits + Config::experts);
  double sum = 0;
  for (int i = 0; i < Config::experts; ++i)
    sum += std::exp(logits[i] - largest);
  std::vector<double> scores(Config::experts), keys(Config::experts);
  for (int i = 0; i < Config::experts; ++i) {
    scores[i] = scoreOf(Config::gate, logits[i], largest, sum);
    keys[i] = scores[i] + bias[i];
  }
  std::vector<double> sorted = keys;
  std::sort(sorted.rbegin(), sorted.rend());
  double all = 0;
  for (int rank = 0; rank < k; ++rank) {
    if (experts[rank] < 0 || experts[rank] >= Config::experts ||
        std::count(experts, experts + k, experts[rank]) != 1 ||
        std::fabs(keys[experts[rank]] - sorted[rank]) > 1e-6)
      return false;
    all += scores[experts[rank]];
  }
  for (int rank = 0; rank < k; ++rank)
    if (std::fabs(weights[rank] - 1.5 * scores[experts[rank]] / all) > 1e-5)
      return false;
  return true;
}

/// Three checks: the router of stored logits chooses the best, and the others
/// have the same bits.
template <typename Config, typename Schedule>
void checkRouter(int rows, unsigned seed) {
  Problem<Config> of(rows, Data::random, seed);
  launchTiles<Config>(of.operands(0, rows));
  launchRoute<Config>(of.operands(0, rows));
  const auto logits = of.logits.read();
  const auto experts = of.experts.read();
  const auto weights = of.shares.read();
  std::vector<float> bias(Config::experts);
  checkCuda(cudaMemcpy(bias.data(), of.operands(0, rows).bias,
                       bias.size() * sizeof(float), cudaMemcpyDefault),
            "the bias");
  int wrong = 0;
  for (int row = 0; row < rows; ++row)
    wrong += !isRightChoice<Config>(
        &logits[(size_t)row * Config::experts], bias.data(),
        &experts[(size_t)row * Config::k], &weights[(size_t)row * Config::k]);
  tally.add(wrong == 0, "router of " + nameOf(of) + ": wrong rows " +
                            std::to_string(wrong));
  const auto compare = [&](const char *what) {
    const bool same = of.experts.read() == experts &&
                      memcmp(of.shares.read().data(), weights.data(),
                             weights.size() * sizeof(float)) == 0;
    tally.add(same, std::string(what) + " of " + nameOf(of) + ", " +
                        describeSchedule<Schedule>() +
                        (same ? ": equal bits" : ": bits differ"));
    of.poison();
  };
  of.poison();
  // Several launches use the workspace one after another, and may overlap.
  const auto operands = of.template operands<Schedule>(0, rows);
  for (int i = 0; i < 5; ++i)
    launchRows(routeRows<Schedule>, operands, {i % 2 == 1});
  compare("router");
  for (int i = 0; i < 5; ++i) {
    launchRows(storeParts<Schedule>, operands, {i % 2 == 1});
    launchJoin(operands, {i % 2 == 1});
  }
  compare("router in two kernels");
}

//===----------------------------------------------------------------------===//
// All checks
//===----------------------------------------------------------------------===//

#if __CUDA_ARCH_LIST__ >= 900
constexpr bool kHasClusters = true;
#else
constexpr bool kHasClusters = false;
#endif

/// A router with its usual schedules.
template <typename Config>
void checkConfig(int rows, int padding = 0) {
  for (Data data : {Data::integers, Data::random, Data::hostile}) {
    Problem<Config> of(rows, data, 7 + (unsigned)data, padding);
    const auto reference = of.reference();
    const auto logits = checkTiles(of, reference);
    checkRows<Scheduled<Config, 8, 32, 4>>(of, logits);
    checkRows<Waiting<Scheduled<Config, 64, 16, 1>, 0>>(of, logits);
    checkRows<Scheduled<Config, 24, 48, 2>>(of, logits);
  }
}
/// And with clusters of `Blocks`.
template <typename Config, int Blocks, bool Multicast>
void checkClusters(int rows, int padding = 0) {
  checkConfig<Config>(rows, padding);
  if constexpr (kHasClusters)
    for (Data data : {Data::random, Data::hostile}) {
      Problem<Config> of(rows, data, 17 + (unsigned)data, padding);
      const auto logits =
          checkTiles<Config, Staged<Config, 128, 2>>(of, of.reference());
      checkRows<Waiting<Scheduled<Config, 64, 32, 2, Blocks>, 1>>(of, logits);
      checkRows<Scheduled<Config, 16, 32, 4, Blocks, Multicast>>(of, logits);
      checkRows<Scheduled<Config, 64, 32, 4, Blocks, Multicast>>(of, logits);
    }
}

inline void checkSmall() {
  checkClusters<Router<64, 1032>, 2, true>(9, 8);
  checkConfig<Aligned<Router<17, 131>, 2>>(5, 1);
  checkConfig<Router<33, 264, 8, Gate::sigmoid, float>>(10, 8);
  checkRouter<Router<256, 640, 6, Gate::softmax>,
              Scheduled<Router<256, 640, 6, Gate::softmax>, 8, 64, 2>>(9, 3);
}

inline void checkRouters() {
  using Softplus = Router<256, 7168, 6, Gate::sqrtSoftplus>;
  using Sigmoid = Router<256, 7168>;
  using Softmax = Router<256, 7168, 8, Gate::softmax>;
  using Odd = Router<157, 2048>;
  for (int rows : {1, 7, 64, 300}) {
    checkRouter<Softplus, Scheduled<Softplus, 8, 32, 4>>(rows, 1);
    checkRouter<Sigmoid, Scheduled<Sigmoid, 64, 64, 2>>(rows, 2);
    checkRouter<Softmax, Scheduled<Softmax, 16, 64, 4>>(rows, 3);
    checkRouter<Odd, Waiting<Scheduled<Odd, 8, 16, 1>, 2>>(rows, 4);
    if constexpr (kHasClusters) {
      checkRouter<Softplus, Scheduled<Softplus, 64, 32, 4, 8, true>>(rows, 5);
      checkRouter<Sigmoid, Scheduled<Sigmoid, 16, 32, 2, 4>>(rows, 6);
      checkRouter<Sigmoid, Waiting<Scheduled<Sigmoid, 64, 32, 4, 8, true>, 64>>(
          rows, 7);
      checkRouter<Sigmoid, Waiting<Scheduled<Sigmoid, 64, 32, 4, 8, true>, 1>>(
          rows, 8);
    }
  }
}

inline void checkAll() {
  checkSmall();
  checkClusters<Router<256, 7168>, 8, true>(64);
  checkClusters<Router<256, 7168>, 8, true>(4096);
  checkClusters<Router<512, 8192>, 8, true>(130, 8);
  checkClusters<Router<160, 5120>, 5, true>(100);
  checkClusters<Aligned<Router<384, 7172>, 8>, 4, false>(70, 4);
  checkClusters<Router<256, 7168, 8, Gate::sigmoid, float>, 8, true>(200);
  checkConfig<Aligned<Router<128, 1001>, 2>>(70, 2);
  checkConfig<Aligned<Router<100, 700, 8, Gate::sigmoid, float>, 4>>(65, 2);
  checkConfig<Router<1, 8>>(3);
  checkRouters();
}

} // namespace dense_router
