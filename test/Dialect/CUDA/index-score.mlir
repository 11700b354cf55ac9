// Scores of keys, and who stores rows that come as tiles, read back.

// RUN: dsv4-opt %s | dsv4-opt | FileCheck %s
// RUN: dsv4-opt %s -mlir-print-op-generic | dsv4-opt | FileCheck %s
// RUN: dsv4-opt %s --emit-bytecode | dsv4-opt --allow-bytecode | FileCheck %s

// CHECK-LABEL: func.func @tiles
// CHECK: cuda.store_tiles rows 2 max 4096 source {
// CHECK-NEXT: ^bb0(%[[CONSUME:.*]]: !cuda.callable):
// CHECK-NEXT: cuda.index_score %[[CONSUME]], %{{[a-z0-9]+}}, %{{[a-z0-9]+}} head %{{[a-z0-9]+}} scales %{{[a-z0-9]+}} head %{{[a-z0-9]+}} weights %{{[a-z0-9]+}} keys %{{[a-z0-9]+}} page %{{[a-z0-9]+}} entry %{{[a-z0-9]+}}
// CHECK-SAME: key_scales %{{[a-z0-9]+}} page %{{[a-z0-9]+}} entry %{{[a-z0-9]+}} columns %{{[a-z0-9]+}} rows 2 tile_columns 64 heads 3 dim 128 page_size 64
// CHECK-SAME: scale_base 4096 query_align 16 key_align 16 scale_align 4 query "mxfp4" key "mxfp4"
// CHECK-SAME: : memref<?xi8>, memref<?xi8>, index scales memref<?xi8>, index, memref<?xf32>, memref<?xi8>, index, index
// CHECK-SAME: key_scales memref<?xi8>, index, index, index row {
// CHECK-NEXT: ^bb0(%{{[a-z0-9]+}}: index):
// CHECK-NEXT: cuda.tile_yield %{{[a-z0-9]+}}, %{{[a-z0-9]+}}, %{{[a-z0-9]+}}, %{{[a-z0-9]+}}, %{{[a-z0-9]+}} : index, index, index, index, index
// CHECK: } page {
// CHECK-NEXT: ^bb0(%{{[a-z0-9]+}}: index, %[[NUMBER:.*]]: index):
// CHECK-NEXT: cuda.tile_yield %[[NUMBER]] : index
// CHECK: } emit {
// CHECK-NEXT: ^bb0(%{{[a-z0-9]+}}: index, %{{[a-z0-9]+}}: index, %{{[a-z0-9]+}}: f32):
// CHECK-NEXT: cuda.tile_yield
func.func @tiles(%m: memref<?xi8>, %q: memref<?xi8>, %w: memref<?xf32>, %n: index) {
  cuda.store_tiles rows 2 max 4096 source {
  ^bb0(%consume: !cuda.callable):
    cuda.index_score %consume, %m, %q head %n scales %q head %n weights %w keys %q page %n entry %n
        key_scales %q page %n entry %n columns %n rows 2 tile_columns 64 heads 3 dim 128 page_size 64
        scale_base 4096 query_align 16 key_align 16 scale_align 4 query "mxfp4" key "mxfp4"
        : memref<?xi8>, memref<?xi8>, index scales memref<?xi8>, index, memref<?xf32>, memref<?xi8>, index, index
        key_scales memref<?xi8>, index, index, index row {
    ^bb0(%row: index):
      cuda.tile_yield %n, %n, %n, %n, %n : index, index, index, index, index
    } page {
    ^bb0(%row: index, %number: index):
      cuda.tile_yield %number : index
    }
    cuda.tile_yield
  } emit {
  ^bb0(%row: index, %column: index, %value: f32):
    cuda.tile_yield
  }
  return
}

// Without scales, and with numbers of a width.
// CHECK-LABEL: func.func @legal
// CHECK: cuda.index_score %{{[a-z0-9]+}}, %{{[a-z0-9]+}}, %{{[a-z0-9]+}} head %{{[a-z0-9]+}} weights %{{[a-z0-9]+}} keys %{{[a-z0-9]+}} page %{{[a-z0-9]+}} entry %{{[a-z0-9]+}} columns %{{[a-z0-9]+}} rows 1
// CHECK-SAME: query "bf16" key "bf16" : memref<?xi8>, memref<?xbf16>, i64, memref<?xf32>, memref<?xbf16>, i64, i64, i32 row {
func.func @legal(%m: memref<?xi8>, %q: memref<?xbf16>, %w: memref<?xf32>, %n: i64, %c: i32) {
  cuda.store_tiles rows 1 max 70 source {
  ^bb0(%consume: !cuda.callable):
    cuda.index_score %consume, %m, %q head %n weights %w keys %q page %n entry %n columns %c rows 1 tile_columns 32
        heads 1 dim 64 page_size 64 query "bf16" key "bf16"
        : memref<?xi8>, memref<?xbf16>, i64, memref<?xf32>, memref<?xbf16>, i64, i64, i32 row {
    ^bb0(%row: i32):
      cuda.tile_yield %n, %n, %n, %c, %c : i64, i64, i64, i32, i32
    } page {
    ^bb0(%row: i32, %number: i32):
      cuda.tile_yield %number : i32
    }
    cuda.tile_yield
  } emit {
  ^bb0(%row: i32, %column: i32, %value: f32):
    cuda.tile_yield
  }
  return
}
