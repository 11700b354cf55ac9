// One case for every way to violate a clause of compress_plan.

// RUN: dsv4-opt %s --split-input-file --verify-diagnostics

func.func @compress_plan_c1(%positions: tensor<?xi32>, %requests: tensor<?xi32>, %starts: tensor<?xi32>, %p: tensor<?x4xi32>) {
  // expected-error @+1 {{compress_plan_c1: expected a 'window' between 1 and 1024, got 0}}
  %0 = dsv4.compress_plan window 0 positions(%positions : tensor<?xi32>) requests(%requests : tensor<?xi32>) starts(%starts : tensor<?xi32>)
      outs(%p : tensor<?x4xi32>)
  return
}

// -----

func.func @compress_plan_c1_large(%positions: tensor<?xi32>, %requests: tensor<?xi32>, %starts: tensor<?xi32>, %p: tensor<?x4xi32>) {
  // expected-error @+1 {{compress_plan_c1: expected a 'window' between 1 and 1024, got 1025}}
  %0 = dsv4.compress_plan window 1025 positions(%positions : tensor<?xi32>) requests(%requests : tensor<?xi32>) starts(%starts : tensor<?xi32>)
      outs(%p : tensor<?x4xi32>)
  return
}

// -----

func.func @compress_plan_c2_both(%positions: tensor<?xi32>, %lengths: tensor<?xi32>, %requests: tensor<?xi32>, %starts: tensor<?xi32>, %p: tensor<?x4xi32>) {
  // expected-error @+1 {{compress_plan_c2: expected either 'positions' of tokens or 'lengths' of requests, got both}}
  %0 = dsv4.compress_plan window 4 positions(%positions : tensor<?xi32>) lengths(%lengths : tensor<?xi32>) requests(%requests : tensor<?xi32>) starts(%starts : tensor<?xi32>)
      outs(%p : tensor<?x4xi32>)
  return
}

// -----

func.func @compress_plan_c2_neither(%requests: tensor<?xi32>, %starts: tensor<?xi32>, %p: tensor<?x4xi32>) {
  // expected-error @+1 {{compress_plan_c2: expected either 'positions' of tokens or 'lengths' of requests, got neither}}
  %0 = dsv4.compress_plan window 4 requests(%requests : tensor<?xi32>) starts(%starts : tensor<?xi32>)
      outs(%p : tensor<?x4xi32>)
  return
}

// -----

func.func @compress_plan_c2_positions(%positions: tensor<?x1xi32>, %requests: tensor<?xi32>, %starts: tensor<?xi32>, %p: tensor<?x4xi32>) {
  // expected-error @+1 {{compress_plan_c2: expected 'positions' of shape [tokens], got 'tensor<?x1xi32>'}}
  %0 = dsv4.compress_plan window 4 positions(%positions : tensor<?x1xi32>) requests(%requests : tensor<?xi32>) starts(%starts : tensor<?xi32>)
      outs(%p : tensor<?x4xi32>)
  return
}

// -----

func.func @compress_plan_c2_lengths(%lengths: tensor<i32>, %starts: tensor<?xi32>, %p: tensor<?x4xi32>) {
  // expected-error @+1 {{compress_plan_c2: expected 'lengths' of shape [requests], got 'tensor<i32>'}}
  %0 = dsv4.compress_plan window 4 lengths(%lengths : tensor<i32>) starts(%starts : tensor<?xi32>)
      outs(%p : tensor<?x4xi32>)
  return
}

// -----

func.func @compress_plan_c2_type(%positions: tensor<?xf32>, %requests: tensor<?xi32>, %starts: tensor<?xi32>, %p: tensor<?x4xi32>) {
  // expected-error @+1 {{operand #0 must be 'positions', a tensor of 32-bit signless integer or 64-bit signless integer values, but got 'tensor<?xf32>'}}
  %0 = dsv4.compress_plan window 4 positions(%positions : tensor<?xf32>) requests(%requests : tensor<?xi32>) starts(%starts : tensor<?xi32>)
      outs(%p : tensor<?x4xi32>)
  return
}

// -----

func.func @compress_plan_c3_requests(%positions: tensor<?xi32>, %p: tensor<?x4xi32>) {
  // expected-error @+1 {{compress_plan_c3: expected 'starts', the first token of each request: only 'positions' with 'requests' do without}}
  %0 = dsv4.compress_plan window 4 positions(%positions : tensor<?xi32>)
      outs(%p : tensor<?x4xi32>)
  return
}

// -----

func.func @compress_plan_c3_lengths(%lengths: tensor<?xi32>, %requests: tensor<?xi32>, %p: tensor<?x4xi32>) {
  // expected-error @+1 {{compress_plan_c3: expected 'starts', the first token of each request: only 'positions' with 'requests' do without}}
  %0 = dsv4.compress_plan window 4 lengths(%lengths : tensor<?xi32>) requests(%requests : tensor<?xi32>)
      outs(%p : tensor<?x4xi32>)
  return
}

// -----

func.func @compress_plan_c3_entries(%positions: tensor<?xi32>, %requests: tensor<?xi32>, %entry_starts: tensor<?xi32>, %p: tensor<?x4xi32>) {
  // expected-error @+1 {{compress_plan_c3: expected 'starts', the first token of each request: only 'positions' with 'requests' do without}}
  %0 = dsv4.compress_plan window 4 positions(%positions : tensor<?xi32>) requests(%requests : tensor<?xi32>) entry_starts(%entry_starts : tensor<?xi32>)
      outs(%p : tensor<?x4xi32>)
  return
}

// -----

func.func @compress_plan_c3_rank(%positions: tensor<?xi32>, %requests: tensor<?xi32>, %starts: tensor<?x2xi32>, %p: tensor<?x4xi32>) {
  // expected-error @+1 {{compress_plan_c3: expected 'starts' of shape [requests + 1], got 'tensor<?x2xi32>'}}
  %0 = dsv4.compress_plan window 4 positions(%positions : tensor<?xi32>) requests(%requests : tensor<?xi32>) starts(%starts : tensor<?x2xi32>)
      outs(%p : tensor<?x4xi32>)
  return
}

// -----

func.func @compress_plan_c4_entries(%positions: tensor<?xi32>, %requests: tensor<?xi32>, %starts: tensor<?xi32>, %entry_starts: tensor<?xi32>, %p: tensor<?x4xi32>) {
  // expected-error @+1 {{compress_plan_c4: the request of an entry follows from 'entry_starts': remove 'requests'}}
  %0 = dsv4.compress_plan window 4 positions(%positions : tensor<?xi32>) requests(%requests : tensor<?xi32>) starts(%starts : tensor<?xi32>) entry_starts(%entry_starts : tensor<?xi32>)
      outs(%p : tensor<?x4xi32>)
  return
}

// -----

func.func @compress_plan_c4_rank(%positions: tensor<?xi32>, %requests: tensor<?x2xi32>, %starts: tensor<?xi32>, %p: tensor<?x4xi32>) {
  // expected-error @+1 {{compress_plan_c4: expected 'requests' of shape [tokens], got 'tensor<?x2xi32>'}}
  %0 = dsv4.compress_plan window 4 positions(%positions : tensor<?xi32>) requests(%requests : tensor<?x2xi32>) starts(%starts : tensor<?xi32>)
      outs(%p : tensor<?x4xi32>)
  return
}

// -----

func.func @compress_plan_c5(%positions: tensor<?xi32>, %starts: tensor<?xi32>, %entry_starts: tensor<?x2xi32>, %p: tensor<?x4xi32>) {
  // expected-error @+1 {{compress_plan_c5: expected 'entry_starts' of shape [requests + 1], got 'tensor<?x2xi32>'}}
  %0 = dsv4.compress_plan window 4 positions(%positions : tensor<?xi32>) starts(%starts : tensor<?xi32>) entry_starts(%entry_starts : tensor<?x2xi32>)
      outs(%p : tensor<?x4xi32>)
  return
}

// -----

func.func @compress_plan_c6_both(%positions: tensor<?xi32>, %starts: tensor<?xi32>, %slots: tensor<?xi32>, %pages: tensor<?x?xi32>, %p: tensor<?x4xi32>, %o: tensor<?xi32>, %s: tensor<?xi32>) {
  // expected-error @+1 {{compress_plan_c6: slots are those of 'slots' or of 'pages': remove one of them}}
  %0, %1, %2 = dsv4.compress_plan window 4 positions(%positions : tensor<?xi32>) starts(%starts : tensor<?xi32>) slots(%slots : tensor<?xi32>) pages(%pages : tensor<?x?xi32>) page 64
      outs(%p, %o, %s : tensor<?x4xi32>, tensor<?xi32>, tensor<?xi32>)
  return
}

// -----

func.func @compress_plan_c6_no_page(%positions: tensor<?xi32>, %starts: tensor<?xi32>, %pages: tensor<?x?xi32>, %p: tensor<?x4xi32>, %o: tensor<?xi32>, %s: tensor<?xi32>) {
  // expected-error @+1 {{compress_plan_c6: expected 'page', the slots of a page, with 'pages' and not without, got 'pages' alone}}
  %0, %1, %2 = dsv4.compress_plan window 4 positions(%positions : tensor<?xi32>) starts(%starts : tensor<?xi32>) pages(%pages : tensor<?x?xi32>)
      outs(%p, %o, %s : tensor<?x4xi32>, tensor<?xi32>, tensor<?xi32>)
  return
}

// -----

func.func @compress_plan_c6_page_alone(%positions: tensor<?xi32>, %starts: tensor<?xi32>, %p: tensor<?x4xi32>) {
  // expected-error @+1 {{compress_plan_c6: expected 'page', the slots of a page, with 'pages' and not without, got 'page' alone}}
  %0 = dsv4.compress_plan window 4 positions(%positions : tensor<?xi32>) starts(%starts : tensor<?xi32>) page 64
      outs(%p : tensor<?x4xi32>)
  return
}

// -----

func.func @compress_plan_c6_page(%positions: tensor<?xi32>, %starts: tensor<?xi32>, %pages: tensor<?x?xi32>, %p: tensor<?x4xi32>, %o: tensor<?xi32>, %s: tensor<?xi32>) {
  // expected-error @+1 {{compress_plan_c6: expected 'page' between 1 and 2^31 - 1, got 0}}
  %0, %1, %2 = dsv4.compress_plan window 4 positions(%positions : tensor<?xi32>) starts(%starts : tensor<?xi32>) pages(%pages : tensor<?x?xi32>) page 0
      outs(%p, %o, %s : tensor<?x4xi32>, tensor<?xi32>, tensor<?xi32>)
  return
}

// -----

func.func @compress_plan_c6_slots(%positions: tensor<?xi32>, %starts: tensor<?xi32>, %slots: tensor<?x2xi32>, %p: tensor<?x4xi32>, %o: tensor<?xi32>, %s: tensor<?xi32>) {
  // expected-error @+1 {{compress_plan_c6: expected 'slots' of shape [tokens], got 'tensor<?x2xi32>'}}
  %0, %1, %2 = dsv4.compress_plan window 4 positions(%positions : tensor<?xi32>) starts(%starts : tensor<?xi32>) slots(%slots : tensor<?x2xi32>)
      outs(%p, %o, %s : tensor<?x4xi32>, tensor<?xi32>, tensor<?xi32>)
  return
}

// -----

func.func @compress_plan_c6_pages(%positions: tensor<?xi32>, %starts: tensor<?xi32>, %pages: tensor<?xi32>, %p: tensor<?x4xi32>, %o: tensor<?xi32>, %s: tensor<?xi32>) {
  // expected-error @+1 {{compress_plan_c6: expected 'pages' of shape [requests, pages], got 'tensor<?xi32>'}}
  %0, %1, %2 = dsv4.compress_plan window 4 positions(%positions : tensor<?xi32>) starts(%starts : tensor<?xi32>) pages(%pages : tensor<?xi32>) page 64
      outs(%p, %o, %s : tensor<?x4xi32>, tensor<?xi32>, tensor<?xi32>)
  return
}

// -----

func.func @compress_plan_c7_slots(%positions: tensor<?xi32>, %starts: tensor<?xi32>, %slots: tensor<?xi32>, %p: tensor<?x4xi32>, %o: tensor<?xi32>) {
  // expected-error @+1 {{compress_plan_c7: expected three 'outs', plan, positions and slots, got 2}}
  %0, %1 = dsv4.compress_plan window 4 positions(%positions : tensor<?xi32>) starts(%starts : tensor<?xi32>) slots(%slots : tensor<?xi32>)
      outs(%p, %o : tensor<?x4xi32>, tensor<?xi32>)
  return
}

// -----

func.func @compress_plan_c7_many(%positions: tensor<?xi32>, %requests: tensor<?xi32>, %starts: tensor<?xi32>, %p: tensor<?x4xi32>, %o: tensor<?xi32>, %s: tensor<?xi32>) {
  // expected-error @+1 {{compress_plan_c7: expected one or two 'outs', a plan and positions, got 3}}
  %0, %1, %2 = dsv4.compress_plan window 4 positions(%positions : tensor<?xi32>) requests(%requests : tensor<?xi32>) starts(%starts : tensor<?xi32>)
      outs(%p, %o, %s : tensor<?x4xi32>, tensor<?xi32>, tensor<?xi32>)
  return
}

// -----

func.func @compress_plan_c7_plan(%positions: tensor<?xi32>, %requests: tensor<?xi32>, %starts: tensor<?xi32>, %p: tensor<?x5xi32>) {
  // expected-error @+1 {{compress_plan_c7: expected the plan in 'outs' of shape [?, 4], got 'tensor<?x5xi32>'}}
  %0 = dsv4.compress_plan window 4 positions(%positions : tensor<?xi32>) requests(%requests : tensor<?xi32>) starts(%starts : tensor<?xi32>)
      outs(%p : tensor<?x5xi32>)
  return
}

// -----

func.func @compress_plan_c7_columns(%positions: tensor<?xi32>, %requests: tensor<?xi32>, %starts: tensor<?xi32>, %p: tensor<?x?xi32>) {
  // expected-error @+1 {{compress_plan_c7: expected the plan in 'outs' of shape [?, 4], got 'tensor<?x?xi32>'}}
  %0 = dsv4.compress_plan window 4 positions(%positions : tensor<?xi32>) requests(%requests : tensor<?xi32>) starts(%starts : tensor<?xi32>)
      outs(%p : tensor<?x?xi32>)
  return
}

// -----

func.func @compress_plan_c7_tokens(%positions: tensor<7xi32>, %requests: tensor<?xi32>, %starts: tensor<?xi32>, %p: tensor<8x4xi32>) {
  // expected-error @+1 {{compress_plan_c7: expected the plan in 'outs' of shape [7, 4], got 'tensor<8x4xi32>'}}
  %0 = dsv4.compress_plan window 4 positions(%positions : tensor<7xi32>) requests(%requests : tensor<?xi32>) starts(%starts : tensor<?xi32>)
      outs(%p : tensor<8x4xi32>)
  return
}

// -----

func.func @compress_plan_c7_positions(%positions: tensor<?xi32>, %requests: tensor<?xi32>, %starts: tensor<?xi32>, %p: tensor<8x4xi32>, %o: tensor<7xi32>) {
  // expected-error @+1 {{compress_plan_c7: expected the positions in 'outs' of shape [8], got 'tensor<7xi32>'}}
  %0, %1 = dsv4.compress_plan window 4 positions(%positions : tensor<?xi32>) requests(%requests : tensor<?xi32>) starts(%starts : tensor<?xi32>)
      outs(%p, %o : tensor<8x4xi32>, tensor<7xi32>)
  return
}

// -----

func.func @compress_plan_c7_type(%positions: tensor<?xi32>, %requests: tensor<?xi32>, %starts: tensor<?xi32>, %p: tensor<?x4xi64>) {
  // expected-error @+1 {{must be variadic of 'outs', a tensor of 32-bit signless integer values, but got 'tensor<?x4xi64>'}}
  %0 = dsv4.compress_plan window 4 positions(%positions : tensor<?xi32>) requests(%requests : tensor<?xi32>) starts(%starts : tensor<?xi32>)
      outs(%p : tensor<?x4xi64>)
  return
}

// -----

func.func @compress_plan_c7_online(%l: tensor<?xi32>, %starts: tensor<?xi32>, %p: tensor<?x4xi32>) {
  // expected-error @+1 {{compress_plan_c7: expected the plan in 'outs' of shape [?, 5], got 'tensor<?x4xi32>'}}
  %0 = dsv4.compress_plan window 4 algorithm online lengths(%l : tensor<?xi32>) starts(%starts : tensor<?xi32>)
      from(%l : tensor<?xi32>) to(%l : tensor<?xi32>) outs(%p : tensor<?x4xi32>)
  return
}

// -----

func.func @compress_plan_c8_from(%l: tensor<?xi32>, %starts: tensor<?xi32>, %p: tensor<?x4xi32>) {
  // expected-error @+1 {{compress_plan_c8: 'from' names entries of the state of 'algorithm online': add it or remove 'from'}}
  %0 = dsv4.compress_plan window 4 lengths(%l : tensor<?xi32>) starts(%starts : tensor<?xi32>)
      from(%l : tensor<?xi32>) outs(%p : tensor<?x4xi32>)
  return
}

// -----

func.func @compress_plan_c8_to(%l: tensor<?xi32>, %starts: tensor<?xi32>, %p: tensor<?x4xi32>) {
  // expected-error @+1 {{compress_plan_c8: 'to' names entries of the state of 'algorithm online': add it or remove 'to'}}
  %0 = dsv4.compress_plan window 4 lengths(%l : tensor<?xi32>) starts(%starts : tensor<?xi32>)
      to(%l : tensor<?xi32>) outs(%p : tensor<?x4xi32>)
  return
}

// -----

func.func @compress_plan_c8_neither(%l: tensor<?xi32>, %starts: tensor<?xi32>, %p: tensor<?x5xi32>) {
  // expected-error @+1 {{compress_plan_c8: expected 'from' and 'to', the entries of the state of each request, with 'algorithm online'}}
  %0 = dsv4.compress_plan window 4 algorithm online lengths(%l : tensor<?xi32>) starts(%starts : tensor<?xi32>)
      to(%l : tensor<?xi32>) outs(%p : tensor<?x5xi32>)
  return
}

// -----

func.func @compress_plan_c8_starts(%l: tensor<?xi32>, %p: tensor<?x5xi32>) {
  // expected-error @+1 {{compress_plan_c8: segments are tokens of the launch: expected 'starts' with 'algorithm online'}}
  %0 = dsv4.compress_plan window 4 algorithm online positions(%l : tensor<?xi32>) requests(%l : tensor<?xi32>)
      from(%l : tensor<?xi32>) to(%l : tensor<?xi32>) outs(%p : tensor<?x5xi32>)
  return
}

// -----

func.func @compress_plan_c8_shape(%l: tensor<?xi32>, %f: tensor<?x1xi32>, %starts: tensor<?xi32>, %p: tensor<?x5xi32>) {
  // expected-error @+1 {{compress_plan_c8: expected 'from' of shape [requests], got 'tensor<?x1xi32>'}}
  %0 = dsv4.compress_plan window 4 algorithm online lengths(%l : tensor<?xi32>) starts(%starts : tensor<?xi32>)
      from(%f : tensor<?x1xi32>) to(%l : tensor<?xi32>) outs(%p : tensor<?x5xi32>)
  return
}
