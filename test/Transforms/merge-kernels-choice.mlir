// Which kernels become one launch, and what the remarks say about it. Kernels without a schedule get that of the table;
// they are distributed before, and what a joined kernel consists of is in merge-kernels.mlir.

// RUN: dsv4-opt %s --dsv4-specialize --dsv4-form-kernels --dsv4-select-schedule --convert-dsv4-to-row --cse \
// RUN:   --dsv4-distribute-rows --dsv4-merge-kernels -o %t.mlir --remarks-filter=dsv4-merge-kernels \
// RUN:   --remark-format=emitRemark 2> %t.remarks
// RUN: FileCheck %s < %t.mlir
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks

// Both read one tensor. All kernels of the function are one, and have its name.
// CHECK-LABEL: func.func @joined(
// CHECK: dsv4.kernel @joined(
// CHECK-NOT: dsv4.kernel
// CHECK: return
// REMARK: remark: [Passed] dsv4-merge-kernels {{.*}}kernels 'a', 'b' have one launch, 'joined'
func.func @joined(%x: tensor<?x64xbf16> {dsv4.name = "x", dsv4.dims = ["n", ""]},
                  %o: tensor<?x64xbf16> {dsv4.name = "o", dsv4.dims = ["n", ""]},
                  %p: tensor<?x64xbf16> {dsv4.name = "p", dsv4.dims = ["n", ""]}) {
  %a = dsv4.kernel @a(%x, %o) schedule <threads = 128, pdl = true, parts = [#dsv4.rows<lanes = 8, vector = 8>]>
      : (tensor<?x64xbf16>, tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  ^bb0(%u: tensor<?x64xbf16>, %v: tensor<?x64xbf16>):
    %1 = dsv4.rms_norm %u outs(%v : tensor<?x64xbf16>) {eps = 1.0e-06 : f32} : tensor<?x64xbf16>
    dsv4.yield %1 : tensor<?x64xbf16>
  }
  %b = dsv4.kernel @b(%x, %p) schedule <threads = 128, pdl = true, parts = [#dsv4.rows<lanes = 8, vector = 8>]>
      : (tensor<?x64xbf16>, tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  ^bb0(%u: tensor<?x64xbf16>, %v: tensor<?x64xbf16>):
    %1 = dsv4.rms_norm %u outs(%v : tensor<?x64xbf16>) {eps = 1.0e-06 : f32} : tensor<?x64xbf16>
    dsv4.yield %1 : tensor<?x64xbf16>
  }
  return
}

// Its twin says that it wants two launches. There is no remark.
// CHECK-LABEL: func.func @separate(
// CHECK: dsv4.kernel @a(
// CHECK: dsv4.kernel @b(
// CHECK-NOT: dsv4.kernel
// CHECK: return
func.func @separate(%x: tensor<?x64xbf16> {dsv4.name = "x", dsv4.dims = ["n", ""]},
                    %o: tensor<?x64xbf16> {dsv4.name = "o", dsv4.dims = ["n", ""]},
                    %p: tensor<?x64xbf16> {dsv4.name = "p", dsv4.dims = ["n", ""]})
    attributes {dsv4.separate_launches} {
  %a = dsv4.kernel @a(%x, %o) schedule <threads = 128, pdl = true, parts = [#dsv4.rows<lanes = 8, vector = 8>]>
      : (tensor<?x64xbf16>, tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  ^bb0(%u: tensor<?x64xbf16>, %v: tensor<?x64xbf16>):
    %1 = dsv4.rms_norm %u outs(%v : tensor<?x64xbf16>) {eps = 1.0e-06 : f32} : tensor<?x64xbf16>
    dsv4.yield %1 : tensor<?x64xbf16>
  }
  %b = dsv4.kernel @b(%x, %p) schedule <threads = 128, pdl = true, parts = [#dsv4.rows<lanes = 8, vector = 8>]>
      : (tensor<?x64xbf16>, tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  ^bb0(%u: tensor<?x64xbf16>, %v: tensor<?x64xbf16>):
    %1 = dsv4.rms_norm %u outs(%v : tensor<?x64xbf16>) {eps = 1.0e-06 : f32} : tensor<?x64xbf16>
    dsv4.yield %1 : tensor<?x64xbf16>
  }
  return
}

// The second reads what the first writes. So do the others of a chain.
// CHECK-LABEL: func.func @reads_result(
// CHECK: dsv4.kernel @a(
// CHECK: dsv4.kernel @b(
// CHECK-NOT: dsv4.kernel
// CHECK: return
// REMARK: remark: [Missed] dsv4-merge-kernels {{.*}}kernels 'a' and 'b' have launches of their own: 'b' reads 'o', which 'a' writes
func.func @reads_result(%x: tensor<?x64xbf16> {dsv4.name = "x", dsv4.dims = ["n", ""]},
                        %o: tensor<?x64xbf16> {dsv4.name = "o", dsv4.dims = ["n", ""]},
                        %p: tensor<?x64xbf16> {dsv4.name = "p", dsv4.dims = ["n", ""]}) {
  %a = dsv4.kernel @a(%x, %o) schedule <threads = 128, pdl = true, parts = [#dsv4.rows<lanes = 8, vector = 8>]>
      : (tensor<?x64xbf16>, tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  ^bb0(%u: tensor<?x64xbf16>, %v: tensor<?x64xbf16>):
    %1 = dsv4.rms_norm %u outs(%v : tensor<?x64xbf16>) {eps = 1.0e-06 : f32} : tensor<?x64xbf16>
    dsv4.yield %1 : tensor<?x64xbf16>
  }
  %b = dsv4.kernel @b(%a, %p) schedule <threads = 128, pdl = true, parts = [#dsv4.rows<lanes = 8, vector = 8>]>
      : (tensor<?x64xbf16>, tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  ^bb0(%u: tensor<?x64xbf16>, %v: tensor<?x64xbf16>):
    %1 = dsv4.rms_norm %u outs(%v : tensor<?x64xbf16>) {eps = 1.0e-06 : f32} : tensor<?x64xbf16>
    dsv4.yield %1 : tensor<?x64xbf16>
  }
  return
}

// The second writes what the first reads.
// CHECK-LABEL: func.func @overwrites_operand(
// CHECK: dsv4.kernel @a(
// CHECK: dsv4.kernel @b(
// CHECK-NOT: dsv4.kernel
// CHECK: return
// REMARK: remark: [Missed] dsv4-merge-kernels {{.*}}kernels 'a' and 'b' have launches of their own: 'a' reads 'x', which 'b' writes
func.func @overwrites_operand(%x: tensor<?x64xbf16> {dsv4.name = "x", dsv4.dims = ["n", ""]},
                              %o: tensor<?x64xbf16> {dsv4.name = "o", dsv4.dims = ["n", ""]},
                              %y: tensor<?x64xbf16> {dsv4.name = "y", dsv4.dims = ["n", ""]}) {
  %a = dsv4.kernel @a(%x, %o) schedule <threads = 128, pdl = true, parts = [#dsv4.rows<lanes = 8, vector = 8>]>
      : (tensor<?x64xbf16>, tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  ^bb0(%u: tensor<?x64xbf16>, %v: tensor<?x64xbf16>):
    %1 = dsv4.rms_norm %u outs(%v : tensor<?x64xbf16>) {eps = 1.0e-06 : f32} : tensor<?x64xbf16>
    dsv4.yield %1 : tensor<?x64xbf16>
  }
  %b = dsv4.kernel @b(%y, %x) schedule <threads = 128, pdl = true, parts = [#dsv4.rows<lanes = 8, vector = 8>]>
      : (tensor<?x64xbf16>, tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  ^bb0(%u: tensor<?x64xbf16>, %v: tensor<?x64xbf16>):
    %1 = dsv4.rms_norm %u outs(%v : tensor<?x64xbf16>) {eps = 1.0e-06 : f32} : tensor<?x64xbf16>
    dsv4.yield %1 : tensor<?x64xbf16>
  }
  return
}

// What depends on the first is not joined, and what follows is joined with that.
// CHECK-LABEL: func.func @not_all(
// CHECK: dsv4.kernel @a(
// CHECK: dsv4.kernel @b_and_c(
// CHECK-NOT: dsv4.kernel
// CHECK: return
// REMARK: remark: [Missed] dsv4-merge-kernels {{.*}}kernels 'a' and 'b' have launches of their own: 'b' reads 'o', which 'a' writes
// REMARK: remark: [Passed] dsv4-merge-kernels {{.*}}kernels 'b', 'c' have one launch, 'b_and_c'
func.func @not_all(%x: tensor<?x64xbf16> {dsv4.name = "x", dsv4.dims = ["n", ""]},
                   %o: tensor<?x64xbf16> {dsv4.name = "o", dsv4.dims = ["n", ""]},
                   %p: tensor<?x64xbf16> {dsv4.name = "p", dsv4.dims = ["n", ""]},
                   %y: tensor<?x64xbf16> {dsv4.name = "y", dsv4.dims = ["m", ""]},
                   %r: tensor<?x64xbf16> {dsv4.name = "r", dsv4.dims = ["m", ""]}) {
  %a = dsv4.kernel @a(%x, %o) schedule <threads = 128, pdl = true, parts = [#dsv4.rows<lanes = 8, vector = 8>]>
      : (tensor<?x64xbf16>, tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  ^bb0(%u: tensor<?x64xbf16>, %v: tensor<?x64xbf16>):
    %1 = dsv4.rms_norm %u outs(%v : tensor<?x64xbf16>) {eps = 1.0e-06 : f32} : tensor<?x64xbf16>
    dsv4.yield %1 : tensor<?x64xbf16>
  }
  %b = dsv4.kernel @b(%a, %p) schedule <threads = 128, pdl = true, parts = [#dsv4.rows<lanes = 8, vector = 8>]>
      : (tensor<?x64xbf16>, tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  ^bb0(%u: tensor<?x64xbf16>, %v: tensor<?x64xbf16>):
    %1 = dsv4.rms_norm %u outs(%v : tensor<?x64xbf16>) {eps = 1.0e-06 : f32} : tensor<?x64xbf16>
    dsv4.yield %1 : tensor<?x64xbf16>
  }
  %c = dsv4.kernel @c(%y, %r) schedule <threads = 128, pdl = true, parts = [#dsv4.rows<lanes = 8, vector = 8>]>
      : (tensor<?x64xbf16>, tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  ^bb0(%u: tensor<?x64xbf16>, %v: tensor<?x64xbf16>):
    %1 = dsv4.rms_norm %u outs(%v : tensor<?x64xbf16>) {eps = 1.0e-06 : f32} : tensor<?x64xbf16>
    dsv4.yield %1 : tensor<?x64xbf16>
  }
  return
}

// Of blocks that may be most, all have the same number of threads.
// CHECK-LABEL: func.func @threads(
// CHECK: dsv4.kernel @a(
// CHECK: dsv4.kernel @b(
// CHECK-NOT: dsv4.kernel
// CHECK: return
// REMARK: remark: [Missed] dsv4-merge-kernels {{.*}}kernels 'a' and 'b' have launches of their own: blocks of 'b' have 256 threads, and those of 'a' have 128: give both schedules with the same 'threads'
func.func @threads(%x: tensor<?x64xbf16> {dsv4.name = "x", dsv4.dims = ["n", ""]},
                   %o: tensor<?x64xbf16> {dsv4.name = "o", dsv4.dims = ["n", ""]},
                   %y: tensor<?x64xbf16> {dsv4.name = "y", dsv4.dims = ["m", ""]},
                   %p: tensor<?x64xbf16> {dsv4.name = "p", dsv4.dims = ["m", ""]}) {
  %a = dsv4.kernel @a(%x, %o) schedule <threads = 128, pdl = true, parts = [#dsv4.rows<lanes = 8, vector = 8>]>
      : (tensor<?x64xbf16>, tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  ^bb0(%u: tensor<?x64xbf16>, %v: tensor<?x64xbf16>):
    %1 = dsv4.rms_norm %u outs(%v : tensor<?x64xbf16>) {eps = 1.0e-06 : f32} : tensor<?x64xbf16>
    dsv4.yield %1 : tensor<?x64xbf16>
  }
  %b = dsv4.kernel @b(%y, %p) schedule <threads = 256, pdl = true, parts = [#dsv4.rows<lanes = 8, vector = 8>]>
      : (tensor<?x64xbf16>, tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  ^bb0(%u: tensor<?x64xbf16>, %v: tensor<?x64xbf16>):
    %1 = dsv4.rms_norm %u outs(%v : tensor<?x64xbf16>) {eps = 1.0e-06 : f32} : tensor<?x64xbf16>
    dsv4.yield %1 : tensor<?x64xbf16>
  }
  return
}

// The few blocks of the first have fewer threads. The others leave them.
// CHECK-LABEL: func.func @fewer_threads(
// CHECK: dsv4.kernel @fewer_threads({{.*}}) schedule <threads = 128, pdl = true,{{.*}}
// CHECK: cuda.wait_for_previous_kernel
// CHECK: scf.if
// CHECK-NEXT: %[[THREAD:.*]] = gpu.thread_id x upper_bound 128
// CHECK-NEXT: %[[THREADS:.*]] = arith.constant 32 : index
// CHECK-NEXT: %[[HAS_WORK:.*]] = arith.cmpi slt, %[[THREAD]], %[[THREADS]] : index
// CHECK-NEXT: scf.if %[[HAS_WORK]] {
// CHECK: } else {
// CHECK-NEXT: arith.subi
// CHECK-NEXT: cuda.bounded
// CHECK-NOT: dsv4.kernel
// CHECK: return
// REMARK: remark: [Passed] dsv4-merge-kernels {{.*}}kernels 'a', 'b' have one launch, 'fewer_threads'
func.func @fewer_threads(%x: tensor<?x64xbf16> {dsv4.name = "x", dsv4.dims = ["n", ""]},
                         %o: tensor<?x64xbf16> {dsv4.name = "o", dsv4.dims = ["n", ""]},
                         %y: tensor<?x16x64xbf16> {dsv4.name = "y", dsv4.dims = ["n", "", ""]},
                         %p: tensor<?x16x64xbf16> {dsv4.name = "p", dsv4.dims = ["n", "", ""]}) {
  %a = dsv4.kernel @a(%x, %o) schedule <threads = 32, pdl = true, parts = [#dsv4.rows<lanes = 8, vector = 8>]>
      : (tensor<?x64xbf16>, tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  ^bb0(%u: tensor<?x64xbf16>, %v: tensor<?x64xbf16>):
    %1 = dsv4.rms_norm %u outs(%v : tensor<?x64xbf16>) {eps = 1.0e-06 : f32} : tensor<?x64xbf16>
    dsv4.yield %1 : tensor<?x64xbf16>
  }
  %b = dsv4.kernel @b(%y, %p) schedule <threads = 128, pdl = true, parts = [#dsv4.rows<lanes = 8, vector = 8>]>
      : (tensor<?x16x64xbf16>, tensor<?x16x64xbf16>) -> tensor<?x16x64xbf16> {
  ^bb0(%u: tensor<?x16x64xbf16>, %v: tensor<?x16x64xbf16>):
    %1 = dsv4.rms_norm %u outs(%v : tensor<?x16x64xbf16>) {eps = 1.0e-06 : f32} : tensor<?x16x64xbf16>
    dsv4.yield %1 : tensor<?x16x64xbf16>
  }
  return
}

// Not the other way round: most blocks would have threads without work.
// CHECK-LABEL: func.func @more_threads(
// CHECK: dsv4.kernel @a(
// CHECK: dsv4.kernel @b(
// CHECK-NOT: dsv4.kernel
// CHECK: return
// REMARK: remark: [Missed] dsv4-merge-kernels {{.*}}kernels 'a' and 'b' have launches of their own: blocks of 'a' have 128 threads, and those of 'b' have 64
func.func @more_threads(%x: tensor<?x64xbf16> {dsv4.name = "x", dsv4.dims = ["n", ""]},
                        %o: tensor<?x64xbf16> {dsv4.name = "o", dsv4.dims = ["n", ""]},
                        %y: tensor<?x16x64xbf16> {dsv4.name = "y", dsv4.dims = ["n", "", ""]},
                        %p: tensor<?x16x64xbf16> {dsv4.name = "p", dsv4.dims = ["n", "", ""]}) {
  %a = dsv4.kernel @a(%x, %o) schedule <threads = 128, pdl = true, parts = [#dsv4.rows<lanes = 8, vector = 8>]>
      : (tensor<?x64xbf16>, tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  ^bb0(%u: tensor<?x64xbf16>, %v: tensor<?x64xbf16>):
    %1 = dsv4.rms_norm %u outs(%v : tensor<?x64xbf16>) {eps = 1.0e-06 : f32} : tensor<?x64xbf16>
    dsv4.yield %1 : tensor<?x64xbf16>
  }
  %b = dsv4.kernel @b(%y, %p) schedule <threads = 64, pdl = true, parts = [#dsv4.rows<lanes = 8, vector = 8>]>
      : (tensor<?x16x64xbf16>, tensor<?x16x64xbf16>) -> tensor<?x16x64xbf16> {
  ^bb0(%u: tensor<?x16x64xbf16>, %v: tensor<?x16x64xbf16>):
    %1 = dsv4.rms_norm %u outs(%v : tensor<?x16x64xbf16>) {eps = 1.0e-06 : f32} : tensor<?x16x64xbf16>
    dsv4.yield %1 : tensor<?x16x64xbf16>
  }
  return
}

// Either all blocks wait for the previous kernel, or none.
// CHECK-LABEL: func.func @programmatic(
// CHECK: dsv4.kernel @a(
// CHECK: dsv4.kernel @b(
// CHECK-NOT: dsv4.kernel
// CHECK: return
// REMARK: remark: [Missed] dsv4-merge-kernels {{.*}}kernels 'a' and 'b' have launches of their own: only one has a programmatic launch
func.func @programmatic(%x: tensor<?x64xbf16> {dsv4.name = "x", dsv4.dims = ["n", ""]},
                        %o: tensor<?x64xbf16> {dsv4.name = "o", dsv4.dims = ["n", ""]},
                        %y: tensor<?x64xbf16> {dsv4.name = "y", dsv4.dims = ["m", ""]},
                        %p: tensor<?x64xbf16> {dsv4.name = "p", dsv4.dims = ["m", ""]}) {
  %a = dsv4.kernel @a(%x, %o) schedule <threads = 128, pdl = true, parts = [#dsv4.rows<lanes = 8, vector = 8>]>
      : (tensor<?x64xbf16>, tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  ^bb0(%u: tensor<?x64xbf16>, %v: tensor<?x64xbf16>):
    %1 = dsv4.rms_norm %u outs(%v : tensor<?x64xbf16>) {eps = 1.0e-06 : f32} : tensor<?x64xbf16>
    dsv4.yield %1 : tensor<?x64xbf16>
  }
  %b = dsv4.kernel @b(%y, %p) schedule <threads = 128, parts = [#dsv4.rows<lanes = 8, vector = 8>]>
      : (tensor<?x64xbf16>, tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  ^bb0(%u: tensor<?x64xbf16>, %v: tensor<?x64xbf16>):
    %1 = dsv4.rms_norm %u outs(%v : tensor<?x64xbf16>) {eps = 1.0e-06 : f32} : tensor<?x64xbf16>
    dsv4.yield %1 : tensor<?x64xbf16>
  }
  return
}

// Which of the two has more blocks depends on the extents.
// CHECK-LABEL: func.func @min_blocks(
// CHECK: dsv4.kernel @a(
// CHECK: dsv4.kernel @b(
// CHECK-NOT: dsv4.kernel
// CHECK: return
// REMARK: remark: [Missed] dsv4-merge-kernels {{.*}}kernels 'a' and 'b' have launches of their own: 'min_blocks' is 0 and 8, and extents decide which has more blocks: give both the same
func.func @min_blocks(%x: tensor<?x64xbf16> {dsv4.name = "x", dsv4.dims = ["n", ""]},
                      %o: tensor<?x64xbf16> {dsv4.name = "o", dsv4.dims = ["n", ""]},
                      %y: tensor<?x64xbf16> {dsv4.name = "y", dsv4.dims = ["m", ""]},
                      %p: tensor<?x64xbf16> {dsv4.name = "p", dsv4.dims = ["m", ""]}) {
  %a = dsv4.kernel @a(%x, %o) schedule <threads = 128, pdl = true, parts = [#dsv4.rows<lanes = 8, vector = 8>]>
      : (tensor<?x64xbf16>, tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  ^bb0(%u: tensor<?x64xbf16>, %v: tensor<?x64xbf16>):
    %1 = dsv4.rms_norm %u outs(%v : tensor<?x64xbf16>) {eps = 1.0e-06 : f32} : tensor<?x64xbf16>
    dsv4.yield %1 : tensor<?x64xbf16>
  }
  %b = dsv4.kernel @b(%y, %p) schedule <threads = 128, min_blocks = 8, pdl = true, parts = [#dsv4.rows<lanes = 8, vector = 8>]>
      : (tensor<?x64xbf16>, tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  ^bb0(%u: tensor<?x64xbf16>, %v: tensor<?x64xbf16>):
    %1 = dsv4.rms_norm %u outs(%v : tensor<?x64xbf16>) {eps = 1.0e-06 : f32} : tensor<?x64xbf16>
    dsv4.yield %1 : tensor<?x64xbf16>
  }
  return
}

// The second has 16 times as many blocks whatever the extents are: the launch has its min_blocks.
// CHECK-LABEL: func.func @known_largest(
// CHECK: dsv4.kernel @known_largest({{.*}}) schedule <threads = 128, min_blocks = 8, pdl = true, parts = [#dsv4.rows<lanes = 8, vector = 8>]>
// CHECK-SAME: attributes {dsv4.parts = [{schedule = #dsv4.schedule<threads = 128, pdl = true, parts = [#dsv4.rows<lanes = 8, vector = 8>]>, summary = "dsv4.rms_norm of bf16 to bf16"}, {schedule = #dsv4.schedule<threads = 128, min_blocks = 8, pdl = true, parts = [#dsv4.rows<lanes = 8, vector = 8>]>, summary = "dsv4.rms_norm of bf16 to bf16"}], dsv4.rows_of = 2 : i64}
// CHECK-NOT: dsv4.kernel
// CHECK: return
// REMARK: remark: [Passed] dsv4-merge-kernels {{.*}}kernels 'a', 'b' have one launch, 'known_largest'
func.func @known_largest(%x: tensor<?x64xbf16> {dsv4.name = "x", dsv4.dims = ["n", ""]},
                         %o: tensor<?x64xbf16> {dsv4.name = "o", dsv4.dims = ["n", ""]},
                         %y: tensor<?x16x64xbf16> {dsv4.name = "y", dsv4.dims = ["n", "", ""]},
                         %p: tensor<?x16x64xbf16> {dsv4.name = "p", dsv4.dims = ["n", "", ""]}) {
  %a = dsv4.kernel @a(%x, %o) schedule <threads = 128, pdl = true, parts = [#dsv4.rows<lanes = 8, vector = 8>]>
      : (tensor<?x64xbf16>, tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  ^bb0(%u: tensor<?x64xbf16>, %v: tensor<?x64xbf16>):
    %1 = dsv4.rms_norm %u outs(%v : tensor<?x64xbf16>) {eps = 1.0e-06 : f32} : tensor<?x64xbf16>
    dsv4.yield %1 : tensor<?x64xbf16>
  }
  %b = dsv4.kernel @b(%y, %p) schedule <threads = 128, min_blocks = 8, pdl = true, parts = [#dsv4.rows<lanes = 8, vector = 8>]>
      : (tensor<?x16x64xbf16>, tensor<?x16x64xbf16>) -> tensor<?x16x64xbf16> {
  ^bb0(%u: tensor<?x16x64xbf16>, %v: tensor<?x16x64xbf16>):
    %1 = dsv4.rms_norm %u outs(%v : tensor<?x16x64xbf16>) {eps = 1.0e-06 : f32} : tensor<?x16x64xbf16>
    dsv4.yield %1 : tensor<?x16x64xbf16>
  }
  return
}

// The few blocks of the first would take the registers of the many.
// CHECK-LABEL: func.func @large_fragments(
// CHECK: dsv4.kernel @a(
// CHECK: dsv4.kernel @b(
// CHECK-NOT: dsv4.kernel
// CHECK: return
// REMARK: remark: [Missed] dsv4-merge-kernels {{.*}}kernels 'a' and 'b' have launches of their own: a thread of 'a' holds 64 elements of a row, and one of 'b' holds 8; expected at most 2 times as many: give 'a' a schedule with more 'lanes'
func.func @large_fragments(%x: tensor<?x512xbf16> {dsv4.name = "x", dsv4.dims = ["n", ""]},
                           %o: tensor<?x512xbf16> {dsv4.name = "o", dsv4.dims = ["n", ""]},
                           %y: tensor<?x16x64xbf16> {dsv4.name = "y", dsv4.dims = ["n", "", ""]},
                           %p: tensor<?x16x64xbf16> {dsv4.name = "p", dsv4.dims = ["n", "", ""]}) {
  %a = dsv4.kernel @a(%x, %o) schedule <threads = 128, pdl = true, parts = [#dsv4.rows<lanes = 8, vector = 8>]>
      : (tensor<?x512xbf16>, tensor<?x512xbf16>) -> tensor<?x512xbf16> {
  ^bb0(%u: tensor<?x512xbf16>, %v: tensor<?x512xbf16>):
    %1 = dsv4.rms_norm %u outs(%v : tensor<?x512xbf16>) {eps = 1.0e-06 : f32} : tensor<?x512xbf16>
    dsv4.yield %1 : tensor<?x512xbf16>
  }
  %b = dsv4.kernel @b(%y, %p) schedule <threads = 128, pdl = true, parts = [#dsv4.rows<lanes = 8, vector = 8>]>
      : (tensor<?x16x64xbf16>, tensor<?x16x64xbf16>) -> tensor<?x16x64xbf16> {
  ^bb0(%u: tensor<?x16x64xbf16>, %v: tensor<?x16x64xbf16>):
    %1 = dsv4.rms_norm %u outs(%v : tensor<?x16x64xbf16>) {eps = 1.0e-06 : f32} : tensor<?x16x64xbf16>
    dsv4.yield %1 : tensor<?x16x64xbf16>
  }
  return
}

// The other way round it is fine.
// CHECK-LABEL: func.func @small_fragments(
// CHECK: dsv4.kernel @small_fragments(
// CHECK-NOT: dsv4.kernel
// CHECK: return
// REMARK: remark: [Passed] dsv4-merge-kernels {{.*}}kernels 'a', 'b' have one launch, 'small_fragments'
func.func @small_fragments(%x: tensor<?x64xbf16> {dsv4.name = "x", dsv4.dims = ["n", ""]},
                           %o: tensor<?x64xbf16> {dsv4.name = "o", dsv4.dims = ["n", ""]},
                           %y: tensor<?x16x512xbf16> {dsv4.name = "y", dsv4.dims = ["n", "", ""]},
                           %p: tensor<?x16x512xbf16> {dsv4.name = "p", dsv4.dims = ["n", "", ""]}) {
  %a = dsv4.kernel @a(%x, %o) schedule <threads = 128, pdl = true, parts = [#dsv4.rows<lanes = 8, vector = 8>]>
      : (tensor<?x64xbf16>, tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  ^bb0(%u: tensor<?x64xbf16>, %v: tensor<?x64xbf16>):
    %1 = dsv4.rms_norm %u outs(%v : tensor<?x64xbf16>) {eps = 1.0e-06 : f32} : tensor<?x64xbf16>
    dsv4.yield %1 : tensor<?x64xbf16>
  }
  %b = dsv4.kernel @b(%y, %p) schedule <threads = 128, pdl = true, parts = [#dsv4.rows<lanes = 8, vector = 8>]>
      : (tensor<?x16x512xbf16>, tensor<?x16x512xbf16>) -> tensor<?x16x512xbf16> {
  ^bb0(%u: tensor<?x16x512xbf16>, %v: tensor<?x16x512xbf16>):
    %1 = dsv4.rms_norm %u outs(%v : tensor<?x16x512xbf16>) {eps = 1.0e-06 : f32} : tensor<?x16x512xbf16>
    dsv4.yield %1 : tensor<?x16x512xbf16>
  }
  return
}

// A launch has at most four.
// CHECK-LABEL: func.func @five(
// CHECK: dsv4.kernel @a_and_b_and_c_and_d(
// CHECK: dsv4.kernel @e(
// CHECK-NOT: dsv4.kernel
// CHECK: return
// REMARK: remark: [Missed] dsv4-merge-kernels {{.*}}kernels 'd' and 'e' have launches of their own: a launch has at most 4 kernels
// REMARK: remark: [Passed] dsv4-merge-kernels {{.*}}kernels 'a', 'b', 'c', 'd' have one launch, 'a_and_b_and_c_and_d'
func.func @five(%xa: tensor<?x64xbf16> {dsv4.name = "xa", dsv4.dims = ["na", ""]},
                %oa: tensor<?x64xbf16> {dsv4.name = "oa", dsv4.dims = ["na", ""]},
                %xb: tensor<?x64xbf16> {dsv4.name = "xb", dsv4.dims = ["nb", ""]},
                %ob: tensor<?x64xbf16> {dsv4.name = "ob", dsv4.dims = ["nb", ""]},
                %xc: tensor<?x64xbf16> {dsv4.name = "xc", dsv4.dims = ["nc", ""]},
                %oc: tensor<?x64xbf16> {dsv4.name = "oc", dsv4.dims = ["nc", ""]},
                %xd: tensor<?x64xbf16> {dsv4.name = "xd", dsv4.dims = ["nd", ""]},
                %od: tensor<?x64xbf16> {dsv4.name = "od", dsv4.dims = ["nd", ""]},
                %xe: tensor<?x64xbf16> {dsv4.name = "xe", dsv4.dims = ["ne", ""]},
                %oe: tensor<?x64xbf16> {dsv4.name = "oe", dsv4.dims = ["ne", ""]}) {
  %a = dsv4.kernel @a(%xa, %oa) schedule <threads = 128, pdl = true, parts = [#dsv4.rows<lanes = 8, vector = 8>]>
      : (tensor<?x64xbf16>, tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  ^bb0(%u: tensor<?x64xbf16>, %v: tensor<?x64xbf16>):
    %1 = dsv4.rms_norm %u outs(%v : tensor<?x64xbf16>) {eps = 1.0e-06 : f32} : tensor<?x64xbf16>
    dsv4.yield %1 : tensor<?x64xbf16>
  }
  %b = dsv4.kernel @b(%xb, %ob) schedule <threads = 128, pdl = true, parts = [#dsv4.rows<lanes = 8, vector = 8>]>
      : (tensor<?x64xbf16>, tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  ^bb0(%u: tensor<?x64xbf16>, %v: tensor<?x64xbf16>):
    %1 = dsv4.rms_norm %u outs(%v : tensor<?x64xbf16>) {eps = 1.0e-06 : f32} : tensor<?x64xbf16>
    dsv4.yield %1 : tensor<?x64xbf16>
  }
  %c = dsv4.kernel @c(%xc, %oc) schedule <threads = 128, pdl = true, parts = [#dsv4.rows<lanes = 8, vector = 8>]>
      : (tensor<?x64xbf16>, tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  ^bb0(%u: tensor<?x64xbf16>, %v: tensor<?x64xbf16>):
    %1 = dsv4.rms_norm %u outs(%v : tensor<?x64xbf16>) {eps = 1.0e-06 : f32} : tensor<?x64xbf16>
    dsv4.yield %1 : tensor<?x64xbf16>
  }
  %d = dsv4.kernel @d(%xd, %od) schedule <threads = 128, pdl = true, parts = [#dsv4.rows<lanes = 8, vector = 8>]>
      : (tensor<?x64xbf16>, tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  ^bb0(%u: tensor<?x64xbf16>, %v: tensor<?x64xbf16>):
    %1 = dsv4.rms_norm %u outs(%v : tensor<?x64xbf16>) {eps = 1.0e-06 : f32} : tensor<?x64xbf16>
    dsv4.yield %1 : tensor<?x64xbf16>
  }
  %e = dsv4.kernel @e(%xe, %oe) schedule <threads = 128, pdl = true, parts = [#dsv4.rows<lanes = 8, vector = 8>]>
      : (tensor<?x64xbf16>, tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  ^bb0(%u: tensor<?x64xbf16>, %v: tensor<?x64xbf16>):
    %1 = dsv4.rms_norm %u outs(%v : tensor<?x64xbf16>) {eps = 1.0e-06 : f32} : tensor<?x64xbf16>
    dsv4.yield %1 : tensor<?x64xbf16>
  }
  return
}

// A selection has a block for each row.
// CHECK-LABEL: func.func @cooperative(
// CHECK: dsv4.kernel @cooperative_0(
// CHECK: dsv4.kernel @cooperative_1(
// REMARK: remark: [Missed] dsv4-merge-kernels {{.*}}kernels 'cooperative_0' and 'cooperative_1' have launches of their own: the first is not one of rows alone
func.func @cooperative(%s: tensor<?x4096xf32> {dsv4.name = "s", dsv4.dims = ["n", ""]},
                       %i: tensor<?x64xi32> {dsv4.name = "i", dsv4.dims = ["n", ""]},
                       %x: tensor<?x64xbf16> {dsv4.name = "x", dsv4.dims = ["n", ""]},
                       %o: tensor<?x64xbf16> {dsv4.name = "o", dsv4.dims = ["n", ""]}) {
  %0 = dsv4.topk %s outs(%i : tensor<?x64xi32>) : tensor<?x4096xf32>
  %1 = dsv4.rms_norm %x outs(%o : tensor<?x64xbf16>) {eps = 1.0e-06 : f32} : tensor<?x64xbf16>
  return
}

// The same in the other order.
// CHECK-LABEL: func.func @cooperative_second(
// CHECK: dsv4.kernel @cooperative_second_0(
// CHECK: dsv4.kernel @cooperative_second_1(
// REMARK: remark: [Missed] dsv4-merge-kernels {{.*}}kernels 'cooperative_second_0' and 'cooperative_second_1' have launches of their own: its threads have more to do than rows of their own
func.func @cooperative_second(%s: tensor<?x4096xf32> {dsv4.name = "s", dsv4.dims = ["n", ""]},
                              %i: tensor<?x64xi32> {dsv4.name = "i", dsv4.dims = ["n", ""]},
                              %x: tensor<?x64xbf16> {dsv4.name = "x", dsv4.dims = ["n", ""]},
                              %o: tensor<?x64xbf16> {dsv4.name = "o", dsv4.dims = ["n", ""]}) {
  %1 = dsv4.rms_norm %x outs(%o : tensor<?x64xbf16>) {eps = 1.0e-06 : f32} : tensor<?x64xbf16>
  %0 = dsv4.topk %s outs(%i : tensor<?x64xi32>) : tensor<?x4096xf32>
  return
}

// Two appends to one cache write it; those to two caches are joined.
!cache = !dsv4.cache<8 x <[<"values" : 64 x bf16 in row>]>>
// CHECK-LABEL: func.func @one_cache(
// CHECK: dsv4.kernel @one_cache_0(
// CHECK: dsv4.kernel @one_cache_1(
// REMARK: remark: [Missed] dsv4-merge-kernels {{.*}}kernels 'one_cache_0' and 'one_cache_1' have launches of their own: 'one_cache_1' writes 'c', which 'one_cache_0' writes
func.func @one_cache(%x: tensor<?x64xbf16> {dsv4.name = "x", dsv4.dims = ["n", ""]},
                     %i: tensor<?xi32> {dsv4.name = "i", dsv4.dims = ["n"]},
                     %y: tensor<?x64xbf16> {dsv4.name = "y", dsv4.dims = ["m", ""]},
                     %j: tensor<?xi32> {dsv4.name = "j", dsv4.dims = ["m"]},
                     %c: !cache {dsv4.name = "c"}) {
  dsv4.paged_append %c[%i] unique fields(%x : tensor<?x64xbf16>) : !cache, tensor<?xi32>
  dsv4.paged_append %c[%j] unique fields(%y : tensor<?x64xbf16>) : !cache, tensor<?xi32>
  return
}

// CHECK-LABEL: func.func @two_caches(
// CHECK: dsv4.kernel @two_caches(
// CHECK-NOT: dsv4.kernel
// REMARK: remark: [Passed] dsv4-merge-kernels {{.*}}kernels 'two_caches_0', 'two_caches_1' have one launch, 'two_caches'
func.func @two_caches(%x: tensor<?x64xbf16> {dsv4.name = "x", dsv4.dims = ["n", ""]},
                      %i: tensor<?xi32> {dsv4.name = "i", dsv4.dims = ["n"]},
                      %y: tensor<?x64xbf16> {dsv4.name = "y", dsv4.dims = ["m", ""]},
                      %j: tensor<?xi32> {dsv4.name = "j", dsv4.dims = ["m"]},
                      %c: !cache {dsv4.name = "c"}, %d: !cache {dsv4.name = "d"}) {
  dsv4.paged_append %c[%i] unique fields(%x : tensor<?x64xbf16>) : !cache, tensor<?xi32>
  dsv4.paged_append %d[%j] unique fields(%y : tensor<?x64xbf16>) : !cache, tensor<?xi32>
  return
}

// Rows that are numbers: all axes of operand 1 have them.
// CHECK-LABEL: func.func @numbers(
// CHECK: dsv4.kernel @numbers_0(
// CHECK-SAME: dsv4.rows_of = array<i64: 1, 1>
// CHECK: dsv4.extent %{{.*}} 0
// CHECK: dsv4.kernel @numbers_1(
// REMARK: remark: [Missed] dsv4-merge-kernels {{.*}}kernels 'numbers_0' and 'numbers_1' have launches of their own: each of its rows is one number of a tensor of rank 1
func.func @numbers(%t: tensor<?xi32> {dsv4.name = "t", dsv4.dims = ["n"]},
                   %l: tensor<?xi32> {dsv4.name = "l", dsv4.dims = ["n"]},
                   %o: tensor<?xi32> {dsv4.name = "o", dsv4.dims = ["n"]},
                   %p: tensor<?xi32> {dsv4.name = "p", dsv4.dims = ["n"]}) -> (tensor<?xi32>, tensor<?xi32>) {
  %0 = dsv4.valid_lens positions(%t : tensor<?xi32>) outs(%o : tensor<?xi32>)
  %1 = dsv4.valid_lens lengths(%l : tensor<?xi32>) outs(%p : tensor<?xi32>)
  return %0, %1 : tensor<?xi32>, tensor<?xi32>
}
