//===- Directory.h - Directories that only we write to ----------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_RUNTIME_LIB_DIRECTORY_H
#define DSV4_RUNTIME_LIB_DIRECTORY_H

#include <string>
#include <sys/stat.h>
#include <utility>

namespace dsv4::rt {

/// Closes a descriptor at the end of its scope.
class Descriptor {
public:
  explicit Descriptor(int fd = -1) : fd(fd) {}
  ~Descriptor();
  Descriptor(Descriptor &&other) noexcept : fd(std::exchange(other.fd, -1)) {}
  Descriptor &operator=(Descriptor &&other) noexcept {
    std::swap(fd, other.fd);
    return *this;
  }
  int get() const { return fd; }
  explicit operator bool() const { return fd >= 0; }

private:
  int fd;
};

/// Whether it belongs to this user, and no other user can write to it.
bool ownedByUsAlone(const struct stat &info);

/// A directory that only this user owns and can write to, held open: others
/// cannot put files into it, and it does not move between two steps.
class Directory {
public:
  /// Opens a path, without a check of its parents or links.
  static Directory open(const std::string &path);
  /// Opens a directory right in this one, which is not a link; `make` makes it
  /// if it is not there.
  Directory open(const std::string &name, bool make) const;

  int get() const { return descriptor.get(); }
  explicit operator bool() const { return bool(descriptor); }
  const std::string &path() const { return where; }
  /// What is wrong with the existing directory, and what to do about it; empty
  /// if the system refused, for which see error().
  const std::string &refusal() const { return why; }
  /// The errno when it is not open.
  int error() const { return failure; }

  /// Removes the entry `name`, a directory with all that is in it.
  bool remove(const std::string &name) const;
  /// Makes a file `name` with something random after it, open for writing.
  Descriptor makeTemporary(std::string &name) const;

private:
  Directory(std::string path, Descriptor opened, const struct stat &named);

  std::string where, why;
  Descriptor descriptor;
  int failure = 0;
};

/// mkdir -p with mode 0700 for what is missing.
bool makeDirectories(const std::string &path);

} // namespace dsv4::rt

#endif // DSV4_RUNTIME_LIB_DIRECTORY_H
