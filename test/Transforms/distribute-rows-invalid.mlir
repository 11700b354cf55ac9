// RUN: dsv4-opt %s --dsv4-distribute-rows --split-input-file --verify-diagnostics

func.func @no_schedule(%o: tensor<?x8xf32>) {
  // expected-error @+1 {{'dsv4.kernel' op has no schedule; run dsv4-select-schedule}}
  dsv4.kernel @k(%o) : (tensor<?x8xf32>) -> () {
  ^bb0(%o1: tensor<?x8xf32>):
  }
  return
}

// -----

// Lanes hold different elements: a vector cannot be reversed among them.
func.func @shuffle(%o: tensor<?x64xf32>) {
  dsv4.kernel @k(%o) schedule <threads = 128, parts = [#dsv4.rows<lanes = 8, vector = 8>]> : (tensor<?x64xf32>) -> () {
  ^bb0(%o1: tensor<?x64xf32>):
    %n = dsv4.row_count %o1 : tensor<?x64xf32>
    %m = dsv4.buffer %o1 : tensor<?x64xf32> to memref<?xf32>
    %c64 = arith.constant 64 : index
    scf.forall (%row) in (%n) {
      %at = arith.muli %row, %c64 : index
      %v = row.read %m[%at] : memref<?xf32> -> vector<64xf32>
      // expected-error @+1 {{'vector.shuffle' op cannot be distributed over lanes}}
      %w = vector.shuffle %v, %v [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
        16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31,
        64, 65, 66, 67, 68, 69, 70, 71, 72, 73, 74, 75, 76, 77, 78, 79,
        80, 81, 82, 83, 84, 85, 86, 87, 88, 89, 90, 91, 92, 93, 94, 95] : vector<64xf32>, vector<64xf32>
      row.write %w, %m[%at] : vector<64xf32>, memref<?xf32>
    }
  }
  return
}

// -----

// Interleaved scales fix the number of scales a step has.
func.func @interleave(%c: !dsv4.cache<64 x <nvfp4_352>>) {
  dsv4.kernel @k(%c) schedule <threads = 128, parts = [#dsv4.rows<lanes = 4, vector = 8>]> : (!dsv4.cache<64 x <nvfp4_352>>) -> () {
  ^bb0(%c1: !dsv4.cache<64 x <nvfp4_352>>):
    %m = dsv4.buffer %c1 : !dsv4.cache<64 x <nvfp4_352>> to memref<?xi8>
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    scf.forall (%row) in (%c4) {
      // expected-error @+1 {{schedule_rows_c3: interleaved scales need a step of 4 scales, got 2}}
      %v = row.read %m[%c0] {interleave = 4} : memref<?xi8> -> vector<32xf8E4M3FN>
      %a = arith.extf %v : vector<32xf8E4M3FN> to vector<32xf32>
      %b = row.expand %a : vector<32xf32> to vector<512xf32>
      row.write %b, %m[%row] : vector<512xf32>, memref<?xi8>
    }
  }
  return
}

// -----

// What is not a write of a row would be left out.
func.func @store(%o: tensor<?x64xf32>) {
  dsv4.kernel @k(%o) schedule <threads = 128, parts = [#dsv4.rows<lanes = 8, vector = 8>]> : (tensor<?x64xf32>) -> () {
  ^bb0(%o1: tensor<?x64xf32>):
    %n = dsv4.row_count %o1 : tensor<?x64xf32>
    %m = dsv4.buffer %o1 : tensor<?x64xf32> to memref<?xf32>
    scf.forall (%row) in (%n) {
      %v = row.read %m[%row] : memref<?xf32> -> vector<64xf32>
      // expected-error @+1 {{'vector.store' op cannot be distributed over lanes}}
      vector.store %v, %m[%row] : memref<?xf32>, vector<64xf32>
    }
  }
  return
}

// -----

func.func @nested_guards(%o: tensor<?x64xf32>, %a: i1) {
  dsv4.kernel @k(%o) schedule <threads = 128, parts = [#dsv4.rows<lanes = 8, vector = 8>]> : (tensor<?x64xf32>) -> () {
  ^bb0(%o1: tensor<?x64xf32>):
    %n = dsv4.row_count %o1 : tensor<?x64xf32>
    %m = dsv4.buffer %o1 : tensor<?x64xf32> to memref<?xf32>
    %c64 = arith.constant 64 : index
    scf.forall (%row) in (%n) {
      %v = row.read %m[%row] : memref<?xf32> -> vector<64xf32>
      %b = arith.cmpi slt, %row, %c64 : index
      scf.if %b {
        // expected-error @+1 {{'scf.if' op is nested in another condition or has an else: expected one condition around the stores}}
        scf.if %b {
          row.write %v, %m[%row] : vector<64xf32>, memref<?xf32>
        }
      }
    }
  }
  return
}

// -----

func.func @two_indices(%o: tensor<?x8xf32>) {
  dsv4.kernel @k(%o) schedule <threads = 128, parts = [#dsv4.rows<lanes = 8, vector = 1>]> : (tensor<?x8xf32>) -> () {
  ^bb0(%o1: tensor<?x8xf32>):
    // expected-error @+1 {{'scf.forall' op is not a loop over rows: expected one index from 0 in steps of 1}}
    scf.forall (%i, %j) in (4, 4) {
    }
  }
  return
}

// -----

func.func @steps(%o: tensor<?x8xf32>) {
  dsv4.kernel @k(%o) schedule <threads = 128, parts = [#dsv4.rows<lanes = 8, vector = 1>]> : (tensor<?x8xf32>) -> () {
  ^bb0(%o1: tensor<?x8xf32>):
    // expected-error @+1 {{'scf.forall' op is not a loop over rows: expected one index from 0 in steps of 1}}
    scf.forall (%i) = (3) to (9) step (2) {
    }
  }
  return
}

// -----

func.func @store_beside_selection(%s: tensor<?x64xf32>, %o: tensor<?x8xi32>) {
  dsv4.kernel @k(%s, %o) schedule <threads = 64, parts = [#dsv4.select<algorithm = block, vector = 4>]> : (tensor<?x64xf32>, tensor<?x8xi32>) -> () {
  ^bb0(%s1: tensor<?x64xf32>, %o1: tensor<?x8xi32>):
    %n = dsv4.row_count %s1 : tensor<?x64xf32>
    %c64 = arith.constant 64 : index
    %m = dsv4.buffer %s1 : tensor<?x64xf32> to memref<?xf32>
    %w = dsv4.buffer %o1 : tensor<?x8xi32> to memref<?xi32>
    scf.forall (%row) in (%n) {
      %c8 = arith.constant 8 : index
      %one = arith.constant 1 : i32
      %from = arith.muli %row, %c64 : index
      %to = arith.muli %row, %c8 : index
      %x = row.read %m[%from] : memref<?xf32> -> vector<64xf32>
      %i, %v = row.select %x length %c64 : vector<64xf32> -> vector<8xi32>, vector<8xf32>
      %first = arith.cmpi ult, %row, %c64 : index
      scf.if %first {
        // expected-error @+1 {{'memref.store' op writes memory in the program of a selection, which has ranks and no rows: expected a row.write of what is selected}}
        memref.store %one, %w[%to] : memref<?xi32>
      }
      row.write %i, %w[%to] : vector<8xi32>, memref<?xi32>
    }
  }
  return
}

// -----

// Two warps have a row of the window, and no device call exchanges values between them.
func.func @reduce_between_warps(%s: tensor<?x128xf32>, %o: tensor<?x128xf32>) {
  dsv4.kernel @k(%s, %o) schedule <threads = 64, parts = [#dsv4.rows<lanes = 16, vector = 4>, #dsv4.window<elements = 2>]> : (tensor<?x128xf32>, tensor<?x128xf32>) -> () {
  ^bb0(%s1: tensor<?x128xf32>, %o1: tensor<?x128xf32>):
    %n = dsv4.row_count %o1 : tensor<?x128xf32>
    %from = dsv4.buffer %s1 : tensor<?x128xf32> to memref<?xf32>
    %to = dsv4.buffer %o1 : tensor<?x128xf32> to memref<?xf32>
    %c128 = arith.constant 128 : index
    %yes = arith.constant true
    scf.forall (%row) in (%n) {
      %at = arith.muli %row, %c128 : index
      %mean = row.window_reduce 8 : vector<128xf32> {
        row.window %yes scores {
        ^bb0(%member: index):
          %x = row.read %from[%member] : memref<?xf32> -> vector<128xf32>
          // expected-error @+1 {{'row.reduce' op exchanges values between 2 warps that hold 128 elements of a row, which no device call does: expected at most 64 elements, which the lanes of one warp hold side by side}}
          %sum = row.reduce sum %x per 128 : vector<128xf32> to vector<1xf32>
          %all = row.expand %sum : vector<1xf32> to vector<128xf32>
          row.yield %all : vector<128xf32>
        } values {
        ^bb0(%member: index):
          %x = row.read %from[%member] : memref<?xf32> -> vector<128xf32>
          row.yield %x : vector<128xf32>
        } else {
        ^bb0(%member: index):
          %x = row.read %from[%member] : memref<?xf32> -> vector<128xf32>
          row.window_row %yes, %x, %x : vector<128xf32>, vector<128xf32>
        }
      }
      row.write %mean, %to[%at] : vector<128xf32>, memref<?xf32>
    }
  }
  return
}

// -----

// So have two blocks of a cluster.
func.func @transform_between_blocks(%s: tensor<?x128xf32>, %o: tensor<?x128xf32>) {
  dsv4.kernel @k(%s, %o) schedule <threads = 64, cluster = 2, parts = [#dsv4.rows<lanes = 16, vector = 4>, #dsv4.window<elements = 2>]> : (tensor<?x128xf32>, tensor<?x128xf32>) -> () {
  ^bb0(%s1: tensor<?x128xf32>, %o1: tensor<?x128xf32>):
    %n = dsv4.row_count %o1 : tensor<?x128xf32>
    %from = dsv4.buffer %s1 : tensor<?x128xf32> to memref<?xf32>
    %to = dsv4.buffer %o1 : tensor<?x128xf32> to memref<?xf32>
    %c128 = arith.constant 128 : index
    %yes = arith.constant true
    scf.forall (%row) in (%n) {
      %at = arith.muli %row, %c128 : index
      %mean = row.window_reduce 8 : vector<128xf32> {
        row.window %yes scores {
        ^bb0(%member: index):
          %x = row.read %from[%member] : memref<?xf32> -> vector<128xf32>
          // expected-error @+1 {{'row.hadamard' op exchanges values between 2 blocks that hold 128 elements of a row}}
          %h = row.hadamard %x : vector<128xf32>
          row.yield %h : vector<128xf32>
        } values {
        ^bb0(%member: index):
          %x = row.read %from[%member] : memref<?xf32> -> vector<128xf32>
          row.yield %x : vector<128xf32>
        } else {
        ^bb0(%member: index):
          %x = row.read %from[%member] : memref<?xf32> -> vector<128xf32>
          row.window_row %yes, %x, %x : vector<128xf32>, vector<128xf32>
        }
      }
      row.write %mean, %to[%at] : vector<128xf32>, memref<?xf32>
    }
  }
  return
}

// -----

// No verifier of a kernel has seen a row program, so distribution asks the schedule.
func.func @select_c6(%arg_s: memref<?xf32>, %arg_o: memref<?xi32>, %arg_n: index) {
  dsv4.kernel @k(%arg_s, %arg_o, %arg_n) schedule <threads = 128, parts = [#dsv4.select<algorithm = block, vector = 4>]>
      : (memref<?xf32>, memref<?xi32>, index) -> () {
  ^bb0(%s: memref<?xf32>, %o: memref<?xi32>, %n: index):
    scf.forall (%row) in (4) {
      %x = row.read %s[%row] : memref<?xf32> -> vector<4128xf32>
      // expected-error @+1 {{'row.select' op schedule_select_c6: with 'algorithm = block' 1 x 128 threads have a row in registers, 4096 elements at most, and it can have 4128;}}
      %i, %v = row.select %x length %n : vector<4128xf32> -> vector<8xi32>, vector<8xf32>
      row.write %i, %o[%row] : vector<8xi32>, memref<?xi32>
    }
    dsv4.yield
  }
  return
}

// -----

func.func @select_c5(%arg_s: memref<?xf32>, %arg_o: memref<?xi32>, %arg_n: index) {
  dsv4.kernel @k(%arg_s, %arg_o, %arg_n) schedule <threads = 128, parts = [#dsv4.select<algorithm = warp, vector = 4>]>
      : (memref<?xf32>, memref<?xi32>, index) -> () {
  ^bb0(%s: memref<?xf32>, %o: memref<?xi32>, %n: index):
    scf.forall (%row) in (4) {
      %x = row.read %s[%row] : memref<?xf32> -> vector<64xf32>
      // expected-error @+1 {{'row.select' op schedule_select_c5: a warp selects at most 32 elements from at most 1024, got 33 from 64}}
      %i, %v = row.select %x length %n : vector<64xf32> -> vector<33xi32>, vector<33xf32>
      row.write %i, %o[%row] : vector<33xi32>, memref<?xi32>
    }
    dsv4.yield
  }
  return
}

// -----

// The program counts blocks that the grid would not launch.
func.func @grid(%o: tensor<?x64xf32>) {
  dsv4.kernel @k(%o) schedule <threads = 128, parts = [#dsv4.rows<lanes = 4, vector = 4>]> : (tensor<?x64xf32>) -> () {
  ^bb0(%o1: tensor<?x64xf32>):
    %n = dsv4.row_count %o1 : tensor<?x64xf32>
    %m = dsv4.buffer %o1 : tensor<?x64xf32> to memref<?xf32>
    // expected-error @+1 {{'dsv4.grid' op is in a kernel with the row program of an 'scf.forall', whose blocks follow from the schedule and the number of rows; expected one of the two in a kernel}}
    dsv4.grid %n
    // expected-note @+1 {{the 'scf.forall' is here}}
    scf.forall (%row) in (%n) {
      %v = row.read %m[%row] : memref<?xf32> -> vector<64xf32>
      row.write %v, %m[%row] : vector<64xf32>, memref<?xf32>
    }
  }
  return
}
