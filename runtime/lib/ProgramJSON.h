//===- ProgramJSON.h - Reading a program from parsed JSON -------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Private to the runtime: shared by Program.cpp and Entry.cpp, so that an entry
// on disk is parsed once.
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_RUNTIME_LIB_PROGRAMJSON_H
#define DSV4_RUNTIME_LIB_PROGRAMJSON_H

#include "dsv4-runtime/Program.h"

#include "llvm/Support/JSON.h"

namespace dsv4::rt {

/// Parses `text`, refusing nesting so deep that the parser's recursion could
/// overflow a small stack. `what` names the text in the error.
Result<llvm::json::Value> parseJSON(llvm::StringRef text, const char *what);

/// Reads and validates one program.
Result<ProgramInfo> readProgram(const llvm::json::Value &value);

/// Writes one program as the value at the stream's position.
void writeProgram(llvm::json::OStream &json, const ProgramInfo &info);

} // namespace dsv4::rt

#endif // DSV4_RUNTIME_LIB_PROGRAMJSON_H
