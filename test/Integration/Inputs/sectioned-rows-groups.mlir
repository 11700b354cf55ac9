func.func @f(%x: tensor<?x510xbf16> {dsv4.name = "x", dsv4.dims = ["r", ""]}, %c: tensor<?x510xf8E4M3FN> {dsv4.name = "c", dsv4.dims = ["r", ""]}, %s: tensor<?x2xf32> {dsv4.name = "s", dsv4.dims = ["r", ""]}) -> (tensor<?x510xf8E4M3FN>, tensor<?x2xf32>) {
%q, %z = dsv4.quantize %x outs(%c, %s : tensor<?x510xf8E4M3FN>, tensor<?x2xf32>) {format = #dsv4.format<f8E4M3FN, [<f32 per 255>]>, recipe = #dsv4.quantizer<>} : tensor<?x510xbf16>
return %q, %z : tensor<?x510xf8E4M3FN>, tensor<?x2xf32>
}
