// Rows that come as tiles, which a kernel cannot store.

// RUN: dsv4-opt %s --dsv4-distribute-rows --split-input-file --verify-diagnostics

func.func @no_source(%q: tensor<?x64xbf16>, %w: tensor<?x1xf32>, %o: tensor<?x70xf32>) {
  dsv4.kernel @k(%w, %q, %o) schedule <threads = 64, parts = [#dsv4.score<algorithm = plain>]>
      : (tensor<?x1xf32>, tensor<?x64xbf16>, tensor<?x70xf32>) -> () {
  ^bb0(%w1: tensor<?x1xf32>, %q1: tensor<?x64xbf16>, %o1: tensor<?x70xf32>):
    %n = dsv4.row_count %w1 : tensor<?x1xf32>
    %wm = dsv4.buffer %w1 : tensor<?x1xf32> to memref<?xf32>
    %qm = dsv4.buffer %q1 : tensor<?x64xbf16> to memref<?xbf16>
    %om = dsv4.buffer %o1 : tensor<?x70xf32> to memref<?xf32>
    %c70 = arith.constant 70 : index
    %c64 = arith.constant 64 : index
    scf.forall (%row) in (%n) {
      %at = arith.muli %row, %c70 : index
      %s = row.read %om[%at] : memref<?xf32> -> vector<70xf32>
      // expected-error @+1 {{writes a row that no tile source computes: expected 'row.write'}}
      row.write_tiles %s, %om[%at] columns %c70 : vector<70xf32>, memref<?xf32>
    }
  }
  return
}

// -----

func.func @no_part(%q: tensor<?x64xbf16>, %w: tensor<?x1xf32>, %o: tensor<?x70xf32>) {
  dsv4.kernel @k(%w, %q, %o) schedule <threads = 64, parts = [#dsv4.rows<lanes = 32, vector = 1>]>
      : (tensor<?x1xf32>, tensor<?x64xbf16>, tensor<?x70xf32>) -> () {
  ^bb0(%w1: tensor<?x1xf32>, %q1: tensor<?x64xbf16>, %o1: tensor<?x70xf32>):
    %n = dsv4.row_count %w1 : tensor<?x1xf32>
    %wm = dsv4.buffer %w1 : tensor<?x1xf32> to memref<?xf32>
    %qm = dsv4.buffer %q1 : tensor<?x64xbf16> to memref<?xbf16>
    %om = dsv4.buffer %o1 : tensor<?x70xf32> to memref<?xf32>
    %c70 = arith.constant 70 : index
    %c64 = arith.constant 64 : index
    scf.forall (%row) in (%n) {
      %at = arith.muli %row, %c70 : index
      // expected-error @+1 {{has no tile shape: the schedule lacks the part of this tile source}}
      %s = row.index_score %qm head %c64 weights %wm keys %qm page %c64 entry %c64 columns %c70 heads 1 dim 64
          page_size 64 query "bf16" key "bf16"
          : memref<?xbf16>, memref<?xf32>, memref<?xbf16> -> vector<70xf32> row {
        row.yield %row, %row, %row, %row, %c70 : index, index, index, index, index
      } page {
      ^bb0(%number: index):
        row.yield %number : index
      }
      row.write_tiles %s, %om[%at] columns %c70 : vector<70xf32>, memref<?xf32>
    }
  }
  return
}

// -----

func.func @of_a_row(%q: tensor<?x64xbf16>, %w: tensor<?x1xf32>, %o: tensor<?x70xf32>) {
  dsv4.kernel @k(%w, %q, %o) schedule <threads = 64, parts = [#dsv4.score<algorithm = plain>]>
      : (tensor<?x1xf32>, tensor<?x64xbf16>, tensor<?x70xf32>) -> () {
  ^bb0(%w1: tensor<?x1xf32>, %q1: tensor<?x64xbf16>, %o1: tensor<?x70xf32>):
    %n = dsv4.row_count %w1 : tensor<?x1xf32>
    %wm = dsv4.buffer %w1 : tensor<?x1xf32> to memref<?xf32>
    %qm = dsv4.buffer %q1 : tensor<?x64xbf16> to memref<?xbf16>
    %om = dsv4.buffer %o1 : tensor<?x70xf32> to memref<?xf32>
    %c70 = arith.constant 70 : index
    %c64 = arith.constant 64 : index
    scf.forall (%row) in (%n) {
      %at = arith.muli %row, %c70 : index
      // expected-error @+1 {{takes a value of one row, of which a tile has 1: expected the index of the row, or values that all rows share}}
      %s = row.index_score %qm head %c64 weights %wm keys %qm page %c64 entry %c64 columns %at heads 1 dim 64
          page_size 64 query "bf16" key "bf16"
          : memref<?xbf16>, memref<?xf32>, memref<?xbf16> -> vector<70xf32> row {
        row.yield %row, %row, %row, %row, %c70 : index, index, index, index, index
      } page {
      ^bb0(%number: index):
        row.yield %number : index
      }
      row.write_tiles %s, %om[%at] columns %c70 : vector<70xf32>, memref<?xf32>
    }
  }
  return
}

// -----

func.func @beside(%q: tensor<?x64xbf16>, %w: tensor<?x1xf32>, %o: tensor<?x70xf32>) {
  dsv4.kernel @k(%w, %q, %o) schedule <threads = 64, parts = [#dsv4.score<algorithm = plain>]>
      : (tensor<?x1xf32>, tensor<?x64xbf16>, tensor<?x70xf32>) -> () {
  ^bb0(%w1: tensor<?x1xf32>, %q1: tensor<?x64xbf16>, %o1: tensor<?x70xf32>):
    %n = dsv4.row_count %w1 : tensor<?x1xf32>
    %wm = dsv4.buffer %w1 : tensor<?x1xf32> to memref<?xf32>
    %qm = dsv4.buffer %q1 : tensor<?x64xbf16> to memref<?xbf16>
    %om = dsv4.buffer %o1 : tensor<?x70xf32> to memref<?xf32>
    %c70 = arith.constant 70 : index
    %c64 = arith.constant 64 : index
    scf.forall (%row) in (%n) {
      %at = arith.muli %row, %c70 : index
      %s = row.index_score %qm head %c64 weights %wm keys %qm page %c64 entry %c64 columns %c70 heads 1 dim 64
          page_size 64 query "bf16" key "bf16"
          : memref<?xbf16>, memref<?xf32>, memref<?xbf16> -> vector<70xf32> row {
        row.yield %row, %row, %row, %row, %c70 : index, index, index, index, index
      } page {
      ^bb0(%number: index):
        row.yield %number : index
      }
      row.write_tiles %s, %om[%at] columns %c70 : vector<70xf32>, memref<?xf32>
      // expected-error @+1 {{writes beside what 'row.index_score' computes tile by tile: put it into a kernel of its own}}
      row.write_tiles %s, %om[%row] columns %c70 : vector<70xf32>, memref<?xf32>
    }
  }
  return
}
