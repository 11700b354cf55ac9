//===- TileTestOps.cpp - Scores that come as tiles ------------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileTestOps.h"

#include "dsv4/Conversion/RowContext.h"
#include "dsv4/Reference/Evaluation.h"
#include "dsv4/Schedule/ScheduleKind.h"
#include "dsv4/Transforms/Distribution.h"

#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace tiletest;

#include "TileTestDialect.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "TileTestAttrs.cpp.inc"

#define GET_OP_CLASSES
#include "TileTestOps.cpp.inc"

//===----------------------------------------------------------------------===//
// The dialect, and its kind of schedule part
//===----------------------------------------------------------------------===//

namespace {

class TilesEntry : public dsv4::PartEntry {
public:
  StringRef getKind() const override { return TilesAttr::name; }
  Attribute getPart(dsv4::EmitError emitError,
                    MLIRContext *context) const override {
    return TilesAttr::getChecked(emitError, context, rows, columns, warps);
  }
  bool appliesTo(dsv4::KernelOp kernel) const override {
    return bool(dsv4::getCooperativeWork(kernel, getKind()));
  }
  void addCandidates(
      dsv4::KernelOp kernel, const dsv4::ScheduleCandidate &base,
      SmallVectorImpl<dsv4::ScheduleCandidate> &candidates) const override {
    candidates.push_back(base);
    candidates.back().parts.push_back(
        TilesAttr::get(kernel.getContext(), rows, columns, warps));
  }

  int64_t rows = 1, columns = 1, warps = 1;
};

struct TilesKind : dsv4::ScheduleKind {
  StringRef getKey() const override { return "tiles"; }
  std::shared_ptr<const dsv4::PartEntry>
  read(dsv4::TableObject &object) const override {
    auto entry = std::make_shared<TilesEntry>();
    object.read("rows", entry->rows);
    object.read("columns", entry->columns);
    object.read("warps", entry->warps);
    return entry;
  }
};

struct TileKinds : dsv4::ScheduleKindInterface {
  using ScheduleKindInterface::ScheduleKindInterface;
  ArrayRef<const dsv4::ScheduleKind *> getKinds() const override {
    static const TilesKind tiles;
    static const dsv4::ScheduleKind *const kinds[] = {&tiles};
    return kinds;
  }
  StringRef getTable() const override {
    return R"json([{"op": "tiletest.scores", "threads": 96, "min_blocks": 1,
                    "pdl": true,
                    "select": {"algorithm": "tile", "vector": 1},
                    "tiles": {"rows": 3, "columns": 16, "warps": 2}}])json";
  }
};

} // namespace

void TileTestDialect::initialize() {
  addInterfaces<TileKinds>();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "TileTestAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "TileTestOps.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// TilesAttr
//===----------------------------------------------------------------------===//

LogicalResult TilesAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                int64_t rows, int64_t columns, int64_t warps) {
  if (rows < 1 || columns < 1 || warps < 1)
    return emitError() << "tiles_c1: expected positive 'rows', 'columns' and "
                          "'warps', got "
                       << rows << ", " << columns << " and " << warps;
  return success();
}

LogicalResult
TilesAttr::verifyLaunch(function_ref<InFlightDiagnostic()> emitError,
                        const dsv4::LaunchPart &launch) const {
  if (launch.threads != getThreads())
    return emitError() << "tiles_c2: expected " << getThreads()
                       << " 'threads', got " << launch.threads;
  return success();
}

std::string TilesAttr::explainMisfit(Operation *,
                                     const dsv4::LaunchPart &) const {
  return "";
}

dsv4::PartGeometry TilesAttr::getGeometry(const dsv4::LaunchPart &) const {
  dsv4::PartGeometry geometry;
  geometry.rowsPerBlock = getRows();
  geometry.tileColumns = getColumns();
  return geometry;
}

dsv4::PartResources TilesAttr::getResources(Operation *kernel,
                                            const dsv4::LaunchPart &,
                                            ArrayRef<Attribute>) const {
  dsv4::PartResources resources;
  for (auto op : kernel->getRegion(0).getOps<ScoresOp>())
    resources.dynamicBytes = ScoreTilesOp::getSharedBytes(
        getRows(), getColumns(), op.getQueries().getType().getDimSize(1));
  return resources;
}

std::string TilesAttr::describe(const dsv4::LaunchPart &) const {
  return llvm::formatv("tiles of {0} x {1}, {2} warps that compute", getRows(),
                       getColumns(), getWarps());
}

//===----------------------------------------------------------------------===//
// ScoresOp
//===----------------------------------------------------------------------===//

LogicalResult ScoresOp::verify() {
  RankedTensorType queries = getQueries().getType(), keys = getKeys().getType(),
                   out = getOut().getType();
  int64_t depth = queries.getDimSize(1);
  if (queries.isDynamicDim(1) || depth < 1 || depth > 1024 ||
      keys.isDynamicDim(0) || keys.getDimSize(1) != depth)
    return emitOpError() << "scores_c1: expected 'queries' [T, D] and 'keys' "
                            "[N, D] with a constant D of 1 to 1024 and a "
                            "constant N, got "
                         << queries << " and " << keys;
  if (out.isDynamicDim(1) || out.getDimSize(1) != keys.getDimSize(0))
    return emitOpError() << "scores_c2: expected 'outs' with "
                         << keys.getDimSize(0) << " columns, got " << out;
  return success();
}

Value ScoresOp::getRowOperand() { return getQueries(); }
bool ScoresOp::acceptsProducer(OpOperand &) { return false; }
SmallVector<std::pair<dsv4::TensorAxis, dsv4::TensorAxis>>
ScoresOp::getTiedAxes() {
  return {{{getQueries(), 0}, {getOut(), 0}}};
}
dsv4::CooperativeWork ScoresOp::getCooperativeWork() {
  dsv4::CooperativeWork work;
  work.kind = TilesAttr::name;
  return work;
}
SmallVector<dsv4::RowSegment> ScoresOp::getRowSegments() { return {}; }

/// Nobody can ask for a row, or for columns of one.
SmallVector<dsv4::Access> ScoresOp::getProvidedAccesses(OpResult) {
  return {dsv4::Access::tile()};
}

FailureOr<SmallVector<dsv4::RowValue>>
ScoresOp::buildRow(dsv4::RowContext &row) {
  OpBuilder &b = row.getBuilder();
  RankedTensorType keys = getKeys().getType();
  Value scores =
      ScoreRowOp::create(b, row.getLoc("scores"),
                         VectorType::get({keys.getDimSize(0)}, b.getF32Type()),
                         row.getBuffer(getQueries()), row.getRow(),
                         row.getBuffer(getKeys()), keys.getDimSize(1));
  return SmallVector<dsv4::RowValue>{{scores}};
}

dsv4::rt::Status ScoresOp::evaluate(dsv4::reference::Evaluation &evaluation) {
  int64_t rows = evaluation.getShape(getQueries())[0];
  int64_t count = evaluation.getShape(getKeys())[0];
  int64_t depth = evaluation.getShape(getKeys())[1];
  if (auto status = evaluation.makeResult(0, {rows, count}); !status)
    return status;
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t key = 0; key < count; ++key) {
      double sum = 0;
      for (int64_t i = 0; i < depth; ++i)
        sum += evaluation.getValue(getQueries(), row * depth + i) *
               evaluation.getValue(getKeys(), key * depth + i);
      evaluation.setValue(0, row * count + key, sum);
    }
  return {};
}

//===----------------------------------------------------------------------===//
// ScoreRowOp
//===----------------------------------------------------------------------===//

static TilesAttr getTiles(const dsv4::Distribution &distribution) {
  return distribution.getSchedule().getPart<TilesAttr>();
}

dsv4::row::TileShape
ScoreRowOp::getTileShape(const dsv4::Distribution &distribution) {
  TilesAttr tiles = getTiles(distribution);
  if (!tiles)
    return {};
  return {tiles.getRows(), tiles.getColumns(), tiles.getWarps()};
}

dsv4::row::TileResources
ScoreRowOp::getTileResources(const dsv4::Distribution &distribution) {
  TilesAttr tiles = getTiles(distribution);
  if (!tiles)
    return {};
  return {tiles.getThreads(),
          ScoreTilesOp::getSharedBytes(tiles.getRows(), tiles.getColumns(),
                                       getDepth())};
}

LogicalResult ScoreRowOp::emitSource(dsv4::Distribution &distribution,
                                     Value consume, Value memory) {
  TilesAttr tiles = getTiles(distribution);
  ScoreTilesOp::create(distribution.getBuilder(), getLoc(), consume, memory,
                       distribution.getScalar(getQueries()),
                       distribution.getScalar(getKeys()),
                       distribution.getFirstRow(), distribution.getRowCount(),
                       tiles.getRows(), tiles.getColumns(), tiles.getWarps(),
                       getDepth(), getScores().getType().getNumElements());
  return success();
}

//===----------------------------------------------------------------------===//
// ScoreTilesOp
//===----------------------------------------------------------------------===//

StringRef ScoreTilesOp::getCallee() { return "tiletest::score_tiles"; }
StringRef ScoreTilesOp::getHeader() { return "tiletest/score_tiles.cuh"; }

std::optional<dsv4::cuda::CallConfig> ScoreTilesOp::getConfig() {
  auto number = [](uint64_t value) { return static_cast<int64_t>(value); };
  return dsv4::cuda::CallConfig{
      "tiletest::ScoreTilesDefaults",
      {{"rows", number(getRows())},
       {"tile_columns", number(getColumns())},
       {"warps", number(getWarps())},
       {"depth", number(getDepth())},
       {"columns", number(getCount())},
       {"source_bytes", getSharedBytes(getRows(), getColumns(), getDepth())}}};
}

/// Rows are: the runtime refuses more.
bool ScoreTilesOp::isInt32(OpOperand &operand) {
  return operand.get() == getRowCount() || operand.get() == getFirstRow();
}

//===----------------------------------------------------------------------===//
// FillOp
//===----------------------------------------------------------------------===//

int64_t FillOp::getBufferAlignment(OpOperand &) {
  return static_cast<int64_t>(getLine());
}

//===----------------------------------------------------------------------===//
// The extension
//===----------------------------------------------------------------------===//

namespace dsv4::rt {
// In a generated file: score_tiles.cuh.
std::string_view tileTestFile(std::string_view file);
} // namespace dsv4::rt

dsv4::DialectExtension tiletest::getExtension() {
  std::string_view text = dsv4::rt::tileTestFile("score_tiles.cuh");
  return {"tile test 1",
          [](DialectRegistry &registry) { registry.insert<TileTestDialect>(); },
          {{"tiletest/score_tiles.cuh", std::string(text)}}};
}
