// Attributes that an op does not have, whose values would be ignored, and clauses out of their order.

// RUN: dsv4-opt %s --split-input-file --verify-diagnostics

func.func @topk(%s: tensor<4x64xf32>, %i: tensor<4x8xi32>) {
  // expected-error @+1 {{'dsv4.topk' op has no attribute 'sorted'; it has 'by', 'groups', 'keep', 'nan_first', 'next_n', 'order', 'page', 'ratio', 'shared', 'smallest', 'ties_high', 'token_experts'}}
  %0 = dsv4.topk %s outs(%i : tensor<4x8xi32>) {sorted} : tensor<4x64xf32>
  return
}

// -----

func.func @nearest(%s: tensor<4x64xf32>, %i: tensor<4x8xi32>, %o: tensor<4x8xf32>) {
  // expected-error @+1 {{'dsv4.route_weights' op has no attribute 'scal'; did you mean 'scale'?}}
  %0 = dsv4.route_weights %s[%i] outs(%o : tensor<4x8xf32>) {scal = 4.0 : f32} : tensor<4x64xf32>, tensor<4x8xi32>
  return
}

// -----

func.func @rope(%x: tensor<4x64xbf16>, %t: tensor<?x64xf32>, %p: tensor<4xi32>, %o: tensor<4x64xbf16>) {
  // expected-error @+1 {{'dsv4.rope' op has no attribute 'interleave'; did you mean 'interleaved'?}}
  %0 = dsv4.rope %x table(%t : tensor<?x64xf32>) positions(%p : tensor<4xi32>) outs(%o : tensor<4x64xbf16>) {interleave} : tensor<4x64xbf16>
  return
}

// -----

func.func @rms_norm(%x: tensor<4x64xbf16>, %o: tensor<4x64xbf16>) {
  // expected-error @+1 {{'dsv4.rms_norm' op has no attribute 'foo'; it has 'eps'}}
  %0 = dsv4.rms_norm %x outs(%o : tensor<4x64xbf16>) {eps = 1.0e-06, foo = 1} : tensor<4x64xbf16>
  return
}

// -----

// Those of other dialects are for others.
func.func @prefix(%x: tensor<4x64xbf16>, %o: tensor<4x64xbf16>) {
  %0 = dsv4.rms_norm %x outs(%o : tensor<4x64xbf16>) {eps = 1.0e-06, test.note = 1} : tensor<4x64xbf16>
  return
}

// -----

func.func @string(%s: tensor<4x64xf32>, %i: tensor<4x8xi32>) {
  // expected-error @+1 {{attribute 'order' failed to satisfy constraint: the order of the selected elements, written as in `order sorted`}}
  %0 = dsv4.topk %s outs(%i : tensor<4x8xi32>) {order = "sorted"} : tensor<4x64xf32>
  return
}

// -----

func.func @order(%s: tensor<4x64xf32>, %n: tensor<4xi32>, %i: tensor<4x8xi32>) {
  // expected-error @+1 {{expected 'outs', 'starts' is out of order, or given twice; the clauses are, in order: bias, other_bias, starts, lengths, ends, next_n, ratio, pages, page, requests, cu_seq_lens, page_starts, offsets, order, smallest, ties, nan, groups, keep, by, valid_rows, padding, shared, token_experts}}
  %0 = dsv4.topk %s ends(%n : tensor<4xi32>) starts(%n : tensor<4xi32>) outs(%i : tensor<4x8xi32>) : tensor<4x64xf32>
  return
}

// -----

func.func @none(%s: tensor<4x64xf32>, %i: tensor<4x8xi32>) {
  // expected-error @+1 {{expected 'outs', there is no clause 'sorted'; the clauses are, in order: bias, }}
  %0 = dsv4.topk %s sorted outs(%i : tensor<4x8xi32>) : tensor<4x64xf32>
  return
}

// -----

func.func @uniform(%s: tensor<4x64xf32>, %i: tensor<4x8xi32>, %o: tensor<4x8xf32>) {
  // expected-error @+1 {{expected 'outs', 'scale' is out of order, or given twice; the clauses are, in order: renormalize, scale, uniform, nan, shared, weight, of_sum}}
  %0 = dsv4.route_weights %s[%i] uniform scale 2.0 outs(%o : tensor<4x8xf32>) : tensor<4x64xf32>, tensor<4x8xi32>
  return
}

// -----

func.func @lookup(%t: tensor<9x8xi32>, %i: tensor<4xi32>, %o: tensor<4x9xi32>) {
  // expected-error @+1 {{expected 'outs', 'shared' is out of order, or given twice; the clauses are, in order: valid_rows, padding, shared, experts, token_experts}}
  %0 = dsv4.lookup %t[%i] experts 64 shared 1 outs(%o : tensor<4x9xi32>) : tensor<9x8xi32>, tensor<4xi32>
  return
}

// -----

func.func @compress(%v: tensor<?x64xf32>, %p: tensor<?x4xi32>, %b: tensor<4x64xf32>, %o: tensor<?x64xbf16>) {
  // expected-error @+1 {{expected 'outs', 'overlap' is out of order, or given twice; the clauses are, in order: window, overlap, algorithm, plan, bias, state, ring, biased, pages, score_state, score_pages}}
  %0 = dsv4.compress %v, %v window 4 plan(%p : tensor<?x4xi32>) overlap outs(%o : tensor<?x64xbf16>) : tensor<?x64xf32>, tensor<?x64xf32>
  return
}

// -----

func.func @compress_plan(%p: tensor<?xi32>, %r: tensor<?xi32>, %o: tensor<?x4xi32>) {
  // expected-error @+1 {{expected 'outs', 'positions' is out of order, or given twice; the clauses are, in order: window, algorithm, positions, lengths, requests, starts, entry_starts, from, to, slots, pages, page}}
  %0 = dsv4.compress_plan window 4 requests(%r : tensor<?xi32>) positions(%p : tensor<?xi32>) outs(%o : tensor<?x4xi32>)
  return
}

// -----

func.func @quantize(%x: tensor<?x640xbf16>, %d: tensor<?x640xf8E4M3FN>, %s: tensor<5x?xf32>) {
  // expected-error @+1 {{expected 'outs', 'columns' is out of order, or given twice; the clauses are, in order: columns, given, scales}}
  %0:2 = dsv4.quantize %x scales column_major columns [0, 640] outs(%d, %s : tensor<?x640xf8E4M3FN>, tensor<5x?xf32>)
      {format = #dsv4.format<f8E4M3FN, [<f32 per 128>]>, recipe = #dsv4.quantizer<>} : tensor<?x640xbf16>
  return
}

// -----

func.func @rope_clauses(%x: tensor<4x64xbf16>, %t: tensor<?x64xf32>, %p: tensor<4xi32>, %o: tensor<4x64xbf16>) {
  // expected-error @+1 {{expected 'outs', 'interleaved' is out of order, or given twice; the clauses are, in order: inverse, neox, table, interleaved, positions}}
  %0 = dsv4.rope %x table(%t : tensor<?x64xf32>) positions(%p : tensor<4xi32>) interleaved outs(%o : tensor<4x64xbf16>) : tensor<4x64xbf16>
  return
}

// -----

func.func @paged_append(%c: !dsv4.cache<64 x <bf16_1024>>, %i: tensor<?xi32>, %f: tensor<?x512xbf16>) {
  // expected-error @+1 {{expected 'fields', 'ring' is out of order, or given twice; the clauses are, in order: in_bytes, ring, unique, requests, pages, indptr, lengths, fields, columns}}
  dsv4.paged_append %c[%i] unique ring 64 fields(%f : tensor<?x512xbf16>) : !dsv4.cache<64 x <bf16_1024>>, tensor<?xi32>
  return
}

// -----

func.func @paged_gather(%c: !dsv4.cache<64 x <bf16_1024>>, %i: tensor<?xi32>, %n: tensor<1xi32>, %o: tensor<?x512xbf16>) {
  // expected-error @+1 {{'lengths' is out of order, or given twice; the clauses are, in order: in_bytes, pages, indptr, requests, lengths, cu_seq_lens, row_starts, seq_lens, gather_lens, seq_starts, offset, outs, fields, mask}}
  %0 = dsv4.paged_gather %c[%i] outs(%o : tensor<?x512xbf16>) lengths(%n : tensor<1xi32>) : !dsv4.cache<64 x <bf16_1024>>, tensor<?xi32>
  return
}
