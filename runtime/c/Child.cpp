//===- Child.cpp - A program as a child process ---------------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Child.h"

#include "Directory.h"

#include "dsv4-runtime/FileIO.h"

#include <algorithm>
#include <cstring>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

using namespace dsv4::c;
using dsv4::rt::Descriptor;

/// What a child may write; an entry is at most as large as the runtime takes.
static constexpr off_t MaxOutput = off_t(256) << 20;
static constexpr off_t MaxErrors = off_t(64) << 10;

/// Milliseconds between two questions whether to stop.
static constexpr int64_t AskInterval = 50;

static Status failed(const std::string &what, int error) {
  return Status(Code::Unavailable, what + ": " + std::strerror(error))
      .about("compiler.start");
}

/// The first bytes of a memory file.
static std::string readFile(int file, off_t most) {
  const off_t end = ::lseek(file, 0, SEEK_END);
  std::string bytes(size_t(std::max<off_t>(0, std::min(end, most))), '\0');
  size_t done = 0;
  while (done < bytes.size()) {
    ssize_t count =
        ::pread(file, &bytes[done], bytes.size() - done, off_t(done));
    if (count <= 0)
      break;
    done += size_t(count);
  }
  bytes.resize(done);
  return bytes;
}

static std::vector<char *> pointers(const std::vector<std::string> &texts) {
  std::vector<char *> out;
  for (const std::string &text : texts)
    out.push_back(const_cast<char *>(text.c_str()));
  out.push_back(nullptr);
  return out;
}

/// Waits up to `most` milliseconds; true if the child has ended. `handle` is
/// its descriptor; some containers give none, and then it is asked now and
/// then.
static bool hasEnded(pid_t pid, const Descriptor &handle, int64_t most) {
  if (handle) {
    pollfd waited = {handle.get(), POLLIN, 0};
    const int ready = ::poll(&waited, 1, int(std::min<int64_t>(most, 1 << 30)));
    return ready > 0 || (ready < 0 && errno != EINTR);
  }
  siginfo_t info = {};
  // An error: another thread of the process waited for it.
  if (::waitid(P_PID, id_t(pid), &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
      info.si_pid == pid)
    return true;
  (void)::poll(nullptr, 0, int(std::min<int64_t>(most, 10)));
  return false;
}

/// Milliseconds of a clock that only goes forward.
static int64_t getTime() {
  struct timespec now;
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t(now.tv_sec) * 1000 + now.tv_nsec / 1000000;
}

/// Waits until the child has ended, or kills it.
static void wait(pid_t pid, const Child &child, ChildResult &result) {
  Descriptor handle(int(::syscall(SYS_pidfd_open, pid, 0)));
  const int64_t end = getTime() + child.timeout;
  for (;;) {
    int64_t left = child.timeout ? end - getTime() : INT64_MAX;
    result.timedOut = left <= 0;
    result.stopped = child.shouldStop && child.shouldStop();
    if (result.timedOut || result.stopped) {
      ::kill(-pid, SIGKILL); // What it started, too.
      ::kill(pid, SIGKILL);
      break;
    }
    if (child.shouldStop)
      left = std::min(left, AskInterval);
    if (hasEnded(pid, handle, left))
      break;
  }
  int status = 0;
  pid_t done;
  do
    done = ::waitpid(pid, &status, 0);
  while (done < 0 && errno == EINTR);
  if (done != pid)
    return; // Somebody else's handler took the status.
  if (WIFEXITED(status))
    result.exit = WEXITSTATUS(status);
  else if (WIFSIGNALED(status))
    result.signal = WTERMSIG(status);
}

namespace {
/// The attributes and file actions of posix_spawn.
struct Spawn {
  Spawn() {
    ::posix_spawnattr_init(&attributes);
    ::posix_spawn_file_actions_init(&actions);
  }
  ~Spawn() {
    ::posix_spawn_file_actions_destroy(&actions);
    ::posix_spawnattr_destroy(&attributes);
  }
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_t actions;
};
} // namespace

Result<ChildResult> dsv4::c::run(const Child &child) {
  // Memory files, because pipes would have to be served while it runs.
  Descriptor files[ReportFile + 1];
  for (Descriptor &file : files) {
    file = Descriptor(::memfd_create("dsv4-compile", MFD_CLOEXEC));
    if (!file)
      return failed("no memory file for the compiler", errno);
  }
  if (!rt::writeAll(files[0].get(), child.input) ||
      ::lseek(files[0].get(), 0, SEEK_SET) != 0)
    return failed("the program cannot be handed to the compiler", errno);

  Spawn spawn;
  for (int i = 0; i <= ReportFile; ++i)
    ::posix_spawn_file_actions_adddup2(&spawn.actions, files[i].get(), i);
  ::posix_spawn_file_actions_addclosefrom_np(&spawn.actions, ReportFile + 1);
  // Signals as in a fresh process, whatever the engine has done with them.
  sigset_t none, all;
  ::sigemptyset(&none);
  ::sigfillset(&all);
  ::posix_spawnattr_setsigmask(&spawn.attributes, &none);
  ::posix_spawnattr_setsigdefault(&spawn.attributes, &all);
  ::posix_spawnattr_setpgroup(&spawn.attributes, 0);
  ::posix_spawnattr_setflags(&spawn.attributes, POSIX_SPAWN_SETSIGMASK |
                                                    POSIX_SPAWN_SETSIGDEF |
                                                    POSIX_SPAWN_SETPGROUP);
  std::vector<std::string> words = {child.executable};
  words.insert(words.end(), child.arguments.begin(), child.arguments.end());
  pid_t pid = 0;
  const int error = ::posix_spawn(
      &pid, child.executable.c_str(), &spawn.actions, &spawn.attributes,
      pointers(words).data(), pointers(child.environment).data());
  if (error != 0)
    return failed("the compiler '" + child.executable + "' cannot be started",
                  error);
  ChildResult result;
  wait(pid, child, result);
  result.output = readFile(files[1].get(), MaxOutput);
  result.errors = readFile(files[2].get(), MaxErrors);
  result.report = readFile(files[ReportFile].get(), MaxErrors);
  return result;
}
