// Lengths per token and per request, of ops that read and of ops that write entries.

// RUN: dsv4-opt %s | dsv4-opt | FileCheck %s
// RUN: dsv4-opt %s -mlir-print-op-generic | dsv4-opt | FileCheck %s
// RUN: dsv4-opt %s --emit-bytecode | dsv4-opt --allow-bytecode | FileCheck %s

!cache = !dsv4.cache<4 x <[<"a" : 64 x bf16 in row>]>>

// CHECK-LABEL: func.func @gather
func.func @gather(%c: !cache, %i: tensor<5x?xi32>, %p: tensor<3x?xi32>, %r: tensor<5xi32>,
                  %token: tensor<5xi32>, %request: tensor<3xi32>, %o: tensor<5x?x64xbf16>) {
  // CHECK: requests(%{{[a-z0-9_]+}} : tensor<5xi32>) lengths(%{{[a-z0-9_]+}} : tensor<5xi32>) outs(
  %0 = dsv4.paged_gather %c[%i] pages(%p : tensor<3x?xi32>) requests(%r : tensor<5xi32>)
      lengths(%token : tensor<5xi32>) outs(%o : tensor<5x?x64xbf16>) : !cache, tensor<5x?xi32>
  // CHECK: requests(%{{[a-z0-9_]+}} : tensor<5xi32>) lengths per token(%{{[a-z0-9_]+}} : tensor<5xi32>) outs(
  %1 = dsv4.paged_gather %c[%i] pages(%p : tensor<3x?xi32>) requests(%r : tensor<5xi32>)
      lengths per token(%token : tensor<5xi32>) outs(%o : tensor<5x?x64xbf16>) : !cache, tensor<5x?xi32>
  // CHECK: requests(%{{[a-z0-9_]+}} : tensor<5xi32>) lengths per request(%{{[a-z0-9_]+}} : tensor<3xi32>) outs(
  %2 = dsv4.paged_gather %c[%i] pages(%p : tensor<3x?xi32>) requests(%r : tensor<5xi32>)
      lengths per request(%request : tensor<3xi32>) outs(%o : tensor<5x?x64xbf16>) : !cache, tensor<5x?xi32>
  return
}

// CHECK-LABEL: func.func @append
func.func @append(%c: !cache, %i: tensor<5xi32>, %p: tensor<3x2xi32>, %r: tensor<5xi32>,
                  %token: tensor<5xi32>, %request: tensor<3xi32>, %x: tensor<5x64xbf16>) {
  // CHECK: pages(%{{[a-z0-9_]+}} : tensor<3x2xi32>) lengths(%{{[a-z0-9_]+}} : tensor<3xi32>) fields(
  dsv4.paged_append %c[%i] ring 8 requests(%r : tensor<5xi32>) pages(%p : tensor<3x2xi32>)
      lengths(%request : tensor<3xi32>) fields(%x : tensor<5x64xbf16>) : !cache, tensor<5xi32>
  // CHECK: pages(%{{[a-z0-9_]+}} : tensor<3x2xi32>) lengths per request(%{{[a-z0-9_]+}} : tensor<3xi32>) fields(
  dsv4.paged_append %c[%i] ring 8 requests(%r : tensor<5xi32>) pages(%p : tensor<3x2xi32>)
      lengths per request(%request : tensor<3xi32>) fields(%x : tensor<5x64xbf16>) : !cache, tensor<5xi32>
  // CHECK: pages(%{{[a-z0-9_]+}} : tensor<3x2xi32>) lengths per token(%{{[a-z0-9_]+}} : tensor<5xi32>) fields(
  dsv4.paged_append %c[%i] ring 8 requests(%r : tensor<5xi32>) pages(%p : tensor<3x2xi32>)
      lengths per token(%token : tensor<5xi32>) fields(%x : tensor<5x64xbf16>) : !cache, tensor<5xi32>
  // Without requests every token is one.
  // CHECK: ring 8 lengths per token(%{{[a-z0-9_]+}} : tensor<5xi32>) fields(
  dsv4.paged_append %c[%i] ring 8 lengths per token(%token : tensor<5xi32>)
      fields(%x : tensor<5x64xbf16>) : !cache, tensor<5xi32>
  return
}
