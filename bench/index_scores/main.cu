//===- main.cu - Checks and times of scores of index keys -----------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Checks the scores of runtime/device/dsv4/mma against a reference in double
// precision, and times them, without the compiler. From the root of the source:
//
//   nvcc -std=c++17 -O3 -arch=sm_90a -Iruntime/device/dsv4
//     bench/index_scores/main.cu -o index-scores
//
// in one line. Other architectures take the code without products of
// warpgroups, with fewer checks and times: compute_89 has products of 8-bit
// floats, compute_80 of f16 alone. PTX of either runs on newer GPUs too:
//
//   -gencode arch=compute_89,code=compute_89
//
//   index-scores check   all checks
//   index-scores small   few and short ones, for compute-sanitizer
//   index-scores times   microseconds of a launch
//
// The status is 1 if a check fails.
//
//===----------------------------------------------------------------------===//

#include "Checks.cuh"
#include "Times.cuh"

using namespace index_scores;

static void check(bool isSmall) {
  if (isSmall)
    checkSmall();
  else
    checkAll();
}

static int report() {
  printf("%d checks, %d failed; largest relative errors %.2e, exact %.2e\n",
         tally.ran, tally.failed, tally.worst[0], tally.worst[1]);
  return tally.failed != 0;
}

int main(int argc, char **argv) {
  return device_bench::runProgram("index-scores", argc, argv, check, timeAll,
                                  report);
}
