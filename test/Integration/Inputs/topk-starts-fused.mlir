// Scores that are computed where a row is read, which begins anywhere.
#mxfp4 = #dsv4.format<f4E2M1FN, [<f8E8M0FNU per 32>]>
func.func @decoded(
    %data: tensor<?x4096xf4E2M1FN> {dsv4.name = "data", dsv4.dims = ["rows", ""]},
    %scales: tensor<?x128xf8E8M0FNU> {dsv4.name = "scales", dsv4.dims = ["rows", ""]},
    %starts: tensor<?xi32> {dsv4.name = "starts", dsv4.dims = ["rows"]},
    %indices: tensor<?x64xi32> {dsv4.name = "indices", dsv4.dims = ["rows", ""]},
    %values: tensor<?x64xf32> {dsv4.name = "values", dsv4.dims = ["rows", ""]})
    -> (tensor<?x64xi32>, tensor<?x64xf32>) {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %data, %c0 : tensor<?x4096xf4E2M1FN>
  %decoded = tensor.empty(%rows) : tensor<?x4096xf32>
  %x = dsv4.dequantize %data scales(%scales : tensor<?x128xf8E8M0FNU>)
      outs(%decoded : tensor<?x4096xf32>) {format = #mxfp4} : tensor<?x4096xf4E2M1FN>
  %chosen, %best = dsv4.topk %x starts(%starts : tensor<?xi32>) order sorted ties high
      outs(%indices, %values : tensor<?x64xi32>, tensor<?x64xf32>) : tensor<?x4096xf32>
  return %chosen, %best : tensor<?x64xi32>, tensor<?x64xf32>
}
