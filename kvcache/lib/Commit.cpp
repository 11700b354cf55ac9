//===- Commit.cpp - What a step leaves ------------------------------------===//
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

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

static Status checkCommit(const Sequence &sequence,
                          const CommitRequest &request, size_t number) {
  const auto name = [&] { return "requests[" + std::to_string(number) + "]"; };
  if (!sequence.flightCount)
    return refuse("commit.step",
                  name() + ": no step of the sequence is planned");
  const Flight &flight = sequence.flights[0];
  if (request.accepted < 0 || request.accepted > flight.tokens)
    return refuse("commit.accepted",
                  name() + ": " + std::to_string(request.accepted) +
                      " tokens accepted, expected 0 to " +
                      std::to_string(flight.tokens) + " of its oldest step");
  if (flight.isChunk && request.accepted != flight.tokens)
    return refuse("commit.chunk",
                  name() + ": " + std::to_string(request.accepted) +
                      " tokens accepted of a chunk of " +
                      std::to_string(flight.tokens) +
                      ", expected all: 'max_draft_tokens' says how many a step "
                      "may take back");
  const size_t accepted = static_cast<size_t>(request.accepted);
  const int64_t end = sequence.length + request.accepted;
  if (request.tokens.empty() ? end > sequence.promptTokens && accepted
                             : request.tokens.size() != accepted)
    return refuse("commit.tokens",
                  name() + ": " + std::to_string(request.tokens.size()) +
                      " token ids, expected those of the " +
                      std::to_string(accepted) + " that are accepted");
  return {};
}

Status Manager::Impl::commit(std::span<const CommitRequest> requests) {
  ++call;
  slotsOfCall.clear();
  for (size_t number = 0; number < requests.size(); ++number) {
    const int32_t slot = lookUp(requests[number].id);
    if (!slot)
      return refuseSlot(number, requests[number].id);
    slotsOfCall.push_back(slot);
    if (Status status = checkCommit(sequences[slot], requests[number], number);
        !status)
      return status;
    if (!isFirst(slot))
      return refuse("commit.twice", "requests[" + std::to_string(number) +
                                        "]: the sequence of an earlier one");
  }
  for (size_t number = 0; number < requests.size(); ++number)
    commitOne(slotsOfCall[number], requests[number]);
  return {};
}

//===----------------------------------------------------------------------===//
// One sequence
//===----------------------------------------------------------------------===//

/// The entry of an online state after `accepted` tokens of a step that begins
/// at `length`: see writeSegments().
static int32_t moveOnline(int32_t online, int32_t accepted, bool isChunk,
                          int32_t slotEntries) {
  if (!accepted)
    return online;
  return (online + (isChunk ? 1 : accepted)) % slotEntries;
}

void Manager::Impl::commitOne(int32_t slot, const CommitRequest &request) {
  Sequence &sequence = sequences[slot];
  const Flight flight = sequence.flights[0];
  const int64_t before = sequence.length;
  noteTokens(slot, request);
  sequence.length += request.accepted;
  for (const EntryPlan &each : classes)
    if (each.shape.planColumns == 5) {
      sequence.online = moveOnline(sequence.online, request.accepted,
                                   flight.isChunk, each.slotEntries);
      break; // All have as many entries.
    }
  if (request.accepted < flight.tokens) {
    // The steps after it began at a token that is not there.
    dropFlights(sequence);
    setPlanned(slot, sequence.length);
  } else {
    std::copy_n(sequence.flights + 1, --sequence.flightCount, sequence.flights);
    indexFull(slot);
    if (!checkpointEnds(slot, before, flight.kept) && flight.kept)
      freeCheckpoints.giveBack(flight.kept);
    return leaveWindow(slot);
  }
  indexFull(slot);
  checkpointEnds(slot, before, /*kept=*/0);
  leaveWindow(slot);
}

void Manager::Impl::dropFlights(Sequence &sequence) {
  for (int32_t flight = 0; flight < sequence.flightCount; ++flight)
    if (const int32_t kept = sequence.flights[flight].kept)
      freeCheckpoints.giveBack(kept);
  sequence.flightCount = 0;
}

/// Keeps the ids of the tokens of the last block, and makes the keys of blocks
/// that become full. Those of the prompt are known.
void Manager::Impl::noteTokens(int32_t slot, const CommitRequest &request) {
  Sequence &sequence = sequences[slot];
  const int64_t block = geometry.getOptions().blockTokens;
  int32_t *tail = tailTokens.data() + size_t(slot) * block;
  Key *row = keys.data() + rowOf(slot);
  for (int32_t number = 0; number < request.accepted; ++number) {
    const int64_t position = sequence.length + number;
    if (position < sequence.promptTokens)
      continue;
    tail[byBlock.getRemainder(position)] = request.tokens[number];
    if (byBlock.getRemainder(position + 1))
      continue;
    const int32_t at = sequence.keyCount++;
    row[at] = keyMaker.makeNext(at ? row[at - 1] : roots[slot],
                                {tail, static_cast<size_t>(block)});
  }
}

void Manager::Impl::indexFull(int32_t slot) {
  Sequence &sequence = sequences[slot];
  const int64_t block = geometry.getOptions().blockTokens;
  const Key *row = keys.data() + rowOf(slot);
  while ((int64_t{sequence.indexedCount} + 1) * block <= sequence.length) {
    const int32_t at = sequence.indexedCount++;
    indexBlock(pageTable[rowOf(slot) + at], at ? row[at - 1] : roots[slot],
               row[at]);
  }
}

//===----------------------------------------------------------------------===//
// Checkpoints
//===----------------------------------------------------------------------===//

bool Manager::Impl::wantsCheckpoint(const Sequence &sequence, int64_t end,
                                    bool &isTransient) const {
  const CheckpointPolicy &policy = options.checkpoints;
  const int64_t block = geometry.getOptions().blockTokens;
  isTransient = false;
  if (!options.share)
    return false;
  if (policy.divergence && end == sequence.divergence)
    return true;
  if (policy.endOfPrompt && end == (sequence.promptTokens - 1) / block * block)
    return true;
  if (policy.every) {
    const int64_t every = (policy.every + block - 1) / block * block;
    if (end % every == 0)
      return true;
  }
  isTransient = policy.newest;
  return policy.newest;
}

bool Manager::Impl::hasRings(int64_t end, int64_t written) const {
  for (size_t group = 0; group < caches.size(); ++group) {
    const GroupGeometry &sizes = geometry.getGroup(group);
    if (sizes.keptEntries &&
        written - (end - sizes.keptEntries) > sizes.slotEntries)
      return false;
  }
  return true;
}

void Manager::Impl::keepRings(int32_t slot, int32_t tokens) {
  Sequence &sequence = sequences[slot];
  int64_t end = sequence.planned;
  for (int32_t number = sequence.flightCount; number-- > 0;) {
    Flight &flight = sequence.flights[number];
    bool isTransient;
    if (flight.isChunk && !flight.kept && !byBlock.getRemainder(end) &&
        hasRings(end, sequence.planned) &&
        !hasRings(end, sequence.planned + tokens) &&
        wantsCheckpoint(sequence, end, isTransient)) {
      flight.kept = takeCheckpoint();
      if (flight.kept)
        copyRings(slot, flight.kept, /*save=*/true);
    }
    end -= flight.tokens;
  }
}

/// Gives the newest end of a block that the sequence passed a checkpoint, if
/// the rings still have what it needs, or `kept` does.
bool Manager::Impl::checkpointEnds(int32_t slot, int64_t before, int32_t kept) {
  Sequence &sequence = sequences[slot];
  const int64_t block = geometry.getOptions().blockTokens;
  const int64_t number = byBlock.getQuotient(sequence.length);
  const int64_t end = number * block;
  bool isTransient;
  if (end <= before || !wantsCheckpoint(sequence, end, isTransient))
    return false;
  // Steps under way write up to here.
  if (end != sequence.length)
    kept = 0;
  if (!kept && !hasRings(end, sequence.planned))
    return false;
  // The one that is found: that of another sequence with the same tokens.
  const int32_t found = index.find(keys[rowOf(slot) + number - 1]);
  const Key &parent = number > 1 ? keys[rowOf(slot) + number - 2] : roots[slot];
  if (!found || blocks[found].parent != parent)
    return false;
  const bool isUsed = makeCheckpoint(slot, found, end, isTransient, kept);
  const int32_t old =
      std::exchange(sequence.transient, isTransient ? found : 0);
  if (old && old != found && blocks[old].checkpoint &&
      checkpoints[blocks[old].checkpoint].transientOf == nameSlot(slot).value)
    dropCheckpoint(blocks[old].checkpoint);
  return isUsed;
}

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

/// Gives back the window pages that no later token reads.
void Manager::Impl::leaveWindow(int32_t slot) {
  Sequence &sequence = sequences[slot];
  if (!geometry.getWindowColumns())
    return;
  const int64_t first = geometry.getFirstWindowPage(sequence.length);
  for (; sequence.firstPage < std::min(first, sequence.endPage);
       ++sequence.firstPage) {
    leavePage(windowTable[windowCell(slot, sequence.firstPage)]);
    setWindowPage(slot, sequence.firstPage, -1);
  }
}

Status Manager::Impl::rollback(SequenceId id) {
  const Result<int32_t> slot = findSlot(id);
  if (!slot)
    return slot.status();
  Sequence &sequence = sequences[*slot];
  for (int32_t flight = 0; flight < sequence.flightCount; ++flight)
    if (sequence.flights[flight].isChunk)
      return refuse("rollback.chunk",
                    "a chunk of " +
                        std::to_string(sequence.flights[flight].tokens) +
                        " tokens is under way, and has overwritten what came "
                        "before it: release the sequence and admit it again");
  dropFlights(sequence);
  setPlanned(*slot, sequence.length);
  return {};
}
