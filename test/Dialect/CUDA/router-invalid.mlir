// The clauses of the ops that routers are made of.

// RUN: dsv4-opt %s --split-input-file --verify-diagnostics

func.func @gather_c1_element(%m: memref<?xf32>, %at: index, %i: vector<4xi32>) {
  // expected-error @+1 {{gather_c1: expected elements of 'f32', got 'vector<4xbf16>'}}
  %0 = cuda.gather %m[%at] at %i below 8 : memref<?xf32>, index, vector<4xi32> -> vector<4xbf16>
  return
}
