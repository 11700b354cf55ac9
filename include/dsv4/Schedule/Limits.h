//===- Limits.h - Limits of schedules ---------------------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Limits of the hardware, and of the functions of the device library, that
// schedules are verified against. The unit test DeviceConstantsTest compares
// those of the device library with its text.
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_SCHEDULE_LIMITS_H
#define DSV4_SCHEDULE_LIMITS_H

#include <cstdint>

namespace dsv4::limits {

//===----------------------------------------------------------------------===//
// Every architecture from sm_80 on
//===----------------------------------------------------------------------===//

constexpr int64_t kWarp = 32, kWarpgroup = 128;
constexpr int64_t kMaxThreads = 1024;
/// Of a multiprocessor.
constexpr int64_t kMaxResidentThreads = 2048, kMaxResidentBlocks = 32;
/// Of a multiprocessor; of a thread.
constexpr int64_t kRegisters = 65536, kMaxThreadRegisters = 255;
/// Shared memory of a block without a request for more.
constexpr int64_t kStaticSharedBytes = 49152;
/// The maximum of a block on any architecture, and on the smaller ones.
constexpr int64_t kMaxSharedBytes = 227 << 10, kMaxSharedBytesOf80 = 163 << 10,
                  kMaxSharedBytesOf86 = 99 << 10;
/// The maximum of a block on sm_`arch`; of any architecture if `arch` is 0.
constexpr int64_t getMaxSharedBytes(unsigned arch) {
  switch (arch) {
  case 80:
  case 87:
    return kMaxSharedBytesOf80;
  case 86:
  case 89:
  case 120:
  case 121:
    return kMaxSharedBytesOf86;
  default:
    return kMaxSharedBytes;
  }
}
/// Blocks of a cluster; more than 8 are not portable.
constexpr int64_t kMaxCluster = 16, kMaxPortableCluster = 8;
/// The first architecture with clusters and programmatic dependent launch.
constexpr unsigned kFirstArchWithClusters = 90;
/// The widest access of a thread.
constexpr int64_t kMaxAccessBits = 128;

//===----------------------------------------------------------------------===//
// rows/*.cuh
//===----------------------------------------------------------------------===//

/// A row reads later elements by itself if there are at most this many: a
/// template argument of `is_last`.
constexpr int64_t kMaxAloneElements = 512;

/// Rows of fewer lanes search by themselves: a warp has too many of them to
/// vote for each.
constexpr int64_t kMinSearchLanes = 8;

/// Elements of a row that a lane holds, and values of its groups: loops over
/// them are unrolled, and every one takes NVRTC up to 30 ms.
constexpr int64_t kMaxHeldElements = 256, kMaxHeldGroups = 32;
/// Elements of a section that a lane holds.
constexpr int64_t kMaxSectionElements = 64;

/// What the memory brings at once.
constexpr int64_t kLineBytes = 128;

//===----------------------------------------------------------------------===//
// window/*.cuh
//===----------------------------------------------------------------------===//

/// From this number of windows per block on they are a grid apart:
/// `many_windows`.
constexpr int64_t kManyWindows = 4;
/// Rows of a window that are reduced at a time: `WindowShape::all_blocks`.
constexpr int64_t kWindowBlockRows = 8;
/// Bytes of the sums of a channel that a group of threads leaves in shared
/// memory: `reduce_window`.
constexpr int64_t kWindowSumBytes = 12;

/// Shared memory in which the lanes of a warp exchange the addresses of a
/// member of a window is.
constexpr int64_t kWindowAddressBytes = 32;
/// Rows of a segment that are loaded together: `group_rows`.
constexpr int64_t kSegmentGroupRows = 4;
/// The longest row of a window. Beside it as f32 a block has three sums per
/// channel in its static shared memory.
constexpr int64_t kMaxWindowChannels = 8192;

//===----------------------------------------------------------------------===//
// select/*.cuh
//===----------------------------------------------------------------------===//

/// Elements of a row that a thread has at a time: one bit of a word each.
constexpr int64_t kMaxSelectItems = 32;
/// Elements of a vector of scores in shared memory: `TopkResidentVector`.
constexpr int64_t kResidentVector = 4;
/// Threads of a block that selects: a power of two.
constexpr int64_t kMinSelectThreads = 64;
/// The maximum k of a warp: one lane per rank.
constexpr int64_t kMaxWarpK = 32;
/// The maximum number of elements that a warp selects from.
constexpr int64_t kMaxWarpColumns = kWarp * kMaxSelectItems;
/// Groups that a warp chooses from: one lane per group.
constexpr int64_t kMaxWarpGroups = 32;
/// Blocks that share a row without being a cluster.
constexpr int64_t kMinGridBlocks = 2, kMaxGridBlocks = 256;
/// Bytes of an element in a list: `TopkEntry`.
constexpr int64_t kSelectEntryBytes = 8;
/// Bytes of `TopkShared` after its list: the bins, and what threads of a block
/// exchange.
constexpr int64_t kSelectStateBytes = 8368;
/// Bytes for what the blocks of a row exchange, at most.
constexpr int64_t kSelectExchangeBytes = 512;

//===----------------------------------------------------------------------===//
// mma/*.cuh
//===----------------------------------------------------------------------===//

/// Keys of a tile, which the warps of a warpgroup score together.
constexpr int64_t kScoreTileKeys = 64;
/// Warpgroups of a block that compute scores, at most.
constexpr int64_t kMaxScoreWarpgroups = 5;
/// Rows that share keys, and heads of a query, at most.
constexpr int64_t kMaxMmaRows = 8, kMaxScoreHeads = 128;
/// The elements of a key that tensor cores score.
constexpr int64_t kScoreDim = 128;
/// Elements of a slice of a hidden row, which tensor cores add: `router_slice`.
constexpr int64_t kRouterSlice = 128;
/// Experts of a warp of `RouterRowsShape`; rows and experts of a block of
/// `RouterTilesShape`, and its threads.
constexpr int64_t kRouterWarpExperts = 16, kRouterTileRows = 64,
                  kRouterTileExperts = 128, kRouterTileThreads = 256;
/// Elements of a hidden row, and logits of it, at most.
constexpr int64_t kMaxRouterDepth = 8192, kMaxRouterLogits = 512;
/// Rows, and experts, of a block of `RouterRowsShape`, at most.
constexpr int64_t kMaxRouterRows = 64, kMaxRouterExperts = 256;
/// Elements of a vector of the rows that a warp gets, at most.
constexpr int64_t kMaxHeldVector = 4;

} // namespace dsv4::limits

#endif // DSV4_SCHEDULE_LIMITS_H
