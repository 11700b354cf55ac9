//===- words.cuh - Rows that begin at any element ---------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `Lanes` neighbouring lanes hold a row: their vectors follow each other in
// memory, step by step. The row is aligned to its elements alone, but the lanes
// access words: aligned powers of two of bytes, up to 16.
//
//   memory    |..ab|cdef|ghij|klmn|op..|
//   words     |opab|cdef|ghij|klmn|         as many as the row has bytes for
//   row       |abcd|efgh|ijkl|mnop|
//
// The row begins within one word and ends within another. Its parts of these
// two make up one word, which the lanes access element by element, so that no
// byte beyond the row is touched. The others are one access each. What the
// lanes have is the row, rotated.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "core/memory.cuh"

namespace dsv4 {

// Words of at most `Max` bytes.
template <typename Type, int Max>
struct WordsOf;
template <typename T, int S, int V, int Max>
struct WordsOf<Tile<T, S, V>, Max> {
  enum : int {
    vector_bytes = Tile<T, S, V>::vector_bytes,
    natural = alignment_of(0, vector_bytes),
    bytes = natural < Max ? natural : Max,
    registers = bytes / 4, // of a word
    element_bytes = bits_of<T>::value < 8 ? 1 : bits_of<T>::value / 8
  };
  static_assert(bytes >= 4, "a vector is made of registers");
};

// Drops the first `bytes` bytes: less than a word, and whole elements.
template <int WordBytes, int ElementBytes, int N>
__device__ __forceinline__ void drop_bytes(unsigned (&words)[N],
                                           unsigned bytes) {
  if constexpr (WordBytes > 8) {
#pragma unroll
    for (int i = 0; i + 2 < N; ++i)
      words[i] = bytes & 8 ? words[i + 2] : words[i];
  }
  if constexpr (WordBytes > 4 && ElementBytes < 8) {
#pragma unroll
    for (int i = 0; i + 1 < N; ++i)
      words[i] = bytes & 4 ? words[i + 1] : words[i];
  }
  if constexpr (ElementBytes < 4) {
    const unsigned selector = 0x3210 + bytes % 4 * 0x1111;
#pragma unroll
    for (int i = 0; i + 1 < N; ++i)
      words[i] = permute_bytes(words[i], words[i + 1], selector);
  }
}

// The row without its first `bytes` bytes. After its last word comes `end`, or,
// if that is null, the first one.
template <typename Words, int Lanes, typename T, int S, int V>
__device__ __forceinline__ Tile<T, S, V>
shift(const Tile<T, S, V> &row, const unsigned *end, unsigned bytes) {
  constexpr int own = Tile<T, S, V>::vector_words, more = Words::registers;
  const unsigned lane = threadIdx.x % Lanes;
  // The first word of the next lane; after the last lane comes the first one.
  unsigned next[S * more];
#pragma unroll
  for (int s = 0; s < S; ++s)
#pragma unroll
    for (int i = 0; i < more; ++i)
      next[s * more + i] = from_lane<Lanes, Lanes>(
          bits_in(row.words[s * own + i]), (lane + 1) % Lanes);
  Tile<T, S, V> to;
#pragma unroll
  for (int s = 0; s < S; ++s) {
    unsigned words[own + more];
#pragma unroll
    for (int i = 0; i < own; ++i)
      words[i] = bits_in(row.words[s * own + i]);
#pragma unroll
    for (int i = 0; i < more; ++i) {
      // What comes after the step.
      const unsigned after =
          s == S - 1 && end ? end[i] : next[(s + 1) % S * more + i];
      words[own + i] = lane == Lanes - 1 ? after : next[s * more + i];
    }
    drop_bytes<Words::bytes, Words::element_bytes>(words, bytes);
#pragma unroll
    for (int i = 0; i < own; ++i)
      assign(to.words[s * own + i], words[i]);
  }
  return to;
}

//===----------------------------------------------------------------------===//
// Loads
//===----------------------------------------------------------------------===//

// The words of a row, as a lane has them. Of the first lane's first word, which
// is at both ends of the row, the lanes have elements instead.
template <typename Type, int Lanes>
struct RowWords {
  // The smaller a word, the fewer instructions shift it. Vectors of several
  // words are so far apart that larger ones save little.
  using Words = WordsOf<Type, (Type::vector_bytes > 16 ? 8 : 16)>;
  enum : int {
    element_bytes = Words::element_bytes,
    elements = Words::bytes / element_bytes,
    lanes = elements < Lanes ? elements : Lanes, // that have elements
    registers = element_bytes < 4 ? 1 : element_bytes / 4,
    each = elements / lanes
  };
  static_assert(lanes * element_bytes >= 4, "lanes have a register together");
  Type words;
  unsigned ends[each * registers];
};

// Loads them. `from` is where this lane's first vector begins. If the condition
// is false: zero bits, and no access to memory.
template <typename Type, int Lanes, typename Policy = evict_normal>
__device__ __forceinline__ RowWords<Type, Lanes>
load_words_if(bool condition, const void *from) {
  using Row = RowWords<Type, Lanes>;
  using Words = typename Row::Words;
  constexpr int vector = Words::vector_bytes, size = Words::element_bytes;
  const unsigned lane = threadIdx.x % Lanes;
  const unsigned past = (unsigned long long)from % Words::bytes;
  const char *aligned = (const char *)from - past;
  unsigned words[Type::steps * Type::vector_words];
#pragma unroll
  for (int s = 0; s < Type::steps; ++s)
#pragma unroll
    for (int at = 0; at < vector; at += Words::bytes)
      load_bytes<Words::bytes, Words::bytes, Policy>(
          words + s * Type::vector_words + at / 4,
          condition && !(s == 0 && at == 0 && lane == 0),
          aligned + s * Lanes * vector + at);
  Row row;
#pragma unroll
  for (int i = 0; i < Type::steps * Type::vector_words; ++i)
    assign(row.words.words[i], words[i]);
  aligned -= lane * vector;
#pragma unroll
  for (int k = 0; k < Row::each; ++k) {
    const unsigned at = (k * Row::lanes + lane) * size;
    load_bytes<size, size, Policy>(
        row.ends + k * Row::registers, condition && lane < Row::lanes,
        aligned + (at < past ? at + Lanes * Type::steps * vector : at));
  }
  return row;
}
template <typename Type, int Lanes, typename Policy = evict_normal>
__device__ __forceinline__ RowWords<Type, Lanes> load_words(const void *from) {
  return load_words_if<Type, Lanes, Policy>(true, from);
}

// The row that load_words() has loaded from there.
template <int Lanes, typename Type>
__device__ __forceinline__ Type realign(RowWords<Type, Lanes> row,
                                        const void *from) {
  using Row = RowWords<Type, Lanes>;
  using Words = typename Row::Words;
  constexpr int size = Row::element_bytes,
                count = Row::lanes * size / 4; // of registers that lanes have
  unsigned ends[Words::registers];
#pragma unroll
  for (int k = 0; k < Row::each; ++k) {
    // Of the elements of a register each lane gets all.
    if constexpr (size < 4) {
      row.ends[k] <<= threadIdx.x % Lanes * size % 4 * 8;
#pragma unroll
      for (int distance = 1; distance < 4 / size; distance *= 2)
        row.ends[k] |= exchange<Lanes>(row.ends[k], distance);
    }
#pragma unroll
    for (int i = 0; i < count; ++i)
      ends[k * count + i] = from_lane<Lanes, Lanes>(
          row.ends[k * Row::registers + i % Row::registers], i * 4 / size);
  }
#pragma unroll
  for (int i = 0; i < Words::registers; ++i)
    if (threadIdx.x % Lanes == 0)
      assign(row.words.words[i], ends[i]);
  return shift<Words, Lanes>(row.words, ends,
                             (unsigned long long)from % Words::bytes);
}

//===----------------------------------------------------------------------===//
// Stores
//===----------------------------------------------------------------------===//

// The block of `Block` bytes that is at both ends of a row of `RowBytes` bytes,
// in the words of `from`: that of lane `begin` modulo `Lanes` is the first one.
// `to` is its address at the end of the row, which it exceeds by `past` bytes.
template <typename Words, int Lanes, int Block, int RowBytes, bool Streaming>
__device__ __forceinline__ void store_ends(char *to, const unsigned *from,
                                           unsigned begin, unsigned past) {
  constexpr int size = Words::element_bytes, count = Block / size,
                lanes = count < Lanes ? count : Lanes, // that store elements
      registers = size < 4 ? 1 : size / 4;             // of an element
  const unsigned lane = threadIdx.x % Lanes;
#pragma unroll
  for (int k = 0; k < count; k += lanes) {
    const unsigned at = (k + lane) * size;
    unsigned element[registers];
#pragma unroll
    for (int i = 0; i < Words::registers; ++i) {
      const unsigned bits =
          from_lane<Lanes, Lanes>(from[i], (begin + at / Words::bytes) % Lanes);
      if (i < registers ||
          at % Words::bytes / 4 == (unsigned)(i / registers * registers))
        element[i % registers] = bits;
    }
    if constexpr (size < 4)
      element[0] >>= at % 4 * 8;
    if (lane < lanes)
      store_bytes<size, size, Streaming>(
          to + at - (at + past >= Block ? RowBytes : 0), element);
  }
}

template <int Lanes, bool Streaming, typename Type>
__device__ __forceinline__ void store_words_from(void *to, const Type &row) {
  using Words = WordsOf<Type, 16>;
  constexpr int vector = Words::vector_bytes, word = Words::bytes,
                step = Lanes * vector, steps = Type::steps;
  // Memory is written by sectors: a part of one costs more than all of it. So a
  // sector is at the ends of the row, if its elements are one for each lane.
  constexpr int sector = 32;
  constexpr bool isSector = vector < sector && sector < step &&
                            sector <= Lanes * Words::element_bytes;
  constexpr int block = isSector ? sector : word;
  const unsigned lane = threadIdx.x % Lanes;
  // From the row to its first word, and from there to the first block.
  const unsigned past = (0 - (unsigned long long)to) % word;
  char *own = (char *)to + past;
  const unsigned ahead =
      isSector ? (lane * vector - (unsigned long long)own) % block : 0;
  const Type shifted = shift<Words, Lanes>(row, nullptr, past);
  // Lanes whose words are before that block are a step ahead of the others, so
  // that each store is of whole blocks. Their words of the first step come
  // last, and make up one block with those at the end of the row.
  const bool isAhead = (int)(lane * vector) < (int)ahead;
  const bool hasEnds = isAhead || (Lanes - lane - 1) * vector < block - ahead;
  char *next = isAhead ? own + step : own;
  unsigned words[Words::registers];
#pragma unroll
  for (int s = 0; s < steps; ++s)
#pragma unroll
    for (int at = 0; at < vector; at += word) {
#pragma unroll
      for (int i = 0; i < Words::registers; ++i) {
        const int from = at / 4 + i;
        const auto &now = shifted.words[s * Type::vector_words + from];
        const auto &later =
            shifted.words[(s + 1) % steps * Type::vector_words + from];
        words[i] = bits_in(isAhead ? later : now);
      }
      if (s < steps - 1 || at < vector - word || !hasEnds)
        store_bytes<word, word, Streaming>(next + s * step + at, words);
    }
  store_ends<Words, Lanes, block, steps * step, Streaming>(
      own + (steps * step - block) + ahead - lane * vector, words,
      Lanes - (block - ahead) / word, ahead + past);
}

// Stores a row in words. `to` is where this lane's first vector begins.
template <int Lanes, typename Type>
__device__ __forceinline__ void store_words(void *to, const Type &row) {
  store_words_from<Lanes, false>(to, row);
}
template <int Lanes, typename Type>
__device__ __forceinline__ void store_words_streaming(void *to,
                                                      const Type &row) {
  store_words_from<Lanes, true>(to, row);
}

} // namespace dsv4
