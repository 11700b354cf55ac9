//===- Expression.h - Arithmetic over the extents of a launch ---*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A launch plan has its numbers as text over named extents, for people to read
// and for a strict parser:
//
//   ceildiv(tokens * topk, 4) * 2
//   min(ceildiv(tokens, 128), multiprocessors() * 2)
//   tokens <= 64 && topk > 0
//
//   condition  := comparison ("&&" comparison)*
//   comparison := expression ("<" | "<=" | ">" | ">=" | "==" | "!=") expression
//   expression := product ("+" product)*
//   product    := factor ("*" factor)*
//   factor     := number | extent | "(" expression ")" | "multiprocessors()" |
//                 ("ceildiv" | "min" | "max") "(" expression "," expression ")"
//
// A name before "(" is a function, any other an extent, so an extent may have
// any name. No value is negative. The library knows neither MLIR nor LLVM.
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_RUNTIME_EXPRESSION_H
#define DSV4_RUNTIME_EXPRESSION_H

#include "dsv4-runtime/Status.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dsv4::rt {

/// The inputs of an evaluation. A negative value counts as one beyond 2^63 - 1.
struct LaunchInputs {
  const int64_t *extents = nullptr; ///< By their index.
  int64_t multiprocessors = 1;
};

/// The names of extents, and of buffers and scalars, in the texts of a plan, by
/// index. A usable name is a letter or '_', then letters, digits, '_' and '.'.
struct PlanNames {
  std::vector<std::string> extents, bindings;
};

bool isPlanName(std::string_view name);

/// Limits of the parser; a larger text is refused.
constexpr size_t MaxPlanText = size_t(1) << 16; ///< Bytes of a text.
constexpr size_t MaxExpressionNodes = 64;
constexpr unsigned MaxExpressionDepth = 32; ///< Parentheses in parentheses.
constexpr size_t MaxComparisons = 16;       ///< Of a condition.

/// The reason for a missing value.
enum class Fault : uint8_t { None, Overflow, DivisionByZero };

/// A sum, product, ceil-div, minimum or maximum of extents and constants.
class Expression {
public:
  enum class Op : uint8_t {
    Constant,
    Extent,
    Multiprocessors,
    Add,
    Multiply,
    CeilDiv,
    Min,
    Max
  };

  /// The constant `value`.
  Expression(int64_t value = 0) : nodes{{Op::Constant, value}} {}

  static Expression extent(unsigned index);
  /// The multiprocessors of the device, which bound a persistent grid.
  static Expression multiprocessors();

  /// Operands that are constant, or change nothing, are folded.
  Expression operator+(const Expression &other) const;
  Expression operator*(const Expression &other) const;
  static Expression ceilDiv(const Expression &lhs, const Expression &rhs);
  static Expression min(const Expression &lhs, const Expression &rhs);
  static Expression max(const Expression &lhs, const Expression &rhs);

  /// Computes exactly, without allocating. A value of 2^63 or more is an
  /// overflow, unless its size does not matter: in a product with 0, as the
  /// larger operand of min, as a divisor.
  Fault evaluate(const LaunchInputs &inputs, int64_t &value) const {
    // Most are a constant or an extent.
    const Node &first = nodes[0];
    if (nodes.size() == 1 && first.op <= Op::Extent) {
      value =
          first.op == Op::Constant ? first.value : inputs.extents[first.value];
      return value < 0 ? Fault::Overflow : Fault::None;
    }
    return evaluateTree(inputs, value);
  }

  bool isConstant() const {
    return nodes.size() == 1 && nodes[0].op == Op::Constant;
  }
  bool isConstant(int64_t value) const {
    return isConstant() && nodes[0].value == value;
  }
  int64_t getConstant() const { return nodes[0].value; }

  /// What is wrong with an expression over `extents` extents, or "".
  std::string explainInvalid(size_t extents) const;

  /// The text; parse() turns it into an equal expression.
  std::string print(const PlanNames &names) const;
  static Result<Expression> parse(std::string_view text,
                                  const PlanNames &names);

  bool operator==(const Expression &other) const;
  bool operator!=(const Expression &other) const { return !(*this == other); }

private:
  friend class PlanParser;

  /// In postfix order, operands before their operation.
  struct Node {
    Op op;
    int64_t value; ///< Of a constant, or the index of an extent.
  };

  Fault evaluateTree(const LaunchInputs &inputs, int64_t &value) const;
  static Expression combine(Op op, const Expression &lhs,
                            const Expression &rhs);
  static Expression fold(Op op, const Expression &lhs, const Expression &rhs);

  std::vector<Node> nodes;
};

struct Comparison {
  enum class Op : uint8_t { Lt, Le, Gt, Ge, Eq, Ne };
  Expression lhs;
  Op op = Op::Le;
  Expression rhs;

  std::string print(const PlanNames &names) const;
};

/// A conjunction of comparisons; true if it has none.
struct Condition {
  std::vector<Comparison> comparisons;

  /// Whether all hold. If not, `failed` is the first that does not hold or has
  /// no value.
  Fault evaluate(const LaunchInputs &inputs, bool &holds,
                 const Comparison *&failed) const;

  std::string explainInvalid(size_t extents) const;
  std::string print(const PlanNames &names) const;
  /// The text "" is the condition without comparisons.
  static Result<Condition> parse(std::string_view text, const PlanNames &names);
};

} // namespace dsv4::rt

#endif // DSV4_RUNTIME_EXPRESSION_H
