//===- ShadowPool.cpp - Kernels that write what they read -----------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ShadowPool.h"

#include <cstring>
#include <set>

using namespace dsv4;
using namespace dsv4::kv;

static uint64_t mix(uint64_t a, uint64_t b) {
  uint64_t x = a * 0x9E3779B97F4A7C15u + b + 0x7F4A7C15u;
  x ^= x >> 29;
  x *= 0xBF58476D1CE4E5B9u;
  return x ^ x >> 32;
}

void TokenLine::push(int32_t token) {
  hashes.push_back(mix(hashes.empty() ? 1 : hashes.back(), token));
  tokens.push_back(token);
}

//===----------------------------------------------------------------------===//
// Schemas
//===----------------------------------------------------------------------===//

Schema kv::makeSmallSchema(bool hcaOnline) {
  const std::string row =
      R"({"fields": [{"name": "kv", "extent": 8, "element": "bf16"}]})";
  const std::string hca =
      hcaOnline ? R"("online", "window": 8)" : R"("ring", "window": 8)";
  // Layers 1 and 4 share the caches of layer 1.
  Result<Schema> schema = readSchema(R"({"max_tokens": 256, "groups": [
    {"name": "window", "kind": "window", "retention": "window", "window": 8,
     "layers": [0, 1, 2, 3, 4], "record": )" +
                                     row + R"(},
    {"name": "csa", "kind": "csa", "retention": "full", "ratio": 4,
     "layers": [1, 3], "record": )" + row +
                                     R"(},
    {"name": "indexer", "kind": "indexer", "retention": "full", "ratio": 4,
     "layers": [1, 3], "record": )" + row +
                                     R"(},
    {"name": "hca", "kind": "hca", "retention": "full", "ratio": 8,
     "layers": [2], "record": )" + row +
                                     R"(},
    {"name": "csa_state", "kind": "csa_state", "retention": "ring", "ratio": 4,
     "window": 8, "overlap": 4, "layers": [1, 3], "record": )" +
                                     row + R"(},
    {"name": "indexer_state", "kind": "indexer_state", "retention": "ring",
     "ratio": 4, "window": 8, "overlap": 4, "layers": [1, 3],
     "record": )" + row + R"(},
    {"name": "hca_state", "kind": "hca_state", "ratio": 8, "layers": [2],
     "retention": )" + hca + R"(, "record": )" +
                                     row + R"(}],
   "layers": [
    {"caches": {"window": 0}},
    {"ratio": 4, "caches": {"window": 1, "csa": 1, "indexer": 1,
                            "csa_state": 1, "indexer_state": 1}},
    {"ratio": 8, "caches": {"window": 2, "hca": 2, "hca_state": 2}},
    {"ratio": 4, "caches": {"window": 3, "csa": 3, "indexer": 3,
                            "csa_state": 3, "indexer_state": 3}},
    {"ratio": 4, "draft": true, "caches": {"window": 4, "csa": 1}}]})");
  if (!schema)
    std::fprintf(stderr, "%s\n", schema.status().message().c_str());
  return schema.take();
}

ManagerOptions kv::makeSmallOptions() {
  ManagerOptions options;
  options.geometry.blockTokens = 16;
  options.geometry.windowPageTokens = 4;
  options.geometry.maxSequences = 6;
  options.geometry.maxStepTokens = 40;
  options.geometry.maxDraftTokens = 3;
  options.geometry.maxCheckpoints = 6;
  options.checkpoints.every = 64;
  options.secret.emplace();
  return options;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

ShadowPool::ShadowPool(const Manager &manager)
    : manager(manager), geometry(manager.getGeometry()),
      caches(geometry.placeCaches(manager.getCapacity())),
      pool(manager.getCapacity().bytes),
      pageTable(manager.getPageTable().size(), -1),
      windowTable(manager.getWindowTable().size(), -1) {}

uint64_t &ShadowPool::entry(size_t group, size_t cache, int64_t page,
                            int64_t entry) {
  const Region &region = caches[group][cache];
  const int64_t offset = region.offset + page * region.stride +
                         entry * geometry.getGroup(group).entryBytes;
  return reinterpret_cast<uint64_t &>(pool.at(offset));
}

void ShadowPool::copy(const PoolCopy &copy) {
  for (int32_t row = 0; row < copy.rows; ++row)
    std::memmove(&pool.at(copy.to + row * copy.toPitch),
                 &pool.at(copy.from + row * copy.fromPitch), copy.bytes);
}

void ShadowPool::update(const StepPlan &plan) {
  const std::span<int32_t> cells = plan.get(plan.layout->cells);
  for (int32_t number = 0; number < plan.changedCells; ++number) {
    const size_t cell = cells[2 * number];
    const int32_t value = cells[2 * number + 1];
    if (cell < pageTable.size())
      pageTable[cell] = value;
    else
      windowTable.at(cell - pageTable.size()) = value;
  }
}

std::string ShadowPool::expect(size_t group, size_t cache, int64_t page,
                               int64_t at, uint64_t value, const char *what) {
  const std::string where =
      std::string(what) + " of " + geometry.getSchema().groups[group].name +
      ", page " + std::to_string(page) + ", entry " + std::to_string(at);
  if (page <= 0)
    return where + ": no page";
  if (entry(group, cache, page, at) != mix(value, 64 * group + cache))
    return where + ": wrong";
  return "";
}

std::vector<size_t> ShadowPool::findGroups(int32_t ratio, bool isState) const {
  std::vector<size_t> found;
  const std::vector<Group> &groups = geometry.getSchema().groups;
  for (size_t group = 0; group < groups.size(); ++group)
    if (groups[group].ratio == ratio && groups[group].kind != Kind::Window &&
        isState == (groups[group].retention != Retention::Full))
      found.push_back(group);
  return found;
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// Appends the rows of a step, then reads the window of each token.
std::string ShadowPool::runWindow(const StepPlan &plan) {
  const GeometryOptions &options = geometry.getOptions();
  const int32_t page = options.windowPageTokens;
  const auto positions = plan.get(plan.layout->positions),
             requests = plan.get(plan.layout->requests),
             slots = plan.get(plan.layout->windowSlots);
  for (size_t group = 0; group < caches.size(); ++group) {
    const Group &of = geometry.getSchema().groups[group];
    if (of.retention != Retention::Window)
      continue;
    for (size_t cache = 0; cache < caches[group].size(); ++cache) {
      for (size_t token = 0; token < positions.size(); ++token)
        if (slots[token] >= 0)
          entry(group, cache, slots[token] / page, slots[token] % page) =
              mix(lines->at(requests[token])->at(positions[token]),
                  64 * group + cache);
      for (size_t token = 0; token < positions.size(); ++token)
        for (int64_t at = std::max(0, positions[token] - of.window + 1);
             at <= positions[token]; ++at) {
          const int32_t columns = geometry.getWindowColumns();
          const int32_t id =
              windowTable[requests[token] * columns + at / page % columns];
          if (std::string why =
                  expect(group, cache, id, at % page,
                         lines->at(requests[token])->at(at), "row");
              !why.empty())
            return why;
        }
    }
  }
  return "";
}

/// Compresses windows: those of their tokens that are not of this step are in
/// the rings.
std::string ShadowPool::runRings(const StepPlan &plan, size_t number) {
  const EntryClass &shape = manager.getEntryClasses()[number];
  const StepLayout::Entries &arrays = plan.layout->entries[number];
  const auto rows = plan.get(arrays.plan), slots = plan.get(arrays.slots),
             positions = plan.get(arrays.positions);
  for (int32_t row = 0; row < arrays.plan.rows; ++row) {
    const int32_t *work = rows.data() + 4 * row;
    if (work[0] < 0) {
      if (slots[row] != -1 || positions[row] != -1)
        return "a padded window has a slot";
      continue;
    }
    if (positions[row] != work[0])
      return "a window has another position";
    const TokenLine &line = *lines->at(work[1]);
    for (size_t state : findGroups(shape.ratio, true)) {
      const Group &of = geometry.getSchema().groups[state];
      const int32_t ring = geometry.getGroup(state).slotEntries;
      for (size_t cache = 0; cache < caches[state].size(); ++cache)
        for (int64_t at = std::max(0, work[0] - of.overlap);
             at < std::min(work[0] + shape.ratio, work[2]); ++at)
          if (std::string why = expect(state, cache, work[1], at % ring,
                                       line.at(at), "token");
              !why.empty())
            return why;
    }
    if (manager.isIndexed(slots[row] / shape.pageEntries))
      return "an entry is written in a block that others may find";
    for (size_t group : findGroups(shape.ratio, false))
      for (size_t cache = 0; cache < caches[group].size(); ++cache)
        entry(group, cache, slots[row] / shape.pageEntries,
              slots[row] % shape.pageEntries) =
            mix(line.at(work[0] + shape.ratio - 1), 64 * group + cache);
  }
  appendRings(plan, number);
  return "";
}

/// Appends the tokens of a step: of those that fall on one entry the last.
void ShadowPool::appendRings(const StepPlan &plan, size_t number) {
  const int32_t ratio = manager.getEntryClasses()[number].ratio;
  const auto positions = plan.get(plan.layout->positions),
             requests = plan.get(plan.layout->requests),
             lengths = plan.get(plan.layout->lengths);
  for (size_t state : findGroups(ratio, true)) {
    const int32_t ring = geometry.getGroup(state).slotEntries;
    for (size_t cache = 0; cache < caches[state].size(); ++cache)
      for (size_t token = 0; token < positions.size(); ++token) {
        const int32_t at = positions[token], slot = requests[token];
        if (at >= 0 && at >= lengths[slot] - ring)
          entry(state, cache, slot, at % ring) =
              mix(lines->at(slot)->at(at), 64 * state + cache);
      }
  }
}

/// Merges segments: all read before any writes.
std::string ShadowPool::runOnline(const StepPlan &plan, size_t number) {
  const EntryClass &shape = manager.getEntryClasses()[number];
  const StepLayout::Entries &arrays = plan.layout->entries[number];
  const auto rows = plan.get(arrays.plan), slots = plan.get(arrays.slots),
             positions = plan.get(arrays.positions),
             requests = plan.get(plan.layout->requests);
  const size_t state = findGroups(shape.ratio, true)[0];
  const int32_t entries = geometry.getGroup(state).slotEntries;
  std::set<int32_t> from, to;
  for (int32_t row = 0; row < arrays.plan.rows; ++row) {
    const int32_t *work = rows.data() + 5 * row;
    if (work[0] < 0)
      continue;
    const TokenLine &line = *lines->at(requests[work[2]]);
    if (work[0] % shape.ratio) {
      from.insert(work[3]);
      if (std::string why =
              expect(state, 0, work[3] / entries, work[3] % entries,
                     line.at(work[0] - 1), "sums");
          !why.empty())
        return why;
    }
  }
  for (int32_t row = 0; row < arrays.plan.rows; ++row) {
    const int32_t *work = rows.data() + 5 * row;
    if (work[0] < 0)
      continue;
    const TokenLine &line = *lines->at(requests[work[2]]);
    const int32_t end = work[0] + work[1];
    if (end > (work[0] / shape.ratio + 1) * shape.ratio)
      return "a segment is of two windows";
    if (work[4] >= 0) {
      if (!to.insert(work[4]).second || from.count(work[4]))
        return "two segments have one entry of the state";
      entry(state, 0, work[4] / entries, work[4] % entries) =
          mix(line.at(end - 1), 64 * state);
    }
    if (positions[row] != (end % shape.ratio ? -1 : end - shape.ratio))
      return "a segment has a wrong position";
    if (slots[row] >= 0 && manager.isIndexed(slots[row] / shape.pageEntries))
      return "an entry is written in a block that others may find";
    for (size_t group : findGroups(shape.ratio, false))
      if (slots[row] >= 0)
        entry(group, 0, slots[row] / shape.pageEntries,
              slots[row] % shape.pageEntries) =
            mix(line.at(end - 1), 64 * group);
  }
  return "";
}

/// Reads the entries that each token may read.
std::string ShadowPool::runReads(const StepPlan &plan, size_t number) {
  const EntryClass &shape = manager.getEntryClasses()[number];
  const auto ends = plan.get(plan.layout->entries[number].ends),
             positions = plan.get(plan.layout->positions),
             requests = plan.get(plan.layout->requests);
  for (size_t token = 0; token < positions.size(); ++token) {
    if (positions[token] < 0 && ends[token] != 0)
      return "a padded token may read entries";
    if (positions[token] >= 0 &&
        ends[token] != (positions[token] + 1) / shape.ratio)
      return "a token may read a wrong number of entries";
    for (int32_t at = 0; at < ends[token]; ++at)
      for (size_t group : findGroups(shape.ratio, false))
        for (size_t cache = 0; cache < caches[group].size(); ++cache) {
          const int32_t id =
              pageTable[requests[token] * geometry.getMaxBlocks() +
                        at / shape.pageEntries];
          const uint64_t value =
              lines->at(requests[token])->at((at + 1) * shape.ratio - 1);
          if (std::string why = expect(group, cache, id, at % shape.pageEntries,
                                       value, "entry");
              !why.empty())
            return why;
        }
  }
  return "";
}

std::string
ShadowPool::run(const StepPlan &plan,
                const std::map<int32_t, const TokenLine *> &tokens) {
  lines = &tokens;
  for (const PoolCopy &each : plan.copies)
    copy(each);
  update(plan);
  if (std::string why = runWindow(plan); !why.empty())
    return why;
  for (size_t number = 0; number < plan.layout->entries.size(); ++number) {
    const bool isOnline = manager.getEntryClasses()[number].planColumns == 5;
    if (std::string why =
            isOnline ? runOnline(plan, number) : runRings(plan, number);
        !why.empty())
      return why;
    if (std::string why = runReads(plan, number); !why.empty())
      return why;
  }
  return "";
}
