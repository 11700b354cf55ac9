// The clauses of logits of experts in row programs.

// RUN: dsv4-opt %s --split-input-file --verify-diagnostics

func.func @c1_hidden(%h: memref<?xf16>, %w: memref<?xbf16>, %n: index) {
  // expected-error @+1 {{op operand #0 must be 1D memref of bfloat16 type values, but got 'memref<?xf16>'}}
  %0 = row.router_logits %h apart %n weights %w apart %n depth 64 : memref<?xf16>, memref<?xbf16> -> vector<8xf32>
  return
}

// -----

func.func @c1_weights(%h: memref<?xbf16>, %w: memref<?xi8>, %n: index) {
  // expected-error @+1 {{op operand #2 must be 1D memref of bfloat16 type or 32-bit float values, but got 'memref<?xi8>'}}
  %0 = row.router_logits %h apart %n weights %w apart %n depth 64 : memref<?xbf16>, memref<?xi8> -> vector<8xf32>
  return
}

// -----

func.func @c2_depth(%h: memref<?xbf16>, %w: memref<?xbf16>, %n: index) {
  // expected-error @+1 {{router_logits_c1: expected a 'depth' between 1 and 8192, got 0}}
  %0 = row.router_logits %h apart %n weights %w apart %n depth 0 : memref<?xbf16>, memref<?xbf16> -> vector<8xf32>
  return
}

// -----

func.func @c2_experts(%h: memref<?xbf16>, %w: memref<?xbf16>, %n: index) {
  // expected-error @+1 {{router_logits_c2: expected at most 512 experts, got 513}}
  %0 = row.router_logits %h apart %n weights %w apart %n depth 64 : memref<?xbf16>, memref<?xbf16> -> vector<513xf32>
  return
}

// -----

func.func @c2_align(%h: memref<?xbf16>, %w: memref<?xbf16>, %n: index) {
  // expected-error @+1 {{router_logits_c3: expected 'weight_align' to be a power of two, got 12}}
  %0 = row.router_logits %h apart %n weights %w apart %n depth 64 hidden_align 16 weight_align 12 : memref<?xbf16>, memref<?xbf16> -> vector<8xf32>
  return
}
