// What: `_C.per_token_group_fp8_quant` of vLLM with a transposed, TMA-aligned tensor of scales: one
// row of it for each group, padded to a multiple of 4 tokens.
// Bytes: equal
// Dims: --dim rows=5 --dim scale_rows=8
// Dims: --dim rows=0 --dim scale_rows=4
// Dims: --dim rows=132 --dim scale_rows=132
// Parameters: columns = 7168 (128 to 65536, multiple of 128)
// Uses: ?x{columns}x | tensor<{columns / 128}x?xf32

#format = #dsv4.format<f8E4M3FN, [<f32 per 128>]>
#recipe = #dsv4.quantizer<floor = 1.0e-10 : f32>

func.func @vllm_per_token_group_fp8_quant_column_major(
    %x: tensor<?x7168xbf16> {dsv4.name = "x", dsv4.dims = ["rows", ""]},
    %data: tensor<?x7168xf8E4M3FN> {dsv4.name = "data", dsv4.dims = ["rows", ""]},
    %scales: tensor<56x?xf32> {dsv4.name = "scales", dsv4.dims = ["", "scale_rows"]})
    -> (tensor<?x7168xf8E4M3FN>, tensor<56x?xf32>) {
  %payload, %group_scales = dsv4.quantize %x scales column_major
      outs(%data, %scales : tensor<?x7168xf8E4M3FN>, tensor<56x?xf32>)
      {format = #format, recipe = #recipe} : tensor<?x7168xbf16>
  return %payload, %group_scales : tensor<?x7168xf8E4M3FN>, tensor<56x?xf32>
}
