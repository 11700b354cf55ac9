// The rows of ragged requests: which position a row is for, and that no other row is stored.

// RUN: dsv4-opt %s --convert-dsv4-to-row --cse | FileCheck %s

!keys = !dsv4.cache<64 x <index_fp8_132>>

// The request is searched; keys, scale and mask are stored under one condition.
// CHECK-LABEL: func.func @cumulative
// CHECK: ^bb0(%{{.*}}, %[[T:.*]]: tensor<?x?xi32>, %[[CU:.*]]: tensor<?xi32>, %{{.*}}, %{{.*}}, %{{.*}}):
// CHECK-DAG: %[[STARTS:.*]] = dsv4.extent %[[CU]], 0 :
// CHECK-DAG: %[[CUM:.*]] = dsv4.buffer %[[CU]]
// CHECK: scf.forall (%[[ROW:.*]]) in
// CHECK: %[[REQUESTS:.*]] = arith.subi %[[STARTS]], %c1
// CHECK: %[[FOUND:.*]] = row.search %[[CUM]] for %[[ROW]] of %[[REQUESTS]] : memref<?xi32>
// CHECK: %[[REQUEST:.*]] = arith.index_cast %[[FOUND]]
// CHECK: %[[KNOWN:.*]] = arith.cmpi slt, %[[REQUEST]], %[[REQUESTS]]
// CHECK: %[[BEGIN32:.*]] = scf.if %[[KNOWN]] -> (i32) {
// CHECK-NEXT: memref.load %[[CUM]][%[[REQUEST]]]
// CHECK: %[[BEGIN:.*]] = arith.index_cast %[[BEGIN32]]
// CHECK: %[[START:.*]] = arith.maxsi %[[BEGIN]], %c0
// CHECK: %[[POSITION:.*]] = arith.subi %[[ROW]], %[[START]]
// CHECK: %[[END32:.*]] = scf.if %[[KNOWN]] -> (i32) {
// CHECK: %[[END:.*]] = arith.index_cast %[[END32]]
// CHECK-DAG: arith.cmpi slt, %[[ROW]], %[[END]]
// CHECK-DAG: arith.cmpi sge, %[[POSITION]], %c0
// CHECK: %[[PAGE:.*]] = arith.divsi %[[POSITION]], %c64
// CHECK-NOT: row.write
// CHECK: scf.if %{{[a-z0-9_]+}} {
// CHECK: row.write {{.*}}vector<128xf8E4M3FN>
// CHECK: row.write {{.*}} per 128 {{.*}}vector<1xf32>
// CHECK: memref.store {{.*}} : memref<?xi8>
// CHECK: }
// CHECK-NOT: row.write
// CHECK-LABEL: func.func @last
func.func @cumulative(%c: !keys, %t: tensor<?x?xi32>, %cu: tensor<?xi32>, %k: tensor<?x128xf8E4M3FN>,
                      %s: tensor<?xf32>, %m: tensor<?xi1>)
    -> (tensor<?x128xf8E4M3FN>, tensor<?xf32>, tensor<?xi1>) {
  %0:3 = dsv4.kernel @k(%c, %t, %cu, %k, %s, %m)
      : (!keys, tensor<?x?xi32>, tensor<?xi32>, tensor<?x128xf8E4M3FN>, tensor<?xf32>, tensor<?xi1>)
        -> (tensor<?x128xf8E4M3FN>, tensor<?xf32>, tensor<?xi1>) {
  ^bb0(%c1: !keys, %t1: tensor<?x?xi32>, %cu1: tensor<?xi32>, %k1: tensor<?x128xf8E4M3FN>, %s1: tensor<?xf32>,
       %m1: tensor<?xi1>):
    %r:3 = dsv4.paged_gather %c1 pages(%t1 : tensor<?x?xi32>) cu_seq_lens(%cu1 : tensor<?xi32>)
        fields(%k1, %s1 : tensor<?x128xf8E4M3FN>, tensor<?xf32>) mask(%m1 : tensor<?xi1>) : !keys
    dsv4.yield %r#0, %r#1, %r#2 : tensor<?x128xf8E4M3FN>, tensor<?xf32>, tensor<?xi1>
  }
  return %0#0, %0#1, %0#2 : tensor<?x128xf8E4M3FN>, tensor<?xf32>, tensor<?xi1>
}

// The last positions of each request, from row 3 of it on.
// CHECK: ^bb0(%{{.*}}, %{{.*}}, %[[S:.*]]: tensor<?xi32>, %[[G:.*]]: tensor<?xi32>, %[[O:.*]]: tensor<?x?x128xbf16>):
// CHECK-DAG: %[[SM:.*]] = dsv4.buffer %[[S]]
// CHECK-DAG: %[[GM:.*]] = dsv4.buffer %[[G]]
// CHECK: scf.forall (%[[ROW:.*]]) in
// CHECK: %[[REQUEST:.*]] = arith.divsi %[[ROW]], %[[ROWS:.*]] :
// CHECK: %[[M:.*]] = arith.remsi %[[ROW]], %[[ROWS]] :
// CHECK: %[[NTH:.*]] = arith.subi %[[M]], %c3
// CHECK: memref.load %[[SM]][%[[REQUEST]]]
// CHECK: %[[LENGTH:.*]] = arith.maxsi
// CHECK: memref.load %[[GM]][%[[REQUEST]]]
// CHECK: %[[LAST:.*]] = arith.maxsi
// CHECK: %[[COUNT:.*]] = arith.minsi %[[LAST]], %[[LENGTH]]
// CHECK-DAG: arith.cmpi slt, %[[NTH]], %[[COUNT]]
// CHECK-DAG: arith.cmpi sge, %[[NTH]], %c0
// CHECK: %[[FIRST:.*]] = arith.subi %[[LENGTH]], %[[COUNT]]
// CHECK: arith.addi %[[FIRST]], %[[NTH]]
// CHECK: scf.if %{{[a-z0-9_]+}} {
// CHECK: row.write {{.*}}vector<128xbf16>
func.func @last(%c: !keys, %t: tensor<?x?xi32>, %n: tensor<?xi32>, %g: tensor<?xi32>, %o: tensor<?x?x128xbf16>)
    -> tensor<?x?x128xbf16> {
  %0 = dsv4.kernel @l(%c, %t, %n, %g, %o)
      : (!keys, tensor<?x?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<?x?x128xbf16>) -> tensor<?x?x128xbf16> {
  ^bb0(%c1: !keys, %t1: tensor<?x?xi32>, %n1: tensor<?xi32>, %g1: tensor<?xi32>, %o1: tensor<?x?x128xbf16>):
    %r = dsv4.paged_gather %c1 pages(%t1 : tensor<?x?xi32>) seq_lens(%n1 : tensor<?xi32>)
        gather_lens(%g1 : tensor<?xi32>) offset 3 outs(%o1 : tensor<?x?x128xbf16>) : !keys
    dsv4.yield %r : tensor<?x?x128xbf16>
  }
  return %0 : tensor<?x?x128xbf16>
}

// Interleaved scales and pairs with the high element first are copied as they are stored.
// CHECK-LABEL: func.func @stored
// CHECK-NOT: interleave
// CHECK-NOT: swap_nibbles
// CHECK: row.read {{.*}} -> vector<16xf4E2M1FN>
// CHECK: row.read {{.*}} -> vector<8xf8E4M3FN>
// CHECK-NOT: swap_nibbles
// CHECK-NOT: scf.if
// CHECK: row.write {{.*}}vector<16xf4E2M1FN>
// CHECK: row.write {{.*}} per 2 {{.*}}vector<8xf8E4M3FN>
!pairs = !dsv4.cache<4 x <[<"a" : 16 x f4E2M1FN in row high_first>,
                           <"s" : 8 x f8E4M3FN in row scales "a" per 2 interleave 2>]>>
func.func @stored(%c: !pairs, %i: tensor<?xi32>, %a: tensor<?x16xf4E2M1FN>, %s: tensor<?x8xf8E4M3FN>)
    -> (tensor<?x16xf4E2M1FN>, tensor<?x8xf8E4M3FN>) {
  %0:2 = dsv4.kernel @p(%c, %i, %a, %s)
      : (!pairs, tensor<?xi32>, tensor<?x16xf4E2M1FN>, tensor<?x8xf8E4M3FN>)
        -> (tensor<?x16xf4E2M1FN>, tensor<?x8xf8E4M3FN>) {
  ^bb0(%c1: !pairs, %i1: tensor<?xi32>, %a1: tensor<?x16xf4E2M1FN>, %s1: tensor<?x8xf8E4M3FN>):
    %r:2 = dsv4.paged_gather %c1[%i1] fields(%a1, %s1 : tensor<?x16xf4E2M1FN>, tensor<?x8xf8E4M3FN>)
        : !pairs, tensor<?xi32>
    dsv4.yield %r#0, %r#1 : tensor<?x16xf4E2M1FN>, tensor<?x8xf8E4M3FN>
  }
  return %0#0, %0#1 : tensor<?x16xf4E2M1FN>, tensor<?x8xf8E4M3FN>
}

// The first row of requests is read; a negative number counts as 0.
// CHECK-LABEL: func.func @from
// CHECK: ^bb0(%{{.*}}, %{{.*}}, %{{.*}}, %[[A:.*]]: tensor<1xi64>, %{{.*}}):
// CHECK: %[[AM:.*]] = dsv4.buffer %[[A]]
// CHECK: %[[NTH:.*]] = arith.remsi
// CHECK: %[[WIDE:.*]] = memref.load %[[AM]][%c0]
// CHECK: %[[NARROW:.*]] = row.narrow %[[WIDE]] saturate
// CHECK: %[[GIVEN:.*]] = arith.index_cast %[[NARROW]]
// CHECK: %[[FIRST:.*]] = arith.maxsi %[[GIVEN]], %c0
// CHECK: %[[POSITION:.*]] = arith.subi %[[NTH]], %[[FIRST]]
// CHECK: arith.cmpi sge, %[[POSITION]], %c0
func.func @from(%c: !keys, %t: tensor<?x?xi32>, %n: tensor<?xi32>, %a: tensor<1xi64>, %o: tensor<?x?x128xbf16>)
    -> tensor<?x?x128xbf16> {
  %0 = dsv4.kernel @l(%c, %t, %n, %a, %o)
      : (!keys, tensor<?x?xi32>, tensor<?xi32>, tensor<1xi64>, tensor<?x?x128xbf16>) -> tensor<?x?x128xbf16> {
  ^bb0(%c1: !keys, %t1: tensor<?x?xi32>, %n1: tensor<?xi32>, %a1: tensor<1xi64>, %o1: tensor<?x?x128xbf16>):
    %r = dsv4.paged_gather %c1 pages(%t1 : tensor<?x?xi32>) seq_lens(%n1 : tensor<?xi32>)
        offset(%a1 : tensor<1xi64>) outs(%o1 : tensor<?x?x128xbf16>) : !keys
    dsv4.yield %r : tensor<?x?x128xbf16>
  }
  return %0 : tensor<?x?x128xbf16>
}
