//===- Window.cpp - Windows of rows to the threads of a block -------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All threads of a block read the rows of a window together; lanes of some of
// them have the row that becomes of it. Segments of windows are prefetched as
// deep as memory needs to be busy: to shared memory, or, where lanes of a warp
// do not have their channels side by side, to registers.
//
//===----------------------------------------------------------------------===//

#include "Models.h"

#include "dsv4/Dialect/CUDA/WindowOps.h"
#include "dsv4/Dialect/Row/WindowOps.h"
#include "dsv4/Schedule/Window.h"

using namespace mlir;
using namespace dsv4;
using row::Footprint;
using row::Scope;

namespace {

/// Emits a window reduction for the threads of a block.
class WindowBuilder {
public:
  WindowBuilder(Operation *op, Distribution &d)
      : d(d), b(d.getBuilder()), schedule(d.getSchedule()),
        window(schedule.getPart<WindowAttr>()),
        channels(getExtent(op->getResult(0))) {}

  LogicalResult build(row::WindowReduceOp op);
  LogicalResult build(row::WindowReduceOnlineOp op);

private:
  /// The distribution of the body of a device call, for one of its rows.
  Distribution enterBody(Region &from, Region &to, StringRef name);
  /// What one of the block's lanes does: its fragment of rows that the region
  /// is given, reads, writes and ends in. The device call gives it its lane,
  /// after the indices of the region.
  LogicalResult emitRegion(Distribution &body, Region &from, Region &to);
  Type getResultType();

  Distribution &d;
  OpBuilder &b;
  ScheduleAttr schedule;
  WindowAttr window;
  int64_t channels;
};

} // namespace

Type WindowBuilder::getResultType() {
  return d.getFragmentType(b.getF32Type(), {channels, 1});
}

Distribution WindowBuilder::enterBody(Region &from, Region &to,
                                      StringRef name) {
  Block *body = &to.emplaceBlock();
  Value row = body->addArgument(b.getIndexType(), d.getLoc(name));
  Distribution inner = d.enter(body, d.getView());
  inner.forAllThreads();
  inner.map(d.getRowIndex(), row);
  return inner;
}

/// The terminator of the device call's region that `end` stands for.
static OperationName getYield(Operation *end) {
  bool isRow = isa<row::WindowRowOp>(end);
  return OperationName(isRow ? cuda::WindowRowOp::getOperationName()
                             : cuda::WindowYieldOp::getOperationName(),
                       end->getContext());
}

LogicalResult WindowBuilder::emitRegion(Distribution &body, Region &from,
                                        Region &to) {
  Block *source = &from.front(), *block = &to.emplaceBlock();
  View view;
  view.vector = window.getElements();
  view.lanes = channels / view.vector /
               window.getVectorsPerThread(channels, schedule.getThreads() *
                                                        schedule.getCluster());
  // Indices come first, then the lane, then rows.
  auto isIndex = [](BlockArgument arg) { return arg.getType().isIndex(); };
  SmallVector<std::pair<BlockArgument, BlockArgument>> indices;
  for (BlockArgument arg :
       llvm::make_filter_range(from.getArguments(), isIndex))
    indices.push_back({arg, block->addArgument(arg.getType(), arg.getLoc())});
  view.lane = block->addArgument(b.getIndexType(), d.getLoc("block_lane"));
  Distribution lane = body.enter(block, view);
  for (auto [arg, here] : indices)
    lane.map(arg, here);
  Footprint at{channels, 1};
  for (BlockArgument arg : from.getArguments())
    if (auto row = dyn_cast<VectorType>(arg.getType()))
      lane.set(
          arg, at,
          block->addArgument(lane.getFragmentType(row.getElementType(), at),
                             arg.getLoc()));
  if (failed(lane.cloneScalars(source)))
    return failure();
  Operation *end = source->getTerminator();
  for (Value value : end->getOperands())
    if (isa<VectorType>(value.getType()) && failed(lane.placeLoads(value, at)))
      return failure();
  SmallVector<Value> given;
  for (Value value : end->getOperands()) {
    FailureOr<Value> here = lane.lookup(value);
    if (isa<VectorType>(value.getType()))
      here = lane.get(value, at);
    if (failed(here))
      return failure();
    given.push_back(*here);
  }
  if (failed(lane.emitStores(source)))
    return failure();
  lane.getBuilder().create(d.getLoc(), getYield(end).getIdentifier(), given);
  return success();
}

LogicalResult WindowBuilder::build(row::WindowReduceOp op) {
  auto call = cuda::WindowReduceOp::create(
      b, op.getLoc(), getResultType(), d.getFirstRow(), d.getRowCount(),
      op.getMembers(), schedule.getRowsPerBlock(), schedule.getThreads(),
      d.getView().lanes, schedule.getCluster());
  Distribution body = enterBody(op.getBody(), call.getBody(), "entry");
  if (failed(body.cloneScalars(&op.getBody().front())))
    return failure();
  row::WindowOp window = op.getWindow();
  auto own = cuda::WindowOp::create(body.getBuilder(), window.getLoc(),
                                    body.lookup(window.getAll()));
  if (failed(emitRegion(body, window.getScores(), own.getScores())) ||
      failed(emitRegion(body, window.getValues(), own.getValues())) ||
      failed(emitRegion(body, window.getAny(), own.getAny())) ||
      (!op.getOffsets().empty() &&
       failed(emitRegion(body, op.getOffsets(), call.getOffsets()))))
    return failure();
  d.set(op.getReduced(), {channels, 1}, call.getReduced());
  return success();
}

//===----------------------------------------------------------------------===//
// Segments
//===----------------------------------------------------------------------===//

static Segment describeSegment(row::WindowReduceOnlineOp op, int64_t channels) {
  auto rows =
      op.getSegment().getMember().front().getTerminator()->getOperands();
  auto isAligned = [](Value value) {
    auto read = value.getDefiningOp<row::ReadOp>();
    return read && read.getAlign() % 16 == 0 &&
           cast<MemRefType>(read.getBase().getType()).getElementType() ==
               read.getValue().getType().getElementType();
  };
  Segment segment{static_cast<int64_t>(op.getMembers()),
                  channels,
                  {},
                  llvm::all_of(rows, isAligned)};
  for (Type type : rows.getTypes())
    segment.bits.push_back(cast<VectorType>(type).getElementTypeBitWidth());
  return segment;
}

LogicalResult WindowBuilder::build(row::WindowReduceOnlineOp op) {
  Prefetch prefetch = getPrefetch(schedule, describeSegment(op, channels));
  auto call = cuda::WindowReduceOnlineOp::create(
      b, op.getLoc(), getResultType(), d.getFirstRow(), d.getRowCount(),
      op.getMembers(), schedule.getRowsPerBlock(), schedule.getThreads(),
      d.getView().lanes, schedule.getCluster(), prefetch.groups);
  Distribution body = enterBody(op.getBody(), call.getBody(), "segment");
  if (failed(body.cloneScalars(&op.getBody().front())))
    return failure();
  row::WindowSegmentOp segment = op.getSegment();
  auto own = cuda::WindowSegmentOp::create(
      body.getBuilder(), segment.getLoc(), body.lookup(segment.getCount()),
      body.lookup(segment.getKnown()), body.lookup(segment.getKept()),
      body.lookup(segment.getEnds()));
  for (auto [from, to] :
       llvm::zip_equal(segment->getRegions(), own->getRegions())) {
    body.setStaged(prefetch.isStaged && &from == &segment.getMember());
    if (failed(emitRegion(body, from, to)))
      return failure();
  }
  d.set(op.getReduced(), {channels, 1}, call.getReduced());
  return success();
}

namespace {

template <typename Op>
struct WindowDistribution : DistributionModel<WindowDistribution<Op>, Op> {
  Scope getScope(Operation *, ScheduleAttr) const { return Scope::Block; }
  FailureOr<Value> materialize(Operation *op, Distribution &, OpResult,
                               Footprint) const {
    return op->emitOpError() << "is reduced before its row is used";
  }
  LogicalResult distribute(Operation *op, Distribution &d) const {
    auto window = cast<Op>(op);
    auto part = d.getSchedule().getPart<WindowAttr>();
    if (!part)
      return op->emitOpError()
             << "schedule_c5: needs a part #dsv4.window<...>, "
                "which the schedule does not have";
    int64_t channels =
        cast<VectorType>(op->getResult(0).getType()).getNumElements();
    if (channels % part.getElements() != 0)
      return op->emitOpError()
             << "schedule_window_c1: a row of " << channels
             << " elements is not made of vectors of " << part.getElements();
    auto emit = [&] { return WindowBuilder(op, d).build(window); };
    Distribution::Cooperation with;
    with.plan = &window.getBody().front();
    // Segments of a window are read once, whatever block has them.
    with.rowsApart =
        std::is_same_v<Op, row::WindowReduceOp> && part.takesRowsApart();
    with.emit = emit;
    return d.distributeRows(&with);
  }
};

} // namespace

void dsv4::attachWindowDistributions(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, row::RowDialect *) {
    row::WindowReduceOp::attachInterface<
        WindowDistribution<row::WindowReduceOp>>(*context);
    row::WindowReduceOnlineOp::attachInterface<
        WindowDistribution<row::WindowReduceOnlineOp>>(*context);
  });
}
