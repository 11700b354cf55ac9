//===- FileSizeSignal.h - Writing past a limit is an error ------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_RUNTIME_FILESIZESIGNAL_H
#define DSV4_RUNTIME_FILESIZESIGNAL_H

#include <cerrno>
#include <csignal>
#include <ctime>

namespace dsv4::rt {

/// While there is one, a write of this thread beyond `ulimit -f` fails with
/// EFBIG and no SIGXFSZ kills the process. What the process does with the
/// signal elsewhere is its own affair and stays as it is.
class FileSizeSignal {
public:
  FileSizeSignal() {
    ::sigemptyset(&signal);
    ::sigaddset(&signal, SIGXFSZ);
    sigset_t pending;
    ::sigemptyset(&pending);
    ::sigpending(&pending);
    wasPending = ::sigismember(&pending, SIGXFSZ) == 1;
    ::pthread_sigmask(SIG_BLOCK, &signal, &before);
  }
  ~FileSizeSignal() {
    // Ours is sent to this thread: it is there, or never will be.
    const int error = errno;
    const struct timespec now = {0, 0};
    if (!wasPending)
      (void)::sigtimedwait(&signal, nullptr, &now);
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    errno = error;
  }
  FileSizeSignal(const FileSizeSignal &) = delete;
  FileSizeSignal &operator=(const FileSizeSignal &) = delete;

private:
  sigset_t signal, before;
  bool wasPending;
};

} // namespace dsv4::rt

#endif // DSV4_RUNTIME_FILESIZESIGNAL_H
