//===- NVRTCTest.cpp - Compiling without a GPU ----------------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsv4/JIT/NVRTC.h"

#include <gtest/gtest.h>

#include <dlfcn.h>
#include <thread>

using namespace dsv4::jit;
using namespace dsv4::rt;

namespace {

const char source[] =
    "extern \"C\" __global__ void __launch_bounds__(128)\n"
    "scale(float *__restrict__ out, const float *__restrict__ in, int n) {\n"
    "  __shared__ float tile[128];\n"
    "  int i = blockIdx.x * 128 + threadIdx.x;\n"
    "  tile[threadIdx.x] = i < n ? in[i] : 0.f;\n"
    "  __syncthreads();\n"
    "  if (i < n) out[i] = tile[127 - threadIdx.x];\n"
    "}\n";

class NVRTCTest : public ::testing::Test {
protected:
  void SetUp() override {
    Result<NVRTC *> result = NVRTC::get();
    if (!result) {
      EXPECT_EQ(result.status().code(), Code::Unavailable);
      GTEST_SKIP() << result.status().message();
    }
    nvrtc = *result;
  }
  NVRTC *nvrtc = nullptr;
};

TEST(NVRTC, IdentityWithoutLoading) {
  const std::string &identity = NVRTC::identity();
  EXPECT_FALSE(identity.empty());
  EXPECT_EQ(&identity, &NVRTC::identity());
  if (NVRTC::libraryPath().empty())
    EXPECT_EQ(identity, "none");
  else
    EXPECT_EQ(identity.find_first_not_of("0123456789abcdef"), std::string::npos)
        << identity;
}

TEST(NVRTC, OptionsInOrder) {
  EXPECT_EQ(NVRTC::options("sm_90a", {"-DX=1"}),
            (std::vector<std::string>{
                "-arch=sm_90a", "--no-cache", "--modify-stack-limit=false",
                "--no-source-include", "-std=c++17", "-default-device",
                "--minimal", "-Xptxas=-v", "-DX=1"}));
}

TEST_F(NVRTCTest, Version) {
  EXPECT_GE(nvrtc->version(), 12090);
  EXPECT_FALSE(nvrtc->architectures().empty());
}

TEST_F(NVRTCTest, EveryTarget) {
  for (const char *arch : {"sm_80", "sm_90a", "sm_100a", "sm_120a"}) {
    Result<NVRTCOutput> output = nvrtc->compile(source, "scale.cu", arch);
    ASSERT_TRUE(output.ok()) << output.status().message();
    EXPECT_EQ(output->cubin.substr(0, 4), "\x7f"
                                          "ELF");
    EXPECT_NE(output->ptx.find(std::string(".target ") + arch),
              std::string::npos);
    EXPECT_EQ(output->ptx.find('\0'), std::string::npos);
    EXPECT_GT(output->registers, 0u) << output->log;
    EXPECT_LT(output->registers, 64u);
    EXPECT_EQ(output->spillBytes, 0u);
    EXPECT_EQ(output->stackBytes, 0u);
    // Newer targets reserve some for the system.
    EXPECT_GE(output->sharedBytes, 512u);
  }
}

TEST_F(NVRTCTest, SameBytesEveryTimeAndInParallel) {
  std::vector<std::string> cubins(4);
  std::vector<std::thread> threads;
  for (std::string &cubin : cubins)
    threads.emplace_back([&cubin, this] {
      Result<NVRTCOutput> output = nvrtc->compile(source, "scale.cu", "sm_90a");
      if (output)
        cubin = output->cubin;
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_FALSE(cubins[0].empty());
  for (const std::string &cubin : cubins)
    EXPECT_EQ(cubin, cubins[0]);
}

TEST_F(NVRTCTest, DoesNotTouchTheDriver) {
  if (::dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD))
    GTEST_SKIP() << "another test has opened the driver";
  ASSERT_TRUE(nvrtc->compile(source, "scale.cu", "sm_90a").ok());
  EXPECT_EQ(::dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD), nullptr);
}

TEST_F(NVRTCTest, Spills) {
  std::string spilling =
      "extern \"C\" __global__ void __launch_bounds__(1024) s(float *p) {\n"
      "  float v[200];\n"
      "  for (int i = 0; i < 200; ++i) v[i] = p[i * 7];\n"
      "  __syncthreads();\n"
      "  for (int i = 0; i < 200; ++i) p[i] = v[i] * v[199 - i];\n"
      "}\n";
  Result<NVRTCOutput> output = nvrtc->compile(spilling, "s.cu", "sm_90a");
  ASSERT_TRUE(output.ok()) << output.status().message();
  EXPECT_GT(output->spillBytes, 0u) << output->log;
  EXPECT_GT(output->stackBytes, 0u) << output->log;
}

TEST_F(NVRTCTest, UnknownTargets) {
  for (const char *arch : {"sm_91", "sm_80a", "sm_90f", "90a", "", "sm_",
                           "compute_90", "sm_90ab", "sm_90a -G"}) {
    Status status = nvrtc->compile(source, "scale.cu", arch).status();
    EXPECT_EQ(status.code(), Code::InvalidArgument) << arch;
    EXPECT_NE(status.message().find("does not know target '" +
                                    std::string(arch) + "': it knows sm_"),
              std::string::npos)
        << status.message();
  }
}

TEST_F(NVRTCTest, ErrorsNameTheLine) {
  std::string log;
  Status status = nvrtc
                      ->compile("#line 43 \"gather.mlir\"\n"
                                "__global__ void k() { nonsense(); }\n",
                                "k.cu", "sm_90a", {}, &log)
                      .status();
  EXPECT_EQ(status.code(), Code::CompileFailed);
  EXPECT_EQ(status.message(), "'k.cu' for sm_90a: gather.mlir(43): error: "
                              "identifier \"nonsense\" is undefined");
  EXPECT_NE(log.find("1 error detected"), std::string::npos) << log;
  EXPECT_EQ(
      nvrtc->compile(source, "k.cu", "sm_90a", {"--no-such"}).status().code(),
      Code::CompileFailed);
}

TEST_F(NVRTCTest, NothingIsIncluded) {
  EXPECT_FALSE(
      nvrtc->compile("#include <cuda_fp8.h>\n", "k.cu", "sm_90a").ok());
}

} // namespace
