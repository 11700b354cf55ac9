// Attributes of the dialect, read back from text, generic text and bytecode.

// RUN: dsv4-opt %s | dsv4-opt | FileCheck %s
// RUN: dsv4-opt %s -mlir-print-op-generic | dsv4-opt | FileCheck %s
// RUN: dsv4-opt %s --emit-bytecode | dsv4-opt --allow-bytecode | FileCheck %s

// Formats get an alias; equal ones the same.
// CHECK-DAG: #[[NVFP4:format[0-9]*]] = #dsv4.format<f4E2M1FN, [<f8E4M3FN per 16>, <f32 per row>]{{ ?}}>
// CHECK-DAG: #[[MXFP4:format[0-9]*]] = #dsv4.format<f4E2M1FN, [<f8E8M0FNU per 32>]{{ ?}}, high_first>
// CHECK-DAG: #[[TENSOR:format[0-9]*]] = #dsv4.format<f8E4M3FN, [<f32 per tensor>]{{ ?}}>
// CHECK-DAG: #[[INT4:format[0-9]*]] = #dsv4.format<i4, [<bf16 per 32>]{{ ?}}>
// CHECK-DAG: #[[WIDE:format[0-9]*]] = #dsv4.format<f32, [<f32 per 1>]{{ ?}}>

// CHECK-LABEL: module attributes
// CHECK-SAME: test.format = [#[[NVFP4]], #[[MXFP4]], #[[TENSOR]], #[[INT4]], #[[WIDE]]]
module attributes {
  test.format = [
    #dsv4.format<f4E2M1FN, [<f8E4M3FN per 16>, <f32 per row>]>,
    #dsv4.format<f4E2M1FN, [<f8E8M0FNU per 32>], high_first>,
    #dsv4.format<f8E4M3FN, [<f32 per tensor>]>,
    #dsv4.format<i4, [<bf16 per 32>]>,
    #dsv4.format<f32, [<f32 per 1>]>
  ]
} {
  // CHECK: func.func private @policies
  // CHECK-SAME: tensor<?x?xi32> {dsv4.dims = ["tokens", ""], dsv4.name = "i"}
  // CHECK-SAME: dsv4.bounds = {tokens = 4096 : i64}
  // CHECK-SAME: dsv4.policies = {a = #dsv4.policy<exact>, b = #dsv4.policy<bucket>, c = #dsv4.policy<dynamic>, d = #dsv4.policy<bucket, multiple = 4>}
  func.func private @policies(tensor<?x?xi32> {dsv4.name = "i", dsv4.dims = ["tokens", ""]})
      attributes {
        dsv4.bounds = {tokens = 4096},
        dsv4.policies = {a = #dsv4.policy<exact>, b = #dsv4.policy<bucket>,
                         c = #dsv4.policy<dynamic>, d = #dsv4.policy<bucket, multiple = 4>}}

  // Defaults are not printed.
  // CHECK: func.func private @schedules
  // CHECK-SAME: test.schedules = [
  // CHECK-SAME: #dsv4.schedule<threads = 128, parts = [#dsv4.rows<lanes = 8, vector = 8>]>,
  // CHECK-SAME: #dsv4.schedule<threads = 32, parts = [#dsv4.rows<lanes = 1, vector = 32, store = streaming>]>,
  // CHECK-SAME: #dsv4.schedule<threads = 1024, pdl = true, parts = [#dsv4.rows<lanes = 32, vector = 1>]>,
  // CHECK-SAME: #dsv4.schedule<threads = 64, min_blocks = 8, parts = [#dsv4.rows<lanes = 4, vector = 16, load = evict_last>]>,
  // CHECK-SAME: #dsv4.schedule<threads = 512, parts = [#dsv4.rows<lanes = 32, vector = 2>, #dsv4.window<elements = 2>]>,
  // CHECK-SAME: #dsv4.schedule<threads = 128, pdl = true, parts = [#dsv4.rows<lanes = 32, vector = 2>, #dsv4.window<elements = 8, rows = 4>]>,
  // CHECK-SAME: #dsv4.schedule<threads = 128, parts = [#dsv4.select<algorithm = warp, vector = 4>]>,
  // CHECK-SAME: #dsv4.schedule<threads = 1024, cluster = 6, pdl = true, parts = [#dsv4.select<algorithm = block, vector = 4, load = evict_last>]>,
  // CHECK-SAME: #dsv4.schedule<threads = 512, min_blocks = 2, parts = [#dsv4.select<algorithm = stream, vector = 4, vectors = 4>]>,
  // CHECK-SAME: #dsv4.schedule<threads = 1024, parts = [#dsv4.select<algorithm = grid, vector = 4, blocks = 64, store = streaming>, #dsv4.rows<lanes = 8, vector = 8>]>]
  func.func private @schedules() attributes {test.schedules = [
    #dsv4.schedule<threads = 128, pdl = false, parts = [#dsv4.rows<lanes = 8, vector = 8, store = default>]>,
    #dsv4.schedule<threads = 32, parts = [#dsv4.rows<lanes = 1, vector = 32, store = streaming>]>,
    #dsv4.schedule<threads = 1024, pdl = true, parts = [#dsv4.rows<lanes = 32, vector = 1>]>,
    #dsv4.schedule<threads = 64, min_blocks = 8, parts = [#dsv4.rows<lanes = 4, vector = 16, load = evict_last>]>,
    #dsv4.schedule<threads = 512, parts = [#dsv4.rows<lanes = 32, vector = 2>, #dsv4.window<elements = 2>]>,
    #dsv4.schedule<threads = 128, pdl = true, parts = [#dsv4.rows<lanes = 32, vector = 2>, #dsv4.window<elements = 8, rows = 4>]>,
    #dsv4.schedule<threads = 128, parts = [#dsv4.select<algorithm = warp, vector = 4>]>,
    #dsv4.schedule<parts = [#dsv4.select<vector = 4, load = evict_last, algorithm = block>], cluster = 6, pdl = true, threads = 1024>,
    #dsv4.schedule<threads = 512, min_blocks = 2, parts = [#dsv4.select<algorithm = stream, vector = 4, vectors = 4>]>,
    #dsv4.schedule<threads = 1024, parts = [#dsv4.select<algorithm = grid, vector = 4, vectors = 1, blocks = 64, store = streaming>, #dsv4.rows<lanes = 8, vector = 8>]>]}

  // Recipes: every value of every parameter; defaults are not printed.
  // CHECK: func.func private @quantizers
  // CHECK-SAME: test.recipes = [
  // CHECK-SAME: #dsv4.quantizer<>, #dsv4.quantizer<>,
  // CHECK-SAME: #dsv4.quantizer<floor = 0.001953125 : f32, floor_of = scale, limit = reciprocal, rounding = up, payload = reciprocal, ties = down, drop_negative_zero = true>,
  // CHECK-SAME: #dsv4.quantizer<floor = 1.000000e+00 : f32, rounding = up_pow2>,
  // CHECK-SAME: #dsv4.quantizer<floor_of = scale>,
  // CHECK-SAME: #dsv4.quantizer<drop_negative_zero = true>]
  func.func private @quantizers() attributes {test.recipes = [
    #dsv4.quantizer<>,
    #dsv4.quantizer<floor = 0.0 : f32, floor_of = amax, limit = divide, rounding = nearest,
                    payload = divide, ties = even, drop_negative_zero = false>,
    #dsv4.quantizer<floor = 0.001953125 : f32, floor_of = scale, limit = reciprocal, rounding = up,
                    payload = reciprocal, ties = down, drop_negative_zero = true>,
    #dsv4.quantizer<rounding = up_pow2, floor = 1.0 : f32>,
    #dsv4.quantizer<floor_of = scale>,
    #dsv4.quantizer<drop_negative_zero = true>]}

  // A floor may be subnormal, or as large as a float is; it is read back as it was.
  // CHECK: func.func private @floors
  // CHECK-SAME: #dsv4.quantizer<floor = 1.401300e-45 : f32>,
  // CHECK-SAME: #dsv4.quantizer<floor = 1.17549435E-38 : f32>,
  // CHECK-SAME: #dsv4.quantizer<floor = 7.0529661E-38 : f32>,
  // CHECK-SAME: #dsv4.quantizer<floor = 1.66666669E-5 : f32>,
  // CHECK-SAME: #dsv4.quantizer<floor = 3.40282347E+38 : f32>]
  func.func private @floors() attributes {test.recipes = [
    #dsv4.quantizer<floor = 0x00000001 : f32>,
    #dsv4.quantizer<floor = 0x00800000 : f32>,
    #dsv4.quantizer<floor = 0x01C00000 : f32>,
    #dsv4.quantizer<floor = 0x378BCF65 : f32>,
    #dsv4.quantizer<floor = 0x7F7FFFFF : f32>]}
}
