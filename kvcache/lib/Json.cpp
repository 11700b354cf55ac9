//===- Json.cpp - Reading JSON that a stranger wrote ----------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Json.h"

#include <algorithm>

using namespace dsv4::kv;

Result<JSON> dsv4::kv::parseJson(std::string_view text) {
  constexpr size_t kMaxBytes = 16 << 20;
  if (text.size() > kMaxBytes)
    return refuse("schema.json", "JSON of " + std::to_string(text.size()) +
                                     " bytes, expected at most 16 MiB");
  // The parser recurses into what is nested.
  constexpr int kMaxDepth = 64;
  bool isDeep = false;
  const auto callback = [&](int depth, JSON::parse_event_t, JSON &) {
    return !(isDeep |= depth > kMaxDepth);
  };
  JSON json = JSON::parse(text, callback, /*allow_exceptions=*/false);
  if (isDeep || json.is_discarded())
    return refuse("schema.json", isDeep ? "JSON of more than 64 levels"
                                        : "the text is no JSON");
  return json;
}

Members::Members(const JSON &json, std::string where)
    : json(json), where(std::move(where)) {
  if (!json.is_object())
    status = refuse("schema.member", this->where + ": expected an object");
}

const JSON *Members::find(const char *name) {
  known.push_back(name);
  if (!json.is_object())
    return nullptr;
  const auto found = json.find(name);
  return found == json.end() ? nullptr : &*found;
}

dsv4::rt::Status Members::finish() {
  if (!status || !knowsAll)
    return status;
  for (const auto &[name, value] : json.items())
    if (std::find(known.begin(), known.end(), name) == known.end())
      return refuse("schema.member",
                    where + ": " + quote(name) + " is no member of it");
  return {};
}
