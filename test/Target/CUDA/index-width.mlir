// The same gather with other bounds: what is known of a dim decides the width of
// the arithmetic on it.

// DEFINE: %{text} = dsv4-opt %s -mlir-print-debuginfo --dsv4-lower-to-cuda-pipeline
// DEFINE: %{print} = dsv4-translate --mlir-to-cuda
// RUN: %{text} | %{print} | FileCheck %s --check-prefixes=CHECK,UNKNOWN
// RUN: %{text}="dims=blocks=200" | %{print} | FileCheck %s --check-prefixes=CHECK,NARROW
// RUN: %{text}="dims=blocks=256" | %{print} | FileCheck %s --check-prefixes=CHECK,NARROW
// RUN: %{text}="dims=blocks=257" | %{print} | FileCheck %s --check-prefixes=CHECK,PART
// RUN: %{text}="dims=blocks=513" | %{print} | FileCheck %s --check-prefixes=CHECK,UNKNOWN

// token < 2^22, as there are less than 2^31 rows of 512 each. The division is
// unsigned but where the quotient is a scale of 64 bits.
// NARROW: int token = row / 512u;
// PART: int token = row / 512u;
// UNKNOWN: int token = row / 512;
// Up to 2^22 * 256 + 2^25 fits 32 bits.
// NARROW: page_table[token * blocks + logical_page]
// 2^22 * 512 does, but not with a logical page added.
// PART: page_table[(long long)(token * blocks) + logical_page]
// 2^22 * 1024 does not.
// UNKNOWN: page_table[(long long)token * blocks + logical_page]

// A page number of 31 bits times the bytes of a page never fits.
// CHECK: long long page_start = (long long)page * kCachePageBytes;
// The slot is below 64: slot * 576 has 32 bits until it meets the page.
// CHECK: page_start + slot * kCacheRowBytes;
// Nor does a row of 31 bits times 512.
// CHECK: long long row_start = (long long)row * 512;

func.func @gather(%cache: !dsv4.cache<64 x <v4_584>> {dsv4.name = "cache"},
                  %indices: tensor<?x512xi32> {dsv4.name = "indices", dsv4.dims = ["tokens", "topk"]},
                  %table: tensor<?x?xi32> {dsv4.name = "page_table", dsv4.dims = ["tokens", "blocks"]},
                  %out: tensor<?x512x512xbf16> {dsv4.name = "out", dsv4.dims = ["tokens", "topk", ""]})
    -> tensor<?x512x512xbf16>
    attributes {dsv4.policies = {blocks = #dsv4.policy<bucket>}} {
  %rows = dsv4.paged_gather %cache[%indices] pages(%table : tensor<?x?xi32>)
      outs(%out : tensor<?x512x512xbf16>)
      : !dsv4.cache<64 x <v4_584>>, tensor<?x512xi32>
  return %rows : tensor<?x512x512xbf16>
}
