//===- HostProgram.h - A program of the host target -------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_TEST_UNIT_C_HOSTPROGRAM_H
#define DSV4_TEST_UNIT_C_HOSTPROGRAM_H

#include "CTesting.h"

#include "dsv4/Target/CUDA/Prelude.h"
#include "dsv4/Target/Host/HostCompiler.h"

#include <numeric>

namespace dsv4::test {

/// scale(x: n x 64 f32, factor: f32) -> y: n x 64 f32. Its blocks count
/// themselves in a workspace, and the last one clears it.
inline rt::CompiledProgram scaleProgram() {
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

} // namespace dsv4::test

#endif // DSV4_TEST_UNIT_C_HOSTPROGRAM_H
