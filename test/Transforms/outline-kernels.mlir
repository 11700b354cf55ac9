// Kernels become functions of their own; buffers and run-time extents become
// parameters, and the launch plan stays behind.

// RUN: dsv4-opt %s --convert-dsv4-to-row --cse --dsv4-distribute-rows \
// RUN:   --dsv4-outline-kernels="arch=sm_100a" -mlir-print-debuginfo | FileCheck %s
// RUN: not dsv4-opt %s --dsv4-outline-kernels="arch=gfx90a" 2>&1 | FileCheck %s --check-prefix=ARCH

// ARCH: error: target_c1: expected an architecture from "sm_80" to "sm_200", with "a", "f" or nothing after it, such as "sm_90a", got "gfx90a"

!v4 = !dsv4.cache<64 x <v4_584>>

// CHECK: module attributes {gpu.container_module}
// CHECK: gpu.module @gather_module attributes {cuda.target = #cuda.target<"sm_100a">} {
// Buffers first, then extents, each in the order of arguments; extents are 32 bits
// and bring their bounds along.
// CHECK: gpu.func @gather(
// CHECK-SAME: %{{[a-z0-9_]+}}: memref<?xi8> loc("cache"(#loc{{[0-9]*}})), %{{[a-z0-9_]+}}: memref<?xi32> loc("indices"(#loc{{[0-9]*}})), %{{[a-z0-9_]+}}: memref<?xi32> loc("page_table"(#loc{{[0-9]*}})), %{{[a-z0-9_]+}}: memref<?xbf16> loc("out"(#loc{{[0-9]*}})),
// CHECK-SAME: %[[PAGES:[a-z0-9_]+]]: i32 {cuda.range = array<i64: 0, 2147483647>} loc("cache_pages"(#loc{{[0-9]*}})),
// A dim of the iteration space is not zero where there is a row; a bucket has a bound.
// CHECK-SAME: i32 {cuda.range = array<i64: 1, 512>} loc("topk"(#loc{{[0-9]*}})),
// CHECK-SAME: i32 {cuda.range = array<i64: 0, 2147483647>} loc("blocks"(#loc{{[0-9]*}})),
// CHECK-SAME: i32 {cuda.range = array<i64: 0, 2147483647>} loc("rows"(#loc{{[0-9]*}})))
// CHECK-SAME: kernel
// CHECK-SAME: cuda.header = ["dsv4.paged_gather of 64 x v4_584 to bf16", "tokens = ?, topk <= 512, blocks = ?", "sm_100a: 128 threads, 8 lanes per row, vectors of 8 elements, streaming stores"]
// CHECK-SAME: dsv4.schedule = #dsv4.schedule<threads = 128, parts = [#dsv4.rows<lanes = 8, vector = 8, store = streaming>]>
// CHECK-SAME: known_block_size = array<i32: 128, 1, 1>
// CHECK: arith.index_cast %[[PAGES]] : i32 to index
// CHECK-NOT: dsv4.
// CHECK: gpu.return

// CHECK: func.func @gather(%[[C:[a-z0-9]+]]: !dsv4.cache<64 x #v4_584>
// CHECK-SAME: %[[I:[a-z0-9]+]]: tensor<?x?xi32>
// CHECK-SAME: %[[T:[a-z0-9]+]]: tensor<?x?xi32>
// CHECK-SAME: %[[O:[a-z0-9]+]]: tensor<?x?x512xbf16>
// CHECK-NOT: dsv4.kernel
// CHECK-NEXT: dsv4.launch @gather_module::@gather grid ["ceildiv(tokens * topk, 16)", "1", "1"] block [128, 1, 1]
// CHECK-SAME: requires "tokens * topk <= 2147483632"
// CHECK-SAME: parameters ["read(cache, 16)", "read(indices, 4)", "read(page_table, 4)", "write(out, 16)",
// CHECK-SAME: "i32(cache.pages)", "i32(topk)", "i32(blocks)", "i32(tokens * topk)"]
// CHECK-NEXT: return %[[O]]
func.func @gather(%c: !v4 {dsv4.name = "cache"},
                  %i: tensor<?x?xi32> {dsv4.name = "indices", dsv4.dims = ["tokens", "topk"]},
                  %t: tensor<?x?xi32> {dsv4.name = "page_table", dsv4.dims = ["tokens", "blocks"]},
                  %o: tensor<?x?x512xbf16> {dsv4.name = "out", dsv4.dims = ["tokens", "topk", ""]})
    -> tensor<?x?x512xbf16> attributes {dsv4.bounds = {topk = 512}} {
  %0 = dsv4.kernel @gather(%c, %i, %t, %o) schedule <threads = 128, parts = [#dsv4.rows<lanes = 8, vector = 8, store = streaming>]>
      : (!v4, tensor<?x?xi32>, tensor<?x?xi32>, tensor<?x?x512xbf16>) -> tensor<?x?x512xbf16> {
  ^bb0(%c1: !v4, %i1: tensor<?x?xi32>, %t1: tensor<?x?xi32>, %o1: tensor<?x?x512xbf16>):
    %r = dsv4.paged_gather %c1[%i1] pages(%t1 : tensor<?x?xi32>)
        outs(%o1 : tensor<?x?x512xbf16>) : !v4, tensor<?x?xi32>
    dsv4.yield %r : tensor<?x?x512xbf16>
  }
  return %0 : tensor<?x?x512xbf16>
}
