// One function for each clause of examples/user_op/UserOps.td.

// RUN: dsv4-example-user-op %s --split-input-file --verify-diagnostics

func.func @add_window_bias_c1(%x: tensor<?x?xf32>, %bias: tensor<4x512xf32>, %p: tensor<?xi32>,
                              %out: tensor<?x512xf32>) {
  // expected-error @+1 {{add_window_bias_c1: expected 'x' of shape [tokens, N] with N between 1 and 65536, got 'tensor<?x?xf32>'}}
  %0 = user.add_window_bias %x bias(%bias : tensor<4x512xf32>) positions(%p : tensor<?xi32>)
      outs(%out : tensor<?x512xf32>) : tensor<?x?xf32>
  return
}

// -----

func.func @add_window_bias_c1_long(%x: tensor<?x65537xf32>, %bias: tensor<4x65537xf32>, %p: tensor<?xi32>,
                                   %out: tensor<?x65537xf32>) {
  // expected-error @+1 {{add_window_bias_c1: expected 'x' of shape [tokens, N] with N between 1 and 65536, got 'tensor<?x65537xf32>'}}
  %0 = user.add_window_bias %x bias(%bias : tensor<4x65537xf32>) positions(%p : tensor<?xi32>)
      outs(%out : tensor<?x65537xf32>) : tensor<?x65537xf32>
  return
}

// -----

func.func @add_window_bias_c1_element(%x: tensor<?x512xbf16>, %bias: tensor<4x512xf32>, %p: tensor<?xi32>,
                                      %out: tensor<?x512xf32>) {
  // expected-error @+1 {{operand #0 must be 2D tensor of 32-bit float values, but got 'tensor<?x512xbf16>'}}
  %0 = user.add_window_bias %x bias(%bias : tensor<4x512xf32>) positions(%p : tensor<?xi32>)
      outs(%out : tensor<?x512xf32>) : tensor<?x512xbf16>
  return
}

// -----

func.func @add_window_bias_c2(%x: tensor<?x512xf32>, %bias: tensor<4x256xf32>, %p: tensor<?xi32>,
                              %out: tensor<?x512xf32>) {
  // expected-error @+1 {{add_window_bias_c2: expected 'bias' of shape [window, 512] with a constant window, got 'tensor<4x256xf32>'}}
  %0 = user.add_window_bias %x bias(%bias : tensor<4x256xf32>) positions(%p : tensor<?xi32>)
      outs(%out : tensor<?x512xf32>) : tensor<?x512xf32>
  return
}

// -----

func.func @add_window_bias_c2_window(%x: tensor<?x512xf32>, %bias: tensor<?x512xf32>, %p: tensor<?xi32>,
                                     %out: tensor<?x512xf32>) {
  // expected-error @+1 {{add_window_bias_c2: expected 'bias' of shape [window, 512] with a constant window, got 'tensor<?x512xf32>'}}
  %0 = user.add_window_bias %x bias(%bias : tensor<?x512xf32>) positions(%p : tensor<?xi32>)
      outs(%out : tensor<?x512xf32>) : tensor<?x512xf32>
  return
}

// -----

func.func @add_window_bias_c3(%x: tensor<8x512xf32>, %bias: tensor<4x512xf32>, %p: tensor<7xi32>,
                              %out: tensor<8x512xf32>) {
  // expected-error @+1 {{add_window_bias_c3: expected 'positions' of the rows of 'x', got 'tensor<7xi32>'}}
  %0 = user.add_window_bias %x bias(%bias : tensor<4x512xf32>) positions(%p : tensor<7xi32>)
      outs(%out : tensor<8x512xf32>) : tensor<8x512xf32>
  return
}

// -----

func.func @add_window_bias_c4(%x: tensor<?x512xf32>, %bias: tensor<4x512xf32>, %p: tensor<?xi32>,
                              %out: tensor<?x256xf32>) {
  // expected-error @+1 {{add_window_bias_c4: expected 'outs' of the shape of 'x', got 'tensor<?x256xf32>'}}
  %0 = user.add_window_bias %x bias(%bias : tensor<4x512xf32>) positions(%p : tensor<?xi32>)
      outs(%out : tensor<?x256xf32>) : tensor<?x512xf32>
  return
}
