//===- Arguments.cpp - Views of arrays as arguments -----------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Arguments.h"

#include "Elements.h"
#include "Structs.h"

using namespace dsv4::c;
using dsv4::rt::Argument;
using dsv4::rt::Binding;
using dsv4::rt::ProgramInfo;

[[gnu::cold]] static Status wrong(Code code, const ProgramInfo &program,
                                  size_t index, const char *id,
                                  const std::string &what) {
  return Status(code, "argument '" + program.bindings[index].name + "' " + what)
      .about(id, int(index));
}

/// The same error with the argument it is about.
[[gnu::cold]] static Status at(const Status &status, const ProgramInfo &program,
                               size_t index) {
  return Status(status.code(), "argument '" + program.bindings[index].name +
                                   "': " + status.message())
      .about(status.id(), int(index));
}

//===----------------------------------------------------------------------===//
// One argument
//===----------------------------------------------------------------------===//

static const char *printDevice(int32_t type) {
  switch (type) {
  case DSV4_DEVICE_CPU:
    return "in CPU memory";
  case DSV4_DEVICE_CUDA:
    return "in CUDA memory";
  case DSV4_DEVICE_CUDA_HOST:
    return "in pinned CPU memory";
  case DSV4_DEVICE_CUDA_MANAGED:
    return "in managed memory";
  default:
    return "in memory of an unknown kind";
  }
}

/// "[tokens, 37440]"
static std::string printShape(const ProgramInfo &program,
                              const Binding &binding) {
  std::string text = "[";
  for (const dsv4::rt::Extent &extent : binding.shape)
    text += (text.size() > 1 ? ", " : "") +
            (extent.dim < 0 ? std::to_string(extent.constant)
                            : program.dims[size_t(extent.dim)].name);
  return text + "]";
}

Status Reader::checkMemory(const ProgramInfo &program, size_t index,
                           dsv4_type type, int32_t deviceType, int32_t deviceId,
                           int32_t rank, uint32_t flags) {
  const Binding &binding = program.bindings[index];
  const bool isTyped = type.code || type.bits || type.lanes;
  if (isTyped && !acceptsType(binding, type))
    return wrong(Code::TypeMismatch, program, index, "argument.type",
                 "has elements of type " + print(type) + ", expected " +
                     printAccepted(binding));
  if (rank < 0 || size_t(rank) != binding.shape.size())
    return wrong(Code::InvalidArgument, program, index, "argument.rank",
                 "has rank " + std::to_string(rank) + ", expected " +
                     std::to_string(binding.shape.size()) + ": " +
                     printShape(program, binding));
  if (rank > 0 && !argument.shape)
    return wrong(Code::InvalidArgument, program, index, "argument.null",
                 "has no shape: pass " + std::to_string(rank) + " extents");
  if ((flags & DSV4_ARGUMENT_READ_ONLY) && binding.written)
    return wrong(Code::InvalidArgument, program, index, "argument.read_only",
                 "is read-only, and the program writes it: pass a writable "
                 "array");
  if (binding.scalar && !argument.data)
    return wrong(Code::InvalidArgument, program, index, "argument.null",
                 "is null: pass the address of its value");
  if (deviceType == DSV4_DEVICE_UNKNOWN)
    return Status();
  const bool isHost = binding.scalar || program.target == "host";
  const bool isCPU =
      deviceType == DSV4_DEVICE_CPU || deviceType == DSV4_DEVICE_CUDA_HOST;
  const bool isCUDA =
      deviceType == DSV4_DEVICE_CUDA || deviceType == DSV4_DEVICE_CUDA_MANAGED;
  if (isHost ? !isCPU : !isCUDA)
    return wrong(Code::TypeMismatch, program, index, "argument.device",
                 std::string("is ") + printDevice(deviceType) + ", expected " +
                     (binding.scalar ? "a number in CPU memory"
                      : isHost       ? "CPU memory: the program was compiled "
                                       "for the host"
                                     : "memory of a CUDA device: the program "
                                       "was compiled for CUDA"));
  if (!isHost)
    device = deviceId;
  return Status();
}

Status Reader::readTensor(const ProgramInfo &program, size_t index,
                          const dsv4_tensor &tensor, uint32_t flags) {
  argument = {tensor.data, tensor.shape, tensor.strides};
  return checkMemory(program, index, tensor.type, tensor.device_type,
                     tensor.device_id, tensor.ndim, flags);
}

Status Reader::readDLPack(const ProgramInfo &program, size_t index,
                          const dsv4_dltensor &tensor, uint32_t flags) {
  auto address = reinterpret_cast<uintptr_t>(tensor.data);
  if (address && __builtin_add_overflow(address, tensor.byte_offset, &address))
    return wrong(Code::InvalidArgument, program, index, "argument.overflow",
                 "has byte offset " + std::to_string(tensor.byte_offset) +
                     ", which is beyond all addresses");
  argument = {reinterpret_cast<void *>(address), tensor.shape, nullptr};
  if (Status status =
          checkMemory(program, index, tensor.type, tensor.device_type,
                      tensor.device_id, tensor.ndim, flags);
      !status)
    return status;
  if (!tensor.strides)
    return Status();
  const int64_t size = rt::getByteSize(program.bindings[index].storage);
  for (int32_t axis = 0; axis < tensor.ndim; ++axis)
    if (__builtin_mul_overflow(tensor.strides[axis], size, &bytes[axis]))
      return wrong(Code::InvalidArgument, program, index, "argument.overflow",
                   "has stride " + std::to_string(tensor.strides[axis]) +
                       " along axis " + std::to_string(axis) +
                       ", which is more than 2^63 - 1 bytes");
  argument.strides = bytes;
  return Status();
}

Status Reader::readScalar(const ProgramInfo &program, size_t index,
                          const void *value) {
  if (!program.bindings[index].scalar)
    return wrong(Code::TypeMismatch, program, index, "argument.kind",
                 "is a number, expected an array");
  argument = {const_cast<void *>(value), nullptr, nullptr};
  return Status();
}

Status Reader::read(const ProgramInfo &program, size_t index,
                    const dsv4_argument &given) {
  device = -1;
  if (Status status = checkStruct(&given, "dsv4_argument"); !status)
    return at(status, program, index);
  if (given.flags & ~DSV4_ARGUMENT_READ_ONLY || given.reserved)
    return wrong(Code::InvalidArgument, program, index, "struct.newer",
                 "has flags " + std::to_string(given.flags) +
                     " and reserved bytes " + std::to_string(given.reserved) +
                     ", of which this library knows flag 1 only");
  if (!given.value)
    return wrong(Code::InvalidArgument, program, index, "argument.null",
                 "has no value: pass the address of an array's view or of a "
                 "number");
  switch (given.kind) {
  case DSV4_ARGUMENT_SCALAR:
    return readScalar(program, index, given.value);
  case DSV4_ARGUMENT_TENSOR: {
    const auto &tensor = *static_cast<const dsv4_tensor *>(given.value);
    if (Status status = checkStruct(&tensor, "dsv4_tensor"); !status)
      return at(status, program, index);
    if (tensor.reserved)
      return wrong(Code::InvalidArgument, program, index, "struct.newer",
                   "has reserved bytes " + std::to_string(tensor.reserved) +
                       ", expected 0");
    return readTensor(program, index, tensor, given.flags);
  }
  case DSV4_ARGUMENT_DLPACK:
    return readDLPack(program, index,
                      *static_cast<const dsv4_dltensor *>(given.value),
                      given.flags);
  default:
    return wrong(Code::InvalidArgument, program, index, "argument.kind",
                 "is of kind " + std::to_string(given.kind) +
                     ", expected DSV4_ARGUMENT_TENSOR, _DLPACK or _SCALAR");
  }
}

Status dsv4::c::readWorkspace(const dsv4_workspace &given,
                              rt::Workspace &workspace) {
  if (Status status = checkStruct(&given, "dsv4_workspace"); !status)
    return status;
  if (Status status = checkReserved(given.reserved, "dsv4_workspace"); !status)
    return status;
  workspace = {given.data, given.bytes};
  return Status();
}

//===----------------------------------------------------------------------===//
// All arguments
//===----------------------------------------------------------------------===//

const dsv4_argument *dsv4::c::getArgument(const dsv4_argument *given,
                                          uint32_t index) {
  const uint32_t size = given->size;
  if (__builtin_expect(size == sizeof(dsv4_argument), true))
    return given + index;
  // The first of another size is read, and refused or not, before the second.
  return reinterpret_cast<const dsv4_argument *>(
      reinterpret_cast<const char *>(given) + size_t(index) * size);
}

Status dsv4::c::checkDevice(const ProgramInfo &program, size_t index,
                            int device, int expected) {
  if (device < 0 || expected < 0 || device == expected)
    return Status();
  return wrong(Code::TypeMismatch, program, index, "argument.device",
               "is on device " + std::to_string(device) + ", expected device " +
                   std::to_string(expected) +
                   ", where the arguments before it are");
}

Status Arguments::read(const ProgramInfo &program, const dsv4_argument *given,
                       uint32_t count) {
  const size_t expected = program.bindings.size();
  if (count != expected || (expected && !given))
    return invalid("argument.count",
                   "program '" + program.name + "' takes " +
                       std::to_string(expected) + " arguments, got " +
                       (given || !count ? std::to_string(count) : "null"));
  for (uint32_t i = 0; i < count; ++i) {
    const dsv4_argument &each = *getArgument(given, i);
    if (each.size != given->size)
      return at(invalid("struct.size", "dsv4_argument: its size is " +
                                           std::to_string(each.size) +
                                           ", that of the first " +
                                           std::to_string(given->size)),
                program, i);
    if (Status status = readers[i].read(program, i, each); !status)
      return status;
    if (Status status = checkDevice(program, i, readers[i].device, onDevice);
        !status)
      return status;
    if (onDevice < 0)
      onDevice = readers[i].device;
    arguments[i] = readers[i].argument;
  }
  return Status();
}
