// The last positions of each request, of a list of pages, from row 128 of the request on.

// RUN: dsv4-opt %s --dsv4-lower-to-cuda-pipeline="schedule=#dsv4.schedule<threads=128,parts=[#dsv4.rows<lanes=8,vector=8>]>" -mlir-print-debuginfo \
// RUN:   | dsv4-translate --mlir-to-cuda | FileCheck %s --strict-whitespace --match-full-lines
// NVRTC: sm_80 sm_90a sm_100a sm_120a

func.func @gather_last(
    %cache: !dsv4.cache<64 x <v4_584>> {dsv4.name = "cache"},
    %kv_indices: tensor<?xi32> {dsv4.name = "kv_indices", dsv4.dims = ["pages"]},
    %kv_indptr: tensor<?xi32> {dsv4.name = "kv_indptr", dsv4.dims = ["indptr"]},
    %seq_lens: tensor<?xi32> {dsv4.name = "seq_lens", dsv4.dims = ["requests"]},
    %gather_lens: tensor<?xi32> {dsv4.name = "gather_lens", dsv4.dims = ["requests"]},
    %out: tensor<?x?x512xbf16> {dsv4.name = "out", dsv4.dims = ["requests", "rows", ""]}) -> tensor<?x?x512xbf16> {
  %rows = dsv4.paged_gather %cache pages(%kv_indices : tensor<?xi32>) indptr(%kv_indptr : tensor<?xi32>)
      seq_lens(%seq_lens : tensor<?xi32>) gather_lens(%gather_lens : tensor<?xi32>) offset 128
      outs(%out : tensor<?x?x512xbf16>) : !dsv4.cache<64 x <v4_584>>
  return %rows : tensor<?x?x512xbf16>
}

// The whole text.
