//===- dsv4-nvrtc-check.cpp - Is this CUDA C++? ---------------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads emitted text from the standard input and compiles it after the device
// library for every architecture named on the command line, or as it is with
// --self-contained. Needs no GPU. A
// kernel that waits for the launch before may have no load that is said to be
// read-only, since ptxas moves it above the wait. No kernel may have local
// memory, but for the bytes that --max-stack allows the architectures after it.
// No product of a warpgroup may wait for the one before it, which ptxas decides
// where it cannot prove that the registers are left alone meanwhile.
//
//===----------------------------------------------------------------------===//

#include "dsv4/JIT/NVRTC.h"
#include "dsv4/Target/CUDA/Prelude.h"

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

int main(int argc, char **argv) {
  bool isWhole = false;
  unsigned long maxStack = 0;
  // Each with the bytes of local memory that it may have.
  std::vector<std::pair<std::string, unsigned long>> archs;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i], stack = "--max-stack=";
    if (argument == "--self-contained")
      isWhole = true;
    else if (argument.rfind(stack, 0) == 0)
      maxStack = std::strtoul(argv[i] + stack.size(), nullptr, 10);
    else
      archs.push_back({argument, maxStack});
  }
  if (archs.empty()) {
    std::fprintf(stderr,
                 "usage: %s [--self-contained] {[--max-stack=BYTES] sm_90a}... "
                 "< kernel.cu\n",
                 argv[0]);
    return 2;
  }
  std::string text{std::istreambuf_iterator<char>(std::cin),
                   std::istreambuf_iterator<char>()};
  if (text.find("__global__") == std::string::npos) {
    std::fprintf(stderr, "error: the standard input holds no kernel\n");
    return 1;
  }
  auto nvrtc = dsv4::jit::NVRTC::get();
  if (!nvrtc) {
    std::fprintf(stderr, "error: %s\n", nvrtc.status().message().c_str());
    return 1;
  }
  std::string source = isWhole ? text : dsv4::rt::cudaPrelude() + text;
  bool good = true;
  for (const auto &[arch, allowed] : archs) {
    std::string log;
    auto output = (*nvrtc)->compile(source, "kernel.cu", arch, {}, &log);
    if (!output) {
      std::printf("%s: error: %s\n%s", arch.c_str(),
                  output.status().message().c_str(), log.c_str());
      good = false;
      continue;
    }
    if (text.find("wait_for_previous_kernel") != std::string::npos &&
        output->ptx.find("ld.global.nc") != std::string::npos) {
      std::printf("%s: error: a read-only load in a kernel that waits\n",
                  arch.c_str());
      good = false;
      continue;
    }
    // The numbers of all that ptxas says of products of warpgroups.
    if (log.find("(C75") != std::string::npos) {
      std::printf("%s: error: %s", arch.c_str(), log.c_str());
      good = false;
      continue;
    }
    if (output->stackBytes > allowed) {
      std::printf("%s: error: %u bytes of local memory\n", arch.c_str(),
                  output->stackBytes);
      good = false;
      continue;
    }
    std::printf("%s: ok, %u registers\n", arch.c_str(), output->registers);
    // ptxas talks of resources in the log; the compiler only of problems.
    if (log.find("warning") != std::string::npos) {
      std::printf("%s: %s", arch.c_str(), log.c_str());
      good = false;
    }
  }
  return good ? 0 : 1;
}
