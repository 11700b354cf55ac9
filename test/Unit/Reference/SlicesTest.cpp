//===- SlicesTest.cpp - Slices of arguments, by hand ----------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InterpreterFixture.h"

using namespace dsv4;
using namespace dsv4::reference;

namespace {

using SlicesTest = InterpreterFixture;

constexpr const char *arguments = "%t: tensor<?x5xi32>, %i: tensor<?xi32>,"
                                  "%o: tensor<?x2xi32>";
constexpr const char *body =
    "%c0 = arith.constant 0 : index\n"
    "%c1 = arith.constant 1 : index\n"
    "%n = tensor.dim %i, %c0 : tensor<?xi32>\n"
    "%at = arith.addi %n, %c1 : index\n"
    "%s = tensor.extract_slice %t[%at, 2] [%n, 2] [1, 1]"
    "    : tensor<?x5xi32> to tensor<?x2xi32>\n"
    "%0 = dsv4.lookup %s[%i] outs(%o : tensor<?x2xi32>)"
    "    : tensor<?x2xi32>, tensor<?xi32>";

TEST_F(SlicesTest, HaveElementsOfTheirArgument) {
  parse(arguments, body);
  std::vector<int32_t> table(25), ids = {1, 0}, out(4);
  for (int32_t i = 0; i < 25; ++i)
    table[i] = i;
  std::vector<Buffer> buffers = {
      {{5, 5}, table.data()}, {{2}, ids.data()}, {{2, 2}, out.data()}};
  rt::Status status = interpret(func, buffers);
  ASSERT_TRUE(status.ok()) << status.message();
  // Rows 3 and 4, columns 2 and 3.
  EXPECT_EQ(out, (std::vector<int32_t>{22, 23, 17, 18}));
}

TEST_F(SlicesTest, AreWithinTheirArgument) {
  parse(arguments, body);
  std::vector<int32_t> table(20), ids = {1, 0}, out(4);
  EXPECT_EQ(interpret(func, {{{4, 5}, table.data()},
                             {{2}, ids.data()},
                             {{2, 2}, out.data()}})
                .message(),
            "'tensor.extract_slice' is not part of its argument of shape [4, "
            "5]");
}

TEST_F(SlicesTest, MayHaveFewerAxesAndHalfBytes) {
  parse("%d: tensor<3x2x8xf4E2M1FN>, %s: tensor<3xf32>, %o: tensor<3x4xbf16>",
        "%p = tensor.extract_slice %d[0, 1, 4] [3, 1, 4] [1, 1, 1]"
        "    : tensor<3x2x8xf4E2M1FN> to tensor<3x4xf4E2M1FN>\n"
        "%0 = dsv4.dequantize %p scales(%s : tensor<3xf32>)"
        "    outs(%o : tensor<3x4xbf16>)"
        "    {format = #dsv4.format<f4E2M1FN, [<f32 per row>]>}"
        "    : tensor<3x4xf4E2M1FN>");
  std::vector<uint8_t> data(24, 0xFF);
  // 1, 2 and 4, 0.5: the second half of the second row of each token.
  for (size_t token = 0; token < 3; ++token) {
    data[token * 8 + 6] = 0x42;
    data[token * 8 + 7] = 0x16;
  }
  std::vector<float> scales = {1, 2, 4};
  std::vector<uint16_t> out(12);
  rt::Status status = interpret(
      func,
      {{{3, 2, 4}, data.data()}, {{3}, scales.data()}, {{3, 4}, out.data()}});
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(out, (std::vector<uint16_t>{0x3F80, 0x4000, 0x4080, 0x3F00, //
                                        0x4000, 0x4080, 0x4100, 0x3F80, //
                                        0x4080, 0x4100, 0x4180, 0x4000}));
}

/// What reads a slice says what it holds; what nothing reads is random.
TEST_F(SlicesTest, RandomContents) {
  parse(arguments, body);
  auto made = makeRandomInputs(
      func, {{"arg0.0", 7}, {"arg1.0", 3}, {"arg2.0", 3}}, /*seed=*/1);
  ASSERT_TRUE(made.ok()) << made.status().message();
  ASSERT_EQ(made->bytes.size(), 3u);
  EXPECT_EQ(made->bytes[0].size(), size_t(7 * 5 * 4));
  EXPECT_EQ(
      makeRandomInputs(func, {{"arg0.0", 6}, {"arg1.0", 3}, {"arg2.0", 3}}, 1)
          .status()
          .message(),
      "a slice of 'arg0' reaches beyond it: give other extents");
}

} // namespace
