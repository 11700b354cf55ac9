// Rows that are selected from have a bound, whatever is said of their axis.

// RUN: dsv4-opt %s --dsv4-specialize | FileCheck %s
// RUN: dsv4-opt %s --dsv4-specialize="dims=dynamic=7" | FileCheck %s
// RUN: sed -e 's/\["rows", ""\]}) {/["rows", ""]}) attributes {dsv4.policies = {dynamic = #dsv4.policy<bucket>}} {/' %s \
// RUN:   | dsv4-opt --dsv4-specialize="dims=dynamic=100" | FileCheck %s --check-prefix=BUCKET
// BUCKET: dsv4.bounds = {dynamic = 128 : i64}
// RUN: sed -e 's/, dsv4.dims = \["rows", "dynamic"\]//' %s | not dsv4-opt --dsv4-specialize 2>&1 | FileCheck %s --check-prefix=UNNAMED
// UNNAMED: 'dsv4.topk' op selects from rows of unbounded length, expected at most 4194304: give axis 1 of argument 's' a name in 'dsv4.dims'

// CHECK-LABEL: func.func @dynamic
// CHECK-SAME: dsv4.bounds = {dynamic = 4194304 : i64}
func.func @dynamic(%s: tensor<?x?xf32> {dsv4.name = "s", dsv4.dims = ["rows", "dynamic"]},
                   %i: tensor<?x8xi32> {dsv4.name = "i", dsv4.dims = ["rows", ""]}) {
  %0 = dsv4.topk %s outs(%i : tensor<?x8xi32>) : tensor<?x?xf32>
  return
}
