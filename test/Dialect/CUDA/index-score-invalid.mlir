// The clauses of scores of keys, and of who stores tiles.

// RUN: dsv4-opt %s --split-input-file --verify-diagnostics

func.func @c1_name(%consume: !cuda.callable, %m: memref<?xi8>, %q: memref<?xbf16>, %w: memref<?xf32>, %n: index) {
  // expected-error @+1 {{index_score_c1: expected formats "e4m3", "mxfp4", "nvfp4" or "bf16" and their scales, got "fp8" without 'scales' and "bf16" without 'key_scales'}}
  cuda.index_score %consume, %m, %q head %n weights %w keys %q page %n entry %n columns %n rows 1 tile_columns 32 heads 1 dim 64 page_size 64
      query "fp8" key "bf16"
      : memref<?xi8>, memref<?xbf16>, index, memref<?xf32>, memref<?xbf16>, index, index, index row {
    ^bb0(%row: index):
      cuda.tile_yield %n, %n, %n, %n, %n : index, index, index, index, index
  } page {
    ^bb0(%row: index, %number: index):
      cuda.tile_yield %number : index
  }
  return
}

// -----

func.func @c1_scales(%consume: !cuda.callable, %m: memref<?xi8>, %q: memref<?xbf16>, %w: memref<?xf32>, %n: index) {
  // expected-error @+1 {{index_score_c1: expected formats "e4m3", "mxfp4", "nvfp4" or "bf16" and their scales, got "mxfp4" without 'scales' and "bf16" without 'key_scales'}}
  cuda.index_score %consume, %m, %q head %n weights %w keys %q page %n entry %n columns %n rows 1 tile_columns 32 heads 1 dim 64 page_size 64
      query "mxfp4" key "bf16"
      : memref<?xi8>, memref<?xbf16>, index, memref<?xf32>, memref<?xbf16>, index, index, index row {
    ^bb0(%row: index):
      cuda.tile_yield %n, %n, %n, %n, %n : index, index, index, index, index
  } page {
    ^bb0(%row: index, %number: index):
      cuda.tile_yield %number : index
  }
  return
}

// -----

func.func @c1_key_scales(%consume: !cuda.callable, %m: memref<?xi8>, %q: memref<?xbf16>, %w: memref<?xf32>, %n: index) {
  // expected-error @+1 {{index_score_c1: expected formats "e4m3", "mxfp4", "nvfp4" or "bf16" and their scales, got "bf16" without 'scales' and "e4m3" without 'key_scales'}}
  cuda.index_score %consume, %m, %q head %n weights %w keys %q page %n entry %n columns %n rows 1 tile_columns 32 heads 1 dim 64 page_size 64
      query "bf16" key "e4m3"
      : memref<?xi8>, memref<?xbf16>, index, memref<?xf32>, memref<?xbf16>, index, index, index row {
    ^bb0(%row: index):
      cuda.tile_yield %n, %n, %n, %n, %n : index, index, index, index, index
  } page {
    ^bb0(%row: index, %number: index):
      cuda.tile_yield %number : index
  }
  return
}

// -----

func.func @c2_rows(%consume: !cuda.callable, %m: memref<?xi8>, %q: memref<?xbf16>, %w: memref<?xf32>, %n: index) {
  // expected-error @+1 {{index_score_c2: expected positive numbers, and whole warps of 'tile_columns', got 0 and 32 'tile_columns'}}
  cuda.index_score %consume, %m, %q head %n weights %w keys %q page %n entry %n columns %n rows 0 tile_columns 32 heads 1 dim 64 page_size 64
      query "bf16" key "bf16"
      : memref<?xi8>, memref<?xbf16>, index, memref<?xf32>, memref<?xbf16>, index, index, index row {
    ^bb0(%row: index):
      cuda.tile_yield %n, %n, %n, %n, %n : index, index, index, index, index
  } page {
    ^bb0(%row: index, %number: index):
      cuda.tile_yield %number : index
  }
  return
}

// -----

func.func @c2_columns(%consume: !cuda.callable, %m: memref<?xi8>, %q: memref<?xbf16>, %w: memref<?xf32>, %n: index) {
  // expected-error @+1 {{index_score_c2: expected positive numbers, and whole warps of 'tile_columns', got 1 and 33 'tile_columns'}}
  cuda.index_score %consume, %m, %q head %n weights %w keys %q page %n entry %n columns %n rows 1 tile_columns 33 heads 1 dim 64 page_size 64
      query "bf16" key "bf16"
      : memref<?xi8>, memref<?xbf16>, index, memref<?xf32>, memref<?xbf16>, index, index, index row {
    ^bb0(%row: index):
      cuda.tile_yield %n, %n, %n, %n, %n : index, index, index, index, index
  } page {
    ^bb0(%row: index, %number: index):
      cuda.tile_yield %number : index
  }
  return
}

// -----

func.func @c3_row(%consume: !cuda.callable, %m: memref<?xi8>, %q: memref<?xbf16>, %w: memref<?xf32>, %n: index) {
  // expected-error @+1 {{index_score_c3: expected regions of (tile_row) and (tile_row, number) that end in a 'cuda.tile_yield' of five integers and of one}}
  cuda.index_score %consume, %m, %q head %n weights %w keys %q page %n entry %n columns %n rows 1 tile_columns 32 heads 1 dim 64 page_size 64
      query "bf16" key "bf16"
      : memref<?xi8>, memref<?xbf16>, index, memref<?xf32>, memref<?xbf16>, index, index, index row {
    ^bb0(%row: index):
      cuda.tile_yield %n : index
  } page {
    ^bb0(%row: index, %number: index):
      cuda.tile_yield %number : index
  }
  return
}

// -----

func.func @c3_row_arguments(%consume: !cuda.callable, %m: memref<?xi8>, %q: memref<?xbf16>, %w: memref<?xf32>, %n: index) {
  // expected-error @+1 {{index_score_c3: expected regions of (tile_row) and (tile_row, number) that end in a 'cuda.tile_yield' of five integers and of one}}
  cuda.index_score %consume, %m, %q head %n weights %w keys %q page %n entry %n columns %n rows 1 tile_columns 32 heads 1 dim 64 page_size 64
      query "bf16" key "bf16"
      : memref<?xi8>, memref<?xbf16>, index, memref<?xf32>, memref<?xbf16>, index, index, index row {
    ^bb0(%row: index, %column: index):
      cuda.tile_yield %n, %n, %n, %n, %n : index, index, index, index, index
  } page {
    ^bb0(%row: index, %number: index):
      cuda.tile_yield %number : index
  }
  return
}

// -----

func.func @c3_page(%consume: !cuda.callable, %m: memref<?xi8>, %q: memref<?xbf16>, %w: memref<?xf32>, %n: index) {
  // expected-error @+1 {{index_score_c3: expected regions of (tile_row) and (tile_row, number) that end in a 'cuda.tile_yield' of five integers and of one}}
  cuda.index_score %consume, %m, %q head %n weights %w keys %q page %n entry %n columns %n rows 1 tile_columns 32 heads 1 dim 64 page_size 64
      query "bf16" key "bf16"
      : memref<?xi8>, memref<?xbf16>, index, memref<?xf32>, memref<?xbf16>, index, index, index row {
    ^bb0(%row: index):
      cuda.tile_yield %n, %n, %n, %n, %n : index, index, index, index, index
  } page {
    ^bb0(%row: index):
      cuda.tile_yield %row : index
  }
  return
}

// -----

func.func @c3_page_yield(%consume: !cuda.callable, %m: memref<?xi8>, %q: memref<?xbf16>, %w: memref<?xf32>, %n: index) {
  // expected-error @+1 {{index_score_c3: expected regions of (tile_row) and (tile_row, number) that end in a 'cuda.tile_yield' of five integers and of one}}
  cuda.index_score %consume, %m, %q head %n weights %w keys %q page %n entry %n columns %n rows 1 tile_columns 32 heads 1 dim 64 page_size 64
      query "bf16" key "bf16"
      : memref<?xi8>, memref<?xbf16>, index, memref<?xf32>, memref<?xbf16>, index, index, index row {
    ^bb0(%row: index):
      cuda.tile_yield %n, %n, %n, %n, %n : index, index, index, index, index
  } page {
    ^bb0(%row: index, %number: index):
      cuda.tile_yield
  }
  return
}

// -----

func.func @store_tiles_c1_source() {
  // expected-error @+1 {{store_tiles_c1: expected regions of (consume) and (tile_row, column, value) that end in a 'cuda.tile_yield' of nothing}}
  cuda.store_tiles rows 1 max 8 source {
  ^bb0(%consume: index):
    cuda.tile_yield
  } emit {
  ^bb0(%row: index, %column: index, %value: f32):
    cuda.tile_yield
  }
  return
}

// -----

func.func @store_tiles_c1_emit() {
  // expected-error @+1 {{store_tiles_c1: expected regions of (consume) and (tile_row, column, value) that end in a 'cuda.tile_yield' of nothing}}
  cuda.store_tiles rows 1 max 8 source {
  ^bb0(%consume: !cuda.callable):
    cuda.tile_yield
  } emit {
  ^bb0(%row: index, %value: f32):
    cuda.tile_yield
  }
  return
}

// -----

func.func @store_tiles_c1_yield() {
  // expected-error @+1 {{store_tiles_c1: expected regions of (consume) and (tile_row, column, value) that end in a 'cuda.tile_yield' of nothing}}
  cuda.store_tiles rows 1 max 8 source {
  ^bb0(%consume: !cuda.callable):
    cuda.tile_yield
  } emit {
  ^bb0(%row: index, %column: index, %value: f32):
    cuda.tile_yield %row : index
  }
  return
}

// -----

func.func @store_tiles_c2() {
  // expected-error @+1 {{store_tiles_c2: expected positive 'rows' and 'max', got 1 and 0}}
  cuda.store_tiles rows 1 max 0 source {
  ^bb0(%consume: !cuda.callable):
    cuda.tile_yield
  } emit {
  ^bb0(%row: index, %column: index, %value: f32):
    cuda.tile_yield
  }
  return
}

// -----

func.func @c4_plain(%consume: !cuda.callable, %m: memref<?xi8>, %q: memref<?xi8>, %w: memref<?xf32>, %n: index) {
  // expected-error @+1 {{index_score_c4: expected no 'of', 'keys_once', 'tiles', 'stages', 'slots' and strides in bytes without algorithm mma}}
  cuda.index_score %consume, %m, %q head %n weights %w keys %q page %n entry %n key_scales %q page %n entry %n columns %n
      rows 1 tile_columns 64 heads 64 dim 128 page_size 64 query "e4m3" key "e4m3" attributes {tiles = 1 : i64}
      : memref<?xi8>, memref<?xi8>, index, memref<?xf32>, memref<?xi8>, index, index key_scales memref<?xi8>, index, index, index row {
    ^bb0(%row: index):
      cuda.tile_yield %n, %n, %n, %n, %n : index, index, index, index, index
  } page {
    ^bb0(%row: index, %number: index):
      cuda.tile_yield %number : index
  }
  return
}

// -----

func.func @c4_tiles(%consume: !cuda.callable, %m: memref<?xi8>, %q: memref<?xi8>, %w: memref<?xf32>, %n: index) {
  // expected-error @+1 {{index_score_c4: expected 1 or 2 'tiles', positive 'stages', 'slots', 'entry_bytes' and 'scale_entry_bytes', at most 8 'rows' and 128 'heads', a 'dim' of 128 and no bf16 with algorithm mma}}
  cuda.index_score %consume, %m, %q head %n weights %w keys %q page %n entry %n key_scales %q page %n entry %n columns %n
      rows 1 tile_columns 64 heads 64 dim 128 page_size 64 query "e4m3" key "e4m3" algorithm mma attributes {tiles = 288230376151711744 : i64, stages = 2 : i64, slots = 1 : i64, entry_bytes = 128 : i64, scale_entry_bytes = 4 : i64}
      : memref<?xi8>, memref<?xi8>, index, memref<?xf32>, memref<?xi8>, index, index key_scales memref<?xi8>, index, index, index row {
    ^bb0(%row: index):
      cuda.tile_yield %n, %n, %n, %n, %n : index, index, index, index, index
  } page {
    ^bb0(%row: index, %number: index):
      cuda.tile_yield %number : index
  }
  return
}

// -----

func.func @c4_stages(%consume: !cuda.callable, %m: memref<?xi8>, %q: memref<?xi8>, %w: memref<?xf32>, %n: index) {
  // expected-error @+1 {{index_score_c4: expected 1 or 2 'tiles', positive 'stages', 'slots', 'entry_bytes' and 'scale_entry_bytes', at most 8 'rows' and 128 'heads', a 'dim' of 128 and no bf16 with algorithm mma}}
  cuda.index_score %consume, %m, %q head %n weights %w keys %q page %n entry %n key_scales %q page %n entry %n columns %n
      rows 1 tile_columns 64 heads 64 dim 128 page_size 64 query "e4m3" key "e4m3" algorithm mma attributes {tiles = 1 : i64, stages = 0 : i64, slots = 1 : i64, entry_bytes = 128 : i64, scale_entry_bytes = 4 : i64}
      : memref<?xi8>, memref<?xi8>, index, memref<?xf32>, memref<?xi8>, index, index key_scales memref<?xi8>, index, index, index row {
    ^bb0(%row: index):
      cuda.tile_yield %n, %n, %n, %n, %n : index, index, index, index, index
  } page {
    ^bb0(%row: index, %number: index):
      cuda.tile_yield %number : index
  }
  return
}

// -----

func.func @c4_slots(%consume: !cuda.callable, %m: memref<?xi8>, %q: memref<?xi8>, %w: memref<?xf32>, %n: index) {
  // expected-error @+1 {{index_score_c4: expected 1 or 2 'tiles', positive 'stages', 'slots', 'entry_bytes' and 'scale_entry_bytes', at most 8 'rows' and 128 'heads', a 'dim' of 128 and no bf16 with algorithm mma}}
  cuda.index_score %consume, %m, %q head %n weights %w keys %q page %n entry %n key_scales %q page %n entry %n columns %n
      rows 1 tile_columns 64 heads 64 dim 128 page_size 64 query "e4m3" key "e4m3" algorithm mma attributes {tiles = 1 : i64, stages = 2 : i64, slots = -1 : i64, entry_bytes = 128 : i64, scale_entry_bytes = 4 : i64}
      : memref<?xi8>, memref<?xi8>, index, memref<?xf32>, memref<?xi8>, index, index key_scales memref<?xi8>, index, index, index row {
    ^bb0(%row: index):
      cuda.tile_yield %n, %n, %n, %n, %n : index, index, index, index, index
  } page {
    ^bb0(%row: index, %number: index):
      cuda.tile_yield %number : index
  }
  return
}

// -----

func.func @c4_entry(%consume: !cuda.callable, %m: memref<?xi8>, %q: memref<?xi8>, %w: memref<?xf32>, %n: index) {
  // expected-error @+1 {{index_score_c4: expected 1 or 2 'tiles', positive 'stages', 'slots', 'entry_bytes' and 'scale_entry_bytes', at most 8 'rows' and 128 'heads', a 'dim' of 128 and no bf16 with algorithm mma}}
  cuda.index_score %consume, %m, %q head %n weights %w keys %q page %n entry %n key_scales %q page %n entry %n columns %n
      rows 1 tile_columns 64 heads 64 dim 128 page_size 64 query "e4m3" key "e4m3" algorithm mma attributes {tiles = 1 : i64, stages = 2 : i64, slots = 1 : i64, entry_bytes = -128 : i64, scale_entry_bytes = 4 : i64}
      : memref<?xi8>, memref<?xi8>, index, memref<?xf32>, memref<?xi8>, index, index key_scales memref<?xi8>, index, index, index row {
    ^bb0(%row: index):
      cuda.tile_yield %n, %n, %n, %n, %n : index, index, index, index, index
  } page {
    ^bb0(%row: index, %number: index):
      cuda.tile_yield %number : index
  }
  return
}

// -----

func.func @c4_rows(%consume: !cuda.callable, %m: memref<?xi8>, %q: memref<?xi8>, %w: memref<?xf32>, %n: index) {
  // expected-error @+1 {{index_score_c4: expected 1 or 2 'tiles', positive 'stages', 'slots', 'entry_bytes' and 'scale_entry_bytes', at most 8 'rows' and 128 'heads', a 'dim' of 128 and no bf16 with algorithm mma}}
  cuda.index_score %consume, %m, %q head %n weights %w keys %q page %n entry %n key_scales %q page %n entry %n columns %n
      rows 9 tile_columns 64 heads 64 dim 128 page_size 64 query "e4m3" key "e4m3" algorithm mma attributes {tiles = 1 : i64, stages = 2 : i64, slots = 1 : i64, entry_bytes = 128 : i64, scale_entry_bytes = 4 : i64}
      : memref<?xi8>, memref<?xi8>, index, memref<?xf32>, memref<?xi8>, index, index key_scales memref<?xi8>, index, index, index row {
    ^bb0(%row: index):
      cuda.tile_yield %n, %n, %n, %n, %n : index, index, index, index, index
  } page {
    ^bb0(%row: index, %number: index):
      cuda.tile_yield %number : index
  }
  return
}

// -----

func.func @c4_dim(%consume: !cuda.callable, %m: memref<?xi8>, %q: memref<?xi8>, %w: memref<?xf32>, %n: index) {
  // expected-error @+1 {{index_score_c4: expected 1 or 2 'tiles', positive 'stages', 'slots', 'entry_bytes' and 'scale_entry_bytes', at most 8 'rows' and 128 'heads', a 'dim' of 128 and no bf16 with algorithm mma}}
  cuda.index_score %consume, %m, %q head %n weights %w keys %q page %n entry %n key_scales %q page %n entry %n columns %n
      rows 1 tile_columns 64 heads 64 dim 64 page_size 64 query "e4m3" key "e4m3" algorithm mma attributes {tiles = 1 : i64, stages = 2 : i64, slots = 1 : i64, entry_bytes = 128 : i64, scale_entry_bytes = 4 : i64}
      : memref<?xi8>, memref<?xi8>, index, memref<?xf32>, memref<?xi8>, index, index key_scales memref<?xi8>, index, index, index row {
    ^bb0(%row: index):
      cuda.tile_yield %n, %n, %n, %n, %n : index, index, index, index, index
  } page {
    ^bb0(%row: index, %number: index):
      cuda.tile_yield %number : index
  }
  return
}

// -----

func.func @c2_tiles(%consume: !cuda.callable, %m: memref<?xi8>, %q: memref<?xi8>, %w: memref<?xf32>, %n: index) {
  // expected-error @+1 {{index_score_c2: expected positive numbers, and whole warps of 'tile_columns', got 1 and 64 'tile_columns'}}
  cuda.index_score %consume, %m, %q head %n weights %w keys %q page %n entry %n key_scales %q page %n entry %n columns %n
      rows 1 tile_columns 64 heads 64 dim 128 page_size 64 query "e4m3" key "e4m3" algorithm mma attributes {tiles = 2 : i64, stages = 2 : i64, slots = 1 : i64, entry_bytes = 128 : i64, scale_entry_bytes = 4 : i64}
      : memref<?xi8>, memref<?xi8>, index, memref<?xf32>, memref<?xi8>, index, index key_scales memref<?xi8>, index, index, index row {
    ^bb0(%row: index):
      cuda.tile_yield %n, %n, %n, %n, %n : index, index, index, index, index
  } page {
    ^bb0(%row: index, %number: index):
      cuda.tile_yield %number : index
  }
  return
}
