//===- Dequantize.cpp - Row program of dsv4.dequantize ----------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RowLowerings.h"
#include "ScaleLayout.h"

using namespace mlir;
using namespace dsv4;

namespace {

struct DequantizeLowering
    : RowLoweringInterface::ExternalModel<DequantizeLowering, DequantizeOp> {
  FailureOr<SmallVector<RowValue>> buildRow(Operation *operation,
                                            RowContext &row) const {
    auto op = cast<DequantizeOp>(operation);
    int64_t extent = cast<ShapedType>(op.getData().getType()).getShape().back();
    SmallVector<StoredScales> scales;
    for (auto [i, level, tensor] :
         llvm::enumerate(op.getFormat().getScales(), op.getScales())) {
      bool isOfGroups = level.getGroup() > 0;
      if (ScaleLayout layout = op.getLayoutOfScales(i);
          layout != ScaleLayout::RowMajor) {
        auto runs = locateScales(row, tensor, level.getElement(),
                                 extent / level.getGroup(), layout);
        if (failed(runs))
          return failure();
        runs->name = "group_scale";
        scales.push_back({*runs, level.getGroup()});
        continue;
      }
      StoredVector vector =
          locateWholeRow(row, tensor, isOfGroups ? "group_scale" : "row_scale");
      if (level.getGroup() == FieldAttr::kPerTensor)
        vector.offset = row.constant(0);
      scales.push_back({vector, extent / vector.extent});
    }
    Type result = cast<ShapedType>(op.getOut().getType()).getElementType();
    if (op.getData().getDefiningOp())
      return SmallVector<RowValue>{
          {buildScale(row, row.takeRow(op.getData(), ""), scales, result)}};
    StoredVector data = locateWholeRow(row, op.getData(), "elements");
    data.highFirst = op.getFormat().getHighFirst();
    return SmallVector<RowValue>{{buildDecode(row, data, scales, result)}};
  }
};

} // namespace

void dsv4::attachDequantizeLowering(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, DSV4Dialect *) {
    DequantizeOp::attachInterface<DequantizeLowering>(*context);
  });
}
