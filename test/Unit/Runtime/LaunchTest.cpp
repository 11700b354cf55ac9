//===- LaunchTest.cpp - Launches over stand-ins for kernels ---------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LaunchFixture.h"

#include <cstdlib>
#include <new>

using namespace dsv4::rt;
using namespace dsv4::rt::test;

thread_local size_t dsv4::rt::test::allocations = 0;

[[gnu::noinline]] void *operator new(size_t bytes) {
  ++allocations;
  if (void *memory = std::malloc(bytes ? bytes : 1))
    return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void *memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void *memory, size_t) noexcept {
  std::free(memory);
}

namespace {

using LaunchTest = GatherLaunchTest;

TEST_F(LaunchTest, PassesWhatTheKernelWants) {
  load();
  ASSERT_TRUE(launch().ok());
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(seen[0].symbol, "gather_k0");
  EXPECT_TRUE(seen[0].grid == Dim3(384)); // 3 x 512 rows, four per block.
  EXPECT_TRUE(seen[0].block == Dim3(128));
  EXPECT_EQ(seen[0].sharedBytes, 1024u);
  EXPECT_EQ(seen[0].buffers,
            (std::vector<void *>{memory, memory + 4, memory + 16}));
  EXPECT_EQ(seen[0].numbers, (std::vector<int64_t>{3, 512, 7}));
}

TEST_F(LaunchTest, AllocatesNothing) {
  load();
  seen.reserve(1);
  size_t before = allocations;
  Status status = launch();
  EXPECT_EQ(allocations, before);
  EXPECT_TRUE(status.ok());
}

TEST_F(LaunchTest, LastBlockMayBePartial) {
  load();
  setShapes(1, 5, 7);
  ASSERT_TRUE(launch().ok());
  EXPECT_EQ(seen[0].grid.x, 2u);
}

TEST_F(LaunchTest, EmptyGridsLaunchNothing) {
  load();
  setShapes(0, 512, 7);
  arguments[1].data = arguments[2].data = nullptr; // Empty: may be null.
  EXPECT_TRUE(launch().ok());
  setShapes(int64_t(INT32_MAX), 0, 7); // 0 x anything is 0.
  EXPECT_TRUE(launch().ok());
  EXPECT_TRUE(seen.empty());
}

TEST_F(LaunchTest, ManyRows) {
  load();
  setShapes(70000, 1, 7); // More than a grid's y axis takes.
  ASSERT_TRUE(launch().ok());
  EXPECT_EQ(seen[0].grid.x, 17500u);
  setShapes(INT32_MAX - 3, 1, 7);
  ASSERT_TRUE(launch().ok());
  EXPECT_EQ(seen[1].grid.x, 536870911u);
}

TEST_F(LaunchTest, DimsBeyondInt32) {
  load();
  setShapes(3, 512, int64_t(5) << 31);
  ASSERT_TRUE(launch().ok());
  EXPECT_EQ(seen[0].numbers[2], int64_t(5) << 31);
}

TEST_F(LaunchTest, TooManyRows) {
  setShapes(4194304, 512, 7);
  EXPECT_EQ(error(), tooManyRows);
}

TEST_F(LaunchTest, GridsBeyondInt64) {
  CompiledProgram program = gatherProgram();
  const Expression pages = Expression::extent(2);
  program.info.kernels[0].plan.grid[0] = pages * pages * Expression(2);
  load(program);
  setShapes(3, 512, int64_t(1) << 40);
  EXPECT_EQ(error(), "kernel 'gather_k0': grid x = pages * pages * 2 is 2^63 "
                     "or more: split the launch");
}

TEST_F(LaunchTest, Int32Parameters) {
  CompiledProgram program = gatherProgram();
  program.info.kernels[0].plan.parameters[3] =
      Parameter::int32(Expression::extent(2));
  load(program);
  setShapes(3, 512, INT32_MAX);
  EXPECT_TRUE(launch().ok());
  seen.clear();
  setShapes(3, 512, int64_t(1) << 31);
  EXPECT_EQ(error(), "kernel 'gather_k0': a parameter = pages is 2147483648, "
                     "expected at most 2147483647: split the launch");
}

TEST_F(LaunchTest, KernelsRunInOrderAfterAllChecks) {
  CompiledProgram program = gatherProgram();
  program.images = {"a", "b", "c"};
  program.info.kernels.resize(3, program.info.kernels[0]);
  program.info.kernels[1].symbol = "gather_k1";
  program.info.kernels[1].plan.grid[0] = 0;
  program.info.kernels[2].symbol = "gather_k2";
  program.info.kernels[2].plan.grid[0] = 1;
  load(program);
  ASSERT_TRUE(launch().ok());
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_EQ(seen[0].symbol, "gather_k0");
  EXPECT_EQ(seen[1].symbol, "gather_k2");
  EXPECT_EQ(seen[1].grid.x, 1u);

  seen.clear();
  program.info.kernels[2].plan.grid[0] =
      Expression::extent(2) * Expression::extent(2);
  load(program);
  cacheShape[0] = 1 << 20;
  EXPECT_EQ(error(), "kernel 'gather_k2': grid x = pages * pages is "
                     "1099511627776, expected at most 2147483647: split the "
                     "launch");
}

TEST_F(LaunchTest, WithoutArguments) {
  CompiledProgram program = gatherProgram();
  program.info.bindings.clear();
  program.info.dims.clear();
  LaunchPlan &plan = program.info.kernels[0].plan;
  plan.parameters.clear();
  plan.requirements = Condition();
  plan.grid[0] = 2;
  load(program);
  EXPECT_TRUE(loaded->launch(nullptr, nullptr, 0).ok());
  EXPECT_EQ(seen[0].grid.x, 2u);
}

TEST_F(LaunchTest, ProgramsThatDoNotLoad) {
  HostModuleFactory factory =
      [](const std::string &,
         const KernelInfo &) -> Result<std::unique_ptr<HostModule>> {
    return Status(Code::LoadFailed, "no such image");
  };
  auto message = [&](const CompiledProgram &program, const Backend &backend) {
    auto result = LoadedProgram::load(program, backend);
    EXPECT_FALSE(result.ok());
    return result.status().message();
  };
  CompiledProgram program = gatherProgram();
  EXPECT_EQ(message(program, Backend::onHost(factory)), "no such image");
  EXPECT_EQ(message(program, Backend()),
            "program 'gather' is for target 'host', which this backend does "
            "not run: compile it for the other target");
  EXPECT_EQ(message(gatherProgram("cuda"), Backend::onHost(factory)),
            "program 'gather' is for target 'cuda', which this backend does "
            "not run: compile it for the other target");
  program.images.clear();
  EXPECT_EQ(message(program, Backend::onHost(factory)),
            "program 'gather' has 0 images for 1 kernels: compile it anew");
  program = gatherProgram();
  program.info.kernels[0].plan.parameters[0].binding = 3;
  EXPECT_EQ(message(program, Backend::onHost(factory)),
            "program: kernel 'gather_k0': a parameter refers to binding 3, "
            "which does not exist");
  program = gatherProgram();
  program.info.kernels[0].plan.parameters[1] = Parameter::tensorMap(1);
  EXPECT_EQ(message(program, Backend::onHost(factory)),
            "kernel 'gather_k0': parameter 1 is a tensor map, which this "
            "runtime cannot pass: compile the program for another schedule");
  EXPECT_EQ(message(gatherProgram(),
                    Backend::onHost([](const std::string &, const KernelInfo &)
                                        -> Result<std::unique_ptr<HostModule>> {
                      return std::unique_ptr<HostModule>();
                    })),
            "kernel 'gather_k0': the host loader gave no module");
}

} // namespace
