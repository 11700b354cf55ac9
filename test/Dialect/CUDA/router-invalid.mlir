// The clauses of the ops that routers are made of.

// RUN: dsv4-opt %s --split-input-file --verify-diagnostics

func.func @gather_c1_element(%m: memref<?xf32>, %at: index, %i: vector<4xi32>) {
  // expected-error @+1 {{gather_c1: expected elements of 'f32', got 'vector<4xbf16>'}}
  %0 = cuda.gather %m[%at] at %i below 8 : memref<?xf32>, index, vector<4xi32> -> vector<4xbf16>
  return
}

// -----

func.func @where_valid_c1(%x: vector<2x4xi32>, %i: vector<2x4xi32>) {
  // expected-error @+1 {{where_valid_c1: expected no 'otherwise' for values of i32, got 0xFF800000}}
  %0 = cuda.where_valid %x at %i below 256 otherwise 0xFF800000 : vector<2x4xi32>, vector<2x4xi32>
  return
}
