// The schedules of selections in the kernel of scores: a block has one row, also if rows share
// their keys, and lists of candidates have room for as many tiles as shared memory allows.

// RUN: dsv4-opt %s --dsv4-form-kernels --dsv4-select-schedule=arch=sm_90a | FileCheck %s --check-prefix=SM90
// RUN: dsv4-opt %s --dsv4-form-kernels --dsv4-select-schedule=arch=sm_89 | FileCheck %s --check-prefix=SM89
// RUN: sed -e "s/x512x/x4096x/g; s/ next_n 4//; s/requests/rows/" %s | dsv4-opt --dsv4-form-kernels \
// RUN:   --dsv4-select-schedule=arch=sm_120a | FileCheck %s --check-prefix=LARGE

// SM90: #dsv4.select<algorithm = tile, vector = 1, vectors = 16>, #dsv4.score<algorithm = mma, tiles = 2, stages = 6, slots = 1>
// SM89: #dsv4.select<algorithm = tile, vector = 1, vectors = 16>, #dsv4.score<algorithm = mma, tiles = 1, stages = 4, slots = 1>
// LARGE: #dsv4.select<algorithm = tile, vector = 1, vectors = 2>, #dsv4.score<algorithm = mma, tiles = 1, stages = 2, slots = 1>

func.func @choose(
    %q: tensor<?x64x128xf8E4M3FN> {dsv4.name = "q", dsv4.dims = ["rows", "", ""]},
    %w: tensor<?x64xf32> {dsv4.name = "w", dsv4.dims = ["rows", ""]},
    %keys: !dsv4.cache<64 x <index_fp8_132>> {dsv4.name = "keys"},
    %table: tensor<?x?xi32> {dsv4.name = "table", dsv4.dims = ["requests", "pages"]},
    %length: tensor<?xi32> {dsv4.name = "length", dsv4.dims = ["requests"]},
    %chosen: tensor<?x512xi32> {dsv4.name = "chosen", dsv4.dims = ["rows", ""]}) -> tensor<?x512xi32> {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %q, %c0 : tensor<?x64x128xf8E4M3FN>
  %row = tensor.empty(%rows) : tensor<?x65536xf32>
  %scores = dsv4.index_score %q weights(%w : tensor<?x64xf32>) cache(%keys : !dsv4.cache<64 x <index_fp8_132>>) pages(%table : tensor<?x?xi32>)
      lengths(%length : tensor<?xi32>) next_n 4 outs(%row : tensor<?x65536xf32>) : tensor<?x64x128xf8E4M3FN>
  %0 = dsv4.topk %scores outs(%chosen : tensor<?x512xi32>) : tensor<?x65536xf32>
  return %0 : tensor<?x512xi32>
}
