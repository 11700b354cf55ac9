// The clauses of gate, lookup and route_weights, and of the schedules of kernels that select by a warp.

// RUN: dsv4-opt %s --split-input-file --verify-diagnostics

func.func @gate_c1(%x: tensor<4x?xf32>, %out: tensor<4x?xf32>) {
  // expected-error @+1 {{gate_c1: expected 'logits' of rank >= 1 with a constant last extent between 1 and 65536, got 'tensor<4x?xf32>'}}
  %0 = dsv4.gate %x function sigmoid outs(%out : tensor<4x?xf32>) : tensor<4x?xf32>
  return
}

// -----

func.func @gate_c2(%x: tensor<4x8xbf16>, %out: tensor<4x7xf32>) {
  // expected-error @+1 {{gate_c2: expected 'outs' of shape [4, 8], got 'tensor<4x7xf32>'}}
  %0 = dsv4.gate %x function sigmoid outs(%out : tensor<4x7xf32>) : tensor<4x8xbf16>
  return
}

// -----

func.func @lookup_c1(%table: tensor<4x?xi32>, %ids: tensor<3xi32>, %out: tensor<3x?xi32>) {
  // expected-error @+1 {{lookup_c1: expected 'table' of rank >= 1 with a constant last extent between 1 and 65536, got 'tensor<4x?xi32>'}}
  %0 = dsv4.lookup %table[%ids] outs(%out : tensor<3x?xi32>) : tensor<4x?xi32>, tensor<3xi32>
  return
}

// -----

func.func @lookup_c1_rank(%table: tensor<6xi32>, %ids: tensor<3xi32>, %out: tensor<3x6xi32>) {
  // expected-error @+1 {{lookup_c1: expected 'table' of rank 2, got 'tensor<6xi32>'}}
  %0 = dsv4.lookup %table[%ids] outs(%out : tensor<3x6xi32>) : tensor<6xi32>, tensor<3xi32>
  return
}

// -----

func.func @lookup_c2(%table: tensor<4x6xi32>, %ids: tensor<3x1xi32>, %out: tensor<3x6xi32>) {
  // expected-error @+1 {{lookup_c2: expected 'ids' of rank 1, got 'tensor<3x1xi32>'}}
  %0 = dsv4.lookup %table[%ids] outs(%out : tensor<3x6xi32>) : tensor<4x6xi32>, tensor<3x1xi32>
  return
}

// -----

func.func @lookup_c3(%table: tensor<4x6xi32>, %ids: tensor<3xi32>, %out: tensor<3x8xi32>) {
  // expected-error @+1 {{lookup_c3: expected 'outs' of shape [3, 6], got 'tensor<3x8xi32>'}}
  %0 = dsv4.lookup %table[%ids] outs(%out : tensor<3x8xi32>) : tensor<4x6xi32>, tensor<3xi32>
  return
}

// -----

func.func @route_weights_c1(%s: tensor<3x?xf32>, %i: tensor<3x2xi32>, %out: tensor<3x2xf32>) {
  // expected-error @+1 {{route_weights_c1: expected 'scores' of rank >= 1 with a constant last extent between 1 and 65536, got 'tensor<3x?xf32>'}}
  %0 = dsv4.route_weights %s[%i] outs(%out : tensor<3x2xf32>) : tensor<3x?xf32>, tensor<3x2xi32>
  return
}

// -----

func.func @route_weights_c2(%s: tensor<3x8xf32>, %i: tensor<4x2xi32>, %out: tensor<4x2xf32>) {
  // expected-error @+1 {{route_weights_c2: expected 'indices' of shape [3, 2], got 'tensor<4x2xi32>'}}
  %0 = dsv4.route_weights %s[%i] outs(%out : tensor<4x2xf32>) : tensor<3x8xf32>, tensor<4x2xi32>
  return
}

// -----

func.func @route_weights_c3(%s: tensor<3x8xf32>, %i: tensor<3x2xi32>, %out: tensor<3x3xf32>) {
  // expected-error @+1 {{route_weights_c3: expected 'outs' of shape [3, 2], got 'tensor<3x3xf32>'}}
  %0 = dsv4.route_weights %s[%i] outs(%out : tensor<3x3xf32>) : tensor<3x8xf32>, tensor<3x2xi32>
  return
}

// -----

func.func @route_weights_c4(%s: tensor<3x8xf32>, %i: tensor<3x2xi32>, %out: tensor<3x2xf32>) {
  // expected-error @+1 {{route_weights_c4: expected a finite 'scale'}}
  %0 = dsv4.route_weights %s[%i] scale 0x7F800000 outs(%out : tensor<3x2xf32>)
      : tensor<3x8xf32>, tensor<3x2xi32>
  return
}

// -----

func.func @route_weights_c5(%s: tensor<3x8xf32>, %i: tensor<3x2xi32>, %out: tensor<3x2xf32>) {
  // expected-error @+1 {{route_weights_c5: 'uniform' weights are 1 / k, neither renormalised nor scaled: remove 'renormalize' and 'scale'}}
  %0 = dsv4.route_weights %s[%i] scale 2.0 uniform outs(%out : tensor<3x2xf32>)
      : tensor<3x8xf32>, tensor<3x2xi32>
  return
}

// -----

func.func @schedule_select_c5_k(%s: tensor<3x64xf32>, %i: tensor<3x33xi32>) -> tensor<3x33xi32> {
  // expected-error @+1 {{schedule_select_c5: a warp selects at most 32 elements from at most 1024, got 33 from 64}}
  %0 = dsv4.kernel @k(%s, %i) schedule <threads = 32, parts = [#dsv4.select<algorithm = warp, vector = 1>]>
      : (tensor<3x64xf32>, tensor<3x33xi32>) -> tensor<3x33xi32> {
  ^bb0(%a: tensor<3x64xf32>, %b: tensor<3x33xi32>):
    %1 = dsv4.topk %a outs(%b : tensor<3x33xi32>) : tensor<3x64xf32>
    dsv4.yield %1 : tensor<3x33xi32>
  }
  return %0 : tensor<3x33xi32>
}

// -----

func.func @schedule_select_c5_columns(%s: tensor<3x1025xf32>, %i: tensor<3x6xi32>) -> tensor<3x6xi32> {
  // expected-error @+1 {{schedule_select_c5: a warp selects at most 32 elements from at most 1024, got 6 from 1025}}
  %0 = dsv4.kernel @k(%s, %i) schedule <threads = 32, parts = [#dsv4.select<algorithm = warp, vector = 1>]>
      : (tensor<3x1025xf32>, tensor<3x6xi32>) -> tensor<3x6xi32> {
  ^bb0(%a: tensor<3x1025xf32>, %b: tensor<3x6xi32>):
    %1 = dsv4.topk %a outs(%b : tensor<3x6xi32>) : tensor<3x1025xf32>
    dsv4.yield %1 : tensor<3x6xi32>
  }
  return %0 : tensor<3x6xi32>
}

// -----

func.func @schedule_select_c5_of_k(%s: tensor<3x64xf32>, %i: tensor<3x6xi32>, %w: tensor<3x6xf32>)
    -> tensor<3x6xf32> {
  // expected-error @+1 {{schedule_select_c5: a row of 'dsv4.route_weights' is computed from what is selected, which only the lanes of a warp hold together; expected 'algorithm = warp'}}
  %0 = dsv4.kernel @k(%s, %i, %w) schedule <threads = 64, parts = [#dsv4.select<algorithm = block, vector = 1>]>
      : (tensor<3x64xf32>, tensor<3x6xi32>, tensor<3x6xf32>) -> tensor<3x6xf32> {
  ^bb0(%a: tensor<3x64xf32>, %b: tensor<3x6xi32>, %c: tensor<3x6xf32>):
    %1 = dsv4.topk %a outs(%b : tensor<3x6xi32>) : tensor<3x64xf32>
    %2 = dsv4.route_weights %a[%1] outs(%c : tensor<3x6xf32>) : tensor<3x64xf32>, tensor<3x6xi32>
    dsv4.yield %2 : tensor<3x6xf32>
  }
  return %0 : tensor<3x6xf32>
}

// -----

func.func @schedule_c5_of_k(%s: tensor<3x64xf32>, %i: tensor<3x6xi32>, %w: tensor<3x6xf32>)
    -> tensor<3x6xf32> {
  // expected-error @+1 {{schedule_c5: 'dsv4.topk' needs a part #dsv4.select<...>, which the schedule does not have}}
  %0 = dsv4.kernel @k(%s, %i, %w) schedule <threads = 64, parts = [#dsv4.rows<lanes = 1, vector = 1>]>
      : (tensor<3x64xf32>, tensor<3x6xi32>, tensor<3x6xf32>) -> tensor<3x6xf32> {
  ^bb0(%a: tensor<3x64xf32>, %b: tensor<3x6xi32>, %c: tensor<3x6xf32>):
    %1 = dsv4.topk %a outs(%b : tensor<3x6xi32>) : tensor<3x64xf32>
    %2 = dsv4.route_weights %a[%1] outs(%c : tensor<3x6xf32>) : tensor<3x64xf32>, tensor<3x6xi32>
    dsv4.yield %2 : tensor<3x6xf32>
  }
  return %0 : tensor<3x6xf32>
}
