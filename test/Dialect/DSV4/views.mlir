// #dsv4.view: as text, as generic text and as bytecode.

// RUN: dsv4-opt %s | dsv4-opt | FileCheck %s
// RUN: dsv4-opt %s --mlir-print-op-generic | dsv4-opt | FileCheck %s
// RUN: dsv4-opt %s --emit-bytecode | dsv4-opt --allow-bytecode | FileCheck %s

// CHECK: dsv4.strides = #dsv4.strides<[3072]>, dsv4.view = #dsv4.view<of = 0, axes = [0, 1], offsets = ["0", "1024"]>
func.func private @columns(
    tensor<?x1536xbf16> {dsv4.name = "qkv", dsv4.dims = ["tokens", ""]},
    tensor<?x512xbf16> {dsv4.name = "kv", dsv4.dims = ["tokens", ""], dsv4.strides = #dsv4.strides<[3072]>,
                        dsv4.view = #dsv4.view<of = 0, axes = [0, 1], offsets = ["0", "1024"]>})

// CHECK: dsv4.view = #dsv4.view<of = 0, axes = [0, 2], offsets = ["decodes * 2 + 1", "3", "0"]>
func.func private @heads(
    tensor<?x4x512xbf16> {dsv4.name = "q", dsv4.dims = ["tokens", "", ""]}, tensor<?xi32> {dsv4.dims = ["decodes"]},
    tensor<?x512xbf16> {dsv4.dims = ["decodes", ""], dsv4.strides = #dsv4.strides<[4096]>,
                        dsv4.view = #dsv4.view<of = 0, axes = [0, 2], offsets = ["decodes * 2 + 1", "3", "0"]>})
