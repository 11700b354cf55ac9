// What: SGLang's set_mla_kv_buffer_triton(kv_buffer, loc, cache_k_nope, cache_k_rope): two parts of
// a row, which are views, are copied as they are into plain rows of 576 bf16.
// Bytes: equal
// Dims: --dim tokens=37 --dim kv_buffer.pages=99
// Dims: --dim tokens=0 --dim kv_buffer.pages=1
// Parameters: dim = 512 (1 to 16384), rope_dim = 64 (1 to 16384)
// Uses: : {dim} x bf16 | : {rope_dim} x bf16 | ?x{dim}x | ?x{rope_dim}x

!rows = !dsv4.cache<1 x <[<"nope" : 512 x bf16 in row>, <"rope" : 64 x bf16 in row>]>>

func.func @set_mla_kv_buffer(
    %kv_buffer: !rows {dsv4.name = "kv_buffer"},
    %loc: tensor<?xi64> {dsv4.name = "loc", dsv4.dims = ["tokens"]},
    %cache_k_nope: tensor<?x512xbf16> {dsv4.name = "cache_k_nope", dsv4.dims = ["tokens", ""],
                                       dsv4.strides = #dsv4.strides<[?]>},
    %cache_k_rope: tensor<?x64xbf16> {dsv4.name = "cache_k_rope", dsv4.dims = ["tokens", ""],
                                      dsv4.strides = #dsv4.strides<[?]>}) {
  dsv4.paged_append %kv_buffer[%loc] unique
      fields(%cache_k_nope, %cache_k_rope : tensor<?x512xbf16>, tensor<?x64xbf16>)
      : !rows, tensor<?xi64>
  return
}
