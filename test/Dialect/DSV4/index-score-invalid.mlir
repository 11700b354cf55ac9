// One case for every way to violate a clause of index_score, and of schedules that score.

// RUN: dsv4-opt %s --split-input-file --verify-diagnostics

func.func @c1_rank(%q: tensor<?x64xf8E4M3FN>, %w: tensor<?x4xf32>, %o: tensor<?x99xf32>, %k: tensor<?x64xf8E4M3FN>, %s: tensor<?xf32>) {
  // expected-error @+1 {{index_score_c1: expected 'queries' of shape [rows, heads, dim] with 1 to 128 heads and a dim of 32 to 256, a multiple of 32, got 'tensor<?x64xf8E4M3FN>'}}
  %0 = dsv4.index_score %q weights(%w : tensor<?x4xf32>) keys(%k : tensor<?x64xf8E4M3FN>) key_scales(%s : tensor<?xf32>) outs(%o : tensor<?x99xf32>) : tensor<?x64xf8E4M3FN>
  return
}

// -----

func.func @c1_heads(%q: tensor<?x129x64xf8E4M3FN>, %w: tensor<?x4xf32>, %o: tensor<?x99xf32>, %k: tensor<?x64xf8E4M3FN>, %s: tensor<?xf32>) {
  // expected-error @+1 {{index_score_c1: expected 'queries' of shape [rows, heads, dim] with 1 to 128 heads and a dim of 32 to 256, a multiple of 32, got 'tensor<?x129x64xf8E4M3FN>'}}
  %0 = dsv4.index_score %q weights(%w : tensor<?x4xf32>) keys(%k : tensor<?x64xf8E4M3FN>) key_scales(%s : tensor<?xf32>) outs(%o : tensor<?x99xf32>) : tensor<?x129x64xf8E4M3FN>
  return
}

// -----

func.func @c1_any_heads(%q: tensor<?x?x64xf8E4M3FN>, %w: tensor<?x4xf32>, %o: tensor<?x99xf32>, %k: tensor<?x64xf8E4M3FN>, %s: tensor<?xf32>) {
  // expected-error @+1 {{index_score_c1: expected 'queries' of shape [rows, heads, dim] with 1 to 128 heads and a dim of 32 to 256, a multiple of 32, got 'tensor<?x?x64xf8E4M3FN>'}}
  %0 = dsv4.index_score %q weights(%w : tensor<?x4xf32>) keys(%k : tensor<?x64xf8E4M3FN>) key_scales(%s : tensor<?xf32>) outs(%o : tensor<?x99xf32>) : tensor<?x?x64xf8E4M3FN>
  return
}

// -----

func.func @c1_dim(%q: tensor<?x4x80xf8E4M3FN>, %w: tensor<?x4xf32>, %o: tensor<?x99xf32>, %k: tensor<?x64xf8E4M3FN>, %s: tensor<?xf32>) {
  // expected-error @+1 {{index_score_c1: expected 'queries' of shape [rows, heads, dim] with 1 to 128 heads and a dim of 32 to 256, a multiple of 32, got 'tensor<?x4x80xf8E4M3FN>'}}
  %0 = dsv4.index_score %q weights(%w : tensor<?x4xf32>) keys(%k : tensor<?x64xf8E4M3FN>) key_scales(%s : tensor<?xf32>) outs(%o : tensor<?x99xf32>) : tensor<?x4x80xf8E4M3FN>
  return
}

// -----

func.func @c2_missing(%q: tensor<?x4x64xf4E2M1FN>, %w: tensor<?x4xf32>, %o: tensor<?x99xf32>, %k: tensor<?x64xf8E4M3FN>, %s: tensor<?xf32>) {
  // expected-error @+1 {{index_score_c2: expected 'scales' with 'queries' of f4E2M1FN, and with no others, got 'queries' 'tensor<?x4x64xf4E2M1FN>'}}
  %0 = dsv4.index_score %q weights(%w : tensor<?x4xf32>) keys(%k : tensor<?x64xf8E4M3FN>) key_scales(%s : tensor<?xf32>) outs(%o : tensor<?x99xf32>) : tensor<?x4x64xf4E2M1FN>
  return
}

// -----

func.func @c2_given(%q: tensor<?x4x64xf8E4M3FN>, %w: tensor<?x4xf32>, %o: tensor<?x99xf32>, %qs: tensor<?x4x2xf8E8M0FNU>, %k: tensor<?x64xf8E4M3FN>, %s: tensor<?xf32>) {
  // expected-error @+1 {{index_score_c2: expected 'scales' with 'queries' of f4E2M1FN, and with no others, got 'queries' 'tensor<?x4x64xf8E4M3FN>'}}
  %0 = dsv4.index_score %q scales(%qs : tensor<?x4x2xf8E8M0FNU>) weights(%w : tensor<?x4xf32>) keys(%k : tensor<?x64xf8E4M3FN>) key_scales(%s : tensor<?xf32>) outs(%o : tensor<?x99xf32>) : tensor<?x4x64xf8E4M3FN>
  return
}

// -----

func.func @c2_shape(%q: tensor<?x4x64xf4E2M1FN>, %w: tensor<?x4xf32>, %o: tensor<?x99xf32>, %qs: tensor<?x4x4xf8E8M0FNU>, %k: tensor<?x64xf8E4M3FN>, %s: tensor<?xf32>) {
  // expected-error @+1 {{index_score_c2: expected 'scales' of shape [?, 4, 2], one for 32 elements, got 'tensor<?x4x4xf8E8M0FNU>'}}
  %0 = dsv4.index_score %q scales(%qs : tensor<?x4x4xf8E8M0FNU>) weights(%w : tensor<?x4xf32>) keys(%k : tensor<?x64xf8E4M3FN>) key_scales(%s : tensor<?xf32>) outs(%o : tensor<?x99xf32>) : tensor<?x4x64xf4E2M1FN>
  return
}

// -----

func.func @c3(%q: tensor<?x4x64xf8E4M3FN>, %w: tensor<?x5xf32>, %o: tensor<?x99xf32>, %k: tensor<?x64xf8E4M3FN>, %s: tensor<?xf32>) {
  // expected-error @+1 {{index_score_c3: expected 'weights' of shape [?, 4], got 'tensor<?x5xf32>'}}
  %0 = dsv4.index_score %q weights(%w : tensor<?x5xf32>) keys(%k : tensor<?x64xf8E4M3FN>) key_scales(%s : tensor<?xf32>) outs(%o : tensor<?x99xf32>) : tensor<?x4x64xf8E4M3FN>
  return
}

// -----

func.func @c3_any(%q: tensor<?x4x64xf8E4M3FN>, %w: tensor<?x?xf32>, %o: tensor<?x99xf32>, %k: tensor<?x64xf8E4M3FN>, %s: tensor<?xf32>) {
  // expected-error @+1 {{index_score_c3: expected 'weights' of shape [?, 4], got 'tensor<?x?xf32>'}}
  %0 = dsv4.index_score %q weights(%w : tensor<?x?xf32>) keys(%k : tensor<?x64xf8E4M3FN>) key_scales(%s : tensor<?xf32>) outs(%o : tensor<?x99xf32>) : tensor<?x4x64xf8E4M3FN>
  return
}

// -----

func.func @c4_none(%q: tensor<?x4x64xf8E4M3FN>, %w: tensor<?x4xf32>, %o: tensor<?x99xf32>) {
  // expected-error @+1 {{index_score_c4: expected one of 'cache' and 'keys', got none}}
  %0 = dsv4.index_score %q weights(%w : tensor<?x4xf32>) outs(%o : tensor<?x99xf32>) : tensor<?x4x64xf8E4M3FN>
  return
}

// -----

func.func @c4_both(%q: tensor<?x4x64xf8E4M3FN>, %w: tensor<?x4xf32>, %o: tensor<?x99xf32>, %c: !dsv4.cache<8 x <index_fp8_132>>, %k: tensor<?x64xf8E4M3FN>, %s: tensor<?xf32>) {
  // expected-error @+1 {{index_score_c4: expected one of 'cache' and 'keys', got both}}
  %0 = dsv4.index_score %q weights(%w : tensor<?x4xf32>) cache(%c : !dsv4.cache<8 x <index_fp8_132>>) keys(%k : tensor<?x64xf8E4M3FN>) key_scales(%s : tensor<?xf32>) outs(%o : tensor<?x99xf32>) : tensor<?x4x64xf8E4M3FN>
  return
}

// -----

func.func @c4_dim(%q: tensor<?x4x64xf8E4M3FN>, %w: tensor<?x4xf32>, %o: tensor<?x99xf32>, %c: !dsv4.cache<8 x <index_fp8_132>>) {
  // expected-error @+1 {{index_score_c4: expected a record with one field of data, of 64 elements, got '!dsv4.cache<8 x <[<"key" : 128 x f8E4M3FN}}
  %0 = dsv4.index_score %q weights(%w : tensor<?x4xf32>) cache(%c : !dsv4.cache<8 x <index_fp8_132>>) outs(%o : tensor<?x99xf32>) : tensor<?x4x64xf8E4M3FN>
  return
}

// -----

func.func @c4_two(%q: tensor<?x4x64xf8E4M3FN>, %w: tensor<?x4xf32>, %o: tensor<?x99xf32>, %c: !dsv4.cache<8 x <[<"a" : 64 x bf16 in row>, <"b" : 64 x bf16 in row>]>>) {
  // expected-error @+1 {{index_score_c4: expected a record with one field of data, of 64 elements, got }}
  %0 = dsv4.index_score %q weights(%w : tensor<?x4xf32>) cache(%c : !dsv4.cache<8 x <[<"a" : 64 x bf16 in row>, <"b" : 64 x bf16 in row>]>>) outs(%o : tensor<?x99xf32>) : tensor<?x4x64xf8E4M3FN>
  return
}

// -----

func.func @c4_group(%q: tensor<?x4x64xf8E4M3FN>, %w: tensor<?x4xf32>, %o: tensor<?x99xf32>, %c: !dsv4.cache<8 x <[<"a" : 64 x f4E2M1FN in row>, <"s" : 4 x f8E8M0FNU in row scales "a" per 16>]>>) {
  // expected-error @+1 {{index_score_c4: expected keys of f8E4M3FN with an f32 scale per row, of f4E2M1FN with an f8E8M0FNU scale per 32 or an f8E4M3FN one per 16, not 'high_first' and not interleaved, or of bf16, got }}
  %0 = dsv4.index_score %q weights(%w : tensor<?x4xf32>) cache(%c : !dsv4.cache<8 x <[<"a" : 64 x f4E2M1FN in row>, <"s" : 4 x f8E8M0FNU in row scales "a" per 16>]>>) outs(%o : tensor<?x99xf32>) : tensor<?x4x64xf8E4M3FN>
  return
}

// -----

func.func @c4_unscaled(%q: tensor<?x4x64xf8E4M3FN>, %w: tensor<?x4xf32>, %o: tensor<?x99xf32>, %c: !dsv4.cache<8 x <[<"a" : 64 x f8E4M3FN in row>]>>) {
  // expected-error @+1 {{index_score_c4: expected keys of f8E4M3FN with an f32 scale per row, of f4E2M1FN with an f8E8M0FNU scale per 32 or an f8E4M3FN one per 16, not 'high_first' and not interleaved, or of bf16, got }}
  %0 = dsv4.index_score %q weights(%w : tensor<?x4xf32>) cache(%c : !dsv4.cache<8 x <[<"a" : 64 x f8E4M3FN in row>]>>) outs(%o : tensor<?x99xf32>) : tensor<?x4x64xf8E4M3FN>
  return
}

// -----

func.func @c4_high(%q: tensor<?x4x64xf8E4M3FN>, %w: tensor<?x4xf32>, %o: tensor<?x99xf32>, %c: !dsv4.cache<8 x <[<"a" : 64 x f4E2M1FN in row high_first>, <"s" : 2 x f8E8M0FNU in row scales "a" per 32>]>>) {
  // expected-error @+1 {{index_score_c4: expected keys of f8E4M3FN with an f32 scale per row, of f4E2M1FN with an f8E8M0FNU scale per 32 or an f8E4M3FN one per 16, not 'high_first' and not interleaved, or of bf16, got }}
  %0 = dsv4.index_score %q weights(%w : tensor<?x4xf32>) cache(%c : !dsv4.cache<8 x <[<"a" : 64 x f4E2M1FN in row high_first>, <"s" : 2 x f8E8M0FNU in row scales "a" per 32>]>>) outs(%o : tensor<?x99xf32>) : tensor<?x4x64xf8E4M3FN>
  return
}

// -----

func.func @c4_interleaved(%q: tensor<?x4x64xf8E4M3FN>, %w: tensor<?x4xf32>, %o: tensor<?x99xf32>, %c: !dsv4.cache<8 x <[<"a" : 64 x f4E2M1FN in row>, <"s" : 4 x f8E4M3FN in row scales "a" per 16 interleave 2>]>>) {
  // expected-error @+1 {{index_score_c4: expected keys of f8E4M3FN with an f32 scale per row, of f4E2M1FN with an f8E8M0FNU scale per 32 or an f8E4M3FN one per 16, not 'high_first' and not interleaved, or of bf16, got }}
  %0 = dsv4.index_score %q weights(%w : tensor<?x4xf32>) cache(%c : !dsv4.cache<8 x <[<"a" : 64 x f4E2M1FN in row>, <"s" : 4 x f8E4M3FN in row scales "a" per 16 interleave 2>]>>) outs(%o : tensor<?x99xf32>) : tensor<?x4x64xf8E4M3FN>
  return
}

// -----

func.func @c4_levels(%q: tensor<?x4x64xf8E4M3FN>, %w: tensor<?x4xf32>, %o: tensor<?x99xf32>, %c: !dsv4.cache<8 x <[<"a" : 64 x f8E4M3FN in row>, <"s" : 1 x f32 in row scales "a" per row>, <"t" : 1 x f32 in array scales "a" per tensor>]>>) {
  // expected-error @+1 {{index_score_c4: expected keys of f8E4M3FN with an f32 scale per row, of f4E2M1FN with an f8E8M0FNU scale per 32 or an f8E4M3FN one per 16, not 'high_first' and not interleaved, or of bf16, got }}
  %0 = dsv4.index_score %q weights(%w : tensor<?x4xf32>) cache(%c : !dsv4.cache<8 x <[<"a" : 64 x f8E4M3FN in row>, <"s" : 1 x f32 in row scales "a" per row>, <"t" : 1 x f32 in array scales "a" per tensor>]>>) outs(%o : tensor<?x99xf32>) : tensor<?x4x64xf8E4M3FN>
  return
}

// -----

func.func @c5_scales(%q: tensor<?x4x128xf8E4M3FN>, %w: tensor<?x4xf32>, %o: tensor<?x99xf32>, %c: !dsv4.cache<8 x <index_fp8_132>>, %s: tensor<?xf32>) {
  // expected-error @+1 {{index_score_c5: a cache has its own scales: expected no 'key_scales' with 'cache'}}
  %0 = dsv4.index_score %q weights(%w : tensor<?x4xf32>) cache(%c : !dsv4.cache<8 x <index_fp8_132>>) key_scales(%s : tensor<?xf32>) outs(%o : tensor<?x99xf32>) : tensor<?x4x128xf8E4M3FN>
  return
}

// -----

func.func @c5_dim(%q: tensor<?x4x64xf8E4M3FN>, %w: tensor<?x4xf32>, %o: tensor<?x99xf32>, %k: tensor<?x128xf8E4M3FN>, %s: tensor<?xf32>) {
  // expected-error @+1 {{index_score_c5: expected 'keys' of shape [keys, 64], got 'tensor<?x128xf8E4M3FN>'}}
  %0 = dsv4.index_score %q weights(%w : tensor<?x4xf32>) keys(%k : tensor<?x128xf8E4M3FN>) key_scales(%s : tensor<?xf32>) outs(%o : tensor<?x99xf32>) : tensor<?x4x64xf8E4M3FN>
  return
}

// -----

func.func @c5_format(%q: tensor<?x4x64xf8E4M3FN>, %w: tensor<?x4xf32>, %o: tensor<?x99xf32>, %k: tensor<?x64xf8E4M3FN>, %s: tensor<?x2xf8E8M0FNU>) {
  // expected-error @+1 {{index_score_c5: expected 'key_scales' of f32 with 'keys' of f8E4M3FN, of f8E8M0FNU or f8E4M3FN with f4E2M1FN, and none with bf16, got 'tensor<?x2xf8E8M0FNU>' with 'tensor<?x64xf8E4M3FN>'}}
  %0 = dsv4.index_score %q weights(%w : tensor<?x4xf32>) keys(%k : tensor<?x64xf8E4M3FN>) key_scales(%s : tensor<?x2xf8E8M0FNU>) outs(%o : tensor<?x99xf32>) : tensor<?x4x64xf8E4M3FN>
  return
}

// -----

func.func @c5_missing(%q: tensor<?x4x64xf8E4M3FN>, %w: tensor<?x4xf32>, %o: tensor<?x99xf32>, %k: tensor<?x64xf8E4M3FN>) {
  // expected-error @+1 {{index_score_c5: expected 'key_scales' of f32 with 'keys' of f8E4M3FN, of f8E8M0FNU or f8E4M3FN with f4E2M1FN, and none with bf16, got none with 'tensor<?x64xf8E4M3FN>'}}
  %0 = dsv4.index_score %q weights(%w : tensor<?x4xf32>) keys(%k : tensor<?x64xf8E4M3FN>) outs(%o : tensor<?x99xf32>) : tensor<?x4x64xf8E4M3FN>
  return
}

// -----

func.func @c5_shape(%q: tensor<?x4x64xf8E4M3FN>, %w: tensor<?x4xf32>, %o: tensor<?x99xf32>, %k: tensor<?x64xf4E2M1FN>, %s: tensor<?x2xf8E4M3FN>) {
  // expected-error @+1 {{index_score_c5: expected 'key_scales' of shape [?, 4], got 'tensor<?x2xf8E4M3FN>'}}
  %0 = dsv4.index_score %q weights(%w : tensor<?x4xf32>) keys(%k : tensor<?x64xf4E2M1FN>) key_scales(%s : tensor<?x2xf8E4M3FN>) outs(%o : tensor<?x99xf32>) : tensor<?x4x64xf8E4M3FN>
  return
}

// -----

func.func @c6_missing(%q: tensor<?x4x128xf8E4M3FN>, %w: tensor<?x4xf32>, %o: tensor<?x99xf32>, %c: !dsv4.cache<8 x <index_fp8_132>>) {
  // expected-error @+1 {{index_score_c6: expected 'pages' with a 'cache'}}
  %0 = dsv4.index_score %q weights(%w : tensor<?x4xf32>) cache(%c : !dsv4.cache<8 x <index_fp8_132>>) outs(%o : tensor<?x99xf32>) : tensor<?x4x128xf8E4M3FN>
  return
}

// -----

func.func @c6_keys(%q: tensor<?x4x64xf8E4M3FN>, %w: tensor<?x4xf32>, %o: tensor<?x99xf32>, %k: tensor<?x64xf8E4M3FN>, %s: tensor<?xf32>, %t: tensor<?x?xi32>) {
  // expected-error @+1 {{index_score_c6: 'keys' are in order: expected no 'pages'}}
  %0 = dsv4.index_score %q weights(%w : tensor<?x4xf32>) keys(%k : tensor<?x64xf8E4M3FN>) key_scales(%s : tensor<?xf32>) pages(%t : tensor<?x?xi32>) outs(%o : tensor<?x99xf32>) : tensor<?x4x64xf8E4M3FN>
  return
}

// -----

func.func @c6_rank(%q: tensor<?x4x128xf8E4M3FN>, %w: tensor<?x4xf32>, %o: tensor<?x99xf32>, %c: !dsv4.cache<8 x <index_fp8_132>>, %t: tensor<?xi32>) {
  // expected-error @+1 {{index_score_c6: expected 'pages' of shape [rows, pages], got 'tensor<?xi32>'}}
  %0 = dsv4.index_score %q weights(%w : tensor<?x4xf32>) cache(%c : !dsv4.cache<8 x <index_fp8_132>>) pages(%t : tensor<?xi32>) outs(%o : tensor<?x99xf32>) : tensor<?x4x128xf8E4M3FN>
  return
}

// -----

func.func @c6_rows(%q: tensor<2x4x128xf8E4M3FN>, %w: tensor<2x4xf32>, %o: tensor<2x99xf32>, %c: !dsv4.cache<8 x <index_fp8_132>>, %t: tensor<3x?xi32>) {
  // expected-error @+1 {{index_score_c6: expected 'pages' of shape [rows, pages], got 'tensor<3x?xi32>'}}
  %0 = dsv4.index_score %q weights(%w : tensor<2x4xf32>) cache(%c : !dsv4.cache<8 x <index_fp8_132>>) pages(%t : tensor<3x?xi32>) outs(%o : tensor<2x99xf32>) : tensor<2x4x128xf8E4M3FN>
  return
}

// -----

func.func @c6_requests(%q: tensor<?x4x128xf8E4M3FN>, %w: tensor<?x4xf32>, %o: tensor<?x99xf32>, %c: !dsv4.cache<8 x <index_fp8_132>>, %t: tensor<?xi32>, %r: tensor<?xi32>) {
  // expected-error @+1 {{index_score_c6: expected 'pages' of shape [requests, pages], got 'tensor<?xi32>'}}
  %0 = dsv4.index_score %q weights(%w : tensor<?x4xf32>) cache(%c : !dsv4.cache<8 x <index_fp8_132>>) pages(%t : tensor<?xi32>) requests(%r : tensor<?xi32>) outs(%o : tensor<?x99xf32>) : tensor<?x4x128xf8E4M3FN>
  return
}

// -----

func.func @c6_listed(%q: tensor<?x4x128xf8E4M3FN>, %w: tensor<?x4xf32>, %o: tensor<?x99xf32>, %c: !dsv4.cache<8 x <index_fp8_132>>, %t: tensor<?x?xi32>, %i: tensor<?xi32>) {
  // expected-error @+1 {{index_score_c6: expected 'pages' of shape [pages], with 'indptr', got 'tensor<?x?xi32>'}}
  %0 = dsv4.index_score %q weights(%w : tensor<?x4xf32>) cache(%c : !dsv4.cache<8 x <index_fp8_132>>) pages(%t : tensor<?x?xi32>) indptr(%i : tensor<?xi32>) outs(%o : tensor<?x99xf32>) : tensor<?x4x128xf8E4M3FN>
  return
}

// -----

func.func @c7_indptr(%q: tensor<?x4x64xf8E4M3FN>, %w: tensor<?x4xf32>, %o: tensor<?x99xf32>, %k: tensor<?x64xf8E4M3FN>, %s: tensor<?xf32>, %i: tensor<?xi32>) {
  // expected-error @+1 {{index_score_c7: expected 'pages' with 'indptr'}}
  %0 = dsv4.index_score %q weights(%w : tensor<?x4xf32>) keys(%k : tensor<?x64xf8E4M3FN>) key_scales(%s : tensor<?xf32>) indptr(%i : tensor<?xi32>) outs(%o : tensor<?x99xf32>) : tensor<?x4x64xf8E4M3FN>
  return
}

// -----

func.func @c7_requests(%q: tensor<?x4x64xf8E4M3FN>, %w: tensor<?x4xf32>, %o: tensor<?x99xf32>, %k: tensor<?x64xf8E4M3FN>, %s: tensor<?xf32>, %i: tensor<?xi32>) {
  // expected-error @+1 {{index_score_c7: expected 'pages' with 'requests'}}
  %0 = dsv4.index_score %q weights(%w : tensor<?x4xf32>) keys(%k : tensor<?x64xf8E4M3FN>) key_scales(%s : tensor<?xf32>) requests(%i : tensor<?xi32>) outs(%o : tensor<?x99xf32>) : tensor<?x4x64xf8E4M3FN>
  return
}

// -----

func.func @c7_indptr_rank(%q: tensor<?x4x128xf8E4M3FN>, %w: tensor<?x4xf32>, %o: tensor<?x99xf32>, %c: !dsv4.cache<8 x <index_fp8_132>>, %t: tensor<?xi32>, %i: tensor<?x?xi32>) {
  // expected-error @+1 {{index_score_c7: expected 'indptr' of shape [requests + 1], got 'tensor<?x?xi32>'}}
  %0 = dsv4.index_score %q weights(%w : tensor<?x4xf32>) cache(%c : !dsv4.cache<8 x <index_fp8_132>>) pages(%t : tensor<?xi32>) indptr(%i : tensor<?x?xi32>) outs(%o : tensor<?x99xf32>) : tensor<?x4x128xf8E4M3FN>
  return
}

// -----

func.func @c7_requests_rank(%q: tensor<?x4x128xf8E4M3FN>, %w: tensor<?x4xf32>, %o: tensor<?x99xf32>, %c: !dsv4.cache<8 x <index_fp8_132>>, %t: tensor<?x?xi32>, %i: tensor<?x?xi32>) {
  // expected-error @+1 {{index_score_c7: expected 'requests' of shape [?], got 'tensor<?x?xi32>'}}
  %0 = dsv4.index_score %q weights(%w : tensor<?x4xf32>) cache(%c : !dsv4.cache<8 x <index_fp8_132>>) pages(%t : tensor<?x?xi32>) requests(%i : tensor<?x?xi32>) outs(%o : tensor<?x99xf32>) : tensor<?x4x128xf8E4M3FN>
  return
}

// -----

func.func @c8_both(%q: tensor<?x4x64xf8E4M3FN>, %w: tensor<?x4xf32>, %o: tensor<?x99xf32>, %k: tensor<?x64xf8E4M3FN>, %s: tensor<?xf32>, %l: tensor<?xi32>) {
  // expected-error @+1 {{index_score_c8: expected 'lengths' or 'ends' of the rows, got both}}
  %0 = dsv4.index_score %q weights(%w : tensor<?x4xf32>) keys(%k : tensor<?x64xf8E4M3FN>) key_scales(%s : tensor<?xf32>) lengths(%l : tensor<?xi32>) ends(%l : tensor<?xi32>) outs(%o : tensor<?x99xf32>) : tensor<?x4x64xf8E4M3FN>
  return
}

// -----

func.func @c8_lengths(%q: tensor<?x4x64xf8E4M3FN>, %w: tensor<?x4xf32>, %o: tensor<?x99xf32>, %k: tensor<?x64xf8E4M3FN>, %s: tensor<?xf32>, %l: tensor<?x?xi32>) {
  // expected-error @+1 {{index_score_c8: expected 'lengths' of shape [?], got 'tensor<?x?xi32>'}}
  %0 = dsv4.index_score %q weights(%w : tensor<?x4xf32>) keys(%k : tensor<?x64xf8E4M3FN>) key_scales(%s : tensor<?xf32>) lengths(%l : tensor<?x?xi32>) outs(%o : tensor<?x99xf32>) : tensor<?x4x64xf8E4M3FN>
  return
}

// -----

func.func @c8_ends(%q: tensor<?x4x64xf8E4M3FN>, %w: tensor<?x4xf32>, %o: tensor<?x99xf32>, %k: tensor<?x64xf8E4M3FN>, %s: tensor<?xf32>, %l: tensor<?x?xi32>) {
  // expected-error @+1 {{index_score_c8: expected 'ends' of shape [?], got 'tensor<?x?xi32>'}}
  %0 = dsv4.index_score %q weights(%w : tensor<?x4xf32>) keys(%k : tensor<?x64xf8E4M3FN>) key_scales(%s : tensor<?xf32>) ends(%l : tensor<?x?xi32>) outs(%o : tensor<?x99xf32>) : tensor<?x4x64xf8E4M3FN>
  return
}

// -----

func.func @c8_starts(%q: tensor<?x4x64xf8E4M3FN>, %w: tensor<?x4xf32>, %o: tensor<?x99xf32>, %k: tensor<?x64xf8E4M3FN>, %s: tensor<?xf32>, %l: tensor<?x?xi32>) {
  // expected-error @+1 {{index_score_c8: expected 'starts' of shape [?], got 'tensor<?x?xi32>'}}
  %0 = dsv4.index_score %q weights(%w : tensor<?x4xf32>) keys(%k : tensor<?x64xf8E4M3FN>) key_scales(%s : tensor<?xf32>) starts(%l : tensor<?x?xi32>) outs(%o : tensor<?x99xf32>) : tensor<?x4x64xf8E4M3FN>
  return
}

// -----

func.func @c9_lengths(%q: tensor<?x4x64xf8E4M3FN>, %w: tensor<?x4xf32>, %o: tensor<?x99xf32>, %k: tensor<?x64xf8E4M3FN>, %s: tensor<?xf32>) {
  // expected-error @+1 {{index_score_c9: expected 'lengths', which hold positions then, with a 'ratio'}}
  %0 = dsv4.index_score %q weights(%w : tensor<?x4xf32>) keys(%k : tensor<?x64xf8E4M3FN>) key_scales(%s : tensor<?xf32>) ratio 4 outs(%o : tensor<?x99xf32>) : tensor<?x4x64xf8E4M3FN>
  return
}

// -----

func.func @c9_zero(%q: tensor<?x4x64xf8E4M3FN>, %w: tensor<?x4xf32>, %o: tensor<?x99xf32>, %k: tensor<?x64xf8E4M3FN>, %s: tensor<?xf32>, %l: tensor<?xi32>) {
  // expected-error @+1 {{index_score_c9: expected a 'ratio' between 1 and 2^31 - 1, got 0}}
  %0 = dsv4.index_score %q weights(%w : tensor<?x4xf32>) keys(%k : tensor<?x64xf8E4M3FN>) key_scales(%s : tensor<?xf32>) lengths(%l : tensor<?xi32>) ratio 0 outs(%o : tensor<?x99xf32>) : tensor<?x4x64xf8E4M3FN>
  return
}

// -----

func.func @c10_many(%q: tensor<?x4x64xf8E4M3FN>, %w: tensor<?x4xf32>, %o: tensor<?x99xf32>, %k: tensor<?x64xf8E4M3FN>, %s: tensor<?xf32>, %l: tensor<?xi32>) {
  // expected-error @+1 {{index_score_c10: expected a 'next_n' between 1 and 64, got 65}}
  %0 = dsv4.index_score %q weights(%w : tensor<?x4xf32>) keys(%k : tensor<?x64xf8E4M3FN>) key_scales(%s : tensor<?xf32>) lengths(%l : tensor<?xi32>) next_n 65 outs(%o : tensor<?x99xf32>) : tensor<?x4x64xf8E4M3FN>
  return
}

// -----

func.func @c10_lengths(%q: tensor<?x4x64xf8E4M3FN>, %w: tensor<?x4xf32>, %o: tensor<?x99xf32>, %k: tensor<?x64xf8E4M3FN>, %s: tensor<?xf32>) {
  // expected-error @+1 {{index_score_c10: expected 'lengths', one per request, and no 'ends' with 'next_n'}}
  %0 = dsv4.index_score %q weights(%w : tensor<?x4xf32>) keys(%k : tensor<?x64xf8E4M3FN>) key_scales(%s : tensor<?xf32>) next_n 2 outs(%o : tensor<?x99xf32>) : tensor<?x4x64xf8E4M3FN>
  return
}

// -----

func.func @c10_ends(%q: tensor<?x4x64xf8E4M3FN>, %w: tensor<?x4xf32>, %o: tensor<?x99xf32>, %k: tensor<?x64xf8E4M3FN>, %s: tensor<?xf32>, %l: tensor<?xi32>) {
  // expected-error @+1 {{index_score_c10: expected 'lengths', one per request, and no 'ends' with 'next_n'}}
  %0 = dsv4.index_score %q weights(%w : tensor<?x4xf32>) keys(%k : tensor<?x64xf8E4M3FN>) key_scales(%s : tensor<?xf32>) lengths(%l : tensor<?xi32>) ends(%l : tensor<?xi32>) next_n 2 outs(%o : tensor<?x99xf32>) : tensor<?x4x64xf8E4M3FN>
  return
}

// -----

func.func @c10_rank(%q: tensor<?x4x64xf8E4M3FN>, %w: tensor<?x4xf32>, %o: tensor<?x99xf32>, %k: tensor<?x64xf8E4M3FN>, %s: tensor<?xf32>, %l: tensor<?x?xi32>) {
  // expected-error @+1 {{index_score_c10: expected 'lengths' of shape [requests], got 'tensor<?x?xi32>'}}
  %0 = dsv4.index_score %q weights(%w : tensor<?x4xf32>) keys(%k : tensor<?x64xf8E4M3FN>) key_scales(%s : tensor<?xf32>) lengths(%l : tensor<?x?xi32>) next_n 2 outs(%o : tensor<?x99xf32>) : tensor<?x4x64xf8E4M3FN>
  return
}

// -----

func.func @c10_rows(%q: tensor<5x4x64xf8E4M3FN>, %w: tensor<5x4xf32>, %o: tensor<5x99xf32>, %k: tensor<?x64xf8E4M3FN>, %s: tensor<?xf32>, %l: tensor<3xi32>) {
  // expected-error @+1 {{index_score_c10: expected 2 rows of 'queries' for each of 3 'lengths', got 5 rows}}
  %0 = dsv4.index_score %q weights(%w : tensor<5x4xf32>) keys(%k : tensor<?x64xf8E4M3FN>) key_scales(%s : tensor<?xf32>) lengths(%l : tensor<3xi32>) next_n 2 outs(%o : tensor<5x99xf32>) : tensor<5x4x64xf8E4M3FN>
  return
}

// -----

func.func @c11_name(%q: tensor<?x4x64xf8E4M3FN>, %w: tensor<?x4xf32>, %o: tensor<?x99xf32>, %k: tensor<?x64xf8E4M3FN>, %s: tensor<?xf32>) {
  // expected-error @+1 {{index_score_c11: expected 'query_transforms' of "rope" and "hadamard", at most once each and in this order, got ["fft"]}}
  %0 = dsv4.index_score %q weights(%w : tensor<?x4xf32>) keys(%k : tensor<?x64xf8E4M3FN>) key_scales(%s : tensor<?xf32>) outs(%o : tensor<?x99xf32>) {query_transforms = ["fft"], key_transforms = ["fft"]} : tensor<?x4x64xf8E4M3FN>
  return
}

// -----

func.func @c11_order(%q: tensor<?x4x64xf8E4M3FN>, %w: tensor<?x4xf32>, %o: tensor<?x99xf32>, %k: tensor<?x64xf8E4M3FN>, %s: tensor<?xf32>) {
  // expected-error @+1 {{index_score_c11: expected 'key_transforms' of "rope" and "hadamard", at most once each and in this order, got ["hadamard", "rope"]}}
  %0 = dsv4.index_score %q weights(%w : tensor<?x4xf32>) keys(%k : tensor<?x64xf8E4M3FN>) key_scales(%s : tensor<?xf32>) outs(%o : tensor<?x99xf32>) {key_transforms = ["hadamard", "rope"]} : tensor<?x4x64xf8E4M3FN>
  return
}

// -----

func.func @c11_mixed(%q: tensor<?x4x64xf8E4M3FN>, %w: tensor<?x4xf32>, %o: tensor<?x99xf32>, %k: tensor<?x64xf8E4M3FN>, %s: tensor<?xf32>) {
  // expected-error @+1 {{index_score_c11: queries and keys must have gone through the same: got 'query_transforms' of ["rope", "hadamard"] and 'key_transforms' of ["rope"]}}
  %0 = dsv4.index_score %q weights(%w : tensor<?x4xf32>) keys(%k : tensor<?x64xf8E4M3FN>) key_scales(%s : tensor<?xf32>) outs(%o : tensor<?x99xf32>) {query_transforms = ["rope", "hadamard"], key_transforms = ["rope"]} : tensor<?x4x64xf8E4M3FN>
  return
}

// -----

func.func @c11_one(%q: tensor<?x4x64xf8E4M3FN>, %w: tensor<?x4xf32>, %o: tensor<?x99xf32>, %k: tensor<?x64xf8E4M3FN>, %s: tensor<?xf32>) {
  // expected-error @+1 {{index_score_c11: queries and keys must have gone through the same: got 'query_transforms' of [] and 'key_transforms' of ["hadamard"]}}
  %0 = dsv4.index_score %q weights(%w : tensor<?x4xf32>) keys(%k : tensor<?x64xf8E4M3FN>) key_scales(%s : tensor<?xf32>) outs(%o : tensor<?x99xf32>) {key_transforms = ["hadamard"]} : tensor<?x4x64xf8E4M3FN>
  return
}

// -----

func.func @c12_rank(%q: tensor<?x4x64xf8E4M3FN>, %w: tensor<?x4xf32>, %o: tensor<?xf32>, %k: tensor<?x64xf8E4M3FN>, %s: tensor<?xf32>) {
  // expected-error @+1 {{index_score_c12: expected 'outs' of shape [rows, N] with the rows of 'queries' and an N of at most 4194304, got 'tensor<?xf32>'}}
  %0 = dsv4.index_score %q weights(%w : tensor<?x4xf32>) keys(%k : tensor<?x64xf8E4M3FN>) key_scales(%s : tensor<?xf32>) outs(%o : tensor<?xf32>) : tensor<?x4x64xf8E4M3FN>
  return
}

// -----

func.func @c12_long(%q: tensor<?x4x64xf8E4M3FN>, %w: tensor<?x4xf32>, %o: tensor<?x4194305xf32>, %k: tensor<?x64xf8E4M3FN>, %s: tensor<?xf32>) {
  // expected-error @+1 {{index_score_c12: expected 'outs' of shape [rows, N] with the rows of 'queries' and an N of at most 4194304, got 'tensor<?x4194305xf32>'}}
  %0 = dsv4.index_score %q weights(%w : tensor<?x4xf32>) keys(%k : tensor<?x64xf8E4M3FN>) key_scales(%s : tensor<?xf32>) outs(%o : tensor<?x4194305xf32>) : tensor<?x4x64xf8E4M3FN>
  return
}

// -----

func.func @c12_rows(%q: tensor<4x4x64xf8E4M3FN>, %w: tensor<4x4xf32>, %o: tensor<5x9xf32>, %k: tensor<?x64xf8E4M3FN>, %s: tensor<?xf32>) {
  // expected-error @+1 {{index_score_c12: expected 'outs' of shape [rows, N] with the rows of 'queries' and an N of at most 4194304, got 'tensor<5x9xf32>'}}
  %0 = dsv4.index_score %q weights(%w : tensor<4x4xf32>) keys(%k : tensor<?x64xf8E4M3FN>) key_scales(%s : tensor<?xf32>) outs(%o : tensor<5x9xf32>) : tensor<4x4x64xf8E4M3FN>
  return
}

// -----

// expected-error @+1 {{schedule_score_c1: expected 'threads' to be 2 to 6 times 128 with 'algorithm = mma', got 128}}
func.func private @schedule_score_c1_threads() attributes {test.a = #dsv4.schedule<threads = 128, min_blocks = 1, parts = [#dsv4.score<algorithm = mma, tiles = 1, stages = 4, slots = 1>]>}

// -----

// expected-error @+1 {{schedule_score_c1: expected 'threads' to be 2 to 6 times 128 with 'algorithm = mma', got 320}}
func.func private @schedule_score_c1_warps() attributes {test.a = #dsv4.schedule<threads = 320, min_blocks = 1, parts = [#dsv4.score<algorithm = mma, tiles = 1, stages = 4, slots = 1>]>}

// -----

// expected-error @+1 {{schedule_score_c1: expected 'threads' to be 2 to 6 times 128 with 'algorithm = mma', got 896}}
func.func private @schedule_score_c1_many() attributes {test.a = #dsv4.schedule<threads = 896, min_blocks = 1, parts = [#dsv4.score<algorithm = mma, tiles = 1, stages = 12, slots = 1>]>}

// -----

// expected-error @+1 {{schedule_c3: expected 'cluster' to be 1, as the parts share no row among blocks of a cluster, got 2}}
func.func private @schedule_c3_stored() attributes {test.a = #dsv4.schedule<threads = 256, cluster = 2, min_blocks = 1, parts = [#dsv4.score<algorithm = mma, tiles = 1, stages = 4, slots = 1>]>}

// -----

// expected-error @+1 {{schedule_c3: expected 'cluster' to be 1, as the parts share no row among blocks of a cluster, got 2}}
func.func private @schedule_c3_stored_plain() attributes {test.a = #dsv4.schedule<threads = 128, cluster = 2, parts = [#dsv4.score<algorithm = plain>]>}

// -----

// expected-error @+1 {{schedule_c3: expected 'cluster' to be 1, as the parts share no row among blocks of a cluster, got 2}}
func.func private @schedule_c3_tile() attributes {test.a = #dsv4.schedule<threads = 512, cluster = 2, min_blocks = 1, parts = [#dsv4.select<algorithm = tile, vector = 1>, #dsv4.score<algorithm = mma, tiles = 1, stages = 6, slots = 1>]>}

// -----

// expected-error @+1 {{schedule_score_c2: expected 'rows' between 1 and 16, got 17}}
func.func private @schedule_score_c2() attributes {test.a = #dsv4.score<algorithm = plain, rows = 17>}

// -----

// expected-error @+1 {{schedule_score_c2: expected 'rows' between 1 and 8, got 9}}
func.func private @schedule_score_c2_mma() attributes {test.a = #dsv4.score<algorithm = mma, rows = 9, tiles = 1, stages = 4, slots = 1>}

// -----

// expected-error @+1 {{schedule_score_c3: expected no 'tiles' without 'algorithm = mma'}}
func.func private @schedule_score_c3_plain() attributes {test.a = #dsv4.score<algorithm = plain, tiles = 1>}

// -----

// expected-error @+1 {{schedule_score_c3: expected no 'slots' without 'algorithm = mma'}}
func.func private @schedule_score_c3_plain_slots() attributes {test.a = #dsv4.score<algorithm = plain, slots = 2>}

// -----

// expected-error @+1 {{schedule_score_c3: expected 'tiles' to be 1 or 2, got 3}}
func.func private @schedule_score_c3_tiles() attributes {test.a = #dsv4.score<algorithm = mma, tiles = 3, stages = 4, slots = 1>}

// -----

// expected-error @+1 {{schedule_score_c3: expected 'stages' to be an even number between 2 and 64, got 5}}
func.func private @schedule_score_c3_stages() attributes {test.a = #dsv4.score<algorithm = mma, tiles = 1, stages = 5, slots = 1>}

// -----

// expected-error @+1 {{schedule_score_c3: expected 'stages' to be a multiple of the 3 warpgroups that compute, got 4}}
func.func private @schedule_score_c3_warpgroups() attributes {test.a = #dsv4.schedule<threads = 512, min_blocks = 1, parts = [#dsv4.score<algorithm = mma, tiles = 1, stages = 4, slots = 1>]>}

// -----

// expected-error @+1 {{schedule_score_c3: expected 'slots' between 1 and 8, got 0}}
func.func private @schedule_score_c3_slots() attributes {test.a = #dsv4.score<algorithm = mma, tiles = 1, stages = 4>}

// -----

// expected-error @+1 {{schedule_score_c4: expected 'algorithm = mma' of a schedule that is 'persistent'}}
func.func private @schedule_score_c4() attributes {test.a = #dsv4.score<algorithm = plain, persistent = true>}

// -----

// expected-error @+1 {{schedule_score_c1: expected 'min_blocks' of 1 with 'algorithm = mma', got 0}}
func.func private @schedule_score_c1_blocks() attributes {test.a = #dsv4.schedule<threads = 256, parts = [#dsv4.score<algorithm = mma, tiles = 1, stages = 4, slots = 1>]>}
