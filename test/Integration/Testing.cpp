//===- Testing.cpp - What the integration tests share ---------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Testing.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <thread>

using namespace dsv4;
using namespace dsv4::test;

static uint64_t getNumber(const char *variable, uint64_t fallback) {
  const char *text = std::getenv(variable);
  return text && *text ? std::strtoull(text, nullptr, 10) : fallback;
}

uint64_t dsv4::test::getSeed() {
  static const uint64_t seed = [] {
    uint64_t value = getNumber("DSV4_TEST_SEED", 1);
    llvm::outs() << "DSV4_TEST_SEED=" << value << "\n";
    llvm::outs().flush();
    return value;
  }();
  return seed;
}

unsigned dsv4::test::getScale() { return getNumber("DSV4_TEST_SCALE", 1); }

TargetKind dsv4::test::getTarget() {
  const char *text = std::getenv("DSV4_TEST_TARGET");
  std::string name = text ? text : "";
  if (name == "cuda")
    return TargetKind::Cuda;
  if (!name.empty() && name != "host")
    llvm::report_fatal_error("DSV4_TEST_TARGET is host or cuda");
  return TargetKind::Host;
}

bool dsv4::test::isCuda() { return getTarget() == TargetKind::Cuda; }

TemporaryDirectory::TemporaryDirectory() {
  llvm::SmallString<128> unique;
  if (llvm::sys::fs::createUniqueDirectory("dsv4-integration", unique))
    llvm::report_fatal_error("no temporary directory");
  directory = unique.str().str();
}

TemporaryDirectory::~TemporaryDirectory() {
  (void)llvm::sys::fs::remove_directories(directory);
}

std::string TemporaryDirectory::write(const std::string &name,
                                      const std::string &text) const {
  std::string path = directory + "/" + name;
  std::error_code error;
  llvm::raw_fd_ostream os(path, error);
  os << text;
  os.close();
  if (error || os.error())
    llvm::report_fatal_error("a temporary file cannot be written");
  return path;
}

RunOptions dsv4::test::getCheckedRun(const std::string &file,
                                     const TemporaryDirectory &directory,
                                     const Dims &dims, uint64_t seed) {
  RunOptions options;
  options.file = file;
  options.compile.dims = dims;
  options.session.target = getTarget();
  options.session.cache.root = directory.path() + "/cache";
  options.randomSeed = seed;
  options.check = true;
  return options;
}

std::string dsv4::test::explainFailure(const RunOptions &options) {
  auto result = run(options);
  if (!result)
    return result.status().message();
  if (!result->checked)
    return "was not compared with the oracle";
  return result->mismatch;
}

std::string dsv4::test::toText(const Dims &dims) {
  std::string text;
  for (const auto &[name, extent] : dims)
    text += (text.empty() ? "" : " ") + name + "=" + std::to_string(extent);
  return text;
}

void dsv4::test::runAll(const std::vector<std::function<std::string()>> &jobs) {
  std::atomic<size_t> next{0};
  std::mutex mutex;
  std::vector<std::string> failures;
  auto work = [&] {
    for (size_t i = next++; i < jobs.size(); i = next++) {
      std::string failure = jobs[i]();
      std::lock_guard<std::mutex> lock(mutex);
      if (!failure.empty())
        failures.push_back(std::move(failure));
    }
  };
  std::vector<std::thread> threads;
  for (unsigned i = 1; i < std::thread::hardware_concurrency(); ++i)
    threads.emplace_back(work);
  work();
  for (std::thread &thread : threads)
    thread.join();
  for (const std::string &failure : failures)
    ADD_FAILURE() << failure;
}
