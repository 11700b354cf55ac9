//===- TranslateRegistration.cpp - Registration of --mlir-to-cuda ---------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsv4/Dialect/DSV4/Base.h"
#include "dsv4/Target/CUDA/Prelude.h"
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
  static llvm::cl::opt<bool> withLibrary(
      "cuda-self-contained",
      llvm::cl::desc("print the device library before the kernels, so that "
                     "nvcc takes the file as it is"));
  TranslateFromMLIRRegistration registration(
      "mlir-to-cuda", "print kernels in emission form as CUDA C++",
      [](Operation *op, raw_ostream &os) {
        EmissionOptions options;
        options.lineDirectives = lineDirectives;
        if (!withLibrary)
          return translateToCUDA(op, os, options);
        std::string kernels;
        llvm::raw_string_ostream text(kernels);
        if (failed(translateToCUDA(op, text, options)))
          return failure();
        os << rt::selfContained(getDeviceHeaders(op), kernels);
        return success();
      },
      [](DialectRegistry &registry) {
        registry
            .insert<DSV4Dialect, func::FuncDialect, memref::MemRefDialect>();
        registerCUDATranslations(registry);
      });
}
