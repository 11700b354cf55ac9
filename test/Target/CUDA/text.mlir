// Details of the text: reserved names, precedence, policies, #line.

// RUN: dsv4-opt %s --pass-pipeline="builtin.module(gpu.module(cuda-prepare-for-emission))" -mlir-print-debuginfo \
// RUN:   | dsv4-translate --mlir-to-cuda | FileCheck %s
// RUN: dsv4-opt %s --pass-pipeline="builtin.module(gpu.module(cuda-prepare-for-emission))" -mlir-print-debuginfo \
// RUN:   | dsv4-translate --mlir-to-cuda --cuda-line-directives | FileCheck %s --check-prefix=LINE

#loc = loc("model.mlir":7:3)

gpu.module @names {
  // CHECK: extern "C" __global__ void{{$}}
  // CHECK-NEXT: names(const float *__restrict__ v_int,
  // CHECK-NEXT:       float *__restrict__ v_class,
  // CHECK-NEXT:       int v_dsv4,
  // CHECK-NEXT:       long long v_blockIdx) {
  // LINE: #line 7 "model.mlir"
  // LINE-NEXT: const float value = v_int[v_blockIdx];
  gpu.func @names(%a: memref<?xf32> loc("int"(#loc)), %b: memref<?xf32> loc("class"(#loc)),
                  %c: i32 loc("dsv4"(#loc)), %d: i64 loc("blockIdx"(#loc))) kernel {
  // CHECK: const float value = v_int[v_blockIdx];
  // CHECK: v_class[v_dsv4] = value;
    %0 = cuda.load %a[%d] : memref<?xf32>, i64 -> f32 loc(#loc)
    cuda.store %0, %b[%c] : f32, memref<?xf32>, i32 loc(#loc)
    gpu.return
  }
}

// CHECK: extern "C" __global__ void __launch_bounds__(64)
// CHECK-NEXT: precedence(int *__restrict__ out,
gpu.module @precedence {
  gpu.func @precedence(%out: memref<?xi32> loc("out"(#loc)), %a: i32 loc("a"(#loc)),
                       %b: i32 loc("b"(#loc)), %c: i32 loc("c"(#loc)), %w: i64 loc("w"(#loc)))
      kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %sum = arith.addi %b, %c : i32 loc(#loc)
    %diff = arith.subi %b, %c : i32 loc(#loc)
    %sum2 = arith.addi %b, %c : i32 loc(#loc)
    %diff2 = arith.subi %b, %c : i32 loc(#loc)
    %quot = arith.divsi %b, %c : i32 loc(#loc)
    // CHECK: const int times = a * (b + c);
    %times = arith.muli %a, %sum : i32 loc("times"(#loc))
    // CHECK: const int minus = a - (b - c);
    %minus = arith.subi %a, %diff : i32 loc("minus"(#loc))
    // CHECK: const int left = b - c - a;
    %left = arith.subi %diff2, %a : i32 loc("left"(#loc))
    // CHECK: const int plus = a + b + c;
    %plus = arith.addi %a, %sum2 : i32 loc("plus"(#loc))
    // (b / c) * a is b / c * a, but a * (b / c) is not a * b / c.
    // CHECK: const int product = a * (b / c);
    %product = arith.muli %a, %quot : i32 loc("product"(#loc))
    // A scale of 64 bits widens the other by itself; two of 32 need a cast.
    %aw = arith.extsi %a : i32 to i64 loc(#loc)
    %bw = arith.extsi %b : i32 to i64 loc(#loc)
    %cw = arith.extsi %c : i32 to i64 loc(#loc)
    // CHECK: const long long mixed = w * a;
    %mixed = arith.muli %w, %aw : i64 loc("mixed"(#loc))
    // CHECK: const long long both = (long long)b * c;
    %both = arith.muli %bw, %cw : i64 loc("both"(#loc))
    // CHECK: const bool flag = (a < b || b < c) && a >= c;
    %lt = arith.cmpi slt, %a, %b : i32 loc(#loc)
    %lt2 = arith.cmpi slt, %b, %c : i32 loc(#loc)
    %or = arith.ori %lt, %lt2 : i1 loc(#loc)
    %ge = arith.cmpi sge, %a, %c : i32 loc(#loc)
    %flag = arith.andi %or, %ge : i1 loc("flag"(#loc))
    // CHECK: const int chosen = flag ? times : -1;
    %m1 = arith.constant -1 : i32 loc(#loc)
    %chosen = arith.select %flag, %times, %m1 : i32 loc("chosen"(#loc))
    // CHECK: const long long big = both + 4294967296ll;
    %c4g = arith.constant 4294967296 : i64 loc(#loc)
    %big = arith.addi %both, %c4g : i64 loc("big"(#loc))
    // CHECK: out[chosen] = minus;
    cuda.store %minus, %out[%chosen] : i32, memref<?xi32>, i32 loc(#loc)
    gpu.return
  }
}

// Divisions of what is not negative: one unsigned operand is enough. Where the
// result is not a line of its own, it is an int again.
// CHECK-LABEL: divisions(
gpu.module @divisions {
  gpu.func @divisions(%out: memref<?xi32> loc("out"(#loc)), %a: i32 loc("a"(#loc)), %b: i32 loc("b"(#loc)),
                      %w: i64 loc("w"(#loc)), %p: i1 loc("p"(#loc))) kernel {
    // CHECK: constexpr int kRowBytes = 576;
    %row = cuda.constant "row_bytes" = 576 : i32 loc(#loc)
    %c64 = arith.constant 64 : i32 loc(#loc)
    %c64w = arith.constant 64 : i64 loc(#loc)
    %large = arith.constant 4294967296 : i64 loc(#loc)
    %sum = arith.addi %a, %b : i32 loc(#loc)
    // CHECK-NEXT: const int quotient = (a + b) / 64u;
    %0 = arith.divui %sum, %c64 : i32 loc(#loc)
    // CHECK-NEXT: const int residue = (unsigned)quotient % b;
    %1 = arith.remui %0, %b : i32 loc(#loc)
    // CHECK-NEXT: const int rows = (unsigned)residue / kRowBytes;
    %2 = arith.divui %1, %row : i32 loc("rows"(#loc))
    // CHECK-NEXT: const long long wide = w / 64ull;
    %3 = arith.divui %w, %c64w : i64 loc("wide"(#loc))
    // CHECK-NEXT: const long long wider = wide % 4294967296ull;
    %4 = arith.remui %3, %large : i64 loc("wider"(#loc))
    // CHECK-NEXT: const int chosen = p ? (int)(a / 64u) : b;
    %chosen = scf.if %p -> i32 {
      %5 = arith.divui %a, %c64 : i32 loc(#loc)
      scf.yield %5 : i32
    } else {
      scf.yield %b : i32
    } loc("chosen"(#loc))
    // CHECK-NEXT: const int thread = threadIdx.x / 64;
    %id = gpu.thread_id x loc(#loc)
    %t = arith.index_cast %id : index to i32 loc(#loc)
    %thread = arith.divui %t, %c64 : i32 loc("thread"(#loc))
    cuda.store %2, %out[%4] : i32, memref<?xi32>, i64 loc(#loc)
    cuda.store %chosen, %out[%thread] : i32, memref<?xi32>, i32 loc(#loc)
    gpu.return
  }
}

// threadIdx and its like are unsigned in C++, and so is what is computed of them. Where a sign matters, what may be
// negative is an int again; a line of its own makes it one.
// CHECK-LABEL: builtins(
gpu.module @builtins {
  gpu.func @builtins(%out: memref<?xi32> loc("out"(#loc)), %n: i32 loc("n"(#loc)), %w: i64 loc("w"(#loc)),
                     %p: i1 loc("p"(#loc)), %wide_out: memref<?xi64> loc("wide_out"(#loc)),
                     %float_out: memref<?xf32> loc("float_out"(#loc))) kernel {
    %c0 = arith.constant 0 : i32 loc(#loc)
    %c1 = arith.constant 1 : i32 loc(#loc)
    %c2 = arith.constant 2 : i32 loc(#loc)
    %m3 = arith.constant -3 : i32 loc(#loc)
    %id = gpu.block_id x loc(#loc)
    %block = arith.index_cast %id : index to i32 loc(#loc)
    // CHECK: const int alone = blockIdx.x % 2 - 1;
    %r0 = arith.remui %block, %c2 : i32 loc(#loc)
    %alone = arith.subi %r0, %c1 : i32 loc("alone"(#loc))
    // CHECK-NEXT: const int clamped = max((int)(blockIdx.x % 2 - 1), 0);
    %r1 = arith.remui %block, %c2 : i32 loc(#loc)
    %s1 = arith.subi %r1, %c1 : i32 loc(#loc)
    %clamped = arith.maxsi %s1, %c0 : i32 loc("clamped"(#loc))
    // CHECK-NEXT: const int least = min(n, (int)blockIdx.x);
    %least = arith.minsi %n, %block : i32 loc("least"(#loc))
    // Sums and products take each other as they are.
    // CHECK-NEXT: const long long wide = ((int)((blockIdx.x - 1) * 2 + n) + w) * w;
    %s2 = arith.subi %block, %c1 : i32 loc(#loc)
    %t2 = arith.muli %s2, %c2 : i32 loc(#loc)
    %a2 = arith.addi %t2, %n : i32 loc(#loc)
    %w2 = arith.extsi %a2 : i32 to i64 loc(#loc)
    %w3 = arith.addi %w2, %w : i64 loc(#loc)
    %wide = arith.muli %w3, %w : i64 loc("wide"(#loc))
    // CHECK-NEXT: const bool before = (int)(blockIdx.x - 1) < n;
    %s3 = arith.subi %block, %c1 : i32 loc(#loc)
    %before = arith.cmpi slt, %s3, %n : i32 loc("before"(#loc))
    // Neither is negative.
    // CHECK-NEXT: const bool inside = blockIdx.x < n;
    %inside = arith.cmpi slt, %block, %n : i32 loc("inside"(#loc))
    // CHECK-NEXT: const bool left = (int)blockIdx.x < alone;
    %left = arith.cmpi slt, %block, %alone : i32 loc("left"(#loc))
    // CHECK-NEXT: const bool same = blockIdx.x + -3 == alone;
    %a4 = arith.addi %block, %m3 : i32 loc(#loc)
    %same = arith.cmpi eq, %a4, %alone : i32 loc("same"(#loc))
    // CHECK-NEXT: const int quotient = (int)(blockIdx.x + -3) / 2;
    %a5 = arith.addi %block, %m3 : i32 loc(#loc)
    %quotient = arith.divsi %a5, %c2 : i32 loc("quotient"(#loc))
    // CHECK-NEXT: const int part = blockIdx.x / least;
    %part = arith.divui %block, %least : i32 loc("part"(#loc))
    // CHECK-NEXT: const long long chosen = (long long)(p ? (int)blockIdx.x : alone);
    %s6 = arith.select %p, %block, %alone : i32 loc(#loc)
    %chosen = arith.extsi %s6 : i32 to i64 loc("chosen"(#loc))
    // CHECK-NEXT: const float real = dsv4::convert<float>((int)(n - blockIdx.x));
    %s7 = arith.subi %n, %block : i32 loc(#loc)
    %real = arith.sitofp %s7 : i32 to f32 loc("real"(#loc))
    // CHECK-NEXT: out[(int)(blockIdx.x - 1)] = clamped;
    %s8 = arith.subi %block, %c1 : i32 loc(#loc)
    cuda.store %clamped, %out[%s8] : i32, memref<?xi32>, i32 loc(#loc)
    // CHECK-NEXT: out[0] = blockIdx.x - 1;
    %s9 = arith.subi %block, %c1 : i32 loc(#loc)
    cuda.store %s9, %out[%c0] : i32, memref<?xi32>, i32 loc(#loc)
    cuda.store %part, %out[%c2] : i32, memref<?xi32>, i32 loc(#loc)
    cuda.store %least, %out[%quotient] : i32, memref<?xi32>, i32 loc(#loc)
    cuda.store %wide, %wide_out[%c0] : i64, memref<?xi64>, i32 loc(#loc)
    cuda.store %chosen, %wide_out[%c1] : i64, memref<?xi64>, i32 loc(#loc)
    cuda.store %real, %float_out[%c1] : f32, memref<?xf32>, i32 loc(#loc)
    scf.if %before {
      cuda.store %c1, %out[%c0] : i32, memref<?xi32>, i32 loc(#loc)
    } loc(#loc)
    scf.if %inside {
      cuda.store %c1, %out[%c1] : i32, memref<?xi32>, i32 loc(#loc)
    } loc(#loc)
    scf.if %left {
      cuda.store %c1, %out[%c2] : i32, memref<?xi32>, i32 loc(#loc)
    } loc(#loc)
    scf.if %same {
      cuda.store %c1, %out[%c2] : i32, memref<?xi32>, i32 loc(#loc)
    } loc(#loc)
    gpu.return
  }
}

gpu.module @accesses {
  // CHECK: accesses(const unsigned char *__restrict__ in,
  gpu.func @accesses(%in: memref<?xi8> loc("in"(#loc)), %out: memref<?xbf16> loc("out"(#loc)),
                     %i: i32 loc("i"(#loc)), %p: i1 loc("p"(#loc))) kernel {
    // CHECK: const auto tile = dsv4::load_if<dsv4::Tile<dsv4::bf16, 2, 8>, 8>(p, &in[i], 64);
    %0 = cuda.load %in[%i] if %p stride 64 align 8 : memref<?xi8>, i32 -> vector<2x8xbf16> loc("tile"(#loc))
    // CHECK: const auto vector = dsv4::load<dsv4::Vec<dsv4::bf16, 4>>(&in[i]);
    %1 = cuda.load %in[%i] : memref<?xi8>, i32 -> vector<4xbf16> loc("vector"(#loc))
    // CHECK: dsv4::store_streaming<8>(&out[i], tile, 64);
    cuda.store %0, %out[%i] stride 32 align 8 streaming : vector<2x8xbf16>, memref<?xbf16>, i32 loc(#loc)
    // CHECK: dsv4::store(&out[i], vector);
    cuda.store %1, %out[%i] : vector<4xbf16>, memref<?xbf16>, i32 loc(#loc)
    // CHECK: if (p) {
    // CHECK-NEXT: const auto part = dsv4::load<dsv4::Vec<dsv4::bf16, 4>>(&in[0]);
    // CHECK-NEXT: dsv4::store(&out[0], part);
    // CHECK-NEXT: } else {
    // CHECK-NEXT: const auto part = dsv4::load<dsv4::Vec<dsv4::bf16, 4>>(&in[1]);
    // CHECK-NEXT: dsv4::store(&out[1], part);
    // CHECK-NEXT: }
    %c0 = arith.constant 0 : i32 loc(#loc)
    %c1 = arith.constant 1 : i32 loc(#loc)
    scf.if %p {
      %2 = cuda.load %in[%c0] : memref<?xi8>, i32 -> vector<4xbf16> loc("part"(#loc))
      cuda.store %2, %out[%c0] : vector<4xbf16>, memref<?xbf16>, i32 loc(#loc)
    } else {
      %2 = cuda.load %in[%c1] : memref<?xi8>, i32 -> vector<4xbf16> loc("part"(#loc))
      cuda.store %2, %out[%c1] : vector<4xbf16>, memref<?xbf16>, i32 loc(#loc)
    } loc(#loc)
    gpu.return
  }
}

// CHECK-LABEL: ahead(
gpu.module @ahead {
  gpu.func @ahead(%plan: memref<?xi32> loc("plan"(#loc)), %there: i1 loc("there"(#loc))) kernel {
    %size = gpu.grid_dim x loc(#loc)
    %blocks = arith.index_cast %size : index to i32 loc(#loc)
    // CHECK: dsv4::prefetch(&plan[gridDim.x]);
    cuda.prefetch %plan[%blocks] : memref<?xi32>, i32 loc(#loc)
    // CHECK: dsv4::prefetch_if(there, &plan[gridDim.x]);
    cuda.prefetch %plan[%blocks] if %there : memref<?xi32>, i32 loc(#loc)
    // CHECK: dsv4::prefetch_l2(&plan[gridDim.x]);
    cuda.prefetch %plan[%blocks] l2 : memref<?xi32>, i32 loc(#loc)
    // CHECK: dsv4::prefetch_l2_if(there, &plan[gridDim.x]);
    cuda.prefetch %plan[%blocks] l2 if %there : memref<?xi32>, i32 loc(#loc)
    gpu.return
  }
}

// An overload is chosen by the types of both.
// CHECK-LABEL: overloads(
gpu.module @overloads {
  gpu.func @overloads(%out: memref<?xi32> loc("out"(#loc)), %w: i64 loc("w"(#loc)),
                      %a: i32 loc("a"(#loc))) kernel {
    %c0w = arith.constant 0 : i64 loc(#loc)
    %c7w = arith.constant 7 : i64 loc(#loc)
    %c0 = arith.constant 0 : i32 loc(#loc)
    // CHECK: const long long wide = min(max(w, 0ll), 7ll);
    %above = arith.maxsi %w, %c0w : i64 loc(#loc)
    %wide = arith.minsi %above, %c7w : i64 loc("wide"(#loc))
    // CHECK: out[wide] = max(a, 0);
    %narrow = arith.maxsi %a, %c0 : i32 loc(#loc)
    cuda.store %narrow, %out[%wide] : i32, memref<?xi32>, i64 loc(#loc)
    gpu.return
  }
}

// The shortest literal that is the number, of whole ones without an exponent.
// CHECK-LABEL: numbers(
gpu.module @numbers {
  gpu.func @numbers(%out: memref<?xf32> loc("out"(#loc)), %x: f32 loc("x"(#loc))) kernel {
    %thousands = arith.constant -7.0e+03 : f32 loc(#loc)
    %most = arith.constant 9999990.0 : f32 loc(#loc)
    %large = arith.constant 1.0e+07 : f32 loc(#loc)
    %tenth = arith.constant 0.1 : f32 loc(#loc)
    %small = arith.constant 2.5e-07 : f32 loc(#loc)
    %one = arith.constant 1.0 : f32 loc(#loc)
    %infinity = arith.constant 0x7F800000 : f32 loc(#loc)
    %nan = arith.constant 0xFFC00001 : f32 loc(#loc)
    // CHECK: const float a = x * -7000.0f;
    %a = arith.mulf %x, %thousands : f32 loc("a"(#loc))
    // CHECK: const float b = a + 9999990.0f;
    %b = arith.addf %a, %most : f32 loc("b"(#loc))
    // CHECK: const float c = b * 1e+07f;
    %c = arith.mulf %b, %large : f32 loc("c"(#loc))
    // CHECK: const float d = c + 0.1f;
    %d = arith.addf %c, %tenth : f32 loc("d"(#loc))
    // CHECK: const float e = d * 2.5e-07f;
    %e = arith.mulf %d, %small : f32 loc("e"(#loc))
    // CHECK: const float f = e + 1.0f;
    %f = arith.addf %e, %one : f32 loc("f"(#loc))
    // CHECK: const float g = f * dsv4::as_float(0x7F800000u);
    %g = arith.mulf %f, %infinity : f32 loc("g"(#loc))
    // CHECK: out[0] = g + dsv4::as_float(0xFFC00001u);
    %h = arith.addf %g, %nan : f32 loc(#loc)
    %c0 = arith.constant 0 : i32 loc(#loc)
    cuda.store %h, %out[%c0] : f32, memref<?xf32>, i32 loc(#loc)
    gpu.return
  }
}
