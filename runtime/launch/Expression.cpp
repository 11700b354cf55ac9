//===- Expression.cpp - Arithmetic over the extents of a launch -----------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsv4-runtime/Expression.h"

#include <algorithm>
#include <utility>

using namespace dsv4::rt;

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

Expression Expression::extent(unsigned index) {
  Expression result;
  result.nodes = {{Op::Extent, int64_t(index)}};
  return result;
}

Expression Expression::multiprocessors() {
  Expression result;
  result.nodes = {{Op::Multiprocessors, 0}};
  return result;
}

Expression Expression::combine(Op op, const Expression &lhs,
                               const Expression &rhs) {
  Expression result = lhs;
  result.nodes.insert(result.nodes.end(), rhs.nodes.begin(), rhs.nodes.end());
  result.nodes.push_back({op, 0});
  return result;
}

Expression Expression::fold(Op op, const Expression &lhs,
                            const Expression &rhs) {
  Expression result = combine(op, lhs, rhs);
  int64_t value;
  if (lhs.isConstant() && rhs.isConstant() &&
      result.evaluate({}, value) == Fault::None)
    return value;
  return result;
}

Expression Expression::operator+(const Expression &other) const {
  if (isConstant(0))
    return other;
  return other.isConstant(0) ? *this : fold(Op::Add, *this, other);
}

Expression Expression::operator*(const Expression &other) const {
  if (isConstant(1))
    return other;
  return other.isConstant(1) ? *this : fold(Op::Multiply, *this, other);
}

Expression Expression::ceilDiv(const Expression &lhs, const Expression &rhs) {
  return rhs.isConstant(1) ? lhs : fold(Op::CeilDiv, lhs, rhs);
}

Expression Expression::min(const Expression &lhs, const Expression &rhs) {
  return fold(Op::Min, lhs, rhs);
}

Expression Expression::max(const Expression &lhs, const Expression &rhs) {
  return fold(Op::Max, lhs, rhs);
}

bool Expression::operator==(const Expression &other) const {
  return std::equal(nodes.begin(), nodes.end(), other.nodes.begin(),
                    other.nodes.end(), [](const Node &a, const Node &b) {
                      return a.op == b.op && a.value == b.value;
                    });
}

// So every expression has a text that can be read: one operation is at most one
// parenthesis deeper than its operands.
static_assert((MaxExpressionNodes - 1) / 2 + 1 <= MaxExpressionDepth,
              "a text may be too deep");

std::string Expression::explainInvalid(size_t extents) const {
  if (nodes.size() > MaxExpressionNodes)
    return "has more than " + std::to_string(MaxExpressionNodes) +
           " operands and operations";
  for (const Node &node : nodes) {
    if (node.op == Op::Constant && node.value < 0)
      return "has the negative constant " + std::to_string(node.value);
    if (node.op == Op::Extent && uint64_t(node.value) >= extents)
      return "refers to extent " + std::to_string(node.value) +
             ", which does not exist";
  }
  return "";
}

//===----------------------------------------------------------------------===//
// Evaluation
//===----------------------------------------------------------------------===//

/// A value of 2^63 or more.
static constexpr int64_t huge = -1;

static int64_t apply(Expression::Op op, int64_t lhs, int64_t rhs) {
  const bool overflows = lhs == huge || rhs == huge;
  int64_t value;
  switch (op) {
  case Expression::Op::Add:
    return overflows || __builtin_add_overflow(lhs, rhs, &value) ? huge : value;
  case Expression::Op::Multiply:
    if (lhs == 0 || rhs == 0)
      return 0;
    return overflows || __builtin_mul_overflow(lhs, rhs, &value) ? huge : value;
  case Expression::Op::CeilDiv:
    if (lhs == huge || lhs == 0)
      return lhs;
    return rhs == huge ? 1 : lhs / rhs + (lhs % rhs != 0);
  case Expression::Op::Min:
    return overflows ? std::max(lhs, rhs) : std::min(lhs, rhs);
  case Expression::Op::Max:
    return overflows ? huge : std::max(lhs, rhs);
  case Expression::Op::Constant:
  case Expression::Op::Extent:
  case Expression::Op::Multiprocessors:
    break;
  }
  return huge;
}

Fault Expression::evaluateTree(const LaunchInputs &inputs,
                               int64_t &value) const {
  // Every operand has a slot of the stack; validate() refuses more.
  int64_t stack[MaxExpressionNodes];
  if (nodes.size() > MaxExpressionNodes)
    return Fault::Overflow;
  size_t depth = 0;
  for (const Node &node : nodes) {
    int64_t leaf;
    switch (node.op) {
    case Op::Constant:
      leaf = node.value;
      break;
    case Op::Extent:
      leaf = inputs.extents[node.value];
      break;
    case Op::Multiprocessors:
      leaf = inputs.multiprocessors;
      break;
    default:
      --depth;
      if (node.op == Op::CeilDiv && stack[depth] == 0)
        return Fault::DivisionByZero;
      stack[depth - 1] = apply(node.op, stack[depth - 1], stack[depth]);
      continue;
    }
    stack[depth++] = leaf < 0 ? huge : leaf;
  }
  value = stack[0];
  return value == huge ? Fault::Overflow : Fault::None;
}

static bool compare(Comparison::Op op, int64_t lhs, int64_t rhs) {
  switch (op) {
  case Comparison::Op::Lt:
    return lhs < rhs;
  case Comparison::Op::Le:
    return lhs <= rhs;
  case Comparison::Op::Gt:
    return lhs > rhs;
  case Comparison::Op::Ge:
    return lhs >= rhs;
  case Comparison::Op::Eq:
    return lhs == rhs;
  case Comparison::Op::Ne:
    return lhs != rhs;
  }
  return false;
}

Fault Condition::evaluate(const LaunchInputs &inputs, bool &holds,
                          const Comparison *&failed) const {
  holds = true;
  for (const Comparison &comparison : comparisons) {
    int64_t lhs, rhs;
    failed = &comparison;
    Fault fault = comparison.lhs.evaluate(inputs, lhs);
    if (fault == Fault::None)
      fault = comparison.rhs.evaluate(inputs, rhs);
    if (fault != Fault::None)
      return fault;
    if (!compare(comparison.op, lhs, rhs)) {
      holds = false;
      return Fault::None;
    }
  }
  failed = nullptr;
  return Fault::None;
}

std::string Condition::explainInvalid(size_t extents) const {
  if (comparisons.size() > MaxComparisons)
    return "has more than " + std::to_string(MaxComparisons) + " comparisons";
  for (const Comparison &comparison : comparisons)
    for (const Expression *side : {&comparison.lhs, &comparison.rhs})
      if (std::string why = side->explainInvalid(extents); !why.empty())
        return why;
  return "";
}

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

/// How tightly an operation binds in text.
enum class Precedence { Sum, Product, Factor };

static Precedence getPrecedence(Expression::Op op) {
  if (op == Expression::Op::Add)
    return Precedence::Sum;
  return op == Expression::Op::Multiply ? Precedence::Product
                                        : Precedence::Factor;
}

std::string Expression::print(const PlanNames &names) const {
  std::vector<std::pair<std::string, Precedence>> texts;
  auto within = [](const std::pair<std::string, Precedence> &text,
                   Precedence least) {
    return text.second >= least ? text.first : "(" + text.first + ")";
  };
  for (const Node &node : nodes) {
    switch (node.op) {
    case Op::Constant:
      texts.emplace_back(std::to_string(node.value), Precedence::Factor);
      continue;
    case Op::Extent:
      texts.emplace_back(uint64_t(node.value) < names.extents.size()
                             ? names.extents[node.value]
                             : "?",
                         Precedence::Factor);
      continue;
    case Op::Multiprocessors:
      texts.emplace_back("multiprocessors()", Precedence::Factor);
      continue;
    default:
      break;
    }
    std::pair<std::string, Precedence> rhs = std::move(texts.back());
    texts.pop_back();
    std::pair<std::string, Precedence> &lhs = texts.back();
    const Precedence own = getPrecedence(node.op);
    std::string text;
    if (node.op == Op::Add)
      text = within(lhs, Precedence::Sum) + " + " +
             within(rhs, Precedence::Product);
    else if (node.op == Op::Multiply)
      text = within(lhs, Precedence::Product) + " * " +
             within(rhs, Precedence::Factor);
    else
      text = (node.op == Op::CeilDiv ? "ceildiv("
              : node.op == Op::Min   ? "min("
                                     : "max(") +
             lhs.first + ", " + rhs.first + ")";
    lhs = {std::move(text), own};
  }
  return std::move(texts.back().first);
}

std::string Comparison::print(const PlanNames &names) const {
  static constexpr const char *texts[] = {" < ",  " <= ", " > ",
                                          " >= ", " == ", " != "};
  return lhs.print(names) + texts[unsigned(op)] + rhs.print(names);
}

std::string Condition::print(const PlanNames &names) const {
  std::string text;
  for (const Comparison &comparison : comparisons)
    text += (text.empty() ? "" : " && ") + comparison.print(names);
  return text;
}
