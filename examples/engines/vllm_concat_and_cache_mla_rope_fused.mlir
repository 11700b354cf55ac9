// What: vLLM's concat_and_cache_mla_rope_fused(positions, q_pe, k_pe, kv_c, cos_sin_cache,
// is_neox=True, slot_mapping, kv_cache, "auto", scale): rotates q_pe and k_pe in place by halves,
// and writes kv_c and k_pe into plain rows of 576 bf16. q_pe, k_pe and kv_c are views, and pages
// may lie in a slab. The table has the type of q_pe; all heads of a token have one position. vLLM
// rotates in that type, and this program in f32: last bits differ.
// Bytes: last bits; vLLM rotates in the type of q_pe
// Dims: --dim tokens=13 --dim positions=99 --dim kv_cache.pages=5
// Dims: --dim tokens=0 --dim positions=5 --dim kv_cache.pages=1
// Dims: --dim tokens=13 --dim positions=99 --dim kv_cache.pages=5 --dim q_pe.stride.0=3072 --dim q_pe.stride.1=192 --dim k_pe.stride.0=576 --dim kv_c.stride.0=576
// Parameters: heads = 16 (1 to 1024), page_size = 64 (1 to 4096), dim = 512 (1 to 16384)
// Uses: ?x{heads}x64x | cache<{page_size} x | : {dim} x bf16 | ?x{dim}x

!cache = !dsv4.cache<64 x <[<"kv_c" : 512 x bf16 in row>, <"k_pe" : 64 x bf16 in row>]>>

func.func @concat_and_cache_mla_rope_fused(
    %positions: tensor<?xi64> {dsv4.name = "positions", dsv4.dims = ["tokens"]},
    %q_pe: tensor<?x16x64xbf16> {dsv4.name = "q_pe", dsv4.dims = ["tokens", "", ""],
                                 dsv4.strides = #dsv4.strides<[?, ?]>},
    %k_pe: tensor<?x64xbf16> {dsv4.name = "k_pe", dsv4.dims = ["tokens", ""],
                              dsv4.strides = #dsv4.strides<[?]>},
    %kv_c: tensor<?x512xbf16> {dsv4.name = "kv_c", dsv4.dims = ["tokens", ""],
                               dsv4.strides = #dsv4.strides<[?]>},
    %cos_sin_cache: tensor<?x64xbf16> {dsv4.name = "cos_sin_cache", dsv4.dims = ["positions", ""]},
    %slot_mapping: tensor<?xi64> {dsv4.name = "slot_mapping", dsv4.dims = ["tokens"]},
    %kv_cache: !cache {dsv4.name = "kv_cache", dsv4.strides = #dsv4.strides<[?]>})
    -> (tensor<?x16x64xbf16>, tensor<?x64xbf16>) {
  %q = dsv4.rope %q_pe neox table(%cos_sin_cache : tensor<?x64xbf16>)
      positions(%positions : tensor<?xi64>) outs(%q_pe : tensor<?x16x64xbf16>)
      : tensor<?x16x64xbf16>
  %k = dsv4.rope %k_pe neox table(%cos_sin_cache : tensor<?x64xbf16>)
      positions(%positions : tensor<?xi64>) outs(%k_pe : tensor<?x64xbf16>) : tensor<?x64xbf16>
  dsv4.paged_append %kv_cache[%slot_mapping] unique
      fields(%kv_c, %k : tensor<?x512xbf16>, tensor<?x64xbf16>) : !cache, tensor<?xi64>
  return %q, %k : tensor<?x16x64xbf16>, tensor<?x64xbf16>
}
