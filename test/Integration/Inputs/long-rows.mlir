// Rows of several lengths, normalised.

func.func @n512(
    %x: tensor<?x512xbf16> {dsv4.name = "x", dsv4.dims = ["rows", ""]},
    %weight: tensor<512xbf16> {dsv4.name = "weight"},
    %out: tensor<?x512xbf16> {dsv4.name = "out", dsv4.dims = ["rows", ""]})
    -> tensor<?x512xbf16> {
  %normed = dsv4.rms_norm %x weight(%weight : tensor<512xbf16>)
      outs(%out : tensor<?x512xbf16>) {eps = 1.0e-06 : f32} : tensor<?x512xbf16>
  return %normed : tensor<?x512xbf16>
}

func.func @n4096(
    %x: tensor<?x4096xbf16> {dsv4.name = "x", dsv4.dims = ["rows", ""]},
    %weight: tensor<4096xbf16> {dsv4.name = "weight"},
    %out: tensor<?x4096xbf16> {dsv4.name = "out", dsv4.dims = ["rows", ""]})
    -> tensor<?x4096xbf16> {
  %normed = dsv4.rms_norm %x weight(%weight : tensor<4096xbf16>)
      outs(%out : tensor<?x4096xbf16>) {eps = 1.0e-06 : f32} : tensor<?x4096xbf16>
  return %normed : tensor<?x4096xbf16>
}

func.func @n5001(
    %x: tensor<?x5001xbf16> {dsv4.name = "x", dsv4.dims = ["rows", ""]},
    %weight: tensor<5001xbf16> {dsv4.name = "weight"},
    %out: tensor<?x5001xbf16> {dsv4.name = "out", dsv4.dims = ["rows", ""]})
    -> tensor<?x5001xbf16> {
  %normed = dsv4.rms_norm %x weight(%weight : tensor<5001xbf16>)
      outs(%out : tensor<?x5001xbf16>) {eps = 1.0e-06 : f32} : tensor<?x5001xbf16>
  return %normed : tensor<?x5001xbf16>
}

func.func @n5376(
    %x: tensor<?x5376xbf16> {dsv4.name = "x", dsv4.dims = ["rows", ""]},
    %weight: tensor<5376xbf16> {dsv4.name = "weight"},
    %out: tensor<?x5376xbf16> {dsv4.name = "out", dsv4.dims = ["rows", ""]})
    -> tensor<?x5376xbf16> {
  %normed = dsv4.rms_norm %x weight(%weight : tensor<5376xbf16>)
      outs(%out : tensor<?x5376xbf16>) {eps = 1.0e-06 : f32} : tensor<?x5376xbf16>
  return %normed : tensor<?x5376xbf16>
}

func.func @n7168(
    %x: tensor<?x7168xbf16> {dsv4.name = "x", dsv4.dims = ["rows", ""]},
    %weight: tensor<7168xbf16> {dsv4.name = "weight"},
    %out: tensor<?x7168xbf16> {dsv4.name = "out", dsv4.dims = ["rows", ""]})
    -> tensor<?x7168xbf16> {
  %normed = dsv4.rms_norm %x weight(%weight : tensor<7168xbf16>)
      outs(%out : tensor<?x7168xbf16>) {eps = 1.0e-06 : f32} : tensor<?x7168xbf16>
  return %normed : tensor<?x7168xbf16>
}

func.func @n65536(
    %x: tensor<?x65536xbf16> {dsv4.name = "x", dsv4.dims = ["rows", ""]},
    %weight: tensor<65536xbf16> {dsv4.name = "weight"},
    %out: tensor<?x65536xbf16> {dsv4.name = "out", dsv4.dims = ["rows", ""]})
    -> tensor<?x65536xbf16> {
  %normed = dsv4.rms_norm %x weight(%weight : tensor<65536xbf16>)
      outs(%out : tensor<?x65536xbf16>) {eps = 1.0e-06 : f32} : tensor<?x65536xbf16>
  return %normed : tensor<?x65536xbf16>
}

// Statistics of a row that was computed from statistics: both are found before the sections.
func.func @twice(
    %x: tensor<?x6144xf32> {dsv4.name = "x", dsv4.dims = ["rows", ""]},
    %out: tensor<?x6144xbf16> {dsv4.name = "out", dsv4.dims = ["rows", ""]})
    -> tensor<?x6144xbf16> {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %x, %c0 : tensor<?x6144xf32>
  %row = tensor.empty(%rows) : tensor<?x6144xf32>
  %soft = dsv4.gate %x function softmax outs(%row : tensor<?x6144xf32>) : tensor<?x6144xf32>
  %normed = dsv4.rms_norm %soft outs(%out : tensor<?x6144xbf16>) {eps = 1.0e-06 : f32}
      : tensor<?x6144xf32>
  return %normed : tensor<?x6144xbf16>
}
