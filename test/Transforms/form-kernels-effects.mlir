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
