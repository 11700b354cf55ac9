//===- ForkTest.cpp - Children of processes with threads ------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HostProgram.h"

#include <atomic>
#include <csignal>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace dsv4;
using namespace dsv4::test;

namespace {

/// A child that fork() and its handlers know nothing of.
pid_t cloneProcess() {
  return pid_t(::syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, 0));
}

/// The exit status of a child that does `work`, or minus the signal that ended
/// it: SIGALRM, if it hangs.
template <typename F>
int runInChild(F work, pid_t (*makeChild)() = ::fork) {
  const pid_t child = makeChild();
  if (child == 0) {
    ::alarm(20);
    ::_exit(work());
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/// What a child finds when it scales on the host: 0 if all is right.
int scale(dsv4_program *program) {
  ScaleArguments given(4);
  if (dsv4_call(program, given.arguments, 3, nullptr, nullptr, nullptr) !=
      DSV4_OK)
    return 1;
  for (size_t i = 0; i < given.x.size(); ++i)
    if (given.y[i] != given.x[i] * 3)
      return 2;
  return 0;
}

/// Clusters of so many threads that only one such launch runs at a time.
rt::CompiledProgram wideProgram() {
  rt::CompiledProgram compiled = scaleProgram();
  compiled.info.name = "wide";
  rt::LaunchPlan &plan = compiled.info.kernels[0].plan;
  plan.cluster = 4;
  plan.block = 1024;
  rt::Result<std::string> image = rt::compileHost(rt::hostPrelude() + R"(
extern "C" __global__ void scale(const float *x, float factor, float *y, int n,
                                 int *count) {
  int at = blockIdx.x * 64 + threadIdx.x;
  if (threadIdx.x < 64)
    y[at] = x[at] * factor;
}
)" + rt::hostEpilogue("scale"));
  EXPECT_TRUE(image.ok()) << image.status().message();
  compiled.images[0] = *image;
  return compiled;
}

using ForkTest = RuntimeTest;

/// A thread of the parent launches all the time, so that it holds, at nearly
/// every moment, what a launch locks.
TEST_F(ForkTest, OfAProcessThatLaunches) {
  for (const rt::CompiledProgram &compiled : {scaleProgram(), wideProgram()}) {
    dsv4_program *program = open(compiled);
    ASSERT_EQ(dsv4_program_load(program, 0, nullptr, nullptr), DSV4_OK);
    // Of the same program, and of another one.
    dsv4_program *other = open(compiled);
    std::atomic<bool> stop{false};
    std::thread thread([&] {
      ScaleArguments given(64);
      while (!stop)
        EXPECT_EQ(
            dsv4_call(program, given.arguments, 3, nullptr, nullptr, nullptr),
            DSV4_OK);
    });
    for (int i = 0; i < 10; ++i) {
      EXPECT_EQ(runInChild([&] { return scale(program); }), 0);
      EXPECT_EQ(runInChild([&] { return scale(other); }), 0);
    }
    // So does a child of a child, and its threads.
    EXPECT_EQ(runInChild([&] {
                std::thread again([&] { scale(program); });
                const int status = runInChild([&] { return scale(program); });
                again.join();
                return status;
              }),
              0);
    stop = true;
    thread.join();
    dsv4_program_destroy(other);
    dsv4_program_destroy(program);
  }
}

/// The child of a process that used CUDA is told so, and no driver is called.
TEST_F(ForkTest, OfAProcessThatUsedCuda) {
  fakeCuda().parameterSizes = gatherSizes;
  dsv4_program *onDevice = open(rt::test::gatherProgram("cuda"));
  dsv4_program *onHost = open(scaleProgram());
  GatherArguments given;
  dsv4_block *block = nullptr;
  ASSERT_EQ(dsv4_bind(onDevice, given.arguments, 3, nullptr, &block, nullptr),
            DSV4_OK);
  ASSERT_EQ(dsv4_launch(block, nullptr, nullptr), DSV4_OK);
  auto work = [&] {
    const int calls = fakeCuda().calls;
    int32_t count = 0;
    int mistakes = 0;
    Error error;
    auto expectForked = [&](dsv4_status status) {
      mistakes +=
          status != DSV4_ERROR_UNAVAILABLE || error.id() != "driver.forked";
    };
    expectForked(dsv4_launch(block, nullptr, error));
    expectForked(
        dsv4_call(onDevice, given.arguments, 3, nullptr, nullptr, error));
    expectForked(dsv4_device_count(runtime, &count, error));
    expectForked(dsv4_reserve_workspace(runtime, 0, nullptr, 16, error));
    expectForked(dsv4_program_load(onDevice, 1, nullptr, error));
    mistakes += scale(onHost);
    dsv4_block_destroy(block);
    dsv4_program_destroy(onDevice);
    mistakes += fakeCuda().calls != calls;
    return mistakes;
  };
  pid_t (*const ways[])() = {::fork, ::_Fork, cloneProcess};
  for (auto makeChild : ways)
    EXPECT_EQ(runInChild(work, makeChild), 0);
  EXPECT_EQ(dsv4_launch(block, nullptr, nullptr), DSV4_OK);
  dsv4_block_destroy(block);
  dsv4_program_destroy(onDevice);
  dsv4_program_destroy(onHost);
}

/// The driver takes its time to start. Only a process that did not start it
/// before can see that, so this one is started anew.
TEST_F(ForkTest, WhileTheDriverStarts) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  auto test = [&] {
    fakeCuda().initMicroseconds = 300000;
    int32_t count = 0;
    std::thread thread([&] { dsv4_device_count(runtime, &count, nullptr); });
    while (fakeCuda().inits == 0)
      ::usleep(1000);
    dsv4_program *onHost = open(scaleProgram());
    const int status = runInChild([&] {
      Error error;
      return (dsv4_device_count(runtime, &count, error) !=
              DSV4_ERROR_UNAVAILABLE) +
             (error.id() != "driver.forked") + scale(onHost);
    });
    thread.join();
    ::_exit(status == 0 && count == FakeLibcuda::devices ? 7 : 1);
  };
  EXPECT_EXIT(test(), ::testing::ExitedWithCode(7), "");
}

} // namespace
