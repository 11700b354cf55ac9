//===- IndexScore.cpp - Scores of keys, as tiles --------------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsv4/Dialect/IndexFormats.h"
#include "dsv4/Dialect/Row.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace dsv4;
using namespace dsv4::row;

#define GET_OP_CLASSES
#include "RowScoreOps.cpp.inc"

//===----------------------------------------------------------------------===//
// IndexScoreOp
//===----------------------------------------------------------------------===//

LogicalResult IndexScoreOp::verify() {
  if (failed(verifyIndexFormats(*this)))
    return failure();
  for (IntegerAttr number :
       {getHeadsAttr(), getDimAttr(), getPageSizeAttr(), getQueryAlignAttr(),
        getKeyAlignAttr(), getScaleAlignAttr(), getPageAlignAttr()})
    if (number.getInt() < 1)
      return emitOpError() << "index_score_c2: expected positive 'heads', "
                              "'dim', 'page_size' and alignments, got "
                           << number.getInt();
  for (IntegerAttr number :
       {getEntryBytesAttr(), getScaleEntryBytesAttr(), getReadersAttr()})
    if (number.getInt() < 0)
      return emitOpError() << "index_score_c2: expected 'entry_bytes', "
                              "'scale_entry_bytes' and 'readers' that are not "
                              "negative, got "
                           << number.getInt();
  return success();
}

/// Whether a region of `arguments` indices ends in a row.yield of `results`.
static bool isIndexRegion(Region &region, unsigned arguments,
                          unsigned results) {
  auto yield = dyn_cast<row::YieldOp>(region.front().getTerminator());
  auto isIndex = [](Type type) { return type.isIndex(); };
  return yield && region.getNumArguments() == arguments &&
         yield.getNumOperands() == results &&
         llvm::all_of(region.getArgumentTypes(), isIndex) &&
         llvm::all_of(yield.getOperandTypes(), isIndex);
}

LogicalResult IndexScoreOp::verifyRegions() {
  if (isIndexRegion(getRow(), 0, 5) && isIndexRegion(getPage(), 1, 1))
    return success();
  return emitOpError() << "index_score_c3: expected regions of () and (number) "
                          "that end in a 'row.yield' of five indices and of "
                          "one";
}

//===----------------------------------------------------------------------===//
// WriteTilesOp
//===----------------------------------------------------------------------===//

LogicalResult WriteTilesOp::verify() {
  Type element = getElementTypeOrSelf(getBase().getType());
  if (element.isF32() || element.isBF16() || element.isF16())
    return success();
  return emitOpError()
         << "write_tiles_c1: expected a base of f32, bf16 or f16, got "
         << getBase().getType();
}
