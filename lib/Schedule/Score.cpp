//===- Score.cpp - Scores of keys to threads ------------------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsv4/Schedule/Score.h"

#include "Explain.h"

#include "dsv4/Dialect/CUDA/ScoreOps.h"
#include "dsv4/Dialect/DSV4/KernelOps.h"
#include "dsv4/Dialect/RecordLayout.h"

#include <numeric>

using namespace mlir;
using namespace dsv4;

/// Warpgroups of a block that compute.
static int64_t getWarpgroups(const LaunchPart &launch) {
  return launch.threads / limits::kWarpgroup - 1;
}

int64_t dsv4::getStageUnit(const LaunchPart &launch) {
  return std::lcm<int64_t>(2, std::max<int64_t>(getWarpgroups(launch), 1));
}

LogicalResult ScoreAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                ScoreAlgorithm algorithm, int64_t rows,
                                int64_t tiles, int64_t stages, int64_t slots,
                                bool persistent) {
  bool isMma = algorithm == ScoreAlgorithm::Mma;
  int64_t maxRows = isMma ? kMaxMmaRows : kMaxRows;
  if (rows < 1 || rows > maxRows)
    return emitError() << "schedule_score_c2: expected 'rows' between 1 and "
                       << maxRows << ", got " << rows;
  if (!isMma && (tiles || stages || slots))
    return emitError() << "schedule_score_c3: expected no '"
                       << (tiles    ? "tiles"
                           : stages ? "stages"
                                    : "slots")
                       << "' without 'algorithm = mma'";
  if (isMma && (tiles < 1 || tiles > 2))
    return emitError() << "schedule_score_c3: expected 'tiles' to be 1 or 2, "
                          "got "
                       << tiles;
  if (isMma && (stages < 2 || stages > kMaxStages || stages % 2 != 0))
    return emitError() << "schedule_score_c3: expected 'stages' to be an even "
                          "number between 2 and "
                       << kMaxStages << ", got " << stages;
  if (isMma && (slots < 1 || slots > kMaxSlots))
    return emitError() << "schedule_score_c3: expected 'slots' between 1 and "
                       << kMaxSlots << ", got " << slots;
  if (persistent && !isMma)
    return emitError() << "schedule_score_c4: expected 'algorithm = mma' of a "
                          "schedule that is 'persistent'";
  return success();
}

LogicalResult
ScoreAttr::verifyLaunch(function_ref<InFlightDiagnostic()> emitError,
                        const LaunchPart &launch) const {
  int64_t warpgroups = getWarpgroups(launch);
  if (isMma() && (launch.threads % limits::kWarpgroup != 0 || warpgroups < 1 ||
                  warpgroups > limits::kMaxScoreWarpgroups))
    return emitError() << "schedule_score_c1: expected 'threads' to be 2 to "
                       << limits::kMaxScoreWarpgroups + 1 << " times "
                       << limits::kWarpgroup << " with 'algorithm = mma', got "
                       << launch.threads;
  if (isMma() && launch.minBlocks != 1)
    return emitError() << "schedule_score_c1: expected 'min_blocks' of 1 with "
                          "'algorithm = mma', got "
                       << launch.minBlocks;
  if (isMma() && getStages() % warpgroups != 0)
    return emitError() << "schedule_score_c3: expected 'stages' to be a "
                          "multiple of the "
                       << warpgroups << " warpgroups that compute, got "
                       << getStages();
  return success();
}

//===----------------------------------------------------------------------===//
// Schedules and kernels
//===----------------------------------------------------------------------===//

/// Bytes that tensor cores need queries, and keys, to be aligned to.
static constexpr int64_t kQueryBytes = 16, kKeyBytes = 4;

/// Why tensor cores cannot read vectors of `tensor`, or an empty string.
static std::string explainArray(KernelOp kernel, Value tensor, int64_t align,
                                bool isKeys, StringRef name) {
  StridesAttr strides = tensor ? findStrides(kernel, tensor) : StridesAttr();
  if (!strides)
    return "";
  if (strides.getAlign() < align)
    return llvm::formatv("schedule_score_c5: '{0}' are aligned to {1} bytes, "
                         "and 'algorithm = mma' needs {2}; expected "
                         "'algorithm = plain'",
                         name, strides.getAlign(), align);
  // Elements of one axis without a stride follow each other.
  if (!isKeys || strides.getStrides().empty())
    return "";
  int64_t apart = strides.getStrides()[0];
  if (ShapedType::isDynamic(apart) || apart == 0)
    return llvm::formatv("schedule_score_c5: the row stride of '{0}' is {1}, "
                         "and 'algorithm = mma' needs a constant that is not "
                         "0; expected 'algorithm = plain'",
                         name, apart == 0 ? "0" : "known at run time only");
  return "";
}

/// Why tensor cores cannot read the vectors of a field, or an empty string.
static std::string explainField(CacheType cache, StridesAttr strides,
                                FieldAttr field) {
  int64_t align = getPosition(cache, field).alignment;
  if (strides)
    align = std::min<int64_t>(align, strides.getAlign());
  if (align >= kKeyBytes)
    return "";
  return llvm::formatv("schedule_score_c5: the field '{0}' is aligned to {1} "
                       "bytes, and 'algorithm = mma' needs {2}; expected "
                       "'algorithm = plain'",
                       field.getName(), align, kKeyBytes);
}

static std::string explainKeys(IndexScoreOp op, KernelOp kernel) {
  if (op.getKeys()) {
    std::string why =
        explainArray(kernel, op.getKeys(), kKeyBytes, true, "keys");
    return why.empty() ? explainArray(kernel, op.getKeyScales(), kKeyBytes,
                                      true, "key_scales")
                       : why;
  }
  auto cache = cast<CacheType>(op.getCache().getType());
  StridesAttr strides = findStrides(kernel, op.getCache());
  std::string why = explainField(cache, strides, op.getKeyField());
  if (why.empty())
    why = explainField(cache, strides, op.getKeyScaleField());
  if (why.empty() && op.getStarts())
    return "schedule_score_c5: 'starts' of keys of a cache are for 'algorithm "
           "= plain'";
  return why;
}

std::string dsv4::explainScores(ScoreAlgorithm algorithm, IndexScoreOp op,
                                KernelOp kernel) {
  if (algorithm == ScoreAlgorithm::Plain)
    return "";
  StringRef query = op.getQueryFormat(), key = op.getKeyFormat();
  if (query == "bf16" || key == "bf16" || op.getDim() != limits::kScoreDim)
    return llvm::formatv(
        "schedule_score_c5: 'algorithm = mma' scores queries in e4m3 or mxfp4 "
        "and keys in e4m3, mxfp4 or nvfp4 with a dim of {0}, got {1}, {2} and "
        "{3}; expected 'algorithm = plain'",
        limits::kScoreDim, query, key, op.getDim());
  std::string why =
      explainArray(kernel, op.getQueries(), kQueryBytes, false, "queries");
  if (why.empty())
    why = explainArray(kernel, op.getScales(), kKeyBytes, false, "scales");
  return why.empty() ? explainKeys(op, kernel) : why;
}

bool dsv4::sharesKeys(IndexScoreOp op) {
  return op.getKeys() ? !op.getStarts()
                      : op.getNextN().value_or(1) > 1 && !op.getRequests();
}

/// Why the rows of a block do not share their keys, or an empty string.
static std::string explainRows(int64_t rows, IndexScoreOp op) {
  if (rows == 1 ||
      (sharesKeys(op) && (op.getKeys() || *op.getNextN() % rows == 0)))
    return "";
  return llvm::formatv("schedule_score_c5: the {0} rows of a block need the "
                       "same keys with 'algorithm = mma'; expected 'rows' that "
                       "divides next_n without 'requests', or 1",
                       rows);
}

std::string ScoreAttr::explainMisfit(Operation *kernel,
                                     const LaunchPart &) const {
  auto typed = cast<KernelOp>(kernel);
  if (getPersistent() && getSelectingOp(typed))
    return "schedule_score_c4: a selection needs all keys of a row in one "
           "block or cluster; expected a schedule that is not 'persistent'";
  for (auto op : typed.getBody().front().getOps<IndexScoreOp>()) {
    std::string why = explainScores(getAlgorithm(), op, typed);
    if (why.empty() && isMma())
      why = explainRows(getRows(), op);
    if (why.empty() && isMma() && op.getKeyFormat() == "nvfp4" &&
        getTiles() != 1)
      why = "schedule_score_c5: keys in nvfp4 are scored in one tile at a "
            "time; expected 'tiles' to be 1";
    if (!why.empty())
      return nameOp(why, op);
  }
  return "";
}

/// A thread has no rows of its own.
std::optional<RowMapping> ScoreAttr::getRowMapping() const {
  return RowMapping();
}

PartGeometry ScoreAttr::getGeometry(const LaunchPart &launch) const {
  PartGeometry geometry;
  geometry.rowsPerBlock = getRows();
  geometry.tileColumns = getColumns(launch.threads);
  geometry.isPersistent = getPersistent();
  return geometry;
}

PartResources ScoreAttr::getResources(Operation *kernel,
                                      const LaunchPart &launch,
                                      ArrayRef<Attribute>) const {
  PartResources resources;
  for (auto op : kernel->getRegion(0).getOps<IndexScoreOp>())
    resources.dynamicBytes +=
        isMma() ? cuda::IndexScoreOp::getMmaSharedBytes(
                      getRows(), op.getHeads(), op.getKeyFormat(), getTiles(),
                      getStages(), getSlots())
                : cuda::IndexScoreOp::getSharedBytes(getRows(), op.getHeads(),
                                                     op.getDim());
  return resources;
}

std::string ScoreAttr::describe(const LaunchPart &launch) const {
  if (!isMma())
    return llvm::formatv("scores of {0} x {1} keys at a time", getRows(),
                         getColumns(launch.threads));
  return llvm::formatv("scores of {0} x {1} keys at a time by tensor cores, "
                       "{2} stages{3}",
                       getRows(), getColumns(launch.threads), getStages(),
                       getPersistent() ? ", a block per multiprocessor" : "");
}
