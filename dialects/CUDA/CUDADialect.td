//===- CUDADialect.td - The cuda exit dialect -*- tablegen -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CUDA_DIALECT_TD
#define CUDA_DIALECT_TD

include "mlir/IR/OpBase.td"

def CUDA_Dialect : Dialect {
  let name = "cuda";
  let cppNamespace = "::dsv4::cuda";
  let summary = "The parts of CUDA C++ that upstream dialects lack";
  let description = [{
    The last dialect before source. It holds only what upstream lacks: vector accesses
    with a predicate and a cache policy, calls of the device library, and the target.
    Every op has exactly one printed form.
  }];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let extraClassDeclaration = [{
    void registerAttributes();
    void registerTypes();
    /// Argument attribute: inclusive bounds [min, max] of an integer parameter.
    static constexpr llvm::StringLiteral kRangeAttr = "cuda.range";
    /// Function attribute: blocks a multiprocessor must be able to hold.
    static constexpr llvm::StringLiteral kMinBlocksAttr = "cuda.min_blocks";
    /// Blocks of a thread block cluster.
    static constexpr llvm::StringLiteral kClusterAttr = "cuda.cluster";
    /// Module attribute: the architecture of its kernels.
    static constexpr llvm::StringLiteral kTargetAttr = "cuda.target";
    /// Attribute of a device call: the name of its config type.
    static constexpr llvm::StringLiteral kConfigAttr = "cuda.config";
    /// Function attribute: lines of the comment above the kernel.
    static constexpr llvm::StringLiteral kHeaderAttr = "cuda.header";
  }];
}

#endif // CUDA_DIALECT_TD
