// A read of a cache does not move after a write, and a kernel stands before the
// users of its results.

// RUN: dsv4-opt %s --dsv4-form-kernels | FileCheck %s

!cache = !dsv4.cache<64 x <v41_528>>
#per_row = #dsv4.format<f32, [<f32 per row>]>

func.func @append(%c: !cache) {
  return
}
func.func @use(%m: tensor<?xi1>) {
  return
}

// CHECK-LABEL: func.func @write_between
func.func @write_between(%c: !cache, %i: tensor<?xi32>, %tmp: tensor<?x512xf32>,
                         %s: tensor<?xf32>, %o: tensor<?x512xbf16>) -> tensor<?x512xbf16> {
  // CHECK: dsv4.kernel @write_between_0
  // CHECK: dsv4.paged_gather
  // CHECK: call @append
  // CHECK: dsv4.kernel @write_between_1
  // CHECK: dsv4.dequantize
  %0 = dsv4.paged_gather %c[%i] outs(%tmp : tensor<?x512xf32>) : !cache, tensor<?xi32>
  func.call @append(%c) : (!cache) -> ()
  %1 = dsv4.dequantize %0 scales(%s : tensor<?xf32>) outs(%o : tensor<?x512xbf16>)
      {format = #per_row} : tensor<?x512xf32>
  return %1 : tensor<?x512xbf16>
}

// CHECK-LABEL: func.func @user_between
func.func @user_between(%c: !cache, %i: tensor<?xi32>, %tmp: tensor<?x512xf32>,
                        %m: tensor<?xi1>, %s: tensor<?xf32>, %o: tensor<?x512xbf16>)
    -> tensor<?x512xbf16> {
  // CHECK: dsv4.kernel
  // CHECK: call @use
  %0, %valid = dsv4.paged_gather %c[%i] outs(%tmp : tensor<?x512xf32>) mask(%m : tensor<?xi1>)
      : !cache, tensor<?xi32>
  func.call @use(%valid) : (tensor<?xi1>) -> ()
  %1 = dsv4.dequantize %0 scales(%s : tensor<?xf32>) outs(%o : tensor<?x512xbf16>)
      {format = #per_row} : tensor<?x512xf32>
  return %1 : tensor<?x512xbf16>
}

!rows = !dsv4.cache<16 x <[<"v" : 64 x bf16 in row>]>>

// Two caches get one value, which has no memory.
// CHECK-LABEL: func.func @two_caches
// CHECK: dsv4.kernel @two_caches(
// CHECK: dsv4.rms_norm
// CHECK-NEXT: dsv4.paged_append
// CHECK-NEXT: dsv4.paged_append
// CHECK-NOT: dsv4.kernel
// CHECK: return
func.func @two_caches(%x: tensor<4x64xbf16>, %a: !rows, %b: !rows, %s: tensor<4xi32>, %t: tensor<4xi32>) {
  %e = tensor.empty() : tensor<4x64xbf16>
  %p = dsv4.rms_norm %x outs(%e : tensor<4x64xbf16>) {eps = 1.0e-06 : f32} : tensor<4x64xbf16>
  dsv4.paged_append %a[%s] unique fields(%p : tensor<4x64xbf16>) : !rows, tensor<4xi32>
  dsv4.paged_append %b[%t] unique fields(%p : tensor<4x64xbf16>) : !rows, tensor<4xi32>
  return
}

// The second append to a cache is after the first one.
// CHECK-LABEL: func.func @one_cache
// CHECK: dsv4.kernel @one_cache_0
// CHECK: dsv4.paged_append
// CHECK: dsv4.kernel @one_cache_1
// CHECK: dsv4.paged_append
func.func @one_cache(%x: tensor<4x64xbf16>, %a: !rows, %s: tensor<4xi32>, %t: tensor<4xi32>) {
  %e = tensor.empty() : tensor<4x64xbf16>
  %p = dsv4.rms_norm %x outs(%e : tensor<4x64xbf16>) {eps = 1.0e-06 : f32} : tensor<4x64xbf16>
  dsv4.paged_append %a[%s] unique fields(%p : tensor<4x64xbf16>) : !rows, tensor<4xi32>
  dsv4.paged_append %a[%t] unique fields(%p : tensor<4x64xbf16>) : !rows, tensor<4xi32>
  return
}
