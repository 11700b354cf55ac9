// A format without scales: quantisation is a rounding.

// RUN: dsv4-opt %s | dsv4-opt | FileCheck %s
// RUN: dsv4-opt %s -mlir-print-op-generic | dsv4-opt | FileCheck %s
// RUN: dsv4-opt %s --emit-bytecode | dsv4-opt --allow-bytecode | FileCheck %s

// CHECK: #[[PLAIN:.*]] = #dsv4.format<f8E4M3FN>
// CHECK-LABEL: func.func @cast
func.func @cast(%x: tensor<?x576xbf16>, %out: tensor<?x64xf8E4M3FN>) -> tensor<?x64xf8E4M3FN> {
  // CHECK: %payload = dsv4.quantize %{{[a-z0-9_]+}} columns [512, 64] outs(%{{[a-z0-9_]+}} : tensor<?x64xf8E4M3FN>) {format = #[[PLAIN]]} : tensor<?x576xbf16>
  %rope = dsv4.quantize %x columns [512, 64] outs(%out : tensor<?x64xf8E4M3FN>)
      {format = #dsv4.format<f8E4M3FN>} : tensor<?x576xbf16>
  return %rope : tensor<?x64xf8E4M3FN>
}
