//===- Fiber.cpp - A stack of its own to run on ---------------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fiber.h"
#include "Sanitizers.h"

#include <algorithm>
#include <atomic>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

#ifdef DSV4_ADDRESS_SANITIZER
#include <sanitizer/common_interface_defs.h>
#endif

namespace dsv4::rt {

namespace {

/// Of all system threads.
std::atomic<size_t> stackCount{0};

/// A process may have 65,530 pieces of memory (vm.max_map_count), and a stack
/// is two. Above these numbers no stack is kept for later launches.
constexpr size_t maxIdleOfProcess = 8192, maxIdleOfThread = 2048;

/// What Boost.Context wants of an allocator. Its own does not see that a page
/// cannot be protected.
struct Stacks {
  static size_t pageBytes() { return sysconf(_SC_PAGESIZE); }

  boost::context::stack_context allocate() {
    boost::context::stack_context stack;
    const size_t size = Fiber::stackBytes + pageBytes();
    void *begin =
        mmap(nullptr, size, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (begin == MAP_FAILED)
      return stack;
    if (mprotect(begin, pageBytes(), PROT_NONE) != 0) {
      munmap(begin, size);
      return stack;
    }
    ++stackCount;
    stack.size = size;
    stack.sp = static_cast<char *>(begin) + size;
    return stack;
  }
  void deallocate(boost::context::stack_context &stack) {
    munmap(static_cast<char *>(stack.sp) - stack.size, stack.size);
    --stackCount;
  }
};

#ifdef DSV4_ADDRESS_SANITIZER
void leaveStack(void **frames, const void *bottom, size_t size) {
  __sanitizer_start_switch_fiber(frames, bottom, size);
}
void enterStack(void *frames, const void **oldBottom, size_t *oldSize) {
  __sanitizer_finish_switch_fiber(frames, oldBottom, oldSize);
}
#else
void leaveStack(void **, const void *, size_t) {}
void enterStack(void *, const void **, size_t *) {}
#endif

} // namespace

std::unique_ptr<Fiber> Fiber::create() {
  Stacks stacks;
  std::unique_ptr<Fiber> made(new Fiber);
  made->stack = stacks.allocate();
  if (!made->stack.sp)
    return nullptr;
  Fiber *self = made.get();
  // The constructor already runs on the new stack, but no code of this file.
  self->inside =
      boost::context::fiber(std::allocator_arg,
                            boost::context::preallocated(
                                self->stack.sp, self->stack.size, self->stack),
                            stacks, [self](boost::context::fiber &&outside) {
                              self->outside = std::move(outside);
                              self->run();
                              return std::move(self->outside);
                            });
  return made;
}

Fiber::~Fiber() {
  if (!inside)
    return;
  ending = true;
  resume();
}

void Fiber::resume() {
  const char *top = static_cast<const char *>(stack.sp);
  leaveStack(&outsideFrames, top - stack.size, stack.size);
  inside = std::move(inside).resume();
  enterStack(outsideFrames, nullptr, nullptr);
}

void Fiber::suspend() {
  leaveStack(&insideFrames, outsideBottom, outsideSize);
  outside = std::move(outside).resume();
  enterStack(insideFrames, &outsideBottom, &outsideSize);
}

void Fiber::run() {
  enterStack(nullptr, &outsideBottom, &outsideSize);
  while (!ending) {
    body(argument);
    suspend();
  }
  // No frames to come back to.
  leaveStack(nullptr, outsideBottom, outsideSize);
}

FiberPool &FiberPool::ofThisThread() {
  thread_local FiberPool pool;
  return pool;
}

void FiberPool::trim() {
  const size_t max = stackCount > maxIdleOfProcess ? 0 : maxIdleOfThread;
  idle.resize(std::min(idle.size(), max));
}

Fiber *FiberPool::take() {
  if (idle.empty())
    return Fiber::create().release();
  Fiber *fiber = idle.back().release();
  idle.pop_back();
  return fiber;
}

} // namespace dsv4::rt
