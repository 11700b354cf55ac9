//===- PlanParser.cpp - Reading the texts of launch plans -----------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A recursive-descent parser with bounds on length, depth and result, because
// texts come from files of strangers.
//
//===----------------------------------------------------------------------===//

#include "dsv4-runtime/LaunchPlan.h"

#include <algorithm>

namespace dsv4::rt {

static bool isDigit(char c) { return c >= '0' && c <= '9'; }
static bool isNameStart(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
static bool isNamePart(char c) {
  return isNameStart(c) || isDigit(c) || c == '.';
}

bool isPlanName(std::string_view name) {
  return !name.empty() && isNameStart(name[0]) &&
         std::all_of(name.begin(), name.end(), isNamePart);
}

/// Reads one text; the first failure sticks.
class PlanParser {
public:
  PlanParser(std::string_view text, const PlanNames &names)
      : text(text), names(names) {
    if (text.size() > MaxPlanText)
      fail("expected at most " + std::to_string(MaxPlanText) + " bytes");
  }

  Expression parseExpression();
  Condition parseCondition();
  Parameter parseParameter();

  /// The failure, if there is one or something is left of the text.
  Status finish() {
    if (failure.ok() && at < text.size())
      fail("expected the end");
    return failure;
  }

private:
  void fail(const std::string &what);
  void skipBlanks() {
    while (at < text.size() && text[at] == ' ')
      ++at;
  }
  /// Takes `token` if it comes next.
  bool take(std::string_view token);
  void expect(std::string_view token) {
    if (!take(token))
      fail("expected '" + std::string(token) + "'");
  }
  std::string_view takeName();
  int64_t parseNumber();
  /// The index of the name that comes next among `known`.
  unsigned parseReference(const std::vector<std::string> &known,
                          const char *what);
  Expression parseProduct();
  Expression parseFactor();
  Expression parseCall(std::string_view function);
  Comparison parseComparison();
  Expression combine(Expression::Op op, const Expression &lhs,
                     const Expression &rhs);

  std::string_view text;
  const PlanNames &names;
  size_t at = 0;
  unsigned depth = 0;
  Status failure;
};

void PlanParser::fail(const std::string &what) {
  if (!failure.ok())
    return;
  constexpr size_t maxShown = 200;
  failure = Status(Code::InvalidArgument,
                   what + " at character " + std::to_string(at) + " of '" +
                       std::string(text.substr(0, maxShown)) +
                       (text.size() > maxShown ? "...'" : "'"));
}

bool PlanParser::take(std::string_view token) {
  skipBlanks();
  if (!failure.ok() || text.substr(at, token.size()) != token)
    return false;
  at += token.size();
  return true;
}

/// The name that comes next, or "".
std::string_view PlanParser::takeName() {
  skipBlanks();
  const size_t start = at;
  if (failure.ok() && at < text.size() && isNameStart(text[at]))
    while (at < text.size() && isNamePart(text[at]))
      ++at;
  return text.substr(start, at - start);
}

int64_t PlanParser::parseNumber() {
  skipBlanks();
  const size_t start = at;
  int64_t value = 0;
  for (; at < text.size() && isDigit(text[at]); ++at)
    if (__builtin_mul_overflow(value, 10, &value) ||
        __builtin_add_overflow(value, text[at] - '0', &value)) {
      fail("expected a number below 2^63");
      return 0;
    }
  if (at == start || (text[start] == '0' && at - start > 1))
    fail("expected a number without leading zeros");
  return value;
}

unsigned PlanParser::parseReference(const std::vector<std::string> &known,
                                    const char *what) {
  const std::string_view name = takeName();
  const auto found = std::find(known.begin(), known.end(), name);
  if (found == known.end()) {
    fail(name.empty()
             ? std::string("expected the name of ") + what
             : "'" + std::string(name) + "' is not the name of " + what);
    return 0;
  }
  return unsigned(found - known.begin());
}

Expression PlanParser::combine(Expression::Op op, const Expression &lhs,
                               const Expression &rhs) {
  if (lhs.nodes.size() + rhs.nodes.size() >= MaxExpressionNodes) {
    fail("expected at most " + std::to_string(MaxExpressionNodes) +
         " operands and operations");
    return 0;
  }
  return Expression::combine(op, lhs, rhs);
}

Expression PlanParser::parseCall(std::string_view function) {
  if (function == "multiprocessors") {
    expect(")");
    return Expression::multiprocessors();
  }
  Expression::Op op = Expression::Op::CeilDiv;
  if (function == "min")
    op = Expression::Op::Min;
  else if (function == "max")
    op = Expression::Op::Max;
  else if (function != "ceildiv")
    fail("'" + std::string(function) +
         "' is not a function: expected ceildiv, min, max or multiprocessors");
  Expression lhs = parseExpression();
  expect(",");
  Expression rhs = parseExpression();
  expect(")");
  return combine(op, lhs, rhs);
}

Expression PlanParser::parseFactor() {
  skipBlanks();
  if (!failure.ok())
    return 0;
  if (at < text.size() && isDigit(text[at]))
    return parseNumber();
  if (take("(")) {
    Expression inner = parseExpression();
    expect(")");
    return inner;
  }
  const size_t start = at;
  const std::string_view name = takeName();
  if (!name.empty() && take("("))
    return parseCall(name);
  at = start;
  return Expression::extent(parseReference(names.extents, "an extent"));
}

Expression PlanParser::parseProduct() {
  Expression result = parseFactor();
  while (take("*"))
    result = combine(Expression::Op::Multiply, result, parseFactor());
  return result;
}

Expression PlanParser::parseExpression() {
  if (++depth > MaxExpressionDepth)
    fail("expected at most " + std::to_string(MaxExpressionDepth) +
         " parentheses in each other");
  Expression result = failure.ok() ? parseProduct() : 0;
  while (take("+"))
    result = combine(Expression::Op::Add, result, parseProduct());
  --depth;
  return result;
}

Comparison PlanParser::parseComparison() {
  Comparison comparison;
  comparison.lhs = parseExpression();
  using Op = Comparison::Op;
  // The longer ones first.
  static constexpr std::pair<std::string_view, Op> ops[] = {
      {"<=", Op::Le}, {">=", Op::Ge}, {"==", Op::Eq},
      {"!=", Op::Ne}, {"<", Op::Lt},  {">", Op::Gt}};
  const auto *op =
      std::find_if(std::begin(ops), std::end(ops),
                   [&](const auto &each) { return take(each.first); });
  if (op == std::end(ops))
    fail("expected a comparison");
  else
    comparison.op = op->second;
  comparison.rhs = parseExpression();
  return comparison;
}

Condition PlanParser::parseCondition() {
  Condition condition;
  do {
    if (condition.comparisons.size() == MaxComparisons)
      fail("expected at most " + std::to_string(MaxComparisons) +
           " comparisons");
    condition.comparisons.push_back(parseComparison());
  } while (take("&&"));
  return condition;
}

Parameter PlanParser::parseParameter() {
  const std::string_view kind = takeName();
  if (kind == "workspace")
    return Parameter::workspace();
  expect("(");
  Parameter parameter;
  if (kind == "i32" || kind == "i64") {
    Expression value = parseExpression();
    parameter =
        kind == "i32" ? Parameter::int32(value) : Parameter::int64(value);
  } else if (kind == "scalar" || kind == "tensor_map") {
    const int binding = int(parseReference(names.bindings, "an argument"));
    parameter = kind == "scalar" ? Parameter::scalar(binding)
                                 : Parameter::tensorMap(binding);
  } else if (kind == "read" || kind == "write" || kind == "update") {
    const int binding = int(parseReference(names.bindings, "an argument"));
    Expression offset;
    if (take("+"))
      offset = parseExpression();
    expect(",");
    const int64_t alignment = parseNumber();
    if (alignment > MaxBufferAlignment)
      fail("expected an alignment of at most " +
           std::to_string(MaxBufferAlignment));
    parameter = Parameter::buffer(binding, kind != "write", kind != "read",
                                  uint32_t(alignment));
    parameter.offset = std::move(offset);
    if (take(","))
      parameter.within = parseCondition();
  } else {
    at = 0;
    fail("expected read, write, update, i32, i64, scalar, tensor_map or "
         "workspace");
  }
  expect(")");
  return parameter;
}

Result<Expression> Expression::parse(std::string_view text,
                                     const PlanNames &names) {
  PlanParser parser(text, names);
  Expression result = parser.parseExpression();
  if (Status status = parser.finish(); !status)
    return status;
  return result;
}

Result<Condition> Condition::parse(std::string_view text,
                                   const PlanNames &names) {
  if (text.empty())
    return Condition();
  PlanParser parser(text, names);
  Condition result = parser.parseCondition();
  if (Status status = parser.finish(); !status)
    return status;
  return result;
}

Result<Parameter> Parameter::parse(std::string_view text,
                                   const PlanNames &names) {
  PlanParser parser(text, names);
  Parameter result = parser.parseParameter();
  if (Status status = parser.finish(); !status)
    return status;
  return result;
}

} // namespace dsv4::rt
