// HCA's compressor, online. For a window of m = 128 tokens in progress the state keeps, channel by
// channel, the largest score and two sums instead of the tokens. A launch takes tokens as they
// come, in segments of windows. A segment that ends its window makes an entry, which the same
// kernel normalises, rotates, quantises and writes to V4's 584-byte records. Other segments have
// slot -1.
//
//   dsv4-run examples/hca_online.mlir --random=1 --check --dim tokens=64 --dim segments=64 \
//     --dim positions=4096 --dim cache.pages=16 --dim state.pages=8

!cache = !dsv4.cache<64 x #dsv4.record<v4_584>>
!state = !dsv4.cache<16 x <[<"max" : 512 x f32 in row>, <"sum" : 512 x f32 in row>,
                            <"acc" : 512 x f32 in row>]>>
#fp8 = #dsv4.format<f8E4M3FN, [<f8E8M0FNU per 64>]>
#recipe = #dsv4.quantizer<floor = 1.0e-04 : f32, limit = reciprocal, rounding = up_pow2>

func.func @hca_online(
    %values: tensor<?x512xf32> {dsv4.name = "values", dsv4.dims = ["tokens", ""]},
    %scores: tensor<?x512xf32> {dsv4.name = "scores", dsv4.dims = ["tokens", ""]},
    %bias: tensor<128x512xf32> {dsv4.name = "bias"},
    %plan: tensor<?x5xi32> {dsv4.name = "plan", dsv4.dims = ["segments", ""]},
    %weight: tensor<512xbf16> {dsv4.name = "weight"},
    %angles: tensor<?x64xf32> {dsv4.name = "angles", dsv4.dims = ["positions", ""]},
    %position: tensor<?xi32> {dsv4.name = "position", dsv4.dims = ["segments"]},
    %slot: tensor<?xi32> {dsv4.name = "slot", dsv4.dims = ["segments"]},
    %state: !state {dsv4.name = "state"},
    %cache: !cache {dsv4.name = "cache"}) {
  %c0 = arith.constant 0 : index
  %segments = tensor.dim %plan, %c0 : tensor<?x5xi32>
  %row = tensor.empty(%segments) : tensor<?x512xbf16>
  %payload_of_row = tensor.empty(%segments) : tensor<?x448xf8E4M3FN>
  %scales_of_row = tensor.empty(%segments) : tensor<?x7xf8E8M0FNU>

  %pooled = dsv4.compress %values, %scores window 128 algorithm online
      plan(%plan : tensor<?x5xi32>) bias(%bias : tensor<128x512xf32>) state(%state : !state)
      outs(%row : tensor<?x512xbf16>) : tensor<?x512xf32>, tensor<?x512xf32>
  %normed = dsv4.rms_norm %pooled weight(%weight : tensor<512xbf16>)
      outs(%row : tensor<?x512xbf16>) {eps = 1.0e-06 : f32} : tensor<?x512xbf16>
  %rotated = dsv4.rope %normed table(%angles : tensor<?x64xf32>)
      positions(%position : tensor<?xi32>) outs(%row : tensor<?x512xbf16>) : tensor<?x512xbf16>
  %payload, %scales = dsv4.quantize %rotated columns [0, 448]
      outs(%payload_of_row, %scales_of_row : tensor<?x448xf8E4M3FN>, tensor<?x7xf8E8M0FNU>)
      {format = #fp8, recipe = #recipe} : tensor<?x512xbf16>
  dsv4.paged_append %cache[%slot] unique
      fields(%payload, %rotated, %scales
             : tensor<?x448xf8E4M3FN>, tensor<?x512xbf16>, tensor<?x7xf8E8M0FNU>)
      columns [0, 448, 0] : !cache, tensor<?xi32>
  return
}
