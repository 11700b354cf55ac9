// Attributes that passes leave, of the wrong kind or in the wrong place.

// RUN: dsv4-opt %s --split-input-file --verify-diagnostics

gpu.module @m {
  // expected-error @+1 {{expects 'cuda.header' to be an array of strings}}
  gpu.func @f() kernel attributes {cuda.header = ["a", 1 : i32]} {
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @+1 {{expects 'cuda.cluster' to be an i64 of at least 1}}
  gpu.func @f() kernel attributes {cuda.cluster = 0 : i64} {
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @+1 {{expects 'cuda.min_blocks' to be an i64 of at least 1}}
  gpu.func @f() kernel attributes {cuda.min_blocks = 1 : i128} {
    gpu.return
  }
}

// -----

// expected-error @+1 {{expects 'cuda.target' to be a #cuda.target}}
gpu.module @m attributes {cuda.target = "sm_90a"} {
}

// -----

// expected-error @+1 {{cannot have the attribute 'cuda.cluster'}}
func.func @f() attributes {cuda.cluster = 1 : i64} {
  return
}

// -----

// expected-error @+1 {{expects 'cuda.range' of argument 0 to be array<i64: min, max> of an i32 or i64}}
func.func @f(%x: f32 {cuda.range = array<i64: 0, 1>}) {
  return
}

// -----

// expected-error @+1 {{expects 'cuda.range' of argument 0 to be array<i64: min, max> of an i32 or i64}}
func.func @f(%x: i32 {cuda.range = array<i64: 3>}) {
  return
}

// -----

// expected-error @+1 {{expects 'cuda.range' of argument 0 to be array<i64: min, max> of an i32 or i64}}
func.func @f(%x: i32 {cuda.range = array<i64: 0, 4294967296>}) {
  return
}

// -----

// The body, which is verified later, has no argument.
// expected-error @+1 {{expects 'cuda.range' of argument 0 to be array<i64: min, max> of an i32 or i64}}
func.func @f(i32 {cuda.range = array<i64: 3>}) {
  return
}

// -----

func.func @f(%x: vector<2x4xf32>) {
  // expected-error @+1 {{expects 'cuda.config' to be a string}}
  %0 = cuda.one_nan %x {cuda.config = 1 : i64} : vector<2x4xf32>
  return
}

// -----

// expected-error @+1 {{cannot have the attribute 'cuda.config'}}
func.func @f() attributes {cuda.config = "Config"} {
  return
}
