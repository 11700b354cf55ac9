//===- Router.cpp - Logits of experts to threads --------------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Router.h"
#include "Explain.h"

#include "dsv4/Dialect/CUDA/ScoreOps.h"
#include "dsv4/Dialect/DSV4/KernelOps.h"
#include "dsv4/Dialect/DSV4/RouteOps.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace dsv4;

using EmitError = function_ref<InFlightDiagnostic()>;

/// Refuses numbers of the other form.
static LogicalResult
verifyNone(EmitError emitError, StringRef clause, RouterForm form,
           ArrayRef<std::pair<StringRef, int64_t>> numbers) {
  for (auto [name, number] : numbers)
    if (number != 0)
      return emitError() << clause << ": expected no '" << name
                         << "' with 'form = " << stringifyRouterForm(form)
                         << "'";
  return success();
}

static LogicalResult verifyMultiple(EmitError emitError, StringRef name,
                                    int64_t number, int64_t unit, int64_t max) {
  if (number >= unit && number <= max && number % unit == 0)
    return success();
  return emitError() << "schedule_router_c2: expected '" << name
                     << "' to be a multiple of " << unit << " between " << unit
                     << " and " << max << " with 'form = rows', got " << number;
}

/// Clause c2.
static LogicalResult verifyRows(EmitError emitError, int64_t rows,
                                int64_t experts, int64_t slices) {
  if (failed(verifyMultiple(emitError, "rows", rows, kRouterProductRows,
                            limits::kMaxRouterRows)) ||
      failed(verifyMultiple(emitError, "experts", experts,
                            limits::kRouterWarpExperts,
                            limits::kMaxRouterExperts)))
    return failure();
  if (slices < 1 || slices > kMaxRouterSlices || !llvm::isPowerOf2_64(slices))
    return emitError() << "schedule_router_c2: expected 'slices' to be 1, 2 "
                          "or 4 with 'form = rows', got "
                       << slices;
  constexpr int64_t maxWarps = limits::kMaxThreads / limits::kWarp;
  int64_t warps = experts / limits::kRouterWarpExperts * slices;
  if (warps > maxWarps)
    return emitError() << "schedule_router_c2: expected at most " << maxWarps
                       << " warps, 'experts' / " << limits::kRouterWarpExperts
                       << " * 'slices', got " << warps;
  return success();
}

/// Clause c3.
static LogicalResult verifyTiles(EmitError emitError, int64_t step,
                                 int64_t stages) {
  if (step != kMinRouterStep && step != kMaxRouterStep)
    return emitError() << "schedule_router_c3: expected 'step' to be "
                       << kMinRouterStep << " or " << kMaxRouterStep
                       << " with 'form = tiles', got " << step;
  if (stages < kMinRouterStages || stages > kMaxRouterStages)
    return emitError() << "schedule_router_c3: expected 'stages' between "
                       << kMinRouterStages << " and " << kMaxRouterStages
                       << " with 'form = tiles', got " << stages;
  return success();
}

LogicalResult RouterAttr::verify(EmitError emitError, RouterForm form,
                                 int64_t rows, int64_t experts, int64_t slices,
                                 int64_t step, int64_t stages, int64_t blocks,
                                 bool multicast) {
  if (form == RouterForm::Rows) {
    if (failed(verifyRows(emitError, rows, experts, slices)) ||
        failed(verifyNone(emitError, "schedule_router_c3", form,
                          {{"step", step}, {"stages", stages}})))
      return failure();
  } else if (failed(verifyNone(emitError, "schedule_router_c2", form,
                               {{"rows", rows},
                                {"experts", experts},
                                {"slices", slices},
                                {"multicast", multicast}})) ||
             failed(verifyTiles(emitError, step, stages))) {
    return failure();
  }
  if (blocks < 1 || blocks > INT32_MAX)
    return emitError() << "schedule_router_c4: expected 'blocks' between 1 and "
                          "2^31 - 1, got "
                       << blocks;
  return success();
}

int64_t RouterAttr::getThreads() const {
  if (!isRows())
    return limits::kRouterTileThreads;
  return limits::kWarp * (getExperts() / limits::kRouterWarpExperts) *
         getSlices();
}

LogicalResult
RouterAttr::verifyLaunch(function_ref<InFlightDiagnostic()> emitError,
                         const LaunchPart &launch) const {
  if (launch.threads != getThreads() || (!isRows() && launch.cluster != 1))
    return emitError() << "schedule_router_c1: expected " << getThreads()
                       << " 'threads'" << (isRows() ? "" : " and no 'cluster'")
                       << ", got " << launch.threads << " and a cluster of "
                       << launch.cluster;
  if (getMulticast() && launch.cluster == 1)
    return emitError() << "schedule_router_c5: expected a 'cluster' of more "
                          "than 1 with 'multicast'";
  return success();
}

int64_t RouterAttr::countExpertBlocks(int64_t experts) const {
  return llvm::divideCeil(experts,
                          isRows() ? getExperts() : limits::kRouterTileExperts);
}

int64_t RouterAttr::countBlocks(int64_t experts, int64_t depth) const {
  int64_t parts =
      isRows() ? llvm::divideCeil(depth, getSlices() * limits::kRouterSlice)
               : 1;
  return countExpertBlocks(experts) * parts;
}

//===----------------------------------------------------------------------===//
// Schedules and kernels
//===----------------------------------------------------------------------===//

bool dsv4::canMulticast(RouterLogitsOp op, KernelOp kernel) {
  constexpr int64_t bytes = limits::kMaxAccessBits / 8;
  if (op.getDepth() * 2 % bytes != 0)
    return false;
  StridesAttr strides = findStrides(kernel, op.getHidden());
  return !strides || strides.getAlign() >= bytes;
}

/// Why the part does not fit `op`, or an empty string.
static std::string explainOp(RouterAttr part, const LaunchPart &launch,
                             RouterLogitsOp op, KernelOp kernel) {
  int64_t blocks = part.countBlocks(op.getExperts(), op.getDepth());
  if (part.getBlocks() != blocks)
    return llvm::formatv("schedule_router_c4: {0} blocks share rows of {1} "
                         "experts of {2} elements, got {3}; expected 'blocks = "
                         "{0}'",
                         blocks, op.getExperts(), op.getDepth(),
                         part.getBlocks());
  int64_t along = part.countExpertBlocks(op.getExperts());
  if (along % launch.cluster != 0)
    return llvm::formatv("schedule_router_c4: the blocks of a cluster have the "
                         "same elements of different experts; expected a "
                         "'cluster' that divides the {0} blocks along the "
                         "experts, got {1}",
                         along, launch.cluster);
  if (part.getMulticast() && !canMulticast(op, kernel))
    return "schedule_router_c5: 'multicast' needs hidden rows that are aligned "
           "to 16 bytes, and a multiple of 8 elements; expected no 'multicast'";
  if (!part.isRows() && getSelectingOp(kernel))
    return "schedule_router_c6: a selection needs whole rows; expected 'form = "
           "rows'";
  return "";
}

std::string RouterAttr::explainMisfit(Operation *kernel,
                                      const LaunchPart &launch) const {
  auto typed = cast<KernelOp>(kernel);
  for (auto op : typed.getBody().front().getOps<RouterLogitsOp>())
    if (std::string why = explainOp(*this, launch, op, typed); !why.empty())
      return nameOp(why, op);
  return "";
}

/// A thread has no rows of its own.
std::optional<RowMapping> RouterAttr::getRowMapping() const {
  return RowMapping();
}

PartGeometry RouterAttr::getGeometry(const LaunchPart &launch) const {
  PartGeometry geometry;
  geometry.rowsPerBlock = getRowsPerBlock();
  geometry.blocksPerRow = std::max<int64_t>(getBlocks() / launch.cluster, 1);
  geometry.maxCluster = isRows() ? limits::kMaxPortableCluster : 1;
  return geometry;
}

PartResources RouterAttr::getResources(Operation *kernel, const LaunchPart &,
                                       ArrayRef<Attribute>) const {
  PartResources resources;
  for (auto op : kernel->getRegion(0).getOps<RouterLogitsOp>()) {
    int64_t weightBytes = op.hasWideWeights() ? 4 : 2;
    resources.dynamicBytes +=
        isRows() ? cuda::RouterLogitsOp::getRowsSharedBytes(
                       op.getExperts(), op.getDepth(), getRows(), getExperts(),
                       getSlices(), weightBytes, getMulticast())
                 : cuda::RouterLogitsOp::getTilesSharedBytes(
                       weightBytes, getStep(), getStages());
  }
  return resources;
}

std::string RouterAttr::describe(const LaunchPart &launch) const {
  if (!isRows())
    return llvm::formatv("logits of {0} x {1} experts by tensor cores, {2} "
                         "stages of {3} elements",
                         getRowsPerBlock(), limits::kRouterTileExperts,
                         getStages(), getStep());
  std::string line = llvm::formatv(
      "logits of {0} rows x {1} experts x {2} elements by tensor "
      "cores, {3} blocks",
      getRows(), getExperts(), getSlices() * limits::kRouterSlice, getBlocks());
  if (launch.cluster > 1)
    line += llvm::formatv(" in clusters of {0}", launch.cluster);
  return line;
}
