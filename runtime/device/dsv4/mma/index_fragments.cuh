//===- index_fragments.cuh - Index keys and heads in registers --*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The arithmetic of index_score.cuh between memory and products of tensor
// cores: keys as fragments of A, queries as B, and sums over heads. For CUDA
// only; the host has a twin of index_score.cuh.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "mma/index_keys.cuh"

#ifdef __CUDACC__

namespace dsv4 {

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

// E5M2 magnitudes times 2^(13 - d).
struct MagnitudeTable {
  unsigned low, high;

  // d <= max_distance
  __device__ __forceinline__ explicit MagnitudeTable(unsigned d)
      : low(0x72706C00u - d * 0x04040400u),
        high(0x7A787674u - d * 0x04040404u) {}
};
enum : int { magnitude_exponent = 13, max_distance = 26 };

__device__ __forceinline__ unsigned quad_max_u16x2(unsigned pair) {
  pair = max_u16x2(pair, exchange<32>(pair, 1));
  return max_u16x2(pair, exchange<32>(pair, 2));
}

// The UE8M0 from top - max_distance to top. While all scales of a warp's keys
// are among them, exponents are relative to `top`, and no warp looks for the
// largest scale of each key, which takes two shuffles. Scores do not depend on
// `top`, because a power of two is exact.
struct ScaleWindow {
  // At first, for scales up to 8.
  unsigned top = 130;

  // For keys like those whose largest UE8M0 are given.
  __device__ __forceinline__ void move(unsigned first, unsigned second) {
    constexpr unsigned room = 6;
    const unsigned largest =
        __reduce_max_sync(0xFFFFFFFFu, ::max(first == 255 ? 0 : first,
                                             second == 255 ? 0 : second));
    // 0 and 255 are never among them.
    top = ::min(::max(largest + room, max_distance + 1u), 254u);
  }
};

// The tables of two keys with any scales: exponents are relative to the largest
// scale of the key.
__device__ __forceinline__ void find_tables(MagnitudeTable (&tables)[2],
                                            float &scale,
                                            const unsigned (&words)[2][4],
                                            const unsigned (&codes)[2],
                                            ScaleWindow &window) {
  unsigned counts = 0;
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    // A group of zeros counts as one without a scale, unless that is NaN.
    const unsigned some =
        (words[i][0] | words[i][1] | words[i][2] | words[i][3]) & 0x77777777u;
    counts |= (some != 0 || codes[i] == 255 ? codes[i] : 0u) << 16 * i;
  }
  counts = quad_max_u16x2(counts);
  const unsigned largest[2] = {counts & 0xFFFF, counts >> 16};
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const unsigned below = largest[i] > codes[i] ? largest[i] - codes[i] : 0;
    tables[i] = MagnitudeTable(below <= max_distance ? below : 0u);
    if (below > max_distance)
      tables[i].low = tables[i].high = 0;
  }
  scale = index_scale(threadIdx.x & 1 ? largest[1] : largest[0]);
  window.move(largest[0], largest[1]);
}

__device__ __forceinline__ void
expand_words(IndexFragment<4> &to, const unsigned (&words)[2][4],
             const MagnitudeTable (&tables)[2]) {
#pragma unroll
  for (int j = 0; j < 4; ++j)
#pragma unroll
    for (int i = 0; i < 2; ++i)
      expand_e2m1(to.a[j][i], to.a[j][i + 2], words[i][j], tables[i].low,
                  tables[i].high);
}

// Two keys' words of this lane, and the scales of this lane's group of each.
// `fetch(words)` gives the words once more.
template <typename Fetch>
__device__ __forceinline__ void
expand_mxfp4(IndexFragment<4> &to, const unsigned (&words)[2][4],
             const unsigned (&codes)[2], ScaleWindow &window, Fetch fetch) {
  const unsigned below[2] = {window.top - codes[0], window.top - codes[1]};
  MagnitudeTable tables[2] = {MagnitudeTable(below[0]),
                              MagnitudeTable(below[1])};
  to.scale = as_float(window.top << 23);
  // Before it is known whether the tables are right, which they mostly are.
  // ptxas would move what follows the branch after the next wait for products,
  // instead of beside these.
  expand_words(to, words, tables);
  if (!__all_sync(0xFFFFFFFFu,
                  below[0] <= max_distance && below[1] <= max_distance)) {
    // Fetched, because the compiler would keep parts of the first expansion.
    unsigned again[2][4];
    fetch(again);
    find_tables(tables, to.scale, again, codes, window);
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
// group, the two E4M3 of its groups, or the float. With F16 for products of
// f16.
template <typename Config, bool F16, int Words, typename Fetch>
__device__ __forceinline__ void expand_index_keys(
    IndexFragment<F16 ? 8 : 4> &to, const unsigned (&words)[2][Words],
    const unsigned (&scales)[2], ScaleWindow &window, Fetch fetch) {
  using Shape = IndexShape<Config>;
  IndexFragment<4> narrow;
  if constexpr (Shape::keys_mxfp4) {
    expand_mxfp4(narrow, words, scales, window, fetch);
  } else if constexpr (Shape::keys_nvfp4) {
    const MagnitudeTable table(magnitude_exponent);
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
  if constexpr (F16) {
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

// What the products are to be multiplied with.
template <typename Config, bool F16>
__device__ __forceinline__ float index_products_scale() {
  using Shape = IndexShape<Config>;
  constexpr int by_f16 = F16 ? +f16_of_e4m3_exponent : 0;
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
      MagnitudeTable table(below <= max_distance ? below : 0u);
      if (below > max_distance)
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
// of query i, which are four elements; `scale` is that of the products.
template <typename Config, int Threads, typename Query, typename Weight,
          typename Limit, typename PutWord>
__device__ __forceinline__ void
load_index_queries(int thread, int group, char *weights, float scale,
                   Query query, Weight weight, Limit limit, PutWord put_word) {
  using Shape = IndexShape<Config>;
  using Unit = IndexQueryUnit<Config>;
  constexpr int head_units = Shape::padded_heads * Unit::units,
                all = Shape::queries * head_units,
                all_weights = Shape::queries * Shape::padded_heads,
                each = (all + Threads - 1) / Threads;
  // As registers allow.
  constexpr int most = Config::warpgroups < 5 && !Shape::query_fp4 ? 4 : 2;
  constexpr int batch = each < most ? each : most;
  const int first_row = group * Shape::queries;
  const auto final_weight = [&](int at) {
    const int head = at % Shape::padded_heads,
              row = first_row + at / Shape::padded_heads;
    if (at >= all_weights || head >= Config::heads || limit(row) <= 0)
      return 0.0f;
    // Times 1/2, because the sum has twice the maximum.
    const float value = mul_f32(weight(row, head), scale * 0.5f);
    if constexpr (Shape::query_fp4)
      return mul_f32(value,
                     index_scale(Unit::largest_scale(query(row, head).scales)));
    return value;
  };
  // In the order of a lane's accumulators.
  const auto put_weight = [&](int at, float value) {
    const int column = at % Shape::padded_heads % Shape::head_tile;
    const int slot = at / Shape::head_tile * Shape::weight_row +
                     column / 2 % 4 * (Shape::lane_weights + 4) +
                     column / 8 * 2 + column % 2;
    ((float *)weights)[slot] = value;
  };
  // The first weight comes with the first queries.
  const float first_weight = final_weight(thread);
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
  if (thread < all_weights)
    put_weight(thread, first_weight);
#pragma unroll 1
  for (int at = thread + Threads; at < all_weights; at += Threads)
    put_weight(at, final_weight(at));
}

//===----------------------------------------------------------------------===//
// Sums over heads
//===----------------------------------------------------------------------===//

// Of two keys: four chains, because that of one would be twice as long.
struct IndexSums {
  float part[2][2] = {};

  // Four accumulators of two heads. max(x, 0) * w is (x + |x|) * (w / 2), in
  // two instructions at the full rate, and NaN if x is.
  __device__ __forceinline__ void add(const float *d, const float *weights) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      part[0][i] =
          fma_f32(add_f32(d[i], abs_f32(d[i])), weights[i], part[0][i]);
      part[1][i] =
          fma_f32(add_f32(d[2 + i], abs_f32(d[2 + i])), weights[i], part[1][i]);
    }
  }
};

// The sums of four lanes c, `odd` and `upper` being its bits. Lane c has the
// sum of key c of the keys l / 4, l / 4 + 8 of the first tile and those of the
// second; of one tile, lanes 2 and 3 have what 0 and 1 have.
template <int Tiles>
__device__ __forceinline__ float quad_sum(const IndexSums (&sums)[Tiles],
                                          bool odd, bool upper) {
  float pair[Tiles];
#pragma unroll
  for (int t = 0; t < Tiles; ++t) {
    const float first = add_f32(sums[t].part[0][0], sums[t].part[0][1]);
    const float second = add_f32(sums[t].part[1][0], sums[t].part[1][1]);
    const float other = exchange<32>(odd ? first : second, 1);
    pair[t] = add_f32(odd ? second : first, other);
  }
  const float given = exchange<32>(upper ? pair[0] : pair[Tiles - 1], 2);
  return add_f32(upper ? pair[Tiles - 1] : pair[0], given);
}

// The scale of the key that this lane has of a step.
template <int Products, int Tiles>
__device__ __forceinline__ float
own_scale(const IndexFragment<Products> (&keys)[Tiles], bool upper) {
  return upper ? keys[Tiles - 1].scale : keys[0].scale;
}

} // namespace dsv4

#endif // __CUDACC__
