//===- Manager.h - Who holds which blocks, pages and slots ------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The life of a sequence: it is admitted, steps are planned and committed, and
// it is released. What it leaves in full blocks may be found by a later one
// with the same tokens. See docs/KVCache.md.
//
// One thread at a time. Plan, commit and rollback take no lock, no system call
// and no memory. A call that fails changes nothing, except that it may evict
// what is cached. The same calls give the same numbers, so ranks that call
// alike agree without talking.
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_KVCACHE_MANAGER_H
#define DSV4_KVCACHE_MANAGER_H

#include "dsv4-kvcache/PrefixIndex.h"
#include "dsv4-kvcache/StepPlan.h"

#include <memory>
#include <optional>

namespace dsv4::kv {

/// Names one sequence of one manager, for ever.
struct SequenceId {
  uint64_t value = 0;
  friend bool operator==(SequenceId, SequenceId) = default;
};

/// Which block ends get a checkpoint.
struct CheckpointPolicy {
  bool endOfPrompt = true; ///< The last of a prompt.
  bool newest = true;      ///< The newest of a sequence: it moves on.
  bool divergence = true;  ///< Where a sequence leaves what is cached.
  /// Every this many tokens, rounded up to blocks; 0: none.
  int64_t every = 8192;
};

struct ManagerOptions {
  GeometryOptions geometry;
  CheckpointPolicy checkpoints;
  /// Whether an admitted sequence has its blocks for certain, up to its
  /// `maxTokens`: then no plan lacks blocks.
  bool reserve = false;
  /// Whether finished blocks are found by others.
  bool share = true;
  /// Hosts that share a store share it. Without one, it is random.
  std::optional<KeyMaker::Secret> secret;
};

struct AdmitRequest {
  std::span<const int32_t> tokens; ///< The prompt.
  /// The longest that the sequence may become; 0: as the geometry says.
  int64_t maxTokens = 0;
  /// What keeps apart sequences that may not share: adapter, tenant, images.
  std::span<const std::byte> salt;
  /// The keys of the full blocks, if they are known: Manager::makeKeys() with
  /// the same tokens and the same salt.
  std::span<const Key> keys;
};

struct Admission {
  SequenceId id;
  /// Tokens whose caches are there: the first step begins after them.
  int64_t cachedTokens = 0;
  int32_t slot = 0;
};

struct StepRequest {
  SequenceId id;
  int32_t tokens = 1;
};

struct CommitRequest {
  SequenceId id;
  /// How many tokens of its oldest step under way are kept.
  int32_t accepted = 1;
  /// Their ids: those beyond the prompt are needed.
  std::span<const int32_t> tokens;
};

/// Counts since the manager was made.
struct ManagerCounters {
  int64_t admitted = 0, promptTokens = 0, cachedTokens = 0;
  int64_t evictedBlocks = 0, evictedCheckpoints = 0;
};

class Manager {
public:
  /// A manager of a pool of `bytes`.
  static Result<std::unique_ptr<Manager>>
  make(const Schema &schema, int64_t bytes, const ManagerOptions &options);
  ~Manager();

  const Geometry &getGeometry() const;
  const Capacity &getCapacity() const;
  const std::vector<EntryClass> &getEntryClasses() const;

  /// The keys of the full blocks of a prompt.
  std::vector<Key> makeKeys(std::span<const int32_t> tokens,
                            std::span<const std::byte> salt = {}) const;

  Result<Admission> admit(const AdmitRequest &request);

  /// How many of `budget` tokens to give the next step of a sequence: of its
  /// prompt, up to where the policy wants a checkpoint, and after it as many as
  /// may be drafts. 0: the sequence is as long as it may be.
  Result<int32_t> getChunk(SequenceId id, int32_t budget) const;

  /// The layout of steps of a shape. Kept: the same shape gives the same one.
  Result<const StepLayout *> getLayout(const StepShape &shape);

  /// Plans a step. More tokens of a sequence than `maxDraftTokens` are a chunk,
  /// which has to be accepted whole.
  Status plan(std::span<const StepRequest> requests, const StepLayout &layout,
              StepPlan &plan);
  /// Says what was accepted. Refusing tokens takes back the sequence's later
  /// steps under way, too.
  Status commit(std::span<const CommitRequest> requests);
  /// Takes back all steps of a sequence under way.
  Status rollback(SequenceId id);

  /// A second sequence with the same tokens so far.
  Result<Admission> fork(SequenceId id);
  /// Ends a sequence. Its full blocks may be found again.
  Status release(SequenceId id);
  /// The same for one that is to go on later: admit it again with its tokens.
  Status preempt(SequenceId id) { return release(id); }

  /// Every step up to this one has finished on the device.
  Status retire(int64_t step);
  /// Forgets what can be found. Sequences go on.
  void flush();

  /// Tokens of a sequence, those of steps under way not counted.
  Result<int64_t> getLength(SequenceId id) const;
  int32_t countFreeBlocks() const;
  int32_t countCachedBlocks() const;
  const ManagerCounters &getCounters() const;

  /// Tables: [slots, blocks] and [slots, window columns].
  std::span<const int32_t> getPageTable() const;
  std::span<const int32_t> getWindowTable() const;

  /// Whether admissions may find a block. Then nothing writes it.
  bool isIndexed(int32_t block) const;

  /// What is wrong with the state, or empty: it never is. Slow.
  std::string check() const;

  class Impl;

private:
  explicit Manager(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl;
};

} // namespace dsv4::kv

#endif // DSV4_KVCACHE_MANAGER_H
