// What: TensorRT-LLM's fused_cat_fp8(pe, nope): columns of two views of one product, one after
// the other, in FP8 with one f32 scale per row. They are joined in registers.
// Bytes: last bits; the engine's reciprocal of a scale is approximate
// Dims: --dim rows=37
// Dims: --dim rows=0

#fp8 = #dsv4.format<f8E4M3FN, [<f32 per 128>]>
#recipe = #dsv4.quantizer<floor = 1.0e-12 : f32, payload = reciprocal>

func.func @fused_cat_fp8(
    %pe: tensor<?x64xbf16> {dsv4.name = "pe", dsv4.dims = ["rows", ""],
                            dsv4.strides = #dsv4.strides<[?]>},
    %nope: tensor<?x64xbf16> {dsv4.name = "nope", dsv4.dims = ["rows", ""],
                              dsv4.strides = #dsv4.strides<[?]>},
    %fp8_out: tensor<?x128xf8E4M3FN> {dsv4.name = "fp8_out", dsv4.dims = ["rows", ""]},
    %scale_out: tensor<?x1xf32> {dsv4.name = "scale_out", dsv4.dims = ["rows", ""]})
    -> (tensor<?x128xf8E4M3FN>, tensor<?x1xf32>) {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %pe, %c0 : tensor<?x64xbf16>
  %row = tensor.empty(%rows) : tensor<?x128xbf16>
  %joined = dsv4.concat_rows %pe, %nope outs(%row : tensor<?x128xbf16>)
      : tensor<?x64xbf16>, tensor<?x64xbf16>
  %payload, %scales = dsv4.quantize %joined
      outs(%fp8_out, %scale_out : tensor<?x128xf8E4M3FN>, tensor<?x1xf32>)
      {format = #fp8, recipe = #recipe} : tensor<?x128xbf16>
  return %payload, %scales : tensor<?x128xf8E4M3FN>, tensor<?x1xf32>
}
