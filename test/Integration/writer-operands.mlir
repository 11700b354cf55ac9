// Ops of queries, states and appends by pages, with operands as engines pass them, against the oracle: i64,
// f16, and views with strides and any alignment.

// RUN: dsv4-run %s --target=host --entry=listed --random=1 --check --dim tokens=150 --dim starts=6 --dim pages=9 --dim pool.pages=20 | FileCheck %s
// RUN: dsv4-run %s --target=host --entry=listed --random=11 --thread-order=reverse --check --dim tokens=150 --dim starts=6 --dim pages=9 --dim pool.pages=20 | FileCheck %s
// RUN: dsv4-run %s --target=host --entry=requests --random=2 --check --dim tokens=99 --dim requests=5 --dim pages=3 --dim pool.pages=20 | FileCheck %s
// RUN: dsv4-run %s --target=host --entry=requests --random=12 --thread-order=reverse --check --dim tokens=99 --dim requests=5 --dim pages=3 --dim pool.pages=20 | FileCheck %s
// RUN: dsv4-run %s --target=host --entry=padded --random=3 --check --dim tokens=9 --dim positions=20 | FileCheck %s
// RUN: dsv4-run %s --target=host --entry=padded --random=13 --thread-order=reverse --check --dim tokens=9 --dim positions=20 | FileCheck %s
// RUN: dsv4-run %s --target=host --entry=biased --random=4 --check --dim tokens=7 --dim heads=3 | FileCheck %s
// RUN: dsv4-run %s --target=host --entry=biased --random=14 --thread-order=reverse --check --dim tokens=7 --dim heads=3 | FileCheck %s
// RUN: dsv4-run %s --target=host --entry=scaled --random=5 --check --dim tokens=7 --dim heads=3 | FileCheck %s
// RUN: dsv4-run %s --target=host --entry=scaled --random=15 --thread-order=reverse --check --dim tokens=7 --dim heads=3 | FileCheck %s
// RUN: dsv4-run %s --target=host --entry=folded --random=6 --check --dim tokens=9 | FileCheck %s
// RUN: dsv4-run %s --target=host --entry=folded --random=16 --thread-order=reverse --check --dim tokens=9 | FileCheck %s
// CHECK: matches the oracle

!pool = !dsv4.cache<16 x <[<"ckv" : 64 x bf16 in array>, <"kpe" : 16 x bf16 in array>]>>

func.func @listed(%pool: !pool {dsv4.name = "pool", dsv4.strides = #dsv4.strides<[?]>}, %position: tensor<?xi64> {dsv4.dims = ["tokens"], dsv4.strides = #dsv4.strides<[]>},
                  %request: tensor<?xi32> {dsv4.dims = ["tokens"]},
                  %pages: tensor<?xi64> {dsv4.dims = ["pages"]},
                  %starts: tensor<?xi64> {dsv4.dims = ["starts"]},
                  %ckv: tensor<?x64xbf16> {dsv4.dims = ["tokens", ""], dsv4.strides = #dsv4.strides<[?], align = 2>},
                  %kpe: tensor<?x16xbf16> {dsv4.dims = ["tokens", ""]}) {
  dsv4.paged_append %pool[%position] unique requests(%request : tensor<?xi32>)
      pages(%pages : tensor<?xi64>) indptr(%starts : tensor<?xi64>)
      fields(%ckv, %kpe : tensor<?x64xbf16>, tensor<?x16xbf16>) : !pool, tensor<?xi64>
  return
}

func.func @requests(%pool: !pool {dsv4.name = "pool"}, %position: tensor<?xi64> {dsv4.dims = ["tokens"]},
                    %request: tensor<?xi64> {dsv4.dims = ["tokens"]},
                    %pages: tensor<?x?xi64> {dsv4.dims = ["requests", "pages"], dsv4.strides = #dsv4.strides<[?], align = 8>},
                    %ckv: tensor<?x64xbf16> {dsv4.dims = ["tokens", ""]},
                    %kpe: tensor<?x16xbf16> {dsv4.dims = ["tokens", ""]}) {
  dsv4.paged_append %pool[%position] unique requests(%request : tensor<?xi64>)
      pages(%pages : tensor<?x?xi64>)
      fields(%ckv, %kpe : tensor<?x64xbf16>, tensor<?x16xbf16>) : !pool, tensor<?xi64>
  return
}

func.func @padded(%q: tensor<?x3x96xf16> {dsv4.dims = ["tokens", "", ""], dsv4.strides = #dsv4.strides<[?, ?], align = 4>},
                  %table: tensor<?x32xf16> {dsv4.dims = ["positions", ""], dsv4.strides = #dsv4.strides<[?]>},
                  %position: tensor<?xi64> {dsv4.dims = ["tokens"]},
                  %o: tensor<?x8x96xf16> {dsv4.dims = ["tokens", "", ""], dsv4.strides = #dsv4.strides<[?, ?], align = 8>}) -> tensor<?x8x96xf16> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %q, %c0 : tensor<?x3x96xf16>
  %heads = tensor.empty(%n) : tensor<?x8x96xf16>
  %padded = dsv4.pad_rows %q outs(%heads : tensor<?x8x96xf16>) : tensor<?x3x96xf16>
  %normed = dsv4.rms_norm %padded
      outs(%heads : tensor<?x8x96xf16>) {eps = 1.0e-6} : tensor<?x8x96xf16>
  %rotated = dsv4.rope %normed neox table(%table : tensor<?x32xf16>)
      positions(%position : tensor<?xi64>) outs(%o : tensor<?x8x96xf16>) : tensor<?x8x96xf16>
  return %rotated : tensor<?x8x96xf16>
}

func.func @biased(%x: tensor<?x?x96xf16> {dsv4.dims = ["tokens", "heads", ""], dsv4.strides = #dsv4.strides<[?, ?], align = 4>},
                  %bias: tensor<5x40xbf16> {dsv4.strides = #dsv4.strides<[?], align = 2>},
                  %position: tensor<?xi64> {dsv4.dims = ["tokens"]},
                  %o: tensor<?x?x40xf16> {dsv4.dims = ["tokens", "heads", ""], dsv4.strides = #dsv4.strides<[?, ?], align = 8>}) -> tensor<?x?x40xf16> {
  %r = dsv4.add_rows %x columns [50, 40] bias(%bias : tensor<5x40xbf16>) positions(%position : tensor<?xi64>) outs(%o : tensor<?x?x40xf16>) : tensor<?x?x96xf16>
  return %r : tensor<?x?x40xf16>
}

func.func @scaled(%w: tensor<?x?x6xf16> {dsv4.dims = ["tokens", "heads", ""], dsv4.strides = #dsv4.strides<[?, ?], align = 2>},
                  %s: tensor<?x?x6xf32> {dsv4.dims = ["tokens", "heads", ""], dsv4.strides = #dsv4.strides<[?, ?], align = 4>},
                  %o: tensor<?x?x6xf16> {dsv4.dims = ["tokens", "heads", ""], dsv4.strides = #dsv4.strides<[?, ?], align = 2>}) -> tensor<?x?x6xf16> {
  %r = dsv4.scale_weights %w scales(%s : tensor<?x?x6xf32>) constants [0.3] outs(%o : tensor<?x?x6xf16>) : tensor<?x?x6xf16>
  return %r : tensor<?x?x6xf16>
}

func.func @folded(%q: tensor<?x5x128xf16> {dsv4.dims = ["tokens", "", ""], dsv4.strides = #dsv4.strides<[?, ?]>},
                  %weights: tensor<?x5xf16> {dsv4.dims = ["tokens", ""], dsv4.strides = #dsv4.strides<[?], align = 2>},
                  %o: tensor<?x5x128xf8E4M3FN> {dsv4.dims = ["tokens", "", ""]},
                  %w: tensor<?x5xf16> {dsv4.dims = ["tokens", ""], dsv4.strides = #dsv4.strides<[?], align = 2>})
    -> (tensor<?x5x128xf8E4M3FN>, tensor<?x5xf16>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %q, %c0 : tensor<?x5x128xf16>
  %s = tensor.empty(%n) : tensor<?x5xf32>
  %payload, %scales = dsv4.quantize %q outs(%o, %s : tensor<?x5x128xf8E4M3FN>, tensor<?x5xf32>)
      {format = #dsv4.format<f8E4M3FN, [<f32 per row>]>,
       recipe = #dsv4.quantizer<floor = 1.0e-4, limit = reciprocal, rounding = up_pow2>}
      : tensor<?x5x128xf16>
  %folded = dsv4.scale_weights %weights scales(%scales : tensor<?x5xf32>) constants [0.3, 0.7]
      outs(%w : tensor<?x5xf16>) : tensor<?x5xf16>
  return %payload, %folded : tensor<?x5x128xf8E4M3FN>, tensor<?x5xf16>
}
