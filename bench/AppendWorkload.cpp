//===- AppendWorkload.cpp - Writers of a paged cache ----------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Workloads.h"

#include "llvm/Support/FormatVariadic.h"

#include <map>
#include <numeric>
#include <random>

using namespace dsv4;
using namespace dsv4::bench;

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

// {0}: record, {1}: scales of the format, {2}: recipe, {3}: type of the scales,
// {4}: "unique" or nothing.
static const char plainText[] = R"(
!cache = !dsv4.cache<64 x #dsv4.record<{0}>>
#fp8 = #dsv4.format<f8E4M3FN, [<{1}>]>
#recipe = #dsv4.quantizer<{2}>

func.func @append(
    %kv: tensor<?x512xbf16> {{dsv4.name = "kv", dsv4.dims = ["tokens", ""]},
    %slots: tensor<?xi32> {{dsv4.name = "slots", dsv4.dims = ["tokens"]},
    %cache: !cache {{dsv4.name = "cache"})
    attributes {{dsv4.policies = {{tokens = #dsv4.policy<bucket>}} {{
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %kv, %c0 : tensor<?x512xbf16>
  %payload_of_row = tensor.empty(%tokens) : tensor<?x448xf8E4M3FN>
  %scales_of_row = tensor.empty(%tokens) : {3}
  %payload, %scales = dsv4.quantize %kv columns [0, 448]
      outs(%payload_of_row, %scales_of_row : tensor<?x448xf8E4M3FN>, {3})
      {{format = #fp8, recipe = #recipe} : tensor<?x512xbf16>
  dsv4.paged_append %cache[%slots] {4}
      fields(%payload, %kv, %scales
             : tensor<?x448xf8E4M3FN>, tensor<?x512xbf16>, {3})
      columns [0, 448, 0] : !cache, tensor<?xi32>
  return
}
)";

// As examples/append_swa.mlir.
static const char chainText[] = R"(
!cache = !dsv4.cache<64 x #dsv4.record<{0}>>
#fp8 = #dsv4.format<f8E4M3FN, [<{1}>]>
#recipe = #dsv4.quantizer<{2}>

func.func @append_chain(
    %kv: tensor<?x512xbf16> {{dsv4.name = "kv", dsv4.dims = ["tokens", ""]},
    %weight: tensor<512xbf16> {{dsv4.name = "weight"},
    %angles: tensor<?x64xf32> {{dsv4.name = "angles", dsv4.dims = ["positions", ""]},
    %position: tensor<?xi32> {{dsv4.name = "position", dsv4.dims = ["tokens"]},
    %request: tensor<?xi32> {{dsv4.name = "request", dsv4.dims = ["tokens"]},
    %length: tensor<?xi32> {{dsv4.name = "length", dsv4.dims = ["requests"]},
    %cache: !cache {{dsv4.name = "cache"})
    attributes {{dsv4.policies = {{tokens = #dsv4.policy<bucket>}} {{
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %kv, %c0 : tensor<?x512xbf16>
  %row = tensor.empty(%tokens) : tensor<?x512xbf16>
  %payload_of_row = tensor.empty(%tokens) : tensor<?x448xf8E4M3FN>
  %scales_of_row = tensor.empty(%tokens) : {3}
  %normed = dsv4.rms_norm %kv weight(%weight : tensor<512xbf16>)
      outs(%row : tensor<?x512xbf16>) {{eps = 1.0e-06 : f32} : tensor<?x512xbf16>
  %rotated = dsv4.rope %normed table(%angles : tensor<?x64xf32>)
      positions(%position : tensor<?xi32>) outs(%row : tensor<?x512xbf16>)
      : tensor<?x512xbf16>
  %payload, %scales = dsv4.quantize %rotated columns [0, 448]
      outs(%payload_of_row, %scales_of_row : tensor<?x448xf8E4M3FN>, {3})
      {{format = #fp8, recipe = #recipe} : tensor<?x512xbf16>
  dsv4.paged_append %cache[%position] ring 128
      requests(%request : tensor<?xi32>) lengths(%length : tensor<?xi32>)
      fields(%payload, %rotated, %scales
             : tensor<?x448xf8E4M3FN>, tensor<?x512xbf16>, {3})
      columns [0, 448, 0] : !cache, tensor<?xi32>
  return
}
)";

static std::string makeText(bool chain, const std::string &layout,
                            bool unique) {
  const char *format = chain ? chainText : plainText;
  const char *promise = unique ? "unique" : "";
  if (layout == "v4_584")
    return llvm::formatv(
        format, layout, "f8E8M0FNU per 64",
        "floor = 1.0e-04 : f32, limit = reciprocal, rounding = up_pow2",
        "tensor<?x7xf8E8M0FNU>", promise);
  return llvm::formatv(format, layout, "f32 per row",
                       "floor = 1.0e-12 : f32, floor_of = scale",
                       "tensor<?xf32>", promise);
}

//===----------------------------------------------------------------------===//
// Data
//===----------------------------------------------------------------------===//

namespace {

/// A number for every token of all launches.
struct PerToken {
  std::vector<int32_t> host;
  Memory memory;
};

class Append : public Workload {
public:
  Append(Device &device, const std::string &layout, bool chain,
         Placement placement, bool unique);
  unsigned slices(int64_t size) const override {
    return size % apart == 0 ? tokens / size : tokensApart;
  }
  Arguments arguments(int64_t size, unsigned slice) override;
  Excerpt extract(int64_t size, unsigned slice,
                  const std::vector<int64_t> &rows) override;

private:
  static constexpr int64_t tokens = 524288, pageSize = 64, ring = 128;
  static constexpr int64_t pagesOfRing = ring / pageSize;
  static constexpr int64_t ringsBelow = 32, positions = ring * ringsBelow;
  static constexpr int64_t minPoolBytes = 4400ll << 20, maxDecoded = 256;
  /// Numbers in the 16 bytes that an argument is aligned to, and of how many
  /// tokens there is a copy with every number aligned, for launches of one.
  static constexpr int64_t apart = 4, tokensApart = 4096;

  void makeTokens();
  void upload(PerToken &numbers);
  /// The tokens of a prompt fill page after page.
  bool isPrompt(int64_t size) const {
    return !chain && placement != Placement::scattered && size > maxDecoded;
  }
  const PerToken &getEntries(int64_t size) const {
    return isPrompt(size) ? ofPrompt : entry;
  }
  char *locate(const PerToken &numbers, int64_t size, int64_t first) const {
    bool aligned = size % apart == 0;
    return numbers.memory.at(4 * (aligned ? first : tokens + first * apart));
  }

  bool chain;
  Placement placement;
  std::vector<CachePart> parts;
  std::vector<Memory> pool; ///< One a part.
  int64_t pages = 0;
  Memory kv, weight, angles, length;
  std::vector<float> hostAngles;
  std::vector<int32_t> hostLength; ///< Of every ring of the pool.
  PerToken entry, ofPrompt, position, request;
};

} // namespace

Append::Append(Device &device, const std::string &layout, bool chain,
               Placement placement, bool unique)
    : Workload(device,
               !unique                             ? "append_repeats"
               : chain                             ? "append_chain"
               : placement == Placement::scattered ? "append_scattered"
               : placement == Placement::inOrder   ? "append_in_order"
                                                   : "append",
               layout, makeText(chain, layout, unique)),
      chain(chain), placement(placement), parts(getCacheParts()) {
  sizeDim = "tokens";
  bytesPerRow = 1024 + (layout == "v4_584" ? 584 : 580) + (chain ? 8 : 4);
  int64_t ringBytes = 0;
  for (const CachePart &part : parts)
    ringBytes += part.pageBytes * pagesOfRing;
  pages = (minPoolBytes + ringBytes - 1) / ringBytes * pagesOfRing;
  poolBytes = pages / pagesOfRing * ringBytes;
  for (const CachePart &part : parts) {
    pool.push_back(device.allocate(pages * part.pageBytes));
    device.fillRandom(pool.back());
  }
  kv = device.allocate(tokens * 1024);
  device.fillValues(kv);
  weight = device.allocate(1024);
  device.fillValues(weight);
  makeTokens();
  hostAngles = makeAngles(positions);
  angles = device.allocate(hostAngles.size() * 4);
  device.upload(angles, hostAngles.data());
}

/// Every token has an entry of its own, anywhere in the pool: entry `i` of ring
/// `r` is that of the last position of request `r` that is `i` modulo `ring`.
void Append::makeTokens() {
  std::mt19937 random(1);
  hostLength.resize(pages / pagesOfRing);
  for (int32_t &each : hostLength)
    each = ring * (1 + random() % ringsBelow);
  std::vector<int32_t> entries(pages * pageSize);
  std::iota(entries.begin(), entries.end(), 0);
  for (int64_t i = 0; i < tokens; ++i) {
    std::swap(entries[i], entries[i + random() % (entries.size() - i)]);
    int32_t ofRing = entries[i] / ring;
    entry.host.push_back(entries[i]);
    request.host.push_back(ofRing);
    position.host.push_back(hostLength[ofRing] - ring + entries[i] % ring);
  }
  std::vector<int32_t> order(pages);
  std::iota(order.begin(), order.end(), 0);
  if (placement == Placement::pages)
    std::shuffle(order.begin(), order.end(), random);
  for (int64_t i = 0; i < tokens; ++i)
    ofPrompt.host.push_back(order[i / pageSize] * pageSize + i % pageSize);
  for (PerToken *numbers : {&entry, &ofPrompt, &position, &request})
    upload(*numbers);
  length = device.allocate(hostLength.size() * 4);
  device.upload(length, hostLength.data());
}

void Append::upload(PerToken &numbers) {
  std::vector<int32_t> all = numbers.host;
  all.resize(tokens + tokensApart * apart);
  for (int64_t i = 0; i < tokensApart; ++i)
    all[tokens + i * apart] = numbers.host[i];
  numbers.memory = device.allocate(all.size() * 4);
  device.upload(numbers.memory, all.data());
}

Arguments Append::arguments(int64_t size, unsigned slice) {
  int64_t first = slice * size;
  Arguments arguments;
  arguments.add(kv.at(first * 1024), {size, 512});
  if (chain) {
    arguments.add(weight.at(), {512});
    arguments.add(angles.at(), {positions, 64});
    arguments.add(locate(position, size, first), {size});
    arguments.add(locate(request, size, first), {size});
    arguments.add(length.at(), {pages / pagesOfRing});
  } else {
    arguments.add(locate(getEntries(size), size, first), {size});
  }
  for (auto [part, memory] : llvm::zip(parts, pool))
    arguments.add(memory.at(), part.getShape(pages));
  return arguments;
}

/// The rings that the rows fall in, whole, and all tokens of the launch that
/// fall in them: what no token writes must stay.
Excerpt Append::extract(int64_t size, unsigned slice,
                        const std::vector<int64_t> &rows) {
  const int64_t first = slice * size;
  const std::vector<int32_t> &places = getEntries(size).host;
  std::map<int32_t, int32_t> rings; // Of the pool, to those of the excerpt.
  for (int64_t row : rows)
    rings.try_emplace(places[first + row] / ring, rings.size());
  std::vector<char> kvRows;
  std::vector<int32_t> entries, ofPosition, ofRequest, lengths(rings.size());
  for (int64_t token = first; token < first + size; ++token) {
    auto found = rings.find(places[token] / ring);
    if (found == rings.end())
      continue;
    llvm::append_range(kvRows, download(kv.at(token * 1024), 1024));
    entries.push_back(found->second * ring + places[token] % ring);
    ofPosition.push_back(position.host[token]);
    ofRequest.push_back(found->second);
    lengths[found->second] = hostLength[found->first];
  }
  const int64_t count = entries.size(), ringCount = rings.size();
  Excerpt excerpt;
  excerpt.add(std::move(kvRows), {count, 512});
  if (chain) {
    excerpt.add(download(weight.at(), 1024), {512});
    excerpt.add(hostAngles.data(), hostAngles.size() * 4, {positions, 64});
    excerpt.add(ofPosition.data(), count * 4, {count});
    excerpt.add(ofRequest.data(), count * 4, {count});
    excerpt.add(lengths.data(), ringCount * 4, {ringCount});
  } else {
    excerpt.add(entries.data(), count * 4, {count});
  }
  for (auto [part, memory] : llvm::zip(parts, pool)) {
    const size_t bytes = pagesOfRing * part.pageBytes;
    for (auto [from, to] : rings)
      excerpt.results.push_back(
          {excerpt.data.size(), to * bytes, memory.at(from * bytes), bytes});
    excerpt.add(std::vector<char>(ringCount * bytes),
                part.getShape(ringCount * pagesOfRing));
  }
  return excerpt;
}

std::unique_ptr<Workload> bench::makeAppend(Device &device,
                                            const std::string &layout,
                                            bool chain, Placement placement,
                                            bool unique) {
  return std::make_unique<Append>(device, layout, chain, placement, unique);
}
