//===- ManagerImpl.h - The state of a manager -------------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A block is in one of these states:
//   free       in freeBlocks: it holds nothing
//   cached     in cachedBlocks: it is indexed, and no sequence has it
//   referenced by sequences, live or retiring
// A window page is free, or referenced by sequences and checkpoints. A slot is
// free, live or retiring. A checkpoint is free, or in use: then it is in the
// list of those that may be evicted, the one used longest ago first.
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_KVCACHE_MANAGERIMPL_H
#define DSV4_KVCACHE_MANAGERIMPL_H

#include "dsv4-kvcache/FreeList.h"
#include "dsv4-kvcache/Manager.h"

#include <map>

namespace dsv4::kv {

struct Block {
  int32_t references = 0;
  int32_t checkpoint = 0; ///< That of its end, or 0.
  bool isIndexed = false;
  Key key, parent; ///< If it is indexed.
};

/// What a sequence needs to go on from a block's end: the pages of its window,
/// and a row of the rings.
struct Checkpoint {
  int32_t block = 0;
  int32_t pageCount = 0;
  int32_t pages[Geometry::kMaxCheckpointPages] = {}; ///< The newest last.
  /// The sequence that drops it when it has a newer one, or 0.
  uint64_t transientOf = 0;
};

/// Tokens of a step that is planned and not committed.
struct Flight {
  int32_t tokens : 31 = 0;
  bool isChunk : 1 = false;
  /// The checkpoint that keeps the rings of its end, because a later step
  /// overwrites them before it is committed; or 0.
  int32_t kept = 0;
};

struct Sequence {
  static constexpr int32_t kMaxFlights = 17;
  enum class State : uint8_t { Free, Live, Retiring };

  State state = State::Free;
  uint32_t generation = 0;
  int32_t flightCount = 0;
  int64_t length = 0;  ///< Committed.
  int64_t planned = 0; ///< With the tokens of steps under way.
  int64_t maxTokens = 0;
  int64_t promptTokens = 0;
  /// Entries of earlier tokens are in blocks that others may read: they are not
  /// written again.
  int64_t sharedTokens = 0;
  int32_t blockCount = 0;             ///< Columns of its row of the page table.
  int32_t keyCount = 0;               ///< Blocks whose keys are known.
  int32_t indexedCount = 0;           ///< Blocks that are committed in full.
  int64_t firstPage = 0, endPage = 0; ///< Its window pages, by position.
  /// The entry of an online state that holds the window under way, if there are
  /// tokens of it.
  int32_t online = 0;
  int32_t transient = 0;  ///< The block of its newest transient checkpoint.
  int64_t divergence = 0; ///< Where a checkpoint is wanted, or 0.
  int64_t retireStep = 0;
  Flight flights[kMaxFlights];
};

/// Classes with what planning needs of them.
struct EntryPlan {
  EntryClass shape;
  int32_t window = 0;      ///< Of an online state.
  int32_t slotEntries = 0; ///< Likewise.
  Divider byRatio, byPage, byWindow;
};

class Manager::Impl {
public:
  Impl(Geometry geometry, const Capacity &capacity,
       const ManagerOptions &options, const KeyMaker::Secret &secret);

  //===-- Sequences (Admit.cpp) ------------------------------------------===//

  Result<Admission> admit(const AdmitRequest &request);
  Result<Admission> fork(SequenceId id);
  Status release(SequenceId id);
  Status retire(int64_t step);
  void flush();

  SequenceId nameSlot(int32_t slot) const {
    return {uint64_t{tag} << 48 | uint64_t{sequences[slot].generation} << 16 |
            static_cast<uint64_t>(slot - 1)};
  }
  /// The slot of a live sequence, or 0.
  int32_t lookUp(SequenceId id) const {
    const int32_t slot = static_cast<int32_t>(id.value & 0xFFFF) + 1;
    return slot < static_cast<int32_t>(sequences.size()) &&
                   sequences[slot].state == Sequence::State::Live &&
                   nameSlot(slot) == id
               ? slot
               : 0;
  }
  /// The same, or what is wrong.
  Result<int32_t> findSlot(SequenceId id) const;

  //===-- Steps (Plan.cpp, Arrays.cpp, Commit.cpp)
  //-------------------------===//

  Status plan(std::span<const StepRequest> requests, const StepLayout &layout,
              StepPlan &plan);
  Status commit(std::span<const CommitRequest> requests);
  Status rollback(SequenceId id);
  Result<int32_t> getChunk(SequenceId id, int32_t budget) const;
  Result<const StepLayout *> getLayout(const StepShape &shape);

  std::string check() const;

  //===-- State
  //------------------------------------------------------------===//

  const Geometry geometry;
  const Capacity capacity;
  const ManagerOptions options;
  const KeyMaker keyMaker;
  const Digest digest;
  const uint16_t tag; ///< Of this manager, in the names of its sequences.
  const std::vector<std::vector<Region>> caches, keptRings;
  const Divider byBlock, byWindowPage;
  std::vector<EntryPlan> classes;
  std::vector<EntryClass> shapes;

  std::vector<Block> blocks;
  FreeList freeBlocks, cachedBlocks;
  PrefixIndex index;
  std::vector<int32_t> pageReferences;
  FreeList freePages;
  std::vector<Checkpoint> checkpoints;
  FreeList freeCheckpoints, usedCheckpoints;
  std::vector<Sequence> sequences;
  FreeList freeSlots, retiringSlots;
  /// Blocks that live sequences will take for certain, in all and by slot.
  int32_t reservedBlocks = 0;
  std::vector<int32_t> reservedOf;
  std::vector<Key> roots; ///< By slot, the key before its first block.

  std::vector<int32_t> pageTable, windowTable;
  std::vector<Key> keys;           ///< [slots, blocks]
  std::vector<int32_t> tailTokens; ///< [slots, tokens of a block]
  /// Window pages that sequences left, with the step that may read them last.
  struct LeftPage {
    int32_t page;
    int64_t step;
  };
  std::vector<LeftPage> leftPages; ///< A ring.
  size_t leftBegin = 0, leftCount = 0;

  /// Cells of the page table, then of the window table, that the device does
  /// not have yet, each once.
  std::vector<int32_t> changedCells;
  std::vector<uint8_t> isChanged;
  std::vector<PoolCopy> pendingCopies, plannedCopies;
  std::map<std::pair<int32_t, int32_t>, StepLayout> layouts;
  std::vector<std::vector<std::byte>> staging;
  int64_t step = 0, retired = 0;
  /// By slot, the last call that named it.
  std::vector<uint64_t> namedBy;
  uint64_t call = 0;
  /// The slots of the requests of a call, in their order.
  std::vector<int32_t> slotsOfCall;
  /// By slot, the tokens with those of steps under way: `lengths`.
  std::vector<int32_t> plannedTokens;
  ManagerCounters counters;

  //===-- Tables
  //-----------------------------------------------------------===//

  size_t rowOf(int32_t slot) const {
    return static_cast<size_t>(slot) * geometry.getMaxBlocks();
  }
  size_t windowCell(int32_t slot, int64_t page) const {
    const int32_t columns = geometry.getWindowColumns();
    return static_cast<size_t>(slot) * columns + (page & (columns - 1));
  }
  /// The entry of the window caches where a token is.
  int32_t findWindowSlot(int32_t slot, int64_t position) const {
    const int64_t page = byWindowPage.getQuotient(position);
    const int32_t tokens = geometry.getOptions().windowPageTokens;
    return static_cast<int32_t>(windowTable[windowCell(slot, page)] * tokens +
                                position - page * tokens);
  }
  void setBlock(int32_t slot, int32_t column, int32_t block);
  void setWindowPage(int32_t slot, int64_t page, int32_t id);
  void setCell(std::vector<int32_t> &table, size_t cell, size_t number,
               int32_t value);
  /// Makes room for the copies of the next step.
  void reserveCopies();

  //===-- Blocks, pages and checkpoints (Holdings.cpp)
  //---------------------===//

  int32_t countAvailableBlocks() const {
    return freeBlocks.size() + cachedBlocks.size() - reservedBlocks;
  }
  /// A block for a sequence. There is one.
  int32_t takeBlock();
  void referBlock(int32_t block);
  void dropBlock(int32_t block);
  /// Makes a full block findable, unless one with its tokens is.
  void indexBlock(int32_t block, const Key &parent, const Key &key);
  void forgetBlock(int32_t block);

  /// A window page, or 0 if there is none even without checkpoints.
  int32_t takePage();
  void dropPage(int32_t page);
  void leavePage(int32_t page);

  /// A checkpoint that is free, or was used longest ago; 0: there is none.
  int32_t takeCheckpoint();
  /// Gives the end of a block a checkpoint from the state of a slot. `kept` has
  /// its rings, if it is not 0. Returns whether that was used.
  bool makeCheckpoint(int32_t slot, int32_t block, int64_t position,
                      bool isTransient, int32_t kept);
  void dropCheckpoint(int32_t checkpoint);
  void copyRings(int32_t slot, int32_t checkpoint, bool save);
  void copySlot(int32_t to, int32_t from);
  void copyPage(Retention retention, int32_t to, int32_t from);

  void resume(int32_t slot, int32_t checkpoint);
  /// Gives a sequence its next block.
  void addBlock(int32_t slot);
  void finishRetiring(int32_t slot);

  /// Whether this call names a slot for the first time.
  bool isFirst(int32_t slot) {
    return std::exchange(namedBy[slot], call) != call;
  }

  //===-- Parts of plan and commit
  //-----------------------------------------===//

  /// Why a request names no live sequence.
  Status refuseSlot(size_t number, SequenceId id) const;
  Status checkPlan(std::span<const StepRequest> requests,
                   const StepLayout &layout, StepPlan &plan);
  void writeArrays(std::span<const StepRequest> requests,
                   const StepLayout &layout, StepPlan &plan);
  void writeEntries(size_t number, std::span<const StepRequest> requests,
                    const StepLayout &layout, StepPlan &plan);
  void writeCells(const StepLayout &layout, StepPlan &plan);
  void extend(int32_t slot, int32_t tokens);
  void commitOne(int32_t slot, const CommitRequest &request);
  void noteTokens(int32_t slot, const CommitRequest &request);
  void indexFull(int32_t slot);
  bool checkpointEnds(int32_t slot, int64_t before, int32_t kept);
  /// Keeps what a step of `tokens` tokens overwrites, and a checkpoint needs.
  void keepRings(int32_t slot, int32_t tokens);
  /// Whether rings have what a checkpoint at `end` needs, once they are written
  /// up to `written`.
  bool hasRings(int64_t end, int64_t written) const;
  /// Takes all steps of a sequence under way back.
  void dropFlights(Sequence &sequence);
  bool wantsCheckpoint(const Sequence &sequence, int64_t end,
                       bool &isTransient) const;
  void leaveWindow(int32_t slot);
  void setPlanned(int32_t slot, int64_t tokens) {
    sequences[slot].planned = tokens;
    plannedTokens[slot] = static_cast<int32_t>(tokens);
  }
};

} // namespace dsv4::kv

#endif // DSV4_KVCACHE_MANAGERIMPL_H
