//===- Reference.h - Scores of index keys in double -------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Queries, keys and weights in the formats of engines, and their scores in
// double precision. Shares no code with the device library but the names of
// formats.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "mma/index_keys.cuh"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

namespace index_scores {

constexpr int kDepth = 128;

/// What a score is computed from, without pages. A row is a query; `queries`
/// consecutive rows are a group, which shares keys.
struct Problem {
  dsv4::IndexFormat keys;
  dsv4::IndexFormat query;
  int heads, queries, groups, columns;

  std::vector<int> limits{};       // [rows]: columns that count.
  std::vector<uint8_t> payloads{}; // [groups, columns, payloadBytes()]
  std::vector<uint64_t> scales{};  // [groups, columns]: the first scaleBytes().
  std::vector<uint8_t> headPayloads{}; // [rows, heads, headBytes()]
  std::vector<uint32_t> headScales{};  // [rows, heads], of MXFP4 queries.
  std::vector<float> weights{};        // [rows, heads]

  bool hasFp4Keys() const { return keys != dsv4::IndexFormat::e4m3; }
  bool hasFp4Queries() const { return query == dsv4::IndexFormat::mxfp4; }
  int payloadBytes() const { return hasFp4Keys() ? kDepth / 2 : kDepth; }
  int scaleBytes() const { return keys == dsv4::IndexFormat::nvfp4 ? 8 : 4; }
  int headBytes() const { return hasFp4Queries() ? kDepth / 2 : kDepth; }
  int rows() const { return groups * queries; }
  size_t keyCount() const { return (size_t)groups * columns; }
  size_t headCount() const { return (size_t)rows() * heads; }
};

inline double decodeE4m3(unsigned code) {
  if ((code & 0x7F) == 0x7F)
    return NAN;
  const int exponent = code >> 3 & 15, mantissa = code & 7;
  const double value = exponent ? std::ldexp(1 + mantissa / 8.0, exponent - 7)
                                : std::ldexp(mantissa / 8.0, -6);
  return code & 0x80 ? -value : value;
}
/// The code of element `element`, half of a byte, of a payload.
inline double decodeE2m1(const uint8_t *payload, int element) {
  static const double magnitudes[8] = {0, .5, 1, 1.5, 2, 3, 4, 6};
  const unsigned code = payload[element / 2] >> element % 2 * 4 & 15;
  return code & 8 ? -magnitudes[code & 7] : magnitudes[code & 7];
}
inline double decodeUe8m0(unsigned code) {
  return code == 255 ? NAN : std::ldexp(1.0, (int)code - 127);
}

/// A problem decoded.
class Reference {
public:
  explicit Reference(const Problem &of) : of(of) {
    decodeKeys();
    decodeHeads();
  }

  struct Score {
    double value;
    /// |key| * sqrt(sum over heads of (weight * |head|)^2): errors of sums of
    /// products are relative to it.
    double magnitude;
  };
  Score score(int row, int column) const {
    const size_t key = (size_t)(row / of.queries) * of.columns + column;
    const double *k = &keyElements[key * kDepth];
    double square = 0, sum = 0;
    for (int d = 0; d < kDepth; ++d)
      square += k[d] * k[d];
    for (int head = 0; head < of.heads; ++head) {
      const size_t at = (size_t)row * of.heads + head;
      double dot = 0;
      for (int d = 0; d < kDepth; ++d)
        dot += headElements[at * kDepth + d] * k[d];
      // The maximum with 0, of which NaN stays NaN.
      sum += of.weights[at] * (dot <= 0 ? 0 : dot);
    }
    const double scale = keyScales[key];
    return {scale * sum,
            std::fabs(scale) * std::sqrt(square * rowSquares[row])};
  }

private:
  void decodeKeys() {
    keyElements.resize(of.keyCount() * kDepth);
    keyScales.assign(of.keyCount(), 1.0);
    for (size_t key = 0; key < of.keyCount(); ++key) {
      const uint8_t *payload = &of.payloads[key * of.payloadBytes()];
      const uint64_t scales = of.scales[key];
      double *to = &keyElements[key * kDepth];
      for (int d = 0; d < kDepth; ++d) {
        if (of.keys == dsv4::IndexFormat::mxfp4)
          to[d] =
              decodeE2m1(payload, d) * decodeUe8m0(scales >> d / 32 * 8 & 255);
        else if (of.keys == dsv4::IndexFormat::nvfp4)
          to[d] =
              decodeE2m1(payload, d) * decodeE4m3(scales >> d / 16 * 8 & 255);
        else
          to[d] = decodeE4m3(payload[d]);
      }
      if (of.hasFp4Keys())
        continue;
      float scale;
      memcpy(&scale, &scales, sizeof(scale));
      keyScales[key] = scale;
    }
  }
  void decodeHeads() {
    headElements.resize(of.headCount() * kDepth);
    rowSquares.assign(of.rows(), 0);
    for (size_t head = 0; head < of.headCount(); ++head) {
      const uint8_t *payload = &of.headPayloads[head * of.headBytes()];
      double *to = &headElements[head * kDepth];
      double square = 0;
      for (int d = 0; d < kDepth; ++d) {
        to[d] = of.hasFp4Queries()
                    ? decodeE2m1(payload, d) *
                          decodeUe8m0(of.headScales[head] >> d / 32 * 8 & 255)
                    : decodeE4m3(payload[d]);
        square += to[d] * to[d];
      }
      const double weight = of.weights[head];
      rowSquares[head / of.heads] += weight * weight * square;
    }
  }

  const Problem &of;
  std::vector<double> keyElements;  // [groups, columns, kDepth]
  std::vector<double> keyScales;    // [groups, columns], of E4M3 keys.
  std::vector<double> headElements; // [rows, heads, kDepth]
  std::vector<double> rowSquares;   // [rows]
};

} // namespace index_scores
