// One quantize for every recipe of docs/Quantisation.md, those of its table among them: recipes of
// public engines are recipes, and fit their formats.

// RUN: dsv4-opt %s | dsv4-opt | FileCheck %s
// The page has these recipes in this order.
// RUN: grep -o '#dsv4[.]quantizer<[^>]*>' %s > %t.here
// RUN: grep -o '#dsv4[.]quantizer<[^>]*>' %test_dir/../docs/Quantisation.md > %t.page
// RUN: diff %t.here %t.page

// CHECK-LABEL: func.func @given_inverse
// CHECK: dsv4.quantize
func.func @given_inverse(%x: tensor<?x512xf32>, %inverse: tensor<1xf32>, %payload: tensor<?x512xf8E4M3FN>)
    -> tensor<?x512xf8E4M3FN> {
  %q = dsv4.quantize %x given inverse(%inverse : tensor<1xf32>) outs(%payload : tensor<?x512xf8E4M3FN>)
      {format = #dsv4.format<f8E4M3FN, [<f32 per tensor>]>, recipe = #dsv4.quantizer<>} : tensor<?x512xf32>
  return %q : tensor<?x512xf8E4M3FN>
}

// CHECK-LABEL: func.func @act_quant
// CHECK: dsv4.quantize
func.func @act_quant(%x: tensor<?x512xbf16>, %payload: tensor<?x512xf8E4M3FN>, %scales: tensor<?x8xf8E8M0FNU>)
    -> (tensor<?x512xf8E4M3FN>, tensor<?x8xf8E8M0FNU>) {
  %q, %s = dsv4.quantize %x
      outs(%payload, %scales : tensor<?x512xf8E4M3FN>, tensor<?x8xf8E8M0FNU>)
      {format = #dsv4.format<f8E4M3FN, [<f8E8M0FNU per 64>]>,
       recipe = #dsv4.quantizer<floor = 1.0e-04 : f32, limit = reciprocal, rounding = up_pow2>}
      : tensor<?x512xbf16>
  return %q, %s : tensor<?x512xf8E4M3FN>, tensor<?x8xf8E8M0FNU>
}

// CHECK-LABEL: func.func @fp4_act_quant
// CHECK: dsv4.quantize
func.func @fp4_act_quant(%x: tensor<?x512xbf16>, %payload: tensor<?x512xf4E2M1FN>, %scales: tensor<?x16xf8E8M0FNU>)
    -> (tensor<?x512xf4E2M1FN>, tensor<?x16xf8E8M0FNU>) {
  %q, %s = dsv4.quantize %x
      outs(%payload, %scales : tensor<?x512xf4E2M1FN>, tensor<?x16xf8E8M0FNU>)
      {format = #dsv4.format<f4E2M1FN, [<f8E8M0FNU per 32>]>,
       recipe = #dsv4.quantizer<floor = 7.0529661e-38 : f32, limit = reciprocal, rounding = up_pow2>}
      : tensor<?x512xbf16>
  return %q, %s : tensor<?x512xf4E2M1FN>, tensor<?x16xf8E8M0FNU>
}

// CHECK-LABEL: func.func @flashmla_v4
// CHECK: dsv4.quantize
func.func @flashmla_v4(%x: tensor<?x512xbf16>, %payload: tensor<?x448xf8E4M3FN>, %scales: tensor<?x7xf8E8M0FNU>)
    -> (tensor<?x448xf8E4M3FN>, tensor<?x7xf8E8M0FNU>) {
  %q, %s = dsv4.quantize %x columns [0, 448]
      outs(%payload, %scales : tensor<?x448xf8E4M3FN>, tensor<?x7xf8E8M0FNU>)
      {format = #dsv4.format<f8E4M3FN, [<f8E8M0FNU per 64>]>,
       recipe = #dsv4.quantizer<floor = 1.0e-04 : f32, floor_of = scale, rounding = up_pow2>}
      : tensor<?x512xbf16>
  return %q, %s : tensor<?x448xf8E4M3FN>, tensor<?x7xf8E8M0FNU>
}

// CHECK-LABEL: func.func @sglang_v41_fp8
// CHECK: dsv4.quantize
func.func @sglang_v41_fp8(%x: tensor<?x512xbf16>, %payload: tensor<?x512xf8E4M3FN>, %scales: tensor<?x16xf8E8M0FNU>)
    -> (tensor<?x512xf8E4M3FN>, tensor<?x16xf8E8M0FNU>) {
  %q, %s = dsv4.quantize %x
      outs(%payload, %scales : tensor<?x512xf8E4M3FN>, tensor<?x16xf8E8M0FNU>)
      {format = #dsv4.format<f8E4M3FN, [<f8E8M0FNU per 32>]>,
       recipe = #dsv4.quantizer<floor = 1.0e-04 : f32, floor_of = scale, rounding = up_pow2>}
      : tensor<?x512xbf16>
  return %q, %s : tensor<?x512xf8E4M3FN>, tensor<?x16xf8E8M0FNU>
}

// CHECK-LABEL: func.func @v41_fp4
// CHECK: dsv4.quantize
func.func @v41_fp4(%x: tensor<?x512xbf16>, %payload: tensor<?x512xf4E2M1FN>, %scales: tensor<?x32xf8E4M3FN>)
    -> (tensor<?x512xf4E2M1FN>, tensor<?x32xf8E4M3FN>) {
  %q, %s = dsv4.quantize %x
      outs(%payload, %scales : tensor<?x512xf4E2M1FN>, tensor<?x32xf8E4M3FN>)
      {format = #dsv4.format<f4E2M1FN, [<f8E4M3FN per 16>]>,
       recipe = #dsv4.quantizer<floor = 0.001953125 : f32, floor_of = scale, limit = reciprocal>}
      : tensor<?x512xbf16>
  return %q, %s : tensor<?x512xf4E2M1FN>, tensor<?x32xf8E4M3FN>
}

// CHECK-LABEL: func.func @v41_fp4_without_negative_zero
// CHECK: dsv4.quantize
func.func @v41_fp4_without_negative_zero(%x: tensor<?x512xbf16>, %payload: tensor<?x512xf4E2M1FN>, %scales: tensor<?x32xf8E4M3FN>)
    -> (tensor<?x512xf4E2M1FN>, tensor<?x32xf8E4M3FN>) {
  %q, %s = dsv4.quantize %x
      outs(%payload, %scales : tensor<?x512xf4E2M1FN>, tensor<?x32xf8E4M3FN>)
      {format = #dsv4.format<f4E2M1FN, [<f8E4M3FN per 16>]>,
       recipe = #dsv4.quantizer<floor = 0.001953125 : f32, floor_of = scale, limit = reciprocal, drop_negative_zero = true>}
      : tensor<?x512xbf16>
  return %q, %s : tensor<?x512xf4E2M1FN>, tensor<?x32xf8E4M3FN>
}

// CHECK-LABEL: func.func @vllm_nvfp4_352
// CHECK: dsv4.quantize
func.func @vllm_nvfp4_352(%x: tensor<?x512xbf16>, %payload: tensor<?x512xf4E2M1FN>, %scales: tensor<?x32xf8E4M3FN>)
    -> (tensor<?x512xf4E2M1FN>, tensor<?x32xf8E4M3FN>) {
  %q, %s = dsv4.quantize %x
      outs(%payload, %scales : tensor<?x512xf4E2M1FN>, tensor<?x32xf8E4M3FN>)
      {format = #dsv4.format<f4E2M1FN, [<f8E4M3FN per 16>]>,
       recipe = #dsv4.quantizer<floor = 0.001953125 : f32, floor_of = scale, rounding = up, payload = reciprocal>}
      : tensor<?x512xbf16>
  return %q, %s : tensor<?x512xf4E2M1FN>, tensor<?x32xf8E4M3FN>
}

// CHECK-LABEL: func.func @flashinfer_nvfp4
// CHECK: dsv4.quantize
func.func @flashinfer_nvfp4(%x: tensor<?x512xbf16>, %given: tensor<1xf32>, %payload: tensor<?x512xf4E2M1FN>, %scales: tensor<?x32xf8E4M3FN>)
    -> (tensor<?x512xf4E2M1FN>, tensor<?x32xf8E4M3FN>) {
  %q, %s = dsv4.quantize %x given(%given : tensor<1xf32>)
      outs(%payload, %scales : tensor<?x512xf4E2M1FN>, tensor<?x32xf8E4M3FN>)
      {format = #dsv4.format<f4E2M1FN, [<f8E4M3FN per 16>, <f32 per tensor>]>,
       recipe = #dsv4.quantizer<>}
      : tensor<?x512xbf16>
  return %q, %s : tensor<?x512xf4E2M1FN>, tensor<?x32xf8E4M3FN>
}

// CHECK-LABEL: func.func @sglang_index_mxfp4
// CHECK: dsv4.quantize
func.func @sglang_index_mxfp4(%x: tensor<?x128xbf16>, %payload: tensor<?x128xf4E2M1FN>, %scales: tensor<?x4xf8E8M0FNU>)
    -> (tensor<?x128xf4E2M1FN>, tensor<?x4xf8E8M0FNU>) {
  %q, %s = dsv4.quantize %x
      outs(%payload, %scales : tensor<?x128xf4E2M1FN>, tensor<?x4xf8E8M0FNU>)
      {format = #dsv4.format<f4E2M1FN, [<f8E8M0FNU per 32>]>,
       recipe = #dsv4.quantizer<floor = 1.66666669e-05 : f32, floor_of = scale, rounding = up_pow2, ties = down, drop_negative_zero = true>}
      : tensor<?x128xbf16>
  return %q, %s : tensor<?x128xf4E2M1FN>, tensor<?x4xf8E8M0FNU>
}

// CHECK-LABEL: func.func @split_580
// CHECK: dsv4.quantize
func.func @split_580(%x: tensor<?x512xbf16>, %payload: tensor<?x448xf8E4M3FN>, %scales: tensor<?xf32>)
    -> (tensor<?x448xf8E4M3FN>, tensor<?xf32>) {
  %q, %s = dsv4.quantize %x columns [0, 448]
      outs(%payload, %scales : tensor<?x448xf8E4M3FN>, tensor<?xf32>)
      {format = #dsv4.format<f8E4M3FN, [<f32 per row>]>,
       recipe = #dsv4.quantizer<floor = 1.0e-12 : f32, floor_of = scale>}
      : tensor<?x512xbf16>
  return %q, %s : tensor<?x448xf8E4M3FN>, tensor<?xf32>
}

// CHECK-LABEL: func.func @per_token_group_fp8
// CHECK: dsv4.quantize
func.func @per_token_group_fp8(%x: tensor<?x512xbf16>, %payload: tensor<?x512xf8E4M3FN>, %scales: tensor<?x4xf32>)
    -> (tensor<?x512xf8E4M3FN>, tensor<?x4xf32>) {
  %q, %s = dsv4.quantize %x
      outs(%payload, %scales : tensor<?x512xf8E4M3FN>, tensor<?x4xf32>)
      {format = #dsv4.format<f8E4M3FN, [<f32 per 128>]>,
       recipe = #dsv4.quantizer<floor = 1.0e-10 : f32>}
      : tensor<?x512xbf16>
  return %q, %s : tensor<?x512xf8E4M3FN>, tensor<?x4xf32>
}

// CHECK-LABEL: func.func @per_token_group_fp8_ue8m0
// CHECK: dsv4.quantize
func.func @per_token_group_fp8_ue8m0(%x: tensor<?x512xbf16>, %payload: tensor<?x512xf8E4M3FN>,
                                     %scales: tensor<?x4xf32>)
    -> (tensor<?x512xf8E4M3FN>, tensor<?x4xf32>) {
  %q, %s = dsv4.quantize %x
      outs(%payload, %scales : tensor<?x512xf8E4M3FN>, tensor<?x4xf32>)
      {format = #dsv4.format<f8E4M3FN, [<f32 per 128>]>,
       recipe = #dsv4.quantizer<floor = 1.0e-10 : f32, rounding = up_pow2>}
      : tensor<?x512xbf16>
  return %q, %s : tensor<?x512xf8E4M3FN>, tensor<?x4xf32>
}

// CHECK-LABEL: func.func @deepgemm_index_fp8
// CHECK: dsv4.quantize
func.func @deepgemm_index_fp8(%x: tensor<?x128xbf16>, %payload: tensor<?x128xf8E4M3FN>, %scales: tensor<?xf32>)
    -> (tensor<?x128xf8E4M3FN>, tensor<?xf32>) {
  %q, %s = dsv4.quantize %x
      outs(%payload, %scales : tensor<?x128xf8E4M3FN>, tensor<?xf32>)
      {format = #dsv4.format<f8E4M3FN, [<f32 per row>]>,
       recipe = #dsv4.quantizer<floor = 1.0e-04 : f32, payload = reciprocal>}
      : tensor<?x128xbf16>
  return %q, %s : tensor<?x128xf8E4M3FN>, tensor<?xf32>
}

// CHECK-LABEL: func.func @vllm_index_q
// CHECK: dsv4.quantize
func.func @vllm_index_q(%x: tensor<?x128xbf16>, %payload: tensor<?x128xf8E4M3FN>, %scales: tensor<?xf32>)
    -> (tensor<?x128xf8E4M3FN>, tensor<?xf32>) {
  %q, %s = dsv4.quantize %x
      outs(%payload, %scales : tensor<?x128xf8E4M3FN>, tensor<?xf32>)
      {format = #dsv4.format<f8E4M3FN, [<f32 per row>]>,
       recipe = #dsv4.quantizer<floor = 1.0e-04 : f32, limit = reciprocal, rounding = up_pow2>}
      : tensor<?x128xbf16>
  return %q, %s : tensor<?x128xf8E4M3FN>, tensor<?xf32>
}

// CHECK-LABEL: func.func @vllm_index_k
// CHECK: dsv4.quantize
func.func @vllm_index_k(%x: tensor<?x128xbf16>, %payload: tensor<?x128xf8E4M3FN>, %scales: tensor<?xf32>)
    -> (tensor<?x128xf8E4M3FN>, tensor<?xf32>) {
  %q, %s = dsv4.quantize %x
      outs(%payload, %scales : tensor<?x128xf8E4M3FN>, tensor<?xf32>)
      {format = #dsv4.format<f8E4M3FN, [<f32 per row>]>,
       recipe = #dsv4.quantizer<floor = 1.0e-04 : f32, rounding = up_pow2>}
      : tensor<?x128xbf16>
  return %q, %s : tensor<?x128xf8E4M3FN>, tensor<?xf32>
}

// CHECK-LABEL: func.func @flashmla_v32
// CHECK: dsv4.quantize
func.func @flashmla_v32(%x: tensor<?x512xbf16>, %payload: tensor<?x512xf8E4M3FN>, %scales: tensor<?x4xf32>)
    -> (tensor<?x512xf8E4M3FN>, tensor<?x4xf32>) {
  %q, %s = dsv4.quantize %x
      outs(%payload, %scales : tensor<?x512xf8E4M3FN>, tensor<?x4xf32>)
      {format = #dsv4.format<f8E4M3FN, [<f32 per 128>]>,
       recipe = #dsv4.quantizer<floor = 1.0e-04 : f32, floor_of = scale, rounding = up_pow2>}
      : tensor<?x512xbf16>
  return %q, %s : tensor<?x512xf8E4M3FN>, tensor<?x4xf32>
}

// CHECK-LABEL: func.func @vllm_v32
// CHECK: dsv4.quantize
func.func @vllm_v32(%x: tensor<?x512xbf16>, %payload: tensor<?x512xf8E4M3FN>, %scales: tensor<?x4xf32>)
    -> (tensor<?x512xf8E4M3FN>, tensor<?x4xf32>) {
  %q, %s = dsv4.quantize %x
      outs(%payload, %scales : tensor<?x512xf8E4M3FN>, tensor<?x4xf32>)
      {format = #dsv4.format<f8E4M3FN, [<f32 per 128>]>,
       recipe = #dsv4.quantizer<floor = 1.17549435e-38 : f32, floor_of = scale>}
      : tensor<?x512xbf16>
  return %q, %s : tensor<?x512xf8E4M3FN>, tensor<?x4xf32>
}

// CHECK-LABEL: func.func @vllm_full_cache
// CHECK: dsv4.quantize
func.func @vllm_full_cache(%x: tensor<?x512xf32>, %scale: tensor<1xf32>, %payload: tensor<?x512xf8E4M3FN>)
    -> tensor<?x512xf8E4M3FN> {
  %q = dsv4.quantize %x given(%scale : tensor<1xf32>) outs(%payload : tensor<?x512xf8E4M3FN>)
      {format = #dsv4.format<f8E4M3FN, [<f32 per tensor>]>, recipe = #dsv4.quantizer<payload = reciprocal>}
      : tensor<?x512xf32>
  return %q : tensor<?x512xf8E4M3FN>
}
