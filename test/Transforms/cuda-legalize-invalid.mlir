// RUN: dsv4-opt %s --pass-pipeline="builtin.module(gpu.module(cuda-legalize))" --split-input-file --verify-diagnostics

gpu.module @m {
  gpu.func @no_spelling(%in: memref<?xf32>) kernel {
    %c0 = arith.constant 0 : index
    %v = memref.load %in[%c0] : memref<?xf32>
    // expected-error @+1 {{'arith.negf' op has no CUDA spelling}}
    %w = arith.negf %v : f32
    memref.store %w, %in[%c0] : memref<?xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @unknown_on_index(%out: memref<?xi32>, %v: i32) kernel {
    %t = gpu.thread_id x
    %c1 = arith.constant 1 : index
    // expected-error @+1 {{'arith.shli' op has no CUDA spelling on index values}}
    %i = arith.shli %t, %c1 : index
    memref.store %v, %out[%i] : memref<?xi32>
    gpu.return
  }
}

// -----

// Rows are distributed before they come here.
gpu.module @m {
  gpu.func @loop(%out: memref<?xi32>, %v: i32) kernel {
    %c0 = arith.constant 0 : index
    %c8 = arith.constant 8 : index
    // expected-error @+1 {{op has no CUDA spelling}}
    scf.forall (%i) in (8) {
      memref.store %v, %out[%c0] : memref<?xi32>
    }
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @negative(%out: memref<?xi32>, %a: i32) kernel {
    %c8 = arith.constant 8 : index
    %x = arith.index_cast %a : i32 to index
    // expected-error @+1 {{'arith.divui' op has no spelling: an operand may be negative}}
    %0 = arith.divui %x, %c8 : index
    memref.store %a, %out[%0] : memref<?xi32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @no_axis(%out: memref<f32>, %a: f32) kernel {
    // expected-error @+1 {{'memref.store' op accesses memory of type 'memref<f32>': expected a memref of rank 1}}
    memref.store %a, %out[] : memref<f32>
    gpu.return
  }
}
