//===- DSV4.h - The dsv4 dialect -*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_DIALECT_DSV4_H
#define DSV4_DIALECT_DSV4_H

#include "dsv4-layout/Record.h"
#include "dsv4-runtime/LaunchPlan.h"
#include "dsv4-runtime/Status.h"
#include "dsv4/Dialect/RowLowering.h"
#include "dsv4/Reference/Contract.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/InferIntRangeInterface.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "DSV4Dialect.h.inc"
#include "DSV4Enums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "DSV4Attrs.h.inc"

#define GET_TYPEDEF_CLASSES
#include "DSV4Types.h.inc"

namespace dsv4 {

/// The memory of all caches, as far as side effects go.
struct CacheResource : mlir::SideEffects::Resource::Base<CacheResource> {
  llvm::StringRef getName() final { return "dsv4.cache"; }
};

} // namespace dsv4

namespace dsv4::reference {
class Evaluation;
} // namespace dsv4::reference

#include "DSV4Interfaces.h.inc"

#define GET_OP_CLASSES
#include "DSV4Ops.h.inc"

namespace dsv4 {

/// Why `schedule` does not fit the rows of `op`, after the clause that says so
/// (row_schedule_c4, c6 or c7), or an empty string if it does.
std::string explainMisfit(RowScheduleAttr schedule, RowwiseOpInterface op);

/// Elements of a row that one thread may have in registers to select from.
constexpr int64_t kMostHeldOfRow = 32;

/// The same of an op whose rows are read in chunks of columns
/// (row_schedule_c9).
std::string explainMisfitOfColumns(RowScheduleAttr schedule,
                                   RowwiseOpInterface op);

/// The op of a kernel that selects from its rows, or null.
RowwiseOpInterface getSelectingOp(KernelOp kernel);

/// What one warp selects at most, and from how many elements.
constexpr int64_t kMostPlacesOfWarp = 32;
constexpr int64_t kMostColumnsOfWarp = 32 * kMostHeldOfRow;

/// Whether a row of `op` consists of the places of a selection of its kernel.
bool isOfPlaces(RowwiseOpInterface op);

/// Why only the lanes of a warp can select for the rows of `op`
/// (row_schedule_c9), or an empty string.
std::string explainWarp(RowwiseOpInterface op);

/// Whether other ops of its kernel take only single elements of what `op`
/// computes.
bool isPicked(RowwiseOpInterface op);
/// Whether a lane can compute any element of the result, of the same element of
/// the row operand and of numbers of the whole row at most.
bool computesSingly(RowwiseOpInterface op);
/// Whether lanes have shares of the rows of `op`, which is not so where only
/// single elements are computed.
bool hasShares(RowwiseOpInterface op);

/// The most elements of a row that is selected from.
int64_t boundColumns(KernelOp kernel, Selection selection);

/// The row operand of `op` or, where a row-wise op computes that, of its
/// producer, and so on: a value that no row-wise op computes.
mlir::Value getRowSource(RowwiseOpInterface op);

/// Where a kernel of row-wise ops is told how many rows there are: an argument
/// of its body, one of the function's if any op has its rows from there; or
/// null.
mlir::BlockArgument getRowArgument(KernelOp kernel);

/// The most rows a kernel of row-wise ops can have: extents that are constant
/// or in a bucket bound them, the runtime all others.
int64_t boundRows(KernelOp kernel);

/// The contract of the op that computes `value`, for the destination that it is
/// tied to; exact where no op says otherwise.
ResultContract getResultContract(mlir::Value value);

/// The most arguments of a function that dsv4 compiles. A launch takes fewer
/// (rt::MaxBindings); this bounds what is quadratic in them.
constexpr unsigned kMaxArguments = 1024;

/// The name of argument `index` of a function: its `dsv4.name`, or
/// "arg<index>".
std::string getArgumentName(mlir::Operation *func, unsigned index);

/// The name of axis `axis` of argument `index`, or "" if it has none.
llvm::StringRef getDimName(mlir::Operation *func, unsigned index, int64_t axis);

/// What callers and launch plans call the extent of an axis of an argument: the
/// name of its dim, or that of the argument with the axis, or, of a cache, with
/// "pages".
std::string getExtentName(mlir::Operation *func, unsigned index, int64_t axis);
/// What they call the memory of an argument, or of an array field of a cache.
std::string getBindingName(mlir::Operation *func, unsigned index,
                           llvm::StringRef field = "");
/// All of these names of a function, each once.
rt::PlanNames getPlanNames(mlir::Operation *func);

/// The upper bound specialisation found for an axis of an argument.
int64_t getDimBound(mlir::Operation *func, unsigned index, int64_t axis);
/// What the policy of its dim promises the extent to be a multiple of; 1:
/// nothing.
int64_t getDimMultiple(mlir::Operation *func, unsigned index, int64_t axis);

} // namespace dsv4

#endif // DSV4_DIALECT_DSV4_H
