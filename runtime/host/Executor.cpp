//===- Executor.cpp - Runs the threads of a launch ------------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Executor.h"
#include "Fiber.h"
#include "Sanitizers.h"

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
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

/// What the hardware promises is less; what a bulk copy asks for is this.
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

std::string hex(uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof(text), "0x%08" PRIX64, value);
  return text;
}

} // namespace

thread_local Executor *Executor::active = nullptr;

const dsv4_host::Calls Executor::calls = {
    [](const char *name, unsigned mask, unsigned long long value) {
      return active->exchange(name, mask, value);
    },
    [](const char *name, unsigned id, unsigned expected, unsigned predicate) {
      return active->barrier(name, id, expected, predicate);
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

Executor::Executor(const HostLaunch &launch)
    : launch(launch), random(launch.schedule.seed), threads(launch.threads),
      warps((launch.threads + warp_size - 1) / warp_size),
      ready((launch.threads + 63) / 64) {
  if (launch.schedule.order != ThreadOrder::Random || launch.grid < 2)
    return;
  blockOffset = random.below(launch.grid);
  do
    blockStep = 1 + random.below(launch.grid - 1);
  while (std::gcd(blockStep, launch.grid) != 1);
}

Status Executor::run(const HostLaunch &launch) {
  if (launch.grid == 0)
    return Status();
  Executor executor(launch);
  if (launch.sharedBytes && posix_memalign(&executor.dynamicShared,
                                           sharedAlignment, launch.sharedBytes))
    return Status(Code::LaunchFailed, "kernel '" + launch.kernel +
                                          "': no memory for " +
                                          std::to_string(launch.sharedBytes) +
                                          " bytes of shared memory");

  dsv4_host::State &state = *launch.state;
  state.blockDim = {launch.threads, 1, 1};
  state.gridDim = {static_cast<unsigned>(launch.grid), 1, 1};
  state.dynamicShared = executor.dynamicShared;
  state.calls = &calls;

  Executor *outer = std::exchange(active, &executor);
  for (uint64_t i = 0; i < launch.grid && executor.failure.ok(); ++i)
    executor.runBlock(executor.blockAt(i));
  active = outer;
  std::free(executor.dynamicShared);
  return executor.failure;
}

uint64_t Executor::blockAt(uint64_t position) const {
  if (launch.schedule.order == ThreadOrder::Reverse)
    return launch.grid - 1 - position;
  return (blockOffset + position * blockStep) % launch.grid;
}

void Executor::resetBlock(uint64_t newBlock) {
  block = newBlock;
  launch.state->blockIdx = {static_cast<unsigned>(block), 0, 0};
  launch.state->threadIdx = {0, 0, 0};
  spoil(launch.sharedBegin, launch.sharedEnd);
  auto *dynamic = static_cast<unsigned char *>(dynamicShared);
  spoil(dynamic, dynamic + launch.sharedBytes);

  ended = 0;
  pending = none;
  for (Warp &warp : warps)
    warp = Warp();
  for (unsigned i = 0; i < launch.threads; ++i) {
    threads[i].phase = Phase::Ready;
    warps[i / warp_size].alive |= 1u << i % warp_size;
    setReady(i);
  }
}

void Executor::runBlock(uint64_t newBlock) {
  resetBlock(newBlock);
  FiberPool &pool = FiberPool::ofThisThread();
  while (failure.ok()) {
    int64_t next = std::exchange(pending, none);
    if (next == none)
      next = pick();
    if (next == none)
      break;
    makeCurrent(static_cast<unsigned>(next));
    Fiber *fiber = threads[current].fiber;
    if (!fiber) {
      fiber = pool.take();
      if (!fiber) {
        fail("no memory for the stack of a thread");
        break;
      }
      threads[current].fiber = fiber;
      fiber->start(
          [](void *self) { static_cast<Executor *>(self)->runThreads(); },
          this);
    }
    fiber->resume();
    // The current thread may by now be another one of the same stack.
    if (threads[current].phase == Phase::Ended)
      pool.giveBack(fiber);
  }
  if (failure.ok() && ended != launch.threads)
    reportStuck();
  if (!failure.ok())
    abandonThreads();
}

/// Unwinds what waits, so that the stacks can be used again.
void Executor::abandonThreads() {
  abandoning = true;
  for (unsigned i = 0; i < launch.threads; ++i) {
    Fiber *fiber = threads[i].fiber;
    if (!fiber)
      continue;
    makeCurrent(i);
    fiber->resume();
    FiberPool::ofThisThread().giveBack(fiber);
  }
}

//===----------------------------------------------------------------------===//
// Threads. From here on, what is not static runs on the stack of a fiber.
//===----------------------------------------------------------------------===//

/// Runs the current thread and then, while the order wants one that has not
/// begun, that one.
void Executor::runThreads() {
  // Both returns of setjmp read members only.
  if (setjmp(threads[current].fiber->abandon)) {
    endCurrent();
    return;
  }
  while (true) {
    launch.entry(launch.params);
    Fiber *fiber = threads[current].fiber;
    endCurrent();
    pending = pick();
    if (pending == none || threads[pending].fiber)
      return;
    makeCurrent(static_cast<unsigned>(std::exchange(pending, none)));
    threads[current].fiber = fiber;
  }
}

int64_t Executor::pick() {
  unsigned skip = 0;
  if (launch.schedule.order == ThreadOrder::Random) {
    unsigned count = 0;
    for (uint64_t word : ready)
      count += __builtin_popcountll(word);
    if (count == 0)
      return none;
    skip = static_cast<unsigned>(random.below(count));
  }
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

void Executor::setReady(unsigned thread) {
  threads[thread].phase = Phase::Ready;
  ready[thread / 64] |= uint64_t(1) << thread % 64;
}

void Executor::makeCurrent(unsigned thread) {
  current = thread;
  launch.state->threadIdx.x = thread;
}

void Executor::endCurrent() {
  Thread &thread = threads[current];
  thread.phase = Phase::Ended;
  thread.fiber = nullptr;
  ++ended;
  Warp &warp = warps[current / warp_size];
  warp.alive &= ~(1u << current % warp_size);
  if (abandoning)
    return;
  // Others may have waited for this lane alone.
  const unsigned first = current / warp_size * warp_size;
  for (unsigned lane = 0; lane < warp_size && warp.waiting; ++lane)
    if (warp.waiting >> lane & 1)
      tryCompleteWarp(first + lane);
}

void Executor::waitUntilReady() {
  const int64_t next = pick();
  if (next == static_cast<int64_t>(current))
    return;
  pending = next;
  threads[current].fiber->suspend();
  if (abandoning)
    leaveThread();
}

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

const WarpValues *Executor::exchange(const char *name, unsigned mask,
                                     unsigned long long value) {
  Thread &thread = threads[current];
  const unsigned lane = current % warp_size;
  if (!(mask >> lane & 1)) {
    fail(std::string(name) + " with mask " + hex(mask) +
         ", which lacks the caller's own lane " + std::to_string(lane));
    leaveThread();
  }
  thread.phase = Phase::Warp;
  thread.name = name;
  thread.mask = mask;
  thread.value = value;
  warps[current / warp_size].waiting |= 1u << lane;
  tryCompleteWarp(current);
  waitUntilReady();
  return &thread.warp;
}

/// Frees all lanes that meet `thread`, if none is missing.
bool Executor::tryCompleteWarp(unsigned thread) {
  const Thread &caller = threads[thread];
  Warp &warp = warps[thread / warp_size];
  const unsigned lanes = caller.mask & warp.alive;
  if (lanes & ~warp.waiting)
    return false;
  Thread *first = &threads[thread / warp_size * warp_size];
  WarpValues values = {lanes, 0, {}};
  for (unsigned lane = 0; lane < warp_size; ++lane) {
    if (!(lanes >> lane & 1))
      continue;
    if (first[lane].mask != caller.mask ||
        std::strcmp(first[lane].name, caller.name))
      return false;
    values.values[lane] = first[lane].value;
  }
  // Each reads its own copy: a lane that runs ahead may be in the next
  // collective before another has read this one's values.
  for (unsigned lane = 0; lane < warp_size; ++lane) {
    if (!(lanes >> lane & 1))
      continue;
    first[lane].warp = values;
    first[lane].warp.lane = lane;
    setReady(thread / warp_size * warp_size + lane);
  }
  warp.waiting &= ~lanes;
  return true;
}

unsigned Executor::barrier(const char *name, unsigned id, unsigned expected,
                           unsigned predicate) {
  Thread &thread = threads[current];
  if (expected == 0)
    expected = launch.threads;
  if (id >= barrierCount || expected > launch.threads) {
    fail(std::string(name) + " of barrier " + std::to_string(id) + " for " +
         std::to_string(expected) +
         " threads: expected a barrier below 16 and at most the " +
         std::to_string(launch.threads) + " threads of the block");
    leaveThread();
  }
  thread.phase = Phase::Barrier;
  thread.name = name;
  thread.barrier = id;
  thread.expected = expected;
  thread.value = predicate;
  if (++arrived[id] == expected)
    completeBarrier(id);
  waitUntilReady();
  return thread.result;
}

void Executor::completeBarrier(unsigned id) {
  const Thread &last = threads[current];
  unsigned result = 0;
  for (unsigned i = 0; i < launch.threads; ++i) {
    const Thread &other = threads[i];
    if (other.phase != Phase::Barrier || other.barrier != id)
      continue;
    if (other.expected != last.expected || std::strcmp(other.name, last.name)) {
      fail("waits at " + std::string(last.name) + " for " +
           std::to_string(last.expected) + " threads; thread " +
           std::to_string(i) + " waits at the same barrier in " + other.name +
           " for " + std::to_string(other.expected));
      leaveThread();
    }
    result += other.value != 0;
  }
  for (unsigned i = 0; i < launch.threads; ++i) {
    if (threads[i].phase != Phase::Barrier || threads[i].barrier != id)
      continue;
    threads[i].result = result;
    setReady(i);
  }
  arrived[id] = 0;
}

//===----------------------------------------------------------------------===//
// Failures
//===----------------------------------------------------------------------===//

std::string Executor::here() const {
  return "kernel '" + launch.kernel + "': block " + std::to_string(block) +
         ", thread " + std::to_string(current) + ": ";
}

void Executor::fail(std::string what) {
  failure = Status(Code::LaunchFailed, here() + std::move(what));
}

/// No frame between here and the base of the stack may hold a string then.
void Executor::leaveThread() { longjmp(threads[current].fiber->abandon, 1); }

std::string Executor::whatItDoes(unsigned thread) const {
  const Thread &other = threads[thread];
  if (other.phase == Phase::Warp)
    return "waits at " + std::string(other.name) + " with mask " +
           hex(other.mask);
  if (other.phase == Phase::Barrier)
    return "waits at " + std::string(other.name);
  return "has ended";
}

/// No thread can run, and the first one that waits says why.
void Executor::reportStuck() {
  for (unsigned i = 0; i < launch.threads; ++i) {
    current = i;
    if (threads[i].phase == Phase::Barrier)
      return reportStuckBarrier(i);
    if (threads[i].phase == Phase::Warp)
      return reportStuckWarp(i);
  }
}

void Executor::reportStuckBarrier(unsigned thread) {
  const Thread &waiting = threads[thread];
  for (unsigned i = 0; i < launch.threads; ++i) {
    if (threads[i].phase == Phase::Barrier &&
        threads[i].barrier == waiting.barrier)
      continue;
    return fail(
        whatItDoes(thread) + " for " + std::to_string(waiting.expected) +
        " threads, of which " + std::to_string(arrived[waiting.barrier]) +
        " are there; thread " + std::to_string(i) + " " + whatItDoes(i));
  }
}

void Executor::reportStuckWarp(unsigned thread) {
  const Thread &waiting = threads[thread];
  const unsigned first = thread / warp_size * warp_size;
  const unsigned lanes = waiting.mask & warps[thread / warp_size].alive;
  for (unsigned lane = 0; lane < warp_size; ++lane) {
    if (!(lanes >> lane & 1))
      continue;
    const Thread &other = threads[first + lane];
    if (other.phase == Phase::Warp && other.mask == waiting.mask &&
        !std::strcmp(other.name, waiting.name))
      continue;
    return fail(whatItDoes(thread) + " for lane " + std::to_string(lane) +
                "; thread " + std::to_string(first + lane) + " " +
                whatItDoes(first + lane));
  }
}

} // namespace dsv4::rt
