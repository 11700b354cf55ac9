// Groups of elements that the map of a schedule does not keep together.

// RUN: dsv4-opt %s --dsv4-distribute-rows --split-input-file --verify-diagnostics

// A lane has 16 elements, and no 16 values that each stand for 4 others.
func.func @reduced_without_group(%o: tensor<?x64xf32>) {
  dsv4.kernel @k(%o) schedule <threads = 128, parts = [#dsv4.rows<lanes = 4, vector = 4>]> : (tensor<?x64xf32>) -> () {
  ^bb0(%o1: tensor<?x64xf32>):
    %n = dsv4.row_count %o1 : tensor<?x64xf32>
    %m = dsv4.buffer %o1 : tensor<?x64xf32> to memref<?xf32>
    scf.forall (%row) in (%n) {
      %v = row.read %m[%row] : memref<?xf32> -> vector<64xf32>
      // expected-error @+1 {{'row.reduce' op makes one value of 4 of a row, and its values are used as if they stood for fewer: expected a 'row.write' with their 'group', or a 'row.expand' to the whole row}}
      %r = row.reduce max_abs %v per 4 : vector<64xf32> to vector<16xf32>
      row.write %r, %m[%row] : vector<16xf32>, memref<?xf32>
    }
  }
  return
}

// -----

func.func @halves_without_group(%o: tensor<?x64xf32>) {
  dsv4.kernel @k(%o) schedule <threads = 128, parts = [#dsv4.rows<lanes = 4, vector = 4>]> : (tensor<?x64xf32>) -> () {
  ^bb0(%o1: tensor<?x64xf32>):
    %n = dsv4.row_count %o1 : tensor<?x64xf32>
    %m = dsv4.buffer %o1 : tensor<?x64xf32> to memref<?xf32>
    scf.forall (%row) in (%n) {
      %v = row.read %m[%row] : memref<?xf32> -> vector<64xf32>
      // expected-error @+1 {{'vector.deinterleave' op makes one value of 2 of a row, and its values are used as if they stood for fewer: expected a 'row.write' with their 'group', or a 'row.expand' to the whole row}}
      %e, %f = vector.deinterleave %v : vector<64xf32> -> vector<32xf32>
      row.write %e, %m[%row] : vector<32xf32>, memref<?xf32>
    }
  }
  return
}

// -----

// This is what holds: four elements to one value, and four of these to one.
func.func @reduced_twice(%o: tensor<?x64xf32>) {
  dsv4.kernel @k(%o) schedule <threads = 128, parts = [#dsv4.rows<lanes = 4, vector = 4>]> : (tensor<?x64xf32>) -> () {
  ^bb0(%o1: tensor<?x64xf32>):
    %n = dsv4.row_count %o1 : tensor<?x64xf32>
    %m = dsv4.buffer %o1 : tensor<?x64xf32> to memref<?xf32>
    scf.forall (%row) in (%n) {
      %v = row.read %m[%row] : memref<?xf32> -> vector<64xf32>
      %r = row.reduce max_abs %v per 4 : vector<64xf32> to vector<16xf32>
      %s = row.reduce max_abs %r per 4 : vector<16xf32> to vector<4xf32>
      row.write %s, %m[%row] {group = 16} : vector<4xf32>, memref<?xf32>
    }
  }
  return
}

// -----

// Two lanes hold each of the first ones.
func.func @reduced_again(%o: tensor<?x64xf32>) {
  dsv4.kernel @k(%o) schedule <threads = 128, parts = [#dsv4.rows<lanes = 4, vector = 2>]> : (tensor<?x64xf32>) -> () {
  ^bb0(%o1: tensor<?x64xf32>):
    %n = dsv4.row_count %o1 : tensor<?x64xf32>
    %m = dsv4.buffer %o1 : tensor<?x64xf32> to memref<?xf32>
    scf.forall (%row) in (%n) {
      %v = row.read %m[%row] : memref<?xf32> -> vector<64xf32>
      %r = row.reduce max_abs %v per 4 : vector<64xf32> to vector<16xf32>
      // expected-error @+1 {{'row.reduce' op schedule_rows_c3: exchanges values that stand for 4 elements each between lanes with vectors of 2 elements, so several lanes hold the same value: expected a vector of at least 4 elements, or 'vector = 0'}}
      %s = row.reduce max_abs %r per 4 : vector<16xf32> to vector<4xf32>
      row.write %s, %m[%row] {group = 16} : vector<4xf32>, memref<?xf32>
    }
  }
  return
}

// -----

// Three elements are of two lanes.
func.func @reduced_by_three(%o: tensor<?x48xf32>) {
  dsv4.kernel @k(%o) schedule <threads = 128, parts = [#dsv4.rows<lanes = 4, vector = 4>]> : (tensor<?x48xf32>) -> () {
  ^bb0(%o1: tensor<?x48xf32>):
    %n = dsv4.row_count %o1 : tensor<?x48xf32>
    %m = dsv4.buffer %o1 : tensor<?x48xf32> to memref<?xf32>
    scf.forall (%row) in (%n) {
      %v = row.read %m[%row] : memref<?xf32> -> vector<48xf32>
      %r = row.reduce max_abs %v per 3 : vector<48xf32> to vector<16xf32>
      // expected-error @+1 {{'row.write' op schedule_rows_c3: takes values that stand for 3 elements each, which do not nest with vectors of 4 elements and steps of 16: expected a group that divides both or that they divide, or 'vector = 0'}}
      row.write %r, %m[%row] {group = 3} : vector<16xf32>, memref<?xf32>
    }
  }
  return
}

// -----

func.func @expanded_by_three(%o: tensor<?x48xf32>) {
  dsv4.kernel @k(%o) schedule <threads = 128, parts = [#dsv4.rows<lanes = 4, vector = 4>]> : (tensor<?x48xf32>) -> () {
  ^bb0(%o1: tensor<?x48xf32>):
    %n = dsv4.row_count %o1 : tensor<?x48xf32>
    %m = dsv4.buffer %o1 : tensor<?x48xf32> to memref<?xf32>
    scf.forall (%row) in (%n) {
      %v = row.read %m[%row] : memref<?xf32> -> vector<48xf32>
      %r = row.reduce max_abs %v per 3 : vector<48xf32> to vector<16xf32>
      // expected-error @+1 {{'row.expand' op schedule_rows_c3: takes values that stand for 3 elements each, which do not nest with vectors of 4 elements and steps of 16: expected a group that divides both or that they divide, or 'vector = 0'}}
      %e = row.expand %r : vector<16xf32> to vector<48xf32>
      row.write %e, %m[%row] : vector<48xf32>, memref<?xf32>
    }
  }
  return
}

// -----

func.func @copied_by_three(%o: tensor<?x16xf32>) {
  dsv4.kernel @k(%o) schedule <threads = 128, parts = [#dsv4.rows<lanes = 8, vector = 4>]> : (tensor<?x16xf32>) -> () {
  ^bb0(%o1: tensor<?x16xf32>):
    %n = dsv4.row_count %o1 : tensor<?x16xf32>
    %m = dsv4.buffer %o1 : tensor<?x16xf32> to memref<?xf32>
    scf.forall (%row) in (%n) {
      %v = row.read %m[%row] : memref<?xf32> -> vector<16xf32>
      // expected-error @+1 {{'row.write' op schedule_rows_c3: takes values that stand for 3 elements each, which do not nest with vectors of 4 elements and steps of 32: expected a group that divides both or that they divide, or 'vector = 0'}}
      row.write %v, %m[%row] {group = 3} : vector<16xf32>, memref<?xf32>
    }
  }
  return
}

// -----

// Whole vectors, but not of one step.
func.func @copied_by_twelve(%o: tensor<?x96xf32>) {
  dsv4.kernel @k(%o) schedule <threads = 128, parts = [#dsv4.rows<lanes = 8, vector = 4>]> : (tensor<?x96xf32>) -> () {
  ^bb0(%o1: tensor<?x96xf32>):
    %n = dsv4.row_count %o1 : tensor<?x96xf32>
    %m = dsv4.buffer %o1 : tensor<?x96xf32> to memref<?xf32>
    scf.forall (%row) in (%n) {
      %v = row.read %m[%row] : memref<?xf32> -> vector<8xf32>
      // expected-error @+1 {{'row.write' op schedule_rows_c3: takes values that stand for 12 elements each, which do not nest with vectors of 4 elements and steps of 32: expected a group that divides both or that they divide, or 'vector = 0'}}
      row.write %v, %m[%row] {group = 12} : vector<8xf32>, memref<?xf32>
    }
  }
  return
}

// -----

// In the last step two lanes have no value.
func.func @uneven(%o: tensor<?x24xf32>) {
  dsv4.kernel @k(%o) schedule <threads = 128, parts = [#dsv4.rows<lanes = 4, vector = 4>]> : (tensor<?x24xf32>) -> () {
  ^bb0(%o1: tensor<?x24xf32>):
    %n = dsv4.row_count %o1 : tensor<?x24xf32>
    %m = dsv4.buffer %o1 : tensor<?x24xf32> to memref<?xf32>
    scf.forall (%row) in (%n) {
      %v = row.read %m[%row] : memref<?xf32> -> vector<3xf32>
      // expected-error @+1 {{'row.write' op schedule_rows_c3: takes values that stand for 8 elements each of a row of 24 elements: expected whole steps of 16 elements, or 'vector = 0'}}
      row.write %v, %m[%row] {group = 8} : vector<3xf32>, memref<?xf32>
    }
  }
  return
}

// -----

// One lane has an element per step, so it cannot put them in order.
func.func @interleaved(%o: tensor<?x16xf32>) {
  dsv4.kernel @k(%o) schedule <threads = 128, parts = [#dsv4.rows<lanes = 1, vector = 1>]> : (tensor<?x16xf32>) -> () {
  ^bb0(%o1: tensor<?x16xf32>):
    %n = dsv4.row_count %o1 : tensor<?x16xf32>
    %m = dsv4.buffer %o1 : tensor<?x16xf32> to memref<?xf32>
    scf.forall (%row) in (%n) {
      // expected-error @+1 {{'row.read' op schedule_rows_c3: interleaved scales need a step of 4 scales, got 1}}
      %v = row.read %m[%row] {interleave = 4} : memref<?xf32> -> vector<16xf32>
      row.write %v, %m[%row] : vector<16xf32>, memref<?xf32>
    }
  }
  return
}

// -----

func.func @transformed_by_holders(%o: tensor<?x64xf32>) {
  dsv4.kernel @k(%o) schedule <threads = 128, parts = [#dsv4.rows<lanes = 4, vector = 2>]> : (tensor<?x64xf32>) -> () {
  ^bb0(%o1: tensor<?x64xf32>):
    %n = dsv4.row_count %o1 : tensor<?x64xf32>
    %m = dsv4.buffer %o1 : tensor<?x64xf32> to memref<?xf32>
    scf.forall (%row) in (%n) {
      %v = row.read %m[%row] : memref<?xf32> -> vector<16xf32>
      // expected-error @+1 {{'row.hadamard' op schedule_rows_c3: exchanges values that stand for 4 elements each between lanes with vectors of 2 elements}}
      %h = row.hadamard %v : vector<16xf32>
      row.write %h, %m[%row] {group = 4} : vector<16xf32>, memref<?xf32>
    }
  }
  return
}

// -----

// The elements of a section are at four positions of the row.
func.func @read_in_sections(%o: tensor<?x64xf32>) {
  dsv4.kernel @k(%o) schedule <threads = 128, parts = [#dsv4.rows<lanes = 4, vector = 1, section = 2>]> : (tensor<?x64xf32>) -> () {
  ^bb0(%o1: tensor<?x64xf32>):
    %n = dsv4.row_count %o1 : tensor<?x64xf32>
    %m = dsv4.buffer %o1 : tensor<?x64xf32> to memref<?xf32>
    scf.forall (%row) in (%n) {
      // expected-error @+1 {{'row.read' op cannot be read section by section: its elements are interleaved}}
      %v = row.read %m[%row] {interleave = 4} : memref<?xf32> -> vector<64xf32>
      row.write %v, %m[%row] : vector<64xf32>, memref<?xf32>
    }
  }
  return
}

// -----

func.func @written_in_sections(%o: tensor<?x64xf32>) {
  dsv4.kernel @k(%o) schedule <threads = 128, parts = [#dsv4.rows<lanes = 4, vector = 1, section = 2>]> : (tensor<?x64xf32>) -> () {
  ^bb0(%o1: tensor<?x64xf32>):
    %n = dsv4.row_count %o1 : tensor<?x64xf32>
    %m = dsv4.buffer %o1 : tensor<?x64xf32> to memref<?xf32>
    scf.forall (%row) in (%n) {
      %v = row.read %m[%row] : memref<?xf32> -> vector<64xf32>
      // expected-error @+1 {{'row.write' op cannot be written section by section: its elements are interleaved}}
      row.write %v, %m[%row] {interleave = 4} : vector<64xf32>, memref<?xf32>
    }
  }
  return
}
