// RUN: dsv4-opt %s --convert-dsv4-to-row --split-input-file --verify-diagnostics

func.func @other_op(%o: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %0 = dsv4.kernel @k(%o) : (tensor<?x8xf32>) -> tensor<?x8xf32> {
  ^bb0(%o1: tensor<?x8xf32>):
    // expected-error @+1 {{'arith.negf' op has no row lowering: implement RowLoweringInterface, or attach a model of it as the files in RowLowerings.h do}}
    %r = arith.negf %o1 : tensor<?x8xf32>
    dsv4.yield %r : tensor<?x8xf32>
  }
  return %0 : tensor<?x8xf32>
}

// -----

func.func @nothing(%o: tensor<?x8xf32>) {
  // expected-error @+1 {{'dsv4.kernel' op holds no row-wise op}}
  dsv4.kernel @k(%o) : (tensor<?x8xf32>) -> () {
  ^bb0(%o1: tensor<?x8xf32>):
  }
  return
}
