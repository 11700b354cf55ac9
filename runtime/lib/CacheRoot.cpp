//===- CacheRoot.cpp - Where the disk cache is ----------------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CacheRoot.h"

#include "Directory.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace dsv4::rt;

std::string dsv4::rt::getDefaultCacheRoot() {
  if (const char *dir = std::getenv("DSV4_CACHE_DIR"); dir && *dir)
    return dir;
  // The XDG rules: a relative path is to be ignored.
  if (const char *dir = std::getenv("XDG_CACHE_HOME"); dir && *dir == '/')
    return std::string(dir) + "/dsv4";
  if (const char *dir = std::getenv("HOME"); dir && *dir == '/')
    return std::string(dir) + "/.cache/dsv4";
  return "";
}

static constexpr char advice[] =
    "caching in memory only; set DSV4_CACHE_DIR to a directory of your own";

static std::string cannotMake(const std::string &path, int error) {
  return "cannot create cache directory '" + path +
         "': " + std::strerror(error) + ": " + advice;
}

/// What is wrong with making a directory, or "".
static std::string checkParent(const std::string &path) {
  std::string parent = path;
  struct stat info;
  do
    parent.resize(parent.rfind('/'));
  while (!parent.empty() && ::stat(parent.c_str(), &info) != 0 &&
         errno == ENOENT);
  if (parent.empty())
    parent = "/";
  if (::stat(parent.c_str(), &info) != 0)
    return cannotMake(path, errno);
  if (!S_ISDIR(info.st_mode))
    return cannotMake(path, ENOTDIR);
  return ::faccessat(AT_FDCWD, parent.c_str(), W_OK | X_OK, AT_EACCESS) == 0
             ? ""
             : cannotMake(path, errno);
}

CacheRoot dsv4::rt::findCacheRoot(const std::string &given, bool make) {
  std::string root = given.empty() ? getDefaultCacheRoot() : given;
  if (root.empty())
    return {};
  if (root.front() != '/') {
    // The working directory may change later; the cache must not.
    char here[4096];
    if (!::getcwd(here, sizeof(here)))
      return {root, "cache directory '" + root +
                        "' is relative and there is no working directory: give "
                        "an absolute path"};
    root = std::string(here) + "/" + root;
  }
  while (root.size() > 1 && root.back() == '/')
    root.pop_back();
  if (make && !makeDirectories(root))
    return {root, cannotMake(root, errno)};
  Directory opened = Directory::open(root);
  if (opened)
    return {root, ""};
  if (!make && opened.error() == ENOENT)
    return {root, checkParent(root)};
  return {root, "cache directory '" + root + "' " +
                    (opened.refusal().empty()
                         ? "cannot be opened (" +
                               std::string(std::strerror(opened.error())) +
                               "): " + advice
                         : opened.refusal())};
}
