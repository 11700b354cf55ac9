// A kernel of more elements than the option says becomes functions, and equal ones are one.

// RUN: dsv4-opt %s --pass-pipeline="builtin.module(gpu.module(cuda-share-code{max-elements=64}))" --split-input-file | FileCheck %s
// RUN: dsv4-opt %s --pass-pipeline="builtin.module(gpu.module(cuda-share-code))" --split-input-file | FileCheck %s --check-prefix=SMALL

// SMALL-NOT: func.call
// SMALL-NOT: func.func

gpu.module @m {
  // The number that differs is a parameter, and a load moves to its use.
  // CHECK: func.func private @norms_part(%[[B:.*]]: memref<?xf32>, %[[AT:.*]]: i32, %[[N:.*]]: f32) -> vector<8x4xf32>
  // CHECK-NEXT: %[[ALL:.*]] = vector.broadcast %[[N]] : f32 to vector<8x4xf32>
  // CHECK-NEXT: %[[X:.*]] = cuda.load %[[B]][%[[AT]]]
  // CHECK-NEXT: arith.mulf %[[X]], %[[ALL]]
  // CHECK: return
  // CHECK-NOT: func.func
  // CHECK: gpu.func @norms
  // CHECK: func.call @norms_part(%{{.*}}, %{{.*}}, %{{.*}}) : (memref<?xf32>, i32, f32)
  // CHECK: func.call @norms_part(%{{.*}}, %{{.*}}, %{{.*}}) : (memref<?xf32>, i32, f32)
  // CHECK-NOT: cuda.load
  // CHECK-COUNT-2: cuda.store
  gpu.func @norms(%x: memref<?xf32>, %y: memref<?xf32>, %at: i32, %to: i32) kernel {
    %two = arith.constant dense<2.0> : vector<8x4xf32>
    %three = arith.constant dense<3.0> : vector<8x4xf32>
    %a = cuda.load %x[%at] stride 32 : memref<?xf32>, i32 -> vector<8x4xf32>
    %b = cuda.load %x[%to] stride 32 : memref<?xf32>, i32 -> vector<8x4xf32>
    cuda.launch_dependents
    %c = arith.mulf %a, %two : vector<8x4xf32>
    %d = arith.mulf %b, %three : vector<8x4xf32>
    cuda.store %c, %y[%at] stride 32 : vector<8x4xf32>, memref<?xf32>, i32
    cuda.store %d, %y[%to] stride 32 : vector<8x4xf32>, memref<?xf32>, i32
    gpu.return
  }
}

// -----

gpu.module @m {
  // A load does not move across a store: it may read what is written. A value with two users is
  // computed once.
  // CHECK: gpu.func @order
  // CHECK: %[[A:.*]] = func.call @order_part(
  // CHECK: cuda.store
  // CHECK: %[[S:.*]] = func.call @order_part_0(%[[A]])
  // CHECK: %[[E:.*]] = func.call @order_part_1(%[[S]])
  // CHECK: cuda.store %[[S]]
  // CHECK: cuda.store %[[E]]
  gpu.func @order(%x: memref<?xf32>, %at: i32) kernel {
    %zero = arith.constant dense<0.0> : vector<8x4xf32>
    %a = cuda.load %x[%at] stride 32 : memref<?xf32>, i32 -> vector<8x4xf32>
    cuda.store %zero, %x[%at] stride 32 : vector<8x4xf32>, memref<?xf32>, i32
    %s = math.sqrt %a : vector<8x4xf32>
    %e = cuda.activation exp %s : vector<8x4xf32>
    cuda.store %s, %x[%at] stride 32 : vector<8x4xf32>, memref<?xf32>, i32
    cuda.store %e, %x[%at] stride 32 : vector<8x4xf32>, memref<?xf32>, i32
    gpu.return
  }
}
