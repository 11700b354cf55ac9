//===- RowOpBase.td - Definitions that row ops share -*- tablegen -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ROW_OP_BASE_TD
#define ROW_OP_BASE_TD

include "RowDialect.td"
include "mlir/IR/EnumAttr.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/InferIntRangeInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Row_Op<string opMnemonic, list<Trait> traits = []>
    : Op<Row_Dialect, opMnemonic, traits>;

/// The op means the same on a row and on a fragment of it. It becomes the device
/// call of the same name, with the same attributes.
def Row_SameOnFragments : NativeOpTrait<"SameOnFragments"> {
  let cppNamespace = "::dsv4::row";
}

def Row_ReduceKind : I32EnumAttr<"ReduceKind", "what a group of elements becomes", [
    I32EnumAttrCase<"Sum", 0, "sum">,
    I32EnumAttrCase<"MaxAbs", 1, "max_abs">,
    I32EnumAttrCase<"MaxAbsNaN", 2, "max_abs_nan">,
    I32EnumAttrCase<"MaxNaN", 3, "max_nan">
  ]> {
  let cppNamespace = "::dsv4::row";
}

def Row_ActivationKind : I32EnumAttr<"ActivationKind", "a function of one number", [
    I32EnumAttrCase<"SqrtSoftplus", 0, "sqrt_softplus">,
    I32EnumAttrCase<"Sigmoid", 1, "sigmoid">,
    I32EnumAttrCase<"Exp", 2, "exp">,
    I32EnumAttrCase<"NaNToZero", 3, "nan_to_zero">
  ]> {
  let cppNamespace = "::dsv4::row";
}

def Row_SelectOrder : I32EnumAttr<"SelectOrder", "the order of the selected elements", [
    I32EnumAttrCase<"Unordered", 0, "unordered">,
    I32EnumAttrCase<"Sorted", 1, "sorted">,
    I32EnumAttrCase<"IndexAscending", 2, "index_ascending">
  ]> {
  let cppNamespace = "::dsv4::row";
}

/// A whole row, or a stored segment of it.
class Row_Vector<list<Type> elements> : VectorOfRankAndType<[1], elements>;
def Row_AnyRow : Row_Vector<[AnyInteger, AnyFloat]>;
/// A row of a row program, or a fragment of one.
class Row_Elements<list<Type> elements> : VectorOfRankAndType<[1, 2], elements>;
def Row_Buffer : MemRefRankOf<[AnyType], [1]>;

#endif // ROW_OP_BASE_TD
