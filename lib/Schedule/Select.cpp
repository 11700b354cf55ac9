//===- Select.cpp - Rows that are selected from to threads ----------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsv4/Schedule/Select.h"

#include "Explain.h"
#include "SelectRounds.h"

#include "dsv4/Dialect/CUDA/TileOps.h"
#include "dsv4/Dialect/RecordLayout.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace dsv4;

/// Rounds of a block whose first one bounds the others better than a sample.
static constexpr int64_t kFewRounds = 4;
/// Bytes of the sums of all bins that the blocks of a cluster make of a row in
/// registers: `TopkSpreadShared`.
static constexpr int64_t kSpreadBytes = 768;

LogicalResult SelectAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 SelectAlgorithm algorithm, int64_t vector,
                                 int64_t vectors, int64_t blocks, LoadPolicy,
                                 StorePolicy) {
  if (vector < 1 || vector > 32 || !llvm::isPowerOf2_64(vector))
    return emitError() << "schedule_select_c1: expected 'vector' to be a power "
                          "of two between 1 and 32, got "
                       << vector;
  if (algorithm == SelectAlgorithm::Tile && vector != 1)
    return emitError() << "schedule_select_c1: expected 'vector' to be 1 with "
                          "'algorithm = tile', got "
                       << vector;
  if (algorithm == SelectAlgorithm::Resident &&
      vector != limits::kResidentVector)
    return emitError() << "schedule_select_c1: expected 'vector' to be "
                       << limits::kResidentVector
                       << " with 'algorithm = resident', got " << vector;
  bool inRounds = readsInRounds(algorithm);
  if (algorithm == SelectAlgorithm::Held && vector > limits::kMaxHeldVector)
    return emitError() << "schedule_select_c1: expected 'vector' to be at most "
                       << limits::kMaxHeldVector
                       << " with 'algorithm = held', got " << vector;
  bool mayHaveMore = inRounds || algorithm == SelectAlgorithm::Tile;
  if (vectors < 1 || vectors > kMaxVectors || (vectors > 1 && !mayHaveMore) ||
      (inRounds && vectors * vector > limits::kMaxSelectItems))
    return emitError() << "schedule_select_c2: expected 'vectors' between 1 "
                          "and 16 and at most "
                       << limits::kMaxSelectItems
                       << " elements in them, and 1 without 'algorithm = "
                          "stream', 'grid' or 'tile', got "
                       << vectors;
  bool isGrid = algorithm == SelectAlgorithm::Grid;
  if (blocks < (isGrid ? limits::kMinGridBlocks : 1) ||
      blocks > (isGrid ? limits::kMaxGridBlocks : 1) ||
      !llvm::isPowerOf2_64(blocks))
    return emitError() << "schedule_select_c4: expected 'blocks' to be a power "
                          "of two between 2 and 256 with 'algorithm = grid', "
                          "else 1, got "
                       << blocks;
  return success();
}

LogicalResult
SelectAttr::verifyLaunch(function_ref<InFlightDiagnostic()> emitError,
                         const LaunchPart &launch) const {
  if (!isWarp() && !isTile() &&
      (launch.threads < limits::kMinSelectThreads ||
       !llvm::isPowerOf2_64(launch.threads)))
    return emitError() << "schedule_select_c3: expected 'threads' to be a "
                          "power of two of at least 64 for a selection, got "
                       << launch.threads;
  return success();
}

std::optional<RowMapping> SelectAttr::getRowMapping() const {
  return RowMapping{/*lanes=*/1, getVector(), getLoad(), getStore()};
}

PartGeometry SelectAttr::getGeometry(const LaunchPart &launch) const {
  bool isShared = getAlgorithm() == SelectAlgorithm::Block ||
                  getAlgorithm() == SelectAlgorithm::Stream || isResident();
  int64_t rows = isWarp() ? launch.threads / limits::kWarp : 1;
  // Another part has fewer.
  if (takesTiles() || isHeld())
    rows = INT32_MAX;
  return {/*rowsPerBlock=*/rows,
          /*blocksPerRow=*/getBlocks(),
          /*maxCluster=*/isShared ? limits::kMaxCluster : 1};
}

/// Elements of the list of a block: `TopkShape::capacity`, and of a whole row
/// the few that the last ones are found among.
static int64_t countEntries(SelectAttr select, const LaunchPart &launch,
                            int64_t k) {
  int64_t threads = launch.threads;
  if (select.holdsRow())
    return k + std::min<int64_t>(threads, k > 512 ? 256 : 128);
  if (k <= threads)
    return 4 * threads;
  if (threads >= limits::kMaxThreads)
    return 4992;
  return k > 2048 ? 4608 : 4096;
}

int64_t dsv4::getSelectBytes(SelectAttr select, const LaunchPart &launch,
                             int64_t k) {
  // Lanes of a warp exchange values in registers; tiles have an arena.
  if (select.isWarp() || select.isTile())
    return 0;
  int64_t exchange = 0;
  if (launch.cluster > 1 || select.getBlocks() > 1)
    exchange = select.holdsRow() ? kSpreadBytes : limits::kSelectExchangeBytes;
  int64_t list = limits::kSelectEntryBytes * countEntries(select, launch, k);
  return llvm::alignTo(list, 16) + limits::kSelectStateBytes + exchange;
}

PartResources SelectAttr::getResources(Operation *kernel,
                                       const LaunchPart &launch,
                                       ArrayRef<Attribute> parts) const {
  PartResources resources;
  SelectionOpInterface op = getSelectingOp(cast<KernelOp>(kernel));
  if (!op)
    return resources;
  int64_t k = op.getSelection().k;
  resources.staticBytes = getSelectBytes(*this, launch, k);
  if (!takesTiles())
    return resources;
  int64_t rows = INT32_MAX, columns = 0;
  for (Attribute part : parts) {
    PartGeometry geometry = cast<ScheduleInterface>(part).getGeometry(launch);
    rows = std::min(rows, geometry.rowsPerBlock);
    columns = std::max(columns, geometry.tileColumns);
  }
  if (columns == 0)
    return resources;
  if (isTile()) {
    resources.dynamicBytes =
        cuda::SelectTilesOp::getSharedBytes(k, rows, columns, getVectors());
    return resources;
  }
  CooperativeWork work = cast<RowwiseOpInterface>(*op).getCooperativeWork();
  int64_t vectors =
      getVectorsPerThread(boundColumns(cast<KernelOp>(kernel), work), launch);
  resources.dynamicBytes = cuda::SelectResidentOp::getSharedBytes(
      rows, getThreadsPerRow(launch), vectors);
  return resources;
}

std::string SelectAttr::describe(const LaunchPart &launch) const {
  if (isTile())
    return llvm::formatv("a selection from tiles, lists with room for {0} {1}",
                         getVectors(), getVectors() == 1 ? "tile" : "tiles");
  if (isResident() && launch.cluster > 1)
    return llvm::formatv("a selection from tiles in shared memory by a cluster "
                         "of {0} blocks",
                         launch.cluster);
  if (isResident())
    return "a selection from tiles in shared memory";
  if (isHeld())
    return llvm::formatv("a selection from rows that warps get, vectors of {0} "
                         "{1}",
                         getVector(),
                         getVector() == 1 ? "element" : "elements");
  std::string who = isWarp() ? "one warp" : "one block";
  if (getAlgorithm() == SelectAlgorithm::Grid)
    who = llvm::formatv("{0} blocks", getBlocks());
  else if (launch.cluster > 1)
    who = llvm::formatv("a cluster of {0} blocks", launch.cluster);
  return llvm::formatv("vectors of {0} {1}, {2} per row, {3}", getVector(),
                       getVector() == 1 ? "element" : "elements", who,
                       holdsRow() ? "held in registers" : "read once");
}

int64_t SelectAttr::getVectorsPerThread(int64_t columns,
                                        const LaunchPart &launch) const {
  if (!holdsRow())
    return getVectors();
  int64_t blocks = isWarp() ? 1 : launch.cluster;
  return llvm::divideCeil(columns,
                          getThreadsPerRow(launch) * blocks * getVector());
}

bool SelectAttr::takesFewRounds(int64_t columns,
                                const LaunchPart &launch) const {
  int64_t round = launch.threads * getVector() * getVectors();
  return getAlgorithm() == SelectAlgorithm::Stream && launch.cluster == 1 &&
         columns <= kFewRounds * round;
}

//===----------------------------------------------------------------------===//
// Schedules and kernels
//===----------------------------------------------------------------------===//

int64_t dsv4::boundColumns(KernelOp kernel, const CooperativeWork &work) {
  auto type = cast<RankedTensorType>(work.source.getType());
  int64_t axis = type.getRank() - 1;
  if (!type.isDynamicDim(axis))
    return type.getDimSize(axis);
  auto inner = dyn_cast<BlockArgument>(work.source);
  BlockArgument arg =
      inner ? getFunctionArgument(kernel, inner) : BlockArgument();
  return arg ? getDimBound(arg.getOwner()->getParentOp(), arg.getArgNumber(),
                           axis)
             : INT32_MAX;
}

/// What to do where only the lanes of a warp can do what `op` selects: use
/// them or, where no warp can, take less of what it has too much of.
static std::string explainRemedy(SelectionOpInterface op, KernelOp kernel) {
  Selection selection = op.getSelection();
  int64_t columns =
      boundColumns(kernel, cast<RowwiseOpInterface>(*op).getCooperativeWork());
  if (columns > limits::kMaxWarpColumns)
    return llvm::formatv("got rows of {0} elements", columns);
  if (selection.groups > limits::kMaxWarpGroups)
    return llvm::formatv("got {0} groups", selection.groups);
  if (selection.others && selection.k + selection.others > limits::kMaxWarpK)
    return llvm::formatv("got {0} + {1} columns", selection.k,
                         selection.others);
  if (selection.k > limits::kMaxWarpK)
    return llvm::formatv("got a k of {0}", selection.k);
  return "expected 'algorithm = warp'";
}

/// Why only the lanes of a warp can select for the rows of `op`, or an empty
/// string.
static std::string explainWarp(RowwiseOpInterface op, KernelOp kernel) {
  if (isOfRanks(op))
    return llvm::formatv("schedule_select_c5: a row of '{0}' is computed from "
                         "what is selected, which only the lanes of a warp "
                         "hold together; expected 'algorithm = warp'",
                         op->getName());
  auto selecting = dyn_cast<SelectionOpInterface>(*op);
  if (selecting && selecting.getSelection().groups)
    return llvm::formatv(
        "schedule_select_c5: groups of a row are chosen by the lanes of a "
        "warp, of at most {0} elements in at most {1} groups, and for a k of "
        "at most {2}; {3}",
        limits::kMaxWarpColumns, limits::kMaxWarpGroups, limits::kMaxWarpK,
        explainRemedy(selecting, kernel));
  if (selecting && selecting.getSelection().others)
    return llvm::formatv(
        "schedule_select_c5: columns after those of the selected elements are "
        "computed by the lanes of a warp, of rows of at most {0} elements, and "
        "at most {1} columns in all; {2}",
        limits::kMaxWarpColumns, limits::kMaxWarpK,
        explainRemedy(selecting, kernel));
  if (takesStatistics(op))
    return llvm::formatv(
        "schedule_select_c5: '{0}' needs statistics of whole rows, which only "
        "the lanes of a warp compute; expected "
        "'algorithm = warp'",
        op->getName());
  if (!selecting && isYielded(op))
    return llvm::formatv(
        "schedule_select_c5: rows of '{0}' are stored, too, as a whole, which "
        "only the lanes of a warp hold; expected 'algorithm = warp'",
        op->getName());
  return "";
}

/// Why the lanes of a warp cannot select `k` of `columns` elements, or an empty
/// string.
static std::string explainNoWarp(SelectAttr select, int64_t k, int64_t columns,
                                 int64_t groups, int64_t others) {
  int64_t held = llvm::divideCeil(columns, limits::kWarp * select.getVector()) *
                 select.getVector();
  if (k > limits::kMaxWarpK || held > limits::kMaxSelectItems)
    return llvm::formatv("schedule_select_c5: a warp selects at most {0} "
                         "elements from at most {1}, got {2} from {3}",
                         limits::kMaxWarpK, limits::kMaxWarpColumns, k,
                         columns);
  if (groups > limits::kMaxWarpGroups)
    return llvm::formatv("schedule_select_c5: a warp chooses from at most {0} "
                         "groups, got {1}",
                         limits::kMaxWarpGroups, groups);
  if (k + others > limits::kMaxWarpK)
    return llvm::formatv("schedule_select_c5: the lanes of a warp have at most "
                         "{0} columns of a result, got {1} + {2}",
                         limits::kMaxWarpK, k, others);
  return "";
}

/// Why the threads of a block or cluster cannot have `columns` elements in
/// registers, or an empty string.
static std::string explainNoRegisters(SelectAttr select,
                                      const LaunchPart &launch,
                                      int64_t columns) {
  int64_t held =
      select.getVectorsPerThread(columns, launch) * select.getVector();
  if (held <= limits::kMaxSelectItems)
    return "";
  return llvm::formatv(
      "schedule_select_c6: with 'algorithm = {0}' {1} x {2} threads have a "
      "row in registers, {3} elements at most, and it can have {4}; expected "
      "more 'threads', a larger 'cluster', 'algorithm = {5}', or columns "
      "that are known to be fewer ({6})",
      stringifySelectAlgorithm(select.getAlgorithm()), launch.cluster,
      launch.threads, launch.threads * launch.cluster * limits::kMaxSelectItems,
      columns == INT32_MAX ? std::string("any number")
                           : std::to_string(columns),
      select.isResident() ? "tile" : "stream",
      select.isResident() ? "constant" : "constant, or by policy 'bucket'");
}

std::string dsv4::explainSelection(SelectAttr select, const LaunchPart &launch,
                                   int64_t k, int64_t columns, int64_t groups,
                                   int64_t others) {
  if (others && !select.isWarp())
    return "schedule_select_c5: columns after those of the selected elements "
           "are computed by the lanes of a warp; expected 'algorithm = warp'";
  switch (select.getAlgorithm()) {
  case SelectAlgorithm::Stream:
  case SelectAlgorithm::Grid:
  case SelectAlgorithm::Tile:
    return "";
  case SelectAlgorithm::Warp:
  case SelectAlgorithm::Held:
    return explainNoWarp(select, k, columns, groups, others);
  case SelectAlgorithm::Block:
  case SelectAlgorithm::Resident:
    return explainNoRegisters(select, launch, columns);
  }
  llvm_unreachable("all algorithms are above");
}

/// Whether an op computes its rows tile by tile.
static bool providesTiles(Operation *op) {
  auto producer = dyn_cast_if_present<FusionOpInterface>(op);
  return producer && op->getNumResults() > 0 &&
         llvm::any_of(producer.getProvidedAccesses(op->getResult(0)),
                      [](const Access &access) { return access.isTile(); });
}

/// Why the scores of `work` are not for the algorithm, or an empty string.
static std::string explainSource(SelectAttr select,
                                 const CooperativeWork &work) {
  Operation *source = work.source.getDefiningOp();
  if (providesTiles(source) == select.takesTiles())
    return "";
  if (!select.takesTiles())
    return llvm::formatv("schedule_select_c8: '{0}' computes its rows tile by "
                         "tile; expected 'algorithm = tile' or 'resident'",
                         source->getName());
  return llvm::formatv(
      "schedule_select_c8: 'algorithm = {0}' needs an op that computes the "
      "scores tile by tile, and the kernel has none; expected 'warp', "
      "'block', 'stream' or 'grid'",
      stringifySelectAlgorithm(select.getAlgorithm()));
}

/// An op that hands its rows to lanes of warps, or null.
static Operation *findHandingOver(KernelOp kernel) {
  for (auto op : kernel.getBody().front().getOps<RowwiseOpInterface>())
    if (op.getCooperativeWork().handsOverRows)
      return op;
  return nullptr;
}

/// Why the rows of `kernel` are not for the algorithm, or an empty string.
static std::string explainRows(SelectAttr select, KernelOp kernel) {
  Operation *op = findHandingOver(kernel);
  if (bool(op) == select.isHeld())
    return "";
  if (op)
    return llvm::formatv("schedule_select_c9: '{0}' hands whole rows to the "
                         "lanes of warps; expected 'algorithm = held'",
                         op->getName());
  return "schedule_select_c9: 'algorithm = held' needs an op that hands whole "
         "rows to the lanes of warps, and the kernel has none; expected "
         "another 'algorithm'";
}

/// Why the op that selects cannot do so, or an empty string.
static std::string explainSelecting(SelectAttr select, KernelOp kernel,
                                    const LaunchPart &launch,
                                    SelectionOpInterface op) {
  CooperativeWork work = cast<RowwiseOpInterface>(*op).getCooperativeWork();
  if (std::string why = explainSource(select, work); !why.empty())
    return why;
  auto type = cast<RankedTensorType>(work.source.getType());
  int64_t vector = select.getVector();
  int64_t bits = getElementBits(type.getElementType());
  // Scores in shared memory are of f32 and masked.
  bool isInMemory = !select.isResident();
  if (isInMemory && vector * bits > limits::kMaxAccessBits)
    return llvm::formatv("schedule_select_c7: a vector of {0} elements of {1} "
                         "bits is more than 16 bytes; expected a 'vector' of "
                         "at most {2}",
                         vector, bits, limits::kMaxAccessBits / bits);
  int64_t columns = type.getShape().back();
  if (isInMemory && !ShapedType::isDynamic(columns) && columns % vector != 0)
    return llvm::formatv("schedule_select_c7: vectors of {0} elements do not "
                         "make up the {1} of a row; expected a 'vector' that "
                         "divides {1}",
                         vector, columns);
  Selection selection = op.getSelection();
  return explainSelection(select, launch, selection.k,
                          boundColumns(kernel, work), selection.groups,
                          selection.others);
}

/// Why an op that computes columns for the selection does not fit, or an empty
/// string.
static std::string explainColumns(RowwiseOpInterface op, int64_t vector) {
  int64_t unit = getColumnUnit(op);
  if (unit == 0)
    return llvm::formatv("schedule_select_c7: a row of '{0}' is not computed "
                         "in vectors of columns",
                         op->getName());
  if (vector % unit != 0)
    return llvm::formatv("schedule_select_c7: a vector of {0} elements is not "
                         "a multiple of the {1} that belong together",
                         vector, unit);
  for (RowSegment segment : cast<RowLayoutOpInterface>(*op).getRowSegments())
    if (segment.extent % vector != 0)
      return llvm::formatv("schedule_select_c7: vectors of {0} elements do not "
                           "make up the {1} of a row",
                           vector, segment.extent);
  for (ScaleGroup group : cast<RowLayoutOpInterface>(*op).getScaleGroups())
    if (group.extent % vector != 0 && vector % group.extent != 0)
      return llvm::formatv("schedule_select_c7: groups of {0} elements do not "
                           "match vectors of {1}",
                           group.extent, vector);
  return "";
}

std::string SelectAttr::explainMisfit(Operation *kernel,
                                      const LaunchPart &launch) const {
  auto typed = cast<KernelOp>(kernel);
  if (std::string why = explainRows(*this, typed); !why.empty())
    return why;
  for (auto op : typed.getBody().front().getOps<RowwiseOpInterface>()) {
    if (!isWarp())
      if (std::string why = explainWarp(op, typed); !why.empty())
        return nameOp(why, op);
    // The selection says whether they are for it.
    if (isOfRanks(op) || providesTiles(op))
      continue;
    // With `resident` an op computes one score at a time.
    auto selecting = dyn_cast<SelectionOpInterface>(*op);
    std::string why = selecting
                          ? explainSelecting(*this, typed, launch, selecting)
                          : explainColumns(op, isResident() ? 1 : getVector());
    if (!why.empty())
      return nameOp(why, op);
  }
  return "";
}
