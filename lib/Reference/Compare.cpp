//===- Compare.cpp - Elements: exact, ulp n, bounded ----------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CompareText.h"

#include "llvm/ADT/StringExtras.h"

#include <cmath>
#include <cstdio>
#include <cstring>

using namespace dsv4::reference;
using llvm::ArrayRef;

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

int64_t dsv4::reference::countElements(ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  return count;
}

std::string dsv4::reference::toPosition(ArrayRef<int64_t> shape, int64_t at) {
  std::string text;
  for (size_t axis = shape.size(); axis-- > 0;) {
    text = std::to_string(at % shape[axis]) + (text.empty() ? "" : ", ") + text;
    at /= shape[axis];
  }
  return "[" + text + "]";
}

static std::string print(const char *format, double value) {
  char text[40];
  std::snprintf(text, sizeof(text), format, value);
  return text;
}

std::string dsv4::reference::toText(double value) {
  return std::isnan(value) ? "NaN" : print("%.9g", value);
}

std::string dsv4::reference::toText(const BoundedValue &value) {
  if (std::isnan(value.exact))
    return "NaN";
  return print("%.12g", value.exact) + " ± " + print("%.3g", value.bound);
}

std::string dsv4::reference::explainSize(const Destination &destination,
                                         size_t got, size_t expected) {
  if (got == expected)
    return "";
  return "'" + destination.name.str() + "' has " + std::to_string(got) +
         " bytes, expected " + std::to_string(expected);
}

std::string dsv4::reference::findDifference(
    const Destination &destination, llvm::function_ref<bool(int64_t)> differs,
    llvm::function_ref<std::string(int64_t)> describe) {
  int64_t count = countElements(destination.shape), different = 0, first = 0;
  for (int64_t i = 0; i < count; ++i)
    if (differs(i) && different++ == 0)
      first = i;
  if (different == 0)
    return "";
  return "'" + destination.name.str() + "' differs in " +
         std::to_string(different) + " of " + std::to_string(count) +
         " elements, first at " + toPosition(destination.shape, first) + ": " +
         describe(first);
}

/// "0x3f80", the most significant digit first.
static std::string toHex(ArrayRef<char> element) {
  return "0x" + llvm::toHex(std::string(element.rbegin(), element.rend()),
                            /*LowerCase=*/true);
}

//===----------------------------------------------------------------------===//
// exact
//===----------------------------------------------------------------------===//

std::string dsv4::reference::compareExact(const Destination &destination,
                                          ArrayRef<char> got,
                                          ArrayRef<char> expected,
                                          unsigned width) {
  size_t bytes = countElements(destination.shape) * width;
  for (size_t size : {got.size(), expected.size()})
    if (std::string why = explainSize(destination, size, bytes); !why.empty())
      return why;
  if (got == expected)
    return "";
  return findDifference(
      destination,
      [&](int64_t i) {
        return got.slice(i * width, width) != expected.slice(i * width, width);
      },
      [&](int64_t i) {
        return "got " + toHex(got.slice(i * width, width)) + ", expected " +
               toHex(expected.slice(i * width, width));
      });
}

//===----------------------------------------------------------------------===//
// ulp n
//===----------------------------------------------------------------------===//

bool dsv4::reference::isFloatingPoint(Format format) {
  return format != Format::Int4 && format != Format::Int8 &&
         format != Format::Int32;
}

/// The index of a code in the ordered values of its format; 0 is zero.
static int64_t getOrdinal(Format format, uint32_t code) {
  if (format == Format::E8M0FNU) // Has no sign.
    return code;
  uint32_t sign = uint32_t(1) << (bitWidth(format) - 1);
  int64_t magnitude = code & (sign - 1);
  return code & sign ? -magnitude : magnitude;
}

std::optional<uint64_t> dsv4::reference::countUlps(Format format, uint32_t a,
                                                   uint32_t b) {
  bool aIsNaN = std::isnan(decode(format, a));
  bool bIsNaN = std::isnan(decode(format, b));
  if (aIsNaN != bIsNaN)
    return std::nullopt;
  if (aIsNaN)
    return 0;
  return std::abs(getOrdinal(format, a) - getOrdinal(format, b));
}

/// Bytes of the elements of a destination.
static size_t getBytesOf(const Destination &destination, Format format) {
  return (countElements(destination.shape) * bitWidth(format) + 7) / 8;
}

std::string dsv4::reference::compareUlps(const Destination &destination,
                                         Format format, ArrayRef<char> got,
                                         ArrayRef<char> expected,
                                         uint64_t count) {
  for (size_t size : {got.size(), expected.size()})
    if (std::string why =
            explainSize(destination, size, getBytesOf(destination, format));
        !why.empty())
      return why;
  auto distance = [&](int64_t i) {
    return countUlps(format, loadCode(format, got.data(), i),
                     loadCode(format, expected.data(), i));
  };
  auto show = [&](ArrayRef<char> elements, int64_t i) {
    uint32_t code = loadCode(format, elements.data(), i);
    char hex[16];
    std::snprintf(hex, sizeof(hex), " (0x%0*x)", int(bitWidth(format) / 4),
                  unsigned(code));
    return toText(decode(format, code)) + hex;
  };
  return findDifference(
      destination,
      [&](int64_t i) {
        auto steps = distance(i);
        return !steps || *steps > count;
      },
      [&](int64_t i) {
        auto steps = distance(i);
        return "got " + show(got, i) + ", expected " + show(expected, i) +
               " within " + std::to_string(count) + " ulp" +
               (steps ? "; it is " + std::to_string(*steps) + " ulp away" : "");
      });
}

//===----------------------------------------------------------------------===//
// bounded
//===----------------------------------------------------------------------===//

bool dsv4::reference::isWithin(Format format, double got,
                               const BoundedValue &expected) {
  auto [exact, bound] = expected;
  if (std::isnan(bound) || bound < 0)
    return false;
  if (std::isinf(bound))
    return true;
  if (std::isnan(got) || std::isnan(exact))
    return std::isnan(got) && std::isnan(exact);
  if (std::isinf(exact))
    return got == exact;
  if (std::isinf(got)) {
    double farthest = got > 0 ? exact + bound : exact - bound;
    return decode(format, encode(format, farthest)) == got;
  }
  return std::fabs(got - exact) <= bound;
}

std::string dsv4::reference::compareBounded(const Destination &destination,
                                            Format format, ArrayRef<char> got,
                                            ArrayRef<BoundedValue> expected) {
  if (std::string why =
          explainSize(destination, got.size(), getBytesOf(destination, format));
      !why.empty())
    return why;
  int64_t count = countElements(destination.shape);
  if (int64_t(expected.size()) != count)
    return "'" + destination.name.str() + "' has " + std::to_string(count) +
           " elements, but the oracle bounds " +
           std::to_string(expected.size());
  auto value = [&](int64_t i) {
    return decode(format, loadCode(format, got.data(), i));
  };
  return findDifference(
      destination,
      [&](int64_t i) { return !isWithin(format, value(i), expected[i]); },
      [&](int64_t i) {
        return "got " + toText(value(i)) + ", expected " + toText(expected[i]);
      });
}
