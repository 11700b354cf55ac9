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
  Binding cache{"cache", Storage::U8, "u8", {}, false, 128};
  cache.shape = {dim(2), constant(64), constant(656)};
  Binding indices{"indices", Storage::I32, "i32", {}, false, 4};
  indices.shape = {dim(0), dim(1)};
  Binding out{"out", Storage::U16, "bf16", {}, true, 16};
  out.shape = {dim(0), dim(1), constant(512)};
  info.bindings = {cache, indices, out};
  info.dims = {{"tokens", 1, 0, INT32_MAX},
               {"topk", 1, 1, INT32_MAX},
               {"pages", 0, 0, int64_t(1) << 40}};
  KernelInfo kernel;
  kernel.symbol = "gather_k0";
  kernel.schedule = "threads=128 rows=4";
  kernel.threads = 128;
  kernel.rowsPerBlock = 4;
  kernel.rows = {dim(0), dim(1)};
  kernel.sharedBytes = 1024;
  kernel.programmaticLaunch = true;
  using Kind = Parameter::Kind;
  kernel.parameters = {{Kind::Buffer, 0}, {Kind::Buffer, 1}, {Kind::Buffer, 2},
                       {Kind::Int32, 0},  {Kind::Int32, 1},  {Kind::Int64, 2}};
  kernel.registers = 32;
  info.kernels = {kernel};
  return info;
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
