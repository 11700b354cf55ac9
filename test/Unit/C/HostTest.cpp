//===- HostTest.cpp - Programs of the host target through the C interface -===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CTesting.h"

#include "dsv4/Target/CUDA/Prelude.h"
#include "dsv4/Target/Host/HostCompiler.h"

#include <numeric>
#include <thread>

using namespace dsv4;
using namespace dsv4::test;

namespace {

/// scale(x: n x 64 f32, factor: f32) -> y: n x 64 f32. Its blocks count
/// themselves in a workspace, and the last one clears it.
rt::CompiledProgram scaleProgram() {
  using namespace rt::test;
  static const std::string image = [] {
    const char *kernel = R"(
extern "C" __global__ void scale(const float *x, float factor, float *y, int n,
                                 int *count) {
  int at = blockIdx.x * 64 + threadIdx.x;
  y[at] = x[at] * factor;
  if (threadIdx.x == 0 && ++*count == n)
    *count = 0;
}
)";
    rt::Result<std::string> made =
        rt::compileHost(rt::hostPrelude() + kernel + rt::hostEpilogue("scale"));
    EXPECT_TRUE(made.ok()) << made.status().message();
    return made.ok() ? *made : std::string();
  }();
  rt::ProgramInfo info;
  info.name = "scale";
  info.target = "host";
  info.arch = "sm_90a";
  info.bindings = {
      {"x", rt::Storage::F32, "f32", {dim(0), constant(64)}},
      {"factor", rt::Storage::F32, "f32", {}, false, true},
      {"y", rt::Storage::F32, "f32", {dim(0), constant(64)}, true}};
  info.dims = {{"n", 0, 0, INT32_MAX}};
  rt::KernelInfo kernel;
  kernel.symbol = "scale";
  kernel.plan.grid[0] = rt::Expression::extent(0);
  kernel.plan.block = 64;
  kernel.plan.workspaceBytes = 4;
  kernel.plan.parameters = {rt::Parameter::buffer(0, true, false, 4),
                            rt::Parameter::scalar(1),
                            rt::Parameter::buffer(2, false, true, 4),
                            rt::Parameter::int32(rt::Expression::extent(0)),
                            rt::Parameter::workspace()};
  info.kernels = {kernel};
  return {info, {image}};
}

struct ScaleArguments {
  explicit ScaleArguments(int64_t n)
      : x(size_t(n) * 64), y(x.size()), shape{n, 64} {
    std::iota(x.begin(), x.end(), 0.f);
    for (int i : {0, 2}) {
      tensors[i] = sized<dsv4_tensor>();
      tensors[i].ndim = 2;
      tensors[i].data = i == 0 ? x.data() : y.data();
      tensors[i].shape = shape;
      tensors[i].type = {DSV4_TYPE_FLOAT, 32, 1};
      tensors[i].device_type = DSV4_DEVICE_CPU;
    }
    for (int i = 0; i < 3; ++i) {
      arguments[i] = sized<dsv4_argument>();
      arguments[i].value = &tensors[i];
    }
    arguments[1].kind = DSV4_ARGUMENT_SCALAR;
    arguments[1].value = &factor;
  }
  ScaleArguments(const ScaleArguments &) = delete;

  void expectScaled(float by) const {
    for (size_t i = 0; i < x.size(); ++i)
      ASSERT_EQ(y[i], x[i] * by) << i;
  }

  std::vector<float> x, y;
  float factor = 3;
  int64_t shape[2];
  dsv4_tensor tensors[3];
  dsv4_argument arguments[3];
};

class HostTest : public RuntimeTest {
protected:
  void SetUp() override { program = open(scaleProgram()); }
  void TearDown() override { dsv4_program_destroy(program); }

  dsv4_program *program = nullptr;
  Error error;
};

TEST_F(HostTest, CallsAndBlocks) {
  const int inits = fakeCuda().inits;
  ScaleArguments given(5);
  ASSERT_EQ(dsv4_call(program, given.arguments, 3, nullptr, nullptr, error),
            DSV4_OK)
      << error.message();
  given.expectScaled(3);
  dsv4_block *block = nullptr;
  given.factor = 4;
  ASSERT_EQ(dsv4_bind(program, given.arguments, 3, nullptr, &block, error),
            DSV4_OK)
      << error.message();
  given.factor = 5;
  ASSERT_EQ(dsv4_launch(block, nullptr, error), DSV4_OK) << error.message();
  given.expectScaled(4);
  ASSERT_EQ(dsv4_set_argument(block, 1, &given.arguments[1], error), DSV4_OK);
  ASSERT_EQ(dsv4_launch(block, nullptr, error), DSV4_OK);
  given.expectScaled(5);
  alignas(16) int memory[4] = {};
  auto workspace = sized<dsv4_workspace>();
  workspace.data = memory;
  workspace.bytes = sizeof(memory);
  ASSERT_EQ(dsv4_set_workspace(block, &workspace, error), DSV4_OK);
  ASSERT_EQ(dsv4_launch(block, nullptr, error), DSV4_OK);
  EXPECT_EQ(memory[0], 0);
  dsv4_block_destroy(block);
  EXPECT_EQ(fakeCuda().inits, inits); // No driver.
}

TEST_F(HostTest, WrongMemory) {
  ScaleArguments given(1);
  given.tensors[2].device_type = DSV4_DEVICE_CUDA;
  EXPECT_EQ(dsv4_call(program, given.arguments, 3, nullptr, nullptr, error),
            DSV4_ERROR_TYPE_MISMATCH);
  EXPECT_EQ(error.id(), "argument.device");
  EXPECT_EQ(error.argument(), "y");
  given.tensors[2].device_type = DSV4_DEVICE_CUDA_HOST;
  EXPECT_EQ(dsv4_call(program, given.arguments, 3, nullptr, nullptr, error),
            DSV4_OK);
  given.expectScaled(3);
}

TEST_F(HostTest, Threads) {
  std::vector<std::thread> threads;
  for (int i = 1; i <= 4; ++i)
    threads.emplace_back([&, i] {
      ScaleArguments given(i);
      given.factor = float(i);
      for (int again = 0; again < 20; ++again) {
        EXPECT_EQ(
            dsv4_call(program, given.arguments, 3, nullptr, nullptr, nullptr),
            DSV4_OK);
        given.expectScaled(float(i));
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(counters().calls, 80u);
  EXPECT_EQ(counters().loads, 1u);
}

TEST_F(HostTest, ImagesThatDoNotLoad) {
  rt::CompiledProgram bad = scaleProgram();
  bad.images[0] = "no shared object";
  dsv4_program *made = open(bad);
  EXPECT_EQ(dsv4_program_load(made, 0, nullptr, error), DSV4_ERROR_LOAD_FAILED);
  EXPECT_EQ(error.id(), "load.failed");
  dsv4_program_destroy(made);
}

} // namespace
