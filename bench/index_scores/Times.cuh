//===- Times.cuh - What is timed --------------------------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Times of scores beside the floor: a kernel that only reads the same bytes.
// Launches are those of a graph over several sets of pages, 200 MB and more
// together, so that no keys are in the L2 cache. Data are random, never zeros.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Kernels.cuh"

#include <random>

namespace index_scores {

//===----------------------------------------------------------------------===//
// Kernels around the measured ones
//===----------------------------------------------------------------------===//

constexpr int kReadThreads = 512, kFillThreads = 256;

/// Reads `count` vectors, eight at once in each thread.
__global__ void __launch_bounds__(kReadThreads)
    readAll(const uint4 *from, size_t count, unsigned *sink) {
  constexpr int batch = 8;
  const size_t step = (size_t)gridDim.x * kReadThreads;
  size_t at = (size_t)blockIdx.x * kReadThreads + threadIdx.x;
  unsigned sum = 0;
  for (; at + (batch - 1) * step < count; at += batch * step) {
    uint4 vectors[batch];
#pragma unroll
    for (int i = 0; i < batch; ++i)
      vectors[i] = __ldcs(from + at + i * step);
#pragma unroll
    for (int i = 0; i < batch; ++i)
      sum ^= vectors[i].x ^ vectors[i].y ^ vectors[i].z ^ vectors[i].w;
  }
  for (; at < count; at += step)
    sum ^= from[at].x ^ from[at].y ^ from[at].z ^ from[at].w;
  // Hardly ever, but the compiler must keep the loads.
  if (sum == 0x12345)
    *sink = sum;
}

/// Random bits under a mask.
__global__ void fillRandom(uint4 *to, size_t count, unsigned mask) {
  const size_t at = (size_t)blockIdx.x * kFillThreads + threadIdx.x;
  if (at >= count)
    return;
  const unsigned long long bits = device_bench::randomBits(at);
  to[at] = make_uint4((unsigned)bits & mask, (unsigned)(bits >> 32) & mask,
                      (unsigned)(bits * 3) & mask, (unsigned)(bits * 5) & mask);
}

/// Scales of pages of `entries`: four UE8M0 from 2^-7 to 1, or a float from
/// 2^-7 to 2^-6.
__global__ void fillScales(unsigned char *pool, long long pages,
                           long long stride, int scalesAt, int entries,
                           bool fp4) {
  const long long at = (long long)blockIdx.x * kFillThreads + threadIdx.x;
  if (at >= pages * entries)
    return;
  unsigned *to = (unsigned *)(pool + at / entries * stride + scalesAt);
  const unsigned hash = (unsigned)(at * 2654435761u);
  unsigned scales = 0;
  for (int i = 0; i < 4; ++i)
    scales |= (120 + (hash >> 3 * i & 7)) << 8 * i;
  to[at % entries] = fp4 ? scales : 0x3C000000u + (hash & 0x7FFFFF);
}

//===----------------------------------------------------------------------===//
// Workloads
//===----------------------------------------------------------------------===//

/// Groups with keys in shuffled pages, in several sets that launches take in
/// turn. All limits are the number of columns.
class Workload {
public:
  static constexpr int heads = 64, pageSize = 64;

  Workload(IndexFormat keys, int queries, int groups, int columns, int sets)
      : fp4(keys == IndexFormat::mxfp4), rows(groups * queries), sets(sets),
        pages((size_t)groups * (columns / pageSize) * sets),
        bytes(pages / sets * stride()), pool(pages * stride()),
        table(shuffledPages()), payloads(randomBytes()),
        scales(std::vector<uint32_t>((size_t)rows * heads, 0x7F7F7F7F)),
        weights(randomWeights()), limits(std::vector<int>(rows, columns)),
        scores((size_t)rows * columns), chosen((size_t)rows * kSelected),
        chosenValues((size_t)rows * kSelected), sink(1) {
    printf("== %s, %d x %d", fp4 ? "mxfp4" : "e4m3", groups, columns);
    printf(queries > 1 ? ", %d queries\n" : "\n", queries);
    operands = {
        pool.get(),     stride(),          table.get(),   columns / pageSize,
        payloads.get(), scales.get(),      weights.get(), limits.get(),
        scores.get(),   columns,           groups,        columns,
        chosen.get(),   chosenValues.get()};
    const size_t vectors = pool.size() / sizeof(uint4);
    // The mask keeps E4M3 below 2, and none is NaN.
    fillRandom<<<blocksFor(vectors), kFillThreads>>>(
        (uint4 *)pool.get(), vectors, fp4 ? ~0u : 0xBFBFBFBFu);
    fillScales<<<blocksFor(pages * pageSize), kFillThreads>>>(
        pool.get(), (long long)pages, stride(), pageSize * payloadBytes(),
        pageSize, fp4);
    checkCuda(cudaDeviceSynchronize(), "random keys");
  }

  void timeFloor() {
    for (int blocks : {1, 2, 4})
      time("read only, " + std::to_string(blocks) + " blocks per SM",
           [&](int set, cudaStream_t stream) {
             readAll<<<countMultiprocessors() * blocks, kReadThreads, 0,
                       stream>>>((const uint4 *)(pool.get() + set * bytes),
                                 bytes / sizeof(uint4), sink.get());
           });
  }
  template <typename Config>
  void timeScores() {
    static_assert(Config::heads <= heads && Config::page_size == pageSize,
                  "a config of the operands");
    time("scores, " + describe<Config>(), [&](int set, cudaStream_t stream) {
      launchScores<Config>(of(set), countMultiprocessors(), stream);
    });
  }
  template <typename Config>
  void timeSelection() {
    time("selection from tiles, " + describe<Config>(),
         [&](int set, cudaStream_t stream) {
           launchSelection<Config>(of(set), stream);
         });
  }
  template <typename Config>
  void timeResident() {
    time("resident selection, " + describe<Config>(),
         [&](int set, cudaStream_t stream) {
           launchResident<Config>(of(set), stream);
         });
  }

private:
  template <typename Launch>
  void time(const std::string &name, Launch launch) {
    const double us = timeGraph(2 * sets, [&](int at, cudaStream_t stream) {
      launch(at % sets, stream);
    });
    printf("%-48s %8.2f us (%.2f TB/s)\n", name.c_str(), us, bytes / us * 1e-6);
    fflush(stdout);
  }
  Operands of(int set) const {
    Operands own = operands;
    own.table += pages / sets * set;
    return own;
  }
  int payloadBytes() const { return fp4 ? 64 : 128; }
  long long stride() const { return pageSize * (payloadBytes() + 4); }
  static unsigned blocksFor(size_t threads) {
    return (unsigned)((threads + kFillThreads - 1) / kFillThreads);
  }
  std::vector<int> shuffledPages() {
    std::vector<int> order(pages);
    for (size_t i = 0; i < pages; ++i)
      order[i] = (int)i;
    std::shuffle(order.begin(), order.end(), engine);
    return order;
  }
  std::vector<uint8_t> randomBytes() {
    std::vector<uint8_t> made((size_t)rows * heads * 128);
    for (uint8_t &byte : made)
      byte = engine() & 0xBF;
    return made;
  }
  std::vector<float> randomWeights() {
    std::vector<float> made((size_t)rows * heads);
    for (float &weight : made)
      weight = ((int)(engine() % 2000) - 1000) / 1000.0f;
    return made;
  }

  std::mt19937 engine{3};
  const bool fp4;
  const int rows, sets;
  const size_t pages, bytes; // Pages of all sets, bytes of one.
  DeviceArray<uint8_t> pool;
  DeviceArray<int> table;
  DeviceArray<uint8_t> payloads;
  DeviceArray<uint32_t> scales;
  DeviceArray<float> weights;
  DeviceArray<int> limits;
  DeviceArray<float> scores;
  DeviceArray<int> chosen;
  DeviceArray<float> chosenValues;
  DeviceArray<unsigned> sink;
  Operands operands;
};

//===----------------------------------------------------------------------===//
// All times
//===----------------------------------------------------------------------===//

#if INDEX_SCORES_FALLBACK

inline void timeAll() {
  {
    Workload of(IndexFormat::mxfp4, 1, 64, 32768, 4);
    of.timeFloor();
    of.timeScores<Mxfp4>();
    of.timeScores<Scheduled<Mxfp4, 3, 1, 6>>();
  }
  Workload of(IndexFormat::e4m3, 1, 64, 32768, 2);
  of.timeFloor();
  of.timeScores<Scheduled<E4m3, 3, 1, 6>>();
}

#else

inline void timeMxfp4(Workload &of) {
  of.timeFloor();
  of.timeScores<Scheduled<Mxfp4, 3, 2, 12>>();
  of.timeScores<Scheduled<Mxfp4, 3, 2, 6>>();
  of.timeScores<Scheduled<Mxfp4, 2, 2, 12>>();
  of.timeScores<Scheduled<Mxfp4, 4, 1, 12>>();
  of.timeScores<Scheduled<Mxfp4, 5, 1, 20>>();
  of.timeScores<Scheduled<Mxfp4, 3, 1, 18>>();
}
inline void timeE4m3(Workload &of) {
  of.timeFloor();
  of.timeScores<Scheduled<E4m3, 3, 2, 6>>();
  of.timeScores<Scheduled<E4m3, 3, 2, 12>>();
  of.timeScores<Scheduled<E4m3, 2, 2, 8>>();
  of.timeScores<Scheduled<E4m3, 4, 1, 12>>();
  of.timeScores<Scheduled<E4m3, 5, 1, 10>>();
  of.timeScores<Scheduled<E4m3, 3, 1, 12>>();
}

inline void timeMxfp4Sizes() {
  {
    Workload of(IndexFormat::mxfp4, 1, 64, 32768, 4);
    timeMxfp4(of);
    using Heads32 = WithHeads<Mxfp4, 32>;
    of.timeScores<Scheduled<Heads32, 3, 2, 12>>();
    of.timeScores<Scheduled<Heads32, 2, 2, 12>>();
    of.timeScores<Scheduled<ExactMxfp4, 3, 1, 18>>();
    of.timeScores<Scheduled<ExactMxfp4, 2, 1, 12>>();
    of.timeSelection<Scheduled<Mxfp4, 3, 2, 12>>();
    of.timeSelection<Scheduled<Mxfp4, 4, 1, 12>>();
    of.timeResident<Scheduled<Mxfp4, 3, 2, 6>>();
  }
  {
    Workload of(IndexFormat::mxfp4, 1, 1, 262144, 16);
    timeMxfp4(of);
  }
  Workload of(IndexFormat::mxfp4, 1, 64, 8192, 8);
  timeMxfp4(of);
  of.timeSelection<Scheduled<Mxfp4, 3, 2, 12>>();
}

inline void timeE4m3Sizes() {
  {
    Workload of(IndexFormat::e4m3, 1, 64, 32768, 2);
    timeE4m3(of);
    of.timeScores<Scheduled<ExactE4m3, 3, 1, 12>>();
    of.timeScores<Scheduled<ExactE4m3, 2, 1, 12>>();
    of.timeResident<Scheduled<E4m3, 3, 2, 6>>();
  }
  Workload of(IndexFormat::e4m3, 1, 1, 262144, 8);
  timeE4m3(of);
}

inline void timeQueries() {
  {
    using Queries2 = WithQueries<Mxfp4, 2>;
    Workload of(IndexFormat::mxfp4, 2, 64, 32768, 3);
    of.timeScores<Scheduled<Queries2, 3, 2, 12>>();
    of.timeScores<Scheduled<Queries2, 2, 2, 12>>();
    of.timeScores<Scheduled<Queries2, 4, 1, 12>>();
  }
  {
    using Queries4 = WithQueries<Mxfp4, 4>;
    Workload of(IndexFormat::mxfp4, 4, 64, 32768, 3);
    of.timeScores<Scheduled<Queries4, 3, 2, 12>>();
    of.timeScores<Scheduled<Queries4, 3, 2, 6>>();
    of.timeScores<Scheduled<Queries4, 2, 2, 12>>();
    of.timeScores<Scheduled<Queries4, 4, 1, 20>>();
  }
  Workload of(IndexFormat::mxfp4, 8, 64, 8192, 8);
  of.timeScores<OneSlot<Scheduled<WithQueries<Mxfp4, 8>, 3, 1, 12>>>();
  of.timeScores<OneSlot<Scheduled<WithQueries<Mxfp4, 8>, 3, 2, 6>>>();
}

inline void timeAll() {
  timeMxfp4Sizes();
  timeE4m3Sizes();
  timeQueries();
}

#endif

} // namespace index_scores
