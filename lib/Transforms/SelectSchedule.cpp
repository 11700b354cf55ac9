//===- SelectSchedule.cpp - Choose the schedule of every kernel -*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsv4/Passes.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Remarks.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include <numeric>

using namespace mlir;
using namespace dsv4;

namespace dsv4 {
#define GEN_PASS_DEF_SELECTSCHEDULE
#include "dsv4/Passes.h.inc"
} // namespace dsv4

namespace {

/// One row of a schedule table. An empty `op` and 0 `bits` match everything;
/// the longest architecture that is a prefix of the target's wins, then order.
struct TableEntry {
  std::string arch; ///< "sm_90a", "sm_90", "sm_".
  std::string op;   ///< An op of the kernel.
  int64_t bits = 0; ///< Of a stored element of the first piece.
  int64_t threads = 128, lanes = 8, vector = 8, blocks = 0;
  LoadPolicy load = LoadPolicy::Default;
  StorePolicy store = StorePolicy::Default;
  bool pdl = false;
  int64_t team = 0, rows = 0, cluster = 1;
  int64_t most = 0;     ///< The most rows of the kernel that it is for; 0: any.
  int64_t window = 0;   ///< The fewest rows of operands a row takes.
  int64_t width = 0;    ///< The fewest elements of such a row.
  bool grouped = false; ///< For factors that stand for less than a row.
  SelectAlgorithm select = SelectAlgorithm::None;
  int64_t columns = 0; ///< The most elements of a row that is selected from.
  int64_t chunks = 1;
  int64_t places = 0; ///< The most elements that are selected.
  int64_t parts = 1;
};

bool hasClusters(StringRef arch) { return cuda::getArchNumber(arch) >= 90; }

/// What the built-in table has for an op on every family of architectures.
struct Shape {
  const char *op;
  int64_t bits, threads, lanes, vector;
  bool rereads = false; ///< Others load the same lines: keep them in the cache.
  int64_t blocks = 0, team = 0, rows = 0, most = 0, window = 0;
  int64_t cluster = 1; ///< Where there are clusters.
  int64_t width = 0;
  bool grouped = false;
  SelectAlgorithm select = SelectAlgorithm::None;
  int64_t columns = 0, chunks = 1, places = 0;
  int64_t parts = 1; ///< For `grid`; of others where there are no clusters.
};

/// An entry for rows that are selected from.
constexpr Shape selectFrom(SelectAlgorithm how, int64_t threads,
                           int64_t columns, int64_t most = 0,
                           int64_t cluster = 1, int64_t chunks = 1,
                           int64_t parts = 1) {
  Shape shape = {"dsv4.topk", 0, threads, 1, /*vector=*/8};
  shape.select = how;
  shape.columns = columns;
  shape.most = most;
  shape.cluster = cluster;
  shape.chunks = chunks;
  shape.parts = parts;
  return shape;
}

/// The same where a warp has a row.
constexpr Shape selectByWarp(int64_t threads, int64_t most = 0) {
  Shape shape =
      selectFrom(SelectAlgorithm::Warp, threads, kMostColumnsOfWarp, most);
  shape.places = kMostPlacesOfWarp;
  return shape;
}

/// The same where a multiprocessor is to have two blocks, each of which waits
/// for its threads often.
constexpr Shape twoBlocks(Shape shape) {
  shape.blocks = 2;
  return shape;
}

/// Measured on an H200; docs/Performance.md has the figures.
const Shape shapes[] = {
    // Few long windows, few windows, long windows, the others; pieces of
    // windows, of wide rows, few ones and the others.
    {"dsv4.compress", 0, 512, 32, 2, false, 0, 2, 1, /*most=*/64, /*window=*/16,
     /*cluster=*/2},
    {"dsv4.compress", 0, 512, 32, 2, false, 0, 2, 1, /*most=*/256,
     /*window=*/2},
    {"dsv4.compress", 0, 512, 32, 2, false, 0, 2, 1, 0, /*window=*/16},
    {"dsv4.compress", 0, 512, 32, 2, false, /*blocks=*/2, /*team=*/1,
     /*rows=*/8, 0, 2, 1, /*width=*/512},
    {"dsv4.compress", 0, 256, 32, 2, false, /*blocks=*/2, 2, /*rows=*/8, 0, 2},
    {"dsv4.compress", 0, 512, 32, 2, false, 0, 2, 1, 0, 0, 1, /*width=*/1025},
    {"dsv4.compress", 0, 512, 32, 2, false, /*blocks=*/4, /*team=*/1,
     /*rows=*/1, /*most=*/64, 0, /*cluster=*/4},
    {"dsv4.compress", 0, 256, 32, 2, false, /*blocks=*/2, /*team=*/2,
     /*rows=*/1},
    // What routes few tokens, or many; short rows, few long rows, the others.
    selectByWarp(32, /*most=*/256),
    selectByWarp(128),
    // Rows of so many columns at most, so many of them at most, by so many
    // blocks.
    selectFrom(SelectAlgorithm::Block, 256, 1024),
    selectFrom(SelectAlgorithm::Block, 1024, 8192),
    selectFrom(SelectAlgorithm::Stream, 512, 16384, 32, 4),
    selectFrom(SelectAlgorithm::Stream, 512, 16384, 0, 1, /*chunks=*/2),
    selectFrom(SelectAlgorithm::Stream, 512, 65536, 8, 16),
    selectFrom(SelectAlgorithm::Stream, 1024, 524288, 8, 16, /*chunks=*/2,
               /*parts=*/16),
    selectFrom(SelectAlgorithm::Grid, 1024, 0, 2, 1, /*chunks=*/1,
               /*parts=*/64),
    selectFrom(SelectAlgorithm::Grid, 1024, 0, 4, 1, /*chunks=*/1,
               /*parts=*/32),
    selectFrom(SelectAlgorithm::Stream, 1024, 0, 8, 16, /*chunks=*/2,
               /*parts=*/16),
    selectFrom(SelectAlgorithm::Stream, 1024, 0, 32, 4, /*chunks=*/2),
    selectFrom(SelectAlgorithm::Stream, 1024, 32768),
    selectFrom(SelectAlgorithm::Stream, 1024, 0, 64, 2, /*chunks=*/2),
    twoBlocks(selectFrom(SelectAlgorithm::Stream, 512, 0, 0, 1, /*chunks=*/2)),
    // A decode step's tokens: as many lanes as there are.
    {"dsv4.paged_append", 0, 128, 32, 2, true, 0, 0, 0, /*most=*/256},
    {"dsv4.rms_norm", 0, 128, 8, 8, true},
    {"dsv4.paged_append", 32, 128, 32, 4, false},
    // Powers of two as factors of groups.
    {"dsv4.paged_append", 8, 128, 8, 8, true, /*blocks=*/6, 0, 0, 0, 0, 1, 0,
     /*grouped=*/true},
    {"dsv4.paged_append", 0, 128, 16, 4, true, /*blocks=*/8},
    {"dsv4.quantize", 0, 128, 16, 16, false},
    {"dsv4.dequantize", 0, 256, 32, 8, true},
    {"", 8, 128, 16, 4, true},
    {"", 0, 128, 16, 8, true},
};

/// The table for `arch`: sm_9x as it was measured, the others follow it.
std::vector<TableEntry> getBuiltinTable(StringRef arch) {
  bool hopper = arch.starts_with("sm_9");
  bool pdl = cuda::getArchNumber(arch) >= 90;
  std::vector<TableEntry> table;
  for (const Shape &shape : shapes) {
    bool isGrid = shape.select == SelectAlgorithm::Grid ||
                  (!hasClusters(arch) && shape.parts > 1);
    table.push_back(
        {"sm_",
         shape.op,
         shape.bits,
         shape.threads,
         shape.lanes,
         shape.vector,
         shape.blocks,
         hopper && shape.rereads ? LoadPolicy::EvictLast : LoadPolicy::Default,
         StorePolicy::Default,
         pdl,
         shape.team,
         shape.rows,
         hasClusters(arch) ? shape.cluster : 1,
         shape.most,
         shape.window,
         shape.width,
         shape.grouped,
         isGrid ? SelectAlgorithm::Grid : shape.select,
         shape.columns,
         shape.chunks,
         shape.places,
         isGrid ? shape.parts : 1});
  }
  return table;
}

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
    if (!table.empty() && failed(readTable(entries)))
      return signalPassFailure();
    llvm::append_range(entries, getBuiltinTable(arch));
    for (KernelOp kernel : getOperation().getOps<KernelOp>())
      if (!kernel.getScheduleAttr() && failed(select(kernel, entries)))
        return signalPassFailure();
  }

private:
  LogicalResult readTable(std::vector<TableEntry> &entries);
  LogicalResult readSchedule();
  LogicalResult select(KernelOp kernel, ArrayRef<TableEntry> entries);

  RowScheduleAttr given; ///< For all kernels, if there is the option.
};

} // namespace

/// Whether values of `text` are in more than `most` others: the parser calls
/// itself for each.
static bool isNestedDeeply(StringRef text, int64_t most) {
  bool inString = false;
  int64_t depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (inString && text[i] == '\\')
      ++i;
    else if (text[i] == '"')
      inString = !inString;
    else if (!inString && (text[i] == '[' || text[i] == '{') && ++depth > most)
      return true;
    else if (!inString && (text[i] == ']' || text[i] == '}'))
      --depth;
  }
  return false;
}

/// What is wrong with the bounds of an entry, or nothing.
static StringRef explainBounds(const TableEntry &entry) {
  if (!StringRef(entry.arch).starts_with("sm_"))
    return "'arch' is the beginning of an architecture's name: 'sm_', say, or "
           "'sm_90a'";
  if (std::min({entry.bits, entry.most, entry.window, entry.width,
                entry.columns, entry.places}) < 0)
    return "'bits', 'most', 'window', 'width', 'columns' and 'places' are not "
           "negative";
  return "";
}

LogicalResult SelectSchedule::readTable(std::vector<TableEntry> &entries) {
  auto fail = [&](const Twine &what) {
    return getOperation().emitError()
           << "schedule table '" << table << "': " << what;
  };
  auto buffer = llvm::MemoryBuffer::getFile(table);
  if (!buffer)
    return fail(buffer.getError().message());
  if (isNestedDeeply((*buffer)->getBuffer(), /*most=*/8))
    return fail("expected a list of entries, got lists in lists");
  auto json = llvm::json::parse((*buffer)->getBuffer());
  if (!json)
    return fail(llvm::toString(json.takeError()));
  const llvm::json::Array *rows = json->getAsArray();
  if (!rows)
    return fail("expected a list of entries");
  for (const llvm::json::Value &value : *rows) {
    llvm::json::Path::Root root("entry");
    TableEntry entry;
    std::string store = "default", load = "default", select = "none";
    llvm::json::ObjectMapper map(value, root);
    entry.arch = "sm_";
    bool good = map && map.mapOptional("arch", entry.arch) &&
                map.mapOptional("op", entry.op) &&
                map.mapOptional("bits", entry.bits) &&
                map.mapOptional("threads", entry.threads) &&
                map.mapOptional("lanes", entry.lanes) &&
                map.mapOptional("vector", entry.vector) &&
                map.mapOptional("blocks", entry.blocks) &&
                map.mapOptional("pdl", entry.pdl) &&
                map.mapOptional("team", entry.team) &&
                map.mapOptional("rows", entry.rows) &&
                map.mapOptional("cluster", entry.cluster) &&
                map.mapOptional("most", entry.most) &&
                map.mapOptional("window", entry.window) &&
                map.mapOptional("width", entry.width) &&
                map.mapOptional("grouped", entry.grouped) &&
                map.mapOptional("columns", entry.columns) &&
                map.mapOptional("places", entry.places) &&
                map.mapOptional("chunks", entry.chunks) &&
                map.mapOptional("parts", entry.parts) &&
                map.mapOptional("select", select) &&
                map.mapOptional("load", load) &&
                map.mapOptional("store", store);
    if (!good)
      return fail(llvm::toString(root.getError()));
    for (const auto &[key, unused] : *value.getAsObject())
      if (!llvm::is_contained(
              {"arch",    "op",     "bits",   "threads", "lanes",   "vector",
               "blocks",  "pdl",    "load",   "store",   "team",    "rows",
               "cluster", "most",   "window", "width",   "grouped", "columns",
               "select",  "chunks", "places", "parts"},
              key.str()))
        return fail("an entry has no '" + key.str() + "'");
    if (StringRef why = explainBounds(entry); !why.empty())
      return fail(why);
    auto storePolicy = symbolizeStorePolicy(store);
    auto loadPolicy = symbolizeLoadPolicy(load);
    if (!storePolicy)
      return fail("'store' is 'default' or 'streaming'");
    if (!loadPolicy)
      return fail("'load' is 'default' or 'evict_last'");
    auto algorithm = symbolizeSelectAlgorithm(select);
    if (!algorithm)
      return fail("'select' is 'none', 'warp', 'block', 'stream' or 'grid'");
    entry.select = *algorithm;
    if (entry.select == SelectAlgorithm::None &&
        (entry.columns || entry.places || entry.chunks != 1 ||
         entry.parts != 1))
      return fail("'columns', 'places', 'chunks' and 'parts' are of entries "
                  "with a 'select'");
    if (entry.select != SelectAlgorithm::None &&
        (entry.team || entry.window || entry.width || entry.grouped))
      return fail("'team', 'window', 'width' and 'grouped' are of entries "
                  "without a 'select'");
    entry.store = *storePolicy;
    entry.load = *loadPolicy;
    if (!RowScheduleAttr::getChecked(
            [&] {
              return getOperation().emitError()
                     << "schedule table '" << table << "': ";
            },
            &getContext(), entry.threads, entry.lanes, entry.vector,
            entry.blocks, entry.load, entry.store, entry.pdl, entry.team,
            entry.rows, entry.cluster, entry.select, entry.chunks, entry.parts))
      return failure();
    entries.push_back(entry);
  }
  return success();
}

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

/// The schedule of a valid `entry` with lanes and vector reduced until it fits
/// every op of the kernel, or null.
static RowScheduleAttr fit(KernelOp kernel, const TableEntry &entry,
                           std::string &why) {
  if (entry.select != SelectAlgorithm::None)
    return fitSelection(kernel, entry, why);
  TeamWork work = getTeamWork(kernel);
  int64_t team = 0, threads = entry.threads, rows = entry.rows;
  int64_t cluster = 1;
  int64_t blocks = entry.blocks;
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
  } else if (blocks &&
             getRowBits(kernel) >
                 32 * entry.lanes * (65536 / (blocks * threads) - 32)) {
    // A lane needs some 32 registers beside its words of the row.
    blocks = 0;
  }
  // Of a long row, which is worked on as bf16 or wider, more words than these
  // leave no registers for the rest.
  constexpr int64_t kWordsOfLane = 128;
  int64_t mostLanes = entry.lanes;
  while (!work.rows && mostLanes < 32 &&
         getRowBits(kernel, /*least=*/16) > 32 * mostLanes * kWordsOfLane)
    mostLanes *= 2;
  for (int64_t vector = entry.vector; vector >= 1; vector /= 2)
    for (int64_t lanes = mostLanes; lanes >= 1; lanes /= 2) {
      auto schedule =
          RowScheduleAttr::get(kernel.getContext(), threads, lanes, vector,
                               blocks, entry.load, entry.store, entry.pdl, team,
                               team ? std::min(rows, threads / lanes) : 0,
                               cluster, SelectAlgorithm::None, /*chunks=*/1,
                               /*parts=*/1);
      why = explainMisfit(schedule, kernel);
      if (why.empty())
        return schedule;
    }
  return {};
}

LogicalResult SelectSchedule::readSchedule() {
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
