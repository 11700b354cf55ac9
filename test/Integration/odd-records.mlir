// Rows whose groups and segments agree with few or no lanes and vectors. Where none do, one lane has whole segments.

// DEFINE: %{run} = dsv4-run %s --target=host --random=1 --check --dim rows=9
// RUN: %{run} --entry=gather_interleaved_32 --dim c.pages=3 | FileCheck %s --check-prefix=ORACLE
// RUN: %{run} --entry=append_interleaved_32 --dim c.pages=3 | FileCheck %s --check-prefix=ORACLE
// RUN: %{run} --entry=gather_interleaved_48 --dim c.pages=3 | FileCheck %s --check-prefix=ORACLE
// RUN: %{run} --entry=append_interleaved_48 --dim c.pages=3 | FileCheck %s --check-prefix=ORACLE
// RUN: %{run} --entry=gather_interleaved_3 --dim c.pages=3 | FileCheck %s --check-prefix=ORACLE
// RUN: %{run} --entry=append_interleaved_3 --dim c.pages=3 | FileCheck %s --check-prefix=ORACLE
// RUN: %{run} --entry=gather_fp4_groups --dim c.pages=3 | FileCheck %s --check-prefix=ORACLE
// RUN: %{run} --entry=append_fp4_groups --dim c.pages=3 | FileCheck %s --check-prefix=ORACLE
// RUN: %{run} --entry=gather_padded --dim c.pages=3 | FileCheck %s --check-prefix=ORACLE
// RUN: %{run} --entry=append_padded --dim c.pages=3 | FileCheck %s --check-prefix=ORACLE
// RUN: %{run} --entry=gather_per_element --dim c.pages=3 | FileCheck %s --check-prefix=ORACLE
// RUN: %{run} --entry=append_per_element --dim c.pages=3 | FileCheck %s --check-prefix=ORACLE
// RUN: %{run} --entry=rope_100_6 --dim positions=20 | FileCheck %s --check-prefix=ORACLE
// RUN: %{run} --entry=rope_2_2 --dim positions=20 | FileCheck %s --check-prefix=ORACLE
// RUN: %{run} --entry=rope_101_6 --dim positions=20 | FileCheck %s --check-prefix=ORACLE
// RUN: %{run} --entry=quantize_odd_column | FileCheck %s --check-prefix=ORACLE
// RUN: %{run} --entry=chain --dim positions=20 | FileCheck %s --check-prefix=ORACLE
// RUN: %{run} --entry=window --dim tokens=40 --dim positions=20 | FileCheck %s --check-prefix=ORACLE
// ORACLE: matches the oracle

// RUN: dsv4-opt %s --dsv4-form-kernels --dsv4-select-schedule | FileCheck %s

!interleaved_32 = !dsv4.cache<16 x <[
  <"a" : 512 x f4E2M1FN in row>, <"r" : 32 x bf16 in row>,
  <"s" : 32 x f8E4M3FN in row scales "a" per 16 interleave 4>]>>

// No steps of four groups, which the rotated part is no multiple of. Lanes have all scales.
// CHECK-LABEL: func.func @gather_interleaved_32
// CHECK: parts = [#dsv4.rows<lanes = 8, vector = 2, load = evict_last>]
func.func @gather_interleaved_32(
    %c: !interleaved_32 {dsv4.name = "c"}, %i: tensor<?xi32> {dsv4.name = "i", dsv4.dims = ["rows"]},
    %o: tensor<?x544xbf16> {dsv4.name = "o", dsv4.dims = ["rows", ""]}) -> tensor<?x544xbf16> {
  %0 = dsv4.paged_gather %c[%i] outs(%o : tensor<?x544xbf16>) : !interleaved_32, tensor<?xi32>
  return %0 : tensor<?x544xbf16>
}
// CHECK-LABEL: func.func @append_interleaved_32
// CHECK: parts = [#dsv4.rows<lanes = 8, vector = 2, load = evict_last>]
func.func @append_interleaved_32(
    %c: !interleaved_32 {dsv4.name = "c"}, %i: tensor<?xi32> {dsv4.name = "i", dsv4.dims = ["rows"]},
    %a: tensor<?x512xf4E2M1FN> {dsv4.name = "a", dsv4.dims = ["rows", ""]},
    %r: tensor<?x32xbf16> {dsv4.name = "r", dsv4.dims = ["rows", ""]},
    %s: tensor<?x32xf8E4M3FN> {dsv4.name = "s", dsv4.dims = ["rows", ""]}) {
  dsv4.paged_append %c[%i] fields(%a, %r, %s
      : tensor<?x512xf4E2M1FN>, tensor<?x32xbf16>, tensor<?x32xf8E4M3FN>) : !interleaved_32, tensor<?xi32>
  return
}

!interleaved_48 = !dsv4.cache<16 x <[
  <"a" : 512 x f4E2M1FN in row>, <"r" : 48 x f8E4M3FN in row>,
  <"s" : 32 x f8E4M3FN in row scales "a" per 16 interleave 4>]>>

// CHECK-LABEL: func.func @gather_interleaved_48
// CHECK: parts = [#dsv4.rows<lanes = 8, vector = 2, load = evict_last>]
func.func @gather_interleaved_48(
    %c: !interleaved_48 {dsv4.name = "c"}, %i: tensor<?xi32> {dsv4.name = "i", dsv4.dims = ["rows"]},
    %o: tensor<?x560xbf16> {dsv4.name = "o", dsv4.dims = ["rows", ""]}) -> tensor<?x560xbf16> {
  %0 = dsv4.paged_gather %c[%i] outs(%o : tensor<?x560xbf16>) : !interleaved_48, tensor<?xi32>
  return %0 : tensor<?x560xbf16>
}
// CHECK-LABEL: func.func @append_interleaved_48
// CHECK: parts = [#dsv4.rows<lanes = 8, vector = 2, load = evict_last>]
func.func @append_interleaved_48(
    %c: !interleaved_48 {dsv4.name = "c"}, %i: tensor<?xi32> {dsv4.name = "i", dsv4.dims = ["rows"]},
    %a: tensor<?x512xf4E2M1FN> {dsv4.name = "a", dsv4.dims = ["rows", ""]},
    %r: tensor<?x48xf8E4M3FN> {dsv4.name = "r", dsv4.dims = ["rows", ""]},
    %s: tensor<?x32xf8E4M3FN> {dsv4.name = "s", dsv4.dims = ["rows", ""]}) {
  dsv4.paged_append %c[%i] fields(%a, %r, %s
      : tensor<?x512xf4E2M1FN>, tensor<?x48xf8E4M3FN>, tensor<?x32xf8E4M3FN>) : !interleaved_48, tensor<?xi32>
  return
}

!interleaved_3 = !dsv4.cache<16 x <[
  <"a" : 60 x f8E4M3FN in row>, <"s" : 12 x bf16 in row scales "a" per 5 interleave 3>]>>

// Neither the interleave nor the group is a power of two.
// CHECK-LABEL: func.func @gather_interleaved_3
// CHECK: parts = [#dsv4.rows<lanes = 1, vector = 0, load = evict_last>]
func.func @gather_interleaved_3(
    %c: !interleaved_3 {dsv4.name = "c"}, %i: tensor<?xi32> {dsv4.name = "i", dsv4.dims = ["rows"]},
    %o: tensor<?x60xbf16> {dsv4.name = "o", dsv4.dims = ["rows", ""]}) -> tensor<?x60xbf16> {
  %0 = dsv4.paged_gather %c[%i] outs(%o : tensor<?x60xbf16>) : !interleaved_3, tensor<?xi32>
  return %0 : tensor<?x60xbf16>
}
// CHECK-LABEL: func.func @append_interleaved_3
// CHECK: parts = [#dsv4.rows<lanes = 1, vector = 0{{.*}}>]
func.func @append_interleaved_3(
    %c: !interleaved_3 {dsv4.name = "c"}, %i: tensor<?xi32> {dsv4.name = "i", dsv4.dims = ["rows"]},
    %a: tensor<?x60xf8E4M3FN> {dsv4.name = "a", dsv4.dims = ["rows", ""]},
    %s: tensor<?x12xbf16> {dsv4.name = "s", dsv4.dims = ["rows", ""]}) {
  dsv4.paged_append %c[%i] fields(%a, %s
      : tensor<?x60xf8E4M3FN>, tensor<?x12xbf16>) : !interleaved_3, tensor<?xi32>
  return
}

!fp4_groups = !dsv4.cache<16 x <[
  <"a" : 30 x f4E2M1FN in row high_first>, <"as" : 6 x f8E4M3FN in row scales "a" per 5>,
  <"b" : 18 x f8E4M3FN in row>, <"bs" : 6 x f8E8M0FNU in row scales "b" per 3>,
  <"d" : 12 x i4 in row>, <"ds" : 2 x f8E4M3FN in row scales "d" per 6>]>>

// Two groups of an odd number of elements share a byte.
// CHECK-LABEL: func.func @gather_fp4_groups
// CHECK: parts = [#dsv4.rows<lanes = 1, vector = 0, load = evict_last>]
func.func @gather_fp4_groups(
    %c: !fp4_groups {dsv4.name = "c"}, %i: tensor<?xi32> {dsv4.name = "i", dsv4.dims = ["rows"]},
    %o: tensor<?x60xbf16> {dsv4.name = "o", dsv4.dims = ["rows", ""]}) -> tensor<?x60xbf16> {
  %0 = dsv4.paged_gather %c[%i] outs(%o : tensor<?x60xbf16>) : !fp4_groups, tensor<?xi32>
  return %0 : tensor<?x60xbf16>
}
// CHECK-LABEL: func.func @append_fp4_groups
// CHECK: parts = [#dsv4.rows<lanes = 1, vector = 0{{.*}}>]
func.func @append_fp4_groups(
    %c: !fp4_groups {dsv4.name = "c"}, %i: tensor<?xi32> {dsv4.name = "i", dsv4.dims = ["rows"]},
    %a: tensor<?x30xf4E2M1FN> {dsv4.name = "a", dsv4.dims = ["rows", ""]},
    %as: tensor<?x6xf8E4M3FN> {dsv4.name = "as", dsv4.dims = ["rows", ""]},
    %b: tensor<?x18xf8E4M3FN> {dsv4.name = "b", dsv4.dims = ["rows", ""]},
    %bs: tensor<?x6xf8E8M0FNU> {dsv4.name = "bs", dsv4.dims = ["rows", ""]},
    %d: tensor<?x12xi4> {dsv4.name = "d", dsv4.dims = ["rows", ""]},
    %ds: tensor<?x2xf8E4M3FN> {dsv4.name = "ds", dsv4.dims = ["rows", ""]}) {
  dsv4.paged_append %c[%i] fields(%a, %as, %b, %bs, %d, %ds
      : tensor<?x30xf4E2M1FN>, tensor<?x6xf8E4M3FN>, tensor<?x18xf8E4M3FN>, tensor<?x6xf8E8M0FNU>, tensor<?x12xi4>, tensor<?x2xf8E4M3FN>) : !fp4_groups, tensor<?xi32>
  return
}

!padded = !dsv4.cache<16 x <[
  <"a" : 7 x f8E4M3FN in row pad 1>, <"as" : 7 x f8E8M0FNU in tail scales "a" per 1 pad 1>,
  <"b" : 30 x f4E2M1FN in row pad 1>, <"bs" : 10 x f8E4M3FN in tail scales "b" per 3 pad 6>]>>

// Zeros after scales per element, and after scales of groups of three.
// CHECK-LABEL: func.func @gather_padded
// CHECK: parts = [#dsv4.rows<lanes = 1, vector = 0, load = evict_last>]
func.func @gather_padded(
    %c: !padded {dsv4.name = "c"}, %i: tensor<?xi32> {dsv4.name = "i", dsv4.dims = ["rows"]},
    %o: tensor<?x37xbf16> {dsv4.name = "o", dsv4.dims = ["rows", ""]}) -> tensor<?x37xbf16> {
  %0 = dsv4.paged_gather %c[%i] outs(%o : tensor<?x37xbf16>) : !padded, tensor<?xi32>
  return %0 : tensor<?x37xbf16>
}
// CHECK-LABEL: func.func @append_padded
// CHECK: parts = [#dsv4.rows<lanes = 1, vector = 0{{.*}}>]
func.func @append_padded(
    %c: !padded {dsv4.name = "c"}, %i: tensor<?xi32> {dsv4.name = "i", dsv4.dims = ["rows"]},
    %a: tensor<?x7xf8E4M3FN> {dsv4.name = "a", dsv4.dims = ["rows", ""]},
    %as: tensor<?x7xf8E8M0FNU> {dsv4.name = "as", dsv4.dims = ["rows", ""]},
    %b: tensor<?x30xf4E2M1FN> {dsv4.name = "b", dsv4.dims = ["rows", ""]},
    %bs: tensor<?x10xf8E4M3FN> {dsv4.name = "bs", dsv4.dims = ["rows", ""]}) {
  dsv4.paged_append %c[%i] fields(%a, %as, %b, %bs
      : tensor<?x7xf8E4M3FN>, tensor<?x7xf8E8M0FNU>, tensor<?x30xf4E2M1FN>, tensor<?x10xf8E4M3FN>) : !padded, tensor<?xi32>
  return
}

!per_element = !dsv4.cache<16 x <[
  <"a" : 6 x f4E2M1FN in row>, <"as" : 6 x f8E4M3FN in row scales "a" per 1 interleave 3>,
  <"b" : 16 x f8E4M3FN in row>, <"bs" : 16 x f8E4M3FN in row scales "b" per 1 interleave 4>]>>

// CHECK-LABEL: func.func @gather_per_element
// CHECK: parts = [#dsv4.rows<lanes = 1, vector = 0, load = evict_last>]
func.func @gather_per_element(
    %c: !per_element {dsv4.name = "c"}, %i: tensor<?xi32> {dsv4.name = "i", dsv4.dims = ["rows"]},
    %o: tensor<?x22xbf16> {dsv4.name = "o", dsv4.dims = ["rows", ""]}) -> tensor<?x22xbf16> {
  %0 = dsv4.paged_gather %c[%i] outs(%o : tensor<?x22xbf16>) : !per_element, tensor<?xi32>
  return %0 : tensor<?x22xbf16>
}
// CHECK-LABEL: func.func @append_per_element
// CHECK: parts = [#dsv4.rows<lanes = 1, vector = 0{{.*}}>]
func.func @append_per_element(
    %c: !per_element {dsv4.name = "c"}, %i: tensor<?xi32> {dsv4.name = "i", dsv4.dims = ["rows"]},
    %a: tensor<?x6xf4E2M1FN> {dsv4.name = "a", dsv4.dims = ["rows", ""]},
    %as: tensor<?x6xf8E4M3FN> {dsv4.name = "as", dsv4.dims = ["rows", ""]},
    %b: tensor<?x16xf8E4M3FN> {dsv4.name = "b", dsv4.dims = ["rows", ""]},
    %bs: tensor<?x16xf8E4M3FN> {dsv4.name = "bs", dsv4.dims = ["rows", ""]}) {
  dsv4.paged_append %c[%i] fields(%a, %as, %b, %bs
      : tensor<?x6xf4E2M1FN>, tensor<?x6xf8E4M3FN>, tensor<?x16xf8E4M3FN>, tensor<?x16xf8E4M3FN>) : !per_element, tensor<?xi32>
  return
}

// CHECK-LABEL: func.func @rope_100_6
// CHECK: parts = [#dsv4.rows<lanes = 1, vector = 0{{.*}}>]
func.func @rope_100_6(
    %x: tensor<?x100xbf16> {dsv4.name = "x", dsv4.dims = ["rows", ""]},
    %t: tensor<?x6xf32> {dsv4.name = "t", dsv4.dims = ["positions", ""]},
    %p: tensor<?xi32> {dsv4.name = "p", dsv4.dims = ["rows"]},
    %o: tensor<?x100xf32> {dsv4.name = "o", dsv4.dims = ["rows", ""]}) -> tensor<?x100xf32> {
  %0 = dsv4.rope %x table(%t : tensor<?x6xf32>) positions(%p : tensor<?xi32>)
      outs(%o : tensor<?x100xf32>) : tensor<?x100xbf16>
  return %0 : tensor<?x100xf32>
}

// CHECK-LABEL: func.func @rope_2_2
// CHECK: parts = [#dsv4.rows<lanes = 1, vector = 0{{.*}}>]
func.func @rope_2_2(
    %x: tensor<?x2xbf16> {dsv4.name = "x", dsv4.dims = ["rows", ""]},
    %t: tensor<?x2xf32> {dsv4.name = "t", dsv4.dims = ["positions", ""]},
    %p: tensor<?xi32> {dsv4.name = "p", dsv4.dims = ["rows"]},
    %o: tensor<?x2xf32> {dsv4.name = "o", dsv4.dims = ["rows", ""]}) -> tensor<?x2xf32> {
  %0 = dsv4.rope %x table(%t : tensor<?x2xf32>) positions(%p : tensor<?xi32>)
      outs(%o : tensor<?x2xf32>) : tensor<?x2xbf16>
  return %0 : tensor<?x2xf32>
}

// CHECK-LABEL: func.func @rope_101_6
// CHECK: parts = [#dsv4.rows<lanes = 1, vector = 0{{.*}}>]
func.func @rope_101_6(
    %x: tensor<?x101xbf16> {dsv4.name = "x", dsv4.dims = ["rows", ""]},
    %t: tensor<?x6xf32> {dsv4.name = "t", dsv4.dims = ["positions", ""]},
    %p: tensor<?xi32> {dsv4.name = "p", dsv4.dims = ["rows"]},
    %o: tensor<?x101xf32> {dsv4.name = "o", dsv4.dims = ["rows", ""]}) -> tensor<?x101xf32> {
  %0 = dsv4.rope %x table(%t : tensor<?x6xf32>) positions(%p : tensor<?xi32>)
      outs(%o : tensor<?x101xf32>) : tensor<?x101xbf16>
  return %0 : tensor<?x101xf32>
}

#fp4 = #dsv4.format<f4E2M1FN, [<f8E4M3FN per 16>]>

// FP4 from an odd column.
// CHECK-LABEL: func.func @quantize_odd_column
// CHECK: parts = [#dsv4.rows<lanes = 1, vector = 0{{.*}}>]
func.func @quantize_odd_column(
    %x: tensor<?x70xbf16> {dsv4.name = "x", dsv4.dims = ["rows", ""]},
    %q: tensor<?x64xf4E2M1FN> {dsv4.name = "q", dsv4.dims = ["rows", ""]},
    %s: tensor<?x4xf8E4M3FN> {dsv4.name = "s", dsv4.dims = ["rows", ""]})
    -> (tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>) {
  %0:2 = dsv4.quantize %x columns [5, 64] outs(%q, %s : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>)
      {format = #fp4, recipe = #dsv4.quantizer<>} : tensor<?x70xbf16>
  return %0#0, %0#1 : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>
}

// The sum of a row is the same tree whoever holds it; its columns are taken apart and joined in registers.
// CHECK-LABEL: func.func @chain
// CHECK: parts = [#dsv4.rows<lanes = 1, vector = 0{{.*}}>]
func.func @chain(
    %x: tensor<?x101xbf16> {dsv4.name = "x", dsv4.dims = ["rows", ""]},
    %w: tensor<101xbf16> {dsv4.name = "w"},
    %t: tensor<?x6xf32> {dsv4.name = "t", dsv4.dims = ["positions", ""]},
    %p: tensor<?xi32> {dsv4.name = "p", dsv4.dims = ["rows"]},
    %q: tensor<?x66xf4E2M1FN> {dsv4.name = "q", dsv4.dims = ["rows", ""]},
    %s: tensor<?x22xf8E4M3FN> {dsv4.name = "s", dsv4.dims = ["rows", ""]},
    %outer: tensor<?xf32> {dsv4.name = "outer", dsv4.dims = ["rows"]})
    -> (tensor<?x66xf4E2M1FN>, tensor<?x22xf8E4M3FN>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %x, %c0 : tensor<?x101xbf16>
  %a = tensor.empty(%rows) : tensor<?x101xbf16>
  %b = tensor.empty(%rows) : tensor<?x101xbf16>
  %0 = dsv4.rms_norm %x weight(%w : tensor<101xbf16>) outs(%a : tensor<?x101xbf16>)
      {eps = 1.0e-6 : f32} : tensor<?x101xbf16>
  %1 = dsv4.rope %0 table(%t : tensor<?x6xf32>) positions(%p : tensor<?xi32>)
      outs(%b : tensor<?x101xbf16>) : tensor<?x101xbf16>
  %2:3 = dsv4.quantize %1 columns [33, 66]
      outs(%q, %s, %outer : tensor<?x66xf4E2M1FN>, tensor<?x22xf8E4M3FN>, tensor<?xf32>)
      {format = #dsv4.format<f4E2M1FN, [<f8E4M3FN per 3>, <f32 per row>]>,
       recipe = #dsv4.quantizer<>} : tensor<?x101xbf16>
  return %2#0, %2#1, %2#2 : tensor<?x66xf4E2M1FN>, tensor<?x22xf8E4M3FN>, tensor<?xf32>
}

// All threads reduce a window, and one lane has the row that becomes of it.
// CHECK-LABEL: func.func @window
// CHECK: parts = [#dsv4.rows<lanes = 1, vector = 0{{.*}}>, #dsv4.window<{{.*}}>]
func.func @window(
    %v: tensor<?x102xf32> {dsv4.name = "v", dsv4.dims = ["tokens", ""]},
    %w: tensor<?x102xf32> {dsv4.name = "w", dsv4.dims = ["tokens", ""]},
    %plan: tensor<?x4xi32> {dsv4.name = "plan", dsv4.dims = ["rows", ""]},
    %t: tensor<?x6xf32> {dsv4.name = "t", dsv4.dims = ["positions", ""]},
    %p: tensor<?xi32> {dsv4.name = "p", dsv4.dims = ["rows"]},
    %q: tensor<?x66xf4E2M1FN> {dsv4.name = "q", dsv4.dims = ["rows", ""]},
    %s: tensor<?x22xf8E4M3FN> {dsv4.name = "s", dsv4.dims = ["rows", ""]})
    -> (tensor<?x66xf4E2M1FN>, tensor<?x22xf8E4M3FN>) {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %plan, %c0 : tensor<?x4xi32>
  %a = tensor.empty(%rows) : tensor<?x102xbf16>
  %b = tensor.empty(%rows) : tensor<?x102xbf16>
  %0 = dsv4.compress %v, %w window 4 plan(%plan : tensor<?x4xi32>)
      outs(%a : tensor<?x102xbf16>) : tensor<?x102xf32>, tensor<?x102xf32>
  %1 = dsv4.rope %0 table(%t : tensor<?x6xf32>) positions(%p : tensor<?xi32>)
      outs(%b : tensor<?x102xbf16>) : tensor<?x102xbf16>
  %2:2 = dsv4.quantize %1 columns [33, 66] outs(%q, %s : tensor<?x66xf4E2M1FN>, tensor<?x22xf8E4M3FN>)
      {format = #dsv4.format<f4E2M1FN, [<f8E4M3FN per 3>]>, recipe = #dsv4.quantizer<>} : tensor<?x102xbf16>
  return %2#0, %2#1 : tensor<?x66xf4E2M1FN>, tensor<?x22xf8E4M3FN>
}
