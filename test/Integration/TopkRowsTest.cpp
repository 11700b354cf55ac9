//===- TopkRowsTest.cpp - Adversarial rows --------------------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CompiledProgram.h"
#include "Selections.h"

#include "llvm/ADT/bit.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

using namespace dsv4;
using namespace dsv4::test;
using reference::Codes;
using reference::InputSet;

namespace {

/// A number for every column of a row of adversarial scores.
struct AdversarialRow {
  const char *name;
  std::function<float(int64_t column, int64_t columns)> make;
};

const float infinity = std::numeric_limits<float>::infinity();
const float nan = std::numeric_limits<float>::quiet_NaN();

float fromBits(uint32_t bits) { return llvm::bit_cast<float>(bits); }

const AdversarialRow adversarialRows[] = {
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
    {"equal but for one, some bits off",
     [](int64_t i, int64_t) {
       return fromBits(0x40490F00u + (i == 40000 ? 100 : 0));
     }},
    {"equal but for one that is not among the best, many bits off",
     [](int64_t i, int64_t) {
       return fromBits(0x40490F00u - (i == 3 ? 0x3000 : 0));
     }},
    {"ascending", [](int64_t i, int64_t) { return float(i); }},
    {"descending", [](int64_t i, int64_t) { return -float(i); }},
    {"all NaN", [](int64_t, int64_t) { return nan; }},
    {"all -infinity", [](int64_t, int64_t) { return -infinity; }},
    {"300 numbers among NaN",
     [](int64_t i, int64_t n) { return i % (n / 300) ? nan : float(i); }},
    {"512 NaN among infinities of both signs",
     [](int64_t i, int64_t n) {
       return i % (n / 512) == 5 ? nan : i % 3 ? infinity : -infinity;
     }},
    {"the first 511 are NaN, one is infinity",
     [](int64_t i, int64_t) {
       return i < 511 ? nan : i == 40000 ? infinity : float(i % 1000);
     }},
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
    {"above the largest f16",
     [](int64_t i, int64_t) {
       return float(uint32_t(i * 2654435761u) >> 8) * 64 - 4e8f;
     }},
    {"above 65,536 times the largest f16",
     [](int64_t i, int64_t) {
       return fromBits(0x7E000000u + (uint32_t(i * 2654435761u) >> 9));
     }},
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
    scores[i] = adversarialRows[row].make(i, columns);
    halves[i] = llvm::bit_cast<uint32_t>(scores[i]) >> 16;
  }
  unsigned to = program.find("scores");
  if (isBF16)
    put(inputs, to, row * columns, halves.data(), columns);
  else
    put(inputs, to, row * columns, scores.data(), columns);
}

/// The extents of rows of so many scores, which the type says where rows are in
/// registers.
static Dims setColumns(Selecting &op, const std::string &schedule, int64_t rows,
                       int64_t columns) {
  if (!isOfRegisters(schedule))
    return {{"rows", rows}, {"columns", columns}};
  op.columns = columns;
  return {{"rows", rows}};
}

static std::string checkAdversarialRows(Sessions &sessions, Selecting op,
                                        const std::string &schedule) {
  const int64_t columns = 65536, rows = std::size(adversarialRows);
  const Dims dims = setColumns(op, schedule, rows, columns);
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
    // Within a vector or not, in the first part of a row or in a later one; one
    // whose row is short, and some that no row has.
    const int32_t starts[] = {1, 2, 3, 7, 4, 40001, 65300, -1, 65536, 65535};
    if (op.starts)
      put(*inputs, program.find("starts"), row, &starts[row % 10], 1);
  }
  failure = program.check(*inputs);
  return failure.empty()
             ? ""
             : op.element + " " + op.order + (op.starts ? " starts" : "") +
                   (op.tiesHigh ? " ties high" : "") +
                   (op.nanFirst ? " nan first " : " ") + schedule + ": " +
                   failure;
}

// 65,536 elements, of which 512 are chosen, and rows shorter than that. Of bf16
// thousands are equal.
TEST(TopkTest, AdversarialRows) {
  Sessions sessions;
  Jobs jobs;
  std::vector<std::string> schedules = {"",
                                        makeSchedule("stream", 1024, 4, 8, 2),
                                        makeSchedule("stream", 256, 4, 16, 4),
                                        makeSchedule("stream", 512, 4, 2, 8),
                                        makeSchedule("grid", 256, 4, 1, 1, 64),
                                        makeSchedule("grid", 64, 4, 1, 2, 256),
                                        makeSchedule("block", 1024, 4, 16),
                                        makeSchedule("block", 1024, 4, 6),
                                        makeSchedule("block", 512, 4, 8),
                                        makeSchedule("block", 1024, 2, 2)};
  for (const std::string &schedule : schedules)
    for (const char *order : {"unordered", "sorted", "index_ascending"})
      for (bool smallest : {false, true}) {
        Selecting op{512, "f32", order};
        op.smallest = smallest;
        jobs.push_back([&sessions, op, schedule] {
          return checkAdversarialRows(sessions, op, schedule);
        });
      }
  for (const std::string &schedule : schedules)
    for (auto [starts, high] :
         {std::pair(true, false), {false, true}, {true, true}}) {
      Selecting op{512, "f32", high ? "sorted" : "index_ascending"};
      op.starts = starts;
      op.tiesHigh = high;
      jobs.push_back([&sessions, op, schedule] {
        return checkAdversarialRows(sessions, op, schedule);
      });
    }
  for (const std::string &schedule : schedules)
    for (bool others : {false, true}) {
      Selecting op{512, "f32", others ? "index_ascending" : "sorted"};
      op.nanFirst = true;
      op.smallest = op.starts = op.tiesHigh = others;
      jobs.push_back([&sessions, op, schedule] {
        return checkAdversarialRows(sessions, op, schedule);
      });
    }
  for (const std::string &schedule :
       {schedules[0], schedules[1], schedules.back(),
        makeSchedule("block", 512, 8, 16)})
    jobs.push_back([&sessions, schedule] {
      return checkAdversarialRows(sessions, {777, "bf16", "sorted"}, schedule);
    });
  runAndCount(thin(jobs));
}

/// Whether the best of rows of as many scores each come out, in every order of
/// threads.
static std::string checkRows(Sessions &sessions, const std::string &schedule,
                             int64_t places,
                             const std::vector<std::vector<float>> &rows) {
  Selecting op{places, "f32", "sorted"};
  op.lengths = false;
  const size_t columns = rows.front().size();
  const Dims dims = setColumns(op, schedule, rows.size(), columns);
  CompiledProgram program(sessions, op.getText(), schedule);
  std::string failure = program.compile();
  if (!failure.empty())
    return failure;
  auto inputs = program.makeInputs(dims, getSeed(), Codes::All);
  if (!inputs)
    return inputs.status().message();
  for (size_t i = 0; i < rows.size(); ++i)
    put(*inputs, program.find("scores"), i * columns, rows[i].data(), columns);
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
        return checkRows(sessions, schedule, 512, {row});
      });
  runAndCount(jobs);
}

// The last of the best is NaN, as what there is not is where blocks of a
// cluster have fewer elements than their registers: there are many of both, or
// so few that they could be ranked, and what the first block has not got are
// numbers of the second one.
TEST(TopkTest, NaNAmongTheBest) {
  struct Case {
    int64_t threads, vector, cluster, k, numbers;
    std::vector<int32_t> lengths;
  };
  const Case cases[] = {
      {64, 1, 2, 60, 40, {64, 33, 127}},
      {64, 1, 4, 60, 40, {64, 33, 128, 255}},
      {64, 2, 8, 60, 40, {64, 33, 512, 1023}},
      {128, 4, 16, 60, 40, {64, 33, 4096, 8191}},
      {128, 1, 2, 160, 140, {192, 180, 170, 256}},
      {128, 1, 4, 330, 320, {384, 380, 340, 500}},
      {128, 1, 3, 330, 320, {384, 380, 340, 350}},
      {128, 1, 11, 60, 40, {64, 33, 1407, 500}},
  };
  Sessions sessions;
  Jobs jobs;
  for (const Case &c : cases)
    jobs.push_back([&sessions, &c]() -> std::string {
      Selecting op{c.k, "f32", "sorted"};
      op.columns = c.threads * c.vector * c.cluster;
      CompiledProgram program(
          sessions, op.getText(),
          makeSchedule("block", c.threads, c.vector, c.cluster));
      std::string failure = program.compile();
      if (!failure.empty())
        return failure;
      auto inputs = program.makeInputs({{"rows", int64_t(c.lengths.size())}},
                                       getSeed(), Codes::Finite);
      if (!inputs)
        return inputs.status().message();
      std::vector<float> row(op.columns, NAN);
      for (int64_t i = 0; i < c.numbers; ++i)
        row[c.numbers < 64 ? i * 3 % 64 : i] = float(i);
      for (size_t i = 0; i < c.lengths.size(); ++i) {
        put(*inputs, program.find("scores"), i * op.columns, row.data(),
            row.size());
        put(*inputs, program.find("lengths"), i, &c.lengths[i], 1);
      }
      return program.check(*inputs);
    });
  runAndCount(jobs);
}

/// 16,384 scores of which the second half has more than 512 of the best, and
/// the first `others` that come after them but before what a sample bounds.
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

// A list that was reduced already gets some that are after all of it.
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
            checkRows(sessions, schedule, 512, {makeBestInOneHalf(others)});
        return failure.empty() ? "" : std::to_string(others) + ": " + failure;
      });
  runAndCount(thin(jobs));
}

/// 8192 scores, of which `inside` are in one bin with the last `chosen` of the
/// best: equal, or as near to each other as floats are.
static std::vector<float> makeLastBin(int64_t places, int64_t inside,
                                      int64_t chosen, bool equal) {
  std::vector<float> row(8192);
  const int64_t better = places - chosen;
  for (int64_t i = 0; i < int64_t(row.size()); ++i) {
    float &score = row[i * 2731 % row.size()];
    if (i < better)
      score = 10 + float(i) / 1024;
    else if (i < better + inside)
      score = fromBits(0x3F800000u + (equal ? 0 : uint32_t(i * 7 % inside)));
    else
      score = -1 - float(i % 97);
  }
  return row;
}

// As many as are ranked one by one, which depends on k, and one more or less.
TEST(TopkTest, LastBin) {
  Sessions sessions;
  Jobs jobs;
  for (const std::string &schedule :
       {makeSchedule("block", 1024, 4), makeSchedule("block", 256, 4),
        makeSchedule("block", 512, 4, 2), makeSchedule("stream", 1024, 4),
        makeSchedule("stream", 256, 4, 4),
        makeSchedule("grid", 128, 4, 1, 1, 8)})
    for (int64_t places : {512, 513, 2048})
      jobs.push_back([&sessions, schedule, places] {
        std::vector<std::vector<float>> rows;
        for (int64_t inside : {127, 128, 129, 200, 255, 256, 257})
          for (int64_t chosen : {int64_t(1), inside / 2})
            for (bool equal : {false, true})
              rows.push_back(makeLastBin(places, inside, chosen, equal));
        return checkRows(sessions, schedule, places, rows);
      });
  runAndCount(jobs);
}

/// Scores of which one lane of a warp, which has every 32nd vector of four, has
/// most of the best: all different, or few values, some of them equal and some
/// as near to each other as floats are.
static std::vector<float> makeBestOfOneLane(int64_t columns, bool different,
                                            std::mt19937_64 &random) {
  const float levels[] = {1, 7, 7, std::nextafterf(7, 8), 8, 9};
  auto draw = [&] {
    return different ? float(random() % (1 << 20)) : levels[random() % 6];
  };
  std::vector<float> row(columns);
  for (float &score : row)
    score = -float(random() % 1000);
  const int64_t lane = random() % 32;
  for (int64_t at = 4 * lane; at < columns; at += 128)
    for (int64_t i = at; i < std::min(at + 4, columns); ++i)
      row[i] = draw();
  for (unsigned i = random() % 8; i > 0; --i)
    row[random() % columns] = draw();
  return row;
}

// A lane gives all that it has put in order, and may have more of the best.
TEST(TopkTest, BestOfOneLane) {
  Sessions sessions;
  Jobs jobs;
  for (int64_t places : {4, 5, 6, 8, 9})
    for (int64_t columns : {160, 256, 384, 1024})
      jobs.push_back([&sessions, places, columns] {
        std::mt19937_64 random(getSeed() + places + columns);
        std::vector<std::vector<float>> rows;
        for (unsigned i = 0; i < 200; ++i)
          rows.push_back(makeBestOfOneLane(columns, i % 2, random));
        return checkRows(sessions, makeSchedule("warp", 128, 4), places, rows);
      });
  runAndCount(jobs);
}

/// Scores of which two are equal, and all others differ by more than words
/// leave out: the last of the best and the first that is not, or two of the
/// best, which have the same place in their lanes or any.
static std::vector<float> makeOneTie(int64_t columns, int64_t places,
                                     std::mt19937_64 &random) {
  std::vector<int64_t> order(columns);
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), random);
  const int64_t tie = random() % 2 ? places - 1 : random() % places;
  if (random() % 2) {
    // Lanes have every 32nd vector of four: the same of another lane.
    const int64_t other = order[tie] / 128 * 128 + (order[tie] + 4) % 128;
    if (other < columns)
      std::swap(*llvm::find(order, other), order[tie + 1]);
  }
  std::vector<float> row(columns);
  for (int64_t i = 0; i < columns; ++i)
    row[order[i]] = float(1000 * (columns - (i == tie + 1 ? tie : i)));
  return row;
}

// One tie is enough for words to say too little.
TEST(TopkTest, OneTie) {
  Sessions sessions;
  Jobs jobs;
  for (int64_t places : {1, 6, 8, 9})
    for (int64_t columns : {160, 256, 1024})
      jobs.push_back([&sessions, places, columns] {
        std::mt19937_64 random(getSeed() + places + columns);
        std::vector<std::vector<float>> rows;
        for (unsigned i = 0; i < 200; ++i)
          rows.push_back(makeOneTie(columns, places, random));
        return checkRows(sessions, makeSchedule("warp", 128, 4), places, rows);
      });
  runAndCount(jobs);
}
