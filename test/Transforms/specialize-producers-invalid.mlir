// Clauses of two ops that say different things of what one computes and the other reads.

// RUN: dsv4-opt %s --dsv4-specialize --split-input-file --verify-diagnostics

func.func @topk(%s: tensor<?x64xf32>, %i: tensor<?x9xi32>, %w: tensor<?x9xf32>) -> tensor<?x9xf32> {
  %0 = dsv4.topk %s shared 1 outs(%i : tensor<?x9xi32>) : tensor<?x64xf32>
  // expected-error @+1 {{'dsv4.route_weights' op route_weights_c7: has 2 as the number of 'shared' experts (0 without the clause), but 'dsv4.topk', which computes its indices, has 1: give both the same}}
  %1 = dsv4.route_weights %s[%0] shared 2 weight 1.0 outs(%w : tensor<?x9xf32>) : tensor<?x64xf32>, tensor<?x9xi32>
  return %1 : tensor<?x9xf32>
}

// -----

func.func @none(%s: tensor<?x64xf32>, %i: tensor<?x9xi32>, %w: tensor<?x9xf32>) -> tensor<?x9xf32> {
  %0 = dsv4.topk %s shared 1 outs(%i : tensor<?x9xi32>) : tensor<?x64xf32>
  // expected-error @+1 {{route_weights_c7: has 0 as the number of 'shared' experts (0 without the clause), but 'dsv4.topk', which computes its indices, has 1}}
  %1 = dsv4.route_weights %s[%0] outs(%w : tensor<?x9xf32>) : tensor<?x64xf32>, tensor<?x9xi32>
  return %1 : tensor<?x9xf32>
}

// -----

func.func @lookup(%t: tensor<99x8xi32>, %ids: tensor<?xi32>, %s: tensor<?x64xf32>, %i: tensor<?x8xi32>,
                  %w: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %0 = dsv4.lookup %t[%ids] outs(%i : tensor<?x8xi32>) : tensor<99x8xi32>, tensor<?xi32>
  // expected-error @+1 {{route_weights_c7: has 2 as the number of 'shared' experts (0 without the clause), but 'dsv4.lookup', which computes its indices, has 0}}
  %1 = dsv4.route_weights %s[%0] shared 2 weight 1.0 outs(%w : tensor<?x8xf32>) : tensor<?x64xf32>, tensor<?x8xi32>
  return %1 : tensor<?x8xf32>
}

// -----

// Indices of an argument may be of any op.
func.func @argument(%s: tensor<?x64xf32>, %i: tensor<?x9xi32>, %w: tensor<?x9xf32>) -> tensor<?x9xf32> {
  %1 = dsv4.route_weights %s[%i] shared 2 weight 1.0 outs(%w : tensor<?x9xf32>) : tensor<?x64xf32>, tensor<?x9xi32>
  return %1 : tensor<?x9xf32>
}

// -----

func.func @compress(%positions: tensor<?xi32>, %requests: tensor<?xi32>, %v: tensor<?x64xf32>, %p: tensor<?x4xi32>,
                    %o: tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  %0 = dsv4.compress_plan window 8 positions(%positions : tensor<?xi32>) requests(%requests : tensor<?xi32>)
      outs(%p : tensor<?x4xi32>)
  // expected-error @+1 {{'dsv4.compress' op compress_c2: has a 'window' of 4, but 'dsv4.compress_plan', which computes its plan, one of 8: give both the same}}
  %1 = dsv4.compress %v, %v window 4 plan(%0 : tensor<?x4xi32>) outs(%o : tensor<?x64xbf16>)
      : tensor<?x64xf32>, tensor<?x64xf32>
  return %1 : tensor<?x64xbf16>
}

// -----

func.func @nan(%s: tensor<?x64xf32>, %i: tensor<?x8xi32>, %w: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %0 = dsv4.topk %s nan first outs(%i : tensor<?x8xi32>) : tensor<?x64xf32>
  // expected-error @+1 {{route_weights_c8: has 'nan zero', but 'dsv4.topk', which computes its indices, chooses a NaN before every number with 'nan first': remove one of them}}
  %1 = dsv4.route_weights %s[%0] nan zero outs(%w : tensor<?x8xf32>) : tensor<?x64xf32>, tensor<?x8xi32>
  return %1 : tensor<?x8xf32>
}
