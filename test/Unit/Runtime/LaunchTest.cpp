//===- LaunchTest.cpp - The launch path over stand-ins --------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FakeCuda.h"
#include "LaunchFixture.h"

#include <cstdlib>
#include <new>

using namespace dsv4::rt;
using namespace dsv4::rt::test;

thread_local size_t dsv4::rt::test::allocations = 0;

[[gnu::noinline]] void *operator new(size_t bytes) {
  ++allocations;
  if (void *memory = std::malloc(bytes ? bytes : 1))
    return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void *memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void *memory, size_t) noexcept {
  std::free(memory);
}

namespace {

class LaunchTest : public PlanLaunchTest {
protected:
  LaunchTest() { setShapes(3, 512, 7); }

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

TEST_F(LaunchTest, PassesWhatTheKernelWants) {
  load();
  ASSERT_TRUE(launch().ok());
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(seen[0].symbol, "gather_k0");
  EXPECT_TRUE(seen[0].grid == Dim3(384)); // 3 x 512 rows, four per block.
  EXPECT_TRUE(seen[0].block == Dim3(128));
  EXPECT_EQ(seen[0].sharedBytes, 1024u);
  EXPECT_EQ(seen[0].buffers,
            (std::vector<void *>{memory, memory + 4, memory + 16}));
  EXPECT_EQ(seen[0].numbers, (std::vector<int64_t>{3, 512, 7}));
}

TEST_F(LaunchTest, AllocatesNothing) {
  load();
  seen.reserve(1);
  size_t before = allocations;
  Status status = launch();
  EXPECT_EQ(allocations, before);
  EXPECT_TRUE(status.ok());
}

TEST_F(LaunchTest, LastBlockMayBePartial) {
  load();
  setShapes(1, 5, 7);
  ASSERT_TRUE(launch().ok());
  EXPECT_EQ(seen[0].grid.x, 2u);
}

TEST_F(LaunchTest, EmptyGridsLaunchNothing) {
  load();
  setShapes(0, 512, 7);
  arguments[1].data = arguments[2].data = nullptr; // Empty: may be null.
  EXPECT_TRUE(launch().ok());
  setShapes(int64_t(INT32_MAX), 0, 7); // 0 x anything is 0.
  EXPECT_TRUE(launch().ok());
  EXPECT_TRUE(seen.empty());
}

TEST_F(LaunchTest, ManyRows) {
  load();
  setShapes(70000, 1, 7); // More than a grid's y axis takes.
  ASSERT_TRUE(launch().ok());
  EXPECT_EQ(seen[0].grid.x, 17500u);
  setShapes(INT32_MAX - 3, 1, 7);
  ASSERT_TRUE(launch().ok());
  EXPECT_EQ(seen[1].grid.x, 536870911u);
}

TEST_F(LaunchTest, DimsBeyondInt32) {
  load();
  setShapes(3, 512, int64_t(5) << 31);
  ASSERT_TRUE(launch().ok());
  EXPECT_EQ(seen[0].numbers[2], int64_t(5) << 31);
}

static constexpr const char *tooManyRows =
    "kernel 'gather_k0': needs tokens * topk <= 2147483644, but tokens * topk "
    "is 2147483648: split the launch";

TEST_F(LaunchTest, TooManyRows) {
  setShapes(4194304, 512, 7);
  EXPECT_EQ(error(), tooManyRows);
}

TEST_F(LaunchTest, GridsBeyondInt64) {
  CompiledProgram program = gatherProgram();
  const Expression pages = Expression::extent(2);
  program.info.kernels[0].plan.grid[0] = pages * pages * Expression(2);
  load(program);
  setShapes(3, 512, int64_t(1) << 40);
  EXPECT_EQ(error(), "kernel 'gather_k0': grid x = pages * pages * 2 is 2^63 "
                     "or more: split the launch");
}

TEST_F(LaunchTest, Int32Parameters) {
  CompiledProgram program = gatherProgram();
  program.info.kernels[0].plan.parameters[3] =
      Parameter::int32(Expression::extent(2));
  load(program);
  setShapes(3, 512, INT32_MAX);
  EXPECT_TRUE(launch().ok());
  seen.clear();
  setShapes(3, 512, int64_t(1) << 31);
  EXPECT_EQ(error(), "kernel 'gather_k0': a parameter = pages is 2147483648, "
                     "expected at most 2147483647: split the launch");
}

// What a kernel reads may begin within an argument.
TEST_F(LaunchTest, Slices) {
  CompiledProgram program = gatherProgram();
  Parameter &indices = program.info.kernels[0].plan.parameters[1];
  const Expression tokens = Expression::extent(0);
  indices.offset = tokens * Expression(4) + Expression(8);
  indices.within.comparisons = {
      {tokens + Expression(2), Comparison::Op::Le, Expression(5)}};
  load(program);
  ASSERT_TRUE(launch().ok());
  EXPECT_EQ(seen[0].buffers[1], memory + 4 + 20);
  seen.clear();
  setShapes(4, 512, 7);
  EXPECT_EQ(error(), "argument 'indices': a slice of it needs tokens + 2 <= 5, "
                     "but ends at 6 of 5: pass a larger argument");
}

TEST_F(LaunchTest, MisalignedSlices) {
  CompiledProgram program = gatherProgram();
  program.info.kernels[0].plan.parameters[1].offset = 6;
  load(program);
  EXPECT_EQ(error(), "argument 'indices': is at an address aligned to 2 bytes "
                     "at byte 6, where a slice of it begins, expected 4: pass "
                     "memory that is aligned so");
}

TEST_F(LaunchTest, SlicesBeyondInt64) {
  CompiledProgram program = gatherProgram();
  const Expression pages = Expression::extent(2);
  program.info.kernels[0].plan.parameters[1].offset = pages * pages * pages;
  load(program);
  setShapes(3, 512, int64_t(1) << 31);
  EXPECT_EQ(error(), "argument 'indices': the end of a slice of it is 2^63 or "
                     "more: pass smaller extents");
}

TEST_F(LaunchTest, WrongCount) {
  load();
  EXPECT_EQ(loaded->launch(nullptr, arguments, 2).message(),
            "program 'gather' takes 3 arguments, got 2");
  EXPECT_EQ(loaded->launch(nullptr, arguments, 4).message(),
            "program 'gather' takes 3 arguments, got 4");
  EXPECT_EQ(loaded->launch(nullptr, nullptr, 3).message(),
            "program 'gather' takes 3 arguments, got 0");
}

TEST_F(LaunchTest, WrongConstant) {
  cacheShape[2] = 584;
  EXPECT_EQ(error(), "argument 'cache': extent 2 is 584, expected 656");
}

TEST_F(LaunchTest, DimsThatDisagree) {
  outShape[1] = 511;
  EXPECT_EQ(error(), "argument 'out': extent 1 is 511, expected 512 (dim "
                     "'topk', from extent 1 of 'indices')");
}

TEST_F(LaunchTest, DimBeyondItsMaximum) {
  setShapes(int64_t(1) << 31, 1, 7);
  EXPECT_EQ(error(), "argument 'indices': extent 0 (dim 'tokens') is "
                     "2147483648, compiled for 0 to 2147483647");
}

TEST_F(LaunchTest, DimThatIsNoMultiple) {
  CompiledProgram program = gatherProgram();
  program.info.dims[1].multiple = 8;
  load(program);
  setShapes(3, 512, 7);
  EXPECT_TRUE(launch().ok());
  seen.clear();
  setShapes(3, 516, 7);
  EXPECT_EQ(error(), "argument 'indices': extent 1 (dim 'topk') is 516, "
                     "compiled for 0 to 2147483647, multiples of 8");
}

TEST_F(LaunchTest, NegativeExtent) {
  setShapes(-1, 512, 7);
  EXPECT_EQ(error(), "argument 'indices': extent 0 (dim 'tokens') is -1, "
                     "compiled for 0 to 2147483647");
}

TEST_F(LaunchTest, NullData) {
  arguments[1].data = nullptr;
  EXPECT_EQ(error(), "argument 'indices': is null but not empty");
}

TEST_F(LaunchTest, NullShape) {
  arguments[2].shape = nullptr;
  EXPECT_EQ(error(), "argument 'out': has no shape");
}

TEST_F(LaunchTest, Misaligned) {
  arguments[0].data = memory + 64;
  EXPECT_EQ(error(), "argument 'cache': is at an address aligned to 64 bytes, "
                     "expected 128: pass memory that is aligned so, or compile "
                     "with 'dsv4.strides' of this argument, and a smaller "
                     "'align' in it");
}

TEST_F(LaunchTest, KernelsRunInOrderAfterAllChecks) {
  CompiledProgram program = gatherProgram();
  program.images = {"a", "b", "c"};
  program.info.kernels.resize(3, program.info.kernels[0]);
  program.info.kernels[1].symbol = "gather_k1";
  program.info.kernels[1].plan.grid[0] = 0;
  program.info.kernels[2].symbol = "gather_k2";
  program.info.kernels[2].plan.grid[0] = 1;
  load(program);
  ASSERT_TRUE(launch().ok());
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_EQ(seen[0].symbol, "gather_k0");
  EXPECT_EQ(seen[1].symbol, "gather_k2");
  EXPECT_EQ(seen[1].grid.x, 1u);

  seen.clear();
  program.info.kernels[2].plan.grid[0] =
      Expression::extent(2) * Expression::extent(2);
  load(program);
  cacheShape[0] = 1 << 20;
  EXPECT_EQ(error(), "kernel 'gather_k2': grid x = pages * pages is "
                     "1099511627776, expected at most 2147483647: split the "
                     "launch");
}

/// Two kernels that need a workspace between two that do not: one of 1,040
/// bytes, and 64 bytes for each of tokens x topk rows by two blocks.
static CompiledProgram workspaceProgram(const std::string &target = "host") {
  CompiledProgram program = gatherProgram(target);
  program.images.resize(4, program.images[0]);
  program.info.kernels.resize(4, program.info.kernels[0]);
  const Expression rows = Expression::extent(0) * Expression::extent(1);
  for (int i : {1, 2})
    program.info.kernels[i].plan.parameters.push_back(Parameter::workspace());
  program.info.kernels[1].plan.grid[0] = 1;
  program.info.kernels[1].plan.workspaceBytes = 1040;
  program.info.kernels[2].plan.grid[0] = rows * Expression(2);
  program.info.kernels[2].plan.workspaceBytes = rows * Expression(64);
  return program;
}

TEST_F(LaunchTest, WorkspaceIsThatOfTheLargestKernel) {
  load(workspaceProgram());
  auto bytes = [&](int64_t tokens, int64_t topk) {
    setShapes(tokens, topk, 7);
    Result<uint64_t> needed = loaded->workspaceBytes(arguments, 3);
    EXPECT_TRUE(needed.ok()) << needed.status().message();
    return *needed;
  };
  EXPECT_EQ(bytes(0, 512), 1040u);
  EXPECT_EQ(bytes(4, 4), 1040u);
  EXPECT_EQ(bytes(3, 6), 1152u);
  // More than 32 bits count.
  EXPECT_EQ(bytes(1 << 15, 1 << 14), uint64_t(1) << 35);
  // Nothing is read, so nothing need be there; shapes are checked.
  for (Argument &argument : arguments)
    argument.data = nullptr;
  EXPECT_EQ(bytes(3, 6), 1152u);
  outShape[1] = 511;
  EXPECT_EQ(loaded->workspaceBytes(arguments, 3).status().message(),
            "argument 'out': extent 1 is 511, expected 6 (dim 'topk', from "
            "extent 1 of 'indices')");
  setShapes(4194304, 512, 7);
  EXPECT_EQ(loaded->workspaceBytes(arguments, 3).status().message(),
            tooManyRows);
  load();
  setShapes(3, 512, 7);
  EXPECT_EQ(*loaded->workspaceBytes(arguments, 3), 0u);
}

TEST_F(LaunchTest, WorkspaceIsPassedOn) {
  load(workspaceProgram());
  setShapes(3, 6, 7);
  alignas(16) char workspace[1152];
  seen.reserve(4);
  size_t before = allocations;
  Status status =
      loaded->launch(nullptr, arguments, 3, {workspace, sizeof(workspace)});
  EXPECT_EQ(allocations, before);
  ASSERT_TRUE(status.ok()) << status.message();
  ASSERT_EQ(seen.size(), 4u);
  for (int i : {0, 3})
    EXPECT_EQ(seen[i].buffers.size(), 3u);
  for (int i : {1, 2})
    EXPECT_EQ(seen[i].buffers.back(), workspace);
  EXPECT_EQ(seen[1].grid.x, 1u);
  EXPECT_EQ(seen[2].grid.x, 36u);
}

TEST_F(LaunchTest, WorkspaceThatIsMissingOrTooSmall) {
  load(workspaceProgram());
  setShapes(3, 6, 7);
  alignas(16) char workspace[1168];
  auto message = [&](Workspace given) {
    Status status = loaded->launch(nullptr, arguments, 3, given);
    EXPECT_EQ(status.code(), Code::InvalidArgument);
    EXPECT_TRUE(seen.empty());
    return status.message();
  };
  const std::string needs =
      "program 'gather' needs a workspace of 1152 bytes for these shapes, ";
  const std::string none =
      needs + "got none: pass memory that was once set to zero";
  EXPECT_EQ(message({}), none);
  EXPECT_EQ(message({nullptr, 1152}), none);
  EXPECT_EQ(error(), none);
  EXPECT_EQ(message({workspace, 1151}), needs + "got 1151");
  EXPECT_EQ(message({workspace, 0}), needs + "got 0");
  EXPECT_EQ(message({workspace + 8, 1152}), needs + "aligned to 16");
}

TEST_F(LaunchTest, NoWorkspaceForNoBlocks) {
  CompiledProgram program = workspaceProgram();
  program.info.kernels[1].plan.grid[0] = Expression::extent(0);
  load(program);
  setShapes(0, 512, 7);
  EXPECT_TRUE(launch().ok());
  EXPECT_TRUE(seen.empty());
}

TEST_F(LaunchTest, RowsOfSeveralBlocks) {
  CompiledProgram program = workspaceProgram();
  Expression &grid = program.info.kernels[2].plan.grid[0];
  grid = grid * Expression(128);
  load(program);
  setShapes(8388607, 1, 7);
  EXPECT_EQ(*loaded->workspaceBytes(arguments, 3), uint64_t(8388607) * 64);
  setShapes(8388608, 1, 7);
  EXPECT_EQ(error(), "kernel 'gather_k0': grid x = tokens * topk * 2 * 128 is "
                     "2147483648, expected at most 2147483647: split the "
                     "launch");
}

TEST_F(LaunchTest, WithoutArguments) {
  CompiledProgram program = gatherProgram();
  program.info.bindings.clear();
  program.info.dims.clear();
  LaunchPlan &plan = program.info.kernels[0].plan;
  plan.parameters.clear();
  plan.requirements = Condition();
  plan.grid[0] = 2;
  load(program);
  EXPECT_TRUE(loaded->launch(nullptr, nullptr, 0).ok());
  EXPECT_EQ(seen[0].grid.x, 2u);
}

TEST_F(LaunchTest, ProgramsThatDoNotLoad) {
  HostModuleFactory factory =
      [](const std::string &,
         const KernelInfo &) -> Result<std::unique_ptr<HostModule>> {
    return Status(Code::LoadFailed, "no such image");
  };
  auto message = [&](const CompiledProgram &program, const Backend &backend) {
    auto result = LoadedProgram::load(program, backend);
    EXPECT_FALSE(result.ok());
    return result.status().message();
  };
  CompiledProgram program = gatherProgram();
  EXPECT_EQ(message(program, Backend::onHost(factory)), "no such image");
  EXPECT_EQ(message(program, Backend()),
            "program 'gather' is for target 'host', which this backend does "
            "not run: compile it for the other target");
  EXPECT_EQ(message(gatherProgram("cuda"), Backend::onHost(factory)),
            "program 'gather' is for target 'cuda', which this backend does "
            "not run: compile it for the other target");
  program.images.clear();
  EXPECT_EQ(message(program, Backend::onHost(factory)),
            "program 'gather' has 0 images for 1 kernels: compile it anew");
  program = gatherProgram();
  program.info.kernels[0].plan.parameters[0].binding = 3;
  EXPECT_EQ(message(program, Backend::onHost(factory)),
            "program: kernel 'gather_k0': a parameter refers to binding 3, "
            "which does not exist");
  program = gatherProgram();
  program.info.kernels[0].plan.parameters[1] = Parameter::tensorMap(1);
  EXPECT_EQ(message(program, Backend::onHost(factory)),
            "kernel 'gather_k0': parameter 1 is a tensor map, which this "
            "runtime cannot pass: compile the program for another schedule");
  EXPECT_EQ(message(gatherProgram(),
                    Backend::onHost([](const std::string &, const KernelInfo &)
                                        -> Result<std::unique_ptr<HostModule>> {
                      return std::unique_ptr<HostModule>();
                    })),
            "kernel 'gather_k0': the host loader gave no module");
}

class CudaLaunchTest : public LaunchTest {
protected:
  CudaLaunchTest() {
    fake = &state;
    state.parameterSizes = {8, 8, 8, 4, 4, 8};
  }
  void SetUp() override {
    Result<std::unique_ptr<Driver>> result = Driver::create(fakeTable());
    ASSERT_TRUE(result.ok()) << result.status().message();
    driver = result.take();
  }
  Status loadCuda(const CompiledProgram &program = gatherProgram("cuda"),
                  int device = 0) {
    auto result =
        LoadedProgram::load(program, Backend::cuda(driver.get(), device));
    if (!result)
      return result.status();
    loaded = result.take();
    return Status();
  }

  FakeCuda state;
  std::unique_ptr<Driver> driver;
};

TEST_F(CudaLaunchTest, LoadsOnceAndLaunches) {
  ASSERT_TRUE(loadCuda().ok());
  ASSERT_TRUE(loadCuda().ok());
  EXPECT_EQ(state.retained, 1);
  EXPECT_EQ(state.kernels[0], "gather_k0");
  EXPECT_EQ(state.maxShared, 1024);
  Stream stream = &state;
  state.values.reserve(8); // What the fake itself needs.
  size_t before = allocations;
  Status status = loaded->launch(stream, arguments, 3);
  EXPECT_EQ(allocations, before);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(state.launches, 1);
  EXPECT_EQ(state.config.gridDimX, 384u);
  EXPECT_EQ(state.config.gridDimY * state.config.gridDimZ, 1u);
  EXPECT_EQ(state.config.blockDimX, 128u);
  EXPECT_EQ(state.config.blockDimY * state.config.blockDimZ, 1u);
  EXPECT_EQ(state.config.sharedMemBytes, 1024u);
  EXPECT_EQ(state.config.stream, reinterpret_cast<cuda::CUstream>(stream));
  EXPECT_EQ(state.config.numAttributes, 1u);
  EXPECT_EQ(state.attribute.id, 6);
  EXPECT_EQ(state.attribute.value.programmaticStreamSerializationAllowed, 1);
  EXPECT_EQ(state.values[1], reinterpret_cast<uint64_t>(memory + 4));
  EXPECT_EQ(state.values[3], 3u);
  EXPECT_EQ(state.values[5], 7u);
}

TEST_F(CudaLaunchTest, Workspace) {
  CompiledProgram program = gatherProgram("cuda");
  LaunchPlan &plan = program.info.kernels[0].plan;
  plan.parameters.push_back(Parameter::workspace());
  plan.workspaceBytes =
      Expression::extent(0) * Expression::extent(1) * Expression(16);
  state.parameterSizes.push_back(8);
  ASSERT_TRUE(loadCuda(program).ok());
  EXPECT_EQ(launch().code(), Code::InvalidArgument);
  EXPECT_EQ(state.launches, 0);
  Status status =
      loaded->launch(nullptr, arguments, 3, {memory + 32, 3 * 512 * 16});
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(state.values[6], reinterpret_cast<uint64_t>(memory + 32));
}

TEST_F(CudaLaunchTest, NoAttributeUnlessAsked) {
  CompiledProgram program = gatherProgram("cuda");
  program.info.kernels[0].plan.programmaticLaunch = false;
  ASSERT_TRUE(loadCuda(program).ok());
  ASSERT_TRUE(launch().ok());
  EXPECT_EQ(state.config.numAttributes, 0u);
}

/// Of the scores program, whose arguments are of their own.
TEST_F(CudaLaunchTest, GridsOfSeveralAxes) {
  state.parameterSizes = {8, 8, 4, 8, 8, 4, 8};
  CompiledProgram program = scoresProgram("cuda");
  program.info.kernels.pop_back();
  program.images.pop_back();
  ASSERT_TRUE(loadCuda(program).ok());
  EXPECT_EQ(state.maxShared, 4096);
  ScoresArguments scores(100, 1000);
  Status status = loaded->launch(nullptr, scores.values, 5);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(state.config.gridDimX, 16u);
  EXPECT_EQ(state.config.gridDimY, 4u);
  EXPECT_EQ(state.config.gridDimZ, 1u);
  EXPECT_EQ(state.config.blockDimX, 32u);
  EXPECT_EQ(state.config.blockDimY, 4u);
  EXPECT_EQ(state.values[2], 0x3F000000u); // 0.5 as it is.
  EXPECT_EQ(state.values[3], uint64_t(-(int64_t(5) << 40)));
  EXPECT_EQ(state.values[5], 100u);
  EXPECT_EQ(state.values[6], 100000u);
}

TEST_F(CudaLaunchTest, PersistentGridsKnowTheDevice) {
  state.parameterSizes = {8, 8, 4, 8, 8, 4, 8, 8};
  state.multiprocessors = 132;
  CompiledProgram program = scoresProgram("cuda");
  program.info.kernels.erase(program.info.kernels.begin());
  program.images.pop_back();
  state.staticShared = 448;
  ASSERT_TRUE(loadCuda(program).ok());
  // What depends on extents may be as much as there is.
  EXPECT_EQ(state.maxShared, 232000);
  ScoresArguments scores(8192, 8192);
  alignas(16) char workspace[4096];
  Status status =
      loaded->launch(nullptr, scores.values, 5, {workspace, sizeof(workspace)});
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(state.config.gridDimX, 528u);
  EXPECT_EQ(state.config.sharedMemBytes, 65536u);
  // More than is left beside 200,000 bytes of its own.
  state.staticShared = 200000;
  ASSERT_TRUE(loadCuda(program).ok());
  state.launches = 0;
  EXPECT_EQ(loaded->launch(nullptr, scores.values, 5).message(),
            "kernel 'persistent' needs 65536 bytes of dynamic shared memory "
            "for these shapes, expected at most 32448");
  EXPECT_EQ(state.launches, 0);
}

TEST_F(CudaLaunchTest, LoadErrors) {
  EXPECT_EQ(loadCuda(gatherProgram("cuda"), 1).message(),
            "device 1 does not exist: the driver sees 1 (0 to 0)");
  EXPECT_EQ(loadCuda(gatherProgram("host")).code(), Code::InvalidArgument);
  state.loadResult = cuda::ErrorNoBinaryForGPU;
  EXPECT_EQ(loadCuda().message(),
            "kernel 'gather_k0': its image, for sm_90a, does not run on device "
            "0 (Fake H200): compile it for sm_90a");
  state.loadResult = cuda::ErrorInvalidImage;
  EXPECT_EQ(loadCuda().message(), "kernel 'gather_k0': the driver cannot read "
                                  "its image: compile it anew");
  state.loadResult = 2;
  EXPECT_EQ(loadCuda().message(),
            "kernel 'gather_k0': cuLibraryLoadData failed: "
            "CUDA_ERROR_SOMETHING (something is wrong)");
  state.loadResult = 0;
  CompiledProgram program = gatherProgram("cuda");
  program.info.kernels[0].plan.sharedBytes = 300000;
  EXPECT_EQ(loadCuda(program).message(),
            "kernel 'gather_k0': needs 300000 + 0 bytes of shared memory, the "
            "device has 232448: choose a smaller schedule");
  // What the image has of its own counts, too.
  program.info.kernels[0].plan.sharedBytes = 232000;
  state.staticShared = 448;
  EXPECT_EQ(loadCuda(program).message(), "");
  state.staticShared = 449;
  EXPECT_EQ(loadCuda(program).message(),
            "kernel 'gather_k0': needs 232000 + 449 bytes of shared memory, "
            "the device has 232448: choose a smaller schedule");
  state.parameterSizes[4] = 8;
  EXPECT_EQ(loadCuda().message(),
            "kernel 'gather_k0': parameter 4 of the image is not the "
            "program's: compile it anew");
}

TEST_F(CudaLaunchTest, LaunchErrors) {
  ASSERT_TRUE(loadCuda().ok());
  state.launchResult = 700;
  Status status = launch();
  EXPECT_EQ(status.code(), Code::LaunchFailed);
  EXPECT_EQ(status.message(), "kernel 'gather_k0': cuLaunchKernelEx failed: "
                              "CUDA_ERROR_SOMETHING (something is wrong)");
}

} // namespace
