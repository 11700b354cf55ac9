//===- ManyValuesTest.cpp - Numbers at the edges of every recipe ----------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every public format under every public recipe that fits it, and the decoding
// of every public format: on a GPU ten million values of each, on the host
// target as many as a few seconds allow. Bit for bit against the oracle. The
// values are random bits, numbers of ordinary size, and numbers on and next to
// the places where a recipe decides: ties between codes, the ends of scales,
// floors, subnormals, both zeros, infinities and NaN.
//
//===----------------------------------------------------------------------===//

#include "CompiledProgram.h"
#include "Writers.h"

#include "llvm/ADT/StringRef.h"

#include <cfloat>
#include <cmath>
#include <cstdio>
#include <cstring>

using namespace dsv4;
using namespace dsv4::test;
using reference::Codes;
using reference::Format;
using reference::InputSet;

namespace {

/// Values of one recipe, or of one format that is decoded.
int64_t getCount() {
  int64_t count = isCuda() ? 10'000'000 : 200'000;
  return getScale() ? count * getScale() : count / 20;
}

/// Of one launch; what it takes in memory is a few times as many bytes.
constexpr int64_t kLaunch = 1 << 19;

Format getFormat(const std::string &element) {
  return element == "f4E2M1FN"    ? Format::E2M1
         : element == "f8E4M3FN"  ? Format::E4M3FN
         : element == "f8E8M0FNU" ? Format::E8M0FNU
         : element == "bf16"      ? Format::BF16
                                  : Format::F32;
}

//===----------------------------------------------------------------------===//
// Formats and recipes
//===----------------------------------------------------------------------===//

struct PublicFormat {
  std::string element;
  std::vector<Level> levels;
};

std::vector<PublicFormat> getPublicFormats() {
  const std::string e2m1 = "f4E2M1FN", e4m3 = "f8E4M3FN", e8m0 = "f8E8M0FNU";
  std::vector<PublicFormat> all;
  for (const std::string &scale : {std::string("f32"), e8m0})
    for (const char *group : {"32", "64", "128", "row"})
      all.push_back({e4m3, {{scale, group}}});
  all.push_back({e2m1, {{e4m3, "16"}}});
  all.push_back({e2m1, {{e4m3, "16"}, {"f32", "tensor"}}});
  all.push_back({e2m1, {{e4m3, "16"}, {"f32", "row"}}});
  all.push_back({e2m1, {{e8m0, "32"}}});
  return all;
}

/// "f8E4M3FN, f32 per 128", as docs/Quantisation.md writes formats.
std::string getTitle(const std::string &element,
                     const std::vector<Level> &levels) {
  std::string title = element;
  for (const Level &level : levels)
    title += ", " + level.element + " per " + level.group;
  return title;
}

/// Every public format with every public recipe for its payload and scales,
/// whatever the group the recipe is published for.
std::vector<Quantize> getPublicQuantizes() {
  std::vector<Quantize> all;
  for (const PublicFormat &format : getPublicFormats()) {
    std::vector<std::string> recipes;
    for (const Quantize &known : getKnownQuantizes()) {
      if (known.element != format.element ||
          known.levels[0].element != format.levels[0].element ||
          std::find(recipes.begin(), recipes.end(), known.recipe) !=
              recipes.end())
        continue;
      recipes.push_back(known.recipe);
      all.push_back({known.name, format.element, format.levels, known.recipe});
    }
  }
  return all;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// Makes the elements of rows that a recipe quantises.
class RowMaker {
public:
  RowMaker(const Quantize &op, uint64_t seed);

  /// The next row, as bits of its elements; `outer` is the scale before
  /// those of the groups, where it is given.
  void makeRow(std::vector<uint32_t> &row, float outer);

private:
  enum Kind {
    Bits,
    Moderate,
    Tiny,
    Huge,
    Threshold,
    Tie,
    Strewn,
    Floor,
    Kinds
  };

  void makeGroup(uint32_t *group, Kind kind, double outer);
  /// A value that a scale may have, or halfway to the next one.
  double drawScale(bool orHalfway);
  uint32_t drawBits() { return uint32_t(random()) & (2 * sign - 1); }
  double drawUnit() { return double(random() >> 11) * 0x1p-53; }
  uint32_t drawSign() { return random() % 2 ? sign : 0; }
  /// The nearest element, or one a few units of its last place away.
  uint32_t makeNear(double value);

  const Quantize &op;
  std::mt19937_64 random;
  Format input, code, scale;
  uint32_t sign, infinity; ///< Of an element of the input.
  double max;              ///< The largest value of a code.
  double floor = 0;        ///< The amax where the recipe's floor begins.
  std::vector<double> ties;
};

} // namespace

RowMaker::RowMaker(const Quantize &op, uint64_t seed)
    : op(op), random(seed), input(getFormat(op.input)),
      code(getFormat(op.element)), scale(getFormat(op.levels[0].element)),
      sign(uint32_t(1) << (reference::bitWidth(input) - 1)),
      infinity(reference::largestFinite(input) + 1) {
  uint32_t last = reference::largestFinite(code);
  max = reference::decode(code, last);
  for (uint32_t i = 0; i < last; ++i)
    ties.push_back(
        (reference::decode(code, i) + reference::decode(code, i + 1)) / 2);
  auto [unused, text] = llvm::StringRef(op.recipe).split("floor = ");
  if (text.empty()) // The least scale.
    floor = max * (scale == Format::E4M3FN    ? 0x1p-9
                   : scale == Format::E8M0FNU ? 0x1p-127
                                              : 0x1p-126);
  else
    floor = std::strtod(text.split(' ').first.str().c_str(), nullptr) *
            (text.contains("floor_of = scale") ? max : 1);
}

double RowMaker::drawScale(bool orHalfway) {
  if (scale == Format::E8M0FNU)
    return std::ldexp(1.0, int(random() % 200) - 100);
  if (scale == Format::F32)
    return std::ldexp(random() % 2 ? 1.0 : 1 + drawUnit(),
                      int(random() % 200) - 100);
  uint32_t at = 1 + random() % 125;
  double value = reference::decode(scale, at);
  return orHalfway && random() % 2
             ? (value + reference::decode(scale, at + 1)) / 2
             : value;
}

uint32_t RowMaker::makeNear(double value) {
  uint32_t bits = reference::encode(input, value);
  uint64_t draw = random() % 8;
  if (draw < 4 && bits > 4 && bits < infinity - 4)
    bits += uint32_t(draw < 2 ? draw + 1 : 1 - draw);
  return bits;
}

void RowMaker::makeGroup(uint32_t *group, Kind kind, double outer) {
  int64_t count = op.getGroup();
  uint32_t mantissa = input == Format::F32 ? 0x7FFFFF : 0x7F;
  double amax = std::ldexp(1.0, int(random() % 20) - 12);
  if (kind == Floor)
    amax = floor * outer;
  if (kind == Threshold || kind == Tie)
    amax = max * drawScale(kind == Threshold) * outer;
  for (int64_t i = 0; i < count; ++i) {
    uint32_t &bits = group[i];
    if (kind == Bits)
      bits = drawBits();
    else if (kind == Tiny) // Subnormal, or of the least exponent.
      bits = drawBits() & (sign | (2 * mantissa + 1));
    else if (kind == Huge) // Of one of the two largest exponents.
      bits = (drawBits() & (sign | mantissa)) |
             (infinity - (1 + random() % 2) * (mantissa + 1));
    else if (kind == Tie)
      bits = makeNear(ties[random() % ties.size()] * amax / max) | drawSign();
    else
      bits = reference::encode(input, drawUnit() * amax) | drawSign();
    if (kind == Strewn && random() % 8 == 0) {
      const uint32_t special[] = {
          0,        0,           1, mantissa, mantissa + 1, infinity - 1,
          infinity, infinity + 1};
      // NaN and infinity in one group of a few, as they are all that counts.
      uint64_t most = group[0] % 4 == 0 ? 8 : 6;
      bits = special[random() % most] | drawSign();
    }
  }
  if (kind == Floor || kind == Threshold || kind == Tie)
    group[random() % count] = makeNear(amax) | drawSign();
}

void RowMaker::makeRow(std::vector<uint32_t> &row, float outer) {
  row.resize(op.count);
  bool perRow = op.levels.size() == 2 && op.levels[1].group == "row";
  // Of a row with a scale of its own every other one is free of what would
  // make the others look like zeros.
  bool calm = perRow && random() % 2;
  if (calm)
    outer = std::ldexp(1.0f, int(random() % 40) - 20);
  int64_t group = op.getGroup();
  for (int64_t at = 0; at < op.count; at += group) {
    const Kind still[] = {Threshold, Tie, Tie, Floor};
    Kind kind = calm ? still[random() % 4] : Kind(random() % Kinds);
    makeGroup(&row[at], kind, outer);
  }
  if (calm) // The largest scale of a group before `outer`.
    row[random() % op.count] =
        reference::encode(input, 448 * max * double(outer)) | drawSign();
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

/// What each of some programs is called and how many values it had.
class Tally {
public:
  explicit Tally(const char *what) : what(what) {}

  /// The place of the next line; not to be called by two threads.
  size_t add(const std::string &name) {
    lines.push_back({name, 0});
    return lines.size() - 1;
  }
  int64_t &operator[](size_t index) { return lines[index].second; }

  /// Prints a line for each, and expects of each as many as there should be.
  void report() const {
    for (const auto &[name, values] : lines) {
      std::printf(
          "%s %s: %lld values equal the oracle's, DSV4_TEST_SEED=%llu\n", what,
          name.c_str(), static_cast<long long>(values),
          static_cast<unsigned long long>(getSeed()));
      EXPECT_GE(values, getCount()) << what << " " << name;
    }
  }

private:
  const char *what;
  std::vector<std::pair<std::string, int64_t>> lines;
};

/// Compares `wanted` values of a program, `perRow` a row; adds to `done`.
static std::string
checkLaunches(CompiledProgram &program, int64_t wanted, int64_t perRow,
              uint64_t seed, int64_t &done,
              const std::function<void(InputSet &, int64_t)> &fill) {
  for (int64_t rest = wanted; rest > 0; ++seed) {
    int64_t rows = (std::min(rest, kLaunch) + perRow - 1) / perRow;
    // Scales of every kind, and of moderate size.
    auto made = program.makeInputs({{"n", rows}}, seed,
                                   seed % 2 ? Codes::All : Codes::NoNaN);
    if (!made)
      return made.status().message();
    InputSet inputs = made.take();
    fill(inputs, rows);
    if (std::string failure = program.check(inputs); !failure.empty())
      return "inputs of seed " + std::to_string(seed) + ": " + failure;
    rest -= rows * perRow;
    done += rows * perRow;
  }
  return "";
}

static std::string checkQuantize(Sessions &sessions, const Quantize &op,
                                 int64_t wanted, uint64_t seed, int64_t &done) {
  CompiledProgram program(sessions, op.getText());
  std::string failure = program.compile();
  RowMaker maker(op, seed);
  bool isGiven = op.levels.back().group == "tensor";
  std::mt19937_64 random(seed);
  auto fill = [&](InputSet &inputs, int64_t rows) {
    float outer = 1;
    if (isGiven) {
      const float all[] = {1, 0x1p-9f, 0x1p5f, 0.0123f};
      // Those that are no positive normal numbers count as one that is.
      const float odd[] = {NAN,        INFINITY, -INFINITY, 0.0f,
                           -0x1p-149f, -1.0f,    0x1p-149f, FLT_MAX};
      outer = all[random() % std::size(all)];
      float given = random() % 4 == 0 ? odd[random() % std::size(odd)] : outer;
      std::memcpy(inputs.bytes[program.find("given")].data(), &given, 4);
    }
    char *to = inputs.bytes[program.find("x")].data();
    int width = op.input == "f32" ? 4 : 2;
    std::vector<uint32_t> row;
    for (int64_t i = 0; i < rows; ++i) {
      maker.makeRow(row, outer);
      for (uint32_t bits : row) {
        std::memcpy(to, &bits, width); // Little-endian.
        to += width;
      }
    }
  };
  if (failure.empty())
    failure = checkLaunches(program, wanted, op.count, seed, done, fill);
  return failure.empty() ? ""
                         : op.getName() + ": " + failure + "\n" + op.getText();
}

static std::string checkDequantize(Sessions &sessions, const Dequantize &op,
                                   int64_t wanted, uint64_t seed,
                                   int64_t &done) {
  CompiledProgram program(sessions, op.getText());
  std::string failure = program.compile();
  if (failure.empty())
    failure = checkLaunches(program, wanted, op.extent, seed, done,
                            [](InputSet &, int64_t) {});
  return failure.empty() ? ""
                         : op.getName() + ": " + failure + "\n" + op.getText();
}

/// Calls `check(type, values, values done)` for both types of elements of a
/// program, which share the values.
template <typename Check>
static std::string checkTypes(int64_t &done, Check check) {
  for (const char *type : {"bf16", "f32"})
    if (std::string failure = check(type, getCount() / 2, done);
        !failure.empty())
      return failure;
  return "";
}

TEST(ManyValuesTest, Quantize) {
  Sessions sessions;
  Jobs jobs;
  Tally tally("quantize");
  for (const Quantize &known : getPublicQuantizes()) {
    size_t index = tally.add(getTitle(known.element, known.levels) + " <" +
                             known.recipe + ">");
    jobs.push_back([&, op = known, index]() mutable {
      return checkTypes(tally[index], [&](const std::string &type,
                                          int64_t wanted, int64_t &done) {
        op.input = type;
        uint64_t seed = getSeed() * 1000000 + index * 1000;
        return checkQuantize(sessions, op, wanted, seed, done);
      });
    });
  }
  runAll(jobs);
  tally.report();
}

TEST(ManyValuesTest, Dequantize) {
  Sessions sessions;
  Jobs jobs;
  Tally tally("dequantize");
  for (const PublicFormat &format : getPublicFormats()) {
    Dequantize one;
    one.element = format.element;
    one.levels = format.levels;
    size_t index = tally.add(getTitle(one.element, one.levels));
    jobs.push_back([&, op = one, index]() mutable {
      return checkTypes(tally[index], [&](const std::string &type,
                                          int64_t wanted, int64_t &done) {
        op.result = type;
        uint64_t seed = getSeed() * 1000000 + index * 1000;
        return checkDequantize(sessions, op, wanted, seed, done);
      });
    });
  }
  runAll(jobs);
  tally.report();
}
