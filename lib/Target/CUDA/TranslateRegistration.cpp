//===- TranslateRegistration.cpp - Registration of --mlir-to-cuda -*- C++
//-*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsv4/Dialect/DSV4.h"
#include "dsv4/Target/CUDA/TranslateToCUDA.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Tools/mlir-translate/Translation.h"
#include "llvm/Support/CommandLine.h"

using namespace mlir;

void dsv4::registerToCUDATranslation() {
  static llvm::cl::opt<bool> lineDirectives(
      "cuda-line-directives",
      llvm::cl::desc("precede statements by #line of their source"));
  TranslateFromMLIRRegistration registration(
      "mlir-to-cuda", "print kernels in emission form as CUDA C++",
      [](Operation *op, raw_ostream &os) {
        EmissionOptions options;
        options.lineDirectives = lineDirectives;
        return translateToCUDA(op, os, options);
      },
      [](DialectRegistry &registry) {
        registry
            .insert<DSV4Dialect, func::FuncDialect, memref::MemRefDialect>();
        registerCUDATranslations(registry);
      });
}
