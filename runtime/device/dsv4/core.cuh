//===- core.cuh - Elements, vectors and tiles in registers -----------------===//
//
// A row of a tensor lives in the registers of the lanes that share it: each lane
// holds one `Tile`, its chunks in the order of the steps. A `Vec` is the one-
// dimensional case. Arithmetic is elementwise, in fp32, one rounding per operation.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "primitives.cuh"

namespace dsv4 {

//===----------------------------------------------------------------------===//
// Element types: bits in memory, no arithmetic of their own
//===----------------------------------------------------------------------===//

struct e4m3 { unsigned char bits; };  // sign, 4 exponent bits (bias 7), 3 mantissa bits; 0x7F is NaN
struct ue8m0 { unsigned char bits; }; // 2^(bits - 127); 0xFF is NaN
struct bf16 { unsigned short bits; }; // the upper half of a float
struct e2m1 {};                       // a nibble: sign, 2 exponent bits (bias 1), 1 mantissa bit
struct i4 {};                         // a nibble, two's complement

template <typename T> inline constexpr int bits_of = 8 * sizeof(T);
template <> inline constexpr int bits_of<e2m1> = 4;
template <> inline constexpr int bits_of<i4> = 4;

// The register type of a 32-bit word of elements: elements of less than 32 bits
// are packed into it, the first one lowest.
template <typename T> struct WordOf { using type = unsigned; };
template <> struct WordOf<float> { using type = float; };
template <> struct WordOf<int> { using type = int; };

//===----------------------------------------------------------------------===//
// Vec and Tile
//===----------------------------------------------------------------------===//

// N consecutive elements.
template <typename T, int N> struct Vec {
  static constexpr int bytes = (N * bits_of<T> + 7) / 8;
  static constexpr int word_count = (N * bits_of<T> + 31) / 32;

  typename WordOf<T>::type words[word_count];

  // Elements of 32 bits only.
  __device__ __forceinline__ T &operator[](int i) { return words[i]; }
  __device__ __forceinline__ const T &operator[](int i) const { return words[i]; }
};

// S chunks of V consecutive elements, one chunk per step.
template <typename T, int S, int V> struct Tile {
  Vec<T, V> chunks[S];
};

// Elements Begin .. Begin + Count - 1.
template <int Begin, int Count, typename T, int N>
__device__ __forceinline__ Vec<T, Count> slice(const Vec<T, N> &from) {
  static_assert(Begin >= 0 && Count > 0 && Begin + Count <= N, "slice out of range");
  constexpr int word = Begin * bits_of<T> / 32, shift = Begin * bits_of<T> % 32;
  Vec<T, Count> to;
#pragma unroll
  for (int i = 0; i < Vec<T, Count>::word_count; ++i) {
    if constexpr (shift == 0) {
      to.words[i] = from.words[word + i];
    } else {
      to.words[i] = from.words[word + i] >> shift;
      if (word + i + 1 < Vec<T, N>::word_count)
        to.words[i] |= from.words[word + i + 1] << (32 - shift);
    }
  }
  return to;
}

// The same value V times.
template <int V> __device__ __forceinline__ Vec<float, V> splat(float value) {
  Vec<float, V> to;
#pragma unroll
  for (int i = 0; i < V; ++i)
    to.words[i] = value;
  return to;
}

// One value per step, repeated over the V elements of the step's chunk.
template <int V, int S> __device__ __forceinline__ Tile<float, S, V> broadcast(const Vec<float, S> &from) {
  Tile<float, S, V> to;
#pragma unroll
  for (int s = 0; s < S; ++s)
    to.chunks[s] = splat<V>(from.words[s]);
  return to;
}

// N values, each repeated over S / N consecutive chunks of V elements.
template <int S, int V, int N> __device__ __forceinline__ Tile<float, S, V> repeat(const Vec<float, N> &from) {
  static_assert(S % N == 0, "a value covers whole chunks");
  Tile<float, S, V> to;
#pragma unroll
  for (int s = 0; s < S; ++s)
    to.chunks[s] = splat<V>(from.words[s / (S / N)]);
  return to;
}

// G values per chunk, each repeated over the V / G elements of its group.
template <int V, int S, int G>
__device__ __forceinline__ Tile<float, S, V> expand(const Tile<float, S, G> &from) {
  static_assert(V % G == 0, "a chunk holds whole groups");
  Tile<float, S, V> to;
#pragma unroll
  for (int s = 0; s < S; ++s)
#pragma unroll
    for (int i = 0; i < V; ++i)
      to.chunks[s].words[i] = from.chunks[s].words[i / (V / G)];
  return to;
}

// For records whose even elements are in the high nibbles.
template <typename T, int N> __device__ __forceinline__ Vec<T, N> swap_nibbles(Vec<T, N> value) {
  static_assert(bits_of<T> == 4, "elements of 4 bits");
#pragma unroll
  for (int i = 0; i < Vec<T, N>::word_count; ++i)
    value.words[i] = (value.words[i] & 0x0F0F0F0Fu) << 4 | (value.words[i] >> 4 & 0x0F0F0F0Fu);
  return value;
}
template <typename T, int S, int V> __device__ __forceinline__ Tile<T, S, V> swap_nibbles(Tile<T, S, V> value) {
#pragma unroll
  for (int s = 0; s < S; ++s)
    value.chunks[s] = swap_nibbles(value.chunks[s]);
  return value;
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

__device__ __forceinline__ float min(float a, float b) { return min_f32(a, b); }
__device__ __forceinline__ float max(float a, float b) { return max_f32(a, b); }

template <int N> __device__ __forceinline__ Vec<float, N> operator+(Vec<float, N> a, const Vec<float, N> &b) {
#pragma unroll
  for (int i = 0; i < N; ++i)
    a.words[i] = add_f32(a.words[i], b.words[i]);
  return a;
}
template <int N> __device__ __forceinline__ Vec<float, N> operator-(Vec<float, N> a, const Vec<float, N> &b) {
#pragma unroll
  for (int i = 0; i < N; ++i)
    a.words[i] = sub_f32(a.words[i], b.words[i]);
  return a;
}
template <int N> __device__ __forceinline__ Vec<float, N> operator*(Vec<float, N> a, const Vec<float, N> &b) {
#pragma unroll
  for (int i = 0; i < N; ++i)
    a.words[i] = mul_f32(a.words[i], b.words[i]);
  return a;
}
template <int N> __device__ __forceinline__ Vec<float, N> operator/(Vec<float, N> a, const Vec<float, N> &b) {
#pragma unroll
  for (int i = 0; i < N; ++i)
    a.words[i] = div_f32(a.words[i], b.words[i]);
  return a;
}
template <int N> __device__ __forceinline__ Vec<float, N> min(Vec<float, N> a, const Vec<float, N> &b) {
#pragma unroll
  for (int i = 0; i < N; ++i)
    a.words[i] = min_f32(a.words[i], b.words[i]);
  return a;
}
template <int N> __device__ __forceinline__ Vec<float, N> max(Vec<float, N> a, const Vec<float, N> &b) {
#pragma unroll
  for (int i = 0; i < N; ++i)
    a.words[i] = max_f32(a.words[i], b.words[i]);
  return a;
}
template <int N> __device__ __forceinline__ Vec<float, N> operator*(float a, const Vec<float, N> &b) {
  return splat<N>(a) * b;
}
template <int N> __device__ __forceinline__ Vec<float, N> operator*(const Vec<float, N> &a, float b) {
  return a * splat<N>(b);
}

template <int S, int V>
__device__ __forceinline__ Tile<float, S, V> operator+(Tile<float, S, V> a, const Tile<float, S, V> &b) {
#pragma unroll
  for (int s = 0; s < S; ++s)
    a.chunks[s] = a.chunks[s] + b.chunks[s];
  return a;
}
template <int S, int V>
__device__ __forceinline__ Tile<float, S, V> operator-(Tile<float, S, V> a, const Tile<float, S, V> &b) {
#pragma unroll
  for (int s = 0; s < S; ++s)
    a.chunks[s] = a.chunks[s] - b.chunks[s];
  return a;
}
template <int S, int V>
__device__ __forceinline__ Tile<float, S, V> operator*(Tile<float, S, V> a, const Tile<float, S, V> &b) {
#pragma unroll
  for (int s = 0; s < S; ++s)
    a.chunks[s] = a.chunks[s] * b.chunks[s];
  return a;
}
template <int S, int V>
__device__ __forceinline__ Tile<float, S, V> operator/(Tile<float, S, V> a, const Tile<float, S, V> &b) {
#pragma unroll
  for (int s = 0; s < S; ++s)
    a.chunks[s] = a.chunks[s] / b.chunks[s];
  return a;
}
template <int S, int V>
__device__ __forceinline__ Tile<float, S, V> min(Tile<float, S, V> a, const Tile<float, S, V> &b) {
#pragma unroll
  for (int s = 0; s < S; ++s)
    a.chunks[s] = min(a.chunks[s], b.chunks[s]);
  return a;
}
template <int S, int V>
__device__ __forceinline__ Tile<float, S, V> max(Tile<float, S, V> a, const Tile<float, S, V> &b) {
#pragma unroll
  for (int s = 0; s < S; ++s)
    a.chunks[s] = max(a.chunks[s], b.chunks[s]);
  return a;
}
template <int S, int V> __device__ __forceinline__ Tile<float, S, V> operator*(float a, Tile<float, S, V> b) {
#pragma unroll
  for (int s = 0; s < S; ++s)
    b.chunks[s] = a * b.chunks[s];
  return b;
}
template <int S, int V> __device__ __forceinline__ Tile<float, S, V> operator*(const Tile<float, S, V> &a, float b) {
  return b * a;
}

} // namespace dsv4
