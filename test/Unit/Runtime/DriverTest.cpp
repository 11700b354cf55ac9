//===- DriverTest.cpp - Finding the CUDA driver, and its ABI --------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FakeCuda.h"

#include <gtest/gtest.h>

#include <type_traits>

#include <sys/wait.h>
#include <unistd.h>

#if __has_include(<cuda.h>)
#include <cuda.h>
#define DSV4_HAVE_CUDA_H
#elif __has_include("/usr/local/cuda/include/cuda.h")
#include "/usr/local/cuda/include/cuda.h"
#define DSV4_HAVE_CUDA_H
#endif

using namespace dsv4::rt;
using namespace dsv4::rt::test;

#ifdef DSV4_HAVE_CUDA_H
namespace {

template <typename A, typename B>
constexpr bool sameLayout = sizeof(A) == sizeof(B) && alignof(A) == alignof(B);

/// Two functions that are called alike: as many parameters, of the same size
/// and kind (pointers are not told apart, enumerations are integers).
template <typename A, typename B>
struct CalledAlike : std::false_type {};
template <typename R, typename S, typename... As, typename... Bs>
struct CalledAlike<R (*)(As...), S (*)(Bs...)> {
  static constexpr bool test() {
    if constexpr (sizeof...(As) == sizeof...(Bs))
      return sizeof(R) == sizeof(S) &&
             ((sizeof(As) == sizeof(Bs) &&
               std::is_pointer_v<As> == std::is_pointer_v<Bs>) &&
              ...);
    return false;
  }
  static constexpr bool value = test();
};

#define DSV4_CHECK(NAME, SYMBOL, PARAMETERS)                                   \
  static_assert(                                                               \
      CalledAlike<decltype(&::SYMBOL), decltype(cuda::API::NAME)>::value,      \
      #SYMBOL " is declared otherwise in cuda.h");
DSV4_CUDA_ENTRY_POINTS(DSV4_CHECK)
#undef DSV4_CHECK

static_assert(sameLayout<::CUlaunchAttribute, cuda::LaunchAttribute>);
static_assert(offsetof(::CUlaunchAttribute, value) ==
              offsetof(cuda::LaunchAttribute, value));
static_assert(sameLayout<::CUlaunchConfig, cuda::LaunchConfig>);
static_assert(offsetof(::CUlaunchConfig, sharedMemBytes) ==
              offsetof(cuda::LaunchConfig, sharedMemBytes));
static_assert(offsetof(::CUlaunchConfig, hStream) ==
              offsetof(cuda::LaunchConfig, stream));
static_assert(offsetof(::CUlaunchConfig, attrs) ==
              offsetof(cuda::LaunchConfig, attributes));
static_assert(offsetof(::CUlaunchConfig, numAttrs) ==
              offsetof(cuda::LaunchConfig, numAttributes));
static_assert(sizeof(::CUdeviceptr) == sizeof(cuda::CUdeviceptr));

constexpr std::pair<int, int> constants[] = {
    {CUDA_ERROR_NOT_INITIALIZED, cuda::ErrorNotInitialized},
    {CUDA_ERROR_STUB_LIBRARY, cuda::ErrorStubLibrary},
    {CUDA_ERROR_NO_DEVICE, cuda::ErrorNoDevice},
    {CUDA_ERROR_INVALID_IMAGE, cuda::ErrorInvalidImage},
    {CUDA_ERROR_NO_BINARY_FOR_GPU, cuda::ErrorNoBinaryForGPU},
    {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, cuda::AttributeMultiprocessors},
    {CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, cuda::AttributeL2Bytes},
    {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, cuda::AttributeMajor},
    {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, cuda::AttributeMinor},
    {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
     cuda::AttributeMaxSharedPerBlock},
    {CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
     cuda::FunctionMaxDynamicShared},
    {CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
     cuda::LaunchProgrammaticSerialization},
    {CU_STREAM_NON_BLOCKING, cuda::StreamNonBlocking},
    {CU_EVENT_DEFAULT, cuda::EventDefault},
    {CU_STREAM_CAPTURE_MODE_THREAD_LOCAL, cuda::CaptureThreadLocal}};

constexpr bool allEqual() {
  for (const auto &[theirs, ours] : constants)
    if (theirs != ours)
      return false;
  return true;
}
static_assert(allEqual(), "a constant differs from cuda.h");

} // namespace
#endif // DSV4_HAVE_CUDA_H

namespace {

TEST(Driver, ArchNames) {
  EXPECT_EQ(Driver::archName(8, 0), "sm_80");
  EXPECT_EQ(Driver::archName(8, 9), "sm_89");
  EXPECT_EQ(Driver::archName(9, 0), "sm_90a");
  EXPECT_EQ(Driver::archName(10, 0), "sm_100a");
  EXPECT_EQ(Driver::archName(10, 3), "sm_103a");
  EXPECT_EQ(Driver::archName(11, 0), "sm_110a");
  EXPECT_EQ(Driver::archName(12, 1), "sm_121a");
}

TEST(Driver, WhyThereIsNone) {
  FakeCuda state;
  fake = &state;
  auto message = [] { return Driver::create(fakeTable()).status().message(); };
  state.initResult = cuda::ErrorNoDevice;
  EXPECT_EQ(message(), "the CUDA driver finds no GPU: check nvidia-smi and "
                       "CUDA_VISIBLE_DEVICES, or use the host target");
  state.initResult = cuda::ErrorStubLibrary;
  EXPECT_EQ(message(), "libcuda.so.1 is the CUDA toolkit's stub: take its "
                       "'stubs' directory out of LD_LIBRARY_PATH");
  state.initResult = 999;
  EXPECT_EQ(message(),
            "cuInit failed: CUDA_ERROR_SOMETHING (something is wrong)");
  state.initResult = 0;
  state.devices = 0;
  EXPECT_EQ(message(), "the CUDA driver finds no GPU: check nvidia-smi and "
                       "CUDA_VISIBLE_DEVICES, or use the host target");
}

TEST(Driver, Describes) {
  FakeCuda state;
  fake = &state;
  auto driver = Driver::create(fakeTable());
  ASSERT_TRUE(driver.ok());
  EXPECT_EQ((*driver)->version(), 13000);
  Result<DeviceInfo> info = (*driver)->device(0);
  ASSERT_TRUE(info.ok());
  EXPECT_EQ(info->name, "Fake H200");
  EXPECT_EQ(info->arch, "sm_90a");
  EXPECT_FALSE((*driver)->device(-1).ok());
  EXPECT_FALSE((*driver)->makeCurrent(1).ok());
}

TEST(Driver, RealOneOrAMessage) {
  Result<Driver *> driver = Driver::get();
  if (!driver) {
    EXPECT_EQ(driver.status().code(), Code::Unavailable);
    EXPECT_NE(driver.status().message().find("host target"), std::string::npos)
        << driver.status().message();
    GTEST_SKIP() << "no GPU: " << driver.status().message();
  }
  EXPECT_EQ(*Driver::get(), *driver);
  EXPECT_GE((*driver)->deviceCount(), 1);
  // A child may not use what its parent initialised, and is told so.
  pid_t child = ::fork();
  if (child == 0)
    ::_exit(Driver::get().ok() ? 1 : 0);
  int status = 1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

} // namespace
