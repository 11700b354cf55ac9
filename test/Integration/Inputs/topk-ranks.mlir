func.func @ranks(
    %scores: tensor<3x2x64xf32> {dsv4.name = "scores"},
    %table: tensor<?x?xi32> {dsv4.name = "table", dsv4.dims = ["requests", "pages"]},
    %indices: tensor<3x2x8xi32> {dsv4.name = "indices"},
    %slots: tensor<3x2x8xi32> {dsv4.name = "slots"}) -> (tensor<3x2x8xi32>, tensor<3x2x8xi32>) {
  %0, %1 = dsv4.topk %scores pages(%table : tensor<?x?xi32>) page 16
      outs(%indices, %slots : tensor<3x2x8xi32>, tensor<3x2x8xi32>) : tensor<3x2x64xf32>
  return %0, %1 : tensor<3x2x8xi32>, tensor<3x2x8xi32>
}
