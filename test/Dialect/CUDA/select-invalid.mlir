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
  // expected-error @+1 {{select_c2: expected 'k' to be between 1 and 2147483647, got 0}}
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

func.func @select_c2_max(%x: vector<4xf32>, %n: index) {
  // expected-error @+1 {{select_c2: expected 'max' to be between 1 and 2147483647, got 2147483648}}
  cuda.select 8 of %n max 2147483648 : index load {
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
  // expected-error @+1 {{select_c2: expected 'threads' to be between 1 and 2147483647, got 0}}
  cuda.select 8 of %n max 64 threads 0 : index load {
  ^bb0(%c: index):
    cuda.select_yield %x : vector<4xf32>
  } emit {
  ^bb0(%p: index, %i: index, %v: f32):
    cuda.select_yield
  }
  return
}

// -----

func.func @select_c2_vectors(%x: vector<4xf32>, %n: index) {
  // expected-error @+1 {{select_c2: expected 'vectors' to be between 1 and 2147483647, got -1}}
  cuda.select 8 of %n max 64 threads 64 vectors -1 : index load {
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
  // expected-error @+1 {{select_c2: expected 'cluster' to be between 1 and 2147483647, got 0}}
  cuda.select 8 of %n max 64 threads 64 cluster 0 : index load {
  ^bb0(%c: index):
    cuda.select_yield %x : vector<4xf32>
  } emit {
  ^bb0(%p: index, %i: index, %v: f32):
    cuda.select_yield
  }
  return
}

// -----

func.func @select_c2_blocks(%x: vector<4xf32>, %n: index) {
  // expected-error @+1 {{select_c2: expected 'blocks' to be between 1 and 2147483647, got 0}}
  cuda.select 8 of %n max 64 threads 64 blocks 0 : index load {
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
  // expected-error @+1 {{select_c3: expected one group, or, with 'algorithm warp', some that divide the row, of which some are kept, by some of their elements, got 8, 2 and 2}}
  cuda.select 8 of %n max 64 algorithm block threads 64 groups 8 keep 2 by 2 : index load {
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
  // expected-error @+1 {{select_c3: expected one group, or, with 'algorithm warp', some that divide the row, of which some are kept, by some of their elements, got 8, 9 and 2}}
  cuda.select 8 of %n max 64 algorithm warp groups 8 keep 9 by 2 : index load {
  ^bb0(%c: index):
    cuda.select_yield %x : vector<4xf32>
  } emit {
  ^bb0(%p: index, %i: index, %v: f32):
    cuda.select_yield
  }
  return
}

// -----

func.func @select_c3_divide(%x: vector<4xf32>, %n: index) {
  // expected-error @+1 {{select_c3: expected one group, or, with 'algorithm warp', some that divide the row, of which some are kept, by some of their elements, got 7, 2 and 2}}
  cuda.select 8 of %n max 64 algorithm warp groups 7 keep 2 by 2 : index load {
  ^bb0(%c: index):
    cuda.select_yield %x : vector<4xf32>
  } emit {
  ^bb0(%p: index, %i: index, %v: f32):
    cuda.select_yield
  }
  return
}

// -----

func.func @select_c4_without(%x: vector<4xf32>, %n: index) {
  // expected-error @+1 {{select_c4: expected a workspace and more than one of 'blocks' with 'algorithm grid', else none and 1, got 2 blocks without a workspace}}
  cuda.select 8 of %n max 64 algorithm grid threads 64 blocks 2 : index load {
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
  // expected-error @+1 {{select_c4: expected a workspace and more than one of 'blocks' with 'algorithm grid', else none and 1, got 1 blocks with a workspace}}
  cuda.select 8 of %n max 64 algorithm grid threads 64 in %w : index, memref<?xi8> load {
  ^bb0(%c: index):
    cuda.select_yield %x : vector<4xf32>
  } emit {
  ^bb0(%p: index, %i: index, %v: f32):
    cuda.select_yield
  }
  return
}

// -----

func.func @select_c4_stream(%x: vector<4xf32>, %n: index, %w: memref<?xi8>) {
  // expected-error @+1 {{select_c4: expected a workspace and more than one of 'blocks' with 'algorithm grid', else none and 1, got 2 blocks with a workspace}}
  cuda.select 8 of %n max 64 algorithm stream threads 64 blocks 2 in %w : index, memref<?xi8> load {
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
  // expected-error @+1 {{select_c4: expected a 'cluster' of 1 with 'algorithm grid', got 2}}
  cuda.select 8 of %n max 64 algorithm grid threads 64 cluster 2 blocks 2 in %w : index, memref<?xi8> load {
  ^bb0(%c: index):
    cuda.select_yield %x : vector<4xf32>
  } emit {
  ^bb0(%p: index, %i: index, %v: f32):
    cuda.select_yield
  }
  return
}

// -----

func.func @select_c4_cluster_of_warp(%x: vector<4xf32>, %n: index) {
  // expected-error @+1 {{select_c4: expected a 'cluster' of 1 with 'algorithm warp', got 2}}
  cuda.select 8 of %n max 64 algorithm warp threads 64 cluster 2 : index load {
  ^bb0(%c: index):
    cuda.select_yield %x : vector<4xf32>
  } emit {
  ^bb0(%p: index, %i: index, %v: f32):
    cuda.select_yield
  }
  return
}

// -----

func.func @select_c4_few_rounds(%x: vector<4xf32>, %n: index) {
  // expected-error @+1 {{select_c4: expected 'few_rounds' of one block with 'algorithm stream' alone}}
  cuda.select 8 of %n max 64 few_rounds threads 64 : index load {
  ^bb0(%c: index):
    cuda.select_yield %x : vector<4xf32>
  } emit {
  ^bb0(%p: index, %i: index, %v: f32):
    cuda.select_yield
  }
  return
}

// -----

func.func @select_c4_few_rounds_of_cluster(%x: vector<4xf32>, %n: index) {
  // expected-error @+1 {{select_c4: expected 'few_rounds' of one block with 'algorithm stream' alone}}
  cuda.select 8 of %n max 64 algorithm stream few_rounds threads 64 cluster 2 : index load {
  ^bb0(%c: index):
    cuda.select_yield %x : vector<4xf32>
  } emit {
  ^bb0(%p: index, %i: index, %v: f32):
    cuda.select_yield
  }
  return
}

// -----

func.func @select_c4_tile(%x: vector<4xf32>, %n: index) {
  // expected-error @+1 {{select_c4: 'algorithm tile' selects from tiles; expected a 'cuda.select_tiles' or 'cuda.select_resident' for it}}
  cuda.select 8 of %n max 64 algorithm tile threads 64 : index load {
  ^bb0(%c: index):
    cuda.select_yield %x : vector<4xf32>
  } emit {
  ^bb0(%p: index, %i: index, %v: f32):
    cuda.select_yield
  }
  return
}

// -----

func.func @select_c4_resident(%x: vector<4xf32>, %n: index) {
  // expected-error @+1 {{select_c4: 'algorithm resident' selects from tiles; expected a 'cuda.select_tiles' or 'cuda.select_resident' for it}}
  cuda.select 8 of %n max 64 algorithm resident threads 64 : index load {
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

// -----

func.func @select_c5_groups(%x: vector<4xf32>, %n: index) {
  // expected-error @+1 {{select_c5: expected one group with a 'head', got 8}}
  cuda.select 8 of %n after %n : index max 64 algorithm warp groups 8 keep 2 by 2 : index load {
  ^bb0(%c: index):
    cuda.select_yield %x : vector<4xf32>
  } emit {
  ^bb0(%p: index, %i: index, %v: f32):
    cuda.select_yield
  }
  return
}

// -----

func.func @select_c5_ties(%x: vector<4xf32>, %n: index) {
  // expected-error @+1 {{select_c5: expected one group with 'ties high', got 8}}
  cuda.select 8 of %n max 64 ties high algorithm warp groups 8 keep 2 by 2 : index load {
  ^bb0(%c: index):
    cuda.select_yield %x : vector<4xf32>
  } emit {
  ^bb0(%p: index, %i: index, %v: f32):
    cuda.select_yield
  }
  return
}

// -----

func.func @select_c5_vector(%x: vector<1xf32>, %n: index) {
  // expected-error @+1 {{select_c5: expected no 'head' with vectors of one element, which begin anywhere}}
  cuda.select 8 of %n after %n : index max 64 threads 64 : index load {
  ^bb0(%c: index):
    cuda.select_yield %x : vector<1xf32>
  } emit {
  ^bb0(%p: index, %i: index, %v: f32):
    cuda.select_yield
  }
  return
}
