// compress with the online algorithm, read back from its own text, from generic text and from
// bytecode; and that it writes its state.

// RUN: dsv4-opt %s | dsv4-opt | FileCheck %s
// RUN: dsv4-opt %s -mlir-print-op-generic | dsv4-opt | FileCheck %s
// RUN: dsv4-opt %s --emit-bytecode | dsv4-opt --allow-bytecode | FileCheck %s
// RUN: dsv4-opt %s --cse --canonicalize | FileCheck %s --check-prefix=CSE

!state = !dsv4.cache<16 x <[<"max" : 512 x f32 in row>, <"sum" : 512 x f32 in row>,
                            <"acc" : 512 x f32 in row>]>>
!arrays = !dsv4.cache<1 x <[<"a" : 1 x f32 in array>, <"b" : 1 x f32 in row>,
                            <"c" : 1 x f32 in array>]>>

// CHECK-LABEL: func.func @bias
func.func @bias(%v: tensor<?x512xf32>, %s: tensor<?x512xf32>, %p: tensor<?x5xi32>,
                %b: tensor<128x512xf32>, %c: !state, %o: tensor<?x512xbf16>) -> tensor<?x512xbf16> {
  // CHECK: %pooled = dsv4.compress %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}} window 128 algorithm online plan(%{{[a-z0-9_]+}} : tensor<?x5xi32>)
  // CHECK-SAME: bias(%{{[a-z0-9_]+}} : tensor<128x512xf32>) state(%{{[a-z0-9_]+}} : !dsv4.cache<16 x #[[STATE:[a-z0-9_]+]]>) outs(%{{[a-z0-9_]+}} : tensor<?x512xbf16>) : tensor<?x512xf32>, tensor<?x512xf32>
  %0 = dsv4.compress %v, %s window 128 algorithm online plan(%p : tensor<?x5xi32>)
      bias(%b : tensor<128x512xf32>) state(%c : !state)
      outs(%o : tensor<?x512xbf16>) : tensor<?x512xf32>, tensor<?x512xf32>
  return %0 : tensor<?x512xbf16>
}

// The other algorithm has a name too, and needs none. The values may be narrower than the state.
// CHECK-LABEL: func.func @others
func.func @others(%v: tensor<?x1xbf16>, %p: tensor<2x5xi32>, %q: tensor<2x4xi32>, %c: !arrays,
                  %o: tensor<?x1xf32>) -> (tensor<?x1xf32>, tensor<?x1xf32>) {
  // CHECK: window 1024 algorithm online plan(%{{[a-z0-9_]+}} : tensor<2x5xi32>) state(
  %0 = dsv4.compress %v, %v window 1024 algorithm online plan(%p : tensor<2x5xi32>)
      state(%c : !arrays) outs(%o : tensor<?x1xf32>) : tensor<?x1xbf16>, tensor<?x1xbf16>
  // CHECK: window 4 plan(
  %1 = dsv4.compress %v, %v window 4 algorithm windowed plan(%q : tensor<2x4xi32>)
      outs(%o : tensor<?x1xf32>) : tensor<?x1xbf16>, tensor<?x1xbf16>
  return %0, %1 : tensor<?x1xf32>, tensor<?x1xf32>
}

// Two equal ones are two, and one whose result nobody uses stays.
// CSE-LABEL: func.func @effects
func.func @effects(%v: tensor<?x512xf32>, %p: tensor<?x5xi32>, %c: !state, %o: tensor<?x512xf32>)
    -> (tensor<?x512xf32>, tensor<?x512xf32>) {
  // CSE: %[[FIRST:.*]] = dsv4.compress
  // CSE: %[[SECOND:.*]] = dsv4.compress
  // CSE: dsv4.compress
  // CSE: return %[[FIRST]], %[[SECOND]]
  %0 = dsv4.compress %v, %v window 4 algorithm online plan(%p : tensor<?x5xi32>)
      state(%c : !state) outs(%o : tensor<?x512xf32>) : tensor<?x512xf32>, tensor<?x512xf32>
  %1 = dsv4.compress %v, %v window 4 algorithm online plan(%p : tensor<?x5xi32>)
      state(%c : !state) outs(%o : tensor<?x512xf32>) : tensor<?x512xf32>, tensor<?x512xf32>
  %2 = dsv4.compress %v, %v window 4 algorithm online plan(%p : tensor<?x5xi32>)
      state(%c : !state) outs(%o : tensor<?x512xf32>) : tensor<?x512xf32>, tensor<?x512xf32>
  return %0, %1 : tensor<?x512xf32>, tensor<?x512xf32>
}
