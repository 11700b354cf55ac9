// One operator of a row and a number for all of its elements, EXPRESSION, in a kernel that asks for nothing else.
func.func @f(%x: tensor<?x64xf32> {dsv4.name = "input"}, %o: tensor<?x64xf32> {dsv4.name = "out"}) {
  dsv4.kernel @rows(%x, %o) schedule <threads = 128, parts = [#dsv4.rows<lanes = 8, vector = 4>]>
      attributes {dsv4.rows_of = 0 : i64} : (tensor<?x64xf32>, tensor<?x64xf32>) -> () {
  ^bb0(%x1: tensor<?x64xf32>, %o1: tensor<?x64xf32>):
    %n = dsv4.row_count %x1 : tensor<?x64xf32>
    %m = dsv4.buffer %x1 : tensor<?x64xf32> to memref<?xf32>
    %w = dsv4.buffer %o1 : tensor<?x64xf32> to memref<?xf32>
    scf.forall (%row) in (%n) {
      %c = arith.constant dense<0.5> : vector<64xf32>
      %c64 = arith.constant 64 : index
      %at = arith.muli %row, %c64 : index
      %v = row.read %m[%at] {align = 16} : memref<?xf32> -> vector<64xf32> loc("x")
      %y = arith.mulf %v, %v : vector<64xf32>
      %r = EXPRESSION : vector<64xf32>
      row.write %r, %w[%at] {align = 16} : vector<64xf32>, memref<?xf32>
    }
  }
  return
}
