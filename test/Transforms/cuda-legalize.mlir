// Every index gets a width: 32 bits where its value is known to fit, else 64.

// RUN: dsv4-opt %s --pass-pipeline="builtin.module(gpu.module(cuda-legalize,canonicalize,cse))" --split-input-file | FileCheck %s

// A launch has less than 2^31 rows, so the row has 32 bits; 512 elements per row
// need 64.
// CHECK-LABEL: gpu.func @rows
gpu.module @m {
  gpu.func @rows(%in: memref<?xi32>, %out: memref<?xi32>) kernel {
    // CHECK-DAG: %[[T:.*]] = arith.index_cast %thread_id_x : index to i32
    // CHECK-DAG: %[[B:.*]] = arith.index_cast %block_id_x : index to i32
    // CHECK: %[[R0:.*]] = arith.muli %[[B]], %c128_i32 : i32
    // CHECK: %[[ROW:.*]] = arith.addi %[[R0]], %[[T]] : i32
    // CHECK: %[[V:.*]] = cuda.load %{{.*}}[%[[ROW]]] : memref<?xi32>, i32 -> i32
    // CHECK: %[[WIDE:.*]] = arith.extsi %[[ROW]] : i32 to i64
    // CHECK: %[[AT:.*]] = arith.muli %[[WIDE]], %c512_i64 : i64
    // CHECK: cuda.store %[[V]], %{{.*}}[%[[AT]]] : i32, memref<?xi32>, i64
    %t = gpu.thread_id x upper_bound 128
    %b = gpu.block_id x upper_bound 16777216
    %c128 = arith.constant 128 : index
    %c512 = arith.constant 512 : index
    %0 = arith.muli %b, %c128 : index
    %row = arith.addi %0, %t : index
    %v = memref.load %in[%row] : memref<?xi32>
    %at = arith.muli %row, %c512 : index
    memref.store %v, %out[%at] : memref<?xi32>
    gpu.return
  }
}

// -----

// The same with a grid that is small enough: 32 bits throughout.
// CHECK-LABEL: gpu.func @small_grid
gpu.module @m {
  gpu.func @small_grid(%in: memref<?xi32>, %out: memref<?xi32>) kernel {
    // CHECK-NOT: i64
    // CHECK: cuda.store %{{.*}} : i32, memref<?xi32>, i32
    // CHECK-NOT: i64
    // CHECK: gpu.return
    %t = gpu.thread_id x upper_bound 128
    %b = gpu.block_id x upper_bound 1024
    %c128 = arith.constant 128 : index
    %c512 = arith.constant 512 : index
    %0 = arith.muli %b, %c128 : index
    %row = arith.addi %0, %t : index
    %v = memref.load %in[%row] : memref<?xi32>
    %at = arith.muli %row, %c512 : index
    memref.store %v, %out[%at] : memref<?xi32>
    gpu.return
  }
}

// -----

// 2^31 - 1 fits, 2^31 does not.
// CHECK-LABEL: gpu.func @edge
gpu.module @m {
  gpu.func @edge(%out: memref<?xi32>, %a: i32 {cuda.range = array<i64: 0, 2147483646>},
                 %b: i32 {cuda.range = array<i64: 0, 2147483647>}) kernel {
    // CHECK: %[[A:.*]] = arith.addi %{{.*}}, %c1_i32 : i32
    // CHECK: cuda.store %c1_i32, %{{.*}}[%[[A]]] : i32, memref<?xi32>, i32
    // CHECK: %[[B:.*]] = arith.addi %{{.*}}, %c1_i64 : i64
    // CHECK: cuda.store %c1_i32, %{{.*}}[%[[B]]] : i32, memref<?xi32>, i64
    %c1 = arith.constant 1 : index
    %v = arith.constant 1 : i32
    %x = arith.index_cast %a : i32 to index
    %y = arith.index_cast %b : i32 to index
    %0 = arith.addi %x, %c1 : index
    memref.store %v, %out[%0] : memref<?xi32>
    %1 = arith.addi %y, %c1 : index
    memref.store %v, %out[%1] : memref<?xi32>
    gpu.return
  }
}

// -----

// A quotient is narrow where its dividend is wide: divided wide, then truncated.
// Neither operand is negative, so the division is unsigned.
// CHECK-LABEL: gpu.func @quotient
gpu.module @m {
  gpu.func @quotient(%out: memref<?xi32>, %a: i32 {cuda.range = array<i64: 0, 2147483647>}) kernel {
    // CHECK: %[[W:.*]] = arith.muli %{{.*}}, %c96_i64 : i64
    // CHECK: %[[Q:.*]] = arith.divui %[[W]], %c256_i64 : i64
    // CHECK: %[[N:.*]] = arith.trunci %[[Q]] : i64 to i32
    // CHECK: cuda.store %{{.*}}[%[[N]]] : i32, memref<?xi32>, i32
    %c96 = arith.constant 96 : index
    %c256 = arith.constant 256 : index
    %v = arith.constant 1 : i32
    %x = arith.index_cast %a : i32 to index
    %0 = arith.muli %x, %c96 : index
    %1 = arith.divsi %0, %c256 : index
    memref.store %v, %out[%1] : memref<?xi32>
    gpu.return
  }
}

// -----

// A division is unsigned where neither operand is negative.
// CHECK-LABEL: gpu.func @unsigned
gpu.module @m {
  gpu.func @unsigned(%out: memref<?xi32>, %n: i32 {cuda.range = array<i64: 1, 64>}) kernel {
    // CHECK: arith.divui %{{.*}}, %c8_i32 : i32
    // CHECK: arith.remui %{{.*}}, %c8_i32 : i32
    // CHECK: arith.divui %{{.*}}, %{{.*}} : i32
    // CHECK: arith.remui %{{.*}}, %{{.*}} : i32
    %c8 = arith.constant 8 : index
    %t = gpu.thread_id x upper_bound 128
    %m = arith.index_cast %n : i32 to index
    %q = arith.divui %t, %c8 : index
    %r = arith.remui %t, %c8 : index
    %s = arith.addi %q, %r : index
    %u = arith.divsi %s, %m : index
    %w = arith.remsi %s, %m : index
    %x = arith.addi %u, %w : index
    %v = arith.index_cast %x : index to i32
    memref.store %v, %out[%t] : memref<?xi32>
    gpu.return
  }
}

// -----

// A quotient that is a scale of a product of 64 bits stays signed, unless the other
// scale is a constant.
// CHECK-LABEL: gpu.func @scale
gpu.module @m {
  gpu.func @scale(%out: memref<?xi32>, %n: i32 {cuda.range = array<i64: 0, 2147483647>}) kernel {
    // CHECK: arith.divsi %{{.*}}, %c8_i32 : i32
    // CHECK: arith.divui %{{.*}}, %c4_i32 : i32
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %c512 = arith.constant 512 : index
    %v = arith.constant 1 : i32
    %m = arith.index_cast %n : i32 to index
    %q = arith.divsi %m, %c8 : index
    %x = arith.muli %q, %m : index
    memref.store %v, %out[%x] : memref<?xi32>
    %r = arith.divsi %m, %c4 : index
    %y = arith.muli %r, %c512 : index
    memref.store %v, %out[%y] : memref<?xi32>
    gpu.return
  }
}

// -----

// Comparisons are made in the wider of two widths.
// CHECK-LABEL: gpu.func @compare
gpu.module @m {
  gpu.func @compare(%out: memref<?xi8>, %a: i32 {cuda.range = array<i64: 0, 2147483647>}) kernel {
    // CHECK: %[[W:.*]] = arith.muli %{{.*}}, %c4_i64 : i64
    // CHECK: arith.cmpi slt, %[[W]], %c1000_i64 : i64
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %c1000 = arith.constant 1000 : index
    %x = arith.index_cast %a : i32 to index
    %0 = arith.muli %x, %c4 : index
    %1 = arith.cmpi slt, %0, %c1000 : index
    %2 = arith.extui %1 : i1 to i8
    memref.store %2, %out[%c0] : memref<?xi8>
    gpu.return
  }
}

// -----

// A value that was loaded has the range of its type, so it is divided as signed.
// CHECK-LABEL: gpu.func @loaded
gpu.module @m {
  gpu.func @loaded(%in: memref<?xi32>, %out: memref<?xi32>) kernel {
    // CHECK: %[[V:.*]] = cuda.load %{{.*}}[%c0_i32]
    // CHECK: %[[Q:.*]] = arith.divsi %[[V]], %c64_i32 : i32
    // CHECK: %[[W:.*]] = arith.extsi %[[Q]] : i32 to i64
    // CHECK: arith.muli %[[W]], %c37440_i64 : i64
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %c37440 = arith.constant 37440 : index
    %v = memref.load %in[%c0] : memref<?xi32>
    %i = arith.index_cast %v : i32 to index
    %0 = arith.divsi %i, %c64 : index
    %1 = arith.muli %0, %c37440 : index
    memref.store %v, %out[%1] : memref<?xi32>
    gpu.return
  }
}

// -----

// Vectors, and columns of a row, are counted by 32 bits; what has them already keeps them.
// CHECK-LABEL: gpu.func @vectors
gpu.module @m {
  gpu.func @vectors(%in: memref<?xf32>, %out: memref<?xf32>, %n: i32) kernel {
    // CHECK: %[[COUNT:.*]] = arith.select %{{.*}}, %c2_i32, %c1_i32 : i32
    // CHECK: %[[X:.*]] = cuda.load %{{.*}} vectors %[[COUNT]] : i32 stride 64 : memref<?xf32>, i32 -> vector<2x4xf32>
    // CHECK: %[[KEPT:.*]] = cuda.keep_vectors %[[X]], %{{.*}} otherwise 0.000000e+00 : vector<2x4xf32>, i32
    // CHECK: cuda.store %[[KEPT]], %{{.*}} vectors %{{.*}} : i32 stride 64 : vector<2x4xf32>, memref<?xf32>, i32
    %t = gpu.thread_id x upper_bound 128
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %first = arith.cmpi slt, %t, %c2 : index
    %count = arith.select %first, %c2, %c1 : index
    %x = cuda.load %in[%t] vectors %count : index stride 64 : memref<?xf32>, index -> vector<2x4xf32>
    %kept = cuda.keep_vectors %x, %n otherwise 0.0 : vector<2x4xf32>, i32
    cuda.store %kept, %out[%t] vectors %n : i32 stride 64 : vector<2x4xf32>, memref<?xf32>, index
    gpu.return
  }
}

// -----

// A named number is an integer that the kernel begins with, once for all uses.
// CHECK-LABEL: gpu.func @named
gpu.module @m {
  gpu.func @named(%in: memref<?xi8>, %out: memref<?xi8>, %p: i32 {cuda.range = array<i64: 0, 2147483647>}) kernel {
    // CHECK-NEXT: %[[PAGE:.*]] = cuda.constant "page_bytes" = 37440 : i32
    // CHECK-NEXT: %[[ALL:.*]] = cuda.constant "all_bytes" = 4294967296 : i64
    // CHECK-NOT: cuda.constant
    // CHECK: %[[WIDE:.*]] = arith.extsi %[[PAGE]] : i32 to i64
    // CHECK: %[[START:.*]] = arith.muli %{{.*}}, %[[WIDE]] : i64
    // CHECK: arith.addi %[[START]], %[[ALL]] : i64
    // CHECK: cuda.load %{{.*}}[%[[PAGE]]]
    %page = cuda.constant "page_bytes" = 37440 : index
    %again = cuda.constant "page_bytes" = 37440 : index
    %all = cuda.constant "all_bytes" = 4294967296 : index
    %i = arith.index_cast %p : i32 to index
    %start = arith.muli %i, %page : index
    %end = arith.addi %start, %all : index
    %x = cuda.load %in[%again] : memref<?xi8>, index -> i8
    cuda.store %x, %out[%end] : i8, memref<?xi8>, index
    gpu.return
  }
}

// -----

// Arguments of regions are integers. What depends on the row of a segment has 64 bits,
// and so has the last sum of an offset in the other regions of windows.
// CHECK-LABEL: gpu.func @regions
gpu.module @m {
  gpu.func @regions(%in: memref<?xf32>, %out: memref<?xf32>, %n: i32, %b: i1) kernel {
    %c4 = arith.constant 4 : index
    // CHECK: cuda.select 8 of %{{.*}} max 64 threads 64 : i32 load {
    // CHECK-NEXT: ^bb0(%[[COLUMN:.*]]: i32):
    // CHECK-NEXT: cuda.load %{{.*}}[%[[COLUMN]]] : memref<?xf32>, i32
    // CHECK: emit {
    // CHECK-NEXT: ^bb0(%{{.*}}: i32, %{{.*}}: i32, %{{.*}}: f32):
    %c64 = arith.constant 64 : index
    cuda.select 8 of %c64 max 64 threads 64 : index load {
    ^bb0(%column: index):
      %x = cuda.load %in[%column] : memref<?xf32>, index -> vector<1x4xf32>
      cuda.select_yield %x : vector<1x4xf32>
    } emit {
    ^bb0(%rank: index, %index: index, %value: f32):
      memref.store %value, %out[%rank] : memref<?xf32>
      cuda.select_yield
    }
    // CHECK: cuda.window_reduce 8 at %{{.*}} of %{{.*}} : i32, i32
    // CHECK-NEXT: ^bb0(%{{.*}}: i32):
    // CHECK: ^bb0(%[[MEMBER:.*]]: i32, %[[LANE:.*]]: i32):
    // CHECK-NEXT: %[[AT:.*]] = arith.muli %[[MEMBER]], %c4_i32 : i32
    // CHECK-DAG: %[[A:.*]] = arith.extsi %[[AT]] : i32 to i64
    // CHECK-DAG: %[[B:.*]] = arith.extsi %[[LANE]] : i32 to i64
    // CHECK: %[[SUM:.*]] = arith.addi %[[A]], %[[B]] : i64
    // CHECK-NEXT: cuda.load %{{.*}}[%[[SUM]]] : memref<?xf32>, i64
    %i = arith.index_cast %n : i32 to index
    %0 = cuda.window_reduce 8 at %i of %i : index, index to vector<1x1xf32> {
    ^bb0(%row: index):
      cuda.window %b scores {
      ^bb0(%member: index, %lane: index):
        %at = arith.muli %member, %c4 : index
        %sum = arith.addi %at, %lane : index
        %x = cuda.load %in[%sum] : memref<?xf32>, index -> vector<1x1xf32>
        cuda.window_yield %x : vector<1x1xf32>
      } values {
      ^bb0(%member: index, %lane: index):
        %x = cuda.load %in[%lane] : memref<?xf32>, index -> vector<1x1xf32>
        cuda.window_yield %x : vector<1x1xf32>
      } else {
      ^bb0(%member: index, %lane: index):
        %x = cuda.load %in[%lane] : memref<?xf32>, index -> vector<1x1xf32>
        cuda.window_row %b, %x, %x : vector<1x1xf32>, vector<1x1xf32>
      }
    }
    cuda.store %0, %out[%i] : vector<1x1xf32>, memref<?xf32>, index
    // CHECK: cuda.window_segment
    // CHECK: ^bb0(%[[ROW:.*]]: i64, %[[PART:.*]]: i32):
    // CHECK: %[[FIRST:.*]] = arith.muli %[[ROW]], %c4_i64 : i64
    // CHECK: %[[P:.*]] = arith.extsi %[[PART]] : i32 to i64
    // CHECK: arith.addi %[[FIRST]], %[[P]] : i64
    %1 = cuda.window_reduce_online 8 at %i of %i : index, index to vector<1x1xf32> {
    ^bb0(%row: index):
      cuda.window_segment %i known %b kept %b ends %b : index begin {
      ^bb0(%lane: index):
        %x = cuda.load %in[%lane] : memref<?xf32>, index -> vector<1x1xf32>
        cuda.window_yield %x, %x, %x : vector<1x1xf32>, vector<1x1xf32>, vector<1x1xf32>
      } member {
      ^bb0(%member: index, %lane: index):
        %at = arith.muli %member, %c4 : index
        %sum = arith.addi %at, %lane : index
        %x = cuda.load %in[%sum] : memref<?xf32>, index -> vector<1x1xf32>
        cuda.window_yield %x, %x : vector<1x1xf32>, vector<1x1xf32>
      } end {
      ^bb0(%lane: index, %m: vector<1x1xf32>, %s: vector<1x1xf32>, %a: vector<1x1xf32>):
        cuda.window_yield
      }
    }
    cuda.store %1, %out[%i] : vector<1x1xf32>, memref<?xf32>, index
    gpu.return
  }
}

// -----

// So are those of a selection whose length is the result of a condition, which is known later than the op is seen first.
// CHECK-LABEL: gpu.func @regions_after_condition
gpu.module @m {
  gpu.func @regions_after_condition(%in: memref<?xf32>, %lengths: memref<?xi32>, %out: memref<?xf32>, %b: i1) kernel {
    %c0 = arith.constant 0 : index
    %c0_i32 = arith.constant 0 : i32
    %n = scf.if %b -> i32 {
      %x = memref.load %lengths[%c0] : memref<?xi32>
      scf.yield %x : i32
    } else {
      scf.yield %c0_i32 : i32
    }
    %length = arith.index_cast %n : i32 to index
    // CHECK: cuda.select 8 of %{{.*}} max 64 threads 64 : i32 load {
    // CHECK-NEXT: ^bb0(%{{.*}}: i32):
    // CHECK: emit {
    // CHECK-NEXT: ^bb0(%{{.*}}: i32, %{{.*}}: i32, %{{.*}}: f32):
    cuda.select 8 of %length max 64 threads 64 : index load {
    ^bb0(%column: index):
      %x = cuda.load %in[%column] : memref<?xf32>, index -> vector<1x4xf32>
      cuda.select_yield %x : vector<1x4xf32>
    } emit {
    ^bb0(%rank: index, %index: index, %value: f32):
      memref.store %value, %out[%rank] : memref<?xf32>
      cuda.select_yield
    }
    gpu.return
  }
}

// -----

// The bounds of a value where it is used: 15 times a block's number would not fit 32 bits, 15 times one of a part does.
gpu.module @parts attributes {cuda.target = #cuda.target<"sm_90a">} {
  // CHECK-LABEL: gpu.func @bounded
  gpu.func @bounded(%out: memref<?xi32>, %blocks: i32 {cuda.range = array<i64: 0, 134217728>}) kernel {
    // CHECK: %[[ID:.*]] = gpu.block_id x upper_bound 2147483647
    // CHECK: %[[BLOCK:.*]] = arith.index_cast %[[ID]] : index to i32
    // CHECK: %[[LATER:.*]] = arith.subi %[[BLOCK]], %{{.*}} : i32
    // CHECK-NOT: cuda.bounded
    // CHECK: %[[ROW:.*]] = arith.muli %[[LATER]], %{{.*}} : i32
    // CHECK: cuda.store %[[ROW]], %{{.*}}[%[[ROW]]]
    %first = arith.index_cast %blocks : i32 to index
    %b = gpu.block_id x upper_bound 2147483647
    %later = arith.subi %b, %first : index
    %own = cuda.bounded %later to 134217727
    %c15 = arith.constant 15 : index
    %row = arith.muli %own, %c15 : index
    %value = arith.index_cast %row : index to i32
    memref.store %value, %out[%row] : memref<?xi32>
    gpu.return
  }
}
