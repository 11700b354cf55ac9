// What: SGLang's fused_rope_inplace(q, k, freqs_cis, positions): the last 64 elements of each head of
// the query, and of the key, are rotated where they are, in one launch. Positions are per head here,
// and the table has cosines before sines.
// Dims: --dim tokens=7 --dim positions=40
// Dims: --dim tokens=1 --dim positions=40
// Dims: --dim tokens=0 --dim positions=1

func.func @fused_rope_inplace(
    %q: tensor<?x64x512xbf16> {dsv4.name = "q", dsv4.dims = ["tokens", "", ""]},
    %q_position: tensor<?x64xi32> {dsv4.name = "q_position", dsv4.dims = ["tokens", ""]},
    %k: tensor<?x512xbf16> {dsv4.name = "k", dsv4.dims = ["tokens", ""]},
    %position: tensor<?xi32> {dsv4.name = "position", dsv4.dims = ["tokens"]},
    %angles: tensor<?x64xf32> {dsv4.name = "angles", dsv4.dims = ["positions", ""]})
    -> (tensor<?x64x512xbf16>, tensor<?x512xbf16>) {
  %query = dsv4.rope %q table(%angles : tensor<?x64xf32>)
      positions(%q_position : tensor<?x64xi32>) outs(%q : tensor<?x64x512xbf16>)
      : tensor<?x64x512xbf16>
  %key = dsv4.rope %k table(%angles : tensor<?x64xf32>)
      positions(%position : tensor<?xi32>) outs(%k : tensor<?x512xbf16>) : tensor<?x512xbf16>
  return %query, %key : tensor<?x64x512xbf16>, tensor<?x512xbf16>
}
