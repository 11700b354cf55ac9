//===- DenseWorkload.cpp - Tensors to tensors, row by row -----------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Workloads.h"

#include "llvm/Support/FormatVariadic.h"

using namespace dsv4;
using namespace dsv4::bench;

namespace {

/// A binding with a row for every row of the launch or, with kind `Shared`, one
/// row of values that all rows read.
struct RowTensor {
  enum class Kind { RandomBytes, Values, Result, Shared };
  int64_t rowBytes, columns; ///< 0 columns: of rank 1.
  Kind kind = Kind::RandomBytes;

  bool isShared() const { return kind == Kind::Shared; }
  bool hasValues() const { return kind == Kind::Values || isShared(); }
  std::vector<int64_t> shape(int64_t rows) const {
    if (isShared())
      return {columns};
    if (columns)
      return {rows, columns};
    return {rows};
  }
};

/// Four sets of `maxRows` rows; a launch takes successive rows of one.
class Dense : public Workload {
public:
  Dense(Device &device, std::string name, std::string layout,
        std::string source, int64_t maxRows, std::vector<RowTensor> tensors)
      : Workload(device, std::move(name), std::move(layout), std::move(source)),
        maxRows(maxRows), tensors(std::move(tensors)) {
    for (const RowTensor &tensor : this->tensors)
      if (!tensor.isShared())
        bytesPerRow += tensor.rowBytes;
    poolBytes = bytesPerRow * maxRows;
    for (std::vector<Memory> &set : sets)
      for (const RowTensor &tensor : this->tensors) {
        int64_t rows = tensor.isShared() ? 1 : maxRows;
        set.push_back(device.allocate(rows * tensor.rowBytes));
        if (tensor.hasValues())
          device.fillValues(set.back());
        else
          device.fillRandom(set.back());
      }
  }
  unsigned slices(int64_t size) const override {
    return maxRows / size * setCount;
  }
  Arguments arguments(int64_t size, unsigned slice) override {
    Arguments arguments;
    int64_t first = slice / setCount * size;
    for (auto [tensor, memory] : llvm::zip(tensors, sets[slice % setCount]))
      arguments.add(memory.at(tensor.isShared() ? 0 : first * tensor.rowBytes),
                    tensor.shape(size));
    return arguments;
  }
  Excerpt extract(int64_t size, unsigned slice,
                  const std::vector<int64_t> &rows) override {
    Excerpt excerpt;
    int64_t first = slice / setCount * size, count = rows.size();
    for (auto [i, tensor] : llvm::enumerate(tensors)) {
      const Memory &memory = sets[slice % setCount][i];
      if (tensor.isShared()) {
        excerpt.add(download(memory.at(), tensor.rowBytes), tensor.shape(1));
        continue;
      }
      std::vector<char> data;
      for (int64_t row : rows) {
        char *at = memory.at((first + row) * tensor.rowBytes);
        size_t bytes = tensor.rowBytes;
        if (tensor.kind == RowTensor::Kind::Result)
          excerpt.results.push_back({i, data.size(), at, bytes});
        llvm::append_range(data, download(at, bytes));
      }
      excerpt.add(std::move(data), tensor.shape(count));
    }
    return excerpt;
  }

private:
  static constexpr unsigned setCount = 4;
  int64_t maxRows;
  const std::vector<RowTensor> tensors;
  std::vector<Memory> sets[setCount];
};

constexpr RowTensor::Kind values = RowTensor::Kind::Values,
                          result = RowTensor::Kind::Result,
                          shared = RowTensor::Kind::Shared;

} // namespace

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

std::unique_ptr<Workload> bench::makeDequantize(Device &device) {
  std::vector<RowTensor> tensors = {
      {256, 256}, {32, 32}, {4, 0}, {1024, 512, result}};
  return std::make_unique<Dense>(device, "dequantize", "nvfp4", dequantizeText,
                                 524288, std::move(tensors));
}

//===----------------------------------------------------------------------===//
// Quantize
//===----------------------------------------------------------------------===//

static const char quantizeText[] = R"(
func.func @quantize(
    %x: tensor<?x512xbf16> {{dsv4.name = "x", dsv4.dims = ["rows", ""]},
    %data: tensor<?x512x{0}> {{dsv4.name = "data", dsv4.dims = ["rows", ""]},
    %scales: tensor<?x{1}x{2}> {{dsv4.name = "scales", dsv4.dims = ["rows", ""]})
    -> (tensor<?x512x{0}>, tensor<?x{1}x{2}>) {{
  %payload, %found = dsv4.quantize %x
      outs(%data, %scales : tensor<?x512x{0}>, tensor<?x{1}x{2}>)
      {{format = #dsv4.format<{0}, [<{2} per {3}>]>, recipe = #dsv4.quantizer<{4}>}
      : tensor<?x512xbf16>
  return %payload, %found : tensor<?x512x{0}>, tensor<?x{1}x{2}>
}
)";

std::unique_ptr<Workload> bench::makeQuantize(Device &device,
                                              const std::string &layout) {
  bool isFP4 = layout == "nvfp4";
  int64_t dataBytes = isFP4 ? 256 : 512, group = isFP4 ? 16 : 64;
  int64_t groups = 512 / group;
  std::string text = llvm::formatv(
      quantizeText, isFP4 ? "f4E2M1FN" : "f8E4M3FN", groups,
      isFP4 ? "f8E4M3FN" : "f8E8M0FNU", group,
      isFP4 ? "limit = reciprocal"
            : "floor = 1.0e-04 : f32, limit = reciprocal, rounding = up_pow2");
  std::vector<RowTensor> tensors = {{1024, 512, values},
                                    {dataBytes, dataBytes, result},
                                    {groups, groups, result}};
  return std::make_unique<Dense>(device, "quantize", layout, std::move(text),
                                 114688, std::move(tensors));
}

//===----------------------------------------------------------------------===//
// Long rows
//===----------------------------------------------------------------------===//

static const char normText[] = R"(
func.func @rms_norm(
    %x: tensor<?x{0}xbf16> {{dsv4.name = "x", dsv4.dims = ["rows", ""]},
    %weight: tensor<{0}xbf16> {{dsv4.name = "weight"},
    %out: tensor<?x{0}xbf16> {{dsv4.name = "out", dsv4.dims = ["rows", ""]})
    -> tensor<?x{0}xbf16> {{
  %normed = dsv4.rms_norm %x weight(%weight : tensor<{0}xbf16>)
      outs(%out : tensor<?x{0}xbf16>) {{eps = 1.0e-06 : f32} : tensor<?x{0}xbf16>
  return %normed : tensor<?x{0}xbf16>
}
)";

std::unique_ptr<Workload> bench::makeNorm(Device &device, int64_t columns) {
  const int64_t rowBytes = columns * 2;
  std::vector<RowTensor> tensors = {{rowBytes, columns, values},
                                    {rowBytes, columns, shared},
                                    {rowBytes, columns, result}};
  return std::make_unique<Dense>(
      device, "rms_norm", llvm::formatv("bf16_{0}", columns),
      llvm::formatv(normText, columns), 16384, std::move(tensors));
}

static const char longQuantizeText[] = R"(
func.func @quantize_long(
    %x: tensor<?x7168xbf16> {dsv4.name = "x", dsv4.dims = ["rows", ""]},
    %data: tensor<?x7168xf8E4M3FN> {dsv4.name = "data", dsv4.dims = ["rows", ""]},
    %scales: tensor<?x56xf32> {dsv4.name = "scales", dsv4.dims = ["rows", ""]})
    -> (tensor<?x7168xf8E4M3FN>, tensor<?x56xf32>) {
  %values, %scales_of_row = dsv4.quantize %x
      outs(%data, %scales : tensor<?x7168xf8E4M3FN>, tensor<?x56xf32>)
      {format = #dsv4.format<f8E4M3FN, [<f32 per 128>]>,
       recipe = #dsv4.quantizer<floor = 1.0e-04 : f32, payload = divide>}
      : tensor<?x7168xbf16>
  return %values, %scales_of_row : tensor<?x7168xf8E4M3FN>, tensor<?x56xf32>
}
)";

std::unique_ptr<Workload> bench::makeLongQuantize(Device &device) {
  std::vector<RowTensor> tensors = {
      {14336, 7168, values}, {7168, 7168, result}, {224, 56, result}};
  return std::make_unique<Dense>(device, "quantize_long", "fp8_f32",
                                 longQuantizeText, 16384, std::move(tensors));
}
