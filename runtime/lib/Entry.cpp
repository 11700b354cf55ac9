//===- Entry.cpp - A compiled program as one self-checking file -----------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsv4-runtime/Entry.h"

#include "ProgramJSON.h"

#include <array>
#include <cstring>
#include <sodium/crypto_generichash_blake2b.h>

using namespace dsv4::rt;

static constexpr char magic[] = "DSV4ENTR";
static constexpr size_t digestBytes = 32;
static constexpr size_t trailerBytes = 32 + digestBytes;

static Status bad(const char *what) {
  return Status(Code::CorruptEntry, std::string("cache entry: ") + what);
}

using Digest = std::array<unsigned char, digestBytes>;

static Digest digest(std::string_view bytes) {
  Digest sum;
  // It fails for lengths only, and this one is right.
  (void)::crypto_generichash_blake2b(
      sum.data(), sum.size(),
      reinterpret_cast<const unsigned char *>(bytes.data()), bytes.size(),
      nullptr, 0);
  return sum;
}

std::string dsv4::rt::digestHex(std::string_view text) {
  std::string hex;
  for (unsigned char byte : digest(text)) {
    hex += "0123456789abcdef"[byte >> 4];
    hex += "0123456789abcdef"[byte & 15];
  }
  return hex;
}

/// Little-endian, of as many bytes as `T` has.
template <typename T>
static void write(char *to, T value) {
  for (size_t i = 0; i < sizeof(T); ++i)
    to[i] = char(value >> 8 * i);
}
template <typename T>
static T read(const char *from) {
  T value = 0;
  for (size_t i = 0; i < sizeof(T); ++i)
    value |= T(static_cast<unsigned char>(from[i])) << 8 * i;
  return value;
}

std::string dsv4::rt::serialize(const CompiledProgram &program,
                                std::string_view keyHex) {
  std::string bytes;
  for (const std::string &image : program.images)
    bytes += image;
  uint64_t imageBytes = bytes.size();

  JSON sizes = JSON::array();
  for (const std::string &image : program.images)
    sizes.push_back(image.size());
  bytes += print({{"key", keyHex},
                  {"images", std::move(sizes)},
                  {"program", writeProgram(program.info)}});

  char trailer[32];
  std::memcpy(trailer, magic, 8);
  write<uint32_t>(trailer + 8, EntryVersion);
  write<uint32_t>(trailer + 12, uint32_t(program.images.size()));
  write<uint64_t>(trailer + 16, imageBytes);
  write<uint64_t>(trailer + 24, bytes.size() - imageBytes);
  bytes.append(trailer, sizeof(trailer));
  Digest sum = digest(bytes);
  bytes.append(reinterpret_cast<const char *>(sum.data()), sum.size());
  return bytes;
}

/// Cuts the images off the front of `bytes`, whose image part is `imageBytes`.
static Status cutImages(std::string_view bytes, uint64_t imageBytes,
                        const JSON &sizes, std::vector<std::string> &images) {
  uint64_t offset = 0;
  for (const JSON &value : sizes) {
    std::optional<int64_t> size = asInteger(value);
    if (!size || *size < 0 || uint64_t(*size) > imageBytes - offset)
      return bad("image sizes do not fit the file");
    images.emplace_back(bytes.substr(offset, uint64_t(*size)));
    offset += uint64_t(*size);
  }
  return offset == imageBytes ? Status()
                              : bad("image sizes do not fill the file");
}

Result<CompiledProgram> dsv4::rt::parse(std::string_view bytes,
                                        std::string_view expectedKeyHex,
                                        std::string *keyHex) {
  if (bytes.size() < trailerBytes)
    return bad("too short: expected a file of dsv4-compile");
  const char *trailer = bytes.data() + bytes.size() - trailerBytes;
  if (std::memcmp(trailer, magic, 8) != 0)
    return bad("no trailer: expected a file of dsv4-compile");
  if (read<uint32_t>(trailer + 8) != EntryVersion)
    return bad("another format version: compile it again");
  uint32_t imageCount = read<uint32_t>(trailer + 12);
  uint64_t imageBytes = read<uint64_t>(trailer + 16);
  uint64_t metadataBytes = read<uint64_t>(trailer + 24);
  uint64_t payload = bytes.size() - trailerBytes;
  if (imageBytes > payload || metadataBytes != payload - imageBytes)
    return bad("lengths do not fit the file");
  Digest sum = digest(bytes.substr(0, bytes.size() - digestBytes));
  if (std::memcmp(sum.data(), trailer + 32, digestBytes) != 0)
    return bad("digest does not match: compile it again");

  Result<JSON> metadata =
      parseJSON(bytes.substr(imageBytes, metadataBytes), "cache entry");
  if (!metadata)
    return Status(Code::CorruptEntry, metadata.status().message());
  auto member = [&](const char *name) -> const JSON * {
    auto found = metadata->find(name); // end() unless it is an object.
    return found == metadata->end() ? nullptr : &*found;
  };
  const JSON *sizes = member("images"), *program = member("program"),
             *keyValue = member("key");
  const std::string *key =
      keyValue ? keyValue->get_ptr<const std::string *>() : nullptr;
  if (!sizes || !sizes->is_array() || !program || !key)
    return bad("metadata is incomplete");
  if (!expectedKeyHex.empty() && *key != expectedKeyHex)
    return bad("made for another key");
  if (keyHex)
    *keyHex = *key;

  CompiledProgram result;
  Result<ProgramInfo> info = readProgram(*program);
  if (!info)
    return Status(Code::CorruptEntry,
                  "cache entry: " + info.status().message());
  result.info = info.take();
  if (sizes->size() != imageCount ||
      sizes->size() != result.info.kernels.size())
    return bad("one image per kernel expected");
  if (Status status = cutImages(bytes, imageBytes, *sizes, result.images);
      !status)
    return status;
  return result;
}
