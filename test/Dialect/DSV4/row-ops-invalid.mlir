// One case for every way to violate a clause of rms_norm, rope, hadamard, pad_rows, concat_rows, add_rows and scale_weights.

// RUN: dsv4-opt %s --split-input-file --verify-diagnostics

//===----------------------------------------------------------------------===//
// rms_norm
//===----------------------------------------------------------------------===//

func.func @rms_norm_c1(%x: tensor<4x?xbf16>, %o: tensor<4x?xbf16>) {
  // expected-error @+1 {{rms_norm_c1: expected 'x' of rank >= 1 with a constant last extent between 1 and 65536, got 'tensor<4x?xbf16>'}}
  %0 = dsv4.rms_norm %x outs(%o : tensor<4x?xbf16>)
      {eps = 1.0e-06 : f32} : tensor<4x?xbf16>
  return
}

// -----

func.func @rms_norm_c1_rank(%x: tensor<bf16>, %o: tensor<bf16>) {
  // expected-error @+1 {{rms_norm_c1: expected 'x' of rank >= 1 with a constant last extent between 1 and 65536, got 'tensor<bf16>'}}
  %0 = dsv4.rms_norm %x outs(%o : tensor<bf16>)
      {eps = 1.0e-06 : f32} : tensor<bf16>
  return
}

// -----

func.func @rms_norm_c1_unranked(%x: tensor<*xf32>, %o: tensor<*xf32>) {
  // expected-error @+1 {{rms_norm_c1: expected 'x' of rank >= 1 with a constant last extent between 1 and 65536, got 'tensor<*xf32>'}}
  %0 = dsv4.rms_norm %x outs(%o : tensor<*xf32>)
      {eps = 1.0e-06 : f32} : tensor<*xf32>
  return
}

// -----

func.func @rms_norm_c1_zero(%x: tensor<4x0xf32>, %o: tensor<4x0xf32>) {
  // expected-error @+1 {{rms_norm_c1: expected 'x' of rank >= 1 with a constant last extent between 1 and 65536, got 'tensor<4x0xf32>'}}
  %0 = dsv4.rms_norm %x outs(%o : tensor<4x0xf32>)
      {eps = 1.0e-06 : f32} : tensor<4x0xf32>
  return
}

// -----

func.func @rms_norm_c1_large(%x: tensor<4x65537xf32>, %o: tensor<4x65537xf32>) {
  // expected-error @+1 {{rms_norm_c1: expected 'x' of rank >= 1 with a constant last extent between 1 and 65536, got 'tensor<4x65537xf32>'}}
  %0 = dsv4.rms_norm %x outs(%o : tensor<4x65537xf32>)
      {eps = 1.0e-06 : f32} : tensor<4x65537xf32>
  return
}

// -----

func.func @rms_norm_c1_type(%x: tensor<4x8xf64>, %o: tensor<4x8xf32>) {
  // expected-error @+1 {{operand #0 must be 'x', a tensor of bfloat16 type or 16-bit float or 32-bit float values, but got 'tensor<4x8xf64>'}}
  %0 = dsv4.rms_norm %x outs(%o : tensor<4x8xf32>)
      {eps = 1.0e-06 : f32} : tensor<4x8xf64>
  return
}

// -----

func.func @rms_norm_c2(%x: tensor<?x8xbf16>, %w: tensor<9xf32>, %o: tensor<?x8xbf16>) {
  // expected-error @+1 {{rms_norm_c2: expected 'weight' of shape [8], got 'tensor<9xf32>'}}
  %0 = dsv4.rms_norm %x weight(%w : tensor<9xf32>) outs(%o : tensor<?x8xbf16>)
      {eps = 1.0e-06 : f32} : tensor<?x8xbf16>
  return
}

// -----

func.func @rms_norm_c2_rank(%x: tensor<?x8xbf16>, %w: tensor<1x8xf32>, %o: tensor<?x8xbf16>) {
  // expected-error @+1 {{rms_norm_c2: expected 'weight' of shape [8], got 'tensor<1x8xf32>'}}
  %0 = dsv4.rms_norm %x weight(%w : tensor<1x8xf32>) outs(%o : tensor<?x8xbf16>)
      {eps = 1.0e-06 : f32} : tensor<?x8xbf16>
  return
}

// -----

func.func @rms_norm_c2_rank0(%x: tensor<?x8xbf16>, %w: tensor<f32>, %o: tensor<?x8xbf16>) {
  // expected-error @+1 {{rms_norm_c2: expected 'weight' of shape [8], got 'tensor<f32>'}}
  %0 = dsv4.rms_norm %x weight(%w : tensor<f32>) outs(%o : tensor<?x8xbf16>)
      {eps = 1.0e-06 : f32} : tensor<?x8xbf16>
  return
}

// -----

func.func @rms_norm_c2_dynamic(%x: tensor<?x8xbf16>, %w: tensor<?xf32>, %o: tensor<?x8xbf16>) {
  // expected-error @+1 {{rms_norm_c2: expected 'weight' of shape [8], got 'tensor<?xf32>'}}
  %0 = dsv4.rms_norm %x weight(%w : tensor<?xf32>) outs(%o : tensor<?x8xbf16>)
      {eps = 1.0e-06 : f32} : tensor<?x8xbf16>
  return
}

// -----

func.func @rms_norm_c2_unranked(%x: tensor<?x8xbf16>, %w: tensor<*xbf16>, %o: tensor<?x8xbf16>) {
  // expected-error @+1 {{rms_norm_c2: expected 'weight' of shape [8], got 'tensor<*xbf16>'}}
  %0 = dsv4.rms_norm %x weight(%w : tensor<*xbf16>) outs(%o : tensor<?x8xbf16>)
      {eps = 1.0e-06 : f32} : tensor<?x8xbf16>
  return
}

// -----

func.func @rms_norm_c2_type(%x: tensor<?x8xbf16>, %w: tensor<8xi32>, %o: tensor<?x8xbf16>) {
  // expected-error @+1 {{operand #1 must be 'weight', a tensor of bfloat16 type or 16-bit float or 32-bit float values, but got 'tensor<8xi32>'}}
  %0 = dsv4.rms_norm %x weight(%w : tensor<8xi32>) outs(%o : tensor<?x8xbf16>)
      {eps = 1.0e-06 : f32} : tensor<?x8xbf16>
  return
}

// -----

func.func @rms_norm_c3(%x: tensor<?x8xbf16>, %o: tensor<?x9xbf16>) {
  // expected-error @+1 {{rms_norm_c3: expected 'outs' of the shape of 'x', got 'tensor<?x9xbf16>'}}
  %0 = dsv4.rms_norm %x outs(%o : tensor<?x9xbf16>)
      {eps = 1.0e-06 : f32} : tensor<?x8xbf16>
  return
}

// -----

func.func @rms_norm_c3_rank(%x: tensor<?x8xbf16>, %o: tensor<8xbf16>) {
  // expected-error @+1 {{rms_norm_c3: expected 'outs' of the shape of 'x', got 'tensor<8xbf16>'}}
  %0 = dsv4.rms_norm %x outs(%o : tensor<8xbf16>)
      {eps = 1.0e-06 : f32} : tensor<?x8xbf16>
  return
}

// -----

func.func @rms_norm_c3_dynamic(%x: tensor<?x8xbf16>, %o: tensor<?x?xbf16>) {
  // expected-error @+1 {{rms_norm_c3: expected 'outs' of the shape of 'x', got 'tensor<?x?xbf16>'}}
  %0 = dsv4.rms_norm %x outs(%o : tensor<?x?xbf16>)
      {eps = 1.0e-06 : f32} : tensor<?x8xbf16>
  return
}

// -----

func.func @rms_norm_c3_unranked(%x: tensor<?x8xbf16>, %o: tensor<*xf32>) {
  // expected-error @+1 {{rms_norm_c3: expected 'outs' of the shape of 'x', got 'tensor<*xf32>'}}
  %0 = dsv4.rms_norm %x outs(%o : tensor<*xf32>)
      {eps = 1.0e-06 : f32} : tensor<?x8xbf16>
  return
}

// -----

func.func @rms_norm_c3_rows(%x: tensor<4x8xbf16>, %o: tensor<5x8xbf16>) {
  // expected-error @+1 {{rms_norm_c3: expected 'outs' of the shape of 'x', got 'tensor<5x8xbf16>'}}
  %0 = dsv4.rms_norm %x outs(%o : tensor<5x8xbf16>)
      {eps = 1.0e-06 : f32} : tensor<4x8xbf16>
  return
}

// -----

func.func @rms_norm_c3_type(%x: tensor<?x8xbf16>, %o: tensor<?x8xf64>) {
  // expected-error @+1 {{operand #1 must be 'out', a tensor of bfloat16 type or 16-bit float or 32-bit float values, but got 'tensor<?x8xf64>'}}
  %0 = dsv4.rms_norm %x outs(%o : tensor<?x8xf64>)
      {eps = 1.0e-06 : f32} : tensor<?x8xbf16>
  return
}

// -----

func.func @rms_norm_c4(%x: tensor<?x8xbf16>, %o: tensor<?x8xbf16>) {
  // expected-error @+1 {{rms_norm_c4: expected a finite 'eps' >= 0, got -1.000000e+00 : f32}}
  %0 = dsv4.rms_norm %x outs(%o : tensor<?x8xbf16>)
      {eps = -1.0 : f32} : tensor<?x8xbf16>
  return
}

// -----

func.func @rms_norm_c4_negative_zero(%x: tensor<?x8xbf16>, %o: tensor<?x8xbf16>) {
  // expected-error @+1 {{rms_norm_c4: expected a finite 'eps' >= 0, got -0.000000e+00 : f32}}
  %0 = dsv4.rms_norm %x outs(%o : tensor<?x8xbf16>)
      {eps = -0.0 : f32} : tensor<?x8xbf16>
  return
}

// -----

func.func @rms_norm_c4_infinite(%x: tensor<?x8xbf16>, %o: tensor<?x8xbf16>) {
  // expected-error @+1 {{rms_norm_c4: expected a finite 'eps' >= 0, got 0x7F800000 : f32}}
  %0 = dsv4.rms_norm %x outs(%o : tensor<?x8xbf16>)
      {eps = 0x7F800000 : f32} : tensor<?x8xbf16>
  return
}

// -----

func.func @rms_norm_c4_nan(%x: tensor<?x8xbf16>, %o: tensor<?x8xbf16>) {
  // expected-error @+1 {{rms_norm_c4: expected a finite 'eps' >= 0, got 0x7FC00000 : f32}}
  %0 = dsv4.rms_norm %x outs(%o : tensor<?x8xbf16>)
      {eps = 0x7FC00000 : f32} : tensor<?x8xbf16>
  return
}

// -----

func.func @rms_norm_c4_type(%x: tensor<?x8xbf16>, %o: tensor<?x8xbf16>) {
  // expected-error @+2 {{expected 'eps' to be a number of f32, such as 1.5 or 1.5 : f32, got 9.983770e-07 : bf16}}
  %0 = dsv4.rms_norm %x outs(%o : tensor<?x8xbf16>)
      {eps = 1.0e-06 : bf16} : tensor<?x8xbf16>
  return
}

// -----

func.func @rms_norm_c4_none(%x: tensor<?x8xbf16>, %o: tensor<?x8xbf16>) {
  // expected-error @+1 {{requires attribute 'eps'}}
  %0 = dsv4.rms_norm %x outs(%o : tensor<?x8xbf16>) : tensor<?x8xbf16>
  return
}

// -----

//===----------------------------------------------------------------------===//
// rope
//===----------------------------------------------------------------------===//

func.func @rope_c1(%x: tensor<4x?xbf16>, %t: tensor<?x4xf32>, %p: tensor<?xi32>, %o: tensor<4x?xbf16>) {
  // expected-error @+1 {{rope_c1: expected 'x' of rank >= 1 with a constant last extent between 1 and 65536, got 'tensor<4x?xbf16>'}}
  %0 = dsv4.rope %x table(%t : tensor<?x4xf32>) positions(%p : tensor<?xi32>)
      outs(%o : tensor<4x?xbf16>) : tensor<4x?xbf16>
  return
}

// -----

func.func @rope_c1_rank(%x: tensor<bf16>, %t: tensor<?x4xf32>, %p: tensor<?xi32>, %o: tensor<bf16>) {
  // expected-error @+1 {{rope_c1: expected 'x' of rank >= 1 with a constant last extent between 1 and 65536, got 'tensor<bf16>'}}
  %0 = dsv4.rope %x table(%t : tensor<?x4xf32>) positions(%p : tensor<?xi32>)
      outs(%o : tensor<bf16>) : tensor<bf16>
  return
}

// -----

func.func @rope_c1_unranked(%x: tensor<*xf32>, %t: tensor<?x4xf32>, %p: tensor<?xi32>, %o: tensor<*xf32>) {
  // expected-error @+1 {{rope_c1: expected 'x' of rank >= 1 with a constant last extent between 1 and 65536, got 'tensor<*xf32>'}}
  %0 = dsv4.rope %x table(%t : tensor<?x4xf32>) positions(%p : tensor<?xi32>)
      outs(%o : tensor<*xf32>) : tensor<*xf32>
  return
}

// -----

func.func @rope_c1_zero(%x: tensor<4x0xf32>, %t: tensor<?x4xf32>, %p: tensor<?xi32>, %o: tensor<4x0xf32>) {
  // expected-error @+1 {{rope_c1: expected 'x' of rank >= 1 with a constant last extent between 1 and 65536, got 'tensor<4x0xf32>'}}
  %0 = dsv4.rope %x table(%t : tensor<?x4xf32>) positions(%p : tensor<?xi32>)
      outs(%o : tensor<4x0xf32>) : tensor<4x0xf32>
  return
}

// -----

func.func @rope_c1_large(%x: tensor<4x65537xf32>, %t: tensor<?x4xf32>, %p: tensor<?xi32>, %o: tensor<4x65537xf32>) {
  // expected-error @+1 {{rope_c1: expected 'x' of rank >= 1 with a constant last extent between 1 and 65536, got 'tensor<4x65537xf32>'}}
  %0 = dsv4.rope %x table(%t : tensor<?x4xf32>) positions(%p : tensor<?xi32>)
      outs(%o : tensor<4x65537xf32>) : tensor<4x65537xf32>
  return
}

// -----

func.func @rope_c1_type(%x: tensor<?x8xi8>, %t: tensor<?x4xf32>, %p: tensor<?xi32>, %o: tensor<?x8xbf16>) {
  // expected-error @+1 {{operand #0 must be 'x', a tensor of bfloat16 type or 16-bit float or 32-bit float values, but got 'tensor<?x8xi8>'}}
  %0 = dsv4.rope %x table(%t : tensor<?x4xf32>) positions(%p : tensor<?xi32>)
      outs(%o : tensor<?x8xbf16>) : tensor<?x8xi8>
  return
}

// -----

func.func @rope_c2(%x: tensor<?x8xbf16>, %t: tensor<?x10xf32>, %p: tensor<?xi32>, %o: tensor<?x8xbf16>) {
  // expected-error @+1 {{rope_c2: expected 'table' of shape [positions, D] with an even D of at most 8, got 'tensor<?x10xf32>'}}
  %0 = dsv4.rope %x table(%t : tensor<?x10xf32>) positions(%p : tensor<?xi32>)
      outs(%o : tensor<?x8xbf16>) : tensor<?x8xbf16>
  return
}

// -----

func.func @rope_c2_odd(%x: tensor<?x8xbf16>, %t: tensor<?x3xf32>, %p: tensor<?xi32>, %o: tensor<?x8xbf16>) {
  // expected-error @+1 {{rope_c2: expected 'table' of shape [positions, D] with an even D of at most 8, got 'tensor<?x3xf32>'}}
  %0 = dsv4.rope %x table(%t : tensor<?x3xf32>) positions(%p : tensor<?xi32>)
      outs(%o : tensor<?x8xbf16>) : tensor<?x8xbf16>
  return
}

// -----

func.func @rope_c2_zero(%x: tensor<?x8xbf16>, %t: tensor<?x0xf32>, %p: tensor<?xi32>, %o: tensor<?x8xbf16>) {
  // expected-error @+1 {{rope_c2: expected 'table' of shape [positions, D] with an even D of at most 8, got 'tensor<?x0xf32>'}}
  %0 = dsv4.rope %x table(%t : tensor<?x0xf32>) positions(%p : tensor<?xi32>)
      outs(%o : tensor<?x8xbf16>) : tensor<?x8xbf16>
  return
}

// -----

func.func @rope_c2_dynamic(%x: tensor<?x8xbf16>, %t: tensor<?x?xf32>, %p: tensor<?xi32>, %o: tensor<?x8xbf16>) {
  // expected-error @+1 {{rope_c2: expected 'table' of shape [positions, D] with an even D of at most 8, got 'tensor<?x?xf32>'}}
  %0 = dsv4.rope %x table(%t : tensor<?x?xf32>) positions(%p : tensor<?xi32>)
      outs(%o : tensor<?x8xbf16>) : tensor<?x8xbf16>
  return
}

// -----

func.func @rope_c2_rank(%x: tensor<?x8xbf16>, %t: tensor<4xf32>, %p: tensor<?xi32>, %o: tensor<?x8xbf16>) {
  // expected-error @+1 {{rope_c2: expected 'table' of shape [positions, D] with an even D of at most 8, got 'tensor<4xf32>'}}
  %0 = dsv4.rope %x table(%t : tensor<4xf32>) positions(%p : tensor<?xi32>)
      outs(%o : tensor<?x8xbf16>) : tensor<?x8xbf16>
  return
}

// -----

func.func @rope_c2_rank0(%x: tensor<?x8xbf16>, %t: tensor<f32>, %p: tensor<?xi32>, %o: tensor<?x8xbf16>) {
  // expected-error @+1 {{rope_c2: expected 'table' of shape [positions, D] with an even D of at most 8, got 'tensor<f32>'}}
  %0 = dsv4.rope %x table(%t : tensor<f32>) positions(%p : tensor<?xi32>)
      outs(%o : tensor<?x8xbf16>) : tensor<?x8xbf16>
  return
}

// -----

func.func @rope_c2_unranked(%x: tensor<?x8xbf16>, %t: tensor<*xf32>, %p: tensor<?xi32>, %o: tensor<?x8xbf16>) {
  // expected-error @+1 {{rope_c2: expected 'table' of shape [positions, D] with an even D of at most 8, got 'tensor<*xf32>'}}
  %0 = dsv4.rope %x table(%t : tensor<*xf32>) positions(%p : tensor<?xi32>)
      outs(%o : tensor<?x8xbf16>) : tensor<?x8xbf16>
  return
}

// -----

func.func @rope_c2_type(%x: tensor<?x8xbf16>, %t: tensor<?x4xf64>, %p: tensor<?xi32>, %o: tensor<?x8xbf16>) {
  // expected-error @+1 {{operand #1 must be 'table', a tensor of bfloat16 type or 16-bit float or 32-bit float values, but got 'tensor<?x4xf64>'}}
  %0 = dsv4.rope %x table(%t : tensor<?x4xf64>) positions(%p : tensor<?xi32>)
      outs(%o : tensor<?x8xbf16>) : tensor<?x8xbf16>
  return
}

// -----

func.func @rope_c3(%x: tensor<?x8xbf16>, %t: tensor<?x4xf32>, %p: tensor<?x8xi32>, %o: tensor<?x8xbf16>) {
  // expected-error @+1 {{rope_c3: expected 'positions' of the shape of 'x' without its last axis, or without more of its last axes, got 'tensor<?x8xi32>'}}
  %0 = dsv4.rope %x table(%t : tensor<?x4xf32>) positions(%p : tensor<?x8xi32>)
      outs(%o : tensor<?x8xbf16>) : tensor<?x8xbf16>
  return
}

// -----

func.func @rope_c3_rank0(%x: tensor<?x8xbf16>, %t: tensor<?x4xf32>, %p: tensor<i32>, %o: tensor<?x8xbf16>) {
  // expected-error @+1 {{rope_c3: expected 'positions' of the shape of 'x' without its last axis, or without more of its last axes, got 'tensor<i32>'}}
  %0 = dsv4.rope %x table(%t : tensor<?x4xf32>) positions(%p : tensor<i32>)
      outs(%o : tensor<?x8xbf16>) : tensor<?x8xbf16>
  return
}

// -----

func.func @rope_c3_unranked(%x: tensor<?x8xbf16>, %t: tensor<?x4xf32>, %p: tensor<*xi32>, %o: tensor<?x8xbf16>) {
  // expected-error @+1 {{rope_c3: expected 'positions' of the shape of 'x' without its last axis, or without more of its last axes, got 'tensor<*xi32>'}}
  %0 = dsv4.rope %x table(%t : tensor<?x4xf32>) positions(%p : tensor<*xi32>)
      outs(%o : tensor<?x8xbf16>) : tensor<?x8xbf16>
  return
}

// -----

func.func @rope_c3_rows(%x: tensor<4x8xbf16>, %t: tensor<?x4xf32>, %p: tensor<5xi32>, %o: tensor<4x8xbf16>) {
  // expected-error @+1 {{rope_c3: expected 'positions' of the shape of 'x' without its last axis, or without more of its last axes, got 'tensor<5xi32>'}}
  %0 = dsv4.rope %x table(%t : tensor<?x4xf32>) positions(%p : tensor<5xi32>)
      outs(%o : tensor<4x8xbf16>) : tensor<4x8xbf16>
  return
}

// -----

func.func @rope_c3_one_row(%x: tensor<8xbf16>, %t: tensor<?x4xf32>, %p: tensor<1xi32>, %o: tensor<8xbf16>) {
  // expected-error @+1 {{rope_c3: expected 'positions' of the shape of 'x' without its last axis, or without more of its last axes, got 'tensor<1xi32>'}}
  %0 = dsv4.rope %x table(%t : tensor<?x4xf32>) positions(%p : tensor<1xi32>)
      outs(%o : tensor<8xbf16>) : tensor<8xbf16>
  return
}

// -----

func.func @rope_c3_type(%x: tensor<?x8xbf16>, %t: tensor<?x4xf32>, %p: tensor<?xi16>, %o: tensor<?x8xbf16>) {
  // expected-error @+1 {{operand #2 must be 'positions', a tensor of 32-bit signless integer or 64-bit signless integer values, but got 'tensor<?xi16>'}}
  %0 = dsv4.rope %x table(%t : tensor<?x4xf32>) positions(%p : tensor<?xi16>)
      outs(%o : tensor<?x8xbf16>) : tensor<?x8xbf16>
  return
}

// -----

// Any extent may be that of the first axis.
func.func @rope_c3_heads(%x: tensor<?x4x8xbf16>, %t: tensor<?x4xf32>, %p: tensor<4xi32>, %o: tensor<?x4x8xbf16>) {
  %0 = dsv4.rope %x table(%t : tensor<?x4xf32>) positions(%p : tensor<4xi32>)
      outs(%o : tensor<?x4x8xbf16>) : tensor<?x4x8xbf16>
  return
}

// -----

func.func @rope_c3_last_axis(%x: tensor<3x4x8xbf16>, %t: tensor<?x4xf32>, %p: tensor<4xi32>, %o: tensor<3x4x8xbf16>) {
  // expected-error @+1 {{rope_c3: expected 'positions' of the shape of 'x' without its last axis, or without more of its last axes, got 'tensor<4xi32>'}}
  %0 = dsv4.rope %x table(%t : tensor<?x4xf32>) positions(%p : tensor<4xi32>)
      outs(%o : tensor<3x4x8xbf16>) : tensor<3x4x8xbf16>
  return
}

// -----

func.func @rope_c5(%x: tensor<?x8xbf16>, %t: tensor<?x4xf32>, %p: tensor<?xi32>, %o: tensor<?x8xbf16>) {
  // expected-error @+1 {{rope_c5: an 'interleaved' table is for pairs of neighbours, not for the halves of 'neox': split the table into cosines and sines}}
  %0 = dsv4.rope %x neox table(%t : tensor<?x4xf32>) interleaved positions(%p : tensor<?xi32>)
      outs(%o : tensor<?x8xbf16>) : tensor<?x8xbf16>
  return
}

// -----

func.func @rope_c4(%x: tensor<?x8xbf16>, %t: tensor<?x4xf32>, %p: tensor<?xi32>, %o: tensor<?x9xbf16>) {
  // expected-error @+1 {{rope_c4: expected 'outs' of the shape of 'x', got 'tensor<?x9xbf16>'}}
  %0 = dsv4.rope %x table(%t : tensor<?x4xf32>) positions(%p : tensor<?xi32>)
      outs(%o : tensor<?x9xbf16>) : tensor<?x8xbf16>
  return
}

// -----

func.func @rope_c4_rank(%x: tensor<?x8xbf16>, %t: tensor<?x4xf32>, %p: tensor<?xi32>, %o: tensor<8xbf16>) {
  // expected-error @+1 {{rope_c4: expected 'outs' of the shape of 'x', got 'tensor<8xbf16>'}}
  %0 = dsv4.rope %x table(%t : tensor<?x4xf32>) positions(%p : tensor<?xi32>)
      outs(%o : tensor<8xbf16>) : tensor<?x8xbf16>
  return
}

// -----

func.func @rope_c4_dynamic(%x: tensor<?x8xbf16>, %t: tensor<?x4xf32>, %p: tensor<?xi32>, %o: tensor<?x?xbf16>) {
  // expected-error @+1 {{rope_c4: expected 'outs' of the shape of 'x', got 'tensor<?x?xbf16>'}}
  %0 = dsv4.rope %x table(%t : tensor<?x4xf32>) positions(%p : tensor<?xi32>)
      outs(%o : tensor<?x?xbf16>) : tensor<?x8xbf16>
  return
}

// -----

func.func @rope_c4_unranked(%x: tensor<?x8xbf16>, %t: tensor<?x4xf32>, %p: tensor<?xi32>, %o: tensor<*xf32>) {
  // expected-error @+1 {{rope_c4: expected 'outs' of the shape of 'x', got 'tensor<*xf32>'}}
  %0 = dsv4.rope %x table(%t : tensor<?x4xf32>) positions(%p : tensor<?xi32>)
      outs(%o : tensor<*xf32>) : tensor<?x8xbf16>
  return
}

// -----

func.func @rope_c4_rows(%x: tensor<4x8xbf16>, %t: tensor<?x4xf32>, %p: tensor<?xi32>, %o: tensor<5x8xbf16>) {
  // expected-error @+1 {{rope_c4: expected 'outs' of the shape of 'x', got 'tensor<5x8xbf16>'}}
  %0 = dsv4.rope %x table(%t : tensor<?x4xf32>) positions(%p : tensor<?xi32>)
      outs(%o : tensor<5x8xbf16>) : tensor<4x8xbf16>
  return
}

// -----

func.func @rope_c4_type(%x: tensor<?x8xbf16>, %t: tensor<?x4xf32>, %p: tensor<?xi32>, %o: tensor<?x8xf8E4M3FN>) {
  // expected-error @+1 {{operand #3 must be 'out', a tensor of bfloat16 type or 16-bit float or 32-bit float values, but got 'tensor<?x8xf8E4M3FN>'}}
  %0 = dsv4.rope %x table(%t : tensor<?x4xf32>) positions(%p : tensor<?xi32>)
      outs(%o : tensor<?x8xf8E4M3FN>) : tensor<?x8xbf16>
  return
}

// -----

// The schedule of a kernel is compared with ops that are known to be right.
func.func @rope_in_kernel(%x: tensor<?x8xbf16>, %t: tensor<*xf32>, %p: tensor<?xi32>, %o: tensor<?x8xbf16>) {
  %0 = dsv4.kernel @k(%x, %t, %p, %o) schedule <threads = 128, parts = [#dsv4.rows<lanes = 1, vector = 8>]>
      : (tensor<?x8xbf16>, tensor<*xf32>, tensor<?xi32>, tensor<?x8xbf16>) -> tensor<?x8xbf16> {
  ^bb0(%x1: tensor<?x8xbf16>, %t1: tensor<*xf32>, %p1: tensor<?xi32>, %o1: tensor<?x8xbf16>):
    // expected-error @+1 {{rope_c2: }}
    %y = dsv4.rope %x1 table(%t1 : tensor<*xf32>) positions(%p1 : tensor<?xi32>)
        outs(%o1 : tensor<?x8xbf16>) : tensor<?x8xbf16>
    dsv4.yield %y : tensor<?x8xbf16>
  }
  return
}

// -----

//===----------------------------------------------------------------------===//
// hadamard
//===----------------------------------------------------------------------===//

func.func @hadamard_c1(%x: tensor<?x96xbf16>, %o: tensor<?x96xbf16>) {
  // expected-error @+1 {{hadamard_c1: expected a last extent that is a power of two, got 'tensor<?x96xbf16>'}}
  %0 = dsv4.hadamard %x outs(%o : tensor<?x96xbf16>) {scale = 1.0 : f32}
      : tensor<?x96xbf16>
  return
}

// -----

func.func @hadamard_c1_dynamic(%x: tensor<4x?xbf16>, %o: tensor<4x?xbf16>) {
  // expected-error @+1 {{hadamard_c1: expected 'x' of rank >= 1 with a constant last extent between 1 and 65536, got 'tensor<4x?xbf16>'}}
  %0 = dsv4.hadamard %x outs(%o : tensor<4x?xbf16>) {scale = 1.0 : f32}
      : tensor<4x?xbf16>
  return
}

// -----

func.func @hadamard_c1_rank(%x: tensor<bf16>, %o: tensor<bf16>) {
  // expected-error @+1 {{hadamard_c1: expected 'x' of rank >= 1 with a constant last extent between 1 and 65536, got 'tensor<bf16>'}}
  %0 = dsv4.hadamard %x outs(%o : tensor<bf16>) {scale = 1.0 : f32}
      : tensor<bf16>
  return
}

// -----

func.func @hadamard_c1_unranked(%x: tensor<*xf32>, %o: tensor<*xf32>) {
  // expected-error @+1 {{hadamard_c1: expected 'x' of rank >= 1 with a constant last extent between 1 and 65536, got 'tensor<*xf32>'}}
  %0 = dsv4.hadamard %x outs(%o : tensor<*xf32>) {scale = 1.0 : f32}
      : tensor<*xf32>
  return
}

// -----

func.func @hadamard_c1_zero(%x: tensor<4x0xf32>, %o: tensor<4x0xf32>) {
  // expected-error @+1 {{hadamard_c1: expected 'x' of rank >= 1 with a constant last extent between 1 and 65536, got 'tensor<4x0xf32>'}}
  %0 = dsv4.hadamard %x outs(%o : tensor<4x0xf32>) {scale = 1.0 : f32}
      : tensor<4x0xf32>
  return
}

// -----

func.func @hadamard_c1_large(%x: tensor<4x65537xf32>, %o: tensor<4x65537xf32>) {
  // expected-error @+1 {{hadamard_c1: expected 'x' of rank >= 1 with a constant last extent between 1 and 65536, got 'tensor<4x65537xf32>'}}
  %0 = dsv4.hadamard %x outs(%o : tensor<4x65537xf32>) {scale = 1.0 : f32}
      : tensor<4x65537xf32>
  return
}

// -----

func.func @hadamard_c1_type(%x: tensor<4x8xf64>, %o: tensor<4x8xf32>) {
  // expected-error @+1 {{operand #0 must be 'x', a tensor of bfloat16 type or 16-bit float or 32-bit float values, but got 'tensor<4x8xf64>'}}
  %0 = dsv4.hadamard %x outs(%o : tensor<4x8xf32>) {scale = 1.0 : f32}
      : tensor<4x8xf64>
  return
}

// -----

func.func @hadamard_c2(%x: tensor<?x8xbf16>, %o: tensor<?x9xbf16>) {
  // expected-error @+1 {{hadamard_c2: expected 'outs' of the shape of 'x', got 'tensor<?x9xbf16>'}}
  %0 = dsv4.hadamard %x outs(%o : tensor<?x9xbf16>) {scale = 1.0 : f32}
      : tensor<?x8xbf16>
  return
}

// -----

func.func @hadamard_c2_rank(%x: tensor<?x8xbf16>, %o: tensor<8xbf16>) {
  // expected-error @+1 {{hadamard_c2: expected 'outs' of the shape of 'x', got 'tensor<8xbf16>'}}
  %0 = dsv4.hadamard %x outs(%o : tensor<8xbf16>) {scale = 1.0 : f32}
      : tensor<?x8xbf16>
  return
}

// -----

func.func @hadamard_c2_dynamic(%x: tensor<?x8xbf16>, %o: tensor<?x?xbf16>) {
  // expected-error @+1 {{hadamard_c2: expected 'outs' of the shape of 'x', got 'tensor<?x?xbf16>'}}
  %0 = dsv4.hadamard %x outs(%o : tensor<?x?xbf16>) {scale = 1.0 : f32}
      : tensor<?x8xbf16>
  return
}

// -----

func.func @hadamard_c2_unranked(%x: tensor<?x8xbf16>, %o: tensor<*xf32>) {
  // expected-error @+1 {{hadamard_c2: expected 'outs' of the shape of 'x', got 'tensor<*xf32>'}}
  %0 = dsv4.hadamard %x outs(%o : tensor<*xf32>) {scale = 1.0 : f32}
      : tensor<?x8xbf16>
  return
}

// -----

func.func @hadamard_c2_rows(%x: tensor<4x8xbf16>, %o: tensor<5x8xbf16>) {
  // expected-error @+1 {{hadamard_c2: expected 'outs' of the shape of 'x', got 'tensor<5x8xbf16>'}}
  %0 = dsv4.hadamard %x outs(%o : tensor<5x8xbf16>) {scale = 1.0 : f32}
      : tensor<4x8xbf16>
  return
}

// -----

func.func @hadamard_c3(%x: tensor<?x8xbf16>, %o: tensor<?x8xbf16>) {
  // expected-error @+1 {{hadamard_c3: expected a finite 'scale', got 0x7F800000 : f32}}
  %0 = dsv4.hadamard %x outs(%o : tensor<?x8xbf16>) {scale = 0x7F800000 : f32}
      : tensor<?x8xbf16>
  return
}

// -----

func.func @hadamard_c3_negative(%x: tensor<?x8xbf16>, %o: tensor<?x8xbf16>) {
  // expected-error @+1 {{hadamard_c3: expected a finite 'scale', got 0xFF800000 : f32}}
  %0 = dsv4.hadamard %x outs(%o : tensor<?x8xbf16>) {scale = 0xFF800000 : f32}
      : tensor<?x8xbf16>
  return
}

// -----

func.func @hadamard_c3_nan(%x: tensor<?x8xbf16>, %o: tensor<?x8xbf16>) {
  // expected-error @+1 {{hadamard_c3: expected a finite 'scale', got 0x7FC00000 : f32}}
  %0 = dsv4.hadamard %x outs(%o : tensor<?x8xbf16>) {scale = 0x7FC00000 : f32}
      : tensor<?x8xbf16>
  return
}

// -----

func.func @hadamard_c3_type(%x: tensor<?x8xbf16>, %o: tensor<?x8xbf16>) {
  // expected-error @+1 {{expected 'scale' to be a number of f32, such as 1.5 or 1.5 : f32, got 1 : i32}}
  %0 = dsv4.hadamard %x outs(%o : tensor<?x8xbf16>) {scale = 1 : i32}
      : tensor<?x8xbf16>
  return
}

// -----

//===----------------------------------------------------------------------===//
// pad_rows
//===----------------------------------------------------------------------===//

func.func @pad_rows_c1(%x: tensor<4x2x?xbf16>, %o: tensor<4x3x8xbf16>) {
  // expected-error @+1 {{pad_rows_c1: expected 'x' of rank >= 2 with a constant last extent between 1 and 65536, got 'tensor<4x2x?xbf16>'}}
  %0 = dsv4.pad_rows %x outs(%o : tensor<4x3x8xbf16>) : tensor<4x2x?xbf16>
  return
}

// -----

func.func @pad_rows_c1_rank(%x: tensor<8xbf16>, %o: tensor<8xbf16>) {
  // expected-error @+1 {{pad_rows_c1: expected 'x' of rank >= 2 with a constant last extent between 1 and 65536, got 'tensor<8xbf16>'}}
  %0 = dsv4.pad_rows %x outs(%o : tensor<8xbf16>) : tensor<8xbf16>
  return
}

// -----

func.func @pad_rows_c2(%x: tensor<4x2x8xbf16>, %o: tensor<5x3x8xbf16>) {
  // expected-error @+1 {{pad_rows_c2: expected 'outs' of 'bf16' and shape [4, ?, 8], got 'tensor<5x3x8xbf16>'}}
  %0 = dsv4.pad_rows %x outs(%o : tensor<5x3x8xbf16>) : tensor<4x2x8xbf16>
  return
}

// -----

func.func @pad_rows_c2_type(%x: tensor<4x2x8xbf16>, %o: tensor<4x3x8xf32>) {
  // expected-error @+1 {{pad_rows_c2: expected 'outs' of 'bf16' and shape [4, ?, 8], got 'tensor<4x3x8xf32>'}}
  %0 = dsv4.pad_rows %x outs(%o : tensor<4x3x8xf32>) : tensor<4x2x8xbf16>
  return
}

// -----

func.func @pad_rows_c3(%x: tensor<?x4x8xbf16>, %o: tensor<?x3x8xbf16>) {
  // expected-error @+1 {{pad_rows_c3: expected axis 1 of 'outs' to be constant and not smaller than that of 'x', 'tensor<?x4x8xbf16>', got 'tensor<?x3x8xbf16>'}}
  %0 = dsv4.pad_rows %x outs(%o : tensor<?x3x8xbf16>) : tensor<?x4x8xbf16>
  return
}

// -----

func.func @pad_rows_c3_dynamic(%x: tensor<?x4x8xbf16>, %o: tensor<?x?x8xbf16>) {
  // expected-error @+1 {{pad_rows_c3: expected axis 1 of 'outs' to be constant and not smaller than that of 'x', 'tensor<?x4x8xbf16>', got 'tensor<?x?x8xbf16>'}}
  %0 = dsv4.pad_rows %x outs(%o : tensor<?x?x8xbf16>) : tensor<?x4x8xbf16>
  return
}

// -----

//===----------------------------------------------------------------------===//
// add_rows
//===----------------------------------------------------------------------===//

func.func @add_rows_c1(%x: tensor<4x?xf32>, %b: tensor<4x8xf32>, %p: tensor<4xi32>, %o: tensor<4x8xf32>) {
  // expected-error @+1 {{add_rows_c1: expected 'x' of rank >= 1 with a constant last extent between 1 and 65536, got 'tensor<4x?xf32>'}}
  %0 = dsv4.add_rows %x bias(%b : tensor<4x8xf32>) positions(%p : tensor<4xi32>)
      outs(%o : tensor<4x8xf32>) : tensor<4x?xf32>
  return
}

// -----

func.func @add_rows_c2(%x: tensor<?x16xf32>, %b: tensor<4x8xf32>, %p: tensor<?xi32>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{add_rows_c2: expected columns within the 16 of a row, got 8 columns from column 9 on}}
  %0 = dsv4.add_rows %x columns [9, 8] bias(%b : tensor<4x8xf32>) positions(%p : tensor<?xi32>)
      outs(%o : tensor<?x8xf32>) : tensor<?x16xf32>
  return
}

// -----

func.func @add_rows_c3(%x: tensor<?x16xf32>, %b: tensor<4x16xf32>, %p: tensor<?xi32>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{add_rows_c3: expected 'bias' of shape [W, 8] with a constant W of at least 1, got 'tensor<4x16xf32>'}}
  %0 = dsv4.add_rows %x columns [8, 8] bias(%b : tensor<4x16xf32>) positions(%p : tensor<?xi32>)
      outs(%o : tensor<?x8xf32>) : tensor<?x16xf32>
  return
}

// -----

func.func @add_rows_c3_dynamic(%x: tensor<?x8xf32>, %b: tensor<?x8xf32>, %p: tensor<?xi32>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{add_rows_c3: expected 'bias' of shape [W, 8] with a constant W of at least 1, got 'tensor<?x8xf32>'}}
  %0 = dsv4.add_rows %x bias(%b : tensor<?x8xf32>) positions(%p : tensor<?xi32>)
      outs(%o : tensor<?x8xf32>) : tensor<?x8xf32>
  return
}

// -----

func.func @add_rows_c3_none(%x: tensor<?x8xf32>, %b: tensor<0x8xf32>, %p: tensor<?xi32>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{add_rows_c3: expected 'bias' of shape [W, 8] with a constant W of at least 1, got 'tensor<0x8xf32>'}}
  %0 = dsv4.add_rows %x bias(%b : tensor<0x8xf32>) positions(%p : tensor<?xi32>)
      outs(%o : tensor<?x8xf32>) : tensor<?x8xf32>
  return
}

// -----

func.func @add_rows_c4(%x: tensor<4x8xf32>, %b: tensor<4x8xf32>, %p: tensor<5xi32>, %o: tensor<4x8xf32>) {
  // expected-error @+1 {{add_rows_c4: expected 'positions' of the shape of 'x' without its last axis, or without more of its last axes, got 'tensor<5xi32>'}}
  %0 = dsv4.add_rows %x bias(%b : tensor<4x8xf32>) positions(%p : tensor<5xi32>)
      outs(%o : tensor<4x8xf32>) : tensor<4x8xf32>
  return
}

// -----

func.func @add_rows_c5(%x: tensor<4x8xf32>, %b: tensor<4x8xf32>, %p: tensor<4xi32>, %o: tensor<4x9xf32>) {
  // expected-error @+1 {{add_rows_c5: expected 'outs' of the shape of 'x', got 'tensor<4x9xf32>'}}
  %0 = dsv4.add_rows %x bias(%b : tensor<4x8xf32>) positions(%p : tensor<4xi32>)
      outs(%o : tensor<4x9xf32>) : tensor<4x8xf32>
  return
}

// -----

func.func @add_rows_c5_columns(%x: tensor<4x8xf32>, %b: tensor<4x2xf32>, %p: tensor<4xi32>, %o: tensor<4x8xf32>) {
  // expected-error @+1 {{add_rows_c5: expected 'outs' of the shape of 'x' with 2 columns, got 'tensor<4x8xf32>'}}
  %0 = dsv4.add_rows %x columns [2, 2] bias(%b : tensor<4x2xf32>) positions(%p : tensor<4xi32>)
      outs(%o : tensor<4x8xf32>) : tensor<4x8xf32>
  return
}

// -----

//===----------------------------------------------------------------------===//
// scale_weights
//===----------------------------------------------------------------------===//

func.func @scale_weights_c1(%w: tensor<4x?xf32>, %o: tensor<4x8xf32>) {
  // expected-error @+1 {{scale_weights_c1: expected 'weights' of rank >= 1 with a constant last extent between 1 and 65536, got 'tensor<4x?xf32>'}}
  %0 = dsv4.scale_weights %w constants [2.0] outs(%o : tensor<4x8xf32>) : tensor<4x?xf32>
  return
}

// -----

func.func @scale_weights_c2(%w: tensor<4x8xf32>, %s: tensor<4x1xf32>, %o: tensor<4x8xf32>) {
  // expected-error @+1 {{scale_weights_c2: expected 'scales' of shape [4, 8], got 'tensor<4x1xf32>'}}
  %0 = dsv4.scale_weights %w scales(%s : tensor<4x1xf32>) outs(%o : tensor<4x8xf32>) : tensor<4x8xf32>
  return
}

// -----

func.func @scale_weights_c2_type(%w: tensor<4x8xf32>, %s: tensor<4x8xbf16>, %o: tensor<4x8xf32>) {
  // expected-error @+1 {{operand #1 must be 'scales', a tensor of 32-bit float values, but got 'tensor<4x8xbf16>'}}
  %0 = dsv4.scale_weights %w scales(%s : tensor<4x8xbf16>) outs(%o : tensor<4x8xf32>) : tensor<4x8xf32>
  return
}

// -----

func.func @scale_weights_c3(%w: tensor<4x8xf32>, %o: tensor<4x8x1xf32>) {
  // expected-error @+1 {{scale_weights_c3: expected 'outs' of shape [4, 8], got 'tensor<4x8x1xf32>'}}
  %0 = dsv4.scale_weights %w constants [2.0] outs(%o : tensor<4x8x1xf32>) : tensor<4x8xf32>
  return
}

// -----

func.func @scale_weights_c4(%w: tensor<4x8xf32>, %o: tensor<4x8xf32>) {
  // expected-error @+1 {{scale_weights_c4: expected finite 'constants', got array<f32: 2.000000e+00, 0x7F800000>}}
  %0 = dsv4.scale_weights %w constants [2.0, 1.0e+40] outs(%o : tensor<4x8xf32>) : tensor<4x8xf32>
  return
}

// -----

func.func @scale_weights_c5(%w: tensor<4x8xf32>, %o: tensor<4x8xf32>) {
  // expected-error @+1 {{scale_weights_c5: expected 'scales' or 'constants', which the weights are multiplied by}}
  %0 = dsv4.scale_weights %w outs(%o : tensor<4x8xf32>) : tensor<4x8xf32>
  return
}

// -----

//===----------------------------------------------------------------------===//
// concat_rows
//===----------------------------------------------------------------------===//

func.func @concat_rows_c1(%x: tensor<?x?xbf16>, %y: tensor<?x64xbf16>, %o: tensor<?x128xbf16>) {
  // expected-error @+1 {{concat_rows_c1: expected 'x' of rank >= 1 with a constant last extent between 1 and 65536, got 'tensor<?x?xbf16>'}}
  %0 = dsv4.concat_rows %x, %y outs(%o : tensor<?x128xbf16>) : tensor<?x?xbf16>, tensor<?x64xbf16>
  return
}

// -----

func.func @concat_rows_c1_second(%x: tensor<64xbf16>, %y: tensor<bf16>, %o: tensor<65xbf16>) {
  // expected-error @+1 {{concat_rows_c1: expected 'y' of rank >= 1 with a constant last extent between 1 and 65536, got 'tensor<bf16>'}}
  %0 = dsv4.concat_rows %x, %y outs(%o : tensor<65xbf16>) : tensor<64xbf16>, tensor<bf16>
  return
}

// -----

func.func @concat_rows_c2(%x: tensor<4x64xbf16>, %y: tensor<5x64xbf16>, %o: tensor<4x128xbf16>) {
  // expected-error @+1 {{concat_rows_c2: expected 'y' of 'bf16' and shape [4, 64], got 'tensor<5x64xbf16>'}}
  %0 = dsv4.concat_rows %x, %y outs(%o : tensor<4x128xbf16>) : tensor<4x64xbf16>, tensor<5x64xbf16>
  return
}

// -----

func.func @concat_rows_c2_type(%x: tensor<4x64xbf16>, %y: tensor<4x64xf16>, %o: tensor<4x128xbf16>) {
  // expected-error @+1 {{concat_rows_c2: expected 'y' of 'bf16' and shape [4, 64], got 'tensor<4x64xf16>'}}
  %0 = dsv4.concat_rows %x, %y outs(%o : tensor<4x128xbf16>) : tensor<4x64xbf16>, tensor<4x64xf16>
  return
}

// -----

func.func @concat_rows_c3(%x: tensor<?x64xbf16>, %y: tensor<?x32xbf16>, %o: tensor<?x128xbf16>) {
  // expected-error @+1 {{concat_rows_c3: expected 'outs' of 'bf16' and shape [?, 96], with at most 65536 columns, got 'tensor<?x128xbf16>'}}
  %0 = dsv4.concat_rows %x, %y outs(%o : tensor<?x128xbf16>) : tensor<?x64xbf16>, tensor<?x32xbf16>
  return
}

// -----

func.func @concat_rows_c3_type(%x: tensor<?x64xbf16>, %y: tensor<?x32xbf16>, %o: tensor<?x96xf32>) {
  // expected-error @+1 {{concat_rows_c3: expected 'outs' of 'bf16' and shape [?, 96], with at most 65536 columns, got 'tensor<?x96xf32>'}}
  %0 = dsv4.concat_rows %x, %y outs(%o : tensor<?x96xf32>) : tensor<?x64xbf16>, tensor<?x32xbf16>
  return
}

// -----

func.func @concat_rows_c3_wide(%x: tensor<?x65536xbf16>, %y: tensor<?x1xbf16>, %o: tensor<?x65537xbf16>) {
  // expected-error @+1 {{concat_rows_c3: expected 'outs' of 'bf16' and shape [?, 65537], with at most 65536 columns, got 'tensor<?x65537xbf16>'}}
  %0 = dsv4.concat_rows %x, %y outs(%o : tensor<?x65537xbf16>) : tensor<?x65536xbf16>, tensor<?x1xbf16>
  return
}
