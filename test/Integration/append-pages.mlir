// Appends by positions and pages without a ring, and appends into two caches with a table each, against
// the oracle.

// RUN: dsv4-run %s --target=host --entry=table --random=1 --check --dim tokens=7 --dim pages=3 --dim pool.pages=30 | FileCheck %s
// RUN: dsv4-run %s --target=host --entry=table --random=2 --check --dim tokens=9 --dim pages=1 --dim pool.pages=5 --thread-order=reverse | FileCheck %s
// RUN: dsv4-run %s --target=host --entry=table --random=3 --check --dim tokens=0 --dim pages=0 --dim pool.pages=0 | FileCheck %s
// RUN: dsv4-run %s --target=host --entry=requests --random=4 --check --dim tokens=99 --dim requests=5 --dim pages=3 --dim pool.pages=20 | FileCheck %s
// RUN: dsv4-run %s --target=host --entry=requests --random=5 --check --dim tokens=99 --dim requests=0 --dim pages=3 --dim pool.pages=20 | FileCheck %s
// RUN: dsv4-run %s --target=host --entry=listed --random=6 --check --dim tokens=150 --dim starts=6 --dim pages=9 --dim pool.pages=20 | FileCheck %s
// RUN: dsv4-run %s --target=host --entry=listed --random=7 --check --dim tokens=150 --dim starts=70 --dim pages=80 --dim pool.pages=90 --thread-order=reverse | FileCheck %s
// RUN: dsv4-run %s --target=host --entry=listed --random=8 --check --dim tokens=20 --dim starts=1 --dim pages=9 --dim pool.pages=9 | FileCheck %s
// RUN: dsv4-run %s --target=host --entry=listed --random=9 --check --dim tokens=20 --dim starts=0 --dim pages=0 --dim pool.pages=9 | FileCheck %s
// RUN: dsv4-run %s --target=host --entry=two --random=10 --check --dim tokens=40 --dim requests=3 --dim pages=2 --dim values.pages=9 --dim scores.pages=7 | FileCheck %s
// CHECK: matches the oracle

!pool = !dsv4.cache<16 x <[<"ckv" : 64 x bf16 in array>, <"kpe" : 16 x bf16 in array>]>>
!rows = !dsv4.cache<16 x <[<"x" : 64 x f32 in row>]>>

func.func @table(%pool: !pool {dsv4.name = "pool"}, %position: tensor<?xi32> {dsv4.dims = ["tokens"]},
                 %pages: tensor<?x?xi32> {dsv4.dims = ["tokens", "pages"]},
                 %ckv: tensor<?x64xbf16> {dsv4.dims = ["tokens", ""]},
                 %kpe: tensor<?x16xbf16> {dsv4.dims = ["tokens", ""]}) {
  dsv4.paged_append %pool[%position] unique pages(%pages : tensor<?x?xi32>)
      fields(%ckv, %kpe : tensor<?x64xbf16>, tensor<?x16xbf16>) : !pool, tensor<?xi32>
  return
}

func.func @requests(%pool: !pool {dsv4.name = "pool"}, %position: tensor<?xi32> {dsv4.dims = ["tokens"]},
                    %request: tensor<?xi32> {dsv4.dims = ["tokens"]},
                    %pages: tensor<?x?xi32> {dsv4.dims = ["requests", "pages"]},
                    %ckv: tensor<?x64xbf16> {dsv4.dims = ["tokens", ""]},
                    %kpe: tensor<?x16xbf16> {dsv4.dims = ["tokens", ""]}) {
  dsv4.paged_append %pool[%position] unique requests(%request : tensor<?xi32>)
      pages(%pages : tensor<?x?xi32>)
      fields(%ckv, %kpe : tensor<?x64xbf16>, tensor<?x16xbf16>) : !pool, tensor<?xi32>
  return
}

func.func @listed(%pool: !pool {dsv4.name = "pool"}, %position: tensor<?xi32> {dsv4.dims = ["tokens"]},
                  %request: tensor<?xi32> {dsv4.dims = ["tokens"]},
                  %pages: tensor<?xi32> {dsv4.dims = ["pages"]},
                  %starts: tensor<?xi32> {dsv4.dims = ["starts"]},
                  %ckv: tensor<?x64xbf16> {dsv4.dims = ["tokens", ""]},
                  %kpe: tensor<?x16xbf16> {dsv4.dims = ["tokens", ""]}) {
  dsv4.paged_append %pool[%position] unique requests(%request : tensor<?xi32>)
      pages(%pages : tensor<?xi32>) indptr(%starts : tensor<?xi32>)
      fields(%ckv, %kpe : tensor<?x64xbf16>, tensor<?x16xbf16>) : !pool, tensor<?xi32>
  return
}

// Values and scores of one tensor, in pools with a table each.
func.func @two(%values: !rows {dsv4.name = "values"}, %scores: !rows {dsv4.name = "scores"},
               %position: tensor<?xi32> {dsv4.dims = ["tokens"]},
               %request: tensor<?xi32> {dsv4.dims = ["tokens"]},
               %length: tensor<?xi32> {dsv4.dims = ["requests"]},
               %pages_of_values: tensor<?x?xi32> {dsv4.dims = ["requests", "pages"]},
               %pages_of_scores: tensor<?x?xi32> {dsv4.dims = ["requests", "pages"]},
               %ape: tensor<4x64xf32>,
               %kv_score: tensor<?x128xf32> {dsv4.dims = ["tokens", ""]}) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %kv_score, %c0 : tensor<?x128xf32>
  %row = tensor.empty(%n) : tensor<?x64xf32>
  dsv4.paged_append %values[%position] ring 32 requests(%request : tensor<?xi32>)
      pages(%pages_of_values : tensor<?x?xi32>) lengths(%length : tensor<?xi32>)
      fields(%kv_score : tensor<?x128xf32>) columns [0] : !rows, tensor<?xi32>
  %biased = dsv4.add_rows %kv_score columns [64, 64] bias(%ape : tensor<4x64xf32>)
      positions(%position : tensor<?xi32>) outs(%row : tensor<?x64xf32>) : tensor<?x128xf32>
  dsv4.paged_append %scores[%position] ring 32 requests(%request : tensor<?xi32>)
      pages(%pages_of_scores : tensor<?x?xi32>) lengths(%length : tensor<?xi32>)
      fields(%biased : tensor<?x64xf32>) : !rows, tensor<?xi32>
  return
}
