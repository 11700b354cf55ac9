//===- Watchdog.cpp - Ends the process in time ----------------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsv4/Support/Watchdog.h"

#include "dsv4-runtime/FileIO.h"

#include <algorithm>
#include <csignal>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

using namespace dsv4;
using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

/// How often it looks for a process of which there is no descriptor.
static constexpr milliseconds kInterval(100);

/// Whether a process is there. Of one that may not be signalled, it is.
static bool isThere(pid_t process) {
  return ::kill(process, 0) == 0 || errno != ESRCH;
}

Watchdog::Watchdog(Options given) : options(std::move(given)) {
  if (options.caller) {
    // The kernel is faster than the thread, and does it also while this process
    // is stopped. It goes by the thread that started this process, which waits
    // for it.
    if (::getppid() == options.caller)
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (!isThere(options.caller))
      end(options.missing);
  }
  if (!options.caller && options.deadline == milliseconds(0))
    return;
  // No pipe: a child of fork() could keep it open.
  over = ::eventfd(0, EFD_CLOEXEC);
  if (over < 0)
    return;
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  thread = std::thread([this] { watch(); });
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

Watchdog::~Watchdog() {
  if (!thread.joinable())
    return;
  ::eventfd_write(over, 1);
  thread.join();
  ::close(over);
}

void Watchdog::end(const std::string &message) const {
  rt::WriteSignals signals;
  (void)rt::writeAll(STDERR_FILENO, message);
  ::_exit(options.status);
}

void Watchdog::watch() const {
  const auto last = Clock::now() + options.deadline;
  // -1 where the container has no such descriptors: poll() ignores it.
  const int caller =
      options.caller ? int(::syscall(SYS_pidfd_open, options.caller, 0)) : -1;
  pollfd waited[] = {{over, POLLIN, 0}, {caller, POLLIN, 0}};
  for (;;) {
    milliseconds wait = milliseconds::max();
    if (options.deadline != milliseconds(0))
      wait = std::chrono::ceil<milliseconds>(last - Clock::now());
    if (options.caller && caller < 0)
      wait = std::min(wait, kInterval);
    wait = std::clamp(wait, milliseconds(0), milliseconds(1 << 30));
    ::poll(waited, 2, int(wait.count()));
    if (waited[0].revents)
      break;
    if (options.caller && (waited[1].revents || !isThere(options.caller)))
      ::_exit(options.status);
    if (options.deadline != milliseconds(0) && Clock::now() >= last)
      end(options.message);
  }
  if (caller >= 0)
    ::close(caller);
}
