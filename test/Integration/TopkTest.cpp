//===- TopkTest.cpp - The best elements of rows, against the oracle -------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// topk under every algorithm, against a sort.
//
//===----------------------------------------------------------------------===//

#include "CompiledProgram.h"
#include "Selections.h"
#include "Writers.h"

#include "llvm/Support/MathExtras.h"

#include <atomic>
#include <limits>
#include <random>

using namespace dsv4;
using namespace dsv4::test;
using reference::Codes;
using reference::InputSet;

namespace {

std::string getName(const Selecting &op) {
  return "top " + std::to_string(op.places) + " of " + op.element;
}

Selecting drawSelecting(std::mt19937_64 &random) {
  Selecting op{draw<int64_t>(
      {1, 2, 3, 6, 31, 32, 33, 64, 100, 512, 777, 1024, 2048, 4096}, random)};
  op.element = draw<std::string>({"f32", "f32", "bf16"}, random);
  op.order =
      draw<std::string>({"unordered", "sorted", "index_ascending"}, random);
  op.lengths = random() % 4 != 0;
  op.values = random() % 4 != 0;
  op.pages = random() % 3 == 0;
  op.requests = op.pages && random() % 2;
  op.bias = random() % 4 == 0;
  op.smallest = random() % 4 == 0;
  op.ratio = op.lengths && random() % 4 == 0
                 ? draw<int64_t>({1, 3, 4, 4, 128}, random)
                 : 0;
  op.tiesHigh = random() % 3 == 0;
  op.nanFirst = random() % 3 == 0;
  op.offsets = random() % 4 == 0;
  op.nextN = op.lengths && random() % 4 == 0 ? 1 + random() % 5 : 0;
  op.starts = !op.bias && random() % 2;
  op.ends = !op.nextN && !op.ratio && random() % 4 == 0;
  if (random() % 4 == 0)
    op.columns = draw<int64_t>({1, 7, 97, 256, 640, 1022, 4096}, random);
  else
    op.multiple = draw<int64_t>({1, 1, 4, 8}, random);
  return op;
}

std::vector<Shape> getShapes(const Selecting &op, std::mt19937_64 &random) {
  int64_t k = op.places;
  std::vector<Shape> shapes;
  for (auto [rows, columns] :
       std::initializer_list<std::pair<int64_t, int64_t>>{
           {0, 5},
           {1, 1},
           {2, std::max<int64_t>(k - 1, 1)},
           {3, k},
           {2, k + 1},
           {4, 1 + int64_t(random() % (4 * k + 100))},
           {1, 1 + int64_t(random() % (2 * k))},
           {2, 1 + int64_t(random() % 40)},
           {1 + int64_t(random() % 9), 1 + int64_t(random() % 300)},
           {7, 1 + int64_t(random() % 1000)},
           {2, 1 + int64_t(random() % 3000)},
           {1, 1 + int64_t(random() % 20000)},
           {3, 1 + int64_t(random() % 9000)}}) {
    int64_t width =
        op.columns ? op.columns : llvm::alignTo(columns, op.multiple);
    Dims dims = {{"rows", rows}};
    if (!op.columns)
      dims["columns"] = width;
    if (op.pages)
      dims["pages"] = 1 + width / 20;
    if (op.requests)
      dims["requests"] = 2;
    // Rows and requests need not fit.
    if (op.nextN)
      dims["sequences"] = (rows + int64_t(random() % 2)) / op.nextN;
    shapes.push_back({dims, random() % 2 ? Codes::All : Codes::Finite});
  }
  return shapes;
}

/// Every algorithm that there is, in several sizes.
std::vector<std::string> getSchedules() {
  std::vector<std::string> all;
  for (int64_t cluster : {1, 2, 6, 13, 16})
    for (int64_t threads : {64, 256, 1024})
      for (auto [vector, vectors] :
           {std::pair<int64_t, int64_t>{1, 1}, {4, 1}, {4, 4}, {2, 16}})
        all.push_back(
            makeSchedule("stream", threads, vector, cluster, vectors));
  for (int64_t parts : {2, 16, 256})
    for (int64_t threads : {64, 256, 1024})
      for (auto [vector, vectors] : {std::pair<int64_t, int64_t>{1, 1}, {4, 4}})
        all.push_back(makeSchedule("grid", threads, vector, 1, vectors, parts));
  for (int64_t cluster : {1, 2, 3, 6, 13})
    for (int64_t threads : {64, 512, 1024})
      for (int64_t vector : {1, 2, 4})
        if (cluster == 1 || threads * vector != 1024)
          all.push_back(makeSchedule("block", threads, vector, cluster));
  return all;
}

} // namespace

// Any k, any rows: lengths, pages, bias, orders, both ends. 1040 shapes.
TEST(TopkTest, DrawnPrograms) {
  Sessions sessions;
  Jobs jobs;
  std::mt19937_64 random(getSeed());
  for (unsigned i = 0; i < 80 * std::max(getScale(), 1u); ++i) {
    Selecting op = drawSelecting(random);
    jobs.push_back(
        [&, op, shapes = getShapes(op, random), seed = random() % 1000000] {
          return checkText(sessions, getName(op), op.getText(), shapes, seed);
        });
  }
  runAndCount(thin(jobs));
}

// The set does not depend on who finds it.
TEST(TopkTest, Algorithms) {
  Sessions sessions;
  Jobs jobs;
  std::atomic<unsigned> fitted = 0;
  std::mt19937_64 random(getSeed());
  for (const std::string &schedule : getSchedules()) {
    Selecting op = drawSelecting(random);
    op.places = draw<int64_t>({1, 6, 100, 512, 2048}, random);
    op.columns = 0;
    std::vector<Shape> shapes = getShapes(op, random);
    if (isOfRegisters(schedule)) {
      // A cluster's blocks have up to 32 elements a thread of it, too.
      op.columns =
          schedule.find("cluster = 1,") == std::string::npos ? 4096 : 1024;
      op.multiple = 1;
      shapes = {{{{"rows", 5}}}, {{{"rows", 3}}}};
      for (Shape &shape : shapes) {
        shape.dims["pages"] = 40;
        shape.dims["requests"] = 2;
        shape.dims["sequences"] = 2;
      }
      op.pages = op.requests = true;
    } else {
      shapes.push_back(
          {{{"rows", 2},
            {"columns", llvm::alignTo(70000 + random() % 9, op.multiple)},
            {"pages", 3000},
            {"requests", 3},
            {"sequences", 1}}});
    }
    for (Shape &shape : shapes) {
      if (!op.pages)
        shape.dims.erase("pages");
      if (!op.requests)
        shape.dims.erase("requests");
      if (!op.nextN)
        shape.dims.erase("sequences");
    }
    jobs.push_back([&, op, shapes, schedule, seed = random() % 1000000] {
      return checkSchedule(sessions, getName(op), op.getText(), shapes, seed,
                           schedule, fitted);
    });
  }
  jobs = thin(jobs);
  runAndCount(jobs);
  EXPECT_GT(fitted, jobs.size() * 3 / 4);
}

// One workspace serves launch after launch, whatever their rows and lengths.
TEST(TopkTest, WorkspaceOfManyLaunches) {
  Sessions sessions;
  for (int64_t places : {1, 100, 2048}) {
    Selecting op{places};
    CompiledProgram program(sessions, op.getText(),
                            makeSchedule("grid", 64, 2, 1, 2, 8));
    ASSERT_EQ(program.compile(), "");
    uint64_t seed = getSeed();
    for (int64_t rows : {3, 1, 5, 2})
      for (int64_t columns : {int64_t(1), places, places + 1, 4 * places + 3000,
                              int64_t(20000)}) {
        auto inputs = program.makeInputs({{"rows", rows}, {"columns", columns}},
                                         ++seed, Codes::All);
        ASSERT_TRUE(inputs.ok()) << inputs.status().message();
        for (int64_t row = 0; row < rows; ++row) {
          const int64_t lengths[] = {columns, 0, places - 1, columns / 2, 1};
          int32_t length = std::min(lengths[row], columns);
          put(*inputs, program.find("lengths"), row, &length, 1);
        }
        // In every order of threads, and again.
        for (unsigned i = 0; i < 2 * sessions.size(); ++i)
          ASSERT_EQ(program.check(*inputs), "")
              << places << " of " << columns << ", " << rows << " rows";
      }
  }
}

// A workspace that is not zero makes results wrong. But launches end, and touch
// nothing else.
static void checkDirtyWorkspace(bool starts) {
  Sessions sessions;
  Selecting op{100};
  op.bias = !starts;
  op.starts = op.tiesHigh = starts;
  CompiledProgram program(sessions, op.getText(),
                          makeSchedule("grid", 64, 2, 1, 2, 8));
  ASSERT_EQ(program.compile(), "");
  auto inputs = program.makeInputs({{"rows", 3}, {"columns", 20000}}, getSeed(),
                                   Codes::All);
  ASSERT_TRUE(inputs.ok()) << inputs.status().message();
  const int32_t lengths[] = {20000, 19999, 5000};
  put(*inputs, program.find("lengths"), 0, lengths, 3);
  const int32_t begins[] = {1, 3, 7001};
  if (starts)
    put(*inputs, program.find("starts"), 0, begins, 3);
  // Of the counters before each row's list, and of the list: the same
  // element again and again, ones that there are not.
  const std::vector<char> all[] = {
      {-1},
      {1},
      {127},
      {5, 0, 0, 0, 1, 0, 0, 0},
      {0, 0, 0, 0, 7, 0, 0, 0},
      {-3, -1, -1, -1, 0, 0, 0, 0},
      {88, 2, 0, 0, 0, 0, 0, 0},
      // Of infinity, so that all of the best are one element.
      {88, 2, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, -128, 127},
      {-1, -1, -1, 127, 0, 0, 0, 0, -1, -1, -1, 0, 0, 0, 0, 127}};
  const unsigned indices = program.find("indices");
  for (const std::vector<char> &dirt : all)
    for (size_t i = 0; i < sessions.size(); ++i) {
      InputSet outputs = *inputs;
      std::vector<int32_t> found(3 * 100, -1);
      put(outputs, indices, 0, found.data(), found.size());
      rt::Status status = program.launch(outputs, dirt);
      EXPECT_TRUE(status.ok()) << status.message();
      std::memcpy(found.data(), outputs.bytes[indices].data(), 4 * 300);
      for (int place = 0; place < 300; ++place) {
        EXPECT_GE(found[place], -1);
        EXPECT_LT(found[place], lengths[place / 100]);
      }
    }
  // Set to zero, it is good again.
  EXPECT_EQ(program.check(*inputs), "");
}

TEST(TopkTest, WorkspaceThatWasNotZero) { checkDirtyWorkspace(false); }
TEST(TopkTest, WorkspaceThatWasNotZeroWithStarts) { checkDirtyWorkspace(true); }

/// Whether rows come out as they do among 64 rows, whatever their number.
static std::string checkBatches(Sessions &sessions, const Selecting &op,
                                int64_t columns, bool all) {
  CompiledProgram program(sessions, op.getText());
  std::string failure = program.compile();
  if (!failure.empty())
    return failure;
  auto of = [&](int64_t rows) {
    Dims dims = {{"rows", rows}};
    if (!op.columns)
      dims["columns"] = columns;
    return program.makeInputs(dims, getSeed(), Codes::All);
  };
  auto most = of(64);
  if (!most)
    return most.status().message();
  InputSet whole = *most;
  if (rt::Status status = program.launch(whole); !status)
    return status.message();
  for (int64_t rows = 1; rows < 64; rows += all ? 1 : rows) {
    auto some = of(rows);
    if (!some)
      return some.status().message();
    // The first rows of all inputs; results are as they were drawn.
    for (size_t i = 0; i < some->bytes.size(); ++i)
      std::copy_n(most->bytes[i].begin(), some->bytes[i].size(),
                  some->bytes[i].begin());
    if (rt::Status status = program.launch(*some); !status)
      return status.message();
    for (const char *result : {"indices", "values"}) {
      unsigned i = program.find(result);
      if (!std::equal(some->bytes[i].begin(), some->bytes[i].end(),
                      whole.bytes[i].begin()))
        return std::string(result) + " of " + std::to_string(rows) +
               " rows are not those among 64";
    }
  }
  return program.check(*most);
}

// What comes out of a row does not depend on how many others there are.
TEST(TopkTest, Batches) {
  Sessions sessions;
  Jobs jobs;
  for (const char *order : {"sorted", "index_ascending"}) {
    // By a warp, in registers, in rounds, by a stream.
    struct {
      int64_t k, columns;
      bool constant;
    } const shapes[] = {{6, 256, true},
                        {100, 1000, true},
                        {64, 6000, false},
                        {512, 40000, false}};
    for (const auto &shape : shapes) {
      Selecting op{shape.k, "f32", order};
      op.columns = shape.constant ? shape.columns : 0;
      jobs.push_back([&sessions, op, shape] {
        return checkBatches(sessions, op, shape.columns, shape.columns <= 1000);
      });
    }
  }
  runAndCount(thin(jobs));
}
