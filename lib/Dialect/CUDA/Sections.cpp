//===- Sections.cpp - Rows section by section -----------------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Checks.h"

#include "dsv4/Dialect/CUDA.h"

using namespace mlir;
using namespace dsv4;
using namespace dsv4::cuda;

/// Whether the region is of an index and ends in a value of `type`.
static bool computesSection(Region &body, Type type) {
  auto yield = dyn_cast<SectionYieldOp>(body.front().getTerminator());
  return body.getNumArguments() == 1 &&
         isOffset(body.getArgument(0).getType()) && yield &&
         yield.getValue().getType() == type;
}

//===----------------------------------------------------------------------===//
// FoldSectionsOp
//===----------------------------------------------------------------------===//

LogicalResult FoldSectionsOp::verify() {
  if (static_cast<int64_t>(getBy()) >= 1 &&
      static_cast<int64_t>(getMax()) >= 1 &&
      static_cast<int64_t>(getMax()) <= INT32_MAX)
    return success();
  return emitOpError() << "fold_sections_c2: expected positive 'by' and 'max', "
                          "got "
                       << getByAttr().getInt() << " and "
                       << getMaxAttr().getInt();
}
LogicalResult FoldSectionsOp::verifyRegions() {
  Type number = VectorType::get({1}, Float32Type::get(getContext()));
  if (getFolded().getType() == number && computesSection(getBody(), number))
    return success();
  return emitOpError()
         << "fold_sections_c1: expected a region of an index that "
            "ends in a 'cuda.section_yield' of "
         << number << ", and a result of that type";
}
void FoldSectionsOp::inferResultRanges(ArrayRef<ConstantIntRanges> ranges,
                                       SetIntRangeFn setRange) {
  // Before the end, which lies in the row.
  setArgumentRange(getBody().getArgument(0), 0,
                   std::max<int64_t>(ranges[1].smax().getSExtValue() - 1, 0),
                   setRange);
}
StringRef FoldSectionsOp::getCallee() { return "dsv4::fold_sections"; }
StringRef FoldSectionsOp::getHeader() { return "rows/sections.cuh"; }
SmallVector<TemplateArgument> FoldSectionsOp::getTemplateArguments() {
  StringRef operation = getKind() == ReduceKind::Sum      ? "Sum"
                        : getKind() == ReduceKind::MaxAbs ? "Max"
                                                          : "MaxNaN";
  return {Enumerator{"dsv4", operation}, static_cast<int64_t>(getBy()),
          static_cast<int64_t>(getMax())};
}
SmallVector<CallArgument> FoldSectionsOp::getCallArguments() {
  return {getFirst(), getEnd(), Lambda{&getBody()}};
}

//===----------------------------------------------------------------------===//
// HadamardSectionsOp
//===----------------------------------------------------------------------===//

LogicalResult HadamardSectionsOp::verify() {
  if (llvm::isPowerOf2_64(getBy()) && llvm::isPowerOf2_64(getRow()) &&
      getBy() <= getRow())
    return success();
  return emitOpError() << "hadamard_sections_c2: expected 'by' and 'row' to be "
                          "powers of two, and 'by' not to be larger, got "
                       << getBy() << " and " << getRow();
}
LogicalResult HadamardSectionsOp::verifyRegions() {
  if (computesSection(getBody(), getTransformed().getType()))
    return success();
  return emitOpError() << "hadamard_sections_c1: expected a region of an index "
                          "that ends in a 'cuda.section_yield' of "
                       << getTransformed().getType();
}
void HadamardSectionsOp::inferResultRanges(ArrayRef<ConstantIntRanges>,
                                           SetIntRangeFn setRange) {
  setArgumentRange(getBody().getArgument(0), 0, getRow() - getBy(), setRange);
}
StringRef HadamardSectionsOp::getCallee() { return "dsv4::hadamard_sections"; }
StringRef HadamardSectionsOp::getHeader() { return "rows/sections.cuh"; }
SmallVector<TemplateArgument> HadamardSectionsOp::getTemplateArguments() {
  return {static_cast<int64_t>(getBy()), static_cast<int64_t>(getRow())};
}
SmallVector<CallArgument> HadamardSectionsOp::getCallArguments() {
  return {getSection(), Lambda{&getBody()}};
}
