// Row programs of gathers: addressing, validity, decoding.

// RUN: dsv4-opt %s --convert-dsv4-to-row --cse | FileCheck %s

!v4 = !dsv4.cache<64 x <v4_584>>
!seed = !dsv4.cache<32 x <seed_580>>
!fp8 = !dsv4.cache<64 x <fp8_512>>
!nvfp4 = !dsv4.cache<64 x <nvfp4_352>>

// A page table row per token; rows, scales and rope in one page.
// CHECK-LABEL: func.func @paged
func.func @paged(%c: !v4, %i: tensor<?x?xi32>, %t: tensor<?x?xi32>,
                 %o: tensor<?x?x512xbf16>) -> tensor<?x?x512xbf16> {
  // The kernel has no results any more; its users see its destination.
  // CHECK: dsv4.kernel @k(%{{.*}}, %{{.*}}, %{{.*}}, %[[OUT:.*]]) schedule
  // CHECK-SAME: attributes {dsv4.rows_of = 3 : i64, dsv4.summary = "dsv4.paged_gather of 64 x v4_584 to bf16"}
  // CHECK-SAME: -> ()
  // CHECK: ^bb0(%[[C:.*]]: !dsv4.cache<64 x #v4_584>, %[[I:.*]]: tensor<?x?xi32>, %[[T:.*]]: tensor<?x?xi32>, %[[O:.*]]: tensor<?x?x512xbf16>):
  // CHECK-DAG: %[[ROWS:.*]] = dsv4.row_count %[[O]]
  // CHECK-DAG: %[[IM:.*]] = dsv4.buffer %[[I]]
  // A row exists, so no extent of the iteration space is zero.
  // CHECK-DAG: %[[K:.*]] = dsv4.extent %[[I]], 1 min 1
  // CHECK-DAG: %[[PAGES:.*]] = dsv4.extent %[[C]], 0 :
  // CHECK-DAG: %[[BLOCKS:.*]] = dsv4.extent %[[T]], 1 :
  // CHECK-DAG: %[[TM:.*]] = dsv4.buffer %[[T]]
  // CHECK-DAG: %[[CM:.*]] = dsv4.buffer %[[C]] : !dsv4.cache<64 x #v4_584> to memref<?xi8>
  // CHECK-DAG: %[[OM:.*]] = dsv4.buffer %[[O]]
  // CHECK: scf.forall (%[[ROW:.*]]) in (%[[ROWS]]) {
  // CHECK: %[[INDEX32:.*]] = memref.load %[[IM]][%[[ROW]]]
  // CHECK: %[[INDEX:.*]] = arith.index_cast %[[INDEX32]]
  // CHECK: %[[TOKEN:.*]] = arith.divsi %[[ROW]], %[[K]]
  // CHECK: %[[NOTNEG:.*]] = arith.cmpi sge, %[[INDEX]], %c0
  // CHECK: %[[LOGICAL:.*]] = arith.divsi %[[INDEX]], %c64
  // CHECK: %[[INTABLE:.*]] = arith.cmpi slt, %[[LOGICAL]], %[[BLOCKS]]
  // CHECK: %[[READ:.*]] = arith.andi %[[NOTNEG]], %[[INTABLE]]
  // The table is not read for an invalid index.
  // CHECK: %[[PAGE32:.*]] = scf.if %[[READ]] -> (i32) {
  // CHECK: arith.muli %[[TOKEN]], %[[BLOCKS]]
  // CHECK: memref.load %[[TM]]
  // CHECK: } else {
  // CHECK: scf.yield %c-1_i32
  // CHECK: %[[PAGE:.*]] = arith.index_cast %[[PAGE32]]
  // CHECK: %[[SLOT:.*]] = arith.remsi %[[INDEX]], %c64
  // CHECK: %[[GE:.*]] = arith.cmpi sge, %[[PAGE]], %c0
  // CHECK: %[[LT:.*]] = arith.cmpi slt, %[[PAGE]], %[[PAGES]]
  // CHECK: %[[VALID:.*]] = arith.andi %[[GE]], %[[LT]]
  // CHECK: %[[PAGEBYTES:.*]] = row.constant "arg0_page_bytes" = 37440
  // CHECK: %[[START:.*]] = arith.muli %[[PAGE]], %[[PAGEBYTES]]
  // Scales: slot * 8 after 64 rows of 576 bytes.
  // CHECK: %[[SCALEBYTES:.*]] = row.constant "arg0_nope_scale_bytes" = 8
  // CHECK: %[[S8:.*]] = arith.muli %[[SLOT]], %[[SCALEBYTES]]
  // CHECK: %[[S:.*]] = arith.addi %[[START]], %[[S8]]
  // CHECK: %[[SCALES0:.*]] = row.constant "arg0_nope_scale_offset" = 36864
  // CHECK: %[[STORED_SCALES:.*]] = arith.addi %[[S]], %[[SCALES0]]
  // CHECK: %[[ROWBYTES:.*]] = row.constant "arg0_row_bytes" = 576
  // CHECK: %[[S576:.*]] = arith.muli %[[SLOT]], %[[ROWBYTES]]
  // CHECK: %[[ENTRY:.*]] = arith.addi %[[START]], %[[S576]]
  // CHECK: %[[NOPE:.*]] = row.read %[[CM]][%[[ENTRY]]] if %[[VALID]] {align = 16 : i64} : memref<?xi8> -> vector<448xf8E4M3FN>
  // Seven scales are read with their padding: one access of eight bytes.
  // CHECK: %[[SCALES:.*]] = row.read %[[CM]][%[[STORED_SCALES]]] if %[[VALID]] {align = 8 : i64, readable = 8 : i64}
  // CHECK-SAME: -> vector<7xf8E8M0FNU>
  // CHECK: %[[DATA:.*]] = arith.extf %[[NOPE]]
  // CHECK: %[[BY:.*]] = arith.extf %[[SCALES]]
  // CHECK: %[[EACH:.*]] = row.expand %[[BY]] : vector<7xf32> to vector<448xf32>
  // CHECK: %[[PRODUCT:.*]] = arith.mulf %[[DATA]], %[[EACH]] : vector<448xf32>
  // CHECK: %[[VALUES:.*]] = arith.truncf %[[PRODUCT]] : vector<448xf32> to vector<448xbf16>
  // Rope is copied bit by bit.
  // CHECK: %[[ROPE0:.*]] = row.constant "arg0_rope_offset" = 448
  // CHECK: %[[TAIL:.*]] = arith.addi %[[ENTRY]], %[[ROPE0]]
  // CHECK: %[[ROPE:.*]] = row.read %[[CM]][%[[TAIL]]] if %[[VALID]] {{.*}} -> vector<64xbf16>
  // CHECK: row.write %[[VALUES]], %[[OM]][%{{.*}}] {align = 16 : i64}
  // CHECK: row.write %[[ROPE]], %[[OM]][%{{.*}}] {align = 16 : i64}
  // CHECK: return %[[OUT]]
  %0 = dsv4.kernel @k(%c, %i, %t, %o) schedule <threads = 128, parts = [#dsv4.rows<lanes = 8, vector = 8>]>
      : (!v4, tensor<?x?xi32>, tensor<?x?xi32>, tensor<?x?x512xbf16>) -> tensor<?x?x512xbf16> {
  ^bb0(%c1: !v4, %i1: tensor<?x?xi32>, %t1: tensor<?x?xi32>, %o1: tensor<?x?x512xbf16>):
    %r = dsv4.paged_gather %c1[%i1] pages(%t1 : tensor<?x?xi32>)
        outs(%o1 : tensor<?x?x512xbf16>) : !v4, tensor<?x?xi32>
    dsv4.yield %r : tensor<?x?x512xbf16>
  }
  return %0 : tensor<?x?x512xbf16>
}

// Lengths and requests are conditions of validity; the mask is what they say.
// CHECK-LABEL: func.func @conditions
func.func @conditions(%c: !v4, %i: tensor<?x512xi32>, %t: tensor<?x?xi32>,
                      %q: tensor<?xi32>, %n: tensor<?xi32>,
                      %o: tensor<?x512x512xbf16>, %m: tensor<?x512xi1>)
    -> (tensor<?x512x512xbf16>, tensor<?x512xi1>) {
  // CHECK: ^bb0(%[[C:.*]]: !dsv4.cache<64 x #v4_584>, %{{.*}}: tensor<?x512xi32>, %[[T:.*]]: tensor<?x?xi32>, %[[Q:.*]]: tensor<?xi32>, %[[N:.*]]: tensor<?xi32>, %{{.*}}: tensor<?x512x512xbf16>, %[[M:.*]]: tensor<?x512xi1>):
  // CHECK-DAG: %[[NM:.*]] = dsv4.buffer %[[N]]
  // CHECK-DAG: %[[QM:.*]] = dsv4.buffer %[[Q]]
  // CHECK-DAG: %[[TROWS:.*]] = dsv4.extent %[[T]], 0
  // CHECK-DAG: %[[MM:.*]] = dsv4.buffer %[[M]] : tensor<?x512xi1> to memref<?xi8>
  // CHECK: scf.forall (%[[ROW:.*]]) in
  // CHECK: %[[TOKEN:.*]] = arith.divsi %[[ROW]], %{{.*}}
  // CHECK: %[[LENGTH32:.*]] = memref.load %[[NM]][%[[TOKEN]]]
  // CHECK: %[[LENGTH:.*]] = arith.index_cast %[[LENGTH32]]
  // CHECK: arith.cmpi slt, %{{.*}}, %[[LENGTH]]
  // CHECK: %[[REQ32:.*]] = memref.load %[[QM]][%[[TOKEN]]]
  // CHECK: %[[REQ:.*]] = arith.index_cast %[[REQ32]]
  // CHECK-DAG: arith.cmpi slt, %[[REQ]], %[[TROWS]]
  // CHECK-DAG: arith.cmpi sge, %[[REQ]], %c0
  // CHECK: scf.if
  // CHECK: arith.muli %[[REQ]],
  // CHECK: %[[BYTE:.*]] = arith.extui %{{.*}} : i1 to i8
  // CHECK: memref.store %[[BYTE]], %[[MM]][%[[ROW]]]
  %0:2 = dsv4.kernel @k(%c, %i, %t, %q, %n, %o, %m)
      : (!v4, tensor<?x512xi32>, tensor<?x?xi32>, tensor<?xi32>, tensor<?xi32>,
         tensor<?x512x512xbf16>, tensor<?x512xi1>) -> (tensor<?x512x512xbf16>, tensor<?x512xi1>) {
  ^bb0(%c1: !v4, %i1: tensor<?x512xi32>, %t1: tensor<?x?xi32>, %q1: tensor<?xi32>,
       %n1: tensor<?xi32>, %o1: tensor<?x512x512xbf16>, %m1: tensor<?x512xi1>):
    %r, %v = dsv4.paged_gather %c1[%i1] pages(%t1 : tensor<?x?xi32>) requests(%q1 : tensor<?xi32>)
        lengths(%n1 : tensor<?xi32>) outs(%o1 : tensor<?x512x512xbf16>)
        mask(%m1 : tensor<?x512xi1>) : !v4, tensor<?x512xi32>
    dsv4.yield %r, %v : tensor<?x512x512xbf16>, tensor<?x512xi1>
  }
  return %0#0, %0#1 : tensor<?x512x512xbf16>, tensor<?x512xi1>
}

// Array fields are addressed by the linear entry; no page table, no lookup.
// CHECK-LABEL: func.func @arrays
func.func @arrays(%c: !seed, %i: tensor<?xi32>, %o: tensor<?x512xbf16>) -> tensor<?x512xbf16> {
  // CHECK-DAG: %[[NOPE:.*]] = dsv4.buffer %{{.*}}["nope"]
  // CHECK-DAG: %[[SCALE:.*]] = dsv4.buffer %{{.*}}["inv_scale"]
  // CHECK-DAG: %[[ROPE:.*]] = dsv4.buffer %{{.*}}["rope"]
  // CHECK: scf.forall
  // CHECK: %[[INDEX:.*]] = arith.index_cast
  // CHECK-NOT: scf.if
  // CHECK: %[[SB:.*]] = row.constant "arg0_inv_scale_bytes" = 4
  // CHECK: %[[AT:.*]] = arith.muli %[[INDEX]], %[[SB]]
  // CHECK: %[[NB:.*]] = row.constant "arg0_nope_bytes" = 448
  // CHECK: %[[AN:.*]] = arith.muli %[[INDEX]], %[[NB]]
  // CHECK: row.read %[[NOPE]][%[[AN]]] if %
  // CHECK: row.read %[[SCALE]][%[[AT]]] if %{{.*}} {align = 4 : i64}
  // CHECK: %[[RB:.*]] = row.constant "arg0_rope_bytes" = 128
  // CHECK: %[[AR:.*]] = arith.muli %[[INDEX]], %[[RB]]
  // CHECK: row.read %[[ROPE]][%[[AR]]] if %
  %0 = dsv4.kernel @k(%c, %i, %o) : (!seed, tensor<?xi32>, tensor<?x512xbf16>) -> tensor<?x512xbf16> {
  ^bb0(%c1: !seed, %i1: tensor<?xi32>, %o1: tensor<?x512xbf16>):
    %r = dsv4.paged_gather %c1[%i1] outs(%o1 : tensor<?x512xbf16>) : !seed, tensor<?xi32>
    dsv4.yield %r : tensor<?x512xbf16>
  }
  return %0 : tensor<?x512xbf16>
}

// The scale of the whole cache is at offset 0 of its array.
// CHECK-LABEL: func.func @per_tensor
func.func @per_tensor(%c: !fp8, %i: tensor<?xi32>, %o: tensor<?x512xf32>) -> tensor<?x512xf32> {
  // CHECK: %[[SCALE:.*]] = dsv4.buffer %{{.*}}["kv_scale"]
  // CHECK: %[[STORED_SCALE:.*]] = row.read %[[SCALE]][%c0] if %
  // CHECK: row.expand %[[STORED_SCALE]] : vector<1xf32> to vector<512xf32>
  // An fp32 result is not rounded.
  // CHECK-NOT: arith.truncf
  %0 = dsv4.kernel @k(%c, %i, %o) : (!fp8, tensor<?xi32>, tensor<?x512xf32>) -> tensor<?x512xf32> {
  ^bb0(%c1: !fp8, %i1: tensor<?xi32>, %o1: tensor<?x512xf32>):
    %r = dsv4.paged_gather %c1[%i1] outs(%o1 : tensor<?x512xf32>) : !fp8, tensor<?xi32>
    dsv4.yield %r : tensor<?x512xf32>
  }
  return %0 : tensor<?x512xf32>
}

// Interleaved scales are stored every fourth one after another: a matrix read column by column.
// CHECK-LABEL: func.func @interleaved
func.func @interleaved(%c: !nvfp4, %i: tensor<?xi32>, %o: tensor<?x576xbf16>) -> tensor<?x576xbf16> {
  // CHECK: %[[STORED_SCALES:.*]] = row.read {{.*}} {align = 16 : i64, interleave = 4 : i64} : memref<?xi8> -> vector<32xf8E4M3FN>
  // CHECK: %[[BY:.*]] = arith.extf %[[STORED_SCALES]]
  // CHECK: row.expand %[[BY]] : vector<32xf32> to vector<512xf32>
  // Rope without scales is still decoded: its type is not the result's.
  // CHECK: arith.extf %{{.*}} : vector<64xf8E4M3FN> to vector<64xf32>
  // CHECK: arith.truncf %{{.*}} : vector<64xf32> to vector<64xbf16>
  %0 = dsv4.kernel @k(%c, %i, %o) : (!nvfp4, tensor<?xi32>, tensor<?x576xbf16>) -> tensor<?x576xbf16> {
  ^bb0(%c1: !nvfp4, %i1: tensor<?xi32>, %o1: tensor<?x576xbf16>):
    %r = dsv4.paged_gather %c1[%i1] outs(%o1 : tensor<?x576xbf16>) : !nvfp4, tensor<?xi32>
    dsv4.yield %r : tensor<?x576xbf16>
  }
  return %0 : tensor<?x576xbf16>
}

// A page of one entry has slot 0.
// CHECK-LABEL: func.func @page_of_one
func.func @page_of_one(%c: !dsv4.cache<1 x <bf16_1024>>, %i: tensor<?xi32>, %o: tensor<?x512xbf16>)
    -> tensor<?x512xbf16> {
  // CHECK-NOT: arith.remsi
  // CHECK-NOT: arith.divsi
  // CHECK: %[[PAGEBYTES:.*]] = row.constant "arg0_page_bytes" = 1024
  // CHECK: arith.muli %{{.*}}, %[[PAGEBYTES]]
  // CHECK-NOT: arith.extf
  // CHECK: row.write
  %0 = dsv4.kernel @k(%c, %i, %o)
      : (!dsv4.cache<1 x <bf16_1024>>, tensor<?xi32>, tensor<?x512xbf16>) -> tensor<?x512xbf16> {
  ^bb0(%c1: !dsv4.cache<1 x <bf16_1024>>, %i1: tensor<?xi32>, %o1: tensor<?x512xbf16>):
    %r = dsv4.paged_gather %c1[%i1] outs(%o1 : tensor<?x512xbf16>)
        : !dsv4.cache<1 x <bf16_1024>>, tensor<?xi32>
    dsv4.yield %r : tensor<?x512xbf16>
  }
  return %0 : tensor<?x512xbf16>
}

// An offset in bytes is not narrowed before it is divided; what is left of a page must be whole slots.
// CHECK-LABEL: func.func @bytes
// CHECK: %[[PAGE_BYTES:.*]] = row.constant "page_bytes" = 8448
// CHECK: %[[BYTES:.*]] = row.constant "key_bytes" = 128
// CHECK: %[[LOADED:.*]] = memref.load %{{.*}} : memref<?xi64>
// CHECK: %[[OFFSET:.*]] = arith.index_cast %[[LOADED]] : i64 to index
// CHECK: %[[START:.*]] = arith.maxsi %[[OFFSET]], %c0
// CHECK: %[[REST:.*]] = arith.remsi %[[START]], %[[PAGE_BYTES]]
// CHECK: arith.cmpi sge, %[[OFFSET]], %c0
// CHECK: %[[PAGE:.*]] = arith.divsi %[[START]], %[[PAGE_BYTES]]
// CHECK: %[[WIDE:.*]] = arith.index_cast %[[PAGE]] : index to i64
// CHECK: row.narrow %[[WIDE]] : i64 to i32
// CHECK: %[[SLOT:.*]] = arith.divsi %[[REST]], %[[BYTES]]
// CHECK: arith.cmpi slt, %[[SLOT]], %c64
// CHECK: %[[LEFT:.*]] = arith.remsi %[[REST]], %[[BYTES]]
// CHECK: arith.cmpi eq, %[[LEFT]], %c0
!keys = !dsv4.cache<64 x <index_fp8_132>>
func.func @bytes(%c: !keys, %i: tensor<?xi64>, %o: tensor<?x128xbf16>) -> tensor<?x128xbf16> {
  %0 = dsv4.kernel @b(%c, %i, %o) : (!keys, tensor<?xi64>, tensor<?x128xbf16>) -> tensor<?x128xbf16> {
  ^bb0(%c1: !keys, %i1: tensor<?xi64>, %o1: tensor<?x128xbf16>):
    %r = dsv4.paged_gather %c1[%i1] in_bytes outs(%o1 : tensor<?x128xbf16>) : !keys, tensor<?xi64>
    dsv4.yield %r : tensor<?x128xbf16>
  }
  return %0 : tensor<?x128xbf16>
}
