// What: SGLang's CompressorPrefillPlan.generate and CompressorDecodePlan.generate, once a step: the
// plan from the lengths of the requests, which are i64, and the first token of each. The call has
// extend_lens instead, whose running sum the first tokens are. The bytes of a plan are the
// adapter's own. The pages of the state are not in it, but looked up by compress.
// Bytes: own layout; the plan is that of dsv4.compress
// Dims: --dim tokens=300 --dim requests=9 --dim starts=10
// Dims: --dim tokens=5 --dim requests=5 --dim starts=6
// Dims: --dim tokens=0 --dim requests=1 --dim starts=2
// Parameters: window = 4 (2 to 1024)
// Uses: window {window}

func.func @plan_generate(
    %lengths: tensor<?xi64> {dsv4.name = "seq_lens", dsv4.dims = ["requests"]},
    %starts: tensor<?xi32> {dsv4.name = "extend_start_loc", dsv4.dims = ["starts"]},
    %plan: tensor<?x4xi32> {dsv4.name = "plan", dsv4.dims = ["tokens", ""]},
    %position: tensor<?xi32> {dsv4.name = "position", dsv4.dims = ["tokens"]})
    -> (tensor<?x4xi32>, tensor<?xi32>) {
  %list, %at = dsv4.compress_plan window 4 lengths(%lengths : tensor<?xi64>)
      starts(%starts : tensor<?xi32>) outs(%plan, %position : tensor<?x4xi32>, tensor<?xi32>)
  return %list, %at : tensor<?x4xi32>, tensor<?xi32>
}
