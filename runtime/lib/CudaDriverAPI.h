//===- CudaDriverAPI.h - The part of libcuda that is used -------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Types, constants and entry points of the CUDA driver API, declared here so
// that the project builds without CUDA's headers; a unit test compares them
// with cuda.h where that is installed. Private to the runtime.
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_RUNTIME_LIB_CUDADRIVERAPI_H
#define DSV4_RUNTIME_LIB_CUDADRIVERAPI_H

#include <cstddef>
#include <cstdint>

namespace dsv4::rt::cuda {

using CUresult = int;
using CUdevice = int;
using CUdeviceptr = unsigned long long;
using CUcontext = struct CUctx_st *;
using CUstream = struct CUstream_st *;
using CUevent = struct CUevent_st *;
using CUgraph = struct CUgraph_st *;
using CUgraphExec = struct CUgraphExec_st *;
using CUfunction = struct CUfunc_st *;
using CUlibrary = struct CUlib_st *;
using CUkernel = struct CUkern_st *;

enum : int {
  ErrorNotInitialized = 3,
  ErrorStubLibrary = 34,
  ErrorNoDevice = 100,
  ErrorInvalidImage = 200,
  ErrorInvalidContext = 201,
  ErrorNoBinaryForGPU = 209,
  ErrorCaptureImplicit = 906,

  AttributeMultiprocessors = 16,
  AttributeL2Bytes = 38,
  AttributeMajor = 75,
  AttributeMinor = 76,
  AttributeMaxSharedPerBlock = 97,

  FunctionStaticShared = 1,
  FunctionMaxDynamicShared = 8,
  FunctionNonPortableCluster = 14,
  LaunchProgrammaticSerialization = 6,

  StreamNonBlocking = 1,
  EventDefault = 0,
  CaptureThreadLocal = 1,
};

/// Handles of default streams. Null is the first, too; the second is another
/// stream on each thread.
constexpr uintptr_t StreamLegacy = 1, StreamPerThread = 2;

union LaunchAttributeValue {
  char pad[64];
  int programmaticStreamSerializationAllowed;
  void *alignment; // The driver's union has pointers.
};

struct LaunchAttribute {
  int id;
  char pad[8 - sizeof(int)];
  LaunchAttributeValue value;
};

struct LaunchConfig {
  unsigned gridDimX, gridDimY, gridDimZ;
  unsigned blockDimX, blockDimY, blockDimZ;
  unsigned sharedMemBytes;
  CUstream stream;
  LaunchAttribute *attributes;
  unsigned numAttributes;
};

// name in the table, symbol in libcuda, parameters; all return CUresult.
#define DSV4_CUDA_ENTRY_POINTS(X)                                              \
  X(init, cuInit, (unsigned))                                                  \
  X(driverGetVersion, cuDriverGetVersion, (int *))                             \
  X(getErrorName, cuGetErrorName, (CUresult, const char **))                   \
  X(getErrorString, cuGetErrorString, (CUresult, const char **))               \
  X(deviceGetCount, cuDeviceGetCount, (int *))                                 \
  X(deviceGet, cuDeviceGet, (CUdevice *, int))                                 \
  X(deviceGetName, cuDeviceGetName, (char *, int, CUdevice))                   \
  X(deviceGetAttribute, cuDeviceGetAttribute, (int *, int, CUdevice))          \
  X(deviceTotalMem, cuDeviceTotalMem_v2, (size_t *, CUdevice))                 \
  X(primaryCtxRetain, cuDevicePrimaryCtxRetain, (CUcontext *, CUdevice))       \
  X(ctxSetCurrent, cuCtxSetCurrent, (CUcontext))                               \
  X(ctxGetCurrent, cuCtxGetCurrent, (CUcontext *))                             \
  X(memAlloc, cuMemAlloc_v2, (CUdeviceptr *, size_t))                          \
  X(memFree, cuMemFree_v2, (CUdeviceptr))                                      \
  X(memcpyHtoDAsync, cuMemcpyHtoDAsync_v2,                                     \
    (CUdeviceptr, const void *, size_t, CUstream))                             \
  X(memcpyDtoHAsync, cuMemcpyDtoHAsync_v2,                                     \
    (void *, CUdeviceptr, size_t, CUstream))                                   \
  X(memcpyDtoDAsync, cuMemcpyDtoDAsync_v2,                                     \
    (CUdeviceptr, CUdeviceptr, size_t, CUstream))                              \
  X(memsetD8Async, cuMemsetD8Async,                                            \
    (CUdeviceptr, unsigned char, size_t, CUstream))                            \
  X(streamCreate, cuStreamCreate, (CUstream *, unsigned))                      \
  X(streamDestroy, cuStreamDestroy_v2, (CUstream))                             \
  X(streamSynchronize, cuStreamSynchronize, (CUstream))                        \
  X(streamIsCapturing, cuStreamIsCapturing, (CUstream, int *))                 \
  X(streamGetCtx, cuStreamGetCtx, (CUstream, CUcontext *))                     \
  X(eventCreate, cuEventCreate, (CUevent *, unsigned))                         \
  X(eventDestroy, cuEventDestroy_v2, (CUevent))                                \
  X(eventRecord, cuEventRecord, (CUevent, CUstream))                           \
  X(eventSynchronize, cuEventSynchronize, (CUevent))                           \
  X(eventElapsedTime, cuEventElapsedTime, (float *, CUevent, CUevent))         \
  X(streamBeginCapture, cuStreamBeginCapture_v2, (CUstream, int))              \
  X(streamEndCapture, cuStreamEndCapture, (CUstream, CUgraph *))               \
  X(graphInstantiate, cuGraphInstantiateWithFlags,                             \
    (CUgraphExec *, CUgraph, unsigned long long))                              \
  X(graphLaunch, cuGraphLaunch, (CUgraphExec, CUstream))                       \
  X(graphDestroy, cuGraphDestroy, (CUgraph))                                   \
  X(graphExecDestroy, cuGraphExecDestroy, (CUgraphExec))                       \
  X(loadLibraryData, cuLibraryLoadData,                                        \
    (CUlibrary *, const void *, int *, void **, unsigned, int *, void **,      \
     unsigned))                                                                \
  X(getLibraryKernel, cuLibraryGetKernel,                                      \
    (CUkernel *, CUlibrary, const char *))                                     \
  X(kernelGetFunction, cuKernelGetFunction, (CUfunction *, CUkernel))          \
  X(kernelGetAttribute, cuKernelGetAttribute,                                  \
    (int *, int, CUkernel, CUdevice))                                          \
  X(kernelSetAttribute, cuKernelSetAttribute, (int, int, CUkernel, CUdevice))  \
  X(kernelGetParamInfo, cuKernelGetParamInfo,                                  \
    (CUkernel, size_t, size_t *, size_t *))                                    \
  X(funcLoad, cuFuncLoad, (CUfunction))                                        \
  X(launchKernelEx, cuLaunchKernelEx,                                          \
    (const LaunchConfig *, CUfunction, void **, void **))

/// The entry points.
struct API {
#define DSV4_MEMBER(NAME, SYMBOL, PARAMETERS)                                  \
  CUresult(*NAME) PARAMETERS = nullptr;
  DSV4_CUDA_ENTRY_POINTS(DSV4_MEMBER)
#undef DSV4_MEMBER
};

} // namespace dsv4::rt::cuda

#endif // DSV4_RUNTIME_LIB_CUDADRIVERAPI_H
