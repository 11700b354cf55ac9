//===- CacheKeyTest.cpp - What makes another cache entry ------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Testing.h"

#include "dsv4/JIT/JIT.h"

#include "gtest/gtest.h"

#include <cstdlib>
#include <random>
#include <set>
#include <sstream>
#include <sys/stat.h>
#include <tuple>

using namespace dsv4;
using dsv4::test::TemporaryDirectory;

static std::string getKey(const CompileOptions &options,
                          const std::string &source = "func.func @f() {}",
                          const std::string &target = "cuda") {
  return getCacheKeyText(source, options, target, "sm_90a");
}

TEST(CacheKeyTest, SpacesAndCommentsDoNotCount) {
  EXPECT_EQ(getKey({}), getKey({}, "func.func  @f()\n{} // nothing"));
  EXPECT_NE(getKey({}), getKey({}, "func.func @g() {}"));
}

// Texts that parse to different programs, or only one of which parses.
TEST(CacheKeyTest, MeaningCounts) {
  const std::vector<std::vector<std::string>> groups = {
      {"ab", "a b", "a/ /b"},
      {"a // x\r b", "a // x b"}, // A comment ends at a carriage return, too.
      // What is no white space to the lexer.
      {"a b", "a\vb", "a\fb"},
      {std::string("a\0b", 3), "a b", "ab"},
      // Strings, ended or not.
      {"\"//\" a", "\"\" a", "\""},
      {"\"a  b\"", "\"a b\"", "\"a\tb\"", "\"a\nb\""},
      {"\"\\\" // \" a", "\"\\\"", "\"\\\" \" a"},
      {"\"\\", "\"\\\\", "\"", "\"\\\""},
      {"\" // a\n b", "\" b", "\" // a b"},
      {"\" \n // a\n\" // b\n", "\" \n // a\n\"", "\" \n\""},
      // The parser ends an attribute within a comment.
      {"#d.p<x // >, b = #d.p<y\n>", "#d.p<x >", "#d.p<x // >\n>"},
      {"#d.p<x, y // \"\n, \">", "#d.p<x, y , \">", "#d.p<x, y\n>"},
  };
  for (const auto &group : groups)
    for (size_t i = 0; i < group.size(); ++i)
      for (size_t j = 0; j < i; ++j)
        EXPECT_NE(getKey({}, group[i]), getKey({}, group[j]))
            << group[i] << "\n---\n"
            << group[j];
  for (const char *same : {"a//x\nb", "a \t\r\n b", "a // x\rb", "a b // x\r"})
    EXPECT_EQ(getKey({}, same), getKey({}, "a b")) << same;
  EXPECT_EQ(getKey({}, "// nothing"), getKey({}, ""));
  EXPECT_EQ(getKey({}, "a // nothing"), getKey({}, "a"));
  EXPECT_EQ(getKey({}, "(a) -> t<b> // <\n c"), getKey({}, "(a) -> t<b> c"));
  EXPECT_EQ(getKey({}, "(a) -> b < c // >\n d"), getKey({}, "(a) -> b < c d"));
}

// MLIR looks for the end of an attribute among characters, those of comments
// too, so a comment there may hold what counts.
TEST(CacheKeyTest, CommentInAnAttribute) {
  const std::string text =
      "func.func @f(%i: tensor<?x?xi32> {dsv4.dims = [\"a\", \"b\"]})\n"
      " attributes {dsv4.policies = {a = #dsv4.policy<exact // >, b = "
      "#dsv4.policy<bucket\n>}} { return }";
  CompileOptions options;
  options.dims = {{"a", 100}, {"b", 100}};
  auto dims = getCompileDims(text, "f.mlir", options);
  ASSERT_FALSE(dims);
  EXPECT_EQ(dims.status().message(),
            "f.mlir:3:1: unbalanced brackets or quotes in a comment within an "
            "attribute or type of a dialect");
}

/// The text that the key has of a program.
static std::string getProgramText(const std::string &source) {
  const std::string key = getKey({}, source), with = getKey({}, "@");
  const size_t begin = with.rfind("program 1:@"),
               end = key.find(':', begin) + 1;
  return key.substr(end, key.size() - end - 1);
}

/// What becomes of a program: its dims and kernels, or that it is none.
static std::string getMeaning(const std::string &source) {
  CompileOptions options;
  options.dims = {{"a", 100}, {"b", 100}};
  auto dims = getCompileDims(source, "meaning.mlir", options);
  if (!dims)
    return "error";
  std::string meaning = test::toText(*dims) + "\n";
  auto emitted = emitProgram(source, "meaning.mlir", options, "cuda", "sm_90a");
  if (!emitted)
    return meaning + "error";
  // Lines of the program are for people only.
  for (const std::string &text : emitted->texts) {
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);)
      if (line.find("#line ") == std::string::npos)
        meaning += line + "\n";
  }
  return meaning;
}

// Whatever stands in a program, its text in the key means the same: so no two
// programs of one key mean different things.
TEST(CacheKeyTest, TextOfTheKeyMeansTheSame) {
  const std::string type = "tensor<?x?x64xbf16>";
  const std::string program =
      "func.func @f(%x: " + type +
      " {dsv4.name = \"x\", dsv4.dims = [\"a\", \"b\", \"\"]}, %w: "
      "tensor<64xbf16>, %o: " +
      type + ") -> " + type +
      "\n attributes {dsv4.policies = {a = #dsv4.policy<exact>, b = "
      "#dsv4.policy<bucket>}} { // comment > \"\n %v = dsv4.rms_norm %x "
      "weight(%w : tensor<64xbf16>) outs(%o : " +
      type + ") {eps = 1.0e-06 : f32} : " + type + "\n return %v : " + type +
      "\n}\n#alias = affine_map<(d0) -> (d0)>\n";
  ASSERT_EQ(getMeaning(program).find("error"), std::string::npos)
      << getMeaning(program);
  const std::vector<std::string> segments = {" ",
                                             "\n",
                                             "\r",
                                             "\t",
                                             "\v",
                                             "//",
                                             "// x\n",
                                             "// >\r",
                                             "\"",
                                             "\\",
                                             "<",
                                             ">",
                                             "->",
                                             "// \"\n",
                                             "/",
                                             "// <\n",
                                             "  ",
                                             "// x, b = #dsv4.policy<exact\n",
                                             std::string(1, 0),
                                             "{",
                                             "}",
                                             "// >, c = #dsv4.policy<exact\n"};
  std::mt19937_64 random(test::getSeed());
  size_t same = 0;
  const size_t count = 2000 * std::max(1U, test::getScale());
  for (size_t i = 0; i < count; ++i) {
    std::string source = program;
    for (size_t edits = 1 + random() % 3; edits > 0; --edits) {
      // Where something ends, or anywhere.
      size_t at = random() % source.size();
      if (random() % 2)
        at = std::min(source.find_first_of("<>{}\", \n", at), source.size());
      source.insert(at, segments[random() % segments.size()]);
    }
    const std::string text = getProgramText(source);
    const std::string meaning = getMeaning(source);
    EXPECT_EQ(meaning, getMeaning(text)) << source << "\n---\n" << text;
    EXPECT_EQ(text, getProgramText(text));
    same += meaning.size() > 100;
  }
  EXPECT_GT(same, count / 10);
}

TEST(CacheKeyTest, BytecodeIsNoText) {
  const std::string magic = "ML\xEFR";
  EXPECT_NE(getKey({}, magic + "a \n b"), getKey({}, magic + "a b"));
  EXPECT_NE(getKey({}, magic + "a // b"), getKey({}, magic + "a"));
}

// No field's text passes for another field.
TEST(CacheKeyTest, FieldsDoNotRunTogether) {
  CompileOptions dim, entry;
  dim.entry = "f";
  dim.dims["r"] = 3;
  entry.entry = "f\ndim r 3";
  EXPECT_NE(getKey(dim), getKey(entry));
  CompileOptions schedule, program;
  schedule.schedule = "s\nprogram a";
  program.schedule = "s";
  EXPECT_NE(getKey(schedule, ""), getKey(program, "a\nprogram "));
}

TEST(CacheKeyTest, DifferentTuplesHaveDifferentTexts) {
  std::mt19937_64 random(test::getSeed());
  auto pick = [&](size_t count) { return size_t(random() % count); };
  const std::vector<std::string> segments = {
      "\n",  " ",   ":",      "1",        "2",        "0",        "entry",
      "dim", "f",   "extent", "schedule", "program",  "\ndim ",   "1:",
      "no",  "yes", "checks", "table",    "dialects", "line_info"};
  auto text = [&] {
    std::string all;
    for (size_t i = pick(4); i > 0; --i)
      all += segments[pick(segments.size())];
    return all;
  };
  using Tuple =
      std::tuple<std::string, std::map<std::string, int64_t>, std::string, bool,
                 bool, std::vector<std::string>, std::string, std::string>;
  // Every two of 20000: 2e8 pairs.
  std::map<std::string, Tuple> seen;
  for (int i = 0; i < 20000; ++i) {
    CompileOptions options;
    options.entry = text();
    for (size_t k = pick(3); k > 0; --k)
      options.dims[text()] = int64_t(pick(3));
    options.schedule = text();
    options.checks = pick(2);
    options.lineInfo = pick(2);
    std::vector<std::string> identities;
    for (size_t k = pick(3); k > 0; --k) {
      identities.push_back(text());
      options.extensions.push_back({identities.back(), {}});
    }
    const std::string arch = text(), program = segments[pick(2) + 6];
    Tuple tuple(options.entry, options.dims, options.schedule, options.checks,
                options.lineInfo, identities, arch, program);
    auto [at, isNew] = seen.try_emplace(
        getCacheKeyText(program, options, "cuda", arch), tuple);
    EXPECT_EQ(at->second, tuple) << at->first;
  }
}

TEST(CacheKeyTest, TablesCount) {
  TemporaryDirectory directory;
  CompileOptions none, missing, empty, named;
  missing.table = directory.path() + "/missing";
  empty.table = directory.write("empty", "");
  named.table = directory.write("named", "missing");
  const std::vector<std::string> keys = {getKey(none), getKey(missing),
                                         getKey(empty), getKey(named)};
  EXPECT_EQ(std::set<std::string>(keys.begin(), keys.end()).size(), 4u);
}

namespace {
/// Sets a variable of the environment, or unsets it, for a scope.
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
} // namespace

// Kernels of one host compiler are not another's.
TEST(CacheKeyTest, HostCompilerCounts) {
  TemporaryDirectory directory;
  const std::string wrapper =
      directory.write("c++", "#!/bin/sh\nexec c++ \"$@\"\n");
  ASSERT_EQ(::chmod(wrapper.c_str(), 0700), 0);
  std::set<std::string> keys;
  auto expectNew = [&](const char *what) {
    EXPECT_TRUE(keys.insert(getKey({}, "", "host")).second) << what;
    EXPECT_FALSE(keys.insert(getKey({}, "", "host")).second) << what;
  };
  WithVariable cxx("CXX", nullptr);
  WithVariable plain("DSV4_HOST_CXX", "c++");
  expectNew("the first");
  WithVariable flags("DSV4_HOST_CXX", "c++ -march=native");
  expectNew("a flag");
  WithVariable pasted("DSV4_HOST_CXX", "c++ -march= native");
  expectNew("two flags");
  WithVariable wrapped("DSV4_HOST_CXX", wrapper.c_str());
  expectNew("a wrapper");
  directory.write("c++", "#!/bin/sh\nexec c++ -O3 \"$@\"\n");
  expectNew("another text of the wrapper");
  {
    WithVariable path("PATH", (directory.path() + ":/usr/bin:/bin").c_str());
    expectNew("where the wrapper looks for a compiler");
  }
  WithVariable none("DSV4_HOST_CXX", "/nonexistent");
  expectNew("no compiler");
  // Nor does the device's back end know of it.
  EXPECT_EQ(getKey({}).find("host compiler"), std::string::npos);
}

TEST(CacheKeyTest, EveryOptionCounts) {
  CompileOptions dims, schedule, checks, lines;
  dims.dims["k"] = 512;
  schedule.schedule = "#dsv4.schedule<>";
  checks.checks = true;
  lines.lineInfo = true;
  for (const CompileOptions &options : {dims, schedule, checks, lines})
    EXPECT_NE(getKey(options), getKey({}));
  // The host target tells what is beyond a pool in any case.
  EXPECT_EQ(getKey(checks, "", "host"), getKey({}, "", "host"));
  // Nor has the host target's code lines for the tools of CUDA.
  EXPECT_EQ(getKey(lines, "", "host"), getKey({}, "", "host"));
}

// Extents that make the same kernels are under one key.
TEST(CacheKeyTest, DimsThatCount) {
  const std::string source =
      "func.func @f(%i: tensor<?x?x?xi32> {dsv4.dims = [\"a\", \"b\", "
      "\"c\"]})\n"
      "    attributes {dsv4.policies = {a = #dsv4.policy<exact>, b = "
      "#dsv4.policy<bucket>}} { return }";
  using Dims = std::map<std::string, int64_t>;
  for (int64_t extent : {65, 100, 128}) {
    CompileOptions options;
    options.dims = {{"a", 100}, {"b", extent}, {"c", extent}};
    auto dims = getCompileDims(source, "dims.mlir", options);
    ASSERT_TRUE(dims) << dims.status().message();
    EXPECT_EQ(*dims, (Dims{{"a", 100}, {"b", 128}}));
  }
  // The smallest bucket has one row, the largest ends at the largest extent.
  for (auto [extent, bound] :
       {std::pair<int64_t, int64_t>{0, 1}, {1, 1}, {INT32_MAX, INT32_MAX}}) {
    CompileOptions options;
    options.dims = {{"b", extent}};
    auto dims = getCompileDims(source, "dims.mlir", options);
    ASSERT_TRUE(dims) << dims.status().message();
    EXPECT_EQ(*dims, (Dims{{"b", bound}}));
  }
}

// Declarations are no entries.
TEST(CacheKeyTest, Entries) {
  const std::string source = "func.func private @declared()\n"
                             "func.func @f(%i: tensor<?xi32>) { return }";
  auto emit = [&](const std::string &entry, const std::string &more) {
    CompileOptions options;
    options.entry = entry;
    return std::string(
        emitProgram(source + more, "entries.mlir", options, "cuda", "sm_90a")
            .status()
            .message());
  };
  EXPECT_EQ(emit("", ""), "");
  EXPECT_EQ(emit("f", "\nfunc.func @g() { return }"), "");
  EXPECT_EQ(emit("declared", ""),
            "entry 'declared': the program has no such function (it has f)");
  EXPECT_EQ(emit("", "\nfunc.func @g() { return }"),
            "the program has several functions (f, g): choose one as the "
            "entry");
}

TEST(CacheKeyTest, VersionsOfExtensionsCount) {
  auto getExtended = [](const std::string &identity) {
    CompileOptions options;
    options.extensions.push_back({identity, [](mlir::DialectRegistry &) {}});
    return getKey(options);
  };
  EXPECT_EQ(getExtended("ops 1"), getExtended("ops 1"));
  EXPECT_NE(getExtended("ops 1"), getExtended("ops 2"));
  EXPECT_NE(getExtended("ops 1"), getKey({}));
}

TEST(CacheKeyTest, DeviceFilesOfExtensionsCount) {
  auto getExtended = [](std::vector<rt::DeviceFile> files) {
    CompileOptions options;
    options.extensions.push_back(
        {"ops 1", [](mlir::DialectRegistry &) {}, std::move(files)});
    return getKey(options);
  };
  const std::string key = getExtended({{"engine/a.cuh", "struct A {};\n"}});
  EXPECT_EQ(key, getExtended({{"engine/a.cuh", "struct A {};\n"}}));
  EXPECT_NE(key, getExtended({{"engine/a.cuh", "struct A { int a; };\n"}}));
  EXPECT_NE(key, getExtended({{"engine/b.cuh", "struct A {};\n"}}));
  EXPECT_NE(key, getExtended({}));
}

TEST(CacheKeyTest, ExtensionsHaveAnIdentityAndDialects) {
  for (const DialectExtension &extension :
       {DialectExtension{"", [](mlir::DialectRegistry &) {}},
        DialectExtension{"ops 1", {}}}) {
    CompileOptions options;
    options.extensions.push_back(extension);
    auto emitted = emitProgram("", "none.mlir", options, "cuda", "sm_90a");
    ASSERT_FALSE(emitted);
    EXPECT_EQ(emitted.status().message(),
              "an extension needs an identity and a function that registers "
              "its dialects");
  }
}
