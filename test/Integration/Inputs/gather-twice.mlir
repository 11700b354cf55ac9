// The compressed entries of each request, and the last entries of its window after them: two gathers to one destination.
!cache = !dsv4.cache<16 x <v4_584>>
func.func @gather_twice(%c4: !cache {dsv4.name = "c4"}, %window: !cache {dsv4.name = "window"},
                        %c4_table: tensor<?x?xi32> {dsv4.name = "c4_table", dsv4.dims = ["requests", "pages"]},
                        %window_table: tensor<?x?xi32> {dsv4.name = "window_table", dsv4.dims = ["requests", "window_pages"]},
                        %c4_lens: tensor<?xi32> {dsv4.name = "c4_lens", dsv4.dims = ["requests"]},
                        %lens: tensor<?xi32> {dsv4.name = "lens", dsv4.dims = ["requests"]},
                        %last: tensor<?xi32> {dsv4.name = "last", dsv4.dims = ["requests"]},
                        %out: tensor<?x?x512xbf16> {dsv4.name = "out", dsv4.dims = ["requests", "rows", ""]})
    -> tensor<?x?x512xbf16> {
  %0 = dsv4.paged_gather %c4 pages(%c4_table : tensor<?x?xi32>) seq_lens(%c4_lens : tensor<?xi32>)
      outs(%out : tensor<?x?x512xbf16>) : !cache
  %1 = dsv4.paged_gather %window pages(%window_table : tensor<?x?xi32>) seq_lens(%lens : tensor<?xi32>)
      gather_lens(%last : tensor<?xi32>) offset 32 outs(%0 : tensor<?x?x512xbf16>) : !cache
  return %1 : tensor<?x?x512xbf16>
}
