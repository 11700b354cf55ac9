//===- Kernels.cuh - Kernels of dense routers -------------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels around router_logits.cuh: logits that are stored, by either of its
// functions, and the whole router, in one kernel or in two.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "../device_library/Device.cuh"
#include "mma/router_logits.cuh"
#include "rows/gate.cuh"
#include "select/topk_warp.cuh"

#include <cstdint>
#include <string>

namespace dense_router {

using device_bench::checkCuda;
using device_bench::countMultiprocessors;
using device_bench::DeviceArray;
using device_bench::timeGraph;

enum class Gate { sqrtSoftplus, sigmoid, softmax };

//===----------------------------------------------------------------------===//
// Configs
//===----------------------------------------------------------------------===//

/// A router: the numbers that its operands have, and what it does with logits.
template <int Experts, int Depth, int K = 8, Gate Function = Gate::sigmoid,
          typename WeightType = dsv4::bf16>
struct Router : dsv4::RouterDefaults {
  using Weight = WeightType;
  static constexpr int experts = Experts, depth = Depth, k = K;
  static constexpr Gate gate = Function;
};
/// Rows, experts and slices of a block, and blocks of a cluster.
template <typename Below, int Rows, int BlockExperts, int BlockSlices,
          int Cluster = 1, bool Multicast = false>
struct Scheduled : Below {
  static constexpr int rows = Rows, block_experts = BlockExperts,
                       block_slices = BlockSlices, cluster = Cluster;
  static constexpr bool multicast = Multicast;
};
/// Weights are read after the wait for the previous kernel, as in kernels that
/// the compiler emits. Blocks try to read partial sums up to `Tries` times.
template <typename Below, int Tries>
struct Waiting : Below {
  static constexpr bool weights_first = false;
  static constexpr int tries = Tries;
};
template <typename Below, int Align>
struct Aligned : Below {
  static constexpr int hidden_align = Align, weight_align = Align;
};
/// Elements and number of steps of tiles.
template <typename Below, int Step, int Stages>
struct Staged : Below {
  static constexpr int step = Step, stages = Stages;
};

template <typename Config>
std::string describe() {
  std::string text =
      std::to_string(Config::experts) + "x" + std::to_string(Config::depth);
  if (sizeof(typename Config::Weight) == 4)
    text += " f32";
  if (Config::hidden_align != 16)
    text += ", aligned to " + std::to_string(Config::hidden_align);
  return text;
}
template <typename Config>
std::string describeSchedule() {
  std::string text = std::to_string(Config::rows) + " rows, " +
                     std::to_string(Config::block_experts) + " experts x " +
                     std::to_string(Config::block_slices);
  if (Config::cluster > 1)
    text += ", clusters of " + std::to_string(Config::cluster);
  if (Config::multicast)
    text += ", multicast";
  if (!Config::weights_first)
    text += ", weights last, " + std::to_string(Config::tries) + " tries";
  return text;
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// Addresses in memory of the GPU.
template <typename Config>
struct Operands {
  dsv4::RouterOperands<Config> of;
  unsigned *workspace; // Zeros.
  float *partials;
  float *logits;     // [rows, experts]
  const float *bias; // [experts]
  int *experts;      // [rows, k]
  float *weights;    // [rows, k]
};

//===----------------------------------------------------------------------===//
// Device code
//===----------------------------------------------------------------------===//

template <typename Config>
struct Selection : dsv4::TopkWarpDefaults {
  static constexpr int k = Config::k, vector = Config::vector,
                       vectors = dsv4::RouterRowsShape<Config>::vectors;
  static constexpr bool needs_values = false, computed = true;
  static constexpr dsv4::TopkOrder order = dsv4::TopkOrder::sorted;
};

template <typename Config>
using Row =
    dsv4::Tile<float, dsv4::RouterRowsShape<Config>::vectors, Config::vector>;

/// A row that a warp holds, zeros beyond the last expert.
template <typename Config>
__device__ __forceinline__ Row<Config> loadRow(const float *from) {
  Row<Config> to;
#pragma unroll
  for (int i = 0; i < Row<Config>::steps * Config::vector; ++i) {
    const int column =
        (i / Config::vector * 32 + (int)threadIdx.x % 32) * Config::vector +
        i % Config::vector;
    to.words[i] = dsv4::load_if<float>(column < Config::experts, from + column);
  }
  return to;
}

template <typename Config, int S, int V>
__device__ __forceinline__ dsv4::Tile<float, S, V>
scoresOf(const dsv4::Tile<float, S, V> &logits, float largest, float sum) {
  if constexpr (Config::gate == Gate::sigmoid)
    return dsv4::sigmoid(logits);
  else if constexpr (Config::gate == Gate::sqrtSoftplus)
    return dsv4::sqrt_softplus(logits);
  else
    return dsv4::exp(logits + -largest) / sum;
}

/// What the compiler emits for a gate, a selection and its weights, but for the
/// logits, which are in registers.
template <typename Config>
__device__ __forceinline__ void route(const Operands<Config> &of, int row,
                                      const Row<Config> &logits,
                                      const Row<Config> &bias) {
  constexpr int experts = Config::experts, k = Config::k;
  constexpr int lanes = 1 << dsv4::ceil_log2(k);
  float largest = 0, sum = 0;
  if constexpr (Config::gate == Gate::softmax) {
    static_assert(experts % (32 * Config::vector) == 0, "whole vectors");
    largest = dsv4::max_nan<32, experts>(logits).words[0];
    sum = dsv4::sum<32, experts>(dsv4::exp(logits + -largest)).words[0];
  }
  const Row<Config> scores = scoresOf<Config>(logits, largest, sum);
  dsv4::topk_warp<Selection<Config>>(
      experts,
      [&](int column) {
        return dsv4::columns<32>(scores, column) +
               dsv4::columns<32>(bias, column);
      },
      [&](int rank, int index, float) {
        const auto picked = dsv4::where_valid(dsv4::pick(scores, max(index, 0)),
                                              index, experts);
        const auto all = dsv4::sum<lanes, lanes>(picked);
        if (rank < k) {
          const long long at = (long long)row * k + rank;
          dsv4::store(&of.weights[at],
                      picked / dsv4::max_nan(all, 1.1754944e-38f) * 1.5f);
          of.experts[at] = index;
        }
      });
}

/// Blocks that a multiprocessor has registers for. While one router ends,
/// blocks of the next one load their weights.
template <typename Config>
constexpr int kBlocksAtOnce =
    sizeof(typename Config::Weight) == 2 &&
            dsv4::RouterRowsShape<Config>::threads <= 256
        ? 2
        : 1;

template <typename Config>
__global__ void __launch_bounds__(dsv4::RouterRowsShape<Config>::threads,
                                  kBlocksAtOnce<Config>)
    storeRows(const __grid_constant__ Operands<Config> of) {
  dsv4::router_rows(
      [&](int row, const Row<Config> &logits) {
#pragma unroll
        for (int i = 0; i < Row<Config>::steps * Config::vector; ++i) {
          const int column = (i / Config::vector * 32 + (int)threadIdx.x % 32) *
                                 Config::vector +
                             i % Config::vector;
          if (column < Config::experts)
            of.logits[(long long)row * Config::experts + column] =
                logits.words[i];
        }
      },
      dsv4::dynamic_shared(), of.of, of.workspace,
      [] {
        dsv4::wait_for_previous_kernel();
        dsv4::launch_dependents();
      });
}

template <typename Config>
__global__ void __launch_bounds__(dsv4::RouterRowsShape<Config>::threads,
                                  kBlocksAtOnce<Config>)
    routeRows(const __grid_constant__ Operands<Config> of) {
  const Row<Config> bias = loadRow<Config>(of.bias);
  dsv4::router_rows(
      [&](int row, const Row<Config> &logits) {
        route<Config>(of, row, logits, bias);
      },
      dsv4::dynamic_shared(), of.of, of.workspace,
      [] {
        dsv4::wait_for_previous_kernel();
        dsv4::launch_dependents();
      });
}

template <typename Config>
__global__ void __launch_bounds__(dsv4::RouterRowsShape<Config>::threads,
                                  kBlocksAtOnce<Config>)
    storeParts(const __grid_constant__ Operands<Config> of) {
  dsv4::router_parts(dsv4::dynamic_shared(), of.of, of.partials, [] {
    dsv4::wait_for_previous_kernel();
    dsv4::launch_dependents();
  });
}
constexpr int kJoinThreads = 32;

template <typename Config>
__global__ void __launch_bounds__(kJoinThreads, 1)
    routeParts(const __grid_constant__ Operands<Config> of) {
  const Row<Config> bias = loadRow<Config>(of.bias);
  // The next router may load its weights.
  dsv4::launch_dependents();
  dsv4::wait_for_previous_kernel();
  dsv4::router_join(
      [&](int row, const Row<Config> &logits) {
        route<Config>(of, row, logits, bias);
      },
      of.of, of.partials);
}

template <typename Config>
__global__ void __launch_bounds__(dsv4::RouterTilesShape<Config>::threads, 1)
    storeTiles(const __grid_constant__ Operands<Config> of) {
  dsv4::wait_for_previous_kernel();
  dsv4::router_tiles(
      [&](const auto &values, auto map) {
#pragma unroll
        for (int i = 0; i < dsv4::RouterTilesShape<Config>::items; ++i) {
          const dsv4::TilePosition at = map(i);
          if (at.owned)
            of.logits[(long long)at.row * Config::experts + at.column] =
                values[i];
        }
      },
      dsv4::dynamic_shared(), of.of);
  dsv4::launch_dependents();
}

constexpr int kRouteThreads = 128;

/// A warp for each row of stored logits.
template <typename Config>
__global__ void __launch_bounds__(kRouteThreads)
    routeLogits(const __grid_constant__ Operands<Config> of) {
  const Row<Config> bias = loadRow<Config>(of.bias);
  dsv4::wait_for_previous_kernel();
  const int row = blockIdx.x * (kRouteThreads / 32) + threadIdx.x / 32;
  if (row < of.of.rows)
    route<Config>(of, row,
                  loadRow<Config>(of.logits + (long long)row * Config::experts),
                  bias);
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

struct LaunchOptions {
  /// Programmatic launch: the kernel may start before the previous one ends.
  bool early = false;
  cudaStream_t stream = 0;
};

template <typename... Parameters, typename... Arguments>
void launchKernel(void (*kernel)(Parameters...), int blocks, int threads,
                  int sharedBytes, int cluster, LaunchOptions options,
                  const Arguments &...arguments) {
  if (blocks == 0)
    return;
  cudaLaunchAttribute attributes[2];
  int count = 0;
  if (options.early) {
    attributes[count].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attributes[count++].val.programmaticStreamSerializationAllowed = 1;
  }
  if (cluster > 1) {
    attributes[count].id = cudaLaunchAttributeClusterDimension;
    attributes[count].val.clusterDim.x = cluster;
    attributes[count].val.clusterDim.y = 1;
    attributes[count++].val.clusterDim.z = 1;
  }
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(blocks);
  config.blockDim = dim3(threads);
  config.dynamicSmemBytes = sharedBytes;
  config.stream = options.stream;
  config.attrs = attributes;
  config.numAttrs = count;
  if (sharedBytes > 48 * 1024)
    checkCuda(cudaFuncSetAttribute(kernel,
                                   cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   sharedBytes),
              "shared memory");
  checkCuda(cudaLaunchKernelEx(&config, kernel, arguments...), "a launch");
}

template <typename Config>
int countRowBlocks(int rows) {
  return (rows + Config::rows - 1) / Config::rows;
}

/// Of storeRows, routeRows or storeParts.
template <typename Config>
void launchRows(void (*kernel)(Operands<Config>), const Operands<Config> &of,
                LaunchOptions options = {}) {
  using Shape = dsv4::RouterRowsShape<Config>;
  launchKernel(kernel, countRowBlocks<Config>(of.of.rows) * Shape::blocks,
               Shape::threads, Shape::shared_bytes, Shape::cluster, options,
               of);
}
template <typename Config>
void launchJoin(const Operands<Config> &of, LaunchOptions options = {}) {
  constexpr int rows = kJoinThreads / 32;
  launchKernel(routeParts<Config>, (of.of.rows + rows - 1) / rows, kJoinThreads,
               0, 1, options, of);
}
template <typename Config>
void launchTiles(const Operands<Config> &of, LaunchOptions options = {}) {
  using Shape = dsv4::RouterTilesShape<Config>;
  const int rowBlocks = (of.of.rows + Shape::rows - 1) / Shape::rows;
  launchKernel(storeTiles<Config>, rowBlocks * Shape::expert_blocks,
               Shape::threads, Shape::shared_bytes, 1, options, of);
}
template <typename Config>
void launchRoute(const Operands<Config> &of, LaunchOptions options = {}) {
  constexpr int rows = kRouteThreads / 32;
  launchKernel(routeLogits<Config>, (of.of.rows + rows - 1) / rows,
               kRouteThreads, 0, 1, options, of);
}

} // namespace dense_router
