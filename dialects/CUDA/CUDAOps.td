//===- CUDAOps.td - Ops and attributes of the cuda dialect -*- tablegen -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CUDA_OPS_TD
#define CUDA_OPS_TD

include "CUDADialect.td"
include "CUDAInterfaces.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
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
    `arch` as NVRTC takes it, with its suffix: "sm_90a", not "sm_90", where
    instructions of that architecture alone are used. Clause target_c1: the
    name is `sm_` and a number, with `a`, `f` or no suffix.
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

def CUDA_StorePolicy : I32EnumAttr<"StorePolicy", "cache policy of a store", [
    I32EnumAttrCase<"Default", 0, "default">,
    I32EnumAttrCase<"Streaming", 1, "streaming">
  ]> {
  let cppNamespace = "::dsv4::cuda";
}

//===----------------------------------------------------------------------===//
// load, store, expand, dequantize, swap_nibbles
//===----------------------------------------------------------------------===//

def CUDA_Scalar : AnyTypeOf<[AnyInteger, AnyFloat]>;
def CUDA_Value : AnyTypeOf<[AnyInteger, AnyFloat, VectorOfRankAndType<[1, 2], [AnyInteger, AnyFloat]>]>;
def CUDA_Offset : AnyTypeOf<[Index, I32, I64]>;

def CUDA_LoadOp : CUDA_Op<"load", [
    DeclareOpInterfaceMethods<CUDA_DeviceCallOpInterface>]> {
  let summary = "read a scalar, a vector or a tile";
  let description = [{
    Reads from element `offset` of `base`: one element, `V` consecutive ones
    (`vector<V x T>`), or `S` chunks of `V` consecutive ones that start `stride`
    elements of the base apart (`vector<S x V x T>`). A vector may have another element type
    than `base`: the bytes are taken as they are. Where the predicate is false
    nothing is read and every byte is zero. Memory that is read this way is not
    written by the kernel. An `ordered` scalar is not read before a
    `cuda.wait_for_predecessors` it follows, which C++ alone does not promise.
    Clauses:

    * load_c1: a scalar has the element type of the base and no stride;
    * load_c2: a tile of more than one chunk has a stride;
    * load_c3: `align`, the alignment in bytes that every chunk is known to have,
      is a power of two.
  }];
  let arguments = (ins
    Arg<MemRefRankOf<[AnyType], [1]>, "", [MemRead]>:$base,
    CUDA_Offset:$offset, Optional<I1>:$predicate,
    DefaultValuedAttr<I64Attr, "0">:$stride,
    DefaultValuedAttr<I64Attr, "0">:$align,
    DefaultValuedAttr<CUDA_LoadPolicy, "::dsv4::cuda::LoadPolicy::Default">:$policy,
    UnitAttr:$ordered
  );
  let results = (outs CUDA_Value:$value);
  let assemblyFormat = [{
    $base `[` $offset `]` (`if` $predicate^)? (`stride` $stride^)? (`align` $align^)?
    ($policy^)? (`ordered` $ordered^)? attr-dict `:` type($base) `,` type($offset) `->` type($value)
  }];
  let hasVerifier = 1;
}

def CUDA_StoreOp : CUDA_Op<"store", [DeclareOpInterfaceMethods<CUDA_DeviceCallOpInterface>]> {
  let summary = "write a scalar, a vector or a tile";
  let description = [{
    The reverse of `cuda.load`. Clauses
    store_c1, store_c2, store_c3 as those of `cuda.load`.
  }];
  let arguments = (ins
    CUDA_Value:$value, Arg<MemRefRankOf<[AnyType], [1]>, "", [MemWrite]>:$base,
    CUDA_Offset:$offset,
    DefaultValuedAttr<I64Attr, "0">:$stride,
    DefaultValuedAttr<I64Attr, "0">:$align,
    DefaultValuedAttr<CUDA_StorePolicy, "::dsv4::cuda::StorePolicy::Default">:$policy
  );
  let assemblyFormat = [{
    $value `,` $base `[` $offset `]` (`stride` $stride^)? (`align` $align^)?
    ($policy^)? attr-dict `:` type($value) `,` type($base) `,` type($offset)
  }];
  let hasVerifier = 1;
}

def CUDA_ExpandOp : CUDA_Op<"expand", [Pure,
    DeclareOpInterfaceMethods<CUDA_DeviceCallOpInterface>]> {
  let summary = "repeat factors over the elements they cover";
  let description = [{
    A tile of S chunks of V elements in which every factor stands for several:
    from `vector<S x G>`, each for V / G consecutive elements of its chunk; from
    `vector<N>`, each for S / N consecutive chunks. Clauses:

    * expand_c1: the element types agree;
    * expand_c2: S agrees and G divides V, or N divides S.
  }];
  let arguments = (ins VectorOfRankAndType<[1, 2], [AnyFloat]>:$factors);
  let results = (outs VectorOfRankAndType<[2], [AnyFloat]>:$tile);
  let assemblyFormat = "$factors attr-dict `:` type($factors) `to` type($tile)";
  let hasVerifier = 1;
}

def CUDA_DequantizeOp : CUDA_Op<"dequantize", [Pure,
    DeclareOpInterfaceMethods<CUDA_DeviceCallOpInterface>]> {
  let summary = "multiply stored elements by the factors they share";
  let description = [{
    Every element of a tile, as f32, times its factor, as f32: the product is
    rounded to f32 and then to the element type of the result. Factors stand for
    elements as in `cuda.expand`. Clauses:

    * dequantize_c1: the result has the shape of the values, and f32 or bf16
      elements;
    * dequantize_c2: as expand_c2.
  }];
  let arguments = (ins
    VectorOfRankAndType<[2], [AnyInteger, AnyFloat]>:$values,
    VectorOfRankAndType<[1, 2], [AnyFloat]>:$factors);
  let results = (outs VectorOfRankAndType<[2], [AnyFloat]>:$tile);
  let assemblyFormat = [{
    $values `by` $factors attr-dict `:` type($values) `by` type($factors) `to` type($tile)
  }];
  let hasVerifier = 1;
}

def CUDA_SwapNibblesOp : CUDA_Op<"swap_nibbles", [Pure, AllTypesMatch<["source", "swapped"]>,
    DeclareOpInterfaceMethods<CUDA_DeviceCallOpInterface>]> {
  let summary = "swap the elements of every packed 4-bit pair";
  let description = [{
    Turns pairs stored high nibble first into pairs stored low nibble first.
    Clause swap_nibbles_c1: elements have 4 bits, and a chunk is an even number of
    them.
  }];
  let hasVerifier = 1;
  let arguments = (ins VectorOfRankAndType<[1, 2], [AnyInteger, AnyFloat]>:$source);
  let results = (outs VectorOfRankAndType<[1, 2], [AnyInteger, AnyFloat]>:$swapped);
  let assemblyFormat = "$source attr-dict `:` type($source)";
}

//===----------------------------------------------------------------------===//
// Programmatic dependent launch
//===----------------------------------------------------------------------===//

def CUDA_WaitForPredecessorsOp : CUDA_Op<"wait_for_predecessors", [
    MemoryEffects<[MemRead, MemWrite]>,
    DeclareOpInterfaceMethods<CUDA_DeviceCallOpInterface>]> {
  let summary = "wait for the kernels this launch depends on";
  let description = [{
    Returns when they are complete and their writes are visible. Comes before
    every access to memory. Below sm_90 it does nothing, as nothing starts early.
  }];
  let assemblyFormat = "attr-dict";
}

def CUDA_LaunchSuccessorsOp : CUDA_Op<"launch_successors", [
    MemoryEffects<[MemRead, MemWrite]>,
    DeclareOpInterfaceMethods<CUDA_DeviceCallOpInterface>]> {
  let summary = "let the next kernel start";
  let description = [{
    Its own wait still holds until this kernel is complete.
  }];
  let assemblyFormat = "attr-dict";
}

#endif // CUDA_OPS_TD
