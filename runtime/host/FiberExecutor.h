//===- FiberExecutor.h - Runs the threads of a launch ----------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Clusters run one after another. A block of a cluster runs until none of its
// threads can continue without another block. The threads of a block are
// fibers. A thread runs until it waits in a barrier or warp collective, or
// ends. One that ends hands its stack to the next thread that has not begun, so
// a kernel without collectives runs on one stack and never switches.
//
// Lanes that have ended, or that do not exist, count as arrived at a warp
// collective (reading their value is an error). A barrier needs every thread,
// and that of a cluster every thread that has not ended. When no thread can run
// and some wait, the launch fails, and the message says which thread waits for
// which.
//
// Threads of a block and blocks of a cluster are numbered along x first, then
// y, then z; so are blocks and clusters of the grid.
//
// A kernel's shared variables are static, so they hold those of the running
// block; the contents of other blocks of its cluster are kept elsewhere.
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_HOST_FIBEREXECUTOR_H
#define DSV4_HOST_FIBEREXECUTOR_H

#include "ThreadOrder.h"
#include "dsv4-runtime/LaunchPlan.h"
#include "dsv4-runtime/Status.h"
#include "dsv4/abi.h"

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace dsv4::rt {

class Fiber;

/// One launch of a loaded image.
struct HostLaunch {
  std::string kernel;                ///< For messages.
  dsv4_host::State *state = nullptr; ///< The image's.
  void (*entry)(void **params) = nullptr;
  unsigned char *sharedBegin = nullptr, *sharedEnd = nullptr;
  Dim3 grid;            ///< Blocks, along each axis a multiple of a cluster's.
  Dim3 blockShape;      ///< Threads of a block.
  Dim3 clusterShape;    ///< Blocks of a cluster.
  uint32_t threads = 0; ///< The product of blockShape.
  uint32_t cluster = 1; ///< The product of clusterShape.
  uint32_t sharedBytes = 0;
  void **params = nullptr;
  ThreadSchedule schedule;
  /// What the launch noted: (page, pages) of entries beyond their pool.
  std::set<std::pair<int64_t, int64_t>> *beyondPool = nullptr;
};

/// splitmix64: small, and the same everywhere.
class RandomNumbers {
public:
  explicit RandomNumbers(uint64_t seed) : state(seed) {}
  uint64_t next();
  uint64_t below(uint64_t bound) { return next() % bound; }

private:
  uint64_t state;
};

class FiberExecutor {
public:
  /// The caller has checked the extents, and that no other launch uses the
  /// image.
  static Status run(const HostLaunch &launch);

private:
  enum class Phase : uint8_t { Ready, Warp, Barrier, Cluster, Ended };

  struct Thread {
    Phase phase = Phase::Ready;
    bool arrived = false; ///< At a barrier of the cluster, and has not waited:
    uint64_t round = 0;   ///< its number.
    bool wrote = false;   ///< To other blocks' memory, since it last arrived.
    Fiber *fiber = nullptr;     ///< From its begin to its end.
    const char *name = nullptr; ///< The call it waits in.
    unsigned mask = 0;          ///< Of a warp collective.
    unsigned barrier = 0;       ///< Number of the barrier,
    unsigned expected = 0;      ///< and threads it is for.
    unsigned long long value = 0;
    unsigned result = 0;
    dsv4_host::WarpValues warp;
  };

  struct Warp {
    unsigned alive = 0;   ///< Lanes that exist and have not ended.
    unsigned waiting = 0; ///< Lanes in a warp collective.
  };

  static constexpr int64_t none = -1;
  static constexpr unsigned barrierCount = 16; ///< Of a GPU's block.

  /// A block of the cluster that runs.
  struct Block {
    std::vector<Thread> threads;
    std::vector<Warp> warps;
    std::vector<uint64_t> ready; ///< A bit per thread.
    unsigned arrived[barrierCount] = {};
    unsigned ended = 0;
    bool started = false;
    /// Its shared variables while another block runs.
    std::vector<unsigned char> variables;
    void *dynamicShared = nullptr;
  };

  explicit FiberExecutor(const HostLaunch &launch);
  ~FiberExecutor();
  Status allocateShared();

  uint64_t clusterAt(uint64_t position) const;
  dsv4_host::Index blockIndex(unsigned rank) const;
  void runCluster(uint64_t number);
  void resetBlock();
  void spoilShared();
  unsigned firstToRun();
  void switchTo(unsigned rank);
  bool switchToReady();
  void runThreads();
  void abandonThreads();
  int64_t pick();
  void setReady(unsigned thread);
  void makeCurrent(unsigned thread);
  void endCurrent();
  void waitUntilReady();

  const dsv4_host::WarpValues *exchange(const char *name, unsigned mask,
                                        unsigned long long value);
  unsigned barrier(const char *name, unsigned id, unsigned expected,
                   unsigned predicate);
  bool tryCompleteWarp(unsigned thread);
  void completeBarrier(unsigned id);
  void arriveAtCluster(bool showsWrites);
  void waitForCluster();
  void tryCompleteCluster();
  void *inBlock(const void *own, unsigned rank, dsv4_host::Use use);

  static std::string hex(uint64_t value);
  std::string here() const;
  std::string whatItDoes(unsigned thread) const;
  void fail(std::string what);
  [[noreturn]] void leaveThread();
  void reportStuck();
  void reportStuckBarrier(unsigned thread);
  void reportStuckWarp(unsigned thread);

  static const dsv4_host::Calls calls;
  static thread_local FiberExecutor *active;

  const HostLaunch &launch;
  RandomNumbers random;
  uint64_t clusters;                           ///< Of the grid.
  uint64_t clusterStep = 1, clusterOffset = 0; ///< A bijection of the clusters.
  std::vector<Block> blocks;                   ///< Of the cluster that runs,
  uint64_t cluster = 0;                        ///< and its number.
  /// Of the barrier of the cluster: its number, the threads it waits for, and
  /// those that have not ended.
  uint64_t round = 0;
  unsigned missing = 0, alive = 0;
  unsigned rank = 0;      ///< Of the block that runs,
  Block *now = nullptr;   ///< and itself.
  unsigned current = 0;   ///< Thread of it.
  int64_t pending = none; ///< Picked, but on another stack.
  bool abandoning = false;
  Status failure;
};

} // namespace dsv4::rt

#endif // DSV4_HOST_FIBEREXECUTOR_H
