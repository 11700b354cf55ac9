//===- EntryTest.cpp - Entries survive nothing but being whole ------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Samples.h"

#include "dsv4-runtime/Entry.h"

#include <gtest/gtest.h>

using namespace dsv4::rt;
using namespace dsv4::rt::test;

namespace {

const std::string key = digestHex("the canonical text");

CompiledProgram twoKernels() {
  CompiledProgram program = gatherProgram("cuda");
  program.info.kernels.push_back(program.info.kernels[0]);
  program.info.kernels[1].symbol = "gather_k1";
  program.images.push_back(""); // An empty image is kept apart, too.
  return program;
}

TEST(Entry, Digest) {
  // BLAKE2b-256 of the empty input.
  EXPECT_EQ(digestHex(""), "0e5751c026e543b2e8ab2eb06099daa1"
                           "d1e5df47778f7787faab45cdf12fe3a8");
}

TEST(Entry, RoundTrip) {
  CompiledProgram program = twoKernels();
  std::string bytes = serialize(program, key);
  EXPECT_EQ(bytes, serialize(program, key));
  EXPECT_EQ(bytes.substr(0, 4), "\x7f"
                                "ELF"); // readelf takes it as it is.
  Result<CompiledProgram> back = parse(bytes, key);
  ASSERT_TRUE(back.ok()) << back.status().message();
  EXPECT_EQ(back->images, program.images);
  EXPECT_EQ(back->info.toJSON(), program.info.toJSON());
  EXPECT_TRUE(parse(bytes, "").ok());
}

TEST(Entry, EveryTruncationIsRefused) {
  std::string bytes = serialize(twoKernels(), key);
  for (size_t length = 0; length < bytes.size(); ++length) {
    Result<CompiledProgram> program =
        parse(std::string_view(bytes).substr(0, length), key);
    ASSERT_FALSE(program.ok()) << length;
    EXPECT_EQ(program.status().code(), Code::CorruptEntry);
    // Nor may an entry lose its head.
    EXPECT_FALSE(
        parse(std::string_view(bytes).substr(bytes.size() - length), key).ok());
  }
  EXPECT_FALSE(parse(bytes + '\0', key).ok());
}

TEST(Entry, EveryFlippedBitIsRefused) {
  std::string bytes = serialize(twoKernels(), key);
  for (size_t i = 0; i < bytes.size(); ++i)
    for (int bit = 0; bit < 8; ++bit) {
      bytes[i] = char(bytes[i] ^ (1 << bit));
      EXPECT_FALSE(parse(bytes, key).ok()) << i << "." << bit;
      bytes[i] = char(bytes[i] ^ (1 << bit));
    }
  EXPECT_TRUE(parse(bytes, key).ok());
}

/// Entries of version 1, which had no launch plans, of version 2, which had no
/// strides, and of version 3, whose digest was another, are other formats
/// whatever is in them.
TEST(Entry, AnotherVersionIsRefused) {
  static_assert(EntryVersion == 4, "say what changed, and test it");
  for (char version : {1, 2, 3}) {
    std::string bytes = serialize(twoKernels(), key);
    bytes[bytes.size() - 64 + 8] = version;
    Result<CompiledProgram> program = parse(bytes, key);
    ASSERT_FALSE(program.ok());
    EXPECT_EQ(program.status().message(),
              "cache entry: another format version: compile it again");
  }
}

TEST(Entry, PlansSurvive) {
  CompiledProgram program = scoresProgram("cuda");
  Result<CompiledProgram> back = parse(serialize(program, key), key);
  ASSERT_TRUE(back.ok()) << back.status().message();
  EXPECT_EQ(back->info.toJSON(), program.info.toJSON());
}

TEST(Entry, AnotherKeyIsRefused) {
  std::string bytes = serialize(twoKernels(), key);
  EXPECT_EQ(parse(bytes, digestHex("another text")).status().message(),
            "cache entry: made for another key");
}

/// An entry whose digest is right but whose contents are not: a bug of a
/// writer, or somebody's work.
std::string resealed(CompiledProgram program) {
  return serialize(program, key);
}

TEST(Entry, GoodDigestBadContents) {
  CompiledProgram program = gatherProgram();
  program.info.kernels[0].plan.parameters[0].binding = 99;
  EXPECT_EQ(parse(resealed(program), key).status().message(),
            "cache entry: program: kernels[0].parameters cannot be read: "
            "expected the name of an argument at character 5 of 'read(?, "
            "128)'");
  program = gatherProgram();
  program.images.push_back("one too many");
  EXPECT_EQ(parse(resealed(program), key).status().message(),
            "cache entry: one image per kernel expected");
}

/// The parts of an entry, to put another one together whose digest is right.
struct Parts {
  explicit Parts(const CompiledProgram &program) {
    const std::string bytes = serialize(program, key);
    for (const std::string &image : program.images)
      images += image;
    metadata = bytes.substr(images.size(),
                            bytes.size() - images.size() - trailerBytes);
    version = bytes.substr(bytes.size() - trailerBytes, 12);
    sizes = "\"images\":[" + std::to_string(images.size()) + "]";
  }

  /// Of other sizes of images.
  Parts &with(const std::string &others) {
    metadata.replace(metadata.find(sizes), sizes.size(),
                     "\"images\":[" + others + "]");
    return *this;
  }
  Parts &withMetadata(const std::string &text) {
    metadata = text;
    return *this;
  }
  std::string message(uint32_t count = 1, uint64_t moreImageBytes = 0) const {
    std::string bytes = images + metadata + version;
    append(bytes, count, 4);
    append(bytes, images.size() + moreImageBytes, 8);
    append(bytes, metadata.size() - moreImageBytes, 8);
    const std::string hex = digestHex(bytes);
    for (size_t i = 0; i < hex.size(); i += 2)
      bytes += char(std::stoi(hex.substr(i, 2), nullptr, 16));
    Result<CompiledProgram> program = parse(bytes, key);
    if (!program) {
      EXPECT_EQ(program.status().code(), Code::CorruptEntry);
    }
    return program.status().message();
  }

  static constexpr size_t trailerBytes = 64;
  std::string images, metadata, version, sizes;

private:
  static void append(std::string &bytes, uint64_t value, int count) {
    for (int i = 0; i < count; ++i)
      bytes += char(value >> 8 * i);
  }
};

TEST(Entry, GoodDigestBadLengths) {
  const Parts good(gatherProgram());
  EXPECT_EQ(good.message(), "");
  EXPECT_EQ(good.message(2), "cache entry: one image per kernel expected");
  const uint64_t size = good.images.size(), all = size + good.metadata.size();
  const std::string lengths = "cache entry: lengths do not fit the file";
  EXPECT_EQ(good.message(1, UINT64_MAX - size), lengths); // Their sum does.
  EXPECT_EQ(good.message(1, all - size + 1), lengths);
  EXPECT_NE(good.message(1, 1), "");
  const std::string fit = "cache entry: image sizes do not fit the file";
  for (std::string sizes :
       {std::to_string(size + 1), std::string("-1"),
        std::string("9223372036854775808"), std::string("18446744073709551615"),
        std::string("\"x\""), std::string("1.0"), std::string("[]")})
    EXPECT_EQ(Parts(good).with(sizes).message(), fit) << sizes;
  EXPECT_EQ(Parts(good).with(std::to_string(size - 1)).message(),
            "cache entry: image sizes do not fill the file");
}

TEST(Entry, GoodDigestBadMetadata) {
  const Parts good(gatherProgram());
  auto message = [&](const std::string &text) {
    return Parts(good).withMetadata(text).message();
  };
  for (const char *text : {"[]", "7", "null", "{}", "\"program\""})
    EXPECT_EQ(message(text), "cache entry: metadata is incomplete") << text;
  EXPECT_EQ(message(""), "cache entry: not JSON: wrong at byte 1");
  EXPECT_EQ(message("{\"key\":1e999}"),
            "cache entry: not JSON: a number is out of range");
  for (size_t depth : {17, 1 << 20})
    for (const char *open : {"[", "{\"a\":"}) {
      std::string text;
      for (size_t i = 0; i < depth; ++i)
        text += open;
      EXPECT_EQ(message(text), "cache entry: JSON nested too deeply");
    }
}

} // namespace
