//===- IndexScoreWorkload.cpp - Scores of index keys, and the best --------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Scores have a bounded contract, so no bytes of them are compared:
// `dsv4-run --target=cuda --check` does that.
//
//===----------------------------------------------------------------------===//

#include "Workloads.h"

#include "llvm/Support/FormatVariadic.h"

#include <cmath>
#include <numeric>
#include <random>

using namespace dsv4;
using namespace dsv4::bench;

// {0}: the record; {1}: rows per request; {2}: an argument and a result of the
// scores, if they are stored; {3}: the ops after the scores and the results;
// {4}: types of the results; {5}: where the scores go; {6}: their type; {7}:
// policies, because schedules are chosen by bounds; {8}: what is left out.
static const char indexText[] = R"(
!keys = !dsv4.cache<64 x #dsv4.record<{0}>>

func.func @index(
    %q: tensor<?x64x128xf8E4M3FN> {{dsv4.name = "q", dsv4.dims = ["rows", "", ""]},
    %w: tensor<?x64xf32> {{dsv4.name = "weights", dsv4.dims = ["rows", ""]},
    %cache: !keys {{dsv4.name = "cache"},
    %table: tensor<?x?xi32> {{dsv4.name = "table", dsv4.dims = ["requests", "pages"]},
    %lengths: tensor<?xi32> {{dsv4.name = "lengths", dsv4.dims = ["requests"]}{2})
    -> {4}
    attributes {{dsv4.policies = {{{7}}} {{
  {5}
  %scores = dsv4.index_score %q weights(%w : tensor<?x64xf32>) cache(%cache : !keys)
      pages(%table : tensor<?x?xi32>) lengths(%lengths : tensor<?xi32>) next_n {1}{8}
      outs(%out : {6}) : tensor<?x64x128xf8E4M3FN>
  {3}
}
)";

static std::string getText(const IndexScoreJob &of) {
  const std::string scores =
      of.result == IndexScoreJob::Result::Fused
          ? llvm::formatv("tensor<?x{0}xf32>", of.columns).str()
          : "tensor<?x?xf32>";
  const std::string stored =
      ",\n    %out: tensor<?x?xf32> {dsv4.name = \"scores\", dsv4.dims = "
      "[\"rows\", \"columns\"]}";
  const std::string chosen =
      ",\n    %indices: tensor<?x512xi32> {dsv4.name = \"chosen\", dsv4.dims = "
      "[\"rows\", \"\"]}";
  const std::string topk =
      llvm::formatv("%chosen = dsv4.topk %scores lengths(%lengths : "
                    "tensor<?xi32>) next_n {0} outs(%indices : "
                    "tensor<?x512xi32>) : {1}\n  ",
                    of.nextN, scores);
  std::string arguments, after, types, before, keeps;
  std::string policies = "rows = #dsv4.policy<bucket>";
  if (of.result != IndexScoreJob::Result::Fused)
    policies += ", columns = #dsv4.policy<bucket, multiple = 4>";
  switch (of.result) {
  case IndexScoreJob::Result::Scores:
    arguments = stored;
    after = "return %scores : " + scores;
    types = scores;
    break;
  case IndexScoreJob::Result::Selected:
    arguments = stored + chosen;
    keeps = " keep_rest";
    after =
        topk + "return %scores, %chosen : " + scores + ", tensor<?x512xi32>";
    types = "(" + scores + ", tensor<?x512xi32>)";
    break;
  case IndexScoreJob::Result::Fused:
    arguments = chosen;
    after = topk + "return %chosen : tensor<?x512xi32>";
    types = "tensor<?x512xi32>";
    before = "%c0 = arith.constant 0 : index\n"
             "  %rows = tensor.dim %q, %c0 : tensor<?x64x128xf8E4M3FN>\n"
             "  %out = tensor.empty(%rows) : " +
             scores;
    break;
  }
  return llvm::formatv(indexText, of.record, of.nextN, arguments, after, types,
                       before, scores, policies, keeps);
}

std::string IndexScoreJob::getName() const {
  static const char *const names[] = {"index_score", "index_select",
                                      "index_fused"};
  return llvm::formatv("{0}_{1}{2}", names[static_cast<unsigned>(result)],
                       requests,
                       nextN > 1 ? llvm::formatv("_next{0}", nextN).str() : "");
}

namespace {

class IndexScore : public Workload {
public:
  IndexScore(Device &device, const IndexScoreJob &of);
  int64_t rows(int64_t) const override { return of.requests * of.nextN; }
  unsigned slices(int64_t) const override { return launchesOfData; }
  Arguments arguments(int64_t size, unsigned slice) override;
  /// Nothing to compare.
  Excerpt extract(int64_t, unsigned, const std::vector<int64_t> &) override {
    return {};
  }

private:
  static constexpr int64_t pageSize = 64, heads = 64, k = 512;
  /// More than is left of it in the cache when a graph is replayed.
  static constexpr int64_t minPoolBytes = int64_t(400) << 20;
  /// Pages whose bytes are made on the host; the pool repeats them.
  static constexpr int64_t madePages = 4096;
  static constexpr float kMaxE4M3 = 448;

  int64_t pagesOfRow() const { return of.columns / pageSize; }
  int64_t pagesOfLaunch() const { return of.requests * pagesOfRow(); }
  void makeKeys();
  void makeQueries(int64_t rows);

  const IndexScoreJob of;
  std::vector<CachePart> parts;
  int64_t launchesOfData;
  Memory pool, table, queries, weights, lengths, scores, chosen;
};

} // namespace

IndexScore::IndexScore(Device &device, const IndexScoreJob &of)
    : Workload(device, of.getName(), of.record, getText(of)), of(of),
      parts(getCacheParts()) {
  const int64_t launchBytes = pagesOfLaunch() * parts[0].pageBytes;
  const int64_t rows = of.requests * of.nextN;
  launchesOfData = std::max<int64_t>(minPoolBytes / launchBytes, 2);
  const int64_t pages = launchesOfData * pagesOfLaunch();
  pool = device.allocate(pages * parts[0].pageBytes);
  makeKeys();
  std::vector<int32_t> order(pages), counts(of.requests, of.length);
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), std::mt19937(1));
  table = device.allocate(pages * 4);
  lengths = device.allocate(of.requests * 4);
  device.upload(table, order.data());
  device.upload(lengths, counts.data());
  queries = device.allocate(rows * heads * 128);
  weights = device.allocate(rows * heads * 4);
  scores = device.allocate(rows * of.columns * 4);
  chosen = device.allocate(rows * k * 4);
  makeQueries(rows);
  // With the scale of a query, dim^-1/2 and heads^-1/2, as engines have them.
  std::vector<float> made(rows * heads);
  std::mt19937 random(3);
  for (float &weight : made)
    weight = (static_cast<int>(random() % 2048) - 1023) / 1024.0f /
             (kMaxE4M3 * std::sqrt(128.0f * heads));
  device.upload(weights, made.data());
  device.finish();
  options.dims = {{"rows", rows}};
  if (of.result != IndexScoreJob::Result::Fused)
    options.dims["columns"] = of.columns;
  bytesPerLaunch = launchBytes * of.length / of.columns;
  if (of.result != IndexScoreJob::Result::Fused)
    bytesPerLaunch += rows * of.columns * 4;
  if (of.result != IndexScoreJob::Result::Scores)
    bytesPerLaunch += rows * k * 4;
  poolBytes = pool.size();
  compileCosts = false;
}

/// An E4M3, but no NaN, which would make all scores of a query equal.
static uint8_t drawE4M3(std::mt19937 &random) {
  uint8_t code = random();
  return (code & 0x7F) == 0x7F ? 0 : code;
}

void IndexScore::makeQueries(int64_t rows) {
  std::vector<uint8_t> made(rows * heads * 128);
  std::mt19937 random(4);
  for (uint8_t &code : made)
    code = drawE4M3(random);
  device.upload(queries, made.data());
}

/// Random elements, with scales of moderate size: those of a quantiser, so that
/// scores are near to 1.
void IndexScore::makeKeys() {
  const int64_t bytes = parts[0].pageBytes;
  const bool isFP8 = of.record == "index_fp8_132";
  const int64_t payload = pageSize * (isFP8 ? 128 : 64);
  std::vector<uint8_t> made(madePages * bytes);
  std::mt19937 random(2);
  for (int64_t page = 0; page < madePages; ++page) {
    uint8_t *at = &made[page * bytes];
    for (int64_t i = 0; i < payload; ++i)
      at[i] = isFP8 ? drawE4M3(random) : random();
    for (int64_t i = payload; i < bytes; ++i)
      at[i] = 120 + random() % 8;
    for (int64_t key = 0; isFP8 && key < pageSize; ++key) {
      const float scale = (1.0f + random() % 256 / 256.0f) / kMaxE4M3;
      std::memcpy(at + payload + 4 * key, &scale, 4);
    }
  }
  Memory first = device.allocate(made.size());
  device.upload(first, made.data());
  for (size_t at = 0; at < pool.size(); at += made.size())
    check(device.driver.copyOnDevice(pool.at(at), first.at(),
                                     std::min(made.size(), pool.size() - at),
                                     device.stream));
  device.finish();
}

Arguments IndexScore::arguments(int64_t, unsigned slice) {
  const int64_t rows = of.requests * of.nextN;
  Arguments arguments;
  arguments.add(queries.at(), {rows, heads, 128});
  arguments.add(weights.at(), {rows, heads});
  arguments.add(pool.at(), parts[0].getShape(launchesOfData * pagesOfLaunch()));
  arguments.add(table.at(slice * pagesOfLaunch() * 4),
                {of.requests, pagesOfRow()});
  arguments.add(lengths.at(), {of.requests});
  if (of.result != IndexScoreJob::Result::Fused)
    arguments.add(scores.at(), {rows, of.columns});
  if (of.result != IndexScoreJob::Result::Scores)
    arguments.add(chosen.at(), {rows, k});
  return arguments;
}

std::unique_ptr<Workload> bench::makeIndexScore(Device &device,
                                                const IndexScoreJob &of) {
  return std::make_unique<IndexScore>(device, of);
}
