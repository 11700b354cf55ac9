// What: SGLang's SetKAndS.execute(pool, buf, loc, pack) of DeepSeek-V4: values that are already
// FP8, rotary values and scales are copied as they are into V4's records. There is no write_mask: a
// token that is not written has slot -1. The unused byte of the scales becomes 0.
// Bytes: equal
// Dims: --dim tokens=37 --dim buf.pages=5
// Dims: --dim tokens=0 --dim buf.pages=1
// Parameters: page_size = 64 (1 to 4096)
// Uses: cache<{page_size} x

!cache = !dsv4.cache<64 x <v4_584>>

func.func @set_k_and_s(
    %buf: !cache {dsv4.name = "buf"},
    %loc: tensor<?xi64> {dsv4.name = "loc", dsv4.dims = ["tokens"]},
    %k_nope: tensor<?x448xf8E4M3FN> {dsv4.name = "k_nope_fp8", dsv4.dims = ["tokens", ""]},
    %k_rope: tensor<?x64xbf16> {dsv4.name = "k_rope_bf16", dsv4.dims = ["tokens", ""]},
    %scale: tensor<?x7xf8E8M0FNU> {dsv4.name = "scale_k_nope_ue8m0", dsv4.dims = ["tokens", ""]}) {
  dsv4.paged_append %buf[%loc] unique
      fields(%k_nope, %k_rope, %scale
             : tensor<?x448xf8E4M3FN>, tensor<?x64xbf16>, tensor<?x7xf8E8M0FNU>)
      : !cache, tensor<?xi64>
  return
}
