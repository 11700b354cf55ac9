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

#include <algorithm>

using namespace mlir;
using namespace dsv4;
using row::Footprint;
using row::Scope;

/// From so many windows per block on they are a grid apart: dsv4::pool, the
/// pool_many_rows of which this is, goes through them so.
static constexpr int64_t kManyRows = 4;

/// The most groups of four rows of a segment that are in flight at a time.
static constexpr int64_t kMaxGroups = 12;

namespace {

int64_t getExtent(Value row) {
  return cast<VectorType>(row.getType()).getNumElements();
}

/// Emits a window reduction for the threads of a block.
class WindowBuilder {
public:
  WindowBuilder(Operation *op, Distribution &d)
      : d(d), b(d.getBuilder()), schedule(d.getSchedule()),
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
  int64_t countGroups(row::WindowReduceOnlineOp op);
  int64_t countStagedGroups(row::WindowReduceOnlineOp op);

  Distribution &d;
  OpBuilder &b;
  RowScheduleAttr schedule;
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
  return OperationName(isRow ? cuda::PoolRowOp::getOperationName()
                             : cuda::PoolYieldOp::getOperationName(),
                       end->getContext());
}

LogicalResult WindowBuilder::emitRegion(Distribution &body, Region &from,
                                        Region &to) {
  Block *source = &from.front(), *block = &to.emplaceBlock();
  View view;
  view.vector = schedule.getTeam();
  view.lanes = channels / view.vector /
               TeamWork{1, channels}.getSteps(
                   schedule.getThreads() * schedule.getCluster(), view.vector);
  // Indices come first, then the lane, then rows.
  auto isIndex = [](BlockArgument arg) { return arg.getType().isIndex(); };
  SmallVector<std::pair<BlockArgument, BlockArgument>> indices;
  for (BlockArgument arg : llvm::make_filter_range(from.getArguments(), isIndex))
    indices.push_back({arg, block->addArgument(arg.getType(), arg.getLoc())});
  view.lane = block->addArgument(b.getIndexType(), d.getLoc("team_lane"));
  Distribution lane = body.enter(block, view);
  for (auto [arg, here] : indices)
    lane.map(arg, here);
  Footprint at{channels, 1};
  for (BlockArgument arg : from.getArguments())
    if (auto row = dyn_cast<VectorType>(arg.getType()))
      lane.set(arg, at,
               block->addArgument(
                   lane.getFragmentType(row.getElementType(), at),
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
  auto call = cuda::PoolOp::create(
      b, op.getLoc(), getResultType(), d.getFirstRow(), d.getRowCount(),
      op.getMembers(), schedule.getRowsPerBlock(), schedule.getThreads(),
      d.getView().lanes, schedule.getCluster());
  Distribution body = enterBody(op.getBody(), call.getBody(), "entry");
  if (failed(body.cloneScalars(&op.getBody().front())))
    return failure();
  row::WindowOp window = op.getWindow();
  auto own = cuda::PoolWindowOp::create(body.getBuilder(), window.getLoc(),
                                        body.lookup(window.getAll()));
  if (failed(emitRegion(body, window.getScores(), own.getScores())) ||
      failed(emitRegion(body, window.getValues(), own.getValues())) ||
      failed(emitRegion(body, window.getAny(), own.getAny())) ||
      (!op.getOffsets().empty() &&
       failed(emitRegion(body, op.getOffsets(), call.getOffsets()))))
    return failure();
  d.set(op.getReduced(), {channels, 1}, call.getPooled());
  return success();
}

//===----------------------------------------------------------------------===//
// Segments
//===----------------------------------------------------------------------===//

/// How many groups of four rows of a segment a lane loads before it uses the
/// first: as many as there are registers for, beside those for the sums,
/// addresses and the arithmetic of a row. More than some do not hide more.
int64_t WindowBuilder::countGroups(row::WindowReduceOnlineOp op) {
  constexpr int64_t kRegisters = 65536, kOtherRegisters = 52;
  auto loaded = op.getSegment()
                    .getMember()
                    .front()
                    .getTerminator()
                    ->getOperandTypes();
  int64_t threads = schedule.getThreads(), vector = schedule.getTeam();
  int64_t held = vector * TeamWork{1, channels}.getSteps(
                              threads * schedule.getCluster(), vector);
  int64_t words = 0;
  for (Type type : loaded)
    words += llvm::divideCeil(
        held * cast<VectorType>(type).getElementTypeBitWidth(), 32);
  // Where the schedule does not say, as many threads as others are made for.
  int64_t resident = schedule.getBlocks() ? schedule.getBlocks() * threads
                                          : std::max<int64_t>(threads, 512);
  int64_t left =
      std::min<int64_t>(kRegisters / resident, 255) - kOtherRegisters;
  constexpr int64_t kRows = cuda::PoolOnlineOp::kGroupRows;
  int64_t max = std::clamp<int64_t>(
      static_cast<int64_t>(op.getMembers()) / kRows, 1, kMaxGroups);
  return std::clamp<int64_t>(left / (kRows * words), 1, max);
}

/// How many groups the threads of a block have in shared memory, 0 where rows
/// cannot go through it or none would be in flight. With 72 KiB of them in
/// flight memory is busy, and two blocks have room. Some architectures give a
/// block no more than 99 KiB, of which the reduced rows are a part.
int64_t WindowBuilder::countStagedGroups(row::WindowReduceOnlineOp op) {
  constexpr int64_t kWanted = 72 << 10, kMax = 96 << 10;
  auto rows =
      op.getSegment().getMember().front().getTerminator()->getOperands();
  int64_t threads = schedule.getThreads(), vector = schedule.getTeam(),
          cluster = schedule.getCluster();
  // Lanes of a warp have a part of one row each, side by side.
  auto isAligned = [](Value value) {
    auto read = value.getDefiningOp<row::ReadOp>();
    return read && read.getAlign() % 16 == 0 &&
           cast<MemRefType>(read.getBase().getType()).getElementType() ==
               read.getValue().getType().getElementType();
  };
  if (channels % (32 * vector * cluster) != 0 ||
      TeamWork{1, channels}.getSteps(threads * cluster, vector) != 1 ||
      schedule.getLoad() != LoadPolicy::Default ||
      !llvm::all_of(rows, isAligned))
    return 0;
  int64_t bits = 0;
  for (Type type : rows.getTypes())
    bits += vector * cast<VectorType>(type).getElementTypeBitWidth();
  int64_t reduced = schedule.getRowsPerBlock() * 4 * channels;
  int64_t blocks = std::max<int64_t>(schedule.getBlocks(), 1);
  int64_t bytes = std::min({kWanted, 2 * kWanted / blocks, kMax - reduced});
  int64_t groups = std::min(
      {bytes / cuda::PoolOnlineOp::getGroupBytes(threads, bits),
       static_cast<int64_t>(op.getMembers()) / cuda::PoolOnlineOp::kGroupRows,
       kMaxGroups});
  return groups > 1 ? groups : 0;
}

LogicalResult WindowBuilder::build(row::WindowReduceOnlineOp op) {
  int64_t staged = countStagedGroups(op);
  auto call = cuda::PoolOnlineOp::create(
      b, op.getLoc(), getResultType(), d.getFirstRow(), d.getRowCount(),
      op.getMembers(), schedule.getRowsPerBlock(), schedule.getThreads(),
      d.getView().lanes, schedule.getCluster(),
      staged ? staged : countGroups(op));
  Distribution body = enterBody(op.getBody(), call.getBody(), "piece");
  if (failed(body.cloneScalars(&op.getBody().front())))
    return failure();
  row::WindowSegmentOp segment = op.getSegment();
  auto own = cuda::PoolPieceOp::create(
      body.getBuilder(), segment.getLoc(), body.lookup(segment.getCount()),
      body.lookup(segment.getKnown()), body.lookup(segment.getKept()),
      body.lookup(segment.getEnds()));
  for (auto [from, to] :
       llvm::zip_equal(segment->getRegions(), own->getRegions())) {
    body.setStaged(staged && &from == &segment.getMember());
    if (failed(emitRegion(body, from, to)))
      return failure();
  }
  d.set(op.getReduced(), {channels, 1}, call.getPooled());
  return success();
}

namespace {

template <typename Op>
struct WindowDistribution : DistributionModel<WindowDistribution<Op>, Op> {
  Scope getScope(Operation *, RowScheduleAttr) const { return Scope::Block; }
  FailureOr<Value> materialize(Operation *op, Distribution &, OpResult,
                               Footprint) const {
    return op->emitOpError() << "is reduced before its row is used";
  }
  LogicalResult distribute(Operation *op, Distribution &d) const {
    auto window = cast<Op>(op);
    auto emit = [&] { return WindowBuilder(op, d).build(window); };
    Distribution::Cooperation with;
    with.plan = &window.getBody().front();
    // Segments of a window are read once, whatever block has them.
    with.rowsApart = std::is_same_v<Op, row::WindowReduceOp> &&
                     d.getSchedule().getRowsPerBlock() >= kManyRows;
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
