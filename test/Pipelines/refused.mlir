// RUN: dsv4-opt %s --split-input-file --verify-diagnostics --dsv4-lower-to-cuda-pipeline

// An op that is in no kernel would never be executed.
func.func @other(%d: tensor<4x8xbf16>, %o: tensor<4x8xbf16>) -> tensor<4x8xbf16> {
  %a = dsv4.dequantize %d outs(%o : tensor<4x8xbf16>) {format = #dsv4.format<bf16>} : tensor<4x8xbf16>
  // expected-error @+1 {{is not part of a kernel and cannot be launched}}
  %b = arith.addf %a, %a : tensor<4x8xbf16>
  return %b : tensor<4x8xbf16>
}

// -----

// Two results in one buffer: the first would be lost.
// expected-error @+1 {{argument 'arg1' is the destination of two results: pass another buffer}}
func.func @twice(%d: tensor<4x8xbf16>, %o: tensor<4x8xbf16>) -> tensor<4x8xbf16> {
  %a = dsv4.dequantize %d outs(%o : tensor<4x8xbf16>) {format = #dsv4.format<bf16>} : tensor<4x8xbf16>
  %b = dsv4.dequantize %d outs(%o : tensor<4x8xbf16>) {format = #dsv4.format<bf16>} : tensor<4x8xbf16>
  return %a : tensor<4x8xbf16>
}

// -----

// Ops of one kernel have one iteration space.
func.func @rows(%d: tensor<?x8xbf16> {dsv4.dims = ["k", ""]}, %e: tensor<?x8xbf16> {dsv4.dims = ["n", ""]},
                %o: tensor<?x8xbf16> {dsv4.dims = ["k", ""]}, %p: tensor<?x8xbf16> {dsv4.dims = ["n", ""]}) {
  %r:2 = dsv4.kernel @k(%d, %e, %o, %p) : (tensor<?x8xbf16>, tensor<?x8xbf16>, tensor<?x8xbf16>, tensor<?x8xbf16>) -> (tensor<?x8xbf16>, tensor<?x8xbf16>) {
  ^bb0(%a: tensor<?x8xbf16>, %b: tensor<?x8xbf16>, %x: tensor<?x8xbf16>, %y: tensor<?x8xbf16>):
    %0 = dsv4.dequantize %a outs(%x : tensor<?x8xbf16>) {format = #dsv4.format<bf16>} : tensor<?x8xbf16>
    // expected-error @+1 {{kernel_c4: has another iteration space than the first op of its kernel}}
    %1 = dsv4.dequantize %b outs(%y : tensor<?x8xbf16>) {format = #dsv4.format<bf16>} : tensor<?x8xbf16>
    dsv4.yield %0, %1 : tensor<?x8xbf16>, tensor<?x8xbf16>
  }
  return
}

// -----

// A softmax is of logits that are read: what computes them needs a destination. The rows that it leaves have no name,
// those of the table's entries have one.
func.func @logits(%t: tensor<9x6xi32>, %w: tensor<?xi32> {dsv4.dims = ["n"]},
                  %d: tensor<?x64xf8E4M3FN> {dsv4.dims = ["n", ""]}, %s: tensor<?xf32> {dsv4.dims = ["n"]},
                  %i: tensor<?x6xi32> {dsv4.dims = ["n", ""]}, %o: tensor<?x6xf32> {dsv4.dims = ["n", ""]})
    -> (tensor<?x6xi32>, tensor<?x6xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %d, %c0 : tensor<?x64xf8E4M3FN>
  %e = tensor.empty(%n) : tensor<?x64xf32>
  %c = dsv4.lookup %t[%w] outs(%i : tensor<?x6xi32>) : tensor<9x6xi32>, tensor<?xi32>
  // expected-error @+1 {{kernel 'logits_0' exchanges this value with another kernel through memory; make the destination that holds it a function argument. Why they are not one kernel: 'dsv4.gate' not fused with 'dsv4.dequantize': }}
  %l = dsv4.dequantize %d scales(%s : tensor<?xf32>) outs(%e : tensor<?x64xf32>)
      {format = #dsv4.format<f8E4M3FN, [<f32 per row>]>} : tensor<?x64xf8E4M3FN>
  %g = dsv4.gate %l function softmax outs(%e : tensor<?x64xf32>) : tensor<?x64xf32>
  %r = dsv4.route_weights %g[%c] outs(%o : tensor<?x6xf32>) : tensor<?x64xf32>, tensor<?x6xi32>
  return %c, %r : tensor<?x6xi32>, tensor<?x6xf32>
}

// -----

// What nobody is given, of one kernel.
func.func @constant(%s: tensor<2x64xf32>, %o: tensor<2x8xi32>) -> tensor<2x8xi32> {
  // expected-error @+1 {{kernel 'constant' uses the result of 'arith.constant', which no kernel computes; pass it as a function argument}}
  %b = arith.constant dense<1.0> : tensor<64xf32>
  %r = dsv4.topk %s bias(%b : tensor<64xf32>) outs(%o : tensor<2x8xi32>) : tensor<2x64xf32>
  return %r : tensor<2x8xi32>
}

// -----

func.func @nothing(%o: tensor<2x8xi32>) -> tensor<2x8xi32> {
  // expected-error @+1 {{kernel 'nothing' uses the result of 'tensor.empty', which no kernel computes; pass it as a function argument}}
  %s = tensor.empty() : tensor<2x64xf32>
  %r = dsv4.topk %s outs(%o : tensor<2x8xi32>) : tensor<2x64xf32>
  return %r : tensor<2x8xi32>
}
