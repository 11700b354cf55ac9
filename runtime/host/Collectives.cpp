//===- Collectives.cpp - Warps, blocks and clusters that wait -------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All of this runs on the stacks of fibers.
//
//===----------------------------------------------------------------------===//

#include "FiberExecutor.h"

#include <cstdint>
#include <cstring>
#include <string>

namespace dsv4::rt {

using dsv4_host::warp_size;
using dsv4_host::WarpValues;

//===----------------------------------------------------------------------===//
// Warps and blocks
//===----------------------------------------------------------------------===//

const WarpValues *FiberExecutor::exchange(const char *name, unsigned mask,
                                          unsigned long long value) {
  Thread &thread = now->threads[current];
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
  now->warps[current / warp_size].waiting |= 1u << lane;
  tryCompleteWarp(current);
  waitUntilReady();
  return &thread.warp;
}

/// Frees all lanes that meet `thread`, if none is missing.
bool FiberExecutor::tryCompleteWarp(unsigned thread) {
  const Thread &caller = now->threads[thread];
  Warp &warp = now->warps[thread / warp_size];
  const unsigned lanes = caller.mask & warp.alive;
  if (lanes & ~warp.waiting)
    return false;
  Thread *first = &now->threads[thread / warp_size * warp_size];
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

unsigned FiberExecutor::barrier(const char *name, unsigned id,
                                unsigned expected, unsigned predicate) {
  Thread &thread = now->threads[current];
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
  if (++now->arrived[id] == expected)
    completeBarrier(id);
  waitUntilReady();
  return thread.result;
}

void FiberExecutor::completeBarrier(unsigned id) {
  const Thread &last = now->threads[current];
  unsigned result = 0;
  for (unsigned i = 0; i < launch.threads; ++i) {
    const Thread &other = now->threads[i];
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
    if (now->threads[i].phase != Phase::Barrier ||
        now->threads[i].barrier != id)
      continue;
    now->threads[i].result = result;
    setReady(i);
  }
  now->arrived[id] = 0;
}

//===----------------------------------------------------------------------===//
// Clusters
//===----------------------------------------------------------------------===//

void FiberExecutor::arriveAtCluster(bool showsWrites) {
  Thread &thread = now->threads[current];
  if (launch.cluster == 1) {
    fail("arrives at a barrier of its cluster, but was loaded as a kernel "
         "without clusters");
    leaveThread();
  }
  if (thread.arrived) {
    fail("arrives at a barrier of its cluster, and has not waited for the one "
         "before");
    leaveThread();
  }
  if (thread.wrote && !showsWrites) {
    fail("arrives at a barrier of its cluster that does not show what it wrote "
         "to another block's memory");
    leaveThread();
  }
  thread.wrote = false;
  thread.arrived = true;
  thread.round = round;
  --missing;
  tryCompleteCluster();
}

void FiberExecutor::waitForCluster() {
  Thread &thread = now->threads[current];
  if (!thread.arrived) {
    fail("waits for a barrier of its cluster at which it has not arrived");
    leaveThread();
  }
  if (thread.round == round) {
    thread.phase = Phase::Cluster;
    thread.name = "a barrier of its cluster";
    waitUntilReady();
  }
  thread.arrived = false;
}

/// Frees all that wait for the barrier, if no thread is missing.
void FiberExecutor::tryCompleteCluster() {
  if (missing != 0)
    return;
  ++round;
  missing = alive;
  Block *const running = now;
  for (Block &block : blocks) {
    now = &block;
    for (unsigned i = 0; i < launch.threads; ++i)
      if (block.threads[i].phase == Phase::Cluster)
        setReady(i);
  }
  now = running;
}

/// Where block `of` of the cluster has the shared memory at `own`. What is not
/// the current block's stays there until that block runs.
void *FiberExecutor::inBlock(const void *own, unsigned of, dsv4_host::Use use) {
  auto *at = static_cast<unsigned char *>(const_cast<void *>(own));
  auto *dynamic = static_cast<unsigned char *>(now->dynamicShared);
  const bool isVariable = launch.sharedBegin <= at && at < launch.sharedEnd;
  const bool isDynamic = dynamic <= at && at < dynamic + launch.sharedBytes;
  const bool atOnce = use != dsv4_host::Use::WriteLater;
  const char *why = nullptr;
  if (of >= launch.cluster)
    why = ", which does not exist";
  else if (atOnce && of != rank && round == 0)
    why =
        ", which may not have started: wait for a barrier of the cluster first";
  else if (atOnce && of != rank && blocks[of].ended == launch.threads)
    why = ", which has ended";
  else if (!isVariable && !isDynamic)
    why = " at an address that is not of shared memory";
  if (why) {
    fail("accesses shared memory of block " + std::to_string(of) +
         " of its cluster" + why);
    return nullptr;
  }
  if (of == rank)
    return at;
  if (use == dsv4_host::Use::Write)
    now->threads[current].wrote = true;
  if (isVariable)
    return blocks[of].variables.data() + (at - launch.sharedBegin);
  return static_cast<unsigned char *>(blocks[of].dynamicShared) +
         (at - dynamic);
}

} // namespace dsv4::rt
