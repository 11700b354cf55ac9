//===- SingleFlight.h - One compile of a key at a time ----------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_LIB_JIT_SINGLEFLIGHT_H
#define DSV4_LIB_JIT_SINGLEFLIGHT_H

#include "dsv4-runtime/Program.h"

#include <future>
#include <memory>
#include <string>

namespace dsv4 {

/// What a compile gave to those who waited for it: the program, or an error, or
/// neither, after which they look again.
struct Outcome {
  rt::Status status;
  std::shared_ptr<const rt::CompiledProgram> program;
};

/// A caller's part in the making of one program. Of those in the process at the
/// same time, of all sessions, the first leads, and the others wait for what it
/// lands.
class Flight {
public:
  /// Joins the flight of `name`, or begins it. A thread that already leads one
  /// (it compiles from a callback) does not wait, so no two can wait for each
  /// other: it gets a flight of its own.
  explicit Flight(std::string name);
  /// A leader that did not land ends the wait of the others without a result.
  ~Flight();
  Flight(const Flight &) = delete;
  Flight &operator=(const Flight &) = delete;

  bool leads() const { return leader; }
  /// Whether it is one within another, on the same thread.
  bool isNested() const { return leader && name.empty(); }
  /// Of those that do not lead.
  Outcome wait() const { return result.get(); }
  /// Of the leader, once. Who comes after this begins another flight: errors
  /// are not kept.
  void land(Outcome outcome);

private:
  std::string name; ///< Empty when no other takes part, or all have landed.
  bool leader = true, landed = false;
  std::promise<Outcome> promise;
  std::shared_future<Outcome> result;
};

} // namespace dsv4

#endif // DSV4_LIB_JIT_SINGLEFLIGHT_H
