//===- BoundLaunchTest.cpp - Launches that are packed once ----------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LaunchFixture.h"

#include "dsv4-runtime/BoundLaunch.h"

using namespace dsv4::rt;
using namespace dsv4::rt::test;

namespace {

/// Launches of gatherInfo(), whose indices begin at a row of their argument.
class BoundLaunchTest : public GatherLaunchTest {
protected:
  /// Loads the program with `change` applied to the buffer of its indices.
  template <typename F>
  void loadWith(F change) {
    CompiledProgram program = gatherProgram();
    change(program.info.kernels[0].plan.parameters[1]);
    loadAndMake(program);
  }
  /// One whose indices begin `tokens` elements into their argument.
  void loadSlice() {
    loadWith([](Parameter &indices) {
      indices.offset = Expression::extent(0) * Expression(4);
    });
  }
  void loadAndMake(const CompiledProgram &program) {
    load(program);
    bound = std::make_unique<BoundLaunch>(*loaded);
  }

  Status bind() { return bound->bind(arguments, 3); }

  /// What the only launch got as indices.
  void *launchedIndices() {
    seen.clear();
    Status status = bound->launch(nullptr);
    EXPECT_TRUE(status.ok()) << status.message();
    if (seen.size() != 1)
      return nullptr;
    EXPECT_EQ(seen[0].buffers[0], arguments[0].data);
    EXPECT_EQ(seen[0].buffers[2], arguments[2].data);
    return seen[0].buffers[1];
  }

  std::unique_ptr<BoundLaunch> bound;
};

TEST_F(BoundLaunchTest, LaunchesWhatALaunchLaunches) {
  loadSlice();
  ASSERT_TRUE(launch().ok());
  const Seen expected = seen[0];
  ASSERT_TRUE(bind().ok());
  EXPECT_EQ(launchedIndices(), memory + 4 + 12);
  EXPECT_EQ(seen[0].buffers, expected.buffers);
  EXPECT_EQ(seen[0].numbers, expected.numbers);
  EXPECT_TRUE(seen[0].grid == expected.grid);
  EXPECT_TRUE(seen[0].block == expected.block);
  EXPECT_EQ(seen[0].sharedBytes, expected.sharedBytes);
}

TEST_F(BoundLaunchTest, SetDataAddsTheOffset) {
  loadSlice();
  ASSERT_TRUE(bind().ok());
  ASSERT_TRUE(bound->setData(1, memory + 64).ok());
  EXPECT_EQ(launchedIndices(), memory + 64 + 12);
  ASSERT_TRUE(bound->setData(1, memory + 4).ok());
  EXPECT_EQ(launchedIndices(), memory + 4 + 12);
}

TEST_F(BoundLaunchTest, OtherExtentsMoveTheOffset) {
  loadSlice();
  ASSERT_TRUE(bind().ok());
  setShapes(9, 512, 7);
  ASSERT_TRUE(bind().ok());
  EXPECT_EQ(launchedIndices(), memory + 4 + 36);
  ASSERT_TRUE(bound->setData(1, memory + 8).ok());
  EXPECT_EQ(launchedIndices(), memory + 8 + 36);
  setShapes(1, 512, 7);
  ASSERT_TRUE(bind().ok());
  EXPECT_EQ(launchedIndices(), memory + 4 + 4);
}

TEST_F(BoundLaunchTest, DataThatComesLater) {
  loadSlice();
  arguments[1].data = nullptr;
  ASSERT_TRUE(bind().ok());
  const std::string missing = "argument 'indices': is null but not empty";
  EXPECT_EQ(errorOf(bound->launch(nullptr)), missing);
  ASSERT_TRUE(bound->setData(1, memory + 64).ok());
  EXPECT_EQ(launchedIndices(), memory + 64 + 12);
  ASSERT_TRUE(bound->setData(1, nullptr).ok());
  seen.clear();
  EXPECT_EQ(errorOf(bound->launch(nullptr)), missing);
}

/// The kernel relies on the alignment of the slice, not of its argument.
TEST_F(BoundLaunchTest, AlignmentIsThatOfTheSlice) {
  loadWith([](Parameter &indices) {
    indices.alignment = 16;
    indices.offset = Expression::extent(0) * Expression(4);
  });
  ASSERT_TRUE(bind().ok()); // At 4 + 12.
  const std::string end =
      " bytes at byte 12, where a slice of it begins, expected 16: pass memory "
      "that is aligned so, or compile with 'dsv4.strides' of this argument, "
      "and a smaller 'align' in it";
  EXPECT_EQ(errorOf(bound->setData(1, memory + 16)),
            "argument 'indices': is at an address aligned to 4" + end);
  EXPECT_EQ(launchedIndices(), memory + 16); // As before.
  ASSERT_TRUE(bound->setData(1, memory + 20).ok());
  EXPECT_EQ(launchedIndices(), memory + 32);
  seen.clear();
  arguments[1].data = memory + 28;
  EXPECT_EQ(errorOf(bind()),
            "argument 'indices': is at an address aligned to 8" + end);
  EXPECT_EQ(launchedIndices(), memory + 32);
  // With other extents, the slice begins elsewhere.
  setShapes(5, 512, 7);
  arguments[1].data = memory + 12;
  ASSERT_TRUE(bind().ok());
  EXPECT_FALSE(bound->setData(1, memory + 4).ok());
  EXPECT_EQ(launchedIndices(), memory + 32);
}

TEST_F(BoundLaunchTest, SlicesBeyondTheArgument) {
  loadWith([](Parameter &indices) {
    const Expression tokens = Expression::extent(0);
    indices.offset = tokens * Expression(4);
    indices.within.comparisons = {
        {tokens + Expression(2), Comparison::Op::Le, Expression(5)}};
  });
  ASSERT_TRUE(bind().ok());
  setShapes(4, 512, 7);
  EXPECT_EQ(errorOf(bind()),
            "argument 'indices': a slice of it needs tokens + 2 <= 5, but ends "
            "at 6 of 5: pass a larger argument");
  EXPECT_EQ(launchedIndices(), memory + 4 + 12); // As before.
}

/// Three kernels with slices of one argument, of which the second is skipped.
TEST_F(BoundLaunchTest, EveryKernelHasItsSlice) {
  CompiledProgram program = gatherProgram();
  program.images = {"a", "b", "c"};
  program.info.kernels.resize(3, program.info.kernels[0]);
  for (int i : {0, 1, 2}) {
    LaunchPlan &plan = program.info.kernels[i].plan;
    plan.parameters[1].offset = Expression::extent(0) * Expression(4 * i);
    // Nobody relies on that of the second, and on its offset.
    plan.parameters[1].alignment = i == 1 ? 128 : 4;
  }
  program.info.kernels[1].plan.condition.comparisons = {
      {Expression::extent(0), Comparison::Op::Gt, Expression(3)}};
  loadAndMake(program);
  ASSERT_TRUE(bind().ok());
  ASSERT_TRUE(bound->setData(1, memory + 8).ok());
  ASSERT_TRUE(bound->launch(nullptr).ok());
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_EQ(seen[0].buffers[1], memory + 8);
  EXPECT_EQ(seen[1].buffers[1], memory + 8 + 24);
  // Then it runs, and is checked.
  seen.clear();
  setShapes(4, 512, 7);
  EXPECT_FALSE(bind().ok());
  arguments[1].data = memory + 128 - 16;
  ASSERT_TRUE(bind().ok());
  ASSERT_TRUE(bound->launch(nullptr).ok());
  ASSERT_EQ(seen.size(), 3u);
  EXPECT_EQ(seen[1].buffers[1], memory + 128);
  EXPECT_EQ(seen[2].buffers[1], memory + 128 + 16);
}

TEST_F(BoundLaunchTest, EmptyArgumentsMayBeNull) {
  loadSlice();
  setShapes(3, 0, 7);
  arguments[1].data = arguments[2].data = nullptr;
  ASSERT_TRUE(bind().ok());
  EXPECT_TRUE(bound->launch(nullptr).ok());
  EXPECT_TRUE(seen.empty());
  setShapes(3, 512, 7); // Now they may not.
  ASSERT_TRUE(bind().ok());
  EXPECT_EQ(errorOf(bound->launch(nullptr)),
            "argument 'indices': is null but not empty");
}

TEST_F(BoundLaunchTest, OnlyTheFirstBindAllocates) {
  loadSlice();
  ASSERT_TRUE(bind().ok());
  seen.reserve(2);
  const size_t before = allocations;
  Status bindStatus = bind();
  Status dataStatus = bound->setData(1, memory + 64);
  Status launchStatus = bound->launch(nullptr);
  EXPECT_EQ(allocations, before);
  EXPECT_TRUE(bindStatus.ok() && dataStatus.ok() && launchStatus.ok());
}

} // namespace
