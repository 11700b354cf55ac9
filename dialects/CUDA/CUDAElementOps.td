//===- CUDAElementOps.td - Fragments and their elements -*- tablegen -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CUDA_ELEMENT_OPS_TD
#define CUDA_ELEMENT_OPS_TD

include "CUDAOpBase.td"

//===----------------------------------------------------------------------===//
// Elements of fragments
//===----------------------------------------------------------------------===//

def CUDA_ConstantOp : CUDA_Op<"constant", [
    Pure, DeclareOpInterfaceMethods<InferIntRangeInterface, ["inferResultRanges"]>]> {
  let summary = "a named number";
  let description = [{
    ```mlir
    %0 = cuda.constant "page_bytes" = 37440 : i32
    ```

    A number whose meaning the source should state. It is printed once per kernel, as
    `constexpr int kPageBytes = 37440;`. No pattern folds it, so the name stays. Clause
    constant_c1: the type holds the number.
  }];
  let arguments = (ins StrAttr:$name, I64Attr:$value);
  let results = (outs CUDA_Offset:$result);
  let assemblyFormat = "$name `=` $value attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def CUDA_ExpandOp : CUDA_Op<"expand", [Pure,
    DeclareOpInterfaceMethods<CUDA_DeviceCallOpInterface, ["getTemplateArguments"]>]> {
  let summary = "repeat scales over the elements they cover";
  let description = [{
    ```mlir
    func.func @example(%scales: vector<7xf32>) {
      %tile = cuda.expand %scales : vector<7xf32> to vector<14x8xf32>
      return
    }
    ```

    Returns a tile of S vectors of V elements. A scale of a `vector<S x G>` fills V / G consecutive
    elements of its vector. A scale of a `vector<N>` fills S / N consecutive vectors, or, if the
    result is a `vector<M>`, M / N consecutive elements. Clauses:

    * expand_c1: the element types are f32;
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
    ```mlir
    func.func @example(%values: vector<4x8xf4E2M1FN>, %scales: vector<4x2xf32>) {
      %tile = cuda.dequantize %values by %scales
          : vector<4x8xf4E2M1FN> by vector<4x2xf32> to vector<4x8xbf16>
      return
    }
    ```

    Multiplies every element of a tile by its scale, both as f32. The product is rounded to f32 and
    then to the element type of the result. A scale covers elements as in `cuda.expand`. Clauses:

    * dequantize_c1: the values are floats of at most 16 bits, or i4, and the result has their
      shape, and f32 or bf16 elements;
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
    ```mlir
    func.func @example(%values: vector<4x8xf4E2M1FN>) {
      %swapped = cuda.swap_nibbles %values : vector<4x8xf4E2M1FN>
      return
    }
    ```

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
  let summary = "replace every NaN by one bit pattern";
  let description = [{
    ```mlir
    func.func @example(%x: vector<4x2xf32>) {
      %same = cuda.one_nan %x : vector<4x2xf32>
      return
    }
    ```

    Every NaN becomes 0x7FFFFFFF, the NaN that arithmetic makes. Values that were only copied to
    f32 need it.
  }];
  let arguments = (ins VectorOfRankAndType<[1, 2], [F32]>:$source);
  let results = (outs VectorOfRankAndType<[1, 2], [F32]>:$numbers);
  let assemblyFormat = "$source attr-dict `:` type($source)";
}

def CUDA_NarrowOp : CUDA_Op<"narrow", [Pure, Elementwise,
    DeclareOpInterfaceMethods<CUDA_DeviceCallOpInterface>]> {
  let summary = "i64 as i32";
  let description = [{
    ```mlir
    func.func @example(%slot: i64, %length: i64, %ids: vector<2x4xi64>) {
      %index = cuda.narrow %slot : i64 to i32
      %count = cuda.narrow %length saturate : i64 to i32
      %experts = cuda.narrow %ids : vector<2x4xi64> to vector<2x4xi32>
      return
    }
    ```

    Returns the same number. One that i32 does not hold becomes -1, which is no index, or with
    `saturate` the nearest i32. Clause narrow_c1: only a scalar has `saturate`.
  }];
  let arguments = (ins AnyTypeOf<[I64, VectorOfRankAndType<[1, 2], [I64]>]>:$source,
                       UnitAttr:$saturate);
  let results = (outs AnyTypeOf<[I32, VectorOfRankAndType<[1, 2], [I32]>]>:$narrowed);
  let assemblyFormat = [{
    $source (`saturate` $saturate^)? attr-dict `:` type($source) `to` type($narrowed)
  }];
  let hasVerifier = 1;
}

def CUDA_JoinOp : CUDA_Op<"join", [Pure,
    DeclareOpInterfaceMethods<CUDA_DeviceCallOpInterface>]> {
  let summary = "one row of two";
  let description = [{
    ```mlir
    func.func @example(%a: vector<8x4xf32>, %b: vector<1x4xf32>) {
      %row = cuda.join %a, %b : vector<8x4xf32>, vector<1x4xf32> to vector<9x4xf32>
      return
    }
    ```

    Returns the elements of `first`, then those of `second`. Two tiles have vectors of one size; the
    steps of `second` follow those of `first`. Two vectors may have any sizes. Clause join_c1: the
    element types and all extents but the first agree, and the first is the sum; elements of a
    `vector<N>` have at most 32 bits.
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
    ```mlir
    func.func @example(%tile: vector<9x4xf32>) {
      %last = cuda.steps %tile from 7 : vector<9x4xf32> to vector<2x4xf32>
      return
    }
    ```

    Returns the vectors of a tile from vector `begin` on, as many as the result has. Clause
    steps_c1: the source has these vectors, and the same element type.
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
    ```mlir
    func.func @example(%tile: vector<2x4xf32>, %n: i32) {
      %masked = cuda.keep_vectors %tile, %n otherwise 1.5 : vector<2x4xf32>, i32
      return
    }
    ```

    Returns the first `vectors` vectors of a tile, and `otherwise` for every element of the others.
    Clause keep_vectors_c1: `otherwise` is 0 where the elements are not f32.
  }];
  let arguments = (ins VectorOfRankAndType<[2], [BF16, F16, F32]>:$source, CUDA_Offset:$vectors,
                       F32Attr:$otherwise);
  let results = (outs VectorOfRankAndType<[2], [BF16, F16, F32]>:$kept);
  let assemblyFormat = [{
    $source `,` $vectors `otherwise` $otherwise attr-dict `:` type($source) `,` type($vectors)
  }];
  let hasVerifier = 1;
}

def CUDA_PadOp : CUDA_Op<"pad", [Pure,
    DeclareOpInterfaceMethods<CUDA_DeviceCallOpInterface, ["getTemplateArguments"]>]> {
  let summary = "zeros after a vector";
  let description = [{
    ```mlir
    func.func @example(%scales: vector<7xf8E8M0FNU>) {
      %padded = cuda.pad %scales : vector<7xf8E8M0FNU> to vector<8xf8E8M0FNU>
      return
    }
    ```

    Returns the same elements, then zero bits up to the extent of the result. Clause pad_c1:
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
    ```mlir
    func.func @example(%tile: vector<2x4xf32>) {
      %evens = cuda.alternate %tile : vector<2x4xf32> to vector<2x2xf32>
      %odds = cuda.alternate %tile odd : vector<2x4xf32> to vector<2x2xf32>
      return
    }
    ```

    Returns the first of every pair of neighbours in a vector or, with `odd`, the second. Clause
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
    ```mlir
    func.func @example(%scales: vector<12xf8E4M3FN>) {
      %ordered = cuda.transpose %scales rows 4 : vector<12xf8E4M3FN>
      return
    }
    ```

    The source is a matrix of `rows` rows, one after another. The result has its columns, one after
    another: element i is element `(i mod rows) * (N / rows) + i / rows` of the N of the source.
    A lane that holds all scales of a row changes their order so, if they are interleaved. Clause
    transpose_c1: `rows` divides the number of elements, which have at most 32 bits.
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
    ```mlir
    func.func @example(%tile: vector<8x4xf32>) {
      %sum = cuda.reduce sum %tile per 512 lanes 16 : vector<8x4xf32> to vector<1xf32>
      return
    }
    ```

    Every `group` consecutive elements of a row become one value:

    * `sum`: of f32, as a binary tree of neighbours, where an unpaired value moves up a
      level unchanged; every sum is rounded to nearest even;
    * `max_abs`: the largest magnitude, infinity counting as the largest finite
      value of the element type; NaN is ignored;
    * `max_abs_nan`: the same, but NaN if there is one;
    * `max_nan`: the largest of f32, NaN if there is one.

    `lanes` lanes hold the row, and all of them take part. The operand is the tile that a lane
    holds. The result has one value for each group that the lane has elements of, in the form that
    `cuda.expand` takes. A single lane may hold the row as a vector. Clauses:

    * reduce_c1: `group` divides the row, and the result has one f32 per group;
    * reduce_c2: `lanes` is a power of two of at most 32, and 1 for a vector;
    * reduce_c3: `sum` and `max_nan` are of f32.
  }];
  let arguments = (ins CUDA_ReduceKind:$kind, VectorOfRankAndType<[1, 2], [BF16, F16, F32]>:$source,
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
    ```mlir
    func.func @example(%tile: vector<8x4xf32>) {
      %transformed = cuda.hadamard %tile lanes 32 : vector<8x4xf32>
      return
    }
    ```

    For h = 1, 2, 4, ..., elements i and i + h (bit h of i clear) become their sum and their
    difference, rounded to nearest even. The operand is the fragment of the row that one of `lanes`
    lanes holds. Clause hadamard_c1: the row has a power of two of elements, and `lanes` is a power
    of two of at most 32.
  }];
  let arguments = (ins VectorOfRankAndType<[1, 2], [F32]>:$source,
                       DefaultValuedAttr<I64Attr, "1">:$lanes);
  let results = (outs VectorOfRankAndType<[1, 2], [F32]>:$transformed);
  let assemblyFormat = "$source (`lanes` $lanes^)? attr-dict `:` type($source)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Quantisation
//===----------------------------------------------------------------------===//

def CUDA_EncodeOp : CUDA_Op<"encode", [Pure, Elementwise, SameOperandsAndResultShape,
    DeclareOpInterfaceMethods<CUDA_DeviceCallOpInterface, ["getTemplateArguments"]>]> {
  let summary = "round f32 to a narrow type, saturating";
  let description = [{
    ```mlir
    func.func @example(%tile: vector<8x4xf32>, %scales: vector<7xf32>) {
      %data = cuda.encode %tile : vector<8x4xf32> to vector<8x4xf8E4M3FN>
      %powers = cuda.encode %scales up : vector<7xf32> to vector<7xf8E8M0FNU>
      return
    }
    ```

    Rounds to f8E4M3FN, f4E2M1FN or f8E8M0FNU: to nearest, ties to even, or with `up` to the next
    value that is not smaller. A value beyond the largest finite one, also an infinity, becomes the
    largest finite one. NaN becomes NaN (0x7F, 0xFF), and 7 in f4E2M1FN. An f8E8M0FNU below 2^-127
    has code 0. `ties_down` rounds ties towards zero. `drop_negative_zero` turns the code of -0 into
    that of 0. Clauses:

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
  let summary = "divide elements by the scales they share, and encode";
  let description = [{
    ```mlir
    func.func @example(%values: vector<8x8xbf16>, %scales: vector<8xf8E8M0FNU>) {
      %data = cuda.quantize %values by %scales
          : vector<8x8xbf16> by vector<8xf8E8M0FNU> to vector<8x8xf8E4M3FN>
      return
    }
    ```

    Divides every element of a tile by its scale, both as f32. The quotient is rounded to f32 and
    then encoded to nearest, as by `cuda.encode`. Scales are positive or NaN, and cover elements as
    in `cuda.expand`. Clauses:

    * quantize_c1: the result has the shape of the values and f8E4M3FN or f4E2M1FN elements; only
      the latter have `ties_down` and `drop_negative_zero`;
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
// Elements by index, functions
//===----------------------------------------------------------------------===//

def CUDA_GatherOp : CUDA_Op<"gather", [Elementwise,
    DeclareOpInterfaceMethods<CUDA_DeviceCallOpInterface, ["getCallArguments"]>]> {
  let summary = "read elements by index";
  let description = [{
    ```mlir
    func.func @example(%scores: memref<?xf32>, %at: index, %ids: vector<2x4xi32>) {
      %x = cuda.gather %scores[%at] at %ids below 256
          : memref<?xf32>, index, vector<2x4xi32> -> vector<2x4xf32>
      return
    }
    ```

    Reads element `offset` + i of `base` for every index i of a vector. If i is not between 0 and
    `count` - 1, nothing is read and the element is zero. Clause gather_c1: the element types of
    base and result agree.
  }];
  let arguments = (ins Arg<MemRefRankOf<[BF16, F16, F32, I32, I64], [1]>, "", [MemRead]>:$base,
                       CUDA_Offset:$offset,
                       VectorOfRankAndType<[1, 2], [I32]>:$indices, I64Attr:$count);
  let results = (outs VectorOfRankAndType<[1, 2], [BF16, F16, F32, I32, I64]>:$elements);
  let assemblyFormat = [{
    $base `[` $offset `]` `at` $indices `below` $count attr-dict
    `:` type($base) `,` type($offset) `,` type($indices) `->` type($elements)
  }];
  let hasVerifier = 1;
}

def CUDA_SequenceOp : CUDA_Op<"sequence", [Pure,
    DeclareOpInterfaceMethods<CUDA_DeviceCallOpInterface,
        ["getTemplateArguments", "getCallArguments"]>,
    DeclareOpInterfaceMethods<CUDA_IndexWidthOpInterface, ["isInt32"]>]> {
  let summary = "numbers at equal distances";
  let description = [{
    ```mlir
    func.func @example(%start: i32, %step: i32, %first: i32) {
      %numbers = cuda.sequence %start by %step from %first stride 64
          : i32, i32, i32 -> vector<2x4xi32>
      return
    }
    ```

    Returns `start` + j * `step`, modulo 2^32, for every element j of a row that a tile has: those
    from `first` on in its first vector, and in every other one those `stride` after the one before.
  }];
  let arguments = (ins CUDA_Offset:$start, CUDA_Offset:$step, CUDA_Offset:$first,
                       DefaultValuedAttr<I64Attr, "0">:$stride);
  let results = (outs VectorOfRankAndType<[1, 2], [I32]>:$numbers);
  let assemblyFormat = [{
    $start `by` $step `from` $first (`stride` $stride^)? attr-dict
    `:` type($start) `,` type($step) `,` type($first) `->` type($numbers)
  }];
}

def CUDA_SpliceOp : CUDA_Op<"splice", [Pure, AllTypesMatch<["head", "tail", "spliced"]>,
    DeclareOpInterfaceMethods<CUDA_DeviceCallOpInterface, ["getCallArguments"]>,
    DeclareOpInterfaceMethods<CUDA_IndexWidthOpInterface, ["isInt32"]>]> {
  let summary = "the first elements of one row, the others of another";
  let description = [{
    ```mlir
    func.func @example(%ids: vector<2x4xi32>, %shared: vector<2x4xi32>, %first: i32) {
      %all = cuda.splice %ids before 8, %shared from %first stride 64 : vector<2x4xi32>, i32
      return
    }
    ```

    Returns the elements of `head` that are before element `count` of their row, and the other ones
    of `tail`. A tile has the elements of `cuda.sequence`.
  }];
  let arguments = (ins VectorOfRankAndType<[1, 2], [I32, F32]>:$head, I64Attr:$count,
                       VectorOfRankAndType<[1, 2], [I32, F32]>:$tail, CUDA_Offset:$first,
                       DefaultValuedAttr<I64Attr, "0">:$stride);
  let results = (outs VectorOfRankAndType<[1, 2], [I32, F32]>:$spliced);
  let assemblyFormat = [{
    $head `before` $count `,` $tail `from` $first (`stride` $stride^)? attr-dict
    `:` type($head) `,` type($first)
  }];
}

def CUDA_WhereValidOp : CUDA_Op<"where_valid",
    [Pure, Elementwise, AllTypesMatch<["values", "kept"]>,
    DeclareOpInterfaceMethods<CUDA_DeviceCallOpInterface,
        ["getTemplateArguments", "getCallArguments"]>]> {
  let summary = "replace values whose index is out of range";
  let description = [{
    ```mlir
    func.func @example(%x: vector<2x4xf32>, %ids: vector<2x4xi32>) {
      %values = cuda.where_valid %x at %ids below 256 otherwise 0xFF800000
          : vector<2x4xf32>, vector<2x4xi32>
      return
    }
    ```

    Returns every value whose index is between 0 and `count` - 1, and `otherwise` for the others.
    There is one index per value, or one for all. Values of i32 are indices, and the others
    -1.

    Clause where_valid_c1: values of i32 have no `otherwise`.
  }];
  let arguments = (ins VectorOfRankAndType<[1, 2], [F32, I32]>:$values,
                       AnyTypeOf<[I32, VectorOfRankAndType<[1, 2], [I32]>]>:$indices,
                       I64Attr:$count,
                       DefaultValuedAttr<F32Attr, "0.0f">:$otherwise);
  let results = (outs VectorOfRankAndType<[1, 2], [F32, I32]>:$kept);
  let assemblyFormat = [{
    $values `at` $indices `below` $count (`otherwise` $otherwise^)? attr-dict `:` type($values) `,`
    type($indices)
  }];
  let hasVerifier = 1;
}

def CUDA_ActivationOp : CUDA_Op<"activation",
    [Pure, Elementwise, AllTypesMatch<["source", "result"]>,
    DeclareOpInterfaceMethods<CUDA_DeviceCallOpInterface>]> {
  let summary = "a function of every element";
  let description = [{
    ```mlir
    func.func @example(%x: vector<2x4xf32>) {
      %scores = cuda.activation sqrt_softplus %x : vector<2x4xf32>
      return
    }
    ```

    Computes `sqrt_softplus` or `sigmoid` as `dsv4.gate` defines them; `exp` as `dsv4.compress`
    does: e to a power that is not positive, and NaN of NaN; or `nan_to_zero`: the number itself,
    and 0 of NaN.
  }];
  let arguments = (ins CUDA_ActivationKind:$kind, VectorOfRankAndType<[1, 2], [F32]>:$source);
  let results = (outs VectorOfRankAndType<[1, 2], [F32]>:$result);
  let assemblyFormat = "$kind $source attr-dict `:` type($source)";
}

def CUDA_ColumnsOp : CUDA_Op<"columns", [Pure,
    DeclareOpInterfaceMethods<CUDA_DeviceCallOpInterface, ["getTemplateArguments"]>,
    DeclareOpInterfaceMethods<CUDA_IndexWidthOpInterface, ["isInt32"]>]> {
  let summary = "columns of a row that lanes hold, for a selection";
  let description = [{
    ```mlir
    func.func @example(%row: vector<2x4xf32>, %column: i32) {
      %x = cuda.columns %row at %column lanes 32 : vector<2x4xf32>, i32 to vector<1x4xf32>
      return
    }
    ```

    Returns the columns from `column` on of a row that was computed before the selection. The first
    region of a `cuda.select` uses it. The row is the tile of one of `lanes` lanes, and the columns
    are a vector that this lane holds. A single lane may hold the row as a vector. Clauses:

    * columns_c1: the element types agree, and the columns are a vector of the tile, or a part of
      the vector that divides it;
    * columns_c2: `lanes` is a power of two of at most 32, and 1 for a vector.
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

def CUDA_ElementOp : CUDA_Op<"element", [Pure,
    DeclareOpInterfaceMethods<CUDA_DeviceCallOpInterface>,
    DeclareOpInterfaceMethods<CUDA_IndexWidthOpInterface, ["isInt32"]>]> {
  let summary = "an element of a row that the lanes of a warp hold";
  let description = [{
    ```mlir
    func.func @example(%row: vector<2x4xf32>, %index: i32) {
      %x = cuda.element %row at %index : vector<2x4xf32>, i32 to vector<1x1xf32>
      return
    }
    ```

    Returns the element with an index, of a row that all lanes of a warp hold, as a
    `vector<1x1xf32>`. Each lane has an index of its own, and all of them do it together. An index
    that no lane has gives 0. Clause element_c1: the element is one.
  }];
  let arguments = (ins VectorOfRankAndType<[2], [F32]>:$row, CUDA_Offset:$index);
  let results = (outs VectorOfRankAndType<[2], [F32]>:$element);
  let assemblyFormat = [{
    $row `at` $index attr-dict `:` type($row) `,` type($index) `to` type($element)
  }];
  let hasVerifier = 1;
}

#endif // CUDA_ELEMENT_OPS_TD
