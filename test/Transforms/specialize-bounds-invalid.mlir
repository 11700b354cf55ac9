// Constant extents that are less than those of others.

// RUN: dsv4-opt %s --dsv4-specialize --split-input-file --verify-diagnostics

// expected-error @+1 {{axis 1 of argument 's' has extent 8, expected at least 9, for axis 0 of argument 'x'}}
func.func @fewer_scales(%x: tensor<9x640xbf16> {dsv4.name = "x"}, %d: tensor<9x640xf8E4M3FN>,
                        %s: tensor<5x8xf32> {dsv4.name = "s"}) {
  %0:2 = dsv4.quantize %x scales column_major outs(%d, %s : tensor<9x640xf8E4M3FN>, tensor<5x8xf32>)
      {format = #dsv4.format<f8E4M3FN, [<f32 per 128>]>, recipe = #dsv4.quantizer<>} : tensor<9x640xbf16>
  return
}

// -----

// expected-error @+1 {{axis 0 of argument 's' has extent 128, expected at least 256, for axis 0 of argument 'x'}}
func.func @fewer_blocks(%x: tensor<129x640xbf16> {dsv4.name = "x"}, %d: tensor<129x640xf8E4M3FN>,
                        %s: tensor<128x8xf8E8M0FNU> {dsv4.name = "s"}) {
  %0:2 = dsv4.quantize %x scales swizzle_128x4 outs(%d, %s : tensor<129x640xf8E4M3FN>, tensor<128x8xf8E8M0FNU>)
      {format = #dsv4.format<f8E4M3FN, [<f8E8M0FNU per 128>]>, recipe = #dsv4.quantizer<rounding = up_pow2>} : tensor<129x640xbf16>
  return
}

// -----

// expected-error @+1 {{an axis of a slice has extent 128, expected at least 256, for axis 0 of argument 'd'}}
func.func @slice_of_fewer_blocks(%d: tensor<129x640xf8E4M3FN> {dsv4.name = "d"}, %s: tensor<1024x8xf8E8M0FNU> {dsv4.name = "s"},
                                 %x: tensor<129x640xbf16> {dsv4.name = "x"}) {
  %part = tensor.extract_slice %s[512, 0] [128, 8] [1, 1] : tensor<1024x8xf8E8M0FNU> to tensor<128x8xf8E8M0FNU>
  %0 = dsv4.dequantize %d scales swizzle_128x4(%part : tensor<128x8xf8E8M0FNU>) outs(%x : tensor<129x640xbf16>)
      {format = #dsv4.format<f8E4M3FN, [<f8E8M0FNU per 128>]>} : tensor<129x640xf8E4M3FN>
  return
}
