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
              "cache entry: another format version");
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

} // namespace
