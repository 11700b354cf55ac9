//===- KernelSource.cpp - A kernel and the headers it needs -----*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsv4/Target/CUDA/ModuleTranslation.h"

#include <set>

using namespace mlir;
using namespace dsv4;

std::vector<std::string> dsv4::getDeviceHeaders(Operation *op) {
  // Element types are in core.cuh.
  std::set<std::string> headers = {"core/core.cuh", "core/memory.cuh"};
  op->walk([&](Operation *each) {
    const auto *translation = getCUDATranslation(each);
    StringRef header = translation ? translation->getHeader(each) : "";
    if (!header.empty())
      headers.insert(header.str());
  });
  return {headers.begin(), headers.end()};
}

FailureOr<KernelSource> dsv4::translateKernel(Operation *unit,
                                              const EmissionOptions &options) {
  KernelSource source;
  llvm::raw_string_ostream os(source.text);
  if (failed(translateToCUDA(unit, os, options)))
    return failure();
  source.headers = getDeviceHeaders(unit);
  return source;
}
