//===- TopkTest.cpp - The best elements of rows, against the oracle -------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// topk under every algorithm, on rows that are hard to select from, against a
// sort.
//
//===----------------------------------------------------------------------===//

#include "CompiledProgram.h"
#include "Writers.h"

#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

#include <atomic>
#include <cmath>
#include <limits>
#include <tuple>

using namespace dsv4;
using namespace dsv4::test;
using reference::Codes;
using reference::InputSet;

namespace {

/// A program of one topk.
struct Selecting {
  int64_t places;
  std::string element = "f32", order = "unordered";
  /// Of a row; 0: given when it is run.
  int64_t columns = 0;
  bool lengths = true, values = true, pages = false, requests = false;
  bool bias = false, smallest = false;
  int64_t ratio = 0;
  /// Of which the columns are a multiple, as their policy says.
  int64_t multiple = 1;

  std::string getText() const;
};

/// One way to run it: a #dsv4.row_schedule, or "" for that of the table.
std::string makeSchedule(const std::string &how, int64_t threads,
                         int64_t vector, int64_t cluster = 1,
                         int64_t chunks = 1, int64_t parts = 1) {
  return "#dsv4.row_schedule<pdl = true, lanes = 1, threads = " +
         std::to_string(threads) + ", vector = " + std::to_string(vector) +
         ", cluster = " + std::to_string(cluster) + ", select = " + how +
         ", chunks = " + std::to_string(chunks) +
         ", parts = " + std::to_string(parts) + ">";
}

} // namespace

std::string Selecting::getText() const {
  Writer writer;
  std::string width = columns ? std::to_string(columns) : "?";
  std::string rows = "tensor<?x" + width + "x" + element + ">";
  std::string number = std::to_string(places);
  std::string indexType = "tensor<?x" + number + "xi32>";
  std::string op = "dsv4.topk %scores";
  std::string outs = "%indices", types = indexType;
  writer.add("scores", rows, {"rows", columns ? "" : "columns"});
  if (bias) {
    writer.add("bias", "tensor<" + width + "xf32>", {columns ? "" : "columns"});
    op += " bias(%bias : tensor<" + width + "xf32>)";
  }
  if (lengths) {
    writer.add("lengths", "tensor<?xi32>", {"rows"});
    op += " lengths(%lengths : tensor<?xi32>)";
  }
  if (ratio)
    op += " ratio " + std::to_string(ratio);
  if (pages) {
    writer.add("table", "tensor<?x?xi32>",
               {requests ? "requests" : "rows", "pages"});
    op += " pages(%table : tensor<?x?xi32>) page 16";
  }
  if (requests) {
    writer.add("request", "tensor<?xi32>", {"rows"});
    op += " requests(%request : tensor<?xi32>)";
  }
  op += " order " + order + (smallest ? " smallest" : "");
  writer.add("indices", indexType, {"rows", ""});
  if (values) {
    std::string type = "tensor<?x" + number + "x" + element + ">";
    writer.add("values", type, {"rows", ""});
    outs += ", %values";
    types += ", " + type;
  }
  if (pages) {
    writer.add("slots", indexType, {"rows", ""});
    outs += ", %slots";
    types += ", " + indexType;
  }
  size_t count = 1 + values + pages;
  writer.addText((count == 1   ? "%i = "
                  : count == 2 ? "%i, %j = "
                               : "%i, %j, %k = ") +
                 op + " outs(" + outs + " : " + types + ") : " + rows);
  if (multiple > 1)
    writer.addPolicy("columns = #dsv4.policy<dynamic, multiple = " +
                     std::to_string(multiple) + ">");
  return writer.getText();
}

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
    shapes.push_back({dims, random() % 2 ? Codes::All : Codes::Finite});
  }
  return shapes;
}

/// Whether rows have to have a bound.
bool isOfRegisters(const std::string &schedule) {
  return schedule.find("select = block") != std::string::npos;
}

/// Every algorithm that there is, in several sizes.
std::vector<std::string> getSchedules() {
  std::vector<std::string> all;
  for (int64_t cluster : {1, 2, 8, 16})
    for (int64_t threads : {64, 256, 1024})
      for (auto [vector, chunks] :
           {std::pair<int64_t, int64_t>{1, 1}, {4, 1}, {4, 4}, {2, 16}})
        all.push_back(makeSchedule("stream", threads, vector, cluster, chunks));
  for (int64_t parts : {2, 16, 256})
    for (int64_t threads : {64, 256, 1024})
      for (auto [vector, chunks] : {std::pair<int64_t, int64_t>{1, 1}, {4, 4}})
        all.push_back(makeSchedule("grid", threads, vector, 1, chunks, parts));
  for (int64_t cluster : {1, 2, 4, 16})
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
      }
      op.pages = op.requests = true;
    } else {
      shapes.push_back(
          {{{"rows", 2},
            {"columns", llvm::alignTo(70000 + random() % 9, op.multiple)},
            {"pages", 3000},
            {"requests", 3}}});
    }
    for (Shape &shape : shapes) {
      if (!op.pages)
        shape.dims.erase("pages");
      if (!op.requests)
        shape.dims.erase("requests");
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
TEST(TopkTest, WorkspaceThatWasNotZero) {
  Sessions sessions;
  Selecting op{100};
  op.bias = true;
  CompiledProgram program(sessions, op.getText(),
                          makeSchedule("grid", 64, 2, 1, 2, 8));
  ASSERT_EQ(program.compile(), "");
  auto inputs = program.makeInputs({{"rows", 3}, {"columns", 20000}}, getSeed(),
                                   Codes::All);
  ASSERT_TRUE(inputs.ok()) << inputs.status().message();
  const int32_t lengths[] = {20000, 19999, 5000};
  put(*inputs, program.find("lengths"), 0, lengths, 3);
  // Of the counters in front of each row's list, and of the list: the same
  // element again and again, ones that there are not.
  const std::vector<char> all[] = {
      {-1},
      {1},
      {127},
      {5, 0, 0, 0, 1, 0, 0, 0},
      {0, 0, 0, 0, 7, 0, 0, 0},
      {-3, -1, -1, -1, 0, 0, 0, 0},
      {88, 2, 0, 0, 0, 0, 0, 0},
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

namespace {

/// A number for every column of a row that is hard to select from.
struct HardRow {
  const char *name;
  std::function<float(int64_t column, int64_t columns)> make;
};

const float infinity = std::numeric_limits<float>::infinity();
const float nan = std::numeric_limits<float>::quiet_NaN();

float fromBits(uint32_t bits) { return llvm::bit_cast<float>(bits); }

const HardRow hardRows[] = {
    // Of every sample that is spread evenly, far more than of the row.
    {"high where a sample looks",
     [](int64_t i, int64_t) {
       return i % 128 == 0 ? 100.0f + float(i) : float(i % 5);
     }},
    {"all equal", [](int64_t, int64_t) { return 1.5f; }},
    {"16,385 equal ones, and less",
     [](int64_t i, int64_t) {
       return i % 4 == 1 || i == 0 ? 2.0f : float(i % 7) / 8;
     }},
    {"one more is equal than there are places",
     [](int64_t i, int64_t n) { return i >= n - 513 ? 1.0f : -float(i); }},
    {"one radix bucket",
     [](int64_t i, int64_t) {
       return fromBits(0x3F800000u + uint32_t(i * 2654435761u) % 4096);
     }},
    {"only the last bit differs",
     [](int64_t i, int64_t) {
       return fromBits(0x40490FDAu | uint32_t(i * 2654435761u) >> 31);
     }},
    {"ascending", [](int64_t i, int64_t) { return float(i); }},
    {"descending", [](int64_t i, int64_t) { return -float(i); }},
    {"all NaN", [](int64_t, int64_t) { return nan; }},
    {"all -infinity", [](int64_t, int64_t) { return -infinity; }},
    {"300 numbers among NaN",
     [](int64_t i, int64_t n) { return i % (n / 300) ? nan : float(i); }},
    {"infinities, zeros of both signs, denormals",
     [](int64_t i, int64_t) {
       const float all[] = {infinity,
                            -infinity,
                            0.0f,
                            -0.0f,
                            nan,
                            1e-45f,
                            -1e-45f,
                            1e-38f,
                            3e38f,
                            -3e38f,
                            fromBits(0xFFC12345u)};
       return all[i * 7 % 11];
     }},
    {"eight numbers, which bf16 has too",
     [](int64_t i, int64_t) {
       return fromBits(0x3F800000u | uint32_t(i * 2654435761u) >> 29 << 16);
     }},
    {"zeros of both signs",
     [](int64_t i, int64_t) { return i % 3 ? -0.0f : 0.0f; }},
    {"equal ones, fewer than places, where a sample looks",
     [](int64_t i, int64_t) { return i % 256 < 2 ? 2.0f : float(i % 7); }},
    {"one radix bucket, ascending",
     [](int64_t i, int64_t) { return fromBits(0x3F800000u + uint32_t(i)); }},
    {"steps of 8192 equal ones, ascending",
     [](int64_t i, int64_t) { return float(i / 8192); }},
    {"the best where a sample does not look",
     [](int64_t i, int64_t) {
       return i % 61 == 60 ? 100.0f + float(i) : 0.5f;
     }},
};

} // namespace

/// Writes row `row` of 65,536 scores; of bf16 their upper halves.
static void putHardRow(CompiledProgram &program, InputSet &inputs, int64_t row,
                       int64_t columns, bool isBF16) {
  std::vector<float> scores(columns);
  std::vector<uint16_t> halves(columns);
  for (int64_t i = 0; i < columns; ++i) {
    scores[i] = hardRows[row].make(i, columns);
    halves[i] = llvm::bit_cast<uint32_t>(scores[i]) >> 16;
  }
  unsigned to = program.find("scores");
  if (isBF16)
    put(inputs, to, row * columns, halves.data(), columns);
  else
    put(inputs, to, row * columns, scores.data(), columns);
}

static std::string checkHardRows(Sessions &sessions, Selecting op,
                                 const std::string &schedule) {
  const int64_t columns = 65536, rows = std::size(hardRows);
  Dims dims = {{"rows", rows}};
  if (isOfRegisters(schedule))
    op.columns = columns;
  else
    dims["columns"] = columns;
  CompiledProgram program(sessions, op.getText(), schedule);
  std::string failure = program.compile();
  if (!failure.empty())
    return failure;
  auto inputs = program.makeInputs(dims, getSeed(), Codes::All);
  if (!inputs)
    return inputs.status().message();
  for (int64_t row = 0; row < rows; ++row) {
    putHardRow(program, *inputs, row, columns, op.element == "bf16");
    const int32_t lengths[] = {65536, 65535, 65537, 513, 60000};
    int32_t length = lengths[row % 5 * (getSeed() % 2)];
    put(*inputs, program.find("lengths"), row, &length, 1);
  }
  failure = program.check(*inputs);
  return failure.empty()
             ? ""
             : op.element + " " + op.order + " " + schedule + ": " + failure;
}

// 65,536 elements, of which 512 are chosen, and rows shorter than that. Of bf16
// thousands are equal.
TEST(TopkTest, HardRows) {
  Sessions sessions;
  Jobs jobs;
  std::vector<std::string> schedules = {"",
                                        makeSchedule("stream", 1024, 4, 8, 2),
                                        makeSchedule("stream", 256, 4, 16, 4),
                                        makeSchedule("stream", 512, 4, 2, 8),
                                        makeSchedule("grid", 256, 4, 1, 1, 64),
                                        makeSchedule("grid", 64, 4, 1, 2, 256),
                                        makeSchedule("block", 1024, 4, 16),
                                        makeSchedule("block", 512, 4, 8),
                                        makeSchedule("block", 1024, 2, 2)};
  for (const std::string &schedule : schedules)
    for (const char *order : {"unordered", "sorted", "index_ascending"})
      for (bool smallest : {false, true}) {
        Selecting op{512, "f32", order};
        op.smallest = smallest;
        jobs.push_back([&sessions, op, schedule] {
          return checkHardRows(sessions, op, schedule);
        });
      }
  for (const std::string &schedule :
       {schedules[0], schedules[1], schedules.back(),
        makeSchedule("block", 512, 8, 16)})
    jobs.push_back([&sessions, schedule] {
      return checkHardRows(sessions, {777, "bf16", "sorted"}, schedule);
    });
  runAndCount(thin(jobs));
}

/// Whether the 512 best of one row come out, in every order of threads.
static std::string checkRow(Sessions &sessions, const std::string &schedule,
                            const std::vector<float> &row) {
  Selecting op{512, "f32", "sorted"};
  op.lengths = false;
  Dims dims = {{"rows", 1}};
  if (isOfRegisters(schedule))
    op.columns = int64_t(row.size());
  else
    dims["columns"] = int64_t(row.size());
  CompiledProgram program(sessions, op.getText(), schedule);
  std::string failure = program.compile();
  if (!failure.empty())
    return failure;
  auto inputs = program.makeInputs(dims, getSeed(), Codes::All);
  if (!inputs)
    return inputs.status().message();
  put(*inputs, program.find("scores"), 0, row.data(), row.size());
  for (size_t i = 0; i < sessions.size() && failure.empty(); ++i)
    failure = program.check(*inputs);
  return failure.empty() ? "" : schedule + ": " + failure;
}

// Equal elements in longer rows than lists have bins for: their indices are
// told apart in more than one step.
TEST(TopkTest, LongEqualRows) {
  Sessions sessions;
  Jobs jobs;
  for (const std::string &schedule :
       {std::string(), makeSchedule("stream", 1024, 4, 16, 2),
        makeSchedule("stream", 256, 4, 1, 4),
        makeSchedule("grid", 512, 4, 1, 1, 16),
        makeSchedule("block", 1024, 4, 16)})
    for (int64_t better : {0, 100})
      jobs.push_back([&sessions, schedule, better] {
        std::vector<float> row(isOfRegisters(schedule) ? 524288 : 1000001,
                               1.0f);
        for (int64_t i = 0; i < better; ++i)
          row[i * (row.size() / 101) + 5] = 2.0f;
        return checkRow(sessions, schedule, row);
      });
  runAndCount(jobs);
}

// The last of the best is NaN, as what there is not is where blocks of a
// cluster have fewer elements than their registers.
TEST(TopkTest, NaNAmongTheBest) {
  Sessions sessions;
  Jobs jobs;
  for (auto [threads, vector, cluster] :
       {std::tuple<int64_t, int64_t, int64_t>{64, 1, 2},
        {64, 1, 4},
        {64, 2, 8},
        {128, 4, 16}})
    jobs.push_back([&sessions, threads = threads, vector = vector,
                    cluster = cluster]() -> std::string {
      Selecting op{60, "f32", "sorted"};
      op.columns = threads * vector * cluster;
      CompiledProgram program(sessions, op.getText(),
                              makeSchedule("block", threads, vector, cluster));
      std::string failure = program.compile();
      if (!failure.empty())
        return failure;
      const int32_t lengths[] = {64, 33, int32_t(op.columns / 2),
                                 int32_t(op.columns - 1)};
      auto inputs = program.makeInputs({{"rows", std::size(lengths)}},
                                       getSeed(), Codes::Finite);
      if (!inputs)
        return inputs.status().message();
      std::vector<float> row(op.columns, NAN);
      // Forty numbers.
      for (int64_t i = 0; i < 40; ++i)
        row[i * 3 % 64] = float(i);
      for (size_t i = 0; i < std::size(lengths); ++i) {
        put(*inputs, program.find("scores"), i * op.columns, row.data(),
            row.size());
        put(*inputs, program.find("lengths"), i, &lengths[i], 1);
      }
      return program.check(*inputs);
    });
  runAndCount(jobs);
}

/// 16,384 scores of which the second half has more than 512 of the best, and
/// the first `others` that come behind them but before what a sample bounds.
static std::vector<float> makeBestInOneHalf(size_t others) {
  std::vector<float> row(16384);
  for (size_t i = 0; i < row.size(); ++i)
    row[i] = -100 - float(i % 7);
  // Vectors of the sample, one of 16, make it a low bound.
  for (size_t vector = 2048; vector < 4096; vector += 16)
    if (vector / 16 % 5)
      row[4 * vector] = 5;
  std::mt19937_64 random(getSeed());
  auto raise = [&](size_t begin, size_t count, float to) {
    std::vector<size_t> columns;
    for (size_t i = begin; i < begin + 8192; ++i)
      if (i / 4 % 16)
        columns.push_back(i);
    std::shuffle(columns.begin(), columns.end(), random);
    for (size_t i = 0; i < count; ++i)
      row[columns[i]] = to + to / 2 * float(random() % 100000) / 100000;
  };
  raise(8192, 600, 20);
  raise(0, others, 10);
  return row;
}

// A list that was reduced already gets some that are behind all of it.
TEST(TopkTest, BestInOnePart) {
  Sessions sessions;
  Jobs jobs;
  for (const std::string &schedule :
       {makeSchedule("grid", 512, 4, 1, 1, 2),
        makeSchedule("stream", 512, 4, 2), makeSchedule("block", 512, 4, 4)})
    for (size_t others : {1, 50, 127, 400})
      jobs.push_back([&sessions, schedule, others] {
        // Entries are in the list as they came.
        std::string failure =
            checkRow(sessions, schedule, makeBestInOneHalf(others));
        return failure.empty() ? "" : std::to_string(others) + ": " + failure;
      });
  runAndCount(thin(jobs));
}

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
      int64_t places, columns;
      bool constant;
    } const shapes[] = {{6, 256, true},
                        {100, 1000, true},
                        {64, 6000, false},
                        {512, 40000, false}};
    for (const auto &shape : shapes) {
      Selecting op{shape.places, "f32", order};
      op.columns = shape.constant ? shape.columns : 0;
      jobs.push_back([&sessions, op, shape] {
        return checkBatches(sessions, op, shape.columns, shape.columns <= 1000);
      });
    }
  }
  runAndCount(thin(jobs));
}
