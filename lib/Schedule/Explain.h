//===- Explain.h - What does not fit a schedule, in words -------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_LIB_SCHEDULE_EXPLAIN_H
#define DSV4_LIB_SCHEDULE_EXPLAIN_H

#include "dsv4/Dialect/DSV4/KernelOps.h"

#include "mlir/IR/Operation.h"
#include "llvm/Support/FormatVariadic.h"

namespace dsv4 {

/// `why` with the op of the kernel that it is about, unless it is empty or
/// names that op already.
inline std::string nameOp(std::string why, mlir::Operation *op) {
  std::string name = llvm::formatv("'{0}'", op->getName());
  if (why.empty() || why.find(name) != std::string::npos)
    return why;
  return why + " (of " + name + ")";
}

/// The strides of the argument of the function that `value` of a kernel is, or
/// null.
inline StridesAttr findStrides(KernelOp kernel, mlir::Value value) {
  auto inner = llvm::dyn_cast<mlir::BlockArgument>(value);
  if (!inner || inner.getOwner() != &kernel.getBody().front())
    return {};
  auto arg = llvm::dyn_cast<mlir::BlockArgument>(
      kernel.getInputs()[inner.getArgNumber()]);
  return arg ? getStrides(arg.getOwner()->getParentOp(), arg.getArgNumber())
             : StridesAttr();
}

} // namespace dsv4

#endif // DSV4_LIB_SCHEDULE_EXPLAIN_H
