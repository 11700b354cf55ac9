//===- Configs.cuh - Configs of scores --------------------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Configs of index_score.cuh, composed: Paged<Mxfp4, 16> is Mxfp4 with pages of
// 16. Each layer replaces members of the one below.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "mma/index_score.cuh"

#include <string>

// A build for GPUs without products of warpgroups has other code, in which
// schedules differ less: it has fewer checks and times. A build is for one
// architecture.
#define INDEX_SCORES_FALLBACK (__CUDA_ARCH_LIST__ < 900)

namespace index_scores {

using dsv4::IndexFormat;

//===----------------------------------------------------------------------===//
// Keys
//===----------------------------------------------------------------------===//

struct Mxfp4 : dsv4::IndexScoreDefaults {
  static constexpr int stages = 12;
  static constexpr bool keys_once = true;
  // Whether the scales of an entry follow its payload, rather than all payloads
  // of the page.
  static constexpr bool interleaved = false;
  // Whether the kernel stores -inf beyond the limits.
  static constexpr bool filled = false;
};
struct E4m3 : Mxfp4 {
  static constexpr IndexFormat keys = IndexFormat::e4m3;
};
// Exact products are of one tile.
template <typename Below>
struct Exact : Below {
  static constexpr bool exact = true;
  static constexpr int tiles = 1;
};
using ExactMxfp4 = Exact<Mxfp4>;
using ExactE4m3 = Exact<E4m3>;
struct ExactNvfp4 : Exact<Mxfp4> {
  static constexpr IndexFormat keys = IndexFormat::nvfp4;
};

template <typename Below, int PageSize, int Align = 16>
struct Paged : Below {
  static constexpr int page_size = PageSize, align = Align;
};
template <typename Below, int Align>
struct Interleaved : Below {
  static constexpr bool interleaved = true;
  static constexpr int payload_stride =
      dsv4::IndexShape<Below>::payload + dsv4::IndexShape<Below>::scales;
  static constexpr int scale_stride = payload_stride, align = Align;
};

//===----------------------------------------------------------------------===//
// Queries and scores
//===----------------------------------------------------------------------===//

template <typename Below>
struct Mxfp4Queries : Below {
  static constexpr IndexFormat query = IndexFormat::mxfp4;
};
template <typename Below, int Heads>
struct WithHeads : Below {
  static constexpr int heads = Heads;
};
template <typename Below, int Queries>
struct WithQueries : Below {
  static constexpr int queries = Queries;
};
template <typename Below>
struct Filled : Below {
  static constexpr bool filled = true;
};

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

template <typename Below, int Warpgroups, int Tiles, int Stages>
struct Scheduled : Below {
  static constexpr int warpgroups = Warpgroups, tiles = Tiles, stages = Stages;
};
template <typename Below, int Stages>
struct Staged : Below {
  static constexpr int stages = Stages;
};
template <typename Below>
struct OneSlot : Below {
  static constexpr int slots = 1;
};

// Names what a config has, so that no list needs names of its own.
template <typename Config>
std::string describe() {
  std::string text = Config::exact ? "exact " : "";
  text += Config::keys == IndexFormat::mxfp4   ? "mxfp4"
          : Config::keys == IndexFormat::nvfp4 ? "nvfp4"
                                               : "e4m3";
  if (Config::query == IndexFormat::mxfp4)
    text += " x mxfp4";
  const auto add = [&](const char *what, int value, int usual) {
    if (value != usual)
      text += what + std::to_string(value);
  };
  using Defaults = dsv4::IndexScoreDefaults;
  add(", heads ", Config::heads, Defaults::heads);
  add(", queries ", Config::queries, Defaults::queries);
  add(", pages of ", Config::page_size, Defaults::page_size);
  if (Config::interleaved)
    text += ", interleaved";
  if (Config::filled)
    text += ", filled";
  text += ", " + std::to_string(Config::warpgroups) + "x" +
          std::to_string(Config::tiles) + " s" + std::to_string(Config::stages);
  add(", slots ", Config::slots, Defaults::slots);
  return text;
}

} // namespace index_scores
