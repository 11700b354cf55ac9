//===- ExpressionTest.cpp - Arithmetic over extents, and its text ---------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsv4-runtime/LaunchPlan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

using namespace dsv4::rt;

namespace {

const PlanNames names = {{"tokens", "topk", "cache.pages", "min"},
                         {"cache", "cache.scales", "out"}};

Expression parsed(const std::string &text) {
  Result<Expression> expression = Expression::parse(text, names);
  EXPECT_TRUE(expression.ok()) << expression.status().message();
  return expression ? expression.take() : Expression(-1);
}

std::string errorOf(const std::string &text) {
  Result<Expression> expression = Expression::parse(text, names);
  EXPECT_FALSE(expression.ok()) << text;
  return expression.status().message();
}

/// The value of a text, -1 for an overflow and -2 for a division by zero.
int64_t valueOf(const std::string &text, std::vector<int64_t> extents = {}) {
  extents.resize(4, 7);
  int64_t value = 0;
  switch (parsed(text).evaluate({extents.data(), 132}, value)) {
  case Fault::None:
    return value;
  case Fault::Overflow:
    return -1;
  case Fault::DivisionByZero:
    return -2;
  }
  return -3;
}

TEST(Expression, Values) {
  EXPECT_EQ(valueOf("0"), 0);
  EXPECT_EQ(valueOf("9223372036854775807"), INT64_MAX);
  EXPECT_EQ(valueOf("tokens", {3}), 3);
  EXPECT_EQ(valueOf("ceildiv(tokens * topk, 4) * 2", {3, 5}), 8);
  EXPECT_EQ(valueOf("ceildiv(8, 4)"), 2);
  EXPECT_EQ(valueOf("ceildiv(9223372036854775807, 2)"), INT64_C(1) << 62);
  EXPECT_EQ(valueOf("ceildiv(0, 4)"), 0);
  EXPECT_EQ(valueOf("2 + 3 * 4"), 14);
  EXPECT_EQ(valueOf("(2 + 3) * 4"), 20);
  EXPECT_EQ(valueOf("min(tokens, multiprocessors() * 2)", {1000}), 264);
  EXPECT_EQ(valueOf("max(tokens, multiprocessors() * 2)", {1000}), 1000);
  // An extent that has the name of a function.
  EXPECT_EQ(valueOf("min(min, 5) + min", {0, 0, 0, 9}), 14);
}

TEST(Expression, Overflows) {
  const int64_t most = INT64_MAX;
  EXPECT_EQ(valueOf("tokens + 1", {most}), -1);
  EXPECT_EQ(valueOf("tokens * 2", {most}), -1);
  EXPECT_EQ(valueOf("tokens * topk", {INT64_C(1) << 32, INT64_C(1) << 31}), -1);
  EXPECT_EQ(valueOf("max(tokens * 2, 3)", {most}), -1);
  EXPECT_EQ(valueOf("ceildiv(tokens * 2, 4)", {most}), -1);
  EXPECT_EQ(valueOf("ceildiv(tokens, topk)", {3, 0}), -2);
  EXPECT_EQ(valueOf("min(1, ceildiv(0, 0))"), -2);
  EXPECT_EQ(valueOf("tokens", {-1}), -1); // Nobody's extent.
  // Where it does not matter how large a value is.
  EXPECT_EQ(valueOf("tokens * topk * min", {most, most, 0, 0}), 0);
  EXPECT_EQ(valueOf("min * (tokens * topk)", {most, most, 0, 0}), 0);
  EXPECT_EQ(valueOf("min(tokens * 2, 3)", {most}), 3);
  EXPECT_EQ(valueOf("min(3, tokens * 2)", {most}), 3);
  EXPECT_EQ(valueOf("ceildiv(5, tokens * 2)", {most}), 1);
  EXPECT_EQ(valueOf("ceildiv(0, tokens * 2)", {most}), 0);
}

TEST(Expression, BuildersFold) {
  const Expression tokens = Expression::extent(0);
  EXPECT_EQ(tokens * Expression(1), tokens);
  EXPECT_EQ(Expression(1) * tokens, tokens);
  EXPECT_EQ(tokens + Expression(0), tokens);
  EXPECT_EQ(Expression(0) + tokens, tokens);
  EXPECT_EQ(Expression::ceilDiv(tokens, 1), tokens);
  EXPECT_EQ(Expression(3) * Expression(4), Expression(12));
  EXPECT_EQ(Expression::ceilDiv(9, 4), Expression(3));
  EXPECT_EQ(Expression::min(9, 4), Expression(4));
  EXPECT_EQ(Expression::max(9, 4), Expression(9));
  // What has no value is left to whoever evaluates it.
  EXPECT_FALSE(Expression::ceilDiv(9, 0).isConstant());
  EXPECT_FALSE((Expression(INT64_MAX) * Expression(2)).isConstant());
}

TEST(Expression, TextsAreCanonical) {
  for (const char *text :
       {"tokens", "ceildiv(tokens * topk, 4) * 2", "(tokens + 1) * 2",
        "tokens * (topk * 2)", "tokens + (topk + 2)", "tokens + topk * 2",
        "min(max(tokens, 1), multiprocessors())", "cache.pages * 37440"})
    EXPECT_EQ(parsed(text).print(names), text);
  EXPECT_EQ(parsed("  tokens*( topk )+1 ").print(names), "tokens * topk + 1");
  EXPECT_EQ(parsed("(tokens * topk) * 2").print(names), "tokens * topk * 2");
}

TEST(Expression, Errors) {
  EXPECT_EQ(errorOf(""), "expected the name of an extent at character 0 of ''");
  EXPECT_EQ(errorOf("rows"),
            "'rows' is not the name of an extent at character 4 of 'rows'");
  EXPECT_EQ(errorOf("tokens topk"),
            "expected the end at character 7 of 'tokens topk'");
  EXPECT_EQ(errorOf("ceildiv(tokens)"),
            "expected ',' at character 14 of 'ceildiv(tokens)'");
  EXPECT_EQ(errorOf("ceildiv(tokens, 4"),
            "expected ')' at character 17 of 'ceildiv(tokens, 4'");
  EXPECT_EQ(errorOf("floordiv(tokens, 4)"),
            "'floordiv' is not a function: expected ceildiv, min, max or "
            "multiprocessors at character 9 of 'floordiv(tokens, 4)'");
  EXPECT_EQ(errorOf("multiprocessors"),
            "'multiprocessors' is not the name of an extent at character 15 "
            "of 'multiprocessors'");
  EXPECT_EQ(errorOf("01"), "expected a number without leading zeros at "
                           "character 2 of '01'");
  EXPECT_EQ(errorOf("9223372036854775808"),
            "expected a number below 2^63 at character 18 of "
            "'9223372036854775808'");
  for (const char *text : {"-1", "+1", "1 -", "1 - 1", "1 / 1", "tokens(", ")",
                           "1 *", "1 + + 1", "min(1, 2, 3)", "1e3", "0x10",
                           "\n1", "multiprocessors(1)", "\"tokens\""})
    errorOf(text);
  errorOf(std::string("tokens\0", 7));
}

TEST(Expression, Bounds) {
  std::string sum = "1";
  for (size_t nodes = 1; nodes + 2 <= MaxExpressionNodes; nodes += 2)
    sum += " + 1";
  EXPECT_EQ(parsed(sum).print(names), sum);
  EXPECT_NE(errorOf(sum + " + 1").find("expected at most 64 operands"),
            std::string::npos);
  auto nested = [](size_t depth) {
    return std::string(depth, '(') + "1" + std::string(depth, ')');
  };
  EXPECT_EQ(parsed(nested(31)).print(names), "1");
  EXPECT_NE(errorOf(nested(32)).find("expected at most 32 parentheses"),
            std::string::npos);
  errorOf(std::string(10000000, '('));
  errorOf(std::string(MaxPlanText + 1, ' '));
  // What is built is bounded, too, and then has a text that can be read.
  Expression least = Expression::extent(0), right = Expression::extent(0);
  for (size_t nodes = 1; nodes + 2 <= MaxExpressionNodes; nodes += 2) {
    least = Expression::min(least, 1);
    right = Expression::extent(0) + right;
  }
  for (const Expression &deep : {least, right}) {
    EXPECT_EQ(deep.explainInvalid(1), "");
    EXPECT_EQ(parsed(deep.print(names)), deep);
    EXPECT_EQ(Expression::max(deep, 1).explainInvalid(1),
              "has more than 64 operands and operations");
  }
  EXPECT_EQ(Expression(-5).explainInvalid(0), "has the negative constant -5");
  int64_t value;
  Expression wide = Expression::extent(0);
  for (int i = 0; i < 100; ++i)
    wide = wide + Expression::extent(0);
  EXPECT_EQ(wide.evaluate({nullptr, 1}, value), Fault::Overflow);
}

//===----------------------------------------------------------------------===//
// Random expressions against a reference of 128 bits
//===----------------------------------------------------------------------===//

using Wide = unsigned __int128;

/// An expression as it was made, and its exact value.
struct Random {
  Expression expression;
  Wide value = 0;
  bool overflows = false;     ///< Some value in it is 2^63 or more.
  bool dividesByZero = false; ///< Some division in it is by 0.
};

class RandomExpressions {
public:
  explicit RandomExpressions(uint64_t seed) : random(seed) {
    for (int64_t &extent : extents)
      extent = number();
  }

  Random make(unsigned depth) {
    if (depth == 0 || random() % 4 == 0)
      return makeLeaf();
    Random lhs = make(depth - 1), rhs = make(depth - 1), made;
    made.dividesByZero = lhs.dividesByZero || rhs.dividesByZero;
    made.overflows = lhs.overflows || rhs.overflows;
    switch (random() % 5) {
    case 0:
      made.expression = lhs.expression + rhs.expression;
      made.value = lhs.value + rhs.value;
      break;
    case 1:
      made.expression = lhs.expression * rhs.expression;
      made.value = lhs.value * rhs.value;
      break;
    case 2:
      made.expression = Expression::ceilDiv(lhs.expression, rhs.expression);
      made.dividesByZero |= rhs.value == 0;
      made.value =
          rhs.value ? lhs.value / rhs.value + (lhs.value % rhs.value != 0) : 0;
      break;
    case 3:
      made.expression = Expression::min(lhs.expression, rhs.expression);
      made.value = std::min(lhs.value, rhs.value);
      break;
    case 4:
      made.expression = Expression::max(lhs.expression, rhs.expression);
      made.value = std::max(lhs.value, rhs.value);
      break;
    }
    made.overflows |= made.value >> 63 != 0;
    return made;
  }

  int64_t extents[4];
  int64_t multiprocessors = 132;

private:
  Random makeLeaf() {
    Random made;
    switch (random() % 3) {
    case 0:
      made.value = Wide(number());
      made.expression = Expression(int64_t(made.value));
      break;
    case 1: {
      const unsigned index = random() % 4;
      made.value = Wide(extents[index]);
      made.expression = Expression::extent(index);
      break;
    }
    case 2:
      made.value = Wide(multiprocessors);
      made.expression = Expression::multiprocessors();
      break;
    }
    return made;
  }

  /// Mostly small, sometimes 0, sometimes near 2^31 or 2^63.
  int64_t number() {
    const int64_t small = int64_t(random() % 9);
    switch (random() % 8) {
    case 0:
      return INT64_MAX - small;
    case 1:
      return (int64_t(1) << 31) - 4 + small;
    case 2:
      return int64_t(random() >> (1 + random() % 63));
    default:
      return small;
    }
  }

  std::mt19937_64 random;
};

TEST(Expression, RandomValues) {
  unsigned values = 0, overflows = 0, divisions = 0, saved = 0;
  for (uint64_t seed = 0; seed < 20000; ++seed) {
    // Two levels, so that what the reference needs more than 128 bits for is a
    // product of two products, which overflows unless it is 0.
    RandomExpressions make(seed);
    Random made = make.make(2);
    int64_t value = -1;
    Fault fault =
        made.expression.evaluate({make.extents, make.multiprocessors}, value);
    const std::string text = made.expression.print(names);
    if (made.dividesByZero) {
      EXPECT_EQ(fault, Fault::DivisionByZero) << text;
      ++divisions;
    } else if (fault == Fault::None) {
      // Also where some value in it overflows and does not matter.
      EXPECT_TRUE(Wide(value) == made.value) << text;
      made.overflows ? ++saved : ++values;
    } else {
      EXPECT_EQ(fault, Fault::Overflow) << text;
      EXPECT_TRUE(made.overflows) << text;
      ++overflows;
    }
  }
  for (unsigned seen : {values, overflows, divisions, saved})
    EXPECT_GT(seen, 100u);
}

TEST(Expression, RandomTextsRoundTrip) {
  for (uint64_t seed = 0; seed < 4000; ++seed) {
    Random made = RandomExpressions(seed).make(seed % 5);
    ASSERT_EQ(made.expression.explainInvalid(4), "");
    const std::string text = made.expression.print(names);
    Result<Expression> back = Expression::parse(text, names);
    ASSERT_TRUE(back.ok()) << back.status().message();
    EXPECT_EQ(*back, made.expression) << text;
    EXPECT_EQ(back->print(names), text);
    for (size_t length = 0; length < text.size(); ++length) {
      // A part is another expression, or none.
      Result<Expression> part =
          Expression::parse(text.substr(0, length), names);
      EXPECT_TRUE(!part.ok() || *part != made.expression);
    }
  }
}

/// Whatever a file says is read or refused.
TEST(Expression, DamagedTexts) {
  std::mt19937_64 random(7);
  const std::string characters("tokens(),*+ 0123456789&<=>!.\0\xff", 30);
  for (int i = 0; i < 20000; ++i) {
    std::string text = "min(ceildiv(tokens * topk, 4), 2) <= cache.pages";
    for (unsigned changes = 1 + random() % 4; changes; --changes)
      text[random() % text.size()] = characters[random() % characters.size()];
    Result<Condition> condition = Condition::parse(text, names);
    if (!condition)
      continue;
    EXPECT_EQ(condition->explainInvalid(4), "");
    const std::string printed = condition->print(names);
    Result<Condition> again = Condition::parse(printed, names);
    ASSERT_TRUE(again.ok()) << printed;
    EXPECT_EQ(again->print(names), printed);
  }
}

//===----------------------------------------------------------------------===//
// Conditions
//===----------------------------------------------------------------------===//

/// 1 and 0 for what holds and what does not, else as valueOf().
int holds(const std::string &text, std::vector<int64_t> extents = {}) {
  extents.resize(4, 7);
  Result<Condition> condition = Condition::parse(text, names);
  EXPECT_TRUE(condition.ok()) << condition.status().message();
  bool result = false;
  const Comparison *failed = nullptr;
  Fault fault = condition->evaluate({extents.data(), 132}, result, failed);
  EXPECT_EQ(failed != nullptr, fault != Fault::None || !result);
  return fault == Fault::None ? result : fault == Fault::Overflow ? -1 : -2;
}

TEST(Condition, Values) {
  EXPECT_EQ(holds(""), 1);
  for (int64_t tokens : {63, 64, 65}) {
    EXPECT_EQ(holds("tokens < 64", {tokens}), tokens < 64);
    EXPECT_EQ(holds("tokens <= 64", {tokens}), tokens <= 64);
    EXPECT_EQ(holds("tokens > 64", {tokens}), tokens > 64);
    EXPECT_EQ(holds("tokens >= 64", {tokens}), tokens >= 64);
    EXPECT_EQ(holds("tokens == 64", {tokens}), tokens == 64);
    EXPECT_EQ(holds("tokens != 64", {tokens}), tokens != 64);
    EXPECT_EQ(holds("tokens > 63 && topk == 7 && tokens < 65", {tokens}),
              tokens == 64);
  }
  EXPECT_EQ(holds("tokens * tokens <= 5", {INT64_MAX}), -1);
  EXPECT_EQ(holds("1 <= ceildiv(tokens, topk)", {1, 0}), -2);
  // The first that does not hold decides.
  EXPECT_EQ(holds("1 > 2 && tokens * tokens <= 5", {INT64_MAX}), 0);
}

TEST(Condition, Texts) {
  for (const char *text : {"", "tokens <= 64", "tokens * 2 > topk && 1 != 2"}) {
    Result<Condition> condition = Condition::parse(text, names);
    ASSERT_TRUE(condition.ok()) << condition.status().message();
    EXPECT_EQ(condition->print(names), text);
  }
  for (const char *text :
       {" ", "tokens", "tokens = 1", "tokens <=", "1 < 2 < 3", "1 < 2 &&",
        "1 < 2 & 1 < 2", "(1 < 2)", "1 < 2 || 1 < 2", "1 =< 2"})
    EXPECT_FALSE(Condition::parse(text, names).ok()) << text;
  std::string many = "1 < 2";
  for (size_t i = 1; i < MaxComparisons; ++i)
    many += " && 1 < 2";
  EXPECT_TRUE(Condition::parse(many, names).ok());
  EXPECT_FALSE(Condition::parse(many + " && 1 < 2", names).ok());
}

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

TEST(Parameter, Texts) {
  for (const char *text :
       {"read(cache, 16)", "write(out, 1)", "update(cache.scales, 4096)",
        "read(out + 2048, 16)", "read(out + tokens * 8 + 2, 2)",
        "read(out, 4, tokens <= topk)",
        "write(out + tokens * 4, 4, tokens + 1 <= topk && 3 <= tokens)",
        "i32(tokens * topk)", "i64(cache.pages)", "scalar(out)",
        "tensor_map(cache)", "workspace"}) {
    Result<Parameter> parameter = Parameter::parse(text, names);
    ASSERT_TRUE(parameter.ok()) << parameter.status().message();
    EXPECT_EQ(parameter->print(names), text);
  }
  Result<Parameter> update = Parameter::parse("update(cache.scales, 8)", names);
  EXPECT_TRUE(update->reads && update->writes);
  EXPECT_EQ(update->binding, 1);
  EXPECT_EQ(update->alignment, 8u);
  Result<Parameter> slice =
      Parameter::parse("read(out + 48, 16, tokens <= topk)", names);
  EXPECT_TRUE(slice->offset.isConstant(48));
  EXPECT_EQ(slice->within.comparisons.size(), 1u);
  EXPECT_FALSE(Parameter::parse("read(out, 8)", names)->writes);
  EXPECT_FALSE(Parameter::parse("write(out, 8)", names)->reads);
  for (const char *text : {"",
                           "read",
                           "read()",
                           "read(cache)",
                           "read(cache, x)",
                           "read(cache, 4097)",
                           "read(pages, 4)",
                           "workspace()",
                           "workspace(1)",
                           "i32()",
                           "i32(out)",
                           "f32(1)",
                           "scalar(tokens)",
                           "tensor_map()",
                           "read(cache, 16) ,",
                           "i32(1) i32(1)",
                           "read(cache, -1)",
                           "read(cache +, 16)",
                           "read(cache + out, 16)",
                           "read(cache + 1)",
                           "read(cache, 16, )",
                           "read(cache, 16, 1)",
                           "scalar(out + 1)"})
    EXPECT_FALSE(Parameter::parse(text, names).ok()) << text;
}

} // namespace
