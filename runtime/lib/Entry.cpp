//===- Entry.cpp - A compiled program as one self-checking file -----------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsv4-runtime/Entry.h"

#include "ProgramJSON.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/BLAKE3.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/raw_ostream.h"

#include <cstring>

using namespace dsv4::rt;
namespace endian = llvm::support::endian;
namespace json = llvm::json;

static constexpr char magic[] = "DSV4ENTR";
static constexpr size_t digestBytes = 32;
static constexpr size_t trailerBytes = 32 + digestBytes;

static Status bad(const char *what) {
  return Status(Code::LoadFailed, std::string("cache entry: ") + what);
}

static llvm::BLAKE3Result<digestBytes> digest(std::string_view bytes) {
  llvm::BLAKE3 hasher;
  hasher.update(llvm::StringRef(bytes.data(), bytes.size()));
  return hasher.final<digestBytes>();
}

std::string dsv4::rt::digestHex(std::string_view text) {
  return llvm::toHex(digest(text), /*LowerCase=*/true);
}

std::string dsv4::rt::serialize(const CompiledProgram &program,
                                std::string_view keyHex) {
  std::string bytes;
  for (const std::string &image : program.images)
    bytes += image;
  uint64_t imageBytes = bytes.size();

  {
    llvm::raw_string_ostream stream(bytes);
    json::OStream out(stream);
    out.object([&] {
      out.attribute("key", llvm::StringRef(keyHex.data(), keyHex.size()));
      out.attributeArray("images", [&] {
        for (const std::string &image : program.images)
          out.value(int64_t(image.size()));
      });
      out.attributeBegin("program");
      writeProgram(out, program.info);
      out.attributeEnd();
    });
  }

  char trailer[32];
  std::memcpy(trailer, magic, 8);
  endian::write32le(trailer + 8, EntryVersion);
  endian::write32le(trailer + 12, uint32_t(program.images.size()));
  endian::write64le(trailer + 16, imageBytes);
  endian::write64le(trailer + 24, bytes.size() - imageBytes);
  bytes.append(trailer, sizeof(trailer));
  llvm::BLAKE3Result<digestBytes> sum = digest(bytes);
  bytes.append(reinterpret_cast<const char *>(sum.data()), sum.size());
  return bytes;
}

/// Cuts the images off the front of `bytes`, whose image part is `imageBytes`.
static Status cutImages(std::string_view bytes, uint64_t imageBytes,
                        const json::Array &sizes,
                        std::vector<std::string> &images) {
  uint64_t offset = 0;
  for (const json::Value &value : sizes) {
    std::optional<int64_t> size = value.getAsInteger();
    if (!size || *size < 0 || uint64_t(*size) > imageBytes - offset)
      return bad("image sizes do not fit the file");
    images.emplace_back(bytes.substr(offset, uint64_t(*size)));
    offset += uint64_t(*size);
  }
  return offset == imageBytes ? Status()
                              : bad("image sizes do not fill the file");
}

Result<CompiledProgram> dsv4::rt::parse(std::string_view bytes,
                                        std::string_view expectedKeyHex) {
  if (bytes.size() < trailerBytes)
    return bad("shorter than its trailer");
  const char *trailer = bytes.data() + bytes.size() - trailerBytes;
  if (std::memcmp(trailer, magic, 8) != 0)
    return bad("no trailer");
  if (endian::read32le(trailer + 8) != EntryVersion)
    return bad("another format version");
  uint32_t imageCount = endian::read32le(trailer + 12);
  uint64_t imageBytes = endian::read64le(trailer + 16);
  uint64_t metadataBytes = endian::read64le(trailer + 24);
  uint64_t payload = bytes.size() - trailerBytes;
  if (imageBytes > payload || metadataBytes != payload - imageBytes)
    return bad("lengths do not fit the file");
  llvm::BLAKE3Result<digestBytes> sum =
      digest(bytes.substr(0, bytes.size() - digestBytes));
  if (std::memcmp(sum.data(), trailer + 32, digestBytes) != 0)
    return bad("digest does not match");

  Result<json::Value> metadata = parseJSON(
      llvm::StringRef(bytes.data() + imageBytes, metadataBytes), "cache entry");
  if (!metadata)
    return Status(Code::LoadFailed, metadata.status().message());
  const json::Object *object = metadata->getAsObject();
  const json::Array *sizes = object ? object->getArray("images") : nullptr;
  const json::Value *program = object ? object->get("program") : nullptr;
  std::optional<llvm::StringRef> key =
      object ? object->getString("key") : std::nullopt;
  if (!sizes || !program || !key)
    return bad("metadata is incomplete");
  if (!expectedKeyHex.empty() &&
      *key != llvm::StringRef(expectedKeyHex.data(), expectedKeyHex.size()))
    return bad("made for another key");

  CompiledProgram result;
  Result<ProgramInfo> info = readProgram(*program);
  if (!info)
    return Status(Code::LoadFailed, "cache entry: " + info.status().message());
  result.info = info.take();
  if (sizes->size() != imageCount ||
      sizes->size() != result.info.kernels.size())
    return bad("one image per kernel expected");
  if (Status status = cutImages(bytes, imageBytes, *sizes, result.images);
      !status)
    return status;
  return result;
}
