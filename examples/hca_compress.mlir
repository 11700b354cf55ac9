// HCA's compressor: windows of m = 128 tokens, one stream, into V4's 584-byte records. One kernel,
// with a block of threads per entry, pools, normalises, rotates, quantises and stores. The tokens
// go to the state, a ring of 128 positions per request.
//
//   dsv4-run examples/hca_compress.mlir --random=1 --check --dim tokens=1024 --dim entries=8 \
//     --dim requests=8 --dim positions=4096 --dim cache.pages=16 --dim state.pages=64

!cache = !dsv4.cache<64 x #dsv4.record<v4_584>>
!state = !dsv4.cache<16 x <[<"values" : 512 x f32 in row>, <"scores" : 512 x f32 in row>]>>
#fp8 = #dsv4.format<f8E4M3FN, [<f8E8M0FNU per 64>]>
#recipe = #dsv4.quantizer<floor = 1.0e-04 : f32, limit = reciprocal, rounding = up_pow2>

func.func @hca_compress(
    %values: tensor<?x512xf32> {dsv4.name = "values", dsv4.dims = ["tokens", ""]},
    %scores: tensor<?x512xf32> {dsv4.name = "scores", dsv4.dims = ["tokens", ""]},
    %bias: tensor<128x512xf32> {dsv4.name = "bias"},
    %plan: tensor<?x4xi32> {dsv4.name = "plan", dsv4.dims = ["entries", ""]},
    %weight: tensor<512xbf16> {dsv4.name = "weight"},
    %angles: tensor<?x64xf32> {dsv4.name = "angles", dsv4.dims = ["positions", ""]},
    %position: tensor<?xi32> {dsv4.name = "position", dsv4.dims = ["entries"]},
    %slot: tensor<?xi32> {dsv4.name = "slot", dsv4.dims = ["entries"]},
    %token_position: tensor<?xi32> {dsv4.name = "token_position", dsv4.dims = ["tokens"]},
    %token_request: tensor<?xi32> {dsv4.name = "token_request", dsv4.dims = ["tokens"]},
    %length: tensor<?xi32> {dsv4.name = "length", dsv4.dims = ["requests"]},
    %state: !state {dsv4.name = "state"},
    %cache: !cache {dsv4.name = "cache"}) {
  %c0 = arith.constant 0 : index
  %entries = tensor.dim %plan, %c0 : tensor<?x4xi32>
  %row = tensor.empty(%entries) : tensor<?x512xbf16>
  %payload_of_row = tensor.empty(%entries) : tensor<?x448xf8E4M3FN>
  %scales_of_row = tensor.empty(%entries) : tensor<?x7xf8E8M0FNU>

  %pooled = dsv4.compress %values, %scores window 128 plan(%plan : tensor<?x4xi32>)
      bias(%bias : tensor<128x512xf32>) state(%state : !state) ring 128
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

  dsv4.paged_append %state[%token_position] ring 128
      requests(%token_request : tensor<?xi32>) lengths(%length : tensor<?xi32>)
      fields(%values, %scores : tensor<?x512xf32>, tensor<?x512xf32>) : !state, tensor<?xi32>
  return
}
