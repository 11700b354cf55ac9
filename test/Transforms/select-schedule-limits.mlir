// What an op means is not limited by hardware; what no schedule can do is an error of its kernel.

// RUN: dsv4-opt %s --dsv4-form-kernels --dsv4-select-schedule -split-input-file -verify-diagnostics

func.func @wide_windows(%v: tensor<?x8200xf32>, %p: tensor<?x4xi32>, %o: tensor<?x8200xbf16>) -> tensor<?x8200xbf16> {
  // expected-error @+1 {{no schedule of the table fits: schedule_window_c4: a block reduces windows of rows of at most 8192 elements, got 8200}}
  %0 = dsv4.compress %v, %v window 4 plan(%p : tensor<?x4xi32>)
      outs(%o : tensor<?x8200xbf16>) : tensor<?x8200xf32>, tensor<?x8200xf32>
  return %0 : tensor<?x8200xbf16>
}

// -----

// The cause, not that groups of five FP4 values fit no lanes: one lane would have them.
func.func @wide_windows_of_fp4(%v: tensor<?x8200xf32>, %p: tensor<?x4xi32>, %o: tensor<?x8200xbf16>,
                               %q: tensor<?x8200xf4E2M1FN>, %s: tensor<?x1640xf8E4M3FN>)
    -> (tensor<?x8200xf4E2M1FN>, tensor<?x1640xf8E4M3FN>) {
  %0 = dsv4.compress %v, %v window 4 plan(%p : tensor<?x4xi32>)
      outs(%o : tensor<?x8200xbf16>) : tensor<?x8200xf32>, tensor<?x8200xf32>
  // expected-error @+1 {{no schedule of the table fits: schedule_window_c4: a block reduces windows of rows of at most 8192 elements, got 8200}}
  %1:2 = dsv4.quantize %0 outs(%q, %s : tensor<?x8200xf4E2M1FN>, tensor<?x1640xf8E4M3FN>)
      {format = #dsv4.format<f4E2M1FN, [<f8E4M3FN per 5>]>, recipe = #dsv4.quantizer<>} : tensor<?x8200xbf16>
  return %1#0, %1#1 : tensor<?x8200xf4E2M1FN>, tensor<?x1640xf8E4M3FN>
}

// -----

func.func @groups_of_long_rows(%s: tensor<?x2048xf32>, %i: tensor<?x8xi32>) -> tensor<?x8xi32> {
  // expected-error @+1 {{no schedule of the table fits: schedule_select_c5: groups of a row are chosen by the lanes of a warp, of at most 1024 elements in at most 32 groups, and for a k of at most 32; got rows of 2048 elements}}
  %0 = dsv4.topk %s groups 8 keep 4 by 2 outs(%i : tensor<?x8xi32>) : tensor<?x2048xf32>
  return %0 : tensor<?x8xi32>
}

// -----

func.func @groups_of_large_k(%s: tensor<?x256xf32>, %i: tensor<?x33xi32>) -> tensor<?x33xi32> {
  // expected-error @+1 {{no schedule of the table fits: schedule_select_c5: groups of a row are chosen by the lanes of a warp, of at most 1024 elements in at most 32 groups, and for a k of at most 32; got a k of 33}}
  %0 = dsv4.topk %s groups 8 keep 4 by 2 outs(%i : tensor<?x33xi32>) : tensor<?x256xf32>
  return %0 : tensor<?x33xi32>
}

// -----

func.func @many_groups(%s: tensor<?x256xf32>, %i: tensor<?x8xi32>) -> tensor<?x8xi32> {
  // expected-error @+1 {{no schedule of the table fits: schedule_select_c5: a warp chooses from at most 32 groups, got 64}}
  %0 = dsv4.topk %s groups 64 keep 4 by 2 outs(%i : tensor<?x8xi32>) : tensor<?x256xf32>
  return %0 : tensor<?x8xi32>
}

// -----

func.func @shared_of_many_columns(%s: tensor<?x256xf32>, %i: tensor<?x40xi32>) -> tensor<?x40xi32> {
  // expected-error @+1 {{no schedule of the table fits: schedule_select_c5: the lanes of a warp have at most 32 columns of a result, got 32 + 8}}
  %0 = dsv4.topk %s shared 8 outs(%i : tensor<?x40xi32>) : tensor<?x256xf32>
  return %0 : tensor<?x40xi32>
}

// -----

func.func @shared_of_long_rows(%s: tensor<?x1025xf32>, %i: tensor<?x9xi32>) -> tensor<?x9xi32> {
  // expected-error @+1 {{no schedule of the table fits: schedule_select_c5: columns after those of the selected elements are computed by the lanes of a warp, of rows of at most 1024 elements, and at most 32 columns in all; got rows of 1025 elements}}
  %0 = dsv4.topk %s shared 1 outs(%i : tensor<?x9xi32>) : tensor<?x1025xf32>
  return %0 : tensor<?x9xi32>
}

// -----

func.func @many_groups(%s: tensor<?x256xf32>, %i: tensor<?x8xi32>) -> tensor<?x8xi32> {
  // expected-error @+1 {{no schedule of the table fits: schedule_select_c5: a warp chooses from at most 32 groups, got 64}}
  %0 = dsv4.topk %s groups 64 keep 32 by 1 outs(%i : tensor<?x8xi32>) : tensor<?x256xf32>
  return %0 : tensor<?x8xi32>
}
