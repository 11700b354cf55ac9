//===- Score.cpp - Scores of keys to threads ------------------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsv4/Dialect/CUDA/ScoreOps.h"
#include "dsv4/Dialect/DSV4/KernelOps.h"
#include "dsv4/Dialect/DSV4/ScoreOps.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace dsv4;

LogicalResult ScoreAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                int64_t columns, int64_t rows) {
  if (columns < limits::kWarp || columns > limits::kMaxThreads ||
      columns % limits::kWarp != 0)
    return emitError() << "schedule_score_c1: expected 'columns' to be the "
                          "threads of the launch, got "
                       << columns;
  if (rows < 1 || rows > kMaxRows)
    return emitError() << "schedule_score_c2: expected 'rows' between 1 and "
                       << kMaxRows << ", got " << rows;
  return success();
}

LogicalResult
ScoreAttr::verifyLaunch(function_ref<InFlightDiagnostic()> emitError,
                        const LaunchPart &launch) const {
  if (launch.threads == getColumns() && launch.cluster == 1)
    return success();
  return emitError() << "schedule_score_c1: expected " << getColumns()
                     << " 'threads', one per column, and no cluster, got "
                     << launch.threads << " and a cluster of "
                     << launch.cluster;
}

std::string ScoreAttr::explainMisfit(Operation *, const LaunchPart &) const {
  return "";
}

/// A thread has no rows of its own.
std::optional<RowMapping> ScoreAttr::getRowMapping() const {
  return RowMapping();
}

PartGeometry ScoreAttr::getGeometry(const LaunchPart &) const {
  PartGeometry geometry;
  geometry.rowsPerBlock = getRows();
  geometry.tileColumns = getColumns();
  return geometry;
}

PartResources ScoreAttr::getResources(Operation *kernel, const LaunchPart &,
                                      ArrayRef<Attribute>) const {
  PartResources resources;
  for (auto op : kernel->getRegion(0).getOps<IndexScoreOp>())
    resources.dynamicBytes += cuda::IndexScoreOp::getSharedBytes(
        getRows(), op.getHeads(), op.getDim());
  return resources;
}

std::string ScoreAttr::describe(const LaunchPart &) const {
  return llvm::formatv("scores of {0} x {1} keys at a time", getRows(),
                       getColumns());
}
