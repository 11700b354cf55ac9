// Rows that are aligned to their elements alone: the lanes of a row access aligned words together, where each of them
// has as many elements as the others. Accesses of other rows are split into parts of the alignment.

// RUN: dsv4-opt %s --convert-dsv4-to-row --cse --dsv4-distribute-rows --cse | FileCheck %s

// CHECK-LABEL: func.func @together
// CHECK: %[[X:.*]] = cuda.load_words %[[XS:.*]][%[[AT:.*]]] lanes 16 evict_last : memref<?xbf16>, index -> vector<4x8xbf16>
// CHECK: cuda.realign %[[X]] of %[[XS]][%[[AT]]] lanes 16 : vector<4x8xbf16>, memref<?xbf16>, index
// CHECK: cuda.store_words %{{.*}} lanes 16 streaming : vector<4x8xbf16>, memref<?xbf16>, index
func.func @together(%x: tensor<?x512xbf16> {dsv4.strides = #dsv4.strides<[?], align = 2>},
                    %out: tensor<?x512xbf16> {dsv4.strides = #dsv4.strides<[?], align = 2>}) -> tensor<?x512xbf16> {
  %0 = dsv4.kernel @k(%x, %out)
      schedule <threads = 128, parts = [#dsv4.rows<lanes = 16, vector = 8, load = evict_last, store = streaming>]>
      : (tensor<?x512xbf16>, tensor<?x512xbf16>) -> tensor<?x512xbf16> {
  ^bb0(%a: tensor<?x512xbf16>, %o: tensor<?x512xbf16>):
    %r = dsv4.rms_norm %a outs(%o : tensor<?x512xbf16>) {eps = 1.0e-06 : f32} : tensor<?x512xbf16>
    dsv4.yield %r : tensor<?x512xbf16>
  }
  return %0 : tensor<?x512xbf16>
}

// Elements of half a byte, and scales: each lane has 4 bytes of them. Both are read before either is realigned.
// CHECK-LABEL: func.func @elements_and_scales
// CHECK: %[[DATA:.*]] = cuda.load_words %{{.*}} lanes 8 : memref<?xi8>, index -> vector<1x32xf4E2M1FN>
// CHECK: %[[SCALES:.*]] = cuda.load_words %{{.*}} lanes 8 : memref<?xf8E4M3FN>, index -> vector<1x4xf8E4M3FN>
// CHECK: cuda.realign %[[DATA]] of
// CHECK: cuda.realign %[[SCALES]] of
// CHECK: cuda.store_words %{{.*}} lanes 8 : vector<1x32xbf16>, memref<?xbf16>, index
func.func @elements_and_scales(%data: tensor<?x256xf4E2M1FN> {dsv4.strides = #dsv4.strides<[?], align = 1>},
                   %scales: tensor<?x32xf8E4M3FN> {dsv4.strides = #dsv4.strides<[?], align = 2>},
                   %out: tensor<?x256xbf16> {dsv4.strides = #dsv4.strides<[?], align = 8>}) -> tensor<?x256xbf16> {
  %0 = dsv4.kernel @k(%data, %scales, %out) schedule <threads = 128, parts = [#dsv4.rows<lanes = 8, vector = 32>]>
      : (tensor<?x256xf4E2M1FN>, tensor<?x32xf8E4M3FN>, tensor<?x256xbf16>) -> tensor<?x256xbf16> {
  ^bb0(%d: tensor<?x256xf4E2M1FN>, %s: tensor<?x32xf8E4M3FN>, %o: tensor<?x256xbf16>):
    %r = dsv4.dequantize %d scales(%s : tensor<?x32xf8E4M3FN>) outs(%o : tensor<?x256xbf16>)
        {format = #dsv4.format<f4E2M1FN, [<f8E4M3FN per 8>]>} : tensor<?x256xf4E2M1FN>
    dsv4.yield %r : tensor<?x256xbf16>
  }
  return %0 : tensor<?x256xbf16>
}

// Each section by itself.
// CHECK-LABEL: func.func @sections
// CHECK: cuda.load_words %{{.*}} lanes 8 : memref<?xf32>, index -> vector<8x4xf32>
// CHECK: scf.for
// CHECK: %[[X:.*]] = cuda.load_words %{{.*}} lanes 8 : memref<?xf32>, index -> vector<2x4xf32>
// CHECK: cuda.realign %[[X]] of
// CHECK: cuda.store_words %{{.*}} lanes 8 : vector<2x4xf32>, memref<?xf32>, index
func.func @sections(%x: tensor<?x256xf32> {dsv4.strides = #dsv4.strides<[?], align = 4>},
                    %out: tensor<?x256xf32> {dsv4.strides = #dsv4.strides<[?], align = 4>}) -> tensor<?x256xf32> {
  %0 = dsv4.kernel @k(%x, %out) schedule <threads = 128, parts = [#dsv4.rows<lanes = 8, vector = 4, section = 2>]>
      : (tensor<?x256xf32>, tensor<?x256xf32>) -> tensor<?x256xf32> {
  ^bb0(%a: tensor<?x256xf32>, %o: tensor<?x256xf32>):
    %r = dsv4.rms_norm %a outs(%o : tensor<?x256xf32>) {eps = 1.0e-06 : f32} : tensor<?x256xf32>
    dsv4.yield %r : tensor<?x256xf32>
  }
  return %0 : tensor<?x256xf32>
}

// Some lanes have a vector more than others.
// CHECK-LABEL: func.func @uneven
// CHECK: cuda.load %{{.*}} vectors %{{.*}} : index stride 64 align 2 : memref<?xbf16>, index -> vector<3x8xbf16>
// CHECK: cuda.store %{{.*}} vectors %{{.*}} : index stride 64 align 2 : vector<3x8xbf16>, memref<?xbf16>, index
func.func @uneven(%x: tensor<?x160xbf16> {dsv4.strides = #dsv4.strides<[?], align = 2>},
                  %out: tensor<?x160xbf16> {dsv4.strides = #dsv4.strides<[?], align = 2>}) -> tensor<?x160xbf16> {
  %0 = dsv4.kernel @k(%x, %out) schedule <threads = 128, parts = [#dsv4.rows<lanes = 8, vector = 8>]>
      : (tensor<?x160xbf16>, tensor<?x160xbf16>) -> tensor<?x160xbf16> {
  ^bb0(%a: tensor<?x160xbf16>, %o: tensor<?x160xbf16>):
    %r = dsv4.rms_norm %a outs(%o : tensor<?x160xbf16>) {eps = 1.0e-06 : f32} : tensor<?x160xbf16>
    dsv4.yield %r : tensor<?x160xbf16>
  }
  return %0 : tensor<?x160xbf16>
}

// There is no neighbour, or a vector is aligned.
// CHECK-LABEL: func.func @alone
// CHECK: cuda.load %{{.*}} stride 8 align 2 : memref<?xbf16>, index -> vector<2x8xbf16>
// CHECK: cuda.store %{{.*}} stride 8 : vector<2x8xbf16>, memref<?xbf16>, index
func.func @alone(%x: tensor<?x16xbf16> {dsv4.strides = #dsv4.strides<[?], align = 2>},
                 %out: tensor<?x16xbf16> {dsv4.strides = #dsv4.strides<[?]>}) -> tensor<?x16xbf16> {
  %0 = dsv4.kernel @k(%x, %out) schedule <threads = 128, parts = [#dsv4.rows<lanes = 1, vector = 8>]>
      : (tensor<?x16xbf16>, tensor<?x16xbf16>) -> tensor<?x16xbf16> {
  ^bb0(%a: tensor<?x16xbf16>, %o: tensor<?x16xbf16>):
    %r = dsv4.rms_norm %a outs(%o : tensor<?x16xbf16>) {eps = 1.0e-06 : f32} : tensor<?x16xbf16>
    dsv4.yield %r : tensor<?x16xbf16>
  }
  return %0 : tensor<?x16xbf16>
}
