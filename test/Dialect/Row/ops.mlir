// Every op, read back from its own text, from generic text and from bytecode.

// RUN: dsv4-opt %s | dsv4-opt | FileCheck %s
// RUN: dsv4-opt %s -mlir-print-op-generic | dsv4-opt | FileCheck %s
// RUN: dsv4-opt %s --emit-bytecode | dsv4-opt --allow-bytecode | FileCheck %s

// CHECK-LABEL: func.func @named
func.func @named() {
  // CHECK: row.constant "page_bytes" = 37440
  %0 = row.constant "page_bytes" = 37440
  return
}

// CHECK-LABEL: func.func @read_segment
func.func @read_segment(%kv: memref<?xbf16>, %start: index) {
  // CHECK: row.read %{{[a-z0-9]+}}[%{{[a-z0-9]+}}] : memref<?xbf16> -> vector<512xbf16>
  %0 = row.read %kv[%start] : memref<?xbf16> -> vector<512xbf16>
  return
}

// CHECK-LABEL: func.func @read_elements_from_bytes
func.func @read_elements_from_bytes(%page: memref<?xi8>, %at: index) {
  // CHECK: row.read %{{[a-z0-9]+}}[%{{[a-z0-9]+}}] : memref<?xi8> -> vector<448xf8E4M3FN>
  %0 = row.read %page[%at] : memref<?xi8> -> vector<448xf8E4M3FN>
  return
}

// CHECK-LABEL: func.func @read_if_valid
func.func @read_if_valid(%page: memref<?xi8>, %at: index, %valid: i1) {
  // CHECK: row.read %{{[a-z0-9]+}}[%{{[a-z0-9]+}}] if %{{[a-z0-9]+}} : memref<?xi8> -> vector<64xbf16>
  %0 = row.read %page[%at] if %valid : memref<?xi8> -> vector<64xbf16>
  return
}

// CHECK-LABEL: func.func @read_length
func.func @read_length(%scores: memref<?xf32>, %start: index, %keys: index, %valid: i1) {
  // CHECK: row.read %{{[a-z0-9]+}}[%{{[a-z0-9]+}}] length %{{[a-z0-9]+}} {multiple = 8 : i64} : memref<?xf32> -> vector<4096xf32>
  %0 = row.read %scores[%start] length %keys {multiple = 8} : memref<?xf32> -> vector<4096xf32>
  // CHECK: row.read %{{[a-z0-9]+}}[%{{[a-z0-9]+}}] if %{{[a-z0-9]+}} length %{{[a-z0-9]+}} : memref<?xf32> -> vector<64xf32>
  %1 = row.read %scores[%start] if %valid length %keys : memref<?xf32> -> vector<64xf32>
  return
}

// CHECK-LABEL: func.func @read_attributes
func.func @read_attributes(%page: memref<?xi8>, %at: index) {
  // CHECK: row.read %{{[a-z0-9]+}}[%{{[a-z0-9]+}}] {align = 16 : i64} : memref<?xi8> -> vector<8xf32>
  %0 = row.read %page[%at] {align = 16} : memref<?xi8> -> vector<8xf32>
  // CHECK: row.read %{{[a-z0-9]+}}[%{{[a-z0-9]+}}] {interleave = 2 : i64} : memref<?xi8> -> vector<8xf8E8M0FNU>
  %1 = row.read %page[%at] {interleave = 2} : memref<?xi8> -> vector<8xf8E8M0FNU>
  // CHECK: row.read %{{[a-z0-9]+}}[%{{[a-z0-9]+}}] {readable = 8 : i64} : memref<?xi8> -> vector<7xf8E8M0FNU>
  %2 = row.read %page[%at] {readable = 8} : memref<?xi8> -> vector<7xf8E8M0FNU>
  // CHECK: row.read %{{[a-z0-9]+}}[%{{[a-z0-9]+}}] : memref<?xi8> -> vector<7xf8E8M0FNU>
  %3 = row.read %page[%at] {align = 1, interleave = 1, multiple = 1, readable = 0}
      : memref<?xi8> -> vector<7xf8E8M0FNU>
  return
}

// CHECK-LABEL: func.func @write_segment
func.func @write_segment(%y: vector<512xbf16>, %out: memref<?xbf16>, %start: index) {
  // CHECK: row.write %{{[a-z0-9]+}}, %{{[a-z0-9]+}}[%{{[a-z0-9]+}}] : vector<512xbf16>, memref<?xbf16>
  row.write %y, %out[%start] : vector<512xbf16>, memref<?xbf16>
  // CHECK: row.write %{{[a-z0-9]+}}, %{{[a-z0-9]+}}[%{{[a-z0-9]+}}] {align = 16 : i64} : vector<512xbf16>, memref<?xbf16>
  row.write %y, %out[%start] {align = 16} : vector<512xbf16>, memref<?xbf16>
  return
}

// CHECK-LABEL: func.func @write_elements_as_bytes
func.func @write_elements_as_bytes(%y: vector<448xf8E4M3FN>, %page: memref<?xi8>, %at: index) {
  // CHECK: row.write %{{[a-z0-9]+}}, %{{[a-z0-9]+}}[%{{[a-z0-9]+}}] : vector<448xf8E4M3FN>, memref<?xi8>
  row.write %y, %page[%at] : vector<448xf8E4M3FN>, memref<?xi8>
  return
}

// CHECK-LABEL: func.func @write_scales
func.func @write_scales(%s: vector<7xf8E8M0FNU>, %t: vector<8xf8E8M0FNU>, %page: memref<?xi8>, %at: index) {
  // CHECK: row.write %{{[a-z0-9]+}}, %{{[a-z0-9]+}}[%{{[a-z0-9]+}}] per 64 : vector<7xf8E8M0FNU>, memref<?xi8>
  row.write %s, %page[%at] per 64 : vector<7xf8E8M0FNU>, memref<?xi8>
  // CHECK: row.write %{{[a-z0-9]+}}, %{{[a-z0-9]+}}[%{{[a-z0-9]+}}] per 64 {pad = 1 : i64} : vector<7xf8E8M0FNU>, memref<?xi8>
  row.write %s, %page[%at] per 64 {pad = 1} : vector<7xf8E8M0FNU>, memref<?xi8>
  // CHECK: row.write %{{[a-z0-9]+}}, %{{[a-z0-9]+}}[%{{[a-z0-9]+}}] per 64 {interleave = 4 : i64} : vector<8xf8E8M0FNU>, memref<?xi8>
  row.write %t, %page[%at] per 64 {interleave = 4} : vector<8xf8E8M0FNU>, memref<?xi8>
  // CHECK: row.write %{{[a-z0-9]+}}, %{{[a-z0-9]+}}[%{{[a-z0-9]+}}] : vector<8xf8E8M0FNU>, memref<?xi8>
  row.write %t, %page[%at] per 1 {align = 1, interleave = 1, pad = 0}
      : vector<8xf8E8M0FNU>, memref<?xi8>
  return
}

// CHECK-LABEL: func.func @gather_by_index
func.func @gather_by_index(%gate: vector<256xf32>, %ids: vector<8xi32>) {
  // CHECK: row.gather_elements %{{[a-z0-9]+}} at %{{[a-z0-9]+}} : vector<256xf32>, vector<8xi32> -> vector<8xf32>
  %0 = row.gather_elements %gate at %ids : vector<256xf32>, vector<8xi32> -> vector<8xf32>
  return
}

// CHECK-LABEL: func.func @by_position
func.func @by_position(%row: index, %rows: index, %ids: vector<9xi32>, %x: vector<9xf32>) {
  // CHECK: %[[NUMBERS:[a-z0-9]+]] = row.sequence %{{[a-z0-9]+}} by %{{[a-z0-9]+}} : vector<9xi32>
  %0 = row.sequence %row by %rows : vector<9xi32>
  // CHECK: row.splice %{{[a-z0-9]+}} before 8, %[[NUMBERS]] : vector<9xi32>
  %1 = row.splice %ids before 8, %0 : vector<9xi32>
  // CHECK: row.splice %{{[a-z0-9]+}} before 1, %{{[a-z0-9]+}} : vector<9xf32>
  %2 = row.splice %x before 1, %x : vector<9xf32>
  return
}

// CHECK-LABEL: func.func @write_runs
func.func @write_runs(%s: vector<7xf8E8M0FNU>, %words: memref<?xi32>, %at: index, %stride: index) {
  // CHECK: row.write %{{[a-z0-9]+}}, %{{[a-z0-9]+}}[%{{[a-z0-9]+}}] per 128 stride %{{[a-z0-9]+}} {pad = 1 : i64, run = 4 : i64} : vector<7xf8E8M0FNU>, memref<?xi32>
  row.write %s, %words[%at] per 128 stride %stride {pad = 1, run = 4} : vector<7xf8E8M0FNU>, memref<?xi32>
  // CHECK: row.read %{{[a-z0-9]+}}[%{{[a-z0-9]+}}] stride %{{[a-z0-9]+}} {run = 4 : i64} : memref<?xi32> -> vector<7xf8E8M0FNU>
  %runs = row.read %words[%at] stride %stride {run = 4} : memref<?xi32> -> vector<7xf8E8M0FNU>
  return
}

// CHECK-LABEL: func.func @memory_as_bytes
func.func @memory_as_bytes(%floats: memref<?xf32>, %at: index) {
  // CHECK: row.bytes %{{[a-z0-9]+}} : memref<?xf32> to memref<?xi8>
  %0 = row.bytes %floats : memref<?xf32> to memref<?xi8>
  // CHECK: row.bytes %{{[a-z0-9]+}}[%{{[a-z0-9]+}}] : memref<?xf32> to memref<?xi8>
  %from = row.bytes %floats[%at] : memref<?xf32> to memref<?xi8>
  return
}

// CHECK-LABEL: func.func @entries
func.func @entries(%slots: memref<?xi32>, %asked: i1, %page: index, %pages: index, %i: index, %n: index) {
  // CHECK: row.may_write %{{[a-z0-9]+}}, %{{[a-z0-9]+}} of %{{[a-z0-9]+}}
  %0 = row.may_write %asked, %page of %pages
  // CHECK: row.is_last %{{[a-z0-9]+}}[%{{[a-z0-9]+}}] of %{{[a-z0-9]+}} : memref<?xi32>
  %1 = row.is_last %slots[%i] of %n : memref<?xi32>
  // CHECK: row.search %{{[a-z0-9]+}} for %{{[a-z0-9]+}} of %{{[a-z0-9]+}} : memref<?xi32>
  %2 = row.search %slots for %i of %n : memref<?xi32>
  return
}

// The element-wise ops, of rows and of fragments.
// CHECK-LABEL: func.func @swap_nibbles
func.func @swap_nibbles(%row: vector<512xf4E2M1FN>, %fragment: vector<4x8xf4E2M1FN>, %ints: vector<8xi4>) {
  // CHECK: row.swap_nibbles %{{[a-z0-9]+}} : vector<512xf4E2M1FN>
  %0 = row.swap_nibbles %row : vector<512xf4E2M1FN>
  // CHECK: row.swap_nibbles %{{[a-z0-9]+}} : vector<4x8xf4E2M1FN>
  %1 = row.swap_nibbles %fragment : vector<4x8xf4E2M1FN>
  // CHECK: row.swap_nibbles %{{[a-z0-9]+}} : vector<8xi4>
  %2 = row.swap_nibbles %ints : vector<8xi4>
  return
}

// CHECK-LABEL: func.func @one_nan
func.func @one_nan(%row: vector<512xf32>, %fragment: vector<4x8xf32>) {
  // CHECK: row.one_nan %{{[a-z0-9]+}} : vector<512xf32>
  %0 = row.one_nan %row : vector<512xf32>
  // CHECK: row.one_nan %{{[a-z0-9]+}} : vector<4x8xf32>
  %1 = row.one_nan %fragment : vector<4x8xf32>
  return
}

// CHECK-LABEL: func.func @encode
func.func @encode(%row: vector<512xf32>, %scales: vector<7xf32>, %fragment: vector<8x4xf32>) {
  // CHECK: row.encode %{{[a-z0-9]+}} : vector<512xf32> to vector<512xf8E4M3FN>
  %0 = row.encode %row : vector<512xf32> to vector<512xf8E4M3FN>
  // CHECK: row.encode %{{[a-z0-9]+}} : vector<8x4xf32> to vector<8x4xf8E4M3FN>
  %1 = row.encode %fragment : vector<8x4xf32> to vector<8x4xf8E4M3FN>
  // CHECK: row.encode %{{[a-z0-9]+}} up : vector<7xf32> to vector<7xf8E8M0FNU>
  %2 = row.encode %scales up : vector<7xf32> to vector<7xf8E8M0FNU>
  // CHECK: row.encode %{{[a-z0-9]+}} up : vector<7xf32> to vector<7xf8E4M3FN>
  %3 = row.encode %scales up : vector<7xf32> to vector<7xf8E4M3FN>
  // CHECK: row.encode %{{[a-z0-9]+}} : vector<512xf32> to vector<512xf4E2M1FN>
  %4 = row.encode %row : vector<512xf32> to vector<512xf4E2M1FN>
  // CHECK: row.encode %{{[a-z0-9]+}} ties_down : vector<512xf32> to vector<512xf4E2M1FN>
  %5 = row.encode %row ties_down : vector<512xf32> to vector<512xf4E2M1FN>
  // CHECK: row.encode %{{[a-z0-9]+}} drop_negative_zero : vector<512xf32> to vector<512xf4E2M1FN>
  %6 = row.encode %row drop_negative_zero : vector<512xf32> to vector<512xf4E2M1FN>
  // CHECK: row.encode %{{[a-z0-9]+}} ties_down drop_negative_zero : vector<512xf32> to vector<512xf4E2M1FN>
  %7 = row.encode %row ties_down drop_negative_zero : vector<512xf32> to vector<512xf4E2M1FN>
  return
}

// CHECK-LABEL: func.func @where_valid
func.func @where_valid(%row: vector<8xf32>, %ids: vector<8xi32>, %id: i32,
                       %fragment: vector<1x4xf32>, %some: vector<1x4xi32>) {
  // CHECK: row.where_valid %{{[a-z0-9]+}} at %{{[a-z0-9]+}} below 256 : vector<8xf32>, vector<8xi32>
  %0 = row.where_valid %row at %ids below 256 : vector<8xf32>, vector<8xi32>
  // CHECK: row.where_valid %{{[a-z0-9]+}} at %{{[a-z0-9]+}} below 256 otherwise 1.500000e+00 : vector<8xf32>, vector<8xi32>
  %1 = row.where_valid %row at %ids below 256 otherwise 1.5 : vector<8xf32>, vector<8xi32>
  // CHECK: row.where_valid %{{[a-z0-9]+}} at %{{[a-z0-9]+}} below 256 : vector<8xi32>, vector<8xi32>
  %indices = row.where_valid %ids at %ids below 256 : vector<8xi32>, vector<8xi32>
  // CHECK: row.where_valid %{{[a-z0-9]+}} at %{{[a-z0-9]+}} below 256 : vector<8xf32>, i32
  %2 = row.where_valid %row at %id below 256 : vector<8xf32>, i32
  // CHECK: row.where_valid %{{[a-z0-9]+}} at %{{[a-z0-9]+}} below 256 : vector<1x4xf32>, vector<1x4xi32>
  %3 = row.where_valid %fragment at %some below 256 : vector<1x4xf32>, vector<1x4xi32>
  return
}

// CHECK-LABEL: func.func @activation
func.func @activation(%row: vector<256xf32>, %fragment: vector<2x4xf32>) {
  // CHECK: row.activation sqrt_softplus %{{[a-z0-9]+}} : vector<256xf32>
  %0 = row.activation sqrt_softplus %row : vector<256xf32>
  // CHECK: row.activation sigmoid %{{[a-z0-9]+}} : vector<256xf32>
  %1 = row.activation sigmoid %row : vector<256xf32>
  // CHECK: row.activation exp %{{[a-z0-9]+}} : vector<2x4xf32>
  %2 = row.activation exp %fragment : vector<2x4xf32>
  // CHECK: row.activation nan_to_zero %{{[a-z0-9]+}} : vector<256xf32>
  %3 = row.activation nan_to_zero %row : vector<256xf32>
  return
}

// CHECK-LABEL: func.func @expand_scales
func.func @expand_scales(%scales: vector<7xf32>, %payload: vector<1xf8E8M0FNU>) {
  // CHECK: row.expand %{{[a-z0-9]+}} : vector<7xf32> to vector<448xf32>
  %0 = row.expand %scales : vector<7xf32> to vector<448xf32>
  // CHECK: row.expand %{{[a-z0-9]+}} : vector<1xf8E8M0FNU> to vector<448xf8E8M0FNU>
  %1 = row.expand %payload : vector<1xf8E8M0FNU> to vector<448xf8E8M0FNU>
  return
}

// CHECK-LABEL: func.func @reduce_groups
func.func @reduce_groups(%x: vector<448xbf16>, %y: vector<512xf32>) {
  // CHECK: row.reduce max_abs %{{[a-z0-9]+}} per 64 : vector<448xbf16> to vector<7xf32>
  %0 = row.reduce max_abs %x per 64 : vector<448xbf16> to vector<7xf32>
  // CHECK: row.reduce max_abs_nan %{{[a-z0-9]+}} per 448 : vector<448xbf16> to vector<1xf32>
  %1 = row.reduce max_abs_nan %x per 448 : vector<448xbf16> to vector<1xf32>
  // CHECK: row.reduce max_nan %{{[a-z0-9]+}} per 512 : vector<512xf32> to vector<1xf32>
  %2 = row.reduce max_nan %y per 512 : vector<512xf32> to vector<1xf32>
  // CHECK: row.reduce sum %{{[a-z0-9]+}} per 512 : vector<512xf32> to vector<1xf32>
  %3 = row.reduce sum %y per 512 : vector<512xf32> to vector<1xf32>
  return
}

// CHECK-LABEL: func.func @hadamard
func.func @hadamard(%x: vector<128xf32>) {
  // CHECK: row.hadamard %{{[a-z0-9]+}} : vector<128xf32>
  %0 = row.hadamard %x : vector<128xf32>
  return
}

// CHECK-LABEL: func.func @join_segments
func.func @join_segments(%a: vector<448xbf16>, %b: vector<64xbf16>) {
  // CHECK: row.join %{{[a-z0-9]+}}, %{{[a-z0-9]+}} : vector<448xbf16>, vector<64xbf16> to vector<512xbf16>
  %0 = row.join %a, %b : vector<448xbf16>, vector<64xbf16> to vector<512xbf16>
  return
}

// CHECK-LABEL: func.func @select
func.func @select(%scores: vector<4096xf32>, %n: index) {
  // CHECK: row.select %{{[a-z0-9]+}} length %{{[a-z0-9]+}} : vector<4096xf32> -> vector<512xi32>, vector<512xf32>
  %0:2 = row.select %scores length %n : vector<4096xf32> -> vector<512xi32>, vector<512xf32>
  // CHECK: row.select %{{[a-z0-9]+}} length %{{[a-z0-9]+}} order sorted : vector<4096xf32> -> vector<8xi32>, vector<8xf32>
  %1:2 = row.select %scores length %n order sorted
      : vector<4096xf32> -> vector<8xi32>, vector<8xf32>
  // CHECK: row.select %{{[a-z0-9]+}} length %{{[a-z0-9]+}} order index_ascending smallest : vector<4096xf32> -> vector<8xi32>, vector<8xf32>
  %2:2 = row.select %scores length %n order index_ascending smallest
      : vector<4096xf32> -> vector<8xi32>, vector<8xf32>
  // CHECK: row.select %{{[a-z0-9]+}} length %{{[a-z0-9]+}} smallest : vector<4096xf32> -> vector<8xi32>, vector<8xf32>
  %3:2 = row.select %scores length %n order unordered smallest
      : vector<4096xf32> -> vector<8xi32>, vector<8xf32>
  // CHECK: row.select %{{[a-z0-9]+}} from %[[START:[a-z0-9]+]] length %{{[a-z0-9]+}} ties high : vector<4096xf32> -> vector<8xi32>, vector<8xf32>
  %4:2 = row.select %scores from %n length %n ties high
      : vector<4096xf32> -> vector<8xi32>, vector<8xf32>
  // CHECK: row.select %{{[a-z0-9]+}} length %{{[a-z0-9]+}} smallest ties high nan first : vector<4096xf32> -> vector<8xi32>, vector<8xf32>
  %5:2 = row.select %scores length %n smallest ties high nan first
      : vector<4096xf32> -> vector<8xi32>, vector<8xf32>
  return
}

// CHECK-LABEL: func.func @select_of_groups
func.func @select_of_groups(%scores: vector<256xf32>, %n: index) {
  // CHECK: row.select %{{[a-z0-9]+}} length %{{[a-z0-9]+}} groups 8 keep 4 by 2 : vector<256xf32> -> vector<8xi32>, vector<8xf32>
  %0:2 = row.select %scores length %n groups 8 keep 4 by 2
      : vector<256xf32> -> vector<8xi32>, vector<8xf32>
  // CHECK: row.select %{{[a-z0-9]+}} length %{{[a-z0-9]+}} groups 8 keep 4 by 2 padding 1 : vector<256xf32> -> vector<9xi32>, vector<9xf32>
  %4:2 = row.select %scores length %n groups 8 keep 4 by 2 padding 1
      : vector<256xf32> -> vector<9xi32>, vector<9xf32>
  // CHECK: row.select %{{[a-z0-9]+}} length %{{[a-z0-9]+}} groups 8 : vector<256xf32> -> vector<8xi32>, vector<8xf32>
  %1:2 = row.select %scores length %n groups 8 keep 1 by 1
      : vector<256xf32> -> vector<8xi32>, vector<8xf32>
  // CHECK: row.select %{{[a-z0-9]+}} length %{{[a-z0-9]+}} order sorted smallest groups 32 keep 32 by 8 : vector<256xf32> -> vector<8xi32>, vector<8xf32>
  %2:2 = row.select %scores length %n order sorted smallest groups 32 keep 32 by 8
      : vector<256xf32> -> vector<8xi32>, vector<8xf32>
  return
}

// CHECK-LABEL: func.func @map_indices
func.func @map_indices(%indices: vector<512xi32>, %slots: memref<?xi32>) {
  // CHECK: row.map %{{[a-z0-9]+}} : vector<512xi32> -> vector<512xi32> {
  // CHECK-NEXT: ^bb0(%[[INDEX:[a-z0-9]+]]: index):
  // CHECK-NEXT: %[[SLOT:[a-z0-9]+]] = memref.load %{{[a-z0-9]+}}[%[[INDEX]]] : memref<?xi32>
  // CHECK-NEXT: row.yield %[[SLOT]] : i32
  // CHECK-NEXT: }
  %0 = row.map %indices : vector<512xi32> -> vector<512xi32> {
  ^bb0(%index: index):
    %slot = memref.load %slots[%index] : memref<?xi32>
    row.yield %slot : i32
  }
  // CHECK: row.map %{{[a-z0-9]+}} : vector<512xi32> -> vector<512xbf16> {
  // CHECK: row.yield %{{[a-z0-9]+}} : bf16
  %1 = row.map %indices : vector<512xi32> -> vector<512xbf16> {
  ^bb0(%index: index):
    %x = arith.constant 1.0 : bf16
    row.yield %x : bf16
  }
  return
}

// What is added to scores waits for no window, so it may be left out.
// CHECK-LABEL: func.func @window
func.func @window(%states: memref<?xf32>, %all: i1, %there: i1, %at: index) {
  // CHECK: row.window_reduce 8 : vector<64xf32> {
  // CHECK-NEXT: row.window %{{[a-z0-9]+}} scores {
  // CHECK-NEXT: ^bb0(%[[I:[a-z0-9]+]]: index):
  // CHECK-NEXT: row.read %{{[a-z0-9]+}}[%[[I]]] : memref<?xf32> -> vector<64xf32>
  // CHECK-NEXT: row.yield %{{[a-z0-9]+}} : vector<64xf32>
  // CHECK-NEXT: } values {
  // CHECK-NEXT: ^bb0(%[[J:[a-z0-9]+]]: index):
  // CHECK-NEXT: row.read %{{[a-z0-9]+}}[%[[J]]] : memref<?xf32> -> vector<64xf32>
  // CHECK-NEXT: row.yield %{{[a-z0-9]+}} : vector<64xf32>
  // CHECK-NEXT: } else {
  // CHECK-NEXT: ^bb0(%[[K:[a-z0-9]+]]: index):
  // CHECK-NEXT: row.read %{{[a-z0-9]+}}[%[[K]]] if %{{[a-z0-9]+}} : memref<?xf32> -> vector<64xf32>
  // CHECK-NEXT: row.window_row %{{[a-z0-9]+}}, %{{[a-z0-9]+}}, %{{[a-z0-9]+}} : vector<64xf32>, vector<64xf32>
  // CHECK-NEXT: }
  // CHECK-NEXT: }
  // CHECK-NEXT: return
  %0 = row.window_reduce 8 : vector<64xf32> {
    row.window %all scores {
    ^bb0(%member: index):
      %x = row.read %states[%member] : memref<?xf32> -> vector<64xf32>
      row.yield %x : vector<64xf32>
    } values {
    ^bb0(%member: index):
      %x = row.read %states[%member] : memref<?xf32> -> vector<64xf32>
      row.yield %x : vector<64xf32>
    } else {
    ^bb0(%member: index):
      %x = row.read %states[%member] if %there : memref<?xf32> -> vector<64xf32>
      row.window_row %there, %x, %x : vector<64xf32>, vector<64xf32>
    }
  }
  return
}

// CHECK-LABEL: func.func @window_with_offsets
func.func @window_with_offsets(%offsets: memref<?xf32>, %x: vector<64xf32>, %all: i1) {
  // CHECK: row.window_reduce 128 attributes {note} : vector<64xf32> {
  // CHECK: row.window_row
  // CHECK-NEXT: }
  // CHECK-NEXT: } offsets {
  // CHECK-NEXT: ^bb0(%[[MEMBER:[a-z0-9]+]]: index):
  // CHECK-NEXT: %[[OFFSETS:[a-z0-9]+]] = row.read %{{[a-z0-9]+}}[%[[MEMBER]]] : memref<?xf32> -> vector<64xf32>
  // CHECK-NEXT: row.yield %[[OFFSETS]] : vector<64xf32>
  // CHECK-NEXT: }
  %0 = row.window_reduce 128 attributes {note} : vector<64xf32> {
    row.window %all scores {
    ^bb0(%member: index):
      row.yield %x : vector<64xf32>
    } values {
    ^bb0(%member: index):
      row.yield %x : vector<64xf32>
    } else {
    ^bb0(%member: index):
      row.window_row %all, %x, %x : vector<64xf32>, vector<64xf32>
    }
  } offsets {
  ^bb0(%member: index):
    %o = row.read %offsets[%member] : memref<?xf32> -> vector<64xf32>
    row.yield %o : vector<64xf32>
  }
  return
}

// CHECK-LABEL: func.func @segment
func.func @segment(%rows: memref<?xbf16>, %sums: memref<?xf32>, %n: index, %known: i1, %kept: i1,
                   %ends: i1) {
  // CHECK: row.window_reduce_online 128 : vector<64xf32> {
  // CHECK-NEXT: row.window_segment %{{[a-z0-9]+}} known %{{[a-z0-9]+}} kept %{{[a-z0-9]+}} ends %{{[a-z0-9]+}} begin {
  // CHECK: row.yield %{{[a-z0-9]+}}, %{{[a-z0-9]+}}, %{{[a-z0-9]+}} : vector<64xf32>, vector<64xf32>, vector<64xf32>
  // CHECK-NEXT: } member {
  // CHECK-NEXT: ^bb0(%[[MEMBER:[a-z0-9]+]]: index):
  // CHECK-NEXT: row.read %{{[a-z0-9]+}}[%[[MEMBER]]] : memref<?xbf16> -> vector<64xbf16>
  // CHECK-NEXT: row.yield %{{[a-z0-9]+}}, %{{[a-z0-9]+}} : vector<64xbf16>, vector<64xbf16>
  // CHECK-NEXT: } end {
  // CHECK-NEXT: ^bb0(%[[MOST:[a-z0-9]+]]: vector<64xf32>, %{{[a-z0-9]+}}: vector<64xf32>, %{{[a-z0-9]+}}: vector<64xf32>):
  // CHECK-NEXT: row.write %[[MOST]], %{{[a-z0-9]+}}[%{{[a-z0-9]+}}] : vector<64xf32>, memref<?xf32>
  // CHECK-NEXT: row.yield
  // CHECK-NEXT: }
  // CHECK-NEXT: }
  %0 = row.window_reduce_online 128 : vector<64xf32> {
    row.window_segment %n known %known kept %kept ends %ends begin {
      %m = row.read %sums[%n] : memref<?xf32> -> vector<64xf32>
      row.yield %m, %m, %m : vector<64xf32>, vector<64xf32>, vector<64xf32>
    } member {
    ^bb0(%member: index):
      %x = row.read %rows[%member] : memref<?xbf16> -> vector<64xbf16>
      row.yield %x, %x : vector<64xbf16>, vector<64xbf16>
    } end {
    ^bb0(%most: vector<64xf32>, %weights: vector<64xf32>, %sum: vector<64xf32>):
      row.write %most, %sums[%n] : vector<64xf32>, memref<?xf32>
      row.yield
    }
  }
  return
}

// Offsets are as they are stored, of a type of their own.
// CHECK-LABEL: func.func @segment_with_offsets
func.func @segment_with_offsets(%s: vector<64xf32>, %x: vector<64xbf16>, %n: index, %known: i1) {
  // CHECK: row.window_reduce_online 4 attributes {note} : vector<64xf32> {
  // CHECK: row.window_segment %{{[a-z0-9]+}} known %{{[a-z0-9]+}} kept %{{[a-z0-9]+}} ends %{{[a-z0-9]+}} attributes {hint} begin {
  // CHECK: row.yield %{{[a-z0-9]+}}, %{{[a-z0-9]+}}, %{{[a-z0-9]+}} : vector<64xbf16>, vector<64xbf16>, vector<64xf32>
  %0 = row.window_reduce_online 4 attributes {note} : vector<64xf32> {
    row.window_segment %n known %known kept %known ends %known attributes {hint} begin {
      row.yield %s, %s, %s : vector<64xf32>, vector<64xf32>, vector<64xf32>
    } member {
    ^bb0(%member: index):
      row.yield %x, %x, %s : vector<64xbf16>, vector<64xbf16>, vector<64xf32>
    } end {
    ^bb0(%most: vector<64xf32>, %weights: vector<64xf32>, %sum: vector<64xf32>):
      row.yield
    }
  }
  return
}

// CHECK-LABEL: func.func @narrow
func.func @narrow(%x: i64, %row: vector<8xi64>, %fragment: vector<2x4xi64>,
                  %slots: memref<?xi64>, %i: index) {
  // CHECK: row.narrow %{{[a-z0-9]+}} : i64 to i32
  %0 = row.narrow %x : i64 to i32
  // CHECK: row.narrow %{{[a-z0-9]+}} saturate : i64 to i32
  %1 = row.narrow %x saturate : i64 to i32
  // CHECK: row.narrow %{{[a-z0-9]+}} : vector<8xi64> to vector<8xi32>
  %2 = row.narrow %row : vector<8xi64> to vector<8xi32>
  // CHECK: row.narrow %{{[a-z0-9]+}} : vector<2x4xi64> to vector<2x4xi32>
  %3 = row.narrow %fragment : vector<2x4xi64> to vector<2x4xi32>
  // CHECK: row.is_last %{{[a-z0-9]+}}[%{{[a-z0-9]+}}] of %{{[a-z0-9]+}} : memref<?xi64>
  %4 = row.is_last %slots[%i] of %i : memref<?xi64>
  return
}
