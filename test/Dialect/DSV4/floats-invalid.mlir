// What a number of f32 may not be.

// RUN: dsv4-opt %s --split-input-file --verify-diagnostics

func.func @integer(%x: tensor<?x8xbf16>, %o: tensor<?x8xbf16>) {
  // expected-error @+1 {{expected 'scale' to be a number of f32, such as 1.5 or 1.5 : f32, got 2 : i64}}
  %0 = dsv4.hadamard %x outs(%o : tensor<?x8xbf16>) {scale = 2} : tensor<?x8xbf16>
  return
}

// -----

func.func @none(%x: tensor<?x8xbf16>, %o: tensor<?x8xbf16>) {
  // expected-error @+1 {{'dsv4.hadamard' op requires attribute 'scale'}}
  %0 = dsv4.hadamard %x outs(%o : tensor<?x8xbf16>) : tensor<?x8xbf16>
  return
}

// -----

func.func @large(%x: tensor<?x8xbf16>, %o: tensor<?x8xbf16>) {
  // expected-error @+1 {{rms_norm_c4: expected a finite 'eps' >= 0, got 0x7F800000 : f32}}
  %0 = dsv4.rms_norm %x outs(%o : tensor<?x8xbf16>) {eps = 1.0e+39} : tensor<?x8xbf16>
  return
}

// -----

func.func @place(%s: tensor<3x8xf32>, %i: tensor<3x2xi32>, %o: tensor<3x2xf32>) {
  // expected-error @+1 {{expected f32, got 'bf16'}}
  %0 = dsv4.route_weights %s[%i] scale 1.5 : bf16 outs(%o : tensor<3x2xf32>) : tensor<3x8xf32>, tensor<3x2xi32>
  return
}

// -----

func.func @attributes(%s: tensor<3x8xf32>, %i: tensor<3x2xi32>, %o: tensor<3x2xf32>) {
  // expected-error @+1 {{expected 'scale' to be a number of f32, such as 1.5 or 1.5 : f32, got true}}
  %0 = dsv4.route_weights %s[%i] outs(%o : tensor<3x2xf32>) {scale = true} : tensor<3x8xf32>, tensor<3x2xi32>
  return
}

// -----

func.func @keyword(%s: tensor<3x8xf32>, %i: tensor<3x2xi32>, %o: tensor<3x2xf32>) {
  // expected-error @+1 {{expected a finite number of f32, such as 1.5 or 1.5 : f32, got 'inf'}}
  %0 = dsv4.route_weights %s[%i] scale inf outs(%o : tensor<3x2xf32>) : tensor<3x8xf32>, tensor<3x2xi32>
  return
}
