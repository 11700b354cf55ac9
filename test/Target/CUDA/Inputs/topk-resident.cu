// A selection from a tile source that has all that the protocol of
// topk_resident.cuh allows: several rows per block or cluster, tiles in another
// order, elements that two threads have and one owns, columns beyond the
// limits and of other blocks, a limit per row, and a warp that only loads.
// TopkResidentTest.cpp runs it on the host, topk-resident.test compiles it with
// NVRTC.

#ifndef ROWS
#define ROWS 4
#endif
#ifndef VECTORS
#define VECTORS 1
#endif
#ifndef CLUSTER
#define CLUSTER 1
#endif
#ifndef BIASED
#define BIASED false
#endif

struct Resident : dsv4::TopkResidentDefaults {
  static constexpr int k = K, rows = ROWS, threads = 128, vector = 4,
                       vectors = VECTORS, cluster = CLUSTER;
  static constexpr dsv4::TopkOrder order = dsv4::TopkOrder::ORDER;
  static constexpr bool largest = LARGEST, ties_high = TIES_HIGH,
                        nan_first = NAN_FIRST;
  static constexpr int shared_bytes = rows * threads * vector * vectors * 4;
};

constexpr int kThreads = Resident::threads, kConsumers = kThreads - 32;
constexpr int kElements = kConsumers;
constexpr int kTileColumns = kElements / Resident::rows;

#if CLUSTER > 1
#define SHARED_BY_CLUSTER __cluster_dims__(CLUSTER, 1, 1)
#else
#define SHARED_BY_CLUSTER
#endif

// `failures` counts parts that cannot be, and elements that are asked for and
// do not exist.
extern "C" __global__ void __launch_bounds__(kThreads, 1) SHARED_BY_CLUSTER
    select_resident(const float *__restrict__ scores,
                    const float *__restrict__ bias,
                    const int *__restrict__ limits, int *__restrict__ indices,
                    float *__restrict__ values, int *__restrict__ failures,
                    int rows, int columns) {
  __shared__ __align__(16) char memory[Resident::shared_bytes];
  __shared__ float tile[kElements];
  const int thread = threadIdx.x;
  const int first = blockIdx.x / CLUSTER * Resident::rows;
  const auto limit = [&](int row) {
    return first + row < rows ? limits[first + row] : 0;
  };
  const auto source = [&](auto consume) {
    const dsv4::TilePart part = consume.part();
    if (part.begin < 0 || part.end < part.begin ||
        part.end > consume.columns() || consume.columns() > columns ||
        (part.begin < part.end && part.begin % dsv4::TilePart::unit != 0))
      atomicAdd(failures, 1);
    const int end = part.end < columns ? part.end : columns;
    // Beyond the part, one tile on each side. The one after it comes when the
    // first one was there, which might make good what it spoils. The last one
    // is of the part, so that the selection has to wait for it.
    const int before = part.begin / kTileColumns - 1;
    const int after = (end + kTileColumns - 1) / kTileColumns;
    const int last = after - before;
    for (int step = 0; step <= last; ++step) {
      const int t = step < 2 ? before + step : after - (step - 2);
      if (t < 0)
        continue;
      if (thread >= kConsumers) {
        for (int e = thread - kConsumers; e < kElements; e += 32) {
          const int row = first + e / kTileColumns;
          const int column = t * kTileColumns + e % kTileColumns;
          // What nobody asks for is better than all the rest.
          tile[e] = row < rows && part.begin <= column && column < end &&
                            column < consume.columns()
                        ? scores[row * columns + column]
                        : dsv4::as_float(LARGEST ? 0x7F800000u : 0xFF800000u);
        }
        dsv4::sync_warps(2, kThreads);
        if (step < last)
          dsv4::sync_warps(3, kThreads);
        continue;
      }
      dsv4::sync_warps(2, kThreads);
      auto element = [&](int item) { return (thread + 5 * item) % kElements; };
      const auto at = [&](int item) {
        const int e = element(item), column = e % kTileColumns;
        return dsv4::TilePosition{e / kTileColumns, t * kTileColumns + column,
                                  (item + t + column) % 2 == 0};
      };
      // Who does not own an element has another value.
      float held[2];
      for (int i = 0; i < 2; ++i)
        held[i] = at(i).owned ? tile[element(i)] : 1e9f;
      consume(held, at);
      // Nobody waits for the last elements to be there.
      if (step < last)
        dsv4::sync_warps(3, kThreads);
    }
  };
  const auto biased = [&](int row, int column, dsv4::Vec<float, 1> value) {
    if (first + row >= rows || column < 0 || column >= limits[first + row])
      atomicAdd(failures, 1);
    else
      value[0] += bias[column];
    return value;
  };
  const auto emit = [&](int row, int rank, int index, float value) {
    if (first + row < rows) {
      indices[(first + row) * K + rank] = index;
      values[(first + row) * K + rank] = value;
    }
  };
  if constexpr (BIASED)
    dsv4::topk_resident<Resident>(memory, limit, source, biased, emit);
  else
    dsv4::topk_resident<Resident>(memory, limit, source, dsv4::SourceScore(),
                                  emit);
}
