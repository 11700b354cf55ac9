// Few rows of scores have a cluster each, whose shared memory has the scores until they are
// selected from. The fewer rows there are, the more blocks a cluster has, because others would be
// idle.

// RUN: split-file %s %t
// DEFINE: %{rows} =
// DEFINE: %{columns} = 32768
// DEFINE: %{arch} = sm_90a
// DEFINE: %{choose} = sed -e "s/x32768x/x%{columns}x/" %t/program.mlir | dsv4-opt --dsv4-specialize=dims=rows=%{rows} --dsv4-form-kernels --dsv4-select-schedule=arch=%{arch}
// REDEFINE: %{rows} = 1
// RUN: %{choose} | FileCheck %s --check-prefix=OF16
// REDEFINE: %{rows} = 4
// RUN: %{choose} | FileCheck %s --check-prefix=OF16
// REDEFINE: %{rows} = 5
// RUN: %{choose} | FileCheck %s --check-prefix=OF8
// REDEFINE: %{rows} = 15
// RUN: %{choose} | FileCheck %s --check-prefix=OF8
// REDEFINE: %{rows} = 16
// RUN: %{choose} | FileCheck %s --check-prefix=OF4
// REDEFINE: %{rows} = 30
// RUN: %{choose} | FileCheck %s --check-prefix=OF4
// REDEFINE: %{rows} = 31
// RUN: %{choose} | FileCheck %s --check-prefix=OF3
// REDEFINE: %{rows} = 40
// RUN: %{choose} | FileCheck %s --check-prefix=OF3
// REDEFINE: %{rows} = 41
// RUN: %{choose} | FileCheck %s --check-prefix=OF2
// REDEFINE: %{rows} = 66
// RUN: %{choose} | FileCheck %s --check-prefix=OF2

// As many columns as the threads of a cluster have in registers, and more.
// REDEFINE: %{rows} = 4
// REDEFINE: %{columns} = 262144
// RUN: %{choose} | FileCheck %s --check-prefix=OF16
// REDEFINE: %{rows} = 15
// REDEFINE: %{columns} = 131072
// RUN: %{choose} | FileCheck %s --check-prefix=OF8
// REDEFINE: %{rows} = 30
// REDEFINE: %{columns} = 65536
// RUN: %{choose} | FileCheck %s --check-prefix=OF4
// REDEFINE: %{rows} = 40
// REDEFINE: %{columns} = 49152
// RUN: %{choose} | FileCheck %s --check-prefix=OF3
// REDEFINE: %{rows} = 66
// REDEFINE: %{columns} = 32768
// RUN: %{choose} | FileCheck %s --check-prefix=OF2
// REDEFINE: %{rows} = 4
// REDEFINE: %{columns} = 262148
// RUN: %{choose} | FileCheck %s --check-prefix=TILE
// REDEFINE: %{rows} = 5
// REDEFINE: %{columns} = 131076
// RUN: %{choose} | FileCheck %s --check-prefix=TILE
// REDEFINE: %{rows} = 16
// REDEFINE: %{columns} = 65540
// RUN: %{choose} | FileCheck %s --check-prefix=TILE
// REDEFINE: %{rows} = 31
// REDEFINE: %{columns} = 49156
// RUN: %{choose} | FileCheck %s --check-prefix=TILE
// REDEFINE: %{rows} = 41
// REDEFINE: %{columns} = 32772
// RUN: %{choose} | FileCheck %s --check-prefix=TILE
// REDEFINE: %{rows} = 67
// REDEFINE: %{columns} = 49152
// RUN: %{choose} | FileCheck %s --check-prefix=TILE

// Any number of rows, or of blocks without clusters. Keys in other formats.
// REDEFINE: %{rows} = 4
// REDEFINE: %{columns} = 32768
// RUN: sed -e "s/policy<exact>/policy<dynamic>/; s/x32768x/x49152x/" %t/program.mlir | dsv4-opt --dsv4-specialize=dims=rows=4 --dsv4-form-kernels \
// RUN:   --dsv4-select-schedule=arch=sm_90a | FileCheck %s --check-prefix=TILE
// REDEFINE: %{arch} = sm_89
// RUN: %{choose} | FileCheck %s --check-prefix=OTHERS
// REDEFINE: %{arch} = sm_100a
// RUN: %{choose} | FileCheck %s --check-prefix=OTHERS
// RUN: sed -e "s/<index_mxfp4_68>/#nvfp4/" %t/program.mlir | dsv4-opt --dsv4-specialize=dims=rows=66 --dsv4-form-kernels \
// RUN:   --dsv4-select-schedule=arch=sm_90a | FileCheck %s --check-prefix=NVFP4
// RUN: sed -e "/%qs:/d; s/ scales(%qs[^)]*)//; s/f4E2M1FN/f8E4M3FN/g; s/index_mxfp4_68/index_fp8_132/" %t/program.mlir \
// RUN:   | dsv4-opt --dsv4-specialize=dims=rows=66 --dsv4-form-kernels --dsv4-select-schedule=arch=sm_90a | FileCheck %s --check-prefix=OF2

// More rows: one block of each, or two, as many as have the columns in registers.
// REDEFINE: %{arch} = sm_90a
// REDEFINE: %{rows} = 67
// REDEFINE: %{columns} = 16384
// RUN: %{choose} | FileCheck %s --check-prefix=OF1
// REDEFINE: %{columns} = 16388
// RUN: %{choose} | FileCheck %s --check-prefix=OF2
// REDEFINE: %{columns} = 32768
// RUN: %{choose} | FileCheck %s --check-prefix=OF2
// RUN: sed -e "s/<index_mxfp4_68>/#nvfp4/" %t/program.mlir | dsv4-opt --dsv4-specialize=dims=rows=67 --dsv4-form-kernels \
// RUN:   --dsv4-select-schedule=arch=sm_90a | FileCheck %s --check-prefix=NVFP4
// RUN: sed -e "s/<index_mxfp4_68>/#nvfp4/; s/x32768x/x9000x/" %t/program.mlir | dsv4-opt --dsv4-specialize=dims=rows=67 --dsv4-form-kernels \
// RUN:   --dsv4-select-schedule=arch=sm_90a | FileCheck %s --check-prefix=NVFP4-1

// Two rows that share their keys, where 2 divides their number. If the lists of many elements leave
// no room, one.
// DEFINE: %{requests} = s/\["rows", "pages"\]/["requests", "pages"]/; s/"length", dsv4.dims = \["rows"\]/"length", dsv4.dims = ["requests"]/
// DEFINE: %{share} = sed -e 's/lengths(%length : tensor<?xi32>)/& next_n 2/; %{requests}' %t/program.mlir
// DEFINE: %{fp8} = sed -e "/%qs:/d; s/ scales(%qs[^)]*)//; s/f4E2M1FN/f8E4M3FN/g; s/index_mxfp4_68/index_fp8_132/"
// DEFINE: %{select} = dsv4-opt --dsv4-specialize=dims=rows=128 --dsv4-form-kernels --dsv4-select-schedule=arch=sm_90a
// RUN: %{share} | %{select} | FileCheck %s --check-prefix=SHARE2
// RUN: %{share} | sed -e "s/x32768x/x16384x/" | %{select} | FileCheck %s --check-prefix=SHARE1
// RUN: %{share} | %{fp8} | %{select} | FileCheck %s --check-prefix=SHARE2-ONE-TILE
// RUN: %{share} | %{fp8} | sed -e "s/x32768x/x16384x/" | %{select} | FileCheck %s --check-prefix=SHARE2
// RUN: %{share} | %{fp8} | sed -e "s/x32768x/x8192x/" | %{select} | FileCheck %s --check-prefix=SHARE1
// RUN: %{share} | sed -e "s/next_n 2/next_n 3/g" | dsv4-opt --dsv4-specialize=dims=rows=129 --dsv4-form-kernels \
// RUN:   --dsv4-select-schedule=arch=sm_90a | FileCheck %s --check-prefix=OF2
// RUN: %{share} | sed -e "s/x512x/x4096x/g; s/x64x/x128x/g" | %{select} | FileCheck %s --check-prefix=OF2

// Columns that are not whole vectors.
// REDEFINE: %{arch} = sm_90a
// REDEFINE: %{rows} = 66
// REDEFINE: %{columns} = 32767
// RUN: %{choose} | FileCheck %s --check-prefix=OF2
// REDEFINE: %{rows} = 4
// REDEFINE: %{columns} = 1
// RUN: %{choose} | FileCheck %s --check-prefix=OF16

// A block has the scores beside the keys in shared memory: four bytes of each column of its part.
// The entry for a kernel has no other one after it.
// DEFINE: %{with_table} = dsv4-opt %t/program.mlir --dsv4-specialize=dims=rows=4 --dsv4-form-kernels --dsv4-select-schedule="arch=%{arch} table=%t/table.json"
// RUN: %{with_table} | FileCheck %s --check-prefix=FITS
// REDEFINE: %{arch} = sm_120a
// RUN: not %{with_table} 2>&1 | FileCheck %s --check-prefix=SHARED
// RUN: sed -e "s/x32768x/x8192x/" %t/program.mlir | dsv4-opt --dsv4-specialize=dims=rows=4 --dsv4-form-kernels \
// RUN:   --dsv4-select-schedule="arch=sm_120a table=%t/table.json" | FileCheck %s --check-prefix=FITS

// OF16: schedule <threads = 512, cluster = 16, min_blocks = 1, pdl = true, parts = [#dsv4.select<algorithm = resident, vector = 4>, #dsv4.score<algorithm = mma, tiles = 2, stages = 6, slots = 1>]>
// OF8: schedule <threads = 512, cluster = 8, min_blocks = 1, pdl = true, parts = [#dsv4.select<algorithm = resident, vector = 4>, #dsv4.score<algorithm = mma, tiles = 2, stages = 6, slots = 1>]>
// OF4: schedule <threads = 512, cluster = 4, min_blocks = 1, pdl = true, parts = [#dsv4.select<algorithm = resident, vector = 4>, #dsv4.score<algorithm = mma, tiles = 2, stages = 6, slots = 1>]>
// OF3: schedule <threads = 512, cluster = 3, min_blocks = 1, pdl = true, parts = [#dsv4.select<algorithm = resident, vector = 4>, #dsv4.score<algorithm = mma, tiles = 2, stages = 6, slots = 1>]>
// OF1: schedule <threads = 512, min_blocks = 1, pdl = true, parts = [#dsv4.select<algorithm = resident, vector = 4>, #dsv4.score<algorithm = mma, tiles = 2, stages = 6, slots = 1>]>
// SHARE1: schedule <threads = 512, min_blocks = 1, pdl = true, parts = [#dsv4.select<algorithm = resident, vector = 4>, #dsv4.score<algorithm = mma, rows = 2, tiles = 2, stages = 6, slots = 1>]>
// SHARE2: schedule <threads = 512, cluster = 2, min_blocks = 1, pdl = true, parts = [#dsv4.select<algorithm = resident, vector = 4>, #dsv4.score<algorithm = mma, rows = 2, tiles = 2, stages = 6, slots = 1>]>
// SHARE2-ONE-TILE: schedule <threads = 512, cluster = 2, min_blocks = 1, pdl = true, parts = [#dsv4.select<algorithm = resident, vector = 4>, #dsv4.score<algorithm = mma, rows = 2, tiles = 1, stages = 6, slots = 1>]>
// NVFP4-1: schedule <threads = 512, min_blocks = 1, pdl = true, parts = [#dsv4.select<algorithm = resident, vector = 4>, #dsv4.score<algorithm = mma, tiles = 1, stages = 18, slots = 1>]>
// OF2: schedule <threads = 512, cluster = 2, min_blocks = 1, pdl = true, parts = [#dsv4.select<algorithm = resident, vector = 4>, #dsv4.score<algorithm = mma, tiles = 2, stages = 6, slots = 1>]>
// NVFP4: schedule <threads = 512, cluster = 2, min_blocks = 1, pdl = true, parts = [#dsv4.select<algorithm = resident, vector = 4>, #dsv4.score<algorithm = mma, tiles = 1, stages = 18, slots = 1>]>
// TILE: schedule <threads = 512, min_blocks = 1, pdl = true, parts = [#dsv4.select<algorithm = tile, vector = 1, vectors = 16>, #dsv4.score<algorithm = mma, tiles = 2, stages = 6, slots = 1>]>
// OTHERS: #dsv4.select<algorithm = tile, vector = 1, vectors = 16>, #dsv4.score<algorithm = mma, tiles = 1, stages = 4, slots = 1>
// FITS: schedule <threads = 512, cluster = 2, min_blocks = 1, parts = [#dsv4.select<algorithm = resident, vector = 4>, #dsv4.score<algorithm = mma, tiles = 1, stages = 6, slots = 1>]>
// SHARED: error: 'dsv4.kernel' op no schedule of the table fits: schedule_c8: the parts of the schedule take 116768 bytes of shared memory (#dsv4.select 79792, #dsv4.score 36976), and a block of sm_120a has at most 101376

//--- table.json
[{"op": "dsv4.index_score", "threads": 512, "cluster": 2, "min_blocks": 1, "provenance": "A test.",
  "select": {"algorithm": "resident", "vector": 4}, "score": {"algorithm": "mma", "tiles": 1, "stages": 6, "slots": 1}}]

//--- program.mlir
#nvfp4 = #dsv4.record<[<"key" : 128 x f4E2M1FN in row>, <"key_scale" : 8 x f8E4M3FN in row scales "key" per 16>]>

func.func @choose(
    %q: tensor<?x64x128xf4E2M1FN> {dsv4.name = "q", dsv4.dims = ["rows", "", ""]},
    %qs: tensor<?x64x4xf8E8M0FNU> {dsv4.name = "qs", dsv4.dims = ["rows", "", ""]},
    %w: tensor<?x64xf32> {dsv4.name = "w", dsv4.dims = ["rows", ""]},
    %keys: !dsv4.cache<64 x <index_mxfp4_68>> {dsv4.name = "keys"},
    %table: tensor<?x?xi32> {dsv4.name = "table", dsv4.dims = ["rows", "pages"]},
    %length: tensor<?xi32> {dsv4.name = "length", dsv4.dims = ["rows"]},
    %chosen: tensor<?x512xi32> {dsv4.name = "chosen", dsv4.dims = ["rows", ""]}) -> tensor<?x512xi32>
    attributes {dsv4.policies = {rows = #dsv4.policy<exact>}} {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %q, %c0 : tensor<?x64x128xf4E2M1FN>
  %row = tensor.empty(%rows) : tensor<?x32768xf32>
  %scores = dsv4.index_score %q scales(%qs : tensor<?x64x4xf8E8M0FNU>) weights(%w : tensor<?x64xf32>)
      cache(%keys : !dsv4.cache<64 x <index_mxfp4_68>>) pages(%table : tensor<?x?xi32>)
      lengths(%length : tensor<?xi32>) outs(%row : tensor<?x32768xf32>) : tensor<?x64x128xf4E2M1FN>
  %0 = dsv4.topk %scores lengths(%length : tensor<?xi32>) outs(%chosen : tensor<?x512xi32>) : tensor<?x32768xf32>
  return %0 : tensor<?x512xi32>
}
