// Every op, read back from its own text, from generic text and from bytecode.

// RUN: dsv4-opt %s | dsv4-opt | FileCheck %s
// RUN: dsv4-opt %s -mlir-print-op-generic | dsv4-opt | FileCheck %s
// RUN: dsv4-opt %s --emit-bytecode | dsv4-opt --allow-bytecode | FileCheck %s

#nvfp4_row = #dsv4.format<f4E2M1FN, [<f8E4M3FN per 16>, <f32 per row>]>

// CHECK-LABEL: func.func @gather
// CHECK-SAME: %[[CACHE:[a-z0-9]+]]: !dsv4.cache<64 x #v4_584>
func.func @gather(%cache: !dsv4.cache<64 x <v4_584>>, %indices: tensor<?x?xi32>,
                  %table: tensor<?x?xi32>, %requests: tensor<?xi32>,
                  %lengths: tensor<?xi32>, %out: tensor<?x?x512xbf16>,
                  %mask: tensor<?x?xi1>)
    -> (tensor<?x?x512xbf16>, tensor<?x?xi1>) {
  // CHECK: %rows, %valid = dsv4.paged_gather %[[CACHE]][%{{[a-z0-9_]+}}]
  // CHECK-SAME: pages(%{{[a-z0-9_]+}} : tensor<?x?xi32>)
  // CHECK-SAME: requests(%{{[a-z0-9_]+}} : tensor<?xi32>)
  // CHECK-SAME: lengths(%{{[a-z0-9_]+}} : tensor<?xi32>)
  // CHECK-SAME: outs(%{{[a-z0-9_]+}} : tensor<?x?x512xbf16>)
  // CHECK-SAME: mask(%{{[a-z0-9_]+}} : tensor<?x?xi1>)
  // CHECK-SAME: : !dsv4.cache<64 x #v4_584>, tensor<?x?xi32>
  %rows, %valid = dsv4.paged_gather %cache[%indices]
      pages(%table : tensor<?x?xi32>) requests(%requests : tensor<?xi32>)
      lengths(%lengths : tensor<?xi32>)
      outs(%out : tensor<?x?x512xbf16>) mask(%mask : tensor<?x?xi1>)
      : !dsv4.cache<64 x <v4_584>>, tensor<?x?xi32>
  return %rows, %valid : tensor<?x?x512xbf16>, tensor<?x?xi1>
}

// CHECK-LABEL: func.func @gather_bare
func.func @gather_bare(%cache: !dsv4.cache<32 x <seed_292>>,
                       %indices: tensor<?xi32>, %out: tensor<?x512xf32>)
    -> tensor<?x512xf32> {
  // CHECK: %rows = dsv4.paged_gather %{{[a-z0-9_]+}}[%{{[a-z0-9_]+}}] outs(%{{[a-z0-9_]+}} : tensor<?x512xf32>) : !dsv4.cache<32 x #seed_292>, tensor<?xi32>
  %rows = dsv4.paged_gather %cache[%indices] outs(%out : tensor<?x512xf32>)
      : !dsv4.cache<32 x <seed_292>>, tensor<?xi32>
  return %rows : tensor<?x512xf32>
}

// One length for one row of indices: rank 0.
// CHECK-LABEL: func.func @gather_one_row
func.func @gather_one_row(%cache: !dsv4.cache<64 x <v41_528>>,
                          %indices: tensor<512xi32>, %table: tensor<?xi32>,
                          %length: tensor<i32>, %out: tensor<512x512xbf16>)
    -> tensor<512x512xbf16> {
  // CHECK: dsv4.paged_gather %{{[a-z0-9_]+}}[%{{[a-z0-9_]+}}] pages(%{{[a-z0-9_]+}} : tensor<?xi32>) lengths(%{{[a-z0-9_]+}} : tensor<i32>) outs(
  %rows = dsv4.paged_gather %cache[%indices] pages(%table : tensor<?xi32>)
      lengths(%length : tensor<i32>) outs(%out : tensor<512x512xbf16>)
      : !dsv4.cache<64 x <v41_528>>, tensor<512xi32>
  return %rows : tensor<512x512xbf16>
}

// CHECK-LABEL: func.func @dequantize
func.func @dequantize(%data: tensor<?x512xf4E2M1FN>,
                      %scale: tensor<?x32xf8E4M3FN>, %global: tensor<?xf32>,
                      %out: tensor<?x512xbf16>) -> tensor<?x512xbf16> {
  // CHECK: %values = dsv4.dequantize %{{[a-z0-9_]+}} scales(%{{[a-z0-9_]+}}, %{{[a-z0-9_]+}} : tensor<?x32xf8E4M3FN>, tensor<?xf32>)
  // CHECK-SAME: outs(%{{[a-z0-9_]+}} : tensor<?x512xbf16>) {format = #format} : tensor<?x512xf4E2M1FN>
  %values = dsv4.dequantize %data
      scales(%scale, %global : tensor<?x32xf8E4M3FN>, tensor<?xf32>)
      outs(%out : tensor<?x512xbf16>) {format = #nvfp4_row}
      : tensor<?x512xf4E2M1FN>
  return %values : tensor<?x512xbf16>
}

// CHECK-LABEL: func.func @kernel
func.func @kernel(%cache: !dsv4.cache<64 x <v4_584>>, %indices: tensor<?xi32>,
                  %out: tensor<?x512xbf16>) -> tensor<?x512xbf16> {
  // CHECK: %{{[a-z0-9_]+}} = dsv4.kernel @k(%{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}) schedule <threads = 256, pdl = true, parts = [#dsv4.rows<lanes = 8, vector = 8, store = streaming>]>
  // CHECK-SAME: : (!dsv4.cache<64 x #v4_584>, tensor<?xi32>, tensor<?x512xbf16>) -> tensor<?x512xbf16> {
  // CHECK: ^bb0(%{{[a-z0-9_]+}}: !dsv4.cache<64 x #v4_584>, %{{[a-z0-9_]+}}: tensor<?xi32>, %{{[a-z0-9_]+}}: tensor<?x512xbf16>):
  // CHECK: dsv4.yield %{{[a-z0-9_]+}} : tensor<?x512xbf16>
  %0 = dsv4.kernel @k(%cache, %indices, %out)
      schedule <threads = 256, pdl = true, parts = [#dsv4.rows<lanes = 8, vector = 8, store = streaming>]>
      : (!dsv4.cache<64 x <v4_584>>, tensor<?xi32>, tensor<?x512xbf16>)
      -> tensor<?x512xbf16> {
  ^bb0(%c: !dsv4.cache<64 x <v4_584>>, %i: tensor<?xi32>, %o: tensor<?x512xbf16>):
    %rows = dsv4.paged_gather %c[%i] outs(%o : tensor<?x512xbf16>)
        : !dsv4.cache<64 x <v4_584>>, tensor<?xi32>
    dsv4.yield %rows : tensor<?x512xbf16>
  }
  return %0 : tensor<?x512xbf16>
}

// A lowered kernel has no results; its terminator is implicit.
// CHECK-LABEL: func.func @kernel_without_results
func.func @kernel_without_results(%out: tensor<?x8xf32>) {
  // CHECK: dsv4.kernel @k(%{{[a-z0-9_]+}}) : (tensor<?x8xf32>) -> () {
  // CHECK-NEXT: ^bb0
  // CHECK-NEXT: }
  dsv4.kernel @k(%out) : (tensor<?x8xf32>) -> () {
  ^bb0(%o: tensor<?x8xf32>):
  }
  return
}

// CHECK-LABEL: func.func @operands
func.func @operands(%pages: !dsv4.cache<64 x <v4_584>>,
                    %arrays: !dsv4.cache<64 x <seed_580>>,
                    %bf16: tensor<?x4xbf16>, %fp4: tensor<?x4xf4E2M1FN>,
                    %mask: tensor<?xi1>) {
  // CHECK: dsv4.buffer %{{[a-z0-9_]+}} : !dsv4.cache<64 x #v4_584> to memref<?xi8>
  %0 = dsv4.buffer %pages : !dsv4.cache<64 x <v4_584>> to memref<?xi8>
  // CHECK: dsv4.buffer %{{[a-z0-9_]+}}["rope"] : !dsv4.cache<64 x #seed_580> to memref<?xi8>
  %1 = dsv4.buffer %arrays["rope"] : !dsv4.cache<64 x <seed_580>> to memref<?xi8>
  // CHECK: dsv4.buffer %{{[a-z0-9_]+}} : tensor<?x4xbf16> to memref<?xbf16>
  %2 = dsv4.buffer %bf16 : tensor<?x4xbf16> to memref<?xbf16>
  // CHECK: dsv4.buffer %{{[a-z0-9_]+}} : tensor<?x4xf4E2M1FN> to memref<?xi8>
  %3 = dsv4.buffer %fp4 : tensor<?x4xf4E2M1FN> to memref<?xi8>
  // CHECK: dsv4.buffer %{{[a-z0-9_]+}} : tensor<?xi1> to memref<?xi8>
  %4 = dsv4.buffer %mask : tensor<?xi1> to memref<?xi8>
  // CHECK: dsv4.extent %{{[a-z0-9_]+}}, 0 : !dsv4.cache<64 x #v4_584>
  %5 = dsv4.extent %pages, 0 : !dsv4.cache<64 x <v4_584>>
  // CHECK: dsv4.extent %{{[a-z0-9_]+}}, 0 min 1 max 4096 : tensor<?x4xbf16>
  %6 = dsv4.extent %bf16, 0 min 1 max 4096 : tensor<?x4xbf16>
  // CHECK: dsv4.row_count %{{[a-z0-9_]+}} : tensor<?x4xbf16>
  %7 = dsv4.row_count %bf16 : tensor<?x4xbf16>
  // CHECK: dsv4.row_count %{{[a-z0-9_]+}} per 16 max 256 : tensor<?x4xbf16>
  %groups = dsv4.row_count %bf16 per 16 max 256 : tensor<?x4xbf16>
  return
}
