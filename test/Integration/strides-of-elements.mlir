// Strides of single axes, of each buffer of a cache, and of its entries, against the oracle.

// RUN: dsv4-run %s --target=host --entry=columns --random=1 --check --dim rows=7 --dim n=300 | FileCheck %s
// RUN: dsv4-run %s --target=host --entry=columns --random=2 --check --dim rows=70 --dim n=40 --thread-order=reverse | FileCheck %s
// RUN: dsv4-run %s --target=host --entry=append --random=3 --check --dim tokens=40 --dim pool.pages=9 | FileCheck %s
// RUN: dsv4-run %s --target=host --entry=append --random=4 --check --dim tokens=9 --dim pool.pages=20 --thread-order=reverse | FileCheck %s
// RUN: dsv4-run %s --target=host --entry=gather --random=5 --check --dim tokens=40 --dim pool.pages=9 --dim rows.pages=7 | FileCheck %s
// RUN: dsv4-run %s --target=host --entry=gather --random=6 --check --dim tokens=9 --dim pool.pages=3 --dim rows.pages=20 --thread-order=reverse | FileCheck %s
// CHECK: matches the oracle
// RUN: not dsv4-opt %s --dsv4-lower-to-cuda-pipeline=arch=sm_90a 2>&1 | FileCheck %s --check-prefix=WHOLE
// WHOLE: error: 'row.is_last' needs the elements of 'slot' to follow each other: remove the stride of its only axis from 'dsv4.strides'

!pool = !dsv4.cache<16 x <[<"k" : 64 x f8E4M3FN in array>, <"s" : 2 x f32 in array scales "k" per 32>]>>
!rows = !dsv4.cache<16 x <[<"x" : 32 x bf16 in row>, <"at" : 1 x i32 in row>], align 64>>

func.func @columns(%scores: tensor<?x?xf32> {dsv4.dims = ["rows", "n"]},
                   %lengths: tensor<?xi64> {dsv4.dims = ["rows"], dsv4.strides = #dsv4.strides<[?], align = 8>},
                   %offsets: tensor<?xi32> {dsv4.dims = ["rows"], dsv4.strides = #dsv4.strides<[12], align = 4>},
                   %out: tensor<?x9xi32> {dsv4.dims = ["rows", ""]}) -> tensor<?x9xi32> {
  %r = dsv4.topk %scores lengths(%lengths : tensor<?xi64>) offsets(%offsets : tensor<?xi32>)
      outs(%out : tensor<?x9xi32>) : tensor<?x?xf32>
  return %r : tensor<?x9xi32>
}

func.func @append(%pool: !pool {dsv4.name = "pool", dsv4.strides = [#dsv4.strides<[?, 67], align = 1>, #dsv4.strides<[?], align = 4>]},
                  %slot: tensor<?xi64> {dsv4.dims = ["tokens"], dsv4.strides = #dsv4.strides<[?], align = 8>},
                  %k: tensor<?x64xf8E4M3FN> {dsv4.dims = ["tokens", ""]},
                  %s: tensor<?x2xf32> {dsv4.dims = ["tokens", ""]}) {
  dsv4.paged_append %pool[%slot] unique
      fields(%k, %s : tensor<?x64xf8E4M3FN>, tensor<?x2xf32>) : !pool, tensor<?xi64>
  return
}

func.func @gather(%pool: !pool {dsv4.name = "pool", dsv4.strides = [#dsv4.strides<[?], align = 1>, #dsv4.strides<[?, 16], align = 4>]},
                  %rows: !rows {dsv4.name = "rows", dsv4.strides = #dsv4.strides<[?, 76], align = 4>},
                  %slot: tensor<?xi32> {dsv4.dims = ["tokens"], dsv4.strides = #dsv4.strides<[?], align = 4>},
                  %a: tensor<?x64xf32> {dsv4.dims = ["tokens", ""]},
                  %b: tensor<?x32xbf16> {dsv4.dims = ["tokens", ""]}) -> (tensor<?x64xf32>, tensor<?x32xbf16>) {
  %ra = dsv4.paged_gather %pool[%slot] outs(%a : tensor<?x64xf32>) : !pool, tensor<?xi32>
  %rb = dsv4.paged_gather %rows[%slot] outs(%b : tensor<?x32xbf16>) : !rows, tensor<?xi32>
  return %ra, %rb : tensor<?x64xf32>, tensor<?x32xbf16>
}

func.func @repeats(%pool: !pool {dsv4.name = "pool"},
                   %slot: tensor<?xi64> {dsv4.name = "slot", dsv4.dims = ["tokens"], dsv4.strides = #dsv4.strides<[?], align = 8>},
                   %k: tensor<?x64xf8E4M3FN> {dsv4.dims = ["tokens", ""]},
                   %s: tensor<?x2xf32> {dsv4.dims = ["tokens", ""]}) {
  dsv4.paged_append %pool[%slot]
      fields(%k, %s : tensor<?x64xf8E4M3FN>, tensor<?x2xf32>) : !pool, tensor<?xi64>
  return
}
