//===- Arrays.cpp - What the kernels of a step are given ------------------===//
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
// Layouts
//===----------------------------------------------------------------------===//

/// The rows of a plan that any step of a shape may need: see writeWindows() and
/// writeSegments().
static int32_t countRows(const EntryPlan &entries, const StepShape &shape,
                         const GeometryOptions &sizes) {
  const int64_t tokens = shape.tokens, requests = shape.requests;
  const int64_t windows = tokens / std::max(entries.shape.ratio, 1) + requests;
  if (entries.shape.planColumns != 5)
    return static_cast<int32_t>(std::min(tokens, windows));
  return static_cast<int32_t>(
      std::min(tokens, windows + requests * (1 + sizes.maxDraftTokens)));
}

Result<const StepLayout *> Manager::Impl::getLayout(const StepShape &shape) {
  const GeometryOptions &sizes = geometry.getOptions();
  if (shape.tokens < 1 || shape.tokens > sizes.maxStepTokens)
    return refuse("layout.tokens",
                  "'tokens' is " + std::to_string(shape.tokens) +
                      ", expected 1 to " + std::to_string(sizes.maxStepTokens));
  if (shape.requests < 1 || shape.requests > sizes.maxSequences)
    return refuse("layout.requests",
                  "'requests' is " + std::to_string(shape.requests) +
                      ", expected 1 to " + std::to_string(sizes.maxSequences));
  const auto [found, isNew] =
      layouts.try_emplace(std::pair(shape.tokens, shape.requests));
  StepLayout &layout = found->second;
  if (!isNew)
    return &layout;
  // Kernels take arrays at multiples of 16 bytes fastest.
  constexpr int64_t kAlignment = 16;
  const auto add = [&](int64_t rows, int32_t columns) {
    const StepLayout::Array array{layout.bytes, static_cast<int32_t>(rows),
                                  columns};
    layout.bytes +=
        (rows * columns * int64_t{sizeof(int32_t)} + kAlignment - 1) /
        kAlignment * kAlignment;
    return array;
  };
  layout.positions = add(shape.tokens, 1);
  layout.requests = add(shape.tokens, 1);
  layout.starts = add(shape.requests + 1, 1);
  layout.rows = add(shape.requests, 1);
  layout.lengths = add(capacity.slots, 1);
  layout.windowSlots = add(shape.tokens, 1);
  for (const EntryPlan &each : classes) {
    StepLayout::Entries &entries = layout.entries.emplace_back();
    const int32_t rows = countRows(each, shape, sizes);
    entries.plan = add(rows, each.shape.planColumns);
    entries.positions = add(rows, 1);
    entries.slots = add(rows, 1);
    entries.ends = add(shape.tokens, 1);
  }
  layout.cells = {layout.bytes, static_cast<int32_t>(isChanged.size()), 2};
  return &layout;
}

//===----------------------------------------------------------------------===//
// Entries
//===----------------------------------------------------------------------===//

namespace {

/// The rows of one class as they are written.
struct Rows {
  int32_t *plan, *positions, *slots;
  int32_t count = 0;

  void add(std::initializer_list<int32_t> row, int32_t position, int32_t slot) {
    std::copy(row.begin(), row.end(), plan);
    plan += row.size();
    *positions++ = position;
    *slots++ = slot;
    ++count;
  }
};

/// A sequence in a step.
struct Part {
  const Sequence &sequence;
  const int32_t *pageTable; ///< Its row.
  int32_t slot, first, tokens;
  int32_t online; ///< The entry that its state is in.
};

} // namespace

/// The slot of an entry, or -1 if it is in a block of others already.
static int32_t findEntry(const Part &part, const EntryPlan &entries,
                         int64_t entry) {
  const int64_t ratio = entries.shape.ratio;
  if ((entry + 1) * ratio <= part.sequence.sharedTokens)
    return -1;
  const int64_t column = entries.byPage.getQuotient(entry);
  const int32_t page = entries.shape.pageEntries;
  return static_cast<int32_t>(part.pageTable[column] * page + entry -
                              column * page);
}

/// The windows that the step completes.
static void writeWindows(const Part &part, const EntryPlan &entries,
                         Rows &rows) {
  const int64_t ratio = entries.shape.ratio, begin = part.sequence.planned;
  const int64_t end = entries.byRatio.getQuotient(begin + part.tokens);
  for (int64_t entry = entries.byRatio.getQuotient(begin); entry < end;
       ++entry) {
    const int32_t slot = findEntry(part, entries, entry);
    const int32_t position = static_cast<int32_t>(entry * ratio);
    if (slot >= 0)
      rows.add({position, part.slot, static_cast<int32_t>(begin), part.first},
               position, slot);
  }
}

/// Every token is an entry.
static void writeTokens(const Part &part, const EntryPlan &entries,
                        Rows &rows) {
  for (int32_t token = 0; token < part.tokens; ++token) {
    const int64_t position = part.sequence.planned + token;
    rows.add({}, static_cast<int32_t>(position),
             findEntry(part, entries, position));
  }
}

/// The segment of positions [begin, end), which are of one window.
static void addSegment(const Part &part, const EntryPlan &entries,
                       int64_t begin, int64_t end, int32_t to, Rows &rows) {
  const int64_t window = entries.window;
  const int32_t base = part.slot * entries.slotEntries;
  const bool isEnd = entries.byWindow.getRemainder(end) == 0;
  const int32_t slot =
      isEnd ? findEntry(part, entries, entries.byWindow.getQuotient(end - 1))
            : -1;
  rows.add({static_cast<int32_t>(begin), static_cast<int32_t>(end - begin),
            static_cast<int32_t>(part.first + begin - part.sequence.planned),
            entries.byWindow.getRemainder(begin) ? base + part.online : -1,
            isEnd ? -1 : base + to},
           isEnd ? static_cast<int32_t>(end - window) : -1, slot);
}

/// The segments of a step. A chunk leaves its last one in the next entry of the
/// state. Of drafts, any number may be accepted: i of them leave the i-th next,
/// so each has a segment that begins where the step or its window does.
static void writeSegments(const Part &part, const EntryPlan &entries,
                          bool isChunk, Rows &rows) {
  const int64_t window = entries.window, begin = part.sequence.planned;
  const int64_t end = begin + part.tokens;
  if (isChunk) {
    const int32_t to = (part.online + 1) % entries.slotEntries;
    for (int64_t at = begin; at < end;) {
      const int64_t next =
          std::min(end, (entries.byWindow.getQuotient(at) + 1) * window);
      addSegment(part, entries, at, next, to, rows);
      at = next;
    }
    return;
  }
  for (int64_t at = begin; at < end; ++at) {
    const int32_t to = static_cast<int32_t>((part.online + at - begin + 1) %
                                            entries.slotEntries);
    addSegment(part, entries,
               std::max(begin, at - entries.byWindow.getRemainder(at)), at + 1,
               to, rows);
  }
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

/// The entry of an online state that a sequence's next step goes on from, if
/// all tokens of steps under way are accepted.
static int32_t findOnline(const Sequence &sequence, int32_t slotEntries) {
  int32_t online = sequence.online;
  for (int32_t flight = 0; flight < sequence.flightCount; ++flight)
    online +=
        sequence.flights[flight].isChunk ? 1 : sequence.flights[flight].tokens;
  return online % slotEntries;
}

static void pad(std::span<int32_t> array, size_t from, int32_t value) {
  std::fill(array.begin() + from, array.end(), value);
}

void Manager::Impl::writeArrays(std::span<const StepRequest> requests,
                                const StepLayout &layout, StepPlan &plan) {
  plan.step = step;
  plan.layout = &layout;
  plan.host = staging[step % staging.size()].data();
  plan.requests = static_cast<int32_t>(requests.size());
  plan.tokens = 0;
  plan.entryRows.resize(classes.size());
  const std::span<int32_t> positions = plan.get(layout.positions),
                           requestOf = plan.get(layout.requests),
                           windowSlots = plan.get(layout.windowSlots),
                           starts = plan.get(layout.starts),
                           rowOfRequest = plan.get(layout.rows),
                           lengths = plan.get(layout.lengths);
  std::copy(plannedTokens.begin(), plannedTokens.end(), lengths.begin());

  const bool hasWindow = geometry.getWindowColumns() != 0;
  for (size_t number = 0; number < requests.size(); ++number) {
    const int32_t slot = slotsOfCall[number];
    const Sequence &sequence = sequences[slot];
    starts[number] = plan.tokens;
    rowOfRequest[number] = slot;
    lengths[slot] += requests[number].tokens;
    for (int32_t token = 0; token < requests[number].tokens; ++token) {
      const int64_t position = sequence.planned + token;
      positions[plan.tokens] = static_cast<int32_t>(position);
      requestOf[plan.tokens] = slot;
      windowSlots[plan.tokens++] =
          hasWindow ? findWindowSlot(slot, position) : -1;
    }
  }
  pad(starts, requests.size(), plan.tokens);
  pad(rowOfRequest, requests.size(), 0);
  pad(positions, plan.tokens, -1);
  pad(requestOf, plan.tokens, 0);
  pad(windowSlots, plan.tokens, -1);
  for (size_t number = 0; number < classes.size(); ++number)
    writeEntries(number, requests, layout, plan);
  writeCells(layout, plan);
}

void Manager::Impl::writeEntries(size_t number,
                                 std::span<const StepRequest> requests,
                                 const StepLayout &layout, StepPlan &plan) {
  const EntryPlan &entries = classes[number];
  const StepLayout::Entries &arrays = layout.entries[number];
  const std::span<int32_t> planRows = plan.get(arrays.plan),
                           positions = plan.get(arrays.positions),
                           slots = plan.get(arrays.slots),
                           ends = plan.get(arrays.ends);
  Rows rows{planRows.data(), positions.data(), slots.data()};
  const std::span<const int32_t> starts = plan.get(layout.starts),
                                 slotOf = plan.get(layout.rows);
  for (size_t request = 0; request < requests.size(); ++request) {
    const int32_t slot = slotOf[request], tokens = requests[request].tokens;
    const Sequence &sequence = sequences[slot];
    const Part part{
        sequence,
        pageTable.data() + rowOf(slot),
        slot,
        starts[request],
        tokens,
        entries.slotEntries ? findOnline(sequence, entries.slotEntries) : 0};
    if (entries.shape.planColumns == 0)
      writeTokens(part, entries, rows);
    else if (entries.shape.planColumns == 4)
      writeWindows(part, entries, rows);
    else
      writeSegments(part, entries,
                    tokens > geometry.getOptions().maxDraftTokens, rows);
    for (int32_t token = 0; token < tokens; ++token)
      ends[part.first + token] = static_cast<int32_t>(
          entries.byRatio.getQuotient(sequence.planned + token + 1));
  }
  plan.entryRows[number] = rows.count;
  pad(planRows, size_t(rows.count) * entries.shape.planColumns, -1);
  pad(positions, rows.count, -1);
  pad(slots, rows.count, -1);
  pad(ends, plan.tokens, 0);
}

void Manager::Impl::writeCells(const StepLayout &layout, StepPlan &plan) {
  const std::span<int32_t> cells = plan.get(layout.cells);
  size_t at = 0;
  for (int32_t cell : changedCells) {
    const size_t number = static_cast<size_t>(cell);
    isChanged[number] = 0;
    cells[at++] = cell;
    cells[at++] = number < pageTable.size()
                      ? pageTable[number]
                      : windowTable[number - pageTable.size()];
  }
  plan.changedCells = static_cast<int32_t>(changedCells.size());
  plan.uploadBytes =
      layout.bytes + plan.changedCells * int64_t{2 * sizeof(int32_t)};
  changedCells.clear();
  plannedCopies.clear();
  std::swap(plannedCopies, pendingCopies);
  plan.copies = plannedCopies;
}
