// Policies of named dims: exact becomes part of the types, bucket a bound, dynamic
// nothing.

// RUN: dsv4-opt %s --dsv4-specialize="dims=topk=512,tokens=300,blocks=1000,none=?" --split-input-file | FileCheck %s
// RUN: dsv4-opt %s --dsv4-specialize="dims=topk=512,tokens=300,blocks=1024,none=?" --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @gather
// CHECK-SAME: tensor<?x512xi32> {dsv4.dims = ["tokens", "topk"]}
// CHECK-SAME: tensor<?x?xi32> {dsv4.dims = ["tokens", "blocks"]}
// CHECK-SAME: tensor<?x512x512xbf16> {dsv4.dims = ["tokens", "topk", ""]}
// CHECK-SAME: -> tensor<?x512x512xbf16>
// CHECK-SAME: dsv4.bounds = {blocks = 1024 : i64}
func.func @gather(%cache: !dsv4.cache<64 x <v4_584>>,
                  %indices: tensor<?x?xi32> {dsv4.dims = ["tokens", "topk"]},
                  %table: tensor<?x?xi32> {dsv4.dims = ["tokens", "blocks"]},
                  %out: tensor<?x?x512xbf16> {dsv4.dims = ["tokens", "topk", ""]})
    -> tensor<?x?x512xbf16>
    attributes {dsv4.policies = {topk = #dsv4.policy<exact>, blocks = #dsv4.policy<bucket>,
                                 tokens = #dsv4.policy<dynamic>}} {
  // Values in the body follow the arguments.
  // CHECK: %[[ROWS:.*]] = dsv4.paged_gather %{{.*}}[%{{.*}}] pages(%{{.*}} : tensor<?x?xi32>)
  // CHECK-SAME: outs(%{{.*}} : tensor<?x512x512xbf16>) : !dsv4.cache<64 x #v4_584>, tensor<?x512xi32>
  // CHECK: return %[[ROWS]] : tensor<?x512x512xbf16>
  %rows = dsv4.paged_gather %cache[%indices] pages(%table : tensor<?x?xi32>)
      outs(%out : tensor<?x?x512xbf16>) : !dsv4.cache<64 x <v4_584>>, tensor<?x?xi32>
  return %rows : tensor<?x?x512xbf16>
}

// -----

// A dim without a policy is dynamic even where its extent is given.
// CHECK-LABEL: func.func @no_policy
// CHECK-SAME: tensor<?x?xi32> {dsv4.dims = ["tokens", "topk"]}
// CHECK-NOT: dsv4.bounds
func.func @no_policy(%i: tensor<?x?xi32> {dsv4.dims = ["tokens", "topk"]},
                     %b: tensor<?xi32> {dsv4.dims = ["blocks"]}) {
  return
}

// -----

// A type that says what the option says.
// CHECK-LABEL: func.func @already_static
// CHECK-SAME: tensor<300x512xi32>
func.func @already_static(%i: tensor<300x512xi32> {dsv4.dims = ["tokens", "topk"]},
                          %b: tensor<?xi32> {dsv4.dims = ["blocks"]})
    attributes {dsv4.policies = {topk = #dsv4.policy<exact>}} {
  return
}

// -----

// An axis without a name is left alone, one of the same name is not.
// CHECK-LABEL: func.func @unnamed
// CHECK-SAME: tensor<?x512xi32> {dsv4.dims = ["", "topk"]}
// CHECK-SAME: tensor<512x?xi32> {dsv4.dims = ["topk", ""]}
// CHECK-SAME: tensor<?x?xi32> {dsv4.dims = ["tokens", "blocks"]}
// CHECK-SAME: tensor<?xi32>)
func.func @unnamed(%a: tensor<?x?xi32> {dsv4.dims = ["", "topk"]},
                   %b: tensor<?x?xi32> {dsv4.dims = ["topk", ""]},
                   %c: tensor<?x?xi32> {dsv4.dims = ["tokens", "blocks"]},
                   %d: tensor<?xi32>)
    attributes {dsv4.policies = {topk = #dsv4.policy<exact>}} {
  return
}
