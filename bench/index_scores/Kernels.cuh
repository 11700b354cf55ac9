//===- Kernels.cuh - Kernels of scores --------------------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Three kernels around index_score.cuh, with operands as engines have them: one
// stores all scores, the others select from them as a tile source, with lists
// of candidates and with scores in shared memory.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "../device_library/Device.cuh"

#include "Configs.cuh"
#include "select/topk_resident.cuh"

namespace index_scores {

using device_bench::checkCuda;
using device_bench::countMultiprocessors;
using device_bench::DeviceArray;
using device_bench::timeGraph;

/// Addresses in memory of the GPU.
struct Operands {
  const unsigned char *pool;
  long long pageStride; // In bytes.
  const int *table;     // [groups, tableWidth]; negative: no page.
  int tableWidth;
  const unsigned char *queries; // [rows, heads, bytes of a head]
  const unsigned *queryScales;  // [rows, heads], of MXFP4 queries only.
  const float *weights;         // [rows, heads]
  const int *limits;            // [rows]
  float *scores;                // [rows, scoresStride]
  int scoresStride;
  int groups, columns;
  int *chosen;         // [rows, kSelected]
  float *chosenValues; // [rows, kSelected]
};

constexpr int kSelected = 512;

/// The regions that index_score.cuh calls.
template <typename Config>
struct Regions {
  using Shape = dsv4::IndexShape<Config>;
  const Operands &of;

  __device__ __forceinline__ auto page() const {
    return [of = &of](int group, int index) {
      int number = -1;
      if (index < of->tableWidth)
        number = dsv4::load<int>(
            &of->table[(long long)group * of->tableWidth + index]);
      if (number < 0)
        return dsv4::IndexPage{nullptr, nullptr};
      const unsigned char *payload = of->pool + number * of->pageStride;
      constexpr int payloads = Config::interleaved ? 1 : Config::page_size;
      return dsv4::IndexPage{payload, payload + payloads * Shape::payload};
    };
  }
  __device__ __forceinline__ auto query() const {
    return [of = &of](int row, int head) {
      const long long at = (long long)row * Config::heads + head;
      unsigned scales = 0;
      if constexpr (Shape::query_fp4)
        scales = dsv4::load<unsigned>(&of->queryScales[at]);
      return dsv4::IndexHead{of->queries + at * Shape::head_payload, scales};
    };
  }
  __device__ __forceinline__ auto weight() const {
    return [of = &of](int row, int head) {
      return dsv4::load<float>(
          &of->weights[(long long)row * Config::heads + head]);
    };
  }
  __device__ __forceinline__ auto limit() const {
    return [of = &of](int row) {
      return row < of->groups * Config::queries
                 ? min(dsv4::load<int>(&of->limits[row]), of->columns)
                 : 0;
    };
  }
  /// Of selections from the rows of a group.
  __device__ __forceinline__ auto groupLimit(int group) const {
    return [limit = limit(), group](int row) {
      return max(limit(group * Config::queries + row), 0);
    };
  }
  __device__ __forceinline__ auto source(int group, char *memory) const {
    return [*this, group, memory](auto consume) {
      dsv4::index_score_group<Config>(consume, memory, group, page(), query(),
                                      weight(), limit());
    };
  }
  __device__ __forceinline__ auto emit(int group) const {
    return [of = &of, group](int row, int rank, int index, float value) {
      const long long at =
          (long long)(group * Config::queries + row) * kSelected + rank;
      of->chosen[at] = index;
      of->chosenValues[at] = value;
    };
  }
};

template <typename Config>
__global__ void __launch_bounds__(dsv4::IndexShape<Config>::threads, 1)
    storeScores(const __grid_constant__ Operands of) {
  const Regions<Config> regions{of};
  const auto put = [&](int row, int column, float value) {
    of.scores[(long long)row * of.scoresStride + column] = value;
  };
  // Only the warps that compute: those that load are ahead of them then.
  constexpr int threads = 128 * Config::warpgroups;
  if (Config::filled && (int)threadIdx.x < threads)
    dsv4::for_scores_beyond<threads / 32>(
        of.groups * Config::queries, of.columns, regions.limit(),
        [&](int row, int column) { put(row, column, -INFINITY); });
  dsv4::index_score_all<Config>(
      dsv4::TileStore<decltype(put)>{put}, dsv4::dynamic_shared(), of.groups,
      regions.page(), regions.query(), regions.weight(), regions.limit());
}

template <typename Config>
struct Selection : dsv4::TopkTilesDefaults {
  static constexpr int k = kSelected, rows = Config::queries;
  static constexpr int warps = 4 * Config::warpgroups;
  static constexpr int tile_columns =
      dsv4::IndexShape<Config>::step * Config::warpgroups;
  static constexpr int calls = rows > 2 ? 4 : 12;
  static constexpr dsv4::TopkOrder order = dsv4::TopkOrder::index_ascending;
  static constexpr int shared_bytes = sizeof(dsv4::TopkTilesShared<Selection>);
  // The source's shared memory follows, aligned to 16 bytes.
  static constexpr int source_at = (shared_bytes + 15) / 16 * 16;
};

/// A block for each group.
template <typename Config>
__global__ void __launch_bounds__(dsv4::IndexShape<Config>::threads, 1)
    selectColumns(const __grid_constant__ Operands of) {
  const Regions<Config> regions{of};
  using Select = Selection<Config>;
  const int group = blockIdx.x;
  dsv4::topk_tiles<Select>(
      dsv4::shared_from(0), regions.groupLimit(group),
      regions.source(group, dsv4::shared_from(Select::source_at)),
      dsv4::SourceScore(), regions.emit(group));
}

template <typename Config>
struct Resident : dsv4::TopkResidentDefaults {
  static constexpr int k = kSelected, rows = Config::queries;
  static constexpr int threads = dsv4::IndexShape<Config>::threads;
  // GPUs without clusters have less shared memory, too.
  static constexpr int vector = 4, vectors = INDEX_SCORES_FALLBACK ? 1
                                             : rows > 1            ? 4
                                                                   : 8;
  static constexpr int cluster = INDEX_SCORES_FALLBACK ? 1 : 2;
  static constexpr dsv4::TopkOrder order = dsv4::TopkOrder::index_ascending;
  static constexpr int shared_bytes = 4 * rows * threads * vector * vectors;
  static constexpr int max_columns = cluster * threads * vector * vectors;
};

/// A cluster for each group.
template <typename Config>
__global__ void __launch_bounds__(dsv4::IndexShape<Config>::threads, 1)
    selectResident(const __grid_constant__ Operands of) {
  const Regions<Config> regions{of};
  using Select = Resident<Config>;
  const int group = blockIdx.x / Select::cluster;
  dsv4::topk_resident<Select>(
      dsv4::shared_from(0), regions.groupLimit(group),
      regions.source(group, dsv4::shared_from(Select::shared_bytes)),
      dsv4::SourceScore(), regions.emit(group));
}

template <typename Config>
void launchScores(const Operands &of, int blocks, cudaStream_t stream = 0) {
  using Shape = dsv4::IndexShape<Config>;
  static const cudaError_t attribute = cudaFuncSetAttribute(
      storeScores<Config>, cudaFuncAttributeMaxDynamicSharedMemorySize,
      Shape::shared_bytes);
  checkCuda(attribute, "shared memory of storeScores");
  storeScores<Config>
      <<<blocks, Shape::threads, Shape::shared_bytes, stream>>>(of);
  checkCuda(cudaGetLastError(), "launch of storeScores");
}

template <typename Config>
void launchSelection(const Operands &of, cudaStream_t stream = 0) {
  using Shape = dsv4::IndexShape<Config>;
  constexpr int bytes = Selection<Config>::source_at + Shape::shared_bytes;
  static const cudaError_t attribute =
      cudaFuncSetAttribute(selectColumns<Config>,
                           cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  checkCuda(attribute, "shared memory of selectColumns");
  selectColumns<Config><<<of.groups, Shape::threads, bytes, stream>>>(of);
  checkCuda(cudaGetLastError(), "launch of selectColumns");
}

template <typename Config>
void launchResident(const Operands &of, cudaStream_t stream = 0) {
  using Shape = dsv4::IndexShape<Config>;
  using Select = Resident<Config>;
  constexpr int bytes = Select::shared_bytes + Shape::shared_bytes;
  checkCuda(of.columns <= Select::max_columns ? cudaSuccess
                                              : cudaErrorInvalidValue,
            "columns of selectResident");
  static const cudaError_t attribute =
      cudaFuncSetAttribute(selectResident<Config>,
                           cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  checkCuda(attribute, "shared memory of selectResident");
  cudaLaunchAttribute cluster = {};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim = {Select::cluster, 1, 1};
  cudaLaunchConfig_t config = {};
  config.gridDim = of.groups * Select::cluster;
  config.blockDim = Shape::threads;
  config.dynamicSmemBytes = bytes;
  config.stream = stream;
  config.attrs = &cluster;
  config.numAttrs = Select::cluster > 1;
  checkCuda(cudaLaunchKernelEx(&config, selectResident<Config>, of),
            "launch of selectResident");
}

} // namespace index_scores
