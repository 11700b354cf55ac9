//===- RouterWorkload.cpp - Logits to experts and weights -----------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Workloads.h"

#include "llvm/Support/FormatVariadic.h"

#include <random>

using namespace dsv4;
using namespace dsv4::bench;

static constexpr int64_t kTopK = 6, kVocabulary = 129280;

static const char routerText[] = R"(
func.func @router(
    %logits: tensor<?x{0}xf32> {{dsv4.name = "logits", dsv4.dims = ["tokens", ""]},
    %bias: tensor<{0}xf32> {{dsv4.name = "bias"},
    %experts: tensor<?x6xi32> {{dsv4.name = "experts", dsv4.dims = ["tokens", ""]},
    %weights: tensor<?x6xf32> {{dsv4.name = "weights", dsv4.dims = ["tokens", ""]})
    -> (tensor<?x6xi32>, tensor<?x6xf32>)
    attributes {{dsv4.policies = {{tokens = #dsv4.policy<bucket>}} {{
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %logits, %c0 : tensor<?x{0}xf32>
  %row = tensor.empty(%tokens) : tensor<?x{0}xf32>
  %scores = dsv4.gate %logits function sqrt_softplus outs(%row : tensor<?x{0}xf32>) : tensor<?x{0}xf32>
  %chosen = dsv4.topk %scores bias(%bias : tensor<{0}xf32>) order sorted
      {1} outs(%experts : tensor<?x6xi32>) : tensor<?x{0}xf32>
  %shares = dsv4.route_weights %scores[%chosen] renormalize scale 1.5
      outs(%weights : tensor<?x6xf32>) : tensor<?x{0}xf32>, tensor<?x6xi32>
  return %chosen, %shares : tensor<?x6xi32>, tensor<?x6xf32>
}
)";

static const char hashText[] = R"(
func.func @hash_router(
    %logits: tensor<?x{0}xf32> {{dsv4.name = "logits", dsv4.dims = ["tokens", ""]},
    %table: tensor<129280x6xi32> {{dsv4.name = "table"},
    %ids: tensor<?xi32> {{dsv4.name = "ids", dsv4.dims = ["tokens"]},
    %experts: tensor<?x6xi32> {{dsv4.name = "experts", dsv4.dims = ["tokens", ""]},
    %weights: tensor<?x6xf32> {{dsv4.name = "weights", dsv4.dims = ["tokens", ""]})
    -> (tensor<?x6xi32>, tensor<?x6xf32>)
    attributes {{dsv4.policies = {{tokens = #dsv4.policy<bucket>}} {{
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %logits, %c0 : tensor<?x{0}xf32>
  %row = tensor.empty(%tokens) : tensor<?x{0}xf32>
  %found = dsv4.lookup %table[%ids] outs(%experts : tensor<?x6xi32>)
      : tensor<129280x6xi32>, tensor<?xi32>
  %scores = dsv4.gate %logits function sqrt_softplus outs(%row : tensor<?x{0}xf32>) : tensor<?x{0}xf32>
  %shares = dsv4.route_weights %scores[%found] renormalize scale 1.5
      outs(%weights : tensor<?x6xf32>) : tensor<?x{0}xf32>, tensor<?x6xi32>
  return %found, %shares : tensor<?x6xi32>, tensor<?x6xf32>
}
)";

namespace {

/// Tokens one after the other; a launch takes successive ones.
class Router : public Workload {
public:
  Router(Device &device, const RouterJob &of)
      : Workload(device, of.name, llvm::formatv("{0}_experts", of.experts),
                 llvm::formatv(of.hash ? hashText : routerText, of.experts,
                               of.groups)),
        experts(of.experts), hash(of.hash),
        logits(device.allocate(kTokens * experts * 4)),
        shared(device.allocate(hash ? kVocabulary * kTopK * 4 : experts * 4)),
        ids(device.allocate(hash ? kTokens * 4 : 16)),
        chosen(device.allocate(kTokens * kMaxResultBytes)),
        weights(device.allocate(kTokens * kMaxResultBytes)) {
    sizeDim = "tokens";
    // Of a hash router the logits of the experts that the table names.
    bytesPerRow = (hash ? kTopK + kTopK + 1 : experts) * 4 + 2 * kTopK * 4;
    poolBytes = bytesPerRow * kTokens;
    device.fillNormal(logits);
    if (!hash) {
      // A correction, so small beside what it corrects.
      std::mt19937_64 random(experts);
      std::normal_distribution<float> normal(0, 0.125f);
      std::vector<float> bias(experts);
      for (float &each : bias)
        each = normal(random);
      device.upload(shared, bias.data());
      return;
    }
    std::vector<int32_t> table(kVocabulary * kTopK), tokens(kTokens);
    for (size_t i = 0; i < table.size(); ++i)
      table[i] = int32_t((i * 2654435761u >> 7) % experts);
    for (size_t i = 0; i < tokens.size(); ++i)
      tokens[i] = int32_t((i * 2246822519u >> 5) % kVocabulary);
    device.upload(shared, table.data());
    device.upload(ids, tokens.data());
  }

  unsigned slices(int64_t size) const override { return kTokens / size; }

  Arguments arguments(int64_t size, unsigned slice) override {
    Arguments arguments;
    int64_t first = slice * size;
    arguments.add(logits.at(first * experts * 4), {size, experts});
    if (hash) {
      arguments.add(shared.at(0), {kVocabulary, kTopK});
      arguments.add(ids.at(first * 4), {size});
    } else {
      arguments.add(shared.at(0), {experts});
    }
    for (const Memory *memory : {&chosen, &weights})
      arguments.add(memory->at(slice * getResultBytes(size)), {size, kTopK});
    return arguments;
  }

  Excerpt extract(int64_t size, unsigned slice,
                  const std::vector<int64_t> &rows) override {
    Excerpt excerpt;
    int64_t count = rows.size();
    auto add = [&](const Memory &memory, int64_t elements,
                   std::vector<int64_t> shape, bool isResult) {
      std::vector<char> data;
      int64_t sliceBytes =
          isResult ? getResultBytes(size) : size * elements * 4;
      for (int64_t row : rows) {
        char *at = memory.at(slice * sliceBytes + row * elements * 4);
        if (isResult)
          excerpt.results.push_back(
              {excerpt.data.size(), data.size(), at, size_t(elements * 4)});
        llvm::append_range(data, download(at, elements * 4));
      }
      excerpt.add(std::move(data), std::move(shape));
    };
    add(logits, experts, {count, experts}, false);
    if (hash) {
      excerpt.add(download(shared.at(0), kVocabulary * kTopK * 4),
                  {kVocabulary, kTopK});
      add(ids, 1, {count}, false);
    } else {
      excerpt.add(download(shared.at(0), experts * 4), {experts});
    }
    add(chosen, kTopK, {count, kTopK}, true);
    add(weights, kTopK, {count, kTopK}, true);
    return excerpt;
  }

private:
  static constexpr int64_t kTokens = 262144, kMaxResultBytes = 32;
  /// Of a launch, whose results begin at 16 bytes.
  static int64_t getResultBytes(int64_t size) {
    return (size * kTopK * 4 + 15) / 16 * 16;
  }
  int64_t experts;
  bool hash;
  /// Of a hash router the table, else the bias.
  Memory logits, shared, ids, chosen, weights;
};

} // namespace

std::vector<RouterJob> bench::getRouterJobs() {
  return {{"router", 256, false, ""},
          {"hash_router", 256, true, ""},
          {"router", 384, false, ""},
          {"hash_router", 384, true, ""},
          {"grouped_router", 256, false, "groups 8 keep 4 by 2"}};
}

std::unique_ptr<Workload> bench::makeRouter(Device &device,
                                            const RouterJob &of) {
  return std::make_unique<Router>(device, of);
}
