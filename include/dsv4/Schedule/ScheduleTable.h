//===- ScheduleTable.h - Tables of schedules ------------------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_SCHEDULE_SCHEDULETABLE_H
#define DSV4_SCHEDULE_SCHEDULETABLE_H

#include "dsv4/Schedule/ScheduleKind.h"

#include <string>
#include <vector>

namespace dsv4 {

/// One schedule of a table, and the kernels that it is for.
struct TableEntry {
  std::string arch = "sm_";     ///< "sm_90a", "sm_9", "sm_": a beginning.
  std::vector<std::string> ops; ///< The kernel has all of them.
  int64_t maxRows = 0;          ///< That the kernel can have; 0: any number.
  std::string provenance;       ///< Where it was measured, or that it was not.
  LaunchPart launch;
  std::vector<std::shared_ptr<const PartEntry>> parts;

  bool appliesTo(KernelOp kernel, llvm::StringRef target) const;
  /// The first candidate that fits `kernel` on `target`, or null. `why`: why
  /// the last one does not.
  ScheduleAttr fit(KernelOp kernel, llvm::StringRef target,
                   std::string &why) const;
};

/// A schedule table: a list of entries, or an object of `entries` with the
/// `arch` and the `provenance` that they have unless they say otherwise.
class ScheduleTable {
public:
  /// Reads a table of JSON, as `name` in errors.
  llvm::LogicalResult read(llvm::StringRef text, llvm::StringRef name,
                           mlir::MLIRContext *context, EmitError emitError);
  /// Reads the file `path`.
  llvm::LogicalResult readFile(llvm::StringRef path, mlir::MLIRContext *context,
                               EmitError emitError);
  /// Reads the built-in tables for the family of `arch`, and those of dialects.
  /// Without `arch`: all built-in ones.
  llvm::LogicalResult readBuiltin(mlir::MLIRContext *context,
                                  EmitError emitError,
                                  llvm::StringRef arch = "");

  /// The entry for a kernel: of those with the longest `arch` the first. Null
  /// if there is none.
  const TableEntry *find(KernelOp kernel, llvm::StringRef arch) const;
  llvm::ArrayRef<TableEntry> getEntries() const { return entries; }

private:
  std::vector<TableEntry> entries;
};

} // namespace dsv4

#endif // DSV4_SCHEDULE_SCHEDULETABLE_H
