//===- CompressorsTest.cpp - Windows into entries, against the oracle -----===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// compress, alone and at the head of chains, bit for bit against the oracle;
// and tokens cut into launches in all ways, which must give the same entries.
//
//===----------------------------------------------------------------------===//

#include "CompiledProgram.h"
#include "Writers.h"

#include <atomic>
#include <cstring>

using namespace dsv4;
using namespace dsv4::test;
using reference::Codes;
using reference::InputSet;

namespace {

std::vector<Shape> getShapes(const Compressor &op) {
  struct {
    int64_t entries, tokens, requests;
  } const all[] = {{0, 5, 2}, {1, 1, 1}, {5, 3, 3}, {9, 64, 3}, {3, 0, 2}};
  std::vector<Shape> shapes;
  for (auto [entries, tokens, requests] : all)
    shapes.push_back({op.getDims(entries, tokens, requests),
                      entries % 2 ? Codes::NoNaN : Codes::All});
  return shapes;
}

//===----------------------------------------------------------------------===//
// Cuts
//===----------------------------------------------------------------------===//

/// A program that makes entries and keeps tokens, and the tokens of requests.
class Sequences {
public:
  Sequences(Compressor op, int64_t requests, int64_t length, uint64_t seed)
      : op(op), requests(requests), length(length), random(seed) {
    for (std::vector<float> *data : {&values, &scores})
      for (int64_t i = 0; i < requests * length * op.getColumns(); ++i)
        data->push_back(float(int64_t(random() % 8001) - 4000) / 1000);
    for (int64_t i = 0; i < op.window * op.getColumns(); ++i)
      bias.push_back(float(int64_t(random() % 2001) - 1000) / 1000);
  }

  std::string getText() const;
  /// Runs launches of 1 to `most` tokens of every request until all are done;
  /// the entries, request by request, or what went wrong.
  std::string run(CompiledProgram &program, int64_t most,
                  std::vector<float> &entries);

private:
  /// Fills `set` with tokens [from, to) of every request, and a plan of the
  /// entries that they complete.
  void fill(CompiledProgram &program, InputSet &set,
            const std::vector<std::pair<int64_t, int64_t>> &cuts);

  Compressor op;
  int64_t requests, length;
  std::mt19937_64 random;
  std::vector<float> values, scores, bias;
};

std::string Sequences::getText() const {
  Writer writer;
  op.addTo(writer, /*kept=*/true);
  std::string tokens = "tensor<?x" + std::to_string(op.getColumns()) + "xf32>";
  for (const char *name : {"at", "req"})
    writer.add(name, "tensor<?xi32>", {"t"});
  writer.add("len", "tensor<?xi32>", {"r"});
  std::string places = "%state[%at] ring " + std::to_string(op.ring) +
                       " requests(%req : tensor<?xi32>)";
  if (op.table)
    places += " pages(%table : tensor<?x?xi32>)";
  writer.addText("dsv4.paged_append " + places +
                 " lengths(%len : tensor<?xi32>) fields(%values, %scores : " +
                 tokens + ", " + tokens + ") : !state, tensor<?xi32>");
  return writer.getText();
}

void Sequences::fill(CompiledProgram &program, InputSet &set,
                     const std::vector<std::pair<int64_t, int64_t>> &cuts) {
  int64_t columns = op.getColumns();
  std::vector<int32_t> at, request, lengths, plan;
  for (int64_t r = 0; r < requests; ++r) {
    auto [from, to] = cuts[r];
    lengths.push_back(to);
    for (int64_t w = from / op.window; (w + 1) * op.window <= to; ++w)
      for (int64_t number : {w * op.window, r, from, int64_t(at.size())})
        plan.push_back(number);
    for (int64_t t = from; t < to; ++t) {
      size_t row = (r * length + t) * columns, place = at.size() * columns;
      put(set, program.find("values"), place, &values[row], columns);
      put(set, program.find("scores"), place, &scores[row], columns);
      at.push_back(t);
      request.push_back(r);
    }
  }
  // Rows that are left over are no entries, tokens that are left over skipped.
  at.resize(set.shapes[program.find("at")][0], -1);
  request.resize(at.size(), -1);
  plan.resize(4 * set.shapes[program.find("plan")][0], -1);
  put(set, program.find("at"), 0, at.data(), at.size());
  put(set, program.find("req"), 0, request.data(), request.size());
  put(set, program.find("len"), 0, lengths.data(), lengths.size());
  put(set, program.find("plan"), 0, plan.data(), plan.size());
  if (op.bias)
    put(set, program.find("bias"), 0, bias.data(), bias.size());
}

std::string Sequences::run(CompiledProgram &program, int64_t most,
                           std::vector<float> &entries) {
  Dims dims =
      op.getDims(requests * (most / op.window + 1), requests * most, requests);
  dims["r"] = requests;
  auto set = program.makeInputs(dims, 1, Codes::NoNaN);
  if (!set)
    return set.status().message();
  if (op.table) {
    unsigned table = program.find("table");
    int64_t pages = set->shapes[table][0] * set->shapes[table][1];
    for (int32_t i = 0; i < pages; ++i) {
      int32_t page = int32_t(pages) - 1 - i;
      put(*set, table, i, &page, 1);
    }
  }
  entries.assign(requests * (length / op.window) * op.channels, -1);
  std::vector<std::pair<int64_t, int64_t>> cuts(requests, {0, 0});
  for (bool done = false; !done;) {
    done = true;
    for (auto &[from, to] : cuts) {
      from = to;
      to = std::min<int64_t>(length, from + 1 + random() % most);
      done &= to == length;
    }
    fill(program, *set, cuts);
    if (rt::Status status = program.launch(*set); !status)
      return status.message();
    const int32_t *plan = reinterpret_cast<const int32_t *>(
        set->bytes[program.find("plan")].data());
    const std::vector<char> &made = set->bytes[program.find("pooled")];
    size_t row = op.channels * sizeof(float);
    for (size_t e = 0; e * row < made.size(); ++e) {
      int64_t w = plan[4 * e], r = plan[4 * e + 1];
      if (w >= 0)
        std::memcpy(
            &entries[(r * (length / op.window) + w / op.window) * op.channels],
            made.data() + e * row, row);
    }
  }
  return "";
}

} // namespace

//===----------------------------------------------------------------------===//
// Tests
//===----------------------------------------------------------------------===//

TEST(CompressorsTest, Alone) {
  Sessions sessions;
  Jobs jobs;
  std::mt19937_64 random(getSeed());
  std::vector<Compressor> all;
  for (unsigned i = 0; i < std::max(getScale(), 1u); ++i)
    for (int64_t channels :
         {512, 512, 512, 128, 128, 128, 96, 64, 20, 6, 2, 1, 192, 1024, 2048})
      all.push_back(Compressor::draw(channels, random));
  all = thin(all);
  for (const Compressor &op : all)
    jobs.push_back([&, seed = random() % 1000000] {
      return checkText(sessions, op.getName(), op.getText(), getShapes(op),
                       seed);
    });
  runAndCount(jobs);
}

TEST(CompressorsTest, Schedules) {
  Sessions sessions;
  Jobs jobs;
  std::mt19937_64 random(getSeed());
  std::atomic<unsigned> fitted{0};
  std::vector<Compressor> all;
  for (unsigned i = 0; i < 24 * std::max(getScale(), 1u); ++i)
    all.push_back(
        Compressor::draw(draw<int64_t>({512, 128, 96, 20}, random), random));
  all = thin(all);
  for (const Compressor &op : all)
    jobs.push_back([&, schedule = drawWindowSchedule(random),
                    seed = random() % 1000000] {
      return checkSchedule(sessions, op.getName(), op.getText(),
                           {{op.getDims(9, 64, 3)}}, seed, schedule, fitted);
    });
  runAndCount(jobs);
  expectFitted(fitted, jobs);
}

// Clusters that fit: of few and of many members, several rows each, and lanes
// that are no whole warps.
TEST(CompressorsTest, Clusters) {
  Sessions sessions;
  Jobs jobs;
  std::mt19937_64 random(getSeed());
  std::atomic<unsigned> fitted{0};
  const std::tuple<int64_t, const char *, const char *> all[] = {
      {512, "threads = 512",
       "#dsv4.rows<lanes = 32, vector = 2>, #dsv4.window<elements = 2, rows = "
       "1>"},
      {512, "threads = 256",
       "#dsv4.rows<lanes = 16, vector = 4>, #dsv4.window<elements = 1, rows = "
       "4>"},
      {128, "threads = 96",
       "#dsv4.rows<lanes = 8, vector = 4>, #dsv4.window<elements = 2, rows = "
       "3>"},
      {20, "threads = 32",
       "#dsv4.rows<lanes = 4, vector = 1>, #dsv4.window<elements = 1, rows = "
       "2>"}};
  for (auto [channels, launch, parts] : all)
    for (int64_t window : {4, 128})
      for (const char *cluster : {"2", "4"}) {
        Compressor op;
        op.channels = channels;
        op.window = window;
        op.overlap = window == 4;
        op.ring = op.page = 128;
        jobs.push_back([&, op, seed = random() % 1000000,
                        text = std::string("#dsv4.schedule<") + launch +
                               ", pdl = true, cluster = " + cluster +
                               ", parts = [" + parts + "]>"] {
          return checkSchedule(sessions, op.getName(), op.getText(),
                               {{op.getDims(9, 64, 3)},
                                {op.getDims(8, 64, 3)},
                                {op.getDims(7, 64, 3)}},
                               seed, text, fitted);
        });
      }
  runAndCount(jobs);
  EXPECT_EQ(fitted, jobs.size());
}

// Windows of several blocks of eight rows in one group of threads and in two,
// whose numbers are powers of two or not, and whose last one is whole or not.
TEST(CompressorsTest, BlocksOfAThreadGroup) {
  Sessions sessions;
  Jobs jobs;
  std::mt19937_64 random(getSeed());
  std::atomic<unsigned> fitted{0};
  for (int64_t window : {9, 16, 17, 24, 40, 56, 64, 72, 136, 200})
    for (const char *threads : {"32", "64"}) {
      Compressor op;
      op.channels = 64;
      op.window = window;
      op.overlap = false;
      op.ring = op.page = 256;
      jobs.push_back([&, op, seed = random() % 1000000,
                      text = std::string("#dsv4.schedule<threads = ") +
                             threads +
                             ", parts = [#dsv4.rows<lanes = 8, vector = 2>, "
                             "#dsv4.window<elements = 2>]>"] {
        return checkSchedule(sessions, op.getName(), op.getText(),
                             {{op.getDims(7, 400, 3)}}, seed, text, fitted);
      });
    }
  runAndCount(jobs);
  EXPECT_EQ(fitted, jobs.size());
}

// One launch, and launches of few tokens: the same bits.
TEST(CompressorsTest, HoweverCut) {
  Sessions sessions;
  Jobs jobs;
  std::mt19937_64 random(getSeed());
  std::vector<Compressor> all;
  for (unsigned i = 0; i < 6 * std::max(getScale(), 1u); ++i) {
    Compressor op =
        Compressor::draw(draw<int64_t>({128, 64, 20}, random), random);
    op.input = op.result = "f32";
    op.biased = false;
    op.window = draw<int64_t>({2, 4, 4, 8, 16}, random);
    op.state = true;
    op.page = 8;
    op.ring = 8 * (1 + op.getRows() / 8);
    all.push_back(op);
  }
  all = thin(all);
  for (const Compressor &op : all)
    jobs.push_back([&, seed = random() % 1000000]() -> std::string {
      const int64_t length = 5 * op.window + 3;
      Sequences sequences(op, 3, length, seed);
      CompiledProgram program(sessions, sequences.getText());
      std::string failure = program.compile();
      std::vector<float> whole, cut;
      if (failure.empty())
        failure = sequences.run(program, 2 * length * length, whole);
      for (int64_t most :
           {int64_t(1), int64_t(2), op.window, 2 * op.window + 1}) {
        if (failure.empty())
          failure = sequences.run(program, most, cut);
        if (failure.empty() &&
            (cut.size() != whole.size() ||
             std::memcmp(cut.data(), whole.data(), 4 * cut.size()) != 0))
          failure = "the bits depend on launches of at most " +
                    std::to_string(most) + " tokens";
      }
      return failure.empty()
                 ? ""
                 : op.getName() + ": " + failure + "\n" + sequences.getText();
    });
  runAndCount(jobs);
}
