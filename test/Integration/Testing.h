//===- Testing.h - What the integration tests share -------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Environment variables:
//
//   DSV4_TEST_TARGET=host|cuda   where programs run (host)
//   DSV4_TEST_SEED=N             which programs and inputs are drawn
//   DSV4_TEST_SCALE=N            N times as many programs, values (1); 0: few;
//                                2: all cases of the lists that 1 takes parts
//                                of
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_TEST_INTEGRATION_TESTING_H
#define DSV4_TEST_INTEGRATION_TESTING_H

#include "dsv4/Run/Run.h"

#include "gtest/gtest.h"

#include <functional>

namespace dsv4::test {

/// DSV4_TEST_SEED; printed once, so that a failure can be repeated.
uint64_t getSeed();
unsigned getScale();
TargetKind getTarget();
bool isCuda();

/// A directory that goes away with the object.
class TemporaryDirectory {
public:
  TemporaryDirectory();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory &) = delete;
  TemporaryDirectory &operator=(const TemporaryDirectory &) = delete;
  const std::string &path() const { return directory; }
  /// Writes a file and returns its path.
  std::string write(const std::string &name, const std::string &text) const;

private:
  std::string directory;
};

using Dims = std::map<std::string, int64_t>;

/// Options that run `file` with random inputs and compare with the oracle. The
/// cache is in `directory`.
RunOptions getCheckedRun(const std::string &file,
                         const TemporaryDirectory &directory, const Dims &dims,
                         uint64_t seed);

/// What was wrong with a run, or an empty string.
std::string explainFailure(const RunOptions &options);

/// "t=3 k=7".
std::string toText(const Dims &dims);

/// Runs jobs on all processors; every text that is not empty is a failure.
void runAll(const std::vector<std::function<std::string()>> &jobs);

/// Skips the test with "skipped: no GPU" unless the target is cuda.
#define DSV4_NEEDS_GPU()                                                       \
  if (!::dsv4::test::isCuda())                                                 \
  GTEST_SKIP() << "skipped: no GPU (DSV4_TEST_TARGET=cuda asks for one)"

} // namespace dsv4::test

#endif // DSV4_TEST_INTEGRATION_TESTING_H
