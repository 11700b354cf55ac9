// Constant strides of a destination that no launch could accept.

// RUN: dsv4-opt %s --dsv4-specialize --split-input-file --verify-diagnostics

// expected-error @+1 {{argument 'o' is a destination, so its elements must not overlap: stride 0 of 'dsv4.strides' is 16376 bytes, expected at least 16384}}
func.func @rows(%x: tensor<?x8192xbf16>,
                %o: tensor<?x8192xbf16> {dsv4.name = "o", dsv4.strides = #dsv4.strides<[16376], align = 8>})
    -> tensor<?x8192xbf16> {
  %0 = dsv4.rms_norm %x outs(%o : tensor<?x8192xbf16>) {eps = 1.0e-06} : tensor<?x8192xbf16>
  return %0 : tensor<?x8192xbf16>
}

// -----

// expected-error @+1 {{argument 'o' is a destination, so its elements must not overlap: stride 0 of 'dsv4.strides' is 0 bytes, expected at least 128}}
func.func @zero(%x: tensor<?x64xbf16>, %o: tensor<?x64xbf16> {dsv4.name = "o", dsv4.strides = #dsv4.strides<[0]>})
    -> tensor<?x64xbf16> {
  %0 = dsv4.rms_norm %x outs(%o : tensor<?x64xbf16>) {eps = 1.0e-06} : tensor<?x64xbf16>
  return %0 : tensor<?x64xbf16>
}

// -----

// expected-error @+1 {{argument 'o' is a destination, so its elements must not overlap: stride 1 of 'dsv4.strides' is 64 bytes, expected at least 128}}
func.func @heads(%x: tensor<?x8x64xbf16>, %o: tensor<?x8x64xbf16> {dsv4.name = "o", dsv4.strides = #dsv4.strides<[?, 64]>})
    -> tensor<?x8x64xbf16> {
  %0 = dsv4.rms_norm %x outs(%o : tensor<?x8x64xbf16>) {eps = 1.0e-06} : tensor<?x8x64xbf16>
  return %0 : tensor<?x8x64xbf16>
}

// -----

// A constant extent is stepped over.
// expected-error @+1 {{argument 'o' is a destination, so its elements must not overlap: stride 0 of 'dsv4.strides' is 1008 bytes, expected at least 1024}}
func.func @tokens(%x: tensor<?x8x64xbf16>, %o: tensor<?x8x64xbf16> {dsv4.name = "o", dsv4.strides = #dsv4.strides<[1008, 128]>})
    -> tensor<?x8x64xbf16> {
  %0 = dsv4.rms_norm %x outs(%o : tensor<?x8x64xbf16>) {eps = 1.0e-06} : tensor<?x8x64xbf16>
  return %0 : tensor<?x8x64xbf16>
}

// -----

// Strides of one index are never used, rows that are only read may be one row, and those of one index of a destination
// may fill gaps of those of another.
func.func @fine(%x: tensor<1x8x64xbf16> {dsv4.strides = #dsv4.strides<[0, 0]>},
                %o: tensor<1x8x64xbf16> {dsv4.strides = #dsv4.strides<[0, 128]>},
                %y: tensor<4x8x64xbf16>, %p: tensor<4x8x64xbf16> {dsv4.strides = #dsv4.strides<[128, 1024]>})
    -> (tensor<1x8x64xbf16>, tensor<4x8x64xbf16>) {
  %0 = dsv4.rms_norm %x outs(%o : tensor<1x8x64xbf16>) {eps = 1.0e-06} : tensor<1x8x64xbf16>
  %1 = dsv4.rms_norm %y outs(%p : tensor<4x8x64xbf16>) {eps = 1.0e-06} : tensor<4x8x64xbf16>
  return %0, %1 : tensor<1x8x64xbf16>, tensor<4x8x64xbf16>
}
