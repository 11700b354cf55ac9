//===- FiberExecutor.cpp - Runs the threads of a launch -------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FiberExecutor.h"
#include "Fiber.h"
#include "Sanitizers.h"

#include "dsv4-runtime/Fork.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <numeric>
#include <utility>

#ifdef DSV4_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#endif

namespace dsv4::rt {

using dsv4_host::warp_size;
using dsv4_host::WarpValues;

namespace {

/// Shared memory before a block has written it: as a float 3.4e38, as an index
/// far out of any range.
constexpr int unwritten = 0x7F;

/// One launch of a process at a time may have more threads than this, up to 16
/// blocks of 1024, for the sake of their stacks. Never destroyed: a thread may
/// still launch while the process ends.
constexpr uint64_t manyThreads = 2048;
PerProcess<std::mutex> &manyStacks = *new PerProcess<std::mutex>;

/// The hardware guarantees less; a bulk copy needs this alignment.
constexpr size_t sharedAlignment = 128;

void spoil(unsigned char *begin, const unsigned char *end) {
#ifdef DSV4_ADDRESS_SANITIZER
  // Between the variables are the sanitizer's guards.
  for (; begin != end; ++begin)
    if (!__asan_address_is_poisoned(begin))
      *begin = unwritten;
#else
  if (begin != end)
    std::memset(begin, unwritten, end - begin);
#endif
}

/// The index of what has number `number`, along x first.
dsv4_host::Index indexIn(const Dim3 &shape, uint64_t number) {
  return {static_cast<unsigned>(number % shape.x),
          static_cast<unsigned>(number / shape.x % shape.y),
          static_cast<unsigned>(number / shape.x / shape.y)};
}

dsv4_host::Index toIndex(const Dim3 &shape) {
  return {shape.x, shape.y, shape.z};
}

/// How many clusters a grid has along each axis.
Dim3 clustersOf(const HostLaunch &launch) {
  const Dim3 &grid = launch.grid, &cluster = launch.clusterShape;
  return {grid.x / cluster.x, grid.y / cluster.y, grid.z / cluster.z};
}

/// "7", or "(1, 2, 0)" of a shape of several axes.
std::string numberIn(const Dim3 &shape, const dsv4_host::Index &index) {
  if (shape.is1D())
    return std::to_string(index.x);
  return "(" + std::to_string(index.x) + ", " + std::to_string(index.y) + ", " +
         std::to_string(index.z) + ")";
}

/// Between the shared variables and what is kept of them.
void copyShared(unsigned char *to, const unsigned char *from, size_t bytes) {
#ifdef DSV4_ADDRESS_SANITIZER
  for (size_t i = 0; i < bytes; ++i)
    if (!__asan_address_is_poisoned(to + i) &&
        !__asan_address_is_poisoned(from + i))
      to[i] = from[i];
#else
  if (bytes != 0)
    std::memcpy(to, from, bytes);
#endif
}

} // namespace

std::string FiberExecutor::hex(uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof(text), "0x%08" PRIX64, value);
  return text;
}

thread_local FiberExecutor *FiberExecutor::active = nullptr;

const dsv4_host::Calls FiberExecutor::calls = {
    [](const char *name, unsigned mask, unsigned long long value) {
      return active->exchange(name, mask, value);
    },
    [](const char *name, unsigned id, unsigned expected, unsigned predicate) {
      return active->barrier(name, id, expected, predicate);
    },
    [](bool showsWrites) { active->arriveAtCluster(showsWrites); },
    [] { active->waitForCluster(); },
    [](const void *own, unsigned rank, dsv4_host::Use use) {
      void *there = active->inBlock(own, rank, use);
      if (!there)
        active->leaveThread();
      return there;
    },
    [](const char *access, const void *address, unsigned bytes) {
      active->fail(std::to_string(bytes) + "-byte " + access + " at " +
                   hex(reinterpret_cast<uintptr_t>(address)) +
                   ", which is not aligned to " + std::to_string(bytes) +
                   " bytes");
      active->leaveThread();
    },
    [](const char *name, unsigned lane) {
      active->fail(std::string(name) + " reads lane " + std::to_string(lane) +
                   ", which takes no part in it");
      active->leaveThread();
    },
    [](long long page, long long pages) {
      if (active->launch.beyondPool)
        active->launch.beyondPool->insert({page, pages});
    }};

uint64_t RandomNumbers::next() {
  uint64_t z = state += 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

//===----------------------------------------------------------------------===//
// Launch and blocks
//===----------------------------------------------------------------------===//

FiberExecutor::FiberExecutor(const HostLaunch &launch)
    : launch(launch), random(launch.schedule.seed),
      clusters(clustersOf(launch).count()), blocks(launch.cluster) {
  for (Block &block : blocks) {
    block.threads.resize(launch.threads);
    block.warps.resize((launch.threads + warp_size - 1) / warp_size);
    block.ready.resize((launch.threads + 63) / 64);
    if (launch.cluster > 1)
      block.variables.resize(launch.sharedEnd - launch.sharedBegin);
  }
  if (launch.schedule.order != ThreadOrder::Random || clusters < 2)
    return;
  clusterOffset = random.below(clusters);
  do
    clusterStep = 1 + random.below(clusters - 1);
  while (std::gcd(clusterStep, clusters) != 1);
}

FiberExecutor::~FiberExecutor() {
  for (Block &block : blocks)
    std::free(block.dynamicShared);
}

Status FiberExecutor::allocateShared() {
  for (Block &block : blocks)
    if (launch.sharedBytes &&
        posix_memalign(&block.dynamicShared, sharedAlignment,
                       launch.sharedBytes))
      return Status(Code::LaunchFailed, "kernel '" + launch.kernel +
                                            "': no memory for " +
                                            std::to_string(launch.sharedBytes) +
                                            " bytes of shared memory");
  return Status();
}

Status FiberExecutor::run(const HostLaunch &launch) {
  if (launch.grid.count() == 0)
    return Status();
  const bool many = uint64_t(launch.cluster) * launch.threads > manyThreads;
  std::unique_lock<std::mutex> lock;
  if (many)
    lock = std::unique_lock<std::mutex>(manyStacks.get());
  FiberExecutor executor(launch);
  if (Status allocated = executor.allocateShared(); !allocated)
    return allocated;

  dsv4_host::State &state = *launch.state;
  state.threadIdx = {0, 0, 0};
  state.blockDim = toIndex(launch.blockShape);
  state.gridDim = toIndex(launch.grid);
  state.calls = &calls;

  FiberExecutor *outer = std::exchange(active, &executor);
  for (uint64_t i = 0; i < executor.clusters && executor.failure.ok(); ++i)
    executor.runCluster(executor.clusterAt(i));
  active = outer;
  FiberPool::ofThisThread().trim();
  return executor.failure;
}

uint64_t FiberExecutor::clusterAt(uint64_t position) const {
  if (launch.schedule.order == ThreadOrder::Reverse)
    return clusters - 1 - position;
  // 64 bits may not hold the product for a grid of several axes.
  const auto step = static_cast<unsigned __int128>(position) * clusterStep;
  return static_cast<uint64_t>((clusterOffset + step) % clusters);
}

/// The index of a block of the cluster that runs.
dsv4_host::Index FiberExecutor::blockIndex(unsigned rank) const {
  const Dim3 &shape = launch.clusterShape;
  const dsv4_host::Index first = indexIn(clustersOf(launch), cluster);
  const dsv4_host::Index inside = indexIn(shape, rank);
  return {first.x * shape.x + inside.x, first.y * shape.y + inside.y,
          first.z * shape.z + inside.z};
}

/// Before a thread of the current block has run.
void FiberExecutor::resetBlock() {
  now->started = false;
  now->ended = 0;
  for (Warp &warp : now->warps)
    warp = Warp();
  for (unsigned i = 0; i < launch.threads; ++i) {
    now->threads[i].arrived = now->threads[i].wrote = false;
    now->warps[i / warp_size].alive |= 1u << i % warp_size;
    setReady(i);
  }
}

void FiberExecutor::spoilShared() {
  spoil(launch.sharedBegin, launch.sharedEnd);
  auto *dynamic = static_cast<unsigned char *>(now->dynamicShared);
  spoil(dynamic, dynamic + launch.sharedBytes);
}

/// Makes a block of the cluster the current one. What others have written to a
/// block before it started is lost, and so is what one that has ended had.
void FiberExecutor::switchTo(unsigned next) {
  if (now && now != &blocks[next]) {
    if (now->ended == launch.threads)
      spoilShared();
    copyShared(now->variables.data(), launch.sharedBegin,
               now->variables.size());
    copyShared(launch.sharedBegin, blocks[next].variables.data(),
               now->variables.size());
  }
  rank = next;
  now = &blocks[rank];
  launch.state->blockIdx = blockIndex(rank);
  launch.state->dynamicShared = now->dynamicShared;
  if (!std::exchange(now->started, true))
    spoilShared();
}

/// The block that the order has next, if all can run.
unsigned FiberExecutor::firstToRun() {
  if (launch.schedule.order == ThreadOrder::Random)
    return static_cast<unsigned>(random.below(launch.cluster));
  return launch.schedule.order == ThreadOrder::Reverse ? launch.cluster - 1 : 0;
}

/// Switches to a block with a thread that can run; false if none exists.
bool FiberExecutor::switchToReady() {
  const unsigned size = launch.cluster, first = firstToRun();
  const bool reverse = launch.schedule.order == ThreadOrder::Reverse;
  for (unsigned i = 0; i < size; ++i) {
    const unsigned next = (reverse ? first + size - i : first + i) % size;
    const std::vector<uint64_t> &ready = blocks[next].ready;
    if (next != rank && std::any_of(ready.begin(), ready.end(),
                                    [](uint64_t word) { return word != 0; })) {
      switchTo(next);
      return true;
    }
  }
  return false;
}

void FiberExecutor::runCluster(uint64_t number) {
  cluster = number;
  round = 0;
  missing = alive = launch.cluster * launch.threads;
  pending = none;
  for (Block &block : blocks) {
    now = &block;
    resetBlock();
  }
  now = nullptr;
  switchTo(firstToRun());
  FiberPool &pool = FiberPool::ofThisThread();
  while (failure.ok()) {
    int64_t next = std::exchange(pending, none);
    if (next == none)
      next = pick();
    if (next == none && launch.cluster > 1 && switchToReady())
      next = pick();
    if (next == none)
      break;
    makeCurrent(static_cast<unsigned>(next));
    Fiber *fiber = now->threads[current].fiber;
    if (!fiber) {
      fiber = pool.take();
      if (!fiber) {
        fail("no addresses for its stack of " +
             std::to_string(Fiber::stackBytes >> 20) +
             " MiB: " + std::to_string(launch.cluster) + " x " +
             std::to_string(launch.threads) +
             " threads are there at once (see ulimit -v and "
             "vm.max_map_count)");
        break;
      }
      now->threads[current].fiber = fiber;
      fiber->start(
          [](void *self) { static_cast<FiberExecutor *>(self)->runThreads(); },
          this);
    }
    fiber->resume();
    // The current thread may by now be another one of the same stack.
    if (now->threads[current].phase == Phase::Ended)
      pool.giveBack(fiber);
  }
  if (failure.ok() && alive != 0)
    reportStuck();
  if (!failure.ok())
    abandonThreads();
}

/// Unwinds what waits, so that the stacks can be used again.
void FiberExecutor::abandonThreads() {
  abandoning = true;
  for (Block &block : blocks) {
    now = &block;
    for (unsigned i = 0; i < launch.threads; ++i) {
      Fiber *fiber = block.threads[i].fiber;
      if (!fiber)
        continue;
      makeCurrent(i);
      fiber->resume();
      FiberPool::ofThisThread().giveBack(fiber);
    }
  }
}

//===----------------------------------------------------------------------===//
// Threads. From here on, what is not static runs on the stack of a fiber.
//===----------------------------------------------------------------------===//

/// Runs the current thread and then, while the order wants one that has not
/// begun, that one.
void FiberExecutor::runThreads() {
  // Both returns of setjmp read members only.
  if (setjmp(now->threads[current].fiber->abandon)) {
    endCurrent();
    return;
  }
  while (true) {
    launch.entry(launch.params);
    Fiber *fiber = now->threads[current].fiber;
    endCurrent();
    pending = pick();
    if (pending == none || now->threads[pending].fiber)
      return;
    makeCurrent(static_cast<unsigned>(std::exchange(pending, none)));
    now->threads[current].fiber = fiber;
  }
}

int64_t FiberExecutor::pick() {
  unsigned skip = 0;
  if (launch.schedule.order == ThreadOrder::Random) {
    unsigned count = 0;
    for (uint64_t word : now->ready)
      count += __builtin_popcountll(word);
    if (count == 0)
      return none;
    skip = static_cast<unsigned>(random.below(count));
  }
  std::vector<uint64_t> &ready = now->ready;
  const size_t words = ready.size();
  for (size_t i = 0; i < words; ++i) {
    const bool reverse = launch.schedule.order == ThreadOrder::Reverse;
    uint64_t &word = ready[reverse ? words - 1 - i : i];
    const unsigned count = __builtin_popcountll(word);
    if (skip >= count) {
      skip -= count;
      continue;
    }
    uint64_t left = word;
    for (; skip; --skip)
      left &= left - 1;
    const unsigned bit =
        reverse ? 63 - __builtin_clzll(left) : __builtin_ctzll(left);
    word &= ~(uint64_t(1) << bit);
    return static_cast<int64_t>((&word - ready.data()) * 64 + bit);
  }
  return none;
}

void FiberExecutor::setReady(unsigned thread) {
  now->threads[thread].phase = Phase::Ready;
  now->ready[thread / 64] |= uint64_t(1) << thread % 64;
}

void FiberExecutor::makeCurrent(unsigned thread) {
  current = thread;
  if (launch.blockShape.is1D())
    launch.state->threadIdx.x = thread;
  else
    launch.state->threadIdx = indexIn(launch.blockShape, thread);
}

void FiberExecutor::endCurrent() {
  Thread &thread = now->threads[current];
  thread.phase = Phase::Ended;
  thread.fiber = nullptr;
  ++now->ended;
  --alive;
  if (!thread.arrived || thread.round != round)
    --missing;
  Warp &warp = now->warps[current / warp_size];
  warp.alive &= ~(1u << current % warp_size);
  if (abandoning)
    return;
  tryCompleteCluster();
  // Others may have waited for this lane alone.
  const unsigned first = current / warp_size * warp_size;
  for (unsigned lane = 0; lane < warp_size && warp.waiting; ++lane)
    if (warp.waiting >> lane & 1)
      tryCompleteWarp(first + lane);
}

void FiberExecutor::waitUntilReady() {
  const int64_t next = pick();
  if (next == static_cast<int64_t>(current))
    return;
  pending = next;
  now->threads[current].fiber->suspend();
  if (abandoning)
    leaveThread();
}

//===----------------------------------------------------------------------===//
// Failures
//===----------------------------------------------------------------------===//

std::string FiberExecutor::here() const {
  return "kernel '" + launch.kernel + "': block " +
         numberIn(launch.grid, blockIndex(rank)) + ", thread " +
         numberIn(launch.blockShape, indexIn(launch.blockShape, current)) +
         ": ";
}

void FiberExecutor::fail(std::string what) {
  failure = Status(Code::LaunchFailed, here() + std::move(what));
}

/// No frame between here and the base of the stack may hold a string then.
void FiberExecutor::leaveThread() {
  longjmp(now->threads[current].fiber->abandon, 1);
}

std::string FiberExecutor::whatItDoes(unsigned thread) const {
  const Thread &other = now->threads[thread];
  if (other.phase == Phase::Warp)
    return "waits at " + std::string(other.name) + " with mask " +
           hex(other.mask);
  if (other.phase == Phase::Barrier || other.phase == Phase::Cluster)
    return "waits at " + std::string(other.name);
  return "has ended";
}

/// No thread can run, and the first one that waits for its own block says why.
/// One there is: where all that have not ended wait for the cluster, none is
/// missing.
void FiberExecutor::reportStuck() {
  for (unsigned of = 0; of < launch.cluster; ++of) {
    switchTo(of);
    for (unsigned i = 0; i < launch.threads; ++i) {
      current = i;
      if (now->threads[i].phase == Phase::Barrier)
        return reportStuckBarrier(i);
      if (now->threads[i].phase == Phase::Warp)
        return reportStuckWarp(i);
    }
  }
}

void FiberExecutor::reportStuckBarrier(unsigned thread) {
  const Thread &waiting = now->threads[thread];
  for (unsigned i = 0; i < launch.threads; ++i) {
    if (now->threads[i].phase == Phase::Barrier &&
        now->threads[i].barrier == waiting.barrier)
      continue;
    return fail(
        whatItDoes(thread) + " for " + std::to_string(waiting.expected) +
        " threads, of which " + std::to_string(now->arrived[waiting.barrier]) +
        " are there; thread " + std::to_string(i) + " " + whatItDoes(i));
  }
}

void FiberExecutor::reportStuckWarp(unsigned thread) {
  const Thread &waiting = now->threads[thread];
  const unsigned first = thread / warp_size * warp_size;
  const unsigned lanes = waiting.mask & now->warps[thread / warp_size].alive;
  for (unsigned lane = 0; lane < warp_size; ++lane) {
    if (!(lanes >> lane & 1))
      continue;
    const Thread &other = now->threads[first + lane];
    if (other.phase == Phase::Warp && other.mask == waiting.mask &&
        !std::strcmp(other.name, waiting.name))
      continue;
    return fail(whatItDoes(thread) + " for lane " + std::to_string(lane) +
                "; thread " + std::to_string(first + lane) + " " +
                whatItDoes(first + lane));
  }
}

} // namespace dsv4::rt
