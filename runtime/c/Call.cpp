//===- Call.cpp - Launches without a block --------------------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Arguments.h"
#include "Handles.h"

using namespace dsv4::c;
using dsv4::rt::Workspace;

/// Launches on a device whose context is current, with the runtime's workspace
/// unless the caller gave one.
static Status launchOnDevice(ProgramState &state, const Loaded &loaded,
                             const Arguments &arguments, uint32_t count,
                             const Workspace *given, void *stream) {
  ContextScope scope(loaded);
  if (Status status = scope.status(); !status)
    return status;
  if (Status status = checkStream(loaded, stream); !status)
    return status;
  Workspace workspace = given ? *given : Workspace();
  if (!given && state.usesWorkspace) {
    Result<uint64_t> bytes =
        loaded.program->workspaceBytes(arguments.get(), count);
    if (!bytes)
      return bytes.status();
    if (*bytes != 0) {
      Result<Workspace> memory = state.runtime->workspaces.get(
          *state.runtime, &state.info().name, *loaded.driver, loaded.device,
          stream, *bytes);
      if (!memory)
        return memory.status();
      workspace = *memory;
    }
  }
  return loaded.program->launch(stream, arguments.get(), count, workspace);
}

static Status launchOnHost(ProgramState &state, const Loaded &loaded,
                           const Arguments &arguments, uint32_t count,
                           const Workspace *given) {
  if (given || !state.usesWorkspace)
    return loaded.program->launch(nullptr, arguments.get(), count,
                                  given ? *given : Workspace());
  Result<uint64_t> bytes =
      loaded.program->workspaceBytes(arguments.get(), count);
  if (!bytes)
    return bytes.status();
  HostWorkspace memory(*bytes);
  return loaded.program->launch(nullptr, arguments.get(), count, memory.get());
}

dsv4_status dsv4_call(dsv4_program *program, const dsv4_argument *arguments,
                      uint32_t count, const dsv4_workspace *workspace,
                      void *stream, dsv4_error **error) {
  return guarded(
      error, program ? program->state->scope() : ErrorScope(), [&]() -> Status {
        if (!program)
          return isNull("program");
        ProgramState &state = *program->state;
        Workspace given;
        if (workspace) {
          if (Status status = readWorkspace(*workspace, given); !status)
            return status;
        }
        Arguments read;
        if (Status status = read.read(state.info(), arguments, count); !status)
          return status;
        if (Status status = checkOverlaps(state.info(), read.get()); !status)
          return status;
        Result<const Loaded *> loaded = state.load(read.device(), stream, true);
        if (!loaded)
          return loaded.status();
        const Workspace *memory = workspace ? &given : nullptr;
        Status status =
            (*loaded)->driver
                ? launchOnDevice(state, **loaded, read, count, memory, stream)
                : launchOnHost(state, **loaded, read, count, memory);
        if (status)
          state.runtime->counters.calls.fetch_add(1, std::memory_order_relaxed);
        return status;
      });
}

dsv4_status dsv4_workspace_bytes(dsv4_program *program,
                                 const dsv4_argument *arguments, uint32_t count,
                                 int32_t device_id, uint64_t *bytes,
                                 dsv4_error **error) {
  return guarded(
      error, program ? program->state->scope() : ErrorScope(), [&]() -> Status {
        if (!program || !bytes)
          return isNull(program ? "bytes" : "program");
        ProgramState &state = *program->state;
        Arguments read;
        if (Status status = read.read(state.info(), arguments, count); !status)
          return status;
        const int index = state.onHost() ? 0 : device_id;
        const Loaded *loaded =
            index >= 0 && index < MaxDevices
                ? state.loaded[size_t(index)].load(std::memory_order_acquire)
                : nullptr;
        if (!loaded)
          return Status(Code::NotPrepared,
                        "program '" + state.info().name +
                            "' is not loaded on device " +
                            std::to_string(device_id) +
                            ": call dsv4_program_load() before")
              .about("program.not_loaded");
        Result<uint64_t> result =
            loaded->program->workspaceBytes(read.get(), count);
        if (!result)
          return result.status();
        *bytes = *result;
        return Status();
      });
}
