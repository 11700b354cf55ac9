//===- Checks.cuh - What is checked -----------------------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The configs and sizes of all checks. Seven groups have every kind of limit
// that Inputs.h draws.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Check.cuh"

namespace index_scores {

/// Few and short, for a tool that looks at every access.
inline void checkSmall() {
  checkConfig<Mxfp4>(3, 300);
  checkConfig<E4m3>(3, 300);
  checkConfig<Paged<Mxfp4, 3, 4>>(2, 200);
  checkConfig<Interleaved<Paged<E4m3, 32>, 4>>(2, 200);
  checkConfig<Staged<WithQueries<Mxfp4, 3>, 6>>(7, 333, {7});
  checkSelection<Mxfp4>(7, 700, 3);
}

#if INDEX_SCORES_FALLBACK

inline void checkAll() {
  checkConfig<Mxfp4>(7, 700, {5, 4});
  checkConfig<E4m3>(7, 700);
  checkConfig<Mxfp4Queries<Mxfp4>>(7, 500);
  checkConfig<Mxfp4Queries<E4m3>>(3, 555);
  checkConfig<Scheduled<Mxfp4, 4, 1, 24>>(7, 400);
  checkConfig<Paged<Mxfp4, 3, 4>>(2, 200, {2, 3});
  checkConfig<Interleaved<Paged<E4m3, 32>, 4>>(2, 200, {2, 3});
  checkConfig<Staged<WithQueries<Mxfp4, 3>, 6>>(7, 333, {7});
  checkConfig<WithHeads<Mxfp4, 17>>(7, 300);
  checkConfig<WithHeads<Mxfp4, 128>>(7, 300);
  checkConfig<ExactMxfp4>(7, 400);
  checkConfig<ExactE4m3>(7, 400);
  checkConfig<ExactNvfp4>(7, 400);
  checkConfig<Paged<ExactNvfp4, 3, 4>>(7, 300, {2, 5, 4});
  checkConfig<WithQueries<Mxfp4Queries<ExactNvfp4>, 2>>(5, 300);
  checkSameBits<Mxfp4, Scheduled<Mxfp4, 4, 1, 24>>(31);
  checkSameBits<Mxfp4, Interleaved<Mxfp4, 4>>(33);
  checkSelection<Mxfp4>(7, 1500, 3);
  checkSelection<Staged<E4m3, 6>>(3, 1500, 3);
}

#else

inline void checkFormats() {
  checkConfig<Mxfp4>(7, 1000);
  checkConfig<E4m3>(7, 1000);
  checkConfig<Mxfp4Queries<Mxfp4>>(7, 1000);
  checkConfig<Mxfp4Queries<E4m3>>(3, 555);
  checkConfig<Filled<Mxfp4>>(7, 1000);
  // More groups than lanes, and than blocks.
  checkConfig<Mxfp4>(64, 700, {9});
  checkConfig<Mxfp4>(200, 300, {10});
  checkConfig<E4m3>(64, 700, {9});
  // Missing pages, and bytes between pages.
  checkConfig<Mxfp4>(7, 1000, {11, 4, 64});
  checkConfig<E4m3>(7, 1000, {12, 4, 16});
}

inline void checkExact() {
  checkConfig<ExactMxfp4>(7, 1000);
  checkConfig<ExactE4m3>(7, 1000);
  checkConfig<ExactNvfp4>(7, 1000);
  checkConfig<WithHeads<Mxfp4Queries<ExactMxfp4>, 17>>(7, 500);
  checkConfig<WithHeads<Mxfp4Queries<ExactE4m3>, 128>>(7, 500);
  checkConfig<WithQueries<Mxfp4Queries<ExactNvfp4>, 2>>(7, 500);
  checkConfig<Paged<ExactNvfp4, 3, 4>>(7, 500, {2, 5, 4});
  checkConfig<Paged<ExactNvfp4, 16>>(7, 777, {2, 5});
  checkConfig<Interleaved<ExactNvfp4, 8>>(7, 777, {2, 5, 8});
  checkConfig<Scheduled<ExactMxfp4, 2, 1, 12>>(7, 400);
}

inline void checkSchedules() {
  checkConfig<Scheduled<Mxfp4, 5, 1, 20>>(7, 1000);
  checkConfig<Scheduled<E4m3, 5, 1, 10>>(7, 1000, {1, 4});
  checkConfig<Scheduled<Mxfp4, 5, 1, 20>>(64, 700, {9});
  checkConfig<Scheduled<Mxfp4, 4, 1, 24>>(7, 1000);
  checkConfig<Scheduled<E4m3, 4, 1, 12>>(7, 1000);
  checkConfig<Scheduled<Mxfp4, 2, 2, 4>>(7, 1000);
  checkConfig<Scheduled<Mxfp4, 1, 2, 4>>(7, 1000);
  checkConfig<OneSlot<Scheduled<Mxfp4, 2, 1, 2>>>(9, 600);
}

inline void checkPages() {
  checkConfig<Paged<Mxfp4, 1, 4>>(7, 777, {2, 5});
  checkConfig<Paged<Mxfp4, 3, 4>>(7, 777, {2, 5, 4});
  checkConfig<Paged<Mxfp4, 8>>(7, 777, {2, 5});
  checkConfig<Paged<Mxfp4, 16>>(7, 777, {2, 5});
  checkConfig<Paged<Mxfp4, 24>>(7, 777, {2, 5, 32});
  checkConfig<Paged<Mxfp4, 32>>(7, 777, {2, 5});
  checkConfig<Paged<Mxfp4, 100>>(7, 777, {2, 3});
  checkConfig<Paged<Mxfp4, 128>>(7, 777, {2, 5});
  checkConfig<Paged<Mxfp4, 256>>(7, 777, {2, 3});
  checkConfig<Interleaved<Mxfp4, 4>>(7, 777, {2, 5, 4});
  checkConfig<Interleaved<Paged<E4m3, 32>, 4>>(7, 777, {2, 5});
  checkConfig<Paged<E4m3, 2, 8>>(7, 777, {2, 5});
  checkConfig<Paged<E4m3, 128>>(7, 777, {2, 3});
}

inline void checkHeadsAndQueries() {
  checkConfig<WithHeads<Mxfp4, 1>>(7, 500);
  checkConfig<WithHeads<Mxfp4, 17>>(7, 500);
  checkConfig<WithHeads<Mxfp4, 32>>(7, 500);
  checkConfig<WithHeads<Mxfp4, 48>>(7, 500);
  checkConfig<WithHeads<Mxfp4, 100>>(7, 500);
  checkConfig<WithHeads<Mxfp4, 128>>(7, 500);
  checkConfig<WithHeads<E4m3, 8>>(7, 500);
  checkConfig<Staged<WithHeads<E4m3, 128>, 6>>(7, 500);
  checkConfig<Staged<WithQueries<Mxfp4, 2>, 6>>(7, 500);
  checkConfig<Staged<WithQueries<Mxfp4, 3>, 6>>(7, 500);
  checkConfig<Staged<WithQueries<Mxfp4, 4>, 6>>(7, 500);
  checkConfig<OneSlot<Staged<WithQueries<Mxfp4, 8>, 6>>>(7, 500);
  checkConfig<Staged<WithQueries<E4m3, 2>, 6>>(7, 500, {4, 4});
  checkConfig<Staged<WithHeads<WithQueries<Mxfp4, 2>, 128>, 6>>(7, 500);
}

inline void checkAll() {
  checkSmall();
  checkFormats();
  checkExact();
  checkSchedules();
  checkPages();
  checkHeadsAndQueries();

  checkSameBits<Mxfp4, Scheduled<Mxfp4, 5, 1, 20>>(30);
  checkSameBits<Mxfp4, Scheduled<Mxfp4, 4, 1, 24>>(31);
  checkSameBits<Mxfp4, Paged<Mxfp4, 3, 4>>(32);
  checkSameBits<Mxfp4, Interleaved<Mxfp4, 4>>(33);
  checkSameBits<Mxfp4, Paged<Mxfp4, 16>>(34);
  checkSameBits<E4m3, Interleaved<Paged<E4m3, 32>, 4>>(35);
  checkSameBits<E4m3, Scheduled<E4m3, 4, 1, 12>>(36);
  checkSameBits<ExactMxfp4, Scheduled<ExactMxfp4, 2, 1, 12>>(40);

  checkNeighbours<Mxfp4>(50);
  checkNeighbours<WithHeads<Mxfp4, 128>>(51);
  checkWeights<Mxfp4>(52);
  checkWeights<WithHeads<Mxfp4, 128>>(53);

  checkSelection<Mxfp4>(66, 3000, 4);
  checkSelection<Staged<Mxfp4, 6>>(5, 32768, 7);
  checkSelection<Staged<E4m3, 6>>(9, 3000, 5);
  checkSelection<Staged<WithQueries<Mxfp4, 2>, 6>>(9, 1500, 6);
}

#endif

} // namespace index_scores
