//===- SegmentsTest.cpp - Windows segment by segment, against the oracle --===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The online compress, bit for bit against the oracle; and windows cut into
// segments and segments into launches in all ways, which must give the same
// entries and leave the same state.
//
//===----------------------------------------------------------------------===//

#include "CompiledProgram.h"
#include "Writers.h"

#include <algorithm>
#include <atomic>
#include <cmath>

using namespace dsv4;
using namespace dsv4::test;
using reference::Codes;
using reference::InputSet;

namespace {

std::vector<Shape> getShapes(const Compressor &op) {
  struct {
    int64_t segments, tokens;
  } const all[] = {{0, 5}, {1, 1}, {5, 3}, {40, 64}, {70, 2 * op.window + 5},
                   {3, 0}};
  std::vector<Shape> shapes;
  for (auto [segments, tokens] : all)
    for (Codes codes : {Codes::All, Codes::NoNaN})
      shapes.push_back({op.getDims(segments, tokens, 3), codes});
  return shapes;
}

//===----------------------------------------------------------------------===//
// Cuts
//===----------------------------------------------------------------------===//

/// How a sequence is cut, and where its state is.
struct Cut {
  int64_t maxTokens; ///< Of a request in a launch.
  int64_t maxCount;  ///< Of a segment.
  bool inPlace;      ///< Else two entries per request take turns.
  bool twice;        ///< Every launch is made again.
};

/// Requests whose tokens go through a program in launches.
class Requests {
public:
  Requests(const Compressor &op, int64_t requests, int64_t length,
           uint64_t seed)
      : op(op), requests(requests), length(length), random(seed) {
    std::mt19937_64 numbers(seed);
    auto fill = [&](std::vector<float> &data, int64_t rows) {
      for (int64_t i = 0; i < rows * op.channels; ++i)
        data.push_back(float(int64_t(numbers() % 8001) - 4000) / 1000);
    };
    fill(values, requests * length);
    fill(scores, requests * length);
    fill(bias, op.window);
    // The first channel of the first window, and the second of all.
    values[(length / 9) * op.channels] = NAN;
    for (size_t i = 1; i < scores.size(); i += 3 * op.channels)
      scores[i] = -INFINITY;
  }

  /// What all segments leave: the entries and, after them, the state of every
  /// request; or what went wrong.
  std::string run(CompiledProgram &program, const Cut &cut,
                  std::vector<char> &left);

private:
  /// Fills `set` with up to `cut.maxTokens` tokens of every request, and the
  /// plan; `rows` gets the window that each row of the plan ends, or -1.
  void fill(CompiledProgram &program, InputSet &set, const Cut &cut,
            std::vector<int64_t> &rows);

  const Compressor &op;
  int64_t requests, length;
  std::mt19937_64 random;
  std::vector<float> values, scores, bias;
  /// Of every request: tokens that are done, and the entry of the state.
  std::vector<int64_t> done, entry;
};

void Requests::fill(CompiledProgram &program, InputSet &set, const Cut &cut,
                    std::vector<int64_t> &rows) {
  std::vector<int32_t> plan;
  int64_t tokens = 0;
  rows.clear();
  for (int64_t r = 0; r < requests; ++r) {
    int64_t drawn =
        cut.maxTokens < length ? 1 + random() % cut.maxTokens : length;
    int64_t count = std::min(length - done[r], drawn);
    size_t first = (r * length + done[r]) * op.channels;
    put(set, program.find("values"), tokens * op.channels, &values[first],
        count * op.channels);
    put(set, program.find("scores"), tokens * op.channels, &scores[first],
        count * op.channels);
    bool isRead = false, ends = true;
    // A window that is not ended goes on in the next launch.
    while (count > 0 && ends) {
      int64_t place = done[r] % op.window;
      int64_t taken = std::min({count, op.window - place, cut.maxCount});
      isRead |= place != 0;
      // What another segment reads is not written.
      bool same = cut.inPlace && (place != 0 || !isRead);
      int64_t to = same ? entry[r] : entry[r] ^ 1;
      for (int64_t number : {done[r], taken, tokens, entry[r], to})
        plan.push_back(number);
      ends = place + taken == op.window;
      rows.push_back(ends ? r * (length / op.window) + done[r] / op.window
                          : -1);
      if (!ends)
        entry[r] = to;
      done[r] += taken;
      tokens += taken;
      count -= taken;
    }
  }
  plan.resize(5 * set.shapes[program.find("plan")][0], -1);
  put(set, program.find("plan"), 0, plan.data(), plan.size());
  if (op.bias)
    put(set, program.find("bias"), 0, bias.data(), bias.size());
}

std::string Requests::run(CompiledProgram &program, const Cut &cut,
                          std::vector<char> &left) {
  Dims dims = op.getDims(requests * (cut.maxTokens / op.window + 2),
                         requests * cut.maxTokens, requests);
  dims["state.pages"] = (2 * requests + op.page - 1) / op.page;
  auto set = program.makeInputs(dims, 1, Codes::NoNaN);
  if (!set)
    return set.status().message();
  done.assign(requests, 0);
  entry.clear();
  for (int64_t r = 0; r < requests; ++r)
    entry.push_back(2 * r);
  const size_t row = op.channels * sizeof(float);
  left.assign(requests * (length / op.window) * row, 0);
  unsigned state = program.find(op.arrays ? "state.max" : "state");
  while (*std::min_element(done.begin(), done.end()) < length) {
    std::vector<int64_t> ended;
    fill(program, *set, cut, ended);
    for (int time = 0; time <= cut.twice; ++time)
      if (rt::Status status = program.launch(*set); !status)
        return status.message();
    const std::vector<char> &made = set->bytes[program.find("pooled")];
    for (size_t e = 0; e < ended.size(); ++e)
      if (ended[e] >= 0)
        std::memcpy(&left[ended[e] * row], made.data() + e * row, row);
      else if (std::any_of(made.begin() + e * row, made.begin() + (e + 1) * row,
                           [](char byte) { return byte != 0; }))
        return "the row of a segment that ends no window is not zeros";
  }
  // The record, or the three arrays.
  for (unsigned field = 0; field < (op.arrays ? 3u : 1u); ++field) {
    const std::vector<char> &bytes = set->bytes[state + field];
    size_t size = op.arrays ? row : 3 * row;
    for (int64_t at : entry)
      left.insert(left.end(), bytes.begin() + at * size,
                  bytes.begin() + (at + 1) * size);
  }
  return "";
}

std::string checkCuts(Sessions &sessions, const Compressor &op, uint64_t seed) {
  // Some windows, and half of another.
  const int64_t length = 3 * op.window + (op.window + 1) / 2;
  Requests all(op, 3, length, seed);
  CompiledProgram program(sessions, op.getText());
  std::string failure = program.compile();
  std::vector<char> whole, cut;
  if (failure.empty())
    failure = all.run(program, {length, length, true, false}, whole);
  const Cut cuts[] = {{1, 1, true, false},
                      {1, 1, false, true},
                      {op.window, op.window, true, false},
                      {2 * op.window + 1, 3, false, false},
                      {2 * op.window + 1, op.window, false, true},
                      {9, 9, true, false}};
  for (const Cut &one : cuts) {
    if (failure.empty())
      failure = all.run(program, one, cut);
    if (failure.empty() && cut != whole)
      failure = "the bits depend on launches of at most " +
                std::to_string(one.maxTokens) +
                " tokens, segments of at most " + std::to_string(one.maxCount) +
                (one.inPlace ? ", in place" : "") +
                (one.twice ? ", every launch twice" : "");
  }
  return failure.empty() ? ""
                         : op.getName() + ": " + failure + "\n" + op.getText();
}

} // namespace

//===----------------------------------------------------------------------===//
// Tests
//===----------------------------------------------------------------------===//

TEST(SegmentsTest, Alone) {
  Sessions sessions;
  Jobs jobs;
  std::mt19937_64 random(getSeed());
  std::vector<Compressor> all;
  for (unsigned i = 0; i < std::max(getScale(), 1u); ++i)
    for (int64_t channels : {512, 512, 128, 128, 96, 64, 20, 6, 1, 1024, 2048})
      all.push_back(Compressor::drawOnline(channels, random));
  all = thin(all);
  for (const Compressor &op : all)
    jobs.push_back([&, seed = random() % 1000000] {
      return checkText(sessions, op.getName(), op.getText(), getShapes(op),
                       seed);
    });
  runAndCount(jobs);
}

TEST(SegmentsTest, Schedules) {
  Sessions sessions;
  Jobs jobs;
  std::mt19937_64 random(getSeed());
  std::vector<Compressor> all;
  std::atomic<unsigned> fitted{0};
  for (unsigned i = 0; i < 16 * std::max(getScale(), 1u); ++i)
    all.push_back(Compressor::drawOnline(
        draw<int64_t>({512, 128, 96, 20}, random), random));
  all = thin(all);
  for (const Compressor &op : all)
    jobs.push_back([&, schedule = drawWindowSchedule(random),
                    seed = random() % 1000000] {
      return checkSchedule(sessions, op.getName(), op.getText(),
                           {{op.getDims(33, 64, 3)}}, seed, schedule, fitted);
    });
  runAndCount(jobs);
  expectFitted(fitted, jobs);
}

// Clusters that fit: several rows each, groups that are no whole warps, and
// threads beside them; segments longer and shorter than what is loaded ahead.
TEST(SegmentsTest, Clusters) {
  Sessions sessions;
  Jobs jobs;
  std::mt19937_64 random(getSeed());
  std::atomic<unsigned> fitted{0};
  const std::tuple<int64_t, const char *, const char *> all[] = {
      {512, "threads = 256, min_blocks = 1",
       "#dsv4.rows<lanes = 32, vector = 2>, #dsv4.window<elements = 1, rows = "
       "1>"},
      {512, "threads = 256, min_blocks = 4",
       "#dsv4.rows<lanes = 16, vector = 4>, #dsv4.window<elements = 2, rows = "
       "4>"},
      {96, "threads = 96, min_blocks = 4",
       "#dsv4.rows<lanes = 8, vector = 4>, #dsv4.window<elements = 2, rows = "
       "3>"},
      {20, "threads = 32, min_blocks = 4",
       "#dsv4.rows<lanes = 4, vector = 1>, #dsv4.window<elements = 1, rows = "
       "5>"}};
  for (auto [channels, launch, parts] : all)
    for (const char *input : {"f32", "bf16"})
      for (const char *cluster : {"2", "4"}) {
        Compressor op = Compressor::drawOnline(channels, random);
        // Twelve groups of four rows are ahead of the first schedule.
        op.window = channels == 512 ? 128 : 40;
        op.input = input;
        jobs.push_back([&, op, seed = random() % 1000000,
                        text = std::string("#dsv4.schedule<") + launch +
                               ", pdl = true, cluster = " + cluster +
                               ", parts = [" + parts + "]>"] {
          return checkSchedule(
              sessions, op.getName(), op.getText(),
              {{op.getDims(9, 900, 3)}, {op.getDims(7, 41, 3)}}, seed, text,
              fitted);
        });
      }
  runAndCount(jobs);
  EXPECT_EQ(fitted, jobs.size());
}

TEST(SegmentsTest, HoweverCut) {
  Sessions sessions;
  Jobs jobs;
  std::mt19937_64 random(getSeed());
  std::vector<Compressor> all;
  for (unsigned i = 0; i < 5 * std::max(getScale(), 1u); ++i) {
    Compressor op =
        Compressor::drawOnline(draw<int64_t>({128, 64, 20}, random), random);
    op.input = op.result = "f32";
    op.window = draw<int64_t>({1, 2, 4, 9, 16, 40}, random);
    all.push_back(op);
  }
  all = thin(all);
  for (const Compressor &op : all)
    jobs.push_back([&, seed = random() % 1000000] {
      return checkCuts(sessions, op, seed);
    });
  runAndCount(jobs);
}
