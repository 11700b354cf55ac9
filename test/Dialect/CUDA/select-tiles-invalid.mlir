// The clauses of selections from tiles.

// RUN: dsv4-opt %s --split-input-file --verify-diagnostics

func.func @shared_c1_begin() {
  // expected-error @+1 {{shared_c1: expected a positive number of bytes that begin at a multiple of 16, got 16 from 8 on}}
  %0 = cuda.shared 16 from 8 : memref<?xi8>
  return
}

// -----

func.func @shared_c1_bytes() {
  // expected-error @+1 {{shared_c1: expected a positive number of bytes that begin at a multiple of 16, got 0 from 16 on}}
  %0 = cuda.shared 0 from 16 : memref<?xi8>
  return
}

// -----

func.func @select_tiles_c1_limit(%memory: memref<?xi8>, %n: index) {
  // expected-error @+1 {{select_tiles_c1: expected regions of (tile_row), (consume), (tile_row, column, value) and (tile_row, rank, index, value) that end in a 'cuda.tile_yield' of an integer, of nothing, of one element and of nothing}}
  cuda.select_tiles 20 of 333 rows 3 columns 16 calls 8 warps 2 in %memory : memref<?xi8> limit {
  ^bb0(%row: index, %column: index):
    cuda.tile_yield %n : index
  } source {
  ^bb0(%consume: !cuda.callable):
    cuda.tile_yield
  } emit {
  ^bb0(%row: index, %rank: index, %index: index, %value: f32):
    cuda.tile_yield
  }
  return
}

// -----

func.func @select_tiles_c1_limit_yield(%memory: memref<?xi8>, %n: index) {
  // expected-error @+1 {{select_tiles_c1: expected regions of (tile_row), (consume), (tile_row, column, value) and (tile_row, rank, index, value) that end in a 'cuda.tile_yield' of an integer, of nothing, of one element and of nothing}}
  cuda.select_tiles 20 of 333 rows 3 columns 16 calls 8 warps 2 in %memory : memref<?xi8> limit {
  ^bb0(%row: index):
    cuda.tile_yield
  } source {
  ^bb0(%consume: !cuda.callable):
    cuda.tile_yield
  } emit {
  ^bb0(%row: index, %rank: index, %index: index, %value: f32):
    cuda.tile_yield
  }
  return
}

// -----

func.func @select_tiles_c1_source(%memory: memref<?xi8>, %n: index) {
  // expected-error @+1 {{select_tiles_c1: expected regions of (tile_row), (consume), (tile_row, column, value) and (tile_row, rank, index, value) that end in a 'cuda.tile_yield' of an integer, of nothing, of one element and of nothing}}
  cuda.select_tiles 20 of 333 rows 3 columns 16 calls 8 warps 2 in %memory : memref<?xi8> limit {
  ^bb0(%row: index):
    cuda.tile_yield %n : index
  } source {
  ^bb0(%consume: index):
    cuda.tile_yield
  } emit {
  ^bb0(%row: index, %rank: index, %index: index, %value: f32):
    cuda.tile_yield
  }
  return
}

// -----

func.func @select_tiles_c1_source_yield(%memory: memref<?xi8>, %n: index) {
  // expected-error @+1 {{select_tiles_c1: expected regions of (tile_row), (consume), (tile_row, column, value) and (tile_row, rank, index, value) that end in a 'cuda.tile_yield' of an integer, of nothing, of one element and of nothing}}
  cuda.select_tiles 20 of 333 rows 3 columns 16 calls 8 warps 2 in %memory : memref<?xi8> limit {
  ^bb0(%row: index):
    cuda.tile_yield %n : index
  } source {
  ^bb0(%consume: !cuda.callable):
    cuda.tile_yield %n : index
  } emit {
  ^bb0(%row: index, %rank: index, %index: index, %value: f32):
    cuda.tile_yield
  }
  return
}

// -----

func.func @select_tiles_c1_score(%memory: memref<?xi8>, %n: index) {
  // expected-error @+1 {{select_tiles_c1: expected regions of (tile_row), (consume), (tile_row, column, value) and (tile_row, rank, index, value) that end in a 'cuda.tile_yield' of an integer, of nothing, of one element and of nothing}}
  cuda.select_tiles 20 of 333 rows 3 columns 16 calls 8 warps 2 in %memory : memref<?xi8> limit {
  ^bb0(%row: index):
    cuda.tile_yield %n : index
  } source {
  ^bb0(%consume: !cuda.callable):
    cuda.tile_yield
  } score {
  ^bb0(%row: index, %value: vector<1x1xf32>):
    cuda.tile_yield %value : vector<1x1xf32>
  } emit {
  ^bb0(%row: index, %rank: index, %index: index, %value: f32):
    cuda.tile_yield
  }
  return
}

// -----

func.func @select_tiles_c1_score_yield(%memory: memref<?xi8>, %n: index) {
  // expected-error @+1 {{select_tiles_c1: expected regions of (tile_row), (consume), (tile_row, column, value) and (tile_row, rank, index, value) that end in a 'cuda.tile_yield' of an integer, of nothing, of one element and of nothing}}
  cuda.select_tiles 20 of 333 rows 3 columns 16 calls 8 warps 2 in %memory : memref<?xi8> limit {
  ^bb0(%row: index):
    cuda.tile_yield %n : index
  } source {
  ^bb0(%consume: !cuda.callable):
    cuda.tile_yield
  } score {
  ^bb0(%row: index, %column: index, %value: vector<1x1xf32>):
    cuda.tile_yield %n : index
  } emit {
  ^bb0(%row: index, %rank: index, %index: index, %value: f32):
    cuda.tile_yield
  }
  return
}

// -----

func.func @select_tiles_c1_emit(%memory: memref<?xi8>, %n: index) {
  // expected-error @+1 {{select_tiles_c1: expected regions of (tile_row), (consume), (tile_row, column, value) and (tile_row, rank, index, value) that end in a 'cuda.tile_yield' of an integer, of nothing, of one element and of nothing}}
  cuda.select_tiles 20 of 333 rows 3 columns 16 calls 8 warps 2 in %memory : memref<?xi8> limit {
  ^bb0(%row: index):
    cuda.tile_yield %n : index
  } source {
  ^bb0(%consume: !cuda.callable):
    cuda.tile_yield
  } emit {
  ^bb0(%row: index, %rank: index, %value: f32):
    cuda.tile_yield
  }
  return
}

// -----

func.func @select_tiles_c1_emit_yield(%memory: memref<?xi8>, %n: index) {
  // expected-error @+1 {{select_tiles_c1: expected regions of (tile_row), (consume), (tile_row, column, value) and (tile_row, rank, index, value) that end in a 'cuda.tile_yield' of an integer, of nothing, of one element and of nothing}}
  cuda.select_tiles 20 of 333 rows 3 columns 16 calls 8 warps 2 in %memory : memref<?xi8> limit {
  ^bb0(%row: index):
    cuda.tile_yield %n : index
  } source {
  ^bb0(%consume: !cuda.callable):
    cuda.tile_yield
  } emit {
  ^bb0(%row: index, %rank: index, %index: index, %value: f32):
    cuda.tile_yield %n : index
  }
  return
}

// -----

func.func @select_tiles_c2_k(%memory: memref<?xi8>, %n: index) {
  // expected-error @+1 {{select_tiles_c2: expected a 'k' from 1 to 4096, a positive 'max', 'rows', 'columns' and 'calls', and 1 to 32 warps, got 0 of 333, 3 x 16, 8 and 2}}
  cuda.select_tiles 0 of 333 rows 3 columns 16 calls 8 warps 2 in %memory : memref<?xi8> limit {
  ^bb0(%row: index):
    cuda.tile_yield %n : index
  } source {
  ^bb0(%consume: !cuda.callable):
    cuda.tile_yield
  } emit {
  ^bb0(%row: index, %rank: index, %index: index, %value: f32):
    cuda.tile_yield
  }
  return
}

// -----

func.func @select_tiles_c2_max(%memory: memref<?xi8>, %n: index) {
  // expected-error @+1 {{select_tiles_c2: expected a 'k' from 1 to 4096, a positive 'max', 'rows', 'columns' and 'calls', and 1 to 32 warps, got 20 of 0, 3 x 16, 8 and 2}}
  cuda.select_tiles 20 of 0 rows 3 columns 16 calls 8 warps 2 in %memory : memref<?xi8> limit {
  ^bb0(%row: index):
    cuda.tile_yield %n : index
  } source {
  ^bb0(%consume: !cuda.callable):
    cuda.tile_yield
  } emit {
  ^bb0(%row: index, %rank: index, %index: index, %value: f32):
    cuda.tile_yield
  }
  return
}

// -----

func.func @select_tiles_c2_rows(%memory: memref<?xi8>, %n: index) {
  // expected-error @+1 {{select_tiles_c2: expected a 'k' from 1 to 4096, a positive 'max', 'rows', 'columns' and 'calls', and 1 to 32 warps, got 20 of 333, 0 x 16, 8 and 2}}
  cuda.select_tiles 20 of 333 rows 0 columns 16 calls 8 warps 2 in %memory : memref<?xi8> limit {
  ^bb0(%row: index):
    cuda.tile_yield %n : index
  } source {
  ^bb0(%consume: !cuda.callable):
    cuda.tile_yield
  } emit {
  ^bb0(%row: index, %rank: index, %index: index, %value: f32):
    cuda.tile_yield
  }
  return
}

// -----

func.func @select_tiles_c2_columns(%memory: memref<?xi8>, %n: index) {
  // expected-error @+1 {{select_tiles_c2: expected a 'k' from 1 to 4096, a positive 'max', 'rows', 'columns' and 'calls', and 1 to 32 warps, got 20 of 333, 3 x 0, 8 and 2}}
  cuda.select_tiles 20 of 333 rows 3 columns 0 calls 8 warps 2 in %memory : memref<?xi8> limit {
  ^bb0(%row: index):
    cuda.tile_yield %n : index
  } source {
  ^bb0(%consume: !cuda.callable):
    cuda.tile_yield
  } emit {
  ^bb0(%row: index, %rank: index, %index: index, %value: f32):
    cuda.tile_yield
  }
  return
}

// -----

func.func @select_tiles_c2_calls(%memory: memref<?xi8>, %n: index) {
  // expected-error @+1 {{select_tiles_c2: expected a 'k' from 1 to 4096, a positive 'max', 'rows', 'columns' and 'calls', and 1 to 32 warps, got 20 of 333, 3 x 16, 0 and 2}}
  cuda.select_tiles 20 of 333 rows 3 columns 16 calls 0 warps 2 in %memory : memref<?xi8> limit {
  ^bb0(%row: index):
    cuda.tile_yield %n : index
  } source {
  ^bb0(%consume: !cuda.callable):
    cuda.tile_yield
  } emit {
  ^bb0(%row: index, %rank: index, %index: index, %value: f32):
    cuda.tile_yield
  }
  return
}

// -----

func.func @select_tiles_c2_warps(%memory: memref<?xi8>, %n: index) {
  // expected-error @+1 {{select_tiles_c2: expected a 'k' from 1 to 4096, a positive 'max', 'rows', 'columns' and 'calls', and 1 to 32 warps, got 20 of 333, 3 x 16, 8 and 33}}
  cuda.select_tiles 20 of 333 rows 3 columns 16 calls 8 warps 33 in %memory : memref<?xi8> limit {
  ^bb0(%row: index):
    cuda.tile_yield %n : index
  } source {
  ^bb0(%consume: !cuda.callable):
    cuda.tile_yield
  } emit {
  ^bb0(%row: index, %rank: index, %index: index, %value: f32):
    cuda.tile_yield
  }
  return
}

// -----

func.func @select_resident_c1_limit(%memory: memref<?xi8>, %n: index) {
  // expected-error @+1 {{select_resident_c1: expected regions of (tile_row), (consume), (tile_row, column, value) and (tile_row, rank, index, value) that end in a 'cuda.tile_yield' of an integer, of nothing, of one element and of nothing}}
  cuda.select_resident 20 of 333 rows 3 threads 128 vectors 1 cluster 1 in %memory : memref<?xi8> limit {
  ^bb0(%row: index, %column: index):
    cuda.tile_yield %n : index
  } source {
  ^bb0(%consume: !cuda.callable):
    cuda.tile_yield
  } emit {
  ^bb0(%row: index, %rank: index, %index: index, %value: f32):
    cuda.tile_yield
  }
  return
}

// -----

func.func @select_resident_c1_limit_yield(%memory: memref<?xi8>, %n: index) {
  // expected-error @+1 {{select_resident_c1: expected regions of (tile_row), (consume), (tile_row, column, value) and (tile_row, rank, index, value) that end in a 'cuda.tile_yield' of an integer, of nothing, of one element and of nothing}}
  cuda.select_resident 20 of 333 rows 3 threads 128 vectors 1 cluster 1 in %memory : memref<?xi8> limit {
  ^bb0(%row: index):
    cuda.tile_yield
  } source {
  ^bb0(%consume: !cuda.callable):
    cuda.tile_yield
  } emit {
  ^bb0(%row: index, %rank: index, %index: index, %value: f32):
    cuda.tile_yield
  }
  return
}

// -----

func.func @select_resident_c1_source(%memory: memref<?xi8>, %n: index) {
  // expected-error @+1 {{select_resident_c1: expected regions of (tile_row), (consume), (tile_row, column, value) and (tile_row, rank, index, value) that end in a 'cuda.tile_yield' of an integer, of nothing, of one element and of nothing}}
  cuda.select_resident 20 of 333 rows 3 threads 128 vectors 1 cluster 1 in %memory : memref<?xi8> limit {
  ^bb0(%row: index):
    cuda.tile_yield %n : index
  } source {
  ^bb0(%consume: index):
    cuda.tile_yield
  } emit {
  ^bb0(%row: index, %rank: index, %index: index, %value: f32):
    cuda.tile_yield
  }
  return
}

// -----

func.func @select_resident_c1_source_yield(%memory: memref<?xi8>, %n: index) {
  // expected-error @+1 {{select_resident_c1: expected regions of (tile_row), (consume), (tile_row, column, value) and (tile_row, rank, index, value) that end in a 'cuda.tile_yield' of an integer, of nothing, of one element and of nothing}}
  cuda.select_resident 20 of 333 rows 3 threads 128 vectors 1 cluster 1 in %memory : memref<?xi8> limit {
  ^bb0(%row: index):
    cuda.tile_yield %n : index
  } source {
  ^bb0(%consume: !cuda.callable):
    cuda.tile_yield %n : index
  } emit {
  ^bb0(%row: index, %rank: index, %index: index, %value: f32):
    cuda.tile_yield
  }
  return
}

// -----

func.func @select_resident_c1_score(%memory: memref<?xi8>, %n: index) {
  // expected-error @+1 {{select_resident_c1: expected regions of (tile_row), (consume), (tile_row, column, value) and (tile_row, rank, index, value) that end in a 'cuda.tile_yield' of an integer, of nothing, of one element and of nothing}}
  cuda.select_resident 20 of 333 rows 3 threads 128 vectors 1 cluster 1 in %memory : memref<?xi8> limit {
  ^bb0(%row: index):
    cuda.tile_yield %n : index
  } source {
  ^bb0(%consume: !cuda.callable):
    cuda.tile_yield
  } score {
  ^bb0(%row: index, %value: vector<1x1xf32>):
    cuda.tile_yield %value : vector<1x1xf32>
  } emit {
  ^bb0(%row: index, %rank: index, %index: index, %value: f32):
    cuda.tile_yield
  }
  return
}

// -----

func.func @select_resident_c1_score_yield(%memory: memref<?xi8>, %n: index) {
  // expected-error @+1 {{select_resident_c1: expected regions of (tile_row), (consume), (tile_row, column, value) and (tile_row, rank, index, value) that end in a 'cuda.tile_yield' of an integer, of nothing, of one element and of nothing}}
  cuda.select_resident 20 of 333 rows 3 threads 128 vectors 1 cluster 1 in %memory : memref<?xi8> limit {
  ^bb0(%row: index):
    cuda.tile_yield %n : index
  } source {
  ^bb0(%consume: !cuda.callable):
    cuda.tile_yield
  } score {
  ^bb0(%row: index, %column: index, %value: vector<1x1xf32>):
    cuda.tile_yield %n : index
  } emit {
  ^bb0(%row: index, %rank: index, %index: index, %value: f32):
    cuda.tile_yield
  }
  return
}

// -----

func.func @select_resident_c1_emit(%memory: memref<?xi8>, %n: index) {
  // expected-error @+1 {{select_resident_c1: expected regions of (tile_row), (consume), (tile_row, column, value) and (tile_row, rank, index, value) that end in a 'cuda.tile_yield' of an integer, of nothing, of one element and of nothing}}
  cuda.select_resident 20 of 333 rows 3 threads 128 vectors 1 cluster 1 in %memory : memref<?xi8> limit {
  ^bb0(%row: index):
    cuda.tile_yield %n : index
  } source {
  ^bb0(%consume: !cuda.callable):
    cuda.tile_yield
  } emit {
  ^bb0(%row: index, %rank: index, %value: f32):
    cuda.tile_yield
  }
  return
}

// -----

func.func @select_resident_c1_emit_yield(%memory: memref<?xi8>, %n: index) {
  // expected-error @+1 {{select_resident_c1: expected regions of (tile_row), (consume), (tile_row, column, value) and (tile_row, rank, index, value) that end in a 'cuda.tile_yield' of an integer, of nothing, of one element and of nothing}}
  cuda.select_resident 20 of 333 rows 3 threads 128 vectors 1 cluster 1 in %memory : memref<?xi8> limit {
  ^bb0(%row: index):
    cuda.tile_yield %n : index
  } source {
  ^bb0(%consume: !cuda.callable):
    cuda.tile_yield
  } emit {
  ^bb0(%row: index, %rank: index, %index: index, %value: f32):
    cuda.tile_yield %n : index
  }
  return
}

// -----

func.func @select_resident_c2_k(%memory: memref<?xi8>, %n: index) {
  // expected-error @+1 {{select_resident_c2: expected a 'k' from 1 to 4096, a positive 'max' and 'rows', a power of two of 64 to 1024 'threads', a 'cluster' of at most 16 blocks, and at most 8 'vectors' that are enough for 'max' elements, got 0 of 333, 3, 128, 1 and 1}}
  cuda.select_resident 0 of 333 rows 3 threads 128 vectors 1 cluster 1 in %memory : memref<?xi8> limit {
  ^bb0(%row: index):
    cuda.tile_yield %n : index
  } source {
  ^bb0(%consume: !cuda.callable):
    cuda.tile_yield
  } emit {
  ^bb0(%row: index, %rank: index, %index: index, %value: f32):
    cuda.tile_yield
  }
  return
}

// -----

func.func @select_resident_c2_large_k(%memory: memref<?xi8>, %n: index) {
  // expected-error @+1 {{select_resident_c2: expected a 'k' from 1 to 4096, a positive 'max' and 'rows', a power of two of 64 to 1024 'threads', a 'cluster' of at most 16 blocks, and at most 8 'vectors' that are enough for 'max' elements, got 4097 of 333, 3, 128, 1 and 1}}
  cuda.select_resident 4097 of 333 rows 3 threads 128 vectors 1 cluster 1 in %memory : memref<?xi8> limit {
  ^bb0(%row: index):
    cuda.tile_yield %n : index
  } source {
  ^bb0(%consume: !cuda.callable):
    cuda.tile_yield
  } emit {
  ^bb0(%row: index, %rank: index, %index: index, %value: f32):
    cuda.tile_yield
  }
  return
}

// -----

func.func @select_resident_c2_max(%memory: memref<?xi8>, %n: index) {
  // expected-error @+1 {{select_resident_c2: expected a 'k' from 1 to 4096, a positive 'max' and 'rows', a power of two of 64 to 1024 'threads', a 'cluster' of at most 16 blocks, and at most 8 'vectors' that are enough for 'max' elements, got 20 of 0, 3, 128, 1 and 1}}
  cuda.select_resident 20 of 0 rows 3 threads 128 vectors 1 cluster 1 in %memory : memref<?xi8> limit {
  ^bb0(%row: index):
    cuda.tile_yield %n : index
  } source {
  ^bb0(%consume: !cuda.callable):
    cuda.tile_yield
  } emit {
  ^bb0(%row: index, %rank: index, %index: index, %value: f32):
    cuda.tile_yield
  }
  return
}

// -----

func.func @select_resident_c2_rows(%memory: memref<?xi8>, %n: index) {
  // expected-error @+1 {{select_resident_c2: expected a 'k' from 1 to 4096, a positive 'max' and 'rows', a power of two of 64 to 1024 'threads', a 'cluster' of at most 16 blocks, and at most 8 'vectors' that are enough for 'max' elements, got 20 of 333, 0, 128, 1 and 1}}
  cuda.select_resident 20 of 333 rows 0 threads 128 vectors 1 cluster 1 in %memory : memref<?xi8> limit {
  ^bb0(%row: index):
    cuda.tile_yield %n : index
  } source {
  ^bb0(%consume: !cuda.callable):
    cuda.tile_yield
  } emit {
  ^bb0(%row: index, %rank: index, %index: index, %value: f32):
    cuda.tile_yield
  }
  return
}

// -----

func.func @select_resident_c2_threads(%memory: memref<?xi8>, %n: index) {
  // expected-error @+1 {{select_resident_c2: expected a 'k' from 1 to 4096, a positive 'max' and 'rows', a power of two of 64 to 1024 'threads', a 'cluster' of at most 16 blocks, and at most 8 'vectors' that are enough for 'max' elements, got 20 of 333, 3, 96, 1 and 1}}
  cuda.select_resident 20 of 333 rows 3 threads 96 vectors 1 cluster 1 in %memory : memref<?xi8> limit {
  ^bb0(%row: index):
    cuda.tile_yield %n : index
  } source {
  ^bb0(%consume: !cuda.callable):
    cuda.tile_yield
  } emit {
  ^bb0(%row: index, %rank: index, %index: index, %value: f32):
    cuda.tile_yield
  }
  return
}

// -----

func.func @select_resident_c2_few_threads(%memory: memref<?xi8>, %n: index) {
  // expected-error @+1 {{select_resident_c2: expected a 'k' from 1 to 4096, a positive 'max' and 'rows', a power of two of 64 to 1024 'threads', a 'cluster' of at most 16 blocks, and at most 8 'vectors' that are enough for 'max' elements, got 20 of 333, 3, 32, 1 and 1}}
  cuda.select_resident 20 of 333 rows 3 threads 32 vectors 1 cluster 1 in %memory : memref<?xi8> limit {
  ^bb0(%row: index):
    cuda.tile_yield %n : index
  } source {
  ^bb0(%consume: !cuda.callable):
    cuda.tile_yield
  } emit {
  ^bb0(%row: index, %rank: index, %index: index, %value: f32):
    cuda.tile_yield
  }
  return
}

// -----

func.func @select_resident_c2_many_threads(%memory: memref<?xi8>, %n: index) {
  // expected-error @+1 {{select_resident_c2: expected a 'k' from 1 to 4096, a positive 'max' and 'rows', a power of two of 64 to 1024 'threads', a 'cluster' of at most 16 blocks, and at most 8 'vectors' that are enough for 'max' elements, got 20 of 333, 3, 2048, 1 and 1}}
  cuda.select_resident 20 of 333 rows 3 threads 2048 vectors 1 cluster 1 in %memory : memref<?xi8> limit {
  ^bb0(%row: index):
    cuda.tile_yield %n : index
  } source {
  ^bb0(%consume: !cuda.callable):
    cuda.tile_yield
  } emit {
  ^bb0(%row: index, %rank: index, %index: index, %value: f32):
    cuda.tile_yield
  }
  return
}

// -----

func.func @select_resident_c2_vectors(%memory: memref<?xi8>, %n: index) {
  // expected-error @+1 {{select_resident_c2: expected a 'k' from 1 to 4096, a positive 'max' and 'rows', a power of two of 64 to 1024 'threads', a 'cluster' of at most 16 blocks, and at most 8 'vectors' that are enough for 'max' elements, got 20 of 333, 3, 128, 1 and 0}}
  cuda.select_resident 20 of 333 rows 3 threads 128 vectors 0 cluster 1 in %memory : memref<?xi8> limit {
  ^bb0(%row: index):
    cuda.tile_yield %n : index
  } source {
  ^bb0(%consume: !cuda.callable):
    cuda.tile_yield
  } emit {
  ^bb0(%row: index, %rank: index, %index: index, %value: f32):
    cuda.tile_yield
  }
  return
}

// -----

func.func @select_resident_c2_many_vectors(%memory: memref<?xi8>, %n: index) {
  // expected-error @+1 {{select_resident_c2: expected a 'k' from 1 to 4096, a positive 'max' and 'rows', a power of two of 64 to 1024 'threads', a 'cluster' of at most 16 blocks, and at most 8 'vectors' that are enough for 'max' elements, got 20 of 333, 3, 128, 1 and 9}}
  cuda.select_resident 20 of 333 rows 3 threads 128 vectors 9 cluster 1 in %memory : memref<?xi8> limit {
  ^bb0(%row: index):
    cuda.tile_yield %n : index
  } source {
  ^bb0(%consume: !cuda.callable):
    cuda.tile_yield
  } emit {
  ^bb0(%row: index, %rank: index, %index: index, %value: f32):
    cuda.tile_yield
  }
  return
}

// -----

func.func @select_resident_c2_cluster(%memory: memref<?xi8>, %n: index) {
  // expected-error @+1 {{select_resident_c2: expected a 'k' from 1 to 4096, a positive 'max' and 'rows', a power of two of 64 to 1024 'threads', a 'cluster' of at most 16 blocks, and at most 8 'vectors' that are enough for 'max' elements, got 20 of 333, 3, 128, 0 and 1}}
  cuda.select_resident 20 of 333 rows 3 threads 128 vectors 1 cluster 0 in %memory : memref<?xi8> limit {
  ^bb0(%row: index):
    cuda.tile_yield %n : index
  } source {
  ^bb0(%consume: !cuda.callable):
    cuda.tile_yield
  } emit {
  ^bb0(%row: index, %rank: index, %index: index, %value: f32):
    cuda.tile_yield
  }
  return
}

// -----

func.func @select_resident_c2_large_cluster(%memory: memref<?xi8>, %n: index) {
  // expected-error @+1 {{select_resident_c2: expected a 'k' from 1 to 4096, a positive 'max' and 'rows', a power of two of 64 to 1024 'threads', a 'cluster' of at most 16 blocks, and at most 8 'vectors' that are enough for 'max' elements, got 20 of 333, 3, 128, 17 and 1}}
  cuda.select_resident 20 of 333 rows 3 threads 128 vectors 1 cluster 17 in %memory : memref<?xi8> limit {
  ^bb0(%row: index):
    cuda.tile_yield %n : index
  } source {
  ^bb0(%consume: !cuda.callable):
    cuda.tile_yield
  } emit {
  ^bb0(%row: index, %rank: index, %index: index, %value: f32):
    cuda.tile_yield
  }
  return
}

// -----

func.func @select_resident_c2_enough(%memory: memref<?xi8>, %n: index) {
  // expected-error @+1 {{select_resident_c2: expected a 'k' from 1 to 4096, a positive 'max' and 'rows', a power of two of 64 to 1024 'threads', a 'cluster' of at most 16 blocks, and at most 8 'vectors' that are enough for 'max' elements, got 20 of 513, 3, 128, 1 and 1}}
  cuda.select_resident 20 of 513 rows 3 threads 128 vectors 1 cluster 1 in %memory : memref<?xi8> limit {
  ^bb0(%row: index):
    cuda.tile_yield %n : index
  } source {
  ^bb0(%consume: !cuda.callable):
    cuda.tile_yield
  } emit {
  ^bb0(%row: index, %rank: index, %index: index, %value: f32):
    cuda.tile_yield
  }
  return
}

// -----

func.func @select_resident_c2_enough_of_cluster(%memory: memref<?xi8>, %n: index) {
  // expected-error @+1 {{select_resident_c2: expected a 'k' from 1 to 4096, a positive 'max' and 'rows', a power of two of 64 to 1024 'threads', a 'cluster' of at most 16 blocks, and at most 8 'vectors' that are enough for 'max' elements, got 20 of 6145, 3, 128, 3 and 4}}
  cuda.select_resident 20 of 6145 rows 3 threads 128 vectors 4 cluster 3 in %memory : memref<?xi8> limit {
  ^bb0(%row: index):
    cuda.tile_yield %n : index
  } source {
  ^bb0(%consume: !cuda.callable):
    cuda.tile_yield
  } emit {
  ^bb0(%row: index, %rank: index, %index: index, %value: f32):
    cuda.tile_yield
  }
  return
}
