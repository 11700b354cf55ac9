//===- EntryLock.h - The right to make an entry -----------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Of the processes that need the same entry at the same time, one makes it, and
// the others wait for it. That saves work, and nothing else depends on it: who
// waits in vain makes the entry, too.
//
// The lock is that of a file beside the entry (flock), which the kernel gives
// up with its process. While a process makes the entry, a thread of it renews
// the time of the file. When the time stands still, the process is stopped, or
// its machine is gone: others pass it by, and one of them takes the next lock.
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_RUNTIME_ENTRYLOCK_H
#define DSV4_RUNTIME_ENTRYLOCK_H

#include <chrono>
#include <memory>
#include <string>

namespace dsv4::rt {

class Directory;

struct EntryLockLimits {
  /// How long to wait for others, in all.
  std::chrono::milliseconds wait{60000};
  /// How long the time of a lock that is held may stand still.
  std::chrono::milliseconds patience{5000};
};

/// What became of a wait. It may hold nothing: then whoever asked makes the
/// entry without it.
class EntryLock {
public:
  EntryLock();
  EntryLock(EntryLock &&) noexcept;
  EntryLock &operator=(EntryLock &&) noexcept;
  /// Gives it up.
  ~EntryLock();

  /// Waits until this process may make the entry `entry` of `folder`, or it is
  /// there, or nobody needs to wait any longer.
  static EntryLock take(Directory folder, const std::string &entry,
                        const EntryLockLimits &limits);
  /// Whether a file of that name in a directory of entries is a lock.
  static bool isName(const std::string &name);
  /// Removes a lock that a killed process left.
  static void removeStale(const Directory &folder, const std::string &name);

  explicit operator bool() const { return held != nullptr; }
  /// Whether another process was making the entry.
  bool waited() const { return hasWaited; }
  /// Whether one did not come to an end, and was passed by.
  bool passedBy() const { return hasPassed; }
  /// Call it when the entry was published. Otherwise the others stop waiting
  /// when this one ends, also for each other: what failed once fails again.
  void published();

private:
  struct Held;

  std::unique_ptr<Held> held;
  bool hasWaited = false, hasPassed = false;
};

} // namespace dsv4::rt

#endif // DSV4_RUNTIME_ENTRYLOCK_H
