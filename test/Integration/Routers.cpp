//===- Routers.cpp - Text of programs that route --------------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Routers.h"
#include "Writers.h"

#include <array>

using namespace dsv4::test;

static std::string rowsOf(int64_t count, const std::string &element) {
  return "tensor<?x" + std::to_string(count) + "x" + element + ">";
}

static std::string wrap(const Function &function, const std::string &body) {
  return "func.func @f(\n    " + function.arguments + ") {\n" + body +
         "  return\n}\n";
}

std::string Router::getGroups() const {
  return " groups " + std::to_string(groups) + " keep " + std::to_string(keep) +
         " by " + std::to_string(by);
}

std::string Router::getRowClauses() const {
  std::string text;
  if (validRows)
    text += " valid_rows(%valid : tensor<1xi32>)";
  if (padding)
    text += " padding(%pad : tensor<?xi1>)";
  if (shared)
    text += " shared " + std::to_string(shared);
  if (shared && hash)
    text += " experts " + std::to_string(experts);
  if (tokenExperts)
    text += " token_experts";
  return text;
}

std::string Router::getName() const {
  std::string name = std::to_string(experts) + " experts, " +
                     std::to_string(k) + " k, " + logits + " " + function +
                     " " + order;
  if (bias)
    name += " bias";
  if (hash)
    name += " hash";
  if (renormalize)
    name += " renormalize";
  if (uniform)
    name += " uniform";
  if (scale)
    name += " scale " + std::to_string(*scale);
  if (nanFirst)
    name += " nan first";
  if (nanZero)
    name += " nan zero";
  if (groups)
    name += getGroups();
  name += getRowClauses();
  if (shared)
    name += " " + sharedWeight;
  return name;
}

std::string Router::getText() const {
  std::string scores = rowsOf(experts, "f32"), x = rowsOf(experts, logits);
  std::string indices = rowsOf(k + shared, "i32");
  std::string out = rowsOf(k + shared, "f32"), table = rowsOf(k, "i32");
  std::string e = std::to_string(experts);
  Function arguments;
  arguments.add("logits", x, {"tokens", ""});
  if (bias)
    arguments.addArgument("%bias: tensor<" + e +
                          "xf32> {dsv4.name = \"bias\"}");
  if (hash) {
    arguments.add("table", table, {"words", ""});
    arguments.add("ids", "tensor<?xi32>", {"tokens"});
  }
  if (validRows)
    arguments.addArgument("%valid: tensor<1xi32> {dsv4.name = \"valid\"}");
  if (padding)
    arguments.add("pad", "tensor<?xi1>", {"tokens"});
  arguments.add("experts", indices, {"tokens", ""});
  if (tokenExperts)
    arguments.add("numbers", indices, {"tokens", ""});
  arguments.add("weights", out, {"tokens", ""});

  std::string chosen = tokenExperts ? "%chosen, %pairs" : "%chosen";
  std::string outs = tokenExperts ? " outs(%experts, %numbers : " + indices +
                                        ", " + indices + ")"
                                  : " outs(%experts : " + indices + ")";
  std::string body = "  %c0 = arith.constant 0 : index\n"
                     "  %n = tensor.dim %logits, %c0 : " +
                     x +
                     "\n"
                     "  %row = tensor.empty(%n) : " +
                     scores + "\n";
  if (hash)
    body += "  " + chosen + " = dsv4.lookup %table[%ids]" + getRowClauses() +
            outs + " : " + table + ", tensor<?xi32>\n";
  body += "  %scores = dsv4.gate %logits function " + function +
          " outs(%row : " + scores + ") : " + x + "\n";
  if (!hash)
    body += "  " + chosen + " = dsv4.topk %scores" +
            (bias ? " bias(%bias : tensor<" + e + "xf32>)" : std::string()) +
            " order " + order + (nanFirst ? " nan first" : "") +
            (groups ? getGroups() : std::string()) + getRowClauses() + outs +
            " : " + scores + "\n";
  body += "  %w = dsv4.route_weights %scores[%chosen]";
  if (renormalize)
    body += " renormalize";
  if (scale)
    body += " scale " + std::to_string(*scale);
  if (uniform)
    body += " uniform";
  if (nanZero)
    body += " nan zero";
  if (shared)
    body += " shared " + std::to_string(shared) + " " + sharedWeight;
  body += " outs(%weights : " + out + ") : " + scores + ", " + indices + "\n";
  // What is chosen is a result, too.
  std::string results = (tokenExperts ? indices + ", " : "") + indices + ", ";
  return "func.func @f(\n    " + arguments.arguments + ") -> (" + results +
         out + ") {\n" + body + "  return " + chosen + ", %w : " + results +
         out + "\n}\n";
}

Router Router::draw(std::mt19937_64 &random) {
  auto flip = [&] { return random() % 2 == 0; };
  Router router;
  router.experts = test::draw<int64_t>({1 + int64_t(random() % 1024),
                                        8 * (1 + int64_t(random() % 128)), 144,
                                        160, 576, 257, 1021, 1024},
                                       random);
  router.k = test::draw<int64_t>({1 + int64_t(random() % 32), 6, 8}, random);
  router.logits = flip() ? "f32" : "bf16";
  router.function = test::draw<std::string>(
      {"sqrt_softplus", "sqrt_softplus", "sigmoid", "softmax"}, random);
  router.order = flip() ? "sorted" : "index_ascending";
  router.hash = random() % 4 == 0;
  router.bias = !router.hash && flip();
  router.uniform = random() % 8 == 0;
  router.renormalize = !router.uniform && flip();
  std::vector<int64_t> groups = {0};
  for (int64_t count = 1; count <= 32 && !router.hash; ++count)
    if (router.experts % count == 0)
      groups.push_back(count);
  router.groups = groups[random() % groups.size()];
  if (router.groups) {
    router.keep = 1 + random() % router.groups;
    router.by =
        1 + random() % std::min<int64_t>(router.experts / router.groups, 4);
  }
  if (!router.uniform && flip())
    router.scale = 2.5f;
  if (random() % 3 == 0 && router.k < 32)
    router.shared = 1 + random() % std::min<int64_t>(32 - router.k, 3);
  router.sharedWeight = flip() ? "weight 0.4" : "of_sum 0.4";
  router.validRows = random() % 3 == 0;
  router.padding = random() % 3 == 0;
  router.tokenExperts = random() % 4 == 0;
  router.nanFirst = !router.hash && random() % 3 == 0;
  router.nanZero = !router.nanFirst && !router.uniform && flip();
  return router;
}

std::vector<Router> dsv4::test::getKnownRouters() {
  std::vector<Router> routers;
  for (int64_t experts :
       {1, 31, 33, 64, 128, 144, 160, 256, 257, 384, 576, 1024})
    for (bool hash : {false, true}) {
      Router router;
      router.experts = experts;
      router.hash = hash;
      router.bias = !hash;
      router.renormalize = true;
      router.scale = 1.5f;
      routers.push_back(router);
    }
  // DeepSeek-V3's and V2's groups, and odd ones.
  for (auto [experts, groups, keep, by] :
       std::initializer_list<std::array<int64_t, 4>>{{256, 8, 4, 2},
                                                     {160, 8, 3, 1},
                                                     {144, 9, 2, 5},
                                                     {31, 31, 7, 1},
                                                     {33, 3, 1, 11},
                                                     {1024, 32, 32, 32},
                                                     {254, 2, 1, 3}}) {
    Router router;
    router.experts = experts;
    router.groups = groups;
    router.keep = keep;
    router.by = by;
    router.k = 8;
    router.function = "sigmoid";
    router.bias = router.renormalize = true;
    router.scale = 2.5f;
    routers.push_back(router);
  }
  for (int64_t experts : {1, 2, 31, 160, 256, 257, 1021, 1024})
    for (bool hash : {false, true}) {
      Router router;
      router.experts = experts;
      router.function = "softmax";
      router.logits = experts % 32 == 0 ? "f32" : "bf16";
      router.bias = !hash && experts != 160;
      router.hash = hash;
      router.renormalize = experts != 256;
      router.k = experts == 31 || experts == 257 ? 1 : experts == 256 ? 8 : 6;
      routers.push_back(router);
    }
  // Fused shared experts.
  for (auto [k, shared] : {std::pair<int64_t, int64_t>{8, 1}, {1, 31}, {6, 2}})
    for (bool hash : {false, true}) {
      Router router;
      router.k = k;
      router.shared = shared;
      router.hash = hash;
      router.renormalize = router.validRows = true;
      router.padding = router.tokenExperts = hash;
      router.sharedWeight = hash ? "weight 0.4" : "of_sum 0.4";
      routers.push_back(router);
    }
  for (int64_t k : {1, 2, 8, 31, 32}) {
    Router router;
    router.k = k;
    router.bias = router.renormalize = true;
    routers.push_back(router);
    router.order = "index_ascending";
    router.experts = 20;
    routers.push_back(router);
  }
  return routers;
}

//===----------------------------------------------------------------------===//
// The ops alone
//===----------------------------------------------------------------------===//

std::string dsv4::test::getGateText(int64_t experts,
                                    const std::string &function,
                                    const std::string &element) {
  std::string x = rowsOf(experts, element), out = rowsOf(experts, "f32");
  Function arguments;
  arguments.add("logits", x, {"tokens", ""});
  arguments.add("out", out, {"tokens", ""});
  return wrap(arguments, "  %0 = dsv4.gate %logits function " + function +
                             " outs(%out : " + out + ") : " + x + "\n");
}

std::string dsv4::test::getRouteWeightsText(int64_t experts, int64_t k,
                                            const std::string &how) {
  std::string scores = rowsOf(experts, "f32"), indices = rowsOf(k, "i32");
  std::string out = rowsOf(k, "f32");
  Function arguments;
  arguments.add("scores", scores, {"tokens", ""});
  arguments.add("indices", indices, {"tokens", ""});
  arguments.add("out", out, {"tokens", ""});
  return wrap(arguments, "  %0 = dsv4.route_weights %scores[%indices] " + how +
                             " outs(%out : " + out + ") : " + scores + ", " +
                             indices + "\n");
}

std::string dsv4::test::getLookupText(int64_t k) {
  std::string rows = rowsOf(k, "i32");
  Function arguments;
  arguments.add("table", rows, {"words", ""});
  arguments.add("ids", "tensor<?xi32>", {"tokens"});
  arguments.add("out", rows, {"tokens", ""});
  return wrap(arguments, "  %0 = dsv4.lookup %table[%ids] outs(%out : " + rows +
                             ") : " + rows + ", tensor<?xi32>\n");
}
