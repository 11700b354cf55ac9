//===- FormDeviceCalls.cpp - Arithmetic to calls of the device library ----===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsv4/Passes.h"

#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace dsv4;

namespace dsv4 {
#define GEN_PASS_DEF_CUDAFORMDEVICECALLS
#include "dsv4/Passes.h.inc"
} // namespace dsv4

/// What `value` is an exact f32 image of, of at most 8 bits, or null.
static Value getWidened(Value value) {
  Operation *op = value.getDefiningOp();
  if (!isa_and_present<arith::ExtFOp, arith::SIToFPOp>(op))
    return nullptr;
  auto from = cast<ShapedType>(op->getOperand(0).getType());
  return from.getElementTypeBitWidth() <= 8 ? op->getOperand(0) : nullptr;
}

namespace {

/// extf(values) * expand(scales)
struct FormDequantize : OpRewritePattern<arith::MulFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::MulFOp op,
                                PatternRewriter &rewriter) const override {
    auto type = dyn_cast<VectorType>(op.getType());
    if (!type || type.getRank() != 2 || !type.getElementType().isF32())
      return rewriter.notifyMatchFailure(op, "not an f32 tile");
    auto expand = op.getRhs().getDefiningOp<cuda::ExpandOp>();
    Value values = expand ? getWidened(op.getLhs()) : nullptr;
    if (!values)
      return rewriter.notifyMatchFailure(op, "not stored elements by scales");
    Value scales = expand.getScales();
    if (Value narrow = getWidened(scales);
        narrow && isa<arith::ExtFOp>(scales.getDefiningOp()))
      scales = narrow;
    rewriter.replaceOpWithNewOp<cuda::DequantizeOp>(op, type, values, scales);
    return success();
  }
};

/// encode(values / expand(scales)), of elements and scales as they are
/// stored.
struct FormQuantize : OpRewritePattern<row::EncodeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(row::EncodeOp op,
                                PatternRewriter &rewriter) const override {
    auto quotient = op.getSource().getDefiningOp<arith::DivFOp>();
    if (op.getUp() ||
        cast<VectorType>(op.getPayload().getType()).getRank() != 2 || !quotient)
      return rewriter.notifyMatchFailure(op, "not a quotient to nearest");
    auto expand = quotient.getRhs().getDefiningOp<cuda::ExpandOp>();
    if (!expand)
      return rewriter.notifyMatchFailure(op, "not by shared scales");
    Value values = quotient.getLhs(), scales = expand.getScales();
    if (auto widened = values.getDefiningOp<arith::ExtFOp>();
        widened && getElementTypeOrSelf(widened.getIn()).isBF16())
      values = widened.getIn();
    if (Value narrow = getWidened(scales))
      scales = narrow;
    rewriter.replaceOpWithNewOp<cuda::QuantizeOp>(
        op, op.getPayload().getType(), values, scales, op.getTiesDown(),
        op.getDropNegativeZero());
    return success();
  }
};

/// truncf(dequantize)
struct RoundInDequantize : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::TruncFOp op,
                                PatternRewriter &rewriter) const override {
    auto product = op.getIn().getDefiningOp<cuda::DequantizeOp>();
    if (!product || !getElementTypeOrSelf(op.getType()).isBF16() ||
        op.getRoundingmodeAttr())
      return rewriter.notifyMatchFailure(op, "not a product as bf16");
    if (!product->hasOneUse())
      return rewriter.notifyMatchFailure(op, "the product itself is used, too");
    rewriter.replaceOpWithNewOp<cuda::DequantizeOp>(
        op, op.getType(), product.getValues(), product.getScales());
    return success();
  }
};

/// An op of row that is the same on a fragment becomes the device call of that
/// name, with the same attributes.
struct FormSame : OpTraitRewritePattern<row::SameOnFragments> {
  using OpTraitRewritePattern::OpTraitRewritePattern;

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    std::string name = cuda::CUDADialect::getDialectNamespace().str() + "." +
                       op->getName().stripDialect().str();
    auto call = RegisteredOperationName::lookup(name, op->getContext());
    if (!call)
      return rewriter.notifyMatchFailure(op, "no device call of its name");
    OperationState state(op->getLoc(), *call, op->getOperands(),
                         op->getResultTypes(), op->getAttrs());
    rewriter.replaceOp(op, rewriter.create(state));
    return success();
  }
};

struct CudaFormDeviceCalls
    : dsv4::impl::CudaFormDeviceCallsBase<CudaFormDeviceCalls> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<FormDequantize, FormQuantize, RoundInDequantize>(
        &getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      return signalPassFailure();
    // What no larger call has taken is one by itself.
    RewritePatternSet rest(&getContext());
    rest.add<FormSame>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(rest))))
      signalPassFailure();
  }
};

} // namespace
