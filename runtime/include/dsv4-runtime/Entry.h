//===- Entry.h - A compiled program as one self-checking file ---*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   images, one after the other     an entry of one kernel is its ELF file, so
//                                   readelf and nvdisasm take it as it is
//   metadata, JSON                  {"key":…,"images":[sizes],"program":{…}}
//   trailer, 64 bytes               "DSV4ENTR", version u32, image count u32,
//                                   image bytes u64, metadata bytes u64,
//                                   BLAKE2b-256 of everything before the digest
//
// All integers are little-endian.
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_RUNTIME_ENTRY_H
#define DSV4_RUNTIME_ENTRY_H

#include "dsv4-runtime/Program.h"
#include "dsv4-runtime/Status.h"

#include <string>
#include <string_view>

namespace dsv4::rt {

/// Version of the layout above; also the name of the cache's top directory.
constexpr uint32_t EntryVersion = 4;

/// BLAKE2b-256 of `text` as 64 lowercase hexadecimal digits: how a canonical
/// key text becomes a cache key.
std::string digestHex(std::string_view text);

/// The bytes of an entry. `keyHex` is the digest of the program's key text.
std::string serialize(const CompiledProgram &program, std::string_view keyHex);

/// Reads an entry. Bytes that differ from those that serialize() made for this
/// key are CorruptEntry. An empty `expectedKeyHex` accepts any key; `keyHex`
/// receives it, if given.
Result<CompiledProgram> parse(std::string_view bytes,
                              std::string_view expectedKeyHex,
                              std::string *keyHex = nullptr);

} // namespace dsv4::rt

#endif // DSV4_RUNTIME_ENTRY_H
