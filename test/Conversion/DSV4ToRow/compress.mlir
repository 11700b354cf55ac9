// The row program of a compression: the plan of the entry, then two ways to read a row of
// its window, the first where all of them are in the launch.

// RUN: dsv4-opt %s --convert-dsv4-to-row --cse --mlir-use-nameloc-as-prefix | FileCheck %s

!ring = !dsv4.cache<8 x <[<"values" : 64 x f32 in row>, <"scores" : 64 x f32 in row>]>>
!paged = !dsv4.cache<16 x <[<"values" : 64 x bf16 in row>, <"scores" : 64 x bf16 in row>]>>
!arrays = !dsv4.cache<24 x <[<"values" : 32 x f32 in array>, <"scores" : 32 x f32 in array>]>>

// Without a state there is nothing but the launch, and no request.
// CHECK-LABEL: dsv4.kernel @launch
// CHECK-SAME: dsv4.rows_of = 2 : i64, dsv4.summary = "dsv4.compress of bf16 to bf16"
// CHECK: %[[ROWS:.*]] = dsv4.row_count
// CHECK: %[[TOKENS:.*]] = dsv4.extent %{{.*}}, 0 : tensor<?x32xbf16>
// CHECK: scf.forall (%row) in (%[[ROWS]]) {
// CHECK-NEXT: %pooled = row.window_reduce 10 : vector<32xf32> {
// CHECK: %[[PLAN:.*]] = arith.muli %row, %c4
// CHECK-NEXT: %window_start = memref.load %{{.*}}[%[[PLAN]]] : memref<?xi32>
// CHECK-NEXT: %[[GIVEN:.*]] = arith.index_cast %window_start
// CHECK-NOT: %request
// CHECK: %first_position = memref.load
// CHECK-NEXT: %[[POSITION:.*]] = arith.index_cast %first_position
// CHECK: %first_token = memref.load
// CHECK-NEXT: %[[TOKEN:.*]] = arith.index_cast %first_token
// An entry is there from position 0 to where a window still has 32 bits.
// CHECK: %[[LOW:.*]] = arith.cmpi sle, %[[GIVEN]], %c2147479552
// CHECK: %[[SIGN:.*]] = arith.cmpi sge, %[[GIVEN]], %c0
// CHECK-NEXT: %is_entry = arith.andi %[[SIGN]], %[[LOW]]
// CHECK: arith.maxsi %[[GIVEN]], %c-1
// CHECK-NEXT: %[[WINDOW:.*]] = arith.minsi %{{.*}}, %c2147479552
// CHECK-NEXT: %shift = arith.subi %[[TOKEN]], %[[POSITION]]
// The first and the last of ten rows decide whether all are in the launch.
// CHECK-NEXT: %first_in_launch = arith.addi %[[WINDOW]], %shift
// CHECK: %[[LAST:.*]] = arith.addi %first_in_launch, %c9
// CHECK-NEXT: %[[BELOW:.*]] = arith.cmpi slt, %[[LAST]], %[[TOKENS]]
// CHECK-NEXT: %[[ABOVE:.*]] = arith.cmpi sge, %first_in_launch, %c0
// CHECK-NEXT: %[[INROWS:.*]] = arith.andi %[[ABOVE]], %[[BELOW]]
// CHECK-NEXT: %[[GEQ:.*]] = arith.cmpi sge, %[[WINDOW]], %[[POSITION]]
// CHECK: %all_in_launch = arith.andi %{{.*}}, %[[INROWS]]
// CHECK: %[[FIRST:.*]] = arith.index_cast %first_in_launch : index to i32
// CHECK-NEXT: %[[ROW:.*]] = arith.index_cast %[[FIRST]] : i32 to index
// CHECK: %launch_start = arith.muli %[[ROW]], %c32
// CHECK-NEXT: row.window %all_in_launch scores {
// CHECK-NEXT: ^bb0(%member: index):
// CHECK-NEXT: %[[STEP:.*]] = arith.muli %member, %c32
// CHECK-NEXT: %[[AT:.*]] = arith.addi %launch_start, %[[STEP]]
// CHECK-NEXT: %scores = row.read %{{.*}}[%[[AT]]] {align = 16 : i64} : memref<?xbf16> -> vector<32xbf16>
// CHECK-NEXT: %[[S:.*]] = arith.extf %scores
// CHECK-NEXT: row.yield %[[S]] : vector<32xf32>
// CHECK-NEXT: } values {
// CHECK-NEXT: ^bb0(%member: index):
// CHECK-NEXT: %[[STEP:.*]] = arith.muli %member, %c32
// CHECK-NEXT: %[[AT:.*]] = arith.addi %launch_start, %[[STEP]]
// CHECK-NEXT: %values = row.read %{{.*}}[%[[AT]]] {align = 16 : i64} : memref<?xbf16> -> vector<32xbf16>
// CHECK-NEXT: %[[V:.*]] = arith.extf %values
// CHECK-NEXT: row.yield %[[V]] : vector<32xf32>
// CHECK-NEXT: } else {
// CHECK: %at = arith.addi %[[WINDOW]], %member
// CHECK-NEXT: %token = arith.addi %at, %shift
// CHECK: %[[FROM:.*]] = arith.addi %launch_start
// CHECK: %[[LESS:.*]] = arith.cmpi slt, %token, %[[TOKENS]]
// CHECK: %in_launch = arith.cmpi sge, %at, %[[POSITION]]
// CHECK: %is_there = arith.andi
// CHECK: %scores = row.read %{{.*}}[%[[FROM]]] if %is_there {align = 16 : i64} : memref<?xbf16>
// CHECK: %values = row.read %{{.*}}[%[[FROM]]] if %is_there {align = 16 : i64} : memref<?xbf16>
// CHECK: row.window_row %is_there
// CHECK: %[[ROUNDED:.*]] = arith.truncf %pooled : vector<32xf32> to vector<32xbf16>
// CHECK: row.write %[[ROUNDED]]
func.func @launch(%values: tensor<?x32xbf16>, %scores: tensor<?x32xbf16>, %plan: tensor<?x4xi32>,
                  %out: tensor<?x32xbf16>) -> tensor<?x32xbf16> {
  %0 = dsv4.kernel @launch(%values, %scores, %plan, %out)
      : (tensor<?x32xbf16>, tensor<?x32xbf16>, tensor<?x4xi32>, tensor<?x32xbf16>)
      -> tensor<?x32xbf16> {
  ^bb0(%v: tensor<?x32xbf16>, %s: tensor<?x32xbf16>, %p: tensor<?x4xi32>, %o: tensor<?x32xbf16>):
    %r = dsv4.compress %v, %s window 10 plan(%p : tensor<?x4xi32>)
        outs(%o : tensor<?x32xbf16>) : tensor<?x32xbf16>, tensor<?x32xbf16>
    dsv4.yield %r : tensor<?x32xbf16>
  }
  return %0 : tensor<?x32xbf16>
}

// A ring of two pages a request, and two streams: the window before in the first columns.
// CHECK-LABEL: dsv4.kernel @ring(
// CHECK: %pooled = row.window_reduce 8 : vector<32xf32> {
// CHECK: %request = memref.load
// CHECK-NEXT: %[[REQUEST:.*]] = arith.index_cast %request
// CHECK: %[[BEFORE:.*]] = arith.subi %{{.*}}, %c4
// CHECK: %first_in_launch = arith.addi %[[BEFORE]], %shift
// CHECK: arith.addi %first_in_launch, %c7
// CHECK: row.window %all_in_launch scores {
// CHECK: %[[FIRST:.*]] = arith.cmpi slt, %member, %c4
// CHECK-NEXT: %[[COLUMN:.*]] = arith.select %[[FIRST]], %c0, %c32
// CHECK: %[[AT:.*]] = arith.addi %{{.*}}, %[[COLUMN]]
// CHECK-NEXT: %scores = row.read %{{.*}}[%[[AT]]] {align
// CHECK: row.yield %scores
// CHECK-NEXT: } values {
// CHECK: %[[FIRST:.*]] = arith.cmpi slt, %member, %c4
// CHECK-NEXT: %[[COLUMN:.*]] = arith.select %[[FIRST]], %c0, %c32
// CHECK: %[[AT:.*]] = arith.addi %{{.*}}, %[[COLUMN]]
// CHECK-NEXT: %values = row.read %{{.*}}[%[[AT]]] {align
// CHECK: row.yield %values
// CHECK-NEXT: } else {
// CHECK: %[[COLUMN:.*]] = arith.select %{{.*}}, %c0, %c32
// CHECK-NEXT: %at = arith.addi %[[BEFORE]], %member
// CHECK: arith.cmpi sge, %token, %c0
// CHECK-NEXT: %[[INROWS:.*]] = arith.andi
// CHECK-NEXT: %in_launch = arith.cmpi sge, %at
// CHECK-NEXT: arith.cmpi sge, %[[REQUEST]], %c0
// CHECK-NEXT: %[[NOSIGN:.*]] = arith.maxsi %at, %c0
// CHECK: %in_ring = arith.remsi %[[NOSIGN]], %c16
// CHECK-NEXT: %[[FIRSTPAGE:.*]] = arith.muli %[[REQUEST]], %c2
// CHECK-NEXT: %[[INPAGES:.*]] = arith.divsi %in_ring, %c8
// CHECK-NEXT: %page = arith.addi %[[FIRSTPAGE]], %[[INPAGES]]
// CHECK-NEXT: %slot = arith.remsi %in_ring, %c8
// CHECK: %valid = arith.andi
// CHECK: %[[PAGEBYTES:.*]] = row.constant "arg4_page_bytes" = 4096
// CHECK-NEXT: %page_start = arith.muli %page, %[[PAGEBYTES]]
// CHECK-NEXT: %[[SOURCE:.*]] = arith.select %in_launch, %[[INROWS]], %valid : i1
// CHECK-NEXT: %is_there = arith.andi %{{.*}}, %[[SOURCE]]
// Of memory that starts in the one or the other.
// CHECK: %[[SCORES:.*]] = row.bytes %{{.*}}[%[[LAUNCHAT:.*]]] : memref<?xf32> to memref<?xi8>
// CHECK-NEXT: %[[KEPT:.*]] = row.bytes %[[STATE:.*]][%{{.*}}] : memref<?xi8> to memref<?xi8>
// CHECK-NEXT: %scores_memory = arith.select %in_launch, %[[SCORES]], %[[KEPT]] : memref<?xi8>
// CHECK-NEXT: %scores = row.read %scores_memory[%c0] if %is_there {align = 16 : i64} : memref<?xi8> -> vector<32xf32>
// CHECK: %[[VALUES:.*]] = row.bytes %{{.*}}[%[[LAUNCHAT]]] : memref<?xf32> to memref<?xi8>
// CHECK-NEXT: %[[KEPT:.*]] = row.bytes %[[STATE]][%{{.*}}] : memref<?xi8> to memref<?xi8>
// CHECK-NEXT: %values_memory = arith.select %in_launch, %[[VALUES]], %[[KEPT]] : memref<?xi8>
// CHECK-NEXT: %values = row.read %values_memory[%c0] if %is_there {align = 16 : i64} : memref<?xi8> -> vector<32xf32>
// Scores of the state have no bias yet.
// CHECK: %bias = row.read %{{.*}}[%{{.*}}] {align
// CHECK-NEXT: %[[SUM:.*]] = arith.addf %scores, %bias
// CHECK-NEXT: row.window_row %is_there, %[[SUM]], %values
// Else the bias of the position in its window, in the same columns.
// CHECK: } offsets {
// CHECK-NEXT: ^bb0(%member: index):
// CHECK: %[[FIRST:.*]] = arith.cmpi slt, %member, %c4
// CHECK-NEXT: %[[COLUMN:.*]] = arith.select %[[FIRST]], %c0, %c32
// CHECK-NEXT: %[[INWINDOW:.*]] = arith.remsi %member, %c4
// CHECK: %[[BIASROW:.*]] = arith.muli %[[INWINDOW]], %c64
// CHECK-NEXT: %[[BIASAT:.*]] = arith.addi %[[BIASROW]], %[[COLUMN]]
// CHECK-NEXT: %bias = row.read %{{.*}}[%[[BIASAT]]] {align = 16 : i64} : memref<?xf32> -> vector<32xf32>
// CHECK-NEXT: row.yield %bias : vector<32xf32>
func.func @ring(%values: tensor<?x64xf32>, %scores: tensor<?x64xf32>, %plan: tensor<?x4xi32>,
                %bias: tensor<4x64xf32>, %state: !ring, %out: tensor<?x32xf32>)
    -> tensor<?x32xf32> {
  %0 = dsv4.kernel @ring(%values, %scores, %plan, %bias, %state, %out)
      : (tensor<?x64xf32>, tensor<?x64xf32>, tensor<?x4xi32>, tensor<4x64xf32>, !ring,
         tensor<?x32xf32>) -> tensor<?x32xf32> {
  ^bb0(%v: tensor<?x64xf32>, %s: tensor<?x64xf32>, %p: tensor<?x4xi32>, %b: tensor<4x64xf32>,
       %c: !ring, %o: tensor<?x32xf32>):
    %r = dsv4.compress %v, %s window 4 overlap plan(%p : tensor<?x4xi32>)
        bias(%b : tensor<4x64xf32>) state(%c : !ring) ring 16
        outs(%o : tensor<?x32xf32>) : tensor<?x64xf32>, tensor<?x64xf32>
    dsv4.yield %r : tensor<?x32xf32>
  }
  return %0 : tensor<?x32xf32>
}

// The state in pages that a table names, with the bias in its scores already: it is read for rows
// of the launch alone.
// CHECK-LABEL: dsv4.kernel @pages(
// CHECK-DAG: %[[REQUESTS:.*]] = dsv4.extent %[[TABLE:.*]], 0 : tensor<?x?xi32>
// CHECK-DAG: %[[PAGES:.*]] = dsv4.extent %[[TABLE]], 1 : tensor<?x?xi32>
// CHECK: row.window %all_in_launch scores {
// CHECK-NOT: %bias
// CHECK: } else {
// CHECK: %in_launch = arith.cmpi sge, %at
// CHECK-NOT: arith.remsi
// CHECK: %[[HASREQUEST:.*]] = arith.andi
// CHECK: %logical_page = arith.divsi %{{.*}}, %c16
// CHECK-NEXT: %[[HASPAGE:.*]] = arith.cmpi slt, %logical_page, %[[PAGES]]
// CHECK-NEXT: %in_table = arith.andi %[[HASREQUEST]], %[[HASPAGE]]
// CHECK-NEXT: %page = scf.if %in_table -> (i32) {
// CHECK: %slot = arith.remsi %{{.*}}, %c16
// CHECK: %valid = arith.andi
// CHECK: arith.select %in_launch, %{{.*}}, %valid : i1
// CHECK: %scores = row.read %scores_memory[%{{.*}}] if %is_there
// CHECK: %[[S:.*]] = arith.extf %{{.*}} : vector<32xbf16> to vector<32xf32>
// CHECK: %bias = row.read %{{.*}}[%{{.*}}] if %in_launch {align = 16 : i64} : memref<?xf32> -> vector<32xf32>
// CHECK-NEXT: %[[SUM:.*]] = arith.addf %[[S]], %bias
// CHECK-NEXT: row.window_row %is_there, %[[SUM]]
// CHECK: } offsets {
// CHECK: %bias = row.read %{{.*}}[%{{.*}}] {align
func.func @pages(%values: tensor<?x64xbf16>, %scores: tensor<?x64xbf16>, %plan: tensor<?x4xi32>,
                 %bias: tensor<4x64xf32>, %state: !paged, %table: tensor<?x?xi32>,
                 %out: tensor<?x32xf32>) -> tensor<?x32xf32> {
  %0 = dsv4.kernel @pages(%values, %scores, %plan, %bias, %state, %table, %out)
      : (tensor<?x64xbf16>, tensor<?x64xbf16>, tensor<?x4xi32>, tensor<4x64xf32>, !paged,
         tensor<?x?xi32>, tensor<?x32xf32>) -> tensor<?x32xf32> {
  ^bb0(%v: tensor<?x64xbf16>, %s: tensor<?x64xbf16>, %p: tensor<?x4xi32>, %b: tensor<4x64xf32>,
       %c: !paged, %t: tensor<?x?xi32>, %o: tensor<?x32xf32>):
    %r = dsv4.compress %v, %s window 4 overlap plan(%p : tensor<?x4xi32>)
        bias(%b : tensor<4x64xf32>) state(%c : !paged) biased pages(%t : tensor<?x?xi32>)
        outs(%o : tensor<?x32xf32>) : tensor<?x64xbf16>, tensor<?x64xbf16>
    dsv4.yield %r : tensor<?x32xf32>
  }
  return %0 : tensor<?x32xf32>
}

// Fields in arrays, and a ring that divides the page: an entry has an index in the pool.
// CHECK-LABEL: dsv4.kernel @arrays(
// CHECK-DAG: %[[SCORES:.*]] = dsv4.buffer %[[STATE:.*]]["scores"] : {{.*}} to memref<?xi8>
// CHECK-DAG: %[[VALUES:.*]] = dsv4.buffer %[[STATE]]["values"] : {{.*}} to memref<?xi8>
// CHECK: row.window_reduce 4 :
// CHECK: } else {
// CHECK: %in_ring = arith.remsi %{{.*}}, %c12
// CHECK-NEXT: %[[FIRST:.*]] = arith.muli %{{.*}}, %c12
// CHECK-NEXT: %[[ENTRY:.*]] = arith.addi %[[FIRST]], %in_ring
// CHECK: %page = arith.divsi %[[ENTRY]], %c24
// CHECK-NOT: %page_start
// CHECK: %[[BYTES:.*]] = row.constant "arg{{[0-9]+}}_{{[a-z]+}}_bytes" = 128
// CHECK: arith.muli %[[ENTRY]], %[[BYTES]]
// CHECK: %[[AT:.*]] = row.bytes %[[SCORES]][%{{.*}}] : memref<?xi8> to memref<?xi8>
// CHECK-NEXT: %scores_memory = arith.select %in_launch, %{{.*}}, %[[AT]] : memref<?xi8>
// CHECK: %[[AT:.*]] = row.bytes %[[VALUES]][%{{.*}}] : memref<?xi8> to memref<?xi8>
// CHECK-NEXT: %values_memory = arith.select %in_launch, %{{.*}}, %[[AT]] : memref<?xi8>
// CHECK-NOT: %bias
func.func @arrays(%values: tensor<?x32xf32>, %scores: tensor<?x32xf32>, %plan: tensor<?x4xi32>,
                  %state: !arrays, %out: tensor<?x32xf32>) -> tensor<?x32xf32> {
  %0 = dsv4.kernel @arrays(%values, %scores, %plan, %state, %out)
      : (tensor<?x32xf32>, tensor<?x32xf32>, tensor<?x4xi32>, !arrays, tensor<?x32xf32>)
      -> tensor<?x32xf32> {
  ^bb0(%v: tensor<?x32xf32>, %s: tensor<?x32xf32>, %p: tensor<?x4xi32>, %c: !arrays,
       %o: tensor<?x32xf32>):
    %r = dsv4.compress %v, %s window 4 plan(%p : tensor<?x4xi32>) state(%c : !arrays) ring 12
        outs(%o : tensor<?x32xf32>) : tensor<?x32xf32>, tensor<?x32xf32>
    dsv4.yield %r : tensor<?x32xf32>
  }
  return %0 : tensor<?x32xf32>
}

// A ring through a table: the page of the position in the ring.
// CHECK-LABEL: dsv4.kernel @ring_of_pages(
// CHECK: } else {
// CHECK: %in_ring = arith.remsi %{{.*}}, %c48
// CHECK-NEXT: %logical_page = arith.divsi %in_ring, %c24
// CHECK: %page = scf.if %in_table -> (i32) {
// CHECK: memref.load
// CHECK: %[[PAGE:.*]] = arith.index_cast %page
// CHECK-NEXT: %slot = arith.remsi %in_ring, %c24
// CHECK-NEXT: %[[BASE:.*]] = arith.muli %[[PAGE]], %c24
// CHECK-NEXT: %[[ENTRY:.*]] = arith.addi %[[BASE]], %slot
// CHECK: %[[BYTES:.*]] = row.constant "arg{{[0-9]+}}_{{[a-z]+}}_bytes" = 128
// CHECK: arith.muli %[[ENTRY]], %[[BYTES]]
func.func @ring_of_pages(%values: tensor<?x32xf32>, %scores: tensor<?x32xf32>,
                         %plan: tensor<?x4xi32>, %state: !arrays, %table: tensor<?x?xi32>,
                         %out: tensor<?x32xf32>) -> tensor<?x32xf32> {
  %0 = dsv4.kernel @ring_of_pages(%values, %scores, %plan, %state, %table, %out)
      : (tensor<?x32xf32>, tensor<?x32xf32>, tensor<?x4xi32>, !arrays, tensor<?x?xi32>,
         tensor<?x32xf32>) -> tensor<?x32xf32> {
  ^bb0(%v: tensor<?x32xf32>, %s: tensor<?x32xf32>, %p: tensor<?x4xi32>, %c: !arrays,
       %t: tensor<?x?xi32>, %o: tensor<?x32xf32>):
    %r = dsv4.compress %v, %s window 4 plan(%p : tensor<?x4xi32>) state(%c : !arrays) ring 48
        pages(%t : tensor<?x?xi32>)
        outs(%o : tensor<?x32xf32>) : tensor<?x32xf32>, tensor<?x32xf32>
    dsv4.yield %r : tensor<?x32xf32>
  }
  return %0 : tensor<?x32xf32>
}
