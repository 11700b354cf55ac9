//===- DenseRouterWorkload.cpp - Hidden rows to experts and weights -------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Logits have a bounded contract, so no bytes are compared: `dsv4-run
// --target=cuda --check` does that. Each launch has weights of its own, and the
// copy beside it is one of them.
//
//===----------------------------------------------------------------------===//

#include "Workloads.h"

#include "llvm/Support/FormatVariadic.h"

#include <cmath>
#include <cstring>
#include <random>

using namespace dsv4;
using namespace dsv4::bench;

// {0}: experts; {1}: elements of a row; {2}: an argument for the logits, if
// they are stored; {3}: they as a result; {4}: their type; {5}: where they go.
static const char routerText[] = R"(
func.func @dense_router(
    %hidden: tensor<?x{1}xbf16> {{dsv4.name = "hidden", dsv4.dims = ["tokens", ""]},
    %gate: tensor<{0}x{1}xbf16> {{dsv4.name = "gate"},
    %bias: tensor<{0}xf32> {{dsv4.name = "bias"},
    %experts: tensor<?x8xi32> {{dsv4.name = "experts", dsv4.dims = ["tokens", ""]},
    %weights: tensor<?x8xf32> {{dsv4.name = "weights", dsv4.dims = ["tokens", ""]}{2})
    -> ({4}tensor<?x8xi32>, tensor<?x8xf32>)
    attributes {{dsv4.policies = {{tokens = #dsv4.policy<bucket>}} {{
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %hidden, %c0 : tensor<?x{1}xbf16>
  %row = tensor.empty(%tokens) : tensor<?x{0}xf32>
  %logits = dsv4.router_logits %hidden, %gate outs({5} : tensor<?x{0}xf32>)
      : tensor<?x{1}xbf16>, tensor<{0}x{1}xbf16>
  %scores = dsv4.gate %logits function sigmoid outs(%row : tensor<?x{0}xf32>) : tensor<?x{0}xf32>
  %chosen = dsv4.topk %scores bias(%bias : tensor<{0}xf32>) order sorted
      outs(%experts : tensor<?x8xi32>) : tensor<?x{0}xf32>
  %shares = dsv4.route_weights %scores[%chosen] renormalize scale 2.5
      outs(%weights : tensor<?x8xf32>) : tensor<?x{0}xf32>, tensor<?x8xi32>
  return {3}%chosen, %shares : {4}tensor<?x8xi32>, tensor<?x8xf32>
}
)";

static std::string getText(const DenseRouterJob &of) {
  if (!of.stored)
    return llvm::formatv(routerText, of.experts, of.depth, "", "", "", "%row");
  std::string type = llvm::formatv("tensor<?x{0}xf32>", of.experts);
  return llvm::formatv(
      routerText, of.experts, of.depth,
      ",\n    %out: " + type +
          " {dsv4.name = \"logits\", dsv4.dims = [\"tokens\", \"\"]}",
      "%logits, ", type + ", ", "%out");
}

std::string DenseRouterJob::getName() const {
  return stored ? "dense_router_stored" : "dense_router";
}

namespace {

class DenseRouter : public Workload {
public:
  DenseRouter(Device &device, const DenseRouterJob &of)
      : Workload(device, of.getName(),
                 llvm::formatv("{0}x{1}", of.experts, of.depth), getText(of)),
        of(of), launchBytes(of.experts * of.depth * 2),
        launches(minPoolBytes / launchBytes),
        hidden(device.allocate(maxTokens * of.depth * 2)),
        gates(device.allocate(launches * launchBytes)),
        bias(device.allocate(of.experts * 4)),
        chosen(device.allocate(maxTokens * k * 4)),
        weights(device.allocate(maxTokens * k * 4)),
        logits(device.allocate(maxTokens * of.experts * 4)) {
    sizeDim = "tokens";
    fillHidden();
    device.fillValues(gates);
    device.fillFloats(bias);
    // A copy reads and writes as much.
    bytesPerLaunch = 2 * launchBytes;
    poolBytes = gates.size();
    compileCosts = false;
  }

  unsigned slices(int64_t) const override { return launches; }

  Arguments arguments(int64_t size, unsigned slice) override {
    Arguments arguments;
    arguments.add(hidden.at(), {size, of.depth});
    arguments.add(gates.at(slice * launchBytes), {of.experts, of.depth});
    arguments.add(bias.at(), {of.experts});
    for (const Memory *memory : {&chosen, &weights})
      arguments.add(memory->at(), {size, k});
    if (of.stored)
      arguments.add(logits.at(), {size, of.experts});
    return arguments;
  }

  /// Nothing to compare.
  Excerpt extract(int64_t, unsigned, const std::vector<int64_t> &) override {
    return {};
  }

private:
  static constexpr int64_t maxTokens = 4096, k = 8;
  /// More than is left of it in the cache when a graph is replayed.
  static constexpr int64_t minPoolBytes = int64_t(400) << 20;

  /// Rows whose logits have a deviation of about one: where a sigmoid is 1 to
  /// the last bit, bias alone decides.
  void fillHidden() {
    constexpr int64_t made = 64;
    std::mt19937 random(of.depth);
    std::normal_distribution<float> normal(0, 2 / std::sqrt(float(of.depth)));
    std::vector<uint16_t> rows(made * of.depth);
    for (uint16_t &each : rows) {
      const float value = normal(random);
      uint32_t bits;
      std::memcpy(&bits, &value, sizeof(bits));
      each = bits >> 16;
    }
    std::vector<uint16_t> all;
    while (all.size() < size_t(maxTokens * of.depth))
      llvm::append_range(all, rows);
    device.upload(hidden, all.data());
  }

  const DenseRouterJob of;
  const int64_t launchBytes, launches;
  Memory hidden, gates, bias, chosen, weights, logits;
};

} // namespace

std::unique_ptr<Workload> bench::makeDenseRouter(Device &device,
                                                 const DenseRouterJob &of) {
  return std::make_unique<DenseRouter>(device, of);
}
