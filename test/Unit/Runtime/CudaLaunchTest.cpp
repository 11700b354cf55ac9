//===- CudaLaunchTest.cpp - Launches over a stand-in for CUDA -------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FakeCuda.h"
#include "LaunchFixture.h"

using namespace dsv4::rt;
using namespace dsv4::rt::test;

namespace {

class CudaLaunchTest : public GatherLaunchTest {
protected:
  CudaLaunchTest() {
    fake = &state;
    state.parameterSizes = {8, 8, 8, 4, 4, 8};
  }
  void SetUp() override {
    Result<std::unique_ptr<Driver>> result = Driver::create(fakeTable());
    ASSERT_TRUE(result.ok()) << result.status().message();
    driver = result.take();
  }
  Status loadCuda(const CompiledProgram &program = gatherProgram("cuda"),
                  int device = 0) {
    auto result =
        LoadedProgram::load(program, Backend::cuda(driver.get(), device));
    if (!result)
      return result.status();
    loaded = result.take();
    return Status();
  }

  FakeCuda state;
  std::unique_ptr<Driver> driver;
};

TEST_F(CudaLaunchTest, LoadsOnceAndLaunches) {
  ASSERT_TRUE(loadCuda().ok());
  ASSERT_TRUE(loadCuda().ok());
  EXPECT_EQ(state.retained, 1);
  EXPECT_EQ(state.kernels[0], "gather_k0");
  EXPECT_EQ(state.maxShared, 1024);
  Stream stream = &state;
  state.values.reserve(8); // What the fake itself needs.
  size_t before = allocations;
  Status status = loaded->launch(stream, arguments, 3);
  EXPECT_EQ(allocations, before);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(state.launches, 1);
  EXPECT_EQ(state.config.gridDimX, 384u);
  EXPECT_EQ(state.config.gridDimY * state.config.gridDimZ, 1u);
  EXPECT_EQ(state.config.blockDimX, 128u);
  EXPECT_EQ(state.config.blockDimY * state.config.blockDimZ, 1u);
  EXPECT_EQ(state.config.sharedMemBytes, 1024u);
  EXPECT_EQ(state.config.stream, reinterpret_cast<cuda::CUstream>(stream));
  EXPECT_EQ(state.config.numAttributes, 1u);
  EXPECT_EQ(state.attribute.id, 6);
  EXPECT_EQ(state.attribute.value.programmaticStreamSerializationAllowed, 1);
  EXPECT_EQ(state.values[1], reinterpret_cast<uint64_t>(memory + 4));
  EXPECT_EQ(state.values[3], 3u);
  EXPECT_EQ(state.values[5], 7u);
}

TEST_F(CudaLaunchTest, Workspace) {
  CompiledProgram program = gatherProgram("cuda");
  LaunchPlan &plan = program.info.kernels[0].plan;
  plan.parameters.push_back(Parameter::workspace());
  plan.workspaceBytes =
      Expression::extent(0) * Expression::extent(1) * Expression(16);
  state.parameterSizes.push_back(8);
  ASSERT_TRUE(loadCuda(program).ok());
  EXPECT_EQ(launch().code(), Code::InvalidArgument);
  EXPECT_EQ(state.launches, 0);
  Status status =
      loaded->launch(nullptr, arguments, 3, {memory + 32, 3 * 512 * 16});
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(state.values[6], reinterpret_cast<uint64_t>(memory + 32));
}

TEST_F(CudaLaunchTest, NoAttributeUnlessAsked) {
  CompiledProgram program = gatherProgram("cuda");
  program.info.kernels[0].plan.programmaticLaunch = false;
  ASSERT_TRUE(loadCuda(program).ok());
  ASSERT_TRUE(launch().ok());
  EXPECT_EQ(state.config.numAttributes, 0u);
}

/// Of the scores program, whose arguments are of their own.
TEST_F(CudaLaunchTest, GridsOfSeveralAxes) {
  state.parameterSizes = {8, 8, 4, 8, 8, 4, 8};
  CompiledProgram program = scoresProgram("cuda");
  program.info.kernels.pop_back();
  program.images.pop_back();
  ASSERT_TRUE(loadCuda(program).ok());
  EXPECT_EQ(state.maxShared, 4096);
  ScoresArguments scores(100, 1000);
  Status status = loaded->launch(nullptr, scores.values, 5);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(state.config.gridDimX, 16u);
  EXPECT_EQ(state.config.gridDimY, 4u);
  EXPECT_EQ(state.config.gridDimZ, 1u);
  EXPECT_EQ(state.config.blockDimX, 32u);
  EXPECT_EQ(state.config.blockDimY, 4u);
  EXPECT_EQ(state.values[2], 0x3F000000u); // 0.5 as it is.
  EXPECT_EQ(state.values[3], uint64_t(-(int64_t(5) << 40)));
  EXPECT_EQ(state.values[5], 100u);
  EXPECT_EQ(state.values[6], 100000u);
}

TEST_F(CudaLaunchTest, PersistentGridsKnowTheDevice) {
  state.parameterSizes = {8, 8, 4, 8, 8, 4, 8, 8};
  state.multiprocessors = 132;
  CompiledProgram program = scoresProgram("cuda");
  program.info.kernels.erase(program.info.kernels.begin());
  program.images.pop_back();
  state.staticShared = 448;
  ASSERT_TRUE(loadCuda(program).ok());
  // What depends on extents may be as much as there is.
  EXPECT_EQ(state.maxShared, 232000);
  ScoresArguments scores(8192, 8192);
  alignas(16) char workspace[4096];
  Status status =
      loaded->launch(nullptr, scores.values, 5, {workspace, sizeof(workspace)});
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(state.config.gridDimX, 528u);
  EXPECT_EQ(state.config.sharedMemBytes, 65536u);
  // More than is left beside 200,000 bytes of its own.
  state.staticShared = 200000;
  ASSERT_TRUE(loadCuda(program).ok());
  state.launches = 0;
  EXPECT_EQ(loaded->launch(nullptr, scores.values, 5).message(),
            "kernel 'persistent' needs 65536 bytes of dynamic shared memory "
            "for these shapes, expected at most 32448");
  EXPECT_EQ(state.launches, 0);
}

TEST_F(CudaLaunchTest, LoadErrors) {
  EXPECT_EQ(loadCuda(gatherProgram("cuda"), 1).message(),
            "device 1 does not exist: the driver sees 1 (0 to 0)");
  EXPECT_EQ(loadCuda(gatherProgram("host")).code(), Code::InvalidArgument);
  state.loadResult = cuda::ErrorNoBinaryForGPU;
  EXPECT_EQ(loadCuda().message(),
            "kernel 'gather_k0': its image, for sm_90a, does not run on device "
            "0 (Fake H200): compile it for sm_90a");
  state.loadResult = cuda::ErrorInvalidImage;
  EXPECT_EQ(loadCuda().message(), "kernel 'gather_k0': the driver cannot read "
                                  "its image: compile it anew");
  state.loadResult = 2;
  EXPECT_EQ(loadCuda().message(),
            "kernel 'gather_k0': cuLibraryLoadData failed: "
            "CUDA_ERROR_SOMETHING (something is wrong)");
  state.loadResult = 0;
  CompiledProgram program = gatherProgram("cuda");
  program.info.kernels[0].plan.sharedBytes = 300000;
  EXPECT_EQ(loadCuda(program).message(),
            "kernel 'gather_k0': needs 300000 + 0 bytes of shared memory, the "
            "device has 232448: choose a smaller schedule");
  // What the image has of its own counts, too.
  program.info.kernels[0].plan.sharedBytes = 232000;
  state.staticShared = 448;
  EXPECT_EQ(loadCuda(program).message(), "");
  state.staticShared = 449;
  EXPECT_EQ(loadCuda(program).message(),
            "kernel 'gather_k0': needs 232000 + 449 bytes of shared memory, "
            "the device has 232448: choose a smaller schedule");
  state.parameterSizes[4] = 8;
  EXPECT_EQ(loadCuda().message(),
            "kernel 'gather_k0': parameter 4 of the image is not the "
            "program's: compile it anew");
}

TEST_F(CudaLaunchTest, LaunchErrors) {
  ASSERT_TRUE(loadCuda().ok());
  state.launchResult = 700;
  Status status = launch();
  EXPECT_EQ(status.code(), Code::LaunchFailed);
  EXPECT_EQ(status.message(), "kernel 'gather_k0': cuLaunchKernelEx failed: "
                              "CUDA_ERROR_SOMETHING (something is wrong)");
}

} // namespace
