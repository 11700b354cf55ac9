//===- Fork.h - What a child of fork() must not inherit ---------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A child of fork() has one thread, and the memory of a process that may have
// had others. What these had locked stays locked in the child for ever, and
// what they were changing is half changed.
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_RUNTIME_FORK_H
#define DSV4_RUNTIME_FORK_H

#include <atomic>
#include <memory>

namespace dsv4::rt {

/// Points at the number of this process; 0 in a child that has none yet.
extern std::atomic<unsigned> *forkNumber;

/// Gives the process a number.
[[gnu::cold]] unsigned beginProcess();

/// A number that the process, its parent and its children do not share.
inline unsigned forkCount() {
  const unsigned number = forkNumber->load(std::memory_order_relaxed);
  return __builtin_expect(number != 0, true) ? number : beginProcess();
}

/// A T of this process. A child of fork() begins with a new one.
template <typename T>
class PerProcess {
public:
  constexpr PerProcess() = default;
  ~PerProcess() {
    // The child cannot know whether that of its parent is in use.
    if (Slot *mine = slot.load(std::memory_order_acquire);
        mine && mine->owner == forkCount())
      delete mine;
  }
  PerProcess(const PerProcess &) = delete;
  PerProcess &operator=(const PerProcess &) = delete;

  /// Safe to call from several threads at once. Allocates the first time.
  T &get() {
    Slot *found = slot.load(std::memory_order_acquire);
    if (__builtin_expect(found && found->owner == forkCount(), true))
      return found->value;
    auto made = std::make_unique<Slot>();
    if (slot.compare_exchange_strong(found, made.get(),
                                     std::memory_order_acq_rel,
                                     std::memory_order_acquire))
      return made.release()->value;
    return found->value;
  }

private:
  struct Slot {
    T value{};
    const unsigned owner = forkCount();
  };
  std::atomic<Slot *> slot{nullptr};
};

} // namespace dsv4::rt

#endif // DSV4_RUNTIME_FORK_H
