//===- Problem.cuh - Rows, weights and their reference ----------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Random problems in memory of the GPU, and their logits in double precision,
// by a kernel that shares no code with the device library.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Kernels.cuh"

#include <cmath>
#include <cstring>
#include <random>
#include <vector>

namespace dense_router {

/// integers: small ones, of which all sums are exact. random: normally
/// distributed. hostile: random, but a row and an expert have a NaN, another
/// expert an infinity.
enum class Data { integers, random, hostile };

inline const char *nameOf(Data data) {
  return data == Data::integers ? "integers"
         : data == Data::random ? "random"
                                : "hostile";
}

inline uint32_t bitsOf(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof(bits));
  return bits;
}
/// Rounded to the nearest, ties to even.
inline uint16_t bf16BitsOf(float value) {
  const uint32_t bits = bitsOf(value);
  if (std::isnan(value))
    return 0x7FFF;
  return (uint16_t)((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}
inline void put(dsv4::bf16 &to, float value) { to.bits = bf16BitsOf(value); }
inline void put(float &to, float value) { to = value; }

/// Rows of `stride` elements, those beyond `depth` NaN. `integers` is the
/// largest magnitude, or 0.
template <typename T>
std::vector<T> randomRows(int rows, int depth, int stride, int integers,
                          float deviation, std::mt19937 &engine) {
  std::vector<T> made((size_t)rows * stride);
  std::normal_distribution<float> normal(0, deviation);
  for (int row = 0; row < rows; ++row)
    for (int i = 0; i < stride; ++i) {
      float value = NAN;
      if (i < depth)
        value = integers
                    ? (float)((int)(engine() % (2 * integers + 1)) - integers)
                    : normal(engine);
      put(made[(size_t)row * stride + i], value);
    }
  return made;
}

//===----------------------------------------------------------------------===//
// The reference
//===----------------------------------------------------------------------===//

struct Reference {
  double value, magnitude;
};

__device__ inline double numberOf(dsv4::bf16 of) {
  return __uint_as_float((unsigned)of.bits << 16);
}
__device__ inline double numberOf(float of) { return of; }

constexpr int kReferenceThreads = 256;

/// A warp for each row and expert.
template <typename Config>
__global__ void __launch_bounds__(kReferenceThreads)
    computeReference(dsv4::RouterOperands<Config> of, Reference *to) {
  const long long at =
      ((long long)blockIdx.x * kReferenceThreads + threadIdx.x) / 32;
  if (at >= (long long)of.rows * Config::experts)
    return;
  const auto *row = of.hidden + at / Config::experts * of.hidden_stride;
  const auto *weights = of.weights + at % Config::experts * of.weight_stride;
  double sum = 0, magnitude = 0;
  for (int i = threadIdx.x % 32; i < Config::depth; i += 32) {
    const double product = numberOf(row[i]) * numberOf(weights[i]);
    sum += product;
    magnitude += fabs(product);
  }
  for (int distance = 16; distance > 0; distance /= 2) {
    sum += __shfl_xor_sync(~0u, sum, distance);
    magnitude += __shfl_xor_sync(~0u, magnitude, distance);
  }
  if (threadIdx.x % 32 == 0)
    to[at] = {sum, magnitude};
}

//===----------------------------------------------------------------------===//
// Problems
//===----------------------------------------------------------------------===//

/// What kernels of any schedule of a router run on.
template <typename Config>
class Problem {
public:
  using Weight = typename Config::Weight;

  /// Strides have as many elements more than rows as the alignment allows.
  Problem(int rows, Data data, unsigned seed, int padding = 0)
      : rows(rows), data(data), hiddenStride(Config::depth + padding),
        weightStride(Config::depth + 2 * padding), engine(seed),
        hidden(makeHidden()), weights(makeWeights()),
        bias(randomRows<float>(1, Config::experts, Config::experts, 0, 0.1f,
                               engine)),
        workspace(kMaxPartials), partials(kMaxPartials),
        logits((size_t)rows * Config::experts),
        experts((size_t)rows * Config::k), shares((size_t)rows * Config::k) {
    workspace.fill(0);
    partials.fill(0xFF); // NaN
    poison();
  }

  void poison() {
    logits.fill(0xFF);
    experts.fill(0xFF);
    shares.fill(0xFF);
  }

  /// `count` rows from row `first` on, for a schedule of the same router.
  template <typename Schedule = Config>
  Operands<Schedule> operands(int first, int count) const {
    return {{hidden.get() + (long long)first * hiddenStride, hiddenStride,
             weights.get(), weightStride, count},
            workspace.get(),
            partials.get(),
            logits.get(),
            bias.get(),
            experts.get(),
            shares.get()};
  }
  template <typename Schedule>
  bool hasRoomFor(int count) const {
    using Shape = dsv4::RouterRowsShape<Schedule>;
    return (size_t)countRowBlocks<Schedule>(count) * Shape::workspace <=
           kMaxPartials;
  }

  std::vector<Reference> reference() const {
    DeviceArray<Reference> to((size_t)rows * Config::experts);
    const size_t blocks =
        (to.size() * 32 + kReferenceThreads - 1) / kReferenceThreads;
    computeReference<Config>
        <<<blocks, kReferenceThreads>>>(operands(0, rows).of, to.get());
    checkCuda(cudaGetLastError(), "the reference");
    return to.read();
  }

  const int rows;
  const Data data;

private:
  static constexpr size_t kMaxPartials = 64 << 20;

  std::vector<dsv4::bf16> makeHidden() {
    auto made =
        randomRows<dsv4::bf16>(rows, Config::depth, hiddenStride,
                               data == Data::integers ? 8 : 0, 1, engine);
    if (data == Data::hostile)
      put(made[(size_t)(rows / 2) * hiddenStride + Config::depth - 1], NAN);
    return made;
  }
  std::vector<Weight> makeWeights() {
    const float deviation = 1 / std::sqrt((float)Config::depth);
    auto made =
        randomRows<Weight>(Config::experts, Config::depth, weightStride,
                           data == Data::integers ? 8 : 0, deviation, engine);
    if (data == Data::hostile) {
      put(made[(size_t)(Config::experts / 3) * weightStride + 1], NAN);
      put(made[(size_t)(Config::experts / 2) * weightStride], INFINITY);
    }
    return made;
  }

  const long long hiddenStride, weightStride;
  std::mt19937 engine;
  DeviceArray<dsv4::bf16> hidden;
  DeviceArray<Weight> weights;
  DeviceArray<float> bias;

public:
  DeviceArray<unsigned> workspace;
  DeviceArray<float> partials;
  DeviceArray<float> logits;
  DeviceArray<int> experts;
  DeviceArray<float> shares;
};

} // namespace dense_router
