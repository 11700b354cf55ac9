// Groups of five FP4 values share bytes: one lane has each field as a vector, and all scales of it.

// RUN: dsv4-opt %s --dsv4-lower-to-cuda-pipeline -mlir-print-debuginfo \
// RUN:   | dsv4-translate --mlir-to-cuda | FileCheck %s --strict-whitespace --match-full-lines
// NVRTC: sm_80 sm_90a sm_100a sm_120a

!cache = !dsv4.cache<64 x <[
  <"nope" : 60 x f4E2M1FN in row>, <"rope" : 48 x bf16 in row at 32>,
  <"nope_scale" : 12 x f8E4M3FN in row scales "nope" per 5 interleave 4>]>>

func.func @gather(
    %cache: !cache {dsv4.name = "cache"},
    %indices: tensor<?xi32> {dsv4.name = "indices", dsv4.dims = ["topk"]},
    %out: tensor<?x108xbf16> {dsv4.name = "out", dsv4.dims = ["topk", ""]}) -> tensor<?x108xbf16> {
  %rows = dsv4.paged_gather %cache[%indices] outs(%out : tensor<?x108xbf16>)
      : !cache, tensor<?xi32>
  return %rows : tensor<?x108xbf16>
}

// The whole text.
