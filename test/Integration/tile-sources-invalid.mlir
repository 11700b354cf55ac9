// One function for each clause of test/lib/tiletest/TileTestOps.td, and what a kernel cannot do with tiles.

// RUN: dsv4-tile-opt %s --dsv4-distribute-rows --split-input-file --verify-diagnostics

func.func @scores_c1(%q: tensor<?x8xi8>, %k: tensor<?x8xi8>, %o: tensor<?x64xf32>) {
  // expected-error @+1 {{scores_c1: expected 'queries' [T, D] and 'keys' [N, D] with a constant D of 1 to 1024 and a constant N, got 'tensor<?x8xi8>' and 'tensor<?x8xi8>'}}
  %0 = tiletest.scores %q, %k outs(%o : tensor<?x64xf32>) : tensor<?x8xi8>, tensor<?x8xi8> to tensor<?x64xf32>
  return
}

// -----

func.func @scores_c2(%q: tensor<?x8xi8>, %k: tensor<64x8xi8>, %o: tensor<?x63xf32>) {
  // expected-error @+1 {{scores_c2: expected 'outs' with 64 columns, got 'tensor<?x63xf32>'}}
  %0 = tiletest.scores %q, %k outs(%o : tensor<?x63xf32>) : tensor<?x8xi8>, tensor<64x8xi8> to tensor<?x63xf32>
  return
}

// -----

// expected-error @+1 {{tiles_c1: expected positive 'rows', 'columns' and 'warps', got 3, 0 and 2}}
#part = #tiletest.tiles<rows = 3, columns = 0, warps = 2>

// -----

// expected-error @+1 {{tiles_c2: expected 96 'threads', got 128}}
#schedule = #dsv4.schedule<threads = 128, parts = [#dsv4.select<algorithm = tile, vector = 1>, #tiletest.tiles<rows = 3, columns = 16, warps = 2>]>

// -----

// A selection reads columns, and these come as tiles.
func.func @schedule_select_c8(%q: tensor<4x8xi8>, %k: tensor<64x8xi8>, %o: tensor<4x64xf32>, %i: tensor<4x8xi32>) {
  // expected-error @+1 {{schedule_select_c8: 'tiletest.scores' computes its rows tile by tile; expected 'algorithm = tile' or 'resident'}}
  %0 = dsv4.kernel @k(%q, %k, %o, %i) schedule <threads = 96, parts = [#dsv4.select<algorithm = warp, vector = 2>, #tiletest.tiles<rows = 3, columns = 16, warps = 2>]>
      : (tensor<4x8xi8>, tensor<64x8xi8>, tensor<4x64xf32>, tensor<4x8xi32>) -> tensor<4x8xi32> {
  ^bb0(%a: tensor<4x8xi8>, %b: tensor<64x8xi8>, %c: tensor<4x64xf32>, %d: tensor<4x8xi32>):
    %s = tiletest.scores %a, %b outs(%c : tensor<4x64xf32>) : tensor<4x8xi8>, tensor<64x8xi8> to tensor<4x64xf32>
    %1 = dsv4.topk %s outs(%d : tensor<4x8xi32>) : tensor<4x64xf32>
    dsv4.yield %1 : tensor<4x8xi32>
  }
  return
}

// -----

func.func @schedule_select_c6(%q: tensor<4x8xi8>, %k: tensor<2049x8xi8>, %o: tensor<4x2049xf32>, %i: tensor<4x8xi32>) {
  // expected-error @+1 {{schedule_select_c6: with 'algorithm = resident' 1 x 64 threads have a row in registers, 2048 elements at most, and it can have 2049; expected more 'threads', a larger 'cluster', 'algorithm = tile', or columns that are known to be fewer (constant)}}
  %0 = dsv4.kernel @k(%q, %k, %o, %i) schedule <threads = 64, parts = [#dsv4.select<algorithm = resident, vector = 4>, #tiletest.tiles<rows = 3, columns = 16, warps = 1>]>
      : (tensor<4x8xi8>, tensor<2049x8xi8>, tensor<4x2049xf32>, tensor<4x8xi32>) -> tensor<4x8xi32> {
  ^bb0(%a: tensor<4x8xi8>, %b: tensor<2049x8xi8>, %c: tensor<4x2049xf32>, %d: tensor<4x8xi32>):
    %s = tiletest.scores %a, %b outs(%c : tensor<4x2049xf32>) : tensor<4x8xi8>, tensor<2049x8xi8> to tensor<4x2049xf32>
    %1 = dsv4.topk %s outs(%d : tensor<4x8xi32>) : tensor<4x2049xf32>
    dsv4.yield %1 : tensor<4x8xi32>
  }
  return
}

// -----

func.func @schedule_select_c6_cluster(%q: tensor<4x8xi8>, %k: tensor<6148x8xi8>, %o: tensor<4x6148xf32>, %i: tensor<4x8xi32>) {
  // expected-error @+1 {{schedule_select_c6: with 'algorithm = resident' 3 x 64 threads have a row in registers, 6144 elements at most, and it can have 6148; expected more 'threads', a larger 'cluster', 'algorithm = tile', or columns that are known to be fewer (constant)}}
  %0 = dsv4.kernel @k(%q, %k, %o, %i) schedule <threads = 64, cluster = 3, parts = [#dsv4.select<algorithm = resident, vector = 4>, #tiletest.tiles<rows = 3, columns = 16, warps = 1>]>
      : (tensor<4x8xi8>, tensor<6148x8xi8>, tensor<4x6148xf32>, tensor<4x8xi32>) -> tensor<4x8xi32> {
  ^bb0(%a: tensor<4x8xi8>, %b: tensor<6148x8xi8>, %c: tensor<4x6148xf32>, %d: tensor<4x8xi32>):
    %s = tiletest.scores %a, %b outs(%c : tensor<4x6148xf32>) : tensor<4x8xi8>, tensor<6148x8xi8> to tensor<4x6148xf32>
    %1 = dsv4.topk %s outs(%d : tensor<4x8xi32>) : tensor<4x6148xf32>
    dsv4.yield %1 : tensor<4x8xi32>
  }
  return
}

// -----

func.func @schedule_select_c8_block(%q: tensor<4x8xi8>, %k: tensor<64x8xi8>, %o: tensor<4x64xf32>, %i: tensor<4x8xi32>) {
  // expected-error @+1 {{schedule_select_c8: 'tiletest.scores' computes its rows tile by tile; expected 'algorithm = tile' or 'resident'}}
  %0 = dsv4.kernel @k(%q, %k, %o, %i) schedule <threads = 128, cluster = 2, parts = [#dsv4.select<algorithm = block, vector = 4>, #tiletest.tiles<rows = 1, columns = 16, warps = 3>]>
      : (tensor<4x8xi8>, tensor<64x8xi8>, tensor<4x64xf32>, tensor<4x8xi32>) -> tensor<4x8xi32> {
  ^bb0(%a: tensor<4x8xi8>, %b: tensor<64x8xi8>, %c: tensor<4x64xf32>, %d: tensor<4x8xi32>):
    %s = tiletest.scores %a, %b outs(%c : tensor<4x64xf32>) : tensor<4x8xi8>, tensor<64x8xi8> to tensor<4x64xf32>
    %1 = dsv4.topk %s outs(%d : tensor<4x8xi32>) : tensor<4x64xf32>
    dsv4.yield %1 : tensor<4x8xi32>
  }
  return
}

// -----

// All rows of a block have their scores in shared memory at once.
func.func @schedule_c8_resident(%q: tensor<4x8xi8>, %k: tensor<2048x8xi8>, %o: tensor<4x2048xf32>, %i: tensor<4x8xi32>) {
  // expected-error @+1 {{schedule_c8: the parts of the schedule take 271600 bytes of shared memory (#dsv4.select 271088, #tiletest.tiles 512), and a block of any architecture has at most 232448; expected parts that take less, such as fewer rows or columns per block}}
  %0 = dsv4.kernel @k(%q, %k, %o, %i) schedule <threads = 64, parts = [#dsv4.select<algorithm = resident, vector = 4>, #tiletest.tiles<rows = 32, columns = 16, warps = 1>]>
      : (tensor<4x8xi8>, tensor<2048x8xi8>, tensor<4x2048xf32>, tensor<4x8xi32>) -> tensor<4x8xi32> {
  ^bb0(%a: tensor<4x8xi8>, %b: tensor<2048x8xi8>, %c: tensor<4x2048xf32>, %d: tensor<4x8xi32>):
    %s = tiletest.scores %a, %b outs(%c : tensor<4x2048xf32>) : tensor<4x8xi8>, tensor<2048x8xi8> to tensor<4x2048xf32>
    %1 = dsv4.topk %s outs(%d : tensor<4x8xi32>) : tensor<4x2048xf32>
    dsv4.yield %1 : tensor<4x8xi32>
  }
  return
}

// -----

// What parts take of the shared memory of a block adds up, here to more than any architecture has.
func.func @schedule_c8(%q: tensor<4x8xi8>, %k: tensor<64x8xi8>, %o: tensor<4x64xf32>, %i: tensor<4x8xi32>) {
  // expected-error @+1 {{schedule_c8: the parts of the schedule take 343408 bytes of shared memory (#dsv4.select 334704, #tiletest.tiles 8704), and a block of any architecture has at most 232448; expected parts that take less, such as fewer rows or columns per block}}
  %0 = dsv4.kernel @k(%q, %k, %o, %i) schedule <threads = 96, parts = [#dsv4.select<algorithm = tile, vector = 1>, #tiletest.tiles<rows = 64, columns = 512, warps = 2>]>
      : (tensor<4x8xi8>, tensor<64x8xi8>, tensor<4x64xf32>, tensor<4x8xi32>) -> tensor<4x8xi32> {
  ^bb0(%a: tensor<4x8xi8>, %b: tensor<64x8xi8>, %c: tensor<4x64xf32>, %d: tensor<4x8xi32>):
    %s = tiletest.scores %a, %b outs(%c : tensor<4x64xf32>) : tensor<4x8xi8>, tensor<64x8xi8> to tensor<4x64xf32>
    %1 = dsv4.topk %s outs(%d : tensor<4x8xi32>) : tensor<4x64xf32>
    dsv4.yield %1 : tensor<4x8xi32>
  }
  return
}

// -----

// A row program that reads columns of what comes as tiles.
func.func @row_c8(%arg_q: memref<?xi8>, %arg_k: memref<?xi8>, %arg_o: memref<?xi32>, %arg_n: index) {
  dsv4.kernel @k(%arg_q, %arg_k, %arg_o, %arg_n) schedule <threads = 96, parts = [#dsv4.select<algorithm = warp, vector = 2>, #tiletest.tiles<rows = 3, columns = 16, warps = 2>]> : (memref<?xi8>, memref<?xi8>, memref<?xi32>, index) -> () {
  ^bb0(%q: memref<?xi8>, %k: memref<?xi8>, %o: memref<?xi32>, %n: index):
    scf.forall (%row) in (4) {
      %s = tiletest.score_row %q[%row], %k depth 8 : memref<?xi8>, memref<?xi8> -> vector<64xf32>
      // expected-error @+1 {{schedule_select_c8: expected 'algorithm = tile' or 'resident' where scores are computed tile by tile, and only there}}
      %i, %v = row.select %s length %n : vector<64xf32> -> vector<8xi32>, vector<8xf32>
      row.write %i, %o[%row] : vector<8xi32>, memref<?xi32>
    }
    dsv4.yield
  }
  return
}

// -----

func.func @no_tiles(%arg_q: memref<?xi8>, %arg_k: memref<?xi8>, %arg_o: memref<?xi32>, %arg_n: index) {
  dsv4.kernel @k(%arg_q, %arg_k, %arg_o, %arg_n) schedule <threads = 96, parts = [#dsv4.select<algorithm = tile, vector = 1>]> : (memref<?xi8>, memref<?xi8>, memref<?xi32>, index) -> () {
  ^bb0(%q: memref<?xi8>, %k: memref<?xi8>, %o: memref<?xi32>, %n: index):
    scf.forall (%row) in (4) {
      // expected-error @+1 {{has no tile shape: the schedule lacks the part of this tile source}}
      %s = tiletest.score_row %q[%row], %k depth 8 : memref<?xi8>, memref<?xi8> -> vector<64xf32>
      %i, %v = row.select %s length %n : vector<64xf32> -> vector<8xi32>, vector<8xf32>
      row.write %i, %o[%row] : vector<8xi32>, memref<?xi32>
    }
    dsv4.yield
  }
  return
}

// -----

#schedule = #dsv4.schedule<threads = 96, parts = [#dsv4.select<algorithm = tile, vector = 1>, #tiletest.tiles<rows = 3, columns = 16, warps = 2>]>

func.func @groups(%arg_q: memref<?xi8>, %arg_k: memref<?xi8>, %arg_o: memref<?xi32>, %arg_n: index) {
  dsv4.kernel @k(%arg_q, %arg_k, %arg_o, %arg_n) schedule #schedule : (memref<?xi8>, memref<?xi8>, memref<?xi32>, index) -> () {
  ^bb0(%q: memref<?xi8>, %k: memref<?xi8>, %o: memref<?xi32>, %n: index):
    scf.forall (%row) in (4) {
      %s = tiletest.score_row %q[%row], %k depth 8 : memref<?xi8>, memref<?xi8> -> vector<64xf32>
      // expected-error @+1 {{chooses groups of a row that 'tiletest.score_row' computes tile by tile: expected one group, or scores in memory}}
      %i, %v = row.select %s length %n groups 4 keep 2 by 2 : vector<64xf32> -> vector<8xi32>, vector<8xf32>
      row.write %i, %o[%row] : vector<8xi32>, memref<?xi32>
    }
    dsv4.yield
  }
  return
}

// -----

#schedule = #dsv4.schedule<threads = 96, parts = [#dsv4.select<algorithm = tile, vector = 1>, #tiletest.tiles<rows = 3, columns = 16, warps = 2>]>

func.func @picked(%arg_q: memref<?xi8>, %arg_k: memref<?xi8>, %arg_o: memref<?xf32>, %arg_n: index) {
  dsv4.kernel @k(%arg_q, %arg_k, %arg_o, %arg_n) schedule #schedule : (memref<?xi8>, memref<?xi8>, memref<?xf32>, index) -> () {
  ^bb0(%q: memref<?xi8>, %k: memref<?xi8>, %o: memref<?xf32>, %n: index):
    scf.forall (%row) in (4) {
      %s = tiletest.score_row %q[%row], %k depth 8 : memref<?xi8>, memref<?xi8> -> vector<64xf32>
      %i, %v = row.select %s length %n : vector<64xf32> -> vector<8xi32>, vector<8xf32>
      // expected-error @+1 {{reads a row that 'tiletest.score_row' computes tile by tile, for 'row.select' alone: put what computes it into a kernel of its own}}
      %x = row.gather_elements %s at %i : vector<64xf32>, vector<8xi32> -> vector<8xf32>
      row.write %x, %o[%row] : vector<8xf32>, memref<?xf32>
    }
    dsv4.yield
  }
  return
}

// -----

#schedule = #dsv4.schedule<threads = 96, parts = [#dsv4.select<algorithm = tile, vector = 1>, #tiletest.tiles<rows = 3, columns = 16, warps = 2>]>

func.func @statistics(%arg_q: memref<?xi8>, %arg_k: memref<?xi8>, %arg_x: memref<?xf32>, %arg_o: memref<?xi32>, %arg_n: index) {
  dsv4.kernel @k(%arg_q, %arg_k, %arg_x, %arg_o, %arg_n) schedule #schedule : (memref<?xi8>, memref<?xi8>, memref<?xf32>, memref<?xi32>, index) -> () {
  ^bb0(%q: memref<?xi8>, %k: memref<?xi8>, %x: memref<?xf32>, %o: memref<?xi32>, %n: index):
    scf.forall (%row) in (4) {
      %s = tiletest.score_row %q[%row], %k depth 8 : memref<?xi8>, memref<?xi8> -> vector<64xf32>
      %y = row.read %x[%row] : memref<?xf32> -> vector<64xf32>
      %sum = row.reduce sum %y per 64 : vector<64xf32> to vector<1xf32>
      %all = row.expand %sum : vector<1xf32> to vector<64xf32>
      %t = arith.addf %s, %all : vector<64xf32>
      // expected-error @+1 {{selects from scores that need statistics of a row that 'tiletest.score_row' computes tile by tile}}
      %i, %v = row.select %t length %n : vector<64xf32> -> vector<8xi32>, vector<8xf32>
      row.write %i, %o[%row] : vector<8xi32>, memref<?xi32>
    }
    dsv4.yield
  }
  return
}

// -----

#schedule = #dsv4.schedule<threads = 96, parts = [#dsv4.select<algorithm = tile, vector = 1>, #tiletest.tiles<rows = 3, columns = 16, warps = 2>]>

func.func @other_row(%arg_q: memref<?xi8>, %arg_k: memref<?xi8>, %arg_o: memref<?xi32>, %arg_n: index) {
  dsv4.kernel @k(%arg_q, %arg_k, %arg_o, %arg_n) schedule #schedule : (memref<?xi8>, memref<?xi8>, memref<?xi32>, index) -> () {
  ^bb0(%q: memref<?xi8>, %k: memref<?xi8>, %o: memref<?xi32>, %n: index):
    scf.forall (%row) in (4) {
      %next = arith.addi %row, %n : index
      // expected-error @+1 {{takes a value of one row, of which a tile has 3: expected the index of the row, or values that all rows share}}
      %s = tiletest.score_row %q[%next], %k depth 8 : memref<?xi8>, memref<?xi8> -> vector<64xf32>
      %i, %v = row.select %s length %n : vector<64xf32> -> vector<8xi32>, vector<8xf32>
      row.write %i, %o[%row] : vector<8xi32>, memref<?xi32>
    }
    dsv4.yield
  }
  return
}

// -----

#schedule = #dsv4.schedule<threads = 96, parts = [#dsv4.select<algorithm = tile, vector = 1>, #tiletest.tiles<rows = 64, columns = 512, warps = 2>]>

func.func @shared(%arg_q: memref<?xi8>, %arg_k: memref<?xi8>, %arg_o: memref<?xi32>, %arg_n: index) {
  dsv4.kernel @k(%arg_q, %arg_k, %arg_o, %arg_n) schedule #schedule : (memref<?xi8>, memref<?xi8>, memref<?xi32>, index) -> () {
  ^bb0(%q: memref<?xi8>, %k: memref<?xi8>, %o: memref<?xi32>, %n: index):
    scf.forall (%row) in (4) {
      %s = tiletest.score_row %q[%row], %k depth 8 : memref<?xi8>, memref<?xi8> -> vector<64xf32>
      // expected-error @+1 {{needs 343408 bytes of shared memory with its source 'tiletest.score_row', and a block has at most 232448: expected fewer rows per block, or fewer columns per tile}}
      %i, %v = row.select %s length %n : vector<64xf32> -> vector<8xi32>, vector<8xf32>
      row.write %i, %o[%row] : vector<8xi32>, memref<?xi32>
    }
    dsv4.yield
  }
  return
}

// -----

#schedule = #dsv4.schedule<threads = 64, parts = [#dsv4.select<algorithm = resident, vector = 4>, #tiletest.tiles<rows = 3, columns = 16, warps = 1>]>

func.func @resident_columns(%arg_q: memref<?xi8>, %arg_k: memref<?xi8>, %arg_o: memref<?xi32>, %arg_n: index) {
  dsv4.kernel @k(%arg_q, %arg_k, %arg_o, %arg_n) schedule #schedule : (memref<?xi8>, memref<?xi8>, memref<?xi32>, index) -> () {
  ^bb0(%q: memref<?xi8>, %k: memref<?xi8>, %o: memref<?xi32>, %n: index):
    scf.forall (%row) in (4) {
      %s = tiletest.score_row %q[%row], %k depth 8 : memref<?xi8>, memref<?xi8> -> vector<4096xf32>
      // expected-error @+1 {{schedule_select_c6: with 'algorithm = resident' 1 x 64 threads have a row in registers, 2048 elements at most, and it can have 4096;}}
      %i, %v = row.select %s length %n : vector<4096xf32> -> vector<8xi32>, vector<8xf32>
      row.write %i, %o[%row] : vector<8xi32>, memref<?xi32>
    }
    dsv4.yield
  }
  return
}

// -----

// Lists of the selection are in shared memory, too.
#schedule = #dsv4.schedule<threads = 64, parts = [#dsv4.select<algorithm = resident, vector = 4>, #tiletest.tiles<rows = 27, columns = 16, warps = 1>]>

func.func @resident_shared(%arg_q: memref<?xi8>, %arg_k: memref<?xi8>, %arg_o: memref<?xi32>, %arg_n: index) {
  dsv4.kernel @k(%arg_q, %arg_k, %arg_o, %arg_n) schedule #schedule : (memref<?xi8>, memref<?xi8>, memref<?xi32>, index) -> () {
  ^bb0(%q: memref<?xi8>, %k: memref<?xi8>, %o: memref<?xi32>, %n: index):
    scf.forall (%row) in (4) {
      %s = tiletest.score_row %q[%row], %k depth 8 : memref<?xi8>, memref<?xi8> -> vector<2048xf32>
      // expected-error @+1 {{needs 246928 bytes of shared memory with its source 'tiletest.score_row', and a block has at most 232448: expected fewer rows per block, or fewer columns per tile}}
      %i, %v = row.select %s length %n : vector<2048xf32> -> vector<2048xi32>, vector<2048xf32>
      row.write %i, %o[%row] : vector<2048xi32>, memref<?xi32>
    }
    dsv4.yield
  }
  return
}

// -----

// Nobody takes the tiles.
func.func @alone(%arg_q: memref<?xi8>, %arg_k: memref<?xi8>, %arg_o: memref<?xf32>) {
  dsv4.kernel @k(%arg_q, %arg_k, %arg_o) schedule <threads = 96, parts = [#dsv4.rows<lanes = 8, vector = 8>]> : (memref<?xi8>, memref<?xi8>, memref<?xf32>) -> () {
  ^bb0(%q: memref<?xi8>, %k: memref<?xi8>, %o: memref<?xf32>):
    scf.forall (%row) in (4) {
      // expected-error @+1 {{computes rows tile by tile, which only a selection can consume}}
      %s = tiletest.score_row %q[%row], %k depth 8 : memref<?xi8>, memref<?xi8> -> vector<64xf32>
      row.write %s, %o[%row] : vector<64xf32>, memref<?xf32>
    }
    dsv4.yield
  }
  return
}

// -----

#schedule = #dsv4.schedule<threads = 96, parts = [#dsv4.select<algorithm = tile, vector = 1>, #tiletest.tiles<rows = 3, columns = 16, warps = 2>]>

func.func @padding(%arg_q: memref<?xi8>, %arg_k: memref<?xi8>, %arg_o: memref<?xi32>, %arg_n: index) {
  dsv4.kernel @k(%arg_q, %arg_k, %arg_o, %arg_n) schedule #schedule : (memref<?xi8>, memref<?xi8>, memref<?xi32>, index) -> () {
  ^bb0(%q: memref<?xi8>, %k: memref<?xi8>, %o: memref<?xi32>, %n: index):
    scf.forall (%row) in (4) {
      %s = tiletest.score_row %q[%row], %k depth 8 : memref<?xi8>, memref<?xi8> -> vector<64xf32>
      // expected-error @+1 {{has ranks after those of elements, which only the lanes of a warp compute: expected no 'padding' of what 'tiletest.score_row' computes tile by tile}}
      %i, %v = row.select %s length %n padding 1 : vector<64xf32> -> vector<8xi32>, vector<8xf32>
      row.write %i, %o[%row] : vector<8xi32>, memref<?xi32>
    }
    dsv4.yield
  }
  return
}
