// What: SGLang's fused_q_norm_rope(q_input, q_output, eps, freqs_cis, positions): a norm per head and the
// rotation of its last 64 elements by a table of complex64; the heads of a token have one position.
// Bytes: last bits; sums are added in another order
// Dims: --dim tokens=7 --dim positions=99
// Dims: --dim tokens=0 --dim positions=5
// Parameters: heads = 64 (1 to 1024), dim = 512 (64 to 16384), eps = 1.0e-06 (0.0 to 1.0)
// Uses: ?x{heads}x{dim}x | eps = {eps}

func.func @fused_q_norm_rope(
    %q_input: tensor<?x64x512xbf16> {dsv4.name = "q_input", dsv4.dims = ["tokens", "", ""],
                                     dsv4.strides = #dsv4.strides<[?, ?]>},
    %q_output: tensor<?x64x512xbf16> {dsv4.name = "q_output", dsv4.dims = ["tokens", "", ""],
                                      dsv4.strides = #dsv4.strides<[?, ?]>},
    %freqs_cis: tensor<?x64xf32> {dsv4.name = "freqs_cis", dsv4.dims = ["positions", ""]},
    %positions: tensor<?xi64> {dsv4.name = "positions", dsv4.dims = ["tokens"]})
    -> tensor<?x64x512xbf16> {
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %q_input, %c0 : tensor<?x64x512xbf16>
  %heads = tensor.empty(%tokens) : tensor<?x64x512xbf16>
  %normed = dsv4.rms_norm %q_input outs(%heads : tensor<?x64x512xbf16>) {eps = 1.0e-06}
      : tensor<?x64x512xbf16>
  %q = dsv4.rope %normed table(%freqs_cis : tensor<?x64xf32>) interleaved
      positions(%positions : tensor<?xi64>) outs(%q_output : tensor<?x64x512xbf16>)
      : tensor<?x64x512xbf16>
  return %q : tensor<?x64x512xbf16>
}
