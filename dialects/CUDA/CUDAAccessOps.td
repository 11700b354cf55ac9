//===- CUDAAccessOps.td - Memory, caches and launches -*- tablegen -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CUDA_ACCESS_OPS_TD
#define CUDA_ACCESS_OPS_TD

include "CUDAOpBase.td"

//===----------------------------------------------------------------------===//
// Loads and stores
//===----------------------------------------------------------------------===//

def CUDA_LoadOp : CUDA_Op<"load", [AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<CUDA_DeviceCallOpInterface,
        ["getTemplateArguments", "getCallArguments"]>,
    DeclareOpInterfaceMethods<CUDA_IndexWidthOpInterface, ["isInt32"]>,
    DeclareOpInterfaceMethods<CUDA_BufferAccessOpInterface>]> {
  let summary = "read a scalar, a vector or a tile";
  let description = [{
    ```mlir
    func.func @example(%bytes: memref<?xi8>, %floats: memref<?xf32>,
                       %i: i32, %at: i64, %valid: i1) {
      %scalar = cuda.load %floats[%i] ordered : memref<?xf32>, i32 -> f32
      %tile = cuda.load %bytes[%at] if %valid stride 64 align 8 evict_last
          : memref<?xi8>, i64 -> vector<7x8xf8E4M3FN>
      return
    }
    ```

    Reads from element `offset` of `base`: one element, `V` consecutive ones (`vector<V x T>`), or
    `S` vectors of `V` consecutive ones that start `stride` elements of the base apart
    (`vector<S x V x T>`). A vector may have another element type than `base`; its bytes are
    reinterpreted. If the predicate is false, nothing is read and every byte is zero. With `vectors`
    only the first `vectors` vectors of a tile are read, and the others are zero.

    A vector or a tile is read after the `cuda.wait_for_previous_kernel` and the stores before it.
    So is an `ordered` scalar; C++ alone does not promise that. A `staged` load passes on the
    address instead of the vector, and its user reads the vector through shared memory, together
    with the vectors of other lanes. Clauses:

    * load_c1: a scalar has the element type of the base, whole bytes and no stride, and an i1 has
      no predicate and is not `ordered`;
    * load_c2: a tile of more than one vector has a stride;
    * load_c3: `align`, the alignment in bytes that every vector is known to have, is a power of
      two, at most 2^30, and of a scalar at least its size;
    * load_c4: a `staged` load is of one vector of a power of two of bytes, at least 2, without a
      predicate, a policy or an alignment, in a row of a `cuda.window_segment`;
    * load_c5: `vectors` is of a tile, without a predicate.
  }];
  let arguments = (ins
    Arg<MemRefRankOf<[AnyType], [1]>, "", [MemRead]>:$base,
    CUDA_Offset:$offset, Optional<I1>:$predicate, Optional<CUDA_Offset>:$vectors,
    DefaultValuedAttr<I64Attr, "0">:$stride,
    DefaultValuedAttr<I64Attr, "0">:$align,
    DefaultValuedAttr<CUDA_LoadPolicy, "::dsv4::cuda::LoadPolicy::Default">:$policy,
    UnitAttr:$ordered, UnitAttr:$staged
  );
  let results = (outs CUDA_Value:$value);
  let assemblyFormat = [{
    $base `[` $offset `]` (`if` $predicate^)? (`vectors` $vectors^ `:` type($vectors))?
    (`stride` $stride^)? (`align` $align^)?
    ($policy^)? (`ordered` $ordered^)? (`staged` $staged^)? attr-dict `:` type($base) `,`
    type($offset) `->` type($value)
  }];
  let extraClassDeclaration = [{
    /// Whether the element is read as `base[offset]`, without a call.
    bool isSubscript() {
      return !::llvm::isa<::mlir::VectorType>(getValue().getType()) &&
             !getPredicate() && !getOrdered();
    }
  }];
  let hasVerifier = 1;
}

def CUDA_CacheLine : Resource<"::dsv4::cuda::CacheLine">;

def CUDA_PrefetchOp : CUDA_Op<"prefetch", [
    MemoryEffects<[MemWrite<CUDA_CacheLine>]>,
    DeclareOpInterfaceMethods<CUDA_DeviceCallOpInterface, ["getCallArguments"]>]> {
  let summary = "prefetch a cache line";
  let description = [{
    ```mlir
    func.func @example(%plan: memref<?xi32>, %i: i32, %valid: i1) {
      cuda.prefetch %plan[%i] l2 if %valid : memref<?xi32>, i32
      return
    }
    ```

    Brings the line with element `offset` of `base` into the L1 cache, unless the predicate is
    false. With `l2` it brings the line into the L2 cache, where stores of other kernels cannot make
    it stale. The kernel does not wait for it.
  }];
  let arguments = (ins Arg<MemRefRankOf<[AnyType], [1]>, "", [MemRead]>:$base, CUDA_Offset:$offset,
                       Optional<I1>:$predicate, UnitAttr:$l2);
  let assemblyFormat = [{
    $base `[` $offset `]` (`l2` $l2^)? (`if` $predicate^)? attr-dict `:` type($base) `,`
    type($offset)
  }];
}

def CUDA_LoadPartOp : CUDA_Op<"load_part", [
    DeclareOpInterfaceMethods<CUDA_DeviceCallOpInterface,
        ["getTemplateArguments", "getCallArguments"]>,
    DeclareOpInterfaceMethods<CUDA_IndexWidthOpInterface, ["isInt32"]>]> {
  let summary = "read the part of a vector that exists";
  let description = [{
    ```mlir
    func.func @example(%scores: memref<?xf32>, %column: index, %left: index) {
      %x = cuda.load_part %scores[%column] of %left : memref<?xf32>, index, index -> vector<4xf32>
      return
    }
    ```

    Reads the first min(`left`, V) of V consecutive elements from element `offset` of `base` on. The
    others are not read, and are zero. The address may have any alignment. Clause load_part_c1: the
    element types of base and vector agree, and there is one vector.
  }];
  let arguments = (ins Arg<MemRefRankOf<[BF16, F16, F32], [1]>, "", [MemRead]>:$base,
                       CUDA_Offset:$offset, CUDA_Offset:$left);
  let results = (outs VectorOfRankAndType<[1, 2], [BF16, F16, F32]>:$value);
  let assemblyFormat = [{
    $base `[` $offset `]` `of` $left attr-dict
    `:` type($base) `,` type($offset) `,` type($left) `->` type($value)
  }];
  let hasVerifier = 1;
}

def CUDA_BytesOp : CUDA_Op<"bytes", [Pure]> {
  let summary = "memory as bytes";
  let description = [{
    ```mlir
    func.func @example(%floats: memref<?xf32>, %at: index) {
      %bytes = cuda.bytes %floats : memref<?xf32> to memref<?xi8>
      %row = cuda.bytes %floats[%at] : memref<?xf32>, index to memref<?xi8>
      return
    }
    ```

    Returns the memory of `base`, from element `offset` on if that is given, as bytes. It is only
    read.
  }];
  let arguments = (ins MemRefRankOf<[AnyType], [1]>:$base, Optional<CUDA_Offset>:$offset);
  let results = (outs MemRefRankOf<[I8], [1]>:$memory);
  let assemblyFormat = [{
    $base (`[` $offset^ `]`)? attr-dict `:` type($base) (`,` type($offset)^)? `to` type($memory)
  }];
}

def CUDA_StoreOp : CUDA_Op<"store", [DeclareOpInterfaceMethods<CUDA_DeviceCallOpInterface,
        ["getTemplateArguments", "getCallArguments"]>,
    DeclareOpInterfaceMethods<CUDA_IndexWidthOpInterface, ["isInt32"]>,
    DeclareOpInterfaceMethods<CUDA_BufferAccessOpInterface>]> {
  let summary = "write a scalar, a vector or a tile";
  let description = [{
    ```mlir
    func.func @example(%out: memref<?xbf16>, %tile: vector<7x8xbf16>, %at: i64) {
      cuda.store %tile, %out[%at] stride 64 align 8 streaming
          : vector<7x8xbf16>, memref<?xbf16>, i64
      return
    }
    ```

    The reverse of `cuda.load`. With `vectors` only the first `vectors` vectors of a tile are
    written. Clauses store_c1, store_c2 and store_c3 are those of `cuda.load`. Clause store_c4:
    `vectors` is for a tile.
  }];
  let arguments = (ins
    CUDA_Value:$value, Arg<MemRefRankOf<[AnyType], [1]>, "", [MemWrite]>:$base,
    CUDA_Offset:$offset, Optional<CUDA_Offset>:$vectors,
    DefaultValuedAttr<I64Attr, "0">:$stride,
    DefaultValuedAttr<I64Attr, "0">:$align,
    DefaultValuedAttr<CUDA_StorePolicy, "::dsv4::cuda::StorePolicy::Default">:$policy
  );
  let assemblyFormat = [{
    $value `,` $base `[` $offset `]` (`vectors` $vectors^ `:` type($vectors))? (`stride` $stride^)?
    (`align` $align^)?
    ($policy^)? attr-dict `:` type($value) `,` type($base) `,` type($offset)
  }];
  let extraClassDeclaration = [{
    /// Whether the element is written as `base[offset]`, without a call.
    bool isSubscript() {
      return !::llvm::isa<::mlir::VectorType>(getValue().getType());
    }
  }];
  let hasVerifier = 1;
}

def CUDA_StoreRunsOp : CUDA_Op<"store_runs", [
    DeclareOpInterfaceMethods<CUDA_DeviceCallOpInterface,
        ["getTemplateArguments", "getCallArguments"]>,
    DeclareOpInterfaceMethods<CUDA_IndexWidthOpInterface, ["isInt32"]>,
    DeclareOpInterfaceMethods<CUDA_BufferAccessOpInterface>]> {
  let summary = "write values in runs at equal distances";
  let description = [{
    ```mlir
    func.func @example(%scales: memref<?xi32>, %values: vector<2x1xf8E8M0FNU>, %at: i64,
                       %first: i32, %stride: i64) {
      cuda.store_runs %values, %scales[%at] from %first step 4 run 4 count 7 pad 1 stride %stride
          : vector<2x1xf8E8M0FNU>, memref<?xi32>, i64, i32, i64
      return
    }
    ```

    Writes value i of a row at `offset` + (i / `run`) * `stride` + i mod `run`, for the values that
    a tile has: those from `first` on in its first vector, and in every other one those `step` after
    the one before. Offset and stride count values, whatever the elements of the base. Whoever
    writes the last of the `count` values of a row writes `pad` zeros after it. Clauses
    store_runs_c1: values have 8 or 32 bits; store_runs_c2: `run` and `count` are positive, `step`
    and `pad` are not negative, and all are below 2^31.
  }];
  let arguments = (ins
    VectorOfRankAndType<[1, 2], [AnyInteger, AnyFloat]>:$value,
    Arg<MemRefRankOf<[AnyType], [1]>, "", [MemWrite]>:$base, CUDA_Offset:$offset,
    CUDA_Offset:$first, I64Attr:$step, I64Attr:$run, I64Attr:$count, I64Attr:$pad,
    CUDA_Offset:$stride
  );
  let assemblyFormat = [{
    $value `,` $base `[` $offset `]` `from` $first `step` $step `run` $run `count` $count `pad` $pad
    `stride` $stride attr-dict `:` type($value) `,` type($base) `,` type($offset) `,` type($first)
    `,` type($stride)
  }];
  let hasVerifier = 1;
}

def CUDA_LoadRunsOp : CUDA_Op<"load_runs", [
    DeclareOpInterfaceMethods<CUDA_DeviceCallOpInterface,
        ["getTemplateArguments", "getCallArguments"]>,
    DeclareOpInterfaceMethods<CUDA_IndexWidthOpInterface, ["isInt32"]>,
    DeclareOpInterfaceMethods<CUDA_BufferAccessOpInterface>]> {
  let summary = "read values in runs at equal distances";
  let description = [{
    ```mlir
    func.func @example(%scales: memref<?xi32>, %at: i64, %first: i32, %stride: i64, %valid: i1) {
      %s = cuda.load_runs %scales[%at] if %valid from %first step 4 run 4 stride %stride
          : memref<?xi32>, i64, i32, i64 -> vector<2x1xf8E8M0FNU>
      return
    }
    ```

    Reads values of a row as `cuda.store_runs` writes them: value i is at
    `offset` + (i / `run`) * `stride` + i mod `run`, and a tile has those from `first` on in its
    first vector, and in every other one those `step` after the one before. If the predicate is
    false, nothing is read and every value has zero bits. Clauses load_runs_c1: values have 8 or 32
    bits; load_runs_c2: `run` is positive, `step` is not negative, and both are below 2^31.
  }];
  let arguments = (ins
    Arg<MemRefRankOf<[AnyType], [1]>, "", [MemRead]>:$base, CUDA_Offset:$offset,
    Optional<I1>:$predicate, CUDA_Offset:$first, CUDA_Offset:$stride, I64Attr:$step, I64Attr:$run
  );
  let results = (outs VectorOfRankAndType<[1, 2], [AnyInteger, AnyFloat]>:$value);
  let assemblyFormat = [{
    $base `[` $offset `]` (`if` $predicate^)? `from` $first `step` $step `run` $run
    `stride` $stride attr-dict `:` type($base) `,` type($offset) `,` type($first) `,`
    type($stride) `->` type($value)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Rows that begin at any element
//===----------------------------------------------------------------------===//

def CUDA_LoadWordsOp : CUDA_Op<"load_words", [
    DeclareOpInterfaceMethods<CUDA_DeviceCallOpInterface,
        ["getTemplateArguments", "getCallArguments"]>]> {
  let summary = "read the words that a row is in";
  let description = [{
    ```mlir
    func.func @example(%x: memref<?xbf16>, %at: i64, %valid: i1) {
      %words = cuda.load_words %x[%at] if %valid lanes 16 evict_last
          : memref<?xbf16>, i64 -> vector<2x8xbf16>
      %row = cuda.realign %words of %x[%at] lanes 16 : vector<2x8xbf16>, memref<?xbf16>, i64
      return
    }
    ```

    For a row that is aligned to its elements alone. `lanes` neighbouring threads hold it: their
    vectors follow each other in memory, step by step, and `offset` is where the first vector of
    this one begins. The lanes read aligned words of the size of a vector, or of 16 bytes if that is
    less. The two words at the ends of the row are one: the row's bytes in the last word come before
    those in the first, and are read element by element. So no byte beyond the row is read. The
    lanes have the row, rotated, and `cuda.realign` makes the row of it. If the predicate is false,
    nothing is read and every byte is zero. Clauses:

    * load_words_c1: a vector has a power of two of bytes, at least 4;
    * load_words_c2: `lanes` is a power of two up to 32, and at least 2, or 4 if an element has at
      most 8 bits;
    * load_words_c3: only `cuda.realign` takes the words.
  }];
  let arguments = (ins
    Arg<MemRefRankOf<[AnyType], [1]>, "", [MemRead]>:$base, CUDA_Offset:$offset,
    Optional<I1>:$predicate, I64Attr:$lanes,
    DefaultValuedAttr<CUDA_LoadPolicy, "::dsv4::cuda::LoadPolicy::Default">:$policy
  );
  let results = (outs VectorOfRankAndType<[2], [AnyInteger, AnyFloat]>:$words);
  let assemblyFormat = [{
    $base `[` $offset `]` (`if` $predicate^)? `lanes` $lanes ($policy^)? attr-dict
    `:` type($base) `,` type($offset) `->` type($words)
  }];
  let hasVerifier = 1;
}

def CUDA_RealignOp : CUDA_Op<"realign", [Pure, AllTypesMatch<["words", "row"]>,
    DeclareOpInterfaceMethods<CUDA_DeviceCallOpInterface,
        ["getTemplateArguments", "getCallArguments"]>]> {
  let summary = "a row from the words that it is in";
  let description = [{
    ```mlir
    func.func @example(%x: memref<?xi8>, %at: i64) {
      %words = cuda.load_words %x[%at] lanes 32 : memref<?xi8>, i64 -> vector<2x8xf4E2M1FN>
      %row = cuda.realign %words of %x[%at] lanes 32 : vector<2x8xf4E2M1FN>, memref<?xi8>, i64
      return
    }
    ```

    What `cuda.load_words` of the same address read, as the row: every lane has its own vectors. All
    `lanes` lanes take part. Clauses realign_c1 and realign_c2 are those of `cuda.load_words`; the
    two ops have the same `lanes`.
  }];
  let arguments = (ins VectorOfRankAndType<[2], [AnyInteger, AnyFloat]>:$words,
                       MemRefRankOf<[AnyType], [1]>:$base, CUDA_Offset:$offset, I64Attr:$lanes);
  let results = (outs VectorOfRankAndType<[2], [AnyInteger, AnyFloat]>:$row);
  let assemblyFormat = [{
    $words `of` $base `[` $offset `]` `lanes` $lanes attr-dict
    `:` type($words) `,` type($base) `,` type($offset)
  }];
  let hasVerifier = 1;
}

def CUDA_StoreWordsOp : CUDA_Op<"store_words", [
    DeclareOpInterfaceMethods<CUDA_DeviceCallOpInterface,
        ["getTemplateArguments", "getCallArguments"]>]> {
  let summary = "write a row in words";
  let description = [{
    ```mlir
    func.func @example(%out: memref<?xbf16>, %row: vector<7x4xbf16>, %at: i64) {
      cuda.store_words %row, %out[%at] lanes 16 streaming
          : vector<7x4xbf16>, memref<?xbf16>, i64
      return
    }
    ```

    The reverse of `cuda.load_words` and `cuda.realign`. All `lanes` lanes take part. Clauses
    store_words_c1 and store_words_c2 are those of `cuda.load_words`.
  }];
  let arguments = (ins
    VectorOfRankAndType<[2], [AnyInteger, AnyFloat]>:$row,
    Arg<MemRefRankOf<[AnyType], [1]>, "", [MemWrite]>:$base, CUDA_Offset:$offset, I64Attr:$lanes,
    DefaultValuedAttr<CUDA_StorePolicy, "::dsv4::cuda::StorePolicy::Default">:$policy
  );
  let assemblyFormat = [{
    $row `,` $base `[` $offset `]` `lanes` $lanes ($policy^)? attr-dict
    `:` type($row) `,` type($base) `,` type($offset)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Entries of a cache
//===----------------------------------------------------------------------===//

def CUDA_InPoolOp : CUDA_Op<"in_pool", [Pure,
    DeclareOpInterfaceMethods<CUDA_DeviceCallOpInterface>,
    DeclareOpInterfaceMethods<CUDA_IndexWidthOpInterface, ["isInt32"]>]> {
  let summary = "whether an entry may be written";
  let description = [{
    ```mlir
    func.func @example(%asked: i1, %page: i32, %pages: i32) {
      %valid = cuda.in_pool %asked, %page of %pages : i32, i32
      return
    }
    ```

    Whether `condition` holds and `page` is below `pages`. If only the condition holds, the program
    asked for an entry beyond the pool; the host target and kernels compiled with checks report it.
  }];
  let arguments = (ins I1:$condition, CUDA_Offset:$page, CUDA_Offset:$pages);
  let results = (outs I1:$valid);
  let assemblyFormat = [{
    $condition `,` $page `of` $pages attr-dict `:` type($page) `,` type($pages)
  }];
}

def CUDA_IsLastOp : CUDA_Op<"is_last", [
    MemoryEffects<[MemRead]>, DeclareOpInterfaceMethods<CUDA_DeviceCallOpInterface,
        ["getTemplateArguments"]>,
    DeclareOpInterfaceMethods<CUDA_IndexWidthOpInterface, ["isInt32"]>,
    DeclareOpInterfaceMethods<CUDA_BlockCooperativeOpInterface>]> {
  let summary = "whether no later element has this value";
  let description = [{
    ```mlir
    func.func @example(%slots: memref<?xi32>, %i: i32, %n: i32) {
      %last = cuda.is_last %slots[%i] of %n lanes 8 : memref<?xi32>, i32, i32
      return
    }
    ```

    Whether none of `base[at + 1]` to `base[count - 1]` equals `base[at]`. A negative element counts
    as different from all others, and so does an i64 that i32 does not hold. All `lanes` lanes of
    the row take part. With `threads`, the `threads` threads of a block read the elements for all
    rows of the block together, if there are more than `max_alone`. Then `at` is the number of the
    thread's row, a row has `lanes` threads, the rows of a block are neighbours, and all rows below
    `rows` run the op. Clauses:

    * is_last_c1: `lanes` is a power of two of at most 32;
    * is_last_c2: `threads` is 0 or a multiple of 32; with threads `max_alone` is positive and
      `rows` is there, without `max_alone` is 0 and `rows` is not there.
  }];
  let arguments = (ins Arg<MemRefRankOf<[I32, I64], [1]>, "", [MemRead]>:$base,
                       CUDA_Offset:$at, CUDA_Offset:$count, Optional<CUDA_Offset>:$rows,
                       DefaultValuedAttr<I64Attr, "1">:$lanes,
                       DefaultValuedAttr<I64Attr, "0">:$threads,
                       DefaultValuedAttr<I64Attr, "0">:$max_alone);
  let results = (outs I1:$last);
  let assemblyFormat = [{
    $base `[` $at `]` `of` $count (`rows` $rows^)? (`lanes` $lanes^)? (`threads` $threads^)?
    (`max_alone` $max_alone^)? attr-dict
    `:` type($base) `,` type($at) `,` type($count) (`,` type($rows)^)?
  }];
  let hasVerifier = 1;
}

def CUDA_SearchOp : CUDA_Op<"search", [
    MemoryEffects<[MemRead]>,
    DeclareOpInterfaceMethods<CUDA_DeviceCallOpInterface, ["getTemplateArguments"]>,
    DeclareOpInterfaceMethods<InferIntRangeInterface, ["inferResultRanges"]>,
    DeclareOpInterfaceMethods<CUDA_IndexWidthOpInterface, ["isInt32"]>]> {
  let summary = "the last of ascending elements that is at most a value";
  let description = [{
    ```mlir
    func.func @example(%starts: memref<?xi32>, %row: i32, %n: i32) {
      %request = cuda.search %starts for %row of %n : memref<?xi32>, i32, i32
      return
    }
    ```

    Searches the first `count` elements of the base by halving, as `row.search` says. Every thread
    searches by itself: those of a row, and mostly of a block, read the same elements. With `rows`
    the rows of a warp search together. Then `value` is the number of the thread's row, a row has
    `lanes` threads, the rows of a block are neighbours, and all rows below `rows` run the op.
    Clauses:

    * search_c1: `lanes` is a power of two of at most 32;
    * search_c2: without `rows`, `lanes` is 1.
  }];
  let arguments = (ins Arg<MemRefRankOf<[I32, I64], [1]>, "", [MemRead]>:$base,
                       CUDA_Offset:$value, CUDA_Offset:$count, Optional<CUDA_Offset>:$rows,
                       DefaultValuedAttr<I64Attr, "1">:$lanes);
  let results = (outs I32:$found);
  let assemblyFormat = [{
    $base `for` $value `of` $count (`rows` $rows^)? (`lanes` $lanes^)? attr-dict
    `:` type($base) `,` type($value) `,` type($count) (`,` type($rows)^)?
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Programmatic dependent launch
//===----------------------------------------------------------------------===//

def CUDA_WaitForPreviousKernelOp : CUDA_Op<"wait_for_previous_kernel", [
    MemoryEffects<[MemRead, MemWrite]>,
    DeclareOpInterfaceMethods<CUDA_DeviceCallOpInterface, ["waitsForPreviousKernel"]>]> {
  let summary = "wait for the kernels this launch depends on";
  let description = [{
    ```mlir
    func.func @example() {
      cuda.wait_for_previous_kernel
      return
    }
    ```

    Returns when they are complete and their writes are visible. Comes before
    every access to memory. Below sm_90 it does nothing, because no kernel starts early.
  }];
  let assemblyFormat = "attr-dict";
}

def CUDA_LaunchDependentsOp : CUDA_Op<"launch_dependents", [
    MemoryEffects<[MemRead, MemWrite]>,
    DeclareOpInterfaceMethods<CUDA_DeviceCallOpInterface>]> {
  let summary = "let the next kernel start";
  let description = [{
    ```mlir
    func.func @example() {
      cuda.launch_dependents
      return
    }
    ```

    The next kernel's own wait still returns only when this kernel is complete.
  }];
  let assemblyFormat = "attr-dict";
}

//===----------------------------------------------------------------------===//
// Ranges
//===----------------------------------------------------------------------===//

def CUDA_BoundedOp : CUDA_Op<"bounded", [
    Pure, DeclareOpInterfaceMethods<InferIntRangeInterface, ["inferResultRanges"]>
  ]> {
  let summary = "an index with bounds that no analysis finds";
  let description = [{
    ```mlir
    func.func @example(%block: index) {
      %of_this_part = cuda.bounded %block to 4095
      return
    }
    ```

    Returns `value`, which is between 0 and `max` where this op is executed: because of a condition
    around it, or because the runtime ensures it. `cuda-legalize` gives the result a width by these
    bounds, and the op has no source. Clause bounded_c1: `max` is not negative.
  }];
  let arguments = (ins Index:$value, I64Attr:$max);
  let results = (outs Index:$result);
  let assemblyFormat = "$value `to` $max attr-dict";
  let hasVerifier = 1;
}

#endif // CUDA_ACCESS_OPS_TD
