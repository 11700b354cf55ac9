//===- Samples.h - Programs to test the runtime with ------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_TEST_UNIT_RUNTIME_SAMPLES_H
#define DSV4_TEST_UNIT_RUNTIME_SAMPLES_H

#include "dsv4-runtime/Program.h"

namespace dsv4::rt::test {

inline Extent constant(int64_t value) {
  Extent extent;
  extent.constant = value;
  return extent;
}

inline Extent dim(int index) {
  Extent extent;
  extent.dim = index;
  return extent;
}

/// gather(cache: pages x 64 x 656 u8, indices: tokens x topk i32) ->
/// out: tokens x topk x 512 u16; one row per (token, entry), four per block.
inline ProgramInfo gatherInfo(const std::string &target = "host") {
  ProgramInfo info;
  info.name = "gather";
  info.target = target;
  info.arch = target == "cuda" ? "sm_90a" : "x86_64";
  Binding cache{"cache", Storage::U8, "u8", {}};
  cache.shape = {dim(2), constant(64), constant(656)};
  Binding indices{"indices", Storage::I32, "i32", {}};
  indices.shape = {dim(0), dim(1)};
  Binding out{"out", Storage::U16, "bf16", {}, true};
  out.shape = {dim(0), dim(1), constant(512)};
  info.bindings = {cache, indices, out};
  info.dims = {{"tokens", 1, 0, INT32_MAX},
               {"topk", 1, 1, INT32_MAX},
               {"pages", 0, 0, int64_t(1) << 40}};
  KernelInfo kernel;
  kernel.symbol = "gather_k0";
  kernel.schedule = "threads=128 rows=4";
  LaunchPlan &plan = kernel.plan;
  const Expression rows = Expression::extent(0) * Expression::extent(1);
  plan.requirements.comparisons = {{rows, Comparison::Op::Le, INT32_MAX - 3}};
  plan.grid[0] = Expression::ceilDiv(rows, 4);
  plan.block = 128;
  plan.sharedBytes = 1024;
  plan.programmaticLaunch = true;
  plan.parameters = {Parameter::buffer(0, true, false, 128),
                     Parameter::buffer(1, true, false, 4),
                     Parameter::buffer(2, false, true, 16),
                     Parameter::int32(Expression::extent(0)),
                     Parameter::int32(Expression::extent(1)),
                     Parameter::int64(Expression::extent(2))};
  kernel.registers = 32;
  info.kernels = {kernel};
  return info;
}

/// scores(q: m x 128 bf16, k: n x 128 bf16, scale: f32, first: i64) ->
/// out: m x n f32, by one of two kernels: a grid of tiles of 64 x 32, or, from
/// 128 rows on, two persistent blocks a multiprocessor in clusters of two,
/// which share a workspace.
inline ProgramInfo scoresInfo(const std::string &target = "host") {
  ProgramInfo info;
  info.name = "scores";
  info.target = target;
  info.arch = target == "cuda" ? "sm_90a" : "x86_64";
  info.bindings = {{"q", Storage::U16, "bf16", {dim(0), constant(128)}},
                   {"k", Storage::U16, "bf16", {dim(1), constant(128)}},
                   {"scale", Storage::F32, "f32", {}, false, true},
                   {"first", Storage::I64, "i64", {}, false, true},
                   {"out", Storage::F32, "f32", {dim(0), dim(1)}, true}};
  info.dims = {{"m", 0, 0, INT32_MAX}, {"n", 1, 0, INT32_MAX}};
  const Expression m = Expression::extent(0), n = Expression::extent(1);
  const Expression tilesX = Expression::ceilDiv(n, 64);
  const Expression tilesY = Expression::ceilDiv(m, 32);
  const std::vector<Parameter> parameters = {
      Parameter::buffer(0, true, false, 16),
      Parameter::buffer(1, true, false, 16),
      Parameter::scalar(2),
      Parameter::scalar(3),
      Parameter::buffer(4, false, true, 16),
      Parameter::int32(m),
      Parameter::int64(m * n)};

  KernelInfo tiles;
  tiles.symbol = "tiles";
  tiles.plan.condition.comparisons = {{m, Comparison::Op::Lt, 128}};
  tiles.plan.grid = {tilesX, tilesY, 1};
  tiles.plan.block = Dim3(32, 4);
  tiles.plan.sharedBytes = 4096;
  tiles.plan.parameters = parameters;

  KernelInfo persistent = tiles;
  persistent.symbol = "persistent";
  persistent.plan.condition.comparisons[0].op = Comparison::Op::Ge;
  persistent.plan.grid = {
      Expression::min(tilesX * tilesY,
                      Expression::multiprocessors() * Expression(2)) *
          Expression(2),
      1, 1};
  persistent.plan.cluster = 2;
  persistent.plan.sharedBytes =
      Expression::min(n * Expression(16), Expression(65536));
  persistent.plan.workspaceBytes = tilesY * Expression(16);
  persistent.plan.parameters.push_back(Parameter::workspace());
  info.kernels = {tiles, persistent};
  return info;
}

/// append(x: rows x 64 bf16, cache: pages x 656 u8) -> out: rows x 8 x 64 bf16,
/// all with strides: run-time ones of x, of the pages, and of the rows of out.
inline ProgramInfo stridedInfo() {
  ProgramInfo info;
  info.name = "append";
  info.target = "host";
  info.arch = "x86_64";
  info.bindings = {
      {"x", Storage::U16, "bf16", {dim(0), constant(64)}},
      {"cache", Storage::U8, "i8", {dim(1), constant(656)}},
      {"out", Storage::U16, "bf16", {dim(0), constant(8), constant(64)}, true}};
  info.bindings[0].strides = {dim(2)};
  info.bindings[1].strides = {dim(3)};
  info.bindings[2].strides = {dim(4), constant(1024)};
  info.dims = {{"rows", 0, 0, INT32_MAX},
               {"cache.pages", 1, 0, INT32_MAX},
               {"x.stride.0", 0, 0, INT32_MAX, 8, true},
               {"cache.stride.0", 1, 0, INT32_MAX, 16, true, 656},
               {"out.stride.0", 2, 0, INT32_MAX, 8, true}};
  KernelInfo kernel;
  kernel.symbol = "append";
  kernel.plan.grid[0] = Expression::extent(0);
  kernel.plan.block = 128;
  kernel.plan.parameters = {Parameter::buffer(0, true, false, 16),
                            Parameter::buffer(1, true, false, 16),
                            Parameter::buffer(2, false, true, 16),
                            Parameter::int32(Expression::extent(2)),
                            Parameter::int32(Expression::extent(3)),
                            Parameter::int32(Expression::extent(4))};
  info.kernels = {kernel};
  return info;
}

inline CompiledProgram scoresProgram(const std::string &target = "host") {
  return {scoresInfo(target), {"tiles", "persistent"}};
}

/// The same with image bytes that no loader looks at.
inline CompiledProgram gatherProgram(const std::string &target = "host") {
  return {gatherInfo(target),
          {std::string("\x7f"
                       "ELF\0image",
                       10)}};
}

} // namespace dsv4::rt::test

#endif // DSV4_TEST_UNIT_RUNTIME_SAMPLES_H
