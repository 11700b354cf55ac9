//===- ProgramTest.cpp - Programs, errors, overlaps -----------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CTesting.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <unistd.h>

using namespace dsv4;
using namespace dsv4::test;

namespace {

class ProgramTest : public RuntimeTest {
protected:
  Error error;
};

TEST_F(ProgramTest, Queries) {
  dsv4_program *program = open(rt::test::scoresProgram("cuda"));
  auto info = sized<dsv4_program_info>();
  ASSERT_EQ(dsv4_program_query(program, &info, error), DSV4_OK);
  EXPECT_STREQ(info.name, "scores");
  EXPECT_STREQ(info.arch, "sm_90a");
  EXPECT_STREQ(info.key, "c0ffee");
  EXPECT_EQ(info.target, DSV4_TARGET_CUDA);
  EXPECT_EQ(info.bindings, 5u);
  EXPECT_EQ(info.dims, 2u);
  EXPECT_EQ(info.kernels, 2u);
  auto binding = sized<dsv4_binding>();
  ASSERT_EQ(dsv4_program_binding(program, 4, &binding, error), DSV4_OK);
  EXPECT_STREQ(binding.name, "out");
  EXPECT_STREQ(binding.element, "f32");
  EXPECT_EQ(binding.rank, 2);
  EXPECT_EQ(binding.type.code, DSV4_TYPE_FLOAT);
  EXPECT_EQ(binding.element_bytes, 4u);
  EXPECT_TRUE(binding.written);
  EXPECT_EQ(binding.extents[0], -1);
  EXPECT_EQ(binding.dims[1], 1);
  EXPECT_EQ(binding.strides[0], -1);
  EXPECT_EQ(binding.strides[1], 4);
  EXPECT_EQ(binding.alignment, 16u);
  ASSERT_EQ(dsv4_program_binding(program, 0, &binding, error), DSV4_OK);
  EXPECT_EQ(binding.extents[1], 128);
  EXPECT_EQ(binding.strides[0], 256);
  ASSERT_EQ(dsv4_program_binding(program, 2, &binding, error), DSV4_OK);
  EXPECT_TRUE(binding.scalar);
  EXPECT_EQ(dsv4_program_find_binding(program, "first"), 3);
  EXPECT_EQ(dsv4_program_find_binding(program, "last"), -1);
  auto dim = sized<dsv4_dim>();
  ASSERT_EQ(dsv4_program_dim(program, 1, &dim, error), DSV4_OK);
  EXPECT_STREQ(dim.name, "n");
  EXPECT_EQ(dim.binding, 1);
  EXPECT_EQ(dim.max, INT32_MAX);
  auto kernel = sized<dsv4_kernel>();
  ASSERT_EQ(dsv4_program_kernel(program, 1, &kernel, error), DSV4_OK);
  EXPECT_STREQ(kernel.symbol, "persistent");
  EXPECT_EQ(kernel.cluster[0], 2u);
  EXPECT_TRUE(kernel.uses_workspace);
  const void *bytes = nullptr;
  size_t size = 0;
  ASSERT_EQ(dsv4_program_bytes(program, &bytes, &size, error), DSV4_OK);
  dsv4_program *again = nullptr;
  EXPECT_EQ(dsv4_program_open_memory(runtime, bytes, size, &again, error),
            DSV4_OK);
  dsv4_program_destroy(again);
  dsv4_program_destroy(program);
}

TEST_F(ProgramTest, CorruptEntries) {
  std::string bytes = rt::serialize(rt::test::gatherProgram("cuda"), "1");
  dsv4_program *program = nullptr;
  for (size_t i = 0; i < bytes.size(); i += 7) {
    std::string bad = bytes;
    bad[i] = char(bad[i] ^ 1);
    EXPECT_EQ(dsv4_program_open_memory(runtime, bad.data(), bad.size(),
                                       &program, error),
              DSV4_ERROR_CORRUPT_ENTRY);
    EXPECT_EQ(program, nullptr);
    EXPECT_EQ(error.id(), "entry.corrupt");
  }
  EXPECT_EQ(dsv4_program_open_memory(runtime, "", 0, &program, error),
            DSV4_ERROR_CORRUPT_ENTRY);
  EXPECT_EQ(dsv4_program_open(runtime, "/nowhere/x", &program, error),
            DSV4_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(error.id(), "file");
  EXPECT_EQ(dsv4_program_open(runtime, "/dev/zero", &program, error),
            DSV4_ERROR_INVALID_ARGUMENT);
}

TEST_F(ProgramTest, ErrorsAreCopies) {
  dsv4_program *program = nullptr;
  dsv4_error *first = nullptr, *second = nullptr;
  dsv4_program_open(runtime, "/nowhere/a", &program, &first);
  dsv4_program_open(runtime, "/nowhere/b", &program, &second);
  EXPECT_NE(std::string(first->message).find("/nowhere/a"), std::string::npos);
  EXPECT_NE(std::string(dsv4_last_error()->message).find("/nowhere/b"),
            std::string::npos);
  dsv4_error_destroy(second);
  EXPECT_NE(std::string(dsv4_last_error()->message).find("/nowhere/b"),
            std::string::npos);
  dsv4_error_destroy(first);
  EXPECT_STREQ(dsv4_status_name(DSV4_ERROR_NOT_PREPARED), "not prepared");
  EXPECT_STREQ(dsv4_status_name(9), "unknown status");
  EXPECT_STREQ(dsv4_status_name(-1), "unknown status");
  EXPECT_EQ(dsv4_version(), uint32_t(DSV4_VERSION));
  EXPECT_EQ(dsv4_abi(), uint32_t(DSV4_ABI));
  EXPECT_EQ(counters().errors, 2u);
}

TEST_F(ProgramTest, ErrorsKeepTheirArgument) {
  dsv4_program *program = open(rt::test::gatherProgram("cuda"));
  GatherArguments given;
  dsv4_error *first = nullptr;
  given.tensors[2].ndim = 1;
  dsv4_call(program, given.arguments, 3, nullptr, nullptr, &first);
  EXPECT_NE(first->argument, dsv4_last_error()->argument);
  EXPECT_STREQ(first->argument, "out");
  EXPECT_STREQ(dsv4_last_error()->argument, "out");
  dsv4_error_destroy(first);
  dsv4_program_destroy(program);
}

TEST_F(ProgramTest, TooLarge) {
  dsv4_program *program = nullptr;
  // Nothing of it is read.
  EXPECT_EQ(dsv4_program_open_memory(runtime, "x", (size_t(256) << 20) + 1,
                                     &program, error),
            DSV4_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(error.id(), "entry.size");
  EXPECT_EQ(dsv4_compile(runtime, "x", (size_t(1) << 20) + 1, nullptr, &program,
                         error),
            DSV4_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(error.id(), "text.size");
}

TEST_F(ProgramTest, Devices) {
  int32_t count = 0;
  ASSERT_EQ(dsv4_device_count(runtime, &count, error), DSV4_OK);
  EXPECT_EQ(count, 2);
  auto device = sized<dsv4_device>();
  ASSERT_EQ(dsv4_device_query(runtime, 1, &device, error), DSV4_OK);
  EXPECT_STREQ(device.name, "Fake H200");
  EXPECT_STREQ(device.arch, "sm_90a");
  EXPECT_EQ(device.device_id, 1);
  EXPECT_EQ(dsv4_device_query(runtime, 2, &device, error),
            DSV4_ERROR_INVALID_ARGUMENT);
}

//===----------------------------------------------------------------------===//
// Overlaps
//===----------------------------------------------------------------------===//

/// copy(x: n x 4 x 64 u8) -> a, b: n x 4 x 64 u8, all with run-time strides.
rt::CompiledProgram threeViews() {
  using namespace rt::test;
  rt::ProgramInfo info;
  info.name = "copy";
  info.target = "cuda";
  info.arch = "sm_90a";
  info.dims = {{"n", 0, 0, INT32_MAX}};
  const char *names[] = {"x", "a", "b"};
  rt::KernelInfo kernel;
  kernel.symbol = "copy";
  kernel.plan.grid[0] = rt::Expression::extent(0);
  kernel.plan.block = 32;
  for (int i = 0; i < 3; ++i) {
    rt::Binding binding{names[i],
                        rt::Storage::U8,
                        "i8",
                        {dim(0), constant(4), constant(64)},
                        i > 0};
    for (int axis = 0; axis < 2; ++axis) {
      binding.strides.push_back(dim(int(info.dims.size())));
      info.dims.push_back({std::string(names[i]) + std::to_string(axis), i,
                           axis, INT32_MAX, 1, true});
    }
    info.bindings.push_back(binding);
    kernel.plan.parameters.push_back(
        rt::Parameter::buffer(i, i == 0, i > 0, 1));
  }
  info.kernels = {kernel};
  return {info, {"image"}};
}

TEST_F(ProgramTest, Overlaps) {
  fakeCuda().parameterSizes = {8, 8, 8};
  dsv4_program *program = open(threeViews());
  std::vector<char> memory(1 << 16);
  const int64_t shape[3] = {8, 4, 64};
  // Offsets and strides of x, a and b: fits or not.
  struct Case {
    int64_t views[3][3];
    bool fits;
  };
  const Case cases[] = {
      {{{0, 256, 64}, {8192, 256, 64}, {16384, 256, 64}}, true},
      {{{0, 256, 64}, {2047, 256, 64}, {16384, 256, 64}}, false},
      {{{0, 256, 64}, {2048, 256, 64}, {4096, 256, 64}}, true},
      // Thirds of the rows of one array.
      {{{0, 192 * 4, 192}, {64, 192 * 4, 192}, {128, 192 * 4, 192}}, true},
      {{{0, 192 * 4, 192}, {64, 192 * 4, 192}, {127, 192 * 4, 192}}, false},
      {{{0, 192 * 4, 192}, {64, 192 * 4, 192}, {64, 192 * 4, 192}}, false},
      // Rows of 256 bytes in gaps of 512, with heads that have gaps themselves.
      {{{0, 2048, 128}, {512, 2048, 128}, {1024, 2048, 128}}, true},
      {{{0, 2048, 128}, {512, 2048, 128}, {512 + 128, 2048, 128}}, false},
      {{{0, 2048, 128}, {64, 2048, 128}, {1024, 2048, 128}}, true},
      // Heads of 64 in gaps of 64, but the first head of a row meets the last
      // one of the row before.
      {{{16384, 256, 64}, {0, 448, 128}, {64, 448, 128}}, false},
      {{{16384, 256, 64}, {0, 512, 128}, {64, 512, 128}}, true},
      // A dense array in a gap of another, and across it.
      {{{4096, 256, 64}, {0, 8192, 64}, {256, 8192, 64}}, true},
      {{{8000, 256, 64}, {0, 8192, 64}, {16384 * 3, 256, 64}}, false},
  };
  for (const Case &each : cases) {
    dsv4_tensor tensors[3];
    dsv4_argument arguments[3];
    for (int i = 0; i < 3; ++i) {
      tensors[i] = sized<dsv4_tensor>();
      tensors[i].ndim = 3;
      tensors[i].data = memory.data() + each.views[i][0];
      tensors[i].shape = shape;
      arguments[i] = sized<dsv4_argument>();
      arguments[i].value = &tensors[i];
    }
    int64_t strides[3][3];
    for (int i = 0; i < 3; ++i) {
      strides[i][0] = each.views[i][1];
      strides[i][1] = each.views[i][2];
      strides[i][2] = 1;
      tensors[i].strides = strides[i];
    }
    const dsv4_status status =
        dsv4_call(program, arguments, 3, nullptr, nullptr, error);
    EXPECT_EQ(status, each.fits ? DSV4_OK : DSV4_ERROR_INVALID_ARGUMENT)
        << &each - cases << ": " << error.message();
    if (!each.fits) {
      EXPECT_EQ(error.id(), "argument.overlap");
    }
  }
  dsv4_program_destroy(program);
}

TEST_F(ProgramTest, StridesAreNotSetAsDims) {
  fakeCuda().parameterSizes = {8, 8, 8};
  dsv4_program *program = open(threeViews());
  const int64_t shape[3] = {8, 4, 64};
  dsv4_tensor tensor = sized<dsv4_tensor>();
  tensor.ndim = 3;
  tensor.shape = shape;
  dsv4_argument arguments[3];
  for (dsv4_argument &argument : arguments) {
    argument = sized<dsv4_argument>();
    argument.value = &tensor;
  }
  dsv4_block *block = nullptr;
  ASSERT_EQ(dsv4_bind(program, arguments, 3, nullptr, &block, error), DSV4_OK)
      << error.message();
  EXPECT_EQ(dsv4_set_dim(block, 1, 512, error), DSV4_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(error.id(), "dim.stride");
  EXPECT_EQ(dsv4_set_dim(block, 0, 7, error), DSV4_OK);
  dsv4_block_destroy(block);
  dsv4_program_destroy(program);
}

//===----------------------------------------------------------------------===//
// Beside another LLVM
//===----------------------------------------------------------------------===//

TEST_F(ProgramTest, BesideAnotherLLVM) {
  void *llvm = dlopen(DSV4_LLVM_LIBRARY, RTLD_NOW | RTLD_GLOBAL);
  if (!llvm)
    GTEST_SKIP() << dlerror();
  fakeCuda().parameterSizes = gatherSizes;
  std::string bytes = rt::serialize(rt::test::gatherProgram("cuda"), "1");
  dsv4_program *program = nullptr;
  EXPECT_EQ(dsv4_program_open_memory(runtime, bytes.data(), bytes.size(),
                                     &program, error),
            DSV4_OK);
  bytes[0] = 'x';
  EXPECT_EQ(dsv4_program_load(program, 0, nullptr, error), DSV4_OK);
  dsv4_program_destroy(program);
  EXPECT_EQ(dsv4_program_open_memory(runtime, bytes.data(), bytes.size(),
                                     &program, error),
            DSV4_ERROR_CORRUPT_ENTRY);
}

} // namespace
