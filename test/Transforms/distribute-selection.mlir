// A thread computes vectors of columns by itself: 4 elements, and the one scale that they have.

// RUN: dsv4-opt %s --convert-dsv4-to-row --dsv4-distribute-rows --canonicalize --cse | FileCheck %s

#f8 = #dsv4.format<f8E4M3FN, [<f8E8M0FNU per 32>]>

// CHECK-LABEL: dsv4.kernel @stream
// CHECK: %[[BLOCK:.*]] = gpu.block_id x
// CHECK: %[[ROW:.*]] = arith.divui %[[BLOCK]], %c8
// CHECK: cuda.select 8 of %{{.*}} max 64 order sorted algorithm stream threads 128 vectors 2 cluster 8 : index load {
// CHECK: ^bb0(%[[COLUMN:.*]]: index):
// CHECK-DAG: %[[GROUP:.*]] = arith.divsi %[[COLUMN]], %c32
// CHECK-DAG: cuda.load %{{.*}} -> vector<1x4xf8E4M3FN>
// CHECK-DAG: cuda.load %{{.*}} -> vector<1xf8E8M0FNU>
// CHECK: %[[X:.*]] = arith.mulf %{{.*}}, %{{.*}} : vector<1x4xf32>
// CHECK: cuda.select_yield %[[X]] : vector<1x4xf32>
// CHECK: } emit {
// CHECK: ^bb0(%[[RANK:.*]]: index, %[[INDEX:.*]]: index, %[[VALUE:.*]]: f32):
// CHECK: memref.store %{{.*}} : memref<?xi32>
// CHECK: memref.store %[[VALUE]], %{{.*}} : memref<?xf32>
func.func @stream(%d: tensor<?x64xf8E4M3FN>, %s: tensor<?x2xf8E8M0FNU>, %i: tensor<?x8xi32>, %v: tensor<?x8xf32>, %o: tensor<?x64xf32>) {
  %0:2 = dsv4.kernel @stream(%d, %s, %i, %v, %o) schedule <threads = 128, cluster = 8, parts = [#dsv4.select<algorithm = stream, vector = 4, vectors = 2>]>
      : (tensor<?x64xf8E4M3FN>, tensor<?x2xf8E8M0FNU>, tensor<?x8xi32>, tensor<?x8xf32>, tensor<?x64xf32>) -> (tensor<?x8xi32>, tensor<?x8xf32>) {
  ^bb0(%a: tensor<?x64xf8E4M3FN>, %b: tensor<?x2xf8E8M0FNU>, %c: tensor<?x8xi32>, %e: tensor<?x8xf32>, %f: tensor<?x64xf32>):
    %x = dsv4.dequantize %a scales(%b : tensor<?x2xf8E8M0FNU>) outs(%f : tensor<?x64xf32>) {format = #f8} : tensor<?x64xf8E4M3FN>
    %1, %2 = dsv4.topk %x order sorted outs(%c, %e : tensor<?x8xi32>, tensor<?x8xf32>) : tensor<?x64xf32>
    dsv4.yield %1, %2 : tensor<?x8xi32>, tensor<?x8xf32>
  }
  return
}

// CHECK-LABEL: dsv4.kernel @registers
func.func @registers(%s: tensor<?x64xf32>, %i: tensor<?x8xi32>) {
  %0 = dsv4.kernel @registers(%s, %i) schedule <threads = 64, parts = [#dsv4.select<algorithm = block, vector = 4>]>
      : (tensor<?x64xf32>, tensor<?x8xi32>) -> tensor<?x8xi32> {
  ^bb0(%a: tensor<?x64xf32>, %c: tensor<?x8xi32>):
    // CHECK: cuda.select 8 of %c64 max 64 threads 64 : index load {
    // CHECK: memref<?xf32>, index -> vector<1x4xf32>
    %1 = dsv4.topk %a outs(%c : tensor<?x8xi32>) : tensor<?x64xf32>
    dsv4.yield %1 : tensor<?x8xi32>
  }
  return
}

// Several blocks a row that are no cluster: 16 bytes of counters, and 8 elements of 8 bytes of each of 32 blocks.
// CHECK-LABEL: dsv4.kernel @grid
func.func @grid(%s: tensor<?x64xf32>, %i: tensor<?x8xi32>) {
  %0 = dsv4.kernel @grid(%s, %i) schedule <threads = 64, parts = [#dsv4.select<algorithm = grid, vector = 4, vectors = 2, blocks = 32>]>
      : (tensor<?x64xf32>, tensor<?x8xi32>) -> tensor<?x8xi32> {
  ^bb0(%a: tensor<?x64xf32>, %c: tensor<?x8xi32>):
    // CHECK: %[[BLOCK:.*]] = gpu.block_id x
    // CHECK: arith.divui %[[BLOCK]], %c32
    // CHECK: %[[W:.*]] = dsv4.workspace 2064 : memref<?xi8>
    // CHECK: cuda.select 8 of %c64 max 64 algorithm grid threads 64 vectors 2 blocks 32 in %[[W]] : index, memref<?xi8> load {
    %1 = dsv4.topk %a outs(%c : tensor<?x8xi32>) : tensor<?x64xf32>
    dsv4.yield %1 : tensor<?x8xi32>
  }
  return
}

// Numbers of a whole row are found before the selection, which has the row's scores of the same lanes.
// CHECK-LABEL: dsv4.kernel @softmax
// CHECK: %[[LANE:.*]] = arith.remui %{{.*}}, %c32
// CHECK: %[[X:.*]] = cuda.load %{{.*}} stride 128 : memref<?xf32>, index -> vector<2x4xf32>
// CHECK: %[[MOST:.*]] = cuda.reduce max_nan %[[X]] per 256 lanes 32
// CHECK: %[[SUM:.*]] = cuda.reduce sum %{{.*}} per 256 lanes 32
// CHECK: %[[SCORES:.*]] = arith.divf %{{.*}} : vector<2x4xf32>
// The bias needs no whole row: it is read by columns.
// CHECK: cuda.select 8 of %c256 max 256 order sorted algorithm warp threads 32 vectors 2 computed
// CHECK: ^bb0(%[[COLUMN:.*]]: index):
// CHECK: %[[BIAS:.*]] = cuda.load %{{.*}}[%[[COLUMN]]] : memref<?xf32>, index -> vector<1x4xf32>
// CHECK: %[[VECTOR:.*]] = cuda.columns %[[SCORES]] at %[[COLUMN]] lanes 32 : vector<2x4xf32>, index to vector<1x4xf32>
// CHECK: %[[KEYS:.*]] = arith.addf %[[VECTOR]], %[[BIAS]] : vector<1x4xf32>
// CHECK-NEXT: cuda.select_yield %[[KEYS]]
// CHECK: } emit {
// CHECK-DAG: cuda.load %{{.*}} -> vector<1x1xf32>
// CHECK-DAG: cuda.expand %[[MOST]] : vector<1xf32> to vector<1x1xf32>
// CHECK-DAG: cuda.expand %[[SUM]] : vector<1xf32> to vector<1x1xf32>
// The bias chooses and does not weigh.
// CHECK-NOT: arith.addf
// CHECK: cuda.store
func.func @softmax(%x: tensor<?x256xf32>, %b: tensor<256xf32>, %i: tensor<?x8xi32>, %v: tensor<?x8xf32>, %o: tensor<?x256xf32>) {
  %0:2 = dsv4.kernel @softmax(%x, %b, %i, %v, %o) schedule <threads = 128, parts = [#dsv4.select<algorithm = warp, vector = 4>]>
      : (tensor<?x256xf32>, tensor<256xf32>, tensor<?x8xi32>, tensor<?x8xf32>, tensor<?x256xf32>) -> (tensor<?x8xi32>, tensor<?x8xf32>) {
  ^bb0(%a: tensor<?x256xf32>, %e: tensor<256xf32>, %c: tensor<?x8xi32>, %d: tensor<?x8xf32>, %f: tensor<?x256xf32>):
    %s = dsv4.gate %a function softmax outs(%f : tensor<?x256xf32>) : tensor<?x256xf32>
    %1 = dsv4.topk %s bias(%e : tensor<256xf32>) order sorted outs(%c : tensor<?x8xi32>) : tensor<?x256xf32>
    %2 = dsv4.route_weights %s[%1] outs(%d : tensor<?x8xf32>) : tensor<?x256xf32>, tensor<?x8xi32>
    dsv4.yield %1, %2 : tensor<?x8xi32>, tensor<?x8xf32>
  }
  return
}
