//===- FakeCuda.h - A CUDA driver that only takes notes ---------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_TEST_UNIT_RUNTIME_FAKECUDA_H
#define DSV4_TEST_UNIT_RUNTIME_FAKECUDA_H

#include "CudaDriverAPI.h"
#include "dsv4-runtime/Driver.h"

#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

namespace dsv4::rt::test {

/// What the fake was asked, and what it is to answer.
struct FakeCuda {
  int initResult = 0;
  int devices = 1;
  int loadResult = 0;
  int launchResult = 0;
  std::vector<size_t> parameterSizes; ///< Of every kernel.
  std::vector<std::string> kernels;   ///< Asked for, in order.
  int maxShared = 0;                  ///< As set by an attribute.
  int staticShared = 0;               ///< Of every kernel.
  int multiprocessors = 0;            ///< Of the device.
  int retained = 0;
  int capturing = 0;         ///< CUstreamCaptureStatus of every stream.
  cuda::LaunchConfig config; ///< Of the last launch.
  cuda::LaunchAttribute attribute;
  std::vector<uint64_t> values; ///< Its parameters.
  int launches = 0;
};

/// The one the table below writes to.
inline FakeCuda *fake = nullptr;

inline int fakeAttribute(int *value, int id, int) {
  switch (id) {
  case cuda::AttributeMajor:
    *value = 9;
    break;
  case cuda::AttributeMultiprocessors:
    *value = fake->multiprocessors;
    break;
  case cuda::AttributeMaxSharedPerBlock:
    *value = 232448;
    break;
  default:
    *value = 0;
  }
  return 0;
}

inline int fakeLaunch(const cuda::LaunchConfig *config, cuda::CUfunction,
                      void **parameters, void **) {
  ++fake->launches;
  fake->config = *config;
  if (config->numAttributes)
    fake->attribute = config->attributes[0];
  fake->values.clear();
  for (size_t i = 0; i < fake->parameterSizes.size(); ++i) {
    uint64_t value = 0;
    std::memcpy(&value, parameters[i], fake->parameterSizes[i]);
    fake->values.push_back(value);
  }
  return fake->launchResult;
}

/// The entry points that loading and launching use; the others are null.
inline cuda::API fakeTable() {
  using namespace cuda;
  API api;
  api.init = [](unsigned) { return fake->initResult; };
  api.driverGetVersion = [](int *version) { return *version = 13000, 0; };
  api.getErrorName = [](CUresult, const char **name) {
    return *name = "CUDA_ERROR_SOMETHING", 0;
  };
  api.getErrorString = [](CUresult, const char **text) {
    return *text = "something is wrong", 0;
  };
  api.deviceGetCount = [](int *count) { return *count = fake->devices, 0; };
  api.deviceGet = [](CUdevice *device, int n) { return *device = n, 0; };
  api.deviceGetName = [](char *name, int size, CUdevice) {
    return std::snprintf(name, size_t(size), "Fake H200"), 0;
  };
  api.deviceGetAttribute = fakeAttribute;
  api.deviceTotalMem = [](size_t *bytes, CUdevice) { return *bytes = 1, 0; };
  api.primaryCtxRetain = [](CUcontext *context, CUdevice) {
    ++fake->retained;
    *context = reinterpret_cast<CUcontext>(fake);
    return 0;
  };
  api.ctxSetCurrent = [](CUcontext) { return 0; };
  api.loadLibraryData = [](CUlibrary *library, const void *, int *, void **,
                           unsigned, int *, void **, unsigned) {
    *library = reinterpret_cast<CUlibrary>(fake);
    return fake->loadResult;
  };
  api.getLibraryKernel = [](CUkernel *kernel, CUlibrary, const char *name) {
    fake->kernels.push_back(name);
    *kernel = reinterpret_cast<CUkernel>(fake);
    return 0;
  };
  api.kernelGetFunction = [](CUfunction *function, CUkernel) {
    *function = reinterpret_cast<CUfunction>(fake);
    return 0;
  };
  api.kernelGetAttribute = [](int *value, int id, CUkernel, CUdevice) {
    *value = id == FunctionStaticShared ? fake->staticShared : -1;
    return 0;
  };
  api.kernelSetAttribute = [](int id, int value, CUkernel, CUdevice) {
    if (id == FunctionMaxDynamicShared)
      fake->maxShared = value;
    return 0;
  };
  api.kernelGetParamInfo = [](CUkernel, size_t i, size_t *offset,
                              size_t *size) {
    if (i >= fake->parameterSizes.size())
      return 1;
    *offset = 8 * i;
    *size = fake->parameterSizes[i];
    return 0;
  };
  api.funcLoad = [](CUfunction) { return 0; };
  api.streamIsCapturing = [](CUstream, int *state) {
    return *state = fake->capturing, 0;
  };
  api.streamGetCtx = [](CUstream, CUcontext *context) {
    return *context = reinterpret_cast<CUcontext>(fake), 0;
  };
  api.launchKernelEx = fakeLaunch;
  return api;
}

} // namespace dsv4::rt::test

#endif // DSV4_TEST_UNIT_RUNTIME_FAKECUDA_H
