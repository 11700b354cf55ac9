//===- TileTestOps.td - Scores that come as tiles ----------*- tablegen -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A dialect outside of dsv4 with a tile source at every level: an op of L0, its
// row, the call of its device code and its schedule part (docs/TileSources.md).
//
//===----------------------------------------------------------------------===//

#ifndef TILE_TEST_OPS_TD
#define TILE_TEST_OPS_TD

include "CUDAInterfaces.td"
include "CUDAOpBase.td"
include "DSV4Interfaces.td"
include "DSV4ScheduleInterfaces.td"
include "RowInterfaces.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def TileTest_Dialect : Dialect {
  let name = "tiletest";
  let cppNamespace = "::tiletest";
  let summary = "Scores that come as tiles";
  let useDefaultAttributePrinterParser = 1;
  let dependentDialects = [
    "::dsv4::cuda::CUDADialect", "::dsv4::row::RowDialect", "::mlir::memref::MemRefDialect"
  ];
}

//===----------------------------------------------------------------------===//
// The schedule part
//===----------------------------------------------------------------------===//

def TileTest_TilesAttr : AttrDef<TileTest_Dialect, "Tiles", [
    DeclareAttrInterfaceMethods<DSV4_ScheduleInterface, ["verifyLaunch", "getResources"]>
  ]> {
  let mnemonic = "tiles";
  let summary = "scores to tiles";
  let description = [{
    ```mlir
    #tiletest.tiles<rows = 3, columns = 16, warps = 2>
    ```

    A block has `rows` rows, whose scores it computes `columns` columns at a time. `warps` warps
    compute, and one more loads keys. Clauses:

    * tiles_c1: all of them are positive;
    * tiles_c2: the launch has `32 * (warps + 1)` threads.
  }];
  let parameters = (ins "int64_t":$rows, "int64_t":$columns, "int64_t":$warps);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    int64_t getThreads() const { return 32 * (getWarps() + 1); }
  }];
}

//===----------------------------------------------------------------------===//
// L0: the meaning
//===----------------------------------------------------------------------===//

def TileTest_ScoresOp : Op<TileTest_Dialect, "scores", [
    Pure, DestinationStyleOpInterface,
    DeclareOpInterfaceMethods<DSV4_RowwiseOpInterface, ["getCooperativeWork"]>,
    DeclareOpInterfaceMethods<DSV4_RowLayoutOpInterface>,
    DeclareOpInterfaceMethods<DSV4_FusionOpInterface, ["getProvidedAccesses"]>,
    DeclareOpInterfaceMethods<DSV4_RowLoweringInterface>,
    DeclareOpInterfaceMethods<DSV4_ReferenceInterface>
  ]> {
  let summary = "dot products of queries and keys";
  let description = [{
    `scores(t, n)` is the sum over d of `queries(t, d) * keys(n, d)`, of integers, so that it is
    exact. Clauses:

    * scores_c1: `queries` is i8 `[T, D]` and `keys` i8 `[N, D]`, with a constant D of 1 to 1024
      and a constant N;
    * scores_c2: the result is f32 `[T, N]`.
  }];
  let arguments = (ins 2DTensorOf<[I8]>:$queries, 2DTensorOf<[I8]>:$keys, 2DTensorOf<[F32]>:$out);
  let results = (outs 2DTensorOf<[F32]>:$scores);
  let assemblyFormat = [{
    $queries `,` $keys `outs` `(` $out `:` type($out) `)` attr-dict
    `:` type($queries) `,` type($keys) `to` type($scores)
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getOutMutable(); }
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// L2: one row
//===----------------------------------------------------------------------===//

def TileTest_ScoreRowOp : Op<TileTest_Dialect, "score_row", [
    DeclareOpInterfaceMethods<Row_TileSourceOpInterface>
  ]> {
  let summary = "the scores of one query";
  let description = [{
    The dot products of query `row` and all keys, of `depth` elements each.
  }];
  let arguments = (ins Arg<MemRefRankOf<[I8], [1]>, "", [MemRead]>:$queries, Index:$row,
                       Arg<MemRefRankOf<[I8], [1]>, "", [MemRead]>:$keys, I64Attr:$depth);
  let results = (outs VectorOfRankAndType<[1], [F32]>:$scores);
  let assemblyFormat = [{
    $queries `[` $row `]` `,` $keys `depth` $depth attr-dict
    `:` type($queries) `,` type($keys) `->` type($scores)
  }];
}

//===----------------------------------------------------------------------===//
// L3: the call
//===----------------------------------------------------------------------===//

def TileTest_ScoreTilesOp : Op<TileTest_Dialect, "score_tiles", [
    DeclareOpInterfaceMethods<CUDA_DeviceCallOpInterface, ["getConfig"]>,
    DeclareOpInterfaceMethods<CUDA_IndexWidthOpInterface, ["isInt32"]>
  ]> {
  let summary = "the scores of a block's queries, tile by tile";
  let arguments = (ins
    CUDA_CallableType:$consume, Arg<MemRefRankOf<[I8], [1]>, "", [MemRead, MemWrite]>:$memory,
    Arg<MemRefRankOf<[I8], [1]>, "", [MemRead]>:$queries,
    Arg<MemRefRankOf<[I8], [1]>, "", [MemRead]>:$keys,
    CUDA_Offset:$first_row, CUDA_Offset:$row_count,
    I64Attr:$rows, I64Attr:$columns, I64Attr:$warps, I64Attr:$depth, I64Attr:$count
  );
  let assemblyFormat = [{
    $consume `,` $memory `,` $queries `,` $keys `from` $first_row `of` $row_count
    `rows` $rows `columns` $columns `warps` $warps `depth` $depth `count` $count attr-dict
    `:` type($memory) `,` type($queries) `,` type($keys) `,` type($first_row) `,` type($row_count)
  }];
  let extraClassDeclaration = [{
    /// What the device code needs of the shared memory, which it checks.
    static int64_t getSharedBytes(int64_t rows, int64_t columns, int64_t depth) {
      return (rows + 2 * columns) * depth;
    }
  }];
}

def TileTest_FillOp : Op<TileTest_Dialect, "fill", [
    DeclareOpInterfaceMethods<CUDA_BufferAccessOpInterface>
  ]> {
  let summary = "write whole lines";
  let arguments = (ins Arg<MemRefRankOf<[AnyType], [1]>, "", [MemWrite]>:$memory,
                       DefaultValuedAttr<I64Attr, "128">:$line);
  let assemblyFormat = "$memory attr-dict `:` type($memory)";
}

def TileTest_OpaqueOp : Op<TileTest_Dialect, "opaque", []> {
  let summary = "do with memory what nobody knows";
  let arguments = (ins MemRefRankOf<[AnyType], [1]>:$memory);
  let assemblyFormat = "$memory attr-dict `:` type($memory)";
}

#endif // TILE_TEST_OPS_TD
