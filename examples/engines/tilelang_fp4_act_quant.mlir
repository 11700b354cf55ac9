// What: `fp4_act_quant` of TileLang: power-of-two scales of 32 elements, as f32.
// Bytes: equal
// Dims: --dim rows=5
// Dims: --dim rows=0
// Dims: --dim rows=131
// Parameters: columns = 512 (32 to 65536, multiple of 32)
// Uses: ?x{columns}x | ?x{columns / 32}xf32

#format = #dsv4.format<f4E2M1FN, [<f32 per 32>]>
#recipe = #dsv4.quantizer<floor = 7.0529661e-38 : f32, limit = reciprocal, rounding = up_pow2>

func.func @tilelang_fp4_act_quant(
    %x: tensor<?x512xbf16> {dsv4.name = "x", dsv4.dims = ["rows", ""]},
    %data: tensor<?x512xf4E2M1FN> {dsv4.name = "data", dsv4.dims = ["rows", ""]},
    %scales: tensor<?x16xf32> {dsv4.name = "scales", dsv4.dims = ["rows", ""]})
    -> (tensor<?x512xf4E2M1FN>, tensor<?x16xf32>) {
  %payload, %group_scales = dsv4.quantize %x
      outs(%data, %scales : tensor<?x512xf4E2M1FN>, tensor<?x16xf32>)
      {format = #format, recipe = #recipe} : tensor<?x512xbf16>
  return %payload, %group_scales : tensor<?x512xf4E2M1FN>, tensor<?x16xf32>
}
