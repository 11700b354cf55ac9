//===- Manager.cpp - The interface of managers ----------------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ManagerImpl.h"
#include "SchemaCheck.h"

#include <sodium/core.h>
#include <sodium/randombytes.h>

#include <algorithm>
#include <atomic>

using namespace dsv4;
using namespace dsv4::kv;

//===----------------------------------------------------------------------===//
// Construction
//===----------------------------------------------------------------------===//

/// Ranks that make their managers in the same order name sequences alike.
static uint16_t nextTag() {
  static std::atomic<uint16_t> last{0};
  return ++last;
}

/// One class per ratio, as its groups need it.
static std::vector<EntryPlan> findClasses(const Geometry &geometry) {
  std::vector<EntryPlan> classes;
  const std::vector<Group> &groups = geometry.getSchema().groups;
  for (size_t number = 0; number < groups.size(); ++number) {
    const Group &group = groups[number];
    if (group.retention != Retention::Full)
      continue;
    EntryPlan made;
    made.shape = {group.ratio, group.ratio == 1 ? 0 : 4,
                  geometry.getGroup(number).pageEntries};
    for (size_t state = 0; state < groups.size(); ++state)
      if (groups[state].retention == Retention::Online &&
          groups[state].ratio == group.ratio && group.kind == Kind::HCA) {
        made.shape.planColumns = 5;
        made.window = groups[state].window;
        made.slotEntries = geometry.getGroup(state).slotEntries;
      }
    made.byRatio = Divider(made.shape.ratio);
    made.byPage = Divider(made.shape.pageEntries);
    made.byWindow = Divider(std::max(made.window, 1));
    bool isKnown = false;
    for (const EntryPlan &other : classes)
      isKnown |= other.shape.ratio == made.shape.ratio &&
                 other.shape.planColumns == made.shape.planColumns;
    if (!isKnown)
      classes.push_back(made);
  }
  return classes;
}

/// A list of all numbers from 1 on.
static FreeList makeFull(int32_t numbers) {
  FreeList list(numbers);
  for (int32_t number = 1; number < numbers; ++number)
    list.giveBack(number);
  return list;
}

Manager::Impl::Impl(Geometry geometry, const Capacity &capacity,
                    const ManagerOptions &options,
                    const KeyMaker::Secret &secret)
    : geometry(std::move(geometry)), capacity(capacity), options(options),
      keyMaker(secret), digest(this->geometry.getSchema().getDigest()),
      tag(nextTag()), caches(this->geometry.placeCaches(capacity)),
      keptRings(this->geometry.placeCheckpoints(capacity)),
      byBlock(this->geometry.getOptions().blockTokens),
      byWindowPage(this->geometry.getOptions().windowPageTokens),
      classes(findClasses(this->geometry)), blocks(capacity.blocks),
      freeBlocks(makeFull(capacity.blocks)), cachedBlocks(capacity.blocks),
      index(capacity.blocks), pageReferences(capacity.windowPages),
      freePages(makeFull(std::max(capacity.windowPages, 1))),
      checkpoints(capacity.checkpoints),
      freeCheckpoints(makeFull(capacity.checkpoints)),
      usedCheckpoints(capacity.checkpoints), sequences(capacity.slots),
      freeSlots(makeFull(capacity.slots)), retiringSlots(capacity.slots),
      reservedOf(capacity.slots), roots(capacity.slots) {
  const Geometry &sizes = this->geometry;
  const size_t slots = static_cast<size_t>(capacity.slots);
  for (const EntryPlan &each : classes)
    shapes.push_back(each.shape);
  pageTable.assign(slots * sizes.getMaxBlocks(), -1);
  windowTable.assign(slots * sizes.getWindowColumns(), -1);
  isChanged.resize(pageTable.size() + windowTable.size());
  keys.resize(pageTable.size());
  tailTokens.resize(slots * sizes.getOptions().blockTokens);
  namedBy.resize(slots);
  slotsOfCall.reserve(slots);
  plannedTokens.resize(slots);
  // Every page once, and those that sequences share by forks or checkpoints.
  leftPages.resize(
      capacity.windowPages +
      slots * (sizes.getWindowColumns() + Geometry::kMaxCheckpointPages));
  // The largest step has room in every buffer, so that none ever moves.
  const int32_t overlap = sizes.getOptions().overlap;
  const StepLayout &largest = **getLayout(
      {sizes.getOptions().maxStepTokens, sizes.getOptions().maxSequences});
  const size_t bytes = largest.bytes + 2 * sizeof(int32_t) * isChanged.size();
  staging.assign(overlap + 2, std::vector<std::byte>(bytes));
  changedCells.reserve(isChanged.size());
  pendingCopies.reserve(2 * (overlap + 2) * caches.size() * slots);
  plannedCopies.reserve(pendingCopies.capacity());
}

Result<std::unique_ptr<Manager>> Manager::make(const Schema &schema,
                                               int64_t bytes,
                                               const ManagerOptions &options) {
  Result<Geometry> geometry = Geometry::make(schema, options.geometry);
  if (!geometry)
    return geometry.status();
  constexpr int64_t kMaxEvery = int64_t{1} << 30;
  if (options.checkpoints.every < 0 || options.checkpoints.every > kMaxEvery)
    return refuse("manager.every",
                  "'every' is " + std::to_string(options.checkpoints.every) +
                      ", expected 0 to 1073741824 tokens");
  const Result<Capacity> capacity = geometry->getCapacity(bytes);
  if (!capacity)
    return capacity.status();
  // Until then, hashes are made without the processor's vectors.
  if (sodium_init() < 0)
    return Status(rt::Code::Unavailable, "libsodium found no random numbers")
        .about("manager.random");
  KeyMaker::Secret secret;
  if (options.secret)
    secret = *options.secret;
  else
    randombytes_buf(secret.data(), secret.size());
  return std::unique_ptr<Manager>(new Manager(
      std::make_unique<Impl>(geometry.take(), *capacity, options, secret)));
}

Manager::Manager(std::unique_ptr<Impl> impl) : impl(std::move(impl)) {}
Manager::~Manager() = default;

//===----------------------------------------------------------------------===//
// Interface
//===----------------------------------------------------------------------===//

const Geometry &Manager::getGeometry() const { return impl->geometry; }
const Capacity &Manager::getCapacity() const { return impl->capacity; }
const std::vector<EntryClass> &Manager::getEntryClasses() const {
  return impl->shapes;
}

std::vector<Key> Manager::makeKeys(std::span<const int32_t> tokens,
                                   std::span<const std::byte> salt) const {
  const size_t block = impl->geometry.getOptions().blockTokens;
  std::vector<Key> keys(tokens.size() / block);
  Key parent = impl->keyMaker.makeRoot(impl->digest, salt);
  for (size_t number = 0; number < keys.size(); ++number)
    parent = keys[number] =
        impl->keyMaker.makeNext(parent, tokens.subspan(number * block, block));
  return keys;
}

Result<Admission> Manager::admit(const AdmitRequest &request) {
  return impl->admit(request);
}
Result<int32_t> Manager::getChunk(SequenceId id, int32_t budget) const {
  return impl->getChunk(id, budget);
}
Result<const StepLayout *> Manager::getLayout(const StepShape &shape) {
  return impl->getLayout(shape);
}
Status Manager::plan(std::span<const StepRequest> requests,
                     const StepLayout &layout, StepPlan &plan) {
  return impl->plan(requests, layout, plan);
}
Status Manager::commit(std::span<const CommitRequest> requests) {
  return impl->commit(requests);
}
Status Manager::rollback(SequenceId id) { return impl->rollback(id); }
Result<Admission> Manager::fork(SequenceId id) { return impl->fork(id); }
Status Manager::release(SequenceId id) { return impl->release(id); }
Status Manager::retire(int64_t step) { return impl->retire(step); }
void Manager::flush() { impl->flush(); }

Result<int64_t> Manager::getLength(SequenceId id) const {
  const Result<int32_t> slot = impl->findSlot(id);
  if (!slot)
    return slot.status();
  return impl->sequences[*slot].length;
}
int32_t Manager::countFreeBlocks() const { return impl->freeBlocks.size(); }
int32_t Manager::countCachedBlocks() const { return impl->cachedBlocks.size(); }
const ManagerCounters &Manager::getCounters() const { return impl->counters; }
std::span<const int32_t> Manager::getPageTable() const {
  return impl->pageTable;
}
std::span<const int32_t> Manager::getWindowTable() const {
  return impl->windowTable;
}
bool Manager::isIndexed(int32_t block) const {
  return block > 0 && block < impl->capacity.blocks &&
         impl->blocks[block].isIndexed;
}
std::string Manager::check() const { return impl->check(); }
