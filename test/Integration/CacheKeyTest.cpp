//===- CacheKeyTest.cpp - What makes another cache entry ------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsv4/JIT/JIT.h"

#include "gtest/gtest.h"

using namespace dsv4;

static std::string getKey(const CompileOptions &options,
                          const std::string &source = "func.func @f() {}",
                          const std::string &target = "cuda") {
  return getCacheKeyText(source, options, target, "sm_90a");
}

TEST(CacheKeyTest, SpacesAndCommentsDoNotCount) {
  EXPECT_EQ(getKey({}), getKey({}, "func.func  @f()\n{} // nothing"));
  EXPECT_NE(getKey({}), getKey({}, "func.func @g() {}"));
}

TEST(CacheKeyTest, EveryOptionCounts) {
  CompileOptions dims, schedule, checks;
  dims.dims["k"] = 512;
  schedule.schedule = "#dsv4.row_schedule<>";
  checks.checks = true;
  for (const CompileOptions &options : {dims, schedule, checks})
    EXPECT_NE(getKey(options), getKey({}));
  // The host target tells what is beyond a pool in any case.
  EXPECT_EQ(getKey(checks, "", "host"), getKey({}, "", "host"));
}

// Extents that make the same kernels are under one key.
TEST(CacheKeyTest, DimsThatCount) {
  const std::string source =
      "func.func @f(%i: tensor<?x?x?xi32> {dsv4.dims = [\"a\", \"b\", "
      "\"c\"]})\n"
      "    attributes {dsv4.policies = {a = #dsv4.policy<exact>, b = "
      "#dsv4.policy<bucket>}} { return }";
  using Dims = std::map<std::string, int64_t>;
  for (int64_t extent : {65, 100, 128}) {
    CompileOptions options;
    options.dims = {{"a", 100}, {"b", extent}, {"c", extent}};
    auto dims = getCompileDims(source, "dims.mlir", options);
    ASSERT_TRUE(dims) << dims.status().message();
    EXPECT_EQ(*dims, (Dims{{"a", 100}, {"b", 128}}));
  }
  // The smallest bucket has one row, the largest ends at the largest extent.
  for (auto [extent, bound] :
       {std::pair<int64_t, int64_t>{0, 1}, {1, 1}, {INT32_MAX, INT32_MAX}}) {
    CompileOptions options;
    options.dims = {{"b", extent}};
    auto dims = getCompileDims(source, "dims.mlir", options);
    ASSERT_TRUE(dims) << dims.status().message();
    EXPECT_EQ(*dims, (Dims{{"b", bound}}));
  }
}

// Declarations are no entries.
TEST(CacheKeyTest, Entries) {
  const std::string source = "func.func private @declared()\n"
                             "func.func @f(%i: tensor<?xi32>) { return }";
  auto emit = [&](const std::string &entry, const std::string &more) {
    CompileOptions options;
    options.entry = entry;
    return std::string(emitProgram(source + more, "entries.mlir", options,
                                   "cuda", "sm_90a", false)
                           .status()
                           .message());
  };
  EXPECT_EQ(emit("", ""), "");
  EXPECT_EQ(emit("f", "\nfunc.func @g() { return }"), "");
  EXPECT_EQ(emit("declared", ""),
            "entry 'declared': the program has no such function (it has f)");
  EXPECT_EQ(emit("", "\nfunc.func @g() { return }"),
            "the program has several functions (f, g): choose one as the "
            "entry");
}

TEST(CacheKeyTest, VersionsOfExtensionsCount) {
  auto getExtended = [](const std::string &identity) {
    CompileOptions options;
    options.extensions.push_back({identity, [](mlir::DialectRegistry &) {}});
    return getKey(options);
  };
  EXPECT_EQ(getExtended("ops 1"), getExtended("ops 1"));
  EXPECT_NE(getExtended("ops 1"), getExtended("ops 2"));
  EXPECT_NE(getExtended("ops 1"), getKey({}));
}

TEST(CacheKeyTest, ExtensionsHaveAnIdentityAndDialects) {
  for (const DialectExtension &extension :
       {DialectExtension{"", [](mlir::DialectRegistry &) {}},
        DialectExtension{"ops 1", {}}}) {
    CompileOptions options;
    options.extensions.push_back(extension);
    auto emitted =
        emitProgram("", "none.mlir", options, "cuda", "sm_90a", false);
    ASSERT_FALSE(emitted);
    EXPECT_EQ(emitted.status().message(),
              "an extension needs an identity and a function that registers "
              "its dialects");
  }
}
