//===- main.cpp - dsv4 in a C++ program -----------------------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Decodes two NVFP4 rows. Compile once, bind the arguments once, and launch on
// a stream of your own. With the CUDA toolkit it runs on the GPU, in managed
// memory; without it the same program runs on the host target, which needs g++.
//
//   embed_cpp examples/dequant_nvfp4.mlir
//
//===----------------------------------------------------------------------===//

#include <dsv4.hpp>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

#ifdef EMBED_CUDA
#include <cuda_runtime_api.h>
static void *allocateManaged(size_t bytes) {
  void *memory = nullptr;
  return cudaMallocManaged(&memory, bytes) ? nullptr : memory;
}
static bool hasGPU(dsv4::Runtime &runtime) {
  try {
    return runtime.deviceCount() > 0;
  } catch (const dsv4::Error &) {
    return false;
  }
}
static bool waitForGPU() { return !cudaStreamSynchronize(nullptr); }
#else
static void *allocateManaged(size_t) { return nullptr; }
static bool hasGPU(dsv4::Runtime &) { return false; }
static bool waitForGPU() { return true; }
#endif

/// Memory that the kernel and this program both see.
template <typename T>
static T *filled(bool onGPU, size_t count, T value) {
  const size_t bytes = (count * sizeof(T) + 255) / 256 * 256;
  T *memory = static_cast<T *>(onGPU ? allocateManaged(bytes)
                                     : std::aligned_alloc(256, bytes));
  if (!memory)
    throw std::bad_alloc();
  std::fill_n(memory, count, value);
  return memory;
}

static int run(const char *path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  if (!file) {
    std::fprintf(stderr, "embed_cpp: %s cannot be read\n", path);
    return 1;
  }

  // Once, when the engine starts.
  dsv4::Runtime runtime;
  const bool onGPU = hasGPU(runtime);
  dsv4::CompileOptions options;
  options.target = onGPU ? DSV4_TARGET_CUDA : DSV4_TARGET_HOST;
  options.sourceName = path;
  dsv4::Program program = runtime.compile(text.str(), options);

  // Two rows of 512. Every value is 1 (two codes 2 per byte) times 0.5 (E4M3
  // 0x30) times 3 for the first row and 4 for the second.
  const int64_t rows = 2;
  auto *data = filled<uint8_t>(onGPU, rows * 256, 0x22);
  auto *scales = filled<uint8_t>(onGPU, rows * 32, 0x30);
  auto *global = filled<float>(onGPU, rows, 3);
  auto *out = filled<uint16_t>(onGPU, rows * 512, 0);
  global[1] = 4;

  // Once per layer.
  dsv4::Block block = program.bind({{data, {rows, 256}},
                                    {scales, {rows, 32}},
                                    {global, {rows}},
                                    {out, {rows, 512}}});

  // In the request path: this line alone.
  block.launch();

  if (onGPU && !waitForGPU()) {
    std::fprintf(stderr, "embed_cpp: the device failed\n");
    return 1;
  }
  // 1.5 and 2 in bf16.
  const bool right =
      out[0] == 0x3FC0 && out[511] == 0x3FC0 && out[512] == 0x4000;
  std::printf("row 0 is 0x%04x, row 1 is 0x%04x: %s\n", out[0], out[512],
              right ? "right" : "wrong");
  return right ? 0 : 1;
}

int main(int argc, char **argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: embed_cpp dequant_nvfp4.mlir\n");
    return 1;
  }
  try {
    return run(argv[1]);
  } catch (const std::exception &error) {
    std::fprintf(stderr, "embed_cpp: %s\n", error.what());
    return 1;
  }
}
