//===- DSV4OpBase.td - Definitions that dsv4 ops share -*- tablegen -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_OP_BASE_TD
#define DSV4_OP_BASE_TD

include "DSV4Dialect.td"
include "DSV4Attrs.td"
include "DSV4Types.td"
include "DSV4Interfaces.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/InferIntRangeInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

/// Refuses attributes that nobody reads: those without the prefix of a dialect that the op does
/// not have.
def DSV4_KnownAttributes : NativeOpTrait<"KnownAttributes"> {
  let cppNamespace = "::dsv4";
}

class DSV4_Op<string opMnemonic, list<Trait> traits = []>
    : Op<DSV4_Dialect, opMnemonic, !listconcat(traits, [DSV4_KnownAttributes])>;

/// An operand of a type. An error about its type names it, because its number depends on
/// which optional operands are present.
class DSV4_Operand<string name, Type type>
    : Type<type.predicate, "'" # name # "', a " # type.summary, type.cppType>;

/// Slots, positions, pages, requests, ids and lengths. docs/Records.md says what an i64
/// means that i32 does not hold.
def DSV4_Indices : TensorOf<[I32, I64]>;
/// Indices that an op computes: those of ui32 have the bits of i32.
def DSV4_IndexResults : TensorOf<[I32, I64, UI32]>;
/// The same and i16, which is enough for experts.
def DSV4_SmallIndices : TensorOf<[I16, I32, I64, UI32]>;
def DSV4_Rows : TensorOf<[BF16, F16, F32]>;
def DSV4_Mask : TensorOf<[I1]>;

/// The memory of a cache.
def DSV4_CacheResource : Resource<"::dsv4::CacheResource">;

#endif // DSV4_OP_BASE_TD
