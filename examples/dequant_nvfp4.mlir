// Decodes a dense NVFP4 tensor: E2M1 values, one E4M3 scale per 16 values, one
// fp32 scale per row. Two E2M1 values share a byte, the even one in the low
// nibble, so `data` is passed as bytes [rows, 256].
//
//   dsv4-run examples/dequant_nvfp4.mlir --random=1 --check --dim rows=1000

#nvfp4 = #dsv4.format<f4E2M1FN, [<f8E4M3FN per 16>, <f32 per row>]>

func.func @dequant_nvfp4(
    %data: tensor<?x512xf4E2M1FN> {dsv4.name = "data", dsv4.dims = ["rows", ""]},
    %scales: tensor<?x32xf8E4M3FN> {dsv4.name = "scales", dsv4.dims = ["rows", ""]},
    %global: tensor<?xf32> {dsv4.name = "global", dsv4.dims = ["rows"]},
    %out: tensor<?x512xbf16> {dsv4.name = "out", dsv4.dims = ["rows", ""]})
    -> tensor<?x512xbf16> {
  %values = dsv4.dequantize %data
      scales(%scales, %global : tensor<?x32xf8E4M3FN>, tensor<?xf32>)
      outs(%out : tensor<?x512xbf16>) {format = #nvfp4} : tensor<?x512xf4E2M1FN>
  return %values : tensor<?x512xbf16>
}
