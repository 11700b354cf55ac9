//===- CUDASectionOps.td - Rows section by section -*- tablegen -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CUDA_SECTION_OPS_TD
#define CUDA_SECTION_OPS_TD

include "CUDAOpBase.td"

def CUDA_FoldSectionsOp : CUDA_Op<"fold_sections", [
    RecursiveMemoryEffects,
    DeclareOpInterfaceMethods<InferIntRangeInterface, ["inferResultRanges"]>,
    DeclareOpInterfaceMethods<CUDA_DeviceCallOpInterface,
                              ["getTemplateArguments", "getCallArguments"]>]> {
  let summary = "reduce a row that is too long to hold, section by section";
  let description = [{
    ```mlir
    func.func @example(%x: memref<?xf32>, %lane: index) {
      %c0 = arith.constant 0 : index
      %c65535 = arith.constant 65535 : index
      %sum = cuda.fold_sections sum %c0 to %c65535 by 256 max 256 {
      ^bb0(%section: index):
        %at = arith.addi %section, %lane : index
        %tile = cuda.load %x[%at] stride 32 : memref<?xf32>, index -> vector<8x1xf32>
        %part = cuda.reduce sum %tile per 256 lanes 32 : vector<8x1xf32> to vector<1xf32>
        cuda.section_yield %part : vector<1xf32>
      } : index, index to vector<1xf32>
      return
    }
    ```

    Calls the region with the first element of each section of `by` elements from `first` on, one
    after another, and folds what the region ends in: a number per section, as `cuda.reduce` makes
    it of the section. The sum of all sections is the binary tree of `cuda.reduce`, if a section has
    a power of two of elements; the largest has no order. There are `max` sections at most. Only as
    many numbers are kept as there are levels of the tree. Clauses:

    * fold_sections_c1: the region has an index and ends in a `cuda.section_yield` of
      `vector<1xf32>`;
    * fold_sections_c2: `by` and `max` are positive.
  }];
  let arguments = (ins CUDA_ReduceKind:$kind, CUDA_Offset:$first, CUDA_Offset:$end, I64Attr:$by,
                       I64Attr:$max);
  let regions = (region SizedRegion<1>:$body);
  let results = (outs VectorOfRankAndType<[1], [F32]>:$folded);
  let assemblyFormat = [{
    $kind $first `to` $end `by` $by `max` $max $body attr-dict `:` type($first) `,` type($end) `to`
    type($folded)
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def CUDA_HadamardSectionsOp : CUDA_Op<"hadamard_sections", [
    RecursiveMemoryEffects,
    DeclareOpInterfaceMethods<InferIntRangeInterface, ["inferResultRanges"]>,
    DeclareOpInterfaceMethods<CUDA_DeviceCallOpInterface,
                              ["getTemplateArguments", "getCallArguments"]>]> {
  let summary = "one section of the transform of a row that is too long to hold";
  let description = [{
    ```mlir
    cuda.hadamard_sections %section by 1024 row 65536 {
    ^bb0(%other: index):
      ...
      cuda.section_yield %transformed : vector<8x4xf32>
    } : index to vector<8x4xf32>
    ```

    Returns the section of the Walsh-Hadamard transform of a row of `row` elements that begins at
    element `section`. The region is called with the first element of each section, and ends in the
    transform of that section alone. Sums and differences are those of `cuda.hadamard`, in its
    order. Clauses:

    * hadamard_sections_c1: the region has an index and ends in a `cuda.section_yield` of the type
      of the result;
    * hadamard_sections_c2: `by` and `row` are powers of two, and `by` is not larger.
  }];
  let arguments = (ins CUDA_Offset:$section, I64Attr:$by, I64Attr:$row);
  let regions = (region SizedRegion<1>:$body);
  let results = (outs VectorOfRankAndType<[2], [F32]>:$transformed);
  let assemblyFormat = [{
    $section `by` $by `row` $row $body attr-dict `:` type($section) `to` type($transformed)
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def CUDA_SectionYieldOp : CUDA_Op<"section_yield", [
    Pure, Terminator, ReturnLike, ParentOneOf<["FoldSectionsOp", "HadamardSectionsOp"]>]> {
  let summary = "result of a section";
  let description = [{
    ```mlir
    cuda.section_yield %part : vector<1xf32>
    ```

    Ends the region of a `cuda.fold_sections` or a `cuda.hadamard_sections`.
  }];
  let arguments = (ins VectorOfRankAndType<[1, 2], [F32]>:$value);
  let assemblyFormat = "$value attr-dict `:` type($value)";
}

#endif // CUDA_SECTION_OPS_TD
