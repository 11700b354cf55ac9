// Stored keys and scales of ragged requests: rows that belong to no request are not written.

// RUN: dsv4-opt %s --dsv4-lower-to-cuda-pipeline="schedule=#dsv4.schedule<threads=128,parts=[#dsv4.rows<lanes=8,vector=16>]>" -mlir-print-debuginfo \
// RUN:   | dsv4-translate --mlir-to-cuda | FileCheck %s --strict-whitespace --match-full-lines
// NVRTC: sm_80 sm_90a sm_100a sm_120a

func.func @gather_keys(
    %cache: !dsv4.cache<64 x <index_fp8_132>> {dsv4.name = "cache"},
    %key: tensor<?x128xf8E4M3FN> {dsv4.name = "key", dsv4.dims = ["rows", ""]},
    %scale: tensor<?x1xf32> {dsv4.name = "scale", dsv4.dims = ["rows", ""]},
    %table: tensor<?x?xi32> {dsv4.name = "page_table", dsv4.dims = ["requests", "blocks"]},
    %cu_seq_lens: tensor<?xi32> {dsv4.name = "cu_seq_lens", dsv4.dims = ["starts"]})
    -> (tensor<?x128xf8E4M3FN>, tensor<?x1xf32>) {
  %k, %s = dsv4.paged_gather %cache pages(%table : tensor<?x?xi32>) cu_seq_lens(%cu_seq_lens : tensor<?xi32>)
      fields(%key, %scale : tensor<?x128xf8E4M3FN>, tensor<?x1xf32>) : !dsv4.cache<64 x <index_fp8_132>>
  return %k, %s : tensor<?x128xf8E4M3FN>, tensor<?x1xf32>
}

// The whole text.
