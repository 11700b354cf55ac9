//===- PrivateDirectory.cpp - Files that nobody else sees -----------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PrivateDirectory.h"

#include "dsv4-runtime/FileIO.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <filesystem>
#include <memory>
#include <mutex>
#include <sys/file.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace dsv4::rt {

namespace {

// Versions without locks used the name without the digit. Their directories may
// be in use, and are left alone.
constexpr char prefix[] = "dsv4-host-2-";
constexpr char pattern[] = "dsv4-host-2-XXXXXX";

// A sweep that finds more leaves the rest to the next process.
constexpr size_t maxSwept = 256;
constexpr size_t maxListed = 100000;

struct CloseFile {
  void operator()(std::FILE *file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

struct CloseListing {
  void operator()(DIR *listing) const { ::closedir(listing); }
};
using Listing = std::unique_ptr<DIR, CloseListing>;

Status failed(const std::string &what, const std::string &path) {
  return Status(Code::Unavailable,
                "cannot " + what + " '" + path + "': " + std::strerror(errno));
}

std::string parentOfAll() {
  const char *parent = std::getenv("TMPDIR");
  return parent && *parent ? parent : "/tmp";
}

bool isOurName(const char *name) {
  const size_t length = std::strlen(pattern);
  return std::strlen(name) == length &&
         std::equal(prefix, prefix + sizeof(prefix) - 1, name) &&
         std::all_of(name + sizeof(prefix) - 1, name + length,
                     [](unsigned char c) { return std::isalnum(c) != 0; });
}

int openDirectory(int parent, const char *name) {
  return ::openat(parent, name,
                  O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

bool areSame(const struct stat &one, const struct stat &other) {
  return one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

/// Removes what is in a directory. No other user can enter it, so no process
/// changes it meanwhile.
void empty(int directory) {
  Listing listing(::fdopendir(::fcntl(directory, F_DUPFD_CLOEXEC, 0)));
  while (const struct dirent *each =
             listing ? ::readdir(listing.get()) : nullptr) {
    const std::string name = each->d_name;
    if (name == "." || name == ".." ||
        ::unlinkat(directory, name.c_str(), 0) == 0)
      continue;
    // The compiler, or a wrapper of it, may have made directories.
    const int inner = openDirectory(directory, name.c_str());
    if (inner < 0)
      continue;
    std::error_code ignored;
    ::close(inner);
    std::filesystem::remove_all(
        "/proc/self/fd/" + std::to_string(directory) + "/" + name, ignored);
  }
}

/// Removes one directory if it is ours and not locked.
bool removeIfStale(int parent, const char *name) {
  const int directory = openDirectory(parent, name);
  if (directory < 0)
    return false;
  struct stat info, named;
  bool removed = false;
  // The maker locks it only after it is there: when the lock is had here first,
  // the maker finds it gone and makes another.
  if (::fstat(directory, &info) == 0 && info.st_uid == ::geteuid() &&
      (info.st_mode & 07777) == 0700 &&
      ::flock(directory, LOCK_EX | LOCK_NB) == 0 &&
      ::fstatat(parent, name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
      areSame(info, named)) {
    empty(directory);
    removed = ::unlinkat(parent, name, AT_REMOVEDIR) == 0;
  }
  ::close(directory);
  return removed;
}

/// Locks a directory that was just made. -1 with errno 0: a sweep was faster.
int lockNew(const std::string &path) {
  const int directory = openDirectory(AT_FDCWD, path.c_str());
  if (directory < 0) {
    errno = errno == ENOENT ? 0 : errno;
    return -1;
  }
  while (::flock(directory, LOCK_EX) != 0 && errno == EINTR)
    ;
  // Where nothing can be locked (some network file systems), nothing is swept
  // either.
  struct stat info, named;
  if (::fstat(directory, &info) == 0 && ::lstat(path.c_str(), &named) == 0 &&
      areSame(info, named))
    return directory;
  ::close(directory);
  errno = 0;
  return -1;
}

} // namespace

size_t PrivateDirectory::sweep(const std::string &parent) {
  const int directory =
      ::open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0)
    return 0;
  Listing listing(::fdopendir(directory));
  if (!listing) {
    ::close(directory);
    return 0;
  }
  size_t removed = 0;
  for (size_t listed = 0; listed < maxListed && removed < maxSwept; ++listed) {
    const struct dirent *each = ::readdir(listing.get());
    if (!each)
      break;
    if (isOurName(each->d_name))
      removed += removeIfStale(directory, each->d_name);
  }
  return removed;
}

Result<PrivateDirectory> PrivateDirectory::create() {
  const std::string parent = parentOfAll();
  static std::once_flag swept;
  std::call_once(swept, [&] { sweep(parent); });
  for (;;) {
    std::string where = parent + "/" + pattern;
    if (!mkdtemp(&where[0]))
      return failed("make the temporary directory", where);
    const int lock = lockNew(where);
    if (lock < 0) {
      if (errno == 0)
        continue;
      Status status = failed("open the temporary directory", where);
      ::rmdir(where.c_str());
      return status;
    }
    // Relative, it would not survive a change of the working directory.
    if (where.front() != '/') {
      std::error_code error;
      const std::string absolute = std::filesystem::absolute(where, error);
      if (!error)
        where = absolute;
    }
    return PrivateDirectory(std::move(where), lock);
  }
}

PrivateDirectory::PrivateDirectory(std::string where, int lock)
    : where(std::move(where)), lock(lock), owner(::getpid()) {}

PrivateDirectory::PrivateDirectory(PrivateDirectory &&other) noexcept
    : where(std::exchange(other.where, std::string())),
      lock(std::exchange(other.lock, -1)), owner(other.owner) {}

PrivateDirectory &
PrivateDirectory::operator=(PrivateDirectory &&other) noexcept {
  std::swap(where, other.where);
  std::swap(lock, other.lock);
  std::swap(owner, other.owner);
  return *this;
}

PrivateDirectory::~PrivateDirectory() {
  const bool isOurs = !where.empty() && owner == ::getpid();
  std::error_code error;
  if (isOurs)
    std::filesystem::remove_all(where, error);
  if (lock >= 0)
    ::close(lock);
  // The process may be out of descriptors: now there is one.
  if (isOurs && error)
    std::filesystem::remove_all(where, error);
}

Status PrivateDirectory::write(const std::string &name,
                               const std::string &bytes) const {
  const std::string path = pathOf(name);
  WriteSignals signals;
  File file(std::fopen(path.c_str(), "wbe"));
  if (!file ||
      std::fwrite(bytes.data(), 1, bytes.size(), file.get()) != bytes.size() ||
      std::fflush(file.get()))
    return failed("write", path);
  return Status();
}

Result<std::string> PrivateDirectory::read(const std::string &name,
                                           size_t most) const {
  const std::string path = pathOf(name);
  // Not blocking: what a compiler put there may be no file at all.
  const int opened = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat info;
  if (opened >= 0 && (::fstat(opened, &info) != 0 || !S_ISREG(info.st_mode))) {
    ::close(opened);
    return Status(Code::Unavailable,
                  "cannot read '" + path + "': not a regular file");
  }
  File file(opened >= 0 ? ::fdopen(opened, "rb") : nullptr);
  if (!file)
    return failed("read", path);
  std::string bytes;
  char part[16384];
  while (size_t count = std::fread(
             part, 1, std::min(sizeof(part), most - bytes.size()), file.get()))
    bytes.append(part, count);
  if (std::ferror(file.get()))
    return failed("read", path);
  return bytes;
}

} // namespace dsv4::rt
