// Addresses of operands with strides: an index for each axis, times its stride.

// RUN: dsv4-opt %s --convert-dsv4-to-row --cse | FileCheck %s

// Axes whose elements follow each other are as one: only q needs the head. An alignment of 2 limits accesses.
// CHECK-LABEL: dsv4.kernel @heads
// CHECK: %[[STRIDE:.*]] = dsv4.stride %{{.*}}, 0 : tensor<?x64x512xbf16>
// CHECK: scf.forall (%[[ROW:.*]]) in
// CHECK: %[[HEAD:.*]] = arith.remsi %[[ROW]], %c64
// CHECK: %[[INNER:.*]] = arith.muli %[[HEAD]], %c576
// CHECK: %[[TOKEN:.*]] = arith.divsi %[[ROW]], %c64
// CHECK: %[[OUTER:.*]] = arith.muli %[[TOKEN]], %[[STRIDE]]
// CHECK: %[[START:.*]] = arith.addi %[[OUTER]], %[[INNER]]
// CHECK: row.read %{{.*}}[%[[START]]] {align = 16 : i64}
// CHECK: %[[OUT:.*]] = arith.muli %[[ROW]], %c512
// CHECK: row.write %{{.*}}, %{{.*}}[%[[OUT]]] {align = 2 : i64}
func.func @heads(%q: tensor<?x64x512xbf16> {dsv4.strides = #dsv4.strides<[?, 1152]>},
                 %o: tensor<?x64x512xbf16> {dsv4.strides = #dsv4.strides<[65536, 1024], align = 2>})
    -> tensor<?x64x512xbf16> {
  %0 = dsv4.kernel @heads(%q, %o) : (tensor<?x64x512xbf16>, tensor<?x64x512xbf16>) -> tensor<?x64x512xbf16> {
  ^bb0(%a: tensor<?x64x512xbf16>, %b: tensor<?x64x512xbf16>):
    %1 = dsv4.rms_norm %a outs(%b : tensor<?x64x512xbf16>) {eps = 1.0e-6 : f32} : tensor<?x64x512xbf16>
    dsv4.yield %1 : tensor<?x64x512xbf16>
  }
  return %0 : tensor<?x64x512xbf16>
}

// Each buffer of a cache has a stride of pages.
!cache = !dsv4.cache<64 x <[<"k" : 128 x f8E4M3FN in row>, <"s" : 1 x f32 in array scales "k" per row>]>>
// CHECK-LABEL: dsv4.kernel @gather
// CHECK-DAG: %[[PAGES:.*]] = dsv4.stride %{{[a-z0-9_]+}}, 0 : !dsv4.cache
// CHECK-DAG: %[[ARRAY:.*]] = dsv4.stride %{{[a-z0-9_]+}}["s"], 0 : !dsv4.cache
// CHECK: scf.forall
// CHECK: %[[INDEX:.*]] = arith.index_cast
// CHECK: %[[PAGE:.*]] = arith.divsi %[[INDEX]], %c64
// CHECK: %[[SLOT:.*]] = arith.remsi %[[INDEX]], %c64
// CHECK-DAG: arith.muli %[[PAGE]], %[[PAGES]]
// CHECK-DAG: %[[ARRAY_PAGE:.*]] = arith.muli %[[PAGE]], %[[ARRAY]]
// CHECK-DAG: %[[BYTES:.*]] = row.constant "arg0_s_bytes" = 4
// CHECK-DAG: %[[ARRAY_SLOT:.*]] = arith.muli %[[SLOT]], %[[BYTES]]
// CHECK-DAG: %[[AT:.*]] = arith.addi %[[ARRAY_PAGE]], %[[ARRAY_SLOT]]
// CHECK-DAG: row.read %{{.*}}[%[[AT]]] if %{{.*}} {align = 4 : i64}
func.func @gather(%c: !cache {dsv4.strides = #dsv4.strides<[?], align = 8>}, %i: tensor<?xi32>, %o: tensor<?x128xbf16>)
    -> tensor<?x128xbf16> {
  %0 = dsv4.kernel @gather(%c, %i, %o) : (!cache, tensor<?xi32>, tensor<?x128xbf16>) -> tensor<?x128xbf16> {
  ^bb0(%a: !cache, %b: tensor<?xi32>, %d: tensor<?x128xbf16>):
    %1 = dsv4.paged_gather %a[%b] outs(%d : tensor<?x128xbf16>) : !cache, tensor<?xi32>
    dsv4.yield %1 : tensor<?x128xbf16>
  }
  return %0 : tensor<?x128xbf16>
}

// The bias of a member that may be anywhere is found with the member; where all are in the launch, it is read at an
// offset.
// CHECK-LABEL: dsv4.kernel @bias
// CHECK: %[[STRIDE:.*]] = dsv4.stride %[[BIAS:.*]], 0 : tensor<4x32xf32>
// CHECK: } else {
// CHECK: %[[AT:.*]] = arith.muli %{{.*}}, %[[STRIDE]]
// CHECK: %[[MEMORY:.*]] = row.bytes %[[BUFFER:.*]][%{{.*}}] : memref<?xf32> to memref<?xi8>
// CHECK-NEXT: row.read %[[MEMORY]][%c0] {align = 16 : i64} : memref<?xi8> -> vector<32xf32>
// CHECK: } offsets {
// CHECK: row.read %[[BUFFER]][%{{.*}}] {align = 16 : i64} : memref<?xf32> -> vector<32xf32>
func.func @bias(%x: tensor<?x32xf32>, %p: tensor<?x4xi32>, %b: tensor<4x32xf32> {dsv4.strides = #dsv4.strides<[?]>},
                %o: tensor<?x32xf32>) -> tensor<?x32xf32> {
  %0 = dsv4.kernel @bias(%x, %p, %b, %o)
      : (tensor<?x32xf32>, tensor<?x4xi32>, tensor<4x32xf32>, tensor<?x32xf32>) -> tensor<?x32xf32> {
  ^bb0(%v: tensor<?x32xf32>, %q: tensor<?x4xi32>, %a: tensor<4x32xf32>, %d: tensor<?x32xf32>):
    %1 = dsv4.compress %v, %v window 4 plan(%q : tensor<?x4xi32>) bias(%a : tensor<4x32xf32>)
        outs(%d : tensor<?x32xf32>) : tensor<?x32xf32>, tensor<?x32xf32>
    dsv4.yield %1 : tensor<?x32xf32>
  }
  return %0 : tensor<?x32xf32>
}
