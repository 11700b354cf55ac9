// One case for every way to violate a clause of valid_lens.

// RUN: dsv4-opt %s --split-input-file --verify-diagnostics

func.func @c1_none(%o: tensor<?x1xi32>) {
  // expected-error @+1 {{valid_lens_c1: expected one of 'positions' and 'lengths', got neither}}
  %0 = dsv4.valid_lens outs(%o : tensor<?x1xi32>)
  return
}

// -----

func.func @c1_both(%t: tensor<?xi32>, %o: tensor<?x1xi32>) {
  // expected-error @+1 {{valid_lens_c1: expected one of 'positions' and 'lengths', got both}}
  %0 = dsv4.valid_lens positions(%t : tensor<?xi32>) lengths(%t : tensor<?xi32>) outs(%o : tensor<?x1xi32>)
  return
}

// -----

func.func @c1_rank(%t: tensor<?x1xi32>, %o: tensor<?x1xi32>) {
  // expected-error @+1 {{valid_lens_c1: expected 'lengths' of rank 1, got 'tensor<?x1xi32>'}}
  %0 = dsv4.valid_lens lengths(%t : tensor<?x1xi32>) outs(%o : tensor<?x1xi32>)
  return
}

// -----

func.func @c2_ratio(%t: tensor<?xi32>, %o: tensor<?x1xi32>) {
  // expected-error @+1 {{valid_lens_c2: expected 'ratio' between 1 and 2^31 - 1, got 0}}
  %0 = dsv4.valid_lens positions(%t : tensor<?xi32>) ratio 0 outs(%o : tensor<?x1xi32>)
  return
}

// -----

func.func @c2_window(%t: tensor<?xi32>, %o: tensor<?x1xi32>) {
  // expected-error @+1 {{valid_lens_c2: expected 'window' between 1 and 2^31 - 1, got -3}}
  %0 = dsv4.valid_lens positions(%t : tensor<?xi32>) window -3 outs(%o : tensor<?x1xi32>)
  return
}

// -----

func.func @c2_page(%t: tensor<?xi32>, %o: tensor<?x4xi32>) {
  // expected-error @+1 {{valid_lens_c2: expected 'page' between 1 and 2^31 - 1, got 2147483648}}
  %0 = dsv4.valid_lens positions(%t : tensor<?xi32>) page 2147483648 outs(%o : tensor<?x4xi32>)
  return
}

// -----

func.func @c3_columns(%t: tensor<?xi32>, %o: tensor<?x4xi32>) {
  // expected-error @+1 {{valid_lens_c3: expected 'outs' of shape [?] or [?, 1] without 'page', got 'tensor<?x4xi32>'}}
  %0 = dsv4.valid_lens positions(%t : tensor<?xi32>) outs(%o : tensor<?x4xi32>)
  return
}

// -----

func.func @c3_rows(%t: tensor<7xi32>, %o: tensor<8x4xi32>) {
  // expected-error @+1 {{valid_lens_c3: expected 'outs' of shape [7, 4], got 'tensor<8x4xi32>'}}
  %0 = dsv4.valid_lens positions(%t : tensor<7xi32>) page 4 outs(%o : tensor<8x4xi32>)
  return
}

// -----

func.func @c3_dynamic(%t: tensor<?xi32>, %o: tensor<?x?xi32>) {
  // expected-error @+1 {{valid_lens_c3: expected 'outs' of rank >= 1 with a constant last extent between 1 and 65536, got 'tensor<?x?xi32>'}}
  %0 = dsv4.valid_lens positions(%t : tensor<?xi32>) page 4 outs(%o : tensor<?x?xi32>)
  return
}

// -----

func.func @c3_entries(%t: tensor<?xi32>, %o: tensor<?x4096xi32>) {
  // expected-error @+1 {{valid_lens_c3: expected at most 2^31 - 1 entries, got 4096 pages of 524288}}
  %0 = dsv4.valid_lens positions(%t : tensor<?xi32>) page 524288 outs(%o : tensor<?x4096xi32>)
  return
}

// -----

func.func @c3_rank(%t: tensor<4xi32>, %o: tensor<4x1x1xi32>) {
  // expected-error @+1 {{valid_lens_c3: expected 'outs' of shape [4] or [4, 1] without 'page', got 'tensor<4x1x1xi32>'}}
  %0 = dsv4.valid_lens positions(%t : tensor<4xi32>) outs(%o : tensor<4x1x1xi32>)
  return
}

// -----

func.func @c3_numbers(%t: tensor<4xi32>, %o: tensor<5xi32>) {
  // expected-error @+1 {{valid_lens_c3: expected 'outs' of shape [4] or [4, 1] without 'page', got 'tensor<5xi32>'}}
  %0 = dsv4.valid_lens positions(%t : tensor<4xi32>) outs(%o : tensor<5xi32>)
  return
}

// -----

func.func @c3_page_of_numbers(%t: tensor<4xi32>, %o: tensor<4xi32>) {
  // expected-error @+1 {{valid_lens_c3: expected 'outs' of shape [4, 4], got 'tensor<4xi32>'}}
  %0 = dsv4.valid_lens positions(%t : tensor<4xi32>) page 4 outs(%o : tensor<4xi32>)
  return
}

// -----

func.func @c3_most(%t: tensor<4xi32>, %o: tensor<4x65537xi32>) {
  // expected-error @+1 {{valid_lens_c3: expected 'outs' of rank >= 1 with a constant last extent between 1 and 65536, got 'tensor<4x65537xi32>'}}
  %0 = dsv4.valid_lens positions(%t : tensor<4xi32>) page 1 outs(%o : tensor<4x65537xi32>)
  return
}
