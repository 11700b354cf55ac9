// What: FlashInfer's nvfp4_kv_dequantize(fp4_data, block_scales, global_scale, output_dtype): NVFP4
// with scales in linear order and one scale for the tensor, to bf16.
// Bytes: equal
// Dims: --dim rows=77
// Dims: --dim rows=0
// Parameters: columns = 512 (16 to 65536, multiple of 16)
// Uses: ?x{columns}x | ?x{columns / 16}xf8

#nvfp4 = #dsv4.format<f4E2M1FN, [<f8E4M3FN per 16>, <f32 per tensor>]>

func.func @nvfp4_kv_dequantize(
    %fp4_data: tensor<?x512xf4E2M1FN> {dsv4.name = "fp4_data", dsv4.dims = ["rows", ""]},
    %block_scales: tensor<?x32xf8E4M3FN> {dsv4.name = "block_scales", dsv4.dims = ["rows", ""]},
    %global_scale: tensor<1xf32> {dsv4.name = "global_scale"},
    %out: tensor<?x512xbf16> {dsv4.name = "out", dsv4.dims = ["rows", ""]}) -> tensor<?x512xbf16> {
  %rows = dsv4.dequantize %fp4_data scales(%block_scales, %global_scale : tensor<?x32xf8E4M3FN>, tensor<1xf32>)
      outs(%out : tensor<?x512xbf16>) {format = #nvfp4} : tensor<?x512xf4E2M1FN>
  return %rows : tensor<?x512xbf16>
}
