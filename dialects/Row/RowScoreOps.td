//===- RowScoreOps.td - Scores and logits that come as tiles -*- tablegen -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ROW_SCORE_OPS_TD
#define ROW_SCORE_OPS_TD

include "RowOpBase.td"

def Row_IndexScoreOp : Row_Op<"index_score", [AttrSizedOperandSegments, RecursiveMemoryEffects]> {
  let summary = "the scores of the keys of one row";
  let description = [{
    ```mlir
    func.func @example(%q: memref<?xi8>, %weights: memref<?xf32>, %pool: memref<?xi8>,
                       %table: memref<?xi32>, %row: index, %columns: index) {
      %row_bytes = arith.constant 8192 : index
      %head_bytes = arith.constant 128 : index
      %page_bytes = arith.constant 8448 : index
      %bytes = arith.constant 4 : index
      %scores = row.index_score %q head %head_bytes weights %weights keys %pool
          page %page_bytes entry %head_bytes key_scales %pool page %page_bytes entry %bytes
          columns %columns heads 64 dim 128 page_size 64 scale_base 8192 query "e4m3" key "e4m3"
          : memref<?xi8>, memref<?xf32>, memref<?xi8>, memref<?xi8> -> vector<4096xf32> row {
        %c0 = arith.constant 0 : index
        %at = arith.muli %row, %row_bytes : index
        row.yield %at, %c0, %row, %c0, %columns : index, index, index, index, index
      } page {
      ^bb0(%number: index):
        %entry = memref.load %table[%number] : memref<?xi32>
        %page = arith.index_cast %entry : i32 to index
        row.yield %page : index
      }
      return
    }
    ```

    The scores of a row's keys, as `dsv4.index_score` defines them, and -infinity for the columns
    after them that are below `columns`. The threads of a block compute
    those of several rows together: the row is a tile source (docs/TileSources.md). Each of the two
    regions runs where a thread needs it:

    * `row` returns where the query, its scales and its weights begin, in elements of their buffers,
      then the first key of the row, and the number of its keys;
    * `page` returns the physical page of page `number` of the row, or a negative number: then the
      scores of its keys are -infinity.

    Key s is entry s mod `page_size` of page s div `page_size`. Entry e of page p begins at byte
    p * page + `key_base` + e * entry of `keys`, where page and entry are the strides given after
    the buffer, and its scales alike. `head` is the stride of heads, in elements. `query_align`,
    `key_align` and `scale_align` are divisors of the addresses of queries, keys and their scales,
    in bytes, and `page_align` of those of the first key of a page and of its scales. `entry_bytes`
    and `scale_entry_bytes` are the strides `entry` where these are constants, else 0. The rows are
    in groups of `readers` that read the same keys, and most groups have keys of their own: a hint
    for caches. 0: this is not known. Clauses:

    * index_score_c1: formats are "e4m3", "mxfp4", "nvfp4" or "bf16"; there are `scales` of queries
      with "mxfp4" and no others, and `key_scales` with all but "bf16";
    * index_score_c2: `heads`, `dim`, `page_size` and the alignments are positive, and
      `entry_bytes`, `scale_entry_bytes` and `readers` are not negative;
    * index_score_c3: the regions have no argument, and `number`. They end in a `row.yield` of five
      indices, and of one.
  }];
  let arguments = (ins
    Arg<Row_Buffer, "", [MemRead]>:$queries, Index:$query_head,
    Arg<Optional<Row_Buffer>, "", [MemRead]>:$scales, Optional<Index>:$scale_head,
    Arg<Row_Buffer, "", [MemRead]>:$weights,
    Arg<Row_Buffer, "", [MemRead]>:$keys, Index:$key_page, Index:$key_entry,
    Arg<Optional<Row_Buffer>, "", [MemRead]>:$key_scales,
    Optional<Index>:$key_scale_page, Optional<Index>:$key_scale_entry,
    Index:$columns,
    I64Attr:$heads, I64Attr:$dim, I64Attr:$page_size,
    DefaultValuedAttr<I64Attr, "0">:$key_base, DefaultValuedAttr<I64Attr, "0">:$scale_base,
    DefaultValuedAttr<I64Attr, "1">:$query_align, DefaultValuedAttr<I64Attr, "1">:$key_align,
    DefaultValuedAttr<I64Attr, "1">:$scale_align, DefaultValuedAttr<I64Attr, "1">:$page_align,
    DefaultValuedAttr<I64Attr, "0">:$entry_bytes,
    DefaultValuedAttr<I64Attr, "0">:$scale_entry_bytes,
    DefaultValuedAttr<I64Attr, "0">:$readers,
    StrAttr:$query_format, StrAttr:$key_format
  );
  let results = (outs Row_Vector<[F32]>:$scores);
  let regions = (region SizedRegion<1>:$row, SizedRegion<1>:$page);
  let assemblyFormat = [{
    $queries `head` $query_head (`scales` $scales^ `head` $scale_head)? `weights` $weights
    `keys` $keys `page` $key_page `entry` $key_entry
    (`key_scales` $key_scales^ `page` $key_scale_page `entry` $key_scale_entry)?
    `columns` $columns `heads` $heads `dim` $dim `page_size` $page_size
    (`key_base` $key_base^)? (`scale_base` $scale_base^)? (`query_align` $query_align^)?
    (`key_align` $key_align^)? (`scale_align` $scale_align^)? (`page_align` $page_align^)?
    (`entry_bytes` $entry_bytes^)? (`scale_entry_bytes` $scale_entry_bytes^)?
    (`readers` $readers^)?
    `query` $query_format `key` $key_format attr-dict-with-keyword
    `:` type($queries) (`scales` type($scales)^)? `,` type($weights) `,` type($keys)
    (`,` type($key_scales)^)? `->` type($scores) `row` $row `page` $page
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Row_RouterLogitsOp : Row_Op<"router_logits", []> {
  let summary = "the logits of the experts of one row";
  let description = [{
    ```mlir
    func.func @example(%hidden: memref<?xbf16>, %weights: memref<?xbf16>, %stride: index) {
      %logits = row.router_logits %hidden apart %stride weights %weights apart %stride depth 7168
          hidden_align 16 weight_align 16 : memref<?xbf16>, memref<?xbf16> -> vector<256xf32>
      return
    }
    ```

    The logits of the row of the program, as `dsv4.router_logits` defines them. The blocks of a
    kernel compute those of all rows together: the row is a tile source, and warps can have whole
    rows (docs/TileSources.md). Row r of the kernel begins at element r * stride of `hidden`, expert
    e at element e * stride of `weights`; strides are in elements. The alignments are divisors of
    the addresses of rows and of experts, in bytes. Clauses:

    * router_logits_c1: `depth` is between 1 and 8192;
    * router_logits_c2: there are at most 512 experts;
    * router_logits_c3: the alignments are powers of two.
  }];
  let arguments = (ins
    Arg<MemRefRankOf<[BF16], [1]>, "", [MemRead]>:$hidden, Index:$hidden_stride,
    Arg<MemRefRankOf<[BF16, F32], [1]>, "", [MemRead]>:$weights, Index:$weight_stride,
    I64Attr:$depth,
    DefaultValuedAttr<I64Attr, "1">:$hidden_align, DefaultValuedAttr<I64Attr, "1">:$weight_align
  );
  let results = (outs Row_Vector<[F32]>:$logits);
  let assemblyFormat = [{
    $hidden `apart` $hidden_stride `weights` $weights `apart` $weight_stride `depth` $depth
    (`hidden_align` $hidden_align^)? (`weight_align` $weight_align^)? attr-dict
    `:` type($hidden) `,` type($weights) `->` type($logits)
  }];
  let hasVerifier = 1;
}

def Row_WriteTilesOp : Row_Op<"write_tiles", []> {
  let summary = "write a row that comes as tiles";
  let description = [{
    ```mlir
    row.write_tiles %scores, %base[%offset] columns %columns : vector<4096xf32>, memref<?xbf16>
    ```

    Writes the first `columns` elements of a row that a tile source computes (docs/TileSources.md),
    one after another from `offset` on. bf16 and f16 are rounded to nearest even. Clause
    write_tiles_c1: the elements of the base are f32, bf16 or f16.
  }];
  let arguments = (ins Row_Vector<[F32]>:$value, Arg<Row_Buffer, "", [MemWrite]>:$base,
                       Index:$offset, Index:$columns);
  let assemblyFormat = [{
    $value `,` $base `[` $offset `]` `columns` $columns attr-dict
    `:` type($value) `,` type($base)
  }];
  let hasVerifier = 1;
}

#endif // ROW_SCORE_OPS_TD
