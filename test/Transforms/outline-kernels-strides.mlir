// Strides are parameters of a kernel and numbers of its launch plan; constant ones are in the kernel. A base is aligned
// as `align` says, and no further.

// RUN: dsv4-opt %s --split-input-file --dsv4-lower-to-cuda-pipeline="schedule=#dsv4.schedule<threads=128,pdl=true,parts=[#dsv4.rows<lanes=16,vector=8>]>" \
// RUN:   -mlir-print-debuginfo | FileCheck %s

// CHECK: gpu.func @v_norm(
// CHECK-SAME: memref<?xbf16> loc("x"(#loc{{[0-9]*}})), %{{[a-z0-9_]+}}: memref<?xbf16> loc("out"(#loc{{[0-9]*}})),
// CHECK-SAME: i32 {cuda.range = array<i64: 0, 2147483647>} loc("rows"(#loc{{[0-9]*}})),
// CHECK-SAME: i32 {cuda.range = array<i64: 0, 2147483647>} loc("x_stride"
// CHECK: func.func @norm
// CHECK: dsv4.launch {{.*}} parameters ["read(x, 16)", "write(out, 2)", "i32(rows)", "i32(x.stride.0)"]
func.func @norm(%x: tensor<?x128xbf16> {dsv4.name = "x", dsv4.dims = ["rows", ""], dsv4.strides = #dsv4.strides<[?]>},
                %o: tensor<?x128xbf16> {dsv4.name = "out", dsv4.dims = ["rows", ""], dsv4.strides = #dsv4.strides<[3072], align = 4>})
    -> tensor<?x128xbf16> {
  %0 = dsv4.rms_norm %x outs(%o : tensor<?x128xbf16>) {eps = 1.0e-6 : f32} : tensor<?x128xbf16>
  return %0 : tensor<?x128xbf16>
}

// -----

// Several axes, and pages in several buffers.
!cache = !dsv4.cache<16 x <[<"k" : 128 x f8E4M3FN in row>, <"s" : 1 x f32 in array scales "k" per row>]>>
// CHECK: gpu.func @gather(
// CHECK-SAME: loc("c_pages"
// CHECK-SAME: loc("c_page_stride"
// CHECK-SAME: loc("c_s_page_stride"
// CHECK-SAME: loc("topk"
// CHECK-SAME: loc("out_stride_1"
// CHECK-SAME: loc("out_stride_0"
// CHECK: func.func @gather
// CHECK: dsv4.launch {{.*}} parameters ["read(c, 16)", "read(c.s, 4)", "read(i, 4)", "write(out, 16)", "i32(c.pages)", "i32(c.stride.0)", "i32(c.s.stride.0)", "i32(tokens * topk)", "i32(topk)", "i32(out.stride.1)", "i32(out.stride.0)"]
func.func @gather(%c: !cache {dsv4.name = "c", dsv4.strides = #dsv4.strides<[?]>},
                  %i: tensor<?x?xi32> {dsv4.name = "i", dsv4.dims = ["tokens", "topk"]},
                  %o: tensor<?x?x128xbf16> {dsv4.name = "out", dsv4.dims = ["tokens", "topk", ""], dsv4.strides = #dsv4.strides<[?, ?]>})
    -> tensor<?x?x128xbf16> {
  %0 = dsv4.paged_gather %c[%i] outs(%o : tensor<?x?x128xbf16>) : !cache, tensor<?x?xi32>
  return %0 : tensor<?x?x128xbf16>
}
