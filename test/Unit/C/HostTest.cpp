//===- HostTest.cpp - Programs of the host target through the C interface -===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HostProgram.h"

#include <thread>

using namespace dsv4;
using namespace dsv4::test;

namespace {

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
