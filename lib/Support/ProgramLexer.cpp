//===- ProgramLexer.cpp - Tokens of MLIR text -----------------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsv4/Support/ProgramLexer.h"

#include "llvm/ADT/StringExtras.h"

using namespace dsv4;
using llvm::StringRef;

/// The first position from `at` on whose character `fits` not.
template <typename Predicate>
static size_t skip(StringRef source, size_t at, Predicate fits) {
  while (at < source.size() && fits(source[at]))
    ++at;
  return at;
}

static bool isWordCharacter(char c) {
  return llvm::isAlnum(c) || StringRef("_$.").contains(c);
}

static bool isSuffixCharacter(char c) { return isWordCharacter(c) || c == '-'; }

/// The position after the string that begins at `begin`. MLIR refuses a string
/// that does not end in its line, so the rest of the text is part of one.
static size_t findStringEnd(StringRef source, size_t begin) {
  for (size_t i = begin + 1; i < source.size(); ++i) {
    if (source[i] == '"')
      return i + 1;
    if (StringRef("\n\v\f").contains(source[i]))
      break;
    if (source[i] == '\\')
      ++i;
  }
  return source.size();
}

/// The position after a number: an integer, hexadecimal digits, or a float. In
/// a shape such as `4x8xf32` the number is what precedes the `x`.
static size_t findNumberEnd(StringRef source, size_t begin) {
  StringRef rest = source.substr(begin);
  if (rest.starts_with("0x") && rest.size() > 2 && llvm::isHexDigit(rest[2]))
    return skip(source, begin + 2, llvm::isHexDigit);
  size_t at = skip(source, begin, llvm::isDigit);
  if (at == source.size() || source[at] != '.')
    return at;
  at = skip(source, at + 1, llvm::isDigit);
  StringRef exponent = source.substr(at);
  if (!exponent.consume_front("e") && !exponent.consume_front("E"))
    return at;
  if (!exponent.consume_front("-"))
    exponent.consume_front("+");
  if (exponent.empty() || !llvm::isDigit(exponent.front()))
    return at;
  return skip(source, source.size() - exponent.size(), llvm::isDigit);
}

size_t ProgramLexer::findEnd(size_t begin) const {
  char c = source[begin];
  StringRef rest = source.substr(begin);
  if (c == '"')
    return findStringEnd(source, begin);
  if (rest.starts_with("->"))
    return begin + 2;
  if (rest.starts_with("{-#") || rest.starts_with("#-}"))
    return begin + 3;
  if (llvm::isAlpha(c) || c == '_')
    return skip(source, begin, isWordCharacter);
  if (llvm::isDigit(c))
    return findNumberEnd(source, begin);
  if (c == '@')
    return rest.starts_with("@\"") ? findStringEnd(source, begin + 1)
                                   : skip(source, begin + 1, isWordCharacter);
  if (StringRef("#!%^").contains(c))
    return rest.size() > 1 && llvm::isDigit(rest[1])
               ? skip(source, begin + 1, llvm::isDigit)
               : skip(source, begin + 1, isSuffixCharacter);
  return begin + 1;
}

ProgramLexer::Lexeme ProgramLexer::next() {
  Lexeme lexeme;
  size_t gapBegin = at;
  for (; at < source.size(); ++at) {
    if (source.substr(at).starts_with("//")) {
      lexeme.afterComment = true;
      at = std::min(source.find_first_of("\n\r", at), source.size() - 1);
    } else if (!StringRef(" \t\n\r").contains(source[at])) {
      break;
    } else {
      lexeme.afterBlank = true;
    }
  }
  size_t end = at == source.size() ? at : findEnd(at);
  lexeme.gap = source.slice(gapBegin, at);
  lexeme.text = source.slice(at, end);
  at = end;
  return lexeme;
}
