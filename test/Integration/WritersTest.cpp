//===- WritersTest.cpp - Ops that write, against the oracle ---------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// quantize, rms_norm, rope, hadamard and paged_append, alone and in chains, bit
// for bit against the oracle; an append is launched twice.
//
//===----------------------------------------------------------------------===//

#include "Writers.h"
#include "CompiledProgram.h"

#include <atomic>
#include <cstdio>
#include <cstring>

using namespace dsv4;
using namespace dsv4::test;
using reference::Codes;
using reference::InputSet;

namespace {

/// As many rows as dims n and m of a rank have.
Dims getRows(int rank, int64_t n, int64_t m = 3) {
  Dims dims;
  if (rank > 1)
    dims["n"] = n;
  if (rank > 2)
    dims["m"] = m;
  return dims;
}

//===----------------------------------------------------------------------===//
// Every value
//===----------------------------------------------------------------------===//

/// Stores the value with the bits of bf16 `code` into element `at`; an f32 may
/// also be a few units of its last place away.
void storeValue(std::vector<char> &bytes, bool isF32, int64_t at, uint32_t code,
                std::mt19937_64 &random) {
  if (!isF32) {
    std::memcpy(bytes.data() + 2 * at, &code, 2);
    return;
  }
  uint32_t wide = code << 16;
  if (unsigned draw = random() % 8; draw < 4)
    wide += int(draw) - 2;
  std::memcpy(bytes.data() + 4 * at, &wide, 4);
}

/// How the 2^16 values of bf16 are put into rows.
enum class Fill {
  Ascending, ///< One after another, so neighbours share a scale.
  Mixed,     ///< Every 16th element; the others are moderate.
  Only,      ///< A group of each.
  Alone      ///< A group of zeros with one.
};

/// Inputs of `op` that hold every value of bf16, in large groups some.
std::string checkEveryValue(CompiledProgram &program, const Quantize &op,
                            Fill fill) {
  const int64_t values = 1 << 16, most = 1 << 20;
  int64_t group = op.getGroup();
  int64_t spread = fill == Fill::Ascending ? 1
                   : fill == Fill::Mixed   ? 16
                                           : group;
  int64_t step = std::max<int64_t>(values * spread / most, 1);
  int64_t rows = (values / step * spread + op.count - 1) / op.count;
  auto made =
      program.makeInputs(getRows(op.rank, rows), getSeed(), Codes::Finite);
  if (!made)
    return made.status().message();
  InputSet inputs = made.take();
  std::vector<char> &bytes = inputs.bytes[program.find("x")];
  std::mt19937_64 random(getSeed());
  int64_t phase = getSeed() % step;
  for (int64_t row = 0; row < rows; ++row) {
    uint32_t exponent = 0x3F00 + 0x80 * (int(random() % 12) - 6);
    for (int64_t column = 0; column < op.count; ++column) {
      int64_t place = row * op.count + column, value = place / spread;
      uint32_t code = (value * step + phase) % values;
      if (fill == Fill::Mixed && place % 16 != value % 16)
        code = exponent + random() % 0x100 + 0x8000 * (random() % 2);
      if (fill == Fill::Alone && place % group != value % group)
        code = 0x8000 * (random() % 2);
      storeValue(bytes, op.input == "f32", row * op.extent + op.begin + column,
                 code, random);
    }
  }
  std::string failure = program.check(inputs);
  return failure.empty() ? ""
                         : "every value, fill " + std::to_string(int(fill)) +
                               ": " + failure;
}

std::string checkQuantize(Sessions &sessions, const Quantize &op,
                          uint64_t seed) {
  CompiledProgram program(sessions, op.getText());
  std::string failure = program.compile();
  std::vector<Shape> shapes;
  for (int64_t n : {0, 1, 3, 7})
    shapes.push_back({getRows(op.rank, n)});
  int64_t many = 1 + 60000 / op.extent;
  shapes.push_back({getRows(op.rank, many), Codes::All});
  shapes.push_back({getRows(op.rank, many), Codes::NoNaN});
  if (failure.empty())
    failure = checkShapes(program, shapes, seed);
  for (Fill fill : {Fill::Ascending, Fill::Mixed, Fill::Only, Fill::Alone})
    if (failure.empty() && op.rank == 2)
      failure = checkEveryValue(program, op, fill);
  return failure.empty() ? ""
                         : op.getName() + ": " + failure + "\n" + op.getText();
}

void checkQuantizes(const std::vector<Quantize> &all) {
  Sessions sessions;
  Jobs jobs;
  for (const Quantize &op : all)
    jobs.push_back([&, seed = getSeed() * 1000 + 17 * jobs.size()] {
      return checkQuantize(sessions, op, seed);
    });
  runAndCount(jobs);
}

//===----------------------------------------------------------------------===//
// Appends
//===----------------------------------------------------------------------===//

/// Shapes of an append of so many entries a page.
std::vector<Shape> getShapes(const Slots &slots, int64_t page,
                             std::mt19937_64 &random) {
  struct {
    int64_t n, r, mp;
  } const all[] = {{7, 3, 4}, {0, 2, 2},   {1, 1, 1},  {33, 2, 3},
                   {9, 0, 2}, {150, 5, 7}, {70, 40, 1}};
  std::vector<Shape> shapes;
  for (auto [n, r, mp] : all) {
    Dims dims = {{"n", n}};
    int64_t requests = slots.requests ? r : n;
    int64_t pages = 3 + n / page;
    if (slots.ring) {
      int64_t perRing = (slots.ring + page - 1) / page;
      // Sometimes not enough for all requests.
      pages = std::max<int64_t>(requests * slots.ring / page, 1) + random() % 3;
      if (slots.table) {
        dims["mp"] = random() % 4 == 0 ? mp : perRing;
        pages = requests * perRing + random() % 3;
      }
      if (slots.requests)
        dims["r"] = r;
      if (random() % 3 == 0)
        pages = pages * 2 / 3;
    }
    dims["c.pages"] = std::min<int64_t>(pages, 1 + 4000 / page);
    shapes.push_back({dims, random() % 2 ? Codes::All : Codes::NoNaN});
  }
  return shapes;
}

void checkAppends(const std::vector<Record> &records, unsigned pagesEach) {
  Sessions sessions;
  Jobs jobs;
  std::mt19937_64 random(getSeed());
  std::vector<Append> all;
  for (const Record &record : records)
    for (unsigned i = 0; i < pagesEach * std::max(getScale(), 1u); ++i) {
      Append append;
      append.record = record;
      const int64_t pages[] = {1, 2, 4, 32, 64, 128};
      append.page = pages[(all.size() + getSeed()) % std::size(pages)];
      append.slots = Slots::draw(append.page, random);
      append.seed = random();
      all.push_back(append);
    }
  all = thin(all);
  for (const Append &append : all)
    jobs.push_back([&, seed = getSeed() * 1000 + 13 * jobs.size()] {
      std::mt19937_64 own(seed);
      return checkText(sessions, append.getName(), append.getText(),
                       getShapes(append.slots, append.page, own), seed);
    });
  runAndCount(jobs);
}

//===----------------------------------------------------------------------===//
// Chains
//===----------------------------------------------------------------------===//

std::vector<Shape> getShapes(const Chain &chain, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Shape> shapes = getShapes(chain.slots, chain.page, random);
  for (Shape &shape : shapes) {
    if (chain.compress)
      for (const auto &[dim, extent] :
           chain.compress->getDims(shape.dims["n"], 1 + random() % 50, 3))
        shape.dims[dim] = extent;
    if (chain.rope)
      shape.dims["p"] = random() % 4 ? 300 : random() % 2 * 9;
  }
  return shapes;
}

/// A chain as one kernel; then, of the same inputs, with every intermediate in
/// memory: the same bytes.
std::string checkChain(Sessions &sessions, Chain chain, uint64_t seed,
                       bool alsoKept) {
  chain.kept = false;
  CompiledProgram fused(sessions, chain.getText());
  std::string failure = fused.compile();
  if (failure.empty() && fused.getKernelCount() != 1)
    failure = "is not one kernel";
  if (!failure.empty())
    return chain.getName() + ": " + failure + "\n" + chain.getText();
  chain.kept = true;
  CompiledProgram kept(sessions, chain.getText());
  if (alsoKept)
    failure = kept.compile();
  if (failure.empty() && alsoKept && kept.getKernelCount() != 1)
    failure = "is not one kernel where its intermediate rows are stored, too";
  if (!failure.empty())
    return chain.getName() + ": " + failure + "\n" + chain.getText();
  for (const auto &[dims, codes] : getShapes(chain, seed)) {
    auto inputs = fused.makeInputs(dims, ++seed, codes);
    if (!inputs)
      return inputs.status().message();
    InputSet got;
    failure = fused.check(*inputs, &got);
    if (failure.empty() && alsoKept) {
      auto keptInputs = kept.makeInputs(dims, seed, codes);
      InputSet keptGot;
      failure = kept.check(*keptInputs, &keptGot);
      // The intermediates are its last bindings.
      keptGot.bytes.resize(got.bytes.size());
      if (failure.empty() && keptGot.bytes != got.bytes)
        failure = "the bytes depend on what is kept";
    }
    if (!failure.empty())
      return chain.getName() + " with " + toText(dims) + ", inputs of seed " +
             std::to_string(seed) + ": " + failure + "\n" + chain.getText();
  }
  return "";
}

Chain getChain(const std::string &record, std::mt19937_64 &random) {
  std::vector<Record> records = getKnownRecords();
  for (const Record &own : getOwnRecords())
    records.push_back(own);
  for (const Record &one : records)
    if (one.name == record)
      return *Chain::draw(one, random);
  llvm::report_fatal_error("no such record");
}

using DrawCompressor = Compressor (*)(int64_t, std::mt19937_64 &);

void checkChains(const std::vector<std::string> &records, bool norm,
                 unsigned keptOneIn, DrawCompressor compress = nullptr) {
  Sessions sessions;
  Jobs jobs;
  std::mt19937_64 random(getSeed());
  for (unsigned time = 0; time < std::max(getScale(), 1u); ++time)
    for (const std::string &record : thin(records)) {
      Chain chain = getChain(record, random);
      chain.norm = norm;
      if (compress) {
        chain.slots = Slots();
        chain.slots.unique = random() % 2;
        chain.compress = compress(chain.record.rowExtent, random);
        chain.compress->result = chain.input;
      }
      bool kept = keptOneIn != 0 && jobs.size() % keptOneIn == 0;
      jobs.push_back([&, chain, kept, seed = random() % 1000000] {
        return checkChain(sessions, chain, seed, kept);
      });
    }
  runAndCount(jobs);
}

/// A gather into `scratch`, and an op on its rows.
std::string getGatherText(const Record &record, int rank, const RowOp *rowOp,
                          const Quantize *quantize) {
  Writer writer(rank + 1);
  writer.addCache(4, record);
  std::vector<std::string> dims = {"n", "m"};
  dims.resize(rank);
  std::string indices = tensor(rank, -1, "i32");
  writer.add("i", indices, dims);
  std::string input = rowOp ? rowOp->input : quantize->input;
  std::string type = writer.rows(input, record.rowExtent);
  writer.addRows("scratch", input, record.rowExtent);
  writer.addText("%rows = dsv4.paged_gather %c[%i] outs(%scratch : " + type +
                 ") : !cache, " + indices);
  if (rowOp) {
    if (rowOp->op == "rope")
      writer.addRows("pos", "i32", -1);
    rowOp->addTo(writer, "%rows", "y", /*kept=*/true);
  } else {
    quantize->addTo(writer, "%rows", /*kept=*/true);
  }
  return writer.getText();
}

std::string drawSchedule(std::mt19937_64 &random) {
  return "#dsv4.schedule<threads = " + std::to_string(32 << random() % 4) +
         (random() % 2 ? ", pdl = true" : "") +
         ", parts = [#dsv4.rows<lanes = " + std::to_string(1 << random() % 6) +
         ", vector = " + std::to_string(1 << random() % 5) +
         (random() % 2 ? ", load = evict_last" : "") +
         (random() % 2 ? ", store = streaming" : "") + ">]>";
}

} // namespace

//===----------------------------------------------------------------------===//
// Alone
//===----------------------------------------------------------------------===//

TEST(WritersTest, KnownQuantizers) {
  checkQuantizes(thin(getKnownQuantizes()));
}

TEST(WritersTest, DrawnQuantizers) {
  std::mt19937_64 random(getSeed());
  std::vector<Quantize> all;
  for (unsigned i = 0; i < std::max(getScale(), 1u); ++i)
    for (const Quantize &one : drawQuantizes(random)) {
      all.push_back(one);
      all.back().rank = draw<int>({1, 2, 2, 2, 2, 3}, random);
    }
  checkQuantizes(thin(all));
}

TEST(WritersTest, RowsToRows) {
  Sessions sessions;
  Jobs jobs;
  std::mt19937_64 random(getSeed());
  std::vector<RowOp> all;
  for (unsigned i = 0; i < std::max(getScale(), 1u); ++i)
    for (const RowOp &one : drawRowOps(random))
      all.push_back(one);
  all = thin(all);
  for (const RowOp &op : all)
    jobs.push_back([&, seed = getSeed() * 1000 + 11 * jobs.size()] {
      std::vector<Shape> shapes;
      for (int64_t n :
           {int64_t(0), int64_t(1), int64_t(3), 1 + 30000 / op.extent})
        for (Codes codes : {Codes::All, Codes::NoNaN}) {
          Shape shape{getRows(op.rank, n), codes};
          if (op.op == "rope")
            shape.dims["p"] = n == 3 ? 0 : 50;
          shapes.push_back(shape);
        }
      return checkText(sessions, op.getName(), op.getText(), shapes, seed);
    });
  runAndCount(jobs);
}

TEST(WritersTest, AppendKnownRecords) { checkAppends(getKnownRecords(), 2); }

TEST(WritersTest, AppendOwnRecords) { checkAppends(getOwnRecords(), 1); }

//===----------------------------------------------------------------------===//
// Together
//===----------------------------------------------------------------------===//

TEST(WritersTest, NormRopeQuantizeAppend) {
  checkChains({"v4_584", "v41_528", "v41_interleaved_528", "v41_fp4_288",
               "v41_fp4_interleaved_288", "mxfp4_368", "seed_580", "seed_292",
               "v32_656", "index_mxfp4_68", "nvfp4_432", "bf16_1024"},
              /*norm=*/true, /*keptOneIn=*/2);
}

TEST(WritersTest, CompressNormRopeQuantizeAppend) {
  checkChains({"v4_584", "v41_528", "v41_fp4_288", "mxfp4_368", "seed_580",
               "seed_292", "index_mxfp4_68", "index_fp8_132"},
              /*norm=*/true, /*keptOneIn=*/3, Compressor::draw);
}

TEST(WritersTest, OnlineNormRopeQuantizeAppend) {
  checkChains({"v4_584", "v41_fp4_288", "mxfp4_368", "index_fp8_132"},
              /*norm=*/true, /*keptOneIn=*/2, Compressor::drawOnline);
}

TEST(WritersTest, RopeQuantizeAppend) {
  checkChains({"index_mxfp4_68", "index_fp8_132", "v4_584", "nvfp4_384",
               "nvfp4_arrays_288", "packed_fp4_384", "nvfp4_380", "high_first",
               "two_levels"},
              /*norm=*/false, /*keptOneIn=*/3);
}

// Rows of a gather go on in the same kernel.
TEST(WritersTest, GatherAndMore) {
  Sessions sessions;
  Jobs jobs;
  std::mt19937_64 random(getSeed());
  std::vector<Record> records;
  for (const Record &record : getKnownRecords())
    if (record.rowExtent == 512 || record.rowExtent == 128)
      records.push_back(record);
  std::vector<std::string> kinds = {"rms_norm", "rope", "hadamard", "quantize"};
  for (unsigned i = 0; i < 8 * std::max(getScale(), 1u); ++i) {
    Record record = draw(records, random);
    int rank = 1 + random() % 2;
    std::string kind = kinds[i % kinds.size()];
    RowOp op;
    op.op = kind;
    op.extent = record.rowExtent;
    op.weight = "bf16";
    op.input = draw<std::string>({"bf16", "f32"}, random);
    op.result = draw<std::string>({"bf16", "f32"}, random);
    Quantize quantize = drawQuantizes(random)[random() % 4];
    quantize.begin = 0;
    quantize.count = quantize.extent = record.rowExtent;
    std::string text =
        getGatherText(record, rank, kind == "quantize" ? nullptr : &op,
                      kind == "quantize" ? &quantize : nullptr);
    jobs.push_back([&, text, rank, record, kind, seed = random() % 1000000] {
      std::vector<Shape> shapes;
      for (int64_t n : {0, 1, 5, 33}) {
        Shape shape{getRows(rank + 1, n)};
        shape.dims["c.pages"] = 11;
        if (kind == "rope")
          shape.dims["p"] = 30;
        shapes.push_back(shape);
      }
      CompiledProgram program(sessions, text);
      std::string failure = program.compile();
      if (failure.empty() && program.getKernelCount() != 1)
        failure = "is not one kernel";
      if (failure.empty())
        failure = checkShapes(program, shapes, seed);
      return failure.empty()
                 ? ""
                 : record.name + ", " + kind + ": " + failure + "\n" + text;
    });
  }
  runAndCount(jobs);
}

// A result does not depend on the schedule; one that does not fit is refused.
TEST(WritersTest, Schedules) {
  Sessions sessions;
  Jobs jobs;
  std::mt19937_64 random(getSeed());
  std::atomic<unsigned> fitted{0};
  const std::vector<std::string> names = {"v4_584",
                                          "v41_528",
                                          "v41_interleaved_528",
                                          "v41_fp4_288",
                                          "v41_fp4_interleaved_288",
                                          "seed_580",
                                          "seed_292",
                                          "v32_656",
                                          "nvfp4_352",
                                          "index_mxfp4_68",
                                          "index_fp8_132",
                                          "mxfp4_368"};
  std::vector<Quantize> known = getKnownQuantizes();
  std::vector<RowOp> rowOps = drawRowOps(random);
  for (unsigned i = 0; i < 120 * std::max(getScale(), 1u); ++i) {
    std::string schedule = drawSchedule(random), name, text;
    std::vector<Shape> shapes;
    if (i % 4 == 0) {
      Quantize op = known[random() % known.size()];
      op.input = draw<std::string>({"bf16", "f32"}, random);
      name = op.getName(), text = op.getText();
      shapes = {{getRows(2, 37)}};
    } else if (i % 4 == 1) {
      RowOp op = draw(rowOps, random);
      name = op.getName(), text = op.getText();
      shapes = {{getRows(op.rank, 37)}};
      if (op.op == "rope")
        shapes[0].dims["p"] = 20;
    } else if (i % 4 == 2) {
      std::string record = draw(names, random);
      if (record == "nvfp4_352") // Its rotary values are not plain.
        record = "nvfp4_arrays_288";
      Chain chain = getChain(record, random);
      name = chain.getName(), text = chain.getText();
      shapes = getShapes(chain, random());
      shapes = {shapes[3], shapes[5]};
    } else {
      Append append;
      std::string record = draw(names, random);
      for (const Record &one : getKnownRecords())
        if (one.name == record)
          append.record = one;
      append.page = draw<int64_t>({2, 64}, random);
      append.slots = Slots::draw(append.page, random);
      append.seed = random();
      name = append.getName(), text = append.getText();
      shapes = getShapes(append.slots, append.page, random);
      shapes = {shapes[3], shapes[5]};
    }
    jobs.push_back(
        [&, name, text, shapes, schedule, seed = random() % 1000000] {
          return checkSchedule(sessions, name, text, shapes, seed, schedule,
                               fitted);
        });
  }
  runAndCount(jobs);
  expectFitted(fitted, jobs);
}
