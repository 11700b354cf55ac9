// Segments of windows; the caller promises that none reads or writes what another writes.
!state = !dsv4.cache<4 x <[<"max" : 64 x f32 in row>, <"sum" : 64 x f32 in row>, <"acc" : 64 x f32 in row>]>>
func.func @segments(%values: tensor<?x64xf32> {dsv4.name = "values", dsv4.dims = ["tokens", ""]},
                  %scores: tensor<?x64xf32> {dsv4.name = "scores", dsv4.dims = ["tokens", ""]},
                  %plan: tensor<?x5xi32> {dsv4.name = "plan", dsv4.dims = ["segments", ""]},
                  %state: !state {dsv4.name = "state"},
                  %entries: tensor<?x64xf32> {dsv4.name = "entries", dsv4.dims = ["segments", ""]}) -> tensor<?x64xf32> {
  %0 = dsv4.compress %values, %scores window 8 algorithm online plan(%plan : tensor<?x5xi32>)
      state(%state : !state) outs(%entries : tensor<?x64xf32>) : tensor<?x64xf32>, tensor<?x64xf32>
  return %0 : tensor<?x64xf32>
}
