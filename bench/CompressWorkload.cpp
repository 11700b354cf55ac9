//===- CompressWorkload.cpp - Compressors, from tokens to records ---------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CompressWorkload.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/FormatVariadic.h"

#include <map>
#include <numeric>
#include <random>
#include <set>

using namespace dsv4;
using namespace dsv4::bench;

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

static const Compressor compressors[] = {
    {"compress_csa", "v4_584", 4, true, 512, 8, true, false},
    {"compress_hca", "v4_584", 128, false, 512, 16, false, false},
    {"compress_index", "index_mxfp4_68", 4, true, 128, 8, true, false},
    {"compress_decode", "v4_584", 4, true, 512, 8, false, false},
    {"compress_decode_state", "v4_584", 4, true, 512, 8, false, true}};

// {0}: record, {1}: page of the state, {2}: columns of a token, {3}: channels,
// {4}: window, {5}: name, {6}: more arguments, {7}: policies.
static const char headText[] = R"(
!cache = !dsv4.cache<64 x #dsv4.record<{0}>>
!state = !dsv4.cache<{1} x <[<"values" : {2} x f32 in row>, <"scores" : {2} x f32 in row>]>>

func.func @{5}(
    %values: tensor<?x{2}xf32> {{dsv4.name = "values", dsv4.dims = ["tokens", ""]},
    %scores: tensor<?x{2}xf32> {{dsv4.name = "scores", dsv4.dims = ["tokens", ""]},
    %bias: tensor<{4}x{2}xf32> {{dsv4.name = "bias"},
    %plan: tensor<?x4xi32> {{dsv4.name = "plan", dsv4.dims = ["entries", ""]},
    %weight: tensor<{3}xbf16> {{dsv4.name = "weight"},
    %angles: tensor<?x64xf32> {{dsv4.name = "angles", dsv4.dims = ["positions", ""]},
    %position: tensor<?xi32> {{dsv4.name = "position", dsv4.dims = ["entries"]},
    %slot: tensor<?xi32> {{dsv4.name = "slot", dsv4.dims = ["entries"]},{6}
    %state: !state {{dsv4.name = "state"},
    %cache: !cache {{dsv4.name = "cache"}){7} {{
)";

static const char tableArgument[] = R"(
    %state_table: tensor<?x?xi32> {dsv4.name = "state_table", dsv4.dims = ["requests", "max_pages"]},)";

static const char keepArguments[] = R"(
    %token_position: tensor<?xi32> {dsv4.name = "token_position", dsv4.dims = ["tokens"]},
    %token_request: tensor<?xi32> {dsv4.name = "token_request", dsv4.dims = ["tokens"]},
    %length: tensor<?xi32> {dsv4.name = "length", dsv4.dims = ["requests"]},)";

// {0}: columns, {1}: channels, {2}: window, {3}: "overlap", {4}: where in the
// state a token is.
static const char poolText[] = R"(
  %c0 = arith.constant 0 : index
  %entries = tensor.dim %plan, %c0 : tensor<?x4xi32>
  %row = tensor.empty(%entries) : tensor<?x{1}xbf16>
  %pooled = dsv4.compress %values, %scores window {2} {3} plan(%plan : tensor<?x4xi32>)
      bias(%bias : tensor<{2}x{0}xf32>) state(%state : !state) {4}
      outs(%row : tensor<?x{1}xbf16>) : tensor<?x{0}xf32>, tensor<?x{0}xf32>
)";

// {0}: channels.
static const char turnText[] = R"(
  %normed = dsv4.rms_norm %pooled weight(%weight : tensor<{0}xbf16>)
      outs(%row : tensor<?x{0}xbf16>) {{eps = 1.0e-06 : f32} : tensor<?x{0}xbf16>
  %rotated = dsv4.rope %normed table(%angles : tensor<?x64xf32>)
      positions(%position : tensor<?xi32>) outs(%row : tensor<?x{0}xbf16>) : tensor<?x{0}xbf16>
)";

static const char v4Text[] = R"(
  %payload_of_row = tensor.empty(%entries) : tensor<?x448xf8E4M3FN>
  %scales_of_row = tensor.empty(%entries) : tensor<?x7xf8E8M0FNU>
  %payload, %scales = dsv4.quantize %rotated columns [0, 448]
      outs(%payload_of_row, %scales_of_row : tensor<?x448xf8E4M3FN>, tensor<?x7xf8E8M0FNU>)
      {format = #dsv4.format<f8E4M3FN, [<f8E8M0FNU per 64>]>,
       recipe = #dsv4.quantizer<floor = 1.0e-04 : f32, limit = reciprocal, rounding = up_pow2>}
      : tensor<?x512xbf16>
  dsv4.paged_append %cache[%slot] unique
      fields(%payload, %rotated, %scales
             : tensor<?x448xf8E4M3FN>, tensor<?x512xbf16>, tensor<?x7xf8E8M0FNU>)
      columns [0, 448, 0] : !cache, tensor<?xi32>
)";

// By the official fp4_act_quant.
static const char indexText[] = R"(
  %payload_of_row = tensor.empty(%entries) : tensor<?x128xf4E2M1FN>
  %scales_of_row = tensor.empty(%entries) : tensor<?x4xf8E8M0FNU>
  %transformed = dsv4.hadamard %rotated outs(%row : tensor<?x128xbf16>)
      {scale = 0.0883883461 : f32} : tensor<?x128xbf16>
  %payload, %scales = dsv4.quantize %transformed
      outs(%payload_of_row, %scales_of_row : tensor<?x128xf4E2M1FN>, tensor<?x4xf8E8M0FNU>)
      {format = #dsv4.format<f4E2M1FN, [<f8E8M0FNU per 32>]>,
       recipe = #dsv4.quantizer<floor = 7.0529661e-38 : f32, limit = reciprocal, rounding = up_pow2>}
      : tensor<?x128xbf16>
  dsv4.paged_append %cache[%slot] unique
      fields(%payload, %scales : tensor<?x128xf4E2M1FN>, tensor<?x4xf8E8M0FNU>)
      : !cache, tensor<?xi32>
)";

static const char keepText[] = R"(
  dsv4.paged_append %state[%token_position] ring 8
      requests(%token_request : tensor<?xi32>) lengths(%length : tensor<?xi32>)
      fields(%values, %scores : tensor<?x1024xf32>, tensor<?x1024xf32>) : !state, tensor<?xi32>
)";

// Of few entries every one has a block of threads, or several.
static const char fewEntries[] =
    " attributes {dsv4.policies = {entries = #dsv4.policy<bucket>}}";

std::string bench::getRecordText(const Compressor &of) {
  return llvm::formatv(turnText, of.width).str() +
         (of.isIndex() ? indexText : v4Text);
}

static std::string makeText(const Compressor &of) {
  const char *more = of.paged ? tableArgument : of.keeps ? keepArguments : "";
  std::string place = of.paged ? "pages(%state_table : tensor<?x?xi32>)"
                               : "ring " + std::to_string(of.tokens());
  std::string text = llvm::formatv(
      headText, of.layout, of.statePage, of.columns(), of.width, of.window,
      of.name, more, of.paged && of.window <= 8 ? "" : fewEntries);
  text += llvm::formatv(poolText, of.columns(), of.width, of.window,
                        of.overlap ? "overlap" : "", place)
              .str();
  text += getRecordText(of);
  if (of.keeps)
    text += keepText;
  return text + "  return\n}\n";
}

//===----------------------------------------------------------------------===//
// What all compressors share
//===----------------------------------------------------------------------===//

Compress::Compress(Device &device, const Compressor &of, std::string source,
                   int64_t tokens)
    : Workload(device, of.name, of.layout, std::move(source)), of(of),
      part(getCacheParts().front()) {
  pages = (minPoolBytes + part.pageBytes - 1) / part.pageBytes;
  poolBytes = pages * part.pageBytes;
  pool = device.allocate(poolBytes);
  device.fillRandom(pool);
  pageOrder.resize(pages);
  std::iota(pageOrder.begin(), pageOrder.end(), 0);
  std::mt19937 random(1);
  std::shuffle(pageOrder.begin(), pageOrder.end(), random);

  values = device.allocate(tokens * of.rowBytes());
  scores = device.allocate(tokens * of.rowBytes());
  bias = device.allocate(of.window * of.rowBytes());
  for (Memory *floats : {&values, &scores, &bias})
    device.fillFloats(*floats);
  weight = device.allocate(of.width * 2);
  device.fillValues(weight);
  hostAngles = makeAngles(positions);
  angles = device.allocate(hostAngles.size() * 4);
  device.upload(angles, hostAngles.data());
}

void Compress::addTokens(Arguments &arguments, int64_t first,
                         int64_t count) const {
  for (const Memory *memory : {&values, &scores})
    arguments.add(memory->at(first * of.rowBytes()), {count, of.columns()});
  arguments.add(bias.at(), {of.window, of.columns()});
}

void Compress::addTokens(Excerpt &excerpt, const std::vector<int64_t> &firsts,
                         int64_t count) {
  for (const Memory *memory : {&values, &scores}) {
    std::vector<char> rows;
    for (int64_t first : firsts)
      llvm::append_range(rows, download(memory->at(first * of.rowBytes()),
                                        count * of.rowBytes()));
    const int64_t tokens = firsts.size() * count;
    excerpt.add(std::move(rows), {tokens, of.columns()});
  }
  excerpt.add(download(bias.at(), bias.size()), {of.window, of.columns()});
}

void Compress::addTables(Arguments &arguments) const {
  arguments.add(weight.at(), {of.width});
  arguments.add(angles.at(), {positions, 64});
}

void Compress::addTables(Excerpt &excerpt) {
  excerpt.add(download(weight.at(), weight.size()), {of.width});
  excerpt.add(hostAngles.data(), hostAngles.size() * 4, {positions, 64});
}

void Compress::addPages(Excerpt &excerpt,
                        const std::vector<int32_t> &pagesOfPool) {
  const size_t bytes = part.pageBytes;
  for (auto [i, page] : llvm::enumerate(pagesOfPool))
    excerpt.results.push_back(
        {excerpt.data.size(), i * bytes, pool.at(page * bytes), bytes});
  excerpt.add(std::vector<char>(pagesOfPool.size() * bytes),
              part.getShape(pagesOfPool.size()));
}

//===----------------------------------------------------------------------===//
// Whole windows
//===----------------------------------------------------------------------===//

namespace {

/// The programs above, the state of which has tokens.
class Windowed : public Compress {
protected:
  Windowed(Device &device, const Compressor &of, int64_t tokens)
      : Compress(device, of, makeText(of), tokens) {
    if (!of.paged || of.window > 8)
      sizeDim = "entries";
    // Values and scores, the record, a row of the plan, position and slot.
    bytesPerRow =
        of.tokens() * of.width * 2 * 4 + of.recordBytes() + 16 + 4 + 4;
  }
  CachePart getStatePart() const {
    return {{of.statePageBytes()}, of.statePageBytes()};
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// Prefill
//===----------------------------------------------------------------------===//

namespace {

/// Every launch has one request of its own, from position 0 on, whose entries
/// fill pages of their own.
class Prefill : public Windowed {
public:
  Prefill(Device &device, const Compressor &of);
  unsigned slices(int64_t size) const override { return entries / size; }
  Arguments arguments(int64_t size, unsigned slice) override;
  Excerpt extract(int64_t size, unsigned slice,
                  const std::vector<int64_t> &rows) override;

private:
  static constexpr int64_t statePages = 8, checkedPages = 4;
  static int64_t countEntries(const Compressor &of) {
    return inputBytes / (2 * of.rowBytes() * of.window);
  }
  /// Of every launch of one size, one after the other.
  struct Numbers {
    Memory plan, position;
  };
  Numbers &getNumbers(int64_t size);

  int64_t entries;
  Memory slot, stateTable, state;
  std::map<int64_t, Numbers> numbers; ///< By size.
};

} // namespace

Prefill::Prefill(Device &device, const Compressor &of)
    // One window more, as excerpts are taken.
    : Windowed(device, of, (countEntries(of) + 1) * of.window),
      entries(countEntries(of)) {
  // Of the last window nobody reads the columns for the next one.
  if (of.overlap)
    bytesPerLaunch = -of.window * of.width * 2 * 4;
  std::vector<int32_t> slots(entries);
  for (int64_t i = 0; i < entries; ++i)
    slots[i] = pageOrder[i / pageSize] * pageSize + i % pageSize;
  slot = upload(slots);
  // Nothing of it is read.
  state = device.allocate(statePages * of.statePageBytes());
  device.fillFloats(state);
  stateTable = upload({0, 0, 0, 0});
}

Prefill::Numbers &Prefill::getNumbers(int64_t size) {
  auto [found, isNew] = numbers.try_emplace(size);
  if (!isNew)
    return found->second;
  std::vector<int32_t> plan, position;
  for (int64_t i = 0; i < entries; ++i) {
    int32_t first = i % size * of.window;
    position.push_back(first);
    plan.insert(plan.end(), {first, 0, 0, 0});
  }
  found->second = {upload(plan), upload(position)};
  return found->second;
}

Arguments Prefill::arguments(int64_t size, unsigned slice) {
  const int64_t first = slice * size;
  const Numbers &ofSize = getNumbers(size);
  Arguments arguments;
  addTokens(arguments, first * of.window, size * of.window);
  arguments.add(ofSize.plan.at(first * 16), {size, 4});
  addTables(arguments);
  arguments.add(ofSize.position.at(first * 4), {size});
  arguments.add(slot.at(first * 4), {size});
  if (of.paged)
    arguments.add(stateTable.at(), {1, 1});
  arguments.add(state.at(), getStatePart().getShape(statePages));
  arguments.add(pool.at(), part.getShape(pages));
  return arguments;
}

/// The entries of a few pages, each with a request of its own whose first
/// tokens are those that they need.
Excerpt Prefill::extract(int64_t size, unsigned slice,
                         const std::vector<int64_t> &rows) {
  std::set<int64_t> chosen; // Pages of this launch.
  for (int64_t row : rows)
    if (chosen.size() < checkedPages)
      chosen.insert(row / pageSize);
  // As many for every page; the first one has some more than it needs.
  const int64_t before = of.overlap ? of.window : 0;
  const int64_t count = pageSize * of.window + before;
  std::vector<int64_t> firsts;
  std::vector<int32_t> plan, position, slots, pagesOfPool;
  for (int64_t page : chosen) {
    // The end of the last page is that of the launch.
    const int64_t begin =
        std::max<int64_t>(page * pageSize * of.window - before, 0);
    const int32_t token = firsts.size() * count;
    for (int64_t i = 0; i < pageSize; ++i) {
      const int32_t at = (page * pageSize + i) * of.window;
      position.push_back(at);
      plan.insert(plan.end(), {at, 0, int32_t(begin), token});
      slots.push_back(pagesOfPool.size() * pageSize + i);
    }
    firsts.push_back(slice * size * of.window + begin);
    pagesOfPool.push_back(pageOrder[slice * size / pageSize + page]);
  }
  const int64_t checked = position.size();
  Excerpt excerpt;
  addTokens(excerpt, firsts, count);
  add(excerpt, plan, {checked, 4});
  addTables(excerpt);
  add(excerpt, position, {checked});
  add(excerpt, slots, {checked});
  if (of.paged)
    add(excerpt, {0}, {1, 1});
  excerpt.add(download(state.at(), state.size()),
              getStatePart().getShape(statePages));
  addPages(excerpt, pagesOfPool);
  return excerpt;
}

//===----------------------------------------------------------------------===//
// Decode
//===----------------------------------------------------------------------===//

namespace {

/// A token of every request, each the last one of its window, with a ring of
/// tokens in the state and a page of the pool of its own.
class Decode : public Windowed {
public:
  Decode(Device &device, const Compressor &of);
  unsigned slices(int64_t size) const override { return requests / size; }
  Arguments arguments(int64_t size, unsigned slice) override;
  Excerpt extract(int64_t size, unsigned slice,
                  const std::vector<int64_t> &rows) override;

private:
  static constexpr int64_t requests = 16384;
  /// For launches of the size `size`: requests are numbered by launch.
  struct Numbers {
    std::vector<int32_t> plan, request;
    Memory deviceRequest, devicePlan;
  };
  Numbers &getNumbers(int64_t size);

  std::vector<int32_t> tokenPosition, position, slotInPage, length;
  Memory devicePosition, deviceTokenPosition, deviceSlot, deviceLength, state;
  std::map<int64_t, Numbers> numbers; ///< By size.
};

} // namespace

Decode::Decode(Device &device, const Compressor &of)
    : Windowed(device, of, requests) {
  // What the chain has not read of a token, what of it is written, and three
  // numbers.
  if (of.keeps)
    bytesPerRow += of.rowBytes() + 2 * of.rowBytes() + 12;
  std::mt19937 random(2);
  std::vector<int32_t> slots;
  for (int64_t r = 0; r < requests; ++r) {
    // From the second window on, so that there is one before.
    const int32_t window = 1 + random() % (positions / of.window - 1);
    position.push_back(window * of.window);
    tokenPosition.push_back(position.back() + of.window - 1);
    length.push_back(tokenPosition.back() + 1);
    slotInPage.push_back(random() % pageSize);
    slots.push_back(pageOrder[r] * pageSize + slotInPage.back());
  }
  devicePosition = upload(position);
  deviceTokenPosition = upload(tokenPosition);
  deviceLength = upload(length);
  deviceSlot = upload(slots);
  state = device.allocate(requests * of.statePageBytes());
  device.fillFloats(state);
}

Decode::Numbers &Decode::getNumbers(int64_t size) {
  auto [found, isNew] = numbers.try_emplace(size);
  Numbers &ofSize = found->second;
  if (!isNew)
    return ofSize;
  for (int64_t r = 0; r < requests; ++r) {
    const int32_t number = r % size;
    ofSize.request.push_back(number);
    ofSize.plan.insert(ofSize.plan.end(),
                       {position[r], number, tokenPosition[r], number});
  }
  ofSize.devicePlan = upload(ofSize.plan);
  ofSize.deviceRequest = upload(ofSize.request);
  return ofSize;
}

Arguments Decode::arguments(int64_t size, unsigned slice) {
  const int64_t first = slice * size;
  const Numbers &ofSize = getNumbers(size);
  Arguments arguments;
  addTokens(arguments, first, size);
  arguments.add(ofSize.devicePlan.at(first * 16), {size, 4});
  addTables(arguments);
  arguments.add(devicePosition.at(first * 4), {size});
  arguments.add(deviceSlot.at(first * 4), {size});
  if (of.keeps) {
    arguments.add(deviceTokenPosition.at(first * 4), {size});
    arguments.add(ofSize.deviceRequest.at(first * 4), {size});
    arguments.add(deviceLength.at(first * 4), {size});
  }
  arguments.add(state.at(first * of.statePageBytes()),
                getStatePart().getShape(size));
  arguments.add(pool.at(), part.getShape(pages));
  return arguments;
}

/// The whole launch: it is small. Of the state, the entries that are written,
/// which nobody reads.
Excerpt Decode::extract(int64_t size, unsigned slice,
                        const std::vector<int64_t> &) {
  const int64_t first = slice * size, stateBytes = of.statePageBytes();
  const Numbers &ofSize = getNumbers(size);
  std::vector<int32_t> slots;
  for (int64_t i = 0; i < size; ++i)
    slots.push_back(i * pageSize + slotInPage[first + i]);
  Excerpt excerpt;
  addTokens(excerpt, {first}, size);
  add(excerpt, cut(ofSize.plan, first * 4, size * 4), {size, 4});
  addTables(excerpt);
  add(excerpt, cut(position, first, size), {size});
  add(excerpt, slots, {size});
  if (of.keeps) {
    add(excerpt, cut(tokenPosition, first, size), {size});
    add(excerpt, cut(ofSize.request, first, size), {size});
    add(excerpt, cut(length, first, size), {size});
    const size_t bytes = 2 * of.rowBytes();
    for (int64_t i = 0; i < size; ++i) {
      const size_t at =
          i * stateBytes + tokenPosition[first + i] % of.statePage * bytes;
      excerpt.results.push_back(
          {excerpt.data.size(), at, state.at(first * stateBytes + at), bytes});
    }
  }
  excerpt.add(download(state.at(first * stateBytes), size * stateBytes),
              getStatePart().getShape(size));
  addPages(excerpt, cut(pageOrder, first, size));
  return excerpt;
}

std::unique_ptr<Workload> bench::makeCompress(Device &device,
                                              const std::string &name) {
  for (const Compressor &of : compressors)
    if (name == of.name) {
      if (name.rfind("compress_decode", 0) == 0)
        return std::make_unique<Decode>(device, of);
      return std::make_unique<Prefill>(device, of);
    }
  llvm_unreachable("there is no such compressor");
}
