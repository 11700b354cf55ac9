//===- LaunchPlanTest.cpp - Plans that no kernel has yet ------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Grids of several axes, persistent grids, alternatives, scalars and limits,
// through the launch path of the host target.
//
//===----------------------------------------------------------------------===//

#include "LaunchFixture.h"

using namespace dsv4::rt;
using namespace dsv4::rt::test;

namespace {

class LaunchPlanTest : public PlanLaunchTest {
protected:
  Status launch(int64_t m, int64_t n, Workspace workspace = {}) {
    ScoresArguments scores(m, n);
    return loaded->launch(nullptr, scores.values, 5, workspace);
  }

  /// Loads the scores program with one kernel, which `change` has changed and
  /// which needs no more than extents, and returns the error of a launch.
  template <typename Change>
  std::string errorAfter(Change change, int64_t m = 64, int64_t n = 64) {
    seen.clear();
    load(oneKernel(change));
    return errorOf(launch(m, n));
  }

  template <typename Change>
  CompiledProgram oneKernel(Change change) {
    CompiledProgram program = scoresProgram();
    program.info.kernels.pop_back();
    program.images.pop_back();
    LaunchPlan &plan = program.info.kernels[0].plan;
    plan.condition = Condition();
    change(plan, program.info.planNames());
    return program;
  }

  static Expression expression(const std::string &text,
                               const PlanNames &names) {
    Result<Expression> parsed = Expression::parse(text, names);
    EXPECT_TRUE(parsed.ok()) << parsed.status().message();
    return parsed.take();
  }

  alignas(16) char workspace[4096];
};

TEST_F(LaunchPlanTest, TilesOfTwoAxes) {
  load(scoresProgram());
  ASSERT_TRUE(launch(100, 1000).ok());
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(seen[0].symbol, "tiles");
  EXPECT_TRUE(seen[0].grid == Dim3(16, 4));
  EXPECT_TRUE(seen[0].block == Dim3(32, 4));
  EXPECT_EQ(seen[0].sharedBytes, 4096u);
  EXPECT_EQ(seen[0].numbers, (std::vector<int64_t>{100, 100000}));
}

TEST_F(LaunchPlanTest, ConditionsChooseAmongAlternatives) {
  load(scoresProgram());
  ASSERT_TRUE(launch(127, 64).ok());
  ASSERT_TRUE(launch(128, 64, {workspace, 64}).ok());
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_EQ(seen[0].symbol, "tiles");
  EXPECT_EQ(seen[1].symbol, "persistent");
  // A workspace that only another alternative has is not asked for.
  ScoresArguments few(127, 64), many(128, 64);
  EXPECT_EQ(*loaded->workspaceBytes(few.values, 5), 0u);
  EXPECT_EQ(*loaded->workspaceBytes(many.values, 5), 64u);
  Result<std::vector<LaunchShape>> shapes =
      loaded->launchShapes(many.values, 5);
  ASSERT_TRUE(shapes.ok()) << shapes.status().message();
  EXPECT_FALSE((*shapes)[0].runs);
  EXPECT_TRUE((*shapes)[1].runs);
  seen.clear();
  EXPECT_EQ(errorOf(launch(128, 64)),
            "program 'scores' needs a workspace of 64 bytes for these shapes, "
            "got none: pass memory that was once set to zero");
}

TEST_F(LaunchPlanTest, PersistentGrids) {
  load(scoresProgram(), 16);
  // Ten tiles, fewer than two a multiprocessor; then as many as fit.
  ASSERT_TRUE(launch(130, 128, {workspace, 4096}).ok());
  ASSERT_TRUE(launch(4096, 4096, {workspace, 4096}).ok());
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_TRUE(seen[0].grid == Dim3(20));
  EXPECT_EQ(seen[0].sharedBytes, 2048u);
  EXPECT_TRUE(seen[1].grid == Dim3(64));
  EXPECT_EQ(seen[1].sharedBytes, 65536u);
  EXPECT_EQ(seen[1].buffers.back(), workspace);
}

TEST_F(LaunchPlanTest, ScalarsGoByValue) {
  load(scoresProgram());
  ScoresArguments scores(1, 1);
  for (float scale : {0.5f, -0.0f, 3e38f}) {
    scores.scale = scale;
    ASSERT_TRUE(loaded->launch(nullptr, scores.values, 5).ok());
    uint32_t bits;
    std::memcpy(&bits, &scale, 4);
    EXPECT_EQ(seen.back().scalars,
              (std::vector<uint64_t>{bits, uint64_t(scores.first)}));
  }
  // Their memory is the host's, so it need not be aligned.
  char unaligned[9];
  std::memcpy(unaligned + 1, &scores.first, 8);
  scores.values[3].data = unaligned + 1;
  ASSERT_TRUE(loaded->launch(nullptr, scores.values, 5).ok());
  EXPECT_EQ(seen.back().scalars[1], uint64_t(scores.first));
  seen.clear();
  scores.values[2].data = nullptr;
  EXPECT_EQ(errorOf(loaded->launch(nullptr, scores.values, 5)),
            "argument 'scale': is null: pass the address of its value");
}

TEST_F(LaunchPlanTest, AllocatesNothing) {
  load(scoresProgram());
  seen.reserve(1);
  ScoresArguments scores(200, 200);
  size_t before = allocations;
  Status status =
      loaded->launch(nullptr, scores.values, 5, {workspace, sizeof(workspace)});
  EXPECT_EQ(allocations, before);
  EXPECT_TRUE(status.ok()) << status.message();
}

TEST_F(LaunchPlanTest, GridsWithAnExtentOfZeroAreSkipped) {
  load(scoresProgram());
  ASSERT_TRUE(launch(0, 1000).ok());
  ASSERT_TRUE(launch(100, 0).ok());
  ASSERT_TRUE(launch(1000, 0).ok());
  EXPECT_TRUE(seen.empty());
  // Whatever the other extents are, and what else is required.
  load(oneKernel([&](LaunchPlan &plan, const PlanNames &names) {
    plan.grid = {expression("m * m * m", names), 70000, expression("n", names)};
    plan.requirements = *Condition::parse("m < 5", names);
    plan.parameters.clear();
  }));
  EXPECT_TRUE(launch(INT32_MAX, 0).ok());
  EXPECT_TRUE(seen.empty());
}

TEST_F(LaunchPlanTest, GridsAtTheirLimits) {
  load(oneKernel([&](LaunchPlan &plan, const PlanNames &names) {
    plan.grid = {expression("m", names), expression("n", names), 65535};
    plan.parameters.clear();
  }));
  ASSERT_TRUE(launch(INT32_MAX, 65535).ok());
  EXPECT_TRUE(seen[0].grid == Dim3(INT32_MAX, 65535, 65535));
  seen.clear();
  EXPECT_EQ(errorOf(launch(INT32_MAX, 65536)),
            "kernel 'tiles': grid y = n is 65536, expected at most 65535: "
            "split the launch");
  auto grid = [&](const char *x, const char *y, const char *z) {
    return errorAfter([&](LaunchPlan &plan, const PlanNames &names) {
      plan.grid = {expression(x, names), expression(y, names),
                   expression(z, names)};
    });
  };
  EXPECT_EQ(grid("m * 33554432", "1", "1"),
            "kernel 'tiles': grid x = m * 33554432 is 2147483648, expected at "
            "most 2147483647: split the launch");
  EXPECT_EQ(grid("1", "1", "n * 1024"),
            "kernel 'tiles': grid z = n * 1024 is 65536, expected at most "
            "65535: split the launch");
  EXPECT_EQ(grid("1", "65536", "1"),
            "kernel 'tiles': grid y is 65536, expected at most 65535: split "
            "the launch");
  EXPECT_EQ(grid("1", "m * 9223372036854775807", "1"),
            "kernel 'tiles': grid y = m * 9223372036854775807 is 2^63 or more: "
            "split the launch");
  EXPECT_EQ(grid("ceildiv(m, 0)", "1", "1"),
            "kernel 'tiles': grid x = ceildiv(m, 0) divides by 0 for these "
            "shapes");
}

TEST_F(LaunchPlanTest, ClustersDivideTheGrid) {
  auto clusters = [&](Dim3 cluster) {
    return oneKernel([&](LaunchPlan &plan, const PlanNames &names) {
      plan.grid = {expression("m", names), expression("n", names), 4};
      plan.cluster = cluster;
    });
  };
  load(clusters(Dim3(2, 4, 2)));
  EXPECT_TRUE(launch(6, 8).ok());
  seen.clear();
  EXPECT_EQ(errorOf(launch(6, 6)),
            "kernel 'tiles': grid y = n is 6, expected a multiple of the 4 "
            "blocks of a cluster");
  load(clusters(Dim3(1, 1, 3)));
  EXPECT_EQ(errorOf(launch(6, 6)),
            "kernel 'tiles': grid z is 4, expected a multiple of the 3 blocks "
            "of a cluster");
}

TEST_F(LaunchPlanTest, WhatIsRequired) {
  load(oneKernel([&](LaunchPlan &plan, const PlanNames &names) {
    plan.requirements = *Condition::parse("m <= 64 && n != 3", names);
  }));
  EXPECT_TRUE(launch(64, 64).ok());
  seen.clear();
  EXPECT_EQ(errorOf(launch(65, 64)), "kernel 'tiles': needs m <= 64, but m is "
                                     "65: split the launch");
  EXPECT_EQ(errorOf(launch(64, 3)), "kernel 'tiles': needs n != 3, but n is 3");
}

/// An extent that another one bounds from below is that of an argument.
TEST_F(LaunchPlanTest, ExtentsThatAreRequired) {
  load(oneKernel([&](LaunchPlan &plan, const PlanNames &names) {
    plan.requirements =
        *Condition::parse("ceildiv(m, 8) * 8 <= n && 8 <= n", names);
  }));
  EXPECT_TRUE(launch(64, 64).ok());
  seen.clear();
  EXPECT_EQ(errorOf(launch(61, 63)),
            "argument 'k': extent 0 (dim 'n') is 63, expected at least 64, "
            "ceildiv(m, 8) * 8");
  EXPECT_TRUE(launch(0, 5).ok());
}

/// What is said is what would do, not what is next.
TEST_F(LaunchPlanTest, ExtentsThatMustBeMultiples) {
  load(oneKernel([&](LaunchPlan &plan, const PlanNames &names) {
    plan.requirements = *Condition::parse(
        "ceildiv(n, 128) * 128 <= n && ceildiv(m, 128) * 128 <= n", names);
  }));
  EXPECT_EQ(errorOf(launch(100, 130)),
            "argument 'k': extent 0 (dim 'n') is 130, expected a multiple of "
            "128");
  EXPECT_EQ(errorOf(launch(130, 128)),
            "argument 'k': extent 0 (dim 'n') is 128, expected at least 256, "
            "ceildiv(m, 128) * 128");
  EXPECT_TRUE(launch(100, 128).ok());
}

TEST_F(LaunchPlanTest, OverflowsElsewhere) {
  const std::string huge = "m * 9223372036854775807";
  EXPECT_EQ(errorAfter([&](LaunchPlan &plan, const PlanNames &names) {
              plan.condition = *Condition::parse(huge + " < 5", names);
            }),
            "kernel 'tiles': the condition " + huge +
                " < 5 is 2^63 or more: split the launch");
  EXPECT_EQ(errorAfter([&](LaunchPlan &plan, const PlanNames &names) {
              plan.requirements = *Condition::parse(huge + " < 5", names);
            }),
            "kernel 'tiles': what is needed, " + huge +
                " < 5, is 2^63 or more: split the launch");
  EXPECT_EQ(errorAfter([&](LaunchPlan &plan, const PlanNames &names) {
              plan.sharedBytes = expression("m * 33554432", names);
            }),
            "kernel 'tiles': dynamic shared memory = m * 33554432 is "
            "2147483648, expected at most 2147483647: split the launch");
  EXPECT_EQ(errorAfter([&](LaunchPlan &plan, const PlanNames &names) {
              plan.workspaceBytes = expression(huge, names);
              plan.parameters.push_back(Parameter::workspace());
            }),
            "kernel 'tiles': workspace = " + huge +
                " is 2^63 or more: split the launch");
  EXPECT_EQ(errorAfter([&](LaunchPlan &plan, const PlanNames &names) {
              plan.parameters[6] = Parameter::int64(expression(huge, names));
            }),
            "kernel 'tiles': a parameter = " + huge +
                " is 2^63 or more: split the launch");
  EXPECT_EQ(errorAfter([&](LaunchPlan &plan, const PlanNames &names) {
              plan.sharedBytes = expression("m * 4096", names);
            }),
            "kernel 'tiles' needs 262144 bytes of dynamic shared memory for "
            "these shapes, expected at most 232448");
}

/// An error of the last kernel keeps the first from being launched.
TEST_F(LaunchPlanTest, NothingIsHalfLaunched) {
  CompiledProgram program = scoresProgram();
  program.info.kernels.push_back(program.info.kernels[0]);
  program.images.push_back("third");
  program.info.kernels[2].symbol = "third";
  program.info.kernels[2].plan.grid[1] = 65536;
  load(program);
  EXPECT_EQ(errorOf(launch(64, 64)),
            "kernel 'third': grid y is 65536, expected at most 65535: split "
            "the launch");
  // Nor does one that is not launched.
  EXPECT_TRUE(launch(128, 64, {workspace, 64}).ok());
  EXPECT_EQ(seen.size(), 1u);
}

/// Buffers are as aligned as the kernels that run count on.
TEST_F(LaunchPlanTest, AlignmentOfWhatRuns) {
  CompiledProgram program = scoresProgram();
  program.info.kernels[0].plan.parameters[0].alignment = 1;
  load(program);
  auto launchFrom = [&](int64_t m, unsigned offset) {
    ScoresArguments scores(m, 64);
    scores.values[0].data = scores.memory + offset;
    return loaded->launch(nullptr, scores.values, 5, {workspace, 4096});
  };
  EXPECT_TRUE(launchFrom(64, 2).ok());
  seen.clear();
  EXPECT_EQ(errorOf(launchFrom(128, 2)),
            "argument 'q': is at an address aligned to 2 bytes, expected 16: "
            "pass memory that is aligned so, or compile with 'dsv4.strides' of "
            "this argument, and a smaller 'align' in it");
}

} // namespace
