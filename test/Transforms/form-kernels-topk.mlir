// A selection is fed by ops that compute columns of their rows by themselves; all others stay in
// front of it.

// RUN: dsv4-opt %s --dsv4-form-kernels --remarks-filter=dsv4-form-kernels --remark-format=emitRemark 2>%t \
// RUN:   | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t

#f8 = #dsv4.format<f8E4M3FN, [<f8E8M0FNU per 32>]>
#f4 = #dsv4.format<f4E2M1FN, [<f8E8M0FNU per 32>]>
#recipe = #dsv4.quantizer<rounding = up_pow2>
!cache = !dsv4.cache<8 x <[<"v" : 64 x f32 in row>]>>
// CHECK-LABEL: func.func @fused
// CHECK: dsv4.kernel @fused(
// CHECK: dsv4.dequantize
// CHECK-NEXT: dsv4.topk
// REMARK: [Passed] {{.*}}kernel 'fused' holds dsv4.dequantize dsv4.topk
func.func @fused(%d: tensor<?x64xf8E4M3FN>, %s: tensor<?x2xf8E8M0FNU>, %i: tensor<?x8xi32>, %n: index) -> tensor<?x8xi32> {
  %e = tensor.empty(%n) : tensor<?x64xf32>
  %x = dsv4.dequantize %d scales(%s : tensor<?x2xf8E8M0FNU>) outs(%e : tensor<?x64xf32>) {format = #f8} : tensor<?x64xf8E4M3FN>
  %0 = dsv4.topk %x outs(%i : tensor<?x8xi32>) : tensor<?x64xf32>
  return %0 : tensor<?x8xi32>
}

// A mean is of the whole row.
// CHECK-LABEL: func.func @whole_rows
// CHECK: dsv4.kernel @whole_rows_0
// CHECK: dsv4.kernel @whole_rows_1
// REMARK: [Missed] {{.*}}not fused with 'dsv4.rms_norm': 'dsv4.topk' reads this operand column by column, and 'dsv4.rms_norm' computes whole rows
func.func @whole_rows(%r: tensor<?x64xf32>, %i: tensor<?x8xi32>, %o: tensor<?x64xf32>) -> tensor<?x8xi32> {
  %x = dsv4.rms_norm %r outs(%o : tensor<?x64xf32>) {eps = 1.0e-6 : f32} : tensor<?x64xf32>
  %0 = dsv4.topk %x outs(%i : tensor<?x8xi32>) : tensor<?x64xf32>
  return %0 : tensor<?x8xi32>
}

// Columns are computed wherever a row begins.
// CHECK-LABEL: func.func @starts
// CHECK: dsv4.kernel @starts(
// CHECK: dsv4.dequantize
// CHECK-NEXT: dsv4.topk
// REMARK: [Passed] {{.*}}kernel 'starts' holds dsv4.dequantize dsv4.topk
func.func @starts(%d: tensor<?x64xf8E4M3FN>, %s: tensor<?x2xf8E8M0FNU>, %b: tensor<?xi32>, %i: tensor<?x8xi32>, %n: index) -> tensor<?x8xi32> {
  %e = tensor.empty(%n) : tensor<?x64xf32>
  %x = dsv4.dequantize %d scales(%s : tensor<?x2xf8E8M0FNU>) outs(%e : tensor<?x64xf32>) {format = #f8} : tensor<?x64xf8E4M3FN>
  %0 = dsv4.topk %x starts(%b : tensor<?xi32>) outs(%i : tensor<?x8xi32>) : tensor<?x64xf32>
  return %0 : tensor<?x8xi32>
}

// Lanes that have a whole row have its first columns.
// CHECK-LABEL: func.func @starts_of_statistics
// CHECK: dsv4.kernel @starts_of_statistics_0
// CHECK: dsv4.kernel @starts_of_statistics_1
// REMARK: [Missed] {{.*}}not fused with 'dsv4.gate': {{.*}}with 'starts' its rows do not begin at the first column
func.func @starts_of_statistics(%x: tensor<?x64xf32>, %b: tensor<?xi32>, %i: tensor<?x8xi32>, %o: tensor<?x64xf32>) -> tensor<?x8xi32> {
  %s = dsv4.gate %x function softmax outs(%o : tensor<?x64xf32>) : tensor<?x64xf32>
  %0 = dsv4.topk %s starts(%b : tensor<?xi32>) outs(%i : tensor<?x8xi32>) : tensor<?x64xf32>
  return %0 : tensor<?x8xi32>
}

// What reads by indices of columns does not read by others.
// CHECK-LABEL: func.func @offsets_of_ranks
// CHECK: dsv4.kernel @offsets_of_ranks_0
// CHECK: dsv4.kernel @offsets_of_ranks_1
// REMARK: [Missed] {{.*}}with 'starts' or 'offsets' its indices are not those of columns
func.func @offsets_of_ranks(%x: tensor<?x64xf32>, %b: tensor<?xi32>, %i: tensor<?x8xi32>, %v: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %0 = dsv4.topk %x offsets(%b : tensor<?xi32>) order sorted outs(%i : tensor<?x8xi32>) : tensor<?x64xf32>
  %1 = dsv4.route_weights %x[%0] outs(%v : tensor<?x8xf32>) : tensor<?x64xf32>, tensor<?x8xi32>
  return %1 : tensor<?x8xf32>
}

// What was chosen by a sum with a bias is computed again, one by one; values of 4 bits are two per byte.
// CHECK-LABEL: func.func @pairs_one_by_one
// CHECK: dsv4.kernel @pairs_one_by_one_0
// CHECK: dsv4.kernel @pairs_one_by_one_1
// REMARK: [Missed] {{.*}}not fused with 'dsv4.dequantize': 'dsv4.topk' reads one column of this operand at a time, and 'dsv4.dequantize' computes 2; with 'bias' and 'values' it recomputes the chosen elements one by one
func.func @pairs_one_by_one(%d: tensor<?x64xf4E2M1FN>, %s: tensor<?x2xf8E8M0FNU>, %b: tensor<64xf32>, %i: tensor<?x8xi32>, %v: tensor<?x8xf32>, %o: tensor<?x64xf32>) -> tensor<?x8xi32> {
  %x = dsv4.dequantize %d scales(%s : tensor<?x2xf8E8M0FNU>) outs(%o : tensor<?x64xf32>) {format = #f4} : tensor<?x64xf4E2M1FN>
  %0, %1 = dsv4.topk %x bias(%b : tensor<64xf32>) outs(%i, %v : tensor<?x8xi32>, tensor<?x8xf32>) : tensor<?x64xf32>
  return %0 : tensor<?x8xi32>
}

// What is made of them element by element is computed again from memory.
// CHECK-LABEL: func.func @pairs_through_gate
// CHECK: dsv4.kernel @pairs_through_gate_0
// CHECK: dsv4.dequantize
// CHECK: dsv4.kernel @pairs_through_gate_1
// CHECK: dsv4.gate
// CHECK: dsv4.topk
// REMARK: [Missed] {{.*}}not fused with 'dsv4.dequantize': 'dsv4.gate' reads one column of this operand at a time, and 'dsv4.dequantize' computes 2
func.func @pairs_through_gate(%d: tensor<?x64xf4E2M1FN>, %s: tensor<?x2xf8E8M0FNU>, %b: tensor<64xf32>, %i: tensor<?x8xi32>, %v: tensor<?x8xf32>, %o: tensor<?x64xf32>, %g: tensor<?x64xf32>) -> tensor<?x8xi32> {
  %x = dsv4.dequantize %d scales(%s : tensor<?x2xf8E8M0FNU>) outs(%o : tensor<?x64xf32>) {format = #f4} : tensor<?x64xf4E2M1FN>
  %y = dsv4.gate %x function sqrt_softplus outs(%g : tensor<?x64xf32>) : tensor<?x64xf32>
  %0, %1 = dsv4.topk %y bias(%b : tensor<64xf32>) outs(%i, %v : tensor<?x8xi32>, tensor<?x8xf32>) : tensor<?x64xf32>
  return %0 : tensor<?x8xi32>
}

// CHECK-LABEL: func.func @consumer
// CHECK: dsv4.kernel @consumer_0
// CHECK: dsv4.kernel @consumer_1
// REMARK: [Missed] {{.*}}not fused with 'dsv4.topk': the result of 'dsv4.topk' is consumed row by row by 'dsv4.paged_append'; no thread holds a row of a selection's results
func.func @consumer(%r: tensor<?x256xf32>, %i: tensor<?x64xi32>, %v: tensor<?x64xf32>, %c: !cache, %at: tensor<?xi32>) {
  %0, %1 = dsv4.topk %r order sorted outs(%i, %v : tensor<?x64xi32>, tensor<?x64xf32>) : tensor<?x256xf32>
  dsv4.paged_append %c[%at] fields(%1 : tensor<?x64xf32>) : !cache, tensor<?xi32>
  return
}
