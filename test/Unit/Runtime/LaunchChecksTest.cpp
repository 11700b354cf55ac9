//===- LaunchChecksTest.cpp - What a launch refuses -----------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LaunchFixture.h"

using namespace dsv4::rt;
using namespace dsv4::rt::test;

namespace {

using LaunchChecksTest = GatherLaunchTest;

// What a kernel reads may begin within an argument.
TEST_F(LaunchChecksTest, Slices) {
  CompiledProgram program = gatherProgram();
  Parameter &indices = program.info.kernels[0].plan.parameters[1];
  const Expression tokens = Expression::extent(0);
  indices.offset = tokens * Expression(4) + Expression(8);
  indices.within.comparisons = {
      {tokens + Expression(2), Comparison::Op::Le, Expression(5)}};
  load(program);
  ASSERT_TRUE(launch().ok());
  EXPECT_EQ(seen[0].buffers[1], memory + 4 + 20);
  seen.clear();
  setShapes(4, 512, 7);
  EXPECT_EQ(error(), "argument 'indices': a slice of it needs tokens + 2 <= 5, "
                     "but ends at 6 of 5: pass a larger argument");
}

TEST_F(LaunchChecksTest, MisalignedSlices) {
  CompiledProgram program = gatherProgram();
  program.info.kernels[0].plan.parameters[1].offset = 6;
  load(program);
  EXPECT_EQ(error(), "argument 'indices': is at an address aligned to 2 bytes "
                     "at byte 6, where a slice of it begins, expected 4: pass "
                     "memory that is aligned so");
}

TEST_F(LaunchChecksTest, SlicesBeyondInt64) {
  CompiledProgram program = gatherProgram();
  const Expression pages = Expression::extent(2);
  program.info.kernels[0].plan.parameters[1].offset = pages * pages * pages;
  load(program);
  setShapes(3, 512, int64_t(1) << 31);
  EXPECT_EQ(error(), "argument 'indices': the end of a slice of it is 2^63 or "
                     "more: pass smaller extents");
}

TEST_F(LaunchChecksTest, WrongCount) {
  load();
  EXPECT_EQ(loaded->launch(nullptr, arguments, 2).message(),
            "program 'gather' takes 3 arguments, got 2");
  EXPECT_EQ(loaded->launch(nullptr, arguments, 4).message(),
            "program 'gather' takes 3 arguments, got 4");
  EXPECT_EQ(loaded->launch(nullptr, nullptr, 3).message(),
            "program 'gather' takes 3 arguments, got 0");
}

TEST_F(LaunchChecksTest, WrongConstant) {
  cacheShape[2] = 584;
  EXPECT_EQ(error(), "argument 'cache': extent 2 is 584, expected 656");
}

TEST_F(LaunchChecksTest, DimsThatDisagree) {
  outShape[1] = 511;
  EXPECT_EQ(error(), "argument 'out': extent 1 is 511, expected 512 (dim "
                     "'topk', from extent 1 of 'indices')");
}

TEST_F(LaunchChecksTest, DimBeyondItsMaximum) {
  setShapes(int64_t(1) << 31, 1, 7);
  EXPECT_EQ(error(), "argument 'indices': extent 0 (dim 'tokens') is "
                     "2147483648, compiled for 0 to 2147483647");
}

TEST_F(LaunchChecksTest, DimThatIsNoMultiple) {
  CompiledProgram program = gatherProgram();
  program.info.dims[1].multiple = 8;
  load(program);
  setShapes(3, 512, 7);
  EXPECT_TRUE(launch().ok());
  seen.clear();
  setShapes(3, 516, 7);
  EXPECT_EQ(error(), "argument 'indices': extent 1 (dim 'topk') is 516, "
                     "compiled for 0 to 2147483647, multiples of 8");
}

TEST_F(LaunchChecksTest, NegativeExtent) {
  setShapes(-1, 512, 7);
  EXPECT_EQ(error(), "argument 'indices': extent 0 (dim 'tokens') is -1, "
                     "compiled for 0 to 2147483647");
}

TEST_F(LaunchChecksTest, NullData) {
  arguments[1].data = nullptr;
  EXPECT_EQ(error(), "argument 'indices': is null but not empty");
}

TEST_F(LaunchChecksTest, NullShape) {
  arguments[2].shape = nullptr;
  EXPECT_EQ(error(), "argument 'out': has no shape");
}

TEST_F(LaunchChecksTest, Misaligned) {
  arguments[0].data = memory + 64;
  EXPECT_EQ(error(), "argument 'cache': is at an address aligned to 64 bytes, "
                     "expected 128: pass memory that is aligned so, or compile "
                     "with 'dsv4.strides' of this argument, and a smaller "
                     "'align' in it");
  // Nothing of an empty one is accessed.
  cacheShape[0] = 0;
  EXPECT_TRUE(launch().ok());
}

} // namespace
