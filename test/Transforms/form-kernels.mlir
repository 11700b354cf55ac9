// Which ops become one kernel, and what the remarks say about it.

// RUN: dsv4-opt %s --dsv4-form-kernels | FileCheck %s
// RUN: dsv4-opt %s --dsv4-form-kernels -o /dev/null --remarks-filter=dsv4-form-kernels \
// RUN:   --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefix=REMARK

!cache = !dsv4.cache<64 x <v4_584>>
!one = !dsv4.cache<64 x <v41_528>>
#per_row = #dsv4.format<f32, [<f32 per row>]>

// One op, one kernel with the name of the function.
// CHECK-LABEL: func.func @single
func.func @single(%c: !cache, %i: tensor<?xi32>, %o: tensor<?x512xbf16>)
    -> tensor<?x512xbf16> {
  // CHECK: %[[K:.*]] = dsv4.kernel @single(%{{.*}}, %{{.*}}, %{{.*}}) : (!dsv4.cache<64 x #v4_584>, tensor<?xi32>, tensor<?x512xbf16>) -> tensor<?x512xbf16> {
  // CHECK-NEXT: ^bb0(%[[C:.*]]: !dsv4.cache<64 x #v4_584>, %[[I:.*]]: tensor<?xi32>, %[[O:.*]]: tensor<?x512xbf16>):
  // CHECK-NEXT: %[[ROWS:.*]] = dsv4.paged_gather %[[C]][%[[I]]] outs(%[[O]] : tensor<?x512xbf16>)
  // CHECK-NEXT: dsv4.yield %[[ROWS]]
  // CHECK: return %[[K]]
  // REMARK: [[@LINE+1]]:8: remark: [Passed] dsv4-form-kernels {{.*}}single{{.*}}holds{{.*}}dsv4.paged_gather
  %0 = dsv4.paged_gather %c[%i] outs(%o : tensor<?x512xbf16>) : !cache, tensor<?xi32>
  return %0 : tensor<?x512xbf16>
}

// All results of an op are results of its kernel.
// CHECK-LABEL: func.func @with_mask
func.func @with_mask(%c: !cache, %i: tensor<?xi32>, %o: tensor<?x512xbf16>, %m: tensor<?xi1>)
    -> (tensor<?x512xbf16>, tensor<?xi1>) {
  // CHECK: %[[K:.*]]:2 = dsv4.kernel @with_mask
  // CHECK: dsv4.yield %{{.*}}, %{{.*}} : tensor<?x512xbf16>, tensor<?xi1>
  // CHECK: return %[[K]]#0, %[[K]]#1
  %0, %1 = dsv4.paged_gather %c[%i] outs(%o : tensor<?x512xbf16>) mask(%m : tensor<?xi1>)
      : !cache, tensor<?xi32>
  return %0, %1 : tensor<?x512xbf16>, tensor<?xi1>
}

// Two that do not depend on each other are two, numbered in program order.
// CHECK-LABEL: func.func @independent
func.func @independent(%c: !cache, %i: tensor<?xi32>, %j: tensor<?xi32>,
                       %o: tensor<?x512xbf16>, %p: tensor<?x512xbf16>)
    -> (tensor<?x512xbf16>, tensor<?x512xbf16>) {
  // CHECK: %[[A:.*]] = dsv4.kernel @independent_0
  // CHECK: %[[B:.*]] = dsv4.kernel @independent_1
  // CHECK: return %[[A]], %[[B]]
  %0 = dsv4.paged_gather %c[%i] outs(%o : tensor<?x512xbf16>) : !cache, tensor<?xi32>
  %1 = dsv4.paged_gather %c[%j] outs(%p : tensor<?x512xbf16>) : !cache, tensor<?xi32>
  return %0, %1 : tensor<?x512xbf16>, tensor<?x512xbf16>
}

// A producer joins: one iteration space, one segment, no other user.
// CHECK-LABEL: func.func @fused
func.func @fused(%c: !one, %i: tensor<?xi32>, %tmp: tensor<?x512xf32>,
                 %s: tensor<?xf32>, %o: tensor<?x512xbf16>) -> tensor<?x512xbf16> {
  // CHECK: dsv4.kernel @fused
  // CHECK-NOT: dsv4.kernel
  // CHECK: %[[ROWS:.*]] = dsv4.paged_gather
  // CHECK: %[[VALUES:.*]] = dsv4.dequantize %[[ROWS]]
  // CHECK: dsv4.yield %[[VALUES]] : tensor<?x512xbf16>
  // REMARK: remark: [Passed] dsv4-form-kernels {{.*}}fused{{.*}}holds{{.*}}dsv4.paged_gather{{.*}}dsv4.dequantize
  %0 = dsv4.paged_gather %c[%i] outs(%tmp : tensor<?x512xf32>) : !one, tensor<?xi32>
  %1 = dsv4.dequantize %0 scales(%s : tensor<?xf32>) outs(%o : tensor<?x512xbf16>)
      {format = #per_row} : tensor<?x512xf32>
  return %1 : tensor<?x512xbf16>
}

// Its row has two segments, nope and rope, which the consumer takes as one row.
// CHECK-LABEL: func.func @several_segments
func.func @several_segments(%c: !cache, %i: tensor<?xi32>, %tmp: tensor<?x512xf32>,
                          %s: tensor<?xf32>, %o: tensor<?x512xbf16>) -> tensor<?x512xbf16> {
  // CHECK: dsv4.kernel @several_segments(
  // CHECK: dsv4.paged_gather
  // CHECK-NEXT: dsv4.dequantize
  %0 = dsv4.paged_gather %c[%i] outs(%tmp : tensor<?x512xf32>) : !cache, tensor<?xi32>
  %1 = dsv4.dequantize %0 scales(%s : tensor<?xf32>) outs(%o : tensor<?x512xbf16>)
      {format = #per_row} : tensor<?x512xf32>
  return %1 : tensor<?x512xbf16>
}

// A value that is returned as well is stored and forwarded.
// CHECK-LABEL: func.func @other_user
func.func @other_user(%c: !cache, %i: tensor<?xi32>, %tmp: tensor<?x512xf32>,
                      %s: tensor<?xf32>, %o: tensor<?x512xbf16>)
    -> (tensor<?x512xf32>, tensor<?x512xbf16>) {
  // CHECK: %[[R:.*]]:2 = dsv4.kernel @other_user(
  // CHECK: return %[[R]]#0, %[[R]]#1
  %0 = dsv4.paged_gather %c[%i] outs(%tmp : tensor<?x512xf32>) : !cache, tensor<?xi32>
  %1 = dsv4.dequantize %0 scales(%s : tensor<?xf32>) outs(%o : tensor<?x512xbf16>)
      {format = #per_row} : tensor<?x512xf32>
  return %0, %1 : tensor<?x512xf32>, tensor<?x512xbf16>
}

// One row of 64 scales is not 64 rows: scales are read from memory.
// CHECK-LABEL: func.func @other_rows
func.func @other_rows(%f: tensor<64xf8E4M3FN>, %tmp: tensor<64xf32>, %g: tensor<1xf32>,
                      %d: tensor<64x512xf8E4M3FN>, %o: tensor<64x512xf32>)
    -> tensor<64x512xf32> {
  // CHECK: dsv4.kernel @other_rows_0
  // CHECK: dsv4.kernel @other_rows_1
  %0 = dsv4.dequantize %f scales(%g : tensor<1xf32>) outs(%tmp : tensor<64xf32>)
      {format = #dsv4.format<f8E4M3FN, [<f32 per tensor>]>} : tensor<64xf8E4M3FN>
  // REMARK: [[@LINE+1]]:8: remark: [Missed] dsv4-form-kernels {{.*}}not fused with 'dsv4.dequantize': 'dsv4.dequantize' does not read this operand row by row
  %1 = dsv4.dequantize %d scales(%0 : tensor<64xf32>) outs(%o : tensor<64x512xf32>)
      {format = #dsv4.format<f8E4M3FN, [<f32 per row>]>} : tensor<64x512xf8E4M3FN>
  return %1 : tensor<64x512xf32>
}

// Of two results one is read row by row and the other is not: neither comes from the kernel.
#mx32 = #dsv4.format<f8E4M3FN, [<f8E8M0FNU per 32>]>
// CHECK-LABEL: func.func @scales_too
func.func @scales_too(%x: tensor<4x64xf32>, %q: tensor<4x64xf8E4M3FN>, %f: tensor<4x2xf8E8M0FNU>, %o: tensor<4x64xf32>)
    -> tensor<4x64xf32> {
  // CHECK: dsv4.kernel @scales_too_0
  // CHECK: dsv4.kernel @scales_too_1
  %0, %1 = dsv4.quantize %x outs(%q, %f : tensor<4x64xf8E4M3FN>, tensor<4x2xf8E8M0FNU>)
      {format = #mx32, recipe = #dsv4.quantizer<rounding = up_pow2>} : tensor<4x64xf32>
  // REMARK: [[@LINE+1]]:8: remark: [Missed] dsv4-form-kernels {{.*}}not fused with 'dsv4.quantize': 'dsv4.dequantize' does not read this operand row by row
  %2 = dsv4.dequantize %0 scales(%1 : tensor<4x2xf8E8M0FNU>) outs(%o : tensor<4x64xf32>)
      {format = #mx32} : tensor<4x64xf8E4M3FN>
  return %2 : tensor<4x64xf32>
}

// The scales of all entries are one row of the first op, and one element per row of the second.
!scaled = !dsv4.cache<8 x <[<"x" : 32 x f8E4M3FN in row>, <"s" : 1 x f32 in row scales "x" per row>]>>
// CHECK-LABEL: func.func @other_iteration_space
func.func @other_iteration_space(%f: tensor<4xf32>, %tmp: tensor<4xf32>,
                                 %x: tensor<?x32xf8E4M3FN> {dsv4.dims = ["tokens", ""]},
                                 %i: tensor<?xi32> {dsv4.dims = ["tokens"]}, %c: !scaled) {
  // CHECK: dsv4.kernel @other_iteration_space_0
  // CHECK: dsv4.kernel @other_iteration_space_1
  %0 = dsv4.rms_norm %f outs(%tmp : tensor<4xf32>) {eps = 1.0e-6 : f32} : tensor<4xf32>
  // REMARK: [[@LINE+1]]:3: remark: [Missed] dsv4-form-kernels {{.*}}not fused with 'dsv4.rms_norm': iteration spaces differ (one row and tokens)
  dsv4.paged_append %c[%i] unique fields(%x, %0 : tensor<?x32xf8E4M3FN>, tensor<4xf32>) : !scaled, tensor<?xi32>
  return
}

// The producer is not a row-wise op.
// CHECK-LABEL: func.func @not_row_wise
func.func @not_row_wise(%d: tensor<64x512xf8E4M3FN>, %s: tensor<64xi32>,
                        %o: tensor<64x512xf32>) -> tensor<64x512xf32> {
  // CHECK: dsv4.kernel @not_row_wise(
  %0 = arith.sitofp %s : tensor<64xi32> to tensor<64xf32>
  // REMARK: [[@LINE+1]]:8: remark: [Missed] dsv4-form-kernels {{.*}}arith.sitofp{{.*}}it is not a row-wise op
  %1 = dsv4.dequantize %d scales(%0 : tensor<64xf32>) outs(%o : tensor<64x512xf32>)
      {format = #dsv4.format<f8E4M3FN, [<f32 per row>]>} : tensor<64x512xf8E4M3FN>
  return %1 : tensor<64x512xf32>
}

// Nothing to do.
// CHECK-LABEL: func.func @nothing
// CHECK-NOT: dsv4.kernel
func.func @nothing(%o: tensor<?x512xbf16>) -> tensor<?x512xbf16> {
  return %o : tensor<?x512xbf16>
}

// A chain that ends in memory: a value with two users joins with the last of
// them.
#fp8 = #dsv4.format<f8E4M3FN, [<f8E8M0FNU per 64>]>
#up = #dsv4.quantizer<rounding = up_pow2>
// CHECK-LABEL: func.func @writer
func.func @writer(%c: !cache, %x: tensor<?x512xbf16>, %t: tensor<?x64xf32>, %p: tensor<?xi32>,
                  %n: index) {
  // CHECK: dsv4.kernel @writer(
  // CHECK: dsv4.rms_norm
  // CHECK-NEXT: dsv4.rope
  // CHECK-NEXT: dsv4.quantize
  // CHECK-NEXT: dsv4.paged_append
  // CHECK-NEXT: }
  %row = tensor.empty(%n) : tensor<?x512xbf16>
  %q = tensor.empty(%n) : tensor<?x448xf8E4M3FN>
  %f = tensor.empty(%n) : tensor<?x7xf8E8M0FNU>
  %0 = dsv4.rms_norm %x outs(%row : tensor<?x512xbf16>) {eps = 1.0e-6 : f32} : tensor<?x512xbf16>
  %1 = dsv4.rope %0 table(%t : tensor<?x64xf32>) positions(%p : tensor<?xi32>)
      outs(%row : tensor<?x512xbf16>) : tensor<?x512xbf16>
  %2, %3 = dsv4.quantize %1 columns [0, 448]
      outs(%q, %f : tensor<?x448xf8E4M3FN>, tensor<?x7xf8E8M0FNU>)
      {format = #fp8, recipe = #up} : tensor<?x512xbf16>
  // REMARK: [[@LINE+1]]:3: remark: [Passed] dsv4-form-kernels {{.*}}writer{{.*}}holds dsv4.rms_norm dsv4.rope dsv4.quantize dsv4.paged_append
  dsv4.paged_append %c[%p] unique fields(%2, %1, %3
      : tensor<?x448xf8E4M3FN>, tensor<?x512xbf16>, tensor<?x7xf8E8M0FNU>) columns [0, 448, 0]
      : !cache, tensor<?xi32>
  return
}

// The row between them is returned: it is stored, and quantised from registers.
// CHECK-LABEL: func.func @returned
func.func @returned(%x: tensor<?x512xbf16>, %row: tensor<?x512xbf16>, %q: tensor<?x512xf8E4M3FN>,
                    %f: tensor<?x8xf8E8M0FNU>)
    -> (tensor<?x512xbf16>, tensor<?x512xf8E4M3FN>, tensor<?x8xf8E8M0FNU>) {
  // CHECK: dsv4.kernel @returned(
  // CHECK: dsv4.rms_norm
  // CHECK-NEXT: dsv4.quantize
  %0 = dsv4.rms_norm %x outs(%row : tensor<?x512xbf16>) {eps = 1.0e-6 : f32} : tensor<?x512xbf16>
  %1, %2 = dsv4.quantize %0 outs(%q, %f : tensor<?x512xf8E4M3FN>, tensor<?x8xf8E8M0FNU>)
      {format = #fp8, recipe = #up} : tensor<?x512xbf16>
  return %0, %1, %2 : tensor<?x512xbf16>, tensor<?x512xf8E4M3FN>, tensor<?x8xf8E8M0FNU>
}

// Both results would be in one memory: the second kernel reads the first before it overwrites it.
// CHECK-LABEL: func.func @one_destination
func.func @one_destination(%x: tensor<?x512xbf16>, %row: tensor<?x512xbf16>, %q: tensor<?x512xf8E4M3FN>,
                           %f: tensor<?x8xf8E8M0FNU>, %t: tensor<?x64xf32>, %p: tensor<?xi32>)
    -> (tensor<?x512xbf16>, tensor<?x512xbf16>) {
  // CHECK: dsv4.kernel @one_destination_0
  // CHECK: dsv4.kernel @one_destination_1
  %0 = dsv4.rms_norm %x outs(%row : tensor<?x512xbf16>) {eps = 1.0e-6 : f32} : tensor<?x512xbf16>
  // REMARK: [[@LINE+1]]:8: remark: [Missed] dsv4-form-kernels {{.*}}'dsv4.rms_norm': its result has other users, and 'dsv4.rope' overwrites its destination
  %1 = dsv4.rope %0 table(%t : tensor<?x64xf32>) positions(%p : tensor<?xi32>)
      outs(%row : tensor<?x512xbf16>) : tensor<?x512xbf16>
  return %0, %1 : tensor<?x512xbf16>, tensor<?x512xbf16>
}

// A producer does not move past an op that overwrites what it reads.
// CHECK-LABEL: func.func @overwritten
func.func @overwritten(%x: tensor<?x512xbf16>, %y: tensor<?x512xbf16>, %row: tensor<?x512xbf16>,
                       %out: tensor<?x512xbf16>, %t: tensor<?x64xf32>, %p: tensor<?xi32>) {
  // CHECK: dsv4.kernel @overwritten_0
  // CHECK-NEXT: ^bb0
  // CHECK-NEXT: dsv4.rms_norm
  // CHECK-NEXT: dsv4.yield
  // CHECK: dsv4.kernel @overwritten_1
  // CHECK-NEXT: ^bb0
  // CHECK-NEXT: dsv4.hadamard
  // CHECK: dsv4.kernel @overwritten_2
  %0 = dsv4.rms_norm %x outs(%row : tensor<?x512xbf16>) {eps = 1.0e-6 : f32} : tensor<?x512xbf16>
  %1 = dsv4.hadamard %y outs(%x : tensor<?x512xbf16>) {scale = 0.125 : f32} : tensor<?x512xbf16>
  // REMARK: [[@LINE+1]]:8: remark: [Missed] dsv4-form-kernels {{.*}}'dsv4.rms_norm': 'dsv4.hadamard' between them overwrites what it reads
  %2 = dsv4.rope %0 table(%t : tensor<?x64xf32>) positions(%p : tensor<?xi32>)
      outs(%out : tensor<?x512xbf16>) : tensor<?x512xbf16>
  return
}

// An op that overwrites it in the same kernel is no obstacle: the loads of a row come first.
// CHECK-LABEL: func.func @overwritten_in_place
func.func @overwritten_in_place(%x: tensor<?x512xbf16>, %row: tensor<?x512xbf16>, %t: tensor<?x64xf32>,
                                %p: tensor<?xi32>) {
  // CHECK: dsv4.kernel @overwritten_in_place(
  // CHECK-NEXT: ^bb0
  // CHECK-NEXT: dsv4.rms_norm
  // CHECK-NEXT: dsv4.rope
  %0 = dsv4.rms_norm %x outs(%x : tensor<?x512xbf16>) {eps = 1.0e-6 : f32} : tensor<?x512xbf16>
  %1 = dsv4.rope %0 table(%t : tensor<?x64xf32>) positions(%p : tensor<?xi32>)
      outs(%x : tensor<?x512xbf16>) : tensor<?x512xbf16>
  return
}

// Of what is stored for others too the kernel has whole rows: threads of a block do not, and a warp does.
// CHECK-LABEL: func.func @parts
func.func @parts(%g: tensor<?x256xf32>, %s: tensor<?x256xf32>, %i: tensor<?x33xi32>)
    -> (tensor<?x256xf32>, tensor<?x33xi32>) {
  // CHECK: dsv4.kernel @parts_0
  // CHECK: dsv4.kernel @parts_1
  %0 = dsv4.gate %g function sigmoid outs(%s : tensor<?x256xf32>) : tensor<?x256xf32>
  // REMARK: [[@LINE+1]]:8: remark: [Missed] dsv4-form-kernels {{.*}}'dsv4.gate': its result has other users, and the kernel would compute only parts of it
  %1 = dsv4.topk %0 outs(%i : tensor<?x33xi32>) : tensor<?x256xf32>
  return %0, %1 : tensor<?x256xf32>, tensor<?x33xi32>
}

// CHECK-LABEL: func.func @stored_scores
func.func @stored_scores(%g: tensor<?x256xf32>, %s: tensor<?x256xf32>, %i: tensor<?x6xi32>, %w: tensor<?x6xf32>)
    -> (tensor<?x256xf32>, tensor<?x6xi32>, tensor<?x6xf32>) {
  // CHECK: %[[K:.*]]:3 = dsv4.kernel @stored_scores(
  // CHECK: %[[S:.*]] = dsv4.gate
  // CHECK-NEXT: %[[I:.*]] = dsv4.topk %[[S]]
  // CHECK-NEXT: %[[W:.*]] = dsv4.route_weights %[[S]][%[[I]]]
  // CHECK-NEXT: dsv4.yield %[[S]], %[[I]], %[[W]]
  // CHECK: return %[[K]]#0, %[[K]]#1, %[[K]]#2
  %0 = dsv4.gate %g function sigmoid outs(%s : tensor<?x256xf32>) : tensor<?x256xf32>
  %1 = dsv4.topk %0 order sorted outs(%i : tensor<?x6xi32>) : tensor<?x256xf32>
  %2 = dsv4.route_weights %0[%1] outs(%w : tensor<?x6xf32>) : tensor<?x256xf32>, tensor<?x6xi32>
  return %0, %1, %2 : tensor<?x256xf32>, tensor<?x6xi32>, tensor<?x6xf32>
}

// A warp has rows from their first column on.
// CHECK-LABEL: func.func @stored_scores_of_starts
func.func @stored_scores_of_starts(%g: tensor<?x256xf32>, %b: tensor<?xi32>, %s: tensor<?x256xf32>,
                                   %i: tensor<?x6xi32>) -> (tensor<?x256xf32>, tensor<?x6xi32>) {
  // CHECK: dsv4.kernel @stored_scores_of_starts_0
  // CHECK: dsv4.kernel @stored_scores_of_starts_1
  %0 = dsv4.gate %g function sigmoid outs(%s : tensor<?x256xf32>) : tensor<?x256xf32>
  // REMARK: [[@LINE+1]]:8: remark: [Missed] dsv4-form-kernels {{.*}}'dsv4.gate': its result has other users, and the kernel would compute only parts of it
  %1 = dsv4.topk %0 starts(%b : tensor<?xi32>) outs(%i : tensor<?x6xi32>) : tensor<?x256xf32>
  return %0, %1 : tensor<?x256xf32>, tensor<?x6xi32>
}

// Elements of the logits are read again for the weights, so they must still be there.
// CHECK-LABEL: func.func @overwritten_scores
func.func @overwritten_scores(%g: tensor<?x256xf32>, %i: tensor<?x6xi32>, %w: tensor<?x6xf32>)
    -> (tensor<?x256xf32>, tensor<?x6xf32>) {
  // CHECK: dsv4.kernel @overwritten_scores_0
  // CHECK: dsv4.kernel @overwritten_scores_1
  %0 = dsv4.gate %g function sigmoid outs(%g : tensor<?x256xf32>) : tensor<?x256xf32>
  // REMARK: [[@LINE+1]]:8: remark: [Missed] dsv4-form-kernels {{.*}}'dsv4.gate': the kernel would store rows of 'dsv4.gate' and then read parts of what they overwrite
  %1 = dsv4.topk %0 order sorted outs(%i : tensor<?x6xi32>) : tensor<?x256xf32>
  %2 = dsv4.route_weights %0[%1] outs(%w : tensor<?x6xf32>) : tensor<?x256xf32>, tensor<?x6xi32>
  return %0, %2 : tensor<?x256xf32>, tensor<?x6xf32>
}

// Scales of groups do not fit every division of a row among lanes.
// CHECK-LABEL: func.func @stored_decoded
func.func @stored_decoded(%x: tensor<?x256xf8E4M3FN>, %f: tensor<?x2xf32>, %y: tensor<?x256xbf16>, %i: tensor<?x6xi32>)
    -> (tensor<?x256xbf16>, tensor<?x6xi32>) {
  // CHECK: dsv4.kernel @stored_decoded_0
  // CHECK: dsv4.kernel @stored_decoded_1
  %0 = dsv4.dequantize %x scales(%f : tensor<?x2xf32>) outs(%y : tensor<?x256xbf16>)
      {format = #dsv4.format<f8E4M3FN, [<f32 per 128>]>} : tensor<?x256xf8E4M3FN>
  // REMARK: [[@LINE+1]]:8: remark: [Missed] dsv4-form-kernels {{.*}}'dsv4.dequantize': its result has other users, and the kernel would compute only parts of it
  %1 = dsv4.topk %0 outs(%i : tensor<?x6xi32>) : tensor<?x256xbf16>
  return %0, %1 : tensor<?x256xbf16>, tensor<?x6xi32>
}

// Threads that find statistics of a row hold it.
// CHECK-LABEL: func.func @stored_scores_of_ids
func.func @stored_scores_of_ids(%g: tensor<?x256xf32>, %t: tensor<90x6xi32>, %d: tensor<?xi32>,
                                %s: tensor<?x256xf32>, %i: tensor<?x6xi32>, %w: tensor<?x6xf32>)
    -> (tensor<?x256xf32>, tensor<?x6xi32>, tensor<?x6xf32>) {
  // CHECK: %[[K:.*]]:3 = dsv4.kernel @stored_scores_of_ids(
  // CHECK: %[[S:.*]] = dsv4.gate
  // CHECK: %[[W:.*]] = dsv4.route_weights %[[S]]
  // CHECK-NOT: dsv4.kernel
  // CHECK: return %[[K]]
  %0 = dsv4.gate %g function softmax outs(%s : tensor<?x256xf32>) : tensor<?x256xf32>
  %1 = dsv4.lookup %t[%d] outs(%i : tensor<?x6xi32>) : tensor<90x6xi32>, tensor<?xi32>
  %2 = dsv4.route_weights %0[%1] outs(%w : tensor<?x6xf32>) : tensor<?x256xf32>, tensor<?x6xi32>
  return %0, %1, %2 : tensor<?x256xf32>, tensor<?x6xi32>, tensor<?x6xf32>
}

// Windows of tokens become entries in the kernel that stores them. The tokens go to the state in
// another one: no row of it comes from the first.
!state = !dsv4.cache<8 x <[<"values" : 1024 x f32 in row>, <"scores" : 1024 x f32 in row>]>>
// CHECK-LABEL: func.func @compressor
func.func @compressor(%x: tensor<?x1024xf32>, %p: tensor<?x4xi32>, %t: tensor<?x64xf32>,
                      %i: tensor<?xi32>, %j: tensor<?xi32>, %r: tensor<?xi32>, %l: tensor<?xi32>,
                      %s: !state, %c: !cache, %n: index) {
  // CHECK: dsv4.kernel @compressor_0(
  // CHECK: dsv4.compress
  // CHECK-NEXT: dsv4.rms_norm
  // CHECK-NEXT: dsv4.rope
  // CHECK-NEXT: dsv4.quantize
  // CHECK-NEXT: dsv4.paged_append
  // CHECK-NEXT: }
  // CHECK-NEXT: dsv4.kernel @compressor_1(
  // CHECK-NEXT: ^bb0
  // CHECK-NEXT: dsv4.paged_append
  // CHECK-NEXT: }
  // CHECK-NEXT: return
  %row = tensor.empty(%n) : tensor<?x512xbf16>
  %q = tensor.empty(%n) : tensor<?x448xf8E4M3FN>
  %f = tensor.empty(%n) : tensor<?x7xf8E8M0FNU>
  %0 = dsv4.compress %x, %x window 4 overlap plan(%p : tensor<?x4xi32>) state(%s : !state) ring 8
      outs(%row : tensor<?x512xbf16>) : tensor<?x1024xf32>, tensor<?x1024xf32>
  %1 = dsv4.rms_norm %0 outs(%row : tensor<?x512xbf16>) {eps = 1.0e-6 : f32} : tensor<?x512xbf16>
  %2 = dsv4.rope %1 table(%t : tensor<?x64xf32>) positions(%i : tensor<?xi32>)
      outs(%row : tensor<?x512xbf16>) : tensor<?x512xbf16>
  %3, %4 = dsv4.quantize %2 columns [0, 448]
      outs(%q, %f : tensor<?x448xf8E4M3FN>, tensor<?x7xf8E8M0FNU>)
      {format = #fp8, recipe = #up} : tensor<?x512xbf16>
  // REMARK: [[@LINE+1]]:3: remark: [Passed] dsv4-form-kernels {{.*}}compressor_0{{.*}}holds dsv4.compress dsv4.rms_norm dsv4.rope dsv4.quantize dsv4.paged_append
  dsv4.paged_append %c[%i] unique fields(%3, %2, %4
      : tensor<?x448xf8E4M3FN>, tensor<?x512xbf16>, tensor<?x7xf8E8M0FNU>) columns [0, 448, 0]
      : !cache, tensor<?xi32>
  // REMARK: [[@LINE+1]]:3: remark: [Passed] dsv4-form-kernels {{.*}}compressor_1{{.*}}holds dsv4.paged_append
  dsv4.paged_append %s[%j] ring 8 requests(%r : tensor<?xi32>) lengths(%l : tensor<?xi32>)
      fields(%x, %x : tensor<?x1024xf32>, tensor<?x1024xf32>) : !state, tensor<?xi32>
  return
}

// Tokens are projections, of which each entry reads several.
// CHECK-LABEL: func.func @normed_tokens
func.func @normed_tokens(%x: tensor<?x512xf32>, %p: tensor<?x4xi32>, %o: tensor<?x512xf32>,
                         %e: tensor<?x512xf32>) -> tensor<?x512xf32> {
  // CHECK: dsv4.kernel @normed_tokens_0
  // CHECK: dsv4.kernel @normed_tokens_1
  %0 = dsv4.rms_norm %x outs(%o : tensor<?x512xf32>) {eps = 1.0e-6 : f32} : tensor<?x512xf32>
  // REMARK: [[@LINE+1]]:8: remark: [Missed] dsv4-form-kernels {{.*}}not fused with 'dsv4.rms_norm': 'dsv4.compress' does not read this operand row by row
  %1 = dsv4.compress %0, %0 window 4 plan(%p : tensor<?x4xi32>)
      outs(%e : tensor<?x512xf32>) : tensor<?x512xf32>, tensor<?x512xf32>
  return %1 : tensor<?x512xf32>
}

// A kernel that wrote the cache it reads would depend on the order of its rows.
!both = !dsv4.cache<8 x <[<"values" : 512 x f32 in row>, <"scores" : 512 x f32 in row>]>>
// CHECK-LABEL: func.func @own_state
func.func @own_state(%x: tensor<?x512xf32>, %p: tensor<?x4xi32>, %i: tensor<?xi32>, %s: !both,
                     %e: tensor<?x512xf32>) {
  // CHECK: dsv4.kernel @own_state_0
  // CHECK: dsv4.compress
  // CHECK: dsv4.kernel @own_state_1
  // CHECK: dsv4.paged_append
  %0 = dsv4.compress %x, %x window 4 plan(%p : tensor<?x4xi32>) state(%s : !both) ring 8
      outs(%e : tensor<?x512xf32>) : tensor<?x512xf32>, tensor<?x512xf32>
  // REMARK: [[@LINE+1]]:3: remark: [Missed] dsv4-form-kernels {{.*}}not fused with 'dsv4.compress': the kernel would write the cache that it reads
  dsv4.paged_append %s[%i] unique fields(%0, %0 : tensor<?x512xf32>, tensor<?x512xf32>)
      : !both, tensor<?xi32>
  return
}

// As little as copies of entries within a cache.
#mx = #dsv4.format<f8E4M3FN, [<f8E8M0FNU per 32>]>
// CHECK-LABEL: func.func @own_entries
func.func @own_entries(%c: !one, %i: tensor<?xi32>, %j: tensor<?xi32>, %o: tensor<?x512xf32>,
                       %q: tensor<?x512xf8E4M3FN>, %f: tensor<?x16xf8E8M0FNU>) {
  // CHECK: dsv4.kernel @own_entries_0
  // CHECK: dsv4.paged_gather
  // CHECK: dsv4.kernel @own_entries_1
  // CHECK: dsv4.quantize
  // CHECK: dsv4.paged_append
  %0 = dsv4.paged_gather %c[%i] outs(%o : tensor<?x512xf32>) : !one, tensor<?xi32>
  %1, %2 = dsv4.quantize %0 outs(%q, %f : tensor<?x512xf8E4M3FN>, tensor<?x16xf8E8M0FNU>)
      {format = #mx, recipe = #up} : tensor<?x512xf32>
  dsv4.paged_append %c[%j] unique fields(%1, %2 : tensor<?x512xf8E4M3FN>, tensor<?x16xf8E8M0FNU>)
      : !one, tensor<?xi32>
  return
}

// The threads of a block pool windows for one op at a time.
// CHECK-LABEL: func.func @two_groups
func.func @two_groups(%x: tensor<?x512xf32>, %p: tensor<?x4xi32>, %i: tensor<?xi32>, %c: !both,
                     %a: tensor<?x512xf32>, %b: tensor<?x512xf32>) {
  // CHECK: dsv4.kernel @two_groups_0
  // CHECK: dsv4.compress
  // CHECK-NOT: dsv4.compress
  // CHECK: dsv4.kernel @two_groups_1
  // CHECK: dsv4.compress
  // CHECK: dsv4.paged_append
  %0 = dsv4.compress %x, %x window 4 plan(%p : tensor<?x4xi32>)
      outs(%a : tensor<?x512xf32>) : tensor<?x512xf32>, tensor<?x512xf32>
  %1 = dsv4.compress %x, %x window 4 plan(%p : tensor<?x4xi32>)
      outs(%b : tensor<?x512xf32>) : tensor<?x512xf32>, tensor<?x512xf32>
  // REMARK: [[@LINE+1]]:3: remark: [Missed] dsv4-form-kernels {{.*}}not fused with 'dsv4.compress': the kernel already has the block-cooperative 'dsv4.compress', and a kernel can have only one
  dsv4.paged_append %c[%i] unique fields(%0, %1 : tensor<?x512xf32>, tensor<?x512xf32>)
      : !both, tensor<?xi32>
  return
}

// A result that a region uses before the consumer keeps its op before the region.
// CHECK-LABEL: func.func @used_in_region
// CHECK: dsv4.kernel @used_in_region_0
// CHECK: scf.if
// CHECK: dsv4.kernel @used_in_region_1
func.func @used_in_region(%c: !dsv4.cache<64 x <v41_528>>, %i: tensor<?xi32>, %tmp: tensor<?x512xf32>,
                          %b: i1, %m: tensor<?xi1>, %s: tensor<?xf32>, %o: tensor<?x512xbf16>)
    -> (tensor<?x512xbf16>, tensor<?xi1>) {
  %0, %valid = dsv4.paged_gather %c[%i] outs(%tmp : tensor<?x512xf32>) mask(%m : tensor<?xi1>)
      : !dsv4.cache<64 x <v41_528>>, tensor<?xi32>
  %r = scf.if %b -> tensor<?xi1> {
    scf.yield %valid : tensor<?xi1>
  } else {
    scf.yield %m : tensor<?xi1>
  }
  %1 = dsv4.dequantize %0 scales(%s : tensor<?xf32>) outs(%o : tensor<?x512xbf16>)
      {format = #dsv4.format<f32, [<f32 per row>]>} : tensor<?x512xf32>
  return %1, %r : tensor<?x512xbf16>, tensor<?xi1>
}

// Rows that the gather leaves as they are belong to what the norm reads, so it reads all rows from memory.
// CHECK-LABEL: func.func @ragged
// CHECK: dsv4.kernel @ragged_0
// CHECK: dsv4.paged_gather
// CHECK: dsv4.kernel @ragged_1
// CHECK: dsv4.rms_norm
func.func @ragged(%c: !cache, %t: tensor<?x?xi32>, %n: tensor<?xi32>, %a: tensor<?x512xbf16>, %o: tensor<?x512xbf16>)
    -> tensor<?x512xbf16> {
  %0 = dsv4.paged_gather %c pages(%t : tensor<?x?xi32>) cu_seq_lens(%n : tensor<?xi32>) outs(%a : tensor<?x512xbf16>)
      : !cache
  // REMARK: [[@LINE+1]]:8: remark: [Missed] dsv4-form-kernels {{.*}}not fused with 'dsv4.paged_gather': 'dsv4.paged_gather' leaves some elements of its destination as they are, so 'dsv4.rms_norm' reads them from memory
  %1 = dsv4.rms_norm %0 outs(%o : tensor<?x512xbf16>) {eps = 1.0e-6 : f32} : tensor<?x512xbf16>
  return %1 : tensor<?x512xbf16>
}

// Stored fields are copied to memory.
// CHECK-LABEL: func.func @stored
// CHECK: dsv4.kernel @stored_0
// CHECK: dsv4.paged_gather
// CHECK: dsv4.kernel @stored_1
// CHECK: dsv4.dequantize
func.func @stored(%c: !dsv4.cache<64 x <index_fp8_132>>, %i: tensor<?xi32>, %k: tensor<?x128xf8E4M3FN>,
                  %s: tensor<?xf32>, %g: tensor<?xf32>, %o: tensor<?x128xbf16>) -> tensor<?x128xbf16> {
  %0:2 = dsv4.paged_gather %c[%i] fields(%k, %s : tensor<?x128xf8E4M3FN>, tensor<?xf32>)
      : !dsv4.cache<64 x <index_fp8_132>>, tensor<?xi32>
  // REMARK: [[@LINE+1]]:8: remark: [Missed] dsv4-form-kernels {{.*}}not fused with 'dsv4.paged_gather': {{.*}}it copies stored fields to memory
  %1 = dsv4.dequantize %0#0 scales(%g : tensor<?xf32>) outs(%o : tensor<?x128xbf16>)
      {format = #dsv4.format<f8E4M3FN, [<f32 per row>]>} : tensor<?x128xf8E4M3FN>
  return %1 : tensor<?x128xbf16>
}
