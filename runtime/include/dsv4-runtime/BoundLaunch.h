//===- BoundLaunch.h - A launch that is packed once -------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What an engine launches again and again with the same shapes: its arguments
// are checked and its parameters packed once, so that a launch is little more
// than the driver's.
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_RUNTIME_BOUNDLAUNCH_H
#define DSV4_RUNTIME_BOUNDLAUNCH_H

#include "dsv4-runtime/LoadedProgram.h"

namespace dsv4::rt {

/// Used by one thread at a time. The program must outlive it.
class BoundLaunch {
public:
  explicit BoundLaunch(const LoadedProgram &program);
  ~BoundLaunch();
  BoundLaunch(const BoundLaunch &) = delete;
  BoundLaunch &operator=(const BoundLaunch &) = delete;

  /// Checks arguments as LoadedProgram::launch does, and packs them. If that
  /// fails, the launch stays as it was. Data may be null until the launch. The
  /// values of scalars stay where they are, and may change. Only the first call
  /// allocates.
  Status bind(const Argument *arguments, size_t count);

  /// Another address for the buffer of a binding.
  Status setData(size_t binding, void *data);

  /// What the workspace must have.
  uint64_t workspaceBytes() const { return needed; }
  void setWorkspace(Workspace workspace);

  /// Launches what was bound last. Allocates nothing, and takes no lock, unless
  /// it fails or runs on the host.
  Status launch(Stream stream);

private:
  struct Step;
  Status checkAlignment(size_t binding, const void *data) const;
  void placeUses(const LaunchInputs &inputs, const LaunchShape *shapes);
  [[gnu::cold]] Status notReady() const;

  const LoadedProgram &program;
  std::vector<Step> steps; ///< One per kernel; their addresses are kept.
  /// Where the address of a kernel's buffer is packed: that of the argument and
  /// the bytes before a slice of it. The kernel relies on its alignment.
  struct Use {
    void **slot;
    int64_t offset = 0;
    uint32_t alignment = 1;
  };
  /// Of each binding: the buffers that it has, and whether it is empty.
  struct Buffer {
    std::vector<Use> uses;
    void *data = nullptr;
    bool mayBeNull = true;
  };
  std::vector<Buffer> buffers;
  std::vector<void **> workspaceUses;
  size_t missing = 0; ///< Buffers that are null and may not be.
  uint64_t needed = 0;
  Workspace workspace;
};

} // namespace dsv4::rt

#endif // DSV4_RUNTIME_BOUNDLAUNCH_H
