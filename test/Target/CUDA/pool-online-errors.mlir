// A piece of a whole row is for before rows are distributed.

// RUN: not dsv4-translate --mlir-to-cuda %s 2>&1 | FileCheck %s
// CHECK: error: 'cuda.pool_online' op of a whole row has no CUDA spelling

gpu.module @m {
  gpu.func @f(%out: memref<?xf32> loc("out"), %i: i32 loc("i")) kernel {
    %b = arith.constant true
    %0 = cuda.pool_online 8 at %i : i32 to vector<4xf32> {
    ^bb0(%row: index loc("row")):
      cuda.pool_piece %i known %b kept %b ends %b : i32 begin {
      ^bb0(%lane: index loc("lane")):
        %x = cuda.load %out[%i] : memref<?xf32>, i32 -> vector<4xf32>
        cuda.pool_yield %x, %x, %x : vector<4xf32>, vector<4xf32>, vector<4xf32>
      } member {
      ^bb0(%member: index loc("member"), %lane: index loc("lane")):
        %x = cuda.load %out[%i] : memref<?xf32>, i32 -> vector<4xf32>
        cuda.pool_yield %x, %x : vector<4xf32>, vector<4xf32>
      } end {
      ^bb0(%lane: index loc("lane"), %m: vector<4xf32> loc("m"), %s: vector<4xf32> loc("s"),
           %a: vector<4xf32> loc("a")):
        cuda.pool_yield
      }
    }
    gpu.return
  }
}
