//===- HostTesting.h - What the tests of the host target share --*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_TEST_UNIT_HOST_HOSTTESTING_H
#define DSV4_TEST_UNIT_HOST_HOSTTESTING_H

#include "dsv4/Target/CUDA/Prelude.h"
#include "dsv4/Target/Host/HostCompiler.h"
#include "host/HostKernel.h"
#include "gtest/gtest.h"

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace dsv4::rt::test {

/// Compiles and loads `kernel` after the prelude; null, and a failed test, if
/// that does not work.
inline std::unique_ptr<HostKernel> loadKernel(const std::string &kernel,
                                              const std::string &symbol,
                                              Dim3 cluster = {}) {
  Result<std::string> image =
      compileHost(hostPrelude() + kernel + hostEpilogue(symbol));
  if (!image) {
    ADD_FAILURE() << image.status().message();
    return nullptr;
  }
  Result<std::unique_ptr<HostKernel>> loaded =
      HostKernel::load(*image, symbol, {}, {}, cluster);
  if (!loaded) {
    ADD_FAILURE() << loaded.status().message();
    return nullptr;
  }
  return loaded.take();
}

inline std::vector<ThreadSchedule> schedules() {
  std::vector<ThreadSchedule> all = {{ThreadOrder::Forward, 0},
                                     {ThreadOrder::Reverse, 0}};
  for (uint64_t seed = 0; seed < 8; ++seed)
    all.push_back({ThreadOrder::Random, seed});
  return all;
}

/// Launches with parameters by value.
template <typename... Params>
Status launch(HostKernel &kernel, Dim3 grid, Dim3 block, uint32_t sharedBytes,
              Params... params) {
  void *addresses[] = {&params..., nullptr};
  return kernel.launch(grid, block, sharedBytes, addresses);
}

inline uint32_t bitsOf(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}
inline float floatOf(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

} // namespace dsv4::rt::test

#endif // DSV4_TEST_UNIT_HOST_HOSTTESTING_H
