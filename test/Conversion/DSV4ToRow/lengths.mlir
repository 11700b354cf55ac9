// Which length a row of a gather or an append is compared with.

// RUN: dsv4-opt %s --convert-dsv4-to-row --cse | FileCheck %s

!cache = !dsv4.cache<4 x <[<"a" : 64 x bf16 in row>]>>

// The length is loaded at the request, and only where there is one.
// CHECK-LABEL: func.func @gather
// CHECK: ^bb0(%{{.*}}, %{{.*}}, %[[T:.*]]: tensor<?x?xi32>, %[[R:.*]]: tensor<?xi32>, %[[L:.*]]: tensor<?xi32>, %{{.*}}):
// CHECK-DAG: %[[REQUESTS:.*]] = dsv4.extent %[[T]], 0 :
// CHECK-DAG: %[[RM:.*]] = dsv4.buffer %[[R]]
// CHECK-DAG: %[[LM:.*]] = dsv4.buffer %[[L]]
// CHECK: %[[R32:.*]] = memref.load %[[RM]]
// CHECK: %[[REQUEST:.*]] = arith.index_cast %[[R32]]
// CHECK: arith.cmpi slt, %[[REQUEST]], %[[REQUESTS]]
// CHECK: %[[L32:.*]] = scf.if %{{.*}} -> (i32) {
// CHECK-NEXT: memref.load %[[LM]][%[[REQUEST]]]
// CHECK: %[[LENGTH:.*]] = arith.index_cast %[[L32]]
// CHECK: arith.cmpi slt, %{{.*}}, %[[LENGTH]]
func.func @gather(%c: !cache, %i: tensor<?x?xi32>, %t: tensor<?x?xi32>, %r: tensor<?xi32>, %l: tensor<?xi32>,
                  %o: tensor<?x?x64xbf16>) -> tensor<?x?x64xbf16> {
  %0 = dsv4.kernel @k(%c, %i, %t, %r, %l, %o)
      : (!cache, tensor<?x?xi32>, tensor<?x?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<?x?x64xbf16>)
        -> tensor<?x?x64xbf16> {
  ^bb0(%c1: !cache, %i1: tensor<?x?xi32>, %t1: tensor<?x?xi32>, %r1: tensor<?xi32>, %l1: tensor<?xi32>,
       %o1: tensor<?x?x64xbf16>):
    %rows = dsv4.paged_gather %c1[%i1] pages(%t1 : tensor<?x?xi32>) requests(%r1 : tensor<?xi32>)
        lengths per request(%l1 : tensor<?xi32>) outs(%o1 : tensor<?x?x64xbf16>) : !cache, tensor<?x?xi32>
    dsv4.yield %rows : tensor<?x?x64xbf16>
  }
  return %0 : tensor<?x?x64xbf16>
}

// The length is that of the token; a request need only not be negative.
// CHECK-LABEL: func.func @append
// CHECK: ^bb0(%{{.*}}, %{{.*}}, %[[R:.*]]: tensor<?xi32>, %[[L:.*]]: tensor<?xi32>, %{{.*}}):
// CHECK-DAG: %[[RM:.*]] = dsv4.buffer %[[R]]
// CHECK-DAG: %[[LM:.*]] = dsv4.buffer %[[L]]
// CHECK: scf.forall (%[[ROW:.*]]) in
// CHECK: %[[R32:.*]] = memref.load %[[RM]][%[[ROW]]]
// CHECK: %[[REQUEST:.*]] = arith.index_cast %[[R32]]
// CHECK-NOT: arith.cmpi slt, %[[REQUEST]]
// CHECK: arith.cmpi sge, %[[REQUEST]], %c0
// CHECK-NOT: arith.cmpi slt, %[[REQUEST]]
// CHECK: scf.if %{{.*}} -> (i32) {
// CHECK-NEXT: memref.load %[[LM]][%[[ROW]]]
func.func @append(%c: !cache, %i: tensor<?xi32>, %r: tensor<?xi32>, %l: tensor<?xi32>, %x: tensor<?x64xbf16>) {
  dsv4.kernel @k(%c, %i, %r, %l, %x)
      : (!cache, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<?x64xbf16>) -> () {
  ^bb0(%c1: !cache, %i1: tensor<?xi32>, %r1: tensor<?xi32>, %l1: tensor<?xi32>, %x1: tensor<?x64xbf16>):
    dsv4.paged_append %c1[%i1] ring 4 requests(%r1 : tensor<?xi32>) lengths per token(%l1 : tensor<?xi32>)
        fields(%x1 : tensor<?x64xbf16>) : !cache, tensor<?xi32>
  }
  return
}
