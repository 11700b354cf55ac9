//===- index_score.h - Scores of paged index keys, on a CPU -----*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The twin of the device library's index_score.cuh: the same functions for the
// same regions, in plain loops. Each thread computes the scores that it owns on
// a GPU, and calls the consumer as often. A product of a query and a key is
// rounded once, from a sum in double precision; the sum over heads is in the
// order of the GPU's. The warps that load there do nothing.
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_HOST_INDEX_SCORE_H
#define DSV4_HOST_INDEX_SCORE_H

namespace dsv4 {

// By their bits as parts of a float, whose exponent is then too small.
__device__ inline float index_f32_of_e4m3(unsigned byte) {
  const float magnitude = as_float((byte & 0x7F) << 20) * 0x1p120f;
  return (byte & 0x7F) == 0x7F ? as_float(0x7FFFFFFFu)
         : byte & 0x80         ? -magnitude
                               : magnitude;
}
__device__ inline float index_f32_of_e2m1(unsigned code) {
  const float magnitude = as_float((code & 7) << 22) * 0x1p126f;
  return code & 8 ? -magnitude : magnitude;
}

// Elements as the tensor cores have them, and a power of two that they are to
// be multiplied with.
struct IndexElements {
  float values[128];
  float scale;
};

// Groups of zeros do not count for the largest scale, unless theirs is NaN.
template <bool SkipsZeros>
__device__ inline void expand_mxfp4_elements(IndexElements &to,
                                             const unsigned (&words)[16],
                                             unsigned scales) {
  unsigned largest = 0;
  for (int group = 0; group < 4; ++group) {
    const unsigned code = scales >> 8 * group & 0xFF;
    unsigned some = 0;
    for (int i = 0; i < 4; ++i)
      some |= words[4 * group + i] & 0x77777777u;
    if ((some || !SkipsZeros || code == 0xFF) && code > largest)
      largest = code;
  }
  to.scale = index_scale(largest);
  for (int i = 0; i < 128; ++i) {
    const unsigned code = scales >> i / 32 * 8 & 0xFF;
    const unsigned below = code < largest ? largest - code : 0;
    to.values[i] = below > 26 ? 0
                              : index_f32_of_e2m1(words[i / 8] >> i % 8 * 4) *
                                    as_float((127 - below) << 23);
  }
}
// The products of elements and scales are exact.
__device__ inline void expand_nvfp4_elements(IndexElements &to,
                                             const unsigned (&words)[16],
                                             unsigned low_scales,
                                             unsigned high_scales) {
  to.scale = 1;
  for (int i = 0; i < 128; ++i) {
    const unsigned scales = i < 64 ? low_scales : high_scales;
    to.values[i] = mul_f32(index_f32_of_e2m1(words[i / 8] >> i % 8 * 4),
                           index_f32_of_e4m3(scales >> i % 64 / 16 * 8 & 0xFF));
  }
}
__device__ inline void expand_e4m3_elements(IndexElements &to,
                                            const unsigned (&words)[32]) {
  to.scale = 1;
  for (int i = 0; i < 128; ++i)
    to.values[i] = index_f32_of_e4m3(words[i / 4] >> i % 4 * 8 & 0xFF);
}

template <typename Config, typename Page, typename Query, typename Weight>
class IndexScorer {
public:
  using Shape = IndexShape<Config>;

  IndexScorer(Page page, Query query, Weight weight)
      : page(page), query(query), weight(weight) {}

  // Goes to the key of a column; without a page there is none.
  void find_key(int group, int column) {
    const IndexPage from = page(group, column / Shape::page_size);
    there = from.payload != nullptr;
    if (!there)
      return;
    const int entry = column % Shape::page_size;
    unsigned words[Shape::payload / 4];
    load_bytes<Shape::payload, Config::align, evict_normal>(
        words, true,
        (const char *)from.payload + (long long)entry * Shape::payload_stride);
    const char *scales =
        (const char *)from.scales + (long long)entry * Shape::scale_stride;
    if constexpr (Shape::keys_mxfp4)
      expand_mxfp4_elements<true>(key, words, load<unsigned>(scales));
    else if constexpr (Shape::keys_nvfp4)
      expand_nvfp4_elements(key, words, load<unsigned>(scales),
                            load<unsigned>(scales + 4));
    else
      expand_e4m3_elements(key, words);
    key_scale = Shape::keys_e4m3 ? as_float(load<unsigned>(scales)) : key.scale;
  }

  float score(int row) {
    if (!there)
      return as_float(0xFF800000u);
    // Heads 8j + 2c + i are part i of lane c.
    float parts[4][2] = {};
    for (int head = 0; head < Config::heads; ++head) {
      IndexElements elements;
      load_head(elements, row, head);
      double sum = 0;
      for (int i = 0; i < 128; ++i)
        sum += (double)elements.values[i] * key.values[i];
      const float dot = (float)sum;
      float final_weight = mul_f32(weight(row, head), 0.5f);
      if (Shape::query_fp4)
        final_weight = mul_f32(final_weight, elements.scale);
      float &part = parts[head / 2 % 4][head % 2];
      part = fma_f32(add_f32(dot, abs_f32(dot)), final_weight, part);
    }
    float lanes[4];
    for (int c = 0; c < 4; ++c)
      lanes[c] = add_f32(parts[c][0], parts[c][1]);
    const float sum =
        add_f32(add_f32(lanes[0], lanes[1]), add_f32(lanes[2], lanes[3]));
    return mul_f32(sum, key_scale);
  }

private:
  void load_head(IndexElements &to, int row, int head) {
    const IndexHead from = query(row, head);
    unsigned words[Shape::head_payload / 4];
    load_bytes<Shape::head_payload, 16, evict_normal>(
        words, true, (const char *)from.payload);
    if constexpr (Shape::query_fp4)
      expand_mxfp4_elements<false>(to, words, from.scales);
    else
      expand_e4m3_elements(to, words);
  }

  Page page;
  Query query;
  Weight weight;
  IndexElements key;
  float key_scale = 0;
  bool there = false;
};

template <bool All, typename Config, typename Consume, typename Page,
          typename Query, typename Weight, typename Limit>
__device__ inline void
index_score_steps(const IndexRange &range, Consume consume, Page page,
                  Query query, Weight weight, Limit limit) {
  using Shape = IndexShape<Config>;
  if (range.begin == range.end || (int)threadIdx.x >= Shape::consumers)
    return;
  IndexCursor<Config, Limit> group(range.group, range.group_start, limit);
  IndexScorer<Config, Page, Query, Weight> scorer(page, query, weight);
  for (int turn = range.begin; turn < range.end; turn += Shape::warpgroups) {
    const int step = turn + (int)threadIdx.x / 128;
    const bool there = step < range.end;
    while (there && step >= group.stop)
      group.advance();
    const int column =
        (step - group.start) * Shape::step + IndexLane<Config>::key();
    const auto owns = [&](int i) {
      return there && IndexLane<Config>::owns() &&
             column < limit(group.group * Shape::queries + i);
    };
    float values[Shape::queries] = {};
    if (there && column < group.columns)
      scorer.find_key(group.group, column);
    for (int i = 0; i < Shape::queries; ++i)
      if (owns(i))
        values[i] = scorer.score(group.group * Shape::queries + i);
    consume(values, [&](int i) {
      return TilePosition{All ? group.group * Shape::queries + i : i, column,
                          owns(i)};
    });
  }
}

template <typename Config, typename Consume, typename Page, typename Query,
          typename Weight, typename Limit>
__device__ inline void index_score_group(Consume consume, char *, int group,
                                         Page page, Query query, Weight weight,
                                         Limit limit) {
  index_score_steps<false, Config>(
      index_range_of<Config>(group, limit, consume.part()), consume, page,
      query, weight, limit);
}

template <typename Config, typename Consume, typename Page, typename Query,
          typename Weight, typename Limit>
__device__ inline void index_score_all(Consume consume, char *, int groups,
                                       Page page, Query query, Weight weight,
                                       Limit limit) {
  index_score_steps<true, Config>(index_range<Config>(groups, limit), consume,
                                  page, query, weight, limit);
}

} // namespace dsv4

#endif // DSV4_HOST_INDEX_SCORE_H
