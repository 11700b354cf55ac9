//===- ScheduleTable.cpp - Which schedule for which kernel ----------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsv4/Schedule/ScheduleTable.h"

#include "Kinds.h"

#include "dsv4/Support/Files.h"
#include "dsv4/Support/Identifiers.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace dsv4;

// Made of lib/Schedule/Tables.
namespace dsv4::rt {
std::string_view scheduleTable(std::string_view file);
const std::vector<std::string_view> &scheduleTables();
} // namespace dsv4::rt

//===----------------------------------------------------------------------===//
// Entries and kernels
//===----------------------------------------------------------------------===//

bool TableEntry::appliesTo(KernelOp kernel, StringRef target) const {
  auto kernelOps = kernel.getBody().front().getOps<RowwiseOpInterface>();
  auto hasOp = [&](StringRef name) {
    return llvm::any_of(kernelOps, [&](RowwiseOpInterface op) {
      return op->getName().getStringRef() == name;
    });
  };
  auto isPlanned = [&](RowwiseOpInterface each) {
    CooperativeWork work = each.getCooperativeWork();
    return !work || llvm::any_of(parts, [&](const auto &part) {
      return part->getKind() == work.kind;
    });
  };
  return target.starts_with(arch) && llvm::all_of(ops, hasOp) &&
         (!maxRows || boundRows(kernel) <= maxRows) &&
         llvm::all_of(kernelOps, isPlanned) &&
         llvm::all_of(
             parts, [&](const auto &part) { return part->appliesTo(kernel); });
}

/// The first candidate of `launch` and `parts` that fits `kernel`, or null.
static ScheduleAttr fitParts(KernelOp kernel, StringRef target,
                             const LaunchPart &launch,
                             ArrayRef<std::shared_ptr<const PartEntry>> parts,
                             std::string &why) {
  SmallVector<ScheduleCandidate> candidates(1);
  candidates.front().launch = launch;
  for (const auto &part : parts) {
    SmallVector<ScheduleCandidate> next;
    for (const ScheduleCandidate &base : candidates)
      part->addCandidates(kernel, base, next);
    candidates = std::move(next);
  }
  for (const ScheduleCandidate &candidate : candidates) {
    auto schedule = ScheduleAttr::get(kernel.getContext(), candidate.launch,
                                      candidate.parts);
    why = explainMisfit(schedule, kernel, target);
    if (why.empty())
      return schedule;
  }
  return {};
}

ScheduleAttr TableEntry::fit(KernelOp kernel, StringRef target,
                             std::string &why) const {
  if (ScheduleAttr schedule = fitParts(kernel, target, launch, parts, why))
    return schedule;
  LaunchPart wideLaunch = launch;
  std::vector<std::shared_ptr<const PartEntry>> wideParts;
  bool isWider = false;
  for (const auto &part : parts) {
    auto wide = part->widen(wideLaunch);
    isWider |= wide != nullptr;
    wideParts.push_back(wide ? wide : part);
  }
  return isWider ? fitParts(kernel, target, wideLaunch, wideParts, why)
                 : ScheduleAttr();
}

const TableEntry *ScheduleTable::find(KernelOp kernel, StringRef arch) const {
  const TableEntry *best = nullptr;
  for (const TableEntry &entry : entries)
    if ((!best || entry.arch.size() > best->arch.size()) &&
        entry.appliesTo(kernel, arch))
      best = &entry;
  return best;
}

//===----------------------------------------------------------------------===//
// Text that anybody may have written
//===----------------------------------------------------------------------===//

/// Whether values of `text` are in more than `max` others: the parser calls
/// itself for each.
static bool isNestedDeeply(StringRef text, int64_t max) {
  bool inString = false;
  int64_t depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (inString && text[i] == '\\')
      ++i;
    else if (text[i] == '"')
      inString = !inString;
    else if (!inString && (text[i] == '[' || text[i] == '{') && ++depth > max)
      return true;
    else if (!inString && (text[i] == ']' || text[i] == '}'))
      --depth;
  }
  return false;
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
    std::string name = quoted.drop_front().drop_back().str();
    // Escapes make two spellings one key.
    if (quoted.contains('\\')) {
      auto key = llvm::json::parse(quoted);
      if (!key) {
        llvm::consumeError(key.takeError());
        continue;
      }
      name = key->getAsString().value_or("").str();
    }
    if (!objects.back().insert(name).second)
      return name;
  }
  return "";
}

//===----------------------------------------------------------------------===//
// Tables of JSON
//===----------------------------------------------------------------------===//

/// What is wrong with an object, or nothing.
static std::string explain(const TableObject &object,
                           llvm::json::Path::Root &root, StringRef what) {
  if (!object.isGood())
    return llvm::toString(root.getError());
  if (std::string key = object.findUnknown(); !key.empty())
    return (what + " has no '" + toCommentText(key) + "'").str();
  return "";
}

/// Reads the members that a table has for all of its entries, too.
static void readDefaults(TableObject &object, TableEntry &entry) {
  object.read("arch", entry.arch);
  object.read("provenance", entry.provenance);
  if (object.isGood() && !StringRef(entry.arch).starts_with("sm_"))
    object.fail("arch", "expected the beginning of an architecture's name, "
                        "such as 'sm_' or 'sm_90a'");
}

/// Reads the name of an op, or a list of names.
static void readOps(TableObject &object, TableEntry &entry) {
  const llvm::json::Value *value = object.find("op");
  if (value && value->getAsArray())
    object.read("op", entry.ops);
  else if (value)
    object.read("op", entry.ops.emplace_back());
}

/// Reads one entry; returns what is wrong with it, or nothing.
static std::string readEntry(const llvm::json::Value &value,
                             ArrayRef<const ScheduleKind *> kinds,
                             TableEntry &entry) {
  llvm::json::Path::Root root("entry");
  llvm::json::Path path(root);
  TableObject object(value, path);
  readDefaults(object, entry);
  readOps(object, entry);
  object.readNotNegative("max_rows", entry.maxRows);
  object.read("threads", entry.launch.threads);
  object.read("cluster", entry.launch.cluster);
  object.read("min_blocks", entry.launch.minBlocks);
  object.read("pdl", entry.launch.pdl);
  SmallVector<StringRef> keys;
  for (const ScheduleKind *kind : kinds) {
    keys.push_back(kind->getKey());
    const llvm::json::Value *part = object.find(kind->getKey());
    if (!object.isGood() || !part)
      continue;
    llvm::json::Path partPath = path.field(kind->getKey());
    TableObject partObject(*part, partPath);
    entry.parts.push_back(kind->read(partObject));
    if (std::string why =
            explain(partObject, root, "'" + kind->getKey().str() + "'");
        !why.empty())
      return why;
  }
  if (std::string why = explain(object, root, "an entry"); !why.empty())
    return why;
  return entry.parts.empty() ? "an entry has no part of a schedule: expected "
                               "one of '" +
                                   llvm::join(keys, "', '") + "'"
                             : "";
}

/// The parts of an entry make a schedule, before they are reduced for a kernel.
static bool isValid(const TableEntry &entry, MLIRContext *context,
                    EmitError emitError) {
  SmallVector<Attribute> parts;
  for (const auto &part : entry.parts) {
    parts.push_back(part->getPart(emitError, context));
    if (!parts.back())
      return false;
  }
  return bool(ScheduleAttr::getChecked(emitError, context, entry.launch.threads,
                                       entry.launch.cluster,
                                       entry.launch.minBlocks, entry.launch.pdl,
                                       ArrayAttr::get(context, parts)));
}

/// The entries of a table, and what they have unless they say otherwise; null,
/// and what is wrong in `why`.
static const llvm::json::Array *findEntries(const llvm::json::Value &json,
                                            TableEntry &defaults,
                                            std::string &why) {
  const llvm::json::Array *entries = json.getAsArray();
  if (!entries && json.getAsObject()) {
    llvm::json::Path::Root root("table");
    TableObject object(json, root);
    readDefaults(object, defaults);
    if (const llvm::json::Value *member = object.find("entries"))
      entries = member->getAsArray();
    why = explain(object, root, "a table");
  }
  if (!entries && why.empty())
    why = "expected a list of entries, or an object with 'entries'";
  return why.empty() ? entries : nullptr;
}

/// Reads the entries of a table, whose parts may not make schedules; returns
/// what is wrong with it, or nothing.
static std::string readEntries(const llvm::json::Value &json,
                               ArrayRef<const ScheduleKind *> kinds,
                               std::vector<TableEntry> &entries) {
  TableEntry defaults;
  std::string why;
  const llvm::json::Array *values = findEntries(json, defaults, why);
  if (!values)
    return why;
  for (const llvm::json::Value &value : *values) {
    entries.push_back(defaults);
    if (why = readEntry(value, kinds, entries.back()); !why.empty())
      return why;
  }
  return "";
}

LogicalResult ScheduleTable::read(StringRef text, StringRef name,
                                  MLIRContext *context, EmitError emitError) {
  auto fail = [&](const Twine &what) {
    return emitError() << "schedule table '" << name << "': " << what;
  };
  if (text.contains('\0'))
    return fail("not JSON: a NUL byte");
  if (isNestedDeeply(text, /*max=*/8))
    return fail("expected a list of entries, got lists in lists");
  if (std::string key = findRepeatedKey(text); !key.empty())
    return fail("an entry has '" + toCommentText(key) + "' twice");
  auto json = llvm::json::parse(text);
  if (!json)
    return fail(llvm::toString(json.takeError()));
  std::vector<TableEntry> read;
  if (std::string why = readEntries(*json, getScheduleKinds(context), read);
      !why.empty())
    return fail(why);
  auto begin = [&] { return fail(""); };
  if (!llvm::all_of(read, [&](const TableEntry &entry) {
        return isValid(entry, context, begin);
      }))
    return failure();
  llvm::append_range(entries, read);
  return success();
}

LogicalResult ScheduleTable::readFile(StringRef path, MLIRContext *context,
                                      EmitError emitError) {
  auto text = dsv4::readFile(path.str(), kMaxTableBytes);
  if (!text)
    return emitError() << "schedule table " << text.status().message();
  return read(*text, path, context, emitError);
}

namespace {
/// A table that is built in.
struct BuiltinTable {
  std::string arch;
  std::vector<TableEntry> entries;
};
} // namespace

/// All tables that are built in. A compile is short beside the time that it
/// takes to read them, so they are read once per process. A unit test checks
/// them as those of users are.
static const std::vector<BuiltinTable> &getBuiltinTables() {
  static const std::vector<BuiltinTable> tables = [] {
    std::vector<BuiltinTable> tables;
    for (std::string_view file : rt::scheduleTables()) {
      auto json =
          llvm::cantFail(llvm::json::parse(StringRef(rt::scheduleTable(file))));
      BuiltinTable &table = tables.emplace_back();
      table.arch = json.getAsObject()->getString("arch").value_or("").str();
      std::string why = readEntries(json, getBuiltinKinds(), table.entries);
      assert(why.empty() && "a built-in table is wrong");
      (void)why;
    }
    return tables;
  }();
  return tables;
}

LogicalResult ScheduleTable::readBuiltin(MLIRContext *context,
                                         EmitError emitError, StringRef arch) {
  // Without an architecture they are checked like those of a user.
  if (arch.empty()) {
    for (std::string_view file : rt::scheduleTables())
      if (failed(read(rt::scheduleTable(file), StringRef(file), context,
                      emitError)))
        return failure();
    return success();
  }
  // Of a family there is a table per kind, and each has an entry for anything.
  StringRef family;
  for (const BuiltinTable &table : getBuiltinTables())
    if (arch.starts_with(table.arch) && table.arch.size() > family.size())
      family = table.arch;
  for (const BuiltinTable &table : getBuiltinTables())
    if (table.arch == family)
      llvm::append_range(entries, table.entries);
  for (const ScheduleKindInterface *brought : getScheduleInterfaces(context))
    if (StringRef text = brought->getTable(); !text.empty())
      if (failed(read(text, brought->getDialect()->getNamespace(), context,
                      emitError)))
        return failure();
  return success();
}
