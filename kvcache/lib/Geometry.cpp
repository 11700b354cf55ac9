//===- Geometry.cpp - Tokens, entries, pages and bytes --------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsv4-kvcache/Geometry.h"
#include "SchemaCheck.h"

#include "dsv4-layout/RecordLayout.h"

#include <algorithm>
#include <bit>
#include <limits>

using namespace dsv4;
using namespace dsv4::kv;

/// Every cache begins at a multiple of this: more than any kernel asks for.
static constexpr int64_t kAlignment = 256;

static int64_t alignUp(int64_t value) {
  return (value + kAlignment - 1) / kAlignment * kAlignment;
}

static int64_t divideUp(int64_t value, int64_t divisor) {
  return (value + divisor - 1) / divisor;
}

static Status refuseOption(const char *name, int64_t value,
                           const std::string &expected) {
  return refuse("geometry.option", "'" + std::string(name) + "' is " +
                                       std::to_string(value) + ", expected " +
                                       expected);
}

static Status checkOptions(const GeometryOptions &options) {
  struct {
    const char *name;
    int64_t value, least, most;
  } const ranges[] = {
      {"block_tokens", options.blockTokens, 1, 1 << 20},
      {"window_page_tokens", options.windowPageTokens, 1, 1 << 20},
      {"max_sequences", options.maxSequences, 1, 1 << 16},
      {"max_step_tokens", options.maxStepTokens, 1, 1 << 24},
      {"max_draft_tokens", options.maxDraftTokens, 1, 1024},
      {"overlap", options.overlap, 0, 16},
      {"max_tokens", options.maxTokens, 0, int64_t{1} << 30},
      {"max_checkpoints", options.maxCheckpoints, 0, 1 << 24}};
  for (const auto &each : ranges)
    if (each.value < each.least || each.value > each.most)
      return refuseOption(each.name, each.value,
                          std::to_string(each.least) + " to " +
                              std::to_string(each.most));
  const int32_t page = options.windowPageTokens;
  if ((page & (page - 1)) || options.blockTokens % page)
    return refuseOption(
        "window_page_tokens", page,
        "a power of two that divides 'block_tokens', which is " +
            std::to_string(options.blockTokens));
  if (options.maxDraftTokens > options.maxStepTokens)
    return refuseOption("max_draft_tokens", options.maxDraftTokens,
                        "at most 'max_step_tokens', which is " +
                            std::to_string(options.maxStepTokens));
  return {};
}

Result<Geometry> Geometry::make(Schema schema, const GeometryOptions &options) {
  Geometry made;
  if (Status status = checkSchema(schema); !status)
    return status;
  made.schema = std::move(schema);
  made.options = options;
  GeometryOptions &chosen = made.options;
  if (Status status = checkOptions(chosen); !status)
    return status;
  if (chosen.maxTokens == 0)
    chosen.maxTokens = made.schema.maxTokens;
  if (chosen.maxTokens > made.schema.maxTokens)
    return refuseOption("max_tokens", chosen.maxTokens,
                        "at most those of the schema, " +
                            std::to_string(made.schema.maxTokens));
  made.byBlock = Divider(chosen.blockTokens);
  made.byWindowPage = Divider(chosen.windowPageTokens);
  made.maxBlocks = made.countBlocks(chosen.maxTokens);
  if (Status status = made.setGroups(); !status)
    return status;
  const int64_t cells = (int64_t{chosen.maxSequences} + 1) *
                        (int64_t{made.maxBlocks} + made.windowColumns);
  if (cells > std::numeric_limits<int32_t>::max())
    return refuse("geometry.tables",
                  "tables of " + std::to_string(cells) +
                      " cells, expected at most 2147483647: lower "
                      "'max_sequences' or 'max_tokens'");
  return made;
}

/// The entries of a ring: a power of two, so that it divides a block, and
/// enough that no token of a step overwrites one that a later step reads,
/// however many are refused.
static int32_t countRing(const Group &group, const GeometryOptions &options) {
  const int64_t least = group.window - 1 +
                        int64_t{options.maxDraftTokens} * (options.overlap + 1);
  int32_t entries = 1;
  while (entries < least)
    entries *= 2;
  return entries;
}

/// Slots, window pages and checkpoints for what the options allow, so that no
/// step ever lacks one of them. Those of a step that is planned are taken
/// before those of an earlier one are given back.
static Capacity countFixed(const GeometryOptions &options, int32_t windowPages,
                           int32_t window) {
  Capacity capacity;
  capacity.slots = options.maxSequences + 1;
  capacity.checkpoints = options.maxCheckpoints + 1;
  if (!window)
    return capacity;
  const int64_t page = options.windowPageTokens;
  const int64_t perStep = options.maxStepTokens / page + options.maxSequences;
  const int64_t perCheckpoint = divideUp(window - 1, page);
  const int64_t pages = 1 + int64_t{windowPages} * options.maxSequences +
                        perStep * (options.overlap + 2) +
                        perCheckpoint * options.maxCheckpoints;
  capacity.windowPages = static_cast<int32_t>(
      std::min<int64_t>(pages, std::numeric_limits<int32_t>::max()));
  return capacity;
}

Status Geometry::setGroups() {
  const int64_t drafts = getDraftCapacity();
  for (const Group &group : schema.groups) {
    GroupGeometry &made = groups.emplace_back();
    const int64_t caches = static_cast<int64_t>(group.owners.size());
    const std::string name = "group '" + group.name + "'";
    const auto refuseBlock = [&](const char *what, int64_t value) {
      return refuse("geometry.block", name + ": " + what + " " +
                                          std::to_string(value) +
                                          " does not divide 'block_tokens', " +
                                          std::to_string(options.blockTokens));
    };
    if (options.blockTokens % group.ratio)
      return refuseBlock("ratio", group.ratio);
    switch (group.retention) {
    case Retention::Full:
      made.pageEntries = options.blockTokens / group.ratio;
      break;
    case Retention::Window:
      made.pageEntries = options.windowPageTokens;
      maxWindow = std::max(maxWindow, group.window);
      break;
    case Retention::Ring:
      made.slotEntries = countRing(group, options);
      made.pageEntries = made.slotEntries;
      made.keptEntries = group.overlap;
      // So that a checkpoint finds what it keeps at the end of the ring.
      if (made.keptEntries && options.blockTokens % made.slotEntries)
        return refuseBlock("its ring of", made.slotEntries);
      break;
    case Retention::Online:
      // One to go on from, and one for each number of tokens of the steps under
      // way that may be accepted.
      made.slotEntries = made.pageEntries = static_cast<int32_t>(1 + drafts);
      if (options.blockTokens % group.window)
        return refuseBlock("window", group.window);
      break;
    }
    if (std::string why =
            layout::explainInvalid(group.fields, made.pageEntries);
        !why.empty())
      return refuse("geometry.record", name + ": " + why);
    const layout::RecordLayout laid(group.fields, made.pageEntries);
    made.entryBytes = laid.getRecordBytes();
    made.pageBytes = laid.getPageBytes();
    switch (group.retention) {
    case Retention::Full:
      blockBytes += made.pageBytes * caches;
      break;
    case Retention::Window:
      windowPageBytes += made.pageBytes * caches;
      break;
    case Retention::Ring:
      checkpointBytes += made.entryBytes * made.keptEntries * caches;
      [[fallthrough]];
    case Retention::Online:
      slotBytes += made.pageBytes * caches;
      break;
    }
  }
  if (maxWindow == 0)
    return {};
  const int64_t page = options.windowPageTokens;
  if (divideUp(maxWindow - 1, page) > kMaxCheckpointPages)
    return refuseOption("window_page_tokens", page,
                        "at least 1/32 of the longest window, which is " +
                            std::to_string(maxWindow));
  // The window of the oldest token that may still be kept, and the tokens of
  // steps under way, wherever pages begin.
  windowPages =
      static_cast<int32_t>(divideUp(maxWindow - 1 + drafts + page - 1, page));
  const int64_t stepTokens =
      std::min<int64_t>(int64_t{options.maxStepTokens} * (options.overlap + 1),
                        options.maxTokens);
  windowColumns = std::bit_ceil(static_cast<uint32_t>(
      divideUp(maxWindow - 1 + std::max(stepTokens, drafts) + page - 1, page)));
  // Entries of windows are numbered by 32 bits.
  constexpr int64_t kMax = std::numeric_limits<int32_t>::max();
  if (countFixed(options, windowPages, maxWindow).windowPages > kMax / page)
    return refuse("geometry.tables",
                  "the windows of this many sequences, tokens and checkpoints "
                  "have more than 2147483647 entries: lower "
                  "'max_sequences', 'max_step_tokens' or 'max_checkpoints'");
  return {};
}

//===----------------------------------------------------------------------===//
// Capacity
//===----------------------------------------------------------------------===//

int64_t Geometry::countFixedBytes(const Capacity &capacity) const {
  return capacity.windowPages * windowPageBytes + capacity.slots * slotBytes +
         capacity.checkpoints * checkpointBytes;
}

int64_t Geometry::getPoolBytes(int32_t blocks) const {
  Capacity capacity = countFixed(options, windowPages, maxWindow);
  int64_t regions = 0;
  for (const Group &group : schema.groups)
    regions += 2 * static_cast<int64_t>(group.owners.size());
  return countFixedBytes(capacity) + (int64_t{blocks} + 1) * blockBytes +
         regions * kAlignment;
}

Result<Capacity> Geometry::getCapacity(int64_t bytes) const {
  if (bytes < 0)
    return refuse("geometry.memory",
                  "a pool of " + std::to_string(bytes) + " bytes");
  const int64_t fixed = getPoolBytes(-1);
  Capacity capacity = countFixed(options, windowPages, maxWindow);
  const int64_t rest = bytes - fixed;
  const int64_t blocks = rest <= 0 ? 0
                         : blockBytes
                             ? rest / blockBytes
                             : int64_t{maxBlocks} * options.maxSequences + 1;
  if (blocks < maxBlocks + 1)
    return refuse("geometry.memory",
                  "a pool of " + std::to_string(bytes) + " bytes holds " +
                      std::to_string(std::max<int64_t>(blocks - 1, 0)) +
                      " blocks, expected " + std::to_string(maxBlocks) +
                      " for one sequence of " +
                      std::to_string(options.maxTokens) + " tokens: give it " +
                      std::to_string(getPoolBytes(maxBlocks)) +
                      " bytes, or lower 'max_tokens', 'max_sequences', "
                      "'max_step_tokens' or 'max_checkpoints'");
  // Entries of a pool are numbered by 32 bits.
  int64_t most = std::numeric_limits<int32_t>::max();
  for (size_t group = 0; group < groups.size(); ++group)
    if (schema.groups[group].retention == Retention::Full)
      most = std::min<int64_t>(most, std::numeric_limits<int32_t>::max() /
                                         groups[group].pageEntries);
  capacity.blocks = static_cast<int32_t>(std::min(blocks, most));
  capacity.bytes = getPoolBytes(capacity.blocks - 1);
  return capacity;
}

static int32_t countPages(const Capacity &capacity, Retention retention) {
  switch (retention) {
  case Retention::Full:
    return capacity.blocks;
  case Retention::Window:
    return capacity.windowPages;
  case Retention::Ring:
  case Retention::Online:
    return capacity.slots;
  }
  return 0;
}

/// Caches first, then what checkpoints keep of them.
static std::vector<std::vector<Region>>
findRegions(const Schema &schema, const std::vector<GroupGeometry> &groups,
            const Capacity &capacity, bool ofCheckpoints) {
  int64_t offset = 0;
  std::vector<std::vector<Region>> placed;
  for (bool pass : {false, true}) {
    if (pass && !ofCheckpoints)
      break;
    placed.assign(groups.size(), {});
    for (size_t number = 0; number < groups.size(); ++number) {
      const Group &group = schema.groups[number];
      const GroupGeometry &sizes = groups[number];
      const int64_t stride =
          pass ? sizes.entryBytes * sizes.keptEntries : sizes.pageBytes;
      const int64_t pages =
          pass ? capacity.checkpoints : countPages(capacity, group.retention);
      for (size_t cache = 0; stride && cache < group.owners.size(); ++cache) {
        placed[number].push_back({offset, stride});
        offset = alignUp(offset + pages * stride);
      }
    }
  }
  return placed;
}

std::vector<std::vector<Region>>
Geometry::placeCaches(const Capacity &capacity) const {
  return findRegions(schema, groups, capacity, /*ofCheckpoints=*/false);
}

std::vector<std::vector<Region>>
Geometry::placeCheckpoints(const Capacity &capacity) const {
  return findRegions(schema, groups, capacity, /*ofCheckpoints=*/true);
}
