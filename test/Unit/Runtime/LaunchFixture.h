//===- LaunchFixture.h - Launches that are only noted -----------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_TEST_UNIT_RUNTIME_LAUNCHFIXTURE_H
#define DSV4_TEST_UNIT_RUNTIME_LAUNCHFIXTURE_H

#include "Samples.h"

#include "dsv4-runtime/LoadedProgram.h"

#include <gtest/gtest.h>

#include <cstring>

namespace dsv4::rt::test {

/// The allocations of this thread, to see that a launch makes none.
extern thread_local size_t allocations;

/// One launch as a host module saw it.
struct Seen {
  std::string symbol;
  Dim3 grid, block;
  uint32_t sharedBytes;
  std::vector<void *> buffers;   ///< And the workspace.
  std::vector<int64_t> numbers;  ///< Computed ones,
  std::vector<uint64_t> scalars; ///< and the bits of those of the caller.
};

class FakeModule : public HostModule {
public:
  FakeModule(const ProgramInfo &program, KernelInfo info,
             std::vector<Seen> &log)
      : bindings(program.bindings), info(std::move(info)), log(log) {}

  Status launch(Dim3 grid, Dim3 block, uint32_t sharedBytes,
                void **params) override {
    size_t before = allocations;
    Seen seen{info.symbol, grid, block, sharedBytes, {}, {}, {}};
    for (const Parameter &parameter : info.plan.parameters)
      note(parameter, *params++, seen);
    log.push_back(std::move(seen));
    allocations = before;
    return Status();
  }

private:
  void note(const Parameter &parameter, void *param, Seen &seen) {
    uint64_t bits = 0;
    switch (parameter.kind) {
    case Parameter::Kind::Buffer:
    case Parameter::Kind::Workspace:
      seen.buffers.push_back(*static_cast<void **>(param));
      break;
    case Parameter::Kind::Int32:
      seen.numbers.push_back(*static_cast<int32_t *>(param));
      break;
    case Parameter::Kind::Int64:
      seen.numbers.push_back(*static_cast<int64_t *>(param));
      break;
    case Parameter::Kind::Scalar:
      std::memcpy(&bits, param,
                  size_t(getByteSize(bindings[parameter.binding].storage)));
      seen.scalars.push_back(bits);
      break;
    case Parameter::Kind::TensorMap:
      ADD_FAILURE() << "a tensor map was launched";
      break;
    }
  }

  std::vector<Binding> bindings;
  KernelInfo info;
  std::vector<Seen> &log;
};

class PlanLaunchTest : public ::testing::Test {
protected:
  void load(const CompiledProgram &program, int multiprocessors = 4) {
    Backend backend = Backend::onHost(
        [this, info = program.info](
            const std::string &image,
            const KernelInfo &kernel) -> Result<std::unique_ptr<HostModule>> {
          if (image == "bad")
            return Status(Code::LoadFailed, "no such image");
          return std::unique_ptr<HostModule>(
              new FakeModule(info, kernel, seen));
        });
    backend.hostMultiprocessors = multiprocessors;
    Result<std::unique_ptr<LoadedProgram>> result =
        LoadedProgram::load(program, backend);
    ASSERT_TRUE(result.ok()) << result.status().message();
    loaded = result.take();
  }

  /// The message of a launch that must have failed and run nothing.
  std::string errorOf(const Status &status) {
    EXPECT_EQ(status.code(), Code::InvalidArgument);
    EXPECT_EQ(status.message().find('\n'), std::string::npos);
    EXPECT_TRUE(seen.empty());
    return status.message();
  }

  std::vector<Seen> seen;
  std::unique_ptr<LoadedProgram> loaded;
};

/// Launches of gatherInfo().
class GatherLaunchTest : public PlanLaunchTest {
protected:
  GatherLaunchTest() { setShapes(3, 512, 7); }

  void setShapes(int64_t tokens, int64_t topk, int64_t pages) {
    cacheShape[0] = pages;
    indicesShape[0] = outShape[0] = tokens;
    indicesShape[1] = outShape[1] = topk;
  }

  void load(const CompiledProgram &program = gatherProgram()) {
    PlanLaunchTest::load(program);
  }

  Status launch() { return loaded->launch(nullptr, arguments, 3); }

  /// The message of a launch that must fail and run nothing.
  std::string error() {
    if (!loaded)
      load();
    return errorOf(launch());
  }

  alignas(128) char memory[256];
  int64_t cacheShape[3] = {7, 64, 656};
  int64_t indicesShape[2];
  int64_t outShape[3] = {0, 0, 512};
  Argument arguments[3] = {{memory, cacheShape},
                           {memory + 4, indicesShape},
                           {memory + 16, outShape}};
};

/// The message for 2^31 rows of gatherInfo().
inline constexpr const char *tooManyRows =
    "kernel 'gather_k0': needs tokens * topk <= 2147483644, but tokens * topk "
    "is 2147483648: split the launch";

/// Arguments of scoresInfo(): 0.5 and -5 * 2^40 for its scalars. Nobody reads
/// its buffers.
struct ScoresArguments {
  ScoresArguments(int64_t m, int64_t n)
      : q{m, 128}, k{n, 128}, out{m, n}, values{{memory, q},
                                                {memory + 16, k},
                                                {&scale, nullptr},
                                                {&first, nullptr},
                                                {memory + 32, out}} {}
  ScoresArguments(const ScoresArguments &) = delete;

  alignas(16) char memory[48];
  float scale = 0.5f;
  int64_t first = -(int64_t(5) << 40);
  int64_t q[2], k[2], out[2];
  Argument values[5];
};

} // namespace dsv4::rt::test

#endif // DSV4_TEST_UNIT_RUNTIME_LAUNCHFIXTURE_H
