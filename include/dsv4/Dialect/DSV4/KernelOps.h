//===- KernelOps.h - Kernels, and queries of passes -------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_DIALECT_DSV4_KERNELOPS_H
#define DSV4_DIALECT_DSV4_KERNELOPS_H

#include "dsv4/Dialect/DSV4/Base.h"

#define GET_OP_CLASSES
#include "DSV4KernelOps.h.inc"

namespace dsv4 {

/// Why `schedule` does not fit `kernel` on `arch`, beginning with the violated
/// clause (schedule_c5, c6, c8 and the clauses of its parts), or an empty
/// string if it does. Without `arch`: on any architecture.
std::string explainMisfit(ScheduleAttr schedule, KernelOp kernel,
                          llvm::StringRef arch = "");
/// Why `arch` cannot launch a kernel with `schedule` and `dynamicBytes` bytes
/// of dynamic shared memory, or an empty string.
std::string explainArch(ScheduleAttr schedule, llvm::StringRef arch,
                        int64_t dynamicBytes = 0);

/// The parts of `schedule` that `kernel` needs: those of its cooperative ops,
/// and one that maps their rows to threads.
llvm::SmallVector<mlir::Attribute> getUsedParts(ScheduleAttr schedule,
                                                KernelOp kernel);

/// The cooperative work of a kernel: that of its first op that has any.
CooperativeWork getCooperativeWork(KernelOp kernel);
/// The same for one kind of schedule part.
CooperativeWork getCooperativeWork(KernelOp kernel, llvm::StringRef kind);

/// The first op of a kernel that selects from its rows, or null.
SelectionOpInterface getSelectingOp(KernelOp kernel);

/// Whether a row of `op` consists of ranks of a selection of its kernel.
bool isOfRanks(RowwiseOpInterface op);

/// Whether the threads that do `selecting`, which reads rows in parts, hold
/// whole rows of the results of `op`, too.
bool holdsRowsOf(mlir::Operation *selecting, RowwiseOpInterface op);
/// Whether its kernel stores results of `op`.
bool isYielded(RowwiseOpInterface op);

/// Whether the lowering of `op` reads `operand` by index if an op of its kernel
/// computes it.
bool readsByIndex(mlir::OpOperand &operand);
/// Whether other ops of its kernel read only single elements of what `op`
/// computes, by index.
bool isReadByIndex(RowwiseOpInterface op);
/// Whether a thread can compute any element of the result by itself, except for
/// statistics of the whole row.
bool providesElements(RowwiseOpInterface op);
/// Whether elements of the result depend on statistics of the whole row, which
/// are found before any of them.
bool takesStatistics(RowwiseOpInterface op);
/// The number of neighbouring columns of the result that a thread computes
/// together; 0 if it needs the whole row.
int64_t getColumnUnit(RowwiseOpInterface op);
/// Whether lanes hold fragments of the rows of `op`. They do not if only single
/// elements are computed.
bool holdsFragments(RowwiseOpInterface op);

/// The maximum number of elements of a row of the source of `work`.
int64_t boundColumns(KernelOp kernel, const CooperativeWork &work);

/// The row operand of `op` or, if a row-wise op computes it, of its producer,
/// and so on: a value that no row-wise op computes.
mlir::Value getRowSource(RowwiseOpInterface op);

/// The axes of the iteration space of rows of `rowSource`: constants, names of
/// dims, or "?".
llvm::SmallVector<std::string> describeIterationSpace(mlir::Value rowSource);

/// The argument of a kernel's body that determines its number of rows, or null.
/// An argument of the function is preferred.
mlir::BlockArgument getRowArgument(KernelOp kernel);

/// The argument of the function that an argument of a kernel's body is or, if
/// it is a result of another kernel, that this is stored to; or null.
mlir::BlockArgument getFunctionArgument(KernelOp kernel,
                                        mlir::BlockArgument argument);

/// The maximum number of rows of a kernel of row-wise ops: constant extents and
/// buckets bound them, the runtime bounds all others.
int64_t boundRows(KernelOp kernel);

/// The contract of the op that computes `value`, for its destination; exact by
/// default.
ResultContract getResultContract(mlir::Value value);

/// The maximum number of arguments of a function that dsv4 compiles. A launch
/// takes fewer (rt::MaxBindings); this bounds work that is quadratic in them.
constexpr unsigned kMaxArguments = 1024;

/// The name of argument `index` of a function: its `dsv4.name`, or
/// "arg<index>".
std::string getArgumentName(mlir::Operation *func, unsigned index);

/// The name of axis `axis` of argument `index`, or "" if it has none.
llvm::StringRef getDimName(mlir::Operation *func, unsigned index, int64_t axis);

/// The name of the extent of an axis of an argument in calls and launch plans:
/// the name of its dim, or that of the argument with the axis or, for a cache,
/// with "pages".
std::string getExtentName(mlir::Operation *func, unsigned index, int64_t axis);
/// The name of the memory of an argument, or of an array field of a cache.
std::string getBindingName(mlir::Operation *func, unsigned index,
                           llvm::StringRef field = "");
/// The strides of an argument, or null: it is contiguous.
StridesAttr getStrides(mlir::Operation *func, unsigned index);
/// The slice of another argument that an argument is, or null.
ViewAttr getView(mlir::Operation *func, unsigned index);
/// The name of a stride of an argument, or of an array field of a cache.
std::string getStrideName(mlir::Operation *func, unsigned index, int64_t axis,
                          llvm::StringRef field = "");
/// The buffers of a cache that have pages: the fields in its pages under the
/// empty name, and array fields.
llvm::SmallVector<llvm::StringRef> getPagedBuffers(CacheType cache);
/// Bytes of a page in one of them.
int64_t getPageBytes(CacheType cache, llvm::StringRef buffer);
/// All of these names of a function, each once.
rt::PlanNames getPlanNames(mlir::Operation *func);

/// The upper bound specialisation found for an axis of an argument.
int64_t getDimBound(mlir::Operation *func, unsigned index, int64_t axis);
/// The promised divisor of the extent, from the policy of its dim; 1: none.
int64_t getDimMultiple(mlir::Operation *func, unsigned index, int64_t axis);

} // namespace dsv4

#endif // DSV4_DIALECT_DSV4_KERNELOPS_H
