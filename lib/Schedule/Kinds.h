//===- Kinds.h - The kinds of dsv4 ----------------------------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_LIB_SCHEDULE_KINDS_H
#define DSV4_LIB_SCHEDULE_KINDS_H

#include "dsv4/Schedule/ScheduleKind.h"

namespace dsv4 {

const ScheduleKind &getRowsKind();
const ScheduleKind &getWindowKind();
const ScheduleKind &getSelectKind();
const ScheduleKind &getScoreKind();
const ScheduleKind &getRouterKind();
/// All of these.
llvm::ArrayRef<const ScheduleKind *> getBuiltinKinds();

/// Reads the cache policies of a part.
void readPolicies(TableObject &object, LoadPolicy &load, StorePolicy &store);

} // namespace dsv4

#endif // DSV4_LIB_SCHEDULE_KINDS_H
