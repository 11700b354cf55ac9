// Blocks form clusters from sm_90 on.

// RUN: not dsv4-opt %s --dsv4-outline-kernels="arch=sm_80" 2>&1 | FileCheck %s --check-prefix=SM80
// RUN: not dsv4-opt %s --dsv4-outline-kernels="arch=sm_89" 2>&1 | FileCheck %s --check-prefix=SM80
// RUN: dsv4-opt %s --dsv4-outline-kernels="arch=sm_90a" | FileCheck %s
// RUN: dsv4-opt %s --dsv4-outline-kernels="arch=sm_120a" | FileCheck %s

// A cluster for every four rows.
// CHECK: gpu.func @k
// CHECK-SAME: cuda.cluster = 2 : i64
// CHECK: dsv4.launch @k_module::@k grid ["ceildiv(arg0.0, 4) * 2", "1", "1"] block [128, 1, 1] cluster [2, 1, 1]
// CHECK-SAME: requires "arg0.0 <= 2147483644"
// SM80: error: 'dsv4.kernel' op schedule_c3: '{{sm_8[09]}}' has no clusters of blocks; expected a 'cluster' of 1
func.func @k(%o: tensor<?x8xf32>) {
  dsv4.kernel @k(%o) schedule <threads = 128, cluster = 2, parts = [#dsv4.rows<lanes = 8, vector = 8>, #dsv4.window<elements = 2, rows = 4>]>
      attributes {dsv4.rows_of = 0 : i64} : (tensor<?x8xf32>) -> () {
  ^bb0(%o1: tensor<?x8xf32>):
    %n = dsv4.row_count %o1 : tensor<?x8xf32>
  }
  return
}
