// What: SGLang's fused_rope_inplace(q, k, freqs_cis, positions): the last 64 elements of each head of the
// query, and of the key, are rotated where they are by a table of complex64. Both are one launch.
// Dims: --dim tokens=7 --dim positions=40
// Dims: --dim tokens=1 --dim positions=40
// Dims: --dim tokens=0 --dim positions=1

func.func @fused_rope_inplace(
    %q: tensor<?x64x512xbf16> {dsv4.name = "q", dsv4.dims = ["tokens", "", ""]},
    %k: tensor<?x512xbf16> {dsv4.name = "k", dsv4.dims = ["tokens", ""]},
    %freqs_cis: tensor<?x64xf32> {dsv4.name = "freqs_cis", dsv4.dims = ["positions", ""]},
    %positions: tensor<?xi64> {dsv4.name = "positions", dsv4.dims = ["tokens"]})
    -> (tensor<?x64x512xbf16>, tensor<?x512xbf16>) {
  %query = dsv4.rope %q table(%freqs_cis : tensor<?x64xf32>) interleaved
      positions(%positions : tensor<?xi64>) outs(%q : tensor<?x64x512xbf16>)
      : tensor<?x64x512xbf16>
  %key = dsv4.rope %k table(%freqs_cis : tensor<?x64xf32>) interleaved
      positions(%positions : tensor<?xi64>) outs(%k : tensor<?x512xbf16>) : tensor<?x512xbf16>
  return %query, %key : tensor<?x64x512xbf16>, tensor<?x512xbf16>
}
