//===- RowElementOps.td - Rows, their elements and memory -*- tablegen -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ROW_ELEMENT_OPS_TD
#define ROW_ELEMENT_OPS_TD

include "RowOpBase.td"

//===----------------------------------------------------------------------===//
// Access to stored rows
//===----------------------------------------------------------------------===//

def Row_ReadOp : Row_Op<"read", [AttrSizedOperandSegments]> {
  let summary = "read a segment of a row";
  let description = [{
    ```mlir
    %x = row.read %kv[%start] {align = 16} : memref<?xbf16> -> vector<512xbf16>
    %s = row.read %page[%at] if %valid {interleave = 2} : memref<?xi8> -> vector<8xf8E8M0FNU>
    %l = row.read %scores[%start] length %keys {multiple = 8} : memref<?xf32> -> vector<4096xf32>
    %b = row.read %blocks[%at] if %valid stride %far {run = 4}
        : memref<?xi32> -> vector<7xf8E8M0FNU>
    ```

    Reads the elements from `offset` on, which counts elements of the base. A base of bytes
    holds any elements. If `valid` is false, nothing is read and every element is zero. With
    `length` only the first `length` elements exist; the others are undefined. `align` is
    the alignment of the first element in bytes, and `multiple` a divisor of the length.
    With `interleave` n, element i is stored at (i mod n) * (N / n) + i / n. `readable`
    elements may be read, padding included.

    With `stride` the elements are stored in runs of `run` neighbours: element i at
    offset + (i / run) * stride + i mod run. Offset and stride then count elements of the result,
    whatever those of the base, as in `row.write`. Clauses:

    * read_c1: the base has bytes or elements of the result, or there is a `stride`;
    * read_c2: `align` is a power of two, and `multiple` and `interleave` are positive;
    * read_c3: `interleave` divides the extent;
    * read_c4: `readable` is 0 or not less than the extent;
    * read_c5: elements with a `stride` have 8 or 32 bits, no `interleave` and no `length`, and
      `run` is positive.
  }];
  let arguments = (ins Arg<Row_Buffer, "", [MemRead]>:$base, Index:$offset,
                       Optional<I1>:$valid, Optional<Index>:$length, Optional<Index>:$stride,
                       DefaultValuedAttr<I64Attr, "1">:$align,
                       DefaultValuedAttr<I64Attr, "1">:$interleave,
                       DefaultValuedAttr<I64Attr, "0">:$readable,
                       DefaultValuedAttr<I64Attr, "1">:$multiple,
                       DefaultValuedAttr<I64Attr, "1">:$run);
  let results = (outs Row_AnyRow:$value);
  let assemblyFormat = [{
    $base `[` $offset `]` (`if` $valid^)? (`length` $length^)? (`stride` $stride^)? attr-dict
    `:` type($base) `->` type($value)
  }];
  let extraClassDeclaration = [{
    /// Elements of the result.
    int64_t getExtent() { return getValue().getType().getNumElements(); }
  }];
  let hasVerifier = 1;
}

def Row_WriteOp : Row_Op<"write"> {
  let summary = "write a segment of a row";
  let description = [{
    ```mlir
    row.write %y, %out[%start] {align = 16} : vector<512xbf16>, memref<?xbf16>
    row.write %s, %page[%at] per 64 {pad = 1} : vector<7xf8E8M0FNU>, memref<?xi8>
    ```

    Writes the elements from `offset` on. With `per` every value stands for that many
    elements of the row. With `interleave` n, value i is stored at
    (i mod n) * (N / n) + i / n. `pad` zero bytes follow the last value.

    With `stride` the values are stored in runs of `run` neighbours: value i at
    offset + (i / run) * stride + i mod run. Offset and stride then count values, whatever the
    elements of the base, and `pad` counts zero values that follow in the same way. Clauses:

    * write_c1: the base has bytes or elements of the value, or there is a `stride`;
    * write_c2: `align` is a power of two, `group` and `interleave` are positive, and
      `pad` is not negative;
    * write_c3: `interleave` divides the extent;
    * write_c4: values with a `stride` have 8 or 32 bits and no `interleave`, and `run` is positive.
  }];
  let arguments = (ins Row_AnyRow:$value, Arg<Row_Buffer, "", [MemWrite]>:$base, Index:$offset,
                       DefaultValuedAttr<I64Attr, "1">:$group,
                       DefaultValuedAttr<I64Attr, "1">:$align,
                       DefaultValuedAttr<I64Attr, "1">:$interleave,
                       DefaultValuedAttr<I64Attr, "0">:$pad, Optional<Index>:$stride,
                       DefaultValuedAttr<I64Attr, "1">:$run);
  let assemblyFormat = [{
    $value `,` $base `[` $offset `]` (`per` $group^)? (`stride` $stride^)? attr-dict
    `:` type($value) `,` type($base)
  }];
  let builders = [OpBuilder<(ins "::mlir::Value":$value, "::mlir::Value":$base,
                                 "::mlir::Value":$offset, CArg<"int64_t", "1">:$group,
                                 CArg<"int64_t", "1">:$align, CArg<"int64_t", "1">:$interleave,
                                 CArg<"int64_t", "0">:$pad), [{
    build($_builder, $_state, value, base, offset, group, align, interleave, pad,
          /*stride=*/::mlir::Value(), /*run=*/1);
  }]>];
  let hasVerifier = 1;
}

def Row_GatherElementsOp : Row_Op<"gather_elements", [Pure]> {
  let summary = "elements of a row by index";
  let description = [{
    ```mlir
    %scores = row.gather_elements %gate at %ids : vector<256xf32>, vector<8xi32> -> vector<8xf32>
    ```

    Returns element `indices[i]` of `row` for every i. The element of an index outside the
    row is undefined; `row.where_valid` replaces it. Only the requested elements are
    computed. Clause gather_elements_c1: there is one element per index, of the row's
    element type.
  }];
  let arguments = (ins Row_AnyRow:$row, Row_Vector<[I32]>:$indices);
  let results = (outs Row_AnyRow:$elements);
  let assemblyFormat = [{
    $row `at` $indices attr-dict `:` type($row) `,` type($indices) `->` type($elements)
  }];
  let hasVerifier = 1;
}

def Row_SequenceOp : Row_Op<"sequence", [Pure]> {
  let summary = "numbers at equal distances";
  let description = [{
    ```mlir
    func.func @example(%row: index, %rows: index) {
      %numbers = row.sequence %row by %rows : vector<8xi32>
      return
    }
    ```

    Returns a row whose element j is `start` + j * `step`, modulo 2^32.
  }];
  let arguments = (ins Index:$start, Index:$step);
  let results = (outs Row_Vector<[I32]>:$numbers);
  let assemblyFormat = "$start `by` $step attr-dict `:` type($numbers)";
}

def Row_SpliceOp : Row_Op<"splice", [Pure, AllTypesMatch<["head", "tail", "spliced"]>]> {
  let summary = "the first elements of one row, the others of another";
  let description = [{
    ```mlir
    func.func @example(%ids: vector<9xi32>, %shared: vector<9xi32>) {
      %all = row.splice %ids before 8, %shared : vector<9xi32>
      return
    }
    ```

    Returns the first `count` elements of `head`, and the elements after them of `tail`.
  }];
  let arguments = (ins Row_Vector<[I32, F32]>:$head, I64Attr:$count, Row_Vector<[I32, F32]>:$tail);
  let results = (outs Row_Vector<[I32, F32]>:$spliced);
  let assemblyFormat = "$head `before` $count `,` $tail attr-dict `:` type($head)";
}

def Row_ConstantOp : Row_Op<"constant", [
    Pure, Row_SameOnFragments,
    DeclareOpInterfaceMethods<InferIntRangeInterface, ["inferResultRanges"]>]> {
  let summary = "a named number";
  let description = [{
    ```mlir
    %0 = row.constant "page_bytes" = 37440
    ```

    A number of the layout of a record or a page. The emitted source declares it as a named
    constant. No pattern folds it, so the name stays.
  }];
  let arguments = (ins StrAttr:$name, I64Attr:$value);
  let results = (outs Index:$result);
  let assemblyFormat = "$name `=` $value attr-dict";
}

def Row_BytesOp : Row_Op<"bytes", [Pure]> {
  let summary = "memory as bytes";
  let description = [{
    ```mlir
    func.func @example(%floats: memref<?xf32>, %at: index) {
      %bytes = row.bytes %floats : memref<?xf32> to memref<?xi8>
      %row = row.bytes %floats[%at] : memref<?xf32> to memref<?xi8>
      return
    }
    ```

    Returns the memory of `base`, from element `offset` on if that is given, as bytes. It is only
    read.
  }];
  let arguments = (ins Row_Buffer:$base, Optional<Index>:$offset);
  let results = (outs MemRefRankOf<[I8], [1]>:$memory);
  let assemblyFormat = [{
    $base (`[` $offset^ `]`)? attr-dict `:` type($base) `to` type($memory)
  }];
}

def Row_MayWriteOp : Row_Op<"may_write", [Pure]> {
  let summary = "whether an entry may be written";
  let description = [{
    ```mlir
    func.func @example(%asked: i1, %page: index, %pages: index) {
      %valid = row.may_write %asked, %page of %pages
      return
    }
    ```

    Whether `condition` holds and `page` is below `pages`. If only the condition holds, the
    program asked for an entry beyond the pool; the host target and kernels compiled with
    checks report it.
  }];
  let arguments = (ins I1:$condition, Index:$page, Index:$pages);
  let results = (outs I1:$valid);
  let assemblyFormat = "$condition `,` $page `of` $pages attr-dict";
}

def Row_IsLastOp : Row_Op<"is_last"> {
  let summary = "whether no later element has this value";
  let description = [{
    ```mlir
    func.func @example(%slots: memref<?xi32>, %i: index, %n: index) {
      %last = row.is_last %slots[%i] of %n : memref<?xi32>
      return
    }
    ```

    Whether none of `base[at + 1]` to `base[count - 1]` equals `base[at]`. A negative element
    counts as different from all others, and so does an i64 that i32 does not hold. Every row
    runs the op once, each with its own `at`.
  }];
  let arguments = (ins Arg<MemRefRankOf<[I32, I64], [1]>, "", [MemRead]>:$base, Index:$at,
                       Index:$count);
  let results = (outs I1:$last);
  let assemblyFormat = "$base `[` $at `]` `of` $count attr-dict `:` type($base)";
}

def Row_SearchOp : Row_Op<"search"> {
  let summary = "the last of ascending elements that is at most a value";
  let description = [{
    ```mlir
    func.func @example(%starts: memref<?xi32>, %row: index, %n: index) {
      %request = row.search %starts for %row of %n : memref<?xi32>
      return
    }
    ```

    Searches elements `[i, i + n)` of the base by halving, from i = 0 and n = `count` on: i
    becomes `i + n div 2` where that element is at most `value`, and n becomes `n - n div 2`,
    until n is at most 1. The result is i. Of ascending elements it is the last that is at most
    `value`, or the first.
  }];
  let arguments = (ins Arg<MemRefRankOf<[I32, I64], [1]>, "", [MemRead]>:$base, Index:$value,
                       Index:$count);
  let results = (outs I32:$found);
  let assemblyFormat = "$base `for` $value `of` $count attr-dict `:` type($base)";
}

//===----------------------------------------------------------------------===//
// Element by element: legal on rows and on fragments
//===----------------------------------------------------------------------===//

def Row_SwapNibblesOp : Row_Op<"swap_nibbles",
    [Pure, Row_SameOnFragments, AllTypesMatch<["source", "swapped"]>]> {
  let summary = "swap the elements of every packed 4-bit pair";
  let description = [{
    ```mlir
    func.func @example(%row: vector<512xf4E2M1FN>) {
      %swapped = row.swap_nibbles %row : vector<512xf4E2M1FN>
      return
    }
    ```

    Turns pairs stored high nibble first into pairs stored low nibble first. Clause
    swap_nibbles_c1: elements have 4 bits, and their number is even.
  }];
  let arguments = (ins Row_Elements<[AnyInteger, AnyFloat]>:$source);
  let results = (outs Row_Elements<[AnyInteger, AnyFloat]>:$swapped);
  let assemblyFormat = "$source attr-dict `:` type($source)";
  let hasVerifier = 1;
}

def Row_OneNaNOp : Row_Op<"one_nan", [Pure, Row_SameOnFragments, Elementwise,
    AllTypesMatch<["source", "numbers"]>]> {
  let summary = "replace every NaN by one bit pattern";
  let description = [{
    ```mlir
    func.func @example(%row: vector<512xf32>) {
      %same = row.one_nan %row : vector<512xf32>
      return
    }
    ```

    Every NaN becomes 0x7FFFFFFF, the NaN that arithmetic makes. Values that were only
    copied to f32 need it.
  }];
  let arguments = (ins Row_Elements<[F32]>:$source);
  let results = (outs Row_Elements<[F32]>:$numbers);
  let assemblyFormat = "$source attr-dict `:` type($source)";
}

def Row_NarrowOp : Row_Op<"narrow", [Pure, Row_SameOnFragments, Elementwise]> {
  let summary = "i64 as i32";
  let description = [{
    ```mlir
    func.func @example(%slot: i64, %length: i64, %ids: vector<8xi64>) {
      %index = row.narrow %slot : i64 to i32
      %count = row.narrow %length saturate : i64 to i32
      %experts = row.narrow %ids : vector<8xi64> to vector<8xi32>
      return
    }
    ```

    Returns the same number. One that i32 does not hold becomes -1, which is no index, or with
    `saturate` the nearest i32. Clause narrow_c1: only a scalar has `saturate`.
  }];
  let arguments = (ins AnyTypeOf<[I64, Row_Elements<[I64]>]>:$source, UnitAttr:$saturate);
  let results = (outs AnyTypeOf<[I32, Row_Elements<[I32]>]>:$narrowed);
  let assemblyFormat = [{
    $source (`saturate` $saturate^)? attr-dict `:` type($source) `to` type($narrowed)
  }];
  let hasVerifier = 1;
}

def Row_EncodeOp : Row_Op<"encode", [Pure, Row_SameOnFragments, Elementwise,
    SameOperandsAndResultShape]> {
  let summary = "round f32 to a narrow type, saturating";
  let description = [{
    ```mlir
    func.func @example(%row: vector<512xf32>, %scales: vector<7xf32>) {
      %data = row.encode %row : vector<512xf32> to vector<512xf8E4M3FN>
      %powers = row.encode %scales up : vector<7xf32> to vector<7xf8E8M0FNU>
      return
    }
    ```

    Rounds to f8E4M3FN, f4E2M1FN or f8E8M0FNU: to nearest, ties to even, or with `up` to the
    next quantised value that is not smaller. A value beyond the largest finite one, also an
    infinity, becomes the largest finite one. NaN becomes NaN (0x7F, 0xFF), and 7 in
    f4E2M1FN. An f8E8M0FNU below 2^-127 has code 0. `ties_down` rounds ties towards zero.
    `drop_negative_zero` turns the code of -0 into that of 0. Clauses:

    * encode_c1: f8E8M0FNU is rounded `up`; f4E2M1FN is not;
    * encode_c2: `ties_down` and `drop_negative_zero` are for f4E2M1FN.
  }];
  let arguments = (ins Row_Elements<[F32]>:$source, UnitAttr:$up,
                       UnitAttr:$ties_down, UnitAttr:$drop_negative_zero);
  let results = (outs Row_Elements<[AnyFloat]>:$payload);
  let assemblyFormat = [{
    $source (`up` $up^)? (`ties_down` $ties_down^)? (`drop_negative_zero` $drop_negative_zero^)?
    attr-dict `:` type($source) `to` type($payload)
  }];
  let hasVerifier = 1;
}

def Row_WhereValidOp : Row_Op<"where_valid",
    [Pure, Row_SameOnFragments, Elementwise, AllTypesMatch<["values", "kept"]>]> {
  let summary = "replace values whose index is out of range";
  let description = [{
    ```mlir
    func.func @example(%row: vector<8xf32>, %ids: vector<8xi32>) {
      %values = row.where_valid %row at %ids below 256 otherwise 1.5
          : vector<8xf32>, vector<8xi32>
      return
    }
    ```

    Returns every value whose index is between 0 and `count` - 1, and `otherwise` for the
    others. Values of i32 are indices, and the others -1.

    Clause where_valid_c1: values of i32 have no `otherwise`.
  }];
  let arguments = (ins Row_Elements<[F32, I32]>:$values,
                       AnyTypeOf<[I32, Row_Elements<[I32]>]>:$indices, I64Attr:$count,
                       DefaultValuedAttr<F32Attr, "0.0f">:$otherwise);
  let results = (outs Row_Elements<[F32, I32]>:$kept);
  let assemblyFormat = [{
    $values `at` $indices `below` $count (`otherwise` $otherwise^)? attr-dict
    `:` type($values) `,` type($indices)
  }];
  let hasVerifier = 1;
}

def Row_ActivationOp : Row_Op<"activation",
    [Pure, Row_SameOnFragments, Elementwise, AllTypesMatch<["source", "result"]>]> {
  let summary = "a function of every element";
  let description = [{
    ```mlir
    func.func @example(%row: vector<256xf32>) {
      %scores = row.activation sqrt_softplus %row : vector<256xf32>
      return
    }
    ```

    Computes `sqrt_softplus` or `sigmoid` as `dsv4.gate` defines them; `exp` as `dsv4.compress`
    does: e to a power that is not positive, and NaN of NaN; or `nan_to_zero`: the number itself,
    and 0 of NaN.
  }];
  let arguments = (ins Row_ActivationKind:$kind, Row_Elements<[F32]>:$source);
  let results = (outs Row_Elements<[F32]>:$result);
  let assemblyFormat = "$kind $source attr-dict `:` type($source)";
}

//===----------------------------------------------------------------------===//
// Of a whole row
//===----------------------------------------------------------------------===//

def Row_ExpandOp : Row_Op<"expand", [Pure]> {
  let summary = "repeat scales over the elements they cover";
  let description = [{
    ```mlir
    %s = row.expand %scales : vector<7xf32> to vector<448xf32>
    ```

    Every value stands for N / G consecutive elements of the row. Clauses:

    * expand_c1: the element types agree;
    * expand_c2: the extent of the scales divides that of the row.
  }];
  let arguments = (ins Row_Vector<[AnyFloat]>:$scales);
  let results = (outs Row_Vector<[AnyFloat]>:$row);
  let assemblyFormat = "$scales attr-dict `:` type($scales) `to` type($row)";
  let hasVerifier = 1;
}

def Row_ReduceOp : Row_Op<"reduce", [Pure]> {
  let summary = "reduce groups of a row to f32";
  let description = [{
    ```mlir
    %amax = row.reduce max_abs %x per 64 : vector<448xbf16> to vector<7xf32>
    ```

    Every `group` consecutive elements of a row become one value:

    * `sum`: of f32, as a binary tree of neighbours, where an unpaired value moves up a
      level unchanged; every sum is rounded to nearest even;
    * `max_abs`: the largest magnitude, infinity counting as the largest finite value of
      the element type; NaN is ignored;
    * `max_abs_nan`: the same, but NaN if there is one;
    * `max_nan`: the largest of f32, NaN if there is one.

    Clause reduce_c1: `group` divides the row, and the result has one f32 per group.
  }];
  let arguments = (ins Row_ReduceKind:$kind, Row_Vector<[BF16, F16, F32]>:$source, I64Attr:$group);
  let results = (outs Row_Vector<[F32]>:$reduced);
  let assemblyFormat = "$kind $source `per` $group attr-dict `:` type($source) `to` type($reduced)";
  let extraClassDeclaration = [{
    /// Whether the result is a statistic of the whole row.
    bool isStatistic() { return getReduced().getType().getNumElements() == 1; }
  }];
  let hasVerifier = 1;
}

def Row_HadamardOp : Row_Op<"hadamard", [Pure, AllTypesMatch<["source", "transformed"]>]> {
  let summary = "Walsh-Hadamard transform of a row";
  let description = [{
    ```mlir
    func.func @example(%row: vector<128xf32>) {
      %transformed = row.hadamard %row : vector<128xf32>
      return
    }
    ```

    For h = 1, 2, 4, ..., elements i and i + h (bit h of i clear) become their sum and
    their difference, rounded to nearest even. Clause hadamard_c1: the row has a power of
    two of elements.
  }];
  let arguments = (ins Row_Vector<[F32]>:$source);
  let results = (outs Row_Vector<[F32]>:$transformed);
  let assemblyFormat = "$source attr-dict `:` type($source)";
  let hasVerifier = 1;
}

def Row_JoinOp : Row_Op<"join", [Pure]> {
  let summary = "one row of two segments";
  let description = [{
    ```mlir
    func.func @example(%a: vector<448xbf16>, %b: vector<64xbf16>) {
      %row = row.join %a, %b : vector<448xbf16>, vector<64xbf16> to vector<512xbf16>
      return
    }
    ```

    Returns the elements of `first`, then those of `second`. Clause join_c1: the element
    types agree, and the extent is the sum.
  }];
  let arguments = (ins Row_AnyRow:$first, Row_AnyRow:$second);
  let results = (outs Row_AnyRow:$joined);
  let assemblyFormat = [{
    $first `,` $second attr-dict `:` type($first) `,` type($second) `to` type($joined)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Results of regions
//===----------------------------------------------------------------------===//

def Row_YieldOp : Row_Op<"yield", [
    Pure, Terminator, ReturnLike,
    ParentOneOf<["MapOp", "IndexScoreOp", "WindowReduceOp", "WindowOp", "WindowSegmentOp"]>]> {
  let summary = "results of a region";
  let description = [{
    ```mlir
    row.yield %scores, %values : vector<64xf32>, vector<64xf32>
    ```

    Ends a region of a row op, and returns its results.
  }];
  let arguments = (ins Variadic<AnyTypeOf<[Index, AnyInteger, AnyFloat, Row_AnyRow]>>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

#endif // ROW_ELEMENT_OPS_TD
