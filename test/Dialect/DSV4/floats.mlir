// Numbers of f32 may be written with their type or without it, everywhere.

// RUN: dsv4-opt %s | FileCheck %s
// RUN: dsv4-opt %s | dsv4-opt | FileCheck %s
// RUN: dsv4-opt %s -mlir-print-op-generic | dsv4-opt | FileCheck %s
// RUN: dsv4-opt %s --emit-bytecode | dsv4-opt --allow-bytecode | FileCheck %s

// CHECK-LABEL: func.func @rms_norm
func.func @rms_norm(%x: tensor<?x8xbf16>, %o: tensor<?x8xbf16>) {
  // CHECK-COUNT-2: dsv4.rms_norm %{{[a-z0-9_]+}} outs(%{{[a-z0-9_]+}} : tensor<?x8xbf16>) {eps = 9.99999997E-7 : f32} : tensor<?x8xbf16>
  %0 = dsv4.rms_norm %x outs(%o : tensor<?x8xbf16>) {eps = 1.0e-06 : f32} : tensor<?x8xbf16>
  %1 = dsv4.rms_norm %x outs(%o : tensor<?x8xbf16>) {eps = 1.0e-06} : tensor<?x8xbf16>
  return
}

// CHECK-LABEL: func.func @hadamard
func.func @hadamard(%x: tensor<?x8xbf16>, %o: tensor<?x8xbf16>) {
  // CHECK-COUNT-2: dsv4.hadamard %{{[a-z0-9_]+}} outs(%{{[a-z0-9_]+}} : tensor<?x8xbf16>) {scale = 1.500000e+00 : f32} : tensor<?x8xbf16>
  %0 = dsv4.hadamard %x outs(%o : tensor<?x8xbf16>) {scale = 1.5 : f32} : tensor<?x8xbf16>
  %1 = dsv4.hadamard %x outs(%o : tensor<?x8xbf16>) {scale = 1.5} : tensor<?x8xbf16>
  return
}

// CHECK-LABEL: func.func @route_weights
func.func @route_weights(%s: tensor<3x8xf32>, %i: tensor<3x2xi32>, %o: tensor<3x2xf32>) {
  // CHECK-COUNT-4: dsv4.route_weights %{{[a-z0-9_]+}}[%{{[a-z0-9_]+}}] renormalize scale 1.500000e+00 outs(%{{[a-z0-9_]+}} : tensor<3x2xf32>) : tensor<3x8xf32>, tensor<3x2xi32>
  %0 = dsv4.route_weights %s[%i] renormalize scale 1.5 outs(%o : tensor<3x2xf32>) : tensor<3x8xf32>, tensor<3x2xi32>
  %1 = dsv4.route_weights %s[%i] renormalize scale 1.5 : f32 outs(%o : tensor<3x2xf32>)
      : tensor<3x8xf32>, tensor<3x2xi32>
  %2 = dsv4.route_weights %s[%i] outs(%o : tensor<3x2xf32>) {scale = 1.5 : f32, renormalize}
      : tensor<3x8xf32>, tensor<3x2xi32>
  %3 = dsv4.route_weights %s[%i] renormalize outs(%o : tensor<3x2xf32>) {scale = 1.5}
      : tensor<3x8xf32>, tensor<3x2xi32>
  // Other attributes stay.
  // CHECK: dsv4.route_weights %{{[a-z0-9_]+}}[%{{[a-z0-9_]+}}] scale 2.000000e+00 outs(%{{[a-z0-9_]+}} : tensor<3x2xf32>) {test.note = "n"} :
  %4 = dsv4.route_weights %s[%i] scale 2.0 : f32 outs(%o : tensor<3x2xf32>) {test.note = "n"}
      : tensor<3x8xf32>, tensor<3x2xi32>
  return
}

// CHECK-LABEL: func.func private @floors
// CHECK-SAME: test.a = [#[[FLOOR:.*]], #[[FLOOR]]]
func.func private @floors() attributes {test.a = [
    #dsv4.quantizer<floor = 1.0e-04 : f32>, #dsv4.quantizer<floor = 1.0e-04>]}
