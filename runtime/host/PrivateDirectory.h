//===- PrivateDirectory.h - Files that nobody else sees ---------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_HOST_PRIVATEDIRECTORY_H
#define DSV4_HOST_PRIVATEDIRECTORY_H

#include "dsv4-runtime/Status.h"

#include <string>

namespace dsv4::rt {

/// A directory below $TMPDIR (or /tmp) that only this user can enter; it goes
/// with the object, and what is in it too.
class PrivateDirectory {
public:
  static Result<PrivateDirectory> create();
  PrivateDirectory(PrivateDirectory &&other) noexcept;
  PrivateDirectory &operator=(PrivateDirectory &&other) noexcept;
  ~PrivateDirectory();

  const std::string &path() const { return where; }
  std::string pathOf(const std::string &name) const {
    return where + "/" + name;
  }
  Status write(const std::string &name, const std::string &bytes) const;
  Result<std::string> read(const std::string &name) const;

private:
  explicit PrivateDirectory(std::string where) : where(std::move(where)) {}

  std::string where; ///< Empty when moved from.
};

} // namespace dsv4::rt

#endif // DSV4_HOST_PRIVATEDIRECTORY_H
