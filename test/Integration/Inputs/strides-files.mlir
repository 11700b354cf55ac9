func.func @best(%s: tensor<?x8xf32> {dsv4.name = "s", dsv4.dims = ["rows", ""], dsv4.strides = #dsv4.strides<[?]>},
                %i: tensor<?x2xi32> {dsv4.name = "i", dsv4.dims = ["rows", ""], dsv4.strides = #dsv4.strides<[?]>})
    -> tensor<?x2xi32> {
  %0 = dsv4.topk %s order sorted outs(%i : tensor<?x2xi32>) : tensor<?x8xf32>
  return %0 : tensor<?x2xi32>
}
