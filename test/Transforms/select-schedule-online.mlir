// A segment of a window has a block of as many threads as share its channels; where there are few of
// them, a cluster of blocks if the architecture has such.

// RUN: dsv4-opt %s --dsv4-select-schedule | FileCheck %s --check-prefixes=CHECK,SM90
// RUN: dsv4-opt %s --dsv4-select-schedule="arch=sm_80" | FileCheck %s --check-prefixes=CHECK,SM80
// RUN: not dsv4-opt %s --dsv4-select-schedule="schedule=#dsv4.schedule<threads=128,parts=[#dsv4.rows<lanes=32,vector=2>]>" 2>&1 \
// RUN:   | FileCheck %s --check-prefix=MISFIT
// RUN: not dsv4-opt %s --dsv4-select-schedule="schedule=#dsv4.schedule<threads=32,cluster=8,parts=[#dsv4.rows<lanes=32,vector=2>,#dsv4.window<elements=1>]>" 2>&1 \
// RUN:   | FileCheck %s --check-prefix=CLUSTER

!state = !dsv4.cache<8 x <[<"max" : 512 x f32 in row>, <"sum" : 512 x f32 in row>,
                           <"acc" : 512 x f32 in row>]>>

!state1024 = !dsv4.cache<8 x <[<"max" : 1024 x f32 in row>, <"sum" : 1024 x f32 in row>,
                               <"acc" : 1024 x f32 in row>]>>

// CHECK-LABEL: func.func @segments
func.func @segments(%v: tensor<?x512xf32>, %p: tensor<?x5xi32>, %c: !state, %o: tensor<?x512xbf16>) -> tensor<?x512xbf16> {
  // CHECK: schedule <threads = 256, min_blocks = 2,
  // CHECK-SAME: parts = [#dsv4.rows<lanes = 32, vector = 2>, #dsv4.window<elements = 2>]>
  // MISFIT: schedule_c5: 'dsv4.compress' needs a part #dsv4.window<...>, which the schedule does not have
  // CLUSTER: schedule_window_c3: 8 blocks of 32 threads with 1 elements each cannot share a row of 512 elements
  %0 = dsv4.kernel @segments(%v, %p, %c, %o) : (tensor<?x512xf32>, tensor<?x5xi32>, !state, tensor<?x512xbf16>) -> tensor<?x512xbf16> {
  ^bb0(%v1: tensor<?x512xf32>, %p1: tensor<?x5xi32>, %c1: !state, %o1: tensor<?x512xbf16>):
    %r = dsv4.compress %v1, %v1 window 128 algorithm online plan(%p1 : tensor<?x5xi32>)
        state(%c1 : !state) outs(%o1 : tensor<?x512xbf16>) : tensor<?x512xf32>, tensor<?x512xf32>
    dsv4.yield %r : tensor<?x512xbf16>
  }
  return %0 : tensor<?x512xbf16>
}

// CHECK-LABEL: func.func @few_segments
func.func @few_segments(%v: tensor<?x512xf32>, %p: tensor<64x5xi32>, %c: !state, %o: tensor<64x512xbf16>) -> tensor<64x512xbf16> {
  // SM90: schedule <threads = 256, cluster = 2, min_blocks = 1, pdl = true, parts = [#dsv4.rows<lanes = 32, vector = 2>, #dsv4.window<elements = 1>]>
  // SM80: schedule <threads = 256, min_blocks = 2, parts = [#dsv4.rows<lanes = 32, vector = 2>, #dsv4.window<elements = 2>]>
  %0 = dsv4.kernel @few_segments(%v, %p, %c, %o) : (tensor<?x512xf32>, tensor<64x5xi32>, !state, tensor<64x512xbf16>) -> tensor<64x512xbf16> {
  ^bb0(%v1: tensor<?x512xf32>, %p1: tensor<64x5xi32>, %c1: !state, %o1: tensor<64x512xbf16>):
    %r = dsv4.compress %v1, %v1 window 128 algorithm online plan(%p1 : tensor<64x5xi32>)
        state(%c1 : !state) outs(%o1 : tensor<64x512xbf16>) : tensor<?x512xf32>, tensor<?x512xf32>
    dsv4.yield %r : tensor<64x512xbf16>
  }
  return %0 : tensor<64x512xbf16>
}

// Wider rows take more threads of the two blocks.
// CHECK-LABEL: func.func @few_wide_segments
func.func @few_wide_segments(%v: tensor<?x1024xf32>, %p: tensor<64x5xi32>, %c: !state1024, %o: tensor<64x1024xbf16>) -> tensor<64x1024xbf16> {
  // SM90: schedule <threads = 512, cluster = 2, min_blocks = 1, pdl = true, parts = [#dsv4.rows<lanes = 32, vector = 2>, #dsv4.window<elements = 1>]>
  %0 = dsv4.kernel @few_wide_segments(%v, %p, %c, %o) : (tensor<?x1024xf32>, tensor<64x5xi32>, !state1024, tensor<64x1024xbf16>) -> tensor<64x1024xbf16> {
  ^bb0(%v1: tensor<?x1024xf32>, %p1: tensor<64x5xi32>, %c1: !state1024, %o1: tensor<64x1024xbf16>):
    %r = dsv4.compress %v1, %v1 window 128 algorithm online plan(%p1 : tensor<64x5xi32>)
        state(%c1 : !state1024) outs(%o1 : tensor<64x1024xbf16>) : tensor<?x1024xf32>, tensor<?x1024xf32>
    dsv4.yield %r : tensor<64x1024xbf16>
  }
  return %0 : tensor<64x1024xbf16>
}

// Of narrow rows each block has half, and of an odd number of channels one block has all.
!state96 = !dsv4.cache<8 x <[<"max" : 96 x f32 in row>, <"sum" : 96 x f32 in row>,
                              <"acc" : 96 x f32 in row>]>>
!state513 = !dsv4.cache<8 x <[<"max" : 513 x f32 in row>, <"sum" : 513 x f32 in row>,
                              <"acc" : 513 x f32 in row>]>>

// CHECK-LABEL: func.func @few_segments_of_96
func.func @few_segments_of_96(%v: tensor<?x96xf32>, %p: tensor<64x5xi32>, %c: !state96, %o: tensor<64x96xbf16>) -> tensor<64x96xbf16> {
  // SM90: schedule <threads = 64, cluster = 2, min_blocks = 1, pdl = true, parts = [#dsv4.rows<lanes = 16, vector = 2>, #dsv4.window<elements = 1>]>
  %0 = dsv4.kernel @few_segments_of_96(%v, %p, %c, %o) : (tensor<?x96xf32>, tensor<64x5xi32>, !state96, tensor<64x96xbf16>) -> tensor<64x96xbf16> {
  ^bb0(%v1: tensor<?x96xf32>, %p1: tensor<64x5xi32>, %c1: !state96, %o1: tensor<64x96xbf16>):
    %r = dsv4.compress %v1, %v1 window 128 algorithm online plan(%p1 : tensor<64x5xi32>)
        state(%c1 : !state96) outs(%o1 : tensor<64x96xbf16>) : tensor<?x96xf32>, tensor<?x96xf32>
    dsv4.yield %r : tensor<64x96xbf16>
  }
  return %0 : tensor<64x96xbf16>
}

// CHECK-LABEL: func.func @few_segments_of_513
func.func @few_segments_of_513(%v: tensor<?x513xf32>, %p: tensor<64x5xi32>, %c: !state513, %o: tensor<64x513xbf16>) -> tensor<64x513xbf16> {
  // SM90: schedule <threads = 512, min_blocks = 1, pdl = true, parts = [#dsv4.rows<lanes = 1, vector = 1>, #dsv4.window<elements = 1>]>
  %0 = dsv4.kernel @few_segments_of_513(%v, %p, %c, %o) : (tensor<?x513xf32>, tensor<64x5xi32>, !state513, tensor<64x513xbf16>) -> tensor<64x513xbf16> {
  ^bb0(%v1: tensor<?x513xf32>, %p1: tensor<64x5xi32>, %c1: !state513, %o1: tensor<64x513xbf16>):
    %r = dsv4.compress %v1, %v1 window 128 algorithm online plan(%p1 : tensor<64x5xi32>)
        state(%c1 : !state513) outs(%o1 : tensor<64x513xbf16>) : tensor<?x513xf32>, tensor<?x513xf32>
    dsv4.yield %r : tensor<64x513xbf16>
  }
  return %0 : tensor<64x513xbf16>
}

!wide = !dsv4.cache<8 x <[<"max" : 2048 x f32 in row>, <"sum" : 2048 x f32 in row>,
                          <"acc" : 2048 x f32 in row>]>>

// Wide rows need more registers than two blocks of so many threads leave.
// CHECK-LABEL: func.func @wide_segments
func.func @wide_segments(%v: tensor<?x2048xf32>, %p: tensor<?x5xi32>, %c: !wide, %o: tensor<?x2048xbf16>) -> tensor<?x2048xbf16> {
  // CHECK: schedule <threads = 512,
  // CHECK-NOT: blocks
  // CHECK-SAME: parts = [#dsv4.rows<lanes = 32, vector = 2>, #dsv4.window<elements = 2>]>
  %0 = dsv4.kernel @wide_segments(%v, %p, %c, %o) : (tensor<?x2048xf32>, tensor<?x5xi32>, !wide, tensor<?x2048xbf16>) -> tensor<?x2048xbf16> {
  ^bb0(%v1: tensor<?x2048xf32>, %p1: tensor<?x5xi32>, %c1: !wide, %o1: tensor<?x2048xbf16>):
    %r = dsv4.compress %v1, %v1 window 128 algorithm online plan(%p1 : tensor<?x5xi32>)
        state(%c1 : !wide) outs(%o1 : tensor<?x2048xbf16>) : tensor<?x2048xf32>, tensor<?x2048xf32>
    dsv4.yield %r : tensor<?x2048xbf16>
  }
  return %0 : tensor<?x2048xbf16>
}
