// What an append whose slots may repeat costs is a remark; with 'unique' there is none.

// RUN: dsv4-opt %s --dsv4-form-kernels --dsv4-select-schedule --convert-dsv4-to-row -o /dev/null \
// RUN:   --remarks-filter=convert-dsv4-to-row --remark-format=emitRemark 2>&1 | FileCheck %s

!cache = !dsv4.cache<64 x #dsv4.record<[<"row" : 64 x bf16 in row>]>>

func.func @appends(
    %kv: tensor<?x64xbf16>, %slots: tensor<?xi32>, %first: !cache, %second: !cache) {
  dsv4.paged_append %first[%slots] unique fields(%kv : tensor<?x64xbf16>) : !cache, tensor<?xi32>
  // CHECK-NOT: remark
  // CHECK: append-remark.mlir:[[#@LINE + 2]]:3: remark: {{.*}}'indices' may repeat, so every token looks for its slot among those of all later tokens, which grows with the square of the tokens; add 'unique' if no two tokens of a launch have one slot
  // CHECK-NOT: remark
  dsv4.paged_append %second[%slots] fields(%kv : tensor<?x64xbf16>) : !cache, tensor<?xi32>
  return
}
