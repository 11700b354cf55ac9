// The printer writes no name that is not an identifier of its own, whatever IR
// holds: a name with C++ in it, a reserved one, one of two values.

// RUN: split-file %s %t
// RUN: not dsv4-translate --mlir-to-cuda %t/kernel.mlir 2>&1 | FileCheck %s --check-prefix=KERNEL
// RUN: not dsv4-translate --mlir-to-cuda %t/reserved.mlir 2>&1 | FileCheck %s --check-prefix=RESERVED
// RUN: not dsv4-translate --mlir-to-cuda %t/parameter.mlir 2>&1 | FileCheck %s --check-prefix=PARAMETER
// RUN: not dsv4-translate --mlir-to-cuda %t/line.mlir 2>&1 | FileCheck %s --check-prefix=LINE
// RUN: not dsv4-translate --mlir-to-cuda %t/twice.mlir 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: not dsv4-translate --mlir-to-cuda %t/hides.mlir 2>&1 | FileCheck %s --check-prefix=HIDES
// RUN: not dsv4-translate --mlir-to-cuda %t/kernels.mlir 2>&1 | FileCheck %s --check-prefix=KERNELS
// RUN: not dsv4-translate --mlir-to-cuda %t/config.mlir 2>&1 | FileCheck %s --check-prefix=CONFIG
// RUN: not dsv4-translate --mlir-to-cuda %t/configs.mlir 2>&1 | FileCheck %s --check-prefix=CONFIGS
// RUN: dsv4-translate --mlir-to-cuda --cuda-line-directives %t/texts.mlir | FileCheck %s --check-prefix=TEXTS

// KERNEL: error: {{.*}}'f(){}_extern "C" int pwn(' cannot be the name of a kernel in CUDA C++
// RESERVED: error: {{.*}}'printf' cannot be the name of a kernel in CUDA C++
// PARAMETER: error: {{.*}}'x){}//' cannot be the name of a value in CUDA C++
// LINE: error: {{.*}}'int' cannot be the name of a value in CUDA C++
// TWICE: error: {{.*}}two values of a kernel have the name 'x'
// HIDES: error: {{.*}}two values of a kernel have the name 'f'
// KERNELS: error: {{.*}}two kernels have the name 'f'
// CONFIG: error: 'cuda.select' op cannot name its config 'int': expected an identifier that no other kernel or config has and CUDA C++ does not reserve
// CONFIGS: error: 'cuda.select' op cannot name its config 'f': expected an identifier that no other kernel or config has and CUDA C++ does not reserve

//--- kernel.mlir
gpu.module @m {
  gpu.func @"f(){}\0Aextern \22C\22 int pwn("(%x: memref<?xf32> loc("x")) kernel {
    gpu.return
  }
}

//--- reserved.mlir
gpu.module @m {
  gpu.func @printf(%x: memref<?xf32> loc("x")) kernel {
    gpu.return
  }
}

//--- parameter.mlir
gpu.module @m {
  gpu.func @f(%x: memref<?xf32> loc("x){}//")) kernel {
    gpu.return
  }
}

//--- line.mlir
gpu.module @m {
  gpu.func @f(%x: memref<?xf32> loc("x"), %i: i32 loc("i")) kernel {
    %0 = cuda.load %x[%i] : memref<?xf32>, i32 -> f32 loc("int")
    gpu.return
  }
}

//--- twice.mlir
gpu.module @m {
  gpu.func @f(%x: memref<?xf32> loc("x"), %i: i32 loc("x")) kernel {
    gpu.return
  }
}

//--- hides.mlir
gpu.module @m {
  gpu.func @f(%x: memref<?xf32> loc("f")) kernel {
    gpu.return
  }
}

//--- kernels.mlir
gpu.module @m {
  gpu.func @f(%x: memref<?xf32> loc("x")) kernel {
    gpu.return
  }
}
gpu.module @n {
  gpu.func @f(%x: memref<?xf32> loc("x")) kernel {
    gpu.return
  }
}

//--- config.mlir
gpu.module @m {
  gpu.func @f(%in: memref<?xf32> loc("in"), %n: i32 loc("n")) kernel {
    cuda.select 8 of %n max 64 threads 64 attributes {cuda.config = "int"} : i32 load {
    ^bb0(%column: i32 loc("column")):
      %x = cuda.load %in[%n] : memref<?xf32>, i32 -> vector<1x4xf32>
      cuda.select_yield %x : vector<1x4xf32>
    } emit {
    ^bb0(%rank: i32 loc("rank"), %index: i32 loc("index"), %value: f32 loc("value")):
      cuda.select_yield
    }
    gpu.return
  }
}

//--- configs.mlir
gpu.module @m {
  gpu.func @f(%in: memref<?xf32> loc("in"), %n: i32 loc("n")) kernel {
    cuda.select 8 of %n max 64 threads 64 attributes {cuda.config = "f"} : i32 load {
    ^bb0(%column: i32 loc("column")):
      %x = cuda.load %in[%n] : memref<?xf32>, i32 -> vector<1x4xf32>
      cuda.select_yield %x : vector<1x4xf32>
    } emit {
    ^bb0(%rank: i32 loc("rank"), %index: i32 loc("index"), %value: f32 loc("value")):
      cuda.select_yield
    }
    gpu.return
  }
}

// A comment and a file name stay in their line.
// TEXTS: // one_int pwn;_
// TEXTS-NEXT: // a "quoted" ?_/ end_
// TEXTS-NEXT: extern "C" __global__ void
// TEXTS-NEXT: f(
// TEXTS: #line 3 "a__include _b__.mlir"
// TEXTS-NEXT: const float y = x[i];
// TEXTS-NEXT: const float z = x[i];
//--- texts.mlir
gpu.module @m {
  gpu.func @f(%x: memref<?xf32> loc("x"), %i: i32 loc("i")) kernel
      attributes {cuda.header = ["one\0Aint pwn;\0D", "a \22quoted\22 ??/ end\5C"]} {
    %y = cuda.load %x[%i] : memref<?xf32>, i32 -> f32 loc("y"("a\22\0Ainclude \22b\5C\FF.mlir":3:1))
    %z = cuda.load %x[%i] : memref<?xf32>, i32 -> f32 loc("z"("a.mlir":0:1))
    gpu.return
  }
}
