//===- Block.cpp - Bound arguments ----------------------------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Block.h"

#include <cstring>

using namespace dsv4::c;
namespace rt = dsv4::rt;
using dsv4::rt::Argument;
using dsv4::rt::Binding;
using dsv4::rt::Workspace;

dsv4_block::dsv4_block(std::shared_ptr<ProgramState> given,
                       const Loaded &loaded)
    : program(std::move(given)), loaded(loaded), bound(*loaded.program),
      stored(program->info().bindings.size()), arguments(stored.size()) {}

void dsv4_block::store(size_t index, const Argument &argument) {
  const Binding &binding = info().bindings[index];
  Stored &to = stored[index];
  Argument &mine = arguments[index];
  if (binding.scalar) {
    std::memcpy(&to.scalar, argument.data,
                size_t(dsv4::rt::getByteSize(binding.storage)));
    mine = {&to.scalar, nullptr, nullptr};
    return;
  }
  const size_t rank = binding.shape.size();
  std::copy_n(argument.shape, rank, to.shape);
  if (argument.strides)
    std::copy_n(argument.strides, rank, to.strides);
  mine = {argument.data, to.shape, argument.strides ? to.strides : nullptr};
}

Status dsv4_block::update() {
  if (Status status = bound.bind(arguments.data(), arguments.size()); !status)
    return status;
  if (Status status = checkOverlaps(info(), arguments.data()); !status)
    return status;
  changed = false;
  return Status();
}

Status dsv4_block::launchOnDevice(void *stream) {
  ContextScope scope(loaded);
  if (Status status = scope.status(); !status)
    return status;
  if (stream != checkedStream) {
    if (Status status = checkStream(loaded, stream); !status)
      return status;
    checkedStream = stream;
  }
  if (bound.workspaceBytes() != 0 && !ownWorkspace) {
    RuntimeState &runtime = *program->runtime;
    Result<Workspace> memory =
        runtime.workspaces.get(runtime, &program->info().name, *loaded.driver,
                               loaded.device, stream, bound.workspaceBytes());
    if (!memory)
      return memory.status();
    if (memory->data != workspace.data || memory->bytes != workspace.bytes) {
      workspace = *memory;
      bound.setWorkspace(workspace);
    }
  }
  return bound.launch(stream);
}

Status dsv4_block::launch(void *stream) {
  if (__builtin_expect(changed, false))
    if (Status status = update(); !status)
      return status;
  if (loaded.driver)
    return launchOnDevice(stream);
  if (bound.workspaceBytes() == 0 || ownWorkspace)
    return bound.launch(stream);
  HostWorkspace memory(bound.workspaceBytes());
  bound.setWorkspace(memory.get());
  Status status = bound.launch(stream);
  bound.setWorkspace({});
  return status;
}

//===----------------------------------------------------------------------===//
// Exported
//===----------------------------------------------------------------------===//

static ErrorScope scopeOf(const dsv4_block *block) {
  return block ? block->program->scope() : ErrorScope();
}

dsv4_status dsv4_bind(dsv4_program *program, const dsv4_argument *arguments,
                      uint32_t count, void *stream, dsv4_block **block,
                      dsv4_error **error) {
  if (block)
    *block = nullptr;
  return guarded(
      error, program ? program->state->scope() : ErrorScope(), [&]() -> Status {
        if (!program || !block)
          return isNull(program ? "block" : "program");
        ProgramState &state = *program->state;
        Arguments read;
        if (Status status = read.read(state.info(), arguments, count); !status)
          return status;
        Result<const Loaded *> loaded =
            state.load(read.device(), stream, stream != nullptr);
        if (!loaded)
          return loaded.status();
        auto made = std::make_unique<dsv4_block>(program->state, **loaded);
        for (uint32_t i = 0; i < count; ++i)
          made->store(i, read.get()[i]);
        if (Status status = made->update(); !status)
          return status;
        ++state.runtime->counters.binds;
        *block = made.release();
        return Status();
      });
}

void dsv4_block_destroy(dsv4_block *block) { delete block; }

/// The error of an index that no binding has.
static Status checkIndex(const dsv4_block &block, uint32_t index) {
  if (index < block.arguments.size())
    return Status();
  return invalid("index", "argument " + std::to_string(index) +
                              " does not exist: program '" + block.info().name +
                              "' takes " +
                              std::to_string(block.arguments.size()));
}

dsv4_status dsv4_set_data(dsv4_block *block, uint32_t index, void *data,
                          dsv4_error **error) {
  return guarded(error, scopeOf(block), [&]() -> Status {
    if (!block)
      return isNull("block");
    if (Status status = checkIndex(*block, index); !status)
      return status;
    if (block->info().bindings[index].scalar)
      return Status(Code::InvalidArgument,
                    "argument '" + block->info().bindings[index].name +
                        "' is a number: set it with dsv4_set_argument()")
          .about("argument.kind", int(index));
    // What changed is packed later, with this address.
    if (!block->changed)
      if (Status status = block->bound.setData(index, data); !status)
        return status;
    block->arguments[index].data = data;
    return Status();
  });
}

dsv4_status dsv4_set_argument(dsv4_block *block, uint32_t index,
                              const dsv4_argument *argument,
                              dsv4_error **error) {
  return guarded(error, scopeOf(block), [&]() -> Status {
    if (!block || !argument)
      return isNull(block ? "argument" : "block");
    if (Status status = checkIndex(*block, index); !status)
      return status;
    Reader reader;
    if (Status status = reader.read(block->info(), index, *argument); !status)
      return status;
    if (Status status = checkDevice(block->info(), index, reader.device,
                                    block->loaded.device);
        !status)
      return status;
    block->store(index, reader.argument);
    // A number is read where it is; it changes no shape.
    if (!block->info().bindings[index].scalar)
      block->changed = true;
    return Status();
  });
}

dsv4_status dsv4_set_dim(dsv4_block *block, uint32_t dim, int64_t extent,
                         dsv4_error **error) {
  return guarded(error, scopeOf(block), [&]() -> Status {
    if (!block)
      return isNull("block");
    const rt::ProgramInfo &info = block->info();
    if (dim >= info.dims.size())
      return invalid("index", "dim " + std::to_string(dim) +
                                  " does not exist: the program has " +
                                  std::to_string(info.dims.size()));
    if (info.dims[dim].isStride)
      return invalid("dim.stride", "dim '" + info.dims[dim].name +
                                       "' is a stride: set the argument with "
                                       "dsv4_set_argument()");
    for (size_t i = 0; i < info.bindings.size(); ++i)
      for (size_t axis = 0; axis < info.bindings[i].shape.size(); ++axis)
        if (info.bindings[i].shape[axis].dim == int(dim))
          block->stored[i].shape[axis] = extent;
    block->changed = true;
    return Status();
  });
}

dsv4_status dsv4_set_workspace(dsv4_block *block,
                               const dsv4_workspace *workspace,
                               dsv4_error **error) {
  return guarded(error, scopeOf(block), [&]() -> Status {
    if (!block)
      return isNull("block");
    Workspace given;
    if (workspace) {
      if (Status status = readWorkspace(*workspace, given); !status)
        return status;
    }
    block->ownWorkspace = workspace != nullptr;
    block->workspace = given;
    block->bound.setWorkspace(given);
    return Status();
  });
}

dsv4_status dsv4_block_check(dsv4_block *block, uint64_t *bytes,
                             dsv4_error **error) {
  return guarded(error, scopeOf(block), [&]() -> Status {
    if (!block)
      return isNull("block");
    if (block->changed)
      if (Status status = block->update(); !status)
        return status;
    if (bytes)
      *bytes = block->bound.workspaceBytes();
    return Status();
  });
}

dsv4_status dsv4_launch(dsv4_block *block, void *stream, dsv4_error **error) {
  return guarded(error, scopeOf(block), [&]() -> Status {
    return __builtin_expect(block != nullptr, true) ? block->launch(stream)
                                                    : isNull("block");
  });
}
