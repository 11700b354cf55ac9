// Row programs of dequantisations.

// RUN: dsv4-opt %s --convert-dsv4-to-row --cse --split-input-file | FileCheck %s

// Two levels of scales multiply in order.
// CHECK-LABEL: func.func @nvfp4
func.func @nvfp4(%d: tensor<?x512xf4E2M1FN>, %s: tensor<?x32xf8E4M3FN>, %g: tensor<?xf32>,
                 %o: tensor<?x512xbf16>) -> tensor<?x512xbf16> {
  // CHECK: dsv4.summary = "dsv4.dequantize of f4E2M1FN to bf16"
  // CHECK: ^bb0(%[[D:.*]]: tensor<?x512xf4E2M1FN>, %[[S:.*]]: tensor<?x32xf8E4M3FN>, %[[G:.*]]: tensor<?xf32>, %[[O:.*]]: tensor<?x512xbf16>):
  // CHECK-DAG: %[[DM:.*]] = dsv4.buffer %[[D]] : tensor<?x512xf4E2M1FN> to memref<?xi8>
  // CHECK-DAG: %[[SM:.*]] = dsv4.buffer %[[S]] : tensor<?x32xf8E4M3FN> to memref<?xf8E4M3FN>
  // CHECK-DAG: %[[GM:.*]] = dsv4.buffer %[[G]] : tensor<?xf32> to memref<?xf32>
  // CHECK: scf.forall (%[[ROW:.*]]) in
  // CHECK-DAG: %[[AD:.*]] = arith.muli %[[ROW]], %c256
  // CHECK-DAG: %[[AS:.*]] = arith.muli %[[ROW]], %c32{{$| :}}
  // CHECK: %[[LD:.*]] = row.read %[[DM]][%[[AD]]] {align = 16 : i64} : memref<?xi8> -> vector<512xf4E2M1FN>
  // CHECK: %[[LS:.*]] = row.read %[[SM]][%[[AS]]] {align = 16 : i64} : memref<?xf8E4M3FN> -> vector<32xf8E4M3FN>
  // CHECK: %[[LG:.*]] = row.read %[[GM]][%[[ROW]]] {align = 4 : i64} : memref<?xf32> -> vector<1xf32>
  // CHECK: %[[X:.*]] = arith.extf %[[LD]] : vector<512xf4E2M1FN> to vector<512xf32>
  // CHECK: %[[S32:.*]] = arith.extf %[[LS]] : vector<32xf8E4M3FN> to vector<32xf32>
  // CHECK: %[[SE:.*]] = row.expand %[[S32]] : vector<32xf32> to vector<512xf32>
  // CHECK: %[[Y:.*]] = arith.mulf %[[X]], %[[SE]]
  // CHECK: %[[GE:.*]] = row.expand %[[LG]] : vector<1xf32> to vector<512xf32>
  // CHECK: %[[Z:.*]] = arith.mulf %[[Y]], %[[GE]]
  // CHECK: %[[B:.*]] = arith.truncf %[[Z]]
  // CHECK: row.write %[[B]]
  %0 = dsv4.kernel @k(%d, %s, %g, %o)
      : (tensor<?x512xf4E2M1FN>, tensor<?x32xf8E4M3FN>, tensor<?xf32>, tensor<?x512xbf16>) -> tensor<?x512xbf16> {
  ^bb0(%d1: tensor<?x512xf4E2M1FN>, %s1: tensor<?x32xf8E4M3FN>, %g1: tensor<?xf32>, %o1: tensor<?x512xbf16>):
    %r = dsv4.dequantize %d1 scales(%s1, %g1 : tensor<?x32xf8E4M3FN>, tensor<?xf32>)
        outs(%o1 : tensor<?x512xbf16>)
        {format = #dsv4.format<f4E2M1FN, [<f8E4M3FN per 16>, <f32 per row>]>} : tensor<?x512xf4E2M1FN>
    dsv4.yield %r : tensor<?x512xbf16>
  }
  return %0 : tensor<?x512xbf16>
}

// -----

// Integers, one scale for all; rows of rank 3.
// CHECK-LABEL: func.func @int4
func.func @int4(%d: tensor<4x?x64xi4>, %s: tensor<1xbf16>, %o: tensor<4x?x64xf32>) -> tensor<4x?x64xf32> {
  // CHECK: dsv4.row_count
  // CHECK: row.read %{{.*}} : memref<?xi8> -> vector<64xi4>
  // CHECK: row.read %{{.*}}[%c0] {align = {{[0-9]+}} : i64} : memref<?xbf16> -> vector<1xbf16>
  // CHECK: arith.sitofp %{{.*}} : vector<64xi4> to vector<64xf32>
  // CHECK: arith.extf %{{.*}} : vector<1xbf16> to vector<1xf32>
  // CHECK-NOT: arith.truncf
  // CHECK: row.write %{{.*}} : vector<64xf32>, memref<?xf32>
  %0 = dsv4.kernel @k(%d, %s, %o) : (tensor<4x?x64xi4>, tensor<1xbf16>, tensor<4x?x64xf32>) -> tensor<4x?x64xf32> {
  ^bb0(%d1: tensor<4x?x64xi4>, %s1: tensor<1xbf16>, %o1: tensor<4x?x64xf32>):
    %r = dsv4.dequantize %d1 scales(%s1 : tensor<1xbf16>) outs(%o1 : tensor<4x?x64xf32>)
        {format = #dsv4.format<i4, [<bf16 per tensor>]>} : tensor<4x?x64xi4>
    dsv4.yield %r : tensor<4x?x64xf32>
  }
  return %0 : tensor<4x?x64xf32>
}

// -----

// Extents that are known are constants.
// CHECK-LABEL: func.func @static
func.func @static(%d: tensor<4x8x64xf8E4M3FN>, %s: tensor<4x8xf32>, %o: tensor<4x8x64xf32>) -> tensor<4x8x64xf32> {
  // CHECK-NOT: dsv4.row_count
  // CHECK: scf.forall (%{{.*}}) in ({{%c32|32}})
  %0 = dsv4.kernel @k(%d, %s, %o) : (tensor<4x8x64xf8E4M3FN>, tensor<4x8xf32>, tensor<4x8x64xf32>) -> tensor<4x8x64xf32> {
  ^bb0(%d1: tensor<4x8x64xf8E4M3FN>, %s1: tensor<4x8xf32>, %o1: tensor<4x8x64xf32>):
    %r = dsv4.dequantize %d1 scales(%s1 : tensor<4x8xf32>) outs(%o1 : tensor<4x8x64xf32>)
        {format = #dsv4.format<f8E4M3FN, [<f32 per row>]>} : tensor<4x8x64xf8E4M3FN>
    dsv4.yield %r : tensor<4x8x64xf32>
  }
  return %0 : tensor<4x8x64xf32>
}

// -----

// Scales in blocks: a run of four groups in each, of rows that the tensor has in whole blocks.
// CHECK-LABEL: func.func @swizzled
// CHECK-DAG: %[[BLOCK:.*]] = arith.divsi %[[ROW:.*]], %c128
// CHECK-DAG: %[[IN:.*]] = arith.remsi %[[ROW]], %c128
// CHECK-DAG: %[[START:.*]] = arith.muli %[[BLOCK]], %c1024
// CHECK-DAG: %[[BLOCKS:.*]] = arith.divsi %{{.*}}, %c128
// CHECK: %[[HAS:.*]] = arith.cmpi slt, %[[BLOCK]], %[[BLOCKS]]
// CHECK: row.read %{{.*}} if %[[HAS]] stride %c512 {run = 4 : i64} : memref<?xf8E4M3FN> -> vector<7xf8E4M3FN>
func.func @swizzled(%d: tensor<?x112xf4E2M1FN>, %s: tensor<?x8xf8E4M3FN>, %o: tensor<?x112xbf16>) -> tensor<?x112xbf16> {
  %0 = dsv4.kernel @k(%d, %s, %o) : (tensor<?x112xf4E2M1FN>, tensor<?x8xf8E4M3FN>, tensor<?x112xbf16>) -> tensor<?x112xbf16> {
  ^bb0(%d1: tensor<?x112xf4E2M1FN>, %s1: tensor<?x8xf8E4M3FN>, %o1: tensor<?x112xbf16>):
    %r = dsv4.dequantize %d1 scales swizzle_128x4(%s1 : tensor<?x8xf8E4M3FN>) outs(%o1 : tensor<?x112xbf16>)
        {format = #dsv4.format<f4E2M1FN, [<f8E4M3FN per 16>]>} : tensor<?x112xf4E2M1FN>
    dsv4.yield %r : tensor<?x112xbf16>
  }
  return %0 : tensor<?x112xbf16>
}

// -----

// Four exponents of a word: they are counted, and not the words.
// CHECK-LABEL: func.func @packed
// CHECK: ^bb0(%{{.*}}, %[[S:.*]]: tensor<2x?xi32>, %{{.*}}):
// CHECK: %[[ROWS:.*]] = dsv4.extent %[[S]], 1
// CHECK: scf.forall (%[[ROW:.*]]) in
// CHECK-DAG: %[[AT:.*]] = arith.muli %[[ROW]], %c4
// CHECK-DAG: %[[STRIDE:.*]] = arith.muli %[[ROWS]], %c4
// CHECK-DAG: %[[HAS:.*]] = arith.cmpi slt, %[[ROW]], %[[ROWS]]
// CHECK: row.read %{{.*}}[%[[AT]]] if %[[HAS]] stride %[[STRIDE]] {run = 4 : i64} : memref<?xi32> -> vector<5xf8E8M0FNU>
func.func @packed(%d: tensor<?x640xf8E4M3FN>, %s: tensor<2x?xi32>, %o: tensor<?x640xbf16>) -> tensor<?x640xbf16> {
  %0 = dsv4.kernel @k(%d, %s, %o) : (tensor<?x640xf8E4M3FN>, tensor<2x?xi32>, tensor<?x640xbf16>) -> tensor<?x640xbf16> {
  ^bb0(%d1: tensor<?x640xf8E4M3FN>, %s1: tensor<2x?xi32>, %o1: tensor<?x640xbf16>):
    %r = dsv4.dequantize %d1 scales packed(%s1 : tensor<2x?xi32>) outs(%o1 : tensor<?x640xbf16>)
        {format = #dsv4.format<f8E4M3FN, [<f8E8M0FNU per 128>]>} : tensor<?x640xf8E4M3FN>
    dsv4.yield %r : tensor<?x640xbf16>
  }
  return %0 : tensor<?x640xbf16>
}
