// A row program needs the parts of the schedule by which its cooperative ops are distributed. The
// verifier sees to that while the kernel holds the ops of dsv4; here the schedule changes later.

// RUN: dsv4-opt %s --convert-dsv4-to-row -o %t.mlir
// RUN: sed -e 's/#dsv4.select<[^>]*>/#dsv4.rows<lanes = 1, vector = 4>/' %t.mlir | not dsv4-opt --dsv4-distribute-rows 2>&1 | FileCheck %s --check-prefix=SELECT
// RUN: sed -e 's/, #dsv4.window<[^>]*>//' %t.mlir | not dsv4-opt --dsv4-distribute-rows 2>&1 | FileCheck %s --check-prefix=WINDOW

// SELECT: 'row.select' op schedule_c5: needs a part #dsv4.select<...>, which the schedule does not have
func.func @select(%s: tensor<?x64xf32>, %i: tensor<?x8xi32>) {
  %0 = dsv4.kernel @select(%s, %i) schedule <threads = 64, parts = [#dsv4.select<algorithm = block, vector = 4>]>
      : (tensor<?x64xf32>, tensor<?x8xi32>) -> tensor<?x8xi32> {
  ^bb0(%a: tensor<?x64xf32>, %c: tensor<?x8xi32>):
    %1 = dsv4.topk %a outs(%c : tensor<?x8xi32>) : tensor<?x64xf32>
    dsv4.yield %1 : tensor<?x8xi32>
  }
  return
}

// WINDOW: 'row.window_reduce' op schedule_c5: needs a part #dsv4.window<...>, which the schedule does not have
func.func @window(%v: tensor<?x64xf32>, %p: tensor<?x4xi32>, %o: tensor<?x64xf32>) {
  %0 = dsv4.kernel @window(%v, %p, %o) schedule <threads = 64, parts = [#dsv4.rows<lanes = 16, vector = 4>, #dsv4.window<elements = 2>]>
      : (tensor<?x64xf32>, tensor<?x4xi32>, tensor<?x64xf32>) -> tensor<?x64xf32> {
  ^bb0(%v1: tensor<?x64xf32>, %p1: tensor<?x4xi32>, %o1: tensor<?x64xf32>):
    %r = dsv4.compress %v1, %v1 window 4 plan(%p1 : tensor<?x4xi32>)
        outs(%o1 : tensor<?x64xf32>) : tensor<?x64xf32>, tensor<?x64xf32>
    dsv4.yield %r : tensor<?x64xf32>
  }
  return
}
