//===- Arguments.h - Views of arrays as arguments ---------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads what a caller passes for the bindings of a program, and checks what the
// launch path does not know: types, devices, read-only memory and overlaps.
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_RUNTIME_C_ARGUMENTS_H
#define DSV4_RUNTIME_C_ARGUMENTS_H

#include "Errors.h"

#include "dsv4-runtime/LoadedProgram.h"

namespace dsv4::c {

/// One argument, read. Its shape and strides are the caller's, or `bytes`.
struct Reader {
  rt::Argument argument = {};
  int device = -1;            ///< Of CUDA memory, else -1.
  int64_t bytes[rt::MaxRank]; ///< Strides, where the caller counts elements.

  /// Reads the argument of binding `index`.
  Status read(const rt::ProgramInfo &program, size_t index,
              const dsv4_argument &given);

private:
  Status readTensor(const rt::ProgramInfo &program, size_t index,
                    const dsv4_tensor &tensor, uint32_t flags);
  Status readDLPack(const rt::ProgramInfo &program, size_t index,
                    const dsv4_dltensor &tensor, uint32_t flags);
  Status readScalar(const rt::ProgramInfo &program, size_t index,
                    const void *value);
  Status checkMemory(const rt::ProgramInfo &program, size_t index,
                     dsv4_type type, int32_t deviceType, int32_t deviceId,
                     int32_t rank, uint32_t flags);
};

/// All arguments of a launch, on the stack.
class Arguments {
public:
  Arguments() {}

  Status read(const rt::ProgramInfo &program, const dsv4_argument *given,
              uint32_t count);

  const rt::Argument *get() const { return arguments; }
  rt::Argument *get() { return arguments; }
  /// The device of the first CUDA argument; 0 if there is none.
  int device() const { return onDevice < 0 ? 0 : onDevice; }

private:
  union { // Nothing is set before it is read.
    Reader readers[rt::MaxBindings];
  };
  union {
    rt::Argument arguments[rt::MaxBindings];
  };
  int onDevice = -1;
};

/// Reads the workspace of a caller.
Status readWorkspace(const dsv4_workspace &given, rt::Workspace &workspace);

/// An argument of an array whose elements may be larger than this library's:
/// all have the size of the first.
const dsv4_argument *getArgument(const dsv4_argument *given, uint32_t index);

/// The error of two arguments on different devices.
Status checkDevice(const rt::ProgramInfo &program, size_t index, int device,
                   int expected);

/// Refuses memory that the program writes and that is also in another argument,
/// as far as extents and strides show it. Extents need not have
/// been checked.
Status checkOverlaps(const rt::ProgramInfo &program,
                     const rt::Argument *arguments);

} // namespace dsv4::c

#endif // DSV4_RUNTIME_C_ARGUMENTS_H
