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
  info.dims.resize(2);
  info.bindings[0].shape = {constant(64)};
  info.bindings[1].strides = {constant(512)};
  LaunchPlan &plan = info.kernels[0].plan;
  plan.condition =
      *Condition::parse("tokens <= 64 && topk != 0", info.planNames());
  plan.cluster = Dim3(2, 1, 3);
  plan.workspaceBytes = Expression::extent(0) * Expression(48);
  plan.parameters = {Parameter::buffer(0, true, true, 16),
                     Parameter::int32(Expression::extent(1)),
                     Parameter::workspace()};
  EXPECT_EQ(
      info.toJSON(),
      R"({"name":"gather","target":"host","arch":"x86_64","bindings":[)"
      R"({"name":"cache","storage":"u8","element":"u8","shape":[64],)"
      R"("written":false,"scalar":false,"strides":[]},)"
      R"({"name":"indices","storage":"i32","element":"i32",)"
      R"("shape":[{"dim":0},{"dim":1}],"written":false,"scalar":false,)"
      R"("strides":[512]}],)"
      R"("dims":[{"name":"tokens","binding":1,"axis":0,"max":2147483647,)"
      R"("multiple":1,"isStride":false,"min":0},)"
      R"({"name":"topk","binding":1,"axis":1,"max":2147483647,)"
      R"("multiple":1,"isStride":false,"min":0}],)"
      R"("kernels":[{"symbol":"gather_k0","schedule":"threads=128 rows=4",)"
      R"("if":"tokens <= 64 && topk != 0",)"
      R"("requires":"tokens * topk <= 2147483644",)"
      R"x("grid":["ceildiv(tokens * topk, 4)","1","1"],)x"
      R"("block":[128,1,1],"cluster":[2,1,3],)"
      R"("sharedBytes":"1024","programmaticLaunch":true,)"
      R"("workspaceBytes":"tokens * 48",)"
      R"x("parameters":["update(cache, 16)","i32(topk)","workspace"],)x"
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
    EXPECT_EQ(back->kernels[0].plan.parameters[5].kind, Parameter::Kind::Int64);
    EXPECT_EQ(back->toJSON(), info.toJSON());
  }
}

TEST(Program, PlansRoundTrip) {
  ProgramInfo info = scoresInfo();
  Result<ProgramInfo> back = ProgramInfo::fromJSON(info.toJSON());
  ASSERT_TRUE(back.ok()) << back.status().message();
  EXPECT_EQ(back->toJSON(), info.toJSON());
  EXPECT_TRUE(back->bindings[2].scalar);
  const LaunchPlan &tiles = back->kernels[0].plan;
  EXPECT_EQ(tiles.grid[1], info.kernels[0].plan.grid[1]);
  EXPECT_TRUE(tiles.block == Dim3(32, 4));
  EXPECT_EQ(tiles.parameters[2].kind, Parameter::Kind::Scalar);
  const LaunchPlan &persistent = back->kernels[1].plan;
  EXPECT_EQ(persistent.grid[0], info.kernels[1].plan.grid[0]);
  EXPECT_TRUE(persistent.cluster == Dim3(2));
}

TEST(Program, StridesRoundTrip) {
  ProgramInfo info = stridedInfo();
  Result<ProgramInfo> back = ProgramInfo::fromJSON(info.toJSON());
  ASSERT_TRUE(back.ok()) << back.status().message();
  EXPECT_EQ(back->toJSON(), info.toJSON());
  EXPECT_TRUE(back->dims[3].isStride);
  EXPECT_EQ(back->dims[3].min, 656);
  EXPECT_EQ(back->bindings[2].strides[1].constant, 1024);
}

TEST(Program, StridesAreChecked) {
  ProgramInfo info = stridedInfo();
  info.bindings[2].strides.pop_back();
  EXPECT_EQ(errorOf(info), "program: binding 'out': expected a stride for "
                           "every axis but the last, or for an only one");
  info = stridedInfo();
  info.bindings[2].strides[1] = constant(-16);
  EXPECT_EQ(errorOf(info), "program: binding 'out': negative stride");
  info = stridedInfo();
  info.bindings[2].strides[0] = dim(0);
  EXPECT_EQ(errorOf(info), "program: binding 'out': dim 'rows' is an extent: "
                           "expected a stride");
  info = stridedInfo();
  info.bindings[0].shape[0] = dim(2);
  EXPECT_EQ(errorOf(info), "program: binding 'x': dim 'x.stride.0' is a "
                           "stride: expected an extent");
  info = stridedInfo();
  info.bindings[2].strides[0] = dim(2);
  EXPECT_EQ(errorOf(info), "program: binding 'out': dim 'x.stride.0' is the "
                           "stride of another axis");
  info = stridedInfo();
  info.dims[2].axis = 1;
  EXPECT_EQ(errorOf(info), "program: binding 'x': dim 'x.stride.0' is the "
                           "stride of another axis");
  info = stridedInfo();
  info.dims[2].max = int64_t(1) << 31;
  EXPECT_EQ(errorOf(info),
            "program: dim 'x.stride.0': a stride is at most 2^31 - 1");
  info = stridedInfo();
  info.dims[2].multiple = int64_t(1) << 30;
  EXPECT_TRUE(info.validate().ok());
  for (int64_t multiple : {int64_t(1) << 31, int64_t(1) << 62, int64_t(3)}) {
    info.dims[2].multiple = multiple;
    EXPECT_EQ(errorOf(info), "program: dim 'x.stride.0': multiple must be a "
                             "power of two up to 2^30");
  }
  info = stridedInfo();
  info.dims[0].min = 1;
  EXPECT_EQ(errorOf(info), "program: dim 'rows': expected a minimum of 0, or "
                           "of a stride one up to its maximum");
}

/// A reader takes tensor maps, so that an entry with one is no damaged one.
TEST(Program, TensorMapsAreRead) {
  ProgramInfo info = gatherInfo();
  info.kernels[0].plan.parameters[0] = Parameter::tensorMap(0);
  Result<ProgramInfo> back = ProgramInfo::fromJSON(info.toJSON());
  ASSERT_TRUE(back.ok()) << back.status().message();
  EXPECT_EQ(back->kernels[0].plan.parameters[0].kind,
            Parameter::Kind::TensorMap);
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
  std::string text = scoresInfo().toJSON();
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
  for (const char *extent : {"\"x\"", "4294967296", "-1", "null"})
    EXPECT_EQ(
        errorAfter(R"("block":[128)", R"("block":[)" + std::string(extent)),
        "program: kernels[0].block is not an array of three integers in "
        "range");
  EXPECT_EQ(errorAfter(R"("block":[128,1,1])", R"("block":[128,1])"),
            "program: kernels[0].block is not an array of three");
  EXPECT_EQ(errorAfter(R"("grid":[")", R"("grid":["1",")"),
            "program: kernels[0].grid is not an array of three");
  EXPECT_EQ(errorAfter(R"("sharedBytes":"1024")", R"("sharedBytes":1024)"),
            "program: kernels[0].sharedBytes is not a string");
  EXPECT_EQ(errorAfter(R"("registers":32)", R"("registers":4294967296)"),
            "program: kernels[0].registers is not an integer in range");
  EXPECT_EQ(errorAfter(R"("storage":"u8")", R"("storage":"f64")"),
            "program: bindings[0].storage is not a known spelling");
  EXPECT_EQ(errorAfter(R"("written":false)", R"("written":0)"),
            "program: bindings[0].written is not true or false");
  EXPECT_EQ(errorAfter(R"({"dim":2})", R"({"dam":2})"),
            "program: bindings[0].shape[0].dim is missing");
  EXPECT_EQ(errorAfter(R"("read(cache)", R"("lambda(cache)"),
            "program: kernels[0].parameters cannot be read: expected read, "
            "write, update, i32, i64, scalar, tensor_map or workspace at "
            "character 0 of 'lambda(cache, 128)'");
  EXPECT_EQ(errorAfter("\"shape\":[{\"dim\":2}",
                       "\"shape\":[1,1,1,1,1,1,{\"dim\":2}"),
            "program: bindings[0].shape is not an array of at most 8");
}

TEST(Program, Workspaces) {
  ProgramInfo info = gatherInfo();
  LaunchPlan &plan = info.kernels[0].plan;
  plan.parameters.push_back(Parameter::workspace());
  EXPECT_EQ(errorOf(info), "program: kernel 'gather_k0': parameters for the "
                           "workspace: expected 0, got 1");
  plan.workspaceBytes = 32;
  plan.parameters.push_back(Parameter::workspace());
  EXPECT_EQ(errorOf(info), "program: kernel 'gather_k0': parameters for the "
                           "workspace: expected 1, got 2");
  plan.parameters.resize(plan.parameters.size() - 2);
  EXPECT_EQ(errorOf(info), "program: kernel 'gather_k0': parameters for the "
                           "workspace: expected 1, got 0");
  plan.parameters.push_back(Parameter::workspace());
  Result<ProgramInfo> back = ProgramInfo::fromJSON(info.toJSON());
  ASSERT_TRUE(back.ok()) << back.status().message();
  EXPECT_EQ(back->toJSON(), info.toJSON());
  EXPECT_EQ(back->kernels[0].plan.parameters[6].kind,
            Parameter::Kind::Workspace);
}

TEST(Program, Scalars) {
  const char *outOf = "program: binding 'scale': a scalar is one i32, i64 or "
                      "f32 that is not written";
  ProgramInfo info = scoresInfo();
  info.bindings[2].shape = {constant(1)};
  EXPECT_EQ(errorOf(info), outOf);
  info = scoresInfo();
  info.bindings[2].storage = Storage::U16;
  EXPECT_EQ(errorOf(info), outOf);
  info = scoresInfo();
  info.bindings[2].written = true;
  EXPECT_EQ(errorOf(info), outOf);
  info = scoresInfo();
  info.kernels[1].plan.parameters[2] = Parameter::buffer(2, true, false, 4);
  EXPECT_EQ(errorOf(info), "program: kernel 'persistent': 'scale' is a scalar: "
                           "pass it as one");
  info = scoresInfo();
  info.kernels[0].plan.parameters[2] = Parameter::scalar(0);
  EXPECT_EQ(errorOf(info), "program: kernel 'tiles': 'q' is no scalar: pass it "
                           "as a buffer");
}

/// Plans are text, so names must be such that a text says what is meant.
TEST(Program, Names) {
  ProgramInfo info = gatherInfo();
  info.dims[1].name = "tokens";
  EXPECT_EQ(info.validate().message(),
            "program: two dims have the name 'tokens'");
  info = gatherInfo();
  info.bindings[1].name = "cache";
  EXPECT_EQ(info.validate().message(),
            "program: two bindings have the name 'cache'");
  for (const char *name : {"", "1", "a b", "a(", "\xc3\xa9", ".a"}) {
    info = gatherInfo();
    info.dims[0].name = name;
    EXPECT_EQ(info.validate().message(),
              "program: dim '" + std::string(name) +
                  "': expected a letter or '_', then letters, digits, '_' and "
                  "'.'");
  }
  // Names of functions are names like any other.
  info = gatherInfo();
  info.dims[0].name = "min";
  info.dims[1].name = "multiprocessors";
  info.dims[2].name = "cache.pages";
  Result<ProgramInfo> back = ProgramInfo::fromJSON(info.toJSON());
  ASSERT_TRUE(back.ok()) << back.status().message();
  EXPECT_EQ(back->kernels[0].plan.grid[0], info.kernels[0].plan.grid[0]);
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
  EXPECT_EQ(errorAfter("write(out", "write(nothing"),
            "program: kernels[0].parameters cannot be read: 'nothing' is not "
            "the name of an argument at character 13 of 'write(nothing, 16)'");
  EXPECT_EQ(errorAfter("i64(pages)", "i64(page)"),
            "program: kernels[0].parameters cannot be read: 'page' is not the "
            "name of an extent at character 8 of 'i64(page)'");
  for (int binding : {-1, 3}) {
    ProgramInfo info = gatherInfo();
    info.kernels[0].plan.parameters[1].binding = binding;
    EXPECT_EQ(info.validate().message(),
              "program: kernel 'gather_k0': a parameter refers to binding " +
                  std::to_string(binding) + ", which does not exist");
  }
  ProgramInfo info = gatherInfo();
  info.kernels[0].plan.grid[2] = Expression::extent(3);
  EXPECT_EQ(info.validate().message(),
            "program: kernel 'gather_k0': grid z refers to extent 3, which "
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
  info.kernels[0].plan.parameters[1].alignment = 24;
  EXPECT_EQ(errorOf(info), "program: kernel 'gather_k0': alignment 24: "
                           "expected a power of two up to 4096");
  info = gatherInfo();
  info.bindings[0].shape[1] = constant(-5);
  EXPECT_EQ(errorOf(info), "program: binding 'cache': negative extent");
  info = gatherInfo();
  info.dims[0].max = -1;
  EXPECT_EQ(errorOf(info), "program: dim 'tokens' has a negative maximum");
  info = gatherInfo();
  info.kernels[0].plan.block = 1025;
  EXPECT_EQ(errorOf(info), "program: kernel 'gather_k0': threads of a block "
                           "along x: expected 1 to 1024, got 1025");
  info.kernels[0].plan.block = Dim3(1, 1, 65);
  EXPECT_EQ(errorOf(info), "program: kernel 'gather_k0': threads of a block "
                           "along z: expected 1 to 64, got 65");
  info.kernels[0].plan.block = Dim3(32, 33, 1);
  EXPECT_EQ(errorOf(info), "program: kernel 'gather_k0': threads of a block: "
                           "expected at most 1024, got 1056");
  for (uint32_t cluster : {0u, 17u, 0xFFFFFFFFu}) {
    info = gatherInfo();
    info.kernels[0].plan.cluster = cluster;
    EXPECT_EQ(errorOf(info), "program: kernel 'gather_k0': blocks of a cluster "
                             "along x: expected 1 to 16, got " +
                                 std::to_string(cluster));
  }
  info.kernels[0].plan.cluster = Dim3(4, 5, 1);
  EXPECT_EQ(errorOf(info), "program: kernel 'gather_k0': blocks of a cluster: "
                           "expected at most 16, got 20");
  info = gatherInfo();
  info.kernels[0].symbol = "";
  EXPECT_EQ(errorOf(info), "program: kernel '' has no usable symbol");
}

TEST(Program, TooMany) {
  ProgramInfo info = gatherInfo();
  info.kernels[0].plan.parameters.resize(MaxParameters + 1,
                                         info.kernels[0].plan.parameters[0]);
  EXPECT_FALSE(info.validate().ok());
  EXPECT_FALSE(ProgramInfo::fromJSON(info.toJSON()).ok());
  info = gatherInfo();
  info.bindings.resize(MaxBindings + 1, info.bindings[1]);
  EXPECT_FALSE(info.validate().ok());
  EXPECT_FALSE(ProgramInfo::fromJSON(info.toJSON()).ok());
}

} // namespace
