// The segments of three requests, by token and by segment.
func.func @lists(%position: tensor<?xi32> {dsv4.name = "position", dsv4.dims = ["tokens"]},
                 %slot: tensor<?xi32> {dsv4.name = "slot", dsv4.dims = ["tokens"]},
                 %length: tensor<?xi32> {dsv4.name = "length", dsv4.dims = ["requests"]},
                 %starts: tensor<?xi32> {dsv4.name = "starts", dsv4.dims = ["starts"]},
                 %first: tensor<?xi32> {dsv4.name = "first", dsv4.dims = ["starts"]},
                 %from: tensor<?xi32> {dsv4.name = "from", dsv4.dims = ["requests"]},
                 %to: tensor<?xi32> {dsv4.name = "to", dsv4.dims = ["requests"]},
                 %by_token: tensor<?x5xi32> {dsv4.name = "by_token", dsv4.dims = ["tokens", ""]},
                 %by_segment: tensor<?x5xi32> {dsv4.name = "by_segment", dsv4.dims = ["segments", ""]},
                 %positions: tensor<?xi32> {dsv4.name = "positions", dsv4.dims = ["segments"]},
                 %slots: tensor<?xi32> {dsv4.name = "slots", dsv4.dims = ["segments"]})
    -> (tensor<?x5xi32>, tensor<?x5xi32>, tensor<?xi32>, tensor<?xi32>) {
  %0 = dsv4.compress_plan window 4 algorithm online positions(%position : tensor<?xi32>)
      starts(%starts : tensor<?xi32>) from(%from : tensor<?xi32>) to(%to : tensor<?xi32>)
      outs(%by_token : tensor<?x5xi32>)
  %1, %2, %3 = dsv4.compress_plan window 4 algorithm online lengths(%length : tensor<?xi32>)
      starts(%starts : tensor<?xi32>) entry_starts(%first : tensor<?xi32>)
      from(%from : tensor<?xi32>) to(%to : tensor<?xi32>) slots(%slot : tensor<?xi32>)
      outs(%by_segment, %positions, %slots : tensor<?x5xi32>, tensor<?xi32>, tensor<?xi32>)
  return %0, %1, %2, %3 : tensor<?x5xi32>, tensor<?x5xi32>, tensor<?xi32>, tensor<?xi32>
}
