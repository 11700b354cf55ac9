//===- Geometry.h - Tokens, entries, pages and bytes ------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The only code that turns tokens into entries, entries into pages, and pages
// into bytes. Three things are handed out, each by number from 1 on:
//
//   block        B tokens of a sequence: a page of each growing group
//   window page  some tokens of a sequence: a page of each window group
//   slot         a sequence: a ring or sums of each state group
//
// and checkpoint rows, which keep what a slot holds at a block's end. Number 0
// of each is the null page: it is never handed out, and nothing writes it.
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_KVCACHE_GEOMETRY_H
#define DSV4_KVCACHE_GEOMETRY_H

#include "dsv4-kvcache/Divider.h"
#include "dsv4-kvcache/Schema.h"

namespace dsv4::kv {

/// What a user of the caches decides.
struct GeometryOptions {
  /// Tokens per block: a multiple of each growing group's ratio, and of the
  /// windows of its states.
  int32_t blockTokens = 256;
  /// Tokens per window page: a power of two that divides the block.
  int32_t windowPageTokens = 64;
  /// The maximum number of sequences at a time.
  int32_t maxSequences = 256;
  /// The maximum number of tokens of all sequences in a step.
  int32_t maxStepTokens = 8192;
  /// The maximum number of tokens of a sequence in a step of which some may be
  /// refused: one and its drafts.
  int32_t maxDraftTokens = 1;
  /// Steps that are planned before it is known what an earlier one accepted.
  int32_t overlap = 0;
  /// The longest sequence; 0: as the schema says.
  int64_t maxTokens = 0;
  /// The maximum number of checkpoints at a time.
  int32_t maxCheckpoints = 256;
};

/// How the pages of a group lie.
struct GroupGeometry {
  int64_t entryBytes = 0; ///< Without padding of the page.
  int32_t pageEntries = 0;
  int64_t pageBytes = 0;
  /// Of Ring and Online: entries of a sequence.
  int32_t slotEntries = 0;
  /// Of Ring: entries that a checkpoint keeps, the last of a ring.
  int32_t keptEntries = 0;
};

/// How many of each there are, the null ones included.
struct Capacity {
  int32_t blocks = 0, windowPages = 0, slots = 0, checkpoints = 0;
  int64_t bytes = 0;
};

/// A range of the pool: the pages of one group's cache, or what checkpoints
/// keep of it.
struct Region {
  int64_t offset = 0;
  int64_t stride = 0; ///< From a page to the next.
};

class Geometry {
public:
  /// Window pages that a checkpoint may need.
  static constexpr int32_t kMaxCheckpointPages = 32;

  /// Refuses options that do not fit each other or the schema.
  static Result<Geometry> make(Schema schema, const GeometryOptions &options);

  const Schema &getSchema() const { return schema; }
  const GeometryOptions &getOptions() const { return options; }
  const GroupGeometry &getGroup(size_t group) const { return groups[group]; }

  /// Bytes of one block, window page, slot and checkpoint row, in all caches.
  int64_t getBlockBytes() const { return blockBytes; }
  int64_t getWindowPageBytes() const { return windowPageBytes; }
  int64_t getSlotBytes() const { return slotBytes; }
  int64_t getCheckpointBytes() const { return checkpointBytes; }

  /// Bytes of the history of one token, in all caches.
  double getTokenBytes() const {
    return double(blockBytes) / options.blockTokens;
  }
  /// Bytes of a sequence that do not grow: its slot and its window.
  int64_t getSequenceBytes() const {
    return slotBytes + windowPages * windowPageBytes;
  }

  /// What a pool of `bytes` holds. The pool itself asks this function. Refuses
  /// a pool that cannot hold one sequence of the longest length beside what
  /// `options` say.
  Result<Capacity> getCapacity(int64_t bytes) const;
  /// The bytes of a pool with this number of blocks, the null block not
  /// counted.
  int64_t getPoolBytes(int32_t blocks) const;

  /// Where the caches of a pool are: by group, then by cache of the group.
  std::vector<std::vector<Region>> placeCaches(const Capacity &capacity) const;
  /// Where checkpoints keep rings, likewise. Of other groups there is nothing.
  std::vector<std::vector<Region>>
  placeCheckpoints(const Capacity &capacity) const;

  /// Blocks of a sequence of this many tokens.
  int32_t countBlocks(int64_t tokens) const {
    return static_cast<int32_t>(
        byBlock.getQuotient(tokens + options.blockTokens - 1));
  }
  int32_t getMaxBlocks() const { return maxBlocks; }
  /// Window pages that a sequence has between steps, at most.
  int32_t getWindowPages() const { return windowPages; }
  /// Columns of its table of window pages, a power of two: the page of position
  /// p is in column (p / windowPageTokens) mod this.
  int32_t getWindowColumns() const { return windowColumns; }
  /// The first page of the window of a sequence with this many tokens.
  int64_t getFirstWindowPage(int64_t tokens) const {
    const int64_t first = tokens - (maxWindow - 1);
    return first <= 0 ? 0 : byWindowPage.getQuotient(first);
  }
  /// Tokens that a step may take back.
  int32_t getDraftCapacity() const {
    return options.maxDraftTokens * (options.overlap + 1);
  }

private:
  Status setGroups();
  int64_t countFixedBytes(const Capacity &capacity) const;

  Schema schema;
  GeometryOptions options;
  Divider byBlock, byWindowPage;
  std::vector<GroupGeometry> groups;
  int64_t blockBytes = 0, windowPageBytes = 0, slotBytes = 0,
          checkpointBytes = 0;
  int32_t maxBlocks = 0, maxWindow = 0, windowPages = 0, windowColumns = 0;
};

} // namespace dsv4::kv

#endif // DSV4_KVCACHE_GEOMETRY_H
