// One case for every way to violate a clause of #dsv4.quantizer, and for what the
// grammar itself refuses.

// RUN: dsv4-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{quantizer_c1: expected a floor of f32 that is 0 or positive and finite, got -1.000000e+00 : f32}}
func.func private @quantizer_c1() attributes {test.a = #dsv4.quantizer<floor = -1.0 : f32>}

// -----

// expected-error @+1 {{quantizer_c1: expected a floor of f32 that is 0 or positive and finite, got -0.000000e+00 : f32}}
func.func private @quantizer_c1_negative_zero() attributes {test.a = #dsv4.quantizer<floor = -0.0 : f32>}

// -----

// expected-error @+1 {{quantizer_c1: expected a floor of f32 that is 0 or positive and finite, got 0x7F800000 : f32}}
func.func private @quantizer_c1_infinite() attributes {test.a = #dsv4.quantizer<floor = 0x7F800000 : f32>}

// -----

// expected-error @+1 {{quantizer_c1: expected a floor of f32 that is 0 or positive and finite, got 0x7FC00000 : f32}}
func.func private @quantizer_c1_nan() attributes {test.a = #dsv4.quantizer<floor = 0x7FC00000 : f32>}

// -----

// Too large for f32.
// expected-error @+1 {{quantizer_c1: expected a floor of f32 that is 0 or positive and finite, got 0x7F800000 : f32}}
func.func private @quantizer_c1_large() attributes {test.a = #dsv4.quantizer<floor = 1.0e+39>}

// -----

// expected-error @+1 {{quantizer_c1: expected a floor of f32 that is 0 or positive and finite, got 1.000000e+00 : bf16}}
func.func private @quantizer_c1_bf16() attributes {test.a = #dsv4.quantizer<floor = 1.0 : bf16>}

// -----

// expected-error @+2 {{expected a number of f32 with a point, such as 1.0e-10, got 1 : i32}}
// expected-error @+1 {{failed to parse DSV4_QuantizerAttr parameter 'floor' which is to be a `::mlir::FloatAttr`}}
func.func private @quantizer_floor() attributes {test.a = #dsv4.quantizer<floor = 1 : i32>}

// -----

// expected-error @+2 {{expected one of [amax, scale] for what a floor bounds from below, got: row}}
// expected-error @+1 {{failed to parse DSV4_QuantizerAttr parameter 'floor_of' which is to be a `FloorKind`}}
func.func private @quantizer_floor_of() attributes {test.a = #dsv4.quantizer<floor_of = row>}

// -----

// expected-error @+2 {{expected one of [divide, reciprocal] for how a quotient is computed, got: multiply}}
// expected-error @+1 {{failed to parse DSV4_QuantizerAttr parameter 'limit' which is to be a `Quotient`}}
func.func private @quantizer_limit() attributes {test.a = #dsv4.quantizer<limit = multiply>}

// -----

// expected-error @+2 {{expected one of [nearest, up, up_pow2] for how a scale is rounded, got: down}}
// expected-error @+1 {{failed to parse DSV4_QuantizerAttr parameter 'rounding' which is to be a `ScaleRounding`}}
func.func private @quantizer_rounding() attributes {test.a = #dsv4.quantizer<rounding = down>}

// -----

// expected-error @+2 {{expected one of [divide, reciprocal] for how a quotient is computed, got: nearest}}
// expected-error @+1 {{failed to parse DSV4_QuantizerAttr parameter 'payload' which is to be a `Quotient`}}
func.func private @quantizer_payload() attributes {test.a = #dsv4.quantizer<payload = nearest>}

// -----

// expected-error @+2 {{expected one of [even, down] for how a value halfway between two payload values is rounded, got: up}}
// expected-error @+1 {{failed to parse DSV4_QuantizerAttr parameter 'ties' which is to be a `Ties`}}
func.func private @quantizer_ties() attributes {test.a = #dsv4.quantizer<ties = up>}

// -----

// expected-error @+1 {{duplicate or unknown struct parameter name: ceiling}}
func.func private @quantizer_unknown() attributes {test.a = #dsv4.quantizer<ceiling = 1.0 : f32>}

// -----

// expected-error @+1 {{duplicate or unknown struct parameter name: ties}}
func.func private @quantizer_twice() attributes {test.a = #dsv4.quantizer<ties = down, ties = down>}

// -----

//===----------------------------------------------------------------------===//
// Where the recipe meets a format: quantize_c5
//===----------------------------------------------------------------------===//

func.func @quantizer_c2(%x: tensor<?x512xbf16>, %d: tensor<?x512xf8E4M3FN>, %s: tensor<?x8xf8E8M0FNU>) {
  // expected-error @+1 {{quantize_c5: quantizer_c2: only f4E2M1FN elements have 'ties = down' or 'drop_negative_zero'}}
  %0:2 = dsv4.quantize %x
      outs(%d, %s : tensor<?x512xf8E4M3FN>, tensor<?x8xf8E8M0FNU>)
      {format = #dsv4.format<f8E4M3FN, [<f8E8M0FNU per 64>]>,
       recipe = #dsv4.quantizer<rounding = up_pow2, ties = down>} : tensor<?x512xbf16>
  return
}

// -----

func.func @quantizer_c2_negative_zero(%x: tensor<?x512xbf16>, %d: tensor<?x512xf8E4M3FN>, %s: tensor<?x8xf8E8M0FNU>) {
  // expected-error @+1 {{quantize_c5: quantizer_c2: only f4E2M1FN elements have 'ties = down' or 'drop_negative_zero'}}
  %0:2 = dsv4.quantize %x
      outs(%d, %s : tensor<?x512xf8E4M3FN>, tensor<?x8xf8E8M0FNU>)
      {format = #dsv4.format<f8E4M3FN, [<f8E8M0FNU per 64>]>,
       recipe = #dsv4.quantizer<rounding = up_pow2, drop_negative_zero = true>} : tensor<?x512xbf16>
  return
}

// -----

func.func @quantizer_c3(%x: tensor<?x512xbf16>, %d: tensor<?x512xf8E4M3FN>, %s: tensor<?x8xf8E8M0FNU>) {
  // expected-error @+1 {{quantize_c5: quantizer_c3: scales of f8E8M0FNU are not rounded 'nearest'}}
  %0:2 = dsv4.quantize %x
      outs(%d, %s : tensor<?x512xf8E4M3FN>, tensor<?x8xf8E8M0FNU>)
      {format = #dsv4.format<f8E4M3FN, [<f8E8M0FNU per 64>]>,
       recipe = #dsv4.quantizer<>} : tensor<?x512xbf16>
  return
}

// -----

func.func @quantizer_c3_e8m0_up(%x: tensor<?x512xbf16>, %d: tensor<?x512xf8E4M3FN>, %s: tensor<?x8xf8E8M0FNU>) {
  // expected-error @+1 {{quantize_c5: quantizer_c3: scales of f8E8M0FNU are not rounded 'up'}}
  %0:2 = dsv4.quantize %x
      outs(%d, %s : tensor<?x512xf8E4M3FN>, tensor<?x8xf8E8M0FNU>)
      {format = #dsv4.format<f8E4M3FN, [<f8E8M0FNU per 64>]>,
       recipe = #dsv4.quantizer<rounding = up>} : tensor<?x512xbf16>
  return
}

// -----

func.func @quantizer_c3_e4m3(%x: tensor<?x512xbf16>, %d: tensor<?x512xf8E4M3FN>, %s: tensor<?x8xf8E4M3FN>) {
  // expected-error @+1 {{quantize_c5: quantizer_c3: scales of f8E4M3FN are not rounded 'up_pow2'}}
  %0:2 = dsv4.quantize %x
      outs(%d, %s : tensor<?x512xf8E4M3FN>, tensor<?x8xf8E4M3FN>)
      {format = #dsv4.format<f8E4M3FN, [<f8E4M3FN per 64>]>,
       recipe = #dsv4.quantizer<rounding = up_pow2>} : tensor<?x512xbf16>
  return
}

// -----

func.func @quantizer_c3_f32(%x: tensor<?x512xbf16>, %d: tensor<?x512xf8E4M3FN>, %s: tensor<?x8xf32>) {
  // expected-error @+1 {{quantize_c5: quantizer_c3: scales of f32 are not rounded 'up'}}
  %0:2 = dsv4.quantize %x
      outs(%d, %s : tensor<?x512xf8E4M3FN>, tensor<?x8xf32>)
      {format = #dsv4.format<f8E4M3FN, [<f32 per 64>]>,
       recipe = #dsv4.quantizer<rounding = up>} : tensor<?x512xbf16>
  return
}

// -----

func.func @quantize_c5_no_recipe(%x: tensor<?x512xbf16>, %d: tensor<?x512xf8E4M3FN>, %s: tensor<?x8xf32>) {
  // expected-error @+1 {{quantize_c5: expected a 'recipe' (#dsv4.quantizer) for the scales of the format}}
  %0:2 = dsv4.quantize %x
      outs(%d, %s : tensor<?x512xf8E4M3FN>, tensor<?x8xf32>)
      {format = #dsv4.format<f8E4M3FN, [<f32 per 64>]>} : tensor<?x512xbf16>
  return
}

// -----

func.func @quantize_c5_recipe_of_nothing(%x: tensor<?x512xbf16>, %d: tensor<?x512xf8E4M3FN>) {
  // expected-error @+1 {{quantize_c5: a format without scales has no 'recipe'}}
  %0 = dsv4.quantize %x outs(%d : tensor<?x512xf8E4M3FN>)
      {format = #dsv4.format<f8E4M3FN>, recipe = #dsv4.quantizer<>} : tensor<?x512xbf16>
  return
}

// -----

func.func @quantize_c6_given_to_nothing(%x: tensor<?x512xbf16>, %g: tensor<1xf32>, %d: tensor<?x512xf8E4M3FN>) {
  // expected-error @+1 {{quantize_c6: the format has no level per tensor}}
  %0 = dsv4.quantize %x given(%g : tensor<1xf32>) outs(%d : tensor<?x512xf8E4M3FN>)
      {format = #dsv4.format<f8E4M3FN>} : tensor<?x512xbf16>
  return
}

// -----

func.func @quantize_c4_no_scales(%x: tensor<?x512xbf16>, %d: tensor<?x512xf8E4M3FN>, %s: tensor<?x8xf32>) {
  // expected-error @+1 {{quantize_c4: expected 1 destinations, the payload and a tensor of scales for every level that is not per tensor, got 2}}
  %0:2 = dsv4.quantize %x outs(%d, %s : tensor<?x512xf8E4M3FN>, tensor<?x8xf32>)
      {format = #dsv4.format<f8E4M3FN>} : tensor<?x512xbf16>
  return
}

// -----

// expected-error @+2 {{expected a number of f32 with a point, such as 1.0e-10, got 1 : i64}}
// expected-error @+1 {{failed to parse DSV4_QuantizerAttr parameter 'floor' which is to be a `::mlir::FloatAttr`}}
func.func private @without_a_point() attributes {test.a = #dsv4.quantizer<floor = 1e-10>}

// -----

// A floor that is 0 would be none.
// expected-error @+2 {{expected a number that is not 0 as an f32, or 0.0, got 1.0e-50}}
// expected-error @+1 {{failed to parse DSV4_QuantizerAttr parameter 'floor' which is to be a `::mlir::FloatAttr`}}
func.func private @too_small() attributes {test.a = #dsv4.quantizer<floor = 1.0e-50>}

// -----

// expected-error @+2 {{expected a number that is not 0 as an f32, or 0.0, got 1.0e-50 : f32}}
// expected-error @+1 {{failed to parse DSV4_QuantizerAttr parameter 'floor' which is to be a `::mlir::FloatAttr`}}
func.func private @too_small_f32() attributes {test.a = #dsv4.quantizer<floor = 1.0e-50 : f32>}
