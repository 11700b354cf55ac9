//===- ResourcesTest.cpp - What parts of schedules take of a block --------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The parts work out the shared memory that the device library takes. The
// host's compiler says what that is.
//
//===----------------------------------------------------------------------===//

#include "dsv4/Dialect/DSV4.h"
#include "dsv4/Schedule/ScheduleKind.h"
#include "dsv4/Schedule/Select.h"
#include "dsv4/Target/CUDA/Prelude.h"
#include "dsv4/Target/Host/HostCompiler.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"

using namespace dsv4;

namespace {

class ResourcesTest : public testing::Test {
protected:
  ResourcesTest() {
    mlir::DialectRegistry registry;
    registry.insert<DSV4Dialect, mlir::func::FuncDialect>();
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  /// Compiles what `checks` came to after the device library.
  static void compile(const std::string &checks) {
    auto image = rt::compileHost(rt::hostPrelude() + checks);
    EXPECT_TRUE(image.ok()) << image.status().message();
  }

  mlir::MLIRContext context;
};

} // namespace

TEST_F(ResourcesTest, SharedMemoryOfArchitectures) {
  EXPECT_EQ(limits::getMaxSharedBytes(80), 166912);
  EXPECT_EQ(limits::getMaxSharedBytes(86), 101376);
  EXPECT_EQ(limits::getMaxSharedBytes(89), 101376);
  EXPECT_EQ(limits::getMaxSharedBytes(90), 232448);
  EXPECT_EQ(limits::getMaxSharedBytes(100), 232448);
  EXPECT_EQ(limits::getMaxSharedBytes(120), 101376);
  EXPECT_EQ(limits::getMaxSharedBytes(0), limits::kMaxSharedBytes);
}

TEST_F(ResourcesTest, Selections) {
  std::string checks;
  for (const char *exchanged : {"TopkClusterShared", "TopkGridShared"})
    checks += llvm::formatv("static_assert(sizeof(dsv4::{0}) <= {1}, \"\");\n",
                            exchanged, limits::kSelectExchangeBytes);
  int count = 0;
  for (auto algorithm : {SelectAlgorithm::Block, SelectAlgorithm::Stream})
    for (int64_t threads : {64, 128, 512, 1024})
      for (int64_t k : {1, 7, 64, 512, 513, 2048, 2049, 4096}) {
        auto select = SelectAttr::get(
            &context, algorithm, /*vector=*/4, /*vectors=*/1,
            /*blocks=*/1, LoadPolicy::Default, StorePolicy::Default);
        std::string name = "Config" + std::to_string(count++);
        bool isHeld = algorithm == SelectAlgorithm::Block;
        checks += llvm::formatv(
            "struct {0} : dsv4::TopkDefaults {{ static constexpr int k = {1}, "
            "threads = {2}, vector = 4, vectors = 1; static constexpr auto "
            "read = dsv4::TopkRead::{3}; };\n",
            name, k, threads, isHeld ? "whole" : "sample");
        checks += llvm::formatv(
            "static_assert(sizeof(dsv4::TopkShared<dsv4::TopkShape<{0}>>) == "
            "{1}, \"\");\n",
            name, getSelectBytes(select, {threads, /*cluster=*/1}, k));
        // Beside it, what blocks of a row tell each other.
        int64_t shared = getSelectBytes(select, {threads, /*cluster=*/2}, k);
        int64_t exchange =
            shared - getSelectBytes(select, {threads, /*cluster=*/1}, k);
        if (isHeld)
          checks += llvm::formatv(
              "static_assert(sizeof(dsv4::TopkSpreadShared) == {0}, \"\");\n",
              exchange);
        else
          EXPECT_EQ(exchange, limits::kSelectExchangeBytes);
        EXPECT_LE(shared, limits::kStaticSharedBytes);
      }
  compile(checks);
}

TEST_F(ResourcesTest, SelectionsOfAWarpTakeNone) {
  auto warp = SelectAttr::get(&context, SelectAlgorithm::Warp, 4, 1, 1,
                              LoadPolicy::Default, StorePolicy::Default);
  EXPECT_EQ(getSelectBytes(warp, {128}, 8), 0);
}

TEST_F(ResourcesTest, Windows) {
  struct Case {
    int64_t members, channels, threads, cluster, elements, rows;
  };
  // One block of members, several by one group of threads, and by several; as
  // many groups as there are threads for, and as there is memory for.
  const Case cases[] = {{4, 512, 128, 1, 4, 4},     {16, 512, 512, 1, 1, 1},
                        {128, 512, 512, 2, 2, 1},   {128, 512, 1024, 1, 1, 2},
                        {128, 512, 1024, 2, 2, 16}, {128, 2048, 1024, 1, 8, 1},
                        {100, 384, 1024, 1, 2, 3},  {9, 512, 1024, 1, 4, 1}};
  std::string checks;
  int count = 0;
  for (const Case &each : cases) {
    std::string text = llvm::formatv(
        R"mlir(
func.func @f(%v: tensor<?x{0}xf32>, %p: tensor<?x4xi32>, %o: tensor<?x{0}xf32>) {{
  %0 = dsv4.kernel @k(%v, %p, %o) schedule <threads = {1}, cluster = {2},
      parts = [#dsv4.rows<lanes = 32, vector = 1>, #dsv4.window<elements = {3}, rows = {4}>]>
      : (tensor<?x{0}xf32>, tensor<?x4xi32>, tensor<?x{0}xf32>) -> tensor<?x{0}xf32> {{
  ^bb0(%a: tensor<?x{0}xf32>, %b: tensor<?x4xi32>, %c: tensor<?x{0}xf32>):
    %1 = dsv4.compress %a, %a window {5} plan(%b : tensor<?x4xi32>)
        outs(%c : tensor<?x{0}xf32>) : tensor<?x{0}xf32>, tensor<?x{0}xf32>
    dsv4.yield %1 : tensor<?x{0}xf32>
  }
  return
}
)mlir",
        each.channels, each.threads, each.cluster, each.elements, each.rows,
        each.members);
    auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    ASSERT_TRUE(module) << text;
    module->walk([&](KernelOp kernel) {
      ScheduleAttr schedule = kernel.getScheduleAttr();
      auto window = schedule.getPart<WindowAttr>();
      PartResources resources = window.getResources(
          kernel, schedule.getLaunch(), schedule.getParts().getValue());
      std::string name = "Config" + std::to_string(count++);
      int64_t steps = window.getVectorsPerThread(each.channels,
                                                 each.threads * each.cluster);
      checks += llvm::formatv(
          "struct {0} : dsv4::WindowDefaults {{ using Part = "
          "dsv4::Tile<float, {1}, {2}>; using Result = dsv4::Tile<float, {3}, "
          "1>; static constexpr int members = {4}, rows = {5}, threads = {6}, "
          "lanes = 32, cluster = {7}; };\n"
          "using Shape{0} = dsv4::WindowShape<{0}>;\n",
          name, steps, each.elements, each.channels / 32, each.members,
          each.rows, each.threads, each.cluster);
      // The sums are there if there are several groups of threads; one block
      // of members needs none. Addresses are there if a group has whole warps.
      checks += llvm::formatv(
          "static_assert({1} == 4 * {2} * {3} + Shape{0}::addresses + ({4} > 8 "
          "&& "
          "Shape{0}::thread_groups > 1 ? 12 * Shape{0}::thread_groups * "
          "Shape{0}::channels : 0), \"\");\n",
          name, resources.staticBytes, each.rows, each.channels, each.members);
      EXPECT_EQ(resources.dynamicBytes, 0);
      EXPECT_LE(resources.staticBytes, limits::kStaticSharedBytes);
    });
  }
  compile(checks);
}
