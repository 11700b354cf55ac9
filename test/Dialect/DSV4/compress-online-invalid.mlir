// One case for every way to violate a clause of the online compress.

// RUN: dsv4-opt %s --split-input-file --verify-diagnostics

func.func @compress_c2_online(%v: tensor<?x8xf32>, %s: tensor<?x8xf32>, %p: tensor<?x4xi32>, %c: !dsv4.cache<8 x <[<"m" : 8 x f32 in row>, <"s" : 8 x f32 in row>, <"a" : 8 x f32 in row>]>>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{compress_c2: expected 'plan' of shape [segments, 5] for 'algorithm online', got 'tensor<?x4xi32>'}}
  %0 = dsv4.compress %v, %s window 4 algorithm online plan(%p : tensor<?x4xi32>)
      state(%c : !dsv4.cache<8 x <[<"m" : 8 x f32 in row>, <"s" : 8 x f32 in row>, <"a" : 8 x f32 in row>]>>)
      outs(%o : tensor<?x8xf32>) : tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @compress_c2_windowed(%v: tensor<?x8xf32>, %s: tensor<?x8xf32>, %p: tensor<?x5xi32>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{compress_c2: expected 'plan' of shape [entries, 4]; five columns are for 'algorithm online', got 'tensor<?x5xi32>'}}
  %0 = dsv4.compress %v, %s window 4 plan(%p : tensor<?x5xi32>)
      outs(%o : tensor<?x8xf32>) : tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @compress_c4_online(%v: tensor<?x8xf32>, %s: tensor<?x8xf32>, %p: tensor<?x5xi32>, %c: !dsv4.cache<8 x <[<"m" : 8 x f32 in row>, <"s" : 8 x f32 in row>, <"a" : 8 x f32 in row>]>>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{compress_c4: expected a 'window' between 1 and 1024, got 1025}}
  %0 = dsv4.compress %v, %s window 1025 algorithm online plan(%p : tensor<?x5xi32>)
      state(%c : !dsv4.cache<8 x <[<"m" : 8 x f32 in row>, <"s" : 8 x f32 in row>, <"a" : 8 x f32 in row>]>>)
      outs(%o : tensor<?x8xf32>) : tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @compress_c6_online_two(%v: tensor<?x8xf32>, %s: tensor<?x8xf32>, %p: tensor<?x5xi32>, %c: !dsv4.cache<8 x <[<"m" : 8 x f32 in row>, <"s" : 8 x f32 in row>]>>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{compress_c6: expected a state of three fields, maximum, sum of weights and weighted sum, of 8 x 'f32' in the row or in arrays, got '!dsv4.cache<8 x}}
  %0 = dsv4.compress %v, %s window 4 algorithm online plan(%p : tensor<?x5xi32>)
      state(%c : !dsv4.cache<8 x <[<"m" : 8 x f32 in row>, <"s" : 8 x f32 in row>]>>)
      outs(%o : tensor<?x8xf32>) : tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @compress_c6_online_four(%v: tensor<?x8xf32>, %s: tensor<?x8xf32>, %p: tensor<?x5xi32>, %c: !dsv4.cache<8 x <[<"m" : 8 x f32 in row>, <"s" : 8 x f32 in row>, <"a" : 8 x f32 in row>, <"b" : 8 x f32 in row>]>>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{compress_c6: expected a state of three fields, maximum, sum of weights and weighted sum, of 8 x 'f32' in the row or in arrays, got '!dsv4.cache<8 x}}
  %0 = dsv4.compress %v, %s window 4 algorithm online plan(%p : tensor<?x5xi32>)
      state(%c : !dsv4.cache<8 x <[<"m" : 8 x f32 in row>, <"s" : 8 x f32 in row>, <"a" : 8 x f32 in row>, <"b" : 8 x f32 in row>]>>)
      outs(%o : tensor<?x8xf32>) : tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @compress_c6_online_type(%v: tensor<?x8xf32>, %s: tensor<?x8xf32>, %p: tensor<?x5xi32>, %c: !dsv4.cache<8 x <[<"m" : 8 x f32 in row>, <"s" : 8 x f32 in row>, <"a" : 8 x bf16 in row>]>>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{compress_c6: expected a state of three fields, maximum, sum of weights and weighted sum, of 8 x 'f32' in the row or in arrays, got '!dsv4.cache<8 x}}
  %0 = dsv4.compress %v, %s window 4 algorithm online plan(%p : tensor<?x5xi32>)
      state(%c : !dsv4.cache<8 x <[<"m" : 8 x f32 in row>, <"s" : 8 x f32 in row>, <"a" : 8 x bf16 in row>]>>)
      outs(%o : tensor<?x8xf32>) : tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @compress_c6_online_extent(%v: tensor<?x8xf32>, %s: tensor<?x8xf32>, %p: tensor<?x5xi32>, %c: !dsv4.cache<8 x <[<"m" : 8 x f32 in row>, <"s" : 7 x f32 in row>, <"a" : 8 x f32 in row>]>>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{compress_c6: expected a state of three fields, maximum, sum of weights and weighted sum, of 8 x 'f32' in the row or in arrays, got '!dsv4.cache<8 x}}
  %0 = dsv4.compress %v, %s window 4 algorithm online plan(%p : tensor<?x5xi32>)
      state(%c : !dsv4.cache<8 x <[<"m" : 8 x f32 in row>, <"s" : 7 x f32 in row>, <"a" : 8 x f32 in row>]>>)
      outs(%o : tensor<?x8xf32>) : tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @compress_c6_online_tail(%v: tensor<?x8xf32>, %s: tensor<?x8xf32>, %p: tensor<?x5xi32>, %c: !dsv4.cache<8 x <[<"m" : 8 x f32 in tail>, <"s" : 8 x f32 in row>, <"a" : 8 x f32 in row>]>>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{compress_c6: expected a state of three fields, maximum, sum of weights and weighted sum, of 8 x 'f32' in the row or in arrays, got '!dsv4.cache<8 x}}
  %0 = dsv4.compress %v, %s window 4 algorithm online plan(%p : tensor<?x5xi32>)
      state(%c : !dsv4.cache<8 x <[<"m" : 8 x f32 in tail>, <"s" : 8 x f32 in row>, <"a" : 8 x f32 in row>]>>)
      outs(%o : tensor<?x8xf32>) : tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @compress_c6_online_scale(%v: tensor<?x8xf32>, %s: tensor<?x8xf32>, %p: tensor<?x5xi32>, %c: !dsv4.cache<8 x <[<"m" : 8 x f32 in row>, <"s" : 8 x f32 in row>, <"a" : 8 x f32 in row>, <"f" : 8 x f32 in row scales "a" per 1>]>>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{compress_c6: expected a state of three fields, maximum, sum of weights and weighted sum, of 8 x 'f32' in the row or in arrays, got '!dsv4.cache<8 x}}
  %0 = dsv4.compress %v, %s window 4 algorithm online plan(%p : tensor<?x5xi32>)
      state(%c : !dsv4.cache<8 x <[<"m" : 8 x f32 in row>, <"s" : 8 x f32 in row>, <"a" : 8 x f32 in row>, <"f" : 8 x f32 in row scales "a" per 1>]>>)
      outs(%o : tensor<?x8xf32>) : tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @compress_c8_state(%v: tensor<?x8xf32>, %s: tensor<?x8xf32>, %p: tensor<?x5xi32>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{compress_c8: 'algorithm online' keeps unfinished windows: expected a 'state'}}
  %0 = dsv4.compress %v, %s window 4 algorithm online plan(%p : tensor<?x5xi32>)
      outs(%o : tensor<?x8xf32>) : tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @compress_c8_overlap(%v: tensor<?x16xf32>, %s: tensor<?x16xf32>, %p: tensor<?x5xi32>, %c: !dsv4.cache<8 x <[<"m" : 8 x f32 in row>, <"s" : 8 x f32 in row>, <"a" : 8 x f32 in row>]>>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{compress_c8: a segment of 'algorithm online' belongs to one window: remove 'overlap'}}
  %0 = dsv4.compress %v, %s window 4 overlap algorithm online plan(%p : tensor<?x5xi32>)
      state(%c : !dsv4.cache<8 x <[<"m" : 8 x f32 in row>, <"s" : 8 x f32 in row>, <"a" : 8 x f32 in row>]>>)
      outs(%o : tensor<?x8xf32>) : tensor<?x16xf32>, tensor<?x16xf32>
  return
}

// -----

func.func @compress_c8_ring(%v: tensor<?x8xf32>, %s: tensor<?x8xf32>, %p: tensor<?x5xi32>, %c: !dsv4.cache<8 x <[<"m" : 8 x f32 in row>, <"s" : 8 x f32 in row>, <"a" : 8 x f32 in row>]>>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{compress_c8: the plan of 'algorithm online' names the entries of the state itself: remove 'ring'}}
  %0 = dsv4.compress %v, %s window 4 algorithm online plan(%p : tensor<?x5xi32>)
      state(%c : !dsv4.cache<8 x <[<"m" : 8 x f32 in row>, <"s" : 8 x f32 in row>, <"a" : 8 x f32 in row>]>>) ring 8
      outs(%o : tensor<?x8xf32>) : tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @compress_c8_pages(%v: tensor<?x8xf32>, %s: tensor<?x8xf32>, %p: tensor<?x5xi32>, %c: !dsv4.cache<8 x <[<"m" : 8 x f32 in row>, <"s" : 8 x f32 in row>, <"a" : 8 x f32 in row>]>>, %t: tensor<?x?xi32>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{compress_c8: the plan of 'algorithm online' names the entries of the state itself: remove 'pages'}}
  %0 = dsv4.compress %v, %s window 4 algorithm online plan(%p : tensor<?x5xi32>)
      state(%c : !dsv4.cache<8 x <[<"m" : 8 x f32 in row>, <"s" : 8 x f32 in row>, <"a" : 8 x f32 in row>]>>) pages(%t : tensor<?x?xi32>)
      outs(%o : tensor<?x8xf32>) : tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @compress_c8_biased(%v: tensor<?x8xf32>, %s: tensor<?x8xf32>, %p: tensor<?x5xi32>, %c: !dsv4.cache<8 x <[<"m" : 8 x f32 in row>, <"s" : 8 x f32 in row>, <"a" : 8 x f32 in row>]>>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{compress_c8: the state of 'algorithm online' has no scores of tokens: remove 'biased'}}
  %0 = dsv4.compress %v, %s window 4 algorithm online plan(%p : tensor<?x5xi32>)
      state(%c : !dsv4.cache<8 x <[<"m" : 8 x f32 in row>, <"s" : 8 x f32 in row>, <"a" : 8 x f32 in row>]>>) biased
      outs(%o : tensor<?x8xf32>) : tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @compress_c8_score_state(%v: tensor<?x8xf32>, %s: tensor<?x8xf32>, %p: tensor<?x5xi32>, %c: !dsv4.cache<8 x <[<"m" : 8 x f32 in row>, <"s" : 8 x f32 in row>, <"a" : 8 x f32 in row>]>>, %d: !dsv4.cache<4 x <[<"s" : 8 x f32 in row>]>>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{compress_c8: the state of 'algorithm online' has no scores of tokens: remove 'score_state'}}
  %0 = dsv4.compress %v, %s window 4 algorithm online plan(%p : tensor<?x5xi32>)
      state(%c : !dsv4.cache<8 x <[<"m" : 8 x f32 in row>, <"s" : 8 x f32 in row>, <"a" : 8 x f32 in row>]>>) score_state(%d : !dsv4.cache<4 x <[<"s" : 8 x f32 in row>]>>)
      outs(%o : tensor<?x8xf32>) : tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @compress_c8_score_pages(%v: tensor<?x8xf32>, %s: tensor<?x8xf32>, %p: tensor<?x5xi32>, %c: !dsv4.cache<8 x <[<"m" : 8 x f32 in row>, <"s" : 8 x f32 in row>, <"a" : 8 x f32 in row>]>>, %t: tensor<?x?xi32>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{compress_c8: the state of 'algorithm online' has no scores of tokens: remove 'score_pages'}}
  %0 = dsv4.compress %v, %s window 4 algorithm online plan(%p : tensor<?x5xi32>)
      state(%c : !dsv4.cache<8 x <[<"m" : 8 x f32 in row>, <"s" : 8 x f32 in row>, <"a" : 8 x f32 in row>]>>) score_pages(%t : tensor<?x?xi32>)
      outs(%o : tensor<?x8xf32>) : tensor<?x8xf32>, tensor<?x8xf32>
  return
}
