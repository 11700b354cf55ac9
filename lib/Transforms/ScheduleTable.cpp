//===- ScheduleTable.cpp - Which schedule for which kernel ----------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ScheduleTable.h"

#include "dsv4/Dialect/CUDA.h"
#include "dsv4/Support/Files.h"
#include "dsv4/Support/Identifiers.h"

#include "llvm/Support/JSON.h"

#include <set>

using namespace mlir;
using namespace dsv4;

//===----------------------------------------------------------------------===//
// The built-in table
//===----------------------------------------------------------------------===//

namespace {

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

/// The same where few are selected: of so long a row the bin of the last one
/// has more than are ranked where many are.
constexpr Shape ofFewPlaces(Shape shape) {
  shape.places = 1024;
  return shape;
}

/// The same by vectors of four, of 16-bit elements, too: three of them are what
/// a thread has, which two of eight would not fill.
constexpr Shape byFours(Shape shape) {
  shape.vector = 4;
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
    {"dsv4.compress", 0, 512, 32, 2, false, /*blocks=*/1, /*team=*/1,
     /*rows=*/1, /*most=*/64, 0, /*cluster=*/2},
    {"dsv4.compress", 0, 256, 32, 2, false, /*blocks=*/2, /*team=*/2,
     /*rows=*/1},
    // What routes few tokens, or many; short rows, few long rows, the others.
    selectByWarp(32, /*most=*/256),
    selectByWarp(128),
    // Rows of so many columns at most, so many of them at most, by so many
    // blocks.
    selectFrom(SelectAlgorithm::Block, 256, 1024),
    selectFrom(SelectAlgorithm::Block, 1024, 8192),
    selectFrom(SelectAlgorithm::Block, 1024, 16384, 16, 4),
    selectFrom(SelectAlgorithm::Block, 512, 16384, 48, 4),
    selectFrom(SelectAlgorithm::Block, 1024, 16384, 64, 2),
    selectFrom(SelectAlgorithm::Stream, 512, 16384, 0, 1, /*chunks=*/2),
    selectFrom(SelectAlgorithm::Block, 1024, 32768, 8, 8),
    selectFrom(SelectAlgorithm::Block, 1024, 32768, 30, 4),
    byFours(selectFrom(SelectAlgorithm::Block, 1024, 32768, 32, 3)),
    selectFrom(SelectAlgorithm::Block, 1024, 32768, 64, 2),
    selectFrom(SelectAlgorithm::Block, 1024, 65536, 4, 16),
    selectFrom(SelectAlgorithm::Block, 1024, 65536, 15, 8),
    byFours(selectFrom(SelectAlgorithm::Block, 1024, 65536, 16, 6)),
    selectFrom(SelectAlgorithm::Block, 1024, 65536, 32, 4),
    // Where there are no clusters.
    selectFrom(SelectAlgorithm::Stream, 1024, 65536, 8, 1, /*chunks=*/2),
    ofFewPlaces(selectFrom(SelectAlgorithm::Block, 1024, 131072, 4, 16)),
    ofFewPlaces(selectFrom(SelectAlgorithm::Block, 1024, 131072, 15, 8)),
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

} // namespace

/// The table for `arch`: sm_9x as it was measured, the others follow it.
std::vector<TableEntry> dsv4::getBuiltinTable(StringRef arch) {
  bool hopper = arch.starts_with("sm_9");
  bool pdl = cuda::getArchNumber(arch) >= 90;
  std::vector<TableEntry> table;
  for (const Shape &shape : shapes) {
    // What a cluster shares is not for one block.
    bool isShared = shape.team || shape.select == SelectAlgorithm::Block;
    if (isShared && shape.cluster > 1 && !hasClusters(arch))
      continue;
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

//===----------------------------------------------------------------------===//
// Tables in files
//===----------------------------------------------------------------------===//

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

/// What is wrong with an entry but for its schedule, or nothing.
static StringRef explain(const TableEntry &entry) {
  if (!StringRef(entry.arch).starts_with("sm_"))
    return "'arch' is the beginning of an architecture's name: 'sm_', say, or "
           "'sm_90a'";
  if (std::min({entry.bits, entry.most, entry.window, entry.width,
                entry.columns, entry.places}) < 0)
    return "'bits', 'most', 'window', 'width', 'columns' and 'places' are not "
           "negative";
  if (entry.select == SelectAlgorithm::None &&
      (entry.columns || entry.places || entry.chunks != 1 || entry.parts != 1))
    return "'columns', 'places', 'chunks' and 'parts' are of entries "
           "with a 'select'";
  if (entry.select != SelectAlgorithm::None &&
      (entry.team || entry.window || entry.width || entry.grouped))
    return "'team', 'window', 'width' and 'grouped' are of entries "
           "without a 'select'";
  return "";
}

/// Reads one entry; returns what is wrong with it, or nothing.
static std::string readEntry(const llvm::json::Value &value,
                             TableEntry &entry) {
  llvm::json::Path::Root root("entry");
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
              map.mapOptional("load", load) && map.mapOptional("store", store);
  if (!good)
    return llvm::toString(root.getError());
  for (const auto &[key, unused] : *value.getAsObject())
    if (!llvm::is_contained(
            {"arch",    "op",     "bits",   "threads", "lanes",   "vector",
             "blocks",  "pdl",    "load",   "store",   "team",    "rows",
             "cluster", "most",   "window", "width",   "grouped", "columns",
             "select",  "chunks", "places", "parts"},
            key.str()))
      return "an entry has no '" + key.str() + "'";
  auto storePolicy = symbolizeStorePolicy(store);
  auto loadPolicy = symbolizeLoadPolicy(load);
  if (!storePolicy)
    return "'store' is 'default' or 'streaming'";
  if (!loadPolicy)
    return "'load' is 'default' or 'evict_last'";
  auto algorithm = symbolizeSelectAlgorithm(select);
  if (!algorithm)
    return "'select' is 'none', 'warp', 'block', 'stream' or 'grid'";
  entry.select = *algorithm;
  entry.store = *storePolicy;
  entry.load = *loadPolicy;
  return explain(entry).str();
}

/// A key that an object of `text` has twice, of which LLVM's parser would keep
/// one, or an empty string. What is not JSON is for that parser to refuse.
static std::string findRepeatedKey(StringRef text) {
  std::vector<std::set<std::string>> objects;
  for (size_t at = 0; at < text.size(); ++at) {
    char c = text[at];
    if (c == '{' || c == '[')
      objects.emplace_back();
    else if ((c == '}' || c == ']') && !objects.empty())
      objects.pop_back();
    if (c != '"')
      continue;
    size_t end = at + 1;
    while (end < text.size() && text[end] != '"')
      end += text[end] == '\\' ? 2 : 1;
    StringRef quoted = text.slice(at, end + 1);
    at = end;
    if (!text.substr(at + 1).ltrim().starts_with(":") || objects.empty())
      continue;
    // Escapes make two spellings one key.
    auto key = llvm::json::parse(quoted);
    if (!key) {
      llvm::consumeError(key.takeError());
      continue;
    }
    std::string name = key->getAsString().value_or("").str();
    if (!objects.back().insert(name).second)
      return name;
  }
  return "";
}

LogicalResult
dsv4::readScheduleTable(StringRef path, MLIRContext *context,
                        function_ref<InFlightDiagnostic()> emitError,
                        std::vector<TableEntry> &entries) {
  auto begin = [&] {
    return emitError() << "schedule table '" << path << "': ";
  };
  auto fail = [&](const Twine &what) { return begin() << what; };
  auto text = readFile(path, kMaxTableBytes);
  if (!text)
    return emitError() << "schedule table " << text.status().message();
  if (text->find('\0') != std::string::npos)
    return fail("not JSON: a NUL byte");
  if (isNestedDeeply(*text, /*most=*/8))
    return fail("expected a list of entries, got lists in lists");
  if (std::string key = findRepeatedKey(*text); !key.empty())
    return fail("an entry has '" + toCommentText(key) + "' twice");
  auto json = llvm::json::parse(*text);
  if (!json)
    return fail(llvm::toString(json.takeError()));
  const llvm::json::Array *rows = json->getAsArray();
  if (!rows)
    return fail("expected a list of entries");
  for (const llvm::json::Value &value : *rows) {
    TableEntry entry;
    if (std::string why = readEntry(value, entry); !why.empty())
      return fail(why);
    if (!RowScheduleAttr::getChecked(
            begin, context, entry.threads, entry.lanes, entry.vector,
            entry.blocks, entry.load, entry.store, entry.pdl, entry.team,
            entry.rows, entry.cluster, entry.select, entry.chunks, entry.parts))
      return failure();
    entries.push_back(entry);
  }
  return success();
}
