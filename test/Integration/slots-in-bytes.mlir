// Slots that are byte offsets of the first field of entries: of pages whose fields are tails, rows or arrays, in slabs, as
// i64 and i32.

// DEFINE: %{run} = dsv4-run %s --target=host --check
// RUN: %{run} --entry=decoded --random=1 --dim rows=333 --dim cache.pages=5 | FileCheck %s
// RUN: %{run} --entry=decoded --random=2 --dim rows=64 --dim cache.pages=0 --thread-order=reverse | FileCheck %s
// RUN: %{run} --entry=decoded --random=3 --dim rows=0 --dim cache.pages=2 | FileCheck %s
// RUN: %{run} --entry=tails --random=4 --dim rows=333 --dim cache.pages=5 --thread-order=reverse | FileCheck %s
// RUN: %{run} --entry=arrays --random=5 --dim rows=333 --dim cache.pages=5 | FileCheck %s
// RUN: %{run} --entry=tokens --random=6 --dim rows=21 --dim k=9 --dim cache.pages=3 | FileCheck %s
// RUN: %{run} --entry=append --random=7 --dim rows=333 --dim cache.pages=5 | FileCheck %s
// RUN: %{run} --entry=append --random=8 --dim rows=100 --dim cache.pages=1 --thread-order=reverse | FileCheck %s
// RUN: %{run} --entry=append_arrays --random=9 --dim rows=333 --dim cache.pages=40 | FileCheck %s
// CHECK: matches the oracle

func.func @decoded(
    %cache: !dsv4.cache<64 x <v4_584>> {dsv4.name = "cache", dsv4.strides = #dsv4.strides<[?]>},
    %offsets: tensor<?xi64> {dsv4.name = "offsets", dsv4.dims = ["rows"]},
    %out: tensor<?x512xbf16> {dsv4.name = "out", dsv4.dims = ["rows", ""]},
    %mask: tensor<?xi1> {dsv4.name = "mask", dsv4.dims = ["rows"]}) {
  %0:2 = dsv4.paged_gather %cache[%offsets] in_bytes outs(%out : tensor<?x512xbf16>) mask(%mask : tensor<?xi1>)
      : !dsv4.cache<64 x <v4_584>>, tensor<?xi64>
  return
}

// The first field does not begin where a page does.
func.func @tails(
    %cache: !dsv4.cache<4 x <[<"s" : 2 x f32 in tail>, <"a" : 16 x f8E4M3FN in row>]>> {dsv4.name = "cache"},
    %offsets: tensor<?xi32> {dsv4.name = "offsets", dsv4.dims = ["rows"]},
    %s: tensor<?x2xf32> {dsv4.name = "s", dsv4.dims = ["rows", ""]},
    %a: tensor<?x16xf8E4M3FN> {dsv4.name = "a", dsv4.dims = ["rows", ""]}) {
  %0:2 = dsv4.paged_gather %cache[%offsets] in_bytes fields(%s, %a : tensor<?x2xf32>, tensor<?x16xf8E4M3FN>)
      : !dsv4.cache<4 x <[<"s" : 2 x f32 in tail>, <"a" : 16 x f8E4M3FN in row>]>>, tensor<?xi32>
  return
}

func.func @arrays(
    %cache: !dsv4.cache<8 x <[<"a" : 32 x f8E4M3FN in array>, <"all" : 1 x f32 in array scales "a" per tensor>, <"b" : 8 x bf16 in array>]>>
        {dsv4.name = "cache", dsv4.strides = #dsv4.strides<[?]>},
    %offsets: tensor<?xi64> {dsv4.name = "offsets", dsv4.dims = ["rows"]},
    %out: tensor<?x40xf32> {dsv4.name = "out", dsv4.dims = ["rows", ""]}) {
  %0 = dsv4.paged_gather %cache[%offsets] in_bytes outs(%out : tensor<?x40xf32>)
      : !dsv4.cache<8 x <[<"a" : 32 x f8E4M3FN in array>, <"all" : 1 x f32 in array scales "a" per tensor>, <"b" : 8 x bf16 in array>]>>, tensor<?xi64>
  return
}

func.func @tokens(
    %cache: !dsv4.cache<64 x <index_fp8_132>> {dsv4.name = "cache"},
    %offsets: tensor<?x?xi64> {dsv4.name = "offsets", dsv4.dims = ["rows", "k"]},
    %out: tensor<?x?x128xbf16> {dsv4.name = "out", dsv4.dims = ["rows", "k", ""]}) {
  %0 = dsv4.paged_gather %cache[%offsets] in_bytes outs(%out : tensor<?x?x128xbf16>)
      : !dsv4.cache<64 x <index_fp8_132>>, tensor<?x?xi64>
  return
}

func.func @append(
    %cache: !dsv4.cache<64 x <v4_584>> {dsv4.name = "cache", dsv4.strides = #dsv4.strides<[?]>},
    %offsets: tensor<?xi64> {dsv4.name = "offsets", dsv4.dims = ["rows"]},
    %nope: tensor<?x448xf8E4M3FN> {dsv4.name = "nope", dsv4.dims = ["rows", ""]},
    %rope: tensor<?x64xbf16> {dsv4.name = "rope", dsv4.dims = ["rows", ""]},
    %scales: tensor<?x7xf8E8M0FNU> {dsv4.name = "scales", dsv4.dims = ["rows", ""]}) {
  dsv4.paged_append %cache[%offsets] in_bytes unique
      fields(%nope, %rope, %scales : tensor<?x448xf8E4M3FN>, tensor<?x64xbf16>, tensor<?x7xf8E8M0FNU>)
      : !dsv4.cache<64 x <v4_584>>, tensor<?xi64>
  return
}

func.func @append_arrays(
    %cache: !dsv4.cache<8 x <[<"a" : 32 x bf16 in array>, <"b" : 8 x bf16 in array>]>> {dsv4.name = "cache"},
    %offsets: tensor<?xi64> {dsv4.name = "offsets", dsv4.dims = ["rows"]},
    %a: tensor<?x32xbf16> {dsv4.name = "a", dsv4.dims = ["rows", ""]},
    %b: tensor<?x8xbf16> {dsv4.name = "b", dsv4.dims = ["rows", ""]}) {
  dsv4.paged_append %cache[%offsets] in_bytes unique fields(%a, %b : tensor<?x32xbf16>, tensor<?x8xbf16>)
      : !dsv4.cache<8 x <[<"a" : 32 x bf16 in array>, <"b" : 8 x bf16 in array>]>>, tensor<?xi64>
  return
}
