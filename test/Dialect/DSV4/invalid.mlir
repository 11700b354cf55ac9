// One case for every numbered clause, and for what the grammar itself refuses.

// RUN: dsv4-opt %s --split-input-file --verify-diagnostics

//===----------------------------------------------------------------------===//
// Fields
//===----------------------------------------------------------------------===//

// expected-error @+1 {{expected the name of a field to be an identifier, got ''}}
#field_name = #dsv4.record<[<"" : 8 x bf16 in row>]>

// -----

// expected-error @+1 {{expected field 'a' to have between 1 and 65536 elements, got 0}}
#field_extent = #dsv4.record<[<"a" : 0 x bf16 in row>]>

// -----

// expected-error @+1 {{expected field 'a' to hold f4E2M1FN, i4, f8E4M3FN, bf16, f16 or f32 values, or i32 metadata, got 'f64'}}
#field_element = #dsv4.record<[<"a" : 8 x f64 in row>]>

// -----

// expected-error @+1 {{expected field 'a' to have between 1 and 65536 elements, got 65537}}
#field_extent_large = #dsv4.record<[<"a" : 65537 x bf16 in row>]>

// -----

// A scale type is not a data type.
// expected-error @+1 {{expected field 'a' to hold f4E2M1FN, i4, f8E4M3FN, bf16, f16 or f32 values, or i32 metadata, got 'index'}}
#element = #dsv4.record<[<"a" : 64 x index in row high_first>]>

// -----

// expected-error @+1 {{expected field 'a' to hold f4E2M1FN, i4, f8E4M3FN, bf16, f16 or f32 values, or i32 metadata, got 'none'}}
#element = #dsv4.record<[<"a" : 64 x none in row high_first>]>

// -----

// expected-error @+1 {{expected field 'a' to hold f4E2M1FN, i4, f8E4M3FN, bf16, f16 or f32 values, or i32 metadata, got 'tuple<i32>'}}
#element = #dsv4.record<[<"a" : 64 x tuple<i32> in row high_first>]>

// -----

// expected-error @+1 {{expected field 'a' to hold f4E2M1FN, i4, f8E4M3FN, bf16, f16 or f32 values, or i32 metadata, got 'tensor<4xf32>'}}
#element = #dsv4.record<[<"a" : 64 x tensor<4xf32> in row high_first>]>

// -----

// expected-error @+1 {{expected field 'a' to hold f4E2M1FN, i4, f8E4M3FN, bf16, f16 or f32 values, or i32 metadata, got 'memref<4xf32>'}}
#element = #dsv4.record<[<"a" : 64 x memref<4xf32> in row high_first>]>

// -----

// expected-error @+1 {{expected field 'a' to hold f4E2M1FN, i4, f8E4M3FN, bf16, f16 or f32 values, or i32 metadata, got 'complex<f32>'}}
#element = #dsv4.record<[<"a" : 64 x complex<f32> in row high_first>]>

// -----

// expected-error @+1 {{expected field 'a' to hold f4E2M1FN, i4, f8E4M3FN, bf16, f16 or f32 values, or i32 metadata, got 'vector<4xf32>'}}
#element = #dsv4.record<[<"a" : 64 x vector<4xf32> in row high_first>]>

// -----

// expected-error @+1 {{expected field 'a' to hold f4E2M1FN, i4, f8E4M3FN, bf16, f16 or f32 values, or i32 metadata, got '!dsv4.cache}}
#element = #dsv4.record<[<"a" : 64 x !dsv4.cache<4 x <v4_584>> in row high_first>]>

// -----

// expected-error @+1 {{expected field 'a' to hold f4E2M1FN, i4, f8E4M3FN, bf16, f16 or f32 values, or i32 metadata, got 'f8E8M0FNU'}}
#field_element_e8m0 = #dsv4.record<[<"a" : 8 x f8E8M0FNU in row>]>

// -----

#field_scale = #dsv4.record<[
  <"a" : 8 x bf16 in row>,
  // expected-error @+1 {{expected field 's' to hold f8E8M0FNU, f8E4M3FN, bf16, f16 or f32 scales, got 'f4E2M1FN'}}
  <"s" : 4 x f4E2M1FN in row scales "a" per 2>]>

// -----

#field_interleave = #dsv4.record<[
  <"a" : 8 x bf16 in row>,
  // expected-error @+1 {{expected the interleave of field 's' to divide its extent 4, got 3}}
  <"s" : 4 x f32 in row scales "a" per 2 interleave 3>]>

// -----

// expected-error @+1 {{expected the offset and padding of field 'a' between 0 and 2^20}}
#field_offset = #dsv4.record<[<"a" : 8 x bf16 in row at -2>]>

// -----

// expected-error @+1 {{expected the offset and padding of field 'a' between 0 and 2^20}}
#field_pad = #dsv4.record<[<"a" : 8 x bf16 in row pad -1>]>

// -----

// expected-error @+1 {{expected array field 'a' to have neither offset nor padding}}
#field_array_pad = #dsv4.record<[<"a" : 8 x bf16 in array pad 2>]>

// -----

#field_tensor_in_row = #dsv4.record<[
  <"a" : 8 x bf16 in row>,
  // expected-error @+1 {{expected the scale 's' per tensor to be in an array}}
  <"s" : 1 x f32 in row scales "a" per tensor>]>

// -----

// expected-error @+1 {{expected a number of elements, 'row' or 'tensor' after 'per'}}
#field_group = #dsv4.record<[<"a" : 8 x bf16 in row>, <"s" : 1 x f32 in row scales "a" per page>]>

// -----

// expected-error @+2 {{failed to parse DSV4_FieldAttr parameter 'placement'}}
// expected-error @+1 {{expected ::dsv4::Placement to be one of: row, tail, array}}
#field_placement = #dsv4.record<[<"a" : 8 x bf16 in column>]>

// -----

//===----------------------------------------------------------------------===//
// Records
//===----------------------------------------------------------------------===//

// expected-error @+1 {{expected a page alignment between 1 and 2^20, got 0}}
#record_align = #dsv4.record<[<"a" : 8 x bf16 in row>], align 0>

// -----

// expected-error @+1 {{record_c1: a record needs a data field}}
#record_c1_empty = #dsv4.record<[]>

// -----

// expected-error @+1 {{record_c1: two fields are named 'a'}}
#record_c1_names = #dsv4.record<[<"a" : 8 x bf16 in row>, <"a" : 8 x bf16 in tail>]>

// -----

// expected-error @+1 {{record_c2: 's' scales 'b', which is not an earlier data field}}
#record_c2 = #dsv4.record<[<"a" : 8 x bf16 in row>, <"s" : 1 x f32 in row scales "b" per row>]>

// -----

// expected-error @+1 {{record_c2: 's' scales 'a', which is not an earlier data field}}
#record_c2_later = #dsv4.record<[<"b" : 8 x bf16 in row>, <"s" : 1 x f32 in row scales "a" per row>, <"a" : 8 x bf16 in row>]>

// -----

// expected-error @+1 {{record_c2: 't' scales 's', which is not an earlier data field}}
#record_c2_scale = #dsv4.record<[<"a" : 8 x bf16 in row>, <"s" : 1 x f32 in row scales "a" per row>, <"t" : 1 x f32 in row scales "s" per row>]>

// -----

// expected-error @+1 {{record_c3: the group 3 of scale 's' does not divide the extent 8 of field 'a'}}
#record_c3_group = #dsv4.record<[<"a" : 8 x bf16 in row>, <"s" : 2 x f32 in row scales "a" per 3>]>

// -----

// expected-error @+1 {{record_c3: scale 's' has 3 elements, field 'a' has 2 groups}}
#record_c3_extent = #dsv4.record<[<"a" : 8 x bf16 in row>, <"s" : 3 x f32 in row scales "a" per 4>]>

// -----

// expected-error @+1 {{record_c3: scale 's' has 2 elements, field 'a' has 1 group}}
#record_c3_row = #dsv4.record<[<"a" : 8 x bf16 in row>, <"s" : 2 x f32 in row scales "a" per row>]>

// -----

// expected-error @+1 {{record_c4: fields 'a' and 'b' overlap}}
#record_c4 = #dsv4.record<[<"a" : 8 x bf16 in row>, <"b" : 8 x bf16 in row at 8>]>

// -----

// expected-error @+1 {{record_c5: field 'b' starts at byte 3, which is not a multiple of its element size 2}}
#record_c5 = #dsv4.record<[<"a" : 3 x f8E4M3FN in row>, <"b" : 8 x bf16 in row>]>

// -----

// expected-error @+1 {{record_c6: 4-bit field 'a' has an odd extent 7}}
#record_c6 = #dsv4.record<[<"a" : 7 x f4E2M1FN in row>]>

// -----

//===----------------------------------------------------------------------===//
// Cache type
//===----------------------------------------------------------------------===//

// expected-error @+1 {{cache_c1: expected between 1 and 2^20 entries per page, got 0}}
func.func private @cache_c1(!dsv4.cache<0 x <v4_584>>)

// -----

// Entries of 9 bytes put every second bf16 at an odd address.
// expected-error @+1 {{cache_c2: field 'a' is not aligned to its element size 2 in every entry (row 9, tail 0, page 576 bytes)}}
func.func private @cache_c2(!dsv4.cache<64 x <[<"a" : 4 x bf16 in row>, <"b" : 1 x f8E4M3FN in row>]>>)

// -----

//===----------------------------------------------------------------------===//
// Formats, schedules, targets
//===----------------------------------------------------------------------===//

// expected-error @+1 {{format_c1: expected elements of type f4E2M1FN, i4, f8E4M3FN, bf16, f16 or f32, got 'f64'}}
func.func private @format_c1() attributes {test.a = #dsv4.format<f64, [<f32 per 16>]>}

// -----

// expected-error @+1 {{format_c1: expected scales of type f8E8M0FNU, f8E4M3FN, bf16, f16 or f32, got 'i8'}}
func.func private @format_c1_scale() attributes {test.a = #dsv4.format<f4E2M1FN, [<i8 per 16>]>}

// -----

// expected-error @+1 {{format_c2: expected a positive group, got 0}}
func.func private @format_c2() attributes {test.a = #dsv4.format<f4E2M1FN, [<f32 per 0>]>}

// -----

// expected-error @+1 {{schedule_c1: expected 'threads' to be a multiple of 32 between 32 and 1024, got 100}}
func.func private @schedule_c1() attributes {test.a = #dsv4.schedule<threads = 100, parts = [#dsv4.rows<lanes = 8, vector = 8>]>}

// -----

// expected-error @+1 {{schedule_c1: expected 'threads' to be a multiple of 32 between 32 and 1024, got 1056}}
func.func private @schedule_c1_large() attributes {test.a = #dsv4.schedule<threads = 1056, parts = [#dsv4.rows<lanes = 8, vector = 8>]>}

// -----

// expected-error @+1 {{schedule_c2: expected 'min_blocks' between 0 and 32}}
func.func private @schedule_c2() attributes {test.a = #dsv4.schedule<threads = 32, min_blocks = 33, parts = [#dsv4.rows<lanes = 8, vector = 8>]>}

// -----

// expected-error @+1 {{schedule_c2: expected 'min_blocks' between 0 and 32 and at most 2048 threads in them, got 3 of 1024 threads}}
func.func private @schedule_c2_threads() attributes {test.a = #dsv4.schedule<threads = 1024, min_blocks = 3, parts = [#dsv4.rows<lanes = 8, vector = 8>]>}

// -----

// expected-error @+1 {{schedule_c3: expected 'cluster' to be 1, as the parts share no row among blocks of a cluster, got 2}}
func.func private @schedule_c3_alone() attributes {test.a = #dsv4.schedule<threads = 128, cluster = 2, parts = [#dsv4.rows<lanes = 8, vector = 8>]>}

// -----

// expected-error @+1 {{schedule_c3: expected 'cluster' between 1 and 8, got 16}}
func.func private @schedule_c3_large() attributes {test.a = #dsv4.schedule<threads = 128, cluster = 16, parts = [#dsv4.rows<lanes = 8, vector = 8>, #dsv4.window<elements = 2>]>}

// -----

// expected-error @+1 {{schedule_c3: expected 'cluster' between 1 and 8, got 0}}
func.func private @schedule_c3_zero() attributes {test.a = #dsv4.schedule<threads = 128, cluster = 0, parts = [#dsv4.rows<lanes = 8, vector = 8>, #dsv4.window<elements = 2>]>}

// -----

// expected-error @+1 {{schedule_c3: expected 'cluster' to be 1, as the parts share no row among blocks of a cluster, got 2}}
func.func private @schedule_c3_grid() attributes {test.a = #dsv4.schedule<threads = 128, cluster = 2, parts = [#dsv4.select<algorithm = grid, vector = 4, blocks = 4>]>}

// -----

// expected-error @+1 {{schedule_c4: expected 'parts' with at least one part, such as #dsv4.rows<lanes = 8, vector = 8>}}
func.func private @schedule_c4_none() attributes {test.a = #dsv4.schedule<threads = 128, parts = []>}

// -----

// expected-error @+1 {{schedule_c4: expected 'parts' of a schedule, such as #dsv4.rows<lanes = 8, vector = 8>, got 8 : i32}}
func.func private @schedule_c4_other() attributes {test.a = #dsv4.schedule<threads = 128, parts = [8 : i32]>}

// -----

// expected-error @+1 {{schedule_c4: expected one part of a kind, got two #dsv4.rows}}
func.func private @schedule_c4_twice() attributes {test.a = #dsv4.schedule<threads = 128, parts = [#dsv4.rows<lanes = 8, vector = 8>, #dsv4.rows<lanes = 4, vector = 8>]>}

// -----

// expected-error @+1 {{schedule_c7: #dsv4.window has 5 rows per block, of which the threads hold 4; expected fewer 'rows' or 'lanes'}}
func.func private @schedule_c7() attributes {test.a = #dsv4.schedule<threads = 128, parts = [#dsv4.rows<lanes = 32, vector = 2>, #dsv4.window<elements = 2, rows = 5>]>}

// -----

// expected-error @+1 {{schedule_rows_c1: expected 'lanes' to be a power of two between 1 and 32, got 64}}
func.func private @schedule_rows_c1() attributes {test.a = #dsv4.schedule<threads = 128, parts = [#dsv4.rows<lanes = 64, vector = 8>]>}

// -----

// expected-error @+1 {{schedule_rows_c2: expected 'vector' to be a power of two between 1 and 32, or 0 if 'lanes' is 1, got 12}}
func.func private @schedule_rows_c2() attributes {test.a = #dsv4.schedule<threads = 128, parts = [#dsv4.rows<lanes = 8, vector = 12>]>}

// -----

// expected-error @+1 {{schedule_rows_c2: expected 'vector' to be a power of two between 1 and 32, or 0 if 'lanes' is 1, got 0}}
func.func private @schedule_rows_c2_lanes() attributes {test.a = #dsv4.schedule<threads = 128, parts = [#dsv4.rows<lanes = 2, vector = 0>]>}

// -----

// expected-error @+1 {{schedule_rows_c4: expected 'section' to be 0, as 'vector' is, got 1}}
func.func private @schedule_rows_c4_whole() attributes {test.a = #dsv4.schedule<threads = 128, parts = [#dsv4.rows<lanes = 1, vector = 0, section = 1>]>}

// -----

// expected-error @+1 {{schedule_rows_c4: expected 'section' between 0 and 64, got 65}}
func.func private @schedule_rows_c4() attributes {test.a = #dsv4.schedule<threads = 128, parts = [#dsv4.rows<lanes = 8, vector = 8, section = 65>]>}

// -----

// expected-error @+1 {{schedule_window_c1: expected 'elements' to be 1, 2, 4 or 8, got 3}}
func.func private @schedule_window_c1() attributes {test.a = #dsv4.schedule<threads = 128, parts = [#dsv4.rows<lanes = 8, vector = 8>, #dsv4.window<elements = 3>]>}

// -----

// expected-error @+1 {{schedule_window_c1: expected 'elements' to be 1, 2, 4 or 8, got 16}}
func.func private @schedule_window_c1_large() attributes {test.a = #dsv4.schedule<threads = 128, parts = [#dsv4.rows<lanes = 8, vector = 8>, #dsv4.window<elements = 16>]>}

// -----

// expected-error @+1 {{schedule_window_c1: expected 'elements' to be 1, 2, 4 or 8, got -2}}
func.func private @schedule_window_c1_negative() attributes {test.a = #dsv4.schedule<threads = 128, parts = [#dsv4.rows<lanes = 8, vector = 8>, #dsv4.window<elements = -2>]>}

// -----

// expected-error @+1 {{schedule_window_c2: expected 'rows' between 1 and 1024, got 0}}
func.func private @schedule_window_c2() attributes {test.a = #dsv4.schedule<threads = 128, parts = [#dsv4.rows<lanes = 8, vector = 8>, #dsv4.window<elements = 2, rows = 0>]>}

// -----

// expected-error @+1 {{schedule_window_c3: expected 'cluster' to be 1, 2, 4 or 8, got 3}}
func.func private @schedule_window_c3() attributes {test.a = #dsv4.schedule<threads = 128, cluster = 3, parts = [#dsv4.rows<lanes = 8, vector = 8>, #dsv4.window<elements = 2>]>}

// -----

// expected-error @+1 {{schedule_select_c1: expected 'vector' to be a power of two between 1 and 32, got 3}}
func.func private @schedule_select_c1() attributes {test.a = #dsv4.schedule<threads = 128, parts = [#dsv4.select<algorithm = block, vector = 3>]>}

// -----

// expected-error @+1 {{schedule_select_c2: expected 'vectors' between 1 and 16 and at most 32 elements in them, and 1 without 'algorithm = stream', 'grid' or 'tile', got 17}}
func.func private @schedule_select_c2() attributes {test.a = #dsv4.schedule<threads = 128, parts = [#dsv4.select<algorithm = stream, vector = 1, vectors = 17>]>}

// -----

// expected-error @+1 {{schedule_select_c2: expected 'vectors' between 1 and 16 and at most 32 elements in them, and 1 without 'algorithm = stream', 'grid' or 'tile', got 2}}
func.func private @schedule_select_c2_block() attributes {test.a = #dsv4.schedule<threads = 128, parts = [#dsv4.select<algorithm = block, vector = 4, vectors = 2>]>}

// -----

// expected-error @+1 {{schedule_select_c3: expected 'threads' to be a power of two of at least 64 for a selection, got 96}}
func.func private @schedule_select_c3() attributes {test.a = #dsv4.schedule<threads = 96, parts = [#dsv4.select<algorithm = grid, vector = 4, blocks = 4>]>}

// -----

// expected-error @+1 {{schedule_select_c4: expected 'blocks' to be a power of two between 2 and 256 with 'algorithm = grid', else 1, got 1}}
func.func private @schedule_select_c4() attributes {test.a = #dsv4.schedule<threads = 128, parts = [#dsv4.select<algorithm = grid, vector = 4>]>}

// -----

// expected-error @+1 {{schedule_select_c4: expected 'blocks' to be a power of two between 2 and 256 with 'algorithm = grid', else 1, got 6}}
func.func private @schedule_select_c4_odd() attributes {test.a = #dsv4.schedule<threads = 128, parts = [#dsv4.select<algorithm = grid, vector = 4, blocks = 6>]>}

// -----

// expected-error @+1 {{schedule_select_c4: expected 'blocks' to be a power of two between 2 and 256 with 'algorithm = grid', else 1, got 512}}
func.func private @schedule_select_c4_large() attributes {test.a = #dsv4.schedule<threads = 128, parts = [#dsv4.select<algorithm = grid, vector = 4, blocks = 512>]>}

// -----

// expected-error @+1 {{schedule_select_c4: expected 'blocks' to be a power of two between 2 and 256 with 'algorithm = grid', else 1, got -2}}
func.func private @schedule_select_c4_negative() attributes {test.a = #dsv4.schedule<threads = 128, parts = [#dsv4.select<algorithm = grid, vector = 4, blocks = -2>]>}

// -----

// expected-error @+1 {{schedule_select_c4: expected 'blocks' to be a power of two between 2 and 256 with 'algorithm = grid', else 1, got 4}}
func.func private @schedule_select_c4_stream() attributes {test.a = #dsv4.schedule<threads = 128, parts = [#dsv4.select<algorithm = stream, vector = 4, blocks = 4>]>}

// -----

// expected-error @+1 {{schedule_select_c4: expected 'blocks' to be a power of two between 2 and 256 with 'algorithm = grid', else 1, got 0}}
func.func private @schedule_select_c4_zero() attributes {test.a = #dsv4.schedule<threads = 128, parts = [#dsv4.select<algorithm = warp, vector = 4, blocks = 0>]>}

// -----

func.func @schedule_rows_c3(%c: !dsv4.cache<64 x <v4_584>>, %i: tensor<?xi32>, %o: tensor<?x512xbf16>) {
  // expected-error @+1 {{schedule_rows_c3: lanes * vector = 256 does not divide the 448 elements of a field of 'dsv4.paged_gather'; expected one that does}}
  %0 = dsv4.kernel @k(%c, %i, %o) schedule <threads = 128, parts = [#dsv4.rows<lanes = 32, vector = 8>]>
      : (!dsv4.cache<64 x <v4_584>>, tensor<?xi32>, tensor<?x512xbf16>) -> tensor<?x512xbf16> {
  ^bb0(%c1: !dsv4.cache<64 x <v4_584>>, %i1: tensor<?xi32>, %o1: tensor<?x512xbf16>):
    %r = dsv4.paged_gather %c1[%i1] outs(%o1 : tensor<?x512xbf16>)
        : !dsv4.cache<64 x <v4_584>>, tensor<?xi32>
    dsv4.yield %r : tensor<?x512xbf16>
  }
  return
}

// -----

func.func @schedule_rows_c3_uneven(%x: tensor<?x42xf32>, %o: tensor<?x42xf32>) {
  // expected-error @+1 {{schedule_rows_c3: vector = 4 does not divide the 42 elements of a field of 'dsv4.gate'; expected one that does}}
  %0 = dsv4.kernel @k(%x, %o) schedule <threads = 128, parts = [#dsv4.rows<lanes = 8, vector = 4>]>
      : (tensor<?x42xf32>, tensor<?x42xf32>) -> tensor<?x42xf32> {
  ^bb0(%a: tensor<?x42xf32>, %b: tensor<?x42xf32>):
    %r = dsv4.gate %a function sigmoid outs(%b : tensor<?x42xf32>) : tensor<?x42xf32>
    dsv4.yield %r : tensor<?x42xf32>
  }
  return
}

// -----

func.func @schedule_rows_c4_sections(%x: tensor<?x480xbf16>, %c: tensor<?x480xf8E4M3FN>, %s: tensor<?x20xf32>) {
  // expected-error @+1 {{schedule_rows_c4: groups of 24 elements do not match vectors of 4 and sections of 96}}
  %0:2 = dsv4.kernel @k(%x, %c, %s) schedule <threads = 128, parts = [#dsv4.rows<lanes = 8, vector = 4, section = 3>]>
      : (tensor<?x480xbf16>, tensor<?x480xf8E4M3FN>, tensor<?x20xf32>) -> (tensor<?x480xf8E4M3FN>, tensor<?x20xf32>) {
  ^bb0(%a: tensor<?x480xbf16>, %b: tensor<?x480xf8E4M3FN>, %d: tensor<?x20xf32>):
    %q, %z = dsv4.quantize %a outs(%b, %d : tensor<?x480xf8E4M3FN>, tensor<?x20xf32>)
        {format = #dsv4.format<f8E4M3FN, [<f32 per 24>]>, recipe = #dsv4.quantizer<>} : tensor<?x480xbf16>
    dsv4.yield %q, %z : tensor<?x480xf8E4M3FN>, tensor<?x20xf32>
  }
  return
}

// -----

func.func @schedule_rows_c3_group(%d: tensor<?x96xf8E4M3FN>, %s: tensor<?x4xf32>, %o: tensor<?x96xbf16>) {
  // expected-error @+1 {{schedule_rows_c3: groups of 24 elements do not match vectors of 16 and steps of 32}}
  %0 = dsv4.kernel @k(%d, %s, %o) schedule <threads = 128, parts = [#dsv4.rows<lanes = 2, vector = 16>]>
      : (tensor<?x96xf8E4M3FN>, tensor<?x4xf32>, tensor<?x96xbf16>) -> tensor<?x96xbf16> {
  ^bb0(%d1: tensor<?x96xf8E4M3FN>, %s1: tensor<?x4xf32>, %o1: tensor<?x96xbf16>):
    %r = dsv4.dequantize %d1 scales(%s1 : tensor<?x4xf32>) outs(%o1 : tensor<?x96xbf16>)
        {format = #dsv4.format<f8E4M3FN, [<f32 per 24>]>} : tensor<?x96xf8E4M3FN>
    dsv4.yield %r : tensor<?x96xbf16>
  }
  return
}

// -----

func.func @schedule_c5_no_window(%v: tensor<?x96xf32>, %p: tensor<?x4xi32>, %o: tensor<?x96xf32>) {
  // expected-error @+1 {{schedule_c5: 'dsv4.compress' needs a part #dsv4.window<...>, which the schedule does not have}}
  %0 = dsv4.kernel @k(%v, %p, %o) schedule <threads = 128, parts = [#dsv4.rows<lanes = 8, vector = 4>]>
      : (tensor<?x96xf32>, tensor<?x4xi32>, tensor<?x96xf32>) -> tensor<?x96xf32> {
  ^bb0(%v1: tensor<?x96xf32>, %p1: tensor<?x4xi32>, %o1: tensor<?x96xf32>):
    %r = dsv4.compress %v1, %v1 window 4 plan(%p1 : tensor<?x4xi32>) outs(%o1 : tensor<?x96xf32>)
        : tensor<?x96xf32>, tensor<?x96xf32>
    dsv4.yield %r : tensor<?x96xf32>
  }
  return
}

// -----

func.func @schedule_window_c1_divides(%v: tensor<?x36xf32>, %p: tensor<?x4xi32>, %o: tensor<?x36xf32>) {
  // expected-error @+1 {{schedule_window_c1: expected 'elements' to divide the 36 elements of the rows of a window, got 8 (of 'dsv4.compress')}}
  %0 = dsv4.kernel @k(%v, %p, %o) schedule <threads = 128, parts = [#dsv4.rows<lanes = 4, vector = 1>, #dsv4.window<elements = 8>]>
      : (tensor<?x36xf32>, tensor<?x4xi32>, tensor<?x36xf32>) -> tensor<?x36xf32> {
  ^bb0(%v1: tensor<?x36xf32>, %p1: tensor<?x4xi32>, %o1: tensor<?x36xf32>):
    %r = dsv4.compress %v1, %v1 window 4 plan(%p1 : tensor<?x4xi32>) outs(%o1 : tensor<?x36xf32>)
        : tensor<?x36xf32>, tensor<?x36xf32>
    dsv4.yield %r : tensor<?x36xf32>
  }
  return
}

// -----

// The schedule is compared with ops that are known to be right.
func.func @schedule_of_invalid_op(%d: tensor<f8E4M3FN>, %o: tensor<bf16>) {
  %0 = dsv4.kernel @k(%d, %o) schedule <threads = 128, parts = [#dsv4.rows<lanes = 2, vector = 16>]>
      : (tensor<f8E4M3FN>, tensor<bf16>) -> tensor<bf16> {
  ^bb0(%d1: tensor<f8E4M3FN>, %o1: tensor<bf16>):
    // expected-error @+1 {{dequantize_c1: }}
    %r = dsv4.dequantize %d1 outs(%o1 : tensor<bf16>) {format = #dsv4.format<f8E4M3FN>}
        : tensor<f8E4M3FN>
    dsv4.yield %r : tensor<bf16>
  }
  return
}

// -----

//===----------------------------------------------------------------------===//
// paged_gather
//===----------------------------------------------------------------------===//

func.func @paged_gather_c1(%c: !dsv4.cache<64 x <v4_584>>, %i: tensor<2x3x4xi32>, %o: tensor<2x3x4x512xbf16>) {
  // expected-error @+1 {{paged_gather_c1: expected 'indices' of rank 1 or 2, got 'tensor<2x3x4xi32>'}}
  %0 = dsv4.paged_gather %c[%i] outs(%o : tensor<2x3x4x512xbf16>)
      : !dsv4.cache<64 x <v4_584>>, tensor<2x3x4xi32>
  return
}

// -----

func.func @paged_gather_c1_unranked(%c: !dsv4.cache<64 x <v4_584>>, %i: tensor<*xi32>, %o: tensor<?x512xbf16>) {
  // expected-error @+1 {{paged_gather_c1: expected 'indices' of rank 1 or 2, got 'tensor<*xi32>'}}
  %0 = dsv4.paged_gather %c[%i] outs(%o : tensor<?x512xbf16>)
      : !dsv4.cache<64 x <v4_584>>, tensor<*xi32>
  return
}

// -----

func.func @paged_gather_c2(%c: !dsv4.cache<64 x <v4_584>>, %i: tensor<?xi32>, %o: tensor<?x576xbf16>) {
  // expected-error @+1 {{paged_gather_c2: expected 'outs' of the shape of 'indices' and a last extent of 512, got 'tensor<?x576xbf16>'}}
  %0 = dsv4.paged_gather %c[%i] outs(%o : tensor<?x576xbf16>)
      : !dsv4.cache<64 x <v4_584>>, tensor<?xi32>
  return
}

// -----

func.func @paged_gather_c2_rows(%c: !dsv4.cache<64 x <v4_584>>, %i: tensor<8xi32>, %o: tensor<9x512xbf16>) {
  // expected-error @+1 {{paged_gather_c2: }}
  %0 = dsv4.paged_gather %c[%i] outs(%o : tensor<9x512xbf16>)
      : !dsv4.cache<64 x <v4_584>>, tensor<8xi32>
  return
}

// -----

func.func @paged_gather_c2_dynamic(%c: !dsv4.cache<64 x <v4_584>>, %i: tensor<?xi32>, %o: tensor<?x?xbf16>) {
  // expected-error @+1 {{paged_gather_c2: }}
  %0 = dsv4.paged_gather %c[%i] outs(%o : tensor<?x?xbf16>)
      : !dsv4.cache<64 x <v4_584>>, tensor<?xi32>
  return
}

// -----

func.func @paged_gather_c2_type(%c: !dsv4.cache<64 x <v4_584>>, %i: tensor<?xi32>, %o: tensor<?x512xf64>) {
  // expected-error @+1 {{operand #2 must be 'out', a tensor of bfloat16 type or 16-bit float or 32-bit float values}}
  %0 = dsv4.paged_gather %c[%i] outs(%o : tensor<?x512xf64>)
      : !dsv4.cache<64 x <v4_584>>, tensor<?xi32>
  return
}

// -----

func.func @paged_gather_c3(%c: !dsv4.cache<64 x <v4_584>>, %i: tensor<?x?xi32>, %t: tensor<?xi32>, %o: tensor<?x?x512xbf16>) {
  // expected-error @+1 {{paged_gather_c3: expected 'pages' of the rank of 'indices', of rank 2 with one row per token (with 'requests', one per request), got 'tensor<?xi32>'}}
  %0 = dsv4.paged_gather %c[%i] pages(%t : tensor<?xi32>) outs(%o : tensor<?x?x512xbf16>)
      : !dsv4.cache<64 x <v4_584>>, tensor<?x?xi32>
  return
}

// -----

func.func @paged_gather_c3_tokens(%c: !dsv4.cache<64 x <v4_584>>, %i: tensor<4x8xi32>, %t: tensor<5x2xi32>, %o: tensor<4x8x512xbf16>) {
  // expected-error @+1 {{paged_gather_c3: }}
  %0 = dsv4.paged_gather %c[%i] pages(%t : tensor<5x2xi32>) outs(%o : tensor<4x8x512xbf16>)
      : !dsv4.cache<64 x <v4_584>>, tensor<4x8xi32>
  return
}

// -----

func.func @paged_gather_c4(%c: !dsv4.cache<64 x <v4_584>>, %i: tensor<?x?xi32>, %r: tensor<?xi32>, %o: tensor<?x?x512xbf16>) {
  // expected-error @+1 {{paged_gather_c4: expected 'requests' of shape [tokens] beside a page table of rank 2, got 'tensor<?xi32>'}}
  %0 = dsv4.paged_gather %c[%i] requests(%r : tensor<?xi32>) outs(%o : tensor<?x?x512xbf16>)
      : !dsv4.cache<64 x <v4_584>>, tensor<?x?xi32>
  return
}

// -----

func.func @paged_gather_c4_tokens(%c: !dsv4.cache<64 x <v4_584>>, %i: tensor<4x8xi32>, %t: tensor<5x2xi32>, %r: tensor<3xi32>, %o: tensor<4x8x512xbf16>) {
  // expected-error @+1 {{paged_gather_c4: }}
  %0 = dsv4.paged_gather %c[%i] pages(%t : tensor<5x2xi32>) requests(%r : tensor<3xi32>) outs(%o : tensor<4x8x512xbf16>)
      : !dsv4.cache<64 x <v4_584>>, tensor<4x8xi32>
  return
}

// -----

func.func @paged_gather_c5(%c: !dsv4.cache<64 x <v4_584>>, %i: tensor<4x8xi32>, %l: tensor<5xi32>, %o: tensor<4x8x512xbf16>) {
  // expected-error @+1 {{paged_gather_c5: expected 'lengths' of shape [4], one per token, got 'tensor<5xi32>'}}
  %0 = dsv4.paged_gather %c[%i] lengths(%l : tensor<5xi32>) outs(%o : tensor<4x8x512xbf16>)
      : !dsv4.cache<64 x <v4_584>>, tensor<4x8xi32>
  return
}

// -----

func.func @paged_gather_c5_rank0(%c: !dsv4.cache<64 x <v4_584>>, %i: tensor<8xi32>, %l: tensor<8xi32>, %o: tensor<8x512xbf16>) {
  // expected-error @+1 {{paged_gather_c5: expected 'lengths' of shape [], got 'tensor<8xi32>'}}
  %0 = dsv4.paged_gather %c[%i] lengths(%l : tensor<8xi32>) outs(%o : tensor<8x512xbf16>)
      : !dsv4.cache<64 x <v4_584>>, tensor<8xi32>
  return
}

// -----

func.func @paged_gather_c6(%c: !dsv4.cache<64 x <v4_584>>, %i: tensor<8xi32>, %m: tensor<9xi1>, %o: tensor<8x512xbf16>) {
  // expected-error @+1 {{paged_gather_c6: expected 'mask' of the shape of 'indices', got 'tensor<9xi1>'}}
  %0:2 = dsv4.paged_gather %c[%i] outs(%o : tensor<8x512xbf16>) mask(%m : tensor<9xi1>)
      : !dsv4.cache<64 x <v4_584>>, tensor<8xi32>
  return
}

// -----

//===----------------------------------------------------------------------===//
// dequantize
//===----------------------------------------------------------------------===//

func.func @dequantize_c1(%d: tensor<4x32xf8E4M3FN>, %s: tensor<4x2xf8E4M3FN>, %o: tensor<4x32xbf16>) {
  // expected-error @+1 {{dequantize_c1: expected 'data' of 'f4E2M1FN' with a constant last extent between 1 and 65536, got 'tensor<4x32xf8E4M3FN>'}}
  %0 = dsv4.dequantize %d scales(%s : tensor<4x2xf8E4M3FN>) outs(%o : tensor<4x32xbf16>)
      {format = #dsv4.format<f4E2M1FN, [<f8E4M3FN per 16>]>} : tensor<4x32xf8E4M3FN>
  return
}

// -----

func.func @dequantize_c1_dynamic(%d: tensor<4x?xf4E2M1FN>, %s: tensor<4x2xf8E4M3FN>, %o: tensor<4x32xbf16>) {
  // expected-error @+1 {{dequantize_c1: }}
  %0 = dsv4.dequantize %d scales(%s : tensor<4x2xf8E4M3FN>) outs(%o : tensor<4x32xbf16>)
      {format = #dsv4.format<f4E2M1FN, [<f8E4M3FN per 16>]>} : tensor<4x?xf4E2M1FN>
  return
}

// -----

func.func @dequantize_c1_rank(%d: tensor<f4E2M1FN>, %s: tensor<f32>, %o: tensor<bf16>) {
  // expected-error @+1 {{dequantize_c1: }}
  %0 = dsv4.dequantize %d scales(%s : tensor<f32>) outs(%o : tensor<bf16>)
      {format = #dsv4.format<f4E2M1FN, [<f32 per row>]>} : tensor<f4E2M1FN>
  return
}

// -----

func.func @dequantize_c2(%d: tensor<4x32xf4E2M1FN>, %s: tensor<4x2xf8E4M3FN>, %o: tensor<4x32xbf16>) {
  // expected-error @+1 {{dequantize_c2: expected 2 scale operands, one per level of the format, got 1}}
  %0 = dsv4.dequantize %d scales(%s : tensor<4x2xf8E4M3FN>) outs(%o : tensor<4x32xbf16>)
      {format = #dsv4.format<f4E2M1FN, [<f8E4M3FN per 16>, <f32 per row>]>} : tensor<4x32xf4E2M1FN>
  return
}

// -----

func.func @dequantize_c2_type(%d: tensor<4x32xf4E2M1FN>, %s: tensor<4x2xf8E8M0FNU>, %o: tensor<4x32xbf16>) {
  // expected-error @+1 {{dequantize_c2: expected scale operand 0 of 'f8E4M3FN', got 'tensor<4x2xf8E8M0FNU>'}}
  %0 = dsv4.dequantize %d scales(%s : tensor<4x2xf8E8M0FNU>) outs(%o : tensor<4x32xbf16>)
      {format = #dsv4.format<f4E2M1FN, [<f8E4M3FN per 16>]>} : tensor<4x32xf4E2M1FN>
  return
}

// -----

func.func @dequantize_c3(%d: tensor<4x32xf4E2M1FN>, %s: tensor<4x3xf8E4M3FN>, %o: tensor<4x32xbf16>) {
  // expected-error @+1 {{dequantize_c3: expected scale operand 0 of shape [4, 2], got 'tensor<4x3xf8E4M3FN>'}}
  %0 = dsv4.dequantize %d scales(%s : tensor<4x3xf8E4M3FN>) outs(%o : tensor<4x32xbf16>)
      {format = #dsv4.format<f4E2M1FN, [<f8E4M3FN per 16>]>} : tensor<4x32xf4E2M1FN>
  return
}

// -----

// No launch compares the number of groups with anything: it is a constant of the type.
func.func @dequantize_c3_groups(%d: tensor<?x32xf4E2M1FN>, %s: tensor<?x?xf8E4M3FN>, %o: tensor<?x32xbf16>) {
  // expected-error @+1 {{dequantize_c3: expected scale operand 0 of shape [?, 2], got 'tensor<?x?xf8E4M3FN>'}}
  %0 = dsv4.dequantize %d scales(%s : tensor<?x?xf8E4M3FN>) outs(%o : tensor<?x32xbf16>)
      {format = #dsv4.format<f4E2M1FN, [<f8E4M3FN per 16>]>} : tensor<?x32xf4E2M1FN>
  return
}

// -----

func.func @dequantize_c3_tensor(%d: tensor<?x32xf4E2M1FN>, %s: tensor<?x2xf8E4M3FN>, %g: tensor<?xf32>, %o: tensor<?x32xbf16>) {
  // expected-error @+1 {{dequantize_c3: expected scale operand 1 of shape [1], got 'tensor<?xf32>'}}
  %0 = dsv4.dequantize %d scales(%s, %g : tensor<?x2xf8E4M3FN>, tensor<?xf32>) outs(%o : tensor<?x32xbf16>)
      {format = #dsv4.format<f4E2M1FN, [<f8E4M3FN per 16>, <f32 per tensor>]>} : tensor<?x32xf4E2M1FN>
  return
}

// -----

func.func @dequantize_c3_divides(%d: tensor<?x40xf4E2M1FN>, %s: tensor<?x2xf8E4M3FN>, %o: tensor<?x40xbf16>) {
  // expected-error @+1 {{dequantize_c3: the group 16 of scale operand 0 does not divide the last extent 40 of 'data'}}
  %0 = dsv4.dequantize %d scales(%s : tensor<?x2xf8E4M3FN>) outs(%o : tensor<?x40xbf16>)
      {format = #dsv4.format<f4E2M1FN, [<f8E4M3FN per 16>]>} : tensor<?x40xf4E2M1FN>
  return
}

// -----

func.func @dequantize_c3_row(%d: tensor<?x32xf4E2M1FN>, %s: tensor<?x1xf32>, %o: tensor<?x32xbf16>) {
  // expected-error @+1 {{dequantize_c3: expected scale operand 0 of shape [?], got 'tensor<?x1xf32>'}}
  %0 = dsv4.dequantize %d scales(%s : tensor<?x1xf32>) outs(%o : tensor<?x32xbf16>)
      {format = #dsv4.format<f4E2M1FN, [<f32 per row>]>} : tensor<?x32xf4E2M1FN>
  return
}

// -----

func.func @dequantize_c3_tensor(%d: tensor<?x32xf4E2M1FN>, %s: tensor<f32>, %o: tensor<?x32xbf16>) {
  // expected-error @+1 {{dequantize_c3: expected scale operand 0 of shape [1], got 'tensor<f32>'}}
  %0 = dsv4.dequantize %d scales(%s : tensor<f32>) outs(%o : tensor<?x32xbf16>)
      {format = #dsv4.format<f4E2M1FN, [<f32 per tensor>]>} : tensor<?x32xf4E2M1FN>
  return
}

// -----

func.func @dequantize_c4(%d: tensor<4x32xf4E2M1FN>, %s: tensor<4xf32>, %o: tensor<5x32xbf16>) {
  // expected-error @+1 {{dequantize_c4: expected 'outs' of the shape of 'data', got 'tensor<5x32xbf16>'}}
  %0 = dsv4.dequantize %d scales(%s : tensor<4xf32>) outs(%o : tensor<5x32xbf16>)
      {format = #dsv4.format<f4E2M1FN, [<f32 per row>]>} : tensor<4x32xf4E2M1FN>
  return
}

// -----

func.func @dequantize_c5(%d: tensor<4x31xf4E2M1FN>, %s: tensor<4xf32>, %o: tensor<4x31xbf16>) {
  // expected-error @+1 {{dequantize_c5: expected 4-bit 'data' with an even last extent, got 'tensor<4x31xf4E2M1FN>'}}
  %0 = dsv4.dequantize %d scales(%s : tensor<4xf32>) outs(%o : tensor<4x31xbf16>)
      {format = #dsv4.format<f4E2M1FN, [<f32 per row>]>} : tensor<4x31xf4E2M1FN>
  return
}

// -----

//===----------------------------------------------------------------------===//
// kernel, yield
//===----------------------------------------------------------------------===//

func.func @kernel_c1(%o: tensor<4x8xf32>) {
  // expected-error @+1 {{kernel_c1: expected the block arguments to have the types of the operands}}
  dsv4.kernel @k(%o) : (tensor<4x8xf32>) -> () {
  ^bb0(%o1: tensor<4x9xf32>):
  }
  return
}

// -----

func.func @kernel_c1_number(%o: tensor<4x8xf32>) {
  // expected-error @+1 {{kernel_c1: }}
  dsv4.kernel @k(%o) : (tensor<4x8xf32>) -> () {
  }
  return
}

// -----

func.func @rows_of(%o: tensor<4x8xf32>) {
  // expected-error @+1 {{expects 'dsv4.rows_of' to be the i64 number of an operand that is a tensor of rows}}
  dsv4.kernel @k(%o) attributes {dsv4.rows_of = 1 : i64} : (tensor<4x8xf32>) -> () {
  ^bb0(%o1: tensor<4x8xf32>):
  }
  return
}

// -----

func.func @axes_of_rows(%o: tensor<4x8xf32>) {
  // expected-error @+1 {{expects 'dsv4.rows_of' to be the i64 number of an operand that is a tensor of rows, or an array of it and of the number of their axes}}
  dsv4.kernel @k(%o) attributes {dsv4.rows_of = array<i64: 0, 3>} : (tensor<4x8xf32>) -> () {
  ^bb0(%o1: tensor<4x8xf32>):
  }
  return
}

// -----

func.func @axes_of_rows_of_no_operand(%o: tensor<4x8xf32>) {
  // expected-error @+1 {{expects 'dsv4.rows_of' to be}}
  dsv4.kernel @k(%o) attributes {dsv4.rows_of = array<i64: 1, 1>} : (tensor<4x8xf32>) -> () {
  ^bb0(%o1: tensor<4x8xf32>):
  }
  return
}

// -----

func.func @kernel_c2_terminator(%o: tensor<4x8xf32>) {
  // expected-error @+1 {{kernel_c2: expected the yielded values to have the types of the results}}
  %0 = dsv4.kernel @k(%o) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
  ^bb0(%o1: tensor<4x8xf32>):
    tensor.yield %o1 : tensor<4x8xf32>
  }
  return
}

// -----

func.func @kernel_c5(%o: tensor<4x8xf32>) {
  // expected-error @+1 {{kernel_c5: 'k(){}_int pwn' cannot be the name of a kernel: expected an identifier of at most 128 characters that CUDA C++ does not reserve}}
  dsv4.kernel @"k(){}\0Aint pwn"(%o) : (tensor<4x8xf32>) -> () {
  ^bb0(%o1: tensor<4x8xf32>):
  }
  return
}

// -----

func.func @kernel_c5_reserved(%o: tensor<4x8xf32>) {
  // expected-error @+1 {{kernel_c5: }}
  dsv4.kernel @while(%o) : (tensor<4x8xf32>) -> () {
  ^bb0(%o1: tensor<4x8xf32>):
  }
  return
}

// -----

func.func @kernel_c2(%o: tensor<4x8xf32>) {
  // expected-error @+1 {{kernel_c2: expected the yielded values to have the types of the results}}
  %0 = dsv4.kernel @k(%o) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
  ^bb0(%o1: tensor<4x8xf32>):
  }
  return
}

// -----

func.func @kernel_isolated(%o: tensor<4x8xf32>) {
  // expected-note @+1 {{required by region isolation constraints}}
  %0 = dsv4.kernel @k() : () -> tensor<4x8xf32> {
    // expected-error @+1 {{using value defined outside the region}}
    dsv4.yield %o : tensor<4x8xf32>
  }
  return
}

// -----

func.func @yield(%o: tensor<4x8xf32>) {
  // expected-error @+1 {{'dsv4.yield' op expects parent op 'dsv4.kernel'}}
  dsv4.yield %o : tensor<4x8xf32>
}

// -----

func.func @workspace_c1() {
  // expected-error @+1 {{workspace_c1: expected a positive multiple of 16 bytes per row below 2^31, got 24}}
  %0 = dsv4.workspace 24 : memref<?xi8>
  return
}

// -----

func.func @workspace_c1_zero() {
  // expected-error @+1 {{workspace_c1: expected a positive multiple of 16 bytes per row below 2^31, got 0}}
  %0 = dsv4.workspace 0 : memref<?xi8>
  return
}

// -----

func.func @workspace_c1_large() {
  // expected-error @+1 {{workspace_c1: expected a positive multiple of 16 bytes per row below 2^31, got 2147483648}}
  %0 = dsv4.workspace 2147483648 : memref<?xi8>
  return
}

// -----

//===----------------------------------------------------------------------===//
// buffer, extent
//===----------------------------------------------------------------------===//

func.func @buffer_c1(%t: tensor<4x8xbf16>) {
  // expected-error @+1 {{buffer_c1: expected a memref of the tensor's element type, got 'memref<?xf32>'}}
  %0 = dsv4.buffer %t : tensor<4x8xbf16> to memref<?xf32>
  return
}

// -----

func.func @buffer_c1_bytes(%t: tensor<4x8xf4E2M1FN>) {
  // expected-error @+1 {{buffer_c1: expected a memref of i8, got 'memref<?xf4E2M1FN>'}}
  %0 = dsv4.buffer %t : tensor<4x8xf4E2M1FN> to memref<?xf4E2M1FN>
  return
}

// -----

func.func @buffer_c1_cache(%c: !dsv4.cache<64 x <v4_584>>) {
  // expected-error @+1 {{buffer_c1: expected a memref of i8, got 'memref<?xbf16>'}}
  %0 = dsv4.buffer %c : !dsv4.cache<64 x <v4_584>> to memref<?xbf16>
  return
}

// -----

func.func @buffer_c1_rank(%t: tensor<4x8xbf16>) {
  // expected-error @+1 {{result #0 must be 1D memref of any type values, but got 'memref<4x8xbf16>'}}
  %0 = dsv4.buffer %t : tensor<4x8xbf16> to memref<4x8xbf16>
  return
}

// -----

func.func @buffer_c2(%c: !dsv4.cache<64 x <v4_584>>) {
  // expected-error @+1 {{buffer_c2: the record has no array field 'rope'}}
  %0 = dsv4.buffer %c["rope"] : !dsv4.cache<64 x <v4_584>> to memref<?xi8>
  return
}

// -----

func.func @buffer_c2_tensor(%t: tensor<4x8xbf16>) {
  // expected-error @+1 {{buffer_c2: only a cache has fields}}
  %0 = dsv4.buffer %t["rope"] : tensor<4x8xbf16> to memref<?xbf16>
  return
}

// -----

func.func @extent_c1(%t: tensor<4x8xbf16>) {
  // expected-error @+1 {{extent_c1: axis 2 is outside an operand of rank 2}}
  %0 = dsv4.extent %t, 2 : tensor<4x8xbf16>
  return
}

// -----

func.func @extent_c1_cache(%c: !dsv4.cache<64 x <v4_584>>) {
  // expected-error @+1 {{extent_c1: axis 1 is outside an operand of rank 1}}
  %0 = dsv4.extent %c, 1 : !dsv4.cache<64 x <v4_584>>
  return
}

// -----

func.func @extent_c1_negative(%t: tensor<4x8xbf16>) {
  // expected-error @+1 {{extent_c1: axis -1 is outside an operand of rank 2}}
  %0 = dsv4.extent %t, -1 : tensor<4x8xbf16>
  return
}

// -----

//===----------------------------------------------------------------------===//
// Attributes of functions and their arguments
//===----------------------------------------------------------------------===//

// expected-error @+1 {{expects 'dsv4.policies' to be a dictionary from dim to value}}
func.func private @policies() attributes {dsv4.policies = 1}

// -----

// expected-error @+1 {{expects 'dsv4.policies' of dim 'k' to be a #dsv4.policy}}
func.func private @policy() attributes {dsv4.policies = {k = 1}}

// -----

// expected-error @+1 {{expects 'dsv4.bounds' of dim 'k' to be an integer}}
func.func private @bounds() attributes {dsv4.bounds = {k = #dsv4.policy<exact>}}

// -----

// expected-error @+1 {{expects 'dsv4.name' of argument 0 to be a string that begins with a letter or '_' and goes on with letters, digits and '_', got ""}}
func.func private @name(tensor<4xi32> {dsv4.name = ""})

// -----

// expected-error @+1 {{expects distinct argument names, 'a' is used twice}}
func.func private @names(tensor<4xi32> {dsv4.name = "a"}, tensor<4xi32> {dsv4.name = "a"})

// -----

// expected-error @+1 {{expects 'dsv4.dims' of argument 0 ('arg0') to name every axis of the tensor, with "" for none: expected 2 names, got 1}}
func.func private @dims(tensor<4x8xi32> {dsv4.dims = ["k"]})

// -----

// expected-error @+1 {{expects 'dsv4.dims' of argument 0 ('arg0') to hold names that begin with a letter or '_' and go on with letters, digits, '_' and '.', got "a b"}}
func.func private @dims_of_letters(tensor<4xi32> {dsv4.dims = ["a b"]})

// -----

// expected-error @+1 {{expects 'dsv4.dims' of argument 0 ('arg0') to hold names that begin with a letter or '_' and go on with letters, digits, '_' and '.', got "."}}
func.func private @dims_of_one_dot(tensor<4xi32> {dsv4.dims = ["."]})

// -----

// expected-error @+1 {{expects 'dsv4.dims' of argument 0 ('arg0') to hold names that begin with a letter or '_' and go on with letters, digits, '_' and '.', got ".."}}
func.func private @dims_of_dots(tensor<4xi32> {dsv4.dims = [".."]})

// -----

// expected-error @+1 {{expects 'dsv4.dims' of argument 0 ('arg0') to hold names that begin with a letter or '_' and go on with letters, digits, '_' and '.', got ".a"}}
func.func private @dims_after_a_dot(tensor<4xi32> {dsv4.dims = [".a"]})

// -----

// expected-error @+1 {{expects 'dsv4.dims' of argument 0 ('cu_seq_lens') to hold names that begin with a letter or '_' and go on with letters, digits, '_' and '.', got "requests+1"}}
func.func private @dims_that_compute(tensor<4xi32> {dsv4.name = "cu_seq_lens", dsv4.dims = ["requests+1"]})

// -----

// expected-error @+1 {{expects 'dsv4.dims' of argument 0 ('arg0') to be an array of strings, a name for every axis of the tensor, with "" for none, got [1]}}
func.func private @dims_of_numbers(tensor<4xi32> {dsv4.dims = [1]})

// -----

// expected-error @+1 {{expects distinct argument names, 'arg0' is used twice}}
func.func private @name_of_another(tensor<4xi32>, tensor<4xi32> {dsv4.name = "arg0"})

// -----

// expected-error @+1 {{expects 'dsv4.dims' of argument 0 ('arg0') to be of a tensor with axes, got '!dsv4.cache<64 x }}
func.func private @dims_of_cache(!dsv4.cache<64 x <v4_584>> {dsv4.dims = ["k"]})

// -----

// expected-error @+1 {{has no argument attribute 'dsv4.nmae', the nearest is 'dsv4.name' of an argument}}
func.func private @unknown(tensor<4xi32> {dsv4.nmae = "a"})

// -----

// expected-error @+1 {{record_c2: 's' scales 'p', which is not an earlier data field}}
#record_c2_metadata = #dsv4.record<[<"a" : 2 x bf16 in row>, <"p" : 1 x i32 in row>, <"s" : 1 x f32 in row scales "p" per row>]>

// -----

// expected-error @+1 {{record_c1: a record needs a data field}}
#record_c1_metadata = #dsv4.record<[<"p" : 1 x i32 in row>]>

// -----

// expected-error @+1 {{expected field 's' to hold f8E8M0FNU, f8E4M3FN, bf16, f16 or f32 scales, got 'i32'}}
#factor_i32 = #dsv4.record<[<"a" : 2 x bf16 in row>, <"s" : 1 x i32 in row scales "a" per row>]>

// -----

func.func @schedule_c6(%v: tensor<?x1024xf32>, %p: tensor<?x4xi32>, %o: tensor<?x1024xf32>) -> tensor<?x1024xf32> {
  // expected-error @+1 {{schedule_c6: the parts of the schedule take 69632 bytes of static shared memory (#dsv4.window 69632), and a block has 49152; expected fewer rows per block}}
  %0 = dsv4.kernel @k(%v, %p, %o) schedule <threads = 512, parts = [#dsv4.rows<lanes = 32, vector = 2>, #dsv4.window<elements = 2, rows = 16>]>
      : (tensor<?x1024xf32>, tensor<?x4xi32>, tensor<?x1024xf32>) -> tensor<?x1024xf32> {
  ^bb0(%v_: tensor<?x1024xf32>, %p_: tensor<?x4xi32>, %o_: tensor<?x1024xf32>):
    %1 = dsv4.compress %v_, %v_ window 4 plan(%p_ : tensor<?x4xi32>)
        outs(%o_ : tensor<?x1024xf32>) : tensor<?x1024xf32>, tensor<?x1024xf32>
    dsv4.yield %1 : tensor<?x1024xf32>
  }
  return %0 : tensor<?x1024xf32>
}

// -----

func.func @schedule_window_c4(%v: tensor<?x1031xf32>, %p: tensor<?x4xi32>, %o: tensor<?x1031xf32>) -> tensor<?x1031xf32> {
  // expected-error @+1 {{schedule_window_c4: 512 threads cannot share a row of 1031 elements evenly: one would have 1031 of them, more than 16 (of 'dsv4.compress')}}
  %0 = dsv4.kernel @k(%v, %p, %o) schedule <threads = 512, parts = [#dsv4.rows<lanes = 1, vector = 1>, #dsv4.window<elements = 1>]>
      : (tensor<?x1031xf32>, tensor<?x4xi32>, tensor<?x1031xf32>) -> tensor<?x1031xf32> {
  ^bb0(%v_: tensor<?x1031xf32>, %p_: tensor<?x4xi32>, %o_: tensor<?x1031xf32>):
    %1 = dsv4.compress %v_, %v_ window 4 plan(%p_ : tensor<?x4xi32>)
        outs(%o_ : tensor<?x1031xf32>) : tensor<?x1031xf32>, tensor<?x1031xf32>
    dsv4.yield %1 : tensor<?x1031xf32>
  }
  return %0 : tensor<?x1031xf32>
}

// -----

// expected-error @+1 {{expected metadata field 'p' to have at most 64 elements, got 65}}
#metadata_extent = #dsv4.record<[<"a" : 2 x bf16 in row>, <"p" : 65 x i32 in row>]>

// -----

// expected-error @+1 {{policy_c1: expected 'multiple' to be a power of two between 1 and 4096, and 1 with 'exact', got 3}}
func.func private @policy_c1() attributes {dsv4.policies = {k = #dsv4.policy<bucket, multiple = 3>}}

// -----

// expected-error @+1 {{policy_c1: expected 'multiple' to be a power of two between 1 and 4096, and 1 with 'exact', got 4}}
func.func private @policy_c1_exact() attributes {dsv4.policies = {k = #dsv4.policy<exact, multiple = 4>}}

// -----

// expected-error @+1 {{policy_c1: expected 'multiple' to be a power of two between 1 and 4096, and 1 with 'exact', got 8192}}
func.func private @policy_c1_most() attributes {dsv4.policies = {k = #dsv4.policy<bucket, multiple = 8192>}}

// -----

// expected-error @+1 {{policy_c1: expected 'multiple' to be a power of two between 1 and 4096, and 1 with 'exact', got 0}}
func.func private @policy_c1_none() attributes {dsv4.policies = {k = #dsv4.policy<dynamic, multiple = 0>}}

// -----

func.func @schedule_c5_unused(%x: tensor<?x64xf32>, %o: tensor<?x64xf32>) -> tensor<?x64xf32> {
  // expected-error @+1 {{schedule_c5: no op of the kernel needs the part #dsv4.window<...> of the schedule; remove it}}
  %0 = dsv4.kernel @k(%x, %o) schedule <threads = 128, parts = [#dsv4.rows<lanes = 8, vector = 4>, #dsv4.window<elements = 2>]>
      : (tensor<?x64xf32>, tensor<?x64xf32>) -> tensor<?x64xf32> {
  ^bb0(%x1: tensor<?x64xf32>, %o1: tensor<?x64xf32>):
    %r = dsv4.gate %x1 function sigmoid outs(%o1 : tensor<?x64xf32>) : tensor<?x64xf32>
    dsv4.yield %r : tensor<?x64xf32>
  }
  return %0 : tensor<?x64xf32>
}

// -----

func.func @schedule_c5_no_rows(%x: tensor<?x64xf32>, %o: tensor<?x64xf32>) -> tensor<?x64xf32> {
  // expected-error @+1 {{schedule_c5: no part of the schedule maps the rows of the kernel to threads; add #dsv4.rows<...>}}
  %0 = dsv4.kernel @k(%x, %o) schedule <threads = 128, parts = [#dsv4.select<algorithm = block, vector = 4>]>
      : (tensor<?x64xf32>, tensor<?x64xf32>) -> tensor<?x64xf32> {
  ^bb0(%x1: tensor<?x64xf32>, %o1: tensor<?x64xf32>):
    %r = dsv4.gate %x1 function sigmoid outs(%o1 : tensor<?x64xf32>) : tensor<?x64xf32>
    dsv4.yield %r : tensor<?x64xf32>
  }
  return %0 : tensor<?x64xf32>
}

// -----

func.func @schedule_window_c4_channels(%v: tensor<?x8200xf32>, %p: tensor<?x4xi32>, %o: tensor<?x8200xf32>) -> tensor<?x8200xf32> {
  // expected-error @+1 {{schedule_window_c4: a block reduces windows of rows of at most 8192 elements, got 8200}}
  %0 = dsv4.kernel @k(%v, %p, %o) schedule <threads = 1024, parts = [#dsv4.rows<lanes = 8, vector = 1>, #dsv4.window<elements = 8>]>
      : (tensor<?x8200xf32>, tensor<?x4xi32>, tensor<?x8200xf32>) -> tensor<?x8200xf32> {
  ^bb0(%v1: tensor<?x8200xf32>, %p1: tensor<?x4xi32>, %o1: tensor<?x8200xf32>):
    %r = dsv4.compress %v1, %v1 window 4 plan(%p1 : tensor<?x4xi32>)
        outs(%o1 : tensor<?x8200xf32>) : tensor<?x8200xf32>, tensor<?x8200xf32>
    dsv4.yield %r : tensor<?x8200xf32>
  }
  return %0 : tensor<?x8200xf32>
}

// -----

func.func @grid_c1(%o: tensor<?x8xf32>) {
  dsv4.kernel @k(%o) : (tensor<?x8xf32>) -> () {
  ^bb0(%o1: tensor<?x8xf32>):
    // expected-error @+1 {{grid_c1: expected one to three extents, got 0}}
    dsv4.grid
  }
  return
}

// -----

func.func @grid_c1_many(%o: tensor<?x8xf32>) {
  dsv4.kernel @k(%o) : (tensor<?x8xf32>) -> () {
  ^bb0(%o1: tensor<?x8xf32>):
    %n = dsv4.multiprocessors
    // expected-error @+1 {{grid_c1: expected one to three extents, got 4}}
    dsv4.grid %n, %n, %n, %n
  }
  return
}

// -----

func.func @grid_c1_second(%o: tensor<?x8xf32>) {
  dsv4.kernel @k(%o) : (tensor<?x8xf32>) -> () {
  ^bb0(%o1: tensor<?x8xf32>):
    %n = dsv4.multiprocessors
    dsv4.grid %n
    // expected-error @+1 {{grid_c1: is the second of its kernel: a launch has one grid, so expected one op with all extents}}
    dsv4.grid %n, %n
  }
  return
}

// -----

func.func @row_count_c1(%t: tensor<?x8xi32>) {
  // expected-error @+1 {{row_count_c1: expected 'per' between 1 and 65536, got 0}}
  %0 = dsv4.row_count %t per 0 : tensor<?x8xi32>
  return
}

// -----

func.func @row_count_c1_large(%t: tensor<?x8xi32>) {
  // expected-error @+1 {{row_count_c1: expected 'per' between 1 and 65536, got 65537}}
  %0 = dsv4.row_count %t per 65537 : tensor<?x8xi32>
  return
}

// -----

func.func @dequantize_c6_rank(%d: tensor<2x?x640xf8E4M3FN>, %s: tensor<5x?xf32>, %o: tensor<2x?x640xbf16>) {
  // expected-error @+1 {{dequantize_c6: expected 'data' of rank 2 with 'scales column_major', got 'tensor<2x?x640xf8E4M3FN>'}}
  %0 = dsv4.dequantize %d scales column_major(%s : tensor<5x?xf32>) outs(%o : tensor<2x?x640xbf16>)
      {format = #dsv4.format<f8E4M3FN, [<f32 per 128>]>} : tensor<2x?x640xf8E4M3FN>
  return
}

// -----

func.func @dequantize_c6_group(%d: tensor<?x640xf8E4M3FN>, %s: tensor<?xf32>, %o: tensor<?x640xbf16>) {
  // expected-error @+1 {{dequantize_c6: expected a first level of scales per group with 'scales column_major', got #dsv4.format<f8E4M3FN, [<f32 per row>]>}}
  %0 = dsv4.dequantize %d scales column_major(%s : tensor<?xf32>) outs(%o : tensor<?x640xbf16>)
      {format = #dsv4.format<f8E4M3FN, [<f32 per row>]>} : tensor<?x640xf8E4M3FN>
  return
}

// -----

func.func @dequantize_c6_packed(%d: tensor<?x640xf8E4M3FN>, %s: tensor<2x?xi32>, %o: tensor<?x640xbf16>) {
  // expected-error @+1 {{dequantize_c6: expected scales of f8E8M0FNU with 'scales packed', got 'f32'}}
  %0 = dsv4.dequantize %d scales packed(%s : tensor<2x?xi32>) outs(%o : tensor<?x640xbf16>)
      {format = #dsv4.format<f8E4M3FN, [<f32 per 128>]>} : tensor<?x640xf8E4M3FN>
  return
}

// -----

func.func @dequantize_c6_swizzle(%d: tensor<?x640xf8E4M3FN>, %s: tensor<?x8xf32>, %o: tensor<?x640xbf16>) {
  // expected-error @+1 {{dequantize_c6: expected scales of an 8-bit type with 'scales swizzle_8x4', got 'f32'}}
  %0 = dsv4.dequantize %d scales swizzle_8x4(%s : tensor<?x8xf32>) outs(%o : tensor<?x640xbf16>)
      {format = #dsv4.format<f8E4M3FN, [<f32 per 128>]>} : tensor<?x640xf8E4M3FN>
  return
}

// -----

func.func @dequantize_c6_bits(%d: tensor<?x640xi4>, %s: tensor<5x?xf16>, %o: tensor<?x640xbf16>) {
  // expected-error @+1 {{dequantize_c6: expected scales of 8 or 32 bits with 'scales column_major', got 'f16'}}
  %0 = dsv4.dequantize %d scales column_major(%s : tensor<5x?xf16>) outs(%o : tensor<?x640xbf16>)
      {format = #dsv4.format<i4, [<f16 per 128>]>} : tensor<?x640xi4>
  return
}

// -----

func.func @dequantize_c6_rows(%d: tensor<?x640xf8E4M3FN>, %s: tensor<12x8xf8E8M0FNU>, %o: tensor<?x640xbf16>) {
  // expected-error @+1 {{dequantize_c6: expected scales of a multiple of 8 rows, got 'tensor<12x8xf8E8M0FNU>'}}
  %0 = dsv4.dequantize %d scales swizzle_8x4(%s : tensor<12x8xf8E8M0FNU>) outs(%o : tensor<?x640xbf16>)
      {format = #dsv4.format<f8E4M3FN, [<f8E8M0FNU per 128>]>} : tensor<?x640xf8E4M3FN>
  return
}

// -----

func.func @dequantize_c3_layout(%d: tensor<?x640xf8E4M3FN>, %s: tensor<?x5xf8E8M0FNU>, %o: tensor<?x640xbf16>) {
  // expected-error @+1 {{dequantize_c3: expected scale operand 0 of shape [?, 8], got 'tensor<?x5xf8E8M0FNU>'}}
  %0 = dsv4.dequantize %d scales swizzle_128x4(%s : tensor<?x5xf8E8M0FNU>) outs(%o : tensor<?x640xbf16>)
      {format = #dsv4.format<f8E4M3FN, [<f8E8M0FNU per 128>]>} : tensor<?x640xf8E4M3FN>
  return
}

// -----

func.func @dequantize_c2_layout(%d: tensor<?x640xf8E4M3FN>, %s: tensor<2x?xf8E8M0FNU>, %o: tensor<?x640xbf16>) {
  // expected-error @+1 {{dequantize_c2: expected scale operand 0 of 'i32', got 'tensor<2x?xf8E8M0FNU>'}}
  %0 = dsv4.dequantize %d scales packed(%s : tensor<2x?xf8E8M0FNU>) outs(%o : tensor<?x640xbf16>)
      {format = #dsv4.format<f8E4M3FN, [<f8E8M0FNU per 128>]>} : tensor<?x640xf8E4M3FN>
  return
}
