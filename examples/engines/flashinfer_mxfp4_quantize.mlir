// What: `mxfp4_quantize` of FlashInfer: power-of-two scales of 32 elements in blocks of 128 x 4.
// Bytes: not compared
// Dims: --dim rows=5 --dim scale_rows=128
// Dims: --dim rows=0 --dim scale_rows=128
// Dims: --dim rows=131 --dim scale_rows=256
// Parameters: columns = 4096 (128 to 65536, multiple of 128)
// Uses: ?x{columns}x | ?x{columns / 32}xf8

#format = #dsv4.format<f4E2M1FN, [<f8E8M0FNU per 32>]>
#recipe = #dsv4.quantizer<rounding = up_pow2>

func.func @flashinfer_mxfp4_quantize(
    %x: tensor<?x4096xbf16> {dsv4.name = "x", dsv4.dims = ["rows", ""]},
    %data: tensor<?x4096xf4E2M1FN> {dsv4.name = "data", dsv4.dims = ["rows", ""]},
    %scales: tensor<?x128xf8E8M0FNU> {dsv4.name = "scales", dsv4.dims = ["scale_rows", ""]})
    -> (tensor<?x4096xf4E2M1FN>, tensor<?x128xf8E8M0FNU>) {
  %payload, %group_scales = dsv4.quantize %x scales swizzle_128x4
      outs(%data, %scales : tensor<?x4096xf4E2M1FN>, tensor<?x128xf8E8M0FNU>)
      {format = #format, recipe = #recipe} : tensor<?x4096xbf16>
  return %payload, %group_scales : tensor<?x4096xf4E2M1FN>, tensor<?x128xf8E8M0FNU>
}
