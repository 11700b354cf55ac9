//===- CompressFixture.h - A compress and its launch ------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_TEST_UNIT_REFERENCE_COMPRESSFIXTURE_H
#define DSV4_TEST_UNIT_REFERENCE_COMPRESSFIXTURE_H

#include "InterpreterFixture.h"

#include <array>
#include <cmath>
#include <limits>

namespace dsv4::reference {

inline constexpr float kInfinity = std::numeric_limits<float>::infinity();
inline constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
/// A number that is in no expected result.
inline constexpr float kOther = 77777;

/// A state of one or two rows of `columns` numbers.
inline std::string cache(int page, int columns,
                         const std::string &where = "row",
                         const std::string &type = "f32") {
  std::string rest =
      std::to_string(columns) + " x " + type + " in " + where + ">";
  return "!dsv4.cache<" + std::to_string(page) + " x <[<\"v\" : " + rest +
         ", <\"s\" : " + rest + "]>>";
}

/// What an op has besides its values, scores, plan and destination, which are
/// bindings 0 to 3.
struct More {
  std::string arguments, operands;
  std::string type = "f32", result = "f32", after = "";
};

class CompressFixture : public InterpreterFixture {
protected:
  void parseCompress(int window, bool overlap, int channels,
                     const More &more = {}) {
    int columns = overlap ? 2 * channels : channels;
    std::string x = "tensor<?x" + std::to_string(columns) + "x" + more.type +
                    ">",
                out = "tensor<?x" + std::to_string(channels) + "x" +
                      more.result + ">";
    parse("%v: " + x + ", %s: " + x + ", %p: tensor<?x4xi32>, %o: " + out +
              more.arguments,
          "%r = dsv4.compress %v, %s window " + std::to_string(window) +
              (overlap ? " overlap" : "") + " plan(%p : tensor<?x4xi32>)" +
              more.operands + " outs(%o : " + out + ") : " + x + ", " + x +
              "\n" + more.after);
  }

  using Plan = std::vector<std::array<int32_t, 4>>;

  /// Binds values, scores, plan and destination.
  void bindLaunch(int columns, const std::vector<float> &values,
                  const std::vector<float> &scores, const Plan &plan,
                  int channels) {
    int64_t tokens = int64_t(values.size()) / columns;
    bind<float>({tokens, columns}, values);
    bind<float>({tokens, columns}, scores);
    bindPlan(plan);
    bytes({int64_t(plan.size()), channels}, plan.size() * channels * 4, 0xAB);
  }
  void bindPlan(const Plan &plan) {
    std::vector<int32_t> flat;
    for (auto &row : plan)
      flat.insert(flat.end(), row.begin(), row.end());
    bind<int32_t>({int64_t(plan.size()), 4}, flat);
  }

  /// Runs it on one channel without bias or state.
  std::vector<float> pool(int window, const std::vector<float> &values,
                          const std::vector<float> &scores, const Plan &plan) {
    parseCompress(window, false, 1);
    bindLaunch(1, values, scores, plan, 1);
    run();
    return read<float>(3);
  }
  float poolOne(const std::vector<float> &values,
                const std::vector<float> &scores) {
    return pool(int(values.size()), values, scores, {{0, 0, 0, 0}}).front();
  }
};

using Floats = std::vector<float>;

struct Sums {
  float max, sum, weighted;
};

/// The same tree from its root: the left half is the largest power of two.
inline float sumRows(const float *x, int count) {
  if (count == 1)
    return *x;
  int half = 1;
  while (2 * half < count)
    half *= 2;
  volatile float left = sumRows(x, half);
  volatile float right = sumRows(x + half, count - half);
  return left + right;
}
inline Sums poolRows(const float *values, const float *scores, int count) {
  if (count <= 8) {
    float max = -kInfinity, e[8], product[8];
    for (int i = 0; i < count; ++i)
      max = std::fmax(max, scores[i]);
    for (int i = 0; i < count; ++i) {
      volatile float x = scores[i] - (std::isinf(max) ? 0 : max);
      e[i] = expF32(x);
      volatile float p = e[i] * values[i];
      product[i] = p;
    }
    return {max, sumRows(e, count), sumRows(product, count)};
  }
  int half = 8;
  while (2 * half < count)
    half *= 2;
  Sums a = poolRows(values, scores, half);
  Sums b = poolRows(values + half, scores + half, count - half);
  float max = std::fmax(a.max, b.max), base = std::isinf(max) ? 0 : max;
  auto join = [&](float x, float y) {
    volatile float p = x * expF32(a.max - base);
    volatile float q = y * expF32(b.max - base);
    volatile float r = p + q;
    return r;
  };
  return {max, join(a.sum, b.sum), join(a.weighted, b.weighted)};
}

} // namespace dsv4::reference

#endif // DSV4_TEST_UNIT_REFERENCE_COMPRESSFIXTURE_H
