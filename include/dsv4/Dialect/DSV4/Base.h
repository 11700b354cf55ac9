//===- Base.h - The dsv4 dialect, without its ops ---------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_DIALECT_DSV4_BASE_H
#define DSV4_DIALECT_DSV4_BASE_H

#include "dsv4-layout/Record.h"
#include "dsv4-runtime/LaunchPlan.h"
#include "dsv4-runtime/Status.h"
#include "dsv4/Dialect/Access.h"
#include "dsv4/Dialect/DSV4Enums.h"
#include "dsv4/Dialect/RowLowering.h"
#include "dsv4/Dialect/Selection.h"
#include "dsv4/Reference/Contract.h"
#include "dsv4/Schedule/Parts.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/InferIntRangeInterface.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "DSV4Dialect.h.inc"

#include "DSV4ScheduleInterfaces.h.inc"

#define GET_ATTRDEF_CLASSES
#include "DSV4Attrs.h.inc"

#define GET_TYPEDEF_CLASSES
#include "DSV4Types.h.inc"

namespace dsv4 {

/// The memory of all caches, as far as side effects go.
struct CacheResource : mlir::SideEffects::Resource::Base<CacheResource> {
  llvm::StringRef getName() final { return "dsv4.cache"; }
};

/// Refuses attributes of `op` that it does not have: what they say would be
/// ignored.
llvm::LogicalResult verifyKnownAttributes(mlir::Operation *op);

/// Every op of dsv4 has it.
template <typename ConcreteOp>
class KnownAttributes
    : public mlir::OpTrait::TraitBase<ConcreteOp, KnownAttributes> {
public:
  static llvm::LogicalResult verifyTrait(mlir::Operation *op) {
    return verifyKnownAttributes(op);
  }
};

} // namespace dsv4

namespace dsv4::reference {
class Evaluation;
} // namespace dsv4::reference

#include "DSV4Interfaces.h.inc"

#endif // DSV4_DIALECT_DSV4_BASE_H
