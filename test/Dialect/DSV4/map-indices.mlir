// map_indices, read back from its own text, from generic text and from bytecode.

// RUN: dsv4-opt %s | dsv4-opt | FileCheck %s
// RUN: dsv4-opt %s -mlir-print-op-generic | dsv4-opt | FileCheck %s
// RUN: dsv4-opt %s --emit-bytecode | dsv4-opt --allow-bytecode | FileCheck %s

// CHECK-LABEL: func.func @map_indices
func.func @map_indices(%x: tensor<?x6xi32>, %table: tensor<256xi64>, %n: tensor<1xi32>, %pad: tensor<?xi1>,
                       %out: tensor<?x6xi16>, %y: tensor<2x?x3xi16>, %wide: tensor<2x?x3xui32>) {
  // CHECK: %mapped = dsv4.map_indices %{{[a-z0-9_]+}} table(%{{[a-z0-9_]+}} : tensor<256xi64>)
  // CHECK-SAME: valid_rows(%{{[a-z0-9_]+}} : tensor<1xi32>) padding(%{{[a-z0-9_]+}} : tensor<?xi1>)
  // CHECK-SAME: outs(%{{[a-z0-9_]+}} : tensor<?x6xi16>) : tensor<?x6xi32>
  %0 = dsv4.map_indices %x table(%table : tensor<256xi64>) valid_rows(%n : tensor<1xi32>)
      padding(%pad : tensor<?xi1>) outs(%out : tensor<?x6xi16>) : tensor<?x6xi32>
  // CHECK: dsv4.map_indices %{{[a-z0-9_]+}} outs(%{{[a-z0-9_]+}} : tensor<2x?x3xui32>) : tensor<2x?x3xi16>
  %1 = dsv4.map_indices %y outs(%wide : tensor<2x?x3xui32>) : tensor<2x?x3xi16>
  return
}
