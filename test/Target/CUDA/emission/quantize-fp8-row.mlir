// One f32 scale per row, into three arrays; nothing is written for an entry that is
// not in the pool.

// RUN: dsv4-opt %s --dsv4-lower-to-cuda-pipeline="schedule=#dsv4.schedule<threads=128,parts=[#dsv4.rows<lanes=16,vector=4>]>" -mlir-print-debuginfo \
// RUN:   | dsv4-translate --mlir-to-cuda | FileCheck %s --strict-whitespace --match-full-lines
// NVRTC: sm_80 sm_90a sm_100a sm_120a

!cache = !dsv4.cache<64 x #dsv4.record<seed_580>>
#fp8 = #dsv4.format<f8E4M3FN, [<f32 per row>]>
#recipe = #dsv4.quantizer<floor = 1.0e-12 : f32, floor_of = scale>
func.func @append(
    %kv: tensor<?x512xbf16> {dsv4.name = "kv", dsv4.dims = ["tokens", ""]},
    %slot: tensor<?xi32> {dsv4.name = "slot", dsv4.dims = ["tokens"]},
    %c: !cache {dsv4.name = "c"}) {
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %kv, %c0 : tensor<?x512xbf16>
  %a = tensor.empty(%tokens) : tensor<?x448xf8E4M3FN>
  %b = tensor.empty(%tokens) : tensor<?xf32>
  %payload, %scales = dsv4.quantize %kv columns [0, 448]
      outs(%a, %b : tensor<?x448xf8E4M3FN>, tensor<?xf32>)
      {format = #fp8, recipe = #recipe} : tensor<?x512xbf16>
  dsv4.paged_append %c[%slot] unique fields(%payload, %kv, %scales
             : tensor<?x448xf8E4M3FN>, tensor<?x512xbf16>, tensor<?xf32>)
      columns [0, 448, 0] : !cache, tensor<?xi32>
  return
}

// The whole text.
//     CHECK:// dsv4.quantize of bf16 to f8E4M3FN, dsv4.paged_append of 64 x seed_580
//CHECK-NEXT:// tokens = ?
//CHECK-NEXT:// sm_90a: 128 threads, 16 lanes per row, vectors of 4 elements
//CHECK-NEXT:extern "C" __global__ void __launch_bounds__(128)
//CHECK-NEXT:append(const dsv4::bf16 *__restrict__ kv,
//CHECK-NEXT:       const int *__restrict__ slot,
//CHECK-NEXT:       unsigned char *__restrict__ c_nope,
//CHECK-NEXT:       unsigned char *__restrict__ c_rope,
//CHECK-NEXT:       unsigned char *__restrict__ c_inv_scale,
//CHECK-NEXT:       int rows,
//CHECK-NEXT:       int c_pages) {
//CHECK-NEXT:  constexpr int kCNopeBytes = 448;
//CHECK-NEXT:  constexpr int kCRopeBytes = 128;
//CHECK-NEXT:  constexpr int kCInvScaleBytes = 4;
//CHECK-NEXT:  const int lane = threadIdx.x % 16;
//CHECK-NEXT:  const int row = blockIdx.x * 8 + threadIdx.x / 16;
//CHECK-NEXT:  if (row < rows) {
//CHECK-NEXT:    const long long offset = (long long)row * 512;
//CHECK-NEXT:    const auto x = dsv4::load<dsv4::Tile<dsv4::bf16, 7, 4>>(&kv[offset + lane * 4], 128);
//CHECK-NEXT:    const auto rope = dsv4::load<dsv4::Tile<dsv4::bf16, 1, 4>>(&kv[offset + 448 + lane * 4]);
//CHECK-NEXT:    const int entry = slot[row];
//CHECK-NEXT:    const int page = entry / 64;
//CHECK-NEXT:    const bool valid = dsv4::in_pool(entry >= 0, page, c_pages);
//CHECK-NEXT:    const auto amax = dsv4::max_abs<16, 448>(x);
//CHECK-NEXT:    const auto value = dsv4::max(amax / 448.0f, 1e-12f);
//CHECK-NEXT:    const auto payload = dsv4::quantize<dsv4::e4m3>(x, value);
//CHECK-NEXT:    if (valid) {
//CHECK-NEXT:      dsv4::store(&c_nope[(long long)entry * kCNopeBytes + lane * 4], payload, 64);
//CHECK-NEXT:      dsv4::store(&c_rope[(long long)entry * kCRopeBytes + lane * 8], rope);
//CHECK-NEXT:      if (lane == 0) {
//CHECK-NEXT:        dsv4::store(&c_inv_scale[(long long)entry * kCInvScaleBytes], value);
//CHECK-NEXT:      }
//CHECK-NEXT:    }
//CHECK-NEXT:  }
//CHECK-NEXT:}
