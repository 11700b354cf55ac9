// Lengths that are neither per token nor per request.

// RUN: dsv4-opt %s --split-input-file --verify-diagnostics

!cache = !dsv4.cache<4 x <[<"a" : 64 x bf16 in row>]>>
func.func @paged_gather_c5_of_requests(%c: !cache, %i: tensor<5x8xi32>, %p: tensor<3x2xi32>, %r: tensor<5xi32>,
                                       %l: tensor<3xi32>, %o: tensor<5x8x64xbf16>) {
  // expected-error @+1 {{paged_gather_c5: expected 'lengths' of shape [5], one per token, got 'tensor<3xi32>'; lengths of requests are 'lengths per request'}}
  %0 = dsv4.paged_gather %c[%i] pages(%p : tensor<3x2xi32>) requests(%r : tensor<5xi32>) lengths(%l : tensor<3xi32>)
      outs(%o : tensor<5x8x64xbf16>) : !cache, tensor<5x8xi32>
  return
}

// -----

!cache = !dsv4.cache<4 x <[<"a" : 64 x bf16 in row>]>>
func.func @paged_gather_c5_of_tokens(%c: !cache, %i: tensor<5x8xi32>, %p: tensor<3x2xi32>, %r: tensor<5xi32>,
                                     %l: tensor<5xi32>, %o: tensor<5x8x64xbf16>) {
  // expected-error @+1 {{paged_gather_c5: expected 'lengths per request' of shape [3], one per row of 'pages', got 'tensor<5xi32>'}}
  %0 = dsv4.paged_gather %c[%i] pages(%p : tensor<3x2xi32>) requests(%r : tensor<5xi32>)
      lengths per request(%l : tensor<5xi32>) outs(%o : tensor<5x8x64xbf16>) : !cache, tensor<5x8xi32>
  return
}

// -----

!cache = !dsv4.cache<4 x <[<"a" : 64 x bf16 in row>]>>
func.func @paged_gather_c5_no_requests(%c: !cache, %i: tensor<5x8xi32>, %p: tensor<5x2xi32>, %l: tensor<5xi32>,
                                       %o: tensor<5x8x64xbf16>) {
  // expected-error @+1 {{paged_gather_c5: 'lengths per request' need 'requests', the request of each token}}
  %0 = dsv4.paged_gather %c[%i] pages(%p : tensor<5x2xi32>) lengths per request(%l : tensor<5xi32>)
      outs(%o : tensor<5x8x64xbf16>) : !cache, tensor<5x8xi32>
  return
}

// -----

!cache = !dsv4.cache<4 x <[<"a" : 64 x bf16 in row>]>>
func.func @paged_gather_c5_row(%c: !cache, %i: tensor<8xi32>, %l: tensor<8xi32>, %o: tensor<8x64xbf16>) {
  // expected-error @+1 {{expected string or keyword containing one of the following enum values for attribute 'lengths_per' [token, request]}}
  %0 = dsv4.paged_gather %c[%i] lengths per (%l : tensor<8xi32>) outs(%o : tensor<8x64xbf16>) : !cache, tensor<8xi32>
  return
}

// -----

!cache = !dsv4.cache<4 x <[<"a" : 64 x bf16 in row>]>>
func.func @paged_gather_c5_no_lengths(%c: !cache, %i: tensor<8xi32>, %o: tensor<8x64xbf16>) {
  // expected-error @+1 {{paged_gather_c5: 'per token' needs 'lengths'}}
  %0 = dsv4.paged_gather %c[%i] outs(%o : tensor<8x64xbf16>) {lengths_per = 0 : i32} : !cache, tensor<8xi32>
  return
}

// -----

!cache = !dsv4.cache<4 x <[<"a" : 64 x bf16 in row>]>>
func.func @paged_append_c3_of_requests(%c: !cache, %i: tensor<5xi32>, %r: tensor<5xi32>, %l: tensor<3xi32>,
                                       %x: tensor<5x64xbf16>) {
  // expected-error @+1 {{paged_append_c3: expected 'lengths' of shape [5], one per token, got 'tensor<3xi32>'}}
  dsv4.paged_append %c[%i] ring 8 requests(%r : tensor<5xi32>) lengths per token(%l : tensor<3xi32>)
      fields(%x : tensor<5x64xbf16>) : !cache, tensor<5xi32>
  return
}

// -----

!cache = !dsv4.cache<4 x <[<"a" : 64 x bf16 in row>]>>
func.func @paged_append_c4_of_tokens(%c: !cache, %i: tensor<5xi32>, %p: tensor<3x2xi32>, %r: tensor<5xi32>,
                                     %l: tensor<5xi32>, %x: tensor<5x64xbf16>) {
  // expected-error @+1 {{paged_append_c4: expected 'pages' of shape [5, ?], got 'tensor<3x2xi32>'; lengths of tokens are 'lengths per token'}}
  dsv4.paged_append %c[%i] ring 8 requests(%r : tensor<5xi32>) pages(%p : tensor<3x2xi32>) lengths(%l : tensor<5xi32>)
      fields(%x : tensor<5x64xbf16>) : !cache, tensor<5xi32>
  return
}

// -----

!cache = !dsv4.cache<4 x <[<"a" : 64 x bf16 in row>]>>
func.func @paged_append_c3_per_nothing(%c: !cache, %i: tensor<5xi32>, %x: tensor<5x64xbf16>) {
  // expected-error @+1 {{paged_append_c3: 'per request' needs 'lengths'}}
  dsv4.paged_append %c[%i] fields(%x : tensor<5x64xbf16>) {lengths_per = 1 : i32} : !cache, tensor<5xi32>
  return
}
