// compress with all of its optional parts, read back from its own text, from
// generic text and from bytecode; and what it reads.

// RUN: dsv4-opt %s | dsv4-opt | FileCheck %s
// RUN: dsv4-opt %s -mlir-print-op-generic | dsv4-opt | FileCheck %s
// RUN: dsv4-opt %s --emit-bytecode | dsv4-opt --allow-bytecode | FileCheck %s
// RUN: dsv4-opt %s --cse | FileCheck %s --check-prefix=CSE

!state = !dsv4.cache<8 x <[<"values" : 1024 x f32 in row>, <"scores" : 1024 x f32 in row>]>>

// CHECK-LABEL: func.func @launch
func.func @launch(%v: tensor<?x512xbf16>, %s: tensor<?x512xbf16>, %p: tensor<?x4xi32>,
                  %o: tensor<?x512xbf16>) -> tensor<?x512xbf16> {
  // CHECK: %pooled = dsv4.compress %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}} window 128 plan(%{{[a-z0-9_]+}} : tensor<?x4xi32>) outs(%{{[a-z0-9_]+}} : tensor<?x512xbf16>) : tensor<?x512xbf16>, tensor<?x512xbf16>
  // CHECK: return %pooled : tensor<?x512xbf16>
  %0 = dsv4.compress %v, %s window 128 plan(%p : tensor<?x4xi32>)
      outs(%o : tensor<?x512xbf16>) : tensor<?x512xbf16>, tensor<?x512xbf16>
  return %0 : tensor<?x512xbf16>
}

// CHECK-LABEL: func.func @ring
func.func @ring(%v: tensor<?x1024xf32>, %s: tensor<?x1024xf32>, %p: tensor<?x4xi32>,
                %b: tensor<4x1024xf32>, %c: !state, %o: tensor<?x512xf32>) -> tensor<?x512xf32> {
  // CHECK: %pooled = dsv4.compress %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}} window 4 overlap plan(%{{[a-z0-9_]+}} : tensor<?x4xi32>)
  // CHECK-SAME: bias(%{{[a-z0-9_]+}} : tensor<4x1024xf32>) state(%{{[a-z0-9_]+}} : !dsv4.cache<8 x #[[STATE:[a-z0-9_]+]]>) ring 8 outs(%{{[a-z0-9_]+}} : tensor<?x512xf32>) : tensor<?x1024xf32>, tensor<?x1024xf32>
  %0 = dsv4.compress %v, %s window 4 overlap plan(%p : tensor<?x4xi32>)
      bias(%b : tensor<4x1024xf32>) state(%c : !state) ring 8
      outs(%o : tensor<?x512xf32>) : tensor<?x1024xf32>, tensor<?x1024xf32>
  return %0 : tensor<?x512xf32>
}

// CHECK-LABEL: func.func @pages
func.func @pages(%v: tensor<?x1024xf32>, %s: tensor<?x1024xf32>, %p: tensor<?x4xi32>,
                 %c: !state, %t: tensor<?x?xi32>, %o: tensor<?x512xbf16>)
    -> (tensor<?x512xbf16>, tensor<?x512xbf16>) {
  // CHECK: %pooled = dsv4.compress %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}} window 4 overlap plan(%{{[a-z0-9_]+}} : tensor<?x4xi32>)
  // CHECK-SAME: state(%{{[a-z0-9_]+}} : !dsv4.cache<8 x #[[STATE]]>) biased pages(%{{[a-z0-9_]+}} : tensor<?x?xi32>) outs(%{{[a-z0-9_]+}} : tensor<?x512xbf16>) : tensor<?x1024xf32>, tensor<?x1024xf32>
  %0 = dsv4.compress %v, %s window 4 overlap plan(%p : tensor<?x4xi32>)
      state(%c : !state) biased pages(%t : tensor<?x?xi32>)
      outs(%o : tensor<?x512xbf16>) : tensor<?x1024xf32>, tensor<?x1024xf32>
  // CHECK: %pooled_0 = dsv4.compress
  // CHECK-SAME: ring 16 biased pages(%{{[a-z0-9_]+}} : tensor<?x?xi32>) outs(
  %1 = dsv4.compress %v, %s window 4 overlap plan(%p : tensor<?x4xi32>)
      state(%c : !state) ring 16 biased pages(%t : tensor<?x?xi32>)
      outs(%o : tensor<?x512xbf16>) : tensor<?x1024xf32>, tensor<?x1024xf32>
  return %0, %1 : tensor<?x512xbf16>, tensor<?x512xbf16>
}

// The least and the most that clauses allow.
// CHECK-LABEL: func.func @bounds
func.func @bounds(%v: tensor<3x1xbf16>, %s: tensor<?x1xbf16>, %p: tensor<2x4xi32>,
                  %o: tensor<?x1xf32>, %w: tensor<?x16384xbf16>, %x: tensor<?x16384xbf16>,
                  %h: tensor<?x8192xbf16>, %b: tensor<1024x1xf32>,
                  %c: !dsv4.cache<7 x <[<"v" : 1 x bf16 in array>, <"s" : 1 x bf16 in array>]>>,
                  %d: !dsv4.cache<1 x <[<"v" : 1 x bf16 in row>, <"s" : 1 x bf16 in array>]>>,
                  %t: tensor<0x2xi32>)
    -> (tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x8192xbf16>) {
  // CHECK: window 1 plan({{.*}} state({{.*}} ring 1 outs({{.*}} : tensor<3x1xbf16>, tensor<?x1xbf16>
  %0 = dsv4.compress %v, %s window 1 plan(%p : tensor<2x4xi32>)
      state(%c : !dsv4.cache<7 x <[<"v" : 1 x bf16 in array>, <"s" : 1 x bf16 in array>]>>) ring 1
      outs(%o : tensor<?x1xf32>) : tensor<3x1xbf16>, tensor<?x1xbf16>
  // CHECK: window 8 plan({{.*}} ring 7 pages(%{{[a-z0-9_]+}} : tensor<0x2xi32>)
  %1 = dsv4.compress %v, %s window 8 plan(%p : tensor<2x4xi32>)
      state(%c : !dsv4.cache<7 x <[<"v" : 1 x bf16 in array>, <"s" : 1 x bf16 in array>]>>) ring 7
      pages(%t : tensor<0x2xi32>)
      outs(%o : tensor<?x1xf32>) : tensor<3x1xbf16>, tensor<?x1xbf16>
  // CHECK: window 1024 plan({{.*}} bias({{.*}} ring 2147483647
  %2 = dsv4.compress %v, %s window 1024 plan(%p : tensor<2x4xi32>) bias(%b : tensor<1024x1xf32>)
      state(%d : !dsv4.cache<1 x <[<"v" : 1 x bf16 in row>, <"s" : 1 x bf16 in array>]>>)
      ring 2147483647
      outs(%o : tensor<?x1xf32>) : tensor<3x1xbf16>, tensor<?x1xbf16>
  // CHECK: window 512 overlap plan({{.*}} : tensor<?x16384xbf16>, tensor<?x16384xbf16>
  %3 = dsv4.compress %w, %x window 512 overlap plan(%p : tensor<2x4xi32>)
      outs(%h : tensor<?x8192xbf16>) : tensor<?x16384xbf16>, tensor<?x16384xbf16>
  return %0, %1, %2, %3 : tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x8192xbf16>
}

// Two equal ones are one, unless the state is written between.
// CSE-LABEL: func.func @effects
func.func @effects(%v: tensor<?x1024xf32>, %s: tensor<?x1024xf32>, %p: tensor<?x4xi32>,
                   %c: !state, %i: tensor<?xi32>, %o: tensor<?x512xf32>)
    -> (tensor<?x512xf32>, tensor<?x512xf32>, tensor<?x512xf32>, tensor<?x512xf32>,
        tensor<?x512xf32>) {
  // CSE: %[[NONE:.*]] = dsv4.compress
  // CSE-NOT: state
  // CSE: %[[BEFORE:.*]] = dsv4.compress {{.*}} state
  // CSE-NOT: dsv4.compress
  // CSE: dsv4.paged_append
  // CSE-NEXT: %[[AFTER:.*]] = dsv4.compress {{.*}} state
  // CSE-NEXT: return %[[NONE]], %[[BEFORE]], %[[BEFORE]], %[[AFTER]], %[[NONE]]
  %0 = dsv4.compress %v, %s window 4 overlap plan(%p : tensor<?x4xi32>)
      outs(%o : tensor<?x512xf32>) : tensor<?x1024xf32>, tensor<?x1024xf32>
  %1 = dsv4.compress %v, %s window 4 overlap plan(%p : tensor<?x4xi32>)
      state(%c : !state) ring 8 outs(%o : tensor<?x512xf32>)
      : tensor<?x1024xf32>, tensor<?x1024xf32>
  %2 = dsv4.compress %v, %s window 4 overlap plan(%p : tensor<?x4xi32>)
      state(%c : !state) ring 8 outs(%o : tensor<?x512xf32>)
      : tensor<?x1024xf32>, tensor<?x1024xf32>
  dsv4.paged_append %c[%i] fields(%v, %s : tensor<?x1024xf32>, tensor<?x1024xf32>)
      : !state, tensor<?xi32>
  %3 = dsv4.compress %v, %s window 4 overlap plan(%p : tensor<?x4xi32>)
      state(%c : !state) ring 8 outs(%o : tensor<?x512xf32>)
      : tensor<?x1024xf32>, tensor<?x1024xf32>
  %4 = dsv4.compress %v, %s window 4 overlap plan(%p : tensor<?x4xi32>)
      outs(%o : tensor<?x512xf32>) : tensor<?x1024xf32>, tensor<?x1024xf32>
  return %0, %1, %2, %3, %4 : tensor<?x512xf32>, tensor<?x512xf32>, tensor<?x512xf32>,
      tensor<?x512xf32>, tensor<?x512xf32>
}

// Values and scores of the state in two caches.
!kept_values = !dsv4.cache<8 x <[<"v" : 1024 x f32 in row>]>>
!kept_scores = !dsv4.cache<16 x <[<"s" : 1024 x f32 in row>]>>

// CHECK-LABEL: func.func @two_states
func.func @two_states(%v: tensor<?x1024xf32>, %s: tensor<?x1024xf32>, %p: tensor<?x4xi32>,
                      %c: !kept_values, %d: !kept_scores, %t: tensor<?x?xi32>, %u: tensor<?x?xi64>,
                      %o: tensor<?x512xf32>) -> tensor<?x512xf32> {
  // CHECK: dsv4.compress %{{.*}} state(%{{.*}} : !dsv4.cache<{{.*}}>) pages(%{{.*}} : tensor<?x?xi32>)
  // CHECK-SAME: score_state(%{{.*}} : !dsv4.cache<{{.*}}>) score_pages(%{{.*}} : tensor<?x?xi64>) outs(
  %0 = dsv4.compress %v, %s window 4 overlap plan(%p : tensor<?x4xi32>)
      state(%c : !kept_values) pages(%t : tensor<?x?xi32>)
      score_state(%d : !kept_scores) score_pages(%u : tensor<?x?xi64>)
      outs(%o : tensor<?x512xf32>) : tensor<?x1024xf32>, tensor<?x1024xf32>
  return %0 : tensor<?x512xf32>
}
