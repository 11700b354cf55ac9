//===- FakeLibcuda.cpp - A libcuda.so.1 that only takes notes -------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FakeLibcuda.h"

#include "CudaDriverAPI.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

using namespace dsv4::test;
using namespace dsv4::rt::cuda;

#define EXPORT extern "C" __attribute__((visibility("default")))

// Never destroyed: what it allocated stays in use.
static FakeLibcuda &fake = *new FakeLibcuda();
static thread_local CUcontext current = nullptr;
static constexpr int invalidContext = 201, invalidValue = 1;

EXPORT FakeLibcuda *dsv4FakeLibcuda() { return &fake; }
EXPORT void *dsv4FakeCurrentContext() { return current; }
EXPORT void dsv4FakeSetCurrentContext(void *context) {
  current = static_cast<CUcontext>(context);
}

static CUcontext contextOf(int device) {
  return reinterpret_cast<CUcontext>(&fake.contexts[device]);
}

EXPORT int cuInit(unsigned) {
  ++fake.calls;
  ++fake.inits;
  ::usleep(fake.initMicroseconds);
  return 0;
}
EXPORT int cuDriverGetVersion(int *version) {
  ++fake.calls;
  return *version = 13000, 0;
}
EXPORT int cuGetErrorName(int, const char **name) {
  ++fake.calls;
  return *name = "CUDA_ERROR_SOMETHING", 0;
}
EXPORT int cuGetErrorString(int, const char **text) {
  ++fake.calls;
  return *text = "something is wrong", 0;
}
EXPORT int cuDeviceGetCount(int *count) {
  ++fake.calls;
  return *count = FakeLibcuda::devices, 0;
}
EXPORT int cuDeviceGet(int *device, int ordinal) {
  ++fake.calls;
  return *device = ordinal, 0;
}
EXPORT int cuDeviceGetName(char *name, int size, int) {
  ++fake.calls;
  return std::snprintf(name, size_t(size), "Fake H200"), 0;
}
EXPORT int cuDeviceGetAttribute(int *value, int id, int) {
  ++fake.calls;
  *value = id == AttributeMajor               ? 9
           : id == AttributeMultiprocessors   ? 4
           : id == AttributeMaxSharedPerBlock ? 232448
                                              : 0;
  return 0;
}
EXPORT int cuDeviceTotalMem_v2(size_t *bytes, int) {
  ++fake.calls;
  return *bytes = size_t(1) << 37, 0;
}
EXPORT int cuDevicePrimaryCtxRetain(CUcontext *context, int device) {
  ++fake.calls;
  return *context = contextOf(device), 0;
}
EXPORT int cuCtxSetCurrent(CUcontext context) {
  ++fake.calls;
  return current = context, 0;
}
EXPORT int cuCtxGetCurrent(CUcontext *context) {
  ++fake.calls;
  return *context = current, 0;
}
EXPORT int cuMemAlloc_v2(CUdeviceptr *memory, size_t bytes) {
  ++fake.calls;
  if (fake.allocateResult)
    return fake.allocateResult;
  if (bytes > fake.maxAllocation)
    return 2; // CUDA_ERROR_OUT_OF_MEMORY
  ++fake.allocations;
  void *made = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  std::memset(made, 0xFF, bytes);
  fake.memory.push_back(made);
  return *memory = reinterpret_cast<CUdeviceptr>(made), 0;
}
EXPORT int cuMemsetD8Async(CUdeviceptr memory, unsigned char value,
                           size_t bytes, CUstream) {
  ++fake.calls;
  return std::memset(reinterpret_cast<void *>(memory), value, bytes), 0;
}
EXPORT int cuStreamIsCapturing(CUstream stream, int *state) {
  ++fake.calls;
  if (!current)
    return invalidContext;
  const auto handle = reinterpret_cast<uintptr_t>(stream);
  *state = handle > StreamPerThread
               ? reinterpret_cast<FakeStream *>(stream)->capturing
               : 0;
  return 0;
}
EXPORT int cuStreamGetCtx(CUstream stream, CUcontext *context) {
  ++fake.calls;
  const int device = reinterpret_cast<FakeStream *>(stream)->device;
  if (device < 0)
    return 400; // CUDA_ERROR_INVALID_HANDLE
  return *context = contextOf(device), 0;
}
EXPORT int cuLibraryLoadData(CUlibrary *library, const void *, int *, void **,
                             unsigned, int *, void **, unsigned) {
  ++fake.calls;
  ++fake.loads;
  *library = reinterpret_cast<CUlibrary>(&fake);
  return fake.loadResult;
}
EXPORT int cuLibraryGetKernel(CUkernel *kernel, CUlibrary, const char *) {
  ++fake.calls;
  return *kernel = reinterpret_cast<CUkernel>(&fake), 0;
}
EXPORT int cuKernelGetFunction(CUfunction *function, CUkernel) {
  ++fake.calls;
  return *function = reinterpret_cast<CUfunction>(&fake), 0;
}
EXPORT int cuKernelGetAttribute(int *value, int, CUkernel, int) {
  ++fake.calls;
  return *value = 0, 0;
}
EXPORT int cuKernelSetAttribute(int, int, CUkernel, int) {
  ++fake.calls;
  return 0;
}
EXPORT int cuKernelGetParamInfo(CUkernel, size_t i, size_t *offset,
                                size_t *size) {
  ++fake.calls;
  if (i >= fake.parameterSizes.size())
    return invalidValue;
  *offset = 8 * i;
  *size = fake.parameterSizes[i];
  return 0;
}
EXPORT int cuFuncLoad(CUfunction) {
  ++fake.calls;
  return 0;
}
EXPORT int cuLaunchKernelEx(const LaunchConfig *config, CUfunction,
                            void **parameters, void **) {
  ++fake.calls;
  ++fake.launches;
  if (!fake.takesNotes)
    return fake.launchResult;
  fake.stream = config->stream;
  fake.context = current;
  fake.grid = config->gridDimX;
  fake.values.clear();
  for (size_t i = 0; i < fake.parameterSizes.size(); ++i) {
    uint64_t value = 0;
    std::memcpy(&value, parameters[i], fake.parameterSizes[i]);
    fake.values.push_back(value);
  }
  return fake.launchResult;
}

// What no test calls; the arguments do not matter.
#define UNUSED(SYMBOL)                                                         \
  EXPORT int SYMBOL(...) { return ++fake.calls, 801; }
UNUSED(cuMemFree_v2)
UNUSED(cuMemcpyHtoDAsync_v2)
UNUSED(cuMemcpyDtoHAsync_v2)
UNUSED(cuMemcpyDtoDAsync_v2)
UNUSED(cuStreamCreate)
UNUSED(cuStreamDestroy_v2)
UNUSED(cuStreamSynchronize)
UNUSED(cuEventCreate)
UNUSED(cuEventDestroy_v2)
UNUSED(cuEventRecord)
UNUSED(cuEventSynchronize)
UNUSED(cuEventElapsedTime)
UNUSED(cuStreamBeginCapture_v2)
UNUSED(cuStreamEndCapture)
UNUSED(cuGraphInstantiateWithFlags)
UNUSED(cuGraphLaunch)
UNUSED(cuGraphDestroy)
UNUSED(cuGraphExecDestroy)
