//===- LayoutsTest.cpp - Every layout against the oracle ------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Programs over every record and format, in every shape that has surprised
// somebody, bit for bit against the oracle. A program is compiled once: its
// shapes, except those with exact dims, come from the cache.
//
//===----------------------------------------------------------------------===//

#include "Programs.h"
#include "Testing.h"

#include "dsv4/Support/Npy.h"

#include <cstdio>

using namespace dsv4;
using namespace dsv4::test;

namespace {

/// Runs one program in several shapes and thread orders.
class ProgramRun {
public:
  ProgramRun(const TemporaryDirectory &directory, const std::string &name,
             const std::string &text, uint64_t seed)
      : directory(directory), name(name), text(text), seed(seed),
        file(directory.write(name + ".mlir", text)) {}

  std::string run(const std::vector<Dims> &shapes) {
    for (const Dims &shape : shapes) {
      RunOptions options = getCheckedRun(file, directory, shape, seed + count);
      const std::string orders[] = {"reverse", "forward",
                                    "random:" + std::to_string(seed)};
      options.session.threadOrder = orders[count++ % 3];
      std::string failure = explainFailure(options);
      if (!failure.empty())
        return name + " with " + toText(shape) + ", inputs of seed " +
               std::to_string(*options.randomSeed) + ", " +
               options.session.threadOrder + ": " + failure + "\n" + text;
    }
    return "";
  }

private:
  const TemporaryDirectory &directory;
  std::string name, text;
  uint64_t seed;
  std::string file;
  unsigned count = 0;
};

/// Shapes of a gather: {t, k, r, mp, pages}.
std::vector<Dims> getShapes(const Gather &gather, uint64_t seed) {
  struct Shape {
    int64_t t, k, r, mp, pages;
  };
  // The first shapes are for all; the last four take turns.
  std::vector<Shape> shapes = {
      {5, 7, 3, 4, 6}, {1, 1, 1, 1, 1},  {0, 7, 1, 1, 2},
      {3, 0, 2, 2, 3}, {3, 33, 2, 0, 4}, {4, 9, 0, 2, 3},
      {2, 5, 2, 3, 0}, {5, 31, 2, 1, 1}, {33, 3, 7, 5, 3}};
  const Shape large[] = {{1, 513, 1, 9, 11}, {3, 171, 2, 5, 7}};
  if (gather.record.rowExtent <= 1024)
    shapes.push_back(large[seed % 2]);
  if (gather.policy == Policy::Exact)
    shapes = {shapes[0], shapes[3], shapes[4], shapes.back()};
  std::vector<Dims> result;
  for (Shape shape : shapes) {
    // Pools of small pages have more of them.
    int64_t pages =
        gather.page < 32 && shape.pages > 1 ? 4 * shape.pages : shape.pages;
    int64_t mp = gather.page < 32 && shape.mp > 1 ? 4 * shape.mp : shape.mp;
    Dims dims = {{"k", shape.k}, {"c.pages", pages}};
    if (gather.rank == 2)
      dims["t"] = shape.t;
    if (gather.table != Table::None)
      dims["mp"] = mp;
    if (gather.table == Table::PerRequest)
      dims["r"] = shape.r;
    result.push_back(dims);
  }
  return result;
}

/// Gathers of `records`: every record with every page size, the rest drawn.
std::vector<Gather> drawGathers(const std::vector<Record> &records,
                                unsigned times) {
  std::mt19937_64 random(getSeed());
  std::vector<Gather> gathers;
  for (unsigned time = 0; time < std::max(times, 1u); ++time)
    for (const Record &record : records)
      for (int64_t page : {1, 2, 32, 64, 128})
        if (times != 0 || page == 64)
          gathers.push_back(Gather::draw(record, page, random));
  return gathers;
}

void checkGathers(const std::vector<Gather> &gathers) {
  TemporaryDirectory directory;
  std::vector<std::function<std::string()>> jobs;
  for (const Gather &gather : gathers)
    jobs.push_back([&, seed = getSeed() * 1000 + jobs.size()] {
      return ProgramRun(directory,
                        std::to_string(seed) + "_" + gather.getName(),
                        gather.getText(), seed)
          .run(getShapes(gather, seed));
    });
  runAll(jobs);
  std::printf("%zu programs\n", jobs.size());
}

} // namespace

TEST(LayoutsTest, KnownRecords) {
  checkGathers(drawGathers(getKnownRecords(), getScale()));
}

TEST(LayoutsTest, OwnRecords) {
  checkGathers(drawGathers(getOwnRecords(), getScale()));
}

// Every kind of table, with and without lengths and mask, of one record each.
TEST(LayoutsTest, EveryKindOfGather) {
  std::vector<Record> records = getKnownRecords();
  for (const Record &record : getOwnRecords())
    records.push_back(record);
  std::vector<Gather> gathers;
  for (int rank : {1, 2})
    for (Table table :
         {Table::None, Table::PerQuery, Table::PerRequest, Table::Single})
      for (bool lengths : {false, true})
        for (bool mask : {false, true}) {
          bool single = table == Table::Single;
          if (table != Table::None && single != (rank == 1))
            continue;
          Gather gather;
          gather.record =
              records[(getSeed() + 5 * gathers.size()) % records.size()];
          gather.page = gathers.size() % 2 ? 64 : 3;
          if (gather.record.name == "two_levels" || gather.page == 3)
            gather.page = 4;
          gather.rank = rank;
          gather.table = table;
          gather.lengths = lengths;
          gather.mask = mask;
          gathers.push_back(gather);
        }
  checkGathers(gathers);
}

TEST(LayoutsTest, Dequantize) {
  TemporaryDirectory directory;
  std::vector<std::function<std::string()>> jobs;
  std::vector<Dequantize> all = getDequantizes();
  for (size_t i = 0; i < all.size(); i += getScale() ? 1 : 5)
    jobs.push_back([&, i] {
      const Dequantize &one = all[i];
      std::vector<Dims> shapes;
      for (int64_t n : {0, 1, 3, 129}) {
        Dims dims;
        if (one.rank > 1)
          dims["n"] = n;
        if (one.rank > 2)
          dims["m"] = n == 1 ? 0 : 3;
        if (shapes.empty() || !dims.empty())
          shapes.push_back(dims);
      }
      return ProgramRun(directory, std::to_string(i) + "_" + one.getName(),
                        one.getText(), getSeed() + i)
          .run(shapes);
    });
  runAll(jobs);
  std::printf("%zu programs\n", jobs.size());
}

// Bytes as they come: NaN, infinities and every scale in the pages.
TEST(LayoutsTest, EveryByteInThePages) {
  TemporaryDirectory directory;
  std::vector<std::function<std::string()>> jobs;
  for (const char *name : {"v4_584", "v32_656", "v41_fp4_288",
                           "v41_interleaved_528", "v41_fp4_interleaved_288",
                           "int4_368", "nvfp4_352", "nvfp4_432", "bf16_1024"}) {
    jobs.push_back([&directory, name]() -> std::string {
      Gather gather;
      for (const Record &record : getKnownRecords())
        if (record.name == name)
          gather.record = record;
      gather.page = 4;
      std::string file =
          directory.write(std::string(name) + ".mlir", gather.getText());
      Dims dims = {{"t", 2}, {"k", 61}, {"c.pages", 9}};
      RunOptions options = getCheckedRun(file, directory, dims, getSeed());
      // Once to learn the shape of the pages.
      auto first = run(options);
      if (!first)
        return std::string(name) + ": " + first.status().message();
      for (const rt::Binding &binding : first->info.bindings) {
        if (binding.name != "c")
          continue;
        NpyArray array{"u1", {9, binding.shape[1].constant}, {}};
        std::mt19937_64 random(getSeed());
        for (int64_t i = 0; i < array.shape[0] * array.shape[1]; ++i)
          array.bytes.push_back(static_cast<char>(random()));
        std::string path = directory.path() + "/" + name + ".npy";
        if (rt::Status status = writeNpy(path, array); !status)
          return status.message();
        options.inputs["c"] = path;
      }
      std::string failure = explainFailure(options);
      return failure.empty() ? "" : std::string(name) + ": " + failure;
    });
  }
  runAll(jobs);
}

// A result does not depend on the schedule; one that does not fit is refused.
TEST(LayoutsTest, Schedules) {
  TemporaryDirectory directory;
  std::vector<std::function<std::string()>> jobs;
  std::mt19937_64 random(getSeed());
  std::vector<Record> records = getKnownRecords();
  for (const Record &record : getOwnRecords())
    if (record.rowExtent <= 1024)
      records.push_back(record);
  for (unsigned i = 0; i < 60 * std::max(getScale(), 1u); ++i) {
    Gather gather =
        Gather::draw(records[i % records.size()], i % 3 ? 4 : 64, random);
    gather.policy = Policy::Dynamic;
    std::string schedule =
        "#dsv4.schedule<threads = " + std::to_string(32 << random() % 4) +
        (random() % 2 ? ", pdl = true" : "") +
        ", parts = [#dsv4.rows<lanes = " + std::to_string(1 << random() % 6) +
        ", vector = " + std::to_string(1 << random() % 6) +
        (random() % 2 ? ", load = evict_last" : "") +
        (random() % 2 ? ", store = streaming" : "") + ">]>";
    jobs.push_back([&directory, gather, schedule, i]() -> std::string {
      std::string name = "schedule" + std::to_string(i);
      std::string file = directory.write(name + ".mlir", gather.getText());
      RunOptions options = getCheckedRun(
          file, directory, getShapes(gather, i).front(), getSeed() + i);
      options.compile.schedule = schedule;
      std::string failure = explainFailure(options);
      if (failure.empty() ||
          failure.find("schedule_rows_c3: ") != std::string::npos)
        return "";
      return gather.getName() + " with " + schedule + ": " + failure;
    });
  }
  runAll(jobs);
}
