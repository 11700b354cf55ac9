// Quantises rows of bf16 to NVFP4: E2M1 payload, two per byte, and one E4M3 scale per 16 values,
// rounded to nearest and never below the smallest positive one. A NaN in the data becomes a NaN
// scale.
//
//   dsv4-run examples/quantize_nvfp4.mlir --random=1 --check --dim rows=4096

#nvfp4 = #dsv4.format<f4E2M1FN, [<f8E4M3FN per 16>]>
#recipe = #dsv4.quantizer<limit = reciprocal>

func.func @quantize_nvfp4(
    %x: tensor<?x512xbf16> {dsv4.name = "x", dsv4.dims = ["rows", ""]},
    %data: tensor<?x512xf4E2M1FN> {dsv4.name = "data", dsv4.dims = ["rows", ""]},
    %scales: tensor<?x32xf8E4M3FN> {dsv4.name = "scales", dsv4.dims = ["rows", ""]})
    -> (tensor<?x512xf4E2M1FN>, tensor<?x32xf8E4M3FN>) {
  %payload, %group_scales = dsv4.quantize %x
      outs(%data, %scales : tensor<?x512xf4E2M1FN>, tensor<?x32xf8E4M3FN>)
      {format = #nvfp4, recipe = #recipe} : tensor<?x512xbf16>
  return %payload, %group_scales : tensor<?x512xf4E2M1FN>, tensor<?x32xf8E4M3FN>
}
