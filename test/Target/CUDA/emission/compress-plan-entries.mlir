// The work list of a prefill: a row for each entry, whose request is looked for, and whose slot is in a
// page of the request.

// RUN: dsv4-opt %s --dsv4-lower-to-cuda-pipeline -mlir-print-debuginfo \\
// RUN:   | dsv4-translate --mlir-to-cuda | FileCheck %s --strict-whitespace --match-full-lines
// NVRTC: sm_80 sm_90a sm_100a sm_120a

func.func @compress_plan_entries(
    %length: tensor<?xi32> {dsv4.name = "length", dsv4.dims = ["requests"]},
    %starts: tensor<?xi32> {dsv4.name = "starts", dsv4.dims = ["starts"]},
    %entry_starts: tensor<?xi32> {dsv4.name = "entry_starts", dsv4.dims = ["starts"]},
    %table: tensor<?x?xi32> {dsv4.name = "table", dsv4.dims = ["requests", "max_pages"]},
    %plan: tensor<?x4xi32> {dsv4.name = "plan", dsv4.dims = ["entries", ""]},
    %entry_position: tensor<?xi32> {dsv4.name = "entry_position", dsv4.dims = ["entries"]},
    %entry_slot: tensor<?xi32> {dsv4.name = "entry_slot", dsv4.dims = ["entries"]})
    -> (tensor<?x4xi32>, tensor<?xi32>, tensor<?xi32>) {
  %0, %1, %2 = dsv4.compress_plan window 128 lengths(%length : tensor<?xi32>)
      starts(%starts : tensor<?xi32>) entry_starts(%entry_starts : tensor<?xi32>)
      pages(%table : tensor<?x?xi32>) page 64
      outs(%plan, %entry_position, %entry_slot : tensor<?x4xi32>, tensor<?xi32>, tensor<?xi32>)
  return %0, %1, %2 : tensor<?x4xi32>, tensor<?xi32>, tensor<?xi32>
}

// The whole text.
