//===- Routers.h - Text of programs that route ------------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_TEST_INTEGRATION_ROUTERS_H
#define DSV4_TEST_INTEGRATION_ROUTERS_H

#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace dsv4::test {

/// A router: gate, topk (or lookup) and route_weights. Its dims are tokens and,
/// with `hash`, words.
struct Router {
  int64_t experts = 256, k = 6;
  std::string logits = "f32", function = "sqrt_softplus", order = "sorted";
  bool bias = false, hash = false, renormalize = false, uniform = false;
  /// What a NaN is: the first expert, or one that weighs nothing.
  bool nanFirst = false, nanZero = false;
  std::optional<float> scale;
  /// Groups that are chosen first, of how many, by how many experts; 0: none.
  int64_t groups = 0, keep = 1, by = 1;
  /// Experts of every token, and how much they weigh.
  int64_t shared = 0;
  std::string sharedWeight = "weight 0.4";
  /// Rows that do not count, and the third result.
  bool validRows = false, padding = false, tokenExperts = false;

  std::string getName() const;
  /// What topk has of groups.
  std::string getGroups() const;
  /// What topk and lookup have of rows and of shared experts.
  std::string getRowClauses() const;
  std::string getText() const;
  static Router draw(std::mt19937_64 &random);
};

/// Those of models, and what is at the edges.
std::vector<Router> getKnownRouters();

/// The ops alone.
std::string getGateText(int64_t experts, const std::string &function,
                        const std::string &element);
std::string getRouteWeightsText(int64_t experts, int64_t k,
                                const std::string &how);
std::string getLookupText(int64_t k);

} // namespace dsv4::test

#endif // DSV4_TEST_INTEGRATION_ROUTERS_H
