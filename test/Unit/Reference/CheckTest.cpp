//===- CheckTest.cpp - Destinations by their contracts --------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsv4/Reference/Check.h"

#include "ContractOps.h"
#include "InterpreterFixture.h"

#include <cmath>

using namespace mlir;
using namespace dsv4;
using namespace dsv4::reference;

namespace {

class Check : public InterpreterFixture {
protected:
  Check() { context.loadDialect<contract::ContractDialect>(); }

  /// What the oracle makes of `inputs`.
  Expected evaluateAll() {
    auto expected = evaluate(func, inputs.buffers());
    EXPECT_TRUE(expected.ok()) << expected.status().message();
    return expected ? expected.take() : Expected();
  }
  /// Elements of a destination that a launch left, all others as expected.
  template <typename T>
  std::string difference(const Expected &expected, unsigned binding,
                         std::vector<T> elements) {
    InputSet got = inputs;
    EXPECT_EQ(got.bytes[binding].size(), elements.size() * sizeof(T));
    std::memcpy(got.bytes[binding].data(), elements.data(),
                got.bytes[binding].size());
    return explainDifference(expected, got.buffers());
  }

  void parseSum(const std::string &attributes = "") {
    parse("%a: tensor<1x4xf32>, %b: tensor<1x4xf32>, %c: tensor<1x4xf32>, "
          "%out: tensor<1x4xf32> {dsv4.name = \"out\"}",
          "%0 = contract.sum %a, %b, %c outs(%out : tensor<1x4xf32>)" +
              attributes +
              " : tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32> to "
              "tensor<1x4xf32>");
    bind<float>({1, 4}, {1, 2, 3, 1e30f});
    bind<float>({1, 4}, {1, 2, 3, 1});
    bind<float>({1, 4}, {0, 0, 0, -1e30f});
    bind<float>({1, 4}, {9, 9, 9, 9});
  }
};

TEST_F(Check, EveryOpWithDestinationsDeclaresContracts) {
  unsigned count = 0;
  for (RegisteredOperationName op : context.getRegisteredOperations()) {
    if (op.getDialectNamespace() != "dsv4" ||
        !(op.hasInterface<RowwiseOpInterface>() ||
          op.hasInterface<DestinationStyleOpInterface>()))
      continue;
    EXPECT_TRUE(op.hasInterface<ResultContractInterface>())
        << op.getStringRef().str();
    ++count;
  }
  EXPECT_GE(count, 12u);
}

TEST_F(Check, ExactByDefault) {
  parse("%x: tensor<1x4xf32>, %out: tensor<1x4xf32> {dsv4.name = \"out\"}",
        "%0 = dsv4.hadamard %x outs(%out : tensor<1x4xf32>) {scale = 1.0 : "
        "f32} : tensor<1x4xf32>");
  bind<float>({1, 4}, {1, 0, 0, 0});
  bind<float>({1, 4}, {9, 9, 9, 9});
  Expected expected = evaluateAll();
  ASSERT_EQ(expected.destinations.size(), 1u);
  EXPECT_EQ(expected.destinations[0].contract, ResultContract::exact());
  EXPECT_TRUE(expected.describeContracts().empty());
  EXPECT_EQ(difference<float>(expected, 1, {1, 1, 1, 1}), "");
  EXPECT_EQ(
      difference<float>(expected, 1, {1, 1, std::nextafter(1.0f, 2.0f), 1}),
      "'out' differs in 1 of 4 elements, first at [0, 2]: got "
      "0x3f800001, expected 0x3f800000");
}

TEST_F(Check, Bounded) {
  parseSum();
  Expected expected = evaluateAll();
  EXPECT_EQ(expected.describeContracts(),
            (std::map<std::string, std::string>{{"out", "bounded"}}));
  // The bound of the last is some 2.4e23.
  EXPECT_EQ(difference<float>(expected, 3, {2, 4, 6, 1}), "");
  EXPECT_EQ(difference<float>(expected, 3, {2, 4, 6, 2e23f}), "");
  EXPECT_EQ(difference<float>(expected, 3, {2.00000024f, 4, 6, 0}), "");
  EXPECT_EQ(difference<float>(expected, 3, {2, 4.00001f, 6, 3e23f}),
            "'out' differs in 2 of 4 elements, first at [0, 1]: got "
            "4.00001001, expected 4 ± 4.8e-07");
  EXPECT_NE(difference<float>(expected, 3, {2, 4, NAN, 0}), "");
}

TEST_F(Check, TheSameOpAsExact) {
  parseSum(" {exact}");
  Expected expected = evaluateAll();
  EXPECT_EQ(difference<float>(expected, 3, {2, 4, 6, 0}), "");
  EXPECT_NE(difference<float>(expected, 3, {2.00000024f, 4, 6, 0}), "");
}

TEST_F(Check, Ulp) {
  parse("%x: tensor<1x4xf32>, %out: tensor<1x4xf32> {dsv4.name = \"out\"}",
        "%0 = contract.third %x ulps 1 outs(%out : tensor<1x4xf32>) : "
        "tensor<1x4xf32> to tensor<1x4xf32>");
  bind<float>({1, 4}, {3, -6, 0, INFINITY});
  bind<float>({1, 4}, {9, 9, 9, 9});
  Expected expected = evaluateAll();
  EXPECT_EQ(expected.describeContracts().at("out"), "ulp 1");
  EXPECT_EQ(difference<float>(expected, 1, {1.00000012f, -2, -0.0f, INFINITY}),
            "");
  EXPECT_EQ(difference<float>(expected, 1, {1.00000024f, -2, 0, INFINITY}),
            "'out' differs in 1 of 4 elements, first at [0, 0]: got 1.00000024 "
            "(0x3f800002), expected 1 (0x3f800000) within 1 ulp; it is 2 ulp "
            "away");
  EXPECT_NE(difference<float>(expected, 1, {1, -2, 0, NAN}), "");
}

//===----------------------------------------------------------------------===//
// Selection
//===----------------------------------------------------------------------===//

constexpr const char *kSumOf = " = contract.sum %a, %b, %c outs(%scores : "
                               "tensor<1x4xf32>) : tensor<1x4xf32>, "
                               "tensor<1x4xf32>, tensor<1x4xf32> to "
                               "tensor<1x4xf32>\n";

class CheckSelection : public Check {
protected:
  /// The two best of the sums; also their values, and their slots.
  void parseTopk(std::vector<float> a, const std::string &operands = "",
                 const std::string &more = "") {
    parse("%a: tensor<1x4xf32>, %b: tensor<1x4xf32>, %c: tensor<1x4xf32>, "
          "%bias: tensor<4xf32>, %len: tensor<1xi32>, %table: tensor<1x2xi32>, "
          "%scores: tensor<1x4xf32>, %indices: tensor<1x2xi32> {dsv4.name = "
          "\"indices\"}, %values: tensor<1x2xf32> {dsv4.name = \"values\"}, "
          "%slots: tensor<1x2xi32> {dsv4.name = \"slots\"}",
          std::string("%s") + kSumOf + "%0:3 = dsv4.topk %s " + operands +
              " pages(%table : tensor<1x2xi32>) page 2 order sorted " + more +
              " outs(%indices, %values, %slots : tensor<1x2xi32>, "
              "tensor<1x2xf32>, tensor<1x2xi32>) : tensor<1x4xf32>");
    bind<float>({1, 4}, a);
    bind<float>({1, 4}, {0, 0, 0, 0});
    bind<float>({1, 4}, {0, 0, 0, 0});
    bind<float>({4}, {0, 0, 8, 0});
    bind<int32_t>({1}, {1});
    bind<int32_t>({1, 2}, {7, -1});
    bytes({1, 4}, 16);
    bytes({1, 2}, 8);
    bytes({1, 2}, 8);
    bytes({1, 2}, 8);
  }
  std::string compare(std::vector<int32_t> indices, std::vector<float> values,
                      std::vector<int32_t> slots) {
    Expected expected = evaluateAll();
    EXPECT_EQ(expected.describeContracts().at("indices"), "selection");
    InputSet got = inputs;
    std::memcpy(got.bytes[7].data(), indices.data(), 8);
    std::memcpy(got.bytes[8].data(), values.data(), 8);
    std::memcpy(got.bytes[9].data(), slots.data(), 8);
    return explainDifference(expected, got.buffers());
  }
};

TEST_F(CheckSelection, OfBoundedScores) {
  // Elements 1 and 2 are nearer than their bounds, 0 and 3 are far away.
  float near = std::nextafter(5.0f, 6.0f);
  parseTopk({1, 5, near, 4});
  EXPECT_EQ(compare({2, 1}, {near, 5}, {-1, 15}), "");
  EXPECT_EQ(compare({1, 2}, {5, near}, {15, -1}), "");
  // Values within their bounds, of the indices that are there.
  EXPECT_EQ(compare({1, 2}, {near, near}, {15, -1}), "");
  EXPECT_EQ(compare({1, 2}, {4, near}, {15, -1}),
            "'values' differs in 1 of 2 elements, first at [0, 0]: got 4, "
            "expected 5 ± 6e-07");
  EXPECT_EQ(compare({1, 2}, {5, near}, {-1, 15}),
            "'slots' differs in 2 of 2 elements, first at [0, 0]: got "
            "0xffffffff, expected 0x0000000f");
  EXPECT_EQ(compare({1, 3}, {5, 4}, {15, -1}),
            "'indices' differs in 1 of 1 rows, first at [0, 1]: got index 3 "
            "with score 4 ± 4.8e-07, expected index 2 with score "
            "5.00000047684 ± 6e-07, which is left out");
}

TEST_F(CheckSelection, WithABias) {
  parseTopk({1, 5, 0, 4}, "bias(%bias : tensor<4xf32>)");
  EXPECT_EQ(compare({2, 1}, {0, 5}, {-1, 15}), "");
  EXPECT_NE(compare({1, 2}, {5, 0}, {15, -1}), "");
  EXPECT_NE(compare({2, 1}, {8, 5}, {-1, 15}), "");
}

TEST_F(CheckSelection, OfAShortRow) {
  parseTopk({1, 5, 0, 4}, "lengths(%len : tensor<1xi32>)", "smallest");
  EXPECT_EQ(compare({0, -1}, {1, INFINITY}, {14, -1}), "");
  EXPECT_NE(compare({0, -1}, {1, -INFINITY}, {14, -1}), "");
  EXPECT_NE(compare({0, 1}, {1, 5}, {14, 15}), "");
}

TEST_F(CheckSelection, OfARowThatBeginsLater) {
  // Element 1 is the first one of the row.
  parseTopk({9, 5, 0, 4}, "starts(%len : tensor<1xi32>)");
  EXPECT_EQ(compare({0, 2}, {5, 4}, {14, -1}), "");
  EXPECT_NE(compare({1, 3}, {5, 4}, {15, -1}), "");
  EXPECT_NE(compare({0, 2}, {9, 0}, {14, -1}), "");
}

TEST_F(CheckSelection, OfTheHigherOfEqualOnes) {
  parseTopk({0, 0, 0, 0}, "", "ties high");
  EXPECT_EQ(compare({3, 2}, {0, 0}, {-1, -1}), "");
  EXPECT_NE(compare({0, 1}, {0, 0}, {14, 15}), "");
}

TEST_F(CheckSelection, NeedsItsIndices) {
  parse("%a: tensor<1x4xf32>, %b: tensor<1x4xf32>, %c: tensor<1x4xf32>, "
        "%scores: tensor<1x4xf32>, %values: tensor<1x2xf32> {dsv4.name = "
        "\"values\"}",
        std::string("%s") + kSumOf +
            "%e = tensor.empty() : tensor<1x2xi32>\n"
            "%0:2 = dsv4.topk %s outs(%e, %values : tensor<1x2xi32>, "
            "tensor<1x2xf32>) : tensor<1x4xf32>");
  for (int i = 0; i < 4; ++i)
    bind<float>({1, 4}, {1, 2, 3, 4});
  bind<float>({1, 2}, {0, 0});
  EXPECT_EQ(error(), "binding 'values' belongs to a selection from bounded "
                     "scores: give its indices an argument as destination, by "
                     "which it is compared");
}

//===----------------------------------------------------------------------===//
// What the oracle cannot say
//===----------------------------------------------------------------------===//

TEST_F(Check, ReadersOfBoundedValuesAreRefused) {
  auto parseChain = [&] {
    parse("%a: tensor<1x4xf32>, %b: tensor<1x4xf32>, %c: tensor<1x4xf32>, "
          "%scores: tensor<1x4xf32>, %out: tensor<1x4xf32>",
          std::string("%s") + kSumOf +
              "%0 = dsv4.hadamard %s outs(%out : tensor<1x4xf32>) {scale = 1.0 "
              ": f32} : tensor<1x4xf32>");
    for (int i = 0; i < 5; ++i)
      bind<float>({1, 4}, {0, 0, 0, 0});
  };
  // Where the bounds are 0, the values are exact.
  parseChain();
  EXPECT_EQ(error(), "");
  parseChain();
  poke<float>(1, 0, 1);
  EXPECT_EQ(error(), "dsv4.hadamard reads operand 0, which 'contract.sum' "
                     "computes under the contract 'bounded', so its result is "
                     "not unique: check the two ops in "
                     "functions of their own");
}

TEST_F(Check, SelectionsByGroupsTakeExactScores) {
  parse("%a: tensor<1x4xf32>, %b: tensor<1x4xf32>, %c: tensor<1x4xf32>, "
        "%scores: tensor<1x4xf32>, %out: tensor<1x2xi32>",
        std::string("%s") + kSumOf +
            "%0 = dsv4.topk %s order sorted groups 2 keep 1 by 1 outs(%out : "
            "tensor<1x2xi32>) : tensor<1x4xf32>");
  for (int i = 0; i < 4; ++i)
    bind<float>({1, 4}, {1, 2, 3, 4});
  bind<int32_t>({1, 2}, {0, 0});
  EXPECT_NE(error().find("dsv4.topk reads operand 0, which 'contract.sum'"),
            std::string::npos)
      << error();
}

TEST_F(Check, ShapesMustFit) {
  parseSum();
  Expected expected = evaluateAll();
  std::vector<Buffer> got = inputs.buffers();
  got.back().shape = {2, 2};
  EXPECT_EQ(explainDifference(expected, got),
            "'out' does not have the shape and the strides that the oracle "
            "was given");
  got.pop_back();
  EXPECT_NE(explainDifference(expected, got), "");
}

TEST_F(Check, NoElementsNeedNoBounds) {
  parse("%a: tensor<0x4xf32>, %b: tensor<0x4xf32>, %c: tensor<0x4xf32>, "
        "%out: tensor<0x4xf32>",
        "%0 = contract.sum %a, %b, %c outs(%out : tensor<0x4xf32>) : "
        "tensor<0x4xf32>, tensor<0x4xf32>, tensor<0x4xf32> to tensor<0x4xf32>");
  for (int i = 0; i < 4; ++i)
    bytes({0, 4}, 0);
  EXPECT_EQ(explainDifference(evaluateAll(), inputs.buffers()), "");
}

TEST_F(Check, RandomInputsOfUserOps) {
  parseSum();
  auto made = makeRandomInputs(func, {}, 7);
  ASSERT_TRUE(made.ok()) << made.status().message();
  inputs = made.take();
  Expected expected = evaluateAll();
  EXPECT_EQ(explainDifference(expected, inputs.buffers()), "");
}

} // namespace
