//===- ParseProgram.h - Text of strangers to IR -----------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_SUPPORT_PARSEPROGRAM_H
#define DSV4_SUPPORT_PARSEPROGRAM_H

#include "dsv4-runtime/Status.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace dsv4 {

/// Deepest nesting of brackets in a program. MLIR's parser, verifier and
/// printer recurse, and end with the stack.
constexpr size_t kMaxNesting = 256;

/// Largest sum of N over all uses of a result as `%name#N`. MLIR's parser keeps
/// a slot for every result up to it.
constexpr uint64_t kMaxResultNumbers = 1 << 20;

/// Longest number, in characters. LLVM reads integers in time that grows with
/// the cube of their digits, and a float of 20,000 digits writes beyond its
/// buffer.
constexpr size_t kMaxNumberCharacters = 256;

/// Longest alias with its own aliases written out, in bytes: an error message
/// may hold it.
constexpr size_t kMaxAliasBytes = 1 << 20;

/// Longest shape, in characters, and largest number of dims, symbols and
/// results of an affine map: MLIR reads them in quadratic time.
constexpr size_t kMaxShapeCharacters = 256;
constexpr size_t kMaxAffineItems = 1024;

/// Longest text of a program, in bytes, which is parsed in less than a second.
/// With aliases written out it may be twice as long.
constexpr size_t kMaxProgramBytes = 1 << 20;

/// Longest text of IR that the tools take, because passes make long texts from
/// programs.
constexpr size_t kMaxToolBytes = 16 << 20;

/// Whether MLIR's parser can be given `source`: a text of at most `maxBytes`
/// bytes without NUL, and within the limits below. `name` is the file's, for
/// the error.
rt::Status checkProgramText(llvm::StringRef source, llvm::StringRef name,
                            size_t maxBytes = kMaxProgramBytes);

/// Whether MLIR's parser and printer end within their stack and memory for
/// `source`: brackets, operators and aliases nest at most kMaxNesting deep,
/// numbers, shapes, affine maps, aliases and numbers of results are within the
/// limits above, elements of array attributes have a width, and comments within
/// a dialect's attribute balance their brackets. A part of the check above.
rt::Status checkParserLimits(llvm::StringRef source, llvm::StringRef name,
                             size_t maxBytes = kMaxProgramBytes);

/// Parses and verifies a program; an error is a diagnostic of `context`.
mlir::OwningOpRef<mlir::ModuleOp> parseProgram(llvm::StringRef source,
                                               llvm::StringRef name,
                                               mlir::MLIRContext *context);

} // namespace dsv4

#endif // DSV4_SUPPORT_PARSEPROGRAM_H
