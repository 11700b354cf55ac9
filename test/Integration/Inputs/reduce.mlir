func.func @chain(%x: tensor<?x512xbf16>, %weight: tensor<512xbf16>, %normed: tensor<?x512xbf16>,
    %rotated: tensor<?x512xbf16>, %payload: tensor<?x512xf8E4M3FN>, %scales: tensor<?x4xf32>)
    -> (tensor<?x512xf8E4M3FN>, tensor<?x4xf32>) {
  %a = dsv4.rms_norm %x weight(%weight : tensor<512xbf16>) outs(%normed : tensor<?x512xbf16>)
      {eps = 1.0e-06 : f32} : tensor<?x512xbf16>
  %b = dsv4.hadamard %a outs(%rotated : tensor<?x512xbf16>) {scale = 4.41941731e-02 : f32} : tensor<?x512xbf16>
  %q, %s = dsv4.quantize %b outs(%payload, %scales : tensor<?x512xf8E4M3FN>, tensor<?x4xf32>)
      {format = #dsv4.format<f8E4M3FN, [<f32 per 128>]>, recipe = #dsv4.quantizer<>}
      : tensor<?x512xbf16>
  return %q, %s : tensor<?x512xf8E4M3FN>, tensor<?x4xf32>
}
