// dsv4.compress_plan, read from text, generic text and bytecode.

// RUN: dsv4-opt %s | FileCheck %s
// RUN: dsv4-opt %s -mlir-print-op-generic | dsv4-opt | FileCheck %s
// RUN: dsv4-opt %s -emit-bytecode | dsv4-opt --allow-bytecode | FileCheck %s

// CHECK-LABEL: func.func @tokens
func.func @tokens(%position: tensor<?xi32>, %request: tensor<?xi32>, %starts: tensor<?xi32>,
                  %slot: tensor<?xi32>, %p: tensor<?x4xi32>, %o: tensor<?xi32>, %s: tensor<?xi32>) {
  // CHECK: %plan, %positions, %slots = dsv4.compress_plan window 4 positions(%{{.+}} : tensor<?xi32>) requests(%{{.+}} : tensor<?xi32>) starts(%{{.+}} : tensor<?xi32>) slots(%{{.+}} : tensor<?xi32>) outs(%{{.+}}, %{{.+}}, %{{.+}} : tensor<?x4xi32>, tensor<?xi32>, tensor<?xi32>){{ *$}}
  %0, %1, %2 = dsv4.compress_plan window 4 positions(%position : tensor<?xi32>)
      requests(%request : tensor<?xi32>) starts(%starts : tensor<?xi32>)
      slots(%slot : tensor<?xi32>)
      outs(%p, %o, %s : tensor<?x4xi32>, tensor<?xi32>, tensor<?xi32>)
  return
}

// CHECK-LABEL: func.func @state
func.func @state(%position: tensor<?xi32>, %request: tensor<?xi32>, %p: tensor<?x4xi32>) {
  // CHECK: %plan = dsv4.compress_plan window 128 positions(%{{.+}} : tensor<?xi32>) requests(%{{.+}} : tensor<?xi32>) outs(%{{.+}} : tensor<?x4xi32>){{ *$}}
  %0 = dsv4.compress_plan window 128 positions(%position : tensor<?xi32>)
      requests(%request : tensor<?xi32>) outs(%p : tensor<?x4xi32>)
  return
}

// CHECK-LABEL: func.func @entries
func.func @entries(%length: tensor<?xi32>, %starts: tensor<?xi32>, %entries: tensor<?xi32>,
                   %table: tensor<?x?xi32>, %p: tensor<?x4xi32>, %o: tensor<?xi32>,
                   %s: tensor<?xi32>) {
  // CHECK: %plan, %positions, %slots = dsv4.compress_plan window 4 lengths(%{{.+}} : tensor<?xi32>) starts(%{{.+}} : tensor<?xi32>) entry_starts(%{{.+}} : tensor<?xi32>) pages(%{{.+}} : tensor<?x?xi32>) page 64 outs(%{{.+}}, %{{.+}}, %{{.+}} : tensor<?x4xi32>, tensor<?xi32>, tensor<?xi32>){{ *$}}
  %0, %1, %2 = dsv4.compress_plan window 4 lengths(%length : tensor<?xi32>)
      starts(%starts : tensor<?xi32>) entry_starts(%entries : tensor<?xi32>)
      pages(%table : tensor<?x?xi32>) page 64
      outs(%p, %o, %s : tensor<?x4xi32>, tensor<?xi32>, tensor<?xi32>)
  return
}

// CHECK-LABEL: func.func @segments
func.func @segments(%length: tensor<?xi32>, %starts: tensor<?xi32>, %first: tensor<?xi32>,
                    %from: tensor<?xi64>, %to: tensor<?xi32>, %p: tensor<?x5xi32>) {
  // CHECK: %plan = dsv4.compress_plan window 128 algorithm online lengths(%{{.+}} : tensor<?xi32>) starts(%{{.+}} : tensor<?xi32>) entry_starts(%{{.+}} : tensor<?xi32>) from(%{{.+}} : tensor<?xi64>) to(%{{.+}} : tensor<?xi32>) outs(%{{.+}} : tensor<?x5xi32>){{ *$}}
  %0 = dsv4.compress_plan window 128 algorithm online lengths(%length : tensor<?xi32>)
      starts(%starts : tensor<?xi32>) entry_starts(%first : tensor<?xi32>)
      from(%from : tensor<?xi64>) to(%to : tensor<?xi32>) outs(%p : tensor<?x5xi32>)
  return
}
