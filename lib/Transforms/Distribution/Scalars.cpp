//===- Scalars.cpp - Scalar ops of row programs ---------------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsv4/Transforms/DistributionModel.h"

using namespace mlir;
using namespace dsv4;
using row::Footprint;

namespace {
struct BytesDistribution : DistributionModel<BytesDistribution, row::BytesOp> {
  FailureOr<Value> materialize(Operation *op, Distribution &d, OpResult,
                               Footprint) const {
    auto bytes = cast<row::BytesOp>(op);
    return cuda::BytesOp::create(
               d.getBuilder(), op->getLoc(), bytes.getMemory().getType(),
               d.getScalar(bytes.getBase()),
               bytes.getOffset() ? d.getScalar(bytes.getOffset()) : Value())
        .getMemory();
  }
};

struct MayWriteDistribution
    : DistributionModel<MayWriteDistribution, row::MayWriteOp> {
  FailureOr<Value> materialize(Operation *op, Distribution &d, OpResult,
                               Footprint) const {
    auto may = cast<row::MayWriteOp>(op);
    return cuda::InPoolOp::create(
               d.getBuilder(), op->getLoc(), may.getValid().getType(),
               d.getScalar(may.getCondition()), d.getScalar(may.getPage()),
               d.getScalar(may.getPages()))
        .getValid();
  }
};

struct IsLastDistribution
    : DistributionModel<IsLastDistribution, row::IsLastOp> {
  FailureOr<Value> materialize(Operation *op, Distribution &d, OpResult,
                               Footprint) const {
    auto last = cast<row::IsLastOp>(op);
    OpBuilder &b = d.getBuilder();
    // The threads of a block search together if each has a row of its own.
    bool together = d.getMaxRows() > limits::kMaxAloneElements &&
                    d.haveAllThreadsRows() && last.getAt() == d.getRowIndex();
    return cuda::IsLastOp::create(
               b, op->getLoc(), last.getLast().getType(),
               d.lookup(last.getBase()), d.getScalar(last.getAt()),
               d.getScalar(last.getCount()),
               together ? d.getRowCount() : Value(), d.getMap().lanes,
               together ? d.getSchedule().getThreads() : 0,
               together ? limits::kMaxAloneElements : 0)
        .getLast();
  }
};

struct SearchDistribution
    : DistributionModel<SearchDistribution, row::SearchOp> {
  FailureOr<Value> materialize(Operation *op, Distribution &d, OpResult,
                               Footprint) const {
    auto search = cast<row::SearchOp>(op);
    int64_t lanes = d.getMap().lanes;
    // The rows of a warp search together if they are few.
    bool together = lanes >= limits::kMinSearchLanes &&
                    d.haveAllThreadsRows() &&
                    d.getMap().getThreads() == lanes &&
                    search.getValue() == d.getRowIndex();
    return cuda::SearchOp::create(
               d.getBuilder(), op->getLoc(), search.getFound().getType(),
               d.lookup(search.getBase()), d.getScalar(search.getValue()),
               d.getScalar(search.getCount()),
               together ? d.getRowCount() : Value(), together ? lanes : 1)
        .getFound();
  }
};
} // namespace

/// The elements of the array that `search` reads: other ops may read those
/// after the ones that it searches.
static Value getSearchedExtent(row::SearchOp search) {
  if (auto buffer = search.getBase().getDefiningOp<BufferOp>())
    for (Operation *user : buffer.getSource().getUsers())
      if (auto extent = dyn_cast<ExtentOp>(user); extent && !extent.getAxis())
        return extent;
  return search.getCount();
}

void Distribution::prefetchSearched() {
  if (!schedule.getPdl())
    return;
  for (auto search : forall.getBody()->getOps<row::SearchOp>()) {
    Value extent = getSearchedExtent(search);
    if (dependsOnMemory(extent))
      continue;
    Location loc = forall.getLoc();
    auto type = cast<MemRefType>(search.getBase().getType());
    int64_t elements = limits::kLineBytes * 8 / type.getElementTypeBitWidth();
    Value thread = gpu::ThreadIdOp::create(
        b, loc, gpu::Dimension::x, b.getIndexAttr(schedule.getThreads()));
    Value block = gpu::BlockIdOp::create(b, loc, gpu::Dimension::x,
                                         b.getIndexAttr(INT32_MAX));
    Value offset = arith::MulIOp::create(b, getLoc("searched"), thread,
                                         constant(elements));
    Value isFirst = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                          block, constant(0));
    Value isThere = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt,
                                          offset, getScalar(extent));
    cuda::PrefetchOp::create(b, loc, search.getBase(), offset,
                             arith::AndIOp::create(b, loc, isFirst, isThere),
                             /*l2=*/true);
  }
}

void dsv4::attachScalarDistributions(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, row::RowDialect *) {
    row::BytesOp::attachInterface<BytesDistribution>(*context);
    row::MayWriteOp::attachInterface<MayWriteDistribution>(*context);
    row::IsLastOp::attachInterface<IsLastDistribution>(*context);
    row::SearchOp::attachInterface<SearchDistribution>(*context);
  });
}
