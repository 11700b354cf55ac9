//===- ProgramTest.cpp - Programs as JSON ---------------------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Samples.h"

#include <gtest/gtest.h>

using namespace dsv4::rt;
using namespace dsv4::rt::test;

namespace {

/// Replaces the first `from` in the sample's JSON and returns the error.
std::string errorAfter(const std::string &from, const std::string &to) {
  std::string text = gatherInfo().toJSON();
  size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  if (at == std::string::npos)
    return "";
  text.replace(at, from.size(), to);
  Result<ProgramInfo> info = ProgramInfo::fromJSON(text);
  EXPECT_FALSE(info.ok()) << text;
  EXPECT_EQ(info.status().message().find('\n'), std::string::npos);
  return info.status().message();
}

std::string errorOf(const ProgramInfo &info) {
  Status status = info.validate();
  EXPECT_FALSE(status.ok());
  EXPECT_EQ(ProgramInfo::fromJSON(info.toJSON()).status().message(),
            status.message());
  return status.message();
}

TEST(Program, JSONIsCanonical) {
  ProgramInfo info = gatherInfo();
  info.bindings.resize(2);
  info.kernels[0].parameters = {{Parameter::Kind::Int32, 1}};
  info.dims.resize(2);
  info.bindings[0].shape = {constant(64)};
  info.kernels[0].cluster = 2;
  info.kernels[0].parts = 3;
  info.kernels[0].workspaceBytesPerRow = 48;
  EXPECT_EQ(
      info.toJSON(),
      R"({"name":"gather","target":"host","arch":"x86_64","bindings":[)"
      R"({"name":"cache","storage":"u8","element":"u8","shape":[64],)"
      R"("written":false,"alignment":128},)"
      R"({"name":"indices","storage":"i32","element":"i32",)"
      R"("shape":[{"dim":0},{"dim":1}],"written":false,"alignment":4}],)"
      R"("dims":[{"name":"tokens","binding":1,"axis":0,"max":2147483647,"multiple":1},)"
      R"({"name":"topk","binding":1,"axis":1,"max":2147483647,"multiple":1}],)"
      R"("kernels":[{"symbol":"gather_k0","schedule":"threads=128 rows=4",)"
      R"("threads":128,"rowsPerBlock":4,"cluster":2,"parts":3,)"
      R"("rows":[{"dim":0},{"dim":1}],)"
      R"("sharedBytes":1024,"programmaticLaunch":true,)"
      R"("workspaceBytesPerRow":48,)"
      R"("parameters":[{"kind":"int32","index":1}],)"
      R"("registers":32,"spillBytes":0}]})");
}

TEST(Program, RoundTrip) {
  for (const char *target : {"cuda", "host"}) {
    ProgramInfo info = gatherInfo(target);
    info.name = "odd \"name\"\n\\ \xc3\xa9";
    info.dims[2].max = INT64_MAX;
    Result<ProgramInfo> back = ProgramInfo::fromJSON(info.toJSON());
    ASSERT_TRUE(back.ok()) << back.status().message();
    EXPECT_EQ(back->name, info.name);
    EXPECT_EQ(back->dims[2].max, INT64_MAX);
    EXPECT_EQ(back->kernels[0].parameters[5].kind, Parameter::Kind::Int64);
    EXPECT_EQ(back->toJSON(), info.toJSON());
  }
}

TEST(Program, NamesThatAreNotUnicodeAreRepaired) {
  ProgramInfo info = gatherInfo();
  info.name = "\xff\xfe";
  EXPECT_TRUE(ProgramInfo::fromJSON(info.toJSON()).ok());
}

TEST(Program, EveryTruncationIsAnError) {
  std::string text = gatherInfo().toJSON();
  for (size_t length = 0; length < text.size(); ++length)
    EXPECT_FALSE(ProgramInfo::fromJSON(text.substr(0, length)).ok());
}

TEST(Program, AnyByteChangeIsReadOrRefused) {
  std::string text = gatherInfo().toJSON();
  for (size_t i = 0; i < text.size(); ++i)
    for (char c : {'\0', '0', '9', '-', '"', '[', '}', '\xff'}) {
      std::string changed = text;
      changed[i] = c;
      Result<ProgramInfo> info = ProgramInfo::fromJSON(changed);
      EXPECT_TRUE(!info.ok() || info->validate().ok());
    }
}

TEST(Program, DeepNestingIsRefused) {
  EXPECT_EQ(ProgramInfo::fromJSON(std::string(1000000, '[')).status().message(),
            "program: JSON nested too deeply");
}

TEST(Program, WrongTypes) {
  EXPECT_EQ(ProgramInfo::fromJSON("[]").status().message(),
            "program is not an object");
  EXPECT_EQ(errorAfter(R"("kernels":[{)", R"("kernels":[3,{)"),
            "program: kernels[0] is not an object");
  EXPECT_EQ(errorAfter(R"("name":"gather",)", ""), "program: name is missing");
  EXPECT_EQ(errorAfter(R"("threads":128)", R"("threads":"x")"),
            "program: kernels[0].threads is not an integer in range");
  EXPECT_EQ(errorAfter(R"("threads":128)", R"("threads":4294967296)"),
            "program: kernels[0].threads is not an integer in range");
  EXPECT_EQ(errorAfter(R"("threads":128)", R"("threads":-1)"),
            "program: kernels[0].threads is not an integer in range");
  EXPECT_EQ(errorAfter(R"("storage":"u8")", R"("storage":"f64")"),
            "program: bindings[0].storage is not a known spelling");
  EXPECT_EQ(errorAfter(R"("written":false)", R"("written":0)"),
            "program: bindings[0].written is not true or false");
  EXPECT_EQ(errorAfter(R"({"dim":2})", R"({"dam":2})"),
            "program: bindings[0].shape[0].dim is missing");
  EXPECT_EQ(errorAfter(R"("kind":"buffer")", R"("kind":"lambda")"),
            "program: kernels[0].parameters[0].kind is not a known spelling");
  EXPECT_EQ(errorAfter("\"shape\":[{\"dim\":2}",
                       "\"shape\":[1,1,1,1,1,1,{\"dim\":2}"),
            "program: bindings[0].shape is not an array of at most 8");
}

TEST(Program, Workspaces) {
  ProgramInfo info = gatherInfo();
  KernelInfo &kernel = info.kernels[0];
  kernel.parameters.push_back({Parameter::Kind::Workspace, 0});
  EXPECT_EQ(errorOf(info), "program: kernel 'gather_k0': 1 parameters for a "
                           "workspace of 0 bytes a row");
  kernel.workspaceBytesPerRow = 24;
  EXPECT_EQ(errorOf(info), "program: kernel 'gather_k0': a row's workspace "
                           "must be a multiple of 16 bytes below 2^31");
  kernel.workspaceBytesPerRow = uint32_t(1) << 31;
  EXPECT_EQ(errorOf(info), "program: kernel 'gather_k0': a row's workspace "
                           "must be a multiple of 16 bytes below 2^31");
  kernel.workspaceBytesPerRow = 32;
  kernel.parameters.push_back({Parameter::Kind::Workspace, 0});
  EXPECT_EQ(errorOf(info), "program: kernel 'gather_k0': 2 parameters for a "
                           "workspace of 32 bytes a row");
  kernel.parameters.resize(kernel.parameters.size() - 2);
  EXPECT_EQ(errorOf(info), "program: kernel 'gather_k0': 0 parameters for a "
                           "workspace of 32 bytes a row");
  kernel.parameters.push_back({Parameter::Kind::Workspace, 0});
  Result<ProgramInfo> back = ProgramInfo::fromJSON(info.toJSON());
  ASSERT_TRUE(back.ok()) << back.status().message();
  EXPECT_EQ(back->toJSON(), info.toJSON());
  EXPECT_EQ(back->kernels[0].parameters[6].kind, Parameter::Kind::Workspace);
  for (uint32_t parts : {0u, 257u}) {
    kernel.parts = parts;
    EXPECT_EQ(errorOf(info),
              "program: kernel 'gather_k0': parts must be 1 to 256");
  }
}

TEST(Program, IndicesOutOfRange) {
  EXPECT_EQ(errorAfter(R"({"dim":2})", R"({"dim":3})"),
            "program: binding 'cache': dim 3 does not exist");
  EXPECT_EQ(errorAfter(R"("binding":1)", R"("binding":7)"),
            "program: dim 'tokens': binding 7 does not exist");
  EXPECT_EQ(errorAfter(R"("axis":0)", R"("axis":2)"),
            "program: dim 'tokens': axis 2 does not exist");
  EXPECT_EQ(errorAfter(R"("axis":0)", R"("axis":1)"),
            "program: dim 'tokens' is read from an axis of another extent");
  EXPECT_EQ(errorAfter(R"("kind":"buffer","index":2)",
                       R"("kind":"buffer","index":3)"),
            "program: kernel 'gather_k0': parameter refers to binding 3, which "
            "does not exist");
  EXPECT_EQ(
      errorAfter(R"("kind":"int64","index":2)", R"("kind":"int64","index":-1)"),
      "program: kernel 'gather_k0': parameter refers to dim -1, which "
      "does not exist");
}

TEST(Program, ValuesOutOfRange) {
  ProgramInfo info = gatherInfo();
  info.target = "metal";
  EXPECT_EQ(errorOf(info),
            "program: target 'metal' is neither 'cuda' nor 'host'");
  info = gatherInfo();
  info.arch = "";
  EXPECT_EQ(errorOf(info), "program: arch is empty");
  info = gatherInfo();
  info.bindings[0].alignment = 24;
  EXPECT_EQ(errorOf(info), "program: binding 'cache': alignment must be a "
                           "power of two to 4096");
  info = gatherInfo();
  info.bindings[0].shape[1] = constant(-5);
  EXPECT_EQ(errorOf(info), "program: binding 'cache': negative extent");
  info = gatherInfo();
  info.dims[0].max = -1;
  EXPECT_EQ(errorOf(info), "program: dim 'tokens' has a negative maximum");
  info = gatherInfo();
  info.kernels[0].threads = 1025;
  EXPECT_EQ(errorOf(info),
            "program: kernel 'gather_k0': threads must be 1 to 1024");
  info = gatherInfo();
  info.kernels[0].rowsPerBlock = 0;
  EXPECT_EQ(errorOf(info),
            "program: kernel 'gather_k0': rowsPerBlock must be at least 1");
  for (uint32_t cluster : {0, 17, 32}) {
    info = gatherInfo();
    info.kernels[0].cluster = cluster;
    EXPECT_EQ(errorOf(info),
              "program: kernel 'gather_k0': cluster must be 1 to 16");
  }
  info = gatherInfo();
  info.kernels[0].sharedBytes = 0x80000000u;
  EXPECT_EQ(errorOf(info),
            "program: kernel 'gather_k0': too much shared memory");
  info = gatherInfo();
  info.kernels[0].symbol = "";
  EXPECT_EQ(errorOf(info), "program: kernel '' has no usable symbol");
  info = gatherInfo();
  info.dims[0].max = int64_t(INT32_MAX) + 1;
  EXPECT_EQ(errorOf(info), "program: kernel 'gather_k0': dim 'tokens' can "
                           "exceed an int32 parameter: pass it as int64");
}

TEST(Program, TooMany) {
  ProgramInfo info = gatherInfo();
  info.kernels[0].parameters.resize(MaxParameters + 1);
  EXPECT_FALSE(info.validate().ok());
  EXPECT_FALSE(ProgramInfo::fromJSON(info.toJSON()).ok());
  info = gatherInfo();
  info.bindings.resize(MaxBindings + 1, info.bindings[1]);
  EXPECT_FALSE(info.validate().ok());
  EXPECT_FALSE(ProgramInfo::fromJSON(info.toJSON()).ok());
}

} // namespace
