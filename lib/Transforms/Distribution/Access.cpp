//===- Access.cpp - Fragments in memory -----------------------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsv4/Transforms/DistributionModel.h"

#include "mlir/IR/Matchers.h"

#include <numeric>

using namespace mlir;
using namespace dsv4;
using row::Footprint;

namespace {

int64_t getBits(Type type) { return type.getIntOrFloatBitWidth(); }

int64_t getCellBits(Value base) {
  return getBits(cast<MemRefType>(base.getType()).getElementType());
}

/// Bytes of a register, and of the widest access of a thread.
constexpr int64_t kRegisterBytes = 4,
                  kMaxAccessBytes = limits::kMaxAccessBits / 8;

/// `align`, or 0 where the hardware's access to `bytes` needs no more.
int64_t getStatedAlignment(int64_t align, int64_t bytes) {
  int64_t natural = std::min(kMaxAccessBytes, bytes & -bytes);
  return align >= natural ? 0 : align;
}

/// The same of a whole segment, whose access is split: what is known beyond the
/// natural alignment makes for wider instructions.
int64_t getSegmentAlignment(int64_t align, int64_t bytes) {
  int64_t natural = std::min(kMaxAccessBytes, bytes & -bytes);
  align = std::gcd(kMaxAccessBytes, align);
  return align == natural || bytes < align ? getStatedAlignment(align, bytes)
                                           : align;
}

/// Whether a row of `elements` elements whose vectors, those of `type`, follow
/// each other from an address that is aligned to `align` is better accessed as
/// aligned words by its lanes together than in parts by each: neighbouring
/// lanes do not access neighbouring parts.
bool isForWords(const Distribution &d, int64_t elements, VectorType type,
                int64_t align) {
  int64_t bits = type.getElementTypeBitWidth();
  int64_t bytes = type.getShape().back() * bits / 8;
  return d.haveNeighboursRow(elements) && type.getRank() == 2 &&
         llvm::isPowerOf2_64(bytes) && bytes >= kRegisterBytes &&
         align < std::min(kMaxAccessBytes, bytes) &&
         d.getMap().lanes * std::max<int64_t>(1, bits / 8) >= kRegisterBytes;
}

/// All scales of a row as a matrix of `rows` rows, transposed: interleaved ones
/// in memory are the transpose of those in order.
Value transpose(OpBuilder &b, Location loc, Value scales, int64_t rows) {
  if (rows == 1 || cast<VectorType>(scales.getType()).getNumElements() == rows)
    return scales;
  return cuda::TransposeOp::create(b, loc, scales.getType(), scales, rows);
}

/// The cells of `elements` elements of `bits` bits.
int64_t toCells(int64_t elements, int64_t bits, int64_t cell) {
  return elements * bits / cell;
}
Value toCells(OpBuilder &b, Distribution &d, Value elements, int64_t bits,
              int64_t cell) {
  Location loc = d.getLoc();
  if (bits < cell)
    return arith::DivSIOp::create(b, loc, elements, d.constant(cell / bits));
  if (bits > cell)
    return arith::MulIOp::create(b, loc, elements, d.constant(bits / cell));
  return elements;
}

/// The strides of scales, one for `group` elements. With an interleave of a,
/// scale i of n is stored at (i mod a) * (n / a) + i / a: a step is a scales,
/// so steps follow each other and threads are n / a apart.
FailureOr<ValueStrides> getScaleStrides(Operation *op, const ElementMap &map,
                                        int64_t group, int64_t scales,
                                        int64_t interleave) {
  ValueStrides strides = map.getStrides(group);
  if (interleave == 1)
    return strides;
  if (strides.step != interleave || strides.thread != 1)
    return op->emitOpError()
           << "schedule_rows_c3: interleaved scales need a step of "
           << interleave << " scales, got " << strides.step;
  return ValueStrides{scales / interleave, strides.holders, 1};
}

//===----------------------------------------------------------------------===//
// row.read
//===----------------------------------------------------------------------===//

/// The first value of the current section, if one stands for `group` elements.
Value getSectionStart(Distribution &d, int64_t group) {
  Value first = d.getView().first;
  if (group > 1)
    first = arith::DivSIOp::create(d.getBuilder(), d.getLoc(), first,
                                   d.constant(group));
  return first;
}

/// Emits the loads of one row.read.
class Reader {
public:
  Reader(row::ReadOp read, Distribution &d, Footprint at)
      : read(read), d(d), at(at), b(d.getBuilder()),
        element(read.getValue().getType().getElementType()),
        base(d.getScalar(read.getBase())), bits(getBits(element)),
        cell(getCellBits(base)), align(read.getAlign()) {}

  FailureOr<Value> build() {
    if (d.getView().access.isElements())
      return buildGather();
    if (d.getView().access.isColumns())
      return buildColumns();
    return buildRow();
  }

private:
  FailureOr<Value> buildGather();
  FailureOr<Value> buildColumns();
  FailureOr<Value> buildColumnsOfBounded(Value start);
  FailureOr<Value> buildRow();
  /// Whether values are of the current section, rather than of the whole row.
  bool isOfSection() {
    return d.getView().first && (at.group == 1 || read.getExtent() > 1);
  }
  Value buildSegment();
  Value buildRuns();
  Value getPredicate();
  FailureOr<ValueStrides> getStrides();
  Value getThreadStart(Value start, const ValueStrides &strides);
  Value load(VectorType type, Value start, Value vectors, int64_t stride,
             int64_t align, Value predicate);
  bool readsWords(const ValueStrides &strides, VectorType type);
  Value loadWords(VectorType type, Value start, Value predicate);
  cuda::LoadPolicy getPolicy() {
    return d.getSchedule().getRowMapping().load == LoadPolicy::EvictLast
               ? cuda::LoadPolicy::EvictLast
               : cuda::LoadPolicy::Default;
  }

  int64_t toCells(int64_t elements) const {
    return ::toCells(elements, bits, cell);
  }
  Value scale(Value elements) { return ::toCells(b, d, elements, bits, cell); }

  row::ReadOp read;
  Distribution &d;
  Footprint at;
  OpBuilder &b;
  Type element;
  Value base;
  int64_t bits, cell, align;
};

} // namespace

Value Reader::load(VectorType type, Value start, Value vectors, int64_t stride,
                   int64_t align, Value predicate) {
  int64_t bytes = type.getShape().back() * bits / 8;
  auto access = cuda::LoadOp::create(
      b, read.getLoc(), type, base, start, predicate, vectors, stride,
      d.getMap().hasWholeSegments() ? getSegmentAlignment(align, bytes)
                                    : getStatedAlignment(align, bytes),
      getPolicy());
  access.setStaged(d.getView().staged);
  return access.getValue();
}

/// Whether the vectors of the lanes follow each other, and are for words.
bool Reader::readsWords(const ValueStrides &strides, VectorType type) {
  return read.getInterleave() == 1 && strides.holders == 1 &&
         strides.thread == type.getShape().back() &&
         isForWords(d, at.row, type, align);
}

Value Reader::loadWords(VectorType type, Value start, Value predicate) {
  StringRef name = getEmittedName(read.getLoc());
  int64_t lanes = d.getMap().lanes;
  auto words = cuda::LoadWordsOp::create(
      b, name.empty() ? read.getLoc() : d.getLoc((name + "_words").str()), type,
      base, start, predicate, lanes, getPolicy());
  auto row = cuda::RealignOp::create(b, read.getLoc(), type, words, base, start,
                                     lanes);
  // The other loads do not wait for this one.
  d.deferAfterLoads(row);
  return row.getRow();
}

FailureOr<Value> Reader::buildGather() {
  Value indices = d.getView().indices;
  auto type =
      VectorType::get(cast<VectorType>(indices.getType()).getShape(), element);
  if (read.getValid() || bits != cell || read.getLength() || read.getStride())
    return read.emitOpError() << "cannot be read element by element";
  return cuda::GatherOp::create(b, read.getLoc(), type, base,
                                d.getScalar(read.getOffset()), indices,
                                read.getExtent())
      .getElements();
}

/// The current columns of a row whose length is known at run time only.
FailureOr<Value> Reader::buildColumnsOfBounded(Value start) {
  int64_t vector = d.getMap().vector;
  VectorType type = d.getFragmentType(element, at);
  // A single column may not exist.
  if (vector > 1 && read.getMultiple() % vector == 0)
    return load(type, start, Value(), 0,
                std::gcd(kMaxAccessBytes, vector * bits / 8), Value());
  Value left = arith::SubIOp::create(
      b, d.getLoc(), d.getScalar(read.getLength()), d.getView().column);
  return cuda::LoadPartOp::create(b, read.getLoc(), type, base, start, left)
      .getValue();
}

FailureOr<Value> Reader::buildColumns() {
  if (read.getInterleave() > 1 || read.getStride())
    return read.emitOpError() << "cannot be read column by column: its "
                                 "elements are interleaved, or lie in runs";
  int64_t count = d.getMap().getValuesPerVector(at.group);
  Value start = d.getView().column;
  // One element stands for the whole row.
  bool isWhole = read.getExtent() == 1;
  if (at.group > 1 && !isWhole)
    start = arith::DivSIOp::create(b, d.getLoc(), start, d.constant(at.group));
  if (bits < cell || !isWhole)
    start = scale(start);
  if (isWhole)
    start = d.getScalar(read.getOffset());
  else if (!matchPattern(read.getOffset(), m_Zero()))
    start = arith::AddIOp::create(b, d.getLoc(), d.getScalar(read.getOffset()),
                                  start);
  if (read.getLength())
    return buildColumnsOfBounded(start);
  Value valid = read.getValid() ? d.getScalar(read.getValid()) : Value();
  return load(d.getFragmentType(element, at), start, Value(), 0,
              std::gcd<int64_t>(align, std::max<int64_t>(1, count * bits / 8)),
              valid);
}

FailureOr<ValueStrides> Reader::getStrides() {
  int64_t interleave = read.getInterleave();
  // An element of a row of its own, as of a step, is held by one lane.
  if (at.group == 1 || !d.isOfSteps(at))
    return getScaleStrides(read, d.getMap(), at.group, at.row / at.group,
                           interleave);
  return ValueStrides();
}

Value Reader::getThreadStart(Value start, const ValueStrides &strides) {
  if (isOfSection())
    start = arith::AddIOp::create(b, d.getLoc(), start,
                                  scale(getSectionStart(d, at.group)));
  if (!strides.thread || d.getMap().getThreads() == 1)
    return start;
  Value shift;
  if (strides.holders > 1 || read.getInterleave() > 1) {
    // thread / holders counts scales, not bytes.
    shift = d.laneOffset(1, strides.holders);
    if (toCells(strides.thread) != 1)
      shift = arith::MulIOp::create(b, d.getLoc(), shift,
                                    d.constant(toCells(strides.thread)));
  } else {
    shift = d.laneOffset(toCells(strides.thread), 1);
  }
  return arith::AddIOp::create(b, d.getLoc(), start, shift);
}

Value Reader::getPredicate() {
  Value predicate = read.getValid() ? d.getScalar(read.getValid()) : Value();
  Value holds = d.getReadCondition();
  if (!holds || !predicate)
    return holds ? holds : predicate;
  return arith::AndIOp::create(b, d.getLoc(), holds, predicate);
}

/// A segment that one lane has whole, or all scales of it.
Value Reader::buildSegment() {
  Value predicate = getPredicate();
  Value loaded =
      load(d.getFragmentType(element, at), d.getScalar(read.getOffset()),
           Value(), 0, align, predicate);
  return transpose(b, d.getLoc(), loaded, read.getInterleave());
}

/// Elements that lie in runs, those that a thread has or all of them.
Value Reader::buildRuns() {
  bool hasAll =
      d.getMap().hasWholeSegments() || (at.group != 1 && d.isOfSteps(at));
  ValueStrides strides =
      hasAll ? ValueStrides() : d.getMap().getStrides(at.group);
  Value first = strides.thread && d.getMap().getThreads() > 1
                    ? d.laneOffset(strides.thread, strides.holders)
                    : d.constant(0);
  if (isOfSection())
    first = arith::AddIOp::create(b, d.getLoc(), first,
                                  getSectionStart(d, at.group));
  return cuda::LoadRunsOp::create(
             b, read.getLoc(), d.getFragmentType(element, at), base,
             d.getScalar(read.getOffset()), getPredicate(), first,
             d.getScalar(read.getStride()), strides.step, read.getRun())
      .getValue();
}

FailureOr<Value> Reader::buildRow() {
  if (read.getLength())
    return read.emitOpError() << "cannot be read as a whole row: its length is "
                                 "known at run time only";
  if (d.getView().access.isSection() && read.getInterleave() > 1)
    return read.emitOpError() << "cannot be read section by section: its "
                                 "elements are interleaved";
  if (read.getStride() && d.getView().end)
    return read.emitOpError() << "schedule_rows_c4: cannot be read section by "
                                 "section: its elements lie in runs, and "
                                 "sections do not divide the row";
  if (read.getStride())
    return buildRuns();
  if (d.getMap().hasWholeSegments())
    return buildSegment();
  auto strides = getStrides();
  if (failed(strides))
    return failure();
  Value predicate = getPredicate();
  VectorType type = d.getFragmentType(element, at);
  bool everyLaneHasAll = at.group != 1 && d.isOfSteps(at);
  int64_t readable = std::max<int64_t>(read.getReadable(), read.getExtent());
  // Every lane needs all scales: one contiguous access, with its padding.
  if (isOfSection() && at.group != 1)
    readable = std::max<int64_t>(1, at.row / at.group);
  if (everyLaneHasAll)
    type = VectorType::get({readable}, element);
  Value start = getThreadStart(d.getScalar(read.getOffset()), *strides);
  if (readsWords(*strides, type))
    return loadWords(type, start, predicate);
  Value vectors = everyLaneHasAll ? Value() : d.getVectorCount(at.row);
  if (vectors && predicate)
    vectors = arith::SelectOp::create(
        b, d.getLoc(), std::exchange(predicate, {}), vectors, d.constant(0));
  int64_t aligned = align;
  for (int64_t distance :
       {strides->thread * bits / 8, strides->step * bits / 8})
    aligned = std::gcd(aligned, distance);
  if (isOfSection() && (everyLaneHasAll || d.getView().multiple)) {
    int64_t multiple = d.getView().multiple ? d.getView().multiple : at.row;
    aligned = std::gcd(aligned, std::max<int64_t>(multiple / at.group, 1) *
                                    std::max<int64_t>(bits, 8) / 8);
  }
  bool hasSteps = type.getRank() == 2 && type.getDimSize(0) > 1;
  Value loaded =
      load(type, start, vectors, hasSteps ? toCells(strides->step) : 0, aligned,
           predicate);
  if (everyLaneHasAll && !isOfSection() && readable != read.getExtent())
    loaded = vector::ExtractStridedSliceOp::create(
        b, d.getLoc(), loaded, ArrayRef<int64_t>{0},
        ArrayRef<int64_t>{read.getExtent()}, ArrayRef<int64_t>{1});
  return everyLaneHasAll
             ? transpose(b, d.getLoc(), loaded, read.getInterleave())
             : loaded;
}

namespace {
struct ReadDistribution : DistributionModel<ReadDistribution, row::ReadOp> {
  FailureOr<Value> materialize(Operation *op, Distribution &d, OpResult,
                               Footprint at) const {
    return Reader(cast<row::ReadOp>(op), d, at).build();
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// row.write
//===----------------------------------------------------------------------===//

namespace {
/// Emits the stores of one row.write.
class Writer {
public:
  Writer(row::WriteOp write, Distribution &d)
      : write(write), d(d), b(d.getBuilder()), group(write.getGroup()),
        at{write.getValue().getType().getNumElements() * group, group},
        cell(getCellBits(write.getBase())) {
    if (d.getView().access.isSection())
      at.row = d.getView().extent;
  }

  LogicalResult build();

private:
  void storeRow(Value fragment, Value offset);
  cuda::StorePolicy getPolicy() {
    return d.getSchedule().getRowMapping().store == StorePolicy::Streaming
               ? cuda::StorePolicy::Streaming
               : cuda::StorePolicy::Default;
  }
  /// Values that every lane of the row holds.
  void storeWhole(Value values, Value offset);
  /// Values each of which one lane of several holds.
  LogicalResult storeDealt(Value values, Value offset);
  void storePad(int64_t begin);
  /// Values that are stored in runs, by the first of the threads that have one.
  void storeRuns(Value values, Value offset, bool hasAll);
  void store(Value value, Value offset, Value vectors, int64_t stride,
             int64_t align, cuda::StorePolicy policy) {
    cuda::StoreOp::create(b, write.getLoc(), value, write.getBase(), offset,
                          vectors, stride, align, policy);
  }

  row::WriteOp write;
  Distribution &d;
  OpBuilder &b;
  int64_t group;
  Footprint at;
  int64_t cell;
};
} // namespace

void Writer::storeRow(Value fragment, Value offset) {
  int64_t bits = cast<VectorType>(fragment.getType()).getElementTypeBitWidth();
  if (Value first = d.getView().first)
    offset = arith::AddIOp::create(b, d.getLoc(), offset,
                                   toCells(b, d, first, bits, cell));
  ValueStrides strides = d.getMap().getStrides(/*group=*/1);
  if (d.getMap().getThreads() > 1)
    offset = arith::AddIOp::create(
        b, d.getLoc(), offset,
        d.laneOffset(toCells(strides.thread, bits, cell), 1));
  int64_t bytes =
      cast<VectorType>(fragment.getType()).getShape().back() * bits / 8;
  if (isForWords(d, at.row, cast<VectorType>(fragment.getType()),
                 write.getAlign())) {
    cuda::StoreWordsOp::create(b, write.getLoc(), fragment, write.getBase(),
                               offset, d.getMap().lanes, getPolicy());
    return;
  }
  int64_t align = d.getMap().hasWholeSegments()
                      ? getSegmentAlignment(write.getAlign(), bytes)
                      : getStatedAlignment(
                            std::gcd<int64_t>(write.getAlign(), bytes), bytes);
  bool hasSteps =
      !d.getView().access.isRanks() && d.getMap().getSteps(at.row) > 1;
  store(fragment, offset,
        d.getView().access.isRanks() ? Value() : d.getVectorCount(at.row),
        hasSteps ? toCells(strides.step, bits, cell) : 0, align, getPolicy());
}

void Writer::storeWhole(Value values, Value offset) {
  auto type = cast<VectorType>(values.getType());
  int64_t bytes = type.getElementTypeBitWidth() / 8;
  const bool isSection = d.getView().access.isSection();
  d.onFirstOf(d.getMap().getThreads(), [&] {
    if (int64_t pad = isSection ? 0 : write.getPad()) {
      type = VectorType::get({type.getNumElements() + pad / bytes},
                             type.getElementType());
      values = cuda::PadOp::create(b, write.getLoc(), type, values);
    }
    int64_t size = type.getNumElements() * bytes;
    int64_t natural = std::min(kMaxAccessBytes, size & -size);
    int64_t align = std::gcd<int64_t>(write.getAlign(), natural);
    store(values, offset, Value(), 0, getStatedAlignment(align, size),
          cuda::StorePolicy::Default);
  });
  if (isSection)
    storePad(write.getValue().getType().getNumElements() * bytes);
}

/// Zeros after all values of the row.
void Writer::storePad(int64_t begin) {
  Value offset = d.getScalar(write.getOffset());
  d.onFirstOf(write.getPad() ? d.getMap().getThreads() : 0, [&] {
    Location loc = d.getLoc();
    Value zero = write.getPad()
                     ? Value(arith::ConstantIntOp::create(b, loc, 0, 8))
                     : Value();
    for (int64_t i = 0; i < static_cast<int64_t>(write.getPad()); ++i) {
      Value at = arith::AddIOp::create(b, loc, offset, d.constant(begin + i));
      memref::StoreOp::create(b, loc, zero, write.getBase(), ValueRange{at});
    }
  });
}

LogicalResult Writer::storeDealt(Value values, Value offset) {
  Location loc = d.getLoc();
  auto type = cast<VectorType>(values.getType());
  int64_t bytes = type.getElementTypeBitWidth() / 8, cellBytes = cell / 8;
  int64_t count = write.getValue().getType().getNumElements();
  auto strides =
      getScaleStrides(write, d.getMap(), group, count, write.getInterleave());
  if (failed(strides))
    return failure();
  int64_t cells = strides->thread * bytes / cellBytes;
  Value shift = d.getView().lane;
  if (strides->holders > 1)
    shift = arith::DivUIOp::create(b, loc, shift, d.constant(strides->holders));
  if (cells != 1)
    shift = arith::MulIOp::create(b, loc, shift, d.constant(cells));
  Value start = d.getMap().getThreads() > 1
                    ? Value(arith::AddIOp::create(b, loc, offset, shift))
                    : offset;
  int64_t natural = std::min(kMaxAccessBytes, type.getShape().back() * bytes);
  int64_t align = std::gcd<int64_t>(write.getAlign(), natural);
  align =
      std::gcd(align, std::gcd(strides->thread * bytes, strides->step * bytes));
  d.onFirstOf(strides->holders, [&] {
    store(values, start, d.getVectorCount(at.row),
          type.getDimSize(0) > 1 ? strides->step * bytes / cellBytes : 0,
          align >= natural ? 0 : align, cuda::StorePolicy::Default);
  });
  storePad(count * bytes);
  return success();
}

void Writer::storeRuns(Value values, Value offset, bool hasAll) {
  ValueStrides strides = d.getMap().getStrides(group);
  if (hasAll)
    strides = {0, d.getMap().getThreads(), 0};
  Value stride = d.getScalar(write.getStride());
  // Either several values are of one thread, or several threads have one value.
  Value first = strides.thread && d.getMap().getThreads() > 1
                    ? d.laneOffset(strides.thread, strides.holders)
                    : d.constant(0);
  if (d.getView().first)
    first =
        arith::AddIOp::create(b, d.getLoc(), first, getSectionStart(d, group));
  d.onFirstOf(strides.holders, [&] {
    cuda::StoreRunsOp::create(b, write.getLoc(), values, write.getBase(),
                              offset, first, strides.step, write.getRun(),
                              write.getValue().getType().getNumElements(),
                              write.getPad(), stride);
  });
}

LogicalResult Writer::build() {
  if (d.getView().access.isSection() && write.getInterleave() > 1)
    return write.emitOpError() << "cannot be written section by section: its "
                                  "elements are interleaved";
  if (failed(d.verifyGroup(write, write.getValue(), at)))
    return failure();
  auto fragment = d.get(write.getValue(), at);
  if (failed(fragment))
    return failure();
  Value offset = d.getScalar(write.getOffset());
  if (d.getView().first && group != 1 && !write.getStride())
    offset = arith::AddIOp::create(
        b, d.getLoc(), offset,
        toCells(b, d, getSectionStart(d, group),
                getBits(write.getValue().getType().getElementType()), cell));
  if (d.getView().access.isRanks())
    offset = arith::AddIOp::create(b, d.getLoc("at"), offset, d.getView().lane);
  if (!isa<VectorType>(fragment->getType())) {
    memref::StoreOp::create(b, write.getLoc(), *fragment, write.getBase(),
                            ValueRange{offset});
    return success();
  }
  int64_t interleave = write.getInterleave();
  bool hasAll =
      d.getMap().hasWholeSegments() || (group != 1 && d.isOfSteps(at));
  if (write.getStride()) {
    storeRuns(*fragment, offset, hasAll);
    return success();
  }
  if (hasAll && interleave > 1)
    *fragment =
        transpose(b, d.getLoc(), *fragment,
                  write.getValue().getType().getNumElements() / interleave);
  if (group == 1 && (interleave == 1 || hasAll)) {
    storeRow(*fragment, offset);
    VectorType type = write.getValue().getType();
    storePad(type.getNumElements() * type.getElementTypeBitWidth() / 8);
    return success();
  }
  if (!hasAll)
    return storeDealt(*fragment, offset);
  storeWhole(*fragment, offset);
  return success();
}

namespace {
struct WriteDistribution : DistributionModel<WriteDistribution, row::WriteOp> {
  FailureOr<Value> materialize(Operation *, Distribution &, OpResult,
                               Footprint) const {
    return failure();
  }
  LogicalResult distribute(Operation *op, Distribution &d) const {
    return Writer(cast<row::WriteOp>(op), d).build();
  }
};
} // namespace

void dsv4::attachAccessDistributions(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, row::RowDialect *) {
    row::ReadOp::attachInterface<ReadDistribution>(*context);
    row::WriteOp::attachInterface<WriteDistribution>(*context);
  });
}
