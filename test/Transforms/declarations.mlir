// Passes on functions leave declarations alone.

// RUN: dsv4-opt %s --dsv4-specialize | FileCheck %s
// RUN: dsv4-opt %s --dsv4-form-kernels | FileCheck %s
// RUN: dsv4-opt %s --dsv4-select-schedule | FileCheck %s
// RUN: dsv4-opt %s --convert-dsv4-to-row | FileCheck %s
// RUN: dsv4-opt %s --dsv4-distribute-rows | FileCheck %s
// RUN: dsv4-opt %s --dsv4-outline-kernels | FileCheck %s
// RUN: dsv4-opt %s --dsv4-lower-to-cuda-pipeline | FileCheck %s

// CHECK: func.func private @append(!dsv4.cache<64 x #v4_584>, tensor<?xi32> {dsv4.dims = ["tokens"]})
func.func private @append(!dsv4.cache<64 x <v4_584>>, tensor<?xi32> {dsv4.dims = ["tokens"]})
