// gate, lookup and route_weights, read back from their own text, from generic text and from bytecode.

// RUN: dsv4-opt %s | dsv4-opt | FileCheck %s
// RUN: dsv4-opt %s -mlir-print-op-generic | dsv4-opt | FileCheck %s
// RUN: dsv4-opt %s --emit-bytecode | dsv4-opt --allow-bytecode | FileCheck %s

// CHECK-LABEL: func.func @gate
func.func @gate(%f32: tensor<?x256xf32>, %bf16: tensor<2x?x7xbf16>,
                %a: tensor<?x256xf32>, %b: tensor<2x?x7xf32>) -> tensor<2x?x7xf32> {
  // CHECK: %scores = dsv4.gate %{{[a-z0-9_]+}} function sqrt_softplus outs(%{{[a-z0-9_]+}} : tensor<?x256xf32>) : tensor<?x256xf32>
  %0 = dsv4.gate %f32 function sqrt_softplus outs(%a : tensor<?x256xf32>) : tensor<?x256xf32>
  // CHECK: dsv4.gate %{{[a-z0-9_]+}} function sigmoid
  %1 = dsv4.gate %0 function sigmoid outs(%a : tensor<?x256xf32>) : tensor<?x256xf32>
  // CHECK: dsv4.gate %{{[a-z0-9_]+}} function softmax outs(%{{[a-z0-9_]+}} : tensor<2x?x7xf32>) : tensor<2x?x7xbf16>
  %2 = dsv4.gate %bf16 function softmax outs(%b : tensor<2x?x7xf32>) : tensor<2x?x7xbf16>
  return %2 : tensor<2x?x7xf32>
}

// CHECK-LABEL: func.func @lookup
func.func @lookup(%table: tensor<129280x6xi32>, %ids: tensor<?xi32>,
                  %out: tensor<?x6xi32>) -> tensor<?x6xi32> {
  // CHECK: %found = dsv4.lookup %{{[a-z0-9_]+}}[%{{[a-z0-9_]+}}] outs(%{{[a-z0-9_]+}} : tensor<?x6xi32>) : tensor<129280x6xi32>, tensor<?xi32>
  %0 = dsv4.lookup %table[%ids] outs(%out : tensor<?x6xi32>)
      : tensor<129280x6xi32>, tensor<?xi32>
  return %0 : tensor<?x6xi32>
}

// CHECK-LABEL: func.func @weights
func.func @weights(%scores: tensor<?x144xf32>, %indices: tensor<?x6xi32>,
                   %out: tensor<?x6xf32>) {
  // CHECK: %weights = dsv4.route_weights %{{[a-z0-9_]+}}[%{{[a-z0-9_]+}}] renormalize scale 1.500000e+00
  // CHECK-SAME: outs(%{{[a-z0-9_]+}} : tensor<?x6xf32>) : tensor<?x144xf32>, tensor<?x6xi32>
  %0 = dsv4.route_weights %scores[%indices] renormalize scale 1.5
      outs(%out : tensor<?x6xf32>) : tensor<?x144xf32>, tensor<?x6xi32>
  // CHECK: dsv4.route_weights %{{[a-z0-9_]+}}[%{{[a-z0-9_]+}}] uniform outs
  %1 = dsv4.route_weights %scores[%indices] uniform
      outs(%out : tensor<?x6xf32>) : tensor<?x144xf32>, tensor<?x6xi32>
  // CHECK: dsv4.route_weights %{{[a-z0-9_]+}}[%{{[a-z0-9_]+}}] outs
  %2 = dsv4.route_weights %scores[%indices]
      outs(%out : tensor<?x6xf32>) : tensor<?x144xf32>, tensor<?x6xi32>
  return
}
