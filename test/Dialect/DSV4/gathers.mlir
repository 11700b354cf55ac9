// Gathers of stored fields, of ragged requests, of lists of pages, and of one index per token.

// RUN: dsv4-opt %s | dsv4-opt | FileCheck %s
// RUN: dsv4-opt %s -mlir-print-op-generic | dsv4-opt | FileCheck %s
// RUN: dsv4-opt %s --emit-bytecode | dsv4-opt --allow-bytecode | FileCheck %s

!keys = !dsv4.cache<64 x <index_fp8_132>>
!state = !dsv4.cache<8 x <[<"kv" : 32 x bf16 in row>, <"position" : 1 x i32 in array>,
                           <"cache_scale" : 1 x f32 in array scales "kv" per tensor>]>>

// CHECK-LABEL: func.func @fields
func.func @fields(%c: !keys, %i: tensor<?x?xi32>, %k: tensor<?x?x128xf8E4M3FN>, %s: tensor<?x?x1xf32>,
                  %s1: tensor<?x?xf32>, %m: tensor<?x?xi1>) {
  // CHECK: %key, %key_scale, %valid = dsv4.paged_gather %{{[a-z0-9]+}}[%{{[a-z0-9]+}}] fields(%{{[a-z0-9]+}}, %{{[a-z0-9]+}} : tensor<?x?x128xf8E4M3FN>, tensor<?x?x1xf32>) mask(%{{[a-z0-9]+}} : tensor<?x?xi1>) : !dsv4.cache<64 x #index_fp8_132>, tensor<?x?xi32>
  %0:3 = dsv4.paged_gather %c[%i] fields(%k, %s : tensor<?x?x128xf8E4M3FN>, tensor<?x?x1xf32>)
      mask(%m : tensor<?x?xi1>) : !keys, tensor<?x?xi32>
  // CHECK: fields(%{{[a-z0-9]+}}, %{{[a-z0-9]+}} : tensor<?x?x128xf8E4M3FN>, tensor<?x?xf32>)
  %1:2 = dsv4.paged_gather %c[%i] fields(%k, %s1 : tensor<?x?x128xf8E4M3FN>, tensor<?x?xf32>) : !keys, tensor<?x?xi32>
  return
}

// Metadata is a field, a scale of the cache is none.
// CHECK-LABEL: func.func @metadata
func.func @metadata(%c: !state, %i: tensor<?xi32>, %kv: tensor<?x32xbf16>, %p: tensor<?xi32>) {
  // CHECK: fields(%{{[a-z0-9]+}}, %{{[a-z0-9]+}} : tensor<?x32xbf16>, tensor<?xi32>)
  %0:2 = dsv4.paged_gather %c[%i] fields(%kv, %p : tensor<?x32xbf16>, tensor<?xi32>) : !state, tensor<?xi32>
  return
}

// CHECK-LABEL: func.func @ragged
func.func @ragged(%c: !keys, %t: tensor<?x?xi32>, %cu: tensor<?xi32>, %b: tensor<?xi32>, %r: tensor<?xi32>,
                  %o: tensor<?x128xf32>, %m: tensor<?xi1>, %o3: tensor<?x?x128xf32>) {
  // CHECK: %rows, %valid = dsv4.paged_gather %{{[a-z0-9]+}} pages(%{{[a-z0-9]+}} : tensor<?x?xi32>) cu_seq_lens(%{{[a-z0-9]+}} : tensor<?xi32>) outs(%{{[a-z0-9]+}} : tensor<?x128xf32>) mask(%{{[a-z0-9]+}} : tensor<?xi1>) : !dsv4.cache<64 x #index_fp8_132>{{$}}
  %0:2 = dsv4.paged_gather %c pages(%t : tensor<?x?xi32>) cu_seq_lens(%cu : tensor<?xi32>)
      outs(%o : tensor<?x128xf32>) mask(%m : tensor<?xi1>) : !keys
  // CHECK: requests(%{{[a-z0-9]+}} : tensor<?xi32>) cu_seq_lens(%{{[a-z0-9]+}} : tensor<?xi32>) seq_starts(%{{[a-z0-9]+}} : tensor<?xi32>) outs(
  %1 = dsv4.paged_gather %c pages(%t : tensor<?x?xi32>) requests(%r : tensor<?xi32>)
      cu_seq_lens(%cu : tensor<?xi32>) seq_starts(%b : tensor<?xi32>) outs(%o : tensor<?x128xf32>) : !keys
  // CHECK: row_starts(%{{[a-z0-9]+}} : tensor<?xi32>) seq_lens(%{{[a-z0-9]+}} : tensor<?xi32>) outs(
  %2 = dsv4.paged_gather %c pages(%t : tensor<?x?xi32>) row_starts(%b : tensor<?xi32>) seq_lens(%b : tensor<?xi32>)
      outs(%o : tensor<?x128xf32>) : !keys
  // CHECK: seq_lens(%{{[a-z0-9]+}} : tensor<?xi32>) gather_lens(%{{[a-z0-9]+}} : tensor<?xi32>) offset 128 outs(
  %3 = dsv4.paged_gather %c pages(%t : tensor<?x?xi32>) seq_lens(%b : tensor<?xi32>) gather_lens(%b : tensor<?xi32>)
      offset 128 outs(%o3 : tensor<?x?x128xf32>) : !keys
  return
}

// CHECK-LABEL: func.func @run_time_offset
func.func @run_time_offset(%c: !keys, %t: tensor<?x?xi32>, %n: tensor<?xi32>, %a: tensor<1xi64>, %o: tensor<?x?x128xf32>) {
  // CHECK: seq_lens(%{{[a-z0-9]+}} : tensor<?xi32>) offset(%{{[a-z0-9]+}} : tensor<1xi64>) outs(%{{[a-z0-9]+}} : tensor<?x?x128xf32>) : !dsv4.cache<64 x #index_fp8_132>{{$}}
  %0 = dsv4.paged_gather %c pages(%t : tensor<?x?xi32>) seq_lens(%n : tensor<?xi32>) offset(%a : tensor<1xi64>)
      outs(%o : tensor<?x?x128xf32>) : !keys
  return
}

// CHECK-LABEL: func.func @slots_in_bytes
func.func @slots_in_bytes(%c: !keys, %i: tensor<?xi64>, %k: tensor<?x128xf8E4M3FN>, %s: tensor<?xf32>) {
  // CHECK: dsv4.paged_gather %{{[a-z0-9]+}}[%{{[a-z0-9]+}}] in_bytes fields(
  %0:2 = dsv4.paged_gather %c[%i] in_bytes fields(%k, %s : tensor<?x128xf8E4M3FN>, tensor<?xf32>) : !keys, tensor<?xi64>
  // CHECK: dsv4.paged_append %{{[a-z0-9]+}}[%{{[a-z0-9]+}}] in_bytes unique fields(
  dsv4.paged_append %c[%i] in_bytes unique fields(%k, %s : tensor<?x128xf8E4M3FN>, tensor<?xf32>) : !keys, tensor<?xi64>
  return
}

// CHECK-LABEL: func.func @lists
func.func @lists(%c: !keys, %p: tensor<?xi32>, %b: tensor<?xi32>, %r: tensor<?xi32>, %i: tensor<?xi32>,
                 %i2: tensor<?x?xi32>, %o: tensor<?x128xf32>, %o3: tensor<?x?x128xf32>) {
  // CHECK: pages(%{{[a-z0-9]+}} : tensor<?xi32>) indptr(%{{[a-z0-9]+}} : tensor<?xi32>) cu_seq_lens(
  %0 = dsv4.paged_gather %c pages(%p : tensor<?xi32>) indptr(%b : tensor<?xi32>) cu_seq_lens(%b : tensor<?xi32>)
      outs(%o : tensor<?x128xf32>) : !keys
  // CHECK: pages(%{{[a-z0-9]+}} : tensor<?xi32>) indptr(%{{[a-z0-9]+}} : tensor<?xi32>) outs(
  %1 = dsv4.paged_gather %c[%i2] pages(%p : tensor<?xi32>) indptr(%b : tensor<?xi32>)
      outs(%o3 : tensor<?x?x128xf32>) : !keys, tensor<?x?xi32>
  // CHECK: indptr(%{{[a-z0-9]+}} : tensor<?xi32>) requests(%{{[a-z0-9]+}} : tensor<?xi32>) lengths per request(
  %2 = dsv4.paged_gather %c[%i] pages(%p : tensor<?xi32>) indptr(%b : tensor<?xi32>) requests(%r : tensor<?xi32>)
      lengths per request(%b : tensor<?xi32>) outs(%o : tensor<?x128xf32>) : !keys, tensor<?xi32>
  return
}

// One index per token, each with a request and a length.
// CHECK-LABEL: func.func @tokens
func.func @tokens(%c: !keys, %t: tensor<?x?xi32>, %i: tensor<?xi32>, %r: tensor<?xi32>, %l: tensor<?xi32>,
                  %o: tensor<?x128xf32>) {
  // CHECK: requests(%{{[a-z0-9]+}} : tensor<?xi32>) lengths(%{{[a-z0-9]+}} : tensor<?xi32>) outs(%{{[a-z0-9]+}} : tensor<?x128xf32>)
  %0 = dsv4.paged_gather %c[%i] pages(%t : tensor<?x?xi32>) requests(%r : tensor<?xi32>) lengths(%l : tensor<?xi32>)
      outs(%o : tensor<?x128xf32>) : !keys, tensor<?xi32>
  return
}
