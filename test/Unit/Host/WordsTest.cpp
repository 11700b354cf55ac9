//===- WordsTest.cpp - Rows that begin at any element ---------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rows are copied by way of the lanes that hold them, from every address to
// every address that is aligned to an element. Each lane also writes what it
// has of the row by itself. The memory that is read is as large as the rows,
// so that AddressSanitizer sees what is beyond them.
//
//===----------------------------------------------------------------------===//

#include "HostTesting.h"

#include <algorithm>
#include <vector>

using namespace dsv4::rt;
using namespace dsv4::rt::test;

namespace {

/// Rows of `steps` vectors of `vector` elements in each of `lanes` lanes.
struct Rows {
  const char *element;
  int elementBits, steps, vector, lanes;

  int getVectorBytes() const { return vector * elementBits / 8; }
  int getElementBytes() const { return std::max(elementBits / 8, 1); }
  int getWordBytes() const { return std::min(getVectorBytes(), 16); }
  int getRowBytes() const { return lanes * steps * getVectorBytes(); }
  std::string getTile() const {
    return std::string("Tile<") + element + ", " + std::to_string(steps) +
           ", " + std::to_string(vector) + ">";
  }
};

constexpr Rows kAll[] = {
    {"e2m1", 4, 2, 8, 32},      {"e2m1", 4, 1, 16, 16},
    {"e4m3", 8, 3, 4, 8},       {"e4m3", 8, 1, 32, 4},
    {"bf16", 16, 2, 16, 16},    {"bf16", 16, 7, 4, 16},
    {"bf16", 16, 1, 2, 4},      {"bf16", 16, 1, 8, 32},
    {"int", 32, 2, 2, 8},       {"float", 32, 3, 8, 4},
    {"float", 32, 1, 4, 2},     {"long long", 64, 2, 2, 8},
    {"long long", 64, 1, 4, 4},
};

class Words : public ::testing::TestWithParam<Rows> {
protected:
  std::unique_ptr<HostKernel> load();
  void copy(HostKernel &kernel, int from, int to);

  static constexpr int kRows = 5;
  static constexpr int kMargin = 32;
};

} // namespace

/// `apart` bytes are between rows. `own` has the vectors of each lane.
std::unique_ptr<HostKernel> Words::load() {
  const Rows &rows = GetParam();
  const std::string lanes = std::to_string(rows.lanes);
  return loadKernel(
      "extern \"C\" __global__ void __launch_bounds__(32)\n"
      "copy(const char *__restrict__ in, char *__restrict__ out, "
      "char *__restrict__ own, int rows, int apart) {\n"
      "  using namespace dsv4;\n"
      "  const int lane = threadIdx.x % " +
          lanes +
          ";\n"
          "  const int row = (blockIdx.x * 32 + threadIdx.x) / " +
          lanes +
          ";\n"
          "  constexpr int bytes = " +
          std::to_string(rows.getVectorBytes()) +
          ";\n"
          "  if (row < rows) {\n"
          "    const char *from = in + row * apart + lane * bytes;\n"
          "    const auto words = load_words_if<" +
          rows.getTile() + ", " + lanes +
          ">(row != 1, from);\n"
          "    const auto tile = realign<" +
          lanes +
          ">(words, from);\n"
          "    store_words<" +
          lanes +
          ">(out + row * apart + lane * bytes, tile);\n"
          "    store<1>(own + (row * " +
          lanes +
          " * tile.steps + lane) * bytes, "
          "tile, " +
          lanes +
          " * bytes);\n"
          "  }\n"
          "}\n",
      "copy");
}

void Words::copy(HostKernel &kernel, int from, int to) {
  const Rows &rows = GetParam();
  const int row = rows.getRowBytes(), apart = row + 3 * rows.getElementBytes();
  const int span = (kRows - 1) * apart + row;
  // std::vector has memory that is aligned to 16 bytes.
  std::vector<unsigned char> in(from + span), out(to + span + kMargin, 0xEE),
      own(kRows * row), expected = out;
  for (size_t i = 0; i < in.size(); ++i)
    in[i] = 7 * i + i / 256 + 1;
  const int blocks = (kRows * rows.lanes + 31) / 32;
  Status status =
      launch(kernel, blocks, 32, 0, (const void *)(&in[from]),
             (void *)(&out[to]), (void *)own.data(), int(kRows), apart);
  ASSERT_TRUE(status.ok()) << status.message();
  for (int r = 0; r < kRows; ++r)
    for (int i = 0; i < row; ++i) {
      // The second row is not read.
      const unsigned char byte = r == 1 ? 0 : in[from + r * apart + i];
      expected[to + r * apart + i] = byte;
      ASSERT_EQ(own[r * row + i], byte) << "row " << r << ", byte " << i;
    }
  ASSERT_EQ(out, expected) << from << " to " << to;
}

TEST_P(Words, EveryAddress) {
  auto kernel = load();
  ASSERT_TRUE(kernel);
  const int size = GetParam().getElementBytes(),
            word = GetParam().getWordBytes();
  for (int from = 0; from < word; from += size)
    for (int to = 0; to < word; to += size) {
      copy(*kernel, from, to);
      if (HasFatalFailure())
        return;
    }
}

TEST_P(Words, EveryThreadOrder) {
  auto kernel = load();
  ASSERT_TRUE(kernel);
  const int size = GetParam().getElementBytes(),
            word = GetParam().getWordBytes();
  for (const ThreadSchedule &schedule : schedules()) {
    kernel->setSchedule(schedule);
    copy(*kernel, size, word - size);
  }
}

INSTANTIATE_TEST_SUITE_P(All, Words, ::testing::ValuesIn(kAll));
