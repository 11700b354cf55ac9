// topk with all of its optional parts, read back from its own text, from generic text and from
// bytecode.

// RUN: dsv4-opt %s | dsv4-opt | FileCheck %s
// RUN: dsv4-opt %s -mlir-print-op-generic | dsv4-opt | FileCheck %s
// RUN: dsv4-opt %s --emit-bytecode | dsv4-opt --allow-bytecode | FileCheck %s

// CHECK-LABEL: func.func @plain
// CHECK: %indices = dsv4.topk %{{.*}} outs(%{{.*}} : tensor<?x512xi32>) : tensor<?x?xf32>
func.func @plain(%s: tensor<?x?xf32>, %i: tensor<?x512xi32>) -> tensor<?x512xi32> {
  %0 = dsv4.topk %s outs(%i : tensor<?x512xi32>) : tensor<?x?xf32>
  return %0 : tensor<?x512xi32>
}

// CHECK-LABEL: func.func @values
// CHECK: %indices, %values = dsv4.topk %{{.*}} bias(%{{.*}} : tensor<256xf32>) order sorted
// CHECK-SAME: outs(%{{.*}}, %{{.*}} : tensor<4x?x6xi32>, tensor<4x?x6xf32>) : tensor<4x?x256xbf16>
func.func @values(%s: tensor<4x?x256xbf16>, %b: tensor<256xf32>, %i: tensor<4x?x6xi32>, %v: tensor<4x?x6xf32>)
    -> tensor<4x?x6xf32> {
  %0, %1 = dsv4.topk %s bias(%b : tensor<256xf32>) order sorted
      outs(%i, %v : tensor<4x?x6xi32>, tensor<4x?x6xf32>) : tensor<4x?x256xbf16>
  return %1 : tensor<4x?x6xf32>
}

// CHECK-LABEL: func.func @slots
// CHECK: %indices, %slots = dsv4.topk %{{.*}} lengths(%{{.*}} : tensor<?xi32>) ratio 4
// CHECK-SAME: pages(%{{.*}} : tensor<?x?xi32>) page 64 requests(%{{.*}} : tensor<?xi32>)
// CHECK-SAME: order index_ascending smallest outs(%{{.*}}, %{{.*}} : tensor<?x8xi32>, tensor<?x8xi32>)
func.func @slots(%s: tensor<?x?xf32>, %l: tensor<?xi32>, %t: tensor<?x?xi32>, %r: tensor<?xi32>,
    %i: tensor<?x8xi32>, %p: tensor<?x8xi32>) -> tensor<?x8xi32> {
  %0, %1 = dsv4.topk %s lengths(%l : tensor<?xi32>) ratio 4 pages(%t : tensor<?x?xi32>) page 64
      requests(%r : tensor<?xi32>) order index_ascending smallest
      outs(%i, %p : tensor<?x8xi32>, tensor<?x8xi32>) : tensor<?x?xf32>
  return %1 : tensor<?x8xi32>
}

// CHECK-LABEL: func.func @all
// CHECK: %indices, %values, %slots = dsv4.topk
func.func @all(%s: tensor<?x?xf32>, %t: tensor<?x?xi32>,
    %i: tensor<?x8xi32>, %v: tensor<?x8xf32>, %p: tensor<?x8xi32>) -> tensor<?x8xi32> {
  %0, %1, %2 = dsv4.topk %s pages(%t : tensor<?x?xi32>) page 64
      outs(%i, %v, %p : tensor<?x8xi32>, tensor<?x8xf32>, tensor<?x8xi32>) : tensor<?x?xf32>
  return %2 : tensor<?x8xi32>
}

// CHECK-LABEL: func.func @groups
// CHECK: %indices = dsv4.topk %{{.*}} order sorted groups 8 keep 4 by 2 outs(
func.func @groups(%s: tensor<?x256xf32>, %i: tensor<?x8xi32>) -> tensor<?x8xi32> {
  %0 = dsv4.topk %s order sorted groups 8 keep 4 by 2 outs(%i : tensor<?x8xi32>) : tensor<?x256xf32>
  return %0 : tensor<?x8xi32>
}

// CHECK-LABEL: func.func @starts
// CHECK: dsv4.topk %{{.*}} starts(%{{.*}} : tensor<?xi32>) lengths(%{{.*}} : tensor<?xi32>) ratio 4
// CHECK-SAME: offsets(%{{.*}} : tensor<?xi32>) order sorted smallest ties high outs(
func.func @starts(%s: tensor<?x?xf32>, %b: tensor<?xi32>, %l: tensor<?xi32>, %o: tensor<?xi32>, %i: tensor<?x8xi32>)
    -> tensor<?x8xi32> {
  %0 = dsv4.topk %s starts(%b : tensor<?xi32>) lengths(%l : tensor<?xi32>) ratio 4 offsets(%o : tensor<?xi32>)
      order sorted smallest ties high outs(%i : tensor<?x8xi32>) : tensor<?x?xf32>
  return %0 : tensor<?x8xi32>
}

// CHECK-LABEL: func.func @nan_first
// CHECK: dsv4.topk %{{.*}} bias(%{{.*}} : tensor<256xf32>) order sorted smallest ties high nan first outs(
// CHECK: dsv4.topk %{{.*}} nan first groups 8 keep 4 by 2 shared 1 outs(
func.func @nan_first(%s: tensor<?x256xf32>, %b: tensor<256xf32>, %i: tensor<?x8xi32>) -> tensor<?x8xi32> {
  %0 = dsv4.topk %s bias(%b : tensor<256xf32>) order sorted smallest ties high nan first
      outs(%i : tensor<?x8xi32>) : tensor<?x256xf32>
  %1 = dsv4.topk %s nan first groups 8 keep 4 by 2 shared 1 outs(%i : tensor<?x8xi32>) : tensor<?x256xf32>
  return %0 : tensor<?x8xi32>
}

// CHECK-LABEL: func.func @ends
// CHECK: dsv4.topk %{{.*}} starts(%{{.*}} : tensor<?xi32>) ends(%{{.*}} : tensor<?xi32>) outs(
func.func @ends(%s: tensor<?x?xf32>, %b: tensor<?xi32>, %e: tensor<?xi32>, %i: tensor<?x8xi32>) -> tensor<?x8xi32> {
  %0 = dsv4.topk %s starts(%b : tensor<?xi32>) ends(%e : tensor<?xi32>) outs(%i : tensor<?x8xi32>) : tensor<?x?xf32>
  return %0 : tensor<?x8xi32>
}

// CHECK-LABEL: func.func @next_n
// CHECK: dsv4.topk %{{.*}} lengths(%{{.*}} : tensor<3xi32>) next_n 4 ratio 2 outs(
func.func @next_n(%s: tensor<12x?xf32>, %l: tensor<3xi32>, %i: tensor<12x8xi32>) -> tensor<12x8xi32> {
  %0 = dsv4.topk %s lengths(%l : tensor<3xi32>) next_n 4 ratio 2 outs(%i : tensor<12x8xi32>) : tensor<12x?xf32>
  return %0 : tensor<12x8xi32>
}

// CHECK-LABEL: func.func @cu_seq_lens
// CHECK: dsv4.topk %{{.*}} pages(%{{.*}} : tensor<3x?xi32>) page 16 cu_seq_lens(%{{.*}} : tensor<4xi64>)
// CHECK-SAME: page_starts(%{{.*}} : tensor<12xi32>) order sorted outs(
func.func @cu_seq_lens(%s: tensor<12x?xf32>, %t: tensor<3x?xi32>, %c: tensor<4xi64>, %b: tensor<12xi32>,
                       %i: tensor<12x8xi32>, %p: tensor<12x8xi32>) -> tensor<12x8xi32> {
  %0, %1 = dsv4.topk %s pages(%t : tensor<3x?xi32>) page 16 cu_seq_lens(%c : tensor<4xi64>)
      page_starts(%b : tensor<12xi32>) order sorted outs(%i, %p : tensor<12x8xi32>, tensor<12x8xi32>) : tensor<12x?xf32>
  return %1 : tensor<12x8xi32>
}

// CHECK-LABEL: func.func @other_bias
// CHECK: dsv4.topk %{{.*}} bias(%{{.*}} : tensor<256xf16>) other_bias(%{{.*}}, %{{.*}} : tensor<256xbf16>, tensor<?xi1>) order sorted outs(
func.func @other_bias(%s: tensor<?x256xf32>, %b: tensor<256xf16>, %c: tensor<256xbf16>, %m: tensor<?xi1>,
                      %i: tensor<?x6xi32>) -> tensor<?x6xi32> {
  %0 = dsv4.topk %s bias(%b : tensor<256xf16>) other_bias(%c, %m : tensor<256xbf16>, tensor<?xi1>) order sorted
      outs(%i : tensor<?x6xi32>) : tensor<?x256xf32>
  return %0 : tensor<?x6xi32>
}
