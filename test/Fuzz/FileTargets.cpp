//===- FileTargets.cpp - Damaged files ------------------------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// .npy files, entries of the disk cache and schedule tables.
//
//===----------------------------------------------------------------------===//

#include "Fuzz.h"

#include "Samples.h"
#include "dsv4/Schedule/ScheduleTable.h"

#include "dsv4-runtime/Entry.h"
#include "dsv4/Support/Diagnostics.h"
#include "dsv4/Support/Npy.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"

#include <sys/mman.h>
#include <unistd.h>

using namespace dsv4;
using namespace dsv4::fuzz;

//===----------------------------------------------------------------------===//
// npy
//===----------------------------------------------------------------------===//

/// A file of version 1.0 with `shape` in the words of numpy.save.
static std::string makeNpy(const std::string &descr, const std::string &shape,
                           size_t bytes) {
  std::string header = "{'descr': '" + descr +
                       "', 'fortran_order': False, 'shape': " + shape + ", }";
  header.resize((header.size() + 11 + 63) / 64 * 64 - 11, ' ');
  header += '\n';
  std::string file("\x93NUMPY\x01\x00", 8);
  file += char(header.size() & 0xFF);
  file += char(header.size() >> 8);
  file += header;
  for (size_t i = 0; i < bytes; ++i)
    file += char(i * 37);
  return file;
}

static std::vector<std::string> makeNpySeeds(std::mt19937_64 &) {
  return {makeNpy("|u1", "(0,)", 0),    makeNpy("<u2", "(3, 5)", 30),
          makeNpy("<f4", "(2, 2)", 16), makeNpy("<i4", "(7,)", 28),
          makeNpy("<i8", "()", 8),      makeNpy("|u1", "(1, 2, 3, 4)", 24),
          makeNpy("<u4", "(1, 1)", 4),  makeNpy("<f4", "(16, 16)", 1024),
          makeNpy("<i8", "(2, 3)", 48)};
}

static Outcome runNpy(llvm::StringRef bytes) {
  auto array = parseNpy(bytes, "mutant.npy");
  if (!array)
    return refusedWith(array.status().message());
  size_t size = array->dtype.back() - '0';
  for (int64_t extent : array->shape)
    size *= extent;
  if (array->bytes.size() != size)
    return broken("the elements are not those of the shape");
  if (!bytes.ends_with(llvm::StringRef(array->bytes.data(), size)))
    return broken("the elements are not the end of the file");
  // The header, read in another way: its length, and the extents as it has
  // them.
  size_t fixed = bytes[6] == 1 ? 10 : 12;
  size_t header = bytes[6] == 1
                      ? llvm::support::endian::read16le(bytes.data() + 8)
                      : llvm::support::endian::read32le(bytes.data() + 8);
  if (fixed + header + size != bytes.size())
    return broken("the lengths of header and elements are not that of the "
                  "file");
  llvm::StringRef text = bytes.substr(fixed, header);
  for (int64_t extent : array->shape)
    if (!text.contains(std::to_string(extent)))
      return broken("the header has no extent " + std::to_string(extent));
  return accepted();
}

const Target dsv4::fuzz::npyTarget = {"npy", "damaged .npy files", false,
                                      makeNpySeeds, runNpy};

//===----------------------------------------------------------------------===//
// entry, resealed-entry
//===----------------------------------------------------------------------===//

static const char entryKey[] = "00ff";

static std::vector<std::string> makeEntrySeeds(std::mt19937_64 &) {
  std::vector<std::string> entries;
  for (const char *target : {"host", "cuda"}) {
    rt::CompiledProgram program = rt::test::gatherProgram(target);
    entries.push_back(rt::serialize(program, entryKey));
    program.info.kernels.push_back(program.info.kernels.front());
    program.images.push_back(std::string(300, '\x5A'));
    entries.push_back(rt::serialize(program, entryKey));
    entries.push_back(rt::serialize(rt::test::scoresProgram(target), entryKey));
  }
  return entries;
}

/// Whatever was changed, an entry is not used.
static Outcome runEntry(llvm::StringRef bytes) {
  static const std::vector<std::string> whole = [] {
    std::mt19937_64 random;
    return makeEntrySeeds(random);
  }();
  auto program =
      rt::parse(std::string_view(bytes.data(), bytes.size()), entryKey);
  bool isWhole = llvm::is_contained(whole, bytes);
  if (program)
    return isWhole ? accepted() : broken("a damaged entry is accepted");
  return isWhole ? broken("an entry is refused: " + program.status().message())
                 : refusedWith(program.status().message());
}

/// The same with a digest and lengths that fit, as a person would make it: what
/// is accepted is a program like any other.
static Outcome runResealedEntry(llvm::StringRef bytes) {
  constexpr size_t digestBytes = 32, trailerBytes = 64;
  std::string entry = bytes.str();
  size_t metadata = entry.find("{\"key\"");
  if (entry.size() > trailerBytes && metadata != std::string::npos &&
      metadata < entry.size() - trailerBytes) {
    char *trailer = entry.data() + entry.size() - trailerBytes;
    llvm::support::endian::write64le(trailer + 16, metadata);
    llvm::support::endian::write64le(trailer + 24,
                                     entry.size() - trailerBytes - metadata);
    entry.resize(entry.size() - digestBytes);
    entry += llvm::fromHex(rt::digestHex(entry));
  }
  auto program = rt::parse(entry, entryKey);
  if (!program)
    return refusedWith(program.status().message());
  if (rt::Status status = program->info.validate(); !status)
    return broken("an accepted program is not valid: " + status.message());
  auto again = rt::parse(rt::serialize(*program, entryKey), entryKey);
  if (!again || again->images != program->images ||
      again->info.toJSON() != program->info.toJSON())
    return broken("an accepted program is written as another");
  return accepted();
}

const Target dsv4::fuzz::entryTarget = {"entry",
                                        "damaged entries of the disk cache",
                                        false, makeEntrySeeds, runEntry};
const Target dsv4::fuzz::resealedEntryTarget = {
    "resealed-entry",
    "changed entries of the disk cache with a digest that fits", false,
    makeEntrySeeds, runResealedEntry};

//===----------------------------------------------------------------------===//
// table
//===----------------------------------------------------------------------===//

static std::vector<std::string> makeTableSeeds(std::mt19937_64 &) {
  return {"[]", R"([{"threads": 128, "rows": {"lanes": 16, "vector": 8}}])",
          R"([{"arch": "sm_90a", "op": "dsv4.paged_gather", "threads": 64,
          "min_blocks": 2, "pdl": true, "max_rows": 4096,
          "rows": {"bits": 8, "lanes": 8, "vector": 16, "load": "evict_last",
                   "store": "streaming"}}])",
          R"([{"op": "dsv4.compress", "threads": 256, "cluster": 2,
          "rows": {"lanes": 32, "vector": 8},
          "window": {"elements": 4, "rows": 1, "min_members": 16,
                     "min_channels": 512}},
         {"threads": 32, "rows": {"grouped": true, "lanes": 4, "vector": 2}}])",
          R"({"arch": "sm_9", "provenance": "not measured", "entries": [
          {"op": "dsv4.topk", "threads": 1024,
           "select": {"algorithm": "stream", "vector": 4, "vectors": 4,
                      "max_columns": 65536, "max_k": 2048}},
          {"op": "dsv4.topk", "threads": 512,
           "select": {"algorithm": "grid", "vector": 4, "blocks": 8}}]})"};
}

static Outcome runTable(llvm::StringRef text) {
  int file = memfd_create("table", MFD_CLOEXEC);
  if (file < 0 || write(file, text.data(), text.size()) != ssize_t(text.size()))
    return broken("cannot write the table");
  mlir::DialectRegistry registry;
  registry.insert<DSV4Dialect>();
  registerScheduleKinds(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<DSV4Dialect>();
  FirstError error(&context);
  ScheduleTable table;
  bool good = succeeded(
      table.readFile("/proc/self/fd/" + std::to_string(file), &context, [&] {
        return mlir::emitError(mlir::UnknownLoc::get(&context));
      }));
  close(file);
  return good ? accepted()
              : refusedWith(error.status(rt::Code::InvalidArgument).message());
}

const Target dsv4::fuzz::tableTarget = {"table", "damaged schedule tables",
                                        false, makeTableSeeds, runTable};
