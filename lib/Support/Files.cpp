//===- Files.cpp - Files that strangers name ------------------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsv4/Support/Files.h"

#include "dsv4-runtime/FileIO.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <cerrno>
#include <chrono>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace dsv4;
using llvm::StringRef;

using Clock = std::chrono::steady_clock;

/// How long a pipe may keep its reader, in all: so long, and a second more for
/// each MiB that came.
static constexpr std::chrono::seconds kPatience(10);

rt::Status dsv4::invalidFile(StringRef name, const Twine &what) {
  return rt::Status(rt::Code::InvalidArgument, (name + ": " + what).str());
}

static rt::Status failedTo(const char *act, StringRef path) {
  return invalidFile(path, "cannot be " + std::string(act) + ": " +
                               std::strerror(errno));
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// Waits until `deadline` for what the writer of a pipe has; false if nothing
/// comes.
static bool waitForInput(int file, Clock::time_point deadline) {
  using std::chrono::milliseconds;
  pollfd wanted = {file, POLLIN, 0};
  int found;
  do {
    auto left =
        std::chrono::duration_cast<milliseconds>(deadline - Clock::now());
    if (left <= milliseconds(0))
      return false;
    found = ::poll(&wanted, 1, int(left.count()));
  } while (found < 0 && errno == EINTR);
  return found > 0;
}

static rt::Result<std::string> readAll(int file, StringRef path,
                                       size_t maxBytes) {
  std::string bytes;
  char part[65536];
  const Clock::time_point begin = Clock::now();
  while (true) {
    ssize_t count = ::read(file, part, sizeof(part));
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0 && errno == EAGAIN) {
      if (waitForInput(file, begin + kPatience +
                                 std::chrono::seconds(bytes.size() >> 20)))
        continue;
      return invalidFile(path,
                         "cannot be read: the pipe gave " +
                             std::to_string(bytes.size()) +
                             " bytes and did not end; expected its end in "
                             "ten seconds, and one more for each MiB");
    }
    if (count < 0)
      return failedTo("read", path);
    if (count == 0)
      return bytes;
    bytes.append(part, size_t(count));
    if (bytes.size() > maxBytes)
      return invalidFile(path, "has more than " + std::to_string(maxBytes) +
                                   " bytes, the maximum for this file");
  }
}

rt::Result<std::string> dsv4::readFile(StringRef path, size_t maxBytes) {
  if (path == "-")
    return readAll(STDIN_FILENO, "standard input",
                   std::min(maxBytes, kMaxPipeBytes));
  if (path.contains('\0'))
    return invalidFile(path, "cannot be read: the name has a NUL byte");
  // Not to wait for a writer of a pipe.
  int file = ::open(path.str().c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0)
    return failedTo("read", path);
  llvm::scope_exit close([&] { ::close(file); });
  struct stat info;
  if (::fstat(file, &info) != 0)
    return failedTo("read", path);
  if (S_ISFIFO(info.st_mode)) {
    auto bytes = readAll(file, path, std::min(maxBytes, kMaxPipeBytes));
    if (bytes && bytes->empty())
      return invalidFile(path, "cannot be read: a pipe without a writer");
    return bytes;
  }
  if (S_ISDIR(info.st_mode)) {
    errno = EISDIR;
    return failedTo("read", path);
  }
  if (!S_ISREG(info.st_mode))
    return invalidFile(path, "cannot be read: neither a file nor a pipe");
  return readAll(file, path, maxBytes);
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

static std::string parentOf(StringRef path) {
  StringRef parent = llvm::sys::path::parent_path(path);
  return parent.empty() ? "." : parent.str();
}

namespace {
/// What is written to, after all links.
struct Destination {
  enum Kind { NewFile, OldFile, Stream } kind;
  std::string path;
  mode_t mode = 0666; ///< Of an old file.
};
} // namespace

/// Whether `path` is an entry of /proc, which stands for a file that is open:
/// replacing the file would leave it without a reader.
static bool isDescriptor(StringRef path) {
  llvm::SmallString<256> folder;
  return !llvm::sys::fs::real_path(parentOf(path), folder) &&
         folder.str().starts_with("/proc/");
}

static rt::Result<Destination> resolve(StringRef path) {
  if (path.contains('\0'))
    return invalidFile(path, "cannot be written: the name has a NUL byte");
  std::string at = path.str();
  struct stat info;
  for (unsigned links = 0;; ++links) {
    if (isDescriptor(at))
      return Destination{Destination::Stream, at};
    if (::lstat(at.c_str(), &info) != 0) {
      if (errno != ENOENT)
        return failedTo("written", path);
      return Destination{Destination::NewFile, at};
    }
    if (!S_ISLNK(info.st_mode))
      break;
    char target[PATH_MAX];
    ssize_t length = ::readlink(at.c_str(), target, sizeof(target));
    if (length < 0 || links == 40)
      return invalidFile(path, "cannot be written: too many links");
    StringRef next(target, size_t(length));
    at = next.starts_with("/") ? next.str() : parentOf(at) + "/" + next.str();
  }
  if (S_ISREG(info.st_mode))
    return Destination{Destination::OldFile, at, info.st_mode & mode_t(07777)};
  if (S_ISFIFO(info.st_mode) || S_ISCHR(info.st_mode))
    return Destination{Destination::Stream, at};
  return invalidFile(path, "cannot be written: neither a file, a pipe nor a "
                           "character device");
}

std::string dsv4::canonicalPath(StringRef path) {
  // A link whose target is not there yet is followed, too.
  auto found = resolve(path);
  const std::string end = found ? found->path : path.str();
  llvm::SmallString<256> real;
  if (!llvm::sys::fs::real_path(end, real))
    return real.str().str();
  // It is not there yet: that of its folder.
  if (llvm::sys::fs::real_path(parentOf(end), real))
    return end;
  llvm::sys::path::append(real, llvm::sys::path::filename(end));
  return real.str().str();
}

/// The number of the file of this process that `path`, an entry of /proc,
/// stands for; -1 if it stands for something else.
static int findDescriptor(StringRef path) {
  llvm::SmallString<256> folder;
  StringRef name = llvm::sys::path::filename(path);
  int number = -1;
  if (llvm::sys::fs::real_path(parentOf(path), folder) ||
      !folder.str().starts_with("/proc/" + std::to_string(::getpid()) + "/") ||
      llvm::sys::path::filename(folder) != "fd" ||
      name.getAsInteger(10, number) || name != std::to_string(number))
    return -1;
  return number;
}

static bool writeAll(int file, llvm::ArrayRef<StringRef> parts) {
  return llvm::all_of(parts,
                      [&](StringRef part) { return rt::writeAll(file, part); });
}

static rt::Status writeStream(const std::string &path, StringRef shown,
                              llvm::ArrayRef<StringRef> parts) {
  // Opened anew, a file would be written at an offset of its own, and what is
  // written to the descriptor later would replace it.
  if (int descriptor = findDescriptor(path); descriptor >= 0)
    return writeAll(descriptor, parts) ? rt::Status()
                                       : failedTo("written", shown);
  // Not to wait for a reader of a pipe.
  int file = ::open(path.c_str(),
                    O_WRONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_APPEND);
  if (file < 0 && errno == ENXIO)
    return invalidFile(shown, "cannot be written: a pipe without a reader");
  if (file < 0)
    return failedTo("written", shown);
  llvm::scope_exit close([&] { ::close(file); });
  if (::fcntl(file, F_SETFL, ::fcntl(file, F_GETFL) & ~O_NONBLOCK) != 0 ||
      !writeAll(file, parts))
    return failedTo("written", shown);
  return rt::Status();
}

rt::Status dsv4::checkWritable(StringRef path) {
  auto found = resolve(path);
  if (!found)
    return found.status();
  if (found->kind == Destination::Stream) {
    // What the process opens itself until it writes may have the number.
    int descriptor = findDescriptor(found->path);
    int mode = descriptor < 0 ? O_WRONLY : ::fcntl(descriptor, F_GETFL);
    if (mode >= 0 && (mode & O_ACCMODE) != O_RDONLY)
      return rt::Status();
    errno = EBADF;
    return failedTo("written", path);
  }
  std::string folder = parentOf(found->path);
  if (!llvm::sys::fs::is_directory(folder))
    return invalidFile(path, "cannot be written: there is no such folder");
  if (::access(folder.c_str(), W_OK) != 0)
    return invalidFile(path, "cannot be written: its folder is not writable");
  return rt::Status();
}

rt::Status dsv4::writeStandardOutput(StringRef text) {
  rt::WriteSignals signals;
  if (rt::writeAll(STDOUT_FILENO, text))
    return rt::Status();
  return failedTo("written", "standard output");
}

rt::Status dsv4::writeFile(StringRef path, llvm::ArrayRef<StringRef> parts) {
  if (rt::Status status = checkWritable(path); !status)
    return status;
  auto found = resolve(path);
  if (!found)
    return found.status();
  rt::WriteSignals signals;
  if (found->kind == Destination::Stream)
    return writeStream(found->path, path, parts);
  // Not sys::fs::TempFile, which installs signal handlers in the process, nor
  // createUniqueFile, which takes every % of a path for a random digit.
  std::string aside = found->path + ".tmp-";
  int file = rt::makeTemporary(AT_FDCWD, aside, 0666);
  if (file < 0)
    return failedTo("written", path);
  bool good = writeAll(file, parts);
  if (good && found->kind == Destination::OldFile)
    good = ::fchmod(file, found->mode) == 0;
  int error = errno;
  if (::close(file) != 0 && good) {
    good = false;
    error = errno;
  }
  if (good && ::rename(aside.c_str(), found->path.c_str()) != 0) {
    good = false;
    error = errno;
  }
  if (good)
    return rt::Status();
  ::unlink(aside.c_str());
  errno = error;
  return failedTo("written", path);
}
