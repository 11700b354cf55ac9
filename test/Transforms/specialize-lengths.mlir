// Lengths have the axis of tokens or that of requests, as the op says.

// RUN: dsv4-opt %s --split-input-file --verify-diagnostics --dsv4-specialize | FileCheck %s

!cache = !dsv4.cache<4 x <[<"a" : 64 x bf16 in row>]>>

// CHECK-LABEL: func.func @per_request
// CHECK-SAME: %arg4: tensor<?xi32> {dsv4.dims = ["requests"]}
func.func @per_request(%c: !cache, %i: tensor<?x?xi32> {dsv4.dims = ["tokens", "topk"]},
                       %t: tensor<?x?xi32> {dsv4.dims = ["requests", "pages"]}, %r: tensor<?xi32>, %l: tensor<?xi32>,
                       %o: tensor<?x?x64xbf16>) {
  %0 = dsv4.paged_gather %c[%i] pages(%t : tensor<?x?xi32>) requests(%r : tensor<?xi32>)
      lengths per request(%l : tensor<?xi32>) outs(%o : tensor<?x?x64xbf16>) : !cache, tensor<?x?xi32>
  return
}

// -----

!cache = !dsv4.cache<4 x <[<"a" : 64 x bf16 in row>]>>

// CHECK-LABEL: func.func @per_token
// CHECK-SAME: %arg4: tensor<?xi32> {dsv4.dims = ["tokens"]}
func.func @per_token(%c: !cache, %i: tensor<?xi32> {dsv4.dims = ["tokens"]},
                     %t: tensor<?x?xi32> {dsv4.dims = ["requests", "pages"]}, %r: tensor<?xi32>, %l: tensor<?xi32>,
                     %x: tensor<?x64xbf16>) {
  dsv4.paged_append %c[%i] ring 8 requests(%r : tensor<?xi32>) pages(%t : tensor<?x?xi32>)
      lengths per token(%l : tensor<?xi32>) fields(%x : tensor<?x64xbf16>) : !cache, tensor<?xi32>
  return
}

// -----

!cache = !dsv4.cache<4 x <[<"a" : 64 x bf16 in row>]>>

// expected-error @+1 {{axis 0 of argument 'l' has the extent of axis 0 of argument 'i' but another name: 'requests' and 'tokens' (tied by 'dsv4.paged_gather')}}
func.func @named(%c: !cache, %i: tensor<?x?xi32> {dsv4.name = "i", dsv4.dims = ["tokens", "topk"]},
                 %t: tensor<?x?xi32> {dsv4.dims = ["requests", "pages"]}, %r: tensor<?xi32>,
                 %l: tensor<?xi32> {dsv4.name = "l", dsv4.dims = ["requests"]}, %o: tensor<?x?x64xbf16>) {
  %0 = dsv4.paged_gather %c[%i] pages(%t : tensor<?x?xi32>) requests(%r : tensor<?xi32>)
      lengths(%l : tensor<?xi32>) outs(%o : tensor<?x?x64xbf16>) : !cache, tensor<?x?xi32>
  return
}
