//===- LibraryFile.cpp - The file of a shared library ---------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LibraryFile.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace {
/// A file that is open for reading, and closes itself.
struct File {
  explicit File(const std::string &path)
      : fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  ~File() {
    if (fd >= 0)
      ::close(fd);
  }
  const int fd;
};
} // namespace

/// The segments of an ELF file; none if it is no such file.
static std::vector<Elf64_Phdr> readSegments(int fd) {
  Elf64_Ehdr header;
  if (::pread(fd, &header, sizeof(header), 0) != ssize_t(sizeof(header)) ||
      std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_phentsize != sizeof(Elf64_Phdr) || header.e_phnum > 256)
    return {};
  std::vector<Elf64_Phdr> segments(header.e_phnum);
  const size_t bytes = segments.size() * sizeof(Elf64_Phdr);
  if (::pread(fd, segments.data(), bytes, off_t(header.e_phoff)) !=
      ssize_t(bytes))
    return {};
  return segments;
}

static std::string toHex(const unsigned char *bytes, size_t count) {
  static const char digits[] = "0123456789abcdef";
  std::string text;
  for (size_t i = 0; i < count; ++i) {
    text += digits[bytes[i] >> 4];
    text += digits[bytes[i] & 15];
  }
  return text;
}

/// Finds the build-id among the notes of one segment.
static std::string buildIdIn(const std::vector<unsigned char> &notes) {
  size_t at = 0;
  while (notes.size() - at >= sizeof(Elf64_Nhdr)) {
    Elf64_Nhdr header;
    std::memcpy(&header, notes.data() + at, sizeof(header));
    at += sizeof(header);
    size_t name = (size_t(header.n_namesz) + 3) & ~size_t(3);
    size_t body = (size_t(header.n_descsz) + 3) & ~size_t(3);
    if (name > notes.size() - at || body > notes.size() - at - name)
      return "";
    if (header.n_type == NT_GNU_BUILD_ID && header.n_namesz == 4 &&
        std::memcmp(notes.data() + at, "GNU", 4) == 0)
      return toHex(notes.data() + at + name, header.n_descsz);
    at += name + body;
  }
  return "";
}

/// The GNU build-id of an ELF file, or "".
static std::string readBuildId(int fd) {
  for (const Elf64_Phdr &segment : readSegments(fd)) {
    if (segment.p_type != PT_NOTE || segment.p_filesz > (1 << 16))
      continue;
    std::vector<unsigned char> notes(segment.p_filesz);
    if (::pread(fd, notes.data(), notes.size(), off_t(segment.p_offset)) !=
        ssize_t(notes.size()))
      continue;
    if (std::string id = buildIdIn(notes); !id.empty())
      return id;
  }
  return "";
}

std::string dsv4::jit::identifyLibrary(const std::string &path) {
  if (path.empty())
    return "none";
  const File file(path);
  if (file.fd < 0)
    return "none";
  std::string id = readBuildId(file.fd);
  struct stat info;
  if (id.empty() && ::fstat(file.fd, &info) == 0)
    id = "size-" + std::to_string(info.st_size); // No linker leaves it out.
  return id.empty() ? "none" : id;
}

std::string dsv4::jit::findDamage(const std::string &path) {
  const File file(path);
  struct stat info;
  if (file.fd < 0 || ::fstat(file.fd, &info) != 0)
    return ""; // The loader says why.
  uint64_t end = 0;
  for (const Elf64_Phdr &segment : readSegments(file.fd))
    if (segment.p_type == PT_LOAD)
      end = std::max(end, segment.p_offset + segment.p_filesz);
  if (end <= uint64_t(info.st_size))
    return "";
  return "is cut off: it has " + std::to_string(info.st_size) +
         " bytes, and its header asks for " + std::to_string(end);
}
