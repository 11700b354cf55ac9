//===- memory.cuh - Between global memory and registers ---------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `Align` is the known alignment of the address and the stride, in bytes; 0
// means the natural one: the largest power of two that divides the size of a
// vector. A function makes accesses of at most min(Align, 16) bytes.
// `Policy` is evict_normal or evict_last; accesses of less than 4 bytes ignore
// it.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "core/core.cuh"

namespace dsv4 {

// The given alignment, or the natural one of `bytes`.
__device__ constexpr int alignment_of(int align, int bytes) {
  return align ? align : bytes & -bytes;
}

//===----------------------------------------------------------------------===//
// Bytes
//===----------------------------------------------------------------------===//

// Bytes of memory -> words; bytes past the end of the last word are zero. If
// the condition is false, all are.
template <int Bytes, int Align, typename Policy>
__device__ __forceinline__ void load_bytes(unsigned *to, bool condition,
                                           const char *from) {
  constexpr int by16 = Align >= 16 ? Bytes / 16 * 16 : 0;
  constexpr int by8 = Align >= 8 ? Bytes / 8 * 8 : by16;
  constexpr int by4 = Align >= 4 ? Bytes / 4 * 4 : by8;
  constexpr int by2 = Align >= 2 ? Bytes / 2 * 2 : by4;
  if constexpr (0 < by16) {
#pragma unroll
    for (int at = 0; at < by16; at += 16)
      ld_16(to + at / 4, condition, from + at, Policy());
  }
  if constexpr (by16 < by8) {
#pragma unroll
    for (int at = by16; at < by8; at += 8)
      ld_8(to + at / 4, condition, from + at, Policy());
  }
  if constexpr (by8 < by4) {
#pragma unroll
    for (int at = by8; at < by4; at += 4)
      ld_4(to + at / 4, condition, from + at, Policy());
  }
  if constexpr (by4 < by2) {
#pragma unroll
    for (int at = by4; at < by2; at += 2)
      to[at / 4] = (at % 4 ? to[at / 4] : 0) |
                   ld_2(condition, from + at, Policy()) << at % 4 * 8;
  }
  if constexpr (by2 < Bytes) {
#pragma unroll
    for (int at = by2; at < Bytes; ++at)
      to[at / 4] = (at % 4 ? to[at / 4] : 0) |
                   ld_1(condition, from + at, Policy()) << at % 4 * 8;
  }
}

// Words -> bytes of memory, written through the cache or streamed past it.
template <int Bytes, int Align, bool Streaming>
__device__ __forceinline__ void store_bytes(char *to, const unsigned *from) {
  constexpr int by16 = Align >= 16 ? Bytes / 16 * 16 : 0;
  constexpr int by8 = Align >= 8 ? Bytes / 8 * 8 : by16;
  constexpr int by4 = Align >= 4 ? Bytes / 4 * 4 : by8;
  constexpr int by2 = Align >= 2 ? Bytes / 2 * 2 : by4;
  if constexpr (0 < by16) {
#pragma unroll
    for (int at = 0; at < by16; at += 16)
      Streaming ? st_cs_16(to + at, from + at / 4)
                : st_16(to + at, from + at / 4);
  }
  if constexpr (by16 < by8) {
#pragma unroll
    for (int at = by16; at < by8; at += 8)
      Streaming ? st_cs_8(to + at, from + at / 4)
                : st_8(to + at, from + at / 4);
  }
  if constexpr (by8 < by4) {
#pragma unroll
    for (int at = by8; at < by4; at += 4)
      Streaming ? st_cs_4(to + at, from + at / 4)
                : st_4(to + at, from + at / 4);
  }
  if constexpr (by4 < by2) {
#pragma unroll
    for (int at = by4; at < by2; at += 2) {
      const unsigned bits = from[at / 4] >> at % 4 * 8;
      Streaming ? st_cs_2(to + at, bits) : st_2(to + at, bits);
    }
  }
  if constexpr (by2 < Bytes) {
#pragma unroll
    for (int at = by2; at < Bytes; ++at) {
      const unsigned bits = from[at / 4] >> at % 4 * 8;
      Streaming ? st_cs_1(to + at, bits) : st_1(to + at, bits);
    }
  }
}

//===----------------------------------------------------------------------===//
// Loads
//===----------------------------------------------------------------------===//

__device__ __forceinline__ void assign(unsigned &to, unsigned bits) {
  to = bits;
}
__device__ __forceinline__ void assign(int &to, unsigned bits) {
  to = (int)bits;
}
__device__ __forceinline__ void assign(float &to, unsigned bits) {
  to = as_float(bits);
}

template <int Align, typename Policy, typename Condition, typename T, int S,
          int V>
__device__ __forceinline__ void load_into(Tile<T, S, V> &to,
                                          Condition condition, const void *from,
                                          long long stride) {
  constexpr int bytes = Tile<T, S, V>::vector_bytes,
                vector_words = Tile<T, S, V>::vector_words;
  if constexpr (bits_of<T>::value == 32 && S == 1 && V == 4 &&
                alignment_of(Align, bytes) == 16) {
    // The frequent case, without loops, which take long to compile.
    unsigned words[4];
    ld_16(words, condition, from, Policy());
    assign(to.words[0], words[0]);
    assign(to.words[1], words[1]);
    assign(to.words[2], words[2]);
    assign(to.words[3], words[3]);
  } else if constexpr (bits_of<T>::value == 32 && S == 1 && V == 1) {
    unsigned word;
    ld_4(&word, condition, from, Policy());
    assign(to.words[0], word);
  } else {
#pragma unroll
    for (int s = 0; s < S; ++s) {
      const char *vector = (const char *)from + s * stride;
      if constexpr (bits_of<T>::value != 32) {
        load_bytes<bytes, alignment_of(Align, bytes), Policy>(
            to.words + s * vector_words, condition, vector);
      } else {
        unsigned words[V];
        load_bytes<bytes, alignment_of(Align, bytes), Policy>(words, condition,
                                                              vector);
#pragma unroll
        for (int i = 0; i < V; ++i)
          assign(to.words[s * V + i], words[i]);
      }
    }
  }
}
template <int Align, typename Policy, typename Condition, typename T>
__device__ __forceinline__ void load_into(T &to, Condition condition,
                                          const void *from, long long) {
  static_assert(alignment_of(Align, sizeof(T)) >= sizeof(T),
                "a scalar is aligned to its size");
  if constexpr (sizeof(T) == 8) {
    unsigned words[2];
    ld_8(words, condition, from, Policy());
    to = (T)((unsigned long long)words[1] << 32 | words[0]);
  } else if constexpr (sizeof(T) == 4) {
    unsigned word;
    ld_4(&word, condition, from, Policy());
    assign(to, word);
  } else if constexpr (sizeof(T) == 2) {
    to = T{(unsigned short)ld_2(condition, from, Policy())};
  } else {
    to = T{(unsigned char)ld_1(condition, from, Policy())};
  }
}

// A scalar, a Vec, or a Tile whose vectors are `stride` bytes apart.
template <typename Type, int Align = 0, typename Policy = evict_normal>
__device__ __forceinline__ Type load(const void *from, long long stride = 0) {
  Type value;
  load_into<Align, Policy>(value, always(), from, stride);
  return value;
}

// If the condition is false: zero bits, and no access to memory.
template <typename Type, int Align = 0, typename Policy = evict_normal>
__device__ __forceinline__ Type load_if(bool condition, const void *from,
                                        long long stride = 0) {
  Type value;
  load_into<Align, Policy>(value, condition, from, stride);
  return value;
}

// A Tile's first `vectors` vectors; the others are zero bits, and not read.
template <typename Type, int Align = 0, typename Policy = evict_normal>
__device__ __forceinline__ Type load_vectors(int vectors, const void *from,
                                             long long stride = 0) {
  Type tile;
#pragma unroll
  for (int s = 0; s < Type::steps; ++s) {
    typename Type::Vector vector;
    load_into<Align, Policy>(vector, s < vectors,
                             (const char *)from + s * stride, 0);
#pragma unroll
    for (int i = 0; i < Type::vector_words; ++i)
      tile.words[s * Type::vector_words + i] = vector.words[i];
  }
  return tile;
}

template <typename T, int V>
__device__ __forceinline__ void load_part_into(Tile<T, 1, V> &to,
                                               const char *from, int left) {
  constexpr int bytes = Tile<T, 1, V>::vector_bytes, size = sizeof(T);
  if constexpr (size == 4 && V == 4) {
    unsigned words[4];
    ld_16_part(words, left, from);
#pragma unroll
    for (int i = 0; i < 4; ++i)
      assign(to.words[i], words[i]);
    return;
  }
  if (left >= V && (unsigned long long)from % alignment_of(0, bytes) == 0) {
    load_into<0, evict_normal>(to, true, from, 0);
    return;
  }
#pragma unroll
  for (int i = 0; i < V; ++i) {
    if constexpr (size == 4) {
      unsigned word;
      ld_4(&word, i < left, from + i * size, evict_normal());
      assign(to.words[i], word);
    } else {
      const unsigned bits = ld_2(i < left, from + i * size, evict_normal());
      to.words[i / 2] = i % 2 ? to.words[i / 2] | bits << 16 : bits;
    }
  }
}

// The first `left` elements of a Vec of 2 or 4 bytes each, the others zero,
// from an address that is a multiple of their size.
template <typename Type>
__device__ __forceinline__ Type load_part(const void *from, int left) {
  Type value;
  load_part_into(value, (const char *)from, left);
  return value;
}

//===----------------------------------------------------------------------===//
// Stores
//===----------------------------------------------------------------------===//

__device__ __forceinline__ unsigned bits_in(unsigned word) { return word; }
__device__ __forceinline__ unsigned bits_in(int word) { return (unsigned)word; }
__device__ __forceinline__ unsigned bits_in(float word) {
  return as_unsigned(word);
}
__device__ __forceinline__ unsigned bits_in(unsigned char byte) { return byte; }
template <typename T>
__device__ __forceinline__ unsigned bits_in(T element) {
  return element.bits;
}

template <int Align, bool Streaming, typename T, int S, int V>
__device__ __forceinline__ void store_from(void *to, const Tile<T, S, V> &from,
                                           long long stride) {
  constexpr int bytes = Tile<T, S, V>::vector_bytes,
                vector_words = Tile<T, S, V>::vector_words;
  if constexpr (bits_of<T>::value == 32 && S == 1 && V == 1) {
    const unsigned word = bits_in(from.words[0]);
    Streaming ? st_cs_4(to, &word) : st_4(to, &word);
  } else {
#pragma unroll
    for (int s = 0; s < S; ++s) {
      char *vector = (char *)to + s * stride;
      if constexpr (bits_of<T>::value != 32) {
        store_bytes<bytes, alignment_of(Align, bytes), Streaming>(
            vector, from.words + s * vector_words);
      } else {
        unsigned words[V];
#pragma unroll
        for (int i = 0; i < V; ++i)
          words[i] = bits_in(from.words[s * V + i]);
        store_bytes<bytes, alignment_of(Align, bytes), Streaming>(vector,
                                                                  words);
      }
    }
  }
}
template <int Align, bool Streaming, typename T>
__device__ __forceinline__ void store_from(void *to, T from, long long) {
  static_assert(alignment_of(Align, sizeof(T)) >= sizeof(T),
                "a scalar is aligned to its size");
  static_assert(sizeof(T) <= 4, "no use so far");
  const unsigned bits = bits_in(from);
  store_bytes<sizeof(T), sizeof(T), Streaming>((char *)to, &bits);
}

// A scalar, a Vec, or a Tile whose vectors are `stride` bytes apart.
template <int Align = 0, typename Type>
__device__ __forceinline__ void store(void *to, const Type &value,
                                      long long stride = 0) {
  store_from<Align, false>(to, value, stride);
}

// The same, for results that are not read soon: the cache evicts them first.
template <int Align = 0, typename Type>
__device__ __forceinline__ void store_streaming(void *to, const Type &value,
                                                long long stride = 0) {
  store_from<Align, true>(to, value, stride);
}

template <int Align, bool Streaming, typename Type>
__device__ __forceinline__ void
store_vectors_from(int vectors, void *to, const Type &from, long long stride) {
#pragma unroll
  for (int s = 0; s < Type::steps; ++s) {
    typename Type::Vector vector;
#pragma unroll
    for (int i = 0; i < Type::vector_words; ++i)
      vector.words[i] = from.words[s * Type::vector_words + i];
    if (s < vectors)
      store_from<Align, Streaming>((char *)to + s * stride, vector, 0);
  }
}

// A Tile's first `vectors` vectors.
template <int Align = 0, typename Type>
__device__ __forceinline__ void
store_vectors(int vectors, void *to, const Type &value, long long stride = 0) {
  store_vectors_from<Align, false>(vectors, to, value, stride);
}
template <int Align = 0, typename Type>
__device__ __forceinline__ void store_vectors_streaming(int vectors, void *to,
                                                        const Type &value,
                                                        long long stride = 0) {
  store_vectors_from<Align, true>(vectors, to, value, stride);
}

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

// The block's dynamic shared memory from byte `begin` on.
__device__ __forceinline__ char *shared_from(int begin) {
  return dynamic_shared() + begin;
}

} // namespace dsv4
