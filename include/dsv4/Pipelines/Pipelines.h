//===- Pipelines.h - The pipelines of dsv4 ----------------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_PIPELINES_PIPELINES_H
#define DSV4_PIPELINES_PIPELINES_H

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"

namespace dsv4 {

/// Options of dsv4-lower-to-cuda-pipeline. The JIT fills the same struct, so
/// every JIT compile can be repeated with dsv4-opt.
struct LowerToCUDAOptions : mlir::PassPipelineOptions<LowerToCUDAOptions> {
  ListOption<std::string> dims{
      *this, "dims", llvm::cl::desc("extents of named dims, as NAME=N")};
  Option<std::string> arch{*this, "arch", llvm::cl::desc("architecture"),
                           llvm::cl::init("sm_90a")};
  Option<std::string> schedule{
      *this, "schedule",
      llvm::cl::desc("schedule of every kernel, as #dsv4.schedule<...>"),
      llvm::cl::init("")};
  Option<std::string> table{*this, "table",
                            llvm::cl::desc("schedule table file (JSON)"),
                            llvm::cl::init("")};
  Option<bool> mergeKernels{
      *this, "merge-kernels",
      llvm::cl::desc("join independent kernels in one launch"),
      llvm::cl::init(true)};
};

/// From dsv4 ops on tensors to emission form.
void buildLowerToCUDAPipeline(mlir::OpPassManager &pm,
                              const LowerToCUDAOptions &options);

void registerPipelines();

} // namespace dsv4

#endif // DSV4_PIPELINES_PIPELINES_H
