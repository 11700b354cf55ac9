//===- KernelSource.cpp - A kernel and the headers it needs -*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsv4/Dialect/CUDA.h"
#include "dsv4/Target/CUDA/TranslateToCUDA.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <set>

using namespace mlir;
using namespace dsv4;

std::vector<std::string> dsv4::getDeviceHeaders(Operation *op) {
  // Element types are in core.cuh.
  std::set<std::string> headers = {"core/core.cuh", "core/memory.cuh"};
  op->walk([&](Operation *each) {
    if (auto call = dyn_cast<cuda::DeviceCallOpInterface>(each))
      headers.insert(call.getHeader().str());
    if (isa<arith::ExtFOp, arith::TruncFOp, arith::SIToFPOp>(each))
      headers.insert("rows/convert.cuh");
    if (isa<arith::MaximumFOp>(each))
      headers.insert("rows/gate.cuh");
    // Operators with a number, parts of rows.
    if (isa<math::SqrtOp, vector::InterleaveOp, vector::DeinterleaveOp>(each))
      headers.insert("rows/rows.cuh");
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
