//===- CacheTest.cpp - Which disk cache is used ---------------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CTesting.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <unistd.h>

using namespace dsv4;
using namespace dsv4::test;
namespace fs = std::filesystem;

namespace {

class CacheTest : public ::testing::Test {
protected:
  void SetUp() override {
    char name[] = "/tmp/dsv4-cache-query-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    folder = name;
    for (const char *each : {"DSV4_CACHE_DIR", "XDG_CACHE_HOME", "HOME"}) {
      const char *value = getenv(each);
      saved.push_back(
          {each, value ? std::optional<std::string>(value) : std::nullopt});
      unsetenv(each);
    }
  }
  void TearDown() override {
    dsv4_runtime_destroy(runtime);
    for (const auto &[name, value] : saved)
      value ? setenv(name.c_str(), value->c_str(), 1) : unsetenv(name.c_str());
    fs::remove_all(folder);
  }

  dsv4_cache query(const char *directory) {
    dsv4_runtime_destroy(runtime);
    auto options = sized<dsv4_runtime_options>();
    options.cache_dir = directory;
    EXPECT_EQ(dsv4_runtime_create(&options, &runtime, nullptr), DSV4_OK);
    auto cache = sized<dsv4_cache>();
    Error error;
    EXPECT_EQ(dsv4_cache_query(runtime, &cache, error), DSV4_OK)
        << error.message();
    return cache;
  }
  std::string problemOf(const std::string &directory) {
    const dsv4_cache cache = query(directory.c_str());
    EXPECT_EQ(cache.used, cache.problem == nullptr);
    EXPECT_EQ(cache.directory, directory);
    return cache.problem ? cache.problem : "";
  }

  std::string folder;
  std::vector<std::pair<std::string, std::optional<std::string>>> saved;
  dsv4_runtime *runtime = nullptr;
};

TEST_F(CacheTest, WhereItIs) {
  dsv4_cache cache = query(nullptr);
  EXPECT_FALSE(cache.used);
  EXPECT_EQ(cache.directory, nullptr);
  EXPECT_EQ(cache.problem, nullptr);
  setenv("HOME", folder.c_str(), 1);
  cache = query(nullptr);
  EXPECT_TRUE(cache.used);
  EXPECT_EQ(cache.directory, folder + "/.cache/dsv4");
  setenv("XDG_CACHE_HOME", "relative", 1); // Ignored, by its specification.
  EXPECT_EQ(query(nullptr).directory, folder + "/.cache/dsv4");
  setenv("DSV4_CACHE_DIR", "here/", 1);
  EXPECT_EQ(query(nullptr).directory, fs::current_path().string() + "/here");
  EXPECT_EQ(query("/given").directory, std::string("/given"));
  cache = query("");
  EXPECT_FALSE(cache.used);
  EXPECT_EQ(cache.directory, nullptr);
  EXPECT_TRUE(fs::is_empty(folder)); // Nothing was made.
}

TEST_F(CacheTest, WhatIsWrong) {
  EXPECT_EQ(problemOf(folder), "");
  EXPECT_EQ(problemOf(folder + "/new/deep"), "");
  std::ofstream(folder + "/file") << "";
  EXPECT_EQ(problemOf(folder + "/file"),
            "cache directory '" + folder +
                "/file' is not a directory: caching in memory only; remove it, "
                "or set DSV4_CACHE_DIR");
  EXPECT_EQ(problemOf(folder + "/file/below"),
            "cache directory '" + folder +
                "/file/below' cannot be opened (Not a directory): caching in "
                "memory only; set DSV4_CACHE_DIR to a directory of your own");
  fs::create_directory(folder + "/open");
  fs::permissions(folder + "/open", fs::perms::all);
  EXPECT_EQ(problemOf(folder + "/open"),
            "cache directory '" + folder +
                "/open' can be written by others: caching in memory only; "
                "chmod go-w it, or set DSV4_CACHE_DIR");
  EXPECT_NE(problemOf("/proc/1/none").find("cannot create cache directory"),
            std::string::npos);
}

} // namespace
