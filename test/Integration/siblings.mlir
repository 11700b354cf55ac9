// Ops that read one value without memory are one kernel, also if they write to caches, and do what the oracle does.
// A program of which no kernel can compute all readers is refused.

// RUN: dsv4-run %s --target=host --entry=two --random=1 --check --dim rows=9 --dim a.pages=3 --dim b.pages=4 | FileCheck %s
// RUN: dsv4-run %s --target=host --entry=two --random=2 --check --dim rows=40 --dim a.pages=3 --dim b.pages=4 --thread-order=reverse | FileCheck %s
// RUN: dsv4-run %s --target=host --entry=read --random=3 --check --dim rows=9 --dim a.pages=3 | FileCheck %s
// CHECK: kernel
// CHECK-NOT: kernel
// CHECK: matches the oracle

// RUN: not dsv4-run %s --target=host --entry=one --random=4 --dim rows=9 --dim a.pages=3 2>&1 | FileCheck %s --check-prefix=ONE
// ONE: error: {{.*}}siblings.mlir:{{[0-9]+}}:3: kernel 'one_0' exchanges this value with another kernel through memory
// RUN: not dsv4-run %s --target=host --entry=taken --random=5 --dim rows=9 2>&1 | FileCheck %s --check-prefix=TAKEN
// TAKEN: error: {{.*}}siblings.mlir:{{[0-9]+}}:8: kernel 'taken_0' exchanges this value with another kernel through memory

!rows = !dsv4.cache<16 x <[<"v" : 64 x bf16 in row>]>>

func.func @two(%x: tensor<?x64xbf16> {dsv4.name = "x", dsv4.dims = ["rows", ""]}, %a: !rows {dsv4.name = "a"},
               %b: !rows {dsv4.name = "b"}, %s: tensor<?xi32> {dsv4.dims = ["rows"]},
               %t: tensor<?xi32> {dsv4.dims = ["rows"]}) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x64xbf16>
  %e = tensor.empty(%n) : tensor<?x64xbf16>
  %p = dsv4.rms_norm %x outs(%e : tensor<?x64xbf16>) {eps = 1.0e-06 : f32} : tensor<?x64xbf16>
  dsv4.paged_append %a[%s] unique fields(%p : tensor<?x64xbf16>) : !rows, tensor<?xi32>
  dsv4.paged_append %b[%t] unique fields(%p : tensor<?x64xbf16>) : !rows, tensor<?xi32>
  return
}

func.func @read(%x: tensor<?x64xbf16> {dsv4.name = "x", dsv4.dims = ["rows", ""]}, %a: !rows {dsv4.name = "a"},
                %o: tensor<?x64xbf16> {dsv4.name = "o", dsv4.dims = ["rows", ""]},
                %s: tensor<?xi32> {dsv4.dims = ["rows"]}) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x64xbf16>
  %e = tensor.empty(%n) : tensor<?x64xbf16>
  %p = dsv4.rms_norm %x outs(%e : tensor<?x64xbf16>) {eps = 1.0e-06 : f32} : tensor<?x64xbf16>
  dsv4.paged_append %a[%s] unique fields(%p : tensor<?x64xbf16>) : !rows, tensor<?xi32>
  %q = dsv4.rms_norm %p outs(%o : tensor<?x64xbf16>) {eps = 1.0e-06 : f32} : tensor<?x64xbf16>
  return
}

func.func @one(%x: tensor<?x64xbf16> {dsv4.name = "x", dsv4.dims = ["rows", ""]}, %a: !rows {dsv4.name = "a"},
               %s: tensor<?xi32> {dsv4.dims = ["rows"]}, %t: tensor<?xi32> {dsv4.dims = ["rows"]}) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x64xbf16>
  %e = tensor.empty(%n) : tensor<?x64xbf16>
  %p = dsv4.rms_norm %x outs(%e : tensor<?x64xbf16>) {eps = 1.0e-06 : f32} : tensor<?x64xbf16>
  dsv4.paged_append %a[%s] unique fields(%p : tensor<?x64xbf16>) : !rows, tensor<?xi32>
  dsv4.paged_append %a[%t] unique fields(%p : tensor<?x64xbf16>) : !rows, tensor<?xi32>
  return
}

func.func @taken(%x: tensor<?x64xf32> {dsv4.name = "x", dsv4.dims = ["rows", ""]},
                 %i: tensor<?x40xi32> {dsv4.dims = ["rows", ""]}, %j: tensor<?x40xi32> {dsv4.dims = ["rows", ""]}) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x64xf32>
  %e = tensor.empty(%n) : tensor<?x64xf32>
  %f = tensor.empty(%n) : tensor<?x64xf32>
  %p = dsv4.gate %x function sigmoid outs(%e : tensor<?x64xf32>) : tensor<?x64xf32>
  %q = dsv4.gate %p function sigmoid outs(%f : tensor<?x64xf32>) : tensor<?x64xf32>
  %l = dsv4.topk %p order sorted outs(%i : tensor<?x40xi32>) : tensor<?x64xf32>
  %m = dsv4.topk %q order sorted outs(%j : tensor<?x40xi32>) : tensor<?x64xf32>
  return
}
