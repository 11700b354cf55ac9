//===- LaunchWorkspaceTest.cpp - Workspaces of launches -------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LaunchFixture.h"

using namespace dsv4::rt;
using namespace dsv4::rt::test;

namespace {

using LaunchWorkspaceTest = GatherLaunchTest;

/// Two kernels that need a workspace between two that do not: one of 1,040
/// bytes, and 64 bytes for each of tokens x topk rows by two blocks.
static CompiledProgram workspaceProgram(const std::string &target = "host") {
  CompiledProgram program = gatherProgram(target);
  program.images.resize(4, program.images[0]);
  program.info.kernels.resize(4, program.info.kernels[0]);
  const Expression rows = Expression::extent(0) * Expression::extent(1);
  for (int i : {1, 2})
    program.info.kernels[i].plan.parameters.push_back(Parameter::workspace());
  program.info.kernels[1].plan.grid[0] = 1;
  program.info.kernels[1].plan.workspaceBytes = 1040;
  program.info.kernels[2].plan.grid[0] = rows * Expression(2);
  program.info.kernels[2].plan.workspaceBytes = rows * Expression(64);
  return program;
}

TEST_F(LaunchWorkspaceTest, WorkspaceIsThatOfTheLargestKernel) {
  load(workspaceProgram());
  auto bytes = [&](int64_t tokens, int64_t topk) {
    setShapes(tokens, topk, 7);
    Result<uint64_t> needed = loaded->workspaceBytes(arguments, 3);
    EXPECT_TRUE(needed.ok()) << needed.status().message();
    return *needed;
  };
  EXPECT_EQ(bytes(0, 512), 1040u);
  EXPECT_EQ(bytes(4, 4), 1040u);
  EXPECT_EQ(bytes(3, 6), 1152u);
  // More than 32 bits count.
  EXPECT_EQ(bytes(1 << 15, 1 << 14), uint64_t(1) << 35);
  // Nothing is read, so nothing need be there; shapes are checked.
  for (Argument &argument : arguments)
    argument.data = nullptr;
  EXPECT_EQ(bytes(3, 6), 1152u);
  outShape[1] = 511;
  EXPECT_EQ(loaded->workspaceBytes(arguments, 3).status().message(),
            "argument 'out': extent 1 is 511, expected 6 (dim 'topk', from "
            "extent 1 of 'indices')");
  setShapes(4194304, 512, 7);
  EXPECT_EQ(loaded->workspaceBytes(arguments, 3).status().message(),
            tooManyRows);
  load();
  setShapes(3, 512, 7);
  EXPECT_EQ(*loaded->workspaceBytes(arguments, 3), 0u);
}

TEST_F(LaunchWorkspaceTest, WorkspaceIsPassedOn) {
  load(workspaceProgram());
  setShapes(3, 6, 7);
  alignas(16) char workspace[1152];
  seen.reserve(4);
  size_t before = allocations;
  Status status =
      loaded->launch(nullptr, arguments, 3, {workspace, sizeof(workspace)});
  EXPECT_EQ(allocations, before);
  ASSERT_TRUE(status.ok()) << status.message();
  ASSERT_EQ(seen.size(), 4u);
  for (int i : {0, 3})
    EXPECT_EQ(seen[i].buffers.size(), 3u);
  for (int i : {1, 2})
    EXPECT_EQ(seen[i].buffers.back(), workspace);
  EXPECT_EQ(seen[1].grid.x, 1u);
  EXPECT_EQ(seen[2].grid.x, 36u);
}

TEST_F(LaunchWorkspaceTest, WorkspaceThatIsMissingOrTooSmall) {
  load(workspaceProgram());
  setShapes(3, 6, 7);
  alignas(16) char workspace[1168];
  auto message = [&](Workspace given) {
    Status status = loaded->launch(nullptr, arguments, 3, given);
    EXPECT_EQ(status.code(), Code::InvalidArgument);
    EXPECT_TRUE(seen.empty());
    return status.message();
  };
  const std::string needs =
      "program 'gather' needs a workspace of 1152 bytes for these shapes, ";
  const std::string none =
      needs + "got none: pass memory that was once set to zero";
  EXPECT_EQ(message({}), none);
  EXPECT_EQ(message({nullptr, 1152}), none);
  EXPECT_EQ(error(), none);
  EXPECT_EQ(message({workspace, 1151}), needs + "got 1151");
  EXPECT_EQ(message({workspace, 0}), needs + "got 0");
  EXPECT_EQ(message({workspace + 8, 1152}), needs + "aligned to 16");
}

TEST_F(LaunchWorkspaceTest, NoWorkspaceForNoBlocks) {
  CompiledProgram program = workspaceProgram();
  program.info.kernels[1].plan.grid[0] = Expression::extent(0);
  load(program);
  setShapes(0, 512, 7);
  EXPECT_TRUE(launch().ok());
  EXPECT_TRUE(seen.empty());
}

TEST_F(LaunchWorkspaceTest, RowsOfSeveralBlocks) {
  CompiledProgram program = workspaceProgram();
  Expression &grid = program.info.kernels[2].plan.grid[0];
  grid = grid * Expression(128);
  load(program);
  setShapes(8388607, 1, 7);
  EXPECT_EQ(*loaded->workspaceBytes(arguments, 3), uint64_t(8388607) * 64);
  setShapes(8388608, 1, 7);
  EXPECT_EQ(error(), "kernel 'gather_k0': grid x = tokens * topk * 2 * 128 is "
                     "2147483648, expected at most 2147483647: split the "
                     "launch");
}

} // namespace
