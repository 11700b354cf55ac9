// Row programs of routers: what is selected is weighed rank by rank, what is looked up is a row of its own.
// Distribution computes what a warp has selected in the second region of the selection.

// DEFINE: %{row} = dsv4-opt %s --dsv4-form-kernels --dsv4-select-schedule=arch=sm_90a --convert-dsv4-to-row
// RUN: %{row} --canonicalize --cse | FileCheck %s
// RUN: %{row} --dsv4-distribute-rows --canonicalize --cse | FileCheck %s --check-prefix=LANES

// The bias chooses and does not weigh.
// CHECK-LABEL: func.func @router
// CHECK: dsv4.kernel @router{{.*}} schedule <threads = 32, {{.*}}#dsv4.select<algorithm = warp, {{.*}}>]>
// CHECK: %[[LOGITS:.*]] = row.read %{{.*}}[%{{.*}}] {align = 16 : i64} : memref<?xf32> -> vector<64xf32>
// CHECK-NEXT: %[[SCORES:.*]] = row.activation sigmoid %[[LOGITS]] : vector<64xf32>
// One row for all tokens.
// CHECK-NEXT: %[[BIAS:.*]] = row.read %{{.*}}[%c0] {align = 16 : i64}
// CHECK-NEXT: %[[KEYS:.*]] = arith.addf %[[SCORES]], %[[BIAS]]
// CHECK-NEXT: %[[I:[a-z]+]], %{{.*}} = row.select %[[KEYS]] length %c64 order sorted : vector<64xf32> -> vector<6xi32>, vector<6xf32>
// CHECK-NEXT: %[[ELEMENTS:.*]] = row.gather_elements %[[SCORES]] at %[[I]] : vector<64xf32>, vector<6xi32> -> vector<6xf32>
// CHECK-NEXT: %[[PICKED:.*]] = row.where_valid %[[ELEMENTS]] at %[[I]] below 64
// CHECK-NEXT: %[[SUM:.*]] = row.reduce sum %[[PICKED]] per 6
// CHECK-NEXT: %[[BOUNDED:.*]] = arith.maximumf %[[SUM]]
// CHECK-NEXT: %[[ALL:.*]] = row.expand %[[BOUNDED]] : vector<1xf32> to vector<6xf32>
// CHECK-NEXT: %[[PART:.*]] = arith.divf %[[PICKED]], %[[ALL]]
// CHECK-NEXT: %[[WEIGHT:.*]] = arith.mulf %[[PART]]
// CHECK-NEXT: %[[AT:.*]] = arith.muli %{{.*}}, %c6
// CHECK-NEXT: row.write %[[I]], %{{.*}}[%[[AT]]] {align = 8 : i64}
// CHECK-NEXT: row.write %[[WEIGHT]], %{{.*}}[%[[AT]]] {align = 8 : i64}

// LANES-LABEL: func.func @router
// LANES: cuda.select 6 of %{{.*}} max 64 order sorted algorithm warp threads 32 computed : index load {
// LANES-NEXT: ^bb0(%[[COLUMN:.*]]: index):
// LANES: %[[LOGITS:.*]] = cuda.load %[[X:.*]][%{{.*}}] : memref<?xf32>, index -> vector<1x4xf32>
// LANES-NEXT: %[[BIAS:.*]] = cuda.load %{{.*}}[%[[COLUMN]]] : memref<?xf32>, index -> vector<1x4xf32>
// LANES-NEXT: %[[SCORES:.*]] = row.activation sigmoid %[[LOGITS]] : vector<1x4xf32>
// LANES-NEXT: %[[KEYS:.*]] = arith.addf %[[SCORES]], %[[BIAS]]
// LANES-NEXT: cuda.select_yield %[[KEYS]]
// LANES: emit {
// LANES-NEXT: ^bb0(%[[RANK:.*]]: index, %[[INDEX:.*]]: index, %{{.*}}: f32):
// LANES: %[[I:.*]] = arith.index_cast %[[INDEX]] : index to i32
// LANES: %[[THERE:.*]] = arith.maxsi %[[INDEX]], %c0
// LANES: %[[FROM:.*]] = arith.addi %{{.*}}, %[[THERE]]
// LANES-NEXT: %[[LOGIT:.*]] = cuda.load %[[X]][%[[FROM]]] : memref<?xf32>, index -> vector<1x1xf32>
// LANES-NEXT: %[[SCORE:.*]] = row.activation sigmoid %[[LOGIT]]
// LANES-NEXT: %[[PICKED:.*]] = row.where_valid %[[SCORE]] at %[[I]] below 64
// LANES-NEXT: %[[SUM:.*]] = cuda.reduce sum %[[PICKED]] per 8 lanes 8 : vector<1x1xf32> to vector<1x1xf32>
// LANES-NEXT: %[[BOUNDED:.*]] = arith.maximumf %[[SUM]]
// LANES-NEXT: %[[PART:.*]] = arith.divf %[[PICKED]], %[[BOUNDED]]
// LANES-NEXT: %[[WEIGHT:.*]] = arith.mulf %[[PART]]
// The other threads of the warp have no rank.
// LANES-NEXT: %[[HASRANK:.*]] = arith.cmpi slt, %[[RANK]], %c6
// LANES-NEXT: scf.if %[[HASRANK]] {
// LANES: %[[AT:.*]] = arith.addi %{{.*}}, %[[RANK]]
// LANES-DAG: memref.store %[[I]], %{{.*}}[%[[AT]]]
// LANES-DAG: cuda.store %[[WEIGHT]], %{{.*}}[%[[AT]]]
// LANES: cuda.select_yield
func.func @router(%x: tensor<4x64xf32>, %b: tensor<64xf32>, %i: tensor<4x6xi32>, %o: tensor<4x6xf32>)
    -> (tensor<4x6xi32>, tensor<4x6xf32>) {
  %e = tensor.empty() : tensor<4x64xf32>
  %g = dsv4.gate %x function sigmoid outs(%e : tensor<4x64xf32>) : tensor<4x64xf32>
  %c = dsv4.topk %g bias(%b : tensor<64xf32>) order sorted outs(%i : tensor<4x6xi32>) : tensor<4x64xf32>
  %w = dsv4.route_weights %g[%c] renormalize scale 2.0 outs(%o : tensor<4x6xf32>) : tensor<4x64xf32>, tensor<4x6xi32>
  return %c, %w : tensor<4x6xi32>, tensor<4x6xf32>
}

// Of the logits only those are read that the table names.
// CHECK-LABEL: func.func @hash
// CHECK: dsv4.kernel @hash
// CHECK: %[[ID:.*]] = arith.index_cast
// CHECK: %[[IN:.*]] = arith.andi
// CHECK: %[[ENTRIES:.*]] = row.read {{.*}} if %[[IN]] {{.*}} -> vector<6xi32>
// CHECK-NEXT: %[[FOUND:.*]] = arith.select %[[IN]], %[[ENTRIES]]
// CHECK: %[[LOGITS:.*]] = row.read {{.*}} : memref<?xbf16> -> vector<64xbf16>
// CHECK-NEXT: %[[WIDE:.*]] = arith.extf %[[LOGITS]]
// CHECK-NEXT: %[[SCORES:.*]] = row.activation sigmoid %[[WIDE]]
// CHECK-NEXT: %[[ELEMENTS:.*]] = row.gather_elements %[[SCORES]] at %[[FOUND]] : vector<64xf32>, vector<6xi32> -> vector<6xf32>
// CHECK-NEXT: %[[PICKED:.*]] = row.where_valid %[[ELEMENTS]] at %[[FOUND]] below 64 : vector<6xf32>, vector<6xi32>
// CHECK-NEXT: row.reduce sum %[[PICKED]] per 6
// CHECK-NOT: row.read
// CHECK: row.write %[[FOUND]]
// CHECK: row.write

// LANES-LABEL: func.func @hash
// LANES: %[[IN:.*]] = arith.andi
// LANES: %[[ENTRIES:.*]] = cuda.load {{.*}} -> vector<1x1xi32>
// LANES-NOT: cuda.load
// LANES: %[[FOUND:.*]] = arith.select %[[IN]], %[[ENTRIES]]
// LANES-NOT: cuda.load
// LANES: %[[LOGITS:.*]] = cuda.gather %{{.*}} at %[[FOUND]] below 64 : memref<?xbf16>, index, vector<1x1xi32> -> vector<1x1xbf16>
// LANES-NEXT: %[[WIDE:.*]] = arith.extf %[[LOGITS]]
// LANES-NEXT: %[[SCORES:.*]] = row.activation sigmoid %[[WIDE]]
// LANES-NEXT: row.where_valid %[[SCORES]] at %[[FOUND]] below 64
// LANES-NOT: cuda.load
// LANES: return
func.func @hash(%t: tensor<9x6xi32>, %d: tensor<4xi32>, %x: tensor<4x64xbf16>, %i: tensor<4x6xi32>,
                %o: tensor<4x6xf32>) -> (tensor<4x6xi32>, tensor<4x6xf32>) {
  %e = tensor.empty() : tensor<4x64xf32>
  %c = dsv4.lookup %t[%d] outs(%i : tensor<4x6xi32>) : tensor<9x6xi32>, tensor<4xi32>
  %g = dsv4.gate %x function sigmoid outs(%e : tensor<4x64xf32>) : tensor<4x64xbf16>
  %w = dsv4.route_weights %g[%c] renormalize outs(%o : tensor<4x6xf32>) : tensor<4x64xf32>, tensor<4x6xi32>
  return %c, %w : tensor<4x6xi32>, tensor<4x6xf32>
}

// CHECK-LABEL: func.func @softmax
// CHECK: %[[X:.*]] = row.read
// CHECK-NEXT: %[[MOST:.*]] = row.reduce max_nan %[[X]] per 64 : vector<64xf32> to vector<1xf32>
// CHECK-NEXT: %[[ALL:.*]] = row.expand %[[MOST]] : vector<1xf32> to vector<64xf32>
// CHECK-NEXT: %[[BELOW:.*]] = arith.subf %[[X]], %[[ALL]]
// CHECK-NEXT: %[[POWERS:.*]] = row.activation exp %[[BELOW]]
// CHECK-NEXT: %[[SUM:.*]] = row.reduce sum %[[POWERS]] per 64
// CHECK-NEXT: %[[BY:.*]] = row.expand %[[SUM]] : vector<1xf32> to vector<64xf32>
// CHECK-NEXT: arith.divf %[[POWERS]], %[[BY]]
func.func @softmax(%x: tensor<4x64xf32>, %o: tensor<4x64xf32>) -> tensor<4x64xf32> {
  %g = dsv4.gate %x function softmax outs(%o : tensor<4x64xf32>) : tensor<4x64xf32>
  return %g : tensor<4x64xf32>
}
