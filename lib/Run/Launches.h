//===- Launches.h --- Whether launches have equal results -------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_RUN_LAUNCHES_H
#define DSV4_RUN_LAUNCHES_H

#include "dsv4/Signature.h"
#include "dsv4/Testing/RandomInputs.h"

namespace dsv4 {

/// What launches of a program must agree on: all bytes that it can write, of
/// selections without an order only which elements they are.
reference::InputSet makeComparable(mlir::func::FuncOp func,
                                   const Signature &signature,
                                   const reference::InputSet &results);

/// The first difference of the results of a launch to those of the first one,
/// or an empty string.
std::string explainLaunch(const Signature &signature,
                          reference::InputSet &first,
                          reference::InputSet &again);

} // namespace dsv4

#endif // DSV4_RUN_LAUNCHES_H
