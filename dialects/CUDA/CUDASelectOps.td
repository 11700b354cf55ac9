//===- CUDASelectOps.td - Selections -*- tablegen -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CUDA_SELECT_OPS_TD
#define CUDA_SELECT_OPS_TD

include "CUDAOpBase.td"
include "DSV4SelectAlgorithm.td"

//===----------------------------------------------------------------------===//
// Selection
//===----------------------------------------------------------------------===//

def CUDA_SelectOp : CUDA_Op<"select", [
    RecursiveMemoryEffects, AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<InferIntRangeInterface, ["inferResultRanges"]>,
    DeclareOpInterfaceMethods<CUDA_DeviceCallOpInterface, ["getConfig", "getCallArguments"]>,
    DeclareOpInterfaceMethods<CUDA_IndexWidthOpInterface, ["isInt32"]>]> {
  let summary = "the best elements of a row";
  let description = [{
    ```mlir
    func.func @example(%scores: memref<?xf32>, %n: index, %out: memref<?xf32>) {
      cuda.select 8 of %n max 64 threads 64 : index load {
      ^bb0(%column: index):
        %x = cuda.load_part %scores[%column] of %n : memref<?xf32>, index, index -> vector<4xf32>
        cuda.select_yield %x : vector<4xf32>
      } emit {
      ^bb0(%rank: index, %index: index, %value: f32):
        memref.store %value, %out[%rank] : memref<?xf32>
        cuda.select_yield
      }
      return
    }
    ```

    Selects the min(`k`, length) elements of a row that come first in the order of `dsv4.topk`
    without a bias. The row has `length` elements, at most `max`. The first region returns the
    vector of elements that starts at column `column`, a multiple of its extent; elements at or
    beyond `length` are ignored. The second region runs once for every rank below `k`, with the
    rank, the index of the element and the element. Ranks after the last element have index -1 and
    value -infinity, +infinity with `smallest`.

    With `after` the first `head` elements, fewer than a vector has, do not count either, and
    indices count from the element after them: so a row may begin within a vector. `ties high` and
    `nan first` mean the same as in `dsv4.topk`; with `nan first` the second region gets the
    elements + 0.

    `algorithm` is that of the schedule. The verifier of the schedule holds the limits of the
    numbers here:

    * `block` and `stream`: all `threads` threads of a block, or of the `cluster` blocks that share
      the row, select together, `vectors` vectors per thread at a time. With `block` the threads
      hold the longest row; with `stream` they read a row in any number of rounds. With `few_rounds`
      they read it in a few rounds, and the first round bounds the others;
    * `grid`: like `stream`, but `blocks` blocks share the row without a cluster. The last of them
      to end runs the second region. They communicate through a workspace of `getWorkspaceBytes()`
      bytes per row, which is zero before and after;
    * `warp`: each warp has a row of `vectors` vectors per lane. All lanes then run the second
      region at once, each with its lane number as the rank, and index -1 after the last rank.
      `groups`, `keep` and `by` mean the same as in `dsv4.topk`.

    `computed` says that the elements are results of arithmetic, which makes only one NaN. Clauses:

    * select_c1: the regions have the arguments `column`, and `rank`, `index` and `value`; the
      first ends in a `cuda.select_yield` of one vector, the second in one of none;
    * select_c2: `k`, `max`, `threads`, `vectors`, `cluster` and `blocks` are positive, and `max` is
      an i32;
    * select_c3: `groups` divide `max`; between 1 and all of them are kept, by at least 1 element of
      each; only `warp` has more than one;
    * select_c4: `grid`, and no other algorithm, has a workspace and more than one block per row;
      only `block` and `stream` have a cluster, only `stream` has `few_rounds`; `tile` is
      `cuda.select_tiles`, `resident` is `cuda.select_resident`, and rows that are `held` are
      selected from by `warp`;
    * select_c5: one group with a `head` or `ties high`; vectors of more than one element with a
      `head`.
  }];
  let arguments = (ins CUDA_Offset:$length, Optional<CUDA_Offset>:$head, I64Attr:$k, I64Attr:$max,
                       DefaultValuedAttr<CUDA_SelectOrder,
                       "::dsv4::cuda::SelectOrder::Unordered">:$order,
                       UnitAttr:$smallest, UnitAttr:$ties_high, UnitAttr:$nan_first,
                       DefaultValuedAttr<DSV4_SelectAlgorithm,
                       "::dsv4::SelectAlgorithm::Block">:$algorithm,
                       UnitAttr:$few_rounds,
                       DefaultValuedAttr<I64Attr, "1">:$threads,
                       DefaultValuedAttr<I64Attr, "1">:$vectors,
                       DefaultValuedAttr<I64Attr, "1">:$cluster,
                       DefaultValuedAttr<I64Attr, "1">:$blocks,
                       Arg<Optional<MemRefRankOf<[I8], [1]>>, "", [MemRead, MemWrite]>:$workspace,
                       UnitAttr:$computed,
                       DefaultValuedAttr<I64Attr, "1">:$groups,
                       DefaultValuedAttr<I64Attr, "1">:$keep,
                       DefaultValuedAttr<I64Attr, "1">:$by);
  let regions = (region SizedRegion<1>:$load, SizedRegion<1>:$emit);
  let assemblyFormat = [{
    $k `of` $length (`after` $head^ `:` type($head))? `max` $max (`order` $order^)?
    (`smallest` $smallest^)? (`ties` `high` $ties_high^)? (`nan` `first` $nan_first^)?
    (`algorithm` $algorithm^)? (`few_rounds` $few_rounds^)? (`threads` $threads^)?
    (`vectors` $vectors^)? (`cluster` $cluster^)? (`blocks` $blocks^)? (`in` $workspace^)?
    (`computed` $computed^)? (`groups` $groups^)? (`keep` $keep^)? (`by` $by^)?
    attr-dict-with-keyword `:` type($length) (`,` type($workspace)^)? `load` $load `emit` $emit
  }];
  let extraClassDeclaration = [{
    bool isWarp() { return getAlgorithm() == ::dsv4::SelectAlgorithm::Warp; }
    /// The vector that the first region returns.
    ::mlir::VectorType getVector();
    /// The workspace of a row: counters, and the elements of each block that can
    /// be among the best.
    static int64_t getWorkspaceBytes(int64_t k, int64_t blocks) {
      return 16 + 8 * k * blocks;
    }
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def CUDA_SelectYieldOp : CUDA_Op<"select_yield", [
    Pure, Terminator, ReturnLike, HasParent<"SelectOp">]> {
  let summary = "result of a region of a selection";
  let description = [{
    ```mlir
    cuda.select_yield %x : vector<4xf32>
    ```

    Ends a region of a `cuda.select`, and returns its result.
  }];
  let arguments = (ins Variadic<VectorOfRankAndType<[1, 2], [F32]>>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

#endif // CUDA_SELECT_OPS_TD
