//===- Access.cpp - Loads and stores --------------------------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Checks.h"

#include "dsv4/Dialect/CUDA.h"
#include "dsv4/Schedule/Limits.h"

using namespace mlir;
using namespace dsv4;
using namespace dsv4::cuda;

/// The largest alignment that an address can have in the source.
static constexpr int64_t kMaxAlign = int64_t(1) << 30;

/// Clauses 1 to 3 of load and store.
static LogicalResult verifyAccess(Operation *op, StringRef prefix, Type value,
                                  MemRefType base, int64_t stride,
                                  int64_t align) {
  auto vector = dyn_cast<VectorType>(value);
  if (!vector && (value != base.getElementType() || stride != 0))
    return op->emitOpError()
           << prefix
           << "_c1: a scalar has the element type of the base "
              "and no stride";
  if (vector && vector.getRank() == 2 && vector.getDimSize(0) > 1 &&
      stride <= 0)
    return op->emitOpError()
           << prefix << "_c2: a tile of " << vector.getDimSize(0)
           << " vectors needs a positive stride";
  // Of a scalar it is the natural one.
  int64_t bits = vector ? 8 : value.getIntOrFloatBitWidth();
  if (align < 0 || align > kMaxAlign ||
      (align > 0 && (!llvm::isPowerOf2_64(align) || align * 8 < bits)))
    return op->emitOpError() << prefix
                             << "_c3: expected an alignment that is a power of "
                                "two, at most 2^30, and of a scalar at least "
                                "its size, got "
                             << align;
  if (!vector && bits == 4)
    return op->emitOpError() << prefix << "_c1: a scalar has whole bytes, got "
                             << value << ": expected a vector of it";
  return success();
}

/// Clause `clause`: only a tile has a number of vectors.
static LogicalResult verifyVectors(Operation *op, StringRef clause, Type value,
                                   Value vectors, Value predicate) {
  auto vector = dyn_cast<VectorType>(value);
  if (!vectors || (vector && vector.getRank() == 2 && !predicate))
    return success();
  return op->emitOpError() << clause << ": expected 'vectors' of a tile"
                           << (predicate ? ", without a predicate" : "");
}

LogicalResult LoadOp::verify() {
  if (failed(verifyAccess(*this, "load", getValue().getType(),
                          cast<MemRefType>(getBase().getType()), getStride(),
                          getAlign())) ||
      failed(verifyVectors(*this, "load_c5", getValue().getType(), getVectors(),
                           getPredicate())))
    return failure();
  if (getValue().getType().isInteger(1) && !isSubscript())
    return emitOpError() << "load_c1: an i1 has no predicate and is not "
                            "'ordered': load an i8";
  if (!getStaged())
    return success();
  auto vector = dyn_cast<VectorType>(getValue().getType());
  int64_t bits =
      vector ? vector.getNumElements() * vector.getElementTypeBitWidth() : 0;
  bool isVector =
      vector && (vector.getRank() == 1 || vector.getDimSize(0) == 1);
  auto isRowOfSegment = [](Operation *user) {
    auto segment = dyn_cast<WindowSegmentOp>(user->getParentOp());
    return segment && isa<WindowYieldOp>(user) &&
           user->getParentRegion() == &segment.getMember();
  };
  if (!isVector || bits < 16 || !llvm::isPowerOf2_64(bits) || getPredicate() ||
      getVectors() || getAlign() || getPolicy() != LoadPolicy::Default ||
      !llvm::all_of(getValue().getUsers(), isRowOfSegment))
    return emitOpError()
           << "load_c4: expected what is staged to be one vector of a power of "
              "two of bytes without a predicate, a policy or an alignment, of "
              "a row of a 'cuda.window_segment'";
  return success();
}

LogicalResult StoreOp::verify() {
  if (failed(verifyAccess(*this, "store", getValue().getType(),
                          cast<MemRefType>(getBase().getType()), getStride(),
                          getAlign())))
    return failure();
  return verifyVectors(*this, "store_c4", getValue().getType(), getVectors(),
                       Value());
}

/// Clause 1 of ops that access values in runs, and clause 2: that its numbers
/// are counts, which the source has as `int`.
template <typename RunsOp>
static LogicalResult
verifyRuns(RunsOp op, VectorType values,
           ArrayRef<std::tuple<StringRef, uint64_t, int64_t>> counts) {
  StringRef name = op->getName().stripDialect();
  Type element = values.getElementType();
  unsigned bits = element.getIntOrFloatBitWidth();
  if (bits != 8 && bits != 32)
    return op.emitOpError()
           << name << "_c1: expected values of 8 or 32 bits, got " << element;
  for (auto [what, given, min] : counts)
    if (auto count = static_cast<int64_t>(given);
        count < min || count > INT32_MAX)
      return op.emitOpError()
             << name << "_c2: expected '" << what << "' between " << min
             << " and 2^31 - 1, got " << count;
  return success();
}

LogicalResult StoreRunsOp::verify() {
  return verifyRuns(*this, cast<VectorType>(getValue().getType()),
                    {{"step", getStep(), 0},
                     {"run", getRun(), 1},
                     {"count", getCount(), 1},
                     {"pad", getPad(), 0}});
}

LogicalResult LoadRunsOp::verify() {
  return verifyRuns(*this, cast<VectorType>(getValue().getType()),
                    {{"step", getStep(), 0}, {"run", getRun(), 1}});
}

/// Clauses 1 and 2 of ops whose lanes access a row in words.
static LogicalResult verifyWords(Operation *op, VectorType row, int64_t lanes) {
  StringRef name = op->getName().stripDialect();
  int64_t bits = row.getShape().back() * row.getElementTypeBitWidth();
  if (bits < 32 || !llvm::isPowerOf2_64(bits))
    return op->emitOpError()
           << name
           << "_c1: expected vectors of a power of two of bytes, at least 4, "
              "got "
           << bits << " bits";
  // The lanes have elements of a register together.
  int64_t minLanes = row.getElementTypeBitWidth() <= 8 ? 4 : 2;
  if (lanes < minLanes || lanes > limits::kWarp || !llvm::isPowerOf2_64(lanes))
    return op->emitOpError()
           << name << "_c2: expected 'lanes' to be a power of two between "
           << minLanes << " and 32, got " << lanes;
  return success();
}

LogicalResult LoadWordsOp::verify() {
  if (failed(verifyWords(*this, cast<VectorType>(getWords().getType()),
                         getLanes())))
    return failure();
  for (Operation *user : getWords().getUsers())
    if (!isa<RealignOp>(user))
      return emitOpError() << "load_words_c3: expected only 'cuda.realign' to "
                              "take the words, which are not a row, got '"
                           << user->getName() << "'";
  return success();
}
LogicalResult RealignOp::verify() {
  if (failed(
          verifyWords(*this, cast<VectorType>(getRow().getType()), getLanes())))
    return failure();
  auto load = getWords().getDefiningOp<LoadWordsOp>();
  if (load && load.getLanes() == getLanes())
    return success();
  InFlightDiagnostic error = emitOpError()
                             << "realign_c2: expected the words of a "
                                "'cuda.load_words' of "
                             << getLanes() << " lanes, got ";
  return load ? error << load.getLanes() : error << "others";
}
LogicalResult StoreWordsOp::verify() {
  return verifyWords(*this, cast<VectorType>(getRow().getType()), getLanes());
}
