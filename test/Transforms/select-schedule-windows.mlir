// The schedules of kernels that pool windows: whether a block has one entry or several, by how many
// there may be and how long a window is.

// RUN: dsv4-opt %s --dsv4-select-schedule | FileCheck %s --check-prefixes=CHECK,BUILTIN,PDL,SM90
// RUN: dsv4-opt %s --dsv4-select-schedule="arch=sm_100a" | FileCheck %s --check-prefixes=CHECK,BUILTIN,PDL
// RUN: dsv4-opt %s --dsv4-select-schedule="arch=sm_80" | FileCheck %s --check-prefixes=CHECK,BUILTIN,SM80
// RUN: dsv4-opt %s --dsv4-select-schedule="table=%S/Inputs/windows.json" | FileCheck %s --check-prefixes=CHECK,TABLE
// RUN: sed -n '/^func.func @no_windows/,/^}/p' %s | dsv4-opt --dsv4-select-schedule="schedule=#dsv4.schedule<threads=128,cluster=2,parts=[#dsv4.rows<lanes=8,vector=8>,#dsv4.window<elements=2>]>" \
// RUN:   | FileCheck %s --check-prefix=GIVEN

// A decode step: the bucket of its dim says that entries are few.
// CHECK-LABEL: func.func @decode
func.func @decode(%v: tensor<?x1024xf32>, %p: tensor<?x4xi32> {dsv4.dims = ["entries", ""]}, %o: tensor<?x512xbf16>) -> tensor<?x512xbf16>
    attributes {dsv4.bounds = {entries = 64 : i64}} {
  // BUILTIN: schedule <threads = {{[0-9]+}}{{.*}}parts = [#dsv4.rows<lanes = 32, vector = 2>, #dsv4.window<elements = 2>]>
  // TABLE: schedule <threads = 128, parts = [#dsv4.rows<lanes = 16, vector = 4>, #dsv4.window<elements = 4, rows = 2>]>
  %0 = dsv4.kernel @decode(%v, %p, %o) : (tensor<?x1024xf32>, tensor<?x4xi32>, tensor<?x512xbf16>) -> tensor<?x512xbf16> {
  ^bb0(%v1: tensor<?x1024xf32>, %p1: tensor<?x4xi32>, %o1: tensor<?x512xbf16>):
    %r = dsv4.compress %v1, %v1 window 4 overlap plan(%p1 : tensor<?x4xi32>)
        outs(%o1 : tensor<?x512xbf16>) : tensor<?x1024xf32>, tensor<?x1024xf32>
    dsv4.yield %r : tensor<?x512xbf16>
  }
  return %0 : tensor<?x512xbf16>
}

// As many as 256 are few, if known from the type.
// CHECK-LABEL: func.func @decode_256
func.func @decode_256(%v: tensor<?x1024xf32>, %p: tensor<256x4xi32>, %o: tensor<256x512xbf16>) -> tensor<256x512xbf16> {
  // BUILTIN: schedule <threads = {{[0-9]+}}{{.*}}parts = [#dsv4.rows<lanes = 32, vector = 2>, #dsv4.window<elements = 2>]>
  // TABLE: schedule <threads = 256, parts = [#dsv4.rows<lanes = 8, vector = 8>, #dsv4.window<elements = 1, rows = 3>]>
  %0 = dsv4.kernel @decode_256(%v, %p, %o) : (tensor<?x1024xf32>, tensor<256x4xi32>, tensor<256x512xbf16>) -> tensor<256x512xbf16> {
  ^bb0(%v1: tensor<?x1024xf32>, %p1: tensor<256x4xi32>, %o1: tensor<256x512xbf16>):
    %r = dsv4.compress %v1, %v1 window 4 overlap plan(%p1 : tensor<256x4xi32>)
        outs(%o1 : tensor<256x512xbf16>) : tensor<?x1024xf32>, tensor<?x1024xf32>
    dsv4.yield %r : tensor<256x512xbf16>
  }
  return %0 : tensor<256x512xbf16>
}

// The next bucket is not few any more.
// CHECK-LABEL: func.func @decode_512
func.func @decode_512(%v: tensor<?x1024xf32>, %p: tensor<?x4xi32> {dsv4.dims = ["entries", ""]}, %o: tensor<?x512xbf16>) -> tensor<?x512xbf16>
    attributes {dsv4.bounds = {entries = 512 : i64}} {
  // BUILTIN: schedule <threads = {{[0-9]+}}{{.*}}parts = [#dsv4.rows<lanes = 32, vector = 2>, #dsv4.window<elements = 1, rows = 8>]>
  // TABLE: schedule <threads = 256, parts = [#dsv4.rows<lanes = 8, vector = 8>, #dsv4.window<elements = 1, rows = 3>]>
  %0 = dsv4.kernel @decode_512(%v, %p, %o) : (tensor<?x1024xf32>, tensor<?x4xi32>, tensor<?x512xbf16>) -> tensor<?x512xbf16> {
  ^bb0(%v1: tensor<?x1024xf32>, %p1: tensor<?x4xi32>, %o1: tensor<?x512xbf16>):
    %r = dsv4.compress %v1, %v1 window 4 overlap plan(%p1 : tensor<?x4xi32>)
        outs(%o1 : tensor<?x512xbf16>) : tensor<?x1024xf32>, tensor<?x1024xf32>
    dsv4.yield %r : tensor<?x512xbf16>
  }
  return %0 : tensor<?x512xbf16>
}

// Nothing is known of their number.
// CHECK-LABEL: func.func @prefill
func.func @prefill(%v: tensor<?x1024xf32>, %p: tensor<?x4xi32>, %o: tensor<?x512xbf16>) -> tensor<?x512xbf16> {
  // PDL: schedule <{{.*}}, pdl = true, parts = [{{.*}}, #dsv4.window<elements = 1, rows = 8>]>
  // SM80: schedule <threads = {{[0-9]+}}, min_blocks = 2, parts = [#dsv4.rows<lanes = 32, vector = 2>, #dsv4.window<elements = 1, rows = 8>]>
  // TABLE: schedule <threads = 256, parts = [#dsv4.rows<lanes = 8, vector = 8>, #dsv4.window<elements = 1, rows = 3>]>
  %0 = dsv4.kernel @prefill(%v, %p, %o) : (tensor<?x1024xf32>, tensor<?x4xi32>, tensor<?x512xbf16>) -> tensor<?x512xbf16> {
  ^bb0(%v1: tensor<?x1024xf32>, %p1: tensor<?x4xi32>, %o1: tensor<?x512xbf16>):
    %r = dsv4.compress %v1, %v1 window 4 overlap plan(%p1 : tensor<?x4xi32>)
        outs(%o1 : tensor<?x512xbf16>) : tensor<?x1024xf32>, tensor<?x1024xf32>
    dsv4.yield %r : tensor<?x512xbf16>
  }
  return %0 : tensor<?x512xbf16>
}

// Keys of the indexer: no more threads than have work, no more rows than these hold.
// CHECK-LABEL: func.func @index_keys
func.func @index_keys(%v: tensor<?x256xf32>, %p: tensor<?x4xi32>, %o: tensor<?x128xbf16>) -> tensor<?x128xbf16> {
  // BUILTIN: schedule <threads = 64{{.*}}parts = [#dsv4.rows<lanes = 32, vector = 2>, #dsv4.window<elements = 2, rows = 2>]>
  // TABLE: schedule <threads = 128, parts = [#dsv4.rows<lanes = 8, vector = 8>, #dsv4.window<elements = 1, rows = 3>]>
  %0 = dsv4.kernel @index_keys(%v, %p, %o) : (tensor<?x256xf32>, tensor<?x4xi32>, tensor<?x128xbf16>) -> tensor<?x128xbf16> {
  ^bb0(%v1: tensor<?x256xf32>, %p1: tensor<?x4xi32>, %o1: tensor<?x128xbf16>):
    %r = dsv4.compress %v1, %v1 window 4 overlap plan(%p1 : tensor<?x4xi32>)
        outs(%o1 : tensor<?x128xbf16>) : tensor<?x256xf32>, tensor<?x256xf32>
    dsv4.yield %r : tensor<?x128xbf16>
  }
  return %0 : tensor<?x128xbf16>
}

// HCA: a window is work for a whole block.
// CHECK-LABEL: func.func @long_windows
func.func @long_windows(%v: tensor<?x512xf32>, %p: tensor<?x4xi32>, %o: tensor<?x512xbf16>) -> tensor<?x512xbf16> {
  // BUILTIN: schedule <threads = {{[0-9]+}}{{.*}}parts = [#dsv4.rows<lanes = 32, vector = 2>, #dsv4.window<elements = 2>]>
  // TABLE: schedule <threads = 1024, parts = [#dsv4.rows<lanes = 32, vector = 2>, #dsv4.window<elements = 8>]>
  %0 = dsv4.kernel @long_windows(%v, %p, %o) : (tensor<?x512xf32>, tensor<?x4xi32>, tensor<?x512xbf16>) -> tensor<?x512xbf16> {
  ^bb0(%v1: tensor<?x512xf32>, %p1: tensor<?x4xi32>, %o1: tensor<?x512xbf16>):
    %r = dsv4.compress %v1, %v1 window 128 plan(%p1 : tensor<?x4xi32>)
        outs(%o1 : tensor<?x512xbf16>) : tensor<?x512xf32>, tensor<?x512xf32>
    dsv4.yield %r : tensor<?x512xbf16>
  }
  return %0 : tensor<?x512xbf16>
}

// Of few long windows every one has two multiprocessors, where blocks form clusters.
// CHECK-LABEL: func.func @few_long_windows
func.func @few_long_windows(%v: tensor<?x512xf32>, %p: tensor<64x4xi32>, %o: tensor<64x512xbf16>) -> tensor<64x512xbf16> {
  // PDL: schedule <threads = 512, cluster = 2, {{.*}}#dsv4.window<elements = 2>]>
  // SM80: schedule <threads = 512, {{(pdl = true, )?}}parts = [{{.*}}, #dsv4.window<elements = 2>]>
  %0 = dsv4.kernel @few_long_windows(%v, %p, %o) : (tensor<?x512xf32>, tensor<64x4xi32>, tensor<64x512xbf16>) -> tensor<64x512xbf16> {
  ^bb0(%v1: tensor<?x512xf32>, %p1: tensor<64x4xi32>, %o1: tensor<64x512xbf16>):
    %r = dsv4.compress %v1, %v1 window 128 plan(%p1 : tensor<64x4xi32>)
        outs(%o1 : tensor<64x512xbf16>) : tensor<?x512xf32>, tensor<?x512xf32>
    dsv4.yield %r : tensor<64x512xbf16>
  }
  return %0 : tensor<64x512xbf16>
}

// Two blocks of 512 threads with two elements each have 2048; longer rows have one block.
// CHECK-LABEL: func.func @few_windows_of_2048
func.func @few_windows_of_2048(%v: tensor<?x2048xf32>, %p: tensor<64x4xi32>, %o: tensor<64x2048xbf16>) -> tensor<64x2048xbf16> {
  // PDL: schedule <threads = 512, cluster = 2, {{.*}}#dsv4.window<elements = 2>]>
  %0 = dsv4.kernel @few_windows_of_2048(%v, %p, %o) : (tensor<?x2048xf32>, tensor<64x4xi32>, tensor<64x2048xbf16>) -> tensor<64x2048xbf16> {
  ^bb0(%v1: tensor<?x2048xf32>, %p1: tensor<64x4xi32>, %o1: tensor<64x2048xbf16>):
    %r = dsv4.compress %v1, %v1 window 128 plan(%p1 : tensor<64x4xi32>)
        outs(%o1 : tensor<64x2048xbf16>) : tensor<?x2048xf32>, tensor<?x2048xf32>
    dsv4.yield %r : tensor<64x2048xbf16>
  }
  return %0 : tensor<64x2048xbf16>
}

// CHECK-LABEL: func.func @few_windows_of_2056
func.func @few_windows_of_2056(%v: tensor<?x2056xf32>, %p: tensor<64x4xi32>, %o: tensor<64x2056xbf16>) -> tensor<64x2056xbf16> {
  // PDL: schedule <threads = 512, {{(pdl = true, )?}}parts = [{{.*}}, #dsv4.window<elements = 2>]>
  %0 = dsv4.kernel @few_windows_of_2056(%v, %p, %o) : (tensor<?x2056xf32>, tensor<64x4xi32>, tensor<64x2056xbf16>) -> tensor<64x2056xbf16> {
  ^bb0(%v1: tensor<?x2056xf32>, %p1: tensor<64x4xi32>, %o1: tensor<64x2056xbf16>):
    %r = dsv4.compress %v1, %v1 window 128 plan(%p1 : tensor<64x4xi32>)
        outs(%o1 : tensor<64x2056xbf16>) : tensor<?x2056xf32>, tensor<?x2056xf32>
    dsv4.yield %r : tensor<64x2056xbf16>
  }
  return %0 : tensor<64x2056xbf16>
}

// CHECK-LABEL: func.func @few_windows_of_8192
func.func @few_windows_of_8192(%v: tensor<?x8192xf32>, %p: tensor<64x4xi32>, %o: tensor<64x8192xbf16>) -> tensor<64x8192xbf16> {
  // PDL: schedule <threads = 512, {{(pdl = true, )?}}parts = [{{.*}}, #dsv4.window<elements = 2>]>
  %0 = dsv4.kernel @few_windows_of_8192(%v, %p, %o) : (tensor<?x8192xf32>, tensor<64x4xi32>, tensor<64x8192xbf16>) -> tensor<64x8192xbf16> {
  ^bb0(%v1: tensor<?x8192xf32>, %p1: tensor<64x4xi32>, %o1: tensor<64x8192xbf16>):
    %r = dsv4.compress %v1, %v1 window 128 plan(%p1 : tensor<64x4xi32>)
        outs(%o1 : tensor<64x8192xbf16>) : tensor<?x8192xf32>, tensor<?x8192xf32>
    dsv4.yield %r : tensor<64x8192xbf16>
  }
  return %0 : tensor<64x8192xbf16>
}

// The shortest that is.
// CHECK-LABEL: func.func @window_16
func.func @window_16(%v: tensor<?x512xf32>, %p: tensor<?x4xi32>, %o: tensor<?x512xbf16>) -> tensor<?x512xbf16> {
  // BUILTIN: schedule <threads = {{[0-9]+}}{{.*}}parts = [#dsv4.rows<lanes = 32, vector = 2>, #dsv4.window<elements = 2>]>
  // TABLE: schedule <threads = 256, parts = [#dsv4.rows<lanes = 8, vector = 8>, #dsv4.window<elements = 1, rows = 3>]>
  %0 = dsv4.kernel @window_16(%v, %p, %o) : (tensor<?x512xf32>, tensor<?x4xi32>, tensor<?x512xbf16>) -> tensor<?x512xbf16> {
  ^bb0(%v1: tensor<?x512xf32>, %p1: tensor<?x4xi32>, %o1: tensor<?x512xbf16>):
    %r = dsv4.compress %v1, %v1 window 16 plan(%p1 : tensor<?x4xi32>)
        outs(%o1 : tensor<?x512xbf16>) : tensor<?x512xf32>, tensor<?x512xf32>
    dsv4.yield %r : tensor<?x512xbf16>
  }
  return %0 : tensor<?x512xbf16>
}

// Lanes and the vector are reduced until they divide the row.
// CHECK-LABEL: func.func @odd
func.func @odd(%v: tensor<?x36xf32>, %p: tensor<?x4xi32>, %o: tensor<?x36xbf16>) -> tensor<?x36xbf16> {
  // BUILTIN: schedule <threads = 32, {{.*}}parts = [#dsv4.rows<lanes = 2, vector = 2>, #dsv4.window<elements = 2, rows = {{[2-9]}}>]>
  // TABLE: schedule <threads = 64, parts = [#dsv4.rows<lanes = 1, vector = 4>, #dsv4.window<elements = 1, rows = 3>]>
  %0 = dsv4.kernel @odd(%v, %p, %o) : (tensor<?x36xf32>, tensor<?x4xi32>, tensor<?x36xbf16>) -> tensor<?x36xbf16> {
  ^bb0(%v1: tensor<?x36xf32>, %p1: tensor<?x4xi32>, %o1: tensor<?x36xbf16>):
    %r = dsv4.compress %v1, %v1 window 7 plan(%p1 : tensor<?x4xi32>)
        outs(%o1 : tensor<?x36xbf16>) : tensor<?x36xf32>, tensor<?x36xf32>
    dsv4.yield %r : tensor<?x36xbf16>
  }
  return %0 : tensor<?x36xbf16>
}

// Other ops have no window part, even in a table of such.
// CHECK-LABEL: func.func @no_windows
func.func @no_windows(%x: tensor<?x512xbf16>, %o: tensor<?x512xbf16>) -> tensor<?x512xbf16> {
  // GIVEN: schedule <threads = 128, parts = [#dsv4.rows<lanes = 8, vector = 8>]> :
  // CHECK: schedule <
  // CHECK-NOT: window<
  %0 = dsv4.kernel @no_windows(%x, %o) : (tensor<?x512xbf16>, tensor<?x512xbf16>) -> tensor<?x512xbf16> {
  ^bb0(%x1: tensor<?x512xbf16>, %o1: tensor<?x512xbf16>):
    %r = dsv4.rms_norm %x1 outs(%o1 : tensor<?x512xbf16>) {eps = 1.0e-6 : f32} : tensor<?x512xbf16>
    dsv4.yield %r : tensor<?x512xbf16>
  }
  return %0 : tensor<?x512xbf16>
}

// As many long rows share a block as shared memory has room for.
// CHECK-LABEL: func.func @long_rows
func.func @long_rows(%v: tensor<?x4096xf32>, %p: tensor<?x4xi32>, %o: tensor<?x4096xf32>) -> tensor<?x4096xf32> {
  // BUILTIN: <threads = 512, min_blocks = 2, {{.*}}#dsv4.window<elements = 1, rows = 2>
  // TABLE: rows = 2>
  %0 = dsv4.kernel @long_rows(%v, %p, %o) : (tensor<?x4096xf32>, tensor<?x4xi32>, tensor<?x4096xf32>) -> tensor<?x4096xf32> {
  ^bb0(%v_: tensor<?x4096xf32>, %p_: tensor<?x4xi32>, %o_: tensor<?x4096xf32>):
    %1 = dsv4.compress %v_, %v_ window 4 plan(%p_ : tensor<?x4xi32>)
        outs(%o_ : tensor<?x4096xf32>) : tensor<?x4096xf32>, tensor<?x4096xf32>
    dsv4.yield %1 : tensor<?x4096xf32>
  }
  return %0 : tensor<?x4096xf32>
}

// Few channels have small blocks. For so few entries their threads have all the registers that they want.
// CHECK-LABEL: func.func @narrow_4096
func.func @narrow_4096(%v: tensor<?x256xf32>, %p: tensor<?x4xi32> {dsv4.dims = ["entries", ""]}, %o: tensor<?x128xbf16>) -> tensor<?x128xbf16>
    attributes {dsv4.bounds = {entries = 4096 : i64}} {
  // SM90: schedule <threads = 64, min_blocks = 2, pdl = true, parts = [#dsv4.rows<lanes = 32, vector = 2>, #dsv4.window<elements = 2, rows = 2>]>
  // SM80: schedule <threads = 64, min_blocks = 2, parts = [#dsv4.rows<lanes = 32, vector = 2>, #dsv4.window<elements = 2, rows = 2>]>
  %0 = dsv4.kernel @narrow_4096(%v, %p, %o) : (tensor<?x256xf32>, tensor<?x4xi32>, tensor<?x128xbf16>) -> tensor<?x128xbf16> {
  ^bb0(%v1: tensor<?x256xf32>, %p1: tensor<?x4xi32>, %o1: tensor<?x128xbf16>):
    %r = dsv4.compress %v1, %v1 window 4 overlap plan(%p1 : tensor<?x4xi32>)
        outs(%o1 : tensor<?x128xbf16>) : tensor<?x256xf32>, tensor<?x256xf32>
    dsv4.yield %r : tensor<?x128xbf16>
  }
  return %0 : tensor<?x128xbf16>
}

// Of more entries a multiprocessor holds 14 blocks.
// CHECK-LABEL: func.func @narrow_8192
func.func @narrow_8192(%v: tensor<?x256xf32>, %p: tensor<?x4xi32> {dsv4.dims = ["entries", ""]}, %o: tensor<?x128xbf16>) -> tensor<?x128xbf16>
    attributes {dsv4.bounds = {entries = 8192 : i64}} {
  // SM90: schedule <threads = 64, min_blocks = 14, pdl = true, parts = [#dsv4.rows<lanes = 32, vector = 2>, #dsv4.window<elements = 2, rows = 2>]>
  // SM80: schedule <threads = 64, min_blocks = 2, parts = [#dsv4.rows<lanes = 32, vector = 2>, #dsv4.window<elements = 2, rows = 2>]>
  %0 = dsv4.kernel @narrow_8192(%v, %p, %o) : (tensor<?x256xf32>, tensor<?x4xi32>, tensor<?x128xbf16>) -> tensor<?x128xbf16> {
  ^bb0(%v1: tensor<?x256xf32>, %p1: tensor<?x4xi32>, %o1: tensor<?x128xbf16>):
    %r = dsv4.compress %v1, %v1 window 4 overlap plan(%p1 : tensor<?x4xi32>)
        outs(%o1 : tensor<?x128xbf16>) : tensor<?x256xf32>, tensor<?x256xf32>
    dsv4.yield %r : tensor<?x128xbf16>
  }
  return %0 : tensor<?x128xbf16>
}

// Nothing is known of their number: most chunks of a prompt have no more than 4096.
// CHECK-LABEL: func.func @narrow
func.func @narrow(%v: tensor<?x256xf32>, %p: tensor<?x4xi32>, %o: tensor<?x128xbf16>) -> tensor<?x128xbf16> {
  // SM90: schedule <threads = 64, min_blocks = 2, pdl = true, parts = [#dsv4.rows<lanes = 32, vector = 2>, #dsv4.window<elements = 2, rows = 2>]>
  // SM80: schedule <threads = 64, min_blocks = 2, parts = [#dsv4.rows<lanes = 32, vector = 2>, #dsv4.window<elements = 2, rows = 2>]>
  %0 = dsv4.kernel @narrow(%v, %p, %o) : (tensor<?x256xf32>, tensor<?x4xi32>, tensor<?x128xbf16>) -> tensor<?x128xbf16> {
  ^bb0(%v1: tensor<?x256xf32>, %p1: tensor<?x4xi32>, %o1: tensor<?x128xbf16>):
    %r = dsv4.compress %v1, %v1 window 4 overlap plan(%p1 : tensor<?x4xi32>)
        outs(%o1 : tensor<?x128xbf16>) : tensor<?x256xf32>, tensor<?x256xf32>
    dsv4.yield %r : tensor<?x128xbf16>
  }
  return %0 : tensor<?x128xbf16>
}
