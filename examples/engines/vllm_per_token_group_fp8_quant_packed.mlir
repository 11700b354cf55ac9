// What: `_C.per_token_group_fp8_quant_packed` of vLLM: powers of two as scales, the exponents of
// four groups in an i32, one row of i32 for four groups.
// Bytes: equal
// Dims: --dim rows=5 --dim scale_rows=8
// Dims: --dim rows=0 --dim scale_rows=4
// Dims: --dim rows=132 --dim scale_rows=132
// Parameters: columns = 7168 (512 to 65536, multiple of 512)
// Uses: ?x{columns}x | tensor<{columns / 512}x?xi32

#format = #dsv4.format<f8E4M3FN, [<f8E8M0FNU per 128>]>
#recipe = #dsv4.quantizer<floor = 1.0e-10 : f32, rounding = up_pow2>

func.func @vllm_per_token_group_fp8_quant_packed(
    %x: tensor<?x7168xbf16> {dsv4.name = "x", dsv4.dims = ["rows", ""]},
    %data: tensor<?x7168xf8E4M3FN> {dsv4.name = "data", dsv4.dims = ["rows", ""]},
    %scales: tensor<14x?xi32> {dsv4.name = "scales", dsv4.dims = ["", "scale_rows"]})
    -> (tensor<?x7168xf8E4M3FN>, tensor<14x?xi32>) {
  %payload, %group_scales = dsv4.quantize %x scales packed
      outs(%data, %scales : tensor<?x7168xf8E4M3FN>, tensor<14x?xi32>)
      {format = #format, recipe = #recipe} : tensor<?x7168xbf16>
  return %payload, %group_scales : tensor<?x7168xf8E4M3FN>, tensor<14x?xi32>
}
