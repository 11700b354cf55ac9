// An op that reads single elements of rows is fed by ops that can compute those, through all ops between
// them; and only indices are read rank by rank.

// RUN: dsv4-opt %s --dsv4-form-kernels --remarks-filter=dsv4-form-kernels --remark-format=emitRemark 2>%t \
// RUN:   | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t

#f8 = #dsv4.format<f8E4M3FN, [<f8E8M0FNU per 32>]>
#f4 = #dsv4.format<f4E2M1FN, [<f8E8M0FNU per 32>]>

// Whole rows after which a function of each element stands.
// CHECK-LABEL: func.func @norm_first
// CHECK: dsv4.kernel @norm_first_0(
// CHECK: dsv4.rms_norm
// CHECK: dsv4.kernel @norm_first_1{{.*}}
// CHECK: dsv4.lookup
// CHECK-NEXT: dsv4.gate {{.*}} function sigmoid
// CHECK-NEXT: dsv4.route_weights
// REMARK: not fused with 'dsv4.rms_norm': 'dsv4.gate' reads this operand element by element, and 'dsv4.rms_norm' computes whole rows
func.func @norm_first(%t: tensor<50x6xi32>, %d: tensor<4xi32>, %x: tensor<4x64xf32>, %n: tensor<4x64xf32>,
                         %i: tensor<4x6xi32>, %o: tensor<4x6xf32>) -> (tensor<4x6xi32>, tensor<4x6xf32>) {
  %e = tensor.empty() : tensor<4x64xf32>
  %p = dsv4.rms_norm %x outs(%n : tensor<4x64xf32>) {eps = 1.0e-06 : f32} : tensor<4x64xf32>
  %c = dsv4.lookup %t[%d] outs(%i : tensor<4x6xi32>) : tensor<50x6xi32>, tensor<4xi32>
  %g = dsv4.gate %p function sigmoid outs(%e : tensor<4x64xf32>) : tensor<4x64xf32>
  %w = dsv4.route_weights %g[%c] renormalize outs(%o : tensor<4x6xf32>) : tensor<4x64xf32>, tensor<4x6xi32>
  return %c, %w : tensor<4x6xi32>, tensor<4x6xf32>
}

// A softmax: an element needs two row statistics beside itself.
// CHECK-LABEL: func.func @softmax_first
// CHECK: dsv4.kernel @softmax_first(
// CHECK: dsv4.gate {{.*}} function softmax
// CHECK-NEXT: dsv4.lookup
// CHECK-NEXT: dsv4.gate {{.*}} function sigmoid
// CHECK-NEXT: dsv4.route_weights
func.func @softmax_first(%t: tensor<50x6xi32>, %d: tensor<4xi32>, %x: tensor<4x64xf32>,
                         %i: tensor<4x6xi32>, %o: tensor<4x6xf32>) -> (tensor<4x6xi32>, tensor<4x6xf32>) {
  %e = tensor.empty() : tensor<4x64xf32>
  %p = dsv4.gate %x function softmax outs(%e : tensor<4x64xf32>) : tensor<4x64xf32>
  %c = dsv4.lookup %t[%d] outs(%i : tensor<4x6xi32>) : tensor<50x6xi32>, tensor<4xi32>
  %g = dsv4.gate %p function sigmoid outs(%e : tensor<4x64xf32>) : tensor<4x64xf32>
  %w = dsv4.route_weights %g[%c] renormalize outs(%o : tensor<4x6xf32>) : tensor<4x64xf32>, tensor<4x6xi32>
  return %c, %w : tensor<4x6xi32>, tensor<4x6xf32>
}

// Elements of 8 bits can be had one by one, those of 4 bits two by two.
// CHECK-LABEL: func.func @bytes
// CHECK: dsv4.kernel @bytes(
// CHECK: dsv4.dequantize
// CHECK-NEXT: dsv4.topk
// CHECK-NEXT: dsv4.route_weights
func.func @bytes(%d: tensor<4x64xf8E4M3FN>, %s: tensor<4x2xf8E8M0FNU>, %i: tensor<4x6xi32>, %o: tensor<4x6xf32>)
    -> (tensor<4x6xi32>, tensor<4x6xf32>) {
  %e = tensor.empty() : tensor<4x64xf32>
  %x = dsv4.dequantize %d scales(%s : tensor<4x2xf8E8M0FNU>) outs(%e : tensor<4x64xf32>) {format = #f8} : tensor<4x64xf8E4M3FN>
  %c = dsv4.topk %x order sorted outs(%i : tensor<4x6xi32>) : tensor<4x64xf32>
  %w = dsv4.route_weights %x[%c] outs(%o : tensor<4x6xf32>) : tensor<4x64xf32>, tensor<4x6xi32>
  return %c, %w : tensor<4x6xi32>, tensor<4x6xf32>
}

// REMARK: not fused with 'dsv4.dequantize': 'dsv4.route_weights' reads one column of this operand at a time, and 'dsv4.dequantize' computes 2
// CHECK-LABEL: func.func @nibbles
// CHECK: dsv4.kernel @nibbles_0(
// CHECK: dsv4.dequantize
// CHECK: dsv4.kernel @nibbles_1{{.*}}
// CHECK: dsv4.topk
// CHECK-NEXT: dsv4.route_weights
func.func @nibbles(%d: tensor<4x64xf4E2M1FN>, %s: tensor<4x2xf8E8M0FNU>, %e: tensor<4x64xf32>, %i: tensor<4x6xi32>,
                   %o: tensor<4x6xf32>) -> (tensor<4x6xi32>, tensor<4x6xf32>) {
  %x = dsv4.dequantize %d scales(%s : tensor<4x2xf8E8M0FNU>) outs(%e : tensor<4x64xf32>) {format = #f4} : tensor<4x64xf4E2M1FN>
  %c = dsv4.topk %x order sorted outs(%i : tensor<4x6xi32>) : tensor<4x64xf32>
  %w = dsv4.route_weights %x[%c] outs(%o : tensor<4x6xf32>) : tensor<4x64xf32>, tensor<4x6xi32>
  return %c, %w : tensor<4x6xi32>, tensor<4x6xf32>
}

// CHECK-LABEL: func.func @slots
// CHECK: dsv4.kernel @slots_0(
// CHECK: dsv4.topk
// CHECK: dsv4.kernel @slots_1{{.*}}
// CHECK: dsv4.route_weights
// REMARK: not fused with 'dsv4.topk': the result of 'dsv4.topk' is consumed element-wise by 'dsv4.route_weights'; only the indices of a selection can be used in its kernel
func.func @slots(%s: tensor<4x64xf32>, %t: tensor<4x4xi32>, %i: tensor<4x6xi32>, %j: tensor<4x6xi32>,
                 %o: tensor<4x6xf32>) -> (tensor<4x6xi32>, tensor<4x6xi32>, tensor<4x6xf32>) {
  %a, %b = dsv4.topk %s pages(%t : tensor<4x4xi32>) page 16 order sorted outs(%i, %j : tensor<4x6xi32>, tensor<4x6xi32>) : tensor<4x64xf32>
  %w = dsv4.route_weights %s[%b] outs(%o : tensor<4x6xf32>) : tensor<4x64xf32>, tensor<4x6xi32>
  return %a, %b, %w : tensor<4x6xi32>, tensor<4x6xi32>, tensor<4x6xf32>
}
