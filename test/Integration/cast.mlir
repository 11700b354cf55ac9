// A cast to unscaled E4M3 against the oracle: of f32, of some columns of bf16, and in a chain that writes
// a record with such a field.

// RUN: dsv4-run %s --target=host --entry=f32 --random=1 --check --dim rows=77 | FileCheck %s
// RUN: dsv4-run %s --target=host --entry=f32 --random=2 --check --dim rows=1 --thread-order=reverse | FileCheck %s
// RUN: dsv4-run %s --target=host --entry=f32 --random=2 --check --dim rows=0 | FileCheck %s
// RUN: dsv4-run %s --target=host --entry=odd --random=3 --check --dim rows=129 | FileCheck %s
// RUN: dsv4-run %s --target=host --entry=columns --random=4 --check --dim rows=33 | FileCheck %s
// RUN: dsv4-run %s --target=host --entry=store --random=5 --check --dim tokens=70 --dim positions=99 --dim cache.pages=3 \
// RUN:   | FileCheck %s --check-prefixes=ONE,CHECK
// RUN: dsv4-run %s --target=host --entry=store --random=6 --check --dim tokens=3 --dim positions=5 --dim cache.pages=0 \
// RUN:   | FileCheck %s
// ONE: kernel {{ *}}store
// ONE-NOT: kernel {{ *}}store
// CHECK: matches the oracle

#plain = #dsv4.format<f8E4M3FN>

func.func @f32(%x: tensor<?x64xf32> {dsv4.dims = ["rows", ""]},
               %o: tensor<?x64xf8E4M3FN> {dsv4.dims = ["rows", ""]}) -> tensor<?x64xf8E4M3FN> {
  %r = dsv4.quantize %x outs(%o : tensor<?x64xf8E4M3FN>) {format = #plain} : tensor<?x64xf32>
  return %r : tensor<?x64xf8E4M3FN>
}

func.func @odd(%x: tensor<?x3x5xbf16> {dsv4.dims = ["rows", "", ""]},
               %o: tensor<?x3x5xf8E4M3FN> {dsv4.dims = ["rows", "", ""]}) -> tensor<?x3x5xf8E4M3FN> {
  %r = dsv4.quantize %x outs(%o : tensor<?x3x5xf8E4M3FN>) {format = #plain} : tensor<?x3x5xbf16>
  return %r : tensor<?x3x5xf8E4M3FN>
}

func.func @columns(%x: tensor<?x576xbf16> {dsv4.dims = ["rows", ""]},
                   %o: tensor<?x64xf8E4M3FN> {dsv4.dims = ["rows", ""]}) -> tensor<?x64xf8E4M3FN> {
  %r = dsv4.quantize %x columns [512, 64] outs(%o : tensor<?x64xf8E4M3FN>) {format = #plain} : tensor<?x576xbf16>
  return %r : tensor<?x64xf8E4M3FN>
}

func.func @store(%kv: tensor<?x576xbf16> {dsv4.dims = ["tokens", ""]},
                 %angles: tensor<?x64xf32> {dsv4.dims = ["positions", ""]},
                 %position: tensor<?xi32> {dsv4.dims = ["tokens"]}, %slot: tensor<?xi32> {dsv4.dims = ["tokens"]},
                 %cache: !dsv4.cache<64 x <nvfp4_352>> {dsv4.name = "cache"}) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %kv, %c0 : tensor<?x576xbf16>
  %row = tensor.empty(%n) : tensor<?x576xbf16>
  %data = tensor.empty(%n) : tensor<?x512xf4E2M1FN>
  %of_data = tensor.empty(%n) : tensor<?x32xf8E4M3FN>
  %rope = tensor.empty(%n) : tensor<?x64xf8E4M3FN>
  %rotated = dsv4.rope %kv table(%angles : tensor<?x64xf32>) positions(%position : tensor<?xi32>)
      outs(%row : tensor<?x576xbf16>) : tensor<?x576xbf16>
  %payload, %scales = dsv4.quantize %rotated columns [0, 512]
      outs(%data, %of_data : tensor<?x512xf4E2M1FN>, tensor<?x32xf8E4M3FN>)
      {format = #dsv4.format<f4E2M1FN, [<f8E4M3FN per 16>]>,
       recipe = #dsv4.quantizer<floor = 0.001953125, floor_of = scale, rounding = up, payload = reciprocal>}
      : tensor<?x576xbf16>
  %cast = dsv4.quantize %rotated columns [512, 64] outs(%rope : tensor<?x64xf8E4M3FN>)
      {format = #plain} : tensor<?x576xbf16>
  dsv4.paged_append %cache[%slot] fields(%payload, %cast, %scales
      : tensor<?x512xf4E2M1FN>, tensor<?x64xf8E4M3FN>, tensor<?x32xf8E4M3FN>)
      : !dsv4.cache<64 x <nvfp4_352>>, tensor<?xi32>
  return
}
