//===- DiskCache.cpp - Compiled programs kept on disk ---------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsv4-runtime/DiskCache.h"

#include "dsv4-runtime/Entry.h"

#include "llvm/Support/CachePruning.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace dsv4::rt;

/// LLVM's pruning deletes files of this prefix and no others; temporary files
/// have it too, so that those of a killed process go the same way.
static constexpr char prefix[] = "llvmcache-";
static constexpr off_t maxEntryBytes = off_t(256) << 20;
static constexpr size_t maxQuarantined = 16;

//===----------------------------------------------------------------------===//
// Small things about files
//===----------------------------------------------------------------------===//

namespace {
/// Closes a descriptor at the end of its scope.
class Descriptor {
public:
  explicit Descriptor(int fd) : fd(fd) {}
  ~Descriptor() {
    if (fd >= 0)
      ::close(fd);
  }
  Descriptor(const Descriptor &) = delete;
  Descriptor &operator=(const Descriptor &) = delete;
  int get() const { return fd; }
  explicit operator bool() const { return fd >= 0; }

private:
  int fd;
};
} // namespace

/// mkdir -p with mode 0700 for what is missing.
static bool makeDirectories(const std::string &path) {
  for (size_t slash = path.find('/', 1);; slash = path.find('/', slash + 1)) {
    std::string part = path.substr(0, slash);
    if (::mkdir(part.c_str(), 0700) != 0 && errno != EEXIST) {
      // A parent may exist and yet refuse mkdir (read-only, no permission).
      int error = errno;
      struct stat info;
      if (::stat(part.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) {
        errno = error;
        return false;
      }
    }
    if (slash == std::string::npos)
      return true;
  }
}

static bool writeAll(int fd, const std::string &bytes) {
  for (size_t done = 0; done < bytes.size();) {
    ssize_t n = ::write(fd, bytes.data() + done, bytes.size() - done);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0) {
      if (n == 0)
        errno = ENOSPC;
      return false;
    }
    done += size_t(n);
  }
  return true;
}

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

static bool ownedByUsAlone(const struct stat &info) {
  return info.st_uid == ::geteuid() && !(info.st_mode & (S_IWGRP | S_IWOTH));
}

//===----------------------------------------------------------------------===//
// The root
//===----------------------------------------------------------------------===//

std::string DiskCache::defaultRoot() {
  if (const char *dir = std::getenv("DSV4_CACHE_DIR"); dir && *dir)
    return dir;
  // The XDG rules: a relative path is to be ignored.
  if (const char *dir = std::getenv("XDG_CACHE_HOME"); dir && *dir == '/')
    return std::string(dir) + "/dsv4";
  if (const char *dir = std::getenv("HOME"); dir && *dir == '/')
    return std::string(dir) + "/.cache/dsv4";
  return "";
}

DiskCache::DiskCache(DiskCacheOptions given) : options(std::move(given)) {
  if (options.memoryOnly)
    return;
  std::string root = options.root.empty() ? defaultRoot() : options.root;
  if (root.empty())
    return;
  if (root.front() != '/') {
    // The working directory may change later; the cache must not.
    char here[4096];
    if (!::getcwd(here, sizeof(here))) {
      warn("cache directory '" + root +
           "' is relative and there is no working directory: give an absolute "
           "path");
      return;
    }
    root = std::string(here) + "/" + root;
  }
  while (root.size() > 1 && root.back() == '/')
    root.pop_back();
  if (adopt(root))
    directory = root;
}

bool DiskCache::adopt(const std::string &root) {
  if (!makeDirectories(root)) {
    warn("cannot create cache directory '" + root + "': " +
         std::strerror(errno) + ": caching in memory only; set DSV4_CACHE_DIR");
    return false;
  }
  struct stat info;
  if (::stat(root.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) {
    warn("cache directory '" + root +
         "' is not a directory: caching in memory only; set DSV4_CACHE_DIR");
    return false;
  }
  if (info.st_uid != ::geteuid()) {
    warn("cache directory '" + root +
         "' belongs to another user: caching in memory only; set "
         "DSV4_CACHE_DIR to one of your own");
    return false;
  }
  if (!ownedByUsAlone(info)) {
    warn("cache directory '" + root +
         "' can be written by others: caching in memory only; chmod go-w it");
    return false;
  }
  return true;
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
  std::string path = directory + "/v" + std::to_string(EntryVersion) + "/";
  path.append(arch).append("/").append(prefix).append(keyHex);
  return path;
}

//===----------------------------------------------------------------------===//
// Lookup
//===----------------------------------------------------------------------===//

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
  // O_NONBLOCK: a FIFO of that name must not hang us.
  Descriptor file(
      ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat info;
  std::string bytes;
  if (!file || ::fstat(file.get(), &info) != 0) {
    ++misses;
    if (errno != ENOENT && errno != ESTALE)
      warn("cannot open cache entry '" + path + "': " + std::strerror(errno));
    return std::nullopt;
  }
  if (!S_ISREG(info.st_mode) || !ownedByUsAlone(info) ||
      info.st_size > maxEntryBytes) {
    ++misses;
    quarantine(path, info, "not a private regular file of sensible size");
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
    quarantine(path, info, program.status().message());
    return std::nullopt;
  }
  ++hits;
  touch(file.get(), info);
  return program.take();
}

/// Deletes the oldest files of `folder` until fewer than the cap are left.
static void makeRoom(const std::string &folder) {
  for (size_t round = 0; round < 2 * maxQuarantined; ++round) {
    DIR *listing = ::opendir(folder.c_str());
    if (!listing)
      return;
    size_t count = 0;
    std::string oldest;
    struct timespec when = {};
    while (const struct dirent *each = ::readdir(listing)) {
      std::string path = folder + "/" + each->d_name;
      struct stat info;
      if (each->d_name[0] == '.' || ::lstat(path.c_str(), &info) != 0)
        continue;
      ++count;
      // The change time: when it was renamed to here.
      if (oldest.empty() || info.st_ctim.tv_sec < when.tv_sec ||
          (info.st_ctim.tv_sec == when.tv_sec &&
           info.st_ctim.tv_nsec < when.tv_nsec)) {
        oldest = path;
        when = info.st_ctim;
      }
    }
    ::closedir(listing);
    if (count < maxQuarantined || ::unlink(oldest.c_str()) != 0)
      return;
  }
}

void DiskCache::quarantine(const std::string &path, const struct stat &seen,
                           const std::string &why) {
  // Only what was read: another process may have put a good one there since.
  struct stat now;
  if (::lstat(path.c_str(), &now) != 0 || now.st_ino != seen.st_ino ||
      now.st_size != seen.st_size ||
      now.st_mtim.tv_sec != seen.st_mtim.tv_sec ||
      now.st_mtim.tv_nsec != seen.st_mtim.tv_nsec)
    return;
  std::string folder =
      directory + "/v" + std::to_string(EntryVersion) + "/quarantine";
  std::string aside = folder + path.substr(path.rfind('/'));
  if (makeDirectories(folder))
    makeRoom(folder);
  if (::rename(path.c_str(), aside.c_str()) != 0) {
    warn("cache entry '" + path + "' is bad (" + why +
         ") and cannot be set aside: " + std::strerror(errno));
    return;
  }
  ++quarantined;
  warn("cache entry '" + path + "' is bad (" + why + "): moved to '" + aside +
       "', compiling anew");
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

bool DiskCache::publish(std::string_view arch, std::string_view keyHex,
                        const CompiledProgram &program) {
  if (!enabled())
    return false;
  std::string path = entryPath(arch, keyHex);
  if (path.empty())
    return writeFailed(std::string(arch) + "/" + std::string(keyHex), "name",
                       EINVAL);
  if (!makeDirectories(path.substr(0, path.rfind('/'))))
    return writeFailed(path, "create the directory of", errno);

  std::string temporary = path + ".XXXXXX";
  Descriptor file(::mkostemp(temporary.data(), O_CLOEXEC));
  if (!file)
    return writeFailed(path, "create", errno);
  const char *step = nullptr;
  if (!writeAll(file.get(), serialize(program, keyHex)))
    step = "write";
  else if (::fsync(file.get()) != 0)
    step = "flush";
  else if (::rename(temporary.c_str(), path.c_str()) != 0)
    step = "rename";
  if (step) {
    int error = errno;
    ::unlink(temporary.c_str());
    return writeFailed(path, step, error);
  }
  ++writes;
  prune(arch);
  return true;
}

bool DiskCache::prune(std::string_view arch) {
  std::string path = entryPath(arch, "0");
  if (path.empty())
    return false;
  // LLVM aborts when the directory vanishes under it: hold it by a descriptor.
  Descriptor folder(::open(path.substr(0, path.rfind('/')).c_str(),
                           O_RDONLY | O_DIRECTORY | O_CLOEXEC));
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
  return stats;
}
