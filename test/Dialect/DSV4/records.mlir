// Records and cache types: every known record prints under its name, others in
// full, and both are read back from text, generic text and bytecode.

// RUN: dsv4-opt %s | dsv4-opt | FileCheck %s
// RUN: dsv4-opt %s -mlir-print-op-generic | dsv4-opt | FileCheck %s
// RUN: dsv4-opt %s --emit-bytecode | dsv4-opt --allow-bytecode | FileCheck %s
// RUN: not dsv4-opt %S/Inputs/unknown-record.mlir 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// An unknown name is answered with the known ones.
// UNKNOWN: error: no record is known as 'v4_585'; known are v32_656, v4_584, v41_528,
// UNKNOWN-SAME: seed_580, seed_292, index_fp8_132, index_mxfp4_68

// CHECK-DAG: #v4_584 = #dsv4.record<[<"nope" : 448 x f8E4M3FN in row{{ ?}}>, <"rope" : 64 x bf16 in row{{ ?}}>, <"nope_scale" : 7 x f8E8M0FNU in tail{{ +}}scales "nope" per 64 pad 1>], align 576>
// CHECK-DAG: #v32_656 = #dsv4.record<[<"nope" : 512 x f8E4M3FN in row{{ ?}}>, <"nope_scale" : 4 x f32 in row{{ +}}scales "nope" per 128>, <"rope" : 64 x bf16 in row{{ ?}}>]>
// CHECK-DAG: #nvfp4_352 = #dsv4.record<[{{.*}}<"nope_scale" : 32 x f8E4M3FN in row{{ +}}scales "nope" per 16 interleave 4>]>
// CHECK-DAG: #fp8_512 = #dsv4.record<[{{.*}}<"kv_scale" : 1 x f32 in array{{ +}}scales "kv" per tensor>]>
// CHECK-DAG: #[[CUSTOM:record[0-9]*]] = #dsv4.record<[<"a" : 16 x f4E2M1FN in row{{ +}}at 8 pad 8 high_first>, <"b" : 8 x f32 in array{{ ?}}>, <"s" : 1 x bf16 in tail{{ +}}scales "a" per row>], align 64>

// CHECK-LABEL: func.func private @known
// CHECK-SAME: !dsv4.cache<64 x #v32_656>
// CHECK-SAME: !dsv4.cache<64 x #v4_584>
// CHECK-SAME: !dsv4.cache<1 x #v41_528>
// CHECK-SAME: !dsv4.cache<2 x #v41_fp4_288>
// CHECK-SAME: !dsv4.cache<64 x #v41_interleaved_528>
// CHECK-SAME: !dsv4.cache<64 x #v41_fp4_interleaved_288>
// CHECK-SAME: !dsv4.cache<64 x #nvfp4_384>
// CHECK-SAME: !dsv4.cache<64 x #mxfp4_368>
// CHECK-SAME: !dsv4.cache<64 x #int4_368>
// CHECK-SAME: !dsv4.cache<64 x #int4_384>
// CHECK-SAME: !dsv4.cache<64 x #packed_fp4_384>
// CHECK-SAME: !dsv4.cache<64 x #nvfp4_352>
// CHECK-SAME: !dsv4.cache<64 x #nvfp4_432>
// CHECK-SAME: !dsv4.cache<64 x #nvfp4_380>
// CHECK-SAME: !dsv4.cache<64 x #bf16_1024>
// CHECK-SAME: !dsv4.cache<64 x #fp8_512>
// CHECK-SAME: !dsv4.cache<64 x #nvfp4_arrays_288>
// CHECK-SAME: !dsv4.cache<64 x #seed_580>
// CHECK-SAME: !dsv4.cache<64 x #seed_292>
// CHECK-SAME: !dsv4.cache<64 x #index_fp8_132>
// CHECK-SAME: !dsv4.cache<64 x #index_mxfp4_68>
func.func private @known(
  !dsv4.cache<64 x <v32_656>>, !dsv4.cache<64 x <v4_584>>,
  !dsv4.cache<1 x <v41_528>>, !dsv4.cache<2 x <v41_fp4_288>>,
  !dsv4.cache<64 x <v41_interleaved_528>>, !dsv4.cache<64 x <v41_fp4_interleaved_288>>,
  !dsv4.cache<64 x <nvfp4_384>>, !dsv4.cache<64 x <mxfp4_368>>,
  !dsv4.cache<64 x <int4_368>>, !dsv4.cache<64 x <int4_384>>,
  !dsv4.cache<64 x <packed_fp4_384>>, !dsv4.cache<64 x <nvfp4_352>>,
  !dsv4.cache<64 x <nvfp4_432>>, !dsv4.cache<64 x <nvfp4_380>>,
  !dsv4.cache<64 x <bf16_1024>>, !dsv4.cache<64 x <fp8_512>>,
  !dsv4.cache<64 x <nvfp4_arrays_288>>, !dsv4.cache<64 x <seed_580>>,
  !dsv4.cache<64 x <seed_292>>, !dsv4.cache<64 x <index_fp8_132>>,
  !dsv4.cache<64 x <index_mxfp4_68>>)

// Written out, a known record is the same attribute.
// CHECK-LABEL: func.func private @spelled_out
// CHECK-SAME: (!dsv4.cache<64 x #index_fp8_132>)
func.func private @spelled_out(!dsv4.cache<64 x <[
  <"key" : 128 x f8E4M3FN in row>,
  <"key_scale" : 1 x f32 in tail scales "key" per row>]>>)

// The default alignment is 1, and one field more is another record.
// CHECK-LABEL: func.func private @custom
// CHECK-SAME: (!dsv4.cache<4 x #[[CUSTOM]]>)
func.func private @custom(!dsv4.cache<4 x <[
  <"a" : 16 x f4E2M1FN in row at 8 pad 8 high_first>,
  <"b" : 8 x f32 in array>,
  <"s" : 1 x bf16 in tail scales "a" per row>], align 64>>)

// Metadata are fields of i32.
// CHECK-LABEL: func.func private @metadata
func.func private @metadata(!dsv4.cache<4 x <[
  <"a" : 16 x bf16 in row>, <"position" : 1 x i32 in array>, <"where" : 2 x i32 in tail>]>>)
