// Elements are decoded where they are selected from.

// RUN: dsv4-opt %s --dsv4-lower-to-cuda-pipeline -mlir-print-debuginfo \
// RUN:   | dsv4-translate --mlir-to-cuda | FileCheck %s --strict-whitespace --match-full-lines
// NVRTC: sm_80 sm_90a sm_100a sm_120a

#mxfp4 = #dsv4.format<f4E2M1FN, [<f8E8M0FNU per 32>]>

func.func @dequantize_topk(
    %data: tensor<?x4096xf4E2M1FN> {dsv4.name = "data", dsv4.dims = ["rows", ""]},
    %scales: tensor<?x128xf8E8M0FNU> {dsv4.name = "scales", dsv4.dims = ["rows", ""]},
    %indices: tensor<?x64xi32> {dsv4.name = "indices", dsv4.dims = ["rows", ""]},
    %values: tensor<?x64xf32> {dsv4.name = "values", dsv4.dims = ["rows", ""]})
    -> (tensor<?x64xi32>, tensor<?x64xf32>) {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %data, %c0 : tensor<?x4096xf4E2M1FN>
  %decoded = tensor.empty(%rows) : tensor<?x4096xf32>
  %x = dsv4.dequantize %data scales(%scales : tensor<?x128xf8E8M0FNU>)
      outs(%decoded : tensor<?x4096xf32>) {format = #mxfp4} : tensor<?x4096xf4E2M1FN>
  %chosen, %best = dsv4.topk %x order sorted
      outs(%indices, %values : tensor<?x64xi32>, tensor<?x64xf32>) : tensor<?x4096xf32>
  return %chosen, %best : tensor<?x64xi32>, tensor<?x64xf32>
}

// The whole text.
//     CHECK:// dsv4.dequantize of f4E2M1FN to f32, dsv4.topk of f32 to i32
//CHECK-NEXT:// rows = ?, data.1 = 4096
//CHECK-NEXT:// sm_90a: 1024 threads, vectors of 4 elements, one block per row, held in registers, programmatic launch
//CHECK-NEXT:struct DequantizeTopkConfig : dsv4::TopkDefaults {
//CHECK-NEXT:  static constexpr int k = 64, threads = 1024, vector = 4, vectors = 1;
//CHECK-NEXT:  static constexpr auto order = dsv4::TopkOrder::sorted;
//CHECK-NEXT:};
//CHECK-EMPTY:
//CHECK-NEXT:extern "C" __global__ void __launch_bounds__(1024)
//CHECK-NEXT:dequantize_topk(const unsigned char *__restrict__ data,
//CHECK-NEXT:                const dsv4::ue8m0 *__restrict__ scales,
//CHECK-NEXT:                int *__restrict__ indices,
//CHECK-NEXT:                float *__restrict__ values,
//CHECK-NEXT:                int rows) {
//CHECK-NEXT:  dsv4::wait_for_previous_kernel();
//CHECK-NEXT:  dsv4::launch_dependents();
//CHECK-NEXT:  dsv4::topk_block<DequantizeTopkConfig>(
//CHECK-NEXT:    4096,
//CHECK-NEXT:    [&](int column) {
//CHECK-NEXT:      const int quotient = column / 2u;
//CHECK-NEXT:      const auto elements = dsv4::load<dsv4::Tile<dsv4::e2m1, 1, 4>>(&data[(long long)blockIdx.x * 2048 + quotient]);
//CHECK-NEXT:      const int quotient_1 = column / 32u;
//CHECK-NEXT:      const auto group_scale = dsv4::load<dsv4::Vec<dsv4::ue8m0, 1>>(&scales[(long long)blockIdx.x * 128 + quotient_1]);
//CHECK-NEXT:      return dsv4::dequantize<float>(elements, group_scale);
//CHECK-NEXT:    },
//CHECK-NEXT:    [&](int rank, int index, float value) {
//CHECK-NEXT:      const long long row_start = (long long)blockIdx.x * 64;
//CHECK-NEXT:      const long long at = row_start + rank;
//CHECK-NEXT:      indices[at] = index;
//CHECK-NEXT:      values[at] = value;
//CHECK-NEXT:    });
//CHECK-NEXT:}
