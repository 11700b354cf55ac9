//===- BadInputTest.cpp - What the C interface refuses --------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each wrong input gives its class and id, names the argument, launches
// nothing, and leaves everything usable.
//
//===----------------------------------------------------------------------===//

#include "CTesting.h"

using namespace dsv4;
using namespace dsv4::test;

namespace {

class BadInputTest : public RuntimeTest {
protected:
  void SetUp() override {
    fakeCuda().parameterSizes = gatherSizes;
    program = open(rt::test::gatherProgram("cuda"));
    ASSERT_EQ(dsv4_program_load(program, 0, nullptr, nullptr), DSV4_OK);
  }
  void TearDown() override { dsv4_program_destroy(program); }

  dsv4_status call(void *stream = nullptr, uint32_t count = 3) {
    return dsv4_call(program, given.arguments, count, nullptr, stream, error);
  }

  /// Both ways to pass arguments refuse them alike, launch nothing, and take
  /// good ones afterwards.
  void refuses(dsv4_status status, const char *id, int index,
               const char *argument, uint32_t count = 3) {
    const int launches = fakeCuda().launches;
    EXPECT_EQ(call(nullptr, count), status) << error.message();
    EXPECT_EQ(error.id(), id) << error.message();
    ASSERT_TRUE(error.isSet());
    EXPECT_EQ(error->argument_index, index);
    EXPECT_EQ(error.argument(), argument);
    EXPECT_EQ(error->status, status);
    EXPECT_STREQ(dsv4_last_error()->message, error->message);
    dsv4_block *block = &nobody;
    EXPECT_EQ(
        dsv4_bind(program, given.arguments, count, nullptr, &block, error),
        status)
        << error.message();
    EXPECT_EQ(error.id(), id);
    EXPECT_EQ(block, nullptr);
    EXPECT_EQ(fakeCuda().launches, launches);
    GatherArguments good;
    EXPECT_EQ(dsv4_call(program, good.arguments, 3, nullptr, nullptr, nullptr),
              DSV4_OK);
  }

  dsv4_program *program = nullptr;
  GatherArguments given;
  Error error;
  static dsv4_block &nobody;
};
alignas(64) char nothing[64];
dsv4_block &BadInputTest::nobody = reinterpret_cast<dsv4_block &>(nothing);

TEST_F(BadInputTest, WrongDevice) {
  given.tensors[2].device_id = 1;
  refuses(DSV4_ERROR_TYPE_MISMATCH, "argument.device", 2, "out");
  EXPECT_NE(error.message().find("is on device 1, expected device 0"),
            std::string::npos);
}

TEST_F(BadInputTest, CPUTensor) {
  given.tensors[0].device_type = DSV4_DEVICE_CPU;
  refuses(DSV4_ERROR_TYPE_MISMATCH, "argument.device", 0, "cache");
  EXPECT_NE(error.message().find("is in CPU memory"), std::string::npos);
  for (int32_t type : {3, 7, -1, 99}) {
    given.tensors[0].device_type = type;
    refuses(DSV4_ERROR_TYPE_MISMATCH, "argument.device", 0, "cache");
  }
}

TEST_F(BadInputTest, ManagedMemoryPasses) {
  given.tensors[0].device_type = DSV4_DEVICE_CUDA_MANAGED;
  EXPECT_EQ(call(), DSV4_OK) << error.message();
}

TEST_F(BadInputTest, NoSuchDevice) {
  for (dsv4_tensor &tensor : given.tensors)
    tensor.device_id = 7;
  refuses(DSV4_ERROR_INVALID_ARGUMENT, "device.unknown", -1, "");
  EXPECT_EQ(dsv4_program_load(program, -1, nullptr, error),
            DSV4_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(dsv4_program_load(program, 1 << 30, nullptr, error),
            DSV4_ERROR_INVALID_ARGUMENT);
}

TEST_F(BadInputTest, WrongType) {
  given.tensors[1].type = {DSV4_TYPE_INT, 64, 1};
  refuses(DSV4_ERROR_TYPE_MISMATCH, "argument.type", 1, "indices");
  EXPECT_EQ(error.message(), "argument 'indices' has elements of type int64, "
                             "expected int32");
  given.tensors[1].type = {DSV4_TYPE_INT, 32, 2};
  refuses(DSV4_ERROR_TYPE_MISMATCH, "argument.type", 1, "indices");
  given.tensors[1].type = {DSV4_TYPE_INT, 32, 1};
  given.tensors[2].type = {DSV4_TYPE_FLOAT, 16, 1};
  refuses(DSV4_ERROR_TYPE_MISMATCH, "argument.type", 2, "out");
}

TEST_F(BadInputTest, UnsignedIntegersPassForOtherTypes) {
  given.tensors[2].type = {DSV4_TYPE_UINT, 16, 1};
  EXPECT_EQ(call(), DSV4_OK) << error.message();
  given.tensors[2].type = {}; // Not known.
  EXPECT_EQ(call(), DSV4_OK) << error.message();
}

TEST_F(BadInputTest, LastStride) {
  const int64_t strides[3] = {4 * 1024 * 2, 1024 * 2, 4};
  given.tensors[2].strides = strides;
  refuses(DSV4_ERROR_INVALID_ARGUMENT, "argument.stride", 2, "out");
}

TEST_F(BadInputTest, NegativeStride) {
  const int64_t strides[3] = {-4 * 1024, 1024, 2};
  given.tensors[2].strides = strides;
  refuses(DSV4_ERROR_INVALID_ARGUMENT, "argument.stride", 2, "out");
}

TEST_F(BadInputTest, Misaligned) {
  given.tensors[0].data = static_cast<char *>(given.tensors[0].data) + 64;
  refuses(DSV4_ERROR_INVALID_ARGUMENT, "argument.alignment", 0, "cache");
}

TEST_F(BadInputTest, ReadOnlyOutput) {
  given.arguments[0].flags = DSV4_ARGUMENT_READ_ONLY;
  EXPECT_EQ(call(), DSV4_OK) << error.message();
  given.arguments[2].flags = DSV4_ARGUMENT_READ_ONLY;
  refuses(DSV4_ERROR_INVALID_ARGUMENT, "argument.read_only", 2, "out");
}

TEST_F(BadInputTest, Overlap) {
  given.tensors[2].data = static_cast<char *>(given.tensors[0].data) + 4096;
  refuses(DSV4_ERROR_INVALID_ARGUMENT, "argument.overlap", 2, "out");
  EXPECT_EQ(error.message(),
            "argument 'out' shares memory with 'cache', and the program writes "
            "'out': pass memory of its own");
}

TEST_F(BadInputTest, StreamOfAnotherDevice) {
  FakeStream mine, other{1}, dead{-1};
  EXPECT_EQ(call(&mine), DSV4_OK) << error.message();
  EXPECT_EQ(call(&other), DSV4_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(error.id(), "stream.device");
  EXPECT_EQ(call(&dead), DSV4_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(error.id(), "stream.invalid");
  EXPECT_EQ(error->driver_result, 400);
  dsv4_block *block = nullptr;
  ASSERT_EQ(dsv4_bind(program, given.arguments, 3, nullptr, &block, error),
            DSV4_OK);
  for (int i = 0; i < 2; ++i) { // Not the first time only.
    EXPECT_EQ(dsv4_launch(block, &other, error), DSV4_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(error.id(), "stream.device");
  }
  EXPECT_EQ(dsv4_launch(block, &mine, error), DSV4_OK);
  dsv4_block_destroy(block);
}

TEST_F(BadInputTest, LoadWhileCapturing) {
  FakeStream stream{1, 1};
  for (dsv4_tensor &tensor : given.tensors)
    tensor.device_id = 1;
  const int loads = fakeCuda().loads;
  EXPECT_EQ(call(&stream), DSV4_ERROR_NOT_PREPARED);
  EXPECT_EQ(error.id(), "program.capturing");
  dsv4_block *block = nullptr;
  EXPECT_EQ(dsv4_bind(program, given.arguments, 3, &stream, &block, error),
            DSV4_ERROR_NOT_PREPARED);
  EXPECT_EQ(dsv4_program_load(program, 1, &stream, error),
            DSV4_ERROR_NOT_PREPARED);
  EXPECT_EQ(fakeCuda().loads, loads);
  EXPECT_EQ(counters().not_prepared, 3u);
  EXPECT_EQ(events.kinds.back(), DSV4_EVENT_NOT_PREPARED);
  // Prepared, it runs in the capture.
  ASSERT_EQ(dsv4_program_load(program, 1, nullptr, error), DSV4_OK);
  EXPECT_EQ(call(&stream), DSV4_OK) << error.message();
}

TEST_F(BadInputTest, CompileWhileCapturing) {
  FakeStream stream{0, 1};
  setCurrentContext(&fakeCuda().contexts[0]);
  auto options = sized<dsv4_compile_options>();
  options.check_stream = 1;
  options.stream = &stream;
  dsv4_program *made = nullptr;
  EXPECT_EQ(dsv4_compile(runtime, "", 0, &options, &made, error),
            DSV4_ERROR_NOT_PREPARED);
  EXPECT_EQ(error.id(), "compile.capturing");
  // Where no context is current, nothing of this thread captures.
  setCurrentContext(nullptr);
  EXPECT_NE(dsv4_compile(runtime, "", 0, &options, &made, error),
            DSV4_ERROR_NOT_PREPARED);
}

TEST_F(BadInputTest, Frozen) {
  ASSERT_EQ(dsv4_freeze(runtime, nullptr), DSV4_OK);
  EXPECT_EQ(call(), DSV4_OK) << error.message();
  for (dsv4_tensor &tensor : given.tensors)
    tensor.device_id = 1;
  EXPECT_EQ(call(), DSV4_ERROR_NOT_PREPARED);
  EXPECT_EQ(error.id(), "program.frozen");
  dsv4_program *made = nullptr;
  EXPECT_EQ(dsv4_compile(runtime, "", 0, nullptr, &made, error),
            DSV4_ERROR_NOT_PREPARED);
  EXPECT_EQ(error.id(), "compile.frozen");
}

TEST_F(BadInputTest, Counts) {
  refuses(DSV4_ERROR_INVALID_ARGUMENT, "argument.count", -1, "", 2);
  refuses(DSV4_ERROR_INVALID_ARGUMENT, "argument.count", -1, "", 0);
  refuses(DSV4_ERROR_INVALID_ARGUMENT, "argument.count", -1, "", UINT32_MAX);
  EXPECT_EQ(dsv4_call(program, nullptr, 3, nullptr, nullptr, error),
            DSV4_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(error.id(), "argument.count");
}

TEST_F(BadInputTest, KindsFlagsAndRanks) {
  given.arguments[1].kind = 3;
  refuses(DSV4_ERROR_INVALID_ARGUMENT, "argument.kind", 1, "indices");
  given.arguments[1].kind = DSV4_ARGUMENT_SCALAR;
  refuses(DSV4_ERROR_TYPE_MISMATCH, "argument.kind", 1, "indices");
  given.arguments[1].kind = DSV4_ARGUMENT_TENSOR;
  given.arguments[1].flags = 2;
  refuses(DSV4_ERROR_INVALID_ARGUMENT, "struct.newer", 1, "indices");
  given.arguments[1].flags = 0;
  for (int32_t rank : {-1, 0, 1, 3, 9, INT32_MAX}) {
    given.tensors[1].ndim = rank;
    refuses(DSV4_ERROR_INVALID_ARGUMENT, "argument.rank", 1, "indices");
  }
}

TEST_F(BadInputTest, Nulls) {
  given.tensors[1].shape = nullptr;
  refuses(DSV4_ERROR_INVALID_ARGUMENT, "argument.null", 1, "indices");
  given.tensors[1].shape = given.shape[1];
  given.arguments[1].value = nullptr;
  refuses(DSV4_ERROR_INVALID_ARGUMENT, "argument.null", 1, "indices");
  given.arguments[1].value = &given.tensors[1];
  // Null memory may be bound and not launched.
  given.tensors[1].data = nullptr;
  EXPECT_EQ(call(), DSV4_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(error.id(), "argument.null");
  EXPECT_EQ(error.argument(), "indices");
  dsv4_block *block = nullptr;
  ASSERT_EQ(dsv4_bind(program, given.arguments, 3, nullptr, &block, error),
            DSV4_OK);
  EXPECT_EQ(dsv4_launch(block, nullptr, error), DSV4_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(error.id(), "argument.null");
  EXPECT_EQ(error->argument_index, 1);
  dsv4_block_destroy(block);
}

TEST_F(BadInputTest, NullHandlesAndResults) {
  const dsv4_status invalid = DSV4_ERROR_INVALID_ARGUMENT;
  auto info = sized<dsv4_program_info>();
  dsv4_program *made = nullptr;
  dsv4_block *block = nullptr;
  uint64_t bytes = 0;
  int32_t count = 0;
  const void *data = nullptr;
  size_t size = 0;
  EXPECT_EQ(dsv4_runtime_create(nullptr, nullptr, error), invalid);
  EXPECT_EQ(dsv4_freeze(nullptr, error), invalid);
  EXPECT_EQ(dsv4_counters_read(nullptr, nullptr, error), invalid);
  EXPECT_EQ(dsv4_counters_read(runtime, nullptr, error), invalid);
  EXPECT_EQ(dsv4_device_count(nullptr, &count, error), invalid);
  EXPECT_EQ(dsv4_device_count(runtime, nullptr, error), invalid);
  EXPECT_EQ(dsv4_device_query(runtime, 0, nullptr, error), invalid);
  EXPECT_EQ(dsv4_program_open(nullptr, "x", &made, error), invalid);
  EXPECT_EQ(dsv4_program_open(runtime, nullptr, &made, error), invalid);
  EXPECT_EQ(dsv4_program_open(runtime, "x", nullptr, error), invalid);
  EXPECT_EQ(dsv4_program_open_memory(runtime, nullptr, 1, &made, error),
            invalid);
  EXPECT_EQ(dsv4_compile(runtime, nullptr, 0, nullptr, &made, error), invalid);
  EXPECT_EQ(dsv4_compile(nullptr, "", 0, nullptr, &made, error), invalid);
  EXPECT_EQ(dsv4_program_bytes(program, nullptr, &size, error), invalid);
  EXPECT_EQ(dsv4_program_bytes(nullptr, &data, &size, error), invalid);
  EXPECT_EQ(dsv4_program_load(nullptr, 0, nullptr, error), invalid);
  EXPECT_EQ(dsv4_program_query(nullptr, &info, error), invalid);
  EXPECT_EQ(dsv4_program_query(program, nullptr, error), invalid);
  EXPECT_EQ(dsv4_program_binding(program, 0, nullptr, error), invalid);
  EXPECT_EQ(dsv4_program_dim(nullptr, 0, nullptr, error), invalid);
  EXPECT_EQ(dsv4_program_kernel(program, 0, nullptr, error), invalid);
  EXPECT_EQ(dsv4_program_find_binding(nullptr, "x"), -1);
  EXPECT_EQ(dsv4_program_find_binding(program, nullptr), -1);
  EXPECT_EQ(
      dsv4_workspace_bytes(program, given.arguments, 3, 0, nullptr, error),
      invalid);
  EXPECT_EQ(dsv4_reserve_workspace(nullptr, 0, nullptr, 1, error), invalid);
  EXPECT_EQ(dsv4_call(nullptr, given.arguments, 3, nullptr, nullptr, error),
            invalid);
  EXPECT_EQ(dsv4_bind(nullptr, given.arguments, 3, nullptr, &block, error),
            invalid);
  EXPECT_EQ(dsv4_bind(program, given.arguments, 3, nullptr, nullptr, error),
            invalid);
  EXPECT_EQ(dsv4_launch(nullptr, nullptr, error), invalid);
  EXPECT_EQ(error.id(), "null");
  EXPECT_EQ(dsv4_set_data(nullptr, 0, nullptr, error), invalid);
  EXPECT_EQ(dsv4_set_argument(nullptr, 0, nullptr, error), invalid);
  EXPECT_EQ(dsv4_set_dim(nullptr, 0, 0, error), invalid);
  EXPECT_EQ(dsv4_set_workspace(nullptr, nullptr, error), invalid);
  EXPECT_EQ(dsv4_block_check(nullptr, &bytes, error), invalid);
  dsv4_runtime_destroy(nullptr);
  dsv4_program_destroy(nullptr);
  dsv4_block_destroy(nullptr);
  dsv4_error_destroy(nullptr);
}

TEST_F(BadInputTest, Extents) {
  given.shape[2][2] = 511;
  refuses(DSV4_ERROR_INVALID_ARGUMENT, "argument.extent", 2, "out");
  given.shape[2][2] = 512;
  given.shape[2][0] = 2;
  refuses(DSV4_ERROR_INVALID_ARGUMENT, "argument.extent", 2, "out");
  given.shape[2][0] = 3;
  given.shape[1][0] = -1;
  refuses(DSV4_ERROR_INVALID_ARGUMENT, "argument.extent", 1, "indices");
  given.shape[1][0] = INT64_MAX;
  refuses(DSV4_ERROR_INVALID_ARGUMENT, "argument.extent", 1, "indices");
}

TEST_F(BadInputTest, ExtentsThatOverflow) {
  // tokens * topk fits no grid, though each is in its range.
  given.shape[1][0] = given.shape[2][0] = INT32_MAX;
  given.shape[1][1] = given.shape[2][1] = INT32_MAX;
  EXPECT_EQ(call(), DSV4_ERROR_INVALID_ARGUMENT);
  EXPECT_TRUE(error.id() == "launch.plan" || error.id() == "argument.overflow")
      << error.message();
}

TEST_F(BadInputTest, DLPackStridesThatOverflow) {
  const int64_t strides[3] = {INT64_MAX / 2 + 1, 512, 1};
  dsv4_dltensor tensor = {
      given.tensors[2].data,     DSV4_DEVICE_CUDA, 0,       3,
      {DSV4_TYPE_BFLOAT, 16, 1}, given.shape[2],   strides, 0};
  given.arguments[2].kind = DSV4_ARGUMENT_DLPACK;
  given.arguments[2].value = &tensor;
  refuses(DSV4_ERROR_INVALID_ARGUMENT, "argument.overflow", 2, "out");
}

TEST_F(BadInputTest, NewerAndOlderStructs) {
  struct Newer {
    dsv4_tensor tensor;
    uint64_t field;
  } newer = {given.tensors[1], 0};
  newer.tensor.size = sizeof(newer);
  given.arguments[1].value = &newer;
  EXPECT_EQ(call(), DSV4_OK) << error.message(); // What is new is zero.
  newer.field = 1;
  refuses(DSV4_ERROR_INVALID_ARGUMENT, "struct.newer", 1, "indices");
  newer.field = 0;
  for (uint32_t size : {0u, 8u, 47u, 49u, 4097u, 4104u, UINT32_MAX}) {
    newer.tensor.size = size;
    refuses(DSV4_ERROR_INVALID_ARGUMENT, "struct.size", 1, "indices");
  }
}

/// They are for later versions, which may be asked for by mistake.
TEST_F(BadInputTest, ReservedBytes) {
  auto options = sized<dsv4_runtime_options>();
  options.reserved = 1;
  dsv4_runtime *made = nullptr;
  EXPECT_EQ(dsv4_runtime_create(&options, &made, error),
            DSV4_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(error.id(), "struct.newer");
  EXPECT_EQ(made, nullptr);
  auto compile = sized<dsv4_compile_options>();
  compile.reserved[2] = 1;
  dsv4_program *compiled = nullptr;
  EXPECT_EQ(dsv4_compile(runtime, "", 0, &compile, &compiled, error),
            DSV4_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(error.id(), "struct.newer");
  auto workspace = sized<dsv4_workspace>();
  workspace.reserved = 1;
  EXPECT_EQ(dsv4_call(program, given.arguments, 3, &workspace, nullptr, error),
            DSV4_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(error.id(), "struct.newer");
  given.tensors[1].reserved = 1;
  refuses(DSV4_ERROR_INVALID_ARGUMENT, "struct.newer", 1, "indices");
}

TEST_F(BadInputTest, ArraysOfNewerArguments) {
  struct Newer {
    dsv4_argument argument;
    uint64_t field;
  } newer[3];
  for (int i = 0; i < 3; ++i) {
    newer[i] = {given.arguments[i], 0};
    newer[i].argument.size = sizeof(Newer);
  }
  auto callNewer = [&] {
    return dsv4_call(program, &newer[0].argument, 3, nullptr, nullptr, error);
  };
  EXPECT_EQ(callNewer(), DSV4_OK) << error.message();
  newer[2].field = 5;
  EXPECT_EQ(callNewer(), DSV4_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(error.id(), "struct.newer");
  EXPECT_EQ(error->argument_index, 2);
  newer[2].field = 0;
  newer[2].argument.size = sizeof(dsv4_argument);
  EXPECT_EQ(callNewer(), DSV4_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(error.id(), "struct.size");
}

TEST_F(BadInputTest, ResultStructs) {
  struct {
    dsv4_program_info info;
    uint64_t field = 7;
  } newer;
  newer.info.size = sizeof(newer);
  EXPECT_EQ(dsv4_program_query(program, &newer.info, error), DSV4_OK);
  EXPECT_EQ(newer.field, 0u);
  EXPECT_EQ(newer.info.size, sizeof(newer));
  newer.info.size = 4;
  EXPECT_EQ(dsv4_program_query(program, &newer.info, error),
            DSV4_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(error.id(), "struct.size");
}

TEST_F(BadInputTest, Indices) {
  auto binding = sized<dsv4_binding>();
  auto dim = sized<dsv4_dim>();
  auto kernel = sized<dsv4_kernel>();
  EXPECT_EQ(dsv4_program_binding(program, 3, &binding, error),
            DSV4_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(error.id(), "index");
  EXPECT_EQ(dsv4_program_dim(program, 3, &dim, error),
            DSV4_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(dsv4_program_kernel(program, UINT32_MAX, &kernel, error),
            DSV4_ERROR_INVALID_ARGUMENT);
}

TEST_F(BadInputTest, DriverErrors) {
  fakeCuda().launchResult = 719;
  EXPECT_EQ(call(), DSV4_ERROR_LAUNCH_FAILED);
  EXPECT_EQ(error.id(), "launch.failed");
  EXPECT_EQ(error->driver_result, 719);
  fakeCuda().launchResult = 0;
  EXPECT_EQ(call(), DSV4_OK);
  fakeCuda().loadResult = 209;
  EXPECT_EQ(dsv4_program_load(program, 1, nullptr, error),
            DSV4_ERROR_LOAD_FAILED);
  EXPECT_EQ(error.id(), "load.failed");
  EXPECT_EQ(error->driver_result, 209);
  fakeCuda().loadResult = 0;
  EXPECT_EQ(dsv4_program_load(program, 1, nullptr, error), DSV4_OK);
  EXPECT_EQ(counters().load_failures, 1u);
}

} // namespace
