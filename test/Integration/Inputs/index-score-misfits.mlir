// Scores of keys that tensor cores cannot read.

!fp8 = !dsv4.cache<64 x <index_fp8_132>>
!fp4 = !dsv4.cache<64 x <index_mxfp4_68>>

func.func @queries(
    %q: tensor<?x2x128xf8E4M3FN> {dsv4.name = "q", dsv4.dims = ["rows", "", ""],
                                  dsv4.strides = #dsv4.strides<[?, ?], align = 8>},
    %w: tensor<?x2xf32> {dsv4.name = "w", dsv4.dims = ["rows", ""]},
    %k: tensor<?x128xf8E4M3FN> {dsv4.name = "k", dsv4.dims = ["keys", ""]},
    %ks: tensor<?xf32> {dsv4.name = "ks", dsv4.dims = ["keys"]},
    %out: tensor<?x40xf32> {dsv4.name = "out", dsv4.dims = ["rows", ""]}) -> tensor<?x40xf32> {
  %0 = dsv4.index_score %q weights(%w : tensor<?x2xf32>) keys(%k : tensor<?x128xf8E4M3FN>)
      key_scales(%ks : tensor<?xf32>) outs(%out : tensor<?x40xf32>) : tensor<?x2x128xf8E4M3FN>
  return %0 : tensor<?x40xf32>
}

func.func @apart(
    %q: tensor<?x2x128xf8E4M3FN> {dsv4.name = "q", dsv4.dims = ["rows", "", ""]},
    %w: tensor<?x2xf32> {dsv4.name = "w", dsv4.dims = ["rows", ""]},
    %k: tensor<?x128xf8E4M3FN> {dsv4.name = "k", dsv4.dims = ["keys", ""],
                                dsv4.strides = #dsv4.strides<[?], align = 16>},
    %ks: tensor<?xf32> {dsv4.name = "ks", dsv4.dims = ["keys"]},
    %out: tensor<?x40xf32> {dsv4.name = "out", dsv4.dims = ["rows", ""]}) -> tensor<?x40xf32> {
  %0 = dsv4.index_score %q weights(%w : tensor<?x2xf32>) keys(%k : tensor<?x128xf8E4M3FN>)
      key_scales(%ks : tensor<?xf32>) outs(%out : tensor<?x40xf32>) : tensor<?x2x128xf8E4M3FN>
  return %0 : tensor<?x40xf32>
}

// The same key again and again.
func.func @one(
    %q: tensor<?x2x128xf8E4M3FN> {dsv4.name = "q", dsv4.dims = ["rows", "", ""]},
    %w: tensor<?x2xf32> {dsv4.name = "w", dsv4.dims = ["rows", ""]},
    %k: tensor<?x128xf8E4M3FN> {dsv4.name = "k", dsv4.dims = ["keys", ""],
                                dsv4.strides = #dsv4.strides<[0], align = 16>},
    %ks: tensor<?xf32> {dsv4.name = "ks", dsv4.dims = ["keys"]},
    %out: tensor<?x40xf32> {dsv4.name = "out", dsv4.dims = ["rows", ""]}) -> tensor<?x40xf32> {
  %0 = dsv4.index_score %q weights(%w : tensor<?x2xf32>) keys(%k : tensor<?x128xf8E4M3FN>)
      key_scales(%ks : tensor<?xf32>) outs(%out : tensor<?x40xf32>) : tensor<?x2x128xf8E4M3FN>
  return %0 : tensor<?x40xf32>
}

func.func @starts(
    %q: tensor<?x2x128xf8E4M3FN> {dsv4.name = "q", dsv4.dims = ["rows", "", ""]},
    %w: tensor<?x2xf32> {dsv4.name = "w", dsv4.dims = ["rows", ""]},
    %keys: !fp8 {dsv4.name = "keys"},
    %table: tensor<?x?xi32> {dsv4.name = "table", dsv4.dims = ["rows", "pages"]},
    %start: tensor<?xi32> {dsv4.name = "start", dsv4.dims = ["rows"]},
    %out: tensor<?x40xf32> {dsv4.name = "out", dsv4.dims = ["rows", ""]}) -> tensor<?x40xf32> {
  %0 = dsv4.index_score %q weights(%w : tensor<?x2xf32>) cache(%keys : !fp8) pages(%table : tensor<?x?xi32>)
      starts(%start : tensor<?xi32>) outs(%out : tensor<?x40xf32>) : tensor<?x2x128xf8E4M3FN>
  return %0 : tensor<?x40xf32>
}

func.func @odd(
    %q: tensor<?x2x128xf8E4M3FN> {dsv4.name = "q", dsv4.dims = ["rows", "", ""]},
    %w: tensor<?x2xf32> {dsv4.name = "w", dsv4.dims = ["rows", ""]},
    %keys: !fp4 {dsv4.name = "keys", dsv4.strides = #dsv4.strides<[?], align = 2>},
    %table: tensor<?x?xi32> {dsv4.name = "table", dsv4.dims = ["rows", "pages"]},
    %out: tensor<?x40xf32> {dsv4.name = "out", dsv4.dims = ["rows", ""]}) -> tensor<?x40xf32> {
  %0 = dsv4.index_score %q weights(%w : tensor<?x2xf32>) cache(%keys : !fp4) pages(%table : tensor<?x?xi32>)
      outs(%out : tensor<?x40xf32>) : tensor<?x2x128xf8E4M3FN>
  return %0 : tensor<?x40xf32>
}
