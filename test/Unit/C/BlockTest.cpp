//===- BlockTest.cpp - Bound arguments and workspaces ---------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CTesting.h"

#include <cstring>
#include <set>
#include <thread>

using namespace dsv4;
using namespace dsv4::test;

namespace {

uint64_t addressOf(const void *pointer) {
  return reinterpret_cast<uintptr_t>(pointer);
}

class BlockTest : public RuntimeTest {
protected:
  void SetUp() override {
    fakeCuda().parameterSizes = gatherSizes;
    program = open(rt::test::gatherProgram("cuda"));
    ASSERT_EQ(dsv4_bind(program, given.arguments, 3, nullptr, &block, error),
              DSV4_OK)
        << error.message();
  }
  void TearDown() override {
    dsv4_program_destroy(program);
    dsv4_block_destroy(block);
  }

  std::vector<uint64_t> launch(void *stream = nullptr) {
    fakeCuda().values.clear();
    EXPECT_EQ(dsv4_launch(block, stream, error), DSV4_OK) << error.message();
    return fakeCuda().values;
  }
  std::vector<uint64_t> expected(uint64_t tokens = 3) {
    return {addressOf(given.tensors[0].data),
            addressOf(given.tensors[1].data),
            addressOf(given.tensors[2].data),
            tokens,
            4,
            5};
  }

  dsv4_program *program = nullptr;
  dsv4_block *block = nullptr;
  GatherArguments given;
  Error error;
};

TEST_F(BlockTest, LaunchesWhatACallLaunches) {
  FakeStream stream;
  EXPECT_EQ(launch(&stream), expected());
  EXPECT_EQ(fakeCuda().stream, &stream);
  EXPECT_EQ(fakeCuda().context, &fakeCuda().contexts[0]);
  EXPECT_EQ(fakeCuda().grid, 3u);
  ASSERT_EQ(dsv4_call(program, given.arguments, 3, nullptr, &stream, error),
            DSV4_OK);
  EXPECT_EQ(fakeCuda().values, expected());
}

TEST_F(BlockTest, ViewsMayGoAfterBinding) {
  const std::vector<uint64_t> values = expected();
  for (auto &shape : given.shape)
    std::fill_n(shape, 3, -1);
  std::memset(given.tensors, 0xFF, sizeof(given.tensors));
  std::memset(given.arguments, 0xFF, sizeof(given.arguments));
  EXPECT_EQ(launch(), values);
}

TEST_F(BlockTest, SetData) {
  alignas(128) static char other[128];
  ASSERT_EQ(dsv4_set_data(block, 1, other, error), DSV4_OK);
  std::vector<uint64_t> values = expected();
  values[1] = addressOf(other);
  EXPECT_EQ(launch(), values);
  EXPECT_EQ(dsv4_set_data(block, 0, other + 64, error),
            DSV4_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(error.id(), "argument.alignment");
  EXPECT_EQ(error.argument(), "cache");
  EXPECT_EQ(dsv4_set_data(block, 3, other, error), DSV4_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(error.id(), "index");
  EXPECT_EQ(launch(), values); // As before.
  EXPECT_EQ(dsv4_set_data(block, 2, nullptr, error), DSV4_OK);
  EXPECT_EQ(dsv4_launch(block, nullptr, error), DSV4_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(error.argument(), "out");
  EXPECT_EQ(dsv4_set_data(block, 2, given.tensors[2].data, error), DSV4_OK);
  EXPECT_EQ(launch(), values);
  // It stays when something else changes.
  ASSERT_EQ(dsv4_set_dim(block, 0, 2, error), DSV4_OK);
  values[3] = 2;
  EXPECT_EQ(launch(), values);
}

TEST_F(BlockTest, SetDim) {
  ASSERT_EQ(dsv4_set_dim(block, 0, 2, error), DSV4_OK);
  EXPECT_EQ(launch(), expected(2));
  EXPECT_EQ(fakeCuda().grid, 2u);
  const int launches = fakeCuda().launches;
  ASSERT_EQ(dsv4_set_dim(block, 0, 0, error), DSV4_OK);
  launch(); // An empty grid.
  EXPECT_EQ(fakeCuda().launches, launches);
  ASSERT_EQ(dsv4_set_dim(block, 0, -1, error), DSV4_OK);
  EXPECT_EQ(dsv4_launch(block, nullptr, error), DSV4_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(error.id(), "argument.extent");
  EXPECT_EQ(error.argument(), "indices");
  EXPECT_EQ(dsv4_block_check(block, nullptr, error),
            DSV4_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(fakeCuda().launches, launches);
  ASSERT_EQ(dsv4_set_dim(block, 0, 3, error), DSV4_OK);
  EXPECT_EQ(launch(), expected());
  EXPECT_EQ(dsv4_set_dim(block, 3, 1, error), DSV4_ERROR_INVALID_ARGUMENT);
}

TEST_F(BlockTest, SetArgumentsTogether) {
  // Neither fits the other alone.
  given.shape[1][0] = given.shape[2][0] = 2;
  ASSERT_EQ(dsv4_set_argument(block, 1, &given.arguments[1], error), DSV4_OK);
  EXPECT_EQ(dsv4_launch(block, nullptr, error), DSV4_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(error.argument(), "out");
  ASSERT_EQ(dsv4_set_argument(block, 2, &given.arguments[2], error), DSV4_OK);
  EXPECT_EQ(launch(), expected(2));
  // What is wrong with one alone changes nothing.
  given.tensors[1].type = {DSV4_TYPE_FLOAT, 32, 1};
  EXPECT_EQ(dsv4_set_argument(block, 1, &given.arguments[1], error),
            DSV4_ERROR_TYPE_MISMATCH);
  given.tensors[1].type = {};
  given.tensors[1].device_id = 1;
  EXPECT_EQ(dsv4_set_argument(block, 1, &given.arguments[1], error),
            DSV4_ERROR_TYPE_MISMATCH);
  EXPECT_EQ(error.id(), "argument.device");
  EXPECT_EQ(launch(), expected(2));
}

TEST_F(BlockTest, SetArgumentThatOverlaps) {
  given.tensors[2].data = given.tensors[0].data;
  ASSERT_EQ(dsv4_set_argument(block, 2, &given.arguments[2], error), DSV4_OK);
  EXPECT_EQ(dsv4_launch(block, nullptr, error), DSV4_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(error.id(), "argument.overlap");
  EXPECT_EQ(dsv4_launch(block, nullptr, error), DSV4_ERROR_INVALID_ARGUMENT);
}

TEST_F(BlockTest, HandlesInAnyOrder) {
  dsv4_program_destroy(program);
  program = nullptr;
  dsv4_runtime_destroy(runtime);
  runtime = nullptr;
  EXPECT_EQ(launch(), expected());
}

TEST_F(BlockTest, DLPack) {
  const int64_t strides[3] = {4 * 512, 512, 1};
  dsv4_dltensor tensor = {static_cast<char *>(given.tensors[2].data) - 256,
                          DSV4_DEVICE_CUDA,
                          0,
                          3,
                          {DSV4_TYPE_BFLOAT, 16, 1},
                          given.shape[2],
                          strides,
                          256};
  given.arguments[2].kind = DSV4_ARGUMENT_DLPACK;
  given.arguments[2].value = &tensor;
  ASSERT_EQ(dsv4_call(program, given.arguments, 3, nullptr, nullptr, error),
            DSV4_OK)
      << error.message();
  EXPECT_EQ(fakeCuda().values, expected());
  tensor.strides = nullptr;
  ASSERT_EQ(dsv4_call(program, given.arguments, 3, nullptr, nullptr, error),
            DSV4_OK);
}

TEST_F(BlockTest, TheContextOfTheCallerStays) {
  char mine;
  setCurrentContext(&mine);
  launch();
  EXPECT_EQ(fakeCuda().context, &fakeCuda().contexts[0]);
  EXPECT_EQ(currentContext(), &mine);
  fakeCuda().launchResult = 1;
  EXPECT_EQ(dsv4_launch(block, nullptr, error), DSV4_ERROR_LAUNCH_FAILED);
  EXPECT_EQ(currentContext(), &mine);
  dsv4_program_load(program, 1, nullptr, nullptr);
  EXPECT_EQ(currentContext(), &mine);
}

TEST_F(BlockTest, SeveralDevices) {
  for (dsv4_tensor &tensor : given.tensors)
    tensor.device_id = 1;
  FakeStream one{1};
  dsv4_block *other = nullptr;
  ASSERT_EQ(dsv4_bind(program, given.arguments, 3, nullptr, &other, error),
            DSV4_OK)
      << error.message();
  ASSERT_EQ(dsv4_launch(other, &one, error), DSV4_OK) << error.message();
  EXPECT_EQ(fakeCuda().context, &fakeCuda().contexts[1]);
  launch();
  EXPECT_EQ(fakeCuda().context, &fakeCuda().contexts[0]);
  dsv4_block_destroy(other);
  EXPECT_EQ(counters().loads, 2u);
  EXPECT_EQ(counters().binds, 2u);
}

TEST_F(BlockTest, ThreadsLoadOnce) {
  dsv4_program *fresh = open(rt::test::gatherProgram("cuda"));
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] {
      EXPECT_EQ(dsv4_program_load(fresh, 1, nullptr, nullptr), DSV4_OK);
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(counters().loads, 2u); // And that of the fixture.
  dsv4_program_destroy(fresh);
}

//===----------------------------------------------------------------------===//
// Workspaces and numbers
//===----------------------------------------------------------------------===//

/// Arguments of scoresInfo(); from 128 rows on it needs a workspace.
struct Scores {
  explicit Scores(int64_t m, int64_t n = 64)
      : shapes{{m, 128}, {n, 128}, {m, n}} {
    int order[] = {0, 1, 4};
    for (int i = 0; i < 3; ++i) {
      tensors[i] = sized<dsv4_tensor>();
      tensors[i].ndim = 2;
      tensors[i].data =
          reinterpret_cast<void *>(uintptr_t(0x10000000) * uintptr_t(i + 1));
      tensors[i].shape = shapes[i];
      tensors[i].device_type = DSV4_DEVICE_CUDA;
      arguments[order[i]] = sized<dsv4_argument>();
      arguments[order[i]].value = &tensors[i];
    }
    for (int i : {2, 3}) {
      arguments[i] = sized<dsv4_argument>();
      arguments[i].kind = DSV4_ARGUMENT_SCALAR;
    }
    arguments[2].value = &scale;
    arguments[3].value = &first;
  }
  Scores(const Scores &) = delete;

  int64_t shapes[3][2];
  float scale = 0.5f;
  int64_t first = -7;
  dsv4_tensor tensors[3];
  dsv4_argument arguments[5];
};

class WorkspaceTest : public RuntimeTest {
protected:
  void SetUp() override {
    fakeCuda().parameterSizes = scoresSizes;
    program = open(rt::test::scoresProgram("cuda"));
    ASSERT_EQ(dsv4_program_load(program, 0, nullptr, nullptr), DSV4_OK);
  }
  void TearDown() override { dsv4_program_destroy(program); }

  dsv4_status call(Scores &scores, void *stream) {
    return dsv4_call(program, scores.arguments, 5, nullptr, stream, error);
  }

  dsv4_program *program = nullptr;
  Error error;
};

TEST_F(WorkspaceTest, OfTheRuntimePerStream) {
  FakeStream a, b;
  Scores scores(128);
  uint64_t bytes = 0;
  ASSERT_EQ(
      dsv4_workspace_bytes(program, scores.arguments, 5, 0, &bytes, error),
      DSV4_OK);
  EXPECT_EQ(bytes, 64u);
  for (int32_t device : {-1, 1, 64, INT32_MAX}) { // Where it is not loaded.
    EXPECT_EQ(dsv4_workspace_bytes(program, scores.arguments, 5, device, &bytes,
                                   error),
              DSV4_ERROR_NOT_PREPARED);
    EXPECT_EQ(error.id(), "program.not_loaded");
  }
  ASSERT_EQ(call(scores, &a), DSV4_OK) << error.message();
  const uint64_t ofA = fakeCuda().values[7];
  const char *memory = reinterpret_cast<const char *>(ofA);
  EXPECT_EQ(ofA % DSV4_WORKSPACE_ALIGNMENT, 0u);
  for (int i = 0; i < 64; ++i)
    EXPECT_EQ(memory[i], 0);
  ASSERT_EQ(call(scores, &b), DSV4_OK);
  EXPECT_NE(fakeCuda().values[7], ofA);
  ASSERT_EQ(call(scores, &a), DSV4_OK);
  EXPECT_EQ(fakeCuda().values[7], ofA);
  EXPECT_EQ(fakeCuda().allocations, 2);
  EXPECT_EQ(events.kinds.back(), DSV4_EVENT_WORKSPACE_GREW);
  EXPECT_EQ(counters().workspace_bytes, 2u << 16);
}

/// The per-thread default stream is another stream on each thread, and the
/// legacy one has two handles.
TEST_F(WorkspaceTest, OfDefaultStreams) {
  auto *const legacy = reinterpret_cast<void *>(uintptr_t(1));
  auto *const perThread = reinterpret_cast<void *>(uintptr_t(2));
  Scores scores(128);
  auto workspaceOf = [&](void *stream) {
    EXPECT_EQ(call(scores, stream), DSV4_OK) << error.message();
    return fakeCuda().values[7];
  };
  const uint64_t mine = workspaceOf(perThread);
  uint64_t theirs = 0, again = 0;
  std::thread([&] {
    theirs = workspaceOf(perThread);
    again = workspaceOf(perThread);
  }).join();
  EXPECT_NE(theirs, mine);
  EXPECT_EQ(theirs, again);
  // A later thread may have the memory of one that ended, and no stream of it.
  std::set<uint64_t> all = {mine, theirs};
  for (int i = 0; i < 8; ++i)
    std::thread([&] { all.insert(workspaceOf(perThread)); }).join();
  EXPECT_EQ(all.size(), 10u);
  EXPECT_EQ(workspaceOf(perThread), mine);
  const uint64_t shared = workspaceOf(nullptr);
  EXPECT_NE(shared, mine);
  EXPECT_EQ(workspaceOf(legacy), shared);
}

TEST_F(WorkspaceTest, GrowsByDoubling) {
  auto reserve = [&](uint64_t bytes) {
    EXPECT_EQ(dsv4_reserve_workspace(runtime, 0, nullptr, bytes, error),
              DSV4_OK);
    return counters().workspace_bytes;
  };
  const uint64_t least = 1 << 16;
  EXPECT_EQ(reserve(1), least);
  EXPECT_EQ(reserve(least), least);
  // What was too small stays.
  EXPECT_EQ(reserve(least + 1), least + 2 * least);
  EXPECT_EQ(reserve(100 * least), least + 2 * least + 100 * least);
}

TEST_F(WorkspaceTest, ReservesNothingForNothing) {
  ASSERT_EQ(dsv4_reserve_workspace(runtime, 0, nullptr, 0, error), DSV4_OK);
  EXPECT_EQ(fakeCuda().allocations, 0);
  ASSERT_EQ(dsv4_freeze(runtime, nullptr), DSV4_OK);
  EXPECT_EQ(dsv4_reserve_workspace(runtime, 0, nullptr, 0, error), DSV4_OK);
}

TEST_F(WorkspaceTest, DoesNotGrowInACapture) {
  FakeStream stream{0, 1};
  Scores scores(128), large(int64_t(1) << 20);
  setCurrentContext(&fakeCuda().contexts[0]);
  EXPECT_EQ(call(scores, &stream), DSV4_ERROR_NOT_PREPARED);
  EXPECT_EQ(error.id(), "workspace.capturing");
  EXPECT_EQ(fakeCuda().allocations, 0);
  EXPECT_EQ(fakeCuda().launches, 0);
  stream.capturing = 0;
  ASSERT_EQ(dsv4_reserve_workspace(runtime, 0, &stream, 1000, error), DSV4_OK);
  stream.capturing = 1;
  EXPECT_EQ(call(scores, &stream), DSV4_OK) << error.message();
  // What is reserved is not enough for all.
  EXPECT_EQ(call(large, &stream), DSV4_ERROR_NOT_PREPARED);
  stream.capturing = 0;
  EXPECT_EQ(call(large, &stream), DSV4_OK) << error.message();
  EXPECT_EQ(dsv4_reserve_workspace(runtime, 9, &stream, 1000, error),
            DSV4_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(dsv4_reserve_workspace(runtime, 1, &stream, 1000, error),
            DSV4_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(error.id(), "stream.device");
}

TEST_F(WorkspaceTest, DoesNotGrowWhenFrozen) {
  Scores scores(128), few(8);
  fakeCuda().parameterSizes.pop_back(); // `few` runs the other kernel.
  ASSERT_EQ(dsv4_freeze(runtime, nullptr), DSV4_OK);
  EXPECT_EQ(call(few, nullptr), DSV4_OK) << error.message(); // Needs none.
  EXPECT_EQ(call(scores, nullptr), DSV4_ERROR_NOT_PREPARED);
  EXPECT_EQ(error.id(), "workspace.frozen");
}

TEST_F(WorkspaceTest, NoMemory) {
  Scores scores(128);
  fakeCuda().allocateResult = 2;
  EXPECT_EQ(call(scores, nullptr), DSV4_ERROR_UNAVAILABLE);
  EXPECT_EQ(error.id(), "memory");
  EXPECT_EQ(error->driver_result, 2);
  fakeCuda().allocateResult = 0;
  EXPECT_EQ(call(scores, nullptr), DSV4_OK);
}

TEST_F(WorkspaceTest, OfTheCaller) {
  Scores scores(128);
  alignas(16) char memory[80] = {};
  auto workspace = sized<dsv4_workspace>();
  workspace.data = memory;
  workspace.bytes = 64;
  ASSERT_EQ(dsv4_call(program, scores.arguments, 5, &workspace, nullptr, error),
            DSV4_OK);
  EXPECT_EQ(fakeCuda().values[7], addressOf(memory));
  EXPECT_EQ(fakeCuda().allocations, 0);
  dsv4_block *block = nullptr;
  ASSERT_EQ(dsv4_bind(program, scores.arguments, 5, nullptr, &block, error),
            DSV4_OK);
  ASSERT_EQ(dsv4_set_workspace(block, &workspace, error), DSV4_OK);
  ASSERT_EQ(dsv4_launch(block, nullptr, error), DSV4_OK);
  EXPECT_EQ(fakeCuda().values[7], addressOf(memory));
  for (int what = 0; what < 3; ++what) {
    workspace.data = what == 0 ? nullptr : memory + (what == 1);
    workspace.bytes = what == 2 ? 63 : 64;
    EXPECT_EQ(
        dsv4_call(program, scores.arguments, 5, &workspace, nullptr, error),
        DSV4_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(error.id(), "workspace");
    ASSERT_EQ(dsv4_set_workspace(block, &workspace, error), DSV4_OK);
    EXPECT_EQ(dsv4_launch(block, nullptr, error), DSV4_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(error.id(), "workspace");
  }
  // The runtime's, again.
  ASSERT_EQ(dsv4_set_workspace(block, nullptr, error), DSV4_OK);
  ASSERT_EQ(dsv4_launch(block, nullptr, error), DSV4_OK) << error.message();
  EXPECT_EQ(fakeCuda().allocations, 1);
  uint64_t bytes = 0;
  ASSERT_EQ(dsv4_block_check(block, &bytes, error), DSV4_OK);
  EXPECT_EQ(bytes, 64u);
  dsv4_block_destroy(block);
}

TEST_F(WorkspaceTest, Numbers) {
  Scores scores(8);
  fakeCuda().parameterSizes.pop_back(); // The kernel without a workspace.
  dsv4_block *block = nullptr;
  ASSERT_EQ(dsv4_bind(program, scores.arguments, 5, nullptr, &block, error),
            DSV4_OK);
  scores.first = 0; // Was copied.
  ASSERT_EQ(dsv4_launch(block, nullptr, error), DSV4_OK);
  EXPECT_EQ(int64_t(fakeCuda().values[3]), -7);
  EXPECT_EQ(fakeCuda().values[2], 0x3F000000u); // 0.5f
  scores.first = 9;
  ASSERT_EQ(dsv4_set_argument(block, 3, &scores.arguments[3], error), DSV4_OK);
  ASSERT_EQ(dsv4_launch(block, nullptr, error), DSV4_OK);
  EXPECT_EQ(fakeCuda().values[3], 9u);
  EXPECT_EQ(dsv4_set_data(block, 3, &scores.first, error),
            DSV4_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(error.id(), "argument.kind");
  dsv4_block_destroy(block);

  // A tensor without axes is a number, too, if it is in CPU memory.
  auto tensor = sized<dsv4_tensor>();
  tensor.data = &scores.first;
  tensor.type = {DSV4_TYPE_INT, 64, 1};
  tensor.device_type = DSV4_DEVICE_CPU;
  scores.arguments[3] = sized<dsv4_argument>();
  scores.arguments[3].value = &tensor;
  EXPECT_EQ(call(scores, nullptr), DSV4_OK) << error.message();
  tensor.device_type = DSV4_DEVICE_CUDA;
  EXPECT_EQ(call(scores, nullptr), DSV4_ERROR_TYPE_MISMATCH);
  EXPECT_EQ(error.argument(), "first");
  // It is copied when it is bound, so it cannot come later.
  tensor.device_type = DSV4_DEVICE_CPU;
  tensor.data = nullptr;
  EXPECT_EQ(call(scores, nullptr), DSV4_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(error.id(), "argument.null");
  EXPECT_EQ(dsv4_bind(program, scores.arguments, 5, nullptr, &block, error),
            DSV4_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(error.id(), "argument.null");
  EXPECT_EQ(error.argument(), "first");
}

} // namespace
