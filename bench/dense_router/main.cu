//===- main.cu - Checks and times of dense routers ------------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Checks the logits of runtime/device/dsv4/mma/router_logits.cuh against sums
// in double precision, and times routers that compute them, without the
// compiler. From the root of the source, in one line:
//
//   nvcc -std=c++17 -O3 -arch=sm_90a -Iruntime/device/dsv4
//     bench/dense_router/main.cu -o dense-router
//
//   dense-router check   all checks
//   dense-router small   few and short ones, for compute-sanitizer
//   dense-router times   microseconds of a router
//
// The status is 1 if a check fails.
//
//===----------------------------------------------------------------------===//

#include "Checks.cuh"
#include "Times.cuh"

using namespace dense_router;

static void check(bool isSmall) {
  if (isSmall)
    checkSmall();
  else
    checkAll();
}

static int report() {
  printf("%d checks, %d failed; largest relative error %.2e\n", tally.ran,
         tally.failed, tally.worst);
  return tally.failed != 0;
}

int main(int argc, char **argv) {
  return device_bench::runProgram("dense-router", argc, argv, check, timeAll,
                                  report);
}
