//===- Block.h - Bound arguments --------------------------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_RUNTIME_C_BLOCK_H
#define DSV4_RUNTIME_C_BLOCK_H

#include "Arguments.h"
#include "Handles.h"

#include "dsv4-runtime/BoundLaunch.h"

/// The arguments of a program on one device, copied.
struct dsv4_block {
  dsv4_block(std::shared_ptr<dsv4::c::ProgramState> program,
             const dsv4::c::Loaded &loaded);

  /// Takes over the argument of a binding, whose rank is right.
  void store(size_t index, const dsv4::rt::Argument &argument);
  /// Checks and packs what changed.
  dsv4::c::Status update();
  dsv4::c::Status launch(void *stream);

  const dsv4::rt::ProgramInfo &info() const { return program->info(); }

  std::shared_ptr<dsv4::c::ProgramState> program;
  const dsv4::c::Loaded &loaded;
  dsv4::rt::BoundLaunch bound;
  /// What the arguments of the bindings point at.
  struct Stored {
    int64_t shape[dsv4::rt::MaxRank];
    int64_t strides[dsv4::rt::MaxRank];
    int64_t scalar;
  };
  std::vector<Stored> stored;
  std::vector<dsv4::rt::Argument> arguments;
  bool changed = true;       ///< Since the last update().
  bool ownWorkspace = false; ///< The caller gave one.
  dsv4::rt::Workspace workspace;
  void *checkedStream = nullptr; ///< Known to be of the device.

private:
  dsv4::c::Status launchOnDevice(void *stream);
};

#endif // DSV4_RUNTIME_C_BLOCK_H
