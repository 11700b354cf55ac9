// The pipeline from ops on tensors to emission form, with its options.

// RUN: dsv4-opt %s --dsv4-lower-to-cuda-pipeline="arch=sm_120a dims=topk=512 schedule=#dsv4.schedule<threads=64,parts=[#dsv4.rows<lanes=16,vector=4>]>" | FileCheck %s
// RUN: dsv4-opt %s --dsv4-lower-to-cuda-pipeline="dims=topk=512 table=%S/../Transforms/Inputs/table.json" | FileCheck %s --check-prefix=TABLE
// RUN: not dsv4-opt %s --dsv4-lower-to-cuda-pipeline 2>&1 | FileCheck %s --check-prefix=EXACT
// RUN: not dsv4-opt %s --dsv4-lower-to-cuda-pipeline="arch=sm_x dims=topk=1" 2>&1 | FileCheck %s --check-prefix=ARCH

// What it leaves is emission form: running its last passes again changes nothing.
// RUN: dsv4-opt %s --dsv4-lower-to-cuda-pipeline="dims=topk=512" -o %t.1
// RUN: dsv4-opt %t.1 --pass-pipeline="builtin.module(gpu.module(cse,cuda-legalize,canonicalize,cse,cuda-prepare-for-emission))" -o %t.2
// RUN: diff %t.1 %t.2

// Twice the same input is twice the same output.
// RUN: dsv4-opt %s --dsv4-lower-to-cuda-pipeline="dims=topk=512" | diff %t.1 -

// EXACT: error: dim 'topk' is exact and needs an extent: give topk=N
// ARCH: error: target_c1: expected an architecture from "sm_80" to "sm_200", with "a", "f" or nothing after it, such as "sm_90a", got "sm_x"
// TABLE: dsv4.schedule = #dsv4.schedule<threads = 256, parts = [#dsv4.rows<lanes = 4, vector = 16, store = streaming>]>

// CHECK: module attributes {gpu.container_module}
// CHECK: gpu.module @gather_module attributes {cuda.target = #cuda.target<"sm_120a">}
// CHECK: gpu.func @gather
// CHECK-SAME: "tokens = ?, topk = 512, blocks = ?"
// CHECK-SAME: "sm_120a: 64 threads, 16 lanes per row, vectors of 4 elements"
// No row program, no index arithmetic and no upstream memory access is left.
// CHECK-NOT: scf.forall
// CHECK-NOT: {{memref|vector}}.{{load|store|maskedload}}
// CHECK-NOT: arith.{{.*}} : index{{$}}
// CHECK: gpu.return
// CHECK: func.func @gather
// CHECK-SAME: tensor<?x512xi32>
// CHECK-NEXT: dsv4.launch @gather_module::@gather grid ["ceildiv(tokens * 512, 4)", "1", "1"] block [64, 1, 1]
// CHECK-NEXT: return
func.func @gather(%cache: !dsv4.cache<64 x <v4_584>> {dsv4.name = "cache"},
                  %indices: tensor<?x?xi32> {dsv4.name = "indices", dsv4.dims = ["tokens", "topk"]},
                  %table: tensor<?x?xi32> {dsv4.name = "page_table", dsv4.dims = ["tokens", "blocks"]},
                  %out: tensor<?x?x512xbf16> {dsv4.name = "out", dsv4.dims = ["tokens", "topk", ""]})
    -> tensor<?x?x512xbf16>
    attributes {dsv4.policies = {topk = #dsv4.policy<exact>}} {
  %rows = dsv4.paged_gather %cache[%indices] pages(%table : tensor<?x?xi32>)
      outs(%out : tensor<?x?x512xbf16>)
      : !dsv4.cache<64 x <v4_584>>, tensor<?x?xi32>
  return %rows : tensor<?x?x512xbf16>
}
