//===- Device.cuh - Memory of the GPU, and times ----------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What programs that check and time functions of the device library share. A
// trouble ends the program with one line.
//
//===----------------------------------------------------------------------===//

#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace device_bench {

inline void checkCuda(cudaError_t error, const char *what) {
  if (error == cudaSuccess)
    return;
  fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
  exit(3);
}

inline int countMultiprocessors() {
  static const int count = [] {
    int found = 0;
    checkCuda(cudaDeviceGetAttribute(&found, cudaDevAttrMultiProcessorCount, 0),
              "the device");
    return found;
  }();
  return count;
}

/// An array in memory of the GPU.
template <typename T>
class DeviceArray {
public:
  explicit DeviceArray(size_t count) : count(count) {
    // An array of no elements has an address too.
    checkCuda(cudaMalloc(&data, std::max<size_t>(count * sizeof(T), 16)),
              "memory");
  }
  explicit DeviceArray(const std::vector<T> &from) : DeviceArray(from.size()) {
    checkCuda(
        cudaMemcpy(data, from.data(), count * sizeof(T), cudaMemcpyDefault),
        "a copy to the device");
  }
  DeviceArray(const DeviceArray &) = delete;
  DeviceArray &operator=(const DeviceArray &) = delete;
  ~DeviceArray() { cudaFree(data); }

  T *get() const { return data; }
  size_t size() const { return count; }
  void fill(unsigned char byte) {
    checkCuda(cudaMemset(data, byte, count * sizeof(T)), "a fill");
  }
  std::vector<T> read() const {
    std::vector<T> to(count);
    checkCuda(cudaDeviceSynchronize(), "a kernel");
    checkCuda(cudaMemcpy(to.data(), data, count * sizeof(T), cudaMemcpyDefault),
              "a copy from the device");
    return to;
  }

private:
  T *data = nullptr;
  size_t count;
};

/// Microseconds of each of `launches` launches in a graph: the median of the
/// replays. `launch` takes the number of the launch and a stream.
template <typename Launch>
double timeGraph(int launches, Launch launch) {
  constexpr int warmUps = 3, replays = 11;
  cudaStream_t stream;
  checkCuda(cudaStreamCreate(&stream), "a stream");
  // Attributes of kernels are set by the first launch, before the capture.
  launch(0, stream);
  checkCuda(cudaStreamSynchronize(stream), "a kernel");
  checkCuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal),
            "a capture");
  for (int i = 0; i < launches; ++i)
    launch(i, stream);
  cudaGraph_t graph;
  cudaGraphExec_t replay;
  checkCuda(cudaStreamEndCapture(stream, &graph), "a capture");
  checkCuda(cudaGraphInstantiate(&replay, graph, 0), "a graph");
  cudaEvent_t begin, end;
  checkCuda(cudaEventCreate(&begin), "an event");
  checkCuda(cudaEventCreate(&end), "an event");
  std::vector<float> times;
  for (int i = 0; i < warmUps + replays; ++i) {
    checkCuda(cudaEventRecord(begin, stream), "an event");
    checkCuda(cudaGraphLaunch(replay, stream), "a graph");
    checkCuda(cudaEventRecord(end, stream), "an event");
    checkCuda(cudaStreamSynchronize(stream), "a graph");
    float milliseconds;
    checkCuda(cudaEventElapsedTime(&milliseconds, begin, end), "a time");
    if (i >= warmUps)
      times.push_back(milliseconds * 1000 / launches);
  }
  checkCuda(cudaEventDestroy(begin), "an event");
  checkCuda(cudaEventDestroy(end), "an event");
  checkCuda(cudaGraphExecDestroy(replay), "a graph");
  checkCuda(cudaGraphDestroy(graph), "a graph");
  checkCuda(cudaStreamDestroy(stream), "a stream");
  std::sort(times.begin(), times.end());
  return times[replays / 2];
}

/// Random bits, the same for a number in every run.
__device__ inline unsigned long long randomBits(size_t number) {
  unsigned long long bits = (number + 1) * 0x9E3779B97F4A7C15ull;
  bits = (bits ^ bits >> 30) * 0xBF58476D1CE4E5B9ull;
  bits = (bits ^ bits >> 27) * 0x94D049BB133111EBull;
  return bits ^ bits >> 31;
}

/// A program that checks or times what its argument says. `report` prints the
/// results of the checks, and returns the status.
template <typename Check, typename Times, typename Report>
int runProgram(const char *name, int argc, char **argv, Check check,
               Times times, Report report) {
  const std::string what = argc == 2 ? argv[1] : "";
  if (what != "check" && what != "small" && what != "times") {
    fprintf(stderr, "usage: %s check|small|times\n", name);
    return 2;
  }
  cudaDeviceProp properties;
  checkCuda(cudaGetDeviceProperties(&properties, 0), "device 0");
  printf("%s, %d SMs\n", properties.name, properties.multiProcessorCount);
  if (what == "times") {
    times();
    return 0;
  }
  check(what == "small");
  return report();
}

} // namespace device_bench
