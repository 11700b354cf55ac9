//===- Fiber.h - A stack of its own to run on -------------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Boost.Context's fiber, made reusable (making a stack costs more than running
// a thread of a kernel on it) and known to AddressSanitizer, which needs a call
// for each change of stacks. A fiber stays on the system thread that made it.
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_HOST_FIBER_H
#define DSV4_HOST_FIBER_H

#include "Sanitizers.h"

#include <boost/context/fiber.hpp>
#include <boost/context/stack_context.hpp>

#include <csetjmp>
#include <cstddef>
#include <memory>
#include <vector>

namespace dsv4::rt {

/// Runs `body(argument)` once each time it is started.
class Fiber {
public:
  using Body = void (*)(void *argument);

  /// A thread may hold a row of 65,536 elements alone, several times; what is
  /// not touched costs addresses only. A page after the stack is protected.
  /// Instrumented frames are several times larger.
  static constexpr size_t stackBytes =
      (addressSanitizerIsOn ? 16 : 4) * 1024 * 1024;

  /// Null when there is no memory for a stack.
  static std::unique_ptr<Fiber> create();
  /// The fiber must be idle: what is in progress on its stack is not undone.
  ~Fiber();
  Fiber(const Fiber &) = delete;
  Fiber &operator=(const Fiber &) = delete;

  /// From outside, when idle: says what the next resume() runs.
  void start(Body newBody, void *newArgument) {
    body = newBody;
    argument = newArgument;
  }
  /// From outside: returns when the fiber suspends itself or its body ends.
  void resume();
  /// From inside: returns at the next resume().
  void suspend();

  /// Where the body wants to return to when what it called is abandoned. No
  /// frame in between may hold anything that needs a destructor.
  std::jmp_buf abandon;

private:
  Fiber() = default;
  void run();

  boost::context::stack_context stack;
  boost::context::fiber inside, outside;
  Body body = nullptr;
  void *argument = nullptr;
  bool ending = false;
  // AddressSanitizer's view of both stacks.
  void *insideFrames = nullptr, *outsideFrames = nullptr;
  const void *outsideBottom = nullptr;
  size_t outsideSize = 0;
};

/// The idle fibers of one system thread.
class FiberPool {
public:
  static FiberPool &ofThisThread();

  /// Null when there is no memory for a stack.
  Fiber *take();
  void giveBack(Fiber *fiber) { idle.emplace_back(fiber); }
  /// Frees what is idle and more than should stay.
  void trim();

private:
  std::vector<std::unique_ptr<Fiber>> idle;
};

} // namespace dsv4::rt

#endif // DSV4_HOST_FIBER_H
