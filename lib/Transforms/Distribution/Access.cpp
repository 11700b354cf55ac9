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

/// `align`, or 0 where the hardware's access to `bytes` needs no more.
int64_t getStatedAlignment(int64_t align, int64_t bytes) {
  int64_t natural = std::min<int64_t>(16, bytes & -bytes);
  return align >= natural ? 0 : align;
}

/// The cells of so many elements of `bits` bits.
Value toCells(OpBuilder &b, Distribution &d, Value elements, int64_t bits,
              int64_t cell) {
  Location loc = d.getLoc();
  if (bits < cell)
    return arith::DivSIOp::create(b, loc, elements, d.constant(cell / bits));
  if (bits > cell)
    return arith::MulIOp::create(b, loc, elements, d.constant(bits / cell));
  return elements;
}

/// Where the lanes of a row find their vectors, in elements of what is stored:
/// the distance of neighbouring lanes is laneStep / laneDivisor, that of
/// neighbouring steps is stride.
struct AccessPattern {
  int64_t laneStep = 0, laneDivisor = 1, stride = 0;
};

//===----------------------------------------------------------------------===//
// row.read
//===----------------------------------------------------------------------===//

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
  FailureOr<AccessPattern> getPattern();
  Value getLaneStart(Value start, const AccessPattern &pattern);
  Value load(VectorType type, Value start, Value vectors, int64_t stride,
             int64_t align, Value predicate);

  int64_t toCells(int64_t elements) const { return elements * bits / cell; }
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
      getStatedAlignment(align, bytes),
      d.getSchedule().getRowMapping().load == LoadPolicy::EvictLast
          ? cuda::LoadPolicy::EvictLast
          : cuda::LoadPolicy::Default);
  access.setStaged(d.isStaged());
  return access.getValue();
}

FailureOr<Value> Reader::buildGather() {
  Value indices = d.getView().indices;
  auto type =
      VectorType::get(cast<VectorType>(indices.getType()).getShape(), element);
  if (read.getValid() || bits != cell || read.getLength())
    return read.emitOpError() << "cannot be read element by element";
  return cuda::GatherOp::create(b, read.getLoc(), type, base,
                                d.getScalar(read.getOffset()), indices,
                                read.getExtent())
      .getElements();
}

/// Of a row whose length is known at run time only the columns at hand.
FailureOr<Value> Reader::buildColumnsOfBounded(Value start) {
  int64_t vector = d.getView().vector;
  VectorType type = d.getFragmentType(element, at);
  // Of a single one it is not known that there is one.
  if (vector > 1 && read.getMultiple() % vector == 0)
    return load(type, start, Value(), 0,
                std::gcd<int64_t>(16, vector * bits / 8), Value());
  Value left = arith::SubIOp::create(
      b, d.getLoc(), d.getScalar(read.getLength()), d.getView().column);
  return cuda::LoadPartOp::create(b, read.getLoc(), type, base, start, left)
      .getValue();
}

FailureOr<Value> Reader::buildColumns() {
  if (read.getInterleave() > 1)
    return read.emitOpError() << "cannot be read column by column: its "
                                 "elements are interleaved";
  int64_t count = std::max<int64_t>(1, d.getView().vector / at.group);
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

FailureOr<AccessPattern> Reader::getPattern() {
  int64_t vector = d.getView().vector, interleave = read.getInterleave();
  AccessPattern pattern;
  if (at.group == 1) {
    pattern.laneStep = vector;
    pattern.stride = d.getStep();
  } else if (!d.isOfSteps(at)) {
    pattern.laneStep = vector >= at.group ? vector / at.group : 1;
    pattern.laneDivisor = vector >= at.group ? 1 : at.group / vector;
    pattern.stride = d.getStep() / at.group;
  } else if (interleave > 1) {
    return read->emitOpError()
           << "schedule_rows_c3: interleaved scales need more than one a step";
  }
  if (interleave == 1 || d.isOfSteps(at))
    return pattern;
  // Scale i is stored at (i mod a) * (n / a) + i / a; a step is a multiple of a
  // scales, so steps follow each other and lanes are n / a apart.
  if (pattern.stride != interleave || pattern.laneStep != 1)
    return read->emitOpError()
           << "schedule_rows_c3: interleaved scales need a step of "
           << interleave << " scales, got " << pattern.stride;
  pattern.laneStep = at.row / at.group / interleave;
  pattern.stride = 1;
  return pattern;
}

Value Reader::getLaneStart(Value start, const AccessPattern &pattern) {
  if (Value first = d.getView().first)
    start = arith::AddIOp::create(b, d.getLoc(), start, scale(first));
  if (!pattern.laneStep || d.getView().lanes == 1)
    return start;
  Value shift;
  if (pattern.laneDivisor > 1 || read.getInterleave() > 1) {
    // lane / divisor counts scales, not bytes.
    shift = d.laneOffset(1, pattern.laneDivisor);
    if (toCells(pattern.laneStep) != 1)
      shift = arith::MulIOp::create(b, d.getLoc(), shift,
                                    d.constant(toCells(pattern.laneStep)));
  } else {
    shift = d.laneOffset(toCells(pattern.laneStep), 1);
  }
  return arith::AddIOp::create(b, d.getLoc(), start, shift);
}

FailureOr<Value> Reader::buildRow() {
  if (read.getLength())
    return read.emitOpError() << "cannot be read as a whole row: its length is "
                                 "known at run time only";
  if (d.getView().access.isSection() && at.group != 1)
    return read.emitOpError() << "cannot be read section by section: one "
                                 "element of it stands for several of the row";
  auto pattern = getPattern();
  if (failed(pattern))
    return failure();
  Value predicate = read.getValid() ? d.getScalar(read.getValid()) : Value();
  if (Value holds = d.getReadCondition())
    predicate = predicate
                    ? arith::AndIOp::create(b, d.getLoc(), holds, predicate)
                    : holds;
  VectorType type = d.getFragmentType(element, at);
  bool everyLaneHasAll = at.group != 1 && d.isOfSteps(at);
  int64_t readable = std::max<int64_t>(read.getReadable(), read.getExtent());
  // Every lane needs all scales: one contiguous access, with its padding.
  if (everyLaneHasAll)
    type = VectorType::get({readable}, element);
  Value start = getLaneStart(d.getScalar(read.getOffset()), *pattern);
  Value vectors = at.group == 1 ? d.getVectorCount(at.row) : Value();
  if (vectors && predicate)
    vectors = arith::SelectOp::create(
        b, d.getLoc(), std::exchange(predicate, {}), vectors, d.constant(0));
  int64_t aligned = align;
  for (int64_t distance :
       {pattern->laneStep * bits / 8, pattern->stride * bits / 8})
    aligned = std::gcd(aligned, distance);
  bool hasSteps = type.getRank() == 2 && type.getDimSize(0) > 1;
  Value loaded =
      load(type, start, vectors, hasSteps ? toCells(pattern->stride) : 0,
           aligned, predicate);
  if (!everyLaneHasAll || readable == read.getExtent())
    return loaded;
  return vector::ExtractStridedSliceOp::create(
             b, d.getLoc(), loaded, ArrayRef<int64_t>{0},
             ArrayRef<int64_t>{read.getExtent()}, ArrayRef<int64_t>{1})
      .getResult();
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
  /// Values that every lane of the row holds.
  void storeWhole(Value values, Value offset);
  /// Values that one of so many lanes holds.
  LogicalResult storeDealt(Value values, Value offset);
  void storePad(Value offset, int64_t begin);
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
  int64_t vector = d.getView().vector;
  auto toCells = [&](int64_t elements) { return elements * bits / cell; };
  if (d.getView().lanes > 1)
    offset = arith::AddIOp::create(b, d.getLoc(), offset,
                                   d.laneOffset(toCells(vector), 1));
  int64_t bytes = vector * bits / 8;
  int64_t align = std::gcd<int64_t>(write.getAlign(), bytes);
  bool hasSteps = !d.getView().access.isRanks() && d.getSteps(at.row) > 1;
  store(fragment, offset,
        d.getView().access.isRanks() ? Value() : d.getVectorCount(at.row),
        hasSteps ? toCells(d.getStep()) : 0, getStatedAlignment(align, bytes),
        d.getSchedule().getRowMapping().store == StorePolicy::Streaming
            ? cuda::StorePolicy::Streaming
            : cuda::StorePolicy::Default);
}

void Writer::storeWhole(Value values, Value offset) {
  auto type = cast<VectorType>(values.getType());
  int64_t bytes = type.getElementTypeBitWidth() / 8;
  d.onFirstOf(d.getView().lanes, [&] {
    if (int64_t pad = write.getPad()) {
      type = VectorType::get({type.getNumElements() + pad / bytes},
                             type.getElementType());
      values = cuda::PadOp::create(b, write.getLoc(), type, values);
    }
    int64_t size = type.getNumElements() * bytes;
    int64_t natural = std::min<int64_t>(16, size & -size);
    int64_t align = std::gcd<int64_t>(write.getAlign(), natural);
    store(values, offset, Value(), 0, align >= natural ? 0 : align,
          cuda::StorePolicy::Default);
  });
}

void Writer::storePad(Value offset, int64_t begin) {
  d.onFirstOf(write.getPad() ? d.getView().lanes : 0, [&] {
    Location loc = d.getLoc();
    Value zero = write.getPad()
                     ? Value(arith::ConstantIntOp::create(b, loc, 0, 8))
                     : Value();
    for (int64_t i = 0; i < static_cast<int64_t>(write.getPad()); ++i) {
      Value place =
          arith::AddIOp::create(b, loc, offset, d.constant(begin + i));
      memref::StoreOp::create(b, loc, zero, write.getBase(), ValueRange{place});
    }
  });
}

LogicalResult Writer::storeDealt(Value values, Value offset) {
  Location loc = d.getLoc();
  auto type = cast<VectorType>(values.getType());
  int64_t bytes = type.getElementTypeBitWidth() / 8, cellBytes = cell / 8;
  int64_t interleave = write.getInterleave(), vector = d.getView().vector;
  int64_t holders = std::max<int64_t>(1, group / vector);
  int64_t perLane = type.getShape().back(), apart = perLane;
  int64_t stride = d.getStep() / group;
  int64_t count = write.getValue().getType().getNumElements();
  if (interleave > 1) {
    if (stride != interleave || perLane != 1)
      return write.emitOpError()
             << "schedule_rows_c3: interleaved scales need a step of "
             << interleave << " scales, got " << stride;
    apart = count / interleave;
    stride = 1;
  }
  Value shift = d.getView().lane;
  if (holders > 1)
    shift = arith::DivUIOp::create(b, loc, shift, d.constant(holders));
  if (apart * bytes / cellBytes != 1)
    shift = arith::MulIOp::create(b, loc, shift,
                                  d.constant(apart * bytes / cellBytes));
  Value start = d.getView().lanes > 1
                    ? Value(arith::AddIOp::create(b, loc, offset, shift))
                    : offset;
  int64_t natural = std::min<int64_t>(16, perLane * bytes);
  int64_t align = std::gcd<int64_t>(write.getAlign(), natural);
  align = std::gcd(align, std::gcd(apart * bytes, stride * bytes));
  d.onFirstOf(holders, [&] {
    store(values, start, Value(),
          type.getDimSize(0) > 1 ? stride * bytes / cellBytes : 0,
          align >= natural ? 0 : align, cuda::StorePolicy::Default);
  });
  storePad(offset, count * bytes);
  return success();
}

LogicalResult Writer::build() {
  if (d.getView().access.isSection() && group != 1)
    return write.emitOpError() << "cannot be written section by section: one "
                                  "element of it stands for several of the row";
  auto fragment = d.get(write.getValue(), at);
  if (failed(fragment))
    return failure();
  Value offset = d.getScalar(write.getOffset());
  if (d.getView().access.isRanks())
    offset = arith::AddIOp::create(b, d.getLoc("at"), offset, d.getView().lane);
  if (!isa<VectorType>(fragment->getType())) {
    memref::StoreOp::create(b, write.getLoc(), *fragment, write.getBase(),
                            ValueRange{offset});
    return success();
  }
  if (group == 1) {
    storeRow(*fragment, offset);
    return success();
  }
  if (!d.isOfSteps(at))
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

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

struct BytesDistribution : DistributionModel<BytesDistribution, row::BytesOp> {
  FailureOr<Value> materialize(Operation *op, Distribution &d, OpResult,
                               Footprint) const {
    auto bytes = cast<row::BytesOp>(op);
    return cuda::BytesOp::create(d.getBuilder(), op->getLoc(),
                                 bytes.getMemory().getType(),
                                 d.getScalar(bytes.getBase()))
        .getMemory();
  }
};

struct MayWriteDistribution
    : DistributionModel<MayWriteDistribution, row::MayWriteOp> {
  FailureOr<Value> materialize(Operation *op, Distribution &d, OpResult,
                               Footprint) const {
    auto may = cast<row::MayWriteOp>(op);
    return cuda::InPoolOp::create(
               d.getBuilder(), op->getLoc(), may.getValid().getType(),
               d.getScalar(may.getCondition()), d.getScalar(may.getPage()),
               d.getScalar(may.getPages()))
        .getValid();
  }
};

struct IsLastDistribution
    : DistributionModel<IsLastDistribution, row::IsLastOp> {
  FailureOr<Value> materialize(Operation *op, Distribution &d, OpResult,
                               Footprint) const {
    auto last = cast<row::IsLastOp>(op);
    OpBuilder &b = d.getBuilder();
    // Threads that work on a row together may hold none of their own.
    bool together = d.getMaxRows() > limits::kMaxAloneElements &&
                    !getCooperativeWork(op->getParentOfType<KernelOp>());
    return cuda::IsLastOp::create(
               b, op->getLoc(), last.getLast().getType(),
               d.lookup(last.getBase()), d.getScalar(last.getAt()),
               d.getScalar(last.getCount()), d.getView().lanes,
               together ? d.getSchedule().getThreads() : 0,
               together ? limits::kMaxAloneElements : 0)
        .getLast();
  }
};
} // namespace

void dsv4::attachAccessDistributions(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, row::RowDialect *) {
    row::ReadOp::attachInterface<ReadDistribution>(*context);
    row::WriteOp::attachInterface<WriteDistribution>(*context);
    row::BytesOp::attachInterface<BytesDistribution>(*context);
    row::MayWriteOp::attachInterface<MayWriteDistribution>(*context);
    row::IsLastOp::attachInterface<IsLastDistribution>(*context);
  });
}
