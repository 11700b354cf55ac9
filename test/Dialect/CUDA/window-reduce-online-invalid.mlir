// The clauses of the ops that segments of windows are pooled with.

// RUN: dsv4-opt %s --split-input-file --verify-diagnostics

func.func @window_reduce_online_c1_argument(%i: index, %j: i32, %n: i32, %b: i1, %x: vector<64xf32>) {
  // expected-error @+1 {{window_reduce_online_c1: expected a region of one index, the row}}
  %0 = cuda.window_reduce_online 8 at %i of %i : index, index to vector<64xf32> {
  ^bb0(%r: f32):
    cuda.window_segment %n known %b kept %b ends %b : i32 begin {
    ^bb0(%l: index):
      cuda.window_yield %x, %x, %x : vector<64xf32>, vector<64xf32>, vector<64xf32>
    } member {
    ^bb0(%m: index, %l: index):
      cuda.window_yield %x, %x : vector<64xf32>, vector<64xf32>
    } end {
    ^bb0(%l: index, %t: vector<64xf32>, %u: vector<64xf32>, %w: vector<64xf32>):
      cuda.window_yield
    }
  }
  return
}

// -----

func.func @window_reduce_online_c1_arguments(%i: index, %j: i32, %n: i32, %b: i1, %x: vector<64xf32>) {
  // expected-error @+1 {{window_reduce_online_c1: expected a region of one index, the row}}
  %0 = cuda.window_reduce_online 8 at %i of %i : index, index to vector<64xf32> {
  ^bb0(%r: index, %q: index):
    cuda.window_segment %n known %b kept %b ends %b : i32 begin {
    ^bb0(%l: index):
      cuda.window_yield %x, %x, %x : vector<64xf32>, vector<64xf32>, vector<64xf32>
    } member {
    ^bb0(%m: index, %l: index):
      cuda.window_yield %x, %x : vector<64xf32>, vector<64xf32>
    } end {
    ^bb0(%l: index, %t: vector<64xf32>, %u: vector<64xf32>, %w: vector<64xf32>):
      cuda.window_yield
    }
  }
  return
}

// -----

func.func @window_reduce_online_c1_terminator(%i: index, %j: i32, %n: i32, %b: i1, %x: vector<64xf32>) {
  // expected-error @+1 {{window_reduce_online_c1: expected the region to end in 'cuda.window_segment'}}
  %0 = cuda.window_reduce_online 8 at %i of %i : index, index to vector<64xf32> {
  ^bb0(%r: index):
    vector.yield
  }
  return
}

// -----

func.func @window_reduce_online_c2_members(%i: index, %j: i32, %n: i32, %b: i1, %x: vector<1x2xf32>) {
  // expected-error @+1 {{window_reduce_online_c2: expected positive members, threads, count, cluster and groups, and a power of two of lanes, at most 32}}
  %0 = cuda.window_reduce_online 0 at %j of %n : i32, i32 to vector<1x2xf32> {
  ^bb0(%r: index):
    cuda.window_segment %n known %b kept %b ends %b : i32 begin {
    ^bb0(%l: index):
      cuda.window_yield %x, %x, %x : vector<1x2xf32>, vector<1x2xf32>, vector<1x2xf32>
    } member {
    ^bb0(%m: index, %l: index):
      cuda.window_yield %x, %x : vector<1x2xf32>, vector<1x2xf32>
    } end {
    ^bb0(%l: index, %t: vector<1x2xf32>, %u: vector<1x2xf32>, %w: vector<1x2xf32>):
      cuda.window_yield
    }
  }
  return
}

// -----

func.func @window_reduce_online_c2_count(%i: index, %j: i32, %n: i32, %b: i1, %x: vector<1x2xf32>) {
  // expected-error @+1 {{window_reduce_online_c2: expected positive members, threads, count, cluster and groups, and a power of two of lanes, at most 32}}
  %0 = cuda.window_reduce_online 8 at %j of %n count 0 : i32, i32 to vector<1x2xf32> {
  ^bb0(%r: index):
    cuda.window_segment %n known %b kept %b ends %b : i32 begin {
    ^bb0(%l: index):
      cuda.window_yield %x, %x, %x : vector<1x2xf32>, vector<1x2xf32>, vector<1x2xf32>
    } member {
    ^bb0(%m: index, %l: index):
      cuda.window_yield %x, %x : vector<1x2xf32>, vector<1x2xf32>
    } end {
    ^bb0(%l: index, %t: vector<1x2xf32>, %u: vector<1x2xf32>, %w: vector<1x2xf32>):
      cuda.window_yield
    }
  }
  return
}

// -----

func.func @window_reduce_online_c2_threads(%i: index, %j: i32, %n: i32, %b: i1, %x: vector<1x2xf32>) {
  // expected-error @+1 {{window_reduce_online_c2: expected positive members, threads, count, cluster and groups, and a power of two of lanes, at most 32}}
  %0 = cuda.window_reduce_online 8 at %j of %n threads -1 : i32, i32 to vector<1x2xf32> {
  ^bb0(%r: index):
    cuda.window_segment %n known %b kept %b ends %b : i32 begin {
    ^bb0(%l: index):
      cuda.window_yield %x, %x, %x : vector<1x2xf32>, vector<1x2xf32>, vector<1x2xf32>
    } member {
    ^bb0(%m: index, %l: index):
      cuda.window_yield %x, %x : vector<1x2xf32>, vector<1x2xf32>
    } end {
    ^bb0(%l: index, %t: vector<1x2xf32>, %u: vector<1x2xf32>, %w: vector<1x2xf32>):
      cuda.window_yield
    }
  }
  return
}

// -----

func.func @window_reduce_online_c2_lanes(%i: index, %j: i32, %n: i32, %b: i1, %x: vector<1x2xf32>) {
  // expected-error @+1 {{window_reduce_online_c2: expected positive members, threads, count, cluster and groups, and a power of two of lanes, at most 32}}
  %0 = cuda.window_reduce_online 8 at %j of %n threads 64 lanes 64 : i32, i32 to vector<1x2xf32> {
  ^bb0(%r: index):
    cuda.window_segment %n known %b kept %b ends %b : i32 begin {
    ^bb0(%l: index):
      cuda.window_yield %x, %x, %x : vector<1x2xf32>, vector<1x2xf32>, vector<1x2xf32>
    } member {
    ^bb0(%m: index, %l: index):
      cuda.window_yield %x, %x : vector<1x2xf32>, vector<1x2xf32>
    } end {
    ^bb0(%l: index, %t: vector<1x2xf32>, %u: vector<1x2xf32>, %w: vector<1x2xf32>):
      cuda.window_yield
    }
  }
  return
}

// -----

func.func @window_reduce_online_c2_lanes_3(%i: index, %j: i32, %n: i32, %b: i1, %x: vector<1x2xf32>) {
  // expected-error @+1 {{window_reduce_online_c2: expected positive members, threads, count, cluster and groups, and a power of two of lanes, at most 32}}
  %0 = cuda.window_reduce_online 8 at %j of %n threads 64 lanes 3 : i32, i32 to vector<1x2xf32> {
  ^bb0(%r: index):
    cuda.window_segment %n known %b kept %b ends %b : i32 begin {
    ^bb0(%l: index):
      cuda.window_yield %x, %x, %x : vector<1x2xf32>, vector<1x2xf32>, vector<1x2xf32>
    } member {
    ^bb0(%m: index, %l: index):
      cuda.window_yield %x, %x : vector<1x2xf32>, vector<1x2xf32>
    } end {
    ^bb0(%l: index, %t: vector<1x2xf32>, %u: vector<1x2xf32>, %w: vector<1x2xf32>):
      cuda.window_yield
    }
  }
  return
}

// -----

func.func @window_reduce_online_c2_whole(%i: index, %j: i32, %n: i32, %b: i1, %x: vector<32xf32>) {
  // expected-error @+1 {{window_reduce_online_c2: 'vector<32xf32>' is not a fragment of rows of 64}}
  %0 = cuda.window_reduce_online 8 at %i of %i : index, index to vector<64xf32> {
  ^bb0(%r: index):
    cuda.window_segment %n known %b kept %b ends %b : i32 begin {
    ^bb0(%l: index):
      cuda.window_yield %x, %x, %x : vector<32xf32>, vector<32xf32>, vector<32xf32>
    } member {
    ^bb0(%m: index, %l: index):
      cuda.window_yield %x, %x : vector<32xf32>, vector<32xf32>
    } end {
    ^bb0(%l: index, %t: vector<32xf32>, %u: vector<32xf32>, %w: vector<32xf32>):
      cuda.window_yield
    }
  }
  return
}

// -----

func.func @window_reduce_online_c2_part(%i: index, %j: i32, %n: i32, %b: i1, %x: vector<1x3xf32>) {
  // expected-error @+1 {{window_reduce_online_c2: 'vector<1x3xf32>' is not a fragment of rows of 64}}
  %0 = cuda.window_reduce_online 8 at %j of %n threads 64 lanes 16 : i32, i32 to vector<1x4xf32> {
  ^bb0(%r: index):
    cuda.window_segment %n known %b kept %b ends %b : i32 begin {
    ^bb0(%l: index):
      cuda.window_yield %x, %x, %x : vector<1x3xf32>, vector<1x3xf32>, vector<1x3xf32>
    } member {
    ^bb0(%m: index, %l: index):
      cuda.window_yield %x, %x : vector<1x3xf32>, vector<1x3xf32>
    } end {
    ^bb0(%l: index, %t: vector<1x3xf32>, %u: vector<1x3xf32>, %w: vector<1x3xf32>):
      cuda.window_yield
    }
  }
  return
}

// -----

func.func @window_reduce_online_c2_few(%i: index, %j: i32, %n: i32, %b: i1, %x: vector<1x2xf32>) {
  // expected-error @+1 {{window_reduce_online_c2: 'vector<1x2xf32>' is not a fragment of rows of 128}}
  %0 = cuda.window_reduce_online 8 at %j of %n threads 32 lanes 32 : i32, i32 to vector<1x4xf32> {
  ^bb0(%r: index):
    cuda.window_segment %n known %b kept %b ends %b : i32 begin {
    ^bb0(%l: index):
      cuda.window_yield %x, %x, %x : vector<1x2xf32>, vector<1x2xf32>, vector<1x2xf32>
    } member {
    ^bb0(%m: index, %l: index):
      cuda.window_yield %x, %x : vector<1x2xf32>, vector<1x2xf32>
    } end {
    ^bb0(%l: index, %t: vector<1x2xf32>, %u: vector<1x2xf32>, %w: vector<1x2xf32>):
      cuda.window_yield
    }
  }
  return
}

// -----

func.func @window_segment_c1_begin_arguments(%i: index, %j: i32, %n: i32, %b: i1, %x: vector<64xf32>) {
  %0 = cuda.window_reduce_online 8 at %i of %i : index, index to vector<64xf32> {
  ^bb0(%r: index):
  // expected-error @+1 {{window_segment_c1: expected regions of (lane), (member, lane) and (lane, three vectors) that end in a 'cuda.window_yield' of three vectors of f32, two of one type and at most one more, and none, all of one shape}}
    cuda.window_segment %n known %b kept %b ends %b : i32 begin {
    ^bb0(%l: index, %k: index):
      cuda.window_yield %x, %x, %x : vector<64xf32>, vector<64xf32>, vector<64xf32>
    } member {
    ^bb0(%m: index, %l: index):
      cuda.window_yield %x, %x : vector<64xf32>, vector<64xf32>
    } end {
    ^bb0(%l: index, %t: vector<64xf32>, %u: vector<64xf32>, %w: vector<64xf32>):
      cuda.window_yield
    }
  }
  return
}

// -----

func.func @window_segment_c1_begin_two(%i: index, %j: i32, %n: i32, %b: i1, %x: vector<64xf32>) {
  %0 = cuda.window_reduce_online 8 at %i of %i : index, index to vector<64xf32> {
  ^bb0(%r: index):
  // expected-error @+1 {{window_segment_c1: expected regions of (lane), (member, lane) and (lane, three vectors) that end in a 'cuda.window_yield' of three vectors of f32, two of one type and at most one more, and none, all of one shape}}
    cuda.window_segment %n known %b kept %b ends %b : i32 begin {
    ^bb0(%l: index):
      cuda.window_yield %x, %x : vector<64xf32>, vector<64xf32>
    } member {
    ^bb0(%m: index, %l: index):
      cuda.window_yield %x, %x : vector<64xf32>, vector<64xf32>
    } end {
    ^bb0(%l: index, %t: vector<64xf32>, %u: vector<64xf32>, %w: vector<64xf32>):
      cuda.window_yield
    }
  }
  return
}

// -----

func.func @window_segment_c1_member_arguments(%i: index, %j: i32, %n: i32, %b: i1, %x: vector<64xf32>) {
  %0 = cuda.window_reduce_online 8 at %i of %i : index, index to vector<64xf32> {
  ^bb0(%r: index):
  // expected-error @+1 {{window_segment_c1: expected regions of (lane), (member, lane) and (lane, three vectors) that end in a 'cuda.window_yield' of three vectors of f32, two of one type and at most one more, and none, all of one shape}}
    cuda.window_segment %n known %b kept %b ends %b : i32 begin {
    ^bb0(%l: index):
      cuda.window_yield %x, %x, %x : vector<64xf32>, vector<64xf32>, vector<64xf32>
    } member {
    ^bb0(%m: index):
      cuda.window_yield %x, %x : vector<64xf32>, vector<64xf32>
    } end {
    ^bb0(%l: index, %t: vector<64xf32>, %u: vector<64xf32>, %w: vector<64xf32>):
      cuda.window_yield
    }
  }
  return
}

// -----

func.func @window_segment_c1_member_index(%i: index, %j: i32, %n: i32, %b: i1, %x: vector<64xf32>) {
  %0 = cuda.window_reduce_online 8 at %i of %i : index, index to vector<64xf32> {
  ^bb0(%r: index):
  // expected-error @+1 {{window_segment_c1: expected regions of (lane), (member, lane) and (lane, three vectors) that end in a 'cuda.window_yield' of three vectors of f32, two of one type and at most one more, and none, all of one shape}}
    cuda.window_segment %n known %b kept %b ends %b : i32 begin {
    ^bb0(%l: index):
      cuda.window_yield %x, %x, %x : vector<64xf32>, vector<64xf32>, vector<64xf32>
    } member {
    ^bb0(%m: index, %l: f32):
      cuda.window_yield %x, %x : vector<64xf32>, vector<64xf32>
    } end {
    ^bb0(%l: index, %t: vector<64xf32>, %u: vector<64xf32>, %w: vector<64xf32>):
      cuda.window_yield
    }
  }
  return
}

// -----

func.func @window_segment_c1_member_none(%i: index, %j: i32, %n: i32, %b: i1, %x: vector<64xf32>) {
  %0 = cuda.window_reduce_online 8 at %i of %i : index, index to vector<64xf32> {
  ^bb0(%r: index):
  // expected-error @+1 {{window_segment_c1: expected regions of (lane), (member, lane) and (lane, three vectors) that end in a 'cuda.window_yield' of three vectors of f32, two of one type and at most one more, and none, all of one shape}}
    cuda.window_segment %n known %b kept %b ends %b : i32 begin {
    ^bb0(%l: index):
      cuda.window_yield %x, %x, %x : vector<64xf32>, vector<64xf32>, vector<64xf32>
    } member {
    ^bb0(%m: index, %l: index):
      cuda.window_yield
    } end {
    ^bb0(%l: index, %t: vector<64xf32>, %u: vector<64xf32>, %w: vector<64xf32>):
      cuda.window_yield
    }
  }
  return
}

// -----

func.func @window_segment_c1_member_four(%i: index, %j: i32, %n: i32, %b: i1, %x: vector<64xf32>) {
  %0 = cuda.window_reduce_online 8 at %i of %i : index, index to vector<64xf32> {
  ^bb0(%r: index):
  // expected-error @+1 {{window_segment_c1: expected regions of (lane), (member, lane) and (lane, three vectors) that end in a 'cuda.window_yield' of three vectors of f32, two of one type and at most one more, and none, all of one shape}}
    cuda.window_segment %n known %b kept %b ends %b : i32 begin {
    ^bb0(%l: index):
      cuda.window_yield %x, %x, %x : vector<64xf32>, vector<64xf32>, vector<64xf32>
    } member {
    ^bb0(%m: index, %l: index):
      cuda.window_yield %x, %x, %x, %x : vector<64xf32>, vector<64xf32>, vector<64xf32>, vector<64xf32>
    } end {
    ^bb0(%l: index, %t: vector<64xf32>, %u: vector<64xf32>, %w: vector<64xf32>):
      cuda.window_yield
    }
  }
  return
}

// -----

func.func @window_segment_c1_end_arguments(%i: index, %j: i32, %n: i32, %b: i1, %x: vector<64xf32>) {
  %0 = cuda.window_reduce_online 8 at %i of %i : index, index to vector<64xf32> {
  ^bb0(%r: index):
  // expected-error @+1 {{window_segment_c1: expected regions of (lane), (member, lane) and (lane, three vectors) that end in a 'cuda.window_yield' of three vectors of f32, two of one type and at most one more, and none, all of one shape}}
    cuda.window_segment %n known %b kept %b ends %b : i32 begin {
    ^bb0(%l: index):
      cuda.window_yield %x, %x, %x : vector<64xf32>, vector<64xf32>, vector<64xf32>
    } member {
    ^bb0(%m: index, %l: index):
      cuda.window_yield %x, %x : vector<64xf32>, vector<64xf32>
    } end {
    ^bb0(%l: index, %t: vector<64xf32>, %u: vector<64xf32>):
      cuda.window_yield
    }
  }
  return
}

// -----

func.func @window_segment_c1_end_type(%i: index, %j: i32, %n: i32, %b: i1, %x: vector<64xf32>) {
  %0 = cuda.window_reduce_online 8 at %i of %i : index, index to vector<64xf32> {
  ^bb0(%r: index):
  // expected-error @+1 {{window_segment_c1: expected regions of (lane), (member, lane) and (lane, three vectors) that end in a 'cuda.window_yield' of three vectors of f32, two of one type and at most one more, and none, all of one shape}}
    cuda.window_segment %n known %b kept %b ends %b : i32 begin {
    ^bb0(%l: index):
      cuda.window_yield %x, %x, %x : vector<64xf32>, vector<64xf32>, vector<64xf32>
    } member {
    ^bb0(%m: index, %l: index):
      cuda.window_yield %x, %x : vector<64xf32>, vector<64xf32>
    } end {
    ^bb0(%l: index, %t: vector<64xf32>, %u: vector<64xf32>, %w: vector<32xf32>):
      cuda.window_yield
    }
  }
  return
}

// -----

func.func @window_segment_c1_end_yield(%i: index, %j: i32, %n: i32, %b: i1, %x: vector<64xf32>) {
  %0 = cuda.window_reduce_online 8 at %i of %i : index, index to vector<64xf32> {
  ^bb0(%r: index):
  // expected-error @+1 {{window_segment_c1: expected regions of (lane), (member, lane) and (lane, three vectors) that end in a 'cuda.window_yield' of three vectors of f32, two of one type and at most one more, and none, all of one shape}}
    cuda.window_segment %n known %b kept %b ends %b : i32 begin {
    ^bb0(%l: index):
      cuda.window_yield %x, %x, %x : vector<64xf32>, vector<64xf32>, vector<64xf32>
    } member {
    ^bb0(%m: index, %l: index):
      cuda.window_yield %x, %x : vector<64xf32>, vector<64xf32>
    } end {
    ^bb0(%l: index, %t: vector<64xf32>, %u: vector<64xf32>, %w: vector<64xf32>):
      cuda.window_yield %t : vector<64xf32>
    }
  }
  return
}

// -----

func.func @window_segment_c1_terminator(%i: index, %j: i32, %n: i32, %b: i1, %x: vector<64xf32>) {
  %0 = cuda.window_reduce_online 8 at %i of %i : index, index to vector<64xf32> {
  ^bb0(%r: index):
  // expected-error @+1 {{window_segment_c1: expected regions of (lane), (member, lane) and (lane, three vectors) that end in a 'cuda.window_yield' of three vectors of f32, two of one type and at most one more, and none, all of one shape}}
    cuda.window_segment %n known %b kept %b ends %b : i32 begin {
    ^bb0(%l: index):
      cuda.window_yield %x, %x, %x : vector<64xf32>, vector<64xf32>, vector<64xf32>
    } member {
    ^bb0(%m: index, %l: index):
      cuda.window_yield %x, %x : vector<64xf32>, vector<64xf32>
    } end {
    ^bb0(%l: index, %t: vector<64xf32>, %u: vector<64xf32>, %w: vector<64xf32>):
      vector.yield
    }
  }
  return
}

// -----

func.func @window_reduce_online_c2_cluster(%j: i32, %n: i32, %b: i1, %x: vector<1x2xf32>) {
  // expected-error @+1 {{window_reduce_online_c2: expected positive members, threads, count, cluster and groups, and a power of two of lanes, at most 32}}
  %0 = cuda.window_reduce_online 8 at %j of %n threads 64 lanes 16 cluster 0 : i32, i32 to vector<1x4xf32> {
  ^bb0(%r: index):
    cuda.window_segment %n known %b kept %b ends %b : i32 begin {
    ^bb0(%l: index):
      cuda.window_yield %x, %x, %x : vector<1x2xf32>, vector<1x2xf32>, vector<1x2xf32>
    } member {
    ^bb0(%m: index, %l: index):
      cuda.window_yield %x, %x : vector<1x2xf32>, vector<1x2xf32>
    } end {
    ^bb0(%l: index, %t: vector<1x2xf32>, %u: vector<1x2xf32>, %w: vector<1x2xf32>):
      cuda.window_yield
    }
  }
  return
}

// -----

func.func @window_reduce_online_c2_groups(%j: i32, %n: i32, %b: i1, %x: vector<1x2xf32>) {
  // expected-error @+1 {{window_reduce_online_c2: expected positive members, threads, count, cluster and groups, and a power of two of lanes, at most 32}}
  %0 = cuda.window_reduce_online 8 at %j of %n threads 64 lanes 16 groups 0 : i32, i32 to vector<1x4xf32> {
  ^bb0(%r: index):
    cuda.window_segment %n known %b kept %b ends %b : i32 begin {
    ^bb0(%l: index):
      cuda.window_yield %x, %x, %x : vector<1x2xf32>, vector<1x2xf32>, vector<1x2xf32>
    } member {
    ^bb0(%m: index, %l: index):
      cuda.window_yield %x, %x : vector<1x2xf32>, vector<1x2xf32>
    } end {
    ^bb0(%l: index, %t: vector<1x2xf32>, %u: vector<1x2xf32>, %w: vector<1x2xf32>):
      cuda.window_yield
    }
  }
  return
}

// -----

func.func @window_reduce_online_c2_uneven(%j: i32, %n: i32, %b: i1, %x: vector<1x4xf32>) {
  // expected-error @+1 {{window_reduce_online_c2: 'vector<1x4xf32>' is not a fragment of rows of 64}}
  %0 = cuda.window_reduce_online 8 at %j of %n threads 64 lanes 16 cluster 3 : i32, i32 to vector<1x4xf32> {
  ^bb0(%r: index):
    cuda.window_segment %n known %b kept %b ends %b : i32 begin {
    ^bb0(%l: index):
      cuda.window_yield %x, %x, %x : vector<1x4xf32>, vector<1x4xf32>, vector<1x4xf32>
    } member {
    ^bb0(%m: index, %l: index):
      cuda.window_yield %x, %x : vector<1x4xf32>, vector<1x4xf32>
    } end {
    ^bb0(%l: index, %t: vector<1x4xf32>, %u: vector<1x4xf32>, %w: vector<1x4xf32>):
      cuda.window_yield
    }
  }
  return
}

// -----

func.func @window_reduce_online_c2_steps(%j: i32, %n: i32, %b: i1, %x: vector<2x2xf32>) {
  // expected-error @+1 {{window_reduce_online_c2: 'vector<2x2xf32>' is not a fragment of rows of 64}}
  %0 = cuda.window_reduce_online 8 at %j of %n threads 64 lanes 16 cluster 2 : i32, i32 to vector<1x4xf32> {
  ^bb0(%r: index):
    cuda.window_segment %n known %b kept %b ends %b : i32 begin {
    ^bb0(%l: index):
      cuda.window_yield %x, %x, %x : vector<2x2xf32>, vector<2x2xf32>, vector<2x2xf32>
    } member {
    ^bb0(%m: index, %l: index):
      cuda.window_yield %x, %x : vector<2x2xf32>, vector<2x2xf32>
    } end {
    ^bb0(%l: index, %t: vector<2x2xf32>, %u: vector<2x2xf32>, %w: vector<2x2xf32>):
      cuda.window_yield
    }
  }
  return
}

// -----

func.func @window_segment_c1_two_types(%j: i32, %n: i32, %b: i1, %x: vector<1x2xf32>, %h: vector<1x2xbf16>) {
  %0 = cuda.window_reduce_online 8 at %j of %n threads 64 lanes 16 : i32, i32 to vector<1x4xf32> {
  ^bb0(%r: index):
    // expected-error @+1 {{window_segment_c1: expected regions of (lane), (member, lane) and (lane, three vectors) that end in a 'cuda.window_yield' of three vectors of f32, two of one type and at most one more, and none, all of one shape}}
    cuda.window_segment %n known %b kept %b ends %b : i32 begin {
    ^bb0(%l: index):
      cuda.window_yield %x, %x, %x : vector<1x2xf32>, vector<1x2xf32>, vector<1x2xf32>
    } member {
    ^bb0(%m: index, %l: index):
      cuda.window_yield %x, %h : vector<1x2xf32>, vector<1x2xbf16>
    } end {
    ^bb0(%l: index, %t: vector<1x2xf32>, %u: vector<1x2xf32>, %w: vector<1x2xf32>):
      cuda.window_yield
    }
  }
  return
}

// -----

func.func @window_segment_c1_shape(%j: i32, %n: i32, %b: i1, %x: vector<1x2xf32>, %h: vector<2x1xf32>) {
  %0 = cuda.window_reduce_online 8 at %j of %n threads 64 lanes 16 : i32, i32 to vector<1x4xf32> {
  ^bb0(%r: index):
    // expected-error @+1 {{window_segment_c1: expected regions of (lane), (member, lane) and (lane, three vectors) that end in a 'cuda.window_yield' of three vectors of f32, two of one type and at most one more, and none, all of one shape}}
    cuda.window_segment %n known %b kept %b ends %b : i32 begin {
    ^bb0(%l: index):
      cuda.window_yield %x, %x, %x : vector<1x2xf32>, vector<1x2xf32>, vector<1x2xf32>
    } member {
    ^bb0(%m: index, %l: index):
      cuda.window_yield %x, %x, %h : vector<1x2xf32>, vector<1x2xf32>, vector<2x1xf32>
    } end {
    ^bb0(%l: index, %t: vector<1x2xf32>, %u: vector<1x2xf32>, %w: vector<1x2xf32>):
      cuda.window_yield
    }
  }
  return
}

// -----

func.func @window_segment_c1_sums(%j: i32, %n: i32, %b: i1, %x: vector<1x2xbf16>) {
  %0 = cuda.window_reduce_online 8 at %j of %n threads 64 lanes 16 : i32, i32 to vector<1x4xf32> {
  ^bb0(%r: index):
    // expected-error @+1 {{window_segment_c1: expected regions of (lane), (member, lane) and (lane, three vectors) that end in a 'cuda.window_yield' of three vectors of f32, two of one type and at most one more, and none, all of one shape}}
    cuda.window_segment %n known %b kept %b ends %b : i32 begin {
    ^bb0(%l: index):
      cuda.window_yield %x, %x, %x : vector<1x2xbf16>, vector<1x2xbf16>, vector<1x2xbf16>
    } member {
    ^bb0(%m: index, %l: index):
      cuda.window_yield %x, %x : vector<1x2xbf16>, vector<1x2xbf16>
    } end {
    ^bb0(%l: index, %t: vector<1x2xbf16>, %u: vector<1x2xbf16>, %w: vector<1x2xbf16>):
      cuda.window_yield
    }
  }
  return
}

// -----

func.func @window_segment_c2(%m: memref<?xf32>, %j: i32, %n: i32, %b: i1, %x: vector<1x2xf32>) {
  %0 = cuda.window_reduce_online 8 at %j of %n threads 64 lanes 16 : i32, i32 to vector<1x4xf32> {
  ^bb0(%r: index):
    // expected-error @+1 {{window_segment_c2: expected all of a row to be staged, or nothing}}
    cuda.window_segment %n known %b kept %b ends %b : i32 begin {
    ^bb0(%l: index):
      cuda.window_yield %x, %x, %x : vector<1x2xf32>, vector<1x2xf32>, vector<1x2xf32>
    } member {
    ^bb0(%i: index, %l: index):
      %y = cuda.load %m[%i] staged : memref<?xf32>, index -> vector<1x2xf32>
      cuda.window_yield %y, %x : vector<1x2xf32>, vector<1x2xf32>
    } end {
    ^bb0(%l: index, %t: vector<1x2xf32>, %u: vector<1x2xf32>, %w: vector<1x2xf32>):
      cuda.window_yield
    }
  }
  return
}

// -----

func.func @window_reduce_online_c3(%m: memref<?xf32>, %j: i32, %n: i32, %b: i1, %x: vector<1x2xf32>) {
  // expected-error @+1 {{window_reduce_online_c3: rows are staged, but a group of threads has 16 lanes of 'vector<1x2xf32>' among 64 threads of a block, and not whole warps with a vector each}}
  %0 = cuda.window_reduce_online 8 at %j of %n threads 64 lanes 8 : i32, i32 to vector<1x4xf32> {
  ^bb0(%r: index):
    cuda.window_segment %n known %b kept %b ends %b : i32 begin {
    ^bb0(%l: index):
      cuda.window_yield %x, %x, %x : vector<1x2xf32>, vector<1x2xf32>, vector<1x2xf32>
    } member {
    ^bb0(%i: index, %l: index):
      %y = cuda.load %m[%i] staged : memref<?xf32>, index -> vector<1x2xf32>
      cuda.window_yield %y, %y : vector<1x2xf32>, vector<1x2xf32>
    } end {
    ^bb0(%l: index, %t: vector<1x2xf32>, %u: vector<1x2xf32>, %w: vector<1x2xf32>):
      cuda.window_yield
    }
  }
  return
}

// -----

func.func @load_c4_state(%m: memref<?xf32>, %j: i32, %n: i32, %b: i1, %x: vector<1x2xf32>) {
  %0 = cuda.window_reduce_online 8 at %j of %n threads 64 lanes 16 : i32, i32 to vector<1x4xf32> {
  ^bb0(%r: index):
    cuda.window_segment %n known %b kept %b ends %b : i32 begin {
    ^bb0(%l: index):
      // expected-error @+1 {{load_c4: expected what is staged to be one vector of a power of two of bytes without a predicate, a policy or an alignment, of a row of a 'cuda.window_segment'}}
      %y = cuda.load %m[%l] staged : memref<?xf32>, index -> vector<1x2xf32>
      cuda.window_yield %y, %y, %y : vector<1x2xf32>, vector<1x2xf32>, vector<1x2xf32>
    } member {
    ^bb0(%i: index, %l: index):
      cuda.window_yield %x, %x : vector<1x2xf32>, vector<1x2xf32>
    } end {
    ^bb0(%l: index, %t: vector<1x2xf32>, %u: vector<1x2xf32>, %w: vector<1x2xf32>):
      cuda.window_yield
    }
  }
  return
}

// -----

func.func @load_c4_predicate(%m: memref<?xf32>, %j: i32, %n: i32, %b: i1, %x: vector<1x2xf32>) {
  %0 = cuda.window_reduce_online 8 at %j of %n threads 64 lanes 16 : i32, i32 to vector<1x4xf32> {
  ^bb0(%r: index):
    cuda.window_segment %n known %b kept %b ends %b : i32 begin {
    ^bb0(%l: index):
      cuda.window_yield %x, %x, %x : vector<1x2xf32>, vector<1x2xf32>, vector<1x2xf32>
    } member {
    ^bb0(%i: index, %l: index):
      // expected-error @+1 {{load_c4: expected what is staged to be one vector of a power of two of bytes without a predicate, a policy or an alignment, of a row of a 'cuda.window_segment'}}
      %y = cuda.load %m[%i] if %b staged : memref<?xf32>, index -> vector<1x2xf32>
      cuda.window_yield %y, %y : vector<1x2xf32>, vector<1x2xf32>
    } end {
    ^bb0(%l: index, %t: vector<1x2xf32>, %u: vector<1x2xf32>, %w: vector<1x2xf32>):
      cuda.window_yield
    }
  }
  return
}

// -----

func.func @load_c4_align(%m: memref<?xf32>, %j: i32, %n: i32, %b: i1, %x: vector<1x2xf32>) {
  %0 = cuda.window_reduce_online 8 at %j of %n threads 64 lanes 16 : i32, i32 to vector<1x4xf32> {
  ^bb0(%r: index):
    cuda.window_segment %n known %b kept %b ends %b : i32 begin {
    ^bb0(%l: index):
      cuda.window_yield %x, %x, %x : vector<1x2xf32>, vector<1x2xf32>, vector<1x2xf32>
    } member {
    ^bb0(%i: index, %l: index):
      // expected-error @+1 {{load_c4: expected what is staged to be one vector of a power of two of bytes without a predicate, a policy or an alignment, of a row of a 'cuda.window_segment'}}
      %y = cuda.load %m[%i] align 4 staged : memref<?xf32>, index -> vector<1x2xf32>
      cuda.window_yield %y, %y : vector<1x2xf32>, vector<1x2xf32>
    } end {
    ^bb0(%l: index, %t: vector<1x2xf32>, %u: vector<1x2xf32>, %w: vector<1x2xf32>):
      cuda.window_yield
    }
  }
  return
}

// -----

func.func @window_reduce_online_c3_threads(%m: memref<?xf32>, %j: i32, %n: i32, %b: i1, %x: vector<1x2xf32>) {
  // expected-error @+1 {{window_reduce_online_c3: rows are staged, but a group of threads has 32 lanes of 'vector<1x2xf32>' among 72 threads of a block, and not whole warps with a vector each}}
  %0 = cuda.window_reduce_online 8 at %j of %n threads 72 lanes 16 : i32, i32 to vector<1x4xf32> {
  ^bb0(%r: index):
    cuda.window_segment %n known %b kept %b ends %b : i32 begin {
    ^bb0(%l: index):
      cuda.window_yield %x, %x, %x : vector<1x2xf32>, vector<1x2xf32>, vector<1x2xf32>
    } member {
    ^bb0(%i: index, %l: index):
      %y = cuda.load %m[%i] staged : memref<?xf32>, index -> vector<1x2xf32>
      cuda.window_yield %y, %y : vector<1x2xf32>, vector<1x2xf32>
    } end {
    ^bb0(%l: index, %t: vector<1x2xf32>, %u: vector<1x2xf32>, %w: vector<1x2xf32>):
      cuda.window_yield
    }
  }
  return
}
