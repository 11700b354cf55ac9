func.func @f(%i: tensor<?xi32> {dsv4.dims = ["k"]}) {
  return
}
