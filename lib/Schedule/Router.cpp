//===- Router.cpp - Logits of experts to threads --------------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Explain.h"

#include "dsv4/Dialect/CUDA/ScoreOps.h"
#include "dsv4/Dialect/DSV4/KernelOps.h"
#include "dsv4/Dialect/DSV4/RouteOps.h"
#include "dsv4/Schedule/Router.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace dsv4;

/// Rows are multiplied eight at a time.
static constexpr int64_t kProductRows = 8;
/// Steps of tiles in shared memory, at most.
static constexpr int64_t kMaxStages = 8;

LogicalResult RouterAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 RouterForm form, int64_t rows, int64_t experts,
                                 int64_t slices, int64_t step, int64_t stages,
                                 int64_t blocks, bool multicast) {
  bool isRows = form == RouterForm::Rows;
  bool isLegal = isRows ? rows >= 1 && rows <= limits::kMaxRouterRows &&
                              rows % kProductRows == 0 && experts >= 1 &&
                              experts <= limits::kMaxRouterExperts &&
                              experts % limits::kRouterWarpExperts == 0 &&
                              (slices == 1 || slices == 2 || slices == 4)
                        : !rows && !experts && !slices && !multicast;
  if (!isLegal)
    return emitError() << "schedule_router_c2: expected 'rows' to be a "
                          "multiple of 8 up to "
                       << limits::kMaxRouterRows
                       << ", 'experts' one of 16 up to "
                       << limits::kMaxRouterExperts
                       << " and 'slices' 1, 2 or 4 with 'form = rows', and "
                          "none of them, and no 'multicast', with 'form = "
                          "tiles', got "
                       << rows << ", " << experts << " and " << slices;
  isLegal = isRows ? !step && !stages
                   : (step == 64 || step == 128) && stages >= 2 &&
                         stages <= kMaxStages;
  if (!isLegal)
    return emitError() << "schedule_router_c3: expected a 'step' of 64 or 128 "
                          "and 'stages' between 2 and "
                       << kMaxStages
                       << " with 'form = tiles', and none with 'form = rows', "
                          "got "
                       << step << " and " << stages;
  if (blocks < 1 || blocks > INT32_MAX)
    return emitError() << "schedule_router_c4: expected positive 'blocks', got "
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

PartResources RouterAttr::getResources(Operation *kernel,
                                       const LaunchPart &launch,
                                       ArrayRef<Attribute>) const {
  PartResources resources;
  for (auto op : kernel->getRegion(0).getOps<RouterLogitsOp>())
    resources.dynamicBytes +=
        isRows() ? cuda::RouterLogitsOp::getRowsSharedBytes(
                       op.getExperts(), getRows(), getExperts(), getSlices(),
                       launch.cluster)
                 : cuda::RouterLogitsOp::getTilesSharedBytes(
                       op.hasWideWeights() ? 4 : 2, getStep(), getStages());
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
