//===- RaggedGatherWorkload.cpp - Gathers of whole requests ---------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The same rows twice: the kernel finds the request and the position of each
// by `cu_seq_lens`, or both are given.
//
//===----------------------------------------------------------------------===//

#include "Workloads.h"

#include "llvm/Support/FormatVariadic.h"

#include <map>
#include <numeric>
#include <random>

using namespace dsv4;
using namespace dsv4::bench;

static const char raggedText[] = R"(
!cache = !dsv4.cache<64 x <v4_584>>

func.func @gather_ragged(
    %cache: !cache {dsv4.name = "cache"},
    %table: tensor<?x?xi32> {dsv4.name = "table", dsv4.dims = ["requests", "max_pages"]},
    %cu_seq_lens: tensor<?xi32> {dsv4.name = "cu_seq_lens", dsv4.dims = ["starts"]},
    %kv: tensor<?x512xbf16> {dsv4.name = "kv", dsv4.dims = ["rows", ""]}) -> tensor<?x512xbf16> {
  %rows = dsv4.paged_gather %cache pages(%table : tensor<?x?xi32>)
      cu_seq_lens(%cu_seq_lens : tensor<?xi32>) outs(%kv : tensor<?x512xbf16>) : !cache
  return %rows : tensor<?x512xbf16>
}
)";

static const char givenText[] = R"(
!cache = !dsv4.cache<64 x <v4_584>>

func.func @gather_given(
    %cache: !cache {dsv4.name = "cache"},
    %table: tensor<?x?xi32> {dsv4.name = "table", dsv4.dims = ["requests", "max_pages"]},
    %indices: tensor<?xi32> {dsv4.name = "indices", dsv4.dims = ["rows"]},
    %requests: tensor<?xi32> {dsv4.name = "requests", dsv4.dims = ["rows"]},
    %kv: tensor<?x512xbf16> {dsv4.name = "kv", dsv4.dims = ["rows", ""]}) -> tensor<?x512xbf16> {
  %rows = dsv4.paged_gather %cache[%indices] pages(%table : tensor<?x?xi32>)
      requests(%requests : tensor<?xi32>) outs(%kv : tensor<?x512xbf16>)
      : !cache, tensor<?xi32>
  return %rows : tensor<?x512xbf16>
}
)";

namespace {
class RaggedGather : public Workload {
public:
  RaggedGather(Device &device, bool given);
  unsigned slices(int64_t size) const override {
    return pages / (requestCount * getMaxPages(size));
  }
  Arguments arguments(int64_t size, unsigned slice) override;
  Excerpt extract(int64_t size, unsigned slice,
                  const std::vector<int64_t> &rows) override;

private:
  static constexpr int64_t requestCount = 64, pageSize = 64, maxSize = 65536;
  static constexpr int64_t rowBytes = 1024, outputs = 4;
  static constexpr int64_t minPoolBytes = 4400ll << 20;
  /// The numbers of cu_seq_lens of a launch, aligned to 16 bytes.
  static constexpr int64_t startCount = (requestCount + 1 + 3) / 4 * 4;

  /// What launches of one size are given, one after another.
  struct Rows {
    std::vector<int32_t> starts; ///< Of all of them.
    Memory deviceStarts, indices, requests;
  };
  /// Requests have up to one and a half times the positions of the average.
  static int64_t getMaxPages(int64_t size) {
    return (3 * size / (2 * requestCount) + pageSize - 1) / pageSize;
  }
  Rows &getRows(int64_t size);
  int64_t getOutput(int64_t size, unsigned slice) const {
    return slice % (outputs * maxSize / size) * size * rowBytes;
  }

  const bool given;
  int64_t pages;
  CachePart part;
  Memory pool, table, kv;
  std::vector<int32_t> hostTable;
  std::map<int64_t, Rows> rowsOf;
};
} // namespace

RaggedGather::RaggedGather(Device &device, bool given)
    : Workload(device, given ? "gather_given" : "gather_ragged", "v4_584",
               given ? givenText : raggedText),
      given(given), part(getCacheParts().front()) {
  bytesPerRow = 584 + rowBytes;
  compileCosts = false;
  pages = minPoolBytes / part.pageBytes;
  poolBytes = pages * part.pageBytes;
  pool = device.allocate(poolBytes);
  device.fillRandom(pool);
  hostTable.resize(pages);
  std::iota(hostTable.begin(), hostTable.end(), 0);
  std::shuffle(hostTable.begin(), hostTable.end(), std::mt19937(1));
  table = device.allocate(pages * sizeof(int32_t));
  device.upload(table, hostTable.data());
  kv = device.allocate(outputs * maxSize * rowBytes);
}

RaggedGather::Rows &RaggedGather::getRows(int64_t size) {
  auto [it, fresh] = rowsOf.try_emplace(size);
  Rows &rows = it->second;
  if (!fresh)
    return rows;
  std::mt19937 random(size);
  const int64_t mean = size / requestCount;
  std::vector<int32_t> indices, requests;
  for (unsigned slice = 0; slice < slices(size); ++slice) {
    int64_t at = 0, shift = 0;
    rows.starts.resize((slice + 1) * startCount);
    for (int64_t request = 0; request < requestCount; ++request) {
      // One of two neighbours has more positions, by what the other has fewer.
      shift = request % 2 ? -shift : int64_t(random() % (mean / 2 + 1));
      rows.starts[slice * startCount + request] = at;
      for (int64_t i = 0; i < mean + shift; ++i) {
        indices.push_back(i);
        requests.push_back(request);
      }
      at += mean + shift;
    }
    rows.starts[slice * startCount + requestCount] = at;
  }
  auto upload = [&](const std::vector<int32_t> &numbers) {
    Memory memory = device.allocate(numbers.size() * sizeof(int32_t));
    device.upload(memory, numbers.data());
    return memory;
  };
  rows.deviceStarts = upload(rows.starts);
  rows.indices = upload(indices);
  rows.requests = upload(requests);
  return rows;
}

Arguments RaggedGather::arguments(int64_t size, unsigned slice) {
  Rows &rows = getRows(size);
  const int64_t maxPages = getMaxPages(size), first = slice * size;
  Arguments arguments;
  arguments.add(pool.at(), part.getShape(pages));
  arguments.add(table.at(sizeof(int32_t) * slice * requestCount * maxPages),
                {requestCount, maxPages});
  if (given) {
    arguments.add(rows.indices.at(sizeof(int32_t) * first), {size});
    arguments.add(rows.requests.at(sizeof(int32_t) * first), {size});
  } else {
    arguments.add(rows.deviceStarts.at(sizeof(int32_t) * slice * startCount),
                  {requestCount + 1});
  }
  arguments.add(kv.at(getOutput(size, slice)), {size, 512});
  return arguments;
}

/// A request for each row, of one page: the positions up to that of the row.
Excerpt RaggedGather::extract(int64_t size, unsigned slice,
                              const std::vector<int64_t> &rows) {
  const int32_t *starts = getRows(size).starts.data() + slice * startCount;
  const int64_t maxPages = getMaxPages(size), count = rows.size();
  const size_t out = given ? 4 : 3;
  Excerpt excerpt;
  excerpt.add(std::vector<char>(), part.getShape(count));
  std::vector<int32_t> table(count), indices, requests, excerptStarts = {0};
  std::iota(table.begin(), table.end(), 0);
  for (auto [i, row] : llvm::enumerate(rows)) {
    const int64_t request =
        std::upper_bound(starts, starts + requestCount, row) - starts - 1;
    const int64_t position = row - starts[request], slot = position % pageSize;
    const int64_t page = hostTable[(slice * requestCount + request) * maxPages +
                                   position / pageSize];
    llvm::append_range(excerpt.data[0], download(pool.at(page * part.pageBytes),
                                                 part.pageBytes));
    excerpt.results.push_back(
        {out, size_t(excerptStarts.back() * rowBytes),
         kv.at(getOutput(size, slice) + (row - slot) * rowBytes),
         size_t((slot + 1) * rowBytes)});
    for (int64_t at = 0; at <= slot; ++at) {
      indices.push_back(at);
      requests.push_back(i);
    }
    excerptStarts.push_back(indices.size());
  }
  const int64_t all = indices.size();
  excerpt.add(table.data(), count * sizeof(int32_t), {count, 1});
  if (given) {
    excerpt.add(indices.data(), all * sizeof(int32_t), {all});
    excerpt.add(requests.data(), all * sizeof(int32_t), {all});
  } else {
    excerpt.add(excerptStarts.data(), (count + 1) * sizeof(int32_t),
                {count + 1});
  }
  excerpt.add(std::vector<char>(all * rowBytes), {all, 512});
  return excerpt;
}

std::unique_ptr<Workload> bench::makeRaggedGather(Device &device, bool given) {
  return std::make_unique<RaggedGather>(device, given);
}
