//===- FakeLibcuda.h - A libcuda.so.1 that only takes notes -----*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A shared library with the soname of the driver. A process that has it open
// gets it where libdsv4.so asks for the driver. It has two devices.
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_TEST_UNIT_C_FAKELIBCUDA_H
#define DSV4_TEST_UNIT_C_FAKELIBCUDA_H

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace dsv4::test {

/// What a CUstream of the fake points at.
struct FakeStream {
  int device = 0;
  int capturing = 0; ///< CUstreamCaptureStatus.
};

struct FakeLibcuda {
  static constexpr int devices = 2;
  char contexts[devices];             ///< Their addresses are the contexts.
  std::vector<size_t> parameterSizes; ///< Of every kernel.
  int loadResult = 0;
  int launchResult = 0;
  int allocateResult = 0;
  size_t maxAllocation = SIZE_MAX;
  unsigned initMicroseconds = 0; ///< That cuInit takes.
  // What happened.
  std::atomic<int> calls{0}; ///< Of all entry points.
  std::atomic<int> inits{0}, loads{0}, launches{0}, allocations{0};
  std::vector<uint64_t> values; ///< The parameters of the last launch.
  void *stream = nullptr;       ///< Its stream,
  void *context = nullptr;      ///< the current context then,
  unsigned grid = 0;            ///< and its blocks.
  bool takesNotes = true;
  std::vector<void *> memory; ///< Of the device; the runtime keeps it for good.
};

/// The one of the library.
extern "C" FakeLibcuda *dsv4FakeLibcuda();

/// The current context of this thread.
extern "C" void *dsv4FakeCurrentContext();
extern "C" void dsv4FakeSetCurrentContext(void *context);

} // namespace dsv4::test

#endif // DSV4_TEST_UNIT_C_FAKELIBCUDA_H
