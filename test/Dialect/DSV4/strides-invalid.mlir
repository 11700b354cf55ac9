// Every clause of #dsv4.strides, of its places and of dsv4.stride.

// RUN: dsv4-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{strides_c1: expected 'align' to be a power of two between 1 and 16, got 12}}
func.func private @align(tensor<?x8xf32> {dsv4.strides = #dsv4.strides<[?], align = 12>})

// -----

// expected-error @+1 {{strides_c1: expected 'align' to be a power of two between 1 and 16, got 32}}
func.func private @large_align(tensor<?x8xf32> {dsv4.strides = #dsv4.strides<[?], align = 32>})

// -----

// expected-error @+1 {{strides_c2: expected strides of '?', or of 0 to 2^31 - 1 bytes in multiples of 16 (of 'align'), got -16}}
func.func private @negative(tensor<?x8xf32> {dsv4.strides = #dsv4.strides<[-16]>})

// -----

// expected-error @+1 {{strides_c2: expected strides of '?', or of 0 to 2^31 - 1 bytes in multiples of 8 (of 'align'), got 100}}
func.func private @multiple(tensor<?x8xf32> {dsv4.strides = #dsv4.strides<[100], align = 8>})

// -----

// expected-error @+1 {{strides_c2: expected strides of '?', or of 0 to 2^31 - 1 bytes in multiples of 16 (of 'align'), got 2147483648}}
func.func private @large(tensor<?x8xf32> {dsv4.strides = #dsv4.strides<[2147483648]>})

// -----

// expected-error @+1 {{expects 'dsv4.strides' of argument 0 ('x') to have strides_c3: 2 strides, one for every axis but the last, got 1}}
func.func private @count(tensor<?x4x8xf32> {dsv4.name = "x", dsv4.strides = #dsv4.strides<[?]>})

// -----

// expected-error @+1 {{expects 'dsv4.strides' of argument 0 ('arg0') to have strides_c3: 1 strides, that of the pages of a cache, or 2 with that of entries, got 3}}
func.func private @count_of_cache(!dsv4.cache<64 x <v4_584>> {dsv4.strides = #dsv4.strides<[?, 592, 16]>})

// -----

// expected-error @+1 {{to have strides_c3: 0 strides, or that of the only axis, got 2}}
func.func private @count_of_elements(tensor<?xi32> {dsv4.strides = #dsv4.strides<[?, ?]>})

// -----

// expected-error @+1 {{to have strides_c4: an 'align' of at least 4, the bytes of an element, got 2}}
func.func private @element(tensor<?x8xf32> {dsv4.strides = #dsv4.strides<[?], align = 2>})

// -----

// expected-error @+1 {{to have strides_c4: an 'align' of at least 2, the bytes of an element, got 1}}
func.func private @element_of_cache(!dsv4.cache<64 x <v4_584>> {dsv4.strides = #dsv4.strides<[?], align = 1>})

// -----

// expected-error @+1 {{to have strides_c5: at least 37440, the bytes of a page, got 37376}}
func.func private @page(!dsv4.cache<64 x <v4_584>> {dsv4.strides = #dsv4.strides<[37376]>})

// -----

!cache = !dsv4.cache<64 x <[<"k" : 64 x f8E4M3FN in row>, <"s" : 1 x f32 in array scales "k" per row>]>>
// expected-error @+1 {{to have strides_c5: '?' as the stride of a cache of 2 buffers, got 8192}}
func.func private @buffers(!cache {dsv4.strides = #dsv4.strides<[8192]>})

// -----

!cache = !dsv4.cache<64 x <[<"k" : 64 x f8E4M3FN in row>, <"s" : 1 x f32 in array scales "k" per row>]>>
// expected-error @+1 {{to have strides_c4: an 'align' of at least 4, the bytes of an element of 's', got 2}}
func.func private @element_of_buffer(!cache {dsv4.strides = [#dsv4.strides<[?], align = 1>, #dsv4.strides<[?], align = 2>]})

// -----

!cache = !dsv4.cache<64 x <[<"k" : 64 x f8E4M3FN in row>, <"s" : 1 x f32 in array scales "k" per row>]>>
// expected-error @+1 {{to have strides_c6: one #dsv4.strides for each of the 2 buffers of a cache, got 1}}
func.func private @count_of_buffers(!cache {dsv4.strides = [#dsv4.strides<[?]>]})

// -----

// expected-error @+1 {{to have strides_c7: no stride of entries, which have tails in their page}}
func.func private @entries_with_tails(!dsv4.cache<64 x <v4_584>> {dsv4.strides = #dsv4.strides<[?, 592]>})

// -----

// expected-error @+1 {{to have strides_c7: a constant stride of entries of at least 1024, the bytes of an entry, and of less than 2^31 bytes in a page}}
func.func private @close_entries(!dsv4.cache<64 x <bf16_1024>> {dsv4.strides = #dsv4.strides<[?, 1008]>})

// -----

// expected-error @+1 {{to have strides_c7: a constant stride of entries}}
func.func private @open_entries(!dsv4.cache<64 x <bf16_1024>> {dsv4.strides = #dsv4.strides<[?, ?]>})

// -----

// expected-error @+1 {{expects 'dsv4.strides' of argument 0 ('arg0') to be a #dsv4.strides of a cache, or of a tensor with axes, got [1]}}
func.func private @attribute(tensor<?x8xf32> {dsv4.strides = [1]})

// -----

// expected-error @+1 {{expects 'dsv4.strides' of argument 0 ('arg0') to be a #dsv4.strides of a cache, or of a tensor with axes, got #dsv4.strides<[]>}}
func.func private @scalar(tensor<f32> {dsv4.strides = #dsv4.strides<[]>})

// -----

// expected-error @+1 {{cannot have the attribute 'dsv4.strides', which is one of an argument}}
func.func private @place() attributes {dsv4.strides = #dsv4.strides<[?]>}

// -----

func.func @last_axis(%x: tensor<?x8xf32>) {
  dsv4.kernel @k(%x) : (tensor<?x8xf32>) -> () {
  ^bb0(%row: tensor<?x8xf32>):
    // expected-error @+1 {{'dsv4.stride' op stride_c1: expected an axis before the last one, got axis 1 of 'tensor<?x8xf32>'}}
    %s = dsv4.stride %row, 1 : tensor<?x8xf32>
  }
  return
}

// -----

func.func @no_field(%x: tensor<?x8xf32>) {
  dsv4.kernel @k(%x) : (tensor<?x8xf32>) -> () {
  ^bb0(%row: tensor<?x8xf32>):
    // expected-error @+1 {{'dsv4.stride' op stride_c2: 'tensor<?x8xf32>' has no array field 's' with pages}}
    %s = dsv4.stride %row["s"], 0 : tensor<?x8xf32>
  }
  return
}

// -----

!cache = !dsv4.cache<64 x <[<"k" : 64 x f8E4M3FN in array>, <"s" : 1 x f32 in array scales "k" per tensor>]>>
func.func @no_pages(%c: !cache, %x: tensor<?x8xf32>) {
  dsv4.kernel @k(%c, %x) : (!cache, tensor<?x8xf32>) -> () {
  ^bb0(%kv: !cache, %row: tensor<?x8xf32>):
    // expected-error @+1 {{has no fields in its pages}}
    %s = dsv4.stride %kv, 0 : !cache
  }
  return
}

// -----

!cache = !dsv4.cache<64 x <[<"k" : 64 x f8E4M3FN in array>, <"s" : 1 x f32 in array scales "k" per tensor>]>>
func.func @one_scale(%c: !cache, %x: tensor<?x8xf32>) {
  dsv4.kernel @k(%c, %x) : (!cache, tensor<?x8xf32>) -> () {
  ^bb0(%kv: !cache, %row: tensor<?x8xf32>):
    // expected-error @+1 {{has no array field 's' with pages}}
    %s = dsv4.stride %kv["s"], 0 : !cache
  }
  return
}
