// One decode step of CSA's compressor (m = 4, overlapping). One kernel, launched over the entries,
// pools the fp32 projections of tokens into the entries that they complete, then normalises,
// rotates at the position of the window, quantises and writes V4's 584-byte records. A second
// kernel writes the tokens to the state, a ring of 8 positions per request, because the first
// kernel still reads the entries that they overwrite. The entries have a bucket, so the compiler
// knows that they are few and uses a whole block of threads for each.
//
//   dsv4-run examples/csa_compress_decode.mlir --random=1 --check --dim tokens=64 --dim entries=64 \
//     --dim requests=64 --dim positions=4096 --dim cache.pages=16 --dim state.pages=64

!cache = !dsv4.cache<64 x #dsv4.record<v4_584>>
!state = !dsv4.cache<8 x <[<"values" : 1024 x f32 in row>, <"scores" : 1024 x f32 in row>]>>
#fp8 = #dsv4.format<f8E4M3FN, [<f8E8M0FNU per 64>]>
#recipe = #dsv4.quantizer<floor = 1.0e-04 : f32, limit = reciprocal, rounding = up_pow2>

func.func @csa_compress_decode(
    %values: tensor<?x1024xf32> {dsv4.name = "values", dsv4.dims = ["tokens", ""]},
    %scores: tensor<?x1024xf32> {dsv4.name = "scores", dsv4.dims = ["tokens", ""]},
    %bias: tensor<4x1024xf32> {dsv4.name = "bias"},
    %plan: tensor<?x4xi32> {dsv4.name = "plan", dsv4.dims = ["entries", ""]},
    %weight: tensor<512xbf16> {dsv4.name = "weight"},
    %angles: tensor<?x64xf32> {dsv4.name = "angles", dsv4.dims = ["positions", ""]},
    %position: tensor<?xi32> {dsv4.name = "position", dsv4.dims = ["entries"]},
    %slot: tensor<?xi32> {dsv4.name = "slot", dsv4.dims = ["entries"]},
    %token_position: tensor<?xi32> {dsv4.name = "token_position", dsv4.dims = ["tokens"]},
    %token_request: tensor<?xi32> {dsv4.name = "token_request", dsv4.dims = ["tokens"]},
    %length: tensor<?xi32> {dsv4.name = "length", dsv4.dims = ["requests"]},
    %state: !state {dsv4.name = "state"},
    %cache: !cache {dsv4.name = "cache"})
    attributes {dsv4.policies = {entries = #dsv4.policy<bucket>}} {
  %c0 = arith.constant 0 : index
  %entries = tensor.dim %plan, %c0 : tensor<?x4xi32>
  %row = tensor.empty(%entries) : tensor<?x512xbf16>
  %payload_of_row = tensor.empty(%entries) : tensor<?x448xf8E4M3FN>
  %scales_of_row = tensor.empty(%entries) : tensor<?x7xf8E8M0FNU>

  %pooled = dsv4.compress %values, %scores window 4 overlap plan(%plan : tensor<?x4xi32>)
      bias(%bias : tensor<4x1024xf32>) state(%state : !state) ring 8
      outs(%row : tensor<?x512xbf16>) : tensor<?x1024xf32>, tensor<?x1024xf32>
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

  dsv4.paged_append %state[%token_position] ring 8
      requests(%token_request : tensor<?xi32>) lengths(%length : tensor<?xi32>)
      fields(%values, %scores : tensor<?x1024xf32>, tensor<?x1024xf32>) : !state, tensor<?xi32>
  return
}
