//===- Workspaces.h - Workspaces of the runtime -----------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Zeroed device memory per device and stream, for launches whose
// caller gives none. Memory that became too small stays: graphs may hold it.
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_RUNTIME_C_WORKSPACES_H
#define DSV4_RUNTIME_C_WORKSPACES_H

#include "Errors.h"

#include "dsv4-runtime/LoadedProgram.h"

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace dsv4::c {

struct RuntimeState;

class Workspaces {
public:
  /// The workspace of a stream, of at least `bytes`. A launch of the program
  /// needs it, or dsv4_reserve_workspace() without one.
  /// The device's context is current. Grows unless the stream captures or the
  /// runtime is frozen.
  Result<rt::Workspace> get(const RuntimeState &runtime,
                            const std::string *program, rt::Driver &driver,
                            int device, void *stream, uint64_t bytes);

  uint64_t bytesHeld() const { return held.load(std::memory_order_relaxed); }

private:
  std::mutex mutex;
  /// By device, and what streams are known by.
  std::map<std::pair<int, std::pair<void *, uint64_t>>, rt::Workspace>
      workspaces;
  std::atomic<uint64_t> held{0};
};

/// Zeroed memory of the host for one launch, which ends before it is freed.
class HostWorkspace {
public:
  explicit HostWorkspace(uint64_t bytes);
  rt::Workspace get() const { return workspace; }

private:
  std::unique_ptr<unsigned char[]> memory;
  rt::Workspace workspace;
};

} // namespace dsv4::c

#endif // DSV4_RUNTIME_C_WORKSPACES_H
