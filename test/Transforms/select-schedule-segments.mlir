// A table may give a lane whole segments. Without that it is the last resort, which takes a warp per block and all
// registers that there are, whatever the entry demands.

// RUN: split-file %s %t
// RUN: dsv4-opt %t/rows.mlir --dsv4-select-schedule="table=%t/table.json" | FileCheck %s --check-prefix=GIVEN
// RUN: dsv4-opt %t/rows.mlir --dsv4-select-schedule="table=%t/blocks.json" -o - --remarks-filter=dsv4-select-schedule \
// RUN:   --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefixes=LAST

// GIVEN: schedule <threads = 128, min_blocks = 2, parts = [#dsv4.rows<lanes = 1, vector = 0, store = streaming>]>
// GIVEN: schedule <threads = 128, min_blocks = 2, parts = [#dsv4.rows<lanes = 1, vector = 0, store = streaming>]>
// LAST: kernel 'of_three': 32 threads, 1 lane per row, which holds whole segments
// LAST: schedule <threads = 256, min_blocks = 2, parts = [#dsv4.rows<lanes = 8, vector = 8>]>
// LAST: schedule <threads = 32, parts = [#dsv4.rows<lanes = 1, vector = 0>]>

//--- table.json
[{"arch": "sm_9", "threads": 128, "min_blocks": 2, "rows": {"lanes": 1, "vector": 0, "store": "streaming"}}]

//--- blocks.json
[{"arch": "sm_9", "threads": 256, "min_blocks": 2, "rows": {"lanes": 8, "vector": 8}}]

//--- rows.mlir
func.func @plain(%d: tensor<?x64xf8E4M3FN>, %o: tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  %0 = dsv4.kernel @plain(%d, %o) : (tensor<?x64xf8E4M3FN>, tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  ^bb0(%d1: tensor<?x64xf8E4M3FN>, %o1: tensor<?x64xbf16>):
    %r = dsv4.dequantize %d1 outs(%o1 : tensor<?x64xbf16>) {format = #dsv4.format<f8E4M3FN>} : tensor<?x64xf8E4M3FN>
    dsv4.yield %r : tensor<?x64xbf16>
  }
  return %0 : tensor<?x64xbf16>
}

func.func @of_three(%d: tensor<?x60xf4E2M1FN>, %s: tensor<?x20xf8E4M3FN>, %o: tensor<?x60xbf16>) -> tensor<?x60xbf16> {
  %0 = dsv4.kernel @of_three(%d, %s, %o)
      : (tensor<?x60xf4E2M1FN>, tensor<?x20xf8E4M3FN>, tensor<?x60xbf16>) -> tensor<?x60xbf16> {
  ^bb0(%d1: tensor<?x60xf4E2M1FN>, %s1: tensor<?x20xf8E4M3FN>, %o1: tensor<?x60xbf16>):
    %r = dsv4.dequantize %d1 scales(%s1 : tensor<?x20xf8E4M3FN>) outs(%o1 : tensor<?x60xbf16>)
        {format = #dsv4.format<f4E2M1FN, [<f8E4M3FN per 3>]>} : tensor<?x60xf4E2M1FN>
    dsv4.yield %r : tensor<?x60xbf16>
  }
  return %0 : tensor<?x60xbf16>
}
