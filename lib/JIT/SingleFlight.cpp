//===- SingleFlight.cpp - One compile of a key at a time ------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SingleFlight.h"

#include "dsv4-runtime/Fork.h"

#include <mutex>
#include <unordered_map>

using namespace dsv4;

namespace {
struct Flights {
  std::mutex mutex;
  std::unordered_map<std::string, std::shared_future<Outcome>> byName;
};

// Never destroyed: a thread may still compile while the process ends. A child
// of fork() has none of the threads that lead the flights of its parent.
Flights &flights() {
  static auto *all = new rt::PerProcess<Flights>;
  return all->get();
}

thread_local unsigned leading = 0;
} // namespace

Flight::Flight(std::string wanted) : result(promise.get_future().share()) {
  if (leading++ > 0)
    return;
  Flights &all = flights();
  std::lock_guard<std::mutex> lock(all.mutex);
  auto [at, isNew] = all.byName.try_emplace(wanted, result);
  if (isNew) {
    name = std::move(wanted);
    return;
  }
  leader = false;
  result = at->second;
  --leading;
}

Flight::~Flight() {
  if (!leader)
    return;
  if (!landed)
    land({rt::Status(rt::Code::CompileFailed,
                     "the compile that this one waited for ended without a "
                     "result: compile it again"),
          nullptr});
  --leading;
}

void Flight::land(Outcome outcome) {
  if (!name.empty()) {
    Flights &all = flights();
    std::lock_guard<std::mutex> lock(all.mutex);
    all.byName.erase(name);
  }
  landed = true;
  promise.set_value(std::move(outcome));
}
