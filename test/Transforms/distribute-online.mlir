// Segments of windows, of which no more tokens are loaded ahead than there are: the lanes of a group of threads share the channels of what the regions read, give and
// store. The others of the row program stay as they are.

// RUN: dsv4-opt %s --convert-dsv4-to-row --cse --dsv4-distribute-rows --cse --mlir-use-nameloc-as-prefix | FileCheck %s

!state = !dsv4.cache<8 x <[<"max" : 128 x f32 in row>, <"sum" : 128 x f32 in row>,
                           <"acc" : 128 x f32 in row>]>>

// CHECK-LABEL: func.func @segments
// CHECK: %pooled = cuda.window_reduce_online 8 at %{{.*}} of %{{.*}} count 2 threads 64 lanes 16 groups 2 : index, index to vector<2x4xf32> {
// CHECK-NEXT: ^bb0(%segment: index):
// CHECK: %known = arith.andi
// CHECK: %kept = cuda.in_pool
// CHECK: cuda.window_segment %tokens known %known kept %kept ends %ends : index begin {
// CHECK-NEXT: ^bb0(%block_lane: index):
// Two elements per lane, eight bytes of the state.
// CHECK: %[[PART:.*]] = arith.muli %block_lane, %c8
// CHECK-NEXT: %[[AT:.*]] = arith.addi %entry, %[[PART]]
// CHECK-NEXT: %max = cuda.load %{{.*}}[%[[AT]]] : memref<?xi8>, index -> vector<1x2xf32>
// CHECK: %sum = cuda.load
// CHECK: %acc = cuda.load
// CHECK-NEXT: cuda.window_yield %max, %sum, %acc : vector<1x2xf32>, vector<1x2xf32>, vector<1x2xf32>
// CHECK-NEXT: } member {
// CHECK-NEXT: ^bb0(%member: index, %block_lane: index):
// CHECK: %[[PART:.*]] = arith.muli %block_lane, %c2
// CHECK-NEXT: %[[AT:.*]] = arith.addi %{{.*}}, %[[PART]]
// CHECK-NEXT: %scores = cuda.load %{{.*}}[%[[AT]]] staged : memref<?xf32>, index -> vector<1x2xf32>
// CHECK-NEXT: cuda.window_yield %scores, %scores : vector<1x2xf32>, vector<1x2xf32>
// CHECK-NEXT: } end {
// CHECK-NEXT: ^bb0(%block_lane: index, %max: vector<1x2xf32>, %sum: vector<1x2xf32>, %acc: vector<1x2xf32>):
// CHECK: %[[PART:.*]] = arith.muli %block_lane, %c8
// CHECK-NEXT: %[[AT:.*]] = arith.addi %entry, %[[PART]]
// CHECK-NEXT: cuda.store %max, %{{.*}}[%[[AT]]] : vector<1x2xf32>, memref<?xi8>, index
// CHECK: cuda.store %sum
// CHECK: cuda.store %acc
// CHECK-NEXT: cuda.window_yield{{$}}
// CHECK: scf.if
// CHECK: cuda.store %pooled
func.func @segments(%values: tensor<?x128xf32>, %plan: tensor<?x5xi32>, %state: !state,
                  %out: tensor<?x128xf32>) -> tensor<?x128xf32> {
  %0 = dsv4.kernel @segments(%values, %plan, %state, %out)
      schedule <threads = 64, parts = [#dsv4.rows<lanes = 16, vector = 4>, #dsv4.window<elements = 2, rows = 2>]>
      : (tensor<?x128xf32>, tensor<?x5xi32>, !state, tensor<?x128xf32>) -> tensor<?x128xf32> {
  ^bb0(%v: tensor<?x128xf32>, %p: tensor<?x5xi32>, %c: !state, %o: tensor<?x128xf32>):
    %pooled = dsv4.compress %v, %v window 8 algorithm online plan(%p : tensor<?x5xi32>)
        state(%c : !state) outs(%o : tensor<?x128xf32>) : tensor<?x128xf32>, tensor<?x128xf32>
    dsv4.yield %pooled : tensor<?x128xf32>
  }
  return %0 : tensor<?x128xf32>
}

// A lane with several vectors of a long row.
// CHECK-LABEL: func.func @steps
// CHECK: cuda.window_reduce_online 8 at
// CHECK: %max = cuda.load %{{.*}} stride 256 : memref<?xi8>, index -> vector<2x2xf32>
// CHECK: cuda.store %max, %{{.*}} stride 256 : vector<2x2xf32>, memref<?xi8>, index
func.func @steps(%values: tensor<?x128xf32>, %plan: tensor<?x5xi32>, %state: !state,
                 %out: tensor<?x128xf32>) -> tensor<?x128xf32> {
  %0 = dsv4.kernel @steps(%values, %plan, %state, %out)
      schedule <threads = 32, parts = [#dsv4.rows<lanes = 16, vector = 4>, #dsv4.window<elements = 2>]>
      : (tensor<?x128xf32>, tensor<?x5xi32>, !state, tensor<?x128xf32>) -> tensor<?x128xf32> {
  ^bb0(%v: tensor<?x128xf32>, %p: tensor<?x5xi32>, %c: !state, %o: tensor<?x128xf32>):
    %pooled = dsv4.compress %v, %v window 8 algorithm online plan(%p : tensor<?x5xi32>)
        state(%c : !state) outs(%o : tensor<?x128xf32>) : tensor<?x128xf32>, tensor<?x128xf32>
    dsv4.yield %pooled : tensor<?x128xf32>
  }
  return %0 : tensor<?x128xf32>
}

// Four blocks share a row: lanes are counted over the cluster. A lane holds rows as they are stored, and
// has registers for as many of them as its blocks leave.
// CHECK-LABEL: func.func @cluster
// CHECK: cuda.window_reduce_online 64 at %first_row of %{{.*}} threads 32 lanes 16 cluster 4 groups 4 : index, index to vector<2x4xf32> {
// CHECK: %scores = cuda.load %{{.*}} : memref<?xbf16>, index -> vector<1x2xbf16>
// CHECK: %bias = cuda.load %{{.*}} : memref<?xf32>, index -> vector<1x2xf32>
// CHECK: cuda.window_yield %scores, %scores, %bias : vector<1x2xbf16>, vector<1x2xbf16>, vector<1x2xf32>
func.func @cluster(%values: tensor<?x128xbf16>, %plan: tensor<?x5xi32>, %bias: tensor<64x128xf32>,
                   %state: !state, %out: tensor<?x128xf32>) -> tensor<?x128xf32> {
  %0 = dsv4.kernel @cluster(%values, %plan, %bias, %state, %out)
      schedule <threads = 32, cluster = 4, min_blocks = 16, parts = [#dsv4.rows<lanes = 16, vector = 4>, #dsv4.window<elements = 2>]>
      : (tensor<?x128xbf16>, tensor<?x5xi32>, tensor<64x128xf32>, !state, tensor<?x128xf32>) -> tensor<?x128xf32> {
  ^bb0(%v: tensor<?x128xbf16>, %p: tensor<?x5xi32>, %b: tensor<64x128xf32>, %c: !state, %o: tensor<?x128xf32>):
    %pooled = dsv4.compress %v, %v window 64 algorithm online plan(%p : tensor<?x5xi32>)
        bias(%b : tensor<64x128xf32>) state(%c : !state)
        outs(%o : tensor<?x128xf32>) : tensor<?x128xbf16>, tensor<?x128xbf16>
    dsv4.yield %pooled : tensor<?x128xf32>
  }
  return %0 : tensor<?x128xf32>
}

// A warp has lanes of one row alone, so rows go through shared memory: 6 KiB a group, and eight blocks of a
// multiprocessor have 18 each.
// CHECK-LABEL: func.func @shared
// CHECK: cuda.window_reduce_online 64 at %{{.*}} of %{{.*}} threads 64 lanes 16 groups 3 : index, index to vector<2x4xf32> {
// CHECK-COUNT-2: cuda.load %{{.*}} staged : memref<?xf32>, index -> vector<1x2xf32>
func.func @shared(%values: tensor<?x128xf32>, %plan: tensor<?x5xi32>, %bias: tensor<64x128xf32>,
                 %state: !state, %out: tensor<?x128xf32>) -> tensor<?x128xf32> {
  %0 = dsv4.kernel @shared(%values, %plan, %bias, %state, %out)
      schedule <threads = 64, min_blocks = 8, parts = [#dsv4.rows<lanes = 16, vector = 4>, #dsv4.window<elements = 2>]>
      : (tensor<?x128xf32>, tensor<?x5xi32>, tensor<64x128xf32>, !state, tensor<?x128xf32>) -> tensor<?x128xf32> {
  ^bb0(%v: tensor<?x128xf32>, %p: tensor<?x5xi32>, %b: tensor<64x128xf32>, %c: !state, %o: tensor<?x128xf32>):
    %pooled = dsv4.compress %v, %v window 64 algorithm online plan(%p : tensor<?x5xi32>)
        bias(%b : tensor<64x128xf32>) state(%c : !state)
        outs(%o : tensor<?x128xf32>) : tensor<?x128xf32>, tensor<?x128xf32>
    dsv4.yield %pooled : tensor<?x128xf32>
  }
  return %0 : tensor<?x128xf32>
}

// With room for one group nothing is in flight while that is merged: registers are as good.
// CHECK-LABEL: func.func @no_room
// CHECK: cuda.window_reduce_online 64 at %{{.*}} of %{{.*}} threads 64 lanes 16 : index, index to vector<2x4xf32> {
// CHECK-NOT: staged
func.func @no_room(%values: tensor<?x128xf32>, %plan: tensor<?x5xi32>, %bias: tensor<64x128xf32>,
                  %state: !state, %out: tensor<?x128xf32>) -> tensor<?x128xf32> {
  %0 = dsv4.kernel @no_room(%values, %plan, %bias, %state, %out)
      schedule <threads = 64, min_blocks = 16, parts = [#dsv4.rows<lanes = 16, vector = 4>, #dsv4.window<elements = 2>]>
      : (tensor<?x128xf32>, tensor<?x5xi32>, tensor<64x128xf32>, !state, tensor<?x128xf32>) -> tensor<?x128xf32> {
  ^bb0(%v: tensor<?x128xf32>, %p: tensor<?x5xi32>, %b: tensor<64x128xf32>, %c: !state, %o: tensor<?x128xf32>):
    %pooled = dsv4.compress %v, %v window 64 algorithm online plan(%p : tensor<?x5xi32>)
        bias(%b : tensor<64x128xf32>) state(%c : !state)
        outs(%o : tensor<?x128xf32>) : tensor<?x128xf32>, tensor<?x128xf32>
    dsv4.yield %pooled : tensor<?x128xf32>
  }
  return %0 : tensor<?x128xf32>
}

// Copies have no policy.
// CHECK-LABEL: func.func @policy
// CHECK: cuda.window_reduce_online 64 at %{{.*}} of %{{.*}} threads 64 lanes 16 groups 3 : index, index to vector<2x4xf32> {
// CHECK-NOT: staged
func.func @policy(%values: tensor<?x128xf32>, %plan: tensor<?x5xi32>, %bias: tensor<64x128xf32>,
                 %state: !state, %out: tensor<?x128xf32>) -> tensor<?x128xf32> {
  %0 = dsv4.kernel @policy(%values, %plan, %bias, %state, %out)
      schedule <threads = 64, min_blocks = 8, parts = [#dsv4.rows<lanes = 16, vector = 4, load = evict_last>, #dsv4.window<elements = 2>]>
      : (tensor<?x128xf32>, tensor<?x5xi32>, tensor<64x128xf32>, !state, tensor<?x128xf32>) -> tensor<?x128xf32> {
  ^bb0(%v: tensor<?x128xf32>, %p: tensor<?x5xi32>, %b: tensor<64x128xf32>, %c: !state, %o: tensor<?x128xf32>):
    %pooled = dsv4.compress %v, %v window 64 algorithm online plan(%p : tensor<?x5xi32>)
        bias(%b : tensor<64x128xf32>) state(%c : !state)
        outs(%o : tensor<?x128xf32>) : tensor<?x128xf32>, tensor<?x128xf32>
    dsv4.yield %pooled : tensor<?x128xf32>
  }
  return %0 : tensor<?x128xf32>
}
