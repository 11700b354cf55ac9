//===- HostKernel.h - A kernel that runs on the CPU -------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The host's equivalent of a CUDA module: a loaded image of compileHost(). A
// launch returns when every block is done. Its timings are not meaningful.
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_HOST_HOSTKERNEL_H
#define DSV4_HOST_HOSTKERNEL_H

#include "ThreadOrder.h"
#include "dsv4-runtime/HostModule.h"
#include "dsv4-runtime/LaunchPlan.h"
#include "dsv4-runtime/Status.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace dsv4::rt {

class HostKernel {
public:
  /// Loads an image and looks up its kernel `symbol`, which was compiled for
  /// clusters of this shape. After a launch, `warn` receives the accesses out
  /// of range that the kernel skipped.
  static Result<std::unique_ptr<HostKernel>>
  load(const std::string &image, const std::string &symbol,
       const ThreadSchedule &schedule = {},
       std::function<void(const std::string &)> warn = {}, Dim3 cluster = {});
  ~HostKernel();
  HostKernel(const HostKernel &) = delete;
  HostKernel &operator=(const HostKernel &) = delete;

  /// Runs a grid of whole clusters; `params` holds the address of each
  /// parameter, as cuLaunchKernel takes them. Without blocks nothing runs,
  /// which is not an error. Launches of one module wait for each other; those
  /// of different modules do not.
  Status launch(Dim3 grid, Dim3 block, uint32_t sharedBytes, void **params);

  /// Of the launches from now on.
  void setSchedule(const ThreadSchedule &schedule);

private:
  struct Loaded;
  explicit HostKernel(std::unique_ptr<Loaded> loaded);

  std::unique_ptr<Loaded> loaded;
};

/// Makes kernels of the host target for the launch path.
HostModuleFactory hostModules(const ThreadSchedule &schedule,
                              std::function<void(const std::string &)> warn);

} // namespace dsv4::rt

#endif // DSV4_HOST_HOSTKERNEL_H
