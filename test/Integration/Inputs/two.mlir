#f = #dsv4.format<f8E4M3FN, [<f32 per row>]>
func.func @one(%data: tensor<?x64xf8E4M3FN> {dsv4.name = "data", dsv4.dims = ["rows", ""]},
               %scales: tensor<?xf32> {dsv4.name = "scales", dsv4.dims = ["rows"]},
               %out: tensor<?x64xbf16> {dsv4.name = "out", dsv4.dims = ["rows", ""]}) {
  %v = dsv4.dequantize %data scales(%scales : tensor<?xf32>)
      outs(%out : tensor<?x64xbf16>) {format = #f} : tensor<?x64xf8E4M3FN>
  return
}
func.func @two(%data: tensor<?x32xf8E4M3FN> {dsv4.name = "data", dsv4.dims = ["rows", ""]},
               %scales: tensor<?xf32> {dsv4.name = "scales", dsv4.dims = ["rows"]},
               %out: tensor<?x32xf32> {dsv4.name = "out", dsv4.dims = ["rows", ""]}) {
  %v = dsv4.dequantize %data scales(%scales : tensor<?xf32>)
      outs(%out : tensor<?x32xf32>) {format = #f} : tensor<?x32xf8E4M3FN>
  return
}
