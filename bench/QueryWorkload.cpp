//===- QueryWorkload.cpp - Queries and the entries of keys ----------------===//
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

// {0}: attributes of the function, {1}: heads.
static const char text[] = R"(
!cache = !dsv4.cache<64 x #dsv4.record<v4_584>>
#fp8 = #dsv4.format<f8E4M3FN, [<f8E8M0FNU per 64>]>
#recipe = #dsv4.quantizer<floor = 1.0e-04 : f32, limit = reciprocal, rounding = up_pow2>
#fp8_query = #dsv4.format<f8E4M3FN, [<f32 per 128>]>
#query_recipe = #dsv4.quantizer<floor = 1.0e-04 : f32, payload = divide>

func.func @query_and_key(
    %q: tensor<?x{1}x512xbf16> {{dsv4.name = "q", dsv4.dims = ["tokens", "", ""]},
    %q_position: tensor<?x{1}xi32> {{dsv4.name = "q_position", dsv4.dims = ["tokens", ""]},
    %kv: tensor<?x512xbf16> {{dsv4.name = "kv", dsv4.dims = ["tokens", ""]},
    %position: tensor<?xi32> {{dsv4.name = "position", dsv4.dims = ["tokens"]},
    %slots: tensor<?xi32> {{dsv4.name = "slots", dsv4.dims = ["tokens"]},
    %angles: tensor<?x64xf32> {{dsv4.name = "angles", dsv4.dims = ["positions", ""]},
    %data: tensor<?x{1}x512xf8E4M3FN> {{dsv4.name = "data", dsv4.dims = ["tokens", "", ""]},
    %scales: tensor<?x{1}x4xf32> {{dsv4.name = "scales", dsv4.dims = ["tokens", "", ""]},
    %cache: !cache {{dsv4.name = "cache"})
    -> (tensor<?x{1}x512xf8E4M3FN>, tensor<?x{1}x4xf32>) {0} {{
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %q, %c0 : tensor<?x{1}x512xbf16>
  %q_row = tensor.empty(%tokens) : tensor<?x{1}x512xbf16>
  %kv_row = tensor.empty(%tokens) : tensor<?x512xbf16>
  %payload_of_row = tensor.empty(%tokens) : tensor<?x448xf8E4M3FN>
  %scales_of_row = tensor.empty(%tokens) : tensor<?x7xf8E8M0FNU>
  %normed = dsv4.rms_norm %q outs(%q_row : tensor<?x{1}x512xbf16>) {{eps = 1.0e-06 : f32}
      : tensor<?x{1}x512xbf16>
  %query = dsv4.rope %normed table(%angles : tensor<?x64xf32>)
      positions(%q_position : tensor<?x{1}xi32>) outs(%q_row : tensor<?x{1}x512xbf16>)
      : tensor<?x{1}x512xbf16>
  %q_data, %q_scales = dsv4.quantize %query
      outs(%data, %scales : tensor<?x{1}x512xf8E4M3FN>, tensor<?x{1}x4xf32>)
      {{format = #fp8_query, recipe = #query_recipe} : tensor<?x{1}x512xbf16>
  %rotated = dsv4.rope %kv table(%angles : tensor<?x64xf32>)
      positions(%position : tensor<?xi32>) outs(%kv_row : tensor<?x512xbf16>)
      : tensor<?x512xbf16>
  %payload, %payload_scales = dsv4.quantize %rotated columns [0, 448]
      outs(%payload_of_row, %scales_of_row : tensor<?x448xf8E4M3FN>, tensor<?x7xf8E8M0FNU>)
      {{format = #fp8, recipe = #recipe} : tensor<?x512xbf16>
  dsv4.paged_append %cache[%slots] unique
      fields(%payload, %rotated, %payload_scales
             : tensor<?x448xf8E4M3FN>, tensor<?x512xbf16>, tensor<?x7xf8E8M0FNU>)
      columns [0, 448, 0] : !cache, tensor<?xi32>
  return %q_data, %q_scales : tensor<?x{1}x512xf8E4M3FN>, tensor<?x{1}x4xf32>
}
)";

namespace {

class Query : public Workload {
public:
  Query(Device &device, bool oneLaunch);
  unsigned slices(int64_t size) const override { return tokens / size; }
  Arguments arguments(int64_t size, unsigned slice) override;
  Excerpt extract(int64_t size, unsigned slice,
                  const std::vector<int64_t> &rows) override;

private:
  static constexpr int64_t tokens = 16384, heads = 64, positions = 4096;
  static constexpr int64_t pages = 16384, pageSize = 64;
  /// Bytes of a token.
  static constexpr int64_t queryBytes = heads * 1024, dataBytes = heads * 512,
                           scaleBytes = heads * 16, keyBytes = 1024;

  Memory uploadNumbers(const std::vector<int32_t> &numbers);

  int64_t pageBytes;
  Memory q, qPosition, kv, position, slots, angles, data, scales, pool;
  std::vector<float> hostAngles;
  std::vector<int32_t> hostPosition, hostSlots;
};

} // namespace

Query::Query(Device &device, bool oneLaunch)
    : Workload(device, oneLaunch ? "query_and_key" : "query_then_key", "v4_584",
               llvm::formatv(
                   text, oneLaunch ? "" : "attributes {dsv4.separate_launches}",
                   heads)),
      pageBytes(getCacheParts().front().pageBytes) {
  sizeDim = "tokens";
  bytesPerRow =
      queryBytes + dataBytes + scaleBytes + heads * 4 + keyBytes + 584 + 8;
  poolBytes = pages * pageBytes;
  q = device.allocate(tokens * queryBytes);
  kv = device.allocate(tokens * keyBytes);
  device.fillValues(q);
  device.fillValues(kv);
  data = device.allocate(tokens * dataBytes);
  scales = device.allocate(tokens * scaleBytes);
  pool = device.allocate(poolBytes);
  device.fillRandom(pool);
  std::mt19937 random(1);
  hostSlots.resize(pages * pageSize);
  std::iota(hostSlots.begin(), hostSlots.end(), 0);
  for (int64_t i = 0; i < tokens; ++i)
    std::swap(hostSlots[i], hostSlots[i + random() % (hostSlots.size() - i)]);
  hostSlots.resize(tokens);
  std::vector<int32_t> ofHeads;
  for (int64_t i = 0; i < tokens; ++i) {
    hostPosition.push_back(random() % positions);
    ofHeads.insert(ofHeads.end(), heads, hostPosition.back());
  }
  slots = uploadNumbers(hostSlots);
  position = uploadNumbers(hostPosition);
  qPosition = uploadNumbers(ofHeads);
  hostAngles = makeAngles(positions);
  angles = device.allocate(hostAngles.size() * 4);
  device.upload(angles, hostAngles.data());
}

Memory Query::uploadNumbers(const std::vector<int32_t> &numbers) {
  Memory memory = device.allocate(numbers.size() * 4);
  device.upload(memory, numbers.data());
  return memory;
}

Arguments Query::arguments(int64_t size, unsigned slice) {
  int64_t first = slice * size;
  Arguments arguments;
  arguments.add(q.at(first * queryBytes), {size, heads, 512});
  arguments.add(qPosition.at(first * heads * 4), {size, heads});
  arguments.add(kv.at(first * keyBytes), {size, 512});
  arguments.add(position.at(first * 4), {size});
  arguments.add(slots.at(first * 4), {size});
  arguments.add(angles.at(), {positions, 64});
  arguments.add(data.at(first * dataBytes), {size, heads, 512});
  arguments.add(scales.at(first * scaleBytes), {size, heads, 4});
  arguments.add(pool.at(), getCacheParts().front().getShape(pages));
  return arguments;
}

/// Some tokens, each with a page of its own: what no token writes must stay,
/// but other tokens of the launch write such a page, so only the entry is
/// compared.
Excerpt Query::extract(int64_t size, unsigned slice,
                       const std::vector<int64_t> &rows) {
  constexpr int64_t rowBytes = 576, scalesBytes = 8;
  const int64_t first = slice * size, count = rows.size();
  Excerpt excerpt;
  std::vector<char> query, key;
  std::vector<int32_t> ofHeads, ofToken, entries;
  for (int64_t row : rows) {
    const int64_t token = first + row;
    const int64_t entry = hostSlots[token] % pageSize,
                  page = hostSlots[token] / pageSize, at = entries.size();
    llvm::append_range(query, download(q.at(token * queryBytes), queryBytes));
    llvm::append_range(key, download(kv.at(token * keyBytes), keyBytes));
    ofHeads.insert(ofHeads.end(), heads, hostPosition[token]);
    ofToken.push_back(hostPosition[token]);
    entries.push_back(at * pageSize + entry);
    const std::pair<int64_t, int64_t> written[] = {
        {entry * rowBytes, rowBytes},
        {pageSize * rowBytes + entry * scalesBytes, scalesBytes}};
    for (auto [offset, bytes] : written)
      excerpt.results.push_back({8, size_t(at * pageBytes + offset),
                                 pool.at(page * pageBytes + offset),
                                 size_t(bytes)});
    excerpt.results.push_back(
        {6, size_t(at * dataBytes), data.at(token * dataBytes), dataBytes});
    excerpt.results.push_back({7, size_t(at * scaleBytes),
                               scales.at(token * scaleBytes), scaleBytes});
  }
  excerpt.add(std::move(query), {count, heads, 512});
  excerpt.add(ofHeads.data(), ofHeads.size() * 4, {count, heads});
  excerpt.add(std::move(key), {count, 512});
  excerpt.add(ofToken.data(), count * 4, {count});
  excerpt.add(entries.data(), count * 4, {count});
  excerpt.add(hostAngles.data(), hostAngles.size() * 4, {positions, 64});
  excerpt.add(std::vector<char>(count * dataBytes), {count, heads, 512});
  excerpt.add(std::vector<char>(count * scaleBytes), {count, heads, 4});
  excerpt.add(std::vector<char>(count * pageBytes),
              getCacheParts().front().getShape(count));
  return excerpt;
}

std::unique_ptr<Workload> bench::makeQuery(Device &device, bool oneLaunch) {
  return std::make_unique<Query>(device, oneLaunch);
}
