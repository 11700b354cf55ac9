// Kernels of different iteration spaces in one launch: queries, and the entries of keys.

// DEFINE: %{schedule} = #dsv4.schedule<threads = 128, pdl = true, parts = [#dsv4.rows<lanes = 8, vector = 8>]>

// RUN: dsv4-run %s --entry=insert --target=host --random=1 --check --dim tokens=1 --dim positions=40 --dim cache.pages=3 \
// RUN:   | FileCheck %s
// RUN: dsv4-run %s --entry=insert --target=host --random=2 --check --dim tokens=7 --dim positions=40 --dim cache.pages=3 \
// RUN:   --thread-order=reverse | FileCheck %s
// RUN: dsv4-run %s --entry=insert --target=host --random=3 --check --dim tokens=33 --dim positions=40 --dim cache.pages=3 \
// RUN:   --thread-order=random:5 | FileCheck %s
// RUN: dsv4-run %s --entry=insert --target=host --random=4 --check --dim tokens=0 --dim positions=40 --dim cache.pages=3 \
// RUN:   | FileCheck %s
// CHECK: kernel {{ *}}insert{{$}}
// CHECK-NEXT: schedule {{ *}}[#dsv4.schedule<{{.*}}>, #dsv4.schedule<{{.*}}>]{{$}}
// CHECK-NOT: kernel
// CHECK: matches the oracle

// Blocks of either kernel may be missing.
// RUN: dsv4-run %s --entry=norms --target=host --random=1 --check --dim n=0 --dim m=9 | FileCheck %s --check-prefix=NORMS
// RUN: dsv4-run %s --entry=norms --target=host --random=2 --check --dim n=17 --dim m=0 | FileCheck %s --check-prefix=NORMS
// RUN: dsv4-run %s --entry=norms --target=host --random=3 --check --dim n=0 --dim m=0 | FileCheck %s --check-prefix=NORMS
// RUN: dsv4-run %s --entry=norms --target=host --random=4 --check --dim n=33 --dim m=65 --thread-order=reverse \
// RUN:   | FileCheck %s --check-prefix=NORMS
// NORMS: kernel {{ *}}norms{{$}}
// NORMS-NOT: kernel
// NORMS: matches the oracle

// Three, of which the last two search for slots that repeat with all threads of a block.
// RUN: dsv4-run %s --entry=three --target=host --random=1 --check --dim tokens=40 --dim entries=3000 --dim cache.pages=3 \
// RUN:   --dim other.pages=4 --schedule="%{schedule}" | FileCheck %s --check-prefix=THREE
// RUN: dsv4-run %s --entry=three --target=host --random=2 --check --dim tokens=1 --dim entries=2001 --dim cache.pages=3 \
// RUN:   --dim other.pages=4 --schedule="%{schedule}" --thread-order=reverse | FileCheck %s --check-prefix=THREE
// RUN: dsv4-run %s --entry=three --target=host --random=3 --check --dim tokens=3 --dim entries=77 --dim cache.pages=3 \
// RUN:   --dim other.pages=4 --schedule="%{schedule}" --thread-order=random:7 | FileCheck %s --check-prefix=THREE
// THREE: kernel {{ *}}three{{$}}
// THREE-NOT: kernel
// THREE: matches the oracle

// Strides of both kernels.
// RUN: dsv4-run %s --entry=views --target=host --random=1 --check --dim n=33 --dim m=65 --thread-order=reverse \
// RUN:   | FileCheck %s --check-prefix=VIEWS
// RUN: dsv4-run %s --entry=views --target=host --random=2 --check --dim n=7 --dim m=0 | FileCheck %s --check-prefix=VIEWS
// VIEWS: kernel {{ *}}views{{$}}
// VIEWS-NOT: kernel
// VIEWS: matches the oracle

// Extents that are part of the kernel.
// RUN: dsv4-run %s --entry=constant --target=host --random=1 --check --thread-order=reverse \
// RUN:   | FileCheck %s --check-prefix=CONSTANT
// CONSTANT: kernel {{ *}}constant{{$}}
// CONSTANT-NOT: kernel
// CONSTANT: matches the oracle

// The blocks of the first kernel have fewer threads.
// RUN: dsv4-run %s --entry=fewer --target=host --random=1 --check --dim n=5 --schedule-table=%S/Inputs/one-launch.json \
// RUN:   | FileCheck %s --check-prefix=FEWER
// RUN: dsv4-run %s --entry=fewer --target=host --random=2 --check --dim n=33 --schedule-table=%S/Inputs/one-launch.json \
// RUN:   --thread-order=reverse | FileCheck %s --check-prefix=FEWER
// FEWER: kernel {{ *}}fewer{{$}}
// FEWER-NEXT: schedule {{ *}}[#dsv4.schedule<threads = 32, {{.*}}>, #dsv4.schedule<threads = 128, {{.*}}>]{{$}}
// FEWER-NOT: kernel
// FEWER: matches the oracle

!cache = !dsv4.cache<64 x #dsv4.record<v4_584>>
!plain = !dsv4.cache<64 x <[<"values" : 64 x bf16 in row>]>>
#fp8 = #dsv4.format<f8E4M3FN, [<f8E8M0FNU per 64>]>
#recipe = #dsv4.quantizer<floor = 1.0e-04 : f32, limit = reciprocal, rounding = up_pow2>

func.func @insert(
    %q: tensor<?x3x512xbf16> {dsv4.name = "q", dsv4.dims = ["tokens", "", ""]},
    %q_position: tensor<?x3xi32> {dsv4.name = "q_position", dsv4.dims = ["tokens", ""]},
    %kv: tensor<?x512xbf16> {dsv4.name = "kv", dsv4.dims = ["tokens", ""]},
    %position: tensor<?xi32> {dsv4.name = "position", dsv4.dims = ["tokens"]},
    %slots: tensor<?xi32> {dsv4.name = "slots", dsv4.dims = ["tokens"]},
    %angles: tensor<?x64xf32> {dsv4.name = "angles", dsv4.dims = ["positions", ""]},
    %q_out: tensor<?x3x512xbf16> {dsv4.name = "q_out", dsv4.dims = ["tokens", "", ""]},
    %cache: !cache {dsv4.name = "cache"})
    -> tensor<?x3x512xbf16> {
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %q, %c0 : tensor<?x3x512xbf16>
  %q_row = tensor.empty(%tokens) : tensor<?x3x512xbf16>
  %kv_row = tensor.empty(%tokens) : tensor<?x512xbf16>
  %payload_of_row = tensor.empty(%tokens) : tensor<?x448xf8E4M3FN>
  %scales_of_row = tensor.empty(%tokens) : tensor<?x7xf8E8M0FNU>
  %normed = dsv4.rms_norm %q outs(%q_row : tensor<?x3x512xbf16>) {eps = 1.0e-06 : f32} : tensor<?x3x512xbf16>
  %query = dsv4.rope %normed table(%angles : tensor<?x64xf32>) positions(%q_position : tensor<?x3xi32>)
      outs(%q_out : tensor<?x3x512xbf16>) : tensor<?x3x512xbf16>
  %rotated = dsv4.rope %kv table(%angles : tensor<?x64xf32>) positions(%position : tensor<?xi32>)
      outs(%kv_row : tensor<?x512xbf16>) : tensor<?x512xbf16>
  %payload, %scales = dsv4.quantize %rotated columns [0, 448]
      outs(%payload_of_row, %scales_of_row : tensor<?x448xf8E4M3FN>, tensor<?x7xf8E8M0FNU>)
      {format = #fp8, recipe = #recipe} : tensor<?x512xbf16>
  dsv4.paged_append %cache[%slots] unique
      fields(%payload, %rotated, %scales : tensor<?x448xf8E4M3FN>, tensor<?x512xbf16>, tensor<?x7xf8E8M0FNU>)
      columns [0, 448, 0] : !cache, tensor<?xi32>
  return %query : tensor<?x3x512xbf16>
}

func.func @norms(
    %x: tensor<?x64xbf16> {dsv4.name = "x", dsv4.dims = ["n", ""]},
    %o: tensor<?x64xbf16> {dsv4.name = "o", dsv4.dims = ["n", ""]},
    %y: tensor<?x64xbf16> {dsv4.name = "y", dsv4.dims = ["m", ""]},
    %p: tensor<?x64xbf16> {dsv4.name = "p", dsv4.dims = ["m", ""]}) {
  %0 = dsv4.rms_norm %x outs(%o : tensor<?x64xbf16>) {eps = 1.0e-06 : f32} : tensor<?x64xbf16>
  %1 = dsv4.rms_norm %y outs(%p : tensor<?x64xbf16>) {eps = 1.0e-05 : f32} : tensor<?x64xbf16>
  return
}

func.func @three(
    %x: tensor<?x64xbf16> {dsv4.name = "x", dsv4.dims = ["tokens", ""]},
    %o: tensor<?x64xbf16> {dsv4.name = "o", dsv4.dims = ["tokens", ""]},
    %y: tensor<?x64xbf16> {dsv4.name = "y", dsv4.dims = ["entries", ""]},
    %slots: tensor<?xi32> {dsv4.name = "slots", dsv4.dims = ["entries"]},
    %cache: !plain {dsv4.name = "cache"}, %other: !plain {dsv4.name = "other"}) {
  %0 = dsv4.rms_norm %x outs(%o : tensor<?x64xbf16>) {eps = 1.0e-06 : f32} : tensor<?x64xbf16>
  dsv4.paged_append %cache[%slots] fields(%y : tensor<?x64xbf16>) : !plain, tensor<?xi32>
  dsv4.paged_append %other[%slots] fields(%y : tensor<?x64xbf16>) : !plain, tensor<?xi32>
  return
}

func.func @constant(%x: tensor<2x64xbf16> {dsv4.name = "x"}, %o: tensor<2x64xbf16> {dsv4.name = "o"},
                    %y: tensor<40x64xbf16> {dsv4.name = "y"}, %p: tensor<40x64xbf16> {dsv4.name = "p"})
    -> (tensor<2x64xbf16>, tensor<40x64xbf16>) {
  %0 = dsv4.rms_norm %x outs(%o : tensor<2x64xbf16>) {eps = 1.0e-06 : f32} : tensor<2x64xbf16>
  %1 = dsv4.rms_norm %y outs(%p : tensor<40x64xbf16>) {eps = 1.0e-05 : f32} : tensor<40x64xbf16>
  return %0, %1 : tensor<2x64xbf16>, tensor<40x64xbf16>
}

func.func @fewer(%x: tensor<?x64xbf16> {dsv4.name = "x", dsv4.dims = ["n", ""]},
                 %o: tensor<?x64xbf16> {dsv4.name = "o", dsv4.dims = ["n", ""]},
                 %y: tensor<?x16x64xbf16> {dsv4.name = "y", dsv4.dims = ["n", "", ""]},
                 %p: tensor<?x16x64xbf16> {dsv4.name = "p", dsv4.dims = ["n", "", ""]}) {
  %0 = dsv4.hadamard %x outs(%o : tensor<?x64xbf16>) {scale = 0.125 : f32} : tensor<?x64xbf16>
  %1 = dsv4.rms_norm %y outs(%p : tensor<?x16x64xbf16>) {eps = 1.0e-05 : f32} : tensor<?x16x64xbf16>
  return
}

func.func @views(
    %q: tensor<?x4x64xbf16> {dsv4.name = "q", dsv4.dims = ["n", "", ""], dsv4.strides = #dsv4.strides<[?, ?]>},
    %k: tensor<?x64xbf16> {dsv4.name = "k", dsv4.dims = ["m", ""], dsv4.strides = #dsv4.strides<[?]>},
    %a: tensor<?x4x64xbf16> {dsv4.name = "a", dsv4.dims = ["n", "", ""]},
    %b: tensor<?x64xbf16> {dsv4.name = "b", dsv4.dims = ["m", ""], dsv4.strides = #dsv4.strides<[?]>})
    -> (tensor<?x4x64xbf16>, tensor<?x64xbf16>) {
  %x = dsv4.rms_norm %q outs(%a : tensor<?x4x64xbf16>) {eps = 1.0e-06 : f32} : tensor<?x4x64xbf16>
  %y = dsv4.rms_norm %k outs(%b : tensor<?x64xbf16>) {eps = 1.0e-06 : f32} : tensor<?x64xbf16>
  return %x, %y : tensor<?x4x64xbf16>, tensor<?x64xbf16>
}
