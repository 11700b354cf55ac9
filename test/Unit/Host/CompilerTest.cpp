//===- CompilerTest.cpp - Host compiler, image and options ----------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HostTesting.h"

#include <cstdlib>
#include <optional>

using namespace dsv4::rt;
using namespace dsv4::rt::test;

namespace {

constexpr const char *nothing =
    "extern \"C\" __global__ void nothing(int *) {}\n";

std::string nothingText() {
  return hostPrelude() + nothing + hostEpilogue("nothing");
}

/// Sets a variable of the environment, or unsets it, until the end of the
/// scope.
class WithVariable {
public:
  WithVariable(const char *name, const char *value) : name(name) {
    if (const char *set = std::getenv(name))
      before = set;
    value ? setenv(name, value, 1) : unsetenv(name);
  }
  ~WithVariable() {
    before ? setenv(name, before->c_str(), 1) : unsetenv(name);
  }

private:
  const char *name;
  std::optional<std::string> before;
};

bool contains(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

} // namespace

TEST(HostCompiler, ReportsWhatTheCompilerSays) {
  Result<std::string> image =
      compileHost(hostPrelude() +
                  "extern \"C\" __global__ void broken(int *out) {\n  *out = "
                  "missing;\n}\n" +
                  hostEpilogue("broken"));
  ASSERT_FALSE(image);
  EXPECT_EQ(image.status().code(), Code::CompileFailed);
  const std::string &message = image.status().message();
  EXPECT_TRUE(contains(message, "refused the kernel: kernel.cu:2:10: error: "))
      << message;
  EXPECT_TRUE(contains(message, "missing")) << message;
  EXPECT_FALSE(contains(message, "\n")) << message;
}

TEST(HostCompiler, LineDirectivesOfTheKernelCount) {
  Result<std::string> image = compileHost(
      hostPrelude() + "#line 41 \"decode.mlir\"\nint x = missing;\n");
  ASSERT_FALSE(image);
  EXPECT_TRUE(contains(image.status().message(), "decode.mlir:41:"))
      << image.status().message();
}

TEST(HostCompiler, MissingCompilerIsNamed) {
  WithVariable path("PATH", "/nonexistent");
  WithVariable cxx("CXX", nullptr);
  {
    WithVariable own("DSV4_HOST_CXX", "no-such-compiler -O3");
    Result<std::string> image = compileHost(nothingText());
    ASSERT_FALSE(image);
    EXPECT_EQ(image.status().code(), Code::Unavailable);
    EXPECT_EQ(image.status().message(),
              "DSV4_HOST_CXX names 'no-such-compiler', which is not an "
              "executable program");
  }
  if (HostCompileOptions::defaultSanitize())
    GTEST_SKIP() << "a sanitized build knows its compiler by its path";
  WithVariable own("DSV4_HOST_CXX", nullptr);
  Result<std::string> image = compileHost(nothingText());
  ASSERT_FALSE(image);
  EXPECT_EQ(image.status().code(), Code::Unavailable);
  EXPECT_EQ(
      image.status().message(),
      "the host target needs a C++ compiler: none of $DSV4_HOST_CXX, $CXX, "
      "c++, g++, clang++ was found; install one (g++) or set "
      "DSV4_HOST_CXX");
}

TEST(HostCompiler, VariablesChooseTheCompiler) {
  WithVariable own("DSV4_HOST_CXX", "sh -c 'exit'");
  Result<std::vector<std::string>> found = findHostCompiler();
  ASSERT_TRUE(found) << found.status().message();
  ASSERT_EQ(found->size(), 3u);
  EXPECT_EQ(found->front().front(), '/');
  EXPECT_EQ((*found)[1], "-c");

  WithVariable none("DSV4_HOST_CXX", nullptr);
  WithVariable cxx("CXX", "no-such-compiler");
  found = findHostCompiler();
  ASSERT_TRUE(found) << found.status().message();
  EXPECT_FALSE(contains(found->front(), "no-such-compiler"));
}

TEST(HostCompiler, CompilerThatFailsSilently) {
  HostCompileOptions options;
  options.compiler = {"/bin/false"};
  Result<std::string> image = compileHost(nothingText(), options);
  ASSERT_FALSE(image);
  EXPECT_EQ(image.status().message(),
            "host compiler /bin/false refused the kernel: no message");
  options.compiler = {"/nonexistent/c++"};
  image = compileHost(nothingText(), options);
  ASSERT_FALSE(image);
  EXPECT_EQ(image.status().code(), Code::Unavailable);
}

TEST(HostCompiler, BadOptions) {
  HostCompileOptions options;
  options.optimization = 4;
  Result<std::string> image = compileHost(nothingText(), options);
  ASSERT_FALSE(image);
  EXPECT_EQ(image.status().code(), Code::InvalidArgument);

  WithVariable directory("TMPDIR", "/nonexistent/tmp");
  image = compileHost(nothingText());
  ASSERT_FALSE(image);
  EXPECT_TRUE(contains(image.status().message(), "/nonexistent/tmp"))
      << image.status().message();
}

TEST(HostCompiler, EveryOptimizationLevel) {
  for (unsigned level = 0; level <= 3; ++level) {
    HostCompileOptions options;
    options.optimization = level;
    Result<std::string> image = compileHost(nothingText(), options);
    EXPECT_TRUE(image) << image.status().message();
  }
}

TEST(HostKernel, RefusesWhatIsNoKernel) {
  auto kernel = HostKernel::load("no image", "nothing");
  ASSERT_FALSE(kernel);
  EXPECT_EQ(kernel.status().code(), Code::LoadFailed);
  EXPECT_TRUE(contains(kernel.status().message(),
                       "kernel 'nothing': cannot load the image: "))
      << kernel.status().message();

  Result<std::string> image = compileHost("extern \"C\" void nothing() {}\n");
  ASSERT_TRUE(image) << image.status().message();
  kernel = HostKernel::load(*image, "nothing");
  ASSERT_FALSE(kernel);
  EXPECT_EQ(kernel.status().message(),
            "kernel 'nothing': the image is not a host kernel");

  image = compileHost(nothingText());
  ASSERT_TRUE(image) << image.status().message();
  kernel = HostKernel::load(*image, "other");
  ASSERT_FALSE(kernel);
  EXPECT_EQ(kernel.status().message(),
            "kernel 'other': the image has no such kernel");
}

TEST(HostKernel, RefusesImpossibleLaunches) {
  auto kernel = loadKernel(nothing, "nothing");
  ASSERT_TRUE(kernel);
  int *none = nullptr;
  EXPECT_EQ(launch(*kernel, 1, 0, 0, none).message(),
            "kernel 'nothing': 0 threads per block: expected 1 to 1024");
  EXPECT_EQ(launch(*kernel, 1, 1025, 0, none).code(), Code::InvalidArgument);
  EXPECT_EQ(launch(*kernel, uint64_t(1) << 31, 1, 0, none).code(),
            Code::InvalidArgument);
  EXPECT_EQ(launch(*kernel, 1, 1, 1 << 20, none).code(), Code::InvalidArgument);
  EXPECT_TRUE(launch(*kernel, 0, 128, 0, none).ok());
  EXPECT_TRUE(launch(*kernel, 1, 1024, 227 * 1024, none).ok());
}

// Two images of one text are two modules, with variables of their own; a kernel
// may have the name of a function of libc.
TEST(HostKernel, ImagesAreIndependent) {
  const std::string text =
      "__device__ int count = 7;\n"
      "extern \"C\" __global__ void index(int *out) { *out = ++count; }\n";
  auto first = loadKernel(text, "index"), second = loadKernel(text, "index");
  ASSERT_TRUE(first && second);
  int out = 0;
  EXPECT_TRUE(launch(*first, 3, 1, 0, &out).ok());
  EXPECT_EQ(out, 10);
  EXPECT_TRUE(launch(*second, 1, 1, 0, &out).ok());
  EXPECT_EQ(out, 8);
}

TEST(ThreadOrder, Parses) {
  for (const char *text :
       {"forward", "reverse", "random:0", "random:18446744073709551615"}) {
    Result<ThreadSchedule> schedule = parseThreadOrder(text);
    ASSERT_TRUE(schedule) << schedule.status().message();
    EXPECT_EQ(toString(*schedule), text);
  }
  for (const char *text :
       {"", "Forward", "random", "random:", "random:-1", "random: 1",
        "random:1x", "random:18446744073709551616", "reverse:1"}) {
    Result<ThreadSchedule> schedule = parseThreadOrder(text);
    ASSERT_FALSE(schedule) << text;
    EXPECT_EQ(schedule.status().code(), Code::InvalidArgument);
    EXPECT_TRUE(contains(schedule.status().message(),
                         "thread order '" + std::string(text) + "': expected"));
  }
}

TEST(Prelude, HoldsTheDeviceLibrary) {
  EXPECT_EQ(deviceLibrary("missing.cuh"), "");
  const std::string cuda = cudaPrelude(), host = hostPrelude();
  ASSERT_FALSE(deviceLibraryFiles().empty());
  EXPECT_EQ(deviceLibraryFiles().front(), "core/primitives.cuh");
  for (std::string_view file : deviceLibraryFiles()) {
    EXPECT_FALSE(deviceLibrary(file).empty()) << file;
    EXPECT_TRUE(contains(cuda, "#line 1 \"dsv4/" + std::string(file) + "\"\n"));
  }
  EXPECT_FALSE(contains(cuda, "#include"));
  EXPECT_FALSE(contains(cuda, "#pragma once"));
  EXPECT_FALSE(contains(host, "#include"));
  EXPECT_FALSE(contains(host, "asm"));
  for (const char *file : {"primitives", "accesses"}) {
    const std::string line = "#line 1 \"dsv4/" + std::string(file);
    EXPECT_TRUE(contains(host, line + ".h\"\n"));
    EXPECT_FALSE(contains(host, line + ".cuh\"\n"));
  }
}

// Files of another dialect come with what they include, after the library.
TEST(Prelude, PastesFilesOfOthers) {
  const std::vector<DeviceFile> others = {
      {"engine/base.cuh", "#include \"core/core.cuh\"\nstruct Base {};\n"},
      {"engine/scores.cuh", "#include \"engine/base.cuh\"\n"
                            "#include \"select/topk_tiles.cuh\"\n"
                            "struct Scores : Base {};\n"},
      {"engine/unused.cuh", "struct Unused {};\n"}};
  for (const std::string &text : {cudaPrelude({"engine/scores.cuh"}, others),
                                  hostPrelude({"engine/scores.cuh"}, others)}) {
    const size_t library =
        text.find("#line 1 \"dsv4/select/topk_tiles.cuh\"\n");
    const size_t base = text.find("#line 1 \"engine/base.cuh\"\n\nstruct Base");
    const size_t scores = text.find("struct Scores : Base {};\n");
    EXPECT_LT(library, base);
    EXPECT_LT(base, scores);
    EXPECT_LT(scores, text.size());
    EXPECT_FALSE(contains(text, "Unused"));
    EXPECT_FALSE(contains(text, "#include"));
    EXPECT_FALSE(contains(text, "topk_grid.cuh"));
  }
  auto image =
      compileHost(hostPrelude({}, others) +
                  "extern \"C\" __global__ void f() { Scores scores; }\n" +
                  hostEpilogue("f"));
  EXPECT_TRUE(image) << image.status().message();
}

// Every function of primitives.cuh and accesses.cuh has a twin on the host.
TEST(Prelude, HostHasEveryPrimitive) {
  const std::string device = std::string(deviceLibrary("core/primitives.cuh")) +
                             std::string(deviceLibrary("core/accesses.cuh"));
  const std::string host = hostPrelude();
  const std::string marker = "__device__ __forceinline__ ";
  size_t count = 0;
  for (size_t at = device.find(marker); at != std::string::npos;
       at = device.find(marker, at + 1), ++count) {
    const size_t end = device.find('(', at);
    const size_t begin = device.find_last_of(" *&", end) + 1;
    const std::string name = device.substr(begin, end - begin);
    EXPECT_TRUE(contains(host, " " + name + "(") ||
                contains(host, "*" + name + "("))
        << name;
  }
  EXPECT_GT(count, 60u);
}
