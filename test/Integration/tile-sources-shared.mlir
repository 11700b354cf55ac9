// Parts of a schedule say what they take of the shared memory of a block, and the sum is compared with what a block has
// on the architecture: where a schedule is picked from a table, where one is given, and where the kernel carries one.

// RUN: split-file %s %t
// RUN: dsv4-tile-opt %t/kernel.mlir --dsv4-select-schedule="arch=sm_90a table=%t/table.json" | FileCheck %s
// RUN: dsv4-tile-opt %t/kernel.mlir --dsv4-select-schedule="arch=sm_80 table=%t/table.json" | FileCheck %s
// RUN: not dsv4-tile-opt %t/kernel.mlir --dsv4-select-schedule="arch=sm_120a table=%t/table.json" 2>&1 \
// RUN:   | FileCheck %s --check-prefixes=TABLE,SUM
// RUN: not dsv4-tile-opt %t/kernel.mlir --dsv4-select-schedule="arch=sm_86 schedule=#dsv4.schedule<threads=96,parts=[#dsv4.select<algorithm=tile,vector=1>,#tiletest.tiles<rows=24,columns=512,warps=2>]>" 2>&1 \
// RUN:   | FileCheck %s --check-prefixes=GIVEN,SUM
// RUN: dsv4-tile-opt %t/kernel.mlir --dsv4-select-schedule="arch=sm_90a table=%t/table.json" \
// RUN:   | not dsv4-tile-opt --dsv4-select-schedule=arch=sm_121a 2>&1 | FileCheck %s --check-prefixes=GIVEN,SUM

// CHECK: schedule <threads = 96, parts = [#dsv4.select<algorithm = tile, vector = 1>, #tiletest.tiles<rows = 24, columns = 512, warps = 2>]>
// TABLE: 'dsv4.kernel' op no schedule of the table fits: schedule_c8:
// GIVEN: 'dsv4.kernel' op schedule_c8:
// SUM-SAME: the parts of the schedule take 134768 bytes of shared memory (#dsv4.select 126384, #tiletest.tiles 8384), and a block of sm_{{.*}} has at most 101376; expected parts that take less, such as fewer rows or columns per block

//--- table.json
[{"op": "tiletest.scores", "threads": 96, "provenance": "A test.",
  "select": {"algorithm": "tile", "vector": 1}, "tiles": {"rows": 24, "columns": 512, "warps": 2}}]

//--- kernel.mlir
func.func @select(%q: tensor<?x8xi8>, %k: tensor<999x8xi8>, %o: tensor<?x999xf32>, %i: tensor<?x8xi32>) -> tensor<?x8xi32> {
  %0 = dsv4.kernel @best(%q, %k, %o, %i)
      : (tensor<?x8xi8>, tensor<999x8xi8>, tensor<?x999xf32>, tensor<?x8xi32>) -> tensor<?x8xi32> {
  ^bb0(%a: tensor<?x8xi8>, %b: tensor<999x8xi8>, %c: tensor<?x999xf32>, %d: tensor<?x8xi32>):
    %s = tiletest.scores %a, %b outs(%c : tensor<?x999xf32>) : tensor<?x8xi8>, tensor<999x8xi8> to tensor<?x999xf32>
    %1 = dsv4.topk %s outs(%d : tensor<?x8xi32>) : tensor<?x999xf32>
    dsv4.yield %1 : tensor<?x8xi32>
  }
  return %0 : tensor<?x8xi32>
}
