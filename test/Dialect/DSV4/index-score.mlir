// Scores of keys, read back from text, generic text and bytecode.

// RUN: dsv4-opt %s | dsv4-opt | FileCheck %s
// RUN: dsv4-opt %s -mlir-print-op-generic | dsv4-opt | FileCheck %s
// RUN: dsv4-opt %s --emit-bytecode | dsv4-opt --allow-bytecode | FileCheck %s

// CHECK-LABEL: func.func @paged
// CHECK: %scores = dsv4.index_score %{{.*}} scales(%{{.*}} : tensor<?x64x4xf8E8M0FNU>) weights(%{{.*}} : tensor<?x64xf32>)
// CHECK-SAME: cache(%{{.*}} : !dsv4.cache<64 x #index_mxfp4_68>) pages(%{{.*}} : tensor<?xi32>) indptr(%{{.*}} : tensor<?xi64>)
// CHECK-SAME: requests(%{{.*}} : tensor<?xi32>) lengths(%{{.*}} : tensor<?xi32>) next_n 2 ratio 4
// CHECK-SAME: outs(%{{.*}} : tensor<?x?xbf16>)
// CHECK-SAME: {key_transforms = ["rope", "hadamard"], query_transforms = ["rope", "hadamard"]} : tensor<?x64x128xf4E2M1FN>
func.func @paged(%q: tensor<?x64x128xf4E2M1FN>, %s: tensor<?x64x4xf8E8M0FNU>, %w: tensor<?x64xf32>,
                 %c: !dsv4.cache<64 x <index_mxfp4_68>>, %t: tensor<?xi32>, %p: tensor<?xi64>, %r: tensor<?xi32>,
                 %l: tensor<?xi32>, %o: tensor<?x?xbf16>) -> tensor<?x?xbf16> {
  %0 = dsv4.index_score %q scales(%s : tensor<?x64x4xf8E8M0FNU>) weights(%w : tensor<?x64xf32>)
      cache(%c : !dsv4.cache<64 x <index_mxfp4_68>>) pages(%t : tensor<?xi32>) indptr(%p : tensor<?xi64>)
      requests(%r : tensor<?xi32>) lengths(%l : tensor<?xi32>) next_n 2 ratio 4 outs(%o : tensor<?x?xbf16>)
      {query_transforms = ["rope", "hadamard"], key_transforms = ["rope", "hadamard"]} : tensor<?x64x128xf4E2M1FN>
  return %0 : tensor<?x?xbf16>
}

// CHECK-LABEL: func.func @in_order
// CHECK: %scores = dsv4.index_score %{{.*}} weights(%{{.*}} : tensor<?x32xf32>) keys(%{{.*}} : tensor<?x256xf4E2M1FN>)
// CHECK-SAME: key_scales(%{{.*}} : tensor<?x16xf8E4M3FN>) starts(%{{.*}} : tensor<?xi32>) ends(%{{.*}} : tensor<?xi32>)
// CHECK-SAME: keep_rest outs(%{{.*}} : tensor<?x777xf32>) : tensor<?x32x256xbf16>
func.func @in_order(%q: tensor<?x32x256xbf16>, %w: tensor<?x32xf32>, %k: tensor<?x256xf4E2M1FN>,
                    %s: tensor<?x16xf8E4M3FN>, %a: tensor<?xi32>, %e: tensor<?xi32>,
                    %o: tensor<?x777xf32>) -> tensor<?x777xf32> {
  %0 = dsv4.index_score %q weights(%w : tensor<?x32xf32>) keys(%k : tensor<?x256xf4E2M1FN>)
      key_scales(%s : tensor<?x16xf8E4M3FN>) starts(%a : tensor<?xi32>) ends(%e : tensor<?xi32>)
      keep_rest outs(%o : tensor<?x777xf32>) : tensor<?x32x256xbf16>
  return %0 : tensor<?x777xf32>
}

// #dsv4.score<algorithm = plain> has a row per block.
// CHECK: func.func private @schedules() attributes {test.a = #dsv4.score<algorithm = plain>, test.b = #dsv4.score<algorithm = plain, rows = 4>,
// CHECK-SAME: test.c = #dsv4.score<algorithm = mma, rows = 2, tiles = 1, stages = 8, slots = 2, persistent = true>}
func.func private @schedules() attributes {
  test.a = #dsv4.score<algorithm = plain, rows = 1>, test.b = #dsv4.score<algorithm = plain, rows = 4>,
  test.c = #dsv4.score<algorithm = mma, rows = 2, tiles = 1, stages = 8, slots = 2, persistent = true>}
