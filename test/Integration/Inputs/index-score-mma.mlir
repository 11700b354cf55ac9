// Scores of keys that tensor cores compute: rows that share keys, arrays, many heads, every format.

!fp8 = !dsv4.cache<64 x <index_fp8_132>>
!fp4 = !dsv4.cache<64 x <index_mxfp4_68>>
// Interleaved with their scales, 72 bytes per key, in pages of a size that is no power of two.
!nvfp4 = !dsv4.cache<6 x <[<"key" : 128 x f4E2M1FN in row>,
                           <"key_scale" : 8 x f8E4M3FN in row scales "key" per 16>]>>

// Four rows of a request share their keys.
func.func @next(
    %q: tensor<?x64x128xf8E4M3FN> {dsv4.name = "q", dsv4.dims = ["rows", "", ""]},
    %w: tensor<?x64xf32> {dsv4.name = "w", dsv4.dims = ["rows", ""]},
    %keys: !fp4 {dsv4.name = "keys", dsv4.strides = #dsv4.strides<[?], align = 16>},
    %table: tensor<?x?xi32> {dsv4.name = "table", dsv4.dims = ["requests", "pages"]},
    %length: tensor<?xi32> {dsv4.name = "length", dsv4.dims = ["requests"]},
    %out: tensor<?x?xf32> {dsv4.name = "out", dsv4.dims = ["rows", "columns"]}) -> tensor<?x?xf32> {
  %0 = dsv4.index_score %q weights(%w : tensor<?x64xf32>) cache(%keys : !fp4) pages(%table : tensor<?x?xi32>)
      lengths(%length : tensor<?xi32>) next_n 4 outs(%out : tensor<?x?xf32>) : tensor<?x64x128xf8E4M3FN>
  return %0 : tensor<?x?xf32>
}

// Rows of one query and its drafts, each of which names its own request.
func.func @named(
    %q: tensor<?x64x128xf8E4M3FN> {dsv4.name = "q", dsv4.dims = ["rows", "", ""]},
    %w: tensor<?x64xf32> {dsv4.name = "w", dsv4.dims = ["rows", ""]},
    %keys: !fp8 {dsv4.name = "keys"},
    %table: tensor<?x?xi32> {dsv4.name = "table", dsv4.dims = ["requests", "pages"]},
    %request: tensor<?xi32> {dsv4.name = "request", dsv4.dims = ["rows"]},
    %length: tensor<?xi32> {dsv4.name = "length", dsv4.dims = ["sequences"]},
    %out: tensor<?x?xf32> {dsv4.name = "out", dsv4.dims = ["rows", "columns"]}) -> tensor<?x?xf32> {
  %0 = dsv4.index_score %q weights(%w : tensor<?x64xf32>) cache(%keys : !fp8) pages(%table : tensor<?x?xi32>)
      requests(%request : tensor<?xi32>) lengths(%length : tensor<?xi32>) next_n 2
      outs(%out : tensor<?x?xf32>) : tensor<?x64x128xf8E4M3FN>
  return %0 : tensor<?x?xf32>
}

func.func @nvfp4(
    %q: tensor<?x33x128xf4E2M1FN> {dsv4.name = "q", dsv4.dims = ["rows", "", ""]},
    %s: tensor<?x33x4xf8E8M0FNU> {dsv4.name = "s", dsv4.dims = ["rows", "", ""]},
    %w: tensor<?x33xf32> {dsv4.name = "w", dsv4.dims = ["rows", ""]},
    %keys: !nvfp4 {dsv4.name = "keys"},
    %pages: tensor<?xi32> {dsv4.name = "pages", dsv4.dims = ["listed"]},
    %indptr: tensor<?xi32> {dsv4.name = "indptr", dsv4.dims = ["starts"]},
    %request: tensor<?xi32> {dsv4.name = "request", dsv4.dims = ["rows"]},
    %length: tensor<?xi32> {dsv4.name = "length", dsv4.dims = ["rows"]},
    %out: tensor<?x200xf32> {dsv4.name = "out", dsv4.dims = ["rows", ""]}) -> tensor<?x200xf32> {
  %0 = dsv4.index_score %q scales(%s : tensor<?x33x4xf8E8M0FNU>) weights(%w : tensor<?x33xf32>) cache(%keys : !nvfp4)
      pages(%pages : tensor<?xi32>) indptr(%indptr : tensor<?xi32>) requests(%request : tensor<?xi32>)
      lengths(%length : tensor<?xi32>) outs(%out : tensor<?x200xf32>) : tensor<?x33x128xf4E2M1FN>
  return %0 : tensor<?x200xf32>
}

// Keys in order, the same for all rows.
func.func @all(
    %q: tensor<?x128x128xf8E4M3FN> {dsv4.name = "q", dsv4.dims = ["rows", "", ""]},
    %w: tensor<?x128xf32> {dsv4.name = "w", dsv4.dims = ["rows", ""]},
    %k: tensor<?x128xf8E4M3FN> {dsv4.name = "k", dsv4.dims = ["keys", ""]},
    %ks: tensor<?xf32> {dsv4.name = "ks", dsv4.dims = ["keys"]},
    %length: tensor<?xi32> {dsv4.name = "length", dsv4.dims = ["rows"]},
    %out: tensor<?x?xbf16> {dsv4.name = "out", dsv4.dims = ["rows", "columns"]}) -> tensor<?x?xbf16> {
  %0 = dsv4.index_score %q weights(%w : tensor<?x128xf32>) keys(%k : tensor<?x128xf8E4M3FN>)
      key_scales(%ks : tensor<?xf32>) lengths(%length : tensor<?xi32>)
      outs(%out : tensor<?x?xbf16>) : tensor<?x128x128xf8E4M3FN>
  return %0 : tensor<?x?xbf16>
}

// Keys in order, of which each row has a range.
func.func @ragged(
    %q: tensor<?x64x128xf8E4M3FN> {dsv4.name = "q", dsv4.dims = ["rows", "", ""],
                                   dsv4.strides = #dsv4.strides<[?, 256], align = 16>},
    %w: tensor<?x64xf32> {dsv4.name = "w", dsv4.dims = ["rows", ""]},
    %k: tensor<?x128xf4E2M1FN> {dsv4.name = "k", dsv4.dims = ["keys", ""],
                                dsv4.strides = #dsv4.strides<[72], align = 8>},
    %ks: tensor<?x4xf8E8M0FNU> {dsv4.name = "ks", dsv4.dims = ["keys", ""]},
    %start: tensor<?xi32> {dsv4.name = "start", dsv4.dims = ["rows"]},
    %end: tensor<?xi32> {dsv4.name = "end", dsv4.dims = ["rows"]},
    %out: tensor<?x?xf32> {dsv4.name = "out", dsv4.dims = ["rows", "columns"]}) -> tensor<?x?xf32> {
  %0 = dsv4.index_score %q weights(%w : tensor<?x64xf32>) keys(%k : tensor<?x128xf4E2M1FN>)
      key_scales(%ks : tensor<?x4xf8E8M0FNU>) starts(%start : tensor<?xi32>) ends(%end : tensor<?xi32>)
      outs(%out : tensor<?x?xf32>) : tensor<?x64x128xf8E4M3FN>
  return %0 : tensor<?x?xf32>
}

// Selections, in the kernel of the scores and in one of their own.
func.func @choose(
    %q: tensor<?x64x128xf8E4M3FN> {dsv4.name = "q", dsv4.dims = ["rows", "", ""]},
    %w: tensor<?x64xf32> {dsv4.name = "w", dsv4.dims = ["rows", ""]},
    %keys: !fp4 {dsv4.name = "keys"},
    %table: tensor<?x?xi32> {dsv4.name = "table", dsv4.dims = ["requests", "pages"]},
    %length: tensor<?xi32> {dsv4.name = "length", dsv4.dims = ["requests"]},
    %chosen: tensor<?x96xi32> {dsv4.name = "chosen", dsv4.dims = ["rows", ""]},
    %values: tensor<?x96xf32> {dsv4.name = "values", dsv4.dims = ["rows", ""]})
    -> (tensor<?x96xi32>, tensor<?x96xf32>) {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %q, %c0 : tensor<?x64x128xf8E4M3FN>
  %row = tensor.empty(%rows) : tensor<?x3000xf32>
  %scores = dsv4.index_score %q weights(%w : tensor<?x64xf32>) cache(%keys : !fp4) pages(%table : tensor<?x?xi32>)
      lengths(%length : tensor<?xi32>) next_n 2 outs(%row : tensor<?x3000xf32>) : tensor<?x64x128xf8E4M3FN>
  %0:2 = dsv4.topk %scores order sorted outs(%chosen, %values : tensor<?x96xi32>, tensor<?x96xf32>) : tensor<?x3000xf32>
  return %0#0, %0#1 : tensor<?x96xi32>, tensor<?x96xf32>
}

func.func @choose_stored(
    %q: tensor<?x64x128xf8E4M3FN> {dsv4.name = "q", dsv4.dims = ["rows", "", ""]},
    %w: tensor<?x64xf32> {dsv4.name = "w", dsv4.dims = ["rows", ""]},
    %keys: !fp4 {dsv4.name = "keys"},
    %table: tensor<?x?xi32> {dsv4.name = "table", dsv4.dims = ["requests", "pages"]},
    %length: tensor<?xi32> {dsv4.name = "length", dsv4.dims = ["requests"]},
    %chosen: tensor<?x96xi32> {dsv4.name = "chosen", dsv4.dims = ["rows", ""]},
    %values: tensor<?x96xf32> {dsv4.name = "values", dsv4.dims = ["rows", ""]},
    %out: tensor<?x3000xf32> {dsv4.name = "out", dsv4.dims = ["rows", ""]})
    -> (tensor<?x96xi32>, tensor<?x96xf32>, tensor<?x3000xf32>) {
  %scores = dsv4.index_score %q weights(%w : tensor<?x64xf32>) cache(%keys : !fp4) pages(%table : tensor<?x?xi32>)
      lengths(%length : tensor<?xi32>) next_n 2 outs(%out : tensor<?x3000xf32>) : tensor<?x64x128xf8E4M3FN>
  %0:2 = dsv4.topk %scores order sorted outs(%chosen, %values : tensor<?x96xi32>, tensor<?x96xf32>) : tensor<?x3000xf32>
  return %0#0, %0#1, %scores : tensor<?x96xi32>, tensor<?x96xf32>, tensor<?x3000xf32>
}

// One query and one key.
func.func @one(
    %q: tensor<?x1x128xf8E4M3FN> {dsv4.name = "q", dsv4.dims = ["rows", "", ""]},
    %w: tensor<?x1xf32> {dsv4.name = "w", dsv4.dims = ["rows", ""]},
    %k: tensor<?x128xf4E2M1FN> {dsv4.name = "k", dsv4.dims = ["keys", ""]},
    %ks: tensor<?x4xf8E8M0FNU> {dsv4.name = "ks", dsv4.dims = ["keys", ""]},
    %out: tensor<?x1xf32> {dsv4.name = "out", dsv4.dims = ["rows", ""]}) -> tensor<?x1xf32> {
  %0 = dsv4.index_score %q weights(%w : tensor<?x1xf32>) keys(%k : tensor<?x128xf4E2M1FN>)
      key_scales(%ks : tensor<?x4xf8E8M0FNU>) outs(%out : tensor<?x1xf32>) : tensor<?x1x128xf8E4M3FN>
  return %0 : tensor<?x1xf32>
}
