// RUN: dsv4-opt %s --convert-dsv4-to-row --split-input-file --verify-diagnostics

func.func @other_op(%o: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %0 = dsv4.kernel @k(%o) : (tensor<?x8xf32>) -> tensor<?x8xf32> {
  ^bb0(%o1: tensor<?x8xf32>):
    // expected-error @+1 {{'arith.negf' op has no row lowering: implement RowLoweringInterface, or attach a model of it as the files in RowLowerings.h do}}
    %r = arith.negf %o1 : tensor<?x8xf32>
    dsv4.yield %r : tensor<?x8xf32>
  }
  return %0 : tensor<?x8xf32>
}

// -----

func.func @nothing(%o: tensor<?x8xf32>) {
  // expected-error @+1 {{'dsv4.kernel' op holds no row-wise op}}
  dsv4.kernel @k(%o) : (tensor<?x8xf32>) -> () {
  ^bb0(%o1: tensor<?x8xf32>):
  }
  return
}

// -----

func.func @swizzle_of_strides(%x: tensor<?x64xbf16> {dsv4.name = "x"}, %d: tensor<?x64xf8E4M3FN> {dsv4.name = "d"},
                              %s: tensor<?x4xf8E8M0FNU> {dsv4.name = "s", dsv4.strides = #dsv4.strides<[?]>})
    -> (tensor<?x64xf8E4M3FN>, tensor<?x4xf8E8M0FNU>) {
  %0:2 = dsv4.kernel @k(%x, %d, %s) : (tensor<?x64xbf16>, tensor<?x64xf8E4M3FN>, tensor<?x4xf8E8M0FNU>)
      -> (tensor<?x64xf8E4M3FN>, tensor<?x4xf8E8M0FNU>) {
  ^bb0(%x1: tensor<?x64xbf16>, %d1: tensor<?x64xf8E4M3FN>, %s1: tensor<?x4xf8E8M0FNU>):
    // expected-error @+1 {{'scales swizzle_128x4' are blocks that follow each other: expected 's' without strides}}
    %r:2 = dsv4.quantize %x1 scales swizzle_128x4 outs(%d1, %s1 : tensor<?x64xf8E4M3FN>, tensor<?x4xf8E8M0FNU>)
        {format = #dsv4.format<f8E4M3FN, [<f8E8M0FNU per 16>]>, recipe = #dsv4.quantizer<rounding = up_pow2>}
        : tensor<?x64xbf16>
    dsv4.yield %r#0, %r#1 : tensor<?x64xf8E4M3FN>, tensor<?x4xf8E8M0FNU>
  }
  return %0#0, %0#1 : tensor<?x64xf8E4M3FN>, tensor<?x4xf8E8M0FNU>
}
