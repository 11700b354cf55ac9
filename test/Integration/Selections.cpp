//===- Selections.cpp - Text of programs that select ----------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Selections.h"

#include "Writers.h"

using namespace dsv4;
using namespace dsv4::test;

std::string Selecting::getText() const {
  Writer writer;
  std::string width = columns ? std::to_string(columns) : "?";
  std::string rows = "tensor<?x" + width + "x" + element + ">";
  std::string number = std::to_string(places);
  std::string indexType = "tensor<?x" + number + "xi32>";
  std::string op = "dsv4.topk %scores";
  std::string outs = "%indices", types = indexType;
  writer.add("scores", rows, {"rows", columns ? "" : "columns"});
  if (bias) {
    writer.add("bias", "tensor<" + width + "xf32>", {columns ? "" : "columns"});
    op += " bias(%bias : tensor<" + width + "xf32>)";
  }
  auto addPerRow = [&](const std::string &clause, const std::string &name,
                       const std::string &axis) {
    writer.add(name, "tensor<?xi32>", {axis});
    op += " " + clause + "(%" + name + " : tensor<?xi32>)";
  };
  if (starts)
    addPerRow("starts", "starts", "rows");
  if (ends)
    addPerRow("ends", "ends", "rows");
  else if (lengths)
    addPerRow("lengths", "lengths", nextN ? "sequences" : "rows");
  if (nextN)
    op += " next_n " + std::to_string(nextN);
  if (ratio)
    op += " ratio " + std::to_string(ratio);
  if (pages) {
    writer.add("table", "tensor<?x?xi32>",
               {requests ? "requests" : "rows", "pages"});
    op += " pages(%table : tensor<?x?xi32>) page 16";
  }
  if (requests)
    addPerRow("requests", "request", "rows");
  if (offsets)
    addPerRow("offsets", "offsets", "rows");
  op += " order " + order + (smallest ? " smallest" : "") +
        (tiesHigh ? " ties high" : "") + (nanFirst ? " nan first" : "");
  writer.add("indices", indexType, {"rows", ""});
  if (values) {
    std::string type = "tensor<?x" + number + "x" + element + ">";
    writer.add("values", type, {"rows", ""});
    outs += ", %values";
    types += ", " + type;
  }
  if (pages) {
    writer.add("slots", indexType, {"rows", ""});
    outs += ", %slots";
    types += ", " + indexType;
  }
  size_t count = 1 + values + pages;
  writer.addText((count == 1   ? "%i = "
                  : count == 2 ? "%i, %j = "
                               : "%i, %j, %k = ") +
                 op + " outs(" + outs + " : " + types + ") : " + rows);
  if (multiple > 1)
    writer.addPolicy("columns = #dsv4.policy<dynamic, multiple = " +
                     std::to_string(multiple) + ">");
  return writer.getText();
}

std::string dsv4::test::makeSchedule(const std::string &how, int64_t threads,
                                     int64_t vector, int64_t cluster,
                                     int64_t vectors, int64_t blocks) {
  return "#dsv4.schedule<threads = " + std::to_string(threads) +
         ", cluster = " + std::to_string(cluster) +
         ", pdl = true, parts = [#dsv4.select<algorithm = " + how +
         ", vector = " + std::to_string(vector) +
         ", vectors = " + std::to_string(vectors) +
         ", blocks = " + std::to_string(blocks) + ">]>";
}

bool dsv4::test::isOfRegisters(const std::string &schedule) {
  return schedule.find("algorithm = block") != std::string::npos ||
         schedule.find("algorithm = warp") != std::string::npos;
}
