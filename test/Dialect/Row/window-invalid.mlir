// The clauses of reductions of windows.

// RUN: dsv4-opt %s --allow-unregistered-dialect --split-input-file --verify-diagnostics

func.func @window_reduce_c1_end(%x: vector<64xf32>, %y: vector<32xf32>, %all: i1) {
  // expected-error @+1 {{window_reduce_c1: expected a body that ends in 'row.window' of rows of 'vector<64xf32>'}}
  %0 = row.window_reduce 8 : vector<64xf32> {
    "test.end"() : () -> ()
  }
  return
}

// -----

func.func @window_reduce_c1_yield(%x: vector<64xf32>, %y: vector<32xf32>, %all: i1) {
  // expected-error @+1 {{window_reduce_c1: expected a body that ends in 'row.window' of rows of 'vector<64xf32>'}}
  %0 = row.window_reduce 8 : vector<64xf32> {
    row.yield %x : vector<64xf32>
  }
  return
}

// -----

func.func @window_reduce_c1_argument(%x: vector<64xf32>, %y: vector<32xf32>, %all: i1) {
  // expected-error @+1 {{window_reduce_c1: expected a body that ends in 'row.window' of rows of 'vector<64xf32>'}}
  %0 = row.window_reduce 8 : vector<64xf32> {
  ^bb0(%row: index):
    row.window %all scores {
    ^bb0(%member: index):
      row.yield %x : vector<64xf32>
    } values {
    ^bb0(%member: index):
      row.yield %x : vector<64xf32>
    } else {
    ^bb0(%member: index):
      row.window_row %all, %x, %x : vector<64xf32>, vector<64xf32>
    }
  }
  return
}

// -----

func.func @window_reduce_c1_extent(%x: vector<64xf32>, %y: vector<32xf32>, %all: i1) {
  // expected-error @+1 {{window_reduce_c1: expected a body that ends in 'row.window' of rows of 'vector<32xf32>'}}
  %0 = row.window_reduce 8 : vector<32xf32> {
    row.window %all scores {
    ^bb0(%member: index):
      row.yield %x : vector<64xf32>
    } values {
    ^bb0(%member: index):
      row.yield %x : vector<64xf32>
    } else {
    ^bb0(%member: index):
      row.window_row %all, %x, %x : vector<64xf32>, vector<64xf32>
    }
  }
  return
}

// -----

func.func @window_reduce_c2(%x: vector<64xf32>, %y: vector<32xf32>, %all: i1) {
  // expected-error @+1 {{window_reduce_c2: expected a positive number of members, got 0}}
  %0 = row.window_reduce 0 : vector<64xf32> {
    row.window %all scores {
    ^bb0(%member: index):
      row.yield %x : vector<64xf32>
    } values {
    ^bb0(%member: index):
      row.yield %x : vector<64xf32>
    } else {
    ^bb0(%member: index):
      row.window_row %all, %x, %x : vector<64xf32>, vector<64xf32>
    }
  }
  return
}

// -----

func.func @window_reduce_c2_negative(%x: vector<64xf32>, %y: vector<32xf32>, %all: i1) {
  // expected-error @+1 {{window_reduce_c2: expected a positive number of members}}
  %0 = row.window_reduce -8 : vector<64xf32> {
    row.window %all scores {
    ^bb0(%member: index):
      row.yield %x : vector<64xf32>
    } values {
    ^bb0(%member: index):
      row.yield %x : vector<64xf32>
    } else {
    ^bb0(%member: index):
      row.window_row %all, %x, %x : vector<64xf32>, vector<64xf32>
    }
  }
  return
}

// -----

func.func @window_reduce_c3_no_argument(%x: vector<64xf32>, %y: vector<32xf32>, %all: i1) {
  // expected-error @+1 {{window_reduce_c3: expected offsets of a member that end in 'row.yield' of 'vector<64xf32>'}}
  %0 = row.window_reduce 8 : vector<64xf32> {
    row.window %all scores {
    ^bb0(%member: index):
      row.yield %x : vector<64xf32>
    } values {
    ^bb0(%member: index):
      row.yield %x : vector<64xf32>
    } else {
    ^bb0(%member: index):
      row.window_row %all, %x, %x : vector<64xf32>, vector<64xf32>
    }
  } offsets {
    row.yield %x : vector<64xf32>
  }
  return
}

// -----

func.func @window_reduce_c3_argument(%x: vector<64xf32>, %y: vector<32xf32>, %all: i1) {
  // expected-error @+1 {{window_reduce_c3: expected offsets of a member that end in 'row.yield' of 'vector<64xf32>'}}
  %0 = row.window_reduce 8 : vector<64xf32> {
    row.window %all scores {
    ^bb0(%member: index):
      row.yield %x : vector<64xf32>
    } values {
    ^bb0(%member: index):
      row.yield %x : vector<64xf32>
    } else {
    ^bb0(%member: index):
      row.window_row %all, %x, %x : vector<64xf32>, vector<64xf32>
    }
  } offsets {
  ^bb0(%member: i32):
    row.yield %x : vector<64xf32>
  }
  return
}

// -----

func.func @window_reduce_c3_extent(%x: vector<64xf32>, %y: vector<32xf32>, %all: i1) {
  // expected-error @+1 {{window_reduce_c3: expected offsets of a member that end in 'row.yield' of 'vector<64xf32>'}}
  %0 = row.window_reduce 8 : vector<64xf32> {
    row.window %all scores {
    ^bb0(%member: index):
      row.yield %x : vector<64xf32>
    } values {
    ^bb0(%member: index):
      row.yield %x : vector<64xf32>
    } else {
    ^bb0(%member: index):
      row.window_row %all, %x, %x : vector<64xf32>, vector<64xf32>
    }
  } offsets {
  ^bb0(%member: index):
    row.yield %y : vector<32xf32>
  }
  return
}

// -----

func.func @window_reduce_c3_rows(%x: vector<64xf32>, %y: vector<32xf32>, %all: i1) {
  // expected-error @+1 {{window_reduce_c3: expected offsets of a member that end in 'row.yield' of 'vector<64xf32>'}}
  %0 = row.window_reduce 8 : vector<64xf32> {
    row.window %all scores {
    ^bb0(%member: index):
      row.yield %x : vector<64xf32>
    } values {
    ^bb0(%member: index):
      row.yield %x : vector<64xf32>
    } else {
    ^bb0(%member: index):
      row.window_row %all, %x, %x : vector<64xf32>, vector<64xf32>
    }
  } offsets {
  ^bb0(%member: index):
    row.yield %x, %x : vector<64xf32>, vector<64xf32>
  }
  return
}

// -----

func.func @window_reduce_c3_yield(%x: vector<64xf32>, %y: vector<32xf32>, %all: i1) {
  // expected-error @+1 {{window_reduce_c3: expected offsets of a member that end in 'row.yield' of 'vector<64xf32>'}}
  %0 = row.window_reduce 8 : vector<64xf32> {
    row.window %all scores {
    ^bb0(%member: index):
      row.yield %x : vector<64xf32>
    } values {
    ^bb0(%member: index):
      row.yield %x : vector<64xf32>
    } else {
    ^bb0(%member: index):
      row.window_row %all, %x, %x : vector<64xf32>, vector<64xf32>
    }
  } offsets {
  ^bb0(%member: index):
    "test.end"() : () -> ()
  }
  return
}

// -----

func.func @window_c1_no_member(%x: vector<64xf32>, %y: vector<32xf32>, %all: i1) {
  %0 = row.window_reduce 8 : vector<64xf32> {
    // expected-error @+1 {{window_c1: expected regions of a member, of which two end in 'row.yield' of a row and the last in 'row.window_row'}}
    row.window %all scores {
      row.yield %x : vector<64xf32>
    } values {
    ^bb0(%member: index):
      row.yield %x : vector<64xf32>
    } else {
    ^bb0(%member: index):
      row.window_row %all, %x, %x : vector<64xf32>, vector<64xf32>
    }
  }
  return
}

// -----

func.func @window_c1_scores_yield(%x: vector<64xf32>, %y: vector<32xf32>, %all: i1) {
  %0 = row.window_reduce 8 : vector<64xf32> {
    // expected-error @+1 {{window_c1: expected regions of a member, of which two end in 'row.yield' of a row and the last in 'row.window_row'}}
    row.window %all scores {
    ^bb0(%member: index):
      "test.end"() : () -> ()
    } values {
    ^bb0(%member: index):
      row.yield %x : vector<64xf32>
    } else {
    ^bb0(%member: index):
      row.window_row %all, %x, %x : vector<64xf32>, vector<64xf32>
    }
  }
  return
}

// -----

func.func @window_c1_scores_nothing(%x: vector<64xf32>, %y: vector<32xf32>, %all: i1) {
  %0 = row.window_reduce 8 : vector<64xf32> {
    // expected-error @+1 {{window_c1: expected regions of a member, of which two end in 'row.yield' of a row and the last in 'row.window_row'}}
    row.window %all scores {
    ^bb0(%member: index):
      row.yield
    } values {
    ^bb0(%member: index):
      row.yield %x : vector<64xf32>
    } else {
    ^bb0(%member: index):
      row.window_row %all, %x, %x : vector<64xf32>, vector<64xf32>
    }
  }
  return
}

// -----

func.func @window_c1_row(%x: vector<64xf32>, %y: vector<32xf32>, %all: i1) {
  %0 = row.window_reduce 8 : vector<64xf32> {
    // expected-error @+1 {{window_c1: expected regions of a member, of which two end in 'row.yield' of a row and the last in 'row.window_row'}}
    row.window %all scores {
    ^bb0(%member: index):
      row.yield %x : vector<64xf32>
    } values {
    ^bb0(%member: index):
      row.yield %x : vector<64xf32>
    } else {
    ^bb0(%member: index):
      row.yield %x : vector<64xf32>
    }
  }
  return
}

// -----

func.func @window_c1_members_of_row(%x: vector<64xf32>, %y: vector<32xf32>, %all: i1) {
  %0 = row.window_reduce 8 : vector<64xf32> {
    // expected-error @+1 {{window_c1: expected regions of a member, of which two end in 'row.yield' of a row and the last in 'row.window_row'}}
    row.window %all scores {
    ^bb0(%member: index):
      row.yield %x : vector<64xf32>
    } values {
    ^bb0(%member: index):
      row.yield %x : vector<64xf32>
    } else {
    ^bb0(%member: index, %lane: index):
      row.window_row %all, %x, %x : vector<64xf32>, vector<64xf32>
    }
  }
  return
}

// -----

func.func @window_c2_values(%x: vector<64xf32>, %y: vector<32xf32>, %all: i1) {
  %0 = row.window_reduce 8 : vector<64xf32> {
    // expected-error @+1 {{window_c2: expected scores and values of one type}}
    row.window %all scores {
    ^bb0(%member: index):
      row.yield %x : vector<64xf32>
    } values {
    ^bb0(%member: index):
      row.yield %y : vector<32xf32>
    } else {
    ^bb0(%member: index):
      row.window_row %all, %x, %x : vector<64xf32>, vector<64xf32>
    }
  }
  return
}

// -----

func.func @window_c2_values_of_row(%x: vector<64xf32>, %y: vector<32xf32>, %all: i1) {
  %0 = row.window_reduce 8 : vector<64xf32> {
    // expected-error @+1 {{window_c2: expected scores and values of one type}}
    row.window %all scores {
    ^bb0(%member: index):
      row.yield %x : vector<64xf32>
    } values {
    ^bb0(%member: index):
      row.yield %x : vector<64xf32>
    } else {
    ^bb0(%member: index):
      row.window_row %all, %x, %y : vector<64xf32>, vector<32xf32>
    }
  }
  return
}

// -----

func.func @window_c2_row(%x: vector<64xf32>, %y: vector<32xf32>, %all: i1) {
  %0 = row.window_reduce 8 : vector<64xf32> {
    // expected-error @+1 {{window_c2: expected scores and values of one type}}
    row.window %all scores {
    ^bb0(%member: index):
      row.yield %x : vector<64xf32>
    } values {
    ^bb0(%member: index):
      row.yield %x : vector<64xf32>
    } else {
    ^bb0(%member: index):
      row.window_row %all, %y, %y : vector<32xf32>, vector<32xf32>
    }
  }
  return
}

// -----

func.func @window_reduce_online_c1_end(%x: vector<64xf32>, %y: vector<32xf32>, %b: vector<64xbf16>, %n: index,
                                       %known: i1) {
  // expected-error @+1 {{window_reduce_online_c1: expected a body that ends in 'row.window_segment' of rows of 'vector<64xf32>'}}
  %0 = row.window_reduce_online 8 : vector<64xf32> {
    "test.end"() : () -> ()
  }
  return
}

// -----

func.func @window_reduce_online_c1_argument(%x: vector<64xf32>, %y: vector<32xf32>, %b: vector<64xbf16>, %n: index,
                                            %known: i1) {
  // expected-error @+1 {{window_reduce_online_c1: expected a body that ends in 'row.window_segment' of rows of 'vector<64xf32>'}}
  %0 = row.window_reduce_online 8 : vector<64xf32> {
  ^bb0(%row: index):
    row.window_segment %n known %known kept %known ends %known begin {
      row.yield %x, %x, %x : vector<64xf32>, vector<64xf32>, vector<64xf32>
    } member {
    ^bb0(%member: index):
      row.yield %b, %b : vector<64xbf16>, vector<64xbf16>
    } end {
    ^bb0(%most: vector<64xf32>, %weights: vector<64xf32>, %sum: vector<64xf32>):
      row.yield
    }
  }
  return
}

// -----

func.func @window_reduce_online_c1_extent(%x: vector<64xf32>, %y: vector<32xf32>, %b: vector<64xbf16>, %n: index,
                                          %known: i1) {
  // expected-error @+1 {{window_reduce_online_c1: expected a body that ends in 'row.window_segment' of rows of 'vector<32xf32>'}}
  %0 = row.window_reduce_online 8 : vector<32xf32> {
    row.window_segment %n known %known kept %known ends %known begin {
      row.yield %x, %x, %x : vector<64xf32>, vector<64xf32>, vector<64xf32>
    } member {
    ^bb0(%member: index):
      row.yield %b, %b : vector<64xbf16>, vector<64xbf16>
    } end {
    ^bb0(%most: vector<64xf32>, %weights: vector<64xf32>, %sum: vector<64xf32>):
      row.yield
    }
  }
  return
}

// -----

func.func @window_reduce_online_c2(%x: vector<64xf32>, %y: vector<32xf32>, %b: vector<64xbf16>, %n: index,
                                   %known: i1) {
  // expected-error @+1 {{window_reduce_online_c2: expected a positive number of members, got 0}}
  %0 = row.window_reduce_online 0 : vector<64xf32> {
    row.window_segment %n known %known kept %known ends %known begin {
      row.yield %x, %x, %x : vector<64xf32>, vector<64xf32>, vector<64xf32>
    } member {
    ^bb0(%member: index):
      row.yield %b, %b : vector<64xbf16>, vector<64xbf16>
    } end {
    ^bb0(%most: vector<64xf32>, %weights: vector<64xf32>, %sum: vector<64xf32>):
      row.yield
    }
  }
  return
}

// -----

func.func @window_reduce_online_c2_negative(%x: vector<64xf32>, %y: vector<32xf32>, %b: vector<64xbf16>, %n: index,
                                            %known: i1) {
  // expected-error @+1 {{window_reduce_online_c2: expected a positive number of members}}
  %0 = row.window_reduce_online -1 : vector<64xf32> {
    row.window_segment %n known %known kept %known ends %known begin {
      row.yield %x, %x, %x : vector<64xf32>, vector<64xf32>, vector<64xf32>
    } member {
    ^bb0(%member: index):
      row.yield %b, %b : vector<64xbf16>, vector<64xbf16>
    } end {
    ^bb0(%most: vector<64xf32>, %weights: vector<64xf32>, %sum: vector<64xf32>):
      row.yield
    }
  }
  return
}

// -----

func.func @window_segment_c1_begin_argument(%x: vector<64xf32>, %y: vector<32xf32>, %b: vector<64xbf16>, %n: index,
                                            %known: i1) {
  %0 = row.window_reduce_online 8 : vector<64xf32> {
    // expected-error @+1 {{window_segment_c1: expected regions of nothing, a member and three rows, of which the first gives three rows of f32 and the second scores and values of one type, and maybe offsets}}
    row.window_segment %n known %known kept %known ends %known begin {
    ^bb0(%row: index):
      row.yield %x, %x, %x : vector<64xf32>, vector<64xf32>, vector<64xf32>
    } member {
    ^bb0(%member: index):
      row.yield %b, %b : vector<64xbf16>, vector<64xbf16>
    } end {
    ^bb0(%most: vector<64xf32>, %weights: vector<64xf32>, %sum: vector<64xf32>):
      row.yield
    }
  }
  return
}

// -----

func.func @window_segment_c1_begin_two(%x: vector<64xf32>, %y: vector<32xf32>, %b: vector<64xbf16>, %n: index,
                                       %known: i1) {
  %0 = row.window_reduce_online 8 : vector<64xf32> {
    // expected-error @+1 {{window_segment_c1: expected regions of nothing, a member and three rows, of which the first gives three rows of f32 and the second scores and values of one type, and maybe offsets}}
    row.window_segment %n known %known kept %known ends %known begin {
      row.yield %x, %x : vector<64xf32>, vector<64xf32>
    } member {
    ^bb0(%member: index):
      row.yield %b, %b : vector<64xbf16>, vector<64xbf16>
    } end {
    ^bb0(%most: vector<64xf32>, %weights: vector<64xf32>, %sum: vector<64xf32>):
      row.yield
    }
  }
  return
}

// -----

func.func @window_segment_c1_begin_nothing(%x: vector<64xf32>, %y: vector<32xf32>, %b: vector<64xbf16>, %n: index,
                                           %known: i1) {
  %0 = row.window_reduce_online 8 : vector<64xf32> {
    // expected-error @+1 {{window_segment_c1: expected regions of nothing, a member and three rows, of which the first gives three rows of f32 and the second scores and values of one type, and maybe offsets}}
    row.window_segment %n known %known kept %known ends %known begin {
      row.yield
    } member {
    ^bb0(%member: index):
      row.yield %b, %b : vector<64xbf16>, vector<64xbf16>
    } end {
    ^bb0(%most: vector<64xf32>, %weights: vector<64xf32>, %sum: vector<64xf32>):
      row.yield
    }
  }
  return
}

// -----

func.func @window_segment_c1_begin_extents(%x: vector<64xf32>, %y: vector<32xf32>, %b: vector<64xbf16>, %n: index,
                                           %known: i1) {
  %0 = row.window_reduce_online 8 : vector<64xf32> {
    // expected-error @+1 {{window_segment_c1: expected regions of nothing, a member and three rows, of which the first gives three rows of f32 and the second scores and values of one type, and maybe offsets}}
    row.window_segment %n known %known kept %known ends %known begin {
      row.yield %x, %x, %y : vector<64xf32>, vector<64xf32>, vector<32xf32>
    } member {
    ^bb0(%member: index):
      row.yield %b, %b : vector<64xbf16>, vector<64xbf16>
    } end {
    ^bb0(%most: vector<64xf32>, %weights: vector<64xf32>, %sum: vector<64xf32>):
      row.yield
    }
  }
  return
}

// -----

func.func @window_segment_c1_begin_type(%x: vector<64xf32>, %y: vector<32xf32>, %b: vector<64xbf16>, %n: index,
                                        %known: i1) {
  %0 = row.window_reduce_online 8 : vector<64xf32> {
    // expected-error @+1 {{window_segment_c1: expected regions of nothing, a member and three rows, of which the first gives three rows of f32 and the second scores and values of one type, and maybe offsets}}
    row.window_segment %n known %known kept %known ends %known begin {
      row.yield %b, %b, %b : vector<64xbf16>, vector<64xbf16>, vector<64xbf16>
    } member {
    ^bb0(%member: index):
      row.yield %b, %b : vector<64xbf16>, vector<64xbf16>
    } end {
    ^bb0(%most: vector<64xf32>, %weights: vector<64xf32>, %sum: vector<64xf32>):
      row.yield
    }
  }
  return
}

// -----

func.func @window_segment_c1_begin_scalars(%x: vector<64xf32>, %y: vector<32xf32>, %b: vector<64xbf16>, %n: index,
                                           %known: i1) {
  %0 = row.window_reduce_online 8 : vector<64xf32> {
    // expected-error @+1 {{window_segment_c1: expected regions of nothing, a member and three rows, of which the first gives three rows of f32 and the second scores and values of one type, and maybe offsets}}
    row.window_segment %n known %known kept %known ends %known begin {
      row.yield %known, %known, %known : i1, i1, i1
    } member {
    ^bb0(%member: index):
      row.yield %b, %b : vector<64xbf16>, vector<64xbf16>
    } end {
    ^bb0(%most: vector<64xf32>, %weights: vector<64xf32>, %sum: vector<64xf32>):
      row.yield
    }
  }
  return
}

// -----

func.func @window_segment_c1_begin_yield(%x: vector<64xf32>, %y: vector<32xf32>, %b: vector<64xbf16>, %n: index,
                                         %known: i1) {
  %0 = row.window_reduce_online 8 : vector<64xf32> {
    // expected-error @+1 {{window_segment_c1: expected regions of nothing, a member and three rows, of which the first gives three rows of f32 and the second scores and values of one type, and maybe offsets}}
    row.window_segment %n known %known kept %known ends %known begin {
      "test.end"() : () -> ()
    } member {
    ^bb0(%member: index):
      row.yield %b, %b : vector<64xbf16>, vector<64xbf16>
    } end {
    ^bb0(%most: vector<64xf32>, %weights: vector<64xf32>, %sum: vector<64xf32>):
      row.yield
    }
  }
  return
}

// -----

func.func @window_segment_c1_no_member(%x: vector<64xf32>, %y: vector<32xf32>, %b: vector<64xbf16>, %n: index,
                                       %known: i1) {
  %0 = row.window_reduce_online 8 : vector<64xf32> {
    // expected-error @+1 {{window_segment_c1: expected regions of nothing, a member and three rows, of which the first gives three rows of f32 and the second scores and values of one type, and maybe offsets}}
    row.window_segment %n known %known kept %known ends %known begin {
      row.yield %x, %x, %x : vector<64xf32>, vector<64xf32>, vector<64xf32>
    } member {
      row.yield %b, %b : vector<64xbf16>, vector<64xbf16>
    } end {
    ^bb0(%most: vector<64xf32>, %weights: vector<64xf32>, %sum: vector<64xf32>):
      row.yield
    }
  }
  return
}

// -----

func.func @window_segment_c1_member_type(%x: vector<64xf32>, %y: vector<32xf32>, %b: vector<64xbf16>, %n: index,
                                         %known: i1) {
  %0 = row.window_reduce_online 8 : vector<64xf32> {
    // expected-error @+1 {{window_segment_c1: expected regions of nothing, a member and three rows, of which the first gives three rows of f32 and the second scores and values of one type, and maybe offsets}}
    row.window_segment %n known %known kept %known ends %known begin {
      row.yield %x, %x, %x : vector<64xf32>, vector<64xf32>, vector<64xf32>
    } member {
    ^bb0(%member: i32):
      row.yield %b, %b : vector<64xbf16>, vector<64xbf16>
    } end {
    ^bb0(%most: vector<64xf32>, %weights: vector<64xf32>, %sum: vector<64xf32>):
      row.yield
    }
  }
  return
}

// -----

func.func @window_segment_c1_member_one(%x: vector<64xf32>, %y: vector<32xf32>, %b: vector<64xbf16>, %n: index,
                                        %known: i1) {
  %0 = row.window_reduce_online 8 : vector<64xf32> {
    // expected-error @+1 {{window_segment_c1: expected regions of nothing, a member and three rows, of which the first gives three rows of f32 and the second scores and values of one type, and maybe offsets}}
    row.window_segment %n known %known kept %known ends %known begin {
      row.yield %x, %x, %x : vector<64xf32>, vector<64xf32>, vector<64xf32>
    } member {
    ^bb0(%member: index):
      row.yield %b : vector<64xbf16>
    } end {
    ^bb0(%most: vector<64xf32>, %weights: vector<64xf32>, %sum: vector<64xf32>):
      row.yield
    }
  }
  return
}

// -----

func.func @window_segment_c1_member_four(%x: vector<64xf32>, %y: vector<32xf32>, %b: vector<64xbf16>, %n: index,
                                         %known: i1) {
  %0 = row.window_reduce_online 8 : vector<64xf32> {
    // expected-error @+1 {{window_segment_c1: expected regions of nothing, a member and three rows, of which the first gives three rows of f32 and the second scores and values of one type, and maybe offsets}}
    row.window_segment %n known %known kept %known ends %known begin {
      row.yield %x, %x, %x : vector<64xf32>, vector<64xf32>, vector<64xf32>
    } member {
    ^bb0(%member: index):
      row.yield %x, %x, %x, %x
          : vector<64xf32>, vector<64xf32>, vector<64xf32>, vector<64xf32>
    } end {
    ^bb0(%most: vector<64xf32>, %weights: vector<64xf32>, %sum: vector<64xf32>):
      row.yield
    }
  }
  return
}

// -----

func.func @window_segment_c1_member_types(%x: vector<64xf32>, %y: vector<32xf32>, %b: vector<64xbf16>, %n: index,
                                          %known: i1) {
  %0 = row.window_reduce_online 8 : vector<64xf32> {
    // expected-error @+1 {{window_segment_c1: expected regions of nothing, a member and three rows, of which the first gives three rows of f32 and the second scores and values of one type, and maybe offsets}}
    row.window_segment %n known %known kept %known ends %known begin {
      row.yield %x, %x, %x : vector<64xf32>, vector<64xf32>, vector<64xf32>
    } member {
    ^bb0(%member: index):
      row.yield %b, %x : vector<64xbf16>, vector<64xf32>
    } end {
    ^bb0(%most: vector<64xf32>, %weights: vector<64xf32>, %sum: vector<64xf32>):
      row.yield
    }
  }
  return
}

// -----

func.func @window_segment_c1_member_extent(%x: vector<64xf32>, %y: vector<32xf32>, %b: vector<64xbf16>, %n: index,
                                           %known: i1) {
  %0 = row.window_reduce_online 8 : vector<64xf32> {
    // expected-error @+1 {{window_segment_c1: expected regions of nothing, a member and three rows, of which the first gives three rows of f32 and the second scores and values of one type, and maybe offsets}}
    row.window_segment %n known %known kept %known ends %known begin {
      row.yield %x, %x, %x : vector<64xf32>, vector<64xf32>, vector<64xf32>
    } member {
    ^bb0(%member: index):
      row.yield %y, %y : vector<32xf32>, vector<32xf32>
    } end {
    ^bb0(%most: vector<64xf32>, %weights: vector<64xf32>, %sum: vector<64xf32>):
      row.yield
    }
  }
  return
}

// -----

func.func @window_segment_c1_offsets_extent(%x: vector<64xf32>, %y: vector<32xf32>, %b: vector<64xbf16>, %n: index,
                                            %known: i1) {
  %0 = row.window_reduce_online 8 : vector<64xf32> {
    // expected-error @+1 {{window_segment_c1: expected regions of nothing, a member and three rows, of which the first gives three rows of f32 and the second scores and values of one type, and maybe offsets}}
    row.window_segment %n known %known kept %known ends %known begin {
      row.yield %x, %x, %x : vector<64xf32>, vector<64xf32>, vector<64xf32>
    } member {
    ^bb0(%member: index):
      row.yield %b, %b, %y : vector<64xbf16>, vector<64xbf16>, vector<32xf32>
    } end {
    ^bb0(%most: vector<64xf32>, %weights: vector<64xf32>, %sum: vector<64xf32>):
      row.yield
    }
  }
  return
}

// -----

func.func @window_segment_c1_member_yield(%x: vector<64xf32>, %y: vector<32xf32>, %b: vector<64xbf16>, %n: index,
                                          %known: i1) {
  %0 = row.window_reduce_online 8 : vector<64xf32> {
    // expected-error @+1 {{window_segment_c1: expected regions of nothing, a member and three rows, of which the first gives three rows of f32 and the second scores and values of one type, and maybe offsets}}
    row.window_segment %n known %known kept %known ends %known begin {
      row.yield %x, %x, %x : vector<64xf32>, vector<64xf32>, vector<64xf32>
    } member {
    ^bb0(%member: index):
      "test.end"() : () -> ()
    } end {
    ^bb0(%most: vector<64xf32>, %weights: vector<64xf32>, %sum: vector<64xf32>):
      row.yield
    }
  }
  return
}

// -----

func.func @window_segment_c1_end_two(%x: vector<64xf32>, %y: vector<32xf32>, %b: vector<64xbf16>, %n: index,
                                     %known: i1) {
  %0 = row.window_reduce_online 8 : vector<64xf32> {
    // expected-error @+1 {{window_segment_c1: expected regions of nothing, a member and three rows, of which the first gives three rows of f32 and the second scores and values of one type, and maybe offsets}}
    row.window_segment %n known %known kept %known ends %known begin {
      row.yield %x, %x, %x : vector<64xf32>, vector<64xf32>, vector<64xf32>
    } member {
    ^bb0(%member: index):
      row.yield %b, %b : vector<64xbf16>, vector<64xbf16>
    } end {
    ^bb0(%most: vector<64xf32>, %weights: vector<64xf32>):
      row.yield
    }
  }
  return
}

// -----

func.func @window_segment_c1_end_types(%x: vector<64xf32>, %y: vector<32xf32>, %b: vector<64xbf16>, %n: index,
                                       %known: i1) {
  %0 = row.window_reduce_online 8 : vector<64xf32> {
    // expected-error @+1 {{window_segment_c1: expected regions of nothing, a member and three rows, of which the first gives three rows of f32 and the second scores and values of one type, and maybe offsets}}
    row.window_segment %n known %known kept %known ends %known begin {
      row.yield %x, %x, %x : vector<64xf32>, vector<64xf32>, vector<64xf32>
    } member {
    ^bb0(%member: index):
      row.yield %b, %b : vector<64xbf16>, vector<64xbf16>
    } end {
    ^bb0(%most: vector<64xbf16>, %weights: vector<64xbf16>, %sum: vector<64xbf16>):
      row.yield
    }
  }
  return
}

// -----

func.func @window_segment_c1_end_yield(%x: vector<64xf32>, %y: vector<32xf32>, %b: vector<64xbf16>, %n: index,
                                       %known: i1) {
  %0 = row.window_reduce_online 8 : vector<64xf32> {
    // expected-error @+1 {{window_segment_c1: expected regions of nothing, a member and three rows, of which the first gives three rows of f32 and the second scores and values of one type, and maybe offsets}}
    row.window_segment %n known %known kept %known ends %known begin {
      row.yield %x, %x, %x : vector<64xf32>, vector<64xf32>, vector<64xf32>
    } member {
    ^bb0(%member: index):
      row.yield %b, %b : vector<64xbf16>, vector<64xbf16>
    } end {
    ^bb0(%most: vector<64xf32>, %weights: vector<64xf32>, %sum: vector<64xf32>):
      "test.end"() : () -> ()
    }
  }
  return
}
