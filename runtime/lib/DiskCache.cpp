//===- DiskCache.cpp - Compiled programs kept on disk ---------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsv4-runtime/DiskCache.h"

#include "CacheRoot.h"
#include "Directory.h"
#include "dsv4-runtime/Entry.h"
#include "dsv4-runtime/FileIO.h"

#include "llvm/Support/CachePruning.h"

#include <cerrno>
#include <cstring>
#include <ctime>
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace dsv4::rt;

/// LLVM's pruning deletes files of this prefix and no others.
static constexpr char prefix[] = "llvmcache-";
static constexpr off_t maxEntryBytes = off_t(256) << 20;
static constexpr size_t maxQuarantined = 16;
static constexpr time_t maxTemporaryAge = 3600;

/// The directory of the entries of this format.
static std::string versionName() { return "v" + std::to_string(EntryVersion); }

//===----------------------------------------------------------------------===//
// Small things about files
//===----------------------------------------------------------------------===//

/// Reads up to `size` bytes; a file that shrank gives fewer.
static bool readAll(int fd, size_t size, std::string &bytes) {
  bytes.resize(size);
  size_t done = 0;
  while (done < size) {
    ssize_t n = ::read(fd, &bytes[done], size - done);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return false;
    if (n == 0)
      break;
    done += size_t(n);
  }
  bytes.resize(done);
  return true;
}

static bool isName(std::string_view text, const char *alphabet) {
  return !text.empty() && text.size() <= 128 && text.front() != '.' &&
         text.find_first_not_of(alphabet) == std::string_view::npos;
}

//===----------------------------------------------------------------------===//
// The root
//===----------------------------------------------------------------------===//

std::string DiskCache::defaultRoot() { return getDefaultCacheRoot(); }

DiskCache::DiskCache(DiskCacheOptions given) : options(std::move(given)) {
  if (options.memoryOnly)
    return;
  CacheRoot root = findCacheRoot(options.root, /*make=*/true);
  if (root.problem.empty())
    directory = std::move(root.path);
  else
    warn(root.problem);
}

Directory DiskCache::open(std::string_view name, bool make) {
  // Anew each time: who empties the cache removes its directory.
  if (make)
    (void)makeDirectories(directory);
  Directory opened = Directory::open(directory);
  const std::string names[] = {versionName(), std::string(name)};
  for (size_t i = 0; i < 2 && opened; ++i)
    opened = opened.open(names[i], make);
  if (opened.refusal().empty())
    return opened;
  bool isNew;
  {
    std::lock_guard<std::mutex> lock(mutex);
    isNew = refused.insert(opened.path()).second;
  }
  if (isNew)
    warn("cache directory '" + opened.path() + "' " + opened.refusal());
  return opened;
}

void DiskCache::warn(const std::string &message) const {
  if (options.warn)
    options.warn(message);
}

std::string DiskCache::entryPath(std::string_view arch,
                                 std::string_view keyHex) const {
  if (!enabled() ||
      !isName(arch, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                    "0123456789_-.") ||
      arch == "quarantine" || !isName(keyHex, "0123456789abcdef"))
    return "";
  std::string path = directory + "/" + versionName() + "/";
  path.append(arch).append("/").append(prefix).append(keyHex);
  return path;
}

static std::string nameOf(const std::string &path) {
  return path.substr(path.rfind('/') + 1);
}

//===----------------------------------------------------------------------===//
// Lookup
//===----------------------------------------------------------------------===//

static constexpr char notAFile[] =
    "not a private regular file of sensible size";

/// Marks a hit for pruning, which goes by access time, where the mount does
/// not (noatime); once a day is enough.
static void touch(int fd, const struct stat &info) {
  constexpr time_t day = 24 * 3600;
  struct timespec times[2];
  if (::clock_gettime(CLOCK_REALTIME, &times[0]) != 0 ||
      times[0].tv_sec - info.st_atim.tv_sec < day)
    return;
  times[1].tv_nsec = UTIME_OMIT;
  times[1].tv_sec = 0;
  (void)::futimens(fd, times);
}

std::optional<CompiledProgram> DiskCache::lookup(std::string_view arch,
                                                 std::string_view keyHex) {
  std::string path = entryPath(arch, keyHex);
  if (path.empty()) {
    ++misses;
    return std::nullopt;
  }
  const std::string name = nameOf(path);
  Directory folder = open(arch, /*make=*/false);
  // O_NONBLOCK: a FIFO of that name must not hang us.
  Descriptor file(folder
                      ? ::openat(folder.get(), name.c_str(),
                                 O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
                      : -1);
  struct stat info = {};
  std::string bytes;
  if (!file) {
    const int error = folder ? errno : folder.error();
    ++misses;
    if (!folder.refusal().empty() || error == ENOENT || error == ESTALE)
      return std::nullopt;
    // Links and sockets cannot be opened, nor what is not readable.
    if (folder &&
        ::fstatat(folder.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) ==
            0 &&
        !S_ISREG(info.st_mode))
      quarantine(folder, name, info, notAFile);
    else
      warn("cannot open cache entry '" + path + "': " + std::strerror(error));
    return std::nullopt;
  }
  if (::fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode) ||
      !ownedByUsAlone(info) || info.st_size > maxEntryBytes) {
    ++misses;
    quarantine(folder, name, info, notAFile);
    return std::nullopt;
  }
  if (!readAll(file.get(), size_t(info.st_size), bytes)) {
    ++misses;
    if (errno != ESTALE)
      warn("cannot read cache entry '" + path + "': " + std::strerror(errno));
    return std::nullopt;
  }
  Result<CompiledProgram> program = parse(bytes, keyHex);
  if (!program) {
    ++misses;
    quarantine(folder, name, info, program.status().message());
    return std::nullopt;
  }
  ++hits;
  touch(file.get(), info);
  return program.take();
}

/// Deletes what was put into `folder` first until less than the cap is left.
static void makeRoom(const Directory &folder) {
  for (size_t round = 0; round < 2 * maxQuarantined; ++round) {
    const int again =
        ::openat(folder.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *listing = ::fdopendir(again);
    if (!listing) {
      Descriptor close(again);
      return;
    }
    size_t count = 0;
    std::string oldest;
    struct timespec when = {};
    while (const struct dirent *each = ::readdir(listing)) {
      struct stat info;
      if (each->d_name[0] == '.' || ::fstatat(folder.get(), each->d_name, &info,
                                              AT_SYMLINK_NOFOLLOW) != 0)
        continue;
      ++count;
      // The change time: when it was renamed to here.
      if (oldest.empty() || info.st_ctim.tv_sec < when.tv_sec ||
          (info.st_ctim.tv_sec == when.tv_sec &&
           info.st_ctim.tv_nsec < when.tv_nsec)) {
        oldest = each->d_name;
        when = info.st_ctim;
      }
    }
    ::closedir(listing);
    if (count < maxQuarantined || !folder.remove(oldest))
      return;
  }
}

void DiskCache::quarantine(const Directory &folder, const std::string &name,
                           const struct stat &seen, const std::string &why) {
  // Only what was read: another process may have put a good one there since.
  struct stat now;
  if (::fstatat(folder.get(), name.c_str(), &now, AT_SYMLINK_NOFOLLOW) != 0 ||
      now.st_ino != seen.st_ino || now.st_size != seen.st_size ||
      now.st_mtim.tv_sec != seen.st_mtim.tv_sec ||
      now.st_mtim.tv_nsec != seen.st_mtim.tv_nsec)
    return;
  const std::string path = folder.path() + "/" + name;
  Directory aside = open("quarantine", /*make=*/true);
  std::string trouble;
  if (aside) {
    makeRoom(aside);
    // A directory is renamed over nothing, and nothing over a directory.
    (void)aside.remove(name);
    if (::renameat(folder.get(), name.c_str(), aside.get(), name.c_str()) != 0)
      trouble = std::strerror(errno);
  } else {
    trouble = "'" + aside.path() + "' " +
              (aside.refusal().empty() ? std::strerror(aside.error())
                                       : "is not used");
  }
  if (!trouble.empty()) {
    warn("cache entry '" + path + "' is bad (" + why +
         ") and cannot be set aside: " + trouble);
    return;
  }
  ++quarantined;
  warn("cache entry '" + path + "' is bad (" + why + "): moved to '" +
       aside.path() + "/" + name + "', compiling anew");
}

//===----------------------------------------------------------------------===//
// One process at a time
//===----------------------------------------------------------------------===//

EntryLock DiskCache::lock(std::string_view arch, std::string_view keyHex) {
  const std::string path = entryPath(arch, keyHex);
  if (path.empty())
    return {};
  Directory folder = open(arch, /*make=*/true);
  if (!folder)
    return {};
  EntryLock lock =
      EntryLock::take(std::move(folder), nameOf(path), options.lock);
  waits += lock.waited();
  passedBy += lock.passedBy();
  return lock;
}

bool DiskCache::contains(std::string_view arch, std::string_view keyHex) {
  const std::string path = entryPath(arch, keyHex);
  struct stat info;
  return !path.empty() && ::lstat(path.c_str(), &info) == 0;
}

//===----------------------------------------------------------------------===//
// Publish and prune
//===----------------------------------------------------------------------===//

bool DiskCache::writeFailed(const std::string &path, const char *step,
                            int error) {
  // A full disk fails every write; say it once, count the rest.
  if (failedWrites++ == 0)
    warn("cannot " + std::string(step) + " cache entry '" + path +
         "': " + std::strerror(error) +
         ": continuing without it; later failures are only counted");
  return false;
}

/// Whether `name` is that of a temporary file: an entry's, a dot, and digits.
static bool isTemporaryName(std::string_view name) {
  constexpr std::string_view digits = "0123456789abcdef";
  const size_t dot = name.rfind('.');
  const std::string_view start(prefix);
  return dot != std::string_view::npos && dot > start.size() &&
         name.substr(0, start.size()) == start &&
         isName(name.substr(start.size(), dot - start.size()), digits.data()) &&
         isName(name.substr(dot + 1), digits.data());
}

/// Deletes the temporary files and locks that processes left in `folder` when
/// they were killed. One that is in use is younger.
static void sweepTemporaries(const Directory &folder) {
  const int again =
      ::openat(folder.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *listing = ::fdopendir(again);
  if (!listing) {
    Descriptor close(again);
    return;
  }
  while (const struct dirent *each = ::readdir(listing)) {
    struct stat info;
    const bool isLock = EntryLock::isName(each->d_name);
    if ((isLock || isTemporaryName(each->d_name)) &&
        ::fstatat(folder.get(), each->d_name, &info, AT_SYMLINK_NOFOLLOW) ==
            0 &&
        S_ISREG(info.st_mode) && info.st_uid == ::geteuid() &&
        ::time(nullptr) - info.st_mtim.tv_sec > maxTemporaryAge) {
      if (isLock)
        EntryLock::removeStale(folder, each->d_name);
      else
        ::unlinkat(folder.get(), each->d_name, 0);
    }
  }
  ::closedir(listing);
}

bool DiskCache::putInPlace(const Directory &folder,
                           const std::string &temporary,
                           const std::string &name) {
  auto rename = [&] {
    return ::renameat(folder.get(), temporary.c_str(), folder.get(),
                      name.c_str()) == 0;
  };
  if (rename())
    return true;
  // A directory of that name would keep the key out of the cache for ever.
  int error = errno;
  struct stat info;
  if (::fstatat(folder.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 &&
      S_ISDIR(info.st_mode)) {
    quarantine(folder, name, info, notAFile);
    if (rename())
      return true;
    error = errno;
  }
  errno = error;
  return false;
}

bool DiskCache::publish(std::string_view arch, std::string_view keyHex,
                        const CompiledProgram &program) {
  if (!enabled())
    return false;
  std::string path = entryPath(arch, keyHex);
  if (path.empty())
    return writeFailed(std::string(arch) + "/" + std::string(keyHex), "name",
                       EINVAL);
  Directory folder = open(arch, /*make=*/true);
  if (!folder && !folder.refusal().empty()) {
    ++failedWrites; // Was said.
    return false;
  }
  if (!folder)
    return writeFailed(path, "create the directory of", folder.error());
  const std::string bytes = serialize(program, keyHex);
  if (bytes.size() > size_t(maxEntryBytes))
    return writeFailed(path, "write", EFBIG);

  const std::string name = nameOf(path);
  std::string temporary = name;
  Descriptor file = folder.makeTemporary(temporary);
  if (!file)
    return writeFailed(path, "create", errno);
  WriteSignals signals;
  const char *step = nullptr;
  if (!writeAll(file.get(), bytes))
    step = "write";
  else if (::fsync(file.get()) != 0)
    step = "flush";
  else if (!putInPlace(folder, temporary, name))
    step = "rename";
  if (step) {
    int error = errno;
    ::unlinkat(folder.get(), temporary.c_str(), 0);
    return writeFailed(path, step, error);
  }
  ++writes;
  sweepTemporaries(folder);
  prune(arch);
  return true;
}

bool DiskCache::prune(std::string_view arch) {
  if (entryPath(arch, "0").empty())
    return false;
  // LLVM aborts when the directory vanishes under it: hold it by a descriptor.
  Directory folder = open(arch, /*make=*/false);
  if (!folder)
    return false;
  llvm::CachePruningPolicy policy;
  policy.Interval = std::chrono::seconds(options.pruneIntervalSeconds);
  policy.Expiration = std::chrono::seconds(options.maxAgeSeconds);
  policy.MaxSizeBytes = options.maxBytes;
  return llvm::pruneCache("/proc/self/fd/" + std::to_string(folder.get()),
                          policy);
}

DiskCacheStats DiskCache::stats() const {
  DiskCacheStats stats;
  stats.hits = hits;
  stats.misses = misses;
  stats.quarantined = quarantined;
  stats.writes = writes;
  stats.failedWrites = failedWrites;
  stats.waits = waits;
  stats.passedBy = passedBy;
  return stats;
}
