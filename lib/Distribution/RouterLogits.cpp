//===- RouterLogits.cpp - Logits of experts to threads --------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Models.h"

#include "dsv4/Dialect/CUDA/ElementOps.h"
#include "dsv4/Dialect/CUDA/ScoreOps.h"
#include "dsv4/Dialect/Row/ScoreOps.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace dsv4;
using row::Footprint;

static RouterAttr getRouterPart(const Distribution &d) {
  return d.getSchedule().getPart<RouterAttr>();
}

static int64_t getWeightBytes(row::RouterLogitsOp logits) {
  Type element = getElementTypeOrSelf(logits.getWeights().getType());
  return element.getIntOrFloatBitWidth() / 8;
}

/// Whether blocks prefetch weights before they wait for the previous kernel.
static bool waits(const Distribution &d) {
  return getRouterPart(d).isRows() && d.getSchedule().getPdl();
}

/// Elements per vector of a row whose elements are stored.
static constexpr int64_t kVector = limits::kMaxHeldVector;

/// Emits the call. With `held`, the consumer gets whole rows in vectors of
/// `vector` elements.
static void emitCall(row::RouterLogitsOp logits, Distribution &d, Value consume,
                     Value memory, int64_t vector, bool held) {
  RouterAttr part = getRouterPart(d);
  OpBuilder &b = d.getBuilder();
  int64_t experts = getExtent(logits.getLogits());
  auto depth = static_cast<int64_t>(logits.getDepth());
  Value workspace;
  if (part.isRows()) {
    // Of the kernel, not of the region of what consumes rows.
    OpBuilder::InsertionGuard saved(b);
    b.setInsertionPoint(b.getInsertionBlock()->getParentOp());
    workspace = WorkspaceOp::create(
        b, d.getLoc("workspace"),
        MemRefType::get({ShapedType::kDynamic}, b.getI8Type()),
        cuda::RouterLogitsOp::getWorkspaceBytes(
            experts, depth, part.getExperts(), part.getSlices()));
  }
  cuda::RouterLogitsOp::create(
      b, logits.getLoc(), consume, memory, workspace,
      d.getScalar(logits.getHidden()), d.getScalar(logits.getHiddenStride()),
      d.getScalar(logits.getWeights()), d.getScalar(logits.getWeightStride()),
      d.getRowCount(), experts, depth, logits.getHiddenAlign(),
      logits.getWeightAlign(), part.getRows(), part.getExperts(),
      part.getSlices(), d.getSchedule().getCluster(),
      part.isRows() ? vector : 0, part.getStep(), part.getStages(),
      part.getMulticast(), waits(d), held);
}

namespace {
struct RouterLogitsSource
    : row::TileSourceOpInterface::ExternalModel<RouterLogitsSource,
                                                row::RouterLogitsOp> {
  row::TileShape getTileShape(Operation *op, const Distribution &d) const {
    RouterAttr part = getRouterPart(d);
    if (!part)
      return {};
    row::TileShape shape;
    shape.rows = part.getRowsPerBlock();
    shape.columns = getExtent(op->getResult(0));
    shape.warps = part.getThreads() / limits::kWarp;
    shape.countsAllRows = true;
    return shape;
  }

  row::TileResources getTileResources(Operation *op,
                                      const Distribution &d) const {
    RouterAttr part = getRouterPart(d);
    if (!part)
      return {};
    auto logits = cast<row::RouterLogitsOp>(op);
    return {
        part.getThreads(),
        part.isRows()
            ? cuda::RouterLogitsOp::getRowsSharedBytes(
                  getExtent(logits.getLogits()),
                  static_cast<int64_t>(logits.getDepth()), part.getRows(),
                  part.getExperts(), part.getSlices(), getWeightBytes(logits),
                  part.getMulticast())
            : cuda::RouterLogitsOp::getTilesSharedBytes(
                  getWeightBytes(logits), part.getStep(), part.getStages())};
  }

  LogicalResult emitSource(Operation *op, Distribution &d, Value consume,
                           Value memory) const {
    emitCall(cast<row::RouterLogitsOp>(op), d, consume, memory, kVector,
             /*held=*/false);
    return success();
  }

  bool waitsForPreviousKernel(Operation *, const Distribution &d) const {
    return waits(d);
  }
  bool handsOverRows(Operation *) const { return true; }
  LogicalResult emitRows(Operation *op, Distribution &d, Value consume,
                         Value memory, int64_t vector) const {
    if (!getRouterPart(d).isRows())
      return op->emitOpError()
             << "schedule_router_c6: has no whole rows with 'form = tiles': "
                "expected 'form = rows'";
    emitCall(cast<row::RouterLogitsOp>(op), d, consume, memory, vector,
             /*held=*/true);
    return success();
  }
};

/// A row that a warp has got.
struct RouterLogitsDistribution
    : DistributionModel<RouterLogitsDistribution, row::RouterLogitsOp> {
  FailureOr<Value> materialize(Operation *op, Distribution &d, OpResult result,
                               Footprint at) const {
    const View &view = d.getView();
    Value row = d.lookup(result);
    if (row == result || at.group != 1 || !view.access.isColumns())
      return op->emitOpError()
             << "is computed by blocks together: expected a selection with "
                "'algorithm = held', or a 'row.write_tiles'";
    OpBuilder &b = d.getBuilder();
    // A selection takes columns where lanes have them. What it has chosen may
    // be in any lane, and each lane wants another element.
    if (view.lane)
      return cuda::ElementOp::create(b, op->getLoc(),
                                     VectorType::get({1, 1}, b.getF32Type()),
                                     row, view.column)
          .getElement();
    return cuda::ColumnsOp::create(b, op->getLoc(),
                                   d.getFragmentType(b.getF32Type(), at), row,
                                   view.column, limits::kWarp)
        .getVector();
  }
};
} // namespace

void dsv4::attachRouterDistributions(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, row::RowDialect *) {
    row::RouterLogitsOp::attachInterface<RouterLogitsSource,
                                         RouterLogitsDistribution>(*context);
  });
}
