// The row program of a segment of a window: the plan, what the state holds of the window, one
// token, and what the state is to hold.

// RUN: dsv4-opt %s --convert-dsv4-to-row --cse --mlir-use-nameloc-as-prefix | FileCheck %s

!state = !dsv4.cache<8 x <[<"max" : 64 x f32 in row>, <"sum" : 64 x f32 in row>,
                           <"acc" : 64 x f32 in row>]>>
!arrays = !dsv4.cache<8 x <[<"max" : 64 x f32 in array>, <"sum" : 64 x f32 in array>,
                            <"acc" : 64 x f32 in array>]>>

// CHECK-LABEL: dsv4.kernel @segment
// CHECK-SAME: dsv4.rows_of = 2 : i64, dsv4.summary = "dsv4.compress of bf16 to f32"
// CHECK-DAG: %[[TOKENS:.*]] = dsv4.extent %{{.*}}, 0 : tensor<?x64xbf16>
// CHECK-DAG: %[[PAGES:.*]] = dsv4.extent %{{.*}}, 0 : !dsv4.cache
// CHECK-DAG: %[[STATE:.*]] = dsv4.buffer %{{.*}} : !dsv4.cache<{{.*}}> to memref<?xi8>
// CHECK: scf.forall (%row)
// CHECK-NEXT: %pooled = row.window_reduce_online 4 : vector<64xf32> {
// CHECK: %[[PLAN:.*]] = arith.muli %row, %c5
// CHECK-NEXT: %position = memref.load %{{.*}}[%[[PLAN]]]
// CHECK-NEXT: %[[GIVEN:.*]] = arith.index_cast %position
// CHECK: %count = memref.load
// CHECK-NEXT: %[[COUNT:.*]] = arith.index_cast %count
// CHECK: %first_token = memref.load
// CHECK-NEXT: %[[TOKEN:.*]] = arith.index_cast %first_token
// CHECK: %from = memref.load
// CHECK-NEXT: %[[FROM:.*]] = arith.index_cast %from
// CHECK: %to = memref.load
// CHECK-NEXT: %[[TO:.*]] = arith.index_cast %to
// CHECK: %[[AT:.*]] = arith.maxsi %[[GIVEN]], %c0
// CHECK-NEXT: %segment_begin = arith.remsi %[[AT]], %c4
// No more tokens than the window and the values have.
// CHECK-NEXT: %[[ROWS:.*]] = arith.subi %[[TOKENS]], %[[TOKEN]]
// CHECK-NEXT: %[[WINDOW:.*]] = arith.subi %c4, %segment_begin
// CHECK-NEXT: %[[LESS:.*]] = arith.minsi %[[COUNT]], %[[WINDOW]]
// CHECK-NEXT: %[[THERE:.*]] = arith.minsi %[[LESS]], %[[ROWS]]
// CHECK-NEXT: arith.cmpi sgt, %[[THERE]], %c0
// CHECK-NEXT: arith.cmpi sge, %[[TOKEN]], %c0
// CHECK: arith.cmpi sle, %[[GIVEN]], %c2147479552
// CHECK: %is_segment = arith.andi
// CHECK-NEXT: %tokens = arith.select %is_segment, %[[THERE]], %c0
// CHECK-NEXT: %[[END:.*]] = arith.addi %segment_begin, %tokens
// CHECK-NEXT: %[[WHOLE:.*]] = arith.cmpi eq, %[[END]], %c4
// CHECK-NEXT: %ends = arith.andi %is_segment, %[[WHOLE]]
// The state is read after the first token of a window, and written before its last one.
// CHECK: %[[GOOD:.*]] = arith.cmpi sge, %[[FROM]], %c0
// CHECK-NEXT: %[[AFTER:.*]] = arith.cmpi sgt, %segment_begin, %c0
// CHECK-NEXT: %[[READS:.*]] = arith.andi %is_segment, %[[AFTER]]
// CHECK-NEXT: %[[READ:.*]] = arith.andi %[[READS]], %[[GOOD]]
// CHECK: %[[PAGE:.*]] = arith.divsi %[[FROM]], %c8
// CHECK: %[[INPOOL:.*]] = arith.cmpi slt, %[[PAGE]], %[[PAGES]]
// CHECK-NEXT: %known = arith.andi %[[READ]], %[[INPOOL]]
// CHECK: %[[GOOD:.*]] = arith.cmpi sge, %[[TO]], %c0
// CHECK-NEXT: %[[BEFORE:.*]] = arith.cmpi slt, %[[END]], %c4
// CHECK-NEXT: %[[WRITES:.*]] = arith.andi %is_segment, %[[BEFORE]]
// CHECK-NEXT: %[[WRITTEN:.*]] = arith.andi %[[WRITES]], %[[GOOD]]
// CHECK: %kept = row.may_write %[[WRITTEN]], %{{.*}} of %[[PAGES]]
// CHECK: row.window_segment %tokens known %known kept %kept ends %ends begin {
// CHECK: %max = row.read %[[STATE]][%{{.*}}] {align = 16 : i64} : memref<?xi8> -> vector<64xf32>
// CHECK: %sum = row.read %[[STATE]][%{{.*}}] {align = 16 : i64} : memref<?xi8> -> vector<64xf32>
// CHECK: %acc = row.read %[[STATE]][%{{.*}}] {align = 16 : i64} : memref<?xi8> -> vector<64xf32>
// CHECK-NEXT: row.yield %max, %sum, %acc : vector<64xf32>, vector<64xf32>, vector<64xf32>
// CHECK-NEXT: } member {
// CHECK: %[[STEP:.*]] = arith.muli %member, %c64
// CHECK-NEXT: %[[AT:.*]] = arith.addi %launch_start, %[[STEP]]
// CHECK-NEXT: %scores = row.read %{{.*}}[%[[AT]]] {align = 16 : i64} : memref<?xbf16> -> vector<64xbf16>
// CHECK-NEXT: %values = row.read %{{.*}}[%[[AT]]] {align = 16 : i64} : memref<?xbf16> -> vector<64xbf16>
// CHECK: %bias = row.read %{{.*}} {align = 16 : i64} : memref<?xf32> -> vector<64xf32>
// As they are loaded: what is computed here would wait for them.
// CHECK-NEXT: row.yield %scores, %values, %bias : vector<64xbf16>, vector<64xbf16>, vector<64xf32>
// CHECK-NEXT: } end {
// CHECK-NEXT: ^bb0(%max: vector<64xf32>, %sum: vector<64xf32>, %acc: vector<64xf32>):
// CHECK: row.write %max, %[[STATE]][%{{.*}}] {align = 16 : i64} : vector<64xf32>, memref<?xi8>
// CHECK: row.write %sum, %[[STATE]]
// CHECK: row.write %acc, %[[STATE]]
// CHECK-NEXT: row.yield{{$}}
// CHECK: row.write %pooled
func.func @segment(%values: tensor<?x64xbf16>, %scores: tensor<?x64xbf16>, %plan: tensor<?x5xi32>,
                 %bias: tensor<4x64xf32>, %state: !state, %out: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %0 = dsv4.kernel @segment(%values, %scores, %plan, %bias, %state, %out)
      : (tensor<?x64xbf16>, tensor<?x64xbf16>, tensor<?x5xi32>, tensor<4x64xf32>, !state,
         tensor<?x64xf32>) -> tensor<?x64xf32> {
  ^bb0(%v: tensor<?x64xbf16>, %s: tensor<?x64xbf16>, %p: tensor<?x5xi32>, %b: tensor<4x64xf32>,
       %c: !state, %o: tensor<?x64xf32>):
    %r = dsv4.compress %v, %s window 4 algorithm online plan(%p : tensor<?x5xi32>)
        bias(%b : tensor<4x64xf32>) state(%c : !state)
        outs(%o : tensor<?x64xf32>) : tensor<?x64xbf16>, tensor<?x64xbf16>
    dsv4.yield %r : tensor<?x64xf32>
  }
  return %0 : tensor<?x64xf32>
}

// Fields in arrays are found by the entry. A window of one token has one position only.
// CHECK-LABEL: dsv4.kernel @arrays
// CHECK-DAG: %[[MAX:.*]] = dsv4.buffer %[[STATE:.*]]["max"]
// CHECK-DAG: %[[SUM:.*]] = dsv4.buffer %[[STATE]]["sum"]
// CHECK-DAG: %[[ACC:.*]] = dsv4.buffer %[[STATE]]["acc"]
// CHECK: row.window_reduce_online 1 :
// CHECK-NOT: %segment_begin
// CHECK: row.window_segment
// CHECK: row.read %[[MAX]]
// CHECK: row.read %[[SUM]]
// CHECK: row.read %[[ACC]]
// CHECK: } member {
// CHECK-NOT: %bias
// CHECK: } end {
// CHECK: row.write %max, %[[MAX]]
// CHECK: row.write %sum, %[[SUM]]
// CHECK: row.write %acc, %[[ACC]]
func.func @arrays(%values: tensor<?x64xf32>, %plan: tensor<?x5xi32>, %state: !arrays,
                  %out: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %0 = dsv4.kernel @arrays(%values, %plan, %state, %out)
      : (tensor<?x64xf32>, tensor<?x5xi32>, !arrays, tensor<?x64xf32>) -> tensor<?x64xf32> {
  ^bb0(%v: tensor<?x64xf32>, %p: tensor<?x5xi32>, %c: !arrays, %o: tensor<?x64xf32>):
    %r = dsv4.compress %v, %v window 1 algorithm online plan(%p : tensor<?x5xi32>)
        state(%c : !arrays) outs(%o : tensor<?x64xf32>) : tensor<?x64xf32>, tensor<?x64xf32>
    dsv4.yield %r : tensor<?x64xf32>
  }
  return %0 : tensor<?x64xf32>
}
