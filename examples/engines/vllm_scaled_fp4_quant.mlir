// What: `_C.scaled_fp4_quant` of vLLM and SGLang: NVFP4 with scales in the blocks of 128 x 4 that
// matrix products take. `given` is the reciprocal of the engine's global scale, and quotients are
// exact.
// Bytes: last bits; engines divide by approximate reciprocals
// Dims: --dim rows=5 --dim scale_rows=128
// Dims: --dim rows=0 --dim scale_rows=128
// Dims: --dim rows=131 --dim scale_rows=256
// Parameters: columns = 4096 (64 to 65536, multiple of 64)
// Uses: ?x{columns}x | ?x{columns / 16}xf8

#format = #dsv4.format<f4E2M1FN, [<f8E4M3FN per 16>, <f32 per tensor>]>
#recipe = #dsv4.quantizer<>

func.func @vllm_scaled_fp4_quant(
    %x: tensor<?x4096xbf16> {dsv4.name = "x", dsv4.dims = ["rows", ""]},
    %global: tensor<1xf32> {dsv4.name = "global"},
    %data: tensor<?x4096xf4E2M1FN> {dsv4.name = "data", dsv4.dims = ["rows", ""]},
    %scales: tensor<?x256xf8E4M3FN> {dsv4.name = "scales", dsv4.dims = ["scale_rows", ""]})
    -> (tensor<?x4096xf4E2M1FN>, tensor<?x256xf8E4M3FN>) {
  %payload, %group_scales = dsv4.quantize %x given(%global : tensor<1xf32>) scales swizzle_128x4
      outs(%data, %scales : tensor<?x4096xf4E2M1FN>, tensor<?x256xf8E4M3FN>)
      {format = #format, recipe = #recipe} : tensor<?x4096xbf16>
  return %payload, %group_scales : tensor<?x4096xf4E2M1FN>, tensor<?x256xf8E4M3FN>
}
