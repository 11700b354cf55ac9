// Slots of rows of requests, which are found in cu_seq_lens, in tables that begin anywhere.
func.func @warp(
    %s: tensor<?x70xf32> {dsv4.name = "s", dsv4.dims = ["rows", ""]},
    %t: tensor<?x?xi32> {dsv4.name = "t", dsv4.dims = ["requests", "pages"]},
    %c: tensor<?xi64> {dsv4.name = "c", dsv4.dims = ["starts"]},
    %i: tensor<?x6xi32> {dsv4.name = "i", dsv4.dims = ["rows", ""]},
    %p: tensor<?x6xi32> {dsv4.name = "p", dsv4.dims = ["rows", ""]})
    -> (tensor<?x6xi32>, tensor<?x6xi32>) {
  %0, %1 = dsv4.topk %s pages(%t : tensor<?x?xi32>) page 16 cu_seq_lens(%c : tensor<?xi64>)
      order index_ascending outs(%i, %p : tensor<?x6xi32>, tensor<?x6xi32>) : tensor<?x70xf32>
  return %0, %1 : tensor<?x6xi32>, tensor<?x6xi32>
}

func.func @shifted(
    %s: tensor<?x?xf32> {dsv4.name = "s", dsv4.dims = ["rows", "columns"]},
    %n: tensor<?xi32> {dsv4.name = "n", dsv4.dims = ["rows"]},
    %t: tensor<?x?xi32> {dsv4.name = "t", dsv4.dims = ["requests", "pages"]},
    %c: tensor<?xi32> {dsv4.name = "c", dsv4.dims = ["starts"]},
    %b: tensor<?xi64> {dsv4.name = "b", dsv4.dims = ["rows"]},
    %i: tensor<?x40xi32> {dsv4.name = "i", dsv4.dims = ["rows", ""]},
    %v: tensor<?x40xf32> {dsv4.name = "v", dsv4.dims = ["rows", ""]},
    %p: tensor<?x40xi64> {dsv4.name = "p", dsv4.dims = ["rows", ""]})
    -> (tensor<?x40xi32>, tensor<?x40xf32>, tensor<?x40xi64>) {
  %0, %1, %2 = dsv4.topk %s lengths(%n : tensor<?xi32>) pages(%t : tensor<?x?xi32>) page 8
      cu_seq_lens(%c : tensor<?xi32>) page_starts(%b : tensor<?xi64>)
      outs(%i, %v, %p : tensor<?x40xi32>, tensor<?x40xf32>, tensor<?x40xi64>) : tensor<?x?xf32>
  return %0, %1, %2 : tensor<?x40xi32>, tensor<?x40xf32>, tensor<?x40xi64>
}

// A table of its own for each row, and one for all rows of a request.
func.func @rows(
    %s: tensor<4x5x70xf32> {dsv4.name = "s"},
    %t: tensor<?x?xi32> {dsv4.name = "t", dsv4.dims = ["requests", "pages"]},
    %r: tensor<4x5xi32> {dsv4.name = "r"}, %b: tensor<4x5xi32> {dsv4.name = "b"},
    %i: tensor<4x5x6xi32> {dsv4.name = "i"}, %p: tensor<4x5x6xi32> {dsv4.name = "p"})
    -> (tensor<4x5x6xi32>, tensor<4x5x6xi32>) {
  %0, %1 = dsv4.topk %s pages(%t : tensor<?x?xi32>) page 16 requests(%r : tensor<4x5xi32>)
      page_starts(%b : tensor<4x5xi32>) order sorted
      outs(%i, %p : tensor<4x5x6xi32>, tensor<4x5x6xi32>) : tensor<4x5x70xf32>
  return %0, %1 : tensor<4x5x6xi32>, tensor<4x5x6xi32>
}

func.func @by_hand(
    %s: tensor<6x4xf32> {dsv4.name = "s"}, %t: tensor<3x4xi32> {dsv4.name = "t"},
    %c: tensor<4xi32> {dsv4.name = "c"}, %b: tensor<6xi32> {dsv4.name = "b"},
    %i: tensor<6x2xi32> {dsv4.name = "i"}, %p: tensor<6x2xi32> {dsv4.name = "p"})
    -> (tensor<6x2xi32>, tensor<6x2xi32>) {
  %0, %1 = dsv4.topk %s pages(%t : tensor<3x4xi32>) page 2 cu_seq_lens(%c : tensor<4xi32>)
      page_starts(%b : tensor<6xi32>) order sorted
      outs(%i, %p : tensor<6x2xi32>, tensor<6x2xi32>) : tensor<6x4xf32>
  return %0, %1 : tensor<6x2xi32>, tensor<6x2xi32>
}
