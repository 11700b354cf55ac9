//===- StridesTest.cpp - Buffers that are not contiguous ------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InterpreterFixture.h"

#include "dsv4/Reference/Check.h"

using namespace dsv4;
using namespace dsv4::reference;

namespace {

/// lookup(table: 3 x 2, ids: 4) -> out: 4 x 2; table and out have gaps.
class StridesTest : public InterpreterFixture {
protected:
  StridesTest() {
    parse("%t: tensor<?x2xi32> {dsv4.strides = #dsv4.strides<[?], align = 4>},"
          "%i: tensor<?xi32>,"
          "%o: tensor<?x2xi32> {dsv4.strides = #dsv4.strides<[?], align = 4>}",
          "%0 = dsv4.lookup %t[%i] outs(%o : tensor<?x2xi32>)"
          "    : tensor<?x2xi32>, tensor<?xi32>");
    table = {0, 10, 11, -7, 20, 21, -7, 30, 31, -7};
    out.assign(18, 99);
    buffers = {{{3, 2}, table.data() + 1, {12, 4}, 4},
               {{4}, ids.data()},
               {{4, 2}, out.data() + 1, {16, 4}, 4}};
  }

  std::vector<int32_t> table, ids = {2, -1, 0, 1}, out;
  std::vector<Buffer> buffers;
};

TEST_F(StridesTest, OnlyElementsAreWritten) {
  rt::Status status = interpret(func, buffers);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(out, (std::vector<int32_t>{99, 30, 31, 99, 99, -1, -1, 99, 99, 10,
                                       11, 99, 99, 20, 21, 99, 99, 99}));
}

TEST_F(StridesTest, WritesBetweenElementsAreFound) {
  auto expected = evaluate(func, buffers);
  ASSERT_TRUE(expected.ok()) << expected.status().message();
  std::vector<int32_t> kernel = out;
  std::vector<Buffer> got = buffers;
  got[2].data = kernel.data() + 1;
  EXPECT_EQ(explainDifference(*expected, got), "");
  for (auto [index, where] :
       {std::pair(0, "-4"), std::pair(3, "8"), std::pair(15, "56")}) {
    kernel[index] = 7;
    EXPECT_EQ(explainDifference(*expected, got),
              "'arg2' has 1 bytes outside of its elements that were written, "
              "the first at byte " +
                  std::string(where));
    kernel[index] = 99;
  }
  kernel[9] = 7;
  EXPECT_EQ(explainDifference(*expected, got),
            "'arg2' differs in 1 of 8 elements, first at [2, 0]: got "
            "0x00000007, expected 0x0000000a");
}

TEST_F(StridesTest, RowsMayRepeat) {
  buffers[0].strides = {0, 4};
  ASSERT_TRUE(interpret(func, buffers).ok());
  EXPECT_EQ(out[1], 10);
  EXPECT_EQ(out[13], 10);
}

TEST_F(StridesTest, ThereIsOneForEveryAxis) {
  buffers[0].strides = {12};
  EXPECT_EQ(interpret(func, buffers).message(),
            "binding 'arg0': expected 2 strides, got 1");
}

/// Random memory: strides are as the signature says, gaps have one byte.
TEST_F(StridesTest, RandomMemory) {
  bool isLeast = false, isMore = false;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    auto made = makeRandomInputs(
        func, {{"arg0.0", 5}, {"arg1.0", 3}, {"arg2.0", 3}}, seed);
    ASSERT_TRUE(made.ok()) << made.status().message();
    EXPECT_FALSE(made->getStrides(1));
    const int64_t *strides = made->getStrides(2);
    ASSERT_TRUE(strides);
    EXPECT_EQ(strides[0] % 4, 0);
    EXPECT_EQ(strides[1], 4);
    EXPECT_GE(strides[0], 8);
    EXPECT_EQ(made->getOffset(2) % 8, 4);
    isLeast |= strides[0] == 8;
    isMore |= strides[0] > 8;
    Buffer buffer = made->getBuffer(2);
    EXPECT_EQ(static_cast<char *>(buffer.data)[-1], kPoison);
    EXPECT_EQ(static_cast<char *>(buffer.data)[2 * strides[0] + 8], kPoison);
  }
  EXPECT_TRUE(isLeast && isMore);
}

/// Elements of files go where strides lead, rows that were to repeat too.
TEST_F(StridesTest, ElementsOfFiles) {
  InputSet set;
  set.bytes = {std::vector<char>(64)};
  set.shapes = {{3, 2}};
  set.strides = {{0, 4}};
  set.offsets = {4};
  const int32_t elements[] = {1, 2, 3, 4, 5, 6};
  const char *bytes = reinterpret_cast<const char *>(elements);
  rt::Binding binding{"x", rt::Storage::I32, "i32", {{3}, {2}}};
  set.setElements(0, binding, std::vector<char>(bytes, bytes + 24));
  EXPECT_EQ(set.getStrides(0)[0], 16);
  EXPECT_EQ(pack(binding, set.getBuffer(0)),
            std::vector<char>(bytes, bytes + 24));
}

} // namespace
