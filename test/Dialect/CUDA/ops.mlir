// Every op, read back from its own text, from generic text and from bytecode.

// RUN: dsv4-opt %s | dsv4-opt | FileCheck %s
// RUN: dsv4-opt %s -mlir-print-op-generic | dsv4-opt | FileCheck %s
// RUN: dsv4-opt %s --emit-bytecode | dsv4-opt --allow-bytecode | FileCheck %s

// CHECK-LABEL: func.func @load
func.func @load(%bytes: memref<?xi8>, %floats: memref<?xf32>, %i: i32, %l: i64,
                %x: index, %p: i1) {
  // CHECK: cuda.load %{{[a-z0-9]+}}[%{{[a-z0-9]+}}] : memref<?xf32>, i32 -> f32
  %0 = cuda.load %floats[%i] : memref<?xf32>, i32 -> f32
  // CHECK: cuda.load %{{[a-z0-9]+}}[%{{[a-z0-9]+}}] : memref<?xf32>, index -> vector<4xf32>
  %1 = cuda.load %floats[%x] : memref<?xf32>, index -> vector<4xf32>
  // CHECK: cuda.load %{{[a-z0-9]+}}[%{{[a-z0-9]+}}] if %{{[a-z0-9]+}} stride 64 align 8 : memref<?xi8>, i64 -> vector<7x8xf8E4M3FN>
  %2 = cuda.load %bytes[%l] if %p stride 64 align 8 : memref<?xi8>, i64 -> vector<7x8xf8E4M3FN>
  // CHECK: cuda.load %{{[a-z0-9]+}}[%{{[a-z0-9]+}}] vectors %{{[a-z0-9]+}} : i32 stride 64 : memref<?xi8>, i64 -> vector<7x8xf8E4M3FN>
  %part = cuda.load %bytes[%l] vectors %i : i32 stride 64 : memref<?xi8>, i64 -> vector<7x8xf8E4M3FN>
  // CHECK: cuda.store %{{[a-z0-9]+}}, %{{[a-z0-9]+}}[%{{[a-z0-9]+}}] vectors %{{[a-z0-9]+}} : i32 stride 64 : vector<7x8xf8E4M3FN>, memref<?xi8>, i64
  cuda.store %part, %bytes[%l] vectors %i : i32 stride 64 : vector<7x8xf8E4M3FN>, memref<?xi8>, i64
  // CHECK: cuda.load %{{[a-z0-9]+}}[%{{[a-z0-9]+}}] align 4 : memref<?xi8>, i32 -> vector<1x8xbf16>
  %3 = cuda.load %bytes[%i] align 4 : memref<?xi8>, i32 -> vector<1x8xbf16>
  // CHECK: cuda.load %{{[a-z0-9]+}}[%{{[a-z0-9]+}}] evict_last : memref<?xi8>, i32 -> vector<1x8xbf16>
  %4 = cuda.load %bytes[%i] evict_last : memref<?xi8>, i32 -> vector<1x8xbf16>
  // CHECK: cuda.load %{{[a-z0-9]+}}[%{{[a-z0-9]+}}] ordered : memref<?xf32>, i32 -> f32
  %5 = cuda.load %floats[%i] ordered : memref<?xf32>, i32 -> f32
  return
}

// CHECK-LABEL: func.func @store
func.func @store(%out: memref<?xbf16>, %tile: vector<7x8xbf16>,
                 %vector: vector<8xbf16>, %scalar: bf16, %i: i32, %l: i64) {
  // CHECK: cuda.store %{{[a-z0-9]+}}, %{{[a-z0-9]+}}[%{{[a-z0-9]+}}] stride 64 align 8 streaming : vector<7x8xbf16>, memref<?xbf16>, i64
  cuda.store %tile, %out[%l] stride 64 align 8 streaming : vector<7x8xbf16>, memref<?xbf16>, i64
  // CHECK: cuda.store %{{[a-z0-9]+}}, %{{[a-z0-9]+}}[%{{[a-z0-9]+}}] : vector<8xbf16>, memref<?xbf16>, i32
  cuda.store %vector, %out[%i] default : vector<8xbf16>, memref<?xbf16>, i32
  // CHECK: cuda.store %{{[a-z0-9]+}}, %{{[a-z0-9]+}}[%{{[a-z0-9]+}}] : bf16, memref<?xbf16>, i32
  cuda.store %scalar, %out[%i] : bf16, memref<?xbf16>, i32
  return
}

// CHECK-LABEL: func.func @registers
func.func @registers(%steps: vector<7xf32>, %vectors: vector<4x2xf32>, %fp4: vector<4x8xf4E2M1FN>) {
  // CHECK: cuda.expand %{{[a-z0-9]+}} : vector<7xf32> to vector<14x8xf32>
  %0 = cuda.expand %steps : vector<7xf32> to vector<14x8xf32>
  // CHECK: cuda.expand %{{[a-z0-9]+}} : vector<4x2xf32> to vector<4x8xf32>
  %1 = cuda.expand %vectors : vector<4x2xf32> to vector<4x8xf32>
  // CHECK: cuda.swap_nibbles %{{[a-z0-9]+}} : vector<4x8xf4E2M1FN>
  %2 = cuda.swap_nibbles %fp4 : vector<4x8xf4E2M1FN>
  // CHECK: cuda.dequantize %{{[a-z0-9]+}} by %{{[a-z0-9]+}} : vector<4x8xf4E2M1FN> by vector<4x2xf32> to vector<4x8xbf16>
  %3 = cuda.dequantize %2 by %vectors : vector<4x8xf4E2M1FN> by vector<4x2xf32> to vector<4x8xbf16>
  // CHECK: cuda.one_nan %{{[a-z0-9]+}} : vector<4x2xf32>
  %4 = cuda.one_nan %vectors : vector<4x2xf32>
  return
}

// CHECK-LABEL: func.func @rows
func.func @rows(%row: vector<512xbf16>, %tile: vector<8x4xf32>, %tail: vector<1x4xf32>,
                %slots: memref<?xi32>, %i: i32, %n: i32) {
  // CHECK: cuda.reduce max_abs %{{[a-z0-9]+}} per 64 : vector<512xbf16> to vector<8xf32>
  %0 = cuda.reduce max_abs %row per 64 : vector<512xbf16> to vector<8xf32>
  // CHECK: cuda.reduce sum %{{[a-z0-9]+}} per 512 lanes 16 : vector<8x4xf32> to vector<1xf32>
  %1 = cuda.reduce sum %tile per 512 lanes 16 : vector<8x4xf32> to vector<1xf32>
  // CHECK: cuda.reduce max_abs_nan %{{[a-z0-9]+}} per 8 lanes 16 : vector<8x4xf32> to vector<8x1xf32>
  %2 = cuda.reduce max_abs_nan %tile per 8 lanes 16 : vector<8x4xf32> to vector<8x1xf32>
  // CHECK: cuda.hadamard %{{[a-z0-9]+}} lanes 32 : vector<8x4xf32>
  %3 = cuda.hadamard %tile lanes 32 : vector<8x4xf32>
  // CHECK: cuda.join %{{[a-z0-9]+}}, %{{[a-z0-9]+}} : vector<8x4xf32>, vector<1x4xf32> to vector<9x4xf32>
  %4 = cuda.join %3, %tail : vector<8x4xf32>, vector<1x4xf32> to vector<9x4xf32>
  // CHECK: cuda.steps %{{[a-z0-9]+}} from 7 : vector<9x4xf32> to vector<2x4xf32>
  %5 = cuda.steps %4 from 7 : vector<9x4xf32> to vector<2x4xf32>
  // CHECK: cuda.alternate %{{[a-z0-9]+}} : vector<2x4xf32> to vector<2x2xf32>
  %6 = cuda.alternate %5 : vector<2x4xf32> to vector<2x2xf32>
  // CHECK: cuda.alternate %{{[a-z0-9]+}} odd : vector<2x4xf32> to vector<2x2xf32>
  %7 = cuda.alternate %5 odd : vector<2x4xf32> to vector<2x2xf32>
  // CHECK: cuda.is_last %{{[a-z0-9]+}}[%{{[a-z0-9]+}}] of %{{[a-z0-9]+}} lanes 8 : memref<?xi32>, i32, i32
  %8 = cuda.is_last %slots[%i] of %n lanes 8 : memref<?xi32>, i32, i32
  // CHECK: cuda.is_last %{{[a-z0-9]+}}[%{{[a-z0-9]+}}] of %{{[a-z0-9]+}} rows %{{[a-z0-9]+}} lanes 8 threads 128 max_alone 512 : memref<?xi32>, i32, i32, i32
  %10 = cuda.is_last %slots[%i] of %n rows %n lanes 8 threads 128 max_alone 512 : memref<?xi32>, i32, i32, i32
  // CHECK: cuda.search %{{[a-z0-9]+}} for %{{[a-z0-9]+}} of %{{[a-z0-9]+}} : memref<?xi32>, i32, i32
  %11 = cuda.search %slots for %i of %n : memref<?xi32>, i32, i32
  // CHECK: cuda.search %{{[a-z0-9]+}} for %{{[a-z0-9]+}} of %{{[a-z0-9]+}} rows %{{[a-z0-9]+}} lanes 16 : memref<?xi32>, i32, i32, i32
  %12 = cuda.search %slots for %i of %n rows %n lanes 16 : memref<?xi32>, i32, i32, i32
  // CHECK: cuda.expand %{{[a-z0-9]+}} : vector<1xf32> to vector<7xf32>
  %9 = cuda.expand %1 : vector<1xf32> to vector<7xf32>
  return
}

// A row as one vector of one lane.
// CHECK-LABEL: func.func @segments
func.func @segments(%a: vector<7xbf16>, %b: vector<6xbf16>, %c: vector<6xf32>,
                    %scales: vector<12xf8E4M3FN>) {
  // CHECK: cuda.join %{{[a-z0-9]+}}, %{{[a-z0-9]+}} : vector<7xbf16>, vector<6xbf16> to vector<13xbf16>
  %0 = cuda.join %a, %b : vector<7xbf16>, vector<6xbf16> to vector<13xbf16>
  // CHECK: cuda.alternate %{{[a-z0-9]+}} odd : vector<6xf32> to vector<3xf32>
  %1 = cuda.alternate %c odd : vector<6xf32> to vector<3xf32>
  // CHECK: cuda.transpose %{{[a-z0-9]+}} rows 4 : vector<12xf8E4M3FN>
  %2 = cuda.transpose %scales rows 4 : vector<12xf8E4M3FN>
  return
}

// CHECK-LABEL: func.func @codes
func.func @codes(%tile: vector<8x4xf32>, %scales: vector<7xf32>, %values: vector<8x8xbf16>,
                 %group_scales: vector<8xf8E8M0FNU>) {
  // CHECK: cuda.encode %{{[a-z0-9]+}} : vector<8x4xf32> to vector<8x4xf8E4M3FN>
  %0 = cuda.encode %tile : vector<8x4xf32> to vector<8x4xf8E4M3FN>
  // CHECK: cuda.encode %{{[a-z0-9]+}} ties_down drop_negative_zero : vector<8x4xf32> to vector<8x4xf4E2M1FN>
  %1 = cuda.encode %tile ties_down drop_negative_zero : vector<8x4xf32> to vector<8x4xf4E2M1FN>
  // CHECK: cuda.encode %{{[a-z0-9]+}} up : vector<7xf32> to vector<7xf8E8M0FNU>
  %2 = cuda.encode %scales up : vector<7xf32> to vector<7xf8E8M0FNU>
  // CHECK: cuda.pad %{{[a-z0-9]+}} : vector<7xf8E8M0FNU> to vector<8xf8E8M0FNU>
  %3 = cuda.pad %2 : vector<7xf8E8M0FNU> to vector<8xf8E8M0FNU>
  // CHECK: cuda.quantize %{{[a-z0-9]+}} by %{{[a-z0-9]+}} : vector<8x8xbf16> by vector<8xf8E8M0FNU> to vector<8x8xf8E4M3FN>
  %4 = cuda.quantize %values by %group_scales : vector<8x8xbf16> by vector<8xf8E8M0FNU> to vector<8x8xf8E4M3FN>
  // CHECK: cuda.quantize %{{[a-z0-9]+}} by %{{[a-z0-9]+}} ties_down drop_negative_zero : vector<8x8xbf16> by vector<8xf8E8M0FNU> to vector<8x8xf4E2M1FN>
  %5 = cuda.quantize %values by %group_scales ties_down drop_negative_zero : vector<8x8xbf16> by vector<8xf8E8M0FNU> to vector<8x8xf4E2M1FN>
  return
}

// The rows of a window, of whole rows and of what threads hold of them.
// CHECK-LABEL: func.func @windows
func.func @windows(%values: memref<?xf32>, %bytes: memref<?xi8>, %whole: index, %i: i32, %n: i32,
                   %all: i1) {
  // CHECK: cuda.bytes %{{[a-z0-9]+}} : memref<?xf32> to memref<?xi8>
  %as_bytes = cuda.bytes %values : memref<?xf32> to memref<?xi8>
  // CHECK: cuda.window_reduce 8 at %{{[a-z0-9]+}} of %{{[a-z0-9]+}} : index, index to vector<64xf32> {
  // CHECK-NEXT: ^bb0(%{{[a-z0-9]+}}: index):
  // CHECK-NEXT: cuda.window %{{[a-z0-9]+}} scores {
  // CHECK-NEXT: ^bb0(%{{[a-z0-9]+}}: index, %{{[a-z0-9]+}}: index):
  // CHECK: cuda.window_yield %{{[a-z0-9]+}} : vector<64xf32>
  // CHECK-NEXT: } values {
  // CHECK-NEXT: ^bb0(%{{[a-z0-9]+}}: index, %{{[a-z0-9]+}}: index):
  // CHECK: cuda.window_yield %{{[a-z0-9]+}} : vector<64xf32>
  // CHECK-NEXT: } else {
  // CHECK-NEXT: ^bb0(%{{[a-z0-9]+}}: index, %{{[a-z0-9]+}}: index):
  // CHECK: cuda.window_row %{{[a-z0-9]+}}, %{{[a-z0-9]+}}, %{{[a-z0-9]+}} : vector<64xf32>, vector<64xf32>
  // CHECK-NEXT: }
  // CHECK-NEXT: }
  %0 = cuda.window_reduce 8 at %whole of %whole : index, index to vector<64xf32> {
  ^bb0(%row: index):
    cuda.window %all scores {
    ^bb0(%member: index, %lane: index):
      %x = vector.load %values[%member] : memref<?xf32>, vector<64xf32>
      cuda.window_yield %x : vector<64xf32>
    } values {
    ^bb0(%member: index, %lane: index):
      %x = vector.load %values[%member] : memref<?xf32>, vector<64xf32>
      cuda.window_yield %x : vector<64xf32>
    } else {
    ^bb0(%member: index, %lane: index):
      %x = vector.load %values[%row] : memref<?xf32>, vector<64xf32>
      cuda.window_row %all, %x, %x : vector<64xf32>, vector<64xf32>
    }
  }
  // Where a member is, which all lanes are given.
  // CHECK: cuda.window %{{[a-z0-9]+}} scores {
  // CHECK: } address {
  // CHECK-NEXT: ^bb0(%[[MEMBER:[a-z0-9]+]]: index):
  // CHECK-NEXT: %[[ROW:[a-z0-9]+]] = cuda.bytes %{{[a-z0-9]+}}[%[[MEMBER]]] : memref<?xf32>, index to memref<?xi8>
  // CHECK-NEXT: cuda.window_address %{{[a-z0-9]+}}, %[[ROW]] : i1, memref<?xi8>
  // CHECK-NEXT: } else {
  // CHECK-NEXT: ^bb0(%{{[a-z0-9]+}}: index, %[[LANE:[a-z0-9]+]]: index, %[[THERE:[a-z0-9]+]]: i1, %[[AT:[a-z0-9]+]]: memref<?xi8>):
  // CHECK-NEXT: %[[X:[a-z0-9]+]] = cuda.load %[[AT]][%[[LANE]]] if %[[THERE]] : memref<?xi8>, index -> vector<1x2xf32>
  // CHECK-NEXT: cuda.window_row %[[THERE]], %[[X]], %[[X]] : vector<1x2xf32>, vector<1x2xf32>
  %3 = cuda.window_reduce 8 at %i of %n threads 128 lanes 16 : i32, i32 to vector<1x4xf32> {
  ^bb0(%row: index):
    cuda.window %all scores {
    ^bb0(%member: index, %lane: index):
      %x = cuda.load %values[%member] : memref<?xf32>, index -> vector<1x2xf32>
      cuda.window_yield %x : vector<1x2xf32>
    } values {
    ^bb0(%member: index, %lane: index):
      %x = cuda.load %values[%member] : memref<?xf32>, index -> vector<1x2xf32>
      cuda.window_yield %x : vector<1x2xf32>
    } address {
    ^bb0(%member: index):
      %at = cuda.bytes %values[%member] : memref<?xf32>, index to memref<?xi8>
      cuda.window_address %all, %at : i1, memref<?xi8>
    } else {
    ^bb0(%member: index, %lane: index, %there: i1, %at: memref<?xi8>):
      %x = cuda.load %at[%lane] if %there : memref<?xi8>, index -> vector<1x2xf32>
      cuda.window_row %there, %x, %x : vector<1x2xf32>, vector<1x2xf32>
    }
  }
  // Four rows, each by 32 lanes of two elements; a lane of the result has four. What is added to scores
  // waits for no row.
  // CHECK: cuda.window_reduce 128 at %{{[a-z0-9]+}} of %{{[a-z0-9]+}} count 4 threads 128 lanes 16 : i32, i32 to vector<1x4xf32> {
  // CHECK: cuda.load %{{[a-z0-9]+}}[%{{[a-z0-9]+}}] if %{{[a-z0-9]+}} : memref<?xi8>, index -> vector<1x2xf32>
  // CHECK: cuda.window_row %{{[a-z0-9]+}}, %{{[a-z0-9]+}}, %{{[a-z0-9]+}} : vector<1x2xf32>, vector<1x2xf32>
  // CHECK: } offsets {
  // CHECK-NEXT: ^bb0(%[[MEMBER:[a-z0-9]+]]: index, %{{[a-z0-9]+}}: index):
  // CHECK-NEXT: %[[OFFSETS:[a-z0-9]+]] = cuda.load %{{[a-z0-9]+}}[%[[MEMBER]]] : memref<?xf32>, index -> vector<1x2xf32>
  // CHECK-NEXT: cuda.window_yield %[[OFFSETS]] : vector<1x2xf32>
  // CHECK-NEXT: }
  %1 = cuda.window_reduce 128 at %i of %n count 4 threads 128 lanes 16 : i32, i32 to vector<1x4xf32> {
  ^bb0(%row: index):
    cuda.window %all scores {
    ^bb0(%member: index, %lane: index):
      %x = cuda.load %values[%member] : memref<?xf32>, index -> vector<1x2xf32>
      cuda.window_yield %x : vector<1x2xf32>
    } values {
    ^bb0(%member: index, %lane: index):
      %x = cuda.load %values[%member] : memref<?xf32>, index -> vector<1x2xf32>
      cuda.window_yield %x : vector<1x2xf32>
    } else {
    ^bb0(%member: index, %lane: index):
      %x = cuda.load %as_bytes[%lane] if %all : memref<?xi8>, index -> vector<1x2xf32>
      cuda.window_row %all, %x, %x : vector<1x2xf32>, vector<1x2xf32>
    }
  } offsets {
  ^bb0(%member: index, %lane: index):
    %x = cuda.load %values[%member] : memref<?xf32>, index -> vector<1x2xf32>
    cuda.window_yield %x : vector<1x2xf32>
  }
  // One thread a row is said by leaving it away.
  // CHECK: cuda.window_reduce 1 at %{{[a-z0-9]+}} of %{{[a-z0-9]+}} threads 32 : i32, i32 to vector<1x4xf32> {
  %2 = cuda.window_reduce 1 at %i of %n count 1 threads 32 lanes 1 : i32, i32 to vector<1x4xf32> {
  ^bb0(%row: index):
    cuda.window %all scores {
    ^bb0(%member: index, %lane: index):
      cuda.window_yield %1 : vector<1x4xf32>
    } values {
    ^bb0(%member: index, %lane: index):
      cuda.window_yield %1 : vector<1x4xf32>
    } else {
    ^bb0(%member: index, %lane: index):
      cuda.window_row %all, %1, %1 : vector<1x4xf32>, vector<1x4xf32>
    }
  }
  return
}

// CHECK-LABEL: func.func @prefetches
func.func @prefetches(%plan: memref<?xi32>, %i: index, %j: i32, %there: i1) {
  // CHECK: cuda.prefetch %{{[a-z0-9]+}}[%{{[a-z0-9]+}}] : memref<?xi32>, index
  cuda.prefetch %plan[%i] : memref<?xi32>, index
  // CHECK: cuda.prefetch %{{[a-z0-9]+}}[%{{[a-z0-9]+}}] if %{{[a-z0-9]+}} : memref<?xi32>, i32
  cuda.prefetch %plan[%j] if %there : memref<?xi32>, i32
  // CHECK: cuda.prefetch %{{[a-z0-9]+}}[%{{[a-z0-9]+}}] l2 : memref<?xi32>, index
  cuda.prefetch %plan[%i] l2 : memref<?xi32>, index
  // CHECK: cuda.prefetch %{{[a-z0-9]+}}[%{{[a-z0-9]+}}] l2 if %{{[a-z0-9]+}} : memref<?xi32>, i32
  cuda.prefetch %plan[%j] l2 if %there : memref<?xi32>, i32
  return
}

// CHECK-LABEL: func.func @constants
func.func @constants() {
  // CHECK: cuda.constant "page_bytes" = 37440 : index
  %0 = cuda.constant "page_bytes" = 37440 : index
  // CHECK: cuda.constant "page_bytes" = -1 : i32
  %1 = cuda.constant "page_bytes" = -1 : i32
  // CHECK: cuda.constant "page_bytes" = 4294967296 : i64
  %2 = cuda.constant "page_bytes" = 4294967296 : i64
  return
}

// CHECK-LABEL: func.func @bounds
func.func @bounds(%i: index) {
  // CHECK: cuda.bounded %{{[a-z0-9_]+}} to 4095
  %0 = cuda.bounded %i to 4095
  return
}

// CHECK-LABEL: func.func @launches
func.func @launches() {
  // CHECK: cuda.wait_for_previous_kernel
  cuda.wait_for_previous_kernel
  // CHECK: cuda.launch_dependents
  cuda.launch_dependents
  return
}

// CHECK: gpu.module @m attributes {cuda.target = #cuda.target<"sm_90">}
gpu.module @m attributes {cuda.target = #cuda.target<"sm_90">} {
}
// CHECK: gpu.module @n attributes {cuda.target = #cuda.target<"sm_90a">}
gpu.module @n attributes {cuda.target = #cuda.target<"sm_90a">} {
}
// CHECK: gpu.module @o attributes {cuda.target = #cuda.target<"sm_100f">}
gpu.module @o attributes {cuda.target = #cuda.target<"sm_100f">} {
}

// CHECK-LABEL: func.func @narrow
func.func @narrow(%x: i64, %row: vector<8xi64>, %tile: vector<2x4xi64>, %slots: memref<?xi64>,
                  %i: i32) {
  // CHECK: cuda.narrow %{{[a-z0-9]+}} : i64 to i32
  %0 = cuda.narrow %x : i64 to i32
  // CHECK: cuda.narrow %{{[a-z0-9]+}} saturate : i64 to i32
  %1 = cuda.narrow %x saturate : i64 to i32
  // CHECK: cuda.narrow %{{[a-z0-9]+}} : vector<8xi64> to vector<8xi32>
  %2 = cuda.narrow %row : vector<8xi64> to vector<8xi32>
  // CHECK: cuda.narrow %{{[a-z0-9]+}} : vector<2x4xi64> to vector<2x4xi32>
  %3 = cuda.narrow %tile : vector<2x4xi64> to vector<2x4xi32>
  // CHECK: cuda.is_last %{{[a-z0-9]+}}[%{{[a-z0-9]+}}] of %{{[a-z0-9]+}} lanes 8 : memref<?xi64>, i32, i32
  %4 = cuda.is_last %slots[%i] of %i lanes 8 : memref<?xi64>, i32, i32
  return
}

// CHECK-LABEL: func.func @by_position
func.func @by_position(%i: i32, %ids: vector<2x4xi32>, %row: vector<9xf32>, %words: memref<?xi32>,
                       %s: vector<2x1xf8E8M0FNU>, %at: i64, %valid: i1) {
  // CHECK: %[[NUMBERS:[a-z0-9]+]] = cuda.sequence %{{[a-z0-9]+}} by %{{[a-z0-9]+}} from %{{[a-z0-9]+}} stride 64 : i32, i32, i32 -> vector<2x4xi32>
  %0 = cuda.sequence %i by %i from %i stride 64 : i32, i32, i32 -> vector<2x4xi32>
  // CHECK: cuda.splice %{{[a-z0-9]+}} before 8, %[[NUMBERS]] from %{{[a-z0-9]+}} stride 64 : vector<2x4xi32>, i32
  %1 = cuda.splice %ids before 8, %0 from %i stride 64 : vector<2x4xi32>, i32
  // CHECK: cuda.splice %{{[a-z0-9]+}} before 8, %{{[a-z0-9]+}} from %{{[a-z0-9]+}} : vector<9xf32>, i32
  %2 = cuda.splice %row before 8, %row from %i : vector<9xf32>, i32
  // CHECK: cuda.store_runs %{{[a-z0-9]+}}, %{{[a-z0-9]+}}[%{{[a-z0-9]+}}] from %{{[a-z0-9]+}} step 4 run 4 count 7 pad 1 stride %{{[a-z0-9]+}} : vector<2x1xf8E8M0FNU>, memref<?xi32>, i64, i32, i64
  cuda.store_runs %s, %words[%at] from %i step 4 run 4 count 7 pad 1 stride %at
      : vector<2x1xf8E8M0FNU>, memref<?xi32>, i64, i32, i64
  // CHECK: cuda.load_runs %{{[a-z0-9]+}}[%{{[a-z0-9]+}}] if %{{[a-z0-9]+}} from %{{[a-z0-9]+}} step 4 run 4 stride %{{[a-z0-9]+}} : memref<?xi32>, i64, i32, i64 -> vector<2x1xf8E8M0FNU>
  %3 = cuda.load_runs %words[%at] if %valid from %i step 4 run 4 stride %at
      : memref<?xi32>, i64, i32, i64 -> vector<2x1xf8E8M0FNU>
  return
}

// CHECK-LABEL: func.func @in_words
func.func @in_words(%x: memref<?xbf16>, %out: memref<?xbf16>, %at: i64, %valid: i1) {
  // CHECK: %[[WORDS:[a-z0-9]+]] = cuda.load_words %{{[a-z0-9]+}}[%{{[a-z0-9]+}}] if %{{[a-z0-9]+}} lanes 16 evict_last : memref<?xbf16>, i64 -> vector<2x8xbf16>
  %0 = cuda.load_words %x[%at] if %valid lanes 16 evict_last : memref<?xbf16>, i64 -> vector<2x8xbf16>
  // CHECK: %[[ROW:[a-z0-9]+]] = cuda.realign %[[WORDS]] of %{{[a-z0-9]+}}[%{{[a-z0-9]+}}] lanes 16 : vector<2x8xbf16>, memref<?xbf16>, i64
  %1 = cuda.realign %0 of %x[%at] lanes 16 : vector<2x8xbf16>, memref<?xbf16>, i64
  // CHECK: cuda.load_words %{{[a-z0-9]+}}[%{{[a-z0-9]+}}] lanes 32 : memref<?xbf16>, i64 -> vector<1x4xi8>
  %2 = cuda.load_words %x[%at] lanes 32 : memref<?xbf16>, i64 -> vector<1x4xi8>
  // CHECK: cuda.store_words %[[ROW]], %{{[a-z0-9]+}}[%{{[a-z0-9]+}}] lanes 16 streaming : vector<2x8xbf16>, memref<?xbf16>, i64
  cuda.store_words %1, %out[%at] lanes 16 streaming : vector<2x8xbf16>, memref<?xbf16>, i64
  // CHECK: cuda.store_words %[[ROW]], %{{[a-z0-9]+}}[%{{[a-z0-9]+}}] lanes 16 : vector<2x8xbf16>, memref<?xbf16>, i64
  cuda.store_words %1, %out[%at] lanes 16 : vector<2x8xbf16>, memref<?xbf16>, i64
  return
}
