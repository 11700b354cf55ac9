//===- Passes.h - The passes of dsv4 ----------------------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_PASSES_H
#define DSV4_PASSES_H

#include "dsv4/Dialect/CUDA/ElementOps.h"
#include "dsv4/Dialect/DSV4/KernelOps.h"
#include "dsv4/Dialect/Row/ElementOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/Pass.h"

namespace dsv4 {

#define GEN_PASS_DECL
#include "dsv4/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "dsv4/Passes.h.inc"

/// Attaches the distribution over threads to every op of row programs.
void registerDistributions(mlir::DialectRegistry &registry);

/// Attaches the row lowering of every dsv4 op.
void registerRowLowerings(mlir::DialectRegistry &registry);

} // namespace dsv4

#endif // DSV4_PASSES_H
