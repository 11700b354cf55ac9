// What: FlashInfer's append_paged_mla_kv_cache(append_ckv, append_kpe, batch_indices, positions,
// ckv_cache, kpe_cache, kv_indices, kv_indptr, kv_last_page_len): positions of requests whose pages
// are kv_indices[kv_indptr[r] : kv_indptr[r + 1]], in a pool of two arrays. Both operands may be
// views, and each array has a page stride of its own.
// Bytes: equal
// Dims: --dim tokens=37 --dim pages=9 --dim starts=6 --dim cache.pages=12
// Dims: --dim tokens=0 --dim pages=1 --dim starts=2 --dim cache.pages=1
// Parameters: page_size = 16 (1 to 4096), dim = 512 (1 to 16384), rope_dim = 64 (1 to 16384)
// Uses: cache<{page_size} x | : {dim} x bf16 | : {rope_dim} x bf16 | ?x{dim}x | ?x{rope_dim}x

!pool = !dsv4.cache<16 x <[<"ckv" : 512 x bf16 in array>, <"kpe" : 64 x bf16 in array>]>>

func.func @append_paged_mla_kv_cache(
    %append_ckv: tensor<?x512xbf16> {dsv4.name = "append_ckv", dsv4.dims = ["tokens", ""],
                                     dsv4.strides = #dsv4.strides<[?]>},
    %append_kpe: tensor<?x64xbf16> {dsv4.name = "append_kpe", dsv4.dims = ["tokens", ""],
                                    dsv4.strides = #dsv4.strides<[?]>},
    %batch_indices: tensor<?xi32> {dsv4.name = "batch_indices", dsv4.dims = ["tokens"]},
    %positions: tensor<?xi32> {dsv4.name = "positions", dsv4.dims = ["tokens"]},
    %cache: !pool {dsv4.name = "cache", dsv4.strides = #dsv4.strides<[?]>},
    %kv_indices: tensor<?xi32> {dsv4.name = "kv_indices", dsv4.dims = ["pages"]},
    %kv_indptr: tensor<?xi32> {dsv4.name = "kv_indptr", dsv4.dims = ["starts"]}) {
  dsv4.paged_append %cache[%positions] unique
      requests(%batch_indices : tensor<?xi32>) pages(%kv_indices : tensor<?xi32>)
      indptr(%kv_indptr : tensor<?xi32>)
      fields(%append_ckv, %append_kpe : tensor<?x512xbf16>, tensor<?x64xbf16>)
      : !pool, tensor<?xi32>
  return
}
