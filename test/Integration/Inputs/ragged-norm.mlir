// A gather that leaves rows as they are, and a kernel that reads all of them.
!cache = !dsv4.cache<16 x <index_fp8_132>>
func.func @ragged_norm(%cache: !cache {dsv4.name = "cache"},
                       %table: tensor<?x?xi32> {dsv4.name = "table", dsv4.dims = ["requests", "pages"]},
                       %starts: tensor<?xi32> {dsv4.name = "starts", dsv4.dims = ["starts"]},
                       %kv: tensor<?x128xbf16> {dsv4.name = "kv", dsv4.dims = ["rows", ""]},
                       %out: tensor<?x128xbf16> {dsv4.name = "out", dsv4.dims = ["rows", ""]}) -> tensor<?x128xbf16> {
  %rows = dsv4.paged_gather %cache pages(%table : tensor<?x?xi32>) cu_seq_lens(%starts : tensor<?xi32>)
      outs(%kv : tensor<?x128xbf16>) : !cache
  %normed = dsv4.rms_norm %rows outs(%out : tensor<?x128xbf16>) {eps = 1.0e-06 : f32} : tensor<?x128xbf16>
  return %normed : tensor<?x128xbf16>
}
