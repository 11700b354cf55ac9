// Ops of test/lib/tiletest/TileTestOps.td that are not fused.

!queries = tensor<?x8xi8>
!keys = tensor<333x8xi8>
!scores = tensor<?x333xf32>
!chosen = tensor<?x20xi32>
!values = tensor<?x20xf32>

// Elements of the scores, which nobody can ask for.
func.func @values_of_biased(
    %queries: !queries {dsv4.name = "queries", dsv4.dims = ["tokens", ""]},
    %keys: !keys {dsv4.name = "keys"},
    %bias: tensor<333xf32> {dsv4.name = "bias"},
    %chosen: !chosen {dsv4.name = "chosen", dsv4.dims = ["tokens", ""]},
    %values: !values {dsv4.name = "values", dsv4.dims = ["tokens", ""]}) -> (!chosen, !values) {
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %queries, %c0 : !queries
  %row = tensor.empty(%tokens) : !scores
  %scores = tiletest.scores %queries, %keys outs(%row : !scores) : !queries, !keys to !scores
  %0:2 = dsv4.topk %scores bias(%bias : tensor<333xf32>)
      outs(%chosen, %values : !chosen, !values) : !scores
  return %0#0, %0#1 : !chosen, !values
}

// Nobody takes the tiles.
func.func @alone(
    %queries: !queries {dsv4.name = "queries", dsv4.dims = ["tokens", ""]},
    %keys: !keys {dsv4.name = "keys"},
    %out: !scores {dsv4.name = "out", dsv4.dims = ["tokens", ""]}) -> !scores {
  %scores = tiletest.scores %queries, %keys outs(%out : !scores) : !queries, !keys to !scores
  return %scores : !scores
}
