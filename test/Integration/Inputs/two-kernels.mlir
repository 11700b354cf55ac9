// Two kernels of one launch, and two of which the second has no place in the first.

func.func @norm_two(
    %x: tensor<?x512xf32> {dsv4.name = "x", dsv4.dims = ["rows", ""]},
    %y: tensor<?x256xf32> {dsv4.name = "y", dsv4.dims = ["others", ""]},
    %a: tensor<?x512xf32> {dsv4.name = "a", dsv4.dims = ["rows", ""]},
    %b: tensor<?x256xf32> {dsv4.name = "b", dsv4.dims = ["others", ""]})
    -> (tensor<?x512xf32>, tensor<?x256xf32>) {
  %0 = dsv4.rms_norm %x outs(%a : tensor<?x512xf32>) {eps = 1.0e-06} : tensor<?x512xf32>
  %1 = dsv4.rms_norm %y outs(%b : tensor<?x256xf32>) {eps = 1.0e-06} : tensor<?x256xf32>
  return %0, %1 : tensor<?x512xf32>, tensor<?x256xf32>
}

func.func @norm_and_select(
    %x: tensor<?x512xf32> {dsv4.name = "x", dsv4.dims = ["rows", ""]},
    %a: tensor<?x512xf32> {dsv4.name = "a", dsv4.dims = ["rows", ""]},
    %best: tensor<?x64xi32> {dsv4.name = "best", dsv4.dims = ["rows", ""]})
    -> (tensor<?x512xf32>, tensor<?x64xi32>) {
  %0 = dsv4.rms_norm %x outs(%a : tensor<?x512xf32>) {eps = 1.0e-06} : tensor<?x512xf32>
  %1 = dsv4.topk %0 outs(%best : tensor<?x64xi32>) : tensor<?x512xf32>
  return %0, %1 : tensor<?x512xf32>, tensor<?x64xi32>
}
