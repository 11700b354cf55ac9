// What: `sglang_per_token_group_quant_fp8` of SGLang and `per_token_group_quant_8bit` of FlashInfer
// with `column_major_scales`, `scale_tma_aligned` and `scale_ue8m0`: powers of two in f32.
// Bytes: equal
// Dims: --dim rows=5 --dim scale_rows=8
// Dims: --dim rows=0 --dim scale_rows=4
// Dims: --dim rows=132 --dim scale_rows=132
// Parameters: columns = 2048 (128 to 65536, multiple of 128)
// Uses: ?x{columns}x | tensor<{columns / 128}x?xf32

#format = #dsv4.format<f8E4M3FN, [<f32 per 128>]>
#recipe = #dsv4.quantizer<floor = 1.0e-10 : f32, rounding = up_pow2>

func.func @sglang_per_token_group_quant_fp8(
    %x: tensor<?x2048xbf16> {dsv4.name = "x", dsv4.dims = ["rows", ""]},
    %data: tensor<?x2048xf8E4M3FN> {dsv4.name = "data", dsv4.dims = ["rows", ""]},
    %scales: tensor<16x?xf32> {dsv4.name = "scales", dsv4.dims = ["", "scale_rows"]})
    -> (tensor<?x2048xf8E4M3FN>, tensor<16x?xf32>) {
  %payload, %group_scales = dsv4.quantize %x scales column_major
      outs(%data, %scales : tensor<?x2048xf8E4M3FN>, tensor<16x?xf32>)
      {format = #format, recipe = #recipe} : tensor<?x2048xbf16>
  return %payload, %group_scales : tensor<?x2048xf8E4M3FN>, tensor<16x?xf32>
}
