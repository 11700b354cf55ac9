//===- CompressPlansTest.cpp - Work lists, against the oracle -------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every combination of operands that compress_plan takes, alone and with the
// compress that takes the list; and a list of entries against one of tokens.
//
//===----------------------------------------------------------------------===//

#include "CompiledProgram.h"
#include "Programs.h"

#include <cstring>

using namespace dsv4;
using namespace dsv4::test;
using reference::Codes;
using reference::InputSet;

namespace {

/// A compress_plan. Dims: t (tokens), n (rows, which are t without entries), r,
/// s (starts), mp (pages).
struct Plan {
  int64_t window = 4;
  bool lengths = false, requests = false, starts = true, entries = false;
  enum { None, Tokens, Pages } slots = None;
  int results = 1;
  bool compressed = false; ///< By an op of the same program.
  bool online = false;     ///< Of segments.

  std::string getName() const;
  std::string getText() const;
};

/// Plans of every form.
std::vector<Plan> getPlans() {
  std::vector<Plan> all;
  const int64_t windows[] = {4, 1, 128, 3};
  for (int bits = 0; bits < 1 << 7; ++bits) {
    Plan plan;
    plan.lengths = bits & 1;
    plan.requests = bits & 2;
    plan.starts = bits & 4;
    plan.entries = bits & 8;
    plan.online = bits & 64;
    plan.slots = bits & 16   ? Plan::Tokens
                 : bits & 32 ? Plan::Pages
                             : Plan::None;
    if ((bits & 48) == 48 || (plan.entries && plan.requests) ||
        (!plan.starts &&
         (plan.lengths || !plan.requests || plan.entries || plan.online)))
      continue;
    plan.results = plan.slots != Plan::None ? 3 : 1 + all.size() % 2;
    plan.window = windows[all.size() % 4];
    all.push_back(plan);
    plan.compressed = true;
    plan.window = 4;
    all.push_back(plan);
  }
  return all;
}

} // namespace

std::string Plan::getName() const {
  const char *ofSlots[] = {"", "_slots", "_pages"};
  return (online ? "online" : "window") + std::to_string(window) +
         (lengths ? "_lengths" : "_positions") + (requests ? "_requests" : "") +
         (starts ? "_starts" : "") + (entries ? "_entries" : "") +
         ofSlots[slots] + (compressed ? "_compressed" : "");
}

std::string Plan::getText() const {
  Function function;
  std::string algorithm = online ? " algorithm online" : "";
  std::string head = "dsv4.compress_plan window " + std::to_string(window) +
                     algorithm,
              text;
  auto add = [&](const char *clause, const char *dim) {
    head += " " + std::string(clause) + "(" +
            function.add(clause, "tensor<?xi32>", {dim}) + ")";
  };
  lengths ? add("lengths", "r") : add("positions", "t");
  if (requests)
    add("requests", "t");
  if (starts)
    add("starts", "s");
  if (entries)
    add("entry_starts", "s");
  if (online) {
    add("from", "r");
    add("to", "r");
  }
  if (slots == Tokens)
    add("slots", "t");
  if (slots == Pages)
    head += " pages(" + function.add("table", "tensor<?x?xi32>", {"r", "mp"}) +
            ") page 3";
  const char *rows = entries ? "n" : "t";
  const char *names[] = {"plan", "at", "entry"};
  std::string results, outs, types;
  for (int i = 0; i < this->results; ++i) {
    std::string type = i != 0   ? "tensor<?xi32>"
                       : online ? "tensor<?x5xi32>"
                                : "tensor<?x4xi32>";
    function.add(names[i], type,
                 i == 0 ? std::vector<std::string>{rows, ""}
                        : std::vector<std::string>{rows});
    std::string comma = i ? ", " : "";
    results += comma + "%v_" + names[i];
    outs += comma + "%" + names[i];
    types += comma + type;
  }
  text +=
      "  " + results + " = " + head + " outs(" + outs + " : " + types + ")\n";
  if (compressed) {
    std::string type = online ? "tensor<?x32xf32>" : "tensor<?x64xf32>";
    for (const char *name : {"values", "scores"})
      function.add(name, type, {"t", ""});
    function.add("pooled", "tensor<?x32xf32>", {rows, ""});
    function.addArgument("%state: !state {dsv4.name = \"state\"}");
    text += "  %v_pooled = dsv4.compress %values, %scores window " +
            std::to_string(window) +
            (online ? algorithm + " plan(%v_plan : tensor<?x5xi32>)"
                    : " overlap plan(%v_plan : tensor<?x4xi32>)") +
            " state(%state : !state)" + (online ? "" : " ring 8") +
            " outs(%pooled : tensor<?x32xf32>) : " + type + ", " + type + "\n";
    results += ", %v_pooled";
    types += ", tensor<?x32xf32>";
  }
  std::string record = "<\"values\" : 64 x f32 in row>, "
                       "<\"scores\" : 64 x f32 in row>";
  if (online)
    record = "<\"max\" : 32 x f32 in row>, <\"sum\" : 32 x f32 in row>, "
             "<\"acc\" : 32 x f32 in row>";
  return "!state = !dsv4.cache<8 x <[" + record + "]>>\nfunc.func @f(" +
         function.arguments + ") -> (" + types + ") {\n" + text + "  return " +
         results + " : " + types + "\n}\n";
}

TEST(CompressPlansTest, Alone) {
  Sessions sessions;
  Jobs jobs;
  std::mt19937_64 random(getSeed());
  std::vector<Shape> shapes;
  const int64_t all[][4] = {{0, 0, 2, 2},   {1, 1, 1, 1},     {37, 12, 5, 4},
                            {64, 9, 64, 3}, {300, 120, 7, 9}, {5, 8, 0, 1}};
  for (auto [tokens, entries, requests, pages] : all)
    shapes.push_back({{{"t", tokens},
                       {"n", entries},
                       {"r", requests},
                       {"s", requests + 1},
                       {"mp", pages},
                       {"state.pages", requests}},
                      Codes::NoNaN});
  for (unsigned i = 0; i < std::max(getScale(), 1u); ++i)
    for (const Plan &plan : thin(getPlans()))
      jobs.push_back([&, plan, seed = random() % 1000000] {
        return checkText(sessions, plan.getName(), plan.getText(), shapes,
                         seed);
      });
  runAndCount(jobs);
}
