// A kernel keeps the schedule that it carries, which is verified against its ops when it is read, and against the
// architecture when schedules are selected: the error names the clause and the op.

// RUN: dsv4-opt %s --dsv4-select-schedule=arch=sm_80 --split-input-file --verify-diagnostics

// It is not the table's.
func.func @kept(%x: tensor<?x512xbf16>, %o: tensor<?x512xbf16>) -> tensor<?x512xbf16> {
  %0 = dsv4.kernel @k(%x, %o) schedule <threads = 96, parts = [#dsv4.rows<lanes = 2, vector = 4>]>
      : (tensor<?x512xbf16>, tensor<?x512xbf16>) -> tensor<?x512xbf16> {
  ^bb0(%a: tensor<?x512xbf16>, %b: tensor<?x512xbf16>):
    %1 = dsv4.rms_norm %a outs(%b : tensor<?x512xbf16>) {eps = 1.0e-06 : f32} : tensor<?x512xbf16>
    dsv4.yield %1 : tensor<?x512xbf16>
  }
  return %0 : tensor<?x512xbf16>
}

// -----

func.func @schedule_c3(%s: tensor<?x64xf32>, %i: tensor<?x8xi32>) -> tensor<?x8xi32> {
  // expected-error @+1 {{'dsv4.kernel' op schedule_c3: 'sm_80' has no clusters of blocks; expected a 'cluster' of 1}}
  %0 = dsv4.kernel @k(%s, %i) schedule <threads = 128, cluster = 2, parts = [#dsv4.select<algorithm = stream, vector = 4>]>
      : (tensor<?x64xf32>, tensor<?x8xi32>) -> tensor<?x8xi32> {
  ^bb0(%a: tensor<?x64xf32>, %b: tensor<?x8xi32>):
    %1 = dsv4.topk %a outs(%b : tensor<?x8xi32>) : tensor<?x64xf32>
    dsv4.yield %1 : tensor<?x8xi32>
  }
  return %0 : tensor<?x8xi32>
}

// -----

func.func @schedule_rows_c3(%x: tensor<?x500xbf16>, %o: tensor<?x500xbf16>) -> tensor<?x500xbf16> {
  // expected-error @+1 {{'dsv4.kernel' op schedule_rows_c3: vector = 8 does not divide the 500 elements of a field of 'dsv4.rms_norm'; expected one that does}}
  %0 = dsv4.kernel @k(%x, %o) schedule <threads = 128, parts = [#dsv4.rows<lanes = 8, vector = 8>]>
      : (tensor<?x500xbf16>, tensor<?x500xbf16>) -> tensor<?x500xbf16> {
  ^bb0(%a: tensor<?x500xbf16>, %b: tensor<?x500xbf16>):
    %1 = dsv4.rms_norm %a outs(%b : tensor<?x500xbf16>) {eps = 1.0e-06 : f32} : tensor<?x500xbf16>
    dsv4.yield %1 : tensor<?x500xbf16>
  }
  return %0 : tensor<?x500xbf16>
}

// -----

func.func @schedule_c5(%s: tensor<?x64xf32>, %i: tensor<?x8xi32>) -> tensor<?x8xi32> {
  // expected-error @+1 {{'dsv4.kernel' op schedule_c5: 'dsv4.topk' needs a part #dsv4.select<...>, which the schedule does not have}}
  %0 = dsv4.kernel @k(%s, %i) schedule <threads = 128, parts = [#dsv4.rows<lanes = 8, vector = 8>]>
      : (tensor<?x64xf32>, tensor<?x8xi32>) -> tensor<?x8xi32> {
  ^bb0(%a: tensor<?x64xf32>, %b: tensor<?x8xi32>):
    %1 = dsv4.topk %a outs(%b : tensor<?x8xi32>) : tensor<?x64xf32>
    dsv4.yield %1 : tensor<?x8xi32>
  }
  return %0 : tensor<?x8xi32>
}

// -----

func.func @schedule_select_c6(%s: tensor<?x4128xf32>, %i: tensor<?x8xi32>) -> tensor<?x8xi32> {
  // expected-error @+1 {{'dsv4.kernel' op schedule_select_c6: with 'algorithm = block' 1 x 128 threads have a row in registers, 4096 elements at most, and it can have 4128; expected more 'threads', a larger 'cluster', 'algorithm = stream', or columns that are known to be fewer (constant, or by policy 'bucket') (of 'dsv4.topk')}}
  %0 = dsv4.kernel @k(%s, %i) schedule <threads = 128, parts = [#dsv4.select<algorithm = block, vector = 4>]>
      : (tensor<?x4128xf32>, tensor<?x8xi32>) -> tensor<?x8xi32> {
  ^bb0(%a: tensor<?x4128xf32>, %b: tensor<?x8xi32>):
    %1 = dsv4.topk %a outs(%b : tensor<?x8xi32>) : tensor<?x4128xf32>
    dsv4.yield %1 : tensor<?x8xi32>
  }
  return %0 : tensor<?x8xi32>
}
