//===- Handles.h - What the handles of dsv4.h are ---------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A handle holds a shared state, so that handles can be destroyed in any order.
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_RUNTIME_C_HANDLES_H
#define DSV4_RUNTIME_C_HANDLES_H

#include "Errors.h"
#include "Workspaces.h"

#include "dsv4-runtime/Driver.h"
#include "dsv4-runtime/Fork.h"
#include "dsv4-runtime/LoadedProgram.h"

#include <array>
#include <memory>
#include <mutex>
#include <optional>
#include <set>

namespace dsv4::c {

/// The devices of a process that programs can be loaded on.
constexpr int MaxDevices = 64;

struct Counters {
  using Counter = std::atomic<uint64_t>;
  Counter programs{0}, compiles{0}, compileFailures{0}, loads{0},
      loadFailures{0}, binds{0}, calls{0}, notPrepared{0}, errors{0},
      diskHits{0}, waits{0}, passedBy{0}, warnings{0};
};

struct RuntimeState {
  dsv4_event_callback callback = nullptr;
  void *user = nullptr;
  std::string compiler, nvrtcPath;
  std::optional<std::string> cacheDirectory;
  std::atomic<bool> frozen{false};
  mutable Counters counters;
  Workspaces workspaces;

  /// Calls the callback. Call it without a lock.
  void raise(int32_t kind, const std::string &text, int32_t device = -1,
             uint64_t bytes = 0, double milliseconds = 0,
             const char *directory = nullptr) const;
  /// A copy of a text that lives as long as the runtime.
  const char *keep(const std::string &text) const;
  /// An error of class NotPrepared, counted and reported.
  Status notPrepared(const char *id, const std::string &message) const;

private:
  struct Texts {
    std::mutex mutex;
    std::set<std::string> all;
  };
  mutable rt::PerProcess<Texts> texts;
};

/// A program on one device, or on the host.
struct Loaded {
  std::unique_ptr<rt::LoadedProgram> program;
  rt::Driver *driver = nullptr; ///< Null on the host.
  void *context = nullptr;      ///< The device's primary context.
  int device = -1;
};

struct ProgramState {
  std::shared_ptr<RuntimeState> runtime;
  rt::CompiledProgram compiled;
  std::string bytes, key;
  bool usesWorkspace = false;

  rt::PerProcess<std::mutex> loading;
  std::array<std::unique_ptr<Loaded>, MaxDevices> owned;
  /// The same, for launches, which take no lock.
  std::array<std::atomic<const Loaded *>, MaxDevices> loaded{};

  const rt::ProgramInfo &info() const { return compiled.info; }
  bool onHost() const { return compiled.info.target == "host"; }
  ErrorScope scope() const {
    return {&runtime->counters.errors, &compiled.info};
  }
  /// The program on a device (ignored on the host), loaded if need be and
  /// allowed. `stream` is asked whether it captures, if `asks`.
  Result<const Loaded *> load(int device, void *stream, bool asks);

private:
  Result<std::unique_ptr<Loaded>> loadNew(int device, void *stream, bool asks);
};

/// Parses an entry.
Result<std::shared_ptr<ProgramState>>
openProgram(std::shared_ptr<RuntimeState> runtime, std::string bytes);

/// Makes the context of a device current as long as it lives.
class ContextScope {
public:
  explicit ContextScope(const Loaded &loaded);
  ~ContextScope();
  ContextScope(const ContextScope &) = delete;
  ContextScope &operator=(const ContextScope &) = delete;

  Status status() const;

private:
  const Loaded &loaded;
  void *previous = nullptr;
  bool changed = false;
  int result = 0;
};

/// Checks that a stream belongs to the device.
Status checkStream(const Loaded &loaded, void *stream);

} // namespace dsv4::c

struct dsv4_runtime {
  std::shared_ptr<dsv4::c::RuntimeState> state;
};

namespace dsv4::c {

/// Errors of a call with this runtime, which may be null.
inline ErrorScope scopeOf(const dsv4_runtime *runtime) {
  return {runtime ? &runtime->state->counters.errors : nullptr, nullptr};
}

} // namespace dsv4::c

struct dsv4_program {
  std::shared_ptr<dsv4::c::ProgramState> state;
};

#endif // DSV4_RUNTIME_C_HANDLES_H
