//===- Admit.cpp - How sequences begin and end ----------------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ManagerImpl.h"
#include "SchemaCheck.h"

#include <algorithm>

using namespace dsv4;
using namespace dsv4::kv;

static Status lacks(const char *id, std::string message) {
  return Status(rt::Code::Unavailable, std::move(message)).about(id);
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

Result<int32_t> Manager::Impl::findSlot(SequenceId id) const {
  const int32_t slot = lookUp(id);
  if (id.value >> 48 != tag)
    return refuse("sequence.foreign", "the sequence is none of this manager");
  if (!slot)
    return refuse("sequence.ended", "the sequence was released before");
  return slot;
}

//===----------------------------------------------------------------------===//
// Admission
//===----------------------------------------------------------------------===//

static Status checkAdmission(const Geometry &geometry,
                             const AdmitRequest &request, int64_t maxTokens) {
  const int64_t prompt = static_cast<int64_t>(request.tokens.size());
  const GeometryOptions &options = geometry.getOptions();
  if (prompt < 1)
    return refuse("admit.tokens", "the prompt has no tokens");
  if (maxTokens < prompt || maxTokens > options.maxTokens)
    return refuse("admit.max_tokens",
                  "'max_tokens' is " + std::to_string(maxTokens) +
                      ", expected at least the prompt's " +
                      std::to_string(prompt) + " and at most " +
                      std::to_string(options.maxTokens) +
                      ", the longest sequence of this manager");
  if (!request.keys.empty() &&
      static_cast<int64_t>(request.keys.size()) != prompt / options.blockTokens)
    return refuse("admit.keys",
                  std::to_string(request.keys.size()) + " keys, expected " +
                      std::to_string(prompt / options.blockTokens) +
                      ", one per full block");
  return {};
}

Result<Admission> Manager::Impl::admit(const AdmitRequest &request) {
  const GeometryOptions &sizes = geometry.getOptions();
  const int64_t prompt = static_cast<int64_t>(request.tokens.size());
  const int64_t maxTokens =
      request.maxTokens ? request.maxTokens : sizes.maxTokens;
  if (Status status = checkAdmission(geometry, request, maxTokens); !status)
    return status;
  const int32_t slot = freeSlots.front();
  if (!slot)
    return lacks("admit.slots", "all " + std::to_string(sizes.maxSequences) +
                                    " slots are in use: release a sequence, "
                                    "and retire its last step");

  // The key of every full block: those of the prompt's end are for later.
  const int32_t fullBlocks = static_cast<int32_t>(prompt / sizes.blockTokens);
  Key *known = keys.data() + rowOf(slot);
  Key parent = keyMaker.makeRoot(digest, request.salt);
  const Key root = parent;
  for (int32_t block = 0; block < fullBlocks; ++block)
    parent = known[block] =
        request.keys.empty()
            ? keyMaker.makeNext(parent, request.tokens.subspan(
                                            size_t(block) * sizes.blockTokens,
                                            sizes.blockTokens))
            : request.keys[block];

  // What is cached of it, and the last checkpoint in that. One token is left to
  // compute: its results are what the caller wants.
  const int32_t most = static_cast<int32_t>((prompt - 1) / sizes.blockTokens);
  int32_t found = 0, usable = 0;
  std::vector<int32_t> shared;
  while (options.share && found < fullBlocks) {
    const int32_t block = index.find(known[found]);
    // Keys that are given may be in a wrong order.
    if (!block || blocks[block].parent != (found ? known[found - 1] : root))
      break;
    shared.push_back(block);
    ++found;
    if (blocks[block].checkpoint && found <= most)
      usable = found;
  }
  const int32_t needed = geometry.countBlocks(maxTokens);
  int32_t revived = 0;
  for (int32_t block : shared)
    revived += blocks[block].references == 0;
  const int32_t reserved = options.reserve ? needed - found : 0;
  if (countAvailableBlocks() < revived + reserved)
    return lacks("admit.blocks",
                 "the sequence needs " + std::to_string(revived + reserved) +
                     " blocks, and " + std::to_string(countAvailableBlocks()) +
                     " are free: release a sequence, and retire its last step");

  freeSlots.remove(slot);
  Sequence &sequence = sequences[slot];
  const uint32_t generation = sequence.generation + 1;
  sequence = {};
  sequence.state = Sequence::State::Live;
  sequence.generation = generation;
  sequence.maxTokens = maxTokens;
  sequence.promptTokens = prompt;
  sequence.keyCount = fullBlocks;
  roots[slot] = root;
  reservedBlocks += reserved;
  reservedOf[slot] = reserved;

  // Pinned before anything is taken: taking may evict what is not.
  for (int32_t block = 0; block < found; ++block) {
    referBlock(shared[block]);
    setBlock(slot, block, shared[block]);
  }
  sequence.blockCount = found;
  sequence.sharedTokens = int64_t{found} * sizes.blockTokens;
  sequence.length = int64_t{usable} * sizes.blockTokens;
  setPlanned(slot, sequence.length);
  sequence.indexedCount = usable;
  if (found > usable && found <= most)
    sequence.divergence = sequence.sharedTokens;
  if (usable) {
    resume(slot, blocks[shared[usable - 1]].checkpoint);
  } else {
    sequence.firstPage = sequence.endPage = 0;
  }

  const size_t tail = static_cast<size_t>(prompt % sizes.blockTokens);
  std::copy_n(request.tokens.end() - tail, tail,
              tailTokens.begin() + size_t(slot) * sizes.blockTokens);
  ++counters.admitted;
  counters.promptTokens += prompt;
  counters.cachedTokens += sequence.length;
  reserveCopies();
  return Admission{nameSlot(slot), sequence.length, slot};
}

/// Gives a sequence the state of a checkpoint.
void Manager::Impl::resume(int32_t slot, int32_t number) {
  Sequence &sequence = sequences[slot];
  Checkpoint &checkpoint = checkpoints[number];
  checkpoint.transientOf = 0; // Others want it, too.
  usedCheckpoints.remove(number);
  usedCheckpoints.giveBack(number);
  sequence.endPage = sequence.length / geometry.getOptions().windowPageTokens;
  sequence.firstPage = sequence.endPage - checkpoint.pageCount;
  for (int32_t page = 0; page < checkpoint.pageCount; ++page) {
    ++pageReferences[checkpoint.pages[page]];
    setWindowPage(slot, sequence.firstPage + page, checkpoint.pages[page]);
  }
  copyRings(slot, number, /*save=*/false);
}

//===----------------------------------------------------------------------===//
// Forks
//===----------------------------------------------------------------------===//

Result<Admission> Manager::Impl::fork(SequenceId id) {
  Result<int32_t> parentSlot = findSlot(id);
  if (!parentSlot)
    return parentSlot.status();
  const Sequence &parent = sequences[*parentSlot];
  if (parent.flightCount)
    return refuse("fork.planned", "steps of the sequence are under way: commit "
                                  "or roll them back first");
  const GeometryOptions &sizes = geometry.getOptions();
  const int32_t slot = freeSlots.front();
  if (!slot)
    return lacks("fork.slots", "all " + std::to_string(sizes.maxSequences) +
                                   " slots are in use: release a sequence, and "
                                   "retire its last step");
  // Blocks that are full are shared, and the last one is copied. Blocks that
  // the parent has from others beyond its length are shared, too.
  const int32_t full = static_cast<int32_t>(
      std::max(parent.length, parent.sharedTokens) / sizes.blockTokens);
  const bool isPartial = int64_t{full} * sizes.blockTokens < parent.length;
  const int32_t reserved =
      options.reserve ? geometry.countBlocks(parent.maxTokens) - full : 0;
  const int32_t taken = options.reserve ? reserved : isPartial;
  if (countAvailableBlocks() < taken)
    return lacks("fork.blocks",
                 "the sequence needs " + std::to_string(taken) +
                     " blocks, and " + std::to_string(countAvailableBlocks()) +
                     " are free: release a sequence, and retire its last step");
  const int64_t page = sizes.windowPageTokens;
  const bool hasPartialPage =
      parent.firstPage < parent.endPage && parent.length % page;
  const int32_t copied = hasPartialPage ? takePage() : 0;
  if (hasPartialPage && !copied)
    return lacks("fork.window_pages",
                 "no window page is free: retire the steps that have finished");

  freeSlots.remove(slot);
  Sequence &child = sequences[slot];
  const uint32_t generation = child.generation + 1;
  child = parent;
  child.generation = generation;
  setPlanned(slot, child.length);
  child.transient = 0;
  child.blockCount = full;
  child.endPage = std::min(child.endPage, (child.length + page - 1) / page);
  roots[slot] = roots[*parentSlot];
  reservedBlocks += reserved;
  reservedOf[slot] = reserved;
  std::copy_n(keys.begin() + rowOf(*parentSlot), child.keyCount,
              keys.begin() + rowOf(slot));
  std::copy_n(tailTokens.begin() + size_t(*parentSlot) * sizes.blockTokens,
              sizes.blockTokens,
              tailTokens.begin() + size_t(slot) * sizes.blockTokens);
  for (int32_t block = 0; block < full; ++block) {
    const int32_t number = pageTable[rowOf(*parentSlot) + block];
    referBlock(number);
    setBlock(slot, block, number);
  }
  if (isPartial) {
    addBlock(slot);
    copyPage(Retention::Full, pageTable[rowOf(slot) + full],
             pageTable[rowOf(*parentSlot) + full]);
  }
  for (int64_t number = child.firstPage; number < child.endPage; ++number) {
    const int32_t shared = windowTable[windowCell(*parentSlot, number)];
    const bool isLast = hasPartialPage && number == child.endPage - 1;
    if (isLast)
      copyPage(Retention::Window, copied, shared);
    else
      ++pageReferences[shared];
    setWindowPage(slot, number, isLast ? copied : shared);
  }
  copySlot(slot, *parentSlot);
  ++counters.admitted;
  reserveCopies();
  return Admission{nameSlot(slot), child.length, slot};
}

//===----------------------------------------------------------------------===//
// Ends
//===----------------------------------------------------------------------===//

Status Manager::Impl::release(SequenceId id) {
  Result<int32_t> slot = findSlot(id);
  if (!slot)
    return slot.status();
  Sequence &sequence = sequences[*slot];
  sequence.state = Sequence::State::Retiring;
  dropFlights(sequence);
  sequence.retireStep = step;
  reservedBlocks -= reservedOf[*slot];
  reservedOf[*slot] = 0;
  if (retired >= step)
    finishRetiring(*slot);
  else
    retiringSlots.giveBack(*slot);
  reserveCopies();
  return {};
}

/// No step reads what the sequence has.
void Manager::Impl::finishRetiring(int32_t slot) {
  Sequence &sequence = sequences[slot];
  // From the last on, so that a suffix is evicted before its prefix.
  for (int32_t block = sequence.blockCount; block-- > 0;) {
    const int32_t id = pageTable[rowOf(slot) + block];
    // Those that another had with the same tokens may be gone.
    if (block < sequence.indexedCount && blocks[id].references == 1)
      indexBlock(id, block ? keys[rowOf(slot) + block - 1] : roots[slot],
                 keys[rowOf(slot) + block]);
    dropBlock(id);
    setBlock(slot, block, -1);
  }
  for (int64_t page = sequence.firstPage; page < sequence.endPage; ++page) {
    dropPage(windowTable[windowCell(slot, page)]);
    setWindowPage(slot, page, -1);
  }
  const uint32_t generation = sequence.generation;
  sequence = {};
  sequence.generation = generation;
  setPlanned(slot, 0);
  freeSlots.giveBack(slot);
}

Status Manager::Impl::retire(int64_t finished) {
  if (finished < retired || finished > step)
    return refuse("retire.step", "step " + std::to_string(finished) +
                                     ", expected " + std::to_string(retired) +
                                     " to " + std::to_string(step) +
                                     ", the last one that was planned");
  retired = finished;
  while (leftCount && leftPages[leftBegin].step <= retired) {
    dropPage(leftPages[leftBegin].page);
    leftBegin = (leftBegin + 1) % leftPages.size();
    --leftCount;
  }
  while (const int32_t slot = retiringSlots.front()) {
    if (sequences[slot].retireStep > retired)
      break;
    retiringSlots.remove(slot);
    finishRetiring(slot);
  }
  reserveCopies();
  return {};
}

void Manager::Impl::flush() {
  while (!usedCheckpoints.empty())
    dropCheckpoint(usedCheckpoints.front());
  while (const int32_t block = cachedBlocks.take()) {
    forgetBlock(block);
    freeBlocks.giveBack(block);
  }
  for (Block &block : blocks)
    block.isIndexed = false;
  index.clear();
}
