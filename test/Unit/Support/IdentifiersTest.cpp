//===- IdentifiersTest.cpp - Names and text in emitted source -------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsv4/Support/Identifiers.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

using namespace dsv4;

TEST(IdentifiersTest, Emittable) {
  for (const char *name : {"x", "gather", "kv_scale", "K2", "cuda_gather",
                           "dsv4_gather", "A8", "includes"})
    EXPECT_TRUE(isEmittableIdentifier(name)) << name;
  for (const char *name : {"",
                           "_x",
                           "__launch_bounds__",
                           "2x",
                           "f x",
                           "f-x",
                           "x)",
                           "x\n",
                           "\xC3\xA9",
                           "int",
                           "while",
                           "typeid",
                           "dsv4",
                           "threadIdx",
                           "min",
                           "expf",
                           "float4",
                           "printf",
                           "memcpy",
                           "atomicAdd",
                           "cudaError_t",
                           "CUDA_R_16F",
                           "NULL",
                           "WARP_SZ",
                           "A7",
                           "dsv4_host_entry"})
    EXPECT_FALSE(isEmittableIdentifier(name)) << name;
  EXPECT_TRUE(isEmittableIdentifier(std::string(128, 'x')));
  EXPECT_FALSE(isEmittableIdentifier(std::string(129, 'x')));
  EXPECT_FALSE(isEmittableIdentifier(llvm::StringRef("x\0y", 3)));
}

TEST(IdentifiersTest, AnyTextBecomesOne) {
  EXPECT_EQ(toIdentifier("gather"), "gather");
  EXPECT_EQ(toIdentifier("f x"), "f_x");
  EXPECT_EQ(toIdentifier("int"), "v_int");
  EXPECT_EQ(toIdentifier("_x"), "v__x");
  EXPECT_EQ(toIdentifier(""), "v_");
  EXPECT_EQ(toIdentifier("7"), "v_7");
  std::mt19937_64 random(1);
  for (unsigned i = 0; i < 100000; ++i) {
    std::string text(random() % 8 ? random() % 12 : random() % 300, ' ');
    for (char &c : text)
      c = random() % 2 ? char(random()) : "aAeint_4 \n()"[random() % 12];
    std::string name = toIdentifier(text);
    ASSERT_TRUE(isEmittableIdentifier(name)) << name;
  }
}

TEST(IdentifiersTest, UniqueOnesStayEmittable) {
  std::set<std::string> taken;
  auto isTaken = [&](llvm::StringRef name) {
    return !taken.insert(name.str()).second;
  };
  EXPECT_EQ(uniqueIdentifier("x", isTaken), "x");
  EXPECT_EQ(uniqueIdentifier("x", isTaken), "x_1");
  EXPECT_EQ(uniqueIdentifier("x_1", isTaken), "x_1_1");
  const std::string longest(kMaxIdentifierLength, 'y');
  for (unsigned i = 0; i < 1200; ++i)
    ASSERT_TRUE(isEmittableIdentifier(uniqueIdentifier(longest, isTaken)));
  EXPECT_EQ(taken.size(), 1203u);
}

TEST(IdentifiersTest, TextStaysInItsLine) {
  EXPECT_EQ(toCommentText("k = ?, \"x\""), "k = ?, \"x\"");
  EXPECT_EQ(toCommentText("a\nb\rc\\"), "a_b_c_");
  EXPECT_EQ(toCommentText("?"
                          "?/"),
            "?_/");
  EXPECT_EQ(toStringLiteral("a\"b\\\n\xFF.mlir"), "\"a_b___.mlir\"");
  EXPECT_EQ(toCommentText(std::string(5000, 'x')).size(), 1000u);
}
