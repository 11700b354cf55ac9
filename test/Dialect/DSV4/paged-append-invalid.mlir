// One case for every way to violate a clause of paged_append.

// RUN: dsv4-opt %s --split-input-file --verify-diagnostics

func.func @paged_append_c1(%c: !dsv4.cache<64 x <seed_580>>, %i: tensor<?x?xi32>, %x: tensor<?x448xf8E4M3FN>, %y: tensor<?x64xbf16>, %z: tensor<?xf32>) {
  // expected-error @+1 {{paged_append_c1: expected 'indices' of rank 1, got 'tensor<?x?xi32>'}}
  dsv4.paged_append %c[%i] fields(%x, %y, %z : tensor<?x448xf8E4M3FN>, tensor<?x64xbf16>, tensor<?xf32>)
      : !dsv4.cache<64 x <seed_580>>, tensor<?x?xi32>
  return
}

// -----

func.func @paged_append_c1_rank0(%c: !dsv4.cache<64 x <seed_580>>, %i: tensor<i32>, %x: tensor<?x448xf8E4M3FN>, %y: tensor<?x64xbf16>, %z: tensor<?xf32>) {
  // expected-error @+1 {{paged_append_c1: expected 'indices' of rank 1, got 'tensor<i32>'}}
  dsv4.paged_append %c[%i] fields(%x, %y, %z : tensor<?x448xf8E4M3FN>, tensor<?x64xbf16>, tensor<?xf32>)
      : !dsv4.cache<64 x <seed_580>>, tensor<i32>
  return
}

// -----

func.func @paged_append_c1_unranked(%c: !dsv4.cache<64 x <seed_580>>, %i: tensor<*xi32>, %x: tensor<?x448xf8E4M3FN>, %y: tensor<?x64xbf16>, %z: tensor<?xf32>) {
  // expected-error @+1 {{paged_append_c1: expected 'indices' of rank 1, got 'tensor<*xi32>'}}
  dsv4.paged_append %c[%i] fields(%x, %y, %z : tensor<?x448xf8E4M3FN>, tensor<?x64xbf16>, tensor<?xf32>)
      : !dsv4.cache<64 x <seed_580>>, tensor<*xi32>
  return
}

// -----

func.func @paged_append_c1_type(%c: !dsv4.cache<64 x <seed_580>>, %i: tensor<?xi16>, %x: tensor<?x448xf8E4M3FN>, %y: tensor<?x64xbf16>, %z: tensor<?xf32>) {
  // expected-error @+1 {{operand #1 must be 'indices', a tensor of 32-bit signless integer or 64-bit signless integer values, but got 'tensor<?xi16>'}}
  dsv4.paged_append %c[%i] fields(%x, %y, %z : tensor<?x448xf8E4M3FN>, tensor<?x64xbf16>, tensor<?xf32>)
      : !dsv4.cache<64 x <seed_580>>, tensor<?xi16>
  return
}

// -----

func.func @paged_append_c2(%c: !dsv4.cache<64 x <seed_580>>, %i: tensor<?xi32>, %x: tensor<?x448xf8E4M3FN>, %y: tensor<?x64xbf16>) {
  // expected-error @+1 {{paged_append_c2: expected 3 field operands, one for every field of the record that is not per tensor, got 2}}
  dsv4.paged_append %c[%i] fields(%x, %y : tensor<?x448xf8E4M3FN>, tensor<?x64xbf16>)
      : !dsv4.cache<64 x <seed_580>>, tensor<?xi32>
  return
}

// -----

func.func @paged_append_c2_more(%c: !dsv4.cache<64 x <seed_580>>, %i: tensor<?xi32>, %x: tensor<?x448xf8E4M3FN>, %y: tensor<?x64xbf16>, %z: tensor<?xf32>, %u: tensor<?xf32>) {
  // expected-error @+1 {{paged_append_c2: expected 3 field operands, one for every field of the record that is not per tensor, got 4}}
  dsv4.paged_append %c[%i] fields(%x, %y, %z, %u : tensor<?x448xf8E4M3FN>, tensor<?x64xbf16>, tensor<?xf32>, tensor<?xf32>)
      : !dsv4.cache<64 x <seed_580>>, tensor<?xi32>
  return
}

// -----

// A scale for the whole cache is not written.
func.func @paged_append_c2_per_tensor(%c: !dsv4.cache<64 x <fp8_512>>, %i: tensor<?xi32>, %x: tensor<?x512xf8E4M3FN>, %y: tensor<1xf32>) {
  // expected-error @+1 {{paged_append_c2: expected 1 field operands, one for every field of the record that is not per tensor, got 2}}
  dsv4.paged_append %c[%i] fields(%x, %y : tensor<?x512xf8E4M3FN>, tensor<1xf32>)
      : !dsv4.cache<64 x <fp8_512>>, tensor<?xi32>
  return
}

// -----

func.func @paged_append_c2_none(%c: !dsv4.cache<64 x <bf16_1024>>, %i: tensor<?xi32>) {
  // expected-error @+1 {{paged_append_c2: expected 1 field operands, one for every field of the record that is not per tensor, got 0}}
  "dsv4.paged_append"(%c, %i) <{operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0, 0>}>
      : (!dsv4.cache<64 x <bf16_1024>>, tensor<?xi32>) -> ()
  return
}

// -----

func.func @paged_append_c2_type(%c: !dsv4.cache<64 x <seed_580>>, %i: tensor<?xi32>, %x: tensor<?x448xf8E5M2>, %y: tensor<?x64xbf16>, %z: tensor<?xf32>) {
  // expected-error @+1 {{paged_append_c2: expected field operand 0 ('nope') of 'f8E4M3FN' and shape [tokens, n], with 448 columns from 0 on, got 'tensor<?x448xf8E5M2>'}}
  dsv4.paged_append %c[%i] fields(%x, %y, %z : tensor<?x448xf8E5M2>, tensor<?x64xbf16>, tensor<?xf32>)
      : !dsv4.cache<64 x <seed_580>>, tensor<?xi32>
  return
}

// -----

func.func @paged_append_c2_columns(%c: !dsv4.cache<64 x <seed_580>>, %i: tensor<?xi32>, %x: tensor<?x447xf8E4M3FN>, %y: tensor<?x64xbf16>, %z: tensor<?xf32>) {
  // expected-error @+1 {{paged_append_c2: expected field operand 0 ('nope') of 'f8E4M3FN' and shape [tokens, n], with 448 columns from 0 on, got 'tensor<?x447xf8E4M3FN>'}}
  dsv4.paged_append %c[%i] fields(%x, %y, %z : tensor<?x447xf8E4M3FN>, tensor<?x64xbf16>, tensor<?xf32>)
      : !dsv4.cache<64 x <seed_580>>, tensor<?xi32>
  return
}

// -----

func.func @paged_append_c2_dynamic(%c: !dsv4.cache<64 x <seed_580>>, %i: tensor<?xi32>, %x: tensor<?x?xf8E4M3FN>, %y: tensor<?x64xbf16>, %z: tensor<?xf32>) {
  // expected-error @+1 {{paged_append_c2: expected field operand 0 ('nope') of 'f8E4M3FN' and shape [tokens, n], with 448 columns from 0 on, got 'tensor<?x?xf8E4M3FN>'}}
  dsv4.paged_append %c[%i] fields(%x, %y, %z : tensor<?x?xf8E4M3FN>, tensor<?x64xbf16>, tensor<?xf32>)
      : !dsv4.cache<64 x <seed_580>>, tensor<?xi32>
  return
}

// -----

func.func @paged_append_c2_rank(%c: !dsv4.cache<64 x <seed_580>>, %i: tensor<?xi32>, %x: tensor<448xf8E4M3FN>, %y: tensor<?x64xbf16>, %z: tensor<?xf32>) {
  // expected-error @+1 {{paged_append_c2: expected field operand 0 ('nope') of 'f8E4M3FN' and shape [tokens, n], with 448 columns from 0 on, got 'tensor<448xf8E4M3FN>'}}
  dsv4.paged_append %c[%i] fields(%x, %y, %z : tensor<448xf8E4M3FN>, tensor<?x64xbf16>, tensor<?xf32>)
      : !dsv4.cache<64 x <seed_580>>, tensor<?xi32>
  return
}

// -----

func.func @paged_append_c2_rank0(%c: !dsv4.cache<64 x <seed_580>>, %i: tensor<?xi32>, %x: tensor<f8E4M3FN>, %y: tensor<?x64xbf16>, %z: tensor<?xf32>) {
  // expected-error @+1 {{paged_append_c2: expected field operand 0 ('nope') of 'f8E4M3FN' and shape [tokens, n], with 448 columns from 0 on, got 'tensor<f8E4M3FN>'}}
  dsv4.paged_append %c[%i] fields(%x, %y, %z : tensor<f8E4M3FN>, tensor<?x64xbf16>, tensor<?xf32>)
      : !dsv4.cache<64 x <seed_580>>, tensor<?xi32>
  return
}

// -----

func.func @paged_append_c2_rank3(%c: !dsv4.cache<64 x <seed_580>>, %i: tensor<?xi32>, %x: tensor<?x1x448xf8E4M3FN>, %y: tensor<?x64xbf16>, %z: tensor<?xf32>) {
  // expected-error @+1 {{paged_append_c2: expected field operand 0 ('nope') of 'f8E4M3FN' and shape [tokens, n], with 448 columns from 0 on, got 'tensor<?x1x448xf8E4M3FN>'}}
  dsv4.paged_append %c[%i] fields(%x, %y, %z : tensor<?x1x448xf8E4M3FN>, tensor<?x64xbf16>, tensor<?xf32>)
      : !dsv4.cache<64 x <seed_580>>, tensor<?xi32>
  return
}

// -----

func.func @paged_append_c2_large(%c: !dsv4.cache<64 x <seed_580>>, %i: tensor<?xi32>, %x: tensor<?x65537xf8E4M3FN>, %y: tensor<?x64xbf16>, %z: tensor<?xf32>) {
  // expected-error @+1 {{paged_append_c2: expected field operand 0 ('nope') of 'f8E4M3FN' and shape [tokens, n], with 448 columns from 0 on, got 'tensor<?x65537xf8E4M3FN>'}}
  dsv4.paged_append %c[%i] fields(%x, %y, %z : tensor<?x65537xf8E4M3FN>, tensor<?x64xbf16>, tensor<?xf32>)
      : !dsv4.cache<64 x <seed_580>>, tensor<?xi32>
  return
}

// -----

func.func @paged_append_c2_huge(%c: !dsv4.cache<64 x <seed_580>>, %i: tensor<?xi32>, %x: tensor<?x9223372036854775807xf8E4M3FN>, %y: tensor<?x64xbf16>, %z: tensor<?xf32>) {
  // expected-error @+1 {{paged_append_c2: expected field operand 0 ('nope') of 'f8E4M3FN' and shape [tokens, n], with 448 columns from 0 on, got 'tensor<?x9223372036854775807xf8E4M3FN>'}}
  dsv4.paged_append %c[%i] fields(%x, %y, %z : tensor<?x9223372036854775807xf8E4M3FN>, tensor<?x64xbf16>, tensor<?xf32>)
      : !dsv4.cache<64 x <seed_580>>, tensor<?xi32>
  return
}

// -----

func.func @paged_append_c2_tokens(%c: !dsv4.cache<64 x <seed_580>>, %i: tensor<4xi32>, %x: tensor<?x448xf8E4M3FN>, %y: tensor<5x64xbf16>, %z: tensor<?xf32>) {
  // expected-error @+1 {{paged_append_c2: expected field operand 1 ('rope') of 'bf16' and shape [tokens, n], with 64 columns from 0 on, got 'tensor<5x64xbf16>'}}
  dsv4.paged_append %c[%i] fields(%x, %y, %z : tensor<?x448xf8E4M3FN>, tensor<5x64xbf16>, tensor<?xf32>)
      : !dsv4.cache<64 x <seed_580>>, tensor<4xi32>
  return
}

// -----

func.func @paged_append_c2_from_column(%c: !dsv4.cache<64 x <seed_580>>, %i: tensor<?xi32>, %x: tensor<?x448xf8E4M3FN>, %y: tensor<?x512xbf16>, %z: tensor<?xf32>) {
  // expected-error @+1 {{paged_append_c2: expected field operand 1 ('rope') of 'bf16' and shape [tokens, n], with 64 columns from 449 on, got 'tensor<?x512xbf16>'}}
  dsv4.paged_append %c[%i] fields(%x, %y, %z : tensor<?x448xf8E4M3FN>, tensor<?x512xbf16>, tensor<?xf32>) columns [0, 449, 0]
      : !dsv4.cache<64 x <seed_580>>, tensor<?xi32>
  return
}

// -----

// A sum of columns would not fit into 64 bits.
func.func @paged_append_c2_overflow(%c: !dsv4.cache<64 x <seed_580>>, %i: tensor<?xi32>, %x: tensor<?x448xf8E4M3FN>, %y: tensor<?x64xbf16>, %z: tensor<?xf32>) {
  // expected-error @+1 {{paged_append_c2: expected field operand 1 ('rope') of 'bf16' and shape [tokens, n], with 64 columns from 9223372036854775807 on, got 'tensor<?x64xbf16>'}}
  dsv4.paged_append %c[%i] fields(%x, %y, %z : tensor<?x448xf8E4M3FN>, tensor<?x64xbf16>, tensor<?xf32>) columns [0, 9223372036854775807, 0]
      : !dsv4.cache<64 x <seed_580>>, tensor<?xi32>
  return
}

// -----

func.func @paged_append_c2_scale(%c: !dsv4.cache<64 x <seed_580>>, %i: tensor<?xi32>, %x: tensor<?x448xf8E4M3FN>, %y: tensor<?x64xbf16>, %z: tensor<?xbf16>) {
  // expected-error @+1 {{paged_append_c2: expected field operand 2 ('inv_scale') of 'f32' and shape [tokens, n], with 1 columns from 0 on, got 'tensor<?xbf16>'}}
  dsv4.paged_append %c[%i] fields(%x, %y, %z : tensor<?x448xf8E4M3FN>, tensor<?x64xbf16>, tensor<?xbf16>)
      : !dsv4.cache<64 x <seed_580>>, tensor<?xi32>
  return
}

// -----

func.func @paged_append_c2_scale_tokens(%c: !dsv4.cache<64 x <seed_580>>, %i: tensor<4xi32>, %x: tensor<?x448xf8E4M3FN>, %y: tensor<?x64xbf16>, %z: tensor<5xf32>) {
  // expected-error @+1 {{paged_append_c2: expected field operand 2 ('inv_scale') of 'f32' and shape [tokens, n], with 1 columns from 0 on, got 'tensor<5xf32>'}}
  dsv4.paged_append %c[%i] fields(%x, %y, %z : tensor<?x448xf8E4M3FN>, tensor<?x64xbf16>, tensor<5xf32>)
      : !dsv4.cache<64 x <seed_580>>, tensor<4xi32>
  return
}

// -----

// Rank 1 has no second column.
func.func @paged_append_c2_scale_column(%c: !dsv4.cache<64 x <seed_580>>, %i: tensor<?xi32>, %x: tensor<?x448xf8E4M3FN>, %y: tensor<?x64xbf16>, %z: tensor<?xf32>) {
  // expected-error @+1 {{paged_append_c2: expected field operand 2 ('inv_scale') of 'f32' and shape [tokens, n], with 1 columns from 1 on, got 'tensor<?xf32>'}}
  dsv4.paged_append %c[%i] fields(%x, %y, %z : tensor<?x448xf8E4M3FN>, tensor<?x64xbf16>, tensor<?xf32>) columns [0, 0, 1]
      : !dsv4.cache<64 x <seed_580>>, tensor<?xi32>
  return
}

// -----

// One scale per row, but not `per row`.
func.func @paged_append_c2_scale_per_group(%c: !dsv4.cache<64 x <[<"a" : 8 x bf16 in row>, <"s" : 1 x f32 in row scales "a" per 8>]>>, %i: tensor<?xi32>, %x: tensor<?x8xbf16>, %y: tensor<?xf32>) {
  // expected-error @+1 {{paged_append_c2: expected field operand 1 ('s') of 'f32' and shape [tokens, n], with 1 columns from 0 on, got 'tensor<?xf32>'}}
  dsv4.paged_append %c[%i] fields(%x, %y : tensor<?x8xbf16>, tensor<?xf32>)
      : !dsv4.cache<64 x <[<"a" : 8 x bf16 in row>, <"s" : 1 x f32 in row scales "a" per 8>]>>, tensor<?xi32>
  return
}

// -----

// A row of one value has its axis.
func.func @paged_append_c2_one_value(%c: !dsv4.cache<64 x <[<"a" : 1 x f32 in row>]>>, %i: tensor<?xi32>, %x: tensor<?xf32>) {
  // expected-error @+1 {{paged_append_c2: expected field operand 0 ('a') of 'f32' and shape [tokens, n], with 1 columns from 0 on, got 'tensor<?xf32>'}}
  dsv4.paged_append %c[%i] fields(%x : tensor<?xf32>)
      : !dsv4.cache<64 x <[<"a" : 1 x f32 in row>]>>, tensor<?xi32>
  return
}

// -----

func.func @paged_append_c2_odd_column(%c: !dsv4.cache<64 x <v41_fp4_288>>, %i: tensor<?xi32>, %x: tensor<?x514xf4E2M1FN>, %y: tensor<?x32xf8E4M3FN>) {
  // expected-error @+1 {{paged_append_c2: expected field operand 0 ('kv') of 4-bit elements to have an even last extent and first column, got 'tensor<?x514xf4E2M1FN>' from column 1 on}}
  dsv4.paged_append %c[%i] fields(%x, %y : tensor<?x514xf4E2M1FN>, tensor<?x32xf8E4M3FN>) columns [1, 0]
      : !dsv4.cache<64 x <v41_fp4_288>>, tensor<?xi32>
  return
}

// -----

func.func @paged_append_c2_odd_extent(%c: !dsv4.cache<64 x <v41_fp4_288>>, %i: tensor<?xi32>, %x: tensor<?x513xf4E2M1FN>, %y: tensor<?x32xf8E4M3FN>) {
  // expected-error @+1 {{paged_append_c2: expected field operand 0 ('kv') of 4-bit elements to have an even last extent and first column, got 'tensor<?x513xf4E2M1FN>' from column 0 on}}
  dsv4.paged_append %c[%i] fields(%x, %y : tensor<?x513xf4E2M1FN>, tensor<?x32xf8E4M3FN>) columns [0, 0]
      : !dsv4.cache<64 x <v41_fp4_288>>, tensor<?xi32>
  return
}

// -----

func.func @paged_append_c2_unranked(%c: !dsv4.cache<64 x <seed_580>>, %i: tensor<?xi32>, %x: tensor<?x448xf8E4M3FN>, %y: tensor<*xbf16>, %z: tensor<?xf32>) {
  // expected-error @+1 {{operand #3 must be variadic of 'fields', a ranked tensor of any type values, but got 'tensor<*xbf16>'}}
  dsv4.paged_append %c[%i] fields(%x, %y, %z : tensor<?x448xf8E4M3FN>, tensor<*xbf16>, tensor<?xf32>)
      : !dsv4.cache<64 x <seed_580>>, tensor<?xi32>
  return
}

// -----

func.func @paged_append_c3(%c: !dsv4.cache<64 x <bf16_1024>>, %i: tensor<?xi32>, %l: tensor<?xi32>, %x: tensor<?x512xbf16>) {
  // expected-error @+1 {{paged_append_c3: expected the length of a ring to be below 2^31 and a multiple or a divisor of the 64 entries of a page, got 96}}
  dsv4.paged_append %c[%i] ring 96 lengths(%l : tensor<?xi32>) fields(%x : tensor<?x512xbf16>)
      : !dsv4.cache<64 x <bf16_1024>>, tensor<?xi32>
  return
}

// -----

func.func @paged_append_c3_zero(%c: !dsv4.cache<64 x <bf16_1024>>, %i: tensor<?xi32>, %l: tensor<?xi32>, %x: tensor<?x512xbf16>) {
  // expected-error @+1 {{paged_append_c3: expected the length of a ring to be below 2^31 and a multiple or a divisor of the 64 entries of a page, got 0}}
  dsv4.paged_append %c[%i] ring 0 lengths(%l : tensor<?xi32>) fields(%x : tensor<?x512xbf16>)
      : !dsv4.cache<64 x <bf16_1024>>, tensor<?xi32>
  return
}

// -----

func.func @paged_append_c3_negative(%c: !dsv4.cache<64 x <bf16_1024>>, %i: tensor<?xi32>, %l: tensor<?xi32>, %x: tensor<?x512xbf16>) {
  // expected-error @+1 {{paged_append_c3: expected the length of a ring to be below 2^31 and a multiple or a divisor of the 64 entries of a page, got -64}}
  dsv4.paged_append %c[%i] ring -64 lengths(%l : tensor<?xi32>)
      fields(%x : tensor<?x512xbf16>)
      : !dsv4.cache<64 x <bf16_1024>>, tensor<?xi32>
  return
}

// -----

func.func @paged_append_c3_large(%c: !dsv4.cache<64 x <bf16_1024>>, %i: tensor<?xi32>, %l: tensor<?xi32>, %x: tensor<?x512xbf16>) {
  // expected-error @+1 {{paged_append_c3: expected the length of a ring to be below 2^31 and a multiple or a divisor of the 64 entries of a page, got 2147483648}}
  dsv4.paged_append %c[%i] ring 2147483648 lengths(%l : tensor<?xi32>)
      fields(%x : tensor<?x512xbf16>)
      : !dsv4.cache<64 x <bf16_1024>>, tensor<?xi32>
  return
}

// -----

func.func @paged_append_c3_largest(%c: !dsv4.cache<64 x <bf16_1024>>, %i: tensor<?xi32>, %l: tensor<?xi32>, %x: tensor<?x512xbf16>) {
  // expected-error @+1 {{paged_append_c3: expected the length of a ring to be below 2^31 and a multiple or a divisor of the 64 entries of a page, got 9223372036854775807}}
  dsv4.paged_append %c[%i] ring 9223372036854775807 lengths(%l : tensor<?xi32>)
      fields(%x : tensor<?x512xbf16>)
      : !dsv4.cache<64 x <bf16_1024>>, tensor<?xi32>
  return
}

// -----

func.func @paged_append_c3_smallest(%c: !dsv4.cache<64 x <bf16_1024>>, %i: tensor<?xi32>, %l: tensor<?xi32>, %x: tensor<?x512xbf16>) {
  // expected-error @+1 {{paged_append_c3: expected the length of a ring to be below 2^31 and a multiple or a divisor of the 64 entries of a page, got -9223372036854775808}}
  dsv4.paged_append %c[%i] ring -9223372036854775808 lengths(%l : tensor<?xi32>)
      fields(%x : tensor<?x512xbf16>)
      : !dsv4.cache<64 x <bf16_1024>>, tensor<?xi32>
  return
}

// -----

func.func @paged_append_c3_parsed(%c: !dsv4.cache<64 x <bf16_1024>>, %i: tensor<?xi32>, %l: tensor<?xi32>, %x: tensor<?x512xbf16>) {
  // expected-error @+1 {{integer constant out of range for attribute}}
  dsv4.paged_append %c[%i] ring 18446744073709551616 lengths(%l : tensor<?xi32>)
      fields(%x : tensor<?x512xbf16>)
      : !dsv4.cache<64 x <bf16_1024>>, tensor<?xi32>
  return
}

// -----

func.func @paged_append_c3_no_lengths(%c: !dsv4.cache<64 x <bf16_1024>>, %i: tensor<?xi32>, %x: tensor<?x512xbf16>) {
  // expected-error @+1 {{paged_append_c3: expected 'lengths' with a 'ring'}}
  dsv4.paged_append %c[%i] ring 128 fields(%x : tensor<?x512xbf16>)
      : !dsv4.cache<64 x <bf16_1024>>, tensor<?xi32>
  return
}

// -----

func.func @paged_append_c3_lengths_rank(%c: !dsv4.cache<64 x <bf16_1024>>, %i: tensor<?xi32>, %l: tensor<?x?xi32>, %x: tensor<?x512xbf16>) {
  // expected-error @+1 {{paged_append_c3: expected 'lengths' of shape [?], one per token, got 'tensor<?x?xi32>'}}
  dsv4.paged_append %c[%i] ring 128 lengths(%l : tensor<?x?xi32>)
      fields(%x : tensor<?x512xbf16>)
      : !dsv4.cache<64 x <bf16_1024>>, tensor<?xi32>
  return
}

// -----

func.func @paged_append_c3_lengths_rank0(%c: !dsv4.cache<64 x <bf16_1024>>, %i: tensor<?xi32>, %l: tensor<i32>, %x: tensor<?x512xbf16>) {
  // expected-error @+1 {{paged_append_c3: expected 'lengths' of shape [?], one per token, got 'tensor<i32>'}}
  dsv4.paged_append %c[%i] ring 128 lengths(%l : tensor<i32>) fields(%x : tensor<?x512xbf16>)
      : !dsv4.cache<64 x <bf16_1024>>, tensor<?xi32>
  return
}

// -----

func.func @paged_append_c3_lengths_unranked(%c: !dsv4.cache<64 x <bf16_1024>>, %i: tensor<?xi32>, %p: tensor<?x2xi32>, %l: tensor<*xi32>, %x: tensor<?x512xbf16>) {
  // expected-error @+1 {{paged_append_c3: expected 'lengths' of shape [?], one per token, got 'tensor<*xi32>'}}
  dsv4.paged_append %c[%i] ring 128 pages(%p : tensor<?x2xi32>) lengths(%l : tensor<*xi32>)
      fields(%x : tensor<?x512xbf16>)
      : !dsv4.cache<64 x <bf16_1024>>, tensor<?xi32>
  return
}

// -----

// Without `requests` every token is a request.
func.func @paged_append_c3_lengths_tokens(%c: !dsv4.cache<64 x <bf16_1024>>, %i: tensor<4xi32>, %l: tensor<5xi32>, %x: tensor<?x512xbf16>) {
  // expected-error @+1 {{paged_append_c3: expected 'lengths' of shape [4], one per token, got 'tensor<5xi32>'}}
  dsv4.paged_append %c[%i] ring 128 lengths(%l : tensor<5xi32>)
      fields(%x : tensor<?x512xbf16>)
      : !dsv4.cache<64 x <bf16_1024>>, tensor<4xi32>
  return
}

// -----

func.func @paged_append_c3_lengths(%c: !dsv4.cache<64 x <bf16_1024>>, %i: tensor<?xi32>, %l: tensor<?xi32>, %x: tensor<?x512xbf16>) {
  // expected-error @+1 {{paged_append_c3: 'lengths' describe a ring, and 'requests' a ring or 'pages': add 'ring' or remove them}}
  dsv4.paged_append %c[%i] lengths(%l : tensor<?xi32>) fields(%x : tensor<?x512xbf16>)
      : !dsv4.cache<64 x <bf16_1024>>, tensor<?xi32>
  return
}

// -----

func.func @paged_append_c3_requests(%c: !dsv4.cache<64 x <bf16_1024>>, %i: tensor<?xi32>, %r: tensor<?xi32>, %x: tensor<?x512xbf16>) {
  // expected-error @+1 {{paged_append_c3: 'lengths' describe a ring, and 'requests' a ring or 'pages': add 'ring' or remove them}}
  dsv4.paged_append %c[%i] requests(%r : tensor<?xi32>) fields(%x : tensor<?x512xbf16>)
      : !dsv4.cache<64 x <bf16_1024>>, tensor<?xi32>
  return
}

// -----

func.func @paged_append_c7(%c: !dsv4.cache<64 x <bf16_1024>>, %i: tensor<?xi32>, %p: tensor<?x2xi32>, %x: tensor<?x512xbf16>) {
  // expected-error @+1 {{paged_append_c7: expected 'unique' with 'pages' and no 'ring': tokens of a launch must have different positions}}
  dsv4.paged_append %c[%i] pages(%p : tensor<?x2xi32>) fields(%x : tensor<?x512xbf16>)
      : !dsv4.cache<64 x <bf16_1024>>, tensor<?xi32>
  return
}

// -----

func.func @paged_append_c4(%c: !dsv4.cache<64 x <bf16_1024>>, %i: tensor<?xi32>, %r: tensor<?x?xi32>, %l: tensor<?xi32>, %x: tensor<?x512xbf16>) {
  // expected-error @+1 {{paged_append_c4: expected 'requests' of the shape of 'indices', got 'tensor<?x?xi32>'}}
  dsv4.paged_append %c[%i] ring 128 requests(%r : tensor<?x?xi32>) lengths(%l : tensor<?xi32>)
      fields(%x : tensor<?x512xbf16>)
      : !dsv4.cache<64 x <bf16_1024>>, tensor<?xi32>
  return
}

// -----

func.func @paged_append_c4_rank0(%c: !dsv4.cache<64 x <bf16_1024>>, %i: tensor<?xi32>, %r: tensor<i32>, %l: tensor<?xi32>, %x: tensor<?x512xbf16>) {
  // expected-error @+1 {{paged_append_c4: expected 'requests' of the shape of 'indices', got 'tensor<i32>'}}
  dsv4.paged_append %c[%i] ring 128 requests(%r : tensor<i32>) lengths(%l : tensor<?xi32>)
      fields(%x : tensor<?x512xbf16>)
      : !dsv4.cache<64 x <bf16_1024>>, tensor<?xi32>
  return
}

// -----

func.func @paged_append_c4_unranked(%c: !dsv4.cache<64 x <bf16_1024>>, %i: tensor<?xi32>, %r: tensor<*xi32>, %l: tensor<?xi32>, %x: tensor<?x512xbf16>) {
  // expected-error @+1 {{paged_append_c4: expected 'requests' of the shape of 'indices', got 'tensor<*xi32>'}}
  dsv4.paged_append %c[%i] ring 128 requests(%r : tensor<*xi32>) lengths(%l : tensor<?xi32>)
      fields(%x : tensor<?x512xbf16>)
      : !dsv4.cache<64 x <bf16_1024>>, tensor<?xi32>
  return
}

// -----

func.func @paged_append_c4_tokens(%c: !dsv4.cache<64 x <bf16_1024>>, %i: tensor<4xi32>, %r: tensor<5xi32>, %l: tensor<?xi32>, %x: tensor<?x512xbf16>) {
  // expected-error @+1 {{paged_append_c4: expected 'requests' of the shape of 'indices', got 'tensor<5xi32>'}}
  dsv4.paged_append %c[%i] ring 128 requests(%r : tensor<5xi32>) lengths(%l : tensor<?xi32>)
      fields(%x : tensor<?x512xbf16>)
      : !dsv4.cache<64 x <bf16_1024>>, tensor<4xi32>
  return
}

// -----

func.func @paged_append_c4_pages(%c: !dsv4.cache<64 x <bf16_1024>>, %i: tensor<?xi32>, %p: tensor<?xi32>, %l: tensor<?xi32>, %x: tensor<?x512xbf16>) {
  // expected-error @+1 {{paged_append_c4: expected 'pages' of shape [?, ?], got 'tensor<?xi32>'}}
  dsv4.paged_append %c[%i] ring 128 pages(%p : tensor<?xi32>) lengths(%l : tensor<?xi32>)
      fields(%x : tensor<?x512xbf16>)
      : !dsv4.cache<64 x <bf16_1024>>, tensor<?xi32>
  return
}

// -----

func.func @paged_append_c4_pages_rank0(%c: !dsv4.cache<64 x <bf16_1024>>, %i: tensor<?xi32>, %p: tensor<i32>, %l: tensor<?xi32>, %x: tensor<?x512xbf16>) {
  // expected-error @+1 {{paged_append_c4: expected 'pages' of shape [?, ?], got 'tensor<i32>'}}
  dsv4.paged_append %c[%i] ring 128 pages(%p : tensor<i32>) lengths(%l : tensor<?xi32>)
      fields(%x : tensor<?x512xbf16>)
      : !dsv4.cache<64 x <bf16_1024>>, tensor<?xi32>
  return
}

// -----

func.func @paged_append_c4_pages_unranked(%c: !dsv4.cache<64 x <bf16_1024>>, %i: tensor<?xi32>, %p: tensor<*xi32>, %l: tensor<?xi32>, %x: tensor<?x512xbf16>) {
  // expected-error @+1 {{paged_append_c4: expected 'pages' of shape [?, ?], got 'tensor<*xi32>'}}
  dsv4.paged_append %c[%i] ring 128 pages(%p : tensor<*xi32>) lengths(%l : tensor<?xi32>)
      fields(%x : tensor<?x512xbf16>)
      : !dsv4.cache<64 x <bf16_1024>>, tensor<?xi32>
  return
}

// -----

func.func @paged_append_c4_pages_tokens(%c: !dsv4.cache<64 x <bf16_1024>>, %i: tensor<4xi32>, %p: tensor<5x2xi32>, %l: tensor<?xi32>, %x: tensor<?x512xbf16>) {
  // expected-error @+1 {{paged_append_c4: expected 'pages' of shape [4, ?], got 'tensor<5x2xi32>'}}
  dsv4.paged_append %c[%i] ring 128 pages(%p : tensor<5x2xi32>) lengths(%l : tensor<?xi32>)
      fields(%x : tensor<?x512xbf16>)
      : !dsv4.cache<64 x <bf16_1024>>, tensor<4xi32>
  return
}

// -----

func.func @paged_append_c4_pages_requests(%c: !dsv4.cache<64 x <bf16_1024>>, %i: tensor<4xi32>, %r: tensor<4xi32>, %p: tensor<4x2xi32>, %l: tensor<3xi32>, %x: tensor<?x512xbf16>) {
  // expected-error @+1 {{paged_append_c4: expected 'pages' of shape [3, ?], got 'tensor<4x2xi32>'}}
  dsv4.paged_append %c[%i] ring 128 requests(%r : tensor<4xi32>) pages(%p : tensor<4x2xi32>) lengths(%l : tensor<3xi32>)
      fields(%x : tensor<?x512xbf16>)
      : !dsv4.cache<64 x <bf16_1024>>, tensor<4xi32>
  return
}

// -----

func.func @paged_append_c5(%c: !dsv4.cache<64 x <seed_580>>, %i: tensor<?xi32>, %x: tensor<?x448xf8E4M3FN>, %y: tensor<?x64xbf16>, %z: tensor<?xf32>) {
  // expected-error @+1 {{paged_append_c5: expected one column >= 0 for each of the 3 field operands, got array<i64: 0, 0>}}
  dsv4.paged_append %c[%i] fields(%x, %y, %z : tensor<?x448xf8E4M3FN>, tensor<?x64xbf16>, tensor<?xf32>) columns [0, 0]
      : !dsv4.cache<64 x <seed_580>>, tensor<?xi32>
  return
}

// -----

func.func @paged_append_c5_empty(%c: !dsv4.cache<64 x <seed_580>>, %i: tensor<?xi32>, %x: tensor<?x448xf8E4M3FN>, %y: tensor<?x64xbf16>, %z: tensor<?xf32>) {
  // expected-error @+1 {{paged_append_c5: expected one column >= 0 for each of the 3 field operands, got array<i64>}}
  dsv4.paged_append %c[%i] fields(%x, %y, %z : tensor<?x448xf8E4M3FN>, tensor<?x64xbf16>, tensor<?xf32>) columns []
      : !dsv4.cache<64 x <seed_580>>, tensor<?xi32>
  return
}

// -----

func.func @paged_append_c5_more(%c: !dsv4.cache<64 x <seed_580>>, %i: tensor<?xi32>, %x: tensor<?x448xf8E4M3FN>, %y: tensor<?x64xbf16>, %z: tensor<?xf32>) {
  // expected-error @+1 {{paged_append_c5: expected one column >= 0 for each of the 3 field operands, got array<i64: 0, 0, 0, 0>}}
  dsv4.paged_append %c[%i] fields(%x, %y, %z : tensor<?x448xf8E4M3FN>, tensor<?x64xbf16>, tensor<?xf32>) columns [0, 0, 0, 0]
      : !dsv4.cache<64 x <seed_580>>, tensor<?xi32>
  return
}

// -----

func.func @paged_append_c5_negative(%c: !dsv4.cache<64 x <seed_580>>, %i: tensor<?xi32>, %x: tensor<?x448xf8E4M3FN>, %y: tensor<?x64xbf16>, %z: tensor<?xf32>) {
  // expected-error @+1 {{paged_append_c5: expected one column >= 0 for each of the 3 field operands, got array<i64: 0, -1, 0>}}
  dsv4.paged_append %c[%i] fields(%x, %y, %z : tensor<?x448xf8E4M3FN>, tensor<?x64xbf16>, tensor<?xf32>) columns [0, -1, 0]
      : !dsv4.cache<64 x <seed_580>>, tensor<?xi32>
  return
}

// -----

func.func @paged_append_c5_smallest(%c: !dsv4.cache<64 x <seed_580>>, %i: tensor<?xi32>, %x: tensor<?x448xf8E4M3FN>, %y: tensor<?x64xbf16>, %z: tensor<?xf32>) {
  // expected-error @+1 {{paged_append_c5: expected one column >= 0 for each of the 3 field operands, got array<i64: 0, -9223372036854775808, 0>}}
  dsv4.paged_append %c[%i] fields(%x, %y, %z : tensor<?x448xf8E4M3FN>, tensor<?x64xbf16>, tensor<?xf32>) columns [0, -9223372036854775808, 0]
      : !dsv4.cache<64 x <seed_580>>, tensor<?xi32>
  return
}

// -----

func.func @paged_append_c6(%c: !dsv4.cache<64 x <seed_580>>, %i: tensor<?xi32>, %x: tensor<?x448xf8E4M3FN>, %y: tensor<?x512xbf16>, %z: tensor<?xf32>) {
  // expected-error @+1 {{paged_append_c6: field operand 1 ('rope') has 512 columns and its field 64: list in 'columns' the first column of every field operand that is stored}}
  dsv4.paged_append %c[%i] fields(%x, %y, %z : tensor<?x448xf8E4M3FN>, tensor<?x512xbf16>, tensor<?xf32>)
      : !dsv4.cache<64 x <seed_580>>, tensor<?xi32>
  return
}

// -----

// The schedule of a kernel is compared with ops that are known to be right.
func.func @paged_append_in_kernel(%c: !dsv4.cache<64 x <bf16_1024>>, %i: tensor<?xi32>, %x: tensor<?x512xbf16>) {
  dsv4.kernel @k(%c, %i, %x) schedule <threads = 128, parts = [#dsv4.rows<lanes = 8, vector = 8>]>
      : (!dsv4.cache<64 x <bf16_1024>>, tensor<?xi32>, tensor<?x512xbf16>) -> () {
  ^bb0(%c1: !dsv4.cache<64 x <bf16_1024>>, %i1: tensor<?xi32>, %x1: tensor<?x512xbf16>):
    // expected-error @+1 {{paged_append_c5: }}
    dsv4.paged_append %c1[%i1] fields(%x1 : tensor<?x512xbf16>) columns []
        : !dsv4.cache<64 x <bf16_1024>>, tensor<?xi32>
  }
  return
}

// -----

func.func @paged_append_c4_listed(%c: !dsv4.cache<64 x <bf16_1024>>, %i: tensor<?xi32>, %r: tensor<?xi32>, %p: tensor<?x2xi32>, %s: tensor<?xi32>, %x: tensor<?x512xbf16>) {
  // expected-error @+1 {{paged_append_c4: expected 'pages' of shape [?], got 'tensor<?x2xi32>'}}
  dsv4.paged_append %c[%i] unique requests(%r : tensor<?xi32>) pages(%p : tensor<?x2xi32>)
      indptr(%s : tensor<?xi32>) fields(%x : tensor<?x512xbf16>)
      : !dsv4.cache<64 x <bf16_1024>>, tensor<?xi32>
  return
}

// -----

func.func @paged_append_c4_not_listed(%c: !dsv4.cache<64 x <bf16_1024>>, %i: tensor<?xi32>, %r: tensor<?xi32>, %p: tensor<?xi32>, %x: tensor<?x512xbf16>) {
  // expected-error @+1 {{paged_append_c4: expected 'pages' of shape [?, ?], got 'tensor<?xi32>'}}
  dsv4.paged_append %c[%i] unique requests(%r : tensor<?xi32>) pages(%p : tensor<?xi32>)
      fields(%x : tensor<?x512xbf16>)
      : !dsv4.cache<64 x <bf16_1024>>, tensor<?xi32>
  return
}

// -----

func.func @paged_append_c8(%c: !dsv4.cache<64 x <bf16_1024>>, %i: tensor<?xi32>, %r: tensor<?xi32>, %p: tensor<?xi32>, %s: tensor<?x2xi32>, %x: tensor<?x512xbf16>) {
  // expected-error @+1 {{paged_append_c8: expected 'indptr' of shape [requests + 1], got 'tensor<?x2xi32>'}}
  dsv4.paged_append %c[%i] unique requests(%r : tensor<?xi32>) pages(%p : tensor<?xi32>)
      indptr(%s : tensor<?x2xi32>) fields(%x : tensor<?x512xbf16>)
      : !dsv4.cache<64 x <bf16_1024>>, tensor<?xi32>
  return
}

// -----

func.func @paged_append_c8_pages(%c: !dsv4.cache<64 x <bf16_1024>>, %i: tensor<?xi32>, %s: tensor<?xi32>, %x: tensor<?x512xbf16>) {
  // expected-error @+1 {{paged_append_c8: 'indptr' divides up the pages of requests: expected 'pages' and 'requests' and no 'ring' with it}}
  dsv4.paged_append %c[%i] unique indptr(%s : tensor<?xi32>) fields(%x : tensor<?x512xbf16>)
      : !dsv4.cache<64 x <bf16_1024>>, tensor<?xi32>
  return
}

// -----

func.func @paged_append_c8_requests(%c: !dsv4.cache<64 x <bf16_1024>>, %i: tensor<?xi32>, %p: tensor<?xi32>, %s: tensor<?xi32>, %x: tensor<?x512xbf16>) {
  // expected-error @+1 {{paged_append_c8: 'indptr' divides up the pages of requests: expected 'pages' and 'requests' and no 'ring' with it}}
  dsv4.paged_append %c[%i] unique pages(%p : tensor<?xi32>) indptr(%s : tensor<?xi32>)
      fields(%x : tensor<?x512xbf16>) : !dsv4.cache<64 x <bf16_1024>>, tensor<?xi32>
  return
}

// -----

func.func @paged_append_c8_ring(%c: !dsv4.cache<64 x <bf16_1024>>, %i: tensor<?xi32>, %r: tensor<?xi32>, %p: tensor<?xi32>, %s: tensor<?xi32>, %l: tensor<?xi32>, %x: tensor<?x512xbf16>) {
  // expected-error @+1 {{paged_append_c8: 'indptr' divides up the pages of requests: expected 'pages' and 'requests' and no 'ring' with it}}
  dsv4.paged_append %c[%i] ring 64 requests(%r : tensor<?xi32>) pages(%p : tensor<?xi32>)
      indptr(%s : tensor<?xi32>) lengths(%l : tensor<?xi32>) fields(%x : tensor<?x512xbf16>)
      : !dsv4.cache<64 x <bf16_1024>>, tensor<?xi32>
  return
}

// -----

func.func @paged_append_c9_repeats(%c: !dsv4.cache<64 x <bf16_1024>>, %i: tensor<?xi64>, %x: tensor<?x512xbf16>) {
  // expected-error @+1 {{paged_append_c9: expected 'unique' with indices 'in_bytes', and no 'pages' and no 'ring', which take positions}}
  dsv4.paged_append %c[%i] in_bytes fields(%x : tensor<?x512xbf16>) : !dsv4.cache<64 x <bf16_1024>>, tensor<?xi64>
  return
}

// -----

func.func @paged_append_c9_pages(%c: !dsv4.cache<64 x <bf16_1024>>, %i: tensor<?xi64>, %t: tensor<?x?xi32>, %x: tensor<?x512xbf16>) {
  // expected-error @+1 {{paged_append_c9: expected 'unique' with indices 'in_bytes', and no 'pages' and no 'ring', which take positions}}
  dsv4.paged_append %c[%i] in_bytes unique pages(%t : tensor<?x?xi32>) fields(%x : tensor<?x512xbf16>)
      : !dsv4.cache<64 x <bf16_1024>>, tensor<?xi64>
  return
}

// -----

func.func @paged_append_c9_ring(%c: !dsv4.cache<64 x <bf16_1024>>, %i: tensor<?xi64>, %n: tensor<?xi32>, %x: tensor<?x512xbf16>) {
  // expected-error @+1 {{paged_append_c9: expected 'unique' with indices 'in_bytes', and no 'pages' and no 'ring', which take positions}}
  dsv4.paged_append %c[%i] in_bytes ring 128 unique lengths(%n : tensor<?xi32>) fields(%x : tensor<?x512xbf16>)
      : !dsv4.cache<64 x <bf16_1024>>, tensor<?xi64>
  return
}
