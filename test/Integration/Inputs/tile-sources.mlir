// Ops of test/lib/tiletest/TileTestOps.td.

!queries = tensor<?x8xi8>
!keys = tensor<333x8xi8>
!scores = tensor<?x333xf32>
!lengths = tensor<?xi32>
!chosen = tensor<?x20xi32>
!values = tensor<?x20xf32>

// The queries of a request see different numbers of keys.
func.func @select(
    %queries: !queries {dsv4.name = "queries", dsv4.dims = ["tokens", ""]},
    %keys: !keys {dsv4.name = "keys"},
    %lengths: !lengths {dsv4.name = "lengths", dsv4.dims = ["tokens"]},
    %chosen: !chosen {dsv4.name = "chosen", dsv4.dims = ["tokens", ""]},
    %values: !values {dsv4.name = "values", dsv4.dims = ["tokens", ""]}) -> (!chosen, !values) {
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %queries, %c0 : !queries
  %row = tensor.empty(%tokens) : !scores
  %scores = tiletest.scores %queries, %keys outs(%row : !scores) : !queries, !keys to !scores
  %0:2 = dsv4.topk %scores lengths(%lengths : !lengths) order sorted
      outs(%chosen, %values : !chosen, !values) : !scores
  return %0#0, %0#1 : !chosen, !values
}

// What is selected from is made of the scores element by element.
func.func @biased(
    %queries: !queries {dsv4.name = "queries", dsv4.dims = ["tokens", ""]},
    %keys: !keys {dsv4.name = "keys"},
    %bias: tensor<333xf32> {dsv4.name = "bias"},
    %chosen: !chosen {dsv4.name = "chosen", dsv4.dims = ["tokens", ""]}) -> !chosen {
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %queries, %c0 : !queries
  %row = tensor.empty(%tokens) : !scores
  %scores = tiletest.scores %queries, %keys outs(%row : !scores) : !queries, !keys to !scores
  %0 = dsv4.topk %scores bias(%bias : tensor<333xf32>) order index_ascending
      outs(%chosen : !chosen) : !scores
  return %0 : !chosen
}

// What becomes of a rank depends on its row.
func.func @slots(
    %queries: !queries {dsv4.name = "queries", dsv4.dims = ["tokens", ""]},
    %keys: !keys {dsv4.name = "keys"},
    %lengths: !lengths {dsv4.name = "lengths", dsv4.dims = ["tokens"]},
    %table: tensor<?x?xi32> {dsv4.name = "table", dsv4.dims = ["requests", "pages"]},
    %request: !lengths {dsv4.name = "request", dsv4.dims = ["tokens"]},
    %chosen: !chosen {dsv4.name = "chosen", dsv4.dims = ["tokens", ""]},
    %slots: !chosen {dsv4.name = "slots", dsv4.dims = ["tokens", ""]}) -> (!chosen, !chosen) {
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %queries, %c0 : !queries
  %row = tensor.empty(%tokens) : !scores
  %scores = tiletest.scores %queries, %keys outs(%row : !scores) : !queries, !keys to !scores
  %0:2 = dsv4.topk %scores lengths(%lengths : !lengths) ratio 2 pages(%table : tensor<?x?xi32>) page 16
      requests(%request : !lengths) smallest
      outs(%chosen, %slots : !chosen, !chosen) : !scores
  return %0#0, %0#1 : !chosen, !chosen
}

// One tile, and fewer keys than are selected.
func.func @few(
    %queries: tensor<?x3xi8> {dsv4.name = "queries", dsv4.dims = ["tokens", ""]},
    %keys: tensor<5x3xi8> {dsv4.name = "keys"},
    %chosen: !chosen {dsv4.name = "chosen", dsv4.dims = ["tokens", ""]}) -> !chosen {
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %queries, %c0 : tensor<?x3xi8>
  %row = tensor.empty(%tokens) : tensor<?x5xf32>
  %scores = tiletest.scores %queries, %keys outs(%row : tensor<?x5xf32>)
      : tensor<?x3xi8>, tensor<5x3xi8> to tensor<?x5xf32>
  %0 = dsv4.topk %scores outs(%chosen : !chosen) : tensor<?x5xf32>
  return %0 : !chosen
}
