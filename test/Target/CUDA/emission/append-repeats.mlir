// An append whose slots may repeat: the rows of a block look for later tokens together.

// RUN: dsv4-opt %s --dsv4-lower-to-cuda-pipeline -mlir-print-debuginfo \
// RUN:   | dsv4-translate --mlir-to-cuda | FileCheck %s --strict-whitespace --match-full-lines
// NVRTC: sm_80 sm_90a sm_100a sm_120a

!cache = !dsv4.cache<64 x #dsv4.record<[<"row" : 64 x bf16 in row>]>>

func.func @append(
    %kv: tensor<?x64xbf16> {dsv4.name = "kv", dsv4.dims = ["tokens", ""]},
    %slots: tensor<?xi32> {dsv4.name = "slots", dsv4.dims = ["tokens"]},
    %cache: !cache {dsv4.name = "cache"}) {
  dsv4.paged_append %cache[%slots] fields(%kv : tensor<?x64xbf16>) : !cache, tensor<?xi32>
  return
}
