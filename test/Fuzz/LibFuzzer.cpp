//===- LibFuzzer.cpp - A target of dsv4-fuzz under libFuzzer --------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fuzz.h"

#include <cstdio>
#include <cstdlib>

using namespace dsv4::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Outcome outcome = DSV4_FUZZ_TARGET.run(
      llvm::StringRef(reinterpret_cast<const char *>(data), size));
  if (outcome.kind == Outcome::Broken) {
    std::fprintf(stderr, "%s: %s\n", DSV4_FUZZ_TARGET.name,
                 outcome.why.c_str());
    std::abort();
  }
  return outcome.kind == Outcome::Accepted ? 0 : -1;
}
