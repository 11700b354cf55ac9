//===- Workspaces.cpp - Workspaces of the runtime -------------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Workspaces.h"

#include "CudaDriverAPI.h"
#include "Handles.h"

#include <algorithm>
#include <atomic>

using namespace dsv4::c;
namespace cuda = dsv4::rt::cuda;

/// The minimum that is allocated: far more than most programs need.
static constexpr uint64_t MinBytes = uint64_t(1) << 16;

/// What a stream is known by: its handle, but for the default streams, of which
/// one has two handles, and the other is another stream on each thread. Threads
/// have numbers, which are not used again: the address of a variable of a
/// thread is, while a launch of the one before may still run.
static std::pair<void *, uint64_t> identify(void *stream) {
  static std::atomic<uint64_t> threads = 0;
  static thread_local const uint64_t mine = ++threads;
  switch (reinterpret_cast<uintptr_t>(stream)) {
  case cuda::StreamLegacy:
    return {nullptr, 0};
  case cuda::StreamPerThread:
    return {nullptr, mine};
  default:
    return {stream, 0};
  }
}

Result<dsv4::rt::Workspace> Workspaces::get(const RuntimeState &runtime,
                                            const std::string *program,
                                            rt::Driver &driver, int device,
                                            void *stream, uint64_t bytes) {
  const auto key = std::pair(device, identify(stream));
  {
    std::lock_guard<std::mutex> lock(mutex);
    auto found = workspaces.find(key);
    if (found != workspaces.end() && found->second.bytes >= bytes)
      return found->second;
  }
  const std::string needs =
      (program ? "a launch of program '" + *program + "'"
               : "dsv4_reserve_workspace()") +
      " needs " + std::to_string(bytes) +
      " bytes of workspace, more than the runtime has for its stream, ";
  if (runtime.frozen.load(std::memory_order_relaxed))
    return runtime.notPrepared(
        "workspace.frozen",
        needs + "and the runtime is frozen: call dsv4_reserve_workspace() "
                "before dsv4_freeze()");
  Result<bool> capturing = driver.isCapturing(stream);
  if (!capturing)
    return capturing.status();
  if (*capturing)
    return runtime.notPrepared(
        "workspace.capturing",
        needs + "and the stream captures: launch once on it before the capture "
                "(in C, dsv4_reserve_workspace() does), or give the launch a "
                "workspace");

  rt::Workspace grown;
  {
    std::lock_guard<std::mutex> lock(mutex);
    rt::Workspace &current = workspaces[key];
    if (current.bytes >= bytes) // Of another thread, meanwhile.
      return current;
    // Doubled, so that all memory of a stream is less than twice the largest.
    const uint64_t size = std::max({bytes, 2 * current.bytes, MinBytes});
    Result<void *> memory = driver.allocate(size);
    if (!memory)
      return Status(Code::Unavailable, "no device memory for a workspace of " +
                                           std::to_string(size) + " bytes: " +
                                           memory.status().message())
          .about("memory", -1, memory.status().driverResult());
    if (Status status = driver.fill(*memory, 0, size, stream); !status) {
      (void)driver.release(*memory);
      return status;
    }
    current = {*memory, size};
    held += size;
    grown = current;
  }
  runtime.raise(DSV4_EVENT_WORKSPACE_GREW, "", device, grown.bytes);
  return grown;
}

HostWorkspace::HostWorkspace(uint64_t bytes)
    : memory(new unsigned char[bytes + rt::WorkspaceAlignment]()) {
  auto address = reinterpret_cast<uintptr_t>(memory.get());
  const uintptr_t mask = rt::WorkspaceAlignment - 1;
  workspace = {reinterpret_cast<void *>((address + mask) & ~mask), bytes};
}
