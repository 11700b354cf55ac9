// Caches need not keep keys that one group of rows reads: those of a request, unless more than one
// group has rows of it, or a table says which request a row is of.

// DEFINE: %{emit} = dsv4-opt --dsv4-lower-to-cuda-pipeline --mlir-print-debuginfo | dsv4-translate --mlir-to-cuda | FileCheck %s
// RUN: cat %s | %{emit} --check-prefix=ONCE
// RUN: sed -e "s/next_n 1/next_n 4/" %s | %{emit} --check-prefix=ONCE
// RUN: sed -e "s/next_n 1/next_n 8/" %s | %{emit}
// RUN: sed -e "s/next_n 1//; s/lengths(%%length/requests(%%rows : tensor<?xi32>) lengths(%%rows/" %s | %{emit}

// ONCE: keys_once = true
// CHECK: struct ScoresConfig : dsv4::IndexRowsDefaults
// CHECK-NOT: keys_once
func.func @scores(
    %q: tensor<?x64x128xf8E4M3FN> {dsv4.name = "q", dsv4.dims = ["rows", "", ""]},
    %w: tensor<?x64xf32> {dsv4.name = "weights", dsv4.dims = ["rows", ""]},
    %keys: !dsv4.cache<64 x <index_fp8_132>> {dsv4.name = "keys"},
    %table: tensor<?x?xi32> {dsv4.name = "table", dsv4.dims = ["requests", "pages"]},
    %length: tensor<?xi32> {dsv4.name = "length", dsv4.dims = ["requests"]},
    %rows: tensor<?xi32> {dsv4.name = "of_rows", dsv4.dims = ["rows"]},
    %out: tensor<?x?xf32> {dsv4.name = "scores", dsv4.dims = ["rows", "columns"]}) -> tensor<?x?xf32> {
  %0 = dsv4.index_score %q weights(%w : tensor<?x64xf32>) cache(%keys : !dsv4.cache<64 x <index_fp8_132>>) pages(%table : tensor<?x?xi32>)
      lengths(%length : tensor<?xi32>) next_n 1 outs(%out : tensor<?x?xf32>) : tensor<?x64x128xf8E4M3FN>
  return %0 : tensor<?x?xf32>
}
