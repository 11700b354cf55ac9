//===- Append.cpp - Entries written into a cache --------------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InterpreterImpl.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace dsv4;
using namespace dsv4::reference;

//===----------------------------------------------------------------------===//
// Which entry a row becomes
//===----------------------------------------------------------------------===//

std::optional<Interpreter::Entry>
Interpreter::findRingEntry(PagedAppendOp op, int64_t token,
                           int64_t position) const {
  int64_t ring = *op.getRing(), pageSize = op.getCache().getType().getPage();
  const Tensor &lengths = values.at(op.getLengths());
  int64_t request =
      op.getRequests() ? values.at(op.getRequests()).index(token) : token;
  int64_t at = op.hasLengthsPerToken() ? token : request;
  if (request < 0 || at >= lengths.size() ||
      position < lengths.length(at) - ring)
    return std::nullopt;
  int64_t slot = position % ring;
  if (!op.getPageTable()) {
    int64_t entry = request * ring + slot;
    return Entry{entry / pageSize, entry % pageSize};
  }
  const Tensor &table = values.at(op.getPageTable());
  int64_t width = table.shape.back(), page = slot / pageSize;
  if (request >= table.shape.front() || page >= width)
    return std::nullopt;
  return Entry{table.index(request * width + page), slot % pageSize};
}

/// The entry of a position by a page table, without a ring.
std::optional<Interpreter::Entry>
Interpreter::findPagedEntry(PagedAppendOp op, int64_t token,
                            int64_t position) const {
  int64_t pageSize = op.getCache().getType().getPage();
  int64_t page = position / pageSize;
  const Tensor &table = values.at(op.getPageTable());
  int64_t request =
      op.getRequests() ? values.at(op.getRequests()).index(token) : token;
  if (request < 0)
    return std::nullopt;
  if (!op.getIndptr()) {
    int64_t width = table.shape.back();
    if (request >= table.shape.front() || page >= width)
      return std::nullopt;
    return Entry{table.index(request * width + page), position % pageSize};
  }
  const Tensor &starts = values.at(op.getIndptr());
  if (request + 1 >= starts.size())
    return std::nullopt;
  int64_t first = starts.index(request), end = starts.index(request + 1);
  if (first < 0 || first + page >= end || first + page >= table.size())
    return std::nullopt;
  return Entry{table.index(first + page), position % pageSize};
}

std::optional<Interpreter::Entry> Interpreter::findEntry(PagedAppendOp op,
                                                         int64_t token) const {
  const Tensor &indices = values.at(op.getIndices());
  int64_t index = indices.index(token);
  if (index < 0 && !op.getInBytes())
    return std::nullopt;
  int64_t pageSize = op.getCache().getType().getPage();
  std::optional<Entry> entry = Entry{index / pageSize, index % pageSize};
  if (op.getInBytes())
    entry = findEntryAtByte(op.getCache().getType(), indices.integer(token));
  else if (op.getRing())
    entry = findRingEntry(op, token, index);
  else if (op.getPageTable())
    entry = findPagedEntry(op, token, index);
  if (!entry || entry->page < 0 ||
      entry->page >= getPages(cast<BlockArgument>(op.getCache())))
    return std::nullopt;
  return entry;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

/// Unused bytes after a field become zeros if they fill it up to a power of
/// two.
void Interpreter::clearPad(BlockArgument cache, FieldAttr field,
                           Entry entry) const {
  int64_t size = field.getByteSize(), pad = field.getPad();
  // An array has no bytes between its fields.
  if (field.getPlacement() != Placement::Array &&
      llvm::isPowerOf2_64(size + pad))
    std::memset(locate(cache, field, entry).bytes + size, 0, pad);
}

void Interpreter::appendRow(PagedAppendOp op, int64_t token,
                            Entry entry) const {
  auto cache = cast<BlockArgument>(op.getCache());
  SmallVector<FieldAttr> fields = op.getWrittenFields();
  // A field may be placed where another has its padding, so that goes first.
  for (FieldAttr field : fields)
    clearPad(cache, field, entry);
  for (auto [i, field, operand] : llvm::enumerate(fields, op.getFields())) {
    const Tensor &tensor = values.at(operand);
    int64_t columns = tensor.shape.size() == 2 ? tensor.shape.back() : 1;
    int64_t from = token * columns + op.getColumn(i);
    Elements source = tensor.elements(), stored = locate(cache, field, entry);
    for (int64_t e = 0; e < field.getExtent(); ++e)
      stored.setCode(e, source.code(from + e));
  }
}

rt::Status Interpreter::checkAppend(PagedAppendOp op) const {
  int64_t tokens = values.at(op.getIndices()).size();
  for (Value field : op.getFields()) {
    SmallVector<int64_t> shape = values.at(field).shape;
    shape.front() = tokens;
    if (rt::Status status = checkShape(op, "fields", field, shape); !status)
      return status;
  }
  if (op.getRequests())
    if (rt::Status status =
            checkShape(op, "requests", op.getRequests(), tokens);
        !status)
      return status;
  if (op.getPageTable() && !op.getRing() && !op.getRequests())
    return checkShape(op, "pages", op.getPageTable(),
                      {tokens, values.at(op.getPageTable()).shape.back()});
  if (!op.getRing())
    return {};
  if (op.hasLengthsPerToken())
    if (rt::Status status = checkShape(op, "lengths", op.getLengths(), tokens);
        !status)
      return status;
  // Lengths per token say nothing of the number of requests.
  if (!op.getPageTable() || (op.getRequests() && op.hasLengthsPerToken()))
    return {};
  return checkShape(op, "pages", op.getPageTable(),
                    {values.at(op.getLengths()).size(),
                     values.at(op.getPageTable()).shape.back()});
}

rt::Status Interpreter::append(PagedAppendOp op) {
  if (rt::Status status = checkAppend(op); !status)
    return status;
  // In the order of the rows, so the last with an entry stays.
  int64_t tokens = values.at(op.getIndices()).size();
  for (int64_t token = 0; token < tokens; ++token)
    if (auto entry = findEntry(op, token))
      appendRow(op, token, *entry);
  return {};
}

//===----------------------------------------------------------------------===//
// Entries given twice
//===----------------------------------------------------------------------===//

std::string Interpreter::describeSharedEntry(PagedAppendOp op) const {
  llvm::DenseMap<int64_t, int64_t> tokenOf;
  std::string text;
  int64_t more = 0, pageSize = op.getCache().getType().getPage();
  for (int64_t token = 0; token < values.at(op.getIndices()).size(); ++token) {
    auto found = findEntry(op, token);
    if (!found)
      continue;
    int64_t entry = found->page * pageSize + found->slot;
    auto [it, fresh] = tokenOf.try_emplace(entry, token);
    if (fresh)
      continue;
    if (!text.empty()) {
      ++more;
      continue;
    }
    auto cache = cast<BlockArgument>(op.getCache());
    text = "append to '" + getArgumentName(func, cache.getArgNumber()) +
           "': tokens " + std::to_string(it->second) + " and " +
           std::to_string(token) + " both have entry " + std::to_string(entry) +
           (op.getRing() ? ", which positions, lengths and page tables of a "
                           "ring promise not to happen"
                         : ", which 'unique' promises not to happen");
  }
  return more ? text + " (and " + std::to_string(more) + " more)" : text;
}

std::vector<std::string> Interpreter::describeSharedEntries() {
  std::vector<std::string> lines;
  if (!bindArguments())
    return lines;
  for (auto op : func.getBody().front().getOps<CompressOp>()) {
    if (!op.isOnline() || !values.contains(op.getPlan()) ||
        !values.contains(op.getValues()))
      continue;
    if (std::string line = describeSharedEntry(op); !line.empty())
      lines.push_back(line);
  }
  for (auto op : func.getBody().front().getOps<PagedAppendOp>()) {
    // Without a ring and 'unique' the last token stays. Of a ring the last
    // position does, if tokens have different ones below their lengths.
    if ((!op.getUnique() && !op.getRing()) || !values.contains(op.getIndices()))
      continue;
    if (std::string line = describeSharedEntry(op); !line.empty())
      lines.push_back(line);
  }
  return lines;
}

std::vector<std::string>
dsv4::reference::findSharedEntries(func::FuncOp func,
                                   ArrayRef<Buffer> buffers) {
  auto signature = readSignature(func);
  if (!signature)
    return {};
  return Interpreter(func, *signature, buffers).describeSharedEntries();
}
