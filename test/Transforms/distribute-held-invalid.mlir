// Rows that an op hands to warps, which a kernel cannot use.

// RUN: dsv4-opt %s --dsv4-distribute-rows --split-input-file --verify-diagnostics

func.func @no_source(%h: tensor<?x64xbf16>, %w: tensor<8x64xbf16>, %o: tensor<?x4xi32>, %p: tensor<?x8xf32>) {
  dsv4.kernel @k(%h, %w, %o, %p) schedule <threads = 32, parts = [#dsv4.select<algorithm = held, vector = 4>]>
      : (tensor<?x64xbf16>, tensor<8x64xbf16>, tensor<?x4xi32>, tensor<?x8xf32>) -> () {
  ^bb0(%h1: tensor<?x64xbf16>, %w1: tensor<8x64xbf16>, %o1: tensor<?x4xi32>, %p1: tensor<?x8xf32>):
    %n = dsv4.row_count %h1 : tensor<?x64xbf16>
    %hm = dsv4.buffer %h1 : tensor<?x64xbf16> to memref<?xbf16>
    %wm = dsv4.buffer %w1 : tensor<8x64xbf16> to memref<?xbf16>
    %om = dsv4.buffer %o1 : tensor<?x4xi32> to memref<?xi32>
    %pm = dsv4.buffer %p1 : tensor<?x8xf32> to memref<?xf32>
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %c64 = arith.constant 64 : index
    scf.forall (%row) in (%n) {
      %at = arith.muli %row, %c4 : index
      %all = arith.muli %row, %c8 : index
      %s = row.read %pm[%all] : memref<?xf32> -> vector<8xf32>
      // expected-error @+1 {{schedule_select_c9: expected an op of the kernel that hands whole rows to warps, with 'algorithm = held'}}
      %i, %v = row.select %s length %c8 : vector<8xf32> -> vector<4xi32>, vector<4xf32>
      row.write %i, %om[%at] : vector<4xi32>, memref<?xi32>
    }
  }
  return
}

// -----

func.func @no_part(%h: tensor<?x64xbf16>, %w: tensor<8x64xbf16>, %o: tensor<?x4xi32>, %p: tensor<?x8xf32>) {
  dsv4.kernel @k(%h, %w, %o, %p) schedule <threads = 32, parts = [#dsv4.select<algorithm = held, vector = 4>]>
      : (tensor<?x64xbf16>, tensor<8x64xbf16>, tensor<?x4xi32>, tensor<?x8xf32>) -> () {
  ^bb0(%h1: tensor<?x64xbf16>, %w1: tensor<8x64xbf16>, %o1: tensor<?x4xi32>, %p1: tensor<?x8xf32>):
    %n = dsv4.row_count %h1 : tensor<?x64xbf16>
    %hm = dsv4.buffer %h1 : tensor<?x64xbf16> to memref<?xbf16>
    %wm = dsv4.buffer %w1 : tensor<8x64xbf16> to memref<?xbf16>
    %om = dsv4.buffer %o1 : tensor<?x4xi32> to memref<?xi32>
    %pm = dsv4.buffer %p1 : tensor<?x8xf32> to memref<?xf32>
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %c64 = arith.constant 64 : index
    scf.forall (%row) in (%n) {
      %at = arith.muli %row, %c4 : index
      %all = arith.muli %row, %c8 : index
      // expected-error @+1 {{has no tile shape: the schedule lacks the part of this tile source}}
      %s = row.router_logits %hm apart %c64 weights %wm apart %c64 depth 64
          : memref<?xbf16>, memref<?xbf16> -> vector<8xf32>
      %i, %v = row.select %s length %c8 : vector<8xf32> -> vector<4xi32>, vector<4xf32>
      row.write %i, %om[%at] : vector<4xi32>, memref<?xi32>
    }
  }
  return
}

// -----

func.func @warp(%h: tensor<?x64xbf16>, %w: tensor<8x64xbf16>, %o: tensor<?x4xi32>, %p: tensor<?x8xf32>) {
  dsv4.kernel @k(%h, %w, %o, %p) schedule <threads = 32, parts = [#dsv4.select<algorithm = warp, vector = 4>, #dsv4.router<form = rows, rows = 8, experts = 16, slices = 1, blocks = 1>]>
      : (tensor<?x64xbf16>, tensor<8x64xbf16>, tensor<?x4xi32>, tensor<?x8xf32>) -> () {
  ^bb0(%h1: tensor<?x64xbf16>, %w1: tensor<8x64xbf16>, %o1: tensor<?x4xi32>, %p1: tensor<?x8xf32>):
    %n = dsv4.row_count %h1 : tensor<?x64xbf16>
    %hm = dsv4.buffer %h1 : tensor<?x64xbf16> to memref<?xbf16>
    %wm = dsv4.buffer %w1 : tensor<8x64xbf16> to memref<?xbf16>
    %om = dsv4.buffer %o1 : tensor<?x4xi32> to memref<?xi32>
    %pm = dsv4.buffer %p1 : tensor<?x8xf32> to memref<?xf32>
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %c64 = arith.constant 64 : index
    scf.forall (%row) in (%n) {
      %at = arith.muli %row, %c4 : index
      %all = arith.muli %row, %c8 : index
      %s = row.router_logits %hm apart %c64 weights %wm apart %c64 depth 64
          : memref<?xbf16>, memref<?xbf16> -> vector<8xf32>
      // expected-error @+1 {{schedule_select_c8: expected 'algorithm = tile' or 'resident' where scores are computed tile by tile, and only there}}
      %i, %v = row.select %s length %c8 : vector<8xf32> -> vector<4xi32>, vector<4xf32>
      row.write %i, %om[%at] : vector<4xi32>, memref<?xi32>
    }
  }
  return
}

// -----

func.func @tiles(%h: tensor<?x64xbf16>, %w: tensor<8x64xbf16>, %o: tensor<?x4xi32>, %p: tensor<?x8xf32>) {
  dsv4.kernel @k(%h, %w, %o, %p) schedule <threads = 256, parts = [#dsv4.select<algorithm = held, vector = 4>, #dsv4.router<form = tiles, step = 64, stages = 2>]>
      : (tensor<?x64xbf16>, tensor<8x64xbf16>, tensor<?x4xi32>, tensor<?x8xf32>) -> () {
  ^bb0(%h1: tensor<?x64xbf16>, %w1: tensor<8x64xbf16>, %o1: tensor<?x4xi32>, %p1: tensor<?x8xf32>):
    %n = dsv4.row_count %h1 : tensor<?x64xbf16>
    %hm = dsv4.buffer %h1 : tensor<?x64xbf16> to memref<?xbf16>
    %wm = dsv4.buffer %w1 : tensor<8x64xbf16> to memref<?xbf16>
    %om = dsv4.buffer %o1 : tensor<?x4xi32> to memref<?xi32>
    %pm = dsv4.buffer %p1 : tensor<?x8xf32> to memref<?xf32>
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %c64 = arith.constant 64 : index
    scf.forall (%row) in (%n) {
      %at = arith.muli %row, %c4 : index
      %all = arith.muli %row, %c8 : index
      // expected-error @+1 {{schedule_router_c6: has no whole rows with 'form = tiles': expected 'form = rows'}}
      %s = row.router_logits %hm apart %c64 weights %wm apart %c64 depth 64
          : memref<?xbf16>, memref<?xbf16> -> vector<8xf32>
      %i, %v = row.select %s length %c8 : vector<8xf32> -> vector<4xi32>, vector<4xf32>
      row.write %i, %om[%at] : vector<4xi32>, memref<?xi32>
    }
  }
  return
}

// -----

func.func @stored(%h: tensor<?x64xbf16>, %w: tensor<8x64xbf16>, %o: tensor<?x4xi32>, %p: tensor<?x8xf32>) {
  dsv4.kernel @k(%h, %w, %o, %p) schedule <threads = 32, parts = [#dsv4.select<algorithm = held, vector = 4>, #dsv4.router<form = rows, rows = 8, experts = 16, slices = 1, blocks = 1>]>
      : (tensor<?x64xbf16>, tensor<8x64xbf16>, tensor<?x4xi32>, tensor<?x8xf32>) -> () {
  ^bb0(%h1: tensor<?x64xbf16>, %w1: tensor<8x64xbf16>, %o1: tensor<?x4xi32>, %p1: tensor<?x8xf32>):
    %n = dsv4.row_count %h1 : tensor<?x64xbf16>
    %hm = dsv4.buffer %h1 : tensor<?x64xbf16> to memref<?xbf16>
    %wm = dsv4.buffer %w1 : tensor<8x64xbf16> to memref<?xbf16>
    %om = dsv4.buffer %o1 : tensor<?x4xi32> to memref<?xi32>
    %pm = dsv4.buffer %p1 : tensor<?x8xf32> to memref<?xf32>
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %c64 = arith.constant 64 : index
    scf.forall (%row) in (%n) {
      %at = arith.muli %row, %c4 : index
      %all = arith.muli %row, %c8 : index
      %s = row.router_logits %hm apart %c64 weights %wm apart %c64 depth 64
          : memref<?xbf16>, memref<?xbf16> -> vector<8xf32>
      %i, %v = row.select %s length %c8 : vector<8xf32> -> vector<4xi32>, vector<4xf32>
      // expected-error @+1 {{reads a row that 'row.router_logits' hands to the lanes of a warp, for a selection alone: put what computes it into a kernel of its own}}
      row.write %s, %pm[%all] : vector<8xf32>, memref<?xf32>
      row.write %i, %om[%at] : vector<4xi32>, memref<?xi32>
    }
  }
  return
}

// -----

func.func @lanes(%h: tensor<?x64xbf16>, %w: tensor<8x64xbf16>, %o: tensor<?x4xi32>, %p: tensor<?x8xf32>) {
  dsv4.kernel @k(%h, %w, %o, %p) schedule <threads = 32, parts = [#dsv4.rows<lanes = 32, vector = 1>]>
      : (tensor<?x64xbf16>, tensor<8x64xbf16>, tensor<?x4xi32>, tensor<?x8xf32>) -> () {
  ^bb0(%h1: tensor<?x64xbf16>, %w1: tensor<8x64xbf16>, %o1: tensor<?x4xi32>, %p1: tensor<?x8xf32>):
    %n = dsv4.row_count %h1 : tensor<?x64xbf16>
    %hm = dsv4.buffer %h1 : tensor<?x64xbf16> to memref<?xbf16>
    %wm = dsv4.buffer %w1 : tensor<8x64xbf16> to memref<?xbf16>
    %om = dsv4.buffer %o1 : tensor<?x4xi32> to memref<?xi32>
    %pm = dsv4.buffer %p1 : tensor<?x8xf32> to memref<?xf32>
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %c64 = arith.constant 64 : index
    scf.forall (%row) in (%n) {
      %at = arith.muli %row, %c4 : index
      %all = arith.muli %row, %c8 : index
      // expected-error @+1 {{computes rows tile by tile, which only a selection can consume}}
      %s = row.router_logits %hm apart %c64 weights %wm apart %c64 depth 64
          : memref<?xbf16>, memref<?xbf16> -> vector<8xf32>
      row.write %s, %pm[%all] : vector<8xf32>, memref<?xf32>
    }
  }
  return
}

// -----

func.func @start(%h: tensor<?x64xbf16>, %w: tensor<8x64xbf16>, %o: tensor<?x4xi32>, %p: tensor<?x8xf32>) {
  dsv4.kernel @k(%h, %w, %o, %p) schedule <threads = 32, parts = [#dsv4.select<algorithm = held, vector = 4>, #dsv4.router<form = rows, rows = 8, experts = 16, slices = 1, blocks = 1>]>
      : (tensor<?x64xbf16>, tensor<8x64xbf16>, tensor<?x4xi32>, tensor<?x8xf32>) -> () {
  ^bb0(%h1: tensor<?x64xbf16>, %w1: tensor<8x64xbf16>, %o1: tensor<?x4xi32>, %p1: tensor<?x8xf32>):
    %n = dsv4.row_count %h1 : tensor<?x64xbf16>
    %hm = dsv4.buffer %h1 : tensor<?x64xbf16> to memref<?xbf16>
    %wm = dsv4.buffer %w1 : tensor<8x64xbf16> to memref<?xbf16>
    %om = dsv4.buffer %o1 : tensor<?x4xi32> to memref<?xi32>
    %pm = dsv4.buffer %p1 : tensor<?x8xf32> to memref<?xf32>
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %c64 = arith.constant 64 : index
    scf.forall (%row) in (%n) {
      %at = arith.muli %row, %c4 : index
      %all = arith.muli %row, %c8 : index
      %s = row.router_logits %hm apart %c64 weights %wm apart %c64 depth 64
          : memref<?xbf16>, memref<?xbf16> -> vector<8xf32>
      // expected-error @+1 {{begins within a row of which lanes have the first columns: expected no 'from' with 'algorithm = held'}}
      %i, %v = row.select %s from %c4 length %c8 : vector<8xf32> -> vector<4xi32>, vector<4xf32>
      row.write %i, %om[%at] : vector<4xi32>, memref<?xi32>
    }
  }
  return
}

// -----

func.func @tile(%h: tensor<?x64xbf16>, %w: tensor<8x64xbf16>, %o: tensor<?x4xi32>, %p: tensor<?x8xf32>) {
  dsv4.kernel @k(%h, %w, %o, %p) schedule <threads = 32, parts = [#dsv4.select<algorithm = tile, vector = 1>, #dsv4.router<form = rows, rows = 8, experts = 16, slices = 1, blocks = 1>]>
      : (tensor<?x64xbf16>, tensor<8x64xbf16>, tensor<?x4xi32>, tensor<?x8xf32>) -> () {
  ^bb0(%h1: tensor<?x64xbf16>, %w1: tensor<8x64xbf16>, %o1: tensor<?x4xi32>, %p1: tensor<?x8xf32>):
    %n = dsv4.row_count %h1 : tensor<?x64xbf16>
    %hm = dsv4.buffer %h1 : tensor<?x64xbf16> to memref<?xbf16>
    %wm = dsv4.buffer %w1 : tensor<8x64xbf16> to memref<?xbf16>
    %om = dsv4.buffer %o1 : tensor<?x4xi32> to memref<?xi32>
    %pm = dsv4.buffer %p1 : tensor<?x8xf32> to memref<?xf32>
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %c64 = arith.constant 64 : index
    scf.forall (%row) in (%n) {
      %at = arith.muli %row, %c4 : index
      %all = arith.muli %row, %c8 : index
      %s = row.router_logits %hm apart %c64 weights %wm apart %c64 depth 64
          : memref<?xbf16>, memref<?xbf16> -> vector<8xf32>
      // expected-error @+1 {{selects from 'row.router_logits', whose tiles have rows of the whole launch: expected 'algorithm = held'}}
      %i, %v = row.select %s length %c8 : vector<8xf32> -> vector<4xi32>, vector<4xf32>
      row.write %i, %om[%at] : vector<4xi32>, memref<?xi32>
    }
  }
  return
}
