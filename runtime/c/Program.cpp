//===- Program.cpp - Programs and what they take --------------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Elements.h"
#include "Handles.h"
#include "Structs.h"

#include "dsv4-runtime/Entry.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

template <>
constexpr uint32_t dsv4::c::FirstSize<dsv4_binding> =
    offsetof(dsv4_binding, alignment);

using namespace dsv4::c;
namespace rt = dsv4::rt;
using dsv4::rt::Binding;
using dsv4::rt::Extent;

static constexpr off_t MaxEntryBytes = off_t(256) << 20;

static_assert(DSV4_MAX_RANK == dsv4::rt::MaxRank);
static_assert(DSV4_WORKSPACE_ALIGNMENT == dsv4::rt::WorkspaceAlignment);

//===----------------------------------------------------------------------===//
// Opening
//===----------------------------------------------------------------------===//

Result<std::shared_ptr<ProgramState>>
dsv4::c::openProgram(std::shared_ptr<RuntimeState> runtime, std::string bytes) {
  std::string key;
  Result<rt::CompiledProgram> compiled = rt::parse(bytes, "", &key);
  if (!compiled)
    return compiled.status();
  auto state = std::make_shared<ProgramState>();
  state->runtime = std::move(runtime);
  state->compiled = compiled.take();
  state->bytes = std::move(bytes);
  state->key = std::move(key);
  for (const rt::KernelInfo &kernel : state->info().kernels)
    state->usesWorkspace |= !kernel.plan.workspaceBytes.isConstant(0);
  ++state->runtime->counters.programs;
  return state;
}

/// The bytes of a regular file of sensible size.
static Result<std::string> readFile(const char *path) {
  const std::string name = std::string("'") + path + "'";
  // O_NONBLOCK: a FIFO of that name must not hang us.
  const int file = ::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  auto fail = [&](const std::string &what) {
    if (file >= 0)
      ::close(file);
    return invalid("file", "entry " + name + what);
  };
  struct stat info;
  if (file < 0 || ::fstat(file, &info) != 0)
    return fail(std::string(" cannot be opened: ") + std::strerror(errno));
  if (!S_ISREG(info.st_mode) || info.st_size > MaxEntryBytes)
    return fail(" is not a regular file of at most 256 MB");
  std::string bytes(size_t(info.st_size), '\0');
  size_t done = 0;
  while (done < bytes.size()) {
    ssize_t count = ::read(file, &bytes[done], bytes.size() - done);
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return fail(std::string(" cannot be read: ") + std::strerror(errno));
    if (count == 0)
      break;
    done += size_t(count);
  }
  bytes.resize(done);
  ::close(file);
  return bytes;
}

dsv4_status dsv4_program_open_memory(dsv4_runtime *runtime, const void *bytes,
                                     size_t count, dsv4_program **program,
                                     dsv4_error **error) {
  if (program)
    *program = nullptr;
  return guarded(error, scopeOf(runtime), [&]() -> Status {
    if (!runtime || !bytes || !program)
      return isNull(!runtime ? "runtime" : !bytes ? "bytes" : "program");
    if (count > size_t(MaxEntryBytes))
      return invalid("entry.size", "the entry has " + std::to_string(count) +
                                       " bytes, expected at most 256 MB");
    auto state = openProgram(
        runtime->state, std::string(static_cast<const char *>(bytes), count));
    if (!state)
      return state.status();
    *program = new dsv4_program{state.take()};
    return Status();
  });
}

dsv4_status dsv4_program_open(dsv4_runtime *runtime, const char *path,
                              dsv4_program **program, dsv4_error **error) {
  if (program)
    *program = nullptr;
  return guarded(error, scopeOf(runtime), [&]() -> Status {
    if (!runtime || !path || !program)
      return isNull(!runtime ? "runtime" : !path ? "path" : "program");
    Result<std::string> bytes = readFile(path);
    if (!bytes)
      return bytes.status();
    auto state = openProgram(runtime->state, bytes.take());
    if (!state)
      return Status(state.status().code(),
                    std::string("'") + path + "': " + state.status().message())
          .about(state.status().id());
    *program = new dsv4_program{state.take()};
    return Status();
  });
}

void dsv4_program_destroy(dsv4_program *program) { delete program; }

static ErrorScope scopeOf(const dsv4_program *program) {
  return program ? program->state->scope() : ErrorScope();
}

dsv4_status dsv4_program_bytes(const dsv4_program *program, const void **bytes,
                               size_t *count, dsv4_error **error) {
  return guarded(error, scopeOf(program), [&]() -> Status {
    if (!program || !bytes || !count)
      return isNull(!program ? "program" : !bytes ? "bytes" : "count");
    *bytes = program->state->bytes.data();
    *count = program->state->bytes.size();
    return Status();
  });
}

dsv4_status dsv4_program_load(dsv4_program *program, int32_t device_id,
                              void *stream, dsv4_error **error) {
  return guarded(error, scopeOf(program), [&]() -> Status {
    if (!program)
      return isNull("program");
    return program->state->load(device_id, stream, stream != nullptr).status();
  });
}

//===----------------------------------------------------------------------===//
// Queries
//===----------------------------------------------------------------------===//

dsv4_status dsv4_program_query(const dsv4_program *program,
                               dsv4_program_info *info, dsv4_error **error) {
  return guarded(error, scopeOf(program), [&]() -> Status {
    if (!program)
      return isNull("program");
    const ProgramState &state = *program->state;
    dsv4_program_info value = {};
    value.target = state.onHost() ? DSV4_TARGET_HOST : DSV4_TARGET_CUDA;
    value.name = state.info().name.c_str();
    value.arch = state.info().arch.c_str();
    value.key = state.key.c_str();
    value.bindings = uint32_t(state.info().bindings.size());
    value.dims = uint32_t(state.info().dims.size());
    value.kernels = uint32_t(state.info().kernels.size());
    return writeStruct(info, "dsv4_program_info", value);
  });
}

/// The error of an index beyond `count` things.
static Status checkIndex(uint32_t index, size_t count, const char *what) {
  if (index < count)
    return Status();
  return invalid("index", std::string(what) + " " + std::to_string(index) +
                              " does not exist: the program has " +
                              std::to_string(count));
}

/// Bytes between neighbours along each axis, or -1.
static void getStrides(const Binding &binding, int64_t *strides) {
  int64_t contiguous = rt::getByteSize(binding.storage);
  for (size_t axis = binding.shape.size(); axis-- > 0;) {
    strides[axis] = contiguous;
    if (axis < binding.strides.size())
      strides[axis] =
          binding.strides[axis].dim < 0 ? binding.strides[axis].constant : -1;
    const Extent &extent = binding.shape[axis];
    if (extent.dim >= 0 || contiguous < 0 ||
        __builtin_mul_overflow(contiguous, extent.constant, &contiguous))
      contiguous = -1;
  }
}

/// The alignment of the first element that kernels rely on.
static uint32_t getAlignment(const rt::ProgramInfo &info, uint32_t binding) {
  uint32_t alignment = 1;
  for (const rt::KernelInfo &kernel : info.kernels)
    for (const rt::Parameter &parameter : kernel.plan.parameters)
      if (parameter.kind == rt::Parameter::Kind::Buffer &&
          parameter.binding == int(binding) && parameter.offset.isConstant(0))
        alignment = std::max(alignment, parameter.alignment);
  return alignment;
}

dsv4_status dsv4_program_binding(const dsv4_program *program, uint32_t index,
                                 dsv4_binding *binding, dsv4_error **error) {
  return guarded(error, scopeOf(program), [&]() -> Status {
    if (!program)
      return isNull("program");
    const rt::ProgramInfo &info = program->state->info();
    if (Status status = checkIndex(index, info.bindings.size(), "binding");
        !status)
      return status;
    const Binding &from = info.bindings[index];
    dsv4_binding value = {};
    value.rank = int32_t(from.shape.size());
    value.name = from.name.c_str();
    value.element = from.element.c_str();
    value.type = getStorageType(from.storage);
    value.element_bytes = uint32_t(rt::getByteSize(from.storage));
    value.written = from.written;
    value.scalar = from.scalar;
    value.strided = !from.strides.empty();
    for (size_t axis = 0; axis < from.shape.size(); ++axis) {
      const Extent &extent = from.shape[axis];
      value.extents[axis] = extent.dim < 0 ? extent.constant : -1;
      value.dims[axis] = extent.dim < 0 ? -1 : extent.dim;
    }
    getStrides(from, value.strides);
    value.alignment = getAlignment(info, index);
    return writeStruct(binding, "dsv4_binding", value);
  });
}

int32_t dsv4_program_find_binding(const dsv4_program *program,
                                  const char *name) {
  if (!program || !name)
    return -1;
  const auto &bindings = program->state->info().bindings;
  for (size_t i = 0; i < bindings.size(); ++i)
    if (bindings[i].name == name)
      return int32_t(i);
  return -1;
}

dsv4_status dsv4_program_dim(const dsv4_program *program, uint32_t index,
                             dsv4_dim *dim, dsv4_error **error) {
  return guarded(error, scopeOf(program), [&]() -> Status {
    if (!program)
      return isNull("program");
    const rt::ProgramInfo &info = program->state->info();
    if (Status status = checkIndex(index, info.dims.size(), "dim"); !status)
      return status;
    const rt::Dim &from = info.dims[index];
    dsv4_dim value = {};
    value.binding = from.binding;
    value.name = from.name.c_str();
    value.axis = from.axis;
    value.is_stride = from.isStride;
    value.min = from.min;
    value.max = from.max;
    value.multiple = from.multiple;
    return writeStruct(dim, "dsv4_dim", value);
  });
}

dsv4_status dsv4_program_kernel(const dsv4_program *program, uint32_t index,
                                dsv4_kernel *kernel, dsv4_error **error) {
  return guarded(error, scopeOf(program), [&]() -> Status {
    if (!program)
      return isNull("program");
    const ProgramState &state = *program->state;
    if (Status status =
            checkIndex(index, state.info().kernels.size(), "kernel");
        !status)
      return status;
    const rt::KernelInfo &from = state.info().kernels[index];
    dsv4_kernel value = {};
    value.registers = from.registers;
    value.symbol = from.symbol.c_str();
    value.schedule = from.schedule.c_str();
    value.spill_bytes = from.spillBytes;
    value.image_bytes = uint32_t(state.compiled.images[index].size());
    for (unsigned axis = 0; axis < 3; ++axis) {
      value.block[axis] = from.plan.block[axis];
      value.cluster[axis] = from.plan.cluster[axis];
    }
    value.uses_workspace = !from.plan.workspaceBytes.isConstant(0);
    return writeStruct(kernel, "dsv4_kernel", value);
  });
}
