// Values and scores of the state in two caches with a page table each, against the oracle.

// DEFINE: %{run} = dsv4-run %s --target=host --check
// RUN: %{run} --entry=overlap --random=1 --dim tokens=40 --dim entries=13 --dim requests=5 --dim p=7 --dim q=4 --dim kept.pages=30 --dim scored.pages=18 | FileCheck %s
// RUN: %{run} --entry=overlap --random=2 --dim tokens=6 --dim entries=6 --dim requests=6 --dim p=3 --dim q=9 --dim kept.pages=18 --dim scored.pages=3 --thread-order=reverse | FileCheck %s
// RUN: %{run} --entry=overlap --random=3 --dim tokens=0 --dim entries=9 --dim requests=2 --dim p=7 --dim q=4 --dim kept.pages=0 --dim scored.pages=8 | FileCheck %s
// RUN: %{run} --entry=overlap --random=4 --dim tokens=9 --dim entries=0 --dim requests=0 --dim p=0 --dim q=0 --dim kept.pages=3 --dim scored.pages=0 | FileCheck %s
// RUN: %{run} --entry=arrays --random=5 --dim tokens=300 --dim entries=9 --dim requests=3 --dim p=70 --dim q=30 --dim kept.pages=210 --dim scored.pages=90 | FileCheck %s
// RUN: %{run} --entry=arrays --random=6 --dim tokens=9 --dim entries=9 --dim requests=9 --dim p=40 --dim q=40 --dim kept.pages=360 --dim scored.pages=360 --thread-order=reverse | FileCheck %s
// CHECK: matches the oracle

!values = !dsv4.cache<8 x <[<"v" : 64 x f32 in row>]>>
!scores = !dsv4.cache<16 x <[<"s" : 64 x f32 in row>], align 64>>

func.func @overlap(
    %v: tensor<?x64xf32> {dsv4.name = "v", dsv4.dims = ["tokens", ""]},
    %s: tensor<?x64xf32> {dsv4.name = "s", dsv4.dims = ["tokens", ""]},
    %plan: tensor<?x4xi32> {dsv4.name = "plan", dsv4.dims = ["entries", ""]},
    %bias: tensor<4x64xf32> {dsv4.name = "bias"},
    %kept: !values {dsv4.name = "kept", dsv4.strides = #dsv4.strides<[?], align = 16>},
    %t: tensor<?x?xi32> {dsv4.name = "t", dsv4.dims = ["requests", "p"]},
    %scored: !scores {dsv4.name = "scored"},
    %u: tensor<?x?xi64> {dsv4.name = "u", dsv4.dims = ["requests", "q"]},
    %o: tensor<?x32xbf16> {dsv4.name = "o", dsv4.dims = ["entries", ""]}) -> tensor<?x32xbf16> {
  %0 = dsv4.compress %v, %s window 4 overlap plan(%plan : tensor<?x4xi32>) bias(%bias : tensor<4x64xf32>)
      state(%kept : !values) biased pages(%t : tensor<?x?xi32>)
      score_state(%scored : !scores) score_pages(%u : tensor<?x?xi64>)
      outs(%o : tensor<?x32xbf16>) : tensor<?x64xf32>, tensor<?x64xf32>
  return %0 : tensor<?x32xbf16>
}

!value_rows = !dsv4.cache<4 x <[<"v" : 128 x bf16 in array>]>>
!score_rows = !dsv4.cache<8 x <[<"s" : 128 x bf16 in array>]>>

func.func @arrays(
    %v: tensor<?x128xbf16> {dsv4.name = "v", dsv4.dims = ["tokens", ""]},
    %s: tensor<?x128xbf16> {dsv4.name = "s", dsv4.dims = ["tokens", ""]},
    %plan: tensor<?x4xi32> {dsv4.name = "plan", dsv4.dims = ["entries", ""]},
    %kept: !value_rows {dsv4.name = "kept"},
    %t: tensor<?x?xi32> {dsv4.name = "t", dsv4.dims = ["requests", "p"]},
    %scored: !score_rows {dsv4.name = "scored"},
    %u: tensor<?x?xi32> {dsv4.name = "u", dsv4.dims = ["requests", "q"]},
    %o: tensor<?x128xf32> {dsv4.name = "o", dsv4.dims = ["entries", ""]}) -> tensor<?x128xf32> {
  %0 = dsv4.compress %v, %s window 128 plan(%plan : tensor<?x4xi32>)
      state(%kept : !value_rows) pages(%t : tensor<?x?xi32>)
      score_state(%scored : !score_rows) score_pages(%u : tensor<?x?xi32>)
      outs(%o : tensor<?x128xf32>) : tensor<?x128xbf16>, tensor<?x128xbf16>
  return %0 : tensor<?x128xf32>
}
