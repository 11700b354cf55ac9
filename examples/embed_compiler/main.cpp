//===- main.cpp - dsv4 with its compiler in a C++ program -----------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Decodes two NVFP4 rows. Compile once, keep the kernel, launch it on a stream
// of your own: the launch neither allocates nor waits. With a GPU the buffers
// are device memory; without one the same program runs on the host target.
//
//   build/release/bin/dsv4-example-embed-compiler examples/dequant_nvfp4.mlir
//
//===----------------------------------------------------------------------===//

#include "dsv4/JIT/JIT.h"

#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>
#include <vector>

static int fail(const dsv4::rt::Status &status) {
  std::fprintf(stderr, "embed_compiler: %s\n", status.message().c_str());
  return 1;
}

int main(int argc, char **argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: embed_compiler dequant_nvfp4.mlir\n");
    return 1;
  }
  std::ifstream file(argv[1]);
  std::stringstream source;
  source << file.rdbuf();
  if (!file) {
    std::fprintf(stderr, "embed_compiler: %s cannot be read\n", argv[1]);
    return 1;
  }

  // Once, when the engine starts.
  dsv4::SessionOptions options;
  auto session = dsv4::Session::create(options);
  if (!session)
    return fail(session.status());
  auto kernel = (*session)->compile(source.str(), argv[1], {});
  if (!kernel)
    return fail(kernel.status());

  // Two rows of 512: every value is 1 (code 2, two per byte) times 0.5 (E4M3
  // 0x30) times 3 for the first row and 4 for the second.
  const int64_t rows = 2;
  std::vector<uint8_t> data(rows * 256, 0x22), scales(rows * 32, 0x30);
  std::vector<float> global = {3, 4};
  std::vector<uint16_t> out(rows * 512);
  struct {
    void *host;
    size_t bytes;
  } buffers[] = {{data.data(), data.size()},
                 {scales.data(), scales.size()},
                 {global.data(), global.size() * 4},
                 {out.data(), out.size() * 2}};
  const int64_t shapes[4][2] = {
      {rows, 256}, {rows, 32}, {rows, 0}, {rows, 512}};

  dsv4::rt::Driver *driver = (*session)->driver();
  dsv4::rt::Stream stream = nullptr;
  dsv4::rt::Argument arguments[4];
  for (int i = 0; i < 4; ++i)
    arguments[i] = {buffers[i].host, shapes[i]};
  if (driver) {
    auto created = driver->createStream();
    if (!created)
      return fail(created.status());
    stream = *created;
    for (int i = 0; i < 4; ++i) {
      auto memory = driver->allocate(buffers[i].bytes);
      if (!memory)
        return fail(memory.status());
      arguments[i].data = *memory;
      if (auto status = driver->copyToDevice(*memory, buffers[i].host,
                                             buffers[i].bytes, stream);
          !status)
        return fail(status);
    }
  }

  // In the request path: this line alone.
  if (auto status = (*kernel)->launch(stream, arguments, 4); !status)
    return fail(status);

  if (driver) {
    if (auto status = driver->copyToHost(out.data(), arguments[3].data,
                                         out.size() * 2, stream);
        !status)
      return fail(status);
    if (auto status = driver->synchronize(stream); !status)
      return fail(status);
  }
  // 1.5 and 2 in bf16.
  bool right = out[0] == 0x3FC0 && out[511] == 0x3FC0 && out[512] == 0x4000;
  std::printf("%s: row 0 is 0x%04x, row 1 is 0x%04x: %s\n",
              (*session)->target().c_str(), out[0], out[512],
              right ? "right" : "wrong");
  return right ? 0 : 1;
}
