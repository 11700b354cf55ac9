func.func @two(%x: tensor<?x4xbf16> {dsv4.name = "x", dsv4.dims = ["rows", ""]},
               %a: tensor<?x4xbf16> {dsv4.name = "a", dsv4.dims = ["rows", ""]},
               %b: tensor<?x4xf32> {dsv4.name = "b", dsv4.dims = ["rows", ""]})
    -> (tensor<?x4xbf16>, tensor<?x4xf32>) {
  %y = dsv4.dequantize %x outs(%a : tensor<?x4xbf16>) {format = #dsv4.format<bf16>} : tensor<?x4xbf16>
  %z = dsv4.dequantize %x outs(%b : tensor<?x4xf32>) {format = #dsv4.format<bf16>} : tensor<?x4xbf16>
  return %y, %z : tensor<?x4xbf16>, tensor<?x4xf32>
}
