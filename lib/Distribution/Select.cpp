//===- Select.cpp - Rows that are selected from to threads ----------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All threads of a block, of several blocks or of a warp select from one row. A
// thread computes vectors of columns by itself, and the results of one rank.
//
//===----------------------------------------------------------------------===//

#include "SelectModels.h"

#include "dsv4/Schedule/Select.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace dsv4;
using row::Demand;
using row::Footprint;
using row::Scope;

using limits::kWarp;

namespace {

/// Emits the device call of one row.select.
class Selector {
public:
  Selector(row::SelectOp select, Distribution &d)
      : select(select), d(d), b(d.getBuilder()), schedule(d.getSchedule()),
        part(schedule.getPart<SelectAttr>()),
        max(select.getScores().getType().getNumElements()) {}

  /// Maps rows to threads first.
  LogicalResult build();
  /// What refuses a program, and, where its rows are mapped, what threads do.
  LogicalResult verify();
  LogicalResult buildRow();

private:
  bool isWarp() const { return part.isWarp(); }
  /// Waits for the previous kernel, too.
  void mapRowsToBlocks();
  /// Scalars that are one for all columns and ranks.
  void placeScalars();
  Value findWholeRow(Value scores);
  /// What columns and ranks need of whole rows.
  LogicalResult placeStatistics();
  /// Finds what whole rows that are stored are computed from, and loads them.
  LogicalResult placeRows();
  /// Stores them.
  LogicalResult storeRows();
  /// Whether lanes have the whole row that `value` is, or is computed from.
  bool isOfWholeRow(Value value) const;
  /// Where vectors begin, and what of the first one does not count, if the row
  /// does not begin at its first column.
  void placeStart();
  LogicalResult emitColumns(cuda::SelectOp call);
  LogicalResult emitRanks(cuda::SelectOp call);
  cuda::SelectOp createCall();

  row::SelectOp select;
  Distribution &d;
  OpBuilder &b;
  ScheduleAttr schedule;
  SelectAttr part;
  int64_t max; ///< Elements a row may have.
  /// Of whole rows that are stored beside the selection, and what they are
  /// computed from.
  SmallVector<row::WriteOp> rowWrites;
  llvm::DenseSet<Value> held;
  Value base; ///< The column of the first vector; null: 0.
  Value head; ///< Elements of it before the row begins; null: 0.
};

/// Whether every NaN of the elements is as arithmetic makes it.
bool isComputed(cuda::SelectOp call) {
  Value vector = call.getLoad().front().getTerminator()->getOperand(0);
  if (auto columns = vector.getDefiningOp<cuda::ColumnsOp>())
    vector = columns.getRow();
  return isa_and_present<arith::AddFOp, arith::DivFOp, row::ActivationOp>(
      vector.getDefiningOp());
}

bool isScalar(Operation &op) {
  auto isVector = [](Type type) { return isa<VectorType>(type); };
  return op.getNumResults() > 0 &&
         llvm::none_of(op.getOperandTypes(), isVector) &&
         llvm::none_of(op.getResultTypes(), isVector);
}

} // namespace

cuda::SelectOrder dsv4::convert(row::SelectOrder order) {
  switch (order) {
  case row::SelectOrder::Unordered:
    return cuda::SelectOrder::Unordered;
  case row::SelectOrder::Sorted:
    return cuda::SelectOrder::Sorted;
  case row::SelectOrder::IndexAscending:
    return cuda::SelectOrder::IndexAscending;
  }
  llvm_unreachable("all orders are above");
}

void Selector::placeScalars() {
  auto isForAll = [&](Operation &op) {
    return !isMemoryEffectFree(&op) || op.getNumRegions() != 0 ||
           llvm::any_of(op.getUsers(), [&](Operation *user) {
             return user == select || user->getBlock() != op.getBlock();
           });
  };
  for (Operation &op : *d.getProgram())
    if (isScalar(op) && isForAll(op))
      (void)d.getScalar(op.getResult(0));
}

/// What lanes compute of the whole row: `scores`, but for terms that can be
/// read column by column.
Value Selector::findWholeRow(Value scores) {
  for (Operation *op = scores.getDefiningOp();
       op && op->hasTrait<OpTrait::Elementwise>();
       op = scores.getDefiningOp()) {
    SmallVector<Value> ofRow;
    bool hasOther = false;
    for (Value operand : op->getOperands()) {
      if (!isa<VectorType>(operand.getType()) ||
          matchPattern(operand, m_Constant()))
        continue;
      if (isOfWholeRow(operand))
        ofRow.push_back(operand);
      else
        hasOther = true;
    }
    if (!hasOther || ofRow.size() != 1)
      break;
    scores = ofRow.front();
  }
  return scores;
}

LogicalResult Selector::placeStatistics() {
  Value scores = select.getScores();
  bool needsRow = isOfWholeRow(scores);
  if (needsRow && !isWarp())
    return select.emitOpError()
           << "selects from scores that need statistics of whole rows, which "
              "only one warp per row computes: expected 'algorithm = warp'";
  if (needsRow && select.getStart())
    return select.emitOpError()
           << "selects from scores that need statistics of whole rows, of "
              "which lanes have the first columns: expected no 'start'";
  if (needsRow) {
    Footprint whole{max, 1};
    Value computed = findWholeRow(scores);
    if (failed(d.placeLoads(computed, whole)))
      return failure();
    auto row = d.get(computed, whole);
    if (failed(row))
      return failure();
    d.setWholeRow(computed, *row);
  }
  for (auto pick : d.getProgram()->getOps<row::GatherElementsOp>())
    if (failed(d.computeStatistics(pick.getRow())))
      return failure();
  return success();
}

/// Whether `value` is computed from results of `select`.
static bool comesFrom(Value value, row::SelectOp select) {
  llvm::DenseSet<Operation *> seen;
  SmallVector<Value> left = {value};
  while (!left.empty()) {
    Operation *op = left.pop_back_val().getDefiningOp();
    if (op == select)
      return true;
    if (op && seen.insert(op).second)
      llvm::append_range(left, op->getOperands());
  }
  return false;
}

static LogicalResult verifyEffects(Operation &op) {
  if (isa<row::WriteOp>(op))
    return success();
  auto result = op.walk([&](Operation *inner) {
    if (!hasEffect<MemoryEffects::Write>(inner))
      return WalkResult::advance();
    inner->emitOpError()
        << "writes memory in the program of a selection, which has ranks and "
           "no rows: expected a row.write of what is selected";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

/// Whether every element of a row is known by its position.
static bool isOfPositions(Value value) {
  Operation *op = value.getDefiningOp();
  if (isa_and_present<arith::ExtSIOp>(op))
    op = op->getOperand(0).getDefiningOp();
  return isa_and_present<row::SequenceOp>(op);
}

LogicalResult dsv4::verifyEffects(Distribution &d) {
  for (Operation &op : *d.getProgram())
    if (failed(::verifyEffects(op)))
      return failure();
  return success();
}

SmallVector<row::WriteOp> dsv4::findRowWrites(row::SelectOp select,
                                              Distribution &d) {
  SmallVector<row::WriteOp> writes;
  for (auto write : d.getProgram()->getOps<row::WriteOp>())
    if (!comesFrom(write.getValue(), select) &&
        !isOfPositions(write.getValue()))
      writes.push_back(write);
  return writes;
}

LogicalResult dsv4::verifyWritesOf(row::SelectOp select, Distribution &d) {
  for (row::WriteOp write : findRowWrites(select, d))
    return write.emitOpError()
           << "writes a whole row, of which the selection has only parts: "
              "put what computes it into a kernel of its own";
  return success();
}

/// Calls `visit` with `value` and the vectors it is computed from, each once;
/// stops where it returns true, and returns that.
static bool walkVectors(Value value, function_ref<bool(Value)> visit) {
  llvm::DenseSet<Value> seen;
  SmallVector<Value> left = {value};
  while (!left.empty()) {
    Value next = left.pop_back_val();
    Operation *op = next.getDefiningOp();
    if (!op || !isa<VectorType>(next.getType()) ||
        matchPattern(next, m_Constant()) || !seen.insert(next).second)
      continue;
    if (visit(next))
      return true;
    llvm::append_range(left, op->getOperands());
  }
  return false;
}

bool Selector::isOfWholeRow(Value value) const {
  return d.needsWholeRow(value) ||
         walkVectors(value, [&](Value next) { return held.contains(next); });
}

/// All elements of the row that `write` stores.
static Footprint getStored(row::WriteOp write) {
  int64_t group = write.getGroup();
  return {write.getValue().getType().getNumElements() * group, group};
}

LogicalResult Selector::placeRows() {
  for (row::WriteOp write : rowWrites) {
    walkVectors(write.getValue(), [&](Value value) {
      held.insert(value);
      return false;
    });
    if (failed(d.placeLoads(write.getValue(), getStored(write))))
      return failure();
  }
  return success();
}

LogicalResult Selector::storeRows() {
  for (row::WriteOp write : rowWrites) {
    if (failed(cast<row::DistributableOpInterface>(*write).distribute(d)))
      return failure();
    // Ranks do not store it again.
    write.erase();
  }
  return success();
}

void Selector::placeStart() {
  if (!select.getStart())
    return;
  base = d.getScalar(select.getStart());
  int64_t vector = part.getVector();
  if (vector == 1)
    return;
  // Vectors stay aligned.
  head = arith::RemSIOp::create(b, d.getLoc("head"), base, d.constant(vector));
  base = arith::SubIOp::create(b, d.getLoc("base"), base, head);
}

cuda::SelectOp Selector::createCall() {
  LaunchPart launch = schedule.getLaunch();
  int64_t threads = part.getThreadsPerRow(launch);
  int64_t vectors = part.getVectorsPerThread(max, launch);
  Value workspace;
  int64_t blocksPerRow = part.getBlocks();
  if (blocksPerRow > 1)
    workspace = WorkspaceOp::create(
        b, d.getLoc("workspace"),
        MemRefType::get({ShapedType::kDynamic}, b.getI8Type()),
        cuda::SelectOp::getWorkspaceBytes(select.getK(), blocksPerRow));
  placeStart();
  Value length = d.getScalar(select.getLength());
  if (base)
    length = arith::SubIOp::create(b, d.getLoc(), length, base);
  return cuda::SelectOp::create(
      b, select.getLoc(), length, head, select.getK(), max,
      convert(select.getOrder()), select.getSmallest(), select.getTiesHigh(),
      select.getNanFirst(),
      isWarp() ? SelectAlgorithm::Warp : part.getAlgorithm(),
      part.takesFewRounds(max, launch), threads, vectors,
      isWarp() ? 1 : schedule.getCluster(), blocksPerRow, workspace,
      /*computed=*/false, select.getGroups(), select.getKeep(), select.getBy());
}

LogicalResult Selector::emitColumns(cuda::SelectOp call) {
  Block *body = &call.getLoad().emplaceBlock();
  View columns;
  columns.access = Access::columns(part.getVector());
  columns.map.vector = part.getVector();
  columns.column = body->addArgument(b.getIndexType(), d.getLoc("column"));
  Distribution region = d.enter(body, columns);
  if (base)
    columns.column = arith::AddIOp::create(region.getBuilder(), d.getLoc(),
                                           base, columns.column);
  Distribution thread = region.withView(columns);
  Footprint at{columns.map.vector, 1};
  if (failed(thread.placeLoads(select.getScores(), at)))
    return failure();
  auto scores = thread.get(select.getScores(), at);
  if (failed(scores))
    return failure();
  cuda::SelectYieldOp::create(thread.getBuilder(), d.getLoc(), *scores);
  return success();
}

LogicalResult dsv4::emitRank(row::SelectOp select, Distribution &thread,
                             Value value, int64_t ranks) {
  OpBuilder &b = thread.getBuilder();
  Location loc = thread.getLoc();
  Footprint one{1, 1};
  thread.set(select.getIndices(), one,
             arith::IndexCastOp::create(b, loc, b.getI32Type(),
                                        thread.getView().index));
  thread.set(select.getValues(), one, value);
  // All lanes of a warp make it together, before some of them store it. Single
  // numbers come last: they wait for nothing.
  SmallVector<row::WriteOp> vectors, numbers;
  for (auto write : thread.getProgram()->getOps<row::WriteOp>()) {
    auto stored = thread.prepareStore(write);
    if (failed(stored))
      return failure();
    (isa<VectorType>(stored->getType()) ? vectors : numbers).push_back(write);
  }
  int64_t k = select.getRanks();
  if (k < ranks) {
    Value isRank =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt,
                              thread.getView().lane, thread.constant(k));
    auto guard = scf::IfOp::create(b, loc, isRank);
    b.setInsertionPointToStart(guard.thenBlock());
  }
  for (ArrayRef<row::WriteOp> writes : {ArrayRef(vectors), ArrayRef(numbers)})
    for (row::WriteOp write : writes)
      if (failed(
              cast<row::DistributableOpInterface>(*write).distribute(thread)))
        return failure();
  return success();
}

LogicalResult Selector::emitRanks(cuda::SelectOp call) {
  Block *body = &call.getEmit().emplaceBlock();
  Location loc = d.getLoc();
  Value rank = body->addArgument(b.getIndexType(), d.getLoc("rank"));
  Value index = body->addArgument(b.getIndexType(), d.getLoc("index"));
  Value value = body->addArgument(b.getF32Type(), d.getLoc("value"));
  View ranks;
  ranks.access = Access::ranks();
  ranks.lane = rank;
  ranks.index = index;
  Distribution thread = d.enter(body, ranks);
  thread.forgetWholeRows();
  OpBuilder &inner = thread.getBuilder();
  // The row has been read, the rest is short.
  if (isWarp() && !part.isHeld())
    thread.launchDependents();
  if (failed(emitRank(select, thread, value, isWarp() ? kWarp : select.getK())))
    return failure();
  inner.setInsertionPointToEnd(body);
  cuda::SelectYieldOp::create(inner, loc, ValueRange());
  return success();
}

LogicalResult Selector::verify() {
  if (failed(verifyEffects(d)))
    return failure();
  if (!isWarp() && failed(verifyWritesOf(select, d)))
    return failure();
  // Nothing has compared a kernel that was written as a row program with its
  // schedule before.
  int64_t groups = select.getGroups();
  if (std::string why =
          explainSelection(part, schedule.getLaunch(), select.getK(), max,
                           groups > 1 ? groups : 0, select.getPadding());
      !why.empty())
    return select.emitOpError() << why;
  return success();
}

LogicalResult Selector::buildRow() {
  if (isWarp())
    rowWrites = findRowWrites(select, d);
  placeScalars();
  if (failed(placeRows()) || failed(placeStatistics()) || failed(storeRows()))
    return failure();
  cuda::SelectOp call = createCall();
  if (failed(emitColumns(call)) || failed(emitRanks(call)))
    return failure();
  call.setComputed(isComputed(call));
  return success();
}

void Selector::mapRowsToBlocks() {
  // Where rows begin and end is mostly older than the launch that ends now:
  // elements should not wait for its way from memory.
  bool prefetches = schedule.getPdl() && !d.getFirstScalars().empty();
  if (prefetches) {
    d.mapRowsToBlocks(schedule.getBlocksPerRow());
    Value thread =
        gpu::ThreadIdOp::create(b, d.getLoc(), gpu::Dimension::x,
                                b.getIndexAttr(schedule.getThreads()));
    d.prefetchFirstScalars(arith::CmpIOp::create(b, d.getLoc("is_first"),
                                                 arith::CmpIPredicate::eq,
                                                 thread, d.constant(0)));
  }
  d.waitForPreviousKernel();
  // Few blocks, busy for long with what is in shared memory: dependent kernels
  // have room beside them.
  d.launchDependents();
  if (!prefetches)
    d.mapRowsToBlocks(schedule.getBlocksPerRow());
}

LogicalResult Selector::build() {
  if (failed(verify()))
    return failure();
  if (isWarp()) {
    d.waitForPreviousKernel();
    d.mapRowsToLanes(kWarp);
  } else {
    mapRowsToBlocks();
  }
  if (failed(buildRow()))
    return failure();
  d.eraseProgram();
  return success();
}

LogicalResult dsv4::verifySelection(row::SelectOp select, Distribution &d) {
  return Selector(select, d).verify();
}
LogicalResult dsv4::selectFromHeldRow(row::SelectOp select, Distribution &row) {
  return Selector(select, row).buildRow();
}

namespace {

struct SelectDistribution
    : DistributionModel<SelectDistribution, row::SelectOp> {
  Demand getDemand(Operation *op, OpOperand &, Footprint at,
                   const Distribution &d) const {
    auto part = d.getSchedule().getPart<SelectAttr>();
    auto select = cast<row::SelectOp>(op);
    bool isTile =
        !(part && part.isHeld()) && findTileSource(select.getScores());
    return {at, isTile ? Access::tile() : Access::columns(0)};
  }
  Scope getScope(Operation *, ScheduleAttr schedule) const {
    auto select = schedule.getPart<SelectAttr>();
    return select && select.isWarp() && !select.isHeld() ? Scope::Warp
                                                         : Scope::Block;
  }
  FailureOr<Value> materialize(Operation *op, Distribution &, OpResult,
                               Footprint) const {
    return op->emitOpError()
           << "has results that are consumed rank by rank, not as a row";
  }
  LogicalResult distribute(Operation *op, Distribution &d) const {
    auto part = d.getSchedule().getPart<SelectAttr>();
    if (!part)
      return op->emitOpError()
             << "schedule_c5: needs a part #dsv4.select<...>, "
                "which the schedule does not have";
    auto select = cast<row::SelectOp>(op);
    auto source = findTileSource(select.getScores());
    if (part.isHeld())
      return distributeSelectHeld(select, d);
    if (part.takesTiles() != bool(source))
      return op->emitOpError()
             << "schedule_select_c8: expected 'algorithm = tile' or 'resident' "
                "where scores are computed tile by tile, and only there";
    return source ? distributeSelectTiles(select, source, d)
                  : Selector(select, d).build();
  }
};

/// A scalar program per element: only ranks are elements that one thread has.
struct MapDistribution : DistributionModel<MapDistribution, row::MapOp> {
  FailureOr<Value> materialize(Operation *op, Distribution &d, OpResult,
                               Footprint at) const {
    auto map = cast<row::MapOp>(op);
    if (!d.getView().access.isRanks())
      return op->emitOpError() << "is for what a selection has in its ranks";
    auto element = d.get(map.getIndices(), at);
    if (failed(element))
      return failure();
    // The index that was selected needs no cast back.
    Value index = d.getView().index;
    if (!isa<row::SelectOp>(map.getIndices().getDefiningOp()))
      index = arith::IndexCastOp::create(
          d.getBuilder(), d.getLoc(), d.getBuilder().getIndexType(), *element);
    Block &body = map.getBody().front();
    d.map(body.getArgument(0), index);
    for (Operation &inner : body)
      d.placeOperands(inner);
    if (failed(d.cloneScalars(&body)))
      return failure();
    return d.lookup(body.getTerminator()->getOperand(0));
  }
};

} // namespace

void dsv4::attachSelectDistributions(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, row::RowDialect *) {
    row::SelectOp::attachInterface<SelectDistribution>(*context);
    row::MapOp::attachInterface<MapDistribution>(*context);
  });
}
