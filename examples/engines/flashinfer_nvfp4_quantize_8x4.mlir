// What: `nvfp4_quantize` of FlashInfer with `sfLayout=layout_8x4`.
// Bytes: last bits; engines divide by approximate reciprocals
// Dims: --dim rows=5 --dim scale_rows=8
// Dims: --dim rows=0 --dim scale_rows=8
// Dims: --dim rows=131 --dim scale_rows=136
// Parameters: columns = 2048 (64 to 65536, multiple of 64)
// Uses: ?x{columns}x | ?x{columns / 16}xf8

#format = #dsv4.format<f4E2M1FN, [<f8E4M3FN per 16>, <f32 per tensor>]>
#recipe = #dsv4.quantizer<>

func.func @flashinfer_nvfp4_quantize_8x4(
    %x: tensor<?x2048xbf16> {dsv4.name = "x", dsv4.dims = ["rows", ""]},
    %global: tensor<1xf32> {dsv4.name = "global"},
    %data: tensor<?x2048xf4E2M1FN> {dsv4.name = "data", dsv4.dims = ["rows", ""]},
    %scales: tensor<?x128xf8E4M3FN> {dsv4.name = "scales", dsv4.dims = ["scale_rows", ""]})
    -> (tensor<?x2048xf4E2M1FN>, tensor<?x128xf8E4M3FN>) {
  %payload, %group_scales = dsv4.quantize %x given(%global : tensor<1xf32>) scales swizzle_8x4
      outs(%data, %scales : tensor<?x2048xf4E2M1FN>, tensor<?x128xf8E4M3FN>)
      {format = #format, recipe = #recipe} : tensor<?x2048xbf16>
  return %payload, %group_scales : tensor<?x2048xf4E2M1FN>, tensor<?x128xf8E4M3FN>
}
