// Scores of keys in every format, from caches and arrays, stored and selected from.

!fp8 = !dsv4.cache<64 x <index_fp8_132>>
!fp4 = !dsv4.cache<16 x <index_mxfp4_68>>
// Interleaved with their scales, 16 per key, in pages of a size that is no power of two.
!nvfp4 = !dsv4.cache<6 x <[<"key" : 64 x f4E2M1FN in row>,
                           <"key_scale" : 4 x f8E4M3FN in row scales "key" per 16>]>>
!bf16 = !dsv4.cache<1 x <[<"key" : 64 x bf16 in row>]>>
// Keys and scales in arrays of their own, beside what a reader of the keys does not read.
!apart = !dsv4.cache<32 x <[<"key" : 64 x f8E4M3FN in array>, <"scale" : 1 x f32 in array scales "key" per row>,
                            <"position" : 1 x i32 in array>]>>

func.func @fp8(
    %q: tensor<?x5x128xf8E4M3FN> {dsv4.name = "q", dsv4.dims = ["rows", "", ""]},
    %w: tensor<?x5xf32> {dsv4.name = "w", dsv4.dims = ["rows", ""]},
    %keys: !fp8 {dsv4.name = "keys"},
    %table: tensor<?x?xi32> {dsv4.name = "table", dsv4.dims = ["requests", "pages"]},
    %request: tensor<?xi32> {dsv4.name = "request", dsv4.dims = ["rows"]},
    %position: tensor<?xi32> {dsv4.name = "position", dsv4.dims = ["rows"]},
    %out: tensor<?x?xf32> {dsv4.name = "out", dsv4.dims = ["rows", "columns"]}) -> tensor<?x?xf32> {
  %0 = dsv4.index_score %q weights(%w : tensor<?x5xf32>) cache(%keys : !fp8) pages(%table : tensor<?x?xi32>)
      requests(%request : tensor<?xi32>) lengths(%position : tensor<?xi32>) ratio 4
      outs(%out : tensor<?x?xf32>) : tensor<?x5x128xf8E4M3FN>
  return %0 : tensor<?x?xf32>
}

// A page table per row, and a list of pages.
func.func @fp4(
    %q: tensor<?x3x128xf4E2M1FN> {dsv4.name = "q", dsv4.dims = ["rows", "", ""]},
    %s: tensor<?x3x4xf8E8M0FNU> {dsv4.name = "s", dsv4.dims = ["rows", "", ""]},
    %w: tensor<?x3xf32> {dsv4.name = "w", dsv4.dims = ["rows", ""]},
    %keys: !fp4 {dsv4.name = "keys"},
    %table: tensor<?x?xi64> {dsv4.name = "table", dsv4.dims = ["rows", "pages"]},
    %length: tensor<?xi64> {dsv4.name = "length", dsv4.dims = ["rows"]},
    %out: tensor<?x?xbf16> {dsv4.name = "out", dsv4.dims = ["rows", "columns"],
                            dsv4.strides = #dsv4.strides<[?], align = 2>}) -> tensor<?x?xbf16> {
  %0 = dsv4.index_score %q scales(%s : tensor<?x3x4xf8E8M0FNU>) weights(%w : tensor<?x3xf32>) cache(%keys : !fp4)
      pages(%table : tensor<?x?xi64>) lengths(%length : tensor<?xi64>)
      outs(%out : tensor<?x?xbf16>) : tensor<?x3x128xf4E2M1FN>
  return %0 : tensor<?x?xbf16>
}

func.func @listed(
    %q: tensor<?x3x64xf8E4M3FN> {dsv4.name = "q", dsv4.dims = ["rows", "", ""]},
    %w: tensor<?x3xf32> {dsv4.name = "w", dsv4.dims = ["rows", ""]},
    %keys: !nvfp4 {dsv4.name = "keys"},
    %pages: tensor<?xi32> {dsv4.name = "pages", dsv4.dims = ["listed"]},
    %indptr: tensor<?xi32> {dsv4.name = "indptr", dsv4.dims = ["starts"]},
    %request: tensor<?xi32> {dsv4.name = "request", dsv4.dims = ["rows"]},
    %start: tensor<?xi32> {dsv4.name = "start", dsv4.dims = ["rows"]},
    %length: tensor<?xi32> {dsv4.name = "length", dsv4.dims = ["rows"]},
    %out: tensor<?x200xf32> {dsv4.name = "out", dsv4.dims = ["rows", ""]}) -> tensor<?x200xf32> {
  %0 = dsv4.index_score %q weights(%w : tensor<?x3xf32>) cache(%keys : !nvfp4) pages(%pages : tensor<?xi32>)
      indptr(%indptr : tensor<?xi32>) requests(%request : tensor<?xi32>) starts(%start : tensor<?xi32>)
      lengths(%length : tensor<?xi32>) outs(%out : tensor<?x200xf32>) : tensor<?x3x64xf8E4M3FN>
  return %0 : tensor<?x200xf32>
}

// Several rows of a request, whose pages are farther apart than they need to be.
func.func @next(
    %q: tensor<?x2x64xbf16> {dsv4.name = "q", dsv4.dims = ["rows", "", ""]},
    %w: tensor<?x2xf32> {dsv4.name = "w", dsv4.dims = ["rows", ""]},
    %keys: !bf16 {dsv4.name = "keys", dsv4.strides = #dsv4.strides<[?], align = 2>},
    %table: tensor<?x?xi32> {dsv4.name = "table", dsv4.dims = ["requests", "pages"]},
    %length: tensor<?xi32> {dsv4.name = "length", dsv4.dims = ["requests"]},
    %out: tensor<?x?xf32> {dsv4.name = "out", dsv4.dims = ["rows", "columns"]}) -> tensor<?x?xf32> {
  %0 = dsv4.index_score %q weights(%w : tensor<?x2xf32>) cache(%keys : !bf16) pages(%table : tensor<?x?xi32>)
      lengths(%length : tensor<?xi32>) next_n 3 outs(%out : tensor<?x?xf32>) : tensor<?x2x64xbf16>
  return %0 : tensor<?x?xf32>
}

func.func @apart(
    %q: tensor<?x2x64xf4E2M1FN> {dsv4.name = "q", dsv4.dims = ["rows", "", ""]},
    %s: tensor<?x2x2xf8E8M0FNU> {dsv4.name = "s", dsv4.dims = ["rows", "", ""]},
    %w: tensor<?x2xf32> {dsv4.name = "w", dsv4.dims = ["rows", ""]},
    %keys: !apart {dsv4.name = "keys"},
    %table: tensor<?x?xi32> {dsv4.name = "table", dsv4.dims = ["rows", "pages"]},
    %out: tensor<?x?xf16> {dsv4.name = "out", dsv4.dims = ["rows", "columns"]}) -> tensor<?x?xf16> {
  %0 = dsv4.index_score %q scales(%s : tensor<?x2x2xf8E8M0FNU>) weights(%w : tensor<?x2xf32>) cache(%keys : !apart)
      pages(%table : tensor<?x?xi32>) outs(%out : tensor<?x?xf16>) : tensor<?x2x64xf4E2M1FN>
  return %0 : tensor<?x?xf16>
}

// Keys in order: those of several requests, of which each row has a range.
func.func @ragged(
    %q: tensor<?x2x64xf8E4M3FN> {dsv4.name = "q", dsv4.dims = ["rows", "", ""],
                                 dsv4.strides = #dsv4.strides<[?, ?], align = 1>},
    %w: tensor<?x2xf32> {dsv4.name = "w", dsv4.dims = ["rows", ""]},
    %k: tensor<?x64xf8E4M3FN> {dsv4.name = "k", dsv4.dims = ["keys", ""],
                               dsv4.strides = #dsv4.strides<[?], align = 1>},
    %ks: tensor<?xf32> {dsv4.name = "ks", dsv4.dims = ["keys"]},
    %start: tensor<?xi32> {dsv4.name = "start", dsv4.dims = ["rows"]},
    %end: tensor<?xi32> {dsv4.name = "end", dsv4.dims = ["rows"]},
    %out: tensor<?x?xf32> {dsv4.name = "out", dsv4.dims = ["rows", "columns"]}) -> tensor<?x?xf32> {
  %0 = dsv4.index_score %q weights(%w : tensor<?x2xf32>) keys(%k : tensor<?x64xf8E4M3FN>)
      key_scales(%ks : tensor<?xf32>) starts(%start : tensor<?xi32>) ends(%end : tensor<?xi32>)
      outs(%out : tensor<?x?xf32>) : tensor<?x2x64xf8E4M3FN>
  return %0 : tensor<?x?xf32>
}

// One kernel, without scores in memory.
func.func @choose(
    %q: tensor<?x5x128xf8E4M3FN> {dsv4.name = "q", dsv4.dims = ["rows", "", ""]},
    %w: tensor<?x5xf32> {dsv4.name = "w", dsv4.dims = ["rows", ""]},
    %keys: !fp8 {dsv4.name = "keys"},
    %table: tensor<?x?xi32> {dsv4.name = "table", dsv4.dims = ["requests", "pages"]},
    %request: tensor<?xi32> {dsv4.name = "request", dsv4.dims = ["rows"]},
    %position: tensor<?xi32> {dsv4.name = "position", dsv4.dims = ["rows"]},
    %chosen: tensor<?x40xi32> {dsv4.name = "chosen", dsv4.dims = ["rows", ""]},
    %values: tensor<?x40xf32> {dsv4.name = "values", dsv4.dims = ["rows", ""]})
    -> (tensor<?x40xi32>, tensor<?x40xf32>) {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %q, %c0 : tensor<?x5x128xf8E4M3FN>
  %row = tensor.empty(%rows) : tensor<?x700xf32>
  %scores = dsv4.index_score %q weights(%w : tensor<?x5xf32>) cache(%keys : !fp8) pages(%table : tensor<?x?xi32>)
      requests(%request : tensor<?xi32>) lengths(%position : tensor<?xi32>) ratio 4
      outs(%row : tensor<?x700xf32>) : tensor<?x5x128xf8E4M3FN>
  %0:2 = dsv4.topk %scores lengths(%position : tensor<?xi32>) ratio 4 order sorted
      outs(%chosen, %values : tensor<?x40xi32>, tensor<?x40xf32>) : tensor<?x700xf32>
  return %0#0, %0#1 : tensor<?x40xi32>, tensor<?x40xf32>
}

// The same in two kernels, because the scores are wanted, too.
func.func @choose_stored(
    %q: tensor<?x5x128xf8E4M3FN> {dsv4.name = "q", dsv4.dims = ["rows", "", ""]},
    %w: tensor<?x5xf32> {dsv4.name = "w", dsv4.dims = ["rows", ""]},
    %keys: !fp8 {dsv4.name = "keys"},
    %table: tensor<?x?xi32> {dsv4.name = "table", dsv4.dims = ["requests", "pages"]},
    %request: tensor<?xi32> {dsv4.name = "request", dsv4.dims = ["rows"]},
    %position: tensor<?xi32> {dsv4.name = "position", dsv4.dims = ["rows"]},
    %chosen: tensor<?x40xi32> {dsv4.name = "chosen", dsv4.dims = ["rows", ""]},
    %values: tensor<?x40xf32> {dsv4.name = "values", dsv4.dims = ["rows", ""]},
    %out: tensor<?x700xf32> {dsv4.name = "out", dsv4.dims = ["rows", ""]})
    -> (tensor<?x40xi32>, tensor<?x40xf32>, tensor<?x700xf32>) {
  %scores = dsv4.index_score %q weights(%w : tensor<?x5xf32>) cache(%keys : !fp8) pages(%table : tensor<?x?xi32>)
      requests(%request : tensor<?xi32>) lengths(%position : tensor<?xi32>) ratio 4
      outs(%out : tensor<?x700xf32>) : tensor<?x5x128xf8E4M3FN>
  %0:2 = dsv4.topk %scores lengths(%position : tensor<?xi32>) ratio 4 order sorted
      outs(%chosen, %values : tensor<?x40xi32>, tensor<?x40xf32>) : tensor<?x700xf32>
  return %0#0, %0#1, %scores : tensor<?x40xi32>, tensor<?x40xf32>, tensor<?x700xf32>
}

// Columns without a key are elements, too, where the selection has no lengths.
func.func @choose_all(
    %q: tensor<?x2x64xf4E2M1FN> {dsv4.name = "q", dsv4.dims = ["rows", "", ""]},
    %s: tensor<?x2x2xf8E8M0FNU> {dsv4.name = "s", dsv4.dims = ["rows", "", ""]},
    %w: tensor<?x2xf32> {dsv4.name = "w", dsv4.dims = ["rows", ""]},
    %k: tensor<?x64xf4E2M1FN> {dsv4.name = "k", dsv4.dims = ["keys", ""]},
    %ks: tensor<?x2xf8E8M0FNU> {dsv4.name = "ks", dsv4.dims = ["keys", ""]},
    %chosen: tensor<?x150xi32> {dsv4.name = "chosen", dsv4.dims = ["rows", ""]}) -> tensor<?x150xi32> {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %q, %c0 : tensor<?x2x64xf4E2M1FN>
  %row = tensor.empty(%rows) : tensor<?x300xf32>
  %scores = dsv4.index_score %q scales(%s : tensor<?x2x2xf8E8M0FNU>) weights(%w : tensor<?x2xf32>)
      keys(%k : tensor<?x64xf4E2M1FN>) key_scales(%ks : tensor<?x2xf8E8M0FNU>)
      outs(%row : tensor<?x300xf32>) {query_transforms = ["rope", "hadamard"], key_transforms = ["rope", "hadamard"]}
      : tensor<?x2x64xf4E2M1FN>
  %0 = dsv4.topk %scores order index_ascending outs(%chosen : tensor<?x150xi32>) : tensor<?x300xf32>
  return %0 : tensor<?x150xi32>
}

func.func @integers(
    %q: tensor<?x2x64xf8E4M3FN> {dsv4.name = "q", dsv4.dims = ["rows", "", ""]},
    %w: tensor<?x2xf32> {dsv4.name = "w", dsv4.dims = ["rows", ""]},
    %k: tensor<?x64xf8E4M3FN> {dsv4.name = "k", dsv4.dims = ["keys", ""]},
    %ks: tensor<?xf32> {dsv4.name = "ks", dsv4.dims = ["keys"]},
    %out: tensor<?x3xf32> {dsv4.name = "out", dsv4.dims = ["rows", ""]}) -> tensor<?x3xf32> {
  %0 = dsv4.index_score %q weights(%w : tensor<?x2xf32>) keys(%k : tensor<?x64xf8E4M3FN>)
      key_scales(%ks : tensor<?xf32>) outs(%out : tensor<?x3xf32>) : tensor<?x2x64xf8E4M3FN>
  return %0 : tensor<?x3xf32>
}
