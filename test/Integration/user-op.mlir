// An op of a dialect outside of dsv4 joins kernels through its interfaces.

// The chain of the example is one kernel; what is between its ops stays in registers.
// RUN: dsv4-example-user-op --cuda %examples/user_op/user_op.mlir > %t.cu
// RUN: FileCheck %s --check-prefix=TEXT --input-file=%t.cu
// TEXT: // user.add_window_bias of f32 to f32, dsv4.paged_append of 8 x record
// TEXT: keep_biased(const float *__restrict__ values,
// TEXT: const bool has_position = position_1 >= 0;
// TEXT-NEXT: const int bias_row = position_1 % 4;
// TEXT: const auto bias_1 = dsv4::load_if<dsv4::Tile<float, 8, 4>>(has_position, &bias[bias_row * 1024 + offset], 512);
// TEXT: const auto biased = has_position ? x + bias_1 : x;
// TEXT-NEXT: if (valid) {
// TEXT-NEXT: dsv4::store(&state[entry + lane * 16], values_1, 512);
// TEXT-NEXT: dsv4::store(&state[entry + kStateScoresOffset + lane * 16], biased, 512);
// TEXT-NOT: __global__

// What the pipeline leaves has no op of the user, so dsv4's own tools take it.
// RUN: dsv4-user-op-check %examples/user_op/user_op.mlir | FileCheck %s --check-prefix=STATE
// STATE: the state is right

// RUN: dsv4-example-user-op %s | dsv4-example-user-op | FileCheck %s --check-prefix=PARSE
// RUN: dsv4-example-user-op %s --mlir-print-op-generic | dsv4-example-user-op | FileCheck %s --check-prefix=PARSE
// RUN: dsv4-example-user-op %s --dsv4-form-kernels --dsv4-select-schedule --convert-dsv4-to-row -o %t.row \
// RUN:   --remarks-filter=dsv4-form-kernels --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: FileCheck %s --input-file=%t.row

// It takes the row of an op before it. Its own position says where its bias is.
// PARSE-LABEL: func.func @after_a_norm
// PARSE: user.add_window_bias %{{.*}} bias(%{{.*}} : tensor<4x512xf32>) positions(%{{.*}} : tensor<?xi32>) outs(%{{.*}} : tensor<?x512xf32>) : tensor<?x512xf32>
// CHECK-LABEL: func.func @after_a_norm
// CHECK: row.reduce
// CHECK: %[[NORMED:.*]] = arith.mulf {{.*}} : vector<512xf32>
// CHECK: %[[POSITION:.*]] = arith.index_cast
// CHECK: %[[HAS:.*]] = arith.cmpi sge, %[[POSITION]]
// CHECK: %[[PLACE:.*]] = arith.remsi %[[POSITION]], %c4
// CHECK: %[[START:.*]] = arith.muli %[[PLACE]], %c512
// CHECK: %[[BIAS:.*]] = row.read %{{.*}}[%[[START]]] if %[[HAS]]
// CHECK: %[[SUM:.*]] = arith.addf %[[NORMED]], %[[BIAS]]
// CHECK: arith.select %[[HAS]], %[[SUM]], %[[NORMED]]
func.func @after_a_norm(%x: tensor<?x512xf32>, %bias: tensor<4x512xf32>, %position: tensor<?xi32>,
                         %out: tensor<?x512xf32>) -> tensor<?x512xf32> {
  %normed = dsv4.rms_norm %x outs(%out : tensor<?x512xf32>) {eps = 1.0e-06 : f32} : tensor<?x512xf32>
  // REMARK: [[@LINE+1]]:13: remark: [Passed] dsv4-form-kernels {{.*}}holds dsv4.rms_norm user.add_window_bias
  %biased = user.add_window_bias %normed bias(%bias : tensor<4x512xf32>) positions(%position : tensor<?xi32>)
      outs(%out : tensor<?x512xf32>) : tensor<?x512xf32>
  return %biased : tensor<?x512xf32>
}

// Rows of a table are read in another order than they are computed in: no fusion.
// CHECK-LABEL: func.func @table_computed
// CHECK: dsv4.kernel @table_computed_0
// CHECK: dsv4.kernel @table_computed_1
func.func @table_computed(%x: tensor<?x512xf32>, %bias: tensor<4x512xf32>, %position: tensor<?xi32>,
                          %table: tensor<4x512xf32>, %out: tensor<?x512xf32>) -> tensor<?x512xf32> {
  %normed = dsv4.rms_norm %bias outs(%table : tensor<4x512xf32>) {eps = 1.0e-06 : f32} : tensor<4x512xf32>
  // REMARK: [[@LINE+1]]:13: remark: [Missed] {{.*}}not fused with 'dsv4.rms_norm': 'user.add_window_bias' does not read this operand row by row
  %biased = user.add_window_bias %x bias(%normed : tensor<4x512xf32>) positions(%position : tensor<?xi32>)
      outs(%out : tensor<?x512xf32>) : tensor<?x512xf32>
  return %biased : tensor<?x512xf32>
}
