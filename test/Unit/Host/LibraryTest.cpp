//===- LibraryTest.cpp - The device library on the host -------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HostTesting.h"

#include <vector>

using namespace dsv4::rt;
using namespace dsv4::rt::test;

namespace {

/// Runs `body` in one thread with `in` and `out` of 16-byte aligned memory.
struct OneThread {
  alignas(16) unsigned char in[256];
  alignas(16) unsigned char out[256];

  OneThread() {
    for (unsigned i = 0; i < 256; ++i) {
      in[i] = 7 * i + 1;
      out[i] = 0xEE;
    }
  }
  void run(const std::string &body) {
    auto kernel =
        loadKernel("extern \"C\" __global__ void __launch_bounds__(128)\n"
                   "body(const unsigned char *__restrict__ in, "
                   "unsigned char *__restrict__ out) {\n"
                   "  using namespace dsv4;\n" +
                       body + "}\n",
                   "body");
    if (!kernel)
      return;
    Status status = launch(*kernel, 1, 1, 0, (void *)in, (void *)out);
    EXPECT_TRUE(status.ok()) << status.message();
  }
  /// What `count` bytes of the output must be, from there to there.
  void expectCopied(unsigned to, unsigned from, unsigned count) const {
    for (unsigned i = 0; i < count; ++i)
      EXPECT_EQ(out[to + i], in[from + i]) << to + i;
  }
  void expectUntouched(unsigned begin, unsigned end) const {
    for (unsigned i = begin; i < end; ++i)
      EXPECT_EQ(out[i], 0xEE) << i;
  }
};

} // namespace

TEST(DeviceLibrary, LoadAndStoreEveryWidth) {
  for (int count : {1, 2, 3, 4, 6, 7, 8, 12, 16, 24, 31, 32}) {
    OneThread memory;
    const std::string vec = "Vec<e4m3, " + std::to_string(count) + ">";
    memory.run("  store(out, load<" + vec + ">(in));\n");
    memory.expectCopied(0, 0, count);
    memory.expectUntouched(count, 256);
  }
}

TEST(DeviceLibrary, LoadAndStoreEveryAlignment) {
  for (int align : {1, 2, 4, 8, 16}) {
    OneThread memory;
    const std::string text = std::to_string(align);
    memory.run("  store<" + text + ">(out + " + text +
               ", load<Vec<e4m3, 32>, " + text + ">(in + 3 * " + text +
               "));\n");
    memory.expectCopied(align, 3 * align, 32);
    memory.expectUntouched(0, align);
    memory.expectUntouched(align + 32, 256);
  }
}

/// The kernel `ask`, which says to `told` what it leaves out; null, and a
/// failure of the test, if it cannot be loaded.
static std::unique_ptr<HostKernel> loadAsking(const std::string &text,
                                              std::vector<std::string> &told) {
  Result<std::string> image =
      compileHost(hostPrelude() + text + hostEpilogue("ask"));
  EXPECT_TRUE(image) << image.status().message();
  if (!image)
    return nullptr;
  auto kernel =
      HostKernel::load(*image, "ask", {}, [&](const std::string &message) {
        told.push_back(message);
      });
  EXPECT_TRUE(kernel) << kernel.status().message();
  return kernel ? std::move(*kernel) : nullptr;
}

// What nobody asked for is not told; the rest once a launch.
TEST(DeviceLibrary, EntriesBeyondThePoolAreTold) {
  std::vector<std::string> told;
  auto kernel = loadAsking(
      "extern \"C\" __global__ void ask(unsigned char *to, int pages) {\n"
      "  const long long page = (int)threadIdx.x - 1;\n"
      "  to[threadIdx.x] = dsv4::in_pool(page >= 0 && page != 2, page, "
      "pages);\n"
      "}\n",
      told);
  ASSERT_TRUE(kernel);
  unsigned char to[6];
  ASSERT_TRUE(launch(*kernel, 1, 6, 0, &to[0], 3).ok());
  EXPECT_EQ((std::vector<int>(to, to + 6)),
            (std::vector<int>{0, 1, 1, 0, 0, 0}));
  EXPECT_EQ(told, (std::vector<std::string>{
                      "kernel 'ask': entries beyond the pool were not written, "
                      "the lowest in page 3 of a pool of 3 pages"}));
  told.clear();
  ASSERT_TRUE(launch(*kernel, 1, 6, 0, &to[0], 5).ok());
  EXPECT_EQ(to[5], 1);
  EXPECT_TRUE(told.empty());
}

// A pool does not hide another of a different size.
TEST(DeviceLibrary, EntriesBeyondTwoPoolsAreTold) {
  std::vector<std::string> told;
  auto kernel = loadAsking(
      "extern \"C\" __global__ void ask(unsigned char *to, int pages) {\n"
      "  to[threadIdx.x] = dsv4::in_pool(true, 9 - (int)threadIdx.x, pages) +\n"
      "                    dsv4::in_pool(true, (int)threadIdx.x, pages - 1);\n"
      "}\n",
      told);
  ASSERT_TRUE(kernel);
  unsigned char to[6];
  ASSERT_TRUE(launch(*kernel, 1, 6, 0, &to[0], 5).ok());
  const std::string what =
      "kernel 'ask': entries beyond the pool were not written, the lowest in ";
  EXPECT_EQ(told,
            (std::vector<std::string>{what + "page 4 of a pool of 4 pages",
                                      what + "page 5 of a pool of 5 pages"}));
}

TEST(DeviceLibrary, LoadIfReadsNothingWhenFalse) {
  OneThread memory;
  memory.run("  store(out, load_if<Vec<bf16, 8>>(false, nullptr));\n"
             "  store(out + 16, load_if<Vec<bf16, 8>>(true, in + 32));\n");
  for (int i = 0; i < 16; ++i)
    EXPECT_EQ(memory.out[i], 0);
  memory.expectCopied(16, 32, 16);
  memory.expectUntouched(32, 256);
}

TEST(DeviceLibrary, TilesAreStrided) {
  OneThread memory;
  memory.run("  store_streaming(out, load<Tile<bf16, 3, 4>>(in, 16), 32);\n");
  for (int step = 0; step < 3; ++step) {
    memory.expectCopied(32 * step, 16 * step, 8);
    memory.expectUntouched(32 * step + 8, 32 * step + 32);
  }
}

TEST(DeviceLibrary, SliceAndSwapNibbles) {
  OneThread memory;
  memory.run("  store(out, slice<3, 8>(load<Vec<e4m3, 16>>(in)));\n"
             "  store(out + 8, swap_nibbles(load<Vec<e2m1, 16>>(in)));\n");
  memory.expectCopied(0, 3, 8);
  for (int i = 0; i < 8; ++i)
    EXPECT_EQ(memory.out[8 + i],
              (memory.in[i] << 4 | memory.in[i] >> 4) & 0xFF);
}

TEST(DeviceLibrary, ExpandAndRepeat) {
  OneThread memory;
  // Two steps of two groups: 1 2 | 3 4.
  const float groups[] = {1, 2, 3, 4};
  std::memcpy(memory.in, groups, sizeof(groups));
  memory.run("  store(out, expand<4>(load<Tile<float, 2, 2>>(in, 8)), 16);\n"
             "  store(out + 32, repeat<2, 4>(load<Vec<float, 2>>(in)), 16);\n");
  const float expected[] = {1, 1, 2, 2, 3, 3, 4, 4, 1, 1, 1, 1, 2, 2, 2, 2};
  float out[16];
  std::memcpy(out, memory.out, sizeof(out));
  for (int i = 0; i < 16; ++i)
    EXPECT_EQ(out[i], expected[i]) << i;
}

TEST(DeviceLibrary, PermuteBytes) {
  OneThread memory;
  memory.run("  const unsigned a = 0x33221100u, b = 0x77665544u;\n"
             "  ((unsigned *)out)[0] = permute_bytes(a, b, 0x3210);\n"
             "  ((unsigned *)out)[1] = permute_bytes(a, b, 0x0527);\n"
             "  ((unsigned *)out)[2] = permute_bytes(a, ~b, 0xC82F);\n");
  uint32_t out[3];
  std::memcpy(out, memory.out, sizeof(out));
  EXPECT_EQ(out[0], 0x33221100u);
  EXPECT_EQ(out[1], 0x00552277u);
  // ~b is 0x8899AABB. From below: the sign of its last byte, byte 2 of a, the
  // sign of byte 0 of a, the sign of byte 0 of ~b.
  EXPECT_EQ(out[2], 0xFF0022FFu);
}

TEST(DeviceLibrary, MisalignedAccessIsReported) {
  auto kernel = loadKernel(
      "extern \"C\" __global__ void shifted(const char *from, char *to) {\n"
      "  using namespace dsv4;\n"
      "  store(to, load<Vec<bf16, 8>>(from + 4 * threadIdx.x));\n"
      "}\n",
      "shifted");
  ASSERT_TRUE(kernel);
  alignas(16) char from[64] = {}, to[64];
  Status status = launch(*kernel, 1, 2, 0, (char *)from, (char *)to);
  EXPECT_EQ(status.code(), Code::LaunchFailed);
  char address[32];
  std::snprintf(address, sizeof(address), "0x%08llX",
                (unsigned long long)(uintptr_t)(from + 4));
  EXPECT_EQ(status.message(),
            "kernel 'shifted': block 0, thread 1: 16-byte load at " +
                std::string(address) + ", which is not aligned to 16 bytes");

  status = launch(*kernel, 1, 1, 0, (char *)from, (char *)to + 8);
  EXPECT_NE(status.message().find("thread 0: 16-byte store at 0x"),
            std::string::npos)
      << status.message();
}

// The epilogue finds the types of the parameters by itself.
TEST(HostEntry, ParametersOfEveryKind) {
  auto kernel = loadKernel(
      "extern \"C\" __global__ void __launch_bounds__(128)\n"
      "sum(const int *__restrict__ in, long long offset, int scale, bool "
      "twice,\n"
      "    unsigned char small, double real, float *__restrict__ out) {\n"
      "  if (threadIdx.x == 0)\n"
      "    out[blockIdx.x] = in[blockIdx.x + offset] * scale * (twice ? 2 : 1) "
      "+\n"
      "                      small + real + blockDim.x + gridDim.x;\n"
      "}\n",
      "sum");
  ASSERT_TRUE(kernel);
  const std::vector<int> in = {1, 2, 3, 4, 5};
  std::vector<float> out(3);
  Status status = launch(*kernel, 3, 128, 0, in.data(), int64_t(2), int32_t(10),
                         true, (unsigned char)200, 0.5, out.data());
  ASSERT_TRUE(status.ok()) << status.message();
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(out[i], in[i + 2] * 20 + 200 + 0.5f + 128 + 3);
}
