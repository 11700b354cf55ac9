//===- Holdings.cpp - Blocks, window pages and checkpoints ----------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ManagerImpl.h"

using namespace dsv4::kv;

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

int32_t Manager::Impl::takeBlock() {
  int32_t block = freeBlocks.take();
  if (!block) {
    block = cachedBlocks.take();
    assert(block);
    forgetBlock(block);
    ++counters.evictedBlocks;
  }
  blocks[block].references = 1;
  return block;
}

void Manager::Impl::referBlock(int32_t block) {
  if (blocks[block].references++ == 0)
    cachedBlocks.remove(block);
}

void Manager::Impl::dropBlock(int32_t block) {
  assert(blocks[block].references > 0);
  if (--blocks[block].references)
    return;
  if (blocks[block].isIndexed)
    cachedBlocks.giveBack(block);
  else
    freeBlocks.giveFront(block);
}

void Manager::Impl::indexBlock(int32_t block, const Key &parent,
                               const Key &key) {
  if (!options.share || blocks[block].isIndexed || index.find(key))
    return;
  index.insert(key, block);
  blocks[block].isIndexed = true;
  blocks[block].key = key;
  blocks[block].parent = parent;
}

void Manager::Impl::forgetBlock(int32_t block) {
  Block &forgotten = blocks[block];
  if (forgotten.checkpoint)
    dropCheckpoint(forgotten.checkpoint);
  if (forgotten.isIndexed)
    index.erase(forgotten.key);
  forgotten.isIndexed = false;
}

//===----------------------------------------------------------------------===//
// Window pages
//===----------------------------------------------------------------------===//

int32_t Manager::Impl::takePage() {
  // A checkpoint's pages may be those of a sequence, too.
  while (freePages.empty() && !usedCheckpoints.empty()) {
    dropCheckpoint(usedCheckpoints.front());
    ++counters.evictedCheckpoints;
  }
  const int32_t page = freePages.take();
  if (page)
    pageReferences[page] = 1;
  return page;
}

void Manager::Impl::dropPage(int32_t page) {
  assert(pageReferences[page] > 0);
  if (--pageReferences[page] == 0)
    freePages.giveBack(page);
}

/// Steps under way may still read it.
void Manager::Impl::leavePage(int32_t page) {
  if (retired >= step)
    return dropPage(page);
  assert(leftCount < leftPages.size());
  leftPages[(leftBegin + leftCount++) % leftPages.size()] = {page, step};
}

//===----------------------------------------------------------------------===//
// Checkpoints
//===----------------------------------------------------------------------===//

int32_t Manager::Impl::takeCheckpoint() {
  if (freeCheckpoints.empty() && !usedCheckpoints.empty()) {
    dropCheckpoint(usedCheckpoints.front());
    ++counters.evictedCheckpoints;
  }
  return freeCheckpoints.take();
}

bool Manager::Impl::makeCheckpoint(int32_t slot, int32_t block,
                                   int64_t position, bool isTransient,
                                   int32_t kept) {
  // One that its block has already stays, for good if this one would.
  if (const int32_t made = blocks[block].checkpoint) {
    if (!isTransient)
      checkpoints[made].transientOf = 0;
    usedCheckpoints.remove(made);
    usedCheckpoints.giveBack(made);
    return false;
  }
  const int32_t number = kept ? kept : takeCheckpoint();
  if (!number)
    return false;
  Checkpoint &made = checkpoints[number];
  made = {};
  made.block = block;
  made.transientOf = isTransient ? nameSlot(slot).value : 0;
  const int64_t end = byWindowPage.getQuotient(position);
  for (int64_t page = geometry.getFirstWindowPage(position);
       geometry.getWindowColumns() && page < end; ++page) {
    const int32_t id = windowTable[windowCell(slot, page)];
    ++pageReferences[id];
    made.pages[made.pageCount++] = id;
  }
  blocks[block].checkpoint = number;
  usedCheckpoints.giveBack(number);
  if (!kept)
    copyRings(slot, number, /*save=*/true);
  return kept;
}

void Manager::Impl::dropCheckpoint(int32_t number) {
  Checkpoint &dropped = checkpoints[number];
  blocks[dropped.block].checkpoint = 0;
  for (int32_t page = 0; page < dropped.pageCount; ++page)
    dropPage(dropped.pages[page]);
  dropped = {};
  usedCheckpoints.remove(number);
  freeCheckpoints.giveBack(number);
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

/// Between the caches of a group, one copy each of `bytes`. Neighbouring caches
/// are a constant pitch apart.
static void addCopy(std::vector<PoolCopy> &copies,
                    const std::vector<Region> &to, int64_t toOffset,
                    const std::vector<Region> &from, int64_t fromOffset,
                    int64_t bytes) {
  if (to.empty() || !bytes)
    return;
  const int32_t rows = static_cast<int32_t>(to.size());
  copies.push_back({to[0].offset + toOffset, from[0].offset + fromOffset, bytes,
                    rows, rows > 1 ? to[1].offset - to[0].offset : 0,
                    rows > 1 ? from[1].offset - from[0].offset : 0});
}

void Manager::Impl::copyRings(int32_t slot, int32_t checkpoint, bool save) {
  for (size_t group = 0; group < caches.size(); ++group) {
    const GroupGeometry &sizes = geometry.getGroup(group);
    if (!sizes.keptEntries)
      continue;
    // A block's end is the end of the ring, too.
    const int64_t bytes = sizes.entryBytes * sizes.keptEntries;
    const int64_t inSlot =
        slot * sizes.pageBytes +
        sizes.entryBytes * (sizes.slotEntries - sizes.keptEntries);
    const int64_t kept = checkpoint * bytes;
    if (save)
      addCopy(pendingCopies, keptRings[group], kept, caches[group], inSlot,
              bytes);
    else
      addCopy(pendingCopies, caches[group], inSlot, keptRings[group], kept,
              bytes);
  }
}

void Manager::Impl::copySlot(int32_t to, int32_t from) {
  copyPage(Retention::Ring, to, from);
  copyPage(Retention::Online, to, from);
}

void Manager::Impl::copyPage(Retention retention, int32_t to, int32_t from) {
  for (size_t group = 0; group < caches.size(); ++group) {
    const int64_t bytes = geometry.getGroup(group).pageBytes;
    if (geometry.getSchema().groups[group].retention == retention)
      addCopy(pendingCopies, caches[group], to * bytes, caches[group],
              from * bytes, bytes);
  }
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

void Manager::Impl::setCell(std::vector<int32_t> &table, size_t cell,
                            size_t number, int32_t value) {
  if (table[cell] == value)
    return;
  table[cell] = value;
  if (!isChanged[number])
    changedCells.push_back(static_cast<int32_t>(number));
  isChanged[number] = 1;
}

void Manager::Impl::setBlock(int32_t slot, int32_t column, int32_t block) {
  const size_t cell = rowOf(slot) + column;
  setCell(pageTable, cell, cell, block);
}

void Manager::Impl::setWindowPage(int32_t slot, int64_t page, int32_t id) {
  const size_t cell = windowCell(slot, page);
  setCell(windowTable, cell, pageTable.size() + cell, id);
}

void Manager::Impl::reserveCopies() {
  const GeometryOptions &sizes = geometry.getOptions();
  const size_t more = (sizes.overlap + 2) * caches.size() *
                      static_cast<size_t>(sizes.maxSequences);
  if (pendingCopies.capacity() < pendingCopies.size() + more)
    pendingCopies.reserve(2 * (pendingCopies.size() + more));
}
