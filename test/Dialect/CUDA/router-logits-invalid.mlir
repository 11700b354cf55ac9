// The clauses of logits of experts, and of rows that warps get.

// RUN: dsv4-opt %s --split-input-file --verify-diagnostics

func.func @hidden(%m: memref<?xi8>, %h: memref<?xf32>, %w: memref<?xbf16>, %n: index) {
  cuda.store_tiles rows 64 max 8 source {
  ^bb0(%consume: !cuda.callable):
    // expected-error @+1 {{op operand #3 must be 1D memref of bfloat16 type values, but got 'memref<?xf32>'}}
    cuda.router_logits %consume, %m in %m, %h apart %n weights %w apart %n rows %n experts 8 depth 64 block_rows 8 block_experts 32 slices 4 vector 4
        : memref<?xi8> in memref<?xi8>, memref<?xf32>, index, memref<?xbf16>, index, index
    cuda.tile_yield
  } emit {
  ^bb0(%row: index, %column: index, %value: f32):
    cuda.tile_yield
  }
  return
}

// -----

func.func @weights(%m: memref<?xi8>, %h: memref<?xbf16>, %w: memref<?xf16>, %n: index) {
  cuda.store_tiles rows 64 max 8 source {
  ^bb0(%consume: !cuda.callable):
    // expected-error @+1 {{op operand #5 must be 1D memref of bfloat16 type or 32-bit float values, but got 'memref<?xf16>'}}
    cuda.router_logits %consume, %m in %m, %h apart %n weights %w apart %n rows %n experts 8 depth 64 block_rows 8 block_experts 32 slices 4 vector 4
        : memref<?xi8> in memref<?xi8>, memref<?xbf16>, index, memref<?xf16>, index, index
    cuda.tile_yield
  } emit {
  ^bb0(%row: index, %column: index, %value: f32):
    cuda.tile_yield
  }
  return
}

// -----

func.func @c1_none(%m: memref<?xi8>, %h: memref<?xbf16>, %w: memref<?xbf16>, %n: index) {
  cuda.store_tiles rows 64 max 8 source {
  ^bb0(%consume: !cuda.callable):
    // expected-error @+1 {{router_logits_c1: expected a positive 'block_rows' with a workspace, got 0}}
    cuda.router_logits %consume, %m in %m, %h apart %n weights %w apart %n rows %n experts 8 depth 64 step 64 stages 2
        : memref<?xi8> in memref<?xi8>, memref<?xbf16>, index, memref<?xbf16>, index, index
    cuda.tile_yield
  } emit {
  ^bb0(%row: index, %column: index, %value: f32):
    cuda.tile_yield
  }
  return
}

// -----

func.func @c1_both(%m: memref<?xi8>, %h: memref<?xbf16>, %w: memref<?xbf16>, %n: index) {
  cuda.store_tiles rows 64 max 8 source {
  ^bb0(%consume: !cuda.callable):
    // expected-error @+1 {{router_logits_c1: expected no 'step' with a workspace, got 64}}
    cuda.router_logits %consume, %m in %m, %h apart %n weights %w apart %n rows %n experts 8 depth 64 block_rows 8 block_experts 32 slices 4 vector 4 step 64 stages 2
        : memref<?xi8> in memref<?xi8>, memref<?xbf16>, index, memref<?xbf16>, index, index
    cuda.tile_yield
  } emit {
  ^bb0(%row: index, %column: index, %value: f32):
    cuda.tile_yield
  }
  return
}

// -----

func.func @c1_vector(%m: memref<?xi8>, %h: memref<?xbf16>, %w: memref<?xbf16>, %n: index) {
  cuda.store_tiles rows 64 max 8 source {
  ^bb0(%consume: !cuda.callable):
    // expected-error @+1 {{router_logits_c1: expected a positive 'vector' with a workspace, got 0}}
    cuda.router_logits %consume, %m in %m, %h apart %n weights %w apart %n rows %n experts 8 depth 64 block_rows 8 block_experts 32 slices 4
        : memref<?xi8> in memref<?xi8>, memref<?xbf16>, index, memref<?xbf16>, index, index
    cuda.tile_yield
  } emit {
  ^bb0(%row: index, %column: index, %value: f32):
    cuda.tile_yield
  }
  return
}

// -----

func.func @c1_rows(%m: memref<?xi8>, %h: memref<?xbf16>, %w: memref<?xbf16>, %n: index) {
  cuda.store_tiles rows 64 max 8 source {
  ^bb0(%consume: !cuda.callable):
    // expected-error @+1 {{router_logits_c1: expected no 'block_rows' without a workspace, got 8}}
    cuda.router_logits %consume, %m, %h apart %n weights %w apart %n rows %n experts 8 depth 64 block_rows 8 block_experts 32 slices 4 vector 4
        : memref<?xi8>, memref<?xbf16>, index, memref<?xbf16>, index, index
    cuda.tile_yield
  } emit {
  ^bb0(%row: index, %column: index, %value: f32):
    cuda.tile_yield
  }
  return
}

// -----

func.func @c1_held(%m: memref<?xi8>, %h: memref<?xbf16>, %w: memref<?xbf16>, %n: index) {
  cuda.store_tiles rows 64 max 8 source {
  ^bb0(%consume: !cuda.callable):
    // expected-error @+1 {{router_logits_c1: expected no 'held' without a workspace}}
    cuda.router_logits %consume, %m, %h apart %n weights %w apart %n rows %n experts 8 depth 64 step 64 stages 2 held
        : memref<?xi8>, memref<?xbf16>, index, memref<?xbf16>, index, index
    cuda.tile_yield
  } emit {
  ^bb0(%row: index, %column: index, %value: f32):
    cuda.tile_yield
  }
  return
}

// -----

func.func @c1_multicast(%m: memref<?xi8>, %h: memref<?xbf16>, %w: memref<?xbf16>, %n: index) {
  cuda.store_tiles rows 64 max 8 source {
  ^bb0(%consume: !cuda.callable):
    // expected-error @+1 {{router_logits_c1: expected no 'multicast' without a workspace}}
    cuda.router_logits %consume, %m, %h apart %n weights %w apart %n rows %n experts 8 depth 64 step 64 stages 2 multicast
        : memref<?xi8>, memref<?xbf16>, index, memref<?xbf16>, index, index
    cuda.tile_yield
  } emit {
  ^bb0(%row: index, %column: index, %value: f32):
    cuda.tile_yield
  }
  return
}

// -----

func.func @c1_waits(%m: memref<?xi8>, %h: memref<?xbf16>, %w: memref<?xbf16>, %n: index) {
  cuda.store_tiles rows 64 max 8 source {
  ^bb0(%consume: !cuda.callable):
    // expected-error @+1 {{router_logits_c1: expected no 'waits' without a workspace}}
    cuda.router_logits %consume, %m, %h apart %n weights %w apart %n rows %n experts 8 depth 64 step 64 stages 2 waits
        : memref<?xi8>, memref<?xbf16>, index, memref<?xbf16>, index, index
    cuda.tile_yield
  } emit {
  ^bb0(%row: index, %column: index, %value: f32):
    cuda.tile_yield
  }
  return
}

// -----

func.func @c1_cluster(%m: memref<?xi8>, %h: memref<?xbf16>, %w: memref<?xbf16>, %n: index) {
  cuda.store_tiles rows 64 max 8 source {
  ^bb0(%consume: !cuda.callable):
    // expected-error @+1 {{router_logits_c1: expected no 'cluster' without a workspace}}
    cuda.router_logits %consume, %m, %h apart %n weights %w apart %n rows %n experts 8 depth 64 cluster 2 step 64 stages 2
        : memref<?xi8>, memref<?xbf16>, index, memref<?xbf16>, index, index
    cuda.tile_yield
  } emit {
  ^bb0(%row: index, %column: index, %value: f32):
    cuda.tile_yield
  }
  return
}

// -----

func.func @c2_experts(%m: memref<?xi8>, %h: memref<?xbf16>, %w: memref<?xbf16>, %n: index) {
  cuda.store_tiles rows 64 max 8 source {
  ^bb0(%consume: !cuda.callable):
    // expected-error @+1 {{router_logits_c2: expected 'experts' between 1 and 512, and 'depth' between 1 and 8192, got 513 and 64}}
    cuda.router_logits %consume, %m in %m, %h apart %n weights %w apart %n rows %n experts 513 depth 64 block_rows 8 block_experts 32 slices 4 vector 4
        : memref<?xi8> in memref<?xi8>, memref<?xbf16>, index, memref<?xbf16>, index, index
    cuda.tile_yield
  } emit {
  ^bb0(%row: index, %column: index, %value: f32):
    cuda.tile_yield
  }
  return
}

// -----

func.func @c2_depth(%m: memref<?xi8>, %h: memref<?xbf16>, %w: memref<?xbf16>, %n: index) {
  cuda.store_tiles rows 64 max 8 source {
  ^bb0(%consume: !cuda.callable):
    // expected-error @+1 {{router_logits_c2: expected 'experts' between 1 and 512, and 'depth' between 1 and 8192, got 8 and 8193}}
    cuda.router_logits %consume, %m in %m, %h apart %n weights %w apart %n rows %n experts 8 depth 8193 block_rows 8 block_experts 32 slices 4 vector 4
        : memref<?xi8> in memref<?xi8>, memref<?xbf16>, index, memref<?xbf16>, index, index
    cuda.tile_yield
  } emit {
  ^bb0(%row: index, %column: index, %value: f32):
    cuda.tile_yield
  }
  return
}

// -----

func.func @c2_zero(%m: memref<?xi8>, %h: memref<?xbf16>, %w: memref<?xbf16>, %n: index) {
  cuda.store_tiles rows 64 max 8 source {
  ^bb0(%consume: !cuda.callable):
    // expected-error @+1 {{router_logits_c2: expected 'experts' between 1 and 512, and 'depth' between 1 and 8192, got 0 and 64}}
    cuda.router_logits %consume, %m in %m, %h apart %n weights %w apart %n rows %n experts 0 depth 64 block_rows 8 block_experts 32 slices 4 vector 4
        : memref<?xi8> in memref<?xi8>, memref<?xbf16>, index, memref<?xbf16>, index, index
    cuda.tile_yield
  } emit {
  ^bb0(%row: index, %column: index, %value: f32):
    cuda.tile_yield
  }
  return
}

// -----

func.func @c3_held(%m: memref<?xi8>, %h: memref<?xbf16>, %w: memref<?xbf16>, %n: index) {
  cuda.store_tiles rows 64 max 8 source {
  ^bb0(%consume: !cuda.callable):
    // expected-error @+1 {{router_logits_c3: expected 'held' in 'cuda.hold_rows', and nowhere else}}
    cuda.router_logits %consume, %m in %m, %h apart %n weights %w apart %n rows %n experts 8 depth 64 block_rows 8 block_experts 32 slices 4 vector 4 held
        : memref<?xi8> in memref<?xi8>, memref<?xbf16>, index, memref<?xbf16>, index, index
    cuda.tile_yield
  } emit {
  ^bb0(%row: index, %column: index, %value: f32):
    cuda.tile_yield
  }
  return
}

// -----

func.func @hold_c1_rank(%n: index) {
  // expected-error @+1 {{hold_rows_c1: expected regions of (consume) and (row, values), a vector of f32 of rank 2, that end in a 'cuda.tile_yield' of nothing}}
  cuda.hold_rows rows 4 source {
  ^bb0(%consume: !cuda.callable):
    cuda.tile_yield
  } emit {
  ^bb0(%row: index, %values: vector<4xf32>):
    cuda.tile_yield
  }
  return
}

// -----

func.func @hold_c1_type(%n: index) {
  // expected-error @+1 {{hold_rows_c1: expected regions of (consume) and (row, values), a vector of f32 of rank 2, that end in a 'cuda.tile_yield' of nothing}}
  cuda.hold_rows rows 4 source {
  ^bb0(%consume: !cuda.callable):
    cuda.tile_yield
  } emit {
  ^bb0(%row: index, %values: vector<1x4xf16>):
    cuda.tile_yield
  }
  return
}

// -----

func.func @hold_c1_row(%n: index) {
  // expected-error @+1 {{hold_rows_c1: expected regions of (consume) and (row, values), a vector of f32 of rank 2, that end in a 'cuda.tile_yield' of nothing}}
  cuda.hold_rows rows 4 source {
  ^bb0(%consume: !cuda.callable):
    cuda.tile_yield
  } emit {
  ^bb0(%row: f32, %values: vector<1x4xf32>):
    cuda.tile_yield
  }
  return
}

// -----

func.func @hold_c1_yield(%n: index) {
  // expected-error @+1 {{hold_rows_c1: expected regions of (consume) and (row, values), a vector of f32 of rank 2, that end in a 'cuda.tile_yield' of nothing}}
  cuda.hold_rows rows 4 source {
  ^bb0(%consume: !cuda.callable):
    cuda.tile_yield
  } emit {
  ^bb0(%row: index, %values: vector<1x4xf32>):
    cuda.tile_yield %n : index
  }
  return
}

// -----

func.func @hold_c1_source(%n: index) {
  // expected-error @+1 {{hold_rows_c1: expected regions of (consume) and (row, values), a vector of f32 of rank 2, that end in a 'cuda.tile_yield' of nothing}}
  cuda.hold_rows rows 4 source {
  ^bb0(%consume: index):
    cuda.tile_yield
  } emit {
  ^bb0(%row: index, %values: vector<1x4xf32>):
    cuda.tile_yield
  }
  return
}

// -----

func.func @hold_c2(%n: index) {
  // expected-error @+1 {{hold_rows_c2: expected positive 'rows', got 0}}
  cuda.hold_rows rows 0 source {
  ^bb0(%consume: !cuda.callable):
    cuda.tile_yield
  } emit {
  ^bb0(%row: index, %values: vector<1x4xf32>):
    cuda.tile_yield
  }
  return
}

// -----

func.func @element_c1(%row: vector<2x4xf32>, %index: i32) {
  // expected-error @+1 {{element_c1: expected one element as the result, got 'vector<1x4xf32>'}}
  %0 = cuda.element %row at %index : vector<2x4xf32>, i32 to vector<1x4xf32>
  return
}

// -----

func.func @select_c4(%n: index) {
  // expected-error @+1 {{select_c4: the lanes of a warp select from rows that they hold; expected 'algorithm warp'}}
  cuda.select 8 of %n max 64 algorithm held : index load {
  ^bb0(%column: index):
    %x = arith.constant dense<0.0> : vector<4xf32>
    cuda.select_yield %x : vector<4xf32>
  } emit {
  ^bb0(%rank: index, %index: index, %value: f32):
    cuda.select_yield
  }
  return
}
