//===- CompiledProgram.h - A program to run many times ----------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For tests that make inputs themselves, or keep what came out.
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_TEST_INTEGRATION_COMPILEDPROGRAM_H
#define DSV4_TEST_INTEGRATION_COMPILEDPROGRAM_H

#include "Testing.h"

#include "dsv4/Testing/RandomInputs.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <atomic>
#include <cstring>

namespace dsv4::test {

/// A session for each of three orders of threads, which take turns; on a GPU
/// one session.
class Sessions {
public:
  Sessions();
  size_t size() const { return sessions.size(); }
  Session &operator[](size_t index) { return *sessions[index]; }

private:
  TemporaryDirectory directory;
  std::vector<std::unique_ptr<Session>> sessions;
};

/// A program of one function on the target of the tests.
class CompiledProgram {
public:
  CompiledProgram(Sessions &sessions, std::string text,
                  const std::string &schedule = "");
  ~CompiledProgram();

  /// Parses and compiles; "", or what is wrong.
  std::string compile();
  size_t getKernelCount() const;
  /// The binding `name`, which there must be.
  unsigned find(const std::string &name) const;

  rt::Result<reference::InputSet> makeInputs(const Dims &dims, uint64_t seed,
                                             reference::Codes codes);
  /// Launches on `set` in the next order of threads. What a launch leaves in
  /// its workspace, which must be zeros, is what the next one in that order
  /// finds. With `dirt` it finds that, again and again; then only what is
  /// after the workspace must be left alone.
  rt::Status launch(reference::InputSet &set,
                    const std::vector<char> &dirt = {});
  /// Runs on `inputs` and compares every destination with the oracle by its
  /// contract. Where inputs are written, runs again and compares again:
  /// what is only appended to stays as it is. "", or what is wrong.
  std::string check(const reference::InputSet &inputs,
                    reference::InputSet *outputs = nullptr);

private:
  rt::Status launchOnDevice(Session &session, const rt::LoadedProgram &program,
                            reference::InputSet &set,
                            std::vector<char> &workspace, uint64_t bytes);

  Sessions &sessions;
  std::string text, schedule;
  std::unique_ptr<mlir::MLIRContext> context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp func;
  Signature signature;
  std::vector<const rt::LoadedProgram *> programs; ///< Of every session.
  std::vector<std::vector<char>> workspaces;       ///< Likewise.
  size_t turn = 0;
};

/// Copies numbers into a binding from number `at` on.
template <typename T>
void put(reference::InputSet &set, unsigned binding, size_t at, const T *from,
         size_t count) {
  std::memcpy(set.bytes[binding].data() + at * sizeof(T), from,
              count * sizeof(T));
}

/// One set of random inputs.
struct Shape {
  Dims dims;
  reference::Codes codes = reference::Codes::All;
};

/// Runs a program on random inputs of every shape; "" or what is wrong.
std::string checkShapes(CompiledProgram &program,
                        const std::vector<Shape> &shapes, uint64_t seed);

/// Compiles `text` and checks it on every shape.
std::string checkText(Sessions &sessions, const std::string &name,
                      const std::string &text, const std::vector<Shape> &shapes,
                      uint64_t seed, const std::string &schedule = "");

/// The same under a schedule, which may not fit: then nothing is wrong.
/// `fitted` counts those that do.
std::string checkSchedule(Sessions &sessions, const std::string &name,
                          const std::string &text,
                          const std::vector<Shape> &shapes, uint64_t seed,
                          const std::string &schedule,
                          std::atomic<unsigned> &fitted);

using Jobs = std::vector<std::function<std::string()>>;

/// runAll, and a line that says how many there were.
void runAndCount(const Jobs &jobs);

/// Prints how many of the jobs had a schedule that fits, and expects a tenth.
void expectFitted(unsigned fitted, const Jobs &jobs);

/// Every fifth at scale 0, every third at scale 1, which `make check` has time
/// for, and all at others. Other seeds have others.
template <typename T>
std::vector<T> thin(std::vector<T> all) {
  const size_t step = getScale() == 0 ? 5 : getScale() == 1 ? 3 : 1;
  std::vector<T> few;
  for (size_t i = getSeed() % step; i < all.size(); i += step)
    few.push_back(all[i]);
  return few;
}

} // namespace dsv4::test

#endif // DSV4_TEST_INTEGRATION_COMPILEDPROGRAM_H
