// The row program of an append: a recipe's steps in their order, then one condition
// around all stores.

// RUN: dsv4-opt %s --convert-dsv4-to-row --cse | FileCheck %s

!cache = !dsv4.cache<64 x #dsv4.record<v4_584>>
#fp8 = #dsv4.format<f8E4M3FN, [<f8E8M0FNU per 64>]>
#recipe = #dsv4.quantizer<floor = 1.0e-04 : f32, rounding = up_pow2>

// CHECK-LABEL: dsv4.kernel @append
// CHECK: scf.forall (%[[ROW:.*]]) in
// CHECK: %[[X:.*]] = row.read {{.*}} vector<448xbf16>
// CHECK-NEXT: %[[AMAX:.*]] = row.reduce max_abs %[[X]] per 64 : vector<448xbf16> to vector<7xf32>
// CHECK-NEXT: %[[FLOOR:.*]] = arith.constant dense<9.99999974E-5>
// CHECK-NEXT: %[[BOUNDED:.*]] = arith.maxnumf %[[AMAX]], %[[FLOOR]]
// CHECK-NEXT: %[[MAX:.*]] = arith.constant dense<4.480000e+02>
// CHECK-NEXT: %[[SCALE:.*]] = arith.divf %[[BOUNDED]], %[[MAX]]
// CHECK-NEXT: %[[STORED_SCALES:.*]] = row.encode %[[SCALE]] up : vector<7xf32> to vector<7xf8E8M0FNU>
// CHECK: %[[BY:.*]] = arith.extf %[[STORED_SCALES]]
// CHECK: %[[EACH:.*]] = row.expand %[[BY]] : vector<7xf32> to vector<448xf32>
// CHECK: %[[QUOTIENTS:.*]] = arith.divf %{{.*}}, %[[EACH]] : vector<448xf32>
// CHECK-NEXT: %[[CODES:.*]] = row.encode %[[QUOTIENTS]] : vector<448xf32> to vector<448xf8E4M3FN>
// CHECK: %[[ROPE:.*]] = row.read {{.*}} vector<64xbf16>
// The position, and the length of its request where there is one.
// CHECK: memref.load %{{.*}}[%[[ROW]]]
// CHECK: scf.if %{{.*}} -> (i32) {
// CHECK-NEXT: memref.load %{{.*}}[%[[ROW]]]
// A position is kept where length < position + 129.
// CHECK: %[[NEXT:.*]] = arith.addi %{{.*}}, %c129
// CHECK-NEXT: arith.cmpi slt, %{{.*}}, %[[NEXT]]
// CHECK: arith.remsi %{{.*}}, %c128
// CHECK: %[[WRITTEN:.*]] = row.may_write
// CHECK: scf.if %[[WRITTEN]] {
// CHECK: row.write %[[CODES]], {{.*}} : vector<448xf8E4M3FN>, memref<?xi8>
// CHECK: row.write %[[ROPE]], {{.*}} : vector<64xbf16>, memref<?xi8>
// CHECK: row.write %[[STORED_SCALES]], {{.*}} per 64 {align = 8 : i64, pad = 1 : i64}
// CHECK-NOT: row.write
func.func @append(%kv: tensor<?x512xbf16>, %p: tensor<?xi32>, %len: tensor<?xi32>,
                  %a: tensor<?x448xf8E4M3FN>, %b: tensor<?x7xf8E8M0FNU>, %c: !cache) {
  dsv4.kernel @append(%kv, %p, %len, %a, %b, %c)
      : (tensor<?x512xbf16>, tensor<?xi32>, tensor<?xi32>, tensor<?x448xf8E4M3FN>,
         tensor<?x7xf8E8M0FNU>, !cache) -> () {
  ^bb0(%x: tensor<?x512xbf16>, %q: tensor<?xi32>, %l: tensor<?xi32>, %d: tensor<?x448xf8E4M3FN>,
       %f: tensor<?x7xf8E8M0FNU>, %w: !cache):
    %payload, %scales = dsv4.quantize %x columns [0, 448]
        outs(%d, %f : tensor<?x448xf8E4M3FN>, tensor<?x7xf8E8M0FNU>)
        {format = #fp8, recipe = #recipe} : tensor<?x512xbf16>
    dsv4.paged_append %w[%q] ring 128 lengths(%l : tensor<?xi32>)
        fields(%payload, %x, %scales
               : tensor<?x448xf8E4M3FN>, tensor<?x512xbf16>, tensor<?x7xf8E8M0FNU>)
        columns [0, 448, 0] : !cache, tensor<?xi32>
  }
  return
}
