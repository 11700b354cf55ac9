// The work list of three requests, by token and by entry.
func.func @lists(%position: tensor<?xi32> {dsv4.name = "position", dsv4.dims = ["tokens"]},
                 %slot: tensor<?xi32> {dsv4.name = "slot", dsv4.dims = ["tokens"]},
                 %length: tensor<?xi32> {dsv4.name = "length", dsv4.dims = ["requests"]},
                 %starts: tensor<?xi32> {dsv4.name = "starts", dsv4.dims = ["starts"]},
                 %entry_starts: tensor<?xi32> {dsv4.name = "entry_starts", dsv4.dims = ["starts"]},
                 %by_token: tensor<?x4xi32> {dsv4.name = "by_token", dsv4.dims = ["tokens", ""]},
                 %by_entry: tensor<?x4xi32> {dsv4.name = "by_entry", dsv4.dims = ["entries", ""]},
                 %positions: tensor<?xi32> {dsv4.name = "positions", dsv4.dims = ["entries"]},
                 %slots: tensor<?xi32> {dsv4.name = "slots", dsv4.dims = ["entries"]})
    -> (tensor<?x4xi32>, tensor<?x4xi32>, tensor<?xi32>, tensor<?xi32>) {
  %0 = dsv4.compress_plan window 4 positions(%position : tensor<?xi32>)
      starts(%starts : tensor<?xi32>) outs(%by_token : tensor<?x4xi32>)
  %1, %2, %3 = dsv4.compress_plan window 4 lengths(%length : tensor<?xi32>)
      starts(%starts : tensor<?xi32>) entry_starts(%entry_starts : tensor<?xi32>)
      slots(%slot : tensor<?xi32>)
      outs(%by_entry, %positions, %slots : tensor<?x4xi32>, tensor<?xi32>, tensor<?xi32>)
  return %0, %1, %2, %3 : tensor<?x4xi32>, tensor<?x4xi32>, tensor<?xi32>, tensor<?xi32>
}
