// A kernel of more elements than the option says gets functions for what it computes four times or more.

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
  // CHECK-COUNT-4: func.call @norms_part(%{{.*}}, %{{.*}}, %{{.*}}) : (memref<?xf32>, i32, f32)
  // CHECK-NOT: cuda.load
  // CHECK-COUNT-4: cuda.store
  gpu.func @norms(%x: memref<?xf32>, %y: memref<?xf32>, %a: i32, %b: i32, %c: i32, %d: i32) kernel {
    %number0 = arith.constant dense<2.0> : vector<8x4xf32>
    %number1 = arith.constant dense<3.0> : vector<8x4xf32>
    %number2 = arith.constant dense<4.0> : vector<8x4xf32>
    %number3 = arith.constant dense<5.0> : vector<8x4xf32>
    %x0 = cuda.load %x[%a] stride 32 : memref<?xf32>, i32 -> vector<8x4xf32>
    %x1 = cuda.load %x[%b] stride 32 : memref<?xf32>, i32 -> vector<8x4xf32>
    %x2 = cuda.load %x[%c] stride 32 : memref<?xf32>, i32 -> vector<8x4xf32>
    %x3 = cuda.load %x[%d] stride 32 : memref<?xf32>, i32 -> vector<8x4xf32>
    cuda.launch_dependents
    %y0 = arith.mulf %x0, %number0 : vector<8x4xf32>
    %y1 = arith.mulf %x1, %number1 : vector<8x4xf32>
    %y2 = arith.mulf %x2, %number2 : vector<8x4xf32>
    %y3 = arith.mulf %x3, %number3 : vector<8x4xf32>
    cuda.store %y0, %y[%a] stride 32 : vector<8x4xf32>, memref<?xf32>, i32
    cuda.store %y1, %y[%b] stride 32 : vector<8x4xf32>, memref<?xf32>, i32
    cuda.store %y2, %y[%c] stride 32 : vector<8x4xf32>, memref<?xf32>, i32
    cuda.store %y3, %y[%d] stride 32 : vector<8x4xf32>, memref<?xf32>, i32
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
  // CHECK: %[[S:.*]] = func.call @order_part_1(%[[A]])
  // CHECK: %[[E:.*]] = func.call @order_part_2(%[[S]])
  // CHECK: cuda.store %[[S]]
  // CHECK: cuda.store %[[E]]
  gpu.func @order(%x: memref<?xf32>, %a: i32, %b: i32, %c: i32, %d: i32) kernel {
    %zero = arith.constant dense<0.0> : vector<4x4xf32>
    %x0 = cuda.load %x[%a] stride 32 : memref<?xf32>, i32 -> vector<4x4xf32>
    cuda.store %zero, %x[%a] stride 32 : vector<4x4xf32>, memref<?xf32>, i32
    %s0 = math.sqrt %x0 : vector<4x4xf32>
    %e0 = cuda.activation exp %s0 : vector<4x4xf32>
    cuda.store %s0, %x[%a] stride 32 : vector<4x4xf32>, memref<?xf32>, i32
    cuda.store %e0, %x[%a] stride 32 : vector<4x4xf32>, memref<?xf32>, i32
    %x1 = cuda.load %x[%b] stride 32 : memref<?xf32>, i32 -> vector<4x4xf32>
    cuda.store %zero, %x[%b] stride 32 : vector<4x4xf32>, memref<?xf32>, i32
    %s1 = math.sqrt %x1 : vector<4x4xf32>
    %e1 = cuda.activation exp %s1 : vector<4x4xf32>
    cuda.store %s1, %x[%b] stride 32 : vector<4x4xf32>, memref<?xf32>, i32
    cuda.store %e1, %x[%b] stride 32 : vector<4x4xf32>, memref<?xf32>, i32
    %x2 = cuda.load %x[%c] stride 32 : memref<?xf32>, i32 -> vector<4x4xf32>
    cuda.store %zero, %x[%c] stride 32 : vector<4x4xf32>, memref<?xf32>, i32
    %s2 = math.sqrt %x2 : vector<4x4xf32>
    %e2 = cuda.activation exp %s2 : vector<4x4xf32>
    cuda.store %s2, %x[%c] stride 32 : vector<4x4xf32>, memref<?xf32>, i32
    cuda.store %e2, %x[%c] stride 32 : vector<4x4xf32>, memref<?xf32>, i32
    %x3 = cuda.load %x[%d] stride 32 : memref<?xf32>, i32 -> vector<4x4xf32>
    cuda.store %zero, %x[%d] stride 32 : vector<4x4xf32>, memref<?xf32>, i32
    %s3 = math.sqrt %x3 : vector<4x4xf32>
    %e3 = cuda.activation exp %s3 : vector<4x4xf32>
    cuda.store %s3, %x[%d] stride 32 : vector<4x4xf32>, memref<?xf32>, i32
    cuda.store %e3, %x[%d] stride 32 : vector<4x4xf32>, memref<?xf32>, i32
    gpu.return
  }
}

// -----

gpu.module @m {
  // The name of a function is as long as a name may be, 128 characters.
  // CHECK: func.func private @xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx_part(
  // CHECK: func.func private @xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx_pa_1(
  // CHECK: gpu.func @xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx(
  gpu.func @xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx(%x: memref<?xf32>, %a: i32, %b: i32, %c: i32, %d: i32) kernel {
    %x0 = cuda.load %x[%a] stride 32 : memref<?xf32>, i32 -> vector<8x4xf32>
    %s0 = math.sqrt %x0 : vector<8x4xf32>
    cuda.store %x0, %x[%a] stride 32 : vector<8x4xf32>, memref<?xf32>, i32
    cuda.store %s0, %x[%a] stride 32 : vector<8x4xf32>, memref<?xf32>, i32
    %x1 = cuda.load %x[%b] stride 32 : memref<?xf32>, i32 -> vector<8x4xf32>
    %s1 = math.sqrt %x1 : vector<8x4xf32>
    cuda.store %x1, %x[%b] stride 32 : vector<8x4xf32>, memref<?xf32>, i32
    cuda.store %s1, %x[%b] stride 32 : vector<8x4xf32>, memref<?xf32>, i32
    %x2 = cuda.load %x[%c] stride 32 : memref<?xf32>, i32 -> vector<8x4xf32>
    %s2 = math.sqrt %x2 : vector<8x4xf32>
    cuda.store %x2, %x[%c] stride 32 : vector<8x4xf32>, memref<?xf32>, i32
    cuda.store %s2, %x[%c] stride 32 : vector<8x4xf32>, memref<?xf32>, i32
    %x3 = cuda.load %x[%d] stride 32 : memref<?xf32>, i32 -> vector<8x4xf32>
    %s3 = math.sqrt %x3 : vector<8x4xf32>
    cuda.store %x3, %x[%d] stride 32 : vector<8x4xf32>, memref<?xf32>, i32
    cuda.store %s3, %x[%d] stride 32 : vector<8x4xf32>, memref<?xf32>, i32
    gpu.return
  }
}

// -----

gpu.module @m {
  // What occurs three times stays where it is, and so do equal ops of other attributes, here strides.
  // CHECK: gpu.func @few
  // CHECK-NOT: func.call
  // CHECK: gpu.return
  gpu.func @few(%x: memref<?xf32>, %y: memref<?xf32>, %a: i32, %b: i32, %c: i32, %d: i32) kernel {
    %two = arith.constant dense<2.0> : vector<8x4xf32>
    %x0 = cuda.load %x[%a] stride 32 : memref<?xf32>, i32 -> vector<8x4xf32>
    %y0 = arith.mulf %x0, %two : vector<8x4xf32>
    cuda.store %y0, %y[%a] stride 32 : vector<8x4xf32>, memref<?xf32>, i32
    %x1 = cuda.load %x[%b] stride 32 : memref<?xf32>, i32 -> vector<8x4xf32>
    %y1 = arith.mulf %x1, %two : vector<8x4xf32>
    cuda.store %y1, %y[%b] stride 32 : vector<8x4xf32>, memref<?xf32>, i32
    %x2 = cuda.load %x[%c] stride 32 : memref<?xf32>, i32 -> vector<8x4xf32>
    %y2 = arith.mulf %x2, %two : vector<8x4xf32>
    cuda.store %y2, %y[%c] stride 32 : vector<8x4xf32>, memref<?xf32>, i32
    %x3 = cuda.load %x[%d] stride 64 : memref<?xf32>, i32 -> vector<8x4xf32>
    %y3 = arith.mulf %x3, %two : vector<8x4xf32>
    cuda.store %y3, %y[%d] stride 32 : vector<8x4xf32>, memref<?xf32>, i32
    gpu.return
  }
}
