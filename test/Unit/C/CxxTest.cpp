//===- CxxTest.cpp - The C++ layer over the C interface -------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CTesting.h"

#include "dsv4.hpp"

using namespace dsv4::test;

namespace {

class CxxTest : public ::testing::Test {
protected:
  CxxTest() {
    fakeCuda().parameterSizes = gatherSizes;
    fakeCuda().launchResult = fakeCuda().loadResult = 0;
    setCurrentContext(nullptr);
  }

  std::string entry =
      dsv4::rt::serialize(dsv4::rt::test::gatherProgram("cuda"), "beef");
  GatherArguments given;
};

TEST_F(CxxTest, CallsAndBlocks) {
  std::vector<int32_t> events;
  dsv4::RuntimeOptions options;
  options.onEvent = [&](const dsv4_event &event) {
    events.push_back(event.kind);
  };
  auto runtime = std::make_unique<dsv4::Runtime>(std::move(options));
  dsv4::Program program = runtime->openMemory(entry);
  auto *cache = static_cast<const uint8_t *>(given.tensors[0].data);
  auto *indices = static_cast<const int32_t *>(given.tensors[1].data);
  auto *out = static_cast<uint16_t *>(given.tensors[2].data);
  program({{cache, {5, 64, 656}}, {indices, {3, 4}}, {out, {3, 4, 512}}});
  const std::vector<uint64_t> values = fakeCuda().values;
  EXPECT_EQ(values[3], 3u);
  EXPECT_EQ(runtime->counters().calls, 1u);

  const std::vector<int64_t> extents = {3, 4, 512}, strides = {4096, 1024, 2};
  dsv4::Block block = program.bind({dsv4::Argument(given.tensors[0]),
                                    dsv4::Argument(indices, {3, 4}).onDevice(0),
                                    dsv4::Argument(out, extents, strides)});
  runtime.reset();
  block.launch();
  EXPECT_EQ(fakeCuda().values, values);
  block.setDim(0, 1);
  EXPECT_EQ(block.prepare(), 0u);
  block.launch();
  EXPECT_EQ(fakeCuda().values[3], 1u);
  EXPECT_EQ(events, std::vector<int32_t>{DSV4_EVENT_LOADED});
}

/// A block may be the last that raises events.
TEST_F(CxxTest, CallbacksOutliveTheirRuntime) {
  auto token = std::make_shared<int>();
  const std::weak_ptr<int> alive = token;
  dsv4::RuntimeOptions options;
  options.onEvent = [token = std::move(token)](const dsv4_event &) {};
  auto runtime = std::make_unique<dsv4::Runtime>(std::move(options));
  auto program = std::make_unique<dsv4::Program>(runtime->openMemory(entry));
  auto block = std::make_unique<dsv4::Block>(
      program->bind({given.tensors[0], given.tensors[1], given.tensors[2]}));
  options = {};
  runtime.reset();
  EXPECT_FALSE(alive.expired());
  program.reset();
  EXPECT_FALSE(alive.expired());
  block.reset();
  EXPECT_TRUE(alive.expired());
}

TEST_F(CxxTest, Errors) {
  dsv4::Runtime runtime;
  dsv4::Program program = runtime.openMemory(entry);
  auto *cache = static_cast<const uint8_t *>(given.tensors[0].data);
  auto *out = static_cast<const uint16_t *>(given.tensors[2].data);
  try {
    // `out` is const.
    program({{cache, {5, 64, 656}}, {cache, {3, 4}}, {out, {3, 4, 512}}});
    FAIL();
  } catch (const dsv4::Error &error) {
    EXPECT_EQ(error.status(), DSV4_ERROR_TYPE_MISMATCH);
    EXPECT_EQ(error.id(), "argument.type");
    EXPECT_EQ(error.argument(), "indices");
    EXPECT_EQ(error.argumentIndex(), 1);
  }
  auto *indices = static_cast<const int32_t *>(given.tensors[1].data);
  try {
    program({{cache, {5, 64, 656}}, {indices, {3, 4}}, {out, {3, 4, 512}}});
    FAIL();
  } catch (const dsv4::Error &error) {
    EXPECT_EQ(error.id(), "argument.read_only");
  }
  EXPECT_THROW(dsv4::Argument(out, {1, 1}, {1}), std::invalid_argument);
  EXPECT_THROW(runtime.open("/nowhere"), dsv4::Error);
}

TEST_F(CxxTest, Queries) {
  dsv4::Runtime runtime;
  dsv4::Program program = runtime.openMemory(entry);
  EXPECT_EQ(program.name(), "gather");
  EXPECT_EQ(program.bytes(), entry);
  ASSERT_EQ(program.bindings().size(), 3u);
  EXPECT_STREQ(program.bindings()[2].name, "out");
  EXPECT_STREQ(program.dims()[1].name, "topk");
  EXPECT_STREQ(program.kernels()[0].symbol, "gather_k0");
  EXPECT_EQ(program.find("indices"), 1);
  EXPECT_EQ(runtime.deviceCount(), 2);
  EXPECT_STREQ(runtime.device(0).arch, "sm_90a");
}

/// scores(q, k, scale, first) -> out
TEST_F(CxxTest, Numbers) {
  fakeCuda().parameterSizes = scoresSizes;
  dsv4::Runtime runtime;
  dsv4::Program program = runtime.openMemory(
      dsv4::rt::serialize(dsv4::rt::test::scoresProgram("cuda"), "1"));
  program.load();
  fakeCuda().parameterSizes.pop_back(); // Few rows need no workspace.
  alignas(16) uint16_t memory[3 * 128] = {};
  alignas(16) float out[1];
  program({{memory, {2, 128}},
           {memory + 256, {1, 128}},
           0.5f,
           int64_t(-7),
           {out, {2, 1}}});
  EXPECT_EQ(fakeCuda().values[2], 0x3F000000u);
  EXPECT_EQ(int64_t(fakeCuda().values[3]), -7);
}

TEST_F(CxxTest, Workspaces) {
  fakeCuda().parameterSizes = scoresSizes;
  dsv4::Runtime runtime;
  dsv4::Program program = runtime.openMemory(
      dsv4::rt::serialize(dsv4::rt::test::scoresProgram("cuda"), "1"));
  program.load();
  std::vector<uint16_t> rows(2 * 128 * 128);
  auto *q = reinterpret_cast<uint16_t *>(
      (reinterpret_cast<uintptr_t>(rows.data()) + 15) & ~uintptr_t(15));
  alignas(16) float out[128];
  dsv4::Block block = program.bind({{q, {128, 128}},
                                    {q + 128 * 128, {1, 128}},
                                    0.5f,
                                    int64_t(0),
                                    {out, {128, 1}}});
  ASSERT_EQ(block.prepare(), 64u);
  alignas(16) char memory[64] = {};
  const auto mine = reinterpret_cast<uintptr_t>(memory);
  block.setWorkspace({memory, sizeof(memory)});
  block.launch();
  EXPECT_EQ(fakeCuda().values[7], mine);
  block.setWorkspace({}); // The runtime's.
  block.launch();
  EXPECT_NE(fakeCuda().values[7], mine);
  EXPECT_EQ(runtime.counters().workspace_bytes, 1u << 16);
}

TEST_F(CxxTest, Types) {
  static_assert(dsv4::typeOf<const float>().code == DSV4_TYPE_FLOAT);
  static_assert(dsv4::typeOf<int64_t>().bits == 64);
  static_assert(dsv4::typeOf<uint8_t>().code == DSV4_TYPE_UINT);
  static_assert(dsv4::typeOf<void>().bits == 0);
}

} // namespace
