// RUN: dsv4-opt %s --dsv4-outline-kernels --split-input-file --verify-diagnostics

func.func @no_schedule(%o: tensor<?x8xf32>) {
  // expected-error @+1 {{'dsv4.kernel' op has no schedule; run dsv4-select-schedule}}
  dsv4.kernel @k(%o) : (tensor<?x8xf32>) -> () {
  ^bb0(%o1: tensor<?x8xf32>):
  }
  return
}

// -----

func.func @not_lowered(%o: tensor<?x8xf32>) {
  // expected-error @+1 {{'dsv4.kernel' op is not lowered; run convert-dsv4-to-row}}
  dsv4.kernel @k(%o) schedule <threads = 128, parts = [#dsv4.rows<lanes = 8, vector = 8>]> : (tensor<?x8xf32>) -> () {
  ^bb0(%o1: tensor<?x8xf32>):
  }
  return
}

// -----

func.func @not_an_argument(%x: tensor<?x8xf32>) {
  // expected-error @+1 {{kernel 'k' uses the result of 'arith.negf', which no kernel computes; pass it as a function argument}}
  %o = arith.negf %x : tensor<?x8xf32>
  dsv4.kernel @k(%o) schedule <threads = 128, parts = [#dsv4.rows<lanes = 8, vector = 8>]>
      attributes {dsv4.rows_of = 0 : i64} : (tensor<?x8xf32>) -> () {
  ^bb0(%o1: tensor<?x8xf32>):
    %n = dsv4.row_count %o1 : tensor<?x8xf32>
  }
  return
}

// -----

func.func @two_workspaces(%o: tensor<?x8xf32>) {
  dsv4.kernel @k(%o) schedule <threads = 128, parts = [#dsv4.rows<lanes = 8, vector = 8>]>
      attributes {dsv4.rows_of = 0 : i64} : (tensor<?x8xf32>) -> () {
  ^bb0(%o1: tensor<?x8xf32>):
    %w = dsv4.workspace 16 : memref<?xi8>
    // expected-error @+1 {{'dsv4.workspace' op is the second of its kernel, and a launch has one workspace: use the result of the first}}
    %v = dsv4.workspace 32 : memref<?xi8>
  }
  return
}

// -----

// The rows are those of a tensor whose extent no argument has.
func.func @rows_of_no_argument(%o: tensor<?x8xf32>, %c: i1, %x: tensor<?x8xf32>) {
  // expected-error @+1 {{kernel 'k' uses the result of 'arith.select', which no kernel computes; pass it as a function argument}}
  %e = arith.select %c, %o, %x : tensor<?x8xf32>
  dsv4.kernel @k(%o, %e) schedule <threads = 128, parts = [#dsv4.rows<lanes = 8, vector = 8>]>
      attributes {dsv4.rows_of = 1 : i64} : (tensor<?x8xf32>, tensor<?x8xf32>) -> () {
  ^bb0(%o1: tensor<?x8xf32>, %e1: tensor<?x8xf32>):
  }
  return
}
