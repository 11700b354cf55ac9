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
  // CHECK: dsv4.route_weights %{{[a-z0-9_]+}}[%{{[a-z0-9_]+}}] renormalize nan zero outs
  %3 = dsv4.route_weights %scores[%indices] renormalize nan zero
      outs(%out : tensor<?x6xf32>) : tensor<?x144xf32>, tensor<?x6xi32>
  // CHECK: dsv4.route_weights %{{[a-z0-9_]+}}[%{{[a-z0-9_]+}}] outs
  %2 = dsv4.route_weights %scores[%indices]
      outs(%out : tensor<?x6xf32>) : tensor<?x144xf32>, tensor<?x6xi32>
  return
}

// CHECK-LABEL: func.func @lookup_rows
func.func @lookup_rows(%table: tensor<?x6xi32>, %ids: tensor<?xi32>, %n: tensor<1xi32>, %pad: tensor<?xi1>,
                       %out: tensor<?x8xi32>, %numbers: tensor<?x8xi32>)
    -> (tensor<?x8xi32>, tensor<?x8xi32>) {
  // CHECK: %found, %token_experts = dsv4.lookup %{{[a-z0-9_]+}}[%{{[a-z0-9_]+}}]
  // CHECK-SAME: valid_rows(%{{[a-z0-9_]+}} : tensor<1xi32>) padding(%{{[a-z0-9_]+}} : tensor<?xi1>)
  // CHECK-SAME: shared 2 experts 256 token_experts
  // CHECK-SAME: outs(%{{[a-z0-9_]+}}, %{{[a-z0-9_]+}} : tensor<?x8xi32>, tensor<?x8xi32>) : tensor<?x6xi32>, tensor<?xi32>
  %0, %1 = dsv4.lookup %table[%ids] valid_rows(%n : tensor<1xi32>) padding(%pad : tensor<?xi1>)
      shared 2 experts 256 token_experts outs(%out, %numbers : tensor<?x8xi32>, tensor<?x8xi32>)
      : tensor<?x6xi32>, tensor<?xi32>
  return %0, %1 : tensor<?x8xi32>, tensor<?x8xi32>
}

// CHECK-LABEL: func.func @topk_rows
func.func @topk_rows(%s: tensor<2x?x256xf32>, %n: tensor<1xi32>, %pad: tensor<2x?xi1>,
                     %i: tensor<2x?x9xi32>, %v: tensor<2x?x9xf32>, %t: tensor<2x?x9xi32>) {
  // CHECK: %indices, %values, %token_experts = dsv4.topk %{{[a-z0-9_]+}} order sorted
  // CHECK-SAME: valid_rows(%{{[a-z0-9_]+}} : tensor<1xi32>) padding(%{{[a-z0-9_]+}} : tensor<2x?xi1>)
  // CHECK-SAME: shared 1 token_experts outs
  %0:3 = dsv4.topk %s order sorted valid_rows(%n : tensor<1xi32>) padding(%pad : tensor<2x?xi1>)
      shared 1 token_experts
      outs(%i, %v, %t : tensor<2x?x9xi32>, tensor<2x?x9xf32>, tensor<2x?x9xi32>)
      : tensor<2x?x256xf32>
  return
}

// CHECK-LABEL: func.func @shared_weights
func.func @shared_weights(%scores: tensor<?x144xf32>, %indices: tensor<?x9xi32>, %out: tensor<?x9xf32>) {
  // CHECK: dsv4.route_weights %{{[a-z0-9_]+}}[%{{[a-z0-9_]+}}] renormalize scale 2.500000e+00 shared 1 of_sum 4.000000e-01 outs
  %0 = dsv4.route_weights %scores[%indices] renormalize scale 2.5 shared 1 of_sum 0.4
      outs(%out : tensor<?x9xf32>) : tensor<?x144xf32>, tensor<?x9xi32>
  // CHECK: dsv4.route_weights %{{[a-z0-9_]+}}[%{{[a-z0-9_]+}}] uniform shared 2 weight 1.000000e+00 outs
  %1 = dsv4.route_weights %scores[%indices] uniform shared 2 weight 1.0 : f32
      outs(%out : tensor<?x9xf32>) : tensor<?x144xf32>, tensor<?x9xi32>
  return
}
