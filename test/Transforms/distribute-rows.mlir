// Rows to threads, row vectors to lanes: element e belongs to step s, lane l and
// element v of its vector with e = (s * lanes + l) * vector + v.

// RUN: dsv4-opt %s --convert-dsv4-to-row --cse --dsv4-distribute-rows --cse | FileCheck %s

!v4 = !dsv4.cache<64 x <v4_584>>
!mx = !dsv4.cache<64 x <mxfp4_368>>
!nv = !dsv4.cache<64 x <nvfp4_352>>
!i8 = !dsv4.cache<1 x <index_fp8_132>>

// 8 lanes per row, 16 rows per block.
// CHECK-LABEL: func.func @lanes
func.func @lanes(%c: !v4, %i: tensor<?xi32>, %o: tensor<?x512xbf16>, %m: tensor<?xi1>)
    -> (tensor<?x512xbf16>, tensor<?xi1>) {
  // CHECK: %[[ROWS:.*]] = dsv4.row_count
  // CHECK-NOT: scf.forall
  // CHECK: %[[THREAD:.*]] = gpu.thread_id{{ +}}x upper_bound 128
  // A launch has less than 2^31 rows.
  // CHECK: %[[BLOCK:.*]] = gpu.block_id{{ +}}x upper_bound 134217728
  // CHECK: %[[LANE:.*]] = arith.remui %[[THREAD]], %c8
  // CHECK: %[[INBLOCK:.*]] = arith.divui %[[THREAD]], %c8
  // CHECK: %[[FIRST:.*]] = arith.muli %[[BLOCK]], %c16
  // CHECK: %[[ROW:.*]] = arith.addi %[[FIRST]], %[[INBLOCK]]
  // CHECK: %[[INSIDE:.*]] = arith.cmpi slt, %[[ROW]], %[[ROWS]]
  // CHECK: scf.if %[[INSIDE]] {
  // Seven steps of 64 elements; a lane has 8 of each.
  // CHECK: %[[OFF8:.*]] = arith.muli %[[LANE]], %c8
  // CHECK: %[[AT:.*]] = arith.addi %{{.*}}, %[[OFF8]]
  // CHECK: %[[DATA:.*]] = cuda.load %{{.*}}[%[[AT]]] if %{{.*}} stride 64 : memref<?xi8>, index -> vector<7x8xf8E4M3FN>
  // A scale covers a whole step: every lane reads all of them.
  // CHECK: %[[STORED_SCALES:.*]] = cuda.load %{{.*}} if %{{.*}} : memref<?xi8>, index -> vector<8xf8E8M0FNU>
  // CHECK-NEXT: %[[SEVEN:.*]] = vector.extract_strided_slice %[[STORED_SCALES]] {offsets = [0], sizes = [7], strides = [1]}
  // CHECK: %[[OFF16:.*]] = arith.muli %[[LANE]], %c16
  // CHECK: %[[ROPE:.*]] = cuda.load %{{.*}} if %{{.*}} : memref<?xi8>, index -> vector<1x8xbf16>
  // All loads stand before the arithmetic, and that before the stores.
  // CHECK-NOT: cuda.load
  // CHECK: %[[WIDE:.*]] = arith.extf %[[DATA]] : vector<7x8xf8E4M3FN> to vector<7x8xf32>
  // CHECK: %[[BY:.*]] = arith.extf %[[SEVEN]]
  // CHECK: %[[EACH:.*]] = cuda.expand %[[BY]] : vector<7xf32> to vector<7x8xf32>
  // CHECK: %[[PRODUCT:.*]] = arith.mulf %[[WIDE]], %[[EACH]] : vector<7x8xf32>
  // CHECK: %[[VALUES:.*]] = arith.truncf %[[PRODUCT]] : vector<7x8xf32> to vector<7x8xbf16>
  // CHECK: cuda.store %[[VALUES]], %{{.*}} stride 64 : vector<7x8xbf16>, memref<?xbf16>, index
  // CHECK: cuda.store %[[ROPE]], %{{.*}} : vector<1x8xbf16>, memref<?xbf16>, index
  // The mask has one element per row: the first lane writes it.
  // CHECK: %[[IS0:.*]] = arith.cmpi eq, %[[LANE]], %c0
  // CHECK: scf.if %[[IS0]] {
  // CHECK-NEXT: memref.store %{{.*}}, %{{.*}}[%[[ROW]]] : memref<?xi8>
  %0:2 = dsv4.kernel @k(%c, %i, %o, %m) schedule <threads = 128, parts = [#dsv4.rows<lanes = 8, vector = 8>]>
      : (!v4, tensor<?xi32>, tensor<?x512xbf16>, tensor<?xi1>) -> (tensor<?x512xbf16>, tensor<?xi1>) {
  ^bb0(%c1: !v4, %i1: tensor<?xi32>, %o1: tensor<?x512xbf16>, %m1: tensor<?xi1>):
    %r, %v = dsv4.paged_gather %c1[%i1] outs(%o1 : tensor<?x512xbf16>) mask(%m1 : tensor<?xi1>) : !v4, tensor<?xi32>
    dsv4.yield %r, %v : tensor<?x512xbf16>, tensor<?xi1>
  }
  return %0#0, %0#1 : tensor<?x512xbf16>, tensor<?xi1>
}

// One lane per row: no lane arithmetic, no guard of the mask; streaming stores.
// CHECK-LABEL: func.func @one_lane
func.func @one_lane(%c: !i8, %i: tensor<?xi32>, %o: tensor<?x128xf32>, %m: tensor<?xi1>)
    -> (tensor<?x128xf32>, tensor<?xi1>) {
  // CHECK: gpu.thread_id{{ +}}x upper_bound 32
  // CHECK: gpu.block_id{{ +}}x upper_bound 67108864
  // CHECK-NOT: arith.remui
  // The page of one entry has 132 bytes: 4 is all that is known of an address.
  // CHECK: cuda.load %{{.*}} if %{{.*}} stride 32 align 4 : memref<?xi8>, index -> vector<4x32xf8E4M3FN>
  // CHECK: cuda.load %{{.*}} if %{{.*}} : memref<?xi8>, index -> vector<1xf32>
  // CHECK: cuda.expand %{{.*}} : vector<1xf32> to vector<4x32xf32>
  // CHECK: cuda.store %{{.*}} stride 32 streaming : vector<4x32xf32>
  // CHECK-NOT: scf.if
  // CHECK: memref.store
  %0:2 = dsv4.kernel @k(%c, %i, %o, %m) schedule <threads = 32, parts = [#dsv4.rows<lanes = 1, vector = 32, store = streaming>]>
      : (!i8, tensor<?xi32>, tensor<?x128xf32>, tensor<?xi1>) -> (tensor<?x128xf32>, tensor<?xi1>) {
  ^bb0(%c1: !i8, %i1: tensor<?xi32>, %o1: tensor<?x128xf32>, %m1: tensor<?xi1>):
    %r, %v = dsv4.paged_gather %c1[%i1] outs(%o1 : tensor<?x128xf32>) mask(%m1 : tensor<?xi1>) : !i8, tensor<?xi32>
    dsv4.yield %r, %v : tensor<?x128xf32>, tensor<?xi1>
  }
  return %0#0, %0#1 : tensor<?x128xf32>, tensor<?xi1>
}

// Groups of 32, vectors of 8: four lanes share a scale.
// CHECK-LABEL: func.func @group_over_lanes
func.func @group_over_lanes(%c: !mx, %i: tensor<?xi32>, %o: tensor<?x512xbf16>) -> tensor<?x512xbf16> {
  // CHECK: %[[LANE:.*]] = arith.remui
  // CHECK: cuda.load %{{.*}} stride 32 : memref<?xi8>, index -> vector<7x8xf4E2M1FN>
  // CHECK: %[[FOURTH:.*]] = arith.divsi %[[LANE]], %c4
  // CHECK: %[[AT:.*]] = arith.addi %{{.*}}, %[[FOURTH]]
  // CHECK: cuda.load %{{.*}}[%[[AT]]] if %{{.*}} stride 2 : memref<?xi8>, index -> vector<7x1xf8E8M0FNU>
  // CHECK: cuda.expand %{{.*}} : vector<7x1xf32> to vector<7x8xf32>
  %0 = dsv4.kernel @k(%c, %i, %o) schedule <threads = 128, parts = [#dsv4.rows<lanes = 8, vector = 8>]>
      : (!mx, tensor<?xi32>, tensor<?x512xbf16>) -> tensor<?x512xbf16> {
  ^bb0(%c1: !mx, %i1: tensor<?xi32>, %o1: tensor<?x512xbf16>):
    %r = dsv4.paged_gather %c1[%i1] outs(%o1 : tensor<?x512xbf16>) : !mx, tensor<?xi32>
    dsv4.yield %r : tensor<?x512xbf16>
  }
  return %0 : tensor<?x512xbf16>
}

// Groups of 16, vectors of 32: a vector has two scales.
// CHECK-LABEL: func.func @groups_in_vector
func.func @groups_in_vector(%d: tensor<?x512xf4E2M1FN>, %s: tensor<?x32xf8E4M3FN>, %o: tensor<?x512xbf16>) -> tensor<?x512xbf16> {
  // CHECK: %[[LANE:.*]] = arith.remui
  // CHECK: cuda.load %{{.*}} stride 128 : memref<?xi8>, index -> vector<2x32xf4E2M1FN>
  // CHECK: %[[TWO:.*]] = arith.muli %[[LANE]], %c2
  // CHECK: cuda.load %{{.*}} stride 16 : memref<?xf8E4M3FN>, index -> vector<2x2xf8E4M3FN>
  // CHECK: cuda.expand %{{.*}} : vector<2x2xf32> to vector<2x32xf32>
  %0 = dsv4.kernel @k(%d, %s, %o) schedule <threads = 128, parts = [#dsv4.rows<lanes = 8, vector = 32>]>
      : (tensor<?x512xf4E2M1FN>, tensor<?x32xf8E4M3FN>, tensor<?x512xbf16>) -> tensor<?x512xbf16> {
  ^bb0(%d1: tensor<?x512xf4E2M1FN>, %s1: tensor<?x32xf8E4M3FN>, %o1: tensor<?x512xbf16>):
    %r = dsv4.dequantize %d1 scales(%s1 : tensor<?x32xf8E4M3FN>) outs(%o1 : tensor<?x512xbf16>)
        {format = #dsv4.format<f4E2M1FN, [<f8E4M3FN per 16>]>} : tensor<?x512xf4E2M1FN>
    dsv4.yield %r : tensor<?x512xbf16>
  }
  return %0 : tensor<?x512xbf16>
}

// Interleaved scales: a step is four scales, a lane and the next are 8 apart.
// CHECK-LABEL: func.func @interleaved
func.func @interleaved(%c: !nv, %i: tensor<?xi32>, %o: tensor<?x576xbf16>) -> tensor<?x576xbf16> {
  // CHECK: %[[LANE:.*]] = arith.remui
  // CHECK: %[[GROUP:.*]] = arith.divsi %[[LANE]], %c2
  // CHECK: %[[AT:.*]] = arith.muli %[[GROUP]], %c8
  // CHECK: cuda.load %{{.*}} stride 1 : memref<?xi8>, index -> vector<8x1xf8E4M3FN>
  %0 = dsv4.kernel @k(%c, %i, %o) schedule <threads = 128, parts = [#dsv4.rows<lanes = 8, vector = 8>]>
      : (!nv, tensor<?xi32>, tensor<?x576xbf16>) -> tensor<?x576xbf16> {
  ^bb0(%c1: !nv, %i1: tensor<?xi32>, %o1: tensor<?x576xbf16>):
    %r = dsv4.paged_gather %c1[%i1] outs(%o1 : tensor<?x576xbf16>) : !nv, tensor<?xi32>
    dsv4.yield %r : tensor<?x576xbf16>
  }
  return %0 : tensor<?x576xbf16>
}

// 7 vectors for 4 lanes: three of them have two. What is after the row changes no sum.
// CHECK-LABEL: func.func @uneven
func.func @uneven(%x: tensor<?x14xf32>, %o: tensor<?x14xf32>) -> tensor<?x14xf32> {
  // CHECK: %[[LANE:.*]] = arith.remui
  // CHECK: %[[HAS:.*]] = arith.cmpi slt, %[[LANE]], %c3
  // CHECK: %[[CHUNKS:.*]] = arith.select %[[HAS]], %c2, %c1
  // CHECK: %[[X:.*]] = cuda.load %{{.*}} vectors %[[CHUNKS]] : index stride 8 : memref<?xf32>, index -> vector<2x2xf32>
  // CHECK: %[[ALL:.*]] = cuda.keep_vectors %[[X]], %[[CHUNKS]] otherwise 0xFF800000 : vector<2x2xf32>, index
  // CHECK: cuda.reduce max_nan %[[ALL]] per 16 lanes 4 : vector<2x2xf32> to vector<1xf32>
  // CHECK: %[[POWERS:.*]] = row.activation exp
  // CHECK: %[[SUMMED:.*]] = cuda.keep_vectors %[[POWERS]], %[[CHUNKS]] otherwise -0.000000e+00
  // CHECK: cuda.reduce sum %[[SUMMED]] per 16 lanes 4
  // CHECK: cuda.store %{{.*}} vectors %[[CHUNKS]] : index stride 8 : vector<2x2xf32>, memref<?xf32>, index
  %0 = dsv4.kernel @k(%x, %o) schedule <threads = 128, parts = [#dsv4.rows<lanes = 4, vector = 2>]>
      : (tensor<?x14xf32>, tensor<?x14xf32>) -> tensor<?x14xf32> {
  ^bb0(%a: tensor<?x14xf32>, %b: tensor<?x14xf32>):
    %r = dsv4.gate %a function softmax outs(%b : tensor<?x14xf32>) : tensor<?x14xf32>
    dsv4.yield %r : tensor<?x14xf32>
  }
  return %0 : tensor<?x14xf32>
}
