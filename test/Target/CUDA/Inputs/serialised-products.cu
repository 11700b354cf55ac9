// Two products in flight with more accumulators than a thread has registers:
// ptxas makes each wait for the one before.
extern "C" __global__ void __launch_bounds__(1024)
    products(const unsigned *from, float *to) {
  __shared__ __align__(1024) unsigned char b[8192];
  const unsigned long long rows =
      dsv4::swizzled_rows(dsv4::shared_address(b));
  float d[2][32] = {};
  unsigned a[2][4];
  for (int i = 0; i < 8; ++i)
    a[i / 4][i % 4] = from[i];
  dsv4::begin_products();
  for (int i = 0; i < 2; ++i) {
    dsv4::wgmma<dsv4::FloatType::e4m3, dsv4::FloatType::e4m3>(d[i], a[i], rows,
                                                              1);
    dsv4::commit_products();
  }
  dsv4::wait_for_products<0>();
  for (int i = 0; i < 64; ++i)
    to[threadIdx.x * 64 + i] = d[i / 32][i % 32];
}
