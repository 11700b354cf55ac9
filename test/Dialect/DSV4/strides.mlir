// Strides of arguments, read back from text, generic text and bytecode.

// RUN: dsv4-opt %s | dsv4-opt | FileCheck %s
// RUN: dsv4-opt %s -mlir-print-op-generic | dsv4-opt | FileCheck %s
// RUN: dsv4-opt %s --emit-bytecode | dsv4-opt --allow-bytecode | FileCheck %s

// CHECK: func.func private @strides(
// CHECK-SAME: tensor<?x64x512xbf16> {dsv4.strides = #dsv4.strides<[?, 1024]>}
// CHECK-SAME: tensor<?x8xi1> {dsv4.strides = #dsv4.strides<[?], align = 1>}
// CHECK-SAME: tensor<8xf32> {dsv4.strides = #dsv4.strides<[], align = 4>}
// CHECK-SAME: tensor<4x8xf32> {dsv4.strides = #dsv4.strides<[0]>}
// CHECK-SAME: !dsv4.cache<64 x #v4_584> {dsv4.strides = #dsv4.strides<[?], align = 2>}
// CHECK-SAME: !dsv4.cache<64 x #v4_584> {dsv4.strides = #dsv4.strides<[1300480]>}
// CHECK-SAME: tensor<?xi64> {dsv4.strides = #dsv4.strides<[?], align = 8>}
// CHECK-SAME: !dsv4.cache<64 x #bf16_1024> {dsv4.strides = #dsv4.strides<[?, 1040]>}
// CHECK-SAME: {dsv4.strides = [#dsv4.strides<[?], align = 1>, #dsv4.strides<[?], align = 4>]}
func.func private @strides(
    tensor<?x64x512xbf16> {dsv4.strides = #dsv4.strides<[?, 1024], align = 16>},
    tensor<?x8xi1> {dsv4.strides = #dsv4.strides<[?], align = 1>},
    tensor<8xf32> {dsv4.strides = #dsv4.strides<[], align = 4>},
    tensor<4x8xf32> {dsv4.strides = #dsv4.strides<[0]>},
    !dsv4.cache<64 x <v4_584>> {dsv4.strides = #dsv4.strides<[?], align = 2>},
    !dsv4.cache<64 x <v4_584>> {dsv4.strides = #dsv4.strides<[1300480]>},
    tensor<?xi64> {dsv4.strides = #dsv4.strides<[?], align = 8>},
    !dsv4.cache<64 x <bf16_1024>> {dsv4.strides = #dsv4.strides<[?, 1040]>},
    !dsv4.cache<64 x <[<"k" : 64 x f8E4M3FN in row>, <"s" : 1 x f32 in array scales "k" per row>]>>
        {dsv4.strides = [#dsv4.strides<[?], align = 1>, #dsv4.strides<[?], align = 4>]})

// CHECK-LABEL: func.func @ops
// CHECK: dsv4.stride %{{.*}}, 0 : tensor<?x8xf32>
// CHECK: dsv4.stride %{{.*}}["s"], 0 : !dsv4.cache
!cache = !dsv4.cache<64 x <[<"k" : 64 x f8E4M3FN in row>, <"s" : 1 x f32 in array scales "k" per row>]>>
func.func @ops(%x: tensor<?x8xf32>, %c: !cache) {
  dsv4.kernel @k(%x, %c) : (tensor<?x8xf32>, !cache) -> () {
  ^bb0(%row: tensor<?x8xf32>, %kv: !cache):
    %s = dsv4.stride %row, 0 : tensor<?x8xf32>
    %p = dsv4.stride %kv["s"], 0 : !cache
  }
  return
}
