// Ops of test/lib/ContractOps.td.

!rows = tensor<?x256xf32>

func.func @sum(%a: !rows {dsv4.name = "a", dsv4.dims = ["rows", ""]}, %b: !rows, %c: !rows,
               %sums: !rows {dsv4.name = "sums"}) -> !rows {
  %0 = contract.sum %a, %b, %c outs(%sums : !rows) : !rows, !rows, !rows to !rows
  return %0 : !rows
}

func.func @sum_exact(%a: !rows {dsv4.name = "a", dsv4.dims = ["rows", ""]}, %b: !rows, %c: !rows,
                     %sums: !rows {dsv4.name = "sums"}) -> !rows {
  %0 = contract.sum %a, %b, %c outs(%sums : !rows) {exact} : !rows, !rows, !rows to !rows
  return %0 : !rows
}

func.func @sum_wrong(%a: !rows {dsv4.name = "a", dsv4.dims = ["rows", ""]}, %b: !rows, %c: !rows,
                     %sums: !rows {dsv4.name = "sums"}) -> !rows {
  %0 = contract.sum %a, %b, %c outs(%sums : !rows) {skew = 1.0e-5 : f32}
      : !rows, !rows, !rows to !rows
  return %0 : !rows
}

func.func @third(%x: !rows {dsv4.name = "x", dsv4.dims = ["rows", ""]},
                 %thirds: !rows {dsv4.name = "thirds"}) -> !rows {
  %0 = contract.third %x ulps 1 outs(%thirds : !rows) : !rows to !rows
  return %0 : !rows
}

func.func @third_wrong(%x: !rows {dsv4.name = "x", dsv4.dims = ["rows", ""]},
                       %thirds: !rows {dsv4.name = "thirds"}) -> !rows {
  %0 = contract.third %x ulps 0 outs(%thirds : !rows) : !rows to !rows
  return %0 : !rows
}

func.func @select(
    %a: !rows {dsv4.name = "a", dsv4.dims = ["rows", ""]}, %b: !rows {dsv4.name = "b"},
    %c: !rows {dsv4.name = "c"}, %chosen: tensor<?x8xi32> {dsv4.name = "chosen"},
    %values: tensor<?x8xf32> {dsv4.name = "values"}) -> (tensor<?x8xi32>, tensor<?x8xf32>) {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %a, %c0 : !rows
  %scores = tensor.empty(%rows) : !rows
  %0 = contract.sum %a, %b, %c outs(%scores : !rows) : !rows, !rows, !rows to !rows
  %1:2 = dsv4.topk %0 order sorted outs(%chosen, %values : tensor<?x8xi32>, tensor<?x8xf32>) : !rows
  return %1#0, %1#1 : tensor<?x8xi32>, tensor<?x8xf32>
}

// The kernel leaves `c` out.
func.func @select_wrong(
    %a: !rows {dsv4.name = "a", dsv4.dims = ["rows", ""]}, %b: !rows {dsv4.name = "b"},
    %c: !rows {dsv4.name = "c"}, %chosen: tensor<?x8xi32> {dsv4.name = "chosen"})
    -> tensor<?x8xi32> {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %a, %c0 : !rows
  %scores = tensor.empty(%rows) : !rows
  %0 = contract.sum %a, %b, %c outs(%scores : !rows) {skew = -1.0 : f32}
      : !rows, !rows, !rows to !rows
  %1 = dsv4.topk %0 order sorted outs(%chosen : tensor<?x8xi32>) : !rows
  return %1 : tensor<?x8xi32>
}

func.func @chain(%a: !rows {dsv4.name = "a", dsv4.dims = ["rows", ""]}, %b: !rows, %c: !rows,
                 %sums: !rows, %out: !rows {dsv4.name = "out"}) -> !rows {
  %0 = contract.sum %a, %b, %c outs(%sums : !rows) : !rows, !rows, !rows to !rows
  %1 = dsv4.rms_norm %0 outs(%out : !rows) {eps = 1.0e-06 : f32} : !rows
  return %1 : !rows
}
