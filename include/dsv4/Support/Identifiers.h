//===- Identifiers.h - Names and text in emitted source ---------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The border between text from IR and emitted source. A name of a program, its
// file or its dims may hold any bytes; emitted source holds only text that one
// of these functions returns or accepts.
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_SUPPORT_IDENTIFIERS_H
#define DSV4_SUPPORT_IDENTIFIERS_H

#include "llvm/ADT/StringRef.h"

#include <string>

namespace dsv4 {

/// Longest identifier in emitted source. File names are made of identifiers,
/// and a file system takes 255 bytes.
constexpr size_t kMaxIdentifierLength = 128;

/// Whether `name` can stand in emitted source as the name of a kernel or of a
/// variable: an ASCII identifier of at most kMaxIdentifierLength characters
/// that neither the language, nor a compiler, nor the device library has taken.
bool isEmittableIdentifier(llvm::StringRef name);

/// An emittable identifier close to `name`, which may be any text. Different
/// names can give the same identifier; uniqueIdentifier() makes them distinct.
std::string toIdentifier(llvm::StringRef name);

/// The first of `name`, `name_1`, `name_2`, ... that `isTaken` denies, cut so
/// that it stays emittable. `name` is emittable.
template <typename Predicate>
std::string uniqueIdentifier(llvm::StringRef name, Predicate isTaken) {
  std::string candidate = name.str();
  for (unsigned number = 1; isTaken(candidate); ++number) {
    std::string suffix = "_" + std::to_string(number);
    candidate = name.take_front(kMaxIdentifierLength - suffix.size()).str();
    candidate += suffix;
  }
  return candidate;
}

/// `text` as one line of a comment: printable ASCII that cannot end or continue
/// the comment, with '_' for every other byte, at most 1000 characters.
std::string toCommentText(llvm::StringRef text);

/// `text` as a string literal, quotes included, under the same rules.
std::string toStringLiteral(llvm::StringRef text);

} // namespace dsv4

#endif // DSV4_SUPPORT_IDENTIFIERS_H
