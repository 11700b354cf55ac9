// Launch plans in text, generic text and bytecode.

// RUN: dsv4-opt %s | dsv4-opt | FileCheck %s
// RUN: dsv4-opt %s --mlir-print-op-generic | dsv4-opt | FileCheck %s
// RUN: dsv4-opt %s --emit-bytecode | dsv4-opt --allow-bytecode | FileCheck %s

module attributes {gpu.container_module} {
gpu.module @tiles_module attributes {cuda.target = #cuda.target<"sm_90a">} {
  gpu.func @tiles(%q: memref<?xbf16>, %scale: f32, %first: i64, %out: memref<?xf32>, %m: i32) kernel
      attributes {known_block_size = array<i32: 32, 4, 1>} {
    gpu.return
  }
}
gpu.module @persistent_module attributes {cuda.target = #cuda.target<"sm_90a">} {
  gpu.func @persistent(%pages: memref<?xi8>, %scales: memref<?xi8>, %work: memref<?xi8>, %n: i64, %map: memref<?xi8>) kernel
      attributes {cuda.cluster = 2 : i64} {
    gpu.return
  }
}

// CHECK-LABEL: func.func @alternatives
func.func @alternatives(%q: tensor<?x128xbf16> {dsv4.name = "q", dsv4.dims = ["m", ""]},
                        %scale: f32 {dsv4.name = "scale"}, %first: i64 {dsv4.name = "first"},
                        %out: tensor<?x?xf32> {dsv4.name = "out", dsv4.dims = ["m", ""]},
                        %cache: !dsv4.cache<64 x <[<"values" : 64 x f8E4M3FN in row>, <"scales" : 1 x f32 in array>]>> {dsv4.name = "cache"}) {
  // CHECK: dsv4.launch @tiles_module::@tiles if "m < 128 && out.1 != 0" grid ["ceildiv(out.1, 64)", "ceildiv(m, 32)", "1"]
  // CHECK-SAME: block [32, 4, 1] shared "4096" requires "m * out.1 <= 2147483647"
  // CHECK-SAME: parameters ["read(q, 16)", "scalar(scale)", "scalar(first)", "write(out, 4)", "i32(m)"]
  dsv4.launch @tiles_module::@tiles if "m < 128 && out.1 != 0"
      grid ["ceildiv(out.1, 64)", "ceildiv(m, 32)", "1"] block [32, 4, 1] shared "4096"
      requires "m * out.1 <= 2147483647"
      parameters ["read(q, 16)", "scalar(scale)", "scalar(first)", "write(out, 4)", "i32(m)"]
  // CHECK: dsv4.launch @persistent_module::@persistent if "m >= 128" grid ["min(m, multiprocessors()) * 2", "1", "1"]
  // CHECK-SAME: block [256, 1, 1] cluster [2, 1, 1] shared "min(m * 16, 65536)" workspace "m * 16" pdl
  // CHECK-SAME: parameters ["update(cache, 8)", "read(cache.scales, 4)", "workspace", "i64(cache.pages + 1)", "tensor_map(q)"] {gpu.note = "last"}
  dsv4.launch @persistent_module::@persistent if "m >= 128"
      grid ["min(m, multiprocessors()) * 2", "1", "1"] block [256, 1, 1] cluster [2, 1, 1]
      shared "min(m * 16, 65536)" workspace "m * 16" pdl
      parameters ["update(cache, 8)", "read(cache.scales, 4)", "workspace", "i64(cache.pages + 1)", "tensor_map(q)"]
      {gpu.note = "last"}
  return
}
}
