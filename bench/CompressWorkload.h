//===- CompressWorkload.h - What all compressors share ----------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tokens with values and scores, the tables of the chain after the pooling,
// and a pool for the records that it writes.
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_BENCH_COMPRESSWORKLOAD_H
#define DSV4_BENCH_COMPRESSWORKLOAD_H

#include "Workloads.h"

namespace dsv4::bench {

/// One of the programs of examples/*compress*.mlir: its first kernel, and with
/// `keeps` the second one as well; or examples/hca_online.mlir.
struct Compressor {
  const char *name, *layout;
  int64_t window;
  bool overlap;
  int64_t width; ///< Channels of an entry.
  int64_t statePage;
  bool paged; ///< The state has a page table, else a ring.
  bool keeps; ///< The tokens go to the state.

  int64_t columns() const { return overlap ? 2 * width : width; }
  /// Tokens that an entry is made of, which is also as long as a ring must be.
  int64_t tokens() const { return overlap ? 2 * window : window; }
  /// Of the values of a token, or of its scores.
  int64_t rowBytes() const { return 4 * columns(); }
  bool isIndex() const { return width == 128; }
  int64_t recordBytes() const { return isIndex() ? 68 : 584; }
  /// Of a state that keeps tokens.
  int64_t statePageBytes() const { return statePage * 2 * rowBytes(); }
};

/// What becomes of %pooled, `entries` rows on the way to `cache`: normalised,
/// rotated, quantised, stored.
std::string getRecordText(const Compressor &of);

class Compress : public Workload {
protected:
  static constexpr int64_t pageSize = 64, positions = 32768;
  static constexpr int64_t minPoolBytes = 4400ll << 20;
  /// Values and scores of all tokens of a prefill.
  static constexpr int64_t inputBytes = 1ll << 30;

  Compress(Device &device, const Compressor &of, std::string source,
           int64_t tokens);

  Memory upload(const std::vector<int32_t> &numbers) {
    Memory memory = device.allocate(numbers.size() * 4);
    device.upload(memory, numbers.data());
    return memory;
  }
  /// Values and scores of `count` tokens from `first` on, and the bias.
  void addTokens(Arguments &arguments, int64_t first, int64_t count) const;
  void addTokens(Excerpt &excerpt, const std::vector<int64_t> &firsts,
                 int64_t count);
  /// Weight and rotation table.
  void addTables(Arguments &arguments) const;
  void addTables(Excerpt &excerpt);
  /// Pages of the pool, whole: what no entry writes must stay.
  void addPages(Excerpt &excerpt, const std::vector<int32_t> &pagesOfPool);
  static void add(Excerpt &excerpt, const std::vector<int32_t> &numbers,
                  std::vector<int64_t> shape) {
    excerpt.add(numbers.data(), numbers.size() * 4, std::move(shape));
  }
  /// A part of `numbers`.
  static std::vector<int32_t> cut(const std::vector<int32_t> &numbers,
                                  int64_t first, int64_t count) {
    return {numbers.begin() + first, numbers.begin() + first + count};
  }

  const Compressor of;
  CachePart part;                 ///< The records have no arrays.
  int64_t pages;                  ///< Of the pool.
  std::vector<int32_t> pageOrder; ///< A random order of them.
  Memory pool, values, scores, bias, weight, angles;
  std::vector<float> hostAngles;
};

} // namespace dsv4::bench

#endif // DSV4_BENCH_COMPRESSWORKLOAD_H
