//===- OutOfRange.cpp - Indices out of range ------------------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels skip what is out of range, and say nothing: data on the device is
// never read by the host. Where the host has the data, it says what is wrong
// with it. A number of -1 is none, and no mistake.
//
//===----------------------------------------------------------------------===//

#include "InterpreterImpl.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace dsv4;
using namespace dsv4::reference;

namespace {

/// What is wrong with the numbers of one operand.
class OutOfRange {
public:
  OutOfRange(func::FuncOp func, Operation *op, StringRef operand, Value value)
      : where((op->getName().getStringRef() + ": '" + operand + "'").str()) {
    if (auto argument = dyn_cast<BlockArgument>(value))
      where += " (argument '" + getArgumentName(func, argument.getArgNumber()) +
               "')";
  }
  /// Counts one; only the first is described.
  void add(llvm::function_ref<std::string()> describe) {
    if (first.empty())
      first = describe();
    else
      ++more;
  }
  /// Adds a line to `lines`, if there is something to say.
  void report(StringRef consequence, std::vector<std::string> &lines) const {
    if (first.empty())
      return;
    std::string line = where + " " + first;
    if (more)
      line += " (and " + std::to_string(more) + " more)";
    lines.push_back(line + ": " + consequence.str());
  }

private:
  std::string where, first;
  int64_t more = 0;
};

} // namespace

bool Interpreter::isKnown(Operation *op) const {
  auto tied = dyn_cast<DestinationStyleOpInterface>(op);
  return llvm::all_of(op->getOpOperands(), [&](OpOperand &operand) {
    return !isa<RankedTensorType>(operand.get().getType()) ||
           (tied && tied.isDpsInit(&operand)) || values.contains(operand.get());
  });
}

/// Checks that what `starts` has ascends from 0 up to `end`, the number of
/// `what`.
void Interpreter::checkStarts(Operation *op, StringRef operand, Value starts,
                              int64_t end, StringRef what,
                              std::vector<std::string> &lines) const {
  if (!starts)
    return;
  OutOfRange bad(func, op, operand, starts);
  const Tensor &numbers = values.at(starts);
  for (int64_t i = 0; i < numbers.size(); ++i) {
    int64_t number = numbers.integer(i);
    auto add = [&](const Twine &why) {
      bad.add([&] {
        return ("has " + Twine(number) + " at " + Twine(i) + ", " + why).str();
      });
    };
    if (number < 0)
      add("expected no negative number");
    else if (i > 0 && number < numbers.integer(i - 1))
      add("less than " + Twine(numbers.integer(i - 1)) + " before it");
    else if (number > end)
      add("beyond the " + Twine(end) + " " + what);
  }
  bad.report("nothing is read or written out of range", lines);
}

void Interpreter::checkRange(PagedGatherOp op,
                             std::vector<std::string> &lines) const {
  SmallVector<int64_t> rows;
  if (!op.isRagged()) {
    rows = values.at(op.getIndices()).shape;
  } else if (auto found = values.find(op.getRowOperand());
             found != values.end()) {
    rows = llvm::to_vector(ArrayRef<int64_t>(found->second.shape).drop_back());
  }
  if (rows.empty() || !checkGather(op, rows))
    return;
  int64_t count = llvm::product_of(rows, int64_t(1));
  checkStarts(op, "cu_seq_lens", op.getCuSeqLens(), count, "rows", lines);
  checkStarts(op, "row_starts", op.getRowStarts(), count, "rows", lines);
  if (op.getIndptr())
    checkStarts(op, "indptr", op.getIndptr(),
                values.at(op.getPageTable()).size(), "pages listed", lines);
  OutOfRange bad(func, op, "cache", op.getCache());
  int64_t pages = getPages(cast<BlockArgument>(op.getCache()));
  for (int64_t row = 0; row < count; ++row) {
    Gathered found = op.isRagged() ? findRaggedRow(op, row, rows.back())
                                   : findIndexedRow(op, row);
    std::optional<Entry> entry;
    if (found.exists)
      entry = findNamedEntry(op, found);
    if (entry && entry->page >= pages)
      bad.add([&] {
        return ("has " + Twine(pages) + " pages, and row " + Twine(row) +
                " is for an entry in page " + Twine(entry->page))
            .str();
      });
  }
  bad.report("rows beyond the pool are zeros", lines);
}

void Interpreter::checkRange(PagedAppendOp op,
                             std::vector<std::string> &lines) const {
  // Kernels themselves report slots beyond the pool.
  if (op.getIndptr())
    checkStarts(op, "indptr", op.getIndptr(),
                values.at(op.getPageTable()).size(), "pages listed", lines);
}

void Interpreter::checkRange(CompressPlanOp op,
                             std::vector<std::string> &lines) const {
  int64_t tokens = INT32_MAX;
  for (Value token : {op.getPositions(), op.getRequests(), op.getSlots()})
    if (token && !op.hasRowPerEntry())
      tokens = values.at(token).size();
  checkStarts(op, "starts", op.getStarts(), tokens, "tokens", lines);
  checkStarts(op, "entry_starts", op.getEntryStarts(), INT32_MAX, "entries",
              lines);
}

void Interpreter::checkRange(TopkOp op, std::vector<std::string> &lines) const {
  const Tensor &scores = values.at(op.getScores());
  int64_t columns = scores.shape.back();
  auto check = [&](StringRef operand, Value value, auto explain) {
    if (!value || values.at(value).size() > scores.rows())
      return;
    OutOfRange bad(func, op, operand, value);
    for (int64_t row = 0; row < values.at(value).size(); ++row) {
      int64_t number = values.at(value).integer(row);
      if (std::string why = explain(row, number); !why.empty())
        bad.add([&] {
          return ("has " + Twine(number) + " for row " + Twine(row) + ", " +
                  why)
              .str();
        });
    }
    bad.report("only columns of the row are selected from", lines);
  };
  std::string beyond = "beyond the " + std::to_string(columns) + " columns";
  check("starts", op.getStarts(), [&](int64_t, int64_t start) -> std::string {
    return start < -1 ? "expected a column" : start > columns ? beyond : "";
  });
  check("ends", op.getEnds(), [&](int64_t row, int64_t end) -> std::string {
    int64_t start = op.getStarts() ? values.at(op.getStarts()).integer(row) : 0;
    return end > columns ? beyond
           : end >= 0 && end < start
               ? "before its start, " + std::to_string(start)
               : "";
  });
}

std::vector<std::string> Interpreter::describeOutOfRange() {
  std::vector<std::string> lines;
  if (!bindArguments())
    return lines;
  auto checkAll = [&](auto op) {
    if (isKnown(op))
      checkRange(op, lines);
  };
  for (Operation &op : func.getBody().front())
    TypeSwitch<Operation *>(&op)
        .Case<PagedGatherOp, PagedAppendOp, CompressPlanOp, TopkOp>(checkAll);
  return lines;
}

std::vector<std::string>
dsv4::reference::findOutOfRangeIndices(func::FuncOp func,
                                       ArrayRef<Buffer> buffers) {
  auto signature = readSignature(func);
  if (!signature)
    return {};
  return Interpreter(func, *signature, buffers).describeOutOfRange();
}
