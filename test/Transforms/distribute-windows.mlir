// A kernel with a group of threads: all threads of a block read windows of rows, and then the first of them
// have the rows.

// RUN: dsv4-opt %s --convert-dsv4-to-row --cse --dsv4-distribute-rows --cse --mlir-use-nameloc-as-prefix | FileCheck %s

// One row per block: no row needs a guard, and its first 16 threads have it.
// CHECK-LABEL: func.func @one_row
// CHECK: %[[ROWS:.*]] = dsv4.row_count
// CHECK: %[[THREAD:.*]] = gpu.thread_id{{ +}}x upper_bound 64
// CHECK-NEXT: %[[BLOCK:.*]] = gpu.block_id{{ +}}x upper_bound 2147483647
// CHECK: %lane = arith.remui %[[THREAD]], %c16
// CHECK-NEXT: %holds_row = arith.cmpi slt, %[[THREAD]], %c16
// CHECK-NOT: scf.if
// The plan and scalars of the row are brought to the L2 cache while the launch before ends, which may still
// write them.
// CHECK: %[[PLAN:.*]] = arith.muli %[[BLOCK]], %c4
// CHECK-NEXT: cuda.prefetch %{{.*}}[%[[PLAN]]] l2 if %holds_row : memref<?xi32>, index
// CHECK-NEXT: cuda.prefetch %{{.*}}[%[[BLOCK]]] l2 if %holds_row : memref<?xi32>, index
// CHECK-NEXT: cuda.wait_for_previous_kernel
// All threads need the plan, which is read ahead of what waits for another load.
// CHECK: %window_start = memref.load
// CHECK: %all_in_launch = arith.andi
// Loads of the row stand before the pool, and only threads that have the row wait for them.
// CHECK: %position = cuda.load %{{.*}}[%[[BLOCK]]] if %holds_row : memref<?xi32>, index -> i32
// CHECK: %[[READS:.*]] = arith.andi %holds_row, %in_table
// CHECK: %cosines = cuda.load %{{.*}} if %[[READS]] : memref<?xf32>, index -> vector<1x2xf32>
// The fragment of a lane of the result is that of the schedule.
// CHECK: %pooled = cuda.window_reduce 8 at %[[BLOCK]] of %[[ROWS]] threads 64 lanes 16 : index, index to vector<2x4xf32> {
// CHECK-NEXT: ^bb0(%entry: index):
// CHECK-NEXT: cuda.window %all_in_launch scores {
// CHECK-NEXT: ^bb0(%member: index, %block_lane: index):
// 64 lanes of the block have two elements each of the 128.
// CHECK: %[[PART:.*]] = arith.muli %block_lane, %c2
// CHECK-NEXT: %[[AT:.*]] = arith.addi %{{.*}}, %[[PART]]
// CHECK-NEXT: %scores = cuda.load %{{.*}}[%[[AT]]] : memref<?xf32>, index -> vector<1x2xf32>
// CHECK-NEXT: cuda.window_yield %scores : vector<1x2xf32>
// CHECK-NEXT: } values {
// CHECK: %[[PART:.*]] = arith.muli %block_lane, %c2
// CHECK-NEXT: %[[AT:.*]] = arith.addi %{{.*}}, %[[PART]]
// CHECK-NEXT: %values = cuda.load %{{.*}}[%[[AT]]] : memref<?xf32>, index -> vector<1x2xf32>
// CHECK-NEXT: cuda.window_yield %values : vector<1x2xf32>
// Lanes are told what they cannot compute without loads.
// CHECK-NEXT: } address {
// CHECK-NEXT: ^bb0(%member: index):
// CHECK-NOT: arith.muli
// CHECK: %is_there = arith.andi
// CHECK-NEXT: cuda.window_address %is_there : i1
// CHECK-NEXT: } else {
// CHECK-NEXT: ^bb0(%member: index, %block_lane: index, %is_there: i1):
// CHECK-NOT: arith.cmpi
// CHECK: %scores = cuda.load %{{.*}} if %is_there : memref<?xf32>, index -> vector<1x2xf32>
// CHECK-NEXT: %values = cuda.load %{{.*}} if %is_there : memref<?xf32>, index -> vector<1x2xf32>
// CHECK-NEXT: cuda.window_row %is_there, %scores, %values : vector<1x2xf32>, vector<1x2xf32>
// CHECK-NEXT: }
// CHECK-NEXT: }
// All threads come here; the arithmetic and the stores are of those that have the row.
// CHECK-NEXT: cuda.launch_dependents
// CHECK-NEXT: scf.if %holds_row {
// CHECK-NEXT: cuda.steps %pooled from 0 : vector<2x4xf32> to vector<1x4xf32>
// CHECK: cuda.store
// CHECK: cuda.steps %pooled from 1 : vector<2x4xf32> to vector<1x4xf32>
// CHECK: cuda.store %rotated
func.func @one_row(%values: tensor<?x128xf32>, %scores: tensor<?x128xf32>, %plan: tensor<?x4xi32>,
    %table: tensor<?x64xf32>, %positions: tensor<?xi32>, %out: tensor<?x128xf32>, %other: tensor<?x128xbf16>)
    -> tensor<?x128xbf16> {
  %0 = dsv4.kernel @one_row(%values, %scores, %plan, %table, %positions, %out, %other)
      schedule <threads = 64, pdl = true, parts = [#dsv4.rows<lanes = 16, vector = 4>, #dsv4.window<elements = 2>]>
      : (tensor<?x128xf32>, tensor<?x128xf32>, tensor<?x4xi32>, tensor<?x64xf32>, tensor<?xi32>,
         tensor<?x128xf32>, tensor<?x128xbf16>) -> tensor<?x128xbf16> {
  ^bb0(%v: tensor<?x128xf32>, %s: tensor<?x128xf32>, %p: tensor<?x4xi32>, %t: tensor<?x64xf32>,
       %i: tensor<?xi32>, %o: tensor<?x128xf32>, %q: tensor<?x128xbf16>):
    %pooled = dsv4.compress %v, %s window 8 plan(%p : tensor<?x4xi32>)
        outs(%o : tensor<?x128xf32>) : tensor<?x128xf32>, tensor<?x128xf32>
    %rotated = dsv4.rope %pooled table(%t : tensor<?x64xf32>) positions(%i : tensor<?xi32>)
        outs(%q : tensor<?x128xbf16>) : tensor<?x128xf32>
    dsv4.yield %rotated : tensor<?x128xbf16>
  }
  return %0 : tensor<?x128xbf16>
}

// Four rows per block, one after another and a grid apart, whose plans are brought near at first: beyond
// the last row threads that would have one read the last one again, and store nothing.
// CHECK-LABEL: func.func @four_rows
// CHECK: %[[ROWS:.*]] = dsv4.row_count
// CHECK: %[[THREAD:.*]] = gpu.thread_id{{ +}}x upper_bound 128
// CHECK-NEXT: %[[BLOCK:.*]] = gpu.block_id{{ +}}x upper_bound 536870912
// CHECK: %lane = arith.remui %[[THREAD]], %c16
// CHECK-NEXT: %[[INBLOCK:.*]] = arith.divui %[[THREAD]], %c16
// CHECK-NEXT: %[[BLOCKS:.*]] = gpu.grid_dim{{ +}}x upper_bound 536870912
// CHECK-NEXT: %[[AFTER:.*]] = arith.muli %[[INBLOCK]], %[[BLOCKS]]
// CHECK-NEXT: %row = arith.addi %[[BLOCK]], %[[AFTER]]
// CHECK-NEXT: %[[INSIDE:.*]] = arith.cmpi slt, %row, %[[ROWS]]
// CHECK: %[[LAST:.*]] = arith.subi %[[ROWS]], %c1
// CHECK-NEXT: %read_row = arith.minsi %row, %[[LAST]]
// CHECK: %holds_row = arith.cmpi slt, %[[THREAD]], %c64
// CHECK-NEXT: %[[STORES:.*]] = arith.andi %holds_row, %[[INSIDE]]
// CHECK: %[[PLAN:.*]] = arith.muli %read_row, %c4
// CHECK: cuda.prefetch %{{.*}}[%[[PLAN]]] if %holds_row : memref<?xi32>, index
// CHECK: %position = cuda.load %{{.*}}[%read_row] if %holds_row : memref<?xi32>, index -> i32
// CHECK: %pooled = cuda.window_reduce 8 at %[[BLOCK]] of %[[ROWS]] count 4 threads 128 lanes 16 : index, index to vector<4x2xf32> {
// CHECK: %scores = cuda.load %{{.*}} : memref<?xf32>, index -> vector<1x1xf32>
// CHECK-NOT: arith.addf
// CHECK: } else {
// CHECK: %[[SCORES:.*]] = arith.addf %scores, %bias : vector<1x1xf32>
// CHECK: cuda.window_row %is_there, %[[SCORES]], %values : vector<1x1xf32>, vector<1x1xf32>
// CHECK: } offsets {
// CHECK: %bias = cuda.load %{{.*}} : memref<?xf32>, index -> vector<1x1xf32>
// CHECK-NEXT: cuda.window_yield %bias : vector<1x1xf32>
// CHECK: scf.if %[[STORES]] {
// CHECK-NEXT: cuda.steps %pooled from 0
func.func @four_rows(%values: tensor<?x128xf32>, %scores: tensor<?x128xf32>, %plan: tensor<?x4xi32>,
    %bias: tensor<8x128xf32>, %table: tensor<?x64xf32>, %positions: tensor<?xi32>, %out: tensor<?x128xf32>,
    %other: tensor<?x128xbf16>) -> tensor<?x128xbf16> {
  %0 = dsv4.kernel @four_rows(%values, %scores, %plan, %bias, %table, %positions, %out, %other)
      schedule <threads = 128, parts = [#dsv4.rows<lanes = 16, vector = 2>, #dsv4.window<elements = 1, rows = 4>]>
      : (tensor<?x128xf32>, tensor<?x128xf32>, tensor<?x4xi32>, tensor<8x128xf32>, tensor<?x64xf32>, tensor<?xi32>,
         tensor<?x128xf32>, tensor<?x128xbf16>) -> tensor<?x128xbf16> {
  ^bb0(%v: tensor<?x128xf32>, %s: tensor<?x128xf32>, %p: tensor<?x4xi32>, %a: tensor<8x128xf32>, %t: tensor<?x64xf32>,
       %i: tensor<?xi32>, %o: tensor<?x128xf32>, %q: tensor<?x128xbf16>):
    %pooled = dsv4.compress %v, %s window 8 plan(%p : tensor<?x4xi32>) bias(%a : tensor<8x128xf32>)
        outs(%o : tensor<?x128xf32>) : tensor<?x128xf32>, tensor<?x128xf32>
    %rotated = dsv4.rope %pooled table(%t : tensor<?x64xf32>) positions(%i : tensor<?xi32>)
        outs(%q : tensor<?x128xbf16>) : tensor<?x128xf32>
    dsv4.yield %rotated : tensor<?x128xbf16>
  }
  return %0 : tensor<?x128xbf16>
}

// 32 threads for 128 elements: each has four of them, 32 apart. No `rows` are one.
// CHECK-LABEL: func.func @few_threads
// CHECK: %[[BLOCK:.*]] = gpu.block_id{{ +}}x upper_bound 2147483647
// CHECK-NOT: read_row
// CHECK: cuda.window_reduce 8 at %[[BLOCK]] of %{{.*}} threads 32 lanes 8 : index, index to vector<8x2xf32> {
// CHECK: %scores = cuda.load %{{.*}} stride 32 : memref<?xf32>, index -> vector<4x1xf32>
// CHECK: } else {
// CHECK: %scores = cuda.load %{{.*}} if %is_there stride 32 : memref<?xf32>, index -> vector<4x1xf32>
// CHECK: cuda.window_row %is_there, %scores, %values : vector<4x1xf32>, vector<4x1xf32>
func.func @few_threads(%values: tensor<?x128xf32>, %scores: tensor<?x128xf32>, %plan: tensor<?x4xi32>,
    %table: tensor<?x64xf32>, %positions: tensor<?xi32>, %out: tensor<?x128xf32>, %other: tensor<?x128xbf16>)
    -> tensor<?x128xbf16> {
  %0 = dsv4.kernel @few_threads(%values, %scores, %plan, %table, %positions, %out, %other)
      schedule <threads = 32, parts = [#dsv4.rows<lanes = 8, vector = 2>, #dsv4.window<elements = 1>]>
      : (tensor<?x128xf32>, tensor<?x128xf32>, tensor<?x4xi32>, tensor<?x64xf32>, tensor<?xi32>,
         tensor<?x128xf32>, tensor<?x128xbf16>) -> tensor<?x128xbf16> {
  ^bb0(%v: tensor<?x128xf32>, %s: tensor<?x128xf32>, %p: tensor<?x4xi32>, %t: tensor<?x64xf32>,
       %i: tensor<?xi32>, %o: tensor<?x128xf32>, %q: tensor<?x128xbf16>):
    %pooled = dsv4.compress %v, %s window 8 plan(%p : tensor<?x4xi32>)
        outs(%o : tensor<?x128xf32>) : tensor<?x128xf32>, tensor<?x128xf32>
    %rotated = dsv4.rope %pooled table(%t : tensor<?x64xf32>) positions(%i : tensor<?xi32>)
        outs(%q : tensor<?x128xbf16>) : tensor<?x128xf32>
    dsv4.yield %rotated : tensor<?x128xbf16>
  }
  return %0 : tensor<?x128xbf16>
}

// One block a multiprocessor, and few of them: the next kernel takes no addresses from the loads of a cluster.
// CHECK-LABEL: func.func @cluster
// CHECK: cuda.launch_dependents
// CHECK: cuda.window_reduce 16
// CHECK-NOT: cuda.launch_dependents
func.func @cluster(%values: tensor<?x128xf32>, %plan: tensor<?x4xi32>, %out: tensor<?x128xf32>) -> tensor<?x128xf32> {
  %0 = dsv4.kernel @cluster(%values, %plan, %out)
      schedule <threads = 64, cluster = 2, min_blocks = 1, pdl = true, parts = [#dsv4.rows<lanes = 16, vector = 4>, #dsv4.window<elements = 1>]>
      : (tensor<?x128xf32>, tensor<?x4xi32>, tensor<?x128xf32>) -> tensor<?x128xf32> {
  ^bb0(%v: tensor<?x128xf32>, %p: tensor<?x4xi32>, %o: tensor<?x128xf32>):
    %pooled = dsv4.compress %v, %v window 16 plan(%p : tensor<?x4xi32>)
        outs(%o : tensor<?x128xf32>) : tensor<?x128xf32>, tensor<?x128xf32>
    dsv4.yield %pooled : tensor<?x128xf32>
  }
  return %0 : tensor<?x128xf32>
}

// Of more blocks a multiprocessor it may.
// CHECK-LABEL: func.func @cluster_of_shared
// CHECK-NOT: cuda.launch_dependents
// CHECK: cuda.window_reduce 16
// CHECK: cuda.launch_dependents
func.func @cluster_of_shared(%values: tensor<?x128xf32>, %plan: tensor<?x4xi32>, %out: tensor<?x128xf32>) -> tensor<?x128xf32> {
  %0 = dsv4.kernel @cluster_of_shared(%values, %plan, %out)
      schedule <threads = 64, cluster = 2, min_blocks = 2, pdl = true, parts = [#dsv4.rows<lanes = 16, vector = 4>, #dsv4.window<elements = 1>]>
      : (tensor<?x128xf32>, tensor<?x4xi32>, tensor<?x128xf32>) -> tensor<?x128xf32> {
  ^bb0(%v: tensor<?x128xf32>, %p: tensor<?x4xi32>, %o: tensor<?x128xf32>):
    %pooled = dsv4.compress %v, %v window 16 plan(%p : tensor<?x4xi32>)
        outs(%o : tensor<?x128xf32>) : tensor<?x128xf32>, tensor<?x128xf32>
    dsv4.yield %pooled : tensor<?x128xf32>
  }
  return %0 : tensor<?x128xf32>
}
