//===- index_score.cuh - Scores of paged index keys -------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The score of a query row and a key is
//
//   scale(key) * sum over heads of weight(head) * max(q(head) . k, 0)
//
// index_score_group() computes the columns of one group of rows: a tile source,
// as topk_tiles.cuh describes it. index_score_all() computes those of all
// groups, in equal parts for the blocks of the grid. Both are called by all
// threads of a block of index_score_threads<Config>(), with
// index_score_shared<Config>() bytes of shared memory from `memory` on, aligned
// to 16 bytes. The first 4 * Config::warpgroups warps consume. Barriers 2 to 5
// are the source's. The regions:
//
//   page(group, index)   an IndexPage: page `index` of the group's keys. Column
//                        c is entry c % page_size of page c / page_size. Called
//                        for pages with columns below a limit only. Without a
//                        page, nothing is read, and the scores are -inf.
//   query(row, head)     an IndexHead.
//   weight(row, head)    the final weight, a float; may be negative.
//   limit(row)           the number of columns that count; the same whenever it
//                        is called. None if it is not positive, as for rows
//                        beyond the last one.
//   consume(values, map) values is float[Config::queries], map(i) the
//                        TilePosition of values[i]. The row is that of the
//                        group, or, in index_score_all(), of all. Owned are
//                        elements below the limit of their row, each once.
//
// A NaN in a key or its scales harms the scores of this key only, one in a
// query or a weight those of its row. 255 is NaN among UE8M0, and 0 is 2^-127.
// An E4M3 key's scale is applied after the maximum: it must not be negative.
//
// A score depends on the query and the key alone: elements along K, and heads,
// are added in one order, whatever the group, the page size or the schedule.
// Keys are A and heads are B, because the sum over heads is then within four
// lanes. The order of K is free: lane c of such four has a quarter of a key,
// which is one group of scales. The scales of an MXFP4 key go into the
// exponents of E5M2, relative to the largest one of the key, which is exact up
// to 2^-26; what is smaller than that counts as 0. If a warp finds all scales
// of its keys within 26 binades, they are relative to the end of these instead,
// with the same result: only weights below 2^-89 would make denormal sums, of
// which last bits are lost.
//
// Products of warpgroups with MXFP4 keys and E4M3 queries are added in f16 (11
// bits, rounded four times per head), in half the registers, and their sum over
// heads is a second product, with the weights as two f16 each and in f32.
// Scales are exact up to 2^-10 then; keys with groups further apart have
// products of their own.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "mma/index_score_ring.cuh"
#include "mma/index_score_warps.cuh"

namespace dsv4 {

template <typename Config, typename Page, typename Query, typename Weight,
          typename Limit, bool HasWgmma = has_wgmma>
struct IndexScorerOf {
  using type = IndexScoreRing<Config, Page, Query, Weight, Limit>;
};
template <typename Config, typename Page, typename Query, typename Weight,
          typename Limit>
struct IndexScorerOf<Config, Page, Query, Weight, Limit, false> {
  using type = IndexScoreWarps<Config, Page, Query, Weight, Limit>;
};

template <bool All, typename Config, typename Consume, typename Page,
          typename Query, typename Weight, typename Limit>
__device__ __forceinline__ void
index_score_run(Consume consume, char *memory, int group, Page page,
                Query query, Weight weight, Limit limit) {
  constexpr unsigned alignment = IndexShape<Config>::alignment;
  memory += -shared_address(memory) & (alignment - 1);
  typename IndexScorerOf<Config, Page, Query, Weight, Limit>::type scorer(
      memory, page, query, weight, limit);
  scorer.template run<All>(
      [&] {
        if constexpr (All)
          return index_range<Config>(group, limit);
        else
          return index_range_of<Config>(group, limit, consume.part());
      },
      consume);
}

template <typename Config, typename Consume, typename Page, typename Query,
          typename Weight, typename Limit>
__device__ __forceinline__ void
index_score_group(Consume consume, char *memory, int group, Page page,
                  Query query, Weight weight, Limit limit) {
  index_score_run<false, Config>(consume, memory, group, page, query, weight,
                                 limit);
}

// The consumer does not wait for other warps.
template <typename Config, typename Consume, typename Page, typename Query,
          typename Weight, typename Limit>
__device__ __forceinline__ void
index_score_all(Consume consume, char *memory, int groups, Page page,
                Query query, Weight weight, Limit limit) {
  index_score_run<true, Config>(consume, memory, groups, page, query, weight,
                                limit);
}

} // namespace dsv4
