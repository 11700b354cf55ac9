//===- EmissionTest.cpp - Emitted text is CUDA C++ everywhere -------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiles what is emitted by NVRTC, for every architecture; needs no GPU. A
// warning is a failure, and so is local memory: a spilled register, or an array
// that ptxas does not keep in registers.
//
//===----------------------------------------------------------------------===//

#include "Programs.h"
#include "Testing.h"
#include "Writers.h"

#include "dsv4/JIT/NVRTC.h"
#include "dsv4/Target/CUDA/Prelude.h"

#include "llvm/ADT/STLExtras.h"

#include <cstdio>

using namespace dsv4;
using namespace dsv4::test;

namespace {

/// What is wrong with a program for `arch`, or an empty string.
std::string explainEmission(const jit::NVRTC &nvrtc, const std::string &name,
                            const std::string &text, const std::string &arch) {
  std::string where = name + " for " + arch + ": ";
  auto emitted = emitProgram(text, name + ".mlir", {}, "cuda", arch);
  if (!emitted)
    return where + emitted.status().message();
  if (emitted->texts.size() != 1)
    return where + std::to_string(emitted->texts.size()) + " kernels";
  for (auto [kernel, headers] :
       llvm::zip_equal(emitted->texts, emitted->headers)) {
    std::string log;
    auto output = nvrtc.compile(rt::cudaPrelude(headers) + kernel, "kernel.cu",
                                arch, {}, &log);
    if (!output)
      return where + output.status().message() + "\n" + kernel;
    if (log.find("warning") != std::string::npos)
      return where + log + "\n" + kernel;
    if (output->stackBytes)
      return where + std::to_string(output->stackBytes) +
             " bytes of local memory";
  }
  return "";
}

class EmissionTest : public testing::Test {
protected:
  void SetUp() override {
    auto opened = jit::NVRTC::get();
    if (!opened)
      GTEST_SKIP() << "skipped: no NVRTC";
    nvrtc = *opened;
  }

  void add(const std::string &name, const std::string &text,
           const std::string &arch) {
    jobs.push_back([this, name, text, arch] {
      return explainEmission(*nvrtc, name, text, arch);
    });
  }
  void run() {
    runAll(jobs);
    std::printf("%zu texts\n", jobs.size());
  }

  static constexpr const char *archs[] = {"sm_80", "sm_90a", "sm_100a",
                                          "sm_120a"};
  const jit::NVRTC *nvrtc = nullptr;
  std::vector<std::function<std::string()>> jobs;
};

constexpr const char *EmissionTest::archs[];

} // namespace

TEST_F(EmissionTest, KnownRecords) {
  for (const Record &record : getKnownRecords())
    for (const char *arch : archs) {
      Gather gather;
      gather.record = record;
      gather.table = Table::PerRequest;
      gather.lengths = gather.mask = true;
      add(gather.getName(), gather.getText(), arch);
    }
  run();
}

// The architectures take turns.
TEST_F(EmissionTest, OwnRecords) {
  std::mt19937_64 random(getSeed());
  for (const Record &record : getOwnRecords()) {
    Gather gather = Gather::draw(record, 64, random);
    if (gather.policy == Policy::Exact)
      gather.policy = Policy::Bucket;
    add(gather.getName(), gather.getText(), archs[jobs.size() % 4]);
  }
  run();
}

TEST_F(EmissionTest, Dequantize) {
  std::vector<Dequantize> all = getDequantizes();
  for (size_t i = 0; i < all.size(); i += 3)
    add(all[i].getName(), all[i].getText(), archs[i % 4]);
  run();
}

// One kernel that pools segments of windows, alone and at the head of a chain.
TEST_F(EmissionTest, Online) {
  std::mt19937_64 random(getSeed());
  for (const char *arch : archs) {
    for (int64_t channels : {512, 128, 20, 2048}) {
      Compressor op = Compressor::drawOnline(channels, random);
      add(op.getName(), op.getText(), arch);
    }
    for (const Record &record : getKnownRecords())
      if (record.name == "v4_584" || record.name == "index_fp8_132") {
        Chain chain = *Chain::draw(record, random);
        chain.slots = Slots();
        chain.compress = Compressor::drawOnline(record.rowExtent, random);
        chain.compress->result = chain.input;
        add(chain.getName(), chain.getText(), arch);
      }
  }
  run();
}

// Names that CUDA C++ has already.
TEST_F(EmissionTest, Names) {
  Gather gather;
  gather.record = {"v4_584", "#dsv4.record<v4_584>", 512};
  const std::string text = gather.getText();
  auto replaced = [&](const std::string &from, const std::string &to) {
    std::string copy = text;
    copy.replace(copy.find(from), from.size(), to);
    return copy;
  };
  for (const char *name : {"main", "printf", "expf", "memcpy", "malloc",
                           "threadIdx", "float4", "while", "dsv4", "__ldg"})
    add(name, replaced("@gather", std::string("@") + name), "sm_90a");
  for (const char *name : {"NULL", "INFINITY", "assert", "and", "asm", "row",
                           "warpSize", "blockIdx", "min", "gather"})
    add(name,
        replaced("dsv4.name = \"i\"",
                 std::string("dsv4.name = \"") + name + "\""),
        "sm_90a");
  run();
}

// A kernel with checks prints, which needs no declaration.
TEST_F(EmissionTest, Checks) {
  auto emitted = emitProgram(
      R"(func.func @f(%x: tensor<?x4xbf16>, %i: tensor<?xi32>,
                      %c: !dsv4.cache<2 x <[<"v" : 4 x bf16 in row>]>>) {
           dsv4.paged_append %c[%i] unique fields(%x : tensor<?x4xbf16>)
               : !dsv4.cache<2 x <[<"v" : 4 x bf16 in row>]>>, tensor<?xi32>
           return
         })",
      "checks.mlir", {}, "cuda", "sm_90a");
  ASSERT_TRUE(emitted) << emitted.status().message();
  std::string text =
      rt::cudaPrelude(emitted->headers.front()) + emitted->texts.front();
  auto plain = nvrtc->compile(text, "kernel.cu", "sm_90a");
  auto checked =
      nvrtc->compile(text, "kernel.cu", "sm_90a", {"-DDSV4_CHECKED"});
  ASSERT_TRUE(plain) << plain.status().message();
  ASSERT_TRUE(checked) << checked.status().message();
  EXPECT_EQ(plain->ptx.find("vprintf"), std::string::npos);
  EXPECT_NE(checked->ptx.find("vprintf"), std::string::npos);
}

// What others read must be there when they are told: the arrival itself orders
// nothing, and no other machine than a GPU would show it.
TEST_F(EmissionTest, ArrivalsThatShowTheOwnMemory) {
  auto output = nvrtc->compile(rt::cudaPrelude() + R"(
extern "C" __global__ void __cluster_dims__(2, 1, 1) f() {
  dsv4::cluster_arrive_own<2>();
  dsv4::cluster_wait<2>();
})",
                               "kernel.cu", "sm_90a");
  ASSERT_TRUE(output) << output.status().message();
  const std::string &ptx = output->ptx;
  const size_t fence =
      ptx.find("fence.release.sync_restrict::shared::cta.cluster");
  const size_t arrival = ptx.find("barrier.cluster.arrive.relaxed");
  ASSERT_NE(arrival, std::string::npos);
  EXPECT_LT(fence, arrival);
}
