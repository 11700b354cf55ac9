//===- CUDAOpBase.td - Definitions that cuda ops share -*- tablegen -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CUDA_OP_BASE_TD
#define CUDA_OP_BASE_TD

include "CUDADialect.td"
include "CUDAInterfaces.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/InferIntRangeInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class CUDA_Op<string opMnemonic, list<Trait> traits = []>
    : Op<CUDA_Dialect, opMnemonic, traits>;

//===----------------------------------------------------------------------===//
// Target, policies
//===----------------------------------------------------------------------===//

def CUDA_TargetAttr : AttrDef<CUDA_Dialect, "Target"> {
  let mnemonic = "target";
  let summary = "the architecture a module is compiled for";
  let description = [{
    The architecture as NVRTC takes it, with its suffix: "sm_90a", not "sm_90", if
    instructions of that architecture alone are used. Clause target_c1: the
    name is `sm_` and a number from 80 to 200, with `a`, `f` or no suffix.
  }];
  let parameters = (ins StringRefParameter<"architecture">:$arch);
  let assemblyFormat = "`<` $arch `>`";
  let genVerifyDecl = 1;
}

def CUDA_LoadPolicy : I32EnumAttr<"LoadPolicy", "cache policy of a load", [
    I32EnumAttrCase<"Default", 0, "default">,
    I32EnumAttrCase<"EvictLast", 1, "evict_last">
  ]> {
  let cppNamespace = "::dsv4::cuda";
}

def CUDA_ReduceKind : I32EnumAttr<"ReduceKind", "what a group of elements becomes", [
    I32EnumAttrCase<"Sum", 0, "sum">,
    I32EnumAttrCase<"MaxAbs", 1, "max_abs">,
    I32EnumAttrCase<"MaxAbsNaN", 2, "max_abs_nan">,
    I32EnumAttrCase<"MaxNaN", 3, "max_nan">
  ]> {
  let cppNamespace = "::dsv4::cuda";
}

def CUDA_StorePolicy : I32EnumAttr<"StorePolicy", "cache policy of a store", [
    I32EnumAttrCase<"Default", 0, "default">,
    I32EnumAttrCase<"Streaming", 1, "streaming">
  ]> {
  let cppNamespace = "::dsv4::cuda";
}

def CUDA_ActivationKind : I32EnumAttr<"ActivationKind", "a function of one number", [
    I32EnumAttrCase<"SqrtSoftplus", 0, "sqrt_softplus">,
    I32EnumAttrCase<"Sigmoid", 1, "sigmoid">,
    I32EnumAttrCase<"Exp", 2, "exp">,
    I32EnumAttrCase<"NaNToZero", 3, "nan_to_zero">
  ]> {
  let cppNamespace = "::dsv4::cuda";
}

def CUDA_SelectOrder : I32EnumAttr<"SelectOrder", "the order of what was selected", [
    I32EnumAttrCase<"Unordered", 0, "unordered">,
    I32EnumAttrCase<"Sorted", 1, "sorted">,
    I32EnumAttrCase<"IndexAscending", 2, "index_ascending">
  ]> {
  let cppNamespace = "::dsv4::cuda";
}

def CUDA_CallableType : TypeDef<CUDA_Dialect, "Callable"> {
  let mnemonic = "callable";
  let summary = "a function object that is passed to a device call";
  let description = [{
    A function object that a device library function passes to a region, such as the `consume` of a
    tile source. The region can only pass it on to a device call.
  }];
}

def CUDA_Scalar : AnyTypeOf<[AnyInteger, AnyFloat]>;
def CUDA_Value : AnyTypeOf<[AnyInteger, AnyFloat,
    VectorOfRankAndType<[1, 2], [AnyInteger, AnyFloat]>]>;
def CUDA_Offset : AnyTypeOf<[Index, I32, I64]>;

#endif // CUDA_OP_BASE_TD
