// The clauses of the ops that windows of rows are pooled with.

// RUN: dsv4-opt %s --split-input-file --verify-diagnostics

func.func @window_reduce_c1_argument(%i: index, %b: i1, %x: vector<64xf32>) {
  // expected-error @+1 {{window_reduce_c1: expected a region of one index, the row}}
  %0 = cuda.window_reduce 8 at %i of %i : index, index to vector<64xf32> {
  ^bb0(%r: f32):
    cuda.window %b scores {
    ^bb0(%m: index, %l: index):
      cuda.window_yield %x : vector<64xf32>
    } values {
    ^bb0(%m: index, %l: index):
      cuda.window_yield %x : vector<64xf32>
    } else {
    ^bb0(%m: index, %l: index):
      cuda.window_row %b, %x, %x : vector<64xf32>, vector<64xf32>
    }
  }
  return
}

// -----

func.func @window_reduce_c1_arguments(%i: index, %b: i1, %x: vector<64xf32>) {
  // expected-error @+1 {{window_reduce_c1: expected a region of one index, the row}}
  %0 = cuda.window_reduce 8 at %i of %i : index, index to vector<64xf32> {
  ^bb0(%r: index, %m: index):
    cuda.window %b scores {
    ^bb0(%n: index, %l: index):
      cuda.window_yield %x : vector<64xf32>
    } values {
    ^bb0(%n: index, %l: index):
      cuda.window_yield %x : vector<64xf32>
    } else {
    ^bb0(%n: index, %l: index):
      cuda.window_row %b, %x, %x : vector<64xf32>, vector<64xf32>
    }
  }
  return
}

// -----

func.func @window_reduce_c1_terminator(%i: index, %b: i1, %x: vector<64xf32>) {
  // expected-error @+1 {{window_reduce_c1: expected the region to end in 'cuda.window'}}
  %0 = cuda.window_reduce 8 at %i of %i : index, index to vector<64xf32> {
  ^bb0(%r: index):
    vector.yield
  }
  return
}

// -----

func.func @window_reduce_c2_members(%i: i32, %n: i32, %b: i1, %x: vector<1x2xf32>) {
  // expected-error @+1 {{window_reduce_c2: expected positive members, threads, count and cluster, and a power of two of lanes, at most 32}}
  %0 = cuda.window_reduce 0 at %i of %n : i32, i32 to vector<1x2xf32> {
  ^bb0(%r: index):
    cuda.window %b scores {
    ^bb0(%m: index, %l: index):
      cuda.window_yield %x : vector<1x2xf32>
    } values {
    ^bb0(%m: index, %l: index):
      cuda.window_yield %x : vector<1x2xf32>
    } else {
    ^bb0(%m: index, %l: index):
      cuda.window_row %b, %x, %x : vector<1x2xf32>, vector<1x2xf32>
    }
  }
  return
}

// -----

func.func @window_reduce_c2_count(%i: i32, %n: i32, %b: i1, %x: vector<1x2xf32>) {
  // expected-error @+1 {{window_reduce_c2: expected positive members, threads, count and cluster, and a power of two of lanes, at most 32}}
  %0 = cuda.window_reduce 8 at %i of %n count 0 threads 32 lanes 8 : i32, i32 to vector<1x2xf32> {
  ^bb0(%r: index):
    cuda.window %b scores {
    ^bb0(%m: index, %l: index):
      cuda.window_yield %x : vector<1x2xf32>
    } values {
    ^bb0(%m: index, %l: index):
      cuda.window_yield %x : vector<1x2xf32>
    } else {
    ^bb0(%m: index, %l: index):
      cuda.window_row %b, %x, %x : vector<1x2xf32>, vector<1x2xf32>
    }
  }
  return
}

// -----

func.func @window_reduce_c2_threads(%i: i32, %n: i32, %b: i1, %x: vector<1x2xf32>) {
  // expected-error @+1 {{window_reduce_c2: expected positive members, threads, count and cluster, and a power of two of lanes, at most 32}}
  %0 = cuda.window_reduce 8 at %i of %n threads -32 lanes 8 : i32, i32 to vector<1x2xf32> {
  ^bb0(%r: index):
    cuda.window %b scores {
    ^bb0(%m: index, %l: index):
      cuda.window_yield %x : vector<1x2xf32>
    } values {
    ^bb0(%m: index, %l: index):
      cuda.window_yield %x : vector<1x2xf32>
    } else {
    ^bb0(%m: index, %l: index):
      cuda.window_row %b, %x, %x : vector<1x2xf32>, vector<1x2xf32>
    }
  }
  return
}

// -----

func.func @window_reduce_c2_lanes(%i: i32, %n: i32, %b: i1, %x: vector<1x2xf32>) {
  // expected-error @+1 {{window_reduce_c2: expected positive members, threads, count and cluster, and a power of two of lanes, at most 32}}
  %0 = cuda.window_reduce 8 at %i of %n threads 32 lanes 12 : i32, i32 to vector<1x2xf32> {
  ^bb0(%r: index):
    cuda.window %b scores {
    ^bb0(%m: index, %l: index):
      cuda.window_yield %x : vector<1x2xf32>
    } values {
    ^bb0(%m: index, %l: index):
      cuda.window_yield %x : vector<1x2xf32>
    } else {
    ^bb0(%m: index, %l: index):
      cuda.window_row %b, %x, %x : vector<1x2xf32>, vector<1x2xf32>
    }
  }
  return
}

// -----

func.func @window_reduce_c2_many_lanes(%i: i32, %n: i32, %b: i1, %x: vector<1x2xf32>) {
  // expected-error @+1 {{window_reduce_c2: expected positive members, threads, count and cluster, and a power of two of lanes, at most 32}}
  %0 = cuda.window_reduce 8 at %i of %n threads 64 lanes 64 : i32, i32 to vector<1x2xf32> {
  ^bb0(%r: index):
    cuda.window %b scores {
    ^bb0(%m: index, %l: index):
      cuda.window_yield %x : vector<1x2xf32>
    } values {
    ^bb0(%m: index, %l: index):
      cuda.window_yield %x : vector<1x2xf32>
    } else {
    ^bb0(%m: index, %l: index):
      cuda.window_row %b, %x, %x : vector<1x2xf32>, vector<1x2xf32>
    }
  }
  return
}

// -----

func.func @window_reduce_c2_part(%i: i32, %n: i32, %b: i1, %x: vector<1x3xf32>) {
  // expected-error @+1 {{window_reduce_c2: 'vector<1x3xf32>' is not a fragment of rows of 64}}
  %0 = cuda.window_reduce 8 at %i of %n threads 32 lanes 8 : i32, i32 to vector<1x8xf32> {
  ^bb0(%r: index):
    cuda.window %b scores {
    ^bb0(%m: index, %l: index):
      cuda.window_yield %x : vector<1x3xf32>
    } values {
    ^bb0(%m: index, %l: index):
      cuda.window_yield %x : vector<1x3xf32>
    } else {
    ^bb0(%m: index, %l: index):
      cuda.window_row %b, %x, %x : vector<1x3xf32>, vector<1x3xf32>
    }
  }
  return
}

// -----

// A row of 64 is held by 64 threads, not by 32.
func.func @window_reduce_c2_vector(%i: i32, %n: i32, %b: i1, %x: vector<1x1xf32>) {
  // expected-error @+1 {{window_reduce_c2: 'vector<1x1xf32>' is not a fragment of rows of 64}}
  %0 = cuda.window_reduce 8 at %i of %n threads 32 lanes 8 : i32, i32 to vector<1x8xf32> {
  ^bb0(%r: index):
    cuda.window %b scores {
    ^bb0(%m: index, %l: index):
      cuda.window_yield %x : vector<1x1xf32>
    } values {
    ^bb0(%m: index, %l: index):
      cuda.window_yield %x : vector<1x1xf32>
    } else {
    ^bb0(%m: index, %l: index):
      cuda.window_row %b, %x, %x : vector<1x1xf32>, vector<1x1xf32>
    }
  }
  return
}

// -----

func.func @window_reduce_c2_whole(%i: index, %b: i1, %x: vector<32xf32>) {
  // expected-error @+1 {{window_reduce_c2: 'vector<32xf32>' is not a fragment of rows of 64}}
  %0 = cuda.window_reduce 8 at %i of %i : index, index to vector<64xf32> {
  ^bb0(%r: index):
    cuda.window %b scores {
    ^bb0(%m: index, %l: index):
      cuda.window_yield %x : vector<32xf32>
    } values {
    ^bb0(%m: index, %l: index):
      cuda.window_yield %x : vector<32xf32>
    } else {
    ^bb0(%m: index, %l: index):
      cuda.window_row %b, %x, %x : vector<32xf32>, vector<32xf32>
    }
  }
  return
}

// -----

func.func @window_c1_arguments(%i: index, %b: i1, %x: vector<64xf32>) {
  %0 = cuda.window_reduce 8 at %i of %i : index, index to vector<64xf32> {
  ^bb0(%r: index):
    // expected-error @+1 {{window_c1: expected regions of two indices, of which two end in 'cuda.window_yield' of a vector and the last in 'cuda.window_row'}}
    cuda.window %b scores {
    ^bb0(%m: index):
      cuda.window_yield %x : vector<64xf32>
    } values {
    ^bb0(%m: index):
      cuda.window_yield %x : vector<64xf32>
    } else {
    ^bb0(%m: index, %l: index):
      cuda.window_row %b, %x, %x : vector<64xf32>, vector<64xf32>
    }
  }
  return
}

// -----

func.func @window_c1_integers(%i: index, %b: i1, %x: vector<64xf32>) {
  %0 = cuda.window_reduce 8 at %i of %i : index, index to vector<64xf32> {
  ^bb0(%r: index):
    // expected-error @+1 {{window_c1: expected regions of two indices, of which two end in 'cuda.window_yield' of a vector and the last in 'cuda.window_row'}}
    cuda.window %b scores {
    ^bb0(%m: index, %l: index):
      cuda.window_yield %x : vector<64xf32>
    } values {
    ^bb0(%m: index, %l: index):
      cuda.window_yield %x : vector<64xf32>
    } else {
    ^bb0(%m: index, %l: f32):
      cuda.window_row %b, %x, %x : vector<64xf32>, vector<64xf32>
    }
  }
  return
}

// -----

func.func @window_c1_terminator(%i: index, %b: i1, %x: vector<64xf32>) {
  %0 = cuda.window_reduce 8 at %i of %i : index, index to vector<64xf32> {
  ^bb0(%r: index):
    // expected-error @+1 {{window_c1: expected regions of two indices, of which two end in 'cuda.window_yield' of a vector and the last in 'cuda.window_row'}}
    cuda.window %b scores {
    ^bb0(%m: index, %l: index):
      vector.yield
    } values {
    ^bb0(%m: index, %l: index):
      vector.yield
    } else {
    ^bb0(%m: index, %l: index):
      cuda.window_row %b, %x, %x : vector<64xf32>, vector<64xf32>
    }
  }
  return
}

// -----

func.func @window_c1_any_terminator(%i: index, %b: i1, %x: vector<64xf32>) {
  %0 = cuda.window_reduce 8 at %i of %i : index, index to vector<64xf32> {
  ^bb0(%r: index):
    // expected-error @+1 {{window_c1: expected regions of two indices, of which two end in 'cuda.window_yield' of a vector and the last in 'cuda.window_row'}}
    cuda.window %b scores {
    ^bb0(%m: index, %l: index):
      cuda.window_yield %x : vector<64xf32>
    } values {
    ^bb0(%m: index, %l: index):
      cuda.window_yield %x : vector<64xf32>
    } else {
    ^bb0(%m: index, %l: index):
      vector.yield
    }
  }
  return
}

// -----

func.func @window_c1_values(%i: index, %b: i1, %x: vector<64xf32>) {
  %0 = cuda.window_reduce 8 at %i of %i : index, index to vector<64xf32> {
  ^bb0(%r: index):
    // expected-error @+1 {{window_c1: expected regions of two indices, of which two end in 'cuda.window_yield' of a vector and the last in 'cuda.window_row'}}
    cuda.window %b scores {
    ^bb0(%m: index, %l: index):
      cuda.window_yield %x : vector<64xf32>
    } values {
    ^bb0(%m: index, %l: index):
      cuda.window_yield %x, %x : vector<64xf32>, vector<64xf32>
    } else {
    ^bb0(%m: index, %l: index):
      cuda.window_row %b, %x, %x : vector<64xf32>, vector<64xf32>
    }
  }
  return
}

// -----

func.func @window_c2_values(%i: index, %b: i1, %x: vector<64xf32>, %y: vector<32xf32>) {
  %0 = cuda.window_reduce 8 at %i of %i : index, index to vector<64xf32> {
  ^bb0(%r: index):
    // expected-error @+1 {{window_c2: expected scores and values of one type}}
    cuda.window %b scores {
    ^bb0(%m: index, %l: index):
      cuda.window_yield %x : vector<64xf32>
    } values {
    ^bb0(%m: index, %l: index):
      cuda.window_yield %y : vector<32xf32>
    } else {
    ^bb0(%m: index, %l: index):
      cuda.window_row %b, %x, %x : vector<64xf32>, vector<64xf32>
    }
  }
  return
}

// -----

func.func @window_c2_rows(%i: index, %b: i1, %x: vector<64xf32>, %y: vector<32xf32>) {
  %0 = cuda.window_reduce 8 at %i of %i : index, index to vector<64xf32> {
  ^bb0(%r: index):
    // expected-error @+1 {{window_c2: expected scores and values of one type}}
    cuda.window %b scores {
    ^bb0(%m: index, %l: index):
      cuda.window_yield %x : vector<64xf32>
    } values {
    ^bb0(%m: index, %l: index):
      cuda.window_yield %x : vector<64xf32>
    } else {
    ^bb0(%m: index, %l: index):
      cuda.window_row %b, %x, %y : vector<64xf32>, vector<32xf32>
    }
  }
  return
}

// -----

func.func @window_c2_regions(%i: index, %b: i1, %x: vector<64xf32>, %y: vector<32xf32>) {
  %0 = cuda.window_reduce 8 at %i of %i : index, index to vector<64xf32> {
  ^bb0(%r: index):
    // expected-error @+1 {{window_c2: expected scores and values of one type}}
    cuda.window %b scores {
    ^bb0(%m: index, %l: index):
      cuda.window_yield %y : vector<32xf32>
    } values {
    ^bb0(%m: index, %l: index):
      cuda.window_yield %y : vector<32xf32>
    } else {
    ^bb0(%m: index, %l: index):
      cuda.window_row %b, %x, %x : vector<64xf32>, vector<64xf32>
    }
  }
  return
}

// -----

func.func @window_reduce_c3_arguments(%i: index, %b: i1, %x: vector<64xf32>, %y: vector<32xf32>) {
  // expected-error @+1 {{window_reduce_c3: expected offsets of two indices that end in 'cuda.window_yield' of 'vector<64xf32>'}}
  %0 = cuda.window_reduce 8 at %i of %i : index, index to vector<64xf32> {
  ^bb0(%r: index):
    cuda.window %b scores {
    ^bb0(%m: index, %l: index):
      cuda.window_yield %x : vector<64xf32>
    } values {
    ^bb0(%m: index, %l: index):
      cuda.window_yield %x : vector<64xf32>
    } else {
    ^bb0(%m: index, %l: index):
      cuda.window_row %b, %x, %x : vector<64xf32>, vector<64xf32>
    }
  } offsets {
  ^bb0(%m: index):
    cuda.window_yield %x : vector<64xf32>
  }
  return
}

// -----

func.func @window_reduce_c3_index(%i: index, %b: i1, %x: vector<64xf32>, %y: vector<32xf32>) {
  // expected-error @+1 {{window_reduce_c3: expected offsets of two indices that end in 'cuda.window_yield' of 'vector<64xf32>'}}
  %0 = cuda.window_reduce 8 at %i of %i : index, index to vector<64xf32> {
  ^bb0(%r: index):
    cuda.window %b scores {
    ^bb0(%m: index, %l: index):
      cuda.window_yield %x : vector<64xf32>
    } values {
    ^bb0(%m: index, %l: index):
      cuda.window_yield %x : vector<64xf32>
    } else {
    ^bb0(%m: index, %l: index):
      cuda.window_row %b, %x, %x : vector<64xf32>, vector<64xf32>
    }
  } offsets {
  ^bb0(%m: index, %l: f32):
    cuda.window_yield %x : vector<64xf32>
  }
  return
}

// -----

func.func @window_reduce_c3_type(%i: index, %b: i1, %x: vector<64xf32>, %y: vector<32xf32>) {
  // expected-error @+1 {{window_reduce_c3: expected offsets of two indices that end in 'cuda.window_yield' of 'vector<64xf32>'}}
  %0 = cuda.window_reduce 8 at %i of %i : index, index to vector<64xf32> {
  ^bb0(%r: index):
    cuda.window %b scores {
    ^bb0(%m: index, %l: index):
      cuda.window_yield %x : vector<64xf32>
    } values {
    ^bb0(%m: index, %l: index):
      cuda.window_yield %x : vector<64xf32>
    } else {
    ^bb0(%m: index, %l: index):
      cuda.window_row %b, %x, %x : vector<64xf32>, vector<64xf32>
    }
  } offsets {
  ^bb0(%m: index, %l: index):
    cuda.window_yield %y : vector<32xf32>
  }
  return
}

// -----

func.func @window_reduce_c3_count(%i: index, %b: i1, %x: vector<64xf32>, %y: vector<32xf32>) {
  // expected-error @+1 {{window_reduce_c3: expected offsets of two indices that end in 'cuda.window_yield' of 'vector<64xf32>'}}
  %0 = cuda.window_reduce 8 at %i of %i : index, index to vector<64xf32> {
  ^bb0(%r: index):
    cuda.window %b scores {
    ^bb0(%m: index, %l: index):
      cuda.window_yield %x : vector<64xf32>
    } values {
    ^bb0(%m: index, %l: index):
      cuda.window_yield %x : vector<64xf32>
    } else {
    ^bb0(%m: index, %l: index):
      cuda.window_row %b, %x, %x : vector<64xf32>, vector<64xf32>
    }
  } offsets {
  ^bb0(%m: index, %l: index):
    cuda.window_yield %x, %x : vector<64xf32>, vector<64xf32>
  }
  return
}

// -----

func.func @window_reduce_c3_terminator(%i: index, %b: i1, %x: vector<64xf32>, %y: vector<32xf32>) {
  // expected-error @+1 {{window_reduce_c3: expected offsets of two indices that end in 'cuda.window_yield' of 'vector<64xf32>'}}
  %0 = cuda.window_reduce 8 at %i of %i : index, index to vector<64xf32> {
  ^bb0(%r: index):
    cuda.window %b scores {
    ^bb0(%m: index, %l: index):
      cuda.window_yield %x : vector<64xf32>
    } values {
    ^bb0(%m: index, %l: index):
      cuda.window_yield %x : vector<64xf32>
    } else {
    ^bb0(%m: index, %l: index):
      cuda.window_row %b, %x, %x : vector<64xf32>, vector<64xf32>
    }
  } offsets {
  ^bb0(%m: index, %l: index):
    vector.yield
  }
  return
}

// -----

func.func @window_parent(%b: i1, %x: vector<64xf32>) {
  // expected-error @+1 {{expects parent op 'cuda.window_reduce'}}
  cuda.window %b scores {
  ^bb0(%m: index, %l: index):
    cuda.window_yield %x : vector<64xf32>
  } values {
  ^bb0(%m: index, %l: index):
    cuda.window_yield %x : vector<64xf32>
  } else {
  ^bb0(%m: index, %l: index):
    cuda.window_row %b, %x, %x : vector<64xf32>, vector<64xf32>
  }
}

// -----

func.func @window_row_parent(%b: i1, %x: vector<64xf32>) {
  // expected-error @+1 {{expects parent op 'cuda.window'}}
  cuda.window_row %b, %x, %x : vector<64xf32>, vector<64xf32>
}

// -----

func.func @no_cluster(%i: i32, %n: i32, %b: i1, %x: vector<1x2xf32>) {
  // expected-error @+1 {{window_reduce_c2: expected positive members, threads, count and cluster, and a power of two of lanes, at most 32}}
  %0 = cuda.window_reduce 8 at %i of %n threads 32 lanes 8 cluster 0 : i32, i32 to vector<1x2xf32> {
  ^bb0(%r: index):
    cuda.window %b scores {
    ^bb0(%m: index, %l: index):
      cuda.window_yield %x : vector<1x2xf32>
    } values {
    ^bb0(%m: index, %l: index):
      cuda.window_yield %x : vector<1x2xf32>
    } else {
    ^bb0(%m: index, %l: index):
      cuda.window_row %b, %x, %x : vector<1x2xf32>, vector<1x2xf32>
    }
  }
  return
}

// -----

func.func @window_reduce_c2_parts_of_a_cluster(%i: i32, %n: i32, %b: i1, %x: vector<1x2xf32>) {
  // expected-error @+1 {{window_reduce_c2: 'vector<1x2xf32>' is not a fragment of rows of 16}}
  %0 = cuda.window_reduce 8 at %i of %n threads 32 lanes 8 cluster 16 : i32, i32 to vector<1x2xf32> {
  ^bb0(%r: index):
    cuda.window %b scores {
    ^bb0(%m: index, %l: index):
      cuda.window_yield %x : vector<1x2xf32>
    } values {
    ^bb0(%m: index, %l: index):
      cuda.window_yield %x : vector<1x2xf32>
    } else {
    ^bb0(%m: index, %l: index):
      cuda.window_row %b, %x, %x : vector<1x2xf32>, vector<1x2xf32>
    }
  }
  return
}

// -----

func.func @window_reduce_c2_steps_of_a_cluster(%i: i32, %n: i32, %b: i1, %x: vector<2x2xf32>) {
  // expected-error @+1 {{window_reduce_c2: 'vector<2x2xf32>' is not a fragment of rows of 32}}
  %0 = cuda.window_reduce 8 at %i of %n threads 32 lanes 8 cluster 2 : i32, i32 to vector<2x2xf32> {
  ^bb0(%r: index):
    cuda.window %b scores {
    ^bb0(%m: index, %l: index):
      cuda.window_yield %x : vector<2x2xf32>
    } values {
    ^bb0(%m: index, %l: index):
      cuda.window_yield %x : vector<2x2xf32>
    } else {
    ^bb0(%m: index, %l: index):
      cuda.window_row %b, %x, %x : vector<2x2xf32>, vector<2x2xf32>
    }
  }
  return
}

// -----

func.func @window_c3_place_of_two(%i: i32, %n: i32, %b: i1, %x: vector<1x2xf32>) {
  %0 = cuda.window_reduce 8 at %i of %n threads 64 lanes 16 : i32, i32 to vector<1x4xf32> {
  ^bb0(%r: index):
    // expected-error @+1 {{window_c3: expected an 'address' of one index, the member, that ends in 'cuda.window_address'}}
    cuda.window %b scores {
    ^bb0(%m: index, %l: index):
      cuda.window_yield %x : vector<1x2xf32>
    } values {
    ^bb0(%m: index, %l: index):
      cuda.window_yield %x : vector<1x2xf32>
    } address {
    ^bb0(%m: index, %l: index):
      cuda.window_address %b : i1
    } else {
    ^bb0(%m: index, %l: index, %t: i1):
      cuda.window_row %b, %x, %x : vector<1x2xf32>, vector<1x2xf32>
    }
  }
  return
}

// -----

func.func @window_c3_place_of_no_index(%i: i32, %n: i32, %b: i1, %x: vector<1x2xf32>) {
  %0 = cuda.window_reduce 8 at %i of %n threads 64 lanes 16 : i32, i32 to vector<1x4xf32> {
  ^bb0(%r: index):
    // expected-error @+1 {{window_c3: expected an 'address' of one index, the member, that ends in 'cuda.window_address'}}
    cuda.window %b scores {
    ^bb0(%m: index, %l: index):
      cuda.window_yield %x : vector<1x2xf32>
    } values {
    ^bb0(%m: index, %l: index):
      cuda.window_yield %x : vector<1x2xf32>
    } address {
    ^bb0(%m: i1):
      cuda.window_address %b : i1
    } else {
    ^bb0(%m: index, %l: index, %t: i1):
      cuda.window_row %b, %x, %x : vector<1x2xf32>, vector<1x2xf32>
    }
  }
  return
}

// -----

func.func @window_c3_place_end(%i: i32, %n: i32, %b: i1, %x: vector<1x2xf32>) {
  %0 = cuda.window_reduce 8 at %i of %n threads 64 lanes 16 : i32, i32 to vector<1x4xf32> {
  ^bb0(%r: index):
    // expected-error @+1 {{window_c3: expected an 'address' of one index, the member, that ends in 'cuda.window_address'}}
    cuda.window %b scores {
    ^bb0(%m: index, %l: index):
      cuda.window_yield %x : vector<1x2xf32>
    } values {
    ^bb0(%m: index, %l: index):
      cuda.window_yield %x : vector<1x2xf32>
    } address {
    ^bb0(%m: index):
      cuda.window_yield
    } else {
    ^bb0(%m: index, %l: index, %t: i1):
      cuda.window_row %b, %x, %x : vector<1x2xf32>, vector<1x2xf32>
    }
  }
  return
}

// -----

func.func @window_c3_no_place(%i: i32, %n: i32, %b: i1, %x: vector<1x2xf32>) {
  %0 = cuda.window_reduce 8 at %i of %n threads 64 lanes 16 : i32, i32 to vector<1x4xf32> {
  ^bb0(%r: index):
    // expected-error @+1 {{window_c3: expected the last region to have the results of 'address' as arguments after the lane}}
    cuda.window %b scores {
    ^bb0(%m: index, %l: index):
      cuda.window_yield %x : vector<1x2xf32>
    } values {
    ^bb0(%m: index, %l: index):
      cuda.window_yield %x : vector<1x2xf32>
    } else {
    ^bb0(%m: index, %l: index, %t: i1):
      cuda.window_row %b, %x, %x : vector<1x2xf32>, vector<1x2xf32>
    }
  }
  return
}

// -----

func.func @window_c3_missing(%i: i32, %n: i32, %b: i1, %x: vector<1x2xf32>) {
  %0 = cuda.window_reduce 8 at %i of %n threads 64 lanes 16 : i32, i32 to vector<1x4xf32> {
  ^bb0(%r: index):
    // expected-error @+1 {{window_c3: expected the last region to have the results of 'address' as arguments after the lane}}
    cuda.window %b scores {
    ^bb0(%m: index, %l: index):
      cuda.window_yield %x : vector<1x2xf32>
    } values {
    ^bb0(%m: index, %l: index):
      cuda.window_yield %x : vector<1x2xf32>
    } address {
    ^bb0(%m: index):
      cuda.window_address %b : i1
    } else {
    ^bb0(%m: index, %l: index):
      cuda.window_row %b, %x, %x : vector<1x2xf32>, vector<1x2xf32>
    }
  }
  return
}

// -----

func.func @window_c3_type(%i: i32, %n: i32, %b: i1, %x: vector<1x2xf32>) {
  %0 = cuda.window_reduce 8 at %i of %n threads 64 lanes 16 : i32, i32 to vector<1x4xf32> {
  ^bb0(%r: index):
    // expected-error @+1 {{window_c3: expected the last region to have the results of 'address' as arguments after the lane}}
    cuda.window %b scores {
    ^bb0(%m: index, %l: index):
      cuda.window_yield %x : vector<1x2xf32>
    } values {
    ^bb0(%m: index, %l: index):
      cuda.window_yield %x : vector<1x2xf32>
    } address {
    ^bb0(%m: index):
      cuda.window_address %b : i1
    } else {
    ^bb0(%m: index, %l: index, %t: memref<?xi8>):
      cuda.window_row %b, %x, %x : vector<1x2xf32>, vector<1x2xf32>
    }
  }
  return
}

// -----

func.func @window_yield_parent(%x: vector<64xf32>) {
  // expected-error @+1 {{expects parent op to be one of 'cuda.window_reduce, cuda.window, cuda.window_segment'}}
  cuda.window_yield %x : vector<64xf32>
}
