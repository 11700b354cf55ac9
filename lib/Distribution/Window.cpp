//===- Window.cpp - Windows of rows to the threads of a block -------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All threads of a block read the rows of a window together; the lanes of some
// of them then hold the reduced row. Segments of windows are prefetched deep
// enough to keep memory busy: to shared memory or, if the lanes of a warp do
// not have neighbouring channels, to registers.
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

  /// Emits the reduction and the row program that it is part of.
  template <typename Op>
  LogicalResult distribute(Op op);

private:
  LogicalResult build(row::WindowReduceOp op);
  LogicalResult build(row::WindowReduceOnlineOp op);
  /// Brings the first load of `plan` near, which says where operands of a row
  /// are.
  void prefetchPlan(Block &plan, bool l2);
  /// Emits what all threads need of the plan of the one row of a block.
  LogicalResult placePlan(Block &plan);
  /// The distribution of the body of a device call, for one of its rows.
  Distribution enterBody(Region &from, Region &to, StringRef name);
  /// What one of the block's lanes does: its fragment of rows that the region
  /// is given, reads, writes and ends in. The device call gives it its lane,
  /// after the indices of the region, and then `addresses`, which are scalars
  /// of the region.
  LogicalResult emitRegion(Distribution &body, Region &from, Region &to,
                           bool staged = false, ArrayRef<Value> addresses = {});
  /// What finds the rows that `from` reads, for all lanes: `addresses`.
  LogicalResult emitAddress(Distribution &body, Region &from, Region &to,
                            ArrayRef<Value> addresses);
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

/// The memory that loads of a region take, where the region finds it, and the
/// conditions that depend on other loads. What else they take is arithmetic on
/// numbers of the launch.
static SmallVector<Value> findAddresses(Region &from) {
  SetVector<Value> memory, conditions;
  for (Operation &op : from.front()) {
    bool ofRows = llvm::any_of(op.getResultTypes(), llvm::IsaPred<VectorType>);
    if (!ofRows && !op.hasTrait<OpTrait::IsTerminator>())
      continue;
    for (Value value : op.getOperands()) {
      if (value.getParentRegion() != &from)
        continue;
      if (isa<MemRefType>(value.getType()))
        memory.insert(value);
      else if (value.getType().isInteger(1) && dependsOnMemory(value))
        conditions.insert(value);
    }
  }
  // Small ones last, so that they share a word.
  memory.insert_range(conditions);
  return memory.takeVector();
}

/// Erases the scalars that nothing takes.
static void eraseDead(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&op))
      op.erase();
}

LogicalResult WindowBuilder::emitAddress(Distribution &body, Region &from,
                                         Region &to,
                                         ArrayRef<Value> addresses) {
  Block *source = &from.front(), *block = &to.emplaceBlock();
  Distribution address = body.enter(block, d.getView());
  for (BlockArgument arg : from.getArguments())
    address.map(arg, block->addArgument(arg.getType(), arg.getLoc()));
  if (failed(address.cloneScalars(source)))
    return failure();
  SmallVector<Value> found;
  for (Value value : addresses)
    found.push_back(address.lookup(value));
  cuda::WindowAddressOp::create(address.getBuilder(), d.getLoc(), found);
  eraseDead(*block);
  return success();
}

LogicalResult WindowBuilder::emitRegion(Distribution &body, Region &from,
                                        Region &to, bool staged,
                                        ArrayRef<Value> addresses) {
  Block *source = &from.front(), *block = &to.emplaceBlock();
  View view;
  view.staged = staged;
  int64_t steps = window.getVectorsPerThread(
      channels, schedule.getThreads() * schedule.getCluster());
  view.map = ElementMap::ofThreads(channels / window.getElements() / steps,
                                   window.getElements(), schedule.getCluster());
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
  for (Value value : addresses)
    lane.map(value, block->addArgument(value.getType(), value.getLoc()));
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
  if (!addresses.empty())
    eraseDead(*block);
  return success();
}

LogicalResult WindowBuilder::build(row::WindowReduceOp op) {
  auto call = cuda::WindowReduceOp::create(
      b, op.getLoc(), getResultType(), d.getFirstRow(), d.getRowCount(),
      op.getMembers(), schedule.getRowsPerBlock(), schedule.getThreads(),
      d.getMap().lanes, schedule.getCluster());
  Distribution body = enterBody(op.getBody(), call.getBody(), "entry");
  if (failed(body.cloneScalars(&op.getBody().front())))
    return failure();
  row::WindowOp window = op.getWindow();
  auto own = cuda::WindowOp::create(body.getBuilder(), window.getLoc(),
                                    body.lookup(window.getAll()));
  SmallVector<Value> addresses = findAddresses(window.getAny());
  if (failed(emitRegion(body, window.getScores(), own.getScores())) ||
      failed(emitRegion(body, window.getValues(), own.getValues())) ||
      (!addresses.empty() &&
       failed(
           emitAddress(body, window.getAny(), own.getAddress(), addresses))) ||
      failed(emitRegion(body, window.getAny(), own.getAny(),
                        /*staged=*/false, addresses)) ||
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
      d.getMap().lanes, schedule.getCluster(), prefetch.groups);
  Distribution body = enterBody(op.getBody(), call.getBody(), "segment");
  if (failed(body.cloneScalars(&op.getBody().front())))
    return failure();
  row::WindowSegmentOp segment = op.getSegment();
  auto own = cuda::WindowSegmentOp::create(
      body.getBuilder(), segment.getLoc(), body.lookup(segment.getCount()),
      body.lookup(segment.getKnown()), body.lookup(segment.getKept()),
      body.lookup(segment.getEnds()));
  for (auto [from, to] :
       llvm::zip_equal(segment->getRegions(), own->getRegions()))
    if (failed(emitRegion(body, from, to,
                          prefetch.isStaged && &from == &segment.getMember())))
      return failure();
  d.set(op.getReduced(), {channels, 1}, call.getReduced());
  return success();
}

//===----------------------------------------------------------------------===//
// The row program around a reduction
//===----------------------------------------------------------------------===//

void WindowBuilder::prefetchPlan(Block &plan, bool l2) {
  auto first = llvm::find_if(plan, llvm::IsaPred<memref::LoadOp>);
  if (first == plan.end())
    return;
  // Nothing is read ahead of the wait, not even for an address.
  auto address = llvm::make_range(plan.begin(), first);
  auto reads = [](Operation &op) {
    return llvm::any_of(op.getOperands(), dependsOnMemory);
  };
  if (reads(*first) || llvm::any_of(address, reads))
    return;
  for (Operation &op : address)
    d.placeOperands(op);
  d.placeOperands(*first);
  IRMapping scalars = d.getScalars();
  for (Operation &op : address)
    b.clone(op, scalars);
  auto load = cast<memref::LoadOp>(*first);
  cuda::PrefetchOp::create(b, load.getLoc(), load.getMemref(),
                           scalars.lookupOrDefault(load.getIndices()[0]),
                           d.getReadCondition(), l2);
}

LogicalResult WindowBuilder::placePlan(Block &plan) {
  if (schedule.getRowsPerBlock() != 1)
    return success();
  for (Operation &op : plan.without_terminator())
    d.placeOperands(op);
  return d.cloneScalarsForAll(&plan);
}

/// Whether a kernel has so few blocks that all of them start at once, and its
/// dependent kernel takes no SM slots that they need: clusters of which a
/// multiprocessor need not hold two blocks are for few rows.
static bool startsAtOnce(ScheduleAttr schedule) {
  return schedule.getCluster() > 1 && schedule.getMinBlocks() <= 1;
}

template <typename Op>
LogicalResult WindowBuilder::distribute(Op op) {
  Block &plan = op.getBody().front();
  // Segments of a window are read once, whatever block has them.
  bool isApart =
      std::is_same_v<Op, row::WindowReduceOp> && window.takesRowsApart();
  d.mapRowsToHolders(isApart ? RowOrder::GridApart : RowOrder::Neighbours);
  // Most plans are older than the launch that ends now: what they say should
  // not begin with their way from memory.
  if (schedule.getPdl()) {
    prefetchPlan(plan, /*l2=*/true);
    d.prefetchFirstScalars(d.getReadCondition());
  }
  d.waitForPreviousKernel();
  if (isApart)
    prefetchPlan(plan, /*l2=*/false);
  // Threads that wait for scalars of the row have the plan by then, too.
  if (failed(d.placeFirstLoads()) || failed(placePlan(plan)) ||
      failed(d.placeOtherLoads()))
    return failure();
  bool isEarly = startsAtOnce(schedule);
  if (isEarly)
    d.launchDependents();
  if (failed(build(op)))
    return failure();
  if (!isEarly)
    d.launchDependents();
  d.enterGuard();
  return d.storeRows();
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
      return op->emitOpError() << "schedule_window_c1: a row of " << channels
                               << " elements does not divide into vectors of "
                               << part.getElements();
    return WindowBuilder(op, d).distribute(window);
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
