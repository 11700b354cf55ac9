// A selection from a tile source that has all that the protocol allows: four
// rows per tile, tiles from the last to the first, columns in another order,
// elements that two threads have and one owns, a limit per row, and a warp that
// only loads. TopkTilesTest.cpp runs it on the host, topk-tiles.test compiles
// it with NVRTC.

#ifndef CALLS
#define CALLS 1
#endif

struct Tiles : dsv4::TopkTilesDefaults {
  static constexpr int k = K, rows = 4, tile_columns = 16, calls = CALLS,
                       warps = 2;
  static constexpr dsv4::TopkOrder order = dsv4::TopkOrder::ORDER;
  static constexpr bool largest = LARGEST, ties_high = TIES_HIGH,
                        nan_first = NAN_FIRST;
};

constexpr int kThreads = 32 * (Tiles::warps + 1);
constexpr int kConsumers = 32 * Tiles::warps;
constexpr int kElements = Tiles::rows * Tiles::tile_columns;

extern "C" __global__ void __launch_bounds__(kThreads, 1)
    select_tiles(const float *__restrict__ scores,
                 const int *__restrict__ limits, int *__restrict__ indices,
                 float *__restrict__ values, int rows, int columns) {
  __shared__ dsv4::TopkTilesShared<Tiles> shared;
  __shared__ float tile[kElements];
  const int thread = threadIdx.x, first = blockIdx.x * Tiles::rows;
  const int tiles = (columns + Tiles::tile_columns - 1) / Tiles::tile_columns;
  dsv4::topk_tiles(
      shared,
      [&](int row) { return first + row < rows ? limits[first + row] : 0; },
      [&](auto consume) {
        for (int t = tiles - 1; t >= 0; --t) {
          if (thread >= kConsumers) {
            for (int e = thread - kConsumers; e < kElements; e += 32) {
              const int row = first + e / Tiles::tile_columns;
              const int column =
                  t * Tiles::tile_columns + e % Tiles::tile_columns;
              tile[e] = row < rows && column < columns
                            ? scores[row * columns + column]
                            : dsv4::as_float(0x7F800000u);
            }
            dsv4::sync_warps(2, kThreads);
            dsv4::sync_warps(3, kThreads);
            continue;
          }
          dsv4::sync_warps(2, kThreads);
          auto element = [&](int item) {
            return (thread + 5 * item) % kElements;
          };
          const float held[2] = {tile[element(0)], tile[element(1)]};
          consume(held, [&](int item) {
            const int e = element(item), column = e % Tiles::tile_columns;
            return dsv4::TilePosition{e / Tiles::tile_columns,
                                      t * Tiles::tile_columns + column,
                                      (item + t + column) % 2 == 0};
          });
          dsv4::sync_warps(3, kThreads);
        }
      },
      dsv4::SourceScore(),
      [&](int row, int rank, int index, float value) {
        if (first + row < rows) {
          indices[(first + row) * K + rank] = index;
          values[(first + row) * K + rank] = value;
        }
      });
}
