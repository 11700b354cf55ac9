// The clauses of selections.

// RUN: dsv4-opt %s --split-input-file --verify-diagnostics

func.func @load_part_c1(%m: memref<?xf32>, %n: index) {
  // expected-error @+1 {{load_part_c1: expected elements of 'f32', got 'bf16'}}
  %x = cuda.load_part %m[%n] of %n : memref<?xf32>, index, index -> vector<4xbf16>
  return
}

// -----

func.func @select_c1_load(%x: vector<4xf32>, %n: index) {
  // expected-error @+1 {{select_c1: expected regions of (column) and (place, index, value) that end in a 'cuda.select_yield' of one and of no vector}}
  cuda.select 8 of %n most 64 : index load {
  ^bb0(%c: index, %d: index):
    cuda.select_yield %x : vector<4xf32>
  } emit {
  ^bb0(%p: index, %i: index, %v: f32):
    cuda.select_yield
  }
  return
}

// -----

func.func @select_c1_emit(%x: vector<4xf32>, %n: index) {
  // expected-error @+1 {{select_c1: expected regions of (column) and (place, index, value) that end in a 'cuda.select_yield' of one and of no vector}}
  cuda.select 8 of %n most 64 : index load {
  ^bb0(%c: index):
    cuda.select_yield %x : vector<4xf32>
  } emit {
  ^bb0(%p: index, %i: index):
    cuda.select_yield
  }
  return
}

// -----

func.func @select_c1_yield(%x: vector<4xf32>, %n: index) {
  // expected-error @+1 {{select_c1: expected regions of (column) and (place, index, value) that end in a 'cuda.select_yield' of one and of no vector}}
  cuda.select 8 of %n most 64 : index load {
  ^bb0(%c: index):
    cuda.select_yield
  } emit {
  ^bb0(%p: index, %i: index, %v: f32):
    cuda.select_yield
  }
  return
}

// -----

func.func @select_c2(%x: vector<4xf32>, %n: index) {
  // expected-error @+1 {{select_c2: expected positive places, most, threads, chunks and cluster, and a cluster of 1 but of kind 'stream'}}
  cuda.select 0 of %n most 64 : index load {
  ^bb0(%c: index):
    cuda.select_yield %x : vector<4xf32>
  } emit {
  ^bb0(%p: index, %i: index, %v: f32):
    cuda.select_yield
  }
  return
}

// -----

func.func @select_c2_cluster(%x: vector<4xf32>, %n: index) {
  // expected-error @+1 {{select_c2: expected positive places, most, threads, chunks and cluster, and a cluster of 1 but of kind 'stream'}}
  cuda.select 8 of %n most 64 kind block cluster 2 : index load {
  ^bb0(%c: index):
    cuda.select_yield %x : vector<4xf32>
  } emit {
  ^bb0(%p: index, %i: index, %v: f32):
    cuda.select_yield
  }
  return
}
