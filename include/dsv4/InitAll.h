//===- InitAll.h - Registration of everything dsv4 has ----------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_INITALL_H
#define DSV4_INITALL_H

#include "dsv4/Passes.h"
#include "dsv4/Pipelines/Pipelines.h"
#include "dsv4/Schedule/ScheduleKind.h"
#include "dsv4/Target/CUDA/TranslateToCUDA.h"

#include "mlir/Transforms/Passes.h"

namespace dsv4 {

/// Every dialect between L0 and source, with its lowerings and printed forms.
inline void registerAllDialects(mlir::DialectRegistry &registry) {
  registry.insert<DSV4Dialect, row::RowDialect, cuda::CUDADialect,
                  mlir::arith::ArithDialect, mlir::func::FuncDialect,
                  mlir::gpu::GPUDialect, mlir::math::MathDialect,
                  mlir::memref::MemRefDialect, mlir::scf::SCFDialect,
                  mlir::tensor::TensorDialect, mlir::vector::VectorDialect>();
  registerRowLowerings(registry);
  registerDistributions(registry);
  registerScheduleKinds(registry);
  registerCUDATranslations(registry);
}

inline void registerAllPasses() {
  registerDSV4Passes();
  registerPipelines();
  mlir::registerCanonicalizerPass();
  mlir::registerCSEPass();
  mlir::registerLoopInvariantCodeMotionPass();
}

} // namespace dsv4

#endif // DSV4_INITALL_H
