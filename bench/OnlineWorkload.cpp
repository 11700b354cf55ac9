//===- OnlineWorkload.cpp - Compressors that keep sums, not tokens --------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CompressWorkload.h"

#include "llvm/Support/FormatVariadic.h"

#include <random>

using namespace dsv4;
using namespace dsv4::bench;

// As examples/hca_online.mlir. {0}: name, {1}: policies.
static const char text[] = R"(
!cache = !dsv4.cache<64 x #dsv4.record<v4_584>>
!state = !dsv4.cache<16 x <[<"max" : 512 x f32 in row>, <"sum" : 512 x f32 in row>,
                            <"acc" : 512 x f32 in row>]>>

func.func @{0}(
    %values: tensor<?x512xf32> {{dsv4.name = "values", dsv4.dims = ["tokens", ""]},
    %scores: tensor<?x512xf32> {{dsv4.name = "scores", dsv4.dims = ["tokens", ""]},
    %bias: tensor<128x512xf32> {{dsv4.name = "bias"},
    %plan: tensor<?x5xi32> {{dsv4.name = "plan", dsv4.dims = ["segments", ""]},
    %weight: tensor<512xbf16> {{dsv4.name = "weight"},
    %angles: tensor<?x64xf32> {{dsv4.name = "angles", dsv4.dims = ["positions", ""]},
    %position: tensor<?xi32> {{dsv4.name = "position", dsv4.dims = ["segments"]},
    %slot: tensor<?xi32> {{dsv4.name = "slot", dsv4.dims = ["segments"]},
    %state: !state {{dsv4.name = "state"},
    %cache: !cache {{dsv4.name = "cache"}){1} {{
  %c0 = arith.constant 0 : index
  %entries = tensor.dim %plan, %c0 : tensor<?x5xi32>
  %row = tensor.empty(%entries) : tensor<?x512xbf16>
  %pooled = dsv4.compress %values, %scores window 128 algorithm online
      plan(%plan : tensor<?x5xi32>) bias(%bias : tensor<128x512xf32>) state(%state : !state)
      outs(%row : tensor<?x512xbf16>) : tensor<?x512xf32>, tensor<?x512xf32>
)";

static Compressor getCompressor(const char *name) {
  return {name,
          "v4_584",
          128,
          false,
          /*width=*/512,
          /*statePage=*/16,
          /*paged=*/false,
          /*keeps=*/false};
}

static std::string makeText(const Compressor &of, int64_t segment) {
  // Who compresses whole windows knows whether there are few of them.
  const char *policies =
      segment == of.window
          ? " attributes {dsv4.policies = {segments = #dsv4.policy<bucket>}}"
          : "";
  return llvm::formatv(text, of.name, policies).str() + getRecordText(of) +
         "  return\n}\n";
}

namespace {

/// One segment of a window of every request, all of them of as many tokens. The
/// state has two entries per request: what the segment goes on from, and what
/// it is left in, so that every launch of one slice writes the same bytes.
class Online : public Compress {
public:
  Online(Device &device, const char *name, int64_t segment, int64_t segments);
  unsigned slices(int64_t) const override { return requests / segments; }
  Arguments arguments(int64_t size, unsigned slice) override;
  Excerpt extract(int64_t size, unsigned slice,
                  const std::vector<int64_t> &rows) override;

private:
  static constexpr int64_t maxRequests = 16384;
  static int64_t countRequests(const Compressor &of, int64_t segment) {
    return std::min(maxRequests, inputBytes / (2 * of.rowBytes() * segment));
  }
  /// Where the i-th segment of a launch begins in its window. All places a
  /// segment can have occur about equally often, the last one in every launch.
  int64_t getPlace(int64_t i) const {
    const int64_t places = of.window / segment;
    return ((i + 1) * places - 1) / segments * segment;
  }
  bool ends(int64_t place) const { return place + segment == of.window; }
  std::vector<int64_t> getStateShape() const {
    return {2 * segments / of.statePage, of.statePage * entryBytes};
  }

  const int64_t segment,
      segments;             ///< Tokens of a segment, segments of a launch.
  const int64_t requests;   ///< Numbered launch by launch.
  const int64_t entryBytes; ///< Of the state.
  std::vector<int32_t> plan, position, slotInPage; ///< No segment's slot is -1.
  Memory devicePlan, devicePosition, deviceSlot, state;
};

} // namespace

Online::Online(Device &device, const char *name, int64_t segment,
               int64_t segments)
    : Compress(device, getCompressor(name),
               makeText(getCompressor(name), segment),
               countRequests(getCompressor(name), segment) * segment),
      segment(segment), segments(segments),
      requests(countRequests(of, segment)), entryBytes(3 * of.rowBytes()) {
  sizeDim = "segments";
  std::mt19937 random(2);
  std::vector<int32_t> slots;
  for (int64_t first = 0; first < requests; first += segments) {
    std::vector<int64_t> order;
    for (int64_t i = 0; i < segments; ++i)
      order.push_back(getPlace(i));
    std::shuffle(order.begin(), order.end(), random);
    for (int64_t i = 0; i < segments; ++i) {
      position.push_back(random() % (positions / of.window) * of.window);
      for (int64_t number :
           {position.back() + order[i], segment, i * segment, 2 * i, 2 * i + 1})
        plan.push_back(number);
      slotInPage.push_back(ends(order[i]) ? random() % pageSize : -1);
      slots.push_back(ends(order[i])
                          ? pageOrder[first + i] * pageSize + slotInPage.back()
                          : -1);
    }
  }
  devicePlan = upload(plan);
  devicePosition = upload(position);
  deviceSlot = upload(slots);
  state = device.allocate(requests * 2 * entryBytes);
  device.fillFloats(state);

  // Values and scores, a row of the plan, position and slot.
  bytesPerRow = segment * 2 * of.rowBytes() + 20 + 4 + 4;
  for (int64_t i = 0; i < segments; ++i) {
    const int64_t place = getPlace(i);
    bytesPerLaunch += place == 0 ? 0 : entryBytes;
    bytesPerLaunch += ends(place) ? of.recordBytes() : entryBytes;
  }
}

Arguments Online::arguments(int64_t size, unsigned slice) {
  const int64_t first = slice * size;
  Arguments arguments;
  addTokens(arguments, first * segment, size * segment);
  arguments.add(devicePlan.at(first * 20), {size, 5});
  addTables(arguments);
  arguments.add(devicePosition.at(first * 4), {size});
  arguments.add(deviceSlot.at(first * 4), {size});
  arguments.add(state.at(first * 2 * entryBytes), getStateShape());
  arguments.add(pool.at(), part.getShape(pages));
  return arguments;
}

/// The whole launch. Of the state all entries that a segment may leave: those
/// of segments that end their window must stay.
Excerpt Online::extract(int64_t size, unsigned slice,
                        const std::vector<int64_t> &) {
  const int64_t first = slice * size;
  std::vector<int32_t> slots, pagesOfPool;
  for (int64_t r = first; r < first + size; ++r) {
    slots.push_back(-1);
    if (slotInPage[r] < 0)
      continue;
    slots.back() = pagesOfPool.size() * pageSize + slotInPage[r];
    pagesOfPool.push_back(pageOrder[r]);
  }
  Excerpt excerpt;
  addTokens(excerpt, {first * segment}, size * segment);
  add(excerpt, cut(plan, first * 5, size * 5), {size, 5});
  addTables(excerpt);
  add(excerpt, cut(position, first, size), {size});
  add(excerpt, slots, {size});
  char *entries = state.at(first * 2 * entryBytes);
  for (int64_t i = 0; i < size; ++i) {
    const size_t at = (2 * i + 1) * entryBytes;
    excerpt.results.push_back({excerpt.data.size(), at, entries + at,
                               static_cast<size_t>(entryBytes)});
  }
  excerpt.add(download(entries, size * 2 * entryBytes), getStateShape());
  addPages(excerpt, pagesOfPool);
  return excerpt;
}

std::unique_ptr<Workload> bench::makeOnline(Device &device, const char *name,
                                            int64_t segment, int64_t segments) {
  return std::make_unique<Online>(device, name, segment, segments);
}
