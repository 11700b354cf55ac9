//===- Plan.cpp - What a step takes ---------------------------------------===//
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

static std::string nameRequest(size_t number) {
  return "requests[" + std::to_string(number) + "]";
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

/// Whether a sequence may have one more step, of `tokens` tokens.
static Status checkRequest(const Sequence &sequence, int64_t tokens,
                           const GeometryOptions &sizes, size_t number) {
  if (tokens < 1 || tokens > sizes.maxStepTokens)
    return refuse("plan.tokens", nameRequest(number) + ": " +
                                     std::to_string(tokens) +
                                     " tokens, expected 1 to " +
                                     std::to_string(sizes.maxStepTokens));
  if (sequence.planned + tokens > sequence.maxTokens)
    return refuse("plan.max_tokens",
                  nameRequest(number) + ": " + std::to_string(tokens) +
                      " tokens after " + std::to_string(sequence.planned) +
                      ", but the sequence was admitted for " +
                      std::to_string(sequence.maxTokens));
  if (sequence.flightCount > sizes.overlap)
    return refuse(
        "plan.overlap",
        nameRequest(number) + ": " + std::to_string(sequence.flightCount) +
            " steps of the sequence are under way, and 'overlap' is " +
            std::to_string(sizes.overlap) + ": commit one first");
  const bool isChunk = tokens > sizes.maxDraftTokens;
  for (int32_t flight = 0; isChunk && flight < sequence.flightCount; ++flight)
    if (!sequence.flights[flight].isChunk)
      return refuse("plan.chunk",
                    nameRequest(number) + ": a chunk of " +
                        std::to_string(tokens) +
                        " tokens after drafts under way: commit them first");
  return {};
}

Status Manager::Impl::refuseSlot(size_t number, SequenceId id) const {
  const Status why = findSlot(id).status();
  return Status(why.code(), nameRequest(number) + ": " + why.message())
      .about(why.id());
}

Status Manager::Impl::checkPlan(std::span<const StepRequest> requests,
                                const StepLayout &layout, StepPlan &plan) {
  ++call;
  slotsOfCall.clear();
  const GeometryOptions &sizes = geometry.getOptions();
  const auto own = layouts.find({layout.positions.rows, layout.rows.rows});
  if (own == layouts.end() || &own->second != &layout)
    return refuse("plan.layout", "the layout is none of this manager's");
  if (requests.size() > static_cast<size_t>(layout.rows.rows))
    return refuse("plan.requests",
                  std::to_string(requests.size()) +
                      " requests, and the layout has room for " +
                      std::to_string(layout.rows.rows));
  int64_t tokens = 0, available = countAvailableBlocks();
  for (size_t number = 0; number < requests.size(); ++number) {
    const int32_t slot = lookUp(requests[number].id);
    if (!slot)
      return refuseSlot(number, requests[number].id);
    slotsOfCall.push_back(slot);
    const Sequence &sequence = sequences[slot];
    if (!isFirst(slot))
      return refuse("plan.twice",
                    nameRequest(number) + ": the sequence of an earlier one");
    if (Status status =
            checkRequest(sequence, requests[number].tokens, sizes, number);
        !status)
      return status;
    tokens += requests[number].tokens;
    const int64_t end = sequence.planned + requests[number].tokens;
    if (end <= int64_t{sequence.blockCount} * sizes.blockTokens)
      continue;
    const int32_t more =
        geometry.countBlocks(end) - sequence.blockCount - reservedOf[slot];
    if (more <= 0)
      continue;
    if (more > available)
      plan.lacking.push_back(static_cast<int32_t>(number));
    else
      available -= more;
  }
  if (tokens > std::min(layout.positions.rows, sizes.maxStepTokens))
    return refuse("plan.tokens",
                  std::to_string(tokens) + " tokens, expected at most " +
                      std::to_string(std::min(layout.positions.rows,
                                              sizes.maxStepTokens)));
  if (!plan.lacking.empty())
    return Status(rt::Code::Unavailable,
                  std::to_string(plan.lacking.size()) +
                      " sequences lack blocks, " +
                      nameRequest(plan.lacking[0]) +
                      " first: preempt or release others")
        .about("plan.blocks");
  return {};
}

//===----------------------------------------------------------------------===//
// Planning
//===----------------------------------------------------------------------===//

void Manager::Impl::addBlock(int32_t slot) {
  Sequence &sequence = sequences[slot];
  if (reservedOf[slot]) {
    --reservedOf[slot];
    --reservedBlocks;
  }
  setBlock(slot, sequence.blockCount++, takeBlock());
}

/// Blocks and window pages for more tokens of a sequence. There are enough.
void Manager::Impl::extend(int32_t slot, int32_t tokens) {
  Sequence &sequence = sequences[slot];
  const GeometryOptions &sizes = geometry.getOptions();
  const int64_t end = sequence.planned + tokens;
  while (int64_t{sequence.blockCount} * sizes.blockTokens < end)
    addBlock(slot);
  if (!geometry.getWindowColumns())
    return;
  while (sequence.endPage * sizes.windowPageTokens < end) {
    const int32_t page = takePage();
    assert(page);
    setWindowPage(slot, sequence.endPage++, page);
  }
}

/// Window pages that a step takes.
static int64_t countPages(const Sequence &sequence, int32_t tokens,
                          int64_t page, Divider byPage) {
  return std::max<int64_t>(
      byPage.getQuotient(sequence.planned + tokens + page - 1) -
          sequence.endPage,
      0);
}

Status Manager::Impl::plan(std::span<const StepRequest> requests,
                           const StepLayout &layout, StepPlan &plan) {
  plan.lacking.clear();
  if (Status status = checkPlan(requests, layout, plan); !status)
    return status;
  // Enough for every step that the options allow, once what was left is
  // retired.
  int64_t pages = 0;
  for (size_t number = 0; number < requests.size(); ++number)
    pages += countPages(sequences[slotsOfCall[number]], requests[number].tokens,
                        geometry.getOptions().windowPageTokens, byWindowPage);
  while (geometry.getWindowColumns() && pages > freePages.size()) {
    if (usedCheckpoints.empty())
      return Status(rt::Code::Unavailable,
                    "no window page is free: commit steps that are under way, "
                    "and retire those that have finished")
          .about("plan.window_pages");
    dropCheckpoint(usedCheckpoints.front());
    ++counters.evictedCheckpoints;
  }

  ++step;
  for (size_t number = 0; number < requests.size(); ++number) {
    keepRings(slotsOfCall[number], requests[number].tokens);
    extend(slotsOfCall[number], requests[number].tokens);
  }
  writeArrays(requests, layout, plan);
  for (size_t number = 0; number < requests.size(); ++number) {
    const int32_t slot = slotsOfCall[number], tokens = requests[number].tokens;
    Sequence &sequence = sequences[slot];
    sequence.flights[sequence.flightCount++] = {
        tokens, tokens > geometry.getOptions().maxDraftTokens};
    setPlanned(slot, sequence.planned + tokens);
  }
  return {};
}

Result<int32_t> Manager::Impl::getChunk(SequenceId id, int32_t budget) const {
  const Result<int32_t> slot = findSlot(id);
  if (!slot)
    return slot.status();
  if (budget < 1)
    return refuse("chunk.budget", "'budget' is " + std::to_string(budget) +
                                      ", expected 1 or more");
  const Sequence &sequence = sequences[*slot];
  const int64_t rest = sequence.promptTokens - sequence.planned;
  if (rest <= 0)
    return static_cast<int32_t>(
        std::min<int64_t>({budget, geometry.getOptions().maxDraftTokens,
                           sequence.maxTokens - sequence.planned}));
  budget = std::min(budget, geometry.getOptions().maxStepTokens);
  const int64_t end = sequence.planned + std::min<int64_t>(budget, rest);
  // The first end of a block in it that is wanted: each gets its checkpoint.
  const int64_t block = geometry.getOptions().blockTokens;
  for (int64_t at = (sequence.planned / block + 1) * block; at < end;
       at += block) {
    bool isTransient;
    if (wantsCheckpoint(sequence, at, isTransient) && !isTransient)
      return static_cast<int32_t>(at - sequence.planned);
  }
  return static_cast<int32_t>(end - sequence.planned);
}
