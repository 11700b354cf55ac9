//===- Dequantize.cpp - Row program of dsv4.dequantize -*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RowContext.h"

#include <numeric>

using namespace mlir;
using namespace dsv4;

namespace {

/// The stored elements of row `row` of a tensor with `extent` elements a row.
StoredVector locate(RowContext &row, Value tensor, int64_t extent,
                    StringRef name) {
  StoredVector stored;
  stored.buffer = row.getBuffer(tensor);
  stored.element = cast<ShapedType>(tensor.getType()).getElementType();
  stored.extent = stored.readable = extent;
  int64_t bits = extent * getElementBits(stored.element);
  Type cell = cast<MemRefType>(stored.buffer.getType()).getElementType();
  stored.offset =
      row.mul(row.getRow(), row.constant(bits / getElementBits(cell)));
  stored.alignment = std::gcd<int64_t>(16, bits / 8);
  stored.name = name;
  return stored;
}

struct DequantizeLowering
    : RowLoweringInterface::ExternalModel<DequantizeLowering, DequantizeOp> {
  FailureOr<SmallVector<RowValue>> buildRow(Operation *operation,
                                            RowContext &row) const {
    auto op = cast<DequantizeOp>(operation);
    int64_t extent = cast<ShapedType>(op.getData().getType()).getShape().back();
    SmallVector<StoredFactors> factors;
    for (auto [level, tensor] :
         llvm::zip(op.getFormat().getScales(), op.getScales())) {
      int64_t group = level.getGroup() > 0 ? level.getGroup() : extent;
      StoredVector vector =
          locate(row, tensor, extent / group,
                 level.getGroup() > 0 ? "group_scale" : "row_scale");
      if (level.getGroup() == FieldAttr::kPerTensor)
        vector.offset = row.constant(0);
      factors.push_back({vector, group});
    }
    Type result = cast<ShapedType>(op.getOut().getType()).getElementType();
    RowValue produced = row.lookupRow(op.getData());
    if (!produced.empty())
      return SmallVector<RowValue>{
          {buildScale(row, produced.front(), factors, result)}};
    StoredVector data = locate(row, op.getData(), extent, "elements");
    data.highFirst = op.getFormat().getHighFirst();
    return SmallVector<RowValue>{{buildDecode(row, data, factors, result)}};
  }
};

} // namespace

void dsv4::attachDequantizeLowering(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, DSV4Dialect *) {
    DequantizeOp::attachInterface<DequantizeLowering>(*context);
  });
}
