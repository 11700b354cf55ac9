//===- LevelsTest.cpp - The JIT compiles programs, not kernels ------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Programs.h"
#include "Testing.h"

#include "llvm/ADT/StringRef.h"

using namespace dsv4;
using namespace dsv4::test;

// Nobody checks the memory that a row program or a kernel addresses, so a
// stranger must not bring one along.
TEST(LevelsTest, OnlyWhatAModelSays) {
  Gather gather;
  gather.record = {"v4_584", "#dsv4.record<v4_584>", 512};
  auto emitted = emitProgram(gather.getText(), "gather.mlir", {}, "cuda",
                             "sm_90a", ListingForm::Including);
  ASSERT_TRUE(emitted) << emitted.status().message();
  unsigned programs = 0, others = 0;
  for (const auto &[name, text] : emitted->listing.files) {
    if (!llvm::StringRef(name).ends_with(".mlir"))
      continue;
    auto again = emitProgram(text, name, {}, "cuda", "sm_90a");
    bool isRefused =
        !again && again.status().message().find(
                      "cannot be part of a program: expected ops of dsv4, "
                      "func, arith and tensor") != std::string::npos;
    bool isLower = text.find("scf.") != std::string::npos ||
                   text.find("gpu.") != std::string::npos;
    EXPECT_EQ(isRefused, isLower) << name << again.status().message();
    ++(isLower ? others : programs);
  }
  EXPECT_GE(programs, 3u);
  EXPECT_GE(others, 5u);
}

TEST(LevelsTest, CallsAreRefused) {
  for (const char *op :
       {"func.call @g() : () -> ()", "%f = func.constant @g : () -> ()"}) {
    std::string text =
        "func.func private @g() { return }\n"
        "func.func @f(%x: tensor<4x64xbf16>, %o: tensor<4x64xbf16>)"
        " -> tensor<4x64xbf16> {\n  " +
        std::string(op) +
        "\n  %v = dsv4.rms_norm %x outs(%o : tensor<4x64xbf16>) {eps = 1.0e-06 "
        ": f32} : tensor<4x64xbf16>\n  return %v : tensor<4x64xbf16>\n}\n";
    CompileOptions options;
    options.entry = "f";
    auto emitted = emitProgram(text, "f.mlir", options, "cuda", "sm_90a");
    ASSERT_FALSE(emitted) << text;
    EXPECT_NE(emitted.status().message().find(
                  "cannot be part of a program: inline the called function"),
              std::string::npos)
        << emitted.status().message();
  }
}

TEST(LevelsTest, OpsOfAProgram) {
  std::string text =
      "func.func @f(%x: tensor<4x64xbf16>, %o: tensor<4x64xbf16>)"
      " -> tensor<4x64xbf16> {\n";
  for (unsigned i = 0; i < 5000; ++i)
    text += "  %c" + std::to_string(i) + " = arith.constant 1 : index\n";
  text +=
      "  %v = dsv4.rms_norm %x outs(%o : tensor<4x64xbf16>) {eps = 1.0e-06 : "
      "f32} : tensor<4x64xbf16>\n  return %v : tensor<4x64xbf16>\n}\n";
  auto emitted = emitProgram(text, "f.mlir", {}, "cuda", "sm_90a");
  ASSERT_FALSE(emitted);
  EXPECT_NE(emitted.status().message().find("more than 1024 ops"),
            std::string::npos)
      << emitted.status().message();
}
