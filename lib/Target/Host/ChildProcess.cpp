//===- ChildProcess.cpp - Programs that end with this one -----------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ChildProcess.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace dsv4::rt {

namespace {

/// What the watcher says through its pipe, at most once.
struct Report {
  int error = 0; ///< The errno of what could not be started.
  int state = 0; ///< Else what waitpid says of the program.
};

/// What the new processes need, made before the fork: in a process that had
/// other threads they may call only what is safe in a signal handler, so they
/// allocate nothing.
struct Prepared {
  const char *directory, *log;
  char *const *words;
  char *const *environment;
  pid_t parent;
  int reportTo;
};

std::vector<char *> pointersTo(const std::vector<std::string> &words) {
  std::vector<char *> pointers;
  for (const std::string &word : words)
    pointers.push_back(const_cast<char *>(word.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

void writeReport(int to, Report report) {
  while (::write(to, &report, sizeof(report)) < 0 && errno == EINTR)
    ;
}

/// Signals as a program expects them, whatever this one does with them.
void resetSignals() {
  struct sigaction standard;
  std::memset(&standard, 0, sizeof(standard));
  standard.sa_handler = SIG_DFL;
  for (int number = 1; number < NSIG; ++number)
    ::sigaction(number, &standard, nullptr); // Fails for SIGKILL and SIGSTOP.
}

/// In the process of the program: becomes it. No file is open but the report.
[[noreturn]] void execute(const Prepared &prepared) {
  // Whoever kills the watcher ends the program.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != ::getpgrp())
    ::_exit(127);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  // Without O_CLOEXEC: they may be among the first three already.
  const int null = ::open("/dev/null", O_RDONLY);
  const int log = ::open(prepared.log, O_WRONLY | O_CREAT | O_APPEND, 0600);
  if (null >= 0 && log >= 0 && ::dup2(null, 0) == 0 && ::dup2(log, 1) == 1 &&
      ::dup2(log, 2) == 2 && ::chdir(prepared.directory) == 0) {
    if (null > 2)
      ::close(null);
    if (log > 2)
      ::close(log);
    ::execve(prepared.words[0], prepared.words, prepared.environment);
  }
  writeReport(prepared.reportTo, {errno, 0});
  ::_exit(127);
}

/// Closes all files but `kept`, which is not 0.
void closeAllBut(int kept) {
  const unsigned number = static_cast<unsigned>(kept);
  if (::close_range(0, number - 1, 0) == 0 &&
      ::close_range(number + 1, ~0U, 0) == 0)
    return;
  // An old kernel, or a sandbox that does not know the call.
  rlimit limit = {1024, 1024};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  const rlim_t end = std::min<rlim_t>(limit.rlim_cur, 1 << 20);
  for (rlim_t file = 0; file < end; ++file)
    if (file != number)
      ::close(static_cast<int>(file));
}

/// In the first process of the group, with all signals blocked: starts the
/// program, and waits for its end or that of the parent. Kills the group either
/// way, itself included.
[[noreturn]] void watch(const Prepared &prepared) {
  // Without a group of its own it would kill that of the parent.
  if (::setpgid(0, 0) != 0 || ::getpgrp() != ::getpid()) {
    writeReport(prepared.reportTo, {errno, 0});
    ::_exit(127);
  }
  resetSignals();
  ::prctl(PR_SET_PDEATHSIG, SIGTERM); // When the thread that forked ends.
  if (::getppid() != prepared.parent)
    ::_exit(127);
  // What the parent closes must not stay open here, nor its locks be held on.
  closeAllBut(prepared.reportTo);

  const pid_t program = ::fork();
  if (program == 0)
    execute(prepared);
  if (program < 0)
    writeReport(prepared.reportTo, {errno, 0});
  sigset_t awaited;
  ::sigemptyset(&awaited);
  ::sigaddset(&awaited, SIGCHLD);
  ::sigaddset(&awaited, SIGTERM);
  // A SIGTERM of somebody else is not the parent's end.
  while (program > 0 && ::getppid() == prepared.parent) {
    Report report;
    if (::waitpid(program, &report.state, WNOHANG) == program) {
      writeReport(prepared.reportTo, report);
      break;
    }
    ::sigwaitinfo(&awaited, nullptr);
  }
  ::kill(0, SIGKILL);
  ::_exit(127);
}

Status cannotStart(const ChildProcess &child, int error) {
  return Status(Code::Unavailable, "cannot start '" + child.words.front() +
                                       "': " + std::strerror(error));
}

} // namespace

Result<int> runChild(const ChildProcess &child) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return cannotStart(child, errno);
  // Not one of the three numbers that a program's own files have.
  const int reportTo = ::fcntl(ends[1], F_DUPFD_CLOEXEC, 3);
  int error = errno;
  ::close(ends[1]);

  std::vector<char *> words = pointersTo(child.words);
  std::vector<char *> environment = pointersTo(child.environment);
  const Prepared prepared = {
      child.directory.c_str(), child.log.c_str(), words.data(),
      environment.data(),      ::getpid(),        reportTo};
  pid_t watcher = -1;
  if (reportTo >= 0) {
    // No handler of this process may run in the copy of it.
    sigset_t all, before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    watcher = ::fork();
    if (watcher == 0)
      watch(prepared);
    error = errno;
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    ::close(reportTo);
  }
  if (watcher < 0) {
    ::close(ends[0]);
    return cannotStart(child, error);
  }

  // The end comes through the pipe and not from waitpid: this process may
  // ignore SIGCHLD, or wait for all of its children elsewhere.
  Report report;
  ssize_t count;
  do {
    count = ::read(ends[0], &report, sizeof(report));
  } while (count < 0 && errno == EINTR);
  ::close(ends[0]);
  const bool reported = count == ssize_t(sizeof(report));
  if (!reported)
    ::kill(-watcher, SIGKILL);
  while (::waitpid(watcher, nullptr, 0) < 0 && errno == EINTR)
    ;
  if (!reported)
    return Status(Code::CompileFailed,
                  "'" + child.words.front() +
                      "' was killed with its process group: run it again");
  if (report.error)
    return cannotStart(child, report.error);
  return report.state;
}

} // namespace dsv4::rt
