//===- Device.h - Memory, kernels and timing for measurements ---*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What every measurement needs of the GPU. A trouble ends the program with one
// line: there is nothing to measure then.
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_BENCH_DEVICE_H
#define DSV4_BENCH_DEVICE_H

#include "dsv4/JIT/JIT.h"

namespace dsv4::bench {

/// Ends the program unless `status` is ok.
void check(const rt::Status &status);

template <typename T>
T take(rt::Result<T> result) {
  check(result.status());
  return result.take();
}

double median(std::vector<double> values);

/// A block of device memory.
class Memory {
public:
  Memory() = default;
  Memory(rt::Driver &driver, size_t bytes)
      : driver(&driver), data(take(driver.allocate(bytes))), bytes(bytes) {}
  Memory(Memory &&other) { *this = std::move(other); }
  Memory &operator=(Memory &&other) {
    std::swap(driver, other.driver);
    std::swap(data, other.data);
    std::swap(bytes, other.bytes);
    return *this;
  }
  ~Memory() {
    if (data)
      (void)driver->release(data);
  }

  char *at(size_t offset = 0) const {
    return static_cast<char *>(data) + offset;
  }
  size_t size() const { return bytes; }

private:
  rt::Driver *driver = nullptr;
  void *data = nullptr;
  size_t bytes = 0;
};

/// Something to time: `launches` launches in one graph, the i-th by `launch`.
struct Candidate {
  std::string name;
  unsigned launches = 1;
  std::function<rt::Status(unsigned i, rt::Stream stream)> launch;
};

/// Microseconds per launch over all replays: median and quartiles.
struct Timing {
  double us = 0, low = 0, high = 0;
};

using Kernel = std::unique_ptr<rt::LoadedProgram>;

/// How a hand-written copy moves its bytes.
struct CopyKernel {
  std::string name;
  Kernel kernel; ///< Null: the driver's own copy.
};

class Device {
public:
  explicit Device(Session &session);
  ~Device();

  Memory allocate(size_t bytes) { return Memory(driver, bytes); }
  /// Restarts the sequence of draws: the n-th fill after this has the same data
  /// in every run.
  void restartDraws() { draws = 0; }
  /// Random bytes; none is 0x7F or 0xFF, so that no element is a NaN.
  void fillRandom(Memory &memory);
  /// Random bf16 values of either sign, of magnitudes from 2^-7 to 2.
  void fillValues(Memory &memory);
  /// Random f32 values likewise.
  void fillFloats(Memory &memory);
  /// Normally distributed f32 values, of mean 0 and variance 1.
  void fillNormal(Memory &memory);
  /// Zeros of so many bytes at least. Kernels leave them so, and run one after
  /// another, so all share them.
  rt::Workspace workspace(uint64_t bytes);
  void upload(Memory &memory, const void *from);
  void download(void *to, const char *from, size_t bytes);
  /// Until everything launched has ended.
  void finish() { check(driver.synchronize(stream)); }

  /// Replays the graphs of all candidates in turn, `rounds` times; with
  /// `flush`, none finds anything of another in the L2 cache.
  std::vector<Timing> time(const std::vector<Candidate> &candidates,
                           unsigned rounds, bool flush = false);

  /// Copies of 1, 2 and 4 16-byte accesses a thread, as is, with loads evicted
  /// last, and as programmatic launches; and the driver's copy.
  const std::vector<CopyKernel> &copies() const { return copyKernels; }
  rt::Status copy(const CopyKernel &kernel, char *to, const char *from,
                  size_t bytes, rt::Stream on);
  /// A kernel of `blocks` blocks of 128 threads that does nothing.
  rt::Status launchEmpty(bool programmatic, int64_t blocks, rt::Stream on);

  Session &session;
  rt::Driver &driver;
  rt::Stream stream = nullptr;
  rt::DeviceInfo info;

private:
  enum class Operands { To, ToAndFrom, ToAndDraw };
  /// A kernel over 16-byte chunks: `to[n]`, `from[n]`, n, the draw.
  Kernel build(const std::string &text, uint32_t threads, uint32_t perBlock,
               Operands operands, bool programmatic);
  void buildCopies();
  void launchFill(Kernel &kernel, Memory &memory);
  /// Fills the L2 cache with other data.
  void flushCache();

  std::vector<CopyKernel> copyKernels;
  Kernel fill, fillBF16, fillF32, fillF32Normal, empty[2];
  int64_t draws = 0;
  Memory scratch, flushFrom, flushTo;
  std::vector<Memory> workspaces;
};

} // namespace dsv4::bench

#endif // DSV4_BENCH_DEVICE_H
