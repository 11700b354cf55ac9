func.func @f(%x: tensor<?x510xbf16> {dsv4.name = "x", dsv4.dims = ["r", ""]}, %c: tensor<?x510xf4E2M1FN> {dsv4.name = "c", dsv4.dims = ["r", ""]}, %s: tensor<?x170xf8E4M3FN> {dsv4.name = "s", dsv4.dims = ["r", ""]}) -> (tensor<?x510xf4E2M1FN>, tensor<?x170xf8E4M3FN>) {
%q, %z = dsv4.quantize %x outs(%c, %s : tensor<?x510xf4E2M1FN>, tensor<?x170xf8E4M3FN>) {format = #dsv4.format<f4E2M1FN, [<f8E4M3FN per 3>]>, recipe = #dsv4.quantizer<>} : tensor<?x510xbf16>
return %q, %z : tensor<?x510xf4E2M1FN>, tensor<?x170xf8E4M3FN>
}
