// The clauses of logits of experts in row programs.

// RUN: dsv4-opt %s --split-input-file --verify-diagnostics

func.func @c1_hidden(%h: memref<?xf16>, %w: memref<?xbf16>, %n: index) {
  // expected-error @+1 {{router_logits_c1: expected 'hidden' of bf16 and 'weights' of bf16 or f32, got 'f16' and 'bf16'}}
  %0 = row.router_logits %h apart %n weights %w apart %n depth 64 : memref<?xf16>, memref<?xbf16> -> vector<8xf32>
  return
}

// -----

func.func @c1_weights(%h: memref<?xbf16>, %w: memref<?xi8>, %n: index) {
  // expected-error @+1 {{router_logits_c1: expected 'hidden' of bf16 and 'weights' of bf16 or f32, got 'bf16' and 'i8'}}
  %0 = row.router_logits %h apart %n weights %w apart %n depth 64 : memref<?xbf16>, memref<?xi8> -> vector<8xf32>
  return
}

// -----

func.func @c2_depth(%h: memref<?xbf16>, %w: memref<?xbf16>, %n: index) {
  // expected-error @+1 {{router_logits_c2: expected a 'depth' between 1 and 8192, at most 512 experts, and alignments that are powers of two, got 0, 8, 1 and 1}}
  %0 = row.router_logits %h apart %n weights %w apart %n depth 0 : memref<?xbf16>, memref<?xbf16> -> vector<8xf32>
  return
}

// -----

func.func @c2_experts(%h: memref<?xbf16>, %w: memref<?xbf16>, %n: index) {
  // expected-error @+1 {{router_logits_c2: expected a 'depth' between 1 and 8192, at most 512 experts, and alignments that are powers of two, got 64, 513, 1 and 1}}
  %0 = row.router_logits %h apart %n weights %w apart %n depth 64 : memref<?xbf16>, memref<?xbf16> -> vector<513xf32>
  return
}

// -----

func.func @c2_align(%h: memref<?xbf16>, %w: memref<?xbf16>, %n: index) {
  // expected-error @+1 {{router_logits_c2: expected a 'depth' between 1 and 8192, at most 512 experts, and alignments that are powers of two, got 64, 8, 16 and 12}}
  %0 = row.router_logits %h apart %n weights %w apart %n depth 64 hidden_align 16 weight_align 12 : memref<?xbf16>, memref<?xbf16> -> vector<8xf32>
  return
}
