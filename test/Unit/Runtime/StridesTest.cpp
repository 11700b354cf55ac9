//===- StridesTest.cpp - Strides of arguments at a launch -----------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LaunchFixture.h"

using namespace dsv4::rt;
using namespace dsv4::rt::test;

namespace {

class StridesTest : public PlanLaunchTest {
protected:
  StridesTest() { load({stridedInfo(), {"append"}}); }

  Status launch() {
    const Argument arguments[] = {{memory, x, isContiguous ? nullptr : xs},
                                  {memory, cache, cs},
                                  {memory, out, os}};
    return loaded->launch(nullptr, arguments, 3);
  }
  std::string error() { return errorOf(launch()); }

  alignas(16) char memory[16];
  bool isContiguous = false;
  int64_t x[2] = {5, 64}, cache[2] = {7, 656}, out[3] = {5, 8, 64};
  int64_t xs[2] = {256, 2}, cs[2] = {4096, 1}, os[3] = {8192, 1024, 2};
};

TEST_F(StridesTest, AreNumbersOfElements) {
  ASSERT_TRUE(launch().ok()) << launch().message();
  EXPECT_EQ(seen[0].numbers, (std::vector<int64_t>{128, 4096, 4096}));
}

TEST_F(StridesTest, AllocateNothing) {
  seen.reserve(1);
  size_t before = allocations;
  Status status = launch();
  EXPECT_EQ(allocations, before);
  EXPECT_TRUE(status.ok());
}

TEST_F(StridesTest, NoneIsContiguous) {
  isContiguous = true;
  ASSERT_TRUE(launch().ok());
  EXPECT_EQ(seen[0].numbers[0], 64);
}

/// No address depends on the stride of one element.
TEST_F(StridesTest, OfOneElementAreFree) {
  x[0] = out[0] = cache[0] = 1;
  xs[0] = -7, cs[0] = 3, os[0] = 1;
  ASSERT_TRUE(launch().ok()) << launch().message();
  EXPECT_EQ(seen[0].numbers, (std::vector<int64_t>{0, 0, 0}));
}

TEST_F(StridesTest, OfNoElementsAreFree) {
  x[0] = out[0] = cache[0] = 0;
  xs[0] = -7, cs[0] = 3, os[0] = os[1] = os[2] = 1;
  EXPECT_TRUE(launch().ok()) << launch().message();
}

/// Rows that are only read may be one row.
TEST_F(StridesTest, ZeroRepeatsARow) {
  xs[0] = 0;
  ASSERT_TRUE(launch().ok());
  EXPECT_EQ(seen[0].numbers[0], 0);
}

TEST_F(StridesTest, LastAxisIsUnit) {
  xs[1] = 4;
  EXPECT_EQ(error(), "argument 'x': stride 1 is 4 bytes, expected 2: the "
                     "elements of a row must follow each other");
}

TEST_F(StridesTest, AreNotNegative) {
  xs[0] = -256;
  EXPECT_EQ(error(), "argument 'x': stride 0 is -256 bytes, expected none that "
                     "is negative: pass the elements in their order");
}

TEST_F(StridesTest, AreAligned) {
  xs[0] = 136;
  EXPECT_EQ(error(),
            "argument 'x': stride 0 is 136 bytes, expected a multiple of 16: "
            "pass memory whose rows are aligned so, or compile with a smaller "
            "'align' in 'dsv4.strides'");
}

TEST_F(StridesTest, FitTheKernel) {
  xs[0] = (int64_t(1) << 32) + 16;
  EXPECT_EQ(error(), "argument 'x': stride 0 is 4294967312 bytes, expected at "
                     "most 4294967294");
}

TEST_F(StridesTest, HaveRoomForAPage) {
  cs[0] = 640;
  EXPECT_EQ(error(), "argument 'cache': stride 0 is 640 bytes, expected at "
                     "least 656, the bytes of a page");
}

/// What else a kernel needs of a stride is an error about a stride.
TEST_F(StridesTest, ThatAreRequired) {
  CompiledProgram program = {stridedInfo(), {"append"}};
  program.info.kernels[0].plan.requirements =
      *Condition::parse("ceildiv(x.stride.0, 128) * 128 <= x.stride.0 && "
                        "rows * 64 <= x.stride.0",
                        program.info.planNames());
  load(program);
  xs[0] = 272;
  EXPECT_EQ(error(), "argument 'x': stride 0 (dim 'x.stride.0') is 136 "
                     "elements, expected a multiple of 128 elements");
  EXPECT_EQ(launch().id(), std::string("argument.stride"));
  xs[0] = 512;
  EXPECT_EQ(error(), "argument 'x': stride 0 (dim 'x.stride.0') is 256 "
                     "elements, expected at least 320 elements, rows * 64");
  xs[0] = 768;
  EXPECT_TRUE(launch().ok());
}

/// Elements of a tensor with one axis may be apart.
TEST_F(StridesTest, OfAnOnlyAxis) {
  CompiledProgram program = {stridedInfo(), {"append"}};
  program.info.bindings[0].shape.pop_back();
  program.info.dims[2].multiple = 1;
  program.info.kernels[0].plan.parameters[0].alignment = 2;
  load(program);
  xs[0] = 6;
  ASSERT_TRUE(launch().ok()) << launch().message();
  EXPECT_EQ(seen[0].numbers[0], 3);
  isContiguous = true;
  ASSERT_TRUE(launch().ok());
  EXPECT_EQ(seen.back().numbers[0], 1);
  seen.clear();
  isContiguous = false;
  xs[0] = 7;
  EXPECT_EQ(error(), "argument 'x': stride 0 is 7 bytes, expected a multiple "
                     "of 2, the bytes of an element");
}

TEST_F(StridesTest, AreTheConstantsOfTheProgram) {
  os[1] = 512;
  EXPECT_EQ(error(), "argument 'out': stride 1 is 512 bytes, expected 1024, "
                     "which the program was compiled for");
}

TEST_F(StridesTest, ResultsDoNotOverlap) {
  os[0] = 1040;
  EXPECT_EQ(error(),
            "argument 'out': stride 0 is 1040 bytes, expected at least 7296: "
            "the program writes this argument, so its elements must not "
            "overlap");
  os[0] = 0;
  EXPECT_EQ(error(),
            "argument 'out': stride 0 is 0 bytes, expected at least 128, the "
            "bytes of a row: the program writes this argument, so its elements "
            "must not overlap");
  // The rows of one index fill gaps of those of another.
  os[0] = 128;
  EXPECT_TRUE(launch().ok()) << launch().message();
}

/// The axis that is wrong is named, not one that has an equal stride.
TEST_F(StridesTest, RowsAreWhole) {
  ProgramInfo info = stridedInfo();
  info.bindings[2].storage = Storage::I64;
  info.bindings[2].strides = {dim(4), constant(64)};
  info.bindings[2].shape = {dim(0), constant(1), constant(8)};
  load({info, {"append"}});
  out[1] = 1, out[2] = 8;
  os[0] = 8, os[1] = 64, os[2] = 8;
  EXPECT_EQ(error(),
            "argument 'out': stride 0 is 8 bytes, expected a multiple of 64: "
            "pass memory whose rows are aligned so, or compile with a smaller "
            "'align' in 'dsv4.strides'");
  info.dims[4].multiple = 1;
  load({info, {"append"}});
  EXPECT_EQ(error(),
            "argument 'out': stride 0 is 8 bytes, expected at least 64, the "
            "bytes of a row: the program writes this argument, so its elements "
            "must not overlap");
  os[0] = 12;
  EXPECT_EQ(error(), "argument 'out': stride 0 is 12 bytes, expected a "
                     "multiple of 8, the bytes of an element");
}

/// An error does not ask for a stride that no kernel can have.
TEST_F(StridesTest, AnotherStrideIsTooLarge) {
  ProgramInfo info = stridedInfo();
  info.bindings[2].strides = {dim(4), dim(5)};
  info.dims.push_back({"out.stride.1", 2, 1, INT32_MAX, 8, true});
  info.kernels[0].plan.parameters.push_back(
      Parameter::int32(Expression::extent(5)));
  load({info, {"append"}});
  os[0] = os[1] = (int64_t(1) << 32) - 16;
  EXPECT_EQ(error(),
            "argument 'out': stride 1 is 4294967280 bytes, expected at least "
            "17179869248, which is more than a stride can be, so the other "
            "strides are too large: the program writes this argument, so its "
            "elements must not overlap");
}

TEST_F(StridesTest, SpanLessThan63Bits) {
  x[0] = out[0] = INT32_MAX;
  xs[0] = 0;
  os[0] = (int64_t(1) << 32) - 32;
  ASSERT_TRUE(launch().ok()) << launch().message();
  ProgramInfo info = stridedInfo();
  info.bindings[0].storage = Storage::I64;
  info.dims[2].multiple = 2;
  info.bindings[0].shape[1] = constant(1);
  info.bindings[0].strides = {constant(INT64_MAX / 4)};
  info.dims.erase(info.dims.begin() + 2);
  info.bindings[1].strides = {dim(2)};
  info.bindings[2].strides = {dim(3), constant(1024)};
  info.kernels[0].plan.parameters.resize(3);
  seen.clear();
  load({info, {"append"}});
  x[1] = 1;
  xs[0] = INT64_MAX / 4, xs[1] = 8;
  EXPECT_EQ(error(), "argument 'x': stride 0 is 2305843009213693951 bytes, "
                     "expected less: its 2147483647 elements span more than "
                     "2^63 - 1 bytes");
}

/// gather(cache, indices) has no strides.
class ContiguousTest : public PlanLaunchTest {
protected:
  ContiguousTest() { load(gatherProgram()); }

  Status launch() {
    const Argument arguments[] = {
        {memory, cache, cs}, {memory, indices, is}, {memory, out, os}};
    return loaded->launch(nullptr, arguments, 3);
  }

  alignas(128) char memory[16];
  int64_t cache[3] = {7, 64, 656}, indices[2] = {3, 8}, out[3] = {3, 8, 512};
  int64_t cs[3] = {41984, 656, 1}, is[2] = {32, 4}, os[3] = {8192, 1024, 2};
};

TEST_F(ContiguousTest, StridesMayBeGiven) {
  ASSERT_TRUE(launch().ok()) << launch().message();
  EXPECT_EQ(seen.size(), 1u);
}

TEST_F(ContiguousTest, OtherStridesAreRefused) {
  os[0] = 16384;
  EXPECT_EQ(errorOf(launch()),
            "argument 'out': stride 0 is 16384 bytes, expected 8192 "
            "(contiguous): compile the program with 'dsv4.strides' of this "
            "argument, or pass a contiguous copy");
}

/// No stride is that of rows which are more than all memory.
TEST_F(ContiguousTest, GivenStridesDoNotOverflow) {
  ProgramInfo info = gatherInfo();
  info.bindings[0].shape = {dim(0), dim(2), constant(656)};
  info.dims[2] = {"pages", 0, 1, int64_t(1) << 62};
  load({info, {"image"}});
  cache[0] = 3, cache[1] = int64_t(1) << 60;
  cs[0] = 0, cs[1] = 656;
  EXPECT_EQ(errorOf(launch()),
            "argument 'cache': its extents are more than 2^63 - 1 bytes: pass "
            "smaller ones");
}

TEST_F(ContiguousTest, ExtentsDoNotOverflow) {
  ProgramInfo info = gatherInfo();
  info.bindings[0].shape = {dim(2), dim(0), constant(656)};
  load({info, {"image"}});
  cache[0] = int64_t(1) << 40, cache[1] = indices[0] = out[0] = 1 << 20;
  indices[1] = out[1] = 8;
  const Argument arguments[] = {
      {memory, cache}, {memory, indices}, {memory, out}};
  EXPECT_EQ(errorOf(loaded->launch(nullptr, arguments, 3)),
            "argument 'cache': its extents are more than 2^63 - 1 bytes: pass "
            "smaller ones");
}

} // namespace
