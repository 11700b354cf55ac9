//===- DSV4Ops.td - All ops of the dsv4 dialect -*- tablegen -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_OPS_TD
#define DSV4_OPS_TD

include "DSV4KernelOps.td"
include "DSV4CacheOps.td"
include "DSV4QuantizeOps.td"
include "DSV4RowOps.td"
include "DSV4WindowOps.td"
include "DSV4SelectOps.td"
include "DSV4ScoreOps.td"
include "DSV4LengthOps.td"
include "DSV4RouteOps.td"

#endif // DSV4_OPS_TD
