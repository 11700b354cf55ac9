// The clauses of scores of keys, and of writes of tiles.

// RUN: dsv4-opt %s --split-input-file --verify-diagnostics

func.func @c1_name(%q: memref<?xbf16>, %w: memref<?xf32>, %n: index) {
  // expected-error @+1 {{index_score_c1: expected formats "e4m3", "mxfp4", "nvfp4" or "bf16" and their scales, got "fp8" without 'scales' and "bf16" without 'key_scales'}}
  %0 = row.index_score %q head %n weights %w keys %q page %n entry %n columns %n heads 1 dim 64 page_size 64
      query "fp8" key "bf16" : memref<?xbf16>, memref<?xf32>, memref<?xbf16> -> vector<70xf32> row {
    row.yield %n, %n, %n, %n, %n : index, index, index, index, index
  } page {
  ^bb0(%number: index):
    row.yield %number : index
  }
  return
}

// -----

func.func @c1_scales(%q: memref<?xbf16>, %w: memref<?xf32>, %n: index) {
  // expected-error @+1 {{index_score_c1: expected formats "e4m3", "mxfp4", "nvfp4" or "bf16" and their scales, got "mxfp4" without 'scales' and "bf16" without 'key_scales'}}
  %0 = row.index_score %q head %n weights %w keys %q page %n entry %n columns %n heads 1 dim 64 page_size 64
      query "mxfp4" key "bf16" : memref<?xbf16>, memref<?xf32>, memref<?xbf16> -> vector<70xf32> row {
    row.yield %n, %n, %n, %n, %n : index, index, index, index, index
  } page {
  ^bb0(%number: index):
    row.yield %number : index
  }
  return
}

// -----

func.func @c1_key_scales(%q: memref<?xbf16>, %w: memref<?xf32>, %n: index) {
  // expected-error @+1 {{index_score_c1: expected formats "e4m3", "mxfp4", "nvfp4" or "bf16" and their scales, got "bf16" without 'scales' and "e4m3" without 'key_scales'}}
  %0 = row.index_score %q head %n weights %w keys %q page %n entry %n columns %n heads 1 dim 64 page_size 64
      query "bf16" key "e4m3" : memref<?xbf16>, memref<?xf32>, memref<?xbf16> -> vector<70xf32> row {
    row.yield %n, %n, %n, %n, %n : index, index, index, index, index
  } page {
  ^bb0(%number: index):
    row.yield %number : index
  }
  return
}

// -----

func.func @c2(%q: memref<?xbf16>, %w: memref<?xf32>, %n: index) {
  // expected-error @+1 {{index_score_c2: expected positive 'heads', 'dim', 'page_size' and alignments, got 0}}
  %0 = row.index_score %q head %n weights %w keys %q page %n entry %n columns %n heads 1 dim 0 page_size 64
      query "bf16" key "bf16" : memref<?xbf16>, memref<?xf32>, memref<?xbf16> -> vector<70xf32> row {
    row.yield %n, %n, %n, %n, %n : index, index, index, index, index
  } page {
  ^bb0(%number: index):
    row.yield %number : index
  }
  return
}

// -----

func.func @c3_row(%q: memref<?xbf16>, %w: memref<?xf32>, %n: index) {
  // expected-error @+1 {{index_score_c3: expected regions of () and (number) that end in a 'row.yield' of five indices and of one}}
  %0 = row.index_score %q head %n weights %w keys %q page %n entry %n columns %n heads 1 dim 64 page_size 64
      query "bf16" key "bf16" : memref<?xbf16>, memref<?xf32>, memref<?xbf16> -> vector<70xf32> row {
    row.yield %n : index
  } page {
  ^bb0(%number: index):
    row.yield %number : index
  }
  return
}

// -----

func.func @c3_page(%q: memref<?xbf16>, %w: memref<?xf32>, %n: index) {
  // expected-error @+1 {{index_score_c3: expected regions of () and (number) that end in a 'row.yield' of five indices and of one}}
  %0 = row.index_score %q head %n weights %w keys %q page %n entry %n columns %n heads 1 dim 64 page_size 64
      query "bf16" key "bf16" : memref<?xbf16>, memref<?xf32>, memref<?xbf16> -> vector<70xf32> row {
    row.yield %n, %n, %n, %n, %n : index, index, index, index, index
  } page {
  ^bb0:
    row.yield %n : index
  }
  return
}

// -----

func.func @c3_page_yield(%q: memref<?xbf16>, %w: memref<?xf32>, %n: index) {
  // expected-error @+1 {{index_score_c3: expected regions of () and (number) that end in a 'row.yield' of five indices and of one}}
  %0 = row.index_score %q head %n weights %w keys %q page %n entry %n columns %n heads 1 dim 64 page_size 64
      query "bf16" key "bf16" : memref<?xbf16>, memref<?xf32>, memref<?xbf16> -> vector<70xf32> row {
    row.yield %n, %n, %n, %n, %n : index, index, index, index, index
  } page {
  ^bb0(%number: index):
    row.yield
  }
  return
}

// -----

func.func @write_tiles_c1(%v: vector<70xf32>, %o: memref<?xi32>, %n: index) {
  // expected-error @+1 {{write_tiles_c1: expected a base of f32, bf16 or f16, got 'memref<?xi32>'}}
  row.write_tiles %v, %o[%n] columns %n : vector<70xf32>, memref<?xi32>
  return
}
