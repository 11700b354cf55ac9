//===- Fork.cpp - What a child of fork() must not inherit -----------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsv4-runtime/Fork.h"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace dsv4::rt;

/// What forkNumber points at where the system cannot clear pages.
static std::atomic<unsigned> kept{1};
/// The largest number that this process or a parent of it had.
static std::atomic<unsigned> last{1};

std::atomic<unsigned> *dsv4::rt::forkNumber = &kept;

unsigned dsv4::rt::beginProcess() {
  const unsigned mine = ++last;
  unsigned found = 0;
  // Another thread may have begun it.
  return forkNumber->compare_exchange_strong(found, mine) ? mine : found;
}

/// A page that the system clears in each child, however that is made: only
/// fork() calls the handlers of pthread_atfork().
static std::atomic<unsigned> *makePage() {
  const auto size = size_t(::sysconf(_SC_PAGESIZE));
  void *page = ::mmap(nullptr, size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED)
    return nullptr;
  if (::madvise(page, size, MADV_WIPEONFORK) != 0) {
    ::munmap(page, size);
    return nullptr;
  }
  return new (page) std::atomic<unsigned>(1);
}

/// When the library is loaded: a lazy registration could itself be under way
/// when another thread forks.
[[maybe_unused]] static const int registered = [] {
  if (std::atomic<unsigned> *page = makePage()) {
    forkNumber = page;
    return 0;
  }
  return ::pthread_atfork(nullptr, nullptr,
                          [] { kept.store(0, std::memory_order_relaxed); });
}();
