//===- GatherWorkload.cpp - Gathers of random entries ---------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Workloads.h"

#include "llvm/Support/FormatVariadic.h"

#include <numeric>
#include <random>

using namespace dsv4;
using namespace dsv4::bench;

static const char gatherText[] = R"(
!cache = !dsv4.cache<64 x #dsv4.record<{0}>>

func.func @gather(
    %cache: !cache {{dsv4.name = "cache"},
    %indices: tensor<?x?xi32> {{dsv4.name = "indices", dsv4.dims = ["tokens", "topk"]},
    %table: tensor<?x?xi32> {{dsv4.name = "table", dsv4.dims = ["requests", "max_pages"]},
    %requests: tensor<?xi32> {{dsv4.name = "requests", dsv4.dims = ["tokens"]},
    %kv: tensor<?x?x512xbf16> {{dsv4.name = "kv", dsv4.dims = ["tokens", "topk", ""]})
    -> tensor<?x?x512xbf16>
    attributes {{dsv4.policies = {{topk = #dsv4.policy<exact>}} {{
  %rows = dsv4.paged_gather %cache[%indices]
      pages(%table : tensor<?x?xi32>) requests(%requests : tensor<?xi32>)
      outs(%kv : tensor<?x?x512xbf16>) : !cache, tensor<?x?xi32>
  return %rows : tensor<?x?x512xbf16>
}
)";

namespace {
class Gather : public Workload {
public:
  Gather(Device &device, const std::string &layout, int64_t recordBytes,
         int64_t topk);
  unsigned slices(int64_t size) const override {
    return tokens / size * poolCount;
  }
  Arguments arguments(int64_t size, unsigned slice) override;
  Excerpt extract(int64_t size, unsigned slice,
                  const std::vector<int64_t> &rows) override;

private:
  static constexpr int64_t tokens = 1024, pageSize = 64;
  static constexpr unsigned poolCount = 4;
  /// Numbers in the 16 bytes that an argument is aligned to.
  static constexpr int64_t alone = 4;
  static constexpr int64_t minPoolBytes = 4400ll << 20;
  struct Pool {
    std::vector<Memory> parts; ///< One a binding of the cache.
    Memory indices, table, requests, kv;
    std::vector<int32_t> hostIndices, hostTable;
  };
  void makePool(Pool &pool, unsigned seed);

  int64_t topk, pages, maxPages;
  std::vector<CachePart> parts;
  Pool pools[poolCount];
};
} // namespace

Gather::Gather(Device &device, const std::string &layout, int64_t recordBytes,
               int64_t topk)
    : Workload(device, "gather", layout, llvm::formatv(gatherText, layout)),
      topk(topk), parts(getCacheParts()) {
  options.dims["topk"] = topk;
  rowsPerSize = topk;
  bytesPerRow = recordBytes + 4 + 1024;
  int64_t allBytes = 0;
  for (const CachePart &part : parts)
    allBytes += part.pageBytes;
  maxPages = (minPoolBytes + allBytes * tokens - 1) / (allBytes * tokens);
  pages = maxPages * tokens;
  poolBytes = pages * allBytes;
  for (unsigned i = 0; i < poolCount; ++i)
    makePool(pools[i], i);
}

void Gather::makePool(Pool &pool, unsigned seed) {
  std::mt19937 random(seed);
  for (const CachePart &part : parts) {
    pool.parts.push_back(device.allocate(pages * part.pageBytes));
    device.fillRandom(pool.parts.back());
  }
  pool.hostTable.resize(pages);
  std::iota(pool.hostTable.begin(), pool.hostTable.end(), 0);
  std::shuffle(pool.hostTable.begin(), pool.hostTable.end(), random);
  // Every token selects `topk` different entries of its own pages.
  std::vector<int32_t> entries(maxPages * pageSize);
  std::iota(entries.begin(), entries.end(), 0);
  // The request numbers, and once more with every one aligned.
  std::vector<int32_t> requests(tokens + tokens * alone);
  for (int64_t token = 0; token < tokens; ++token)
    requests[token] = requests[tokens + token * alone] = token;
  for (int64_t token = 0; token < tokens; ++token) {
    for (int64_t i = 0; i < topk; ++i)
      std::swap(entries[i], entries[i + random() % (entries.size() - i)]);
    pool.hostIndices.insert(pool.hostIndices.end(), entries.begin(),
                            entries.begin() + topk);
  }
  pool.indices = device.allocate(tokens * topk * 4);
  pool.table = device.allocate(pages * 4);
  pool.requests = device.allocate(requests.size() * 4);
  pool.kv = device.allocate(tokens * topk * 1024);
  device.upload(pool.indices, pool.hostIndices.data());
  device.upload(pool.table, pool.hostTable.data());
  device.upload(pool.requests, requests.data());
}

Arguments Gather::arguments(int64_t size, unsigned slice) {
  Pool &pool = pools[slice % poolCount];
  int64_t first = slice / poolCount * size;
  Arguments arguments;
  for (auto [part, memory] : llvm::zip(parts, pool.parts))
    arguments.add(memory.at(), part.getShape(pages));
  arguments.add(pool.indices.at(first * topk * 4), {size, topk});
  arguments.add(pool.table.at(), {tokens, maxPages});
  bool aligned = size % alone == 0;
  arguments.add(
      pool.requests.at(4 * (aligned ? first : tokens + first * alone)), {size});
  arguments.add(pool.kv.at(first * topk * 1024), {size, topk, 512});
  return arguments;
}

/// A pool of one page a row, in the order of the rows.
Excerpt Gather::extract(int64_t size, unsigned slice,
                        const std::vector<int64_t> &rows) {
  Pool &pool = pools[slice % poolCount];
  int64_t count = rows.size(), first = slice / poolCount * size * topk;
  Excerpt excerpt;
  for (const CachePart &part : parts)
    excerpt.add(std::vector<char>(), part.getShape(count));
  std::vector<int32_t> indices, table(count);
  std::iota(table.begin(), table.end(), 0);
  const size_t out = pool.parts.size() + 3;
  for (auto [i, row] : llvm::enumerate(rows)) {
    int32_t index = pool.hostIndices[first + row];
    int64_t token = (first + row) / topk;
    int64_t page = pool.hostTable[token * maxPages + index / pageSize];
    indices.push_back(i * pageSize + index % pageSize);
    for (size_t part = 0; part < parts.size(); ++part) {
      int64_t bytes = parts[part].pageBytes;
      llvm::append_range(excerpt.data[part],
                         download(pool.parts[part].at(page * bytes), bytes));
    }
    excerpt.results.push_back(
        {out, i * 1024, pool.kv.at((first + row) * 1024), 1024});
  }
  const int32_t request = 0;
  excerpt.add(indices.data(), count * 4, {1, count});
  excerpt.add(table.data(), count * 4, {1, count});
  excerpt.add(&request, 4, {1});
  excerpt.add(std::vector<char>(count * 1024), {1, count, 512});
  return excerpt;
}

std::unique_ptr<Workload> bench::makeGather(Device &device,
                                            const std::string &layout,
                                            int64_t recordBytes, int64_t topk) {
  return std::make_unique<Gather>(device, layout, recordBytes, topk);
}
