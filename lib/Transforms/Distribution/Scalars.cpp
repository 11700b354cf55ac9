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
    return cuda::SearchOp::create(
               d.getBuilder(), op->getLoc(), search.getFound().getType(),
               d.lookup(search.getBase()), d.getScalar(search.getValue()),
               d.getScalar(search.getCount()))
        .getFound();
  }
};
} // namespace

void dsv4::attachScalarDistributions(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, row::RowDialect *) {
    row::BytesOp::attachInterface<BytesDistribution>(*context);
    row::MayWriteOp::attachInterface<MayWriteDistribution>(*context);
    row::IsLastOp::attachInterface<IsLastDistribution>(*context);
    row::SearchOp::attachInterface<SearchDistribution>(*context);
  });
}
