//===- CUDASelectOps.td - Selections and what they are of -*- tablegen -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CUDA_SELECT_OPS_TD
#define CUDA_SELECT_OPS_TD

include "CUDAOpBase.td"

def CUDA_SelectKind : I32EnumAttr<"SelectKind", "which threads select from a row", [
    I32EnumAttrCase<"Block", 1, "block">,
    I32EnumAttrCase<"Stream", 2, "stream">,
    I32EnumAttrCase<"Warp", 3, "warp">,
    I32EnumAttrCase<"Rounds", 4, "rounds">
  ]> {
  let cppNamespace = "::dsv4::cuda";
}

def CUDA_ActivationKind : I32EnumAttr<"ActivationKind", "a function of one number", [
    I32EnumAttrCase<"SqrtSoftplus", 0, "sqrt_softplus">,
    I32EnumAttrCase<"Sigmoid", 1, "sigmoid">,
    I32EnumAttrCase<"Exp", 2, "exp">
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

//===----------------------------------------------------------------------===//
// Elements by index, functions
//===----------------------------------------------------------------------===//

def CUDA_GatherOp : CUDA_Op<"gather", [Elementwise,
    DeclareOpInterfaceMethods<CUDA_DeviceCallOpInterface>]> {
  let summary = "read elements by index";
  let description = [{
    For every index i of a vector the element `offset` + i of `base`; zero, and nothing is read,
    where i is not between 0 and `count` - 1. Clause gather_c1: the elements are those of the base.
  }];
  let arguments = (ins Arg<MemRefRankOf<[BF16, F32], [1]>, "", [MemRead]>:$base, CUDA_Offset:$offset,
                       VectorOfRankAndType<[1, 2], [I32]>:$indices, I64Attr:$count);
  let results = (outs VectorOfRankAndType<[1, 2], [BF16, F32]>:$elements);
  let assemblyFormat = [{
    $base `[` $offset `]` `at` $indices `below` $count attr-dict
    `:` type($base) `,` type($offset) `,` type($indices) `->` type($elements)
  }];
  let hasVerifier = 1;
}

def CUDA_WhereValidOp : CUDA_Op<"where_valid", [Pure, Elementwise, AllTypesMatch<["values", "kept"]>,
    DeclareOpInterfaceMethods<CUDA_DeviceCallOpInterface>]> {
  let summary = "values whose index is one";
  let description = [{
    Every value whose index is between 0 and `count` - 1, and `otherwise` in place of the others.
    There is an index for each value, or one for all.
  }];
  let arguments = (ins VectorOfRankAndType<[1, 2], [F32]>:$values,
                       AnyTypeOf<[I32, VectorOfRankAndType<[1, 2], [I32]>]>:$indices, I64Attr:$count,
                       DefaultValuedAttr<F32Attr, "0.0f">:$otherwise);
  let results = (outs VectorOfRankAndType<[1, 2], [F32]>:$kept);
  let assemblyFormat = [{
    $values `at` $indices `below` $count (`otherwise` $otherwise^)? attr-dict `:` type($values) `,` type($indices)
  }];
}

def CUDA_ActivationOp : CUDA_Op<"activation", [Pure, Elementwise, AllTypesMatch<["source", "result"]>,
    DeclareOpInterfaceMethods<CUDA_DeviceCallOpInterface>]> {
  let summary = "a function of every element";
  let description = [{
    `sqrt_softplus` and `sigmoid` as `dsv4.gate` has them, and `exp`, e to a power that is not
    positive, as `dsv4.compress` has it, NaN of NaN.
  }];
  let arguments = (ins CUDA_ActivationKind:$kind, VectorOfRankAndType<[1, 2], [F32]>:$source);
  let results = (outs VectorOfRankAndType<[1, 2], [F32]>:$result);
  let assemblyFormat = "$kind $source attr-dict `:` type($source)";
}

//===----------------------------------------------------------------------===//
// Selection
//===----------------------------------------------------------------------===//

def CUDA_SelectOp : CUDA_Op<"select", [
    RecursiveMemoryEffects,
    DeclareOpInterfaceMethods<InferIntRangeInterface, ["inferResultRanges"]>,
    DeclareOpInterfaceMethods<CUDA_DeviceCallOpInterface>]> {
  let summary = "the best elements of a row";
  let description = [{
    The min(`places`, length) elements of a row that come first in the order of `dsv4.topk`, without
    a bias. The row has `length` elements, at most `most`. The first region gives the vector of
    elements that starts at column `column`, a multiple of its extent; what it gives for columns
    from `length` on has no meaning. The second is run once for every place below `places`, with the
    place, the element's index and the element; places behind the last element have index -1 and
    value -infinity, +infinity with `smallest`.

    All `threads` threads of a block, or of the `cluster` blocks that have the row, run it together,
    `chunks` vectors a thread at a time: of kind `block` these are the longest row, of kind `rounds`
    a few times as many may be, and of kind `stream` any number. With `parts` so many blocks have
    the row without being a cluster; the last of them to end runs the second region. What they tell
    each other is in a workspace of `getWorkspaceBytes()` bytes a row, zero before and after. Of
    kind `warp` each warp has a row of `chunks` vectors a lane. Then the second region is run by all
    lanes at once, each with its number as the place; behind the last place, too, the index is -1.
    Of more than one of `groups` those that `dsv4.topk` with as many `keep`s, `by` as many elements.
    `computed`: the elements are results of arithmetic, which makes one NaN only. Clauses:

    * select_c1: the regions have the arguments `column`, and `place`, `index` and `value`; the
      first ends in a `cuda.select_yield` of one vector, the second in one of none;
    * select_c2: there are between 1 and 4096 places, 32 of kind `warp`; `most` is positive; threads
      are a power of two between 64 and 1024, for which kind `warp` has no use; a thread has at most
      32 elements at a time; only kinds `block` and `stream` have a cluster, of 2 to 16 blocks;
    * select_c3: at most 32 groups, which divide `most`; between 1 and all of them are kept, by at
      least 1 element of each; only kind `warp` has more than one;
    * select_c4: parts is 1 without a workspace, and an even number from 2 to 256 with one, which
      only kind `stream` without a cluster has.
  }];
  let arguments = (ins CUDA_Offset:$length, I64Attr:$places, I64Attr:$most,
                       DefaultValuedAttr<CUDA_SelectOrder, "::dsv4::cuda::SelectOrder::Unordered">:$order,
                       UnitAttr:$smallest,
                       DefaultValuedAttr<CUDA_SelectKind, "::dsv4::cuda::SelectKind::Block">:$kind,
                       DefaultValuedAttr<I64Attr, "1">:$threads,
                       DefaultValuedAttr<I64Attr, "1">:$chunks,
                       DefaultValuedAttr<I64Attr, "1">:$cluster,
                       DefaultValuedAttr<I64Attr, "1">:$parts,
                       Optional<MemRefRankOf<[I8], [1]>>:$workspace, UnitAttr:$computed,
                       DefaultValuedAttr<I64Attr, "1">:$groups, DefaultValuedAttr<I64Attr, "1">:$keep,
                       DefaultValuedAttr<I64Attr, "1">:$by);
  let regions = (region SizedRegion<1>:$load, SizedRegion<1>:$emit);
  let assemblyFormat = [{
    $places `of` $length `most` $most (`order` $order^)? (`smallest` $smallest^)?
    (`kind` $kind^)? (`threads` $threads^)? (`chunks` $chunks^)? (`cluster` $cluster^)?
    (`parts` $parts^)? (`in` $workspace^)? (`computed` $computed^)?
    (`groups` $groups^)? (`keep` $keep^)? (`by` $by^)?
    attr-dict-with-keyword `:` type($length) (`,` type($workspace)^)? `load` $load `emit` $emit
  }];
  let extraClassDeclaration = [{
    static constexpr int64_t kMostPlaces = 4096, kMostPlacesOfWarp = 32, kMostHeld = 32, kMostBlocks = 16,
                             kMostGroups = 32;
    /// What the first region gives.
    ::mlir::VectorType getChunk();
    /// What a row has of a workspace: counters, and as many elements of each
    /// block as can be among the best.
    static int64_t getWorkspaceBytes(int64_t places, int64_t parts) { return 16 + 8 * places * parts; }
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def CUDA_ColumnsOp : CUDA_Op<"columns", [Pure, DeclareOpInterfaceMethods<CUDA_DeviceCallOpInterface>]> {
  let summary = "columns of a row that a selection has";
  let description = [{
    In the first region of a `cuda.select`: of a row that was computed in front of it the columns
    from `column` on. The row is a tile of one of `lanes` lanes, and the columns are a chunk that it
    has itself. One lane may hold the row as a vector. Clauses:

    * columns_c1: the element types agree, and the columns are a chunk of the tile, or a part of the
      vector that divides it;
    * columns_c2: `lanes` is a power of two of at most 32, 1 of a vector.
  }];
  let arguments = (ins VectorOfRankAndType<[1, 2], [F32]>:$row, CUDA_Offset:$column,
                       DefaultValuedAttr<I64Attr, "1">:$lanes);
  let results = (outs VectorOfRankAndType<[1, 2], [F32]>:$chunk);
  let assemblyFormat = [{
    $row `at` $column (`lanes` $lanes^)? attr-dict `:` type($row) `,` type($column) `to` type($chunk)
  }];
  let hasVerifier = 1;
}

def CUDA_PlaceSumOp : CUDA_Op<"place_sum", [Pure, AllTypesMatch<["source", "total"]>,
    DeclareOpInterfaceMethods<CUDA_DeviceCallOpInterface>]> {
  let summary = "the sum of what a selection has in its places";
  let description = [{
    In the second region of a `cuda.select` whose places the lanes of a warp have: the sum of the
    values of its `places` first lanes, as a binary tree of neighbours like that of `cuda.reduce`.
    The others have zeros. Clause place_sum_c1: there are between 1 and 32 places.
  }];
  let arguments = (ins VectorOfRankAndType<[1, 2], [F32]>:$source, I64Attr:$places);
  let results = (outs VectorOfRankAndType<[1, 2], [F32]>:$total);
  let assemblyFormat = "$source `of` $places attr-dict `:` type($source)";
  let hasVerifier = 1;
}

def CUDA_SelectYieldOp : CUDA_Op<"select_yield", [
    Pure, Terminator, ReturnLike, HasParent<"SelectOp">]> {
  let summary = "what a region of a selection gives";
  let arguments = (ins Variadic<VectorOfRankAndType<[1, 2], [F32]>>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

#endif // CUDA_SELECT_OPS_TD
