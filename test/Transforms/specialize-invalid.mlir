// RUN: dsv4-opt %s --dsv4-specialize="dims=k=512" --split-input-file --verify-diagnostics
// RUN: not dsv4-opt %S/Inputs/one-dim.mlir --dsv4-specialize="dims=k" 2>&1 | FileCheck %s --check-prefix=SYNTAX
// RUN: not dsv4-opt %S/Inputs/one-dim.mlir --dsv4-specialize="dims=k=-1" 2>&1 | FileCheck %s --check-prefix=SYNTAX
// RUN: not dsv4-opt %S/Inputs/one-dim.mlir --dsv4-specialize="dims==4" 2>&1 | FileCheck %s --check-prefix=SYNTAX
// RUN: not dsv4-opt %S/Inputs/one-dim.mlir --dsv4-specialize="dims=k=1,k=2" 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: dsv4-opt %S/Inputs/one-dim.mlir --dsv4-specialize="dims=k=2,k=2" -o /dev/null

// SYNTAX: error: expected dims as NAME=N with N >= 0, or NAME=?, got '{{k|k=-1|=4}}'
// TWICE: error: dim 'k' is given as 1 and as 2

// expected-error @+1 {{dim 'k' is 512, but axis 0 of argument 'i' has extent 256}}
func.func @contradiction(%i: tensor<256xi32> {dsv4.name = "i", dsv4.dims = ["k"]})
    attributes {dsv4.policies = {k = #dsv4.policy<exact>}} {
  return
}

// -----

// Of a dynamic dim as well.
// expected-error @+1 {{dim 'k' is 512, but axis 1 of argument 'arg0' has extent 8}}
func.func @contradiction_dynamic(%j: tensor<4x8xi32> {dsv4.dims = ["", "k"]}) {
  return
}

// -----

// expected-error @+1 {{dim 'm' is exact and needs an extent: give m=N}}
func.func @exact_missing(%i: tensor<?x?xi32> {dsv4.dims = ["k", "m"]})
    attributes {dsv4.policies = {m = #dsv4.policy<exact>}} {
  return
}

// -----

// expected-error @+1 {{the policy of dim 'm' names no axis of an argument}}
func.func @policy_unknown(%i: tensor<?xi32> {dsv4.dims = ["k"]})
    attributes {dsv4.policies = {m = #dsv4.policy<exact>}} {
  return
}

// -----

// expected-error @+1 {{dim 'k' names no axis of an argument}}
func.func @dim_unknown(%i: tensor<?xi32> {dsv4.dims = ["m"]}) {
  return
}

// -----

func.func @argument_returned(%s: tensor<?x8xf32> {dsv4.name = "scores", dsv4.dims = ["n", ""]},
                             %i: tensor<?x2xi32> {dsv4.name = "indices"}) -> tensor<?x2xi32> {
  %0 = dsv4.topk %s outs(%i : tensor<?x2xi32>) : tensor<?x8xf32>
  // expected-error @+1 {{returns argument 'indices', which is the destination of 'dsv4.topk': return the result of that op}}
  return %i : tensor<?x2xi32>
}
