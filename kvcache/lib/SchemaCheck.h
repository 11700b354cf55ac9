//===- SchemaCheck.h - What a schema has to be ------------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_KVCACHE_SCHEMACHECK_H
#define DSV4_KVCACHE_SCHEMACHECK_H

#include "dsv4-kvcache/Schema.h"

namespace dsv4::kv {

/// An error of a schema: `id` never changes.
Status refuse(const char *id, std::string message);

/// Text of a stranger, for a message: at most 64 bytes of it.
std::string quote(std::string_view text);

/// Checks what the types of a schema do not say.
Status checkSchema(const Schema &schema);

/// The record of tokens that later windows need.
layout::Record makeTokenState(int64_t columns);
/// The record of a window under way.
layout::Record makeOnlineState(int64_t columns);

} // namespace dsv4::kv

#endif // DSV4_KVCACHE_SCHEMACHECK_H
