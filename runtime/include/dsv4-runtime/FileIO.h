//===- FileIO.h - Writing without signals, and temporary files --*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_RUNTIME_FILEIO_H
#define DSV4_RUNTIME_FILEIO_H

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <ctime>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <string>
#include <string_view>
#include <sys/random.h>
#include <unistd.h>

namespace dsv4::rt {

/// While an object exists, a write of this thread beyond `ulimit -f` fails with
/// EFBIG, a write to a pipe without a reader fails with EPIPE, and neither
/// SIGXFSZ nor SIGPIPE kills the process. The process handles these signals
/// elsewhere as before.
class WriteSignals {
public:
  WriteSignals() {
    sigset_t pending;
    ::sigemptyset(&pending);
    ::sigpending(&pending);
    ::sigemptyset(&ours);
    sigset_t both;
    ::sigemptyset(&both);
    for (int signal : {SIGXFSZ, SIGPIPE}) {
      ::sigaddset(&both, signal);
      // A signal that is pending already is not ours.
      if (::sigismember(&pending, signal) != 1)
        ::sigaddset(&ours, signal);
    }
    ::pthread_sigmask(SIG_BLOCK, &both, &before);
  }
  ~WriteSignals() {
    // Ours are sent to this thread, so they are pending now or never.
    const int error = errno;
    const struct timespec now = {0, 0};
    while (::sigtimedwait(&ours, nullptr, &now) > 0)
      continue;
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    errno = error;
  }
  WriteSignals(const WriteSignals &) = delete;
  WriteSignals &operator=(const WriteSignals &) = delete;

private:
  sigset_t ours, before;
};

/// Writes all of `bytes`, or fails with errno. Waits for a non-blocking pipe.
inline bool writeAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t count = ::write(fd, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0 && errno == EAGAIN) {
      pollfd wanted = {fd, POLLOUT, 0};
      (void)::poll(&wanted, 1, -1);
      continue;
    }
    if (count <= 0) {
      if (count == 0)
        errno = ENOSPC;
      return false;
    }
    bytes.remove_prefix(static_cast<size_t>(count));
  }
  return true;
}

/// Makes a file `stem` with 16 random digits after it in the open directory
/// `directory` (or AT_FDCWD), open for writing. `stem` becomes its name. -1
/// with errno if that fails.
inline int makeTemporary(int directory, std::string &stem, mode_t mode) {
  for (int attempt = 0; attempt < 8; ++attempt) {
    uint64_t random = 0;
    if (::getrandom(&random, sizeof(random), 0) != sizeof(random))
      return -1;
    std::string name = stem;
    for (int i = 0; i < 16; ++i, random >>= 4)
      name += "0123456789abcdef"[random & 15];
    int file = ::openat(directory, name.c_str(),
                        O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (file >= 0)
      stem = name;
    if (file >= 0 || errno != EEXIST)
      return file;
  }
  return -1;
}

} // namespace dsv4::rt

#endif // DSV4_RUNTIME_FILEIO_H
