//===- Inputs.h - Random keys, queries and pages ----------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Problems of three kinds, from a seed, and the pages that their keys lie in.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Reference.h"

#include <algorithm>
#include <random>

namespace index_scores {

/// integers: small ones, of which all sums are exact. random: ordinary values.
/// hostile: keys with NaN, scales from 0 to 255, and groups of zeros.
enum class Data { integers, random, hostile };

inline const char *nameOf(Data data) {
  return data == Data::integers ? "integers"
         : data == Data::random ? "random"
                                : "hostile";
}

class Random {
public:
  explicit Random(unsigned seed) : engine(seed) {}
  unsigned below(unsigned bound) { return (unsigned)(engine() % bound); }
  bool oneOf(unsigned count) { return below(count) == 0; }
  uint8_t byte() { return (uint8_t)engine(); }
  /// An E4M3 of at most 32.
  uint8_t e4m3() {
    unsigned code;
    do
      code = byte();
    while ((code & 0x7F) > 0x60);
    return (uint8_t)code;
  }
  /// Of -3 to 3, zero twice.
  uint8_t smallE4m3() {
    static const uint8_t codes[8] = {0x00, 0x38, 0xB8, 0x40,
                                     0xC0, 0x00, 0x44, 0xC4};
    return codes[below(8)];
  }
  /// A byte of two E2M1 of the same values.
  uint8_t smallE2m1Pair() {
    static const uint8_t codes[8] = {0, 2, 10, 4, 12, 0, 5, 13};
    const uint8_t low = codes[below(8)];
    return (uint8_t)(low | codes[below(8)] << 4);
  }
  std::mt19937 &get() { return engine; }

private:
  std::mt19937 engine;
};

/// The first group has all columns, others some, the fourth none, the sixth a
/// negative limit. Rows of a group differ by at most two.
inline void drawLimits(Problem &to, Random &random) {
  to.limits.resize(to.rows());
  for (int group = 0; group < to.groups; ++group)
    for (int i = 0; i < to.queries; ++i) {
      int limit = group == 0 ? to.columns : (int)random.below(to.columns + 1);
      if (group == 3)
        limit = 0;
      if (group == 5)
        limit = -7;
      limit -= to.queries > 1 ? (int)random.below(3) : 0;
      to.limits[group * to.queries + i] = limit;
    }
}

inline uint64_t drawMxfp4Scales(Data data, Random &random) {
  uint32_t scales = 0;
  for (int i = 0; i < 4; ++i) {
    uint32_t scale = 127;
    if (data == Data::random)
      scale = 120 + random.below(12);
    else if (data == Data::hostile)
      scale = random.oneOf(3) ? random.below(256) : 100 + random.below(60);
    scales |= scale << 8 * i;
  }
  // Near to 2^-127, in all groups.
  if (data == Data::hostile && random.oneOf(4))
    scales = random.oneOf(3) ? 0 : 0x01000001u * random.below(5);
  return scales;
}
inline uint64_t drawNvfp4Scales(Data data, Random &random) {
  uint64_t scales = 0;
  for (int i = 0; i < 8; ++i) {
    uint64_t scale = 0x38 + random.below(2) * 8; // 1 or 2
    if (data == Data::random)
      scale = 0x20 + random.below(40);
    else if (data == Data::hostile)
      scale = random.oneOf(60) ? 0x7F : random.below(0x7F); // NaN or any
    scales |= scale << 8 * i;
  }
  return scales;
}
/// A float.
inline uint64_t drawE4m3Scale(Data data, Random &random) {
  float scale = std::ldexp(1.0f, (int)random.below(5) - 2);
  if (data != Data::integers)
    scale = 0.01f * std::exp(((int)random.below(2000) - 1000) / 300.0f);
  if (data == Data::hostile && random.oneOf(50))
    scale = NAN;
  uint32_t bits;
  memcpy(&bits, &scale, sizeof(bits));
  return bits;
}

inline void drawKey(uint8_t *payload, uint64_t &scales, const Problem &of,
                    Data data, Random &random) {
  for (int i = 0; i < of.payloadBytes(); ++i) {
    if (data != Data::integers)
      payload[i] = of.hasFp4Keys() ? random.byte() : random.e4m3();
    else if (of.hasFp4Keys())
      payload[i] = random.smallE2m1Pair();
    else // Three of four are zeros, or sums would be too large.
      payload[i] = random.oneOf(4) ? random.smallE4m3() : 0;
  }
  if (of.keys == dsv4::IndexFormat::nvfp4)
    scales = drawNvfp4Scales(data, random);
  else if (of.keys == dsv4::IndexFormat::mxfp4)
    scales = drawMxfp4Scales(data, random);
  else
    scales = drawE4m3Scale(data, random);
  if (data != Data::hostile)
    return;
  if (of.keys == dsv4::IndexFormat::mxfp4) {
    // Groups of zeros, some of them negative.
    for (int i = 0; i < 4; ++i)
      if (random.oneOf(4))
        memset(payload + 16 * i, random.oneOf(2) ? 0 : 0x80, 16);
  } else if (of.keys == dsv4::IndexFormat::e4m3 && random.oneOf(40)) {
    const unsigned at = random.below(kDepth);
    payload[at] = random.oneOf(2) ? 0xFF : 0x7F; // NaN
  }
}

inline void drawHead(uint8_t *payload, uint32_t &scales, float &weight,
                     const Problem &of, Data data, Random &random) {
  for (int i = 0; i < of.headBytes(); ++i) {
    if (data != Data::integers)
      payload[i] = of.hasFp4Queries() ? random.byte() : random.e4m3();
    else if (of.hasFp4Queries())
      payload[i] = random.smallE2m1Pair();
    else
      payload[i] = random.oneOf(2) ? random.smallE4m3() : 0;
  }
  scales = 0;
  for (int i = 0; i < 4; ++i)
    scales |= (data == Data::integers ? 127 : 122 + random.below(8)) << 8 * i;
  weight = data == Data::integers ? (float)((int)random.below(5) - 2)
                                  : ((int)random.below(2000) - 1000) / 700.0f;
}

template <typename Config>
Problem makeProblem(int groups, int columns, Data data, unsigned seed) {
  Problem made{Config::keys,    Config::query, Config::heads,
               Config::queries, groups,        columns};
  Random random(seed);
  drawLimits(made, random);
  made.payloads.resize(made.keyCount() * made.payloadBytes());
  made.scales.resize(made.keyCount());
  for (size_t i = 0; i < made.keyCount(); ++i)
    drawKey(&made.payloads[i * made.payloadBytes()], made.scales[i], made, data,
            random);
  made.headPayloads.resize(made.headCount() * made.headBytes());
  made.headScales.resize(made.headCount());
  made.weights.resize(made.headCount());
  for (size_t i = 0; i < made.headCount(); ++i)
    drawHead(&made.headPayloads[i * made.headBytes()], made.headScales[i],
             made.weights[i], made, data, random);
  return made;
}

//===----------------------------------------------------------------------===//
// Pages
//===----------------------------------------------------------------------===//

/// A pool of shuffled pages, and the table that finds them.
struct Pages {
  int pageSize, tableWidth;
  long long stride; // In bytes.
  std::vector<uint8_t> pool;
  std::vector<int> table; // [groups, tableWidth]; negative: no page.

  bool has(int group, int column) const {
    return table[group * tableWidth + column / pageSize] >= 0;
  }
};

/// How pages differ beyond what a config says.
struct PageOptions {
  unsigned seed = 1;
  /// One page of this number is missing; 0: none.
  int missingOneOf = 0;
  /// Bytes between pages.
  int padding = 0;
};

template <typename Config>
Pages makePages(const Problem &of, PageOptions options) {
  const int payload = of.payloadBytes(), scale = of.scaleBytes();
  constexpr int size = Config::page_size;
  Pages made;
  made.pageSize = size;
  made.tableWidth = (of.columns + size - 1) / size;
  made.stride = (long long)size * (payload + scale) + options.padding;
  std::vector<int> order(made.tableWidth * of.groups);
  for (size_t i = 0; i < order.size(); ++i)
    order[i] = (int)i;
  Random random(options.seed);
  std::shuffle(order.begin(), order.end(), random.get());
  // What no key is in is NaN, so that a score of it would be wrong.
  made.pool.assign(order.size() * made.stride, 0xFF);
  made.table.resize(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    const bool missing =
        options.missingOneOf && random.oneOf(options.missingOneOf);
    made.table[i] = missing ? -1 - (int)random.below(5) : order[i];
    uint8_t *page = &made.pool[order[i] * made.stride];
    const size_t group = i / made.tableWidth;
    const int first = (int)(i % made.tableWidth) * size;
    for (int entry = 0; entry < size && first + entry < of.columns; ++entry) {
      const size_t key = group * of.columns + first + entry;
      uint8_t *payloadTo = page + entry * payload;
      uint8_t *scaleTo = page + size * payload + entry * scale;
      if (Config::interleaved) {
        payloadTo = page + entry * (payload + scale);
        scaleTo = payloadTo + payload;
      }
      memcpy(payloadTo, &of.payloads[key * payload], payload);
      memcpy(scaleTo, &of.scales[key], scale);
    }
  }
  return made;
}

} // namespace index_scores
