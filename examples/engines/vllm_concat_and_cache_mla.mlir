// What: vLLM's concat_and_cache_mla(kv_c, k_pe, kv_cache, slot_mapping, "fp8_ds_mla", scale):
// latents in FP8 with a scale per 128, a power of two, then the rotary values, into V3.2's records of
// 656 bytes. kv_c and k_pe are views, and pages may lie in a slab. Slot -1 is skipped.
// Bytes: equal to vLLM 0.33; older versions have scales that are no powers of two
// Dims: --dim tokens=37 --dim kv_cache.pages=5
// Dims: --dim tokens=0 --dim kv_cache.pages=1
// NVRTC: --max-stack=192 sm_90a
// Parameters: page_size = 64 (1 to 4096)
// Uses: cache<{page_size} x

!cache = !dsv4.cache<64 x <v32_656>>
#fp8 = #dsv4.format<f8E4M3FN, [<f32 per 128>]>
#recipe = #dsv4.quantizer<floor = 1.0e-04 : f32, floor_of = scale, rounding = up_pow2>

func.func @concat_and_cache_mla(
    %kv_c: tensor<?x512xbf16> {dsv4.name = "kv_c", dsv4.dims = ["tokens", ""],
                               dsv4.strides = #dsv4.strides<[?]>},
    %k_pe: tensor<?x64xbf16> {dsv4.name = "k_pe", dsv4.dims = ["tokens", ""],
                              dsv4.strides = #dsv4.strides<[?]>},
    %kv_cache: !cache {dsv4.name = "kv_cache", dsv4.strides = #dsv4.strides<[?]>},
    %slot_mapping: tensor<?xi64> {dsv4.name = "slot_mapping", dsv4.dims = ["tokens"]}) {
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %kv_c, %c0 : tensor<?x512xbf16>
  %data = tensor.empty(%tokens) : tensor<?x512xf8E4M3FN>
  %scale = tensor.empty(%tokens) : tensor<?x4xf32>
  %payload, %scales = dsv4.quantize %kv_c
      outs(%data, %scale : tensor<?x512xf8E4M3FN>, tensor<?x4xf32>)
      {format = #fp8, recipe = #recipe}
      : tensor<?x512xbf16>
  dsv4.paged_append %kv_cache[%slot_mapping] unique
      fields(%payload, %scales, %k_pe
             : tensor<?x512xf8E4M3FN>, tensor<?x4xf32>, tensor<?x64xbf16>) : !cache, tensor<?xi64>
  return
}
