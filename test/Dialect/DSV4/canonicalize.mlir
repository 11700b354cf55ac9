// Folds, and what is dead. One function per fold, with a twin it does not apply to.

// RUN: dsv4-opt %s --canonicalize | FileCheck %s

// CHECK-LABEL: func.func @extent_static
func.func @extent_static(%t: tensor<?x512xi32>) -> index {
  // CHECK-NOT: dsv4.extent
  // CHECK: %[[C:.*]] = arith.constant 512 : index
  // CHECK: return %[[C]]
  %0 = dsv4.extent %t, 1 : tensor<?x512xi32>
  return %0 : index
}

// CHECK-LABEL: func.func @extent_dynamic
func.func @extent_dynamic(%t: tensor<?x512xi32>) -> index {
  // CHECK: %[[E:.*]] = dsv4.extent %{{.*}}, 0
  // CHECK: return %[[E]]
  %0 = dsv4.extent %t, 0 : tensor<?x512xi32>
  return %0 : index
}

// CHECK-LABEL: func.func @extent_of_cache
func.func @extent_of_cache(%c: !dsv4.cache<64 x <v4_584>>) -> index {
  // CHECK: %[[E:.*]] = dsv4.extent %{{.*}}, 0
  // CHECK: return %[[E]]
  %0 = dsv4.extent %c, 0 : !dsv4.cache<64 x <v4_584>>
  return %0 : index
}

// CHECK-LABEL: func.func @row_count_static
func.func @row_count_static(%t: tensor<4x8x512xi32>) -> index {
  // CHECK: %[[C:.*]] = arith.constant 32 : index
  // CHECK: return %[[C]]
  %0 = dsv4.row_count %t : tensor<4x8x512xi32>
  return %0 : index
}

// The last extent is not part of the count.
// CHECK-LABEL: func.func @row_count_per
func.func @row_count_per(%t: tensor<4x8x512xi32>) -> index {
  // The last group has two rows.
  // CHECK: %[[N:.*]] = arith.constant 7 : index
  // CHECK: return %[[N]]
  %0 = dsv4.row_count %t per 5 : tensor<4x8x512xi32>
  return %0 : index
}

// CHECK-LABEL: func.func @row_count_dynamic_row
func.func @row_count_dynamic_row(%t: tensor<4x8x?xi32>) -> index {
  // CHECK: %[[C:.*]] = arith.constant 32 : index
  // CHECK: return %[[C]]
  %0 = dsv4.row_count %t : tensor<4x8x?xi32>
  return %0 : index
}

// A tensor of rank 1 is one row.
// CHECK-LABEL: func.func @row_count_of_one
func.func @row_count_of_one(%t: tensor<?xi32>) -> index {
  // CHECK: %[[C:.*]] = arith.constant 1 : index
  // CHECK: return %[[C]]
  %0 = dsv4.row_count %t : tensor<?xi32>
  return %0 : index
}

// CHECK-LABEL: func.func @row_count_dynamic
func.func @row_count_dynamic(%t: tensor<?x8x512xi32>) -> index {
  // CHECK: %[[N:.*]] = dsv4.row_count
  // CHECK: return %[[N]]
  %0 = dsv4.row_count %t : tensor<?x8x512xi32>
  return %0 : index
}

// Reading a cache is not a reason to stay.
// CHECK-LABEL: func.func @dead_gather
func.func @dead_gather(%c: !dsv4.cache<64 x <v4_584>>, %i: tensor<?xi32>,
                       %o: tensor<?x512xbf16>) {
  // CHECK-NEXT: return
  %0 = dsv4.paged_gather %c[%i] outs(%o : tensor<?x512xbf16>)
      : !dsv4.cache<64 x <v4_584>>, tensor<?xi32>
  return
}

// CHECK-LABEL: func.func @dead_kernel
func.func @dead_kernel(%c: !dsv4.cache<64 x <v4_584>>, %i: tensor<?xi32>,
                       %o: tensor<?x512xbf16>) {
  // CHECK-NEXT: return
  %0 = dsv4.kernel @k(%c, %i, %o)
      : (!dsv4.cache<64 x <v4_584>>, tensor<?xi32>, tensor<?x512xbf16>) -> tensor<?x512xbf16> {
  ^bb0(%c1: !dsv4.cache<64 x <v4_584>>, %i1: tensor<?xi32>, %o1: tensor<?x512xbf16>):
    %r = dsv4.paged_gather %c1[%i1] outs(%o1 : tensor<?x512xbf16>)
        : !dsv4.cache<64 x <v4_584>>, tensor<?xi32>
    dsv4.yield %r : tensor<?x512xbf16>
  }
  return
}

// A kernel that writes memory stays.
// CHECK-LABEL: func.func @live_kernel
func.func @live_kernel(%o: tensor<?x8xf32>) {
  // CHECK: dsv4.kernel @k
  // CHECK: memref.store
  dsv4.kernel @k(%o) : (tensor<?x8xf32>) -> () {
  ^bb0(%o1: tensor<?x8xf32>):
    %m = dsv4.buffer %o1 : tensor<?x8xf32> to memref<?xf32>
    %c0 = arith.constant 0 : index
    %f = arith.constant 1.0 : f32
    memref.store %f, %m[%c0] : memref<?xf32>
  }
  return
}
