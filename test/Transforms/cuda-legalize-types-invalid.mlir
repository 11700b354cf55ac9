// Ops that have a spelling, but not of these types.

// RUN: dsv4-opt %s --pass-pipeline="builtin.module(gpu.module(cuda-legalize))" --split-input-file --verify-diagnostics

gpu.module @m {
  gpu.func @floats(%x: memref<?xbf16>, %i: i32) kernel {
    %v = cuda.load %x[%i] : memref<?xbf16>, i32 -> vector<4xbf16>
    // expected-error@+1 {{'arith.addf' op has no CUDA spelling of 'vector<4xbf16>'}}
    %r = arith.addf %v, %v : vector<4xbf16>
    cuda.store %r, %x[%i] : vector<4xbf16>, memref<?xbf16>, i32
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @integers(%x: memref<?xi32>, %i: i32) kernel {
    %v = cuda.load %x[%i] : memref<?xi32>, i32 -> vector<4xi32>
    // expected-error@+1 {{'arith.addi' op has no CUDA spelling of 'vector<4xi32>'}}
    %r = arith.addi %v, %v : vector<4xi32>
    cuda.store %r, %x[%i] : vector<4xi32>, memref<?xi32>, i32
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @conversion(%x: memref<?xf32>, %i: i32) kernel {
    // expected-error@+1 {{'arith.sitofp' op has no CUDA spelling of 'i32' to 'f32'}}
    %r = arith.sitofp %i : i32 to f32
    cuda.store %r, %x[%i] : f32, memref<?xf32>, i32
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @choice(%x: memref<?xf32>, %c: memref<?xi1>, %i: i32) kernel {
    %v = cuda.load %x[%i] : memref<?xf32>, i32 -> vector<4xf32>
    %p = cuda.load %c[%i] : memref<?xi1>, i32 -> vector<4xi1>
    // expected-error@+1 {{'arith.select' op has no CUDA spelling of 'vector<4xi1>' to 'vector<4xf32>'}}
    %r = arith.select %p, %v, %v : vector<4xi1>, vector<4xf32>
    cuda.store %r, %x[%i] : vector<4xf32>, memref<?xf32>, i32
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @scalar(%x: memref<?xf32>, %a: f32, %i: i32) kernel {
    // expected-error@+1 {{'math.sqrt' op has no CUDA spelling of 'f32'}}
    %r = math.sqrt %a : f32
    cuda.store %r, %x[%i] : f32, memref<?xf32>, i32
    gpu.return
  }
}
