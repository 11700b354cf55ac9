// What becomes one call of the device library, and what stays as it is.

// RUN: dsv4-opt %s --cuda-form-device-calls --canonicalize | FileCheck %s

gpu.module @calls {
  // Both sides narrow, the product used as bf16 alone.
  // CHECK-LABEL: gpu.func @narrow
  gpu.func @narrow(%m: memref<?xi8>, %o: memref<?xbf16>, %at: i32) {
    %v = cuda.load %m[%at] stride 64 : memref<?xi8>, i32 -> vector<7x8xf8E4M3FN>
    %s = cuda.load %m[%at] : memref<?xi8>, i32 -> vector<7xf8E8M0FNU>
    // CHECK: %[[V:.*]] = cuda.load {{.*}} -> vector<7x8xf8E4M3FN>
    // CHECK: %[[S:.*]] = cuda.load {{.*}} -> vector<7xf8E8M0FNU>
    // CHECK-NEXT: %[[R:.*]] = cuda.dequantize %[[V]] by %[[S]] : vector<7x8xf8E4M3FN> by vector<7xf8E8M0FNU> to vector<7x8xbf16>
    // CHECK-NEXT: cuda.store %[[R]]
    %w = arith.extf %v : vector<7x8xf8E4M3FN> to vector<7x8xf32>
    %f = arith.extf %s : vector<7xf8E8M0FNU> to vector<7xf32>
    %e = cuda.expand %f : vector<7xf32> to vector<7x8xf32>
    %p = arith.mulf %w, %e : vector<7x8xf32>
    %r = arith.truncf %p : vector<7x8xf32> to vector<7x8xbf16>
    cuda.store %r, %o[%at] stride 64 : vector<7x8xbf16>, memref<?xbf16>, i32
    gpu.return
  }

  // Integers count as stored elements, f32 scales stay f32.
  // CHECK-LABEL: gpu.func @integers
  gpu.func @integers(%m: memref<?xi8>, %s: vector<2x1xf32>, %o: memref<?xbf16>, %at: i32) {
    // CHECK: cuda.dequantize %{{.*}} by %{{.*}} : vector<2x8xi4> by vector<2x1xf32> to vector<2x8xbf16>
    %v = cuda.load %m[%at] stride 64 : memref<?xi8>, i32 -> vector<2x8xi4>
    %w = arith.sitofp %v : vector<2x8xi4> to vector<2x8xf32>
    %e = cuda.expand %s : vector<2x1xf32> to vector<2x8xf32>
    %p = arith.mulf %w, %e : vector<2x8xf32>
    %r = arith.truncf %p : vector<2x8xf32> to vector<2x8xbf16>
    cuda.store %r, %o[%at] stride 64 : vector<2x8xbf16>, memref<?xbf16>, i32
    gpu.return
  }

  // A product with another user is rounded by itself.
  // CHECK-LABEL: gpu.func @two_users
  gpu.func @two_users(%v: vector<2x8xf8E4M3FN>, %f: vector<2xf32>, %o: memref<?xbf16>,
                      %q: memref<?xf32>, %at: i32) {
    // CHECK: %[[P:.*]] = cuda.dequantize {{.*}} to vector<2x8xf32>
    // CHECK-NEXT: %[[R:.*]] = arith.truncf %[[P]]
    // CHECK-NEXT: cuda.store %[[R]]
    // CHECK-NEXT: cuda.store %[[P]]
    %w = arith.extf %v : vector<2x8xf8E4M3FN> to vector<2x8xf32>
    %e = cuda.expand %f : vector<2xf32> to vector<2x8xf32>
    %p = arith.mulf %w, %e : vector<2x8xf32>
    %r = arith.truncf %p : vector<2x8xf32> to vector<2x8xbf16>
    cuda.store %r, %o[%at] stride 64 : vector<2x8xbf16>, memref<?xbf16>, i32
    cuda.store %p, %q[%at] stride 64 : vector<2x8xf32>, memref<?xf32>, i32
    gpu.return
  }

  // Of two scales the first is part of the call; the second rounds once more.
  // CHECK-LABEL: gpu.func @two_levels
  gpu.func @two_levels(%v: vector<2x8xf4E2M1FN>, %s: vector<2x1xf8E4M3FN>, %g: vector<1xf32>,
                       %o: memref<?xbf16>, %at: i32) {
    // CHECK: %[[P:.*]] = cuda.dequantize %{{.*}} by %{{.*}} : vector<2x8xf4E2M1FN> by vector<2x1xf8E4M3FN> to vector<2x8xf32>
    // CHECK-NEXT: %[[G:.*]] = cuda.expand
    // CHECK-NEXT: %[[Q:.*]] = arith.mulf %[[P]], %[[G]]
    // CHECK-NEXT: arith.truncf %[[Q]]
    %w = arith.extf %v : vector<2x8xf4E2M1FN> to vector<2x8xf32>
    %f = arith.extf %s : vector<2x1xf8E4M3FN> to vector<2x1xf32>
    %e = cuda.expand %f : vector<2x1xf32> to vector<2x8xf32>
    %p = arith.mulf %w, %e : vector<2x8xf32>
    %x = cuda.expand %g : vector<1xf32> to vector<2x8xf32>
    %q = arith.mulf %p, %x : vector<2x8xf32>
    %r = arith.truncf %q : vector<2x8xf32> to vector<2x8xbf16>
    cuda.store %r, %o[%at] stride 64 : vector<2x8xbf16>, memref<?xbf16>, i32
    gpu.return
  }

  // Neither scales of their own for every element, nor f32 values, nor a
  // product as f16.
  // CHECK-LABEL: gpu.func @others
  gpu.func @others(%v: vector<2x8xf8E4M3FN>, %w: vector<2x8xf32>, %f: vector<2xf32>,
                   %o: memref<?xf32>, %h: memref<?xf16>, %at: i32) {
    // CHECK: arith.mulf
    // CHECK: arith.mulf
    // CHECK: cuda.dequantize {{.*}} to vector<2x8xf32>
    // CHECK-NEXT: arith.truncf
    %x = arith.extf %v : vector<2x8xf8E4M3FN> to vector<2x8xf32>
    %a = arith.mulf %x, %w : vector<2x8xf32>
    %e = cuda.expand %f : vector<2xf32> to vector<2x8xf32>
    %b = arith.mulf %a, %e : vector<2x8xf32>
    %c = arith.mulf %x, %e : vector<2x8xf32>
    %t = arith.truncf %c : vector<2x8xf32> to vector<2x8xf16>
    cuda.store %b, %o[%at] stride 64 : vector<2x8xf32>, memref<?xf32>, i32
    cuda.store %t, %h[%at] stride 64 : vector<2x8xf16>, memref<?xf16>, i32
    gpu.return
  }

  // A quotient by shared scales that is encoded at once, of what is stored.
  // CHECK-LABEL: gpu.func @quantized
  gpu.func @quantized(%x: vector<2x8xbf16>, %s: vector<2xf8E8M0FNU>, %o: memref<?xi8>, %at: i32) {
    // CHECK: %[[Q:.*]] = cuda.quantize %{{.*}} by %{{.*}} : vector<2x8xbf16> by vector<2xf8E8M0FNU> to vector<2x8xf8E4M3FN>
    // CHECK-NEXT: cuda.store %[[Q]]
    %w = arith.extf %x : vector<2x8xbf16> to vector<2x8xf32>
    %f = arith.extf %s : vector<2xf8E8M0FNU> to vector<2xf32>
    %e = cuda.expand %f : vector<2xf32> to vector<2x8xf32>
    %q = arith.divf %w, %e : vector<2x8xf32>
    %c = row.encode %q : vector<2x8xf32> to vector<2x8xf8E4M3FN>
    cuda.store %c, %o[%at] stride 64 : vector<2x8xf8E4M3FN>, memref<?xi8>, i32
    gpu.return
  }

  // Neither a product nor a quotient by scales of its own for every element.
  // CHECK-LABEL: gpu.func @encoded
  gpu.func @encoded(%x: vector<2x8xf32>, %y: vector<2x8xf32>, %s: vector<2xf32>, %o: memref<?xi8>,
                    %at: i32) {
    // CHECK-COUNT-2: cuda.encode
    %e = cuda.expand %s : vector<2xf32> to vector<2x8xf32>
    %p = arith.mulf %x, %e : vector<2x8xf32>
    %q = arith.divf %x, %y : vector<2x8xf32>
    %a = row.encode %p : vector<2x8xf32> to vector<2x8xf8E4M3FN>
    %b = row.encode %q : vector<2x8xf32> to vector<2x8xf8E4M3FN>
    cuda.store %a, %o[%at] stride 64 : vector<2x8xf8E4M3FN>, memref<?xi8>, i32
    cuda.store %b, %o[%at] stride 64 : vector<2x8xf8E4M3FN>, memref<?xi8>, i32
    gpu.return
  }

  // What is left is a call by itself, with what its op says.
  // CHECK-LABEL: gpu.func @left
  gpu.func @left(%x: vector<2x8xf32>, %s: vector<7xf32>, %v: vector<4x8xf4E2M1FN>, %i: vector<2x8xi32>,
                 %k: i32, %f: memref<?xf32>, %m: memref<?xi8>, %at: i32) {
    // CHECK: %[[AT:.*]] = cuda.constant "scale_offset" = 448 : index
    // CHECK: cuda.encode %{{.*}} up : vector<7xf32> to vector<7xf8E8M0FNU>
    // CHECK-NEXT: cuda.encode %{{.*}} ties_down drop_negative_zero : vector<2x8xf32> to vector<2x8xf4E2M1FN>
    // CHECK-NEXT: cuda.swap_nibbles %{{.*}} : vector<4x8xf4E2M1FN>
    // CHECK-NEXT: %[[N:.*]] = cuda.one_nan %{{.*}} : vector<2x8xf32>
    // CHECK-NEXT: %[[A:.*]] = cuda.activation sigmoid %[[N]] : vector<2x8xf32>
    // CHECK-NEXT: %[[B:.*]] = cuda.activation sqrt_softplus %[[A]] : vector<2x8xf32>
    // CHECK-NEXT: %[[C:.*]] = cuda.activation exp %[[B]] : vector<2x8xf32>
    // CHECK-NEXT: %[[D:.*]] = cuda.where_valid %[[C]] at %{{.*}} below 64 : vector<2x8xf32>, vector<2x8xi32>
    // CHECK-NEXT: cuda.where_valid %[[D]] at %{{.*}} below 32 otherwise 0xFF800000 : vector<2x8xf32>, i32
    // CHECK-NOT: row.
    %here = row.constant "scale_offset" = 448
    %0 = row.encode %s up : vector<7xf32> to vector<7xf8E8M0FNU>
    %1 = row.encode %x ties_down drop_negative_zero : vector<2x8xf32> to vector<2x8xf4E2M1FN>
    %2 = row.swap_nibbles %v : vector<4x8xf4E2M1FN>
    %3 = row.one_nan %x : vector<2x8xf32>
    %4 = row.activation sigmoid %3 : vector<2x8xf32>
    %5 = row.activation sqrt_softplus %4 : vector<2x8xf32>
    %6 = row.activation exp %5 : vector<2x8xf32>
    %7 = row.where_valid %6 at %i below 64 : vector<2x8xf32>, vector<2x8xi32>
    %8 = row.where_valid %7 at %k below 32 otherwise 0xFF800000 : vector<2x8xf32>, i32
    cuda.store %0, %m[%here] : vector<7xf8E8M0FNU>, memref<?xi8>, index
    cuda.store %1, %m[%at] stride 32 : vector<2x8xf4E2M1FN>, memref<?xi8>, i32
    cuda.store %2, %m[%at] stride 32 : vector<4x8xf4E2M1FN>, memref<?xi8>, i32
    cuda.store %8, %f[%at] stride 64 : vector<2x8xf32>, memref<?xf32>, i32
    gpu.return
  }
}
