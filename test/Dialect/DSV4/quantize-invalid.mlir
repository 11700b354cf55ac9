// One case for every way to violate a clause of quantize. quantize_c5 is in
// quantizer-invalid.mlir.

// RUN: dsv4-opt %s --split-input-file --verify-diagnostics

func.func @quantize_c1(%x: tensor<4x?xbf16>, %d: tensor<4x64xf8E4M3FN>, %s: tensor<4x1xf8E8M0FNU>) {
  // expected-error @+1 {{quantize_c1: expected 'x' of rank >= 1 with a constant last extent between 1 and 65536, got 'tensor<4x?xbf16>'}}
  %0:2 = dsv4.quantize %x
      outs(%d, %s : tensor<4x64xf8E4M3FN>, tensor<4x1xf8E8M0FNU>)
      {format = #dsv4.format<f8E4M3FN, [<f8E8M0FNU per 64>]>,
       recipe = #dsv4.quantizer<rounding = up_pow2>} : tensor<4x?xbf16>
  return
}

// -----

func.func @quantize_c1_rank(%x: tensor<bf16>, %d: tensor<f8E4M3FN>, %s: tensor<f8E8M0FNU>) {
  // expected-error @+1 {{quantize_c1: expected 'x' of rank >= 1 with a constant last extent between 1 and 65536, got 'tensor<bf16>'}}
  %0:2 = dsv4.quantize %x
      outs(%d, %s : tensor<f8E4M3FN>, tensor<f8E8M0FNU>)
      {format = #dsv4.format<f8E4M3FN, [<f8E8M0FNU per 64>]>,
       recipe = #dsv4.quantizer<rounding = up_pow2>} : tensor<bf16>
  return
}

// -----

func.func @quantize_c1_unranked(%x: tensor<*xf32>, %d: tensor<?x512xf8E4M3FN>, %s: tensor<?x8xf8E8M0FNU>) {
  // expected-error @+1 {{quantize_c1: expected 'x' of rank >= 1 with a constant last extent between 1 and 65536, got 'tensor<*xf32>'}}
  %0:2 = dsv4.quantize %x columns [0, 512]
      outs(%d, %s : tensor<?x512xf8E4M3FN>, tensor<?x8xf8E8M0FNU>)
      {format = #dsv4.format<f8E4M3FN, [<f8E8M0FNU per 64>]>,
       recipe = #dsv4.quantizer<rounding = up_pow2>} : tensor<*xf32>
  return
}

// -----

func.func @quantize_c1_zero(%x: tensor<4x0xf32>, %d: tensor<4x0xf8E4M3FN>, %s: tensor<4x0xf8E8M0FNU>) {
  // expected-error @+1 {{quantize_c1: expected 'x' of rank >= 1 with a constant last extent between 1 and 65536, got 'tensor<4x0xf32>'}}
  %0:2 = dsv4.quantize %x
      outs(%d, %s : tensor<4x0xf8E4M3FN>, tensor<4x0xf8E8M0FNU>)
      {format = #dsv4.format<f8E4M3FN, [<f8E8M0FNU per 64>]>,
       recipe = #dsv4.quantizer<rounding = up_pow2>} : tensor<4x0xf32>
  return
}

// -----

// Even where the columns are few.
func.func @quantize_c1_large(%x: tensor<4x65600xf32>, %d: tensor<4x64xf8E4M3FN>, %s: tensor<4x1xf8E8M0FNU>) {
  // expected-error @+1 {{quantize_c1: expected 'x' of rank >= 1 with a constant last extent between 1 and 65536, got 'tensor<4x65600xf32>'}}
  %0:2 = dsv4.quantize %x columns [0, 64]
      outs(%d, %s : tensor<4x64xf8E4M3FN>, tensor<4x1xf8E8M0FNU>)
      {format = #dsv4.format<f8E4M3FN, [<f8E8M0FNU per 64>]>,
       recipe = #dsv4.quantizer<rounding = up_pow2>} : tensor<4x65600xf32>
  return
}

// -----

func.func @quantize_c1_type(%x: tensor<4x64xf64>, %d: tensor<4x64xf8E4M3FN>, %s: tensor<4x1xf8E8M0FNU>) {
  // expected-error @+1 {{operand #0 must be 'x', a tensor of bfloat16 type or 16-bit float or 32-bit float values, but got 'tensor<4x64xf64>'}}
  %0:2 = dsv4.quantize %x
      outs(%d, %s : tensor<4x64xf8E4M3FN>, tensor<4x1xf8E8M0FNU>)
      {format = #dsv4.format<f8E4M3FN, [<f8E8M0FNU per 64>]>,
       recipe = #dsv4.quantizer<rounding = up_pow2>} : tensor<4x64xf64>
  return
}

// -----

func.func @quantize_c2(%x: tensor<?x512xbf16>, %d: tensor<?x448xf8E4M3FN>, %s: tensor<?x7xf8E8M0FNU>) {
  // expected-error @+1 {{quantize_c2: expected columns within the 512 of a row, got 448 columns from column 65 on}}
  %0:2 = dsv4.quantize %x columns [65, 448]
      outs(%d, %s : tensor<?x448xf8E4M3FN>, tensor<?x7xf8E8M0FNU>)
      {format = #dsv4.format<f8E4M3FN, [<f8E8M0FNU per 64>]>,
       recipe = #dsv4.quantizer<rounding = up_pow2>} : tensor<?x512xbf16>
  return
}

// -----

func.func @quantize_c2_negative(%x: tensor<?x512xbf16>, %d: tensor<?x512xf8E4M3FN>, %s: tensor<?x8xf8E8M0FNU>) {
  // expected-error @+1 {{quantize_c2: expected the first column and a positive number of columns of 512, got array<i64: -64, 512>}}
  %0:2 = dsv4.quantize %x columns [-64, 512]
      outs(%d, %s : tensor<?x512xf8E4M3FN>, tensor<?x8xf8E8M0FNU>)
      {format = #dsv4.format<f8E4M3FN, [<f8E8M0FNU per 64>]>,
       recipe = #dsv4.quantizer<rounding = up_pow2>} : tensor<?x512xbf16>
  return
}

// -----

func.func @quantize_c2_none(%x: tensor<?x512xbf16>, %d: tensor<?x0xf8E4M3FN>, %s: tensor<?x0xf8E8M0FNU>) {
  // expected-error @+1 {{quantize_c2: expected the first column and a positive number of columns of 512, got array<i64: 64, 0>}}
  %0:2 = dsv4.quantize %x columns [64, 0]
      outs(%d, %s : tensor<?x0xf8E4M3FN>, tensor<?x0xf8E8M0FNU>)
      {format = #dsv4.format<f8E4M3FN, [<f8E8M0FNU per 64>]>,
       recipe = #dsv4.quantizer<rounding = up_pow2>} : tensor<?x512xbf16>
  return
}

// -----

func.func @quantize_c2_negative_count(%x: tensor<?x512xbf16>, %d: tensor<?x512xf8E4M3FN>, %s: tensor<?x8xf8E8M0FNU>) {
  // expected-error @+1 {{quantize_c2: expected the first column and a positive number of columns of 512, got array<i64: 64, -64>}}
  %0:2 = dsv4.quantize %x columns [64, -64]
      outs(%d, %s : tensor<?x512xf8E4M3FN>, tensor<?x8xf8E8M0FNU>)
      {format = #dsv4.format<f8E4M3FN, [<f8E8M0FNU per 64>]>,
       recipe = #dsv4.quantizer<rounding = up_pow2>} : tensor<?x512xbf16>
  return
}

// -----

func.func @quantize_c2_empty(%x: tensor<?x512xbf16>, %d: tensor<?x512xf8E4M3FN>, %s: tensor<?x8xf8E8M0FNU>) {
  // expected-error @+1 {{quantize_c2: expected the first column and a positive number of columns of 512, got array<i64>}}
  %0:2 = dsv4.quantize %x columns []
      outs(%d, %s : tensor<?x512xf8E4M3FN>, tensor<?x8xf8E8M0FNU>)
      {format = #dsv4.format<f8E4M3FN, [<f8E8M0FNU per 64>]>,
       recipe = #dsv4.quantizer<rounding = up_pow2>} : tensor<?x512xbf16>
  return
}

// -----

func.func @quantize_c2_one(%x: tensor<?x512xbf16>, %d: tensor<?x512xf8E4M3FN>, %s: tensor<?x8xf8E8M0FNU>) {
  // expected-error @+1 {{quantize_c2: expected the first column and a positive number of columns of 512, got array<i64: 0>}}
  %0:2 = dsv4.quantize %x columns [0]
      outs(%d, %s : tensor<?x512xf8E4M3FN>, tensor<?x8xf8E8M0FNU>)
      {format = #dsv4.format<f8E4M3FN, [<f8E8M0FNU per 64>]>,
       recipe = #dsv4.quantizer<rounding = up_pow2>} : tensor<?x512xbf16>
  return
}

// -----

func.func @quantize_c2_three(%x: tensor<?x512xbf16>, %d: tensor<?x512xf8E4M3FN>, %s: tensor<?x8xf8E8M0FNU>) {
  // expected-error @+1 {{quantize_c2: expected the first column and a positive number of columns of 512, got array<i64: 0, 512, 0>}}
  %0:2 = dsv4.quantize %x columns [0, 512, 0]
      outs(%d, %s : tensor<?x512xf8E4M3FN>, tensor<?x8xf8E8M0FNU>)
      {format = #dsv4.format<f8E4M3FN, [<f8E8M0FNU per 64>]>,
       recipe = #dsv4.quantizer<rounding = up_pow2>} : tensor<?x512xbf16>
  return
}

// -----

// Numbers whose sum does not fit into 64 bits.
func.func @quantize_c2_overflow(%x: tensor<?x512xbf16>, %d: tensor<?x512xf8E4M3FN>, %s: tensor<?x8xf8E8M0FNU>) {
  // expected-error @+1 {{quantize_c2: expected columns within the 512 of a row, got 9223372036854775807 columns from column 9223372036854775807 on}}
  %0:2 = dsv4.quantize %x columns [9223372036854775807, 9223372036854775807]
      outs(%d, %s : tensor<?x512xf8E4M3FN>, tensor<?x8xf8E8M0FNU>)
      {format = #dsv4.format<f8E4M3FN, [<f8E8M0FNU per 64>]>,
       recipe = #dsv4.quantizer<rounding = up_pow2>} : tensor<?x512xbf16>
  return
}

// -----

func.func @quantize_c2_overflow_negative(%x: tensor<?x512xbf16>, %d: tensor<?x512xf8E4M3FN>, %s: tensor<?x8xf8E8M0FNU>) {
  // expected-error @+1 {{quantize_c2: expected the first column and a positive number of columns of 512, got array<i64: 0, -9223372036854775808>}}
  %0:2 = dsv4.quantize %x columns [0, -9223372036854775808]
      outs(%d, %s : tensor<?x512xf8E4M3FN>, tensor<?x8xf8E8M0FNU>)
      {format = #dsv4.format<f8E4M3FN, [<f8E8M0FNU per 64>]>,
       recipe = #dsv4.quantizer<rounding = up_pow2>} : tensor<?x512xbf16>
  return
}

// -----

func.func @quantize_c3(%x: tensor<?x512xbf16>, %d: tensor<?x512xi4>, %s: tensor<?xf32>) {
  // expected-error @+1 {{quantize_c3: expected f8E4M3FN or f4E2M1FN elements, got #dsv4.format<i4, [<f32 per row>]}}
  %0:2 = dsv4.quantize %x
      outs(%d, %s : tensor<?x512xi4>, tensor<?xf32>)
      {format = #dsv4.format<i4, [<f32 per row>]>,
       recipe = #dsv4.quantizer<>} : tensor<?x512xbf16>
  return
}

// -----

// Four bits have no NaN but that of a scale.
func.func @quantize_c3_no_levels(%x: tensor<?x512xbf16>, %d: tensor<?x512xf4E2M1FN>) {
  // expected-error @+1 {{quantize_c3: expected scales of f4E2M1FN elements, got #dsv4.format<f4E2M1FN>}}
  %0 = dsv4.quantize %x
      outs(%d : tensor<?x512xf4E2M1FN>)
      {format = #dsv4.format<f4E2M1FN>} : tensor<?x512xbf16>
  return
}

// -----

func.func @quantize_c3_three_levels(%x: tensor<?x512xbf16>, %d: tensor<?x512xf8E4M3FN>, %s: tensor<?x8xf32>, %t: tensor<?xf32>, %g: tensor<1xf32>) {
  // expected-error @+1 {{quantize_c3: expected at most two levels of scales, got}}
  %0:3 = dsv4.quantize %x given(%g : tensor<1xf32>)
      outs(%d, %s, %t : tensor<?x512xf8E4M3FN>, tensor<?x8xf32>, tensor<?xf32>)
      {format = #dsv4.format<f8E4M3FN, [<f32 per 64>, <f32 per row>, <f32 per tensor>]>,
       recipe = #dsv4.quantizer<>} : tensor<?x512xbf16>
  return
}

// -----

func.func @quantize_c3_first_type(%x: tensor<?x512xbf16>, %d: tensor<?x512xf8E4M3FN>, %s: tensor<?x8xbf16>) {
  // expected-error @+1 {{quantize_c3: expected first scales of f8E8M0FNU, f8E4M3FN or f32 per group or per row, got}}
  %0:2 = dsv4.quantize %x
      outs(%d, %s : tensor<?x512xf8E4M3FN>, tensor<?x8xbf16>)
      {format = #dsv4.format<f8E4M3FN, [<bf16 per 64>]>,
       recipe = #dsv4.quantizer<>} : tensor<?x512xbf16>
  return
}

// -----

func.func @quantize_c3_first_tensor(%x: tensor<?x512xbf16>, %d: tensor<?x512xf8E4M3FN>, %g: tensor<1xf32>, %t: tensor<?xf32>) {
  // expected-error @+1 {{quantize_c3: expected first scales of f8E8M0FNU, f8E4M3FN or f32 per group or per row, got}}
  %0:2 = dsv4.quantize %x given(%g : tensor<1xf32>)
      outs(%d, %t : tensor<?x512xf8E4M3FN>, tensor<?xf32>)
      {format = #dsv4.format<f8E4M3FN, [<f32 per tensor>, <f32 per row>]>,
       recipe = #dsv4.quantizer<>} : tensor<?x512xbf16>
  return
}

// -----

func.func @quantize_c3_second_type(%x: tensor<?x512xbf16>, %d: tensor<?x512xf8E4M3FN>, %s: tensor<?x8xf8E4M3FN>, %t: tensor<?xbf16>) {
  // expected-error @+1 {{quantize_c3: expected second scales of f32, per row or per tensor, over first ones of f8E4M3FN per group, got}}
  %0:3 = dsv4.quantize %x
      outs(%d, %s, %t : tensor<?x512xf8E4M3FN>, tensor<?x8xf8E4M3FN>, tensor<?xbf16>)
      {format = #dsv4.format<f8E4M3FN, [<f8E4M3FN per 64>, <bf16 per row>]>,
       recipe = #dsv4.quantizer<>} : tensor<?x512xbf16>
  return
}

// -----

func.func @quantize_c3_second_group(%x: tensor<?x512xbf16>, %d: tensor<?x512xf8E4M3FN>, %s: tensor<?x8xf8E4M3FN>, %t: tensor<?x2xf32>) {
  // expected-error @+1 {{quantize_c3: expected second scales of f32, per row or per tensor, over first ones of f8E4M3FN per group, got}}
  %0:3 = dsv4.quantize %x
      outs(%d, %s, %t : tensor<?x512xf8E4M3FN>, tensor<?x8xf8E4M3FN>, tensor<?x2xf32>)
      {format = #dsv4.format<f8E4M3FN, [<f8E4M3FN per 64>, <f32 per 256>]>,
       recipe = #dsv4.quantizer<>} : tensor<?x512xbf16>
  return
}

// -----

func.func @quantize_c3_row_of_rows(%x: tensor<?x512xbf16>, %d: tensor<?x512xf8E4M3FN>, %s: tensor<?xf32>, %t: tensor<?xf32>) {
  // expected-error @+1 {{quantize_c3: expected second scales of f32, per row or per tensor, over first ones of f8E4M3FN per group, got}}
  %0:3 = dsv4.quantize %x
      outs(%d, %s, %t : tensor<?x512xf8E4M3FN>, tensor<?xf32>, tensor<?xf32>)
      {format = #dsv4.format<f8E4M3FN, [<f32 per row>, <f32 per row>]>,
       recipe = #dsv4.quantizer<>} : tensor<?x512xbf16>
  return
}

// -----

// They divide the row.
func.func @quantize_c3_divides(%x: tensor<?x512xbf16>, %d: tensor<?x480xf8E4M3FN>, %s: tensor<?x7xf8E8M0FNU>) {
  // expected-error @+1 {{quantize_c3: groups of 64 do not divide the 480 columns, got}}
  %0:2 = dsv4.quantize %x columns [0, 480]
      outs(%d, %s : tensor<?x480xf8E4M3FN>, tensor<?x7xf8E8M0FNU>)
      {format = #dsv4.format<f8E4M3FN, [<f8E8M0FNU per 64>]>,
       recipe = #dsv4.quantizer<rounding = up_pow2>} : tensor<?x512xbf16>
  return
}

// -----

func.func @quantize_c3_group_large(%x: tensor<?x512xbf16>, %d: tensor<?x512xf8E4M3FN>, %s: tensor<?x1xf8E8M0FNU>) {
  // expected-error @+1 {{quantize_c3: groups of 9223372036854775807 do not divide the 512 columns, got}}
  %0:2 = dsv4.quantize %x
      outs(%d, %s : tensor<?x512xf8E4M3FN>, tensor<?x1xf8E8M0FNU>)
      {format = #dsv4.format<f8E4M3FN, [<f8E8M0FNU per 9223372036854775807>]>,
       recipe = #dsv4.quantizer<rounding = up_pow2>} : tensor<?x512xbf16>
  return
}

// -----

func.func @quantize_c3_odd(%x: tensor<?x512xbf16>, %d: tensor<?x15xf4E2M1FN>, %s: tensor<?xf32>) {
  // expected-error @+1 {{quantize_c3: expected an even number of 4-bit columns, got}}
  %0:2 = dsv4.quantize %x columns [0, 15]
      outs(%d, %s : tensor<?x15xf4E2M1FN>, tensor<?xf32>)
      {format = #dsv4.format<f4E2M1FN, [<f32 per row>]>,
       recipe = #dsv4.quantizer<>} : tensor<?x512xbf16>
  return
}

// -----

func.func @quantize_c4(%x: tensor<?x512xbf16>, %d: tensor<?x512xf8E4M3FN>) {
  // expected-error @+1 {{quantize_c4: expected 2 destinations, the payload and a tensor of scales for every level that is not per tensor, got 1}}
  %0 = dsv4.quantize %x
      outs(%d : tensor<?x512xf8E4M3FN>)
      {format = #dsv4.format<f8E4M3FN, [<f8E8M0FNU per 64>]>,
       recipe = #dsv4.quantizer<rounding = up_pow2>} : tensor<?x512xbf16>
  return
}

// -----

func.func @quantize_c4_more(%x: tensor<?x512xbf16>, %d: tensor<?x512xf8E4M3FN>, %s: tensor<?x8xf8E8M0FNU>, %t: tensor<?xf32>) {
  // expected-error @+1 {{quantize_c4: expected 2 destinations, the payload and a tensor of scales for every level that is not per tensor, got 3}}
  %0:3 = dsv4.quantize %x
      outs(%d, %s, %t : tensor<?x512xf8E4M3FN>, tensor<?x8xf8E8M0FNU>, tensor<?xf32>)
      {format = #dsv4.format<f8E4M3FN, [<f8E8M0FNU per 64>]>,
       recipe = #dsv4.quantizer<rounding = up_pow2>} : tensor<?x512xbf16>
  return
}

// -----

// A level per tensor is given, not computed.
func.func @quantize_c4_tensor(%x: tensor<?x512xbf16>, %d: tensor<?x512xf8E4M3FN>, %s: tensor<?x8xf8E4M3FN>, %t: tensor<1xf32>, %g: tensor<1xf32>) {
  // expected-error @+1 {{quantize_c4: expected 2 destinations, the payload and a tensor of scales for every level that is not per tensor, got 3}}
  %0:3 = dsv4.quantize %x given(%g : tensor<1xf32>)
      outs(%d, %s, %t : tensor<?x512xf8E4M3FN>, tensor<?x8xf8E4M3FN>, tensor<1xf32>)
      {format = #dsv4.format<f8E4M3FN, [<f8E4M3FN per 64>, <f32 per tensor>]>,
       recipe = #dsv4.quantizer<>} : tensor<?x512xbf16>
  return
}

// -----

func.func @quantize_c4_codes(%x: tensor<?x512xbf16>, %d: tensor<?x512xf8E4M3FN>, %s: tensor<?x7xf8E8M0FNU>) {
  // expected-error @+1 {{quantize_c4: expected destination 0 of 'f8E4M3FN' and shape [?, 448], got 'tensor<?x512xf8E4M3FN>'}}
  %0:2 = dsv4.quantize %x columns [0, 448]
      outs(%d, %s : tensor<?x512xf8E4M3FN>, tensor<?x7xf8E8M0FNU>)
      {format = #dsv4.format<f8E4M3FN, [<f8E8M0FNU per 64>]>,
       recipe = #dsv4.quantizer<rounding = up_pow2>} : tensor<?x512xbf16>
  return
}

// -----

func.func @quantize_c4_codes_type(%x: tensor<?x512xbf16>, %d: tensor<?x512xf8E5M2>, %s: tensor<?x8xf8E8M0FNU>) {
  // expected-error @+1 {{quantize_c4: expected destination 0 of 'f8E4M3FN' and shape [?, 512], got 'tensor<?x512xf8E5M2>'}}
  %0:2 = dsv4.quantize %x
      outs(%d, %s : tensor<?x512xf8E5M2>, tensor<?x8xf8E8M0FNU>)
      {format = #dsv4.format<f8E4M3FN, [<f8E8M0FNU per 64>]>,
       recipe = #dsv4.quantizer<rounding = up_pow2>} : tensor<?x512xbf16>
  return
}

// -----

func.func @quantize_c4_codes_dynamic(%x: tensor<?x512xbf16>, %d: tensor<?x?xf8E4M3FN>, %s: tensor<?x8xf8E8M0FNU>) {
  // expected-error @+1 {{quantize_c4: expected destination 0 of 'f8E4M3FN' and shape [?, 512], got 'tensor<?x?xf8E4M3FN>'}}
  %0:2 = dsv4.quantize %x
      outs(%d, %s : tensor<?x?xf8E4M3FN>, tensor<?x8xf8E8M0FNU>)
      {format = #dsv4.format<f8E4M3FN, [<f8E8M0FNU per 64>]>,
       recipe = #dsv4.quantizer<rounding = up_pow2>} : tensor<?x512xbf16>
  return
}

// -----

func.func @quantize_c4_rows(%x: tensor<4x512xbf16>, %d: tensor<5x512xf8E4M3FN>, %s: tensor<4x8xf8E8M0FNU>) {
  // expected-error @+1 {{quantize_c4: expected destination 0 of 'f8E4M3FN' and shape [4, 512], got 'tensor<5x512xf8E4M3FN>'}}
  %0:2 = dsv4.quantize %x
      outs(%d, %s : tensor<5x512xf8E4M3FN>, tensor<4x8xf8E8M0FNU>)
      {format = #dsv4.format<f8E4M3FN, [<f8E8M0FNU per 64>]>,
       recipe = #dsv4.quantizer<rounding = up_pow2>} : tensor<4x512xbf16>
  return
}

// -----

func.func @quantize_c4_rank(%x: tensor<?x512xbf16>, %d: tensor<f8E4M3FN>, %s: tensor<?x8xf8E8M0FNU>) {
  // expected-error @+1 {{quantize_c4: expected destination 0 of 'f8E4M3FN' and shape [?, 512], got 'tensor<f8E4M3FN>'}}
  %0:2 = dsv4.quantize %x
      outs(%d, %s : tensor<f8E4M3FN>, tensor<?x8xf8E8M0FNU>)
      {format = #dsv4.format<f8E4M3FN, [<f8E8M0FNU per 64>]>,
       recipe = #dsv4.quantizer<rounding = up_pow2>} : tensor<?x512xbf16>
  return
}

// -----

func.func @quantize_c4_scales(%x: tensor<?x512xbf16>, %d: tensor<?x512xf8E4M3FN>, %s: tensor<?x7xf8E8M0FNU>) {
  // expected-error @+1 {{quantize_c4: expected destination 1 of 'f8E8M0FNU' and shape [?, 8], got 'tensor<?x7xf8E8M0FNU>'}}
  %0:2 = dsv4.quantize %x
      outs(%d, %s : tensor<?x512xf8E4M3FN>, tensor<?x7xf8E8M0FNU>)
      {format = #dsv4.format<f8E4M3FN, [<f8E8M0FNU per 64>]>,
       recipe = #dsv4.quantizer<rounding = up_pow2>} : tensor<?x512xbf16>
  return
}

// -----

func.func @quantize_c4_scales_type(%x: tensor<?x512xbf16>, %d: tensor<?x512xf8E4M3FN>, %s: tensor<?x8xf32>) {
  // expected-error @+1 {{quantize_c4: expected destination 1 of 'f8E8M0FNU' and shape [?, 8], got 'tensor<?x8xf32>'}}
  %0:2 = dsv4.quantize %x
      outs(%d, %s : tensor<?x512xf8E4M3FN>, tensor<?x8xf32>)
      {format = #dsv4.format<f8E4M3FN, [<f8E8M0FNU per 64>]>,
       recipe = #dsv4.quantizer<rounding = up_pow2>} : tensor<?x512xbf16>
  return
}

// -----

func.func @quantize_c4_scales_row(%x: tensor<?x512xbf16>, %d: tensor<?x512xf8E4M3FN>, %s: tensor<?x1xf32>) {
  // expected-error @+1 {{quantize_c4: expected destination 1 of 'f32' and shape [?], got 'tensor<?x1xf32>'}}
  %0:2 = dsv4.quantize %x
      outs(%d, %s : tensor<?x512xf8E4M3FN>, tensor<?x1xf32>)
      {format = #dsv4.format<f8E4M3FN, [<f32 per row>]>,
       recipe = #dsv4.quantizer<>} : tensor<?x512xbf16>
  return
}

// -----

func.func @quantize_c4_outer(%x: tensor<?x512xbf16>, %d: tensor<?x512xf4E2M1FN>, %s: tensor<?x32xf8E4M3FN>, %t: tensor<1x?xf32>) {
  // expected-error @+1 {{quantize_c4: expected destination 2 of 'f32' and shape [?], got 'tensor<1x?xf32>'}}
  %0:3 = dsv4.quantize %x
      outs(%d, %s, %t : tensor<?x512xf4E2M1FN>, tensor<?x32xf8E4M3FN>, tensor<1x?xf32>)
      {format = #dsv4.format<f4E2M1FN, [<f8E4M3FN per 16>, <f32 per row>]>,
       recipe = #dsv4.quantizer<>} : tensor<?x512xbf16>
  return
}

// -----

func.func @quantize_c4_unranked(%x: tensor<?x512xbf16>, %d: tensor<?x512xf8E4M3FN>, %s: tensor<*xf8E8M0FNU>) {
  // expected-error @+1 {{operand #2 must be variadic of 'outs', a ranked tensor of any type values, but got 'tensor<*xf8E8M0FNU>'}}
  %0:2 = dsv4.quantize %x
      outs(%d, %s : tensor<?x512xf8E4M3FN>, tensor<*xf8E8M0FNU>)
      {format = #dsv4.format<f8E4M3FN, [<f8E8M0FNU per 64>]>,
       recipe = #dsv4.quantizer<rounding = up_pow2>} : tensor<?x512xbf16>
  return
}

// -----

func.func @quantize_c4_none(%x: tensor<?x512xbf16>) {
  // expected-error @+1 {{quantize_c4: expected 2 destinations, the payload and a tensor of scales for every level that is not per tensor, got 0}}
  "dsv4.quantize"(%x) <{format = #dsv4.format<f8E4M3FN, [<f8E8M0FNU per 64>]>,
      operandSegmentSizes = array<i32: 1, 0, 0>, recipe = #dsv4.quantizer<rounding = up_pow2>}>
      : (tensor<?x512xbf16>) -> ()
  return
}

// -----

func.func @quantize_c4_result(%x: tensor<4xf32>, %d: tensor<4xf8E4M3FN>, %s: tensor<f32>) {
  // expected-error @+1 {{expected type of operand #1 ('tensor<4xf8E4M3FN>') to match type of corresponding result ('tensor<5xf8E4M3FN>')}}
  %0:2 = "dsv4.quantize"(%x, %d, %s) <{format = #dsv4.format<f8E4M3FN, [<f32 per row>]>,
      operandSegmentSizes = array<i32: 1, 0, 2>, recipe = #dsv4.quantizer<>}>
      : (tensor<4xf32>, tensor<4xf8E4M3FN>, tensor<f32>) -> (tensor<5xf8E4M3FN>, tensor<f32>)
  return
}

// -----

func.func @quantize_c6(%x: tensor<?x512xbf16>, %d: tensor<?x512xf4E2M1FN>, %s: tensor<?x32xf8E4M3FN>) {
  // expected-error @+1 {{quantize_c6: expected 'given', the scale per tensor}}
  %0:2 = dsv4.quantize %x
      outs(%d, %s : tensor<?x512xf4E2M1FN>, tensor<?x32xf8E4M3FN>)
      {format = #dsv4.format<f4E2M1FN, [<f8E4M3FN per 16>, <f32 per tensor>]>,
       recipe = #dsv4.quantizer<>} : tensor<?x512xbf16>
  return
}

// -----

func.func @quantize_c6_no_level(%x: tensor<?x512xbf16>, %d: tensor<?x512xf8E4M3FN>, %s: tensor<?x8xf8E8M0FNU>, %g: tensor<1xf32>) {
  // expected-error @+1 {{quantize_c6: the format has no level per tensor}}
  %0:2 = dsv4.quantize %x given(%g : tensor<1xf32>)
      outs(%d, %s : tensor<?x512xf8E4M3FN>, tensor<?x8xf8E8M0FNU>)
      {format = #dsv4.format<f8E4M3FN, [<f8E8M0FNU per 64>]>,
       recipe = #dsv4.quantizer<rounding = up_pow2>} : tensor<?x512xbf16>
  return
}

// -----

// A level per row is computed, not given.
func.func @quantize_c6_outer(%x: tensor<?x512xbf16>, %d: tensor<?x512xf4E2M1FN>, %s: tensor<?x32xf8E4M3FN>, %t: tensor<?xf32>, %g: tensor<1xf32>) {
  // expected-error @+1 {{quantize_c6: the format has no level per tensor}}
  %0:3 = dsv4.quantize %x given(%g : tensor<1xf32>)
      outs(%d, %s, %t : tensor<?x512xf4E2M1FN>, tensor<?x32xf8E4M3FN>, tensor<?xf32>)
      {format = #dsv4.format<f4E2M1FN, [<f8E4M3FN per 16>, <f32 per row>]>,
       recipe = #dsv4.quantizer<>} : tensor<?x512xbf16>
  return
}

// -----

func.func @quantize_c6_shape(%x: tensor<?x512xbf16>, %d: tensor<?x512xf4E2M1FN>, %s: tensor<?x32xf8E4M3FN>, %g: tensor<f32>) {
  // expected-error @+1 {{quantize_c6: expected 'given' of shape [1], got 'tensor<f32>'}}
  %0:2 = dsv4.quantize %x given(%g : tensor<f32>)
      outs(%d, %s : tensor<?x512xf4E2M1FN>, tensor<?x32xf8E4M3FN>)
      {format = #dsv4.format<f4E2M1FN, [<f8E4M3FN per 16>, <f32 per tensor>]>,
       recipe = #dsv4.quantizer<>} : tensor<?x512xbf16>
  return
}

// -----

func.func @quantize_c6_extent(%x: tensor<?x512xbf16>, %d: tensor<?x512xf4E2M1FN>, %s: tensor<?x32xf8E4M3FN>, %g: tensor<2xf32>) {
  // expected-error @+1 {{quantize_c6: expected 'given' of shape [1], got 'tensor<2xf32>'}}
  %0:2 = dsv4.quantize %x given(%g : tensor<2xf32>)
      outs(%d, %s : tensor<?x512xf4E2M1FN>, tensor<?x32xf8E4M3FN>)
      {format = #dsv4.format<f4E2M1FN, [<f8E4M3FN per 16>, <f32 per tensor>]>,
       recipe = #dsv4.quantizer<>} : tensor<?x512xbf16>
  return
}

// -----

func.func @quantize_c6_unranked(%x: tensor<?x512xbf16>, %d: tensor<?x512xf4E2M1FN>, %s: tensor<?x32xf8E4M3FN>, %g: tensor<*xf32>) {
  // expected-error @+1 {{quantize_c6: expected 'given' of shape [1], got 'tensor<*xf32>'}}
  %0:2 = dsv4.quantize %x given(%g : tensor<*xf32>)
      outs(%d, %s : tensor<?x512xf4E2M1FN>, tensor<?x32xf8E4M3FN>)
      {format = #dsv4.format<f4E2M1FN, [<f8E4M3FN per 16>, <f32 per tensor>]>,
       recipe = #dsv4.quantizer<>} : tensor<?x512xbf16>
  return
}

// -----

func.func @quantize_c6_type(%x: tensor<?x512xbf16>, %d: tensor<?x512xf4E2M1FN>, %s: tensor<?x32xf8E4M3FN>, %g: tensor<1xbf16>) {
  // expected-error @+1 {{operand #1 must be 'given', a tensor of 32-bit float values, but got 'tensor<1xbf16>'}}
  %0:2 = dsv4.quantize %x given(%g : tensor<1xbf16>)
      outs(%d, %s : tensor<?x512xf4E2M1FN>, tensor<?x32xf8E4M3FN>)
      {format = #dsv4.format<f4E2M1FN, [<f8E4M3FN per 16>, <f32 per tensor>]>,
       recipe = #dsv4.quantizer<>} : tensor<?x512xbf16>
  return
}

// -----

// The schedule of a kernel is compared with ops that are known to be right.
func.func @quantize_in_kernel(%x: tensor<*xbf16>, %d: tensor<?x512xf8E4M3FN>, %s: tensor<?x8xf8E8M0FNU>) {
  dsv4.kernel @k(%x, %d, %s) schedule <threads = 128, parts = [#dsv4.rows<lanes = 8, vector = 8>]>
      : (tensor<*xbf16>, tensor<?x512xf8E4M3FN>, tensor<?x8xf8E8M0FNU>) -> () {
  ^bb0(%x1: tensor<*xbf16>, %d1: tensor<?x512xf8E4M3FN>, %s1: tensor<?x8xf8E8M0FNU>):
    // expected-error @+1 {{quantize_c1: }}
    %0:2 = dsv4.quantize %x1 columns []
        outs(%d1, %s1 : tensor<?x512xf8E4M3FN>, tensor<?x8xf8E8M0FNU>)
        {format = #dsv4.format<f8E4M3FN, [<f8E8M0FNU per 64>]>,
         recipe = #dsv4.quantizer<rounding = up_pow2>} : tensor<*xbf16>
  }
  return
}

// -----

// Over powers of two an outer scale would always be the smallest.
func.func @quantize_c3_first_of_two(%x: tensor<?x512xbf16>, %d: tensor<?x512xf8E4M3FN>, %s: tensor<?x8xf8E8M0FNU>, %t: tensor<?xf32>) {
  // expected-error @+1 {{quantize_c3: expected second scales of f32, per row or per tensor, over first ones of f8E4M3FN per group, got}}
  %0:3 = dsv4.quantize %x
      outs(%d, %s, %t : tensor<?x512xf8E4M3FN>, tensor<?x8xf8E8M0FNU>, tensor<?xf32>)
      {format = #dsv4.format<f8E4M3FN, [<f8E8M0FNU per 64>, <f32 per row>]>,
       recipe = #dsv4.quantizer<rounding = up_pow2>} : tensor<?x512xbf16>
  return
}

// -----

func.func @quantize_c3_high_first(%x: tensor<?x512xbf16>, %d: tensor<?x512xf4E2M1FN>, %s: tensor<?x32xf8E4M3FN>) {
  // expected-error @+1 {{quantize_c3: expected the even element of a pair in the low nibble, got}}
  %0:2 = dsv4.quantize %x
      outs(%d, %s : tensor<?x512xf4E2M1FN>, tensor<?x32xf8E4M3FN>)
      {format = #dsv4.format<f4E2M1FN, [<f8E4M3FN per 16>], high_first>,
       recipe = #dsv4.quantizer<>} : tensor<?x512xbf16>
  return
}

// -----

func.func @quantize_c4_column_major(%x: tensor<?x640xbf16>, %d: tensor<?x640xf8E4M3FN>, %s: tensor<6x?xf8E8M0FNU>) {
  // expected-error @+1 {{quantize_c4: expected destination 1 of 'f8E8M0FNU' and shape [5, ?], got 'tensor<6x?xf8E8M0FNU>'}}
  %0:2 = dsv4.quantize %x scales column_major outs(%d, %s : tensor<?x640xf8E4M3FN>, tensor<6x?xf8E8M0FNU>) {format = #dsv4.format<f8E4M3FN, [<f8E8M0FNU per 128>]>, recipe = #dsv4.quantizer<rounding = up_pow2>} : tensor<?x640xbf16>
  return
}

// -----

func.func @quantize_c4_packed(%x: tensor<?x640xbf16>, %d: tensor<?x640xf8E4M3FN>, %s: tensor<2x?xf8E8M0FNU>) {
  // expected-error @+1 {{quantize_c4: expected destination 1 of 'i32' and shape [2, ?], got 'tensor<2x?xf8E8M0FNU>'}}
  %0:2 = dsv4.quantize %x scales packed outs(%d, %s : tensor<?x640xf8E4M3FN>, tensor<2x?xf8E8M0FNU>) {format = #dsv4.format<f8E4M3FN, [<f8E8M0FNU per 128>]>, recipe = #dsv4.quantizer<rounding = up_pow2>} : tensor<?x640xbf16>
  return
}

// -----

func.func @quantize_c4_swizzle(%x: tensor<?x640xbf16>, %d: tensor<?x640xf8E4M3FN>, %s: tensor<?x5xf8E8M0FNU>) {
  // expected-error @+1 {{quantize_c4: expected destination 1 of 'f8E8M0FNU' and shape [?, 8], got 'tensor<?x5xf8E8M0FNU>'}}
  %0:2 = dsv4.quantize %x scales swizzle_8x4 outs(%d, %s : tensor<?x640xf8E4M3FN>, tensor<?x5xf8E8M0FNU>) {format = #dsv4.format<f8E4M3FN, [<f8E8M0FNU per 128>]>, recipe = #dsv4.quantizer<rounding = up_pow2>} : tensor<?x640xbf16>
  return
}

// -----

func.func @quantize_c7_rank(%x: tensor<2x?x640xbf16>, %d: tensor<2x?x640xf8E4M3FN>, %s: tensor<5x?xf8E8M0FNU>) {
  // expected-error @+1 {{quantize_c7: expected 'x' of rank 2 with 'scales column_major', got 'tensor<2x?x640xbf16>'}}
  %0:2 = dsv4.quantize %x scales column_major outs(%d, %s : tensor<2x?x640xf8E4M3FN>, tensor<5x?xf8E8M0FNU>) {format = #dsv4.format<f8E4M3FN, [<f8E8M0FNU per 128>]>, recipe = #dsv4.quantizer<rounding = up_pow2>} : tensor<2x?x640xbf16>
  return
}

// -----

func.func @quantize_c7_group(%x: tensor<?x640xbf16>, %d: tensor<?x640xf8E4M3FN>, %s: tensor<?xf32>) {
  // expected-error @+1 {{quantize_c7: expected a first level of scales per group with 'scales column_major', got #dsv4.format<f8E4M3FN, [<f32 per row>]>}}
  %0:2 = dsv4.quantize %x scales column_major outs(%d, %s : tensor<?x640xf8E4M3FN>, tensor<?xf32>) {format = #dsv4.format<f8E4M3FN, [<f32 per row>]>, recipe = #dsv4.quantizer<>} : tensor<?x640xbf16>
  return
}

// -----

func.func @quantize_c7_packed(%x: tensor<?x640xbf16>, %d: tensor<?x640xf8E4M3FN>, %s: tensor<2x?xi32>) {
  // expected-error @+1 {{quantize_c7: expected scales of f8E8M0FNU with 'scales packed', got 'f32'}}
  %0:2 = dsv4.quantize %x scales packed outs(%d, %s : tensor<?x640xf8E4M3FN>, tensor<2x?xi32>) {format = #dsv4.format<f8E4M3FN, [<f32 per 128>]>, recipe = #dsv4.quantizer<rounding = up_pow2>} : tensor<?x640xbf16>
  return
}

// -----

func.func @quantize_c7_swizzle(%x: tensor<?x640xbf16>, %d: tensor<?x640xf8E4M3FN>, %s: tensor<?x8xf32>) {
  // expected-error @+1 {{quantize_c7: expected scales of an 8-bit type with 'scales swizzle_128x4', got 'f32'}}
  %0:2 = dsv4.quantize %x scales swizzle_128x4 outs(%d, %s : tensor<?x640xf8E4M3FN>, tensor<?x8xf32>) {format = #dsv4.format<f8E4M3FN, [<f32 per 128>]>, recipe = #dsv4.quantizer<rounding = up_pow2>} : tensor<?x640xbf16>
  return
}

// -----

func.func @quantize_c7_rows(%x: tensor<?x640xbf16>, %d: tensor<?x640xf8E4M3FN>, %s: tensor<200x8xf8E8M0FNU>) {
  // expected-error @+1 {{quantize_c7: expected scales of a multiple of 128 rows, got 'tensor<200x8xf8E8M0FNU>'}}
  %0:2 = dsv4.quantize %x scales swizzle_128x4 outs(%d, %s : tensor<?x640xf8E4M3FN>, tensor<200x8xf8E8M0FNU>) {format = #dsv4.format<f8E4M3FN, [<f8E8M0FNU per 128>]>, recipe = #dsv4.quantizer<rounding = up_pow2>} : tensor<?x640xbf16>
  return
}

// -----

func.func @quantize_c3_given_element(%x: tensor<?x512xbf16>, %g: tensor<1xf32>, %d: tensor<?x512xf4E2M1FN>) {
  // expected-error @+1 {{quantize_c3: expected f8E4M3FN elements and a scale of f32 where the only level is per tensor, got #dsv4.format<f4E2M1FN, [<f32 per tensor>]>}}
  %0 = dsv4.quantize %x given(%g : tensor<1xf32>) outs(%d : tensor<?x512xf4E2M1FN>)
      {format = #dsv4.format<f4E2M1FN, [<f32 per tensor>]>, recipe = #dsv4.quantizer<>} : tensor<?x512xbf16>
  return
}

// -----

// No launch compares the number of groups with anything: it is a constant of the type.
func.func @quantize_c4_groups(%x: tensor<?x640xbf16>, %d: tensor<?x640xf8E4M3FN>, %s: tensor<?x?xf8E8M0FNU>) {
  // expected-error @+1 {{quantize_c4: expected destination 1 of 'f8E8M0FNU' and shape [?, 5], got 'tensor<?x?xf8E8M0FNU>'}}
  %0:2 = dsv4.quantize %x outs(%d, %s : tensor<?x640xf8E4M3FN>, tensor<?x?xf8E8M0FNU>)
      {format = #dsv4.format<f8E4M3FN, [<f8E8M0FNU per 128>]>, recipe = #dsv4.quantizer<rounding = up_pow2>} : tensor<?x640xbf16>
  return
}

// -----

func.func @quantize_c3_given_scale(%x: tensor<?x512xbf16>, %g: tensor<1xf32>, %d: tensor<?x512xf8E4M3FN>) {
  // expected-error @+1 {{quantize_c3: expected f8E4M3FN elements and a scale of f32 where the only level is per tensor, got #dsv4.format<f8E4M3FN, [<f8E8M0FNU per tensor>]>}}
  %0 = dsv4.quantize %x given(%g : tensor<1xf32>) outs(%d : tensor<?x512xf8E4M3FN>)
      {format = #dsv4.format<f8E4M3FN, [<f8E8M0FNU per tensor>]>, recipe = #dsv4.quantizer<rounding = up_pow2>} : tensor<?x512xbf16>
  return
}

// -----

func.func @quantize_c4_groups_of_columns(%x: tensor<?x640xbf16>, %d: tensor<?x640xf8E4M3FN>, %s: tensor<?x?xf8E8M0FNU>) {
  // expected-error @+1 {{quantize_c4: expected destination 1 of 'f8E8M0FNU' and shape [5, ?], got 'tensor<?x?xf8E8M0FNU>'}}
  %0:2 = dsv4.quantize %x scales column_major outs(%d, %s : tensor<?x640xf8E4M3FN>, tensor<?x?xf8E8M0FNU>)
      {format = #dsv4.format<f8E4M3FN, [<f8E8M0FNU per 128>]>, recipe = #dsv4.quantizer<rounding = up_pow2>} : tensor<?x640xbf16>
  return
}

// -----

func.func @quantize_c5_given_floor(%x: tensor<?x512xbf16>, %g: tensor<1xf32>, %d: tensor<?x512xf8E4M3FN>) {
  // expected-error @+1 {{quantize_c5: no scale is computed where the only level is per tensor: expected #dsv4.quantizer<payload = reciprocal>, got #dsv4.quantizer<floor = 1.000000e+00 : f32, payload = reciprocal>}}
  %0 = dsv4.quantize %x given(%g : tensor<1xf32>) outs(%d : tensor<?x512xf8E4M3FN>)
      {format = #dsv4.format<f8E4M3FN, [<f32 per tensor>]>, recipe = #dsv4.quantizer<floor = 1.0 : f32, payload = reciprocal>} : tensor<?x512xbf16>
  return
}

// -----

func.func @quantize_c4_packed_groups(%x: tensor<?x640xbf16>, %d: tensor<?x640xf8E4M3FN>, %s: tensor<?x?xi32>) {
  // expected-error @+1 {{quantize_c4: expected destination 1 of 'i32' and shape [2, ?], got 'tensor<?x?xi32>'}}
  %0:2 = dsv4.quantize %x scales packed outs(%d, %s : tensor<?x640xf8E4M3FN>, tensor<?x?xi32>)
      {format = #dsv4.format<f8E4M3FN, [<f8E8M0FNU per 128>]>, recipe = #dsv4.quantizer<rounding = up_pow2>} : tensor<?x640xbf16>
  return
}

// -----

func.func @quantize_c5_given_rounding(%x: tensor<?x512xbf16>, %g: tensor<1xf32>, %d: tensor<?x512xf8E4M3FN>) {
  // expected-error @+1 {{quantize_c5: no scale is computed where the only level is per tensor: expected #dsv4.quantizer<>, got #dsv4.quantizer<rounding = up_pow2>}}
  %0 = dsv4.quantize %x given(%g : tensor<1xf32>) outs(%d : tensor<?x512xf8E4M3FN>)
      {format = #dsv4.format<f8E4M3FN, [<f32 per tensor>]>, recipe = #dsv4.quantizer<rounding = up_pow2>} : tensor<?x512xbf16>
  return
}

// -----

func.func @quantize_c4_swizzled_groups(%x: tensor<?x640xbf16>, %d: tensor<?x640xf8E4M3FN>, %s: tensor<?x?xf8E8M0FNU>) {
  // expected-error @+1 {{quantize_c4: expected destination 1 of 'f8E8M0FNU' and shape [?, 8], got 'tensor<?x?xf8E8M0FNU>'}}
  %0:2 = dsv4.quantize %x scales swizzle_128x4 outs(%d, %s : tensor<?x640xf8E4M3FN>, tensor<?x?xf8E8M0FNU>)
      {format = #dsv4.format<f8E4M3FN, [<f8E8M0FNU per 128>]>, recipe = #dsv4.quantizer<rounding = up_pow2>} : tensor<?x640xbf16>
  return
}

// -----

func.func @quantize_c6_given_alone(%x: tensor<?x512xbf16>, %d: tensor<?x512xf8E4M3FN>) {
  // expected-error @+1 {{quantize_c6: expected 'given', the scale per tensor}}
  %0 = dsv4.quantize %x outs(%d : tensor<?x512xf8E4M3FN>)
      {format = #dsv4.format<f8E4M3FN, [<f32 per tensor>]>, recipe = #dsv4.quantizer<>} : tensor<?x512xbf16>
  return
}

// -----

func.func @quantize_c4_small_swizzled_groups(%x: tensor<?x640xbf16>, %d: tensor<?x640xf8E4M3FN>, %s: tensor<?x?xf8E8M0FNU>) {
  // expected-error @+1 {{quantize_c4: expected destination 1 of 'f8E8M0FNU' and shape [?, 8], got 'tensor<?x?xf8E8M0FNU>'}}
  %0:2 = dsv4.quantize %x scales swizzle_8x4 outs(%d, %s : tensor<?x640xf8E4M3FN>, tensor<?x?xf8E8M0FNU>)
      {format = #dsv4.format<f8E4M3FN, [<f8E8M0FNU per 128>]>, recipe = #dsv4.quantizer<rounding = up_pow2>} : tensor<?x640xbf16>
  return
}

// -----

func.func @quantize_c6_inverse_payload(%x: tensor<?x512xbf16>, %g: tensor<1xf32>, %d: tensor<?x512xf8E4M3FN>) {
  // expected-error @+1 {{quantize_c6: values are multiplied by an 'inverse' that is given: expected 'payload = divide', the default, got #dsv4.quantizer<payload = reciprocal>}}
  %0 = dsv4.quantize %x given inverse(%g : tensor<1xf32>) outs(%d : tensor<?x512xf8E4M3FN>)
      {format = #dsv4.format<f8E4M3FN, [<f32 per tensor>]>, recipe = #dsv4.quantizer<payload = reciprocal>} : tensor<?x512xbf16>
  return
}

// -----

func.func @quantize_c6_dynamic(%x: tensor<?x16xbf16>, %g: tensor<?xf32>, %d: tensor<?x16xf4E2M1FN>, %s: tensor<?x1xf8E4M3FN>) {
  // expected-error @+1 {{quantize_c6: expected 'given' of shape [1], got 'tensor<?xf32>'}}
  %0:2 = dsv4.quantize %x given(%g : tensor<?xf32>) outs(%d, %s : tensor<?x16xf4E2M1FN>, tensor<?x1xf8E4M3FN>)
      {format = #dsv4.format<f4E2M1FN, [<f8E4M3FN per 16>, <f32 per tensor>]>, recipe = #dsv4.quantizer<>} : tensor<?x16xbf16>
  return
}

// -----

func.func @quantize_c6_inverse_levels(%x: tensor<?x512xbf16>, %g: tensor<1xf32>, %d: tensor<?x512xf4E2M1FN>, %s: tensor<?x32xf8E4M3FN>) {
  // expected-error @+1 {{quantize_c6: 'inverse' is for a format whose only level is per tensor, got #dsv4.format<f4E2M1FN, [<f8E4M3FN per 16>, <f32 per tensor>]>}}
  %0:2 = dsv4.quantize %x given inverse(%g : tensor<1xf32>) outs(%d, %s : tensor<?x512xf4E2M1FN>, tensor<?x32xf8E4M3FN>)
      {format = #dsv4.format<f4E2M1FN, [<f8E4M3FN per 16>, <f32 per tensor>]>, recipe = #dsv4.quantizer<>} : tensor<?x512xbf16>
  return
}

// -----

func.func @quantize_c7_given(%x: tensor<?x512xbf16>, %g: tensor<1xf32>, %d: tensor<?x512xf8E4M3FN>) {
  // expected-error @+1 {{quantize_c7: expected a first level of scales per group with 'scales packed', got #dsv4.format<f8E4M3FN, [<f32 per tensor>]>}}
  %0 = dsv4.quantize %x given(%g : tensor<1xf32>) scales packed outs(%d : tensor<?x512xf8E4M3FN>)
      {format = #dsv4.format<f8E4M3FN, [<f32 per tensor>]>, recipe = #dsv4.quantizer<>} : tensor<?x512xbf16>
  return
}

// -----

func.func @quantize_c2_beyond(%x: tensor<?x7168xbf16>, %d: tensor<?x512xf8E4M3FN>) {
  // expected-error @+1 {{quantize_c2: expected columns within the 7168 of a row, got 512 columns from column 7000 on}}
  %0 = dsv4.quantize %x columns [7000, 512] outs(%d : tensor<?x512xf8E4M3FN>) {format = #dsv4.format<f8E4M3FN>} : tensor<?x7168xbf16>
  return
}
