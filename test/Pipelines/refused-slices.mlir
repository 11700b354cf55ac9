// Slices that are no views of arguments.

// RUN: dsv4-opt %s --split-input-file --verify-diagnostics --dsv4-specialize

// A destination.
func.func @into(%x: tensor<4x512xbf16>, %all: tensor<4x1536xbf16> {dsv4.name = "all"}) -> tensor<4x512xbf16> {
  // expected-error @+1 {{'tensor.extract_slice' op takes a slice of argument 'all' as the destination of 'dsv4.rms_norm', expected one that is read: make the slice an argument of its own, with 'dsv4.strides'}}
  %o = tensor.extract_slice %all[0, 1024] [4, 512] [1, 1] : tensor<4x1536xbf16> to tensor<4x512xbf16>
  %r = dsv4.rms_norm %x outs(%o : tensor<4x512xbf16>) {eps = 1.0e-06 : f32} : tensor<4x512xbf16>
  return %r : tensor<4x512xbf16>
}

// -----

func.func @insert(%x: tensor<4x512xbf16>, %o: tensor<4x512xbf16>, %all: tensor<4x1536xbf16> {dsv4.name = "all"})
    -> tensor<4x1536xbf16> {
  %r = dsv4.rms_norm %x outs(%o : tensor<4x512xbf16>) {eps = 1.0e-06 : f32} : tensor<4x512xbf16>
  // expected-error @+1 {{'tensor.insert_slice' op overwrites a slice of argument 'all', but kernels write whole arguments: make the slice an argument of its own, with 'dsv4.strides'}}
  %s = tensor.insert_slice %r into %all[0, 1024] [4, 512] [1, 1] : tensor<4x512xbf16> into tensor<4x1536xbf16>
  return %s : tensor<4x1536xbf16>
}

// -----

// An argument that is also written.
func.func @written(%x: tensor<4x512xbf16>, %o: tensor<4x512xbf16> {dsv4.name = "o"}, %p: tensor<4x128xbf16>)
    -> (tensor<4x512xbf16>, tensor<4x128xbf16>) {
  // expected-error @+1 {{'tensor.extract_slice' op takes a slice of argument 'o', which is the destination of 'dsv4.rms_norm': make the slice an argument of its own, with 'dsv4.strides'}}
  %s = tensor.extract_slice %o[0, 0] [4, 128] [1, 1] : tensor<4x512xbf16> to tensor<4x128xbf16>
  %r = dsv4.rms_norm %x outs(%o : tensor<4x512xbf16>) {eps = 1.0e-06 : f32} : tensor<4x512xbf16>
  %t = dsv4.rms_norm %s outs(%p : tensor<4x128xbf16>) {eps = 1.0e-06 : f32} : tensor<4x128xbf16>
  return %r, %t : tensor<4x512xbf16>, tensor<4x128xbf16>
}

// -----

func.func @returned(%x: tensor<4x512xbf16> {dsv4.name = "x"}) -> tensor<4x128xbf16> {
  // expected-error @+1 {{'tensor.extract_slice' op takes a slice of argument 'x' and returns it, expected one that an op reads: return the result of an op}}
  %s = tensor.extract_slice %x[0, 0] [4, 128] [1, 1] : tensor<4x512xbf16> to tensor<4x128xbf16>
  return %s : tensor<4x128xbf16>
}

// -----

// What only a kernel has.
func.func @computed(%x: tensor<4x512xbf16>, %o: tensor<4x512xbf16>, %p: tensor<4x128xbf16>) -> tensor<4x128xbf16> {
  %r = dsv4.rms_norm %x outs(%o : tensor<4x512xbf16>) {eps = 1.0e-06 : f32} : tensor<4x512xbf16>
  // expected-error @+1 {{'tensor.extract_slice' op takes a slice of what is no argument of the function, expected memory that a launch is given: make the whole tensor an argument}}
  %s = tensor.extract_slice %r[0, 0] [4, 128] [1, 1] : tensor<4x512xbf16> to tensor<4x128xbf16>
  %t = dsv4.rms_norm %s outs(%p : tensor<4x128xbf16>) {eps = 1.0e-06 : f32} : tensor<4x128xbf16>
  return %t : tensor<4x128xbf16>
}

// -----

func.func @steps(%x: tensor<8x512xbf16> {dsv4.name = "x"}, %o: tensor<4x512xbf16>) -> tensor<4x512xbf16> {
  // expected-error @+1 {{'tensor.extract_slice' op takes a slice of argument 'x' with steps along axis 0, expected steps of 1: make the slice an argument of its own, with 'dsv4.strides'}}
  %s = tensor.extract_slice %x[0, 0] [4, 512] [2, 1] : tensor<8x512xbf16> to tensor<4x512xbf16>
  %r = dsv4.rms_norm %s outs(%o : tensor<4x512xbf16>) {eps = 1.0e-06 : f32} : tensor<4x512xbf16>
  return %r : tensor<4x512xbf16>
}

// -----

// A column: its elements do not follow each other.
func.func @column(%x: tensor<4x3x512xbf16> {dsv4.name = "x"}, %o: tensor<4x3xbf16>) -> tensor<4x3xbf16> {
  // expected-error @+1 {{'tensor.extract_slice' op takes a slice of argument 'x' without axis 2, expected elements that follow each other along the last axis of the result: keep axis 2, or pass the slice as a contiguous argument}}
  %s = tensor.extract_slice %x[0, 0, 7] [4, 3, 1] [1, 1, 1] : tensor<4x3x512xbf16> to tensor<4x3xbf16>
  %r = dsv4.rms_norm %s outs(%o : tensor<4x3xbf16>) {eps = 1.0e-06 : f32} : tensor<4x3xbf16>
  return %r : tensor<4x3xbf16>
}

// -----

// Two elements per byte.
func.func @nibble(%x: tensor<4x512xf4E2M1FN> {dsv4.name = "x"}, %s: tensor<4xf32>, %o: tensor<4x64xbf16>) -> tensor<4x64xbf16> {
  // expected-error @+1 {{'tensor.extract_slice' op takes a slice of argument 'x' that may begin within a byte, as axis 1 has two elements of 4 bits per byte: expected a constant, even offset}}
  %d = tensor.extract_slice %x[0, 7] [4, 64] [1, 1] : tensor<4x512xf4E2M1FN> to tensor<4x64xf4E2M1FN>
  %r = dsv4.dequantize %d scales(%s : tensor<4xf32>) outs(%o : tensor<4x64xbf16>)
      {format = #dsv4.format<f4E2M1FN, [<f32 per row>]>} : tensor<4x64xf4E2M1FN>
  return %r : tensor<4x64xbf16>
}

// -----

// No arithmetic of launch plans.
func.func @offset(%x: tensor<?x512xbf16> {dsv4.name = "x"}, %o: tensor<4x512xbf16>) -> tensor<4x512xbf16> {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %n = tensor.dim %x, %c0 : tensor<?x512xbf16>
  %begin = arith.subi %n, %c4 : index
  // expected-error @+1 {{'tensor.extract_slice' op takes a slice of argument 'x' at an offset along axis 0 that no launch plan can have; expected constants, 'tensor.dim' of arguments, and sums and products of them}}
  %s = tensor.extract_slice %x[%begin, 0] [4, 512] [1, 1] : tensor<?x512xbf16> to tensor<4x512xbf16>
  %r = dsv4.rms_norm %s outs(%o : tensor<4x512xbf16>) {eps = 1.0e-06 : f32} : tensor<4x512xbf16>
  return %r : tensor<4x512xbf16>
}

// -----

func.func @size(%x: tensor<?x512xbf16> {dsv4.name = "x"}, %o: tensor<?x512xbf16>) -> tensor<?x512xbf16> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %o, %c0 : tensor<?x512xbf16>
  %m = arith.addi %n, %n : index
  // expected-error @+1 {{'tensor.extract_slice' op takes a slice of argument 'x' whose extent 0 is no dim of an argument; expected a constant, or 'tensor.dim' of an argument}}
  %s = tensor.extract_slice %x[0, 0] [%m, 512] [1, 1] : tensor<?x512xbf16> to tensor<?x512xbf16>
  %r = dsv4.rms_norm %s outs(%o : tensor<?x512xbf16>) {eps = 1.0e-06 : f32} : tensor<?x512xbf16>
  return %r : tensor<?x512xbf16>
}
