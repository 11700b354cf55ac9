//===- Check.cpp - What always holds --------------------------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ManagerImpl.h"

using namespace dsv4::kv;

using State = Sequence::State;

namespace {

/// Counts who holds what by walking all holders.
class Walk {
public:
  explicit Walk(const Manager::Impl &of)
      : of(of), blockHolders(of.blocks.size()),
        pageHolders(of.pageReferences.size()),
        checkpointHolders(of.checkpoints.size()) {}
  std::string run();

private:
  std::string walkSequence(size_t slot);
  std::string checkBlocks();
  std::string checkPages();
  std::string checkCheckpoints();
  std::string checkSlots();

  const Manager::Impl &of;
  std::vector<int32_t> blockHolders, pageHolders, checkpointHolders;
  int32_t reserved = 0;
};

} // namespace

static std::string say(const char *what, size_t number, const char *why) {
  return std::string(what) + " " + std::to_string(number) + " " + why;
}

std::string Walk::walkSequence(size_t slot) {
  const Sequence &sequence = of.sequences[slot];
  const int64_t block = of.geometry.getOptions().blockTokens;
  if (sequence.length > sequence.planned ||
      sequence.planned > sequence.maxTokens ||
      sequence.planned > sequence.blockCount * block)
    return say("slot", slot, "has more tokens than it may");
  for (int32_t flight = 0; flight < sequence.flightCount; ++flight)
    ++checkpointHolders[sequence.flights[flight].kept];
  if (sequence.indexedCount > sequence.length / block)
    return say("slot", slot, "has an indexed block that is not full");
  for (int32_t column = 0; column < of.geometry.getMaxBlocks(); ++column) {
    const int32_t id = of.pageTable[of.rowOf(slot) + column];
    if (column >= sequence.blockCount) {
      if (id != -1)
        return say("slot", slot, "has a block beyond its last");
      continue;
    }
    if (id <= 0 || id >= static_cast<int32_t>(blockHolders.size()))
      return say("slot", slot, "has a block that is none");
    ++blockHolders[id];
    // What it will write, nobody else has, and nobody can find.
    const bool isWritten = (column + 1) * block > sequence.length &&
                           (column + 1) * block > sequence.sharedTokens;
    if (isWritten && (of.blocks[id].references != 1 || of.blocks[id].isIndexed))
      return say("block", id, "is written, and another has it");
  }
  if (!of.geometry.getWindowColumns())
    return "";
  if (sequence.endPage - sequence.firstPage > of.geometry.getWindowColumns())
    return say("slot", slot, "has more window pages than columns");
  for (int64_t page = sequence.firstPage; page < sequence.endPage; ++page) {
    const int32_t id = of.windowTable[of.windowCell(slot, page)];
    if (id <= 0 || id >= static_cast<int32_t>(pageHolders.size()))
      return say("slot", slot, "has a window page that is none");
    ++pageHolders[id];
    const int64_t end = (page + 1) * of.geometry.getOptions().windowPageTokens;
    if (end > sequence.length && of.pageReferences[id] != 1)
      return say("window page", id, "is written, and another has it");
  }
  return "";
}

std::string Walk::checkBlocks() {
  for (size_t id = 1; id < of.blocks.size(); ++id) {
    const Block &block = of.blocks[id];
    const bool isFree = of.freeBlocks.has(id),
               isCached = of.cachedBlocks.has(id);
    if (block.references != blockHolders[id])
      return say("block", id, "has a wrong count of references");
    if ((block.references == 0) != (isFree || isCached) || (isFree && isCached))
      return say("block", id, "is in a wrong list");
    if (isFree && (block.isIndexed || block.checkpoint))
      return say("block", id, "is free, and can be found");
    if (isCached && !block.isIndexed)
      return say("block", id, "is cached, and cannot be found");
    if (block.isIndexed && of.index.find(block.key) != static_cast<int32_t>(id))
      return say("block", id, "is not where its key is");
    if (block.checkpoint &&
        (!block.isIndexed ||
         of.checkpoints[block.checkpoint].block != static_cast<int32_t>(id)))
      return say("block", id, "has a checkpoint of another");
  }
  int32_t indexed = 0;
  for (const Block &block : of.blocks)
    indexed += block.isIndexed;
  if (indexed != of.index.size())
    return "the index has keys of no block";
  if (reserved != of.reservedBlocks || of.countAvailableBlocks() < 0)
    return "more blocks are reserved than there are";
  return "";
}

std::string Walk::checkCheckpoints() {
  for (size_t number = 1; number < of.checkpoints.size(); ++number) {
    const Checkpoint &checkpoint = of.checkpoints[number];
    const bool isUsed = of.usedCheckpoints.has(number);
    if (isUsed + of.freeCheckpoints.has(number) + checkpointHolders[number] !=
            1 ||
        isUsed != (checkpoint.block != 0))
      return say("checkpoint", number, "is in a wrong list");
    if (isUsed &&
        of.blocks[checkpoint.block].checkpoint != static_cast<int32_t>(number))
      return say("checkpoint", number, "is not that of its block");
    for (int32_t page = 0; page < checkpoint.pageCount; ++page)
      ++pageHolders[checkpoint.pages[page]];
  }
  return "";
}

std::string Walk::checkPages() {
  for (size_t entry = 0; entry < of.leftCount; ++entry)
    ++pageHolders[of.leftPages[(of.leftBegin + entry) % of.leftPages.size()]
                      .page];
  for (size_t id = 1; id < pageHolders.size(); ++id)
    if (of.pageReferences[id] != pageHolders[id] ||
        of.freePages.has(id) != (pageHolders[id] == 0))
      return say("window page", id, "has a wrong count of references");
  if (!pageHolders.empty() && pageHolders[0])
    return "the null page is held";
  return "";
}

std::string Walk::checkSlots() {
  for (size_t slot = 1; slot < of.sequences.size(); ++slot) {
    const Sequence &sequence = of.sequences[slot];
    if (of.freeSlots.has(slot) != (sequence.state == State::Free) ||
        of.retiringSlots.has(slot) != (sequence.state == State::Retiring))
      return say("slot", slot, "is in a wrong list");
    if (sequence.state != State::Live && of.reservedOf[slot])
      return say("slot", slot, "reserves blocks after its end");
    reserved += of.reservedOf[slot];
    if (std::string why = walkSequence(slot); !why.empty())
      return why;
  }
  if (of.sequences[0].state != State::Free)
    return "the null slot is in use";
  return "";
}

std::string Walk::run() {
  for (auto part : {&Walk::checkSlots, &Walk::checkCheckpoints,
                    &Walk::checkBlocks, &Walk::checkPages})
    if (std::string why = (this->*part)(); !why.empty())
      return why;
  return "";
}

std::string Manager::Impl::check() const { return Walk(*this).run(); }
