//===- Times.cuh - What is timed --------------------------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Times of routers beside copies of their weights and an empty kernel. Launches
// are those of a graph over several sets of weights, 200 MB and more together,
// so that no weights are in the L2 cache. Hidden rows are in it ("warm"), as
// after the kernel that makes them, or there is a set for each set of weights
// ("cold").
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Problem.cuh"

namespace dense_router {

//===----------------------------------------------------------------------===//
// Kernels beside the measured ones
//===----------------------------------------------------------------------===//

constexpr int kCopyThreads = 256, kFillThreads = 256;

__global__ void __launch_bounds__(kCopyThreads) doNothing() {
  dsv4::wait_for_previous_kernel();
  dsv4::launch_dependents();
}

/// A thread copies `Vectors` vectors.
template <int Vectors>
__global__ void __launch_bounds__(kCopyThreads)
    copyAll(uint4 *to, const uint4 *from, size_t count) {
  dsv4::wait_for_previous_kernel();
  dsv4::launch_dependents();
  const size_t first =
      (size_t)blockIdx.x * kCopyThreads * Vectors + threadIdx.x;
  uint4 vectors[Vectors];
#pragma unroll
  for (int i = 0; i < Vectors; ++i)
    if (first + i * kCopyThreads < count)
      vectors[i] = from[first + i * kCopyThreads];
#pragma unroll
  for (int i = 0; i < Vectors; ++i)
    if (first + i * kCopyThreads < count)
      to[first + i * kCopyThreads] = vectors[i];
}

template <typename T>
__device__ T roundTo(float value) {
  if constexpr (sizeof(T) == 4)
    return value;
  else
    return T{(unsigned short)dsv4::cvt_bf16x2_f32(value, value)};
}

/// Sums of uniform numbers, of this deviation.
template <typename T>
__global__ void fillRandom(T *to, size_t count, float deviation) {
  const size_t at = (size_t)blockIdx.x * kFillThreads + threadIdx.x;
  if (at >= count)
    return;
  const unsigned long long bits = device_bench::randomBits(at);
  float sum = 0;
  for (int i = 0; i < 4; ++i)
    sum += (float)(bits >> 16 * i & 0xFFFF) / 65536.0f - 0.5f;
  to[at] = roundTo<T>(sum * deviation * 1.7320508f);
}

/// Keeps the GPU busy, so that its clocks are those of steady work.
__global__ void spin(long long clocks) {
  const long long begin = clock64();
  while (clock64() - begin < clocks)
    ;
}

//===----------------------------------------------------------------------===//
// Workloads
//===----------------------------------------------------------------------===//

/// Times of the schedules of a router.
template <typename Config>
class Workload {
public:
  explicit Workload(int rows)
      : rows(rows), sets((int)(kBytes / weightBytes) + 1),
        weights((size_t)sets * Config::experts * Config::depth),
        hidden((size_t)sets * rows * Config::depth), copies(weights.size()),
        workspace((size_t)32 << 20), partials((size_t)32 << 20),
        logits((size_t)rows * Config::experts), bias(Config::experts),
        experts((size_t)rows * Config::k), shares((size_t)rows * Config::k) {
    printf("== %s, %d rows\n", describe<Config>().c_str(), rows);
    fill(weights, 1 / std::sqrt((float)Config::depth));
    fill(hidden, 1);
    workspace.fill(0);
    bias.fill(0);
    checkCuda(cudaDeviceSynchronize(), "random rows");
  }

  void timeCopies() {
    for (bool early : {false, true})
      endLine(time("empty", early, [&](int, LaunchOptions options) {
        launchKernel(doNothing, countMultiprocessors(), kCopyThreads, 0, 1,
                     options);
      }));
    best = timeCopy<1>(false);
    best = std::min(best, timeCopy<2>(false));
    best = std::min(best, timeCopy<4>(false));
    bestEarly = timeCopy<1>(true);
    bestEarly = std::min(bestEarly, timeCopy<2>(true));
    bestEarly = std::min(bestEarly, timeCopy<4>(true));
    printf("%-62s %7.2f us\n", "best copy of the weights", best);
    printf("%-62s %7.2f us\n", "best copy of the weights, early", bestEarly);
  }
  template <typename Schedule>
  void timeRows() {
    const std::string name = "one, " + describeSchedule<Schedule>();
    for (bool early : {false, true})
      for (bool warm : {true, false})
        endLine(time(name + (warm ? "" : ", cold"), early,
                     [&](int set, LaunchOptions options) {
                       launchRows(routeRows<Schedule>, of<Schedule>(set, warm),
                                  options);
                     }),
                early);
  }
  /// The two kernels of a router.
  template <typename Schedule>
  void timeParts() {
    const std::string name = "two, " + describeSchedule<Schedule>();
    for (bool early : {false, true})
      for (bool warm : {true, false})
        endLine(time(name + (warm ? "" : ", cold"), early,
                     [&](int set, LaunchOptions options) {
                       const auto operands = of<Schedule>(set, warm);
                       launchRows(storeParts<Schedule>, operands, options);
                       launchJoin(operands, options);
                     }),
                early);
  }
  template <typename Schedule>
  void timeTiles() {
    const std::string name = std::to_string(Schedule::stages) + " steps of " +
                             std::to_string(Schedule::step);
    for (bool early : {false, true})
      endLine(time("tiles and a router, " + name, early,
                   [&](int set, LaunchOptions options) {
                     launchTiles(of<Schedule>(set, false), options);
                     launchRoute(of<Schedule>(set, false), options);
                   }),
              early);
    endLine(time("tiles, " + name, false, [&](int set, LaunchOptions options) {
      launchTiles(of<Schedule>(set, false), options);
    }));
  }

private:
  using Weight = typename Config::Weight;
  static constexpr size_t kBytes = 220'000'000;
  static constexpr size_t weightBytes =
      (size_t)Config::experts * Config::depth * sizeof(Weight);

  template <typename T>
  static void fill(DeviceArray<T> &array, float deviation) {
    const size_t blocks = (array.size() + kFillThreads - 1) / kFillThreads;
    fillRandom<<<(unsigned)blocks, kFillThreads>>>(array.get(), array.size(),
                                                   deviation);
    checkCuda(cudaGetLastError(), "random rows");
  }

  template <typename Schedule>
  Operands<Schedule> of(int set, bool warm) const {
    return {{hidden.get() + (warm ? 0 : (size_t)set * rows * Config::depth),
             Config::depth,
             weights.get() + (size_t)set * Config::experts * Config::depth,
             Config::depth, rows},
            workspace.get(),
            partials.get(),
            logits.get(),
            bias.get(),
            experts.get(),
            shares.get()};
  }

  template <typename Launch>
  double time(const std::string &name, bool early, Launch launch) {
    const double us = timeGraph(2 * sets, [&](int at, cudaStream_t stream) {
      launch(at % sets, LaunchOptions{early, stream});
    });
    printf("%-62s %7.2f us", (name + (early ? ", early" : "")).c_str(), us);
    return us;
  }
  void endLine(double us, bool early) {
    printf("  %.2fx, %.2fx\n", us / (early ? bestEarly : best), us / best);
    fflush(stdout);
  }
  static double endLine(double us) {
    printf("\n");
    return us;
  }
  template <int Vectors>
  double timeCopy(bool early) {
    constexpr size_t count = weightBytes / sizeof(uint4);
    constexpr size_t perBlock = (size_t)kCopyThreads * Vectors;
    return endLine(time(
        "copy, " + std::to_string(Vectors) + " x 16 B", early,
        [&](int set, LaunchOptions options) {
          launchKernel(copyAll<Vectors>,
                       (int)((count + perBlock - 1) / perBlock), kCopyThreads,
                       0, 1, options, (uint4 *)copies.get() + set * count,
                       (const uint4 *)weights.get() + set * count, count);
        }));
  }

  const int rows, sets;
  double best = 0, bestEarly = 0;
  DeviceArray<Weight> weights;
  DeviceArray<dsv4::bf16> hidden;
  DeviceArray<Weight> copies;
  DeviceArray<unsigned> workspace;
  DeviceArray<float> partials;
  DeviceArray<float> logits;
  DeviceArray<float> bias;
  DeviceArray<int> experts;
  DeviceArray<float> shares;
};

//===----------------------------------------------------------------------===//
// All times
//===----------------------------------------------------------------------===//

template <typename Config>
void timeFew(int rows) {
  Workload<Config> of(rows);
  of.timeCopies();
  of.template timeRows<Scheduled<Config, 8, 16, 4>>();
  of.template timeRows<Scheduled<Config, 8, 32, 4>>();
  of.template timeRows<Scheduled<Config, 8, 64, 2>>();
  of.template timeRows<Scheduled<Config, 8, 64, 4>>();
  of.template timeRows<Scheduled<Config, 8, 32, 4, 8, true>>();
  of.template timeParts<Scheduled<Config, 8, 32, 4>>();
  of.template timeParts<Scheduled<Config, 8, 64, 4>>();
}
template <typename Config, int Rows>
void timeMore(int rows) {
  Workload<Config> of(rows);
  of.timeCopies();
  of.template timeRows<Scheduled<Config, Rows, 32, 4, 8, true>>();
  of.template timeRows<Scheduled<Config, Rows / 2, 32, 4, 8, true>>();
  of.template timeParts<Scheduled<Config, Rows, 64, 2>>();
  of.template timeParts<Scheduled<Config, Rows, 32, 4, 8, true>>();
  of.template timeParts<Scheduled<Config, Rows / 2, 32, 4, 8, true>>();
  of.template timeParts<Scheduled<Config, Rows, 64, 2, 4, true>>();
  of.template timeParts<Scheduled<Config, Rows, 64, 4, 4, true>>();
}
template <typename Config>
void timeMany(int rows) {
  Workload<Config> of(rows);
  of.timeCopies();
  if (rows <= 1024)
    of.template timeParts<Scheduled<Config, 64, 64, 2>>();
  if (rows <= 1024)
    of.template timeParts<Scheduled<Config, 64, 32, 4, 8, true>>();
  of.template timeTiles<Staged<Config, 64, 4>>();
  of.template timeTiles<Staged<Config, 64, 8>>();
  of.template timeTiles<Staged<Config, 128, 4>>();
}

inline void timeAll() {
  spin<<<countMultiprocessors(), 256>>>(4'000'000'000);
  checkCuda(cudaDeviceSynchronize(), "warming up");
  using Usual = Router<256, 7168>;
  timeFew<Usual>(1);
  timeFew<Usual>(8);
  timeMore<Usual, 16>(16);
  timeMore<Usual, 64>(64);
  // The first times differ: an empty kernel takes less.
  timeFew<Usual>(1);
  for (int rows : {256, 1024, 4096})
    timeMany<Usual>(rows);
  timeFew<Router<512, 8192>>(1);
  timeMore<Router<512, 8192>, 64>(64);
}

} // namespace dense_router
