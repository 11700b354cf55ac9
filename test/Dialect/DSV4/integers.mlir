// Integers of i64, results of ui32, and f16: read back from text, generic text and bytecode.

// RUN: dsv4-opt %s | dsv4-opt | FileCheck %s
// RUN: dsv4-opt %s -mlir-print-op-generic | dsv4-opt | FileCheck %s
// RUN: dsv4-opt %s --emit-bytecode | dsv4-opt --allow-bytecode | FileCheck %s

!cache = !dsv4.cache<4 x <[<"a" : 64 x f16 in row>, <"s" : 2 x f16 in row scales "a" per 32>]>>

// CHECK-LABEL: func.func @gather
func.func @gather(%cache: !cache, %i: tensor<?x4xi64>, %t: tensor<?x?xi32>, %r: tensor<?xi64>,
                  %l: tensor<?xi32>, %o: tensor<?x4x64xf16>) -> tensor<?x4x64xf16> {
  // CHECK: dsv4.paged_gather %{{.*}} pages(%{{.*}} : tensor<?x?xi32>) requests(%{{.*}} : tensor<?xi64>) lengths(%{{.*}} : tensor<?xi32>) outs(%{{.*}} : tensor<?x4x64xf16>) : !dsv4.cache<4 x #record>, tensor<?x4xi64>
  %0 = dsv4.paged_gather %cache[%i] pages(%t : tensor<?x?xi32>) requests(%r : tensor<?xi64>)
      lengths(%l : tensor<?xi32>) outs(%o : tensor<?x4x64xf16>) : !cache, tensor<?x4xi64>
  return %0 : tensor<?x4x64xf16>
}

// CHECK-LABEL: func.func @select
func.func @select(%s: tensor<?x64xf16>, %l: tensor<?xi64>, %t: tensor<?x?xi64>,
                  %i: tensor<?x8xui32>, %v: tensor<?x8xf16>, %w: tensor<?x8xi64>)
    -> (tensor<?x8xui32>, tensor<?x8xf16>, tensor<?x8xi64>) {
  // CHECK: dsv4.topk %{{.*}} lengths(%{{.*}} : tensor<?xi64>) pages(%{{.*}} : tensor<?x?xi64>) page 16 outs(%{{.*}} : tensor<?x8xui32>, tensor<?x8xf16>, tensor<?x8xi64>) : tensor<?x64xf16>
  %0, %1, %2 = dsv4.topk %s lengths(%l : tensor<?xi64>) pages(%t : tensor<?x?xi64>) page 16
      outs(%i, %v, %w : tensor<?x8xui32>, tensor<?x8xf16>, tensor<?x8xi64>) : tensor<?x64xf16>
  return %0, %1, %2 : tensor<?x8xui32>, tensor<?x8xf16>, tensor<?x8xi64>
}

// CHECK-LABEL: func.func @lookup
func.func @lookup(%t: tensor<9x6xi64>, %i: tensor<?xi64>, %o: tensor<?x6xui32>,
                  %s: tensor<?x64xf32>, %w: tensor<?x6xf32>) -> tensor<?x6xf32> {
  // CHECK: dsv4.lookup %{{.*}} outs(%{{.*}} : tensor<?x6xui32>) : tensor<9x6xi64>, tensor<?xi64>
  %0 = dsv4.lookup %t[%i] outs(%o : tensor<?x6xui32>) : tensor<9x6xi64>, tensor<?xi64>
  // CHECK: dsv4.route_weights %{{.*}} outs(%{{.*}} : tensor<?x6xf32>) : tensor<?x64xf32>, tensor<?x6xui32>
  %1 = dsv4.route_weights %s[%0] outs(%w : tensor<?x6xf32>) : tensor<?x64xf32>, tensor<?x6xui32>
  return %1 : tensor<?x6xf32>
}
