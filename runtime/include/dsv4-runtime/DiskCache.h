//===- DiskCache.h - Compiled programs kept on disk -------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A directory of immutable, self-checking entries that any number of processes
// read and write at once:
//
//   <root>/v4/<arch>/llvmcache-<key>     one entry (see Entry.h)
//   <root>/v4/quarantine/                bad entries, at most 16
//
// An entry is written to a temporary file and renamed, so a reader sees all of
// it or nothing; correctness depends on no lock, and EntryLock.h only saves
// work. Nothing here can fail a
// caller: an error is a warning and counts as a miss. A directory that others
// could write to, at any level from the root down, is not used at all.
//
// The directory of an architecture is flat, and the names have LLVM's prefix,
// because LLVM prunes it: LLVM bounds one directory, and touches only files
// with that prefix.
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_RUNTIME_DISKCACHE_H
#define DSV4_RUNTIME_DISKCACHE_H

#include "dsv4-runtime/EntryLock.h"
#include "dsv4-runtime/Program.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <sys/stat.h>

namespace dsv4::rt {

class Directory;

struct DiskCacheOptions {
  /// The cache directory; empty: DiskCache::defaultRoot().
  std::string root;
  /// Keeps nothing on disk, whatever `root` and the environment are.
  bool memoryOnly = false;
  /// Receives every error, one line each, from any thread.
  std::function<void(const std::string &)> warn;
  /// Bounds of one architecture's directory; 0: no bound.
  uint64_t maxBytes = uint64_t(1) << 30;
  uint64_t maxAgeSeconds = 30 * 24 * 3600;
  /// Minimum time between two prunings of a directory; 0: at each publish.
  uint64_t pruneIntervalSeconds = 20 * 60;
  EntryLockLimits lock;
};

struct DiskCacheStats {
  uint64_t hits = 0;
  uint64_t misses = 0;      ///< Bad entries included.
  uint64_t quarantined = 0; ///< Bad entries set aside.
  uint64_t writes = 0;
  uint64_t failedWrites = 0;
  uint64_t waits = 0;    ///< For another process that made the same entry.
  uint64_t passedBy = 0; ///< Of these, where it did not come to an end.
};

/// Safe to use from several threads at once.
class DiskCache {
public:
  explicit DiskCache(DiskCacheOptions options);
  DiskCache(const DiskCache &) = delete;
  DiskCache &operator=(const DiskCache &) = delete;

  /// $DSV4_CACHE_DIR, $XDG_CACHE_HOME/dsv4, $HOME/.cache/dsv4, or "" for none.
  static std::string defaultRoot();

  /// False if the directory does not exist or was refused.
  bool enabled() const { return !directory.empty(); }

  /// The root in use; empty when not enabled.
  const std::string &root() const { return directory; }

  /// Where the entry of a key is or would be; empty when not enabled, or when
  /// `arch` or `keyHex` cannot name a file.
  std::string entryPath(std::string_view arch, std::string_view keyHex) const;

  /// The verified program of a key, or nothing.
  std::optional<CompiledProgram> lookup(std::string_view arch,
                                        std::string_view keyHex);

  /// Waits while another process makes the entry of a key, if one does. Call it
  /// after a miss, look again, and keep the lock while the entry is made.
  EntryLock lock(std::string_view arch, std::string_view keyHex);

  /// Whether there is a file of that entry, good or bad.
  bool contains(std::string_view arch, std::string_view keyHex);

  /// Writes an entry and then prunes its directory if that is due. False if it
  /// could not be written; the program in memory is not affected.
  bool publish(std::string_view arch, std::string_view keyHex,
               const CompiledProgram &program);

  /// Prunes the directory of `arch`; true if it was due.
  bool prune(std::string_view arch);

  DiskCacheStats stats() const;

private:
  void warn(const std::string &message) const;
  bool writeFailed(const std::string &path, const char *step, int error);
  /// Opens `name` below the root, if every level of it belongs to this user
  /// only. Warns once per directory that it does not use.
  Directory open(std::string_view name, bool make);
  void quarantine(const Directory &folder, const std::string &name,
                  const struct ::stat &seen, const std::string &why);
  bool putInPlace(const Directory &folder, const std::string &temporary,
                  const std::string &name);

  DiskCacheOptions options;
  std::string directory;
  std::mutex mutex;
  std::set<std::string> refused; ///< Directories with a warning.
  std::atomic<uint64_t> hits{0}, misses{0}, quarantined{0}, writes{0},
      failedWrites{0}, waits{0}, passedBy{0};
};

} // namespace dsv4::rt

#endif // DSV4_RUNTIME_DISKCACHE_H
