// The work list of a decode step: a row for each token, which knows its request.

// RUN: dsv4-opt %s --dsv4-lower-to-cuda-pipeline -mlir-print-debuginfo \\
// RUN:   | dsv4-translate --mlir-to-cuda | FileCheck %s --strict-whitespace --match-full-lines
// NVRTC: sm_80 sm_90a sm_100a sm_120a

func.func @compress_plan(
    %position: tensor<?xi32> {dsv4.name = "position", dsv4.dims = ["tokens"]},
    %request: tensor<?xi32> {dsv4.name = "request", dsv4.dims = ["tokens"]},
    %starts: tensor<?xi32> {dsv4.name = "starts", dsv4.dims = ["starts"]},
    %slot: tensor<?xi32> {dsv4.name = "slot", dsv4.dims = ["tokens"]},
    %plan: tensor<?x4xi32> {dsv4.name = "plan", dsv4.dims = ["tokens", ""]},
    %entry_position: tensor<?xi32> {dsv4.name = "entry_position", dsv4.dims = ["tokens"]},
    %entry_slot: tensor<?xi32> {dsv4.name = "entry_slot", dsv4.dims = ["tokens"]})
    -> (tensor<?x4xi32>, tensor<?xi32>, tensor<?xi32>) {
  %0, %1, %2 = dsv4.compress_plan window 4 positions(%position : tensor<?xi32>)
      requests(%request : tensor<?xi32>) starts(%starts : tensor<?xi32>)
      slots(%slot : tensor<?xi32>)
      outs(%plan, %entry_position, %entry_slot : tensor<?x4xi32>, tensor<?xi32>, tensor<?xi32>)
  return %0, %1, %2 : tensor<?x4xi32>, tensor<?xi32>, tensor<?xi32>
}

// The whole text.
