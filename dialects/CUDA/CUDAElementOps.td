//===- CUDAElementOps.td - Memory, fragments and their elements -*- tablegen -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CUDA_ELEMENT_OPS_TD
#define CUDA_ELEMENT_OPS_TD

include "CUDAOpBase.td"

//===----------------------------------------------------------------------===//
// load, store, expand, dequantize, swap_nibbles
//===----------------------------------------------------------------------===//

def CUDA_LoadOp : CUDA_Op<"load", [AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<CUDA_DeviceCallOpInterface,
        ["getTemplateArguments", "getCallArguments"]>,
    DeclareOpInterfaceMethods<CUDA_IndexWidthOpInterface, ["isInt32"]>,
    DeclareOpInterfaceMethods<CUDA_BufferAccessOpInterface>]> {
  let summary = "read a scalar, a vector or a tile";
  let description = [{
    Reads from element `offset` of `base`: one element, `V` consecutive ones (`vector<V x T>`), or
    `S` vectors of `V` consecutive ones that start `stride` elements of the base apart
    (`vector<S x V x T>`). A vector may have another element type than `base`: the bytes are taken
    as they are. Where the predicate is false, nothing is read and every byte is zero. With
    `vectors` only the first `vectors` vectors of a tile are read, and the others are zero. A vector
    or a tile is read after the `cuda.wait_for_previous_kernel` and the stores before it. So is a
    scalar that is `ordered`, which C++ alone does not promise. Of a `staged` vector the kernel
    gives the address instead, and its user reads it by way of shared memory, with the vectors of
    other lanes. Clauses:

    * load_c1: a scalar has the element type of the base and no stride;
    * load_c2: a tile of more than one vector has a stride;
    * load_c3: `align`, the alignment in bytes that every vector is known to have, is a power of
      two;
    * load_c4: what is `staged` is one vector of a power of two of bytes, from 2 on, without a
      predicate, a policy or an alignment, of a row that a `cuda.window_segment` has;
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
  let summary = "have memory brought near";
  let description = [{
    The line with element `offset` of `base` is brought into the cache of the multiprocessor, unless
    the predicate is false; with `l2` into that of the device, where no store of others can make it
    stale. Nobody waits for it.
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
  let summary = "read the elements of a vector that there are";
  let description = [{
    The first `left` of V consecutive elements from element `offset` of `base` on, or all where
    there are more; those after them are not read and zero. Nothing is known of the alignment.
    Clause load_part_c1: the elements are those of the base.
  }];
  let arguments = (ins Arg<MemRefRankOf<[BF16, F32], [1]>, "", [MemRead]>:$base,
                       CUDA_Offset:$offset, CUDA_Offset:$left);
  let results = (outs VectorOfRankAndType<[1, 2], [BF16, F32]>:$value);
  let assemblyFormat = [{
    $base `[` $offset `]` `of` $left attr-dict
    `:` type($base) `,` type($offset) `,` type($left) `->` type($value)
  }];
  let hasVerifier = 1;
}

def CUDA_BytesOp : CUDA_Op<"bytes", [Pure]> {
  let summary = "memory as bytes";
  let description = [{
    The memory of `base`, which is only read, as bytes.
  }];
  let arguments = (ins MemRefRankOf<[AnyType], [1]>:$base);
  let results = (outs MemRefRankOf<[I8], [1]>:$memory);
  let assemblyFormat = "$base attr-dict `:` type($base) `to` type($memory)";
}

def CUDA_ConstantOp : CUDA_Op<"constant", [
    Pure, DeclareOpInterfaceMethods<InferIntRangeInterface, ["inferResultRanges"]>]> {
  let summary = "a number that has a name";
  let description = [{
    ```mlir
    %0 = cuda.constant "page_bytes" = 37440 : i32
    ```

    A number that a reader of the source would ask about. It is printed once per kernel, as
    `constexpr int kPageBytes = 37440;`. No pattern folds it, so the name stays. Clause
    constant_c1: the type holds the number.
  }];
  let arguments = (ins StrAttr:$name, I64Attr:$value);
  let results = (outs CUDA_Offset:$result);
  let assemblyFormat = "$name `=` $value attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def CUDA_StoreOp : CUDA_Op<"store", [DeclareOpInterfaceMethods<CUDA_DeviceCallOpInterface,
        ["getTemplateArguments", "getCallArguments"]>,
    DeclareOpInterfaceMethods<CUDA_IndexWidthOpInterface, ["isInt32"]>,
    DeclareOpInterfaceMethods<CUDA_BufferAccessOpInterface>]> {
  let summary = "write a scalar, a vector or a tile";
  let description = [{
    The reverse of `cuda.load`. Clauses
    store_c1, store_c2, store_c3 as those of `cuda.load`, and store_c4: `vectors` is of a tile.
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

def CUDA_ExpandOp : CUDA_Op<"expand", [Pure,
    DeclareOpInterfaceMethods<CUDA_DeviceCallOpInterface, ["getTemplateArguments"]>]> {
  let summary = "repeat scales over the elements they cover";
  let description = [{
    A tile of S vectors of V elements in which every scale stands for several:
    from `vector<S x G>`, each for V / G consecutive elements of its vector; from
    `vector<N>`, each for S / N consecutive vectors. A result `vector<M>` is one vector of
    M elements, from `vector<N>`. Clauses:

    * expand_c1: the element types agree;
    * expand_c2: S agrees and G divides V, or N divides S, or N divides M.
  }];
  let arguments = (ins VectorOfRankAndType<[1, 2], [AnyFloat]>:$scales);
  let results = (outs VectorOfRankAndType<[1, 2], [AnyFloat]>:$tile);
  let assemblyFormat = "$scales attr-dict `:` type($scales) `to` type($tile)";
  let hasVerifier = 1;
}

def CUDA_DequantizeOp : CUDA_Op<"dequantize", [Pure,
    DeclareOpInterfaceMethods<CUDA_DeviceCallOpInterface, ["getTemplateArguments"]>]> {
  let summary = "multiply stored elements by the scales they share";
  let description = [{
    Every element of a tile, as f32, times its scale, as f32: the product is
    rounded to f32 and then to the element type of the result. Scales stand for
    elements as in `cuda.expand`. Clauses:

    * dequantize_c1: the result has the shape of the values, and f32 or bf16
      elements;
    * dequantize_c2: as expand_c2.
  }];
  let arguments = (ins
    VectorOfRankAndType<[2], [AnyInteger, AnyFloat]>:$values,
    VectorOfRankAndType<[1, 2], [AnyFloat]>:$scales);
  let results = (outs VectorOfRankAndType<[2], [AnyFloat]>:$tile);
  let assemblyFormat = [{
    $values `by` $scales attr-dict `:` type($values) `by` type($scales) `to` type($tile)
  }];
  let hasVerifier = 1;
}

def CUDA_SwapNibblesOp : CUDA_Op<"swap_nibbles", [Pure, AllTypesMatch<["source", "swapped"]>,
    DeclareOpInterfaceMethods<CUDA_DeviceCallOpInterface>]> {
  let summary = "swap the elements of every packed 4-bit pair";
  let description = [{
    Turns pairs stored high nibble first into pairs stored low nibble first.
    Clause swap_nibbles_c1: elements have 4 bits, and a vector is an even number of
    them.
  }];
  let hasVerifier = 1;
  let arguments = (ins VectorOfRankAndType<[1, 2], [AnyInteger, AnyFloat]>:$source);
  let results = (outs VectorOfRankAndType<[1, 2], [AnyInteger, AnyFloat]>:$swapped);
  let assemblyFormat = "$source attr-dict `:` type($source)";
}

def CUDA_OneNaNOp : CUDA_Op<"one_nan", [Pure, Elementwise, AllTypesMatch<["source", "numbers"]>,
    DeclareOpInterfaceMethods<CUDA_DeviceCallOpInterface>]> {
  let summary = "the same numbers, with one NaN";
  let description = [{
    Every NaN becomes 0x7FFFFFFF, as arithmetic makes it: for what was only
    copied to f32.
  }];
  let arguments = (ins VectorOfRankAndType<[1, 2], [F32]>:$source);
  let results = (outs VectorOfRankAndType<[1, 2], [F32]>:$numbers);
  let assemblyFormat = "$source attr-dict `:` type($source)";
}

def CUDA_JoinOp : CUDA_Op<"join", [Pure,
    DeclareOpInterfaceMethods<CUDA_DeviceCallOpInterface>]> {
  let summary = "one row of two";
  let description = [{
    The elements of `first`, then those of `second`. Tiles have vectors of one
    size; those of `second` are further steps. Vectors of any two sizes make one vector. Clause
    join_c1: the element types and
    all extents but the first agree, and the first is the sum.
  }];
  let arguments = (ins VectorOfRankAndType<[1, 2], [AnyInteger, AnyFloat]>:$first,
                       VectorOfRankAndType<[1, 2], [AnyInteger, AnyFloat]>:$second);
  let results = (outs VectorOfRankAndType<[1, 2], [AnyInteger, AnyFloat]>:$joined);
  let assemblyFormat = [{
    $first `,` $second attr-dict `:` type($first) `,` type($second) `to` type($joined)
  }];
  let hasVerifier = 1;
}

def CUDA_StepsOp : CUDA_Op<"steps", [Pure,
    DeclareOpInterfaceMethods<CUDA_DeviceCallOpInterface, ["getTemplateArguments"]>]> {
  let summary = "some vectors of a tile";
  let description = [{
    As many vectors as the result has, from vector `begin` on. Clause steps_c1: the source has
    them, of the same elements.
  }];
  let arguments = (ins VectorOfRankAndType<[2], [AnyInteger, AnyFloat]>:$source, I64Attr:$begin);
  let results = (outs VectorOfRankAndType<[2], [AnyInteger, AnyFloat]>:$part);
  let assemblyFormat = "$source `from` $begin attr-dict `:` type($source) `to` type($part)";
  let hasVerifier = 1;
}

def CUDA_KeepVectorsOp : CUDA_Op<"keep_vectors", [Pure, AllTypesMatch<["source", "kept"]>,
    DeclareOpInterfaceMethods<CUDA_DeviceCallOpInterface, ["getCallArguments"]>,
    DeclareOpInterfaceMethods<CUDA_IndexWidthOpInterface, ["isInt32"]>]> {
  let summary = "the first vectors of a tile";
  let description = [{
    The first `vectors` vectors of a tile, and `otherwise` for every element of the others.
  }];
  let arguments = (ins VectorOfRankAndType<[2], [F32]>:$source, CUDA_Offset:$vectors,
                       F32Attr:$otherwise);
  let results = (outs VectorOfRankAndType<[2], [F32]>:$kept);
  let assemblyFormat = [{
    $source `,` $vectors `otherwise` $otherwise attr-dict `:` type($source) `,` type($vectors)
  }];
}

def CUDA_PadOp : CUDA_Op<"pad", [Pure,
    DeclareOpInterfaceMethods<CUDA_DeviceCallOpInterface, ["getTemplateArguments"]>]> {
  let summary = "zeros after a vector";
  let description = [{
    The same elements, then zero bits up to the extent of the result. Clause pad_c1:
    the element types agree, and the result is not smaller.
  }];
  let arguments = (ins VectorOfRankAndType<[1], [AnyInteger, AnyFloat]>:$source);
  let results = (outs VectorOfRankAndType<[1], [AnyInteger, AnyFloat]>:$padded);
  let assemblyFormat = "$source attr-dict `:` type($source) `to` type($padded)";
  let hasVerifier = 1;
}

def CUDA_AlternateOp : CUDA_Op<"alternate", [Pure,
    DeclareOpInterfaceMethods<CUDA_DeviceCallOpInterface>]> {
  let summary = "every second element";
  let description = [{
    The first of every pair of neighbours in a vector or, with `odd`, the second. Clause
    alternate_c1: the result has half the last extent, which is even.
  }];
  let arguments = (ins VectorOfRankAndType<[1, 2], [F32]>:$source, UnitAttr:$odd);
  let results = (outs VectorOfRankAndType<[1, 2], [F32]>:$half);
  let assemblyFormat = "$source (`odd` $odd^)? attr-dict `:` type($source) `to` type($half)";
  let hasVerifier = 1;
}

def CUDA_TransposeOp : CUDA_Op<"transpose", [Pure, AllTypesMatch<["source", "transposed"]>,
    DeclareOpInterfaceMethods<CUDA_DeviceCallOpInterface, ["getTemplateArguments"]>]> {
  let summary = "the columns of a matrix, one after another";
  let description = [{
    The source is a matrix of `rows` rows, one after another. The result has its columns, one after
    another: element i is element `(i mod rows) * (N / rows) + i / rows` of the N of the source.
    Interleaved scales are read and written so by a lane that holds all of them. Clause
    transpose_c1: `rows` divides the elements.
  }];
  let arguments = (ins VectorOfRankAndType<[1], [AnyInteger, AnyFloat]>:$source, I64Attr:$rows);
  let results = (outs VectorOfRankAndType<[1], [AnyInteger, AnyFloat]>:$transposed);
  let assemblyFormat = "$source `rows` $rows attr-dict `:` type($source)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Across the lanes of a row
//===----------------------------------------------------------------------===//

def CUDA_ReduceOp : CUDA_Op<"reduce", [Pure,
    DeclareOpInterfaceMethods<CUDA_DeviceCallOpInterface, ["getTemplateArguments"]>]> {
  let summary = "reduce groups of a row to f32";
  let description = [{
    Every `group` consecutive elements of a row become one value:

    * `sum`: of f32, as a binary tree of neighbours, an odd one out going up a
      level as it is; every sum is rounded to nearest even;
    * `max_abs`: the largest magnitude, infinity counting as the largest finite
      value of the element type; NaN is ignored;
    * `max_abs_nan`: the same, but NaN if there is one;
    * `max_nan`: the largest of f32, NaN if there is one.

    `lanes` lanes hold the row, and all of them take part. The operand is the tile that a lane
    holds, and the result has one value for each group that the lane has elements of, as
    `cuda.expand` takes them. One lane may hold the row as a vector. Clauses:

    * reduce_c1: `group` divides the row, and the result has one f32 per group;
    * reduce_c2: `lanes` is a power of two of at most 32, 1 of a vector.
  }];
  let arguments = (ins CUDA_ReduceKind:$kind, VectorOfRankAndType<[1, 2], [BF16, F32]>:$source,
                       I64Attr:$group, DefaultValuedAttr<I64Attr, "1">:$lanes);
  let results = (outs VectorOfRankAndType<[1, 2], [F32]>:$reduced);
  let assemblyFormat = [{
    $kind $source `per` $group (`lanes` $lanes^)? attr-dict `:` type($source) `to` type($reduced)
  }];
  let hasVerifier = 1;
}

def CUDA_HadamardOp : CUDA_Op<"hadamard", [Pure, AllTypesMatch<["source", "transformed"]>,
    DeclareOpInterfaceMethods<CUDA_DeviceCallOpInterface, ["getTemplateArguments"]>]> {
  let summary = "Walsh-Hadamard transform of a row";
  let description = [{
    For h = 1, 2, 4, ..., elements i and i + h (bit h of i clear) become their sum
    and their difference, rounded to nearest even. The operand is what one of `lanes` lanes
    holds of the row. Clause hadamard_c1: the row has a power of two of elements, and `lanes`
    is a power of two of at most 32.
  }];
  let arguments = (ins VectorOfRankAndType<[1, 2], [F32]>:$source,
                       DefaultValuedAttr<I64Attr, "1">:$lanes);
  let results = (outs VectorOfRankAndType<[1, 2], [F32]>:$transformed);
  let assemblyFormat = "$source (`lanes` $lanes^)? attr-dict `:` type($source)";
  let hasVerifier = 1;
}

def CUDA_InPoolOp : CUDA_Op<"in_pool", [Pure,
    DeclareOpInterfaceMethods<CUDA_DeviceCallOpInterface>,
    DeclareOpInterfaceMethods<CUDA_IndexWidthOpInterface, ["isInt32"]>]> {
  let summary = "whether an entry may be written";
  let description = [{
    Whether `condition` holds and the page `page` is below `pages`. Where the condition holds alone,
    somebody asked for an entry beyond the pool: the host target, and a kernel compiled with checks,
    say so.
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
    DeclareOpInterfaceMethods<CUDA_IndexWidthOpInterface, ["isInt32"]>]> {
  let summary = "whether no later element has this value";
  let description = [{
    Whether none of `base[at + 1]` to `base[count - 1]` equals `base[at]`. A negative element
    counts as different from all others. All `lanes` lanes of the row take part. With `threads`, the
    `threads` threads of a block read the elements for all rows of the block together, if there are
    more than `max_alone`. Then the rows of a block are neighbours, and all of them run the op.
    Clauses:

    * is_last_c1: `lanes` is a power of two of at most 32;
    * is_last_c2: `threads` is 0 or a multiple of 32; `max_alone` is positive with threads, and 0
      without.
  }];
  let arguments = (ins Arg<MemRefRankOf<[I32], [1]>, "", [MemRead]>:$base,
                       CUDA_Offset:$at, CUDA_Offset:$count,
                       DefaultValuedAttr<I64Attr, "1">:$lanes,
                       DefaultValuedAttr<I64Attr, "0">:$threads,
                       DefaultValuedAttr<I64Attr, "0">:$max_alone);
  let results = (outs I1:$last);
  let assemblyFormat = [{
    $base `[` $at `]` `of` $count (`lanes` $lanes^)? (`threads` $threads^)?
    (`max_alone` $max_alone^)? attr-dict `:` type($base) `,` type($at) `,` type($count)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Quantisation
//===----------------------------------------------------------------------===//

def CUDA_EncodeOp : CUDA_Op<"encode", [Pure, Elementwise, SameOperandsAndResultShape,
    DeclareOpInterfaceMethods<CUDA_DeviceCallOpInterface, ["getTemplateArguments"]>]> {
  let summary = "round f32 to a narrow type, saturating";
  let description = [{
    To f8E4M3FN, f4E2M1FN or f8E8M0FNU: to nearest, ties to even, or with `up` to the next code that
    is not smaller. What is beyond the largest finite value becomes that value, infinities too. NaN
    becomes NaN (0x7F, 0xFF), in f4E2M1FN 7. Below 2^-127 an f8E8M0FNU is code 0. `ties_down` rounds
    ties towards zero, `drop_negative_zero` makes the code of -0 that of 0. Clauses:

    * encode_c1: f8E8M0FNU is rounded `up`; f4E2M1FN is not;
    * encode_c2: `ties_down` and `drop_negative_zero` are for f4E2M1FN.
  }];
  let arguments = (ins VectorOfRankAndType<[1, 2], [F32]>:$source, UnitAttr:$up,
                       UnitAttr:$ties_down, UnitAttr:$drop_negative_zero);
  let results = (outs VectorOfRankAndType<[1, 2], [AnyFloat]>:$payload);
  let assemblyFormat = [{
    $source (`up` $up^)? (`ties_down` $ties_down^)? (`drop_negative_zero` $drop_negative_zero^)?
    attr-dict `:` type($source) `to` type($payload)
  }];
  let hasVerifier = 1;
}

def CUDA_QuantizeOp : CUDA_Op<"quantize", [Pure,
    DeclareOpInterfaceMethods<CUDA_DeviceCallOpInterface, ["getTemplateArguments"]>]> {
  let summary = "encode the quotients of elements and the scales they share";
  let description = [{
    Every element of a tile, as f32, over its scale, as f32: the quotient is rounded to f32 and
    then encoded as by `cuda.encode` to nearest. Scales are positive or NaN, and stand for elements
    as in `cuda.expand`. Clauses:

    * quantize_c1: the codes have the shape of the values and f8E4M3FN or f4E2M1FN elements, the
      latter alone `ties_down` and `drop_negative_zero`;
    * quantize_c2: as expand_c2.
  }];
  let arguments = (ins VectorOfRankAndType<[2], [BF16, F32]>:$values,
                       VectorOfRankAndType<[1, 2], [AnyFloat]>:$scales,
                       UnitAttr:$ties_down, UnitAttr:$drop_negative_zero);
  let results = (outs VectorOfRankAndType<[2], [AnyFloat]>:$payload);
  let assemblyFormat = [{
    $values `by` $scales (`ties_down` $ties_down^)? (`drop_negative_zero` $drop_negative_zero^)?
    attr-dict `:` type($values) `by` type($scales) `to` type($payload)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Programmatic dependent launch
//===----------------------------------------------------------------------===//

def CUDA_WaitForPreviousKernelOp : CUDA_Op<"wait_for_previous_kernel", [
    MemoryEffects<[MemRead, MemWrite]>,
    DeclareOpInterfaceMethods<CUDA_DeviceCallOpInterface>]> {
  let summary = "wait for the kernels this launch depends on";
  let description = [{
    Returns when they are complete and their writes are visible. Comes before
    every access to memory. Below sm_90 it does nothing, as nothing starts early.
  }];
  let assemblyFormat = "attr-dict";
}

def CUDA_LaunchDependentsOp : CUDA_Op<"launch_dependents", [
    MemoryEffects<[MemRead, MemWrite]>,
    DeclareOpInterfaceMethods<CUDA_DeviceCallOpInterface>]> {
  let summary = "let the next kernel start";
  let description = [{
    Its own wait still holds until this kernel is complete.
  }];
  let assemblyFormat = "attr-dict";
}

//===----------------------------------------------------------------------===//
// Elements by index, functions
//===----------------------------------------------------------------------===//

def CUDA_GatherOp : CUDA_Op<"gather", [Elementwise,
    DeclareOpInterfaceMethods<CUDA_DeviceCallOpInterface, ["getCallArguments"]>]> {
  let summary = "read elements by index";
  let description = [{
    For every index i of a vector the element `offset` + i of `base`; zero, and nothing is read,
    where i is not between 0 and `count` - 1. Clause gather_c1: the elements are those of the base.
  }];
  let arguments = (ins Arg<MemRefRankOf<[BF16, F32], [1]>, "", [MemRead]>:$base,
                       CUDA_Offset:$offset,
                       VectorOfRankAndType<[1, 2], [I32]>:$indices, I64Attr:$count);
  let results = (outs VectorOfRankAndType<[1, 2], [BF16, F32]>:$elements);
  let assemblyFormat = [{
    $base `[` $offset `]` `at` $indices `below` $count attr-dict
    `:` type($base) `,` type($offset) `,` type($indices) `->` type($elements)
  }];
  let hasVerifier = 1;
}

def CUDA_WhereValidOp : CUDA_Op<"where_valid",
    [Pure, Elementwise, AllTypesMatch<["values", "kept"]>,
    DeclareOpInterfaceMethods<CUDA_DeviceCallOpInterface,
        ["getTemplateArguments", "getCallArguments"]>]> {
  let summary = "values whose index is one";
  let description = [{
    Every value whose index is between 0 and `count` - 1, and `otherwise` in place of the others.
    There is an index for each value, or one for all.
  }];
  let arguments = (ins VectorOfRankAndType<[1, 2], [F32]>:$values,
                       AnyTypeOf<[I32, VectorOfRankAndType<[1, 2], [I32]>]>:$indices,
                       I64Attr:$count,
                       DefaultValuedAttr<F32Attr, "0.0f">:$otherwise);
  let results = (outs VectorOfRankAndType<[1, 2], [F32]>:$kept);
  let assemblyFormat = [{
    $values `at` $indices `below` $count (`otherwise` $otherwise^)? attr-dict `:` type($values) `,`
    type($indices)
  }];
}

def CUDA_ActivationOp : CUDA_Op<"activation",
    [Pure, Elementwise, AllTypesMatch<["source", "result"]>,
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

def CUDA_ColumnsOp : CUDA_Op<"columns", [Pure,
    DeclareOpInterfaceMethods<CUDA_DeviceCallOpInterface, ["getTemplateArguments"]>,
    DeclareOpInterfaceMethods<CUDA_IndexWidthOpInterface, ["isInt32"]>]> {
  let summary = "columns of a row that a selection has";
  let description = [{
    In the first region of a `cuda.select`: of a row that was computed before it the columns from
    `column` on. The row is a tile of one of `lanes` lanes, and the columns are a vector that it has
    itself. One lane may hold the row as a vector. Clauses:

    * columns_c1: the element types agree, and the columns are a vector of the tile, or a part of
      the vector that divides it;
    * columns_c2: `lanes` is a power of two of at most 32, 1 of a vector.
  }];
  let arguments = (ins VectorOfRankAndType<[1, 2], [F32]>:$row, CUDA_Offset:$column,
                       DefaultValuedAttr<I64Attr, "1">:$lanes);
  let results = (outs VectorOfRankAndType<[1, 2], [F32]>:$vector);
  let assemblyFormat = [{
    $row `at` $column (`lanes` $lanes^)? attr-dict `:` type($row) `,` type($column) `to`
    type($vector)
  }];
  let hasVerifier = 1;
}

#endif // CUDA_ELEMENT_OPS_TD
