// What: SGLang's fused_k_norm_rope_flashmla(kv, kv_weight, eps, freqs_cis, positions, out_loc,
// kvcache, page_size=64): norm, rotation by a table of complex64, which is f32 [positions, 64], and
// V4's records. kv is the last columns of one GEMM's output. As there, rows are f32 from the norm to
// the store, and nothing but the rotated values becomes bf16.
// Bytes: equal in 256 tokens of 256; sums of squares are added in another order
// Dims: --dim tokens=37 --dim positions=99 --dim kvcache.pages=5
// Dims: --dim tokens=0 --dim positions=5 --dim kvcache.pages=1
// Dims: --dim tokens=37 --dim positions=99 --dim kvcache.pages=5 --dim kv.stride.0=2048
// Parameters: page_size = 64 (1 to 4096), eps = 1.0e-06 (0.0 to 1.0)
// Uses: cache<{page_size} x | eps = {eps}

!cache = !dsv4.cache<64 x <v4_584>>
#fp8 = #dsv4.format<f8E4M3FN, [<f8E8M0FNU per 64>]>
#recipe = #dsv4.quantizer<floor = 1.0e-04 : f32, rounding = up_pow2>

func.func @fused_k_norm_rope_flashmla(
    %kv: tensor<?x512xbf16> {dsv4.name = "kv", dsv4.dims = ["tokens", ""],
                             dsv4.strides = #dsv4.strides<[?]>},
    %kv_weight: tensor<512xbf16> {dsv4.name = "kv_weight"},
    %freqs_cis: tensor<?x64xf32> {dsv4.name = "freqs_cis", dsv4.dims = ["positions", ""]},
    %positions: tensor<?xi64> {dsv4.name = "positions", dsv4.dims = ["tokens"]},
    %out_loc: tensor<?xi64> {dsv4.name = "out_loc", dsv4.dims = ["tokens"]},
    %kvcache: !cache {dsv4.name = "kvcache"}) {
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %kv, %c0 : tensor<?x512xbf16>
  %row = tensor.empty(%tokens) : tensor<?x512xf32>
  %stored = tensor.empty(%tokens) : tensor<?x512xbf16>
  %data = tensor.empty(%tokens) : tensor<?x448xf8E4M3FN>
  %scale = tensor.empty(%tokens) : tensor<?x7xf8E8M0FNU>
  %normed = dsv4.rms_norm %kv weight(%kv_weight : tensor<512xbf16>)
      outs(%row : tensor<?x512xf32>) {eps = 1.0e-06} : tensor<?x512xbf16>
  %rotated = dsv4.rope %normed table(%freqs_cis : tensor<?x64xf32>) interleaved
      positions(%positions : tensor<?xi64>) outs(%stored : tensor<?x512xbf16>) : tensor<?x512xf32>
  %payload, %scales = dsv4.quantize %normed columns [0, 448]
      outs(%data, %scale : tensor<?x448xf8E4M3FN>, tensor<?x7xf8E8M0FNU>)
      {format = #fp8, recipe = #recipe} : tensor<?x512xf32>
  dsv4.paged_append %kvcache[%out_loc] unique
      fields(%payload, %rotated, %scales
             : tensor<?x448xf8E4M3FN>, tensor<?x512xbf16>, tensor<?x7xf8E8M0FNU>)
      columns [0, 448, 0] : !cache, tensor<?xi64>
  return
}
