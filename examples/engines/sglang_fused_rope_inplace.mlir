// What: SGLang's fused_rope_inplace(q[..., -64:], k[..., -64:], freqs_cis, positions): views of the
// last 64 elements of each head are rotated where they are, by a table of complex64. Both are one
// launch. DeepSeek-V4 passes no k; its key is a q, kv[..., -64:].unsqueeze(1). Then the program is
// the first op alone. With inverse=True the ops have `inverse`.
// Bytes: last bits; compilers fuse products of the engine's rotation
// Dims: --dim tokens=7 --dim positions=40
// Dims: --dim tokens=1 --dim positions=40
// Dims: --dim tokens=9 --dim positions=40 --dim q.stride.0=32768 --dim q.stride.1=512 --dim k.stride.0=512
// Dims: --dim tokens=0 --dim positions=1
// Parameters: heads = 64 (1 to 1024), rope_dim = 64 (2 to 1024)
// Uses: ?x{heads}x{rope_dim}x | x1x{rope_dim}x | ?x{rope_dim}xf32

func.func @fused_rope_inplace(
    %q: tensor<?x64x64xbf16> {dsv4.name = "q", dsv4.dims = ["tokens", "", ""],
                              dsv4.strides = #dsv4.strides<[?, ?]>},
    %k: tensor<?x1x64xbf16> {dsv4.name = "k", dsv4.dims = ["tokens", "", ""],
                             dsv4.strides = #dsv4.strides<[?, ?]>},
    %freqs_cis: tensor<?x64xf32> {dsv4.name = "freqs_cis", dsv4.dims = ["positions", ""]},
    %positions: tensor<?xi64> {dsv4.name = "positions", dsv4.dims = ["tokens"]})
    -> (tensor<?x64x64xbf16>, tensor<?x1x64xbf16>) {
  %query = dsv4.rope %q table(%freqs_cis : tensor<?x64xf32>) interleaved
      positions(%positions : tensor<?xi64>) outs(%q : tensor<?x64x64xbf16>)
      : tensor<?x64x64xbf16>
  %key = dsv4.rope %k table(%freqs_cis : tensor<?x64xf32>) interleaved
      positions(%positions : tensor<?xi64>) outs(%k : tensor<?x1x64xbf16>) : tensor<?x1x64xbf16>
  return %query, %key : tensor<?x64x64xbf16>, tensor<?x1x64xbf16>
}
