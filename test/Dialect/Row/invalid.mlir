// The clauses of the ops of a row; those of windows are in window-invalid.mlir.

// RUN: dsv4-opt %s --allow-unregistered-dialect --split-input-file --verify-diagnostics

func.func @read_c1(%m: memref<?xf32>, %i: index) {
  // expected-error @+1 {{read_c1: expected memory of i8 or of 'bf16', got 'memref<?xf32>'}}
  %0 = row.read %m[%i] : memref<?xf32> -> vector<8xbf16>
  return
}

// -----

func.func @read_c2_align(%m: memref<?xi8>, %i: index) {
  // expected-error @+1 {{read_c2: expected a power of two as 'align' and a positive 'multiple' and 'interleave', got 12, 1 and 1}}
  %0 = row.read %m[%i] {align = 12} : memref<?xi8> -> vector<8xf32>
  return
}

// -----

func.func @read_c2_no_align(%m: memref<?xi8>, %i: index) {
  // expected-error @+1 {{read_c2: expected a power of two as 'align' and a positive 'multiple' and 'interleave', got 0, 1 and 1}}
  %0 = row.read %m[%i] {align = 0} : memref<?xi8> -> vector<8xf32>
  return
}

// -----

func.func @read_c2_multiple(%m: memref<?xi8>, %i: index) {
  // expected-error @+1 {{read_c2: expected a power of two as 'align' and a positive 'multiple' and 'interleave', got 1, 0 and 1}}
  %0 = row.read %m[%i] {multiple = 0} : memref<?xi8> -> vector<8xf32>
  return
}

// -----

func.func @read_c2_interleave(%m: memref<?xi8>, %i: index) {
  // expected-error @+1 {{read_c2: expected a power of two as 'align' and a positive 'multiple' and 'interleave', got 1, 1 and 0}}
  %0 = row.read %m[%i] {interleave = 0} : memref<?xi8> -> vector<8xf32>
  return
}

// -----

func.func @read_c3(%m: memref<?xi8>, %i: index) {
  // expected-error @+1 {{read_c3: expected the interleave to divide the extent 8, got 3}}
  %0 = row.read %m[%i] {interleave = 3} : memref<?xi8> -> vector<8xf32>
  return
}

// -----

func.func @read_c4(%m: memref<?xi8>, %i: index) {
  // expected-error @+1 {{read_c4: expected 'readable' to be 0 or at least 8, got 7}}
  %0 = row.read %m[%i] {readable = 7} : memref<?xi8> -> vector<8xf32>
  return
}

// -----

func.func @read_c4_negative(%m: memref<?xi8>, %i: index) {
  // expected-error @+1 {{read_c4: expected 'readable' to be 0 or at least 8, got -8}}
  %0 = row.read %m[%i] {readable = -8} : memref<?xi8> -> vector<8xf32>
  return
}

// -----

func.func @write_c1(%x: vector<8xf32>, %m: memref<?xbf16>, %i: index) {
  // expected-error @+1 {{write_c1: expected memory of i8 or of 'f32', got 'memref<?xbf16>'}}
  row.write %x, %m[%i] : vector<8xf32>, memref<?xbf16>
  return
}

// -----

func.func @write_c2_align(%x: vector<8xf32>, %m: memref<?xi8>, %i: index) {
  // expected-error @+1 {{write_c2: expected a power of two as 'align', a positive group and 'interleave', and no negative 'pad', got 24, 1, 1 and 0}}
  row.write %x, %m[%i] {align = 24} : vector<8xf32>, memref<?xi8>
  return
}

// -----

func.func @write_c2_group(%x: vector<8xf32>, %m: memref<?xi8>, %i: index) {
  // expected-error @+1 {{write_c2: expected a power of two as 'align', a positive group and 'interleave', and no negative 'pad', got 8, 0, 1 and 0}}
  row.write %x, %m[%i] per 0 {align = 8} : vector<8xf32>, memref<?xi8>
  return
}

// -----

func.func @write_c2_interleave(%x: vector<8xf32>, %m: memref<?xi8>, %i: index) {
  // expected-error @+1 {{write_c2: expected a power of two as 'align', a positive group and 'interleave', and no negative 'pad', got 1, 64, 0 and 0}}
  row.write %x, %m[%i] per 64 {interleave = 0} : vector<8xf32>, memref<?xi8>
  return
}

// -----

func.func @write_c2_pad(%x: vector<8xf32>, %m: memref<?xi8>, %i: index) {
  // expected-error @+1 {{write_c2: expected a power of two as 'align', a positive group and 'interleave', and no negative 'pad', got 1, 64, 1 and -1}}
  row.write %x, %m[%i] per 64 {pad = -1} : vector<8xf32>, memref<?xi8>
  return
}

// -----

func.func @write_c3(%x: vector<8xf32>, %m: memref<?xi8>, %i: index) {
  // expected-error @+1 {{write_c3: expected the interleave to divide the extent 8, got 3}}
  row.write %x, %m[%i] {interleave = 3} : vector<8xf32>, memref<?xi8>
  return
}

// -----

func.func @gather_elements_c1_count(%r: vector<256xf32>, %ids: vector<8xi32>) {
  // expected-error @+1 {{gather_elements_c1: expected one 'f32' per index, got 'vector<4xf32>'}}
  %0 = row.gather_elements %r at %ids : vector<256xf32>, vector<8xi32> -> vector<4xf32>
  return
}

// -----

func.func @gather_elements_c1_type(%r: vector<256xf32>, %ids: vector<8xi32>) {
  // expected-error @+1 {{gather_elements_c1: expected one 'f32' per index, got 'vector<8xi32>'}}
  %0 = row.gather_elements %r at %ids : vector<256xf32>, vector<8xi32> -> vector<8xi32>
  return
}

// -----

func.func @swap_nibbles_c1_bits(%x: vector<8xf8E4M3FN>) {
  // expected-error @+1 {{swap_nibbles_c1: expected an even number of elements of 4 bits, got 'vector<8xf8E4M3FN>'}}
  %0 = row.swap_nibbles %x : vector<8xf8E4M3FN>
  return
}

// -----

func.func @swap_nibbles_c1_odd(%x: vector<7xf4E2M1FN>) {
  // expected-error @+1 {{swap_nibbles_c1: expected an even number of elements of 4 bits, got 'vector<7xf4E2M1FN>'}}
  %0 = row.swap_nibbles %x : vector<7xf4E2M1FN>
  return
}

// -----

func.func @swap_nibbles_c1_odd_vector(%x: vector<2x3xi4>) {
  // expected-error @+1 {{swap_nibbles_c1: expected an even number of elements of 4 bits, got 'vector<2x3xi4>'}}
  %0 = row.swap_nibbles %x : vector<2x3xi4>
  return
}

// -----

func.func @encode_c1_type(%x: vector<8xf32>) {
  // expected-error @+1 {{encode_c1: expected a payload of f8E4M3FN, f4E2M1FN or f8E8M0FNU, got 'bf16'}}
  %0 = row.encode %x : vector<8xf32> to vector<8xbf16>
  return
}

// -----

func.func @encode_c1_up(%x: vector<8xf32>) {
  // expected-error @+1 {{encode_c1: 'f8E8M0FNU' is only rounded up: add 'up'}}
  %0 = row.encode %x : vector<8xf32> to vector<8xf8E8M0FNU>
  return
}

// -----

func.func @encode_c1_not_up(%x: vector<8xf32>) {
  // expected-error @+1 {{encode_c1: 'f4E2M1FN' is never rounded up: remove 'up'}}
  %0 = row.encode %x up : vector<8xf32> to vector<8xf4E2M1FN>
  return
}

// -----

func.func @encode_c2_ties_down(%x: vector<8xf32>) {
  // expected-error @+1 {{encode_c2: 'f8E4M3FN' has neither 'ties_down' nor 'drop_negative_zero': remove them}}
  %0 = row.encode %x ties_down : vector<8xf32> to vector<8xf8E4M3FN>
  return
}

// -----

func.func @encode_c2_drop_negative_zero(%x: vector<8xf32>) {
  // expected-error @+1 {{encode_c2: 'f8E8M0FNU' has neither 'ties_down' nor 'drop_negative_zero': remove them}}
  %0 = row.encode %x up drop_negative_zero : vector<8xf32> to vector<8xf8E8M0FNU>
  return
}

// -----

func.func @expand_c1(%s: vector<8xf32>) {
  // expected-error @+1 {{expand_c1: element types differ: 'vector<8xf32>' and 'vector<64xbf16>'}}
  %0 = row.expand %s : vector<8xf32> to vector<64xbf16>
  return
}

// -----

func.func @expand_c2(%s: vector<8xf32>) {
  // expected-error @+1 {{expand_c2: expected the extent of the scales to divide 60, got 8}}
  %0 = row.expand %s : vector<8xf32> to vector<60xf32>
  return
}

// -----

func.func @expand_c2_more(%s: vector<8xf32>) {
  // expected-error @+1 {{expand_c2: expected the extent of the scales to divide 4, got 8}}
  %0 = row.expand %s : vector<8xf32> to vector<4xf32>
  return
}

// -----

func.func @reduce_c1_divides(%x: vector<512xf32>) {
  // expected-error @+1 {{reduce_c1: expected a group that divides the 512 elements of the row, and one value per group, got groups of 96 and 'vector<5xf32>'}}
  %0 = row.reduce sum %x per 96 : vector<512xf32> to vector<5xf32>
  return
}

// -----

func.func @reduce_c1_count(%x: vector<512xf32>) {
  // expected-error @+1 {{reduce_c1: expected a group that divides the 512 elements of the row, and one value per group, got groups of 64 and 'vector<7xf32>'}}
  %0 = row.reduce sum %x per 64 : vector<512xf32> to vector<7xf32>
  return
}

// -----

func.func @reduce_c1_positive(%x: vector<512xf32>) {
  // expected-error @+1 {{reduce_c1: expected a group that divides the 512 elements of the row, and one value per group, got groups of 0 and 'vector<1xf32>'}}
  %0 = row.reduce sum %x per 0 : vector<512xf32> to vector<1xf32>
  return
}

// -----

func.func @reduce_c1_negative(%x: vector<512xf32>) {
  // expected-error @+1 {{reduce_c1: expected a group that divides the 512 elements of the row, and one value per group, got groups of -512 and 'vector<1xf32>'}}
  %0 = row.reduce sum %x per -512 : vector<512xf32> to vector<1xf32>
  return
}

// -----

func.func @hadamard_c1(%x: vector<96xf32>) {
  // expected-error @+1 {{hadamard_c1: expected a power of two of elements, got 96}}
  %0 = row.hadamard %x : vector<96xf32>
  return
}

// -----

func.func @join_c1_extent(%a: vector<448xbf16>, %b: vector<64xbf16>) {
  // expected-error @+1 {{join_c1: joining 'vector<448xbf16>' and 'vector<64xbf16>' does not give 'vector<448xbf16>'}}
  %0 = row.join %a, %b : vector<448xbf16>, vector<64xbf16> to vector<448xbf16>
  return
}

// -----

func.func @join_c1_result(%a: vector<448xbf16>, %b: vector<64xbf16>) {
  // expected-error @+1 {{join_c1: joining 'vector<448xbf16>' and 'vector<64xbf16>' does not give 'vector<512xf32>'}}
  %0 = row.join %a, %b : vector<448xbf16>, vector<64xbf16> to vector<512xf32>
  return
}

// -----

func.func @join_c1_segments(%a: vector<448xbf16>, %b: vector<64xf32>) {
  // expected-error @+1 {{join_c1: joining 'vector<448xbf16>' and 'vector<64xf32>' does not give 'vector<512xbf16>'}}
  %0 = row.join %a, %b : vector<448xbf16>, vector<64xf32> to vector<512xbf16>
  return
}

// -----

func.func @select_c1(%x: vector<8192xf32>, %n: index) {
  // expected-error @+1 {{select_c1: expected results of one extent from 1 to 4096, got 'vector<8xi32>' and 'vector<4xf32>'}}
  %0:2 = row.select %x length %n : vector<8192xf32> -> vector<8xi32>, vector<4xf32>
  return
}

// -----

func.func @select_c1_many(%x: vector<8192xf32>, %n: index) {
  // expected-error @+1 {{select_c1: expected results of one extent from 1 to 4096, got 'vector<5000xi32>' and 'vector<5000xf32>'}}
  %0:2 = row.select %x length %n : vector<8192xf32> -> vector<5000xi32>, vector<5000xf32>
  return
}

// -----

func.func @select_c2_none(%x: vector<8192xf32>, %n: index) {
  // expected-error @+1 {{select_c2: expected at most 32 groups that divide the row, of which some are kept, by some of their elements, got 0, 1 and 1}}
  %0:2 = row.select %x length %n groups 0 : vector<8192xf32> -> vector<8xi32>, vector<8xf32>
  return
}

// -----

func.func @select_c2_many(%x: vector<8192xf32>, %n: index) {
  // expected-error @+1 {{select_c2: expected at most 32 groups that divide the row, of which some are kept, by some of their elements, got 64, 1 and 1}}
  %0:2 = row.select %x length %n groups 64 : vector<8192xf32> -> vector<8xi32>, vector<8xf32>
  return
}

// -----

func.func @select_c2_divides(%x: vector<8192xf32>, %n: index) {
  // expected-error @+1 {{select_c2: expected at most 32 groups that divide the row, of which some are kept, by some of their elements, got 3, 1 and 1}}
  %0:2 = row.select %x length %n groups 3 : vector<8192xf32> -> vector<8xi32>, vector<8xf32>
  return
}

// -----

func.func @select_c2_keep(%x: vector<8192xf32>, %n: index) {
  // expected-error @+1 {{select_c2: expected at most 32 groups that divide the row, of which some are kept, by some of their elements, got 8, 9 and 1}}
  %0:2 = row.select %x length %n groups 8 keep 9 : vector<8192xf32> -> vector<8xi32>, vector<8xf32>
  return
}

// -----

func.func @select_c2_keep_none(%x: vector<8192xf32>, %n: index) {
  // expected-error @+1 {{select_c2: expected at most 32 groups that divide the row, of which some are kept, by some of their elements, got 8, 0 and 1}}
  %0:2 = row.select %x length %n groups 8 keep 0 : vector<8192xf32> -> vector<8xi32>, vector<8xf32>
  return
}

// -----

func.func @select_c2_by(%x: vector<8192xf32>, %n: index) {
  // expected-error @+1 {{select_c2: expected at most 32 groups that divide the row, of which some are kept, by some of their elements, got 8, 1 and 1025}}
  %0:2 = row.select %x length %n groups 8 by 1025 : vector<8192xf32> -> vector<8xi32>, vector<8xf32>
  return
}

// -----

func.func @select_c2_by_none(%x: vector<8192xf32>, %n: index) {
  // expected-error @+1 {{select_c2: expected at most 32 groups that divide the row, of which some are kept, by some of their elements, got 8, 1 and 0}}
  %0:2 = row.select %x length %n groups 8 by 0 : vector<8192xf32> -> vector<8xi32>, vector<8xf32>
  return
}

// -----

func.func @select_c3_start(%x: vector<8192xf32>, %n: index) {
  // expected-error @+1 {{select_c3: expected one group with a 'start', got 8}}
  %0:2 = row.select %x from %n length %n groups 8 : vector<8192xf32> -> vector<8xi32>, vector<8xf32>
  return
}

// -----

func.func @select_c3_ties(%x: vector<8192xf32>, %n: index) {
  // expected-error @+1 {{select_c3: expected one group with 'ties high', got 8}}
  %0:2 = row.select %x length %n ties high groups 8 : vector<8192xf32> -> vector<8xi32>, vector<8xf32>
  return
}

// -----

func.func @map_c1_no_argument(%ids: vector<8xi32>, %x: vector<8xi32>, %s: i32, %f: f32) {
  // expected-error @+1 {{map_c1: expected a region of one index that ends in 'row.yield' of one 'i32' per index}}
  %0 = row.map %ids : vector<8xi32> -> vector<8xi32> {
    row.yield %s : i32
  }
  return
}

// -----

func.func @map_c1_argument(%ids: vector<8xi32>, %x: vector<8xi32>, %s: i32, %f: f32) {
  // expected-error @+1 {{map_c1: expected a region of one index that ends in 'row.yield' of one 'i32' per index}}
  %0 = row.map %ids : vector<8xi32> -> vector<8xi32> {
  ^bb0(%index: i32):
    row.yield %s : i32
  }
  return
}

// -----

func.func @map_c1_arguments(%ids: vector<8xi32>, %x: vector<8xi32>, %s: i32, %f: f32) {
  // expected-error @+1 {{map_c1: expected a region of one index that ends in 'row.yield' of one 'i32' per index}}
  %0 = row.map %ids : vector<8xi32> -> vector<8xi32> {
  ^bb0(%index: index, %other: index):
    row.yield %s : i32
  }
  return
}

// -----

func.func @map_c1_vector(%ids: vector<8xi32>, %x: vector<8xi32>, %s: i32, %f: f32) {
  // expected-error @+1 {{map_c1: expected a region of one index that ends in 'row.yield' of one 'i32' per index}}
  %0 = row.map %ids : vector<8xi32> -> vector<8xi32> {
  ^bb0(%index: index):
    row.yield %x : vector<8xi32>
  }
  return
}

// -----

func.func @map_c1_type(%ids: vector<8xi32>, %x: vector<8xi32>, %s: i32, %f: f32) {
  // expected-error @+1 {{map_c1: expected a region of one index that ends in 'row.yield' of one 'i32' per index}}
  %0 = row.map %ids : vector<8xi32> -> vector<8xi32> {
  ^bb0(%index: index):
    row.yield %f : f32
  }
  return
}

// -----

func.func @map_c1_nothing(%ids: vector<8xi32>, %x: vector<8xi32>, %s: i32, %f: f32) {
  // expected-error @+1 {{map_c1: expected a region of one index that ends in 'row.yield' of one 'i32' per index}}
  %0 = row.map %ids : vector<8xi32> -> vector<8xi32> {
  ^bb0(%index: index):
    row.yield
  }
  return
}

// -----

func.func @map_c1_extent(%ids: vector<8xi32>, %x: vector<8xi32>, %s: i32, %f: f32) {
  // expected-error @+1 {{map_c1: expected a region of one index that ends in 'row.yield' of one 'i32' per index}}
  %0 = row.map %ids : vector<8xi32> -> vector<4xi32> {
  ^bb0(%index: index):
    row.yield %s : i32
  }
  return
}

// -----

func.func @map_c1_yield(%ids: vector<8xi32>, %x: vector<8xi32>, %s: i32, %f: f32) {
  // expected-error @+1 {{map_c1: expected a region of one index that ends in 'row.yield' of one 'i32' per index}}
  %0 = row.map %ids : vector<8xi32> -> vector<8xi32> {
  ^bb0(%index: index):
    "test.end"() : () -> ()
  }
  return
}

// -----

func.func @write_c3_groups(%x: vector<7xf8E8M0FNU>, %m: memref<?xi8>, %i: index) {
  // expected-error @+1 {{write_c3: expected the interleave to divide the extent 7, got 4}}
  row.write %x, %m[%i] per 64 {interleave = 4} : vector<7xf8E8M0FNU>, memref<?xi8>
  return
}

// -----

func.func @read_c2_negative(%m: memref<?xi8>, %i: index) {
  // expected-error @+1 {{read_c2: expected a power of two as 'align'}}
  %x = row.read %m[%i] {align = -9223372036854775808} : memref<?xi8> -> vector<8xf32>
  return
}

// -----

func.func @where_valid_c1(%x: vector<8xi32>, %ids: vector<8xi32>) {
  // expected-error @+1 {{where_valid_c1: expected no 'otherwise' for values of i32, got 1.500000e+00}}
  %0 = row.where_valid %x at %ids below 256 otherwise 1.5 : vector<8xi32>, vector<8xi32>
  return
}

// -----

func.func @narrow_c1(%x: vector<8xi64>) {
  // expected-error @+1 {{narrow_c1: expected a scalar with 'saturate', got 'vector<8xi64>'}}
  %0 = row.narrow %x saturate : vector<8xi64> to vector<8xi32>
  return
}

// -----

func.func @write_c4_bits(%x: vector<8xbf16>, %m: memref<?xi8>, %i: index) {
  // expected-error @+1 {{write_c4: expected values of 8 or 32 bits, not interleaved, with a 'stride', got 'bf16' with an 'interleave' of 1}}
  row.write %x, %m[%i] stride %i : vector<8xbf16>, memref<?xi8>
  return
}

// -----

func.func @write_c4_interleave(%x: vector<8xf8E4M3FN>, %m: memref<?xi8>, %i: index) {
  // expected-error @+1 {{write_c4: expected values of 8 or 32 bits, not interleaved, with a 'stride', got 'f8E4M3FN' with an 'interleave' of 4}}
  row.write %x, %m[%i] stride %i {interleave = 4} : vector<8xf8E4M3FN>, memref<?xi8>
  return
}

// -----

func.func @write_c4_run(%x: vector<8xf8E4M3FN>, %m: memref<?xi8>, %i: index) {
  // expected-error @+1 {{write_c4: expected a positive 'run', got 0}}
  row.write %x, %m[%i] stride %i {run = 0} : vector<8xf8E4M3FN>, memref<?xi8>
  return
}

// -----

func.func @select_c1_padding(%x: vector<64xf32>, %n: index) {
  // expected-error @+1 {{select_c1: expected results of one extent from 9 to 4104, got 'vector<8xi32>' and 'vector<8xf32>'}}
  %0:2 = row.select %x length %n padding 8 : vector<64xf32> -> vector<8xi32>, vector<8xf32>
  return
}

// -----

func.func @read_c5_bits(%m: memref<?xi8>, %i: index) {
  // expected-error @+1 {{read_c5: expected elements of 8 or 32 bits, not interleaved and without a 'length', with a 'stride', got 'vector<8xbf16>' with an 'interleave' of 1}}
  %0 = row.read %m[%i] stride %i : memref<?xi8> -> vector<8xbf16>
  return
}

// -----

func.func @read_c5_interleave(%m: memref<?xi8>, %i: index) {
  // expected-error @+1 {{read_c5: expected elements of 8 or 32 bits, not interleaved and without a 'length', with a 'stride', got 'vector<8xf8E4M3FN>' with an 'interleave' of 4}}
  %0 = row.read %m[%i] stride %i {interleave = 4} : memref<?xi8> -> vector<8xf8E4M3FN>
  return
}

// -----

func.func @read_c5_length(%m: memref<?xi8>, %i: index) {
  // expected-error @+1 {{read_c5: expected elements of 8 or 32 bits, not interleaved and without a 'length', with a 'stride', got 'vector<8xf8E4M3FN>' with an 'interleave' of 1}}
  %0 = row.read %m[%i] length %i stride %i : memref<?xi8> -> vector<8xf8E4M3FN>
  return
}

// -----

func.func @read_c5_run(%m: memref<?xi8>, %i: index) {
  // expected-error @+1 {{read_c5: expected a positive 'run', got 0}}
  %0 = row.read %m[%i] stride %i {run = 0} : memref<?xi8> -> vector<8xf8E4M3FN>
  return
}
