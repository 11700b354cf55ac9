// Rows of requests from a row on that the device reads: none, some, more than there are rows, and no number at all.

// DEFINE: %{run} = dsv4-run %s --target=host --check
// RUN: %{run} --entry=last --random=1 --dim requests=5 --dim blocks=3 --dim rows=50 --dim cache.pages=9 | FileCheck %s
// RUN: %{run} --entry=last --random=2 --dim requests=3 --dim blocks=3 --dim rows=77 --dim cache.pages=9 --thread-order=reverse | FileCheck %s
// RUN: %{run} --entry=last --random=3 --dim requests=2 --dim blocks=2 --dim rows=33 --dim cache.pages=9 | FileCheck %s
// RUN: %{run} --entry=last --random=4 --dim requests=9 --dim blocks=1 --dim rows=5 --dim cache.pages=9 | FileCheck %s
// RUN: %{run} --entry=last --random=5 --dim requests=4 --dim blocks=1 --dim rows=0 --dim cache.pages=9 | FileCheck %s
// RUN: %{run} --entry=all --random=6 --dim requests=6 --dim pages=9 --dim indptr=7 --dim rows=50 --dim cache.pages=9 | FileCheck %s
// RUN: %{run} --entry=all --random=7 --dim requests=6 --dim pages=9 --dim indptr=7 --dim rows=50 --dim cache.pages=9 | FileCheck %s
// RUN: %{run} --entry=all --random=8 --dim requests=6 --dim pages=9 --dim indptr=7 --dim rows=50 --dim cache.pages=9 | FileCheck %s
// CHECK: matches the oracle

!keys = !dsv4.cache<16 x <index_fp8_132>>

func.func @last(
    %cache: !keys {dsv4.name = "cache"},
    %table: tensor<?x?xi32> {dsv4.name = "table", dsv4.dims = ["requests", "blocks"]},
    %seq_lens: tensor<?xi32> {dsv4.name = "seq_lens", dsv4.dims = ["requests"]},
    %gather_lens: tensor<?xi32> {dsv4.name = "gather_lens", dsv4.dims = ["requests"]},
    %offset: tensor<1xi32> {dsv4.name = "offset"},
    %out: tensor<?x?x128xbf16> {dsv4.name = "out", dsv4.dims = ["requests", "rows", ""]},
    %mask: tensor<?x?xi1> {dsv4.name = "mask", dsv4.dims = ["requests", "rows"]}) {
  %0:2 = dsv4.paged_gather %cache pages(%table : tensor<?x?xi32>) seq_lens(%seq_lens : tensor<?xi32>)
      gather_lens(%gather_lens : tensor<?xi32>) offset(%offset : tensor<1xi32>)
      outs(%out : tensor<?x?x128xbf16>) mask(%mask : tensor<?x?xi1>) : !keys
  return
}

func.func @all(
    %cache: !keys {dsv4.name = "cache"},
    %listed: tensor<?xi32> {dsv4.name = "listed", dsv4.dims = ["pages"]},
    %indptr: tensor<?xi32> {dsv4.name = "indptr", dsv4.dims = ["indptr"]},
    %seq_lens: tensor<?xi64> {dsv4.name = "seq_lens", dsv4.dims = ["requests"]},
    %offset: tensor<1xi64> {dsv4.name = "offset"},
    %out: tensor<?x?x128xf8E4M3FN> {dsv4.name = "out", dsv4.dims = ["requests", "rows", ""]},
    %scale: tensor<?x?xf32> {dsv4.name = "scale", dsv4.dims = ["requests", "rows"]}) {
  %0:2 = dsv4.paged_gather %cache pages(%listed : tensor<?xi32>) indptr(%indptr : tensor<?xi32>)
      seq_lens(%seq_lens : tensor<?xi64>) offset(%offset : tensor<1xi64>)
      fields(%out, %scale : tensor<?x?x128xf8E4M3FN>, tensor<?x?xf32>) : !keys
  return
}
