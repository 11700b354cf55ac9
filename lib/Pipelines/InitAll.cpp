//===- InitAll.cpp - Registration of everything dsv4 has ------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Not in the header: it would take most of the time of compiling a tool.
//
//===----------------------------------------------------------------------===//

#include "dsv4/InitAll.h"

#include "dsv4/Passes.h"
#include "dsv4/Schedule/ScheduleKind.h"

#include "mlir/Transforms/Passes.h"

using namespace mlir;

void dsv4::registerAllDialects(DialectRegistry &registry) {
  registry.insert<DSV4Dialect, row::RowDialect, cuda::CUDADialect,
                  arith::ArithDialect, func::FuncDialect, gpu::GPUDialect,
                  math::MathDialect, memref::MemRefDialect, scf::SCFDialect,
                  tensor::TensorDialect, vector::VectorDialect>();
  registerRowLowerings(registry);
  registerDistributions(registry);
  registerScheduleKinds(registry);
  registerCUDATranslations(registry);
}

void dsv4::registerAllPasses() {
  registerDSV4Passes();
  registerPipelines();
  registerCanonicalizerPass();
  registerCSEPass();
  registerLoopInvariantCodeMotionPass();
}
