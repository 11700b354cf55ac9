//===- HostModule.h - A kernel of the host target ---------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The interface between the launch path, which checks arguments and packs
// parameters, and the code that runs the blocks of a host kernel. The launch
// path depends on nothing else of it.
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_RUNTIME_HOSTMODULE_H
#define DSV4_RUNTIME_HOSTMODULE_H

#include "dsv4-runtime/Program.h"
#include "dsv4-runtime/Status.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace dsv4::rt {

/// Dynamic shared memory that a block of the host target may have: the limit of
/// a launch on sm_90.
constexpr uint32_t MaxHostSharedBytes = 227 * 1024;

/// One loaded host kernel.
class HostModule {
public:
  virtual ~HostModule();

  /// Runs a grid of blocks of threads to completion. `params[i]` points at the
  /// value of parameter i: a pointer, an int32_t, an int64_t or a float. Must
  /// be callable from several threads at once.
  virtual Status launch(Dim3 grid, Dim3 block, uint32_t sharedBytes,
                        void **params) = 0;
};

/// Makes a module of the machine code of `kernel` (a shared object).
using HostModuleFactory = std::function<Result<std::unique_ptr<HostModule>>(
    const std::string &image, const KernelInfo &kernel)>;

} // namespace dsv4::rt

#endif // DSV4_RUNTIME_HOSTMODULE_H
