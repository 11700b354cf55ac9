//===- RecordsTest.cpp - Every legal record has a kernel ------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Programs over drawn records, formats and rows, whose extents and groups need
// not agree with anything: all get a schedule, some are emitted, and fewer run
// on the target against the oracle.
//
//===----------------------------------------------------------------------===//

#include "Testing.h"
#include "Writers.h"

#include "dsv4/InitAll.h"
#include "dsv4/JIT/JIT.h"
#include "dsv4/Passes.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include <cstdio>

using namespace dsv4;
using namespace dsv4::test;

namespace {

struct Drawn {
  std::string name, text;
  Dims dims;
};

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

int64_t drawExtent(std::mt19937_64 &random, bool isEven) {
  // A vector or two, rows as models have them, and anything.
  int64_t extent = 1 + random() % 40;
  if (unsigned kind = random() % 4; kind == 0)
    extent = 16 * (1 + random() % 36);
  else if (kind == 1)
    extent = 1 + random() % 600;
  return isEven && extent % 2 ? extent + 1 : extent;
}

/// A number that divides `extent`.
int64_t drawDivisor(int64_t extent, std::mt19937_64 &random) {
  std::vector<int64_t> divisors;
  for (int64_t i = 1; i <= extent; ++i)
    if (extent % i == 0)
      divisors.push_back(i);
  return draw(divisors, random);
}

//===----------------------------------------------------------------------===//
// Records
//===----------------------------------------------------------------------===//

const std::vector<std::string> kDataTypes = {"f4E2M1FN", "i4",  "f8E4M3FN",
                                             "bf16",     "f16", "f32"};
const std::vector<std::string> kScaleTypes = {"f8E8M0FNU", "f8E4M3FN", "bf16",
                                              "f16", "f32"};

bool isOf4Bits(const std::string &element) {
  return element == "f4E2M1FN" || element == "i4";
}

/// "in row pad 3": where a field is, and what is between it and the next.
std::string drawPlace(std::mt19937_64 &random, const std::string &clauses) {
  std::string place =
      draw<std::string>({"row", "row", "tail", "array"}, random);
  std::string text = " in " + place + clauses;
  if (place != "array" && random() % 3 == 0)
    text += " pad " + std::to_string(1 + random() % 8);
  return text;
}

/// Scales of the data field `name`.
std::string drawScales(const std::string &name, int64_t level, int64_t extent,
                       std::mt19937_64 &random) {
  std::string element = draw(kScaleTypes, random), group = "row", place;
  int64_t count = 1;
  if (random() % 4 != 0) {
    int64_t each = drawDivisor(extent, random);
    group = std::to_string(each);
    count = extent / each;
  } else if (random() % 3 == 0) {
    group = "tensor";
  }
  std::string clauses = " scales \"" + name + "\" per " + group;
  if (count > 1 && random() % 3 == 0)
    clauses += " interleave " + std::to_string(drawDivisor(count, random));
  place =
      group == "tensor" ? " in array" + clauses : drawPlace(random, clauses);
  return "<\"" + name + "_s" + std::to_string(level) +
         "\" : " + std::to_string(count) + " x " + element + place + ">";
}

/// Fields of any kind, which need not be aligned.
Record drawFields(std::mt19937_64 &random) {
  Record record;
  std::string fields;
  auto add = [&](const std::string &field) {
    fields += (fields.empty() ? "" : ", ") + field;
  };
  for (int64_t i = 0, count = 1 + random() % 3; i < count; ++i) {
    std::string name(1, char('a' + i)), element = draw(kDataTypes, random);
    int64_t extent = drawExtent(random, isOf4Bits(element));
    record.rowExtent += extent;
    bool isSwapped = isOf4Bits(element) && random() % 3 == 0;
    add("<\"" + name + "\" : " + std::to_string(extent) + " x " + element +
        drawPlace(random, "") + (isSwapped ? " high_first>" : ">"));
    for (int64_t level = 0, levels = random() % 3; level < levels; ++level)
      add(drawScales(name, level, extent, random));
  }
  if (random() % 6 == 0)
    add("<\"where\" : " + std::to_string(1 + random() % 3) + " x i32" +
        drawPlace(random, "") + ">");
  std::string align =
      draw<std::string>({"", "", "], align 16", "], align 576"}, random);
  record.name = "drawn";
  record.attribute =
      "#dsv4.record<[" + fields + (align.empty() ? "]" : align) + ">";
  return record;
}

/// A legal record in pages of `page` entries.
Record drawRecord(mlir::MLIRContext &context, int64_t page,
                  std::mt19937_64 &random) {
  mlir::ScopedDiagnosticHandler quiet(
      &context, [](mlir::Diagnostic &) { return mlir::success(); });
  while (true) {
    Record record = drawFields(random);
    if (mlir::parseType("!dsv4.cache<" + std::to_string(page) + " x " +
                            record.attribute + ">",
                        &context))
      return record;
  }
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

Drawn drawGather(mlir::MLIRContext &context, std::mt19937_64 &random) {
  int64_t page = draw<int64_t>({1, 3, 16, 64}, random);
  Gather gather = Gather::draw(drawRecord(context, page, random), page, random);
  gather.policy = Policy::Dynamic;
  Drawn drawn{gather.getName(), gather.getText(), {{"k", 7}, {"c.pages", 3}}};
  if (gather.rank == 2)
    drawn.dims["t"] = 3;
  if (gather.table != Table::None)
    drawn.dims["mp"] = 4;
  if (gather.table == Table::PerRequest)
    drawn.dims["r"] = 2;
  return drawn;
}

Drawn drawAppend(mlir::MLIRContext &context, std::mt19937_64 &random) {
  Append append;
  append.page = draw<int64_t>({1, 3, 16, 64}, random);
  append.record = drawRecord(context, append.page, random);
  append.slots.unique = random() % 2;
  append.seed = random() % 3 ? random() : 0;
  return {append.getName(), append.getText(), {{"n", 9}, {"c.pages", 4}}};
}

Drawn drawDequantize(std::mt19937_64 &random) {
  Dequantize op;
  op.element = draw<std::string>({"f4E2M1FN", "i4", "f8E4M3FN"}, random);
  op.extent = drawExtent(random, isOf4Bits(op.element));
  for (int64_t level = 0, levels = random() % 3; level < levels; ++level)
    op.levels.push_back({draw(kScaleTypes, random),
                         random() % 4
                             ? std::to_string(drawDivisor(op.extent, random))
                             : draw<std::string>({"row", "tensor"}, random)});
  op.highFirst = isOf4Bits(op.element) && random() % 2;
  op.result = draw<std::string>({"bf16", "f16", "f32"}, random);
  return {op.getName(), op.getText(), {{"n", 9}}};
}

Quantize drawQuantize(std::mt19937_64 &random) {
  Quantize op;
  op.name = "drawn";
  op.element = draw<std::string>({"f4E2M1FN", "f8E4M3FN"}, random);
  op.count = drawExtent(random, isOf4Bits(op.element));
  op.begin = random() % 2 ? random() % 20 : 0;
  op.extent = op.begin + op.count + (random() % 2 ? random() % 20 : 0);
  std::string group = std::to_string(drawDivisor(op.count, random));
  std::string scale =
      draw<std::string>({"f8E8M0FNU", "f8E4M3FN", "f32"}, random);
  bool isPerRow = random() % 4 == 0;
  op.levels.push_back({scale, isPerRow ? "row" : group});
  if (!isPerRow && scale == "f8E4M3FN" && random() % 2)
    op.levels.push_back({"f32", draw<std::string>({"row", "tensor"}, random)});
  op.input = draw<std::string>({"bf16", "f16", "f32"}, random);
  op.drawRecipe(random);
  return op;
}

RowOp drawRowOp(std::mt19937_64 &random) {
  RowOp op;
  op.op = draw<std::string>({"rope", "rope", "rms_norm", "hadamard"}, random);
  op.extent = drawExtent(random, /*isEven=*/false);
  if (op.op == "rope") {
    op.rotated = 2 * (1 + random() % 40);
    op.extent = op.rotated + random() % 2 * op.extent;
  } else if (op.op == "hadamard") {
    op.extent = int64_t(1) << random() % 10;
  }
  op.inverse = random() % 2;
  op.input = draw<std::string>({"bf16", "f16", "f32"}, random);
  op.result = draw<std::string>({"bf16", "f16", "f32"}, random);
  return op;
}

/// rms_norm, rope and quantize of one row as one kernel.
Drawn drawChain(std::mt19937_64 &random) {
  Quantize quantize = drawQuantize(random);
  RowOp norm, rope;
  norm.extent = rope.extent = quantize.extent;
  norm.input = draw<std::string>({"bf16", "f16", "f32"}, random);
  norm.result = rope.input = "bf16";
  rope.op = "rope";
  rope.result = quantize.input = "f32";
  rope.rotated = 2 * (1 + random() % std::max<int64_t>(rope.extent / 2, 1));
  if (rope.rotated > rope.extent)
    return {quantize.getName(), quantize.getText(), {{"n", 9}}};
  Writer writer;
  writer.addRows("x", norm.input, norm.extent);
  writer.addRows("pos", "i32", -1);
  norm.addTo(writer, "%x", "normed", /*kept=*/true);
  rope.addTo(writer, "%v_normed", "rotated", /*kept=*/true);
  quantize.addTo(writer, "%v_rotated", /*kept=*/true);
  return {norm.getName() + "_" + rope.getName() + "_" + quantize.getName(),
          writer.getText(),
          {{"n", 9}, {"p", 30}}};
}

Drawn drawProgram(mlir::MLIRContext &context, std::mt19937_64 &random) {
  switch (random() % 8) {
  case 0:
    return drawDequantize(random);
  case 1: {
    Quantize op = drawQuantize(random);
    return {op.getName(), op.getText(), {{"n", 9}}};
  }
  case 2: {
    RowOp op = drawRowOp(random);
    Dims dims = {{"n", 9}};
    if (op.op == "rope")
      dims["p"] = 30;
    return {op.getName(), op.getText(), dims};
  }
  case 3:
    return drawChain(random);
  case 4:
  case 5:
    return drawAppend(context, random);
  default:
    return drawGather(context, random);
  }
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

/// Runs the passes up to the one that gives every kernel a schedule.
std::string explainSchedules(mlir::MLIRContext &context, const Drawn &drawn) {
  std::string why;
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &told) {
    why += told.str() + "\n";
    return mlir::success();
  });
  auto module = mlir::parseSourceString<mlir::ModuleOp>(
      drawn.text, mlir::ParserConfig(&context));
  if (!module)
    return "not legal: " + why + drawn.text;
  mlir::PassManager passes(&context);
  mlir::OpPassManager &func = passes.nest<mlir::func::FuncOp>();
  func.addPass(createSpecialize());
  func.addPass(createFormKernels());
  func.addPass(createSelectSchedule());
  bool good = succeeded(passes.run(*module));
  unsigned kernels = 0;
  module->walk([&](KernelOp kernel) {
    ++kernels;
    good &= bool(kernel.getScheduleAttr());
  });
  return good && kernels > 0 ? "" : drawn.name + ": " + why + drawn.text;
}

/// Draws programs and checks them, many in a job of its own context.
void checkDrawn(int64_t count, uint64_t seed,
                const std::function<std::string(
                    mlir::MLIRContext &, const Drawn &, uint64_t)> &check) {
  constexpr int64_t kPerJob = 200;
  std::vector<std::function<std::string()>> jobs;
  for (int64_t first = 0; first < count; first += kPerJob)
    jobs.push_back([=, &check]() -> std::string {
      mlir::DialectRegistry registry;
      registerAllDialects(registry);
      mlir::MLIRContext context(registry,
                                mlir::MLIRContext::Threading::DISABLED);
      context.loadAllAvailableDialects();
      for (int64_t i = first; i < std::min(first + kPerJob, count); ++i) {
        uint64_t own = seed * 1000003 + i;
        std::mt19937_64 random(own);
        Drawn drawn = drawProgram(context, random);
        std::string failure = check(context, drawn, own);
        if (!failure.empty())
          return "program " + std::to_string(i) + ": " + failure;
      }
      return "";
    });
  runAll(jobs);
  std::printf("%lld programs\n", static_cast<long long>(count));
}

} // namespace

TEST(RecordsTest, EveryRecordHasASchedule) {
  checkDrawn(6000, getSeed(),
             [](mlir::MLIRContext &context, const Drawn &drawn, uint64_t) {
               return explainSchedules(context, drawn);
             });
}

TEST(RecordsTest, EveryScheduleIsEmitted) {
  checkDrawn(
      1600 * std::max(getScale(), 1u), getSeed() + 1,
      [](mlir::MLIRContext &, const Drawn &drawn, uint64_t) -> std::string {
        auto emitted =
            emitProgram(drawn.text, drawn.name + ".mlir", {}, "cuda", "sm_90a");
        if (emitted)
          return "";
        return drawn.name + ": " + emitted.status().message() + "\n" +
               drawn.text;
      });
}

TEST(RecordsTest, DrawnRecordsAgainstTheOracle) {
  TemporaryDirectory directory;
  mlir::DialectRegistry registry;
  registerAllDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  std::vector<std::function<std::string()>> jobs;
  for (unsigned i = 0; i < 72 * std::max(getScale(), 1u); ++i) {
    uint64_t seed = (getSeed() + 2) * 1000003 + i;
    std::mt19937_64 random(seed);
    Drawn drawn = drawProgram(context, random);
    jobs.push_back([&directory, drawn, seed]() -> std::string {
      std::string file =
          directory.write(std::to_string(seed) + ".mlir", drawn.text);
      std::string failure =
          explainFailure(getCheckedRun(file, directory, drawn.dims, seed));
      return failure.empty()
                 ? ""
                 : drawn.name + ", inputs of seed " + std::to_string(seed) +
                       ": " + failure + "\n" + drawn.text;
    });
  }
  runAll(jobs);
  std::printf("%zu programs\n", jobs.size());
}
