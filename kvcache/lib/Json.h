//===- Json.h - Reading JSON that a stranger wrote --------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_KVCACHE_JSON_H
#define DSV4_KVCACHE_JSON_H

#include "SchemaCheck.h"

#include <nlohmann/json.hpp>

#include <concepts>
#include <limits>

namespace dsv4::kv {

using JSON = nlohmann::json;

/// Parses text of at most 16 MiB, without exceptions.
Result<JSON> parseJson(std::string_view text);

template <std::signed_integral Integer>
bool readValue(const JSON &json, Integer &value) {
  if (!json.is_number_integer() ||
      (json.is_number_unsigned() &&
       json.get<uint64_t>() > uint64_t(std::numeric_limits<Integer>::max())))
    return false;
  const int64_t number = json.get<int64_t>();
  value = static_cast<Integer>(number);
  return value == number;
}
inline bool readValue(const JSON &json, bool &value) {
  return json.is_boolean() && (value = json.get<bool>(), true);
}
inline bool readValue(const JSON &json, std::string &value) {
  return json.is_string() && (value = json.get<std::string>(), true);
}
inline bool readValue(const JSON &json, const JSON *&value) {
  return value = &json, true;
}
template <typename Element>
bool readValue(const JSON &json, std::vector<Element> &value) {
  if (!json.is_array() || json.size() > 65536)
    return false;
  value.resize(json.size());
  for (size_t number = 0; number < value.size(); ++number)
    if (!readValue(json[number], value[number]))
      return false;
  return true;
}

/// "an integer", for messages.
template <typename Value>
std::string_view describe(const Value &) {
  if constexpr (std::is_same_v<Value, bool>)
    return "true or false";
  else if constexpr (std::is_same_v<Value, std::string>)
    return "a string";
  else if constexpr (std::is_integral_v<Value>)
    return "an integer";
  else
    return "a list of integers";
}

/// Reads the members of an object one by one. The first failure stays.
class Members {
public:
  Members(const JSON &json, std::string where);

  /// A member that has to be there.
  template <typename Value>
  Members &read(const char *name, Value &value) {
    if (const JSON *found = find(name))
      take(name, *found, value);
    else if (status)
      status = refuse("schema.member", where + ": '" + name + "' is missing");
    return *this;
  }
  /// One that keeps its value where it is not there.
  template <typename Value>
  Members &readIf(const char *name, Value &value) {
    if (const JSON *found = find(name))
      take(name, *found, value);
    return *this;
  }
  /// Members that a config has for others.
  Members &ignoreOthers() { return knowsAll = false, *this; }

  /// The first failure, or a member that nobody read.
  Status finish();

private:
  const JSON *find(const char *name);
  template <typename Value>
  void take(const char *name, const JSON &found, Value &value) {
    if (status && !readValue(found, value))
      status = refuse("schema.member", where + "." + name + ": expected " +
                                           std::string(describe(value)));
  }

  const JSON &json;
  std::string where;
  std::vector<std::string_view> known;
  bool knowsAll = true;
  Status status;
};

} // namespace dsv4::kv

#endif // DSV4_KVCACHE_JSON_H
