//===- Directory.cpp - Directories that only we write to ------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Directory.h"

#include "dsv4-runtime/FileIO.h"

#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <sys/random.h>
#include <system_error>
#include <unistd.h>

using namespace dsv4::rt;

Descriptor::~Descriptor() {
  const int error = errno;
  if (fd >= 0)
    ::close(fd);
  errno = error;
}

bool dsv4::rt::ownedByUsAlone(const struct stat &info) {
  return info.st_uid == ::geteuid() && !(info.st_mode & (S_IWGRP | S_IWOTH));
}

bool dsv4::rt::makeDirectories(const std::string &path) {
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

Directory::Directory(std::string path, Descriptor opened,
                     const struct stat &named)
    : where(std::move(path)), failure(errno) {
  struct stat info = named;
  if (opened && ::fstat(opened.get(), &info) != 0) {
    failure = errno;
    return;
  }
  if (info.st_mode == 0)
    return; // There is nothing.
  if (S_ISLNK(info.st_mode))
    why = "is a symbolic link: caching in memory only; remove it, or set "
          "DSV4_CACHE_DIR";
  else if (!S_ISDIR(info.st_mode))
    why = "is not a directory: caching in memory only; remove it, or set "
          "DSV4_CACHE_DIR";
  else if (info.st_uid != ::geteuid())
    why = "belongs to another user: caching in memory only; set "
          "DSV4_CACHE_DIR to one of your own";
  else if (!ownedByUsAlone(info))
    why = "can be written by others: caching in memory only; chmod go-w it, or "
          "set DSV4_CACHE_DIR";
  else if (opened)
    descriptor = std::move(opened);
}

Directory Directory::open(const std::string &path) {
  struct stat named = {};
  (void)::stat(path.c_str(), &named);
  return Directory(
      path,
      Descriptor(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)),
      named);
}

Directory Directory::open(const std::string &name, bool make) const {
  int error = 0;
  if (make && ::mkdirat(get(), name.c_str(), 0700) != 0 && errno != EEXIST)
    error = errno;
  // Why not, if not; the descriptor says what counts.
  struct stat named = {};
  (void)::fstatat(get(), name.c_str(), &named, AT_SYMLINK_NOFOLLOW);
  Directory opened(
      where + "/" + name,
      Descriptor(::openat(get(), name.c_str(),
                          O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)),
      named);
  if (!opened && opened.failure == ENOENT && error != 0)
    opened.failure = error; // It is not there because of that.
  return opened;
}

bool Directory::remove(const std::string &name) const {
  if (::unlinkat(get(), name.c_str(), 0) == 0 || errno == ENOENT)
    return true;
  if (errno != EISDIR)
    return false;
  std::error_code error;
  std::filesystem::remove_all(
      "/proc/self/fd/" + std::to_string(get()) + "/" + name, error);
  return !error;
}

Descriptor Directory::makeTemporary(std::string &name) const {
  name += ".";
  return Descriptor(rt::makeTemporary(get(), name, 0600));
}
