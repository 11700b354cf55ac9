//===- Select.h - What follows from schedules of selections ---------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_SCHEDULE_SELECT_H
#define DSV4_SCHEDULE_SELECT_H

#include "dsv4/Dialect/DSV4/Base.h"

namespace dsv4 {

/// Why `select` cannot select `k` of at most `columns` elements, in `groups` if
/// that is not 0, after the clause that says so; or an empty string.
std::string explainSelection(SelectAttr select, const LaunchPart &launch,
                             int64_t k, int64_t columns, int64_t groups,
                             int64_t others);

/// Static shared memory that a block takes to select `k` elements of a row, in
/// bytes.
int64_t getSelectBytes(SelectAttr select, const LaunchPart &launch, int64_t k);

} // namespace dsv4

#endif // DSV4_SCHEDULE_SELECT_H
