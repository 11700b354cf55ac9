// Routers are one kernel where the selection is one of a warp; else remarks say why not.

// RUN: dsv4-opt %s --dsv4-form-kernels --split-input-file | FileCheck %s
// RUN: dsv4-opt %s --dsv4-form-kernels --split-input-file -o /dev/null \
// RUN:   --remarks-filter=dsv4-form-kernels --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefix=REMARK

// What is chosen is a result, too.
// CHECK-LABEL: func.func @router
// CHECK: %[[K:.*]]:2 = dsv4.kernel @router
// CHECK: dsv4.gate
// CHECK: %[[I:.*]] = dsv4.topk
// CHECK: %[[W:.*]] = dsv4.route_weights
// CHECK: dsv4.yield %[[I]], %[[W]]
// CHECK: return %[[K]]#0, %[[K]]#1
// REMARK: kernel 'router' holds dsv4.gate dsv4.topk dsv4.route_weights
func.func @router(%x: tensor<4x64xf32>, %i: tensor<4x6xi32>, %o: tensor<4x6xf32>)
    -> (tensor<4x6xi32>, tensor<4x6xf32>) {
  %e = tensor.empty() : tensor<4x64xf32>
  %g = dsv4.gate %x function sigmoid outs(%e : tensor<4x64xf32>) : tensor<4x64xf32>
  %c = dsv4.topk %g order sorted outs(%i : tensor<4x6xi32>) : tensor<4x64xf32>
  %w = dsv4.route_weights %g[%c] outs(%o : tensor<4x6xf32>) : tensor<4x64xf32>, tensor<4x6xi32>
  return %c, %w : tensor<4x6xi32>, tensor<4x6xf32>
}

// -----

// CHECK-LABEL: func.func @hash
// CHECK: dsv4.kernel @hash
// CHECK-NOT: dsv4.kernel
// REMARK: kernel 'hash' holds dsv4.lookup dsv4.gate dsv4.route_weights
func.func @hash(%t: tensor<?x6xi32>, %d: tensor<4xi32>, %x: tensor<4x64xf32>, %i: tensor<4x6xi32>,
                %o: tensor<4x6xf32>) -> (tensor<4x6xi32>, tensor<4x6xf32>) {
  %e = tensor.empty() : tensor<4x64xf32>
  %c = dsv4.lookup %t[%d] outs(%i : tensor<4x6xi32>) : tensor<?x6xi32>, tensor<4xi32>
  %g = dsv4.gate %x function sigmoid outs(%e : tensor<4x64xf32>) : tensor<4x64xf32>
  %w = dsv4.route_weights %g[%c] outs(%o : tensor<4x6xf32>) : tensor<4x64xf32>, tensor<4x6xi32>
  return %c, %w : tensor<4x6xi32>, tensor<4x6xf32>
}

// -----

// The lanes that have the row find its largest element and the sum.
// CHECK-LABEL: func.func @softmax
// CHECK: dsv4.kernel @softmax(
// REMARK: kernel 'softmax' holds dsv4.gate dsv4.topk dsv4.route_weights
func.func @softmax(%x: tensor<4x64xf32>, %i: tensor<4x6xi32>, %o: tensor<4x6xf32>)
    -> (tensor<4x6xi32>, tensor<4x6xf32>) {
  %e = tensor.empty() : tensor<4x64xf32>
  %g = dsv4.gate %x function softmax outs(%e : tensor<4x64xf32>) : tensor<4x64xf32>
  %c = dsv4.topk %g order sorted outs(%i : tensor<4x6xi32>) : tensor<4x64xf32>
  %w = dsv4.route_weights %g[%c] outs(%o : tensor<4x6xf32>) : tensor<4x64xf32>, tensor<4x6xi32>
  return %c, %w : tensor<4x6xi32>, tensor<4x6xf32>
}

// -----

// Of more than a warp has no thread finds them.
// CHECK-LABEL: func.func @wide
// CHECK: dsv4.kernel @wide_0
// CHECK: dsv4.kernel @wide_1{{.*}}
// REMARK: not fused with 'dsv4.gate': 'dsv4.gate' needs statistics of whole rows of 1025 elements, and the threads of 'dsv4.topk' find none; only one-warp selections support that (k <= 32, from at most 1024 elements)
func.func @wide(%x: tensor<4x1025xf32>, %e: tensor<4x1025xf32>, %i: tensor<4x6xi32>) -> tensor<4x6xi32> {
  %g = dsv4.gate %x function softmax outs(%e : tensor<4x1025xf32>) : tensor<4x1025xf32>
  %c = dsv4.topk %g order sorted outs(%i : tensor<4x6xi32>) : tensor<4x1025xf32>
  return %c : tensor<4x6xi32>
}

// -----

// Nor of rows of which only some columns are chosen from.
// CHECK-LABEL: func.func @wide_scores
// CHECK: dsv4.kernel @wide_scores_0
// CHECK: dsv4.kernel @wide_scores_1{{.*}}
// REMARK: not fused with 'dsv4.topk': 'dsv4.gate' needs statistics of whole rows of 2048 elements, and the threads of 'dsv4.route_weights' find those of at most 1024
func.func @wide_scores(%s: tensor<4x64xf32>, %x: tensor<4x2048xf32>, %e: tensor<4x2048xf32>, %i: tensor<4x6xi32>,
                       %o: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %c = dsv4.topk %s order sorted outs(%i : tensor<4x6xi32>) : tensor<4x64xf32>
  %g = dsv4.gate %x function softmax outs(%e : tensor<4x2048xf32>) : tensor<4x2048xf32>
  %w = dsv4.route_weights %g[%c] outs(%o : tensor<4x6xf32>) : tensor<4x2048xf32>, tensor<4x6xi32>
  return %w : tensor<4x6xf32>
}

// -----

// What the softmax is of is read as a whole and in columns.
// CHECK-LABEL: func.func @twice
// CHECK: dsv4.kernel @twice_0
// CHECK: dsv4.dequantize
// CHECK: dsv4.kernel @twice_1(
// CHECK-SAME: attributes {unfused_reasons = ["'dsv4.gate' not fused with 'dsv4.dequantize': 'dsv4.gate' reads this operand from memory, as its own result is read column by column; a softmax needs statistics of the whole row first"]}
// CHECK: dsv4.gate
// CHECK-NEXT: dsv4.topk
// REMARK: not fused with 'dsv4.dequantize': 'dsv4.gate' reads this operand from memory, as its own result is read column by column; a softmax needs statistics of the whole row first
func.func @twice(%d: tensor<4x64xf8E4M3FN>, %s: tensor<4xf32>, %x: tensor<4x64xf32>, %i: tensor<4x6xi32>)
    -> tensor<4x6xi32> {
  %e = tensor.empty() : tensor<4x64xf32>
  %l = dsv4.dequantize %d scales(%s : tensor<4xf32>) outs(%x : tensor<4x64xf32>)
      {format = #dsv4.format<f8E4M3FN, [<f32 per row>]>} : tensor<4x64xf8E4M3FN>
  %g = dsv4.gate %l function softmax outs(%e : tensor<4x64xf32>) : tensor<4x64xf32>
  %c = dsv4.topk %g order sorted outs(%i : tensor<4x6xi32>) : tensor<4x64xf32>
  return %c : tensor<4x6xi32>
}

// -----

// So it does where the selection, too, is made of what the softmax is of.
// CHECK-LABEL: func.func @twice_selected
// CHECK: dsv4.kernel @twice_selected_0
// CHECK: dsv4.dequantize
// CHECK: dsv4.kernel @twice_selected_1{{.*}}
// CHECK: dsv4.gate
// CHECK-NEXT: dsv4.topk
// CHECK-NEXT: dsv4.route_weights
// REMARK: not fused with 'dsv4.dequantize': 'dsv4.gate' reads this operand from memory, as its own result is read column by column; a softmax needs statistics of the whole row first
func.func @twice_selected(%d: tensor<4x64xf8E4M3FN>, %s: tensor<4xf32>, %x: tensor<4x64xf32>, %i: tensor<4x6xi32>,
                          %o: tensor<4x6xf32>) -> (tensor<4x6xi32>, tensor<4x6xf32>) {
  %e = tensor.empty() : tensor<4x64xf32>
  %l = dsv4.dequantize %d scales(%s : tensor<4xf32>) outs(%x : tensor<4x64xf32>)
      {format = #dsv4.format<f8E4M3FN, [<f32 per row>]>} : tensor<4x64xf8E4M3FN>
  %g = dsv4.gate %l function softmax outs(%e : tensor<4x64xf32>) : tensor<4x64xf32>
  %c = dsv4.topk %l order sorted outs(%i : tensor<4x6xi32>) : tensor<4x64xf32>
  %w = dsv4.route_weights %g[%c] outs(%o : tensor<4x6xf32>) : tensor<4x64xf32>, tensor<4x6xi32>
  return %c, %w : tensor<4x6xi32>, tensor<4x6xf32>
}

// -----

// And where weights are of it.
// CHECK-LABEL: func.func @twice_weighed
// CHECK: dsv4.kernel @twice_weighed_0
// CHECK: dsv4.gate
// CHECK: dsv4.kernel @twice_weighed_1{{.*}}
// CHECK: dsv4.gate
// CHECK-NEXT: dsv4.topk
// CHECK-NEXT: dsv4.route_weights
// REMARK: not fused with 'dsv4.gate': 'dsv4.gate' reads this operand from memory, as its own result is read column by column; a softmax needs statistics of the whole row first
func.func @twice_weighed(%x: tensor<4x64xf32>, %l: tensor<4x64xf32>, %i: tensor<4x6xi32>, %o: tensor<4x6xf32>)
    -> (tensor<4x6xi32>, tensor<4x6xf32>) {
  %e = tensor.empty() : tensor<4x64xf32>
  %f = dsv4.gate %x function sigmoid outs(%l : tensor<4x64xf32>) : tensor<4x64xf32>
  %g = dsv4.gate %f function softmax outs(%e : tensor<4x64xf32>) : tensor<4x64xf32>
  %c = dsv4.topk %g order sorted outs(%i : tensor<4x6xi32>) : tensor<4x64xf32>
  %w = dsv4.route_weights %f[%c] outs(%o : tensor<4x6xf32>) : tensor<4x64xf32>, tensor<4x6xi32>
  return %c, %w : tensor<4x6xi32>, tensor<4x6xf32>
}

// -----

// Nor are they of what is taken by index.
// CHECK-LABEL: func.func @hash_twice
// CHECK: dsv4.kernel @hash_twice_0
// CHECK: dsv4.dequantize
// CHECK: dsv4.kernel @hash_twice_1{{.*}}
// REMARK: not fused with 'dsv4.dequantize': 'dsv4.gate' reads this operand from memory, as its own result is read element by element; a softmax needs statistics of the whole row first
func.func @hash_twice(%t: tensor<?x6xi32>, %d: tensor<4xi32>, %b: tensor<4x64xf8E4M3FN>, %s: tensor<4xf32>,
                      %x: tensor<4x64xf32>, %i: tensor<4x6xi32>, %o: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %e = tensor.empty() : tensor<4x64xf32>
  %l = dsv4.dequantize %b scales(%s : tensor<4xf32>) outs(%x : tensor<4x64xf32>)
      {format = #dsv4.format<f8E4M3FN, [<f32 per row>]>} : tensor<4x64xf8E4M3FN>
  %c = dsv4.lookup %t[%d] outs(%i : tensor<4x6xi32>) : tensor<?x6xi32>, tensor<4xi32>
  %g = dsv4.gate %l function softmax outs(%e : tensor<4x64xf32>) : tensor<4x64xf32>
  %w = dsv4.route_weights %g[%c] outs(%o : tensor<4x6xf32>) : tensor<4x64xf32>, tensor<4x6xi32>
  return %w : tensor<4x6xf32>
}

// -----

// More than a warp selects.
// CHECK-LABEL: func.func @many
// CHECK: dsv4.kernel @many_0
// CHECK: dsv4.kernel @many_1{{.*}}
// REMARK: not fused with 'dsv4.topk': the result of 'dsv4.topk' is consumed element-wise by 'dsv4.route_weights'; only one-warp selections support that (k <= 32, from at most 1024 elements)
func.func @many(%g: tensor<4x2048xf32>, %i: tensor<4x6xi32>, %o: tensor<4x6xf32>)
    -> (tensor<4x6xi32>, tensor<4x6xf32>) {
  %c = dsv4.topk %g order sorted outs(%i : tensor<4x6xi32>) : tensor<4x2048xf32>
  %w = dsv4.route_weights %g[%c] outs(%o : tensor<4x6xf32>) : tensor<4x2048xf32>, tensor<4x6xi32>
  return %c, %w : tensor<4x6xi32>, tensor<4x6xf32>
}

// -----

// The first op that weighs them, which may weigh other scores, has them in its kernel, the second reads them.
// CHECK-LABEL: func.func @between
// CHECK: dsv4.kernel @between_0
// CHECK: dsv4.topk
// CHECK-NEXT: dsv4.route_weights
// CHECK: dsv4.kernel @between_1{{.*}}
// REMARK: not fused with 'dsv4.topk': 'dsv4.route_weights' uses its result between them
func.func @between(%g: tensor<4x64xf32>, %s: tensor<4x64xf32>, %i: tensor<4x6xi32>, %o: tensor<4x6xf32>,
                   %p: tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<4x6xf32>) {
  %c = dsv4.topk %g order sorted outs(%i : tensor<4x6xi32>) : tensor<4x64xf32>
  %v = dsv4.route_weights %s[%c] outs(%p : tensor<4x6xf32>) : tensor<4x64xf32>, tensor<4x6xi32>
  %w = dsv4.route_weights %g[%c] outs(%o : tensor<4x6xf32>) : tensor<4x64xf32>, tensor<4x6xi32>
  return %v, %w : tensor<4x6xf32>, tensor<4x6xf32>
}

// -----

// A router and its logits.
// CHECK-LABEL: func.func @dense
// CHECK: dsv4.kernel @dense(
// CHECK: dsv4.router_logits
// CHECK-NEXT: dsv4.gate
// CHECK-NEXT: dsv4.topk
// CHECK-NEXT: dsv4.route_weights
// CHECK-NOT: dsv4.kernel
// REMARK: kernel 'dense' holds dsv4.router_logits dsv4.gate dsv4.topk dsv4.route_weights
func.func @dense(%h: tensor<4x32xbf16>, %m: tensor<64x32xbf16>, %b: tensor<64xf32>, %i: tensor<4x6xi32>, %o: tensor<4x6xf32>)
    -> tensor<4x6xf32> {
  %e = tensor.empty() : tensor<4x64xf32>
  %l = dsv4.router_logits %h, %m outs(%e : tensor<4x64xf32>) : tensor<4x32xbf16>, tensor<64x32xbf16>
  %g = dsv4.gate %l function sigmoid outs(%e : tensor<4x64xf32>) : tensor<4x64xf32>
  %c = dsv4.topk %g bias(%b : tensor<64xf32>) order sorted outs(%i : tensor<4x6xi32>) : tensor<4x64xf32>
  %w = dsv4.route_weights %g[%c] outs(%o : tensor<4x6xf32>) : tensor<4x64xf32>, tensor<4x6xi32>
  return %w : tensor<4x6xf32>
}

// -----

// Logits that are a result, too.
// CHECK-LABEL: func.func @dense_stored
// CHECK: dsv4.kernel @dense_stored_0
// CHECK: dsv4.router_logits
// CHECK: dsv4.kernel @dense_stored_1
// CHECK: dsv4.gate
// REMARK: not fused with 'dsv4.router_logits': its result has other users, and the kernel would compute only parts of it
func.func @dense_stored(%h: tensor<4x32xbf16>, %m: tensor<64x32xbf16>, %d: tensor<4x64xf32>, %i: tensor<4x6xi32>)
    -> (tensor<4x64xf32>, tensor<4x6xi32>) {
  %e = tensor.empty() : tensor<4x64xf32>
  %l = dsv4.router_logits %h, %m outs(%d : tensor<4x64xf32>) : tensor<4x32xbf16>, tensor<64x32xbf16>
  %g = dsv4.gate %l function sigmoid outs(%e : tensor<4x64xf32>) : tensor<4x64xf32>
  %c = dsv4.topk %g order sorted outs(%i : tensor<4x6xi32>) : tensor<4x64xf32>
  return %l, %c : tensor<4x64xf32>, tensor<4x6xi32>
}

// -----

// A softmax.
// CHECK-LABEL: func.func @dense_softmax
// CHECK: dsv4.kernel @dense_softmax_0
// CHECK: dsv4.kernel @dense_softmax_1
// REMARK: not fused with 'dsv4.router_logits': 'dsv4.gate' reads this operand from memory, as its own result is read column by column; a softmax needs statistics of the whole row first
func.func @dense_softmax(%h: tensor<4x32xbf16>, %m: tensor<64x32xbf16>, %d: tensor<4x64xf32>, %i: tensor<4x6xi32>)
    -> tensor<4x6xi32> {
  %e = tensor.empty() : tensor<4x64xf32>
  %l = dsv4.router_logits %h, %m outs(%d : tensor<4x64xf32>) : tensor<4x32xbf16>, tensor<64x32xbf16>
  %g = dsv4.gate %l function softmax outs(%e : tensor<4x64xf32>) : tensor<4x64xf32>
  %c = dsv4.topk %g order sorted outs(%i : tensor<4x6xi32>) : tensor<4x64xf32>
  return %c : tensor<4x6xi32>
}

// -----

// Experts by token id read single elements.
// CHECK-LABEL: func.func @dense_hash
// CHECK: dsv4.kernel @dense_hash_0
// CHECK: dsv4.router_logits
// CHECK: dsv4.kernel @dense_hash_1
// CHECK: dsv4.route_weights
// REMARK: not fused with 'dsv4.router_logits': 'dsv4.gate' reads this operand element by element, and 'dsv4.router_logits' provides it column by column; its blocks compute rows together, which the lanes of warps then hold
func.func @dense_hash(%h: tensor<4x32xbf16>, %m: tensor<64x32xbf16>, %t: tensor<?x6xi32>, %d: tensor<4xi32>,
                      %x: tensor<4x64xf32>, %i: tensor<4x6xi32>, %o: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %e = tensor.empty() : tensor<4x64xf32>
  %l = dsv4.router_logits %h, %m outs(%x : tensor<4x64xf32>) : tensor<4x32xbf16>, tensor<64x32xbf16>
  %c = dsv4.lookup %t[%d] outs(%i : tensor<4x6xi32>) : tensor<?x6xi32>, tensor<4xi32>
  %g = dsv4.gate %l function sigmoid outs(%e : tensor<4x64xf32>) : tensor<4x64xf32>
  %w = dsv4.route_weights %g[%c] outs(%o : tensor<4x6xf32>) : tensor<4x64xf32>, tensor<4x6xi32>
  return %w : tensor<4x6xf32>
}

// -----

// More than a warp selects.
// CHECK-LABEL: func.func @dense_many
// CHECK: dsv4.kernel @dense_many_0
// CHECK: dsv4.kernel @dense_many_1
// REMARK: not fused with 'dsv4.router_logits': 'dsv4.router_logits' needs statistics of whole rows of 64 elements, and the threads of 'dsv4.topk' find none; only one-warp selections support that (k <= 32, from at most 1024 elements)
func.func @dense_many(%h: tensor<4x32xbf16>, %m: tensor<64x32xbf16>, %x: tensor<4x64xf32>, %i: tensor<4x40xi32>)
    -> tensor<4x40xi32> {
  %l = dsv4.router_logits %h, %m outs(%x : tensor<4x64xf32>) : tensor<4x32xbf16>, tensor<64x32xbf16>
  %c = dsv4.topk %l order sorted outs(%i : tensor<4x40xi32>) : tensor<4x64xf32>
  return %c : tensor<4x40xi32>
}

// -----

// Experts that have no memory are computed once, for all ops that read them.
// CHECK-LABEL: func.func @mapped
// CHECK: dsv4.kernel @mapped(
// CHECK: %[[C:.*]] = dsv4.topk
// CHECK: %[[W:.*]] = dsv4.route_weights %{{.*}}[%[[C]]]
// CHECK: %[[P:.*]] = dsv4.map_indices %[[C]] table
// CHECK: %[[R:.*]] = dsv4.map_indices %[[C]] outs
// CHECK: dsv4.yield %[[W]], %[[P]], %[[R]]
// CHECK-NOT: dsv4.kernel
// REMARK: kernel 'mapped' holds dsv4.gate dsv4.topk dsv4.route_weights dsv4.map_indices dsv4.map_indices
func.func @mapped(%x: tensor<4x64xf32>, %t: tensor<64xi32>, %o: tensor<4x6xf32>, %p: tensor<4x6xi32>,
                  %r: tensor<4x6xi16>) -> (tensor<4x6xf32>, tensor<4x6xi32>, tensor<4x6xi16>) {
  %e = tensor.empty() : tensor<4x64xf32>
  %i = tensor.empty() : tensor<4x6xi32>
  %g = dsv4.gate %x function sigmoid outs(%e : tensor<4x64xf32>) : tensor<4x64xf32>
  %c = dsv4.topk %g order sorted outs(%i : tensor<4x6xi32>) : tensor<4x64xf32>
  %w = dsv4.route_weights %g[%c] outs(%o : tensor<4x6xf32>) : tensor<4x64xf32>, tensor<4x6xi32>
  %m = dsv4.map_indices %c table(%t : tensor<64xi32>) outs(%p : tensor<4x6xi32>) : tensor<4x6xi32>
  %n = dsv4.map_indices %c outs(%r : tensor<4x6xi16>) : tensor<4x6xi32>
  return %w, %m, %n : tensor<4x6xf32>, tensor<4x6xi32>, tensor<4x6xi16>
}

// -----

// With memory they are read from there.
// CHECK-LABEL: func.func @mapped_apart
// CHECK: dsv4.kernel @mapped_apart_0
// CHECK: dsv4.kernel @mapped_apart_1
// CHECK: dsv4.map_indices
// REMARK: not fused with 'dsv4.topk': 'dsv4.route_weights' uses its result between them
func.func @mapped_apart(%x: tensor<4x64xf32>, %t: tensor<64xi32>, %i: tensor<4x6xi32>, %o: tensor<4x6xf32>,
                        %p: tensor<4x6xi32>) -> (tensor<4x6xf32>, tensor<4x6xi32>) {
  %e = tensor.empty() : tensor<4x64xf32>
  %g = dsv4.gate %x function sigmoid outs(%e : tensor<4x64xf32>) : tensor<4x64xf32>
  %c = dsv4.topk %g order sorted outs(%i : tensor<4x6xi32>) : tensor<4x64xf32>
  %w = dsv4.route_weights %g[%c] outs(%o : tensor<4x6xf32>) : tensor<4x64xf32>, tensor<4x6xi32>
  %m = dsv4.map_indices %c table(%t : tensor<64xi32>) outs(%p : tensor<4x6xi32>) : tensor<4x6xi32>
  return %w, %m : tensor<4x6xf32>, tensor<4x6xi32>
}

// -----

// A row of the lookup is one of another token, so it does not join.
// CHECK-LABEL: func.func @mapped_and_looked_up
// CHECK: dsv4.kernel @mapped_and_looked_up_0
// CHECK: dsv4.topk
// CHECK: dsv4.kernel @mapped_and_looked_up_1
// CHECK: dsv4.lookup
// CHECK: dsv4.kernel @mapped_and_looked_up_2
// CHECK: dsv4.map_indices
// REMARK: not fused with 'dsv4.topk': 'dsv4.lookup' uses its result between them
func.func @mapped_and_looked_up(%x: tensor<4x64xf32>, %t: tensor<4xi32>, %o: tensor<4x6xi32>, %p: tensor<4x6xi32>)
    -> (tensor<4x6xi32>, tensor<4x6xi32>) {
  %i = tensor.empty() : tensor<4x6xi32>
  %c = dsv4.topk %x order sorted outs(%i : tensor<4x6xi32>) : tensor<4x64xf32>
  %l = dsv4.lookup %c[%t] outs(%o : tensor<4x6xi32>) : tensor<4x6xi32>, tensor<4xi32>
  %m = dsv4.map_indices %c outs(%p : tensor<4x6xi32>) : tensor<4x6xi32>
  return %l, %m : tensor<4x6xi32>, tensor<4x6xi32>
}

// -----

// An op is in one kernel: the second gate is in that of the second selection, and cannot join the first one.
// CHECK-LABEL: func.func @taken
// CHECK: dsv4.kernel @taken_0
// CHECK: dsv4.gate
// CHECK-NEXT: dsv4.yield
// CHECK: dsv4.kernel @taken_1
// CHECK-NOT: dsv4.gate %
// CHECK: dsv4.topk %
// CHECK-NEXT: dsv4.yield
// CHECK: dsv4.kernel @taken_2
// CHECK: dsv4.gate %
// CHECK-NEXT: dsv4.topk %
// CHECK-NEXT: dsv4.yield
// REMARK: not fused with 'dsv4.gate': 'dsv4.gate' uses its result between them
func.func @taken(%x: tensor<4x64xf32>, %i: tensor<4x40xi32>, %j: tensor<4x40xi32>)
    -> (tensor<4x40xi32>, tensor<4x40xi32>) {
  %e = tensor.empty() : tensor<4x64xf32>
  %f = tensor.empty() : tensor<4x64xf32>
  %p = dsv4.gate %x function sigmoid outs(%e : tensor<4x64xf32>) : tensor<4x64xf32>
  %q = dsv4.gate %p function sigmoid outs(%f : tensor<4x64xf32>) : tensor<4x64xf32>
  %l = dsv4.topk %p order sorted outs(%i : tensor<4x40xi32>) : tensor<4x64xf32>
  %m = dsv4.topk %q order sorted outs(%j : tensor<4x40xi32>) : tensor<4x64xf32>
  return %l, %m : tensor<4x40xi32>, tensor<4x40xi32>
}
