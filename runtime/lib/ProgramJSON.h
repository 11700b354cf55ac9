//===- ProgramJSON.h - Programs as parsed JSON ------------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Private to the runtime: shared by ProgramJSON.cpp and Entry.cpp, so that an
// entry on disk is parsed once.
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_RUNTIME_LIB_PROGRAMJSON_H
#define DSV4_RUNTIME_LIB_PROGRAMJSON_H

#include "dsv4-runtime/Program.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

namespace dsv4::rt {

/// Members keep their order.
using JSON = nlohmann::ordered_json;

/// Parses `text`, refusing nesting that no program has. `what` names the text
/// in the error.
Result<JSON> parseJSON(std::string_view text, const char *what);

/// An integer that fits 64 bits, or nothing.
std::optional<int64_t> asInteger(const JSON &value);

/// Reads and validates one program.
Result<ProgramInfo> readProgram(const JSON &value);

JSON writeProgram(const ProgramInfo &info);

/// The canonical text: no white space.
std::string print(const JSON &value);

} // namespace dsv4::rt

#endif // DSV4_RUNTIME_LIB_PROGRAMJSON_H
