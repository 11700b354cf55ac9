//===- PrivateDirectory.h - Files that nobody else sees ---------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A process that is killed leaves its directories behind; the next one removes
// them. A lock (flock) on a directory shows that it is in use; the kernel drops
// the lock with the process. A process id would not do, because another process
// may have it by then.
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_HOST_PRIVATEDIRECTORY_H
#define DSV4_HOST_PRIVATEDIRECTORY_H

#include "dsv4-runtime/Status.h"

#include <string>
#include <sys/types.h>

namespace dsv4::rt {

/// A directory below $TMPDIR (or /tmp) that only this user can enter; it goes
/// with the object, and what is in it too.
class PrivateDirectory {
public:
  /// The first one of a process sweeps before.
  static Result<PrivateDirectory> create();
  /// Removes from `parent` the directories of this user's processes that are
  /// gone, some hundreds at most, and returns how many.
  static size_t sweep(const std::string &parent);

  PrivateDirectory(PrivateDirectory &&other) noexcept;
  PrivateDirectory &operator=(PrivateDirectory &&other) noexcept;
  ~PrivateDirectory();

  const std::string &path() const { return where; }
  std::string pathOf(const std::string &name) const {
    return where + "/" + name;
  }
  Status write(const std::string &name, const std::string &bytes) const;
  /// The file, or the first `most` bytes of it.
  Result<std::string> read(const std::string &name,
                           size_t most = std::string::npos) const;

private:
  PrivateDirectory(std::string where, int lock);

  std::string where; ///< Empty when moved from.
  int lock = -1;     ///< The directory itself, locked.
  pid_t owner = 0;   ///< The copy that a fork makes removes nothing.
};

} // namespace dsv4::rt

#endif // DSV4_HOST_PRIVATEDIRECTORY_H
