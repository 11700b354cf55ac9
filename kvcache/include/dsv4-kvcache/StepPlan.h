//===- StepPlan.h - What the kernels of a step are given --------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A step is a batch of tokens of some sequences. Its plan has every integer
// operand that the programs of dsv4 take. Tables have a row per slot, so that a
// sequence keeps its row while batches change, and "request" means slot.
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_KVCACHE_STEPPLAN_H
#define DSV4_KVCACHE_STEPPLAN_H

#include "dsv4-kvcache/Geometry.h"

#include <span>

namespace dsv4::kv {

/// How many tokens and sequences the arrays of a step have room for. A captured
/// graph has a fixed shape; a step with fewer is padded.
struct StepShape {
  int32_t tokens = 0, requests = 0;
};

/// How the entries of one ratio come about.
struct EntryClass {
  int32_t ratio = 0;
  /// Columns of its plan: 4, or 5 of segments (online), or 0 if every token is
  /// an entry.
  int32_t planColumns = 0;
  int32_t pageEntries = 0;
};

/// Where the arrays of a step are, in bytes from its start. It depends on the
/// shape alone, so that graphs of one shape find them at fixed addresses. All
/// elements are i32.
struct StepLayout {
  struct Array {
    int64_t offset = 0;
    int32_t rows = 0, columns = 1;
  };
  struct Entries {
    Array plan;      ///< [rows, 4 or 5]: `plan` of compress.
    Array positions; ///< [rows]: `positions` of its rope.
    Array slots;     ///< [rows]: `slots` of its append; -1: none.
    Array ends;      ///< [tokens]: the entries that a token may read.
  };
  Array positions;   ///< [tokens]; -1: padding.
  Array requests;    ///< [tokens]; 0, the null slot: padding.
  Array windowSlots; ///< [tokens]: `slots` of the append to the window; -1.
  Array starts;      ///< [requests + 1]: the first token of each.
  Array rows;        ///< [requests]: the slot of each; 0: padding.
  Array lengths;     ///< [slots]: tokens after the step, of every sequence.
  std::vector<Entries> entries; ///< By class.
  /// [2 * cells]: index and value of table cells that changed. Only the part
  /// that is used is uploaded.
  Array cells;
  int64_t bytes = 0; ///< Without the cells.
};

/// Bytes of the pool to be copied before the kernels of a step, in order:
/// `rows` times `bytes`, whose beginnings are a pitch apart.
struct PoolCopy {
  int64_t to = 0, from = 0, bytes = 0;
  int32_t rows = 1;
  int64_t toPitch = 0, fromPitch = 0;
};

/// The plan of a step. Its arrays live until the plan after next is made, with
/// an overlap as many plans later.
struct StepPlan {
  int64_t step = 0;
  int32_t tokens = 0, requests = 0; ///< Without padding.
  const StepLayout *layout = nullptr;
  std::byte *host = nullptr; ///< What `layout` is about.
  int64_t uploadBytes = 0;   ///< From `host` on, cells included.
  int32_t changedCells = 0;
  std::span<const PoolCopy> copies; ///< Until the next plan.
  /// The windows of each class that the step completes, or its segments.
  std::vector<int32_t> entryRows;
  /// Of a plan that failed: positions in the request of those that lack blocks.
  std::vector<int32_t> lacking;

  std::span<int32_t> get(const StepLayout::Array &array) const {
    return {reinterpret_cast<int32_t *>(host + array.offset),
            static_cast<size_t>(array.rows) * array.columns};
  }
};

} // namespace dsv4::kv

#endif // DSV4_KVCACHE_STEPPLAN_H
