// One case for every way to violate a clause of compress.

// RUN: dsv4-opt %s --split-input-file --verify-diagnostics

func.func @compress_c1(%v: tensor<?x?xf32>, %s: tensor<?x?xf32>, %p: tensor<?x4xi32>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{compress_c1: expected 'values' of shape [tokens, D] with a constant last extent between 1 and 65536, got 'tensor<?x?xf32>'}}
  %0 = dsv4.compress %v, %s window 4 plan(%p : tensor<?x4xi32>)
      outs(%o : tensor<?x8xf32>) : tensor<?x?xf32>, tensor<?x?xf32>
  return
}

// -----

func.func @compress_c1_rank(%v: tensor<8xf32>, %s: tensor<8xf32>, %p: tensor<?x4xi32>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{compress_c1: expected 'values' of shape [tokens, D] with a constant last extent between 1 and 65536, got 'tensor<8xf32>'}}
  %0 = dsv4.compress %v, %s window 4 plan(%p : tensor<?x4xi32>)
      outs(%o : tensor<?x8xf32>) : tensor<8xf32>, tensor<8xf32>
  return
}

// -----

func.func @compress_c1_rank3(%v: tensor<?x2x8xf32>, %s: tensor<?x2x8xf32>, %p: tensor<?x4xi32>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{compress_c1: expected 'values' of shape [tokens, D] with a constant last extent between 1 and 65536, got 'tensor<?x2x8xf32>'}}
  %0 = dsv4.compress %v, %s window 4 plan(%p : tensor<?x4xi32>)
      outs(%o : tensor<?x8xf32>) : tensor<?x2x8xf32>, tensor<?x2x8xf32>
  return
}

// -----

func.func @compress_c1_unranked(%v: tensor<*xf32>, %s: tensor<*xf32>, %p: tensor<?x4xi32>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{compress_c1: expected 'values' of shape [tokens, D] with a constant last extent between 1 and 65536, got 'tensor<*xf32>'}}
  %0 = dsv4.compress %v, %s window 4 plan(%p : tensor<?x4xi32>)
      outs(%o : tensor<?x8xf32>) : tensor<*xf32>, tensor<*xf32>
  return
}

// -----

func.func @compress_c1_zero(%v: tensor<?x0xf32>, %s: tensor<?x0xf32>, %p: tensor<?x4xi32>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{compress_c1: expected 'values' of shape [tokens, D] with a constant last extent between 1 and 65536, got 'tensor<?x0xf32>'}}
  %0 = dsv4.compress %v, %s window 4 plan(%p : tensor<?x4xi32>)
      outs(%o : tensor<?x8xf32>) : tensor<?x0xf32>, tensor<?x0xf32>
  return
}

// -----

func.func @compress_c1_large(%v: tensor<?x65537xf32>, %s: tensor<?x65537xf32>, %p: tensor<?x4xi32>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{compress_c1: expected 'values' of shape [tokens, D] with a constant last extent between 1 and 65536, got 'tensor<?x65537xf32>'}}
  %0 = dsv4.compress %v, %s window 4 plan(%p : tensor<?x4xi32>)
      outs(%o : tensor<?x8xf32>) : tensor<?x65537xf32>, tensor<?x65537xf32>
  return
}

// -----

func.func @compress_c1_odd(%v: tensor<?x7xf32>, %s: tensor<?x7xf32>, %p: tensor<?x4xi32>, %o: tensor<?x3xf32>) {
  // expected-error @+1 {{compress_c1: expected 'values' of shape [tokens, 2 D] with a constant last extent between 1 and 65536, got 'tensor<?x7xf32>'}}
  %0 = dsv4.compress %v, %s window 4 overlap plan(%p : tensor<?x4xi32>)
      outs(%o : tensor<?x3xf32>) : tensor<?x7xf32>, tensor<?x7xf32>
  return
}

// -----

func.func @compress_c1_type(%v: tensor<?x8xf64>, %s: tensor<?x8xf64>, %p: tensor<?x4xi32>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{operand #0 must be 'values', a tensor of bfloat16 type or 16-bit float or 32-bit float values, but got 'tensor<?x8xf64>'}}
  %0 = dsv4.compress %v, %s window 4 plan(%p : tensor<?x4xi32>)
      outs(%o : tensor<?x8xf32>) : tensor<?x8xf64>, tensor<?x8xf64>
  return
}

// -----

func.func @compress_c1_scores_type(%v: tensor<4x8xf32>, %s: tensor<4x8xbf16>, %p: tensor<?x4xi32>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{compress_c1: expected 'scores' of the type of 'values', got 'tensor<4x8xbf16>'}}
  %0 = dsv4.compress %v, %s window 4 plan(%p : tensor<?x4xi32>)
      outs(%o : tensor<?x8xf32>) : tensor<4x8xf32>, tensor<4x8xbf16>
  return
}

// -----

func.func @compress_c1_scores_columns(%v: tensor<4x8xf32>, %s: tensor<4x9xf32>, %p: tensor<?x4xi32>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{compress_c1: expected 'scores' of the type of 'values', got 'tensor<4x9xf32>'}}
  %0 = dsv4.compress %v, %s window 4 plan(%p : tensor<?x4xi32>)
      outs(%o : tensor<?x8xf32>) : tensor<4x8xf32>, tensor<4x9xf32>
  return
}

// -----

func.func @compress_c1_scores_rows(%v: tensor<4x8xf32>, %s: tensor<5x8xf32>, %p: tensor<?x4xi32>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{compress_c1: expected 'scores' of the type of 'values', got 'tensor<5x8xf32>'}}
  %0 = dsv4.compress %v, %s window 4 plan(%p : tensor<?x4xi32>)
      outs(%o : tensor<?x8xf32>) : tensor<4x8xf32>, tensor<5x8xf32>
  return
}

// -----

func.func @compress_c1_scores_rank(%v: tensor<4x8xf32>, %s: tensor<8xf32>, %p: tensor<?x4xi32>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{compress_c1: expected 'scores' of the type of 'values', got 'tensor<8xf32>'}}
  %0 = dsv4.compress %v, %s window 4 plan(%p : tensor<?x4xi32>)
      outs(%o : tensor<?x8xf32>) : tensor<4x8xf32>, tensor<8xf32>
  return
}

// -----

func.func @compress_c1_scores_dynamic(%v: tensor<4x8xf32>, %s: tensor<4x?xf32>, %p: tensor<?x4xi32>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{compress_c1: expected 'scores' of the type of 'values', got 'tensor<4x?xf32>'}}
  %0 = dsv4.compress %v, %s window 4 plan(%p : tensor<?x4xi32>)
      outs(%o : tensor<?x8xf32>) : tensor<4x8xf32>, tensor<4x?xf32>
  return
}

// -----

func.func @compress_c1_scores_unranked(%v: tensor<4x8xf32>, %s: tensor<*xf32>, %p: tensor<?x4xi32>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{compress_c1: expected 'scores' of the type of 'values', got 'tensor<*xf32>'}}
  %0 = dsv4.compress %v, %s window 4 plan(%p : tensor<?x4xi32>)
      outs(%o : tensor<?x8xf32>) : tensor<4x8xf32>, tensor<*xf32>
  return
}

// -----

func.func @compress_c2(%v: tensor<?x8xf32>, %s: tensor<?x8xf32>, %p: tensor<?x3xi32>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{compress_c2: expected 'plan' of shape [entries, 4]; five columns are for 'algorithm online', got 'tensor<?x3xi32>'}}
  %0 = dsv4.compress %v, %s window 4 plan(%p : tensor<?x3xi32>)
      outs(%o : tensor<?x8xf32>) : tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @compress_c2_dynamic(%v: tensor<?x8xf32>, %s: tensor<?x8xf32>, %p: tensor<?x?xi32>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{compress_c2: expected 'plan' of shape [entries, 4]; five columns are for 'algorithm online', got 'tensor<?x?xi32>'}}
  %0 = dsv4.compress %v, %s window 4 plan(%p : tensor<?x?xi32>)
      outs(%o : tensor<?x8xf32>) : tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @compress_c2_rank(%v: tensor<?x8xf32>, %s: tensor<?x8xf32>, %p: tensor<4xi32>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{compress_c2: expected 'plan' of shape [entries, 4]; five columns are for 'algorithm online', got 'tensor<4xi32>'}}
  %0 = dsv4.compress %v, %s window 4 plan(%p : tensor<4xi32>)
      outs(%o : tensor<?x8xf32>) : tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @compress_c2_rank3(%v: tensor<?x8xf32>, %s: tensor<?x8xf32>, %p: tensor<?x4x4xi32>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{compress_c2: expected 'plan' of shape [entries, 4]; five columns are for 'algorithm online', got 'tensor<?x4x4xi32>'}}
  %0 = dsv4.compress %v, %s window 4 plan(%p : tensor<?x4x4xi32>)
      outs(%o : tensor<?x8xf32>) : tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @compress_c2_unranked(%v: tensor<?x8xf32>, %s: tensor<?x8xf32>, %p: tensor<*xi32>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{compress_c2: expected 'plan' of shape [entries, 4]; five columns are for 'algorithm online', got 'tensor<*xi32>'}}
  %0 = dsv4.compress %v, %s window 4 plan(%p : tensor<*xi32>)
      outs(%o : tensor<?x8xf32>) : tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @compress_c2_type(%v: tensor<?x8xf32>, %s: tensor<?x8xf32>, %p: tensor<?x4xi16>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{operand #2 must be 'plan', a tensor of 32-bit signless integer or 64-bit signless integer values, but got 'tensor<?x4xi16>'}}
  %0 = dsv4.compress %v, %s window 4 plan(%p : tensor<?x4xi16>)
      outs(%o : tensor<?x8xf32>) : tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @compress_c3(%v: tensor<?x8xf32>, %s: tensor<?x8xf32>, %p: tensor<?x4xi32>, %o: tensor<?x16xf32>) {
  // expected-error @+1 {{compress_c3: expected 'outs' of shape [entries, 8], got 'tensor<?x16xf32>'}}
  %0 = dsv4.compress %v, %s window 4 plan(%p : tensor<?x4xi32>)
      outs(%o : tensor<?x16xf32>) : tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @compress_c3_dynamic(%v: tensor<?x8xf32>, %s: tensor<?x8xf32>, %p: tensor<?x4xi32>, %o: tensor<?x?xf32>) {
  // expected-error @+1 {{compress_c3: expected 'outs' of shape [entries, 8], got 'tensor<?x?xf32>'}}
  %0 = dsv4.compress %v, %s window 4 plan(%p : tensor<?x4xi32>)
      outs(%o : tensor<?x?xf32>) : tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @compress_c3_rank(%v: tensor<?x8xf32>, %s: tensor<?x8xf32>, %p: tensor<?x4xi32>, %o: tensor<8xf32>) {
  // expected-error @+1 {{compress_c3: expected 'outs' of shape [entries, 8], got 'tensor<8xf32>'}}
  %0 = dsv4.compress %v, %s window 4 plan(%p : tensor<?x4xi32>)
      outs(%o : tensor<8xf32>) : tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @compress_c3_rank3(%v: tensor<?x8xf32>, %s: tensor<?x8xf32>, %p: tensor<?x4xi32>, %o: tensor<?x1x8xf32>) {
  // expected-error @+1 {{compress_c3: expected 'outs' of shape [entries, 8], got 'tensor<?x1x8xf32>'}}
  %0 = dsv4.compress %v, %s window 4 plan(%p : tensor<?x4xi32>)
      outs(%o : tensor<?x1x8xf32>) : tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @compress_c3_unranked(%v: tensor<?x8xf32>, %s: tensor<?x8xf32>, %p: tensor<?x4xi32>, %o: tensor<*xf32>) {
  // expected-error @+1 {{compress_c3: expected 'outs' of shape [entries, 8], got 'tensor<*xf32>'}}
  %0 = dsv4.compress %v, %s window 4 plan(%p : tensor<?x4xi32>)
      outs(%o : tensor<*xf32>) : tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @compress_c3_rows(%v: tensor<?x8xf32>, %s: tensor<?x8xf32>, %p: tensor<2x4xi32>, %o: tensor<3x8xf32>) {
  // expected-error @+1 {{compress_c3: expected 'outs' of shape [entries, 8], got 'tensor<3x8xf32>'}}
  %0 = dsv4.compress %v, %s window 4 plan(%p : tensor<2x4xi32>)
      outs(%o : tensor<3x8xf32>) : tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----

// Half of the columns of 'values'.
func.func @compress_c3_overlap(%v: tensor<?x8xf32>, %s: tensor<?x8xf32>, %p: tensor<?x4xi32>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{compress_c3: expected 'outs' of shape [entries, 4], got 'tensor<?x8xf32>'}}
  %0 = dsv4.compress %v, %s window 4 overlap plan(%p : tensor<?x4xi32>)
      outs(%o : tensor<?x8xf32>) : tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @compress_c3_type(%v: tensor<?x8xf32>, %s: tensor<?x8xf32>, %p: tensor<?x4xi32>, %o: tensor<?x8xf64>) {
  // expected-error @+1 {{must be 'out', a tensor of bfloat16 type or 16-bit float or 32-bit float values, but got 'tensor<?x8xf64>'}}
  %0 = dsv4.compress %v, %s window 4 plan(%p : tensor<?x4xi32>)
      outs(%o : tensor<?x8xf64>) : tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @compress_c4(%v: tensor<?x8xf32>, %s: tensor<?x8xf32>, %p: tensor<?x4xi32>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{compress_c4: expected a 'window' between 1 and 1024, got 0}}
  %0 = dsv4.compress %v, %s window 0 plan(%p : tensor<?x4xi32>)
      outs(%o : tensor<?x8xf32>) : tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @compress_c4_negative(%v: tensor<?x8xf32>, %s: tensor<?x8xf32>, %p: tensor<?x4xi32>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{compress_c4: expected a 'window' between 1 and 1024, got -4}}
  %0 = dsv4.compress %v, %s window -4 plan(%p : tensor<?x4xi32>)
      outs(%o : tensor<?x8xf32>) : tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @compress_c4_large(%v: tensor<?x8xf32>, %s: tensor<?x8xf32>, %p: tensor<?x4xi32>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{compress_c4: expected a 'window' between 1 and 1024, got 1025}}
  %0 = dsv4.compress %v, %s window 1025 plan(%p : tensor<?x4xi32>)
      outs(%o : tensor<?x8xf32>) : tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @compress_c4_largest(%v: tensor<?x8xf32>, %s: tensor<?x8xf32>, %p: tensor<?x4xi32>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{compress_c4: expected a 'window' between 1 and 1024, got 9223372036854775807}}
  %0 = dsv4.compress %v, %s window 9223372036854775807 plan(%p : tensor<?x4xi32>)
      outs(%o : tensor<?x8xf32>) : tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @compress_c4_smallest(%v: tensor<?x8xf32>, %s: tensor<?x8xf32>, %p: tensor<?x4xi32>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{compress_c4: expected a 'window' between 1 and 1024, got -9223372036854775808}}
  %0 = dsv4.compress %v, %s window -9223372036854775808 plan(%p : tensor<?x4xi32>)
      outs(%o : tensor<?x8xf32>) : tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @compress_c4_overlap(%v: tensor<?x8xf32>, %s: tensor<?x8xf32>, %p: tensor<?x4xi32>, %o: tensor<?x4xf32>) {
  // expected-error @+1 {{compress_c4: expected a 'window' between 1 and 512, got 513}}
  %0 = dsv4.compress %v, %s window 513 overlap plan(%p : tensor<?x4xi32>)
      outs(%o : tensor<?x4xf32>) : tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @compress_c4_parsed(%v: tensor<?x8xf32>, %s: tensor<?x8xf32>, %p: tensor<?x4xi32>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{integer constant out of range for attribute}}
  %0 = dsv4.compress %v, %s window 18446744073709551616 plan(%p : tensor<?x4xi32>)
      outs(%o : tensor<?x8xf32>) : tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @compress_c5(%v: tensor<?x8xf32>, %s: tensor<?x8xf32>, %p: tensor<?x4xi32>, %b: tensor<8x8xf32>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{compress_c5: expected 'bias' of shape [4, 8], got 'tensor<8x8xf32>'}}
  %0 = dsv4.compress %v, %s window 4 plan(%p : tensor<?x4xi32>) bias(%b : tensor<8x8xf32>)
      outs(%o : tensor<?x8xf32>) : tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @compress_c5_columns(%v: tensor<?x8xf32>, %s: tensor<?x8xf32>, %p: tensor<?x4xi32>, %b: tensor<4x4xf32>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{compress_c5: expected 'bias' of shape [4, 8], got 'tensor<4x4xf32>'}}
  %0 = dsv4.compress %v, %s window 4 plan(%p : tensor<?x4xi32>) bias(%b : tensor<4x4xf32>)
      outs(%o : tensor<?x8xf32>) : tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @compress_c5_dynamic(%v: tensor<?x8xf32>, %s: tensor<?x8xf32>, %p: tensor<?x4xi32>, %b: tensor<?x8xf32>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{compress_c5: expected 'bias' of shape [4, 8], got 'tensor<?x8xf32>'}}
  %0 = dsv4.compress %v, %s window 4 plan(%p : tensor<?x4xi32>) bias(%b : tensor<?x8xf32>)
      outs(%o : tensor<?x8xf32>) : tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @compress_c5_rank(%v: tensor<?x8xf32>, %s: tensor<?x8xf32>, %p: tensor<?x4xi32>, %b: tensor<8xf32>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{compress_c5: expected 'bias' of shape [4, 8], got 'tensor<8xf32>'}}
  %0 = dsv4.compress %v, %s window 4 plan(%p : tensor<?x4xi32>) bias(%b : tensor<8xf32>)
      outs(%o : tensor<?x8xf32>) : tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @compress_c5_unranked(%v: tensor<?x8xf32>, %s: tensor<?x8xf32>, %p: tensor<?x4xi32>, %b: tensor<*xf32>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{compress_c5: expected 'bias' of shape [4, 8], got 'tensor<*xf32>'}}
  %0 = dsv4.compress %v, %s window 4 plan(%p : tensor<?x4xi32>) bias(%b : tensor<*xf32>)
      outs(%o : tensor<?x8xf32>) : tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----

// A row for every position of one window.
func.func @compress_c5_overlap(%v: tensor<?x8xf32>, %s: tensor<?x8xf32>, %p: tensor<?x4xi32>, %b: tensor<8x8xf32>, %o: tensor<?x4xf32>) {
  // expected-error @+1 {{compress_c5: expected 'bias' of shape [4, 8], got 'tensor<8x8xf32>'}}
  %0 = dsv4.compress %v, %s window 4 overlap plan(%p : tensor<?x4xi32>) bias(%b : tensor<8x8xf32>)
      outs(%o : tensor<?x4xf32>) : tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @compress_c5_type(%v: tensor<?x8xf32>, %s: tensor<?x8xf32>, %p: tensor<?x4xi32>, %b: tensor<4x8xbf16>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{operand #3 must be 'bias', a tensor of 32-bit float values, but got 'tensor<4x8xbf16>'}}
  %0 = dsv4.compress %v, %s window 4 plan(%p : tensor<?x4xi32>) bias(%b : tensor<4x8xbf16>)
      outs(%o : tensor<?x8xf32>) : tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @compress_c6(%v: tensor<?x8xf32>, %s: tensor<?x8xf32>, %p: tensor<?x4xi32>, %c: !dsv4.cache<8 x <[<"v" : 8 x f32 in row>]>>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{compress_c6: expected a state of two fields, values and scores, of 8 x 'f32' in the row or in arrays, got '!dsv4.cache<8 x}}
  %0 = dsv4.compress %v, %s window 4 plan(%p : tensor<?x4xi32>)
      state(%c : !dsv4.cache<8 x <[<"v" : 8 x f32 in row>]>>) ring 8
      outs(%o : tensor<?x8xf32>) : tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @compress_c6_three(%v: tensor<?x8xf32>, %s: tensor<?x8xf32>, %p: tensor<?x4xi32>, %c: !dsv4.cache<8 x <[<"v" : 8 x f32 in row>, <"s" : 8 x f32 in row>, <"t" : 8 x f32 in row>]>>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{compress_c6: expected a state of two fields, values and scores, of 8 x 'f32' in the row or in arrays, got '!dsv4.cache<8 x}}
  %0 = dsv4.compress %v, %s window 4 plan(%p : tensor<?x4xi32>)
      state(%c : !dsv4.cache<8 x <[<"v" : 8 x f32 in row>, <"s" : 8 x f32 in row>, <"t" : 8 x f32 in row>]>>) ring 8
      outs(%o : tensor<?x8xf32>) : tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @compress_c6_type(%v: tensor<?x8xf32>, %s: tensor<?x8xf32>, %p: tensor<?x4xi32>, %c: !dsv4.cache<8 x <[<"v" : 8 x f32 in row>, <"s" : 8 x bf16 in row>]>>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{compress_c6: expected a state of two fields, values and scores, of 8 x 'f32' in the row or in arrays, got '!dsv4.cache<8 x}}
  %0 = dsv4.compress %v, %s window 4 plan(%p : tensor<?x4xi32>)
      state(%c : !dsv4.cache<8 x <[<"v" : 8 x f32 in row>, <"s" : 8 x bf16 in row>]>>) ring 8
      outs(%o : tensor<?x8xf32>) : tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @compress_c6_first_type(%v: tensor<?x8xf32>, %s: tensor<?x8xf32>, %p: tensor<?x4xi32>, %c: !dsv4.cache<8 x <[<"v" : 8 x bf16 in row>, <"s" : 8 x f32 in row>]>>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{compress_c6: expected a state of two fields, values and scores, of 8 x 'f32' in the row or in arrays, got '!dsv4.cache<8 x}}
  %0 = dsv4.compress %v, %s window 4 plan(%p : tensor<?x4xi32>)
      state(%c : !dsv4.cache<8 x <[<"v" : 8 x bf16 in row>, <"s" : 8 x f32 in row>]>>) ring 8
      outs(%o : tensor<?x8xf32>) : tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @compress_c6_columns(%v: tensor<?x8xf32>, %s: tensor<?x8xf32>, %p: tensor<?x4xi32>, %c: !dsv4.cache<8 x <[<"v" : 8 x f32 in row>, <"s" : 16 x f32 in row>]>>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{compress_c6: expected a state of two fields, values and scores, of 8 x 'f32' in the row or in arrays, got '!dsv4.cache<8 x}}
  %0 = dsv4.compress %v, %s window 4 plan(%p : tensor<?x4xi32>)
      state(%c : !dsv4.cache<8 x <[<"v" : 8 x f32 in row>, <"s" : 16 x f32 in row>]>>) ring 8
      outs(%o : tensor<?x8xf32>) : tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----

// Of both streams.
func.func @compress_c6_overlap(%v: tensor<?x8xf32>, %s: tensor<?x8xf32>, %p: tensor<?x4xi32>, %c: !dsv4.cache<8 x <[<"v" : 4 x f32 in row>, <"s" : 4 x f32 in row>]>>, %o: tensor<?x4xf32>) {
  // expected-error @+1 {{compress_c6: expected a state of two fields, values and scores, of 8 x 'f32' in the row or in arrays, got '!dsv4.cache<8 x}}
  %0 = dsv4.compress %v, %s window 4 overlap plan(%p : tensor<?x4xi32>)
      state(%c : !dsv4.cache<8 x <[<"v" : 4 x f32 in row>, <"s" : 4 x f32 in row>]>>) ring 8
      outs(%o : tensor<?x4xf32>) : tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @compress_c6_scales(%v: tensor<?x8xf32>, %s: tensor<?x8xf32>, %p: tensor<?x4xi32>, %c: !dsv4.cache<8 x <[<"v" : 8 x f32 in row>, <"s" : 8 x f32 in row scales "v" per 1>]>>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{compress_c6: expected a state of two fields, values and scores, of 8 x 'f32' in the row or in arrays, got '!dsv4.cache<8 x}}
  %0 = dsv4.compress %v, %s window 4 plan(%p : tensor<?x4xi32>)
      state(%c : !dsv4.cache<8 x <[<"v" : 8 x f32 in row>, <"s" : 8 x f32 in row scales "v" per 1>]>>) ring 8
      outs(%o : tensor<?x8xf32>) : tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @compress_c6_tail(%v: tensor<?x8xf32>, %s: tensor<?x8xf32>, %p: tensor<?x4xi32>, %c: !dsv4.cache<8 x <[<"v" : 8 x f32 in row>, <"s" : 8 x f32 in tail>]>>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{compress_c6: expected a state of two fields, values and scores, of 8 x 'f32' in the row or in arrays, got '!dsv4.cache<8 x}}
  %0 = dsv4.compress %v, %s window 4 plan(%p : tensor<?x4xi32>)
      state(%c : !dsv4.cache<8 x <[<"v" : 8 x f32 in row>, <"s" : 8 x f32 in tail>]>>) ring 8
      outs(%o : tensor<?x8xf32>) : tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @compress_c7(%v: tensor<?x8xf32>, %s: tensor<?x8xf32>, %p: tensor<?x4xi32>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{compress_c7: 'ring', 'biased' and 'pages' describe a 'state': add one or remove them}}
  %0 = dsv4.compress %v, %s window 4 plan(%p : tensor<?x4xi32>)
      ring 8
      outs(%o : tensor<?x8xf32>) : tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @compress_c7_pages(%v: tensor<?x8xf32>, %s: tensor<?x8xf32>, %p: tensor<?x4xi32>, %t: tensor<?x?xi32>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{compress_c7: 'ring', 'biased' and 'pages' describe a 'state': add one or remove them}}
  %0 = dsv4.compress %v, %s window 4 plan(%p : tensor<?x4xi32>)
      pages(%t : tensor<?x?xi32>)
      outs(%o : tensor<?x8xf32>) : tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @compress_c7_biased(%v: tensor<?x8xf32>, %s: tensor<?x8xf32>, %p: tensor<?x4xi32>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{compress_c7: 'ring', 'biased' and 'pages' describe a 'state': add one or remove them}}
  %0 = dsv4.compress %v, %s window 4 plan(%p : tensor<?x4xi32>)
      biased
      outs(%o : tensor<?x8xf32>) : tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @compress_c7_no_place(%v: tensor<?x8xf32>, %s: tensor<?x8xf32>, %p: tensor<?x4xi32>, %c: !dsv4.cache<8 x <[<"v" : 8 x f32 in row>, <"s" : 8 x f32 in row>]>>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{compress_c7: expected a 'ring' or 'pages' beside the 'state'}}
  %0 = dsv4.compress %v, %s window 4 plan(%p : tensor<?x4xi32>)
      state(%c : !dsv4.cache<8 x <[<"v" : 8 x f32 in row>, <"s" : 8 x f32 in row>]>>)
      outs(%o : tensor<?x8xf32>) : tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @compress_c7_no_place_biased(%v: tensor<?x8xf32>, %s: tensor<?x8xf32>, %p: tensor<?x4xi32>, %c: !dsv4.cache<8 x <[<"v" : 8 x f32 in row>, <"s" : 8 x f32 in row>]>>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{compress_c7: expected a 'ring' or 'pages' beside the 'state'}}
  %0 = dsv4.compress %v, %s window 4 plan(%p : tensor<?x4xi32>)
      state(%c : !dsv4.cache<8 x <[<"v" : 8 x f32 in row>, <"s" : 8 x f32 in row>]>>) biased
      outs(%o : tensor<?x8xf32>) : tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @compress_c7_short(%v: tensor<?x8xf32>, %s: tensor<?x8xf32>, %p: tensor<?x4xi32>, %c: !dsv4.cache<8 x <[<"v" : 8 x f32 in row>, <"s" : 8 x f32 in row>]>>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{compress_c7: expected a ring of at least 3 tokens, below 2^31, and a multiple or a divisor of the 8 entries of a page, got 2}}
  %0 = dsv4.compress %v, %s window 4 plan(%p : tensor<?x4xi32>)
      state(%c : !dsv4.cache<8 x <[<"v" : 8 x f32 in row>, <"s" : 8 x f32 in row>]>>) ring 2
      outs(%o : tensor<?x8xf32>) : tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @compress_c7_short_pages(%v: tensor<?x8xf32>, %s: tensor<?x8xf32>, %p: tensor<?x4xi32>, %c: !dsv4.cache<8 x <[<"v" : 8 x f32 in row>, <"s" : 8 x f32 in row>]>>, %t: tensor<?x?xi32>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{compress_c7: expected a ring of at least 3 tokens, below 2^31, and a multiple or a divisor of the 8 entries of a page, got 2}}
  %0 = dsv4.compress %v, %s window 4 plan(%p : tensor<?x4xi32>)
      state(%c : !dsv4.cache<8 x <[<"v" : 8 x f32 in row>, <"s" : 8 x f32 in row>]>>) ring 2 pages(%t : tensor<?x?xi32>)
      outs(%o : tensor<?x8xf32>) : tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----

// Both windows.
func.func @compress_c7_short_overlap(%v: tensor<?x8xf32>, %s: tensor<?x8xf32>, %p: tensor<?x4xi32>, %c: !dsv4.cache<1 x <[<"v" : 8 x f32 in row>, <"s" : 8 x f32 in row>]>>, %o: tensor<?x4xf32>) {
  // expected-error @+1 {{compress_c7: expected a ring of at least 7 tokens, below 2^31, and a multiple or a divisor of the 1 entries of a page, got 6}}
  %0 = dsv4.compress %v, %s window 4 overlap plan(%p : tensor<?x4xi32>)
      state(%c : !dsv4.cache<1 x <[<"v" : 8 x f32 in row>, <"s" : 8 x f32 in row>]>>) ring 6
      outs(%o : tensor<?x4xf32>) : tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @compress_c7_zero(%v: tensor<?x8xf32>, %s: tensor<?x8xf32>, %p: tensor<?x4xi32>, %c: !dsv4.cache<8 x <[<"v" : 8 x f32 in row>, <"s" : 8 x f32 in row>]>>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{compress_c7: expected a ring of at least 1 tokens, below 2^31, and a multiple or a divisor of the 8 entries of a page, got 0}}
  %0 = dsv4.compress %v, %s window 1 plan(%p : tensor<?x4xi32>)
      state(%c : !dsv4.cache<8 x <[<"v" : 8 x f32 in row>, <"s" : 8 x f32 in row>]>>) ring 0
      outs(%o : tensor<?x8xf32>) : tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @compress_c7_negative(%v: tensor<?x8xf32>, %s: tensor<?x8xf32>, %p: tensor<?x4xi32>, %c: !dsv4.cache<8 x <[<"v" : 8 x f32 in row>, <"s" : 8 x f32 in row>]>>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{compress_c7: expected a ring of at least 1 tokens, below 2^31, and a multiple or a divisor of the 8 entries of a page, got -8}}
  %0 = dsv4.compress %v, %s window 1 plan(%p : tensor<?x4xi32>)
      state(%c : !dsv4.cache<8 x <[<"v" : 8 x f32 in row>, <"s" : 8 x f32 in row>]>>) ring -8
      outs(%o : tensor<?x8xf32>) : tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @compress_c7_multiple(%v: tensor<?x8xf32>, %s: tensor<?x8xf32>, %p: tensor<?x4xi32>, %c: !dsv4.cache<8 x <[<"v" : 8 x f32 in row>, <"s" : 8 x f32 in row>]>>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{compress_c7: expected a ring of at least 3 tokens, below 2^31, and a multiple or a divisor of the 8 entries of a page, got 12}}
  %0 = dsv4.compress %v, %s window 4 plan(%p : tensor<?x4xi32>)
      state(%c : !dsv4.cache<8 x <[<"v" : 8 x f32 in row>, <"s" : 8 x f32 in row>]>>) ring 12
      outs(%o : tensor<?x8xf32>) : tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @compress_c7_divisor(%v: tensor<?x8xf32>, %s: tensor<?x8xf32>, %p: tensor<?x4xi32>, %c: !dsv4.cache<8 x <[<"v" : 8 x f32 in row>, <"s" : 8 x f32 in row>]>>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{compress_c7: expected a ring of at least 3 tokens, below 2^31, and a multiple or a divisor of the 8 entries of a page, got 5}}
  %0 = dsv4.compress %v, %s window 4 plan(%p : tensor<?x4xi32>)
      state(%c : !dsv4.cache<8 x <[<"v" : 8 x f32 in row>, <"s" : 8 x f32 in row>]>>) ring 5
      outs(%o : tensor<?x8xf32>) : tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @compress_c7_large(%v: tensor<?x8xf32>, %s: tensor<?x8xf32>, %p: tensor<?x4xi32>, %c: !dsv4.cache<8 x <[<"v" : 8 x f32 in row>, <"s" : 8 x f32 in row>]>>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{compress_c7: expected a ring of at least 3 tokens, below 2^31, and a multiple or a divisor of the 8 entries of a page, got 2147483648}}
  %0 = dsv4.compress %v, %s window 4 plan(%p : tensor<?x4xi32>)
      state(%c : !dsv4.cache<8 x <[<"v" : 8 x f32 in row>, <"s" : 8 x f32 in row>]>>) ring 2147483648
      outs(%o : tensor<?x8xf32>) : tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @compress_c7_largest(%v: tensor<?x8xf32>, %s: tensor<?x8xf32>, %p: tensor<?x4xi32>, %c: !dsv4.cache<8 x <[<"v" : 8 x f32 in row>, <"s" : 8 x f32 in row>]>>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{compress_c7: expected a ring of at least 3 tokens, below 2^31, and a multiple or a divisor of the 8 entries of a page, got 9223372036854775807}}
  %0 = dsv4.compress %v, %s window 4 plan(%p : tensor<?x4xi32>)
      state(%c : !dsv4.cache<8 x <[<"v" : 8 x f32 in row>, <"s" : 8 x f32 in row>]>>) ring 9223372036854775807
      outs(%o : tensor<?x8xf32>) : tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @compress_c7_pages_rank(%v: tensor<?x8xf32>, %s: tensor<?x8xf32>, %p: tensor<?x4xi32>, %c: !dsv4.cache<8 x <[<"v" : 8 x f32 in row>, <"s" : 8 x f32 in row>]>>, %t: tensor<?xi32>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{compress_c7: expected 'pages' of shape [requests, pages], got 'tensor<?xi32>'}}
  %0 = dsv4.compress %v, %s window 4 plan(%p : tensor<?x4xi32>)
      state(%c : !dsv4.cache<8 x <[<"v" : 8 x f32 in row>, <"s" : 8 x f32 in row>]>>) pages(%t : tensor<?xi32>)
      outs(%o : tensor<?x8xf32>) : tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @compress_c7_pages_rank3(%v: tensor<?x8xf32>, %s: tensor<?x8xf32>, %p: tensor<?x4xi32>, %c: !dsv4.cache<8 x <[<"v" : 8 x f32 in row>, <"s" : 8 x f32 in row>]>>, %t: tensor<?x?x?xi32>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{compress_c7: expected 'pages' of shape [requests, pages], got 'tensor<?x?x?xi32>'}}
  %0 = dsv4.compress %v, %s window 4 plan(%p : tensor<?x4xi32>)
      state(%c : !dsv4.cache<8 x <[<"v" : 8 x f32 in row>, <"s" : 8 x f32 in row>]>>) pages(%t : tensor<?x?x?xi32>)
      outs(%o : tensor<?x8xf32>) : tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @compress_c7_pages_unranked(%v: tensor<?x8xf32>, %s: tensor<?x8xf32>, %p: tensor<?x4xi32>, %c: !dsv4.cache<8 x <[<"v" : 8 x f32 in row>, <"s" : 8 x f32 in row>]>>, %t: tensor<*xi32>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{compress_c7: expected 'pages' of shape [requests, pages], got 'tensor<*xi32>'}}
  %0 = dsv4.compress %v, %s window 4 plan(%p : tensor<?x4xi32>)
      state(%c : !dsv4.cache<8 x <[<"v" : 8 x f32 in row>, <"s" : 8 x f32 in row>]>>) pages(%t : tensor<*xi32>)
      outs(%o : tensor<?x8xf32>) : tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @compress_c7_pages_type(%v: tensor<?x8xf32>, %s: tensor<?x8xf32>, %p: tensor<?x4xi32>, %c: !dsv4.cache<8 x <[<"v" : 8 x f32 in row>, <"s" : 8 x f32 in row>]>>, %t: tensor<?x?xi16>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{operand #4 must be 'page_table', a tensor of 32-bit signless integer or 64-bit signless integer values, but got 'tensor<?x?xi16>'}}
  %0 = dsv4.compress %v, %s window 4 plan(%p : tensor<?x4xi32>)
      state(%c : !dsv4.cache<8 x <[<"v" : 8 x f32 in row>, <"s" : 8 x f32 in row>]>>) pages(%t : tensor<?x?xi16>)
      outs(%o : tensor<?x8xf32>) : tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @compress_c3_reads(%v: tensor<64x512xf32>, %p: tensor<64x4xi32>) {
  // expected-error @+1 {{compress_c3: expected 'outs' to be another tensor than 'values' and 'scores', which other rows read}}
  %0 = dsv4.compress %v, %v window 4 plan(%p : tensor<64x4xi32>)
      outs(%v : tensor<64x512xf32>) : tensor<64x512xf32>, tensor<64x512xf32>
  return
}

// -----

func.func @compress_c9_state(%v: tensor<?x8xf32>, %s: tensor<?x8xf32>, %p: tensor<?x4xi32>, %t: tensor<?x?xi32>, %c: !dsv4.cache<4 x <[<"s" : 8 x f32 in row>]>>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{compress_c9: 'score_state' has the scores of the values of a 'state': add one or remove it}}
  %0 = dsv4.compress %v, %s window 4 plan(%p : tensor<?x4xi32>)
      score_state(%c : !dsv4.cache<4 x <[<"s" : 8 x f32 in row>]>>)
      outs(%o : tensor<?x8xf32>) : tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @compress_c9_no_state(%v: tensor<?x8xf32>, %s: tensor<?x8xf32>, %p: tensor<?x4xi32>, %t: tensor<?x?xi32>, %c: !dsv4.cache<8 x <[<"v" : 8 x f32 in row>, <"s" : 8 x f32 in row>]>>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{compress_c9: 'score_pages' are those of a 'score_state': add one or remove them}}
  %0 = dsv4.compress %v, %s window 4 plan(%p : tensor<?x4xi32>)
      state(%c : !dsv4.cache<8 x <[<"v" : 8 x f32 in row>, <"s" : 8 x f32 in row>]>>) pages(%t : tensor<?x?xi32>) score_pages(%t : tensor<?x?xi32>)
      outs(%o : tensor<?x8xf32>) : tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @compress_c9_pages(%v: tensor<?x8xf32>, %s: tensor<?x8xf32>, %p: tensor<?x4xi32>, %t: tensor<?x?xi32>, %c: !dsv4.cache<8 x <[<"v" : 8 x f32 in row>]>>, %d: !dsv4.cache<4 x <[<"s" : 8 x f32 in row>]>>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{compress_c9: tokens of two states are found by page tables alone: expected 'pages' and 'score_pages', and no 'ring', with 'score_state'}}
  %0 = dsv4.compress %v, %s window 4 plan(%p : tensor<?x4xi32>)
      state(%c : !dsv4.cache<8 x <[<"v" : 8 x f32 in row>]>>) score_state(%d : !dsv4.cache<4 x <[<"s" : 8 x f32 in row>]>>) score_pages(%t : tensor<?x?xi32>)
      outs(%o : tensor<?x8xf32>) : tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @compress_c9_score_pages(%v: tensor<?x8xf32>, %s: tensor<?x8xf32>, %p: tensor<?x4xi32>, %t: tensor<?x?xi32>, %c: !dsv4.cache<8 x <[<"v" : 8 x f32 in row>]>>, %d: !dsv4.cache<4 x <[<"s" : 8 x f32 in row>]>>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{compress_c9: tokens of two states are found by page tables alone: expected 'pages' and 'score_pages', and no 'ring', with 'score_state'}}
  %0 = dsv4.compress %v, %s window 4 plan(%p : tensor<?x4xi32>)
      state(%c : !dsv4.cache<8 x <[<"v" : 8 x f32 in row>]>>) pages(%t : tensor<?x?xi32>) score_state(%d : !dsv4.cache<4 x <[<"s" : 8 x f32 in row>]>>)
      outs(%o : tensor<?x8xf32>) : tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @compress_c9_ring(%v: tensor<?x8xf32>, %s: tensor<?x8xf32>, %p: tensor<?x4xi32>, %t: tensor<?x?xi32>, %c: !dsv4.cache<8 x <[<"v" : 8 x f32 in row>]>>, %d: !dsv4.cache<4 x <[<"s" : 8 x f32 in row>]>>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{compress_c9: tokens of two states are found by page tables alone: expected 'pages' and 'score_pages', and no 'ring', with 'score_state'}}
  %0 = dsv4.compress %v, %s window 4 plan(%p : tensor<?x4xi32>)
      state(%c : !dsv4.cache<8 x <[<"v" : 8 x f32 in row>]>>) ring 8 pages(%t : tensor<?x?xi32>) score_state(%d : !dsv4.cache<4 x <[<"s" : 8 x f32 in row>]>>) score_pages(%t : tensor<?x?xi32>)
      outs(%o : tensor<?x8xf32>) : tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @compress_c9_rank(%v: tensor<?x8xf32>, %s: tensor<?x8xf32>, %p: tensor<?x4xi32>, %t: tensor<?x?xi32>, %u: tensor<?xi32>, %c: !dsv4.cache<8 x <[<"v" : 8 x f32 in row>]>>, %d: !dsv4.cache<4 x <[<"s" : 8 x f32 in row>]>>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{compress_c9: expected 'score_pages' of shape [requests, pages], got 'tensor<?xi32>'}}
  %0 = dsv4.compress %v, %s window 4 plan(%p : tensor<?x4xi32>)
      state(%c : !dsv4.cache<8 x <[<"v" : 8 x f32 in row>]>>) pages(%t : tensor<?x?xi32>) score_state(%d : !dsv4.cache<4 x <[<"s" : 8 x f32 in row>]>>) score_pages(%u : tensor<?xi32>)
      outs(%o : tensor<?x8xf32>) : tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @compress_c9_fields(%v: tensor<?x8xf32>, %s: tensor<?x8xf32>, %p: tensor<?x4xi32>, %t: tensor<?x?xi32>, %c: !dsv4.cache<8 x <[<"v" : 8 x f32 in row>, <"s" : 8 x f32 in row>]>>, %d: !dsv4.cache<4 x <[<"s" : 8 x f32 in row>]>>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{compress_c9: expected a state of one field, values, beside 'score_state', of 8 x 'f32' in the row or in arrays, got}}
  %0 = dsv4.compress %v, %s window 4 plan(%p : tensor<?x4xi32>)
      state(%c : !dsv4.cache<8 x <[<"v" : 8 x f32 in row>, <"s" : 8 x f32 in row>]>>) pages(%t : tensor<?x?xi32>) score_state(%d : !dsv4.cache<4 x <[<"s" : 8 x f32 in row>]>>) score_pages(%t : tensor<?x?xi32>)
      outs(%o : tensor<?x8xf32>) : tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @compress_c9_score_fields(%v: tensor<?x8xf32>, %s: tensor<?x8xf32>, %p: tensor<?x4xi32>, %t: tensor<?x?xi32>, %c: !dsv4.cache<8 x <[<"v" : 8 x f32 in row>]>>, %d: !dsv4.cache<8 x <[<"v" : 8 x f32 in row>, <"s" : 8 x f32 in row>]>>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{compress_c9: expected a state of one field, scores, in 'score_state' of 8 x 'f32' in the row or in arrays, got}}
  %0 = dsv4.compress %v, %s window 4 plan(%p : tensor<?x4xi32>)
      state(%c : !dsv4.cache<8 x <[<"v" : 8 x f32 in row>]>>) pages(%t : tensor<?x?xi32>) score_state(%d : !dsv4.cache<8 x <[<"v" : 8 x f32 in row>, <"s" : 8 x f32 in row>]>>) score_pages(%t : tensor<?x?xi32>)
      outs(%o : tensor<?x8xf32>) : tensor<?x8xf32>, tensor<?x8xf32>
  return
}
