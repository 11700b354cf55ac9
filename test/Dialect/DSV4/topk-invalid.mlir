// One case for every way to violate a clause of topk, and of schedules that select.

// RUN: dsv4-opt %s --split-input-file --verify-diagnostics

func.func @topk_c1_rank(%s: tensor<f32>, %i: tensor<8xi32>) {
  // expected-error @+1 {{topk_c1: expected 'scores' of rank at least 1 with between 1 and 4194304 elements per row, got 'tensor<f32>'}}
  %0 = dsv4.topk %s outs(%i : tensor<8xi32>) : tensor<f32>
  return
}

// -----

func.func @topk_c1_empty(%s: tensor<?x0xf32>, %i: tensor<?x8xi32>) {
  // expected-error @+1 {{topk_c1: expected 'scores' of rank at least 1 with between 1 and 4194304 elements per row, got 'tensor<?x0xf32>'}}
  %0 = dsv4.topk %s outs(%i : tensor<?x8xi32>) : tensor<?x0xf32>
  return
}

// -----

func.func @topk_c1_long(%s: tensor<?x4194305xf32>, %i: tensor<?x8xi32>) {
  // expected-error @+1 {{topk_c1: expected 'scores' of rank at least 1 with between 1 and 4194304 elements per row, got 'tensor<?x4194305xf32>'}}
  %0 = dsv4.topk %s outs(%i : tensor<?x8xi32>) : tensor<?x4194305xf32>
  return
}

// -----

func.func @topk_c2_k(%s: tensor<?x?xf32>, %i: tensor<?x0xi32>) {
  // expected-error @+1 {{topk_c2: expected 'indices' of the shape of 'scores' with a constant last extent k between 1 and 4096, the same of all destinations, got 'tensor<?x0xi32>'}}
  %0 = dsv4.topk %s outs(%i : tensor<?x0xi32>) : tensor<?x?xf32>
  return
}

// -----

func.func @topk_c2_many_k(%s: tensor<?x?xf32>, %i: tensor<?x4097xi32>) {
  // expected-error @+1 {{topk_c2: expected 'indices' of the shape of 'scores' with a constant last extent k between 1 and 4096, the same of all destinations, got 'tensor<?x4097xi32>'}}
  %0 = dsv4.topk %s outs(%i : tensor<?x4097xi32>) : tensor<?x?xf32>
  return
}

// -----

func.func @topk_c2_dynamic(%s: tensor<?x?xf32>, %i: tensor<?x?xi32>) {
  // expected-error @+1 {{topk_c2: expected 'indices' of the shape of 'scores' with a constant last extent k between 1 and 4096, the same of all destinations, got 'tensor<?x?xi32>'}}
  %0 = dsv4.topk %s outs(%i : tensor<?x?xi32>) : tensor<?x?xf32>
  return
}

// -----

func.func @topk_c2_rows(%s: tensor<4x?xf32>, %i: tensor<5x8xi32>) {
  // expected-error @+1 {{topk_c2: expected 'indices' of the shape of 'scores' with a constant last extent k between 1 and 4096, the same of all destinations, got 'tensor<5x8xi32>'}}
  %0 = dsv4.topk %s outs(%i : tensor<5x8xi32>) : tensor<4x?xf32>
  return
}

// -----

func.func @topk_c2_other_k(%s: tensor<?x?xf32>, %i: tensor<?x8xi32>, %v: tensor<?x9xf32>) {
  // expected-error @+1 {{topk_c2: expected 'values' of the shape of 'scores' with a constant last extent k between 1 and 4096, the same of all destinations, got 'tensor<?x9xf32>'}}
  %0, %1 = dsv4.topk %s outs(%i, %v : tensor<?x8xi32>, tensor<?x9xf32>) : tensor<?x?xf32>
  return
}

// -----

func.func @topk_c2_indices(%s: tensor<?x?xf32>, %i: tensor<?x8xf32>) {
  // expected-error @+1 {{topk_c2: expected 'indices' of i32, i64 or ui32, got 'tensor<?x8xf32>'}}
  %0 = dsv4.topk %s outs(%i : tensor<?x8xf32>) : tensor<?x?xf32>
  return
}

// -----

func.func @topk_c2_values(%s: tensor<?x?xf32>, %i: tensor<?x8xi32>, %v: tensor<?x8xbf16>) {
  // expected-error @+1 {{topk_c2: expected 'values' of the element type of 'scores' or f32, got 'tensor<?x8xbf16>'}}
  %0, %1 = dsv4.topk %s outs(%i, %v : tensor<?x8xi32>, tensor<?x8xbf16>) : tensor<?x?xf32>
  return
}

// -----

func.func @topk_c2_count(%s: tensor<?x?xf32>, %i: tensor<?x8xi32>) {
  // expected-error @+1 {{topk_c2: expected destinations of 'indices', optionally 'values', got 3; 'slots' need 'pages'}}
  %0, %1, %2 = dsv4.topk %s outs(%i, %i, %i : tensor<?x8xi32>, tensor<?x8xi32>, tensor<?x8xi32>) : tensor<?x?xf32>
  return
}

// -----

func.func @topk_c2_slots_without_pages(%s: tensor<?x?xf32>, %i: tensor<?x8xi32>, %p: tensor<?x8xi32>) {
  // expected-error @+1 {{topk_c2: expected 'values' of the element type of 'scores' or f32, got 'tensor<?x8xi32>'; 'slots' need 'pages'}}
  %0, %1 = dsv4.topk %s outs(%i, %p : tensor<?x8xi32>, tensor<?x8xi32>) : tensor<?x?xf32>
  return
}

// -----

func.func @topk_c6_slots_without_pages(%s: tensor<?x?xf32>, %r: tensor<?xi32>, %i: tensor<?x8xi32>, %p: tensor<?x8xi32>) {
  // expected-error @+1 {{topk_c6: 'requests' name rows of a page table: expected 'pages' with 'requests'}}
  %0, %1 = dsv4.topk %s requests(%r : tensor<?xi32>) outs(%i, %p : tensor<?x8xi32>, tensor<?x8xi32>) : tensor<?x?xf32>
  return
}

// -----

func.func @topk_c2_no_slots(%s: tensor<?x?xf32>, %t: tensor<?x?xi32>, %i: tensor<?x8xi32>) {
  // expected-error @+1 {{topk_c2: expected destinations of 'indices', optionally 'values', and 'slots', got 1}}
  %0 = dsv4.topk %s pages(%t : tensor<?x?xi32>) page 64 outs(%i : tensor<?x8xi32>) : tensor<?x?xf32>
  return
}

// -----

func.func @topk_c3(%s: tensor<4x?xf32>, %l: tensor<5xi32>, %i: tensor<4x8xi32>) {
  // expected-error @+1 {{topk_c3: expected 'lengths' of shape [4], got 'tensor<5xi32>'}}
  %0 = dsv4.topk %s lengths(%l : tensor<5xi32>) outs(%i : tensor<4x8xi32>) : tensor<4x?xf32>
  return
}

// -----

func.func @topk_c4(%s: tensor<4x64xf32>, %b: tensor<63xf32>, %i: tensor<4x8xi32>) {
  // expected-error @+1 {{topk_c4: expected 'bias' of shape [64], got 'tensor<63xf32>'}}
  %0 = dsv4.topk %s bias(%b : tensor<63xf32>) outs(%i : tensor<4x8xi32>) : tensor<4x64xf32>
  return
}

// -----

func.func @topk_c5_no_page(%s: tensor<?x?xf32>, %t: tensor<?x?xi32>, %i: tensor<?x8xi32>) {
  // expected-error @+1 {{topk_c5: expected a 'page' between 1 and 2^31 - 1 with 'pages', and none without them, got none}}
  %0, %1 = dsv4.topk %s pages(%t : tensor<?x?xi32>) outs(%i, %i : tensor<?x8xi32>, tensor<?x8xi32>) : tensor<?x?xf32>
  return
}

// -----

func.func @topk_c5_page(%s: tensor<?x?xf32>, %t: tensor<?x?xi32>, %i: tensor<?x8xi32>) {
  // expected-error @+1 {{topk_c5: expected a 'page' between 1 and 2^31 - 1 with 'pages', and none without them, got 0}}
  %0, %1 = dsv4.topk %s pages(%t : tensor<?x?xi32>) page 0 outs(%i, %i : tensor<?x8xi32>, tensor<?x8xi32>) : tensor<?x?xf32>
  return
}

// -----

func.func @topk_c5_negative(%s: tensor<?x?xf32>, %t: tensor<?x?xi32>, %i: tensor<?x8xi32>) {
  // expected-error @+1 {{topk_c5: expected a 'page' between 1 and 2^31 - 1 with 'pages', and none without them, got -64}}
  %0, %1 = dsv4.topk %s pages(%t : tensor<?x?xi32>) page -64 outs(%i, %i : tensor<?x8xi32>, tensor<?x8xi32>) : tensor<?x?xf32>
  return
}

// -----

func.func @topk_c5_large(%s: tensor<?x?xf32>, %t: tensor<?x?xi32>, %i: tensor<?x8xi32>) {
  // expected-error @+1 {{topk_c5: expected a 'page' between 1 and 2^31 - 1 with 'pages', and none without them, got 4611686018427387904}}
  %0, %1 = dsv4.topk %s pages(%t : tensor<?x?xi32>) page 4611686018427387904 outs(%i, %i : tensor<?x8xi32>, tensor<?x8xi32>) : tensor<?x?xf32>
  return
}

// -----

func.func @topk_c7_negative(%s: tensor<?x?xf32>, %l: tensor<?xi32>, %i: tensor<?x8xi32>) {
  // expected-error @+1 {{topk_c7: expected a 'ratio' between 1 and 2^31 - 1, got -4}}
  %0 = dsv4.topk %s lengths(%l : tensor<?xi32>) ratio -4 outs(%i : tensor<?x8xi32>) : tensor<?x?xf32>
  return
}

// -----

func.func @topk_c5_alone(%s: tensor<?x?xf32>, %i: tensor<?x8xi32>) {
  // expected-error @+1 {{topk_c5: expected a 'page' between 1 and 2^31 - 1 with 'pages', and none without them, got 64}}
  %0 = dsv4.topk %s page 64 outs(%i : tensor<?x8xi32>) : tensor<?x?xf32>
  return
}

// -----

func.func @topk_c5_rows(%s: tensor<4x?xf32>, %t: tensor<3x?xi32>, %i: tensor<4x8xi32>) {
  // expected-error @+1 {{topk_c5: expected 'pages' of shape [rows, pages], got 'tensor<3x?xi32>'}}
  %0, %1 = dsv4.topk %s pages(%t : tensor<3x?xi32>) page 64 outs(%i, %i : tensor<4x8xi32>, tensor<4x8xi32>) : tensor<4x?xf32>
  return
}

// -----

func.func @topk_c6_alone(%s: tensor<?x?xf32>, %r: tensor<?xi32>, %i: tensor<?x8xi32>) {
  // expected-error @+1 {{topk_c6: 'requests' name rows of a page table: expected 'pages' with 'requests'}}
  %0 = dsv4.topk %s requests(%r : tensor<?xi32>) outs(%i : tensor<?x8xi32>) : tensor<?x?xf32>
  return
}

// -----

func.func @topk_c6(%s: tensor<4x?xf32>, %t: tensor<?x?xi32>, %r: tensor<5xi32>, %i: tensor<4x8xi32>) {
  // expected-error @+1 {{topk_c6: expected 'requests' of shape [4], got 'tensor<5xi32>'}}
  %0, %1 = dsv4.topk %s pages(%t : tensor<?x?xi32>) page 64 requests(%r : tensor<5xi32>)
      outs(%i, %i : tensor<4x8xi32>, tensor<4x8xi32>) : tensor<4x?xf32>
  return
}

// -----

func.func @topk_c7(%s: tensor<?x?xf32>, %l: tensor<?xi32>, %i: tensor<?x8xi32>) {
  // expected-error @+1 {{topk_c7: expected a 'ratio' between 1 and 2^31 - 1, got 0}}
  %0 = dsv4.topk %s lengths(%l : tensor<?xi32>) ratio 0 outs(%i : tensor<?x8xi32>) : tensor<?x?xf32>
  return
}

// -----

func.func @topk_c7_alone(%s: tensor<?x?xf32>, %i: tensor<?x8xi32>) {
  // expected-error @+1 {{topk_c7: expected 'lengths', which hold positions then, with a 'ratio'}}
  %0 = dsv4.topk %s ratio 4 outs(%i : tensor<?x8xi32>) : tensor<?x?xf32>
  return
}

// -----

// expected-error @+1 {{schedule_c3: expected 'cluster' between 1 and 16, got 32}}
func.func private @schedule_c3_block() attributes {test.a = #dsv4.schedule<threads = 128, cluster = 32, parts = [#dsv4.select<algorithm = block, vector = 4>]>}

// -----

// expected-error @+1 {{schedule_c3: expected 'cluster' to be 1, as the parts share no row among blocks of a cluster, got 2}}
func.func private @schedule_c3_warp() attributes {test.a = #dsv4.schedule<threads = 128, cluster = 2, parts = [#dsv4.select<algorithm = warp, vector = 4>]>}

// -----

func.func @schedule_c5_none(%s: tensor<4x64xf32>, %i: tensor<4x8xi32>) {
  // expected-error @+1 {{schedule_c5: 'dsv4.topk' needs a part #dsv4.select<...>, which the schedule does not have}}
  %0 = dsv4.kernel @k(%s, %i) schedule <threads = 128, parts = [#dsv4.rows<lanes = 1, vector = 4>]> : (tensor<4x64xf32>, tensor<4x8xi32>) -> tensor<4x8xi32> {
  ^bb0(%a: tensor<4x64xf32>, %b: tensor<4x8xi32>):
    %1 = dsv4.topk %a outs(%b : tensor<4x8xi32>) : tensor<4x64xf32>
    dsv4.yield %1 : tensor<4x8xi32>
  }
  return
}

// -----

func.func @schedule_select_c2_tile(%s: tensor<4x64xf32>, %i: tensor<4x8xi32>) {
  // expected-error @+1 {{schedule_select_c2: expected 'vectors' between 1 and 16 and at most 32 elements in them, and 1 without 'algorithm = stream', 'grid' or 'tile', got 17}}
  %0 = dsv4.kernel @k(%s, %i) schedule <threads = 96, parts = [#dsv4.select<algorithm = tile, vector = 1, vectors = 17>]> : (tensor<4x64xf32>, tensor<4x8xi32>) -> tensor<4x8xi32> {
  ^bb0(%a: tensor<4x64xf32>, %b: tensor<4x8xi32>):
    %1 = dsv4.topk %a outs(%b : tensor<4x8xi32>) : tensor<4x64xf32>
    dsv4.yield %1 : tensor<4x8xi32>
  }
  return
}

// -----

func.func @schedule_select_c1_tile(%s: tensor<4x64xf32>, %i: tensor<4x8xi32>) {
  // expected-error @+1 {{schedule_select_c1: expected 'vector' to be 1 with 'algorithm = tile', got 4}}
  %0 = dsv4.kernel @k(%s, %i) schedule <threads = 96, parts = [#dsv4.select<algorithm = tile, vector = 4>]> : (tensor<4x64xf32>, tensor<4x8xi32>) -> tensor<4x8xi32> {
  ^bb0(%a: tensor<4x64xf32>, %b: tensor<4x8xi32>):
    %1 = dsv4.topk %a outs(%b : tensor<4x8xi32>) : tensor<4x64xf32>
    dsv4.yield %1 : tensor<4x8xi32>
  }
  return
}

// -----

func.func @schedule_select_c8(%s: tensor<4x64xf32>, %i: tensor<4x8xi32>) {
  // expected-error @+1 {{schedule_select_c8: 'algorithm = tile' needs an op that computes the scores tile by tile, and the kernel has none; expected 'warp', 'block', 'stream' or 'grid'}}
  %0 = dsv4.kernel @k(%s, %i) schedule <threads = 96, parts = [#dsv4.select<algorithm = tile, vector = 1>]> : (tensor<4x64xf32>, tensor<4x8xi32>) -> tensor<4x8xi32> {
  ^bb0(%a: tensor<4x64xf32>, %b: tensor<4x8xi32>):
    %1 = dsv4.topk %a outs(%b : tensor<4x8xi32>) : tensor<4x64xf32>
    dsv4.yield %1 : tensor<4x8xi32>
  }
  return
}

// -----

// expected-error @+1 {{schedule_select_c1: expected 'vector' to be 4 with 'algorithm = resident', got 1}}
func.func private @schedule_select_c1_resident() attributes {test.a = #dsv4.select<algorithm = resident, vector = 1>}

// -----

// expected-error @+1 {{schedule_select_c1: expected 'vector' to be 4 with 'algorithm = resident', got 8}}
func.func private @schedule_select_c1_resident_more() attributes {test.a = #dsv4.select<algorithm = resident, vector = 8>}

// -----

// expected-error @+1 {{schedule_select_c2: expected 'vectors' between 1 and 16 and at most 32 elements in them, and 1 without 'algorithm = stream', 'grid' or 'tile', got 2}}
func.func private @schedule_select_c2_resident() attributes {test.a = #dsv4.select<algorithm = resident, vector = 4, vectors = 2>}

// -----

// expected-error @+1 {{schedule_select_c3: expected 'threads' to be a power of two of at least 64 for a selection, got 96}}
func.func private @schedule_select_c3_resident() attributes {test.a = #dsv4.schedule<threads = 96, parts = [#dsv4.select<algorithm = resident, vector = 4>]>}

// -----

// expected-error @+1 {{schedule_select_c3: expected 'threads' to be a power of two of at least 64 for a selection, got 32}}
func.func private @schedule_select_c3_resident_few() attributes {test.a = #dsv4.schedule<threads = 32, parts = [#dsv4.select<algorithm = resident, vector = 4>]>}

// -----

// expected-error @+1 {{schedule_select_c4: expected 'blocks' to be a power of two between 2 and 256 with 'algorithm = grid', else 1, got 2}}
func.func private @schedule_select_c4_resident() attributes {test.a = #dsv4.select<algorithm = resident, vector = 4, blocks = 2>}

// -----

// expected-error @+1 {{schedule_c3: expected 'cluster' between 1 and 16, got 17}}
func.func private @schedule_c3_resident() attributes {test.a = #dsv4.schedule<threads = 512, cluster = 17, parts = [#dsv4.select<algorithm = resident, vector = 4>]>}

// -----

// expected-error @+1 {{schedule_c3: expected 'cluster' to be 1, as the parts share no row among blocks of a cluster, got 2}}
func.func private @schedule_c3_tile() attributes {test.a = #dsv4.schedule<threads = 512, cluster = 2, parts = [#dsv4.select<algorithm = tile, vector = 1>]>}

// -----

func.func @schedule_select_c8_resident(%s: tensor<4x64xf32>, %i: tensor<4x8xi32>) {
  // expected-error @+1 {{schedule_select_c8: 'algorithm = resident' needs an op that computes the scores tile by tile, and the kernel has none; expected 'warp', 'block', 'stream' or 'grid'}}
  %0 = dsv4.kernel @k(%s, %i) schedule <threads = 128, parts = [#dsv4.select<algorithm = resident, vector = 4>]> : (tensor<4x64xf32>, tensor<4x8xi32>) -> tensor<4x8xi32> {
  ^bb0(%a: tensor<4x64xf32>, %b: tensor<4x8xi32>):
    %1 = dsv4.topk %a outs(%b : tensor<4x8xi32>) : tensor<4x64xf32>
    dsv4.yield %1 : tensor<4x8xi32>
  }
  return
}

// -----

func.func @schedule_select_c7_bytes(%s: tensor<4x64xf32>, %i: tensor<4x8xi32>) {
  // expected-error @+1 {{schedule_select_c7: a vector of 8 elements of 32 bits is more than 16 bytes; expected a 'vector' of at most 4}}
  %0 = dsv4.kernel @k(%s, %i) schedule <threads = 128, parts = [#dsv4.select<algorithm = block, vector = 8>]> : (tensor<4x64xf32>, tensor<4x8xi32>) -> tensor<4x8xi32> {
  ^bb0(%a: tensor<4x64xf32>, %b: tensor<4x8xi32>):
    %1 = dsv4.topk %a outs(%b : tensor<4x8xi32>) : tensor<4x64xf32>
    dsv4.yield %1 : tensor<4x8xi32>
  }
  return
}

// -----

func.func @schedule_select_c7_vectors_of_row(%s: tensor<4x66xf32>, %i: tensor<4x8xi32>) {
  // expected-error @+1 {{schedule_select_c7: vectors of 4 elements do not make up the 66 of a row; expected a 'vector' that divides 66}}
  %0 = dsv4.kernel @k(%s, %i) schedule <threads = 128, parts = [#dsv4.select<algorithm = block, vector = 4>]> : (tensor<4x66xf32>, tensor<4x8xi32>) -> tensor<4x8xi32> {
  ^bb0(%a: tensor<4x66xf32>, %b: tensor<4x8xi32>):
    %1 = dsv4.topk %a outs(%b : tensor<4x8xi32>) : tensor<4x66xf32>
    dsv4.yield %1 : tensor<4x8xi32>
  }
  return
}

// -----

func.func @schedule_select_c6_registers(%s: tensor<4x4128xf32>, %i: tensor<4x8xi32>) {
  // expected-error @+1 {{schedule_select_c6: with 'algorithm = block' 1 x 128 threads have a row in registers, 4096 elements at most, and it can have 4128; expected more 'threads', a larger 'cluster', 'algorithm = stream', or columns that are known to be fewer (constant, or by policy 'bucket')}}
  %0 = dsv4.kernel @k(%s, %i) schedule <threads = 128, parts = [#dsv4.select<algorithm = block, vector = 4>]> : (tensor<4x4128xf32>, tensor<4x8xi32>) -> tensor<4x8xi32> {
  ^bb0(%a: tensor<4x4128xf32>, %b: tensor<4x8xi32>):
    %1 = dsv4.topk %a outs(%b : tensor<4x8xi32>) : tensor<4x4128xf32>
    dsv4.yield %1 : tensor<4x8xi32>
  }
  return
}

// -----

func.func @schedule_select_c6_registers_of_cluster(%s: tensor<4x8224xf32>, %i: tensor<4x8xi32>) {
  // expected-error @+1 {{schedule_select_c6: with 'algorithm = block' 2 x 128 threads have a row in registers, 8192 elements at most, and it can have 8224; expected more 'threads', a larger 'cluster', 'algorithm = stream', or columns that are known to be fewer (constant, or by policy 'bucket')}}
  %0 = dsv4.kernel @k(%s, %i) schedule <threads = 128, cluster = 2, parts = [#dsv4.select<algorithm = block, vector = 4>]> : (tensor<4x8224xf32>, tensor<4x8xi32>) -> tensor<4x8xi32> {
  ^bb0(%a: tensor<4x8224xf32>, %b: tensor<4x8xi32>):
    %1 = dsv4.topk %a outs(%b : tensor<4x8xi32>) : tensor<4x8224xf32>
    dsv4.yield %1 : tensor<4x8xi32>
  }
  return
}

// -----

func.func @topk_c8_together(%s: tensor<?x256xf32>, %i: tensor<?x8xi32>) {
  // expected-error @+1 {{topk_c8: expected 'groups', 'keep' and 'by' together}}
  %0 = dsv4.topk %s groups 8 keep 4 outs(%i : tensor<?x8xi32>) : tensor<?x256xf32>
  return
}

// -----

func.func @topk_c8_dynamic(%s: tensor<?x?xf32>, %i: tensor<?x8xi32>) {
  // expected-error @+1 {{topk_c8: expected 'scores' with a constant last extent with 'groups', got 'tensor<?x?xf32>'}}
  %0 = dsv4.topk %s groups 8 keep 4 by 2 outs(%i : tensor<?x8xi32>) : tensor<?x?xf32>
  return
}

// -----

func.func @topk_c8_divide(%s: tensor<?x256xf32>, %i: tensor<?x8xi32>) {
  // expected-error @+1 {{topk_c8: expected a positive number of 'groups' that divides 256 elements, got 7}}
  %0 = dsv4.topk %s groups 7 keep 4 by 2 outs(%i : tensor<?x8xi32>) : tensor<?x256xf32>
  return
}

// -----

func.func @topk_c8_none(%s: tensor<?x256xf32>, %i: tensor<?x8xi32>) {
  // expected-error @+1 {{topk_c8: expected a positive number of 'groups' that divides 256 elements, got 0}}
  %0 = dsv4.topk %s groups 0 keep 4 by 2 outs(%i : tensor<?x8xi32>) : tensor<?x256xf32>
  return
}

// -----

func.func @topk_c8_keep(%s: tensor<?x256xf32>, %i: tensor<?x8xi32>) {
  // expected-error @+1 {{topk_c8: expected to 'keep' between 1 and 8 groups, got 9}}
  %0 = dsv4.topk %s groups 8 keep 9 by 2 outs(%i : tensor<?x8xi32>) : tensor<?x256xf32>
  return
}

// -----

func.func @topk_c8_by(%s: tensor<?x256xf32>, %i: tensor<?x8xi32>) {
  // expected-error @+1 {{topk_c8: expected groups to be kept 'by' between 1 and 32 elements each, got 33}}
  %0 = dsv4.topk %s groups 8 keep 4 by 33 outs(%i : tensor<?x8xi32>) : tensor<?x256xf32>
  return
}

// -----

func.func @schedule_select_c5_groups(%s: tensor<4x64xf32>, %i: tensor<4x8xi32>) {
  // expected-error @+1 {{schedule_select_c5: groups of a row are chosen by the lanes of a warp, of at most 1024 elements in at most 32 groups, and for a k of at most 32; expected 'algorithm = warp'}}
  %0 = dsv4.kernel @k(%s, %i) schedule <threads = 128, parts = [#dsv4.select<algorithm = block, vector = 4>]> : (tensor<4x64xf32>, tensor<4x8xi32>) -> tensor<4x8xi32> {
  ^bb0(%a: tensor<4x64xf32>, %b: tensor<4x8xi32>):
    %1 = dsv4.topk %a groups 4 keep 2 by 2 outs(%b : tensor<4x8xi32>) : tensor<4x64xf32>
    dsv4.yield %1 : tensor<4x8xi32>
  }
  return
}

// -----

func.func @schedule_c5_groups_none(%s: tensor<4x64xf32>, %i: tensor<4x8xi32>) {
  // expected-error @+1 {{schedule_c5: 'dsv4.topk' needs a part #dsv4.select<...>, which the schedule does not have}}
  %0 = dsv4.kernel @k(%s, %i) schedule <threads = 128, parts = [#dsv4.rows<lanes = 1, vector = 4>]> : (tensor<4x64xf32>, tensor<4x8xi32>) -> tensor<4x8xi32> {
  ^bb0(%a: tensor<4x64xf32>, %b: tensor<4x8xi32>):
    %1 = dsv4.topk %a groups 4 keep 2 by 2 outs(%b : tensor<4x8xi32>) : tensor<4x64xf32>
    dsv4.yield %1 : tensor<4x8xi32>
  }
  return
}

// -----

func.func @schedule_select_c5_softmax(%x: tensor<4x64xf32>, %e: tensor<4x64xf32>, %i: tensor<4x8xi32>) {
  // expected-error @+1 {{schedule_select_c5: 'dsv4.gate' needs statistics of whole rows, which only the lanes of a warp compute; expected 'algorithm = warp'}}
  %0 = dsv4.kernel @k(%x, %e, %i) schedule <threads = 128, parts = [#dsv4.select<algorithm = block, vector = 4>]> : (tensor<4x64xf32>, tensor<4x64xf32>, tensor<4x8xi32>) -> tensor<4x8xi32> {
  ^bb0(%a: tensor<4x64xf32>, %c: tensor<4x64xf32>, %b: tensor<4x8xi32>):
    %s = dsv4.gate %a function softmax outs(%c : tensor<4x64xf32>) : tensor<4x64xf32>
    %1 = dsv4.topk %s outs(%b : tensor<4x8xi32>) : tensor<4x64xf32>
    dsv4.yield %1 : tensor<4x8xi32>
  }
  return
}

// -----

func.func @schedule_select_c5_stored(%x: tensor<4x64xf32>, %e: tensor<4x64xf32>, %i: tensor<4x8xi32>) {
  // expected-error @+1 {{schedule_select_c5: rows of 'dsv4.gate' are stored, too, as a whole, which only the lanes of a warp hold; expected 'algorithm = warp'}}
  %0:2 = dsv4.kernel @k(%x, %e, %i) schedule <threads = 128, parts = [#dsv4.select<algorithm = block, vector = 4>]> : (tensor<4x64xf32>, tensor<4x64xf32>, tensor<4x8xi32>) -> (tensor<4x64xf32>, tensor<4x8xi32>) {
  ^bb0(%a: tensor<4x64xf32>, %c: tensor<4x64xf32>, %b: tensor<4x8xi32>):
    %s = dsv4.gate %a function sigmoid outs(%c : tensor<4x64xf32>) : tensor<4x64xf32>
    %1 = dsv4.topk %s outs(%b : tensor<4x8xi32>) : tensor<4x64xf32>
    dsv4.yield %s, %1 : tensor<4x64xf32>, tensor<4x8xi32>
  }
  return
}

// -----

// What is operand 1 depends on what else there is.
func.func @type_of_bias(%s: tensor<4x64xf32>, %b: tensor<64xi32>, %i: tensor<4x8xi32>) {
  // expected-error @+1 {{operand #1 must be 'bias', a tensor of bfloat16 type or 16-bit float or 32-bit float values, but got 'tensor<64xi32>'}}
  %0 = dsv4.topk %s bias(%b : tensor<64xi32>) outs(%i : tensor<4x8xi32>) : tensor<4x64xf32>
  return
}

// -----

func.func @type_of_lengths(%s: tensor<4x64xf32>, %l: tensor<4xi16>, %i: tensor<4x8xi32>) {
  // expected-error @+1 {{operand #1 must be 'lengths', a tensor of 32-bit signless integer or 64-bit signless integer values, but got 'tensor<4xi16>'}}
  %0 = dsv4.topk %s lengths(%l : tensor<4xi16>) outs(%i : tensor<4x8xi32>) : tensor<4x64xf32>
  return
}

// -----

func.func @type_of_ids(%t: tensor<100x6xi32>, %i: tensor<4xi16>, %o: tensor<4x6xi32>) {
  // expected-error @+1 {{operand #1 must be 'ids', a tensor of 32-bit signless integer or 64-bit signless integer values, but got 'tensor<4xi16>'}}
  %0 = dsv4.lookup %t[%i] outs(%o : tensor<4x6xi32>) : tensor<100x6xi32>, tensor<4xi16>
  return
}

// -----

func.func @schedule_select_c5_many_groups(%s: tensor<4x64xf32>, %i: tensor<4x8xi32>) {
  // expected-error @+1 {{schedule_select_c5: a warp chooses from at most 32 groups, got 64}}
  %0 = dsv4.kernel @k(%s, %i) schedule <threads = 128, parts = [#dsv4.select<algorithm = warp, vector = 4>]> : (tensor<4x64xf32>, tensor<4x8xi32>) -> tensor<4x8xi32> {
  ^bb0(%a: tensor<4x64xf32>, %b: tensor<4x8xi32>):
    %1 = dsv4.topk %a groups 64 keep 32 by 1 outs(%b : tensor<4x8xi32>) : tensor<4x64xf32>
    dsv4.yield %1 : tensor<4x8xi32>
  }
  return
}

// -----

func.func @schedule_select_c5_groups_k(%s: tensor<4x256xf32>, %i: tensor<4x33xi32>) {
  // expected-error @+1 {{schedule_select_c5: a warp selects at most 32 elements from at most 1024, got 33 from 256}}
  %0 = dsv4.kernel @k(%s, %i) schedule <threads = 128, parts = [#dsv4.select<algorithm = warp, vector = 4>]> : (tensor<4x256xf32>, tensor<4x33xi32>) -> tensor<4x33xi32> {
  ^bb0(%a: tensor<4x256xf32>, %b: tensor<4x33xi32>):
    %1 = dsv4.topk %a groups 8 keep 4 by 2 outs(%b : tensor<4x33xi32>) : tensor<4x256xf32>
    dsv4.yield %1 : tensor<4x33xi32>
  }
  return
}

// -----

func.func @topk_c3_both(%s: tensor<4x64xf32>, %l: tensor<4xi32>, %i: tensor<4x8xi32>) {
  // expected-error @+1 {{topk_c3: expected 'lengths' or 'ends' of the rows, got both}}
  %0 = dsv4.topk %s lengths(%l : tensor<4xi32>) ends(%l : tensor<4xi32>) outs(%i : tensor<4x8xi32>) : tensor<4x64xf32>
  return
}

// -----

func.func @topk_c3_starts(%s: tensor<4x64xf32>, %b: tensor<5xi32>, %i: tensor<4x8xi32>) {
  // expected-error @+1 {{topk_c3: expected 'starts' of shape [4], got 'tensor<5xi32>'}}
  %0 = dsv4.topk %s starts(%b : tensor<5xi32>) outs(%i : tensor<4x8xi32>) : tensor<4x64xf32>
  return
}

// -----

func.func @topk_c3_ends(%s: tensor<4x64xf32>, %b: tensor<4x1xi32>, %i: tensor<4x8xi32>) {
  // expected-error @+1 {{topk_c3: expected 'ends' of shape [4], got 'tensor<4x1xi32>'}}
  %0 = dsv4.topk %s ends(%b : tensor<4x1xi32>) outs(%i : tensor<4x8xi32>) : tensor<4x64xf32>
  return
}

// -----

func.func @topk_c7_ends(%s: tensor<4x64xf32>, %b: tensor<4xi32>, %i: tensor<4x8xi32>) {
  // expected-error @+1 {{topk_c7: expected 'lengths', which hold positions then, with a 'ratio'}}
  %0 = dsv4.topk %s ends(%b : tensor<4xi32>) ratio 4 outs(%i : tensor<4x8xi32>) : tensor<4x64xf32>
  return
}

// -----

func.func @topk_c9_bias(%s: tensor<4x64xf32>, %b: tensor<4xi32>, %w: tensor<64xf32>, %i: tensor<4x8xi32>) {
  // expected-error @+1 {{topk_c9: expected no 'bias' with 'starts': it belongs to columns, and indices count from the start}}
  %0 = dsv4.topk %s bias(%w : tensor<64xf32>) starts(%b : tensor<4xi32>) outs(%i : tensor<4x8xi32>) : tensor<4x64xf32>
  return
}

// -----

func.func @topk_c9_groups(%s: tensor<4x64xf32>, %b: tensor<4xi32>, %i: tensor<4x8xi32>) {
  // expected-error @+1 {{topk_c9: expected no 'groups' with 'starts': it belongs to columns, and indices count from the start}}
  %0 = dsv4.topk %s starts(%b : tensor<4xi32>) groups 4 keep 2 by 1 outs(%i : tensor<4x8xi32>) : tensor<4x64xf32>
  return
}

// -----

func.func @topk_c10_none(%s: tensor<4x64xf32>, %i: tensor<4x8xi32>) {
  // expected-error @+1 {{topk_c10: expected 'lengths' of shape [requests] and 'scores' of shape [rows, N] with 'next_n'}}
  %0 = dsv4.topk %s next_n 2 outs(%i : tensor<4x8xi32>) : tensor<4x64xf32>
  return
}

// -----

func.func @topk_c10_ends(%s: tensor<4x64xf32>, %b: tensor<4xi32>, %i: tensor<4x8xi32>) {
  // expected-error @+1 {{topk_c10: expected 'lengths' of shape [requests] and 'scores' of shape [rows, N] with 'next_n'}}
  %0 = dsv4.topk %s ends(%b : tensor<4xi32>) next_n 2 outs(%i : tensor<4x8xi32>) : tensor<4x64xf32>
  return
}

// -----

func.func @topk_c10_rank(%s: tensor<4x64xf32>, %b: tensor<2x2xi32>, %i: tensor<4x8xi32>) {
  // expected-error @+1 {{topk_c10: expected 'lengths' of shape [requests] and 'scores' of shape [rows, N] with 'next_n'}}
  %0 = dsv4.topk %s lengths(%b : tensor<2x2xi32>) next_n 2 outs(%i : tensor<4x8xi32>) : tensor<4x64xf32>
  return
}

// -----

func.func @topk_c10_zero(%s: tensor<4x64xf32>, %b: tensor<2xi32>, %i: tensor<4x8xi32>) {
  // expected-error @+1 {{topk_c10: expected a 'next_n' between 1 and 64, got 0}}
  %0 = dsv4.topk %s lengths(%b : tensor<2xi32>) next_n 0 outs(%i : tensor<4x8xi32>) : tensor<4x64xf32>
  return
}

// -----

func.func @topk_c10_many(%s: tensor<4x64xf32>, %b: tensor<2xi32>, %i: tensor<4x8xi32>) {
  // expected-error @+1 {{topk_c10: expected a 'next_n' between 1 and 64, got 65}}
  %0 = dsv4.topk %s lengths(%b : tensor<2xi32>) next_n 65 outs(%i : tensor<4x8xi32>) : tensor<4x64xf32>
  return
}

// -----

func.func @topk_c10_rows(%s: tensor<4x64xf32>, %b: tensor<3xi32>, %i: tensor<4x8xi32>) {
  // expected-error @+1 {{topk_c10: expected 2 rows of 'scores' for each of 3 'lengths', got 4 rows}}
  %0 = dsv4.topk %s lengths(%b : tensor<3xi32>) next_n 2 outs(%i : tensor<4x8xi32>) : tensor<4x64xf32>
  return
}

// -----

func.func @topk_c11(%s: tensor<4x64xf32>, %b: tensor<3xi32>, %i: tensor<4x8xi32>) {
  // expected-error @+1 {{topk_c11: expected 'offsets' of shape [4], got 'tensor<3xi32>'}}
  %0 = dsv4.topk %s offsets(%b : tensor<3xi32>) outs(%i : tensor<4x8xi32>) : tensor<4x64xf32>
  return
}

// -----

func.func @topk_c12(%s: tensor<4x64xf32>, %i: tensor<4x8xi32>) {
  // expected-error @+1 {{topk_c12: expected no 'groups' with 'ties high': of equal groups the lower one is kept}}
  %0 = dsv4.topk %s ties high groups 4 keep 2 by 1 outs(%i : tensor<4x8xi32>) : tensor<4x64xf32>
  return
}

// -----

func.func @nan(%s: tensor<4x64xf32>, %i: tensor<4x8xi32>) {
  // expected-error @+1 {{expected 'first'}}
  %0 = dsv4.topk %s nan zero outs(%i : tensor<4x8xi32>) : tensor<4x64xf32>
  return
}

// -----

func.func @topk_c13_all(%s: tensor<?x256xf32>, %o0: tensor<?x8xi32>) {
  // expected-error @+1 {{topk_c13: expected 'shared' between 1 and 7, fewer than the 8 columns of 'indices', got 8}}
  %0 = dsv4.topk %s shared 8 outs(%o0 : tensor<?x8xi32>) : tensor<?x256xf32>
  return
}

// -----

func.func @topk_c13_most(%s: tensor<?x256xf32>, %o0: tensor<?x64xi32>) {
  // expected-error @+1 {{topk_c13: expected 'shared' between 1 and 32, fewer than the 64 columns of 'indices', got 33}}
  %0 = dsv4.topk %s shared 33 outs(%o0 : tensor<?x64xi32>) : tensor<?x256xf32>
  return
}

// -----

func.func @topk_c13_dynamic(%s: tensor<?x?xf32>, %o0: tensor<?x8xi32>) {
  // expected-error @+1 {{topk_c13: shared experts follow the N of a row: expected 'scores' of a constant last extent with 'shared', got 'tensor<?x?xf32>'}}
  %0 = dsv4.topk %s shared 1 outs(%o0 : tensor<?x8xi32>) : tensor<?x?xf32>
  return
}

// -----

func.func @topk_c13_pages(%s: tensor<?x256xf32>, %o0: tensor<?x8xi32>, %o1: tensor<?x8xi32>, %t: tensor<?x4xi32>) {
  // expected-error @+1 {{topk_c13: shared experts have no slots: remove 'pages' or 'shared'}}
  %0:2 = dsv4.topk %s pages(%t : tensor<?x4xi32>) page 64 shared 1 outs(%o0, %o1 : tensor<?x8xi32>, tensor<?x8xi32>) : tensor<?x256xf32>
  return
}

// -----

func.func @topk_c13_starts(%s: tensor<?x256xf32>, %b: tensor<?xi32>, %o0: tensor<?x8xi32>) {
  // expected-error @+1 {{topk_c13: shared experts are numbers of columns: remove 'starts' or 'shared'}}
  %0 = dsv4.topk %s starts(%b : tensor<?xi32>) shared 1 outs(%o0 : tensor<?x8xi32>) : tensor<?x256xf32>
  return
}

// -----

func.func @topk_c13_offsets(%s: tensor<?x256xf32>, %b: tensor<?xi32>, %o0: tensor<?x8xi32>) {
  // expected-error @+1 {{topk_c13: shared experts are numbers of columns: remove 'offsets' or 'shared'}}
  %0 = dsv4.topk %s offsets(%b : tensor<?xi32>) shared 1 outs(%o0 : tensor<?x8xi32>) : tensor<?x256xf32>
  return
}

// -----

func.func @topk_c14_valid_rows(%s: tensor<?x256xf32>, %o0: tensor<?x8xi32>, %n: tensor<2xi32>) {
  // expected-error @+1 {{topk_c14: expected 'valid_rows' of shape [1], got 'tensor<2xi32>'}}
  %0 = dsv4.topk %s valid_rows(%n : tensor<2xi32>) outs(%o0 : tensor<?x8xi32>) : tensor<?x256xf32>
  return
}

// -----

func.func @topk_c14_padding(%s: tensor<?x256xf32>, %o0: tensor<?x8xi32>, %n: tensor<?x1xi1>) {
  // expected-error @+1 {{topk_c14: expected 'padding' of shape [?], got 'tensor<?x1xi1>'}}
  %0 = dsv4.topk %s padding(%n : tensor<?x1xi1>) outs(%o0 : tensor<?x8xi32>) : tensor<?x256xf32>
  return
}

// -----

func.func @topk_c15(%s: tensor<?x256xf32>, %o0: tensor<?x8xi32>) {
  // expected-error @+1 {{topk_c15: expected destinations of 'indices', optionally 'values', and 'token_experts', got 1; 'slots' need 'pages'}}
  %0 = dsv4.topk %s token_experts outs(%o0 : tensor<?x8xi32>) : tensor<?x256xf32>
  return
}

// -----

func.func @topk_c2_token_experts(%s: tensor<?x256xf32>, %o0: tensor<?x8xi32>, %o1: tensor<?x8xf32>) {
  // expected-error @+1 {{topk_c2: expected 'token_experts' of i32, i64 or ui32, got 'tensor<?x8xf32>'}}
  %0:2 = dsv4.topk %s token_experts outs(%o0, %o1 : tensor<?x8xi32>, tensor<?x8xf32>) : tensor<?x256xf32>
  return
}

// -----

func.func @topk_c16_pages(%s: tensor<?x256xf32>, %c: tensor<?xi32>, %o0: tensor<?x8xi32>) {
  // expected-error @+1 {{topk_c16: 'cu_seq_lens' find rows of a page table: expected 'pages' with 'cu_seq_lens'}}
  %0 = dsv4.topk %s cu_seq_lens(%c : tensor<?xi32>) outs(%o0 : tensor<?x8xi32>) : tensor<?x256xf32>
  return
}

// -----

func.func @topk_c16_requests(%s: tensor<?x256xf32>, %t: tensor<?x4xi32>, %r: tensor<?xi32>, %c: tensor<?xi32>, %o0: tensor<?x8xi32>) {
  // expected-error @+1 {{topk_c16: the request of a row is found in 'cu_seq_lens': remove 'requests'}}
  %0:2 = dsv4.topk %s pages(%t : tensor<?x4xi32>) page 64 requests(%r : tensor<?xi32>) cu_seq_lens(%c : tensor<?xi32>)
      outs(%o0, %o0 : tensor<?x8xi32>, tensor<?x8xi32>) : tensor<?x256xf32>
  return
}

// -----

func.func @topk_c16_rank(%s: tensor<?x256xf32>, %t: tensor<?x4xi32>, %c: tensor<?x2xi32>, %o0: tensor<?x8xi32>) {
  // expected-error @+1 {{topk_c16: expected 'cu_seq_lens' of shape [requests + 1] and 'scores' of shape [rows, N], got 'tensor<?x2xi32>' and 'tensor<?x256xf32>'}}
  %0:2 = dsv4.topk %s pages(%t : tensor<?x4xi32>) page 64 cu_seq_lens(%c : tensor<?x2xi32>)
      outs(%o0, %o0 : tensor<?x8xi32>, tensor<?x8xi32>) : tensor<?x256xf32>
  return
}

// -----

func.func @topk_c16_scores(%s: tensor<?x2x256xf32>, %t: tensor<?x4xi32>, %c: tensor<?xi32>, %o0: tensor<?x2x8xi32>) {
  // expected-error @+1 {{topk_c16: expected 'cu_seq_lens' of shape [requests + 1] and 'scores' of shape [rows, N], got 'tensor<?xi32>' and 'tensor<?x2x256xf32>'}}
  %0:2 = dsv4.topk %s pages(%t : tensor<?x4xi32>) page 64 cu_seq_lens(%c : tensor<?xi32>)
      outs(%o0, %o0 : tensor<?x2x8xi32>, tensor<?x2x8xi32>) : tensor<?x2x256xf32>
  return
}

// -----

func.func @topk_c17_pages(%s: tensor<?x256xf32>, %b: tensor<?xi32>, %o0: tensor<?x8xi32>) {
  // expected-error @+1 {{topk_c17: 'page_starts' are columns of a page table: expected 'pages' with 'page_starts'}}
  %0 = dsv4.topk %s page_starts(%b : tensor<?xi32>) outs(%o0 : tensor<?x8xi32>) : tensor<?x256xf32>
  return
}

// -----

func.func @topk_c17_shape(%s: tensor<4x256xf32>, %t: tensor<4x4xi32>, %b: tensor<3xi32>, %o0: tensor<4x8xi32>) {
  // expected-error @+1 {{topk_c17: expected 'page_starts' of shape [4], got 'tensor<3xi32>'}}
  %0:2 = dsv4.topk %s pages(%t : tensor<4x4xi32>) page 64 page_starts(%b : tensor<3xi32>)
      outs(%o0, %o0 : tensor<4x8xi32>, tensor<4x8xi32>) : tensor<4x256xf32>
  return
}

// -----

func.func @topk_c18_lengths(%q: tensor<4x64x128xf8E4M3FN>, %w: tensor<4x64xf32>,
    %c: !dsv4.cache<64 x <index_fp8_132>>, %t: tensor<4x8xi32>, %n: tensor<4xi32>, %m: tensor<4xi32>,
    %s: tensor<4x512xf32>, %o: tensor<4x16xi32>) {
  %x = dsv4.index_score %q weights(%w : tensor<4x64xf32>) cache(%c : !dsv4.cache<64 x <index_fp8_132>>)
      pages(%t : tensor<4x8xi32>) lengths(%n : tensor<4xi32>) keep_rest
      outs(%s : tensor<4x512xf32>) : tensor<4x64x128xf8E4M3FN>
  // expected-error@+1 {{topk_c18: 'scores' with 'keep_rest' are not written from the end of a row on: expected the 'lengths' of 'dsv4.index_score', got others}}
  %y = dsv4.topk %x lengths(%m : tensor<4xi32>) outs(%o : tensor<4x16xi32>) : tensor<4x512xf32>
  return
}

// -----

func.func @topk_c18_no_lengths(%q: tensor<4x64x128xf8E4M3FN>, %w: tensor<4x64xf32>,
    %c: !dsv4.cache<64 x <index_fp8_132>>, %t: tensor<4x8xi32>, %n: tensor<4xi32>,
    %s: tensor<4x512xf32>, %o: tensor<4x16xi32>) {
  %x = dsv4.index_score %q weights(%w : tensor<4x64xf32>) cache(%c : !dsv4.cache<64 x <index_fp8_132>>)
      pages(%t : tensor<4x8xi32>) ends(%n : tensor<4xi32>) keep_rest
      outs(%s : tensor<4x512xf32>) : tensor<4x64x128xf8E4M3FN>
  // expected-error@+1 {{topk_c18: 'scores' with 'keep_rest' are not written from the end of a row on: expected the 'ends' of 'dsv4.index_score', got none}}
  %y = dsv4.topk %x outs(%o : tensor<4x16xi32>) : tensor<4x512xf32>
  return
}

// -----

// One row for each length is what there is without 'next_n', too.
func.func @topk_c18_one_row(%q: tensor<4x64x128xf8E4M3FN>, %w: tensor<4x64xf32>,
    %c: !dsv4.cache<64 x <index_fp8_132>>, %t: tensor<4x8xi32>, %n: tensor<4xi32>,
    %s: tensor<4x512xf32>, %o: tensor<4x16xi32>) {
  %x = dsv4.index_score %q weights(%w : tensor<4x64xf32>) cache(%c : !dsv4.cache<64 x <index_fp8_132>>)
      pages(%t : tensor<4x8xi32>) lengths(%n : tensor<4xi32>) keep_rest
      outs(%s : tensor<4x512xf32>) : tensor<4x64x128xf8E4M3FN>
  %y = dsv4.topk %x lengths(%n : tensor<4xi32>) next_n 1 outs(%o : tensor<4x16xi32>) : tensor<4x512xf32>
  return
}

// -----

func.func @topk_c18_ratio(%q: tensor<4x64x128xf8E4M3FN>, %w: tensor<4x64xf32>,
    %c: !dsv4.cache<64 x <index_fp8_132>>, %t: tensor<4x8xi32>, %n: tensor<4xi32>,
    %s: tensor<4x512xf32>, %o: tensor<4x16xi32>) {
  %x = dsv4.index_score %q weights(%w : tensor<4x64xf32>) cache(%c : !dsv4.cache<64 x <index_fp8_132>>)
      pages(%t : tensor<4x8xi32>) lengths(%n : tensor<4xi32>) ratio 4 keep_rest
      outs(%s : tensor<4x512xf32>) : tensor<4x64x128xf8E4M3FN>
  // expected-error@+1 {{topk_c18: 'scores' with 'keep_rest' are not written from the end of a row on: expected the 'ratio' of 'dsv4.index_score'}}
  %y = dsv4.topk %x lengths(%n : tensor<4xi32>) outs(%o : tensor<4x16xi32>) : tensor<4x512xf32>
  return
}

// -----

func.func @topk_c18_starts(%q: tensor<4x64x128xf8E4M3FN>, %w: tensor<4x64xf32>,
    %c: !dsv4.cache<64 x <index_fp8_132>>, %t: tensor<4x8xi32>, %n: tensor<4xi32>,
    %s: tensor<4x512xf32>, %o: tensor<4x16xi32>) {
  %x = dsv4.index_score %q weights(%w : tensor<4x64xf32>) cache(%c : !dsv4.cache<64 x <index_fp8_132>>)
      pages(%t : tensor<4x8xi32>) starts(%n : tensor<4xi32>) lengths(%n : tensor<4xi32>) keep_rest
      outs(%s : tensor<4x512xf32>) : tensor<4x64x128xf8E4M3FN>
  // expected-error@+1 {{topk_c18: 'scores' with 'keep_rest' are not written where a row has no key: expected no 'starts' in 'dsv4.index_score'}}
  %y = dsv4.topk %x lengths(%n : tensor<4xi32>) outs(%o : tensor<4x16xi32>) : tensor<4x512xf32>
  return
}

// -----

// Kernels do not hide what the scores are.
func.func @topk_c18_kernels(%q: tensor<4x64x128xf8E4M3FN>, %w: tensor<4x64xf32>,
    %c: !dsv4.cache<64 x <index_fp8_132>>, %t: tensor<4x8xi32>, %n: tensor<4xi32>, %m: tensor<4xi32>,
    %s: tensor<4x512xf32>, %o: tensor<4x16xi32>) {
  %x = dsv4.kernel @score(%q, %w, %c, %t, %n, %s) : (tensor<4x64x128xf8E4M3FN>, tensor<4x64xf32>,
      !dsv4.cache<64 x <index_fp8_132>>, tensor<4x8xi32>, tensor<4xi32>, tensor<4x512xf32>) -> tensor<4x512xf32> {
  ^bb0(%q1: tensor<4x64x128xf8E4M3FN>, %w1: tensor<4x64xf32>, %c1: !dsv4.cache<64 x <index_fp8_132>>,
      %t1: tensor<4x8xi32>, %n1: tensor<4xi32>, %s1: tensor<4x512xf32>):
    %x1 = dsv4.index_score %q1 weights(%w1 : tensor<4x64xf32>) cache(%c1 : !dsv4.cache<64 x <index_fp8_132>>)
        pages(%t1 : tensor<4x8xi32>) lengths(%n1 : tensor<4xi32>) keep_rest
        outs(%s1 : tensor<4x512xf32>) : tensor<4x64x128xf8E4M3FN>
    dsv4.yield %x1 : tensor<4x512xf32>
  }
  %y = dsv4.kernel @choose(%x, %m, %o) : (tensor<4x512xf32>, tensor<4xi32>, tensor<4x16xi32>) -> tensor<4x16xi32> {
  ^bb0(%x1: tensor<4x512xf32>, %m1: tensor<4xi32>, %o1: tensor<4x16xi32>):
    // expected-error@+1 {{topk_c18: 'scores' with 'keep_rest' are not written from the end of a row on: expected the 'lengths' of 'dsv4.index_score', got others}}
    %y1 = dsv4.topk %x1 lengths(%m1 : tensor<4xi32>) outs(%o1 : tensor<4x16xi32>) : tensor<4x512xf32>
    dsv4.yield %y1 : tensor<4x16xi32>
  }
  return
}

// -----

func.func @topk_c4_other(%s: tensor<4x64xf32>, %b: tensor<64xf32>, %c: tensor<63xbf16>, %m: tensor<4xi1>,
                         %i: tensor<4x8xi32>) {
  // expected-error @+1 {{topk_c4: expected 'other_bias' of shape [64], got 'tensor<63xbf16>'}}
  %0 = dsv4.topk %s bias(%b : tensor<64xf32>) other_bias(%c, %m : tensor<63xbf16>, tensor<4xi1>)
      outs(%i : tensor<4x8xi32>) : tensor<4x64xf32>
  return
}

// -----

func.func @topk_c4_rows(%s: tensor<4x64xf32>, %b: tensor<64xf32>, %m: tensor<5xi1>, %i: tensor<4x8xi32>) {
  // expected-error @+1 {{topk_c4: expected 'other_bias' of shape [4], got 'tensor<5xi1>'}}
  %0 = dsv4.topk %s bias(%b : tensor<64xf32>) other_bias(%b, %m : tensor<64xf32>, tensor<5xi1>)
      outs(%i : tensor<4x8xi32>) : tensor<4x64xf32>
  return
}

// -----

func.func @topk_c4_alone(%s: tensor<4x64xf32>, %b: tensor<64xf32>, %m: tensor<4xi1>, %i: tensor<4x8xi32>) {
  // expected-error @+1 {{topk_c4: 'other_bias' is for some rows: expected 'bias', which the others have}}
  %0 = dsv4.topk %s other_bias(%b, %m : tensor<64xf32>, tensor<4xi1>)
      outs(%i : tensor<4x8xi32>) : tensor<4x64xf32>
  return
}
