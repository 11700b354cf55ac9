//===- SessionTest.cpp - Who compiles, who waits, what is kept ------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Testing.h"

#include "dsv4/JIT/JIT.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <sstream>
#include <sys/stat.h>
#include <thread>

using namespace dsv4;
using Origin = CompileReport::Origin;
namespace fs = std::filesystem;

namespace {

/// A program with one kernel of that name.
std::string getProgram(const std::string &name) {
  const std::string row = "tensor<?x64xbf16>";
  auto argument = [&](const std::string &name) {
    return "%" + name + ": " + row + " {dsv4.name = \"" + name +
           "\", dsv4.dims = [\"r\", \"\"]}";
  };
  return "func.func @" + name + "(" + argument("x") +
         ", %w: tensor<64xbf16> {dsv4.name = \"w\"}, " + argument("o") +
         ") -> " + row + " {\n  %v = dsv4.rms_norm %x weight(%w : " +
         "tensor<64xbf16>) outs(%o : " + row +
         ") {eps = 1.0e-06 : f32} : " + row + "\n  return %v : " + row +
         "\n}\n";
}

/// A host compiler that counts, and does as the test says.
class SessionTest : public ::testing::Test {
protected:
  void SetUp() override {
    if (const char *set = std::getenv("DSV4_HOST_CXX"))
      before = set;
    useCompiler("");
    options.target = TargetKind::Host;
    options.cache.root = directory.path() + "/cache";
    options.cache.warn = [this](const std::string &text) {
      std::lock_guard<std::mutex> lock(mutex);
      warnings.push_back(text);
    };
  }
  void TearDown() override {
    before ? setenv("DSV4_HOST_CXX", before->c_str(), 1)
           : unsetenv("DSV4_HOST_CXX");
  }

  /// `first` runs in the compiler's directory before the compiler, and `last`
  /// after it.
  void useCompiler(const std::string &first, const std::string &last = "") {
    const std::string path = directory.write(
        "c++", "#!/bin/sh\necho compile >> " + directory.path() + "/log\n" +
                   first + "\nc++ \"$@\" || exit 1\n" + last + "\n");
    ASSERT_EQ(::chmod(path.c_str(), 0700), 0);
    setenv("DSV4_HOST_CXX", path.c_str(), 1);
  }
  size_t compiles() const {
    std::ifstream log(directory.path() + "/log");
    size_t count = 0;
    for (std::string line; std::getline(log, line);)
      ++count;
    return count;
  }
  std::unique_ptr<Session> makeSession() {
    auto session = Session::create(options);
    EXPECT_TRUE(session) << session.status().message();
    return session.take();
  }
  /// Compiles in many threads at once, thread by thread in one of `sessions`.
  std::vector<std::pair<std::string, Origin>>
  compileInThreads(const std::vector<Session *> &sessions,
                   const std::string &program, size_t count = 32) {
    std::vector<std::pair<std::string, Origin>> results(count);
    std::vector<std::thread> threads;
    for (size_t i = 0; i < count; ++i)
      threads.emplace_back([&, i] {
        CompileReport report;
        auto kernel = sessions[i % sessions.size()]->compile(
            program, "program.mlir", {}, &report);
        results[i] = {kernel ? "" : kernel.status().message(), report.origin};
      });
    for (std::thread &thread : threads)
      thread.join();
    return results;
  }
  static size_t count(const std::vector<std::pair<std::string, Origin>> &all,
                      Origin origin) {
    return size_t(std::count(all.begin(), all.end(),
                             std::pair<std::string, Origin>("", origin)));
  }

  test::TemporaryDirectory directory;
  SessionOptions options;
  std::mutex mutex;
  std::vector<std::string> warnings;
  std::optional<std::string> before;
};

TEST_F(SessionTest, ThreadsCompileAKeyOnce) {
  auto session = makeSession();
  for (size_t round = 1; round <= 2; ++round) {
    auto results = compileInThreads(
        {session.get()}, getProgram("round" + std::to_string(round)));
    EXPECT_EQ(compiles(), round);
    EXPECT_EQ(count(results, Origin::Compiled), 1u);
    EXPECT_EQ(count(results, Origin::Memory), 31u);
  }
  // And look on disk once.
  auto next = makeSession();
  auto results = compileInThreads({next.get()}, getProgram("round1"));
  EXPECT_EQ(compiles(), 2u);
  EXPECT_EQ(count(results, Origin::Disk), 1u);
  EXPECT_EQ(count(results, Origin::Memory), 31u);
  EXPECT_EQ(next->diskCache().stats().hits, 1u);
}

TEST_F(SessionTest, SessionsCompileAKeyOnce) {
  options.cache.memoryOnly = true;
  useCompiler("sleep 1"); // Until all of them are there.
  auto one = makeSession(), other = makeSession();
  auto results =
      compileInThreads({one.get(), other.get()}, getProgram("shared"));
  EXPECT_EQ(compiles(), 1u);
  EXPECT_EQ(count(results, Origin::Compiled), 1u);
  EXPECT_EQ(count(results, Origin::Memory), 31u);
}

TEST_F(SessionTest, ErrorsReachAllAndAreNotKept) {
  auto session = makeSession();
  useCompiler("sleep 1; test -e " + directory.path() +
              "/good || { echo 'error: not yet'; exit 1; }");
  auto results = compileInThreads({session.get()}, getProgram("failing"));
  EXPECT_EQ(compiles(), 1u);
  for (const auto &[message, origin] : results)
    EXPECT_NE(message.find("error: not yet"), std::string::npos) << message;
  directory.write("good", "");
  results = compileInThreads({session.get()}, getProgram("failing"));
  EXPECT_EQ(compiles(), 2u);
  EXPECT_EQ(count(results, Origin::Compiled), 1u);
}

TEST_F(SessionTest, KeysDoNotWaitForEachOther) {
  auto session = makeSession();
  useCompiler("if grep -q slow kernel.cu; then while [ ! -e " +
              directory.path() + "/go ]; do sleep 0.01; done; fi");
  std::thread slow([&] {
    auto kernel = session->compile(getProgram("slow"), "slow.mlir", {});
    EXPECT_TRUE(kernel) << kernel.status().message();
  });
  while (compiles() == 0)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  auto kernel = session->compile(getProgram("quick"), "quick.mlir", {});
  EXPECT_TRUE(kernel) << kernel.status().message();
  EXPECT_EQ(compiles(), 2u);
  directory.write("go", "");
  slow.join();
}

// A callback may compile, the key that its thread is compiling too.
TEST_F(SessionTest, CallbacksMayCompile) {
  CompileReport report;
  auto first = makeSession();
  ASSERT_TRUE(first->compile(getProgram("nested"), "nested.mlir", {}, &report));
  fs::resize_file(report.entryPath, 10);
  Session *inner = nullptr;
  size_t calls = 0;
  options.cache.warn = [&](const std::string &) {
    if (calls++ > 0)
      return;
    auto kernel = inner->compile(getProgram("nested"), "nested.mlir", {});
    EXPECT_TRUE(kernel) << kernel.status().message();
  };
  auto session = makeSession();
  inner = session.get();
  auto kernel = session->compile(getProgram("nested"), "nested.mlir", {});
  EXPECT_TRUE(kernel) << kernel.status().message();
  EXPECT_EQ(calls, 1u);
}

TEST_F(SessionTest, WhatDoesNotLoadIsNotPublished) {
  useCompiler("", "echo no image > kernel.so");
  CompileReport report;
  auto kernel =
      makeSession()->compile(getProgram("broken"), "broken.mlir", {}, &report);
  ASSERT_FALSE(kernel);
  EXPECT_NE(kernel.status().message().find("cannot load the image"),
            std::string::npos)
      << kernel.status().message();
  EXPECT_FALSE(fs::exists(report.entryPath));
  EXPECT_TRUE(warnings.empty());
}

TEST_F(SessionTest, EntryThatDoesNotLoadIsReplaced) {
  CompileReport report;
  auto session = makeSession();
  ASSERT_TRUE(session->compile(getProgram("old"), "old.mlir", {}, &report));
  auto program = session->diskCache().lookup(session->arch(), report.key);
  ASSERT_TRUE(program.has_value());
  program->images[0] = "no image";
  ASSERT_TRUE(
      session->diskCache().publish(session->arch(), report.key, *program));

  for (Origin expected : {Origin::Compiled, Origin::Disk}) {
    auto kernel =
        makeSession()->compile(getProgram("old"), "old.mlir", {}, &report);
    EXPECT_TRUE(kernel) << kernel.status().message();
    EXPECT_EQ(report.origin, expected);
    EXPECT_EQ(warnings.size(), 1u);
  }
  EXPECT_NE(warnings[0].find("compiling it anew"), std::string::npos);
}

// What another compiler than that of the key may have made is not kept.
TEST_F(SessionTest, CompilerThatChangesMeanwhile) {
  useCompiler("", "touch -d 2001-01-01 \"$0\"");
  CompileReport report;
  auto kernel =
      makeSession()->compile(getProgram("moving"), "moving.mlir", {}, &report);
  ASSERT_FALSE(kernel);
  EXPECT_EQ(kernel.status().message(),
            "program 'moving': the compiler changed while it was compiled: "
            "compile it again");
  EXPECT_FALSE(fs::exists(report.entryPath));
}

} // namespace
