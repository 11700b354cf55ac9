//===- dsv4-translate.cpp - Translates IR to text ---------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsv4/Support/Diagnostics.h"
#include "dsv4/Support/Version.h"
#include "dsv4/Target/CUDA/TranslateToCUDA.h"

#include "mlir/Tools/mlir-translate/MlirTranslateMain.h"

int main(int argc, char **argv) {
  dsv4::hideOpsInDiagnostics();
  dsv4::setVersionPrinter("dsv4-translate");
  dsv4::registerToCUDATranslation();
  return mlir::failed(
      mlir::mlirTranslateMain(argc, argv, "dsv4 translation driver"));
}
