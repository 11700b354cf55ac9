//===- SelectSchedule.cpp - Choose the schedule of every kernel -*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ScheduleTable.h"

#include "dsv4/Passes.h"
#include "dsv4/Support/ParseProgram.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Remarks.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;
using namespace dsv4;

namespace dsv4 {
#define GEN_PASS_DEF_SELECTSCHEDULE
#include "dsv4/Passes.h.inc"
} // namespace dsv4

namespace {

struct SelectSchedule : dsv4::impl::SelectScheduleBase<SelectSchedule> {
  using SelectScheduleBase::SelectScheduleBase;

  void runOnOperation() override {
    auto emitError = [&] { return getOperation().emitError(); };
    if (!cuda::TargetAttr::getChecked(emitError, &getContext(),
                                      StringRef(arch)))
      return signalPassFailure();
    std::vector<TableEntry> entries;
    given = {};
    if (!schedule.empty() && failed(readSchedule()))
      return signalPassFailure();
    if (!table.empty() &&
        failed(readScheduleTable(table, &getContext(), emitError, entries)))
      return signalPassFailure();
    llvm::append_range(entries, getBuiltinTable(arch));
    for (KernelOp kernel : getOperation().getOps<KernelOp>())
      if (!kernel.getScheduleAttr() && failed(select(kernel, entries)))
        return signalPassFailure();
  }

private:
  LogicalResult readSchedule();
  LogicalResult select(KernelOp kernel, ArrayRef<TableEntry> entries);

  RowScheduleAttr given; ///< For all kernels, if there is the option.
};

} // namespace

/// What the threads of a block do together, if an op of the kernel asks for it.
static TeamWork getTeamWork(KernelOp kernel) {
  TeamWork work;
  for (auto op : kernel.getBody().front().getOps<RowwiseOpInterface>())
    if (op.getTeamWork().rows)
      work = op.getTeamWork();
  return work;
}

/// The most bits of a row that an op of the kernel reads or stores, if none of
/// its elements has less than `least`.
static int64_t getRowBits(KernelOp kernel, int64_t least = 0) {
  int64_t most = 0;
  for (auto op : kernel.getBody().front().getOps<RowwiseOpInterface>()) {
    if (!hasShares(op))
      continue;
    int64_t bits = 0;
    for (RowPiece piece : op.getRowPieces())
      bits += piece.extent * std::max(piece.bits, least);
    most = std::max(most, bits);
  }
  return most;
}

/// The first reason why `schedule` does not fit an op of the kernel, or
/// nothing.
static std::string explainMisfit(RowScheduleAttr schedule, KernelOp kernel) {
  for (auto op : kernel.getBody().front().getOps<RowwiseOpInterface>())
    if (std::string why = explainMisfit(schedule, op); !why.empty())
      return why;
  return "";
}

/// The schedule of a valid `entry` for rows that are selected from, with chunks
/// reduced until they fit, or null.
static RowScheduleAttr fitSelection(KernelOp kernel, const TableEntry &entry,
                                    std::string &why) {
  for (int64_t vector = entry.vector; vector >= 1; vector /= 2) {
    // As many elements in more chunks.
    int64_t chunks = 1;
    if (entry.select == SelectAlgorithm::Stream ||
        entry.select == SelectAlgorithm::Grid)
      chunks = std::min({entry.chunks * (entry.vector / vector),
                         kMostHeldOfRow / vector, int64_t(16)});
    auto schedule = RowScheduleAttr::get(
        kernel.getContext(), entry.threads, entry.lanes, vector, entry.blocks,
        entry.load, entry.store, entry.pdl, 0, 0, entry.cluster, entry.select,
        chunks, entry.parts);
    why = explainMisfit(schedule, kernel);
    if (why.empty())
      return schedule;
  }
  return {};
}

/// The columns of the kernel's rows, if its lanes may have unequal numbers of
/// chunks of each; else nothing.
static SmallVector<int64_t> getUnevenColumns(KernelOp kernel) {
  SmallVector<int64_t> columns;
  for (auto op : kernel.getBody().front().getOps<RowwiseOpInterface>()) {
    if (!hasShares(op))
      continue;
    if (!op.allowsUnevenShares())
      return {};
    for (RowPiece piece : op.getRowPieces())
      columns.push_back(piece.extent);
  }
  return columns;
}

/// The words of a row, which is worked on as bf16 or wider, that a lane should
/// have: more leave no registers for the rest.
static constexpr int64_t kWordsOfLane = 128;

/// What a step of the lanes of a row should have at least, in bits, where it is
/// a small part of the row: less is not a whole sector of memory.
static constexpr int64_t kLeastStepBits = 256, kFewSteps = 8;

/// How many lanes have how many elements of a chunk, in the order they are to
/// be tried: of a row that is too long for few lanes, rather small chunks.
/// `columns`: of rows of which lanes may have unequal numbers of chunks.
/// `picks`: whether elements are found by index, one after another in a lane.
static SmallVector<std::pair<int64_t, int64_t>>
listShares(const TableEntry &entry, int64_t rowBits, int64_t mostLanes,
           ArrayRef<int64_t> columns, bool picks) {
  SmallVector<std::pair<int64_t, int64_t>> shares;
  int64_t most = columns.empty() ? 0 : *llvm::max_element(columns);
  auto lanesFor = [&](int64_t vector) {
    return std::min<int64_t>(
        32, llvm::PowerOf2Ceil(llvm::divideCeil(most, vector)));
  };
  if (picks && most > 0)
    shares.push_back({lanesFor(1), 1});
  auto isGood = [&](int64_t step) {
    return columns.empty() || (llvm::all_equal(columns) && most % step == 0 &&
                               (most <= kFewSteps * step ||
                                rowBits / most * step >= kLeastStepBits));
  };
  for (int64_t vector = entry.vector; vector >= 1; vector /= 2)
    for (int64_t lanes = mostLanes; lanes >= 1; lanes /= 2)
      if (rowBits <= 32 * lanes * kWordsOfLane && isGood(lanes * vector))
        shares.push_back({lanes, vector});
  // Unequal ones cost a comparison each: where no others will do.
  for (int64_t vector = entry.vector; most > 0 && vector >= 1; vector /= 2)
    shares.push_back({lanesFor(vector), vector});
  // Where no such lanes divide the row.
  for (int64_t lanes = mostLanes; lanes >= 1; lanes /= 2)
    for (int64_t vector = entry.vector; vector >= 1; vector /= 2)
      if (rowBits > 32 * lanes * kWordsOfLane)
        shares.push_back({lanes, vector});
  return shares;
}

/// The schedule of a valid `entry` with lanes and vector reduced until it fits
/// every op of the kernel, or null.
static RowScheduleAttr fit(KernelOp kernel, const TableEntry &entry,
                           std::string &why) {
  if (entry.select != SelectAlgorithm::None)
    return fitSelection(kernel, entry, why);
  TeamWork work = getTeamWork(kernel);
  SmallVector<int64_t> columns = getUnevenColumns(kernel);
  bool picks = llvm::any_of(
      kernel.getBody().front().getOps<RowwiseOpInterface>(), isPicked);
  int64_t team = 0, threads = entry.threads, rows = entry.rows;
  int64_t cluster = 1;
  int64_t blocks = entry.blocks;
  int64_t mostLanes = entry.lanes, rowBits = 0;
  if (work.rows) {
    team = std::gcd(work.elements, std::max<int64_t>(entry.team, 1));
    // More would have nothing to do.
    cluster = std::gcd(work.elements / team, entry.cluster);
    if (work.elements > team * cluster * entry.threads)
      cluster = 1;
    threads = std::min<int64_t>(
        threads, llvm::alignTo(work.getThreads(team * cluster), 32));
    // Blocks were chosen for as many threads as most teams have.
    blocks = std::min(blocks, 1024 / threads);
    // Of long rows as many as shared memory has room for.
    rows = std::max<int64_t>(std::min(rows, 8192 / work.elements), 1);
  } else {
    rowBits = getRowBits(kernel, /*least=*/16);
    while (mostLanes < 32 && rowBits > 32 * mostLanes * kWordsOfLane)
      mostLanes *= 2;
    // A lane needs some 32 registers beside its words of the row.
    if (blocks &&
        getRowBits(kernel) > 32 * mostLanes * (65536 / (blocks * threads) - 32))
      blocks = 0;
  }
  for (auto [lanes, vector] :
       listShares(entry, rowBits, mostLanes, columns, picks)) {
    auto schedule = RowScheduleAttr::get(
        kernel.getContext(), threads, lanes, vector, blocks, entry.load,
        entry.store, entry.pdl, team,
        team ? std::min(rows, threads / lanes) : 0, cluster,
        SelectAlgorithm::None, /*chunks=*/1, /*parts=*/1);
    why = explainMisfit(schedule, kernel);
    if (why.empty())
      return schedule;
  }
  return {};
}

LogicalResult SelectSchedule::readSchedule() {
  if (rt::Status status = checkParserLimits(schedule, "schedule"); !status)
    return getOperation().emitError() << status.message();
  std::string why;
  {
    ScopedDiagnosticHandler quiet(&getContext(), [&](Diagnostic &told) {
      why = why.empty() ? ": " + told.str() : why;
      return success();
    });
    given = dyn_cast_if_present<RowScheduleAttr>(
        parseAttribute(schedule, &getContext()));
  }
  if (!given)
    return getOperation().emitError()
           << "expected the 'schedule' option to be a #dsv4.row_schedule, got '"
           << schedule << "'" << why;
  auto kernels = getOperation().getOps<KernelOp>();
  if (given.getSelect() != SelectAlgorithm::None && !kernels.empty() &&
      llvm::none_of(kernels, getSelectingOp))
    return (*kernels.begin())->emitOpError()
           << "row_schedule_c9: expected the 'schedule' option without "
              "'select', as no kernel selects elements of rows";
  return success();
}

/// What a kernel has no use for is left out: one schedule is for all of them.
static RowScheduleAttr reduceTo(KernelOp kernel, RowScheduleAttr given) {
  if (getTeamWork(kernel).rows != 0)
    return given;
  bool selects = bool(getSelectingOp(kernel));
  return RowScheduleAttr::get(
      kernel.getContext(), given.getThreads(), given.getLanes(),
      given.getVector(), given.getBlocks(), given.getLoad(), given.getStore(),
      given.getPdl(), /*team=*/0, /*rows=*/0, selects ? given.getCluster() : 1,
      selects ? given.getSelect() : SelectAlgorithm::None,
      selects ? given.getChunks() : 1, selects ? given.getParts() : 1);
}

LogicalResult SelectSchedule::select(KernelOp kernel,
                                     ArrayRef<TableEntry> entries) {
  if (given) {
    kernel.setScheduleAttr(reduceTo(kernel, given));
    return success();
  }
  auto ops = kernel.getBody().front().getOps<RowwiseOpInterface>();
  if (ops.empty())
    return success();
  RowwiseOpInterface first = *ops.begin();
  TeamWork work = getTeamWork(kernel);
  RowwiseOpInterface selecting = getSelectingOp(kernel);
  int64_t columns =
      selecting ? boundColumns(kernel, selecting.getSelection()) : 0;
  const TableEntry *best = nullptr;
  for (const TableEntry &entry : entries) {
    if (!StringRef(arch).starts_with(entry.arch) ||
        (!entry.op.empty() &&
         llvm::none_of(ops,
                       [&](RowwiseOpInterface op) {
                         return entry.op == op->getName().getStringRef();
                       })) ||
        (entry.most && boundRows(kernel) > entry.most) ||
        work.rows < entry.window || work.elements < entry.width ||
        (work.rows && !entry.team) ||
        (entry.grouped && first.getRowGroups().empty()) ||
        bool(selecting) != (entry.select != SelectAlgorithm::None) ||
        (entry.columns && columns > entry.columns) ||
        (entry.places && selecting &&
         selecting.getSelection().places > entry.places) ||
        (entry.bits && !first.getRowPieces().empty() &&
         entry.bits != first.getRowPieces().front().bits))
      continue;
    if (!best || entry.arch.size() > best->arch.size())
      best = &entry;
  }
  if (!best)
    return kernel.emitOpError()
           << "the schedule table has nothing for architecture '" << arch
           << "'";
  std::string why;
  RowScheduleAttr chosen = fit(kernel, *best, why);
  if (!chosen && !selecting) {
    // Interleaved factors may need steps that the entry does not reach, odd
    // rows a thread for every element.
    TableEntry wide = *best;
    if (work.rows)
      wide.threads = 1024;
    wide.lanes = 32;
    wide.vector = std::max<int64_t>(wide.vector, 16);
    chosen = fit(kernel, wide, why);
  }
  if (!chosen)
    return kernel.emitOpError() << "no schedule of the table fits: " << why;
  kernel.setScheduleAttr(chosen);
  remark::analysis(
      kernel.getLoc(),
      remark::RemarkOpts::name("schedule").category("dsv4-select-schedule"))
      << llvm::formatv(
             "kernel '{0}': {1} threads, {2} lanes a row, {3} elements "
             "a chunk, {4} rows a {5}",
             kernel.getSymName(), chosen.getThreads(), chosen.getLanes(),
             chosen.getVector(), chosen.getRowsPerBlock(),
             chosen.getCluster() > 1 ? "cluster"
             : chosen.getParts() > 1 ? "grid"
                                     : "block")
             .str();
  return success();
}
