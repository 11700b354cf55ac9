//===- Base.h - The cuda dialect, without its ops ---------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_DIALECT_CUDA_BASE_H
#define DSV4_DIALECT_CUDA_BASE_H

#include "dsv4/Dialect/DeviceCall.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferIntRangeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "CUDADialect.h.inc"
#include "CUDAEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "CUDAAttrs.h.inc"

#define GET_TYPEDEF_CLASSES
#include "CUDATypes.h.inc"

#include "CUDAInterfaces.h.inc"

namespace dsv4 {

namespace cuda {
/// The effect of a prefetch: it writes caches, not memory.
struct CacheLine : mlir::SideEffects::Resource::Base<CacheLine> {
  llvm::StringRef getName() final { return "cache line"; }
};

/// 90 for "sm_90a"; 0 if it is not an architecture.
unsigned getArchNumber(llvm::StringRef arch);

/// Parameters of the call's lambdas that are not values of the IR. No value of
/// the kernel may have their names.
llvm::SmallVector<llvm::StringRef>
getLambdaParameters(DeviceCallOpInterface call);

/// The dynamic shared memory of a block of `kernel`, in bytes, which its ops
/// use one after another.
int64_t getSharedBytes(mlir::Operation *kernel);
} // namespace cuda

/// The name a location gives a value, or "". After cuda-prepare-for-emission a
/// value with a name has a line of its own, and one without is written where it
/// is used.
llvm::StringRef getEmittedName(mlir::Location loc);

/// A location without the names in it.
mlir::Location stripNames(mlir::Location loc);

} // namespace dsv4

#endif // DSV4_DIALECT_CUDA_BASE_H
