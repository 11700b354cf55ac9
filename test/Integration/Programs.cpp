//===- Programs.cpp - Text of programs over every layout ------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Programs.h"

#include "dsv4/Dialect/DSV4.h"

using namespace dsv4::test;

//===----------------------------------------------------------------------===//
// Records
//===----------------------------------------------------------------------===//

std::vector<Record> dsv4::test::getKnownRecords() {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<DSV4Dialect>();
  std::vector<Record> records;
  for (llvm::StringRef name : layout::getKnownRecordNames())
    records.push_back({name.str(), "#dsv4.record<" + name.str() + ">",
                       RecordAttr::getKnown(&context, name).getRowExtent()});
  return records;
}

std::vector<Record> dsv4::test::getOwnRecords() {
  struct {
    const char *name, *fields;
    int64_t rowExtent;
  } const all[] = {
      {"high_first",
       R"([<"a" : 128 x f4E2M1FN in row high_first>,
           <"s" : 8 x f8E4M3FN in row scales "a" per 16>])",
       128},
      {"odd_extents",
       R"([<"a" : 96 x f8E4M3FN in row>,
           <"s" : 4 x f8E8M0FNU in tail scales "a" per 24>,
           <"b" : 40 x bf16 in row at 112>,
           <"d" : 24 x f4E2M1FN in row high_first>])",
       160},
      {"arrays_and_rows",
       R"([<"a" : 40 x f8E4M3FN in row>,
           <"s" : 1 x f32 in array scales "a" per row>,
           <"b" : 24 x bf16 in array>,
           <"g" : 1 x f32 in array scales "b" per tensor>])",
       64},
      {"two_levels",
       R"([<"a" : 96 x f4E2M1FN in row>,
           <"s" : 6 x f8E4M3FN in row scales "a" per 16 pad 2>,
           <"g" : 1 x f32 in tail scales "a" per row>])",
       96},
      {"nested_levels",
       R"([<"a" : 96 x f4E2M1FN in row>,
           <"s" : 6 x f8E4M3FN in row scales "a" per 16>,
           <"g" : 3 x bf16 in tail scales "a" per 32>])",
       96},
      {"three_levels",
       R"([<"a" : 64 x f8E4M3FN in row>,
           <"s" : 4 x f8E8M0FNU in row scales "a" per 16>,
           <"g" : 1 x f32 in row scales "a" per row>,
           <"h" : 1 x f32 in array scales "a" per tensor>])",
       64},
      {"metadata",
       R"([<"a" : 64 x f8E4M3FN in row>, <"where" : 2 x i32 in row pad 8>,
           <"s" : 1 x f32 in row scales "a" per row>,
           <"position" : 1 x i32 in array>, <"request" : 1 x i32 in tail>])",
       64},
      {"i4",
       R"([<"a" : 96 x i4 in row high_first>,
           <"s" : 3 x bf16 in row scales "a" per 32>])",
       96},
      {"i4_low_first",
       R"([<"a" : 40 x i4 in array>, <"b" : 8 x i4 in row pad 1>,
           <"s" : 1 x f8E4M3FN in row scales "a" per row>])",
       48},
      {"f32_rows",
       R"([<"a" : 40 x f32 in row>,
           <"s" : 1 x bf16 in tail scales "a" per row pad 2>])",
       40},
      {"f32_plain", R"([<"a" : 24 x f32 in array>, <"b" : 8 x f32 in row>])",
       32},
      {"bf16_rows",
       R"([<"a" : 24 x bf16 in row>,
           <"s" : 3 x f32 in array scales "a" per 8>], align 64)",
       24},
      {"bf16_plain", R"([<"a" : 40 x bf16 in row pad 6>], align 32)", 40},
      {"offsets",
       R"([<"a" : 32 x f8E4M3FN in row at 8>, <"b" : 32 x bf16 in row at 48>,
           <"s" : 2 x f32 in row scales "a" per 16 at 0>])",
       64},
      {"backwards",
       R"([<"a" : 32 x bf16 in row at 36>, <"b" : 32 x f8E4M3FN in row at 2>,
           <"s" : 2 x f8E4M3FN in row scales "b" per 16 at 0>])",
       64},
      {"per_tensor",
       R"([<"a" : 48 x f8E4M3FN in row>,
           <"g" : 1 x f32 in array scales "a" per tensor>])",
       48},
      {"primes",
       R"([<"a" : 7 x f8E4M3FN in row>, <"b" : 13 x f32 in row at 8>])", 20},
      {"single", R"([<"a" : 1 x f8E4M3FN in row>])", 1},
      {"interleaved",
       R"([<"a" : 128 x f4E2M1FN in row>,
           <"s" : 8 x f8E4M3FN in row scales "a" per 16 interleave 8>])",
       128},
      {"groups_of_three",
       R"([<"a" : 24 x f8E4M3FN in row>,
           <"s" : 8 x f8E8M0FNU in row scales "a" per 3>])",
       24},
      {"groups_of_one",
       R"([<"a" : 24 x f8E4M3FN in row>,
           <"s" : 24 x f8E8M0FNU in tail scales "a" per 1>])",
       24},
      {"padded_scales",
       R"([<"a" : 56 x f8E4M3FN in row>,
           <"s" : 7 x f8E8M0FNU in tail scales "a" per 8 pad 1>])",
       56},
      {"wide",
       R"([<"a" : 2048 x f8E4M3FN in row>,
           <"s" : 16 x f8E8M0FNU in row scales "a" per 128>])",
       2048},
  };
  std::vector<Record> records;
  for (const auto &[name, fields, rowExtent] : all)
    records.push_back(
        {name, std::string("#dsv4.record<") + fields + ">", rowExtent});
  return records;
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

std::string Function::add(const std::string &name, const std::string &type,
                          const std::vector<std::string> &dims) {
  std::string list;
  for (const std::string &dim : dims)
    list += (list.empty() ? "\"" : ", \"") + dim + "\"";
  addArgument("%" + name + ": " + type + " {dsv4.name = \"" + name + "\"" +
              (dims.empty() ? "" : ", dsv4.dims = [" + list + "]") + "}");
  return "%" + name + " : " + type;
}

std::string dsv4::test::tensor(int dynamic, int64_t last,
                               const std::string &element) {
  std::string text = "tensor<";
  for (int i = 0; i < dynamic; ++i)
    text += "?x";
  if (last >= 0)
    text += std::to_string(last) + "x";
  return text + element + ">";
}

static const char *getTableName(Table table) {
  switch (table) {
  case Table::None:
    return "no_table";
  case Table::PerQuery:
    return "table_per_query";
  case Table::PerRequest:
    return "table_per_request";
  case Table::Single:
    return "one_table";
  }
  return "";
}

std::string Gather::getName() const {
  return record.name + "_page" + std::to_string(page) + "_rank" +
         std::to_string(rank) + "_" + getTableName(table) +
         (lengths ? "_lengths" : "") + (mask ? "_mask" : "") + "_" + result +
         (policy == Policy::Exact    ? "_exact"
          : policy == Policy::Bucket ? "_bucket"
                                     : "");
}

std::string Gather::getText() const {
  std::vector<std::string> outer = {"t", "k"};
  if (rank == 1)
    outer = {"k"};
  std::vector<std::string> row = outer;
  row.push_back("");
  std::string indices = tensor(rank, -1, "i32");
  std::string out = tensor(rank, record.rowExtent, result);
  std::string valid = tensor(rank, -1, "i1");

  Function function;
  function.addArgument("%c: !cache {dsv4.name = \"c\"}");
  function.add("i", indices, outer);
  std::string clauses;
  if (table == Table::Single)
    clauses +=
        "\n      pages(" + function.add("tab", "tensor<?xi32>", {"mp"}) + ")";
  else if (table != Table::None)
    clauses += "\n      pages(" +
               function.add("tab", "tensor<?x?xi32>",
                            {table == Table::PerQuery ? "t" : "r", "mp"}) +
               ")";
  if (table == Table::PerRequest)
    clauses +=
        "\n      requests(" + function.add("req", "tensor<?xi32>", {"t"}) + ")";
  if (lengths)
    clauses += "\n      lengths(" +
               function.add("len", tensor(rank - 1, -1, "i32"),
                            rank == 2 ? std::vector<std::string>{"t"}
                                      : std::vector<std::string>{}) +
               ")";
  clauses += "\n      outs(" + function.add("o", out, row) + ")";
  if (mask)
    clauses += " mask(" + function.add("m", valid, outer) + ")";

  std::string attributes;
  if (policy != Policy::Dynamic) {
    std::string kind = policy == Policy::Exact ? "#dsv4.policy<exact>"
                                               : "#dsv4.policy<bucket>";
    attributes = " attributes {dsv4.policies = {k = " + kind +
                 (table == Table::None ? "" : ", mp = " + kind) + "}}";
  }
  std::string results = mask ? "%rows, %valid" : "%rows";
  std::string types = mask ? out + ", " + valid : out;
  return "!cache = !dsv4.cache<" + std::to_string(page) + " x " +
         record.attribute + ">\nfunc.func @gather(" + function.arguments +
         ")\n    -> (" + types + ")" + attributes + " {\n  " + results +
         " = dsv4.paged_gather %c[%i]" + clauses + "\n      : !cache, " +
         indices + "\n  return " + results + " : " + types + "\n}\n";
}

Gather Gather::draw(Record record, int64_t page, std::mt19937_64 &random) {
  auto below = [&](unsigned bound) { return unsigned(random() % bound); };
  Gather gather;
  gather.record = std::move(record);
  gather.page = page;
  gather.rank = below(4) == 0 ? 1 : 2;
  gather.table = gather.rank == 1
                     ? (below(3) == 0 ? Table::None : Table::Single)
                     : Table(below(3));
  gather.lengths = below(2);
  gather.mask = below(2);
  const char *results[] = {"bf16", "bf16", "f32", "f16"};
  gather.result = results[below(4)];
  unsigned policy = below(8);
  gather.policy = policy == 0   ? Policy::Exact
                  : policy == 1 ? Policy::Bucket
                                : Policy::Dynamic;
  return gather;
}

//===----------------------------------------------------------------------===//
// Dequantize
//===----------------------------------------------------------------------===//

std::string Dequantize::getName() const {
  std::string name = element + (highFirst ? "_high_first" : "");
  for (const Level &level : levels)
    name += "_" + level.element + "_per_" + level.group;
  return name + "_" + std::to_string(extent) + "_rank" + std::to_string(rank) +
         "_" + result;
}

std::string Dequantize::getText() const {
  std::vector<std::string> outer;
  if (rank > 1)
    outer.push_back("n");
  if (rank > 2)
    outer.push_back("m");
  std::vector<std::string> whole = outer;
  whole.push_back("");

  Function function;
  std::string data = tensor(rank - 1, extent, element);
  std::string out = tensor(rank - 1, extent, result);
  function.add("data", data, whole);
  std::string names, types, format;
  for (const Level &level : levels) {
    std::string name = "s" + std::to_string(&level - levels.data());
    std::string type;
    if (level.group == "tensor") {
      type = "tensor<1x" + level.element + ">";
      function.add(name, type, {});
    } else if (level.group == "row") {
      type = tensor(rank - 1, -1, level.element);
      function.add(name, type, outer);
    } else {
      type = tensor(rank - 1, extent / std::stoll(level.group), level.element);
      function.add(name, type, whole);
    }
    names += (names.empty() ? "%" : ", %") + name;
    types += (types.empty() ? "" : ", ") + type;
    format += (format.empty() ? "<" : ", <") + level.element + " per " +
              level.group + ">";
  }
  function.add("o", out, whole);
  return "func.func @dequantize(" + function.arguments + ") -> " + out +
         " {\n  %values = dsv4.dequantize %data" +
         (levels.empty() ? "" : " scales(" + names + " : " + types + ")") +
         "\n      outs(%o : " + out + ") {format = #dsv4.format<" + element +
         ", [" + format + "]" + (highFirst ? ", high_first" : "") +
         ">} : " + data + "\n  return %values : " + out + "\n}\n";
}

std::vector<Dequantize> dsv4::test::getDequantizes() {
  const std::string e2m1 = "f4E2M1FN", e4m3 = "f8E4M3FN", e8m0 = "f8E8M0FNU";
  std::vector<Dequantize> formats;
  auto add = [&](const std::string &element, std::vector<Level> levels,
                 int64_t extent = 512, bool highFirst = false) {
    Dequantize one;
    one.element = element;
    one.levels = std::move(levels);
    one.extent = extent;
    one.highFirst = highFirst;
    formats.push_back(one);
  };
  // NVFP4 and MXFP4.
  for (int64_t extent : {512, 96, 16}) {
    add(e2m1, {{e4m3, "16"}}, extent);
    add(e2m1, {{e4m3, "16"}, {"f32", "tensor"}}, extent);
    add(e2m1, {{e4m3, "16"}, {"f32", "row"}}, extent, extent == 96);
  }
  add(e2m1, {{e8m0, "32"}});
  add(e2m1, {{e8m0, "32"}}, 96, true);
  // FP8.
  for (const char *group : {"32", "64", "128", "row"})
    for (const std::string &scale : {std::string("f32"), e8m0})
      add(e4m3, {{scale, group}}, std::string(group) == "row" ? 448 : 384);
  add(e4m3, {{"f32", "row"}}, 7);
  add(e4m3, {{"f32", "tensor"}}, 40);
  add(e4m3, {{e8m0, "3"}}, 24);
  // Whole numbers, and what is not quantised.
  add("i4", {{e4m3, "32"}}, 448);
  add("i4", {{"bf16", "8"}}, 40, true);
  add("i4", {{"f32", "row"}}, 6);
  add("bf16", {{"f32", "row"}}, 96);
  add("f32", {{"bf16", "16"}, {"f32", "tensor"}}, 48);
  // Widths that few lanes divide.
  add(e4m3, {{"f32", "row"}}, 1021);
  add(e2m1, {{e8m0, "row"}, {"f32", "tensor"}}, 1018, true);
  add("bf16", {}, 2621);

  std::vector<Dequantize> all;
  for (const Dequantize &format : formats)
    for (const char *result : {"bf16", "f32"})
      for (int rank : {1, 2, 3}) {
        // Of the ranks, 2 is with both results; 1 and 3 are with one.
        if (rank != 2 && (all.size() + rank) % 2 == 0)
          continue;
        all.push_back(format);
        all.back().result = result;
        all.back().rank = rank;
      }
  return all;
}
