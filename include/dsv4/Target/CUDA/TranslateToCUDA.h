//===- TranslateToCUDA.h - CUDA C++ text from emission form -----*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_TARGET_CUDA_TRANSLATETOCUDA_H
#define DSV4_TARGET_CUDA_TRANSLATETOCUDA_H

#include "mlir/IR/Operation.h"
#include "mlir/Support/LLVM.h"

#include <string>
#include <vector>

namespace dsv4 {

/// Options for the form of the source. None of them changes results.
struct EmissionOptions {
  /// Precede statements by `#line` of the source they came from, so that a
  /// compile error names it.
  bool lineDirectives = false;
};

/// Prints every kernel in `op`, a module or a gpu.module in emission form
/// (after cuda-prepare-for-emission). Reads the IR and decides nothing; an op
/// or type without a spelling is an error. The text includes nothing: it is
/// compiled after the device library.
mlir::LogicalResult translateToCUDA(mlir::Operation *op, llvm::raw_ostream &os,
                                    const EmissionOptions &options = {});

/// The files of the device library that the kernels in `op` call, sorted.
std::vector<std::string> getDeviceHeaders(mlir::Operation *op);

/// A kernel as a translation unit of its own.
struct KernelSource {
  std::string text; ///< To be compiled after `headers`.
  std::vector<std::string> headers;
};

/// Prints the kernel of a gpu.module.
mlir::FailureOr<KernelSource>
translateKernel(mlir::Operation *unit, const EmissionOptions &options = {});

/// Attaches the printed forms of all dialects that occur in emission form.
void registerCUDATranslations(mlir::DialectRegistry &registry);

/// Registers `--mlir-to-cuda`.
void registerToCUDATranslation();

} // namespace dsv4

#endif // DSV4_TARGET_CUDA_TRANSLATETOCUDA_H
