//===- PrivateDirectory.cpp - Files that nobody else sees -----------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PrivateDirectory.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

namespace dsv4::rt {

namespace {

struct CloseFile {
  void operator()(std::FILE *file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

Status failed(const std::string &what, const std::string &path) {
  return Status(Code::Unavailable,
                "cannot " + what + " '" + path + "': " + std::strerror(errno));
}

} // namespace

Result<PrivateDirectory> PrivateDirectory::create() {
  const char *parent = std::getenv("TMPDIR");
  std::string where =
      std::string(parent && *parent ? parent : "/tmp") + "/dsv4-host-XXXXXX";
  if (!mkdtemp(&where[0]))
    return failed("make the temporary directory", where);
  // Relative, it would not survive a change of the working directory.
  if (where.front() != '/') {
    std::error_code error;
    const std::string absolute = std::filesystem::absolute(where, error);
    if (!error)
      where = absolute;
  }
  return PrivateDirectory(std::move(where));
}

PrivateDirectory::PrivateDirectory(PrivateDirectory &&other) noexcept
    : where(std::exchange(other.where, std::string())) {}

PrivateDirectory &
PrivateDirectory::operator=(PrivateDirectory &&other) noexcept {
  std::swap(where, other.where);
  return *this;
}

PrivateDirectory::~PrivateDirectory() {
  std::error_code ignored;
  if (!where.empty())
    std::filesystem::remove_all(where, ignored);
}

Status PrivateDirectory::write(const std::string &name,
                               const std::string &bytes) const {
  const std::string path = pathOf(name);
  File file(std::fopen(path.c_str(), "wb"));
  if (!file ||
      std::fwrite(bytes.data(), 1, bytes.size(), file.get()) != bytes.size() ||
      std::fflush(file.get()))
    return failed("write", path);
  return Status();
}

Result<std::string> PrivateDirectory::read(const std::string &name) const {
  const std::string path = pathOf(name);
  File file(std::fopen(path.c_str(), "rb"));
  if (!file)
    return failed("read", path);
  std::string bytes;
  char part[16384];
  while (size_t count = std::fread(part, 1, sizeof(part), file.get()))
    bytes.append(part, count);
  if (std::ferror(file.get()))
    return failed("read", path);
  return bytes;
}

} // namespace dsv4::rt
