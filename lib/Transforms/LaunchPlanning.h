//===- LaunchPlanning.h - The launch plan of a kernel -----------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_LIB_TRANSFORMS_LAUNCHPLANNING_H
#define DSV4_LIB_TRANSFORMS_LAUNCHPLANNING_H

#include "dsv4-runtime/LaunchPlan.h"
#include "dsv4/Dialect/DSV4/KernelOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace dsv4 {

/// A parameter of an outlined kernel.
struct PlannedParameter {
  mlir::Operation *source; ///< The op that asked for it.
  unsigned argument;       ///< Of the function; a workspace has none.
  mlir::BlockArgument value;
};

/// The launch plan of a kernel of `func` with a row for each row of `rowsOf`,
/// from the schedule and from what the kernel does with its parameters; all but
/// the shared memory. Nothing if `rowsOf` has extents that no argument has.
std::optional<rt::LaunchPlan>
planLaunch(mlir::func::FuncOp func, ScheduleAttr schedule, llvm::StringRef arch,
           mlir::Value rowsOf, llvm::ArrayRef<PlannedParameter> parameters,
           const rt::PlanNames &names);

} // namespace dsv4

#endif // DSV4_LIB_TRANSFORMS_LAUNCHPLANNING_H
