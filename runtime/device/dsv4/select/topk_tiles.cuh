//===- topk_tiles.cuh - Top-k of scores that come as tiles ------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tile source computes scores of several rows together, once, in an order of
// its own, as tensor cores do. The selection cannot request a column. So the
// source drives: it passes fragments to the selection, which keeps the
// candidates.
//
//   limit(row)           number of columns of row `row` of the block.
//   source(consume)      called by all threads of the block. Those of the
//                        first `Config::warps` warps call
//                        consume(values, map) together, the same number of
//                        times; other warps, which may load for them, do not.
//                        consume.columns() is the largest limit: later columns
//                        need not come. Only threads that consume may call it.
//                        consume.part() is the TilePart of the block, the same
//                        in all threads, and others need not come, either.
//   map(item)            position of item `item` of this thread's `values`:
//                        row, column, and whether this thread owns it. An
//                        element comes once, and has at most one owner.
//   score(row, column, value)
//                        the score of a value of the source, a Vec<float, 1>;
//                        called for owned elements below the limit only.
//   emit(row, rank, index, value)
//                        called once for each rank below Config::k of each row.
//
// Only the warps that consume wait, at barrier `Config::barrier`; the source
// may use the others. The caller provides shared memory for
// `TopkTilesShared<Config>`.
//
// Candidates of a row are in a list, which is reduced to the best when another
// call might not find room. The last of these is a bound for later elements.
//
// A config is a struct with the members of TopkTilesDefaults, and
//
//   k             elements that are selected
//   rows          rows of the block
//   tile_columns  maximum columns of one row in one call of consume()
//   shared_bytes  sizeof(TopkTilesShared<Config>), if the compiler plans the
//                 block's shared memory
//
//===----------------------------------------------------------------------===//

#pragma once

#include "core/tiles.cuh"
#include "select/topk_list.cuh"

namespace dsv4 {

struct TopkTilesDefaults {
  // The number of warps that consume, from the first on.
  static constexpr int warps = 4;
  static constexpr int barrier = 1;
  // Calls of consume() that a list has room for after it was reduced.
  static constexpr int calls = 1;
  static constexpr TopkOrder order = TopkOrder::unordered;
  static constexpr bool largest = true;
  // Whether the higher index wins among equal elements.
  static constexpr bool ties_high = false;
  // Whether NaN comes before all numbers.
  static constexpr bool nan_first = false;
};

// The score of an element is the value of the source.
struct SourceScore {
  __device__ __forceinline__ Vec<float, 1>
  operator()(int, int, const Vec<float, 1> &value) const {
    return value;
  }
};

// The constants that follow from a config, as TopkShape has them for
// selections by whole blocks.
template <typename Config>
struct TopkTilesShape {
  enum : int {
    k = Config::k,
    threads = 32 * Config::warps,
    // Candidates of a row: the best so far, and those of some calls.
    capacity = Config::k + Config::calls * Config::tile_columns,
    // Of the histogram of each list.
    bins_log2 = capacity > 1024 ? 10 : 8,
    bins = 1 << bins_log2,
    max_few = 128,
    few = threads < max_few ? +threads : +max_few
  };
  static constexpr bool largest = Config::largest,
                        ties_high = Config::ties_high,
                        nan_first = Config::nan_first, has_head = false;
  static constexpr TopkRead read = TopkRead::first;
  static constexpr TopkOrder order = Config::order;
  static_assert(k >= 1 && Config::rows >= 1 && Config::tile_columns >= 1 &&
                    Config::calls >= 1,
                "k, rows, tile_columns and calls are positive");
  static_assert(Config::barrier >= 1 && Config::barrier <= 15,
                "barrier 0 is that of all threads");
};

// What most elements of a row are excluded by: the number of columns, and the
// floor of its bound.
struct __align__(8) TopkQuick {
  int limit;
  float floor;
};

// The part of a kernel's shared memory that a selection from tiles needs.
template <typename Config>
struct TopkTilesShared {
  using Shape = TopkTilesShape<Config>;
  TopkEntry list[Config::rows][Shape::capacity];
  // The best of a list that is reduced.
  TopkEntry best[Config::k + Shape::max_few];
  TopkQuick quick[Config::rows];
  TopkBound bound[Config::rows];
  unsigned taken[Config::rows];
  // How many entries of a list are in which bin.
  __align__(16) unsigned bins[Config::rows][Shape::bins];
  unsigned warps[32];
  // Calls of consume() that lists have room for, for each warp: not in
  // registers, of which sources need all.
  int calls_left[32];
  TopkBin found;
  // The range of the keys of all threads, and the next slots of `best`.
  unsigned lowest, highest, next[2];
  TopkEntry worst;
};

template <typename Config>
class TopkTiles {
public:
  using Shape = TopkTilesShape<Config>;
  using Shared = TopkTilesShared<Config>;
  using Bins = TopkHalfBins<Shape>;
  enum : int {
    k = Config::k,
    rows = Config::rows,
    threads = Shape::threads,
    capacity = Shape::capacity
  };

  __device__ __forceinline__ explicit TopkTiles(Shared &shared)
      : shared(shared) {}

  __device__ __forceinline__ static bool participates() {
    return (int)threadIdx.x < threads;
  }
  __device__ __forceinline__ static void wait() {
    sync_warps(Config::barrier, threads);
  }

  // A barrier must follow.
  template <typename Limit>
  __device__ __forceinline__ void begin(Limit limit) {
    for (int row = threadIdx.x; row < rows; row += threads) {
      shared.quick[row].limit = limit(row);
      shared.taken[row] = 0;
      set_bound(row, TopkBound::guess<Shape::ties_high>(as_float(0x7FFFFFFFu)));
    }
#pragma unroll 1
    for (int row = 0; row < rows; ++row)
      topk_clear_bins<Shape>(group(row));
    set_calls_left(0);
  }

  __device__ __forceinline__ int columns() const {
    int columns = 0;
#pragma unroll
    for (int row = 0; row < rows; ++row)
      columns = ::max(columns, shared.quick[row].limit);
    return columns;
  }

  template <int Items, typename Map, typename Score>
  __device__ __forceinline__ void consume(const float (&values)[Items], Map map,
                                          Score score) {
#pragma unroll
    for (int i = 0; i < Items; ++i)
      take(map(i), values[i], score);
    if (is_last_call())
      make_room();
  }

  // The list of a row is complete. Returns its best, at most k.
  struct Best {
    TopkEntry *entries;
    int count;
  };
  __device__ __forceinline__ Best close(int row) {
    const int found = (int)shared.taken[row];
    if (found <= k)
      return {shared.list[row], found};
    find_best(row, found);
    return {shared.best, k};
  }

  template <typename Emit>
  __device__ __forceinline__ void emit_row(int row, const Best &best,
                                           Emit emit) {
    topk_emit<Shape>(best.count, best.count == shared.quick[row].limit, 0, emit,
                     Group{shared, best.entries, nullptr});
  }

private:
  // For lists of at most `count` entries.
  __device__ __forceinline__ void set_calls_left(int count) {
    if (threadIdx.x % 32 == 0)
      shared.calls_left[threadIdx.x / 32] =
          (capacity - count) / Config::tile_columns;
  }
  __device__ __forceinline__ bool is_last_call() {
    int &left = shared.calls_left[threadIdx.x / 32];
    __syncwarp();
    const int now = left - 1;
    __syncwarp();
    if (threadIdx.x % 32 == 0)
      left = now;
    return now == 0;
  }

  template <typename Score>
  __device__ __forceinline__ void take(const TilePosition &at, float value,
                                       Score score) {
    // Of an element that nobody owns the row may be any.
    const int row = at.owned ? at.row : 0;
    const TopkQuick quick = shared.quick[row];
    bool counts = at.owned && at.column < quick.limit;
    if (counts)
      value = topk_oriented<Shape>(
          score(row, at.column, fill<Vec<float, 1>>(value))[0]);
    counts = counts && !(value < quick.floor);
    if (!__any_sync(0xFFFFFFFFu, counts))
      return;
    if (counts && admits(shared.bound[row], value, at.column))
      put(row, fetch_add_shared(shared.taken, row, 1), value, at.column);
  }
  __device__ __forceinline__ static bool admits(const TopkBound &bound,
                                                float value, int column) {
    if (value >= bound.template lowest<Shape::ties_high>(column, 1))
      return true;
    return bound.any() &&
           (Shape::ties_high ? column > bound.limit : column < bound.limit);
  }

  // An entry, for which there is a slot.
  __device__ __forceinline__ void put(int row, int slot, float value,
                                      int column) {
    shared.list[row][slot] = topk_entry(value, column);
    add_shared(shared.bins[row], Bins::bin(value), 1);
  }

  // Reduces a list of `count` entries, more than k, to the k best.
  __device__ __forceinline__ void reduce(int row, int count) {
    find_best(row, count);
#pragma unroll 1
    for (int i = threadIdx.x; i < k; i += threads)
      put(row, i, topk_value(shared.best[i]), topk_index(shared.best[i]));
    if (threadIdx.x == 0) {
      shared.taken[row] = k;
      set_bound(row, TopkBound::of<Shape::ties_high>(shared.worst));
    }
    wait();
  }

  // A slot for each lane of a warp that wants one, after those that are taken.
  __device__ __forceinline__ static int slot_of_lane(bool wants,
                                                     unsigned *taken) {
    const unsigned lanes = __ballot_sync(0xFFFFFFFFu, wants);
    if (lanes == 0)
      return 0;
    const int lane = threadIdx.x % 32;
    unsigned first = 0;
    if (lane == 0)
      first = fetch_add_shared(taken, 0, __popc(lanes));
    return (int)__shfl_sync(0xFFFFFFFFu, first, 0) +
           __popc(lanes & ((1u << lane) - 1));
  }

  // Which entries are in doubt: those of one bin; or, if these are many, those
  // whose keys are at most `last` below `high`; or those of the key `high`
  // whose positions are at most `last` after `first`.
  struct Doubt {
    enum { bins, keys, positions } by;
    unsigned bin, high, first, last;
  };
  enum Standing { better, doubted, worse };
  // `distance` is that from the best entry in doubt.
  __device__ __forceinline__ static Standing find_standing(const Doubt &doubt,
                                                           TopkEntry entry,
                                                           int limit,
                                                           unsigned &distance) {
    distance = 0;
    if (doubt.by == Doubt::bins) {
      const unsigned bin = Bins::bin(topk_value(entry));
      return bin < doubt.bin ? better : bin == doubt.bin ? doubted : worse;
    }
    const unsigned key = topk_key(topk_value(entry));
    bool precedes = key > doubt.high;
    distance = doubt.high - key;
    if (doubt.by == Doubt::positions) {
      if (key != doubt.high)
        return precedes ? better : worse;
      const unsigned position =
          topk_position<Shape::ties_high>(topk_index(entry), limit);
      precedes = position < doubt.first;
      distance = position - doubt.first;
    }
    return precedes ? better : distance <= doubt.last ? doubted : worse;
  }

  // Copies the k best of the `count` entries of a row, more than k, to
  // `shared.best`, and clears its bins.
  __device__ __forceinline__ void find_best(int row, int count) {
    const TopkEntry *list = shared.list[row];
    const int limit = shared.quick[row].limit;
    if (threadIdx.x == 0)
      shared.next[0] = 0;
    wait();
    const TopkBin found = topk_find_bin_of<Shape>(group(row), k);
    topk_clear_bins<Shape>(group(row));
    Doubt doubt{Doubt::bins, found.bin, 0, 0, 0};
    unsigned inside = found.count, rest = k - found.before;
    if (inside > Shape::few)
      divide(row, count, doubt, inside, rest);
    if (threadIdx.x == 0)
      shared.next[1] = k - rest;
    wait();
    // Better ones first, then those in doubt.
#pragma unroll 2
    for (int first = 0; first < count; first += threads) {
      const int i = first + (int)threadIdx.x;
      const TopkEntry entry = list[i < count ? i : 0];
      unsigned distance;
      const Standing standing =
          i < count ? find_standing(doubt, entry, limit, distance) : worse;
      const int one = slot_of_lane(standing == better, &shared.next[0]);
      const int other = slot_of_lane(standing == doubted, &shared.next[1]);
      if (standing != worse)
        shared.best[standing == better ? one : other] = entry;
    }
    wait();
    topk_rank_few<Shape>(k - rest, inside, rest,
                         Group{shared, shared.best, shared.bins[row]});
  }

  struct Group {
    Shared &state;
    TopkEntry *entries;
    unsigned *counts;

    __device__ __forceinline__ static void sync() { TopkTiles::wait(); }
    __device__ __forceinline__ TopkEntry *list() const { return entries; }
    __device__ __forceinline__ unsigned *bins() const { return counts; }
    __device__ __forceinline__ Shared &shared() const { return state; }
  };
  __device__ __forceinline__ Group group(int row) const {
    return {shared, shared.list[row], shared.bins[row]};
  }
  __device__ __forceinline__ void set_bound(int row, const TopkBound &bound) {
    shared.bound[row] = bound;
    shared.quick[row].floor = bound.floor;
  }

  // Divides the bin of the last of the best: to the range of its keys, then to
  // one part of the range after the other, and if all keys are equal by
  // positions, until few entries are left. Rare, so the list is read again each
  // time.
  __device__ __forceinline__ void divide(int row, int count, Doubt &doubt,
                                         unsigned &inside, unsigned &rest) {
    const TopkEntry *list = shared.list[row];
    const int limit = shared.quick[row].limit;
    if (threadIdx.x == 0) {
      shared.lowest = 0xFFFFFFFFu;
      shared.highest = 0;
    }
    wait();
    unsigned lowest = 0xFFFFFFFFu, highest = 0;
#pragma unroll 1
    for (int i = threadIdx.x; i < count; i += threads) {
      const float value = topk_value(list[i]);
      if (Bins::bin(value) != doubt.bin)
        continue;
      const unsigned key = topk_key(value);
      lowest = key < lowest ? key : lowest;
      highest = key > highest ? key : highest;
    }
    topk_span(shared, lowest, highest);
    wait();
    doubt.by = Doubt::keys;
    doubt.high = shared.highest;
    doubt.last = shared.highest - shared.lowest;
#pragma unroll 1
    while (inside > Shape::few) {
      if (doubt.last == 0) {
        doubt.by = Doubt::positions;
        doubt.last = limit - 1;
      }
      const int bits = 32 - __clz((int)doubt.last);
      const int shift = bits > Shape::bins_log2 ? bits - Shape::bins_log2 : 0;
#pragma unroll 1
      for (int i = threadIdx.x; i < count; i += threads) {
        unsigned distance;
        if (find_standing(doubt, list[i], limit, distance) == doubted)
          add_shared(shared.bins[row], distance >> shift, 1);
      }
      wait();
      const TopkBin found = topk_find_bin_of<Shape>(group(row), rest);
      topk_clear_bins<Shape>(group(row));
      wait();
      rest -= found.before;
      inside = found.count;
      // The last bin ends where the range does.
      const unsigned passed = found.bin << shift, width = 1u << shift;
      if (doubt.by == Doubt::keys)
        doubt.high -= passed;
      else
        doubt.first += passed;
      doubt.last -= passed;
      doubt.last = doubt.last < width ? doubt.last : width - 1;
    }
  }

  __device__ __forceinline__ void make_room() {
    wait();
    int most = 0;
#pragma unroll 1
    for (int row = 0; row < rows; ++row) {
      int count = (int)shared.taken[row];
      // Then there are more than k.
      if (capacity - count < Config::tile_columns) {
        reduce(row, count);
        count = k;
      }
      most = ::max(most, count);
    }
    set_calls_left(most);
    // All have read the numbers.
    wait();
  }

  Shared &shared;
};

template <typename Config, typename Score>
struct TopkTilesConsumer {
  TopkTiles<Config> &selection;
  Score score;

  template <int Items, typename Map>
  __device__ __forceinline__ void operator()(const float (&values)[Items],
                                             Map map) const {
    selection.consume(values, map, score);
  }
  __device__ __forceinline__ int columns() const { return selection.columns(); }
  __device__ __forceinline__ static TilePart part() {
    return TilePart::whole();
  }
};

// Selects the k best of each row of the block.
template <typename Config, typename Limit, typename Source, typename Score,
          typename Emit>
__device__ __forceinline__ void topk_tiles(TopkTilesShared<Config> &shared,
                                           Limit limit, Source source,
                                           Score score, Emit emit) {
  TopkTiles<Config> selection(shared);
  if (selection.participates()) {
    selection.begin(limit);
    selection.wait();
  }
  source(TopkTilesConsumer<Config, Score>{selection, score});
  if (!selection.participates())
    return;
  selection.wait();
#pragma unroll 1
  for (int row = 0; row < Config::rows; ++row) {
    selection.emit_row(row, selection.close(row),
                       [&](int rank, int index, float value) {
                         emit(row, rank, index, value);
                       });
    selection.wait();
  }
}

// The same with Config::shared_bytes bytes of shared memory from `memory` on,
// aligned to 16 bytes.
template <typename Config, typename Limit, typename Source, typename Score,
          typename Emit>
__device__ __forceinline__ void
topk_tiles(char *memory, Limit limit, Source source, Score score, Emit emit) {
  static_assert(sizeof(TopkTilesShared<Config>) == Config::shared_bytes,
                "shared_bytes is what the selection needs");
  topk_tiles(*(TopkTilesShared<Config> *)memory, limit, source, score, emit);
}

} // namespace dsv4
