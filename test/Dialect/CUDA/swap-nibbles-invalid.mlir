// The description of the op asks for 4-bit elements and an even number of them.

// RUN: dsv4-opt %s --split-input-file --verify-diagnostics

func.func @swap_nibbles(%v: vector<4x8xf8E4M3FN>) {
  // expected-error @+1 {{'cuda.swap_nibbles' op}}
  %0 = cuda.swap_nibbles %v : vector<4x8xf8E4M3FN>
  return
}

// -----

func.func @swap_nibbles_odd(%v: vector<7xf4E2M1FN>) {
  // expected-error @+1 {{'cuda.swap_nibbles' op}}
  %0 = cuda.swap_nibbles %v : vector<7xf4E2M1FN>
  return
}
