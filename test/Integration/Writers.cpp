//===- Writers.cpp - Text of programs that write --------------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Writers.h"

#include <array>

using namespace dsv4::test;

static const std::string e2m1 = "f4E2M1FN", e4m3 = "f8E4M3FN",
                         e8m0 = "f8E8M0FNU";

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

std::string Writer::rows(const std::string &element, int64_t extent) const {
  return tensor(rank - 1, extent, element);
}

std::string Writer::add(const std::string &name, const std::string &type,
                        const std::vector<std::string> &dims) {
  return inputs.add(name, type, dims);
}

static std::vector<std::string> getDims(int rank, bool hasColumns) {
  std::vector<std::string> dims = {"n", "m"};
  dims.resize(rank - 1);
  if (hasColumns)
    dims.push_back("");
  return dims;
}

std::string Writer::addRows(const std::string &name, const std::string &element,
                            int64_t extent) {
  return add(name, rows(element, extent), getDims(rank, extent >= 0));
}

void Writer::addCache(int64_t page, const Record &record) {
  types += "!cache = !dsv4.cache<" + std::to_string(page) + " x " +
           record.attribute + ">\n";
  inputs.addArgument("%c: !cache {dsv4.name = \"c\"}");
}

void Writer::addOp(const std::string &head,
                   const std::vector<Destination> &destinations,
                   const std::string &attributes, const std::string &sourceType,
                   bool kept) {
  std::string results, outs, outTypes;
  for (const auto &[name, element, extent] : destinations) {
    std::string type = rows(element, extent);
    if (kept) {
      outputs.add(name, type, getDims(rank, extent >= 0));
    } else {
      hasEmpty = true;
      addText("%" + name + " = tensor.empty(%count) : " + type);
    }
    results += (results.empty() ? "%v_" : ", %v_") + name;
    outs += (outs.empty() ? "%" : ", %") + name;
    outTypes += (outTypes.empty() ? "" : ", ") + type;
  }
  if (kept) {
    returned += (returned.empty() ? "" : ", ") + results;
    returnedTypes += (returnedTypes.empty() ? "" : ", ") + outTypes;
  }
  addText(results + " = " + head + "\n      outs(" + outs + " : " + outTypes +
          ")" + attributes + " : " + sourceType);
}

std::string Writer::getText() const {
  std::string arguments = inputs.arguments;
  if (!outputs.arguments.empty())
    arguments += ",\n    " + outputs.arguments;
  std::string text = types + "func.func @f(" + arguments + ")";
  if (!returned.empty())
    text += "\n    -> (" + returnedTypes + ")";
  if (!policies.empty())
    text += " attributes {dsv4.policies = {" + policies + "}}";
  text += " {\n";
  if (hasEmpty)
    text += "  %c0 = arith.constant 0 : index\n"
            "  %count = tensor.dim %i, %c0 : tensor<?xi32>\n";
  text += ops + "  return";
  if (!returned.empty())
    text += " " + returned + " : " + returnedTypes;
  return text + "\n}\n";
}

//===----------------------------------------------------------------------===//
// Quantize
//===----------------------------------------------------------------------===//

int64_t Quantize::getGroup() const {
  bool isOfRow = levels[0].group == "row" || hasGivenScaleAlone();
  return isOfRow ? count : std::stoll(levels[0].group);
}

bool Quantize::hasGivenScaleAlone() const {
  return levels[0].group == "tensor";
}

std::string Quantize::getName() const {
  std::string text = name + "_" + element;
  for (const Level &level : levels)
    text += "_" + level.element + "_per_" + level.group;
  return text + (inverse ? "_inverse" : "") + "_" + std::to_string(begin) +
         "_" + std::to_string(count) + "_of_" + std::to_string(extent) + "_" +
         input + " <" + recipe + ">";
}

void Quantize::addTo(Writer &writer, const std::string &source,
                     bool kept) const {
  std::string format, given;
  std::vector<Writer::Destination> outs = {{"payload", element, count}};
  for (const Level &level : levels) {
    format += (format.empty() ? "<" : ", <") + level.element + " per " +
              level.group + ">";
    if (level.group == "tensor")
      given = (inverse ? " given inverse(" : " given(") +
              writer.add("given", "tensor<1xf32>", {}) + ")";
    else
      outs.push_back(
          {outs.size() == 1 ? "scales" : "outer", level.element,
           level.group == "row" ? -1 : count / std::stoll(level.group)});
  }
  std::string columns;
  if (begin != 0 || count != extent)
    columns = " columns [" + std::to_string(begin) + ", " +
              std::to_string(count) + "]";
  writer.addOp("dsv4.quantize " + source + columns + given, outs,
               "\n      {format = #dsv4.format<" + element + ", [" + format +
                   "]>, recipe = #dsv4.quantizer<" + recipe + ">}",
               writer.rows(input, extent), kept);
}

std::string Quantize::getText() const {
  Writer writer(rank);
  writer.addRows("x", input, extent);
  addTo(writer, "%x", /*kept=*/true);
  return writer.getText();
}

void Quantize::drawRecipe(std::mt19937_64 &random) {
  recipe.clear();
  auto add = [&](const std::string &parameter) {
    if (!parameter.empty())
      recipe += (recipe.empty() ? "" : ", ") + parameter;
  };
  if (hasGivenScaleAlone()) {
    if (!inverse)
      add(test::draw<std::string>({"", "payload = reciprocal"}, random));
    return;
  }
  std::string floor = test::draw<std::string>(
      {"", "1.0e-04", "7.0529661e-38", "1.0e-12", "0.5", "1.0e+30"}, random);
  if (!floor.empty()) {
    add("floor = " + floor + " : f32");
    add(test::draw<std::string>({"", "floor_of = scale"}, random));
  }
  add(test::draw<std::string>({"", "limit = reciprocal"}, random));
  const std::string &scale = levels[0].element;
  if (scale == e8m0)
    add("rounding = up_pow2");
  else if (scale == e4m3)
    add(test::draw<std::string>({"", "rounding = up"}, random));
  else
    add(test::draw<std::string>({"", "rounding = up_pow2"}, random));
  add(test::draw<std::string>({"", "payload = reciprocal"}, random));
  if (element == e2m1) {
    add(test::draw<std::string>({"", "ties = down"}, random));
    add(test::draw<std::string>({"", "drop_negative_zero = true"}, random));
  }
}

void Quantize::drawColumns(std::mt19937_64 &random) {
  bool isOfRow = levels[0].group == "row" || hasGivenScaleAlone();
  int64_t group = isOfRow ? 1 : std::stoll(levels[0].group);
  std::vector<std::pair<int64_t, int64_t>> possible; // Of begin and extent.
  const int64_t all[][3] = {{0, 32, 32},     {0, 64, 64},     {0, 96, 96},
                            {0, 128, 128},   {0, 448, 448},   {0, 512, 512},
                            {0, 576, 576},   {0, 7168, 7168}, {0, 448, 512},
                            {64, 448, 512},  {0, 512, 576},   {448, 64, 512},
                            {512, 128, 640}, {16, 64, 96},    {8, 32, 40}};
  do {
    const auto &one = all[random() % std::size(all)];
    begin = one[0], count = one[1], extent = one[2];
  } while (count % group != 0);
}

std::vector<Quantize> dsv4::test::getKnownQuantizes() {
  // The last number is the row, the columns are the first of it.
  return {
      {"act_quant_64",
       e4m3,
       {{e8m0, "64"}},
       "floor = 1.0e-04 : f32, limit = reciprocal, rounding = up_pow2"},
      {"act_quant_128",
       e4m3,
       {{e8m0, "128"}},
       "floor = 1.0e-04 : f32, limit = reciprocal, rounding = up_pow2"},
      {"fp4_act_quant",
       e2m1,
       {{e8m0, "32"}},
       "floor = 7.0529661e-38 : f32, limit = reciprocal, rounding = up_pow2"},
      {"flashmla_v4",
       e4m3,
       {{e8m0, "64"}},
       "floor = 1.0e-04 : f32, floor_of = scale, rounding = up_pow2",
       512,
       0,
       448},
      {"sglang_v41",
       e4m3,
       {{e8m0, "32"}},
       "floor = 1.0e-04 : f32, floor_of = scale, rounding = up_pow2"},
      {"v41_fp4",
       e2m1,
       {{e4m3, "16"}},
       "floor = 0.001953125 : f32, floor_of = scale, limit = reciprocal"},
      {"v41_fp4_no_negative_zero",
       e2m1,
       {{e4m3, "16"}},
       "floor = 0.001953125 : f32, floor_of = scale, limit = reciprocal, "
       "drop_negative_zero = true"},
      {"vllm_nvfp4",
       e2m1,
       {{e4m3, "16"}},
       "floor = 0.001953125 : f32, floor_of = scale, rounding = up, "
       "payload = reciprocal"},
      {"flashinfer", e2m1, {{e4m3, "16"}, {"f32", "tensor"}}, ""},
      {"sglang_index",
       e2m1,
       {{e8m0, "32"}},
       "floor = 1.66666669e-05 : f32, floor_of = scale, rounding = up_pow2, "
       "ties = down",
       128,
       0,
       128},
      {"split_580",
       e4m3,
       {{"f32", "row"}},
       "floor = 1.0e-12 : f32, floor_of = scale",
       512,
       0,
       448},
      {"deepgemm_index",
       e4m3,
       {{"f32", "row"}},
       "floor = 1.0e-04 : f32, payload = reciprocal",
       128,
       0,
       128},
      {"flashmla_v32",
       e4m3,
       {{"f32", "128"}},
       "floor = 1.0e-04 : f32, floor_of = scale, rounding = up_pow2"},
      {"vllm_v32",
       e4m3,
       {{"f32", "128"}},
       "floor = 1.17549435e-38 : f32, floor_of = scale"},
  };
}

std::vector<Quantize> dsv4::test::drawQuantizes(std::mt19937_64 &random) {
  std::vector<Quantize> all;
  auto add = [&](const std::string &element, std::vector<Level> levels,
                 bool inverse = false) {
    Quantize one;
    one.name = "drawn";
    one.element = element;
    one.inverse = inverse;
    one.levels = std::move(levels);
    one.drawRecipe(random);
    one.drawColumns(random);
    one.input = draw<std::string>({"bf16", "f32"}, random);
    all.push_back(one);
  };
  for (const char *group : {"32", "64", "128", "row"})
    for (const std::string &scale : {e8m0, std::string("f32")})
      add(e4m3, {{scale, group}});
  add(e4m3, {{e4m3, "16"}});
  add(e4m3, {{e4m3, "row"}});
  add(e4m3, {{e4m3, "32"}, {"f32", "row"}});
  add(e4m3, {{e4m3, "64"}, {"f32", "tensor"}});
  for (int i = 0; i < 2; ++i) {
    add(e2m1, {{e4m3, "16"}});
    add(e2m1, {{e4m3, "16"}, {"f32", "tensor"}});
    add(e2m1, {{e4m3, "16"}, {"f32", "row"}});
    add(e2m1, {{e8m0, "32"}});
  }
  add(e2m1, {{e8m0, "row"}});
  add(e2m1, {{"f32", "32"}});
  add(e2m1, {{"f32", "row"}});
  add(e2m1, {{e4m3, "row"}});
  add(e2m1, {{e4m3, "8"}});
  for (bool inverse : {false, false, true})
    add(e4m3, {{"f32", "tensor"}}, inverse);
  return all;
}

//===----------------------------------------------------------------------===//
// Rows to rows
//===----------------------------------------------------------------------===//

std::string RowOp::getName() const {
  return op + "_" + std::to_string(extent) +
         (op == "rope" ? "_" + std::to_string(rotated) : "") +
         (op == "add_rows"
              ? "_" + std::to_string(count) + "_from_" + std::to_string(begin)
              : "") +
         (inverse ? "_inverse" : "") + (neox ? "_neox" : "") +
         (interleaved ? "_interleaved" : "") +
         (sharesPositions ? "_shared" : "") + "_table_" + table + "_" + input +
         "_to_" + result + (weight.empty() ? "" : "_weight_" + weight) +
         "_rank" + std::to_string(rank);
}

void RowOp::addTo(Writer &writer, const std::string &source,
                  const std::string &name, bool kept) const {
  std::string head = "dsv4." + op + " " + source, attributes;
  if (op == "rms_norm") {
    if (!weight.empty())
      head += " weight(" +
              writer.add(
                  "weight",
                  "tensor<" + std::to_string(extent) + "x" + weight + ">", {}) +
              ")";
    attributes = " {eps = 1.0e-06 : f32}";
  } else if (op == "rope") {
    head += inverse ? " inverse" : "";
    head += neox ? " neox" : "";
    head += " table(" +
            writer.add("angles", tensor(1, rotated, table), {"p", ""}) + ")" +
            (interleaved ? " interleaved" : "") + " positions(" + positions +
            " : " + getPositionType(writer) + ")";
  } else if (op == "add_rows") {
    std::string bias = "tensor<3x" + std::to_string(count) + "x" + table + ">";
    if (begin != 0 || count != extent)
      head += " columns [" + std::to_string(begin) + ", " +
              std::to_string(count) + "]";
    head += " bias(" + writer.add("bias", bias, {}) + ") positions(" +
            positions + " : " + getPositionType(writer) + ")";
  } else {
    attributes = " {scale = 0.0883883461 : f32}";
  }
  writer.addOp(head, {{name, result, op == "add_rows" ? count : extent}},
               attributes, writer.rows(input, extent), kept);
}

std::string RowOp::getPositionType(const Writer &writer) const {
  return sharesPositions ? tensor(1, -1, "i32") : writer.rows("i32", -1);
}

std::string RowOp::getText() const {
  Writer writer(rank);
  writer.addRows("x", input, extent);
  if (op == "rope" || op == "add_rows") {
    std::vector<std::string> dims = {"n", "m"};
    dims.resize(sharesPositions ? 1 : rank - 1);
    writer.add("pos", getPositionType(writer), dims);
  }
  addTo(writer, "%x", "y", /*kept=*/true);
  return writer.getText();
}

std::vector<RowOp> dsv4::test::drawRowOps(std::mt19937_64 &random) {
  std::vector<RowOp> all;
  auto add = [&](RowOp one) {
    one.input = draw<std::string>({"bf16", "f32"}, random);
    one.result = draw<std::string>({"bf16", "f32"}, random);
    one.rank = draw<int>({1, 2, 2, 3}, random);
    all.push_back(one);
  };
  auto addShared = [&](RowOp one) {
    add(one);
    all.back().rank = 3;
    all.back().sharesPositions = true;
  };
  // A rotation of halves, and one by complex numbers of a bf16 table.
  auto addVariants = [&](RowOp one) {
    one.neox = true;
    one.table = draw<std::string>({"bf16", "f32"}, random);
    add(one);
    addShared(one);
    one.neox = false;
    one.interleaved = true;
    add(one);
    addShared(one);
  };
  for (int64_t extent :
       {1, 2, 7, 24, 64, 128, 131, 448, 512, 576, 1021, 1536, 7000, 7168}) {
    RowOp one;
    one.extent = extent;
    one.weight = draw<std::string>({"", "bf16", "f32"}, random);
    add(one);
  }
  for (auto [extent, rotated] : {std::pair<int64_t, int64_t>{64, 64},
                                 {128, 64},
                                 {512, 64},
                                 {576, 64},
                                 {512, 128},
                                 {4, 4},
                                 {40, 8},
                                 {96, 96},
                                 {192, 64}})
    for (bool inverse : {false, true}) {
      RowOp one;
      one.op = "rope";
      one.extent = extent;
      one.rotated = rotated;
      one.inverse = inverse;
      add(one);
      addVariants(one);
    }
  for (auto [extent, begin, count] : {std::array<int64_t, 3>{8, 0, 8},
                                      {131, 0, 131},
                                      {2048, 1024, 1024},
                                      {96, 64, 32},
                                      {40, 8, 16}}) {
    RowOp one;
    one.op = "add_rows";
    one.extent = extent;
    one.begin = begin;
    one.count = count;
    one.table = draw<std::string>({"bf16", "f32"}, random);
    add(one);
    addShared(one);
  }
  for (int64_t extent : {1, 2, 8, 32, 64, 128, 512, 1024}) {
    RowOp one;
    one.op = "hadamard";
    one.extent = extent;
    add(one);
  }
  return all;
}
