// Kernels of one module have different names, whatever functions are called:
// their source may be one file.

// RUN: dsv4-opt %s --dsv4-lower-to-cuda-pipeline | FileCheck %s
// RUN: dsv4-opt %s --dsv4-lower-to-cuda-pipeline --mlir-print-debuginfo \
// RUN:   | dsv4-translate --mlir-to-cuda | FileCheck %s --check-prefix=TEXT

// CHECK: gpu.module @[[MODULE:f_module_[0-9]+]]
// CHECK: gpu.func @f(
// CHECK: dsv4.launch @[[MODULE]]::@f
// CHECK: gpu.func @f_module(
// CHECK: gpu.func @f_x(
// CHECK: dsv4.launch @{{.*}}::@f_x
// CHECK: gpu.func @f_x_1(
// CHECK: dsv4.launch @{{.*}}::@f_x_1
// CHECK: gpu.func @f_x_2(
// CHECK: dsv4.launch @{{.*}}::@f_x_2

// TEXT: {{^}}f(
// TEXT: {{^}}f_module(
// TEXT: {{^}}f_x(
// TEXT: {{^}}f_x_1(
// TEXT: {{^}}f_x_2(

!t = tensor<4x64xf32>
func.func @f(%x: !t, %o: !t) -> !t {
  %0 = dsv4.rms_norm %x outs(%o : !t) {eps = 1.0e-06 : f32} : !t
  return %0 : !t
}
func.func @f_module(%x: !t, %o: !t) -> !t {
  %0 = dsv4.rms_norm %x outs(%o : !t) {eps = 1.0e-06 : f32} : !t
  return %0 : !t
}
func.func @"f x"(%x: !t, %o: !t) -> !t {
  %0 = dsv4.rms_norm %x outs(%o : !t) {eps = 1.0e-06 : f32} : !t
  return %0 : !t
}
func.func @f_x(%x: !t, %o: !t) -> !t {
  %0 = dsv4.rms_norm %x outs(%o : !t) {eps = 1.0e-06 : f32} : !t
  return %0 : !t
}
func.func @g(%x: !t, %o: !t) -> !t {
  %0 = dsv4.kernel @f_x(%x, %o) : (!t, !t) -> !t {
  ^bb0(%a: !t, %b: !t):
    %1 = dsv4.rms_norm %a outs(%b : !t) {eps = 1.0e-06 : f32} : !t
    dsv4.yield %1 : !t
  }
  return %0 : !t
}
