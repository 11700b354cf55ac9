// RUN: dsv4-opt %s --split-input-file --verify-diagnostics

func.func @condition(%x: tensor<?x8xf32>) {
  // expected-error @+1 {{launch_c1: if: 'rows' is not the name of an extent at character 4 of 'rows > 1'}}
  dsv4.launch @m::@k if "rows > 1" grid ["1", "1", "1"] block [32, 1, 1] parameters []
  return
}

// -----

func.func @requires(%x: tensor<?x8xf32>) {
  // expected-error @+1 {{launch_c1: requires: expected a comparison at character 6 of 'arg0.0'}}
  dsv4.launch @m::@k grid ["1", "1", "1"] block [32, 1, 1] requires "arg0.0" parameters []
  return
}

// -----

// An extent that is constant is no extent of a launch.
func.func @grid(%x: tensor<?x8xf32>) {
  // expected-error @+1 {{launch_c1: grid: 'arg0.1' is not the name of an extent at character 6 of 'arg0.1'}}
  dsv4.launch @m::@k grid ["arg0.0", "arg0.1", "1"] block [32, 1, 1] parameters []
  return
}

// -----

func.func @axes(%x: tensor<?x8xf32>) {
  // expected-error @+1 {{launch_c1: grid: expected three extents}}
  dsv4.launch @m::@k grid ["arg0.0", "1"] block [32, 1, 1] parameters []
  return
}

// -----

func.func @block(%x: tensor<?x8xf32>) {
  // expected-error @+1 {{launch_c1: block: expected three positive extents}}
  dsv4.launch @m::@k grid ["arg0.0", "1", "1"] block [32, -1, 1] parameters []
  return
}

// -----

func.func @cluster(%x: tensor<?x8xf32>) {
  // expected-error @+1 {{launch_c1: cluster: expected three positive extents}}
  dsv4.launch @m::@k grid ["arg0.0", "1", "1"] block [32, 1, 1] cluster [2] parameters []
  return
}

// -----

func.func @shared(%x: tensor<?x8xf32>) {
  // expected-error @+1 {{launch_c1: shared: expected ')' at character 5 of '(1024'}}
  dsv4.launch @m::@k grid ["arg0.0", "1", "1"] block [32, 1, 1] shared "(1024" parameters []
  return
}

// -----

func.func @workspace(%x: tensor<?x8xf32>) {
  // expected-error @+1 {{launch_c1: workspace: expected the end at character 7 of 'arg0.0 - 1'}}
  dsv4.launch @m::@k grid ["arg0.0", "1", "1"] block [32, 1, 1] workspace "arg0.0 - 1" parameters []
  return
}

// -----

func.func @parameter(%x: tensor<?x8xf32>) {
  // expected-error @+1 {{launch_c1: parameters: 'x' is not the name of an argument at character 6 of 'read(x, 4)'}}
  dsv4.launch @m::@k grid ["arg0.0", "1", "1"] block [32, 1, 1] parameters ["read(x, 4)"]
  return
}

// -----

// expected-error @+1 {{launch_c1: expected to be in a function, which has the arguments}}
dsv4.launch @m::@k grid ["1", "1", "1"] block [32, 1, 1] parameters []

// -----

func.func @threads(%x: tensor<?x8xf32>) {
  // expected-error @+1 {{launch_c2: threads of a block: expected at most 1024, got 2048}}
  dsv4.launch @m::@k grid ["arg0.0", "1", "1"] block [32, 64, 1] parameters []
  return
}

// -----

func.func @blocks_of_cluster(%x: tensor<?x8xf32>) {
  // expected-error @+1 {{launch_c2: blocks of a cluster: expected at most 16, got 18}}
  dsv4.launch @m::@k grid ["arg0.0", "1", "1"] block [32, 1, 1] cluster [2, 9, 1] parameters []
  return
}

// -----

func.func @alignment(%x: tensor<?x8xf32>) {
  // expected-error @+1 {{launch_c2: alignment 12: expected a power of two up to 4096}}
  dsv4.launch @m::@k grid ["arg0.0", "1", "1"] block [32, 1, 1] parameters ["read(arg0, 12)"]
  return
}

// -----

func.func @no_workspace(%x: tensor<?x8xf32>) {
  // expected-error @+1 {{launch_c2: parameters for the workspace: expected 1, got 0}}
  dsv4.launch @m::@k grid ["arg0.0", "1", "1"] block [32, 1, 1] workspace "arg0.0" parameters []
  return
}

// -----

func.func @symbol(%x: tensor<?x8xf32>) {
  // expected-error @+1 {{launch_c3: @symbol is not a gpu.func with 'kernel'}}
  dsv4.launch @symbol grid ["arg0.0", "1", "1"] block [32, 1, 1] parameters []
  return
}

// -----

gpu.module @m {
  gpu.func @k(%x: memref<?xf32>) kernel {
    gpu.return
  }
}
func.func @count(%x: tensor<?x8xf32>) {
  // expected-error @+1 {{launch_c3: the kernel has 1 parameters, but the plan has 2}}
  dsv4.launch @m::@k grid ["arg0.0", "1", "1"] block [32, 1, 1] parameters ["read(arg0, 4)", "i32(arg0.0)"]
  return
}

// -----

gpu.module @m {
  gpu.func @k(%x: i64) kernel {
    gpu.return
  }
}
func.func @type(%x: tensor<?x8xf32>) {
  // expected-error @+1 {{launch_c3: parameter 0 is 'i32(arg0.0)', which is passed as i32, but the kernel takes 'i64'}}
  dsv4.launch @m::@k grid ["arg0.0", "1", "1"] block [32, 1, 1] parameters ["i32(arg0.0)"]
  return
}

// -----

gpu.module @m {
  gpu.func @k(%x: memref<?xf32>) kernel {
    gpu.return
  }
}
func.func @workspace_type(%x: tensor<?x8xf32>) {
  // expected-error @+1 {{launch_c3: parameter 0 is 'workspace', which is passed as a memref of i8, but the kernel takes 'memref<?xf32>'}}
  dsv4.launch @m::@k grid ["arg0.0", "1", "1"] block [32, 1, 1] workspace "16" parameters ["workspace"]
  return
}

// -----

gpu.module @m {
  gpu.func @k() kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    gpu.return
  }
}
func.func @other_block(%x: tensor<?x8xf32>) {
  // expected-error @+1 {{launch_c4: expected the block that the kernel is compiled for, array<i32: 64, 1, 1>}}
  dsv4.launch @m::@k grid ["arg0.0", "1", "1"] block [32, 1, 1] parameters []
  return
}

// -----

gpu.module @m {
  gpu.func @k() kernel attributes {cuda.cluster = 2 : i64} {
    gpu.return
  }
}
func.func @other_cluster(%x: tensor<?x8xf32>) {
  // expected-error @+1 {{launch_c4: expected the cluster that the kernel is compiled for, 2 blocks along x}}
  dsv4.launch @m::@k grid ["arg0.0", "1", "1"] block [32, 1, 1] parameters []
  return
}
