// A format without scale levels: dequantisation is a conversion.

// RUN: dsv4-opt %s | dsv4-opt | FileCheck %s
// RUN: dsv4-opt %s -mlir-print-op-generic | dsv4-opt | FileCheck %s
// RUN: dsv4-opt %s --emit-bytecode | dsv4-opt --allow-bytecode | FileCheck %s

// No scales at all: a conversion.
// CHECK-LABEL: func.func @dequantize_plain
func.func @dequantize_plain(%data: tensor<4x8xf8E4M3FN>, %out: tensor<4x8xf32>)
    -> tensor<4x8xf32> {
  // CHECK: dsv4.dequantize %{{[a-z0-9_]+}} outs(%{{[a-z0-9_]+}} : tensor<4x8xf32>) {format = #{{.*}}} : tensor<4x8xf8E4M3FN>
  %values = dsv4.dequantize %data outs(%out : tensor<4x8xf32>)
      {format = #dsv4.format<f8E4M3FN, []>} : tensor<4x8xf8E4M3FN>
  return %values : tensor<4x8xf32>
}
