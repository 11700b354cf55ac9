//===- index_fragments.cuh - Index keys and heads in registers --*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The arithmetic of index_score.cuh between memory and products of tensor
// cores: keys as fragments of A, queries as B. For CUDA only; the host has a
// twin of index_score.cuh.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "mma/index_keys.cuh"

#ifdef __CUDACC__

namespace dsv4 {

// Operands of products, and what they are added in: 8-bit floats, added in f32
// or in f16, or f16, added in f32.
enum class IndexProducts { f8, f8_in_f16, f16 };

// The exponent of the largest scale of a key in E5M2: as large as possible, or
// so that no sum of products with E4M3 overflows in f16.
template <IndexProducts Products>
__device__ constexpr int index_key_exponent() {
  return Products == IndexProducts::f8_in_f16 ? -3 : 13;
}

//===----------------------------------------------------------------------===//
// Keys in registers
//===----------------------------------------------------------------------===//

// A lane's part of 16 keys: A of four products of 8-bit floats, or eight of
// f16, and the scale of its own key: l / 4, or l / 4 + 8 of an odd lane.
template <int Products>
struct IndexFragment {
  unsigned a[Products][4];
  float scale;
};

// Eight E2M1 -> two words of E5M2. The table has the eight magnitudes, with the
// exponent of the group.
__device__ __forceinline__ void expand_e2m1(unsigned &low, unsigned &high,
                                            unsigned word, unsigned table_low,
                                            unsigned table_high) {
  const unsigned magnitudes = word & 0x77777777u, signs = word << 4;
  low = with_signs(permute_bytes(table_low, table_high, magnitudes),
                   permute_bytes(word, signs, 0x1504));
  high = with_signs(permute_bytes(table_low, table_high, magnitudes >> 16),
                    permute_bytes(word, signs, 0x3726));
}

// E5M2 magnitudes times 2^(Exponent - d).
template <int Exponent>
struct MagnitudeTable {
  enum : int { max_distance = Exponent + 13 };
  unsigned low, high;

  // d <= max_distance
  __device__ __forceinline__ explicit MagnitudeTable(unsigned d)
      : low(0x72706C00u - (13 - Exponent) * 0x04040400u - d * 0x04040400u),
        high(0x7A787674u - (13 - Exponent) * 0x04040404u - d * 0x04040404u) {}
};
// Of queries.
enum : int { magnitude_exponent = 13 };
using QueryMagnitudes = MagnitudeTable<magnitude_exponent>;

__device__ __forceinline__ unsigned quad_max_u16x2(unsigned pair) {
  pair = max_u16x2(pair, exchange<32>(pair, 1));
  return max_u16x2(pair, exchange<32>(pair, 2));
}

// The UE8M0 from top - Distance to top. While all scales of a warp's keys are
// among them, exponents are relative to `top`, and no warp looks for the
// largest scale of each key, which takes two shuffles. Scores do not depend on
// `top`, because a power of two is exact. That is so for sums in f16, too: with
// a distance of at most 10, all terms are multiples of their smallest number.
template <int Distance>
struct ScaleWindow {
  // At first, for scales up to 8.
  unsigned top = 130;

  // For keys like those whose largest UE8M0 are given.
  __device__ __forceinline__ void move(unsigned first, unsigned second) {
    constexpr unsigned room = Distance / 4;
    const unsigned largest =
        __reduce_max_sync(0xFFFFFFFFu, ::max(first == 255 ? 0 : first,
                                             second == 255 ? 0 : second));
    // 0 and 255 are never among them.
    top = ::min(::max(largest + room, Distance + 1u), 254u);
  }
};

// The tables of two keys with any scales: exponents are relative to the largest
// scale of the key. What is further away counts as 0. For sums in f16 the scale
// of such a key is negative, because its score needs other products.
template <IndexProducts Products, typename Table, typename Window>
__device__ __forceinline__ void
find_tables(Table (&tables)[2], float &scale, const unsigned (&words)[2][4],
            const unsigned (&codes)[2], Window &window) {
  unsigned counts = 0;
  bool some[2];
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    // A group of zeros counts as one without a scale, unless that is NaN.
    some[i] = ((words[i][0] | words[i][1] | words[i][2] | words[i][3]) &
               0x77777777u) != 0;
    counts |= (some[i] || codes[i] == 255 ? codes[i] : 0u) << 16 * i;
  }
  counts = quad_max_u16x2(counts);
  const unsigned largest[2] = {counts & 0xFFFF, counts >> 16};
  unsigned lost = 0;
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const unsigned below = largest[i] > codes[i] ? largest[i] - codes[i] : 0;
    const bool is_near = below <= Table::max_distance;
    tables[i] = Table(is_near ? below : 0u);
    if (!is_near)
      tables[i].low = tables[i].high = 0;
    lost |= (unsigned)(some[i] && !is_near) << 16 * i;
  }
  const bool odd = threadIdx.x & 1;
  scale = index_scale(odd ? largest[1] : largest[0]);
  if constexpr (Products == IndexProducts::f8_in_f16) {
    lost = quad_max_u16x2(lost);
    if (odd ? lost >> 16 : lost & 0xFFFF)
      scale = -scale;
  }
  window.move(largest[0], largest[1]);
}

template <typename Table>
__device__ __forceinline__ void expand_words(IndexFragment<4> &to,
                                             const unsigned (&words)[2][4],
                                             const Table (&tables)[2]) {
#pragma unroll
  for (int j = 0; j < 4; ++j)
#pragma unroll
    for (int i = 0; i < 2; ++i)
      expand_e2m1(to.a[j][i], to.a[j][i + 2], words[i][j], tables[i].low,
                  tables[i].high);
}

// Two keys' words of this lane, and the scales of this lane's group of each.
// `fetch(words)` gives the words once more.
template <IndexProducts Products, typename Window, typename Fetch>
__device__ __forceinline__ void
expand_mxfp4(IndexFragment<4> &to, const unsigned (&words)[2][4],
             const unsigned (&codes)[2], Window &window, Fetch fetch) {
  using Table = MagnitudeTable<index_key_exponent<Products>()>;
  const unsigned below[2] = {window.top - codes[0], window.top - codes[1]};
  Table tables[2] = {Table(below[0]), Table(below[1])};
  to.scale = as_float(window.top << 23);
  // Before it is known whether the tables are right, which they mostly are.
  // ptxas would move what follows the branch after the next wait for products,
  // instead of beside these.
  expand_words(to, words, tables);
  if (!__all_sync(0xFFFFFFFFu, below[0] <= Table::max_distance &&
                                   below[1] <= Table::max_distance)) {
    // Fetched, because the compiler would keep parts of the first expansion.
    unsigned again[2][4];
    fetch(again);
    find_tables<Products>(tables, to.scale, again, codes, window);
    expand_words(to, again, tables);
  }
}

// Words of an E4M3 key: lane c has bytes 32c.. of it.
__device__ __forceinline__ void arrange_e4m3(IndexFragment<4> &to,
                                             const unsigned (&words)[2][8]) {
#pragma unroll
  for (int j = 0; j < 4; ++j)
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      to.a[j][i] = words[i][2 * j];
      to.a[j][i + 2] = words[i][2 * j + 1];
    }
}

// Four E5M2 -> two pairs of f16, which have the same exponent.
__device__ __forceinline__ void f16_of_e5m2(unsigned (&to)[2], unsigned word) {
  to[0] = permute_bytes(word, 0, 0x1404);
  to[1] = permute_bytes(word, 0, 0x3424);
}
// Four E4M3 -> two pairs of f16, times 2^-8.
enum : int { f16_of_e4m3_exponent = 8 };
__device__ __forceinline__ void f16_of_e4m3(unsigned (&to)[2], unsigned word) {
  f16_of_e5m2(to, word);
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const unsigned magnitude = to[i] & 0x7F007F00u;
    // The carry reaches the sign bit for 0x7F only, which is NaN.
    const unsigned nan = (magnitude + 0x01000100u) & 0x80008000u;
    to[i] = (to[i] & 0x80008000u) | magnitude >> 1 | nan >> 1 | nan >> 6;
  }
}
template <FloatType Type>
__device__ __forceinline__ void f16_of(unsigned (&to)[2], unsigned word) {
  if constexpr (Type == FloatType::e5m2)
    f16_of_e5m2(to, word);
  else
    f16_of_e4m3(to, word);
}

// Two keys of a lane: its words of each, and its scales: the UE8M0 of its
// group, the two E4M3 of its groups, or the float.
template <typename Config, IndexProducts Products, int Words, typename Window,
          typename Fetch>
__device__ __forceinline__ void
expand_index_keys(IndexFragment<Products == IndexProducts::f16 ? 8 : 4> &to,
                  const unsigned (&words)[2][Words],
                  const unsigned (&scales)[2], Window &window, Fetch fetch) {
  using Shape = IndexShape<Config>;
  IndexFragment<4> narrow;
  if constexpr (Shape::keys_mxfp4) {
    expand_mxfp4<Products>(narrow, words, scales, window, fetch);
  } else if constexpr (Shape::keys_nvfp4) {
    const MagnitudeTable<0> table(0);
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      expand_e2m1(narrow.a[j][0], narrow.a[j][2], words[0][j], table.low,
                  table.high);
      expand_e2m1(narrow.a[j][1], narrow.a[j][3], words[1][j], table.low,
                  table.high);
    }
    narrow.scale = 1;
  } else {
    arrange_e4m3(narrow, words);
    narrow.scale = as_float(threadIdx.x & 1 ? scales[1] : scales[0]);
  }
  if constexpr (Products == IndexProducts::f16) {
    // Each scale twice.
    unsigned groups[2][2];
    if constexpr (Shape::keys_nvfp4) {
      f16_of_e4m3(groups[0], permute_bytes(scales[0], 0, 0x1100));
      f16_of_e4m3(groups[1], permute_bytes(scales[1], 0, 0x1100));
    }
#pragma unroll
    for (int s = 0; s < 8; ++s)
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        unsigned pairs[2];
        f16_of<Shape::keys_e4m3 ? FloatType::e4m3 : FloatType::e5m2>(
            pairs, narrow.a[s / 2][s % 2 * 2 + i]);
        if constexpr (Shape::keys_nvfp4) {
          pairs[0] = mul_f16x2(pairs[0], groups[i][s / 4]);
          pairs[1] = mul_f16x2(pairs[1], groups[i][s / 4]);
        }
        to.a[s][i] = pairs[0];
        to.a[s][i + 2] = pairs[1];
      }
    to.scale = narrow.scale;
  } else {
    to = narrow;
  }
}

template <typename Config>
__device__ constexpr FloatType index_keys_type() {
  return IndexShape<Config>::keys_e4m3 ? FloatType::e4m3 : FloatType::e5m2;
}
template <typename Config>
__device__ constexpr FloatType index_query_type() {
  return IndexShape<Config>::query_fp4 ? FloatType::e5m2 : FloatType::e4m3;
}

// What products of 8-bit floats or of f16 that are added in f32 are to be
// multiplied with.
template <typename Config, IndexProducts Products>
__device__ __forceinline__ float index_products_scale() {
  using Shape = IndexShape<Config>;
  constexpr int by_f16 =
      Products == IndexProducts::f16 ? +f16_of_e4m3_exponent : 0;
  constexpr int exponent = (Shape::keys_mxfp4 ? -magnitude_exponent : by_f16) +
                           (Shape::query_fp4 ? -magnitude_exponent : by_f16);
  return as_float((unsigned)(127 + exponent) << 23);
}

//===----------------------------------------------------------------------===//
// Queries in shared memory
//===----------------------------------------------------------------------===//

// Four natural words, 4 * unit.., of a head as E4M3 or E5M2, or for MXFP4 eight
// of them: words of 4 elements each.
template <typename Config>
struct IndexQueryUnit {
  using Shape = IndexShape<Config>;
  // Units of a head: 16 bytes as the caller has them.
  enum : int { units = Shape::head_payload / 16, words = 32 / units };

  template <typename Query>
  __device__ __forceinline__ void load(bool condition, int row, int head,
                                       int unit, Query query) {
    condition = condition && head < Config::heads;
    IndexHead given{nullptr, 0};
    if (condition)
      given = query(row, head);
    raw = load_if<Vec<unsigned, 4>, 16>(condition, (const char *)given.payload +
                                                       16 * unit);
    scales = given.scales;
  }

  // The words 0 .. words - 1 of the unit, and their natural numbers.
  template <typename Put>
  __device__ __forceinline__ void put(int unit, Put put_word) const {
    if constexpr (Shape::query_fp4) {
      const unsigned code = largest_scale(scales),
                     own = scales >> 8 * unit & 255;
      const unsigned below = code - own;
      QueryMagnitudes table(below <= QueryMagnitudes::max_distance ? below
                                                                   : 0u);
      if (below > QueryMagnitudes::max_distance)
        table.low = table.high = 0;
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        unsigned low, high;
        expand_e2m1(low, high, raw.words[i], table.low, table.high);
        put_word(8 * unit + 2 * i, low);
        put_word(8 * unit + 2 * i + 1, high);
      }
    } else {
#pragma unroll
      for (int i = 0; i < 4; ++i)
        put_word(4 * unit + i, raw.words[i]);
    }
  }

  __device__ __forceinline__ static unsigned largest_scale(unsigned scales) {
    unsigned largest = scales & 255;
#pragma unroll
    for (int i = 1; i < 4; ++i)
      largest = ::max(largest, scales >> 8 * i & 255);
    return largest;
  }

  Vec<unsigned, 4> raw;
  unsigned scales;
};

// Queries and weights of a group, brought to shared memory by `Threads` threads
// of which this one is `thread`. `put_word(i, head, word, bits)` stores a word
// of query i, which are four elements, and `put_weights(i, values)` the weights
// of query i, of which lane l of a warp has those of heads l, l + 32..; `scale`
// is that of the products.
template <typename Config, int Threads, typename Query, typename Weight,
          typename Limit, typename PutWord, typename PutWeights>
__device__ __forceinline__ void
load_index_queries(int thread, int group, float scale, Query query,
                   Weight weight, Limit limit, PutWord put_word,
                   PutWeights put_weights) {
  using Shape = IndexShape<Config>;
  using Unit = IndexQueryUnit<Config>;
  constexpr int head_units = Shape::padded_heads * Unit::units,
                all = Shape::queries * head_units,
                each = (all + Threads - 1) / Threads,
                lane_heads = Shape::padded_heads / 32, warps = Threads / 32;
  // As registers allow.
  constexpr bool many = Config::warpgroups < 5 && !Shape::query_fp4 &&
                        (Shape::queries == 1 || Threads > 64);
  constexpr int most = many ? 4 : 2;
  constexpr int batch = each < most ? each : most;
  const int first_row = group * Shape::queries;
  // The weights of query i.
  const auto load_weights = [&](float (&to)[lane_heads], int i) {
#pragma unroll
    for (int j = 0; j < lane_heads; ++j) {
      const int head = j * 32 + thread % 32, row = first_row + i;
      to[j] = 0;
      if (i >= Shape::queries || head >= Config::heads || limit(row) <= 0)
        continue;
      // Times 1/2, because the sum has twice the maximum.
      to[j] = mul_f32(weight(row, head), scale * 0.5f);
      if constexpr (Shape::query_fp4)
        to[j] = mul_f32(
            to[j], index_scale(Unit::largest_scale(query(row, head).scales)));
    }
  };
  // Weights come with the queries, if these are one batch.
  constexpr bool together = each <= batch && lane_heads <= 2;
  float own_weights[lane_heads];
  if (together)
    load_weights(own_weights, thread / 32);
#pragma unroll 1
  for (int first = thread; first < all; first += batch * Threads) {
    Unit unit[batch];
#pragma unroll
    for (int i = 0; i < batch; ++i) {
      const int at = first + i * Threads, row = first_row + at / head_units;
      unit[i].load(at < all && limit(row) > 0, row,
                   at % head_units / Unit::units, at % Unit::units, query);
    }
#pragma unroll
    for (int i = 0; i < batch; ++i) {
      const int at = first + i * Threads;
      if (at < all)
        unit[i].put(at % Unit::units, [&](int word, unsigned bits) {
          put_word(at / head_units, at % head_units / Unit::units, word, bits);
        });
    }
  }
#pragma unroll 1
  for (int i = thread / 32; i < Shape::queries; i += warps) {
    if (!together)
      load_weights(own_weights, i);
    put_weights(i, own_weights);
  }
}

} // namespace dsv4

#endif // __CUDACC__
