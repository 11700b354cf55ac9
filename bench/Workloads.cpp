//===- Workloads.cpp - The programs that are measured, and their data -----===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Workloads.h"

#include "dsv4/InitAll.h"
#include "dsv4/Reference/Interpreter.h"

#include "mlir/Parser/Parser.h"
#include "llvm/Support/FormatVariadic.h"

#include <cstring>
#include <numeric>
#include <random>

using namespace mlir;
using namespace dsv4;
using namespace dsv4::bench;

//===----------------------------------------------------------------------===//
// Workload
//===----------------------------------------------------------------------===//

Workload::Workload(Device &device, std::string name, std::string layout,
                   std::string source)
    : name(std::move(name)), layout(std::move(layout)),
      source(std::move(source)), device(device) {
  DialectRegistry registry;
  registerAllDialects(registry);
  context =
      std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  module =
      parseSourceString<ModuleOp>(this->source, ParserConfig(context.get()));
  if (!module)
    check(rt::Status(rt::Code::InvalidArgument, "a program does not parse"));
}

Workload::~Workload() = default;

rt::Result<const rt::LoadedProgram *>
Workload::compile(const std::string &schedule) {
  CompileOptions with = options;
  with.schedule = schedule;
  return device.session.compile(source, name + ".mlir", with);
}

std::vector<char> Workload::download(const char *from, size_t bytes) {
  std::vector<char> data(bytes);
  device.download(data.data(), from, bytes);
  return data;
}

std::string Workload::verify(const rt::LoadedProgram &program, int64_t size,
                             unsigned slice, unsigned count) {
  const std::vector<rt::Binding> &bindings = program.info().bindings;
  size_t out = 0;
  while (!bindings[out].written)
    ++out;
  Arguments launch = arguments(size, slice);
  char *result = static_cast<char *>(launch.values[out].data);
  const int64_t rowBytes = 2 * launch.shapes[out].back();
  check(device.driver.fill(result, 0xAB, size * rowsPerSize * rowBytes,
                           device.stream));
  check(launch.launch(program, device.stream));
  device.finish();

  std::mt19937_64 random(size + slice);
  std::vector<int64_t> rows;
  std::vector<char> got;
  for (unsigned i = 0; i < count; ++i) {
    rows.push_back(random() % (size * rowsPerSize));
    std::vector<char> row = download(result + rows[i] * rowBytes, rowBytes);
    got.insert(got.end(), row.begin(), row.end());
  }
  std::vector<std::vector<int64_t>> shapes;
  std::vector<std::vector<char>> data = extract(size, slice, rows, shapes);
  std::vector<reference::Buffer> buffers;
  for (size_t i = 0; i < data.size(); ++i)
    buffers.push_back({shapes[i], data[i].data()});
  check(reference::interpret(*module->getOps<func::FuncOp>().begin(), buffers));
  for (size_t at = 0; at < got.size(); ++at)
    if (got[at] != data[out][at])
      return llvm::formatv("row {0}, byte {1}: got {2:x-2}, expected {3:x-2}",
                           rows[at / rowBytes], at % rowBytes,
                           static_cast<uint8_t>(got[at]),
                           static_cast<uint8_t>(data[out][at]));
  return "";
}

//===----------------------------------------------------------------------===//
// Gather
//===----------------------------------------------------------------------===//

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
  std::vector<std::vector<char>>
  extract(int64_t size, unsigned slice, const std::vector<int64_t> &rows,
          std::vector<std::vector<int64_t>> &shapes) override;

private:
  static constexpr int64_t tokens = 1024, pageSize = 64;
  static constexpr unsigned poolCount = 4;
  /// Numbers in the 16 bytes that an argument is aligned to.
  static constexpr int64_t alone = 4;
  static constexpr int64_t leastPoolBytes = 4400ll << 20;
  struct Pool {
    std::vector<Memory> parts; ///< One a binding of the cache.
    Memory indices, table, requests, kv;
    std::vector<int32_t> hostIndices, hostTable;
  };
  void makePool(Pool &pool, unsigned seed);

  int64_t topk, pages, maxPages;
  std::vector<std::vector<int64_t>> partShapes; ///< For all pages.
  std::vector<int64_t> pageBytes;               ///< Of every part.
  Pool pools[poolCount];
};
} // namespace

Gather::Gather(Device &device, const std::string &layout, int64_t recordBytes,
               int64_t topk)
    : Workload(device, "gather", layout, llvm::formatv(gatherText, layout)),
      topk(topk) {
  options.dims["topk"] = topk;
  rowsPerSize = topk;
  bytesPerRow = recordBytes + 4 + 1024;
  const rt::ProgramInfo &info = take(compile(""))->info();
  int64_t allBytes = 0;
  for (const rt::Binding &binding : info.bindings) {
    if (binding.name.rfind("cache", 0) != 0)
      continue;
    std::vector<int64_t> shape = {0};
    for (size_t axis = 1; axis < binding.shape.size(); ++axis)
      shape.push_back(binding.shape[axis].constant);
    pageBytes.push_back(std::accumulate(shape.begin() + 1, shape.end(),
                                        int64_t(1), std::multiplies<>()));
    allBytes += pageBytes.back();
    partShapes.push_back(shape);
  }
  maxPages = (leastPoolBytes + allBytes * tokens - 1) / (allBytes * tokens);
  pages = maxPages * tokens;
  poolBytes = pages * allBytes;
  for (std::vector<int64_t> &shape : partShapes)
    shape[0] = pages;
  for (unsigned i = 0; i < poolCount; ++i)
    makePool(pools[i], i);
}

void Gather::makePool(Pool &pool, unsigned seed) {
  std::mt19937 random(seed);
  for (int64_t bytes : pageBytes) {
    pool.parts.push_back(device.allocate(pages * bytes));
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
  for (auto [part, shape] : llvm::zip(pool.parts, partShapes))
    arguments.add(part.at(), shape);
  arguments.add(pool.indices.at(first * topk * 4), {size, topk});
  arguments.add(pool.table.at(), {tokens, maxPages});
  bool aligned = size % alone == 0;
  arguments.add(
      pool.requests.at(4 * (aligned ? first : tokens + first * alone)), {size});
  arguments.add(pool.kv.at(first * topk * 1024), {size, topk, 512});
  return arguments;
}

/// A pool of one page a row, in the order of the rows.
std::vector<std::vector<char>>
Gather::extract(int64_t size, unsigned slice, const std::vector<int64_t> &rows,
                std::vector<std::vector<int64_t>> &shapes) {
  Pool &pool = pools[slice % poolCount];
  int64_t count = rows.size(), first = slice / poolCount * size * topk;
  std::vector<std::vector<char>> data(pool.parts.size());
  std::vector<int32_t> indices, table(count);
  std::iota(table.begin(), table.end(), 0);
  for (auto [i, row] : llvm::enumerate(rows)) {
    int32_t index = pool.hostIndices[first + row];
    int64_t token = (first + row) / topk;
    int64_t page = pool.hostTable[token * maxPages + index / pageSize];
    indices.push_back(i * pageSize + index % pageSize);
    for (size_t part = 0; part < data.size(); ++part) {
      std::vector<char> bytes = download(
          pool.parts[part].at(page * pageBytes[part]), pageBytes[part]);
      data[part].insert(data[part].end(), bytes.begin(), bytes.end());
    }
  }
  shapes = partShapes;
  for (std::vector<int64_t> &shape : shapes)
    shape[0] = count;
  auto add = [&](const void *from, size_t bytes, std::vector<int64_t> shape) {
    data.emplace_back(bytes);
    if (from)
      std::memcpy(data.back().data(), from, bytes);
    shapes.push_back(std::move(shape));
  };
  int32_t request = 0;
  add(indices.data(), count * 4, {1, count});
  add(table.data(), count * 4, {1, count});
  add(&request, 4, {1});
  add(nullptr, count * 1024, {1, count, 512});
  return data;
}

std::unique_ptr<Workload> bench::makeGather(Device &device,
                                            const std::string &layout,
                                            int64_t recordBytes, int64_t topk) {
  return std::make_unique<Gather>(device, layout, recordBytes, topk);
}

//===----------------------------------------------------------------------===//
// Dequantize
//===----------------------------------------------------------------------===//

static const char dequantizeText[] = R"(
#nvfp4 = #dsv4.format<f4E2M1FN, [<f8E4M3FN per 16>, <f32 per row>]>

func.func @dequantize(
    %data: tensor<?x512xf4E2M1FN> {dsv4.name = "data", dsv4.dims = ["rows", ""]},
    %scales: tensor<?x32xf8E4M3FN> {dsv4.name = "scales", dsv4.dims = ["rows", ""]},
    %global: tensor<?xf32> {dsv4.name = "global", dsv4.dims = ["rows"]},
    %out: tensor<?x512xbf16> {dsv4.name = "out", dsv4.dims = ["rows", ""]})
    -> tensor<?x512xbf16> {
  %values = dsv4.dequantize %data
      scales(%scales, %global : tensor<?x32xf8E4M3FN>, tensor<?xf32>)
      outs(%out : tensor<?x512xbf16>) {format = #nvfp4} : tensor<?x512xf4E2M1FN>
  return %values : tensor<?x512xbf16>
}
)";

namespace {
class Dequantize : public Workload {
public:
  explicit Dequantize(Device &device)
      : Workload(device, "dequantize", "nvfp4", dequantizeText) {
    for (const Part &part : parts)
      bytesPerRow += part.rowBytes;
    poolBytes = bytesPerRow * maxRows;
    for (std::vector<Memory> &set : sets)
      for (const Part &part : parts) {
        set.push_back(device.allocate(maxRows * part.rowBytes));
        device.fillRandom(set.back());
      }
  }
  unsigned slices(int64_t size) const override {
    return maxRows / size * setCount;
  }
  Arguments arguments(int64_t size, unsigned slice) override {
    Arguments arguments;
    int64_t first = slice / setCount * size;
    for (auto [part, memory] : llvm::zip(parts, sets[slice % setCount]))
      arguments.add(memory.at(first * part.rowBytes), part.shape(size));
    return arguments;
  }
  std::vector<std::vector<char>>
  extract(int64_t size, unsigned slice, const std::vector<int64_t> &rows,
          std::vector<std::vector<int64_t>> &shapes) override {
    std::vector<std::vector<char>> data;
    int64_t first = slice / setCount * size;
    for (auto [part, memory] : llvm::zip(parts, sets[slice % setCount])) {
      data.emplace_back();
      for (int64_t row : rows) {
        std::vector<char> bytes =
            download(memory.at((first + row) * part.rowBytes), part.rowBytes);
        data.back().insert(data.back().end(), bytes.begin(), bytes.end());
      }
      shapes.push_back(part.shape(rows.size()));
    }
    return data;
  }

private:
  static constexpr int64_t maxRows = 524288;
  static constexpr unsigned setCount = 4;
  struct Part {
    int64_t rowBytes, columns;
    std::vector<int64_t> shape(int64_t rows) const {
      if (columns)
        return {rows, columns};
      return {rows};
    }
  };
  const Part parts[4] = {{256, 256}, {32, 32}, {4, 0}, {1024, 512}};
  std::vector<Memory> sets[setCount];
};
} // namespace

std::unique_ptr<Workload> bench::makeDequantize(Device &device) {
  return std::make_unique<Dequantize>(device);
}
