// Kernels that nobody formed, of ops that compute only parts of their rows: nothing is left out silently.

// RUN: dsv4-opt %s --split-input-file --convert-dsv4-to-row --verify-diagnostics

func.func @router(%x: tensor<4x64xf32>, %i: tensor<4x40xi32>, %e: tensor<4x64xf32>) -> (tensor<4x64xf32>, tensor<4x40xi32>) {
    %0:2 = dsv4.kernel @router(%x, %e, %i) : (tensor<4x64xf32>, tensor<4x64xf32>, tensor<4x40xi32>) -> (tensor<4x64xf32>, tensor<4x40xi32>) {
    ^bb0(%arg5: tensor<4x64xf32>, %arg6: tensor<4x64xf32>, %arg8: tensor<4x40xi32>):
      // expected-error @+1 {{computes only the parts of its rows that an op of the kernel consumes: do not yield them from the kernel}}
      %scores = dsv4.gate %arg5 function sigmoid outs(%arg6 : tensor<4x64xf32>) : tensor<4x64xf32>
      %indices = dsv4.topk %scores order sorted outs(%arg8 : tensor<4x40xi32>) : tensor<4x64xf32>
      dsv4.yield %scores, %indices : tensor<4x64xf32>, tensor<4x40xi32>
    }
    return %0#0, %0#1 : tensor<4x64xf32>, tensor<4x40xi32>
}

// -----

func.func @overwrites(%x: tensor<4x64xf32>, %i: tensor<4x6xi32>) -> (tensor<4x64xf32>, tensor<4x6xi32>) {
    %0:2 = dsv4.kernel @overwrites(%x, %i) : (tensor<4x64xf32>, tensor<4x6xi32>) -> (tensor<4x64xf32>, tensor<4x6xi32>) {
    ^bb0(%arg5: tensor<4x64xf32>, %arg8: tensor<4x6xi32>):
      // expected-error @+1 {{stores rows of which the kernel reads parts again: give it a destination that no op of the kernel reads}}
      %scores = dsv4.gate %arg5 function sigmoid outs(%arg5 : tensor<4x64xf32>) : tensor<4x64xf32>
      %indices = dsv4.topk %scores order sorted outs(%arg8 : tensor<4x6xi32>) : tensor<4x64xf32>
      dsv4.yield %scores, %indices : tensor<4x64xf32>, tensor<4x6xi32>
    }
    return %0#0, %0#1 : tensor<4x64xf32>, tensor<4x6xi32>
}

// -----

func.func @two(%x: tensor<4x64xf32>, %i: tensor<4x6xi32>, %e: tensor<4x7xi32>) -> (tensor<4x7xi32>, tensor<4x6xi32>) {
    %0:2 = dsv4.kernel @router(%x, %e, %i) : (tensor<4x64xf32>, tensor<4x7xi32>, tensor<4x6xi32>) -> (tensor<4x7xi32>, tensor<4x6xi32>) {
    ^bb0(%arg5: tensor<4x64xf32>, %arg6: tensor<4x7xi32>, %arg8: tensor<4x6xi32>):
      %scores = dsv4.topk %arg5 order sorted smallest outs(%arg6 : tensor<4x7xi32>) : tensor<4x64xf32>
      // expected-error @+1 {{is the second op of its kernel that selects elements of rows: a kernel has one}}
      %indices = dsv4.topk %arg5 order sorted outs(%arg8 : tensor<4x6xi32>) : tensor<4x64xf32>
      dsv4.yield %scores, %indices : tensor<4x7xi32>, tensor<4x6xi32>
    }
    return %0#0, %0#1 : tensor<4x7xi32>, tensor<4x6xi32>
}

// -----

func.func @f(%t: tensor<50x6xi32>, %d: tensor<4xi32>, %x: tensor<4x64xf32>, %e: tensor<4x64xf32>, %i: tensor<4x6xi32>, %o: tensor<4x6xf32>) -> (tensor<4x6xi32>, tensor<4x6xf32>) {
  %0:2 = dsv4.kernel @h(%t, %d, %x, %e, %i, %o) : (tensor<50x6xi32>, tensor<4xi32>, tensor<4x64xf32>, tensor<4x64xf32>, tensor<4x6xi32>, tensor<4x6xf32>) -> (tensor<4x6xi32>, tensor<4x6xf32>) {
  ^bb0(%a: tensor<50x6xi32>, %b: tensor<4xi32>, %c: tensor<4x64xf32>, %g: tensor<4x64xf32>, %j: tensor<4x6xi32>, %w: tensor<4x6xf32>):
    %f = dsv4.lookup %a[%b] outs(%j : tensor<4x6xi32>) : tensor<50x6xi32>, tensor<4xi32>
    %s = dsv4.rms_norm %c outs(%g : tensor<4x64xf32>) {eps = 1.0e-06 : f32} : tensor<4x64xf32>
    // expected-error @+1 {{reads single elements of rows that 'dsv4.rms_norm' computes as a whole: put that into a kernel of its own}}
    %r = dsv4.route_weights %s[%f] outs(%w : tensor<4x6xf32>) : tensor<4x64xf32>, tensor<4x6xi32>
    dsv4.yield %f, %r : tensor<4x6xi32>, tensor<4x6xf32>
  }
  return %0#0, %0#1 : tensor<4x6xi32>, tensor<4x6xf32>
}

// -----

func.func @f(%d: tensor<4x64xf32>, %x: tensor<4x64xf32>, %g: tensor<4x64xf32>, %i: tensor<4x6xi32>) -> tensor<4x6xi32> {
  %0 = dsv4.kernel @h(%d, %x, %g, %i) schedule <threads = 128, parts = [#dsv4.select<algorithm = warp, vector = 4>]> : (tensor<4x64xf32>, tensor<4x64xf32>, tensor<4x64xf32>, tensor<4x6xi32>) -> tensor<4x6xi32> {
  ^bb0(%a: tensor<4x64xf32>, %b: tensor<4x64xf32>, %c: tensor<4x64xf32>, %j: tensor<4x6xi32>):
    %l = dsv4.gate %a function sigmoid outs(%b : tensor<4x64xf32>) : tensor<4x64xf32>
    // expected-error @+1 {{needs statistics of whole rows, of which 'dsv4.gate' computes only parts here: put that into a kernel of its own}}
    %s = dsv4.gate %l function softmax outs(%c : tensor<4x64xf32>) : tensor<4x64xf32>
    %t = dsv4.topk %s order sorted outs(%j : tensor<4x6xi32>) : tensor<4x64xf32>
    dsv4.yield %t : tensor<4x6xi32>
  }
  return %0 : tensor<4x6xi32>
}
