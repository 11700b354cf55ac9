//===- InterpreterTest.cpp - The oracle against numbers worked by hand ----===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Byte offsets and bit patterns below were worked out from the layouts and
// formats, not computed by the code under test.
//
//===----------------------------------------------------------------------===//

#include "InterpreterFixture.h"

#include <climits>

using namespace dsv4;
using namespace dsv4::reference;

namespace {

class InterpreterTest : public InterpreterFixture {};

/// A gather from `record` into rows of `extent`, indices of rank 1.
std::pair<std::string, std::string> gather(const std::string &record, int page,
                                           int extent, const char *element) {
  std::string cache =
      "!dsv4.cache<" + std::to_string(page) + " x <" + record + ">>";
  std::string out = "tensor<?x" + std::to_string(extent) + "x" + element + ">";
  return {"%cache: " + cache + ", %i: tensor<?xi32>, %out: " + out +
              ", %mask: tensor<?xi1>",
          "%r:2 = dsv4.paged_gather %cache[%i] outs(%out : " + out +
              ") mask(%mask : tensor<?xi1>) : " + cache + ", tensor<?xi32>"};
}

/// Two bf16 values per row: what the recipes of validity are tested with.
const std::string pairs = "[<\"v\" : 2 x bf16 in row>]";

//===----------------------------------------------------------------------===//
// Records
//===----------------------------------------------------------------------===//

TEST_F(InterpreterTest, V4_584) {
  auto [arguments, body] = gather("v4_584", 2, 512, "bf16");
  parse(arguments, body);
  // Two rows of 576 bytes and two tails of 8, padded to a multiple of 576.
  bytes({2, 1728}, 3456, 0xFF);
  // Entry 3 is slot 1 of page 1; its scales follow the rows of that page.
  constexpr size_t row = 1728 + 576, tail = 1728 + 2 * 576 + 8;
  poke<uint8_t>(0, row, 0x38, 448);  // 1.0
  poke<uint8_t>(0, row + 63, 0xB9);  // -1.125
  poke<uint8_t>(0, row + 64, 0x7E);  // 448
  poke<uint8_t>(0, row + 447, 0x7F); // NaN
  poke<uint16_t>(0, row + 448, 0x4049, 64);
  poke<uint16_t>(0, row + 448, 0xFFC1); // A NaN of rope is copied.
  poke<uint8_t>(0, tail, 127, 7);       // 2^0
  poke<uint8_t>(0, tail + 1, 120);      // 2^-7
  bind<int32_t>({2}, {3, -1});
  bytes({2, 512}, 2048, 0xAB);
  bytes({2}, 2, 0xAB);
  run();
  auto out = read<uint16_t>(2);
  EXPECT_EQ(out[0], 0x3F80);
  EXPECT_EQ(out[63], 0xBF90);
  EXPECT_EQ(out[64], 0x4060); // 448 / 128 = 3.5
  EXPECT_EQ(out[65], 0x3C00); // 2^-7
  EXPECT_EQ(out[127], 0x3C00);
  EXPECT_EQ(out[128], 0x3F80);
  EXPECT_EQ(out[447], 0x7FFF);
  EXPECT_EQ(out[448], 0xFFC1);
  EXPECT_EQ(out[511], 0x4049);
  for (unsigned e = 512; e < 1024; ++e)
    EXPECT_EQ(out[e], 0);
  EXPECT_EQ(read<uint8_t>(3), (std::vector<uint8_t>{1, 0}));
}

TEST_F(InterpreterTest, Seed580RoundsToNearestEven) {
  auto [arguments, body] = gather("seed_580", 2, 512, "bf16");
  parse(arguments, body);
  bytes({1, 2, 448}, 896, 0x38);     // 1.0
  poke<uint8_t>(0, 448 + 447, 0xC4); // -3
  bytes({1, 2, 128}, 256);
  poke<uint16_t>(1, 128 + 126, 0x1234);
  // Halfway between two bf16 each: 1 + 2^-8 goes down, 1 + 3 * 2^-8 up.
  bind<float>({1, 2, 4}, {1.00390625f, 1.01171875f});
  inputs.shapes[2] = {1, 2, 4};
  bind<int32_t>({2}, {0, 1});
  bytes({2, 512}, 2048, 0xAB);
  bytes({2}, 2, 0xAB);
  run();
  auto out = read<uint16_t>(4);
  EXPECT_EQ(out[0], 0x3F80);
  EXPECT_EQ(out[512], 0x3F82);
  EXPECT_EQ(out[512 + 447], 0xC042); // -3.03515625, between 0x4042 and 0x4043.
  EXPECT_EQ(out[1023], 0x1234);
}

TEST_F(InterpreterTest, Seed292MultipliesInTheOrderOfItsFields) {
  auto [arguments, body] = gather("seed_292", 1, 512, "f32");
  parse(arguments, body);
  bytes({2, 1, 256}, 512);
  poke<uint8_t>(0, 256, 0x91);       // Low nibble 0.5 first, then -0.5.
  poke<uint8_t>(0, 256 + 255, 0x7C); // -2, then 6.
  bytes({2, 1, 32}, 64, 0x38);
  poke<uint8_t>(1, 32, 0x39);      // 1.125
  poke<uint8_t>(1, 32 + 31, 0x7E); // 448
  bind<float>({2, 1, 4}, {0, 1e38f});
  bind<int32_t>({1}, {1});
  bytes({1, 512}, 2048, 0xAB);
  bytes({1}, 1, 0xAB);
  run();
  auto out = read<float>(4);
  EXPECT_EQ(out[0], 0.5625f * 1e38f);
  EXPECT_EQ(out[1], -0.5625f * 1e38f);
  EXPECT_EQ(out[2], 0.0f);
  EXPECT_EQ(out[510], -std::numeric_limits<float>::infinity());
  EXPECT_EQ(out[511], std::numeric_limits<float>::infinity());
}

TEST_F(InterpreterTest, Nvfp4_352InterleavesItsScales) {
  auto [arguments, body] = gather("nvfp4_352", 1, 576, "bf16");
  parse(arguments, body);
  bytes({1, 352}, 352);
  poke<uint8_t>(0, 0, 0x22, 256);   // 1.0, 1.0
  poke<uint8_t>(0, 256, 0x3C, 64);  // rope, E4M3 without scales: 1.5
  poke<uint8_t>(0, 256 + 63, 0xFF); // NaN
  poke<uint8_t>(0, 320, 0x38, 32);  // 1.0
  poke<uint8_t>(0, 320 + 1, 0x40);  // Scale 4: 2.0
  poke<uint8_t>(0, 320 + 8, 0x48);  // Scale 1: 4.0
  poke<uint8_t>(0, 320 + 30, 0x50); // Scale 27: 8.0 (30 = 8 * 3 + 6)
  bind<int32_t>({1}, {0});
  bytes({1, 576}, 1152, 0xAB);
  bytes({1}, 1, 0xAB);
  run();
  auto out = read<uint16_t>(2);
  for (unsigned e = 0; e < 512; ++e) {
    unsigned scale = e / 16;
    EXPECT_EQ(out[e], scale == 4    ? 0x4000
                      : scale == 1  ? 0x4080
                      : scale == 27 ? 0x4100
                                    : 0x3F80)
        << e;
  }
  EXPECT_EQ(out[512], 0x3FC0);
  EXPECT_EQ(out[575], 0x7FFF);
}

TEST_F(InterpreterTest, CustomRecord) {
  // Offsets, a tail, high_first, i4, and an array with a scale of its tensor.
  auto [arguments, body] =
      gather("[<\"a\" : 4 x i4 in row at 1 pad 1 high_first>,"
             " <\"b\" : 2 x f32 in array>,"
             " <\"s\" : 2 x bf16 in tail scales \"a\" per 2>,"
             " <\"t\" : 1 x f32 in array scales \"a\" per tensor>], align 4",
             1, 6, "f32");
  parse(arguments, body);
  bytes({2, 8}, 16, 0xFF);
  poke<uint8_t>(0, 8 + 1, 0x18);    // 1, -8
  poke<uint8_t>(0, 8 + 2, 0x7F);    // 7, -1
  poke<uint16_t>(0, 8 + 4, 0x4000); // 2
  poke<uint16_t>(0, 8 + 6, 0x3F00); // 0.5
  bind<uint32_t>({2, 1, 8}, {0, 0, 0x3F800000, 0xFF800001});
  bind<float>({4}, {3.0f});
  bind<int32_t>({1}, {1});
  bytes({1, 6}, 24, 0xAB);
  bytes({1}, 1, 0xAB);
  run();
  auto out = read<float>(4);
  EXPECT_EQ(out[0], 6);
  EXPECT_EQ(out[1], -48);
  EXPECT_EQ(out[2], 10.5);
  EXPECT_EQ(out[3], -1.5);
  EXPECT_EQ(read<uint32_t>(4)[4], 0x3F800000u);
  EXPECT_EQ(read<uint32_t>(4)[5], 0xFF800001u); // Copied bit by bit.
}

//===----------------------------------------------------------------------===//
// Which entry an index names
//===----------------------------------------------------------------------===//

TEST_F(InterpreterTest, IndicesWithoutTable) {
  auto [arguments, body] = gather(pairs, 2, 2, "bf16");
  parse(arguments, body);
  bind<uint16_t>({2, 8}, {10, 11, 20, 21, 30, 31, 40, 41});
  bind<int32_t>({7}, {3, 0, -1, 4, INT_MAX, INT_MIN, 1});
  bytes({7, 2}, 28, 0xAB);
  bytes({7}, 7, 0xAB);
  run();
  EXPECT_EQ(read<uint16_t>(2), (std::vector<uint16_t>{40, 41, 10, 11, 0, 0, 0,
                                                      0, 0, 0, 0, 0, 20, 21}));
  EXPECT_EQ(read<uint8_t>(3), (std::vector<uint8_t>{1, 1, 0, 0, 0, 0, 1}));
}

TEST_F(InterpreterTest, RequestsLengthsAndTables) {
  std::string cache = "!dsv4.cache<2 x <" + pairs + ">>";
  parse("%c: " + cache +
            ", %i: tensor<?x?xi32>, %t: tensor<?x?xi32>, %q: tensor<?xi32>,"
            " %l: tensor<?xi32>, %o: tensor<?x?x2xf32>, %m: tensor<?x?xi1>",
        "%r:2 = dsv4.paged_gather %c[%i] pages(%t : tensor<?x?xi32>)"
        " requests(%q : tensor<?xi32>) lengths(%l : tensor<?xi32>)"
        " outs(%o : tensor<?x?x2xf32>) mask(%m : tensor<?x?xi1>) : " +
            cache + ", tensor<?x?xi32>");
  // Entry s of page p holds 16 (2 p + s) and 1, in bf16.
  std::vector<uint16_t> pool;
  for (uint16_t code : {0x0000, 0x4180, 0x4200, 0x4240, 0x4280, 0x42A0}) {
    pool.push_back(code);
    pool.push_back(0x3F80);
  }
  bind<uint16_t>({3, 8}, pool);
  bind<int32_t>({7, 2}, {0, 5,   // row 1, length 6: pages 2 and 1
                         2, 4,   // row 0: pages -1 and 3 of 3
                         0, 6,   // row 0, beyond the table
                         1, 2,   // row 1, length 2
                         0, 1,   // request -1
                         0, 1,   // request 2 of 2
                         0, 1}); // length -5
  bind<int32_t>({2, 3}, {0, -1, 3, 2, INT_MIN, 1});
  bind<int32_t>({7}, {1, 0, 0, 1, -1, 2, 1});
  bind<int32_t>({7}, {6, 100, INT_MAX, 2, 9, 9, -5});
  bytes({7, 2, 2}, 7 * 2 * 2 * 4, 0xAB);
  bytes({7, 2}, 14, 0xAB);
  run();
  EXPECT_EQ(read<uint8_t>(6),
            (std::vector<uint8_t>{1, 1, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0}));
  auto out = read<float>(5);
  EXPECT_EQ(out[0], 64); // Page 2, slot 0.
  EXPECT_EQ(out[1], 1);
  EXPECT_EQ(out[2], 48); // Page 1, slot 1.
  EXPECT_EQ(out[4], 0);
  EXPECT_EQ(out[5], 0);
  EXPECT_EQ(out[8], 0); // Page 0, slot 0.
  EXPECT_EQ(out[9], 1);
  EXPECT_EQ(out[12], 80); // Page 2, slot 1.
}

TEST_F(InterpreterTest, LengthsPerRequest) {
  std::string cache = "!dsv4.cache<2 x <" + pairs + ">>";
  parse("%c: " + cache +
            ", %i: tensor<?x?xi32>, %t: tensor<?x?xi32>, %q: tensor<?xi32>,"
            " %l: tensor<?xi32>, %o: tensor<?x?x2xf32>, %m: tensor<?x?xi1>",
        "%r:2 = dsv4.paged_gather %c[%i] pages(%t : tensor<?x?xi32>)"
        " requests(%q : tensor<?xi32>) lengths per request(%l : tensor<?xi32>)"
        " outs(%o : tensor<?x?x2xf32>) mask(%m : tensor<?x?xi1>) : " +
            cache + ", tensor<?x?xi32>");
  bytes({4, 8}, 32, 0);
  bind<int32_t>({5, 2}, {2, 3,   // request 1 of length 3
                         0, 1,   // request 0 of length 1
                         0, 2,   // request 2 of 2
                         0, 1,   // request -1
                         1, 2}); // request 1
  bind<int32_t>({2, 2}, {0, 1, 2, 3});
  bind<int32_t>({5}, {1, 0, 2, -1, 1});
  bind<int32_t>({2}, {1, 3});
  bytes({5, 2, 2}, 5 * 2 * 2 * 4, 0xAB);
  bytes({5, 2}, 10, 0xAB);
  run();
  EXPECT_EQ(read<uint8_t>(6),
            (std::vector<uint8_t>{1, 0, 1, 0, 0, 0, 0, 0, 1, 1}));
}

TEST_F(InterpreterTest, OneRowOfIndices) {
  std::string cache = "!dsv4.cache<1 x <" + pairs + ">>";
  parse("%c: " + cache +
            ", %i: tensor<3xi32>, %t: tensor<?xi32>, %l: tensor<i32>, "
            "%o: tensor<3x2xbf16>",
        "%r = dsv4.paged_gather %c[%i] pages(%t : tensor<?xi32>) "
        "lengths(%l : tensor<i32>) outs(%o : tensor<3x2xbf16>) : " +
            cache + ", tensor<3xi32>");
  bind<uint16_t>({2, 4}, {1, 2, 3, 4});
  bind<int32_t>({3}, {0, 1, 2});
  bind<int32_t>({3}, {1, 0, 1});
  bind<int32_t>({}, {2});
  bytes({3, 2}, 12, 0xAB);
  run();
  EXPECT_EQ(read<uint16_t>(4), (std::vector<uint16_t>{3, 4, 1, 2, 0, 0}));
  // A table without pages.
  inputs.shapes[2] = {0};
  run();
  EXPECT_EQ(read<uint16_t>(4), std::vector<uint16_t>(6, 0));
}

TEST_F(InterpreterTest, NothingToDo) {
  auto [arguments, body] = gather(pairs, 2, 2, "bf16");
  parse(arguments, body);
  bytes({0, 8}, 0);
  bytes({0}, 0);
  bytes({0, 2}, 0);
  bytes({0}, 0);
  std::vector<Buffer> buffers = inputs.buffers();
  for (Buffer &buffer : buffers)
    buffer.data = nullptr;
  EXPECT_TRUE(interpret(func, buffers).ok());
}

//===----------------------------------------------------------------------===//
// dequantize
//===----------------------------------------------------------------------===//

TEST_F(InterpreterTest, NVFP4) {
  parse(
      "%d: tensor<?x32xf4E2M1FN>, %s: tensor<?x2xf8E4M3FN>, %g: tensor<?xf32>,"
      " %o: tensor<?x32xf32>",
      "%r = dsv4.dequantize %d scales(%s, %g : tensor<?x2xf8E4M3FN>,"
      " tensor<?xf32>) outs(%o : tensor<?x32xf32>) {format ="
      " #dsv4.format<f4E2M1FN, [<f8E4M3FN per 16>, <f32 per row>]>}"
      " : tensor<?x32xf4E2M1FN>");
  bytes({2, 16}, 32);
  poke<uint8_t>(0, 0, 0xF5);      // 3, -6
  poke<uint8_t>(0, 16 + 8, 0x05); // Row 1, element 16: 3
  bind<uint8_t>({2, 2}, {0x38, 0x38, 0x7F, 0x38});
  // 3 (1 + 2^-23) is halfway between two fp32, and goes to the even one.
  bind<uint32_t>({2}, {0x3F800001, 0x40000000});
  bytes({2, 32}, 256, 0xAB);
  run();
  auto out = read<uint32_t>(3);
  EXPECT_EQ(out[0], 0x40400002u);
  EXPECT_EQ(out[1], 0xC0C00002u);
  EXPECT_EQ(out[2], 0u);
  EXPECT_EQ(out[32], 0x7FFFFFFFu); // 0 times a NaN.
  EXPECT_EQ(out[48], 0x40C00000u);
}

TEST_F(InterpreterTest, MXFP4HighFirst) {
  for (bool highFirst : {false, true}) {
    parse("%d: tensor<64xf4E2M1FN>, %s: tensor<2xf8E8M0FNU>,"
          " %o: tensor<64xbf16>",
          std::string("%r = dsv4.dequantize %d scales(%s : tensor<2xf8E8M0FNU>)"
                      " outs(%o : tensor<64xbf16>) {format ="
                      " #dsv4.format<f4E2M1FN, [<f8E8M0FNU per 32>]") +
              (highFirst ? ", high_first" : "") + ">} : tensor<64xf4E2M1FN>");
    bytes({32}, 32, 0xA4); // 2, -1
    bind<uint8_t>({2}, {127, 254});
    bytes({64}, 128, 0xAB);
    run();
    auto out = read<uint16_t>(2);
    EXPECT_EQ(out[highFirst], 0x4000);
    EXPECT_EQ(out[!highFirst], 0xBF80);
    EXPECT_EQ(out[32 + highFirst], 0x7F80); // 2 * 2^127
    EXPECT_EQ(out[32 + !highFirst], 0xFF00);
  }
}

TEST_F(InterpreterTest, PerTensorInt4) {
  parse("%d: tensor<?x4xi4>, %s: tensor<1xbf16>, %o: tensor<?x4xbf16>",
        "%r = dsv4.dequantize %d scales(%s : tensor<1xbf16>)"
        " outs(%o : tensor<?x4xbf16>) {format ="
        " #dsv4.format<i4, [<bf16 per tensor>]>} : tensor<?x4xi4>");
  bind<uint8_t>({2, 2}, {0x21, 0x43, 0x98, 0xF7});
  bind<uint16_t>({1}, {0x3F00}); // 0.5
  bytes({2, 4}, 16, 0xAB);
  run();
  EXPECT_EQ(read<uint16_t>(2),
            (std::vector<uint16_t>{0x3F00, 0x3F80, 0x3FC0, 0x4000, 0xC080,
                                   0xC060, 0x4060, 0xBF00}));
}

TEST_F(InterpreterTest, WithoutScalesANaNKeepsItsBits) {
  parse("%d: tensor<2xbf16>, %o: tensor<2xbf16>", "");
  mlir::OpBuilder b(func.getBody().front().getTerminator());
  auto format =
      FormatAttr::get(&context, b.getBF16Type(), {}, /*highFirst=*/false);
  DequantizeOp::create(b, b.getUnknownLoc(), func.getArgument(1).getType(),
                       func.getArgument(0), mlir::ValueRange(),
                       func.getArgument(1), format);
  bind<uint16_t>({2}, {0xFFC1, 0x8000});
  bytes({2}, 4, 0xAB);
  run();
  EXPECT_EQ(read<uint16_t>(1), (std::vector<uint16_t>{0xFFC1, 0x8000}));
}

//===----------------------------------------------------------------------===//
// Values and destinations
//===----------------------------------------------------------------------===//

/// `source` times %s, into `destination`.
std::string scaled(const std::string &source, const std::string &destination) {
  return " = dsv4.dequantize " + source + " scales(%s : tensor<1xf32>) outs(" +
         destination +
         " : tensor<2xbf16>)"
         " {format = #dsv4.format<bf16, [<f32 per tensor>]>} : "
         "tensor<2xbf16>\n";
}
const std::string three = "%x: tensor<2xbf16>, %s: tensor<1xf32>,"
                          " %o: tensor<2xbf16>";

TEST_F(InterpreterTest, ChainedDestination) {
  // The second op reads what the first computed and overwrites it.
  parse(three, "%a" + scaled("%x", "%o") + "%b" + scaled("%a", "%a"));
  bind<uint16_t>({2}, {0x3F80, 0xC000});
  bind<float>({1}, {2.0f});
  bytes({2}, 4, 0xAB);
  run();
  EXPECT_EQ(read<uint16_t>(2), (std::vector<uint16_t>{0x4080, 0xC100}));
}

TEST_F(InterpreterTest, ScratchIsLeftAloneAndInputsAreValues) {
  // %x is read after the op that overwrites it; %t only feeds the third op.
  parse(three + ", %t: tensor<2xbf16>", "%a" + scaled("%x", "%x") + "%b" +
                                            scaled("%x", "%t") + "%c" +
                                            scaled("%b", "%o"));
  bind<uint16_t>({2}, {0x3F80, 0xC000});
  bind<float>({1}, {2.0f});
  bytes({2}, 4, 0xAB);
  bytes({2}, 4, 0xAB);
  run();
  EXPECT_EQ(read<uint16_t>(0), (std::vector<uint16_t>{0x4000, 0xC080}));
  EXPECT_EQ(read<uint16_t>(2), (std::vector<uint16_t>{0x4080, 0xC100}));
  EXPECT_EQ(read<uint16_t>(3), (std::vector<uint16_t>{0xABAB, 0xABAB}));
}

TEST_F(InterpreterTest, TwoResultsInOneDestination) {
  parse(three, "%a" + scaled("%x", "%o") + "%b" + scaled("%x", "%o"));
  bind<uint16_t>({2}, {0x3F80, 0xC000});
  bind<float>({1}, {2.0f});
  bytes({2}, 4, 0xAB);
  EXPECT_EQ(error(), "binding 'arg2' is the destination of two results");
  EXPECT_EQ(read<uint16_t>(2), (std::vector<uint16_t>{0xABAB, 0xABAB}));
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

TEST_F(InterpreterTest, WrongShapes) {
  std::string cache = "!dsv4.cache<2 x <" + pairs + ">>";
  parse("%c: " + cache +
            " {dsv4.name = \"kv\"},"
            " %i: tensor<?x?xi32> {dsv4.name = \"i\", dsv4.dims = [\"n\", "
            "\"k\"]},"
            " %l: tensor<?xi32> {dsv4.name = \"len\"},"
            " %o: tensor<?x?x2xbf16> {dsv4.name = \"o\","
            " dsv4.dims = [\"n\", \"\", \"\"]}",
        "%r = dsv4.paged_gather %c[%i] lengths(%l : tensor<?xi32>)"
        " outs(%o : tensor<?x?x2xbf16>) : " +
            cache + ", tensor<?x?xi32>");
  bytes({1, 8}, 8);
  bytes({2, 3}, 24);
  bytes({2}, 8, 1);
  bytes({2, 3, 2}, 24, 0xAB);
  run();
  const InputSet good = inputs;
  auto with = [&](unsigned index, std::vector<int64_t> shape) {
    inputs = good;
    inputs.shapes[index] = std::move(shape);
    return error();
  };
  EXPECT_EQ(with(0, {8}), "binding 'kv': expected rank 2, got shape [8]");
  EXPECT_EQ(with(0, {1, 9}),
            "binding 'kv': expected extent 8 of axis 1, got 9");
  EXPECT_EQ(with(0, {-1, 8}),
            "binding 'kv': extent -1 of axis 0 is not between "
            "0 and 2147483647");
  EXPECT_EQ(with(1, {int64_t(1) << 31, 3}),
            "binding 'i': extent 2147483648 of axis 0 is not between 0 and "
            "2147483647");
  EXPECT_EQ(with(3, {1, 3, 2}), "binding 'o': axis 0 has extent 1, but dim 'n' "
                                "is 2 in binding 'i'");
  EXPECT_EQ(with(3, {2, 2, 2}), "dsv4.paged_gather: expected 'outs', binding "
                                "'o', of shape [2, 3, 2], got [2, 2, 2]");
  EXPECT_EQ(with(2, {1}), "dsv4.paged_gather: expected 'lengths', binding "
                          "'len', of shape [2], got [1]");
  inputs = good;
  std::vector<Buffer> buffers = inputs.buffers();
  buffers[3].data = nullptr;
  EXPECT_EQ(interpret(func, buffers).message(),
            "binding 'o': the data is null");
  buffers.pop_back();
  EXPECT_EQ(interpret(func, buffers).message(),
            "expected 4 buffers, one a binding, got 3");
}

TEST_F(InterpreterTest, FunctionsItDoesNotKnow) {
  parse("%x: tensor<2xbf16>", "%y = \"test.op\"() : () -> tensor<2xi32>");
  EXPECT_EQ(error(), "'test.op' is not an op the interpreter knows");
  parse("%x: index", "");
  EXPECT_EQ(error(), "argument 'arg0' of type 'index' is neither a cache nor a "
                     "ranked tensor");
  parse("%x: tensor<2xindex>", "");
  EXPECT_EQ(error(), "argument 'arg0' has elements that are not numbers");
  module = mlir::parseSourceString<mlir::ModuleOp>("func.func private @f()",
                                                   &context);
  func = *module->getOps<mlir::func::FuncOp>().begin();
  EXPECT_EQ(error(), "function 'f' does not have one block");
}

//===----------------------------------------------------------------------===//
// Random inputs
//===----------------------------------------------------------------------===//

TEST_F(InterpreterTest, RandomInputsOfEveryRecord) {
  for (llvm::StringRef name : layout::getKnownRecordNames())
    for (const char *element : {"bf16", "f32"}) {
      auto record = RecordAttr::getKnown(&context, name);
      auto [arguments, body] =
          gather(name.str(), 64, int(record.getRowExtent()), element);
      parse(arguments, body);
      for (int64_t rows : {0, 5})
        for (int64_t pages : {0, 3}) {
          std::map<std::string, int64_t> dims = {{"arg0.pages", pages}};
          for (const char *name : {"arg1.0", "arg2.0", "arg3.0"})
            dims[name] = rows;
          auto made = makeRandomInputs(func, dims, 7);
          ASSERT_TRUE(made.ok()) << made.status().message();
          inputs = made.take();
          run();
          for (char valid : inputs.bytes.back())
            EXPECT_TRUE(valid == 0 || (valid == 1 && pages != 0));
        }
    }
}

TEST_F(InterpreterTest, RandomIndicesReachTheCorners) {
  parse("%c: !dsv4.cache<4 x <" + pairs +
            ">>, %i: tensor<?x?xi32>,"
            " %t: tensor<?x?xi32>, %q: tensor<?xi32>, %l: tensor<?xi32>,"
            " %o: tensor<?x?x2xbf16>, %m: tensor<?x?xi1>",
        "%r:2 = dsv4.paged_gather %c[%i] pages(%t : tensor<?x?xi32>)"
        " requests(%q : tensor<?xi32>) lengths(%l : tensor<?xi32>)"
        " outs(%o : tensor<?x?x2xbf16>) mask(%m : tensor<?x?xi1>)"
        " : !dsv4.cache<4 x <" +
            pairs + ">>, tensor<?x?xi32>");
  std::map<std::string, int64_t> dims = {
      {"arg0.pages", 500}, {"arg1.0", 100}, {"arg1.1", 50},  {"arg2.0", 20},
      {"arg2.1", 32},      {"arg3.0", 100}, {"arg4.0", 100}, {"arg5.0", 100},
      {"arg5.1", 50},      {"arg6.0", 100}, {"arg6.1", 50}};
  inputs = makeRandomInputs(func, dims, 1).take();
  EXPECT_EQ(inputs.bytes, makeRandomInputs(func, dims, 1)->bytes);
  EXPECT_NE(inputs.bytes, makeRandomInputs(func, dims, 2)->bytes);
  uint64_t hash = 0xCBF29CE484222325; // FNV-1a: the same on every machine.
  for (const std::vector<char> &bytes : inputs.bytes)
    for (char byte : bytes)
      hash = (hash ^ uint8_t(byte)) * 0x100000001B3;
  EXPECT_EQ(hash, 5003332650090708143u);
  auto has = [&](unsigned binding, std::vector<int32_t> wanted) {
    auto held = read<int32_t>(binding);
    for (int32_t value : wanted)
      EXPECT_TRUE(llvm::is_contained(held, value)) << binding << ": " << value;
    return *llvm::max_element(held);
  };
  has(1, {-1, INT_MIN, INT_MAX});
  EXPECT_GE(has(2, {-1, 500}), 500);
  EXPECT_GE(has(3, {-1}), 20);
  EXPECT_GT(has(4, {0, -5, INT_MAX}), 128);
  run();
  auto valid = read<uint8_t>(6);
  EXPECT_NEAR(double(llvm::count(valid, 1)) / valid.size(), 0.83, 0.05);
  EXPECT_EQ(makeRandomInputs(func, {}, 1).status().message(),
            "dim 'arg0.pages' of binding 'arg0' is not given: give its extent");
  dims["arg1.0"] = dims["arg1.1"] = INT_MAX;
  // The limit is that of the machine.
  const std::string tooLarge =
      makeRandomInputs(func, dims, 1).status().message();
  EXPECT_EQ(tooLarge.find("binding 'arg1' is too large: random inputs are "
                          "limited to "),
            0u)
      << tooLarge;
}

} // namespace
