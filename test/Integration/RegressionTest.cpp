//===- RegressionTest.cpp - Programs that went wrong once -----------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each of these gave wrong bytes, a crash, or an error that named something
// internal.
//
//===----------------------------------------------------------------------===//

#include "Programs.h"
#include "Testing.h"

using namespace dsv4;
using namespace dsv4::test;

namespace {

class RegressionTest : public testing::Test {
protected:
  /// What is wrong with a checked run of `text`.
  std::string explain(const std::string &text, const Dims &dims,
                      bool check = true) {
    RunOptions options = getCheckedRun(directory.write("test.mlir", text),
                                       directory, dims, getSeed());
    options.check = check;
    if (check)
      return explainFailure(options);
    auto result = run(options);
    return result ? "" : result.status().message();
  }

  /// A gather of two tokens of a record that is spelled out.
  static Gather getGather(const std::string &fields, int64_t rowExtent,
                          int64_t page = 4) {
    Gather gather;
    gather.record = {"record", "#dsv4.record<" + fields + ">", rowExtent};
    gather.page = page;
    return gather;
  }
  const Dims dims = {{"t", 5}, {"k", 33}, {"c.pages", 11}};

  /// A refusal that is about the program, in one line.
  static void expectRefusal(const std::string &message,
                            const std::string &expected) {
    EXPECT_NE(message.find(expected), std::string::npos)
        << "got '" << message << "'";
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    EXPECT_EQ(message.find("compiler /"), std::string::npos) << message;
  }

  static void expectGoodOrRefused(const std::string &failure,
                                  const std::string &expected) {
    if (!failure.empty())
      expectRefusal(failure, expected);
  }

  static std::string replace(std::string text, const std::string &from,
                             const std::string &to) {
    for (size_t at = text.find(from); at != std::string::npos;
         at = text.find(from, at + to.size()))
      text.replace(at, from.size(), to);
    return text;
  }

  TemporaryDirectory directory;
};

} // namespace

// Array fields are found by their whole name.
TEST_F(RegressionTest, FieldNamesWithDots) {
  std::string text = getGather(R"([<"x.y" : 64 x f8E4M3FN in array>,
                                   <"y" : 64 x f8E4M3FN in array>])",
                               128)
                         .getText();
  expectGoodOrRefused(explain(text, dims), "x.y");
  text = getGather(R"([<"kv" : 64 x f8E4M3FN in row>,
                       <"s" : 1 x f32 in array scales "kv" per row>])",
                   64)
             .getText();
  text = replace(text, "dsv4.name = \"c\"", "dsv4.name = \"z.s\"");
  expectGoodOrRefused(explain(text, {{"t", 5}, {"k", 33}, {"z.s.pages", 11}}),
                      "begins with a letter or '_'");
}

// A vector of one 4-bit element is half a byte.
TEST_F(RegressionTest, OneNibblePerVector) {
  RunOptions options = getCheckedRun(
      directory.write("test.mlir", getGather("mxfp4_368", 512).getText()),
      directory, dims, getSeed());
  options.compile.schedule = "#dsv4.schedule<threads = 32, "
                             "parts = [#dsv4.rows<lanes = 16, vector = 1>]>";
  expectRefusal(explainFailure(options), "schedule_rows_c3");
}

// 4-bit fields beside an odd number of others: computed or refused.
TEST_F(RegressionTest, NibblesBesideOddFields) {
  std::string failure = explain(
      getGather(R"([<"a" : 6 x i4 in row>, <"b" : 5 x bf16 in row at 4>])", 11)
          .getText(),
      dims);
  if (!failure.empty())
    expectRefusal(failure, "schedule");
}

TEST_F(RegressionTest, WholeNumbersWithoutScales) {
  Gather gather = getGather(R"([<"a" : 2 x i4 in row>])", 2);
  EXPECT_EQ(explain(gather.getText(), dims), "");
}

TEST_F(RegressionTest, SmallInterleave) {
  std::string failure = explain(getGather(R"([<"a" : 64 x f8E4M3FN in row>,
          <"s" : 4 x f8E8M0FNU in row scales "a" per 16 interleave 2>])",
                                          64)
                                    .getText(),
                                dims);
  if (!failure.empty())
    expectRefusal(failure, "interleave");
  failure = explain(
      getGather(R"([<"a" : 64 x f8E4M3FN in row interleave 2>])", 64).getText(),
      dims);
  if (!failure.empty())
    expectRefusal(failure, "interleave");
}

TEST_F(RegressionTest, NibbleOrderOfBytes) {
  expectRefusal(
      explain(
          getGather(R"([<"a" : 64 x bf16 in row high_first>])", 64).getText(),
          dims),
      "high_first");
}

// Whatever a function or an argument is called, there is a kernel or a refusal.
TEST_F(RegressionTest, NamesOfFunctions) {
  std::string text = getGather("v4_584", 512).getText();
  for (const char *name :
       {"while", "dsv4", "int", "main", "printf", "memcpy", "expf", "threadIdx",
        "float4", "std", "size_t", "params", "atomicAdd", "normcdff", "\"a b\"",
        "\"*/\"", "\"x \\5C\""})
    EXPECT_EQ(explain(replace(text, "@gather", std::string("@") + name), dims),
              "")
        << name;
}

TEST_F(RegressionTest, NamesOfArgumentsAndDims) {
  std::string text = getGather("v4_584", 512).getText();
  for (const char *name :
       {"while", "row", "lane", "threadIdx", "and", "asm", "NULL", "gather",
        "dsv4", "bf16", "__global__", "wchar_t", "static_cast"})
    EXPECT_EQ(explain(replace(text, "dsv4.name = \"i\"",
                              std::string("dsv4.name = \"") + name + "\""),
                      dims),
              "")
        << name;
  for (const char *name : {"a b", "9", "*/", "o.o", "\xc3\xa9", ""})
    expectGoodOrRefused(
        explain(replace(text, "dsv4.name = \"i\"",
                        std::string("dsv4.name = \"") + name + "\""),
                dims),
        "dsv4.name");
  // A line of a comment stays one.
  for (auto [name, spelled] :
       {std::pair<const char *, const char *>{"a\\0Ab", "a\nb"},
        {"a \\5C", "a \\"}})
    expectGoodOrRefused(
        explain(replace(text, "\"k\"", std::string("\"") + name + "\""),
                {{"t", 5}, {spelled, 33}, {"c.pages", 11}}),
        "dsv4.dims");
}

// Extents that an op ties are one extent, whether they have a name or not.
TEST_F(RegressionTest, ExtentsThatContradict) {
  std::string text = R"mlir(
!c = !dsv4.cache<4 x #dsv4.record<v4_584>>
func.func @f(%c: !c, %i: tensor<?xi32> DIMS, %o: tensor<7x512xbf16> ROWS) {
  %r = dsv4.paged_gather %c[%i] outs(%o : tensor<7x512xbf16>) : !c, tensor<?xi32>
  return
})mlir";
  std::string plain = replace(replace(text, "DIMS", ""), "ROWS", "");
  EXPECT_NE(explain(plain, {{"arg1.0", 5}, {"arg0.pages", 11}}, false), "");
  std::string named = replace(replace(text, "DIMS", "{dsv4.dims = [\"k\"]}"),
                              "ROWS", "{dsv4.dims = [\"k\", \"\"]}");
  EXPECT_NE(explain(named, {{"k", 5}, {"arg0.pages", 11}}, false), "");
  EXPECT_EQ(explain(named, {{"k", 7}, {"arg0.pages", 11}}), "");

  text = R"mlir(
#f = #dsv4.format<f8E4M3FN, [<f32 per 128>]>
func.func @f(%d: tensor<?x3x512xf8E4M3FN>, %s: tensor<?x3x4xf32>,
             %o: tensor<?x3x512xbf16>) {
  %v = dsv4.dequantize %d scales(%s : tensor<?x3x4xf32>)
      outs(%o : tensor<?x3x512xbf16>) {format = #f} : tensor<?x3x512xf8E4M3FN>
  return
})mlir";
  EXPECT_NE(
      explain(text, {{"arg0.0", 5}, {"arg1.0", 5}, {"arg2.0", 500000}}, false),
      "");
}

// What is read cannot be a destination too.
TEST_F(RegressionTest, InPlace) {
  std::string text = R"mlir(
#f = #dsv4.format<bf16, [<bf16 per 16>]>
func.func @f(%d: tensor<?x48xbf16> {dsv4.dims = ["n", ""]},
             %s: tensor<?x3xbf16> {dsv4.dims = ["n", ""]}) {
  %v = dsv4.dequantize %d scales(%s : tensor<?x3xbf16>)
      outs(%d : tensor<?x48xbf16>) {format = #f} : tensor<?x48xbf16>
  return
})mlir";
  std::string failure = explain(text, {{"n", 5}});
  EXPECT_EQ(failure.find("differs"), std::string::npos) << failure;
}

TEST_F(RegressionTest, ChainsOfOps) {
  std::string text = R"mlir(
#f = #dsv4.format<bf16, [<bf16 per 16>]>
func.func @f(%d: tensor<?x48xbf16> {dsv4.dims = ["n", ""]},
             %s: tensor<?x3xbf16> {dsv4.dims = ["n", ""]},
             %o: tensor<?x48xbf16> {dsv4.dims = ["n", ""]},
             %p: tensor<?x48xbf16> {dsv4.dims = ["n", ""]}) RESULTS {
  %v = dsv4.dequantize %d scales(%s : tensor<?x3xbf16>)
      outs(%o : tensor<?x48xbf16>) {format = #f} : tensor<?x48xbf16>
  %w = dsv4.dequantize %v scales(%s : tensor<?x3xbf16>)
      outs(%p : tensor<?x48xbf16>) {format = #f} : tensor<?x48xbf16>
  RETURN
})mlir";
  for (auto [results, values] :
       {std::pair<const char *, const char *>{"", "return"},
        {"-> tensor<?x48xbf16>", "return %w : tensor<?x48xbf16>"},
        {"-> (tensor<?x48xbf16>, tensor<?x48xbf16>)",
         "return %v, %w : tensor<?x48xbf16>, tensor<?x48xbf16>"}})
    EXPECT_EQ(
        explain(replace(replace(text, "RESULTS", results), "RETURN", values),
                {{"n", 5}}),
        "")
        << results;
}

TEST_F(RegressionTest, TypesThatNobodyCanPass) {
  for (const char *element : {"index", "complex<f32>", "vector<4xf32>", "f64",
                              "i7", "f6E2M3FN", "i128", "none"})
    EXPECT_NE(explain(std::string("func.func @f(%a: tensor<?x") + element +
                          ">) { return }",
                      {{"arg0.0", 5}}),
              "")
        << element;
}

TEST_F(RegressionTest, ExtentsOutOfBounds) {
  std::string empty = R"mlir(
#f = #dsv4.format<f8E4M3FN, [<f32 per row>]>
func.func @f(%d: tensor<4x0xf8E4M3FN>, %s: tensor<4xf32>, %o: tensor<4x0xbf16>) {
  %v = dsv4.dequantize %d scales(%s : tensor<4xf32>)
      outs(%o : tensor<4x0xbf16>) {format = #f} : tensor<4x0xf8E4M3FN>
  return
})mlir";
  std::string failure = explain(empty, {});
  EXPECT_EQ(failure.find("compiler"), std::string::npos) << failure;
  const std::string huge = "9223372036854775800";
  for (std::string fields :
       {"<\"a\" : " + huge + " x f8E4M3FN in row>",
        std::string("<\"a\" : 1048576 x f8E4M3FN in row>"),
        "<\"a\" : 64 x f8E4M3FN in row at " + huge + ">",
        "<\"a\" : 64 x f8E4M3FN in row pad " + huge + ">"}) {
    Gather gather = getGather("[" + fields + "]", 64);
    failure = explain(gather.getText(), dims);
    EXPECT_NE(failure, "") << fields;
    EXPECT_EQ(failure.find("no such dim"), std::string::npos) << failure;
  }
  for (int64_t page : {int64_t(1) << 62, int64_t(1) << 40, int64_t(0)}) {
    failure = explain(getGather("v4_584", 512, page).getText(), dims);
    EXPECT_NE(failure, "") << page;
    EXPECT_EQ(failure.find("no such dim"), std::string::npos) << failure;
  }
}

// Indices of rank 1 and a table of rank 2 use its first row, if there is one.
TEST_F(RegressionTest, FlatIndicesWithATableOfRows) {
  std::string text = R"mlir(
!c = !dsv4.cache<4 x #dsv4.record<v4_584>>
func.func @f(%c: !c {dsv4.name = "c"}, %i: tensor<?xi32> {dsv4.dims = ["k"]},
             %t: tensor<?x?xi32> {dsv4.dims = ["r", "mp"]},
             %o: tensor<?x512xbf16> {dsv4.dims = ["k", ""]}) {
  %r = dsv4.paged_gather %c[%i] pages(%t : tensor<?x?xi32>)
      outs(%o : tensor<?x512xbf16>) : !c, tensor<?xi32>
  return
})mlir";
  for (int64_t r : {3, 1, 0}) {
    std::string failure =
        explain(text, {{"k", 9}, {"r", r}, {"mp", 5}, {"c.pages", 11}});
    EXPECT_EQ(failure.find("differs"), std::string::npos) << r << failure;
  }
}

TEST_F(RegressionTest, FormatWithoutScales) {
  Dequantize plain;
  plain.element = "f8E4M3FN";
  EXPECT_EQ(explain(plain.getText(), {{"n", 5}}), "");
}

// A lane that has all of a row element by element has as many groups of one.
TEST_F(RegressionTest, GroupsOfOneElementOfALane) {
  const std::string text = R"mlir(
#f = #dsv4.format<f8E4M3FN, [<f32 per 1>]>
func.func @f(%x: tensor<?x24xf32> {dsv4.name = "x", dsv4.dims = ["n", ""]},
             %c: tensor<?x24xf8E4M3FN> {dsv4.name = "c", dsv4.dims = ["n", ""]},
             %s: tensor<?x24xf32> {dsv4.name = "s", dsv4.dims = ["n", ""]})
    -> (tensor<?x24xf8E4M3FN>, tensor<?x24xf32>) {
  %r:2 = dsv4.quantize %x outs(%c, %s : tensor<?x24xf8E4M3FN>, tensor<?x24xf32>)
      {format = #f, recipe = #dsv4.quantizer<>} : tensor<?x24xf32>
  return %r#0, %r#1 : tensor<?x24xf8E4M3FN>, tensor<?x24xf32>
})mlir";
  for (const char *lanes : {"1", "2"}) {
    RunOptions options = getCheckedRun(directory.write("test.mlir", text),
                                       directory, {{"n", 5}}, getSeed());
    options.compile.schedule =
        std::string("#dsv4.schedule<threads = 32, "
                    "parts = [#dsv4.rows<vector = 1, lanes = ") +
        lanes + ">]>";
    EXPECT_EQ(explainFailure(options), "") << lanes;
  }
}

// A scale per row of one element has no axis to step along.
TEST_F(RegressionTest, ScaleOfARowOfOneElement) {
  for (const char *rows : {"?", "4"}) {
    std::string text = R"mlir(
#f = #dsv4.format<f8E4M3FN, [<f32 per row>]>
func.func @f(%x: tensor<Nx1xf32> {dsv4.name = "x", dsv4.dims = ["n", ""]},
             %c: tensor<Nx1xf8E4M3FN> {dsv4.name = "c", dsv4.dims = ["n", ""]},
             %s: tensor<Nxf32> {dsv4.name = "s", dsv4.dims = ["n"]})
    -> (tensor<Nx1xf8E4M3FN>, tensor<Nxf32>) {
  %r:2 = dsv4.quantize %x outs(%c, %s : tensor<Nx1xf8E4M3FN>, tensor<Nxf32>)
      {format = #f, recipe = #dsv4.quantizer<>} : tensor<Nx1xf32>
  return %r#0, %r#1 : tensor<Nx1xf8E4M3FN>, tensor<Nxf32>
})mlir";
    text = replace(replace(text, "<Nx", std::string("<") + rows + "x"), "<N",
                   std::string("<") + rows);
    EXPECT_EQ(explain(text, *rows == '?' ? Dims{{"n", 5}} : Dims{}), "")
        << rows;
  }
}

TEST_F(RegressionTest, ProgramsWithoutFunction) {
  for (const char *text : {"", "module {}", "func.func private @f()",
                           "module { module { func.func @f() { return } } }"}) {
    std::string failure = explain(text, {});
    EXPECT_NE(failure, "") << text;
    EXPECT_EQ(failure.find("''"), std::string::npos) << failure;
  }
}
