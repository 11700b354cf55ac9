// Scores of paged index keys, stored, and a selection from them as a tile
// source. IndexScoreTest.cpp runs both on the host, index-score.test compiles
// them with NVRTC, index-score-ptxas.test with nvcc.

#ifndef KEYS
#define KEYS mxfp4
#endif
#ifndef QUERY
#define QUERY e4m3
#endif
#ifndef EXACT
#define EXACT false
#endif
#ifndef HEADS
#define HEADS 64
#endif
#ifndef QUERIES
#define QUERIES 1
#endif
#ifndef PAGE_SIZE
#define PAGE_SIZE 64
#endif
#ifndef ALIGN
#define ALIGN 16
#endif
#ifndef INTERLEAVED
#define INTERLEAVED false
#endif
#ifndef WARPGROUPS
#define WARPGROUPS 4
#endif
#ifndef TILES
#define TILES 1
#endif
#ifndef STAGES
#define STAGES 12
#endif
#ifndef OUTPUT
#define OUTPUT float
#endif
#ifndef K
#define K 20
#endif

struct Scores : dsv4::IndexScoreDefaults {
  static constexpr dsv4::IndexFormat keys = dsv4::IndexFormat::KEYS;
  static constexpr dsv4::IndexFormat query = dsv4::IndexFormat::QUERY;
  static constexpr bool exact = EXACT;
  static constexpr int heads = HEADS, queries = QUERIES, page_size = PAGE_SIZE,
                       align = ALIGN, warpgroups = WARPGROUPS, tiles = TILES,
                       stages = STAGES, slots = QUERIES > 4 ? 1 : 2;
  static constexpr int payload = keys == dsv4::IndexFormat::e4m3 ? 128 : 64,
                       scales = keys == dsv4::IndexFormat::nvfp4 ? 8 : 4;
  static constexpr int payload_stride = INTERLEAVED ? payload + scales : 0,
                       scale_stride = INTERLEAVED ? payload + scales : 0;
};
using Shape = dsv4::IndexShape<Scores>;

struct Select : dsv4::TopkTilesDefaults {
  static constexpr int k = K, rows = QUERIES, warps = 4 * WARPGROUPS,
                       tile_columns = WARPGROUPS * Shape::step;
  static constexpr dsv4::TopkOrder order = dsv4::TopkOrder::index_ascending;
  static constexpr int shared_bytes = sizeof(dsv4::TopkTilesShared<Select>);
};
constexpr int kSourceAt = (Select::shared_bytes + 15) / 16 * 16;
constexpr int kThreads = dsv4::index_score_threads<Scores>();

#define OPERANDS                                                               \
  const unsigned char *__restrict__ pool, long long page_stride,               \
      const int *__restrict__ table, int pages,                                \
      const unsigned char *__restrict__ queries,                               \
      const unsigned *__restrict__ query_scales,                               \
      const float *__restrict__ weights, const int *__restrict__ limits,       \
      int groups

#define REGIONS                                                                \
  const auto page = [&](int group, int index) {                                \
    const int number = dsv4::load_if<int>(                                     \
        index < pages, &table[(long long)group * pages + index]);              \
    if (index >= pages || number < 0)                                          \
      return dsv4::IndexPage{nullptr, nullptr};                                \
    const unsigned char *at = pool + number * page_stride;                     \
    return dsv4::IndexPage{at, at + (INTERLEAVED ? 1 : PAGE_SIZE) *            \
                                        Scores::payload};                      \
  };                                                                           \
  const auto query = [&](int row, int head) {                                  \
    const long long at = (long long)row * HEADS + head;                        \
    return dsv4::IndexHead{                                                    \
        queries + at * Shape::head_payload,                                    \
        dsv4::load_if<unsigned>(Shape::query_fp4, &query_scales[at])};         \
  };                                                                           \
  const auto weight = [&](int row, int head) {                                 \
    return dsv4::load<float>(&weights[(long long)row * HEADS + head]);         \
  };                                                                           \
  const auto limit = [&](int row) {                                            \
    const int given =                                                          \
        dsv4::load_if<int>(row < groups * QUERIES, &limits[row]);              \
    return given > 0 ? given : 0;                                              \
  };

__device__ void put_score(float &to, float score) { to = score; }
__device__ void put_score(dsv4::bf16 &to, float score) {
  to = dsv4::convert<dsv4::bf16>(score);
}

extern "C" __global__ void __launch_bounds__(kThreads, 1)
    store_scores(OPERANDS, OUTPUT *__restrict__ scores, int stride,
                 int columns) {
  REGIONS
  const auto put = [&](int row, int column, float value) {
    put_score(scores[(long long)row * stride + column], value);
  };
  dsv4::for_scores_beyond<kThreads / 32>(
      groups * QUERIES, columns, limit, [&](int row, int column) {
        put(row, column, dsv4::as_float(0xFF800000u));
      });
  dsv4::index_score_all<Scores>(dsv4::TileStore<decltype(put)>{put},
                                dsv4::shared_from(0), groups, page, query,
                                weight, limit);
}

extern "C" __global__ void __launch_bounds__(kThreads, 1)
    select_scores(OPERANDS, int *__restrict__ indices,
                  float *__restrict__ values) {
  REGIONS
  const int group = blockIdx.x, first_row = group * QUERIES;
  dsv4::topk_tiles<Select>(
      dsv4::shared_from(0), [&](int row) { return limit(first_row + row); },
      [&](auto consume) {
        dsv4::index_score_group<Scores>(consume, dsv4::shared_from(kSourceAt),
                                        group, page, query, weight, limit);
      },
      dsv4::SourceScore(),
      [&](int row, int rank, int index, float value) {
        indices[(long long)(first_row + row) * K + rank] = index;
        values[(long long)(first_row + row) * K + rank] = value;
      });
}
