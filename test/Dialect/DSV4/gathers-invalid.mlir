// Gathers of stored fields and of ragged requests that are refused, one function per clause.

// RUN: dsv4-opt %s --split-input-file --verify-diagnostics

!keys = !dsv4.cache<64 x <index_fp8_132>>
func.func @paged_gather_c1_none(%c: !keys, %t: tensor<?x?xi32>, %o: tensor<?x128xf32>) {
  // expected-error @+1 {{paged_gather_c1: expected one of 'indices', 'cu_seq_lens' and 'seq_lens', which say what the rows are, got none}}
  %0 = dsv4.paged_gather %c pages(%t : tensor<?x?xi32>) outs(%o : tensor<?x128xf32>) : !keys
  return
}

// -----

!keys = !dsv4.cache<64 x <index_fp8_132>>
func.func @paged_gather_c1_both(%c: !keys, %t: tensor<?x?xi32>, %n: tensor<?xi32>, %o: tensor<?x128xf32>) {
  // expected-error @+1 {{paged_gather_c1: expected one of 'indices', 'cu_seq_lens' and 'seq_lens', which say what the rows are, got the last two}}
  %0 = dsv4.paged_gather %c pages(%t : tensor<?x?xi32>) cu_seq_lens(%n : tensor<?xi32>) seq_lens(%n : tensor<?xi32>)
      outs(%o : tensor<?x128xf32>) : !keys
  return
}

// -----

!keys = !dsv4.cache<64 x <index_fp8_132>>
func.func @paged_gather_c2_flat(%c: !keys, %t: tensor<?x?xi32>, %n: tensor<?xi32>, %o: tensor<?x?x128xf32>) {
  // expected-error @+1 {{paged_gather_c2: expected 'outs' of rows [rows] and a last extent of 128, got 'tensor<?x?x128xf32>'}}
  %0 = dsv4.paged_gather %c pages(%t : tensor<?x?xi32>) cu_seq_lens(%n : tensor<?xi32>) outs(%o : tensor<?x?x128xf32>) : !keys
  return
}

// -----

!keys = !dsv4.cache<64 x <index_fp8_132>>
func.func @paged_gather_c2_requests(%c: !keys, %t: tensor<?x?xi32>, %n: tensor<?xi32>, %o: tensor<?x128xf32>) {
  // expected-error @+1 {{paged_gather_c2: expected 'outs' of rows [requests, rows] and a last extent of 128, got 'tensor<?x128xf32>'}}
  %0 = dsv4.paged_gather %c pages(%t : tensor<?x?xi32>) seq_lens(%n : tensor<?xi32>) outs(%o : tensor<?x128xf32>) : !keys
  return
}

// -----

!keys = !dsv4.cache<64 x <index_fp8_132>>
func.func @paged_gather_c3_ragged(%c: !keys, %n: tensor<?xi32>, %o: tensor<?x128xf32>) {
  // expected-error @+1 {{paged_gather_c3: expected 'pages' of shape [requests, pages], or 'indptr' beside a list of pages, got none}}
  %0 = dsv4.paged_gather %c cu_seq_lens(%n : tensor<?xi32>) outs(%o : tensor<?x128xf32>) : !keys
  return
}

// -----

!keys = !dsv4.cache<64 x <index_fp8_132>>
func.func @paged_gather_c3_ragged_list(%c: !keys, %n: tensor<?xi32>, %o: tensor<?x128xf32>) {
  // expected-error @+1 {{paged_gather_c3: expected 'pages' of shape [requests, pages], or 'indptr' beside a list of pages, got 'tensor<?xi32>'}}
  %0 = dsv4.paged_gather %c pages(%n : tensor<?xi32>) cu_seq_lens(%n : tensor<?xi32>) outs(%o : tensor<?x128xf32>) : !keys
  return
}

// -----

!keys = !dsv4.cache<64 x <index_fp8_132>>
func.func @paged_gather_c3_ragged_requests(%c: !keys, %t: tensor<4x?xi32>, %n: tensor<5xi32>, %o: tensor<5x?x128xf32>) {
  // expected-error @+1 {{paged_gather_c3: expected 'pages' of shape [requests, pages], or 'indptr' beside a list of pages, got 'tensor<4x?xi32>'}}
  %0 = dsv4.paged_gather %c pages(%t : tensor<4x?xi32>) seq_lens(%n : tensor<5xi32>) outs(%o : tensor<5x?x128xf32>) : !keys
  return
}

// -----

!keys = !dsv4.cache<64 x <index_fp8_132>>
func.func @paged_gather_c4_ragged(%c: !keys, %t: tensor<?x?xi32>, %n: tensor<?xi32>, %r: tensor<9xi32>, %o: tensor<8x128xf32>) {
  // expected-error @+1 {{paged_gather_c4: expected 'requests' of shape [rows] beside 'cu_seq_lens' or 'row_starts', got 'tensor<9xi32>'}}
  %0 = dsv4.paged_gather %c pages(%t : tensor<?x?xi32>) requests(%r : tensor<9xi32>) cu_seq_lens(%n : tensor<?xi32>)
      outs(%o : tensor<8x128xf32>) : !keys
  return
}

// -----

!keys = !dsv4.cache<64 x <index_fp8_132>>
func.func @paged_gather_c4_rows_of_requests(%c: !keys, %t: tensor<?x?xi32>, %n: tensor<?xi32>, %o: tensor<?x?x128xf32>) {
  // expected-error @+1 {{paged_gather_c4: expected 'requests' of shape [rows] beside 'cu_seq_lens' or 'row_starts', got 'tensor<?xi32>'}}
  %0 = dsv4.paged_gather %c pages(%t : tensor<?x?xi32>) requests(%n : tensor<?xi32>) seq_lens(%n : tensor<?xi32>)
      outs(%o : tensor<?x?x128xf32>) : !keys
  return
}

// -----

!keys = !dsv4.cache<64 x <index_fp8_132>>
func.func @paged_gather_c4_one_per_token(%c: !keys, %t: tensor<?x?xi32>, %i: tensor<8xi32>, %r: tensor<9xi32>, %o: tensor<8x128xf32>) {
  // expected-error @+1 {{paged_gather_c4: expected 'requests' of shape [tokens] beside a page table of rank 2, got 'tensor<9xi32>'}}
  %0 = dsv4.paged_gather %c[%i] pages(%t : tensor<?x?xi32>) requests(%r : tensor<9xi32>) outs(%o : tensor<8x128xf32>) : !keys, tensor<8xi32>
  return
}

// -----

!keys = !dsv4.cache<64 x <index_fp8_132>>
func.func @paged_gather_c5_one_per_token(%c: !keys, %t: tensor<?x?xi32>, %i: tensor<8xi32>, %l: tensor<i32>, %o: tensor<8x128xf32>) {
  // expected-error @+1 {{paged_gather_c5: expected 'lengths' of shape [8], one per token, got 'tensor<i32>'; lengths of requests are 'lengths per request'}}
  %0 = dsv4.paged_gather %c[%i] pages(%t : tensor<?x?xi32>) requests(%i : tensor<8xi32>) lengths(%l : tensor<i32>)
      outs(%o : tensor<8x128xf32>) : !keys, tensor<8xi32>
  return
}

// -----

!keys = !dsv4.cache<64 x <index_fp8_132>>
func.func @paged_gather_c5_ragged(%c: !keys, %t: tensor<?x?xi32>, %n: tensor<?xi32>, %o: tensor<?x128xf32>) {
  // expected-error @+1 {{paged_gather_c5: expected no 'lengths': those of the requests follow from the operands that say which rows they have}}
  %0 = dsv4.paged_gather %c pages(%t : tensor<?x?xi32>) lengths(%n : tensor<?xi32>) cu_seq_lens(%n : tensor<?xi32>)
      outs(%o : tensor<?x128xf32>) : !keys
  return
}

// -----

!keys = !dsv4.cache<64 x <index_fp8_132>>
func.func @paged_gather_c6_ragged(%c: !keys, %t: tensor<?x?xi32>, %n: tensor<?xi32>, %o: tensor<8x128xf32>, %m: tensor<9xi1>) {
  // expected-error @+1 {{paged_gather_c6: expected 'mask' of shape [8], got 'tensor<9xi1>'}}
  %0:2 = dsv4.paged_gather %c pages(%t : tensor<?x?xi32>) cu_seq_lens(%n : tensor<?xi32>) outs(%o : tensor<8x128xf32>)
      mask(%m : tensor<9xi1>) : !keys
  return
}

// -----

!keys = !dsv4.cache<64 x <index_fp8_132>>
func.func @paged_gather_c7_none(%c: !keys, %i: tensor<?xi32>) {
  // expected-error @+1 {{paged_gather_c7: expected one of 'outs', for decoded rows, and 'fields', for stored ones, got none}}
  dsv4.paged_gather %c[%i] : !keys, tensor<?xi32>
  return
}

// -----

!keys = !dsv4.cache<64 x <index_fp8_132>>
func.func @paged_gather_c7_both(%c: !keys, %i: tensor<?xi32>, %o: tensor<?x128xf32>, %k: tensor<?x128xf8E4M3FN>, %s: tensor<?xf32>) {
  // expected-error @+1 {{paged_gather_c7: expected one of 'outs', for decoded rows, and 'fields', for stored ones, got both}}
  %0:3 = dsv4.paged_gather %c[%i] outs(%o : tensor<?x128xf32>) fields(%k, %s : tensor<?x128xf8E4M3FN>, tensor<?xf32>) : !keys, tensor<?xi32>
  return
}

// -----

!keys = !dsv4.cache<64 x <index_fp8_132>>
func.func @paged_gather_c7_number(%c: !keys, %i: tensor<?xi32>, %k: tensor<?x128xf8E4M3FN>) {
  // expected-error @+1 {{paged_gather_c7: expected 2 'fields', one for every field of the record that is not 'per tensor', got 1}}
  %0 = dsv4.paged_gather %c[%i] fields(%k : tensor<?x128xf8E4M3FN>) : !keys, tensor<?xi32>
  return
}

// -----

!keys = !dsv4.cache<64 x <index_fp8_132>>
func.func @paged_gather_c7_type(%c: !keys, %i: tensor<?xi32>, %k: tensor<?x128xi8>, %s: tensor<?xf32>) {
  // expected-error @+1 {{paged_gather_c7: expected field 'key' of 'f8E4M3FN' with the shape of 'indices' and a last extent of 128, got 'tensor<?x128xi8>'}}
  %0:2 = dsv4.paged_gather %c[%i] fields(%k, %s : tensor<?x128xi8>, tensor<?xf32>) : !keys, tensor<?xi32>
  return
}

// -----

!keys = !dsv4.cache<64 x <index_fp8_132>>
func.func @paged_gather_c7_extent(%c: !keys, %i: tensor<?xi32>, %k: tensor<?x128xf8E4M3FN>, %s: tensor<?x2xf32>) {
  // expected-error @+1 {{paged_gather_c7: expected field 'key_scale' of 'f32' with the shape of 'indices' and a last extent of 1, got 'tensor<?x2xf32>'}}
  %0:2 = dsv4.paged_gather %c[%i] fields(%k, %s : tensor<?x128xf8E4M3FN>, tensor<?x2xf32>) : !keys, tensor<?xi32>
  return
}

// -----

!one = !dsv4.cache<4 x <[<"a" : 1 x bf16 in row>]>>
func.func @paged_gather_c7_data(%c: !one, %i: tensor<?xi32>, %k: tensor<?xbf16>) {
  // expected-error @+1 {{paged_gather_c7: expected field 'a' of 'bf16' with the shape of 'indices' and a last extent of 1, got 'tensor<?xbf16>'}}
  %0 = dsv4.paged_gather %c[%i] fields(%k : tensor<?xbf16>) : !one, tensor<?xi32>
  return
}

// -----

!keys = !dsv4.cache<64 x <index_fp8_132>>
func.func @paged_gather_c7_rows(%c: !keys, %t: tensor<?x?xi32>, %n: tensor<?xi32>, %k: tensor<8x128xf8E4M3FN>, %s: tensor<9xf32>) {
  // expected-error @+1 {{paged_gather_c7: expected field 'key_scale' of 'f32' with axes [rows] and a last extent of 1, got 'tensor<9xf32>'}}
  %0:2 = dsv4.paged_gather %c pages(%t : tensor<?x?xi32>) cu_seq_lens(%n : tensor<?xi32>)
      fields(%k, %s : tensor<8x128xf8E4M3FN>, tensor<9xf32>) : !keys
  return
}

// -----

!keys = !dsv4.cache<64 x <index_fp8_132>>
func.func @paged_gather_c8(%c: !keys, %t: tensor<?x?xi32>, %n: tensor<?xi32>, %o: tensor<?x128xf32>) {
  // expected-error @+1 {{paged_gather_c8: expected 'indptr' of shape [requests + 1] beside 'pages' of rank 1, got 'tensor<?xi32>'}}
  %0 = dsv4.paged_gather %c pages(%t : tensor<?x?xi32>) indptr(%n : tensor<?xi32>) cu_seq_lens(%n : tensor<?xi32>)
      outs(%o : tensor<?x128xf32>) : !keys
  return
}

// -----

!keys = !dsv4.cache<64 x <index_fp8_132>>
func.func @paged_gather_c8_alone(%c: !keys, %i: tensor<?xi32>, %n: tensor<?xi32>, %o: tensor<?x128xf32>) {
  // expected-error @+1 {{paged_gather_c8: expected 'indptr' of shape [requests + 1] beside 'pages' of rank 1, got 'tensor<?xi32>'}}
  %0 = dsv4.paged_gather %c[%i] indptr(%n : tensor<?xi32>) outs(%o : tensor<?x128xf32>) : !keys, tensor<?xi32>
  return
}

// -----

!keys = !dsv4.cache<64 x <index_fp8_132>>
func.func @paged_gather_c8_requests(%c: !keys, %i: tensor<?xi32>, %n: tensor<?xi32>, %o: tensor<?x128xf32>) {
  // expected-error @+1 {{paged_gather_c8: 'indptr' needs the request of each index: give 'requests', or 'indices' of shape [tokens, k]}}
  %0 = dsv4.paged_gather %c[%i] pages(%n : tensor<?xi32>) indptr(%n : tensor<?xi32>) outs(%o : tensor<?x128xf32>) : !keys, tensor<?xi32>
  return
}

// -----

!keys = !dsv4.cache<64 x <index_fp8_132>>
func.func @paged_gather_c9_indices(%c: !keys, %i: tensor<?xi32>, %n: tensor<?xi32>, %o: tensor<?x128xf32>) {
  // expected-error @+1 {{paged_gather_c9: has 'indices', so expected no 'seq_lens'}}
  %0 = dsv4.paged_gather %c[%i] seq_lens(%n : tensor<?xi32>) outs(%o : tensor<?x128xf32>) : !keys, tensor<?xi32>
  return
}

// -----

!keys = !dsv4.cache<64 x <index_fp8_132>>
func.func @paged_gather_c9_rank(%c: !keys, %t: tensor<?x?xi32>, %o: tensor<?x128xf32>) {
  // expected-error @+1 {{paged_gather_c9: expected 'cu_seq_lens' of rank 1, an element per request, got 'tensor<?x?xi32>'}}
  %0 = dsv4.paged_gather %c pages(%t : tensor<?x?xi32>) cu_seq_lens(%t : tensor<?x?xi32>) outs(%o : tensor<?x128xf32>) : !keys
  return
}

// -----

!keys = !dsv4.cache<64 x <index_fp8_132>>
func.func @paged_gather_c9_row_starts(%c: !keys, %t: tensor<?x?xi32>, %n: tensor<?xi32>, %o: tensor<?x128xf32>) {
  // expected-error @+1 {{paged_gather_c9: 'row_starts' need 'seq_lens'}}
  %0 = dsv4.paged_gather %c pages(%t : tensor<?x?xi32>) cu_seq_lens(%n : tensor<?xi32>) row_starts(%n : tensor<?xi32>)
      outs(%o : tensor<?x128xf32>) : !keys
  return
}

// -----

!keys = !dsv4.cache<64 x <index_fp8_132>>
func.func @paged_gather_c9_gather_lens(%c: !keys, %t: tensor<?x?xi32>, %n: tensor<?xi32>, %o: tensor<?x128xf32>) {
  // expected-error @+1 {{paged_gather_c9: 'gather_lens' need 'seq_lens'}}
  %0 = dsv4.paged_gather %c pages(%t : tensor<?x?xi32>) cu_seq_lens(%n : tensor<?xi32>) gather_lens(%n : tensor<?xi32>)
      outs(%o : tensor<?x128xf32>) : !keys
  return
}

// -----

!keys = !dsv4.cache<64 x <index_fp8_132>>
func.func @paged_gather_c9_seq_starts(%c: !keys, %t: tensor<?x?xi32>, %n: tensor<?xi32>, %o: tensor<?x?x128xf32>) {
  // expected-error @+1 {{paged_gather_c9: 'seq_starts' need 'cu_seq_lens'}}
  %0 = dsv4.paged_gather %c pages(%t : tensor<?x?xi32>) seq_lens(%n : tensor<?xi32>) seq_starts(%n : tensor<?xi32>)
      outs(%o : tensor<?x?x128xf32>) : !keys
  return
}

// -----

!keys = !dsv4.cache<64 x <index_fp8_132>>
func.func @paged_gather_c9_offset(%c: !keys, %t: tensor<?x?xi32>, %n: tensor<?xi32>, %o: tensor<?x128xf32>) {
  // expected-error @+1 {{paged_gather_c9: 'offset' is for rows [requests, rows], of 'seq_lens' alone}}
  %0 = dsv4.paged_gather %c pages(%t : tensor<?x?xi32>) cu_seq_lens(%n : tensor<?xi32>) offset 4 outs(%o : tensor<?x128xf32>) : !keys
  return
}

// -----

!keys = !dsv4.cache<64 x <index_fp8_132>>
func.func @paged_gather_c9_negative(%c: !keys, %t: tensor<?x?xi32>, %n: tensor<?xi32>, %o: tensor<?x?x128xf32>) {
  // expected-error @+1 {{paged_gather_c9: expected an 'offset' between 0 and 2^31 - 1, got -1}}
  %0 = dsv4.paged_gather %c pages(%t : tensor<?x?xi32>) seq_lens(%n : tensor<?xi32>) offset -1 outs(%o : tensor<?x?x128xf32>) : !keys
  return
}

// -----

!keys = !dsv4.cache<64 x <index_fp8_132>>
func.func @paged_gather_c9_offset_rows(%c: !keys, %t: tensor<?x?xi32>, %n: tensor<?xi32>, %a: tensor<1xi64>, %o: tensor<?x128xf32>) {
  // expected-error @+1 {{paged_gather_c9: 'offset' is for rows [requests, rows], of 'seq_lens' alone}}
  %0 = dsv4.paged_gather %c pages(%t : tensor<?x?xi32>) cu_seq_lens(%n : tensor<?xi32>) offset(%a : tensor<1xi64>)
      outs(%o : tensor<?x128xf32>) : !keys
  return
}

// -----

!keys = !dsv4.cache<64 x <index_fp8_132>>
func.func @paged_gather_c9_offset_shape(%c: !keys, %t: tensor<?x?xi32>, %n: tensor<?xi32>, %a: tensor<2xi32>, %o: tensor<?x?x128xf32>) {
  // expected-error @+1 {{paged_gather_c9: expected 'offset' of shape [1], got 'tensor<2xi32>'}}
  %0 = dsv4.paged_gather %c pages(%t : tensor<?x?xi32>) seq_lens(%n : tensor<?xi32>) offset(%a : tensor<2xi32>)
      outs(%o : tensor<?x?x128xf32>) : !keys
  return
}

// -----

!keys = !dsv4.cache<64 x <index_fp8_132>>
func.func @paged_gather_c9_offset_type(%c: !keys, %t: tensor<?x?xi32>, %n: tensor<?xi32>, %a: tensor<1xf32>, %o: tensor<?x?x128xf32>) {
  // expected-error @+1 {{operand #3 must be 'offset', a tensor of 32-bit signless integer or 64-bit signless integer values, but got 'tensor<1xf32>'}}
  %0 = dsv4.paged_gather %c pages(%t : tensor<?x?xi32>) seq_lens(%n : tensor<?xi32>) offset(%a : tensor<1xf32>)
      outs(%o : tensor<?x?x128xf32>) : !keys
  return
}

// -----

!keys = !dsv4.cache<64 x <index_fp8_132>>
func.func @paged_gather_c9_offset_both(%c: !keys, %t: tensor<?x?xi32>, %n: tensor<?xi32>, %a: tensor<1xi32>, %o: tensor<?x?x128xf32>) {
  // expected-error @+1 {{paged_gather_c9: expected one 'offset', a number or an operand, got both}}
  %0 = dsv4.paged_gather %c pages(%t : tensor<?x?xi32>) seq_lens(%n : tensor<?xi32>) offset(%a : tensor<1xi32>)
      outs(%o : tensor<?x?x128xf32>) {offset = 4} : !keys
  return
}

// -----

!keys = !dsv4.cache<64 x <index_fp8_132>>
func.func @paged_gather_c10_ragged(%c: !keys, %t: tensor<?x?xi32>, %n: tensor<?xi32>, %o: tensor<?x128xf32>) {
  // expected-error @+1 {{paged_gather_c10: 'in_bytes' says what 'indices' count, which are not given}}
  %0 = dsv4.paged_gather %c in_bytes pages(%t : tensor<?x?xi32>) cu_seq_lens(%n : tensor<?xi32>)
      outs(%o : tensor<?x128xf32>) : !keys
  return
}

// -----

!keys = !dsv4.cache<64 x <index_fp8_132>>
func.func @paged_gather_c10_pages(%c: !keys, %i: tensor<?xi64>, %t: tensor<?xi32>, %o: tensor<?x128xf32>) {
  // expected-error @+1 {{paged_gather_c10: indices 'in_bytes' are no positions of requests: expected no 'pages' and no 'lengths'}}
  %0 = dsv4.paged_gather %c[%i] in_bytes pages(%t : tensor<?xi32>) outs(%o : tensor<?x128xf32>) : !keys, tensor<?xi64>
  return
}

// -----

!keys = !dsv4.cache<64 x <index_fp8_132>>
func.func @paged_gather_c10_lengths(%c: !keys, %i: tensor<?xi64>, %n: tensor<i32>, %o: tensor<?x128xf32>) {
  // expected-error @+1 {{paged_gather_c10: indices 'in_bytes' are no positions of requests: expected no 'pages' and no 'lengths'}}
  %0 = dsv4.paged_gather %c[%i] in_bytes lengths(%n : tensor<i32>) outs(%o : tensor<?x128xf32>) : !keys, tensor<?xi64>
  return
}
