// What: `act_quant` of the official inference code with a `scale_fmt`: scales of f32 that are
// powers of two.
// Bytes: equal
// Dims: --dim rows=5
// Dims: --dim rows=0
// Dims: --dim rows=131
// Parameters: columns = 7168 (128 to 65536, multiple of 128)
// Uses: ?x{columns}x | ?x{columns / 128}xf32

#format = #dsv4.format<f8E4M3FN, [<f32 per 128>]>
#recipe = #dsv4.quantizer<floor = 1.0e-04 : f32, limit = reciprocal, rounding = up_pow2>

func.func @deepseek_act_quant_ue8m0(
    %x: tensor<?x7168xbf16> {dsv4.name = "x", dsv4.dims = ["rows", ""]},
    %data: tensor<?x7168xf8E4M3FN> {dsv4.name = "data", dsv4.dims = ["rows", ""]},
    %scales: tensor<?x56xf32> {dsv4.name = "scales", dsv4.dims = ["rows", ""]})
    -> (tensor<?x7168xf8E4M3FN>, tensor<?x56xf32>) {
  %payload, %group_scales = dsv4.quantize %x
      outs(%data, %scales : tensor<?x7168xf8E4M3FN>, tensor<?x56xf32>)
      {format = #format, recipe = #recipe} : tensor<?x7168xbf16>
  return %payload, %group_scales : tensor<?x7168xf8E4M3FN>, tensor<?x56xf32>
}
