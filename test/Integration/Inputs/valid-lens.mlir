// Numbers of valid entries: of queries and of requests, by kind of cache and by page.

func.func @compressed(
    %t: tensor<?xi64> {dsv4.name = "t", dsv4.dims = ["rows"]},
    %out: tensor<?x1xi32> {dsv4.name = "out", dsv4.dims = ["rows", ""]}) -> tensor<?x1xi32> {
  %0 = dsv4.valid_lens positions(%t : tensor<?xi64>) ratio 4 outs(%out : tensor<?x1xi32>)
  return %0 : tensor<?x1xi32>
}

func.func @all(
    %t: tensor<?xi32> {dsv4.name = "t", dsv4.dims = ["rows"]},
    %out: tensor<?x1xi32> {dsv4.name = "out", dsv4.dims = ["rows", ""]}) -> tensor<?x1xi32> {
  %0 = dsv4.valid_lens positions(%t : tensor<?xi32>) outs(%out : tensor<?x1xi32>)
  return %0 : tensor<?x1xi32>
}

func.func @window(
    %t: tensor<?xi32> {dsv4.name = "t", dsv4.dims = ["rows"]},
    %out: tensor<?x1xi64> {dsv4.name = "out", dsv4.dims = ["rows", ""], dsv4.strides = #dsv4.strides<[?]>})
    -> tensor<?x1xi64> {
  %0 = dsv4.valid_lens positions(%t : tensor<?xi32>) window 128 outs(%out : tensor<?x1xi64>)
  return %0 : tensor<?x1xi64>
}

func.func @pages(
    %n: tensor<?xi32> {dsv4.name = "n", dsv4.dims = ["rows"]},
    %out: tensor<?x37xi32> {dsv4.name = "out", dsv4.dims = ["rows", ""]}) -> tensor<?x37xi32> {
  %0 = dsv4.valid_lens lengths(%n : tensor<?xi32>) ratio 128 page 2 outs(%out : tensor<?x37xi32>)
  return %0 : tensor<?x37xi32>
}
