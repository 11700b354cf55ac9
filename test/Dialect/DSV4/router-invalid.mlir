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

func.func @route_weights_c5_nan(%s: tensor<3x8xf32>, %i: tensor<3x2xi32>, %out: tensor<3x2xf32>) {
  // expected-error @+1 {{route_weights_c5: 'uniform' weights are 1 / k, whatever the scores: remove 'nan zero'}}
  %0 = dsv4.route_weights %s[%i] uniform nan zero outs(%out : tensor<3x2xf32>)
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

// -----

func.func @lookup_c3_shared(%table: tensor<4x6xi32>, %ids: tensor<3xi32>, %o0: tensor<3x6xi32>) {
  // expected-error @+1 {{lookup_c3: expected 'outs' of shape [3, 8], got 'tensor<3x6xi32>'}}
  %0 = dsv4.lookup %table[%ids] shared 2 experts 9 outs(%o0 : tensor<3x6xi32>) : tensor<4x6xi32>, tensor<3xi32>
  return
}

// -----

func.func @lookup_c3_token_experts(%table: tensor<4x6xi32>, %ids: tensor<3xi32>, %o0: tensor<3x6xi32>) {
  // expected-error @+1 {{lookup_c3: expected 2 destinations, the second for 'token_experts', got 1}}
  %0 = dsv4.lookup %table[%ids] token_experts outs(%o0 : tensor<3x6xi32>) : tensor<4x6xi32>, tensor<3xi32>
  return
}

// -----

func.func @lookup_c3_destinations(%table: tensor<4x6xi32>, %ids: tensor<3xi32>, %o0: tensor<3x6xi32>, %o1: tensor<3x6xi32>) {
  // expected-error @+1 {{lookup_c3: expected 1 destination, got 2}}
  %0:2 = dsv4.lookup %table[%ids]  outs(%o0, %o1 : tensor<3x6xi32>, tensor<3x6xi32>) : tensor<4x6xi32>, tensor<3xi32>
  return
}

// -----

func.func @lookup_c3_token_experts_shape(%table: tensor<4x6xi32>, %ids: tensor<3xi32>, %o0: tensor<3x6xi32>, %o1: tensor<3x7xi32>) {
  // expected-error @+1 {{lookup_c3: expected 'token_experts' of shape [3, 6], got 'tensor<3x7xi32>'}}
  %0:2 = dsv4.lookup %table[%ids] token_experts outs(%o0, %o1 : tensor<3x6xi32>, tensor<3x7xi32>) : tensor<4x6xi32>, tensor<3xi32>
  return
}

// -----

func.func @lookup_c4_together(%table: tensor<4x6xi32>, %ids: tensor<3xi32>, %o0: tensor<3x7xi32>) {
  // expected-error @+1 {{lookup_c4: expected 'shared' between 1 and 32 and 'experts' between 1 and 65536, got 1 and none}}
  %0 = dsv4.lookup %table[%ids] shared 1 outs(%o0 : tensor<3x7xi32>) : tensor<4x6xi32>, tensor<3xi32>
  return
}

// -----

func.func @lookup_c4_shared(%table: tensor<4x6xi32>, %ids: tensor<3xi32>, %o0: tensor<3x39xi32>) {
  // expected-error @+1 {{lookup_c4: expected 'shared' between 1 and 32 and 'experts' between 1 and 65536, got 33 and 256}}
  %0 = dsv4.lookup %table[%ids] shared 33 experts 256 outs(%o0 : tensor<3x39xi32>) : tensor<4x6xi32>, tensor<3xi32>
  return
}

// -----

func.func @lookup_c4_experts(%table: tensor<4x6xi32>, %ids: tensor<3xi32>, %o0: tensor<3x7xi32>) {
  // expected-error @+1 {{lookup_c4: expected 'shared' between 1 and 32 and 'experts' between 1 and 65536, got 1 and 0}}
  %0 = dsv4.lookup %table[%ids] shared 1 experts 0 outs(%o0 : tensor<3x7xi32>) : tensor<4x6xi32>, tensor<3xi32>
  return
}

// -----

func.func @lookup_c5_valid_rows(%table: tensor<4x6xi32>, %ids: tensor<3xi32>, %o0: tensor<3x6xi32>, %n: tensor<2xi32>) {
  // expected-error @+1 {{lookup_c5: expected 'valid_rows' of shape [1], got 'tensor<2xi32>'}}
  %0 = dsv4.lookup %table[%ids] valid_rows(%n : tensor<2xi32>) outs(%o0 : tensor<3x6xi32>) : tensor<4x6xi32>, tensor<3xi32>
  return
}

// -----

func.func @lookup_c5_padding(%table: tensor<4x6xi32>, %ids: tensor<3xi32>, %o0: tensor<3x6xi32>, %n: tensor<4xi1>) {
  // expected-error @+1 {{lookup_c5: expected 'padding' of shape [3], got 'tensor<4xi1>'}}
  %0 = dsv4.lookup %table[%ids] padding(%n : tensor<4xi1>) outs(%o0 : tensor<3x6xi32>) : tensor<4x6xi32>, tensor<3xi32>
  return
}

// -----

func.func @route_weights_c6_alone(%s: tensor<3x9xf32>, %i: tensor<3x8xi32>, %out: tensor<3x8xf32>) {
  // expected-error @+1 {{route_weights_c6: expected 'shared' with one of 'weight' and 'of_sum', which say how much shared experts weigh}}
  %0 = dsv4.route_weights %s[%i] shared 1 outs(%out : tensor<3x8xf32>) : tensor<3x9xf32>, tensor<3x8xi32>
  return
}

// -----

func.func @route_weights_c6_both(%s: tensor<3x9xf32>, %i: tensor<3x8xi32>, %out: tensor<3x8xf32>) {
  // expected-error @+1 {{route_weights_c6: expected 'shared' with one of 'weight' and 'of_sum', which say how much shared experts weigh}}
  %0 = dsv4.route_weights %s[%i] shared 1 weight 1.0 of_sum 0.4 outs(%out : tensor<3x8xf32>) : tensor<3x9xf32>, tensor<3x8xi32>
  return
}

// -----

func.func @route_weights_c6_none(%s: tensor<3x9xf32>, %i: tensor<3x8xi32>, %out: tensor<3x8xf32>) {
  // expected-error @+1 {{route_weights_c6: expected 'shared' with one of 'weight' and 'of_sum', which say how much shared experts weigh}}
  %0 = dsv4.route_weights %s[%i] of_sum 0.4 outs(%out : tensor<3x8xf32>) : tensor<3x9xf32>, tensor<3x8xi32>
  return
}

// -----

func.func @route_weights_c6_all(%s: tensor<3x9xf32>, %i: tensor<3x8xi32>, %out: tensor<3x8xf32>) {
  // expected-error @+1 {{route_weights_c6: expected 'shared' between 1 and 7, fewer than the 8 columns of 'indices', got 8}}
  %0 = dsv4.route_weights %s[%i] shared 8 weight 1.0 outs(%out : tensor<3x8xf32>) : tensor<3x9xf32>, tensor<3x8xi32>
  return
}

// -----

func.func @route_weights_c6_zero(%s: tensor<3x9xf32>, %i: tensor<3x8xi32>, %out: tensor<3x8xf32>) {
  // expected-error @+1 {{route_weights_c6: expected 'shared' between 1 and 7, fewer than the 8 columns of 'indices', got 0}}
  %0 = dsv4.route_weights %s[%i] shared 0 weight 1.0 outs(%out : tensor<3x8xf32>) : tensor<3x9xf32>, tensor<3x8xi32>
  return
}

// -----

func.func @route_weights_c6_finite(%s: tensor<3x9xf32>, %i: tensor<3x8xi32>, %out: tensor<3x8xf32>) {
  // expected-error @+1 {{route_weights_c6: expected a finite 'weight', got 0x7F800000 : f32}}
  %0 = dsv4.route_weights %s[%i] shared 1 weight 0x7F800000 outs(%out : tensor<3x8xf32>) : tensor<3x9xf32>, tensor<3x8xi32>
  return
}

// -----

func.func @schedule_select_c5_shared(%s: tensor<3x64xf32>, %i: tensor<3x9xi32>) -> tensor<3x9xi32> {
  // expected-error @+1 {{schedule_select_c5: columns after those of the selected elements are computed by the lanes of a warp, of rows of at most 1024 elements, and at most 32 columns in all; expected 'algorithm = warp'}}
  %0 = dsv4.kernel @k(%s, %i) schedule <threads = 128, parts = [#dsv4.select<algorithm = block, vector = 1>]>
      : (tensor<3x64xf32>, tensor<3x9xi32>) -> tensor<3x9xi32> {
  ^bb0(%a: tensor<3x64xf32>, %b: tensor<3x9xi32>):
    %1 = dsv4.topk %a shared 1 outs(%b : tensor<3x9xi32>) : tensor<3x64xf32>
    dsv4.yield %1 : tensor<3x9xi32>
  }
  return %0 : tensor<3x9xi32>
}

// -----

func.func @schedule_select_c5_shared_columns(%s: tensor<3x64xf32>, %i: tensor<3x33xi32>) -> tensor<3x33xi32> {
  // expected-error @+1 {{schedule_select_c5: the lanes of a warp have at most 32 columns of a result, got 30 + 3}}
  %0 = dsv4.kernel @k(%s, %i) schedule <threads = 32, parts = [#dsv4.select<algorithm = warp, vector = 1>]>
      : (tensor<3x64xf32>, tensor<3x33xi32>) -> tensor<3x33xi32> {
  ^bb0(%a: tensor<3x64xf32>, %b: tensor<3x33xi32>):
    %1 = dsv4.topk %a shared 3 outs(%b : tensor<3x33xi32>) : tensor<3x64xf32>
    dsv4.yield %1 : tensor<3x33xi32>
  }
  return %0 : tensor<3x33xi32>
}
