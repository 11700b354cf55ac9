//===- LeaveOutOps.h - Makes a failing program smaller ----------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_TESTING_LEAVEOUTOPS_H
#define DSV4_TESTING_LEAVEOUTOPS_H

namespace dsv4 {

/// Registers the pass `dsv4-leave-out-ops{test=PROGRAM}`, which removes one op
/// after the other as long as the program PROGRAM, called with the remaining
/// file, exits with status 1. Results of an op are replaced by its
/// destinations.
void registerLeaveOutOpsPass();

} // namespace dsv4

#endif // DSV4_TESTING_LEAVEOUTOPS_H
