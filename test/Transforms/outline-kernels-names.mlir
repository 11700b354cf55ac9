// Different things of one name are different parameters: a dim called `rows` is
// not the number of rows, one called `cache_pages` not the pages of the cache.

// RUN: dsv4-opt %s --convert-dsv4-to-row --cse --dsv4-distribute-rows \
// RUN:   --dsv4-outline-kernels | FileCheck %s

!v4 = !dsv4.cache<64 x <v4_584>>

// Four memrefs; pages of the cache, rows (a dim), cache_pages (a dim), row count.
// CHECK: gpu.func @gather(
// CHECK-SAME: %{{[a-z0-9]+}}: i32 {{.*}}, %{{[a-z0-9]+}}: i32 {{.*}}, %{{[a-z0-9]+}}: i32 {{.*}}, %{{[a-z0-9]+}}: i32
func.func @gather(%c: !v4 {dsv4.name = "cache"},
                  %i: tensor<?x?xi32> {dsv4.dims = ["tokens", "rows"]},
                  %t: tensor<?x?xi32> {dsv4.dims = ["tokens", "cache_pages"]},
                  %o: tensor<?x?x512xbf16> {dsv4.dims = ["tokens", "rows", ""]})
    -> tensor<?x?x512xbf16> {
  %0 = dsv4.kernel @gather(%c, %i, %t, %o) schedule <threads = 128, parts = [#dsv4.rows<lanes = 8, vector = 8>]>
      : (!v4, tensor<?x?xi32>, tensor<?x?xi32>, tensor<?x?x512xbf16>) -> tensor<?x?x512xbf16> {
  ^bb0(%c1: !v4, %i1: tensor<?x?xi32>, %t1: tensor<?x?xi32>, %o1: tensor<?x?x512xbf16>):
    %r = dsv4.paged_gather %c1[%i1] pages(%t1 : tensor<?x?xi32>)
        outs(%o1 : tensor<?x?x512xbf16>) : !v4, tensor<?x?xi32>
    dsv4.yield %r : tensor<?x?x512xbf16>
  }
  return %0 : tensor<?x?x512xbf16>
}
