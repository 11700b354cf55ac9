//===- RowOps.td - All ops of the row dialect -*- tablegen -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ROW_OPS_TD
#define ROW_OPS_TD

include "RowElementOps.td"
include "RowWindowOps.td"
include "RowSelectOps.td"
include "RowScoreOps.td"

#endif // ROW_OPS_TD
