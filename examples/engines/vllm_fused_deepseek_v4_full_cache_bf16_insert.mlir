// What: vLLM's fused_deepseek_v4_qnorm_rope_kv_rope_full_cache_bf16_insert(q, kv, k_cache, ...): q
// is normalised and rotated in place, kv is rotated and written as rows of 512 bf16 in pages that
// may lie in a slab. Both are one launch. As there, heads are f32 between norm and rotation.
// Bytes: last bits; sums of squares are added in another order, and compilers fuse products
// Dims: --dim tokens=11 --dim positions=99 --dim k_cache.pages=3
// Dims: --dim tokens=0 --dim positions=5 --dim k_cache.pages=1
// Parameters: heads = 64 (1 to 1024), page_size = 64 (1 to 4096), eps = 1.0e-06 (0.0 to 1.0)
// Uses: ?x{heads}x512x | cache<{page_size} x | eps = {eps}

!cache = !dsv4.cache<64 x <bf16_1024>>

func.func @full_cache_bf16_insert(
    %q: tensor<?x64x512xbf16> {dsv4.name = "q", dsv4.dims = ["tokens", "", ""]},
    %kv: tensor<?x512xbf16> {dsv4.name = "kv", dsv4.dims = ["tokens", ""]},
    %k_cache: !cache {dsv4.name = "k_cache", dsv4.strides = #dsv4.strides<[?]>},
    %slot_mapping: tensor<?xi64> {dsv4.name = "slot_mapping", dsv4.dims = ["tokens"]},
    %position_ids: tensor<?xi64> {dsv4.name = "position_ids", dsv4.dims = ["tokens"]},
    %cos_sin_cache: tensor<?x64xf32> {dsv4.name = "cos_sin_cache", dsv4.dims = ["positions", ""]})
    -> tensor<?x64x512xbf16> {
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %kv, %c0 : tensor<?x512xbf16>
  %heads = tensor.empty(%tokens) : tensor<?x64x512xf32>
  %row = tensor.empty(%tokens) : tensor<?x512xbf16>
  %normed = dsv4.rms_norm %q outs(%heads : tensor<?x64x512xf32>) {eps = 1.0e-06}
      : tensor<?x64x512xbf16>
  %q_rotated = dsv4.rope %normed table(%cos_sin_cache : tensor<?x64xf32>)
      positions(%position_ids : tensor<?xi64>) outs(%q : tensor<?x64x512xbf16>)
      : tensor<?x64x512xf32>
  %kv_rotated = dsv4.rope %kv table(%cos_sin_cache : tensor<?x64xf32>)
      positions(%position_ids : tensor<?xi64>) outs(%row : tensor<?x512xbf16>) : tensor<?x512xbf16>
  dsv4.paged_append %k_cache[%slot_mapping] unique
      fields(%kv_rotated : tensor<?x512xbf16>) : !cache, tensor<?xi64>
  return %q_rotated : tensor<?x64x512xbf16>
}
