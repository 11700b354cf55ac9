// The clauses of selections.

// RUN: dsv4-opt %s --split-input-file --verify-diagnostics

func.func @load_part_c1(%m: memref<?xf32>, %n: index) {
  // expected-error @+1 {{load_part_c1: expected elements of 'f32', got 'bf16'}}
  %x = cuda.load_part %m[%n] of %n : memref<?xf32>, index, index -> vector<4xbf16>
  return
}

// -----

func.func @select_c1_load(%x: vector<4xf32>, %n: index) {
  // expected-error @+1 {{select_c1: expected regions of (column) and (rank, index, value) that end in a 'cuda.select_yield' of one and of no vector}}
  cuda.select 8 of %n max 64 threads 64 : index load {
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
  // expected-error @+1 {{select_c1: expected regions of (column) and (rank, index, value) that end in a 'cuda.select_yield' of one and of no vector}}
  cuda.select 8 of %n max 64 threads 64 : index load {
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
  // expected-error @+1 {{select_c1: expected regions of (column) and (rank, index, value) that end in a 'cuda.select_yield' of one and of no vector}}
  cuda.select 8 of %n max 64 threads 64 : index load {
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
  // expected-error @+1 {{select_c2: expected a 'k' between 1 and 4096 and a positive 'max', got 0 of 64}}
  cuda.select 0 of %n max 64 : index load {
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
  // expected-error @+1 {{select_c2: expected between 1 and 32 vectors, and a cluster of 1, with kinds 'block' and 'stream' of 1 to 16, got 1 and 2}}
  cuda.select 8 of %n max 64 kind rounds threads 64 cluster 2 : index load {
  ^bb0(%c: index):
    cuda.select_yield %x : vector<4xf32>
  } emit {
  ^bb0(%p: index, %i: index, %v: f32):
    cuda.select_yield
  }
  return
}

// -----

func.func @select_c2_many_k(%x: vector<4xf32>, %n: index) {
  // expected-error @+1 {{select_c2: expected a 'k' between 1 and 4096 and a positive 'max', got 5000 of 8000}}
  cuda.select 5000 of %n max 8000 : index load {
  ^bb0(%c: index):
    cuda.select_yield %x : vector<4xf32>
  } emit {
  ^bb0(%p: index, %i: index, %v: f32):
    cuda.select_yield
  }
  return
}

// -----

func.func @select_c2_k_of_warp(%x: vector<4xf32>, %n: index) {
  // expected-error @+1 {{select_c2: expected a 'k' between 1 and 32 and a positive 'max', got 33 of 64}}
  cuda.select 33 of %n max 64 kind warp : index load {
  ^bb0(%c: index):
    cuda.select_yield %x : vector<4xf32>
  } emit {
  ^bb0(%p: index, %i: index, %v: f32):
    cuda.select_yield
  }
  return
}

// -----

func.func @select_c2_threads(%x: vector<4xf32>, %n: index) {
  // expected-error @+1 {{select_c2: expected threads to be a power of two between 64 and 1024, got 96}}
  cuda.select 8 of %n max 64 kind block threads 96 : index load {
  ^bb0(%c: index):
    cuda.select_yield %x : vector<4xf32>
  } emit {
  ^bb0(%p: index, %i: index, %v: f32):
    cuda.select_yield
  }
  return
}

// -----

func.func @select_c2_no_threads(%x: vector<4xf32>, %n: index) {
  // expected-error @+1 {{select_c2: expected threads to be a power of two between 64 and 1024, got 1}}
  cuda.select 8 of %n max 64 : index load {
  ^bb0(%c: index):
    cuda.select_yield %x : vector<4xf32>
  } emit {
  ^bb0(%p: index, %i: index, %v: f32):
    cuda.select_yield
  }
  return
}

// -----

func.func @select_c2_large_cluster(%x: vector<4xf32>, %n: index) {
  // expected-error @+1 {{select_c2: expected between 1 and 32 vectors, and a cluster of 1, with kinds 'block' and 'stream' of 1 to 16, got 1 and 17}}
  cuda.select 8 of %n max 64 kind stream threads 64 cluster 17 : index load {
  ^bb0(%c: index):
    cuda.select_yield %x : vector<4xf32>
  } emit {
  ^bb0(%p: index, %i: index, %v: f32):
    cuda.select_yield
  }
  return
}

// -----

func.func @select_c2_large_cluster_of_block(%x: vector<4xf32>, %n: index) {
  // expected-error @+1 {{select_c2: expected between 1 and 32 vectors, and a cluster of 1, with kinds 'block' and 'stream' of 1 to 16, got 1 and 17}}
  cuda.select 8 of %n max 64 kind block threads 64 cluster 17 : index load {
  ^bb0(%c: index):
    cuda.select_yield %x : vector<4xf32>
  } emit {
  ^bb0(%p: index, %i: index, %v: f32):
    cuda.select_yield
  }
  return
}

// -----

func.func @select_c2_held(%x: vector<4xf32>, %n: index) {
  // expected-error @+1 {{select_c2: expected a thread to have at most 32 elements, got 9 vectors of 'vector<4xf32>'}}
  cuda.select 8 of %n max 64 kind stream threads 64 vectors 9 : index load {
  ^bb0(%c: index):
    cuda.select_yield %x : vector<4xf32>
  } emit {
  ^bb0(%p: index, %i: index, %v: f32):
    cuda.select_yield
  }
  return
}

// -----

func.func @select_c3(%x: vector<4xf32>, %n: index) {
  // expected-error @+1 {{select_c3: expected one group, or, of kind 'warp', at most 32 that divide the row, of which some are kept, by some of their elements, got 8, 2 and 2}}
  cuda.select 8 of %n max 64 kind block threads 64 groups 8 keep 2 by 2 : index load {
  ^bb0(%c: index):
    cuda.select_yield %x : vector<4xf32>
  } emit {
  ^bb0(%p: index, %i: index, %v: f32):
    cuda.select_yield
  }
  return
}

// -----

func.func @select_c3_keep(%x: vector<4xf32>, %n: index) {
  // expected-error @+1 {{select_c3: expected one group, or, of kind 'warp', at most 32 that divide the row, of which some are kept, by some of their elements, got 8, 9 and 2}}
  cuda.select 8 of %n max 64 kind warp groups 8 keep 9 by 2 : index load {
  ^bb0(%c: index):
    cuda.select_yield %x : vector<4xf32>
  } emit {
  ^bb0(%p: index, %i: index, %v: f32):
    cuda.select_yield
  }
  return
}

// -----

func.func @select_c4_without(%x: vector<4xf32>, %n: index, %w: memref<?xi8>) {
  // expected-error @+1 {{select_c4: expected 1 block without a workspace, and with one an even number of blocks from 2 to 256 of kind 'stream' without a cluster, got 2}}
  cuda.select 8 of %n max 64 kind stream threads 64 blocks 2 : index load {
  ^bb0(%c: index):
    cuda.select_yield %x : vector<4xf32>
  } emit {
  ^bb0(%p: index, %i: index, %v: f32):
    cuda.select_yield
  }
  return
}

// -----

func.func @select_c4_alone(%x: vector<4xf32>, %n: index, %w: memref<?xi8>) {
  // expected-error @+1 {{select_c4: expected 1 block without a workspace, and with one an even number of blocks from 2 to 256 of kind 'stream' without a cluster, got 1}}
  cuda.select 8 of %n max 64 kind stream threads 64 in %w : index, memref<?xi8> load {
  ^bb0(%c: index):
    cuda.select_yield %x : vector<4xf32>
  } emit {
  ^bb0(%p: index, %i: index, %v: f32):
    cuda.select_yield
  }
  return
}

// -----

func.func @select_c4_odd(%x: vector<4xf32>, %n: index, %w: memref<?xi8>) {
  // expected-error @+1 {{select_c4: expected 1 block without a workspace, and with one an even number of blocks from 2 to 256 of kind 'stream' without a cluster, got 3}}
  cuda.select 8 of %n max 64 kind stream threads 64 blocks 3 in %w : index, memref<?xi8> load {
  ^bb0(%c: index):
    cuda.select_yield %x : vector<4xf32>
  } emit {
  ^bb0(%p: index, %i: index, %v: f32):
    cuda.select_yield
  }
  return
}

// -----

func.func @select_c4_many(%x: vector<4xf32>, %n: index, %w: memref<?xi8>) {
  // expected-error @+1 {{select_c4: expected 1 block without a workspace, and with one an even number of blocks from 2 to 256 of kind 'stream' without a cluster, got 258}}
  cuda.select 8 of %n max 64 kind stream threads 64 blocks 258 in %w : index, memref<?xi8> load {
  ^bb0(%c: index):
    cuda.select_yield %x : vector<4xf32>
  } emit {
  ^bb0(%p: index, %i: index, %v: f32):
    cuda.select_yield
  }
  return
}

// -----

func.func @select_c4_block(%x: vector<4xf32>, %n: index, %w: memref<?xi8>) {
  // expected-error @+1 {{select_c4: expected 1 block without a workspace, and with one an even number of blocks from 2 to 256 of kind 'stream' without a cluster, got 2}}
  cuda.select 8 of %n max 64 kind block threads 64 blocks 2 in %w : index, memref<?xi8> load {
  ^bb0(%c: index):
    cuda.select_yield %x : vector<4xf32>
  } emit {
  ^bb0(%p: index, %i: index, %v: f32):
    cuda.select_yield
  }
  return
}

// -----

func.func @select_c4_cluster(%x: vector<4xf32>, %n: index, %w: memref<?xi8>) {
  // expected-error @+1 {{select_c4: expected 1 block without a workspace, and with one an even number of blocks from 2 to 256 of kind 'stream' without a cluster, got 2}}
  cuda.select 8 of %n max 64 kind stream threads 64 cluster 2 blocks 2 in %w : index, memref<?xi8> load {
  ^bb0(%c: index):
    cuda.select_yield %x : vector<4xf32>
  } emit {
  ^bb0(%p: index, %i: index, %v: f32):
    cuda.select_yield
  }
  return
}

// -----

func.func @columns_c1(%x: vector<2x4xf32>, %c: index) {
  // expected-error @+1 {{columns_c1: expected one vector of the fragment 'vector<2x4xf32>', got 'vector<1x2xf32>'}}
  %0 = cuda.columns %x at %c lanes 32 : vector<2x4xf32>, index to vector<1x2xf32>
  return
}

// -----

func.func @columns_c1_rank(%x: vector<8xf32>, %c: index) {
  // expected-error @+1 {{columns_c1: expected one vector of the fragment 'vector<8xf32>', got 'vector<1x8xf32>'}}
  %0 = cuda.columns %x at %c : vector<8xf32>, index to vector<1x8xf32>
  return
}

// -----

func.func @columns_c1_more(%x: vector<4xf32>, %c: index) {
  // expected-error @+1 {{columns_c1: expected one vector of the fragment 'vector<4xf32>', got 'vector<400xf32>'}}
  %0 = cuda.columns %x at %c : vector<4xf32>, index to vector<400xf32>
  return
}

// -----

func.func @columns_c2(%x: vector<2x4xf32>, %c: index) {
  // expected-error @+1 {{columns_c2: expected 'lanes' to be a power of two of at most 32, 1 for a whole row, got 0}}
  %0 = cuda.columns %x at %c lanes 0 : vector<2x4xf32>, index to vector<1x4xf32>
  return
}
