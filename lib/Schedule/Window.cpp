//===- Window.cpp - Windows of rows to the threads of a block -------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsv4/Schedule/Window.h"

#include "Explain.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace dsv4;

/// Elements of each of eight rows that a thread may have in registers.
static constexpr int64_t kMaxHeldElements = 16;
/// This many bytes of rows in flight keep memory busy, and two blocks have
/// room.
static constexpr int64_t kBytesInFlight = 72 << 10;
/// Some architectures give a block no more than 99 KiB.
static constexpr int64_t kMaxStagedBytes = 96 << 10;

/// How many bytes of rows are prefetched to shared memory at most, besides the
/// `reduced` bytes of rows that they become.
static int64_t getMaxStagedBytes(const LaunchPart &launch, int64_t reduced) {
  int64_t blocks = std::max<int64_t>(launch.minBlocks, 1);
  return std::max<int64_t>(
      std::min({kBytesInFlight, 2 * kBytesInFlight / blocks,
                kMaxStagedBytes - reduced}),
      0);
}

LogicalResult WindowAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 int64_t elements, int64_t rows) {
  if (elements < 1 || elements > 8 || !llvm::isPowerOf2_64(elements))
    return emitError() << "schedule_window_c1: expected 'elements' to be 1, 2, "
                          "4 or 8, got "
                       << elements;
  if (rows < 1 || rows > limits::kMaxThreads)
    return emitError() << "schedule_window_c2: expected 'rows' between 1 and "
                          "1024, got "
                       << rows;
  return success();
}

LogicalResult
WindowAttr::verifyLaunch(function_ref<InFlightDiagnostic()> emitError,
                         const LaunchPart &launch) const {
  if (launch.cluster > limits::kMaxPortableCluster ||
      !llvm::isPowerOf2_64(launch.cluster))
    return emitError() << "schedule_window_c3: expected 'cluster' to be 1, 2, "
                          "4 or 8, got "
                       << launch.cluster;
  return success();
}

PartGeometry WindowAttr::getGeometry(const LaunchPart &) const {
  return {/*rowsPerBlock=*/getRows(), /*blocksPerRow=*/1,
          /*maxCluster=*/limits::kMaxPortableCluster};
}

/// Elements of a row that a thread of a block has.
static int64_t getPart(WindowAttr window, const CooperativeWork &work,
                       const LaunchPart &launch) {
  return window.getElements() *
         window.getVectorsPerThread(work.elements,
                                    launch.threads * launch.cluster);
}

/// What warps leave for their lanes: as `WindowShape` of the device library has
/// it.
static int64_t getAddressBytes(WindowAttr window, const CooperativeWork &work,
                               const LaunchPart &launch) {
  int64_t lanes =
      work.elements / launch.cluster / getPart(window, work, launch);
  return lanes % limits::kWarp == 0
             ? llvm::divideCeil(launch.threads, limits::kWarp) *
                   limits::kWindowBlockRows * limits::kWindowAddressBytes
             : 0;
}

/// What groups of threads that share the members of a window leave for each
/// other: as `WindowShape` of the device library has it.
static int64_t getSumBytes(WindowAttr window, const CooperativeWork &work,
                           const LaunchPart &launch, int64_t reducedBytes) {
  if (work.rows <= limits::kWindowBlockRows)
    return 0;
  int64_t channels = work.elements / launch.cluster;
  int64_t part = getPart(window, work, launch);
  int64_t sumBytes = limits::kWindowSumBytes * channels;
  int64_t room = (limits::kStaticSharedBytes - reducedBytes) / sumBytes;
  int64_t maxGroups =
      std::max<int64_t>(std::min(launch.threads * part / channels, room), 1);
  int64_t allBlocks = llvm::divideCeil(work.rows, limits::kWindowBlockRows);
  int64_t blocks = llvm::PowerOf2Ceil(llvm::divideCeil(allBlocks, maxGroups));
  int64_t groups = llvm::divideCeil(allBlocks, blocks);
  return groups > 1 ? groups * sumBytes : 0;
}

PartResources WindowAttr::getResources(Operation *kernel,
                                       const LaunchPart &launch,
                                       ArrayRef<Attribute>) const {
  CooperativeWork work =
      dsv4::getCooperativeWork(cast<KernelOp>(kernel), WindowAttr::name);
  PartResources resources;
  // Lanes take the rows from there, as f32.
  int64_t reduced = getRows() * work.elements * 4;
  // Rows of a segment come one by one.
  if (work.rows == 1)
    resources.dynamicBytes = getMaxStagedBytes(launch, reduced);
  else
    reduced += getAddressBytes(*this, work, launch);
  resources.staticBytes = reduced + getSumBytes(*this, work, launch, reduced);
  return resources;
}

std::string WindowAttr::describe(const LaunchPart &launch) const {
  std::string where =
      launch.cluster > 1
          ? llvm::formatv("cluster of {0} blocks", launch.cluster).str()
          : "block";
  return llvm::formatv("{0} {1} per {2} in vectors of {3} {4} per thread",
                       getRows(), getRows() == 1 ? "row" : "rows", where,
                       getElements(),
                       getElements() == 1 ? "element" : "elements");
}

int64_t WindowAttr::getVectorsPerThread(int64_t channels,
                                        int64_t threads) const {
  int64_t vectors = channels / getElements(), steps = 1;
  while (vectors % steps != 0 || vectors / steps > threads)
    ++steps;
  return steps;
}

int64_t WindowAttr::getUsefulThreads(int64_t members, int64_t channels) const {
  return channels / getElements() *
         llvm::divideCeil(members, limits::kWindowBlockRows);
}

/// Why the threads of `launch` cannot share the windows of `work`, or an empty
/// string.
static std::string explainWindow(WindowAttr window, const CooperativeWork &work,
                                 const LaunchPart &launch) {
  if (work.elements > limits::kMaxWindowChannels)
    return llvm::formatv("schedule_window_c4: a block reduces windows of rows "
                         "of at most {0} elements, got {1}",
                         limits::kMaxWindowChannels, work.elements);
  int64_t elements = window.getElements(), cluster = launch.cluster;
  if (work.elements % elements != 0)
    return llvm::formatv("schedule_window_c1: expected 'elements' to divide "
                         "the {0} elements of the rows of a window, got {1}",
                         work.elements, elements);
  if (cluster > 1 && (work.elements % (elements * cluster) != 0 ||
                      work.elements > elements * cluster * launch.threads))
    return llvm::formatv("schedule_window_c3: {0} blocks of {1} threads with "
                         "{2} elements each cannot share a row of {3} elements",
                         cluster, launch.threads, elements, work.elements);
  int64_t held = elements * window.getVectorsPerThread(
                                work.elements, launch.threads * cluster);
  if (held > kMaxHeldElements)
    return llvm::formatv("schedule_window_c4: {0} threads cannot share a row "
                         "of {1} elements evenly: one would have {2} of them, "
                         "more than {3}",
                         launch.threads, work.elements, held, kMaxHeldElements);
  return "";
}

std::string WindowAttr::explainMisfit(Operation *kernel,
                                      const LaunchPart &launch) const {
  for (auto op : kernel->getRegion(0).front().getOps<RowwiseOpInterface>())
    if (CooperativeWork work = op.getCooperativeWork();
        work.kind == WindowAttr::name)
      if (std::string why = explainWindow(*this, work, launch); !why.empty())
        return nameOp(why, op);
  return "";
}

//===----------------------------------------------------------------------===//
// Prefetching
//===----------------------------------------------------------------------===//

namespace {
/// The maximum number of groups of rows of a segment in flight at a time.
constexpr int64_t kMaxGroups = 12;
/// Registers of a thread for sums, addresses and the arithmetic of a row.
constexpr int64_t kOtherRegisters = 52;
/// Threads of a multiprocessor where the schedule demands no blocks: as many as
/// the schedules of the tables are made for.
constexpr int64_t kUsualThreads = 512;
} // namespace

/// How many groups a lane loads to registers before it uses the first: as many
/// as there are registers for. More than some do not hide more.
static int64_t countGroups(ScheduleAttr schedule, const Segment &segment) {
  auto window = schedule.getPart<WindowAttr>();
  LaunchPart launch = schedule.getLaunch();
  int64_t held = window.getElements() *
                 window.getVectorsPerThread(segment.channels,
                                            launch.threads * launch.cluster);
  int64_t words = 0;
  for (int64_t bits : segment.bits)
    words += llvm::divideCeil(held * bits, 32);
  int64_t resident = launch.minBlocks ? launch.minBlocks * launch.threads
                                      : std::max(launch.threads, kUsualThreads);
  int64_t left =
      std::min(limits::kRegisters / resident, limits::kMaxThreadRegisters) -
      kOtherRegisters;
  int64_t max = std::clamp<int64_t>(segment.members / limits::kSegmentGroupRows,
                                    1, kMaxGroups);
  return std::clamp<int64_t>(left / (limits::kSegmentGroupRows * words), 1,
                             max);
}

/// How many groups the threads of a block have in shared memory, 0 where rows
/// cannot go through it or none would be in flight. The reduced rows are in it,
/// too.
static int64_t countStagedGroups(ScheduleAttr schedule,
                                 const Segment &segment) {
  auto window = schedule.getPart<WindowAttr>();
  LaunchPart launch = schedule.getLaunch();
  int64_t elements = window.getElements(), cluster = launch.cluster;
  // Lanes of a warp have a part of one row each, side by side.
  if (segment.channels % (limits::kWarp * elements * cluster) != 0 ||
      window.getVectorsPerThread(segment.channels, launch.threads * cluster) !=
          1 ||
      schedule.getRowMapping().load != LoadPolicy::Default ||
      !segment.isAligned)
    return 0;
  int64_t bits = 0;
  for (int64_t each : segment.bits)
    bits += elements * each;
  int64_t groupBytes = launch.threads * limits::kSegmentGroupRows * bits / 8;
  int64_t reduced = window.getRows() * 4 * segment.channels;
  int64_t groups =
      std::min({getMaxStagedBytes(launch, reduced) / groupBytes,
                segment.members / limits::kSegmentGroupRows, kMaxGroups});
  return groups > 1 ? groups : 0;
}

Prefetch dsv4::getPrefetch(ScheduleAttr schedule, const Segment &segment) {
  if (int64_t staged = countStagedGroups(schedule, segment))
    return {staged, /*isStaged=*/true};
  return {countGroups(schedule, segment), /*isStaged=*/false};
}
