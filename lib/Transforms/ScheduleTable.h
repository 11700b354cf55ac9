//===- ScheduleTable.h - Which schedule for which kernel --------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_LIB_TRANSFORMS_SCHEDULETABLE_H
#define DSV4_LIB_TRANSFORMS_SCHEDULETABLE_H

#include "dsv4/Dialect/DSV4.h"

#include <string>
#include <vector>

namespace dsv4 {

/// One row of a schedule table. An empty `op` and 0 `bits` match everything;
/// the longest architecture that is a prefix of the target's wins, then order.
struct TableEntry {
  std::string arch; ///< "sm_90a", "sm_90", "sm_".
  std::string op;   ///< An op of the kernel.
  int64_t bits = 0; ///< Of a stored element of the first piece.
  int64_t threads = 128, lanes = 8, vector = 8, blocks = 0;
  LoadPolicy load = LoadPolicy::Default;
  StorePolicy store = StorePolicy::Default;
  bool pdl = false;
  int64_t team = 0, rows = 0, cluster = 1;
  int64_t most = 0;     ///< The most rows of the kernel that it is for; 0: any.
  int64_t window = 0;   ///< The fewest rows of operands a row takes.
  int64_t width = 0;    ///< The fewest elements of such a row.
  bool grouped = false; ///< For factors that stand for less than a row.
  SelectAlgorithm select = SelectAlgorithm::None;
  int64_t columns = 0; ///< The most elements of a row that is selected from.
  int64_t chunks = 1;
  int64_t places = 0; ///< The most elements that are selected.
  int64_t parts = 1;
};

/// What was measured on an H200, for the family of `arch`.
std::vector<TableEntry> getBuiltinTable(llvm::StringRef arch);

/// Appends what the JSON file `path` has, a list of objects with the names of
/// TableEntry's members. What is wrong is said by `emitError`.
llvm::LogicalResult
readScheduleTable(llvm::StringRef path, mlir::MLIRContext *context,
                  llvm::function_ref<mlir::InFlightDiagnostic()> emitError,
                  std::vector<TableEntry> &entries);

} // namespace dsv4

#endif // DSV4_LIB_TRANSFORMS_SCHEDULETABLE_H
