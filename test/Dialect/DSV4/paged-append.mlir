// paged_append with all of its optional parts, read back from its own text, from
// generic text and from bytecode.

// RUN: dsv4-opt %s | dsv4-opt | FileCheck %s
// RUN: dsv4-opt %s -mlir-print-op-generic | dsv4-opt | FileCheck %s
// RUN: dsv4-opt %s --emit-bytecode | dsv4-opt --allow-bytecode | FileCheck %s

// CHECK-LABEL: func.func @append
func.func @append(%cache: !dsv4.cache<64 x <v4_584>>, %slots: tensor<?xi32>,
                  %nope: tensor<?x448xf8E4M3FN>, %rope: tensor<?x64xbf16>,
                  %scale: tensor<?x7xf8E8M0FNU>) {
  // CHECK: dsv4.paged_append %{{[a-z0-9_]+}}[%{{[a-z0-9_]+}}] fields(%{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}} : tensor<?x448xf8E4M3FN>, tensor<?x64xbf16>, tensor<?x7xf8E8M0FNU>) : !dsv4.cache<64 x #v4_584>, tensor<?xi32>
  dsv4.paged_append %cache[%slots]
      fields(%nope, %rope, %scale : tensor<?x448xf8E4M3FN>, tensor<?x64xbf16>, tensor<?x7xf8E8M0FNU>)
      : !dsv4.cache<64 x <v4_584>>, tensor<?xi32>
  return
}

// Fields that are columns of wider operands, one of them of two fields.
// CHECK-LABEL: func.func @append_columns
func.func @append_columns(%cache: !dsv4.cache<64 x <[<"a" : 8 x bf16 in row>, <"b" : 8 x bf16 in row>]>>,
                          %slots: tensor<8xi32>, %x: tensor<?x65536xbf16>) {
  // CHECK: dsv4.paged_append %{{[a-z0-9_]+}}[%{{[a-z0-9_]+}}] unique fields(%[[X:[a-z0-9_]+]], %[[X]] : tensor<?x65536xbf16>, tensor<?x65536xbf16>) columns [0, 65528] : !dsv4.cache<64 x #{{[a-z0-9_]+}}>, tensor<8xi32>
  dsv4.paged_append %cache[%slots] unique
      fields(%x, %x : tensor<?x65536xbf16>, tensor<?x65536xbf16>) columns [0, 65528]
      : !dsv4.cache<64 x <[<"a" : 8 x bf16 in row>, <"b" : 8 x bf16 in row>]>>, tensor<8xi32>
  return
}

// A scale per row has one axis or two.
// CHECK-LABEL: func.func @append_per_row
func.func @append_per_row(%cache: !dsv4.cache<64 x <seed_580>>, %slots: tensor<?xi32>,
                          %nope: tensor<?x448xf8E4M3FN>, %x: tensor<?x512xbf16>,
                          %scale: tensor<?xf32>, %scales: tensor<?x4xf32>) {
  // CHECK: dsv4.paged_append {{.*}} fields(%{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}} : tensor<?x448xf8E4M3FN>, tensor<?x512xbf16>, tensor<?xf32>) columns [0, 448, 0] : !dsv4.cache<64 x #seed_580>, tensor<?xi32>
  dsv4.paged_append %cache[%slots]
      fields(%nope, %x, %scale : tensor<?x448xf8E4M3FN>, tensor<?x512xbf16>, tensor<?xf32>)
      columns [0, 448, 0] : !dsv4.cache<64 x <seed_580>>, tensor<?xi32>
  // CHECK: dsv4.paged_append {{.*}} tensor<?x4xf32>) columns [0, 448, 3] : !dsv4.cache<64 x #seed_580>, tensor<?xi32>
  dsv4.paged_append %cache[%slots]
      fields(%nope, %x, %scales : tensor<?x448xf8E4M3FN>, tensor<?x512xbf16>, tensor<?x4xf32>)
      columns [0, 448, 3] : !dsv4.cache<64 x <seed_580>>, tensor<?xi32>
  return
}

// A scale per tensor is not written.
// CHECK-LABEL: func.func @append_per_tensor
func.func @append_per_tensor(%cache: !dsv4.cache<64 x <nvfp4_arrays_288>>, %slots: tensor<?xi32>,
                             %kv: tensor<?x512xf4E2M1FN>, %scale: tensor<?x32xf8E4M3FN>) {
  // CHECK: dsv4.paged_append {{.*}} fields(%{{[a-z0-9_]+}}, %{{[a-z0-9_]+}} : tensor<?x512xf4E2M1FN>, tensor<?x32xf8E4M3FN>) : !dsv4.cache<64 x #nvfp4_arrays_288>, tensor<?xi32>
  dsv4.paged_append %cache[%slots]
      fields(%kv, %scale : tensor<?x512xf4E2M1FN>, tensor<?x32xf8E4M3FN>)
      : !dsv4.cache<64 x <nvfp4_arrays_288>>, tensor<?xi32>
  return
}

// CHECK-LABEL: func.func @ring
func.func @ring(%cache: !dsv4.cache<64 x <bf16_1024>>, %positions: tensor<?xi32>,
                %requests: tensor<?xi32>, %table: tensor<?x2xi32>, %lengths: tensor<?xi32>,
                %kv: tensor<?x512xbf16>) {
  // CHECK: dsv4.paged_append %{{[a-z0-9_]+}}[%{{[a-z0-9_]+}}] ring 128 unique
  // CHECK-SAME: requests(%{{[a-z0-9_]+}} : tensor<?xi32>) pages(%{{[a-z0-9_]+}} : tensor<?x2xi32>) lengths(%{{[a-z0-9_]+}} : tensor<?xi32>)
  // CHECK-SAME: fields(%{{[a-z0-9_]+}} : tensor<?x512xbf16>) columns [0] : !dsv4.cache<64 x #bf16_1024>, tensor<?xi32>
  dsv4.paged_append %cache[%positions] ring 128 unique requests(%requests : tensor<?xi32>)
      pages(%table : tensor<?x2xi32>) lengths(%lengths : tensor<?xi32>)
      fields(%kv : tensor<?x512xbf16>) columns [0] : !dsv4.cache<64 x <bf16_1024>>, tensor<?xi32>
  // A ring that divides the page, with as many requests as tokens.
  // CHECK: dsv4.paged_append %{{[a-z0-9_]+}}[%{{[a-z0-9_]+}}] ring 16 lengths(%{{[a-z0-9_]+}} : tensor<?xi32>) fields(
  dsv4.paged_append %cache[%positions] ring 16 lengths(%lengths : tensor<?xi32>)
      fields(%kv : tensor<?x512xbf16>) : !dsv4.cache<64 x <bf16_1024>>, tensor<?xi32>
  // The longest.
  // CHECK: dsv4.paged_append %{{[a-z0-9_]+}}[%{{[a-z0-9_]+}}] ring 2147483584 pages(%{{[a-z0-9_]+}} : tensor<?x2xi32>) lengths(
  dsv4.paged_append %cache[%positions] ring 2147483584 pages(%table : tensor<?x2xi32>)
      lengths(%lengths : tensor<?xi32>) fields(%kv : tensor<?x512xbf16>)
      : !dsv4.cache<64 x <bf16_1024>>, tensor<?xi32>
  return
}

// Positions without a ring, by a table and by a list of pages.
// CHECK-LABEL: func.func @pages
func.func @pages(%cache: !dsv4.cache<64 x <bf16_1024>>, %positions: tensor<?xi32>,
                 %requests: tensor<?xi32>, %table: tensor<?x?xi32>, %list: tensor<?xi32>,
                 %starts: tensor<?xi32>, %kv: tensor<?x512xbf16>) {
  // CHECK: dsv4.paged_append %{{[a-z0-9_]+}}[%{{[a-z0-9_]+}}] unique pages(%{{[a-z0-9_]+}} : tensor<?x?xi32>) fields(%{{[a-z0-9_]+}} : tensor<?x512xbf16>) : !dsv4.cache<64 x #bf16_1024>, tensor<?xi32>
  dsv4.paged_append %cache[%positions] unique pages(%table : tensor<?x?xi32>)
      fields(%kv : tensor<?x512xbf16>) : !dsv4.cache<64 x <bf16_1024>>, tensor<?xi32>
  // CHECK: dsv4.paged_append %{{[a-z0-9_]+}}[%{{[a-z0-9_]+}}] unique requests(%{{[a-z0-9_]+}} : tensor<?xi32>) pages(%{{[a-z0-9_]+}} : tensor<?xi32>) indptr(%{{[a-z0-9_]+}} : tensor<?xi32>) fields(
  dsv4.paged_append %cache[%positions] unique requests(%requests : tensor<?xi32>)
      pages(%list : tensor<?xi32>) indptr(%starts : tensor<?xi32>)
      fields(%kv : tensor<?x512xbf16>) : !dsv4.cache<64 x <bf16_1024>>, tensor<?xi32>
  return
}
