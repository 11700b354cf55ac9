// One lane has each segment of its row as one vector, and all scales of it, where `vector = 0` says so.

// RUN: dsv4-opt %s --convert-dsv4-to-row --cse --dsv4-distribute-rows --cse | FileCheck %s

!cache = !dsv4.cache<64 x <[
  <"a" : 30 x f4E2M1FN in row>, <"b" : 7 x f8E4M3FN in row>,
  <"s" : 6 x f8E4M3FN in tail scales "a" per 5 interleave 3 pad 2>]>>

// No lane, no steps; interleaved scales are put in order.
// CHECK-LABEL: func.func @gather
// CHECK-NOT: arith.remui
// CHECK: %[[DATA:.*]] = cuda.load %{{.*}} if %{{.*}} align 2 : memref<?xi8>, index -> vector<30xf4E2M1FN>
// CHECK-NEXT: %[[STORED:.*]] = cuda.load %{{.*}} if %{{.*}} : memref<?xi8>, index -> vector<6xf8E4M3FN>
// CHECK-NEXT: %[[SCALES:.*]] = cuda.transpose %[[STORED]] rows 3 : vector<6xf8E4M3FN>
// CHECK: cuda.load %{{.*}} if %{{.*}} : memref<?xi8>, index -> vector<7xf8E4M3FN>
// CHECK: %[[WIDE:.*]] = arith.extf %[[DATA]] : vector<30xf4E2M1FN> to vector<30xf32>
// CHECK: %[[BY:.*]] = arith.extf %[[SCALES]] : vector<6xf8E4M3FN> to vector<6xf32>
// CHECK: %[[EACH:.*]] = cuda.expand %[[BY]] : vector<6xf32> to vector<30xf32>
// CHECK: arith.mulf %[[WIDE]], %[[EACH]] : vector<30xf32>
// CHECK: cuda.store %{{.*}} align 2 : vector<30xbf16>, memref<?xbf16>, index
// CHECK: cuda.store %{{.*}} : vector<7xbf16>, memref<?xbf16>, index
func.func @gather(%c: !cache, %i: tensor<?xi32>, %o: tensor<?x37xbf16>) -> tensor<?x37xbf16> {
  %0 = dsv4.kernel @gather(%c, %i, %o)
      schedule <threads = 32, parts = [#dsv4.rows<lanes = 1, vector = 0>]> : (!cache, tensor<?xi32>, tensor<?x37xbf16>) -> tensor<?x37xbf16> {
  ^bb0(%c1: !cache, %i1: tensor<?xi32>, %o1: tensor<?x37xbf16>):
    %r = dsv4.paged_gather %c1[%i1] outs(%o1 : tensor<?x37xbf16>) : !cache, tensor<?xi32>
    dsv4.yield %r : tensor<?x37xbf16>
  }
  return %0 : tensor<?x37xbf16>
}

// The other way about, and two zeros after the scales.
// CHECK-LABEL: func.func @append
// CHECK: %[[GIVEN:.*]] = cuda.load %{{.*}} -> vector<6xf8E4M3FN>
// CHECK: cuda.store %{{.*}} align 2 : vector<30xf4E2M1FN>, memref<?xi8>, index
// CHECK: %[[ORDERED:.*]] = cuda.transpose %[[GIVEN]] rows 2 : vector<6xf8E4M3FN>
// CHECK: %[[PADDED:.*]] = cuda.pad %[[ORDERED]] : vector<6xf8E4M3FN> to vector<8xf8E4M3FN>
// CHECK: cuda.store %[[PADDED]], %{{.*}} : vector<8xf8E4M3FN>, memref<?xi8>, index
func.func @append(%c: !cache, %i: tensor<?xi32>, %a: tensor<?x30xf4E2M1FN>, %b: tensor<?x7xf8E4M3FN>, %s: tensor<?x6xf8E4M3FN>) {
  dsv4.kernel @append(%c, %i, %a, %b, %s)
      schedule <threads = 32, parts = [#dsv4.rows<lanes = 1, vector = 0>]>
      : (!cache, tensor<?xi32>, tensor<?x30xf4E2M1FN>, tensor<?x7xf8E4M3FN>, tensor<?x6xf8E4M3FN>) -> () {
  ^bb0(%c1: !cache, %i1: tensor<?xi32>, %a1: tensor<?x30xf4E2M1FN>, %b1: tensor<?x7xf8E4M3FN>, %s1: tensor<?x6xf8E4M3FN>):
    dsv4.paged_append %c1[%i1] unique fields(%a1, %b1, %s1 : tensor<?x30xf4E2M1FN>, tensor<?x7xf8E4M3FN>, tensor<?x6xf8E4M3FN>) : !cache, tensor<?xi32>
    dsv4.yield
  }
  return
}

// A row is cut and joined at any column.
// CHECK-LABEL: func.func @chain
// CHECK: %[[X:.*]] = cuda.load %{{.*}} -> vector<5xbf16>
// CHECK: cuda.alternate %[[TAIL:.*]] : vector<4xf32> to vector<2xf32>
// CHECK: cuda.alternate %[[TAIL]] odd : vector<4xf32> to vector<2xf32>
// CHECK: vector.interleave %{{.*}} : vector<2xf32> -> vector<4xf32>
// CHECK: %[[ROTATED:.*]] = arith.select %{{.*}} : vector<4xbf16>
// CHECK: %[[ROW:.*]] = cuda.join %[[X]], %[[ROTATED]] : vector<5xbf16>, vector<4xbf16> to vector<9xbf16>
// CHECK: %[[COLUMNS:.*]] = vector.extract_strided_slice %[[ROW]] {offsets = [3], sizes = [6], strides = [1]}
// CHECK: cuda.reduce max_abs_nan %[[COLUMNS]] per 3 : vector<6xbf16> to vector<2xf32>
// CHECK: cuda.store %{{.*}} : vector<6xf4E2M1FN>, memref<?xi8>, index
// CHECK: cuda.store %{{.*}} : vector<2xf8E4M3FN>, memref<?xf8E4M3FN>, index
func.func @chain(%x: tensor<?x9xbf16>, %t: tensor<?x4xf32>, %p: tensor<?xi32>, %e: tensor<?x9xbf16>,
                 %q: tensor<?x6xf4E2M1FN>, %s: tensor<?x2xf8E4M3FN>) -> (tensor<?x6xf4E2M1FN>, tensor<?x2xf8E4M3FN>) {
  %0:2 = dsv4.kernel @chain(%x, %t, %p, %e, %q, %s)
      schedule <threads = 32, parts = [#dsv4.rows<lanes = 1, vector = 0>]>
      : (tensor<?x9xbf16>, tensor<?x4xf32>, tensor<?xi32>, tensor<?x9xbf16>, tensor<?x6xf4E2M1FN>, tensor<?x2xf8E4M3FN>)
      -> (tensor<?x6xf4E2M1FN>, tensor<?x2xf8E4M3FN>) {
  ^bb0(%x1: tensor<?x9xbf16>, %t1: tensor<?x4xf32>, %p1: tensor<?xi32>, %e1: tensor<?x9xbf16>,
       %q1: tensor<?x6xf4E2M1FN>, %s1: tensor<?x2xf8E4M3FN>):
    %r = dsv4.rope %x1 table(%t1 : tensor<?x4xf32>) positions(%p1 : tensor<?xi32>) outs(%e1 : tensor<?x9xbf16>) : tensor<?x9xbf16>
    %y:2 = dsv4.quantize %r columns [3, 6] outs(%q1, %s1 : tensor<?x6xf4E2M1FN>, tensor<?x2xf8E4M3FN>)
        {format = #dsv4.format<f4E2M1FN, [<f8E4M3FN per 3>]>, recipe = #dsv4.quantizer<>} : tensor<?x9xbf16>
    dsv4.yield %y#0, %y#1 : tensor<?x6xf4E2M1FN>, tensor<?x2xf8E4M3FN>
  }
  return %0#0, %0#1 : tensor<?x6xf4E2M1FN>, tensor<?x2xf8E4M3FN>
}

!interleaved = !dsv4.cache<64 x <[
  <"a" : 64 x f4E2M1FN in row>, <"b" : 48 x bf16 in row>,
  <"s" : 4 x f8E4M3FN in tail scales "a" per 16 interleave 2>]>>

// Lanes of which a step is one group have all scales, too.
// CHECK-LABEL: func.func @steps
// CHECK: cuda.load %{{.*}} stride 8 : memref<?xi8>, index -> vector<4x4xf4E2M1FN>
// CHECK: %[[STORED:.*]] = cuda.load %{{.*}} if %{{.*}} -> vector<4xf8E4M3FN>
// CHECK: %[[SCALES:.*]] = cuda.transpose %[[STORED]] rows 2 : vector<4xf8E4M3FN>
// CHECK: cuda.load %{{.*}} stride 32 : memref<?xi8>, index -> vector<3x4xbf16>
// CHECK: %[[BY:.*]] = arith.extf %[[SCALES]]
// CHECK: cuda.expand %[[BY]] : vector<4xf32> to vector<4x4xf32>
func.func @steps(%c: !interleaved, %i: tensor<?xi32>, %o: tensor<?x112xbf16>) -> tensor<?x112xbf16> {
  %0 = dsv4.kernel @steps(%c, %i, %o)
      schedule <threads = 32, parts = [#dsv4.rows<lanes = 4, vector = 4>]>
      : (!interleaved, tensor<?xi32>, tensor<?x112xbf16>) -> tensor<?x112xbf16> {
  ^bb0(%c1: !interleaved, %i1: tensor<?xi32>, %o1: tensor<?x112xbf16>):
    %r = dsv4.paged_gather %c1[%i1] outs(%o1 : tensor<?x112xbf16>) : !interleaved, tensor<?xi32>
    dsv4.yield %r : tensor<?x112xbf16>
  }
  return %0 : tensor<?x112xbf16>
}

// CHECK-LABEL: func.func @steps_append
// CHECK: %[[ORDERED:.*]] = cuda.transpose %{{.*}} rows 2 : vector<4xf8E4M3FN>
// CHECK: scf.if
// CHECK-NEXT: cuda.store %[[ORDERED]], %{{.*}} : vector<4xf8E4M3FN>, memref<?xi8>, index
func.func @steps_append(%c: !interleaved, %i: tensor<?xi32>, %a: tensor<?x64xf4E2M1FN>, %b: tensor<?x48xbf16>,
                        %s: tensor<?x4xf8E4M3FN>) {
  dsv4.kernel @steps_append(%c, %i, %a, %b, %s)
      schedule <threads = 32, parts = [#dsv4.rows<lanes = 4, vector = 4>]>
      : (!interleaved, tensor<?xi32>, tensor<?x64xf4E2M1FN>, tensor<?x48xbf16>, tensor<?x4xf8E4M3FN>) -> () {
  ^bb0(%c1: !interleaved, %i1: tensor<?xi32>, %a1: tensor<?x64xf4E2M1FN>, %b1: tensor<?x48xbf16>,
       %s1: tensor<?x4xf8E4M3FN>):
    dsv4.paged_append %c1[%i1] unique
        fields(%a1, %b1, %s1 : tensor<?x64xf4E2M1FN>, tensor<?x48xbf16>, tensor<?x4xf8E4M3FN>)
        : !interleaved, tensor<?xi32>
    dsv4.yield
  }
  return
}
