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

func.func @numbers(
    %t: tensor<?xi64> {dsv4.name = "t", dsv4.dims = ["rows"]},
    %out: tensor<?xi32> {dsv4.name = "out", dsv4.dims = ["rows"]}) -> tensor<?xi32> {
  %0 = dsv4.valid_lens positions(%t : tensor<?xi64>) ratio 4 outs(%out : tensor<?xi32>)
  return %0 : tensor<?xi32>
}

func.func @constant_rows(
    %n: tensor<37xi32> {dsv4.name = "n"}, %out: tensor<37xi64> {dsv4.name = "out"}) -> tensor<37xi64> {
  %0 = dsv4.valid_lens lengths(%n : tensor<37xi32>) window 5 outs(%out : tensor<37xi64>)
  return %0 : tensor<37xi64>
}

// Numbers that the next kernel reads.
func.func @then_select(
    %t: tensor<?xi32> {dsv4.name = "t", dsv4.dims = ["rows"]},
    %scores: tensor<?x64xf32> {dsv4.name = "scores", dsv4.dims = ["rows", ""]},
    %lens: tensor<?xi32> {dsv4.name = "lens", dsv4.dims = ["rows"]},
    %out: tensor<?x8xi32> {dsv4.name = "out", dsv4.dims = ["rows", ""]}) -> (tensor<?xi32>, tensor<?x8xi32>) {
  %0 = dsv4.valid_lens positions(%t : tensor<?xi32>) ratio 2 outs(%lens : tensor<?xi32>)
  %1 = dsv4.topk %scores lengths(%0 : tensor<?xi32>) order sorted outs(%out : tensor<?x8xi32>) : tensor<?x64xf32>
  return %0, %1 : tensor<?xi32>, tensor<?x8xi32>
}

// Two kernels that do not depend on each other.
func.func @beside(
    %t: tensor<?xi32> {dsv4.name = "t", dsv4.dims = ["rows"]},
    %n: tensor<?xi32> {dsv4.name = "n", dsv4.dims = ["requests"]},
    %window: tensor<?xi32> {dsv4.name = "window", dsv4.dims = ["rows"]},
    %out: tensor<?x9xi32> {dsv4.name = "out", dsv4.dims = ["requests", ""]}) -> (tensor<?xi32>, tensor<?x9xi32>) {
  %0 = dsv4.valid_lens positions(%t : tensor<?xi32>) window 128 outs(%window : tensor<?xi32>)
  %1 = dsv4.valid_lens lengths(%n : tensor<?xi32>) page 64 outs(%out : tensor<?x9xi32>)
  return %0, %1 : tensor<?xi32>, tensor<?x9xi32>
}
