//===- ProgramLexer.h - Tokens of MLIR text ---------------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For checks of a program before MLIR parses it.
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_SUPPORT_PROGRAMLEXER_H
#define DSV4_SUPPORT_PROGRAMLEXER_H

#include "llvm/ADT/StringRef.h"

namespace dsv4 {

/// Splits a text as MLIR's lexer does. If no token matches, the token is one
/// character, where MLIR ends with an error.
class ProgramLexer {
public:
  struct Lexeme {
    llvm::StringRef text; ///< Empty at the end.
    llvm::StringRef gap;  ///< Blanks and comments before the token.
    bool afterBlank = false, afterComment = false;

    bool isString() const { return text.starts_with("\""); }
    /// `#name`: an attribute alias, a dialect attribute, or the number of a
    /// result.
    bool isHash() const { return text.size() > 1 && text.front() == '#'; }
    /// `!name`: a type alias or a dialect type.
    bool isExclamation() const {
      return text.size() > 1 && text.front() == '!';
    }
    const char *end() const { return text.data() + text.size(); }
  };

  explicit ProgramLexer(llvm::StringRef source) : source(source) {}

  Lexeme next();

private:
  size_t findEnd(size_t begin) const;

  llvm::StringRef source;
  size_t at = 0;
};

} // namespace dsv4

#endif // DSV4_SUPPORT_PROGRAMLEXER_H
