//===- encode.cuh - From float to the stored element types ------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rounds to the nearest code, ties to even, or up. A value beyond the largest
// finite one, also an infinity, becomes the largest finite one. NaN becomes
// NaN, and 6 in E2M1.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "rows/convert.cuh"

namespace dsv4 {

//===----------------------------------------------------------------------===//
// Floats -> one 32-bit word of elements. Ties and Zero are for E2M1.
//===----------------------------------------------------------------------===//

struct ties_even {};
struct ties_down {};
struct keep_negative_zero {};
struct drop_negative_zero {};

__device__ __forceinline__ unsigned code_of(e4m3, float value) {
  const unsigned bits = as_unsigned(value), sign = bits >> 24 & 0x80;
  if ((bits & 0x7FFFFFFFu) > 0x7F800000u)
    return 0x7F;
  const float magnitude = min_f32(as_float(bits & 0x7FFFFFFFu), 448.0f);
  // From 2^-6 on a float has the same exponent, and 17 bits more. Below, the
  // codes are multiples of 2^-9, one ulp of 2^14.
  const unsigned whole = as_unsigned(magnitude);
  const unsigned normal = (whole + 0x7FFFF + (whole >> 20 & 1)) >> 20;
  return sign | (magnitude >= 0x1p-6f
                     ? normal - (120 << 3)
                     : as_unsigned(add_f32(magnitude, 0x1p14f)) - 0x46800000u);
}

template <typename Ties, typename Zero>
__device__ __forceinline__ unsigned encode_word(e4m3, Ties, Zero,
                                                const float *values) {
  if constexpr (has_cvt_e4m3)
    return cvt_e4m3x2_f32(values[0], values[1]) |
           cvt_e4m3x2_f32(values[2], values[3]) << 16;
  else
    return code_of(e4m3(), values[0]) | code_of(e4m3(), values[1]) << 8 |
           code_of(e4m3(), values[2]) << 16 | code_of(e4m3(), values[3]) << 24;
}

// The magnitude of an E2M1 code.
__device__ __forceinline__ unsigned magnitude_of(ties_even, float magnitude) {
  // From 1 on a float has the same exponent, and 22 bits more. Below, the codes
  // are multiples of 0.5, one ulp of 2^22.
  const unsigned bits = as_unsigned(magnitude);
  return magnitude >= 1.0f
             ? ((bits + 0x1FFFFF + (bits >> 22 & 1)) >> 22) - (126 << 1)
             : as_unsigned(add_f32(magnitude, 0x1p22f)) - 0x4A800000u;
}
__device__ __forceinline__ unsigned magnitude_of(ties_down, float magnitude) {
  const unsigned bits = as_unsigned(magnitude);
  return magnitude >= 1.0f ? ((bits + 0x1FFFFF) >> 22) - (126 << 1)
                           : (magnitude > 0.25f) + (magnitude > 0.75f);
}

template <typename Ties>
__device__ __forceinline__ unsigned word_of(Ties, const float *values) {
  unsigned word = 0;
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const unsigned bits = as_unsigned(values[i]);
    const unsigned code =
        magnitude_of(Ties(), min_f32(as_float(bits & 0x7FFFFFFFu), 6.0f));
    word |= (code | (bits >> 28 & 8)) << 4 * i;
  }
  return word;
}
__device__ __forceinline__ unsigned word_of(ties_even, const float *values) {
  if constexpr (has_cvt_fp4)
    return cvt_e2m1x2_f32(values[0], values[1]) |
           cvt_e2m1x2_f32(values[2], values[3]) << 8 |
           cvt_e2m1x2_f32(values[4], values[5]) << 16 |
           cvt_e2m1x2_f32(values[6], values[7]) << 24;
  else
    return word_of<ties_even>(ties_even(), values);
}

__device__ __forceinline__ unsigned finish(keep_negative_zero, unsigned word) {
  return word;
}
// Keeps the sign if a bit of the magnitude is set.
__device__ __forceinline__ unsigned finish(drop_negative_zero, unsigned word) {
  const unsigned magnitude = word & 0x77777777u;
  return magnitude | ((magnitude << 1 | magnitude << 2 | magnitude << 3) &
                      word & 0x88888888u);
}

template <typename Ties, typename Zero>
__device__ __forceinline__ unsigned encode_word(e2m1, Ties, Zero,
                                                const float *values) {
  return finish(Zero(), word_of(Ties(), values));
}

//===----------------------------------------------------------------------===//
// encode<To>(value), encode_up<To>(value)
//===----------------------------------------------------------------------===//

template <typename To, typename Ties = ties_even,
          typename Zero = keep_negative_zero, int S, int V>
__device__ __forceinline__ Tile<To, S, V>
encode(const Tile<float, S, V> &from) {
  constexpr int per_word = 32 / bits_of<To>::value,
                words = Tile<To, S, V>::vector_words;
  Tile<To, S, V> to;
#pragma unroll
  for (int i = 0; i < S * words; ++i) {
    float values[per_word];
#pragma unroll
    for (int j = 0; j < per_word; ++j) {
      const int at = i % words * per_word + j; // in its vector
      values[j] = at < V ? from.words[i / words * V + at] : 0.0f;
    }
    to.words[i] = encode_word(To(), Ties(), Zero(), values);
  }
  return to;
}

// The smallest code whose value is not less than a value >= 0.
__device__ __forceinline__ unsigned code_up(ue8m0, float value) {
  const unsigned bits = as_unsigned(value);
  if (bits > 0x7F800000u)
    return 0xFF;
  const unsigned exponent = (bits + 0x7FFFFF) >> 23;
  // 2^-127 is a subnormal.
  return bits <= 0x00400000u ? 0 : exponent < 254 ? exponent : 254;
}
__device__ __forceinline__ unsigned code_up(e4m3, float value) {
  const float values[4] = {value, 0.0f, 0.0f, 0.0f};
  const unsigned code =
      encode_word(e4m3(), ties_even(), keep_negative_zero(), values) & 0xFF;
  float decoded[4];
  decode(decoded, e4m3(), code);
  return code + (decoded[0] < value && code < 0x7E);
}
template <typename To, int S, int V>
__device__ __forceinline__ Tile<To, S, V>
encode_up(const Tile<float, S, V> &from) {
  constexpr int words = Tile<To, S, V>::vector_words;
  Tile<To, S, V> to;
#pragma unroll
  for (int i = 0; i < S * words; ++i) {
    to.words[i] = 0;
#pragma unroll
    for (int j = 0; j < 4; ++j)
      if (i % words * 4 + j < V)
        to.words[i] |=
            code_up(To(), from.words[i / words * V + i % words * 4 + j])
            << 8 * j;
  }
  return to;
}

//===----------------------------------------------------------------------===//
// quantize<To>(values, scales)
//===----------------------------------------------------------------------===//

// The codes 254 - c, which are the inverse powers; NaN stays NaN.
template <int S, int V>
__device__ __forceinline__ Tile<ue8m0, S, V> inverse(Tile<ue8m0, S, V> powers) {
#pragma unroll
  for (int i = 0; i < S * Tile<ue8m0, S, V>::vector_words; ++i) {
    // Bytewise, without borrows from one to the next.
    const unsigned word = powers.words[i];
    powers.words[i] =
        (0xFEFEFEFEu - (word & 0x7F7F7F7Fu)) ^ (word & 0x80808080u);
  }
  return powers;
}

// The scale in the form that Divisor<Scale> takes.
template <typename Scale, int R, int G>
__device__ __forceinline__ Tile<float, R, G>
divisors(const Tile<Scale, R, G> &scales) {
  return convert<float>(scales);
}
template <int R, int G>
__device__ __forceinline__ Tile<float, R, G>
divisors(const Tile<ue8m0, R, G> &scales) {
  return convert<float>(inverse(scales));
}

// A scale, positive or NaN, in the form that elements are quantised by.
template <typename Scale, typename From>
struct Divisor {
  float stretch, inverse, by;
  __device__ __forceinline__ explicit Divisor(float scale) {
    // Far from zero, where the remainder below is exact, and so is the inverse.
    stretch = scale < 0x1p-60f ? 0x1p64f : scale >= 0x1p64f ? 0x1p-64f : 1.0f;
    by = mul_f32(scale, stretch);
    inverse = div_f32(1.0f, by);
  }
  // value / scale, rounded to nearest wherever a code depends on it.
  __device__ __forceinline__ float quotient(float value) const {
    const float scaled = mul_f32(value, stretch),
                first = mul_f32(scaled, inverse);
    // The last bit may be wrong, but the quotient is never on the wrong side of
    // a number of five significant bits, where codes change. Checked for the
    // significands of all values, with the scales that bring the quotient
    // closest to such a number. An excess of 0 leaves -0 as it is.
    const float excess = fma_f32(first, by, -scaled),
                better = fma_f32(excess, -inverse, first);
    return better == better ? better : first; // Infinity has no remainder.
  }
};
template <typename From>
struct Divisor<ue8m0, From> {
  float inverse;
  __device__ __forceinline__ explicit Divisor(float inverse)
      : inverse(inverse) {}
  __device__ __forceinline__ float quotient(float value) const {
    return mul_f32(value, inverse);
  }
};
// Quotients of bf16 need no correction: they are farther than 2^-33 of
// themselves from where rounding to float brings them to a number of five
// significant bits or beyond. Only powers of two by the float below a power of
// two are nearer, by 2^-48, and they round the right way.
template <>
struct Divisor<float, bf16> {
  // Together more than the inverse of the scale, by up to 2^-36 of it. Both are
  // positive, so infinities and zeros keep their signs.
  float inverse, rest;
  __device__ __forceinline__ explicit Divisor(float scale) {
    const unsigned near = as_unsigned(rcp_approx_f32(scale)); // Within 1 ulp.
    inverse = as_float(near - 4);
    rest = mul_f32(fma_f32(-inverse, scale, 1.0f), as_float(near + 64));
  }
  __device__ __forceinline__ float quotient(float value) const {
    return fma_f32(value, inverse, mul_f32(value, rest));
  }
};

// Divides scales whose inverses are too near to zero for that, and their
// values, by the same power of two.
template <int S, int V, typename Scale, int R, int G>
__device__ __forceinline__ void bring_near(Tile<bf16, S, V> &, Scale,
                                           Tile<float, R, G> &) {}
template <int S, int V, int R, int G>
__device__ __forceinline__ void bring_near(Tile<bf16, S, V> &values, float,
                                           Tile<float, R, G> &scales) {
  constexpr int per_scale = S * V / (R * G);
  bool far = false;
#pragma unroll
  for (int i = 0; i < R * G; ++i)
    far |= scales[i] >= 0x1p64f;
  if (far) {
#pragma unroll
    for (int i = 0; i < S * V / 2; ++i)
      values.words[i] = mul_bf16x2(
          values.words[i],
          scales[2 * i / per_scale] >= 0x1p64f ? 0x1F801F80u : 0x3F803F80u);
#pragma unroll
    for (int i = 0; i < R * G; ++i)
      scales[i] = mul_f32(scales[i], scales[i] >= 0x1p64f ? 0x1p-64f : 1.0f);
  }
}

// Whether a value has the code above a bound; that code is even.
__device__ __forceinline__ unsigned even_above(ties_even, unsigned x,
                                               unsigned bound) {
  return geu_bf16x2(x, bound);
}
__device__ __forceinline__ unsigned even_above(ties_down, unsigned x,
                                               unsigned bound) {
  return gtu_bf16x2(x, bound);
}

// The bits of a where the mask has ones, those of b elsewhere.
__device__ __forceinline__ unsigned choose(unsigned mask, unsigned a,
                                           unsigned b) {
  return (mask & a) | (~mask & b);
}

// Eight bf16 divided by their scale, as E2M1, without a quotient: a bound of 3
// bits times a scale of at most 4 bits is a bf16, and no other quotient comes
// near a bound between codes. NaN scales give 7.
struct Thresholds {
  unsigned bounds[7], signs;
  __device__ __forceinline__ explicit Thresholds(float scale) {
    const unsigned pair = cvt_bf16x2_f32(scale, scale);
    // 0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5.
    const unsigned middles[7] = {0x3E803E80u, 0x3F403F40u, 0x3FA03FA0u,
                                 0x3FE03FE0u, 0x40204020u, 0x40604060u,
                                 0x40A040A0u};
#pragma unroll
    for (int i = 0; i < 7; ++i)
      bounds[i] = mul_bf16x2(pair, middles[i]);
    // Infinity is above any bound.
    if (bounds[6] == 0x7F807F80u)
      bounds[6] = 0x7F7F7F7Fu;
    signs = scale == scale ? 0x80008000u : 0;
  }
  // The codes of a pair, in bits 0 to 3 and 16 to 19, one bit after the other:
  // the bounds of a bit depend on the bits before it.
  template <typename Ties>
  __device__ __forceinline__ unsigned codes(Ties, unsigned pair) const {
    const unsigned x = pair & 0x7FFF7FFFu;
    const unsigned high = even_above(Ties(), x, bounds[3]);
    const unsigned middle =
        even_above(Ties(), x, choose(high, bounds[5], bounds[1]));
    const unsigned low =
        gtu_bf16x2(x, choose(high, choose(middle, bounds[6], bounds[4]),
                             choose(middle, bounds[2], bounds[0])));
    return (high & 0x00040004u) | (middle & 0x00020002u) | (low & 0x00010001u) |
           ((pair & signs) >> 12);
  }
};

template <typename Ties, typename Zero>
__device__ __forceinline__ unsigned
quantize_word(Ties, Zero, const unsigned *pairs, const Thresholds &by) {
  // Pairs of elements 0 and 4, 1 and 5 and so on, whose codes need no shuffle.
  unsigned word = 0;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const unsigned pair =
        permute_bytes(pairs[i / 2], pairs[i / 2 + 2], i % 2 ? 0x7632 : 0x5410);
    word |= by.codes(Ties(), pair) << 4 * i;
  }
  return finish(Zero(), word);
}

// Divides every value by the scale it shares with its neighbours, rounds the
// quotient to float, and encodes it. Each scale covers the same number of
// consecutive values of the lane.
template <typename To, typename Ties = ties_even,
          typename Zero = keep_negative_zero, typename From, int S, int V,
          typename Scale, int R, int G>
__device__ __forceinline__ Tile<To, S, V>
quantize(const Tile<From, S, V> &from, const Tile<Scale, R, G> &scales) {
  constexpr int per_word = 32 / bits_of<To>::value, per_scale = S * V / (R * G);
  static_assert(S * V % (R * G) == 0, "scales stand for equally many values");
  Tile<To, S, V> to;
  if constexpr (V % per_word == 0 && per_scale % per_word == 0 &&
                bits_of<To>::value == 4 && bits_of<From>::value == 16 &&
                bits_of<Scale>::value == 8) {
    const Tile<float, R, G> scale = convert<float>(scales);
#pragma unroll
    for (int i = 0; i < R * G; ++i) {
      const Thresholds by(scale[i]);
#pragma unroll
      for (int j = i * per_scale / 8; j < (i + 1) * per_scale / 8; ++j)
        to.words[j] = quantize_word(Ties(), Zero(), from.words + 4 * j, by);
    }
    return to;
  } else {
    Tile<float, R, G> scale = divisors(scales);
    if constexpr (V % per_word == 0 && per_scale % per_word == 0 &&
                  bits_of<From>::value == 16) {
      Tile<From, S, V> near = from;
      bring_near(near, Scale(), scale);
      // One word at a time, because the quotients of all would take more
      // registers.
#pragma unroll
      for (int i = 0; i < R * G; ++i) {
        const Divisor<Scale, From> by(scale[i]);
#pragma unroll
        for (int j = i * per_scale / per_word;
             j < (i + 1) * per_scale / per_word; ++j) {
          float quotients[per_word];
#pragma unroll
          for (int k = 0; k < per_word; k += 2) {
            const unsigned pair = near.words[(j * per_word + k) / 2];
            quotients[k] = by.quotient(as_float(pair << 16));
            quotients[k + 1] = by.quotient(as_float(pair & 0xFFFF0000u));
          }
          to.words[j] = encode_word(To(), Ties(), Zero(), quotients);
        }
      }
      return to;
    }
    const Tile<float, S, V> values = convert<float>(from);
    Tile<float, S, V> quotients;
#pragma unroll
    for (int i = 0; i < R * G; ++i) {
      const Divisor<Scale, float> by(scale[i]);
#pragma unroll
      for (int j = i * per_scale; j < (i + 1) * per_scale; ++j)
        quotients[j] = by.quotient(values[j]);
    }
    return encode<To, Ties, Zero>(quotients);
  }
}

} // namespace dsv4
