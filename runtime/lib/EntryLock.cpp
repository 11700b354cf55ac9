//===- EntryLock.cpp - The right to make an entry -------------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsv4-runtime/EntryLock.h"

#include "Directory.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace dsv4::rt;
using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

static constexpr char prefix[] = "lock-";
/// Locks of one entry: each is for those that passed the holder of the one
/// before by.
static constexpr unsigned maxLevels = 4;
static constexpr milliseconds pollInterval(10);
/// What a lock's file holds when its holder made no entry.
static constexpr char failedMark = 'x';

static bool isSame(const struct stat &a, const struct stat &b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/// Whether `file` is still the one of that name.
static bool isNamed(const Directory &folder, const std::string &name,
                    int file) {
  struct stat here, there;
  return ::fstat(file, &here) == 0 &&
         ::fstatat(folder.get(), name.c_str(), &there, AT_SYMLINK_NOFOLLOW) ==
             0 &&
         isSame(here, there);
}

//===----------------------------------------------------------------------===//
// Holding it
//===----------------------------------------------------------------------===//

struct EntryLock::Held {
  Held(Directory folder, std::string name, Descriptor file,
       milliseconds interval)
      : folder(std::move(folder)), name(std::move(name)), file(std::move(file)),
        interval(interval) {
    // That of a holder before, which could not remove it.
    (void)!::ftruncate(this->file.get(), 0);
    // No pipe: a child of fork() could keep it open.
    over = Descriptor(::eventfd(0, EFD_CLOEXEC));
    if (!over)
      return; // Others pass it by.
    // Its own thread takes no signals of the process.
    sigset_t all, before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    renews = ::pthread_create(&thread, nullptr, renew, this) == 0;
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  ~Held() {
    if (renews) {
      ::eventfd_write(over.get(), 1);
      ::pthread_join(thread, nullptr);
    }
    if (!published)
      (void)!::pwrite(file.get(), &failedMark, 1, 0);
    // Who waits finds that its file has no name any more.
    if (isNamed(folder, name, file.get()))
      ::unlinkat(folder.get(), name.c_str(), 0);
    // A child of fork() may have the descriptor, too.
    ::flock(file.get(), LOCK_UN);
  }

  static void *renew(void *self) {
    const Held &held = *static_cast<Held *>(self);
    pollfd waited = {held.over.get(), POLLIN, 0};
    do
      ::futimens(held.file.get(), nullptr);
    while (::poll(&waited, 1, int(held.interval.count())) == 0);
    return nullptr;
  }

  Directory folder;
  std::string name;
  Descriptor file;
  milliseconds interval;
  Descriptor over; ///< Readable when the lock is given up.
  pthread_t thread;
  bool renews = false, published = false;
};

EntryLock::EntryLock() = default;
EntryLock::EntryLock(EntryLock &&) noexcept = default;
EntryLock &EntryLock::operator=(EntryLock &&) noexcept = default;
EntryLock::~EntryLock() = default;

void EntryLock::published() {
  if (held)
    held->published = true;
}

//===----------------------------------------------------------------------===//
// Waiting for it
//===----------------------------------------------------------------------===//

namespace {
/// A caller that wants to make an entry.
class Waiter {
public:
  Waiter(const Directory &folder, const std::string &entry,
         const EntryLockLimits &limits)
      : folder(folder), entry(entry), limits(limits),
        end(Clock::now() + limits.wait), wasThere(find(before)) {}

  enum class Result { Taken, NotNeeded, Passed };
  /// Waits for the lock of that name. It is `file` when it is taken.
  Result await(const std::string &name, Descriptor &file);

  bool waited = false, passed = false;

private:
  bool standsStill(const Descriptor &file);
  bool hasEnded(const Descriptor &file) const;
  bool find(struct stat &info) const {
    return ::fstatat(folder.get(), entry.c_str(), &info, AT_SYMLINK_NOFOLLOW) ==
           0;
  }

  const Directory &folder;
  const std::string &entry;
  const EntryLockLimits &limits;
  const Clock::time_point end;
  // An entry that is there already does not load here.
  struct stat before = {};
  const bool wasThere;
  // What was seen of the holder, and since when.
  ino_t seen = 0;
  struct timespec time = {};
  Clock::time_point since;
};
} // namespace

/// Whether the time of the lock has not changed for too long.
bool Waiter::standsStill(const Descriptor &file) {
  struct stat info;
  if (::fstat(file.get(), &info) != 0)
    return false;
  const auto now = Clock::now();
  if (seen == info.st_ino && time.tv_sec == info.st_mtim.tv_sec &&
      time.tv_nsec == info.st_mtim.tv_nsec)
    return now - since > limits.patience;
  seen = info.st_ino;
  time = info.st_mtim;
  since = now;
  return false;
}

/// Whether the holder has made the entry, or given up.
bool Waiter::hasEnded(const Descriptor &file) const {
  struct stat info;
  char mark = 0;
  return (find(info) && !(wasThere && isSame(info, before))) ||
         (::pread(file.get(), &mark, 1, 0) == 1 && mark == failedMark);
}

Waiter::Result Waiter::await(const std::string &name, Descriptor &file) {
  for (;;) {
    file = Descriptor(
        ::openat(folder.get(), name.c_str(),
                 O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600));
    if (!file)
      return Result::NotNeeded; // A full disk, or one that is read-only.
    if (::flock(file.get(), LOCK_EX | LOCK_NB) == 0) {
      if (isNamed(folder, name, file.get()))
        return Result::Taken;
      continue; // Its holder has just removed it.
    }
    if (errno != EWOULDBLOCK)
      return Result::NotNeeded; // This file system has no locks.
    waited = true;
    const bool isLate = Clock::now() >= end;
    if (isLate || standsStill(file)) {
      passed = true;
      return isLate ? Result::NotNeeded : Result::Passed;
    }
    (void)::poll(nullptr, 0, int(pollInterval.count()));
    if (hasEnded(file))
      return Result::NotNeeded;
  }
}

EntryLock EntryLock::take(Directory folder, const std::string &entry,
                          const EntryLockLimits &limits) {
  EntryLock lock;
  Waiter waiter(folder, entry, limits);
  auto result = Waiter::Result::Passed;
  for (unsigned level = 0;
       level < maxLevels && result == Waiter::Result::Passed; ++level) {
    std::string name = prefix + entry;
    if (level > 0)
      name += "." + std::to_string(level);
    Descriptor file;
    result = waiter.await(name, file);
    if (result == Waiter::Result::Taken)
      lock.held = std::make_unique<Held>(std::move(folder), std::move(name),
                                         std::move(file), limits.patience / 8);
  }
  lock.hasWaited = waiter.waited;
  lock.hasPassed = waiter.passed;
  return lock;
}

//===----------------------------------------------------------------------===//
// What killed processes leave
//===----------------------------------------------------------------------===//

bool EntryLock::isName(const std::string &name) {
  return name.compare(0, sizeof(prefix) - 1, prefix) == 0;
}

void EntryLock::removeStale(const Directory &folder, const std::string &name) {
  Descriptor file(::openat(folder.get(), name.c_str(),
                           O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (file && ::flock(file.get(), LOCK_EX | LOCK_NB) == 0 &&
      isNamed(folder, name, file.get()))
    ::unlinkat(folder.get(), name.c_str(), 0);
}
