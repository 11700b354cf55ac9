//===- abi.h - Between a host kernel and its executor -----------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Pasted at the head of every host kernel and included by the executor, so it
// includes nothing. A kernel's shared object exports `dsv4_host_image` (an
// Image), `dsv4_host_entry`, which calls the kernel for the current thread, and
// the kernel itself. All threads of a launch are fibers of one system thread:
// the executor writes the current one's indices into `State` before it runs.
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_HOST_ABI_H
#define DSV4_HOST_ABI_H

namespace dsv4_host {

/// Changes with the structs below; an image of another version is refused.
constexpr unsigned abi_version = 3;

constexpr unsigned warp_size = 32;

struct Index {
  unsigned x, y, z;
};

/// What the lanes of a warp brought to a collective.
struct WarpValues {
  unsigned present; ///< Bit per lane that took part.
  unsigned lane;    ///< The lane that reads this.
  unsigned long long values[warp_size];
};

/// What a thread does with the memory of another block of its cluster.
enum class Use : unsigned char {
  Read,
  Write,
  WriteLater ///< Through the pointer, which is not looked at.
};

/// Where a thread enters the executor. The pointers are to string literals: a
/// name says what was called, and calls of different names do not meet.
struct Calls {
  /// Waits for all live lanes of `mask`.
  const WarpValues *(*exchange)(const char *name, unsigned mask,
                                unsigned long long value);
  /// Waits until `threads` threads of the block (0: all of them) are at barrier
  /// `id`; returns how many of them brought a nonzero predicate.
  unsigned (*barrier)(const char *name, unsigned id, unsigned threads,
                      unsigned predicate);
  /// Arrives at the barrier of the cluster, and waits for the threads of all
  /// its blocks that have not ended to do so. If the thread wrote to the memory
  /// of other blocks, its next arrival must be one that `shows_writes`.
  void (*clusterArrive)(bool shows_writes);
  void (*clusterWait)();
  /// Where block `rank` of the cluster has what this one has at `own` in its
  /// shared memory, for this block. Unless it is used later that block must
  /// have started, which all know after a barrier of the cluster, and not have
  /// ended.
  void *(*inBlock)(const void *own, unsigned rank, Use use);
  /// Ends the launch: `access` ("load", "store") of `bytes` bytes at `address`.
  void (*misaligned)(const char *access, const void *address, unsigned bytes);
  /// Ends the launch: `name` asked for a value of `lane`, which has none.
  void (*absentLane)(const char *name, unsigned lane);
  /// Notes that an entry in page `page` of a pool of `pages` is not written.
  void (*beyondPool)(long long page, long long pages);
};

/// The state that the running thread reads; one per image.
struct State {
  Index threadIdx, blockIdx, blockDim, gridDim;
  void *dynamicShared;
  const Calls *calls;
};

struct Image {
  unsigned version;
  State *state;
  /// Statically allocated shared memory; null if the kernel has none.
  unsigned char *sharedBegin, *sharedEnd;
};

} // namespace dsv4_host

#endif // DSV4_HOST_ABI_H
