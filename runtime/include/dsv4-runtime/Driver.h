//===- Driver.h - The CUDA driver, found at run time ------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// libcuda is opened at its first use, never linked, so that one binary runs
// with and without it. Beyond what a launch needs, this wraps what tools and
// benchmarks use: memory, streams, events and graphs.
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_RUNTIME_DRIVER_H
#define DSV4_RUNTIME_DRIVER_H

#include "dsv4-runtime/Fork.h"
#include "dsv4-runtime/Status.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace dsv4::rt {

namespace cuda {
struct API;
} // namespace cuda

/// A CUstream, CUevent or CUgraphExec; null is the default stream.
using Stream = void *;
using Event = void *;
using Graph = void *;

struct DeviceInfo {
  std::string name; ///< "NVIDIA H200".
  int major = 0;    ///< Compute capability.
  int minor = 0;
  std::string arch; ///< What to compile for: "sm_90a".
  int multiprocessors = 0;
  int sharedBytesPerBlock = 0; ///< The maximum a kernel may request.
  int l2Bytes = 0;
  uint64_t memoryBytes = 0;
};

/// Safe to use from several threads at once. Everything but get(), version()
/// and the device queries acts on the calling thread's current context: call
/// makeCurrent() first.
class Driver {
public:
  /// The driver of the process, initialised by the first call only.
  /// Unavailable, with the reason, if the driver or a device is missing, or if
  /// the process was forked from one that had used it, or had begun to. Never
  /// destroyed, because at exit the driver may end first.
  static Result<Driver *> get();

  /// A driver over a given table of entry points, for tests.
  static Result<std::unique_ptr<Driver>> create(const cuda::API &api);

  Driver(const Driver &) = delete;
  Driver &operator=(const Driver &) = delete;
  ~Driver();

  /// The newest target of a compute capability: the `a` variant from 9.0 on.
  static std::string archName(int major, int minor);

  /// Whether this is a child of fork() and the driver its parent's: none of it
  /// may be called, and some of it would wait for ever.
  bool isOfParent() const { return owner != forkCount(); }
  /// The error of such a call.
  [[gnu::cold]] static Status forked();

  int version() const { return driverVersion; } ///< 13000 for CUDA 13.0.
  int deviceCount() const;
  Result<DeviceInfo> device(int ordinal) const;

  /// Retains the device's primary context, once, and makes it current.
  Status makeCurrent(int ordinal);

  /// The device's primary context (a CUcontext), retained once.
  Result<void *> primaryContext(int ordinal);

  /// Whether launches on a stream are recorded into a graph. The default stream
  /// counts as capturing while another of its context does.
  Result<bool> isCapturing(Stream stream) const;

  Result<void *> allocate(size_t bytes); ///< Never null, also for 0 bytes.
  Status release(void *memory);

  // In stream order; host memory that is not pinned is staged by the driver.
  Status copyToDevice(void *to, const void *from, size_t bytes, Stream stream);
  Status copyToHost(void *to, const void *from, size_t bytes, Stream stream);
  Status copyOnDevice(void *to, const void *from, size_t bytes, Stream stream);
  Status fill(void *to, uint8_t value, size_t bytes, Stream stream);

  Result<Stream> createStream(); ///< Does not wait for the default stream.
  Status destroyStream(Stream stream);
  Status synchronize(Stream stream);

  Result<Event> createEvent();
  Status destroyEvent(Event event);
  Status record(Event event, Stream stream);
  /// Waits for `end`.
  Result<float> elapsedMilliseconds(Event begin, Event end);

  /// Launches on `stream` are recorded, not run, until endCapture().
  Status beginCapture(Stream stream);
  Result<Graph> endCapture(Stream stream);
  Status replay(Graph graph, Stream stream);
  Status destroyGraph(Graph graph);

  /// The entry points, for the launch path.
  const cuda::API &api() const { return *table; }

  /// Ok for 0, else "<what> failed: CUDA_ERROR_… (…)".
  Status check(int result, const char *what,
               Code code = Code::LaunchFailed) const;

private:
  Driver();

  struct Contexts;
  std::unique_ptr<cuda::API> table;
  std::unique_ptr<Contexts> contexts;
  int driverVersion = 0;
  unsigned owner = forkCount();
};

} // namespace dsv4::rt

#endif // DSV4_RUNTIME_DRIVER_H
