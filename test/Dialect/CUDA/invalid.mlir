// One case for every numbered clause.

// RUN: dsv4-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{target_c1: expected an architecture from "sm_80" to "sm_200", with "a", "f" or nothing after it, such as "sm_90a", got "compute_90"}}
#target = #cuda.target<"compute_90">

// -----

// expected-error @+1 {{target_c1: expected an architecture from "sm_80" to "sm_200", with "a", "f" or nothing after it, such as "sm_90a", got "sm_90b"}}
#target = #cuda.target<"sm_90b">

// -----

// expected-error @+1 {{target_c1: expected an architecture from "sm_80" to "sm_200", with "a", "f" or nothing after it, such as "sm_90a", got "sm_090"}}
#target = #cuda.target<"sm_090">

// -----

// expected-error @+1 {{target_c1: expected an architecture from "sm_80" to "sm_200", with "a", "f" or nothing after it, such as "sm_90a", got "sm_a"}}
#target = #cuda.target<"sm_a">

// -----

// expected-error @+1 {{target_c1: expected an architecture from "sm_80" to "sm_200", with "a", "f" or nothing after it, such as "sm_90a", got "sm_75"}}
#target = #cuda.target<"sm_75">

// -----

// expected-error @+1 {{target_c1: expected an architecture from "sm_80" to "sm_200", with "a", "f" or nothing after it, such as "sm_90a", got "sm_900"}}
#target = #cuda.target<"sm_900">

// -----

func.func @load_c1(%m: memref<?xi8>, %i: i32) {
  // expected-error @+1 {{load_c1: a scalar has the element type of the base and no stride}}
  %0 = cuda.load %m[%i] : memref<?xi8>, i32 -> f32
  return
}

// -----

func.func @load_c1_stride(%m: memref<?xf32>, %i: i32) {
  // expected-error @+1 {{load_c1: a scalar has the element type of the base and no stride}}
  %0 = cuda.load %m[%i] stride 4 : memref<?xf32>, i32 -> f32
  return
}

// -----

func.func @load_c2(%m: memref<?xi8>, %i: i32) {
  // expected-error @+1 {{load_c2: a tile of 7 vectors needs a positive stride}}
  %0 = cuda.load %m[%i] : memref<?xi8>, i32 -> vector<7x8xf8E4M3FN>
  return
}

// -----

func.func @load_c4(%m: memref<?xf32>, %i: i32) -> vector<4xf32> {
  // expected-error @+1 {{load_c4: expected what is staged to be one vector of a power of two of bytes without a predicate, a policy or an alignment, of a row of a 'cuda.window_segment'}}
  %0 = cuda.load %m[%i] staged : memref<?xf32>, i32 -> vector<4xf32>
  return %0 : vector<4xf32>
}

// -----

func.func @load_c3(%m: memref<?xi8>, %i: i32) {
  // expected-error @+1 {{load_c3: expected an alignment that is a power of two, at most 2^30, and of a scalar at least its size, got 12}}
  %0 = cuda.load %m[%i] align 12 : memref<?xi8>, i32 -> vector<16xi8>
  return
}

// -----

func.func @load_c3_negative(%m: memref<?xi8>, %i: i32) {
  // expected-error @+1 {{load_c3: expected an alignment that is a power of two, at most 2^30, and of a scalar at least its size, got -8}}
  %0 = cuda.load %m[%i] align -8 : memref<?xi8>, i32 -> vector<16xi8>
  return
}

// -----

func.func @store_c1(%v: f32, %m: memref<?xi8>, %i: i32) {
  // expected-error @+1 {{store_c1: a scalar has the element type of the base and no stride}}
  cuda.store %v, %m[%i] : f32, memref<?xi8>, i32
  return
}

// -----

func.func @store_c2(%v: vector<2x8xbf16>, %m: memref<?xbf16>, %i: i32) {
  // expected-error @+1 {{store_c2: a tile of 2 vectors needs a positive stride}}
  cuda.store %v, %m[%i] stride -8 : vector<2x8xbf16>, memref<?xbf16>, i32
  return
}

// -----

func.func @store_c3(%v: vector<8xbf16>, %m: memref<?xbf16>, %i: i32) {
  // expected-error @+1 {{store_c3: expected an alignment that is a power of two, at most 2^30, and of a scalar at least its size, got 3}}
  cuda.store %v, %m[%i] align 3 : vector<8xbf16>, memref<?xbf16>, i32
  return
}

// -----

func.func @expand_c1(%v: vector<7xbf16>) {
  // expected-error @+1 {{expand_c1: element types differ}}
  %0 = cuda.expand %v : vector<7xbf16> to vector<7x8xf32>
  return
}

// -----

func.func @expand_c2_steps(%v: vector<3xf32>) {
  // expected-error @+1 {{expand_c2: scales of 'vector<3xf32>' do not cover a tile of 'vector<7x8xf32>'}}
  %0 = cuda.expand %v : vector<3xf32> to vector<7x8xf32>
  return
}

// -----

func.func @expand_c2_vectors(%v: vector<7x3xf32>) {
  // expected-error @+1 {{expand_c2: scales of 'vector<7x3xf32>' do not cover a tile of 'vector<7x8xf32>'}}
  %0 = cuda.expand %v : vector<7x3xf32> to vector<7x8xf32>
  return
}

// -----

func.func @expand_c2_other_steps(%v: vector<6x2xf32>) {
  // expected-error @+1 {{expand_c2: }}
  %0 = cuda.expand %v : vector<6x2xf32> to vector<7x8xf32>
  return
}

// -----

func.func @dequantize_c1_type(%v: vector<7x8xf8E4M3FN>, %f: vector<7xf32>) {
  // expected-error @+1 {{dequantize_c1: expected f32 or bf16 elements in the shape of 'vector<7x8xf8E4M3FN>', got 'vector<7x8xf16>'}}
  %0 = cuda.dequantize %v by %f : vector<7x8xf8E4M3FN> by vector<7xf32> to vector<7x8xf16>
  return
}

// -----

func.func @dequantize_c1_shape(%v: vector<7x8xf8E4M3FN>, %f: vector<7xf32>) {
  // expected-error @+1 {{dequantize_c1: expected f32 or bf16 elements in the shape of 'vector<7x8xf8E4M3FN>', got 'vector<7x4xf32>'}}
  %0 = cuda.dequantize %v by %f : vector<7x8xf8E4M3FN> by vector<7xf32> to vector<7x4xf32>
  return
}

// -----

func.func @dequantize_c2(%v: vector<7x8xf4E2M1FN>, %f: vector<7x3xf8E8M0FNU>) {
  // expected-error @+1 {{dequantize_c2: scales of 'vector<7x3xf8E8M0FNU>' do not cover a tile of 'vector<7x8xbf16>'}}
  %0 = cuda.dequantize %v by %f : vector<7x8xf4E2M1FN> by vector<7x3xf8E8M0FNU> to vector<7x8xbf16>
  return
}

// -----

func.func @load_rank(%m: memref<?x?xi8>, %i: i32) {
  // expected-error @+1 {{operand #0 must be 1D memref of any type values}}
  %0 = cuda.load %m[%i] : memref<?x?xi8>, i32 -> vector<16xi8>
  return
}

// -----

func.func @load_c5(%m: memref<?xi8>, %i: i32) {
  // expected-error @+1 {{load_c5: expected 'vectors' of a tile}}
  %0 = cuda.load %m[%i] vectors %i : i32 : memref<?xi8>, i32 -> vector<16xi8>
  return
}

// -----

func.func @load_c5_predicate(%m: memref<?xi8>, %i: i32, %p: i1) {
  // expected-error @+1 {{load_c5: expected 'vectors' of a tile, without a predicate}}
  %0 = cuda.load %m[%i] if %p vectors %i : i32 stride 64 : memref<?xi8>, i32 -> vector<2x16xi8>
  return
}

// -----

func.func @store_c4(%m: memref<?xi8>, %i: i32, %x: vector<16xi8>) {
  // expected-error @+1 {{store_c4: expected 'vectors' of a tile}}
  cuda.store %x, %m[%i] vectors %i : i32 : vector<16xi8>, memref<?xi8>, i32
  return
}

// -----

func.func @bounded_c1(%i: index) {
  // expected-error @+1 {{bounded_c1: expected 'max' not to be negative, got -1}}
  %0 = cuda.bounded %i to -1
  return
}

// -----

func.func @load_c3_scalar(%x: memref<?xi32>, %i: i32) {
  // expected-error @+1 {{load_c3: expected an alignment that is a power of two, at most 2^30, and of a scalar at least its size, got 1}}
  %v = cuda.load %x[%i] align 1 ordered : memref<?xi32>, i32 -> i32
  return
}

// -----

func.func @load_c1_nibble(%x: memref<?xf4E2M1FN>, %i: i32) {
  // expected-error @+1 {{load_c1: a scalar has whole bytes, got 'f4E2M1FN': expected a vector of it}}
  %v = cuda.load %x[%i] : memref<?xf4E2M1FN>, i32 -> f4E2M1FN
  return
}

// -----

func.func @load_c1_bool(%x: memref<?xi1>, %i: i32) {
  // expected-error @+1 {{load_c1: an i1 has no predicate and is not 'ordered': load an i8}}
  %v = cuda.load %x[%i] ordered : memref<?xi1>, i32 -> i1
  return
}

// -----

func.func @load_part_c1_tile(%x: memref<?xbf16>, %i: i32) {
  // expected-error @+1 {{load_part_c1: expected one vector, got 'vector<2x4xbf16>'}}
  %v = cuda.load_part %x[%i] of %i : memref<?xbf16>, i32, i32 -> vector<2x4xbf16>
  return
}

// -----

func.func @store_runs_c2(%x: memref<?xi8>, %v: vector<4xi8>, %i: i32) {
  // expected-error @+1 {{store_runs_c2: expected 'run' between 1 and 2^31 - 1, got 0}}
  cuda.store_runs %v, %x[%i] from %i step 0 run 0 count 4 pad 0 stride %i : vector<4xi8>, memref<?xi8>, i32, i32, i32
  return
}

// -----

func.func @load_runs_c2(%x: memref<?xi8>, %i: i32) {
  // expected-error @+1 {{load_runs_c2: expected 'step' between 0 and 2^31 - 1, got -1}}
  %v = cuda.load_runs %x[%i] from %i step -1 run 4 stride %i : memref<?xi8>, i32, i32, i32 -> vector<4xi8>
  return
}

// -----

func.func @realign_c2_load(%x: memref<?xbf16>, %i: i32) {
  %w = cuda.load_words %x[%i] lanes 8 : memref<?xbf16>, i32 -> vector<2x8xbf16>
  // expected-error @+1 {{realign_c2: expected the words of a 'cuda.load_words' of 16 lanes, got 8}}
  %v = cuda.realign %w of %x[%i] lanes 16 : vector<2x8xbf16>, memref<?xbf16>, i32
  return
}

// -----

func.func @expand_c1_bf16(%s: vector<2xbf16>) {
  // expected-error @+1 {{expand_c1: expected scales of f32, got 'vector<2xbf16>': convert them before}}
  %t = cuda.expand %s : vector<2xbf16> to vector<2x4xbf16>
  return
}

// -----

func.func @dequantize_c1_i8(%v: vector<2x4xi8>, %s: vector<2xf32>) {
  // expected-error @+1 {{dequantize_c1: expected values of floats of at most 16 bits, or of i4, got 'vector<2x4xi8>'}}
  %t = cuda.dequantize %v by %s : vector<2x4xi8> by vector<2xf32> to vector<2x4xf32>
  return
}

// -----

func.func @dequantize_c1_f32(%v: vector<2x4xf32>, %s: vector<2xf32>) {
  // expected-error @+1 {{dequantize_c1: expected values of floats of at most 16 bits, or of i4, got 'vector<2x4xf32>'}}
  %t = cuda.dequantize %v by %s : vector<2x4xf32> by vector<2xf32> to vector<2x4xf32>
  return
}

// -----

func.func @reduce_c3(%v: vector<2x4xbf16>) {
  // expected-error @+1 {{reduce_c3: expected 'sum' of f32, got 'vector<2x4xbf16>': convert it before}}
  %s = cuda.reduce sum %v per 8 : vector<2x4xbf16> to vector<1xf32>
  return
}

// -----

func.func @join_c1_i64(%v: vector<2xi64>) {
  // expected-error @+1 {{join_c1: expected elements of at most 32 bits, got 'vector<2xi64>'}}
  %j = cuda.join %v, %v : vector<2xi64>, vector<2xi64> to vector<4xi64>
  return
}

// -----

func.func @transpose_c1_i64(%v: vector<4xi64>) {
  // expected-error @+1 {{transpose_c1: expected elements of at most 32 bits, got 'vector<4xi64>'}}
  %t = cuda.transpose %v rows 2 : vector<4xi64>
  return
}
