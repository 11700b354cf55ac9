//===- rows.cuh - Rows that several lanes hold ------------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `Lanes` lanes hold a row, one tile each: element e belongs to step s, lane l
// and position v with e = (s * Lanes + l) * V + v. All lanes call the functions
// that need other lanes. Every result depends on the row alone, never on its
// distribution.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "core/memory.cuh"
#include "rows/convert.cuh"

namespace dsv4 {

//===----------------------------------------------------------------------===//
// With a number for every element
//===----------------------------------------------------------------------===//

template <int S, int V>
__device__ __forceinline__ Tile<float, S, V> operator+(Tile<float, S, V> a,
                                                       float b) {
#pragma unroll
  for (int i = 0; i < S * V; ++i)
    a.words[i] = add_f32(a.words[i], b);
  return a;
}
template <int S, int V>
__device__ __forceinline__ Tile<float, S, V> operator-(Tile<float, S, V> a,
                                                       float b) {
#pragma unroll
  for (int i = 0; i < S * V; ++i)
    a.words[i] = sub_f32(a.words[i], b);
  return a;
}
template <int S, int V>
__device__ __forceinline__ Tile<float, S, V> operator-(float a,
                                                       Tile<float, S, V> b) {
#pragma unroll
  for (int i = 0; i < S * V; ++i)
    b.words[i] = sub_f32(a, b.words[i]);
  return b;
}
template <int S, int V>
__device__ __forceinline__ Tile<float, S, V> operator/(Tile<float, S, V> a,
                                                       float b) {
#pragma unroll
  for (int i = 0; i < S * V; ++i)
    a.words[i] = div_f32(a.words[i], b);
  return a;
}
template <int S, int V>
__device__ __forceinline__ Tile<float, S, V> operator/(float a,
                                                       Tile<float, S, V> b) {
#pragma unroll
  for (int i = 0; i < S * V; ++i)
    b.words[i] = div_f32(a, b.words[i]);
  return b;
}
// A NaN loses against the number.
template <int S, int V>
__device__ __forceinline__ Tile<float, S, V> max(Tile<float, S, V> a, float b) {
#pragma unroll
  for (int i = 0; i < S * V; ++i)
    a.words[i] = max_f32(a.words[i], b);
  return a;
}
template <int S, int V>
__device__ __forceinline__ Tile<float, S, V> min(Tile<float, S, V> a, float b) {
#pragma unroll
  for (int i = 0; i < S * V; ++i)
    a.words[i] = min_f32(a.words[i], b);
  return a;
}
template <int S, int V>
__device__ __forceinline__ Tile<float, S, V> sqrt(Tile<float, S, V> a) {
#pragma unroll
  for (int i = 0; i < S * V; ++i)
    a.words[i] = sqrt_f32(a.words[i]);
  return a;
}

// Replaces every NaN by the one that arithmetic makes.
template <int S, int V>
__device__ __forceinline__ Tile<float, S, V> one_nan(Tile<float, S, V> a) {
#pragma unroll
  for (int i = 0; i < S * V; ++i)
    a.words[i] = max_nan_f32(a.words[i], a.words[i]);
  return a;
}

//===----------------------------------------------------------------------===//
// Parts of rows
//===----------------------------------------------------------------------===//

// Steps Begin .. Begin + Count - 1.
template <int Begin, int Count, typename T, int S, int V>
__device__ __forceinline__ Tile<T, Count, V> steps(const Tile<T, S, V> &from) {
  static_assert(Begin >= 0 && Count > 0 && Begin + Count <= S, "out of range");
  constexpr int words = Tile<T, S, V>::vector_words;
  Tile<T, Count, V> to;
#pragma unroll
  for (int i = 0; i < Count * words; ++i)
    to.words[i] = from.words[Begin * words + i];
  return to;
}

// The lane's vector that starts at this column of the row.
template <int Lanes, int S, int V>
__device__ __forceinline__ Tile<float, 1, V>
columns(const Tile<float, S, V> &row, int column) {
  Tile<float, 1, V> to;
#pragma unroll
  for (int i = 0; i < V; ++i)
    to.words[i] = row.words[column / (Lanes * V) * V + i];
  return to;
}

// The steps of one tile, then those of the other.
template <typename T, int S1, int S2, int V>
__device__ __forceinline__ Tile<T, S1 + S2, V>
join(const Tile<T, S1, V> &first, const Tile<T, S2, V> &second) {
  constexpr int words = Tile<T, S1, V>::vector_words;
  Tile<T, S1 + S2, V> to;
#pragma unroll
  for (int i = 0; i < S1 * words; ++i)
    to.words[i] = first.words[i];
#pragma unroll
  for (int i = 0; i < S2 * words; ++i)
    to.words[S1 * words + i] = second.words[i];
  return to;
}

// Element `i` of one vector, whose bits are zero, becomes element `at` of
// another.
template <typename T, int N, int M>
__device__ __forceinline__ void put_element(Vec<T, N> &to, int i,
                                            const Vec<T, M> &from, int at) {
  constexpr int bits = bits_of<T>::value, per_word = 32 / bits;
  if constexpr (bits == 32)
    to.words[i] = from.words[at];
  else
    to.words[i / per_word] |=
        (from.words[at / per_word] >> at % per_word * bits & ((1u << bits) - 1))
        << i % per_word * bits;
}

// The elements of one vector, then those of the other.
template <typename T, int N1, int N2>
__device__ __forceinline__ Vec<T, N1 + N2>
join_vectors(const Vec<T, N1> &first, const Vec<T, N2> &second) {
  Vec<T, N1 + N2> to = {};
#pragma unroll
  for (int i = 0; i < N1; ++i)
    put_element(to, i, first, i);
#pragma unroll
  for (int i = 0; i < N2; ++i)
    put_element(to, N1 + i, second, i);
  return to;
}

// The columns of a matrix of `Rows` rows, one after another.
template <int Rows, typename T, int N>
__device__ __forceinline__ Vec<T, N> transpose(const Vec<T, N> &from) {
  static_assert(N % Rows == 0, "whole rows");
  Vec<T, N> to = {};
#pragma unroll
  for (int i = 0; i < N; ++i)
    put_element(to, i, from, i % Rows * (N / Rows) + i / Rows);
  return to;
}

// The first `vectors` vectors, every element of the others the number.
template <int S, int V>
__device__ __forceinline__ Tile<float, S, V>
keep_vectors(Tile<float, S, V> tile, int vectors, float otherwise) {
#pragma unroll
  for (int i = 0; i < S * V; ++i)
    tile.words[i] = i / V < vectors ? tile.words[i] : otherwise;
  return tile;
}

// The same of elements of less than 32 bits, zero bits in the others.
template <typename T, int S, int V>
__device__ __forceinline__ Tile<T, S, V> keep_vectors(Tile<T, S, V> tile,
                                                      int vectors, float) {
  constexpr int words = Tile<T, S, V>::vector_words;
#pragma unroll
  for (int i = 0; i < S * words; ++i)
    tile.words[i] = i / words < vectors ? tile.words[i] : 0u;
  return tile;
}

// The first or the second element of every pair of neighbours.
template <int S, int V>
__device__ __forceinline__ Tile<float, S, V / 2>
evens(const Tile<float, S, V> &from) {
  Tile<float, S, V / 2> to;
#pragma unroll
  for (int i = 0; i < S * V / 2; ++i)
    to.words[i] = from.words[2 * i];
  return to;
}
template <int S, int V>
__device__ __forceinline__ Tile<float, S, V / 2>
odds(const Tile<float, S, V> &from) {
  Tile<float, S, V / 2> to;
#pragma unroll
  for (int i = 0; i < S * V / 2; ++i)
    to.words[i] = from.words[2 * i + 1];
  return to;
}
template <int S, int V>
__device__ __forceinline__ Tile<float, S, 2 * V>
interleave(const Tile<float, S, V> &evens, const Tile<float, S, V> &odds) {
  Tile<float, S, 2 * V> to;
#pragma unroll
  for (int i = 0; i < S * V; ++i) {
    to.words[2 * i] = evens.words[i];
    to.words[2 * i + 1] = odds.words[i];
  }
  return to;
}

// The same elements and zeros after them.
template <int To, typename T, int N>
__device__ __forceinline__ Vec<T, To> pad(const Vec<T, N> &from) {
  static_assert(To >= N, "zeros after elements");
  Vec<T, To> to = {};
#pragma unroll
  for (int i = 0; i < Vec<T, N>::vector_words; ++i)
    to.words[i] = from.words[i];
  if constexpr (N * bits_of<T>::value % 32 != 0)
    to.words[Vec<T, N>::vector_words - 1] &=
        (1u << N * bits_of<T>::value % 32) - 1;
  return to;
}

//===----------------------------------------------------------------------===//
// One value for a group of elements
//===----------------------------------------------------------------------===//

// The group values that a lane holds: those of its elements, or those of the
// whole row if a group is a step or more. Groups of one element are distributed
// like elements.
template <bool Whole, int Lanes, int Group, int S, int V>
struct GroupTile {
  using type = Tile<float, S, (V > Group ? V / Group : 1)>;
};
template <int Lanes, int Group, int S, int V>
struct GroupTile<true, Lanes, Group, S, V> {
  using type = Tile<float, 1, S * V * Lanes / Group>;
};
template <int Lanes, int Group, int S, int V>
using Groups = typename GroupTile<(Group > 1 && Group >= Lanes * V), Lanes,
                                  Group, S, V>::type;

// Operations on pairs of values, for fold_lanes and fold_tree.
struct Sum {
  __device__ __forceinline__ static float fold(float a, float b) {
    return add_f32(a, b);
  }
};
struct Max {
  __device__ __forceinline__ static float fold(float a, float b) {
    return max_f32(a, b);
  }
};
struct MaxNaN {
  __device__ __forceinline__ static float fold(float a, float b) {
    return max_nan_f32(a, b);
  }
};

// Folds neighbours until one value is left; an unpaired value moves up
// unchanged.
template <typename Op, int N>
__device__ __forceinline__ void fold_tree(float *values) {
  if constexpr (N > 1) {
#pragma unroll
    for (int i = 0; i < N / 2; ++i)
      values[i] = Op::fold(values[2 * i], values[2 * i + 1]);
    if constexpr (N % 2 != 0)
      values[N / 2] = values[N - 1];
    fold_tree<Op, (N + 1) / 2>(values);
  }
}

// Folds the values of a lane with those of its `Count` neighbours, nearest
// first.
template <typename Op, int Lanes, int Count, int N>
__device__ __forceinline__ void fold_lanes(float *values) {
  if constexpr (N > 1 && N <= 8 && Count >= 16) {
    // Of two values a lane continues with one and its neighbour with the other,
    // which needs fewer exchanges than if every lane kept all values.
    constexpr int width = N <= 2 ? 2 : N <= 4 ? 4 : 8;
    int left = N;
#pragma unroll
    for (int distance = 1; distance < width; distance *= 2) {
      const bool second = threadIdx.x & distance;
#pragma unroll
      for (int i = 0; i < (left + 1) / 2; ++i) {
        const float a = values[2 * i],
                    b = values[2 * i + 1 < left ? 2 * i + 1 : 2 * i];
        values[i] =
            Op::fold(second ? b : a, exchange<Lanes>(second ? a : b, distance));
      }
      left = (left + 1) / 2;
    }
    float own = values[0];
#pragma unroll
    for (int distance = width; distance < Count; distance *= 2)
      own = Op::fold(own, exchange<Lanes>(own, distance));
#pragma unroll
    for (int i = 0; i < N; ++i)
      values[i] = from_lane<Lanes, width>(own, i);
  } else {
#pragma unroll
    for (int distance = 1; distance < Count; distance *= 2)
#pragma unroll
      for (int i = 0; i < N; ++i)
        values[i] = Op::fold(values[i], exchange<Lanes>(values[i], distance));
  }
}

// The number of lanes that share a group, and of steps of a lane.
template <int Lanes, int Group, int V>
struct GroupFragment {
  enum : int {
    lanes = Group <= V          ? 1
            : Group < Lanes * V ? Group / V
                                : Lanes,
    steps = Group >= Lanes * V ? Group / (Lanes * V) : 1
  };
};

// From values of vectors, or of parts of vectors, to values of groups: folds
// the lanes that share a group, then the steps.
template <typename Op, int Lanes, int Group, int S, int V, int N>
__device__ __forceinline__ Groups<Lanes, Group, S, V>
fold_groups(float (&values)[N]) {
  constexpr int steps = GroupFragment<Lanes, Group, V>::steps;
  fold_lanes<Op, Lanes, GroupFragment<Lanes, Group, V>::lanes, N>(values);
  Groups<Lanes, Group, S, V> to;
#pragma unroll
  for (int i = 0; i < N / steps; ++i) {
    fold_tree<Op, steps>(values + i * steps);
    to.words[i] = values[i * steps];
  }
  return to;
}

// Sums of groups as binary trees of neighbours.
template <int Lanes, int Group, int S, int V>
__device__ __forceinline__ Groups<Lanes, Group, S, V>
sum(const Tile<float, S, V> &from) {
  constexpr int part = Group < V ? Group : V;
  float values[S * V / part];
#pragma unroll
  for (int i = 0; i < S * V / part; ++i) {
    float elements[part];
#pragma unroll
    for (int j = 0; j < part; ++j)
      elements[j] = from.words[i * part + j];
    fold_tree<Sum, part>(elements);
    values[i] = elements[0];
  }
  return fold_groups<Sum, Lanes, Group, S, V>(values);
}

__device__ __forceinline__ unsigned max_pairs(Max, bf16, unsigned a,
                                              unsigned b) {
  return max_bf16x2(a, b);
}
__device__ __forceinline__ unsigned max_pairs(MaxNaN, bf16, unsigned a,
                                              unsigned b) {
  return max_nan_bf16x2(a, b);
}
__device__ __forceinline__ unsigned max_pairs(Max, f16, unsigned a,
                                              unsigned b) {
  return max_f16x2(a, b);
}
__device__ __forceinline__ unsigned max_pairs(MaxNaN, f16, unsigned a,
                                              unsigned b) {
  return max_nan_f16x2(a, b);
}

// The bits of the largest finite value of a type, as float.
__device__ constexpr unsigned largest_of(bf16) { return 0x7F7F0000u; }
__device__ constexpr unsigned largest_of(f16) { return 0x477FE000u; }
__device__ constexpr unsigned largest_of(float) { return 0x7F7FFFFFu; }

// The largest magnitude of a group, infinity as the largest finite value.
template <typename Op, int Lanes, int Group, typename T, int S, int V>
__device__ __forceinline__ Groups<Lanes, Group, S, V>
fold_magnitudes(const Tile<T, S, V> &from) {
  using Fragment = GroupFragment<Lanes, Group, V>;
  // Folds all that a lane has of a group first: the order does not matter.
  constexpr int consecutive = Group < V ? Group : V,
                part = consecutive * Fragment::steps, count = S * V / part;
  Groups<Lanes, Group, S, V> to;
  if constexpr (bits_of<T>::value == 16 && consecutive % 2 == 0) {
#pragma unroll
    for (int i = 0; i < count; ++i) {
      unsigned pairs = 0;
#pragma unroll
      for (int j = 0; j < part / 2; ++j)
        pairs = max_pairs(Op(), T(), pairs,
                          from.words[i * part / 2 + j] & 0x7FFF7FFFu);
      float values[2];
      decode(values, T(), pairs);
      to.words[i] = Op::fold(values[0], values[1]);
    }
  } else {
    const Tile<float, S, V> floats = convert<float>(from);
#pragma unroll
    for (int i = 0; i < count; ++i) {
      to.words[i] = 0.0f;
#pragma unroll
      for (int j = 0; j < part; ++j)
        to.words[i] = Op::fold(
            to.words[i],
            as_float(as_unsigned(floats.words[i * part + j]) & 0x7FFFFFFFu));
    }
  }
  if constexpr (Fragment::lanes == 32) {
    // Magnitudes are in the order of their bits, NaN last.
#pragma unroll
    for (int i = 0; i < count; ++i)
      to.words[i] =
          as_float(__reduce_max_sync(0xFFFFFFFFu, as_unsigned(to.words[i])));
  } else {
    fold_lanes<Op, Lanes, Fragment::lanes, count>(to.words);
  }
  constexpr unsigned largest = largest_of(T());
#pragma unroll
  for (int i = 0; i < count; ++i)
    if (as_unsigned(to.words[i]) == 0x7F800000u)
      to.words[i] = as_float(largest);
  return to;
}

// A NaN is ignored.
template <int Lanes, int Group, typename T, int S, int V>
__device__ __forceinline__ Groups<Lanes, Group, S, V>
max_abs(const Tile<T, S, V> &from) {
  return fold_magnitudes<Max, Lanes, Group>(from);
}
// NaN if there is one.
template <int Lanes, int Group, typename T, int S, int V>
__device__ __forceinline__ Groups<Lanes, Group, S, V>
max_abs_nan(const Tile<T, S, V> &from) {
  return fold_magnitudes<MaxNaN, Lanes, Group>(from);
}

//===----------------------------------------------------------------------===//
// Transforms and searches
//===----------------------------------------------------------------------===//

// Elements i and i + h become their sum and their difference, for h = 1, 2, 4
// ... in turn.
template <int Lanes, int S, int V>
__device__ __forceinline__ Tile<float, S, V> hadamard(Tile<float, S, V> row) {
#pragma unroll
  for (int h = 1; h < V; h *= 2) {
#pragma unroll
    for (int i = 0; i < S * V; ++i)
      if (!(i & h)) {
        const float a = row.words[i], b = row.words[i + h];
        row.words[i] = add_f32(a, b);
        row.words[i + h] = sub_f32(a, b);
      }
  }
#pragma unroll
  for (int h = 1; h < Lanes; h *= 2) {
    const bool second = threadIdx.x & h;
#pragma unroll
    for (int i = 0; i < S * V; ++i) {
      const float own = row.words[i], other = exchange<Lanes>(own, h);
      row.words[i] = second ? sub_f32(other, own) : add_f32(own, other);
    }
  }
#pragma unroll
  for (int h = 1; h < S; h *= 2) {
#pragma unroll
    for (int i = 0; i < S * V; ++i)
      if (!(i / V & h)) {
        const float a = row.words[i], b = row.words[i + h * V];
        row.words[i] = add_f32(a, b);
        row.words[i + h * V] = sub_f32(a, b);
      }
  }
  return row;
}

} // namespace dsv4
