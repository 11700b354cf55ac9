//===- CompileCosts.h - What compiling and launching costs ------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_BENCH_COMPILECOSTS_H
#define DSV4_BENCH_COMPILECOSTS_H

#include "Workloads.h"

#include "llvm/Support/JSON.h"

namespace dsv4::bench {

/// Milliseconds of passes and of NVRTC, for the workload and for an empty
/// kernel (alone, and after the device library); of a hit on disk, in a fresh
/// session; microseconds of a hit in memory.
llvm::json::Object measureCompile(Device &device, Workload &workload);

/// CPU time of launching a loaded kernel, and of the bare driver call with
/// parameters that are ready, in microseconds.
llvm::json::Object measureDispatch(Device &device, Workload &workload);

} // namespace dsv4::bench

#endif // DSV4_BENCH_COMPILECOSTS_H
