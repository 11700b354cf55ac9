//===- Pipelines.cpp - The pipelines of dsv4 --------------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsv4/Pipelines/Pipelines.h"

#include "dsv4/Passes.h"

#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

/// The canonicalizer, without the pattern that joins neighbours of one
/// condition: a condition with several results has no printed form. The name of
/// the pattern is that of its type, as the compiler of MLIR prints it.
static std::unique_ptr<Pass> createEmissionCanonicalizer() {
  return createCanonicalizerPass(
      GreedyRewriteConfig(),
      {"(anonymous namespace)::CombineIfs", "{anonymous}::CombineIfs"});
}

void dsv4::buildLowerToCUDAPipeline(OpPassManager &pm,
                                    const LowerToCUDAOptions &options) {
  SpecializeOptions specialize;
  specialize.dims.assign(options.dims.begin(), options.dims.end());
  SelectScheduleOptions select;
  select.arch = options.arch;
  select.schedule = options.schedule;
  select.table = options.table;
  OutlineKernelsOptions outline;
  outline.arch = options.arch;

  OpPassManager &func = pm.nest<func::FuncOp>();
  func.addPass(createSpecialize(std::move(specialize)));
  func.addPass(createFormKernels());
  func.addPass(createSelectSchedule(std::move(select)));
  func.addPass(createConvertDSV4ToRow());
  func.addPass(createCSEPass());
  func.addPass(createDistributeRows());
  if (options.mergeKernels)
    func.addPass(createMergeKernels());
  pm.addPass(createOutlineKernels(std::move(outline)));
  OpPassManager &module = pm.nest<gpu::GPUModuleOp>();
  module.addPass(createCSEPass());
  module.addPass(createCudaFormDeviceCalls());
  module.addPass(createCudaLegalize());
  module.addPass(createEmissionCanonicalizer());
  module.addPass(createCSEPass());
  module.addPass(createCudaShareCode());
  module.addPass(createCudaPrepareForEmission());
}

void dsv4::registerPipelines() {
  PassPipelineRegistration<LowerToCUDAOptions>(
      "dsv4-lower-to-cuda-pipeline",
      "lower dsv4 ops on tensors to emission form", buildLowerToCUDAPipeline);
}
