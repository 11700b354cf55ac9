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
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace dsv4 {

/// What a kernel does with memory, by the effects of its ops.
struct MemoryUse {
  bool reads = false, writes = false;
  int64_t alignment = 1; ///< In bytes, that an access relies on.
};
MemoryUse getMemoryUse(mlir::Value memory);

/// Whether an op of a kernel asks for a parameter of the kernel.
bool isParameter(mlir::Operation *op);

/// A parameter of an outlined kernel.
struct PlannedParameter {
  mlir::Operation *source; ///< The op that asked for it.
  unsigned argument;       ///< Of the function; a workspace has none.
  mlir::BlockArgument value;
};

/// A grid that a kernel gives itself.
struct PlannedGrid {
  /// Blocks along x, y and z; fewer than three: one along those left.
  llvm::SmallVector<rt::Expression, 3> extents;
  /// What block ids of the kernel rely on.
  rt::Condition requirements;
};

/// What the dsv4.grid of `kernel`, in `func`, comes to, or no extents if there
/// is none. Erases it, and bounds the block ids of the kernel by what the
/// runtime launches. Failure, and an error, if an extent is not arithmetic of
/// launch plans, or if an axis that the kernel reads has none.
mlir::FailureOr<PlannedGrid> planGrid(mlir::func::FuncOp func, KernelOp kernel,
                                      const rt::PlanNames &names);

/// The launch plan of a kernel of `func` with a row for each index of the first
/// `axes` of `rowsOf`, from the schedule and from what the kernel does with its
/// parameters; all but the shared memory. The schedule says how many blocks
/// there are if `grid` does not. Nothing if `rowsOf` has extents that no
/// argument has.
std::optional<rt::LaunchPlan>
planLaunch(mlir::func::FuncOp func, ScheduleAttr schedule, llvm::StringRef arch,
           mlir::Value rowsOf, int64_t axes, const PlannedGrid &grid,
           llvm::ArrayRef<PlannedParameter> parameters,
           const rt::PlanNames &names);

} // namespace dsv4

#endif // DSV4_LIB_TRANSFORMS_LAUNCHPLANNING_H
