//===- Interpreter.cpp - What a function of dsv4 ops computes -------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsv4/Reference/Interpreter.h"

#include "dsv4/Dialect/RecordLayout.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>
#include <cstring>
#include <memory>

using namespace mlir;
using namespace dsv4;
using namespace dsv4::reference;

static_assert(llvm::endianness::native == llvm::endianness::little,
              "elements are read as they lie in memory");

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

static rt::Status invalid(const Twine &message) {
  return {rt::Code::InvalidArgument, message.str()};
}

static std::string toText(ArrayRef<int64_t> shape) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::interleaveComma(shape, stream << '[');
  stream << ']';
  return text;
}

/// Runs `check` and makes the first diagnostic it emits the error.
static rt::Status diagnose(func::FuncOp func,
                           function_ref<LogicalResult()> check) {
  std::string text;
  ScopedDiagnosticHandler handler(func.getContext(), [&](Diagnostic &diag) {
    if (text.empty() && diag.getSeverity() == DiagnosticSeverity::Error)
      text = diag.str();
    return success();
  });
  if (succeeded(check()))
    return {};
  llvm::replace(text, '\n', ' ');
  return invalid(text.empty() ? "the function is not valid" : text);
}

//===----------------------------------------------------------------------===//
// Signatures, sizes, formats
//===----------------------------------------------------------------------===//

rt::Result<Signature> dsv4::reference::readSignature(func::FuncOp func) {
  if (!func.getBody().hasOneBlock())
    return invalid("function '" + func.getName() + "' does not have one block");
  for (auto [i, type] : llvm::enumerate(func.getArgumentTypes()))
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      if (!tensor.getElementType().isIntOrFloat())
        return invalid("argument '" + getArgumentName(func, i) +
                       "' has elements that are not numbers");
  for (Operation &op : func.getBody().front())
    if (!isa<PagedGatherOp, DequantizeOp, func::ReturnOp>(op))
      return invalid("'" + op.getName().getStringRef() +
                     "' is not an op the interpreter knows");
  Signature signature;
  rt::Status status = diagnose(func, [&]() -> LogicalResult {
    if (failed(verify(func)))
      return failure();
    auto result = getSignature(func);
    if (failed(result))
      return failure();
    signature = std::move(*result);
    return success();
  });
  if (!status)
    return status;
  return signature;
}

static int64_t getStorageBytes(rt::Storage storage) {
  switch (storage) {
  case rt::Storage::U8:
    return 1;
  case rt::Storage::U16:
    return 2;
  case rt::Storage::I64:
    return 8;
  default:
    return 4;
  }
}

std::optional<int64_t> dsv4::reference::getByteSize(const rt::Binding &binding,
                                                    ArrayRef<int64_t> shape) {
  if (llvm::any_of(shape, [](int64_t extent) { return extent < 0; }))
    return std::nullopt;
  if (llvm::is_contained(shape, 0))
    return 0;
  int64_t size = getStorageBytes(binding.storage);
  for (int64_t extent : shape)
    if (llvm::MulOverflow(size, extent, size))
      return std::nullopt;
  return size;
}

std::optional<Format> dsv4::reference::getFormat(Type type) {
  if (type.isF32())
    return Format::F32;
  if (type.isBF16())
    return Format::BF16;
  if (type.isF16())
    return Format::F16;
  if (isa<Float8E5M2Type>(type))
    return Format::E5M2;
  if (isa<Float8E4M3FNType>(type))
    return Format::E4M3FN;
  if (isa<Float8E8M0FNUType>(type))
    return Format::E8M0FNU;
  if (isa<Float4E2M1FNType>(type))
    return Format::E2M1;
  if (type.isSignlessInteger(4))
    return Format::Int4;
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

namespace {

/// Numbers of one format, side by side in memory.
struct Elements {
  const char *bytes = nullptr;
  Format format = Format::F32;
  bool highFirst = false;
  /// Element s of `extent` is stored at (s mod n) * (extent / n) + s / n.
  int64_t interleave = 1;
  int64_t extent = 0;

  uint32_t code(int64_t index) const;
  double value(int64_t index) const { return decode(format, code(index)); }
};

/// Factors, each for `group` elements of a row in turn.
struct Level {
  Elements factors;
  int64_t group;
};

/// A value: the row-major elements of a tensor. `shape` counts elements, not
/// bytes, of packed pairs too.
struct Tensor {
  Type element;
  SmallVector<int64_t> shape;
  const char *data = nullptr;
  /// Where the data is, unless a caller's buffer holds it.
  std::shared_ptr<std::vector<char>> owned = nullptr;

  int64_t size() const { return llvm::product_of(shape, int64_t(1)); }
  int64_t bytes() const {
    unsigned width = element.getIntOrFloatBitWidth();
    return width == 4 ? size() / 2 : size() * ((width + 7) / 8);
  }
  int32_t index(int64_t at) const {
    int32_t value;
    std::memcpy(&value, data + at * sizeof(value), sizeof(value));
    return value;
  }
};

/// An entry that may be read.
struct Entry {
  int64_t page, slot;
};

} // namespace

uint32_t Elements::code(int64_t index) const {
  int64_t at = index;
  if (interleave > 1)
    at = index % interleave * (extent / interleave) + index / interleave;
  unsigned width = bitWidth(format);
  if (width == 4) {
    bool high = (at % 2 != 0) != highFirst;
    return uint8_t(bytes[at / 2]) >> (high ? 4 : 0) & 0xF;
  }
  uint32_t code = 0;
  std::memcpy(&code, bytes + at * (width / 8), width / 8);
  return code;
}

/// Writes element `at` of a bf16 or f32 result: `element * scale_0 * ...`, each
/// product rounded to fp32.
static void storeScaled(double element, ArrayRef<float> scales, Format format,
                        char *result, int64_t at) {
  if (format == Format::BF16) {
    uint16_t code = scaledToBF16(element, scales);
    std::memcpy(result + at * sizeof(code), &code, sizeof(code));
    return;
  }
  float value = float(element);
  for (float scale : scales)
    value = roundToF32(double(value) * double(scale));
  uint32_t code = 0x7FFFFFFF;
  if (!std::isnan(value))
    std::memcpy(&code, &value, sizeof(code));
  std::memcpy(result + at * sizeof(code), &code, sizeof(code));
}

/// Writes `count` elements, the first at `begin` of `result`.
static void storeRow(const Elements &data, ArrayRef<Level> levels,
                     int64_t count, Format format, char *result,
                     int64_t begin) {
  SmallVector<float> scales(levels.size());
  for (int64_t i = 0; i < count; ++i) {
    for (auto [scale, level] : llvm::zip(scales, levels))
      scale = float(level.factors.value(i / level.group));
    storeScaled(data.value(i), scales, format, result, begin + i);
  }
}

//===----------------------------------------------------------------------===//
// Interpreter
//===----------------------------------------------------------------------===//

namespace {

class Interpreter {
public:
  Interpreter(func::FuncOp func, const Signature &signature,
              ArrayRef<Buffer> buffers)
      : func(func), signature(signature), buffers(buffers) {}

  rt::Status run();

private:
  rt::Status checkRanks() const;
  rt::Status checkBinding(unsigned index) const;
  rt::Status bindArguments();
  rt::Status gather(PagedGatherOp op);
  rt::Status dequantize(DequantizeOp op);
  rt::Status writeDestinations();

  /// Where an index leads, if anything may be read there.
  std::optional<Entry> findEntry(PagedGatherOp op, int64_t token,
                                 int64_t index) const;
  void gatherRow(PagedGatherOp op, Entry entry, char *row) const;
  Elements locate(BlockArgument cache, FieldAttr field, Entry entry) const;
  int64_t getPages(BlockArgument cache) const;
  const Buffer &getFieldBuffer(BlockArgument cache, FieldAttr field) const;

  rt::Status checkShape(Operation *op, StringRef operand, Value value,
                        ArrayRef<int64_t> expected) const;
  /// A fresh value for a result that overwrites `destination`.
  Tensor &makeResult(Value result, Value destination);
  /// The function argument that holds `value` in the end.
  BlockArgument getDestination(Value value) const;

  func::FuncOp func;
  const Signature &signature;
  ArrayRef<Buffer> buffers;
  /// Values of all tensors that were computed or passed.
  DenseMap<Value, Tensor> values;
};

} // namespace

rt::Status Interpreter::checkRanks() const {
  if (buffers.size() != signature.bindings.size())
    return invalid("expected " + Twine(signature.bindings.size()) +
                   " buffers, one a binding, got " + Twine(buffers.size()));
  for (auto [binding, buffer] : llvm::zip(signature.bindings, buffers))
    if (buffer.shape.size() != binding.shape.size())
      return invalid("binding '" + binding.name + "': expected rank " +
                     Twine(binding.shape.size()) + ", got shape " +
                     toText(buffer.shape));
  return {};
}

/// Checks a buffer against its binding; all ranks are known to be right.
rt::Status Interpreter::checkBinding(unsigned index) const {
  const rt::Binding &binding = signature.bindings[index];
  const Buffer &buffer = buffers[index];
  std::string where = "binding '" + binding.name + "': ";
  for (auto [axis, extent] : llvm::enumerate(binding.shape)) {
    int64_t actual = buffer.shape[axis];
    if (extent.dim < 0) {
      if (actual != extent.constant)
        return invalid(where + "expected extent " + Twine(extent.constant) +
                       " of axis " + Twine(axis) + ", got " + Twine(actual));
      continue;
    }
    const rt::Dim &dim = signature.dims[extent.dim];
    int64_t expected = buffers[dim.binding].shape[dim.axis];
    if (actual != expected)
      return invalid(where + "axis " + Twine(axis) + " has extent " +
                     Twine(actual) + ", but dim '" + dim.name + "' is " +
                     Twine(expected) + " in binding '" +
                     signature.bindings[dim.binding].name + "'");
    if (actual < 0 || actual > dim.max)
      return invalid(where + "extent " + Twine(actual) + " of axis " +
                     Twine(axis) + " is not between 0 and " + Twine(dim.max));
  }
  auto bytes = reference::getByteSize(binding, buffer.shape);
  if (!bytes)
    return invalid(where + "shape " + toText(buffer.shape) + " is too large");
  if (*bytes != 0 && !buffer.data)
    return invalid(where + "the data is null");
  return {};
}

rt::Status Interpreter::bindArguments() {
  if (rt::Status status = checkRanks(); !status)
    return status;
  for (unsigned i = 0; i < buffers.size(); ++i)
    if (rt::Status status = checkBinding(i); !status)
      return status;
  for (BlockArgument argument : func.getArguments()) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (!type)
      continue;
    const Buffer &buffer =
        buffers[signature.firstBinding[argument.getArgNumber()]];
    Tensor tensor{type.getElementType(), llvm::to_vector(buffer.shape),
                  static_cast<const char *>(buffer.data)};
    if (type.getElementTypeBitWidth() == 4)
      tensor.shape.back() = type.getShape().back();
    values[argument] = std::move(tensor);
  }
  return {};
}

rt::Status Interpreter::checkShape(Operation *op, StringRef operand,
                                   Value value,
                                   ArrayRef<int64_t> expected) const {
  const Tensor &tensor = values.at(value);
  if (ArrayRef<int64_t>(tensor.shape) == expected)
    return {};
  std::string name;
  if (auto argument = dyn_cast<BlockArgument>(value))
    name =
        ", binding '" + getArgumentName(func, argument.getArgNumber()) + "',";
  return invalid(op->getName().getStringRef() + ": expected '" + operand + "'" +
                 name + " of shape " + toText(expected) + ", got " +
                 toText(tensor.shape));
}

Tensor &Interpreter::makeResult(Value result, Value destination) {
  Tensor tensor = values.at(destination);
  tensor.owned = std::make_shared<std::vector<char>>(tensor.bytes());
  tensor.data = tensor.owned->data();
  return values[result] = std::move(tensor);
}

//===----------------------------------------------------------------------===//
// paged_gather
//===----------------------------------------------------------------------===//

const Buffer &Interpreter::getFieldBuffer(BlockArgument cache,
                                          FieldAttr field) const {
  unsigned first = signature.firstBinding[cache.getArgNumber()];
  if (field.getPlacement() != Placement::Array)
    return buffers[first];
  // Arrays follow the pages, in the order of their fields.
  auto type = cast<CacheType>(cache.getType());
  unsigned index = first + RecordLayout(type).hasPages();
  for (FieldAttr other : type.getRecord().getFields()) {
    if (other == field)
      break;
    index += other.getPlacement() == Placement::Array;
  }
  return buffers[index];
}

int64_t Interpreter::getPages(BlockArgument cache) const {
  for (FieldAttr field :
       cast<CacheType>(cache.getType()).getRecord().getFields())
    if (field.getGroup() != FieldAttr::kPerTensor)
      return getFieldBuffer(cache, field).shape.front();
  return 0;
}

Elements Interpreter::locate(BlockArgument cache, FieldAttr field,
                             Entry entry) const {
  auto type = cast<CacheType>(cache.getType());
  RecordLayout::Position position = RecordLayout(type).getPosition(field);
  const char *bytes =
      static_cast<const char *>(getFieldBuffer(cache, field).data) +
      position.base + entry.page * position.pageStride +
      entry.slot * position.slotStride;
  return {bytes, *reference::getFormat(field.getElement()),
          field.getHighFirst(), field.getInterleave(), field.getExtent()};
}

std::optional<Entry> Interpreter::findEntry(PagedGatherOp op, int64_t token,
                                            int64_t index) const {
  if (index < 0)
    return std::nullopt;
  if (Value lengths = op.getLengths())
    if (index >= values.at(lengths).index(token))
      return std::nullopt;
  auto cache = cast<BlockArgument>(op.getCache());
  int64_t pageSize = op.getCache().getType().getPage();
  int64_t page = index / pageSize;
  if (Value pageTable = op.getPageTable()) {
    const Tensor &table = values.at(pageTable);
    int64_t row = 0, rows = 1;
    if (table.shape.size() == 2) {
      rows = table.shape.front();
      row = op.getRequests() ? values.at(op.getRequests()).index(token) : token;
    }
    int64_t width = table.shape.back();
    if (row < 0 || row >= rows || page >= width)
      return std::nullopt;
    page = table.index(row * width + page);
  }
  if (page < 0 || page >= getPages(cache))
    return std::nullopt;
  return Entry{page, index % pageSize};
}

void Interpreter::gatherRow(PagedGatherOp op, Entry entry, char *row) const {
  auto cache = cast<BlockArgument>(op.getCache());
  RecordAttr record = op.getCache().getType().getRecord();
  Type result = cast<ShapedType>(op.getOut().getType()).getElementType();
  int64_t resultBytes = result.getIntOrFloatBitWidth() / 8;
  int64_t begin = 0;
  for (FieldAttr field : record.getFields()) {
    if (field.isScale())
      continue;
    Elements data = locate(cache, field, entry);
    SmallVector<Level> levels;
    for (FieldAttr level : record.getScalesOf(field.getName()))
      levels.push_back({locate(cache, level, entry), level.getGroup() > 0
                                                         ? level.getGroup()
                                                         : field.getExtent()});
    if (levels.empty() && field.getElement() == result) {
      for (int64_t i = 0; i < field.getExtent(); ++i) {
        uint32_t code = data.code(i);
        std::memcpy(row + (begin + i) * resultBytes, &code, resultBytes);
      }
    } else {
      storeRow(data, levels, field.getExtent(), *reference::getFormat(result),
               row, begin);
    }
    begin += field.getExtent();
  }
}

rt::Status Interpreter::gather(PagedGatherOp op) {
  const Tensor indices = values.at(op.getIndices());
  bool perToken = indices.shape.size() == 2;
  int64_t tokens = perToken ? indices.shape.front() : 1;
  int64_t perRow = indices.shape.back();

  SmallVector<int64_t> rowShape = indices.shape;
  rowShape.push_back(op.getCache().getType().getRecord().getRowExtent());
  SmallVector<int64_t> tokenShape;
  if (perToken)
    tokenShape.push_back(tokens);
  const std::tuple<StringRef, Value, ArrayRef<int64_t>> operands[] = {
      {"outs", op.getOut(), rowShape},
      {"mask", op.getMask(), indices.shape},
      {"lengths", op.getLengths(), tokenShape},
      {"requests", op.getRequests(), tokenShape}};
  for (auto [name, value, shape] : operands)
    if (value)
      if (rt::Status status = checkShape(op, name, value, shape); !status)
        return status;

  // Both are zeros, and false, until an entry is found.
  std::vector<char> &rows = *makeResult(op.getRows(), op.getOut()).owned;
  std::vector<char> *valid = nullptr;
  if (op.getMask())
    valid = makeResult(op.getValid(), op.getMask()).owned.get();
  if (indices.size() == 0)
    return {};
  int64_t rowBytes = rows.size() / indices.size();
  for (int64_t token = 0; token < tokens; ++token)
    for (int64_t j = 0; j < perRow; ++j) {
      int64_t at = token * perRow + j;
      auto entry = findEntry(op, token, indices.index(at));
      if (!entry)
        continue;
      gatherRow(op, *entry, rows.data() + at * rowBytes);
      if (valid)
        (*valid)[at] = 1;
    }
  return {};
}

//===----------------------------------------------------------------------===//
// dequantize
//===----------------------------------------------------------------------===//

rt::Status Interpreter::dequantize(DequantizeOp op) {
  const Tensor data = values.at(op.getData());
  if (rt::Status status = checkShape(op, "outs", op.getOut(), data.shape);
      !status)
    return status;
  int64_t extent = data.shape.back();
  SmallVector<Level> levels;
  for (auto [level, scales] :
       llvm::zip(op.getFormat().getScales(), op.getScales())) {
    SmallVector<int64_t> shape(ArrayRef<int64_t>(data.shape).drop_back());
    int64_t group = level.getGroup();
    if (group == FieldAttr::kPerTensor) {
      shape.assign({1});
      group = data.size();
    } else if (group == FieldAttr::kPerRow) {
      group = extent;
    } else {
      shape.push_back(extent / group);
    }
    if (rt::Status status = checkShape(op, "scales", scales, shape); !status)
      return status;
    const Tensor &tensor = values.at(scales);
    levels.push_back(
        {{tensor.data, *reference::getFormat(tensor.element)}, group});
  }

  Tensor &result = makeResult(op.getValues(), op.getOut());
  Elements elements{data.data, *reference::getFormat(data.element),
                    op.getFormat().getHighFirst()};
  // Groups divide rows, so all rows together are one long row.
  storeRow(elements, levels, data.size(), *reference::getFormat(result.element),
           result.owned->data(), 0);
  return {};
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

BlockArgument Interpreter::getDestination(Value value) const {
  while (auto result = dyn_cast<OpResult>(value)) {
    auto op = cast<DestinationStyleOpInterface>(result.getOwner());
    value = op.getTiedOpOperand(result)->get();
  }
  return cast<BlockArgument>(value);
}

rt::Status Interpreter::writeDestinations() {
  DenseMap<Value, Value> written;
  SmallVector<std::pair<Buffer, Tensor>> writes;
  for (Operation &op : func.getBody().front().without_terminator())
    for (Value result : op.getResults()) {
      bool returned = llvm::any_of(result.getUsers(), [](Operation *user) {
        return isa<func::ReturnOp>(user);
      });
      if (!returned && !result.use_empty())
        continue;
      BlockArgument destination = getDestination(result);
      unsigned argument = destination.getArgNumber();
      if (!written.try_emplace(destination, result).second)
        return invalid("binding '" + getArgumentName(func, argument) +
                       "' is the destination of two results");
      writes.push_back(
          {buffers[signature.firstBinding[argument]], values.at(result)});
    }
  for (auto &[buffer, tensor] : writes)
    if (tensor.bytes() != 0)
      std::memcpy(buffer.data, tensor.data, tensor.bytes());
  return {};
}

rt::Status Interpreter::run() {
  if (rt::Status status = bindArguments(); !status)
    return status;
  for (Operation &op : func.getBody().front().without_terminator()) {
    auto gatherOp = dyn_cast<PagedGatherOp>(op);
    rt::Status status =
        gatherOp ? gather(gatherOp) : dequantize(cast<DequantizeOp>(op));
    if (!status)
      return status;
  }
  return writeDestinations();
}

rt::Status dsv4::reference::interpret(func::FuncOp func,
                                      ArrayRef<Buffer> buffers) {
  auto signature = readSignature(func);
  if (!signature)
    return signature.status();
  return Interpreter(func, *signature, buffers).run();
}
