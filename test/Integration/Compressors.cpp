//===- Compressors.cpp - Text of programs that compress -------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Writers.h"

using namespace dsv4::test;

std::string Compressor::getName() const {
  return "window" + std::to_string(window) + (overlap ? "_overlap" : "") +
         (online ? "_online_" : "_") + std::to_string(channels) + "_" + input +
         "_to_" + result + (bias ? "_bias" : "") +
         (!state ? ""
                 : "_state" + std::to_string(page) +
                       (ring ? "_ring" + std::to_string(ring) : "") +
                       (table ? "_table" : "") + (arrays ? "_arrays" : "") +
                       (biased ? "_biased" : ""));
}

void Compressor::addTo(Writer &writer, bool kept) const {
  std::string columns = std::to_string(getColumns());
  std::string tokens = "tensor<?x" + columns + "x" + input + ">";
  writer.add("values", tokens, {"t", ""});
  writer.add("scores", tokens, {"t", ""});
  std::string head = "dsv4.compress %values, %scores window " +
                     std::to_string(window) + (overlap ? " overlap" : "") +
                     (online ? " algorithm online" : "");
  std::string plan = online ? "tensor<?x5xi32>" : "tensor<?x4xi32>";
  head += " plan(" + writer.add("plan", plan, {"n", ""}) + ")";
  if (bias)
    head +=
        " bias(" +
        writer.add("bias",
                   "tensor<" + std::to_string(window) + "x" + columns + "xf32>",
                   {}) +
        ")";
  if (state) {
    std::string field = columns + " x " + (online ? "f32" : input) +
                        (arrays ? " in array>" : " in row>");
    std::string fields = "<\"values\" : " + field + ", <\"scores\" : " + field;
    if (online)
      fields = "<\"max\" : " + field + ", <\"sum\" : " + field +
               ", <\"acc\" : " + field;
    writer.addType("!state = !dsv4.cache<" + std::to_string(page) + " x <[" +
                   fields + "]>>");
    writer.addArgument("%state: !state {dsv4.name = \"state\"}");
    head += " state(%state : !state)";
    if (ring)
      head += " ring " + std::to_string(ring);
    if (biased)
      head += " biased";
    if (table)
      head +=
          " pages(" + writer.add("table", "tensor<?x?xi32>", {"r", "mp"}) + ")";
  }
  writer.addOp(head, {{"pooled", result, channels}}, "", tokens + ", " + tokens,
               kept);
}

std::string Compressor::getText() const {
  Writer writer;
  addTo(writer, /*kept=*/true);
  return writer.getText();
}

Dims Compressor::getDims(int64_t entries, int64_t tokens,
                         int64_t requests) const {
  Dims dims = {{"n", entries}, {"t", tokens}};
  if (!state)
    return dims;
  if (online) {
    // Not enough for all segments.
    dims["state.pages"] = (entries + requests) / page + 1;
    return dims;
  }
  int64_t positions = ring ? ring : 4 * getRows() + tokens;
  int64_t pages = (positions + page - 1) / page;
  // Every array has its own.
  dims["state.pages"] = std::max<int64_t>(requests * pages, 1);
  if (table) {
    dims["r"] = requests;
    dims["mp"] = pages;
  }
  return dims;
}

Compressor Compressor::draw(int64_t channels, std::mt19937_64 &random) {
  Compressor one;
  one.channels = channels;
  one.overlap = random() % 2;
  one.window = test::draw<int64_t>({1, 2, 3, 4, 4, 5, 8, 9, 17, 32}, random);
  if (!one.overlap && channels >= 64 && random() % 3 == 0)
    one.window = random() % 4 ? 128 : 200;
  one.bias = random() % 4 != 0;
  one.input = test::draw<std::string>({"f32", "f32", "bf16", "f16"}, random);
  one.result = test::draw<std::string>({"bf16", "bf16", "f32", "f16"}, random);
  one.state = random() % 8 != 0;
  one.table = random() % 2;
  one.arrays = random() % 4 == 0;
  one.biased = one.state && random() % 4 == 0;
  one.page = test::draw<int64_t>({1, 2, 8, 16, 64}, random);
  // At least a window less one.
  one.ring = one.getRows() + random() % 8;
  one.ring = one.ring < one.page
                 ? one.page / (random() % 2 && one.page % 2 == 0 &&
                                       one.page / 2 >= one.getRows()
                                   ? 2
                                   : 1)
                 : (one.ring + one.page - 1) / one.page * one.page;
  if (one.table && random() % 2)
    one.ring = 0;
  if (!one.state)
    one.table = false;
  return one;
}

Compressor Compressor::drawOnline(int64_t channels, std::mt19937_64 &random) {
  Compressor one;
  one.channels = channels;
  one.online = true;
  one.overlap = false;
  one.ring = 0;
  one.window =
      test::draw<int64_t>({1, 2, 3, 4, 7, 8, 9, 17, 32, 128, 1024}, random);
  one.bias = random() % 4 != 0;
  one.input = test::draw<std::string>({"f32", "f32", "bf16", "f16"}, random);
  one.result = test::draw<std::string>({"bf16", "bf16", "f32", "f16"}, random);
  one.arrays = random() % 4 == 0;
  one.page = test::draw<int64_t>({1, 2, 3, 16, 64}, random);
  return one;
}

std::string dsv4::test::drawWindowSchedule(std::mt19937_64 &random) {
  return "#dsv4.schedule<threads = " +
         std::to_string(32 * (1 + random() % 32)) +
         (random() % 2 ? ", pdl = true" : "") +
         ", cluster = " + std::to_string(1 << random() % 4) +
         ", min_blocks = " + std::to_string(random() % 3) +
         ", parts = [#dsv4.rows<lanes = " + std::to_string(1 << random() % 6) +
         ", vector = " + std::to_string(1 << random() % 4) +
         ">, #dsv4.window<elements = " + std::to_string(1 << random() % 4) +
         ", rows = " + std::to_string(1 + random() % 4) + ">]>";
}
