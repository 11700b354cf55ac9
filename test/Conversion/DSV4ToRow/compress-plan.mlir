// Row programs of work lists.

// RUN: dsv4-opt %s --convert-dsv4-to-row --cse | FileCheck %s

// A row for each token; the whole window is in the state. The row is four numbers, stored one by one.
// CHECK-LABEL: func.func @state
// CHECK: dsv4.summary = "dsv4.compress_plan of i32 to i32"
// CHECK: ^bb0(%[[P:.*]]: tensor<?xi32>, %[[R:.*]]: tensor<?xi32>, %[[O:.*]]: tensor<?x4xi32>):
// CHECK-DAG: %[[ROWS:.*]] = dsv4.row_count %[[O]]
// CHECK-DAG: %[[PM:.*]] = dsv4.buffer %[[P]]
// CHECK-DAG: %[[RM:.*]] = dsv4.buffer %[[R]]
// CHECK-DAG: %[[OM:.*]] = dsv4.buffer %[[O]]
// CHECK: scf.forall (%[[ROW:.*]]) in (%[[ROWS]])
// CHECK: %[[R32:.*]] = memref.load %[[RM]][%[[ROW]]]
// CHECK: %[[REQUEST:.*]] = arith.index_cast %[[R32]]
// CHECK: %[[P32:.*]] = memref.load %[[PM]][%[[ROW]]]
// CHECK: %[[POSITION:.*]] = arith.index_cast %[[P32]]
// CHECK: %[[W:.*]] = arith.subi %[[POSITION]], %c3
// CHECK: %[[REST:.*]] = arith.remsi %[[POSITION]], %c4
// CHECK: arith.cmpi eq, %[[REST]], %c3
// CHECK: %[[AFTER:.*]] = arith.addi %[[POSITION]], %c1
// CHECK: %[[W0:.*]] = arith.select %[[ENTRY:.*]], %[[W]], %c-1
// CHECK: %[[W1:.*]] = arith.index_cast %[[W0]] : index to i32
// CHECK: %[[R0:.*]] = arith.select %[[ENTRY]], %[[REQUEST]], %c-1
// CHECK: %[[R1:.*]] = arith.index_cast %[[R0]] : index to i32
// CHECK: %[[A0:.*]] = arith.select %[[ENTRY]], %[[AFTER]], %c-1
// CHECK: %[[A1:.*]] = arith.index_cast %[[A0]] : index to i32
// CHECK: %[[T0:.*]] = arith.select %[[ENTRY]], %c0, %c-1
// CHECK: %[[T1:.*]] = arith.index_cast %[[T0]] : index to i32
// CHECK: %[[START:.*]] = arith.muli %[[ROW]], %c4
// CHECK: memref.store %[[W1]], %[[OM]][%[[START]]]
// CHECK: %[[AT1:.*]] = arith.addi %[[START]], %c1
// CHECK: memref.store %[[R1]], %[[OM]][%[[AT1]]]
// CHECK: %[[AT2:.*]] = arith.addi %[[START]], %c2
// CHECK: memref.store %[[A1]], %[[OM]][%[[AT2]]]
// CHECK: %[[AT3:.*]] = arith.addi %[[START]], %c3
// CHECK: memref.store %[[T1]], %[[OM]][%[[AT3]]]
func.func @state(%p: tensor<?xi32>, %r: tensor<?xi32>, %o: tensor<?x4xi32>) -> tensor<?x4xi32> {
  %0 = dsv4.kernel @k(%p, %r, %o) : (tensor<?xi32>, tensor<?xi32>, tensor<?x4xi32>) -> tensor<?x4xi32> {
  ^bb0(%p1: tensor<?xi32>, %r1: tensor<?xi32>, %o1: tensor<?x4xi32>):
    %list = dsv4.compress_plan window 4 positions(%p1 : tensor<?xi32>) requests(%r1 : tensor<?xi32>)
        outs(%o1 : tensor<?x4xi32>)
    dsv4.yield %list : tensor<?x4xi32>
  }
  return %0 : tensor<?x4xi32>
}

// A row for each entry. Its request is looked for in the starts of entries; each load has a condition
// of its own, so that none is joined with another.
// CHECK-LABEL: func.func @search
// CHECK: ^bb0(%[[N:.*]]: tensor<?xi32>, %[[S:.*]]: tensor<?xi32>, %[[E:.*]]: tensor<?xi32>, %[[O:.*]]: tensor<?x4xi32>, %[[A:.*]]: tensor<?xi32>):
// CHECK-DAG: %[[EX:.*]] = dsv4.extent %[[E]], 0
// CHECK-DAG: %[[SX:.*]] = dsv4.extent %[[S]], 0
// CHECK-DAG: %[[NX:.*]] = dsv4.extent %[[N]], 0
// CHECK-DAG: %[[EM:.*]] = dsv4.buffer %[[E]]
// CHECK-DAG: %[[SM:.*]] = dsv4.buffer %[[S]]
// CHECK-DAG: %[[NM:.*]] = dsv4.buffer %[[N]]
// CHECK-DAG: %[[AM:.*]] = dsv4.buffer %[[A]]
// CHECK: scf.forall (%[[ROW:.*]]) in
// CHECK: %[[COUNT:.*]] = arith.subi %[[EX]], %c1
// CHECK: %[[R32:.*]] = row.search %[[EM]] for %[[ROW]] of %[[COUNT]] : memref<?xi32>
// CHECK: %[[R:.*]] = arith.index_cast %[[R32]]
// CHECK: %[[KNOWN:.*]] = arith.cmpi sge, %[[R]], %c0
// CHECK: %[[NEXT:.*]] = arith.addi %[[R]], %c1
// CHECK: %[[B0:.*]] = arith.cmpi slt, %[[R]], %[[SX]]
// CHECK: %[[C0:.*]] = arith.andi %[[KNOWN]], %[[B0]]
// CHECK: scf.if %[[C0]] -> (i32) {
// CHECK-NEXT: memref.load %[[SM]][%[[R]]]
// CHECK: %[[B1:.*]] = arith.cmpi slt, %[[NEXT]], %[[SX]]
// CHECK: %[[C1:.*]] = arith.andi %[[KNOWN]], %[[B1]]
// CHECK: scf.if %[[C1]] -> (i32) {
// CHECK-NEXT: memref.load %[[SM]][%[[NEXT]]]
// CHECK: %[[B2:.*]] = arith.cmpi slt, %[[R]], %[[EX]]
// CHECK: %[[C2:.*]] = arith.andi %[[KNOWN]], %[[B2]]
// CHECK: scf.if %[[C2]] -> (i32) {
// CHECK-NEXT: memref.load %[[EM]][%[[R]]]
// CHECK: %[[B3:.*]] = arith.cmpi slt, %[[NEXT]], %[[EX]]
// CHECK: %[[C3:.*]] = arith.andi %[[KNOWN]], %[[B3]]
// CHECK: scf.if %[[C3]] -> (i32) {
// CHECK-NEXT: memref.load %[[EM]][%[[NEXT]]]
// CHECK: %[[B4:.*]] = arith.cmpi slt, %[[R]], %[[NX]]
// CHECK: %[[C4:.*]] = arith.andi %[[KNOWN]], %[[B4]]
// CHECK: scf.if %[[C4]] -> (i32) {
// CHECK-NEXT: memref.load %[[NM]][%[[R]]]
// CHECK: memref.store %[[W:.*]], %{{.*}}[%{{.*}}]
// CHECK: memref.store %[[W]], %[[AM]][%[[ROW]]]
func.func @search(%n: tensor<?xi32>, %s: tensor<?xi32>, %e: tensor<?xi32>, %o: tensor<?x4xi32>,
                  %a: tensor<?xi32>) -> (tensor<?x4xi32>, tensor<?xi32>) {
  %0, %1 = dsv4.kernel @k(%n, %s, %e, %o, %a)
      : (tensor<?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<?x4xi32>, tensor<?xi32>)
        -> (tensor<?x4xi32>, tensor<?xi32>) {
  ^bb0(%n1: tensor<?xi32>, %s1: tensor<?xi32>, %e1: tensor<?xi32>, %o1: tensor<?x4xi32>, %a1: tensor<?xi32>):
    %list, %at = dsv4.compress_plan window 4 lengths(%n1 : tensor<?xi32>) starts(%s1 : tensor<?xi32>)
        entry_starts(%e1 : tensor<?xi32>) outs(%o1, %a1 : tensor<?x4xi32>, tensor<?xi32>)
    dsv4.yield %list, %at : tensor<?x4xi32>, tensor<?xi32>
  }
  return %0, %1 : tensor<?x4xi32>, tensor<?xi32>
}
