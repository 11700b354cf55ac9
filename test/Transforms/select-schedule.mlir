// Which schedule a kernel gets: from the table of its architecture, reduced until
// it fits, or the one it carries.

// RUN: dsv4-opt %s --dsv4-select-schedule | FileCheck %s --check-prefixes=CHECK,BUILTIN
// RUN: dsv4-opt %s --dsv4-select-schedule="table=%S/Inputs/table.json" | FileCheck %s --check-prefixes=CHECK,SM90A
// RUN: dsv4-opt %s --dsv4-select-schedule="arch=sm_100a table=%S/Inputs/table.json" | FileCheck %s --check-prefixes=CHECK,SM100A
// RUN: dsv4-opt %s --dsv4-select-schedule="schedule=#dsv4.schedule<threads=64,parts=[#dsv4.rows<lanes=4,vector=4>]>" | FileCheck %s --check-prefixes=CHECK,GIVEN
// RUN: dsv4-opt %s --dsv4-select-schedule -o /dev/null --remarks-filter=dsv4-select-schedule \
// RUN:   --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefix=REMARK

!v4 = !dsv4.cache<64 x <v4_584>>
!fp4 = !dsv4.cache<64 x <v41_fp4_288>>
!wide = !dsv4.cache<64 x <[<"kv" : 96 x bf16 in row>]>>

// A gather of 8-bit elements.
// CHECK-LABEL: func.func @gather_fp8
func.func @gather_fp8(%c: !v4, %i: tensor<?xi32>, %o: tensor<?x512xbf16>) -> tensor<?x512xbf16> {
  // BUILTIN: schedule <threads = {{[0-9]+}}, {{.*}}#dsv4.rows<lanes = {{[0-9]+}}, vector = {{[0-9]+}}
  // SM90A: schedule <threads = 256, parts = [#dsv4.rows<lanes = 4, vector = 16, store = streaming>]>
  // SM100A: schedule <threads = 512, pdl = true, parts = [#dsv4.rows<lanes = 8, vector = 8>]>
  // GIVEN: schedule <threads = 64, parts = [#dsv4.rows<lanes = 4, vector = 4>]>
  // REMARK: [[@LINE+1]]:8: remark: [Analysis] schedule | Category:dsv4-select-schedule |{{.*}}kernel 'gather_fp8': {{[0-9]+}} threads, {{[0-9]+}} lanes per row, vectors of {{[0-9]+}} elements, {{.*}}. Measured on NVIDIA H200
  %0 = dsv4.kernel @gather_fp8(%c, %i, %o) : (!v4, tensor<?xi32>, tensor<?x512xbf16>) -> tensor<?x512xbf16> {
  ^bb0(%c1: !v4, %i1: tensor<?xi32>, %o1: tensor<?x512xbf16>):
    %r = dsv4.paged_gather %c1[%i1] outs(%o1 : tensor<?x512xbf16>) : !v4, tensor<?xi32>
    dsv4.yield %r : tensor<?x512xbf16>
  }
  return %0 : tensor<?x512xbf16>
}

// The first entry of equal architecture that matches the bits, or any.
// CHECK-LABEL: func.func @gather_fp4
func.func @gather_fp4(%c: !fp4, %i: tensor<?xi32>, %o: tensor<?x512xbf16>) -> tensor<?x512xbf16> {
  // SM90A: schedule <threads = 128, parts = [#dsv4.rows<lanes = 16, vector = 32>]>
  // SM100A: schedule <threads = 512, pdl = true, parts = [#dsv4.rows<lanes = 8, vector = 8>]>
  // GIVEN: schedule <threads = 64, parts = [#dsv4.rows<lanes = 4, vector = 4>]>
  %0 = dsv4.kernel @gather_fp4(%c, %i, %o) : (!fp4, tensor<?xi32>, tensor<?x512xbf16>) -> tensor<?x512xbf16> {
  ^bb0(%c1: !fp4, %i1: tensor<?xi32>, %o1: tensor<?x512xbf16>):
    %r = dsv4.paged_gather %c1[%i1] outs(%o1 : tensor<?x512xbf16>) : !fp4, tensor<?xi32>
    dsv4.yield %r : tensor<?x512xbf16>
  }
  return %0 : tensor<?x512xbf16>
}

// Another op: no entry of the table but the built-in one.
// CHECK-LABEL: func.func @dequantize
func.func @dequantize(%d: tensor<?x512xf8E4M3FN>, %s: tensor<?xf32>, %o: tensor<?x512xbf16>) -> tensor<?x512xbf16> {
  // SM90A: schedule <threads = {{[0-9]+}}, {{.*}}#dsv4.rows<lanes = {{[0-9]+}}, vector = {{[0-9]+}}
  // SM90A-NOT: streaming
  // SM100A: schedule <threads = 512
  %0 = dsv4.kernel @dequantize(%d, %s, %o) : (tensor<?x512xf8E4M3FN>, tensor<?xf32>, tensor<?x512xbf16>) -> tensor<?x512xbf16> {
  ^bb0(%d1: tensor<?x512xf8E4M3FN>, %s1: tensor<?xf32>, %o1: tensor<?x512xbf16>):
    %r = dsv4.dequantize %d1 scales(%s1 : tensor<?xf32>) outs(%o1 : tensor<?x512xbf16>)
        {format = #dsv4.format<f8E4M3FN, [<f32 per row>]>} : tensor<?x512xf8E4M3FN>
    dsv4.yield %r : tensor<?x512xbf16>
  }
  return %0 : tensor<?x512xbf16>
}

// 96 elements: lanes are halved until lanes * vector divides them.
// CHECK-LABEL: func.func @reduced
func.func @reduced(%c: !wide, %i: tensor<?xi32>, %o: tensor<?x96xbf16>) -> tensor<?x96xbf16> {
  // BUILTIN: schedule <threads = 128, {{.*}}#dsv4.rows<lanes = 4, vector = 8
  // SM100A: schedule <threads = 512, pdl = true, parts = [#dsv4.rows<lanes = 4, vector = 8>]>
  %0 = dsv4.kernel @reduced(%c, %i, %o) : (!wide, tensor<?xi32>, tensor<?x96xbf16>) -> tensor<?x96xbf16> {
  ^bb0(%c1: !wide, %i1: tensor<?xi32>, %o1: tensor<?x96xbf16>):
    %r = dsv4.paged_gather %c1[%i1] outs(%o1 : tensor<?x96xbf16>) : !wide, tensor<?xi32>
    dsv4.yield %r : tensor<?x96xbf16>
  }
  return %0 : tensor<?x96xbf16>
}

// A kernel that carries a schedule keeps it.
// CHECK-LABEL: func.func @carried
func.func @carried(%c: !v4, %i: tensor<?xi32>, %o: tensor<?x512xbf16>) -> tensor<?x512xbf16> {
  // CHECK: schedule <threads = 32, parts = [#dsv4.rows<lanes = 2, vector = 2>]>
  %0 = dsv4.kernel @carried(%c, %i, %o) schedule <threads = 32, parts = [#dsv4.rows<lanes = 2, vector = 2>]>
      : (!v4, tensor<?xi32>, tensor<?x512xbf16>) -> tensor<?x512xbf16> {
  ^bb0(%c1: !v4, %i1: tensor<?xi32>, %o1: tensor<?x512xbf16>):
    %r = dsv4.paged_gather %c1[%i1] outs(%o1 : tensor<?x512xbf16>) : !v4, tensor<?xi32>
    dsv4.yield %r : tensor<?x512xbf16>
  }
  return %0 : tensor<?x512xbf16>
}

// One that holds no row-wise op gets none.
// CHECK-LABEL: func.func @empty
func.func @empty(%o: tensor<?x8xf32>) {
  // BUILTIN: dsv4.kernel @empty(%{{.*}}) :
  // SM90A: dsv4.kernel @empty(%{{.*}}) :
  dsv4.kernel @empty(%o) : (tensor<?x8xf32>) -> () {
  ^bb0(%o1: tensor<?x8xf32>):
  }
  return
}

// A warp with masked tails has a row that only small vectors divide, and that is long for few lanes.
// CHECK-LABEL: func.func @odd_long_rows
func.func @odd_long_rows(%x: tensor<?x2880xbf16>, %o: tensor<?x2880xbf16>) -> tensor<?x2880xbf16> {
  // BUILTIN: schedule <threads = 128, {{.*}}#dsv4.rows<lanes = 32, vector = 8
  %0 = dsv4.kernel @odd_long_rows(%x, %o) : (tensor<?x2880xbf16>, tensor<?x2880xbf16>) -> tensor<?x2880xbf16> {
  ^bb0(%x1: tensor<?x2880xbf16>, %o1: tensor<?x2880xbf16>):
    %r = dsv4.rms_norm %x1 outs(%o1 : tensor<?x2880xbf16>) {eps = 1.0e-06 : f32} : tensor<?x2880xbf16>
    dsv4.yield %r : tensor<?x2880xbf16>
  }
  return %0 : tensor<?x2880xbf16>
}

// Of a long row a lane would have more than it has registers for: more lanes share it.
// CHECK-LABEL: func.func @long_rows
func.func @long_rows(%x: tensor<?x7168xbf16>, %c: tensor<?x7168xf4E2M1FN>, %s: tensor<?x448xf8E4M3FN>)
    -> (tensor<?x7168xf4E2M1FN>, tensor<?x448xf8E4M3FN>) {
  // BUILTIN: schedule <threads = 128, {{.*}}#dsv4.rows<lanes = 32, vector = 8
  // SM90A: schedule <threads = {{[0-9]+}}, {{.*}}#dsv4.rows<lanes = 32,
  %0:2 = dsv4.kernel @long_rows(%x, %c, %s) : (tensor<?x7168xbf16>, tensor<?x7168xf4E2M1FN>, tensor<?x448xf8E4M3FN>)
      -> (tensor<?x7168xf4E2M1FN>, tensor<?x448xf8E4M3FN>) {
  ^bb0(%x1: tensor<?x7168xbf16>, %c1: tensor<?x7168xf4E2M1FN>, %s1: tensor<?x448xf8E4M3FN>):
    %payload, %scales = dsv4.quantize %x1 outs(%c1, %s1 : tensor<?x7168xf4E2M1FN>, tensor<?x448xf8E4M3FN>)
        {format = #dsv4.format<f4E2M1FN, [<f8E4M3FN per 16>]>, recipe = #dsv4.quantizer<>} : tensor<?x7168xbf16>
    dsv4.yield %payload, %scales : tensor<?x7168xf4E2M1FN>, tensor<?x448xf8E4M3FN>
  }
  return %0#0, %0#1 : tensor<?x7168xf4E2M1FN>, tensor<?x448xf8E4M3FN>
}
