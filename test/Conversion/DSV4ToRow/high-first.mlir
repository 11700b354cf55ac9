// Pairs stored high nibble first are swapped after the load, whatever dialects are
// loaded before the pass runs.

// RUN: dsv4-opt %s --convert-dsv4-to-row --cse | FileCheck %s

!high = !dsv4.cache<1 x <[<"kv" : 64 x f4E2M1FN in row high_first>]>>

// CHECK-LABEL: func.func @high_first
func.func @high_first(%c: !high, %i: tensor<?xi32>, %o: tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  // CHECK: %[[READ:.*]] = row.read %{{.*}} -> vector<64xf4E2M1FN>
  // CHECK-NEXT: row.swap_nibbles %[[READ]] : vector<64xf4E2M1FN>
  %0 = dsv4.kernel @k(%c, %i, %o) : (!high, tensor<?xi32>, tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  ^bb0(%c1: !high, %i1: tensor<?xi32>, %o1: tensor<?x64xbf16>):
    %r = dsv4.paged_gather %c1[%i1] outs(%o1 : tensor<?x64xbf16>) : !high, tensor<?xi32>
    dsv4.yield %r : tensor<?x64xbf16>
  }
  return %0 : tensor<?x64xbf16>
}
