// The clauses of the ops that rows are written with.

// RUN: dsv4-opt %s --split-input-file --verify-diagnostics

func.func @reduce_c1_divides(%r: vector<512xf32>) {
  // expected-error @+1 {{reduce_c1: expected a group that divides the 512 elements of the row, and one value per group, got groups of 96 and 'vector<5xf32>'}}
  %0 = cuda.reduce sum %r per 96 : vector<512xf32> to vector<5xf32>
  return
}

// -----

func.func @reduce_c1_count(%r: vector<512xf32>) {
  // expected-error @+1 {{reduce_c1: expected a group that divides the 512 elements of the row, and one value per group, got groups of 64 and 'vector<7xf32>'}}
  %0 = cuda.reduce sum %r per 64 : vector<512xf32> to vector<7xf32>
  return
}

// -----

func.func @reduce_c2(%t: vector<2x8xf32>) {
  // expected-error @+1 {{reduce_c2: expected a power of two of lanes, at most 32, and 1 for a whole row}}
  %0 = cuda.reduce sum %t per 64 lanes 12 : vector<2x8xf32> to vector<3xf32>
  return
}

// -----

func.func @reduce_c2_whole(%r: vector<512xf32>) {
  // expected-error @+1 {{reduce_c2: expected a power of two of lanes, at most 32, and 1 for a whole row}}
  %0 = cuda.reduce sum %r per 64 lanes 2 : vector<512xf32> to vector<16xf32>
  return
}

// -----

func.func @hadamard_c1(%t: vector<3x8xf32>) {
  // expected-error @+1 {{hadamard_c1: expected a power of two of elements and of lanes}}
  %0 = cuda.hadamard %t lanes 8 : vector<3x8xf32>
  return
}

// -----

func.func @search_c1(%m: memref<?xi32>, %i: i32) {
  // expected-error @+1 {{search_c1: expected a power of two of lanes, at most 32, got 12}}
  %0 = cuda.search %m for %i of %i rows %i lanes 12 : memref<?xi32>, i32, i32, i32
  return
}

// -----

func.func @search_c2(%m: memref<?xi32>, %i: i32) {
  // expected-error @+1 {{search_c2: expected 'rows' for the lanes of a row, got 16 lanes without}}
  %0 = cuda.search %m for %i of %i lanes 16 : memref<?xi32>, i32, i32
  return
}

// -----

func.func @is_last_c1(%m: memref<?xi32>, %i: i32) {
  // expected-error @+1 {{is_last_c1: expected a power of two of lanes, at most 32}}
  %0 = cuda.is_last %m[%i] of %i lanes 64 : memref<?xi32>, i32, i32
  return
}

// -----

func.func @is_last_c2_threads(%m: memref<?xi32>, %i: i32) {
  // expected-error @+1 {{is_last_c2: expected 0 or a multiple of 32 for 'threads', got 100}}
  %0 = cuda.is_last %m[%i] of %i lanes 8 threads 100 max_alone 512 : memref<?xi32>, i32, i32
  return
}

// -----

func.func @is_last_c2_alone(%m: memref<?xi32>, %i: i32) {
  // expected-error @+1 {{is_last_c2: expected a positive 'max_alone' with 'threads', and 0 without, got 0}}
  %0 = cuda.is_last %m[%i] of %i rows %i lanes 8 threads 128 : memref<?xi32>, i32, i32, i32
  return
}

// -----

func.func @is_last_c2_rows(%m: memref<?xi32>, %i: i32) {
  // expected-error @+1 {{is_last_c2: expected 'rows' with 'threads', and not without}}
  %0 = cuda.is_last %m[%i] of %i lanes 8 threads 128 max_alone 512 : memref<?xi32>, i32, i32
  return
}

// -----

func.func @encode_c1_up(%t: vector<7xf32>) {
  // expected-error @+1 {{encode_c1: 'f8E8M0FNU' is only rounded up: add 'up'}}
  %0 = cuda.encode %t : vector<7xf32> to vector<7xf8E8M0FNU>
  return
}

// -----

func.func @encode_c1_not_up(%t: vector<8xf32>) {
  // expected-error @+1 {{encode_c1: 'f4E2M1FN' is never rounded up: remove 'up'}}
  %0 = cuda.encode %t up : vector<8xf32> to vector<8xf4E2M1FN>
  return
}

// -----

func.func @encode_c1_type(%t: vector<8xf32>) {
  // expected-error @+1 {{encode_c1: expected a payload of f8E4M3FN, f4E2M1FN or f8E8M0FNU, got 'bf16'}}
  %0 = cuda.encode %t : vector<8xf32> to vector<8xbf16>
  return
}

// -----

func.func @encode_c2(%t: vector<8xf32>) {
  // expected-error @+1 {{encode_c2: 'f8E4M3FN' has neither 'ties_down' nor 'drop_negative_zero': remove them}}
  %0 = cuda.encode %t ties_down : vector<8xf32> to vector<8xf8E4M3FN>
  return
}

// -----

func.func @quantize_c1(%v: vector<2x8xbf16>, %f: vector<2xf32>) {
  // expected-error @+1 {{quantize_c1: expected f8E4M3FN, or f4E2M1FN with or without 'ties_down' and 'drop_negative_zero', in the shape of 'vector<2x8xbf16>', got 'vector<2x4xf8E4M3FN>'}}
  %0 = cuda.quantize %v by %f : vector<2x8xbf16> by vector<2xf32> to vector<2x4xf8E4M3FN>
  return
}

// -----

func.func @quantize_c1_ties(%v: vector<2x8xbf16>, %f: vector<2xf32>) {
  // expected-error @+1 {{quantize_c1: expected f8E4M3FN, or f4E2M1FN with or without 'ties_down' and 'drop_negative_zero', in the shape of 'vector<2x8xbf16>', got 'vector<2x8xf8E4M3FN>'}}
  %0 = cuda.quantize %v by %f ties_down : vector<2x8xbf16> by vector<2xf32> to vector<2x8xf8E4M3FN>
  return
}

// -----

func.func @quantize_c2(%v: vector<2x8xbf16>, %f: vector<3xf32>) {
  // expected-error @+1 {{quantize_c2: scales of 'vector<3xf32>' do not cover a tile of 'vector<2x8xbf16>'}}
  %0 = cuda.quantize %v by %f : vector<2x8xbf16> by vector<3xf32> to vector<2x8xf8E4M3FN>
  return
}

// -----

func.func @join_c1(%a: vector<2x8xbf16>, %b: vector<2x4xbf16>) {
  // expected-error @+1 {{join_c1: joining 'vector<2x8xbf16>' and 'vector<2x4xbf16>' does not give 'vector<4x8xbf16>'}}
  %0 = cuda.join %a, %b : vector<2x8xbf16>, vector<2x4xbf16> to vector<4x8xbf16>
  return
}

// -----

func.func @steps_c1(%a: vector<2x8xbf16>) {
  // expected-error @+1 {{steps_c1: expected vectors of 'vector<2x8xbf16>' from vector 1 on, got 'vector<2x8xbf16>'}}
  %0 = cuda.steps %a from 1 : vector<2x8xbf16> to vector<2x8xbf16>
  return
}

// -----

func.func @pad_c1(%a: vector<8xf8E4M3FN>) {
  // expected-error @+1 {{pad_c1: 'vector<8xf8E4M3FN>' cannot be padded to 'vector<4xf8E4M3FN>': expected the same element type and no fewer elements}}
  %0 = cuda.pad %a : vector<8xf8E4M3FN> to vector<4xf8E4M3FN>
  return
}

// -----

func.func @alternate_c1_vector(%a: vector<6xf32>) {
  // expected-error @+1 {{alternate_c1: expected vectors of half as many elements as those of 'vector<6xf32>', got 'vector<2xf32>'}}
  %0 = cuda.alternate %a : vector<6xf32> to vector<2xf32>
  return
}

// -----

func.func @transpose_c1(%a: vector<12xf8E4M3FN>) {
  // expected-error @+1 {{transpose_c1: 'rows' 5 does not divide 12 elements}}
  %0 = cuda.transpose %a rows 5 : vector<12xf8E4M3FN>
  return
}

// -----

func.func @transpose_c1_none(%a: vector<12xf8E4M3FN>) {
  // expected-error @+1 {{transpose_c1: 'rows' 0 does not divide 12 elements}}
  %0 = cuda.transpose %a rows 0 : vector<12xf8E4M3FN>
  return
}

// -----

func.func @alternate_c1(%a: vector<2x8xf32>) {
  // expected-error @+1 {{alternate_c1: expected vectors of half as many elements as those of 'vector<2x8xf32>', got 'vector<2x8xf32>'}}
  %0 = cuda.alternate %a : vector<2x8xf32> to vector<2x8xf32>
  return
}

// -----

func.func @constant_c1() {
  // expected-error @+1 {{constant_c1: 'i32' does not hold 4294967296}}
  %0 = cuda.constant "bytes" = 4294967296 : i32
  return
}

// -----

func.func @narrow_c1(%x: vector<8xi64>) {
  // expected-error @+1 {{narrow_c1: expected a scalar with 'saturate', got 'vector<8xi64>'}}
  %0 = cuda.narrow %x saturate : vector<8xi64> to vector<8xi32>
  return
}

// -----

func.func @store_runs_c1(%x: vector<1x4xbf16>, %m: memref<?xbf16>, %i: i32) {
  // expected-error @+1 {{store_runs_c1: expected values of 8 or 32 bits, got 'bf16'}}
  cuda.store_runs %x, %m[%i] from %i step 0 run 1 count 4 pad 0 stride %i : vector<1x4xbf16>, memref<?xbf16>, i32, i32, i32
  return
}

// -----

func.func @load_runs_c1(%m: memref<?xbf16>, %i: i32) {
  // expected-error @+1 {{load_runs_c1: expected values of 8 or 32 bits, got 'bf16'}}
  %0 = cuda.load_runs %m[%i] from %i step 0 run 1 stride %i : memref<?xbf16>, i32, i32, i32 -> vector<1x4xbf16>
  return
}

// -----

func.func @load_words_c1(%m: memref<?xbf16>, %i: i32) {
  // expected-error @+1 {{load_words_c1: expected vectors of a power of two of bytes, at least 4, got 96 bits}}
  %0 = cuda.load_words %m[%i] lanes 8 : memref<?xbf16>, i32 -> vector<1x6xbf16>
  return
}

// -----

func.func @load_words_c2(%m: memref<?xbf16>, %i: i32) {
  // expected-error @+1 {{load_words_c2: expected 'lanes' to be a power of two between 2 and 32, got 64}}
  %0 = cuda.load_words %m[%i] lanes 64 : memref<?xbf16>, i32 -> vector<1x8xbf16>
  return
}

// -----

func.func @load_words_c3(%m: memref<?xbf16>, %i: i32) {
  // expected-error @+1 {{load_words_c3: expected only 'cuda.realign' to take the words, which are not a row, got 'cuda.store'}}
  %0 = cuda.load_words %m[%i] lanes 16 : memref<?xbf16>, i32 -> vector<1x8xbf16>
  cuda.store %0, %m[%i] : vector<1x8xbf16>, memref<?xbf16>, i32
  return
}

// -----

func.func @realign_c1(%x: vector<2x2xi8>, %m: memref<?xi8>, %i: i32) {
  // expected-error @+1 {{realign_c1: expected vectors of a power of two of bytes, at least 4, got 16 bits}}
  %0 = cuda.realign %x of %m[%i] lanes 8 : vector<2x2xi8>, memref<?xi8>, i32
  return
}

// -----

func.func @realign_c2(%x: vector<2x8xi8>, %m: memref<?xi8>, %i: i32) {
  // expected-error @+1 {{realign_c2: expected 'lanes' to be a power of two between 4 and 32, got 2}}
  %0 = cuda.realign %x of %m[%i] lanes 2 : vector<2x8xi8>, memref<?xi8>, i32
  return
}

// -----

func.func @store_words_c1(%x: vector<1x4xf4E2M1FN>, %m: memref<?xi8>, %i: i32) {
  // expected-error @+1 {{store_words_c1: expected vectors of a power of two of bytes, at least 4, got 16 bits}}
  cuda.store_words %x, %m[%i] lanes 8 : vector<1x4xf4E2M1FN>, memref<?xi8>, i32
  return
}

// -----

func.func @store_words_c2(%x: vector<1x8xbf16>, %m: memref<?xbf16>, %i: i32) {
  // expected-error @+1 {{store_words_c2: expected 'lanes' to be a power of two between 2 and 32, got 12}}
  cuda.store_words %x, %m[%i] lanes 12 : vector<1x8xbf16>, memref<?xbf16>, i32
  return
}
