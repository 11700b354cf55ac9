//===- LoadedKernel.h - A kernel and its launch -----------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Private to the runtime: shared by launches of arguments as they come and
// launches that are packed once.
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_RUNTIME_LIB_LOADEDKERNEL_H
#define DSV4_RUNTIME_LIB_LOADEDKERNEL_H

#include "CudaDriverAPI.h"

#include "dsv4-runtime/LoadedProgram.h"

namespace dsv4::rt {

/// A resolved kernel; one of `function` and `host` is set.
struct LoadedProgram::Kernel {
  const KernelInfo *info = nullptr;
  cuda::CUfunction function = nullptr;
  std::unique_ptr<HostModule> host;
  uint32_t maxSharedBytes = 0; ///< Dynamic, that a launch may ask for.
};

/// What a launch comes to, for each kernel. Nothing before evaluatePlans():
/// there may be many, and most programs have one.
union LaunchShapes {
  LaunchShapes() {}
  LaunchShape each[MaxKernels];
};

/// The value of one parameter; that of a scalar is read where the caller has
/// it.
union ParameterValue {
  void *pointer;
  int32_t int32;
  int64_t int64;
};

/// Fills in the values of the parameters, and where each is.
void packParameters(const LaunchPlan &plan, const LaunchInputs &inputs,
                    const Argument *arguments, void *workspace,
                    ParameterValue *values, void **parameters);

/// Fills in all but the stream. `attribute` must live as long as `config`.
void configure(const LaunchPlan &plan, const LaunchShape &shape,
               cuda::LaunchConfig &config, cuda::LaunchAttribute &attribute);

/// Whether an argument has no elements, so that nothing of it is accessed.
inline bool isEmpty(const Binding &binding, const Argument &argument) {
  for (size_t axis = 0; axis < binding.shape.size(); ++axis)
    if (argument.shape[axis] == 0)
      return true;
  return false;
}

/// Whether a workspace does for a launch that needs `needed` bytes.
inline bool suffices(const Workspace &workspace, uint64_t needed) {
  return needed == 0 ||
         (workspace.data && workspace.bytes >= needed &&
          reinterpret_cast<uintptr_t>(workspace.data) % WorkspaceAlignment ==
              0);
}

/// The error of an argument that is null but not empty.
[[gnu::cold]] Status nullArgument(const ProgramInfo &program, size_t index);

/// The error of an argument whose address, or that of a slice of it at
/// `offset`, is not aligned as a kernel needs it.
[[gnu::cold]] Status misaligned(const ProgramInfo &program, size_t index,
                                uintptr_t address, uint32_t alignment,
                                int64_t offset);

/// The error of a workspace that does not suffice.
[[gnu::cold]] Status wrongWorkspace(const ProgramInfo &program, uint64_t needed,
                                    const Workspace &workspace);

/// The error of a launch that the driver refused.
[[gnu::cold]] Status launchFailed(const Driver &driver,
                                  const KernelInfo &kernel, int result);

} // namespace dsv4::rt

#endif // DSV4_RUNTIME_LIB_LOADEDKERNEL_H
