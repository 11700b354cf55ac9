// The schedules of kernels that select, by how many elements per row may have and how many rows there may be.

// RUN: dsv4-opt %s --dsv4-select-schedule | FileCheck %s --check-prefixes=CHECK,SM90
// RUN: dsv4-opt %s --dsv4-select-schedule="arch=sm_80" | FileCheck %s --check-prefixes=CHECK,SM80
// RUN: dsv4-opt %s --dsv4-select-schedule="table=%S/Inputs/topk.json" | FileCheck %s --check-prefix=TABLE
// RUN: not dsv4-opt %s --dsv4-select-schedule="schedule=#dsv4.schedule<threads=128,parts=[#dsv4.rows<lanes=8,vector=4>]>" 2>&1 | FileCheck %s --check-prefix=GIVEN

// GIVEN: schedule_c5: 'dsv4.topk' needs a part #dsv4.select<...>, which the schedule does not have

// CHECK-LABEL: func.func @short
// CHECK: schedule <threads = 256, {{(pdl = true, )?}}parts = [#dsv4.select<algorithm = block, vector = 4>]>
// TABLE: schedule <threads = 64, parts = [#dsv4.select<algorithm = stream, vector = 2, vectors = 3>]>
func.func @short(%s: tensor<?x1000xf32>, %i: tensor<?x64xi32>) {
  %0 = dsv4.kernel @k(%s, %i) : (tensor<?x1000xf32>, tensor<?x64xi32>) -> tensor<?x64xi32> {
  ^bb0(%a: tensor<?x1000xf32>, %b: tensor<?x64xi32>):
    %1 = dsv4.topk %a outs(%b : tensor<?x64xi32>) : tensor<?x1000xf32>
    dsv4.yield %1 : tensor<?x64xi32>
  }
  return
}

// Two bytes an element, and no vector of more than one divides the row.
// CHECK-LABEL: func.func @odd
// CHECK: schedule <threads = 256, {{(pdl = true, )?}}parts = [#dsv4.select<algorithm = block, vector = 1>]>
func.func @odd(%s: tensor<?x1001xbf16>, %i: tensor<?x64xi32>) {
  %0 = dsv4.kernel @k(%s, %i) : (tensor<?x1001xbf16>, tensor<?x64xi32>) -> tensor<?x64xi32> {
  ^bb0(%a: tensor<?x1001xbf16>, %b: tensor<?x64xi32>):
    %1 = dsv4.topk %a outs(%b : tensor<?x64xi32>) : tensor<?x1001xbf16>
    dsv4.yield %1 : tensor<?x64xi32>
  }
  return
}

// CHECK-LABEL: func.func @few_long
// SM90: schedule <threads = 1024, cluster = 16, pdl = true, parts = [#dsv4.select<algorithm = block, vector = 4>]>
// SM80: schedule <threads = 1024, parts = [#dsv4.select<algorithm = stream, vector = 4, vectors = 4>]>
func.func @few_long(%s: tensor<2x65536xf32>, %i: tensor<2x8xi32>) {
  %0 = dsv4.kernel @k(%s, %i) : (tensor<2x65536xf32>, tensor<2x8xi32>) -> tensor<2x8xi32> {
  ^bb0(%a: tensor<2x65536xf32>, %b: tensor<2x8xi32>):
    %1 = dsv4.topk %a outs(%b : tensor<2x8xi32>) : tensor<2x65536xf32>
    dsv4.yield %1 : tensor<2x8xi32>
  }
  return
}

// What clusters can hold they hold, as far as a multiprocessor has one of their blocks.
// CHECK-LABEL: func.func @in_four_blocks
// SM90: schedule <threads = 1024, cluster = 4, pdl = true, parts = [#dsv4.select<algorithm = block, vector = 4>]>
// SM80: schedule <threads = 512, parts = [#dsv4.select<algorithm = stream, vector = 4, vectors = 4>]>
func.func @in_four_blocks(%s: tensor<16x16384xf32>, %i: tensor<16x8xi32>) {
  %0 = dsv4.kernel @k(%s, %i) : (tensor<16x16384xf32>, tensor<16x8xi32>) -> tensor<16x8xi32> {
  ^bb0(%a: tensor<16x16384xf32>, %b: tensor<16x8xi32>):
    %1 = dsv4.topk %a outs(%b : tensor<16x8xi32>) : tensor<16x16384xf32>
    dsv4.yield %1 : tensor<16x8xi32>
  }
  return
}

// Of these a multiprocessor may have two.
// CHECK-LABEL: func.func @in_four_smaller_blocks
// SM90: schedule <threads = 512, cluster = 4, pdl = true, parts = [#dsv4.select<algorithm = block, vector = 4>]>
// SM80: schedule <threads = 512, parts = [#dsv4.select<algorithm = stream, vector = 4, vectors = 4>]>
func.func @in_four_smaller_blocks(%s: tensor<32x16384xf32>, %i: tensor<32x8xi32>) {
  %0 = dsv4.kernel @k(%s, %i) : (tensor<32x16384xf32>, tensor<32x8xi32>) -> tensor<32x8xi32> {
  ^bb0(%a: tensor<32x16384xf32>, %b: tensor<32x8xi32>):
    %1 = dsv4.topk %a outs(%b : tensor<32x8xi32>) : tensor<32x16384xf32>
    dsv4.yield %1 : tensor<32x8xi32>
  }
  return
}

// As many rows as clusters find room for at once, then larger fragments.
// CHECK-LABEL: func.func @last_in_four_smaller_blocks(
// SM90: schedule <threads = 512, cluster = 4, pdl = true, parts = [#dsv4.select<algorithm = block, vector = 4>]>
func.func @last_in_four_smaller_blocks(%s: tensor<48x16384xf32>, %i: tensor<48x8xi32>) {
  %0 = dsv4.kernel @k(%s, %i) : (tensor<48x16384xf32>, tensor<48x8xi32>) -> tensor<48x8xi32> {
  ^bb0(%a: tensor<48x16384xf32>, %b: tensor<48x8xi32>):
    %1 = dsv4.topk %a outs(%b : tensor<48x8xi32>) : tensor<48x16384xf32>
    dsv4.yield %1 : tensor<48x8xi32>
  }
  return
}

// CHECK-LABEL: func.func @in_two_blocks(
// SM90: schedule <threads = 1024, cluster = 2, pdl = true, parts = [#dsv4.select<algorithm = block, vector = 4>]>
func.func @in_two_blocks(%s: tensor<49x16384xf32>, %i: tensor<49x8xi32>) {
  %0 = dsv4.kernel @k(%s, %i) : (tensor<49x16384xf32>, tensor<49x8xi32>) -> tensor<49x8xi32> {
  ^bb0(%a: tensor<49x16384xf32>, %b: tensor<49x8xi32>):
    %1 = dsv4.topk %a outs(%b : tensor<49x8xi32>) : tensor<49x16384xf32>
    dsv4.yield %1 : tensor<49x8xi32>
  }
  return
}

// CHECK-LABEL: func.func @last_in_two_blocks(
// SM90: schedule <threads = 1024, cluster = 2, pdl = true, parts = [#dsv4.select<algorithm = block, vector = 4>]>
func.func @last_in_two_blocks(%s: tensor<64x16384xf32>, %i: tensor<64x8xi32>) {
  %0 = dsv4.kernel @k(%s, %i) : (tensor<64x16384xf32>, tensor<64x8xi32>) -> tensor<64x8xi32> {
  ^bb0(%a: tensor<64x16384xf32>, %b: tensor<64x8xi32>):
    %1 = dsv4.topk %a outs(%b : tensor<64x8xi32>) : tensor<64x16384xf32>
    dsv4.yield %1 : tensor<64x8xi32>
  }
  return
}

// CHECK-LABEL: func.func @too_many_for_two_blocks(
// SM90: schedule <threads = 512, pdl = true, parts = [#dsv4.select<algorithm = stream, vector = 4, vectors = 4>]>
// SM80: schedule <threads = 512, parts = [#dsv4.select<algorithm = stream, vector = 4, vectors = 4>]>
func.func @too_many_for_two_blocks(%s: tensor<65x16384xf32>, %i: tensor<65x8xi32>) {
  %0 = dsv4.kernel @k(%s, %i) : (tensor<65x16384xf32>, tensor<65x8xi32>) -> tensor<65x8xi32> {
  ^bb0(%a: tensor<65x16384xf32>, %b: tensor<65x8xi32>):
    %1 = dsv4.topk %a outs(%b : tensor<65x8xi32>) : tensor<65x16384xf32>
    dsv4.yield %1 : tensor<65x8xi32>
  }
  return
}

// CHECK-LABEL: func.func @in_eight_blocks(
// SM90: schedule <threads = 1024, cluster = 8, pdl = true, parts = [#dsv4.select<algorithm = block, vector = 4>]>
// SM80: schedule <threads = 1024, parts = [#dsv4.select<algorithm = stream, vector = 4, vectors = 4>]>
func.func @in_eight_blocks(%s: tensor<8x32768xf32>, %i: tensor<8x8xi32>) {
  %0 = dsv4.kernel @k(%s, %i) : (tensor<8x32768xf32>, tensor<8x8xi32>) -> tensor<8x8xi32> {
  ^bb0(%a: tensor<8x32768xf32>, %b: tensor<8x8xi32>):
    %1 = dsv4.topk %a outs(%b : tensor<8x8xi32>) : tensor<8x32768xf32>
    dsv4.yield %1 : tensor<8x8xi32>
  }
  return
}

// CHECK-LABEL: func.func @longer_in_four_blocks(
// SM90: schedule <threads = 1024, cluster = 4, pdl = true, parts = [#dsv4.select<algorithm = block, vector = 4>]>
// SM80: schedule <threads = 1024, parts = [#dsv4.select<algorithm = stream, vector = 4, vectors = 4>]>
func.func @longer_in_four_blocks(%s: tensor<9x32768xf32>, %i: tensor<9x8xi32>) {
  %0 = dsv4.kernel @k(%s, %i) : (tensor<9x32768xf32>, tensor<9x8xi32>) -> tensor<9x8xi32> {
  ^bb0(%a: tensor<9x32768xf32>, %b: tensor<9x8xi32>):
    %1 = dsv4.topk %a outs(%b : tensor<9x8xi32>) : tensor<9x32768xf32>
    dsv4.yield %1 : tensor<9x8xi32>
  }
  return
}

// CHECK-LABEL: func.func @last_longer_in_four_blocks(
// SM90: schedule <threads = 1024, cluster = 4, pdl = true, parts = [#dsv4.select<algorithm = block, vector = 4>]>
func.func @last_longer_in_four_blocks(%s: tensor<30x32768xf32>, %i: tensor<30x8xi32>) {
  %0 = dsv4.kernel @k(%s, %i) : (tensor<30x32768xf32>, tensor<30x8xi32>) -> tensor<30x8xi32> {
  ^bb0(%a: tensor<30x32768xf32>, %b: tensor<30x8xi32>):
    %1 = dsv4.topk %a outs(%b : tensor<30x8xi32>) : tensor<30x32768xf32>
    dsv4.yield %1 : tensor<30x8xi32>
  }
  return
}

// CHECK-LABEL: func.func @longer_in_three_blocks(
// SM90: schedule <threads = 1024, cluster = 3, pdl = true, parts = [#dsv4.select<algorithm = block, vector = 4>]>
func.func @longer_in_three_blocks(%s: tensor<31x32768xf32>, %i: tensor<31x8xi32>) {
  %0 = dsv4.kernel @k(%s, %i) : (tensor<31x32768xf32>, tensor<31x8xi32>) -> tensor<31x8xi32> {
  ^bb0(%a: tensor<31x32768xf32>, %b: tensor<31x8xi32>):
    %1 = dsv4.topk %a outs(%b : tensor<31x8xi32>) : tensor<31x32768xf32>
    dsv4.yield %1 : tensor<31x8xi32>
  }
  return
}

// CHECK-LABEL: func.func @last_longer_in_three_blocks(
// SM90: schedule <threads = 1024, cluster = 3, pdl = true, parts = [#dsv4.select<algorithm = block, vector = 4>]>
func.func @last_longer_in_three_blocks(%s: tensor<32x32768xbf16>, %i: tensor<32x8xi32>) {
  %0 = dsv4.kernel @k(%s, %i) : (tensor<32x32768xbf16>, tensor<32x8xi32>) -> tensor<32x8xi32> {
  ^bb0(%a: tensor<32x32768xbf16>, %b: tensor<32x8xi32>):
    %1 = dsv4.topk %a outs(%b : tensor<32x8xi32>) : tensor<32x32768xbf16>
    dsv4.yield %1 : tensor<32x8xi32>
  }
  return
}

// CHECK-LABEL: func.func @longer_in_two_blocks(
// SM90: schedule <threads = 1024, cluster = 2, pdl = true, parts = [#dsv4.select<algorithm = block, vector = 4>]>
func.func @longer_in_two_blocks(%s: tensor<33x32768xf32>, %i: tensor<33x8xi32>) {
  %0 = dsv4.kernel @k(%s, %i) : (tensor<33x32768xf32>, tensor<33x8xi32>) -> tensor<33x8xi32> {
  ^bb0(%a: tensor<33x32768xf32>, %b: tensor<33x8xi32>):
    %1 = dsv4.topk %a outs(%b : tensor<33x8xi32>) : tensor<33x32768xf32>
    dsv4.yield %1 : tensor<33x8xi32>
  }
  return
}

// CHECK-LABEL: func.func @last_longer_in_two_blocks(
// SM90: schedule <threads = 1024, cluster = 2, pdl = true, parts = [#dsv4.select<algorithm = block, vector = 4>]>
func.func @last_longer_in_two_blocks(%s: tensor<64x32768xf32>, %i: tensor<64x8xi32>) {
  %0 = dsv4.kernel @k(%s, %i) : (tensor<64x32768xf32>, tensor<64x8xi32>) -> tensor<64x8xi32> {
  ^bb0(%a: tensor<64x32768xf32>, %b: tensor<64x8xi32>):
    %1 = dsv4.topk %a outs(%b : tensor<64x8xi32>) : tensor<64x32768xf32>
    dsv4.yield %1 : tensor<64x8xi32>
  }
  return
}

// CHECK-LABEL: func.func @too_many_longer_for_two_blocks(
// SM90: schedule <threads = 1024, pdl = true, parts = [#dsv4.select<algorithm = stream, vector = 4, vectors = 2>]>
func.func @too_many_longer_for_two_blocks(%s: tensor<65x32768xf32>, %i: tensor<65x8xi32>) {
  %0 = dsv4.kernel @k(%s, %i) : (tensor<65x32768xf32>, tensor<65x8xi32>) -> tensor<65x8xi32> {
  ^bb0(%a: tensor<65x32768xf32>, %b: tensor<65x8xi32>):
    %1 = dsv4.topk %a outs(%b : tensor<65x8xi32>) : tensor<65x32768xf32>
    dsv4.yield %1 : tensor<65x8xi32>
  }
  return
}

// CHECK-LABEL: func.func @last_in_sixteen_blocks(
// SM90: schedule <threads = 1024, cluster = 16, pdl = true, parts = [#dsv4.select<algorithm = block, vector = 4>]>
func.func @last_in_sixteen_blocks(%s: tensor<4x65536xf32>, %i: tensor<4x8xi32>) {
  %0 = dsv4.kernel @k(%s, %i) : (tensor<4x65536xf32>, tensor<4x8xi32>) -> tensor<4x8xi32> {
  ^bb0(%a: tensor<4x65536xf32>, %b: tensor<4x8xi32>):
    %1 = dsv4.topk %a outs(%b : tensor<4x8xi32>) : tensor<4x65536xf32>
    dsv4.yield %1 : tensor<4x8xi32>
  }
  return
}

// CHECK-LABEL: func.func @long_in_eight_blocks(
// SM90: schedule <threads = 1024, cluster = 8, pdl = true, parts = [#dsv4.select<algorithm = block, vector = 4>]>
// SM80: schedule <threads = 1024, parts = [#dsv4.select<algorithm = stream, vector = 4, vectors = 4>]>
func.func @long_in_eight_blocks(%s: tensor<5x65536xf32>, %i: tensor<5x8xi32>) {
  %0 = dsv4.kernel @k(%s, %i) : (tensor<5x65536xf32>, tensor<5x8xi32>) -> tensor<5x8xi32> {
  ^bb0(%a: tensor<5x65536xf32>, %b: tensor<5x8xi32>):
    %1 = dsv4.topk %a outs(%b : tensor<5x8xi32>) : tensor<5x65536xf32>
    dsv4.yield %1 : tensor<5x8xi32>
  }
  return
}

// CHECK-LABEL: func.func @last_long_in_eight_blocks(
// SM90: schedule <threads = 1024, cluster = 8, pdl = true, parts = [#dsv4.select<algorithm = block, vector = 4>]>
func.func @last_long_in_eight_blocks(%s: tensor<15x65536xf32>, %i: tensor<15x8xi32>) {
  %0 = dsv4.kernel @k(%s, %i) : (tensor<15x65536xf32>, tensor<15x8xi32>) -> tensor<15x8xi32> {
  ^bb0(%a: tensor<15x65536xf32>, %b: tensor<15x8xi32>):
    %1 = dsv4.topk %a outs(%b : tensor<15x8xi32>) : tensor<15x65536xf32>
    dsv4.yield %1 : tensor<15x8xi32>
  }
  return
}

// CHECK-LABEL: func.func @long_in_six_blocks(
// SM90: schedule <threads = 1024, cluster = 6, pdl = true, parts = [#dsv4.select<algorithm = block, vector = 4>]>
func.func @long_in_six_blocks(%s: tensor<16x65536xf32>, %i: tensor<16x8xi32>) {
  %0 = dsv4.kernel @k(%s, %i) : (tensor<16x65536xf32>, tensor<16x8xi32>) -> tensor<16x8xi32> {
  ^bb0(%a: tensor<16x65536xf32>, %b: tensor<16x8xi32>):
    %1 = dsv4.topk %a outs(%b : tensor<16x8xi32>) : tensor<16x65536xf32>
    dsv4.yield %1 : tensor<16x8xi32>
  }
  return
}

// CHECK-LABEL: func.func @long_in_four_blocks(
// SM90: schedule <threads = 1024, cluster = 4, pdl = true, parts = [#dsv4.select<algorithm = block, vector = 4>]>
func.func @long_in_four_blocks(%s: tensor<17x65536xf32>, %i: tensor<17x8xi32>) {
  %0 = dsv4.kernel @k(%s, %i) : (tensor<17x65536xf32>, tensor<17x8xi32>) -> tensor<17x8xi32> {
  ^bb0(%a: tensor<17x65536xf32>, %b: tensor<17x8xi32>):
    %1 = dsv4.topk %a outs(%b : tensor<17x8xi32>) : tensor<17x65536xf32>
    dsv4.yield %1 : tensor<17x8xi32>
  }
  return
}

// CHECK-LABEL: func.func @last_long_in_four_blocks(
// SM90: schedule <threads = 1024, cluster = 4, pdl = true, parts = [#dsv4.select<algorithm = block, vector = 4>]>
func.func @last_long_in_four_blocks(%s: tensor<32x65536xf32>, %i: tensor<32x8xi32>) {
  %0 = dsv4.kernel @k(%s, %i) : (tensor<32x65536xf32>, tensor<32x8xi32>) -> tensor<32x8xi32> {
  ^bb0(%a: tensor<32x65536xf32>, %b: tensor<32x8xi32>):
    %1 = dsv4.topk %a outs(%b : tensor<32x8xi32>) : tensor<32x65536xf32>
    dsv4.yield %1 : tensor<32x8xi32>
  }
  return
}

// CHECK-LABEL: func.func @too_many_long_for_four_blocks(
// SM90: schedule <threads = 1024, cluster = 2, pdl = true, parts = [#dsv4.select<algorithm = stream, vector = 4, vectors = 4>]>
func.func @too_many_long_for_four_blocks(%s: tensor<33x65536xf32>, %i: tensor<33x8xi32>) {
  %0 = dsv4.kernel @k(%s, %i) : (tensor<33x65536xf32>, tensor<33x8xi32>) -> tensor<33x8xi32> {
  ^bb0(%a: tensor<33x65536xf32>, %b: tensor<33x8xi32>):
    %1 = dsv4.topk %a outs(%b : tensor<33x8xi32>) : tensor<33x65536xf32>
    dsv4.yield %1 : tensor<33x8xi32>
  }
  return
}

// CHECK-LABEL: func.func @longest_in_sixteen_blocks(
// SM90: schedule <threads = 1024, cluster = 16, pdl = true, parts = [#dsv4.select<algorithm = block, vector = 4>]>
func.func @longest_in_sixteen_blocks(%s: tensor<4x262144xf32>, %i: tensor<4x1024xi32>) {
  %0 = dsv4.kernel @k(%s, %i) : (tensor<4x262144xf32>, tensor<4x1024xi32>) -> tensor<4x1024xi32> {
  ^bb0(%a: tensor<4x262144xf32>, %b: tensor<4x1024xi32>):
    %1 = dsv4.topk %a outs(%b : tensor<4x1024xi32>) : tensor<4x262144xf32>
    dsv4.yield %1 : tensor<4x1024xi32>
  }
  return
}

// CHECK-LABEL: func.func @longest_in_eight_blocks(
// SM90: schedule <threads = 1024, cluster = 8, pdl = true, parts = [#dsv4.select<algorithm = block, vector = 4>]>
func.func @longest_in_eight_blocks(%s: tensor<15x131072xf32>, %i: tensor<15x1024xi32>) {
  %0 = dsv4.kernel @k(%s, %i) : (tensor<15x131072xf32>, tensor<15x1024xi32>) -> tensor<15x1024xi32> {
  ^bb0(%a: tensor<15x131072xf32>, %b: tensor<15x1024xi32>):
    %1 = dsv4.topk %a outs(%b : tensor<15x1024xi32>) : tensor<15x131072xf32>
    dsv4.yield %1 : tensor<15x1024xi32>
  }
  return
}

// Where more are selected the first block of a cluster has much to do.
// CHECK-LABEL: func.func @k_too_large(
// SM90: schedule <threads = 1024, cluster = 4, pdl = true, parts = [#dsv4.select<algorithm = stream, vector = 4, vectors = 4>]>
func.func @k_too_large(%s: tensor<15x131072xf32>, %i: tensor<15x1025xi32>) {
  %0 = dsv4.kernel @k(%s, %i) : (tensor<15x131072xf32>, tensor<15x1025xi32>) -> tensor<15x1025xi32> {
  ^bb0(%a: tensor<15x131072xf32>, %b: tensor<15x1025xi32>):
    %1 = dsv4.topk %a outs(%b : tensor<15x1025xi32>) : tensor<15x131072xf32>
    dsv4.yield %1 : tensor<15x1025xi32>
  }
  return
}

// CHECK-LABEL: func.func @many_long
// CHECK: schedule <threads = 512, min_blocks = 2, {{(pdl = true, )?}}parts = [#dsv4.select<algorithm = stream, vector = 4, vectors = 4>]>
func.func @many_long(%s: tensor<?x65536xf32>, %i: tensor<?x8xi32>) {
  %0 = dsv4.kernel @k(%s, %i) : (tensor<?x65536xf32>, tensor<?x8xi32>) -> tensor<?x8xi32> {
  ^bb0(%a: tensor<?x65536xf32>, %b: tensor<?x8xi32>):
    %1 = dsv4.topk %a outs(%b : tensor<?x8xi32>) : tensor<?x65536xf32>
    dsv4.yield %1 : tensor<?x8xi32>
  }
  return
}

// Longer than what clusters are for, by as many blocks as there are multiprocessors; the rows of a launch share them.
// CHECK-LABEL: func.func @one_very_long
// CHECK: schedule <threads = 1024, {{(pdl = true, )?}}parts = [#dsv4.select<algorithm = grid, vector = 4, vectors = 2, blocks = 64>]>
func.func @one_very_long(%s: tensor<1x1048576xf32>, %i: tensor<1x8xi32>) {
  %0 = dsv4.kernel @k(%s, %i) : (tensor<1x1048576xf32>, tensor<1x8xi32>) -> tensor<1x8xi32> {
  ^bb0(%a: tensor<1x1048576xf32>, %b: tensor<1x8xi32>):
    %1 = dsv4.topk %a outs(%b : tensor<1x8xi32>) : tensor<1x1048576xf32>
    dsv4.yield %1 : tensor<1x8xi32>
  }
  return
}

// CHECK-LABEL: func.func @four_very_long
// CHECK: schedule <threads = 1024, {{(pdl = true, )?}}parts = [#dsv4.select<algorithm = grid, vector = 4, vectors = 2, blocks = 32>]>
func.func @four_very_long(%s: tensor<4x1048576xf32>, %i: tensor<4x8xi32>) {
  %0 = dsv4.kernel @k(%s, %i) : (tensor<4x1048576xf32>, tensor<4x8xi32>) -> tensor<4x8xi32> {
  ^bb0(%a: tensor<4x1048576xf32>, %b: tensor<4x8xi32>):
    %1 = dsv4.topk %a outs(%b : tensor<4x8xi32>) : tensor<4x1048576xf32>
    dsv4.yield %1 : tensor<4x8xi32>
  }
  return
}

// Where there are no clusters.
// CHECK-LABEL: func.func @eight_long
// SM90: schedule <threads = 1024, cluster = 16, pdl = true, parts = [#dsv4.select<algorithm = stream, vector = 4, vectors = 4>]>
// SM80: schedule <threads = 1024, parts = [#dsv4.select<algorithm = grid, vector = 4, vectors = 4, blocks = 16>]>
func.func @eight_long(%s: tensor<8x262144xf32>, %i: tensor<8x8xi32>) {
  %0 = dsv4.kernel @k(%s, %i) : (tensor<8x262144xf32>, tensor<8x8xi32>) -> tensor<8x8xi32> {
  ^bb0(%a: tensor<8x262144xf32>, %b: tensor<8x8xi32>):
    %1 = dsv4.topk %a outs(%b : tensor<8x8xi32>) : tensor<8x262144xf32>
    dsv4.yield %1 : tensor<8x8xi32>
  }
  return
}
